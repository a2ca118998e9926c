//! Publishers.

use crate::handle::{self, handle};
use crate::message::{encoded_from, from_c, into_c, sinew_message, sinew_uninit_message};
use crate::message_info::sinew_gid;
use crate::message_type::{self, lacks, sinew_message_type};
use crate::node::sinew_node;
use crate::qos::{self, overrides, sinew_qos, sinew_qos_policy};
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::structure::{Place, Structure, structure};
use crate::text::{c_text, text};
use crate::time::{sinew_duration, timeout};
use crate::type_table::Checked;
use sinew::erased::{Hint, Message, Publisher};
use sinew::error::ErrorCode;
use sinew::msg::EncodedDraft;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{self, NonNull};

/// Sends messages of one type to all subscriptions of its topic. Any thread may publish, several at
/// once.
pub struct sinew_publisher {
    _opaque: (),
}
handle!(sinew_publisher: PublisherHandle);

/// A publisher with its topic as C reads it.
pub(crate) struct PublisherHandle {
    pub(crate) publisher: Publisher,
    topic: CString,
    /// Its type, if some values of it can't be published.
    checked: Option<Checked>,
}

impl PublisherHandle {
    /// Checks that a value can be published.
    ///
    /// # Safety
    /// The pointer is to a value of the publisher's type.
    #[inline]
    unsafe fn check(&self, value: NonNull<u8>) -> Result {
        // SAFETY: as the caller says.
        self.checked.map_or(Ok(()), |checked| unsafe { checked.check(value) })
    }

    /// Checks that a message can be published. One of another type is refused elsewhere.
    #[inline]
    fn check_message(&self, message: &Message) -> Result {
        match message.value().filter(|_| self.checked.is_some()) {
            // SAFETY: a value of the publisher's type.
            Some(value) if message.message_type() == self.publisher.message_type() => unsafe {
                self.check(value)
            },
            _ => Ok(()),
        }
    }
}

/// The options of [`sinew_publisher_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_publisher_options {
    /// `sizeof(struct sinew_publisher_options)`.
    pub size: usize,
    /// The QoS that it offers. Null: the default.
    pub qos: *const sinew_qos,
    /// The policies that parameters may change, added up: `SINEW_QOS_OVERRIDES_DEFAULT` are those
    /// of ROS 2. They are declared as `qos_overrides./TOPIC.publisher.depth` and so on.
    pub qos_overrides: sinew_qos_policy,
    /// Distinguishes it from the node's other publishers on the topic, in the names of these
    /// parameters: `publisher_ID`. Null: nothing does.
    pub qos_overrides_id: *const c_char,
    /// Whether it keeps its events, for `sinew_publisher_take_matched` and its like, and for
    /// `sinew_publisher_set_event_listener`. No executor has to run; one thread of the context
    /// notices missed deadlines and expired leases. Warnings of mismatches are not logged then.
    pub keep_events: bool,
    /// Whether `pool_capacity` counts. Otherwise it is 64, and more for publishers that keep all.
    pub has_pool_capacity: bool,
    /// The most messages in its pool. Each further one is allocated on its own.
    pub pool_capacity: usize,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_publisher_options {
    const NAME: &str = "sinew_publisher_options";
}

/// Makes a publisher. When this returns, it has matched the existing subscriptions.
///
/// `options` may be null. The caller frees `*publisher` with `sinew_publisher_free`; it keeps its
/// node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_new(
    node: *const sinew_node,
    topic: *const c_char,
    message_type: *const sinew_message_type,
    options: *const sinew_publisher_options,
    publisher: Option<&mut *mut sinew_publisher>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let topic = unsafe { text(topic, "topic") }?;
        // SAFETY: the caller's handle.
        let of = unsafe { message_type::get(message_type, "message_type") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's structure.
        let qos = unsafe { qos::qos(options.qos) }?;
        let mut builder = node.node.erased_publisher(topic, of).qos(qos);
        // SAFETY: the caller's text.
        if let Some(overrides) = unsafe { overrides(options.qos_overrides, options.qos_overrides_id) }? {
            builder = builder.qos_overrides(overrides);
        }
        if options.keep_events {
            builder = builder.keep_statuses();
        }
        if options.has_pool_capacity {
            builder = builder.pool_capacity(options.pool_capacity);
        }
        let place = publisher.ok_or_else(|| Failure::null("publisher"))?;
        let made = builder.create_erased()?;
        let topic = c_text(made.topic().to_owned());
        let checked = Checked::of(of);
        *place = handle::new(PublisherHandle { publisher: made.clone(), topic, checked });
        made.prefetch(handle::hint(*place));
        CODE.into_iter().for_each(|(function, bytes)| made.prefetch(Hint::new(function, bytes)));
        Ok(())
    })
}

