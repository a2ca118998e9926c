//! Scenario `timer`: the lateness of a 1 kHz timer's callback, idle and with one core busy.

use std::time::Duration;

use sinew::time::TimerInfo;

use crate::busy_core::BusyCore;
use crate::floors::sleep;
use crate::options::{Load, TimerCase};
use crate::{Case, Collected, Error, Figures, Floor, Ground, Run, Samples, now_ns, one, ticks, warm_up};

/// The timer's rate, in Hz.
const RATE: f64 = 1000.0;

/// Measures under a load.
fn under<T>(load: Load, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let _busy = (load == Load::OneCoreBusy).then(|| BusyCore::start(std::hint::spin_loop)).transpose()?;
    work()
}

/// Measured beside the kernel's own sleep under the same load.
impl Case for TimerCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        let load = one(&self.load);
        let sleep = move |time| under(load, || sleep::round(RATE, time));
        Ok(vec![Floor::new("sleep", sleep)])
    }

    fn round(&self, _: &Ground, time: Duration) -> Result<Figures, Error> {
        let figures = under(one(&self.load), || Ok(round(time)?))?;
        // Under load, the process's CPU use is that of the busy core.
        let cpu_percent = figures.cpu_percent.filter(|_| one(&self.load) == Load::Idle);
        Ok(Figures { cpu_percent, ..figures })
    }
}

/// Measures one round: the lateness of each expiry, and the number of periods that the timer
/// skipped.
fn round(time: Duration) -> sinew::Result<Figures> {
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
    let figures = lateness.with(|lateness| Figures::of(lateness, 1)).using(usage);
    Ok(Figures { skipped: Some(timer.skipped()), lateness_p99_ns: figures.p99_ns, ..figures })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiries_are_measured_after_the_warm_up() {
        let figures = round(Duration::from_millis(50)).unwrap();
        let expired = figures.messages.zip(figures.skipped).map(|(measured, skipped)| measured + skipped);
        assert!(figures.messages > Some(0) && expired <= Some(51), "{figures:?}");
    }
}
