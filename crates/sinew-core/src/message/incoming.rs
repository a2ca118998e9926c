//! Messages on their way from a subscription's buffer to its callback.

use super::block::{Pool, RawMessage};
use super::handle::{Shared, Unique};
use super::sample::Sample;
use super::type_support::clone_into;
use super::work::CopyWork;
use crate::sys::sync::Arc;
use sinew_msg::Message;
use std::marker::PhantomData;

/// A message on its way from a subscription's buffer to its callback.
#[doc(hidden)]
pub struct Incoming<'a, T: Message> {
    message: RawMessage,
    /// Where the copy goes if one must be made.
    pool: &'a Arc<Pool>,
    of: PhantomData<T>,
}

impl<'a, T: Message> Incoming<'a, T> {
    pub(crate) fn new(message: RawMessage, pool: &'a Arc<Pool>) -> Self {
        Self { message, pool, of: PhantomData }
    }

    pub(crate) fn shared(self) -> Shared<T> {
        Shared::assume(self.message)
    }

    /// The message as it lies, and what is to be counted for that.
    pub(crate) fn sample(self) -> (Sample<T>, CopyWork) {
        let work = CopyWork::of_form(&self.message);
        (Sample::assume(self.message), work)
    }

    /// The message for its reader alone, and what that took: a copy if there is another reference
    /// to the message.
    pub(crate) fn unique(self) -> (Unique<T>, CopyWork)
    where
        T: Clone,
    {
        if self.message.is_ownable() {
            return (Unique::assume(self.message), CopyWork::NONE);
        }
        // SAFETY: both the function and the pool are made for `T`, which the message is.
        let copy = unsafe { self.message.duplicate(clone_into::<T>(), self.pool) };
        (Unique::assume(copy), CopyWork::COPY)
    }
}
