//! Peer `tonic`: gRPC, by unary calls over HTTP/2.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use harness::chain::Timing;
use harness::pingpong;
use harness::requests::{self, Called, Calls};
use harness::{Case, Figures, Measuring, Other, Peer, Program, Result, System, Wait, Work};
use tokio::net::UnixListener;
use tokio::runtime::Builder;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use wire::hop_client::HopClient;
use wire::hop_server::{Hop, HopServer};

/// The code that tonic generates from `build.rs`.
#[allow(clippy::allow_attributes_without_reason, reason = "it is generated")]
mod wire {
    include!(concat!(env!("OUT_DIR"), "/bench.Hop.rs"));
}

fn main() -> ExitCode {
    harness::main::<Tonic>()
}

/// A call and its answer: 16 bytes, plus protobuf's overhead.
#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Stamped {
    /// When the client called: `CLOCK_MONOTONIC`, in nanoseconds.
    #[prost(sfixed64, tag = "1")]
    stamp: i64,
    /// Counts the client's calls.
    #[prost(fixed64, tag = "2")]
    number: u64,
}

impl From<Timing> for Stamped {
    fn from(Timing { stamp, number }: Timing) -> Self {
        Self { stamp, number }
    }
}

struct Tonic;

impl Program for Tonic {
    fn systems() -> Peer {
        let differs = "the client awaits its answer in a runtime; each call is an HTTP/2 stream \
                       with headers of its own, and goes through a socket, also within a process";
        let how = "unary calls over a Unix socket, as all is on one host; each server of a chain \
                   is a task of the multi-threaded runtime with two workers, and a process that is \
                   kept to one core has the runtime of one thread, which is the faster there";
        let link = "https://github.com/hyperium/tonic/tree/master/examples/src/uds";
        Peer {
            peer: "tonic".to_owned(),
            version: "0.14".to_owned(),
            systems: vec![
                System::new("tonic", how, link)
                    .scenario("service-chain", Some(differs))
                    .scenario("requests", Some(differs)),
            ],
        }
    }

    fn run(case: &Case) -> Result<Figures> {
        match case.work {
            Work::ServiceChain { relays, rate } => {
                harness::with_directory(|path| chain(path, relays, rate, case))
            }
            Work::Requests { wait: Wait::Sleep, .. } => harness::with_directory(|path| ask(path, case)),
            _ => harness::no_part(case),
        }
    }

    fn serve(other: &Other, measuring: Measuring) -> Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            listen(Path::new(&other.note), Server::Last(Arc::default())).await?;
            tokio::task::spawn_blocking(move || pingpong::answer_until_the_end(measuring)).await?
        })
    }
}

/// A server of a chain.
enum Server {
    /// Calls the next one before it answers.
    Relay(HopClient<Channel>),
    /// Calls no other.
    Last(Arc<Called>),
}

#[tonic::async_trait]
impl Hop for Server {
    async fn call(&self, request: Request<Stamped>) -> std::result::Result<Response<Stamped>, Status> {
        let answer = match self {
            Self::Relay(next) => next.clone().call(request.into_inner()).await?.into_inner(),
            Self::Last(called) => {
                called.note();
                request.into_inner()
            }
        };
        Ok(Response::new(answer))
    }
}

/// Starts a server on a socket of its own; it ends with the runtime.
async fn listen(path: &Path, server: Server) -> Result<()> {
    let calls = UnixListenerStream::new(UnixListener::bind(path)?);
    let server = tonic::transport::Server::builder().add_service(HopServer::new(server));
    tokio::spawn(server.serve_with_incoming(calls));
    Ok(())
}

async fn connect(path: &Path) -> Result<HopClient<Channel>> {
    Ok(HopClient::connect(format!("unix://{}", path.display())).await?)
}

fn chain(path: &Path, relays: u32, rate: f64, case: &Case) -> Result<Figures> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let called = Arc::new(Called::default());
    // From the last to the first: each finds the next one listening.
    let mut client = runtime.block_on(async {
        let socket = |hop: u32| path.join(format!("hop-{hop}"));
        listen(&socket(relays), Server::Last(called.clone())).await?;
        for hop in (0..relays).rev() {
            let next = connect(&socket(hop + 1)).await?;
            listen(&socket(hop), Server::Relay(next)).await?;
        }
        connect(&socket(0)).await
    })?;
    requests::measure(rate, case.time(), relays + 1, &called, |timing| {
        let answer = runtime.block_on(client.call(Stamped::from(timing)))?;
        Ok(answer.into_inner().number)
    })
}

fn ask(path: &Path, case: &Case) -> Result<Figures> {
    let cores = harness::two_cores()?;
    let socket = path.join("server");
    let mut other = harness::start::<Tonic>(case, Some(cores.1), socket.display().to_string())?;
    other.hear::<()>()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut client = runtime.block_on(connect(&socket))?;
    let mut calls =
        Calls::by(|timing| Ok(runtime.block_on(client.call(Stamped::from(timing)))?.into_inner().number));
    pingpong::measure_both(case, other, &mut calls)
}
