//! The values of one series, in memory that doesn't grow with their number.

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
    parts: Vec<Option<Part>>,
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

impl Series {
    /// Makes a series for times from the first to the last of these, in seconds.
    pub(crate) fn new(name: &str, times: (f64, f64)) -> Self {
        Self { name: name.to_owned(), times, parts: vec![None; PARTS], count: 0 }
    }

    /// Adds a value. One that isn't finite can't be drawn, and is left out.
    pub(crate) fn add(&mut self, time: f64, value: f64) {
        if !value.is_finite() {
            return;
        }
        let (from, to) = self.times;
        let place = (time - from) / (to - from).max(f64::MIN_POSITIVE) * PARTS as f64;
        let sample = (time, value);
        self.count += 1;
        let part = &mut self.parts[whole(place).min(PARTS - 1)];
        match part {
            None => *part = Some(Part { first: sample, least: sample, greatest: sample, last: sample }),
            Some(part) => {
                part.last = sample;
                if value < part.least.1 {
                    part.least = sample;
                }
                if value > part.greatest.1 {
                    part.greatest = sample;
                }
            }
        }
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
            samples.extend(all);
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
}
