//! A counted reference to a message of any type.

use super::backing::{Backing, OwnBytes, out_of_memory};
use super::block::{Pool, RawMessage, Vacant};
use super::generic::{self, SerializedMessage};
use super::registered::MessageType;
use super::type_support::TypeSupport;
use super::{MessageInfo, Sample, Shared, Unique};
use sinew_msg::DecodeError;
use std::fmt;
use std::ptr::NonNull;

/// A counted reference to a message of any [`MessageType`]: a value, or its encoded form.
///
/// One pointer wide; `clone` increments a count. The last reference, dropped on any thread, drops
/// the value or gives it back to its pool. While there are several references, nothing may change
/// the value; the only one may ([`value_mut`](Self::value_mut)) and may be published with its
/// ownership. Nothing here blocks except a pool's short lock.
///
/// ```
/// use sinew::erased::{Message, MessageType};
/// use sinew::{Shared, Unique};
/// # #[derive(Debug, PartialEq)] struct Number(u64); impl sinew::Message for Number {}
/// let message = Message::from(Unique::new(Number(7)));
/// assert_eq!(message.message_type(), MessageType::of::<Number>());
/// let raw = message.into_raw(); // for another language to hold
/// // SAFETY: from `into_raw`, and given up here.
/// let message = unsafe { Message::from_raw(raw) };
/// assert_eq!(message.value_of::<Number>(), Some(&Number(7)));
/// let number: Shared<Number> = message.into_shared().unwrap();
/// assert_eq!(number.0, 7);
/// ```
pub struct Message(RawMessage);

impl Message {
    pub(crate) fn of(message: RawMessage) -> Self {
        Self(message)
    }

    pub(crate) fn into_inner(self) -> RawMessage {
        self.0
    }

    /// Whether an endpoint of this type can send the message: it has the type, or is the encoded
    /// form of one with its name and hash.
    #[inline(always)] // in the library for C as well, which is optimised for size
    pub(crate) fn fits(&self, table: &TypeSupport) -> bool {
        let own = self.0.table();
        own.is(table) || (self.is_encoded() && own.exchanges_with(table))
    }

    /// Returns the encoded form of a message that [fits](Self::fits), if it has to be decoded to be
    /// a value of this type.
    pub(crate) fn to_be_decoded_for(&self, table: &TypeSupport) -> Option<&[u8]> {
        self.encoded().filter(|_| self.0.is_encoded() || !self.0.table().is(table))
    }

    /// Converts a message that [fits](Self::fits) to one of this very type, so that readers decode
    /// it with the functions of their own type. Encoded bytes with several references, and those of
    /// a [`SerializedMessage`], are copied.
    ///
    /// # Errors
    /// Returns the message if its encoded form is shorter than the header.
    pub(crate) fn into_type(self, table: &'static TypeSupport) -> Result<RawMessage, Self> {
        if self.0.table().is(table) {
            return Ok(self.0);
        }
        match self.encoded() {
            Some(bytes) if generic::check(bytes).is_ok() => {}
            _ => return Err(self),
        }
        if self.0.is_encoded() && self.0.is_sole() {
            return Ok(self.0.into_encoded_of(table));
        }
        let bytes = self.encoded().unwrap_or_default();
        Ok(copied(table, bytes).unwrap_or_else(|| out_of_memory(bytes.len())))
    }

    /// Adopts a value where it lies, for example one that C++ holds by a `unique_ptr`. Allocates at
    /// most a control block, and none in a steady flow. Returns `None`, with the value unchanged, if the type has no
    /// [`free`](crate::erased::TypeTable::free).
    ///
    /// # Safety
    /// At `value` is a valid value of the type that belongs to the caller, who gives it up. `free`
    /// can free its memory; for a type of Rust, it is that of a `Box`.
    pub unsafe fn adopt(of: MessageType, value: NonNull<u8>) -> Option<Self> {
        let table = of.table();
        if !table.adopts() {
            return None;
        }
        // SAFETY: passed on from the caller.
        Some(Self(unsafe { RawMessage::adopt_raw(table, value) }))
    }

    /// Creates a message with the [first value](crate::erased::TypeTable::create) of its type, or
    /// zeros for a plain type, in an allocation of its own. Returns `None` if the type has none.
    pub fn create(of: MessageType) -> Option<Self> {
        Pool::of_table(of.table(), 0).loan_erased().map(Self)
    }

    /// Returns a place for a value, in an allocation of its own. (A publisher's
    /// [pool](crate::erased::Publisher::uninit) has places that allocate nothing.)
    pub fn uninit(of: MessageType) -> UninitMessage {
        UninitMessage(RawMessage::vacant(of.table()))
    }

    /// Creates a message from its encoded form, which is copied but not checked: subscriptions that
    /// can't decode it lose it, and report that. Returns `None` if the type has no encoded form, if
    /// there are fewer than 4 bytes, or if there is no memory.
    pub fn encoded_from(of: MessageType, bytes: &[u8]) -> Option<Self> {
        if !of.has_encoding() || generic::check(bytes).is_err() {
            return None;
        }
        copied(of.table(), bytes).map(Self)
    }

