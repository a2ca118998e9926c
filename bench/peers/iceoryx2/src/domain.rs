//! A separate domain for each run: a prefix for its shared memory and a directory for its other
//! files. A process that outlives the run removes both ([`Sweeper`]).

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use harness::{Result, Sweeper, now_ns};
use iceoryx2::prelude::{Config, FileName, Node, NodeBuilder, SemanticString, Service, SignalHandlingMode};

/// The prefix of all names.
const PREFIX: &str = "sinew-iox2-";

/// The directories of iceoryx2's shared memory, and, by default, of its other files.
const MEMORY: &str = "/dev/shm";
const FILES: &str = "/tmp";

/// The domain of a run. Drop it last.
pub struct Domain {
    name: String,
    _sweeper: Sweeper,
}

impl Domain {
    /// Creates a domain that no other run has.
    pub fn create() -> Result<Self> {
        let name = format!("{PREFIX}{}-{:x}", std::process::id(), now_ns());
        // First the sweeper, then the files that it removes.
        let sweeper = Sweeper::start(["sweep", &name])?;
        Ok(Self { name, _sweeper: sweeper })
    }

    /// Returns the name by which other processes join it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates a node in it.
    pub fn node<S: Service>(&self) -> Result<Node<S>> {
        node(&self.name)
    }

    /// Bytes of its files, including shared memory. Holes don't count.
    pub fn bytes(&self) -> Result<u64> {
        let shared = of_run(&self.name)?.into_iter().filter_map(|path| path.metadata().ok());
        let shared = shared.map(|metadata| metadata.blocks() * 512).sum::<u64>();
        Ok(shared + sinew_bench::machine::bytes_in(&files(&self.name))?)
    }
}

/// Creates a node in the domain of that name.
pub fn node<S: Service>(name: &str) -> Result<Node<S>> {
    let mut config = Config::default();
    let directory = files(name);
    let root = iceoryx2::prelude::Path::new(directory.as_os_str().as_encoded_bytes())?;
    config.global.set_root_path(&root);
    config.global.prefix = FileName::new(format!("{name}_").as_bytes())?;
    // Ctrl-C ends a run at once: the sweeper removes its files.
    let builder = NodeBuilder::new().config(&config).signal_handling_mode(SignalHandlingMode::Disabled);
    Ok(builder.create::<S>()?)
}

fn files(name: &str) -> PathBuf {
    Path::new(FILES).join(name)
}

/// Finds the shared memory of a run.
fn of_run(name: &str) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(MEMORY).with_context(|| format!("can't look into {MEMORY}"))?;
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    let begins = |path: &PathBuf| {
        path.file_name().is_some_and(|file| file.as_encoded_bytes().starts_with(name.as_bytes()))
    };
    Ok(files.filter(begins).collect())
}

/// Removes all files; fails if there were any, as more may come.
pub fn sweep(name: &str) -> Result<()> {
    let rest = name.strip_prefix(PREFIX).unwrap_or_default();
    let is_ours = rest.len() > 3 && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    anyhow::ensure!(is_ours, "{name:?} is no run of ours");
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
