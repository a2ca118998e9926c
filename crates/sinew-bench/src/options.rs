//! The options of `sinew bench`: one definition yields the parser, the help, and the cases.
//!
//! The options of a scenario are its case. Of an option that may be given several times, each value
//! makes a case of its own, in which the list has one value.

use std::num::NonZeroI32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::SIZES;
use crate::rounds::{ROUNDS, Turns};

/// Options of `bench`.
#[derive(Args, Debug)]
pub struct Bench {
    /// The scenario to measure.
    #[command(subcommand)]
    pub scenario: Scenario,

    /// The turns, and where the results go.
    #[command(flatten)]
    pub output: Output,
}

/// The scenarios that users run: `sinew bench`.
#[derive(Debug, Subcommand)]
pub enum Scenario {
    /// Source => relays => sink, each a node: the latency per hop.
    Chain(ChainCase),
    /// Two processes on two cores, a message forth and one back: the latency one way, by size.
    #[command(name = "pingpong")]
    PingPong(PingPongCase),
    /// The highest rate of messages without losing one.
    Throughput(ThroughputCase),
    /// A robot's whole graph: latency, lateness, losses, CPU and memory.
    Topology(TopologyCase),
    /// The cost of many publishers and subscriptions in time and memory.
    Entities(EntitiesCase),
    /// C and C++ beside Rust, in turns: chains, topics and variables without nodes, the cost of a
    /// publish. Needs a compiler of C and of C++, and the shared library of Sinew (`libsinew.so`)
    /// with its headers.
    Languages(LanguagesOptions),
    /// Sinew beside other libraries, in turns, with a report: needs the checkout that holds
    /// bench/peers, which this runs.
    Peers(PeersOptions),
}

/// All scenarios: the program `sinew-bench`, for developers of Sinew.
#[derive(Debug, Subcommand)]
pub enum AnyScenario {
    /// One that users run.
    #[command(flatten)]
    OfUsers(Scenario),
    /// The limits of the machine itself: direct calls, cache lines, wake-ups, copies, sleeps.
    Floors,
    /// A chain of services, each calling the next before it answers: the latency per hop, and of
    /// the round trip.
    ServiceChain(ServiceChainCase),
    /// The chain over several processes, with every hop from one into another: the latency per hop.
    ProcessChain(ProcessChainCase),
    /// One server in another process: half of a call's round trip.
    Requests(RequestsCase),
    /// Camera -> filter that changes the image in place -> viewers: the total latency, and the
    /// copies.
    Pipeline(PipelineCase),
    /// One publisher, many subscriptions in the same process or in others.
    Fanout(FanoutCase),
    /// 8 MB images to another process: the time inside publish, and until they have arrived.
    Big(BigCase),
    /// A value that one process writes and another reads, both as often as they can: a write, and a
    /// read of the newest value.
    Latest(LatestCase),
    /// The time until a publisher matches a subscription of another process.
    Matching(MatchingCase),
    /// The memory of a participant without activity.
    Participant(ParticipantCase),
    /// The lateness of a 1 kHz timer, idle and with one core busy.
    Timer(TimerCase),
    /// Two subscriptions of one topic that compute for 1 ms, on two threads: the time until both
    /// are finished, beside plain threads with the same work.
    TwoSubscriptions(TwoSubscriptionsCase),
    /// Topics that are always busy, on several threads: callbacks per second, beside plain threads
    /// with the same work.
    Workers(WorkersCase),
    /// To another host: messages, calls and chains through gateways beside bare zenoh, and the cost
    /// of gateways for programs that don't need them. All hosts are directories of this one, and
    /// loopback is their network.
    #[cfg(feature = "gateway")]
    Net(NetOptions),
}

impl Scenario {
    /// Checks rules that the parser doesn't know: options that exclude each other; the error is a
    /// sentence.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Chain(case) => {
                case.executor.check()?;
                let works = case.work_before_us > 0 || case.work_after_us > 0;
                if works && case.relays == 0 {
                    return Err(
                        "--work-before and --work-after are the relays' work: --relays 0 has none".into()
                    );
                }
                Ok(())
            }
            Self::Topology(case) => case.executor.check(),
            Self::Entities(case) if case.one_topic && case.path == PathKind::Shm => {
                Err("--one-topic is measured in one process: it needs --path intra".into())
            }
            _ => Ok(()),
        }
    }
}

impl AnyScenario {
    /// As [`Scenario::check`].
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::OfUsers(scenario) => scenario.check(),
            Self::ServiceChain(case) => case.executor.check(),
            Self::Fanout(case) if case.placement == Placement::Same && case.wait.is_some() => {
                Err("--wait is about readers in other processes: it needs --placement other or each".into())
            }
            _ => Ok(()),
        }
    }
}

