//! The states of a managed node and the transitions between them, independent of any node:
//! `rcl_lifecycle`'s default state machine, with its numbers and labels.
//!
//! A transition has two steps. It begins in a primary state, which leads to a transition state.
//! There the node's callback runs, and its result decides the next state. An error leads to
//! `errorprocessing`, where the callback for errors runs; its result again decides the next state.

use std::fmt;

/// A state of a managed node: a primary state, or a transition in progress.
///
/// ```
/// use sinew_lifecycle::State;
/// assert_eq!(State::Configuring.label(), "configuring");
/// assert_eq!(State::from_id(10), Some(State::Configuring));
/// assert!(State::Inactive.is_primary() && !State::Configuring.is_primary());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum State {
    /// No node is ever in this state; ROS 2 lists it.
    Unknown = 0,
    /// The node has no resources: they have not been made yet, or were cleaned up.
    Unconfigured = 1,
    /// The node has its resources, but does not work.
    Inactive = 2,
    /// The node works.
    Active = 3,
    /// The node has ended; no transition leads out of this state.
    Finalized = 4,
    /// In transition from unconfigured to inactive.
    Configuring = 10,
    /// In transition from inactive to unconfigured.
    CleaningUp = 11,
    /// In transition to finalized.
    ShuttingDown = 12,
    /// In transition from inactive to active.
    Activating = 13,
    /// In transition from active to inactive.
    Deactivating = 14,
    /// After an error, in transition to unconfigured or finalized.
    ErrorProcessing = 15,
}

impl State {
    /// All states, in the order of their ids.
    pub const ALL: [Self; 11] = [
        Self::Unknown,
        Self::Unconfigured,
        Self::Inactive,
        Self::Active,
        Self::Finalized,
        Self::Configuring,
        Self::CleaningUp,
        Self::ShuttingDown,
        Self::Activating,
        Self::Deactivating,
        Self::ErrorProcessing,
    ];

    /// Returns the number in `lifecycle_msgs/msg/State`.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Returns the state with this number, if there is one.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.id() == id)
    }

    /// Returns the label in `lifecycle_msgs/msg/State`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unconfigured => "unconfigured",
            Self::Inactive => "inactive",
            Self::Active => "active",
            Self::Finalized => "finalized",
            Self::Configuring => "configuring",
            Self::CleaningUp => "cleaningup",
            Self::ShuttingDown => "shuttingdown",
            Self::Activating => "activating",
            Self::Deactivating => "deactivating",
            Self::ErrorProcessing => "errorprocessing",
        }
    }

    /// Returns `true` if a node stays in this state until a transition is requested.
    pub const fn is_primary(self) -> bool {
        self.id() < Self::Configuring.id()
    }
}

/// Shows the label.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// A transition that can be requested from a managed node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transition {
    /// From unconfigured to inactive.
    Configure,
    /// From inactive to unconfigured.
    Cleanup,
    /// From inactive to active.
    Activate,
    /// From active to inactive.
    Deactivate,
    /// From unconfigured, inactive or active to finalized.
    Shutdown,
}

impl Transition {
    /// All transitions, in the order of their ids.
    pub const ALL: [Self; 5] =
        [Self::Configure, Self::Cleanup, Self::Activate, Self::Deactivate, Self::Shutdown];

    /// Returns the label in `lifecycle_msgs/msg/Transition`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Configure => "configure",
            Self::Cleanup => "cleanup",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::Shutdown => "shutdown",
        }
    }

    /// Returns the transition with this label, if there is one.
    ///
    /// ```
    /// use sinew_lifecycle::Transition;
    /// assert_eq!(Transition::from_label("activate"), Some(Transition::Activate));
    /// assert_eq!(Transition::from_label("transition_success"), None); // nobody asks for that
    /// ```
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|transition| transition.label() == label)
    }

    /// Returns the number in `lifecycle_msgs/msg/Transition`. For a shutdown it depends on the
    /// state in which it begins.
    pub const fn id_from(self, state: State) -> u8 {
        match (self, state) {
            (Self::Configure, _) => 1,
            (Self::Cleanup, _) => 2,
            (Self::Activate, _) => 3,
            (Self::Deactivate, _) => 4,
            (Self::Shutdown, State::Inactive) => 6,
            (Self::Shutdown, State::Active) => 7,
            (Self::Shutdown, _) => 5,
        }
    }
}

/// Shows the label.
impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// The result of a callback: `TRANSITION_CALLBACK_SUCCESS` and its siblings in
/// `lifecycle_msgs/msg/Transition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CallbackResult {
    Success = 97,
    Failure = 98,
    Error = 99,
}

