//! The ROS part of a command line: `--ros-args ... [--]`.
//!
//! The grammar is that of `rcl`, described in the design article "ROS Command Line Arguments" (on
//! design.ros2.org), so that launch files and habits carry over. One thing differs: a rule outside
//! `--ros-args`, which `rcl` obeys with a warning, belongs to the program here.

use super::parameters::{self, Block, NodePattern, Overrides, ParameterTextError};
use super::remap::{RemapError, RemapRules};
use super::similar::alike;
use super::unmatched::{NodeNames, Unmatched};
use crate::parameters::value::NamedValue;
use crate::sys::log_level::LogLevel;
use crate::sys::logging::{Outputs, level_of, logger_of, parse_level};
use crate::sys::sync::Arc;
use std::io::Read as _;

/// Begins the options for nodes; may occur several times.
const BEGIN: &str = "--ros-args";
/// Ends them; the rest belongs to the program again.
const END: &str = "--";

/// A command line, divided into the options for nodes and the program's own arguments.
///
/// Between `--ros-args` and `--` (or the end) these options are understood, in the form of ROS 2:
///
/// | option | effect |
/// |---|---|
/// | `-r FROM:=TO` | a topic or service called `FROM` is called `TO` |
/// | `-r __node:=NAME`, `-r __name:=NAME` | a node is called `NAME` |
/// | `-r __ns:=/NAMESPACE` | a node lives in `/NAMESPACE` |
/// | `--remap RULE` | the same as `-r RULE` |
/// | `--log-level LEVEL`, `--log-level LOGGER:=LEVEL` | level of [log lines]; see [`log_level`] |
/// | `-p NAME:=VALUE`, `--param NAME:=VALUE` | value of a node's parameter `NAME`, as in YAML |
/// | `--params-file FILE` | values of parameters, in the form of `docs/book/parameters.md` |
/// | `--enable-...`, `--disable-...`, with `rosout-logs`, `stdout-logs` or `external-lib-logs` | where [log lines](crate::logging) go: to `/rosout`, to the console, into a file; the last one counts |
/// | `--disable-hint-logs`, `--enable-hint-logs` | hints of nodes about what they [are missing] |
/// | `--log-file-name PREFIX` | the beginning of that file's name |
/// | `--help`, `-h` | see [`wants_help`](Self::wants_help) |
///
/// `NODE:` before a rule or a parameter restricts it to the node of that name: a rule takes its
/// name or its full name, a parameter its full name, in which `*` and `**` are wildcards.
/// `rostopic://` or `rosservice://` before `FROM` restricts a rule to topics or services. `FROM`
/// and `TO` are names as a node would write them (`image`, `/image`, `~/image`) and are expanded
/// for each node, so `image:=left/image` changes `/image` to `/left/image` for a node in the root
/// namespace. Only the first rule that matches is applied. Of several values for a parameter, from
/// files or not, the last one counts.
///
/// The default has no rules and no arguments.
///
/// [are missing]: crate::ContextBuilder::hints_after
/// [log lines]: crate#what-sinew-says
/// [`log_level`]: Self::log_level
///
/// ```
/// let arguments = sinew::Arguments::parse([
///     "camera", "--rate", "30", "--ros-args", "-r", "image:=left/image", "--", "file.yaml",
/// ])?;
/// assert_eq!(arguments.rest(), ["camera", "--rate", "30", "file.yaml"]);
/// # Ok::<(), sinew::error::ArgumentError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    rules: RemapRules,
    /// Loggers with their levels, in the order of the command line; the empty name is the default
    /// of all loggers.
    log_levels: Vec<(String, LogLevel)>,
    /// The values of `-p` and `--params-file`, in the order of the command line: the last one wins.
    parameters: Overrides,
    outputs: Outputs,
    no_rosout: bool,
    no_hints: bool,
    wants_help: bool,
    rest: Vec<String>,
}

