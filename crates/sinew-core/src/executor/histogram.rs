//! A distribution of durations: a plain value without a clock or a lock, filled by the measuring
//! thread.

use std::time::Duration;

/// Binary logarithm of the number of equal buckets for each power of two: a bucket's value is
/// within 1/8 of the recorded one.
const PARTS_LOG2: u32 = 3;
const PARTS: usize = 1 << PARTS_LOG2;

/// Below 64 ns a bucket is 8 ns wide: a clock read costs more than that.
const FINEST_LOG2: u32 = 3;

/// Values of 2^38 ns (274 s) and more share the last bucket.
const LARGEST: u64 = (1 << 38) - 1;
const BUCKETS: usize = bucket(LARGEST) + 1;

/// A distribution of durations: counts in buckets with a width of at most an eighth of their value.
///
/// Covers 0 to 274 s, in 2 KB that are allocated with the first value. Count, minimum, maximum and
/// mean of the recorded durations are exact; percentiles are within 12.5 % (and 8 ns). Nothing here
/// blocks.
///
/// ```
/// use sinew::Duration;
/// use sinew::executor::Histogram;
/// let mut runs = Histogram::default();
/// (1..=100).for_each(|n| runs.record(Duration::from_micros(n), 1));
/// assert_eq!(runs.count(), 100);
/// assert_eq!(runs.max(), Some(Duration::from_micros(100)));
/// let median = runs.percentile(50.0).unwrap();
/// assert!(median >= Duration::from_micros(44) && median <= Duration::from_micros(57));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// `None` before the first value.
    counts: Option<Box<[u64; BUCKETS]>>,
    count: u64,
    /// Nanoseconds; saturates, after 584 years of run time.
    sum: u64,
    min: u64,
    max: u64,
}

impl Histogram {
    /// Counts a duration `weight` times: more than once if it stands for several that were not
    /// measured. A weight of 0 does nothing.
    pub fn record(&mut self, duration: Duration, weight: u64) {
        self.record_nanoseconds(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX), weight);
    }

    #[inline]
    pub(crate) fn record_nanoseconds(&mut self, value: u64, weight: u64) {
        if weight == 0 {
            return;
        }
        let counts = self.counts.get_or_insert_with(none);
        let count = &mut counts[bucket(value)];
        *count = count.saturating_add(weight);
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count = self.count.saturating_add(weight);
        self.sum = self.sum.saturating_add(value.saturating_mul(weight));
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        let Some(more) = &other.counts else { return };
        let counts = self.counts.get_or_insert_with(none);
        counts.iter_mut().zip(more.iter()).for_each(|(count, more)| *count = count.saturating_add(*more));
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Returns the number of counted durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the minimum; `None` without values, as for the methods below.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.min))
    }

    /// Returns the maximum.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.max))
    }

    /// Returns the mean, rounded down to a nanosecond.
    pub fn mean(&self) -> Option<Duration> {
        self.sum.checked_div(self.count).map(Duration::from_nanos)
    }

    /// Returns the duration that `percent` of the values do not exceed (0 to 100; other numbers are
    /// clamped): 50 is the median, and one in a thousand exceeds 99.9.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        let counts = self.counts.as_ref()?;
        let wanted = self.rank(percent);
        let mut below = 0;
        let reached = counts.iter().position(|count| {
            below = count.saturating_add(below);
            below >= wanted
        })?;
        // The middle of the bucket, but within the recorded values: the bucket may be wider.
        Some(Duration::from_nanos(middle(reached).clamp(self.min, self.max)))
    }

    /// The rank of the wanted value among all in order, from 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of the count, between 1 and the count; half a value in 2^53 doesn't matter"
    )]
    fn rank(&self, percent: f64) -> u64 {
        // Multiplied first, since hundredths have no exact floating-point number: a whole result
        // must not be rounded up.
        let share = (percent.clamp(0.0, 100.0) * self.count as f64 / 100.0).ceil();
        (share as u64).clamp(1, self.count)
    }
}

fn none() -> Box<[u64; BUCKETS]> {
    Box::new([0; BUCKETS])
}

/// Returns the bucket of a value: its highest bit and the three that follow.
#[inline]
const fn bucket(value: u64) -> usize {
    let value = if value > LARGEST { LARGEST } else { value } >> FINEST_LOG2;
    // Below 8 a value is its own bucket; above, `shift` is the number of bits that are left out.
    let shift = match value.checked_ilog2() {
        Some(log) if log > PARTS_LOG2 => log - PARTS_LOG2,
        _ => 0,
    };
    shift as usize * PARTS + (value >> shift) as usize
}

