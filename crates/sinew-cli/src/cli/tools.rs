//! The options of the inspection commands: named as in `ros2`.

pub(crate) mod lifecycle;
pub(crate) mod log;
pub(crate) mod tf;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use sinew_bench::options::{number_within, seconds};
use sinew_msg::dynamic::FieldPath;

use super::interfaces::{CallOptions, DefinitionOptions, PubOptions, SendGoalOptions, StyleOptions};
use super::pictures::{TopicImageOptions, TopicPlotOptions};
pub(crate) use super::place::Where;
use super::place::{name, topic};
use super::qos::QosOptions;

#[derive(Args, Debug)]
pub(crate) struct NodeOptions {
    #[command(subcommand)]
    pub(crate) command: NodeCommand,
}

/// Commands for nodes.
#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// List all nodes.
    List(GraphListOptions),
    /// Show a node's publishers, subscriptions, servers and clients.
    Info(InfoOptions),
}

#[derive(Args, Debug)]
pub(crate) struct TopicOptions {
    #[command(subcommand)]
    pub(crate) command: TopicCommand,
}

/// Commands for topics.
#[derive(Debug, Subcommand)]
pub(crate) enum TopicCommand {
    /// List all topics.
    List(TypedListOptions),
    /// Show the publishers and subscriptions of a topic.
    Info(TopicInfoOptions),
    /// List publishers and subscriptions of one topic that exchange nothing, with the reasons. Exit
    /// code 1 if there are any. Also lists names of topics, services and actions with endpoints on
    /// one side only, those first that resemble another name of the same type.
    Check(CheckOptions),
    /// Show the rate of messages. Reads the publishers' counters: they do no work for it.
    Hz(WatchOptions),
    /// Show the bytes that leave the publishers' processes. Messages within a process move by
    /// reference: their number is shown, and their bytes if all messages of the type have the same
    /// size.
    Bw(WatchOptions),
    /// Show the time from publication to callback, as the subscriptions' processes record it (each
    /// at most a hundred times a second). Reads their counters: they do no work for it.
    Latency(WatchOptions),
    /// Show the age of `header.stamp` when messages arrive here. Takes part as a subscription does:
    /// publishers do some work for it, but never wait.
    Delay(DelayOptions),
    /// Print the types of a topic, one on each line.
    Type(InfoOptions),
    /// List the topics of a type.
    Find(FindOptions),
    /// Print the messages. Takes part as a subscription does: publishers do some work for it, but
    /// never wait. If there is no publisher yet, waits for one. The QoS fits the publishers
    /// (retained messages are printed as well), unless the options say otherwise.
    Echo(EchoOptions),
    /// Plot numbers of messages as they come, in the terminal until q or Ctrl-C is pressed, or into
    /// a picture. Takes part as a subscription does: publishers do some work for it, but never
    /// wait. If there is no publisher yet, waits for one.
    Plot(TopicPlotOptions),
    /// Save images or clouds of points as PNG as they come (compressed images as they are), until
    /// Ctrl-C is pressed. Takes part as a subscription does: publishers do some work for it, but
    /// never wait. Retained messages are saved as well.
    Image(TopicImageOptions),
    /// Publish messages that are given as text: reliable, volatile, keep last 10, unless the
    /// options say otherwise.
    Pub(PubOptions),
}

impl TopicCommand {
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Echo(echo) => {
                topic(&echo.info.name)?;
                if let Some(path) = &echo.field {
                    FieldPath::check(path).map_err(|error| error.to_string())?;
                }
                echo.qos.check()
            }
            Self::Pub(publish) => publish.qos.check(),
            _ => Ok(()),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ServiceOptions {
    #[command(subcommand)]
    pub(crate) command: ServiceCommand,
}

/// Commands for services.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// List all services.
    List(TypedListOptions),
    /// Show the servers and clients of a service.
    Info(TopicInfoOptions),
    /// Print the types of a service, one on each line.
    Type(InfoOptions),
    /// List the services of a type.
    Find(FindOptions),
    /// Print the requests and responses of a service, or only their occurrence: as much as its
    /// endpoints publish (`configure_introspection`).
    #[command(mut_arg("type_name", |arg| arg.help(SERVICE_TYPE)))]
    Echo(EchoOptions),
    /// Call a service with a request that is given as text.
    Call(CallOptions),
}

