//! Publishers and subscriptions in one process.
//!
//! Each measurement runs in a process of its own (this program again), so that none includes the
//! memory of another.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::QoS;

use crate::clock::{nanoseconds, now_ns};
use crate::error::Error;
use crate::machine::{self, Own};
use crate::messages::Timing;
use crate::process::{Measuring, Process, Work};
use crate::progress::Progress;
use crate::report::{Figures, Row, tenth};
use crate::rounds::Turns;
use crate::run::{Collected, Run};
use crate::samples::{Samples, Summary, median};

/// Number of publishers, and of subscriptions, in the row with a single topic.
const ON_ONE_TOPIC: u32 = 100;

/// The work of the process that creates entities.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct IntraCrowd {
    /// Number of publishers, and of subscriptions.
    pairs: u32,
    /// Whether all of them share one topic.
    one_topic: bool,
    /// Duration of measuring wake-ups.
    time: Duration,
}

/// The results of one process.
#[derive(Debug, Deserialize, Serialize)]
struct IntraFound {
    pairs: u64,
    create_ns: i64,
    create_cpu_ns: i64,
    destroy_ns: i64,
    rss_bytes: u64,
    /// From a publish to its callback, while all other entities are idle.
    p50_ns: f64,
    p90_ns: f64,
    p99_ns: f64,
    max_ns: f64,
    messages: u64,
}

/// Measures one row per number of pairs, each pair on a topic of its own, and one row of 100 x 100
/// on one topic.
pub(super) fn measure(numbers: &[u32], turns: Turns, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for &pairs in numbers {
        let peer = IntraCrowd { pairs, one_topic: false, time: turns.each() };
        let row = Row::sinew("entities", rounds(&peer, turns.rounds, progress)?);
        rows.push(row.with("pairs", pairs).with("topics", pairs).with("path", "intra"));
    }
    let peer = IntraCrowd { pairs: ON_ONE_TOPIC, one_topic: true, time: turns.each() };
    let row = Row::sinew("entities", rounds(&peer, turns.rounds, progress)?)
        .with("topics", 1_u32)
        .with("path", "intra");
    let row = row.with("publishers", ON_ONE_TOPIC).with("subscriptions", ON_ONE_TOPIC);
    rows.push(row.with("pairs", ON_ONE_TOPIC * ON_ONE_TOPIC));
    Ok(rows)
}

fn rounds(peer: &IntraCrowd, rounds: u32, progress: &mut Progress) -> Result<Figures, Error> {
    let what = match peer.one_topic {
        false => format!("{} pairs", peer.pairs),
        true => format!("{0} x {0} on one topic", peer.pairs),
    };
    let mut found = Vec::new();
    for number in 1..=rounds {
        progress.show(&what, number, rounds);
        found.push(Process::start(peer)?.hear::<IntraFound>()?);
    }
    let middle = |figure: &dyn Fn(&IntraFound) -> f64| median(found.iter().map(figure)).map(tenth);
    Ok(Figures {
        create_ns_per_pair: middle(&|found| found.create_ns as f64 / found.pairs as f64),
        create_cpu_ns_per_pair: middle(&|found| found.create_cpu_ns as f64 / found.pairs as f64),
        destroy_ns_per_pair: middle(&|found| found.destroy_ns as f64 / found.pairs as f64),
        rss_bytes_per_pair: middle(&|found| found.rss_bytes as f64 / found.pairs as f64),
        p50_ns: middle(&|found| found.p50_ns),
        p90_ns: middle(&|found| found.p90_ns),
        p99_ns: middle(&|found| found.p99_ns),
        max_ns: found.iter().map(|found| found.max_ns).reduce(f64::max),
        messages: Some(found.iter().map(|found| found.messages).sum()),
        rounds: Some(u64::from(rounds)),
        ..Figures::default()
    })
}

impl Work for IntraCrowd {
    const ROLE: &'static str = "Entities";

    fn scenario(&self) -> &'static str {
        "entities"
    }

    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        measuring.tell(&found(self)?)
    }
}

/// In the other process: measures once.
fn found(peer: &IntraCrowd) -> sinew::Result<IntraFound> {
    let run = Run::new()?;
    let node = run.context.node("crowd")?;
    let qos = QoS::default().keep_last(10);
    // Memory that is allocated once, with the first entities, doesn't count.
    let probe = node.publisher::<Timing>("probe").qos(qos).create()?;
    let latencies = Collected::new(Samples::with_room_for(1 << 16));
    let measured = latencies.clone();
    let _probed = node.subscription::<Timing>("probe").qos(qos).callback(move |timing: &Timing| {
        let latency = now_ns() - timing.stamp;
        measured.with(|measured| measured.record(latency));
    })?;
    let topic = |number: u32| if peer.one_topic { "crowded".to_owned() } else { format!("topic_{number}") };
    let topics: Vec<String> = (0..peer.pairs).map(topic).collect();
    let (mut publishers, mut subscriptions) =
        (Vec::with_capacity(topics.len()), Vec::with_capacity(topics.len()));

    let (rss, before) = (machine::resident_bytes().unwrap_or(0), Own::now());
    let start = now_ns();
    for topic in &topics {
        publishers.push(node.publisher::<Timing>(topic).qos(qos).create()?);
        subscriptions.push(node.subscription::<Timing>(topic).qos(qos).callback(|_: &Timing| ())?);
    }
    let create_ns = now_ns() - start;
    let create_cpu_ns = Own::since(before).cpu_ns;
    let rss_bytes = machine::resident_bytes().unwrap_or(0).saturating_sub(rss);

    let until = now_ns() + nanoseconds(peer.time);
    let mut warm_up = 100;
    while now_ns() < until || warm_up > 0 {
        probe.publish(Timing { stamp: now_ns(), number: 0 })?;
        run.executor.spin_some()?;
        if warm_up > 0 {
            warm_up -= 1;
            if warm_up == 0 {
                latencies.with(|latencies| *latencies = Samples::with_room_for(1 << 16));
            }
        }
    }
    let (summary, messages) = latencies.with(|latencies| (latencies.summary(1), latencies.recorded()));

    let start = now_ns();
    drop((publishers, subscriptions));
    let destroy_ns = now_ns() - start;

    let count = u64::from(peer.pairs);
    let figure = |figure: fn(&Summary) -> f64| summary.as_ref().map_or(0.0, figure);
    Ok(IntraFound {
        pairs: if peer.one_topic { count * count } else { count },
        create_ns,
        create_cpu_ns,
        destroy_ns,
        rss_bytes,
        p50_ns: figure(|summary| summary.p50),
        p90_ns: figure(|summary| summary.p90),
        p99_ns: figure(|summary| summary.p99),
        max_ns: figure(|summary| summary.max),
        messages,
    })
}
