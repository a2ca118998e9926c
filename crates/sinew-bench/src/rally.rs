//! A message forth and one back, again and again: how that is timed, whatever carries the messages.

use std::time::Duration;

use crate::clock::now_ns;
use crate::error::Error;
use crate::pacing::{Ticks, Window};
use crate::payload::WARM_AFTER;
use crate::rounds::Round;
use crate::samples::Samples;

/// Samples a round keeps.
const ROOM: usize = 1 << 20;

/// What came back.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The number of the message that it answers.
    pub number: u64,
    /// When what is measured was over, if not when the answer came.
    pub end_ns: Option<i64>,
}

/// The side that begins.
pub trait Rally<E> {
    /// Sends message `number`.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being sent.
    fn send(&mut self, number: u64) -> Result<(), E>;

    /// Waits for the answer.
    ///
    /// # Errors
    ///
    /// If none comes.
    fn answer(&mut self) -> Result<Answer, E>;
}

/// How a rally is timed.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// Messages a second; back to back if absent. Without one and without `to_the_end`, the clock
    /// is read once a message, while that is under way.
    pub rate: Option<f64>,
    /// Whether a sample ends at [`Answer::end_ns`].
    pub to_the_end: bool,
    /// How long, warm-up included.
    pub time: Duration,
}

/// One round. A sample is a whole round trip, or the way until [`Answer::end_ns`].
///
/// # Errors
///
/// What either half of `rally` fails with.
pub fn round<E: From<Error>>(timed: Timed, rally: &mut impl Rally<E>) -> Result<Round, E> {
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
    Ok(Round { reordered, ..Round::of(samples) })
}