/// The functions that publish a value, and the number of bytes that run.
const CODE: [(*const (), usize); 3] = [
    (sinew_publisher_publish_adopted as *const (), 320),
    (sinew_publisher_publish_value as *const (), 320),
    (Publisher::publish_adopted as *const (), 320),
];

/// Names memory that a program of another language touches each time before it publishes, for
/// example its own object for the publisher: a thread that wakes fetches it together with the
/// publisher's own memory. It may be gone later, as it is only named to the processor. No effect
/// after the first message that a thread publishes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_prefetch(
    publisher: *const sinew_publisher,
    start: *const c_void,
    bytes: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        publisher.prefetch(Hint::new(start.cast(), bytes));
        Ok(())
    })
}

/// Frees a publisher; null is allowed. Messages that it published stay where they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_free(publisher: *mut sinew_publisher) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(publisher, "publisher") };
}

/// Publishes, and drops the message after a failure.
#[inline]
pub(crate) fn publish(publisher: &Publisher, message: impl Into<Message>) -> Result {
    Ok(publisher.publish(message)?)
}

/// Reserves memory for an encoded form.
#[inline]
pub(crate) fn reserved(publisher: &Publisher, length: usize) -> Result<EncodedDraft> {
    publisher.draft(length).ok_or_else(|| none_reserved(publisher, length))
}

#[cold]
fn none_reserved(publisher: &Publisher, length: usize) -> Failure {
    let topic = publisher.topic();
    match publisher.message_type() {
        of if of.has_encoding() => Failure::new(
            ErrorCode::NoMemory,
            format_args!("there is no memory for a message of {length} bytes on {topic}"),
        ),
        of => lacks(of, ErrorCode::Unencodable, "encoded form"),
    }
}

/// Publishes a message: every matching subscription has it before this returns. Takes the reference
/// in any case, also after a failure.
///
/// A message with one reference is published with its ownership: one subscription that owns its
/// messages gets the value itself, at its address. A message in encoded form may have another type
/// with the same name and hash.
///
/// Blocks only if both ends are reliable and keep all, up to the QoS's `max_blocking_time`; then it
/// fails with `SINEW_ERROR_HISTORY_FULL`. Other failures: `SINEW_ERROR_OTHER_TYPE`,
/// `SINEW_ERROR_NO_SPACE`, `SINEW_ERROR_SHUTDOWN`, `SINEW_ERROR_UNENCODABLE` (the type's `check`
/// refused the value). After a failure no subscription has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_publish(
    publisher: *const sinew_publisher,
    message: *mut sinew_message,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's reference, given up here.
        let message = unsafe { from_c(message, "message") }?;
        // SAFETY: the caller's handle.
        let publisher = unsafe { handle::get(publisher, "publisher") }?;
        publisher.check_message(&message)?;
        publish(&publisher.publisher, message)
    })
}

/// Publishes a message by its encoded form, at least the 4 bytes of its header. The bytes are
/// copied once, to where subscriptions read them, and not checked: subscriptions that can't decode
/// them lose the message and report that. Fails as `sinew_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_publish_bytes(
    publisher: *const sinew_publisher,
    bytes: *const u8,
    length: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        // SAFETY: the caller's bytes.
        let bytes = unsafe { encoded_from(bytes, length) }?;
        let mut draft = reserved(publisher, length)?;
        draft.copy_from_slice(bytes);
        publish(publisher, draft)
    })
}

