//! Scenario `service-chain`: a client calls the first of a chain of servers; each calls the next,
//! and answers after its own call was answered. Or one server in another process.

mod between;

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use sinew::error::CallError;
use sinew::{Client, Context, Server};

use super::floors::direct;
use super::messages::{Bench, BenchRequest, BenchResponse};
use super::progress::Progress;
use super::report::{Figures, Row, hundredth, tenth};
use super::rounds::{Meter, Round, alternate, ratio};
use super::run::{Collected, Run, executor};
use super::samples::{Samples, median};
use super::sequence::Sequence;
use crate::clock::now_ns;
use crate::error::Error;
use crate::options::{ExecutorOptions, ServiceChainOptions};
use crate::pacing::Ticks;
use crate::pacing::{ticks, warm_up};
pub(crate) use between::Serving;

/// Time after which a call, and with it the run, has failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// One chain at one rate.
#[derive(Clone, Copy, Debug)]
struct ServiceChainCase {
    executor: ExecutorOptions,
    relays: u32,
    rate: f64,
    /// Servers and client await answers; otherwise they block.
    awaits: bool,
}

/// Measures one row per rate, beside the same number of nested direct calls; or the rows between
/// processes.
pub(super) fn measure(options: &ServiceChainOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    if options.other_process {
        return between::measure(options, progress);
    }
    let hops = options.relays + 1;
    let mut rows = Vec::new();
    for &rate in &options.rates {
        let &ServiceChainOptions { executor, relays, awaits, .. } = options;
        let case = ServiceChainCase { executor, relays, rate, awaits };
        let what = format!("{} services that call each other at {rate} Hz", relays + 1);
        let mut round_trips = Vec::new();
        let mut floor = |time| direct::round(relays, rate, time);
        let mut ours = |time| {
            let (to_last, whole) = round(case, time)?;
            round_trips.extend(whole.summary(2 * hops).map(|summary| summary.p50));
            Ok(to_last)
        };
        let sides = [&mut floor as _, &mut ours as _];
        let [floor, ours] = alternate(progress, &what, options.output.turns_or(10), sides)?;
        let figures = Figures {
            floor_ratio: ratio(&ours, hops, &floor, hops).map(hundredth),
            roundtrip_p50_ns: median(round_trips).map(tenth),
            ..Figures::over(&ours, hops)
        };
        let row = |row: Row| row.with("relays", relays).with("rate", rate);
        rows.push(row(Row::floor("service-chain", "direct", Figures::over(&floor, hops))));
        rows.push(row(Row::sinew("service-chain", figures)).with("async", awaits).run_by(executor));
    }
    Ok(rows)
}

/// Records a request at the last server, and answers it.
fn answer(requests: &Collected<Sequence>, request: &BenchRequest) -> BenchResponse {
    let started = now_ns();
    let number = request.number;
    requests.with(|requests| requests.note(number));
    BenchResponse { started, number }
}

/// The client's calls, and their times after the warm-up.
struct ChainCalls {
    made: u64,
    counts_from: u64,
    /// Answers to a call other than the pending one.
    wrong: u64,
    /// From the call to the last server's start.
    to_last: Samples,
    /// From the call to its answer.
    whole: Samples,
}

impl ChainCalls {
    fn with_room_for(ticks: u32) -> Self {
        let room = ticks as usize;
        let (to_last, whole) = (Samples::with_room_for(room), Samples::with_room_for(room));
        Self { made: 0, counts_from: warm_up(ticks).into(), wrong: 0, to_last, whole }
    }

    /// Returns the next request, stamped.
    fn next(&mut self) -> BenchRequest {
        self.made += 1;
        BenchRequest { stamp: now_ns(), number: self.made }
    }

    fn answered(&mut self, request: BenchRequest, response: BenchResponse) {
        let now = now_ns();
        self.wrong += u64::from(response.number != request.number);
        if request.number > self.counts_from {
            self.to_last.record(response.started - request.stamp);
            self.whole.record(now - request.stamp);
        }
    }
}

/// Measures one round. Its samples are the times from the client's call to the last server's start.
/// Also returns those from the call to its answer.
fn round(case: ServiceChainCase, time: Duration) -> Result<(Round, Samples), Error> {
    // The client's thread may run the first server: that is part of the measurement.
    let context = Context::builder().shared_memory(false).build()?;
    let run = Run::of(context, executor(case.executor).caller_runs(true))?;
    let requests = Collected::new(Sequence::default());
    let _relays = (0..case.relays).map(|hop| relay(&run, hop, case.awaits)).collect::<Result<Vec<_>, _>>()?;
    let _last = last(&run, case, &requests)?;
    let client = run.context.node("client")?.client::<Bench>("hop_0").create()?;
    let meter = Meter::start();
    let calls = if case.awaits {
        call_and_await(&run, &client, case.rate, time)?
    } else {
        call_and_block(&run, &client, case.rate, time)?
    };
    let usage = meter.usage();
    let ChainCalls { made, wrong, to_last, whole, .. } = calls;
    let round = requests.with(|requests| Round {
        lost: requests.lost(made),
        reordered: requests.reordered + wrong,
        usage: Some(usage),
        ..Round::of(to_last)
    });
    Ok((round, whole))
}

