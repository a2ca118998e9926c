//! The times of the messages that were published last, for programs that receive them.
//!
//! A time of publication doesn't say which time of the bag a message has: it comes late by some µs,
//! and a message may wait for its reader while the player goes elsewhere. So the publishing thread
//! notes the time of each message before it publishes it, under the number that the publisher gives
//! it.

use sinew::msg::Gid;
use std::collections::{HashMap, VecDeque};

/// Number of messages of each publisher that are remembered at least.
const REMEMBERED: usize = 1_000;

/// A message as it was played, from [`Player::played`](crate::Player::played).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlayedMessage {
    /// Its time in the bags, in nanoseconds since the epoch. A message that restores a latched
    /// topic has the time to which the player went.
    pub time: u64,
    /// Number of seeks before it, as in [`Progress::seeks`](crate::Progress::seeks): with fewer
    /// than there are now, it is of a place that the player has left.
    pub seeks: u64,
}

/// The last messages of each publisher.
#[derive(Debug)]
pub(super) struct Played {
    /// By publisher, with their numbers, which increase.
    last: HashMap<Gid, VecDeque<(u64, PlayedMessage)>>,
    limit: usize,
}

impl Played {
    pub(super) fn new() -> Self {
        Self { last: HashMap::new(), limit: REMEMBERED }
    }

    /// Remembers at least this number of messages of each publisher.
    pub(super) fn remember(&mut self, messages: usize) {
        self.limit = self.limit.max(messages);
    }

    /// Notes the message that a publisher publishes next. One that isn't published in the end
    /// leaves its number to the next one.
    pub(super) fn note(&mut self, publisher: Gid, number: u64, message: PlayedMessage) {
        let last = self.last.entry(publisher).or_default();
        last.pop_back_if(|(known, _)| *known >= number);
        if last.len() >= self.limit {
            last.pop_front();
        }
        last.push_back((number, message));
    }

    /// Returns a message; `None` if it is of another publisher, or forgotten.
    pub(super) fn find(&self, publisher: Gid, number: u64) -> Option<PlayedMessage> {
        let last = self.last.get(&publisher)?;
        let place = last.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(last[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_messages_are_remembered() {
        let (mut played, publisher) = (Played::new(), Gid([1; 16]));
        let message = |time| PlayedMessage { time, seeks: 0 };
        played.note(publisher, 1, message(5)); // isn't published
        for number in 1..=1_001 {
            played.note(publisher, number, message(10 * number));
        }
        assert_eq!((played.find(publisher, 1), played.find(publisher, 2)), (None, Some(message(20))));
        assert_eq!((played.find(publisher, 1_002), played.find(Gid([2; 16]), 2)), (None, None));
        played.remember(1_002);
        played.remember(7); // no fewer than before
        (1_002..=1_003).for_each(|number| played.note(publisher, number, message(10 * number)));
        assert_eq!(
            (played.find(publisher, 2), played.find(publisher, 1_003)),
            (Some(message(20)), Some(message(10_030)))
        );
    }
}