/// A command line could not be parsed. `position` is the index of the argument at fault: the
/// program's name is 0.
///
/// ```
/// let error = sinew::Arguments::parse(["camera", "--ros-args", "-r"]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "option `-r` (argument 2) needs a value after it: a rule such as `image:=left/image`",
/// );
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the position is described above, the other fields at the variants")]
#[non_exhaustive]
pub enum ArgumentError {
    /// The command line ends, or the next option begins, where the value of `option` should be;
    /// `expected` is the kind of value.
    #[error("option `{option}` (argument {position}) needs a value after it: {expected}")]
    MissingValue { option: String, position: usize, expected: &'static str },

    /// ROS 2 has this option, Sinew doesn't yet.
    #[error("option `{option}` (argument {position}) is not supported yet; leave it out")]
    Unsupported { option: String, position: usize },

    /// This option is unknown.
    #[error(
        "option `{}` (argument {position}) is unknown; after `--ros-args` there can be `-r` (`--remap`), `-p` \
         (`--param`), `--params-file`, `--log-level`, `--help` and `--enable-...-logs` or `--disable-...-logs`, and the \
         program's own arguments follow a `--`",
        .option.escape_debug()
    )]
    UnknownOption { option: String, position: usize },

    /// A rule appears in place of an option.
    #[error("`{}` (argument {position}) is a rule without an option; write `-r` before it", .rule.escape_debug())]
    RuleWithoutOption { rule: String, position: usize },

    /// The value of `-p` isn't a name and a value.
    #[error(
        "parameter `{}` (argument {position}) has no `:=`; it is written like `rate:=30`",
        .parameter.escape_debug()
    )]
    ParameterWithoutValue { parameter: String, position: usize },

    /// The value of `--log-file-name` contains a directory.
    #[error(
        "log file name `{}` (argument {position}) has a `/`; it is the beginning of a name only: the directory is set with ROS_LOG_DIR",
        .prefix.escape_debug()
    )]
    LogFileName { prefix: String, position: usize },

    /// A rule after `-r` is invalid; `error` is the reason.
    #[error("argument {position}: {error}")]
    Remap { position: usize, error: RemapError },

    /// The value of `-p` can't be read, or the part before it is not a name.
    #[error("parameter `{}` (argument {position}) can't be read: {problem}", .parameter.escape_debug())]
    InvalidParameter { parameter: String, position: usize, problem: String },

    /// A parameter file can't be read. For an error in its text, `problem` has line and column.
    #[error("parameter file `{}` (argument {position}) can't be read: {problem}", .file.escape_debug())]
    ParameterFile { file: String, position: usize, problem: String },

    /// The value of `--log-level` isn't a level.
    #[error(
        "log level `{}` (argument {position}) is unknown; it is debug, info, warn, error or fatal, \
         or one of these for one logger, as in `camera:=debug`",
        .value.escape_debug()
    )]
    UnknownLogLevel { value: String, position: usize },
}

crate::sys::says::debug_says!(ArgumentError:
    MissingValue { option, position, expected }, Unsupported { option, position }, UnknownOption { option, position },
    RuleWithoutOption { rule, position }, Remap { position, error },
    UnknownLogLevel { value, position }, ParameterWithoutValue { parameter, position },
    InvalidParameter { parameter, position, problem }, ParameterFile { file, position, problem }, LogFileName { prefix, position });

impl Arguments {
    /// Parses a command line; the first item is the program's name, as in [`std::env::args`]. Also
    /// reads the parameter files that it names, and nothing else.
    ///
    /// # Errors
    ///
    /// An [`ArgumentError`] for the first argument between `--ros-args` and `--` that can't be
    /// honoured. Everything outside belongs to the program and is never an error.
    pub fn parse<I, S>(args: I) -> Result<Self, ArgumentError>
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut parsed = Self::default();
        let mut args = args.into_iter().map(Into::into);
        parsed.rest.extend(args.next());
        let args: Vec<String> = args.collect();

