//! The subscriptions are in other processes.

use std::ops::Add;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::Executor;

use super::on_tick;
use crate::clock::now_ns;
use crate::error::Error;
use crate::messages::Timing;
use crate::news::{self, Heard};
use crate::options::Wait;
use crate::pacing::{ticks, warm_up};
use crate::payload::PATIENT;
use crate::process::{Measuring, Process, Work};
use crate::rounds::{Round, Usage};
use crate::run::{Collected, Run, matched, waiting};
use crate::samples::Samples;

/// The subscriptions of a round.
#[derive(Clone, Copy)]
pub(super) struct SubscriberCrowd {
    pub(super) subscriptions: u32,
    /// Messages per second.
    pub(super) rate: f64,
    /// Whether every subscription has a process of its own; otherwise all are behind one executor
    /// of one process.
    pub(super) each: bool,
    pub(super) wait: Wait,
}

/// The subscriptions of one other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Readers {
    directory: PathBuf,
    subscriptions: u32,
    wait: Wait,
    /// Number of messages to make room for.
    room: usize,
}

/// Measures one round; also returns the times inside publish.
pub(super) fn round(
    directory: &Path,
    crowd: SubscriberCrowd,
    time: Duration,
) -> Result<(Round, Samples), Error> {
    let ticks = ticks(crowd.rate, time);
    let counts_from = warm_up(ticks);
    let (processes, subscriptions) =
        if crowd.each { (crowd.subscriptions, 1) } else { (1, crowd.subscriptions) };
    // A timer may fire once more than expected.
    let room = ticks as usize + 2;
    let readers = Readers { directory: directory.to_owned(), subscriptions, wait: crowd.wait, room };
    let mut others = (0..processes).map(|_| Process::start(&readers)).collect::<Result<Vec<_>, Error>>()?;
    let run = Run::shared(directory, Executor::builder())?;
    let source = run.context.node("source")?;
    let publisher = source.publisher::<Timing>("news").qos(PATIENT).create()?;
    for other in &mut others {
        other.hear::<()>()?;
    }
    matched(&publisher, crowd.subscriptions)?;

    let publishing = Collected::new(Samples::with_room_for(room));
    let news = on_tick(publisher.clone(), publishing.clone(), counts_from.into());
    let timer = source.timer(Duration::from_secs_f64(1.0 / crowd.rate)).callback(news)?;
    let usage = run.spin_for(time)?;
    drop(timer);
    let sent = publisher.statistics().published;
    let told = others.into_iter().map(|other| other.finish_after::<(Heard, Usage)>(sent));
    let (heard, usages): (Vec<_>, Vec<_>) = told.collect::<Result<_, Error>>()?;
    let usage = usages.into_iter().fold(usage, Add::add);
    let round = Round { usage: Some(usage), ..news::round(&heard, counts_from, sent) };
    Ok((round, publishing.with(std::mem::take)))
}

impl Work for Readers {
    const ROLE: &'static str = "Readers";

    fn scenario(&self) -> &'static str {
        "fanout"
    }

    /// In another process: runs its subscriptions until the measuring process ends the round.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let run = Run::shared(&self.directory, waiting(self.wait))?;
        let heard = Collected::new(Heard::by(self.subscriptions, self.room));
        let mut listening = Vec::new();
        for reader in 0..self.subscriptions as usize {
            let seen = heard.clone();
            let node = run.context.node(&format!("reader_{}_{reader}", std::process::id()))?;
            listening.push(node.subscription::<Timing>("news").qos(PATIENT).callback(
                move |timing: &Timing| {
                    let latency = now_ns() - timing.stamp;
                    seen.with(|seen| seen.note(reader, timing.number, latency));
                },
            )?);
        }
        measuring.tell(&())?;
        let received = heard.clone();
        let usage = run.serve(measuring, move || received.with(|heard| heard.received_by_all()))?;
        measuring.tell(&(heard.with(std::mem::take), usage))
    }
}
