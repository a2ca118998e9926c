//! The common part of the benchmarks' peers: the protocol between the report and a peer's program,
//! and the parts of the scenarios that are the same on both sides.
//!
//! # The protocol
//!
//! A peer is a program. The report runs it in two ways, and reads the **last line** of its standard
//! output:
//!
//! | command | answer |
//! |---|---|
//! | `PROGRAM systems` | a [`Peer`]: name, version, [`System`]s (ways to use it) with scenarios |
//! | `PROGRAM run CASE` | the [`Figures`] of one round of a [`Case`] |
//!
//! `CASE` is one argument of JSON: `{"system":"one
//! session","seconds":0.4,"scenario":"chain","relays":10,"rate":100.0}`. Times are in nanoseconds,
//! sizes in bytes. A program that can't run a case exits with a code other than 0 and writes the
//! reason to standard error, in one line; the code is [`NO_PART`] if that is no failure. The report
//! requests only scenarios that a system has listed. Two more commands, `PROGRAM peer ..` and
//! `PROGRAM sweep ..`, are for the programs' own other processes ([`Other`], [`Sweeper`]).
//!
//! Programs written elsewhere, in any language, take part in the same way: see
//! `bench/peers/README.md`.

pub mod big;
pub mod bytes;
pub mod chain;
pub mod fanout;
pub mod pingpong;
pub mod requests;
pub mod throughput;
pub mod topology;

use std::fmt;
use std::num::NonZeroI32;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
pub use sinew_bench::clock::now_ns;
pub use sinew_bench::options::PathKind as Path;
pub use sinew_bench::process::{Measuring, Process, Sweeper};
pub use sinew_bench::report::Figures;

/// The result of a measurement; an error is a sentence.
pub type Result<T> = anyhow::Result<T>;

/// A peer, as `systems` describes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Peer {
    /// Its name: `zenoh`.
    pub peer: String,
    /// The measured version.
    pub version: String,
    /// The ways to use it.
    pub systems: Vec<System>,
}

/// One way to use a peer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct System {
    /// Its name in the report's rows: `zenoh, one session`.
    pub name: String,
    /// How and why it is used in this way: one sentence.
    pub how: String,
    /// The page of the peer's documentation that describes this way.
    pub link: String,
    /// Its scenarios: names of [`Work`].
    pub scenarios: Vec<String>,
    /// Differences from Sinew's work: a sentence for each scenario concerned.
    #[serde(default)]
    pub differs: Vec<(String, String)>,
    /// The reason why it can't be measured on this machine, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

impl System {
    /// Makes a system without scenarios.
    pub fn new(name: &str, how: &str, link: &str) -> Self {
        Self {
            name: name.to_owned(),
            how: how.to_owned(),
            link: link.to_owned(),
            scenarios: Vec::new(),
            differs: Vec::new(),
            unavailable: None,
        }
    }

    /// Adds a scenario. `differs` is a sentence, unless the work is the same as Sinew's.
    #[must_use]
    pub fn scenario(mut self, name: &str, differs: Option<&str>) -> Self {
        self.scenarios.push(name.to_owned());
        self.differs.extend(differs.map(|how| (name.to_owned(), how.to_owned())));
        self
    }
}

/// One case, for one round.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Case {
    /// The name of the [`System`].
    pub system: String,
    /// Duration of measuring, including warm-up.
    pub seconds: f64,
    /// The work.
    #[serde(flatten)]
    pub work: Work,
}

impl Case {
    /// Returns the duration of measuring, including warm-up.
    pub fn time(&self) -> std::time::Duration {
        std::time::Duration::from_secs_f64(self.seconds)
    }
}

