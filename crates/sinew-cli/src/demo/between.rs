//! The demonstration in two processes: camera and filter here, viewer and panel in a second process
//! of this program.
//!
//! The camera creates frames in shared memory, the filter changes them there, and the viewer reads
//! them in place. The viewer owns the terminal, and decides when the run ends: this process ends
//! when the viewer does, and the viewer ends when no frames come any more.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::num::NonZeroI32;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};
use sinew::Context;
use sinew_shm::inspect::Snapshot;
use sinew_shm::{Counter, Domain, EndpointKind};

use super::filter::Filter;
use super::making::{FRAMES, Making};
use super::settings::{AcceptedSettings, EncodedSettings, SetEdgesBetween, Settings, WantedSettings};
use super::viewer::Underway;
use super::watch::{Means, ask, tell, watch};
use crate::cli::DemoOptions;
use crate::error::Error;
use crate::observed::EndpointId;
use crate::terminal::{self, Lent};
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};
use sinew_bench::process::{self, status};
use sinew_bench::run::{Collected, executor};

/// Time between two checks for whether the viewer is still running.
const LOOK: Duration = Duration::from_millis(20);

/// Time that the viewer gets to notice that there are no more frames, and then to react to a
/// signal.
const GRACE: Duration = Duration::from_secs(5);

/// Runs camera and filter until the viewer ends, or a signal comes.
pub(super) fn run(options: &DemoOptions) -> Result<(), Error> {
    let lent = Lent::remember();
    let context = Context::new()?;
    let executor = executor(options.executor).build()?;
    executor.add(&context)?;
    let stop = executor.stop_handle();
    terminal::stop_on_signal(move || stop.stop(), None)?;

    let making = Making::create(&context, options.rate)?;
    let settings = making.filters.server::<SetEdgesBetween>("~/set_edges").callback(
        |filter: &mut Filter, wanted: &WantedSettings| -> Result<AcceptedSettings, String> {
            let accepted = filter.set(Settings::try_from(wanted.settings)?)?;
            Ok(AcceptedSettings { settings: accepted.into() })
        },
    )?;
    let viewer = Viewing::start()?;
    let (watched, stop) = (viewer.clone(), executor.stop_handle());
    let end = making.camera.timer(LOOK).callback(move || {
        // If its status can't be read, the wait below handles it.
        if !matches!(watched.status(), Ok(None)) {
            stop.stop();
        }
    })?;
    let outcome = executor.spin();
    // The viewer notices that they are gone, and ends.
    drop((settings, end, making));
    context.shutdown();
    drop((executor, context));
    let ended = viewer.end()?;
    if let Some(lent) = lent.filter(|_| ended.signal().is_some()) {
        lent.take_back();
    }
    outcome?;
    if ended.success() { Ok(()) } else { Err(Error::ViewerEnded { status: ended.to_string() }) }
}

/// The viewer's process. It is killed if it is still running when the last handle is dropped.
#[derive(Clone)]
struct Viewing(Collected<Running>);

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Viewing {
    /// Starts it with this program's options. The kernel sends it a signal when the calling thread
    /// ends.
    fn start() -> Result<Self, Error> {
        let mut command = process::ourselves();
        command.args(env::args_os().skip(1).collect::<Vec<OsString>>());
        command.arg("--viewer-of").arg(getpid().as_raw_nonzero().to_string());
        let child = command
            .spawn()
            .map_err(|source| Error::System { call: "starting the viewer's process", source })?;
        Ok(Self(Collected::new(Running(child))))
    }

    /// Returns its exit status, if it has ended.
    fn status(&self) -> Result<Option<ExitStatus>, Error> {
        Ok(self.0.with(|running| status(&mut running.0))?)
    }

    /// Waits for its end: first it should end by itself, then it gets a signal, finally it is
    /// killed.
    fn end(&self) -> Result<ExitStatus, Error> {
        for signal in [Signal::TERM, Signal::KILL] {
            let until = now_ns() + nanoseconds(GRACE);
            while now_ns() < until {
                if let Some(status) = self.status()? {
                    return Ok(status);
                }
                sleep_until(now_ns() + nanoseconds(LOOK));
            }
            // Fails only if it has ended, which the next look shows.
            let _ = self.0.with(|running| kill_process(Pid::from_child(&running.0), signal));
        }
        let waited = self.0.with(|running| running.0.wait());
        waited.map_err(|source| Error::System { call: "waitpid", source })
    }
}

/// Runs in the other process: the viewer, until it ends or camera and filter are gone.
pub(super) fn view(options: &DemoOptions, parent: NonZeroI32) -> Result<(), Error> {
    // SIGTERM rather than SIGKILL: the viewer gives the terminal back.
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(Error::system("prctl(PR_SET_PDEATHSIG)"))?;
    if getppid().map(Pid::as_raw_nonzero) != Some(parent) {
        return Err(Error::NotOurViewer);
    }
    tell(options, |means: Means| {
        let context = Context::new()?;
        let executor = executor(options.executor).build()?;
        executor.add(&context)?;
        let set_edges = context.node("panel")?.client::<SetEdgesBetween>("/filter/set_edges").create()?;
        let change = move |settings: Settings| {
            ask(&set_edges, WantedSettings { settings: EncodedSettings::from(settings) })
                .and_then(|accepted| Settings::try_from(accepted.settings))
        };
        let underway = underway(&context)?;
        watch(options, means, (&context, &executor), Box::new(underway), change)
    })
}

/// Counts how many frames were copied in all processes of the domain, and lost before the filter,
/// from the counters of all endpoints. An endpoint that has gone keeps its last known counts: at
/// Ctrl-C camera and filter may go before the viewer.
fn underway(context: &Context) -> Result<impl Fn() -> Underway + Send + use<>, Error> {
    let domain = Domain::open(None, context.domain())?;
    let census = Snapshot::take(&domain)?;
    let looked = Collected::new((census, HashMap::<EndpointId, Underway>::new()));
    Ok(move || {
        looked.with(|(census, ends)| {
            // If the directory can't be read any more, the known participants count.
            let _ = census.refresh();
            for peer in census.peers() {
                for (key, entity) in peer.endpoints() {
                    let Some(counts) = peer.counts(key) else { continue };
                    let filters = entity.kind == EndpointKind::Subscription
                        && entity.name.trim_start_matches('/') == FRAMES;
                    let became = Underway {
                        copies: counts.get(Counter::Copies),
                        encodings: counts.get(Counter::Encodings),
                        decodings: counts.get(Counter::Decodings),
                        lost: if filters { counts.get(Counter::Overwritten) } else { 0 },
                    };
                    ends.insert((peer.id(), key), became);
                }
            }
            ends.values().fold(Underway::default(), |sum, end| Underway {
                copies: sum.copies + end.copies,
                encodings: sum.encodings + end.encodings,
                decodings: sum.decodings + end.decodings,
                lost: sum.lost + end.lost,
            })
        })
    })
}
