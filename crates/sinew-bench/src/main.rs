//! `sinew-bench`: all benchmarks, for developers of Sinew. `sinew bench` has those that users run.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind as LineError;
use clap::{CommandFactory as _, Parser, Subcommand};
use sinew_bench::Error;
use sinew_bench::options::{AnyScenario, Output, Peer};

#[derive(Debug, Parser)]
#[command(name = "sinew-bench", version, about = "The cost of Sinew, beside the limits of the machine")]
struct Line {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Scenario(AnyScenario),
    /// One round of one case, given as JSON: {"scenario": "chain", "rate": 100}. Answers with the
    /// figures, as JSON.
    Run {
        /// The scenario, and its options; an option that isn't there has its default.
        case: String,
        /// The way to use Sinew, or `floor` [default: sinew].
        #[arg(long)]
        system: Option<String>,
    },
    /// The systems of `run`, as JSON.
    Systems,
    /// Another process of a benchmark.
    #[command(hide = true)]
    Peer(Peer),
}

/// The exit code for a case that a system doesn't have.
const NO_PART: u8 = 3;

fn say(answer: &serde_json::Value) -> Result<(), Error> {
    writeln!(std::io::stdout(), "{answer}").map_err(Error::Output)
}

fn main() -> ExitCode {
    let Line { command, output } = Line::parse();
    let outcome = match command {
        Command::Scenario(scenario) => {
            if let Err(sentence) = scenario.check() {
                Line::command().error(LineError::ArgumentConflict, sentence).exit();
            }
            sinew_bench::run_any(&scenario, &output)
        }
        Command::Run { case, system } => match sinew_bench::system::run(&case, system.as_deref()) {
            Ok(None) => return ExitCode::from(NO_PART),
            Ok(Some(figures)) => say(&figures),
            Err(error) => Err(error),
        },
        Command::Systems => say(&sinew_bench::system::systems()),
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
