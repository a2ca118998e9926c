//! The options of `sinew log`.

use clap::{Args, Subcommand};
use regex_lite::Regex;
use sinew::LogLevel;

use crate::cli::place::{Where, name};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LogOptions {
    #[command(subcommand)]
    pub(crate) command: Option<LogCommand>,

    #[command(flatten)]
    pub(crate) follow: FollowOptions,
}

/// Further commands for logs.
#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Read or set the level of a logger in a node's process. The node must have the services for
    /// it (`node.logger_services()`, in rclcpp `enable_logger_service(true)`).
    Level(LevelOptions),
}

/// Selects log lines.
#[derive(Args, Debug)]
pub(crate) struct FollowOptions {
    /// Only lines of this node, and of loggers below its own: `/robot/arm` or `robot.arm`. May be
    /// given several times.
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Vec<String>,

    /// Only lines of this level and worse: debug, info, warn, error or fatal.
    #[arg(long, value_name = "LEVEL", value_parser = level, default_value = "debug")]
    pub(crate) level: LogLevel,

    /// Only lines with a message that matches this regular expression.
    #[arg(long, value_name = "REGEX")]
    pub(crate) regex: Option<Regex>,

    /// Only new lines; otherwise those of the last 10 seconds come first.
    #[arg(long)]
    pub(crate) no_history: bool,

    /// End after this many lines.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<u64>,

    /// Also print the file, the line and the function (in Rust the module) that logged each line.
    #[arg(short, long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) place: Where,

    /// A JSON object for each line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LevelOptions {
    /// The node with the logger.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// The logger [default: that of the node; it may also be left out before a level]; an empty one
    /// stands for all loggers without a level of their own.
    #[arg(value_name = "LOGGER")]
    pub(crate) logger: Option<String>,

    /// The new level: debug, info, warn, error, fatal, or unset for that of the logger above it.
    /// Without it, the current level is printed.
    #[arg(value_name = "LEVEL", value_parser = new_level)]
    pub(crate) level: Option<NewLevel>,

    #[command(flatten)]
    pub(crate) place: Where,

    /// A JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

impl LevelOptions {
    /// Returns the logger, if it isn't the node's, and its new level: a level alone is for the
    /// node's logger.
    pub(crate) fn logger_and_level(&self) -> (Option<String>, Option<NewLevel>) {
        match (&self.logger, self.level) {
            (Some(level), None) if new_level(level).is_ok() => (None, new_level(level).ok()),
            (logger, level) => (logger.clone(), level),
        }
    }
}

/// The new level of a logger; `None` for that of the logger above it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewLevel(pub(crate) Option<LogLevel>);

pub(crate) fn level(text: &str) -> Result<LogLevel, String> {
    LogLevel::of_name(text).ok_or_else(|| "it is debug, info, warn, error or fatal".to_owned())
}

fn new_level(text: &str) -> Result<NewLevel, String> {
    if text.eq_ignore_ascii_case("unset") {
        return Ok(NewLevel(None));
    }
    let level = LogLevel::of_name(text);
    level
        .map(|level| NewLevel(Some(level)))
        .ok_or_else(|| "it is debug, info, warn, error, fatal or unset".to_owned())
}