        let mut ours = false;
        let mut args = args.into_iter().zip(1..).peekable();
        while let Some((arg, position)) = args.next() {
            match arg.as_str() {
                BEGIN => ours = true,
                END if ours => ours = false,
                _ if !ours => parsed.rest.push(arg),
                // A value never begins with a dash: no name does, and no level.
                _ => parsed.option(arg, position, || args.next_if(|(next, _)| !next.starts_with('-')))?,
            }
        }
        Ok(parsed)
    }

    /// Returns the arguments that are not for the nodes, in their order, for the program's own
    /// parser: the program's name and everything outside `--ros-args ... --`.
    ///
    /// ```
    /// let arguments = sinew::Arguments::parse(["camera", "--rate", "30", "--ros-args", "-r", "__ns:=/robot"])?;
    /// assert_eq!(arguments.rest(), ["camera", "--rate", "30"]);
    /// # Ok::<(), sinew::error::ArgumentError>(())
    /// ```
    pub fn rest(&self) -> &[String] {
        &self.rest
    }

    /// Returns `true` if `--help` (`-h`) was among the nodes' options: `--ros-args --help`.
    /// [`Context::from_args`](crate::Context::from_args) then prints [`HELP`](Self::HELP) and ends
    /// the program. (A `--help` before `--ros-args` is the program's own.)
    pub fn wants_help(&self) -> bool {
        self.wants_help
    }

    /// A help text about the options that every node understands, also for a program's own
    /// `--help`.
    ///
    /// ```
    /// println!("Usage: camera [--rate HZ] [--ros-args ..]\n\n{}", sinew::Arguments::HELP);
    /// ```
    pub const HELP: &'static str = "\
Options for nodes, after `--ros-args` and up to `--` or the end:
  -r, --remap FROM:=TO          call the topic or service FROM TO
  -r, --remap __node:=NAME      call the node NAME
  -r, --remap __ns:=/NAMESPACE  put the node into /NAMESPACE
                                (NODE:RULE is for the node called NODE only; rostopic://FROM and
                                rosservice://FROM are for topics or services only)
      --log-level LEVEL         debug, info, warn, error or fatal; LOGGER:=LEVEL for one logger
      --disable-stdout-logs     no log lines on the console; also --disable-rosout-logs (/rosout),
                                --disable-external-lib-logs (files), and --enable-.. of each
      --disable-hint-logs       not a word of topics without a publisher, services without a
                                server, and options that match nothing
      --log-file-name PREFIX    how the log file's name begins (default: the program's name)
  -p, --param NAME:=VALUE       give the parameter NAME a value, as in YAML (NODE:NAME:=VALUE: of
                                the node with that full name only)
      --params-file FILE        give parameters the values in a YAML file
  -h, --help                    this text

Environment:
  SINEW_DOMAIN_ID, ROS_DOMAIN_ID  the domain, a number; others are never seen (default: 0)
  SINEW_LOG                       as --log-level, for all programs started with it
  SINEW_DIR                       where processes meet (default: /dev/shm/sinew-<uid>)
