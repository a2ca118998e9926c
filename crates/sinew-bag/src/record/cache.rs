//! The messages between the thread that collects them and the one that writes them.
//!
//! | role | does |
//! |---|---|
//! | collector, one thread | adds topics and messages; waits for its next look |
//! | writer, one thread | takes everything that waits, and gives the room back when it is written |
//! | any thread | pauses, asks for a split or a snapshot, stops |
//!
//! The messages are limited by the memory that they take, those that are being written included.
//! While there is no room, further ones are refused, or the collector leaves them where they are.
//! In snapshot mode they wait until a snapshot is asked for, and the oldest give way. Messages are
//! never dropped under the lock.

use crate::message::Stamps;
use crate::topic::TopicDefinition;
use sinew::__private::locks::{Condvar, Mutex};
use sinew::erased;
use sinew::msg::Gid;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A message that was received.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Its topic's place among those that were added.
    pub(super) topic: usize,
    pub(super) stamps: Stamps,
    /// Its publisher, if that retains messages for late joiners: they are repeated in each file.
    pub(super) retained_by: Option<Gid>,
    /// It was retained before the recorder subscribed.
    pub(super) is_from_before: bool,
    pub(super) content: Content,
}

/// The place of a message's encoded form.
#[derive(Debug)]
pub(super) enum Content {
    /// The memory into which its publisher has written it.
    There(erased::Message),
    /// In memory of its own.
    Copied(Box<[u8]>),
}

impl Content {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::There(message) => message.encoded().unwrap_or_default(), // the collector looked
            Self::Copied(bytes) => bytes,
        }
    }
}

impl Waiting {
    /// Returns the room that it takes in the cache: the smallest messages take memory, too.
    pub(super) fn room(&self) -> u64 {
        self.content.bytes().len() as u64 + size_of::<Self>() as u64
    }
}

/// The extent of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// The time before the newest message; `Duration::MAX`: as long as the cache has room.
    pub duration: Duration,
}

/// Notifies the other thread of the end of this one, also after a panic.
pub(super) struct AtEnd(pub(super) Arc<Cache>, pub(super) fn(&Cache));

impl Drop for AtEnd {
    fn drop(&mut self) {
        (self.1)(&self.0);
    }
}

/// The topics and messages that wait for the writer.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) topics: Vec<TopicDefinition>,
    pub(super) messages: VecDeque<Waiting>,
    /// Messages of publishers that retain them, which gave way before a snapshot.
    pub(super) passed: Vec<Waiting>,
    /// Numbers of messages behind which a new file is to begin.
    pub(super) splits: Vec<usize>,
    /// Nothing comes any more.
    pub(super) has_ended: bool,
}

impl Work {
    /// Lets a new file begin behind the messages that there are.
    fn split(&mut self) {
        self.splits.push(self.messages.len());
    }
}

pub(super) struct Cache {
    limit: u64,
    snapshot: Option<Snapshot>,
    state: Mutex<State>,
    /// Wakes the writer.
    news: Condvar,
    /// Wakes the collector: before its next look is due, or when there is room at the end.
    stop: Condvar,
}

#[derive(Default)]
struct State {
    work: Work,
    /// In snapshot mode the messages that no snapshot has asked for.
    recent: VecDeque<Waiting>,
    /// The room that these take.
    recent_bytes: u64,
    /// The room that all others take, with those that the writer has taken and not yet written.
    bytes: u64,
    is_paused: bool,
    is_stopping: bool,
    /// The collector's next look is due at once.
    is_awake: bool,
    /// The writer has failed.
    has_failed: bool,
}

impl Cache {
    pub(super) fn new(limit: u64, snapshot: Option<Snapshot>) -> Self {
        Self { limit, snapshot, state: Mutex::default(), news: Condvar::new(), stop: Condvar::new() }
    }

    // ---- the collector ----

    pub(super) fn add_topic(&self, topic: TopicDefinition) {
        self.state.lock().work.topics.push(topic);
    }

