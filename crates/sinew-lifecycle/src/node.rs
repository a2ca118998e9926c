//! Managed nodes.

use crate::callbacks::{CallbackError, Failed, Held, Lifecycle, Recovery};
use crate::machine::{CallbackResult, GRAPH, State, StateMachine, Step, Transition, requested, steps_from};
use crate::managed::ManagedNode;
use crate::wire;
use sinew::__private::locks::{Lent, Mutex};
use sinew::__private::panic_text;
use sinew::error::CreateError;
use sinew::{Node, Publisher, Responder, Server};
use sinew_interfaces::lifecycle_msgs::msg::TransitionEvent;
use sinew_interfaces::lifecycle_msgs::srv::{
    ChangeState, ChangeStateRequest, ChangeStateResponse, GetAvailableStates, GetAvailableStatesRequest,
    GetAvailableStatesResponse, GetAvailableTransitions, GetAvailableTransitionsRequest,
    GetAvailableTransitionsResponse, GetState, GetStateRequest, GetStateResponse,
};
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

sinew::__debug_says!(TransitionError);

/// A node with managed states: they change through ROS 2's five services, or through methods.
///
/// To other programs it looks like a `LifecycleNode` of ROS 2, with the services `~/change_state`,
/// `~/get_state`, `~/get_available_states`, `~/get_available_transitions` and
/// `~/get_transition_graph`, and events on `~/transition_event`. The first service runs in its own
/// callback group; the others answer on the thread that receives the request, even during a long
/// transition.
///
/// Dropping it ends the services and drops the node's resources, without a callback.
///
/// See [`Lifecycle`] for an example, and [`from_fn`](crate::from_fn) for the shortest form.
pub struct LifecycleNode<L: Lifecycle> {
    core: Arc<Core<L>>,
    services: Services,
}

struct Services {
    change_state: Server<ChangeState>,
    _get_state: Server<GetState>,
    _get_available_states: Server<GetAvailableStates>,
    /// Transitions from the current state, and all transitions.
    _get_transitions: [Server<GetAvailableTransitions>; 2],
}

struct Core<L: Lifecycle> {
    node: ManagedNode,
    events: Publisher<TransitionEvent>,
    /// Steps of the machine, in their order, whose events aren't published yet. Locked under the
    /// machine.
    steps: Mutex<VecDeque<&'static Step>>,
    /// Held by the thread that publishes events, of other threads' steps as well.
    publishing: Lent<()>,
    /// Used only by the thread that has begun a transition, so no other thread contends for it.
    work: Lent<Work<L>>,
}

struct Work<L: Lifecycle> {
    lifecycle: L,
    held: Held<L::Inactive, L::Active>,
}

/// The error of a transition.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TransitionError {
    /// The transition cannot begin now.
    #[error("node {node} can't {transition} while it is {state}{}", offers(*state))]
    NotAllowed {
        /// The node.
        node: String,
        /// The requested transition.
        transition: Transition,
        /// The current state; during a transition, the transition state.
        state: State,
    },
    /// The callback reported that the transition is not possible, or failed.
    #[error("node {node} didn't {transition}, and is {state} now: {reason}")]
    Failed {
        /// The node.
        node: String,
        /// The requested transition.
        transition: Transition,
        /// The resulting state.
        state: State,
        /// The callback's reason; for a panic, its message.
        reason: Box<dyn Error + Send + Sync>,
    },
}

/// Describes the transitions that can begin in a state.
fn offers(state: State) -> String {
    let labels: Vec<&str> = steps_from(state).map(|step| step.label).collect();
    match labels[..] {
        _ if !state.is_primary() => "; wait for that".to_owned(),
        [] => String::new(),
        _ => format!("; it can {}", labels.join(", ")),
    }
}

/// The outcome of a callback: the node's resources, and the failure if there was one.
struct Outcome<L: Lifecycle> {
    held: Held<L::Inactive, L::Active>,
    failure: Option<Failure>,
}

struct Failure {
    reason: Box<dyn Error + Send + Sync>,
    is_error: bool,
    has_panicked: bool,
}

impl<L: Lifecycle> LifecycleNode<L> {
    /// Manages a node with these callbacks. The node begins unconfigured.
    ///
    /// # Errors
    /// [`CreateError`] if the context is shut down, or another type manages the node already.
    pub fn new(node: &Node, lifecycle: L) -> Result<Self, CreateError> {
        let events = node.publisher("~/transition_event").create()?;
        let work = Lent::new(Work { lifecycle, held: Held::Nothing });
        let (node_of, steps) = (ManagedNode::new(node), Mutex::default());
        let core = Arc::new(Core { node: node_of, events, steps, publishing: Lent::new(()), work });
        let services = Services::new(node, &core)?;
        Ok(Self { core, services })
    }

    /// Returns the node.
    #[must_use]
    pub fn node(&self) -> &ManagedNode {
        &self.core.node
    }

    /// Returns the current state. Doesn't wait for a transition.
    #[must_use]
    pub fn state(&self) -> State {
        self.core.node.state()
    }

