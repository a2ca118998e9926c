//! The command line: one definition yields the parser and the help.

pub(crate) mod bag;
pub(crate) mod bag_files;
pub(crate) mod bag_session;
pub(crate) mod interfaces;
pub(crate) mod network;
pub(crate) mod params;
pub(crate) mod pictures;
mod place;
pub(crate) mod play;
pub(crate) mod qos;
pub(crate) mod record;
pub(crate) mod tools;
pub(crate) mod view;

use std::ffi::OsString;
use std::num::NonZeroI32;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use sinew_bench::options::{Bench, ExecutorOptions, Peer, number_within, seconds};

/// Nodes that talk at memory speed: inspection tools, a demonstration, and benchmarks.
#[derive(Debug, Parser)]
#[command(name = "sinew", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// For the help: options before the command are read as if they stood behind it.
    #[command(flatten)]
    _place: tools::Where,
}

impl Cli {
    /// Reads the command line; ends the program if it is invalid or asks for help.
    pub(crate) fn read() -> Self {
        let mut command = Self::command();
        let line = options_last(&command, std::env::args_os());
        let read = command.try_get_matches_from_mut(line);
        let matches = read.unwrap_or_else(|error| error.exit());
        let cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit());
        if let Err(problem) = cli.command.check() {
            refuse(&mut command, &matches, &problem);
        }
        cli
    }
}

/// Ends the program with the usage of the command on the line.
fn refuse(command: &mut clap::Command, matches: &clap::ArgMatches, problem: &str) -> ! {
    if let Some((name, below)) = matches.subcommand()
        && let Some(command) = command.find_subcommand_mut(name)
    {
        refuse(command, below, problem);
    }
    command.error(ErrorKind::ArgumentConflict, problem).exit()
}

/// Reads `sinew --domain 3 node list` as `sinew node list --domain 3`: the options that select the
/// domain may stand anywhere.
fn options_last(command: &clap::Command, line: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut rest = line.into_iter();
    let (mut read, mut moved, mut at) = (Vec::from_iter(rest.next()), Vec::new(), command);
    while at.has_subcommands()
        && let Some(word) = rest.next()
    {
        let text = word.to_string_lossy();
        if let Some(below) = at.find_subcommand(&word) {
            at = below;
            read.push(word);
        } else if ["--domain=", "--dir="].iter().any(|option| text.starts_with(option)) {
            moved.push(word);
        } else if ["--domain", "--dir"].iter().any(|option| text == *option) {
            moved.push(word);
            moved.extend(rest.next());
        } else {
            moved.push(word);
            break;
        }
    }
    read.into_iter().chain(moved).chain(rest).collect()
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch real pictures pass three nodes without being copied.
    Demo(DemoOptions),
    /// Measure Sinew on this machine, beside the limits of the machine itself.
    Bench(Bench),
    /// Inspect nodes.
    Node(tools::NodeOptions),
    /// Inspect topics.
    Topic(tools::TopicOptions),
    /// Inspect services.
    Service(tools::ServiceOptions),
    /// Inspect actions, and send goals.
    Action(tools::ActionOptions),
    /// Inspect and set parameters of nodes.
    Param(params::ParamOptions),
    /// Inspect types.
    Interface(interfaces::InterfaceOptions),
    /// Record, play, inspect, mend, cut and plot bags: messages in files, as rosbag2 has them.
    Bag(bag::BagOptions),
    /// Show topics in Foxglove and Lichtblick: messages, images, plots, 3D. Ctrl-C ends it.
    View(view::ViewOptions),
    /// Follow the log lines of nodes (`/rosout`), and set their loggers' levels.
    Log(tools::log::LogOptions),
    /// Inspect managed nodes, and trigger their transitions.
    Lifecycle(tools::lifecycle::LifecycleOptions),
    /// Inspect coordinate frames (`/tf`), and transforms between them.
    Tf(tools::tf::TfOptions),
    /// Draw the graph: nodes, topics and services with their rates, and processes.
    Graph(tools::GraphOptions),
    /// Watch processes and topics: rates, latencies, queues and losses.
    Top(tools::TopOptions),
    /// Check this machine's settings for shared memory, and say how to correct them.
    Doctor(tools::DoctorOptions),
    /// Start the processes of a launch file, in order, and keep them running. Ctrl-C ends them all.
    Launch(LaunchOptions),
    /// Run one program, found on AMENT_PREFIX_PATH or PATH.
    Run(RunOptions),
    /// List the nodes in containers, load and unload them.
    Component(ComponentOptions),
    /// Ends a launch's processes if the launch is killed.
    #[command(hide = true)]
    LaunchKeeper(KeeperOptions),
    /// Connect the nodes of this host with the network: with ROS 2 over rmw_zenoh, and with other
    /// hosts that run a gateway. Ctrl-C ends it.
    Gateway(network::GatewayOptions),
    /// Run a router, as rmw_zenohd does: ROS 2 programs and gateways find each other through it.
    /// Ctrl-C ends it.
    Router(network::RouterOptions),
    /// Print a script with which a shell completes this command's lines, including the names of
    /// running nodes and topics: put it where the shell looks, or source it. Print it again after
    /// updating this command.
    ///
    /// bash: `sinew completions bash > ~/.local/share/bash-completion/completions/sinew`; zsh: `>
    /// ~/.zfunc/_sinew`, with that folder in `fpath`; fish: `>
    /// ~/.config/fish/completions/sinew.fish`.
    Completions(CompletionOptions),
    /// Another process of a benchmark.
    #[command(hide = true)]
    Peer(Peer),
}

