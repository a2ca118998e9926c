//! The ends of goals, servers and clients; nothing may wait for something that can't come.

use crate::on_both_paths;
use crate::world::{PATIENCE, World, cancel, order, sent};
use sinew::Duration;
use sinew_action::{
    Actions, Cancel, CancelError, CancelReason, Decision, ExecutingGoal, FeedbackItem, GoalStatus, OnDrop,
    Policy, ResultError, SendGoalFailure,
};
use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciResult};
use std::sync::mpsc;
use std::task::{Context as Task, Poll, Waker};

on_both_paths![
    a_dropped_goal_ends,
    a_server_that_goes_tells_its_goals_and_clients,
    goals_end_inside_callbacks_that_cancelling_runs,
    feedback_is_a_stream,
    futures_execute_goals,
    what_no_server_took_in_time_is_not_done_later,
    a_goal_that_is_accepted_too_late_is_canceled_without_its_client,
];

fn default() -> FibonacciResult {
    FibonacciResult::default()
}

fn a_dropped_goal_ends(world: &World) {
    for (number, (on_drop, end)) in
        [(OnDrop::Cancel, GoalStatus::Canceled), (OnDrop::Abort, GoalStatus::Aborted)].into_iter().enumerate()
    {
        let name = format!("dropped_{number}");
        let server = world.server.action_server::<Fibonacci>(&name).on_drop(on_drop);
        let _server = server.callback(|goal: ExecutingGoal<Fibonacci>| drop(goal)).unwrap();
        let client = world.client.action_client::<Fibonacci>(&name).create().unwrap();
        let (pen, told) = mpsc::channel();
        let _goal = client.goal(order(1)).on_result(move |ended| pen.send(ended.unwrap().status())).send();
        assert_eq!(world.until(|| told.try_recv().ok()), end);
    }
}

#[test]
fn a_goal_whose_callback_panics_is_aborted() {
    let world = World::in_process();
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .callback(|_: ExecutingGoal<Fibonacci>| panic!("out of numbers"))
        .unwrap();
    let goal = sent(&world.client(), 1);
    let error = world.executor.spin_all(PATIENCE).expect_err("the panic goes on as any callback's");
    assert_eq!(
        error.to_string(),
        "the callback of action server /fibonacci of node /server panicked: out of numbers"
    );
    assert_eq!(goal.result().wait(PATIENCE).unwrap().status(), GoalStatus::Aborted);
}

fn what_no_server_took_in_time_is_not_done_later(world: &World) {
    let client = world.client.action_client::<Fibonacci>("fibonacci").create().unwrap();
    let instant = Duration::from_millis(1);
    let error = client.send_goal(order(7)).wait(instant).unwrap_err();
    assert_eq!(*error.failure(), SendGoalFailure::NoServer { waited: instant }, "{error}");
    assert_eq!(error.into_goal().unwrap().order, 7);
    let error = client.cancel(Cancel::All).wait(instant).unwrap_err();
    assert!(matches!(error, CancelError::Timeout { .. }), "{error}");
    // A goal without a waiting future goes on: it goes to whichever server comes.
    drop(client.send_goal(order(8)));
    let (_server, goals) = world.serve();
    let executing = world.next(&goals);
    assert_eq!((executing.goal().order, executing.cancel_reason()), (8, None));
    sent(&client, 9);
    assert_eq!(world.next(&goals).goal().order, 9);
    assert!(goals.try_recv().is_err());
}

/// The callback gets the reason, the program's wait also the goal.
#[test]
fn a_goal_that_comes_back_is_also_reported_to_its_callback() {
    let world = World::in_process();
    let client = world.client.action_client::<Fibonacci>("fibonacci").create().unwrap();
    let (pen, told) = mpsc::channel();
    let goal = client.goal(order(7)).on_response(move |accepted| pen.send(accepted.map(drop)));
    let error = goal.send().wait(Duration::ZERO).unwrap_err();
    let reported = world.next(&told).unwrap_err();
    assert_eq!(reported.failure(), error.failure());
    assert_eq!((reported.into_goal(), error.into_goal().map(|goal| goal.order)), (None, Some(7)));
}