    /// Returns the reference as a pointer, which keeps it until [`from_raw`](Self::from_raw).
    pub fn into_raw(self) -> NonNull<()> {
        self.0.into_raw()
    }

    /// Returns the reference that the pointer keeps; on any thread.
    ///
    /// # Safety
    /// The pointer comes from [`into_raw`](Self::into_raw), and gives up its reference here: it is
    /// not used for a second one. (`ManuallyDrop` borrows a message from a pointer that keeps it.)
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: passed on from the caller.
        Self(unsafe { RawMessage::from_raw(raw) })
    }

    /// Returns its type.
    pub fn message_type(&self) -> MessageType {
        MessageType::of_table(self.0.table())
    }

    /// Whether this is the only reference, and no other process reads the message: then its holder
    /// may change the value, or take it.
    pub fn is_sole(&self) -> bool {
        self.0.is_ownable()
    }

    /// Whether the message exists only in encoded form: it has no value.
    pub fn is_encoded(&self) -> bool {
        self.lent().is_encoded()
    }

    /// Returns the value's address, which stays the same while any reference lives; `None` for a
    /// message that is [encoded](Self::is_encoded). The value may be read, on any thread.
    pub fn value(&self) -> Option<NonNull<u8>> {
        self.lent().value()
    }

    /// Returns the value's address for changing it, if this is the [only](Self::is_sole) reference.
    pub fn value_mut(&mut self) -> Option<NonNull<u8>> {
        if self.is_sole() { self.value() } else { None }
    }

    /// Returns the encoded form of a message that is [encoded](Self::is_encoded), where it lies.
    pub fn encoded(&self) -> Option<&[u8]> {
        self.lent().encoded()
    }

    /// Returns the length of its encoded form in bytes; `None` if the type has none.
    pub fn encoded_length(&self) -> Option<usize> {
        self.lent().encoded_length()
    }

    /// Writes its encoded form to the beginning of `to` and returns its length in bytes. `None`,
    /// with nothing written, if the type has none or `to` is shorter.
    pub fn encode_into(&self, to: &mut [u8]) -> Option<usize> {
        self.lent().encode_into(to)
    }

    /// Converts it to a value: the same message if it has one, otherwise it is decoded into an
    /// allocation of its own.
    ///
    /// # Errors
    /// Returns [`DecodeError`] if the encoded form is not valid.
    pub fn into_value(self) -> Result<Self, DecodeError> {
        if !self.0.is_encoded() {
            return Ok(self);
        }
        let pool = Pool::of_table(self.0.table(), 0);
        self.0.decoded(&pool).map(Self)
    }

    /// Copies the value, into an allocation of its own. `None` if there is no value, or if the type
    /// can't copy it: that of Rust values only `Clone` does.
    pub fn duplicate(&self) -> Option<Self> {
        let clone = self.0.table().clone?;
        let from = self.value()?;
        let vacant = RawMessage::vacant(self.0.table());
        // SAFETY: the function is the type's own, the value is alive through `self`, the place is
        // vacant; if this panics, `vacant` frees the block.
        unsafe { clone.copy(from.as_ptr(), vacant.place().as_ptr()) };
        // SAFETY: the copy is there.
        Some(Self(unsafe { vacant.assume_filled() }))
    }

    /// Whether the value can be [taken](Self::into_adopted) at its own address: it was adopted, and
    /// this is the only reference.
    pub fn is_adopted(&self) -> bool {
        self.0.is_adopted()
    }

    /// Returns the value at its own address, with its memory, which the caller then has to destroy
    /// and free: the inverse of [`adopt`](Self::adopt).
    ///
    /// # Errors
    /// Returns the message if its value was not adopted, or if this is not the only reference.
    pub fn into_adopted(self) -> Result<NonNull<u8>, Self> {
        self.0.into_adopted().map_err(Self)
    }

    /// Returns the value if it is a `T`.
    pub fn value_of<T: sinew_msg::Message>(&self) -> Option<&T> {
        self.0.value_of::<T>()
    }

    /// Returns it as a message of Rust.
    ///
    /// # Errors
    /// Returns the message if it has no value, or one that is no `T`.
    pub fn into_shared<T: sinew_msg::Message>(self) -> Result<Shared<T>, Self> {
        if self.value_of::<T>().is_some() { Ok(Shared::assume(self.0)) } else { Err(self) }
    }

    /// Returns it as a message of Rust that the caller owns.
    ///
    /// # Errors
    /// As [`into_shared`](Self::into_shared), or if this is not the [only](Self::is_sole)
    /// reference.
    pub fn into_unique<T: sinew_msg::Message>(self) -> Result<Unique<T>, Self> {
        let is_mine = self.is_sole() && self.value_of::<T>().is_some();
        if is_mine { Ok(Unique::assume(self.0)) } else { Err(self) }
    }

    /// Returns `true` if both refer to the same message.
    pub fn ptr_eq(one: &Self, other: &Self) -> bool {
        RawMessage::ptr_eq(&one.0, &other.0)
    }

    fn lent(&self) -> MessageRef<'_> {
        MessageRef(&self.0)
    }
}

