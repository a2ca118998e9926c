//! The transforms of one frame in its parent over time.
//!
//! A ring in the order of time. The position of a time is guessed on the assumption that stamps
//! come at a steady rate, which they mostly do. A lookup therefore seldom reads more than the two
//! entries that it interpolates. It guesses the positions in all its links before it reads any
//! entry, and touches the guessed entries, so that the memory accesses overlap. Parents are in a
//! second ring, which is read only if they change; climbing the tree needs only `ends`, which is
//! stored beside both rings.

use crate::insertion::Inserted;
use crate::transform::Transform;
use std::collections::VecDeque;

/// The number of a frame, in the order in which frames were first named.
pub(crate) type FrameNumber = u32;

/// The transform of a frame in its parent at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub(crate) transform: Transform,
    pub(crate) parent: FrameNumber,
}

/// One cache line: an interpolation reads two adjacent ones.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Entry {
    stamp: i64,
    transform: Transform,
}

/// The limits of a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Time kept before the latest stamp, in nanoseconds.
    pub(crate) history: i64,
    /// Maximum number of samples of a frame.
    pub(crate) samples: usize,
    pub(crate) frames: usize,
}

/// The first and last stamp, and the parent at the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ends {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) parent: FrameNumber,
}

/// The guessed position of a time among the samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guess(usize);

/// The position of a time among the samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    older: usize,
    /// Fraction of the way from the older sample to the next.
    ratio: f64,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    /// By ascending stamp, each stamp once.
    entries: VecDeque<Entry>,
    /// One for each entry.
    parents: VecDeque<FrameNumber>,
    /// The ends of the rings; `None` while they are empty.
    ends: Option<Ends>,
    /// Number of adjacent samples with different parents. If it is 0, `ends` has the parent at any
    /// time.
    changes: usize,
    /// Number of samples dropped because there were too many.
    crowded_out: u64,
}

impl History {
    pub(crate) fn ends(&self) -> Option<Ends> {
        self.ends
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of adjacent samples with different parents.
    pub(crate) fn changes(&self) -> usize {
        self.changes
    }

    pub(crate) fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { crowded_out: self.crowded_out, ..Self::default() };
    }

    /// Returns the parent at this time; `None` if the history doesn't cover it.
    pub(crate) fn parent_at(&self, time: i64) -> Option<FrameNumber> {
        let ends = self.covering(time)?;
        if self.changes == 0 {
            return Some(ends.parent);
        }
        Some(self.parents[self.above(time) - 1]) // between two samples, the parent of the older one
    }

    /// Guesses the position of this time; `None` if the history doesn't cover it. Reads no sample.
    pub(crate) fn guess(&self, time: i64) -> Option<Guess> {
        self.covering(time).map(|ends| self.guess_within(ends, time))
    }

    /// Reads the entries that a correct guess needs. The result has no meaning: since no branch
    /// depends on it, the processor continues with the next link before the memory has answered.
    pub(crate) fn touch(&self, Guess(at): Guess) -> i64 {
        let stamp = |at: usize| self.entries.get(at).map_or(0, |entry| entry.stamp);
        stamp(at) ^ stamp(at + 1)
    }

    /// Returns the position of this time, starting from its guess.
    #[inline]
    pub(crate) fn find(&self, guess: Guess, time: i64) -> Place {
        let older = self.after(guess, time) - 1;
        let before = self.entries[older].stamp;
        let ratio = if before == time { 0.0 } else { part(before, time, self.entries[older + 1].stamp) };
        Place { older, ratio }
    }

    /// Returns the transform at this position. It is interpolated between two stamps unless the
    /// parent changes there; then the older one counts, as in tf2.
    #[inline]
    pub(crate) fn transform(&self, Place { older: at, ratio }: Place) -> Transform {
        let older = &self.entries[at].transform;
        match self.entries.get(at + 1) {
            Some(newer) if ratio > 0.0 && (self.changes == 0 || self.differs(at + 1) == 0) => {
                older.interpolate(&newer.transform, ratio)
            }
            _ => *older,
        }
    }

    fn covering(&self, time: i64) -> Option<Ends> {
        self.ends.filter(|ends| (ends.first..=ends.last).contains(&time))
    }

