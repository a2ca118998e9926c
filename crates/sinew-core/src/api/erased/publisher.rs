//! Publishers of messages of any type.

use crate::api::handlers::Handlers;
use crate::api::node::NodeCore;
use crate::executor::prefetch::Hint;
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::message::erased::{Message, UninitMessage};
use crate::message::registered::MessageType;
use crate::message::work::CopyWork;
use crate::ros::failure::PublishFailure;
use crate::ros::qos::QoS;
use crate::sys::sync::Arc;
use crate::topic::copy_plan::Ownership;
use crate::topic::publisher_core::PublisherCore;
use crate::topic::recipients::Unpublished;
use crate::topic::strategy::Form;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::time::Duration;

/// An entity that sends messages of a [`MessageType`] to all subscriptions of its topic.
///
/// Made by [`Node::erased_publisher`](crate::Node::erased_publisher). The documentation of
/// [`Publisher<T>`](crate::Publisher), a shell over this type, holds here as well.
#[must_use = "a publisher ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _publisher = ..`), or `detach()` it"]
#[derive(Clone)]
pub struct Publisher {
    /// For publishing without going through `inner`.
    pub(in crate::api) core: Arc<PublisherCore>,
    pub(in crate::api) inner: Arc<PublisherInner>,
}

/// The part that is dropped with the last handle.
pub(in crate::api) struct PublisherInner {
    pub(in crate::api) core: Arc<PublisherCore>,
    pub(in crate::api) handlers: Handlers,
    pub(in crate::api) node: Arc<NodeCore>,
}

impl Publisher {
    pub(in crate::api) fn of(inner: PublisherInner) -> Self {
        Self { core: inner.core.clone(), inner: Arc::new(inner) }
    }

    /// Returns the type of its messages. (It has no clone function for a Rust type: subscriptions
    /// that own their messages have it.)
    pub fn message_type(&self) -> MessageType {
        MessageType::of_table(self.core.table)
    }

    /// Returns a message from the publisher's pool, to be changed in place and published: it holds
    /// the content of an earlier message, with all its capacity, or a [first
    /// value](crate::erased::TypeTable::create). As [`Publisher::loan`](crate::Publisher::loan).
    /// Returns `None` if the type has no first value.
    pub fn loan(&self) -> Option<Message> {
        self.core.loan_shared().or_else(|| self.core.pool.loan_erased()).map(Message::of)
    }

    /// Returns a place for a value in the publisher's pool. Once the pool is warm, allocates
    /// nothing.
    pub fn uninit(&self) -> UninitMessage {
        UninitMessage::of(self.core.pool.vacant())
    }

    /// As [`Message::adopt`], for a value of the publisher's type.
    ///
    /// # Safety
    /// As for [`Message::adopt`].
    pub unsafe fn adopt(&self, value: NonNull<u8>) -> Option<Message> {
        if !self.core.table.adopts() {
            return None;
        }
        // SAFETY: passed on from the caller; the pool is for values of this type.
        Some(Message::of(unsafe { RawMessage::adopt_raw(self.core.table, value) }))
    }

    /// Copies a value into the publisher's pool, for a caller that keeps its own. Once the pool is
    /// warm, allocates only what the type's [`clone`](crate::erased::TypeTable::clone) does. Returns
    /// `None` if the table has none, as that of a Rust type.
    ///
    /// ```
    /// use sinew::erased::{MessageType, TypeTable};
    /// use sinew::prelude::Context;
    /// use std::alloc::Layout;
    /// use std::ptr::NonNull;
    ///
    /// unsafe fn clone(_: *const (), from: *const u8, place: *mut u8) {
    ///     // SAFETY: both are `u64`s, as the table's layout says.
    ///     unsafe { place.cast::<u64>().write(*from.cast::<u64>()) }
    /// }
    /// let mut table = TypeTable::new("number", Layout::new::<u64>());
    /// table.clone = Some(clone);
    /// // SAFETY: the function does what it should, on any thread, until the process ends.
    /// let number = unsafe { MessageType::register(None, table) }?;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let publisher = context.node("binding")?.erased_publisher("numbers", number).create_erased()?;
    /// let mine = 7_u64;
    /// // SAFETY: a value of the type, which nothing changes meanwhile.
    /// let message = unsafe { publisher.copy(NonNull::from(&mine).cast()) }.expect("it can be copied");
    /// publisher.publish(message)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// At `value` is a valid value of the type, which nothing changes during the call.
    pub unsafe fn copy(&self, value: NonNull<u8>) -> Option<Message> {
        let clone = self.core.table.clone?;
        let vacant = self.core.pool.vacant();
        // SAFETY: the function is the type's own, the caller's value is valid, the place is vacant;
        // if this panics, `vacant` gives the block back.
        unsafe { clone.copy(value.as_ptr(), vacant.place().as_ptr()) };
        self.core.count(CopyWork::COPY);
        // SAFETY: the copy is there.
        Some(Message::of(unsafe { vacant.assume_filled() }))
    }

