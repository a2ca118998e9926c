//! Scenario `fanout`: one publisher, many subscriptions in the same process.

use std::time::Duration;

use sinew::Message;

use super::floors::{line2, ticks, warm_up};
use super::progress::Progress;
use super::report::{Figures, Row, tenth};
use super::rounds::{Round, alternate};
use super::run::{Collected, Run};
use super::samples::{Samples, median};
use crate::cli::{ExecutorOptions, FanoutOptions};
use crate::clock::now_ns;
use crate::error::Error;
use crate::machine;

/// Messages per second.
const RATE: f64 = 1000.0;

/// A small message.
#[derive(Clone, Copy)]
struct Timing {
    stamp: i64,
    number: u64,
}

impl Message for Timing {}

/// One row per number of subscriptions: `p50_ns` and so on are until the last one is called.
pub(super) fn measure(options: &FanoutOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let time = options.output.time_or(5);
    let mut rows = Vec::new();
    if let Some(cores) = machine::two_cores()? {
        let mut floor = |time| line2::round(cores, time);
        let [floor] = alternate(progress, "line2", time.min(Duration::from_secs(1)), [&mut floor])?;
        rows.push(Row::floor("fanout", "line2", Figures::over(&floor, 2)));
    }
    for &subscriptions in &options.subscriptions {
        let mut publish_p50s = Vec::new();
        let mut ours = |time| {
            let (round, publishing) = round(subscriptions, time)?;
            publish_p50s.extend(publishing.summary(1).map(|summary| summary.p50));
            Ok(round)
        };
        let [ours] = alternate(progress, &format!("fanout to {subscriptions}"), time, [&mut ours])?;
        let publish_p50_ns = median(publish_p50s).map(tenth);
        let figures = Figures { publish_p50_ns, ..Figures::over(&ours, 1) };
        let row = Row::sinew("fanout", figures).with("subscriptions", subscriptions).with("rate", RATE);
        rows.push(row.with("placement", "same").run_by(ExecutorOptions::default()));
    }
    Ok(rows)
}

/// What the subscriptions see together.
struct Arrivals {
    /// From before the publish to the last subscription's callback.
    to_last: Samples,
    received: u64,
    /// The message that is coming in now, and how many have it.
    number: u64,
    have_it: u32,
}

/// One round; besides, the times inside publish.
fn round(subscriptions: u32, time: Duration) -> sinew::Result<(Round, Samples)> {
    let ticks = ticks(RATE, time);
    let counts_from = u64::from(warm_up(ticks));
    let room = ticks as usize + 1;
    let run = Run::new()?;

    let source = run.context.node("source")?;
    let publisher = source.publisher::<Timing>("news").create()?;
    let sent = publisher.clone();
    let publishing = Collected::new(Samples::with_room_for(room));
    let spent = publishing.clone();
    let mut number = 0;
    let timer = source.timer(Duration::from_secs_f64(1.0 / RATE)).callback(move || {
        number += 1;
        let stamp = now_ns();
        let published = publisher.publish(Timing { stamp, number });
        let time_inside = now_ns() - stamp;
        if number > counts_from {
            spent.with(|spent| spent.record(time_inside));
        }
        published
    })?;

    let arrivals = Collected::new(Arrivals {
        to_last: Samples::with_room_for(room),
        received: 0,
        number: 0,
        have_it: 0,
    });
    let mut listening = Vec::new();
    for reader in 0..subscriptions {
        let seen = arrivals.clone();
        let node = run.context.node(&format!("reader_{reader}"))?;
        listening.push(node.subscription::<Timing>("news").callback(move |timing: &Timing| {
            let latency = now_ns() - timing.stamp;
            seen.with(|seen| {
                seen.received += 1;
                if seen.number != timing.number {
                    (seen.number, seen.have_it) = (timing.number, 0);
                }
                seen.have_it += 1;
                if seen.have_it == subscriptions && timing.number > counts_from {
                    seen.to_last.record(latency);
                }
            });
        })?);
    }

    let cpu_percent = run.spin_for(time)?;
    drop(timer);
    run.drain()?;
    let expected = sent.statistics().published * u64::from(subscriptions);
    let round = arrivals.with(|arrivals| Round {
        lost: expected.saturating_sub(arrivals.received),
        cpu_percent: Some(cpu_percent),
        ..Round::of(std::mem::take(&mut arrivals.to_last))
    });
    Ok((round, publishing.with(std::mem::take)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_gets_every_message() {
        let (round, publishing) = round(4, Duration::from_millis(50)).unwrap();
        assert!(round.messages > 0);
        assert_eq!((round.lost, publishing.recorded()), (0, round.messages));
    }
}
