//! The messages that publishers retain for late joiners, as the recorder knows them: each file
//! begins with them, so that it can be played by itself.

use super::cache::Waiting;
use crate::message::Stamps;
use sinew::msg::Gid;
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of messages of one publisher that are repeated.
pub(super) const DEEPEST: usize = 1000;

/// A message, in memory of its own.
#[derive(Debug)]
struct Kept {
    /// Its number among all that were noted.
    number: u64,
    stamps: Stamps,
    bytes: Box<[u8]>,
}

/// The newest messages of each publisher that retains any.
#[derive(Debug, Default)]
pub(super) struct Retained {
    /// For each topic the number of messages that a publisher retains.
    depths: Vec<usize>,
    /// By topic and publisher.
    messages: BTreeMap<(usize, Gid), VecDeque<Kept>>,
    bytes: u64,
    /// Messages that were noted.
    noted: u64,
}

impl Retained {
    /// Adds a topic with publishers that retain this number of messages.
    pub(super) fn add_topic(&mut self, depth: usize) {
        self.depths.push(depth.min(DEEPEST));
    }

    /// Bytes of all messages.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes a message, if its publisher retains it. Copies it: the publisher's memory is not for
    /// that.
    pub(super) fn note(&mut self, message: &Waiting) {
        let Some(publisher) = message.retained_by else { return };
        let depth = self.depths.get(message.topic).copied().unwrap_or_default();
        let known = self.messages.entry((message.topic, publisher)).or_default();
        while !known.is_empty() && known.len() >= depth {
            let gone = known.pop_front();
            self.bytes -= gone.map_or(0, |kept| kept.bytes.len() as u64);
        }
        if depth > 0 {
            let bytes = message.content.bytes();
            self.bytes += bytes.len() as u64;
            self.noted += 1;
            known.push_back(Kept { number: self.noted, stamps: message.stamps, bytes: bytes.into() });
        }
    }

    /// Returns the messages, with their topics, in the order in which they were noted: a new file
    /// gives all of them one time, and the last one of a topic must be the newest of all publishers
    /// there.
    pub(super) fn messages(&self) -> impl Iterator<Item = (usize, Stamps, &[u8])> {
        let mut all: Vec<(usize, &Kept)> = Vec::new();
        for ((topic, _), known) in &self.messages {
            all.extend(known.iter().map(|kept| (*topic, kept)));
        }
        all.sort_by_key(|(_, kept)| kept.number);
        all.into_iter().map(|(topic, kept)| (topic, kept.stamps, &*kept.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache::Content;
    use super::*;

    fn message(topic: usize, publisher: u8, received: u64) -> Waiting {
        Waiting {
            topic,
            stamps: Stamps::at(received),
            retained_by: Some(Gid([publisher; 16])),
            is_from_before: false,
            content: Content::Copied([0; 3].into()),
        }
    }

    fn times(retained: &Retained) -> Vec<u64> {
        retained.messages().map(|(_, stamps, _)| stamps.received).collect()
    }

    #[test]
    fn the_newest_of_each_publisher_are_kept() {
        let mut retained = Retained::default();
        retained.add_topic(2);
        retained.add_topic(0);
        for received in 0..3 {
            retained.note(&message(0, 1, received));
            retained.note(&message(1, 1, received));
        }
        retained.note(&message(0, 2, 9));
        assert_eq!((times(&retained), retained.bytes()), (vec![1, 2, 9], 9));
    }

    #[test]
    fn a_publisher_that_came_later_comes_last_whatever_its_identity() {
        let mut retained = Retained::default();
        retained.add_topic(1);
        retained.add_topic(1);
        for (topic, publisher, received) in [(0, 7, 1), (1, 2, 2), (0, 1, 3), (0, 7, 4), (0, 3, 5)] {
            retained.note(&message(topic, publisher, received));
        }
        assert_eq!(times(&retained), [2, 3, 4, 5]);
    }
}
