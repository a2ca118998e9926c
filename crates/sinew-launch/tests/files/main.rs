//! Launch files of all formats: their plans, and the errors of wrong ones.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod arbitrary;
mod limits;
mod ros;
mod toml;
mod wrong;

use std::collections::BTreeMap;
use std::path::Path;

use sinew_launch::{Options, Plan, Process, Word, load};

/// A directory with launch files, and a `PATH` and an `AMENT_PREFIX_PATH` of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for program in ["bin/talker", "bin/gdb", "bin/sinew-container", "ros/lib/robot/driver"] {
            place.program(program);
        }
        place.write("ros/share/robot/config.yaml", "/**: {ros__parameters: {a: 1}}\n");
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn program(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, "#!/bin/sh\n");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path().join(name), mode).unwrap();
    }

    fn options(&self, arguments: &[(&str, &str)]) -> Options {
        let path = |name: &str| self.path().join(name).display().to_string();
        let environment =
            [("PATH", path("bin")), ("AMENT_PREFIX_PATH", path("ros")), ("HOST", "r2d2".to_owned())];
        Options {
            arguments: arguments.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
            environment: Some(environment.map(|(name, value)| (name.to_owned(), value)).into()),
        }
    }

    /// Plans a file with this text.
    #[track_caller]
    fn plan(&self, name: &str, text: &str, arguments: &[(&str, &str)]) -> Plan {
        self.write(name, text);
        load(&self.path().join(name), &self.options(arguments)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the error of a wrong file, without the directory.
    #[track_caller]
    fn refused(&self, name: &str, text: &str, arguments: &[(&str, &str)]) -> String {
        self.write(name, text);
        let error = load(&self.path().join(name), &self.options(arguments)).unwrap_err().to_string();
        error.replace(&format!("{}/", self.path().display()), "")
    }
}

/// Returns the command line, without the directory of the program; files in brackets.
fn line(process: &Process) -> String {
    let mut line = process.program.file_name().unwrap().to_string_lossy().into_owned();
    for word in &process.arguments {
        line.push(' ');
        match word {
            Word::Text(text) => line.push_str(text),
            Word::File(text) => line.push_str(&format!("{{{text}}}")),
        }
    }
    line
}

/// The variable with the options that several processes share.
const SHARED: &str = "SINEW_SHARED_OPTIONS";

fn names(plan: &Plan) -> Vec<&str> {
    plan.processes.iter().map(|process| process.name.as_str()).collect()
}

/// Returns the variables of a process in addition to those of the test and to [the one](SHARED)
/// that all have.
fn added(process: &Process) -> BTreeMap<&str, &str> {
    let known = ["PATH", "AMENT_PREFIX_PATH", "HOST", SHARED];
    let all = process.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.filter(|(name, _)| !known.contains(name)).collect()
}
