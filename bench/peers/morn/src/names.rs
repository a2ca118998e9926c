//! Names that no other run has. Morn keeps a file for each, which a killed process leaves behind: a
//! process that outlives the run removes them ([`Sweeper`]).

use std::fs;
use std::path::PathBuf;

use harness::{Result, Sweeper, now_ns};

/// The beginning of all names.
const PREFIX: &str = "sinew-morn-";

/// The names of a run, which are the run's with an ending. Drop it last.
pub struct Names {
    run: String,
    _sweeper: Sweeper,
}

impl Names {
    /// Makes names for a run.
    pub fn create() -> Result<Self> {
        let run = format!("{PREFIX}{}-{:x}", std::process::id(), now_ns());
        let sweeper = Sweeper::start(["sweep", &run])?;
        Ok(Self { run, _sweeper: sweeper })
    }

    /// Returns the text of which other processes make the names.
    pub fn run(&self) -> &str {
        &self.run
    }
}

/// Removes the files of a run; fails if there were any, as more may come. The two files of variables
/// belong to all programs that use Morn, and stay.
pub fn sweep(run: &str) -> Result<()> {
    let rest = run.strip_prefix(PREFIX).unwrap_or_default();
    let is_ours = rest.len() > 3 && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    anyhow::ensure!(is_ours, "{run:?} is no run of ours");
    let folders =
        ["/tmp/morn_topic", "/tmp/morn_message"].into_iter().filter_map(|path| fs::read_dir(path).ok());
    let files = folders.flatten().filter_map(|file| Some(file.ok()?.path()));
    let begin = format!(".{run}");
    let of_run = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(begin.as_bytes()))
    };
    let files: Vec<_> = files.filter(of_run).collect();
    files.iter().try_for_each(fs::remove_file)?;
    anyhow::ensure!(files.is_empty(), "there may be more");
    Ok(())
}
