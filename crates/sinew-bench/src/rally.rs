//! Times a message forth and one back, repeatedly, whatever transports the messages.

use std::time::Duration;

use crate::payload::WARM_AFTER;
use crate::{Error, Figures, Samples, Ticks, Window, now_ns};

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 20;

/// An answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The number of the message that it answers.
    pub number: u64,
    /// End of the measured time, if it isn't the arrival of the answer.
    pub end_ns: Option<i64>,
}

/// The side that begins.
pub trait Rally<E> {
    /// Sends message `number`.
    ///
    /// # Errors
    ///
    /// The reason why it can't be sent.
    fn send(&mut self, number: u64) -> Result<(), E>;

    /// Waits for the answer.
    ///
    /// # Errors
    ///
    /// If no answer comes.
    fn answer(&mut self) -> Result<Answer, E>;
}

/// The timing of a rally.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// Messages per second; back to back if missing. If both this is missing and `to_the_end` is
    /// false, the clock is read once per message, while the message is in transit.
    pub rate: Option<f64>,
    /// Whether a sample ends at [`Answer::end_ns`].
    pub to_the_end: bool,
    /// Duration, including warm-up.
    pub time: Duration,
}

/// Measures one round: half of each round trip, or the way until [`Answer::end_ns`].
///
/// # Errors
///
/// The errors of either half of `rally`.
pub fn round<E: From<Error>>(timed: Timed, rally: &mut impl Rally<E>) -> Result<Figures, E> {
    let mut samples = Samples::with_room_for(ROOM);
    let mut pace = timed.rate.map(Ticks::start).transpose()?;
    let from_start_to_end = pace.is_some() || timed.to_the_end;
    let mut reordered = 0;
    for number in 1..=WARM_AFTER {
        rally.send(number)?;
        rally.answer()?;
    }
    let window = Window::of(timed.time);
    let mut before = now_ns();
    for number in WARM_AFTER + 1.. {
        if let Some(pace) = &mut pace {
            pace.wait();
        }
        let start = if from_start_to_end { now_ns() } else { before };
        rally.send(number)?;
        if !from_start_to_end {
            before = now_ns();
            window.record(before, before - start, &mut samples);
        }
        let answer = rally.answer()?;
        reordered += u64::from(answer.number != number);
        if from_start_to_end {
            before = now_ns();
            window.record(start, answer.end_ns.unwrap_or(before) - start, &mut samples);
        }
        if window.is_over(before, &samples) {
            break;
        }
    }
    Ok(Figures::of(&samples, if timed.to_the_end { 1 } else { 2 }).faulty(0, reordered))
}
