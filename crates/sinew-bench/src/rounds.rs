//! Rounds: how many, how long, and the resources that processes use in them.

use std::iter::Sum;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{clock, machine};

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
