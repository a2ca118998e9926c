//! The result of a goal.

use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::status::GoalStatus;
use sinew::msg::Action;
use std::fmt;
use std::ops::Deref;

/// The result of a goal that has ended, shared (not copied) with the server's cache and other
/// clients of this process.
pub struct GoalResult<A: Kind> {
    id: GoalId,
    status: GoalStatus,
    result: A::SharedResult,
}

impl<A: Kind> GoalResult<A> {
    pub(super) fn new(id: GoalId, status: GoalStatus, result: A::SharedResult) -> Self {
        Self { id, status, result }
    }

    /// Returns the goal's id.
    pub fn id(&self) -> GoalId {
        self.id
    }

    /// Returns how the goal ended: succeeded, canceled or aborted.
    pub fn status(&self) -> GoalStatus {
        self.status
    }

    /// Returns the result itself.
    pub fn into_result(self) -> A::SharedResult {
        self.result
    }
}

impl<A: Action> Deref for GoalResult<A> {
    type Target = A::Result;

    fn deref(&self) -> &A::Result {
        &self.result
    }
}

impl<A: Kind> Clone for GoalResult<A> {
    fn clone(&self) -> Self {
        Self { id: self.id, status: self.status, result: self.result.clone() }
    }
}

impl<A: Action<Result: fmt::Debug>> fmt::Debug for GoalResult<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalResult")
            .field("id", &self.id)
            .field("status", &self.status)
            .field("result", &*self.result)
            .finish()
    }
}
