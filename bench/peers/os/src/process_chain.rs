//! The chain over two processes, with every hop a socket from one into the other: node `n` is in
//! process `n % 2`, node 0 is the source, the last one the sink. Each node has a thread that blocks
//! in its read.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use anyhow::Context as _;
use harness::chain::Timing;
use harness::{Case, Figures, Measuring, Other, Result, now_ns};
use sinew_bench::arrivals::Arrivals;
use sinew_bench::machine::{self, pin_to};
use sinew_bench::pacing::{Ticks, ticks, warm_up};
use sinew_bench::rounds::{Meter, Usage};

use crate::Os;
use crate::link::{Listening, connect};

/// Starts the relays of one process, and returns the remaining socket: from the source, or to the
/// sink. Hop `n` leads from node `n` to node `n + 1`. A relay ends when there is no more to read,
/// and its output with it: the end of the source passes along the chain.
fn relays(hops: Vec<UnixStream>, process: usize) -> Result<UnixStream> {
    let mut left = None;
    let count = hops.len();
    let mut hops: Vec<Option<UnixStream>> = hops.into_iter().map(Some).collect();
    for node in (process..=count).step_by(2) {
        let input = node.checked_sub(1).and_then(|hop| hops[hop].take());
        let output = hops.get_mut(node).and_then(Option::take);
        match (input, output) {
            (Some(input), Some(output)) => drop(thread::spawn(move || relay(input, output))),
            (input, output) => left = input.or(output),
        }
    }
    left.context("a chain over two processes needs an even number of relays")
}

fn relay(mut input: UnixStream, mut output: UnixStream) {
    let mut message = [0; 16];
    while input.read_exact(&mut message).is_ok() && output.write_all(&message).is_ok() {}
}

pub fn run(case: &Case, relays: u32, rate: f64) -> Result<Figures> {
    anyhow::ensure!(relays.is_multiple_of(2), "a chain over two processes needs an even number of relays");
    let cores = machine::two_cores()?;
    let listening = Listening::new()?;
    let mut other = harness::start::<Os>(case, cores.map(|cores| cores.1), listening.name.clone())?;
    other.hear::<()>()?;
    if let Some(cores) = cores {
        pin_to(cores.0)?; // also for the threads started from here
    }
    let hops = (0..=relays).map(|_| listening.accept()).collect::<Result<Vec<_>>>()?;
    let mut source = self::relays(hops, 0)?;
    let count = u64::from(ticks(rate, case.time()));
    let meter = Meter::start();
    let mut pace = Ticks::start(rate)?;
    for number in 1..=count {
        pace.wait();
        source.write_all(&Timing { stamp: now_ns(), number }.to_bytes()).context("the chain is broken")?;
    }
    let usage = meter.usage();
    drop(source);
    let (seen, others): (Arrivals, Usage) = other.finish()?;
    Ok(seen.figures(relays + 1, count, usage + others))
}

pub fn serve(other: &Other, relays: u32, rate: f64, measuring: Measuring) -> Result<()> {
    let hops = (0..=relays).map(|_| connect(&other.note)).collect::<Result<Vec<_>>>()?;
    let mut sink = self::relays(hops, 1)?;
    let ticks = ticks(rate, other.case.time());
    let mut seen = Arrivals::after(warm_up(ticks).into(), ticks as usize);
    measuring.tell(&())?;
    let meter = Meter::start();
    let mut message = [0; 16];
    while sink.read_exact(&mut message).is_ok() {
        let now = now_ns();
        let timing = Timing::from_bytes(&message).unwrap_or_default();
        seen.note(timing.number, now - timing.stamp);
    }
    Ok(measuring.tell(&(seen, meter.usage()))?)
}
