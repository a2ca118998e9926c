//! `sinew bench`: what Sinew costs, beside what the machine itself allows.

pub(crate) mod big;
mod chain;
pub(crate) mod entities;
pub(crate) mod fanout;
pub(crate) mod floors;
pub(crate) mod histogram;
mod messages;
mod payload;
mod picture;
pub(crate) mod pingpong;
pub(crate) mod pipeline;
pub(crate) mod process;
pub(crate) mod process_chain;
mod progress;
mod report;
mod rounds;
pub(crate) mod run;
pub(crate) mod samples;
mod sequence;
pub(crate) mod service_chain;
pub(crate) mod table;
pub(crate) mod throughput;
mod timer;
pub(crate) mod topology;
mod workers;

use crate::cli::{Output, Scenario, TimerOptions};
use crate::error::Error;
pub(crate) use payload::SIZES;
use progress::Progress;
use report::{Row, Sink};

/// Measures one scenario and reports it.
pub(crate) fn run(scenario: &Scenario) -> Result<(), Error> {
    match scenario {
        Scenario::Floors(output) => report(output, |progress| floors::measure(output.time_or(2), progress)),
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
        Scenario::Timer(TimerOptions { output }) => {
            report(output, |progress| timer::measure(output.time_or(10), progress))
        }
        Scenario::Workers(options) => report(&options.output, |progress| workers::measure(options, progress)),
    }
}

fn report(
    output: &Output,
    measure: impl FnOnce(&mut Progress) -> Result<Vec<Row>, Error>,
) -> Result<(), Error> {
    let sink = Sink::open(output.json.as_deref())?;
    let mut progress = Progress::new();
    let rows = measure(&mut progress)?;
    drop(progress);
    sink.write(&rows)
}
