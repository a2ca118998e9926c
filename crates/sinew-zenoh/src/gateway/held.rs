//! Messages of a remote publisher that wait to be published here.

use super::arrival::Arrival;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Limits of the messages that wait meanwhile, for each publisher: their number and their bytes.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// Messages of one publisher, by their sequence numbers.
pub(super) struct HeldSamples<M = Arrival> {
    arrivals: BTreeMap<i64, M>,
    bytes: usize,
}

/// A message that can be held.
pub(super) trait Numbered {
    /// Returns the publisher's sequence number of the message.
    fn sequence(&self) -> i64;

    /// Returns the length in bytes.
    fn length(&self) -> usize;

    /// Records that the same message has come once more.
    fn came_again(&mut self, again: &Self);
}

impl Numbered for Arrival {
    fn sequence(&self) -> i64 {
        self.attachment.sequence
    }

    fn length(&self) -> usize {
        self.sample.payload().len()
    }

    /// If the message also comes as a published message, all subscriptions get it.
    fn came_again(&mut self, again: &Self) {
        self.is_kept &= again.is_kept;
    }
}

impl<M> Default for HeldSamples<M> {
    fn default() -> Self {
        Self { arrivals: BTreeMap::new(), bytes: 0 }
    }
}

impl<M: Numbered> HeldSamples<M> {
    pub(super) fn has_room(&self) -> bool {
        self.arrivals.len() < MOST && self.bytes < MOST_BYTES
    }

    /// Returns `true` if a message with that number waits.
    pub(super) fn has(&self, sequence: i64) -> bool {
        self.arrivals.contains_key(&sequence)
    }

    /// Stores a message. The first one with a number counts: later ones with that number add
    /// nothing, so the limits hold.
    pub(super) fn keep(&mut self, arrival: M) {
        match self.arrivals.entry(arrival.sequence()) {
            Entry::Vacant(place) => {
                self.bytes = self.bytes.saturating_add(arrival.length());
                place.insert(arrival);
            }
            Entry::Occupied(mut held) => held.get_mut().came_again(&arrival),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    /// Returns the greatest number.
    pub(super) fn newest(&self) -> Option<i64> {
        self.arrivals.last_key_value().map(|(number, _)| *number)
    }

    /// Returns `true` if a number is missing between the others.
    pub(super) fn has_gap(&self) -> bool {
        let ends = self.arrivals.first_key_value().zip(self.arrivals.last_key_value());
        let span = ends.map_or(0, |((first, _), (last, _))| last.abs_diff(*first).saturating_add(1));
        span != self.arrivals.len() as u64
    }

    pub(super) fn take_oldest(&mut self) -> Option<M> {
        let (_, oldest) = self.arrivals.pop_first()?;
        self.bytes = self.bytes.saturating_sub(oldest.length());
        Some(oldest)
    }
}

impl HeldSamples {
    /// Returns the publication time of the oldest message, by its host's clock.
    pub(super) fn oldest(&self) -> Option<i64> {
        Some(self.arrivals.first_key_value()?.1.attachment.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Numbered for (i64, usize) {
        fn sequence(&self) -> i64 {
            self.0
        }

        fn length(&self) -> usize {
            self.1
        }

        fn came_again(&mut self, _: &Self) {}
    }

    #[test]
    fn what_comes_again_takes_no_more_room() {
        let mut held = HeldSamples::default();
        (0..100).for_each(|number| held.keep((number, 0)));
        (0..100).for_each(|number| held.keep((number, MOST_BYTES)));
        assert_eq!(held.bytes, 0, "the first ones stay");
        let kept = (100..200).take_while(|&number| {
            let has_room = held.has_room();
            if has_room {
                held.keep((number, MOST_BYTES / 4));
            }
            has_room
        });
        assert_eq!(kept.count(), 4, "no more bytes than may wait");
        while held.take_oldest().is_some() {}
        assert_eq!(held.bytes, 0);
    }
}
