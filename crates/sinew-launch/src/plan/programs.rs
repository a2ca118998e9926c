//! Finds programs and packages: `AMENT_PREFIX_PATH` and `PATH`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::error::Problem;
use crate::similar::suggestion;

/// Directories of the operating system's commands. One of those thousands always resembles a
/// robot's program, and is hardly ever meant (`torch`, `touch`), unless letters are swapped
/// (`ehco`).
const SYSTEM: [&str; 4] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

type Environment = BTreeMap<String, String>;

fn directories<'a>(environment: &'a Environment, variable: &str) -> impl Iterator<Item = &'a Path> {
    let value = environment.get(variable).map_or("", String::as_str);
    value.split(':').filter(|part| !part.is_empty()).map(Path::new)
}

/// Finds the directory in which a package is installed.
pub(crate) fn prefix_of(package: &str, environment: &Environment) -> Result<PathBuf, Problem> {
    let has = |prefix: &&Path| !package.is_empty() && prefix.join("share").join(package).is_dir();
    if let Some(prefix) = directories(environment, "AMENT_PREFIX_PATH").find(has) {
        return Ok(prefix.to_owned());
    }
    let all = names(directories(environment, "AMENT_PREFIX_PATH").map(|prefix| prefix.join("share")));
    let similar = suggestion(package, all.iter().map(String::as_str));
    Err(Problem::NoPackage {
        name: package.to_owned(),
        similar,
        looked: looked(environment, "AMENT_PREFIX_PATH"),
    })
}

/// Finds a package's shared files.
pub(crate) fn share_of(package: &str, environment: &Environment) -> Result<PathBuf, Problem> {
    Ok(prefix_of(package, environment)?.join("share").join(package))
}

/// Finds a program of a package.
pub(crate) fn in_package(
    program: &str,
    package: &str,
    environment: &Environment,
) -> Result<PathBuf, Problem> {
    let folders =
        || directories(environment, "AMENT_PREFIX_PATH").map(|prefix| prefix.join("lib").join(package));
    let mut refused = None;
    for path in folders().map(|folder| folder.join(program)) {
        match executable(&path) {
            Ok(()) => return Ok(path),
            Err(Some(reason)) => refused = refused.or(Some((path, reason))),
            Err(None) => {}
        }
    }
    if let Some((path, reason)) = refused {
        return Err(Problem::NotExecutable { path, reason });
    }
    // A program needn't be installed in ROS 2's way.
    if let Ok(path) = on_path(program, environment) {
        return Ok(path);
    }
    let all = names(folders());
    let similar = suggestion(program, all.iter().map(String::as_str));
    let looked = match environment.get("AMENT_PREFIX_PATH").filter(|value| !value.is_empty()) {
        Some(prefixes) => format!("looked for lib/{package}/{program} in {prefixes}, and on PATH"),
        None => "AMENT_PREFIX_PATH isn't set, so no package is known; looked on PATH".to_owned(),
    };
    Err(Problem::NoProgram { name: program.to_owned(), similar, looked })
}

/// Finds a program on `PATH`.
pub(crate) fn on_path(program: &str, environment: &Environment) -> Result<PathBuf, Problem> {
    let mut refused = None;
    for path in directories(environment, "PATH").map(|directory| directory.join(program)) {
        match executable(&path) {
            Ok(()) => return Ok(path),
            Err(Some(reason)) => refused = refused.or(Some((path, reason))),
            Err(None) => {}
        }
    }
    if let Some((path, reason)) = refused {
        return Err(Problem::NotExecutable { path, reason });
    }
    let (systems, own): (Vec<_>, Vec<_>) = directories(environment, "PATH")
        .map(Path::to_owned)
        .partition(|directory| SYSTEM.contains(&directory.to_string_lossy().trim_end_matches('/')));
    let mut all = names(own.into_iter());
    all.extend(names(systems.into_iter()).into_iter().filter(|name| letters(name) == letters(program)));
    let similar = suggestion(program, all.iter().map(String::as_str));
    let looked = match directories(environment, "PATH").count() {
        0 => "PATH isn't set".to_owned(),
        1 => looked(environment, "PATH"),
        count => format!("looked in the {count} directories of PATH"),
    };
    Err(Problem::NoProgram { name: program.to_owned(), similar, looked })
}

/// Finds a program by its path.
pub(crate) fn at(path: PathBuf) -> Result<PathBuf, Problem> {
    match executable(&path) {
        Ok(()) => Ok(path),
        Err(Some(reason)) => Err(Problem::NotExecutable { path, reason }),
        Err(None) => {
            let all = names(path.parent().map(Path::to_owned).into_iter());
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let similar = suggestion(&name, all.iter().map(String::as_str));
            let looked = format!("looked in {}", path.parent().unwrap_or(Path::new(".")).display());
            Err(Problem::NoProgram { name, similar, looked })
        }
    }
}

/// Checks that a file can be executed; returns the reason why not, or `None` if it doesn't exist.
fn executable(path: &Path) -> Result<(), Option<&'static str>> {
    match path.metadata() {
        Err(_) => Err(None),
        Ok(found) if found.is_dir() => Err(Some("it is a directory")),
        Ok(_) if access(path, Access::EXEC_OK).is_err() => {
            Err(Some("its mode doesn't allow it (`chmod +x`)"))
        }
        Ok(_) => Ok(()),
    }
}

fn letters(name: &str) -> Vec<char> {
    let mut letters: Vec<char> = name.chars().collect();
    letters.sort_unstable();
    letters
}

/// Returns the names of the files in these directories.
fn names(directories: impl Iterator<Item = PathBuf>) -> Vec<String> {
    let entries = directories.filter_map(|path| path.read_dir().ok()).flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

fn looked(environment: &Environment, variable: &str) -> String {
    match environment.get(variable).filter(|value| !value.is_empty()) {
        Some(value) => format!("looked in {value}"),
        None => format!("{variable} isn't set"),
    }
}
