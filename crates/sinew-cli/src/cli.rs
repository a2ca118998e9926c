//! The command line: one definition yields the parser and the help.

pub(crate) mod interfaces;
pub(crate) mod network;
pub(crate) mod params;
mod place;
pub(crate) mod qos;
pub(crate) mod tools;

use std::ffi::OsString;
use std::num::NonZeroI32;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use sinew_bench::options::{Bench, ExecutorOptions, Peer, number_within, seconds};

/// Nodes that talk at memory speed: look at what runs, a demonstration, and the benchmarks.
#[derive(Debug, Parser)]
#[command(name = "sinew", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// For the help: a line that has them is read as if they stood behind the command.
    #[command(flatten)]
    _place: tools::Where,
}

impl Cli {
    /// Reads the command line; ends the program if it is wrong or asks for help.
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

/// Ends the program with the usage of the command that the line is for.
fn refuse(command: &mut clap::Command, matches: &clap::ArgMatches, problem: &str) -> ! {
    if let Some((name, below)) = matches.subcommand()
        && let Some(command) = command.find_subcommand_mut(name)
    {
        refuse(command, below, problem);
    }
    command.error(ErrorKind::ArgumentConflict, problem).exit()
}

/// `sinew --domain 3 node list` as `sinew node list --domain 3`: what says where is looked may stand
/// anywhere.
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
    /// Measure Sinew on this machine, beside what the machine itself allows.
    Bench(Bench),
    /// Look at nodes.
    Node(tools::NodeOptions),
    /// Look at topics.
    Topic(tools::TopicOptions),
    /// Look at services.
    Service(tools::ServiceOptions),
    /// Look at actions, and send goals.
    Action(tools::ActionOptions),
    /// Look at parameters of nodes, and set them.
    Param(params::ParamOptions),
    /// Look at types.
    Interface(interfaces::InterfaceOptions),
    /// Follow what nodes say (`/rosout`), and set how much they say.
    Log(tools::log::LogOptions),
    /// Look at managed nodes, and have them do transitions.
    Lifecycle(tools::lifecycle::LifecycleOptions),
    /// Look at frames of coordinates (`/tf`), and at how they lie in each other.
    Tf(tools::tf::TfOptions),
    /// Draw who talks to whom: nodes, topics and services with their rates, and processes.
    Graph(tools::GraphOptions),
    /// Watch processes and topics: rates, latencies, queues and losses.
    Top(tools::TopOptions),
    /// Check what shared memory needs of this machine, and say how to mend what is wrong.
    Doctor(tools::DoctorOptions),
    /// Start the processes that a launch file names, in order, and keep them running. Ctrl-C ends
    /// them all.
    Launch(LaunchOptions),
    /// Run one program, found on AMENT_PREFIX_PATH or PATH.
    Run(RunOptions),
    /// Look at the nodes that containers have taken in, load and unload them.
    Component(ComponentOptions),
    /// What ends a launch's processes if the launch is killed.
    #[command(hide = true)]
    LaunchKeeper(KeeperOptions),
    /// Bring the nodes of this host to the network: to ROS 2's with rmw_zenoh, and to other hosts
    /// with a gateway. Ctrl-C ends it.
    Gateway(network::GatewayOptions),
    /// Run a router, as rmw_zenohd: programs of ROS 2 and gateways find each other by it. Ctrl-C ends
    /// it.
    Router(network::RouterOptions),
    /// What a shell needs to complete this command's lines, also by the names of what runs: put it
    /// where the shell looks, or source it. Make it anew with another version of this command.
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
    /// What the parser can't see: options that don't go together.
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
    /// Save one frame of each picture, as the viewer got it, as a PNG file in this directory (made
    /// if missing; files of the same name are replaced).
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,

    /// End after that long. Default: on a terminal when Ctrl-C is pressed, otherwise after 3
    /// seconds.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<Duration>,

    /// Frames per second.
    #[arg(long, allow_negative_numbers = true, value_name = "HZ", value_parser = frame_rate, default_value = "30")]
    pub(crate) rate: f64,

    /// Change the filter's settings every second, through its service.
    #[arg(long)]
    pub(crate) settings: bool,

    /// The viewer is in a process of its own, and frames lie in shared memory; `sinew topic list`
    /// and the others see it all.
    #[arg(long)]
    pub(crate) processes: bool,

    /// This is the viewer, started by that process.
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

    /// Only look whether everything is right: the files, programs and arguments.
    #[arg(long)]
    pub(crate) check: bool,

    /// Only list the arguments that the file has.
    #[arg(short = 's', long, visible_alias = "show-arguments", conflicts_with = "check")]
    pub(crate) show_args: bool,

    /// Only print what would be run.
    #[arg(short, long, conflicts_with_all = ["check", "show_args"])]
    pub(crate) print: bool,

    /// Show CPU and memory of each process every second, on a terminal above what they say last.
    /// (Without it, Enter and SIGUSR1 ask for them.)
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
    /// The package that has it, on AMENT_PREFIX_PATH.
    #[arg(long, value_name = "PACKAGE")]
    pub(crate) package: Option<String>,

    /// What its node is called.
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,

    /// The namespace that its nodes live in.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Call a topic or service otherwise.
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

    /// The program, and what it is given.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) line: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct KeeperOptions {
    /// What the launch says.
    #[arg(hide = true)]
    pub(crate) arguments: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ComponentOptions {
    #[command(subcommand)]
    pub(crate) command: ComponentCommand,
}

/// What there is to do with components.
#[derive(Debug, Subcommand)]
pub(crate) enum ComponentCommand {
    /// The containers, and the nodes in them with their numbers.
    List(ComponentListOptions),
    /// The kinds of nodes that a container of Sinew's can make.
    Types(ComponentTypesOptions),
    /// Have a container make a node.
    Load(LoadOptions),
    /// Have a container drop nodes.
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

    /// The package. (Containers of Sinew's don't look at it.)
    #[arg(value_name = "PACKAGE")]
    pub(crate) package: String,

    /// The kind of node, as `demo_nodes::Talker`.
    #[arg(value_name = "PLUGIN")]
    pub(crate) plugin: String,

    /// What the node is called.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,

    /// The namespace that it lives in.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) node_namespace: Option<String>,

    /// Give a parameter a value, as on a node's command line. May be given several times.
    #[arg(short, long, value_name = "NAME:=VALUE")]
    pub(crate) parameter: Vec<String>,

    /// The level of the node's logger.
    #[arg(long, value_name = "LEVEL", value_parser = tools::log::level)]
    pub(crate) log_level: Option<sinew::LogLevel>,

    /// Call a topic or service of the node otherwise. May be given several times.
    #[arg(short, long, value_name = "FROM:=TO")]
    pub(crate) remap_rule: Vec<String>,

    /// An argument for the container, such as `automatically_declare_parameters_from_overrides:=true`. May be given
    /// several times.
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

    /// The numbers of the nodes, as `list` has them.
    #[arg(value_name = "UID", required = true)]
    pub(crate) unique_ids: Vec<u64>,

    #[command(flatten)]
    pub(crate) place: tools::Where,

    /// One JSON value instead of sentences.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A launch file's argument.
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
