//! `Unique` and `Shared`: the two ways to hold a message.

use super::block::RawMessage;
use sinew_msg::{Message, Stamped};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The only reference to a message: its holder may read the message, change it in place, take it
/// apart and publish it.
///
/// One pointer wide. The message lies in a publisher's pool
/// ([`Publisher::loan`](crate::Publisher::loan)), in an adopted box, or in an allocation of its
/// own; it keeps its address until it is taken out. Moving a `Unique` moves no message. It may be
/// dropped on any thread; that runs the message's `Drop`, unless it was lent by a pool, to which it
/// returns with all its reserved memory. Nothing here blocks except the pool's short lock; only
/// `new` and `into_box` allocate.
///
/// ```
/// use sinew::{Message, Unique};
/// # #[derive(Debug, PartialEq)] struct Frame { pixels: Vec<u8> }
/// # impl Message for Frame {}
/// let mut frame = Unique::from(Box::new(Frame { pixels: vec![1, 2] })); // adopted where it lies
/// frame.pixels[0] = 7;
/// let address = &raw const *frame;
/// let shared = frame.into_shared();
/// assert_eq!(&raw const *shared, address);
/// assert_eq!(shared.try_unique().unwrap().into_inner(), Frame { pixels: vec![7, 2] });
/// ```
pub struct Unique<T: Message> {
    message: RawMessage,
    owns: PhantomData<T>,
}

impl<T: Message> Unique<T> {
    /// Creates a message in an allocation of its own.
    pub fn new(value: T) -> Self {
        Self::assume(RawMessage::new(value))
    }

    /// Takes `message` for the sole reference to a `T`, which the core checked when it matched the
    /// endpoints.
    pub(crate) fn assume(message: RawMessage) -> Self {
        debug_assert!(message.table().holds::<T>() && message.is_sole());
        debug_assert!(!message.is_encoded(), "there is a value");
        Self { message, owns: PhantomData }
    }

    pub(crate) fn erase(self) -> RawMessage {
        self.message
    }

    /// Converts this into one of several references. The message stays where it is.
    pub fn into_shared(self) -> Shared<T> {
        Shared { message: self.message, owns: PhantomData }
    }

    /// Takes the message out; its block goes back to its pool.
    pub fn into_inner(self) -> T {
        // SAFETY: the type guarantees that it is a `T`, `Unique` that this is the sole reference.
        unsafe { self.message.into_value() }
    }

    /// Returns the adopted box, or moves the message into a new one.
    pub fn into_box(self) -> Box<T> {
        // SAFETY: as in `into_inner`.
        unsafe { self.message.into_box() }
    }
}

impl<T: Message> Deref for Unique<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a filled block of type `T` (checked in `assume`), alive through `self`.
        unsafe { self.message.value().cast::<T>().as_ref() }
    }
}

impl<T: Message> DerefMut for Unique<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the sole reference, borrowed exclusively.
        unsafe { self.message.value().cast::<T>().as_mut() }
    }
}

impl<T: Message> From<Box<T>> for Unique<T> {
    /// Adopts the box where it lies.
    fn from(value: Box<T>) -> Self {
        Self::assume(RawMessage::adopt(value))
    }
}

impl<T: Message> From<T> for Unique<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Message + fmt::Debug> fmt::Debug for Unique<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// One of several references to a message that no holder can change any more.
///
/// One pointer wide; `clone` increments a count and copies no message. The last reference releases
/// the message, on the thread that drops it.
///
/// ```
/// # #[derive(Clone, Debug)] struct Frame { pixels: Vec<u8> }
/// # impl sinew::Message for Frame {}
/// let one = sinew::Shared::new(Frame { pixels: vec![1, 2] });
/// let two = one.clone();
/// assert!(sinew::Shared::ptr_eq(&one, &two));
/// let one = one.try_unique().unwrap_err(); // another holder is still reading
/// drop(two);
/// assert_eq!(one.try_unique().unwrap().pixels, [1, 2]);
/// ```
pub struct Shared<T: Message> {
    message: RawMessage,
    owns: PhantomData<T>,
}

impl<T: Message> Shared<T> {
    /// Creates a message in an allocation of its own.
    pub fn new(value: T) -> Self {
        Unique::new(value).into_shared()
    }

    /// Takes `message` for a reference to a `T`, which the core checked when it matched the
    /// endpoints.
    pub(crate) fn assume(message: RawMessage) -> Self {
        debug_assert!(message.table().holds::<T>());
        debug_assert!(!message.is_encoded(), "there is a value");
        Self { message, owns: PhantomData }
    }

    pub(crate) fn erase(self) -> RawMessage {
        self.message
    }

    /// Takes ownership of the message if this is the only reference left; copies nothing.
    ///
    /// # Errors
    /// Returns the reference while there are others.
    pub fn try_unique(self) -> Result<Unique<T>, Self> {
        if self.message.is_ownable() { Ok(Unique::assume(self.message)) } else { Err(self) }
    }

    /// Takes ownership of the message: of the same one if this is the only reference left,
    /// otherwise of a copy.
    pub fn into_unique(self) -> Unique<T>
    where
        T: Clone,
    {
        self.try_unique().unwrap_or_else(|shared| Unique::new(T::clone(&shared)))
    }

    /// Returns `true` if both refer to the same message.
    pub fn ptr_eq(one: &Self, other: &Self) -> bool {
        one.message.value() == other.message.value()
    }
}

impl<T: Message> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a filled block of type `T` (checked in `assume`), alive through `self`, which no
        // holder may change while there are several references.
        unsafe { self.message.value().cast::<T>().as_ref() }
    }
}

impl<T: Message> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self { message: self.message.another(), owns: PhantomData }
    }
}

impl<T: Message> From<Unique<T>> for Shared<T> {
    fn from(unique: Unique<T>) -> Self {
        unique.into_shared()
    }
}

/// Delegates to the message.
impl<T: Message + Stamped> Stamped for Unique<T> {
    fn stamp_nanoseconds(&self) -> i64 {
        (**self).stamp_nanoseconds()
    }

    fn frame_id(&self) -> &str {
        (**self).frame_id()
    }
}

/// Delegates to the message.
impl<T: Message + Stamped> Stamped for Shared<T> {
    fn stamp_nanoseconds(&self) -> i64 {
        (**self).stamp_nanoseconds()
    }

    fn frame_id(&self) -> &str {
        (**self).frame_id()
    }
}

impl<T: Message + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