    /// Ends the service that changes the state, and waits for a callback of it that is running on
    /// another thread. Called in a callback of the node it doesn't wait.
    pub fn close(&self) {
        self.services.change_state.clone().close();
    }

    /// Performs a transition on the calling thread, including its callback, and returns the
    /// resulting state. Can be called anywhere; fails at once if another transition is in progress.
    ///
    /// # Errors
    /// [`TransitionError`] if the transition cannot begin now, or the callback didn't succeed.
    pub fn change(&self, transition: Transition) -> Result<State, TransitionError> {
        self.core.change(transition)
    }

    /// Changes from unconfigured to inactive.
    ///
    /// # Errors
    /// As for [`change`](Self::change).
    pub fn configure(&self) -> Result<State, TransitionError> {
        self.change(Transition::Configure)
    }

    /// Changes from inactive to unconfigured.
    ///
    /// # Errors
    /// As for [`change`](Self::change).
    pub fn cleanup(&self) -> Result<State, TransitionError> {
        self.change(Transition::Cleanup)
    }

    /// Changes from inactive to active.
    ///
    /// # Errors
    /// As for [`change`](Self::change).
    pub fn activate(&self) -> Result<State, TransitionError> {
        self.change(Transition::Activate)
    }

    /// Changes from active to inactive.
    ///
    /// # Errors
    /// As for [`change`](Self::change).
    pub fn deactivate(&self) -> Result<State, TransitionError> {
        self.change(Transition::Deactivate)
    }

    /// Changes from unconfigured, inactive or active to finalized.
    ///
    /// # Errors
    /// As for [`change`](Self::change).
    pub fn shutdown(&self) -> Result<State, TransitionError> {
        self.change(Transition::Shutdown)
    }
}

impl Services {
    fn new<L: Lifecycle>(node: &Node, core: &Arc<Core<L>>) -> Result<Self, CreateError> {
        let changes = core.clone();
        let change_state = node
            .group(())
            .server("~/change_state")
            .callback(move |request: &ChangeStateRequest| changes.asked(request))?;
        let state_of = core.clone();
        let get_state = node.server("~/get_state").immediate_callback(
            move |_: GetStateRequest, to: Responder<GetState>| {
                respond(to, GetStateResponse { current_state: state_of.node.state().into() });
            },
        )?;
        let get_available_states = node.server("~/get_available_states").immediate_callback(
            |_: GetAvailableStatesRequest, to: Responder<GetAvailableStates>| {
                let available_states = State::ALL.map(Into::into).to_vec();
                respond(to, GetAvailableStatesResponse { available_states });
            },
        )?;
        let state_of = core.clone();
        let available = node.server("~/get_available_transitions").immediate_callback(
            move |_: GetAvailableTransitionsRequest, to: Responder<GetAvailableTransitions>| {
                let now = steps_from(state_of.node.state()).map(wire::description);
                respond(to, GetAvailableTransitionsResponse { available_transitions: now.collect() });
            },
        )?;
        let graph = node.server("~/get_transition_graph").immediate_callback(
            |_: GetAvailableTransitionsRequest, to: Responder<GetAvailableTransitions>| {
                let all = GRAPH.iter().map(wire::description);
                respond(to, GetAvailableTransitionsResponse { available_transitions: all.collect() });
            },
        )?;
        Ok(Self {
            change_state,
            _get_state: get_state,
            _get_available_states: get_available_states,
            _get_transitions: [available, graph],
        })
    }
}

/// Responds, and ignores the error if the caller no longer waits.
fn respond<S: sinew::Service>(to: Responder<S>, response: S::Response) {
    let _ = to.respond(response);
}

impl<L: Lifecycle> Core<L> {
    /// Handles a request of the service. ROS 2's clients get no reason, so it is logged.
    fn asked(&self, request: &ChangeStateRequest) -> ChangeStateResponse {
        let (state, asked) = (self.node.state(), &request.transition);
        let done = match requested(state, &asked.label, asked.id) {
            Some(transition) => self.change(transition).map_err(|error| error.to_string()),
            None => {
                let what = if asked.label.is_empty() { asked.id.to_string() } else { asked.label.clone() };
                Err(format!("transition {what} can't begin while the node is {state}{}", offers(state)))
            }
        };
        if let Err(why) = &done {
            sinew::warn!(self.node, "{why}");
        }
        ChangeStateResponse { success: done.is_ok() }
    }