#[test]
fn a_goal_that_is_accepted_too_late_is_canceled() {
    let world = World::shm();
    let (accept, may_accept) = mpsc::channel::<()>();
    let may_accept = parking_lot::Mutex::new(may_accept);
    let (pen, goals) = mpsc::channel();
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .on_goal(move |_, _| {
            let _ = may_accept.lock().recv();
            Decision::Execute
        })
        .callback(move |goal: ExecutingGoal<Fibonacci>| pen.send(goal))
        .unwrap();
    let client = world.client();
    let pending = client.send_goal(order(1));
    let waited = Duration::from_millis(20);
    let error = pending.wait(waited).unwrap_err();
    // Whether a server has taken it or not: it isn't executed to its end.
    let is_taken = *error.failure() == SendGoalFailure::Timeout { waited };
    assert!(is_taken && error.into_goal().is_none());
    accept.send(()).unwrap();
    let executing = world.next(&goals);
    world.until(|| executing.cancel_reason());
    drop(accept);
}

fn a_goal_that_is_accepted_too_late_is_canceled_without_its_client(world: &World) {
    let (pen, goals) = mpsc::channel();
    let server = world.server.action_server::<Fibonacci>("fibonacci").decide_in_group();
    let _server = server.callback(move |goal: ExecutingGoal<Fibonacci>| pen.send(goal)).unwrap();
    let client = world.client();
    // In shared memory it takes a moment until the server has taken the goal.
    world.until(|| {
        let error = client.send_goal(order(1)).wait(Duration::ZERO).unwrap_err();
        matches!(error.failure(), SendGoalFailure::Timeout { .. }).then_some(())
    });
    drop(client);
    let executing = world.next(&goals);
    assert_eq!(world.until(|| executing.cancel_reason()), CancelReason::Client);
}

fn a_server_that_goes_tells_its_goals_and_clients(world: &World) {
    let (pen, goals) = mpsc::channel();
    let server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .policy(Policy::Queue(1))
        .callback(move |goal: ExecutingGoal<Fibonacci>| pen.send(goal))
        .unwrap();
    let client = world.client();
    let (executed, waits) = (sent(&client, 1), sent(&client, 2));
    let executing = world.next(&goals);
    let (tell, told) = mpsc::channel();
    executing.on_cancel_requested(move |reason| tell.send(reason).unwrap());
    let mut future = executing.cancel_requested();
    let mut poll = || std::pin::Pin::new(&mut future).poll(&mut Task::from_waker(Waker::noop()));
    assert_eq!(poll(), Poll::Pending);
    server.close();
    assert_eq!(
        (poll(), told.try_recv()),
        (Poll::Ready(CancelReason::ServerGone), Ok(CancelReason::ServerGone))
    );
    for goal in [&executed, &waits] {
        assert_eq!(goal.result().wait(PATIENCE).unwrap_err(), ResultError::ServerGone { goal: goal.id() });
    }
    assert!(executing.publish_feedback(FibonacciFeedback::default()).is_err());
    let unheard = executing.succeed(FibonacciResult { sequence: vec![7] }).unwrap_err();
    assert!(unheard.to_string().contains("/fibonacci"), "{unheard}");
    assert_eq!(unheard.into_result().sequence, [7]);
    world.until(|| (!client.is_server_ready()).then_some(()));
    // A new server of the name starts afresh.
    let (_server, goals) = world.serve();
    let again = world.client();
    let goal = sent(&again, 3);
    world.next(&goals).succeed(default()).unwrap();
    assert_eq!(goal.result().wait(PATIENCE).unwrap().status(), GoalStatus::Succeeded);
}

