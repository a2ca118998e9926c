//! Logs a recurring condition once.

use crate::sys::logging::Level;
use crate::sys::sync::{AtomicBool, Ordering};

/// Whether an unreadable message was already logged.
pub(crate) struct WarnOnce(AtomicBool);

impl Default for WarnOnce {
    fn default() -> Self {
        Self(AtomicBool::new(false))
    }
}

impl WarnOnce {
    /// Returns the level for logging one more. If one message can't be read, the next thousand may
    /// not be readable either; statistics count all of them.
    pub(crate) fn level(&self) -> Level {
        // Relaxed: nothing else depends on which thread is the first.
        if self.0.swap(true, Ordering::Relaxed) { Level::Debug } else { Level::Error }
    }
}
