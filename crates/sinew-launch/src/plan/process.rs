//! One process: its program, command line, environment and policy.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::contents::{Offer, Output, Process, Word};
use super::parameters::given;
use super::scope::{Given, Scope, absolute, joined};
use super::{names, programs};
use crate::description::{ComponentItem, ProcessItem, ReadyItem, RestartItem, Words};
use crate::error::{LoadError, Problem};
use crate::parameter::{self, Parameter};
use crate::place::Place;
use crate::similar::suggestion;
use crate::supervisor::{Policy, Restart, RestartPolicy, Signal};
use crate::text::Text;

/// A variable that `sinew::Context` reads.
const SHARED_OPTIONS: &str = "SINEW_SHARED_OPTIONS";

/// Longest delay and grace period; longer ones are a mistake.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// A process without the processes that it waits for and without its arguments: components may be
/// declared elsewhere in the files.
pub(crate) struct Planned {
    pub(crate) process: Process,
    pub(crate) line: CommandLine,
}

impl Planned {
    pub(crate) fn finish(mut self) -> Process {
        self.process.arguments = self.line.arguments();
        self.process
    }
}

/// The words of a process's command line.
#[derive(Default)]
pub(crate) struct CommandLine {
    /// The full name of its node, if the command line sets one.
    pub(crate) node: Option<String>,
    words: Vec<String>,
    /// Whether the program loads the libraries of packages.
    loads_packages: bool,
    pub(crate) components: Vec<Component>,
    /// `--ros-args`: the name of its node,
    names: Vec<Word>,
    /// the rules for all of its nodes,
    rules: Vec<Word>,
    /// their parameters,
    parameters: Vec<Word>,
    /// and the file's own arguments.
    others: Vec<Word>,
}

impl CommandLine {
    fn arguments(self) -> Vec<Word> {
        let Self { words, loads_packages, components, names, rules, parameters, others, .. } = self;
        let of_components = components.iter().flat_map(|component| component.words(loads_packages));
        let mut all: Vec<Word> = words.into_iter().chain(of_components).map(Word::Text).collect();
        let options = components.into_iter().flat_map(|component| component.options);
        let (first, last): (Vec<_>, Vec<_>) = options.partition(|(option, _)| *option == "-r");
        let words_of = |options: Vec<(&str, Word)>| {
            let words = options.into_iter().flat_map(|(option, word)| [Word::Text(option.to_owned()), word]);
            words.collect::<Vec<_>>()
        };
        // The first matching rule counts: those of one node, the process's own, those around it.
        // For parameters, the last one counts.
        let ros = [names, words_of(first), rules, parameters, words_of(last), others].concat();
        if !ros.is_empty() {
            all.push(Word::Text("--ros-args".to_owned()));
        }
        all.extend(ros);
        all
    }
}

