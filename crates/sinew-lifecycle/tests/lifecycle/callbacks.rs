//! The arguments, results and errors of callbacks.

use crate::world::World;
use proptest::prelude::*;
use sinew_lifecycle::{
    CallbackError, Failed, Held, Lifecycle, LifecycleNode, ManagedNode, Recovery, State, Transition,
    TransitionError,
};
use std::sync::Arc;
use std::sync::mpsc;

/// The result that a callback is to return.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Success,
    Failure,
    Error,
    Panic,
}

impl Says {
    fn with<T, K>(
        self,
        now: T,
        kept: impl FnOnce(T) -> K,
        made: impl FnOnce(T) -> T,
    ) -> Result<T, Failed<K>> {
        match self {
            Self::Success => Ok(made(now)),
            Self::Failure => Err(Failed::stay(kept(now), "not now")),
            Self::Error => Err(Failed::error("it broke")),
            Self::Panic => panic!("on purpose"),
        }
    }
}

/// A resource with one instance, alive as long as it has clones.
type Thing = Arc<()>;

/// A node with one resource when inactive, and a second one when active.
struct Scripted {
    says: mpsc::Receiver<(Says, Recovery)>,
    recovery: Recovery,
    made: [Thing; 2],
}

impl Scripted {
    fn next(&mut self) -> Says {
        let (says, recovery) = self.says.recv().unwrap();
        self.recovery = recovery;
        says
    }
}

impl Lifecycle for Scripted {
    type Inactive = Thing;
    type Active = (Thing, Thing);

    fn configure(&mut self, _: &ManagedNode) -> Result<Thing, Failed<()>> {
        let thing = self.made[0].clone();
        self.next().with(thing, drop, |thing| thing)
    }

    fn activate(&mut self, _: &ManagedNode, inactive: Thing) -> Result<(Thing, Thing), Failed<Thing>> {
        let more = self.made[1].clone();
        self.next().with((inactive, more), |(inactive, _)| inactive, |both| both)
    }

    fn deactivate(&mut self, active: (Thing, Thing)) -> Result<Thing, Failed<(Thing, Thing)>> {
        match self.next() {
            Says::Success => Ok(active.0),
            Says::Failure => Err(Failed::stay(active, "not now")),
            Says::Error => Err(Failed::error("it broke")),
            Says::Panic => panic!("on purpose"),
        }
    }

    fn cleanup(&mut self, inactive: Thing) -> Result<(), Failed<Thing>> {
        match self.next() {
            Says::Success => Ok(()),
            Says::Failure => Err(Failed::stay(inactive, "not now")),
            Says::Error => Err(Failed::error("it broke")),
            Says::Panic => panic!("on purpose"),
        }
    }

    fn shutdown(&mut self, held: Held<Thing, (Thing, Thing)>) -> Result<(), Failed<()>> {
        let says = self.next();
        says.with((), drop, drop).map(|()| drop(held))
    }

    fn on_error(&mut self, error: &CallbackError) -> Recovery {
        assert_eq!(error.has_panicked, error.reason.to_string().contains("on purpose"));
        self.recovery
    }
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![4 => Just(Says::Success), 1 => Just(Says::Failure), 1 => Just(Says::Error), 1 => Just(Says::Panic)]
}

fn recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![4 => Just(Recovery::Unconfigured), 1 => Just(Recovery::Finalized)]
}

/// ROS 2's table: the resulting state, if the transition can begin.
fn expected(state: State, transition: Transition, says: Says, recovery: Recovery) -> Option<State> {
    let (goal, stays) = match (transition, state) {
        (Transition::Configure, State::Unconfigured) => (State::Inactive, State::Unconfigured),
        (Transition::Cleanup, State::Inactive) => (State::Unconfigured, State::Inactive),
        (Transition::Activate, State::Inactive) => (State::Active, State::Inactive),
        (Transition::Deactivate, State::Active) => (State::Inactive, State::Active),
        (Transition::Shutdown, State::Unconfigured | State::Inactive | State::Active) => {
            (State::Finalized, State::Finalized)
        }
        _ => return None,
    };
    Some(match says {
        Says::Success => goal,
        Says::Failure => stays,
        Says::Error | Says::Panic if recovery == Recovery::Unconfigured => State::Unconfigured,
        Says::Error | Says::Panic => State::Finalized,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// After any transitions with any results, the node is in the state that the table gives, and
    /// has exactly the resources of that state.
    #[test]
    fn the_state_says_what_there_is(
        steps in proptest::collection::vec((0..5_usize, says(), recovery()), 0..40),
    ) {
        let context = sinew::Context::builder().shared_memory(false).build().unwrap();
        let (tell, heard) = mpsc::channel();
        let made = [Thing::default(), Thing::default()];
        let scripted = Scripted { says: heard, recovery: Recovery::Finalized, made: made.clone() };
        let node = LifecycleNode::new(&context.node("scripted").unwrap(), scripted).unwrap();
        for (transition, says, recovery) in steps {
            let (transition, before) = (Transition::ALL[transition], node.state());
            let goal = expected(before, transition, says, recovery);
            if goal.is_some() {
                tell.send((says, recovery)).unwrap();
            }
            match (node.change(transition), goal) {
                (Ok(state), Some(goal)) => prop_assert!(state == goal && says == Says::Success),
                (Err(TransitionError::Failed { state, transition: told, .. }), Some(goal)) => {
                    prop_assert!(says != Says::Success && state == goal && told == transition);
                }
                (Err(TransitionError::NotAllowed { state, .. }), None) => prop_assert_eq!(state, before),
                (got, goal) => prop_assert!(false, "{got:?}, not {goal:?}"),
            }
            prop_assert_eq!(node.state(), goal.unwrap_or(before));
            let there = match node.state() {
                State::Inactive => [1, 0],
                State::Active => [1, 1],
                _ => [0, 0],
            };
            // Not counting the test's own and the script's.
            prop_assert_eq!(made.each_ref().map(|thing| Arc::strong_count(thing) - 2), there);
        }
        drop(node);
        prop_assert_eq!(made.each_ref().map(Arc::strong_count), [1, 1], "all is gone with the node");
    }
}

/// A callback may query its own node.
#[test]
fn a_callback_may_look_at_its_node() {
    struct Curious;
    impl Lifecycle for Curious {
        type Inactive = State;
        type Active = State;

        fn configure(&mut self, node: &ManagedNode) -> Result<State, Failed<()>> {
            Ok(node.state())
        }

        fn activate(&mut self, node: &ManagedNode, before: State) -> Result<State, Failed<State>> {
            assert_eq!(before, State::Configuring);
            Ok(node.state())
        }

        fn deactivate(&mut self, active: State) -> Result<State, Failed<State>> {
            Err(Failed::stay(active, format!("it was {active}")))
        }
    }
    let world = World::in_process();
    let node = LifecycleNode::new(&world.robot.node("curious").unwrap(), Curious).unwrap();
    node.configure().unwrap();
    node.activate().unwrap();
    let error = node.deactivate().unwrap_err();
    assert_eq!(error.to_string(), "node /curious didn't deactivate, and is active now: it was activating");
    let error = node.configure().unwrap_err();
    assert_eq!(
        error.to_string(),
        "node /curious can't configure while it is active; it can deactivate, shutdown"
    );
}
