//! Measures every floor.

use std::time::Duration;

use super::{copy, direct, handover, line2, sleep, wake};
use crate::error::Error;
use crate::machine;
use crate::progress::Progress;
use crate::report::{Figures, Row};
use crate::rounds::{Round, Turns, alternate};

/// The measured message sizes, in bytes.
pub(crate) const SIZES: [usize; 9] =
    [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20];

/// The rates of paced measurements, in Hz.
const RATES: [f64; 3] = [10.0, 100.0, 1000.0];

/// Rows of the floors measured so far, and the means to measure more.
struct Floors<'a> {
    rows: Vec<Row>,
    turns: Turns,
    progress: &'a mut Progress,
}

impl Floors<'_> {
    /// Measures one row in rounds; `side` measures one round, with samples that each stand for
    /// `parts` of the reported unit.
    fn add(
        &mut self,
        what: &str,
        parts: u32,
        row: impl FnOnce(Figures) -> Row,
        mut side: impl FnMut(Duration) -> Result<Round, Error>,
    ) -> Result<(), Error> {
        let [rounds] = alternate(self.progress, what, self.turns, [&mut side])?;
        self.rows.push(row(Figures::over(&rounds, parts)));
        Ok(())
    }
}

/// Measures every floor, each row for the time in `turns`.
pub(crate) fn measure(turns: Turns, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let mut floors = Floors { rows: Vec::new(), turns, progress };
    for rate in RATES {
        let row = |figures| Row::floor("floors", "direct", figures).with("rate", rate).with("relays", 10_u32);
        floors.add(&format!("direct at {rate} Hz"), 11, row, |time| direct::round(10, rate, time))?;
    }
    match machine::two_cores()? {
        Some(cores) => two_processes(&mut floors, cores)?,
        None => floors.progress.note(
            "line2, handover and wake need two cores and this process may use one: allow it another (taskset, cgroup)",
        ),
    }
    for size in SIZES {
        let mut warm = copy::Warm::new(size);
        let row = |figures| Row::floor("floors", "copy", figures).with("size", size).with("cache", "warm");
        let operations = copy::Warm::operations(size);
        floors.add(&format!("copy of {size} B"), operations, row, |time| Ok(warm.round(time)))?;
    }
    let mut cold = copy::Cold::new(copy::COLD_SIZE);
    let row =
        |figures| Row::floor("floors", "copy", figures).with("size", copy::COLD_SIZE).with("cache", "cold");
    floors.add("copy of 8 MB, cold", 1, row, |time| Ok(cold.round(time)))?;
    drop(cold);
    let row = |figures: Figures| {
        let lateness_p99_ns = figures.p99_ns;
        Row::floor("floors", "sleep", Figures { lateness_p99_ns, ..figures }).with("rate", 1000.0)
    };
    floors.add("sleep at 1000 Hz", 1, row, |time| sleep::round(1000.0, time))?;
    Ok(floors.rows)
}

fn two_processes(floors: &mut Floors<'_>, cores: (usize, usize)) -> Result<(), Error> {
    let row = |figures| Row::floor("floors", "line2", figures);
    floors.add("line2", 2, row, |time| line2::round(cores, time))?;
    for size in SIZES {
        let row = |figures| Row::floor("floors", "handover", figures).with("size", size);
        floors.add(&format!("handover of {size} B"), 1, row, |time| handover::round(cores, size, time))?;
    }
    let row = |figures| Row::floor("floors", "wake", figures).with("pace", "back to back");
    floors.add("wake, back to back", 2, row, |time| wake::round(cores, None, time))?;
    for rate in RATES {
        let row = |figures| Row::floor("floors", "wake", figures).with("rate", rate);
        floors.add(&format!("wake at {rate} Hz"), 2, row, |time| wake::round(cores, Some(rate), time))?;
    }
    Ok(())
}
