//! `action list`, `action info`, `action send_goal`.

use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use sinew_action::{Actions, ExecutingGoal};
use sinew_interfaces::example_interfaces::action::{
    Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult,
};

use crate::{Base, PATIENCE, Spinning, first_line};

/// Counts up; an order of 0 waits to be cancelled.
fn count(goal: ExecutingGoal<Fibonacci>) {
    let order = goal.goal().order;
    let sequence: Vec<i32> = (0..order).collect();
    goal.publish_feedback(FibonacciFeedback { sequence: sequence.clone() }).unwrap();
    if order > 0 {
        return goal.succeed(FibonacciResult { sequence }).unwrap();
    }
    std::thread::spawn(move || {
        while !goal.is_cancel_requested() {
            std::thread::yield_now();
        }
        goal.canceled(FibonacciResult::default()).unwrap();
    });
}

#[test]
fn an_action_is_listed_and_a_goal_sent() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let _server = node
        .action_server::<Fibonacci>("count")
        .on_goal(|_, goal| match goal.order {
            ..0 => sinew_action::Decision::Reject,
            _ => sinew_action::Decision::Execute,
        })
        .callback(count)
        .unwrap();
    let _spinning = Spinning::new(&context);
    assert_eq!(base.text(&["action", "list", "-t"]), "/count [example_interfaces/action/Fibonacci]\n");
    let told = base.text(&["action", "info", "count"]);
    assert!(told.ends_with("Action clients: 0\nAction servers: 1\n    /counter\n"), "{told}");
    assert!(base.failure(&["action", "info", "coun"]).contains("did you mean /count?"));

    let lines = base.text(&[
        "action",
        "send_goal",
        "count",
        "example_interfaces/action/Fibonacci",
        "{order: 2}",
        "--json",
    ]);
    let lines: Vec<&str> = lines.lines().collect();
    let [accepted, feedback, result] = lines[..] else { panic!("{lines:?}") };
    assert!(accepted.starts_with("{\"accepted\":true,\"goal_id\":\""), "{accepted}");
    assert_eq!(feedback, "{\"feedback\":{\"sequence\":[0,1]}}");
    assert_eq!(result, "{\"result\":{\"sequence\":[0,1]},\"status\":\"SUCCEEDED\"}");
    let file = base.path().join("goal.yaml");
    std::fs::write(&file, "order: 3\n").unwrap();
    let told = base.text(&["action", "send_goal", "count", "--file", file.to_str().unwrap(), "--json"]);
    assert!(told.ends_with("{\"result\":{\"sequence\":[0,1,2]},\"status\":\"SUCCEEDED\"}\n"), "{told}");
    let told = base.text(&["action", "send_goal", "/count", "order: 1"]);
    assert!(
        told.ends_with("Result:\n    sequence:\n    - 0\nGoal finished with status: SUCCEEDED\n"),
        "{told}"
    );
    let rejected = base.failure(&["action", "send_goal", "count", "order: -1"]);
    assert!(rejected.ends_with("/count failed: the server rejected the goal\n"), "{rejected}");
    let wrong = base.failure(&["action", "send_goal", "count", "order: many"]);
    assert!(wrong.contains("order"), "{wrong}");
}

#[test]
fn ctrl_c_cancels_the_goal() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let _server = node.action_server::<Fibonacci>("count").callback(count).unwrap();
    let _spinning = Spinning::new(&context);
    let mut child = base.start(&["action", "send_goal", "count", "order: 0"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("Goal accepted with ID: "));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    assert_eq!(lines.last().unwrap(), "Goal finished with status: CANCELED");
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
fn a_cancel_that_is_refused_is_told() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let (begin, begun) = channel();
    let (asked, asks) = channel();
    let refuse = move |_| {
        asked.send(()).unwrap();
        false
    };
    let begin = move |goal: ExecutingGoal<Fibonacci>| begin.send(goal).unwrap();
    let _server = node.action_server::<Fibonacci>("count").on_cancel(refuse).callback(begin).unwrap();
    let _spinning = Spinning::new(&context);
    let mut child = base.start(&["action", "send_goal", "count", "order: 0"]);
    let goal = begun.recv_timeout(PATIENCE).unwrap();
    let (pid, int) = (rustix::process::Pid::from_child(&child), rustix::process::Signal::INT);
    rustix::process::kill_process(pid, int).unwrap();
    asks.recv_timeout(PATIENCE).unwrap();
    // Otherwise the result might overtake the refusal.
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("the server refuses to cancel the goal")));
    goal.succeed(FibonacciResult::default()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The command is stopped while the server publishes more feedback than it has room for.
#[test]
fn feedback_that_is_lost_is_counted() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let (begin, begun) = channel();
    let begin = move |goal: ExecutingGoal<Fibonacci>| begin.send(goal).unwrap();
    let _server = node.action_server::<Fibonacci>("count").callback(begin).unwrap();
    let _spinning = Spinning::new(&context);
    for (depth, json) in [("5", false), ("5", true), ("40", true)] {
        let mut arguments = vec!["action", "send_goal", "count", "order: 0", "--depth", depth];
        arguments.extend(json.then_some("--json"));
        let mut child = base.start(&arguments);
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let goal = begun.recv_timeout(PATIENCE).unwrap();
        assert!(output.next().unwrap().contains("ccepted"));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        // Each of its threads: the receiving one may be the last.
        let is_stopped = || {
            let mut threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
            let stat = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("stat"));
            threads.all(|thread| stat(thread.unwrap()).is_ok_and(|stat| stat.contains(") T ")))
        };
        while !is_stopped() {
            std::thread::yield_now();
        }
        (0..30).for_each(|n| goal.publish_feedback(FibonacciFeedback { sequence: vec![n] }).unwrap());
        goal.succeed(FibonacciResult::default()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
        let lines: Vec<String> = output.collect();
        let said = child.wait_with_output().unwrap();
        assert!(said.status.success());
        let is_feedback =
            |line: &&String| line.to_lowercase().contains("feedback\":{") || *line == "Feedback:";
        let told = lines.iter().filter(is_feedback).count();
        let lost = 30 - told;
        // More than its depth: what the goal takes in while more arrives gives way to nothing.
        assert!(if depth == "40" { lost == 0 } else { told >= 5 && lost > 0 }, "{lines:?}");
        let said = String::from_utf8(said.stderr).unwrap();
        let is_said = said.contains(&format!("{lost} pieces of feedback were lost"));
        assert_eq!(is_said, lost > 0 && !json, "{said}");
        let is_in_json = lines.contains(&format!("{{\"feedback_lost\":{lost}}}"));
        assert_eq!(is_in_json, lost > 0 && json, "{lines:?}");
    }
}

