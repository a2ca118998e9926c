//! `sinew bench`: the cost of Sinew, beside the limits of the machine itself.
//!
//! [`run()`] measures the scenarios that users run, [`run_any`] all of them: their sides, Sinew and
//! the floors, take turns. What a scenario counts and times is in modules of its own, which also
//! measure other libraries (`bench/peers`): [`arrivals`], [`calls`], [`flood`], [`latest`],
//! [`news`], [`pairs`], [`rally`] and [`topology::seen`] make the [`report::Figures`] of a round.

pub mod arrivals;
mod bar;
mod big;
pub mod busy_core;
pub mod calls;
mod case;
mod chain;
pub mod clock;
mod entities;
mod error;
mod fanout;
pub mod flood;
mod floors;
pub mod graph;
pub mod histogram;
pub mod languages;
pub mod latest;
pub mod machine;
mod messages;
#[cfg(feature = "gateway")]
mod net;
pub mod news;
pub mod options;
pub mod pacing;
pub mod pairs;
mod part;
pub mod payload;
mod peers;
mod picture;
mod pingpong;
mod pipeline;
pub mod process;
mod process_chain;
pub mod progress;
pub mod rally;
pub mod report;
mod requests;
mod roles;
pub mod rounds;
pub mod run;
pub mod samples;
pub mod sequence;
mod service_chain;
mod sheet;
mod sink;
mod sweeper;
pub mod system;
mod table;
mod throughput;
mod timer;
pub mod topology;
pub mod units;
mod workers;

use case::AnyCase;
pub use error::Error;
pub use graph::TopologyError;
use options::{AnyScenario, Output, Peer, Scenario};
pub(crate) use payload::SIZES;
use progress::Progress;
use sink::ResultSink;

// What scenarios are written with.
pub(crate) use arrivals::Arrivals;
pub(crate) use case::{Case, Ground, one};
pub(crate) use clock::{nanoseconds, now_ns, sleep_until};
pub(crate) use floors::Floor;
pub(crate) use news::Heard;
pub(crate) use pacing::{Ticks, Window, on_own_thread, ticks, warm_up};
pub(crate) use part::{MultiProcess, Part};
pub(crate) use process::{Directory, Measuring, Process, Work};
pub(crate) use report::{Figures, Settings};
pub(crate) use rounds::{Meter, Usage};
pub(crate) use run::{Collected, Run, executor, found, matched, shared_context, source, unmatched, waiting};
pub(crate) use samples::{Samples, Summary};
pub(crate) use sequence::Sequence;
pub(crate) use sheet::{Sheet, Side};

/// Measures one of the users' scenarios, and reports it.
pub fn run(scenario: &Scenario, output: &Output) -> Result<(), Error> {
    match scenario {
        Scenario::Languages(options) => {
            report("languages", 5, output, |sheet| languages::measure(options, sheet))
        }
        Scenario::Peers(_) => peers::run(),
        Scenario::Topology(case) if case.debug_node => {
            report("topology", 120, output, |sheet| topology::measure_with_debug_node(case, sheet))
        }
        Scenario::Topology(_) => measure(&scenario.cases(), &Output { rounds: 1, ..output.clone() }),
        scenario => measure(&scenario.cases(), output),
    }
}

/// Measures any scenario, and reports it.
pub fn run_any(scenario: &AnyScenario, output: &Output) -> Result<(), Error> {
    match scenario {
        AnyScenario::OfUsers(scenario) => run(scenario, output),
        AnyScenario::Floors => report("floors", 2, output, |sheet| sheet.floors(floors::all())),
        #[cfg(feature = "gateway")]
        AnyScenario::Net(options) => report("net", 10, output, |sheet| net::measure(options, sheet)),
        scenario => measure(&scenario.cases(), output),
    }
}

/// Measures the cases of a scenario, and reports them.
fn measure(cases: &[AnyCase], output: &Output) -> Result<(), Error> {
    let Some(AnyCase { scenario, seconds, .. }) = cases.first() else { return Ok(()) };
    report(scenario, *seconds, output, |sheet| {
        let ground = Ground::default();
        cases.iter().try_for_each(|case| sheet.case(case, &ground))
    })
}

/// Plays the role of another process of one of the users' scenarios.
pub fn serve(peer: &Peer) -> Result<(), Error> {
    process::serve(peer, roles::OF_USERS)
}

/// Plays the role of another process of any scenario.
pub fn serve_any(peer: &Peer) -> Result<(), Error> {
    process::serve(peer, &[roles::OF_USERS, roles::OTHERS].concat())
}

/// Opens the files of results, measures, and writes the results. `seconds` is the default time of
/// each row.
fn report(
    scenario: &'static str,
    seconds: u64,
    output: &Output,
    measure: impl FnOnce(&mut Sheet) -> Result<(), Error>,
) -> Result<(), Error> {
    let sink = ResultSink::open(output.json.as_deref())?;
    let mut sheet = Sheet::new(scenario, output.turns_or(seconds), Progress::to_stderr());
    measure(&mut sheet)?;
    let (rows, bars) = sheet.into_results();
    sink.write(&rows, &bars)
}
