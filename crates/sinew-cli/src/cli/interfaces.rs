//! The options of commands that need types: named as in `ros2`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use sinew_bench::options::{number_within, seconds};

use super::place::{Where, name, node, topic};
use super::qos::QosOptions;

/// Places of definitions in addition to the built-in ones.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DefinitionOptions {
    /// A folder with the definitions of interface packages, or of one (with `msg`, `srv` or
    /// `action` in it). Can be given several times. Other sources: $AMENT_PREFIX_PATH, ROS 2's
    /// packages (built in), and the descriptions that participants publish.
    #[arg(long, value_name = "DIR")]
    pub(crate) interfaces: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct InterfaceOptions {
    #[command(subcommand)]
    pub(crate) command: InterfaceCommand,
}

/// Commands for types.
#[derive(Debug, Subcommand)]
pub(crate) enum InterfaceCommand {
    /// List all types.
    List(InterfaceListOptions),
    /// List all packages with types.
    Packages(InterfaceListOptions),
    /// List a package's types.
    Package(PackageOptions),
    /// Show a type's definition, with those of its nested types. (JSON: its description, from which
    /// its hash is computed.)
    Show(ShowOptions),
    /// Print a message of a type with its default values, to be edited and published.
    Proto(TypeOptions),
    /// Print a type's hash (RIHS01): types match if their hashes are equal.
    Hash(TypeOptions),
    /// Write stubs of Python's message classes (`.pyi`), for editors and type checkers.
    Stubs(StubsOptions),
}

#[derive(Args, Debug)]
pub(crate) struct StubsOptions {
    /// The packages, such as std_msgs [default: all].
    #[arg(value_name = "PACKAGE")]
    pub(crate) packages: Vec<String>,

    /// The folder in which each package gets one: `sinew/interfaces` of the installed Python package,
    /// which `python -m sinew.stubs` finds by itself.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct InterfaceListOptions {
    /// Only messages.
    #[arg(short = 'm', long)]
    pub(crate) only_msgs: bool,

    /// Only services.
    #[arg(short = 's', long)]
    pub(crate) only_srvs: bool,

    /// Only actions.
    #[arg(short = 'a', long)]
    pub(crate) only_actions: bool,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    /// One JSON array instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PackageOptions {
    /// Its name, such as std_msgs.
    #[arg(value_name = "PACKAGE")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) list: InterfaceListOptions,
}

#[derive(Args, Debug)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    pub(crate) of: TypeOptions,

    /// Also the comments of nested types.
    #[arg(long)]
    pub(crate) all_comments: bool,

    /// No comments and no empty lines.
    #[arg(long, conflicts_with = "all_comments")]
    pub(crate) no_comments: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TypeOptions {
    /// Its name, such as std_msgs/msg/String; `msg`, `srv` or `action` may be left out.
    #[arg(value_name = "TYPE")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    #[command(flatten)]
    pub(crate) place: Where,

    /// JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How messages are printed.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct StyleOptions {
    /// Print messages in full: also long arrays and strings, or all bytes.
    #[arg(short, long, visible_alias = "full-length")]
    pub(crate) full: bool,

    /// Number of array elements and string characters that are printed.
    #[arg(short = 'l', long, value_name = "N", default_value = "128")]
    pub(crate) truncate_length: usize,

    /// Print only type and length of arrays.
    #[arg(long)]
    pub(crate) no_arr: bool,

    /// Print only the length of strings.
    #[arg(long)]
    pub(crate) no_str: bool,

    /// Print each message on one line.
    #[arg(long)]
    pub(crate) flow_style: bool,
}

impl StyleOptions {
    pub(crate) fn style(&self) -> sinew_msg::dynamic::Style {
        let &Self { full, truncate_length, no_arr, no_str, flow_style } = self;
        let truncate = (!full).then_some(truncate_length);
        sinew_msg::dynamic::Style { truncate, no_arr, no_str, flow: flow_style }
    }
}

/// Sources of values other than the command line, which has room for 128 KiB.
#[derive(Args, Debug)]
pub(crate) struct ValueSource {
    /// Read the values from this file, in YAML or JSON; `-` (also as VALUES) reads standard input.
    #[arg(long, visible_alias = "yaml-file", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Read the values from standard input.
    #[arg(long, conflicts_with = "file")]
    pub(crate) stdin: bool,
}

impl ValueSource {
    pub(crate) fn is_given(&self) -> bool {
        self.file.is_some() || self.stdin
    }
}

#[derive(Args, Debug)]
pub(crate) struct PubOptions {
    /// The topic; the leading `/` may be left out.
    #[arg(value_name = "TOPIC", value_parser = topic)]
    pub(crate) name: String,

    /// Its type, such as std_msgs/msg/String.
    #[arg(value_name = "TYPE")]
    pub(crate) type_name: String,

    /// The message in YAML or JSON, such as "{data: hello}". Missing fields have their default
    /// values. `now` stands for the time of publication (a builtin_interfaces/Time), `auto` for a
    /// std_msgs/Header with that time.
    #[arg(value_name = "VALUES", default_value = "{}", hide_default_value = true, conflicts_with_all = ["file", "stdin"])]
    pub(crate) values: String,

    #[command(flatten)]
    pub(crate) source: ValueSource,

    /// Messages per second.
    #[arg(short, long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate, default_value = "1")]
    pub(crate) rate: Duration,

