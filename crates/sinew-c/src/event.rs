//! Events of publishers and subscriptions: statuses that an endpoint keeps, to be taken or listened
//! to.

use crate::closure::{Closure, ListenerClosure, listener, sinew_listener};
use crate::handle;
use crate::owned::sinew_drop;
use crate::publisher::sinew_publisher;
use crate::qos::{policy, sinew_qos_policy};
use crate::status::{Failure, Result, sinew_status, status};
use crate::structure::{Place, Structure};
use crate::subscription::sinew_subscription;
use sinew::erased::{Publisher, Subscription};
use sinew::error::ErrorCode;
use sinew::event::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed, StatusOf,
};
use std::ffi::{c_char, c_int, c_void};
use std::fmt::Display;

/// An event of an endpoint that keeps its events: `SINEW_EVENT_..`.
pub type sinew_event = c_int;

/// An end of the other kind matched, or ceased to match.
pub const SINEW_EVENT_MATCHED: sinew_event = 1;
/// The topic has an end with an incompatible QoS.
pub const SINEW_EVENT_INCOMPATIBLE_QOS: sinew_event = 2;
/// The topic has an end with another type.
pub const SINEW_EVENT_INCOMPATIBLE_TYPE: sinew_event = 3;
/// The publisher was silent for longer than it offers, or the subscription for longer than it
/// requests.
pub const SINEW_EVENT_DEADLINE_MISSED: sinew_event = 4;
/// Of a publisher: its lease expired.
pub const SINEW_EVENT_LIVELINESS_LOST: sinew_event = 5;
/// Of a subscription: a publisher came or went, its lease expired, or it lives again.
pub const SINEW_EVENT_LIVELINESS_CHANGED: sinew_event = 6;
/// Of a subscription: messages were lost.
pub const SINEW_EVENT_MESSAGE_LOST: sinew_event = 7;

/// The number of bytes of a sentence in an event, with its NUL. A longer one ends with "..".
pub const SINEW_EVENT_SENTENCE: usize = 512;

/// Ends of the other kind that match. `rmw_matched_status_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_matched {
    /// `sizeof(struct sinew_matched)`.
    pub size: usize,
    /// The number of ends that have ever matched.
    pub total: u64,
    /// The number of them since it was taken last.
    pub total_change: u64,
    /// The number of ends that match now.
    pub current: u64,
    /// The change of `current` since it was taken last.
    pub current_change: i64,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers. So it is of those below.
unsafe impl Structure for sinew_matched {
    const NAME: &str = "sinew_matched";
}

/// Ends of the same topic that request or offer an incompatible QoS.
/// `rmw_qos_incompatible_event_status_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_incompatible_qos {
    /// `sizeof(struct sinew_incompatible_qos)`.
    pub size: usize,
    /// The number of such ends.
    pub total: u64,
    /// The number of them since it was taken last.
    pub total_change: u64,
    /// The policy that prevented the last match; 0: none has been prevented.
    pub last_policy: sinew_qos_policy,
    /// The node of the last one, and the offered and the requested value.
    pub last_reason: [c_char; SINEW_EVENT_SENTENCE],
}

// SAFETY: as above.
unsafe impl Structure for sinew_incompatible_qos {
    const NAME: &str = "sinew_incompatible_qos";
}

/// Ends of the same topic that have another type. `rmw_incompatible_type_status_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_incompatible_type {
    /// `sizeof(struct sinew_incompatible_type)`.
    pub size: usize,
    /// The number of such ends.
    pub total: u64,
    /// The number of them since it was taken last.
    pub total_change: u64,
    /// The node of the last one, and its type.
    pub last_reason: [c_char; SINEW_EVENT_SENTENCE],
}

// SAFETY: as above.
unsafe impl Structure for sinew_incompatible_type {
    const NAME: &str = "sinew_incompatible_type";
}

/// Missed deadlines: one for each period without a message. `rmw_offered_deadline_missed_status_t`,
/// `rmw_requested_deadline_missed_status_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_deadline_missed {
    /// `sizeof(struct sinew_deadline_missed)`.
    pub size: usize,
    /// The number of missed periods.
    pub total: u64,
    /// The number of them since it was taken last.
    pub total_change: u64,
}

// SAFETY: as above.
unsafe impl Structure for sinew_deadline_missed {
    const NAME: &str = "sinew_deadline_missed";
}

/// Expired leases of a publisher. `rmw_liveliness_lost_status_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_liveliness_lost {
    /// `sizeof(struct sinew_liveliness_lost)`.
    pub size: usize,
    /// The number of expiries.
    pub total: u64,
    /// The number of them since it was taken last.
    pub total_change: u64,
}

