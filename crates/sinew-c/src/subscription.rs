//! Subscriptions.

use crate::closure::{Closure, ListenerClosure, Outcome, listener, outcome, sinew_listener};
use crate::context::{choice, sinew_choice};
use crate::group::{GroupHandle, sinew_group};
use crate::handle::{self, handle};
use crate::message::{into_c, sinew_message, sinew_message_into_adopted, sinew_message_is_adopted};
use crate::message_info::sinew_message_info;
use crate::message_type::{self, sinew_message_type};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::qos::{self, overrides, sinew_qos, sinew_qos_policy};
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::structure::{Place, Structure, structure};
use crate::text::{c_text, optional_text, text};
use crate::time::{sinew_duration, timeout};
use sinew::QoS;
use sinew::erased::{Erased, Hint, MessageRef, Subscription, Taken};
use sinew::error::ErrorCode;
use sinew::executor::CallbackGroup;
use sinew::introspection::TopicStatistics;
use sinew::msg::SubscriptionBuilder;
use sinew::qos::QosOverrides;
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// Receives the messages of one type on a topic: by a callback that an executor runs, or taken by
/// hand.
pub struct sinew_subscription {
    _opaque: (),
}
handle!(sinew_subscription: SubscriptionHandle);

/// A subscription with its topic as C reads it.
pub(crate) struct SubscriptionHandle {
    pub(crate) subscription: Subscription,
    topic: CString,
}

/// Is called with each message, which belongs to it: it has to free or publish the reference.
/// `info` is valid during the call. Returns nonzero if it failed, for example with the status of a
/// function that it called: the executor reports that, or its spin returns it.
///
/// In a mutually exclusive group it is never called twice at once; in a reentrant one it may be.
pub type sinew_subscription_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        message: *mut sinew_message,
        info: *const sinew_message_info,
    ) -> sinew_status,
>;

type Callback =
    unsafe extern "C" fn(*mut c_void, *mut sinew_message, *const sinew_message_info) -> sinew_status;

/// Returns whether a message passes. It gets the value, or null and the encoded form if there is
/// only that; both are valid during the call. It is called before anything is copied or queued: on
/// the publisher's thread, or for a publisher in another process on any thread of this process that
/// runs an executor, takes, or makes an endpoint. Several threads may call it at once. It must be
/// quick.
pub type sinew_filter = Option<
    unsafe extern "C" fn(context: *mut c_void, value: *const c_void, bytes: *const u8, length: usize) -> bool,
>;

type Filter = unsafe extern "C" fn(*mut c_void, *const c_void, *const u8, usize) -> bool;

/// The options of [`sinew_subscription_new`] and [`sinew_subscription_new_with_callback`]. Zero is
/// the default of every field.
///
/// The library takes over the contexts in any case, also if making the subscription fails; only if
/// the size of this structure is wrong, it leaves them alone.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_subscription_options {
    /// `sizeof(struct sinew_subscription_options)`.
    pub size: usize,
    /// The QoS that it requests. Null: the default.
    pub qos: *const sinew_qos,
    /// The policies that parameters may change, added up: `SINEW_QOS_OVERRIDES_DEFAULT` are those
    /// of ROS 2. They are declared as `qos_overrides./TOPIC.subscription.depth` and so on.
    pub qos_overrides: sinew_qos_policy,
    /// Distinguishes it from the node's other subscriptions to the topic, in the names of these
    /// parameters: `subscription_ID`. Null: nothing does.
    pub qos_overrides_id: *const c_char,
    /// The callback group. Null: the node's own, which is mutually exclusive.
    pub group: *const sinew_group,
    /// Whether each message is its own, the only reference. A copy is made only if another
    /// subscription gets the message as well. For a type with a `clone`.
    pub owned: bool,
    /// Whether it takes messages in their encoded form, in place and unchecked, if they exist in
    /// it: those of other processes, and drafts. No effect together with a filter or `owned`, which
    /// need values, nor on a plain type. Messages of a type that is known by name only always have
    /// it.
    pub accept_encoded: bool,
    /// Whether messages of publishers of its own node are ignored.
    pub ignore_own_publications: bool,
    /// Whether it keeps its events, for `sinew_subscription_take_matched` and its like, and for
    /// `sinew_subscription_set_event_listener`. No executor has to run; one thread of the context
    /// notices missed deadlines and leases. Warnings of mismatches are not logged then.
    pub keep_events: bool,
    /// Whether the callback gets `info`, which reads a clock. By default it does; otherwise it gets
    /// null.
    pub message_info: sinew_choice,
    /// Lets only some messages pass. Null: all pass.
    pub filter: sinew_filter,
    /// The first argument of the filter.
    pub filter_context: *mut c_void,
    /// Drops the filter's context. May be null.
    pub filter_drop_context: sinew_drop,
    /// Is called for each message that arrives, from the first one on; see
    /// `sinew_subscription_set_listener`. Null: none.
    pub listener: sinew_listener,
    /// The first argument of the listener.
    pub listener_context: *mut c_void,
    /// Drops the listener's context. May be null.
    pub listener_drop_context: sinew_drop,
    /// The period with which the age and period of its messages are published, as
    /// `statistics_msgs/msg/MetricsMessage`, by the executor of its group. 0: they aren't.
    pub topic_statistics_period: sinew_duration,
    /// The topic on which they are published. Null: `/statistics`.
    pub topic_statistics_topic: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers and no functions.
