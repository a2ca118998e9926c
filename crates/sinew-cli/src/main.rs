//! The `sinew` command: inspection tools, a demonstration on real pictures, and the benchmarks.
//!
//! Exit codes: 0 success (also if the reader of the output closed it early), 1 failure, 2 invalid
//! command line. `launch` returns the codes of its processes instead of 1, `run` becomes the
//! program, and `action send_goal` has codes of its own for goals that haven't succeeded.

mod bag;
mod chart;
mod cli;
mod completion;
mod component;
mod demo;
mod doctor;
mod error;
mod gateways;
mod graph;
mod harmless;
mod images;
mod interfaces;
mod launch;
mod lifecycle;
mod log;
mod network;
mod observed;
mod output;
mod params;
mod picture;
mod plot;
mod problems;
mod similar;
mod svg;
mod terminal;
mod tf;
mod top;
mod view;

use std::io::Write as _;
use std::process::ExitCode;

use cli::{Cli, Command};

fn main() -> ExitCode {
    completion::answer_if_asked();
    let outcome = match Cli::read().command {
        Command::Demo(options) => demo::run(&options),
        Command::Bench(bench) => sinew_bench::run(&bench.scenario, &bench.output).map_err(error::Error::from),
        Command::Node(options) => graph::node(&options.command),
        Command::Topic(options) => graph::topic(&options.command),
        Command::Service(options) => graph::service(&options.command),
        Command::Action(options) => graph::action(&options.command),
        Command::Param(options) => params::run(&options.command),
        Command::Interface(options) => interfaces::run(&options.command),
        Command::Bag(options) => bag::run(&options.command),
        Command::View(options) => view::run(&options),
        Command::Log(options) => log::run(&options),
        Command::Lifecycle(options) => lifecycle::run(&options.command),
        Command::Tf(options) => tf::run(&options.command),
        Command::Graph(options) => picture::run(&options),
        Command::Top(options) => top::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Gateway(options) => network::gateway(&options),
        Command::Router(options) => network::router(&options),
        Command::Launch(options) => launch::launch(&options),
        Command::Run(options) => launch::run(&options),
        Command::Component(options) => component::run(&options.command),
        Command::LaunchKeeper(options) => {
            launch::keep(&options);
            Ok(())
        }
        Command::Completions(options) => output::print_bytes(&completion::script(options.shell)),
        Command::Peer(peer) => sinew_bench::serve(&peer).map_err(error::Error::from),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_output() => ExitCode::SUCCESS,
        Err(error::Error::Ended { code }) => ExitCode::from(code),
        Err(error) => {
            // If standard error is closed as well, there is no place left to report to.
            let error = harmless::lines(&error.to_string());
            let _ = writeln!(std::io::stderr(), "sinew: {error}");
            ExitCode::FAILURE
        }
    }
}
