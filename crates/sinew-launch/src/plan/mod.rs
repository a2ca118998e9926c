//! Turns a launch file's items into a plan: decides conditions, replaces texts, reads includes and
//! finds programs. Every error is reported here, before anything starts.

mod limits;
mod names;
mod order;
mod process;
mod programs;
mod scope;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::description::{
    Argument, ComponentItem, Include, Item, ItemKind, ParameterItem, ParameterKind, ParameterValue, Typing,
};
use crate::error::{LoadError, Problem};
use crate::file;
use crate::parameter::Parameter;
use crate::place::Place;
use crate::similar::suggestion;
use crate::supervisor::Policy;
use crate::text::{Part, Text};
use limits::Budget;
use process::{Component, Planned};
use scope::{After, Given, Scope, Variable, absolute, joined};

/// Options for planning a launch file.
///
/// ```
/// let options = sinew_launch::Options { arguments: vec![("robot".to_owned(), "r2".to_owned())], ..Default::default() };
/// ```
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Arguments of the file, by name: `name:=value` on the command line. The last value of a name
    /// counts.
    pub arguments: Vec<(String, String)>,
    /// The environment of the processes; by default that of this process. (Variables that aren't
    /// UTF-8 are left out.)
    pub environment: Option<BTreeMap<String, String>>,
}

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

/// Reads and plans a launch file and its includes. Starts nothing, and writes nothing.
///
/// The extension decides the file's format: `.toml` is Sinew's own, `.xml`, `.yaml` and `.yml` are
/// ROS 2's.
///
/// A plan has at most 4000 processes and 1000 files, nested up to 32 deep; a file has at most 4
/// MiB, a value 131,071 bytes, and all values together 64 MiB. These limits bound the time and
/// memory that any file can cost.
///
/// ```
/// use sinew_launch::{Options, load};
///
/// let directory = tempfile::tempdir()?;
/// let file = directory.path().join("robot.toml");
/// std::fs::write(&file, r#"
///     [arguments]
///     words = { default = "hello", description = "what is said" }
///
///     [process.greeter]
///     program = "echo"
///     args = ["$(var words)", "world"]
///     ros_args = false
/// "#)?;
/// let plan = load(&file, &Options::default())?;
/// assert_eq!(plan.processes[0].name, "greeter");
/// assert_eq!(plan.arguments[0].description, "what is said");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LoadError`], for the first error in the files.
pub fn load(path: &Path, options: &Options) -> Result<Plan, LoadError> {
    let environment = options.environment.clone().unwrap_or_else(own_environment);
    let given: BTreeMap<String, String> = options.arguments.iter().cloned().collect();
    let mut planner = Planner::new(&given);
    let variable = |value: &String| Variable { value: value.clone(), is_text: false };
    let variables = given.iter().map(|(name, value)| (name.clone(), variable(value))).collect();
    let (variables, environment) = (Arc::new(variables), Arc::new(environment));
    let mut scope = Scope { variables, environment, ..Scope::default() };
    planner.file(path, &mut scope, &Place::new(path, 1, 1))?;
    planner.check_given()?;
    planner.finish(&scope.budget)
}

/// Returns the arguments of a launch file and of its includes, without planning any process:
/// programs needn't exist, and arguments needn't be given.
///
/// # Errors
/// [`LoadError`]
pub fn arguments(path: &Path) -> Result<Vec<ArgumentInfo>, LoadError> {
    let given = BTreeMap::new();
    let mut planner = Planner { only_arguments: true, ..Planner::new(&given) };
    let mut scope = Scope { environment: Arc::new(own_environment()), ..Scope::default() };
    planner.file(path, &mut scope, &Place::new(path, 1, 1))?;
    Ok(planner.arguments)
}