/// The help of TYPE for `service echo`, which shares its other options with `topic echo`.
const SERVICE_TYPE: &str =
    "Only events of this type of service, such as std_srvs/srv/SetBool [default: of whatever it has]";

#[derive(Args, Debug)]
pub(crate) struct ActionOptions {
    #[command(subcommand)]
    pub(crate) command: ActionCommand,
}

/// Commands for actions.
#[derive(Debug, Subcommand)]
pub(crate) enum ActionCommand {
    /// List all actions.
    List(TypedListOptions),
    /// Show the servers and clients of an action.
    Info(InfoOptions),
    /// Send a goal that is given as text, and print its feedback and its result. Ctrl-C cancels it,
    /// and so does closing the output (`| head`). Exit code 0 if it has succeeded, 3 if it was
    /// aborted, 4 if it was canceled, 1 if it was rejected or there is no result.
    #[command(name = "send_goal", visible_alias = "send-goal")]
    SendGoal(SendGoalOptions),
}

#[derive(Args, Debug)]
pub(crate) struct FindOptions {
    /// Its full name, such as std_msgs/msg/String.
    #[arg(value_name = "TYPE")]
    pub(crate) type_name: String,

    #[command(flatten)]
    pub(crate) list: GraphListOptions,
}

#[derive(Args, Debug)]
pub(crate) struct GraphListOptions {
    /// Also hidden ones: those with a part that begins with `_`.
    #[arg(short, long, visible_aliases = ["include-hidden", "include-hidden-nodes", "include-hidden-topics", "include-hidden-services"])]
    pub(crate) all: bool,

    /// Print only their number.
    #[arg(short, long, visible_aliases = ["count-nodes", "count-topics", "count-services", "count-actions"])]
    pub(crate) count: bool,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON array instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TypedListOptions {
    /// Also print the names of their types.
    #[arg(short = 't', long)]
    pub(crate) show_types: bool,

    #[command(flatten)]
    pub(crate) list: GraphListOptions,
}

#[derive(Args, Debug)]
pub(crate) struct InfoOptions {
    /// Its full name; the leading `/` may be left out.
    #[arg(value_name = "NAME", value_parser = name)]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON value instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TopicInfoOptions {
    /// Show each endpoint separately, with its QoS and counters. (JSON always has them.)
    #[arg(short, long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) info: InfoOptions,
}

#[derive(Args, Debug)]
pub(crate) struct CheckOptions {
    /// Only this topic; the leading `/` may be left out [default: all].
    #[arg(value_name = "NAME", value_parser = name)]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON array instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

fn no_window(_: &str) -> Result<u64, String> {
    Err("a report covers a time here, not a number of messages: `--over SECONDS`".to_owned())
}

#[derive(Args, Debug)]
pub(crate) struct WatchOptions {
    #[command(flatten)]
    pub(crate) info: InfoOptions,

    /// Time between two reports.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = interval, default_value = "1")]
    pub(crate) interval: Duration,

    /// The time that a report covers; the first reports cover less.
    #[arg(long = "over", allow_negative_numbers = true, value_name = "S", value_parser = seconds, default_value = "10")]
    pub(crate) window: Duration,

    /// `ros2`'s number of messages, which is no time: refused, so that no script means the other.
    #[arg(short = 'w', long = "window", hide = true, value_parser = no_window)]
    pub(crate) _messages: Option<u64>,

    /// End after this many reports [default: when Ctrl-C is pressed].
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct DelayOptions {
    #[command(flatten)]
    pub(crate) watch: WatchOptions,

    /// Compare with the time of `/clock` instead of this machine's.
    #[arg(short = 's', long)]
    pub(crate) use_sim_time: bool,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,
}

#[derive(Args, Debug)]
pub(crate) struct EchoOptions {
    #[command(flatten)]
    pub(crate) info: InfoOptions,