/// Plans a process.
pub(crate) fn plan(item: &ProcessItem, place: &Place, scope: &Scope) -> Result<Planned, LoadError> {
    let mut scope = scope.clone();
    for (name, value) in &item.environment {
        let (text, name) = (name, scope.text(name)?);
        let value = scope.text_if(value.as_ref())?;
        scope.set_environment(name, value, &text.place)?;
    }
    let around = scope.namespace.clone();
    if let Some(namespace) = &item.namespace {
        scope.namespace = scope.namespace_of(&scope.text(namespace)?);
        names::namespace(&scope.namespace, namespace)?;
    }
    let scope = &scope;
    let node = scope.text_if(item.node.as_ref())?;
    if let (Some(name), Some(text)) = (&node, &item.node) {
        names::node("node", name, text)?;
    }
    let Started { program, mut words, called, is_python } = program(item, place, scope)?;
    for argument in &item.arguments {
        words.extend(split(argument, scope)?);
    }
    let loads_packages = program.file_name().is_some_and(|name| name == "sinew-container");
    let mut line = CommandLine { words, loads_packages, ..CommandLine::default() };
    if item.takes_ros_arguments {
        ros_arguments(&mut line, (item, place), node.as_deref(), scope)?;
        for component in &item.components {
            if scope.holds(&component.condition)? {
                line.components.push(Component::of(component, &around, scope)?);
            }
        }
    }
    let own = match (&item.name, &node) {
        (Some(name), _) | (None, Some(name)) => name.clone(),
        (None, None) => called,
    };
    let name = scope.full_name(&own);
    let directory = scope.text_if(item.directory.as_ref())?.map(|path| absolute(&scope.path_of(&path)));
    if let (Some(path), Some(text)) = (&directory, &item.directory)
        && !path.is_dir()
    {
        let expected = "it has to be a directory that is there";
        return Err(Problem::value("dir", path.display().to_string(), expected).at(&text.place));
    }
    let ready = offers(&item.ready, scope)?;
    let seconds = |key, text: &Option<Text>| duration(key, text.as_ref(), scope);
    let defaults = Policy::default();
    let policy = Policy {
        restart: restart(&item.restart, scope)?,
        required: item.required.as_ref().map_or(Ok(false), |text| scope.truth("required", text))?,
        signal: one_of("signal", item.signal.as_ref(), scope, &SIGNALS)?.unwrap_or(defaults.signal),
        grace: seconds("grace", &item.grace)?.unwrap_or(defaults.grace),
        grace_after_term: seconds("grace_after_term", &item.grace_after_term)?
            .unwrap_or(defaults.grace_after_term),
        ready_after: seconds("delay", &item.ready.delay)?.unwrap_or_default(),
        ready_on_exit: number("exit", item.ready.exit.as_ref(), scope, 0..=255u8)?,
        waits_to_be_told: !ready.is_empty(),
        ready_timeout: seconds("timeout", &item.ready.timeout)?,
        after: Vec::new(),
    };
    let process = Process {
        name,
        place: place.clone(),
        program,
        arguments: Vec::new(),
        environment: environment(item, is_python, scope),
        directory,
        output: one_of("output", item.output.as_ref(), scope, &OUTPUTS)?.unwrap_or(Output::Screen),
        policy,
        ready,
    };
    Ok(Planned { process, line })
}

/// Builds the environment. Programs in Python write each line at once, unless it says otherwise. One
/// variable lists the options that are shared with other processes:
/// Sinew's programs then don't report such an option as a mistake if it matches nothing.
fn environment(item: &ProcessItem, is_python: bool, scope: &Scope) -> Arc<BTreeMap<String, String>> {
    let mut environment = Arc::clone(&scope.environment);
    if is_python && !environment.contains_key("PYTHONUNBUFFERED") {
        Arc::make_mut(&mut environment).insert("PYTHONUNBUFFERED".to_owned(), "1".to_owned());
    }
    let rules = scope.remap.iter().map(|(from, to)| format!("{from}:={to}\n"));
    let names = scope.parameters.iter().filter_map(|given| match given {
        Given::Value(name, _) => Some(format!("-p {name}\n")),
        Given::File(_) | Given::Text(_) => None,
    });
    let shared: String = rules.chain(names).collect();
    if item.takes_ros_arguments && !shared.is_empty() {
        Arc::make_mut(&mut environment).insert(SHARED_OPTIONS.to_owned(), shared);
    } else if environment.contains_key(SHARED_OPTIONS) {
        Arc::make_mut(&mut environment).remove(SHARED_OPTIONS); // from a launch around this one
    }
    environment
}

/// What is started for a process.
struct Started {
    /// The prefix or the interpreter, if there is one.
    program: PathBuf,
    /// The words before its own arguments.
    words: Vec<String>,
    /// The name of the file that the launch file names.
    called: String,
    is_python: bool,
}

/// Finds the program. A script of Python needs no mode that allows it: the `python3` on `PATH` runs it.
fn program(item: &ProcessItem, place: &Place, scope: &Scope) -> Result<Started, LoadError> {
    let (text, name, rest) = match (&item.program, &item.command) {
        (Some(text), _) => (text, scope.text(text)?, Vec::new()),
        (None, Some(words @ (Words::Line(text) | Words::One(text)))) => {
            let mut words = split(words, scope)?;
            let first = if words.is_empty() { String::new() } else { words.remove(0) };
            (text, first, words)
        }
        (None, None) => {
            let (owner, purpose) = ("a process".to_owned(), "what is run");
            return Err(Problem::Missing { owner, key: "program", purpose }.at(place));
        }
    };
    let environment = &scope.environment;
    let by_name = |name: &str| match name.contains('/') {
        true => programs::at(absolute(&scope.path_of(name))),
        false => programs::on_path(name, environment),
    };
    let found = match scope.text_if(item.package.as_ref())? {
        Some(package) => programs::in_package(&name, &package, environment),
        None if name.is_empty() => Err(Problem::value("program", "empty", "it has to be a program")),
        None => by_name(&name),
    };
    let is_script = |path: &Path| path.extension().is_some_and(|end| end == "py") && path.is_file();
    let (found, interpreter) = match found {
        Err(Problem::NotExecutable { path, .. }) if is_script(&path) => (path, Some("python3".to_owned())),
        found => (found.map_err(|problem| problem.at(&text.place))?, None),
    };
    let prefix = item.prefix.as_ref().map_or(Ok(Vec::new()), |prefix| split(prefix, scope))?;
    let is_prefixed = !prefix.is_empty();
    let mut before = prefix.into_iter().chain(interpreter.filter(|_| !is_prefixed));
    let called = found.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_python = is_script(&found);
    let (program, words) = match before.next() {
        Some(first) => {
            let program = by_name(&first).map_err(|problem| problem.at(&text.place))?;
            (program, before.chain([found.display().to_string()]).chain(rest).collect())
        }
        None => (found, rest),
    };
    Ok(Started { program, words, called, is_python })
}

