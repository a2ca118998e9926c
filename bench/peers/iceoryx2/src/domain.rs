//! A place of its own for each run: a prefix for its shared memory and a directory for its other
//! files. A process that outlives the run, the *sweeper*, removes both when the pipe between them
//! is closed, however the run ended.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use harness::{Result, now_ns};
use iceoryx2::prelude::{Config, FileName, Node, NodeBuilder, SemanticString, Service, SignalHandlingMode};

/// How all our names begin.
const PREFIX: &str = "sinew-iox2-";

/// Where iceoryx2 has its shared memory, and where it has its other files unless told otherwise.
const MEMORY: &str = "/dev/shm";
const FILES: &str = "/tmp";

/// For how long the sweeper looks whether a process that ends still adds files.
const LEAVING: Duration = Duration::from_millis(500);

/// The place of a run. Drop it last.
pub struct Domain {
    name: String,
    sweeper: Child,
}

impl Domain {
    /// Makes one that no other run has.
    pub fn create() -> Result<Self> {
        let name = format!("{PREFIX}{}-{:x}", std::process::id(), now_ns());
        let sweeper = sinew_bench::process::ourselves()
            .args(["sweep", &name])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .context("the process that clears up can't be started")?;
        Ok(Self { name, sweeper })
    }

    /// What other processes join it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A node in it.
    pub fn node<S: Service>(&self) -> Result<Node<S>> {
        node(&self.name)
    }

    /// What its files take, shared memory included. Holes don't count.
    pub fn bytes(&self) -> Result<u64> {
        let shared = of_run(&self.name)?.into_iter().filter_map(|path| path.metadata().ok());
        let shared = shared.map(|metadata| metadata.blocks() * 512).sum::<u64>();
        Ok(shared + sinew_bench::machine::bytes_in(&files(&self.name))?)
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        drop(self.sweeper.stdin.take());
        // Its exit code says nothing that could be mended here.
        let _ = self.sweeper.wait();
    }
}

/// A node in the domain of that name.
pub fn node<S: Service>(name: &str) -> Result<Node<S>> {
    let mut config = Config::default();
    let directory = files(name);
    let root = iceoryx2::prelude::Path::new(directory.as_os_str().as_encoded_bytes())?;
    config.global.set_root_path(&root);
    config.global.prefix = FileName::new(format!("{name}_").as_bytes())?;
    // Ctrl-C ends a run at once: the sweeper clears up.
    let builder = NodeBuilder::new().config(&config).signal_handling_mode(SignalHandlingMode::Disabled);
    Ok(builder.create::<S>()?)
}

fn files(name: &str) -> PathBuf {
    Path::new(FILES).join(name)
}

/// The shared memory of a run.
fn of_run(name: &str) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(MEMORY).with_context(|| format!("can't look into {MEMORY}"))?;
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let begins = |path: &PathBuf| {
        path.file_name().is_some_and(|file| file.as_encoded_bytes().starts_with(name.as_bytes()))
    };
    Ok(files.filter(begins).collect())
}

/// If this process was started as a sweeper: waits until the run has ended, and removes what it
/// left.
pub fn sweeper() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != "sweep" {
        return None;
    }
    let name = arguments.next().filter(|name| {
        name.strip_prefix(PREFIX).is_some_and(|rest| {
            rest.len() > 3 && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        })
    })?;
    // What ends the wait doesn't matter.
    let _ = std::io::stdin().read(&mut [0]);
    let until = now_ns() + sinew_bench::clock::nanoseconds(LEAVING);
    while sweep(&name).is_err() && now_ns() < until {
        sinew_bench::clock::sleep_until(now_ns() + 20_000_000);
    }
    Some(ExitCode::SUCCESS)
}

/// Removes what there is; fails if there was something, which may not be the last of it.
fn sweep(name: &str) -> Result<()> {
    let shared = of_run(name)?;
    shared.iter().try_for_each(fs::remove_file)?;
    let directory = files(name);
    let had_files = directory.exists();
    if had_files {
        fs::remove_dir_all(&directory)?;
    }
    anyhow::ensure!(shared.is_empty() && !had_files, "there may be more");
    Ok(())
}
