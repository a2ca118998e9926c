//! Hosts, and the network between them.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use sinew::executor::StopHandle;
use sinew::{Context, Executor};
use sinew_zenoh::config::SessionOptions;
use sinew_zenoh::gateway::GatewayStatistics;
use sinew_zenoh::{Gateway, Router};
use zenoh::{Session, Wait};

use crate::{Error, Measuring, Meter, Process, Settings, Usage, Work, shared_context};

/// The place of the gateways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gateways {
    /// In the programs.
    Embedded,
    /// In a process of its own on each host, as with `sinew gateway`.
    Apart,
}

impl Gateways {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Apart => "apart",
        }
    }

    /// Adds the place to the settings of a row.
    pub(super) fn with(self, settings: Settings) -> Settings {
        settings.with("gateways", self.name())
    }
}

/// Ignores the environment: a run is the same everywhere.
fn no_environment(_: &str) -> Option<String> {
    None
}

fn options(endpoint: &str) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.connect.push(endpoint.to_owned());
    options.listen.push("tcp/127.0.0.1:0".to_owned());
    options
}

/// A router on loopback, through which all sessions find each other.
pub(super) struct Network {
    _router: Router,
    endpoint: String,
}

impl Network {
    pub(super) fn new() -> Result<Self, Error> {
        let mut options = SessionOptions::default();
        options.listen.push("tcp/127.0.0.1:0".to_owned());
        let router = Router::start(&no_environment, &options).map_err(Error::measured)?;
        let endpoint = router.endpoints().into_iter().next().unwrap_or_default();
        Ok(Self { _router: router, endpoint })
    }

    /// Opens a bare session, configured like those of gateways.
    pub(super) fn session(&self) -> Result<Session, Error> {
        let config = sinew_zenoh::config::session(&no_environment, &options(&self.endpoint));
        zenoh::open(config.map_err(Error::measured)?).wait().map_err(refused)
    }
}

/// A host: a directory in which its programs meet, and its gateway.
pub(super) struct Host {
    /// The context of its programs: they are this process.
    pub(super) context: Context,
    /// The embedded gateway.
    gateway: Option<Gateway>,
    /// The gateway in its own process.
    _process: Option<Process>,
}

impl Host {
    /// `path`: the place of its directory.
    pub(super) fn new(network: &Network, path: &Path, gateways: Gateways) -> Result<Self, Error> {
        let create = |source| Error::File { action: "create the directory", path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(create)?;
        let context = shared_context(path)?;
        let (gateway, process) = match gateways {
            Gateways::Embedded => (Some(start(&context, &network.endpoint)?), None),
            Gateways::Apart => (None, Some(GatewayProcess::start(network, path)?)),
        };
        Ok(Self { context, gateway, _process: process })
    }

    /// Makes two hosts.
    pub(super) fn pair(network: &Network, path: &Path, gateways: Gateways) -> Result<[Self; 2], Error> {
        let host = |name| Self::new(network, &path.join(gateways.name()).join(name), gateways);
        Ok([host("one")?, host("other")?])
    }

    /// Returns the number of messages that its embedded gateway has handled for the network.
    pub(super) fn touched(&self) -> u64 {
        self.gateway.as_ref().map_or(0, |gateway| touched(&gateway.statistics()))
    }
}

/// Returns the number of messages that a gateway has handled for the network.
fn touched(statistics: &GatewayStatistics) -> u64 {
    statistics.topics.iter().map(|(_, _, counts)| counts.sent + counts.unsent + counts.limited).sum()
}

fn start(context: &Context, endpoint: &str) -> Result<Gateway, Error> {
    let builder = Gateway::builder().options(options(endpoint));
    builder.start_with(context, &no_environment).map_err(Error::measured)
}

/// A gateway in a process of its own.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct GatewayProcess {
    directory: PathBuf,
    endpoint: String,
}

/// Its resources, from the order to begin to its end.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct GatewaySeen {
    pub(super) usage: Usage,
    /// Number of messages that it handled for the network.
    pub(super) touched: u64,
    /// Number of nodes and endpoints of its host that it knows.
    pub(super) known: usize,
}

impl GatewayProcess {
    /// Starts it, and waits until it is working.
    pub(super) fn start(network: &Network, directory: &Path) -> Result<Process, Error> {
        let work = Self { directory: directory.to_owned(), endpoint: network.endpoint.clone() };
        let mut process = Process::start(&work)?;
        process.hear::<()>()?;
        Ok(process)
    }
}

impl Work for GatewayProcess {
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let context = shared_context(&self.directory)?;
        let gateway = start(&context, &self.endpoint)?;
        measuring.tell(&())?;
        if measuring.order::<()>()?.is_none() {
            return Ok(());
        }
        let meter = Meter::start();
        // Until there are no more orders.
        while measuring.order::<()>()?.is_some() {}
        let usage = meter.usage();
        let statistics = gateway.statistics();
        let (touched, known) = (touched(&statistics), statistics.local);
        measuring.tell(&GatewaySeen { usage, touched, known })
    }
}

/// Runs a context's callbacks on a thread of its own until this is dropped.
pub(super) struct Spinning {
    stop: StopHandle,
    thread: Option<JoinHandle<()>>,
}

impl Spinning {
    pub(super) fn start(context: &Context) -> Result<Self, Error> {
        let executor = Executor::single();
        executor.add(context)?;
        let stop = executor.stop_handle();
        // A failing callback keeps a message from arriving, which is noticed.
        let thread = std::thread::spawn(move || drop(executor.spin()));
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}

/// Wraps an error of zenoh.
pub(super) fn refused(error: zenoh::Error) -> Error {
    Error::Measured(error)
}
