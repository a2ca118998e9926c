//! The state at a place of a file: variables, environment, namespace, and settings for all
//! processes there; and the values of `$(..)` in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::limits::{Budget, LONGEST_VALUE};
use super::programs;
use crate::description::Condition;
use crate::error::{LoadError, Problem};
use crate::expression::{boolean, evaluate};
use crate::parameter::Parameter;
use crate::place::Place;
use crate::similar::suggestion;
use crate::text::{Part, Text};

/// A parameter, or a file of them, for a process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    Value(String, Parameter),
    /// A file of the user.
    File(PathBuf),
    /// The content of a file that has yet to be written.
    Text(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) value: String,
    /// Whether it is certainly a text, even if it looks like a number or a boolean.
    pub(crate) is_text: bool,
}

/// A name in `after`: the names of the groups around it, and the name as written.
#[derive(Debug, Clone)]
pub(crate) struct After {
    pub(crate) path: Vec<String>,
    pub(crate) name: String,
    pub(crate) place: Place,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// The file that is being read.
    pub(crate) file: PathBuf,
    /// Like all `Arc`s that follow: shared with the outer scope until one of them changes it.
    pub(crate) variables: Arc<BTreeMap<String, Variable>>,
    /// The whole environment, not only the changes.
    pub(crate) environment: Arc<BTreeMap<String, String>>,
    /// Starts with `/`; empty for the root.
    pub(crate) namespace: String,
    pub(crate) remap: Arc<Vec<(String, String)>>,
    pub(crate) parameters: Arc<Vec<Given>>,
    /// The names of the groups and includes around.
    pub(crate) path: Vec<String>,
    pub(crate) after: Arc<Vec<After>>,
    /// The resources used by all scopes of the plan.
    pub(crate) budget: Budget,
    /// The base of the numbers for `$(anon NAME)`: the same name gets the same number.
    pub(crate) anonymous: u32,
}

impl Scope {
    pub(crate) fn set_variable(
        &mut self,
        name: String,
        variable: Variable,
        place: &Place,
    ) -> Result<(), LoadError> {
        let bytes = |(name, variable): (&String, &Variable)| ENTRY + name.len() + variable.value.len();
        let all = changed(&mut self.variables, &self.budget, place, |all| all.iter().map(bytes).sum())?;
        all.insert(name, variable);
        Ok(())
    }

    /// Sets or removes a variable of the environment.
    pub(crate) fn set_environment(
        &mut self,
        name: String,
        value: Option<String>,
        place: &Place,
    ) -> Result<(), LoadError> {
        if name.is_empty() || name.contains('=') {
            let expected = "the name of a variable has at least one character, and no `=`";
            return Err(Problem::value("env", format!("`{name}`"), expected).at(place));
        }
        let bytes = |(name, value): (&String, &String)| ENTRY + name.len() + value.len();
        let all = changed(&mut self.environment, &self.budget, place, |all| all.iter().map(bytes).sum())?;
        match value {
            Some(value) => drop(all.insert(name, value)),
            None => drop(all.remove(&name)),
        }
        Ok(())
    }

    pub(crate) fn add_remap(&mut self, rule: (String, String), place: &Place) -> Result<(), LoadError> {
        changed(&mut self.remap, &self.budget, place, |rules| bytes_of_rules(rules))?.push(rule);
        Ok(())
    }

    pub(crate) fn add_parameter(&mut self, given: Given, place: &Place) -> Result<(), LoadError> {
        let bytes = |all: &Vec<Given>| all.iter().map(bytes_of).sum();
        changed(&mut self.parameters, &self.budget, place, bytes)?.push(given);
        Ok(())
    }

    /// Charges the rules and parameters here for one more process, which gets all of them.
    pub(crate) fn charge_settings(&self, place: &Place) -> Result<(), LoadError> {
        let parameters: usize = self.parameters.iter().map(bytes_of).sum();
        self.budget.charge(bytes_of_rules(&self.remap) + parameters, place)
    }

    /// Returns the directory of the file.
    pub(crate) fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// Resolves a path relative to the file's directory.
    pub(crate) fn path_of(&self, text: &str) -> PathBuf {
        self.directory().join(text)
    }

    /// Returns the full name of a process, group or include.
    pub(crate) fn full_name(&self, name: &str) -> String {
        self.path.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("/")
    }

    /// Resolves a namespace relative to this place.
    pub(crate) fn namespace_of(&self, namespace: &str) -> String {
        joined(&self.namespace, namespace)
    }

    /// Returns the text with everything replaced.
    pub(crate) fn text(&self, text: &Text) -> Result<String, LoadError> {
        self.parts(&text.parts, text)
    }

    /// As [`text`](Self::text), for an optional text.
    pub(crate) fn text_if(&self, text: Option<&Text>) -> Result<Option<String>, LoadError> {
        text.map(|text| self.text(text)).transpose()
    }

