//! The measured cases: sections of the report, each with its cases and their plots.

use harness::{Mode, Path, Wait, Work};

/// A part of the report: cases of one kind.
pub struct Section {
    /// Its name in links and file names.
    pub id: &'static str,
    /// Its name for `--scenario`; several sections may share one.
    pub scenario: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The work and the meaning of the figures: whole sentences.
    pub about: &'static str,
    /// The compared figures; the first one orders the sides, and every answer must have it.
    pub measures: Vec<&'static Measure>,
    /// The cases.
    pub cases: Vec<Case>,
    /// The parameter in which its cases differ, if each figure is a line over it; otherwise each
    /// figure of each case has bars.
    pub axis: Option<Axis>,
}

/// A compared figure.
#[derive(Debug)]
pub struct Measure {
    /// Its name for people.
    pub title: &'static str,
    /// Its name in the results.
    pub key: &'static str,
    /// The name of its P90, if it has one.
    pub p90: Option<&'static str>,
    /// Its unit.
    pub unit: Unit,
}

impl Measure {
    /// Returns the names of its figures in the results.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.key).chain(self.p90)
    }

    /// Returns `true` if it has a winner. CPU is only shown beside the figures, as their price.
    pub fn is_compared(&self) -> bool {
        self.unit != Unit::Percent
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Messages per second: more is better.
    PerSecond,
    /// Percent of one core.
    Percent,
}

/// One case: the same work for all systems.
pub struct Case {
    /// The work.
    pub work: Work,
    /// Time of each side in a round, in seconds.
    pub seconds: f64,
    /// Whether `--quick` includes it.
    pub quick: bool,
    /// Whether one core is [busy](sinew_bench::busy_core::BusyCore) meanwhile.
    pub loaded: bool,
}

/// The parameter in which the cases of a section differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Messages per second.
    Rate,
    /// Bytes of a message.
    Size,
    /// Subscribers of a publisher.
    Subscribers,
    /// Nodes between source and sink.
    Relays,
}

impl Axis {
    /// Returns its name under a plot.
    pub fn title(self) -> &'static str {
        match self {
            Self::Rate => "messages a second",
            Self::Size => "size of a message",
            Self::Subscribers => "subscribers",
            Self::Relays => "relays",
        }
    }

    /// Returns a case's position on it.
    pub fn of(self, work: &Work) -> Option<f64> {
        match (self, work) {
            (
                Self::Rate,
                Work::Chain { rate, .. } | Work::ProcessChain { rate, .. } | Work::ServiceChain { rate, .. },
            ) => Some(*rate),
            (
                Self::Size,
                Work::PingPong { size, .. } | Work::Throughput { size, .. } | Work::Latest { size },
            ) => Some(*size as f64),
            (Self::Subscribers, Work::Fanout { subscriptions }) => Some(f64::from(*subscriptions)),
            (Self::Relays, Work::Chain { relays, .. }) => Some(f64::from(*relays)),
            _ => None,
        }
    }

    /// Formats a position.
    pub fn label(self, value: f64) -> String {
        match self {
            Self::Rate => format!("{value} Hz"),
            Self::Size => size(value),
            Self::Subscribers | Self::Relays => format!("{value}"),
        }
    }
}

/// Formats a number of bytes briefly: all sizes are round.
fn size(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1024.0 => format!("{bytes} B"),
        bytes if bytes < 1024.0 * 1024.0 => format!("{} KB", bytes / 1024.0),
        bytes => format!("{} MB", bytes / (1024.0 * 1024.0)),
    }
}

impl Section {
    /// Returns the figures that have a winner.
    pub fn compared(&self) -> impl Iterator<Item = &'static Measure> {
        self.measures.iter().copied().filter(|measure| measure.is_compared())
    }

    /// Returns a case's label in this section.
    pub fn label(&self, work: &Work) -> String {
        match work {
            Work::Chain { relays: 1, .. } if self.id == "growth" => "1 relay".to_owned(),
            Work::Chain { relays, .. } if self.id == "growth" => format!("{relays} relays"),
            work => label(work),
        }
    }
}