";

    /// Returns the rules that rename nodes, topics and services.
    pub(crate) fn remap_rules(&self) -> &RemapRules {
        &self.rules
    }

    /// Returns the values for the parameters of nodes.
    pub(crate) fn parameters(&self) -> &Overrides {
        &self.parameters
    }

    /// Returns the level that `--log-level` gives to `logger`: its own, else that of the closest
    /// logger above it (`robot` is above `robot.camera`), else the one without a name. Of several
    /// for one logger the last counts.
    ///
    /// Sinew's own lines on standard error follow it as soon as a context has these arguments. A
    /// program with its own logger for the `log` crate passes the level on to that: Sinew never
    /// changes a logger's level.
    ///
    /// ```
    /// use sinew::{Arguments, LogLevel};
    ///
    /// let line = ["camera", "--ros-args", "--log-level", "warn", "--log-level", "robot:=debug"];
    /// let arguments = Arguments::parse(line)?;
    /// assert_eq!(arguments.log_level("robot.camera"), Some(LogLevel::Debug));
    /// assert_eq!(arguments.log_level("planner"), Some(LogLevel::Warn));
    /// # Ok::<(), sinew::error::ArgumentError>(())
    /// ```
    pub fn log_level(&self, logger: &str) -> Option<LogLevel> {
        level_of(&self.log_levels, logger)
    }

    /// Returns all values of `--log-level`.
    pub(crate) fn log_levels(&self) -> &[(String, LogLevel)] {
        &self.log_levels
    }

    /// Returns the outputs for the process's log lines.
    pub(crate) fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    /// Returns `true` if log lines of the context's nodes go to `/rosout`.
    pub(crate) fn rosout_logs(&self) -> bool {
        !self.no_rosout
    }

    /// Marks options that other processes were given as well, listed by the program that started
    /// them in lines of `FROM:=TO` and `-p NAME`. Options that match nothing here may match there.
    pub(crate) fn are_shared(&mut self, options: &str) {
        let (parameters, rules): (Vec<&str>, Vec<&str>) =
            options.lines().partition(|line| line.starts_with("-p "));
        self.rules.are_shared(&rules);
        self.parameters.are_shared(&parameters.iter().map(|line| &line[3..]).collect::<Vec<_>>());
    }

    /// Returns `true` if nodes log hints about what they are missing.
    pub(crate) fn hint_logs(&self) -> bool {
        !self.no_hints
    }

    /// Returns the options that have matched nothing so far. `nodes`: all nodes of the context.
    pub(crate) fn unmatched(&self, nodes: &[NodeNames]) -> Vec<Unmatched> {
        let mut all = self.rules.unmatched(nodes);
        all.extend(self.parameters.unmatched(nodes));
        all.extend(self.log_levels.iter().filter_map(|(logger, _)| unmatched_logger(logger, nodes)));
        all
    }

    /// Returns `true` if it has options that nodes can match.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.is_empty() || !self.parameters.is_empty() || !self.log_levels.is_empty()
    }

    /// Returns `true` if the last value for that parameter, for any node, is true.
    pub(crate) fn is_parameter_true(&self, name: &str) -> bool {
        self.parameters.is_true(name)
    }

    /// Removes all values for that parameter.
    pub(crate) fn forget_parameter(&mut self, name: &str) {
        self.parameters.forget(name);
    }

    /// Adds one option after `--ros-args`; `value` returns the argument after it, if that can be
    /// its value.
    fn option(
        &mut self,
        option: String,
        position: usize,
        value: impl FnOnce() -> Option<(String, usize)>,
    ) -> Result<(), ArgumentError> {
        match option.as_str() {
            "-r" | "--remap" => {
                let expected = "a rule such as `image:=left/image`";
                let Some((rule, position)) = value() else {
                    return Err(ArgumentError::MissingValue { option, position, expected });
                };
                self.rules.push(&rule).map_err(|error| ArgumentError::Remap { position, error })?;
            }
            "--log-level" => {
                let expected = "a level such as `debug`, or `camera:=debug` for one logger";
                let Some((value, position)) = value() else {
                    return Err(ArgumentError::MissingValue { option, position, expected });
                };
                let level = parse_level(&value);
                self.log_levels.push(level.ok_or(ArgumentError::UnknownLogLevel { value, position })?);
            }
            "-p" | "--param" => {
                let expected = "a name and a value such as `rate:=30`";
                let Some((parameter, position)) = value() else {
                    return Err(ArgumentError::MissingValue { option, position, expected });
                };
                self.parameters.extend([parameter_of(parameter, position)?], None);
            }
            "--params-file" => {
                let expected = "the path of a file";
                let Some((file, position)) = value() else {
                    return Err(ArgumentError::MissingValue { option, position, expected });
                };
                let name: Arc<str> = file.as_str().into();
                self.parameters.extend(parameters_in(file, position)?, Some(&name));
            }
            "-h" | "--help" => self.wants_help = true,
            "--enable-rosout-logs" => self.no_rosout = false,
            "--disable-rosout-logs" => self.no_rosout = true,
            "--enable-hint-logs" => self.no_hints = false,
            "--disable-hint-logs" => self.no_hints = true,
            "--enable-stdout-logs" => self.outputs.console = true,
            "--disable-stdout-logs" => self.outputs.console = false,
            "--enable-external-lib-logs" => self.outputs.file = true,
            "--disable-external-lib-logs" => self.outputs.file = false,
            "--log-file-name" => {
                let expected = "the beginning of a file's name, such as `camera`";
                let Some((prefix, position)) = value() else {
                    return Err(ArgumentError::MissingValue { option, position, expected });
                };
                if prefix.contains('/') {
                    return Err(ArgumentError::LogFileName { prefix, position });
                }
                self.outputs.file_name = Some(prefix);
            }
            "-e" | "--enclave" | "--log-config-file" => {
                return Err(ArgumentError::Unsupported { option, position });
            }
            rule if !rule.starts_with('-') && rule.contains(":=") => {
                return Err(ArgumentError::RuleWithoutOption { rule: option, position });
            }
            _ => return Err(ArgumentError::UnknownOption { option, position }),
        }
        Ok(())
    }
}

