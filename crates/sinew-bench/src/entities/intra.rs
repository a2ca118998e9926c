//! Publishers and subscriptions in one process.
//!
//! Each round runs in a process of its own (this program again), so that none includes the memory
//! of another.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::QoS;

use crate::clock::{nanoseconds, now_ns};
use crate::error::Error;
use crate::messages::Timing;
use crate::pairs;
use crate::process::{Measuring, Process, Work};
use crate::report::Figures;
use crate::run::{Collected, Run};
use crate::samples::Samples;

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 16;

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

impl Work for IntraCrowd {
    /// In the other process: measures once.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        measuring.tell(&self.figures()?)
    }
}

impl IntraCrowd {
    pub(super) fn new(pairs: u32, one_topic: bool, time: Duration) -> Self {
        Self { pairs, one_topic, time }
    }

    /// Measures in a process of its own.
    pub(super) fn measured(&self) -> Result<Figures, Error> {
        Process::start(self)?.hear()
    }

    /// Returns the cost of the pairs, and the times from a publish to its callback while all other
    /// entities are idle.
    fn figures(&self) -> sinew::Result<Figures> {
        let run = Run::new()?;
        let node = run.context.node("crowd")?;
        let qos = QoS::default().keep_last(10);
        let probe = node.publisher::<Timing>("probe").qos(qos).create()?;
        let latencies = Collected::new(Samples::with_room_for(ROOM));
        let measured = latencies.clone();
        let _probed = node.subscription::<Timing>("probe").qos(qos).callback(move |timing: &Timing| {
            let latency = now_ns() - timing.stamp;
            measured.with(|measured| measured.record(latency));
        })?;
        let topic = |number| if self.one_topic { "crowded".to_owned() } else { format!("topic_{number}") };
        let topics: Vec<String> = (0..self.pairs).map(topic).collect();
        let pair = |number: u32| -> sinew::Result<_> {
            let topic = topics.get(number as usize).map_or("first", String::as_str);
            let publisher = node.publisher::<Timing>(topic).qos(qos).create()?;
            Ok((publisher, node.subscription::<Timing>(topic).qos(qos).callback(|_: &Timing| ())?))
        };
        let cost = pairs::within(self.pairs, pair, || {
            let until = now_ns() + nanoseconds(self.time);
            let mut warm_up = 100;
            while now_ns() < until || warm_up > 0 {
                probe.publish(Timing { stamp: now_ns(), number: 0 })?;
                run.executor.spin_some()?;
                if warm_up > 0 {
                    warm_up -= 1;
                    if warm_up == 0 {
                        latencies.with(|latencies| *latencies = Samples::with_room_for(ROOM));
                    }
                }
            }
            Ok(())
        })?;
        let count = u64::from(self.pairs);
        let pairs = if self.one_topic { count * count } else { count };
        Ok(cost.figures(pairs, latencies.with(|latencies| Figures::of(latencies, 1))))
    }
}
