//! Loads plans and the arguments of files, and finds single programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::{ArgumentInfo, Plan};
use super::planner::Planner;
use super::programs;
use super::scope::{Scope, Variable, absolute};
use crate::error::{LoadError, Problem};
use crate::place::Place;

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
    let mut planner = Planner::new(&given);
    planner.only_arguments = true;
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
