//! One publisher, and its subscribers in one other process, which polls them in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use harness::chain::Timing;
use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use serde::{Deserialize, Serialize};
use sinew_bench::pacing::{Ticks, ticks, warm_up};
use sinew_bench::report::tenth;
use sinew_bench::rounds::{CpuUse, Round};
use sinew_bench::samples::Samples;
use sinew_bench::sequence::Sequence;

use crate::Iceoryx2;
use crate::domain::{self, Domain};
use crate::ports::{Input, Topic};

/// Messages a second.
const RATE: f64 = 100.0;

/// Words of a message: when it was published, and its number.
const WORDS: usize = 2;

/// What the subscribers saw together.
#[derive(Debug, Deserialize, Serialize)]
struct Seen {
    /// For each message, from before the publish until the last subscriber had it; 0 where one is
    /// missing.
    to_last_ns: Vec<i64>,
    /// One per subscriber.
    sequences: Vec<Sequence>,
    cpu_percent: f64,
}

fn topic(subscriptions: u32) -> Topic {
    // As on our side, a pause of the machine loses nothing.
    Topic { subscribers: subscriptions as usize, waiting: 1000, ..Topic::new("news", false) }
}

fn messages(time: Duration) -> u32 {
    ticks(RATE, time)
}

pub fn run(case: &Case, subscriptions: u32) -> Result<Figures> {
    let domain = Domain::create()?;
    let output = topic(subscriptions).output(&domain.node()?, WORDS)?;
    let mut other = harness::start::<Iceoryx2>(case, None, domain.name())?;
    other.hear::<()>()?;
    let count = messages(case.time());
    let mut inside = Samples::with_room_for(count as usize);
    let cpu = CpuUse::start();
    let mut pace = Ticks::start(RATE)?;
    for number in 1..=count {
        pace.wait();
        let stamp = now_ns();
        output.send(WORDS, |words| words.copy_from_slice(&[stamp.cast_unsigned(), number.into()]))?;
        let time_inside = now_ns() - stamp;
        if number > warm_up(count) {
            inside.record(time_inside);
        }
    }
    let cpu_percent = cpu.percent();
    let seen: Seen = other.finish_after(count.into())?;
    let mut to_last = Samples::with_room_for(count as usize);
    let measured = seen.to_last_ns.iter().skip(warm_up(count) as usize);
    measured.filter(|&&latency| latency > 0).for_each(|&latency| to_last.record(latency));
    let round = Round {
        lost: seen.sequences.iter().map(|sequence| sequence.lost(count.into())).sum(),
        reordered: seen.sequences.iter().map(|sequence| sequence.reordered).sum(),
        cpu_percent: Some(cpu_percent + seen.cpu_percent),
        ..Round::of(to_last)
    };
    let publish_p50_ns = inside.summary(1).map(|summary| tenth(summary.p50));
    Ok(Figures { publish_p50_ns, ..Figures::over(&[round], 1) })
}

pub fn serve(other: &Other, subscriptions: u32, measuring: Measuring) -> Result<()> {
    let node = domain::node(&other.note)?;
    let inputs = (0..subscriptions).map(|_| topic(subscriptions).input(&node));
    let inputs = inputs.collect::<Result<Vec<Input>>>()?;
    let (received, goes_on) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
    let (by_all, flag) = (received.clone(), goes_on.clone());
    let mut seen = Seen {
        to_last_ns: vec![0; messages(other.case.time()) as usize],
        sequences: vec![Sequence::default(); inputs.len()],
        cpu_percent: 0.0,
    };
    measuring.tell(&())?;
    measuring
        .at_the_end(move || by_all.load(Ordering::Relaxed), move || flag.store(false, Ordering::Relaxed));
    let cpu = CpuUse::start();
    while goes_on.load(Ordering::Relaxed) {
        for (input, sequence) in inputs.iter().zip(&mut seen.sequences) {
            while let Some(message) = input.subscriber.receive()? {
                let now = now_ns();
                let timing = Timing { stamp: message[0].cast_signed(), number: message[1] };
                sequence.note(timing.number);
                let place = usize::try_from(timing.number).ok().and_then(|number| number.checked_sub(1));
                if let Some(to_last) = place.and_then(|place| seen.to_last_ns.get_mut(place)) {
                    *to_last = (now - timing.stamp).max(*to_last).max(1);
                }
            }
        }
        // The last one is asked last.
        received.store(seen.sequences.last().map_or(0, |last| last.received), Ordering::Relaxed);
        std::hint::spin_loop();
    }
    seen.cpu_percent = cpu.percent();
    Ok(measuring.tell(&seen)?)
}