    /// Only messages of this type, such as std_msgs/msg/String [default: of all published types].
    #[arg(value_name = "TYPE")]
    pub(crate) type_name: Option<String>,

    /// End after this many messages [default: when Ctrl-C is pressed].
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    /// Print one message, and end.
    #[arg(long, conflicts_with = "count")]
    pub(crate) once: bool,

    /// Only a field of each message, or part of one: pose.position, ranges[0].
    #[arg(long, value_name = "PATH", conflicts_with = "raw")]
    pub(crate) field: Option<String>,

    /// Print the values on one line, with commas between them.
    #[arg(long, conflicts_with_all = ["raw", "json", "flow_style"])]
    pub(crate) csv: bool,

    /// Print the bytes of messages (the first 256 of each), not their fields.
    #[arg(long)]
    pub(crate) raw: bool,

    #[command(flatten)]
    pub(crate) style: StyleOptions,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    #[command(flatten)]
    pub(crate) qos: QosOptions,
}

#[derive(Args, Debug)]
pub(crate) struct TopOptions {
    #[command(flatten)]
    pub(crate) place: Where,

    /// Time between two drawings; without a terminal, the time that the single table covers.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = interval, default_value = "1")]
    pub(crate) interval: Duration,

    /// Print one JSON value about one interval, and end.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct GraphOptions {
    /// The format [default: by the file's extension, else dot].
    #[arg(short = 'T', long, value_enum, conflicts_with = "json")]
    format: Option<GraphFormat>,

    /// The file to write; an existing one is replaced [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Also hidden nodes, topics and services: those with a part that begins with `_`.
    #[arg(short, long, visible_alias = "include-hidden")]
    pub(crate) all: bool,

    /// The time that the rates cover.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = interval, default_value = "1")]
    pub(crate) interval: Duration,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON value instead of a picture.
    #[arg(long)]
    json: bool,
}

impl GraphOptions {
    pub(crate) fn format(&self) -> GraphFormat {
        let ending = self.output.as_ref().and_then(|path| path.extension()?.to_str());
        match (self.json, self.format, ending) {
            (true, ..) => GraphFormat::Json,
            (_, Some(format), _) => format,
            (.., Some("svg")) => GraphFormat::Svg,
            (.., Some("json")) => GraphFormat::Json,
            _ => GraphFormat::Dot,
        }
    }
}

impl GraphOptions {
    /// Rejects a file with an extension that doesn't fit the format.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.json || self.format.is_some() {
            true => Ok(()),
            false => ending_is_one_of(self.output.as_deref(), &["dot", "gv", "svg", "json", "txt"]),
        }
    }
}

/// Checks that the file has one of these extensions, or none at all.
fn ending_is_one_of(output: Option<&Path>, known: &[&str]) -> Result<(), String> {
    let Some((path, ending)) = output.and_then(|path| Some((path, path.extension()?))) else { return Ok(()) };
    if known.iter().any(|known| *known == ending) {
        return Ok(());
    }
    Err(format!(
        "{} can't be written: there is no format for names that end with .{}, only for .{}; -T chooses one for any \
         name, and Graphviz makes others of it (`-T dot | dot -Tpng > FILE`)",
        path.display(),
        ending.display(),
        known.join(", .")
    ))
}

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// The language of Graphviz: `sinew graph | dot -Tpng > graph.png`.
    Dot,
    /// A picture for browsers, in one file, for light and dark pages.
    Svg,
    /// JSON for programs, as --json.
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorOptions {
    #[command(flatten)]
    pub(crate) place: Where,

    /// Remove files that dead processes have left in the domain's directory.
    #[arg(long)]
    pub(crate) clean: bool,

    /// One JSON value instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses an interval. Counters could be read at any rate, but people and terminals can't keep up.
fn interval(text: &str) -> Result<Duration, String> {
    number_within(text, 0.01, 3600.0).map(Duration::from_secs_f64)
}
