//! Scenario `process-chain`: the chain with its nodes spread over several processes, so that every
//! hop goes from one process to another. Node 0 is the source, the last one the sink; node `n` runs
//! in process `n % processes`, and process 0 is the one that measures.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Executor, Publisher, Subscription};

use super::messages::Timing;
use super::payload::PATIENT;
use crate::options::ProcessChainCase;
use crate::{
    Arrivals, Case, Collected, Error, Figures, Floor, Ground, Measuring, MultiProcess, Part, Run, Usage,
    matched, now_ns, one, source, ticks, warm_up,
};

/// A process's results.
#[derive(Debug, Deserialize, Serialize)]
struct Told {
    usage: Usage,
    /// The sink's observations, if the sink is there.
    arrivals: Option<Arrivals>,
}

/// Measured beside two processes that only wake each other.
impl Case for ProcessChainCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::wake(Some(one(&self.rate)))])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

impl MultiProcess for ProcessChainCase {
    const SCENARIO: &'static str = "process-chain";

    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        let (processes, hops, rate) = (part.case.processes, part.case.relays + 1, one(&part.case.rate));
        let mut others = (1..processes).map(|process| part.start(process)).collect::<Result<Vec<_>, _>>()?;
        let nodes = Nodes::create(part)?;
        nodes.matched()?;
        for other in &mut others {
            other.hear::<()>()?;
        }
        part.pin()?;

        let timer = source(&nodes.run.context.node("source")?, &nodes.publishers[0], rate)?;
        let usage = nodes.run.spin_for(part.time)?;
        drop(timer);
        let sent = nodes.publishers[0].statistics().published;

        // All processes go on until the sink has everything. The module's documentation says where
        // the sink is.
        match (hops % processes).checked_sub(1) {
            Some(other) => {
                let sink = &mut others[other as usize];
                sink.order(&sent)?;
                nodes.run.spin_until_told(sink)?;
            }
            None => nodes.run.spin_until(sent, || nodes.received())?,
        }
        let mut told = vec![nodes.tell(usage)];
        for other in others {
            told.push(other.finish()?);
        }
        let usage = told.iter().map(|told| told.usage).sum();
        let arrivals = told.into_iter().find_map(|told| told.arrivals).unwrap_or_default();
        Ok(arrivals.figures(hops, sent, usage))
    }

    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        let nodes = Nodes::create(part)?;
        nodes.matched()?;
        part.pin()?;
        measuring.tell(&())?;
        let arrivals = nodes.arrivals.clone();
        let received = move || arrivals.as_ref().map_or(0, |seen| seen.with(|seen| seen.received()));
        let usage = nodes.run.serve(measuring, received)?;
        measuring.tell(&nodes.tell(usage))
    }
}

/// The nodes of one process.
struct Nodes {
    run: Run,
    /// In the order of the chain: the source's publisher is the first one.
    publishers: Vec<Publisher<Timing>>,
    _subscriptions: Vec<Subscription<Timing>>,
    arrivals: Option<Collected<Arrivals>>,
}

impl Nodes {
    fn create(part: &Part<ProcessChainCase>) -> Result<Self, Error> {
        let run = part.run(Executor::builder())?;
        let ticks = ticks(one(&part.case.rate), part.time);
        let (mut publishers, mut subscriptions, mut arrivals) = (Vec::new(), Vec::new(), None);
        let ProcessChainCase { processes, relays, .. } = part.case;
        for number in (0..=relays + 1).filter(|number| number % processes == part.process) {
            let node = run.context.node(&format!("node_{number}"))?;
            let input = number
                .checked_sub(1)
                .map(|hop| node.subscription::<Timing>(&format!("hop_{hop}")).qos(PATIENT));
            let output = match number {
                sink if sink == relays + 1 => None,
                hop => Some(node.publisher::<Timing>(&format!("hop_{hop}")).qos(PATIENT).create()?),
            };
            subscriptions.extend(match (input, output.clone()) {
                (Some(input), Some(output)) => {
                    Some(input.callback(move |timing: &Timing| output.publish(*timing))?)
                }
                (Some(input), None) => {
                    let seen = Collected::new(Arrivals::after(warm_up(ticks).into(), ticks as usize + 1));
                    arrivals = Some(seen.clone());
                    Some(input.callback(move |timing: &Timing| {
                        let latency = now_ns() - timing.stamp;
                        seen.with(|seen| seen.note(timing.number, latency));
                    })?)
                }
                (None, _) => None,
            });
            publishers.extend(output);
        }
        Ok(Self { run, publishers, _subscriptions: subscriptions, arrivals })
    }

    /// Returns the number of messages that the sink has received, if it is here.
    fn received(&self) -> u64 {
        self.arrivals.as_ref().map_or(0, |seen| seen.with(|seen| seen.received()))
    }

    fn matched(&self) -> Result<(), Error> {
        self.publishers.iter().try_for_each(|publisher| matched(publisher, 1))
    }

    fn tell(&self, usage: Usage) -> Told {
        let arrivals = self.arrivals.as_ref().map(|arrivals| arrivals.with(std::mem::take));
        Told { usage, arrivals }
    }
}
