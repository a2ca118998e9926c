//! Images of 8 MB to another process that sleeps. The first word of an image is its time of
//! completion, all others are its number.

use serde::{Deserialize, Serialize};
use sinew_bench::arrivals::Arrivals;
use sinew_bench::clock::sleep_until;
use sinew_bench::pacing::{Ticks, ticks};
use sinew_bench::payload::WARM_AFTER;
use sinew_bench::rounds::{Meter, Usage};
use sinew_bench::samples::Samples;

use crate::{Case, Figures, Process, Result, now_ns};

/// Bytes of an image.
pub const BYTES: usize = 8 << 20;

/// Images per second.
const RATE: f64 = 10.0;

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 10;

/// The other process's observations. A sample is the time from the complete image until its
/// arrival. At the end it sends them together with its [`Usage`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Images(Arrivals);

impl Default for Images {
    fn default() -> Self {
        Self(Arrivals::after(WARM_AFTER, ROOM))
    }
}

impl Images {
    /// Records an image: call it first. `word` reads one of its words; an image with wrong pixels
    /// counts as lost.
    pub fn note(&mut self, word: impl Fn(usize) -> Option<u64>) {
        const WORDS: usize = BYTES / size_of::<u64>();
        let now = now_ns();
        let (Some(stamp), Some(number)) = (word(0), word(1)) else { return };
        if word(WORDS / 2) == Some(number) && word(WORDS - 1) == Some(number) {
            self.0.note(number, now - stamp.cast_signed());
        }
    }

    /// Returns the number of images that came, without those with wrong pixels.
    pub fn received(&self) -> u64 {
        self.0.received()
    }
}

/// Sends images by calling `send` with their number; it returns the time inside publish, without
/// making the image. Returns the figures. `other` already has its subscriber, and is sent the
/// number of images.
///
/// # Errors
///
/// The errors of `send`, and if `other` ends early.
pub fn measure(case: &Case, other: Process, mut send: impl FnMut(u64) -> Result<i64>) -> Result<Figures> {
    for number in 1..=WARM_AFTER {
        send(number)?;
        sleep_until(now_ns() + 20_000_000);
    }
    let last = WARM_AFTER + u64::from(ticks(RATE, case.time()));
    let mut inside = Samples::with_room_for(ROOM);
    let meter = Meter::start();
    let mut pace = Ticks::start(RATE)?;
    for number in WARM_AFTER + 1..=last {
        pace.wait();
        inside.record(send(number)?);
    }
    let usage = meter.usage();
    let (Images(seen), others): (Images, Usage) = other.finish_after(last)?;
    Ok(Figures { publish_p50_ns: inside.p50(1), ..seen.figures(1, last, usage + others) })
}