/// Creates a server that calls the next one.
fn relay(run: &Run, hop: u32, awaits: bool) -> sinew::Result<Server<Bench>> {
    let node = run.context.node(&format!("relay_{hop}"))?;
    let next = node.client::<Bench>(&format!("hop_{}", hop + 1)).create()?;
    let service = node.server::<Bench>(&format!("hop_{hop}"));
    let server = if awaits {
        service.async_callback(move |request: BenchRequest| {
            let next = next.clone();
            async move { next.call_async(request).await.map(|response| *response) }
        })
    } else {
        service.callback(move |request: &BenchRequest| -> Result<BenchResponse, CallError<BenchRequest>> {
            next.call(*request, PATIENCE).map(|response| *response)
        })
    };
    Ok(server?)
}

/// Creates the server that calls no other.
fn last(run: &Run, case: ServiceChainCase, requests: &Collected<Sequence>) -> sinew::Result<Server<Bench>> {
    let node = run.context.node("last")?;
    let service = node.server::<Bench>(&format!("hop_{}", case.relays));
    let requests = requests.clone();
    let server = if case.awaits {
        service.async_callback(move |request: BenchRequest| {
            let response = answer(&requests, &request);
            async move { response }
        })
    } else {
        service.callback(move |request: &BenchRequest| answer(&requests, request))
    };
    Ok(server?)
}

/// Runs the client on a thread of its own, which sleeps between its calls, while the current one
/// spins the executor.
fn call_and_block(run: &Run, client: &Client<Bench>, rate: f64, time: Duration) -> Result<ChainCalls, Error> {
    let ticks = ticks(rate, time);
    thread::scope(|scope| {
        let stop = run.executor.stop_handle();
        let calling = scope.spawn(move || {
            let calls = call_all(client, rate, ticks);
            stop.stop();
            calls
        });
        let spun = run.executor.spin();
        if spun.is_err() {
            run.context.shutdown(); // so that the client doesn't wait in vain
        }
        let calls = calling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        spun?;
        calls
    })
}

fn call_all(client: &Client<Bench>, rate: f64, ticks: u32) -> Result<ChainCalls, Error> {
    let mut calls = ChainCalls::with_room_for(ticks);
    let mut pace = Ticks::start(rate)?;
    for _ in 0..ticks {
        pace.wait();
        let request = calls.next();
        let response = client.call(request, PATIENCE).map_err(sinew::Error::from)?;
        calls.answered(request, *response);
    }
    Ok(calls)
}

/// Runs the client as a future in this thread's executor: one spin for all calls, as each spin
/// starts several threads.
fn call_and_await(run: &Run, client: &Client<Bench>, rate: f64, time: Duration) -> Result<ChainCalls, Error> {
    let ticks = ticks(rate, time);
    let clock = Collected::new(Metronome::default());
    let struck = clock.clone();
    let node = run.context.node("metronome")?;
    let _timer =
        node.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || Metronome::strike(&struck))?;
    let calling = async {
        let mut calls = ChainCalls::with_room_for(ticks);
        for _ in 0..ticks {
            Metronome::next(&clock).await;
            let request = calls.next();
            let response = client.call_async(request).await.map_err(sinew::Error::from)?;
            calls.answered(request, *response);
        }
        Ok(calls)
    };
    run.executor.spin_until(calling)?
}

/// Ticks that a future can wait for; missed ticks are skipped.
#[derive(Default)]
struct Metronome {
    ticked: bool,
    waiting: Option<Waker>,
}

impl Metronome {
    fn strike(this: &Collected<Self>) {
        let waiting = this.with(|this| {
            this.ticked = true;
            this.waiting.take()
        });
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    async fn next(this: &Collected<Self>) {
        poll_fn(|context| {
            this.with(|this| {
                if std::mem::take(&mut this.ticked) {
                    return Poll::Ready(());
                }
                this.waiting = Some(context.waker().clone());
                Poll::Pending
            })
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_reaches_the_last_server_in_order_and_is_answered() {
        for executor in [ExecutorOptions::default(), ExecutorOptions::multi(2)] {
            for awaits in [false, true] {
                let case = ServiceChainCase { executor, relays: 3, rate: 1000.0, awaits };
                let (round, whole) = round(case, Duration::from_millis(50)).unwrap();
                assert_eq!((round.messages, whole.recorded()), (45, 45), "{case:?}");
                assert_eq!((round.lost, round.reordered), (0, 0), "{case:?}");
            }
        }
    }
}
