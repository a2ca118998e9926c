//! The second process of a floor: its work.

use serde::{Deserialize, Serialize};

/// The work of the second process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Second {
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
