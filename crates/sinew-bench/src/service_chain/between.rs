//! One server in another process, and a client in this one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::Client;

use super::{PATIENCE, answer};
use crate::clock::now_ns;
use crate::error::Error;
use crate::floors::{line2, wake};
use crate::machine;
use crate::messages::{Bench, BenchRequest, BenchResponse};
use crate::options::{ServiceChainOptions, Wait};
use crate::pacing::Ticks;
use crate::pacing::Window;
use crate::process::{self, Directory, Measuring, Process, Work};
use crate::progress::Progress;
use crate::report::{Figures, Row, hundredth, tenth};
use crate::rounds::{Meter, Round, Turns, Usage, alternate};
use crate::run::{Collected, Run, waiting};
use crate::samples::{Samples, Summary, median};
use crate::sequence::Sequence;

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 18;

/// The measured case.
#[derive(Clone, Copy, Debug)]
struct BetweenCase {
    wait: Wait,
    /// Calls per second; back to back if missing.
    rate: Option<f64>,
    cores: Option<(usize, usize)>,
}

/// The work of the other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Serving {
    directory: PathBuf,
    wait: Wait,
    core: Option<usize>,
}

/// Rows of calls back to back with both sides awake and with both asleep, and of paced ones with
/// both asleep; beside the floors with the same work.
pub(super) fn measure(options: &ServiceChainOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let directory = Directory::create()?;
    let turns = options.output.turns_or(10);
    let cores = machine::two_cores()?;
    if cores.is_none() {
        progress.note("the floors line2 and wake need two cores and this process may use one");
    }
    let back_to_back = [Wait::Spin, Wait::Sleep].map(|wait| BetweenCase { wait, rate: None, cores });
    let paced = options.rates.iter().map(|&rate| BetweenCase { wait: Wait::Sleep, rate: Some(rate), cores });
    let mut rows = Vec::new();
    let wanted = |case: &BetweenCase| options.wait.is_none_or(|wait| wait == case.wait);
    for case in back_to_back.into_iter().chain(paced).filter(wanted) {
        rows.extend(rows_of(case, &directory, turns, progress)?);
    }
    Ok(rows)
}

fn rows_of(
    case: BetweenCase,
    directory: &Directory,
    turns: Turns,
    progress: &mut Progress,
) -> Result<Vec<Row>, Error> {
    let what = format!("service of another process, both {}", case.wait.name());
    let row = |row: Row| {
        let row = row.with("other_process", true).with("wait", case.wait.name());
        match case.rate {
            Some(rate) => row.with("rate", rate),
            None => row.with("pace", "back to back"),
        }
    };
    let mut round_trips = Vec::new();
    let mut ours = |time| {
        let (to_server, whole) = directory.round(|path| round(path, case, time))?;
        round_trips.push(whole.summary(2));
        Ok(to_server)
    };
    let mut rows = Vec::new();
    let (ours, floor_p50s) = match case.cores {
        None => {
            let [ours] = alternate(progress, &what, turns, [&mut ours])?;
            (ours, Vec::new())
        }
        Some(cores) => {
            let mut floor = |time| match case.wait {
                Wait::Spin => line2::round(cores, time),
                Wait::Sleep => wake::round(cores, case.rate, time),
            };
            let [floor, ours] = alternate(progress, &what, turns, [&mut floor as _, &mut ours as _])?;
            let name = match case.wait {
                Wait::Spin => "line2",
                Wait::Sleep => "wake",
            };
            rows.push(row(Row::floor("service-chain", name, Figures::over(&floor, 2))));
            let p50s = floor.iter().map(|round| Some(round.samples.summary(2)?.p50)).collect();
            (ours, p50s)
        }
    };
    let ratios =
        round_trips.iter().zip(&floor_p50s).filter_map(|(ours, floor)| Some(ours.as_ref()?.p50 / (*floor)?));
    let middle = |figure: fn(&Summary) -> f64| median(round_trips.iter().flatten().map(figure)).map(tenth);
    let figures = Figures {
        floor_ratio: median(ratios).map(hundredth),
        roundtrip_p50_ns: middle(|summary| summary.p50),
        roundtrip_p90_ns: middle(|summary| summary.p90),
        ..Figures::over(&ours, 1)
    };
    rows.push(row(Row::sinew("service-chain", figures)));
    Ok(rows)
}