/// Copies an encoded form into memory of its own. Returns `None` if there is no memory.
fn copied(table: &'static TypeSupport, bytes: &[u8]) -> Option<RawMessage> {
    let mut encoded = OwnBytes::default();
    encoded.resize(bytes.len())?;
    encoded.bytes_mut().copy_from_slice(bytes);
    Some(RawMessage::encoded_kept_by(&Pool::for_encoded(table, 0), Backing::Own(encoded)))
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Self(self.0.another())
    }
}

/// A message that is lent for a call, to
/// [filters](crate::msg::SubscriptionBuilder::filter_erased). It adds no reference and gives none,
/// so the message stays the publisher's, who may still give it away with its ownership. Copying it
/// copies a pointer.
#[derive(Clone, Copy)]
pub struct MessageRef<'a>(&'a RawMessage);

impl<'a> MessageRef<'a> {
    pub(crate) fn of(message: &'a RawMessage) -> Self {
        Self(message)
    }

    /// Returns its type.
    pub fn message_type(self) -> MessageType {
        MessageType::of_table(self.0.table())
    }

    /// As [`Message::is_encoded`].
    pub fn is_encoded(self) -> bool {
        self.0.is_encoded() || self.0.table().is_generic()
    }

    /// Returns the value's address, as [`Message::value`]. The value may be read during the call.
    pub fn value(self) -> Option<NonNull<u8>> {
        if self.is_encoded() { None } else { Some(self.0.value()) }
    }

    /// As [`Message::encoded`].
    pub fn encoded(self) -> Option<&'a [u8]> {
        if self.0.table().is_generic() && !self.0.is_encoded() {
            // SAFETY: a type known by name and hash only; its values are these (`GenericType`). The
            // reference keeps it, and nothing changes it.
            let value = unsafe { self.0.value().cast::<SerializedMessage>().as_ref() };
            return Some(value.bytes());
        }
        self.0.encoded()
    }

    /// As [`Message::encoded_length`].
    pub fn encoded_length(self) -> Option<usize> {
        self.encoded().map(<[u8]>::len).or_else(|| self.0.encoded_length())
    }

    /// As [`Message::encode_into`].
    pub fn encode_into(self, to: &mut [u8]) -> Option<usize> {
        let length = self.encoded_length()?;
        let to = to.get_mut(..length)?;
        match self.encoded() {
            Some(bytes) => to.copy_from_slice(bytes),
            None => self.0.write_encoded(to),
        }
        Some(length)
    }

    /// Returns the value if it is a `T`.
    pub fn value_of<T: sinew_msg::Message>(self) -> Option<&'a T> {
        self.0.value_of::<T>()
    }
}

impl fmt::Debug for MessageRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_encoded() { "encoded" } else { "a value" };
        write!(f, "MessageRef({what}, {})", self.0.table().name())
    }
}

impl<T: sinew_msg::Message> From<Unique<T>> for Message {
    fn from(message: Unique<T>) -> Self {
        Self(message.erase())
    }
}

impl<T: sinew_msg::Message> From<Shared<T>> for Message {
    fn from(message: Shared<T>) -> Self {
        Self(message.erase())
    }
}

impl<T: sinew_msg::Message> From<Sample<T>> for Message {
    fn from(message: Sample<T>) -> Self {
        Self(message.erase())
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_encoded() { "encoded" } else { "a value" };
        write!(f, "Message({what}, {})", self.0.table().name())
    }
}

/// A place for a value that is about to become a message; from [`Message::uninit`] and
/// [`Publisher::uninit`](crate::erased::Publisher::uninit). Dropping it drops no value.
pub struct UninitMessage(Vacant);

impl UninitMessage {
    pub(crate) fn of(vacant: Vacant) -> Self {
        Self(vacant)
    }

    /// Returns the type of the value that belongs here.
    pub fn message_type(&self) -> MessageType {
        MessageType::of_table(self.0.table())
    }

    /// Returns the place for the value, with its type's layout. It is uninitialised.
    pub fn place(&self) -> NonNull<u8> {
        self.0.place()
    }

    /// Returns the message.
    ///
    /// # Safety
    /// A valid value of the type was written to the [place](Self::place).
    pub unsafe fn assume_init(self) -> Message {
        // SAFETY: passed on from the caller.
        Message(unsafe { self.0.assume_filled() })
    }
}

impl fmt::Debug for UninitMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UninitMessage({})", self.0.table().name())
    }
}

/// A message for a subscription's callback, which owns this reference to it.
pub struct Taken<'a> {
    /// The message.
    pub message: Message,
    about: &'a dyn Fn() -> MessageInfo,
}

impl<'a> Taken<'a> {
    pub(crate) fn new(message: RawMessage, about: &'a dyn Fn() -> MessageInfo) -> Self {
        Self { message: Message(message), about }
    }

    /// Returns its metadata. Reads a clock, so callbacks that need none pay nothing.
    pub fn info(&self) -> MessageInfo {
        (self.about)()
    }
}

impl fmt::Debug for Taken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taken").field("message", &self.message).finish_non_exhaustive()
    }
}
