//! Overlapping goals of one client, between two processes: messages of one goal that arrive while
//! another one ends.

use crate::on_both_paths;
use crate::world::{PATIENCE, World, order, sent};
use parking_lot::Mutex;
use sinew_action::{
    ActionClient, ActionServer, Actions, Cancel, ExecutingGoal, GoalHandle, GoalStatus, Policy, ResultError,
};
use sinew_interfaces::action_msgs::msg::GoalInfo;
use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciResult};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::Wake;

on_both_paths![
    newer_goals_preempt_older_ones,
    goals_of_eight_threads,
    five_at_once_tell_all_their_feedback,
    a_server_is_dropped_while_goals_tell_feedback,
];

fn feedback(number: i32) -> FibonacciFeedback {
    FibonacciFeedback { sequence: vec![number] }
}

/// Makes a thread stop until it is released.
struct Stop {
    arrives: SyncSender<()>,
    leaves: Mutex<Receiver<()>>,
}

/// The test's end of a [`Stop`].
struct Hold {
    arrived: Receiver<()>,
    leave: SyncSender<()>,
}

impl Stop {
    fn new() -> (Arc<Self>, Hold) {
        let ((arrives, arrived), (leave, leaves)) = (sync_channel(1), sync_channel(1));
        (Arc::new(Self { arrives, leaves: Mutex::new(leaves) }), Hold { arrived, leave })
    }

    fn stop(&self) {
        if self.arrives.try_send(()).is_ok() {
            let _ = self.leaves.lock().recv_timeout(PATIENCE);
        }
    }
}

impl Wake for Stop {
    fn wake(self: Arc<Self>) {
        self.stop();
    }
}

impl Hold {
    #[track_caller]
    fn arrived(&self) {
        self.arrived.recv_timeout(PATIENCE).unwrap();
    }

    fn leave(&self) {
        self.leave.send(()).unwrap();
    }
}

/// The client's receiving thread finds the ends of two goals. While it handles the first one,
/// feedback of a third goal comes.
#[test]
fn feedback_after_the_end_of_another_goal() {
    let world = World::shm();
    let (_server, goals) = world.serve();
    let client = world.client();
    let [first, second, third] = [1, 2, 3].map(|number| sent(&client, number));
    let [one, two, three] = [(); 3].map(|()| world.next(&goals));
    let mut pieces = third.feedback();
    three.publish_feedback(feedback(0)).unwrap();
    world.until(|| pieces.take());

    let (stop, hold) = Stop::new();
    let ticks = world.client.subscription::<GoalInfo>("ticks").create().unwrap();
    ticks.set_listener(move |_| stop.stop());
    let ticking = world.server.publisher::<GoalInfo>("ticks").create().unwrap();
    assert!(ticking.wait_for_subscribers(1, PATIENCE));
    ticking.publish(GoalInfo::default()).unwrap();
    hold.arrived();

    let (stop, at_the_end) = Stop::new();
    let mut pending = first.result();
    let waker = stop.into();
    assert!(Pin::new(&mut pending).poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    one.succeed(FibonacciResult { sequence: vec![1] }).unwrap();
    two.succeed(FibonacciResult { sequence: vec![2] }).unwrap();
    hold.leave();
    at_the_end.arrived();
    three.publish_feedback(feedback(7)).unwrap();
    at_the_end.leave();

    assert_eq!(second.result().wait(PATIENCE).unwrap().sequence, [2]);
    assert_eq!(world.until(|| pieces.take()).sequence, [7]);
    three.succeed(FibonacciResult::default()).unwrap();
    assert_eq!(third.result().wait(PATIENCE).unwrap().status(), GoalStatus::Succeeded);
}

/// Number of goals in a stress test; `SINEW_TEST_GOALS` overrides it.
fn goals_of_a_stress_test() -> usize {
    let goals = std::env::var("SINEW_TEST_GOALS").ok().and_then(|goals| goals.parse().ok());
    goals.unwrap_or(400)
}

/// A server that publishes feedback for each goal on a thread of its own, until the number of
/// messages in the goal's order is reached or the goal is to end early.
fn serve(world: &World, policy: Policy) -> ActionServer<Fibonacci> {
    let execute = |goal: ExecutingGoal<Fibonacci>| {
        let mut number = 0;
        while number < goal.goal().order && !goal.is_cancel_requested() {
            let _ = goal.publish_feedback(feedback(number)); // the server may be gone
            number += 1;
            std::thread::yield_now();
        }
        let result = FibonacciResult { sequence: vec![number] };
        let is_cancelled = goal.is_cancel_requested();
        let _ = if is_cancelled { goal.canceled(result) } else { goal.succeed(result) };
    };
    let begin = move |goal: ExecutingGoal<Fibonacci>| drop(std::thread::spawn(move || execute(goal)));
    world.server.action_server("fibonacci").policy(policy).callback(begin).unwrap()
}

/// Runs the world's callbacks on a thread while `work` runs on the current one.
fn spun(world: &World, work: impl FnOnce()) {
    /// Stops the thread even if `work` panics: it would spin on.
    struct Stopped(sinew::executor::StopHandle);

    impl Drop for Stopped {
        fn drop(&mut self) {
            self.0.stop();
        }
    }

    std::thread::scope(|scope| {
        let _stopped = Stopped(world.executor.stop_handle());
        scope.spawn(|| world.executor.spin().unwrap());
        work();
    });
}

fn ended(goal: &GoalHandle<Fibonacci>) -> GoalStatus {
    goal.result().wait(PATIENCE).unwrap().status()
}

/// Each newer goal comes while the older one publishes feedback, and some are cancelled as well.
fn newer_goals_preempt_older_ones(world: &World) {
    let _server = serve(world, Policy::NewestWins);
    let client = world.client();
    spun(world, || {
        let mut goals = Vec::new();
        for number in 0..60 {
            let goal = sent(&client, i32::MAX);
            let mut pieces = goal.feedback();
            let begin = sinew::time::Time::steady();
            while pieces.take().is_none() {
                assert!(sinew::time::Time::steady() - begin < PATIENCE, "no feedback of goal {number}");
                std::thread::yield_now();
            }
            if number % 3 == 0 {
                goal.cancel().wait(PATIENCE).unwrap();
                assert_eq!(ended(&goal), GoalStatus::Canceled);
            }
            goals.push(goal);
        }
        client.cancel(Cancel::All).wait(PATIENCE).unwrap();
        for goal in &goals {
            assert_eq!(ended(goal), GoalStatus::Canceled);
            assert_eq!(goal.status(), GoalStatus::Canceled);
        }
    });
}

/// The work of one thread with one client that all threads share.
fn send_many(client: &ActionClient<Fibonacci>, thread: usize, goals: usize) {
    for number in 0..goals {
        let goal = sent(client, if number % 4 == 3 { i32::MAX } else { 4 });
        let mut pieces = goal.feedback();
        if number % 4 == 3 {
            let _ = goal.status();
            goal.cancel().wait(PATIENCE).unwrap();
            assert_eq!(ended(&goal), GoalStatus::Canceled, "goal {number} of thread {thread}");
            continue;
        }
        let result = goal.result().wait(PATIENCE).unwrap();
        assert_eq!((result.status(), &result.sequence[..]), (GoalStatus::Succeeded, &[4][..]));
        let told: Vec<i32> = std::iter::from_fn(|| pieces.take()).map(|piece| piece.sequence[0]).collect();
        assert!(told.is_sorted(), "{told:?}");
        assert!(told.len() as u64 + goal.feedback_lost() >= 4, "{told:?} and {}", goal.feedback_lost());
    }
}

fn goals_of_eight_threads(world: &World) {
    let _server = serve(world, Policy::Parallel);
    let client = world.client();
    let each = goals_of_a_stress_test() / 8;
    spun(world, || {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let client = &client;
                scope.spawn(move || send_many(client, thread, each));
            }
        });
    });
}

