//! Managed nodes.

use crate::callbacks::{CallbackError, Failed, Held, Lifecycle, Recovery};
use crate::machine::{CallbackResult, GRAPH, State, Step, Transition, requested, steps_from};
use crate::managed::ManagedNode;
use crate::wire;
use sinew::__private::locks::Lent;
use sinew::error::CreateError;
use sinew::{Node, Publisher, Responder, Server};
use sinew_interfaces::lifecycle_msgs::msg::TransitionEvent;
use sinew_interfaces::lifecycle_msgs::srv::{
    ChangeState, ChangeStateRequest, ChangeStateResponse, GetAvailableStates, GetAvailableStatesRequest,
    GetAvailableStatesResponse, GetAvailableTransitions, GetAvailableTransitionsRequest,
    GetAvailableTransitionsResponse, GetState, GetStateRequest, GetStateResponse,
};
use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

sinew::__debug_says!(TransitionError);

/// A node whose states are managed: from outside by ROS 2's five services, from inside by methods.
///
/// On the wire it is what a `LifecycleNode` of ROS 2 is: services `~/change_state`, `~/get_state`,
/// `~/get_available_states`, `~/get_available_transitions` and `~/get_transition_graph`, and events on
/// `~/transition_event`. The first runs in a group of its own; the others answer on the thread that
/// asks, also while a transition takes its time.
///
/// Dropping it ends the services and drops what the node has, without a callback.
///
/// See [`Lifecycle`] for an example, and [`from_fn`](crate::from_fn) for the shortest form.
pub struct LifecycleNode<L: Lifecycle> {
    core: Arc<Core<L>>,
    _services: Services,
}

struct Services {
    _change_state: Server<ChangeState>,
    _get_state: Server<GetState>,
    _get_available_states: Server<GetAvailableStates>,
    /// Of the state, and of all.
    _get_transitions: [Server<GetAvailableTransitions>; 2],
}

struct Core<L: Lifecycle> {
    node: ManagedNode,
    events: Publisher<TransitionEvent>,
    /// Belongs to the thread that has begun a transition: no other one takes it.
    /// A transition has it alone.
    work: Lent<Work<L>>,
}

struct Work<L: Lifecycle> {
    lifecycle: L,
    held: Held<L::Inactive, L::Active>,
}

/// What a transition ended with that didn't succeed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TransitionError {
    /// It can't begin now.
    #[error("node {node} can't {transition} while it is {state}{}", offers(*state))]
    NotAllowed {
        /// The node.
        node: String,
        /// What was asked for.
        transition: Transition,
        /// The state it is in; that of a transition that is on its way.
        state: State,
    },
    /// The callback said that it can't be done, or failed.
    #[error("node {node} didn't {transition}, and is {state} now: {reason}")]
    Failed {
        /// The node.
        node: String,
        /// What was asked for.
        transition: Transition,
        /// The state that it led to.
        state: State,
        /// The callback's words; of a panic its message.
        reason: Box<dyn Error + Send + Sync>,
    },
}

/// What may begin in a state.
fn offers(state: State) -> String {
    let labels: Vec<&str> = steps_from(state).map(|step| step.label).collect();
    match labels[..] {
        _ if !state.is_primary() => "; wait for that".to_owned(),
        [] => String::new(),
        _ => format!("; it can {}", labels.join(", ")),
    }
}

