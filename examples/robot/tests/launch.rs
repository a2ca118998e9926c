//! The robot as `robot.toml` has it: several processes, in real time.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use robot::robot_interfaces::action::{Navigate, NavigateGoal};
use sinew::action::{Actions, GoalStatus};
use sinew::launch::{Options, Plan, Word};
use sinew::lifecycle::{LifecycleClient, State};
use sinew::prelude::*;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PATIENCE: Duration = Duration::from_secs(60);

fn plan() -> Plan {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("robot.toml");
    let arguments = vec![
        ("program".to_owned(), env!("CARGO_BIN_EXE_robot").to_owned()),
        ("speed".to_owned(), "2.0".to_owned()), // it is in a hurry
    ];
    sinew::launch::load(&file, &Options { arguments, environment: None }).unwrap()
}

/// A process of the plan; killed when it goes.
struct Running(Child);

impl Running {
    fn start(process: &sinew::launch::Process, place: &Path) -> Self {
        let words = process.arguments.iter().map(|word| match word {
            Word::Text(text) => text.clone(),
            Word::File(_) => panic!("no file is expected"),
        });
        let mut command = Command::new(&process.program);
        command.args(words).env("SINEW_DIR", place).env_remove("SINEW_DOMAIN_ID").env_remove("ROS_DOMAIN_ID");
        Self(command.env("ROS_LOG_DIR", place.join("log")).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn three_processes_are_one_robot() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let plan = plan();
    let names: Vec<&str> = plan.processes.iter().map(|process| process.name.as_str()).collect();
    assert_eq!(names, ["base", "motion", "brain"]);
    let _running: Vec<Running> =
        plan.processes.iter().map(|process| Running::start(process, place.path())).collect();

    let context = Context::builder().directory(place.path()).build().unwrap();
    let node = context.node("operator").unwrap();
    // The supervisor brings the drivers up.
    let wheels = LifecycleClient::new(&node, "/wheels").unwrap();
    assert!(wheels.wait_until_ready(PATIENCE));
    while wheels.state(PATIENCE).unwrap() != State::Active {
        std::thread::yield_now();
    }
    let client = node.action_client::<Navigate>("navigate").create().unwrap();
    assert!(client.wait_for_server(PATIENCE));
    // It may have been asked before it knows where it is.
    let result = loop {
        let goal = client.send_goal(NavigateGoal { x: 1.6, y: 1.125 }).wait(PATIENCE).unwrap();
        let result = goal.result().wait(PATIENCE).unwrap();
        if !result.message.contains("isn't known") {
            break result;
        }
    };
    assert_eq!((result.status(), result.message.as_str()), (GoalStatus::Succeeded, "it is there"));
}