/// The executor of the nodes.
#[derive(Args, Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct ExecutorOptions {
    /// The executor of the nodes.
    #[arg(long = "executor", value_enum, default_value_t)]
    #[serde(rename = "executor")]
    pub kind: ExecutorKind,

    /// Threads of the executor `multi` [default: 2].
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=61))]
    threads: Option<u32>,

    /// Which of the callbacks that are ready begins first.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub order: Order,
}

impl ExecutorOptions {
    /// Selects a multi-threaded executor with this many threads.
    pub fn multi(threads: u32) -> Self {
        Self { kind: ExecutorKind::Multi, threads: Some(threads), order: Order::ByTime }
    }

    /// Returns the number of threads that run callbacks.
    pub fn threads(self) -> u32 {
        match self.kind {
            ExecutorKind::Single => 1,
            ExecutorKind::Multi => self.threads.unwrap_or(2),
        }
    }

    /// Checks rules that the parser doesn't know: options that exclude each other; the error is a
    /// sentence.
    pub fn check(self) -> Result<(), String> {
        match (self.kind, self.threads) {
            (ExecutorKind::Single, Some(threads)) => {
                Err(format!("--threads {threads} needs --executor multi: the executor `single` runs on one"))
            }
            _ => Ok(()),
        }
    }
}

/// A chain in one process.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct ChainCase {
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) executor: ExecutorOptions,

    /// Nodes between source and sink.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000), default_value_t = 10)]
    pub(crate) relays: u32,

    /// Messages per second; may be given several times, for a row each.
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate, default_values = ["10", "100", "1000"])]
    pub(crate) rate: Vec<f64>,

    /// Each relay computes for this many microseconds before it publishes. The figure doesn't
    /// include them.
    #[arg(long = "work-before", allow_negative_numbers = true, value_name = "US", value_parser = work(), default_value_t = 0)]
    pub(crate) work_before_us: u32,

    /// Each relay computes for this many microseconds after it has published. The figure is then
    /// the time from one relay's publish to the start of the next relay or of the sink.
    #[arg(long = "work-after", allow_negative_numbers = true, value_name = "US", value_parser = work(), default_value_t = 0)]
    pub(crate) work_after_us: u32,
}

/// A chain of servers in one process.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct ServiceChainCase {
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) executor: ExecutorOptions,

    /// Servers between the client and the last server.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=60), default_value_t = 10)]
    pub(crate) relays: u32,

    /// Calls per second; may be given several times, for a row each.
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate, default_values = ["10", "100", "1000"])]
    pub(crate) rate: Vec<f64>,

    /// Servers await the next one's answer instead of blocking, and the client's thread runs the
    /// executor while it waits.
    #[arg(long = "async")]
    #[serde(rename = "async")]
    pub(crate) awaits: bool,
}

/// A server in another process.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct RequestsCase {
    /// How both sides wait; may be given several times, for a row each.
    #[arg(long, value_enum, default_values = ["poll", "spin", "sleep"])]
    pub(crate) wait: Vec<SidesWait>,

    /// Calls per second; may be given several times, for a row each [default: back to back].
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate)]
    pub(crate) rate: Vec<f64>,
}

/// A chain over several processes.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct ProcessChainCase {
    /// Number of processes over which the nodes are spread, in turns.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=12), default_value_t = 2)]
    pub(crate) processes: u32,

    /// Nodes between source and sink.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000), default_value_t = 10)]
    pub(crate) relays: u32,

    /// Messages per second; may be given several times, for a row each.
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate, default_values = ["10", "100", "1000"])]
    pub(crate) rate: Vec<f64>,
}

/// A message forth and one back.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct PingPongCase {
    /// How messages are sent and read.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: PingPongMode,

    /// How both processes wait.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) wait: SidesWait,

    /// Bytes of a message; may be given several times, for a row each.
    #[arg(long, value_name = "BYTES", value_parser = size, default_values = ["64", "256", "1024", "4096", "16384", "65536", "262144", "1048576", "8388608"])]
    pub(crate) size: Vec<usize>,

    /// Messages per second [default: back to back].
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate)]
    pub(crate) rate: Option<f64>,
}

/// Large images to another process.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct BigCase {
    /// How an image is published; may be given several times, for a row each.
    #[arg(long, value_enum, default_values = ["loan", "owned"])]
    pub(crate) mode: Vec<BigMode>,

    /// How the reader waits; may be given several times, for a row each.
    #[arg(long, value_enum, default_values = ["spin", "sleep"])]
    pub(crate) wait: Vec<Wait>,
}

