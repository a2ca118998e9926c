//! The subscriptions are in other processes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::Executor;

use super::news;
use crate::clock::now_ns;
use crate::error::Error;
use crate::messages::Timing;
use crate::options::Wait;
use crate::pacing::{ticks, warm_up};
use crate::payload::PATIENT;
use crate::process::{Measuring, Process};
use crate::roles::Role;
use crate::rounds::Round;
use crate::run::{Collected, Run, matched, waiting};
use crate::samples::Samples;
use crate::sequence::Sequence;

/// Who subscribes.
#[derive(Clone, Copy)]
pub(super) struct Crowd {
    pub(super) subscriptions: u32,
    /// Messages per second.
    pub(super) rate: f64,
    /// Every subscription has a process of its own; otherwise all are behind one executor of one process.
    pub(super) each: bool,
    pub(super) wait: Wait,
}

/// What one other process has.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Readers {
    directory: PathBuf,
    subscriptions: u32,
    wait: Wait,
    /// Messages there is room for.
    room: usize,
}

/// What one other process saw.
#[derive(Debug, Deserialize, Serialize)]
struct Seen {
    /// For each message, from before the publish to the last callback here; 0 where one is missing.
    to_last_ns: Vec<i64>,
    /// One per subscription.
    sequences: Vec<Sequence>,
    cpu_percent: f64,
}

/// One round; besides, the times inside publish.
pub(super) fn round(directory: &Path, crowd: Crowd, time: Duration) -> Result<(Round, Samples), Error> {
    let ticks = ticks(crowd.rate, time);
    let counts_from = warm_up(ticks);
    let (processes, subscriptions) =
        if crowd.each { (crowd.subscriptions, 1) } else { (1, crowd.subscriptions) };
    // A timer may fire once more than was counted on.
    let room = ticks as usize + 2;
    let readers = Readers { directory: directory.to_owned(), subscriptions, wait: crowd.wait, room };
    let mut others = (0..processes)
        .map(|_| Process::start(&Role::Readers(readers.clone())))
        .collect::<Result<Vec<_>, Error>>()?;
    let run = Run::shared(directory, Executor::single())?;
    let source = run.context.node("source")?;
    let publisher = source.publisher::<Timing>("news").qos(PATIENT).create()?;
    for other in &mut others {
        other.hear::<()>()?;
    }
    matched(&publisher, crowd.subscriptions)?;

    let publishing = Collected::new(Samples::with_room_for(room));
    let news = news(publisher.clone(), publishing.clone(), counts_from.into());
    let timer = source.timer(Duration::from_secs_f64(1.0 / crowd.rate)).callback(news)?;
    let mut cpu_percent = run.spin_for(time)?;
    drop(timer);
    let sent = publisher.statistics().published;
    let seen = others.into_iter().map(|other| other.finish_after::<Seen>(sent));
    let seen = seen.collect::<Result<Vec<_>, Error>>()?;
    cpu_percent += seen.iter().map(|seen| seen.cpu_percent).sum::<f64>();
    let sequences = || seen.iter().flat_map(|seen| &seen.sequences);
    let mut to_last = Samples::with_room_for(room);
    for message in counts_from as usize..room {
        let latencies = || seen.iter().map(|seen| seen.to_last_ns.get(message).copied().unwrap_or_default());
        if latencies().all(|latency| latency > 0) {
            latencies().max().into_iter().for_each(|latency| to_last.record(latency));
        }
    }
    let round = Round {
        lost: sequences().map(|sequence| sequence.lost(sent)).sum(),
        reordered: sequences().map(|sequence| sequence.reordered).sum(),
        cpu_percent: Some(cpu_percent),
        ..Round::of(to_last)
    };
    Ok((round, publishing.with(std::mem::take)))
}

/// In another process: has its subscriptions until the measuring process has had enough.
pub(crate) fn serve(readers: &Readers, measuring: Measuring) -> Result<(), Error> {
    let run = Run::shared(&readers.directory, waiting(readers.wait))?;
    let arrivals = Collected::new(Arrivals {
        to_last_ns: touched(readers.room),
        sequences: vec![Sequence::default(); readers.subscriptions as usize],
    });
    let mut listening = Vec::new();
    for reader in 0..readers.subscriptions as usize {
        let seen = arrivals.clone();
        let node = run.context.node(&format!("reader_{}_{reader}", std::process::id()))?;
        listening.push(node.subscription::<Timing>("news").qos(PATIENT).callback(
            move |timing: &Timing| {
                let latency = now_ns() - timing.stamp;
                seen.with(|seen| seen.note(reader, *timing, latency));
            },
        )?);
    }
    measuring.tell(&())?;
    let received = arrivals.clone();
    let cpu_percent = run.serve(measuring, move || received.with(|arrivals| arrivals.received_by_all()))?;
    let seen = arrivals.with(|arrivals| arrivals.told(cpu_percent));
    measuring.tell(&seen)
}

/// What the subscriptions of one process see.
struct Arrivals {
    to_last_ns: Vec<i64>,
    sequences: Vec<Sequence>,
}

impl Arrivals {
    fn note(&mut self, reader: usize, timing: Timing, latency: i64) {
        self.sequences[reader].note(timing.number);
        let place = usize::try_from(timing.number).ok().and_then(|number| number.checked_sub(1));
        if let Some(to_last) = place.and_then(|place| self.to_last_ns.get_mut(place)) {
            *to_last = latency.max(*to_last).max(1);
        }
    }

    /// How many messages the subscription has got that got the fewest.
    fn received_by_all(&self) -> u64 {
        self.sequences.iter().map(|sequence| sequence.received).min().unwrap_or(0)
    }

    fn told(&mut self, cpu_percent: f64) -> Seen {
        let (to_last_ns, sequences) =
            (std::mem::take(&mut self.to_last_ns), std::mem::take(&mut self.sequences));
        Seen { to_last_ns, sequences, cpu_percent }
    }
}

/// Memory whose pages are there, all zero.
fn touched(room: usize) -> Vec<i64> {
    let mut values = vec![1; room];
    values.fill(0);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_callbacks_the_last_one_counts() {
        let mut arrivals = Arrivals { to_last_ns: touched(2), sequences: vec![Sequence::default(); 2] };
        let timing = |number| Timing { stamp: 0, number };
        arrivals.note(0, timing(1), 300);
        arrivals.note(1, timing(1), 500);
        arrivals.note(0, timing(2), -1);
        arrivals.note(0, timing(3), 9);
        let seen = arrivals.told(1.0);
        assert_eq!(seen.to_last_ns, [500, 1]);
        assert_eq!(seen.sequences.iter().map(|sequence| sequence.lost(3)).collect::<Vec<_>>(), [0, 2]);
    }
}
