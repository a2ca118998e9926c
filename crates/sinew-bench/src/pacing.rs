//! The pace of a measurement: at a steady rate, for a while, on a thread of its own; and its
//! warm-up.

use std::thread;
use std::time::Duration;

use crate::machine;
use crate::{Error, Samples, nanoseconds, now_ns, sleep_until};

/// Due times at a steady rate; the calling thread sleeps until each.
pub struct Ticks {
    due_ns: i64,
    period_ns: i64,
}

impl Ticks {
    /// Starts: the first tick is one period from now. Sets the calling thread's timer slack.
    pub fn start(rate: f64) -> Result<Self, Error> {
        machine::sleep_exactly()?;
        let period_ns = nanoseconds(Duration::from_secs_f64(1.0 / rate)).max(1);
        Ok(Self { due_ns: now_ns(), period_ns })
    }

    /// Sleeps until the next tick is due and returns its due time. Ticks that are already past are
    /// skipped, as a timer skips them.
    pub fn wait(&mut self) -> i64 {
        let passed = (now_ns() - self.due_ns).max(0) / self.period_ns;
        self.due_ns += self.period_ns * (passed + 1);
        sleep_until(self.due_ns);
        self.due_ns
    }
}

/// Stack of a measuring thread: several of the largest message, which is created there and moved.
const STACK: usize = 128 << 20;

/// Runs `work` on a thread of its own, so that later measurements don't inherit its core and its
/// timer slack.
pub fn on_own_thread<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|source| Error::System { call: "starting a thread", source })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Returns the number of samples in `time` at `rate` Hz, at least two.
pub fn ticks(rate: f64, time: Duration) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and is never negative"
    )]
    let count = (rate * time.as_secs_f64()).round() as u32;
    count.max(2)
}

/// Returns the number of ticks at the start of a round that only warm up: a tenth, at least one.
pub fn warm_up(ticks: u32) -> u32 {
    (ticks / 10).max(1)
}

/// A round limited by time: its first tenth warms up, and it takes at least three samples.
pub struct Window {
    counts_from_ns: i64,
    until_ns: i64,
}

impl Window {
    const FEWEST: u64 = 3;

    /// Starts now.
    pub fn of(time: Duration) -> Self {
        let now = now_ns();
        Self { counts_from_ns: now + nanoseconds(time / 10), until_ns: now + nanoseconds(time) }
    }

    /// Keeps a value that was measured at `now_ns`, unless it belongs to the warm-up.
    pub fn record(&self, now_ns: i64, value: i64, samples: &mut Samples) {
        if now_ns >= self.counts_from_ns {
            samples.record(value);
        }
    }

    /// Returns `true` if the time is over and there are enough samples.
    pub fn is_over(&self, now_ns: i64, samples: &Samples) -> bool {
        now_ns >= self.until_ns && samples.recorded() >= Self::FEWEST
    }
}
