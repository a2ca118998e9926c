//! Peer `thrift`: Apache Thrift, a threaded server for each hop.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use harness::chain::Timing;
use harness::pingpong;
use harness::requests::{self, Called, Calls};
use harness::{Case, Figures, Measuring, Other, Peer, Program, Result, System, Wait, Work};
use hop::{HopSyncClient, HopSyncHandler, HopSyncProcessor, Stamped, THopSyncClient};
use thrift::protocol::{
    TBinaryInputProtocolFactory, TBinaryOutputProtocolFactory, TCompactInputProtocolFactory,
    TCompactOutputProtocolFactory, TInputProtocol, TInputProtocolFactory, TOutputProtocol,
    TOutputProtocolFactory,
};
use thrift::server::TServer;
use thrift::transport::{
    TBufferedReadTransportFactory, TBufferedWriteTransportFactory, TFramedReadTransportFactory,
    TFramedWriteTransportFactory, TIoChannel, TReadTransportFactory, TWriteTransportFactory,
};

#[allow(clippy::all, clippy::allow_attributes_without_reason, reason = "it is generated")]
mod hop;

fn main() -> ExitCode {
    harness::main::<Thrift>()
}

struct Thrift;

impl Program for Thrift {
    fn systems() -> Peer {
        let system = |wire: Wire, how: &str, link: &str| {
            let chain = "each server is a thread of its own, and each call goes through a socket, \
                         also within the process; ours runs in the thread of the caller";
            let requests = "each connection has a thread that blocks in its read";
            System::new(wire.name(), how, link)
                .scenario("service-chain", Some(chain))
                .scenario("requests", Some(requests))
        };
        Peer {
            peer: "thrift".to_owned(),
            version: "0.25".to_owned(),
            systems: vec![
                system(
                    Wire::Framed,
                    "the tutorial's TServer, framed transport and compact protocol, over a Unix \
                     socket, as all is on one host; a thread per connection",
                    "https://github.com/apache/thrift/tree/master/tutorial/rs",
                ),
                system(
                    Wire::Buffered,
                    "the same with what TServer's page shows: buffered transport and binary protocol",
                    "https://docs.rs/thrift/latest/thrift/server/struct.TServer.html",
                ),
            ],
        }
    }

    fn run(case: &Case) -> Result<Figures> {
        let wire = Wire::of(case)?;
        match case.work {
            Work::ServiceChain { relays, rate } => {
                harness::with_directory(|path| chain(path, wire, relays, rate, case))
            }
            Work::Requests { wait: Wait::Sleep, .. } => harness::with_directory(|path| ask(path, wire, case)),
            _ => harness::no_part(case),
        }
    }

    fn serve(other: &Other, measuring: Measuring) -> Result<()> {
        listen(PathBuf::from(&other.note), Wire::of(&other.case)?, Server::Last(Arc::default()));
        pingpong::answer_until_the_end(measuring)
    }
}

/// The transport's framing, and the protocol.
#[derive(Clone, Copy)]
enum Wire {
    /// Framed, compact protocol.
    Framed,
    /// Buffered, binary protocol.
    Buffered,
}

impl Wire {
    fn name(self) -> &'static str {
        match self {
            Self::Framed => "thrift, framed",
            Self::Buffered => "thrift, buffered",
        }
    }

    fn of(case: &Case) -> Result<Self> {
        let found = [Self::Framed, Self::Buffered].into_iter().find(|wire| wire.name() == case.system);
        found.ok_or_else(|| anyhow::anyhow!("thrift isn't measured as {:?}", case.system))
    }

    fn input(self) -> (Box<dyn TReadTransportFactory>, Box<dyn TInputProtocolFactory>) {
        match self {
            Self::Framed => {
                (Box::new(TFramedReadTransportFactory::new()), Box::new(TCompactInputProtocolFactory::new()))
            }
            Self::Buffered => {
                (Box::new(TBufferedReadTransportFactory::new()), Box::new(TBinaryInputProtocolFactory::new()))
            }
        }
    }

    fn output(self) -> (Box<dyn TWriteTransportFactory>, Box<dyn TOutputProtocolFactory>) {
        match self {
            Self::Framed => (
                Box::new(TFramedWriteTransportFactory::new()),
                Box::new(TCompactOutputProtocolFactory::new()),
            ),
            Self::Buffered => (
                Box::new(TBufferedWriteTransportFactory::new()),
                Box::new(TBinaryOutputProtocolFactory::new()),
            ),
        }
    }
}

/// A server of a chain.
enum Server {
    /// Calls the next one before it answers.
    Relay(Mutex<Client>),
    /// Calls no other.
    Last(Arc<Called>),
}

impl HopSyncHandler for Server {
    fn handle_call(&self, stamped: Stamped) -> thrift::Result<Stamped> {
        match self {
            Self::Relay(next) => next.lock().unwrap_or_else(PoisonError::into_inner).call(stamped),
            Self::Last(called) => {
                called.note();
                Ok(stamped)
            }
        }
    }
}

/// Starts a server on a socket of its own. It ends with the process: thrift has no way to stop it.
fn listen(socket: PathBuf, wire: Wire, server: Server) {
    /// Each server has one client.
    const WORKERS: usize = 1;
    thread::spawn(move || {
        let ((reading, input), (writing, output)) = (wire.input(), wire.output());
        let processor = HopSyncProcessor::new(server);
        let mut server = TServer::new(reading, input, writing, output, processor, WORKERS);
        if let Err(error) = server.listen_uds(&socket) {
            eprintln!("the server on {} ended: {error}", socket.display());
        }
    });
}

type Client = HopSyncClient<Box<dyn TInputProtocol + Send>, Box<dyn TOutputProtocol + Send>>;

/// Connects to a server as soon as it listens; there is no notification for that.
fn connect(socket: &Path, wire: Wire) -> Result<Client> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let until = Instant::now() + PATIENCE;
    let stream = loop {
        match UnixStream::connect(socket) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() > until => {
                return Err(error).context(format!("no server listens on {}", socket.display()));
            }
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    };
    let (from, to) = stream.split()?;
    let ((reading, input), (writing, output)) = (wire.input(), wire.output());
    let input = input.create(reading.create(Box::new(from)));
    Ok(HopSyncClient::new(input, output.create(writing.create(Box::new(to)))))
}

fn call(client: &mut Client, timing: Timing) -> Result<u64> {
    let answer = client.call(Stamped::new(timing.stamp, timing.number.cast_signed()))?;
    Ok(answer.number.cast_unsigned())
}

fn chain(path: &Path, wire: Wire, relays: u32, rate: f64, case: &Case) -> Result<Figures> {
    let called = Arc::new(Called::default());
    // From the last to the first: each finds the next one listening.
    let socket = |hop: u32| path.join(format!("hop-{hop}"));
    listen(socket(relays), wire, Server::Last(called.clone()));
    for hop in (0..relays).rev() {
        let next = connect(&socket(hop + 1), wire)?;
        listen(socket(hop), wire, Server::Relay(Mutex::new(next)));
    }
    let mut client = connect(&socket(0), wire)?;
    requests::measure(rate, case.time(), relays + 1, &called, |timing| call(&mut client, timing))
}

fn ask(path: &Path, wire: Wire, case: &Case) -> Result<Figures> {
    let cores = harness::two_cores()?;
    let socket = path.join("server");
    let mut other = harness::start::<Thrift>(case, Some(cores.1), socket.display().to_string())?;
    other.hear::<()>()?;
    let mut client = connect(&socket, wire)?;
    pingpong::measure_both(case, other, &mut Calls::by(|timing| call(&mut client, timing)))
}
