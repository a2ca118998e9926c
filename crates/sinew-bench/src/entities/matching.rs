//! Time until a publisher matches a subscription that another process creates: a process that has
//! just started, and one that is already known.

use std::time::Duration;

use sinew::{Context, Publisher};

use crate::messages::Timing;
use crate::options::MatchingCase;
use crate::{Error, Figures, Measuring, Part, Samples, matched, nanoseconds, now_ns, unmatched};

const TOPIC: &str = "news";

/// Number of samples that a round keeps, and the least number of a round.
const ROOM: usize = 10_000;
const FEWEST: u64 = 3;

/// Measures one round with new processes. A sample is the time from the start of a new process's
/// work until the publisher matches its subscription.
pub(super) fn new_processes(part: &Part<MatchingCase>) -> Result<Figures, Error> {
    let (_context, publisher) = publisher(part)?;
    repeat(&publisher, part.time, || {
        let mut newcomer = part.start(1)?;
        matched(&publisher, 1)?;
        let known = now_ns();
        let begun: i64 = newcomer.hear()?;
        newcomer.finish::<()>()?;
        Ok(known - begun)
    })
}

/// Measures one round with a known process. A sample is the time from before a known process
/// creates a subscription until the publisher matches it.
pub(super) fn new_entities(part: &Part<MatchingCase>) -> Result<Figures, Error> {
    let (_context, publisher) = publisher(part)?;
    let mut known = part.start(1)?;
    let figures = repeat(&publisher, part.time, || {
        known.order(&())?;
        matched(&publisher, 1)?;
        let matched = now_ns();
        let begun: i64 = known.hear()?;
        known.order(&())?;
        Ok(matched - begun)
    })?;
    known.finish::<()>()?;
    Ok(figures)
}

fn publisher(part: &Part<MatchingCase>) -> sinew::Result<(Context, Publisher<Timing>)> {
    let context = part.context()?;
    let publisher = context.node("publisher")?.publisher::<Timing>(TOPIC).create()?;
    Ok((context, publisher))
}

/// Repeats until the time is over, always starting with a publisher without a subscription. The
/// first time warms up.
fn repeat(
    publisher: &Publisher<Timing>,
    time: Duration,
    mut once: impl FnMut() -> Result<i64, Error>,
) -> Result<Figures, Error> {
    let mut samples = Samples::with_room_for(ROOM);
    once()?;
    unmatched(publisher, 0)?;
    let until = now_ns() + nanoseconds(time);
    while now_ns() < until || samples.recorded() < FEWEST {
        samples.record(once()?);
        unmatched(publisher, 0)?;
    }
    Ok(Figures::of(&samples, 1))
}

/// A new process: joins, and is matched, until the measuring process ends the round.
pub(super) fn join(part: &Part<MatchingCase>, measuring: Measuring) -> Result<(), Error> {
    let begun = now_ns();
    let context = part.context()?;
    let _subscription = context.node("newcomer")?.subscription::<Timing>(TOPIC).create()?;
    measuring.tell(&begun)?;
    while measuring.order::<()>()?.is_some() {}
    measuring.tell(&())
}

/// A known process: creates a subscription on every first order, and drops it on every second one.
pub(super) fn subscribe_as_ordered(part: &Part<MatchingCase>, measuring: Measuring) -> Result<(), Error> {
    let context = part.context()?;
    let node = context.node("known")?;
    while measuring.order::<()>()?.is_some() {
        let begun = now_ns();
        let _subscription = node.subscription::<Timing>(TOPIC).create()?;
        measuring.tell(&begun)?;
        measuring.order::<()>()?;
    }
    measuring.tell(&())
}
