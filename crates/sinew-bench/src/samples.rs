//! Measured values and their statistics. Recording allocates nothing and faults no page.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// Values of one measurement, in nanoseconds (or another unit that the owner knows). If more values
/// come than there is room for, the newest replace the oldest; the count covers all. The default
/// has room for none.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Samples {
    values: Vec<u64>,
    recorded: u64,
}

impl Samples {
    /// Makes room for `capacity` values (at least one), with every page touched.
    pub fn with_room_for(capacity: usize) -> Self {
        // A non-zero fill: zeroed memory would be handed out untouched.
        let mut values = vec![u64::MAX; capacity.max(1)];
        values.clear();
        Self { values, recorded: 0 }
    }

    /// Stores one value; a negative one (a clock read on another core a moment earlier) counts as
    /// zero.
    #[inline]
    pub fn record(&mut self, value: i64) {
        let value = u64::try_from(value).unwrap_or(0);
        if self.values.len() < self.values.capacity() {
            self.values.push(value);
        } else if let Some(room) = NonZeroU64::new(self.values.len() as u64) {
            let oldest = usize::try_from(self.recorded % room).unwrap_or(0);
            self.values[oldest] = value;
        }
        self.recorded += 1;
    }

    /// Returns the number of recorded values, including those that were replaced.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Returns the statistics of the stored values, each divided by `parts` (hops of a chain,
    /// operations of a batch); `None` if there are none.
    pub fn summary(&self, parts: u32) -> Option<Summary> {
        let mut sorted = self.values.clone();
        sorted.sort_unstable();
        let max = *sorted.last()?;
        let parts = f64::from(parts.max(1));
        let rank = |per_mille: usize| sorted[nearest_rank(per_mille, sorted.len())] as f64 / parts;
        Some(Summary {
            mean: sorted.iter().map(|&value| value as f64).sum::<f64>() / sorted.len() as f64 / parts,
            p50: rank(500),
            p90: rank(900),
            p99: rank(990),
            p999: rank(999),
            max: max as f64 / parts,
        })
    }

    /// Returns the median of the stored values, each divided by `parts`.
    pub fn p50(&self, parts: u32) -> Option<f64> {
        self.summary(parts).map(|summary| summary.p50)
    }
}

/// Returns the index of a quantile among `count` sorted values: the smallest one that at least
/// `per_mille` of a thousand don't exceed.
fn nearest_rank(per_mille: usize, count: usize) -> usize {
    (per_mille * count).div_ceil(1000).saturating_sub(1)
}

/// The percentiles of some samples, in their unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The largest.
    pub max: f64,
}

/// Returns the value in the middle (for an even number: the mean of the two in the middle); `None`
/// without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[sorted.len() / 2 - 1], upper)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = i64>, room: usize) -> Samples {
        let mut samples = Samples::with_room_for(room);
        values.into_iter().for_each(|value| samples.record(value));
        samples
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let summary = of((1..=100).rev(), 100).summary(1).unwrap();
        assert_eq!(summary, Summary { mean: 50.5, p50: 50.0, p90: 90.0, p99: 99.0, p999: 100.0, max: 100.0 });
    }

    #[test]
    fn of_one_value_everything_is_that_value() {
        let summary = of([7], 10).summary(1).unwrap();
        assert_eq!(summary, Summary { mean: 7.0, p50: 7.0, p90: 7.0, p99: 7.0, p999: 7.0, max: 7.0 });
    }

    #[test]
    fn of_few_values_the_high_percentiles_are_the_largest() {
        let summary = of([1, 2, 3], 10).summary(1).unwrap();
        assert_eq!((summary.p50, summary.p90, summary.p99, summary.max), (2.0, 3.0, 3.0, 3.0));
    }

    #[test]
    fn parts_divide_without_rounding() {
        assert_eq!(of([25], 1).summary(10).unwrap().p50, 2.5);
    }

    #[test]
    fn of_nothing_there_is_no_summary() {
        assert_eq!(of([], 4).summary(1), None);
    }

    #[test]
    fn when_full_the_newest_stay_and_nothing_is_allocated() {
        let mut samples = of([1, 2, 3, 4], 4);
        let room = samples.values.capacity();
        (5..=6).for_each(|value| samples.record(value));
        assert_eq!((samples.recorded(), samples.values.capacity()), (6, room));
        assert_eq!(samples.values, [5, 6, 3, 4]);
    }

    #[test]
    fn a_negative_value_counts_as_zero() {
        assert_eq!(of([-3], 1).summary(1).unwrap().max, 0.0);
    }

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }
}