    /// Whether a sample with this stamp can be added.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    pub(crate) fn accepts(&self, stamp: i64, limits: &Limits) -> Result<(), i64> {
        match self.ends {
            Some(Ends { last, .. }) if stamp < last.saturating_sub(limits.history) => Err(last),
            _ => Ok(()),
        }
    }

    /// Adds a sample; of several with one stamp, the last one counts.
    ///
    /// Old samples are dropped first, relative to the latest stamp before this one, as in tf2. So a
    /// frame that is sent seldom always has two samples to interpolate between.
    ///
    /// # Errors
    /// The latest stamp, if this one is older than the history before it.
    pub(crate) fn insert(&mut self, stamp: i64, sample: Sample, limits: &Limits) -> Result<Inserted, i64> {
        self.accepts(stamp, limits)?;
        let mut inserted = Inserted::New;
        if let Some(Ends { last, .. }) = self.ends {
            let oldest = last.saturating_sub(limits.history);
            while self.entries.front().is_some_and(|first| first.stamp < oldest) {
                self.drop_first();
            }
            self.note_ends();
        }
        let place = self.above(stamp);
        if place > 0 && self.entries[place - 1].stamp == stamp {
            inserted = self.replace(place - 1, sample);
        } else {
            self.changes -= self.differs(place);
            self.entries.insert(place, Entry { stamp, transform: sample.transform });
            self.parents.insert(place, sample.parent);
            self.changes += self.differs(place) + self.differs(place + 1);
            if self.entries.len() > limits.samples {
                self.drop_first();
                self.crowded_out += 1;
            }
        }
        self.note_ends();
        Ok(inserted)
    }

    fn replace(&mut self, place: usize, sample: Sample) -> Inserted {
        let (entry, parent) = (&mut self.entries[place], self.parents[place]);
        if entry.transform == sample.transform && parent == sample.parent {
            return Inserted::Repeated;
        }
        entry.transform = sample.transform;
        self.changes -= self.differs(place) + self.differs(place + 1);
        self.parents[place] = sample.parent;
        self.changes += self.differs(place) + self.differs(place + 1);
        Inserted::Replaced
    }

    fn drop_first(&mut self) {
        self.changes -= self.differs(1);
        self.entries.pop_front();
        self.parents.pop_front();
    }

    /// Returns 1 if the sample at this position has another parent than the one before, otherwise
    /// 0.
    fn differs(&self, place: usize) -> usize {
        let before = place.checked_sub(1).and_then(|before| self.parents.get(before));
        let pair = before.zip(self.parents.get(place));
        usize::from(pair.is_some_and(|(before, parent)| before != parent))
    }

    fn note_ends(&mut self) {
        let ends = self.entries.front().zip(self.entries.back());
        self.ends = ends.zip(self.parents.back()).map(|((first, last), parent)| Ends {
            first: first.stamp,
            last: last.stamp,
            parent: *parent,
        });
    }

    /// Returns the number of stamps that are not above this time.
    fn above(&self, time: i64) -> usize {
        match self.ends {
            Some(ends) if time >= ends.first => self.after(self.guess_within(ends, time), time),
            _ => 0,
        }
    }

    /// Guesses a position as if stamps came at a steady rate.
    fn guess_within(&self, Ends { first, last, .. }: Ends, time: i64) -> Guess {
        let newest = self.entries.len() - 1;
        if time >= last {
            return Guess(newest);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a guess, between 0 and the count"
        )]
        let guess = (part(first, time, last) * newest as f64) as usize;
        Guess(guess)
    }

    /// The same as [`above`](Self::above), for a time that isn't before the first stamp.
    #[inline]
    fn after(&self, Guess(guess): Guess, time: i64) -> usize {
        let count = self.entries.len();
        let stamp = |at: usize| self.entries[at].stamp;
        if self.ends.is_some_and(|ends| ends.last <= time) {
            return count;
        }
        // Invariant from here on: stamp(low) <= time < stamp(high).
        let (mut low, mut high, mut step) = (0, count - 1, 1);
        if stamp(guess) <= time {
            low = guess;
            while low + step < high {
                if stamp(low + step) > time {
                    high = low + step;
                } else {
                    low += step;
                    step *= 2;
                }
            }
        } else {
            high = guess;
            while low + step < high {
                if stamp(high - step) <= time {
                    low = high - step;
                } else {
                    high -= step;
                    step *= 2;
                }
            }
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if stamp(middle) <= time { low = middle } else { high = middle }
        }
        high
    }
}

/// Returns the fraction of a time between two others: 0 at the first, 1 at the last.
fn part(first: i64, time: i64, last: i64) -> f64 {
    span(first, time) / span(first, last)
}

