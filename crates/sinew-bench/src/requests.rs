//! Scenario `requests`: one server in another process, and a client in this one.

use std::time::Duration;

use super::service_chain::{answer, await_all, block_all, figures};
use crate::messages::{Bench, BenchRequest};
use crate::options::{RequestsCase, SidesWait, Wait};
use crate::process::PATIENCE;
use crate::{
    Case, Collected, Error, Figures, Floor, Ground, Measuring, Meter, MultiProcess, Part, Sequence, Usage,
    found, one, waiting,
};

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 18;

/// Measured beside the floor with the same work. P50 is half of a round trip, as of a message one
/// way.
impl Case for RequestsCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![match one(&self.wait) {
            SidesWait::Poll | SidesWait::Spin => Floor::line2(),
            SidesWait::Sleep => Floor::wake(self.rate.first().copied()),
        }])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

impl MultiProcess for RequestsCase {
    const SCENARIO: &'static str = "requests";

    /// Measures the round trips, halved.
    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        let (wait, rate, time) = (one(&part.case.wait), part.case.rate.first().copied(), part.time);
        let mut other = part.start(1)?;
        let run = part.run(waiting(wait.executor().unwrap_or_default()))?;
        let client = run.context.node("client")?.client::<Bench>("hop");
        let client = match wait {
            SidesWait::Poll => client.spin_before_park(PATIENCE).create()?,
            SidesWait::Spin | SidesWait::Sleep => client.create()?,
        };
        other.hear::<()>()?;
        found(&client)?;
        part.pin()?;
        let meter = Meter::start();
        let calls = match wait {
            // The client's thread spins the executor while it waits.
            SidesWait::Spin => run.executor.spin_until(await_all(&client, time, ROOM, async || ()))??,
            SidesWait::Poll | SidesWait::Sleep => block_all(&client, time, ROOM, rate)?,
        };
        let usage = meter.usage();
        let (requests, its_usage): (Sequence, Usage) = other.finish()?;
        Ok(figures(&calls, &requests, 1, usage + its_usage).timed(calls.round_trips(2)))
    }

    /// Serves.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        let Some(wait) = one(&part.case.wait).executor() else { return serve_by_hand(part, measuring) };
        let run = part.run(waiting(wait))?;
        let requests = Collected::new(Sequence::default());
        let seen = requests.clone();
        let node = run.context.node("server")?;
        let _server =
            node.server::<Bench>("hop").callback(move |request: &BenchRequest| answer(&seen, request))?;
        measuring.tell(&())?;
        part.pin()?;
        let usage = run.serve(measuring, || 0)?;
        measuring.tell(&(requests.with(|seen| *seen), usage))
    }
}

/// Takes and answers requests again and again.
fn serve_by_hand(part: &Part<RequestsCase>, measuring: Measuring) -> Result<(), Error> {
    let run = part.run(waiting(Wait::Sleep))?;
    let server = run.context.node("server")?.server::<Bench>("hop").create()?;
    measuring.tell(&())?;
    part.pin()?;
    let requests = Collected::new(Sequence::default());
    let context = run.context.clone();
    measuring.at_the_end(|| 0, move || context.shutdown());
    let meter = Meter::start();
    while !run.context.is_shutdown() {
        match server.take_request() {
            // The client may be gone: its round ends with the last answer.
            Some((request, info)) => drop(server.respond(&info.key(), answer(&requests, &request))),
            None => std::hint::spin_loop(),
        }
    }
    measuring.tell(&(requests.with(|seen| *seen), meter.usage()))
}
