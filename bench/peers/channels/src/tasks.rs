//! A chain of tokio's tasks: the source has an interval, and each relay and the sink have a channel
//! before them.

use std::time::Duration;

use harness::chain::{Sink, measure_source};
use harness::{Figures, Result, now_ns};
use sinew_bench::clock::nanoseconds;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::channel;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::ROOM;

/// Runs the chain on a runtime with any number of threads.
pub(super) fn chain(runtime: &Runtime, relays: u32, rate: f64, time: Duration) -> Result<Figures> {
    let sink = Sink::new(rate, time);
    let (source, mut input) = channel(ROOM);
    for _ in 0..relays {
        let (to, next) = channel(ROOM);
        let mut from = std::mem::replace(&mut input, next);
        runtime.spawn(async move {
            while let Some(timing) = from.recv().await {
                if to.send(timing).await.is_err() {
                    break;
                }
            }
        });
    }
    let seen = sink.clone();
    // Ends when the source and then each relay has ended.
    let end = runtime.spawn(async move {
        while let Some(timing) = input.recv().await {
            seen.arrive(timing);
        }
    });
    measure_source(rate, time, relays + 1, &sink, |mut messages| {
        // A task like all others: the future of `block_on` itself runs on no worker.
        let source = runtime.spawn(async move {
            let period = Duration::from_secs_f64(1.0 / rate);
            let (start, start_ns) = (Instant::now(), now_ns());
            let mut timer = interval_at(start + period, period);
            timer.set_missed_tick_behavior(MissedTickBehavior::Skip);
            while messages.are_left() {
                let due = timer.tick().await;
                source.send(messages.next(start_ns + nanoseconds(due - start))).await?;
            }
            anyhow::Ok(messages)
        });
        runtime.block_on(async {
            let messages = source.await??;
            end.await?;
            Ok(messages)
        })
    })
}