fn label(work: &Work) -> String {
    let wait = |wait: &Wait| match wait {
        Wait::Poll => "polling",
        Wait::Sleep => "sleeping",
    };
    let pace = |rate: &Option<f64>| rate.map_or_else(String::new, |rate| format!(", {rate} Hz"));
    match work {
        Work::Chain { rate, .. } | Work::ProcessChain { rate, .. } | Work::ServiceChain { rate, .. } => {
            format!("{rate} Hz")
        }
        Work::PingPong { mode, wait: how, size: bytes, rate } => {
            let mode = match mode {
                Mode::Loan => "loan",
                Mode::Whole => "whole",
            };
            format!("{mode}, {}, {}{}", wait(how), size(*bytes as f64), pace(rate))
        }
        Work::Fanout { subscriptions: 1 } => "1 subscriber".to_owned(),
        Work::Fanout { subscriptions } => format!("{subscriptions} subscribers"),
        Work::Requests { wait: how, rate } => format!("{}{}", wait(how), pace(rate)),
        Work::Entities { path: Path::Intra, .. } => "one process".to_owned(),
        Work::Entities { path: Path::Shm, .. } => "two processes".to_owned(),
        Work::Throughput { size: bytes, .. } | Work::Latest { size: bytes } => size(*bytes as f64),
        Work::Big {} => "8 MB, 10 Hz".to_owned(),
        Work::Topology { name } if name == "mont_blanc" => "Mont Blanc".to_owned(),
        Work::Topology { name } if name == "sierra_nevada" => "Sierra Nevada".to_owned(),
        Work::Topology { name } => name.clone(),
    }
}

const fn measure(title: &'static str, key: &'static str, unit: Unit) -> Measure {
    Measure { title, key, p90: None, unit }
}

/// A figure with the P90 beside the P50.
const fn percentiles(title: &'static str) -> Measure {
    Measure { title, key: "p50_ns", p90: Some("p90_ns"), unit: Unit::Time }
}

static HOP: Measure = percentiles("time per hop");
static ONE_WAY: Measure = percentiles("time one way");
static DUE: Measure = measure("from the tick's due time to the sink, P50", "due_p50_ns", Unit::Time);
static DUE_P999: Measure = measure("from the tick's due time to the sink, P99.9", "due_p999_ns", Unit::Time);
static DUE_MAX: Measure =
    measure("from the tick's due time to the sink, longest of a round", "due_max_ns", Unit::Time);
static FIRST: Measure = measure("a process's first message, the whole way", "first_ns", Unit::Time);
static TRIP: Measure = measure("round trip per hop", "roundtrip_p50_ns", Unit::Time);
static PUBLISH: Measure = measure("in publish", "publish_p50_ns", Unit::Time);
static WRITE: Measure = measure("a write", "publish_p50_ns", Unit::Time);
static READ: Measure = percentiles("a read");
static AGE: Measure = measure("age of what was read", "age_p50_ns", Unit::Time);
static LAST: Measure = percentiles("until the last has it");
static THERE: Measure = percentiles("until it is there");
static CREATE: Measure = measure("creating a pair", "create_ns_per_pair", Unit::Time);
static CREATE_CPU: Measure = measure("CPU time of a pair", "create_cpu_ns_per_pair", Unit::Time);
static PAIR: Measure = measure("memory of a pair", "rss_bytes_per_pair", Unit::Bytes);
static RATE: Measure = measure("messages a second", "messages_per_second", Unit::PerSecond);
static MEAN: Measure = measure("mean latency", "mean_ns", Unit::Time);
static P99: Measure = measure("P99", "p99_ns", Unit::Time);
/// CPU of all processes.
pub static CPU: Measure = measure("CPU", "cpu_percent", Unit::Percent);
/// Memory of the processes.
pub static MEMORY: Measure = measure("memory", "rss_bytes", Unit::Bytes);

