//! The settings for a context's hints about what it is missing, and the function that logs them.

use crate::sys::sync::{Arc, TableLock};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

/// Time after which a missing counterpart is reported, unless the program sets another one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Checks, and logs. Returns the time after which to check again even if no entity comes or goes;
/// `None`: not before.
type Speak = dyn Fn() -> Option<Duration> + Send + Sync;

/// The hints of a context: made with the context; the thread that watches its neighbours logs them.
pub(crate) struct Hints {
    /// `None`: no hints.
    pub(crate) after: Option<Duration>,
    speak: OnceLock<Box<Speak>>,
    /// Nodes without hints, by their full names.
    silent: TableLock<BTreeSet<Arc<str>>>,
}

impl Hints {
    pub(crate) fn new(after: Option<Duration>) -> Self {
        Self { after, speak: OnceLock::new(), silent: TableLock::default() }
    }

    /// Sets the function that checks and logs. Only the first one counts.
    pub(crate) fn speak_by<S>(&self, make: impl FnOnce() -> S)
    where
        S: Fn() -> Option<Duration> + Send + Sync + 'static,
    {
        if self.after.is_some() {
            self.speak.get_or_init(|| Box::new(make()));
        }
    }

    /// Checks, and logs the hints that are due. Returns the time after which to check again even if
    /// no entity comes or goes. The caller holds no lock.
    pub(crate) fn speak(&self) -> Option<Duration> {
        self.speak.get().and_then(|speak| speak())
    }

    /// Turns hints off for the node of that name.
    pub(crate) fn silence(&self, node: &Arc<str>) {
        self.silent.lock().insert(node.clone());
    }

    /// Removes a dropped node.
    pub(crate) fn forget(&self, node: &str) {
        self.silent.lock().remove(node);
    }

    pub(crate) fn is_silent(&self, node: &str) -> bool {
        self.silent.lock().contains(node)
    }
}
