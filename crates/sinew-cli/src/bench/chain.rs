//! Scenario `chain`: Source => Relay_0 => ... => Sink, every one a node, each hop on a topic of its own.

use std::time::Duration;

use sinew::Message;

use super::floors::{direct, ticks, warm_up};
use super::progress::Progress;
use super::report::{Figures, Row, hundredth};
use super::rounds::{Round, alternate, ratio};
use super::run::{Collected, Run};
use super::samples::Samples;
use crate::cli::ChainOptions;
use crate::clock::now_ns;
use crate::error::Error;

/// The message: when it was made, and its number.
#[derive(Clone, Copy)]
struct Timing {
    stamp: i64,
    number: u64,
}

impl Message for Timing {}

/// One row per rate, beside the same chain as direct calls.
pub(super) fn measure(options: &ChainOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let relays = options.relays;
    let hops = relays + 1;
    let mut rows = Vec::new();
    for &rate in &options.rates {
        let what = format!("chain of {relays} relays at {rate} Hz");
        let mut floor = |time| direct::round(relays, rate, time);
        let mut ours = |time| Ok(round(relays, rate, time)?);
        let sides = [&mut floor as _, &mut ours as _];
        let [floor, ours] = alternate(progress, &what, options.output.time_or(10), sides)?;
        let figures = Figures {
            floor_ratio: ratio(&ours, hops, &floor, hops).map(hundredth),
            ..Figures::over(&ours, hops)
        };
        let row = |row: Row| row.with("relays", relays).with("rate", rate);
        rows.push(row(Row::floor("chain", "direct", Figures::over(&floor, hops))));
        rows.push(row(Row::sinew("chain", figures)).with("executor", "single"));
    }
    Ok(rows)
}

/// What the sink sees.
struct Arrivals {
    samples: Samples,
    received: u64,
    reordered: u64,
    last: u64,
}

/// One round. A sample is the time from source to sink.
fn round(relays: u32, rate: f64, time: Duration) -> sinew::Result<Round> {
    let ticks = ticks(rate, time);
    let counts_from = u64::from(warm_up(ticks));
    let run = Run::new()?;

    let source = run.context.node("source")?;
    let first = source.publisher::<Timing>("hop_0").create()?;
    let sent = first.clone();
    let mut number = 0;
    let timer = source.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || {
        number += 1;
        first.publish(Timing { stamp: now_ns(), number })
    })?;

    let mut relayed = Vec::new();
    for hop in 0..relays {
        let relay = run.context.node(&format!("relay_{hop}"))?;
        let next = relay.publisher::<Timing>(&format!("hop_{}", hop + 1)).create()?;
        let subscription = relay
            .subscription::<Timing>(&format!("hop_{hop}"))
            .callback(move |timing: &Timing| next.publish(*timing))?;
        relayed.push(subscription);
    }

    let arrivals = Collected::new(Arrivals {
        samples: Samples::with_room_for(ticks as usize + 1),
        received: 0,
        reordered: 0,
        last: 0,
    });
    let seen = arrivals.clone();
    let sink = run.context.node("sink")?;
    let _sink = sink.subscription::<Timing>(&format!("hop_{relays}")).callback(move |timing: &Timing| {
        let latency = now_ns() - timing.stamp;
        seen.with(|seen| {
            seen.received += 1;
            seen.reordered += u64::from(timing.number < seen.last);
            seen.last = timing.number;
            if timing.number > counts_from {
                seen.samples.record(latency);
            }
        });
    })?;

    let cpu_percent = run.spin_for(time)?;
    drop(timer);
    run.drain()?;
    let sent = sent.statistics().published;
    Ok(arrivals.with(|arrivals| Round {
        lost: sent.saturating_sub(arrivals.received),
        reordered: arrivals.reordered,
        cpu_percent: Some(cpu_percent),
        ..Round::of(std::mem::take(&mut arrivals.samples))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_arrives_in_order() {
        let round = round(3, 1000.0, Duration::from_millis(50)).unwrap();
        assert!(round.messages > 0);
        assert_eq!((round.lost, round.reordered), (0, 0));
    }
}
