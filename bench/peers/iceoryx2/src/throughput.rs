//! The highest rate of messages to another process without losing one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harness::throughput::{Drained, measure};
use harness::{Case, Figures, Measuring, Other, Result};
use sinew_bench::payload::{flood_depth, whole};
use sinew_bench::rounds::Meter;

use crate::Iceoryx2;
use crate::domain::{self, Domain};
use crate::ports::Topic;

/// Returns the topic. As many messages may wait as in Sinew's side.
fn topic(size: usize) -> Topic {
    Topic { waiting: flood_depth(size), lossless: true, ..Topic::new("flood", false) }
}

pub fn run(case: &Case, size: usize) -> Result<Figures> {
    let domain = Domain::create()?;
    let node = domain.node()?;
    let words = size / size_of::<u64>();
    let output = topic(size).output(&node, words)?;
    let mut other = harness::start::<Iceoryx2>(case, None, domain.name())?;
    other.hear::<()>()?;
    measure(case.time(), size, other, |number| output.send(words, |words| words.fill(number)))
}

pub fn serve(other: &Other, size: usize, measuring: Measuring) -> Result<()> {
    let input = topic(size).input(&domain::node(&other.note)?)?;
    let (received, goes_on) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
    let (count, flag) = (received.clone(), goes_on.clone());
    measuring.tell(&())?;
    measuring.at_the_end(move || count.load(Ordering::Relaxed), move || flag.store(false, Ordering::Relaxed));
    let meter = Meter::start();
    let mut seen = Drained::default();
    while let Some(message) = input.next(|| Ok(goes_on.load(Ordering::Relaxed)))? {
        seen.note(whole(&message));
        received.store(seen.received(), Ordering::Relaxed);
    }
    seen.usage = meter.usage();
    Ok(measuring.tell(&seen)?)
}