/// Publishes a copy of a value of the publisher's type, which stays the caller's. If only
/// subscriptions of other processes get it, it is encoded where it is. Fails as
/// `sinew_publisher_publish`, and with `SINEW_ERROR_NO_CLONE` if the type can't be copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_publish_value(
    publisher: *const sinew_publisher,
    value: *const c_void,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let handle = unsafe { handle::get(publisher, "publisher") }?;
        let publisher = &handle.publisher;
        let value = NonNull::new(value.cast_mut()).ok_or_else(|| Failure::null("value"))?;
        // SAFETY: the caller's value.
        unsafe { handle.check(value.cast()) }?;
        // SAFETY: the caller's value, which nothing changes meanwhile.
        let published = unsafe { publisher.publish_copy(value.cast()) };
        let no_clone = || lacks(publisher.message_type(), ErrorCode::NoClone, "clone function");
        Ok(published.ok_or_else(no_clone)??)
    })
}

/// Makes a message of a value where it lies, as `sinew_message_adopt`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_adopt(
    publisher: *const sinew_publisher,
    value: *mut c_void,
    message: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        let value = NonNull::new(value.cast()).ok_or_else(|| Failure::null("value"))?;
        let place = message.ok_or_else(|| Failure::null("message"))?;
        // SAFETY: the caller's value, given up here.
        *place = into_c(unsafe { adopted(publisher, value) }?);
        Ok(())
    })
}

/// # Safety
/// At the pointer is a value of the publisher's type that belongs to the caller, who gives it up.
unsafe fn adopted(publisher: &Publisher, value: NonNull<u8>) -> Result<Message> {
    // SAFETY: as the caller says.
    unsafe { publisher.adopt(value) }.ok_or_else(|| no_free(publisher))
}

#[cold]
fn no_free(publisher: &Publisher) -> Failure {
    lacks(publisher.message_type(), ErrorCode::InvalidTypeTable, "free function")
}

/// Publishes a value where it lies, for example one that a `unique_ptr` released, with its
/// ownership, as `sinew_publisher_publish`.
///
/// The value is the library's, also after a failure, which destroys and frees it; but it is still
/// the caller's after `SINEW_ERROR_NULL_ARGUMENT`, `SINEW_ERROR_INVALID_HANDLE`, and
/// `SINEW_ERROR_INVALID_TYPE_TABLE`, which says that the type has no `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_publish_adopted(
    publisher: *const sinew_publisher,
    value: *mut c_void,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let handle = unsafe { handle::get(publisher, "publisher") }?;
        let publisher = &handle.publisher;
        let value = NonNull::new(value.cast()).ok_or_else(|| Failure::null("value"))?;
        // SAFETY: the caller's value.
        if let Err(refused) = unsafe { handle.check(value) } {
            // SAFETY: the same, given up here.
            drop(unsafe { adopted(publisher, value) }?);
            return Err(refused);
        }
        // SAFETY: the caller's value, given up here.
        let published = unsafe { publisher.publish_adopted(value) };
        Ok(published.ok_or_else(|| no_free(publisher))??)
    })
}

/// Gets a message from the publisher's pool, to be changed in place (`sinew_message_value_mut`) and
/// published. It holds the content of an earlier message, with all its capacity, or a first value
/// by the type's `create`. Fails with `SINEW_ERROR_INVALID_TYPE_TABLE` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_loan(
    publisher: *const sinew_publisher,
    message: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        let place = message.ok_or_else(|| Failure::null("message"))?;
        let no_create = || lacks(publisher.message_type(), ErrorCode::InvalidTypeTable, "create function");
        *place = into_c(publisher.loan().ok_or_else(no_create)?);
        Ok(())
    })
}

/// Gets a place for a value in the publisher's pool, for a placement `new`. Once the pool is warm,
/// allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_uninit(
    publisher: *const sinew_publisher,
    uninit: Option<&mut *mut sinew_uninit_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        handle::put(uninit, "uninit", publisher.uninit())
    })
}

/// Returns the topic's full name, after remapping. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_topic(publisher: *const sinew_publisher) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(ptr::null(), || Ok(unsafe { handle::get(publisher, "publisher") }?.topic.as_ptr()))
}

