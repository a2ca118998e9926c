//! The services and events that ROS 2's tools and clients use.

use crate::on_both_paths;
use crate::world::{PATIENCE, World, pause};
use sinew::Executor;
use sinew::prelude::*;
use sinew_interfaces::lifecycle_msgs::msg;
use sinew_interfaces::lifecycle_msgs::msg::TransitionEvent;
use sinew_interfaces::lifecycle_msgs::srv::{ChangeState, ChangeStateRequest};
use sinew_lifecycle::{
    Failed, Lifecycle, LifecycleClient, LifecycleClientError, LifecycleNode, ManagedNode, State, Transition,
    from_fn,
};
use std::sync::mpsc;

on_both_paths! {
    all_is_done_by_services,
    each_step_is_told,
    a_label_wins_over_an_id,
    states_and_transitions_are_listed,
    a_state_is_told_during_a_transition,
    a_node_that_is_not_there_is_no_answer,
}

fn idle(world: &World) -> LifecycleNode<sinew_lifecycle::FromFn<()>> {
    LifecycleNode::new(&world.robot.node_in("/robot", "arm").unwrap(), from_fn(|_| Ok(()))).unwrap()
}

fn client(world: &World) -> LifecycleClient {
    let client = LifecycleClient::new(&world.operator.node("operator").unwrap(), "/robot/arm").unwrap();
    assert!(client.wait_until_ready(PATIENCE));
    client
}

fn all_is_done_by_services(world: &World) {
    let node = idle(world);
    let client = client(world);
    for (transition, state) in [
        (Transition::Configure, State::Inactive),
        (Transition::Activate, State::Active),
        (Transition::Deactivate, State::Inactive),
        (Transition::Cleanup, State::Unconfigured),
        (Transition::Configure, State::Inactive),
        (Transition::Shutdown, State::Finalized),
    ] {
        client.change(transition, PATIENCE).unwrap();
        assert_eq!((client.state(PATIENCE).unwrap(), node.state()), (state, state));
    }
    let error = client.change(Transition::Configure, PATIENCE).unwrap_err();
    assert!(matches!(&error, LifecycleClientError::Refused { state: Some(State::Finalized), .. }), "{error}");
    assert_eq!(error.to_string(), "node /robot/arm didn't configure, and is finalized; its log says why");
}

fn each_step_is_told(world: &World) {
    let node = idle(world);
    let operator = world.operator.node("operator").unwrap();
    let (tell, told) = mpsc::channel();
    let _events = operator
        .subscription::<TransitionEvent>("/robot/arm/transition_event")
        .callback(move |event: &TransitionEvent| {
            let TransitionEvent { transition, start_state, goal_state, .. } = event;
            tell.send((
                transition.id,
                transition.label.clone(),
                start_state.label.clone(),
                goal_state.label.clone(),
            ))
        })
        .unwrap();
    assert!(_events.wait_for_publishers(1, PATIENCE));
    // (The publisher must have discovered the subscription as well.)
    let begin = sinew::time::Time::steady();
    while told.try_recv().is_err() {
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "no event");
        node.configure().unwrap();
        node.cleanup().unwrap();
        pause(1);
    }
    node.configure().unwrap();
    node.activate().unwrap();
    node.shutdown().unwrap();
    let expected = [
        (1, "configure", "unconfigured", "configuring"),
        (10, "transition_success", "configuring", "inactive"),
        (3, "activate", "inactive", "activating"),
        (30, "transition_success", "activating", "active"),
        (7, "shutdown", "active", "shuttingdown"),
        (50, "transition_success", "shuttingdown", "finalized"),
    ];
    // After the events of the rounds before.
    let mut events: Vec<(_, String, String, String)> = Vec::new();
    while events.last().is_none_or(|(.., goal)| goal != "finalized") {
        events.push(told.recv_timeout(PATIENCE).unwrap());
    }
    let last = events[events.len() - expected.len()..].iter();
    let last: Vec<_> =
        last.map(|(id, label, start, goal)| (*id, label.as_str(), start.as_str(), goal.as_str())).collect();
    assert_eq!(last, expected, "{events:?}");
}

fn a_label_wins_over_an_id(world: &World) {
    let node = idle(world);
    client(world);
    let operator = world.operator.node("tool").unwrap();
    let raw = operator.client::<ChangeState>("/robot/arm/change_state").create().unwrap();
    let ask = |id: u8, label: &str| {
        let transition = msg::Transition { id, label: label.to_owned() };
        (raw.call(ChangeStateRequest { transition }, PATIENCE).unwrap().success, node.state())
    };
    assert_eq!(ask(5, "configure"), (true, State::Inactive));
    assert_eq!(ask(2, ""), (true, State::Unconfigured));
    assert_eq!(ask(1, "no such thing"), (false, State::Unconfigured));
    assert_eq!(ask(3, ""), (false, State::Unconfigured), "not from here");
    assert_eq!(ask(0, ""), (false, State::Unconfigured), "create is never offered");
    assert_eq!(ask(7, ""), (false, State::Unconfigured), "that is the shutdown of an active one");
    assert_eq!(ask(5, ""), (true, State::Finalized));
    assert_eq!(ask(8, ""), (false, State::Finalized), "destroy is never offered");
}

