//! The graph with a node in another process that subscribes to every topic, as a recorder or a
//! viewer does: its cost for the subscriptions in the robot's own process.

use std::cell::Cell;

use serde::{Deserialize, Serialize};
use sinew::{Publisher, View};

use super::robot::figures;
use super::tracker::{Arrival, Tracker};
use crate::graph::Graph;
use crate::messages::Stamped;
use crate::options::TopologyCase;
use crate::{
    Collected, Directory, Error, Figures, Measuring, MultiProcess, Part, Samples, Settings, Sheet, Side,
    Usage, executor, matched, now_ns, waiting,
};

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
    let graph = Graph::load(&robot.file)?;
    let directory = Directory::create()?;
    let settings = Settings::of_case(Settings::of(robot).0);
    let case = |debug: bool, seen_by| settings.clone().with("debug_node", debug).with("seen_by", seen_by);
    let round =
        |debug: bool, time| directory.round(|path| round(&Part::new(robot, path, time)?, &graph, debug));
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
fn round(part: &Part<TopologyCase>, graph: &Graph, debug: bool) -> Result<(Figures, Figures), Error> {
    let mut other = debug.then(|| part.start(1)).transpose()?;
    let run = part.run(executor(part.case.executor))?;
    let mut sent_by = Vec::new();
    let robot = figures(&run, part.case.load(graph), part.time, |publishers| {
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

impl MultiProcess for TopologyCase {
    const SCENARIO: &'static str = "topology";

    /// Measures the robot.
    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        Ok(round(part, &Graph::load(&part.case.file)?, part.case.debug_node)?.0)
    }

    /// Listens, as the debug node.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        let graph = Graph::load(&part.case.file)?;
        let run = part.run(waiting(part.case.wait.unwrap_or_default()))?;
        let node = run.context.node("debug")?;
        let arrivals =
            Collected::new(DebugSeen { latencies: Samples::with_room_for(ROOM), ..DebugSeen::default() });
        let mut trackers = Vec::new();
        let mut listening = Vec::new();
        for (topic, periods) in graph.periods_by_topic() {
            let tracker = Collected::new(Tracker::new(periods.len()));
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