/// A scenario with its options. It defines what is counted and timed; both sides do the same.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "scenario", rename_all = "kebab-case")]
pub enum Work {
    /// Source => relays => sink in one process, with a message of 16 bytes (stamp and number)
    /// `rate` times a second; each relay publishes the messages that it receives. `p50_ns`: source
    /// to sink, divided by `relays + 1`; `due_p50_ns`, `due_p999_ns`, `due_max_ns`: from the due
    /// time of the source's tick to the sink, the whole.
    Chain {
        /// Nodes between source and sink.
        relays: u32,
        /// Messages per second.
        rate: f64,
    },
    /// The same over two processes, with every hop from one into the other.
    ProcessChain {
        /// Nodes between source and sink.
        relays: u32,
        /// Messages per second.
        rate: f64,
    },
    /// A client calls the first server, each server calls the next before it answers, all in one
    /// process. `p50_ns`: from the call to the last server's start, divided by `relays + 1`;
    /// `roundtrip_p50_ns`: the whole, halved and divided alike.
    ServiceChain {
        /// Servers between the client and the last server.
        relays: u32,
        /// Calls per second.
        rate: f64,
    },
    /// Two pinned processes, a message forth and one back, back to back or at a rate. `loan`: the
    /// first 8 bytes are touched, and `p50_ns` is half a round trip; `whole`: the sender writes
    /// every word, the receiver reads every word and answers with 16 bytes that contain the time
    /// when it had, and `p50_ns` is from before writing until then.
    #[serde(rename = "pingpong")]
    PingPong {
        /// `loan` or `whole`.
        mode: Mode,
        /// How both sides wait.
        wait: Wait,
        /// Bytes of a message.
        size: usize,
        /// Messages per second; back to back if missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<f64>,
    },
    /// One publisher at 100 Hz, with its subscribers in one other process that polls.
    /// `publish_p50_ns`: inside publish; `p50_ns`: from before the publish until the last
    /// subscriber has the message.
    Fanout {
        /// Number of subscribers.
        subscriptions: u32,
    },
    /// One client and one server in two pinned processes, 16 bytes each way. `p50_ns`: half a round
    /// trip.
    Requests {
        /// How both sides wait.
        wait: Wait,
        /// Calls per second; back to back if missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<f64>,
    },
    /// Publishers, each with one subscription on a topic of its own. `create_ns_per_pair`,
    /// `rss_bytes_per_pair`; `create_cpu_ns_per_pair`: the CPU time of all processes meanwhile.
    Entities {
        /// Number of pairs.
        pairs: u32,
        /// In one process, or with the subscriptions in another.
        path: Path,
    },
    /// One way, without any loss; each message is written whole and read whole.
    /// `messages_per_second`, `bytes_per_second`.
    Throughput {
        /// Bytes of a message.
        size: usize,
        /// Between two threads, or two processes.
        path: Path,
    },
    /// One process writes a value as often as it can, on another core another process reads the
    /// newest one as often as it can. `publish_p50_ns`: a write of every word, until it can be
    /// read; `p50_ns`: a read of every word of the newest value, also if it is the same value as
    /// before; `age_p50_ns`: from the start of the value's write until it has been read. A value
    /// with words that differ counts as lost, one older than the one before as reordered.
    /// `sinew_bench::latest` has the part that is the same on both sides.
    Latest {
        /// Bytes of the value.
        size: usize,
    },
    /// An image of 8 MB at 10 Hz to another process that sleeps. `publish_p50_ns`: inside publish,
    /// without making the image; `p50_ns`: from before the publish until the other process has it.
    Big {},
    /// A robot's graph: every publisher with its own timer, all nodes in one process. `mean_ns`,
    /// `p99_ns`.
    Topology {
        /// `sierra_nevada` or `mont_blanc`.
        name: String,
    },
}

impl Work {
    /// Returns the scenario's name.
    pub fn scenario(&self) -> &'static str {
        match self {
            Self::Chain { .. } => "chain",
            Self::ProcessChain { .. } => "process-chain",
            Self::ServiceChain { .. } => "service-chain",
            Self::PingPong { .. } => "pingpong",
            Self::Fanout { .. } => "fanout",
            Self::Requests { .. } => "requests",
            Self::Entities { .. } => "entities",
            Self::Throughput { .. } => "throughput",
            Self::Latest { .. } => "latest",
            Self::Big {} => "big",
            Self::Topology { .. } => "topology",
        }
    }
}

/// How the messages of a ping-pong are written and read.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Only their first 8 bytes are touched.
    Loan,
    /// They are written and read whole.
    Whole,
}

/// How a side waits.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// It polls, and is always awake.
    Poll,
    /// It sleeps at once.
    Sleep,
}

/// The work of another process of a peer: the case, and other parameters.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Other {
    /// The measured case.
    pub case: Case,
    /// The core to run on, if any.
    pub core: Option<usize>,
    /// The peer's own parameter for its process: a name, an address, a number.
    pub note: String,
}

/// A peer's program.
pub trait Program {
    /// Describes the peer.
    fn systems() -> Peer;

    /// Measures one round.
    ///
    /// # Errors
    ///
    /// Any failure, as a sentence.
    fn run(case: &Case) -> Result<Figures>;

    /// In another process, started with [`start`]: does its part until `measuring` ends the round.
    ///
    /// # Errors
    ///
    /// Any failure, as a sentence.
    fn serve(other: &Other, measuring: Measuring) -> Result<()> {
        let _ = (other, measuring);
        anyhow::bail!("this peer has no other processes")
    }

    /// In a [`Sweeper`] with the arguments `sweep` and a name: removes the remains of the run of that
    /// name. It is called repeatedly until it succeeds, or for half a second.
    ///
    /// # Errors
    ///
    /// If more may come.
    fn sweep(name: &str) -> Result<()> {
        anyhow::bail!("this peer leaves nothing of {name}")
    }
}