    /// Returns `true` if a condition's text is true.
    pub(crate) fn truth(&self, key: &str, text: &Text) -> Result<bool, LoadError> {
        let found = self.text(text)?;
        boolean(&found).ok_or_else(|| {
            Problem::value(key, format!("`{found}`"), "it has to be true or false (or 1 or 0)")
                .at(&text.place)
        })
    }

    /// Returns `true` if an item with this condition counts.
    pub(crate) fn holds(&self, condition: &Condition) -> Result<bool, LoadError> {
        let Condition { on_true, on_false } = condition;
        let on_true = on_true.as_ref().map(|text| self.truth("if", text)).transpose()?;
        let on_false = on_false.as_ref().map(|text| self.truth("unless", text)).transpose()?;
        Ok(on_true != Some(false) && on_false != Some(true))
    }

    /// Reads a parameter's value that is written as this text.
    pub(crate) fn parameter(&self, text: &Text) -> Result<Parameter, LoadError> {
        let value = self.text(text)?;
        // An argument with a text as its default stays a text.
        if let [Part::Call { name, arguments }] = text.parts.as_slice()
            && name == "var"
            && let [argument] = arguments.as_slice()
            && self.variables.get(&self.parts(argument, text)?).is_some_and(|variable| variable.is_text)
        {
            return Ok(Parameter::Text(value));
        }
        Parameter::of_text(&value)
            .map_err(|message| Problem::value("value", format!("`{value}`"), message).at(&text.place))
    }

    fn parts(&self, parts: &[Part], text: &Text) -> Result<String, LoadError> {
        self.parts_within(LONGEST_VALUE, parts, text)
    }

    /// Returns the text of a whole file with everything replaced.
    pub(crate) fn file_text(&self, text: &Text) -> Result<String, LoadError> {
        self.parts_within(usize::MAX, &text.parts, text) // its total size is limited anyway
    }

    fn parts_within(&self, longest: usize, parts: &[Part], text: &Text) -> Result<String, LoadError> {
        let mut result = String::new();
        for part in parts {
            match part {
                Part::Literal(literal) => result.push_str(literal),
                Part::Call { name, arguments } => {
                    let arguments: Result<Vec<String>, LoadError> =
                        arguments.iter().map(|argument| self.parts(argument, text)).collect();
                    let replaced = self.call(name, &arguments?).map_err(|problem| problem.at(&text.place))?;
                    self.budget.charge(replaced.len(), &text.place)?;
                    result.push_str(&replaced);
                }
            }
            if result.len() > longest {
                let what = format!("this value is longer than {longest} bytes");
                let remedy =
                    "Linux allows no longer word in a command line; check for values that repeat others";
                return Err(Problem::TooMuch { what, remedy }.at(&text.place));
            }
        }
        if result.contains('\0') {
            return Err(Problem::Zero.at(&text.place));
        }
        self.budget.charge(result.len(), &text.place)?;
        Ok(result)
    }

    fn call(&self, name: &str, arguments: &[String]) -> Result<String, Problem> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let truth = |text: &str| {
            boolean(text).ok_or_else(|| wrong(name, &format!("`{text}` is neither true nor false")))
        };
        let file = |path: PathBuf| path.display().to_string();
        Ok(match (name, words.as_slice()) {
            ("var", [variable]) => self.variable(variable)?.value.clone(),
            ("env", [variable]) => match self.environment.get(*variable) {
                Some(value) => value.clone(),
                None => return Err(Problem::NoVariable { name: (*variable).to_owned() }),
            },
            ("env", [variable, default]) => {
                self.environment.get(*variable).map_or(*default, String::as_str).to_owned()
            }
            ("dirname", []) => file(absolute(self.directory())),
            ("filename", []) => {
                self.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            }
            ("find-pkg-share", [package]) => file(programs::share_of(package, &self.environment)?),
            ("find-pkg-prefix", [package]) => file(programs::prefix_of(package, &self.environment)?),
            ("find-exec", [program]) => file(programs::on_path(program, &self.environment)?),
            ("exec-in-pkg", [program, package] | [program, package, _]) => {
                file(programs::in_package(program, package, &self.environment)?)
            }
            ("anon", [name]) => format!("{name}_{}_{}", std::process::id(), self.anonymous),
            ("eval", [] | [_, ..]) => {
                evaluate(&words.join(" ")).map_err(|message| wrong("eval", &message))?
            }
            ("not", [one]) => (!truth(one)?).to_string(),
            ("and", [one, other]) => (truth(one)? & truth(other)?).to_string(),
            ("or", [one, other]) => (truth(one)? | truth(other)?).to_string(),
            ("any", all) => {
                all.iter().try_fold(false, |sum, word| Ok::<_, Problem>(truth(word)? | sum))?.to_string()
            }
            ("all", all) => {
                all.iter().try_fold(true, |sum, word| Ok::<_, Problem>(truth(word)? & sum))?.to_string()
            }
            ("equals", [one, other]) => (one == other).to_string(),
            ("not-equals", [one, other]) => (one != other).to_string(),
            ("if", [condition, yes]) => if truth(condition)? { yes } else { "" }.to_owned(),
            ("if", [condition, yes, no]) => if truth(condition)? { *yes } else { *no }.to_owned(),
            _ => return Err(unknown_call(name, words.len())),
        })
    }

    fn variable(&self, name: &str) -> Result<&Variable, Problem> {
        self.variables.get(name).ok_or_else(|| Problem::UnknownVariable {
            name: name.to_owned(),
            similar: suggestion(name, self.variables.keys().map(String::as_str)),
        })
    }
}

