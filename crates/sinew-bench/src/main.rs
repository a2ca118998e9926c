//! `sinew-bench`: all benchmarks, for developers of Sinew. `sinew bench` has those that users run.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind as LineError;
use clap::{CommandFactory as _, Parser, Subcommand};
use sinew_bench::Error;
use sinew_bench::options::{AnyScenario, Peer};

#[derive(Debug, Parser)]
#[command(name = "sinew-bench", version, about = "The cost of Sinew, beside the limits of the machine")]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Scenario(AnyScenario),
    /// Another process of a benchmark.
    #[command(hide = true)]
    Peer(Peer),
}

fn main() -> ExitCode {
    let outcome = match Line::parse().command {
        Command::Scenario(scenario) => {
            if let Err(sentence) = scenario.check() {
                Line::command().error(LineError::ArgumentConflict, sentence).exit();
            }
            sinew_bench::run_any(&scenario)
        }
        Command::Peer(peer) => sinew_bench::serve_any(&peer),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output went away (`sinew-bench .. | head`): no failure.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "sinew-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
