//! The graph with a node in another process that subscribes to every topic, as a recorder or a
//! viewer does: its cost for the subscriptions in the robot's own process.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Publisher, View};

use super::robot::figures;
use super::tracker::{Arrival, Tracker};
use crate::clock::now_ns;
use crate::error::Error;
use crate::graph::Graph;
use crate::messages::Stamped;
use crate::options::{TopologyCase, Wait};
use crate::process::{Directory, Measuring, Process, Work};
use crate::report::{Figures, Settings};
use crate::rounds::Usage;
use crate::run::{Collected, Run, executor, matched, waiting};
use crate::samples::Samples;
use crate::sheet::{Sheet, Side};

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

/// Measures the robot without and with the debug node, in turns, and the debug node's observations.
pub(crate) fn measure(robot: &TopologyCase, sheet: &mut Sheet) -> Result<(), Error> {
    let (graph, wait) = (Graph::load(&robot.file)?, robot.wait.unwrap_or_default());
    let directory = Directory::create()?;
    let settings = Settings::of_case(Settings::of(robot).0);
    let case = |debug: bool, seen_by| settings.clone().with("debug_node", debug).with("seen_by", seen_by);
    let round =
        |debug: bool, time| directory.round(|path| round(path, robot, &graph, debug.then_some(wait), time));
    let (mean_without, mut seen) = (Cell::new(None), Vec::new());
    let without = |time| {
        let (figures, _) = round(false, time)?;
        mean_without.set(figures.mean_ns);
        Ok(figures)
    };
    let with = |time| {
        let (figures, its) = round(true, time)?;
        seen.push(its);
        let mean_ratio = figures.mean_ns.zip(mean_without.get()).map(|(with, without)| with / without);
        Ok(Figures { mean_ratio, ..figures })
    };
    let sides =
        vec![Side::sinew(case(false, "the robot"), without), Side::sinew(case(true, "the robot"), with)];
    sheet.measure(&format!("{} without and with a debug node", graph.name), sides)?;
    sheet.add(None, case(true, "the debug node"), &seen);
    Ok(())
}

/// Runs the graph once; also returns the debug node's observations.
fn round(
    directory: &Path,
    case: &TopologyCase,
    graph: &Graph,
    debug: Option<Wait>,
    time: Duration,
) -> Result<(Figures, Figures), Error> {
    let topics = graph.periods_by_topic().into_iter();
    let topics = topics.map(|(topic, periods)| (topic.to_owned(), periods.len())).collect();
    let role = |wait| DebugNode { directory: directory.to_owned(), topics, wait };
    let mut other = debug.map(|wait| Process::start(&role(wait))).transpose()?;
    let run = Run::shared(directory, executor(case.executor))?;
    let mut sent_by = Vec::new();
    let robot = figures(&run, case.load(graph), time, |publishers| {
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
    let its = Figures { messages: Some(seen.received), ..Figures::of(&seen.latencies, 1) };
    let lost = sent.saturating_sub(seen.received);
    Ok((robot, its.faulty(lost, seen.reordered).using(seen.usage)))
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
