//! The states and transitions of managed nodes, with the numbers of `lifecycle_msgs`.

use crate::status::{Failure, Result};
use sinew_lifecycle::{GRAPH, State, Transition};
use std::ffi::{CStr, c_char, c_int};

/// A state of a managed node: one in which it stays, or a transition that is going on.
pub type sinew_lifecycle_state = c_int;

/// The node has no resources: they were not made yet, or are cleaned up.
pub const SINEW_STATE_UNCONFIGURED: sinew_lifecycle_state = 1;
/// The node has its resources, but does not work.
pub const SINEW_STATE_INACTIVE: sinew_lifecycle_state = 2;
/// The node works.
pub const SINEW_STATE_ACTIVE: sinew_lifecycle_state = 3;
/// The node has ended.
pub const SINEW_STATE_FINALIZED: sinew_lifecycle_state = 4;
/// From unconfigured to inactive.
pub const SINEW_STATE_CONFIGURING: sinew_lifecycle_state = 10;
/// From inactive to unconfigured.
pub const SINEW_STATE_CLEANING_UP: sinew_lifecycle_state = 11;
/// To finalized.
pub const SINEW_STATE_SHUTTING_DOWN: sinew_lifecycle_state = 12;
/// From inactive to active.
pub const SINEW_STATE_ACTIVATING: sinew_lifecycle_state = 13;
/// From active to inactive.
pub const SINEW_STATE_DEACTIVATING: sinew_lifecycle_state = 14;
/// After an error, to unconfigured or finalized.
pub const SINEW_STATE_ERROR_PROCESSING: sinew_lifecycle_state = 15;

/// A transition of a managed node.
pub type sinew_lifecycle_transition = c_int;

/// From unconfigured to inactive.
pub const SINEW_TRANSITION_CONFIGURE: sinew_lifecycle_transition = 1;
/// From inactive to unconfigured.
pub const SINEW_TRANSITION_CLEANUP: sinew_lifecycle_transition = 2;
/// From inactive to active.
pub const SINEW_TRANSITION_ACTIVATE: sinew_lifecycle_transition = 3;
/// From active to inactive.
pub const SINEW_TRANSITION_DEACTIVATE: sinew_lifecycle_transition = 4;
/// To finalized, from any other state in which the node stays. ROS 2 has the numbers 6 and 7 for
/// the same from inactive and active, which are accepted.
pub const SINEW_TRANSITION_SHUTDOWN: sinew_lifecycle_transition = 5;

pub(crate) fn transition_of(number: sinew_lifecycle_transition) -> Result<Transition> {
    Ok(match number {
        SINEW_TRANSITION_CONFIGURE => Transition::Configure,
        SINEW_TRANSITION_CLEANUP => Transition::Cleanup,
        SINEW_TRANSITION_ACTIVATE => Transition::Activate,
        SINEW_TRANSITION_DEACTIVATE => Transition::Deactivate,
        SINEW_TRANSITION_SHUTDOWN | 6 | 7 => Transition::Shutdown,
        other => return Err(Failure::enumerator("transition", other)),
    })
}

/// Returns the label of a state or step for C.
fn constant(label: &str) -> &'static CStr {
    const LABELS: [&CStr; 19] = [
        c"unknown",
        c"unconfigured",
        c"inactive",
        c"active",
        c"finalized",
        c"configuring",
        c"cleaningup",
        c"shuttingdown",
        c"activating",
        c"deactivating",
        c"errorprocessing",
        c"configure",
        c"cleanup",
        c"activate",
        c"deactivate",
        c"shutdown",
        c"transition_success",
        c"transition_failure",
        c"transition_error",
    ];
    LABELS.into_iter().find(|known| known.to_bytes() == label.as_bytes()).unwrap_or(c"")
}

/// Returns the label of a state in `lifecycle_msgs/msg/State`, for example "inactive"; "unknown"
/// for other numbers. The text lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_lifecycle_state_label(state: sinew_lifecycle_state) -> *const c_char {
    let state = u8::try_from(state).ok().and_then(State::from_id);
    constant(state.map_or("unknown", State::label)).as_ptr()
}

/// Returns the label of a step in `lifecycle_msgs/msg/Transition`, for example "configure" or
/// "transition_success"; an empty text for other numbers. It lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_lifecycle_transition_label(transition: sinew_lifecycle_transition) -> *const c_char {
    let step = GRAPH.iter().find(|step| sinew_lifecycle_transition::from(step.id) == transition);
    constant(step.map_or("", |step| step.label)).as_ptr()
}
