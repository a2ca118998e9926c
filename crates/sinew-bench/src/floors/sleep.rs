//! Floor `sleep`: how late the kernel wakes a thread that sleeps until an absolute time, with a timer slack of 1 ns.

use std::time::Duration;

use super::{on_own_thread, ticks, warm_up};
use crate::clock::{nanoseconds, now_ns, sleep_until};
use crate::error::Error;
use crate::machine;
use crate::rounds::Round;
use crate::samples::Samples;

/// Due times at a steady rate, for the calling thread to sleep to.
pub(crate) struct Ticks {
    due_ns: i64,
    period_ns: i64,
}

impl Ticks {
    /// The first tick is one period from now. Sets the calling thread's timer slack.
    pub(crate) fn start(rate: f64) -> Result<Self, Error> {
        machine::sleep_exactly()?;
        let period_ns = nanoseconds(Duration::from_secs_f64(1.0 / rate)).max(1);
        Ok(Self { due_ns: now_ns(), period_ns })
    }

    /// Sleeps until the next tick is due and tells when that was. Ticks that are past already are left out, as a timer
    /// leaves them out.
    pub(crate) fn wait(&mut self) -> i64 {
        let passed = (now_ns() - self.due_ns).max(0) / self.period_ns;
        self.due_ns += self.period_ns * (passed + 1);
        sleep_until(self.due_ns);
        self.due_ns
    }
}

/// One round at `rate` Hz. A sample is one wake-up's lateness.
pub(crate) fn round(rate: f64, time: Duration) -> Result<Round, Error> {
    on_own_thread(|| {
        let ticks = ticks(rate, time);
        let mut samples = Samples::with_room_for(ticks as usize);
        let mut pace = Ticks::start(rate)?;
        for number in 0..ticks {
            let due_ns = pace.wait();
            let lateness = now_ns() - due_ns;
            if number >= warm_up(ticks) {
                samples.record(lateness);
            }
        }
        Ok(Round::of(samples))
    })
}
