//! The second process of a floor: its part.

use serde::{Deserialize, Serialize};

/// The work of the second process of a floor.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Second {
    /// The floor it serves.
    pub(super) floor: TwoProcessFloor,
    /// The core it runs on.
    pub(super) core: usize,
    /// The size of the buffer that is handed over, in bytes.
    pub(super) size: usize,
}

/// The floors that use two processes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) enum TwoProcessFloor {
    Line2,
    Handover,
    Wake,
}

impl TwoProcessFloor {
    /// Returns the name in the results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Line2 => "line2",
            Self::Handover => "handover",
            Self::Wake => "wake",
        }
    }
}