unsafe impl Structure for sinew_subscription_options {
    const NAME: &str = "sinew_subscription_options";
}

/// The options of a subscription, converted.
struct Settings {
    qos: QoS,
    overrides: Option<QosOverrides>,
    flags: sinew_subscription_options,
    filter: Option<Closure<Filter>>,
    listener: Option<ListenerClosure>,
    statistics: Option<TopicStatistics>,
    with_info: bool,
}

impl Settings {
    /// # Safety
    /// The options' pointers are null or valid.
    unsafe fn new(options: sinew_subscription_options) -> Result<Self> {
        let sinew_subscription_options { filter, filter_context, filter_drop_context, .. } = options;
        let filter = Closure::optional(filter, filter_context, filter_drop_context);
        let listener =
            Closure::optional(options.listener, options.listener_context, options.listener_drop_context);
        // SAFETY: as the caller says.
        let qos = unsafe { qos::qos(options.qos) }?;
        // SAFETY: as the caller says.
        let overrides = unsafe { overrides(options.qos_overrides, options.qos_overrides_id) }?;
        // SAFETY: as the caller says.
        let topic = unsafe { optional_text(options.topic_statistics_topic, "topic_statistics_topic") }?;
        let statistics = (options.topic_statistics_period != 0).then(|| {
            let statistics = TopicStatistics::default().period(timeout(options.topic_statistics_period));
            topic.map_or(statistics.clone(), |topic| statistics.topic(topic))
        });
        let with_info = choice(options.message_info, "message_info")?.unwrap_or(true);
        Ok(Self { qos, overrides, flags: options, filter, listener, statistics, with_info })
    }

    fn apply<G: CallbackGroup>(
        self,
        builder: SubscriptionBuilder<Erased, G>,
    ) -> SubscriptionBuilder<Erased, G> {
        let mut builder = builder.qos(self.qos);
        if let Some(overrides) = self.overrides {
            builder = builder.qos_overrides(overrides);
        }
        if self.flags.owned {
            builder = builder.owned();
        }
        if self.flags.accept_encoded {
            builder = builder.accept_encoded();
        }
        if self.flags.ignore_own_publications {
            builder = builder.ignore_own_publications();
        }
        if self.flags.keep_events {
            builder = builder.keep_statuses();
        }
        if let Some(filter) = self.filter {
            builder = builder.filter_erased(move |message| passes(&filter, message));
        }
        if let Some(closure) = self.listener {
            builder = builder.listener(listener(closure));
        }
        if let Some(statistics) = self.statistics {
            builder = builder.topic_statistics(statistics);
        }
        builder
    }
}

fn passes(filter: &Closure<Filter>, message: MessageRef<'_>) -> bool {
    let (function, context) = filter.parts();
    let value = message.value().map_or(ptr::null(), |value| value.as_ptr().cast_const().cast());
    let bytes = message.encoded().unwrap_or_default();
    let start = if bytes.is_empty() { ptr::null() } else { bytes.as_ptr() };
    // SAFETY: the caller's function, for this context, from any thread.
    unsafe { function(context, value, start, bytes.len()) }
}

/// Names what the callback touches: its code, its context, and the functions by which it takes a
/// value out of its message.
fn touching<G: CallbackGroup>(
    builder: SubscriptionBuilder<Erased, G>,
    closure: &Closure<Callback>,
) -> SubscriptionBuilder<Erased, G> {
    let (function, context) = closure.parts();
    let is_adopted = sinew_message_is_adopted as *const ();
    let into_adopted = sinew_message_into_adopted as *const ();
    [(function as *const (), 384), (context.cast_const().cast(), 128), (is_adopted, 192), (into_adopted, 192)]
        .into_iter()
        .fold(builder, |builder, (start, bytes)| builder.prefetch(Hint::new(start, bytes)))
}

fn call(closure: &Closure<Callback>, with_info: bool, taken: Taken<'_>) -> Outcome {
    let (function, context) = closure.parts();
    let info = with_info.then(|| sinew_message_info::from(&taken.info()));
    let info = info.as_ref().map_or(ptr::null(), ptr::from_ref);
    let message = into_c(taken.message);
    // SAFETY: the caller's function, for this context; its group says by how many threads at once.
    outcome(unsafe { function(context, message, info) })
}

