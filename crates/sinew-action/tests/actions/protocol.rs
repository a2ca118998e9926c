//! The checks of ROS 2's own tests: names, states, codes, results and their lifetime.

use crate::on_both_paths;
use crate::world::{PATIENCE, World, cancel, order, sent};
use sinew::msg::{Action, TypeHash};
use sinew::prelude::*;
use sinew::time::{Time, VirtualClock};
use sinew_action::{
    Actions, Cancel, CancelError, CancelOutcome, Decision, ExecutingGoal, GoalId, GoalStatus, SendGoalFailure,
};
use sinew_interfaces::action_msgs::msg::GoalStatusArray;
use sinew_interfaces::example_interfaces::action::{
    Fibonacci, FibonacciFeedback, FibonacciFeedbackMessage, FibonacciGetResult, FibonacciGetResultRequest,
    FibonacciResult, FibonacciSendGoal, FibonacciSendGoalRequest, FibonacciSendGoalResponse,
};
use sinew_interfaces::type_description_interfaces::srv::{GetTypeDescription, GetTypeDescriptionRequest};
use sinew_interfaces::unique_identifier_msgs::msg::UUID;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

on_both_paths![
    a_goal_is_executed,
    goals_are_cancelled_in_four_ways,
    a_cancelled_goal_may_be_refused,
    an_id_is_used_once,
    results_are_given_when_they_are_there,
    every_transition_is_published,
    feedback_that_comes_before_the_response_is_kept,
    a_goal_may_be_deferred,
    the_program_may_decide_in_its_group,
    a_thousand_goals_at_once,
    its_node_describes_the_action_and_its_parts,
];

fn result(numbers: &[i32]) -> FibonacciResult {
    FibonacciResult { sequence: numbers.to_vec() }
}

fn a_goal_is_executed(world: &World) {
    let (server, goals) = world.serve();
    let client = world.client();
    assert_eq!((server.name(), client.name()), ("/fibonacci", "/fibonacci"));
    let (pen, told) = mpsc::channel();
    let (on_response, on_feedback, on_result) = (pen.clone(), pen.clone(), pen);
    let goal = client
        .goal(order(3))
        .on_response(move |accepted| on_response.send(format!("accepted {}", accepted.is_ok())))
        .on_feedback(move |feedback: &FibonacciFeedback| on_feedback.send(format!("{:?}", feedback.sequence)))
        .on_result(move |ended| {
            let ended = ended.unwrap();
            on_result.send(format!("{} {:?}", ended.status(), ended.sequence))
        })
        .send()
        .wait(PATIENCE)
        .unwrap();
    let executing = world.next(&goals);
    assert_eq!(
        (executing.id(), executing.goal().order, executing.status()),
        (goal.id(), 3, GoalStatus::Executing)
    );
    for number in 1..3 {
        executing.publish_feedback(FibonacciFeedback { sequence: vec![number] }).unwrap();
    }
    // All feedback comes before the result, although they take different ways.
    let mut lines = world.until(|| {
        let lines: Vec<String> = told.try_iter().collect();
        (!lines.is_empty()).then_some(lines)
    });
    while lines.len() < 3 {
        lines.push(world.until(|| told.try_recv().ok()));
    }
    executing.succeed(result(&[1, 2])).unwrap();
    lines.push(world.until(|| told.try_recv().ok()));
    assert_eq!(lines, ["accepted true", "[1]", "[2]", "succeeded [1, 2]"]);
    assert_eq!(goal.status(), GoalStatus::Succeeded);
    assert_eq!(goal.result().wait(PATIENCE).unwrap().sequence, [1, 2]);
}