/// A level for a logger that is not a node's, nor above or below one, but resembles one. (Other
/// loggers may be those of modules, which are not known here.)
fn unmatched_logger(logger: &str, nodes: &[NodeNames]) -> Option<Unmatched> {
    let loggers: Vec<String> = nodes.iter().map(|node| logger_of(&node.full_name)).collect();
    let is_below =
        |name: &str, above: &str| name.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'));
    let is_known = |known: &String| known == logger || is_below(known, logger) || is_below(logger, known);
    let near = loggers.iter().filter_map(|known| Some((alike(logger, known)?, known))).min();
    let (_, near) = near.filter(|_| !loggers.iter().any(is_known))?;
    let text = format!(
        "`--log-level {}:=..` has matched no node so far: no logger of a node is called so; there is {near}",
        logger.escape_debug()
    );
    Some(Unmatched { text, is_likely_wrong: true, marks: Vec::new() })
}

/// Parses `[NODE:]NAME:=VALUE`.
fn parameter_of(parameter: String, position: usize) -> Result<Block, ArgumentError> {
    let Some((name, value)) = parameter.split_once(":=") else {
        return Err(ArgumentError::ParameterWithoutValue { parameter, position });
    };
    let (nodes, name) = match name.split_once(':') {
        Some((node, name)) => (NodePattern::parse(node), name.to_owned()),
        None => (Ok(NodePattern::all()), name.to_owned()),
    };
    let read = nodes.and_then(|nodes| {
        if name.is_empty() {
            return Err("there is no name before `:=`".to_owned());
        }
        let value = parameters::value(value).map_err(|error: ParameterTextError| match error.line() {
            1 => format!("{} (at character {} of the value)", error.problem(), error.column()),
            line => format!("{} (at line {line}, column {} of the value)", error.problem(), error.column()),
        })?;
        Ok(Block { nodes, values: vec![NamedValue { name, value }] })
    });
    read.map_err(|problem| ArgumentError::InvalidParameter { parameter, position, problem })
}

/// The largest parameter file in bytes.
const LARGEST_FILE: u64 = 16 << 20;

/// Reads a parameter file. It may be a pipe, as a shell makes of `<(..)`, but not an endless one.
fn parameters_in(file: String, position: usize) -> Result<Vec<Block>, ArgumentError> {
    let mut text = String::new();
    let read =
        std::fs::File::open(&file).and_then(|file| file.take(LARGEST_FILE + 1).read_to_string(&mut text));
    let text = match read.map_err(|error| error.to_string()) {
        Ok(_) if text.len() as u64 > LARGEST_FILE => Err(format!(
            "it has more than {} MiB, the most that is read of a parameter file",
            LARGEST_FILE >> 20
        )),
        read => read.map(|_| text),
    };
    let read = text.and_then(|text| parameters::read(&text).map_err(|problem| problem.to_string()));
    read.map_err(|problem| ArgumentError::ParameterFile { file, position, problem })
}

#[cfg(test)]
mod tests;
