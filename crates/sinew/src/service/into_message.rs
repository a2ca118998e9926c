//! Requests and responses as they may be given.

use crate::message::Unique;
use crate::message::block::{Erased, Pool};
use crate::sys::sync::Arc;
use sinew_msg::Message;

/// A request or a response as it may be given: `T` (moved into a pool), `Box<T>` (adopted where it
/// lies) or [`Unique<T>`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be given as a `{T}`",
    note = "give a `{T}`, a `Box<{T}>` or a `Unique<{T}>`"
)]
pub trait Given<T: Message>: sealed::Erase<T> {}

impl<T: Message, M: sealed::Erase<T>> Given<T> for M {}

pub(crate) mod sealed {
    use super::{Arc, Erased, Message, Pool};

    /// A message in a block.
    pub struct Block(pub(crate) Erased);

    /// Where blocks come from.
    #[derive(Clone, Copy)]
    pub struct Blocks<'a>(pub(crate) &'a Arc<Pool>);

    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be given as a `{T}`",
        note = "give a `{T}`, a `Box<{T}>` or a `Unique<{T}>`"
    )]
    pub trait Erase<T: Message> {
        fn erase(self, blocks: Blocks<'_>) -> Block;
    }
}

impl<T: Message> sealed::Erase<T> for T {
    #[inline]
    fn erase(self, blocks: sealed::Blocks<'_>) -> sealed::Block {
        sealed::Block(blocks.0.put(self))
    }
}

impl<T: Message> sealed::Erase<T> for Box<T> {
    fn erase(self, _blocks: sealed::Blocks<'_>) -> sealed::Block {
        sealed::Block(Erased::adopt(self, None))
    }
}

impl<T: Message> sealed::Erase<T> for Unique<T> {
    #[inline]
    fn erase(self, _blocks: sealed::Blocks<'_>) -> sealed::Block {
        sealed::Block(Unique::erase(self))
    }
}

/// Puts what was given into a block, of the pool if it needs one.
#[inline]
pub(crate) fn erase<T: Message>(given: impl Given<T>, pool: &Arc<Pool>) -> Erased {
    sealed::Erase::erase(given, sealed::Blocks(pool)).0
}