impl Command {
    /// Checks rules that the parser doesn't know: options that exclude each other.
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Demo(demo) => demo.executor.check(),
            Self::Bench(bench) => bench.scenario.check(),
            Self::Topic(topic) => topic.command.check(),
            Self::Tf(tf) => tf.command.check(),
            Self::Graph(graph) => graph.check(),
            _ => Ok(()),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct CompletionOptions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct DemoOptions {
    /// Save one frame of each picture, as the viewer received it, as a PNG file in this directory
    /// (created if missing; files of the same name are replaced).
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,

    /// End after this time. Default: on a terminal when Ctrl-C is pressed, otherwise after 3
    /// seconds.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<Duration>,

    /// Frames per second.
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = frame_rate, default_value = "30")]
    pub(crate) rate: f64,

    /// Change the filter's settings every second, through its service.
    #[arg(long)]
    pub(crate) settings: bool,

    /// Run the viewer in a process of its own, with frames in shared memory; `sinew topic list` and
    /// the other tools see them.
    #[arg(long)]
    pub(crate) processes: bool,

    /// Run other nodes: a camera in Rust, a filter in C++ and a viewer in C, with images of 8 MB, first
    /// each in a process of its own, then all in one, and count the copies. Each part ends after
    /// `--seconds`, or 3 seconds. Needs a compiler of C and of C++, and the shared library of Sinew
    /// (`libsinew.so`) with its headers.
    #[arg(long, conflicts_with_all = ["save", "settings", "processes"])]
    pub(crate) languages: bool,

    /// The shared library, or its directory [default: beside this program, or what pkg-config
    /// names].
    #[arg(long, value_name = "PATH", requires = "languages")]
    pub(crate) library: Option<PathBuf>,

    /// This is the viewer, started by the process with this id.
    #[arg(long, hide = true, value_name = "PID", requires = "processes")]
    pub(crate) viewer_of: Option<NonZeroI32>,

    #[command(flatten)]
    pub(crate) executor: ExecutorOptions,
}

fn frame_rate(text: &str) -> Result<f64, String> {
    number_within(text, 0.1, 1000.0)
}

#[derive(Args, Debug)]
pub(crate) struct LaunchOptions {
    /// The launch file: `.toml`, or ROS 2's `.launch.xml` and `.launch.yaml`.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Values for the file's arguments.
    #[arg(value_name = "NAME:=VALUE", value_parser = argument)]
    pub(crate) arguments: Vec<(String, String)>,

    /// Only check the files, programs and arguments.
    #[arg(long)]
    pub(crate) check: bool,

    /// Only list the file's arguments.
    #[arg(short = 's', long, visible_alias = "show-arguments", conflicts_with = "check")]
    pub(crate) show_args: bool,

    /// Only print the command lines.
    #[arg(short, long, conflicts_with_all = ["check", "show_args"])]
    pub(crate) print: bool,

    /// Show CPU and memory of each process every second, on a terminal above their last output.
    /// (Without it, Enter and SIGUSR1 show them once.)
    #[arg(long)]
    pub(crate) top: bool,

    /// One JSON value on each line: events, and the processes' output.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: tools::Where,
}

#[derive(Args, Debug)]
pub(crate) struct RunOptions {
    /// The package of the program, on AMENT_PREFIX_PATH.
    #[arg(long, value_name = "PACKAGE")]
    pub(crate) package: Option<String>,

    /// The name of its node.
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,

    /// The namespace of its nodes.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Rename a topic or service.
    #[arg(short, long, value_name = "FROM:=TO")]
    pub(crate) remap: Vec<String>,

