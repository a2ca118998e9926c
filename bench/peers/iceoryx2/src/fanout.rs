//! One publisher, with its subscribers in one other process, which polls them in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harness::fanout::{heard_by, measure};
use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use sinew_bench::rounds::Meter;

use crate::Iceoryx2;
use crate::domain::{self, Domain};
use crate::ports::{Input, Topic};

/// Words of a message: its time of publication, and its number.
const WORDS: usize = 2;

fn topic(subscriptions: u32) -> Topic {
    // As in Sinew's side, a pause of the machine loses nothing.
    Topic { subscribers: subscriptions as usize, waiting: 1000, ..Topic::new("news", false) }
}

pub fn run(case: &Case, subscriptions: u32) -> Result<Figures> {
    let domain = Domain::create()?;
    let output = topic(subscriptions).output(&domain.node()?, WORDS)?;
    let mut other = harness::start::<Iceoryx2>(case, None, domain.name())?;
    other.hear::<()>()?;
    measure(case.time(), other, |timing| {
        output.send(WORDS, |words| words.copy_from_slice(&[timing.stamp.cast_unsigned(), timing.number]))
    })
}

pub fn serve(other: &Other, subscriptions: u32, measuring: Measuring) -> Result<()> {
    let node = domain::node(&other.note)?;
    let inputs = (0..subscriptions).map(|_| topic(subscriptions).input(&node));
    let inputs = inputs.collect::<Result<Vec<Input>>>()?;
    let (received, goes_on) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
    let (by_all, flag) = (received.clone(), goes_on.clone());
    let mut heard = heard_by(subscriptions, other.case.time());
    measuring.tell(&())?;
    measuring
        .at_the_end(move || by_all.load(Ordering::Relaxed), move || flag.store(false, Ordering::Relaxed));
    let meter = Meter::start();
    let mut by_last = 0; // the subscriber that is polled last
    while goes_on.load(Ordering::Relaxed) {
        for (reader, input) in inputs.iter().enumerate() {
            while let Some(message) = input.subscriber.receive()? {
                heard.note(reader, message[1], now_ns() - message[0].cast_signed());
                by_last += u64::from(reader + 1 == inputs.len());
            }
        }
        received.store(by_last, Ordering::Relaxed);
        std::hint::spin_loop();
    }
    Ok(measuring.tell(&(heard, meter.usage()))?)
}