/// Splits a part of a command line into words.
fn split(words: &Words, scope: &Scope) -> Result<Vec<String>, LoadError> {
    match words {
        Words::One(text) => Ok(vec![scope.text(text)?]),
        Words::Line(text) => {
            let line = scope.text(text)?;
            shlex::split(&line).ok_or_else(|| {
                let expected = "a quote in it is never closed, or nothing follows its last backslash";
                Problem::value("args", format!("`{line}`"), expected).at(&text.place)
            })
        }
    }
}

/// A node that a container loads.
pub(crate) struct Component {
    /// Its full name.
    node: String,
    kind: String,
    /// The package of its library, or the library's path.
    package: Option<String>,
    /// Its part of `--ros-args`.
    options: Vec<(&'static str, Word)>,
}

impl Component {
    fn of(item: &ComponentItem, around: &str, scope: &Scope) -> Result<Self, LoadError> {
        let kind = scope.text(&item.type_name)?;
        if kind.is_empty() || kind.contains(['=', ' ']) {
            let expected = "it has to be the type of a component, such as demo::Talker";
            return Err(Problem::value("components", format!("`{kind}`"), expected).at(&item.type_name.place));
        }
        let seen_from = if item.is_below_process { &scope.namespace } else { around };
        let namespace = joined(seen_from, &scope.text_if(item.namespace.as_ref())?.unwrap_or_default());
        let name = scope.text(&item.name)?;
        if name.is_empty() || name.ends_with('/') {
            return Err(
                Problem::value("components", format!("`{name}`"), "it has to be a name").at(&item.place)
            );
        }
        let node = joined(&namespace, &name);
        names::node("components", &node, &item.name)?;
        let mut options = Vec::new();
        for (from, to) in &item.remap {
            let (rule, place) = ((scope.text(from)?, scope.text(to)?), from);
            names::remap((&rule.0, &rule.1), place)?;
            options.push(("-r", Word::Text(format!("{node}:{}:={}", rule.0, rule.1))));
        }
        let given = item.parameters.iter().map(|item| given(item, scope));
        options.extend(parameters(Some(&node), &given.collect::<Result<Vec<_>, _>>()?));
        if let Some(level) = scope.text_if(item.log_level.as_ref())? {
            let logger = node.trim_start_matches('/').replace('/', ".");
            options.push(("--log-level", Word::Text(format!("{logger}:={level}"))));
        }
        Ok(Self { node, kind, package: scope.text_if(item.package.as_ref())?, options })
    }

    /// Plans a component that is declared outside its container: the settings for all nodes at its
    /// place apply to it.
    pub(crate) fn loaded(item: &ComponentItem, scope: &Scope) -> Result<Self, LoadError> {
        scope.charge_settings(&item.place)?;
        let mut component = Self::of(item, &scope.namespace, scope)?;
        let node = &component.node;
        // As in a command line: the first rule counts, and the last parameter.
        let rules = scope.remap.iter().rev();
        let rules = rules.map(|(from, to)| ("-r", Word::Text(format!("{node}:{from}:={to}"))));
        let mut options = parameters(Some(node), &scope.parameters);
        let rules: Vec<_> = rules.collect();
        options.append(&mut component.options);
        options.extend(rules);
        component.options = options;
        Ok(component)
    }