/// Makes a subscription from which messages are taken by hand. When this returns, it has matched
/// the existing publishers, and has the messages that they retain for late joiners.
///
/// `options` may be null. The caller frees `*subscription` with `sinew_subscription_free`; it keeps
/// its node. Fails with `SINEW_ERROR_NO_CLONE` if it should own its messages and the type has no
/// `clone`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_new(
    node: *const sinew_node,
    topic: *const c_char,
    message_type: *const sinew_message_type,
    options: *const sinew_subscription_options,
    subscription: Option<&mut *mut sinew_subscription>,
) -> sinew_status {
    // SAFETY: the caller's pointers.
    status(|| unsafe { make(node, (topic, message_type), options, None, subscription) })
}

/// Makes a subscription with a callback that an executor runs for each message; see
/// [`sinew_subscription_callback`]. `drop_context` is called when the library needs the context no
/// more, also if this fails. The rest is as of `sinew_subscription_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_new_with_callback(
    node: *const sinew_node,
    topic: *const c_char,
    message_type: *const sinew_message_type,
    options: *const sinew_subscription_options,
    callback: sinew_subscription_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    subscription: Option<&mut *mut sinew_subscription>,
) -> sinew_status {
    status(|| {
        let callback = Closure::new(callback, context, drop_context);
        // SAFETY: the caller's pointers.
        unsafe { make(node, (topic, message_type), options, Some(callback), subscription) }
    })
}

/// # Safety
/// The pointers are null or valid.
unsafe fn make(
    node: *const sinew_node,
    (topic, message_type): (*const c_char, *const sinew_message_type),
    options: *const sinew_subscription_options,
    callback: Option<Result<Closure<Callback>>>,
    subscription: Option<&mut *mut sinew_subscription>,
) -> Result {
    // First of all: from here on the contexts are dropped with what holds them.
    // SAFETY: the caller's structure.
    let options = unsafe { structure(options) }?;
    // SAFETY: the caller's pointers.
    let settings = unsafe { Settings::new(options) }?;
    let callback = callback.transpose()?;
    // SAFETY: the caller's handle.
    let node = &unsafe { handle::get(node, "node") }?.node;
    // SAFETY: the caller's text.
    let topic = unsafe { text(topic, "topic") }?;
    // SAFETY: the caller's handle.
    let of = unsafe { message_type::get(message_type, "message_type") }?;
    // SAFETY: the caller's handle.
    let group = unsafe { handle::get_optional(options.group, "group") }?;
    let place = subscription.ok_or_else(|| Failure::null("subscription"))?;
    let with_info = settings.with_info;
    let made = if let Some(GroupHandle::Reentrant(group)) = group {
        let builder = settings.apply(group.erased_subscription(topic, of));
        match callback {
            Some(callback) => {
                touching(builder, &callback).callback_erased(move |taken| call(&callback, with_info, taken))
            }
            None => builder.create_erased(),
        }
    } else {
        let builder = match group {
            Some(GroupHandle::MutuallyExclusive(group)) => group.erased_subscription(topic, of),
            _ => node.erased_subscription(topic, of),
        };
        let builder = settings.apply(builder);
        match callback {
            Some(callback) => touching(builder, &callback)
                .callback_erased(move |(): &mut (), taken| call(&callback, with_info, taken)),
            None => builder.create_erased(),
        }
    }?;
    let topic = c_text(made.topic().to_owned());
    *place = handle::new(SubscriptionHandle { subscription: made, topic });
    Ok(())
}

/// Frees a subscription; null is allowed. A callback may free its own: it finishes, and its context
/// is dropped afterwards. Waits for nothing; see `sinew_subscription_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_free(subscription: *mut sinew_subscription) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(subscription, "subscription") };
}

/// Ends the subscription, and waits until its callback, if it is running on another thread, has
/// returned. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_close(subscription: *const sinew_subscription) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(subscription, "subscription") }?.subscription.clone().close();
        Ok(())
    })
}

/// Returns whether it was closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_is_closed(subscription: *const sinew_subscription) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { handle::get(subscription, "subscription") }?.subscription.is_closed()))
}

/// Takes the oldest message that has not been taken yet. Never blocks. If there is none, `*message`
/// is null. `info` may be null; otherwise the caller sets its `size`.
///
/// A subscription that owns its messages gets the only reference; one that accepts encoded messages
/// may get one in encoded form; any other gets a value that others may be reading, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_take(
    subscription: *const sinew_subscription,
    message: Option<&mut *mut sinew_message>,
    info: *mut sinew_message_info,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let subscription = &unsafe { handle::get(subscription, "subscription") }?.subscription;
        let place = message.ok_or_else(|| Failure::null("message"))?;
        // SAFETY: the caller's structure.
        let info = (!info.is_null()).then(|| unsafe { Place::new(info, "info") }).transpose()?;
        *place = match subscription.take() {
            None => ptr::null_mut(),
            Some((message, about)) => {
                if let Some(info) = info {
                    info.fill((&about).into());
                }
                into_c(message)
            }
        };
        Ok(())
    })
}

