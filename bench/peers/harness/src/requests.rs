//! Calls and their answers: in a chain of servers, or between two processes (timed as a ping-pong,
//! [`crate::pingpong::measure`]).

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sinew_bench::pacing::{Ticks, ticks, warm_up};
use sinew_bench::rounds::{Meter, Round};
use sinew_bench::samples::Samples;

use crate::chain::Timing;
use crate::pingpong::{Answer, Rally};
use crate::{Figures, Result, now_ns};

/// The time at which the last server of a chain was called.
#[derive(Debug, Default)]
pub struct Called(AtomicI64);

impl Called {
    /// Records that the last server was called: call it first.
    pub fn note(&self) {
        self.0.store(now_ns(), Ordering::Release); // the client's load
    }
}

/// Calls `call`, `rate` times a second for `time`, on the calling thread, which `call` blocks until
/// the answer, the request's own number, has come. `hops` is the total number of servers.
///
/// # Errors
///
/// The errors of `call`, and a wrong answer.
pub fn measure(
    rate: f64,
    time: Duration,
    hops: u32,
    called: &Called,
    mut call: impl FnMut(Timing) -> Result<u64>,
) -> Result<Figures> {
    let ticks = ticks(rate, time);
    let (mut there, mut whole) =
        (Samples::with_room_for(ticks as usize), Samples::with_room_for(ticks as usize));
    let meter = Meter::start();
    let mut pace = Ticks::start(rate)?;
    for number in 1..=u64::from(ticks) {
        pace.wait();
        let stamp = now_ns();
        let answer = call(Timing { stamp, number })?;
        let end = now_ns();
        anyhow::ensure!(answer == number, "call {number} was answered with {answer}");
        if number > warm_up(ticks).into() {
            there.record(called.0.load(Ordering::Acquire) - stamp); // the last server's store
            whole.record(end - stamp);
        }
    }
    let round = Round { usage: Some(meter.usage()), ..Round::of(there) };
    let roundtrip_p50_ns = whole.summary(2 * hops).map(|summary| summary.p50);
    Ok(Figures { roundtrip_p50_ns, ..Figures::over(&[round], hops) })
}

/// A ping-pong's client with calls that return the answer, the request's own number.
#[derive(Debug)]
pub struct Calls<F> {
    call: F,
    next: u64,
}

impl<F: FnMut(Timing) -> Result<u64>> Calls<F> {
    /// Makes a client that calls `call`.
    pub fn by(call: F) -> Self {
        Self { call, next: 0 }
    }
}

impl<F: FnMut(Timing) -> Result<u64>> Rally<anyhow::Error> for Calls<F> {
    fn send(&mut self, number: u64) -> Result<()> {
        self.next = number; // sent and answered at once
        Ok(())
    }

    fn answer(&mut self) -> Result<Answer> {
        let number = (self.call)(Timing { stamp: now_ns(), number: self.next })?;
        Ok(Answer { number, end_ns: None })
    }
}
