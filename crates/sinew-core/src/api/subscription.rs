//! Subscriptions.

mod builder;

pub use self::builder::SubscriptionBuilder;
use super::erased::subscription::{self as erased, SubscriptionStatistics};
use crate::executor::AddError;
use crate::executor::wait_set::{self, WaitSet, Waitable};
use crate::mailbox::history::Entry;
use crate::message::type_support::clone_into;
use crate::message::{MessageInfo, Sample, Shared, Unique};
use crate::ros::qos::QoS;
use sinew_msg::Message;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// How a subscription's buffer holds its messages. ROS 2: `rclcpp::IntraProcessBufferType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BufferType {
    /// As the callback takes messages: `Shared` if it only reads, `Unique` if it owns. Without a
    /// callback: `Shared`.
    #[default]
    CallbackDefault,
    /// References to messages that others may be reading too. An owning callback copies when it
    /// takes, unless it is the last to hold the message; messages that are overwritten before are
    /// not copied.
    Shared,
    /// Messages of its own, copied when they are published if another subscription wants them as
    /// well.
    Unique,
    /// As `Unique`, but moved out of the publisher's block into the subscription's when they are
    /// published: the publisher's block is free again at once, and the message's address changes.
    Value,
}

/// An entity that receives the messages of a topic.
///
/// Made by [`Node::subscription`](crate::Node::subscription), either with a callback, which an
/// [`Executor`](crate::Executor) runs, or without one, for a program that calls
/// [`take`](Self::take) or awaits [`recv`](Self::recv). It exists until its last handle is dropped.
/// After that none of its callbacks starts; one that is running on another thread finishes
/// ([`close`](Self::close) waits for it). It may be dropped in its own callback.
///
/// ```
/// use sinew::prelude::*;
/// # #[derive(Clone)] struct Number(u64); impl Message for Number {}
/// let context = Context::new()?;
/// let node = context.node("reader")?;
/// let numbers = node.subscription::<Number>("numbers").qos(QoS::default().keep_last(2)).create()?;
/// let publisher = node.publisher::<Number>("numbers").create()?;
/// for n in 1..=3 {
///     publisher.publish(Number(n))?;
/// }
/// assert_eq!(numbers.take().unwrap().0.0, 2); // the oldest gave way
/// assert_eq!(numbers.take().unwrap().0.0, 3);
/// assert!(numbers.take().is_none());
/// assert_eq!(numbers.statistics().overwritten, 1);
/// # Ok::<(), sinew::Error>(())
/// ```
///
/// Clones are the same subscription: each message goes to one of them, the first that
/// [takes](Self::take) it, as several threads may share one handle. It ends when the last one is
/// dropped, or any of them is [closed](Self::close).
#[must_use = "a subscription ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _subscription = ..`), make it with `.background()`, or `detach()` it"]
pub struct Subscription<T: Message> {
    erased: erased::Subscription,
    of: PhantomData<fn() -> T>,
}

impl<T: Message> Subscription<T> {
    /// Takes the oldest message that has not been taken yet, and returns it with its
    /// [`MessageInfo`]. Never blocks, allocates nothing. A message from another process that
    /// another thread is about to bring in (one that has just found its publisher) comes with the
    /// next take.
    ///
    /// On a subscription with a callback, each message goes either here or to the callback.
    pub fn take(&self) -> Option<(Shared<T>, MessageInfo)> {
        self.take_as(Self::shared)
    }

    /// As [`take`](Self::take), but returns an owned message: copied only if the message is held
    /// elsewhere as well.
    pub fn take_unique(&self) -> Option<(Unique<T>, MessageInfo)>
    where
        T: Clone,
    {
        self.take_as(Self::unique)
    }

    /// As [`take`](Self::take), but returns the message in place, to be read with [`Sample::view`]:
    /// on a subscription that is [viewing](SubscriptionBuilder::read_in_place), a message from
    /// another process isn't decoded, but read in that process's memory.
    pub fn take_sample(&self) -> Option<(Sample<T>, MessageInfo)> {
        self.erased.core.take().map(|entry| Self::sample(&self.erased, entry))
    }

    #[inline]
    fn take_as<R>(&self, make: impl Fn(&erased::Subscription, Entry) -> Option<R>) -> Option<R> {
        loop {
            let message = make(&self.erased, self.erased.core.take()?);
            if message.is_some() {
                return message;
            }
        }
    }

