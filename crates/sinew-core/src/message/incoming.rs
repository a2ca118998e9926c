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
    /// Blocks for the copy, if one must be made.
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

    /// Returns the message as it lies, and the work to be counted.
    pub(crate) fn sample(self) -> (Sample<T>, CopyWork) {
        let work = CopyWork::of_form(&self.message);
        (Sample::assume(self.message), work)
    }

    /// Returns the message for its reader alone, and the work: a copy if there is another reference
    /// to the message.
    pub(crate) fn unique(self) -> (Unique<T>, CopyWork)
    where
        T: Clone,
    {
        if self.message.is_ownable() {
            return (Unique::assume(self.message), CopyWork::NONE);
        }
        // SAFETY: both the function and the pool are made for `T`, the message's type.
        let copy = unsafe { self.message.duplicate(clone_into::<T>(), self.pool) };
        (Unique::assume(copy), CopyWork::COPY)
    }
}
