//! Completion of command lines in shells: the command's own words, and the names of running nodes,
//! topics and so on.
//!
//! `sinew completions SHELL` prints a script that makes the shell run this program at each Tab,
//! with [`VARIABLE`] in its environment and the words typed so far. Options and subcommands come
//! from the definition of the command line; an argument's values depend on its name there, such as
//! NODE. Names that can't be found, or take longer than [`PATIENCE`], complete nothing: a shell has
//! no place for an error.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use sinew::graph::{GraphSnapshot, NameAndTypes};
use sinew::names::is_hidden;
use sinew::{Context, Service, Unique};
use sinew_interfaces::composition_interfaces::srv::{ListNodes, ListNodesRequest};
use sinew_interfaces::std_srvs::srv::{Trigger, TriggerRequest};
use sinew_lifecycle::Transition;
use sinew_msg::definition::{Kind, TypeName};
use sinew_msg::is_unseen;

use crate::cli::Cli;
use crate::cli::interfaces::DefinitionOptions;
use crate::cli::tools::Where;
use crate::harmless::one_line;
use crate::interfaces::PackageSources;
use crate::observed::Observed;
use crate::{component, lifecycle, params, tf};

/// Names the requesting shell. (Other programs also use `COMPLETE`.)
const VARIABLE: &str = "SINEW_COMPLETE";

/// Longest wait for a node's answer, and for frames.
const PATIENCE: Duration = Duration::from_millis(500);

/// If a shell requests completions, prints them and ends the program.
pub(crate) fn answer_if_asked() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Returns the script for a shell.
pub(crate) fn script(shell: clap_complete::Shell) -> Vec<u8> {
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(&shell.to_string()) {
        // Found on PATH: the script may outlive this build, and be used on another host.
        let written = completer.write_registration(VARIABLE, "sinew", "sinew", "sinew", &mut script);
        debug_assert!(written.is_ok(), "a vector takes everything");
    }
    script
}

/// Returns the command line, with completers for its arguments.
fn command() -> Command {
    named(Cli::command(), "")
}

fn named(command: Command, above: &'static str) -> Command {
    let name = command.get_name();
    let tools = ["node", "topic", "service", "action", "interface", "launch", "lifecycle", "param", "tf"];
    let tool = tools.into_iter().find(|tool| *tool == name).unwrap_or(above);
    command
        .mut_args(|arg| match What::of(&arg, tool) {
            Some(what) => arg.add(ArgValueCompleter::new(move |typed: &OsStr| what.candidates(typed))),
            None => arg,
        })
        .mut_subcommands(|command| named(command, tool))
}

/// The kind of value of an argument.
#[derive(Clone, Copy)]
enum What {
    Node,
    Topic,
    Service,
    Action,
    Container,
    /// A kind of node of the container before it.
    Plugin,
    /// A node in the container before it.
    Loaded,
    Managed,
    Transition,
    /// A parameter of the node before it.
    Parameter,
    /// The type of the topic, service or action before it, if that exists; otherwise all types of
    /// one kind, or of any.
    Type(Option<Kind>),
    Package,
    Frame,
    /// An argument of the launch file before it.
    LaunchArgument,
}

impl What {
    /// Determines the kind by the argument's name, and by the tool.
    fn of(arg: &Arg, tool: &str) -> Option<Self> {
        let name = arg.get_value_names()?.first()?.as_str();
        Some(match (name, tool) {
            ("NODE", "lifecycle") => Self::Managed,
            ("TRANSITION", _) => Self::Transition,
            ("NODE", _) => Self::Node,
            ("NAME", "node") if arg.is_positional() => Self::Node,
            ("TOPIC", _) | ("NAME" | "TOPIC.FIELD", "topic") if arg.is_positional() => Self::Topic,
            ("SERVICE", _) | ("NAME", "service") if arg.is_positional() => Self::Service,
            ("ACTION", _) | ("NAME", "action") if arg.is_positional() => Self::Action,
            ("CONTAINER", _) => Self::Container,
            ("PLUGIN", _) => Self::Plugin,
            ("UID", _) => Self::Loaded,
            ("REFERENCE" | "FRAME", "tf") => Self::Frame,
            ("PARAMETER", _) => Self::Parameter,
            ("TYPE", "topic") => Self::Type(Some(Kind::Message)),
            ("TYPE", "service") => Self::Type(Some(Kind::Service)),
            ("TYPE", "action") => Self::Type(Some(Kind::Action)),
            ("TYPE", _) => Self::Type(None),
            ("PACKAGE", "interface") => Self::Package,
            ("NAME:=VALUE", "launch") => Self::LaunchArgument,
            _ => return None,
        })
    }

    /// Returns the candidates that begin with the typed text.
    fn candidates(self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let Some(typed) = typed.to_str() else { return Vec::new() };
        let words = words();
        if matches!(self, Self::Loaded) {
            return loaded(&words, typed).unwrap_or_default();
        }
        let mut names = self.names(&words).unwrap_or_default();
        // As everywhere, the leading slash of names may be left out.
        if !typed.is_empty() && !typed.starts_with('/') {
            names.iter_mut().for_each(|name| name.replace_range(..usize::from(name.starts_with('/')), ""));
        }
        // Hidden names are only completed if the user has begun to type one. A shell would print
        // control characters.
        names.retain(|name| !name.chars().any(is_unseen));
        names.retain(|name| name.starts_with(typed) && (!is_hidden(name) || is_hidden(typed)));
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(CompletionCandidate::new).collect()
    }

