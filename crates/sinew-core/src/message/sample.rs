//! `Sample` and `View`: messages as they lie, as values or in encoded form.

use super::block::{Pool, RawMessage};
use super::generic::SerializedMessage;
use super::handle::Shared;
use super::type_support::TypeSupport;
use sinew_msg::cdr::Structure;
use sinew_msg::view::{self, Viewed};
use sinew_msg::{DecodeError, Message};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// One of several references to a message as it lies: a value made by a publisher of this process,
/// or the encoded form in the memory of another process (or of a [`Draft`](crate::msg::Draft)).
/// [`view`](Self::view) reads either, without copying or decoding.
///
/// One pointer wide; `clone` increments a count. An encoded message stays where it is, and its
/// publisher doesn't reuse its memory, until the last reference is dropped: so hold few of them,
/// and only for a short time, or the publisher needs more memory. A sample may be dropped on any
/// thread. An encoded message that is published again, by any publisher of the type, is passed on
/// as it is.
///
/// ```
/// use sinew::msg::Sample;
/// use sinew::prelude::*;
/// use sinew_interfaces::sensor_msgs::msg::Image;
///
/// let context = Context::new()?;
/// let node = context.node("viewer")?;
/// let images = node.subscription::<Image>("image").read_in_place().create()?;
/// let publisher = node.publisher::<Image>("image").create()?;
/// publisher.publish(Image { width: 2, data: vec![1, 2], ..Image::default() })?;
///
/// let (sample, _info): (Sample<Image>, _) = images.take_sample().unwrap();
/// let image = sample.view().unwrap();
/// assert_eq!((image.width, &*image.data), (2, &[1, 2][..]));
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Sample<T: Message> {
    message: RawMessage,
    of: PhantomData<T>,
}

impl<T: Message> Sample<T> {
    /// Takes `message` for a reference to a `T` or its encoded form, which the core checked when it
    /// matched the endpoints.
    pub(crate) fn assume(message: RawMessage) -> Self {
        // The encoded form is the same for every type of the program with that name and hash.
        debug_assert!(message.is_encoded() || message.table().holds::<T>());
        Self { message, of: PhantomData }
    }

    pub(crate) fn erase(self) -> RawMessage {
        self.message
    }

    /// Returns the value, if the message has one.
    fn value(&self) -> Option<&T> {
        if self.message.is_encoded() {
            return None;
        }
        // SAFETY: a filled block of type `T` (checked in `assume`), which isn't encoded, so there
        // is a value, alive through `self`; no holder may change it while there are several
        // references.
        Some(unsafe { self.message.value().cast::<T>().as_ref() })
    }

    /// Returns a view of the message's content. An encoded message is checked completely, in a
    /// number of steps that depends on its fields and strings, not on its length; only memory that
    /// the view owns is allocated, see [`view`](mod@crate::msg::view).
    ///
    /// # Errors
    /// Returns [`DecodeError`] if the writer of an encoded message has changed it against all rules
    /// after it was checked on arrival.
    pub fn view(&self) -> Result<T::View<'_>, DecodeError>
    where
        T: Structure + Viewed,
    {
        match (self.value(), self.message.encoded()) {
            (Some(value), _) => Ok(value.of()),
            (None, encoded) => view::view::<T>(encoded.unwrap_or_default()),
        }
    }

    /// Converts the message into a value: the same one if it is a value, otherwise decoded, which
    /// allocates its contents.
    ///
    /// # Errors
    /// Returns [`DecodeError`] for an encoded message that can't become a value: it contains a
    /// string that is not UTF-8.
    pub fn into_shared(self) -> Result<Shared<T>, DecodeError> {
        if !self.message.is_encoded() {
            return Ok(Shared::assume(self.message));
        }
        let pool = Pool::of_table(TypeSupport::of::<T>(), 0);
        self.message.decoded(&pool).map(Shared::assume)
    }

    /// Returns `true` if the message is in encoded form, `false` if it is a value.
    pub fn is_encoded(&self) -> bool {
        self.message.is_encoded()
    }
}

impl Sample<SerializedMessage> {
    /// Returns the message's encoded form, where it lies.
    pub fn bytes(&self) -> &[u8] {
        match (self.message.encoded(), self.value()) {
            (Some(encoded), _) => encoded,
            (None, value) => value.map_or(&[], SerializedMessage::bytes),
        }
    }
}

impl<T: Message> Clone for Sample<T> {
    fn clone(&self) -> Self {
        Self { message: self.message.another(), of: PhantomData }
    }
}

impl<T: Message> From<Shared<T>> for Sample<T> {
    fn from(shared: Shared<T>) -> Self {
        Self::assume(shared.erase())
    }
}

impl<T: Message> fmt::Debug for Sample<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_encoded() { "encoded" } else { "a value" };
        write!(f, "Sample({what} of {})", self.message.table().name())
    }
}

/// A view of a message, for the duration of a callback. It derefs to the type's generated view, for
/// example `ImageView<'_>` for `Image`.
///
/// ```
/// use sinew::View;
/// use sinew::prelude::*;
/// use sinew_interfaces::sensor_msgs::msg::Image;
///
/// let context = Context::new()?;
/// let node = context.node("viewer")?;
/// let _images = node.subscription("image").callback(|image: View<'_, Image>| {
///     println!("{} x {}, {} bytes", image.width, image.height, image.data.len());
/// })?;
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct View<'a, T: Viewed>(T::View<'a>);

impl<'a, T: Viewed> View<'a, T> {
    pub(crate) fn new(view: T::View<'a>) -> Self {
        Self(view)
    }

    /// Returns the view itself.
    pub fn into_inner(self) -> T::View<'a> {
        self.0
    }
}

impl<'a, T: Viewed> Deref for View<'a, T> {
    type Target = T::View<'a>;

    fn deref(&self) -> &T::View<'a> {
        &self.0
    }
}

impl<'a, T: Viewed<View<'a>: fmt::Debug>> fmt::Debug for View<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Checks whether bytes are a valid encoded message of a type: for messages from outside that
/// aren't decoded.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Check(pub(crate) fn(&[u8]) -> Result<(), DecodeError>);

impl Check {
    pub(crate) const fn of<T: Structure + Viewed>() -> Self {
        Self(view::check::<T>)
    }
}
