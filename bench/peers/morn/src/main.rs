//! Peer `morn`: its topics, queues and variables between processes, by its C interface.

#[cfg(morn)]
mod latest;
#[cfg(morn)]
mod morn;
#[cfg(morn)]
mod names;
#[cfg(morn)]
mod pingpong;

use std::process::ExitCode;

use harness::{Case, Figures, Peer, Program, Result, System};
#[cfg(morn)]
use harness::{Measuring, Other, Wait, Work};

const TOPIC: &str = "morn, topic";
const QUEUE: &str = "morn, queue";
const VARIABLE: &str = "morn, variable";

fn main() -> ExitCode {
    harness::main::<Morn>()
}

struct Morn;

impl Program for Morn {
    fn systems() -> Peer {
        const COPIED: &str = "a write copies the whole message into the file, also where only its first \
                              8 bytes are touched; it is read where it lies";
        const UNCHECKED: &str = "a value may be overwritten while it is read";
        const PAGES: &str = "https://github.com/jingweizhanghuai/Morn/tree/master/doc";
        let system = |name, how| System::new(name, how, PAGES);
        let mut systems = vec![
            system(TOPIC, "mProcTopicWrite and mProcTopicRead, in a loop")
                .scenario("pingpong", Some(COPIED))
                .scenario("latest", Some(UNCHECKED)),
            system(QUEUE, "mProcMessageWrite and mProcMessageRead, which look every millisecond")
                .scenario("pingpong", Some(COPIED)),
            system(VARIABLE, "mProcMasterVariate and mProcSlaveVariate: memory of both")
                .scenario("latest", Some("nothing keeps the value from being read while it is written")),
        ];
        if cfg!(not(morn)) {
            let missing = "it isn't installed: build peer-morn with MORN_DIR=PREFIX, which has include/morn_ptc.h \
                           and lib/libmorn.a or libmorn.so";
            systems.iter_mut().for_each(|system| system.unavailable = Some(missing.to_owned()));
        }
        Peer { peer: "morn".to_owned(), version: "1.0".to_owned(), systems }
    }

    #[cfg(not(morn))]
    fn run(_case: &Case) -> Result<Figures> {
        anyhow::bail!("this program is built without Morn")
    }

    #[cfg(morn)]
    fn run(case: &Case) -> Result<Figures> {
        match (case.system.as_str(), &case.work) {
            (TOPIC, Work::PingPong { wait: Wait::Poll, .. }) => pingpong::run::<morn::Topic>(case),
            // Its file has room for 512 messages.
            (QUEUE, Work::PingPong { wait: Wait::Sleep, size, .. }) if *size <= 256 << 10 => {
                pingpong::run::<morn::Queue>(case)
            }
            (TOPIC, Work::Latest { size }) => latest::run::<morn::Newest>(case, *size),
            (VARIABLE, Work::Latest { size }) if *size <= morn::LARGEST_VARIABLE => {
                latest::run::<morn::Variable>(case, *size)
            }
            _ => harness::no_part(case),
        }
    }

    #[cfg(morn)]
    fn serve(other: &Other, measuring: Measuring) -> Result<()> {
        match (other.case.system.as_str(), &other.case.work) {
            (TOPIC, Work::PingPong { .. }) => pingpong::serve::<morn::Topic>(other, measuring),
            (QUEUE, Work::PingPong { .. }) => pingpong::serve::<morn::Queue>(other, measuring),
            (TOPIC, Work::Latest { size }) => latest::serve::<morn::Newest>(other, *size, measuring),
            (VARIABLE, Work::Latest { size }) => latest::serve::<morn::Variable>(other, *size, measuring),
            (system, work) => anyhow::bail!("{system} has no second process in {}", work.scenario()),
        }
    }

    #[cfg(morn)]
    fn sweep(name: &str) -> Result<()> {
        names::sweep(name)
    }
}