    fn change(&self, transition: Transition) -> Result<State, TransitionError> {
        let node = || self.node.full_name().to_owned();
        let (begins, state) = self.step(|machine| machine.begin(transition));
        if !begins {
            return Err(TransitionError::NotAllowed { node: node(), transition, state });
        }
        let failure = self.work(transition);
        let Some(Failure { reason, is_error, has_panicked }) = failure else {
            return Ok(self.end(CallbackResult::Success));
        };
        if !is_error {
            let state = self.end(CallbackResult::Failure);
            return Err(TransitionError::Failed { node: node(), transition, state, reason });
        }
        self.end(CallbackResult::Error);
        let error = CallbackError { transition, reason, has_panicked };
        let ask = |work: &mut Work<L>| catch_unwind(AssertUnwindSafe(|| work.lifecycle.on_error(&error)));
        let asked = self.work.with(ask).unwrap_or(Ok(Recovery::Finalized)); // only this transition uses it
        let state = self.end(match asked {
            Ok(Recovery::Unconfigured) => CallbackResult::Success,
            Ok(Recovery::Finalized) => CallbackResult::Failure,
            Err(_) => CallbackResult::Error,
        });
        Err(TransitionError::Failed { node: node(), transition, state, reason: error.reason })
    }

    /// Runs the callback. Publishers open before an activation, and groups pause before a
    /// deactivation or shutdown; afterwards both follow the state.
    fn work(&self, transition: Transition) -> Option<Failure> {
        let work = |work: &mut Work<L>| {
            let held = mem::replace(&mut work.held, Held::Nothing);
            match transition {
                Transition::Activate => self.node.open(true),
                Transition::Deactivate | Transition::Shutdown => self.node.run_groups(false),
                Transition::Configure | Transition::Cleanup => {}
            }
            let lifecycle = &mut work.lifecycle;
            let called = catch_unwind(AssertUnwindSafe(|| lifecycle.call(transition, &self.node, held)));
            let Outcome { held, failure } = called.unwrap_or_else(|panic| Outcome {
                held: Held::Nothing,
                failure: Some(Failure {
                    reason: message_of(&*panic).into(),
                    is_error: true,
                    has_panicked: true,
                }),
            });
            let is_active = matches!(held, Held::Active(_));
            work.held = held;
            (is_active, failure)
        };
        let (is_active, failure) = self.work.with(work)?; // a transition is in progress, so no other thread uses it
        self.node.open(is_active);
        if is_active {
            self.node.run_groups(true);
        }
        failure
    }

    /// Leaves the state of a transition.
    fn end(&self, result: CallbackResult) -> State {
        self.step(|machine| machine.end(result)).1
    }

    /// Takes a step of the machine, and publishes its event. Events come in the order of the steps,
    /// whichever threads take them: if another thread is publishing, it publishes this one too.
    /// Returns whether there was a step, and the state after it.
    fn step(&self, take: impl FnOnce(&mut StateMachine) -> Option<&'static Step>) -> (bool, State) {
        let outcome = self.node.machine(|machine| {
            let step = take(machine);
            self.steps.lock().extend(step);
            (step.is_some(), machine.state())
        });
        let next = || self.steps.lock().pop_front();
        self.publishing.serve(|()| {
            while let Some(step) = next() {
                // The transition goes on without its listeners.
                if let Err(error) = self.events.publish(wire::event(step)) {
                    sinew::warn!(self.node, "{error}");
                }
            }
        });
        outcome
    }
}

/// Calls the callback of a transition, and converts its result to the node's resources.
trait Call: Lifecycle + Sized {
    fn call(
        &mut self,
        transition: Transition,
        node: &ManagedNode,
        held: Held<Self::Inactive, Self::Active>,
    ) -> Outcome<Self> {
        match (transition, held) {
            (Transition::Configure, _) => outcome(self.configure(node), Held::Inactive, |()| Held::Nothing),
            (Transition::Activate, Held::Inactive(inactive)) => {
                outcome(self.activate(node, inactive), Held::Active, Held::Inactive)
            }
            (Transition::Deactivate, Held::Active(active)) => {
                outcome(self.deactivate(active), Held::Inactive, Held::Active)
            }
            (Transition::Cleanup, Held::Inactive(inactive)) => {
                outcome(self.cleanup(inactive), |()| Held::Nothing, Held::Inactive)
            }
            (Transition::Shutdown, held) => {
                outcome(self.shutdown(held), |()| Held::Nothing, |()| Held::Nothing)
            }
            // The state machine never offers the remaining combinations.
            (_, held) => Outcome { held, failure: None },
        }
    }
}

impl<L: Lifecycle> Call for L {}

fn outcome<L: Lifecycle, T, K>(
    returned: Result<T, Failed<K>>,
    goal: impl FnOnce(T) -> Held<L::Inactive, L::Active>,
    stays: impl FnOnce(K) -> Held<L::Inactive, L::Active>,
) -> Outcome<L> {
    match returned {
        Ok(now) => Outcome { held: goal(now), failure: None },
        Err(Failed { kept, reason }) => {
            let failure = Some(Failure { reason, is_error: kept.is_none(), has_panicked: false });
            Outcome { held: kept.map_or(Held::Nothing, stays), failure }
        }
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    format!("it panicked: {}", panic_text(panic).unwrap_or("(no text)"))
}

impl<L: Lifecycle> fmt::Debug for LifecycleNode<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LifecycleNode").field("node", &self.core.node).finish_non_exhaustive()
    }
}
