//! The Python on this machine, with the package `sinew`, and the programs in Python.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{Directory, Error};

/// Names of interpreters, of which the first new enough one is taken.
const NAMES: [&str; 5] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// Runs programs in Python that use Sinew. They are removed with it.
pub(super) struct Interpreter {
    program: PathBuf,
    programs: Directory,
}

impl Interpreter {
    /// Finds the interpreter of `SINEW_PYTHON`, or the first one that is new enough, and the package:
    /// that of the checkout that contains this program, with the extension module beside this program,
    /// or the installed one.
    pub(super) fn find() -> Result<Self, Error> {
        let named = env::var_os("SINEW_PYTHON").map(PathBuf::from);
        let mut known = named.into_iter().chain(NAMES.map(PathBuf::from));
        let program = known.find(|program| is_new_enough(program)).ok_or(Error::NoPython)?;
        let found = Self { program, programs: Directory::for_programs()? };
        if let Some((package, module)) = built() {
            let copy = found.programs.path().join("sinew");
            let copied =
                copy_package(&package, &copy).and_then(|()| fs::copy(module, copy.join("_sinew.abi3.so")));
            copied.map_err(|source| Error::File {
                action: "copy the Python package to",
                path: copy,
                source,
            })?;
        }
        // Compiled before they are timed.
        let compiled = found.command().args(["-m", "compileall", "-q"]).arg(found.programs.path()).output();
        let imported = compiled.and_then(|_| found.command().args(["-c", "import sinew"]).output());
        match imported {
            Ok(output) if output.status.success() => Ok(found),
            answer => Err(Error::NoPythonPackage { python: found.program, message: last_line(answer) }),
        }
    }

    /// Returns whether a module can be imported.
    pub(super) fn has(&self, module: &str) -> bool {
        let import = format!("import {module}");
        let asked = self.command().args(["-c", &import]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    }

    /// Writes a program, or a module for programs, and returns its path.
    pub(super) fn add(&self, name: &str, source: &str) -> Result<PathBuf, Error> {
        let path = self.programs.path().join(name);
        match fs::write(&path, source) {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::File { action: "write", path, source }),
        }
    }

    /// Returns a command that runs the interpreter, with the package in its path.
    pub(super) fn command(&self) -> Command {
        let mut path = OsString::from(self.programs.path());
        if let Some(more) = env::var_os("PYTHONPATH") {
            path.push(":");
            path.push(more);
        }
        let mut command = Command::new(&self.program);
        command.env("PYTHONPATH", path).stdin(Stdio::null());
        command
    }
}

fn is_new_enough(program: &Path) -> bool {
    let test = "import sys; sys.exit(sys.version_info < (3, 11))";
    Command::new(program).args(["-c", test]).output().is_ok_and(|output| output.status.success())
}

/// Returns the package in the checkout that contains this program, and the extension module beside it.
fn built() -> Option<(PathBuf, PathBuf)> {
    let program = env::current_exe().ok()?;
    let module =
        program.with_file_name(format!("{}_sinew{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX));
    let mut packages = program.ancestors().map(|above| above.join("python/sinew"));
    let package = packages.find(|package| package.join("__init__.py").is_file())?;
    module.is_file().then_some((package, module))
}

fn copy_package(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() && name != "__pycache__" {
            copy_package(&path, &to.join(name))?;
        } else if path.extension() == Some(OsStr::new("py")) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Returns the reason why a program of Python failed.
fn last_line(answer: std::io::Result<Output>) -> String {
    match answer {
        Ok(output) => String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned(),
        Err(error) => error.to_string(),
    }
}
