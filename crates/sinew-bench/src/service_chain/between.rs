//! One server in another process, and a client in this one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{answer, await_all, block_all, figures};
use crate::error::Error;
use crate::floors::{line2, wake};
use crate::machine;
use crate::messages::{Bench, BenchRequest};
use crate::options::{Named as _, ServiceChainOptions, Wait};
use crate::process::{self, Directory, Measuring, Process, Work};
use crate::report::{Figures, Settings};
use crate::rounds::{Meter, Usage};
use crate::run::{Collected, Run, waiting};
use crate::sequence::Sequence;
use crate::sheet::{Sheet, Side};

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

/// Measures calls back to back with both sides awake and with both asleep, and paced ones with both
/// asleep; beside the floors with the same work.
pub(super) fn measure(options: &ServiceChainOptions, sheet: &mut Sheet) -> Result<(), Error> {
    let directory = Directory::create()?;
    let cores = sheet.two_cores("the floor line2 or wake")?;
    let back_to_back = [Wait::Spin, Wait::Sleep].map(|wait| BetweenCase { wait, rate: None, cores });
    let paced = options.rates.iter().map(|&rate| BetweenCase { wait: Wait::Sleep, rate: Some(rate), cores });
    let wanted = |case: &BetweenCase| options.wait.is_none_or(|wait| wait == case.wait);
    for case in back_to_back.into_iter().chain(paced).filter(wanted) {
        let settings = Settings::new().with("other_process", true).with("wait", case.wait.name());
        let settings = settings.paced(case.rate);
        let ours = |time| directory.round(|path| round(path, case, time));
        let ours = Side::sinew(settings.clone(), ours).compared_by(|figures| figures.roundtrip_p50_ns);
        let floor = cores.map(|cores| match case.wait {
            Wait::Spin => Side::floor("line2", settings, move |time| line2::round(cores, time)),
            Wait::Sleep => Side::floor("wake", settings, move |time| wake::round(cores, case.rate, time)),
        });
        let what = format!("service of another process, both {}", case.wait.name());
        sheet.measure(&what, floor.into_iter().chain([ours]).collect())?;
    }
    Ok(())
}

/// Measures one round: from the call to the server's start, and the round trip.
fn round(directory: &Path, case: BetweenCase, time: Duration) -> Result<Figures, Error> {
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
    let meter = Meter::start();
    let calls = match case.wait {
        // The client's thread spins the executor while it waits.
        Wait::Spin => run.executor.spin_until(await_all(&client, time, ROOM, async || ()))??,
        Wait::Sleep => block_all(&client, time, ROOM, case.rate)?,
    };
    let usage = meter.usage();
    let (requests, its_usage): (Sequence, Usage) = other.finish()?;
    Ok(figures(&calls, &requests, 1, usage + its_usage))
}

impl Work for Serving {
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
