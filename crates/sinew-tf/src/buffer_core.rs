//! The frame tree behind a lock, and the waiters for transforms.

use crate::history::Limits;
use crate::lookup::{At, LookupError};
use crate::suggestions::Suggestions;
use crate::transform::StampedTransform;
use crate::tree::Tree;
use crate::waiters::Waiters;
use sinew::__private::locks::RwLock;

pub(crate) struct BufferCore {
    pub(crate) tree: RwLock<Tree>,
    pub(crate) waiters: Waiters,
    suggestions: Suggestions,
}

impl BufferCore {
    pub(crate) fn new(limits: Limits) -> Self {
        let (tree, waiters) = (RwLock::new(Tree::new(limits)), Waiters::default());
        Self { tree, waiters, suggestions: Suggestions::default() }
    }

    /// The error lacks suggestions for an unknown name.
    pub(crate) fn lookup(&self, target: &str, source: &str, at: At) -> Result<StampedTransform, LookupError> {
        self.tree.read().lookup(target, source, at)
    }

    /// Completes an error for the caller, with a suggestion for an unknown name. Must be called
    /// without the lock.
    pub(crate) fn told(&self, mut error: LookupError) -> LookupError {
        if let LookupError::UnknownFrame { frame, similar, known } = &mut error {
            let found = self.suggestions.of(frame, *known, || self.tree.read().names());
            *similar = found.map(|name| name.as_ref().to_owned());
        }
        error
    }

    /// Wakes the waiters for transforms that can be looked up now, or never can be.
    pub(crate) fn wake(&self) {
        self.waiters.wake(|query| {
            let tree = self.tree.read(); // once: a second read lock, behind a waiting writer, would block for ever
            match tree.lookup(&query.target, &query.source, query.at) {
                Ok(_) => true,
                Err(error) => tree.is_past(&error, query.at),
            }
        });
    }
}