/// So a callback that executes a goal can end, for which an executor waits.
#[test]
fn the_end_of_the_context_tells_the_goals() {
    let world = World::in_process();
    let (_server, goals) = world.serve();
    let _goal = sent(&world.client(), 1);
    let executing = world.next(&goals);
    let (tell, told) = mpsc::channel();
    executing.on_cancel_requested(move |reason| tell.send(reason).unwrap());
    world.contexts[0].shutdown();
    assert_eq!(executing.cancel_reason(), Some(CancelReason::ServerGone));
    assert_eq!(told.try_recv(), Ok(CancelReason::ServerGone));
    assert!(executing.canceled(default()).is_ok(), "no error where the program is about to end");
}

/// The client cancels in its feedback callback; the goal ends in the callback that the cancel
/// request runs; and the client sends the next goal when it hears of the end.
fn goals_end_inside_callbacks_that_cancelling_runs(world: &World) {
    let (server_is, goals) = world.serve();
    let client = world.client();
    let (pen, told) = mpsc::channel();
    let (canceller, sender) = (client.clone(), client.clone());
    let _goal = client
        .goal(order(1))
        .on_feedback(move |_: &FibonacciFeedback| {
            let canceled = canceller.cancel(Cancel::All).wait(PATIENCE).unwrap();
            assert_eq!(canceled.goals.len(), 1);
        })
        .on_result(move |ended| {
            let next = sender.send_goal(order(2)).wait(PATIENCE).unwrap();
            pen.send((ended.unwrap().status(), next))
        })
        .send();
    let executing = std::sync::Arc::new(parking_lot::Mutex::new(None));
    let mine = executing.clone();
    let goal = world.next(&goals);
    goal.on_cancel_requested(move |_| {
        let goal: ExecutingGoal<Fibonacci> = mine.lock().take().unwrap();
        goal.canceled(default()).unwrap();
    });
    goal.publish_feedback(FibonacciFeedback::default()).unwrap();
    *executing.lock() = Some(goal);
    let (status, next) = world.until(|| told.try_recv().ok());
    assert_eq!(status, GoalStatus::Canceled);
    world.next(&goals).succeed(default()).unwrap();
    assert_eq!(next.result().wait(PATIENCE).unwrap().status(), GoalStatus::Succeeded);
    drop(server_is);
}

fn feedback_is_a_stream(world: &World) {
    let (_server, goals) = world.serve();
    let client = world.client();
    let goal = client.goal(order(1)).feedback_depth(100).send().wait(PATIENCE).unwrap();
    let executing = world.next(&goals);
    let sent_from = finishes_on_a_thread(move || {
        let mut addresses = Vec::new();
        for number in 0..50 {
            let sequence = vec![number];
            addresses.push(sequence.as_ptr().addr());
            executing.publish_feedback(FibonacciFeedback { sequence }).unwrap();
        }
        (executing, addresses)
    });
    let mut stream = goal.feedback();
    let mut pieces: Vec<FeedbackItem<Fibonacci>> = Vec::new();
    while pieces.len() < 10 {
        pieces.extend(world.executor.spin_until(stream.next()).unwrap());
    }
    let (executing, addresses) = sent_from.join().unwrap();
    // Over shared memory the topic's own history (10) may have lost some.
    let numbers: Vec<i32> = pieces.iter().map(|piece| piece.sequence[0]).collect();
    assert!(numbers.is_sorted());
    if world.is_in_process() {
        let lie_at: Vec<usize> = pieces.iter().map(|piece| piece.sequence.as_ptr().addr()).collect();
        assert_eq!(lie_at, addresses[..10], "what the server gave is what the client has");
    }
    executing.succeed(default()).unwrap();
    goal.result().wait(PATIENCE).unwrap();
    while world.executor.spin_until(stream.next()).unwrap().is_some() {}
}

fn finishes_on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::spawn(work)
}

