//! The reasons why a run fails.

use std::io;
use std::path::PathBuf;

sinew::__debug_says!(RunError);

/// The reason why a plan can't be run, or why the run ended early. Processes that had been started
/// have been ended.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A system call failed that works on any supported machine.
    #[error("{call} failed: {source}")]
    System {
        /// The call and its purpose.
        call: &'static str,
        /// The operating system's answer.
        source: io::Error,
    },

    /// The directory for the processes' output can't be created.
    #[error("can't make a directory for logs in {}: {source}; ROS_LOG_DIR names another place", path.display())]
    Logs {
        /// The directory around it.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },

    /// The directory for the processes' parameter files can't be created.
    #[error("can't make a directory for parameter files in {}: {source}; TMPDIR names another place", path.display())]
    Temporary {
        /// The directory around it.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },

    /// The topics, services and nodes of processes can't be looked for.
    #[error("can't look for the nodes, topics and services of processes: {0}")]
    Domain(#[from] sinew::error::SharedMemoryError),
}

pub(super) fn failed(call: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::System { call, source }
}
