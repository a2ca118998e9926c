//! Telling once of what comes again and again.

use crate::sys::logging::Level;
use crate::sys::sync::{AtomicBool, Ordering};

/// Whether it was told that messages make no sense.
pub(crate) struct WarnOnce(AtomicBool);

impl Default for WarnOnce {
    fn default() -> Self {
        Self(AtomicBool::new(false))
    }
}

impl WarnOnce {
    /// At which level one more is told: where one message makes no sense, the next thousand may not
    /// either. All of them are counted.
    pub(crate) fn level(&self) -> Level {
        // Relaxed: nothing else depends on which thread is the first.
        if self.0.swap(true, Ordering::Relaxed) { Level::Debug } else { Level::Error }
    }
}