    /// Publishes a value that stays the caller's: encodes it where it is if only subscriptions of
    /// other processes get it, otherwise [copies](Self::copy) it first. Returns `None` if it would
    /// have to be copied, and the type has no [`clone`](crate::erased::TypeTable::clone). Otherwise
    /// as [`publish`](Self::publish).
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    pub unsafe fn publish_copy(&self, value: NonNull<u8>) -> Option<Result<(), PublishError>> {
        self.core.note();
        // SAFETY: passed on from the caller.
        if unsafe { self.core.publish_value_at(value.as_ptr()) } {
            return Some(Ok(()));
        }
        // SAFETY: passed on from the caller.
        let copy = unsafe { self.copy(value) }?;
        Some(self.send(copy.into_inner(), Form::of_value(Ownership::Unique)))
    }

    /// [Adopts](Self::adopt) a value and publishes it, with its ownership. Returns `None`, with the
    /// value unchanged, if the type has no [`free`](crate::erased::TypeTable::free). Otherwise as
    /// [`publish`](Self::publish); the value is given up also after a failure.
    ///
    /// # Safety
    /// As for [`Message::adopt`].
    pub unsafe fn publish_adopted(&self, value: NonNull<u8>) -> Option<Result<(), PublishError>> {
        self.core.note();
        // SAFETY: passed on from the caller.
        let message = unsafe { self.adopt(value) }?;
        Some(self.send(message.into_inner(), Form::of_value(Ownership::Unique)))
    }

    /// Reserves memory for a message of `length` encoded bytes: where other processes will read it,
    /// if they have a matching subscription. The memory contains old content. Returns `None` if
    /// there is no memory, or the type has no encoded form.
    pub fn draft(&self, length: usize) -> Option<EncodedDraft> {
        self.core.table.encoded.as_ref()?;
        self.core.encoded_of(length).map(EncodedDraft)
    }

    /// Publishes a message: delivers it to every matching subscription before this returns. A
    /// message with one reference is published with its ownership: one subscription that owns its
    /// messages gets the value itself, at its address. A message in encoded form may have another
    /// type with the same name and hash: it gets the publisher's type, and its bytes are copied
    /// only if there are other references to it. Otherwise as
    /// [`Publisher::publish`](crate::Publisher::publish).
    ///
    /// # Errors
    /// The message comes back in the error, and no subscription got it; see [`PublishFailure`]. An
    /// encoded form shorter than its header is [`PublishFailure::Undecodable`].
    pub fn publish(&self, message: impl Into<Message>) -> Result<(), PublishError> {
        let message = message.into();
        let own = self.core.table;
        if !message.fits(own) {
            let other = message.message_type().name();
            let failure = PublishFailure::OtherType { publisher: own.name(), message: other };
            return Err(PublishError { failure, message });
        }
        let message = message
            .into_type(own)
            .map_err(|message| PublishError { failure: PublishFailure::Undecodable, message })?;
        self.core.note();
        let form = match message.is_encoded() {
            true => Form::ENCODED,
            false if message.is_ownable() => Form::of_value(Ownership::Unique),
            false => Form::of_value(Ownership::Shared),
        };
        self.send(message, form)
    }

    #[inline(always)] // in the library for C as well, which is optimised for size
    fn send(&self, message: RawMessage, form: Form) -> Result<(), PublishError> {
        self.core.publish(message, form).map_err(|(message, reason)| PublishError {
            failure: self.failure(reason),
            message: Message::of(message),
        })
    }

    /// Returns the reason in the form that the program gets.
    #[cold]
    pub(in crate::api) fn failure(&self, reason: Unpublished) -> PublishFailure {
        match reason {
            Unpublished::Shutdown | Unpublished::Closed => PublishFailure::Shutdown,
            Unpublished::Full => PublishFailure::Full { waited: self.core.qos.max_blocking_time },
            Unpublished::WouldDeadlock => PublishFailure::WouldDeadlock,
            Unpublished::NoSpace { wanted, free, size } => PublishFailure::NoSpace { wanted, free, size },
            Unpublished::Undecodable => PublishFailure::Undecodable,
        }
    }

    /// Names memory that a binding touches with each publish, and its code: a thread that wakes
    /// fetches it together with the publisher's own. No effect after the first publish of a thread.
    pub fn prefetch(&self, hint: Hint) {
        self.core.binding.lock().push(hint);
    }

    /// Returns the topic's full name, after remapping.
    pub fn topic(&self) -> &str {
        &self.core.topic
    }

    /// Returns the QoS that it offers.
    pub fn qos(&self) -> QoS {
        self.core.qos
    }

    /// Returns its identity, as in [`MessageInfo::publisher`](crate::MessageInfo::publisher).
    pub fn gid(&self) -> Gid {
        Gid::new(self.core.session.participant, self.core.number())
    }

    /// Returns the number of subscriptions that match now.
    pub fn subscription_count(&self) -> usize {
        self.core.match_listeners.matched_now()
    }

    /// As [`Publisher::wait_for_subscribers`](crate::Publisher::wait_for_subscribers).
    pub fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> bool {
        let context = &self.inner.node.context;
        let enough = || self.core.match_listeners.matched_now() >= count;
        context.graph.wait_until(enough, || context.session.has_ended(), timeout)
    }