/// One step from a state to another, which ROS 2 calls a transition in
/// `lifecycle_msgs/msg/TransitionDescription`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The number in `lifecycle_msgs/msg/Transition`.
    pub id: u8,
    /// The label in `lifecycle_msgs/msg/Transition`.
    pub label: &'static str,
    /// The state where it begins.
    pub start: State,
    /// The state where it ends.
    pub goal: State,
}

const fn step(id: u8, label: &'static str, start: State, goal: State) -> Step {
    Step { id, label, start, goal }
}

const SUCCESS: &str = "transition_success";
const FAILURE: &str = "transition_failure";
const ERROR: &str = "transition_error";

/// All steps: ROS 2's transition graph.
#[rustfmt::skip]
pub const GRAPH: [Step; 25] = {
    use State::{
        Activating, Active, CleaningUp, Configuring, Deactivating, ErrorProcessing, Finalized, Inactive,
        ShuttingDown, Unconfigured,
    };
    [
        step(1,  "configure",  Unconfigured,    Configuring),
        step(10, SUCCESS,      Configuring,     Inactive),
        step(11, FAILURE,      Configuring,     Unconfigured),
        step(12, ERROR,        Configuring,     ErrorProcessing),
        step(2,  "cleanup",    Inactive,        CleaningUp),
        step(20, SUCCESS,      CleaningUp,      Unconfigured),
        step(21, FAILURE,      CleaningUp,      Inactive),
        step(22, ERROR,        CleaningUp,      ErrorProcessing),
        step(3,  "activate",   Inactive,        Activating),
        step(30, SUCCESS,      Activating,      Active),
        step(31, FAILURE,      Activating,      Inactive),
        step(32, ERROR,        Activating,      ErrorProcessing),
        step(4,  "deactivate", Active,          Deactivating),
        step(40, SUCCESS,      Deactivating,    Inactive),
        step(41, FAILURE,      Deactivating,    Active),
        step(42, ERROR,        Deactivating,    ErrorProcessing),
        step(5,  "shutdown",   Unconfigured,    ShuttingDown),
        step(6,  "shutdown",   Inactive,        ShuttingDown),
        step(7,  "shutdown",   Active,          ShuttingDown),
        step(50, SUCCESS,      ShuttingDown,    Finalized),
        step(51, FAILURE,      ShuttingDown,    Finalized),
        step(52, ERROR,        ShuttingDown,    ErrorProcessing),
        step(60, SUCCESS,      ErrorProcessing, Unconfigured),
        step(61, FAILURE,      ErrorProcessing, Finalized),
        step(62, ERROR,        ErrorProcessing, Finalized),
    ]
};

/// Returns the steps that lead out of a state.
pub(crate) fn steps_from(state: State) -> impl Iterator<Item = &'static Step> {
    GRAPH.iter().filter(move |step| step.start == state)
}

/// The current state of a node.
#[derive(Debug)]
pub(crate) struct StateMachine {
    state: State,
}

impl StateMachine {
    pub(crate) fn new() -> Self {
        Self { state: State::Unconfigured }
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Begins a transition, if the current state allows it. During a transition none can begin, so
    /// the thread that has begun one has it to itself until it ends.
    pub(crate) fn begin(&mut self, transition: Transition) -> Option<&'static Step> {
        let id = transition.id_from(self.state);
        let step = steps_from(self.state).find(|step| step.id == id)?;
        self.state = step.goal;
        Some(step)
    }

    /// Leaves the state of a transition after its callback has run. Returns `None` in a primary
    /// state, in which no callback runs.
    pub(crate) fn end(&mut self, result: CallbackResult) -> Option<&'static Step> {
        if self.state.is_primary() {
            return None;
        }
        let label = match result {
            CallbackResult::Success => SUCCESS,
            CallbackResult::Failure => FAILURE,
            CallbackResult::Error => ERROR,
        };
        let step = steps_from(self.state).find(|step| step.label == label)?;
        self.state = step.goal;
        Some(step)
    }
}

/// Interprets a request by ROS 2's rule: a non-empty label counts, otherwise the id, and only
/// transitions that can begin in this state.
pub(crate) fn requested(state: State, label: &str, id: u8) -> Option<Transition> {
    let is_meant = |step: &&Step| if label.is_empty() { step.id == id } else { step.label == label };
    let step = steps_from(state).find(is_meant)?;
    Transition::from_label(step.label)
}

#[cfg(test)]
mod tests;