/// What a callback left: what there is now, and why it didn't succeed.
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
    /// Manages a node by these callbacks; it is unconfigured.
    ///
    /// # Errors
    /// [`CreateError`]: the context is shut down, or the node is managed already by another type.
    pub fn new(node: &Node, lifecycle: L) -> Result<Self, CreateError> {
        let events = node.publisher("~/transition_event").create()?;
        let work = Lent::new(Work { lifecycle, held: Held::Nothing });
        let core = Arc::new(Core { node: ManagedNode::new(node), events, work });
        let _services = Services::new(node, &core)?;
        Ok(Self { core, _services })
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> &ManagedNode {
        &self.core.node
    }

    /// The state that it is in now. Doesn't wait for a transition.
    #[must_use]
    pub fn state(&self) -> State {
        self.core.node.state()
    }

    /// Does a transition on this thread, callback and all; returns the state that it led to. May be
    /// asked for anywhere: if another one is on its way, it is refused at once.
    ///
    /// # Errors
    /// [`TransitionError`]: it can't begin now, or the callback didn't succeed.
    pub fn change(&self, transition: Transition) -> Result<State, TransitionError> {
        self.core.change(transition)
    }

    /// From unconfigured to inactive.
    ///
    /// # Errors
    /// As of [`change`](Self::change).
    pub fn configure(&self) -> Result<State, TransitionError> {
        self.change(Transition::Configure)
    }

    /// From inactive to unconfigured.
    ///
    /// # Errors
    /// As of [`change`](Self::change).
    pub fn cleanup(&self) -> Result<State, TransitionError> {
        self.change(Transition::Cleanup)
    }

    /// From inactive to active.
    ///
    /// # Errors
    /// As of [`change`](Self::change).
    pub fn activate(&self) -> Result<State, TransitionError> {
        self.change(Transition::Activate)
    }

    /// From active to inactive.
    ///
    /// # Errors
    /// As of [`change`](Self::change).
    pub fn deactivate(&self) -> Result<State, TransitionError> {
        self.change(Transition::Deactivate)
    }

    /// From any primary state to finalized.
    ///
    /// # Errors
    /// As of [`change`](Self::change).
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
        let get_state =
            node.server("~/get_state").listener(move |_: GetStateRequest, to: Responder<GetState>| {
                respond(to, GetStateResponse { current_state: state_of.node.state().into() });
            })?;
        let get_available_states = node.server("~/get_available_states").listener(
            |_: GetAvailableStatesRequest, to: Responder<GetAvailableStates>| {
                let available_states = State::ALL.map(Into::into).to_vec();
                respond(to, GetAvailableStatesResponse { available_states });
            },
        )?;
        let state_of = core.clone();
        let available = node.server("~/get_available_transitions").listener(
            move |_: GetAvailableTransitionsRequest, to: Responder<GetAvailableTransitions>| {
                let now = steps_from(state_of.node.state()).map(wire::description);
                respond(to, GetAvailableTransitionsResponse { available_transitions: now.collect() });
            },
        )?;
        let graph = node.server("~/get_transition_graph").listener(
            |_: GetAvailableTransitionsRequest, to: Responder<GetAvailableTransitions>| {
                let all = GRAPH.iter().map(wire::description);
                respond(to, GetAvailableTransitionsResponse { available_transitions: all.collect() });
            },
        )?;
        Ok(Self {
            _change_state: change_state,
            _get_state: get_state,
            _get_available_states: get_available_states,
            _get_transitions: [available, graph],
        })
    }
}

/// To a caller that waits no more, nothing is to be said.
fn respond<S: sinew::Service>(to: Responder<S>, response: S::Response) {
    let _ = to.respond(response);
}

impl<L: Lifecycle> Core<L> {
    /// By the service. ROS 2's clients are told no reason, so the log has it.
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
        let begun = self.node.machine(|machine| (machine.begin(transition), machine.state()));
        let (Some(step), _) = begun else {
            return Err(TransitionError::NotAllowed { node: node(), transition, state: begun.1 });
        };
        self.tell(step);
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
        let asked = self.work.with(ask).unwrap_or(Ok(Recovery::Finalized)); // a transition has it alone
        let state = self.end(match asked {
            Ok(Recovery::Unconfigured) => CallbackResult::Success,
            Ok(Recovery::Finalized) => CallbackResult::Failure,
            Err(_) => CallbackResult::Error,
        });
        Err(TransitionError::Failed { node: node(), transition, state, reason: error.reason })
    }

    /// Runs the callback, with what rests and works around it.
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
        let (is_active, failure) = self.work.with(work)?; // it has begun: nobody else works
        self.node.open(is_active);
        if is_active {
            self.node.run_groups(true);
        }
        failure
    }

    /// Goes on from the state of a transition.
    fn end(&self, result: CallbackResult) -> State {
        let (step, state) = self.node.machine(|machine| (machine.end(result), machine.state()));
        step.into_iter().for_each(|step| self.tell(step));
        state
    }

    fn tell(&self, step: &Step) {
        // It goes on without its listeners.
        if let Err(error) = self.events.publish(wire::event(step)) {
            sinew::warn!(self.node, "{error}");
        }
    }
}

/// What a callback returned, as what there is now.
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
            // The state machine offers the others in no state that they don't fit.
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
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.as_deref().unwrap_or("(no text)"))
}

impl<L: Lifecycle> fmt::Debug for LifecycleNode<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LifecycleNode").field("node", &self.core.node).finish_non_exhaustive()
    }
}