/// Measures one round. Its samples are the times from the call to the server's start. Also returns
/// those from the call to its answer.
fn round(directory: &Path, case: BetweenCase, time: Duration) -> Result<(Round, Samples), Error> {
    let core = case.cores.map(|cores| cores.1);
    let role = Serving { directory: directory.to_owned(), wait: case.wait, core };
    let mut other = Process::start(&role)?;
    let run = Run::shared(directory, waiting(case.wait))?;
    let client = run.context.node("client")?.client::<Bench>("hop").create()?;
    other.hear::<()>()?;
    if !client.wait_for_server(process::PATIENCE) {
        let (name, waited) = (client.name().to_owned(), process::PATIENCE);
        return Err(Error::Unmatched { name, found: 0, wanted: 1, waited });
    }
    if let Some(cores) = case.cores {
        machine::pin_to(cores.0)?;
    }
    let mut calls = CallsBetween::start(time);
    let meter = Meter::start();
    match case.wait {
        Wait::Spin => calls.await_all(&run, &client)?,
        Wait::Sleep => calls.block_all(&client, case.rate)?,
    }
    let usage = meter.usage();
    let (requests, its_usage): (Sequence, Usage) = other.finish()?;
    let CallsBetween { made, wrong, to_server, whole, .. } = calls;
    let round = Round {
        lost: requests.lost(made),
        reordered: requests.reordered + wrong,
        usage: Some(usage + its_usage),
        ..Round::of(to_server)
    };
    Ok((round, whole))
}

/// The client's observations.
struct CallsBetween {
    window: Window,
    made: u64,
    /// Answers to a call other than the pending one.
    wrong: u64,
    to_server: Samples,
    whole: Samples,
}

impl CallsBetween {
    fn start(time: Duration) -> Self {
        let (to_server, whole) = (Samples::with_room_for(ROOM), Samples::with_room_for(ROOM));
        Self { window: Window::of(time), made: 0, wrong: 0, to_server, whole }
    }

    fn next(&mut self) -> BenchRequest {
        self.made += 1;
        BenchRequest { stamp: now_ns(), number: self.made }
    }

    /// Records an answer; returns `true` if there is time for another call.
    fn answered(&mut self, request: BenchRequest, response: BenchResponse) -> bool {
        let now = now_ns();
        self.wrong += u64::from(response.number != request.number);
        self.window.record(request.stamp, response.started - request.stamp, &mut self.to_server);
        self.window.record(request.stamp, now - request.stamp, &mut self.whole);
        !self.window.is_over(now, &self.whole)
    }

    /// Makes all calls; the client's thread spins the executor while it waits.
    fn await_all(&mut self, run: &Run, client: &Client<Bench>) -> Result<(), Error> {
        run.executor.spin_until(async {
            loop {
                let request = self.next();
                let response = client.call_async(request).await.map_err(sinew::Error::from)?;
                if !self.answered(request, *response) {
                    return Ok(());
                }
            }
        })?
    }

    /// Makes all calls; the client's thread sleeps while it waits.
    fn block_all(&mut self, client: &Client<Bench>, rate: Option<f64>) -> Result<(), Error> {
        let mut pace = rate.map(Ticks::start).transpose()?;
        loop {
            if let Some(pace) = &mut pace {
                pace.wait();
            }
            let request = self.next();
            let response = client.call(request, PATIENCE).map_err(sinew::Error::from)?;
            if !self.answered(request, *response) {
                return Ok(());
            }
        }
    }
}

impl Work for Serving {
    const ROLE: &'static str = "Server";

    fn scenario(&self) -> &'static str {
        "service-chain"
    }

    /// In the other process: serves until the measuring process ends the round.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let run = Run::shared(&self.directory, waiting(self.wait))?;
        let requests = Collected::new(Sequence::default());
        let seen = requests.clone();
        let node = run.context.node("server")?;
        let _server =
            node.server::<Bench>("hop").callback(move |request: &BenchRequest| answer(&seen, request))?;
        measuring.tell(&())?;
        if let Some(core) = self.core {
            machine::pin_to(core)?;
        }
        let usage = run.serve(measuring, || 0)?;
        measuring.tell(&(requests.with(|seen| *seen), usage))
    }
}
