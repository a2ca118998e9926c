//! Scenario `service-chain`: a client calls the first of a chain of servers; each calls the next,
//! and answers after its own call was answered.

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use sinew::error::CallError;
use sinew::{Client, Context, Server};

use super::calls::Calls;
use super::messages::{Bench, BenchRequest, BenchResponse};
use crate::options::ServiceChainCase;
use crate::{
    Case, Collected, Error, Figures, Floor, Ground, Meter, Run, Sequence, Ticks, Usage, executor, now_ns,
    one, ticks,
};

/// Time after which a call, and with it the run, has failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Measured beside the same number of nested direct calls.
impl Case for ServiceChainCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::direct(self.relays, one(&self.rate))])
    }

    fn round(&self, _: &Ground, time: Duration) -> Result<Figures, Error> {
        round(self, time)
    }
}

/// Records a request at the last server, and answers it.
pub(crate) fn answer(requests: &Collected<Sequence>, request: &BenchRequest) -> BenchResponse {
    let started = now_ns();
    let number = request.number;
    requests.with(|requests| requests.note(number));
    BenchResponse { started, number }
}

/// Returns the figures of a client's calls, with the requests that the last server got.
pub(crate) fn figures(calls: &Calls, requests: &Sequence, hops: u32, usage: Usage) -> Figures {
    let figures = calls.figures(hops, usage);
    let wrong = figures.reordered.unwrap_or(0);
    figures.faulty(requests.lost(calls.made()), requests.reordered + wrong)
}

/// Measures one round: from the client's call to the last server's start, and to the answer.
fn round(case: &ServiceChainCase, time: Duration) -> Result<Figures, Error> {
    // The client's thread may run the first server: that is part of the measurement.
    let context = Context::builder().shared_memory(false).build()?;
    let run = Run::of(context, executor(case.executor).caller_runs(true))?;
    let requests = Collected::new(Sequence::default());
    let _relays = (0..case.relays).map(|hop| relay(&run, hop, case.awaits)).collect::<Result<Vec<_>, _>>()?;
    let _last = last(&run, case, &requests)?;
    let client = run.context.node("client")?.client::<Bench>("hop_0").create()?;
    let meter = Meter::start();
    let rate = one(&case.rate);
    let calls = if case.awaits {
        call_and_await(&run, &client, rate, time)?
    } else {
        call_and_block(&run, &client, rate, time)?
    };
    let usage = meter.usage();
    Ok(requests.with(|requests| figures(&calls, requests, case.relays + 1, usage)))
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
fn last(run: &Run, case: &ServiceChainCase, requests: &Collected<Sequence>) -> sinew::Result<Server<Bench>> {
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
fn call_and_block(run: &Run, client: &Client<Bench>, rate: f64, time: Duration) -> Result<Calls, Error> {
    thread::scope(|scope| {
        let stop = run.executor.stop_handle();
        let calling = scope.spawn(move || {
            let calls = block_all(client, time, ticks(rate, time) as usize, Some(rate));
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

/// Makes all calls; the thread sleeps while it waits.
pub(crate) fn block_all(
    client: &Client<Bench>,
    time: Duration,
    room: usize,
    rate: Option<f64>,
) -> Result<Calls, Error> {
    let mut pace = rate.map(Ticks::start).transpose()?;
    let mut calls = Calls::start(time, room);
    loop {
        pace.as_mut().map(Ticks::wait);
        let asked = calls.ask();
        let request = BenchRequest { stamp: asked.stamp, number: asked.number };
        let response = client.call(request, PATIENCE).map_err(sinew::Error::from)?;
        if !calls.answered(asked, response.number, response.started) {
            return Ok(calls);
        }
    }
}

/// Runs the client as a future in this thread's executor: one spin for all calls, as each spin
/// starts several threads.
fn call_and_await(run: &Run, client: &Client<Bench>, rate: f64, time: Duration) -> Result<Calls, Error> {
    let clock = Collected::new(Metronome::default());
    let struck = clock.clone();
    let node = run.context.node("metronome")?;
    let _timer =
        node.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || Metronome::strike(&struck))?;
    let room = ticks(rate, time) as usize;
    run.executor.spin_until(await_all(client, time, room, async || Metronome::next(&clock).await))?
}

/// Makes all calls as a future, which awaits `pace` before each.
pub(crate) async fn await_all(
    client: &Client<Bench>,
    time: Duration,
    room: usize,
    mut pace: impl AsyncFnMut(),
) -> Result<Calls, Error> {
    let mut calls = Calls::start(time, room);
    loop {
        pace().await;
        let asked = calls.ask();
        let request = BenchRequest { stamp: asked.stamp, number: asked.number };
        let response = client.call_async(request).await.map_err(sinew::Error::from)?;
        if !calls.answered(asked, response.number, response.started) {
            return Ok(calls);
        }
    }
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
