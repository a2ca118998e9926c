//! `bench peers`: Sinew beside other libraries. Those are a workspace of their own, so that their weight never enters the
//! product's build: this finds it and becomes its runner. What the runner is asked for is defined here, once for both.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;

use crate::error::Error;
use crate::options::seconds;
use crate::rounds::ROUNDS;

/// Options of `bench peers` and of `bench/peers/run`.
#[derive(Args, Clone, Debug)]
pub struct PeersOptions {
    /// Measure only that scenario; may be given several times.
    #[arg(long = "scenario", value_name = "NAME")]
    pub scenarios: Vec<String>,

    /// Measure only beside that peer, or that way to use one; may be given several times.
    #[arg(long = "peer", value_name = "NAME")]
    pub peers: Vec<String>,

    /// How often each side of a case is measured, in turns.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = ROUNDS)]
    pub rounds: u32,

    /// How long each side is measured in each round [default: 0.1 to 6, whatever the case needs].
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub seconds: Option<Duration>,

    /// For a first look: two rounds (or as many as --rounds says), tenths of seconds, a part of the sizes.
    #[arg(long)]
    pub quick: bool,

    /// How long a side may take for a round before it is ended [default: 30 and four times what it measures].
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub limit: Option<Duration>,

    /// Write the report as one HTML page to this file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the report as Markdown to this file; `-` is standard output, as if no file is named at all.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Write every figure, with the host's facts, to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the plots as SVG files to this directory (made if missing).
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,

    /// A program that takes part, as bench/peers/README.md says; may be given several times. Programs named `sinew-peer-*` in PATH
    /// take part without.
    #[arg(long = "adapter", value_name = "PATH")]
    pub adapters: Vec<PathBuf>,

    /// Name the peers, how each is used, and what can't be measured here and why; measure nothing.
    #[arg(long)]
    pub list: bool,

    /// Use the programs that are built, build none.
    #[arg(long)]
    pub no_build: bool,

    /// The program `sinew` to measure [default: this one, if it is a release build; else one that is built].
    #[arg(long, value_name = "PATH")]
    pub sinew: Option<PathBuf>,
}

/// Becomes the runner, with the options that this process was given.
pub(crate) fn run() -> Result<(), Error> {
    let options: Vec<_> = std::env::args_os().skip_while(|argument| argument != "peers").skip(1).collect();
    let here = std::env::current_dir().unwrap_or_default();
    let program = std::env::current_exe().ok();
    let runner = [Some(here.as_path()), program.as_deref()].into_iter().flatten().find_map(runner_above);
    let Some(runner) = runner else { return Err(Error::NoPeers { from: here }) };
    let mut command = Command::new(&runner);
    command.args(&options);
    let named = options.iter().any(|option| option.to_string_lossy().starts_with("--sinew"));
    if let (Some(program), false, false) = (program, named, cfg!(debug_assertions)) {
        command.arg("--sinew").arg(program);
    }
    Err(Error::File { action: "run", path: runner, source: command.exec() })
}

/// The runner of the checkout that `place` is in.
fn runner_above(place: &Path) -> Option<PathBuf> {
    place.ancestors().map(|above| above.join("bench/peers/run")).find(|runner| runner.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_is_found_from_anywhere_in_a_checkout() {
        let checkout = tempfile::tempdir().unwrap();
        let inside = checkout.path().join("target/release");
        std::fs::create_dir_all(&inside).unwrap();
        assert_eq!(runner_above(&inside), None);
        std::fs::create_dir_all(checkout.path().join("bench/peers")).unwrap();
        std::fs::write(checkout.path().join("bench/peers/run"), "").unwrap();
        assert_eq!(runner_above(&inside), Some(checkout.path().join("bench/peers/run")));
    }
}