    /// Sets a listener that is called for each message that arrives: with 1, on the publishing
    /// thread, once the message can be taken. If messages wait already, it is called at once with
    /// their number. ROS 2: `set_on_new_message_callback`.
    ///
    /// For messages from other processes, a thread that receives calls it, never one that takes: a
    /// thread that takes may hold a lock that the listener needs.
    ///
    /// It replaces the former listener, or the [builder's](SubscriptionBuilder::listener). Each
    /// message is announced to the listener that is set when it arrives. So another thread may
    /// still be in the former one, or about to call it, after this has returned; the former one is
    /// dropped when the last such call has returned. The new one is called for messages that wait,
    /// although the former one was called for them.
    ///
    /// It is meant to notify the thread that will take the messages, e.g. an event loop of the
    /// program's own, and should be quick. When that thread takes, messages may be gone (taken by
    /// another thread, overwritten, expired). Several threads may call it at once. It may publish,
    /// take, replace or clear itself. For messages that arrive as a result while it runs, it is
    /// called once it has returned, with their number. A panic in it is reported and does not reach
    /// the publisher. The subscription keeps it until it is dropped, so a listener that holds the
    /// subscription in turn keeps both for ever.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # let context = Context::new()?;
    /// # let node = context.node("reader")?;
    /// # let publisher = node.publisher::<Number>("numbers").create()?;
    /// let numbers = node.subscription::<Number>("numbers").create()?;
    /// publisher.publish(Number(1))?;
    /// publisher.publish(Number(2))?;
    /// let (bell, news) = std::sync::mpsc::channel();
    /// numbers.set_listener(move |count| drop(bell.send(count)));
    /// publisher.publish(Number(3))?;
    /// assert_eq!(news.try_iter().collect::<Vec<_>>(), [2, 1]);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.erased.set_listener(listener);
    }

    /// Brings in all messages that publishers of other processes have published so far, so that
    /// [`take`](Self::take) finds them. A take alone finds no message that another thread is just
    /// reading, such as the thread that calls listeners. Waits for such a thread, at most for
    /// `timeout`; returns `false` if it is still reading.
    ///
    /// For callers that need all messages published before another event, such as the feedback of a
    /// goal before its result.
    pub fn bring_in(&self, timeout: Duration) -> bool {
        self.erased.bring_in(timeout)
    }

    /// Removes the listener; it may still be called for messages that other threads are just
    /// publishing, as [`set_listener`](Self::set_listener) says of a replaced one.
    pub fn clear_listener(&self) {
        self.erased.clear_listener();
    }

    /// Returns the topic's full name, after remapping.
    pub fn topic(&self) -> &str {
        self.erased.topic()
    }

    /// Returns the QoS that it requests.
    pub fn qos(&self) -> QoS {
        self.erased.qos()
    }

    /// Returns the number of publishers that match now. ROS 2: `get_publisher_count`.
    pub fn publisher_count(&self) -> usize {
        self.erased.publisher_count()
    }

    /// Waits until at least `count` publishers match, at most for `timeout` (of real time, also in
    /// virtual time), or until the context is shut down; returns whether they do. Not for
    /// callbacks: the thread does nothing else meanwhile.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Clone)] struct Pose; impl Message for Pose {}
    /// let node = Context::new()?.node("tracker")?;
    /// let poses = node.subscription::<Pose>("poses").create()?;
    /// assert!(!poses.wait_for_publishers(1, Duration::from_millis(1)));
    /// let _publisher = node.publisher::<Pose>("poses").create()?;
    /// assert!(poses.wait_for_publishers(1, Duration::ZERO));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn wait_for_publishers(&self, count: usize, timeout: Duration) -> bool {
        self.erased.wait_for_publishers(count, timeout)
    }

    /// Returns its counters.
    pub fn statistics(&self) -> SubscriptionStatistics {
        self.erased.statistics()
    }

    /// Ends it and its clones, as dropping the last one does, and waits for a callback that is
    /// running on another thread. Called in its own callback, it doesn't wait; nor does a second
    /// `close`. Waiting messages are dropped, and no longer counted; clones take none any more, and
    /// futures that await one yield `None`.
    pub fn close(self) {
        self.erased.close();
    }

    /// Returns `true` if it was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.erased.is_closed()
    }

    /// Keeps it until the context ends: its callback and its handlers run on without a handle; as
    /// [`Timer::detach`](crate::Timer::detach).
    pub fn detach(self) {
        self.erased.detach();
    }

    /// Returns the subscription without its type, for messages of any form.
    pub fn erased(&self) -> &erased::Subscription {
        &self.erased
    }

    /// Converts a taken message to a value. `None`: its encoded form has no valid value.
    #[inline]
    pub(crate) fn shared(from: &erased::Subscription, entry: Entry) -> Option<(Shared<T>, MessageInfo)> {
        let (message, info) = from.value(entry)?;
        Some((Shared::assume(message), info))
    }

    /// Converts a taken message to one that the caller owns.
    pub(crate) fn unique(from: &erased::Subscription, entry: Entry) -> Option<(Unique<T>, MessageInfo)>
    where
        T: Clone,
    {
        let (message, info) = from.owned(entry, clone_into::<T>())?;
        Some((Unique::assume(message), info))
    }

    /// Converts a taken message to a sample, in place.
    pub(crate) fn sample(from: &erased::Subscription, entry: Entry) -> (Sample<T>, MessageInfo) {
        let (message, info) = from.in_place(entry);
        (Sample::assume(message), info)
    }
}

impl<T: Message> Clone for Subscription<T> {
    fn clone(&self) -> Self {
        Self { erased: self.erased.clone(), of: PhantomData }
    }
}

impl<T: Message> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f)
    }
}

impl WaitSet {
    /// Makes the wait set wait for messages of a subscription without a callback as well, until it
    /// is dropped.
    ///
    /// # Errors
    /// [`AddError`]: it has a callback, another wait set waits for it, or its context is shut down
    /// or uses another time.
    pub fn add_subscription<T: Message>(&self, subscription: &Subscription<T>) -> Result<(), AddError> {
        subscription.erased.watch(&self.executor)
    }

    /// As [`add_subscription`](Self::add_subscription), for a subscription without a type.
    ///
    /// # Errors
    /// As [`add_subscription`](Self::add_subscription).
    pub fn add_erased_subscription(&self, subscription: &erased::Subscription) -> Result<(), AddError> {
        subscription.watch(&self.executor)
    }
}

impl<T: Message> wait_set::sealed::Sealed for Subscription<T> {}

impl<T: Message> Waitable for Subscription<T> {
    fn subject(&self) -> usize {
        self.erased.subject()
    }
}
