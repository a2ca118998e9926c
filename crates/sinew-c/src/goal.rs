//! What servers and clients of actions share: goals' ids and states.

use crate::time::sinew_time;
use sinew::time::Time;
use sinew_action::{GoalId, GoalStatus};
use std::ffi::c_int;

/// The id of a goal: a UUID, which its client chooses.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_goal_id {
    /// The bytes, as in messages.
    pub bytes: [u8; 16],
}

impl From<GoalId> for sinew_goal_id {
    fn from(id: GoalId) -> Self {
        Self { bytes: id.0 }
    }
}

impl From<sinew_goal_id> for GoalId {
    fn from(id: sinew_goal_id) -> Self {
        Self(id.bytes)
    }
}

/// The state of a goal, with ROS 2's numbers.
pub type sinew_goal_status = c_int;

/// The server doesn't know the goal, or the client has received nothing about it yet.
pub const SINEW_GOAL_UNKNOWN: sinew_goal_status = 0;
/// It was accepted, and has not begun.
pub const SINEW_GOAL_ACCEPTED: sinew_goal_status = 1;
/// The server is executing it.
pub const SINEW_GOAL_EXECUTING: sinew_goal_status = 2;
/// It was asked to end early, and has not ended yet.
pub const SINEW_GOAL_CANCELING: sinew_goal_status = 3;
/// It has reached its aim.
pub const SINEW_GOAL_SUCCEEDED: sinew_goal_status = 4;
/// It ended early, as requested.
pub const SINEW_GOAL_CANCELED: sinew_goal_status = 5;
/// The server gave it up.
pub const SINEW_GOAL_ABORTED: sinew_goal_status = 6;

/// Returns a state for C.
pub(crate) fn status_number(status: GoalStatus) -> sinew_goal_status {
    match status {
        GoalStatus::Unknown => SINEW_GOAL_UNKNOWN,
        GoalStatus::Accepted => SINEW_GOAL_ACCEPTED,
        GoalStatus::Executing => SINEW_GOAL_EXECUTING,
        GoalStatus::Canceling => SINEW_GOAL_CANCELING,
        GoalStatus::Succeeded => SINEW_GOAL_SUCCEEDED,
        GoalStatus::Canceled => SINEW_GOAL_CANCELED,
        GoalStatus::Aborted => SINEW_GOAL_ABORTED,
    }
}

/// A goal in a list.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_goal_info {
    /// The goal's id.
    pub id: sinew_goal_id,
    /// The time at which its server accepted it, by the server's clock. (Servers of rclcpp leave it
    /// 0.)
    pub stamp: sinew_time,
    /// Its state; `SINEW_GOAL_CANCELING` in the answer to a cancel request.
    pub status: sinew_goal_status,
}

/// Returns an element of a list for C.
pub(crate) fn info(id: GoalId, stamp: Time, status: GoalStatus) -> sinew_goal_info {
    sinew_goal_info { id: id.into(), stamp: stamp.nanoseconds(), status: status_number(status) }
}
