//! What a goal is known by.

use sinew_interfaces::action_msgs::msg::GoalInfo;
use sinew_interfaces::unique_identifier_msgs::msg::UUID;
use std::fmt;

/// What a goal is known by: 16 bytes, which its client makes of random numbers. ROS 2: `GoalUUID`.
///
/// ```
/// use sinew_action::GoalId;
/// let id = GoalId::random();
/// assert_ne!(id, GoalId::random());
/// assert_eq!(GoalId([0xab; 16]).to_string(), "abababab-abab-abab-abab-abababababab");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct GoalId(
    /// As they go over the wire.
    pub [u8; 16],
);

impl GoalId {
    /// What stands for no single goal in a request to cancel.
    pub(crate) const NONE: Self = Self([0; 16]);

    /// A new one. Never blocks; some 5 ns.
    #[must_use]
    pub fn random() -> Self {
        Self(fastrand::u128(1..).to_ne_bytes())
    }

    pub(crate) fn to_msg(self) -> UUID {
        UUID { uuid: self.0 }
    }

    pub(crate) fn of(info: &GoalInfo) -> Self {
        Self(info.goal_id.uuid)
    }
}

impl fmt::Display for GoalId {
    /// As UUIDs are written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for GoalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GoalId({self})")
    }
}
