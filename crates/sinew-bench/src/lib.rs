//! `sinew bench`: the cost of Sinew, beside the limits of the machine itself.
//!
//! [`run()`] measures a scenario: its sides, Sinew and the floors, take turns. What a scenario
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
mod table;
mod throughput;
mod timer;
pub mod topology;
pub mod units;
mod workers;

pub use error::Error;
pub use graph::TopologyError;
use options::{Peer, Scenario};
pub(crate) use payload::SIZES;
use progress::Progress;
use roles::ROLES;
use sheet::Sheet;
use sink::ResultSink;

/// Measures one scenario and reports it.
pub fn run(scenario: &Scenario) -> Result<(), Error> {
    let (name, seconds, output) = match scenario {
        Scenario::Floors(output) => ("floors", 2, output),
        Scenario::Chain(options) => ("chain", 10, &options.output),
        Scenario::ServiceChain(options) => ("service-chain", 10, &options.output),
        Scenario::ProcessChain(options) => ("process-chain", 10, &options.output),
        Scenario::PingPong(options) => ("pingpong", 2, &options.output),
        Scenario::Pipeline(options) => ("pipeline", 10, &options.output),
        Scenario::Topology(options) => ("topology", 120, &options.output),
        Scenario::Entities(options) => ("entities", 1, &options.output),
        Scenario::Fanout(options) => ("fanout", 5, &options.output),
        Scenario::Big(options) => ("big", 10, &options.output),
        Scenario::Throughput(options) => ("throughput", 5, &options.output),
        Scenario::Latest(options) => ("latest", 2, &options.output),
        Scenario::Timer(output) => ("timer", 10, output),
        Scenario::Workers(options) => ("workers", 5, &options.output),
        #[cfg(feature = "gateway")]
        Scenario::Net(options) => ("net", 10, &options.output),
        Scenario::Peers(_) => return peers::run(),
    };
    let sink = ResultSink::open(output.json.as_deref())?;
    let mut sheet = Sheet::new(name, output.turns_or(seconds), Progress::to_stderr());
    measure(scenario, &mut sheet)?;
    sink.write(&sheet.into_rows())
}

fn measure(scenario: &Scenario, sheet: &mut Sheet) -> Result<(), Error> {
    match scenario {
        Scenario::Floors(_) => floors::measure(sheet),
        Scenario::Chain(options) => chain::measure(options, sheet),
        Scenario::ServiceChain(options) => service_chain::measure(options, sheet),
        Scenario::ProcessChain(options) => process_chain::measure(options, sheet),
        Scenario::PingPong(options) => pingpong::measure(options, sheet),
        Scenario::Pipeline(options) => pipeline::measure(options, sheet),
        Scenario::Topology(options) => topology::measure(options, sheet),
        Scenario::Entities(options) => entities::measure(options, sheet),
        Scenario::Fanout(options) => fanout::measure(options, sheet),
        Scenario::Big(options) => big::measure(options, sheet),
        Scenario::Throughput(options) => throughput::measure(options, sheet),
        Scenario::Latest(options) => latest::measure(options, sheet),
        Scenario::Timer(_) => timer::measure(sheet),
        Scenario::Workers(options) => workers::measure(options, sheet),
        #[cfg(feature = "gateway")]
        Scenario::Net(options) => net::measure(options, sheet),
        Scenario::Peers(_) => peers::run(),
    }
}

/// Plays the role of another process of a measurement.
pub fn serve(peer: &Peer) -> Result<(), Error> {
    process::serve(peer, ROLES)
}