    /// Returns whether messages wait for a snapshot, and so are to be copied: the memory of their
    /// publishers is not for that.
    pub(super) fn keeps_copies(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Returns the bytes for which there is room.
    pub(super) fn room(&self) -> u64 {
        self.limit.saturating_sub(self.state.lock().bytes)
    }

    /// Adds messages; returns those without room. One that is longer than the limit has room if
    /// nothing else waits. With `is_patient`, all have: the collector has looked at the room.
    pub(super) fn add(&self, messages: impl Iterator<Item = Waiting>, is_patient: bool) -> Vec<Waiting> {
        let mut refused = Vec::new();
        let mut state = self.state.lock();
        for message in messages {
            let room = message.room();
            if self.snapshot.is_some() {
                state.recent_bytes += room;
                state.recent.push_back(message);
                self.forget_old(&mut state, &mut refused);
            } else if is_patient || state.bytes == 0 || state.bytes + room <= self.limit {
                state.bytes += room;
                state.work.messages.push_back(message);
            } else {
                refused.push(message);
            }
        }
        let has_work = !state.work.messages.is_empty() || !state.work.topics.is_empty();
        drop(state);
        if has_work {
            self.news.notify_one();
        }
        if self.snapshot.is_some() { Vec::new() } else { refused }
    }

    /// Lets the oldest messages give way to the limits of a snapshot.
    fn forget_old(&self, state: &mut State, gone: &mut Vec<Waiting>) {
        let Some(Snapshot { duration }) = self.snapshot else { return };
        let newest = state.recent.back().map_or(0, |message| message.stamps.received);
        loop {
            let Some(oldest) = state.recent.front() else { return };
            let age = newest.saturating_sub(oldest.stamps.received);
            let is_kept = state.recent_bytes <= self.limit && u128::from(age) <= duration.as_nanos();
            if is_kept || state.recent.len() == 1 {
                return;
            }
            if let Some(message) = state.recent.pop_front() {
                state.recent_bytes -= message.room();
                match message.retained_by {
                    Some(_) => state.work.passed.push(message),
                    None => gone.push(message), // dropped outside the lock
                }
            }
        }
    }

    /// Waits for the collector's next look. Returns `false` once it is the last one.
    pub(super) fn pause_between_looks(&self, period: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.is_stopping && !state.has_failed && !std::mem::take(&mut state.is_awake) {
            self.stop.wait_for(&mut state, period);
            state.is_awake = false;
        }
        !state.is_stopping && !state.has_failed
    }

    /// Makes the collector look at once: there may be a new topic.
    pub(super) fn wake(&self) {
        self.state.lock().is_awake = true;
        self.stop.notify_one();
    }

    /// Waits until there is room, or the writer has failed, as nothing has to be collected
    /// meanwhile.
    pub(super) fn wait_for_room(&self) {
        let mut state = self.state.lock();
        while state.bytes >= self.limit && self.snapshot.is_none() && !state.has_failed {
            self.stop.wait(&mut state);
        }
    }

    /// Tells the writer that nothing comes any more, as the collector has ended.
    pub(super) fn end(&self) {
        self.state.lock().work.has_ended = true;
        self.news.notify_one();
    }

    // ---- the writer ----

    /// Takes everything that waits. Blocks until there is something, for `timeout` at most.
    pub(super) fn take(&self, timeout: Duration) -> Work {
        let mut state = self.state.lock();
        let Work { topics, messages, splits, has_ended, .. } = &state.work;
        if topics.is_empty() && messages.is_empty() && splits.is_empty() && !has_ended {
            self.news.wait_for(&mut state, timeout);
        }
        let has_ended = state.work.has_ended;
        Work { has_ended, ..std::mem::replace(&mut state.work, Work { has_ended, ..Work::default() }) }
    }

    /// Gives back the room of messages that were written and dropped.
    pub(super) fn written(&self, bytes: u64) {
        let mut state = self.state.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        if state.is_stopping {
            self.stop.notify_one(); // see `wait_for_room`
        }
    }

    /// Ends the collector: nothing is written any more. Afterwards, nothing waits for the writer.
    pub(super) fn fail(&self) {
        self.state.lock().has_failed = true;
        self.stop.notify_one();
    }

    // ---- any thread ----

    /// Sets whether messages are passed over, and returns whether they were.
    pub(super) fn set_paused(&self, paused: bool) -> bool {
        std::mem::replace(&mut self.state.lock().is_paused, paused)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.state.lock().is_paused
    }

    pub(super) fn split(&self) {
        self.state.lock().work.split();
        self.news.notify_one();
    }

    /// Gives the recent messages to the writer, as a file of their own. Returns `false` if this is
    /// no snapshot mode.
    pub(super) fn take_snapshot(&self) -> bool {
        if self.snapshot.is_none() {
            return false;
        }
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.work.messages.append(&mut state.recent);
        state.bytes += std::mem::take(&mut state.recent_bytes);
        state.work.split();
        drop(guard);
        self.news.notify_one();
        true
    }

    pub(super) fn stop(&self) {
        self.state.lock().is_stopping = true;
        self.stop.notify_one();
    }

    /// Bytes of the messages that wait.
    pub(super) fn bytes(&self) -> u64 {
        let state = self.state.lock();
        state.bytes + state.recent_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The room that a message takes besides its bytes.
    const EACH: u64 = size_of::<Waiting>() as u64;

    fn message(received: u64, length: usize) -> Waiting {
        Waiting {
            topic: 0,
            stamps: Stamps::at(received),
            retained_by: None,
            is_from_before: false,
            content: Content::Copied(vec![0; length].into()),
        }
    }

    fn times(messages: impl IntoIterator<Item = Waiting>) -> Vec<u64> {
        messages.into_iter().map(|message| message.stamps.received).collect()
    }

    #[test]
    fn messages_without_room_are_refused_until_others_are_written() {
        let cache = Cache::new(10 + 2 * EACH, None);
        let refused = cache.add((0..5).map(|time| message(time, 4)), false);
        assert_eq!(times(refused), [2, 3, 4]);
        let work = cache.take(Duration::ZERO);
        assert_eq!(times(work.messages), [0, 1]);
        assert_eq!(times(cache.add([message(5, 4)].into_iter(), false)), [5]); // they are being written
        cache.written(8 + 2 * EACH);
        assert_eq!(cache.add([message(6, 999)].into_iter(), false).len(), 0); // longer than the limit
        assert_eq!(cache.room(), 0);
        assert_eq!(cache.add([message(7, 1)].into_iter(), true).len(), 0);
        assert_eq!(cache.bytes(), 1000 + 2 * EACH);
    }

    #[test]
    fn a_snapshot_has_the_last_messages() {
        let cache = Cache::new(10 + 2 * EACH, Some(Snapshot { duration: Duration::from_nanos(5) }));
        cache.add((0..4).map(|time| message(time, 4)), false);
        assert!(cache.take(Duration::ZERO).messages.is_empty());
        cache.take_snapshot();
        let work = cache.take(Duration::ZERO);
        assert_eq!(work.splits, [2]);
        assert_eq!(times(work.messages), [2, 3]); // of 8 bytes, which are being written from now on
        cache.add([10, 14, 16].map(|time| message(time, 1)).into_iter(), false);
        cache.take_snapshot();
        assert_eq!(times(cache.take(Duration::ZERO).messages), [14, 16]); // of 5 ns
    }

    #[test]
    fn a_snapshot_begins_with_retained_messages() {
        let cache = Cache::new(10 + 2 * EACH, Some(Snapshot { duration: Duration::MAX }));
        let retained = Waiting { retained_by: Some(Gid([1; 16])), ..message(0, 4) };
        cache.add([retained, message(1, 4), message(2, 4)].into_iter(), false);
        let work = cache.take(Duration::ZERO);
        assert_eq!(times(work.passed), [0]);
    }
}