/// Returns the span from a time to one that isn't before it.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "to some nanoseconds in a year")]
fn span(from: i64, to: i64) -> f64 {
    match to.wrapping_sub(from) {
        span @ 0.. => span as f64, // a single instruction for a signed number
        span => span.cast_unsigned() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { history: 50, samples: 20, frames: 10 };

    fn sample(parent: FrameNumber, x: i64) -> Sample {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let translation = [x as f64, 0.0, 0.0];
        Sample { transform: Transform { translation, ..Transform::IDENTITY }, parent }
    }

    /// A naive implementation on a list.
    #[derive(Default)]
    struct Plain(Vec<(i64, Sample)>);

    impl Plain {
        fn insert(&mut self, stamp: i64, sample: Sample) -> Result<Inserted, i64> {
            if let Some(last) = self.0.last().map(|(stamp, _)| *stamp) {
                if stamp < last - LIMITS.history {
                    return Err(last);
                }
                self.0.retain(|(stamp, _)| *stamp >= last - LIMITS.history);
            }
            if let Some(same) = self.0.iter_mut().find(|(at, _)| *at == stamp) {
                let inserted = if same.1 == sample { Inserted::Repeated } else { Inserted::Replaced };
                same.1 = sample;
                return Ok(inserted);
            }
            self.0.push((stamp, sample));
            self.0.sort_by_key(|(stamp, _)| *stamp);
            if self.0.len() > LIMITS.samples {
                self.0.remove(0);
            }
            Ok(Inserted::New)
        }

        fn at(&self, time: i64) -> Option<Sample> {
            let newer = self.0.iter().find(|(stamp, _)| *stamp >= time)?;
            let older = self.0.iter().rfind(|(stamp, _)| *stamp <= time)?;
            if newer.0 == older.0 || newer.1.parent != older.1.parent {
                return Some(older.1);
            }
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let ratio = (time - older.0) as f64 / (newer.0 - older.0) as f64;
            Some(Sample { transform: older.1.transform.interpolate(&newer.1.transform, ratio), ..older.1 })
        }
    }

    proptest! {
        #[test]
        fn it_is_a_list_in_the_order_of_stamps(
            insertions in proptest::collection::vec((0..120_i64, 0..3_u32, 0..4_i64), 0..200),
            steady in any::<bool>(),
        ) {
            let (mut history, mut plain) = (History::default(), Plain::default());
            for (number, (stamp, parent, x)) in insertions.into_iter().enumerate() {
                let stamp = if steady { number as i64 } else { stamp };
                let sample = sample(parent / 2, x);
                prop_assert_eq!(history.insert(stamp, sample, &LIMITS), plain.insert(stamp, sample));
                prop_assert_eq!(history.len(), plain.0.len());
                let changes = plain.0.windows(2).filter(|pair| pair[0].1.parent != pair[1].1.parent).count();
                prop_assert_eq!(history.changes(), changes);
                let ends = plain.0.first().zip(plain.0.last());
                let ends = ends.map(|(first, last)| Ends { first: first.0, last: last.0, parent: last.1.parent });
                prop_assert_eq!(history.ends(), ends);
                for time in (-1..202).step_by(3) {
                    let found = history.guess(time).map(|guess| history.transform(history.find(guess, time)));
                    prop_assert_eq!(found, plain.at(time).map(|sample| sample.transform));
                    prop_assert_eq!(history.parent_at(time), plain.at(time).map(|sample| sample.parent));
                }
            }
        }
    }

    #[test]
    fn what_is_seldom_has_two_samples_to_interpolate_between() {
        let mut history = History::default();
        for stamp in [0, 100, 200] {
            assert_eq!(history.insert(stamp, sample(0, stamp), &LIMITS), Ok(Inserted::New));
        }
        assert_eq!(
            (history.len(), history.guess(150).map(|guess| history.transform(history.find(guess, 150)))),
            (2, Some(sample(0, 150).transform))
        );
    }

    #[test]
    fn stamps_may_be_the_first_and_last_that_there_are() {
        let mut history = History::default();
        let limits = Limits { history: i64::MAX, ..LIMITS };
        for stamp in [0, i64::MIN + 1, i64::MAX, 5] {
            history.insert(stamp, sample(0, 1), &limits).unwrap();
        }
        assert!(history.len() == 3 && history.guess(3).is_some() && history.guess(i64::MAX).is_some());
        assert_eq!(history.insert(i64::MIN, sample(0, 1), &LIMITS), Err(i64::MAX));
    }
}