/// Finds a program: in a package if one is given, otherwise by its path, or on `PATH`.
///
/// ```
/// let program = sinew_launch::find_program("sh", None).unwrap();
/// assert!(program.ends_with("sh"));
/// assert!(sinew_launch::find_program("no-such-program", None).is_err());
/// ```
///
/// # Errors
/// [`Problem`]: where it was looked for, and a suggestion.
pub fn find_program(name: &str, package: Option<&str>) -> Result<PathBuf, Box<Problem>> {
    let environment = own_environment();
    let found = match package {
        Some(package) => programs::in_package(name, package, &environment),
        None if name.contains('/') => programs::at(absolute(Path::new(name))),
        None => programs::on_path(name, &environment),
    };
    found.map_err(Box::new)
}

fn own_environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

struct Planner<'a> {
    given: &'a BTreeMap<String, String>,
    only_arguments: bool,
    /// The files that are being read, the outermost first.
    stack: Vec<PathBuf>,
    arguments: Vec<ArgumentInfo>,
    processes: Vec<Planned>,
    /// The names of all processes, each with the process and the next number for another one of its
    /// name.
    names: HashMap<String, (usize, usize)>,
    /// Components for containers that may be declared later.
    loads: Vec<Load>,
    /// The processes that each process waits for.
    after: Vec<Arc<Vec<After>>>,
    /// The names of items that a condition leaves out.
    left_out: BTreeSet<String>,
}

/// Components for a container.
struct Load {
    /// The container's node name as it is written, and within the namespace there.
    container: [String; 2],
    place: Place,
    components: Vec<Component>,
}

impl Load {
    fn plan(container: &Text, components: &[ComponentItem], scope: &Scope) -> Result<Self, LoadError> {
        let name = scope.text(container)?;
        let mut load = Self {
            container: [joined("", &name), joined(&scope.namespace, &name)],
            place: container.place.clone(),
            components: Vec::new(),
        };
        for component in components {
            if scope.holds(&component.condition)? {
                load.components.push(Component::loaded(component, scope)?);
            }
        }
        Ok(load)
    }
}

impl<'a> Planner<'a> {
    fn new(given: &'a BTreeMap<String, String>) -> Self {
        Self {
            given,
            only_arguments: false,
            stack: Vec::new(),
            arguments: Vec::new(),
            processes: Vec::new(),
            names: HashMap::new(),
            loads: Vec::new(),
            after: Vec::new(),
            left_out: BTreeSet::new(),
        }
    }

    /// Reads and plans a file that the item at `place` refers to.
    fn file(&mut self, path: &Path, scope: &mut Scope, place: &Place) -> Result<(), LoadError> {
        scope.budget.file(place)?;
        let (items, bytes) = file::read(path)?;
        scope.budget.charge(bytes, place)?;
        self.stack.push(absolute(path));
        path.clone_into(&mut scope.file);
        self.items(&items, scope)?;
        self.stack.pop();
        Ok(())
    }