/// The cases of `bench net`.
#[cfg(feature = "gateway")]
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum NetCase {
    /// 64 B at 100 Hz, one way.
    Latency,
    /// 64 B and 1 MB, as many as get through.
    Throughput,
    /// A call at 100 Hz, there and back.
    Service,
    /// 64 B at 100 Hz by 10 relays, each on the other host than the one before.
    Chain,
    /// The gateway of a busy robot, while no other host listens to the robot's topics.
    Idle,
    /// A publish on a topic to which no other host listens, while one listens to another topic.
    Others,
}

/// Options of `bench net`.
#[cfg(feature = "gateway")]
#[derive(Args, Debug)]
pub struct NetOptions {
    /// The case to measure; may be given several times [default: all].
    #[arg(long = "case", value_enum, value_name = "CASE")]
    pub(crate) cases: Vec<NetCase>,

    /// The robot of `idle`: a shipped topology, or a file.
    #[arg(long, value_name = "NAME|FILE", default_value = "mont_blanc")]
    pub(crate) topology: String,
}

/// A flood that loses nothing.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct ThroughputCase {
    /// Bytes of a message; may be given several times, for a row each.
    #[arg(long, value_name = "BYTES", value_parser = size, default_values = ["64", "1024", "65536"])]
    pub(crate) size: Vec<usize>,

    /// The destination of messages: another process, or another thread.
    #[arg(long, value_enum, default_value_t = PathKind::Shm)]
    pub(crate) path: PathKind,

    /// Take messages in a loop, not by a callback.
    #[arg(long)]
    pub(crate) take: bool,
}

/// The newest value.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct LatestCase {
    /// Bytes of the value; may be given several times, for a row each.
    #[arg(long, value_name = "BYTES", value_parser = size, default_values = ["64", "1024", "65536"])]
    pub(crate) size: Vec<usize>,

    /// How the value reaches the other process.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub(crate) way: LatestWay,
}

/// How the newest value reaches another process.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LatestWay {
    /// By a topic of depth 1.
    #[default]
    Topic,
    /// By a variable of the raw layer.
    Variable,
}

/// A timer.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct TimerCase {
    /// What else the machine does; may be given several times, for a row each.
    #[arg(long, value_enum, default_values = ["idle", "one-core-busy"])]
    pub(crate) load: Vec<Load>,
}

/// Two subscriptions that compute.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct TwoSubscriptionsCase {}

/// Topics that are always busy.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct WorkersCase {
    /// Threads of the executor, and plain threads beside it.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=61), default_value_t = 4)]
    pub(crate) threads: u32,

    /// Number of topics: each callback computes and publishes the next message.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 8)]
    pub(crate) topics: u32,

    /// Computing time of a callback, in microseconds; may be given several times, for a row each.
    #[arg(long = "work", allow_negative_numbers = true, value_name = "US", value_parser = clap::value_parser!(u32).range(1..=10_000), default_values = ["5", "20"])]
    pub(crate) work_us: Vec<u32>,
}

/// Images from a camera by a filter to viewers.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct PipelineCase {
    /// Nodes that view the filter's images.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), default_value_t = 1)]
    pub(crate) viewers: u32,

    /// The viewers are in another process.
    #[arg(long)]
    pub(crate) other_process: bool,
}

/// A robot's graph.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct TopologyCase {
    /// A file in the form of iRobot's ros2-performance, or one of the shipped graphs:
    /// sierra_nevada, mont_blanc. Publishers loan or draft their messages, whatever `msg_pass_by`
    /// says.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) executor: ExecutorOptions,

    /// Publish this many times as often as the file says.
    #[arg(long, value_name = "X", value_parser = scale, default_value = "1")]
    pub(crate) scale_rate: f64,

    /// Publishers draft their messages, and subscriptions take views: then nothing is copied for
    /// another process either.
    #[arg(long)]
    pub(crate) drafts: bool,

    /// Measure in turns without and with a node in another process that subscribes to every topic.
    #[arg(long)]
    pub(crate) debug_node: bool,

    /// How the debug node waits: one that spins takes no wake calls [default: sleep].
    #[arg(long, value_enum, requires = "debug_node")]
    pub(crate) wait: Option<Wait>,
}

/// Publishers with subscriptions.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct EntitiesCase {
    /// Publishers, each with one subscription on a topic of its own; may be given several times,
    /// for a row each.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        default_values = ["10", "100", "1000", "10000"]
    )]
    pub(crate) pairs: Vec<u32>,

    /// All of them share one topic: the cost is that of a pair that matches.
    #[arg(long)]
    pub(crate) one_topic: bool,

    /// How messages reach the subscriptions.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) path: PathKind,
}

