//! The graph with a node in another process that subscribes to every topic, as a recorder or a
//! viewer does: its cost for the subscriptions in the robot's own process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Publisher, View};

use super::robot::{Load, figures};
use super::tracker::{Arrival, Tracker};
use crate::clock::now_ns;
use crate::error::Error;
use crate::graph::Graph;
use crate::messages::Stamped;
use crate::options::{TopologyOptions, Wait};
use crate::process::{Directory, Measuring, Process, Work};
use crate::progress::Progress;
use crate::report::{Figures, Row, hundredth};
use crate::rounds::{Turns, Usage};
use crate::run::{Collected, Run, executor, matched, waiting};
use crate::samples::{Samples, median};

/// The work of the other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct DebugNode {
    directory: PathBuf,
    /// Every topic, with its number of publishers.
    topics: Vec<(String, usize)>,
    wait: Wait,
}

/// The other process's observations.
#[derive(Debug, Default, Deserialize, Serialize)]
struct DebugSeen {
    latencies: Samples,
    received: u64,
    reordered: u64,
    usage: Usage,
}

/// Rows without and with the debug node, measured in turns, and the debug node's observations.
pub(super) fn measure(
    graph: &Graph,
    options: &TopologyOptions,
    turns: Turns,
    directory: &Directory,
    progress: &mut Progress,
) -> Result<Vec<Row>, Error> {
    let (mut without, mut with, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=turns.rounds {
        progress.show(&format!("{} without and with a debug node", graph.name), number, turns.rounds);
        let round = |directory: &Path, debug| round(directory, graph, options, turns.each(), debug);
        without.push(directory.round(|path| round(path, false))?.0);
        let (figures, its) = directory.round(|path| round(path, true))?;
        with.push(figures);
        seen.push(its);
    }
    let ratios =
        with.iter().zip(&without).filter_map(|(with, without)| Some(with.mean_ns? / without.mean_ns?));
    let mean_ratio = median(ratios).map(hundredth);
    let row = |figures: Figures, debug: bool| {
        let row = Load::of(graph, options).described(Row::sinew("topology", figures), options);
        let row = row.with("debug_node", debug);
        if debug { row.with("wait", options.wait.name()) } else { row }
    };
    Ok(vec![
        row(Figures::over_runs(&without), false).with("seen_by", "the robot"),
        row(Figures { mean_ratio, ..Figures::over_runs(&with) }, true).with("seen_by", "the robot"),
        row(Figures::over_runs(&seen), true).with("seen_by", "the debug node"),
    ])
}

/// Runs the graph once; also returns the debug node's observations.
fn round(
    directory: &Path,
    graph: &Graph,
    options: &TopologyOptions,
    time: Duration,
    debug: bool,
) -> Result<(Figures, Figures), Error> {
    let topics = graph.periods_by_topic().into_iter();
    let topics = topics.map(|(topic, periods)| (topic.to_owned(), periods.len())).collect();
    let role = DebugNode { directory: directory.to_owned(), topics, wait: options.wait };
    let mut other = if debug { Some(Process::start(&role)?) } else { None };
    let run = Run::shared(directory, executor(options.executor))?;
    let mut sent_by = Vec::new();
    let robot = figures(&run, Load::of(graph, options), time, |publishers| {
        if let Some(other) = &mut other {
            other.hear::<()>()?;
            publishers.iter().try_for_each(|publisher| matched(publisher, everybody(graph, publisher)))?;
        }
        sent_by = publishers.to_vec();
        Ok(())
    })?;
    let Some(other) = other else { return Ok((robot, Figures::default())) };
    let sent: u64 = sent_by.iter().map(|publisher| publisher.statistics().published).sum();
    let seen: DebugSeen = other.finish_after(sent)?;
    let its = Figures {
        messages: Some(seen.received),
        lost: Some(sent.saturating_sub(seen.received)),
        reordered: Some(seen.reordered).filter(|&count| count > 0),
        ..Figures::of(seen.latencies.summary(1)).using(seen.usage)
    };
    Ok((robot, its))
}

/// Returns the number of a publisher's subscriptions, including the debug node's.
fn everybody(graph: &Graph, publisher: &Publisher<Stamped>) -> u32 {
    let topic = publisher.topic().trim_start_matches('/');
    let subscribers = graph.nodes.iter().flat_map(|node| &node.subscribers);
    let in_robot = subscribers.filter(|subscriber| subscriber.topic.trim_start_matches('/') == topic).count();
    u32::try_from(in_robot + 1).unwrap_or(u32::MAX)
}

/// Number of samples that the debug node keeps.
const ROOM: usize = 1 << 18;

impl Work for DebugNode {
    const ROLE: &'static str = "DebugNode";

    fn scenario(&self) -> &'static str {
        "topology"
    }

    /// In the other process: listens until the measuring process ends the round.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let run = Run::shared(&self.directory, waiting(self.wait))?;
        let node = run.context.node("debug")?;
        let arrivals =
            Collected::new(DebugSeen { latencies: Samples::with_room_for(ROOM), ..DebugSeen::default() });
        let mut trackers = Vec::new();
        let mut listening = Vec::new();
        for (topic, publishers) in &self.topics {
            let tracker = Collected::new(Tracker::new(*publishers));
            trackers.push(tracker.clone());
            let seen = arrivals.clone();
            listening.push(node.subscription::<Stamped>(topic).callback(
                move |message: View<'_, Stamped>| {
                    let latency_ns = now_ns() - message.stamp;
                    let (publisher, number) = (usize::from(message.publisher), message.tracking_number);
                    let arrival = Arrival { publisher, number, period_ns: i64::MAX, latency_ns };
                    tracker.with(|tracker| tracker.scan(&arrival));
                    seen.with(|seen| {
                        seen.received += 1;
                        seen.latencies.record(latency_ns);
                    });
                },
            )?);
        }
        measuring.tell(&())?;
        let received = arrivals.clone();
        let usage = run.serve(measuring, move || received.with(|seen| seen.received))?;
        let reordered = trackers.iter().map(|tracker| tracker.with(|tracker| tracker.reordered)).sum();
        measuring.tell(&arrivals.with(|seen| DebugSeen { reordered, usage, ..std::mem::take(seen) }))
    }
}
