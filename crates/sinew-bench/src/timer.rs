//! Scenario `timer`: the lateness of a 1 kHz timer's callback, idle and with one core busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sinew::time::TimerInfo;

use super::floors::sleep;
use super::progress::Progress;
use super::report::{Figures, Row, hundredth};
use super::rounds::{Round, Turns, alternate, ratio};
use super::run::{Collected, Run};
use super::samples::Samples;
use crate::clock::now_ns;
use crate::error::Error;
use crate::machine;
use crate::options::ExecutorOptions;
use crate::pacing::{ticks, warm_up};

/// The timer's rate, in Hz.
const RATE: f64 = 1000.0;

/// Measures both rows, each beside the kernel's own sleep under the same load.
pub(super) fn measure(turns: Turns, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for load in ["idle", "one core busy"] {
        let _load = (load != "idle").then(BusyCore::start).transpose()?;
        let mut skipped = 0;
        let mut floor = |time| sleep::round(RATE, time);
        let mut ours = |time| {
            let (round, skipped_now) = round(time)?;
            skipped += skipped_now;
            // Otherwise the process's CPU use is that of the busy core.
            let usage = round.usage.filter(|_| load == "idle");
            Ok(Round { usage, ..round })
        };
        let sides = [&mut floor as _, &mut ours as _];
        let [floor, ours] = alternate(progress, &format!("timer at {RATE} Hz, {load}"), turns, sides)?;
        let row = |row: Row| {
            let lateness_p99_ns = row.figures.p99_ns;
            let figures = Figures { lateness_p99_ns, ..row.figures };
            Row { figures, ..row }.with("rate", RATE).with("load", load)
        };
        let figures = Figures {
            floor_ratio: ratio(&ours, 1, &floor, 1).map(hundredth),
            skipped: Some(skipped),
            ..Figures::over(&ours, 1)
        };
        rows.push(row(Row::floor("timer", "sleep", Figures::over(&floor, 1))));
        rows.push(row(Row::sinew("timer", figures)).run_by(ExecutorOptions::default()));
    }
    Ok(rows)
}

/// Measures one round, and the number of periods that the timer skipped. A sample is the lateness
/// of one expiry.
fn round(time: Duration) -> sinew::Result<(Round, u64)> {
    let ticks = ticks(RATE, time);
    let mut left_to_warm = warm_up(ticks);
    let run = Run::new()?;
    let lateness = Collected::new(Samples::with_room_for(ticks as usize + 1));
    let measured = lateness.clone();
    let node = run.context.node("metronome")?;
    let timer = node.timer(Duration::from_secs_f64(1.0 / RATE)).callback(move |info: &TimerInfo| {
        let late = now_ns() - info.due().nanoseconds();
        if left_to_warm > 0 {
            left_to_warm -= 1;
        } else {
            measured.with(|measured| measured.record(late));
        }
    })?;
    let usage = run.spin_for(time)?;
    let skipped = timer.skipped();
    drop(timer);
    let round = Round { usage: Some(usage), ..Round::of(lateness.with(std::mem::take)) };
    Ok((round, skipped))
}

/// Keeps the last allowed core busy until it is dropped.
struct BusyCore {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl BusyCore {
    fn start() -> Result<Self, Error> {
        let core = machine::allowed_cores()?.last().copied();
        let done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&done);
        let thread = thread::spawn(move || {
            core.map_or(Ok(()), machine::pin_to)?;
            // Relaxed: nothing else depends on the flag.
            while !told.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            Ok(())
        });
        Ok(Self { done, thread: Some(thread) })
    }
}

impl Drop for BusyCore {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Whether it could be pinned matters only for the figures, and the kernel keeps a
            // spinning thread in place.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiries_are_measured_after_the_warm_up() {
        let (round, skipped) = round(Duration::from_millis(50)).unwrap();
        assert!(round.messages > 0 && round.messages + skipped <= 51, "{} and {skipped}", round.messages);
    }
}