/// Approximate size of a map or list entry without its texts, in bytes.
const ENTRY: usize = 2 * size_of::<String>();

/// Returns the approximate number of bytes that the value takes.
fn bytes_of(given: &Given) -> usize {
    let inside = match given {
        Given::Value(name, value) => name.len() + bytes_of_value(value),
        Given::File(path) => path.as_os_str().len(),
        Given::Text(text) => text.len(),
    };
    size_of::<Given>() + inside
}

fn bytes_of_value(value: &Parameter) -> usize {
    match value {
        Parameter::Bool(_) | Parameter::Integer(_) | Parameter::Double(_) => 0,
        Parameter::Text(text) => text.len(),
        Parameter::Bools(all) => all.len(),
        Parameter::Integers(all) => size_of_val(all.as_slice()),
        Parameter::Doubles(all) => size_of_val(all.as_slice()),
        Parameter::Texts(all) => all.iter().map(|text| size_of::<String>() + text.len()).sum(),
    }
}

fn bytes_of_rules(rules: &[(String, String)]) -> usize {
    rules.iter().map(|(from, to)| ENTRY + from.len() + to.len()).sum()
}

/// Returns a value to be changed at `place`. If another scope shares it, this is a copy, which is
/// charged.
fn changed<'a, T: Clone>(
    shared: &'a mut Arc<T>,
    budget: &Budget,
    place: &Place,
    bytes: impl Fn(&T) -> usize,
) -> Result<&'a mut T, LoadError> {
    if Arc::get_mut(shared).is_none() {
        budget.charge(bytes(shared), place)?;
    }
    Ok(Arc::make_mut(shared))
}

/// The available substitutions, each with its arguments for the error message.
const CALLS: [(&str, &str); 17] = [
    ("var", "$(var NAME)"),
    ("env", "$(env NAME) or $(env NAME DEFAULT)"),
    ("dirname", "$(dirname)"),
    ("filename", "$(filename)"),
    ("find-pkg-share", "$(find-pkg-share PACKAGE)"),
    ("find-pkg-prefix", "$(find-pkg-prefix PACKAGE)"),
    ("find-exec", "$(find-exec PROGRAM)"),
    ("exec-in-pkg", "$(exec-in-pkg PROGRAM PACKAGE)"),
    ("anon", "$(anon NAME)"),
    ("eval", "$(eval EXPRESSION)"),
    ("not", "$(not VALUE)"),
    ("and", "$(and VALUE VALUE)"),
    ("or", "$(or VALUE VALUE)"),
    ("any", "$(any VALUE ..)"),
    ("all", "$(all VALUE ..)"),
    ("equals", "$(equals TEXT TEXT)"),
    ("if", "$(if CONDITION TEXT TEXT)"),
];

fn unknown_call(name: &str, count: usize) -> Problem {
    if let Some((_, form)) = CALLS.iter().find(|(known, _)| *known == name) {
        return wrong(name, &format!("it has {count} arguments, and is written {form}"));
    }
    let similar = suggestion(name, CALLS.iter().map(|(name, _)| *name));
    if similar.is_empty() {
        let remedy = match name {
            "command" => {
                "a file that is only read must not run anything; write a program that starts what it finds"
            }
            _ => {
                "there are var, env, dirname, filename, find-pkg-share, find-pkg-prefix, find-exec, exec-in-pkg, anon, eval, \
                  not, and, or, any, all, equals, not-equals and if"
            }
        };
        return Problem::NotUnderstood { what: format!("`$({name} ..)`"), remedy: remedy.to_owned() };
    }
    wrong(name, &format!("there is no such substitution{similar}"))
}

fn wrong(name: &str, message: &str) -> Problem {
    Problem::Substitution { text: format!("$({name} ..)"), message: message.to_owned() }
}

/// Joins a name or namespace to the one above it, unless it is absolute. The root is empty.
pub(crate) fn joined(above: &str, below: &str) -> String {
    let below = below.trim_end_matches('/');
    match below.strip_prefix('/') {
        Some(_) => below.to_owned(),
        None if below.is_empty() => above.to_owned(),
        None => format!("{above}/{below}"),
    }
}

/// Resolves a path relative to the working directory. Symbolic links stay: a program of a virtual
/// environment is one, as are programs that do what their name says.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