    /// Set a parameter.
    #[arg(short, long = "param", value_name = "NAME:=VALUE")]
    pub(crate) parameter: Vec<String>,

    /// Set parameters from a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) params_file: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) place: tools::Where,

    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) line: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct KeeperOptions {
    /// Arguments from the launch.
    #[arg(hide = true)]
    pub(crate) arguments: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ComponentOptions {
    #[command(subcommand)]
    pub(crate) command: ComponentCommand,
}

/// Commands for components.
#[derive(Debug, Subcommand)]
pub(crate) enum ComponentCommand {
    /// List the containers, and the nodes in them with their numbers.
    List(ComponentListOptions),
    /// List the kinds of nodes that Sinew's containers can create.
    Types(ComponentTypesOptions),
    /// Create a node in a container.
    Load(LoadOptions),
    /// Remove nodes from a container.
    Unload(UnloadOptions),
}

#[derive(Args, Debug)]
pub(crate) struct ComponentListOptions {
    /// Only this container [default: all].
    #[arg(value_name = "CONTAINER", value_parser = place::name)]
    pub(crate) container: Option<String>,

    #[command(flatten)]
    pub(crate) place: tools::Where,

    /// One JSON array instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ComponentTypesOptions {
    /// The full name of its node; the leading `/` may be left out.
    #[arg(value_name = "CONTAINER", value_parser = place::name)]
    pub(crate) container: String,

    #[command(flatten)]
    pub(crate) place: tools::Where,

    /// One JSON array instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LoadOptions {
    /// The full name of the container's node; the leading `/` may be left out.
    #[arg(value_name = "CONTAINER", value_parser = place::name)]
    pub(crate) container: String,

    /// The package. (Sinew's containers ignore it.)
    #[arg(value_name = "PACKAGE")]
    pub(crate) package: String,

    /// The kind of node, such as `demo_nodes::Talker`.
    #[arg(value_name = "PLUGIN")]
    pub(crate) plugin: String,

    /// The node's name.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,

    /// The node's namespace.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) node_namespace: Option<String>,

    /// Set a parameter, as on a node's command line. May be given several times.
    #[arg(short, long, value_name = "NAME:=VALUE")]
    pub(crate) parameter: Vec<String>,

    /// The level of the node's logger.
    #[arg(long, value_name = "LEVEL", value_parser = tools::log::level)]
    pub(crate) log_level: Option<sinew::LogLevel>,

    /// Rename a topic or service of the node. May be given several times.
    #[arg(short, long, value_name = "FROM:=TO")]
    pub(crate) remap_rule: Vec<String>,

    /// An argument for the container, such as
    /// `automatically_declare_parameters_from_overrides:=true`. May be given several times.
    #[arg(short, long, value_name = "NAME:=VALUE")]
    pub(crate) extra_argument: Vec<String>,

    #[command(flatten)]
    pub(crate) place: tools::Where,

    /// One JSON value instead of a sentence.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct UnloadOptions {
    /// The full name of the container's node; the leading `/` may be left out.
    #[arg(value_name = "CONTAINER", value_parser = place::name)]
    pub(crate) container: String,

    /// The numbers of the nodes, from `list`.
    #[arg(value_name = "UID", required = true)]
    pub(crate) unique_ids: Vec<u64>,

    #[command(flatten)]
    pub(crate) place: tools::Where,

    /// One JSON value instead of sentences.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a launch file's argument.
fn argument(text: &str) -> Result<(String, String), String> {
    match text.split_once(":=") {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is written NAME:=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn where_is_looked_may_be_said_anywhere() {
        for (line, read) in [
            ("--domain 3 node list", "node list --domain 3"),
            ("node --domain=3 list -a", "node list --domain=3 -a"),
            ("--dir /x --domain 3 topic echo t --once", "topic echo --dir /x --domain 3 t --once"),
            ("node list --domain 3", "node list --domain 3"),
            ("--domain 3 log", "log --domain 3"),
            ("--domain 3 log level n", "log level --domain 3 n"),
            ("log --node n --domain 3", "log --node n --domain 3"),
            ("--domain 3", "--domain 3"),
            ("--domain", "--domain"),
            ("run --domain 3 prog --domain 4", "run --domain 3 prog --domain 4"),
            ("--version", "--version"),
            ("nonsense --domain 3", "nonsense --domain 3"),
            ("", ""),
        ] {
            let words = |line: &str| {
                ["sinew"].into_iter().chain(line.split_whitespace()).map(OsString::from).collect()
            };
            let line: Vec<OsString> = words(line);
            let expected: Vec<OsString> = words(read);
            assert_eq!(options_last(&Cli::command(), line), expected);
        }
    }
}
