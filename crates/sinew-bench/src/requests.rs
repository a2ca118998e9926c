//! Scenario `requests`: one server in another process, and a client in this one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::service_chain::{answer, await_all, block_all, figures};
use crate::case::{Case, Ground, one};
use crate::error::Error;
use crate::floors::Floor;
use crate::machine;
use crate::messages::{Bench, BenchRequest};
use crate::options::{RequestsCase, Wait};
use crate::process::{self, Measuring, Process, Work};
use crate::report::Figures;
use crate::rounds::{Meter, Usage};
use crate::run::{Collected, Run, waiting};
use crate::sequence::Sequence;

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 18;

/// Measured beside the floor with the same work. P50 is half of a round trip, as of a message one way.
impl Case for RequestsCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![match one(&self.wait) {
            Wait::Spin => Floor::line2(),
            Wait::Sleep => Floor::wake(self.rate.first().copied()),
        }])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        let cores = machine::two_cores()?;
        ground.round(|path| round(path, self, cores, time))
    }
}

/// The work of the other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Serving {
    directory: PathBuf,
    wait: Wait,
    core: Option<usize>,
}

/// Measures one round: the round trips, halved.
fn round(
    directory: &Path,
    case: &RequestsCase,
    cores: Option<(usize, usize)>,
    time: Duration,
) -> Result<Figures, Error> {
    let (core, wait) = (cores.map(|cores| cores.1), one(&case.wait));
    let role = Serving { directory: directory.to_owned(), wait, core };
    let mut other = Process::start(&role)?;
    let run = Run::shared(directory, waiting(wait))?;
    let client = run.context.node("client")?.client::<Bench>("hop").create()?;
    other.hear::<()>()?;
    if !client.wait_for_server(process::PATIENCE) {
        let (name, waited) = (client.name().to_owned(), process::PATIENCE);
        return Err(Error::Unmatched { name, found: 0, wanted: 1, waited });
    }
    if let Some(cores) = cores {
        machine::pin_to(cores.0)?;
    }
    let meter = Meter::start();
    let calls = match wait {
        // The client's thread spins the executor while it waits.
        Wait::Spin => run.executor.spin_until(await_all(&client, time, ROOM, async || ()))??,
        Wait::Sleep => block_all(&client, time, ROOM, case.rate.first().copied())?,
    };
    let usage = meter.usage();
    let (requests, its_usage): (Sequence, Usage) = other.finish()?;
    Ok(figures(&calls, &requests, 1, usage + its_usage).timed(calls.round_trips(2)))
}

impl Work for Serving {
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