/// The server decides only when the command has given up.
#[test]
fn a_goal_that_is_accepted_too_late_is_cancelled() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let decides = Arc::new(AtomicBool::new(false));
    let decided = Arc::clone(&decides);
    let (canceled, cancels) = channel();
    let accept = move |_, _: &FibonacciGoal| {
        while !decided.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        sinew_action::Decision::Execute
    };
    let wait = move |goal: ExecutingGoal<Fibonacci>| {
        let canceled = canceled.clone();
        std::thread::spawn(move || {
            while !goal.is_cancel_requested() {
                std::thread::yield_now();
            }
            goal.canceled(FibonacciResult::default()).unwrap();
            canceled.send(()).unwrap();
        });
    };
    let _server = node.action_server::<Fibonacci>("count").on_goal(accept).callback(wait).unwrap();
    let _spinning = Spinning::new(&context);
    let mut child = base.start(&["action", "send_goal", "count", "order: 0", "--timeout", "0.2"]);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.next().unwrap().contains("waiting to cancel the goal"));
    decides.store(true, Ordering::Release);
    cancels.recv_timeout(PATIENCE).unwrap();
    let last = said.last().unwrap();
    assert!(last.contains("gave no answer within 0.2 s"), "{last}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// Like `sinew action send_goal .. | head -1`, while no output is written that could fail.
#[test]
fn a_goal_that_nobody_watches_any_more_is_cancelled() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let (canceled, cancels) = channel();
    let wait = move |goal: ExecutingGoal<Fibonacci>| {
        let canceled = canceled.clone();
        std::thread::spawn(move || {
            while !goal.is_cancel_requested() {
                std::thread::yield_now();
            }
            canceled.send(()).unwrap();
            goal.canceled(FibonacciResult::default()).unwrap();
        });
    };
    let _server = node.action_server::<Fibonacci>("count").callback(wait).unwrap();
    let _spinning = Spinning::new(&context);
    let mut child = base.start(&["action", "send_goal", "count", "order: 0"]);
    assert!(first_line(child.stdout.take()).starts_with("Goal accepted with ID: "));
    cancels.recv_timeout(PATIENCE).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "as whenever a reader goes early");
}

#[test]
fn a_goal_that_is_aborted_has_an_exit_code_of_its_own() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let abort = |goal: ExecutingGoal<Fibonacci>| goal.abort(FibonacciResult::default()).unwrap();
    let _server = node.action_server::<Fibonacci>("count").callback(abort).unwrap();
    let _spinning = Spinning::new(&context);
    let output = base.command(&["action", "send_goal", "count", "{}"]).output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(3), &b""[..]));
    assert!(output.stdout.ends_with(b"Goal finished with status: ABORTED\n"));
}

#[test]
fn what_is_wrong_with_a_goal_is_told_where_it_stands() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("counter").unwrap();
    let _server = node.action_server::<Fibonacci>("count").callback(count).unwrap();
    for (goal, told) in [
        ("{order: 1}}", "this is no example_interfaces/action/Fibonacci_Goal: line 1, column 11: "),
        ("{order: 1", "this is no example_interfaces/action/Fibonacci_Goal: line 1, column 10: "),
        ("{ordre: 1}", "this is no example_interfaces/action/Fibonacci_Goal: `ordre`: "),
        ("", "the goal for /count is empty; \"{}\" stands for one with all default values"),
    ] {
        let said = base.failure(&["action", "send_goal", "count", goal]);
        assert!(said.starts_with(&format!("sinew: {told}")), "{goal}: {said}");
    }
}
