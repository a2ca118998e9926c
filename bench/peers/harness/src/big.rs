//! Images of 8 MB to another process that sleeps. Their first word says when one was complete, all
//! others its number.

use serde::{Deserialize, Serialize};
use sinew_bench::clock::sleep_until;
use sinew_bench::pacing::{Ticks, ticks};
use sinew_bench::payload::WARM_AFTER;
use sinew_bench::report::tenth;
use sinew_bench::rounds::{Meter, Round, Usage};
use sinew_bench::samples::Samples;
use sinew_bench::sequence::Sequence;

use crate::{Case, Figures, Process, Result, now_ns};

/// Bytes of an image.
pub const BYTES: usize = 8 << 20;

/// Images a second.
const RATE: f64 = 10.0;

/// Samples a round keeps.
const ROOM: usize = 1 << 10;

/// What the other process sees. At the end it tells that together with its [`Usage`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Images {
    /// From the complete image until it is there.
    samples: Samples,
    sequence: Sequence,
}

impl Default for Images {
    fn default() -> Self {
        Self { samples: Samples::with_room_for(ROOM), sequence: Sequence::default() }
    }
}

impl Images {
    /// An image came: call it first thing. `word` reads one of its words; one with wrong pixels
    /// counts as lost.
    pub fn note(&mut self, word: impl Fn(usize) -> Option<u64>) {
        const WORDS: usize = BYTES / size_of::<u64>();
        let now = now_ns();
        let (Some(stamp), Some(number)) = (word(0), word(1)) else { return };
        if word(WORDS / 2) == Some(number) && word(WORDS - 1) == Some(number) {
            self.sequence.note(number);
            if number > WARM_AFTER {
                self.samples.record(now - stamp.cast_signed());
            }
        }
    }

    /// How many came, without those that had wrong pixels.
    pub fn received(&self) -> u64 {
        self.sequence.received
    }
}

/// Sends images by `send`, which is given their number and yields the time inside publish, the
/// image already made; gives the figures. `other` has its subscriber already; it is told how many
/// images there were.
///
/// # Errors
///
/// What `send` fails with, and if `other` ends early.
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
    let (seen, others): (Images, Usage) = other.finish_after(last)?;
    let round = Round {
        lost: seen.sequence.lost(last),
        reordered: seen.sequence.reordered,
        usage: Some(usage + others),
        ..Round::of(seen.samples)
    };
    let publish_p50_ns = inside.summary(1).map(|summary| tenth(summary.p50));
    Ok(Figures { publish_p50_ns, ..Figures::over(&[round], 1) })
}
