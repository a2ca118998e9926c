//! A message forth and one back, between two processes, timed as in `sinew bench pingpong`.

pub use sinew_bench::payload::whole;
use sinew_bench::rally::{self, Timed};
pub use sinew_bench::rally::{Answer, Rally};
use sinew_bench::rounds::{Meter, Usage};

use crate::{Case, Figures, Measuring, Mode, Process, Result, Work, now_ns};

/// The parameters of a ping-pong.
#[derive(Clone, Copy, Debug)]
pub struct Game {
    /// How messages are written and read.
    pub mode: Mode,
    /// Bytes of a message.
    pub size: usize,
}

impl Game {
    /// Returns the parameters of a case.
    ///
    /// # Errors
    ///
    /// If the case isn't a ping-pong.
    pub fn of(case: &Case) -> Result<Self> {
        match case.work {
            Work::PingPong { mode, size, .. } => Ok(Self { mode, size }),
            _ => anyhow::bail!("{} is no ping-pong", case.work.scenario()),
        }
    }

    /// Returns the number of words of a message.
    pub fn words(self) -> usize {
        self.size / size_of::<u64>()
    }

    /// Writes message `number` in place, according to the mode: the first word, or all of them.
    pub fn write(self, words: &mut [u64], number: u64) {
        match self.mode {
            Mode::Loan => words[0] = number,
            Mode::Whole => words.fill(number),
        }
    }

    /// Reads a message according to the mode: returns its number, and the time at which all of it
    /// was read. A message that isn't whole has the number 0, which counts as reordered.
    pub fn read(self, words: &[u64]) -> (u64, i64) {
        match self.mode {
            Mode::Loan => (words[0], 0),
            Mode::Whole => {
                let number = whole(std::hint::black_box(words)).unwrap_or(0);
                (number, now_ns())
            }
        }
    }
}

/// Measures one round of a ping-pong. The first `WARM_AFTER` messages aren't measured.
///
/// # Errors
///
/// The errors of `rally`.
pub fn measure(case: &Case, rally: &mut impl Rally<anyhow::Error>) -> Result<Figures> {
    let (rate, whole) = match case.work {
        Work::PingPong { mode, rate, .. } => (rate, mode == Mode::Whole),
        Work::Requests { rate, .. } => (rate, false),
        _ => anyhow::bail!("{} is no ping-pong", case.work.scenario()),
    };
    rally::round(Timed { rate, to_the_end: whole, time: case.time() }, rally)
}

/// As [`measure`], with the resources of both processes: `other` runs [`answer_until_the_end`].
///
/// # Errors
///
/// The errors of `rally`, and if `other` ends early.
pub fn measure_both(
    case: &Case,
    mut other: Process,
    rally: &mut impl Rally<anyhow::Error>,
) -> Result<Figures> {
    other.order(&())?;
    let meter = Meter::start();
    let figures = measure(case, rally)?;
    let usage = meter.usage();
    let of_other: Usage = other.finish()?;
    Ok(figures.using(usage + of_other))
}

/// In the other process, while threads of the peer answer: reports that it is ready, and at the end
/// sends the resources that it has used since [`measure_both`] began.
///
/// # Errors
///
/// If the measuring process is gone.
pub fn answer_until_the_end(measuring: Measuring) -> Result<()> {
    measuring.tell(&())?;
    if measuring.order::<()>()?.is_some() {
        let meter = Meter::start();
        measuring.order::<()>()?;
        measuring.tell(&meter.usage())?;
    }
    Ok(())
}
