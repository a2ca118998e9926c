//! Peer `zenoh`: one session whose callbacks run in the publisher's thread, a session per node over
//! the loopback, and shared memory between two processes.

mod between;
mod entities;
mod flood;
mod line;
mod payloads;
mod robot;
mod sessions;

use std::process::ExitCode;

use harness::{Case, Figures, Measuring, Other, Path, Peer, Program, Result, System, Work};
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
            // In one process there is nothing to clear up: `measure` says that it has no such thing.
            (SHARED, Work::Throughput { path: Path::Intra, .. }) => measure(case),
            (SHARED, _) => cleared_up(case),
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
}

/// The note of a process that measures itself.
const MEASURES: &str = "measures";

/// Measures in another process and removes what that leaves: zenoh keeps some of a process's shared
/// memory until another one clears up.
fn cleared_up(case: &Case) -> Result<Figures> {
    let figures = harness::start::<Zenoh>(case, None, MEASURES)?.finish();
    payloads::clear_up();
    Ok(figures?)
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
        (EACH, Work::Fanout { .. }) => between::fanout(case),
        (EACH, Work::Big {}) => between::big(case, Heap),
        (SHARED, Work::Big {}) => between::big(case, Shared),
        (EACH, &Work::Latest { size }) => between::latest(case, size),
        (system, work) => anyhow::bail!("{system} has no {} like this", work.scenario()),
    }
}

fn system(name: &str, how: &str, link: &str, scenarios: &[&str], differs: &[(&str, &str)]) -> System {
    System {
        name: name.to_owned(),
        how: how.to_owned(),
        link: link.to_owned(),
        scenarios: scenarios.iter().map(|&name| name.to_owned()).collect(),
        differs: differs.iter().map(|&(name, how)| (name.to_owned(), how.to_owned())).collect(),
        unavailable: None,
    }
}

fn one() -> System {
    system(
        ONE,
        "all nodes share one session, as a process's parts should; their callbacks run in the \
         publisher's thread, and no message leaves the process",
        "https://docs.rs/zenoh/latest/zenoh/session/",
        &["chain", "service-chain", "throughput", "topology", "entities"],
        &[
            (
                "throughput",
                "the receiving thread blocks on the subscriber's FIFO channel, which holds 1024 messages",
            ),
            ("service-chain", "queriers call queryables whose callbacks run in the caller's thread"),
            ("topology", "each publisher is a tokio task with an interval, and runs the callbacks"),
        ],
    )
}

fn each() -> System {
    const WOKEN: &str = "zenoh does not poll: its receivers are always woken, and all threads of a \
                         process share its core";
    system(
        EACH,
        "a session per node in the mode peer, linked over loopback TCP to its neighbours, without \
         scouting; express where latency is measured, with batching for throughput, and with \
         congestion control Block, so that nothing is lost",
        "https://zenoh.io/docs/manual/configuration/",
        &[
            "chain",
            "process-chain",
            "service-chain",
            "throughput",
            "fanout",
            "requests",
            "pingpong",
            "big",
            "entities",
            "latest",
        ],
        &[
            ("service-chain", "each server is a thread that waits for queries on its queryable's channel"),
            ("fanout", "zenoh does not poll: the other process is woken; its subscribers share a session"),
            ("pingpong", WOKEN),
            ("requests", WOKEN),
            (
                "latest",
                "a write ends before the value has left, and values that can't be sent in time are \
                 dropped; the reader takes the newest from a ring channel and copies it",
            ),
        ],
    )
}

fn shared() -> System {
    system(
        SHARED,
        "two processes, each with a session, linked over loopback TCP; payloads are buffers of a pool \
         of shared memory that the sender fills in place; express but for throughput",
        "https://docs.rs/zenoh/latest/zenoh/shm/",
        &["pingpong", "big", "throughput"],
        &[(
            "pingpong",
            "zenoh does not poll: its receivers are always woken, and all threads of a process share its \
             core; an answer of 16 bytes goes over TCP",
        )],
    )
}
