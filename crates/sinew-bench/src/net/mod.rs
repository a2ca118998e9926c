//! Scenario `net`: messages to another host through gateways, beside a bare zenoh session with the
//! same configuration, and the cost of gateways for programs that don't need them. The hosts are
//! directories of this host, and their network is loopback; both ends of a path have the same
//! clock.

mod calls;
mod chain;
mod hosts;
mod idle;
mod messages;
mod others;

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use clap::ValueEnum as _;
pub(crate) use hosts::GatewayProcess;
use hosts::Gateways;

use crate::clock::now_ns;
use crate::error::Error;
use crate::options::{NetCase, NetOptions};
use crate::pacing::{Ticks, ticks, warm_up};
use crate::process::{Directory, PATIENCE};
use crate::progress::Progress;
use crate::report::{Figures, Row, hundredth};
use crate::rounds::{Round, Turns, ratio};
use crate::samples::Samples;

/// Messages or calls per second.
const RATE: f64 = 100.0;

/// Rows of the requested cases.
pub(super) fn measure(options: &NetOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let directory = Directory::create()?;
    let cases = match &options.cases[..] {
        [] => NetCase::value_variants(),
        cases => cases,
    };
    let turns = options.output.turns_or(10);
    let mut rows = Vec::new();
    for case in cases {
        rows.extend(directory.round(|path| measure_case(*case, path, turns, options, progress))?);
    }
    Ok(rows)
}

fn measure_case(
    case: NetCase,
    path: &Path,
    turns: Turns,
    options: &NetOptions,
    progress: &mut Progress,
) -> Result<Vec<Row>, Error> {
    match case {
        NetCase::Latency => messages::latency(path, turns, progress),
        NetCase::Throughput => messages::throughput(path, turns, progress),
        NetCase::Service => calls::measure(path, turns, progress),
        NetCase::Chain => chain::measure(path, turns, progress),
        NetCase::Idle => idle::measure(path, turns, &options.topology, progress),
        NetCase::Others => others::measure(path, turns, progress),
    }
}

/// Wraps an error of zenoh.
fn refused(error: zenoh::Error) -> Error {
    Error::Measured(error)
}

/// Returns a callback that reports the time of a message's arrival.
fn tell(to: &Sender<i64>) -> impl Fn() + Send + Sync + 'static {
    let to = to.clone();
    move || {
        let _ = to.send(now_ns()); // the receiver outlives all senders
    }
}

/// Waits until a message has arrived. Returns the time of its arrival.
fn await_told(came: &Receiver<i64>) -> Result<i64, Error> {
    let silent = |_| Error::PeerSilent { what: "net", waited: PATIENCE };
    came.recv_timeout(PATIENCE).map_err(silent)
}

/// Measures a round of single messages at a steady rate. A sample is the time from before `send`
/// until the message's arrival, which `send` returns.
fn one_by_one(time: Duration, mut send: impl FnMut() -> Result<i64, Error>) -> Result<Round, Error> {
    let ticks = ticks(RATE, time);
    let mut samples = Samples::with_room_for(ticks as usize);
    let mut pace = Ticks::start(RATE)?;
    for tick in 0..ticks {
        pace.wait();
        let begin = now_ns();
        let end = send()?;
        if tick >= warm_up(ticks) {
            samples.record(end - begin);
        }
    }
    Ok(Round::of(samples))
}

/// Returns the rows of bare zenoh and of gateways, each with its ratio to zenoh in the same round.
fn rows(
    case: &'static str,
    parts: u32,
    raw: &[Round],
    ours: &[(Gateways, Vec<Round>)],
    finish: impl Fn(Figures) -> Figures,
) -> Vec<Row> {
    let row = |row: Row| row.with("case", case);
    let mut rows = vec![row(Row::floor("net", "zenoh", finish(Figures::over(raw, parts))))];
    for (gateways, rounds) in ours {
        let floor_ratio = ratio(rounds, parts, raw, parts).map(hundredth);
        let figures = Figures { floor_ratio, ..finish(Figures::over(rounds, parts)) };
        rows.push(row(Row::sinew("net", figures)).with("gateways", gateways.name()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_its_rows_and_loses_nothing() {
        let turns = Turns { time: Duration::from_millis(60), rounds: 2 };
        // Only the cases in one process: a test program can't play the role of a gateway's process.
        for (case, count) in [(NetCase::Service, 2), (NetCase::Chain, 2), (NetCase::Others, 2)] {
            let place = tempfile::tempdir_in("/dev/shm").unwrap();
            let mut progress = Progress::silent();
            let rows = match case {
                NetCase::Service => calls::measure(place.path(), turns, &mut progress),
                NetCase::Chain => chain::measure(place.path(), turns, &mut progress),
                _ => others::measure(place.path(), turns, &mut progress),
            };
            let rows = rows.unwrap();
            assert_eq!(rows.len(), count, "{case:?}");
            for Row { figures, .. } in &rows {
                assert!(figures.messages.is_some_and(|messages| messages > 0));
                assert_eq!((figures.lost, figures.copies.unwrap_or(0)), (Some(0), 0), "{case:?}");
            }
        }
    }
}
