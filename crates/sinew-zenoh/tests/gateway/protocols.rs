//! The protocols on top of topics and services: parameters, actions, managed nodes and frames, from
//! one host to another.

use crate::network::{Host, Network, PATIENCE};
use parking_lot::Mutex;
use sinew::parameters::{NamedValue, ParameterValue};
use sinew::prelude::*;
use sinew_action::{Actions, ExecutingGoal, GoalStatus};
use sinew_interfaces::example_interfaces::action::{
    Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult,
};
use sinew_lifecycle::{LifecycleClient, LifecycleNode, OnLoss, State, Supervisor, Transition, from_fn};
use sinew_tf::{At, Buffer, StampedTransform, StaticTransformBroadcaster, Transform, TransformListener};
use std::sync::Arc;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Runs a context's callbacks until it is dropped.
struct Spinning(Context, Option<std::thread::JoinHandle<()>>);

impl Spinning {
    fn new(context: &Context) -> Result<Self, Box<dyn std::error::Error>> {
        let executor = Executor::multi(2);
        executor.add(context)?;
        let spin = std::thread::spawn(move || executor.spin().expect("no callback fails"));
        Ok(Self(context.clone(), Some(spin)))
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.shutdown();
        drop(self.1.take().map(std::thread::JoinHandle::join));
    }
}

#[test]
fn parameters_of_another_host() -> Outcome {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let context = one.context();
    let node = context.node("camera")?;
    let rate = node.parameter("rate").default(10_i64).range(1..=100).create()?;
    let _spinning = Spinning::new(&context)?;

    let client = other.context().node("tool")?.parameter_client("/camera");
    assert_eq!(client.get(["rate"]).wait(PATIENCE)?, [ParameterValue::Integer(10)]);
    let set = |value: i64| client.set([NamedValue::new("rate", value)]).wait(PATIENCE);
    assert!(set(50)?[0].is_ok());
    assert!(set(500)?[0].is_err(), "out of its range");
    assert_eq!(rate.get(), 50);

    // A node without parameters starts serving those that each node has at the first request.
    let plain = context.node("plain")?;
    let of_plain = other.context().node("asker")?.parameter_client("/plain");
    assert_eq!(of_plain.list([""; 0], 0).wait(PATIENCE)?.names, ["use_sim_time"]);
    assert_eq!(plain.list_parameters(&[], 0), ["use_sim_time"]);
    Ok(())
}

#[test]
fn an_action_of_another_host() -> Outcome {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.client_gateway(&network), other.client_gateway(&network)];
    let context = one.context();
    let node = context.node("mathematician")?;
    let (begin, begun) = std::sync::mpsc::channel();
    let _server = node
        .action_server::<Fibonacci>("fibonacci")
        .callback(move |goal: ExecutingGoal<Fibonacci>| begin.send(goal))?;
    let _spinning = Spinning::new(&context)?;

    let asking = other.context();
    let client = asking.node("asker")?.action_client::<Fibonacci>("fibonacci").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = told.clone();
    let _asking = Spinning::new(&asking)?;
    let goal = client
        .goal(FibonacciGoal { order: 3 })
        .on_feedback(move |feedback: &FibonacciFeedback| tell.lock().push(feedback.sequence.clone()))
        .send()
        .wait(PATIENCE)?;
    let executing = begun.recv_timeout(PATIENCE)?;
    for number in 1..=3 {
        executing.publish_feedback(FibonacciFeedback { sequence: vec![number] })?;
    }
    let begin = std::time::Instant::now();
    while told.lock().len() < 3 {
        assert!(begin.elapsed() < PATIENCE, "{:?}", told.lock());
        std::thread::yield_now();
    }
    executing.succeed(FibonacciResult { sequence: vec![0, 1, 1] })?;
    let result = goal.result().wait(PATIENCE)?;
    assert_eq!((result.status(), &result.sequence), (GoalStatus::Succeeded, &vec![0, 1, 1]));
    assert_eq!(*told.lock(), [[1], [2], [3]]);

    // A goal that is cancelled.
    let goal = client.send_goal(FibonacciGoal { order: 9 }).wait(PATIENCE)?;
    let executing = begun.recv_timeout(PATIENCE)?;
    goal.cancel().wait(PATIENCE)?;
    assert!(executing.is_cancel_requested());
    executing.canceled(FibonacciResult::default())?;
    assert_eq!(goal.result().wait(PATIENCE)?.status(), GoalStatus::Canceled);
    Ok(())
}

