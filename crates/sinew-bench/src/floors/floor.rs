//! A floor as data, and all of them.

use std::time::Duration;

use super::two::TwoProcessFloor;
use super::{copy, direct, sleep};
use crate::flood::with_rates;
use crate::machine;
use crate::{Error, Figures, Settings};

/// The measured message sizes, in bytes.
const SIZES: [usize; 9] = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20];

/// The rates of paced measurements, in Hz.
const RATES: [f64; 3] = [10.0, 100.0, 1000.0];

/// One of the machine's floors.
pub(crate) struct Floor {
    /// Its name in the rows.
    pub(crate) name: &'static str,
    /// Whether it has two processes, on two cores.
    pub(crate) two_processes: bool,
    round: Box<dyn Fn(Duration) -> Result<Figures, Error>>,
}

impl Floor {
    /// Returns a floor of this process, which measures a round for about the given time.
    pub(crate) fn new(
        name: &'static str,
        round: impl Fn(Duration) -> Result<Figures, Error> + 'static,
    ) -> Self {
        Self { name, two_processes: false, round: Box::new(round) }
    }

    /// Returns a floor of two processes or threads, each on one of the cores that `round` is given.
    pub(crate) fn between(
        name: &'static str,
        round: impl Fn((usize, usize), Duration) -> Result<Figures, Error> + 'static,
    ) -> Self {
        let round = move |time| round(machine::cores()?, time);
        Self { name, two_processes: true, round: Box::new(round) }
    }

    /// A chain of direct calls.
    pub(crate) fn direct(relays: u32, rate: f64) -> Self {
        Self::new("direct", move |time| direct::round(relays, rate, time))
    }

    /// Two cache lines from one core to another.
    pub(crate) fn line2() -> Self {
        Self::between("line2", |cores, time| TwoProcessFloor::Line2.round(cores, 0, None, time))
    }

    /// A buffer that is written on one core and read on another.
    pub(crate) fn handover(size: usize) -> Self {
        Self::between("handover", move |cores, time| TwoProcessFloor::Handover.round(cores, size, None, time))
    }

    /// Waking another process.
    pub(crate) fn wake(rate: Option<f64>) -> Self {
        Self::between("wake", move |cores, time| TwoProcessFloor::Wake.round(cores, 0, rate, time))
    }

    /// Copying with a warm cache. The buffers exist only meanwhile: Sinew's memory is measured as
    /// well.
    pub(crate) fn copy(size: usize) -> Self {
        Self::new("copy", move |time| Ok(with_rates(copy::Warm::new(size).round(time / 10), size)))
    }

    /// Copying with a cold cache.
    pub(crate) fn cold_copy(size: usize) -> Self {
        Self::new("copy", move |time| Ok(copy::Cold::new(size).round(time / 10)))
    }

    /// The kernel's sleep.
    pub(crate) fn sleep(rate: f64) -> Self {
        Self::new("sleep", move |time| sleep::round(rate, time))
    }

    /// Measures a round.
    pub(crate) fn round(&self, time: Duration) -> Result<Figures, Error> {
        (self.round)(time)
    }
}

/// Returns every floor, with its options.
pub(crate) fn all() -> Vec<(Floor, Settings)> {
    let none = Settings::new;
    let at = |rate| none().with("rate", rate);
    let direct = RATES.map(|rate| (Floor::direct(10, rate), at(rate).with("relays", 10)));
    let between = [(Floor::line2(), none()), (Floor::wake(None), none().with("pace", "back to back"))];
    let handover = SIZES.map(|size| (Floor::handover(size), none().with("size", size)));
    let wake = RATES.map(|rate| (Floor::wake(Some(rate)), at(rate)));
    let copy = SIZES.map(|size| (Floor::copy(size), none().with("size", size).with("cache", "warm")));
    let size = copy::COLD_SIZE;
    let cold = (Floor::cold_copy(size), none().with("size", size).with("cache", "cold"));
    let sleep = (Floor::sleep(1000.0), at(1000.0));
    let all = direct.into_iter().chain(between).chain(handover).chain(wake).chain(copy);
    all.chain([cold, sleep]).collect()
}