/// Returns all sections, in the report's order.
#[expect(clippy::too_many_lines, reason = "a table")]
pub fn sections() -> Vec<Section> {
    let whole = |size| Work::PingPong { mode: Mode::Whole, wait: Wait::Poll, size, rate: None };
    let loan = |size| Work::PingPong { mode: Mode::Loan, wait: Wait::Poll, size, rate: None };
    let asleep = |mode, size, rate| Work::PingPong { mode, wait: Wait::Sleep, size, rate };
    let rates = [(10.0, 1.5), (100.0, 0.7), (1000.0, 0.4)];
    vec![
        Section {
            id: "chain",
            scenario: "chain",
            title: "A chain of ten relays in one process",
            about: "A source publishes 16 bytes on a timer, ten relays pass them on, a sink takes \
                    the time: what is shown is that time divided by the eleven hops. Each relay is \
                    a node, and each hop a topic of its own. Sinew's executor, when it wakes, \
                    fetches into the cache what its last burst used, before the timer's callback \
                    takes the stamp: the time per hop is without that. The second figure, from the \
                    tick's due time to the sink, holds it, with the wake-up; it is the whole time, \
                    not divided by the hops. The third is the time of a round's first message, \
                    which is that of its process, from the source to the sink.",
            measures: vec![&HOP, &DUE, &FIRST],
            cases: rates
                .map(|(rate, seconds)| case(Work::Chain { relays: 10, rate }, seconds, rate > 10.0))
                .into(),
            axis: Some(Axis::Rate),
        },
        Section {
            id: "growth",
            scenario: "growth",
            title: "How the chain's cost grows with its nodes",
            about: "The same chain at 100 Hz with 1, 10, 100 and 1000 relays. A hop should cost \
                    the same in a large system as in a small one. The time per hop is without what \
                    Sinew's executor fetches when it wakes, before the timer's callback takes the \
                    stamp; from the tick's due time to the sink (the whole time, not divided) \
                    holds it, with the wake-up.",
            measures: vec![&HOP, &DUE, &CPU, &MEMORY],
            cases: [1, 10, 100, 1000]
                .map(|relays| case(Work::Chain { relays, rate: 100.0 }, 0.7, relays < 1000))
                .into(),
            axis: Some(Axis::Relays),
        },
        Section {
            id: "tails",
            scenario: "tails",
            title: "The chain's longest times, while one core is busy",
            about: "The chain of ten relays at 1000 Hz, for 30 s in each round (if `--seconds` \
                    isn't given), while a thread of another process copies 8 MB again and again on \
                    the last core: from the tick's due time to the sink, with the wake-up. No \
                    thread has a priority. In 30 s, 27 messages are above the P99.9.",
            measures: vec![&DUE, &DUE_P999, &DUE_MAX, &CPU],
            cases: vec![Case { loaded: true, ..case(Work::Chain { relays: 10, rate: 1000.0 }, 30.0, true) }],
            axis: None,
        },
        Section {
            id: "process-chain",
            scenario: "process-chain",
            title: "The same chain over two processes",
            about: "Every hop goes from one process into the other, and both sleep until a message \
                    comes: most of the time is the kernel's waking.",
            measures: vec![&HOP],
            cases: rates
                .map(|(rate, seconds)| case(Work::ProcessChain { relays: 10, rate }, seconds, rate > 100.0))
                .into(),
            axis: Some(Axis::Rate),
        },
        Section {
            id: "service-chain",
            scenario: "service-chain",
            title: "A chain of services in one process",
            about: "A client calls the first of eleven servers, each calls the next before it \
                    answers: the time from the call to the last server's start, divided by the \
                    servers; and the round trip, halved and divided alike.",
            measures: vec![&HOP, &TRIP],
            cases: rates
                .map(|(rate, seconds)| case(Work::ServiceChain { relays: 10, rate }, seconds, rate > 100.0))
                .into(),
            axis: Some(Axis::Rate),
        },
        Section {
            id: "pingpong-loan",
            scenario: "pingpong",
            title: "Ping-pong of loans, polling",
            about: "Two processes on two cores, a message forth and one back, of which only the \
                    first 8 bytes are touched: what handing over costs. A copy would show by its \
                    size.",
            measures: vec![&ONE_WAY],
            cases: SIZES.map(|(size, quick)| case(loan(size), 0.3, quick)).into(),
            axis: Some(Axis::Size),
        },
        Section {
            id: "pingpong-whole",
            scenario: "pingpong",
            title: "Ping-pong of whole messages, polling",
            about: "The same, but the sender writes all of the message and the receiver reads all \
                    of it: from before the first byte is written until the last one has been \
                    read.",
            measures: vec![&ONE_WAY],
            cases: SIZES.map(|(size, quick)| case(whole(size), 0.3, quick)).into(),
            axis: Some(Axis::Size),
        },
        Section {
            id: "pingpong-sleep",
            scenario: "pingpong",
            title: "Ping-pong, sleeping",
            about: "Both sides sleep until a message comes, back to back and 100 times a second: \
                    what counts is how few system calls are made besides the wake-up that the \
                    kernel needs. `floor wake` is the wake-up alone, by a futex in shared memory: \
                    the kernel wakes the reader of a pipe or a socket sooner.",
            measures: vec![&ONE_WAY],
            cases: vec![
                case(asleep(Mode::Loan, 64, None), 0.3, true),
                case(asleep(Mode::Loan, 64, Some(100.0)), 0.7, false),
                case(asleep(Mode::Whole, 64 << 10, None), 0.3, false),
                case(asleep(Mode::Whole, 1 << 20, None), 0.3, false),
            ],
            axis: None,
        },
        Section {
            id: "fanout",
            scenario: "fanout",
            title: "One publisher, many subscribers",
            about: "One publisher at 100 Hz, all its subscribers in one other process that polls: \
                    the time inside publish, and until the last subscriber has the message.",
            measures: vec![&PUBLISH, &LAST],
            cases: [1, 8, 32]
                .map(|subscriptions| case(Work::Fanout { subscriptions }, 0.7, subscriptions != 8))
                .into(),
            axis: Some(Axis::Subscribers),
        },
        Section {
            id: "requests",
            scenario: "requests",
            title: "Request and response between two processes",
            about: "A client in one process, a server in another, 16 bytes each way: half a round \
                    trip, so that it compares with a message one way. Where they poll, Sinew's and \
                    iceoryx2's programs take requests and answers by hand in a loop.",
            measures: vec![&ONE_WAY],
            cases: vec![
                case(Work::Requests { wait: Wait::Poll, rate: None }, 0.3, true),
                case(Work::Requests { wait: Wait::Sleep, rate: None }, 0.3, true),
                case(Work::Requests { wait: Wait::Sleep, rate: Some(100.0) }, 0.7, false),
            ],
            axis: None,
        },
        Section {
            id: "entities",
            scenario: "entities",
            title: "Creating publishers and subscriptions",
            about: "A hundred pairs, each on a topic of its own, until they know each other: the \
                    time to create a pair, the memory it takes, and the CPU time that all threads \
                    of all processes use meanwhile.",
            measures: vec![&CREATE, &PAIR, &CREATE_CPU],
            cases: [Path::Intra, Path::Shm]
                .map(|path| case(Work::Entities { pairs: 100, path }, 0.1, true))
                .into(),
            axis: None,
        },
        Section {
            id: "throughput-intra",
            scenario: "throughput",
            title: "Throughput in one process",
            about: "As many messages as one thread can send to another without losing one; each is \
                    written whole and read whole. `sinew` calls back in an executor; `sinew, take` \
                    takes messages in a loop.",
            measures: vec![&RATE],
            cases: flood(Path::Intra),
            axis: Some(Axis::Size),
        },
        Section {
            id: "throughput-shm",
            scenario: "throughput",
            title: "Throughput between two processes",
            about: "The same from one process to another. `sinew` takes messages in a loop that \
                    polls, as iceoryx2 does; sockets, pipes and zenoh sleep until there are \
                    messages, and so does `sinew, callback` in an executor.",
            measures: vec![&RATE],
            cases: flood(Path::Shm),
            axis: Some(Axis::Size),
        },
        Section {
            id: "latest",
            scenario: "latest",
            title: "The latest value",
            about: "One process writes a value as often as it can, another reads the newest one as \
                    often as it can. A read can be of the same value as the one before: how old \
                    that is, since its write began, is the third figure. Sinew writes a small \
                    value to a variable, and a large one in place, to a topic of depth 1.",
            measures: vec![&READ, &WRITE, &AGE],
            cases: [64, 64 << 10].map(|size| case(Work::Latest { size }, 0.3, true)).into(),
            axis: None,
        },
        Section {
            id: "big",
            scenario: "big",
            title: "An image of 8 MB, ten times a second",
            about: "A complete image goes to another process that sleeps: until that process has \
                    it, and the time inside publish. Copying it once takes the time of `floor \
                    copy`.",
            measures: vec![&THERE, &PUBLISH],
            cases: vec![case(Work::Big {}, 1.5, true)],
            axis: None,
        },
        Section {
            id: "topology",
            scenario: "topology",
            title: "Whole robots",
            about: "The graphs of iRobot's ROS 2 benchmark: Mont Blanc has 20 nodes, Sierra Nevada \
                    10, each publisher with a timer of its own, all in one process. The mean of \
                    all messages' latencies. What a callback publishes runs next, as with the \
                    others; `sinew, by time` is its default order, in which due timers come first.",
            measures: vec![&MEAN, &P99, &CPU],
            cases: ["mont_blanc", "sierra_nevada"]
                .map(|name| case(Work::Topology { name: name.to_owned() }, 6.0, name == "mont_blanc"))
                .into(),
            axis: None,
        },
    ]
}

