//! Runs the Python tests beside this file: each `test_*.py` in an interpreter and a domain directory of
//! its own, with a copy of the package and the extension module that cargo built.

use parking_lot::Mutex;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io::Write;
use std::iter;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

/// Number of interpreters that run at once.
const AT_ONCE: usize = 2;

#[test]
fn python() {
    let Some(python) = interpreter() else {
        skip("the Python package: there is no Python 3.11 or newer (SINEW_PYTHON)");
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = tempfile::tempdir().expect("a temporary directory");
    let package = place.path().join("sinew");
    copy(&here.join("sinew"), &package);
    fs::copy(module(), package.join("_sinew.so")).expect("the extension module");
    let path = first_in_path(&python, place.path());
    let mut files: Vec<PathBuf> = fs::read_dir(here.join("tests"))
        .expect("the tests")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("test_") && name.ends_with(".py")
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are no tests");
    let (left, failed) = (Mutex::new(files), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(file) = next(&left) {
                    let output = run(&python, &file, place.path(), &path);
                    report(&file, &output);
                    if !output.status.success() {
                        failed.lock().push(file);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner();
    assert!(failed.is_empty(), "these failed: {failed:?}");
}

fn next(left: &Mutex<Vec<PathBuf>>) -> Option<PathBuf> {
    left.lock().pop()
}

/// Returns a `PATH` in which `python3` is this interpreter: the module is built for no other one,
/// and `sinew launch` starts nodes with it.
fn first_in_path(python: &Path, place: &Path) -> OsString {
    let programs = place.join("bin");
    fs::create_dir(&programs).expect("a directory");
    let script = programs.join("python3");
    // A script and no link: a virtual environment is found by the program's own path.
    let found =
        Command::new(python).args(["-c", "import sys; print(sys.executable)"]).output().expect("Python runs");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let found = String::from_utf8(found.stdout).expect("a path in UTF-8");
    fs::write(&script, format!("#!/bin/sh\nexec '{}' \"$@\"\n", found.trim_end())).expect("a script");
    fs::set_permissions(&script, Permissions::from_mode(0o755)).expect("a script that runs");
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(iter::once(programs).chain(env::split_paths(&others))).expect("a search path")
}

fn run(python: &Path, file: &Path, place: &Path, path: &OsStr) -> Output {
    let name = file.file_stem().unwrap_or_default();
    let domain = place.join(name);
    fs::create_dir(&domain).expect("a directory");
    let in_memory = Path::new("/dev/shm");
    let shared = tempfile::Builder::new()
        .prefix("sinew-python-")
        .tempdir_in(if in_memory.is_dir() { in_memory } else { &domain })
        .expect("a directory for shared memory");
    Command::new(python)
        .args(["-X", "faulthandler", "-W", "error::ResourceWarning"])
        .arg(file)
        .current_dir(&domain) // not that of the package's sources, which have no module
        .env("PATH", path)
        .env("PYTHONPATH", place)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SINEW_DIR", shared.path())
        .env("SINEW_REPOSITORY", Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .env("SINEW_PROGRAMS", programs())
        .env("ROS_LOG_DIR", &domain)
        .env_remove("AMENT_PREFIX_PATH")
        .env_remove("ROS_DOMAIN_ID")
        .output()
        .expect("Python runs")
}

/// Prints what a failed file wrote, and notes the tests that it skipped.
fn report(file: &Path, output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        println!("{}: {}\n{}{text}", file.display(), output.status, String::from_utf8_lossy(&output.stdout));
    }
    for line in text.lines().filter(|line| line.contains("SKIPPED: ")) {
        skip(line);
    }
}

/// The Python of `SINEW_PYTHON`, else the first one that is new enough.
fn interpreter() -> Option<PathBuf> {
    let wanted = env::var_os("SINEW_PYTHON").map(PathBuf::from);
    let known = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"].map(PathBuf::from);
    wanted.into_iter().chain(known).find(|python| {
        let test = "import sys; sys.exit(sys.version_info < (3, 11))";
        Command::new(python).args(["-c", test]).output().is_ok_and(|output| output.status.success())
    })
}

/// The folder of the workspace's programs, as far as they were built: `SINEW_PROGRAMS`, else that of
/// this build.
fn programs() -> PathBuf {
    let here = || env::current_exe().expect("a program has a path").with_file_name("..");
    env::var_os("SINEW_PROGRAMS").map_or_else(here, PathBuf::from)
}

/// The extension module, beside this program.
fn module() -> PathBuf {
    let here = env::current_exe().expect("a program has a path");
    let name = format!("{}_sinew{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    here.with_file_name(name)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a directory");
    for entry in fs::read_dir(from).expect("the package") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "__pycache__" {
            copy(&path, &to.join(name));
        } else if path.extension().is_some_and(|ending| ending == "py" || ending == "pyi") {
            fs::copy(&path, to.join(name)).expect("a file of the package");
        }
    }
}

/// Notes that a test can't be done here: in the file `$SINEW_SKIPPED`, where a run of many tests
/// collects it.
fn skip(why: &str) {
    println!("skipped: {why}");
    if let Some(path) = env::var_os("SINEW_SKIPPED") {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "{why}")).expect("there is room");
    }
}
