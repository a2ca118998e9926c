//! The age of a subscription's messages when they are taken, and the time between them.

use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::sys::clock::{Clock, ClockKind, Time};
use crate::sys::sync::{Arc, Mutex};
use std::mem;

/// Measures each message that is taken, in consecutive windows.
pub(crate) struct StatisticsCollector {
    clock: Clock,
    state: Mutex<Collected>,
}

struct Collected {
    window_start: Time,
    /// Steady time at which the last message was taken, even in the window before.
    last: Option<i64>,
    age: Moments,
    period: Moments,
}

/// The measurements of one window.
pub(crate) struct StatisticsWindow {
    pub(crate) start: Time,
    pub(crate) stop: Time,
    pub(crate) age: Moments,
    pub(crate) period: Moments,
}

impl StatisticsCollector {
    pub(crate) fn new(clock: Clock) -> Arc<Self> {
        let window_start = Time::from_nanoseconds(clock.now(ClockKind::Ros));
        let (age, period) = Default::default();
        Arc::new(Self { clock, state: Mutex::new(Collected { window_start, last: None, age, period }) })
    }

    /// Measures a message that is taken. Its age counts from its header's stamp, if it has one,
    /// otherwise from its publication. (A stamp of 0 counts as none.)
    #[cold]
    pub(crate) fn collect(&self, message: &RawMessage, publication: &Publication) {
        let taken = self.clock.stamp().time;
        let age = match message.header_stamp() {
            Some(0) => None,
            Some(stamp) => Some(self.clock.now(ClockKind::Ros).saturating_sub(stamp)),
            None => Some(taken.saturating_sub(publication.stamp.time)),
        };
        let mut state = self.state.lock();
        if let Some(age) = age {
            state.age.add(age);
        }
        if let Some(last) = state.last.replace(taken) {
            state.period.add(taken.saturating_sub(last));
        }
    }

    /// Returns the measurements since the last call, and begins a new window.
    pub(crate) fn close_window(&self) -> StatisticsWindow {
        let stop = Time::from_nanoseconds(self.clock.now(ClockKind::Ros));
        let mut state = self.state.lock();
        StatisticsWindow {
            start: mem::replace(&mut state.window_start, stop),
            stop,
            age: mem::take(&mut state.age),
            period: mem::take(&mut state.period),
        }
    }
}

/// The extremes and the first two moments of durations in milliseconds, in one pass.
///
/// B. P. Welford: Note on a method for calculating corrected sums of squares and products.
/// Technometrics 4 (1962).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    count: u64,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
    least: f64,
    most: f64,
}

impl Moments {
    #[expect(clippy::cast_precision_loss, reason = "durations of less than a hundred days are exact")]
    fn add(&mut self, nanoseconds: i64) {
        let value = nanoseconds as f64 / 1e6;
        self.count += 1;
        if self.count == 1 {
            (self.least, self.most) = (value, value);
        }
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean, minimum, maximum and standard deviation of all values; NaN without values.
    #[expect(clippy::cast_precision_loss, reason = "more than 2^53 messages don't come")]
    pub(crate) fn summary(&self) -> [f64; 4] {
        match self.count {
            0 => [f64::NAN; 4],
            count => [self.mean, self.least, self.most, (self.squares / count as f64).sqrt()],
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with the textbook's sums over all values at once.
        #[test]
        fn moments_are_those_of_all_values(values in prop::collection::vec(-1_000_000_000_000_i64..1_000_000_000_000, 1..50)) {
            let mut moments = Moments::default();
            values.iter().for_each(|value| moments.add(*value));
            let in_ms: Vec<f64> = values.iter().map(|value| *value as f64 / 1e6).collect();
            let count = in_ms.len() as f64;
            let mean = in_ms.iter().sum::<f64>() / count;
            let variance = in_ms.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            let [least, most] = [f64::min, f64::max].map(|which| in_ms.iter().copied().reduce(which).unwrap());
            prop_assert_eq!(moments.count(), values.len() as u64);
            for (found, expected) in moments.summary().into_iter().zip([mean, least, most, variance.sqrt()]) {
                prop_assert!((found - expected).abs() < 1e-3, "{} is not {}", found, expected);
            }
        }
    }

    #[test]
    fn of_nothing_there_is_no_number() {
        assert!(Moments::default().summary().iter().all(|one| one.is_nan()));
    }
}
