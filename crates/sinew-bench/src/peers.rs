//! `bench peers`: Sinew beside other libraries. These are a workspace of their own, so that their
//! dependencies never enter the product's build: this module finds the workspace and becomes its
//! runner. The runner's options are [`PeersOptions`], defined once for both.
//!
//! [`PeersOptions`]: crate::options::PeersOptions

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// Replaces this process by the runner, with the same options.
pub(crate) fn run() -> Result<(), Error> {
    let mut options: Vec<_> = std::env::args_os().skip(1).collect();
    // Options may also precede the scenario.
    let (bench, peers) = (place(&options, "bench").map_or(0, |bench| bench + 1), place(&options, "peers"));
    peers.map(|peers| options.remove(peers));
    options.drain(..bench);
    let here = std::env::current_dir().unwrap_or_default();
    let program = std::env::current_exe().ok();
    let runner = [Some(here.as_path()), program.as_deref()].into_iter().flatten().find_map(runner_above);
    let Some(runner) = runner else { return Err(Error::NoPeers { from: here }) };
    let failed = Command::new(&runner).args(&options).exec();
    Err(Error::File { action: "run", path: runner, source: failed })
}

fn place(arguments: &[OsString], word: &str) -> Option<usize> {
    arguments.iter().position(|argument| argument == word)
}

/// Returns the runner of the checkout that contains `place`.
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
