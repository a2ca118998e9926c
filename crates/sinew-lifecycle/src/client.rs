//! A client of managed nodes.

use crate::machine::{State, Transition};
use crate::wire;
use sinew::error::{CallError, CreateError};
use sinew::{Client, Duration, Node};
use sinew_interfaces::lifecycle_msgs::msg;
use sinew_interfaces::lifecycle_msgs::srv::{
    ChangeState, ChangeStateRequest, GetAvailableStates, GetAvailableStatesRequest, GetAvailableTransitions,
    GetAvailableTransitionsRequest, GetState, GetStateRequest,
};
use std::fmt;

sinew::__debug_says!(LifecycleClientError);

/// Requests states and transitions from a managed node, in this process or another, of Sinew or ROS
/// 2.
///
/// Methods with a timeout block. When called in a callback, they let the server run if it is in the
/// same executor, as [`Client::call`] does. Clones are the same client.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_lifecycle::{LifecycleClient, LifecycleNode, State, Transition, from_fn};
///
/// let context = Context::new()?;
/// let node = context.node("camera")?;
/// let _camera = LifecycleNode::new(&node, from_fn(|_| Ok(())))?;
///
/// let client = LifecycleClient::new(&context.node("operator")?, "/camera")?;
/// let spun = context.clone();
/// let spinning = std::thread::spawn(move || sinew::spin(&spun));
/// let patience = Duration::from_secs(5);
/// assert_eq!(client.state(patience)?, State::Unconfigured);
/// client.change(Transition::Configure, patience)?;
/// assert_eq!(client.state(patience)?, State::Inactive);
/// let error = client.change(Transition::Deactivate, patience).unwrap_err();
/// assert!(error.to_string().contains("/camera"));
/// context.shutdown();
/// # spinning.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LifecycleClient {
    node: String,
    change_state: Client<ChangeState>,
    get_state: Client<GetState>,
    states: Client<GetAvailableStates>,
    transitions: Client<GetAvailableTransitions>,
    graph: Client<GetAvailableTransitions>,
}

/// A managed node did not fulfil a request.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LifecycleClientError {
    /// The node did not answer.
    #[error("managed node {node}: {reason}")]
    NoAnswer {
        /// The node.
        node: String,
        /// A description of the problem.
        reason: String,
    },
    /// The node refused. (ROS 2's service gives no reason; the node's log does.)
    #[error("node {node} didn't {transition}{}; its log says why", is(*state))]
    Refused {
        /// The node.
        node: String,
        /// The requested transition.
        transition: Transition,
        /// The node's state, if it answered the question.
        state: Option<State>,
    },
    /// The node is in a state that ROS 2 lacks.
    #[error("node {node} reports the state {id} ({label:?}), which ROS 2 doesn't have")]
    UnknownState {
        /// The node.
        node: String,
        /// The state's number.
        id: u8,
        /// The state's label.
        label: String,
    },
}

fn is(state: Option<State>) -> String {
    state.map_or_else(String::new, |state| format!(", and is {state}"))
}

impl LifecycleClient {
    /// Returns a client, in the name of `node`, of the managed node with this full name. The
    /// managed node need not exist yet.
    ///
    /// # Errors
    /// [`CreateError`] if the name is not valid or the context is shut down.
    pub fn new(node: &Node, managed: &str) -> Result<Self, CreateError> {
        let name = |service: &str| format!("{}/{service}", managed.trim_end_matches('/'));
        Ok(Self {
            node: managed.to_owned(),
            change_state: node.client(&name("change_state")).create()?,
            get_state: node.client(&name("get_state")).create()?,
            states: node.client(&name("get_available_states")).create()?,
            transitions: node.client(&name("get_available_transitions")).create()?,
            graph: node.client(&name("get_transition_graph")).create()?,
        })
    }

    /// Returns the managed node's name.
    pub fn managed(&self) -> &str {
        &self.node
    }

    /// Returns `true` if the services that the other methods need are available.
    pub fn is_ready(&self) -> bool {
        self.change_state.is_server_ready() && self.get_state.is_server_ready()
    }