    fn items(&mut self, items: &[Item], scope: &mut Scope) -> Result<(), LoadError> {
        for item in items {
            self.item(item, scope)?;
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, scope: &mut Scope) -> Result<(), LoadError> {
        if !self.is_wanted(item, scope)? {
            let name = match &item.kind {
                ItemKind::Process(process) => process.name.as_ref(),
                ItemKind::Group(group) => group.name.as_ref(),
                ItemKind::Include(include) => include.name.as_ref(),
                _ => None,
            };
            self.left_out.extend(name.map(|name| scope.full_name(name)));
            return Ok(());
        }
        match &item.kind {
            ItemKind::Argument(argument) => return self.argument(argument, &item.place, scope),
            ItemKind::Include(include) if self.only_arguments => {
                // A file that can't be found without the arguments has no arguments to report.
                let depth = self.stack.len();
                let included = self.include(include, &item.place, scope);
                self.stack.truncate(depth);
                return included.or_else(|error| match &error {
                    LoadError::At { problem, .. } if problem.is_limit() => Err(error),
                    _ => Ok(()),
                });
            }
            ItemKind::Include(include) => return self.include(include, &item.place, scope),
            ItemKind::Group(group) => {
                let mut inner = scope.clone();
                inner.path.extend(group.name.clone());
                add_after(&group.after, scope, &mut inner)?;
                self.items(&group.items, &mut inner)?;
                let scoped = match &group.scoped {
                    Some(text) if !self.only_arguments => scope.truth("scoped", text)?,
                    _ => true,
                };
                if !scoped {
                    inner.path.clone_from(&scope.path);
                    inner.after.clone_from(&scope.after);
                    *scope = inner;
                }
                return Ok(());
            }
            _ if self.only_arguments => return Ok(()),
            _ => {}
        }
        match &item.kind {
            ItemKind::Let { name, value } => {
                let variable = Variable { value: scope.text(value)?, is_text: false };
                scope.set_variable(scope.text(name)?, variable, &name.place)?;
            }
            ItemKind::Process(process) => {
                let planned = process::plan(process, &item.place, scope)?;
                let mut inner = scope.clone();
                add_after(&process.after, scope, &mut inner)?;
                self.add(planned, inner.after, process.name.is_some())?;
            }
            ItemKind::Namespace(namespace) => {
                scope.namespace = scope.namespace_of(&scope.text(namespace)?);
                names::namespace(&scope.namespace, namespace)?;
            }
            ItemKind::Environment { name, value } => {
                let (text, name) = (name, scope.text(name)?);
                let value = scope.text_if(value.as_ref())?;
                scope.set_environment(name, value, &text.place)?;
            }
            ItemKind::Remap { from, to } => {
                let rule = (scope.text(from)?, scope.text(to)?);
                names::remap((&rule.0, &rule.1), from)?;
                scope.add_remap(rule, &from.place)?;
            }
            ItemKind::Parameter(parameter) => {
                let given = given(parameter, scope)?;
                scope.add_parameter(given, &parameter.place)?;
            }
            ItemKind::Components { container, components } => {
                self.loads.push(Load::plan(container, components, scope)?);
            }
            ItemKind::Argument(_) | ItemKind::Include(_) | ItemKind::Group(_) => {}
        }
        Ok(())
    }

    fn is_wanted(&self, item: &Item, scope: &Scope) -> Result<bool, LoadError> {
        if self.only_arguments { Ok(true) } else { scope.holds(&item.condition) }
    }

    fn argument(&mut self, argument: &Argument, place: &Place, scope: &mut Scope) -> Result<(), LoadError> {
        let Argument { name, default, is_text, description, choices } = argument;
        let given = scope.variables.get(name).map(|variable| variable.value.clone());
        let value = match (given, default) {
            (Some(given), _) => Some(given),
            (None, Some(default)) if self.only_arguments => scope.text(default).ok(),
            (None, Some(default)) => Some(scope.text(default)?),
            (None, None) => None,
        };
        self.arguments.push(ArgumentInfo {
            name: name.clone(),
            place: place.clone(),
            default: default.as_ref().map(|text| shown(&text.parts)),
            value: value.clone(),
            description: description.clone(),
            choices: choices.clone(),
        });
        let Some(value) = value else {
            if self.only_arguments {
                return Ok(());
            }
            let description =
                if description.is_empty() { "it has no description".to_owned() } else { description.clone() };
            return Err(Problem::ArgumentMissing { name: name.clone(), description }.at(place));
        };
        if !choices.is_empty() && !choices.contains(&value) && !self.only_arguments {
            let similar = suggestion(&value, choices.iter().map(String::as_str));
            let expected = format!("it has to be one of {}{similar}", choices.join(", "));
            return Err(Problem::value(name.as_str(), format!("`{value}`"), expected).at(place));
        }
        scope.set_variable(name.clone(), Variable { value, is_text: *is_text }, place)
    }

    fn include(&mut self, include: &Include, place: &Place, scope: &Scope) -> Result<(), LoadError> {
        let path = scope.path_of(&scope.text(&include.file)?);
        let canonical = absolute(&path);
        let is_loop = self.stack.contains(&canonical);
        if is_loop || self.stack.len() == limits::DEEPEST {
            let chain = self.stack.iter().chain([&canonical]).map(|path| path.display().to_string());
            let chain = chain.collect::<Vec<_>>().join(" includes ");
            let problem = match is_loop {
                true => Problem::IncludeLoop { chain },
                false => Problem::IncludeDepth { deepest: limits::DEEPEST, chain },
            };
            return Err(problem.at(place));
        }
        let mut inner = scope.clone();
        if !include.inherits {
            inner.variables = Arc::default();
        }
        inner.path.extend(include.name.clone());
        add_after(&include.after, scope, &mut inner)?;
        if let Some(namespace) = &include.namespace {
            inner.namespace = scope.namespace_of(&scope.text(namespace)?);
            names::namespace(&inner.namespace, namespace)?;
        }
        let mut names = Vec::new();
        for (name, value) in &include.arguments {
            let variable = Variable { value: scope.text(value)?, is_text: false };
            let text = scope.text(name)?;
            inner.set_variable(text.clone(), variable, &name.place)?;
            names.push((text, name));
        }
        let first = self.arguments.len();
        self.file(&path, &mut inner, place).map_err(|error| match error {
            // Report the include, which names the missing file.
            LoadError::Read { path, source } => {
                Problem::File { action: "read", path, source }.at(&include.file.place)
            }
            error => error,
        })?;
        if !include.inherits {
            let declared = self.arguments[first..].iter().map(|argument| argument.name.as_str());
            let declared: BTreeSet<&str> = declared.collect();
            for (name, text) in names {
                if !declared.contains(name.as_str()) {
                    let similar = suggestion(&name, declared.iter().copied());
                    let (owner, known) =
                        (path.display().to_string(), declared_names(&self.arguments[first..]));
                    return Err(Problem::UnknownKey { owner, key: name, similar, known }.at(&text.place));
                }
            }
        }
        Ok(())
    }

    fn check_given(&self) -> Result<(), LoadError> {
        for name in self.given.keys() {
            if !self.arguments.iter().any(|argument| argument.name == *name) {
                let similar = suggestion(name, self.arguments.iter().map(|argument| argument.name.as_str()));
                return Err(LoadError::UnknownArgument { name: name.clone(), similar });
            }
        }
        Ok(())
    }

    /// Adds a process. An explicit name must be unique; other names get a number.
    fn add(&mut self, mut planned: Planned, after: Arc<Vec<After>>, is_named: bool) -> Result<(), LoadError> {
        let process = &mut planned.process;
        if self.processes.len() == limits::MOST_PROCESSES {
            let what = format!("this is one process more than the {} of a plan", limits::MOST_PROCESSES);
            let remedy = "are files with processes included again and again?";
            return Err(Problem::TooMuch { what, remedy }.at(&process.place));
        }
        if let Some((other, mut number)) = self.names.get(&process.name).copied() {
            if is_named {
                let (what, other) = ("processes", self.processes[other].process.place.clone());
                return Err(Problem::Twice { what, name: process.name.clone(), other }.at(&process.place));
            }
            let mut numbered = format!("{}-{number}", process.name);
            while self.names.contains_key(&numbered) {
                number += 1;
                numbered = format!("{}-{number}", process.name);
            }
            self.names.insert(std::mem::replace(&mut process.name, numbered), (other, number + 1));
        }
        self.names.insert(process.name.clone(), (self.processes.len(), 2));
        self.processes.push(planned);
        self.after.push(after);
        Ok(())
    }

    fn finish(mut self, budget: &Budget) -> Result<Plan, LoadError> {
        let nodes = self.processes.iter().enumerate().rev(); // of several the first counts
        let nodes = nodes.filter_map(|(index, planned)| Some((planned.line.node.clone()?, index)));
        let nodes: BTreeMap<String, usize> = nodes.collect();
        for load in std::mem::take(&mut self.loads) {
            self.load(load, &nodes)?;
        }
        let mut processes: Vec<Process> = self.processes.into_iter().map(Planned::finish).collect();
        order::resolve(&mut processes, &self.after, &self.left_out, budget)?;
        Ok(Plan { processes, arguments: self.arguments })
    }

    /// Adds components to their container.
    fn load(&mut self, load: Load, nodes: &BTreeMap<String, usize>) -> Result<(), LoadError> {
        let Load { container, place, components } = load;
        let Some(&index) = container.iter().find_map(|name| nodes.get(name)) else {
            let [name, _] = container;
            let similar = suggestion(&name, nodes.keys().map(String::as_str));
            return Err(Problem::UnknownContainer { name, similar }.at(&place));
        };
        self.processes[index].line.components.extend(components);
        Ok(())
    }
}

fn declared_names(arguments: &[ArgumentInfo]) -> String {
    match arguments {
        [] => "none".to_owned(),
        all => all.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn add_after(after: &[(String, Place)], scope: &Scope, inner: &mut Scope) -> Result<(), LoadError> {
    let Some((_, place)) = after.first() else { return Ok(()) };
    let path: usize = scope.path.iter().map(|name| size_of::<String>() + name.len()).sum();
    scope.budget.charge((inner.after.len() + after.len()) * (size_of::<After>() + path), place)?;
    Arc::make_mut(&mut inner.after).extend(after.iter().map(|(name, place)| After {
        path: scope.path.clone(),
        name: name.clone(),
        place: place.clone(),
    }));
    Ok(())
}

/// Returns a text as it was written, or nearly so.
fn shown(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Call { name, arguments } => {
            let words = arguments.iter().map(|argument| format!(" {}", shown(argument)));
            format!("$({name}{})", words.collect::<String>())
        }
    };
    parts.iter().map(one).collect()
}

/// Evaluates a parameter.
fn given(item: &ParameterItem, scope: &Scope) -> Result<Given, LoadError> {
    match &item.kind {
        ParameterKind::File { path, has_substitutions } => {
            let file = absolute(&scope.path_of(&scope.text(path)?));
            let failed =
                |source| Problem::File { action: "read", path: file.clone(), source }.at(&path.place);
            let text = file::regular(&file).map_err(failed)?;
            scope.budget.charge(text.len(), &path.place)?;
            if !has_substitutions {
                return Ok(Given::File(file));
            }
            Ok(Given::Text(scope.file_text(&Text::parse(&text, &Place::new(&file, 1, 1))?)?))
        }
        ParameterKind::Value { name, value } => {
            let name = scope.text(name)?;
            let value = match value {
                ParameterValue::Typed(value) => value.clone(),
                ParameterValue::Text(text) => match text.as_literal() {
                    Some(literal) => Parameter::Text(literal.to_owned()),
                    // A text that is one substitution gets the type that the result looks like.
                    None if text.parts.len() == 1 => scope.parameter(text)?,
                    None => Parameter::Text(scope.text(text)?),
                },
                ParameterValue::As(text, typing) => typed(text, *typing, scope)?,
                ParameterValue::List(texts) => {
                    let values: Result<Vec<_>, _> = texts.iter().map(|text| scope.parameter(text)).collect();
                    Parameter::list(values?)
                        .map_err(|message| Problem::value(name.as_str(), "a list", message).at(&item.place))?
                }
            };
            Ok(Given::Value(name, value))
        }
    }
}

/// Reads a parameter of a type that the file names.
fn typed(text: &Text, typing: Typing, scope: &Scope) -> Result<Parameter, LoadError> {
    if typing == Typing::Text {
        return Ok(Parameter::Text(scope.text(text)?));
    }
    let value = scope.parameter(text)?;
    #[expect(clippy::cast_precision_loss, reason = "as in ROS 2, an integer may stand for a double")]
    match (typing, value) {
        (Typing::Double, Parameter::Integer(number)) => Ok(Parameter::Double(number as f64)),
        (Typing::Bool, value @ Parameter::Bool(_))
        | (Typing::Integer, value @ Parameter::Integer(_))
        | (Typing::Double, value @ Parameter::Double(_))
        | (Typing::Inferred, value) => Ok(value),
        (_, value) => {
            let expected = "it has to be of the type that `type` names";
            Err(Problem::value("value", value.type_name(), expected).at(&text.place))
        }
    }
}
