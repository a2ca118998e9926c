//! The subscriptions are in the publisher's process.

use std::time::Duration;

use super::on_tick;
use crate::clock::now_ns;
use crate::messages::Timing;
use crate::pacing::{ticks, warm_up};
use crate::rounds::Round;
use crate::run::{Collected, Run};
use crate::samples::Samples;

/// The observations of all subscriptions together.
struct FanoutArrivals {
    /// From before the publish to the last subscription's callback.
    to_last: Samples,
    received: u64,
    /// The current message, and the number of subscriptions that have it.
    number: u64,
    have_it: u32,
}

/// Measures one round; also returns the times inside publish.
pub(super) fn round(subscriptions: u32, rate: f64, time: Duration) -> sinew::Result<(Round, Samples)> {
    let ticks = ticks(rate, time);
    let counts_from = u64::from(warm_up(ticks));
    let room = ticks as usize + 1;
    let run = Run::new()?;

    let source = run.context.node("source")?;
    let publisher = source.publisher::<Timing>("news").create()?;
    let sent = publisher.clone();
    let publishing = Collected::new(Samples::with_room_for(room));
    let news = on_tick(publisher, publishing.clone(), counts_from);
    let timer = source.timer(Duration::from_secs_f64(1.0 / rate)).callback(news)?;

    let arrivals = Collected::new(FanoutArrivals {
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

    let usage = run.spin_for(time)?;
    drop(timer);
    run.drain()?;
    let expected = sent.statistics().published * u64::from(subscriptions);
    let round = arrivals.with(|arrivals| Round {
        lost: expected.saturating_sub(arrivals.received),
        usage: Some(usage),
        ..Round::of(std::mem::take(&mut arrivals.to_last))
    });
    Ok((round, publishing.with(std::mem::take)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_gets_every_message() {
        let (round, publishing) = round(4, 1000.0, Duration::from_millis(50)).unwrap();
        assert!(round.messages > 0);
        assert_eq!((round.lost, publishing.recorded()), (0, round.messages));
    }
}
