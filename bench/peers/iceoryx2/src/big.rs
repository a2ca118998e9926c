//! An image of 8 MB at 10 Hz to another process that sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use serde::{Deserialize, Serialize};
use sinew_bench::clock::sleep_until;
use sinew_bench::pacing::{Ticks, ticks};
use sinew_bench::payload::WARM_AFTER;
use sinew_bench::report::tenth;
use sinew_bench::rounds::{CpuUse, Round};
use sinew_bench::samples::Samples;
use sinew_bench::sequence::Sequence;

use crate::Iceoryx2;
use crate::domain::{self, Domain};
use crate::ports::{Output, Topic};

/// Images a second.
const RATE: f64 = 10.0;

/// Words of an image: the first one says when it was complete, all others its number.
const WORDS: usize = (8 << 20) / size_of::<u64>();

/// What the other process saw.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Seen {
    /// From the complete image until it is there.
    samples: Samples,
    sequence: Sequence,
    cpu_percent: f64,
}

fn topic() -> Topic {
    // As on our side, ten images may wait.
    Topic { waiting: 10, ..Topic::new("images", true) }
}

/// Sends the next image; yields the time inside sending, the image already made.
fn send(output: &Output, number: u64) -> Result<i64> {
    let mut start = 0;
    output.send(WORDS, |words| {
        words.fill(number);
        words[0] = now_ns().cast_unsigned();
        start = now_ns();
    })?;
    Ok(now_ns() - start)
}

pub fn run(case: &Case) -> Result<Figures> {
    let domain = Domain::create()?;
    let output = topic().output(&domain.node()?, WORDS)?;
    let mut other = harness::start::<Iceoryx2>(case, None, domain.name())?;
    other.hear::<()>()?;
    for number in 1..=WARM_AFTER {
        send(&output, number)?;
        sleep_until(now_ns() + 20_000_000);
    }
    let count = u64::from(ticks(RATE, case.time()));
    let mut inside = Samples::with_room_for(64);
    let cpu = CpuUse::start();
    let mut pace = Ticks::start(RATE)?;
    for number in WARM_AFTER + 1..=WARM_AFTER + count {
        pace.wait();
        inside.record(send(&output, number)?);
    }
    let cpu_percent = cpu.percent();
    let seen: Seen = other.finish_after(WARM_AFTER + count)?;
    let round = Round {
        lost: seen.sequence.lost(WARM_AFTER + count),
        reordered: seen.sequence.reordered,
        cpu_percent: Some(cpu_percent + seen.cpu_percent),
        ..Round::of(seen.samples)
    };
    let publish_p50_ns = inside.summary(1).map(|summary| tenth(summary.p50));
    Ok(Figures { publish_p50_ns, ..Figures::over(&[round], 1) })
}

pub fn serve(other: &Other, measuring: Measuring) -> Result<()> {
    let input = topic().input(&domain::node(&other.note)?)?;
    let (received, goes_on) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
    let (count, flag) = (received.clone(), goes_on.clone());
    measuring.tell(&())?;
    measuring.at_the_end(move || count.load(Ordering::Relaxed), move || flag.store(false, Ordering::Relaxed));
    let room = ticks(RATE, other.case.time().max(Duration::from_secs(1))) as usize;
    let mut seen = Seen { samples: Samples::with_room_for(room), ..Seen::default() };
    let cpu = CpuUse::start();
    while let Some(image) = input.next(|| Ok(goes_on.load(Ordering::Relaxed)))? {
        let now = now_ns();
        let number = image[1];
        // One with wrong pixels counts as lost.
        if image.last() == Some(&number) && image[WORDS / 2] == number {
            seen.sequence.note(number);
            if number > WARM_AFTER {
                seen.samples.record(now - image[0].cast_signed());
            }
        }
        received.store(seen.sequence.received, Ordering::Relaxed);
    }
    seen.cpu_percent = cpu.percent();
    Ok(measuring.tell(&seen)?)
}
