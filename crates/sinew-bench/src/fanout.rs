//! Scenario `fanout`: one publisher and many subscriptions, in the same process, in another one, or
//! in one process each.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Executor, QoS, Subscription};

use super::floors::line2;
use super::messages::Timing;
use super::news::{self, Heard};
use super::payload::PATIENT;
use super::process::{Directory, Measuring, Process, Work};
use super::report::{Figures, Settings};
use super::rounds::Usage;
use super::run::{Collected, Run, matched, waiting};
use super::samples::Samples;
use super::sheet::{Sheet, Side};
use crate::clock::now_ns;
use crate::error::Error;
use crate::machine;
use crate::options::{ExecutorOptions, FanoutOptions, Named as _, Placement, Wait};
use crate::pacing::{ticks, warm_up};

/// The subscriptions of a round.
#[derive(Clone, Copy)]
struct Crowd {
    subscriptions: u32,
    /// Messages per second.
    rate: f64,
    placement: Placement,
    wait: Wait,
}

/// The subscriptions of one other process, all behind one executor.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Readers {
    directory: PathBuf,
    subscriptions: u32,
    wait: Wait,
    /// Number of messages to make room for.
    room: usize,
}

/// Measures one row per number of subscriptions; `p50_ns` and so on are times until the last one is
/// called.
pub(super) fn measure(options: &FanoutOptions, sheet: &mut Sheet) -> Result<(), Error> {
    if let Some(cores) = machine::two_cores()? {
        let line2 = Side::floor("line2", Settings::new(), |time| line2::round(cores, time));
        sheet.measure("line2", vec![line2])?;
    }
    let &FanoutOptions { placement, rate, .. } = options;
    let directory = Directory::create()?;
    let wait = options.wait.unwrap_or(Wait::Sleep);
    for &subscriptions in &options.subscriptions {
        let crowd = Crowd { subscriptions, rate, placement, wait };
        let case = Settings::new().with("subscriptions", subscriptions).with("rate", rate);
        let case = case.with("placement", placement.name()).run_by(ExecutorOptions::default());
        let case = if placement == Placement::Same { case } else { case.with("wait", wait.name()) };
        let ours = |time| directory.round(|path| round(path, crowd, time));
        sheet.measure(&format!("fanout to {subscriptions}"), vec![Side::sinew(case, ours)])?;
    }
    Ok(())
}

/// Measures one round: the time inside publish, and until the last subscription is called.
fn round(directory: &Path, crowd: Crowd, time: Duration) -> Result<Figures, Error> {
    let Crowd { subscriptions, rate, placement, wait } = crowd;
    let ticks = ticks(rate, time);
    let counts_from = u64::from(warm_up(ticks));
    // A timer may fire once more than expected.
    let room = ticks as usize + 2;
    let (processes, each) = match placement {
        Placement::Same => (0, 0),
        Placement::Other => (1, subscriptions),
        Placement::Each => (subscriptions, 1),
    };
    let readers = Readers { directory: directory.to_owned(), subscriptions: each, wait, room };
    let mut others = (0..processes).map(|_| Process::start(&readers)).collect::<Result<Vec<_>, Error>>()?;
    let (run, qos) = match placement {
        Placement::Same => (Run::new()?, QoS::default()),
        Placement::Other | Placement::Each => (Run::shared(directory, Executor::builder())?, PATIENT),
    };
    let source = run.context.node("source")?;
    let publisher = source.publisher::<Timing>("news").qos(qos).create()?;
    let heard = Collected::new(Heard::by(subscriptions - processes * each, room));
    let _listening = listen(&run, subscriptions - processes * each, qos, &heard)?;
    for other in &mut others {
        other.hear::<()>()?;
    }
    matched(&publisher, subscriptions)?;

    let publishing = Collected::new(Samples::with_room_for(room));
    let (spent, sent) = (publishing.clone(), publisher.clone());
    let mut number = 0;
    let timer = source.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || {
        number += 1;
        let stamp = now_ns();
        let published = publisher.publish(Timing { stamp, number });
        let time_inside = now_ns() - stamp;
        if number > counts_from {
            spent.with(|spent| spent.record(time_inside));
        }
        published
    })?;
    let mut usage = run.spin_for(time)?;
    drop(timer);
    run.drain()?;
    let sent = sent.statistics().published;
    let mut all = if others.is_empty() { vec![heard.with(std::mem::take)] } else { Vec::new() };
    for other in others {
        let (heard, its_usage): (Heard, Usage) = other.finish_after(sent)?;
        all.push(heard);
        usage = usage + its_usage;
    }
    let publish_p50_ns = publishing.with(|publishing| publishing.p50(1));
    Ok(Figures { publish_p50_ns, ..news::figures(&all, counts_from, sent).using(usage) })
}

/// Creates subscriptions, each of a node of its own.
fn listen(
    run: &Run,
    subscriptions: u32,
    qos: QoS,
    heard: &Collected<Heard>,
) -> sinew::Result<Vec<Subscription<Timing>>> {
    let mut listening = Vec::new();
    for reader in 0..subscriptions as usize {
        let seen = heard.clone();
        let node = run.context.node(&format!("reader_{}_{reader}", std::process::id()))?;
        let subscription = node.subscription::<Timing>("news").qos(qos);
        listening.push(subscription.callback(move |timing: &Timing| {
            let latency = now_ns() - timing.stamp;
            seen.with(|seen| seen.note(reader, timing.number, latency));
        })?);
    }
    Ok(listening)
}

impl Work for Readers {
    fn scenario(&self) -> &'static str {
        "fanout"
    }

    /// In another process: runs its subscriptions until the measuring process ends the round.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let run = Run::shared(&self.directory, waiting(self.wait))?;
        let heard = Collected::new(Heard::by(self.subscriptions, self.room));
        let _listening = listen(&run, self.subscriptions, PATIENT, &heard)?;
        measuring.tell(&())?;
        let received = heard.clone();
        let usage = run.serve(measuring, move || received.with(|heard| heard.received_by_all()))?;
        measuring.tell(&(heard.with(std::mem::take), usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_gets_every_message() {
        let crowd = Crowd { subscriptions: 4, rate: 1000.0, placement: Placement::Same, wait: Wait::Sleep };
        let figures = round(Path::new("/dev/null"), crowd, Duration::from_millis(50)).unwrap();
        assert!(figures.messages > Some(0) && figures.publish_p50_ns > Some(0.0), "{figures:?}");
        assert_eq!((figures.lost, figures.reordered), (Some(0), None));
    }
}
