//! Actions with one side in Rust and the other one in C++, in two processes.

mod support;

use sinew::prelude::*;
use sinew_action::{Actions, CancelOutcome, Decision, ExecutingGoal, FeedbackItem, GoalStatus};
use sinew_build::CppGenerator;
use sinew_interfaces::example_interfaces::action::{
    Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use support::{STRICT, checked, command, cxx, flags, library, meeting_place, root, skipped};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);

/// The program `mixed_actions`, compiled once for both tests. `None` without a compiler.
fn program() -> Option<PathBuf> {
    static PLACE: OnceLock<Option<TempDir>> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        if skipped(&cxx()) {
            return None;
        }
        let place = tempfile::tempdir().expect("a directory");
        let interfaces = root().join("../sinew-interfaces/interfaces");
        let packages = [
            "example_interfaces",
            "action_msgs",
            "builtin_interfaces",
            "service_msgs",
            "unique_identifier_msgs",
        ];
        let all = packages.iter().fold(CppGenerator::new(), |all, name| all.package(interfaces.join(name)));
        all.write_to(place.path()).expect("the headers");
        let mut compile = Command::new(cxx());
        compile.args(STRICT).args(flags()).args(["-std=c++17", "-g0", "-pthread", "-I"]).arg(place.path());
        compile.arg("-I").arg(root().join("include")).arg("-I").arg(root().join("tests/cpp"));
        compile.arg(root().join("tests/cpp/mixed/actions.cpp"));
        compile.arg("-o").arg(place.path().join("mixed_actions")).arg("-L").arg(library()).arg("-lsinew_c");
        compile.arg(format!("-Wl,-rpath,{}", library().display()));
        checked("mixed_actions is compiled", &compile.output().expect("c++ runs"));
        Some(place)
    });
    place.as_ref().map(|place| place.path().join("mixed_actions"))
}

/// A context in the domain in which [`command`] starts the other process.
fn context(place: &Path) -> Context {
    Context::builder().domain(0).directory(place.join("domains")).build().expect("a context")
}

fn fibonacci(goal: &ExecutingGoal<Fibonacci>) -> Vec<i32> {
    let mut sequence = vec![0, 1];
    for at in 1..usize::try_from(goal.goal().order).expect("it isn't negative") {
        sequence.push(sequence[at] + sequence[at - 1]);
        goal.publish_feedback(FibonacciFeedback { sequence: sequence.clone() }).expect("it is published");
    }
    sequence
}

#[test]
fn a_client_of_cpp_and_a_server_of_rust() -> sinew::Result<()> {
    let Some(program) = program() else { return Ok(()) };
    let place = meeting_place();
    let context = context(place.path());
    let node = context.node("rust_server")?;
    let decide = |_, goal: &FibonacciGoal| match goal.order {
        ..0 => Decision::Reject,
        _ => Decision::Execute,
    };
    let _server = node.action_server::<Fibonacci>("fibonacci").on_goal(decide).async_callback(
        |goal: ExecutingGoal<Fibonacci>| async move {
            if goal.goal().order == 100 {
                goal.cancel_requested().await;
                return goal.canceled(FibonacciResult { sequence: Vec::new() });
            }
            let sequence = fibonacci(&goal);
            goal.succeed(FibonacciResult { sequence })
        },
    )?;
    let executor = Executor::single();
    executor.add(&context)?;
    std::thread::scope(|scope| {
        let stop = executor.stop_handle();
        let spinning = scope.spawn(|| executor.spin());
        let output = command(&program, place.path()).arg("client").output();
        stop.stop();
        spinning.join().expect("it doesn't panic").expect("it spins");
        checked("the client", &output.expect("it starts"));
    });
    Ok(())
}

#[test]
fn a_client_of_rust_and_a_server_of_cpp() -> sinew::Result<()> {
    let Some(program) = program() else { return Ok(()) };
    let place = meeting_place();
    let context = context(place.path());
    let node = context.node("rust_client")?;
    let client = node.action_client::<Fibonacci>("fibonacci").create()?;
    let mut other = command(&program, place.path());
    let mut other = other.arg("server").stdin(Stdio::piped()).spawn().expect("it starts");
    assert!(client.wait_for_server(PATIENCE));
    let goal = client.send_goal(FibonacciGoal { order: 5 }).wait(PATIENCE).expect("it is accepted");
    let mut feedback = goal.feedback();
    let result = goal.result().wait(PATIENCE).expect("it ends");
    assert_eq!((result.status(), &result.sequence[..]), (GoalStatus::Succeeded, &[0, 1, 1, 2, 3, 5][..]));
    let pieces = std::iter::from_fn(|| feedback.take());
    assert_eq!(
        pieces.map(|piece: FeedbackItem<Fibonacci>| piece.sequence.len()).collect::<Vec<_>>(),
        [3, 4, 5, 6]
    );
    assert!(client.send_goal(FibonacciGoal { order: -1 }).wait(PATIENCE).is_err());
    let endless = client.send_goal(FibonacciGoal { order: 100 }).wait(PATIENCE).expect("it is accepted");
    let canceled = endless.cancel().wait(PATIENCE).expect("the server answers");
    assert_eq!(canceled.outcome, CancelOutcome::Done);
    assert_eq!(endless.result().wait(PATIENCE).expect("it ends").status(), GoalStatus::Canceled);
    drop(other.stdin.take()); // which ends it
    assert!(other.wait().expect("it ends").success());
    Ok(())
}