    /// Publish one message as soon as there is a subscription, and end.
    #[arg(short = '1', long, conflicts_with = "times")]
    pub(crate) once: bool,

    /// Publish this many messages once there is a subscription, and end.
    #[arg(short, long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) times: Option<u64>,

    /// Publish when this many subscriptions match [default: 1 with --once and --times, else 0].
    #[arg(short = 'w', long, value_name = "N")]
    pub(crate) wait_matching_subscriptions: Option<usize>,

    /// Fail if the subscriptions haven't come after this time [default: wait].
    #[arg(long, visible_alias = "max-wait-time-secs", allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub(crate) max_wait_time: Option<Duration>,

    /// Stay for this time after the last message. Late subscriptions get the retained messages
    /// (--qos-durability transient_local).
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = keep_alive, default_value = "0.1")]
    pub(crate) keep_alive: Duration,

    /// Print only every N-th message; 0: none.
    #[arg(short, long, value_name = "N", default_value = "1")]
    pub(crate) print: u64,

    /// Publish even if all other endpoints of the topic have another type: they receive nothing.
    #[arg(long)]
    pub(crate) force: bool,

    /// The name of the publishing node [default: a hidden one].
    #[arg(short, long, value_name = "NAME", value_parser = node)]
    pub(crate) node_name: Option<String>,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    #[command(flatten)]
    pub(crate) place: Where,

    #[command(flatten)]
    pub(crate) qos: QosOptions,
}

#[derive(Args, Debug)]
pub(crate) struct CallOptions {
    /// The service; the leading `/` may be left out.
    #[arg(value_name = "SERVICE", value_parser = name)]
    pub(crate) name: String,

    /// Its type, such as std_srvs/srv/SetBool [default: that of its server].
    #[arg(value_name = "TYPE")]
    pub(crate) first: Option<String>,

    /// The request in YAML or JSON, such as "{data: true}". Missing fields have their default
    /// values; `now` and `auto` are as for `topic pub`.
    #[arg(value_name = "VALUES", conflicts_with_all = ["file", "stdin"])]
    pub(crate) second: Option<String>,

    #[command(flatten)]
    pub(crate) source: ValueSource,

    /// Call repeatedly, at most this many times per second, until Ctrl-C is pressed.
    #[arg(short, long, allow_negative_numbers = true, value_name = "HZ", value_parser = rate)]
    pub(crate) rate: Option<Duration>,

    /// Give up if there is no answer after this time [default: when Ctrl-C is pressed].
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) style: StyleOptions,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON value instead of YAML.
    #[arg(long)]
    pub(crate) json: bool,
}

impl CallOptions {
    /// Returns the type and the values: either may be left out.
    pub(crate) fn what(&self) -> (Option<&str>, &str) {
        type_and_values(self.first.as_deref(), self.second.as_deref(), &self.source)
    }
}

#[derive(Args, Debug)]
pub(crate) struct SendGoalOptions {
    /// The action; the leading `/` may be left out.
    #[arg(value_name = "ACTION", value_parser = name)]
    pub(crate) name: String,

    /// Its type, such as example_interfaces/action/Fibonacci [default: that of its server].
    #[arg(value_name = "TYPE")]
    pub(crate) first: Option<String>,

    /// The goal in YAML or JSON, such as "{order: 5}". Missing fields have their default values;
    /// `now` and `auto` are as for `topic pub`.
    #[arg(value_name = "VALUES", conflicts_with_all = ["file", "stdin"])]
    pub(crate) second: Option<String>,

    #[command(flatten)]
    pub(crate) source: ValueSource,

    /// Accepted because `ros2` has it: feedback is always printed.
    #[arg(long, hide = true)]
    pub(crate) feedback: bool,

    /// Number of feedback messages that may wait on their way here: if a server publishes more at
    /// once, the oldest are lost, and counted.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) depth: u32,

    /// Give up, and cancel the goal, if it isn't accepted after this time [default: when Ctrl-C is
    /// pressed].
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) style: StyleOptions,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    #[command(flatten)]
    pub(crate) place: Where,

    /// Print the answer, each feedback message, and the result as one JSON value on a line.
    #[arg(long)]
    pub(crate) json: bool,
}

impl SendGoalOptions {
    /// Returns the type and the values: either may be left out.
    pub(crate) fn what(&self) -> (Option<&str>, &str) {
        type_and_values(self.first.as_deref(), self.second.as_deref(), &self.source)
    }
}

fn type_and_values<'a>(
    first: Option<&'a str>,
    second: Option<&'a str>,
    source: &ValueSource,
) -> (Option<&'a str>, &'a str) {
    match (first, second) {
        (first, None) if source.is_given() => (first, ""),
        (Some(first), None) if first.contains(['{', ':']) || matches!(first.trim(), "" | "-") => {
            (None, first)
        }
        (first, second) => (first, second.unwrap_or("{}")),
    }
}

/// Parses the time to stay, which may be zero.
fn keep_alive(text: &str) -> Result<Duration, String> {
    number_within(text, 0.0, 86_400.0).map(Duration::from_secs_f64)
}

/// Parses a rate as the time between two messages or calls.
fn rate(text: &str) -> Result<Duration, String> {
    number_within(text, 0.001, 100_000.0).map(|rate| Duration::from_secs_f64(1.0 / rate))
}