/// Returns the value in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let shift = (bucket / PARTS).saturating_sub(1);
    let first = (bucket - shift * PARTS) as u64;
    let width = 1 << (shift + FINEST_LOG2 as usize);
    first * width + width / 2
}

/// The run times of an entity's callbacks; from
/// [`Executor::run_times`](super::Executor::run_times).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunTimes {
    /// The entity, e.g. "subscription to /camera/image of node /filter".
    pub entity: String,
    /// Its run times.
    pub histogram: Histogram,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Durations of all magnitudes, equally often.
    fn values() -> impl Strategy<Value = u64> {
        (0..38_u32, any::<u64>()).prop_map(|(bits, value)| value & ((2 << bits) - 1))
    }

    fn filled(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&(value, weight)| histogram.record_nanoseconds(value, weight));
        histogram
    }

    #[test]
    fn buckets_follow_each_other_without_gaps_and_are_narrow() {
        let mut last = 0;
        for value in (0..100_000).chain((17..38).flat_map(|power| [(1 << power) - 1, 1 << power])) {
            let at = bucket(value);
            assert!(at == last || at == last + 1 || value > 100_000, "{value}");
            last = at;
            let off = middle(at).abs_diff(value);
            assert!(off <= value / 16 || off <= 4, "{value}: {}", middle(at));
        }
        assert_eq!(bucket(LARGEST) + 1, BUCKETS);
        assert_eq!(bucket(u64::MAX) + 1, BUCKETS);
        for power in 7..38 {
            assert_eq!(bucket(1 << power), bucket((1 << power) - 1) + 1, "2^{power} begins a bucket");
        }
    }

    #[test]
    fn nothing_and_extremes() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.count(), histogram.min(), histogram.max()), (0, None, None));
        assert_eq!((histogram.mean(), histogram.percentile(50.0)), (None, None));
        histogram.record(Duration::MAX, 0);
        assert_eq!(histogram, Histogram::default());
        histogram.record(Duration::ZERO, 1);
        assert_eq!(histogram.percentile(f64::NAN), Some(Duration::ZERO));
        histogram.record(Duration::MAX, u64::MAX);
        assert_eq!(histogram.max(), Some(Duration::from_nanos(u64::MAX)));
        assert_eq!(histogram.count(), u64::MAX);
        assert_eq!(
            histogram.percentile(-1.0),
            Some(Duration::from_nanos(4)),
            "the middle of the first bucket"
        );
    }

    proptest! {
        #[test]
        fn percentiles_are_near_those_of_the_sorted_values(
            values in prop::collection::vec((values(), 1..4_u64), 1..300),
            percent in 0..=100_u32,
        ) {
            let histogram = filled(&values);
            let each = |&(value, weight): &(u64, u64)| (0..weight).map(move |_| value);
            let mut sorted: Vec<u64> = values.iter().flat_map(each).collect();
            sorted.sort_unstable();
            let truth = Duration::from_nanos(sorted[(percent as usize * sorted.len()).div_ceil(100).max(1) - 1]);
            let found = histogram.percentile(f64::from(percent)).unwrap();
            let off = found.abs_diff(truth);
            prop_assert!(off * 8 <= truth || off < Duration::from_nanos(8), "{found:?} for {truth:?}");
            prop_assert_eq!(histogram.count(), sorted.len() as u64);
            prop_assert_eq!(histogram.min(), sorted.first().map(|least| Duration::from_nanos(*least)));
            prop_assert_eq!(histogram.max(), sorted.last().map(|most| Duration::from_nanos(*most)));
            let mean = sorted.iter().sum::<u64>() / sorted.len() as u64;
            prop_assert_eq!(histogram.mean(), Some(Duration::from_nanos(mean)));
        }

        #[test]
        fn merged_is_as_if_counted_in_one(
            values in prop::collection::vec((values(), 0..4_u64), 0..60),
            cut in any::<prop::sample::Index>(),
        ) {
            let (first, second) = values.split_at(cut.index(values.len() + 1));
            let mut merged = filled(first);
            merged.merge(&filled(second));
            prop_assert_eq!(merged, filled(&values));
        }
    }
}