/// The sizes of a ping-pong, and whether `--quick` includes them.
const SIZES: [(usize, bool); 6] =
    [(64, true), (4 << 10, true), (64 << 10, true), (256 << 10, false), (1 << 20, false), (8 << 20, false)];

fn flood(path: Path) -> Vec<Case> {
    [(64, true), (64 << 10, true), (1 << 20, false)]
        .map(|(size, quick)| case(Work::Throughput { size, path }, 0.4, quick))
        .into()
}

fn case(work: Work, seconds: f64, quick: bool) -> Case {
    Case { work, seconds, quick, loaded: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_place_on_its_axis() {
        for section in sections() {
            let has_place = |case: &Case| section.axis.is_none_or(|axis| axis.of(&case.work).is_some());
            assert!(section.cases.iter().all(has_place), "{}", section.id);
            assert!(section.cases.iter().any(|case| case.quick), "{}", section.id);
        }
    }

    #[test]
    fn cases_of_a_section_have_different_names() {
        for section in sections() {
            let mut names: Vec<_> = section.cases.iter().map(|case| section.label(&case.work)).collect();
            names.dedup();
            assert_eq!(names.len(), section.cases.len(), "{}", section.id);
        }
    }

    /// Ratios and rounds are stored under these names.
    #[test]
    fn figures_of_a_section_have_different_names() {
        for section in sections() {
            let keys: Vec<_> = section.measures.iter().flat_map(|measure| measure.keys()).collect();
            let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
            assert_eq!(distinct.len(), keys.len(), "{}: {keys:?}", section.id);
        }
    }
}
