//! `sinew bench`: the cost of Sinew, beside the limits of the machine itself.
//!
//! [`run()`] measures the scenarios that users run, [`run_any`] all of them: their sides, Sinew and the floors, take turns. What a scenario
//! counts and times is in modules of its own, which also measure other libraries (`bench/peers`):
//! [`arrivals`], [`calls`], [`flood`], [`latest`], [`news`], [`pairs`], [`rally`] and
//! [`topology::seen`] make the [`report::Figures`] of a round.

pub mod arrivals;
mod big;
pub mod calls;
mod chain;
pub mod clock;
mod entities;
mod error;
mod fanout;
pub mod flood;
mod floors;
pub mod graph;
pub mod histogram;
pub mod latest;
pub mod machine;
mod messages;
#[cfg(feature = "gateway")]
mod net;
pub mod news;
pub mod options;
pub mod pacing;
pub mod pairs;
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
mod roles;
pub mod rounds;
pub mod run;
pub mod samples;
pub mod sequence;
mod service_chain;
mod sheet;
mod sink;
mod sweeper;
mod table;
mod throughput;
mod timer;
pub mod topology;
pub mod units;
mod workers;

pub use error::Error;
pub use graph::TopologyError;
use options::{AnyScenario, Output, Peer, Scenario};
pub(crate) use payload::SIZES;
use progress::Progress;
use sheet::Sheet;
use sink::ResultSink;

/// Measures one of the users' scenarios, and reports it.
pub fn run(scenario: &Scenario) -> Result<(), Error> {
    match scenario {
        Scenario::Chain(options) => {
            report("chain", 10, &options.output, &|sheet| chain::measure(options, sheet))
        }
        Scenario::PingPong(options) => {
            report("pingpong", 2, &options.output, &|sheet| pingpong::measure(options, sheet))
        }
        Scenario::Throughput(options) => {
            report("throughput", 5, &options.output, &|sheet| throughput::measure(options, sheet))
        }
        Scenario::Topology(options) => {
            report("topology", 120, &options.output, &|sheet| topology::measure(options, sheet))
        }
        Scenario::Entities(options) => {
            report("entities", 1, &options.output, &|sheet| entities::measure(options, sheet))
        }
        Scenario::Peers(_) => peers::run(),
    }
}

/// Measures any scenario, and reports it.
pub fn run_any(scenario: &AnyScenario) -> Result<(), Error> {
    match scenario {
        AnyScenario::OfUsers(scenario) => run(scenario),
        AnyScenario::Floors(output) => report("floors", 2, output, &floors::measure),
        AnyScenario::ServiceChain(options) => {
            report("service-chain", 10, &options.output, &|sheet| service_chain::measure(options, sheet))
        }
        AnyScenario::ProcessChain(options) => {
            report("process-chain", 10, &options.output, &|sheet| process_chain::measure(options, sheet))
        }
        AnyScenario::Pipeline(options) => {
            report("pipeline", 10, &options.output, &|sheet| pipeline::measure(options, sheet))
        }
        AnyScenario::Fanout(options) => {
            report("fanout", 5, &options.output, &|sheet| fanout::measure(options, sheet))
        }
        AnyScenario::Big(options) => {
            report("big", 10, &options.output, &|sheet| big::measure(options, sheet))
        }
        AnyScenario::Latest(options) => {
            report("latest", 2, &options.output, &|sheet| latest::measure(options, sheet))
        }
        AnyScenario::Timer(output) => report("timer", 10, output, &timer::measure),
        AnyScenario::Workers(options) => {
            report("workers", 5, &options.output, &|sheet| workers::measure(options, sheet))
        }
        #[cfg(feature = "gateway")]
        AnyScenario::Net(options) => {
            report("net", 10, &options.output, &|sheet| net::measure(options, sheet))
        }
    }
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
    measure: &dyn Fn(&mut Sheet) -> Result<(), Error>,
) -> Result<(), Error> {
    let sink = ResultSink::open(output.json.as_deref())?;
    let mut sheet = Sheet::new(scenario, output.turns_or(seconds), Progress::to_stderr());
    measure(&mut sheet)?;
    sink.write(&sheet.into_rows())
}