fn states_and_transitions_are_listed(world: &World) {
    let node = idle(world);
    let client = client(world);
    let states: Vec<u8> = client.available_states(PATIENCE).unwrap().iter().map(|state| state.id).collect();
    assert_eq!(states, [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15]);
    assert_eq!(client.transition_graph(PATIENCE).unwrap().len(), 25);
    let available = || -> Vec<u8> {
        client.available_transitions(PATIENCE).unwrap().iter().map(|step| step.transition.id).collect()
    };
    assert_eq!(available(), [1, 5]);
    node.configure().unwrap();
    assert_eq!(available(), [2, 3, 6]);
    node.activate().unwrap();
    assert_eq!(available(), [4, 7]);
    node.shutdown().unwrap();
    assert_eq!(available(), [0_u8; 0]);
}

/// Configuring blocks until the test lets it go on.
struct Slow {
    begun: mpsc::Sender<()>,
    go_on: mpsc::Receiver<()>,
}

impl Lifecycle for Slow {
    type Inactive = ();
    type Active = ();

    fn configure(&mut self, _: &ManagedNode) -> Result<(), Failed<()>> {
        self.begun.send(())?;
        Ok(self.go_on.recv()?)
    }

    fn activate(&mut self, _: &ManagedNode, (): ()) -> Result<(), Failed<()>> {
        Ok(())
    }

    fn deactivate(&mut self, (): ()) -> Result<(), Failed<()>> {
        Ok(())
    }
}

fn slow(world: &World) -> (LifecycleNode<Slow>, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (begun, begins) = mpsc::channel();
    let (go, go_on) = mpsc::channel();
    let node = world.robot.node_in("/robot", "arm").unwrap();
    (LifecycleNode::new(&node, Slow { begun, go_on }).unwrap(), begins, go)
}

fn a_state_is_told_during_a_transition(world: &World) {
    let (node, begins, go) = slow(world);
    let client = client(world);
    let asks = client.clone();
    let asking = std::thread::spawn(move || asks.change(Transition::Configure, PATIENCE));
    begins.recv_timeout(PATIENCE).unwrap();
    assert_eq!(client.state(PATIENCE).unwrap(), State::Configuring);
    let error = node.shutdown().unwrap_err();
    assert_eq!(error.to_string(), "node /robot/arm can't shutdown while it is configuring; wait for that");
    go.send(()).unwrap();
    asking.join().unwrap().unwrap();
    assert_eq!(node.state(), State::Inactive);
}

fn a_node_that_is_not_there_is_no_answer(world: &World) {
    let client = LifecycleClient::new(&world.operator.node("operator").unwrap(), "/nowhere").unwrap();
    assert!(!client.is_ready() && !client.wait_until_ready(Duration::from_millis(1)));
    let error = client.state(Duration::from_millis(1)).unwrap_err();
    assert!(error.to_string().starts_with("managed node /nowhere: "), "{error}");
}

/// With a single thread, which the callback occupies: the call runs the node's service itself.
#[test]
fn a_callback_of_the_same_executor_may_ask() {
    let context = Context::builder().shared_memory(false).domain(0).build().unwrap();
    let node = LifecycleNode::new(&context.node("arm").unwrap(), from_fn(|_| Ok(()))).unwrap();
    let operator = context.node("operator").unwrap();
    let client = LifecycleClient::new(&operator, "/arm").unwrap();
    let (tell, told) = mpsc::channel();
    let ask = move || {
        let done = client.change(Transition::Configure, PATIENCE).map_err(|error| error.to_string());
        tell.send((done, client.state(PATIENCE).unwrap())).unwrap();
    };
    let guard = operator.guard_condition().callback(ask).unwrap();
    guard.trigger();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    executor.spin_all(PATIENCE).unwrap();
    assert_eq!((told.try_recv().unwrap(), node.state()), ((Ok(()), State::Inactive), State::Inactive));
}

/// Each event begins where the one before it ended, whichever threads ask for transitions.
#[test]
fn events_of_several_threads_are_in_the_order_of_the_steps() {
    let world = World::in_process();
    let node = LifecycleNode::new(&world.robot.node("arm").unwrap(), from_fn(|_| Ok(()))).unwrap();
    let qos = QoS::default().keep_all();
    let watcher = world.operator.node("watcher").unwrap();
    let events = watcher.subscription::<TransitionEvent>("/arm/transition_event").qos(qos).create().unwrap();
    let mut last = State::Unconfigured.id();
    for _ in 0..200 {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for transition in [Transition::Configure, Transition::Cleanup].repeat(20) {
                        let _ = node.change(transition); // refused during one of the other thread
                    }
                });
            }
        });
        while let Some((event, _)) = events.take() {
            assert_eq!(event.start_state.id, last, "{event:?}");
            last = event.goal_state.id;
        }
        assert_eq!(last, node.state().id());
    }
}
