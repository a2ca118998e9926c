//! Peer `zenoh`: one session with callbacks in the publisher's thread, a session per node over the
//! loopback, and shared memory between two processes.

mod between;
mod entities;
mod flood;
mod line;
mod payloads;
mod robot;
mod sessions;

use std::process::ExitCode;

use harness::{Case, Figures, Measuring, Other, Path, Peer, Program, Result, Sweeper, System, Work};
use sessions::Memory;

fn main() -> ExitCode {
    harness::main::<Zenoh>()
}

struct Zenoh;

/// The systems, by name.
const ONE: &str = "zenoh, one session";
const EACH: &str = "zenoh, a session per node";
const SHARED: &str = "zenoh, shared memory";

impl Program for Zenoh {
    fn systems() -> Peer {
        Peer { peer: "zenoh".to_owned(), version: "1.10".to_owned(), systems: vec![one(), each(), shared()] }
    }

    fn run(case: &Case) -> Result<Figures> {
        match (case.system.as_str(), &case.work) {
            (SHARED, Work::PingPong { .. } | Work::Big {} | Work::Throughput { path: Path::Shm, .. }) => {
                cleared_up(case)
            }
            _ => measure(case),
        }
    }

    fn serve(other: &Other, measuring: Measuring) -> Result<()> {
        if other.note == MEASURES {
            return Ok(measuring.tell(&measure(&other.case)?)?);
        }
        let memory = if other.case.system == SHARED { Memory::Shared } else { Memory::Heap };
        match &other.case.work {
            &Work::ProcessChain { relays, rate } => line::serve_process_chain(other, relays, rate, measuring),
            Work::PingPong { .. } => between::serve_pingpong(other, memory, measuring),
            Work::Requests { .. } => between::serve_requests(other, measuring),
            &Work::Fanout { subscriptions } => between::serve_fanout(other, subscriptions, measuring),
            Work::Throughput { .. } => between::serve_throughput(other, memory, measuring),
            Work::Big {} => between::serve_big(other, memory, measuring),
            &Work::Latest { size } => between::serve_latest(other, size, measuring),
            &Work::Entities { pairs, .. } => entities::serve(other, pairs, measuring),
            work => anyhow::bail!("{} has no other process", work.scenario()),
        }
    }

    fn sweep(_name: &str) -> Result<()> {
        payloads::clear_up()
    }
}

/// The note for a process that itself measures.
const MEASURES: &str = "measures";

/// Measures in another process: zenoh keeps some of a process's shared memory until another process
/// removes it; the sweeper does that when that process has ended, or this one was killed.
fn cleared_up(case: &Case) -> Result<Figures> {
    let _sweeper = Sweeper::start(["sweep", SHARED])?;
    Ok(harness::start::<Zenoh>(case, None, MEASURES)?.finish()?)
}

/// Measures one round in this process.
fn measure(case: &Case) -> Result<Figures> {
    use Memory::{Heap, Shared};
    match (case.system.as_str(), &case.work) {
        (ONE, &Work::Chain { relays, rate }) => line::chain(case, relays, rate, true),
        (EACH, &Work::Chain { relays, rate }) => line::chain(case, relays, rate, false),
        (EACH, &Work::ProcessChain { relays, rate }) => line::process_chain(case, relays, rate),
        (ONE, &Work::ServiceChain { relays, rate }) => line::service_chain(case, relays, rate, true),
        (EACH, &Work::ServiceChain { relays, rate }) => line::service_chain(case, relays, rate, false),
        (ONE, &Work::Throughput { size, path: Path::Intra }) => flood::throughput(case, size),
        (EACH, &Work::Throughput { size, path: Path::Shm }) => between::throughput(case, Heap, size),
        (SHARED, &Work::Throughput { size, path: Path::Shm }) => between::throughput(case, Shared, size),
        (ONE, Work::Topology { name }) => robot::topology(case, name),
        (ONE, &Work::Entities { pairs, path: Path::Intra }) => entities::within(pairs),
        (EACH, &Work::Entities { pairs, path: Path::Shm }) => entities::between(case, pairs),
        (EACH, Work::PingPong { .. }) => between::pingpong(case, Heap),
        (SHARED, Work::PingPong { .. }) => between::pingpong(case, Shared),
        (EACH, Work::Requests { .. }) => between::requests(case),
        (EACH, Work::Fanout { .. }) => between::fan_out(case),
        (EACH, Work::Big {}) => between::images(case, Heap),
        (SHARED, Work::Big {}) => between::images(case, Shared),
        (EACH, &Work::Latest { size }) => between::latest(case, size),
        _ => harness::no_part(case),
    }
}

fn one() -> System {
    System::new(
        ONE,
        "all nodes share one session, as a process's parts should; their callbacks run in the \
         publisher's thread, and no message leaves the process",
        "https://docs.rs/zenoh/latest/zenoh/session/",
    )
    .scenario(
        "chain",
        Some("each relay is called within the publish of the one before; no executor is between"),
    )
    .scenario("service-chain", Some("queriers call queryables whose callbacks run in the caller's thread"))
    .scenario(
        "throughput",
        Some(
            "each message is allocated anew; the receiving thread blocks on the subscriber's FIFO \
             channel, which holds as many as ours",
        ),
    )
    .scenario("topology", Some("each publisher is a tokio task with an interval, and runs the callbacks"))
    .scenario("entities", None)
}

fn each() -> System {
    const WOKEN: &str = "zenoh does not poll: its receivers are always woken, and all threads of a \
                         process share its core";
    System::new(
        EACH,
        "a session per node in the mode peer, linked over loopback TCP to its neighbours, without \
         scouting; express where latency is measured, with batching for throughput, and with \
         congestion control Block, so that nothing is lost",
        "https://zenoh.io/docs/manual/configuration/",
    )
    .scenario("chain", Some("every hop goes over TCP, and wakes the threads of the next session"))
    .scenario("process-chain", Some("every hop goes over TCP; all threads of a process share its core"))
    .scenario(
        "service-chain",
        Some("each server is a thread that waits for queries on its queryable's channel"),
    )
    .scenario("throughput", Some("messages go over TCP, several together, and each is allocated anew"))
    .scenario(
        "fanout",
        Some("zenoh does not poll: the other process is woken, over TCP; its subscribers share a session"),
    )
    .scenario("requests", Some(WOKEN))
    .scenario("pingpong", Some(WOKEN))
    .scenario("big", Some("an image is allocated anew, and goes over TCP"))
    .scenario("entities", Some("each side has one session for all its ends, and they meet over TCP"))
    .scenario(
        "latest",
        Some(
            "a write ends before the value has left, and values that can't be sent in time are \
             dropped; the reader takes the newest from a ring channel and copies it",
        ),
    )
}

fn shared() -> System {
    System::new(
        SHARED,
        "two processes, each with a session, linked over loopback TCP; payloads are buffers of a \
         pool of shared memory that the sender fills in place; express but for throughput",
        "https://docs.rs/zenoh/latest/zenoh/shm/",
    )
    .scenario(
        "pingpong",
        Some(
            "zenoh does not poll: its receivers are always woken, and all threads of a process \
             share its core; an answer of 16 bytes goes over TCP",
        ),
    )
    .scenario("big", Some("a buffer of 8 MB without the header of an image; TCP tells where it lies"))
    .scenario("throughput", Some("TCP tells where the messages lie, of several together"))
}
