//! Rounds: the sides of a comparison take turns (A B A B ...), so that disturbances of the machine
//! affect all of them.

use std::iter::Sum;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::progress::Progress;
use super::samples::{Samples, Summary, median};
use crate::clock;
use crate::error::Error;
use crate::machine;

/// Default number of rounds of each side of a comparison: enough for a median and a spread.
pub const ROUNDS: u32 = 5;

/// The total time of each side of a comparison, and its number of rounds (at least one).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    /// The time of all rounds of a side.
    pub time: Duration,
    /// Number of rounds.
    pub rounds: u32,
}

impl Turns {
    /// Returns the time of one round of a side.
    pub fn each(self) -> Duration {
        self.time / self.rounds.max(1)
    }
}

/// The measurements of one side in one round.
#[derive(Debug)]
pub struct Round {
    /// One value per message (or operation), without the warm-up.
    pub samples: Samples,
    /// Number of messages, if a sample stands for several of them or for a part.
    pub messages: u64,
    /// Messages that were sent and never came.
    pub lost: u64,
    /// Messages that came after a later one.
    pub reordered: u64,
    /// Messages that were copied on their way; `None` if they aren't counted.
    pub copies: Option<u64>,
    /// The resources of all its processes; `None` if they aren't measured.
    pub usage: Option<Usage>,
}

impl Round {
    /// Makes a round in which every sample is a message and none can be lost, as in the floors.
    pub fn of(samples: Samples) -> Self {
        Self { messages: samples.recorded(), samples, lost: 0, reordered: 0, copies: None, usage: None }
    }
}

/// One side of a comparison: measures for about the given time.
pub type Side<'a> = &'a mut dyn FnMut(Duration) -> Result<Round, Error>;

/// Gives every side its turn, in as many rounds as `turns` says. Returns the rounds by side.
pub fn alternate<const SIDES: usize>(
    progress: &mut Progress,
    what: &str,
    turns: Turns,
    mut sides: [Side<'_>; SIDES],
) -> Result<[Vec<Round>; SIDES], Error> {
    let mut rounds = [const { Vec::new() }; SIDES];
    for number in 1..=turns.rounds {
        progress.show(what, number, turns.rounds);
        for (side, rounds) in sides.iter_mut().zip(&mut rounds) {
            rounds.push(side(turns.each())?);
        }
    }
    Ok(rounds)
}

/// Returns the median over the rounds of (P50 of `side` / P50 of `floor` in the same round): the
/// distance from the floor.
pub fn ratio(side: &[Round], parts: u32, floor: &[Round], floor_parts: u32) -> Option<f64> {
    ratio_of(|summary| summary.p50, side, parts, floor, floor_parts)
}

/// Returns the same ratio for P90.
pub fn ratio_of_p90(side: &[Round], parts: u32, floor: &[Round], floor_parts: u32) -> Option<f64> {
    ratio_of(|summary| summary.p90, side, parts, floor, floor_parts)
}

fn ratio_of(
    figure: fn(Summary) -> f64,
    side: &[Round],
    parts: u32,
    floor: &[Round],
    floor_parts: u32,
) -> Option<f64> {
    median(side.iter().zip(floor).filter_map(|(side, floor)| {
        let floor = figure(floor.samples.summary(floor_parts)?);
        (floor > 0.0).then_some(figure(side.samples.summary(parts)?) / floor)
    }))
}

/// The resources of a process, or of all processes of a side, during a measurement.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Usage {
    /// CPU time per elapsed time, in percent of one core.
    pub cpu_percent: f64,
    /// Resident memory, while everything still existed. Shared memory counts for each process that
    /// has touched it.
    pub rss_bytes: u64,
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cpu_percent: self.cpu_percent + other.cpu_percent,
            rss_bytes: self.rss_bytes + other.rss_bytes,
        }
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Measures the resources of this process between its creation and [`Meter::usage`].
pub struct Meter {
    used: Duration,
    since_ns: i64,
}

impl Meter {
    /// Starts measuring.
    pub fn start() -> Self {
        Self { used: machine::cpu_time(), since_ns: clock::now_ns() }
    }

    /// Returns the CPU time used since then, and the current resident memory.
    pub fn usage(&self) -> Usage {
        let used = machine::cpu_time().saturating_sub(self.used).as_secs_f64();
        let passed = (clock::now_ns() - self.since_ns).max(1) as f64 / 1e9;
        let rss_bytes = machine::resident_bytes().unwrap_or(0);
        Usage { cpu_percent: 100.0 * used / passed, rss_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(values: &[i64]) -> Round {
        let mut samples = Samples::with_room_for(values.len());
        values.iter().for_each(|&value| samples.record(value));
        Round::of(samples)
    }

    #[test]
    fn sides_take_turns() {
        let order = std::cell::RefCell::new(String::new());
        let mut a = |time| {
            order.borrow_mut().push('a');
            assert_eq!(time, Duration::from_secs(2));
            Ok(round(&[1]))
        };
        let mut b = |_| {
            order.borrow_mut().push('b');
            Ok(round(&[2]))
        };
        let turns = Turns { time: Duration::from_secs(10), rounds: 5 };
        let [of_a, of_b] = alternate(&mut Progress::silent(), "test", turns, [&mut a, &mut b]).unwrap();
        assert_eq!(*order.borrow(), "ababababab");
        assert_eq!((of_a.len(), of_b.len()), (5, 5));
        assert_eq!(ratio(&of_b, 1, &of_a, 1), Some(2.0));
    }

    #[test]
    fn the_ratio_is_of_values_per_part() {
        assert_eq!(ratio(&[round(&[100])], 10, &[round(&[10])], 2), Some(2.0));
        assert_eq!(ratio(&[round(&[100])], 10, &[round(&[0])], 2), None);
    }
}