/// The exit code of a program for a case that its system doesn't support. That is no failure: the
/// report leaves the case out silently.
pub const NO_PART: u8 = 3;

/// A case that a system doesn't support.
#[derive(Debug)]
struct NoPart(Case);

impl fmt::Display for NoPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no {} like this", self.0.system, self.0.work.scenario())
    }
}

impl std::error::Error for NoPart {}

/// Returns the error of [`Program::run`] for a case that a system doesn't support: [`main`] reports
/// it, and exits with [`NO_PART`].
///
/// # Errors
///
/// Always.
pub fn no_part<T>(case: &Case) -> Result<T> {
    Err(NoPart(case.clone()).into())
}

/// Runs a peer's program; to be called by its `main`.
pub fn main<P: Program>() -> ExitCode {
    match command::<P>() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            if error.is::<NoPart>() { ExitCode::from(NO_PART) } else { ExitCode::FAILURE }
        }
    }
}

fn command<P: Program>() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["systems"] => println!("{}", serde_json::to_string(&P::systems())?),
        ["run", case] => {
            sinew_bench::process::end_with_parent()?;
            let figures = P::run(&serde_json::from_str(case)?)?;
            println!("{}", serde_json::to_string(&figures)?);
        }
        ["peer", parent, role] => {
            let peer =
                sinew_bench::options::Peer { parent: parent.parse::<NonZeroI32>()?, role: role.to_owned() };
            sinew_bench::process::serve(&peer, &[sinew_bench::process::Role::of::<Served<P>>()])?;
        }
        ["sweep", name] => {
            sinew_bench::process::remaining();
            sinew_bench::process::clear_up(|| P::sweep(name))?;
        }
        _ => anyhow::bail!("usage: systems | run CASE (bench/peers/README.md says what they answer)"),
    }
    Ok(())
}

/// An [`Other`] for a certain program.
#[derive(Deserialize, Serialize)]
#[serde(bound = "", transparent)]
struct Served<P> {
    other: Other,
    #[serde(skip)]
    program: std::marker::PhantomData<fn(P)>,
}

impl<P: Program> sinew_bench::process::Work for Served<P> {
    fn scenario(&self) -> &'static str {
        self.other.case.work.scenario()
    }

    fn play(&self, measuring: Measuring) -> std::result::Result<(), sinew_bench::Error> {
        if let Some(core) = self.other.core {
            sinew_bench::machine::pin_to(core)?;
        }
        P::serve(&self.other, measuring).map_err(|error| sinew_bench::Error::Measured(error.into()))
    }
}

/// Starts another process of the program, which calls [`Program::serve`]. The kernel ends it with
/// the calling thread.
///
/// # Errors
///
/// If it can't be started.
pub fn start<P: Program>(case: &Case, core: Option<usize>, note: impl Into<String>) -> Result<Process> {
    let other = Other { case: case.clone(), core, note: note.into() };
    Ok(Process::start(&Served::<P> { other, program: std::marker::PhantomData })?)
}

/// Calls `work` with a private directory in memory, for sockets and the like, on a thread of its
/// own; the directory is gone afterwards, however the program ends.
///
/// # Errors
///
/// If the directory can't be created, and the errors of `work`.
pub fn with_directory<T: Send>(work: impl FnOnce(&std::path::Path) -> Result<T> + Send) -> Result<T> {
    let directory = sinew_bench::process::Directory::create()?;
    let measured = |path: &_| work(path).map_err(|error| sinew_bench::Error::Measured(error.into()));
    Ok(directory.round(measured)?)
}

/// Returns two cores that this process may use, one for each side of a measurement, and pins the
/// calling thread to the first.
///
/// # Errors
///
/// If it may use only one.
pub fn two_cores() -> Result<(usize, usize)> {
    let cores = sinew_bench::machine::two_cores()?.ok_or_else(|| {
        anyhow::anyhow!("two processes on two cores are measured, and this process may use one")
    })?;
    sinew_bench::machine::pin_to(cores.0)?;
    Ok(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_says_of_each_scenario_what_differs() {
        let system = System::new("a", "b", "c").scenario("chain", Some("no QoS")).scenario("big", None);
        assert_eq!(system.scenarios, ["chain", "big"]);
        assert_eq!(system.differs, [("chain".to_owned(), "no QoS".to_owned())]);
    }

    #[test]
    fn a_case_without_part_is_told_from_a_failure() {
        let case = Case { system: "a".to_owned(), seconds: 1.0, work: Work::Big {} };
        let error = no_part::<()>(&case).unwrap_err();
        assert!(error.is::<NoPart>());
        assert_eq!(error.to_string(), "a has no big like this");
    }
}
