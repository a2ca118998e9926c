//! The demonstration in two processes: camera and filter here, viewer and panel in our own program
//! once more.
//!
//! Frames are made in shared memory by the camera, changed there by the filter, and viewed where
//! they lie. The terminal is the viewer's, and so is the end of the run: this process ends when the
//! viewer does, and the viewer ends when nobody publishes frames any more.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::num::NonZeroI32;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};
use sinew::Context;
use sinew_shm::{Counter, Domain, EndpointKind, Snapshot};

use super::filter::Filter;
use super::making::{FRAMES, Making};
use super::settings::{SetEdgesBetween, Settings, SettingsImage};
use super::viewer::Underway;
use super::{Means, ask, tell, watch};
use crate::cli::DemoOptions;
use crate::error::Error;
use crate::observed::EndpointId;
use crate::terminal::{self, Lent};
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};
use sinew_bench::process::{self, status};
use sinew_bench::run::{Collected, executor};

/// Time between two looks whether the viewer is still there.
const LOOK: Duration = Duration::from_millis(20);

/// How long the viewer may take to notice that there are no more frames, then to do as a signal
/// tells it.
const GRACE: Duration = Duration::from_secs(5);

/// Runs camera and filter until the viewer ends, or a signal tells us to.
pub(super) fn run(options: &DemoOptions) -> Result<(), Error> {
    let lent = Lent::remember();
    let context = Context::new()?;
    let executor = executor(options.executor).build()?;
    executor.add(&context)?;
    let stop = executor.stop_handle();
    terminal::stop_on_signal(move || stop.stop(), None)?;

    let making = Making::create(&context, options.rate)?;
    let settings = making.filters.server::<SetEdgesBetween>("~/set_edges").callback(
        |filter: &mut Filter, settings: &SettingsImage| -> Result<SettingsImage, String> {
            filter.set(Settings::try_from(*settings)?).map(SettingsImage::from)
        },
    )?;
    let viewer = Viewing::start()?;
    let (watched, stop) = (viewer.clone(), executor.stop_handle());
    let end = making.camera.timer(LOOK).callback(move || {
        // One that can't be asked is waited for below.
        if !matches!(watched.status(), Ok(None)) {
            stop.stop();
        }
    })?;
    let outcome = executor.spin();
    // It sees that they are gone, and ends.
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

/// The viewer's process. It is killed if it is still there when the last handle is dropped.
#[derive(Clone)]
struct Viewing(Collected<Running>);

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Viewing {
    /// Starts it with our own options. It is told to end when the calling thread does.
    fn start() -> Result<Self, Error> {
        let mut command = process::ourselves();
        command.args(env::args_os().skip(1).collect::<Vec<OsString>>());
        command.arg("--viewer-of").arg(getpid().as_raw_nonzero().to_string());
        let child = command
            .spawn()
            .map_err(|source| Error::System { call: "starting the viewer's process", source })?;
        Ok(Self(Collected::new(Running(child))))
    }

    /// How it ended, if it has.
    fn status(&self) -> Result<Option<ExitStatus>, Error> {
        Ok(self.0.with(|running| status(&mut running.0))?)
    }

    /// Waits for its end: at first it should come by itself, then it is told to, at last it is
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
            // It fails only when it has ended, and that the next look tells.
            let _ = self.0.with(|running| kill_process(Pid::from_child(&running.0), signal));
        }
        let waited = self.0.with(|running| running.0.wait());
        waited.map_err(|source| Error::System { call: "waitpid", source })
    }
}

/// In the other process: the viewer, until it is enough or camera and filter are gone.
pub(super) fn view(options: &DemoOptions, parent: NonZeroI32) -> Result<(), Error> {
    // Not killed: it gives the terminal back.
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
            ask(&set_edges, SettingsImage::from(settings)).and_then(|accepted| Settings::try_from(*accepted))
        };
        let underway = underway(&context)?;
        watch(options, means, (&context, &executor), Box::new(underway), change)
    })
}

/// Tells how many frames were copied in all processes of the domain, and lost before the filter:
/// all their ends count for themselves. An end that has gone keeps the counts it had when it was
/// last looked at: at Ctrl-C camera and filter may go before the viewer.
fn underway(context: &Context) -> Result<impl Fn() -> Underway + Send + use<>, Error> {
    let domain = Domain::open(None, context.domain())?;
    let census = Snapshot::take(&domain)?;
    let looked = Collected::new((census, HashMap::<EndpointId, Underway>::new()));
    Ok(move || {
        looked.with(|(census, ends)| {
            // If the directory can't be read any more, those who were known count.
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