/// With room for all of it, no feedback is missing, and it comes before the result.
fn five_at_once_tell_all_their_feedback(world: &World) {
    let _server = serve(world, Policy::Parallel);
    let client = world.client.action_client::<Fibonacci>("fibonacci").feedback_depth(1000).create().unwrap();
    assert!(client.wait_for_server(PATIENCE));
    spun(world, || {
        for _ in 0..10 {
            let goals = [29; 5].map(|number| client.send_goal(order(number)));
            for goal in goals.map(|goal| goal.wait(PATIENCE).unwrap()) {
                let mut pieces = goal.feedback();
                assert_eq!(ended(&goal), GoalStatus::Succeeded);
                let told: Vec<i32> =
                    std::iter::from_fn(|| pieces.take()).map(|piece| piece.sequence[0]).collect();
                assert_eq!((told, goal.feedback_lost()), ((0..29).collect(), 0));
            }
        }
    });
}

fn a_server_is_dropped_while_goals_tell_feedback(world: &World) {
    let server = serve(world, Policy::Parallel);
    let client = world.client();
    spun(world, || {
        let goals = [i32::MAX; 5].map(|number| sent(&client, number));
        let mut pieces = goals[4].feedback();
        let begin = sinew::time::Time::steady();
        while pieces.take().is_none() {
            assert!(sinew::time::Time::steady() - begin < PATIENCE, "there is no feedback");
            std::thread::yield_now();
        }
        drop(server);
        for goal in &goals {
            assert_eq!(
                goal.result().wait(PATIENCE).unwrap_err(),
                ResultError::ServerGone { goal: goal.id() }
            );
        }
        let _server = serve(world, Policy::Parallel);
        assert!(client.wait_for_server(PATIENCE));
        assert_eq!(ended(&sent(&client, 3)), GoalStatus::Succeeded);
    });
}

/// Messages of a burst that overwrite each other while no thread of the client receives are
/// counted.
#[test]
fn feedback_that_is_overwritten_is_counted() {
    let world = World::shm();
    let (_server, goals) = world.serve();
    for depth in [None, Some(40)] {
        let client = world.client.action_client::<Fibonacci>("fibonacci");
        let client = match depth {
            None => client.create(),
            Some(depth) => client.feedback_depth(depth).create(),
        };
        let client = client.unwrap();
        assert!(client.wait_for_server(PATIENCE));
        let goal = sent(&client, 1);
        let executing = world.next(&goals);
        let ((stop, hold), mut pieces) = (Stop::new(), goal.feedback());
        executing.publish_feedback(feedback(0)).unwrap();
        world.until(|| pieces.take());
        let waker = stop.into();
        let next = Pin::new(&mut pieces);
        let mut context = std::task::Context::from_waker(&waker);
        assert!(futures_core::Stream::poll_next(next, &mut context).is_pending());
        executing.publish_feedback(feedback(1)).unwrap();
        hold.arrived(); // the receiving thread
        for number in 2..31 {
            executing.publish_feedback(feedback(number)).unwrap();
        }
        executing.succeed(FibonacciResult::default()).unwrap();
        hold.leave();
        assert_eq!(ended(&goal), GoalStatus::Succeeded);
        let told: Vec<i32> = std::iter::from_fn(|| pieces.take()).map(|piece| piece.sequence[0]).collect();
        let first = if depth.is_some() { 1 } else { 21 };
        assert_eq!(told, (first..31).collect::<Vec<_>>());
        assert_eq!((pieces.lost(), goal.feedback_lost()), if depth.is_some() { (0, 0) } else { (20, 20) });
    }
}