    /// Returns all names.
    fn names(self, words: &[String]) -> Option<Vec<String>> {
        let place = Where::in_words(words);
        let seen = || Observed::open_silently(&place).and_then(|mut observed| observed.read()).ok();
        let names = |all: fn(&GraphSnapshot) -> Vec<NameAndTypes>| {
            Some(all(&seen()?).into_iter().map(|name| name.name).collect())
        };
        match self {
            Self::Node => Some(seen()?.nodes().iter().map(|node| node.name.clone()).collect()),
            Self::Topic => names(GraphSnapshot::topics),
            Self::Service => names(GraphSnapshot::services),
            Self::Action => names(GraphSnapshot::actions),
            Self::Managed => Some(lifecycle::managed_in(&seen()?)),
            Self::Transition => {
                Some(Transition::ALL.map(|transition| transition.label().to_owned()).to_vec())
            }
            Self::Container => Some(component::containers_in(&seen()?)),
            Self::Plugin => {
                let known =
                    Asking::of(&place)?.ask::<Trigger>(words, "list_types", TriggerRequest::default())?;
                Some(known.message.lines().map(one_line).collect())
            }
            Self::Loaded => None, // with their descriptions, see `loaded`
            Self::Frame => tf::frame_names(&place, PATIENCE),
            Self::Parameter => params::names(&place, &node_in(words)?, PATIENCE),
            Self::Type(kind) => {
                if let Some(types) = seen().and_then(|seen| types_in(&seen, words, kind?)) {
                    return Some(types);
                }
                let mut names = PackageSources::open(&DefinitionOptions::default()).ok()?.names();
                names.retain(|name| kind.is_none_or(|kind| name.kind() == kind));
                Some(names.iter().map(ToString::to_string).collect())
            }
            Self::Package => {
                let names = PackageSources::open(&DefinitionOptions::default()).ok()?.names();
                Some(names.iter().map(TypeName::package).map(str::to_owned).collect())
            }
            Self::LaunchArgument => {
                let file = values_in(words).nth(2)?; // behind `sinew launch`
                let arguments = sinew_launch::arguments(Path::new(file)).ok()?;
                Some(arguments.iter().map(|argument| format!("{}:=", argument.name)).collect())
            }
        }
    }
}

/// Returns the types of the topic, service or action before the argument: `sinew topic pub NAME`.
/// Returns `None` if it doesn't exist, or is not on the line.
fn types_in(seen: &GraphSnapshot, words: &[String], kind: Kind) -> Option<Vec<String>> {
    if values_in(words).nth(2) == Some("find") {
        return None;
    }
    let name = node_in(words)?;
    let all = match kind {
        Kind::Message => seen.topics(),
        Kind::Service => seen.services(),
        Kind::Action => seen.actions(),
    };
    Some(all.into_iter().find(|found| found.name == name)?.types)
}

/// Returns the numbers of the nodes in the container before the argument, each with its node's
/// name.
fn loaded(words: &[String], typed: &str) -> Option<Vec<CompletionCandidate>> {
    let asking = Asking::of(&Where::in_words(words))?;
    let listed = asking.ask::<ListNodes>(words, "list_nodes", ListNodesRequest::default())?;
    let all = listed.unique_ids.iter().zip(&listed.full_node_names);
    let all = all.map(|(id, node)| (id.to_string(), one_line(node)));
    let given: Vec<&str> = values_in(words).skip(4).filter(|word| *word != typed).collect();
    let fitting = all.filter(|(id, _)| id.starts_with(typed) && !given.contains(&id.as_str()));
    Some(fitting.map(|(id, node)| CompletionCandidate::new(id).help(Some(node.into()))).collect())
}

/// A node of this program that asks containers.
struct Asking {
    node: sinew::Node,
    _context: Context,
}

impl Asking {
    fn of(place: &Where) -> Option<Self> {
        let builder = Context::builder().domain(place.domain().ok()?);
        let builder = match &place.dir {
            Some(directory) => builder.directory(directory),
            None => builder,
        };
        let context = builder.build().ok()?;
        let node = context.node(&format!("_sinew_completion_{}", std::process::id())).ok()?;
        Some(Self { node, _context: context })
    }

    /// Asks the container before the argument.
    fn ask<S: Service>(
        &self,
        words: &[String],
        service: &str,
        request: S::Request,
    ) -> Option<Unique<S::Response>> {
        let name = format!("{}/_container/{service}", node_in(words)?);
        let client = self.node.client::<S>(&name).create().ok()?;
        client.wait_for_server(PATIENCE).then(|| client.call(request, PATIENCE).ok())?
    }
}

/// Returns the line to complete, from `sinew` on.
fn words() -> Vec<String> {
    let all = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    all.skip_while(|word| word != "--").skip(1).collect()
}

/// Returns the words that are neither options nor values of the options that may precede a node's
/// name.
fn values_in(words: &[String]) -> impl Iterator<Item = &str> {
    const WITH_VALUE: [&str; 3] = ["--domain", "--dir", "--timeout"];
    let mut is_value = false;
    words.iter().map(String::as_str).filter(move |word| {
        let was_value = std::mem::replace(&mut is_value, WITH_VALUE.contains(word));
        !was_value && !word.starts_with('-')
    })
}

/// Returns the name of the node, topic or so: `sinew param get NODE`.
fn node_in(words: &[String]) -> Option<String> {
    values_in(words).nth(3).map(|node| format!("/{}", node.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_and_their_values_are_no_names() {
        let line = words("sinew param --timeout 1 get --dir /x --json arm ga");
        assert_eq!(values_in(&line).collect::<Vec<_>>(), ["sinew", "param", "get", "arm", "ga"]);
        assert_eq!(node_in(&line).as_deref(), Some("/arm"));
        assert_eq!(node_in(&words("sinew param get")), None);
    }

    #[test]
    fn the_definition_holds() {
        command().debug_assert();
    }
}
