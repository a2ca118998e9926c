//! What a log line costs who says it: `cargo run --release --example log_cost`, for docs/benchmarks.md.
//!
//! The console and the file are off and `/rosout` has no listener: the line is made, handed over, and
//! published by the logging thread. Beside it the floor: reading the clock and making the text, which
//! no logger can do without. The calls come in bursts that fit the queue, with pauses in which it is
//! emptied; the times are of the calls alone.

use sinew::prelude::*;
use std::hint::black_box;
use std::time::Duration;

const BURST: usize = 1000;
const ROUNDS: usize = 200;

/// Nanoseconds a call of each round: the median, and the ninth tenth.
fn measure(mut burst: impl FnMut(usize)) -> (i64, i64) {
    let mut times: Vec<i64> = (0..ROUNDS)
        .map(|_| {
            let begin = sinew::time::Time::steady().nanoseconds();
            (0..BURST).for_each(&mut burst);
            let time = sinew::time::Time::steady().nanoseconds() - begin;
            sinew::logging::flush(Duration::from_secs(10));
            time / 1000
        })
        .collect();
    times.sort_unstable();
    (times[ROUNDS / 2], times[ROUNDS * 9 / 10])
}

/// The same for calls that come alone, when the logging thread sleeps.
fn measure_alone(node: &Node, mut call: impl FnMut(usize)) -> (i64, i64) {
    let mut times: Vec<i64> = (0..ROUNDS)
        .map(|number| {
            sinew::logging::flush(Duration::from_secs(10));
            let _ = node.sleep_for(ClockKind::Steady, Duration::from_millis(12));
            let begin = sinew::time::Time::steady().nanoseconds();
            call(number);
            sinew::time::Time::steady().nanoseconds() - begin
        })
        .collect();
    times.sort_unstable();
    (times[ROUNDS / 2], times[ROUNDS * 9 / 10])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sinew::logging::builder().console(false).file(false).init()?;
    let context = Context::builder().shared_memory(false).build()?;
    let node = context.node_in("/robot", "arm")?;
    let logger = node.logger();
    let name = logger.name();
    println!("{:40} {:>8} {:>8}", "ns a call", "P50", "P90");
    let print = |what: &str, (half, most): (i64, i64)| println!("{what:40} {half:8} {most:8}");
    for _ in 0..2 {
        let floor = measure(|number| {
            black_box(sinew::time::Time::wall());
            black_box(format!("{name}line {number} of {BURST}"));
        });
        print("the clock and the text alone", floor);
        print("log::info!, enabled", measure(|number| log::info!(target: name, "line {number} of {BURST}")));
        print("the same, a literal", measure(|_| log::info!(target: name, "a line")));
        print(
            "sinew::info! of a node, enabled",
            measure(|number| sinew::info!(node, "line {number} of {BURST}")),
        );
        print("log::debug!, not enabled", measure(|number| log::debug!(target: name, "line {number}")));
        print("sinew::debug! of a node, not enabled", measure(|number| sinew::debug!(node, "line {number}")));
        let alone = measure_alone(&node, |number| {
            black_box(sinew::time::Time::wall());
            black_box(format!("{name}line {number} of {BURST}"));
        });
        print("alone: the clock and the text", alone);
        let alone = measure_alone(&node, |number| log::info!(target: name, "line {number} of {BURST}"));
        print("alone: log::info!", alone);
    }
    Ok(())
}