// SAFETY: as above.
unsafe impl Structure for sinew_liveliness_lost {
    const NAME: &str = "sinew_liveliness_lost";
}

/// Publishers that match a subscription. `rmw_liveliness_changed_status_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_liveliness_changed {
    /// `sizeof(struct sinew_liveliness_changed)`.
    pub size: usize,
    /// The number of them that are alive now.
    pub alive: u64,
    /// The number of them that exist, but have given no sign of life within their lease.
    pub not_alive: u64,
    /// The change of `alive` since it was taken last.
    pub alive_change: i64,
    /// The change of `not_alive` since it was taken last.
    pub not_alive_change: i64,
}

// SAFETY: as above.
unsafe impl Structure for sinew_liveliness_changed {
    const NAME: &str = "sinew_liveliness_changed";
}

/// Lost messages of a subscription: they gave way to newer ones, found its history full, could not
/// be decoded, or were lost on the network. `rmw_message_lost_status_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_message_lost {
    /// `sizeof(struct sinew_message_lost)`.
    pub size: usize,
    /// The number of lost messages.
    pub total: u64,
    /// The number of them since it was taken last.
    pub total_change: u64,
    /// The number of messages in `total` that could not be decoded.
    pub undecodable: u64,
    /// The problem with the last one of these; empty if there was none.
    pub last_problem: [c_char; SINEW_EVENT_SENTENCE],
}

// SAFETY: as above.
unsafe impl Structure for sinew_message_lost {
    const NAME: &str = "sinew_message_lost";
}

/// Writes a sentence into an event.
fn sentence(text: impl Display) -> [c_char; SINEW_EVENT_SENTENCE] {
    const MOST: usize = SINEW_EVENT_SENTENCE - 1;
    let mut text = text.to_string();
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST - 2));
        text.push_str("..");
    }
    let mut sentence = [0; SINEW_EVENT_SENTENCE];
    for (to, from) in sentence.iter_mut().zip(text.bytes()) {
        *to = from.cast_signed() as c_char;
    }
    sentence
}

/// A Rust status in C's form.
trait InC {
    type Form: Structure;

    fn in_c(self) -> Self::Form;
}

impl InC for Matched {
    type Form = sinew_matched;

    fn in_c(self) -> sinew_matched {
        let Self { total, total_change, current, current_change, .. } = self;
        let (current, current_change) = (current as u64, current_change as i64);
        sinew_matched { size: size_of::<sinew_matched>(), total, total_change, current, current_change }
    }
}

impl InC for IncompatibleQos {
    type Form = sinew_incompatible_qos;

    fn in_c(self) -> sinew_incompatible_qos {
        sinew_incompatible_qos {
            size: size_of::<sinew_incompatible_qos>(),
            total: self.total,
            total_change: self.total_change,
            last_policy: policy(self.last_policy),
            last_reason: sentence(&self.last_reason),
        }
    }
}

impl InC for IncompatibleType {
    type Form = sinew_incompatible_type;

    fn in_c(self) -> sinew_incompatible_type {
        sinew_incompatible_type {
            size: size_of::<sinew_incompatible_type>(),
            total: self.total,
            total_change: self.total_change,
            last_reason: sentence(&self.last_reason),
        }
    }
}

fn deadline_missed(total: u64, total_change: u64) -> sinew_deadline_missed {
    sinew_deadline_missed { size: size_of::<sinew_deadline_missed>(), total, total_change }
}

impl InC for OfferedDeadlineMissed {
    type Form = sinew_deadline_missed;

    fn in_c(self) -> sinew_deadline_missed {
        deadline_missed(self.total, self.total_change)
    }
}

impl InC for RequestedDeadlineMissed {
    type Form = sinew_deadline_missed;

    fn in_c(self) -> sinew_deadline_missed {
        deadline_missed(self.total, self.total_change)
    }
}

impl InC for LivelinessLost {
    type Form = sinew_liveliness_lost;

    fn in_c(self) -> sinew_liveliness_lost {
        let Self { total, total_change, .. } = self;
        sinew_liveliness_lost { size: size_of::<sinew_liveliness_lost>(), total, total_change }
    }
}

impl InC for LivelinessChanged {
    type Form = sinew_liveliness_changed;

    fn in_c(self) -> sinew_liveliness_changed {
        sinew_liveliness_changed {
            size: size_of::<sinew_liveliness_changed>(),
            alive: self.alive as u64,
            not_alive: self.not_alive as u64,
            alive_change: self.alive_change as i64,
            not_alive_change: self.not_alive_change as i64,
        }
    }
}

impl InC for MessageLost {
    type Form = sinew_message_lost;

