//! Peer `iceoryx2`: shared memory without copies, polled, or with events if receivers sleep.

mod big;
mod board;
mod domain;
mod entities;
mod fanout;
mod pingpong;
mod ports;
mod process_chain;
mod requests;
mod throughput;

use std::process::ExitCode;

use harness::{Case, Figures, Measuring, Other, Peer, Program, Result, System, Wait, Work};
use iceoryx2::prelude::{LogLevel, set_log_level};

const POLLING: &str = "iceoryx2";
const WITH_EVENTS: &str = "iceoryx2 with events";

fn main() -> ExitCode {
    set_log_level(LogLevel::Error);
    harness::main::<Iceoryx2>()
}

struct Iceoryx2;

impl Program for Iceoryx2 {
    fn systems() -> Peer {
        const ONE_WAITS: &str = "the buffer holds one message and a newer one replaces it (its \
                                 benchmark's setting); ours holds ten";
        let polling = System::new(
            POLLING,
            "the default IPC service, slices that are loaned, written in place and sent, and \
             receivers that poll, as its examples and its own benchmark do; request-response; \
             blackboard",
            "https://github.com/eclipse-iceoryx/iceoryx2/tree/v0.10.0/benchmarks/publish-subscribe",
        )
        .scenario("pingpong", Some(ONE_WAITS))
        .scenario(
            "fanout",
            Some(
                "the subscribers' process asks each subscriber in turn; ours has an executor that \
                 spins and calls back",
            ),
        )
        .scenario("requests", Some("client and server poll; ours run in executors that spin"))
        .scenario(
            "entities",
            Some(
                "a pair is a service with a publisher and a subscriber, in one process by its \
                 local service; connecting them is part of it, which else the first message would \
                 do. Between processes one side makes all of its ends, then the other; ours make \
                 them at once",
            ),
        )
        .scenario(
            "throughput",
            Some("a sender that finds the buffer full spins, then sleeps for short times, and tries again"),
        )
        .scenario(
            "latest",
            Some(
                "the blackboard keeps two values: a reader copies one and begins again whenever \
                 the writer wrote meanwhile; ours reads in place and never begins again",
            ),
        );
        let with_events = System::new(
            WITH_EVENTS,
            "the same with an event service beside each service: a notification after each send, \
             and a listener, or a wait set of several, that sleeps until then",
            "https://github.com/eclipse-iceoryx/iceoryx2/tree/v0.10.0/examples/rust/\
             event_based_communication",
        )
        .scenario("pingpong", Some(ONE_WAITS))
        .scenario("requests", Some("client and server sleep on a listener; ours in their executors"))
        .scenario("process-chain", Some("each process has one thread, which sleeps in a wait set"))
        .scenario("big", Some("a slice of 8 MB without the header of an image, as it is made in place"));
        Peer {
            peer: "iceoryx2".to_owned(),
            version: "0.10.0".to_owned(),
            systems: vec![polling, with_events],
        }
    }

    fn run(case: &Case) -> Result<Figures> {
        match (case.system.as_str(), &case.work) {
            (POLLING, Work::PingPong { wait: Wait::Poll, .. })
            | (WITH_EVENTS, Work::PingPong { wait: Wait::Sleep, .. }) => pingpong::run(case),
            (POLLING, Work::Requests { wait: Wait::Poll, .. })
            | (WITH_EVENTS, Work::Requests { wait: Wait::Sleep, .. }) => requests::run(case),
            (POLLING, Work::Fanout { subscriptions }) => fanout::run(case, *subscriptions),
            (POLLING, Work::Entities { pairs, path }) => entities::run(case, *pairs, *path),
            (POLLING, Work::Throughput { size, path: harness::Path::Shm }) => throughput::run(case, *size),
            (POLLING, Work::Latest { size }) => board::run(case, *size),
            (WITH_EVENTS, Work::ProcessChain { relays, rate }) => process_chain::run(case, *relays, *rate),
            (WITH_EVENTS, Work::Big {}) => big::run(case),
            _ => harness::no_part(case),
        }
    }

    fn serve(other: &Other, measuring: Measuring) -> Result<()> {
        match other.case.work {
            Work::PingPong { .. } => pingpong::serve(other, measuring),
            Work::Requests { .. } => requests::serve(other, measuring),
            Work::Fanout { subscriptions } => fanout::serve(other, subscriptions, measuring),
            Work::Entities { pairs, .. } => entities::serve(other, pairs, measuring),
            Work::Throughput { size, .. } => throughput::serve(other, size, measuring),
            Work::Latest { size } => board::serve(other, size, measuring),
            Work::ProcessChain { relays, rate } => process_chain::serve(other, relays, rate, measuring),
            Work::Big {} => big::serve(other, measuring),
            ref work => anyhow::bail!("there is no second process in {}", work.scenario()),
        }
    }

    fn sweep(name: &str) -> Result<()> {
        domain::sweep(name)
    }
}
