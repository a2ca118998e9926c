//! Percentiles of any number of values in little memory, for runs that measure their own memory or
//! have no end.

use crate::Summary;

/// Number of parts of each power of two: a percentile is within 1 part in 64 of the true value.
const PARTS: u64 = 64;
const PARTS_LOG2: u32 = PARTS.ilog2();

/// Values of 2^40 ns (18 minutes) and more count as one.
const LARGEST: u64 = (1 << 40) - 1;

/// Counts values by size. Recording allocates nothing.
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: f64,
    max: u64,
}

impl Histogram {
    /// Returns an empty histogram with every page touched.
    pub fn empty() -> Self {
        // A fresh zeroed page isn't allocated yet: it is touched here, not while measuring.
        let mut counts = vec![1; bucket(LARGEST) + 1];
        counts.fill(0);
        Self { counts, count: 0, sum: 0.0, max: 0 }
    }

    /// Counts one value; a negative one counts as zero.
    #[inline]
    pub fn record(&mut self, value: i64) {
        let value = u64::try_from(value).unwrap_or(0);
        self.counts[bucket(value.min(LARGEST))] += 1;
        self.count += 1;
        self.sum += value as f64;
        self.max = self.max.max(value);
    }

    /// Returns the statistics; mean and largest are exact. Returns `None` without values.
    pub fn summary(&self) -> Option<Summary> {
        let rank = |per_mille: u64| {
            let wanted = (per_mille * self.count).div_ceil(1000);
            let mut below = 0;
            let reached = self.counts.iter().position(|count| {
                below += count;
                below >= wanted
            });
            // A bucket may extend beyond the largest value.
            middle(reached.unwrap_or(0)).min(self.max as f64)
        };
        (self.count > 0).then(|| Summary {
            mean: self.sum / self.count as f64,
            p50: rank(500),
            p90: rank(900),
            p99: rank(990),
            p999: rank(999),
            max: self.max as f64,
        })
    }
}

/// Returns the bucket of a value: small values have one each, larger ones share one with those of
/// the same leading 7 bits.
fn bucket(value: u64) -> usize {
    let shift = value.max(1).ilog2().saturating_sub(PARTS_LOG2);
    usize::try_from(u64::from(shift) * PARTS + (value >> shift)).unwrap_or(usize::MAX)
}

/// Returns the value in the middle of a bucket.
fn middle(bucket: usize) -> f64 {
    let bucket = bucket as u64;
    let shift = (bucket / PARTS).saturating_sub(1);
    let first = (bucket - shift * PARTS) << shift;
    first as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_gaps_and_hold_their_middle() {
        let mut last = 0;
        for value in (0..100_000).chain((17..40).flat_map(|power| [(1 << power) - 1, 1 << power])) {
            let at = bucket(value);
            assert!(at == last || at == last + 1 || value > 100_000, "{value}");
            last = at;
            assert!(
                (middle(at) - value as f64).abs() <= value as f64 / PARTS as f64,
                "{value}: {}",
                middle(at)
            );
        }
        assert_eq!(bucket(LARGEST) + 1, bucket(LARGEST + 1));
    }

    #[test]
    fn percentiles_are_near_the_true_ones() {
        let mut histogram = Histogram::empty();
        (1..=100_000).rev().for_each(|value| histogram.record(value));
        let summary = histogram.summary().unwrap();
        assert_eq!((summary.mean, summary.max), (50_000.5, 100_000.0));
        for (found, truth) in [(summary.p50, 50_000.0), (summary.p90, 90_000.0), (summary.p99, 99_000.0)] {
            assert!((found / truth - 1.0_f64).abs() < 1.0 / 64.0, "{found} for {truth}");
        }
    }

    #[test]
    fn few_and_extreme_values() {
        assert!(Histogram::empty().summary().is_none());
        let mut histogram = Histogram::empty();
        histogram.record(-5);
        assert_eq!(histogram.summary().unwrap().p99, 0.0);
        histogram.record(i64::MAX);
        assert_eq!(histogram.summary().unwrap().max, i64::MAX as f64);
    }
}