    fn in_c(self) -> sinew_message_lost {
        sinew_message_lost {
            size: size_of::<sinew_message_lost>(),
            total: self.total,
            total_change: self.total_change,
            undecodable: self.undecodable,
            last_problem: self.last_problem.map_or([0; SINEW_EVENT_SENTENCE], sentence),
        }
    }
}

fn not_kept(end: &str, topic: &str) -> Failure {
    let sentence = format_args!("the {end} on {topic} keeps no events: set `.keep_events` of its options");
    Failure::new(ErrorCode::NotKept, sentence)
}

/// Takes an event of a publisher.
///
/// # Safety
/// The pointers are null or valid.
unsafe fn take_of_publisher<E: StatusOf<Publisher> + InC>(
    publisher: *const sinew_publisher,
    event: *mut E::Form,
) -> sinew_status {
    status(|| {
        // SAFETY: as the caller says.
        let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
        // SAFETY: as the caller says.
        let place = unsafe { Place::new(event, "event") }?;
        let taken = publisher.take_status::<E>();
        place.fill(taken.ok_or_else(|| not_kept("publisher", publisher.topic()))?.in_c());
        Ok(())
    })
}

/// Takes an event of a subscription.
///
/// # Safety
/// The pointers are null or valid.
unsafe fn take_of_subscription<E: StatusOf<Subscription> + InC>(
    subscription: *const sinew_subscription,
    event: *mut E::Form,
) -> sinew_status {
    status(|| {
        // SAFETY: as the caller says.
        let subscription = &unsafe { handle::get(subscription, "subscription") }?.subscription;
        // SAFETY: as the caller says.
        let place = unsafe { Place::new(event, "event") }?;
        let taken = subscription.take_status::<E>();
        place.fill(taken.ok_or_else(|| not_kept("subscription", subscription.topic()))?.in_c());
        Ok(())
    })
}

/// Takes the subscriptions that match: totals, and the changes since it was taken last, which begin
/// anew. The caller sets the `size` of the event. Fails with `SINEW_ERROR_NOT_KEPT` if the
/// publisher doesn't keep its events. Never blocks. So do all functions that take an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_take_matched(
    publisher: *const sinew_publisher,
    event: *mut sinew_matched,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_publisher::<Matched>(publisher, event) }
}

/// Takes the subscriptions that request an incompatible QoS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_take_incompatible_qos(
    publisher: *const sinew_publisher,
    event: *mut sinew_incompatible_qos,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_publisher::<IncompatibleQos>(publisher, event) }
}

/// Takes the subscriptions that have another type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_take_incompatible_type(
    publisher: *const sinew_publisher,
    event: *mut sinew_incompatible_type,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_publisher::<IncompatibleType>(publisher, event) }
}

/// Takes the periods of the offered deadline in which nothing was published.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_take_deadline_missed(
    publisher: *const sinew_publisher,
    event: *mut sinew_deadline_missed,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_publisher::<OfferedDeadlineMissed>(publisher, event) }
}

/// Takes the expiries of the publisher's lease.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_take_liveliness_lost(
    publisher: *const sinew_publisher,
    event: *mut sinew_liveliness_lost,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_publisher::<LivelinessLost>(publisher, event) }
}

/// Takes the publishers that match.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_take_matched(
    subscription: *const sinew_subscription,
    event: *mut sinew_matched,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_subscription::<Matched>(subscription, event) }
}

/// Takes the publishers that offer an incompatible QoS.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_take_incompatible_qos(
    subscription: *const sinew_subscription,
    event: *mut sinew_incompatible_qos,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_subscription::<IncompatibleQos>(subscription, event) }
}

/// Takes the publishers that have another type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_take_incompatible_type(
    subscription: *const sinew_subscription,
    event: *mut sinew_incompatible_type,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_subscription::<IncompatibleType>(subscription, event) }
}

/// Takes the periods of the requested deadline in which no message came.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_take_deadline_missed(
    subscription: *const sinew_subscription,
    event: *mut sinew_deadline_missed,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_subscription::<RequestedDeadlineMissed>(subscription, event) }
}

/// Takes the liveliness of the publishers that match.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_take_liveliness_changed(
    subscription: *const sinew_subscription,
    event: *mut sinew_liveliness_changed,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_subscription::<LivelinessChanged>(subscription, event) }
}

/// Takes the messages that were lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_take_message_lost(
    subscription: *const sinew_subscription,
    event: *mut sinew_message_lost,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    unsafe { take_of_subscription::<MessageLost>(subscription, event) }
}