/// Matching across two processes.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct MatchingCase {
    /// What is new to the publisher's process; may be given several times, for a row each.
    #[arg(long, value_enum, default_values = ["process", "entity"])]
    pub(crate) new: Vec<NewKind>,
}

/// An idle participant.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct ParticipantCase {}

/// A publisher with several subscriptions.
#[derive(Args, Clone, Debug, Deserialize, Serialize)]
pub struct FanoutCase {
    /// Subscriptions of the one publisher; may be given several times, for a row each.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000),
        default_values = ["1", "2", "4", "8", "16", "32"]
    )]
    pub(crate) subscriptions: Vec<u32>,

    /// Where the subscriptions are.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) placement: Placement,

    /// Messages per second.
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate, default_value = "1000")]
    pub(crate) rate: f64,

    /// How readers in other processes wait [default: sleep].
    #[arg(long, value_enum)]
    pub(crate) wait: Option<Wait>,
}

/// The cases of `bench languages`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LanguagesCase {
    /// Ten relays: C++ callbacks by `unique_ptr`, `shared_ptr<const>` and `const &` beside Rust's by
    /// ownership and by reference.
    Chain,
    /// Topics and variables without nodes, between two processes that poll: C by handles and by
    /// names.
    Raw,
    /// A publish of 64 bytes inside the process, from C: its time and, if valgrind is installed, its
    /// instructions.
    Publish,
    /// Python beside Rust, and beside iceoryx2, zenoh and rclpy if its interpreter (`SINEW_PYTHON`) has
    /// them: texts, calls and images between two processes, the start of a program, an idle node.
    Python,
}

/// Options of `bench languages`.
#[derive(Args, Clone, Debug)]
pub struct LanguagesOptions {
    /// The case to measure; may be given several times [default: all].
    #[arg(long = "case", value_enum, value_name = "CASE")]
    pub(crate) cases: Vec<LanguagesCase>,

    /// The shared library, or its directory [default: beside this program, or what pkg-config
    /// names].
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Option<PathBuf>,

    /// Messages per second of a chain; may be given several times, for a row each.
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate, default_values = ["10", "100", "1000"])]
    pub(crate) rate: Vec<f64>,

    /// Bytes of a topic's or variable's message; may be given several times, for a row each.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=16_777_216), default_values = ["64", "4096", "65536"])]
    pub(crate) size: Vec<u32>,
}

/// Options of `bench peers` and of `bench/peers/run`.
#[derive(Args, Clone, Debug)]
pub struct PeersOptions {
    /// Measure only this scenario; may be given several times.
    #[arg(long = "scenario", value_name = "NAME")]
    pub scenarios: Vec<String>,

    /// Measure only beside this peer, or this way to use one; may be given several times.
    #[arg(long = "peer", value_name = "NAME")]
    pub peers: Vec<String>,

    /// Number of rounds, in which the sides of a case take turns.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = ROUNDS)]
    pub rounds: u32,

    /// Time of each side in each round [default: 0.1 to 6, as the case needs].
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub seconds: Option<Duration>,

    /// For a first look: two rounds (or as many as --rounds says), tenths of seconds, some of the
    /// sizes.
    #[arg(long)]
    pub quick: bool,

    /// Longest time of a side for a round before it is ended [default: 30 and four times its
    /// measuring time].
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub limit: Option<Duration>,

    /// Write the report as one HTML page to this file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the report as Markdown to this file; `-` is standard output, also the default if no
    /// file is named at all.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Write every figure, with the host's facts, to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the plots as SVG files to this directory (created if missing).
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,

    /// A program that takes part, as described in bench/peers/README.md; may be given several
    /// times. Programs named `sinew-peer-*` in PATH take part in any case.
    #[arg(long = "adapter", value_name = "PATH")]
    pub adapters: Vec<PathBuf>,

    /// List the peers, the ways to use each, and what can't be measured here and why; measure
    /// nothing.
    #[arg(long)]
    pub list: bool,

    /// Use the existing builds.
    #[arg(long)]
    pub no_build: bool,

    /// The program `sinew-bench` to measure [default: one that is built].
    #[arg(long, value_name = "PATH")]
    pub sinew: Option<PathBuf>,
}

/// The kinds of executors.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ExecutorKind {
    /// One thread runs all nodes.
    #[default]
    Single,
    /// Several threads run whatever is ready.
    Multi,
}

