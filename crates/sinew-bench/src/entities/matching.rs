//! Time until a publisher matches a subscription that another process creates: a process that has
//! just started, and one that is already known.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Context, Publisher};

use crate::clock::{nanoseconds, now_ns, sleep_until};
use crate::error::Error;
use crate::messages::Timing;
use crate::process::{Measuring, PATIENCE, Process, Work};
use crate::report::Figures;
use crate::run::{matched, shared_context};
use crate::samples::Samples;

const TOPIC: &str = "news";

/// Number of samples that a round keeps, and the least number of a round.
const ROOM: usize = 10_000;
const FEWEST: u64 = 3;

/// A new process: joins, and is matched.
#[derive(Deserialize, Serialize)]
pub(crate) struct Newcomer {
    directory: PathBuf,
}

/// A known process: creates subscriptions on request, and is matched.
#[derive(Deserialize, Serialize)]
pub(crate) struct Known {
    directory: PathBuf,
}

/// Measures one round with new processes. A sample is the time from the start of a new process's
/// work until the publisher matches its subscription.
pub(super) fn new_processes(directory: &Path, time: Duration) -> Result<Figures, Error> {
    let (_context, publisher) = publisher(directory)?;
    repeat(&publisher, time, || {
        let mut newcomer = Process::start(&Newcomer { directory: directory.to_owned() })?;
        matched(&publisher, 1)?;
        let known = now_ns();
        let begun: i64 = newcomer.hear()?;
        newcomer.finish::<()>()?;
        Ok(known - begun)
    })
}

/// Measures one round with a known process. A sample is the time from before a known process
/// creates a subscription until the publisher matches it.
pub(super) fn new_entities(directory: &Path, time: Duration) -> Result<Figures, Error> {
    let (_context, publisher) = publisher(directory)?;
    let mut known = Process::start(&Known { directory: directory.to_owned() })?;
    let figures = repeat(&publisher, time, || {
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

fn publisher(directory: &Path) -> sinew::Result<(Context, Publisher<Timing>)> {
    let context = shared_context(directory)?;
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
    unmatched(publisher)?;
    let until = now_ns() + nanoseconds(time);
    while now_ns() < until || samples.recorded() < FEWEST {
        samples.record(once()?);
        unmatched(publisher)?;
    }
    Ok(Figures::of(&samples, 1))
}

/// Waits until the publisher no longer has a subscription.
fn unmatched(publisher: &Publisher<Timing>) -> Result<(), Error> {
    let until = now_ns() + nanoseconds(PATIENCE);
    while publisher.subscription_count() > 0 {
        if now_ns() > until {
            let (name, found) = (publisher.topic().to_owned(), publisher.subscription_count());
            return Err(Error::Unmatched { name, found, wanted: 0, waited: PATIENCE });
        }
        sleep_until(now_ns() + 200_000);
    }
    Ok(())
}

impl Work for Newcomer {
    /// Subscribes, until the measuring process ends the round.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let begun = now_ns();
        let context = shared_context(&self.directory)?;
        let _subscription = context.node("newcomer")?.subscription::<Timing>(TOPIC).create()?;
        measuring.tell(&begun)?;
        while measuring.order::<()>()?.is_some() {}
        measuring.tell(&())
    }
}

impl Work for Known {
    /// Creates a subscription on every first order, and drops it on every second one.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let context = shared_context(&self.directory)?;
        let node = context.node("known")?;
        while measuring.order::<()>()?.is_some() {
            let begun = now_ns();
            let _subscription = node.subscription::<Timing>(TOPIC).create()?;
            measuring.tell(&begun)?;
            measuring.order::<()>()?;
        }
        measuring.tell(&())
    }
}