/// Sets a listener that is called with the number of new messages: with 1 for each that arrives,
/// and at once with the number of those that wait. It replaces the former one; `drop_context` is
/// called when it is replaced or cleared, also if this fails. For other event loops: it wakes them,
/// and they take the messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_set_listener(
    subscription: *const sinew_subscription,
    callback: sinew_listener,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, context, drop_context)?;
        // SAFETY: the caller's handle.
        let subscription = unsafe { handle::get(subscription, "subscription") }?;
        subscription.subscription.set_listener(listener(closure));
        Ok(())
    })
}

/// Removes the listener. It may still be running on another thread, or be called there for messages
/// that are just arriving.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_clear_listener(
    subscription: *const sinew_subscription,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(subscription, "subscription") }?.subscription.clear_listener();
        Ok(())
    })
}

/// Returns the topic's full name, after remapping. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_topic(subscription: *const sinew_subscription) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(ptr::null(), || Ok(unsafe { handle::get(subscription, "subscription") }?.topic.as_ptr()))
}

/// Returns the type of its messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_message_type(
    subscription: *const sinew_subscription,
) -> *const sinew_message_type {
    answer(ptr::null(), || {
        // SAFETY: the caller's handle.
        let subscription = unsafe { handle::get(subscription, "subscription") }?;
        Ok(message_type::into_c(subscription.subscription.message_type()))
    })
}

/// Gets the QoS that it requests: what was left to other ends is chosen. The caller sets the
/// `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_qos(
    subscription: *const sinew_subscription,
    qos: *mut sinew_qos,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let subscription = unsafe { handle::get(subscription, "subscription") }?;
        // SAFETY: the caller's structure.
        unsafe { qos::write(qos, &subscription.subscription.qos()) }
    })
}

/// Returns the number of publishers that match now, in all processes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_publisher_count(
    subscription: *const sinew_subscription,
) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(subscription, "subscription") }?.subscription.publisher_count()))
}

/// Waits until at least `count` publishers match. Fails with `SINEW_ERROR_TIMEOUT` after the
/// timeout, or when the context is shut down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_wait_for_publishers(
    subscription: *const sinew_subscription,
    count: usize,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let subscription = &unsafe { handle::get(subscription, "subscription") }?.subscription;
        if subscription.wait_for_publishers(count, self::timeout(timeout)) {
            return Ok(());
        }
        let (topic, matched) = (subscription.topic(), subscription.publisher_count());
        let sentence = format_args!(
            "{matched} of {count} publishers on {topic} matched in time, or before the context was shut down"
        );
        Err(Failure::new(ErrorCode::Timeout, sentence))
    })
}

/// A subscription's counters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_subscription_statistics {
    /// `sizeof(struct sinew_subscription_statistics)`.
    pub size: usize,
    /// Messages that entered the history.
    pub received: u64,
    /// Messages that were taken out of it, by the callback or by hand.
    pub taken: u64,
    /// Messages that wait in it now.
    pub waiting: u64,
    /// Messages that gave way to newer ones (keep last), here or at their publisher.
    pub overwritten: u64,
    /// Messages that were lost before they reached this host. They do not count as received.
    pub missed: u64,
    /// Messages that found the history full (keep all).
    pub refused: u64,
    /// Messages dropped at the end of their lifespan.
    pub expired: u64,
    /// Copies made for it.
    pub copies: u64,
    /// Values decoded from messages of other processes.
    pub decodings: u64,
    /// Encoded messages that were handed out to be read in place.
    pub views: u64,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_subscription_statistics {
    const NAME: &str = "sinew_subscription_statistics";
}

/// Gets its counters. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_subscription_read_statistics(
    subscription: *const sinew_subscription,
    statistics: *mut sinew_subscription_statistics,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let subscription = unsafe { handle::get(subscription, "subscription") }?;
        // SAFETY: the caller's structure.
        let place = unsafe { Place::new(statistics, "statistics") }?;
        let counted = subscription.subscription.statistics();
        place.fill(sinew_subscription_statistics {
            size: size_of::<sinew_subscription_statistics>(),
            received: counted.received,
            taken: counted.taken,
            waiting: counted.waiting,
            overwritten: counted.overwritten,
            missed: counted.missed,
            refused: counted.refused,
            expired: counted.expired,
            copies: counted.copies,
            decodings: counted.decodings,
            views: counted.views,
        });
        Ok(())
    })
}

#[cfg(test)]
#[path = "subscription_tests.rs"]
mod tests;