fn listen_to_publisher<E: StatusOf<Publisher>>(
    publisher: &Publisher,
    closure: Option<ListenerClosure>,
) -> bool {
    match closure {
        Some(closure) => publisher.set_status_listener::<E>(listener(closure)),
        None => {
            publisher.clear_status_listener::<E>();
            true
        }
    }
}

fn listen_to_subscription<E: StatusOf<Subscription>>(
    subscription: &Subscription,
    closure: Option<ListenerClosure>,
) -> bool {
    match closure {
        Some(closure) => subscription.set_status_listener::<E>(listener(closure)),
        None => {
            subscription.clear_status_listener::<E>();
            true
        }
    }
}

/// # Safety
/// The pointer is null or valid.
unsafe fn publisher_listener(
    publisher: *const sinew_publisher,
    event: sinew_event,
    closure: Option<ListenerClosure>,
) -> Result {
    // SAFETY: as the caller says.
    let publisher = &unsafe { handle::get(publisher, "publisher") }?.publisher;
    let is_kept = match event {
        SINEW_EVENT_MATCHED => listen_to_publisher::<Matched>(publisher, closure),
        SINEW_EVENT_INCOMPATIBLE_QOS => listen_to_publisher::<IncompatibleQos>(publisher, closure),
        SINEW_EVENT_INCOMPATIBLE_TYPE => listen_to_publisher::<IncompatibleType>(publisher, closure),
        SINEW_EVENT_DEADLINE_MISSED => listen_to_publisher::<OfferedDeadlineMissed>(publisher, closure),
        SINEW_EVENT_LIVELINESS_LOST => listen_to_publisher::<LivelinessLost>(publisher, closure),
        other => return Err(Failure::enumerator("event", other)),
    };
    if is_kept { Ok(()) } else { Err(not_kept("publisher", publisher.topic())) }
}

/// # Safety
/// The pointer is null or valid.
unsafe fn subscription_listener(
    subscription: *const sinew_subscription,
    event: sinew_event,
    closure: Option<ListenerClosure>,
) -> Result {
    // SAFETY: as the caller says.
    let subscription = &unsafe { handle::get(subscription, "subscription") }?.subscription;
    let is_kept = match event {
        SINEW_EVENT_MATCHED => listen_to_subscription::<Matched>(subscription, closure),
        SINEW_EVENT_INCOMPATIBLE_QOS => listen_to_subscription::<IncompatibleQos>(subscription, closure),
        SINEW_EVENT_INCOMPATIBLE_TYPE => listen_to_subscription::<IncompatibleType>(subscription, closure),
        SINEW_EVENT_DEADLINE_MISSED => {
            listen_to_subscription::<RequestedDeadlineMissed>(subscription, closure)
        }
        SINEW_EVENT_LIVELINESS_CHANGED => listen_to_subscription::<LivelinessChanged>(subscription, closure),
        SINEW_EVENT_MESSAGE_LOST => listen_to_subscription::<MessageLost>(subscription, closure),
        other => return Err(Failure::enumerator("event", other)),
    };
    if is_kept { Ok(()) } else { Err(not_kept("subscription", subscription.topic())) }
}

/// Sets a listener for changes of an event of the publisher: it is called with 1 on the thread that
/// brought the change about or noticed it, and at once with the number of changes since the event
/// was taken last. It replaces the former one of this event; `drop_context` is called when it is
/// replaced or cleared, or the publisher ends, also if this fails.
///
/// It runs under no lock. It may take events, replace or clear itself, publish, and make and free
/// endpoints. Fails with `SINEW_ERROR_NOT_KEPT` if the publisher doesn't keep its events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_set_event_listener(
    publisher: *const sinew_publisher,
    event: sinew_event,
    callback: sinew_listener,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, context, drop_context)?;
        // SAFETY: the caller's handle.
        unsafe { publisher_listener(publisher, event, Some(closure)) }
    })
}

/// Removes the listener of an event. It may still be running on another thread, or be called there
/// for a change that is just being made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_clear_event_listener(
    publisher: *const sinew_publisher,
    event: sinew_event,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| unsafe { publisher_listener(publisher, event, None) })
}

/// Sets a listener for changes of an event of the subscription, as
/// `sinew_publisher_set_event_listener`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_set_event_listener(
    subscription: *const sinew_subscription,
    event: sinew_event,
    callback: sinew_listener,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, context, drop_context)?;
        // SAFETY: the caller's handle.
        unsafe { subscription_listener(subscription, event, Some(closure)) }
    })
}

/// Removes the listener of an event, as `sinew_publisher_clear_event_listener`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_clear_event_listener(
    subscription: *const sinew_subscription,
    event: sinew_event,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| unsafe { subscription_listener(subscription, event, None) })
}
