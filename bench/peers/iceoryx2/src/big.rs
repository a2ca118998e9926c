//! An image of 8 MB at 10 Hz to another process that sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harness::big::{BYTES, Images, measure};
use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use sinew_bench::rounds::Meter;

use crate::Iceoryx2;
use crate::domain::{self, Domain};
use crate::ports::{Output, Topic};

/// Words of an image.
const WORDS: usize = BYTES / size_of::<u64>();

fn topic() -> Topic {
    // As in Sinew's side, ten images may wait.
    Topic { waiting: 10, ..Topic::new("images", true) }
}

/// Sends the next image; returns the time inside sending, without making the image.
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
    measure(case, other, |number| send(&output, number))
}

pub fn serve(other: &Other, measuring: Measuring) -> Result<()> {
    let input = topic().input(&domain::node(&other.note)?)?;
    let (received, goes_on) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
    let (count, flag) = (received.clone(), goes_on.clone());
    measuring.tell(&())?;
    measuring.at_the_end(move || count.load(Ordering::Relaxed), move || flag.store(false, Ordering::Relaxed));
    let mut images = Images::default();
    let meter = Meter::start();
    while let Some(image) = input.next(|| Ok(goes_on.load(Ordering::Relaxed)))? {
        images.note(|place| image.get(place).copied());
        received.store(images.received(), Ordering::Relaxed);
    }
    Ok(measuring.tell(&(images, meter.usage()))?)
}
