//! Whether, when and by what a context says what it is missing.

use crate::sys::sync::{Arc, TableLock};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

/// Time after which something that is missing is told, unless the program says another one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// What a context says of itself after a while: made with the context, and spoken by the thread that
/// looks after its neighbours every few seconds.
pub(crate) struct Hints {
    /// `None`: nothing is said.
    pub(crate) after: Option<Duration>,
    speak: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// Nodes of which nothing is said, by their full names.
    silent: TableLock<BTreeSet<Arc<str>>>,
}

impl Hints {
    pub(crate) fn new(after: Option<Duration>) -> Self {
        Self { after, speak: OnceLock::new(), silent: TableLock::default() }
    }

    /// What looks and says, from now on. Only the first one counts.
    pub(crate) fn speak_by<S: Fn() + Send + Sync + 'static>(&self, make: impl FnOnce() -> S) {
        if self.after.is_some() {
            self.speak.get_or_init(|| Box::new(make()));
        }
    }

    /// Looks, and says what there is to say. The caller holds no lock.
    pub(crate) fn speak(&self) {
        if let Some(speak) = self.speak.get() {
            speak();
        }
    }

    /// Nothing is said of the node of that name.
    pub(crate) fn silence(&self, node: &Arc<str>) {
        self.silent.lock().insert(node.clone());
    }

    /// The node is gone.
    pub(crate) fn forget(&self, node: &str) {
        self.silent.lock().remove(node);
    }

    pub(crate) fn is_silent(&self, node: &str) -> bool {
        self.silent.lock().contains(node)
    }
}