/// The server publishes it as soon as it has the goal.
#[test]
fn the_first_feedback_reaches_a_client_that_has_just_come() -> Outcome {
    const HOW_OFTEN: i32 = 10;
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.client_gateway(&network), other.client_gateway(&network)];
    let context = one.context();
    let node = context.node("mathematician")?;
    let _server =
        node.action_server::<Fibonacci>("fibonacci").callback(|goal: ExecutingGoal<Fibonacci>| {
            let number = goal.goal().order;
            goal.publish_feedback(FibonacciFeedback { sequence: vec![number] }).expect("it is open");
            goal.succeed(FibonacciResult { sequence: vec![number] }).expect("it is executing");
        })?;
    let _spinning = Spinning::new(&context)?;
    for number in 0..HOW_OFTEN {
        let asking = other.context();
        let client = asking.node("asker")?.action_client::<Fibonacci>("fibonacci").create()?;
        let (tell, told) = std::sync::mpsc::channel();
        let _asking = Spinning::new(&asking)?;
        assert!(client.wait_for_server(PATIENCE));
        let _goal = client
            .goal(FibonacciGoal { order: number })
            .on_feedback(move |feedback: &FibonacciFeedback| tell.send(feedback.sequence.clone()))
            .send()
            .wait(PATIENCE)?;
        assert_eq!(told.recv_timeout(PATIENCE)?, [number]);
    }
    Ok(())
}

#[test]
fn managed_nodes_of_another_host() -> Outcome {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let context = one.context();
    let arm = LifecycleNode::new(&context.node("arm")?, from_fn(|_| Ok(())))?;
    let _spinning = Spinning::new(&context)?;
    let operator = other.context().node("operator")?;
    let client = LifecycleClient::new(&operator, "/arm")?;
    assert!(client.wait_until_ready(PATIENCE));
    client.change(Transition::Configure, PATIENCE)?;
    assert_eq!((client.state(PATIENCE)?, arm.state()), (State::Inactive, State::Inactive));
    assert!(client.change(Transition::Deactivate, PATIENCE).is_err());

    // Once the second one is active, the first one has answered.
    let hand = LifecycleNode::new(&context.node("hand")?, from_fn(|_| Ok(())))?;
    let supervisor =
        Supervisor::builder(&operator).manage("/arm").manage("/hand").timeout(PATIENCE).build()?;
    std::thread::scope(|scope| {
        let supervising = scope.spawn(|| supervisor.supervise(OnLoss::TakeDown));
        let begin = std::time::Instant::now();
        while hand.state() != State::Active {
            assert!(begin.elapsed() < PATIENCE, "it is {}", hand.state());
            std::thread::yield_now();
        }
        drop(arm);
        let lost = supervising.join().expect("no panic").expect_err("it is gone").to_string();
        assert!(lost.starts_with("node /arm was active, and is gone now"), "{lost}");
    });
    Ok(())
}

#[test]
fn frames_of_another_host() -> Outcome {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let robot = one.context().node("robot")?;
    let fixed = StaticTransformBroadcaster::new(&robot)?;
    let transform = Transform::from_translation([1.0, 2.0, 3.0]);
    fixed.send([StampedTransform { stamp: robot.now(), transform }.to_msg("base", "lidar")])?;
    let buffer = Buffer::new();
    let planner = other.context().node("planner")?;
    let _listener = TransformListener::new(&planner, &buffer)?;
    let found = buffer.wait_for("base", "lidar", At::Latest).wait(PATIENCE)?;
    assert_eq!(found.transform, transform);
    Ok(())
}
