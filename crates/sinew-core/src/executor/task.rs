//! What an executor runs.

use super::group_token::GroupToken;
use super::prefetch;
use crate::sys::clock::Stamp;
use sinew_shm::{Callback, EndpointKey};
use std::error::Error;

/// Something with callbacks that an executor runs.
pub(crate) trait Task: Send + Sync {
    /// Runs the callback for the oldest thing there is to do, if there still is one.
    fn run(&self, token: &mut GroupToken) -> TaskOutcome;

    /// After a callback panicked: the stamp of what is left to do.
    fn pending(&self) -> Option<Stamp>;

    /// If there is nothing to do after all, takes back that it announced something. Whether there
    /// is something.
    fn clear_ready(&self) -> bool;

    /// Where the thread that runs it has noted it.
    fn place(&self) -> &prefetch::NoteIndex;

    /// What tools are told when its callback runs; it is in a group of this node.
    fn callback_of(&self, node: EndpointKey) -> Callback {
        Callback::Other(node)
    }

    /// What else it uses each time it runs.
    fn rest(&self) -> Vec<prefetch::Part> {
        Vec::new()
    }

    /// The address of what the user's handle and this have in common; 0 if there is no handle.
    fn subject(&self) -> usize {
        0
    }

    /// Whether its context was shut down.
    fn has_ended(&self) -> bool {
        false
    }

    /// For people, e.g. "subscription /camera/image of node /filter".
    fn describe(&self) -> String;
}

/// What a callback returned: nothing, or its error as it is.
pub(crate) type CallbackResult = Result<(), Box<dyn Error + Send + Sync>>;

/// What came of running an entity.
pub(crate) struct TaskOutcome {
    /// What the callback returned.
    pub(crate) result: CallbackResult,
    /// The stamp of the next thing to do, if there is one.
    pub(crate) next: Option<Stamp>,
    /// Whether there was anything to do, so that a callback was called.
    pub(crate) called: bool,
}

impl TaskOutcome {
    /// There was nothing to do any more.
    pub(crate) const NOTHING: Self = Self { result: Ok(()), next: None, called: false };
}
