//! A server's process is killed, with a goal in each state: the client is notified.

use crate::world::{PATIENCE, order};
use sinew::error::CallFailure;
use sinew::prelude::*;
use sinew_action::{Actions, Decision, ExecutingGoal, GoalStatus, ResultError, SendGoalFailure};
use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciResult};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

/// Directory where the processes meet; not set in the test itself.
const PLACE: &str = "SINEW_TEST_ACTIONS_PLACE";

/// The goal's order selects what the server does with it, for ever.
const UNANSWERED: i32 = 0;
const ACCEPTED: i32 = 1;
const EXECUTING: i32 = 2;
const SUCCEEDED: i32 = 3;
const TELLING: i32 = 4;

/// Does nothing in the test itself; in a child process, it is the server.
#[test]
fn a_server_serves_until_it_is_killed() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let context = Context::builder().domain(3).directory(place).build().unwrap();
    let node = context.node("server").unwrap();
    let (keep, kept) = mpsc::channel();
    let _server = node
        .action_server::<Fibonacci>("fibonacci")
        .on_goal(move |_, goal| match goal.order {
            UNANSWERED => loop {
                std::thread::park();
            },
            ACCEPTED => {
                let keep = keep.clone();
                Decision::defer(move |goal| drop(keep.send(goal)))
            }
            _ => Decision::Execute,
        })
        .callback(|goal: ExecutingGoal<Fibonacci>| match goal.goal().order {
            SUCCEEDED => goal.succeed(FibonacciResult { sequence: vec![3] }),
            TELLING => {
                std::thread::spawn(move || {
                    while goal.publish_feedback(FibonacciFeedback::default()).is_ok() {
                        std::thread::yield_now();
                    }
                });
                Ok(())
            }
            _ => {
                std::mem::forget(goal); // until this process is killed
                Ok(())
            }
        })
        .unwrap();
    sinew::spin(&context).unwrap();
    drop(kept);
}

/// The server's process; killed on drop.
struct Server(Child);

impl Server {
    fn start(place: &Path) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new(program);
        child.args(["--exact", "kills::a_server_serves_until_it_is_killed"]).env(PLACE, place);
        Self(child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap(); // SIGKILL
        self.0.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn clients_of_a_server_that_is_killed_are_told() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let context = Context::builder().domain(3).directory(place.path()).build().unwrap();
    let node = context.node("client").unwrap();
    let client = node.action_client::<Fibonacci>("fibonacci").create().unwrap();
    for state in [
        GoalStatus::Unknown,
        GoalStatus::Accepted,
        GoalStatus::Executing,
        GoalStatus::Canceling,
        GoalStatus::Succeeded,
    ] {
        let mut server = Server::start(place.path());
        assert!(client.wait_for_server(PATIENCE));
        let kind = match state {
            GoalStatus::Unknown => UNANSWERED,
            GoalStatus::Accepted => ACCEPTED,
            GoalStatus::Succeeded => SUCCEEDED,
            _ => EXECUTING,
        };
        let pending = client.send_goal(order(kind));
        if state == GoalStatus::Unknown {
            server.kill();
            let error = pending.wait(PATIENCE).unwrap_err();
            assert_eq!(*error.failure(), SendGoalFailure::Call(CallFailure::ServerGone));
            continue;
        }
        let goal = pending.wait(PATIENCE).unwrap();
        if state == GoalStatus::Canceling {
            assert_eq!(goal.cancel().wait(PATIENCE).unwrap().goals.len(), 1);
        }
        let result = goal.result();
        let result = if state == GoalStatus::Succeeded {
            let result = result.wait(PATIENCE);
            server.kill();
            assert_eq!(result.unwrap().sequence, [3]);
            goal.result().wait(PATIENCE)
        } else {
            let begin = sinew::time::Time::steady();
            while goal.status() != state {
                assert!(sinew::time::Time::steady() - begin < PATIENCE, "it never is {state}");
                std::thread::yield_now();
            }
            server.kill();
            result.wait(PATIENCE)
        };
        match state {
            GoalStatus::Succeeded => assert_eq!(result.unwrap().sequence, [3], "who has it, keeps it"),
            _ => assert_eq!(result.unwrap_err(), ResultError::ServerGone { goal: goal.id() }, "{state}"),
        }
    }
}

/// The goals overlap, and all of them publish feedback when the server dies.
#[test]
fn clients_with_several_goals_are_told() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let context = Context::builder().domain(3).directory(place.path()).build().unwrap();
    let node = context.node("client").unwrap();
    let client = node.action_client::<Fibonacci>("fibonacci").create().unwrap();
    for _ in 0..3 {
        let mut server = Server::start(place.path());
        assert!(client.wait_for_server(PATIENCE));
        let goals =
            [TELLING, EXECUTING, TELLING, ACCEPTED, TELLING].map(|kind| client.send_goal(order(kind)));
        let goals = goals.map(|goal| goal.wait(PATIENCE).unwrap());
        let begin = sinew::time::Time::steady();
        for goal in [&goals[0], &goals[2], &goals[4]] {
            let mut pieces = goal.feedback();
            while pieces.take().is_none() {
                assert!(sinew::time::Time::steady() - begin < PATIENCE, "there is no feedback");
                std::thread::yield_now();
            }
        }
        let canceled = goals[1].cancel();
        server.kill();
        for goal in &goals {
            assert_eq!(
                goal.result().wait(PATIENCE).unwrap_err(),
                ResultError::ServerGone { goal: goal.id() }
            );
        }
        drop(canceled.wait(PATIENCE)); // the answer, or an error
    }
}
