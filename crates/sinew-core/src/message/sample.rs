//! `Sample` and `View`: messages as they lie, be it as values or as images.

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

/// One of several references to a message as it lies: a value that a publisher of this process has
/// made, or an image in the memory of another process (or of a [`Draft`](crate::msg::Draft)).
/// [`view`](Self::view) reads either; nothing is copied or decoded for it.
///
/// One pointer wide; `clone` counts. An image stays where it is, and its publisher leaves it alone,
/// until the last reference is dropped: so hold few of them, and not for long, or the publisher
/// needs more memory. It may be dropped on any thread. Published again, by any publisher of the
/// type, an image is passed on as it is.
///
/// ```
/// use sinew::msg::Sample;
/// use sinew::prelude::*;
/// use sinew_interfaces::sensor_msgs::msg::Image;
///
/// let context = Context::new()?;
/// let node = context.node("viewer")?;
/// let images = node.subscription::<Image>("image").accept_images().create()?;
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
    /// Takes `message` for a reference to a `T`, or the image of one, which the core checked when
    /// it matched the ends.
    pub(crate) fn assume(message: RawMessage) -> Self {
        // An image is the same for every type of the program with that name and hash.
        debug_assert!(
            message.is_image() || message.table().representation == TypeSupport::of::<T>().representation
        );
        Self { message, of: PhantomData }
    }

    pub(crate) fn erase(self) -> RawMessage {
        self.message
    }

    /// The value, if it is one.
    fn value(&self) -> Option<&T> {
        if self.message.is_image() {
            return None;
        }
        // SAFETY: a filled block of type `T` (checked in `assume`), which is no image, so there is
        // a value, alive through `self`; no holder may change it while there are several
        // references.
        Some(unsafe { self.message.value().cast::<T>().as_ref() })
    }

    /// What is in the message. Of an image, all is checked, in steps that its number of fields and
    /// of strings count, not its length; allocated is only what the view owns, see
    /// [`view`](mod@crate::msg::view).
    ///
    /// # Errors
    /// [`DecodeError`] if it is an image whose writer has changed it against all rules: it was
    /// checked when it came.
    pub fn view(&self) -> Result<T::View<'_>, DecodeError>
    where
        T: Structure + Viewed,
    {
        match (self.value(), self.message.image()) {
            (Some(value), _) => Ok(value.of()),
            (None, image) => view::view::<T>(image.unwrap_or_default()),
        }
    }

    /// The message as a value: the same one if it is a value, otherwise decoded, which allocates
    /// what it contains.
    ///
    /// # Errors
    /// [`DecodeError`] if it is an image of which there is no value: it contains a string that is
    /// not UTF-8.
    pub fn into_shared(self) -> Result<Shared<T>, DecodeError> {
        if !self.message.is_image() {
            return Ok(Shared::assume(self.message));
        }
        let pool = Pool::of_table(TypeSupport::of::<T>(), 0);
        self.message.decoded(&pool).map(Shared::assume)
    }

    /// Whether it is an image, rather than a value.
    pub fn is_image(&self) -> bool {
        self.message.is_image()
    }
}

impl Sample<SerializedMessage> {
    /// The message's image, where it lies.
    pub fn image(&self) -> &[u8] {
        match (self.message.image(), self.value()) {
            (Some(image), _) => image,
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
        let what = if self.is_image() { "an image" } else { "a value" };
        write!(f, "Sample({what} of {})", self.message.table().name())
    }
}

/// A view of a message, for the time of a callback. It derefs to what the generator made for the
/// type, e.g. `ImageView<'_>` for `Image`.
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

    /// The view itself.
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

/// Whether bytes are an image of a type: what is asked of what comes from outside, where it isn't
/// decoded.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Check(pub(crate) fn(&[u8]) -> Result<(), DecodeError>);

impl Check {
    pub(crate) const fn of<T: Structure + Viewed>() -> Self {
        Self(view::check::<T>)
    }
}