/// Returns the type of its messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_message_type(
    publisher: *const sinew_publisher,
) -> *const sinew_message_type {
    answer(ptr::null(), || {
        // SAFETY: the caller's handle.
        let publisher = unsafe { handle::get(publisher, "publisher") }?;
        Ok(message_type::into_c(publisher.publisher.message_type()))
    })
}

/// Gets its identity, as in the `sinew_message_info` of its messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_gid(
    publisher: *const sinew_publisher,
    gid: Option<&mut sinew_gid>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = unsafe { handle::get(publisher, "publisher") }?;
        put(gid, "gid", publisher.publisher.gid().into())
    })
}

/// Gets the QoS that it offers: what was left to other ends is chosen. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_qos(
    publisher: *const sinew_publisher,
    qos: *mut sinew_qos,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = unsafe { handle::get(publisher, "publisher") }?;
        // SAFETY: the caller's structure.
        unsafe { qos::write(qos, &publisher.publisher.qos()) }
    })
}

/// Returns the number of subscriptions that match now, in all processes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_subscription_count(publisher: *const sinew_publisher) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(publisher, "publisher") }?.publisher.subscription_count()))
}

/// Waits until at least `count` subscriptions match. Fails with `SINEW_ERROR_TIMEOUT` after the
/// timeout, or when the context is shut down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_wait_for_subscriptions(
    publisher: *const sinew_publisher,
    count: usize,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        if publisher.wait_for_subscribers(count, self::timeout(timeout)) {
            return Ok(());
        }
        let (topic, matched) = (publisher.topic(), publisher.subscription_count());
        let sentence = format_args!(
            "{matched} of {count} subscriptions to {topic} matched in time, or before the context was shut down"
        );
        Err(Failure::new(ErrorCode::Timeout, sentence))
    })
}

/// Waits until the reliable subscriptions of other processes have read what was published. Fails
/// with `SINEW_ERROR_TIMEOUT` after the timeout, or when the context is shut down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_wait_for_all_acked(
    publisher: *const sinew_publisher,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        if publisher.wait_for_all_acked(self::timeout(timeout)) {
            return Ok(());
        }
        let sentence = format_args!(
            "not all messages on {} were read in time, or before the context was shut down",
            publisher.topic()
        );
        Err(Failure::new(ErrorCode::Timeout, sentence))
    })
}

/// Asserts its liveliness, if that is manual by topic. Publishing does so, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_assert_liveliness(
    publisher: *const sinew_publisher,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(publisher, "publisher") }?.publisher.assert_liveliness();
        Ok(())
    })
}

/// A publisher's counters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_publisher_statistics {
    /// `sizeof(struct sinew_publisher_statistics)`.
    pub size: usize,
    /// Messages published.
    pub published: u64,
    /// Copies that were made to publish, or for subscriptions that own their messages.
    pub copies: u64,
    /// Encodings of values that are not plain.
    pub encodings: u64,
    /// Decodings of messages that were published in their encoded form.
    pub decodings: u64,
    /// Messages that were published in their encoded form.
    pub drafts: u64,
    /// Messages retained for late joiners now.
    pub retained: u64,
    /// Blocks of its pool, free or lent.
    pub pooled: u64,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_publisher_statistics {
    const NAME: &str = "sinew_publisher_statistics";
}

/// Gets its counters. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_read_statistics(
    publisher: *const sinew_publisher,
    statistics: *mut sinew_publisher_statistics,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = unsafe { handle::get(publisher, "publisher") }?;
        // SAFETY: the caller's structure.
        let place = unsafe { Place::new(statistics, "statistics") }?;
        let counted = publisher.publisher.statistics();
        place.fill(sinew_publisher_statistics {
            size: size_of::<sinew_publisher_statistics>(),
            published: counted.published,
            copies: counted.copies,
            encodings: counted.encodings,
            decodings: counted.decodings,
            drafts: counted.drafts,
            retained: counted.retained,
            pooled: counted.pooled,
        });
        Ok(())
    })
}
