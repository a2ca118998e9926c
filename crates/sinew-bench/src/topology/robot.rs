//! Runs a robot's graph in this process.

use std::collections::BTreeMap;
use std::time::Duration;

use sinew::{Node, Publisher, Subscription, Timer, View};

use super::seen::{self, RunSpan, Seen};
use crate::graph::{Graph, PublisherPlan};
use crate::machine;
use crate::messages::{Stamped, StampedLengths};
use crate::options::TopologyCase;
use crate::{Case, Collected, Error, Figures, Floor, Ground, Meter, Run, now_ns};

/// Memory that is first used later than this after the start counts as growth.
const SETTLED: Duration = Duration::from_secs(10);

/// A graph, and how it is run.
#[derive(Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) scale_rate: f64,
    /// Messages are drafted, and viewed.
    pub(crate) drafts: bool,
}

/// Measured once, beside the resources of the process before there is any node.
impl Case for TopologyCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Graph::load(&self.file)?; // a mistake is found before anything is measured
        let idle = |_| Ok(Figures { rss_bytes: machine::resident_bytes(), ..Figures::default() });
        Ok(vec![Floor::new("idle", idle)])
    }

    fn round(&self, _: &Ground, time: Duration) -> Result<Figures, Error> {
        let graph = Graph::load(&self.file)?;
        figures(&Run::by(self.executor)?, self.load(&graph), time, |_| Ok(()))
    }
}

impl TopologyCase {
    /// Returns its way to run a graph.
    pub(super) fn load<'a>(&self, graph: &'a Graph) -> Load<'a> {
        Load { graph, scale_rate: self.scale_rate, drafts: self.drafts }
    }
}

/// Runs a graph for `time`. Before the first message, once all endpoints exist, `ready` is given
/// all publishers.
pub(crate) fn figures(
    run: &Run,
    load: Load<'_>,
    time: Duration,
    ready: impl FnOnce(&[Publisher<Stamped>]) -> Result<(), Error>,
) -> Result<Figures, Error> {
    let Load { graph, scale_rate, .. } = load;
    let span = RunSpan::of(time);
    let log = Collected::new(seen::room_for(graph, scale_rate, span));
    let subscriptions = subscribe(run, load, &log)?;
    let sources = sources(run, graph)?;
    let publishers: Vec<_> = sources.iter().map(|source| source.publisher.clone()).collect();
    ready(&publishers)?;
    let timers = publish(&sources, load)?;

    let rss_start_bytes = machine::resident_bytes();
    run.spin_for(span.warm_up())?;
    let meter = Meter::start();
    let settling = span.rest().min(SETTLED - span.warm_up());
    run.spin_for(settling)?;
    let rss_settled = machine::resident_bytes();
    let later = span.rest() - settling;
    if !later.is_zero() {
        run.spin_for(later)?;
    }
    let usage = meter.usage();
    drop(timers);
    run.drain()?;

    let copied = publishers.iter().map(|publisher| publisher.statistics().copies).sum::<u64>()
        + subscriptions.iter().map(|subscription| subscription.statistics().copies).sum::<u64>();
    let growth = rss_settled.map(|settled| usage.rss_bytes.cast_signed() - settled.cast_signed());
    let sent: Vec<_> = publishers.iter().map(|publisher| publisher.statistics().published).collect();
    let seen = log.with(|log| seen::figures(graph, scale_rate, span, log, &sent));
    Ok(Figures {
        copies: Some(copied),
        rss_start_bytes,
        rss_growth_bytes: growth.filter(|_| time > SETTLED),
        ..seen.using(usage)
    })
}

fn subscribe(
    run: &Run,
    load: Load<'_>,
    log: &Collected<Vec<Seen>>,
) -> sinew::Result<Vec<Subscription<Stamped>>> {
    let mut subscriptions = Vec::new();
    for plan in &load.graph.nodes {
        let node = run.context.node(&plan.name)?;
        for subscriber in &plan.subscribers {
            let log = log.clone();
            let subscription = number(subscriptions.len());
            let seen = move |stamp: i64, publisher, number| {
                let latency_ns = now_ns() - stamp;
                log.with(|log| log.push(Seen { subscription, publisher, number, latency_ns }));
            };
            let builder = node.subscription::<Stamped>(&subscriber.topic);
            subscriptions.push(if load.drafts {
                builder.callback(move |message: View<'_, Stamped>| {
                    seen(message.stamp, message.publisher, message.tracking_number);
                })?
            } else {
                builder.callback(move |message: &Stamped| {
                    seen(message.stamp, message.publisher, message.tracking_number);
                })?
            });
        }
    }
    Ok(subscriptions)
}

/// Returns the number of a subscription or a publisher in the log.
fn number(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

/// A publisher, and its description in the graph.
struct Source<'a> {
    node: Node,
    plan: &'a PublisherPlan,
    publisher: Publisher<Stamped>,
}

/// Creates all publishers of a graph, in its order.
fn sources<'a>(run: &Run, graph: &'a Graph) -> sinew::Result<Vec<Source<'a>>> {
    let mut sources = Vec::new();
    for plan in &graph.nodes {
        let node = run.context.node(&plan.name)?;
        for plan in &plan.publishers {
            let publisher = node.publisher::<Stamped>(&plan.topic).create()?;
            sources.push(Source { node: node.clone(), plan, publisher });
        }
    }
    Ok(sources)
}

fn publish(sources: &[Source<'_>], load: Load<'_>) -> sinew::Result<Vec<Timer>> {
    let mut on_topic: BTreeMap<&str, usize> = BTreeMap::new();
    let mut timers = Vec::new();
    for Source { node, plan, publisher: to } in sources {
        let place = on_topic.entry(&plan.topic).or_default();
        let publisher = number(*place);
        *place += 1;
        let (size, to) = (plan.data_size(), to.clone());
        let mut tracking_number: u32 = 0;
        let timer = node.timer(plan.period().div_f64(load.scale_rate));
        timers.push(if load.drafts {
            timer.callback(move || {
                let head = Stamped { stamp: now_ns(), tracking_number, publisher, data: Vec::new() };
                tracking_number = tracking_number.wrapping_add(1);
                let message =
                    to.draft(head, StampedLengths { data: size }).map_err(|error| error.to_string())?;
                to.publish(message).map_err(|error| error.to_string())
            })?
        } else {
            timer.callback(move || {
                let mut message = to.loan();
                message.data.resize(size, 0);
                message.publisher = publisher;
                message.tracking_number = tracking_number;
                tracking_number = tracking_number.wrapping_add(1);
                message.stamp = now_ns();
                to.publish(message)
            })?
        });
    }
    Ok(timers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ExecutorOptions;

    #[test]
    fn a_whole_robot_runs_without_loss_or_copy() {
        let graph = Graph::load("mont_blanc").unwrap();
        let cases = [
            (ExecutorOptions::default(), false),
            (ExecutorOptions::default(), true),
            (ExecutorOptions::multi(2), false),
        ];
        for (executor, drafts) in cases {
            let run = Run::by(executor).unwrap();
            let load = Load { graph: &graph, scale_rate: 1.0, drafts };
            let figures = figures(&run, load, Duration::from_millis(300), |_| Ok(())).unwrap();
            assert!(figures.messages.is_some_and(|messages| messages > 0));
            assert_eq!((figures.lost, figures.copies, figures.rss_growth_bytes), (Some(0), Some(0), None));
        }
    }
}
