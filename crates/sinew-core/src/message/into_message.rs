//! Arguments that programs pass as messages, to publish them, to call, or to answer.
//!
//! Every argument becomes a counted reference to a block ([`RawMessage`]). The operation supplies
//! new blocks ([`sealed::Blocks`]).

use super::block::{Pool, RawMessage};
use super::{Sample, Shared, Unique};
use crate::sys::sync::Arc;
use sinew_msg::Message;

/// An argument that stands for a message of type `T`, to be [published](crate::Publisher::publish),
/// sent as a [request](crate::Client::call) or as a [response](crate::Responder::respond).
///
/// | argument | effect | publish | request, response |
/// |---|---|---|---|
/// | `T` | moved into a pool | yes | yes |
/// | `Box<T>` | adopted where it lies | yes | yes |
/// | [`Unique<T>`] | handed on | yes | yes |
/// | `&T`, if `T: Clone` | copied into a pool | yes | |
/// | [`Shared<T>`], [`Sample<T>`] | one more reference | yes | |
/// | [`Draft<T>`](crate::msg::Draft), [`Edit<T>`](crate::msg::Edit) | handed on | yes | |
///
/// Arguments for requests and responses also implement [`IntoUnique`]. Only Sinew implements this
/// trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be published as a message of type `{T}`",
    note = "publish a `{T}`, `Box<{T}>`, `Unique<{T}>`, `Shared<{T}>`, `Draft<{T}>`, `Edit<{T}>`, `Sample<{T}>`, or, if it is `Clone`, a `&{T}`"
)]
pub trait IntoMessage<T: Message>: sealed::Erase<T> {}

impl<T: Message, M: sealed::Erase<T>> IntoMessage<T> for M {}

/// A message of type `T` that is passed with its ownership: a `T`, a `Box<T>` or a [`Unique<T>`].
///
/// Requests and responses are passed in this way: each has one receiver, which may change or keep
/// it. So they can't be shared: instead of a [`Shared<T>`] pass a clone of the value. Only Sinew
/// implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a request or a response of type `{T}`",
    note = "give a `{T}`, a `Box<{T}>` or a `Unique<{T}>`: a request and a response have one owner, so none that is borrowed or shared"
)]
pub trait IntoUnique<T: Message>: IntoMessage<T> + sealed::Owned<T> {}

impl<T: Message, M: sealed::Owned<T>> IntoUnique<T> for M {}

pub(crate) mod sealed {
    use super::{Message, RawMessage};

    /// A reference to a message in a block.
    pub struct Erased(pub(crate) RawMessage);

    /// A source of blocks for messages of type `T`.
    pub trait Blocks<T: Message> {
        /// Moves a value into a block.
        fn put(&self, value: T) -> Erased;

        /// Adopts a value where it lies.
        fn adopt(&self, value: Box<T>) -> Erased;

        /// Counts a copy of a passed value.
        fn count_copy(&self) {}
    }

    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be published as a message of type `{T}`",
        note = "publish a `{T}`, `Box<{T}>`, `Unique<{T}>`, `Shared<{T}>`, `Draft<{T}>`, `Edit<{T}>`, `Sample<{T}>`, or, if it is `Clone`, a `&{T}`"
    )]
    pub trait Erase<T: Message>: Sized {
        /// Whether there may be other references to the message.
        const IS_SHARED: bool = false;

        /// Whether the message may exist only in encoded form.
        const MAY_BE_ENCODED: bool = false;

        /// Returns the value, if it is in no block yet.
        fn value(&self) -> Option<&T> {
            None
        }

        fn erase(self, blocks: &impl Blocks<T>) -> Erased;
    }

    /// Marks arguments without other references to the message.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be a request or a response of type `{T}`",
        note = "give a `{T}`, a `Box<{T}>` or a `Unique<{T}>`: a request and a response have one owner, so none that is borrowed or shared"
    )]
    pub trait Owned<T: Message>: Erase<T> {}
}

use sealed::{Blocks, Erase, Erased, Owned};

impl<T: Message> Erase<T> for T {
    #[inline]
    fn value(&self) -> Option<&T> {
        Some(self)
    }

    #[inline]
    fn erase(self, blocks: &impl Blocks<T>) -> Erased {
        blocks.put(self)
    }
}

impl<T: Message> Owned<T> for T {}

impl<T: Message> Erase<T> for Box<T> {
    fn erase(self, blocks: &impl Blocks<T>) -> Erased {
        blocks.adopt(self)
    }
}

impl<T: Message> Owned<T> for Box<T> {}

impl<T: Message> Erase<T> for Unique<T> {
    #[inline]
    fn erase(self, _blocks: &impl Blocks<T>) -> Erased {
        Erased(Unique::erase(self))
    }
}

impl<T: Message> Owned<T> for Unique<T> {}

impl<T: Message + Clone> Erase<T> for &T {
    #[inline]
    fn value(&self) -> Option<&T> {
        Some(self)
    }

    fn erase(self, blocks: &impl Blocks<T>) -> Erased {
        blocks.count_copy();
        blocks.put(self.clone())
    }
}

impl<T: Message> Erase<T> for Shared<T> {
    const IS_SHARED: bool = true;

    fn erase(self, _blocks: &impl Blocks<T>) -> Erased {
        Erased(Shared::erase(self))
    }
}

impl<T: Message> Erase<T> for Sample<T> {
    const IS_SHARED: bool = true;
    const MAY_BE_ENCODED: bool = true;

    fn erase(self, _blocks: &impl Blocks<T>) -> Erased {
        Erased(Sample::erase(self))
    }
}

/// Blocks of a client or a server, from its pool for `T`.
impl<T: Message> Blocks<T> for Arc<Pool> {
    #[inline]
    fn put(&self, value: T) -> Erased {
        Erased(Pool::put(self, value))
    }

    fn adopt(&self, value: Box<T>) -> Erased {
        Erased(RawMessage::adopt(value))
    }
}

/// Puts an argument into a block, from the pool if it needs one.
#[inline]
pub(crate) fn erase<T: Message>(given: impl IntoUnique<T>, pool: &Arc<Pool>) -> RawMessage {
    given.erase(pool).0
}