fn goals_are_cancelled_in_four_ways(world: &World) {
    let (_server, goals) = world.serve();
    let client = world.client();
    let mut accepted = Vec::new();
    let mut executing = Vec::new();
    for number in 1..=6 {
        world.set_time(i64::from(number) * 10);
        accepted.push(sent(&client, number));
        executing.push(world.next(&goals));
    }
    let at = |number: usize| Time::from_nanoseconds(10 * i64::try_from(number).unwrap());
    let id = |number: usize| accepted[number - 1].id();
    let entry = |number: usize| (id(number), at(number));
    assert_eq!(accepted[1].stamp(), at(2));

    let one = cancel(&client, Cancel::Goal(id(4)));
    assert_eq!((one.outcome, one.goals), (CancelOutcome::Done, vec![entry(4)]));
    let again = cancel(&client, Cancel::Goal(id(4)));
    assert_eq!(
        (again.outcome, again.goals),
        (CancelOutcome::GoalTerminated, vec![]),
        "it is canceling already"
    );
    let unknown = cancel(&client, Cancel::Goal(GoalId([9; 16])));
    assert_eq!(unknown.outcome, CancelOutcome::UnknownGoal);
    let all = client.cancel(Cancel::Before(at(0))).wait(PATIENCE).unwrap_err();
    assert!(matches!(all, CancelError::NoTime { .. }), "{all}");
    for none in [Cancel::Goal(GoalId::default()), Cancel::GoalAndBefore(GoalId::default(), at(6))] {
        let none = client.cancel(none).wait(PATIENCE).unwrap_err();
        assert!(matches!(none, CancelError::NoGoal { .. }), "{none}");
    }
    let before = cancel(&client, Cancel::Before(at(1)));
    assert_eq!((before.outcome, before.goals), (CancelOutcome::Done, vec![entry(1)]));
    let both = cancel(&client, Cancel::GoalAndBefore(id(5), at(2)));
    assert_eq!((both.outcome, both.goals), (CancelOutcome::Done, vec![entry(2), entry(5)]));
    let nothing = cancel(&client, Cancel::Before(at(2)));
    assert_eq!((nothing.outcome, nothing.goals), (CancelOutcome::Done, vec![]));
    let all = cancel(&client, Cancel::All);
    assert_eq!((all.outcome, all.goals), (CancelOutcome::Done, vec![entry(3), entry(6)]));

    for (goal, handle) in executing.into_iter().zip(&accepted) {
        assert!(goal.is_cancel_requested() && goal.status() == GoalStatus::Canceling);
        goal.canceled(result(&[])).unwrap();
        assert_eq!(handle.result().wait(PATIENCE).unwrap().status(), GoalStatus::Canceled);
        assert_eq!(cancel(&client, Cancel::Goal(handle.id())).outcome, CancelOutcome::GoalTerminated);
    }
}

fn a_cancelled_goal_may_be_refused(world: &World) {
    let (pen, goals) = mpsc::channel();
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .on_goal(|_, goal| if goal.order < 0 { Decision::Reject } else { Decision::Execute })
        .on_cancel(|_| false)
        .callback(move |goal: ExecutingGoal<Fibonacci>| pen.send(goal))
        .unwrap();
    let client = world.client();
    let rejected = client.send_goal(order(-1)).wait(PATIENCE).unwrap_err();
    assert_eq!(*rejected.failure(), SendGoalFailure::Rejected);
    let goal = sent(&client, 1);
    let executing = world.next(&goals);
    for which in [Cancel::Goal(goal.id()), Cancel::All] {
        let refused = cancel(&client, which);
        assert_eq!((refused.outcome, refused.goals), (CancelOutcome::Rejected, vec![]));
    }
    assert_eq!((executing.is_cancel_requested(), executing.status()), (false, GoalStatus::Executing));
    executing.abort(result(&[])).unwrap();
    assert_eq!(goal.result().wait(PATIENCE).unwrap().status(), GoalStatus::Aborted);
}

const ONE: UUID = UUID { uuid: [1; 16] };

fn an_id_is_used_once(world: &World) {
    let (_server, goals) = world.serve();
    let by_hand = world.client.client::<FibonacciSendGoal>("fibonacci/_action/send_goal").create().unwrap();
    let request = || FibonacciSendGoalRequest { goal_id: ONE, goal: order(1) };
    world.set_time(7_000_000_001);
    let first = by_hand.call(request(), PATIENCE).unwrap();
    assert!(first.accepted);
    assert_eq!(Time::from(first.stamp), Time::from_nanoseconds(7_000_000_001));
    let executing = world.next(&goals);
    assert!(!by_hand.call(request(), PATIENCE).unwrap().accepted);
    executing.succeed(result(&[])).unwrap();
    assert!(!by_hand.call(request(), PATIENCE).unwrap().accepted, "its result is still kept");
}