/// The paths of messages.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum PathKind {
    /// Inside one process.
    #[default]
    Intra,
    /// Through shared memory: the publishers in one process, the subscriptions in another.
    Shm,
}

/// The places of a publisher's subscriptions.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// In the publisher's process.
    #[default]
    Same,
    /// All in one other process.
    Other,
    /// Each in a process of its own.
    Each,
}

/// Which of the callbacks that are ready begins first.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The one that has been ready longest.
    #[default]
    ByTime,
    /// What the last callback made ready.
    RunNext,
}

/// How an executor waits.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// It spins, and is always awake.
    #[value(alias = "poll")]
    Spin,
    /// It sleeps at once.
    #[default]
    Sleep,
}

/// How the two sides of a ping-pong, or of calls, wait.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SidesWait {
    /// They poll, without an executor: they take messages, requests and responses by hand.
    #[default]
    Poll,
    /// In executors that spin.
    Spin,
    /// In executors that sleep.
    Sleep,
}

impl SidesWait {
    /// Returns how the executors wait, if there are any.
    pub fn executor(self) -> Option<Wait> {
        match self {
            Self::Poll => None,
            Self::Spin => Some(Wait::Spin),
            Self::Sleep => Some(Wait::Sleep),
        }
    }
}

/// How the messages of a ping-pong are sent and read.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum PingPongMode {
    /// They are published by value.
    Inline,
    /// They are loaned, and only their first 8 bytes are touched.
    #[default]
    Loan,
    /// They are loaned, the sender writes all of them, and the receiver reads all of them.
    Whole,
}

/// What else the machine does.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// Nothing.
    #[default]
    Idle,
    /// A thread computes.
    OneCoreBusy,
}

/// What is new to a publisher's process.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum NewKind {
    /// The process of a subscription.
    #[default]
    Process,
    /// A subscription of a known process.
    Entity,
}

/// How a large image is published.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum BigMode {
    /// A plain image is loaned and filled in place.
    #[default]
    Loan,
    /// An image with a vector is passed as an owned message.
    Owned,
}

/// Options of every scenario.
#[derive(Args, Clone, Debug)]
pub struct Output {
    /// Total time of each row [default: the scenario's: 1 to 10, topology 120].
    #[arg(long, global = true, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub seconds: Option<Duration>,

    /// Number of rounds, in which a row takes turns with the cases beside it. Figures are medians
    /// over the rounds. (A topology without a debug node is one run.)
    #[arg(long, global = true, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = ROUNDS)]
    pub rounds: u32,

    /// Also write all figures, with the facts about the host, to this file (replaced if it exists);
    /// `-` is standard output, and the table then goes to standard error.
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Output {
    /// Returns the total time of each row, the user's or `default` seconds, in rounds.
    pub(crate) fn turns_or(&self, default: u64) -> Turns {
        Turns { time: self.seconds.unwrap_or(Duration::from_secs(default)), rounds: self.rounds }
    }
}

/// The work of another process of a benchmark.
#[derive(Args, Clone, Debug)]
pub struct Peer {
    /// The process that started it.
    pub parent: NonZeroI32,
    /// Its role, as JSON.
    pub role: String,
}

/// Parses a computing time, in microseconds.
fn work() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=1_000_000)
}

/// Parses one of the available message sizes.
fn size(text: &str) -> Result<usize, String> {
    let size = text.parse::<usize>().ok().filter(|size| SIZES.contains(size));
    size.ok_or_else(|| {
        let sizes: Vec<_> = SIZES.iter().map(usize::to_string).collect();
        format!("must be one of {}", sizes.join(", "))
    })
}

fn rate(text: &str) -> Result<f64, String> {
    number_within(text, 0.1, 100_000.0)
}

fn scale(text: &str) -> Result<f64, String> {
    number_within(text, 0.01, 1000.0)
}

/// Parses a number from `least` to `most`, both included; the error is a sentence.
pub fn number_within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("must be a number from {least} to {most}"))
}

/// Parses a time in seconds, up to a day; the error is a sentence.
pub fn seconds(text: &str) -> Result<Duration, String> {
    const LONGEST: f64 = 86_400.0;
    let number = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0 && seconds <= LONGEST);
    number
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("must be a number above 0 and up to {LONGEST} (a day)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_within_their_bounds() {
        assert_eq!((rate("0.1"), rate("100000")), (Ok(0.1), Ok(100_000.0)));
        for wrong in ["0", "0.09", "100001", "-5", "nan", "fast"] {
            assert_eq!(rate(wrong), Err("must be a number from 0.1 to 100000".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn seconds_are_within_a_day() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "86401", "nan", "inf", "ten", ""] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