fn futures_execute_goals(world: &World) {
    let server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .async_callback(|goal: ExecutingGoal<Fibonacci>| async move {
            match goal.goal().order {
                0 => goal.succeed(default()),
                _ => {
                    let reason = goal.cancel_requested().await;
                    assert_eq!(reason, CancelReason::Client);
                    goal.canceled(default())
                }
            }
        })
        .unwrap();
    let client = world.client();
    let [at_once, waits, stays] = [0, 1, 1].map(|number| sent(&client, number));
    let status = |goal: &sinew_action::GoalHandle<Fibonacci>| {
        world.executor.spin_until(goal.result()).unwrap().map(|result| result.status())
    };
    assert_eq!(status(&at_once), Ok(GoalStatus::Succeeded));
    cancel(&client, Cancel::Goal(waits.id()));
    assert_eq!(status(&waits), Ok(GoalStatus::Canceled));
    world.executor.spin_some().unwrap();
    drop(server); // the last future is dropped with it
    assert_eq!(status(&stays), Err(ResultError::ServerGone { goal: stays.id() }));
}

/// None of the three types implements `Clone`, so the crate can't copy them; they also keep their
/// address.
#[test]
fn goals_and_results_move() {
    let world = World::in_process();
    let (_server, goals) = world.serve();
    let client = world.client();
    let goal = sent(&client, 1);
    let sequence = vec![1, 2, 3];
    let address = sequence.as_ptr().addr();
    world.next(&goals).succeed(FibonacciResult { sequence }).unwrap();
    let results = [goal.result().wait(PATIENCE).unwrap(), goal.result().wait(PATIENCE).unwrap()];
    assert!(results.iter().all(|result| result.sequence.as_ptr().addr() == address), "also the cache's");
}

#[test]
fn a_client_that_goes_disturbs_no_goal() {
    let world = World::in_process();
    let (_server, goals) = world.serve();
    let client = world.client();
    drop(client.send_goal(order(1)));
    drop(client);
    let executing = world.next(&goals);
    executing.publish_feedback(FibonacciFeedback::default()).unwrap();
    executing.succeed(default()).unwrap();
    let goal = sent(&world.client(), 2);
    world.next(&goals).succeed(default()).unwrap();
    assert!(goal.result().wait(PATIENCE).is_ok());
}

#[test]
fn a_server_executes_goals_without_handles_of_its_context() {
    let executor = sinew::Executor::single();
    let (server, client) = {
        let context = sinew::Context::builder().shared_memory(false).domain(0).build().unwrap();
        let group = context.node("left").unwrap().group(());
        executor.add(&group).unwrap();
        let server = group.action_server::<Fibonacci>("fibonacci");
        let server = server.callback(|goal: ExecutingGoal<Fibonacci>| goal.succeed(default())).unwrap();
        (server, group.action_client::<Fibonacci>("fibonacci").create().unwrap())
    };
    let (pen, told) = mpsc::channel();
    let goal = client.goal(order(1)).on_result(move |ended| pen.send(ended.unwrap().status()));
    drop(goal.send());
    executor.spin_all(PATIENCE).unwrap();
    assert_eq!(told.try_recv().unwrap(), GoalStatus::Succeeded);
    drop(server);
}

#[test]
fn a_goal_that_panics_when_it_is_cancelled_keeps_no_other_waiting() {
    let world = World::in_process();
    let (_server, goals) = world.serve();
    let client = world.client();
    let [_first, _second] = [1, 2].map(|number| sent(&client, number));
    let [first, second] = [(); 2].map(|()| world.next(&goals));
    // Which of them is told first isn't known: both panic.
    for goal in [&first, &second] {
        goal.on_cancel_requested(|_| panic!("not now"));
    }
    let mut wakes = [first.cancel_requested(), second.cancel_requested()];
    let mut task = Task::from_waker(Waker::noop());
    assert!(wakes.iter_mut().all(|wake| std::pin::Pin::new(wake).poll(&mut task).is_pending()));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(client.cancel(Cancel::All))));
    assert!(wakes.iter_mut().all(|wake| std::pin::Pin::new(wake).poll(&mut task).is_ready()));
    assert!(first.is_cancel_requested() && second.is_cancel_requested());
}