fn results_are_given_when_they_are_there(world: &World) {
    let (_server, goals) = world.serve();
    let client = world.client();
    let by_hand = world.client.client::<FibonacciGetResult>("fibonacci/_action/get_result").create().unwrap();
    let request = |id: GoalId| FibonacciGetResultRequest { goal_id: UUID { uuid: id.0 } };
    let unknown = by_hand.call(request(GoalId([3; 16])), PATIENCE).unwrap();
    assert_eq!((unknown.status, &unknown.result), (0, &FibonacciResult::default()));
    let goal = sent(&client, 1);
    let executing = world.next(&goals);
    // Several requests wait, also of several clients.
    let mut waiting: Vec<_> = (0..3).map(|_| by_hand.call_async(request(goal.id()))).collect();
    for call in &mut waiting {
        assert!(poll_once(call).is_none());
    }
    executing.succeed(result(&[5])).unwrap();
    for call in waiting {
        let answer = world.executor.spin_until(call).unwrap().unwrap();
        assert_eq!((answer.status, &answer.result), (4, &result(&[5])));
    }
    let late = by_hand.call(request(goal.id()), PATIENCE).unwrap();
    assert_eq!((late.status, &late.result), (4, &result(&[5])));
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

fn every_transition_is_published(world: &World) {
    let (_server, goals) = world.serve();
    let qos = QoS::new().keep_last(1).reliable().transient_local();
    let statuses =
        world.client.subscription::<GoalStatusArray>("fibonacci/_action/status").qos(qos).create().unwrap();
    let next = || {
        let array = world.until(|| statuses.take()).0;
        array.status_list.iter().map(|entry| (entry.goal_info.goal_id.uuid, entry.status)).collect::<Vec<_>>()
    };
    assert_eq!(next(), [], "a late joiner has the newest");
    let client = world.client();
    let one = sent(&client, 1);
    assert_eq!(next(), [(one.id().0, 2)]);
    let first = world.next(&goals);
    let two = sent(&client, 2);
    assert_eq!(next(), [(one.id().0, 2), (two.id().0, 2)]);
    let second = world.next(&goals);
    cancel(&client, Cancel::Goal(one.id()));
    assert_eq!(next(), [(one.id().0, 3), (two.id().0, 2)]);
    assert_eq!((one.status(), two.status()), (GoalStatus::Canceling, GoalStatus::Executing));
    second.abort(result(&[])).unwrap();
    assert_eq!(next(), [(one.id().0, 3), (two.id().0, 6)]);
    first.canceled(result(&[])).unwrap();
    assert_eq!(next(), [(one.id().0, 5), (two.id().0, 6)], "those that have ended stay");
}

#[test]
fn a_server_that_finds_another_one_publishes_no_states() {
    let world = World::in_process();
    let (_server, _goals) = world.serve();
    let _goal = sent(&world.client(), 1);
    let qos = QoS::new().keep_all().reliable().transient_local();
    let statuses = world.client.subscription::<GoalStatusArray>("fibonacci/_action/status").qos(qos);
    let statuses = statuses.create().unwrap();
    assert_eq!(statuses.take().unwrap().0.status_list.len(), 1);
    let second = world.client.action_server::<Fibonacci>("fibonacci");
    second.callback(|_: ExecutingGoal<Fibonacci>| {}).map(drop).unwrap_err();
    assert!(statuses.take().is_none());
}

/// A hand-made server: its feedback overtakes its answer.
fn feedback_that_comes_before_the_response_is_kept(world: &World) {
    let (pen, requests) = mpsc::channel();
    let server = &world.server;
    let _send = server
        .server::<FibonacciSendGoal>("fibonacci/_action/send_goal")
        .callback(move |request: FibonacciSendGoalRequest, responder: sinew::Responder<FibonacciSendGoal>| {
            pen.send((request.goal_id, responder))
        })
        .unwrap();
    let topic = "fibonacci/_action/feedback";
    let feedback = server.publisher::<FibonacciFeedbackMessage>(topic).create().unwrap();
    let client = world.client.action_client::<Fibonacci>("fibonacci").create().unwrap();
    assert!(feedback.wait_for_subscribers(1, PATIENCE));
    let pending = client.goal(order(1)).feedback_depth(2).send();
    let (goal_id, responder) = world.until(|| requests.try_recv().ok());
    assert_eq!(goal_id.uuid, pending.id().0);
    for number in 1..=3 {
        let told = FibonacciFeedback { sequence: vec![number] };
        feedback.publish(FibonacciFeedbackMessage { goal_id, feedback: told.clone() }).unwrap();
        let other = FibonacciFeedbackMessage { goal_id: ONE, feedback: told };
        feedback.publish(other).unwrap(); // for another client's goal
    }
    responder.respond(FibonacciSendGoalResponse { accepted: true, ..Default::default() }).unwrap();
    let goal = pending.wait(PATIENCE).unwrap();
    world.until(|| (goal.feedback_lost() == 1).then_some(()));
    let mut stream = goal.feedback();
    let kept: Vec<_> =
        std::iter::from_fn(|| stream.take()).map(|feedback| feedback.sequence.clone()).collect();
    assert_eq!(kept, [[2], [3]], "as many as it was to keep, the newest");
}

fn a_goal_may_be_deferred(world: &World) {
    let (pen, deferred) = mpsc::channel();
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .on_goal(move |_, _| {
            let pen = pen.clone();
            Decision::defer(move |goal| drop(pen.send(goal)))
        })
        .callback(|_: ExecutingGoal<Fibonacci>| unreachable!("the program has the goal"))
        .unwrap();
    let client = world.client();
    let goals = [sent(&client, 1), sent(&client, 2), sent(&client, 3)];
    let next = || world.until(|| deferred.try_recv().ok());
    let (begins, cancelled, dropped) = (next(), next(), next());
    assert_eq!(begins.status(), GoalStatus::Accepted);
    let begun = begins.execute();
    assert_eq!(begun.status(), GoalStatus::Executing);
    begun.succeed(result(&[1])).unwrap();
    cancel(&client, Cancel::Goal(goals[1].id()));
    assert!(cancelled.is_cancel_requested());
    let begun = cancelled.execute();
    assert_eq!(begun.status(), GoalStatus::Canceling, "it stays so");
    begun.succeed(result(&[2])).unwrap();
    drop(dropped);
    let ended = goals.map(|goal| goal.result().wait(PATIENCE).unwrap().status());
    assert_eq!(ended, [GoalStatus::Succeeded, GoalStatus::Succeeded, GoalStatus::Canceled]);
}

fn the_program_may_decide_in_its_group(world: &World) {
    let (pen, decided) = mpsc::channel();
    let (for_goal, for_cancel, for_deferred) = (pen.clone(), pen.clone(), pen);
    let (keep, kept) = mpsc::channel();
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .decide_in_group()
        .on_goal(move |_, _| {
            for_goal.send("goal").unwrap();
            let (pen, keep) = (for_deferred.clone(), keep.clone());
            Decision::defer(move |goal| {
                pen.send("deferred").unwrap();
                keep.send(goal).unwrap();
            })
        })
        .on_cancel(move |_| for_cancel.send("cancel").is_ok())
        .callback(|_: ExecutingGoal<Fibonacci>| unreachable!("the program has the goal"))
        .unwrap();
    let client = world.client();
    let mut sent = client.send_goal(order(1));
    assert!(decided.try_recv().is_err(), "no executor has run yet");
    let goal = world.until(|| now(&mut sent)).unwrap();
    let _kept = world.next(&kept);
    let mut canceled = goal.cancel();
    assert_eq!(decided.try_iter().collect::<Vec<_>>(), ["goal", "deferred"]);
    let canceled = world.until(|| now(&mut canceled)).unwrap();
    assert_eq!(decided.try_iter().collect::<Vec<_>>(), ["cancel"]);
    assert_eq!(canceled.goals.len(), 1);
}

/// The cancel request is in the group's queue before the callback that gets the goal.
#[test]
fn a_goal_is_cancelled_before_the_program_gets_it() {
    let world = World::in_process();
    let (keep, kept) = mpsc::channel();
    let (got, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (is_got, is_asked) = (got.clone(), asked.clone());
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .decide_in_group()
        .__try_on_cancel(move |_| {
            is_asked.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::convert::Infallible>(is_got.load(Ordering::Relaxed).then_some(true))
        })
        .callback(move |goal: ExecutingGoal<Fibonacci>| {
            got.store(true, Ordering::Relaxed);
            keep.send(goal).unwrap();
        })
        .unwrap();
    let client = world.client();
    let mut sent = client.send_goal(order(1));
    let mut canceled = client.cancel(Cancel::All);
    let canceled = world.until(|| now(&mut canceled)).unwrap();
    let goal = world.until(|| now(&mut sent)).unwrap();
    assert_eq!((canceled.outcome, canceled.goals[0].0), (CancelOutcome::Done, goal.id()));
    assert!(asked.load(Ordering::Relaxed) > 1, "at first it hadn't got it");
    world.next(&kept).canceled(result(&[])).unwrap();
    assert_eq!(goal.result().wait(PATIENCE).unwrap().status(), GoalStatus::Canceled);
}

/// Returns what a future yields, if it is ready.
fn now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    use std::task::{Context, Poll, Waker};
    match std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn a_thousand_goals_at_once(world: &World) {
    let (_server, goals) = world.serve();
    let client = world.client();
    let handles: Vec<_> = (0..1000).map(|number| sent(&client, number)).collect();
    let one_more = client.send_goal(order(0)).wait(PATIENCE).unwrap_err();
    assert_eq!(*one_more.failure(), SendGoalFailure::Rejected, "that is the limit");
    for number in 0..1000 {
        let goal = world.next(&goals);
        assert_eq!(goal.goal().order, number);
        goal.succeed(result(&[number])).unwrap();
    }
    for (number, handle) in (0..).zip(&handles) {
        assert_eq!(handle.result().wait(PATIENCE).unwrap().sequence, [number]);
    }
    assert!(client.send_goal(order(0)).wait(PATIENCE).is_ok());
}

#[test]
fn results_are_forgotten_in_virtual_time() {
    let clock = VirtualClock::new();
    let context = Context::builder().virtual_time(&clock).shared_memory(false).build().unwrap();
    let node = context.node("both").unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    context.set_ros_time(Some(Time::from_nanoseconds(1)));
    let _server = node
        .action_server::<Fibonacci>("fibonacci")
        .result_timeout(Duration::from_nanos(100))
        .callback(|goal: ExecutingGoal<Fibonacci>| goal.succeed(result(&[1])))
        .unwrap();
    let client = node.action_client::<Fibonacci>("fibonacci").create().unwrap();
    let goal = client.send_goal(order(1)).wait(PATIENCE).unwrap();
    context.set_ros_time(Some(Time::from_nanoseconds(1000))); // beyond the result timeout
    executor.spin_all(PATIENCE).unwrap();
    let by_hand = node.client::<FibonacciGetResult>("fibonacci/_action/get_result").create().unwrap();
    let ask = || {
        let request = FibonacciGetResultRequest { goal_id: UUID { uuid: goal.id().0 } };
        by_hand.call(request, PATIENCE).unwrap().status
    };
    context.set_ros_time(Some(Time::from_nanoseconds(1099)));
    assert_eq!(ask(), 4);
    context.set_ros_time(Some(Time::from_nanoseconds(1100)));
    assert_eq!(ask(), 0);
    assert_eq!(goal.result().wait(PATIENCE).unwrap().sequence, [1], "who has it, keeps it");
    // The timer frees memory without a request: the array that is then published shows it.
    let qos = QoS::new().keep_last(1).reliable().transient_local();
    let statuses =
        node.subscription::<GoalStatusArray>("fibonacci/_action/status").qos(qos).create().unwrap();
    let known = || statuses.take().map(|(array, _)| array.status_list.len());
    let _second = client.send_goal(order(1)).wait(PATIENCE).unwrap();
    executor.spin_all(PATIENCE).unwrap();
    assert_eq!(known(), Some(1));
    context.set_ros_time(Some(Time::from_nanoseconds(1300)));
    executor.spin_all(PATIENCE).unwrap();
    assert_eq!(known(), Some(0));
}

/// A client that waits gets its result in any case. (A feedback depth of 0 counts as 1.)
#[test]
fn results_are_kept_for_no_time_or_without_a_limit() {
    for (timeout, later) in [(Duration::ZERO, 0), (Duration::MAX, 4)] {
        let context = Context::builder().virtual_time(&VirtualClock::new()).build().unwrap();
        let node = context.node("both").unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let server = node.action_server::<Fibonacci>("fibonacci").result_timeout(timeout);
        let _server = server.callback(|goal: ExecutingGoal<Fibonacci>| goal.succeed(result(&[1]))).unwrap();
        let client = node.action_client::<Fibonacci>("fibonacci").feedback_depth(0).create().unwrap();
        let goal = client.goal(order(1)).feedback_depth(0).send().wait(PATIENCE).unwrap();
        let awaited = goal.result();
        executor.spin_all(PATIENCE).unwrap();
        assert_eq!(awaited.wait(PATIENCE).unwrap().sequence, [1]);
        executor.advance(Duration::from_secs(1_000_000_000)).unwrap();
        let by_hand = node.client::<FibonacciGetResult>("fibonacci/_action/get_result").create().unwrap();
        let request = FibonacciGetResultRequest { goal_id: UUID { uuid: goal.id().0 } };
        assert_eq!(by_hand.call(request, PATIENCE).unwrap().status, later, "{timeout:?}");
    }
}

#[test]
fn the_states_show_the_end_of_a_goal_whose_result_is_not_kept() {
    let world = World::in_process();
    let server = world.server.action_server::<Fibonacci>("fibonacci").result_timeout(Duration::ZERO);
    let server = server.callback(|goal: ExecutingGoal<Fibonacci>| goal.succeed(result(&[1]))).unwrap();
    let qos = QoS::new().keep_all().reliable().transient_local();
    let statuses = world.client.subscription::<GoalStatusArray>("fibonacci/_action/status").qos(qos);
    let statuses = statuses.create().unwrap();
    let client = world.client();
    for number in 1..=2 {
        drop(sent(&client, number));
        world.executor.spin_all(PATIENCE).unwrap();
        assert_eq!(server.goals(), []);
    }
    let states =
        |array: Shared<GoalStatusArray>| array.status_list.iter().map(|entry| entry.status).collect();
    let all: Vec<Vec<i8>> = std::iter::from_fn(|| statuses.take()).map(|(array, _)| states(array)).collect();
    assert_eq!(all, [vec![], vec![2], vec![4], vec![2], vec![4]]);
}

#[test]
fn the_five_entities_are_ros_2_s() {
    let context = Context::builder().shared_memory(false).domain(0).build().unwrap();
    let node = context.node_in("/robot", "arm").unwrap();
    let _server =
        node.action_server::<Fibonacci>("~/fib").callback(|_: ExecutingGoal<Fibonacci>| {}).unwrap();
    let base = "/robot/arm/fib/_action";
    let feedback =
        node.subscription::<FibonacciFeedbackMessage>(&format!("{base}/feedback")).create().unwrap();
    assert_eq!(feedback.publisher_count(), 1);
    let best = |qos: QoS| {
        let status =
            node.subscription::<GoalStatusArray>(&format!("{base}/status")).qos(qos).create().unwrap();
        status.publisher_count()
    };
    assert_eq!(best(QoS::new().keep_last(1).reliable().transient_local()), 1);
    let is_served = |ready: bool| assert!(ready);
    is_served(
        node.client::<FibonacciSendGoal>(&format!("{base}/send_goal")).create().unwrap().is_server_ready(),
    );
    is_served(
        node.client::<FibonacciGetResult>(&format!("{base}/get_result")).create().unwrap().is_server_ready(),
    );
    let cancel =
        node.client::<sinew_interfaces::action_msgs::srv::CancelGoal>(&format!("{base}/cancel_goal"));
    is_served(cancel.create().unwrap().is_server_ready());
}

#[test]
fn each_of_the_five_names_is_remapped_by_itself() {
    let arguments = [
        "program",
        "--ros-args",
        "-r",
        "fib/_action/feedback:=elsewhere",
        "-r",
        "fib/_action/send_goal:=send",
    ];
    let context = Context::builder().arguments(arguments).shared_memory(false).domain(0).build().unwrap();
    let node = context.node("arm").unwrap();
    let server = node.action_server::<Fibonacci>("fib").callback(|_: ExecutingGoal<Fibonacci>| {}).unwrap();
    assert_eq!(server.name(), "/fib");
    let plain = context.node_of(sinew::gateway::Origin::Local, "/", "looks").unwrap();
    let feedback = plain.subscription::<FibonacciFeedbackMessage>("/elsewhere").create().unwrap();
    assert_eq!(feedback.publisher_count(), 1);
    assert!(plain.client::<FibonacciSendGoal>("/send").create().unwrap().is_server_ready());
    let client = node.action_client::<Fibonacci>("fib").create().unwrap();
    assert!(client.is_server_ready());
}

#[test]
fn one_rule_remaps_an_action() {
    let context_of = |rules: &[&str]| {
        let arguments = [&["program", "--ros-args"], rules].concat();
        Context::builder().arguments(arguments).shared_memory(false).build().unwrap()
    };
    for rule in ["fib:=/robot/fibonacci", "/fib:=robot/fibonacci", "arm:fib:=robot/fibonacci"] {
        let context = context_of(&["-r", "fib/_action/status:=elsewhere", "-r", rule]);
        let node = context.node("arm").unwrap();
        let _server =
            node.action_server::<Fibonacci>("fib").callback(|_: ExecutingGoal<Fibonacci>| {}).unwrap();
        let plain = context.node("looks").unwrap();
        let feedback = plain.subscription::<FibonacciFeedbackMessage>("/robot/fibonacci/_action/feedback");
        assert_eq!(feedback.create().unwrap().publisher_count(), 1, "{rule}");
        let send = plain.client::<FibonacciSendGoal>("/robot/fibonacci/_action/send_goal").create().unwrap();
        assert!(send.is_server_ready(), "{rule}");
        let status = plain.subscription::<GoalStatusArray>("/elsewhere").create().unwrap();
        assert_eq!(status.publisher_count(), 1, "the first rule counts: {rule}");
    }
    let context = context_of(&["-r", "rostopic://fib:=other"]);
    let node = context.node("arm").unwrap();
    let server = node.action_server::<Fibonacci>("fib").callback(|_: ExecutingGoal<Fibonacci>| {}).unwrap();
    assert_eq!(server.name(), "/fib", "an action is no topic");
}

fn its_node_describes_the_action_and_its_parts(world: &World) {
    let services = [&world.server, &world.client].map(|node| node.type_description_service().unwrap());
    let asker = world.client.client::<GetTypeDescription>("/server/get_type_description").create().unwrap();
    let other = world.server.client::<GetTypeDescription>("/client/get_type_description").create().unwrap();
    let ask = |client: &Client<GetTypeDescription>, hash: TypeHash| {
        let request = GetTypeDescriptionRequest { type_hash: hash.to_string(), ..Default::default() };
        let response = client.call(request, PATIENCE).unwrap();
        response.successful.then(|| response.type_description.type_description.type_name.to_string())
    };
    assert_eq!(ask(&asker, Fibonacci::HASH), None);
    let (server, _goals) = world.serve();
    let client = world.client();
    let parts = [
        (Fibonacci::NAME, Fibonacci::HASH),
        ("example_interfaces/action/Fibonacci_SendGoal", FibonacciSendGoal::TYPE.unwrap().hash),
        ("example_interfaces/action/Fibonacci_GetResult", FibonacciGetResult::TYPE.unwrap().hash),
        (
            "example_interfaces/action/Fibonacci_FeedbackMessage",
            FibonacciFeedbackMessage::ENCODING.unwrap().hash,
        ),
        ("action_msgs/msg/GoalStatusArray", GoalStatusArray::ENCODING.unwrap().hash),
    ];
    for (name, hash) in parts {
        assert_eq!((ask(&asker, hash).as_deref(), ask(&other, hash).as_deref()), (Some(name), Some(name)));
    }
    drop((server, client));
    assert_eq!((ask(&asker, Fibonacci::HASH), ask(&other, Fibonacci::HASH)), (None, None));
    drop(services);
}
