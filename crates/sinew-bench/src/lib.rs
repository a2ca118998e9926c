//! `sinew bench`: the cost of Sinew, beside the limits of the machine itself.
//!
//! [`run()`] measures a scenario. The means of measuring are separate modules, so that other
//! libraries are measured in the same way: [`rounds`] in turns, [`pacing`], [`samples`] and
//! [`histogram`]s, other [`process`]es, [`machine`] and [`clock`], [`report`]s and [`table`]s.

pub mod arrivals;
mod big;
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
mod sink;
pub mod table;
mod throughput;
mod timer;
pub mod topology;
mod workers;

pub use error::Error;
pub use graph::TopologyError;
use options::{Output, Peer, Scenario, TimerOptions};
pub(crate) use payload::SIZES;
use progress::Progress;
use report::Row;
use roles::ROLES;
use sink::ResultSink;

/// Measures one scenario and reports it.
pub fn run(scenario: &Scenario) -> Result<(), Error> {
    match scenario {
        Scenario::Floors(output) => report(output, |progress| floors::measure(output.turns_or(2), progress)),
        Scenario::Chain(options) => report(&options.output, |progress| chain::measure(options, progress)),
        Scenario::ServiceChain(options) => {
            report(&options.output, |progress| service_chain::measure(options, progress))
        }
        Scenario::ProcessChain(options) => {
            report(&options.output, |progress| process_chain::measure(options, progress))
        }
        Scenario::PingPong(options) => {
            report(&options.output, |progress| pingpong::measure(options, progress))
        }
        Scenario::Big(options) => report(&options.output, |progress| big::measure(options, progress)),
        Scenario::Throughput(options) => {
            report(&options.output, |progress| throughput::measure(options, progress))
        }
        Scenario::Pipeline(options) => {
            report(&options.output, |progress| pipeline::measure(options, progress))
        }
        Scenario::Topology(options) => {
            report(&options.output, |progress| topology::measure(options, progress))
        }
        Scenario::Entities(options) => {
            report(&options.output, |progress| entities::measure(options, progress))
        }
        Scenario::Fanout(options) => report(&options.output, |progress| fanout::measure(options, progress)),
        Scenario::Latest(options) => report(&options.output, |progress| latest::measure(options, progress)),
        Scenario::Timer(TimerOptions { output }) => {
            report(output, |progress| timer::measure(output.turns_or(10), progress))
        }
        Scenario::Workers(options) => report(&options.output, |progress| workers::measure(options, progress)),
        #[cfg(feature = "gateway")]
        Scenario::Net(options) => report(&options.output, |progress| net::measure(options, progress)),
        Scenario::Peers(_) => peers::run(),
    }
}

/// Plays the role of another process of a measurement.
pub fn serve(peer: &Peer) -> Result<(), Error> {
    process::serve(peer, ROLES)
}

fn report(
    output: &Output,
    measure: impl FnOnce(&mut Progress) -> Result<Vec<Row>, Error>,
) -> Result<(), Error> {
    let sink = ResultSink::open(output.json.as_deref())?;
    let mut progress = Progress::to_stderr();
    let rows = measure(&mut progress)?;
    drop(progress);
    sink.write(&rows)
}