    /// As [`Publisher::wait_for_all_acked`](crate::Publisher::wait_for_all_acked).
    pub fn wait_for_all_acked(&self, timeout: Duration) -> bool {
        self.core.wait_until_read(timeout)
    }

    /// As [`Publisher::assert_liveliness`](crate::Publisher::assert_liveliness).
    pub fn assert_liveliness(&self) {
        if let Some(lease) = &self.core.promised.lease {
            lease.assert();
        }
    }

    /// Returns its counters.
    pub fn statistics(&self) -> PublisherStatistics {
        let sent = self.core.sent();
        PublisherStatistics {
            published: sent.published,
            copies: sent.work.copies,
            encodings: sent.work.encodings,
            decodings: sent.work.decodings,
            drafts: sent.work.encoded,
            retained: sent.retained as u64,
            pooled: self.core.pool.made() as u64,
        }
    }

    /// Keeps it until the context ends; as [`Publisher::detach`](crate::Publisher::detach).
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("topic", &self.topic())
            .field("qos", &self.qos())
            .finish_non_exhaustive()
    }
}

impl Drop for PublisherInner {
    fn drop(&mut self) {
        self.node.context.graph.remove_publisher(&self.core);
        self.core.close();
        self.handlers.deregister(false);
    }
}

/// A publisher's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PublisherStatistics {
    /// Messages published.
    pub published: u64,
    /// Copies: of a published `&T`; for subscriptions that own their messages (a copy made when a
    /// message is taken counts for the subscription); and, into the memory where other processes
    /// read them, of the bytes of encoded messages and of plain values that weren't
    /// [lent](crate::Publisher::loan). (Up to 456 such bytes don't count: they lie in the ring
    /// itself.)
    pub copies: u64,
    /// Encodings of values that are not plain: for other processes, once for all of them, and for
    /// subscriptions of this process that take another Rust type.
    pub encodings: u64,
    /// Decodings of messages that were published here in their encoded form, for subscriptions of
    /// this process that take values, or another Rust type.
    pub decodings: u64,
    /// Messages that were published in their encoded form: [drafts](crate::Publisher::draft), and
    /// [samples](crate::msg::Sample) that were [edited](crate::Publisher::edit) or passed on.
    pub drafts: u64,
    /// Messages retained for late joiners now.
    pub retained: u64,
    /// Blocks of its pool, free or lent.
    pub pooled: u64,
}

/// A message that was not published, and the reason. No subscription got it.
pub struct PublishError {
    failure: PublishFailure,
    message: Message,
}

impl PublishError {
    /// Returns the reason why it was not published.
    pub fn failure(&self) -> PublishFailure {
        self.failure
    }

    /// Returns the message.
    pub fn into_message(self) -> Message {
        self.message
    }
}

impl fmt::Debug for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return crate::sys::says::say(self, f);
        }
        f.debug_struct("PublishError").field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for PublishError {}

/// A message to be written in its encoded form, where it will be published; from
/// [`Publisher::encoded_draft`](crate::Publisher::encoded_draft) and [`Publisher::draft`]. Dropping
/// it publishes nothing.
///
/// A serializer that learns the length only while it writes reserves the maximum, and
/// [truncates](Self::truncate) the draft afterwards.
pub struct EncodedDraft(pub(in crate::api) RawMessage);

impl EncodedDraft {
    /// Cuts the message to its first `length` bytes. All subscriptions, in this process, in others
    /// and beyond a gateway, get a message of that length. The memory reserved for the draft keeps
    /// its size until the message is released: nothing is copied or allocated.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::msg::TypeHash;
    /// let node = Context::builder().shared_memory(false).build()?.node("camera")?;
    /// let of = sinew::msg::GenericType::new("std_msgs/msg/Empty", TypeHash([1; 32])).expect("a name");
    /// let publisher = node.generic_publisher("frames", of).create()?;
    /// let mut draft = publisher.encoded_draft(1000).expect("there is memory");
    /// draft[..5].copy_from_slice(&[0, 1, 0, 0, 0]); // fewer bytes than reserved
    /// draft.truncate(5);
    /// assert_eq!(*draft, [0, 1, 0, 0, 0]);
    /// publisher.publish(draft)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `length` is more than the length of the draft.
    pub fn truncate(&mut self, length: usize) {
        let reserved = self.len();
        assert!(length <= reserved, "a draft of {reserved} bytes can't be truncated to {length}");
        self.0.truncate_encoded(length);
    }
}

impl Deref for EncodedDraft {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.encoded().unwrap_or_default()
    }
}

impl DerefMut for EncodedDraft {
    #[inline(always)] // in the library for C as well, which is optimised for size
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.encoded_mut().unwrap_or_default()
    }
}

impl fmt::Debug for EncodedDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncodedDraft({} bytes)", self.len())
    }
}

/// The bytes are not checked: subscriptions that can't decode them lose the message, and report the
/// loss.
impl From<EncodedDraft> for Message {
    fn from(draft: EncodedDraft) -> Self {
        Message::of(draft.0)
    }
}
