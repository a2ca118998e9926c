//! The contents of a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::place::Place;
use crate::supervisor::Policy;

/// The processes to be run, and the arguments of the files.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Plan {
    /// The processes in the order of the file; those of an include stand in its place.
    pub processes: Vec<Process>,
    /// The arguments of the files; those of includes follow those of the file.
    pub arguments: Vec<ArgumentInfo>,
}

/// An argument of a launch file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentInfo {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// The default as it is written; `None` if the argument has to be given.
    pub default: Option<String>,
    /// The value in this plan.
    pub value: Option<String>,
    /// A description for people; may be empty.
    pub description: String,
    /// The allowed values; any value if empty.
    pub choices: Vec<String>,
}

/// A process of a plan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Process {
    /// The process's name, with the names of the groups and includes around it: `front/camera`.
    /// Names are unique in a plan.
    pub name: String,
    /// The place where it is declared.
    pub place: Place,
    /// The executable file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<Word>,
    /// The whole environment, which processes share unless one of them has its own settings.
    pub environment: Arc<BTreeMap<String, String>>,
    /// The working directory; that of this process if `None`.
    pub directory: Option<PathBuf>,
    /// The destination of its output.
    pub output: Output,
    /// The rules for its supervisor.
    pub policy: Policy,
    /// The offers that must exist before processes that wait for this one start.
    pub ready: Vec<Offer>,
}

impl Process {
    /// Returns the name of its log file in the directory of the launch, if its output goes to one.
    pub(crate) fn log_file(&self) -> Option<String> {
        (self.output != Output::Screen).then(|| format!("{}.log", self.name.replace('/', ".")))
    }
}

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The word itself.
    Text(String),
    /// The path of a temporary file with this content.
    File(String),
}

/// The destination of a process's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Screen,
    /// A file; the process's standard error also goes to standard output.
    Log,
    /// Both.
    Both,
}

/// Something that a process offers to other processes, by its full name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// A server of that service.
    Service(String),
    /// A publisher of that topic.
    Topic(String),
    /// A node.
    Node(String),
}
