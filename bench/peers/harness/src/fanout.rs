//! One publisher, with all its subscribers in one other process.

use std::time::Duration;

use sinew_bench::news::{self, Heard};
use sinew_bench::pacing::{Ticks, ticks, warm_up};
use sinew_bench::rounds::{Meter, Usage};
use sinew_bench::samples::Samples;

use crate::chain::Timing;
use crate::{Figures, Process, Result, now_ns};

/// Messages per second.
const RATE: f64 = 100.0;

/// Returns room for the observations of this many subscribers in that time. At the end, the other
/// process sends them together with its [`Usage`].
pub fn heard_by(subscriptions: u32, time: Duration) -> Heard {
    Heard::by(subscriptions, ticks(RATE, time) as usize)
}

/// Publishes by calling `publish` for `time`, and returns the figures. `other` already has its
/// subscribers, and is sent the number of messages.
///
/// # Errors
///
/// The errors of `publish`, and if `other` ends early.
pub fn measure(
    time: Duration,
    other: Process,
    mut publish: impl FnMut(Timing) -> Result<()>,
) -> Result<Figures> {
    let count = ticks(RATE, time);
    let mut inside = Samples::with_room_for(count as usize);
    let meter = Meter::start();
    let mut pace = Ticks::start(RATE)?;
    for number in 1..=count {
        pace.wait();
        let stamp = now_ns();
        publish(Timing { stamp, number: number.into() })?;
        let time_inside = now_ns() - stamp;
        if number > warm_up(count) {
            inside.record(time_inside);
        }
    }
    let usage = meter.usage();
    let (heard, others): (Heard, Usage) = other.finish_after(count.into())?;
    let figures = news::figures(&[heard], warm_up(count).into(), count.into());
    Ok(Figures { publish_p50_ns: inside.p50(1), ..figures.using(usage + others) })
}
