//! A cache of the last messages, ordered by time.

use sinew::__private::locks::Mutex;
use sinew::msg::Stamped;
use sinew::time::Time;
use std::collections::VecDeque;
use std::fmt;

/// The last messages of a topic, in the order of their stamps. ROS 2: `message_filters::Cache`.
///
/// A full cache drops its oldest message. All methods can be called from any thread, and take a
/// short lock. They return clones: a [`Shared`](sinew::Shared) is a handle.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::time::Time;
/// use sinew_filters::Cache;
/// use sinew_interfaces::sensor_msgs::msg::Imu;
/// use std::sync::Arc;
///
/// let context = Context::new()?;
/// let node = context.node("estimator")?;
/// let cache = Arc::new(Cache::<Shared<Imu>>::new(1000));
/// let filled = cache.clone();
/// let _imu = node.subscription("imu").callback(move |imu: Shared<Imu>| filled.add(imu))?;
/// let before = cache.before(node.now()); // the last one until now
/// assert!(before.is_none());
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Cache<M> {
    depth: usize,
    messages: Mutex<VecDeque<M>>,
}

impl<M: Stamped> Cache<M> {
    /// Returns an empty cache of `depth` messages, at least one.
    #[must_use]
    pub fn new(depth: usize) -> Self {
        Self { depth: depth.max(1), messages: Mutex::default() }
    }

    /// Adds a message after those with the same stamp. A full cache drops a message that is older
    /// than all others.
    pub fn add(&self, message: M) {
        let mut messages = self.messages.lock();
        let place =
            messages.partition_point(|other| other.stamp_nanoseconds() <= message.stamp_nanoseconds());
        messages.insert(place, message);
        let oldest = if messages.len() > self.depth { messages.pop_front() } else { None };
        drop(messages);
        drop(oldest); // runs the program's code, outside the lock
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages.lock().len()
    }

    /// Returns `true` if there are no messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all messages, for example when time jumps back.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut *self.messages.lock());
        drop(gone); // runs the program's code, outside the lock
    }
}

impl<M: Stamped + Clone> Cache<M> {
    /// Returns the newest message.
    pub fn latest(&self) -> Option<M> {
        self.messages.lock().back().cloned()
    }

    /// Returns the oldest message.
    pub fn oldest(&self) -> Option<M> {
        self.messages.lock().front().cloned()
    }

    /// Returns the newest message that is not after this time.
    pub fn before(&self, time: Time) -> Option<M> {
        let messages = self.messages.lock();
        messages.get(not_after(&messages, time).checked_sub(1)?).cloned()
    }

    /// Returns the oldest message that is not before this time.
    pub fn after(&self, time: Time) -> Option<M> {
        let messages = self.messages.lock();
        messages.get(earlier(&messages, time)).cloned()
    }

    /// Returns all messages from one time to another, both included.
    pub fn between(&self, from: Time, to: Time) -> Vec<M> {
        let messages = self.messages.lock();
        let (first, end) = (earlier(&messages, from), not_after(&messages, to));
        messages.range(first..end.max(first)).cloned().collect()
    }

    /// Returns the messages between two times, and the next one on either side: enough to
    /// interpolate throughout.
    pub fn surrounding(&self, from: Time, to: Time) -> Vec<M> {
        let messages = self.messages.lock();
        let stamp = |place: usize| Some(Time::from_nanoseconds(messages.get(place)?.stamp_nanoseconds()));
        // Include all messages with the stamps on either side.
        let before = not_after(&messages, from).checked_sub(1).and_then(stamp);
        let first = before.map_or(0, |before| earlier(&messages, before));
        let after = stamp(earlier(&messages, to));
        let end = after.map_or(messages.len(), |after| not_after(&messages, after));
        messages.range(first..end.max(first)).cloned().collect()
    }
}

/// Returns the number of messages before this time.
fn earlier<M: Stamped>(messages: &VecDeque<M>, time: Time) -> usize {
    messages.partition_point(|message| message.stamp_nanoseconds() < time.nanoseconds())
}

/// Returns the number of messages not after this time.
fn not_after<M: Stamped>(messages: &VecDeque<M>, time: Time) -> usize {
    messages.partition_point(|message| message.stamp_nanoseconds() <= time.nanoseconds())
}

impl<M> fmt::Debug for Cache<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("messages", &self.messages.lock().len()).finish_non_exhaustive()
    }
}