    /// Blocks until the node is available, at most for `timeout`, and returns whether it is. Not
    /// for callbacks.
    pub fn wait_until_ready(&self, timeout: Duration) -> bool {
        let deadline = sinew::time::Time::steady() + timeout;
        let left = || deadline - sinew::time::Time::steady();
        self.change_state.wait_for_server(left()) && self.get_state.wait_for_server(left())
    }

    /// Returns the state of the node.
    ///
    /// # Errors
    /// [`LifecycleClientError`].
    pub fn state(&self, timeout: Duration) -> Result<State, LifecycleClientError> {
        self.known(&self.answer(self.get_state.call(GetStateRequest {}, timeout))?.current_state)
    }

    /// Returns a future of the node's state. The request is sent at the first poll.
    ///
    /// # Errors
    /// [`LifecycleClientError`].
    pub async fn state_async(&self) -> Result<State, LifecycleClientError> {
        self.known(&self.answer(self.get_state.call_async(GetStateRequest {}).await)?.current_state)
    }

    /// Requests a transition, and blocks until it ends.
    ///
    /// # Errors
    /// [`LifecycleClientError`]. After a timeout the transition may still be running.
    pub fn change(&self, transition: Transition, timeout: Duration) -> Result<(), LifecycleClientError> {
        let request = ChangeStateRequest { transition: wire::asked(transition) };
        let success = self.answer(self.change_state.call(request, timeout))?.success;
        self.changed(transition, success, || self.state(timeout).ok())
    }

    /// Returns a future that requests a transition and completes when it ends. The request is sent
    /// at the first poll.
    ///
    /// # Errors
    /// [`LifecycleClientError`].
    pub async fn change_async(&self, transition: Transition) -> Result<(), LifecycleClientError> {
        let request = ChangeStateRequest { transition: wire::asked(transition) };
        let success = self.answer(self.change_state.call_async(request).await)?.success;
        let state = if success { None } else { self.state_async().await.ok() };
        self.changed(transition, success, || state)
    }

    /// Returns all states that the node knows.
    ///
    /// # Errors
    /// [`LifecycleClientError`].
    pub fn available_states(&self, timeout: Duration) -> Result<Vec<msg::State>, LifecycleClientError> {
        let answer = self.states.call(GetAvailableStatesRequest {}, timeout);
        Ok(self.answer(answer)?.into_inner().available_states)
    }

    /// Returns the transitions that can begin now.
    ///
    /// # Errors
    /// [`LifecycleClientError`].
    pub fn available_transitions(
        &self,
        timeout: Duration,
    ) -> Result<Vec<msg::TransitionDescription>, LifecycleClientError> {
        let answer = self.transitions.call(GetAvailableTransitionsRequest {}, timeout);
        Ok(self.answer(answer)?.into_inner().available_transitions)
    }

    /// Returns all transitions.
    ///
    /// # Errors
    /// [`LifecycleClientError`].
    pub fn transition_graph(
        &self,
        timeout: Duration,
    ) -> Result<Vec<msg::TransitionDescription>, LifecycleClientError> {
        let answer = self.graph.call(GetAvailableTransitionsRequest {}, timeout);
        Ok(self.answer(answer)?.into_inner().available_transitions)
    }

    fn known(&self, state: &msg::State) -> Result<State, LifecycleClientError> {
        State::from_id(state.id).ok_or_else(|| LifecycleClientError::UnknownState {
            node: self.node.clone(),
            id: state.id,
            label: state.label.clone(),
        })
    }

    fn changed(
        &self,
        transition: Transition,
        success: bool,
        state: impl FnOnce() -> Option<State>,
    ) -> Result<(), LifecycleClientError> {
        match success {
            true => Ok(()),
            false => {
                Err(LifecycleClientError::Refused { node: self.node.clone(), transition, state: state() })
            }
        }
    }

    fn answer<T, R: sinew::Message>(
        &self,
        answer: Result<T, CallError<R>>,
    ) -> Result<T, LifecycleClientError> {
        answer.map_err(|error| LifecycleClientError::NoAnswer {
            node: self.node.clone(),
            reason: error.failure().to_string(),
        })
    }
}

impl fmt::Debug for LifecycleClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LifecycleClient").field("managed", &self.node).finish_non_exhaustive()
    }
}
