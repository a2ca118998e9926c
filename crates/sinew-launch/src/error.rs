//! Errors in launch files, as one sentence each.

use std::io;
use std::path::PathBuf;

use crate::place::Place;

sinew::__debug_says!(LoadError, Problem);

/// The reason why a launch file can't be used. Nothing was started.
///
/// ```
/// use sinew_launch::{Options, load};
///
/// let directory = tempfile::tempdir()?;
/// let file = directory.path().join("robot.toml");
/// std::fs::write(&file, "[process.camera]\nprogam = \"camera\"\n")?;
/// let error = load(&file, &Options::default()).unwrap_err().to_string();
/// assert!(error.contains("robot.toml:2:1: a process has no `progam`; did you mean `program`?"), "{error}");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file can't be read.
    #[error("can't read the launch file {}: {source}", path.display())]
    Read {
        /// The path as it was given.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },

    /// An error in a file.
    #[error("{place}: {problem}")]
    At {
        /// The place of the error.
        place: Place,
        /// The error.
        problem: Box<Problem>,
    },

    /// The command line gives an argument that no file declares.
    #[error("no launch file has an argument `{name}`{similar}; `--show-args` lists them")]
    UnknownArgument {
        /// Its name.
        name: String,
        /// A suggestion, as the end of a sentence.
        similar: String,
    },
}

/// An error at a place in a launch file.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each field is named in its variant's sentence")]
pub enum Problem {
    /// The file is not valid TOML, XML or YAML.
    #[error("this is no {format}: {message}")]
    Syntax { format: &'static str, message: String },

    /// A key, attribute or element is unknown.
    #[error("{owner} has no `{key}`{similar}; it may have {known}")]
    UnknownKey { owner: String, key: String, similar: String, known: String },

    /// A setting of the file stands below `[arguments]`, and so would become an argument.
    #[error(
        "`{key}` would be an argument of the launch that nothing uses, as all that stands below `[arguments]`; to set it for the whole \
         file, write it above the first table, and an argument of that name is used as `$(var {key})`"
    )]
    SettingAmongArguments { key: String },

    /// A feature of ROS 2 that Sinew doesn't have.
    #[error("{what} isn't understood: {remedy}")]
    NotUnderstood { what: String, remedy: String },

    /// A required key is missing.
    #[error("{owner} needs `{key}`: {purpose}")]
    Missing { owner: String, key: &'static str, purpose: &'static str },

    /// A value is not allowed.
    #[error("`{key}` is {found}; {expected}")]
    Value { key: String, found: String, expected: String },

    /// A text has a character that no command line, environment or path can hold.
    #[error("a text has a character 0 in it, which no command line, variable or path can have")]
    Zero,

    /// A `$(..)` is malformed.
    #[error("in `{text}`: {message}")]
    Substitution { text: String, message: String },

    /// A variable doesn't exist.
    #[error("there is no argument or variable `{name}` here{similar}")]
    UnknownVariable { name: String, similar: String },

    /// An argument without a default isn't given.
    #[error("the argument `{name}` has no default: give it as `{name}:=VALUE` ({description})")]
    ArgumentMissing { name: String, description: String },

    /// An environment variable isn't set.
    #[error("the environment variable {name} isn't set, and there is no default: `$(env {name} DEFAULT)`")]
    NoVariable { name: String },

    /// A package doesn't exist.
    #[error("there is no package `{name}` on AMENT_PREFIX_PATH{similar} ({looked})")]
    NoPackage { name: String, similar: String, looked: String },

    /// A program doesn't exist.
    #[error("there is no program `{name}`{similar} ({looked})")]
    NoProgram { name: String, similar: String, looked: String },

    /// A program can't be executed.
    #[error("{} can't be executed: {reason}", path.display())]
    NotExecutable { path: PathBuf, reason: &'static str },

    /// A file or directory can't be used.
    #[error("can't {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },

    /// Includes are nested deeper than any robot needs, without a loop.
    #[error("files are included more than {deepest} deep: {chain}; include them side by side")]
    IncludeDepth { deepest: usize, chain: String },

    /// The plan would take too much memory or time.
    #[error("{what}; {remedy}")]
    TooMuch { what: String, remedy: &'static str },

    /// Files include each other.
    #[error("a loop: {chain}")]
    IncludeLoop { chain: String },

    /// Processes wait for each other.
    #[error("these processes wait for each other, so none would start: {chain}")]
    AfterLoop { chain: String },

    /// A process isn't in the file.
    #[error("there is no process `{name}` to wait for{similar}")]
    UnknownProcess { name: String, similar: String },

    /// A container isn't in the file.
    #[error(
        "there is no container whose node is called `{name}`{similar} (`sinew component load` loads nodes into one that runs already)"
    )]
    UnknownContainer { name: String, similar: String },

    /// Two processes would write the same log file.
    #[error(
        "`{name}` and `{other}` would write the same log file, {file}, in whose name each `/` becomes a `.`; rename one of them"
    )]
    LogTwice { name: String, other: String, file: String },

    /// A name is used twice.
    #[error("there are two {what} called `{name}`; the other is at {other}")]
    Twice { what: &'static str, name: String, other: Place },
}

impl Problem {
    /// Returns this problem as an error at its place.
    pub(crate) fn at(self, place: &Place) -> LoadError {
        LoadError::At { place: place.clone(), problem: Box::new(self) }
    }

    pub(crate) fn value(
        key: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Value { key: key.into(), found: found.into(), expected: expected.into() }
    }

    /// Returns `true` if it is a limit of the whole plan, so that no later item can succeed.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::TooMuch { .. } | Self::IncludeDepth { .. })
    }
}
