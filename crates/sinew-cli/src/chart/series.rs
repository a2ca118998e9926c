//! The values of one series, in memory that doesn't grow with their number.

use std::collections::VecDeque;

use super::ticks::whole;

/// Number of parts of the time: two for each pixel of a picture.
const PARTS: usize = 2000;

/// Values over time. Of each part of the time the first, the least, the greatest and the last value
/// are kept, which look like all of them.
#[derive(Debug)]
pub(crate) struct Series {
    /// Its name.
    pub(crate) name: String,
    /// The first and the last time, in seconds.
    times: (f64, f64),
    /// The beginning of the first part.
    from: f64,
    /// The length of each part.
    width: f64,
    /// `PARTS` of them.
    parts: VecDeque<Option<Part>>,
    count: u64,
}

type Sample = (f64, f64);

#[derive(Clone, Copy, Debug)]
struct Part {
    first: Sample,
    least: Sample,
    greatest: Sample,
    last: Sample,
}

impl Part {
    /// Returns both as one; the other one is later.
    fn with(self, other: Self) -> Self {
        Self {
            first: self.first,
            least: if other.least.1 < self.least.1 { other.least } else { self.least },
            greatest: if other.greatest.1 > self.greatest.1 { other.greatest } else { self.greatest },
            last: other.last,
        }
    }
}

/// Joins two neighbours.
fn joined(part: Option<Part>, next: Option<Part>) -> Option<Part> {
    match (part, next) {
        (Some(part), Some(next)) => Some(part.with(next)),
        (part, next) => part.or(next),
    }
}

impl Series {
    /// Makes a series for times from the first to the last of these, in seconds.
    pub(crate) fn new(name: &str, times: (f64, f64)) -> Self {
        let (from, to) = times;
        let width = (to - from).max(f64::MIN_POSITIVE) / PARTS as f64;
        Self { name: name.to_owned(), times, from, width, parts: vec![None; PARTS].into(), count: 0 }
    }

    /// Adds a value. One that isn't finite can't be drawn, and is left out.
    pub(crate) fn add(&mut self, time: f64, value: f64) {
        if !value.is_finite() {
            return;
        }
        let sample = (time, value);
        self.count += 1;
        let part = &mut self.parts[whole((time - self.from) / self.width).min(PARTS - 1)];
        *part = joined(*part, Some(Part { first: sample, least: sample, greatest: sample, last: sample }));
    }

    /// Makes this the last time, and keeps all values: if there are too many parts, each two become
    /// one.
    pub(crate) fn grow(&mut self, to: f64) {
        self.times.1 = to;
        while to > self.from + self.width * PARTS as f64 {
            let parts = (0..PARTS / 2).map(|at| joined(self.parts[2 * at], self.parts[2 * at + 1]));
            self.parts = parts.chain([None; PARTS / 2]).collect();
            self.width *= 2.0;
        }
    }

    /// Makes this the last time if it is later, and forgets what is too old then: the time stays as
    /// long as it is.
    pub(crate) fn scroll(&mut self, to: f64) {
        if to <= self.times.1 {
            return;
        }
        self.times = (to - (self.times.1 - self.times.0), to);
        let late = (to - self.from) / self.width - PARTS as f64;
        let old = late.ceil().max(0.0);
        self.from += old * self.width;
        self.parts.drain(..whole(old).min(PARTS));
        self.parts.resize(PARTS, None);
    }

    /// Returns the number of values that were added.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the first and the last time that can be drawn.
    pub(crate) fn times(&self) -> (f64, f64) {
        self.times
    }

    /// Returns the values to draw, in the order of time.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        for part in self.parts.iter().flatten() {
            let mut all = [part.first, part.least, part.greatest, part.last];
            all.sort_by(|one, other| one.0.total_cmp(&other.0));
            samples.extend(all.iter().filter(|(time, _)| *time >= self.times.0));
        }
        samples.dedup();
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive_and_memory_does_not_grow() {
        let mut series = Series::new("a", (0.0, 100.0));
        for number in 0..1_000_000 {
            let value = if number == 777_777 { 50.0 } else { f64::from(number % 7) };
            series.add(f64::from(number) / 10_000.0, value);
        }
        series.add(50.0, f64::NAN);
        let samples = series.samples();
        assert!(samples.len() <= 4 * PARTS);
        assert_eq!(series.count(), 1_000_000);
        assert!(samples.contains(&(77.7777, 50.0)));
        assert!(samples.is_sorted_by(|one, other| one.0 <= other.0));
    }

    #[test]
    fn few_values_are_all_there() {
        let mut series = Series::new("a", (5.0, 5.0));
        series.add(5.0, 1.0);
        assert_eq!(series.samples(), [(5.0, 1.0)]);
    }

    #[test]
    fn a_growing_series_keeps_peaks_and_its_last_value() {
        let mut series = Series::new("a", (0.0, 1.0));
        for number in 0..100_000 {
            let time = f64::from(number) / 100.0;
            series.grow(time);
            series.add(time, if number == 7 { 50.0 } else { f64::from(number % 7) });
        }
        let samples = series.samples();
        assert!(samples.len() <= 4 * PARTS && series.times() == (0.0, 999.99));
        assert_eq!((samples[0], samples.last()), ((0.0, 0.0), Some(&(999.99, 4.0))));
        assert!(samples.contains(&(0.07, 50.0)) && samples.is_sorted_by(|one, other| one.0 <= other.0));
    }

    #[test]
    fn a_scrolling_series_forgets_what_is_too_old() {
        let mut series = Series::new("a", (0.0, 10.0));
        for number in 0..300 {
            let time = f64::from(number) / 10.0;
            series.scroll(time);
            series.add(time, f64::from(number));
        }
        let samples = series.samples();
        let (first, last) = (samples[0], samples[samples.len() - 1]);
        assert!(samples.len() >= 100 && first.0 >= 19.9 && first.0 < 20.1, "{first:?}");
        assert_eq!(last, (29.9, 299.0));
        series.scroll(1000.0);
        assert!(series.samples().is_empty() && series.times() == (990.0, 1000.0));
    }
}
