//! A topic of one type: the part that the data path uses, in both directions.

use super::change::RouteKey;
use super::reports::Words;
use super::statistics::RouteStatistics;
use crate::rules::RateLimiter;
use crate::wire::attachment::AttachmentError;
use sinew::__private::locks::Mutex;
use sinew::gateway::TopicWord;
use sinew::msg::GenericType;
use sinew::time::Time;
use std::sync::atomic::{AtomicBool, Ordering};

/// A topic's names, counters and limits.
pub(super) struct Route {
    pub(super) key: RouteKey,
    pub(super) known: GenericType,
    /// Its key on the network.
    pub(super) wire_key: String,
    /// Its type has fields that Lyrical's publishers send on a separate key, or may have such: it
    /// wasn't known yet.
    pub(super) may_have_buffers: bool,
    pub(super) counters: RouteCounters,
    limiter: Option<Mutex<RateLimiter>>,
    /// Its messages share the link with other large ones.
    is_heavy: AtomicBool,
    /// It was reported that the link is too slow for it.
    is_slow: AtomicBool,
}

impl Route {
    /// `limit`: messages per second that may leave, and the limit's counters.
    pub(super) fn new(
        key: RouteKey,
        known: GenericType,
        (wire_key, may_have_buffers): (String, bool),
        (limit, words): (Option<f64>, Words),
    ) -> Self {
        Self {
            key,
            known,
            wire_key,
            may_have_buffers,
            counters: RouteCounters(words),
            limiter: limit.map(|rate| Mutex::new(RateLimiter::new(rate))),
            is_heavy: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
        }
    }

    /// Returns `true` if its messages share the link with those of other heavy topics.
    pub(super) fn is_heavy(&self) -> bool {
        self.is_heavy.load(Ordering::Relaxed) // a thread that sees it late waits once
    }

    pub(super) fn grow_heavy(&self) {
        self.is_heavy.store(true, Ordering::Relaxed); // as above
    }

    /// Records that the link is too slow for the topic. Returns `true` the first time.
    pub(super) fn is_slow_first(&self) -> bool {
        !self.is_slow.swap(true, Ordering::Relaxed) // the flag stands alone
    }

    /// Returns `true` if the topic's rate limit lets a message go to the network now.
    pub(super) fn passes(&self) -> bool {
        let Some(limiter) = &self.limiter else { return true };
        let passes = limiter.lock().passes(Time::steady().nanoseconds());
        if !passes {
            self.counters.limited();
        }
        passes
    }
}

/// Counters of both directions: [`TopicWord`]s.
pub(super) struct RouteCounters(Words);

impl RouteCounters {
    fn count(&self, word: TopicWord, more: u64) {
        self.0.count(word as usize, more);
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.count(TopicWord::Sent, 1);
        self.count(TopicWord::SentBytes, bytes as u64);
    }

    pub(super) fn unsent(&self, count: u64) {
        self.count(TopicWord::Unsent, count);
    }

    /// Counts a message that has waited for long, whether it was sent or not.
    pub(super) fn late(&self) {
        self.count(TopicWord::Late, 1);
    }

    pub(super) fn limited(&self) {
        self.count(TopicWord::Limited, 1);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.count(TopicWord::Received, 1);
        self.count(TopicWord::ReceivedBytes, bytes as u64);
    }

    pub(super) fn missed(&self, count: u64) {
        if count > 0 {
            self.count(TopicWord::Missed, count);
        }
    }

    pub(super) fn refused(&self) {
        self.count(TopicWord::Refused, 1);
    }

    /// Counts a message that has an invalid attachment.
    pub(super) fn misunderstood(&self, error: &AttachmentError) {
        self.refused();
        if *error == AttachmentError::Old {
            self.count(TopicWord::Old, 1);
        }
    }

    pub(super) fn statistics(&self) -> RouteStatistics {
        let read = |word: TopicWord| self.0.get(word as usize);
        RouteStatistics {
            sent: read(TopicWord::Sent),
            sent_bytes: read(TopicWord::SentBytes),
            unsent: read(TopicWord::Unsent),
            late: read(TopicWord::Late),
            limited: read(TopicWord::Limited),
            received: read(TopicWord::Received),
            received_bytes: read(TopicWord::ReceivedBytes),
            missed: read(TopicWord::Missed),
            refused: read(TopicWord::Refused),
        }
    }
}
