//! Requests and responses as they may be given.

use super::Unique;
use super::block::{Pool, RawMessage};
use crate::sys::sync::Arc;
use sinew_msg::Message;

/// A request or a response as it may be given: `T` (moved into a pool), `Box<T>` (adopted where it
/// lies) or [`Unique<T>`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be given as a `{T}`",
    note = "give a `{T}`, a `Box<{T}>` or a `Unique<{T}>`"
)]
pub trait IntoMessage<T: Message>: sealed::IntoOwned<T> {}

impl<T: Message, M: sealed::IntoOwned<T>> IntoMessage<T> for M {}

pub(crate) mod sealed {
    use super::{Arc, Message, Pool, RawMessage};

    /// A message in a block.
    pub struct OwnedMessage(pub(crate) RawMessage);

    /// Where blocks come from.
    #[derive(Clone, Copy)]
    pub struct MessagePool<'a>(pub(crate) &'a Arc<Pool>);

    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be given as a `{T}`",
        note = "give a `{T}`, a `Box<{T}>` or a `Unique<{T}>`"
    )]
    pub trait IntoOwned<T: Message> {
        fn erase(self, blocks: MessagePool<'_>) -> OwnedMessage;
    }
}

impl<T: Message> sealed::IntoOwned<T> for T {
    #[inline]
    fn erase(self, blocks: sealed::MessagePool<'_>) -> sealed::OwnedMessage {
        sealed::OwnedMessage(blocks.0.put(self))
    }
}

impl<T: Message> sealed::IntoOwned<T> for Box<T> {
    fn erase(self, _blocks: sealed::MessagePool<'_>) -> sealed::OwnedMessage {
        sealed::OwnedMessage(RawMessage::adopt(self, None))
    }
}

impl<T: Message> sealed::IntoOwned<T> for Unique<T> {
    #[inline]
    fn erase(self, _blocks: sealed::MessagePool<'_>) -> sealed::OwnedMessage {
        sealed::OwnedMessage(Unique::erase(self))
    }
}

/// Puts what was given into a block, of the pool if it needs one.
#[inline]
pub(crate) fn erase<T: Message>(given: impl IntoMessage<T>, pool: &Arc<Pool>) -> RawMessage {
    sealed::IntoOwned::erase(given, sealed::MessagePool(pool)).0
}
