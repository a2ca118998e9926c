//! The options for running a plan.

use std::path::PathBuf;
use std::time::Duration;

/// Options for running a plan.
///
/// ```
/// let options = sinew_launch::RunOptions { colours: true, ..Default::default() };
/// assert_eq!(options.domain, 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The domain in which the topics, services and nodes of processes are looked for.
    pub domain: u32,
    /// The directory of the domains; the default one if `None`.
    pub directory: Option<PathBuf>,
    /// Writes each event and each line of output as a JSON value on a line of its own.
    pub json: bool,
    /// Starts lines with a coloured name, and keeps colours in them.
    pub colours: bool,
    /// Draws the table of processes on the whole terminal, with the last lines of output below it.
    pub full_screen: bool,
    /// Period at which the table of processes with CPU and memory is written; only on request if
    /// `None`.
    pub table_every: Option<Duration>,
    /// A command line that calls [`keep`](super::keep) with two further arguments: it ends all
    /// processes if this one is killed. Without it, they continue to run then.
    pub keeper: Vec<String>,
}
