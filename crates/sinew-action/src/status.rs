//! The states of a goal.

use std::fmt;

/// The state of a goal. ROS 2: `action_msgs/msg/GoalStatus`, with the same numbers.
///
/// | from | execute | cancel | succeed | abort | canceled |
/// |---|---|---|---|---|---|
/// | accepted | executing | canceling | | | |
/// | executing | | canceling | succeeded | aborted | |
/// | canceling | | | succeeded | aborted | canceled |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(i8)]
pub enum GoalStatus {
    /// The server doesn't know the goal, or the client has received nothing about it yet.
    #[default]
    Unknown = 0,
    /// It was accepted, and has not begun.
    Accepted = 1,
    /// The server is executing it.
    Executing = 2,
    /// It was asked to end early, and has not ended yet.
    Canceling = 3,
    /// It has reached its aim.
    Succeeded = 4,
    /// It ended early, as requested.
    Canceled = 5,
    /// The server gave it up.
    Aborted = 6,
}

/// An event in a goal's life. (The other transitions of the table.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GoalEvent {
    Execute,
    Cancel,
    Succeed,
    Abort,
    Canceled,
}

impl GoalEvent {
    /// Returns the state in which the event leaves a goal that it ends.
    pub(crate) fn end(self) -> GoalStatus {
        GoalStatus::Canceling.after(self).unwrap_or_default()
    }
}

impl GoalStatus {
    /// Returns `true` if the goal has ended.
    pub fn is_terminal(self) -> bool {
        self >= Self::Succeeded
    }

    /// Returns `true` if the goal is known and has not ended.
    pub fn is_active(self) -> bool {
        !self.is_terminal() && self != Self::Unknown
    }

    /// Returns `true` if the goal can still be asked to end.
    pub(crate) fn is_cancelable(self) -> bool {
        matches!(self, Self::Accepted | Self::Executing)
    }

    /// Returns the next state by the table above; `None`: the event isn't possible in this state.
    pub(crate) fn after(self, event: GoalEvent) -> Option<Self> {
        Some(match (self, event) {
            (Self::Accepted, GoalEvent::Execute) => Self::Executing,
            (Self::Accepted | Self::Executing, GoalEvent::Cancel) => Self::Canceling,
            (Self::Executing | Self::Canceling, GoalEvent::Succeed) => Self::Succeeded,
            (Self::Executing | Self::Canceling, GoalEvent::Abort) => Self::Aborted,
            (Self::Canceling, GoalEvent::Canceled) => Self::Canceled,
            _ => return None,
        })
    }

    /// Returns the state for a number on the wire; a number that ROS 2 doesn't define is `Unknown`.
    pub(crate) fn of_wire(number: i8) -> Self {
        match number {
            1 => Self::Accepted,
            2 => Self::Executing,
            3 => Self::Canceling,
            4 => Self::Succeeded,
            5 => Self::Canceled,
            6 => Self::Aborted,
            _ => Self::Unknown,
        }
    }

    pub(crate) fn to_wire(self) -> i8 {
        self as i8
    }
}

impl fmt::Display for GoalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Accepted => "accepted",
            Self::Executing => "executing",
            Self::Canceling => "canceling",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
            Self::Aborted => "aborted",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::GoalEvent::{Abort, Cancel, Canceled, Execute, Succeed};
    use super::GoalStatus::{self as S, Aborted, Accepted, Canceling, Executing, Succeeded};

    const ALL: [S; 7] = [S::Unknown, Accepted, Executing, Canceling, Succeeded, S::Canceled, Aborted];

    #[test]
    fn states_follow_each_other_as_in_ros_2() {
        let events = [Execute, Cancel, Succeed, Abort, Canceled];
        let found = ALL.map(|state| events.map(|event| state.after(event)));
        let none = [None; 5];
        assert_eq!(
            found,
            [
                none,
                [Some(Executing), Some(Canceling), None, None, None],
                [None, Some(Canceling), Some(Succeeded), Some(Aborted), None],
                [None, None, Some(Succeeded), Some(Aborted), Some(S::Canceled)],
                none,
                none,
                none,
            ]
        );
    }

    #[test]
    fn numbers_are_those_of_the_wire() {
        for (number, state) in (0..).zip(ALL) {
            assert_eq!((S::of_wire(number), state.to_wire()), (state, number));
            assert_eq!((state.is_active(), state.is_terminal()), ((1..4).contains(&number), number > 3));
            assert_eq!(state.is_cancelable(), state.after(Cancel).is_some());
        }
        assert_eq!((S::of_wire(7), S::of_wire(-1)), (S::Unknown, S::Unknown));
    }
}
