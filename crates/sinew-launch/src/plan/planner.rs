//! Plans files item by item, and then completes the processes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::{ArgumentInfo, Plan, Process};
use super::limits::{self, Budget};
use super::parameters::given;
use super::process::{self, Component, Planned};
use super::scope::{After, Scope, Variable, joined};
use super::{names, order};
use crate::description::{Argument, ComponentItem, Include, Item, ItemKind};
use crate::error::{LoadError, Problem};
use crate::file;
use crate::place::Place;
use crate::similar::suggestion;
use crate::text::{Part, Text};

pub(super) struct Planner<'a> {
    given: &'a BTreeMap<String, String>,
    pub(super) only_arguments: bool,
    /// The files that are being read, the outermost first.
    stack: Vec<PathBuf>,
    pub(super) arguments: Vec<ArgumentInfo>,
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
    pub(super) fn new(given: &'a BTreeMap<String, String>) -> Self {
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
    pub(super) fn file(&mut self, path: &Path, scope: &mut Scope, place: &Place) -> Result<(), LoadError> {
        scope.budget.file(place)?;
        let (items, bytes) = file::read(path)?;
        scope.budget.charge(bytes, place)?;
        self.stack.push(canonical(path));
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
        let file = canonical(&path);
        let is_loop = self.stack.contains(&file);
        if is_loop || self.stack.len() == limits::DEEPEST {
            let chain = self.stack.iter().chain([&file]).map(|path| path.display().to_string());
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

    pub(super) fn check_given(&self) -> Result<(), LoadError> {
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
            let remedy = "check for files with processes that are included repeatedly";
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

    pub(super) fn finish(mut self, budget: &Budget) -> Result<Plan, LoadError> {
        let nodes = self.processes.iter().enumerate().rev(); // of several the first counts
        let nodes = nodes.filter_map(|(index, planned)| Some((planned.line.node.clone()?, index)));
        let nodes: BTreeMap<String, usize> = nodes.collect();
        for load in std::mem::take(&mut self.loads) {
            self.load(load, &nodes)?;
        }
        let mut processes: Vec<Process> = self.processes.into_iter().map(Planned::finish).collect();
        check_log_files(&processes)?;
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

/// Returns the one path of a file that may have several, so that loops are found.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Checks that no two processes write the same log file.
fn check_log_files(processes: &[Process]) -> Result<(), LoadError> {
    let mut files = HashMap::new();
    for process in processes {
        let Some(file) = process.log_file() else { continue };
        if let Some(other) = files.insert(file.clone(), &process.name) {
            let (name, other) = (process.name.clone(), other.clone());
            return Err(Problem::LogTwice { name, other, file }.at(&process.place));
        }
    }
    Ok(())
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