    /// Returns `--component TYPE=NODE`, in the form that `sinew-component` reads, for a program that
    /// loads packages after its package.
    fn words(&self, loads_packages: bool) -> Vec<String> {
        let package = self.package.as_ref().filter(|_| loads_packages);
        let package = package.map(|package| ["--package".to_owned(), package.clone()]);
        let component = ["--component".to_owned(), format!("{}={}", self.kind, self.node)];
        package.into_iter().flatten().chain(component).collect()
    }
}

/// Adds the `--ros-args` for all nodes of the process.
fn ros_arguments(
    line: &mut CommandLine,
    (item, place): (&ProcessItem, &Place),
    node: Option<&str>,
    scope: &Scope,
) -> Result<(), LoadError> {
    let add = |words: &mut Vec<Word>, option: &str, value: Word| {
        words.extend([Word::Text(option.to_owned()), value]);
    };
    scope.charge_settings(place)?;
    let CommandLine { node: full_name, names, rules, parameters: of_parameters, others, .. } = line;
    if let Some(node) = node {
        *full_name = Some(joined(&scope.namespace, node));
        add(names, "-r", Word::Text(format!("__node:={node}")));
    }
    if !scope.namespace.is_empty() {
        add(names, "-r", Word::Text(format!("__ns:={}", scope.namespace)));
    }
    for (from, to) in &item.remap {
        let rule = (scope.text(from)?, scope.text(to)?);
        names::remap((&rule.0, &rule.1), from)?;
        add(rules, "-r", Word::Text(format!("{}:={}", rule.0, rule.1)));
    }
    for (from, to) in scope.remap.iter().rev() {
        add(rules, "-r", Word::Text(format!("{from}:={to}")));
    }
    let own: Result<Vec<Given>, LoadError> = item.parameters.iter().map(|item| given(item, scope)).collect();
    // The process's own parameters come after those around it.
    let all: Vec<Given> = scope.parameters.iter().cloned().chain(own?).collect();
    for (option, word) in parameters(None, &all) {
        add(of_parameters, option, word);
    }
    for line in &item.ros_arguments {
        others.extend(split(line, scope)?.into_iter().map(Word::Text));
    }
    Ok(())
}

/// Returns the options for parameters, of one node by its full name or of all nodes: single words
/// go on the command line, trees into a file.
fn parameters(node: Option<&str>, all: &[Given]) -> Vec<(&'static str, Word)> {
    let is_value = |given: &Given| matches!(given, Given::Value(..));
    let runs = all.chunk_by(|one, next| is_value(one) && is_value(next));
    runs.flat_map(|run| parameters_of_run(node, run)).collect()
}

/// Returns the options for a file, or for a run of values.
fn parameters_of_run(node: Option<&str>, run: &[Given]) -> Vec<(&'static str, Word)> {
    match run {
        [Given::File(path)] => vec![("--params-file", Word::Text(path.display().to_string()))],
        [Given::Text(text)] => vec![("--params-file", Word::File(text.clone()))],
        run => {
            let values: Vec<(String, Parameter)> = run
                .iter()
                .filter_map(|given| match given {
                    Given::Value(name, value) => Some((name.clone(), value.clone())),
                    Given::File(_) | Given::Text(_) => None,
                })
                .collect();
            let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if values.iter().all(|(name, _)| is_plain(name)) {
                let of = node.map(|node| format!("{node}:")).unwrap_or_default();
                let one = |(name, value): &(String, Parameter)| {
                    ("-p", Word::Text(format!("{of}{name}:={}", value.to_yaml())))
                };
                return values.iter().map(one).collect();
            }
            vec![("--params-file", Word::File(parameter::file(node.unwrap_or("/**"), &values)))]
        }
    }
}

fn restart(item: &RestartItem, scope: &Scope) -> Result<Restart, LoadError> {
    let defaults = Restart::default();
    let has_options = item.delay.is_some() || item.max_delay.is_some() || item.max.is_some();
    let policy = one_of("restart", item.policy.as_ref(), scope, &POLICIES)?;
    let otherwise = if has_options { RestartPolicy::OnFailure } else { defaults.policy };
    let delay = duration("delay", item.delay.as_ref(), scope)?.unwrap_or(defaults.delay);
    let max_delay =
        duration("max_delay", item.max_delay.as_ref(), scope)?.unwrap_or(defaults.max_delay.max(delay));
    if let Some(text) = item.max_delay.as_ref().filter(|_| max_delay < delay) {
        let expected = format!("it can't be less than `delay`, which is {}", delay.as_secs_f64());
        return Err(
            Problem::value("max_delay", max_delay.as_secs_f64().to_string(), expected).at(&text.place)
        );
    }
    Ok(Restart {
        policy: policy.unwrap_or(otherwise),
        delay,
        max_delay,
        max: number("max", item.max.as_ref(), scope, 0..=u32::MAX)?,
        window: duration("window", item.window.as_ref(), scope)?.unwrap_or(defaults.window),
    })
}

fn offers(item: &ReadyItem, scope: &Scope) -> Result<Vec<Offer>, LoadError> {
    let others =
        [("service", &item.service), ("topic", &item.topic), ("node", &item.node), ("delay", &item.delay)];
    if let Some(exit) = &item.exit
        && let Some((other, _)) = others.iter().find(|(_, text)| text.is_some())
    {
        let found = format!("given together with `{other}`");
        let expected = "the process has ended then and offers nothing: give one of them";
        return Err(Problem::value("exit", found, expected).at(&exit.place));
    }
    let mut offers = Vec::new();
    let mut add = |text: &Option<Text>, kind: fn(String) -> Offer| -> Result<(), LoadError> {
        offers.extend(scope.text_if(text.as_ref())?.map(|name| kind(joined(&scope.namespace, &name))));
        Ok(())
    };
    add(&item.service, Offer::Service)?;
    add(&item.topic, Offer::Topic)?;
    add(&item.node, Offer::Node)?;
    Ok(offers)
}

const SIGNALS: [(&str, Signal); 6] = [
    ("SIGINT", Signal::Int),
    ("SIGTERM", Signal::Term),
    ("SIGKILL", Signal::Kill),
    ("INT", Signal::Int),
    ("TERM", Signal::Term),
    ("KILL", Signal::Kill),
];

const OUTPUTS: [(&str, Output); 5] = [
    ("screen", Output::Screen),
    ("log", Output::Log),
    ("both", Output::Both),
    ("own_log", Output::Log),
    ("full", Output::Both),
];

/// The last four are the values of ROS 2's `respawn`.
const POLICIES: [(&str, RestartPolicy); 7] = [
    ("never", RestartPolicy::Never),
    ("on-failure", RestartPolicy::OnFailure),
    ("always", RestartPolicy::Always),
    ("true", RestartPolicy::Always),
    ("True", RestartPolicy::Always),
    ("false", RestartPolicy::Never),
    ("False", RestartPolicy::Never),
];

fn one_of<T: Copy>(
    key: &str,
    text: Option<&Text>,
    scope: &Scope,
    all: &[(&str, T)],
) -> Result<Option<T>, LoadError> {
    let Some(text) = text else { return Ok(None) };
    let found = scope.text(text)?;
    if let Some((_, value)) = all.iter().find(|(name, _)| *name == found) {
        return Ok(Some(*value));
    }
    let names: Vec<&str> = all.iter().take(3).map(|(name, _)| *name).collect();
    let expected = format!("it has to be {}{}", names.join(", "), suggestion(&found, names.iter().copied()));
    Err(Problem::value(key, format!("`{found}`"), expected).at(&text.place))
}

/// Reads a time in seconds.
fn duration(key: &str, text: Option<&Text>, scope: &Scope) -> Result<Option<Duration>, LoadError> {
    let Some(text) = text else { return Ok(None) };
    let found = scope.text(text)?;
    let seconds = found.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match seconds.filter(|seconds| *seconds <= LONGEST) {
        Some(seconds) => Ok(Some(seconds)),
        None => {
            let expected = "it has to be a number of seconds, from 0 to 86400";
            Err(Problem::value(key, format!("`{found}`"), expected).at(&text.place))
        }
    }
}

fn number<T: FromStr + PartialOrd + Display>(
    key: &str,
    text: Option<&Text>,
    scope: &Scope,
    range: std::ops::RangeInclusive<T>,
) -> Result<Option<T>, LoadError> {
    let Some(text) = text else { return Ok(None) };
    let found = scope.text(text)?;
    match found.trim().parse().ok().filter(|number| range.contains(number)) {
        Some(number) => Ok(Some(number)),
        None => {
            let expected = format!("it has to be a whole number from {} to {}", range.start(), range.end());
            Err(Problem::value(key, format!("`{found}`"), expected).at(&text.place))
        }
    }
}
