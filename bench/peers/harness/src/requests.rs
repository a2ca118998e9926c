//! Calls and their answers: in a chain of servers, or between two processes (timed as a ping-pong,
//! [`crate::pingpong::measure`]).

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sinew_bench::calls;
use sinew_bench::pacing::{Ticks, ticks};
use sinew_bench::rounds::Meter;

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
/// The errors of `call`.
pub fn measure(
    rate: f64,
    time: Duration,
    hops: u32,
    called: &Called,
    mut call: impl FnMut(Timing) -> Result<u64>,
) -> Result<Figures> {
    let meter = Meter::start();
    let mut calls = calls::Calls::start(time, ticks(rate, time) as usize);
    let mut pace = Ticks::start(rate)?;
    loop {
        pace.wait();
        let asked = calls.ask();
        let answer = call(Timing { stamp: asked.stamp, number: asked.number })?;
        // The last server's store.
        if !calls.answered(asked, answer, called.0.load(Ordering::Acquire)) {
            return Ok(calls.figures(hops, meter.usage()));
        }
    }
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
