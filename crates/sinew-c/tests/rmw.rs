//! `ros/rmw_sinew` without ROS 2: the middleware is compiled with a stub of ROS 2's headers, which
//! has their facts, and driven by programs that call it as rcl does.

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::{checked, command, cxx, flags, library, meeting_place, root, run_program, skipped};

/// The package.
fn package() -> PathBuf {
    root().join("../../ros/rmw_sinew")
}

/// The sources of a directory of the package.
fn sources(directory: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(package().join(directory)).expect("the sources");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension() == Some("cpp".as_ref()));
    files.sort();
    files
}

/// What most sources include, compiled once.
const COMPILED: &str = "#include <stub.h>
#include <sinew/detail/handle.hpp>
#include <sinew/sinew.h>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
";

/// Has every header of ROS 2 that a source names include the stub.
fn write_headers(to: &Path) {
    for directory in ["src", "test/drive"] {
        for file in std::fs::read_dir(package().join(directory)).expect("the sources") {
            let text = std::fs::read_to_string(file.expect("a file").path()).expect("a source");
            for line in text.lines().filter_map(|line| line.strip_prefix("#include ")) {
                let name = line.trim_matches(['<', '>', '"']);
                let is_of_ros =
                    ["rmw/", "rcutils/", "rosidl_", "fastcdr/"].iter().any(|of| name.starts_with(of));
                if is_of_ros {
                    let header = to.join(name);
                    std::fs::create_dir_all(header.parent().expect("a directory")).expect("a directory");
                    std::fs::write(header, "#include <stub.h>\n").expect("a header");
                }
            }
        }
    }
}

/// The directory with the driver and the libraries that it needs, compiled once.
fn built() -> &'static Path {
    static BUILT: OnceLock<tempfile::TempDir> = OnceLock::new();
    let place = BUILT.get_or_init(|| {
        let place = tempfile::tempdir().expect("a directory");
        write_headers(place.path());
        let header = place.path().join("compiled.h");
        std::fs::write(&header, COMPILED).expect("a header");
        let compile = |name: &str, arguments: &[&str], sources: &[PathBuf]| {
            let mut compile = compiler(place.path());
            compile.args(arguments).args(sources).arg("-o").arg(place.path().join(name));
            compile.arg("-L").arg(place.path()).arg("-L").arg(library());
            checked(&format!("{name} is compiled"), &compile.output().expect("c++ runs"));
        };
        let paths = format!("-Wl,-rpath,{},-rpath,{}", library().display(), place.path().display());
        let with_header = ["-include", header.to_str().expect("UTF-8"), "-Winvalid-pch"];
        compile("compiled.h.gch", &["-x", "c++-header"], std::slice::from_ref(&header));
        compile("libstub.so", &["-shared"], &sources("test/stub"));
        let mut middleware = sources("src");
        middleware.extend(["-lstub", "-lsinew_c", &paths].map(PathBuf::from));
        compile("librmw_sinew.so", &[&["-shared"], &with_header[..]].concat(), &middleware);
        let mut driver = sources("test/drive");
        driver.extend(["-lrmw_sinew", "-lstub", &paths].map(PathBuf::from));
        compile("drive", &with_header, &driver);
        place
    });
    place.path()
}

/// The compiler with the flags that all its calls share, or the compiled header is not used.
fn compiler(headers: &Path) -> Command {
    let mut compile = Command::new(cxx());
    compile.args(["-std=c++17", "-O0", "-g0", "-fPIC", "-fvisibility=hidden", "-pthread"]);
    compile.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]).args(flags());
    // Jazzy's.
    compile.args(["-DRMW_VERSION_MAJOR=7", "-DRMW_VERSION_MINOR=3", "-DRMW_VERSION_PATCH=3"]);
    compile.arg("-I").arg(headers).arg("-I").arg(package().join("test/stub"));
    compile.arg("-I").arg(root().join("include"));
    compile
}

/// Runs a program of the driver.
fn drive(name: &str) {
    if skipped(&cxx()) {
        return;
    }
    let place = meeting_place();
    let output = command(&built().join("drive"), place.path()).arg(name).output();
    checked(name, &output.expect("it starts"));
}

macro_rules! programs {
    ($($name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                drive(stringify!($name));
            }
        )*
    };
}

programs! {
    arguments,
    callbacks,
    contexts,
    events,
    graphs,
    kills,
    processes,
    services,
    topics,
    waiting,
}

/// What rmw's loader looks up is what the library has, and the driver calls all of it.
#[test]
fn all_functions() {
    if skipped(&cxx()) || skipped("nm") {
        return;
    }
    let list = std::fs::read_to_string(package().join("test/functions.txt")).expect("the list");
    let listed: BTreeSet<_> = list.lines().collect();
    let mut names = Command::new("nm");
    names.args(["-D", "--defined-only"]).arg(built().join("librmw_sinew.so"));
    let output = names.output().expect("nm runs");
    checked("nm", &output);
    let output = String::from_utf8(output.stdout).expect("UTF-8");
    let words = output.lines().filter_map(|line| line.rsplit(' ').next());
    let exported: BTreeSet<_> = words.filter(|name| name.starts_with("rmw_")).collect();
    assert_eq!(listed, exported);
    let read = |file: &PathBuf| std::fs::read_to_string(file).expect("a source");
    let driver: String = sources("test/drive").iter().map(read).collect();
    let words: BTreeSet<_> = driver.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let missing: Vec<_> = listed.difference(&words).collect();
    assert!(missing.is_empty(), "the driver doesn't call {missing:?}");
}

/// The package's own test of what wait sets wait for.
#[test]
fn waitables() {
    if skipped(&cxx()) {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join("waitables");
    let mut compile = compiler(built());
    compile.arg("-I").arg(package().join("src")).arg("-o").arg(&program);
    compile.args(["test/waitable.cpp", "src/waitable.cpp"].map(|source| package().join(source)));
    checked("it is compiled", &compile.output().expect("c++ runs"));
    run_program(&program);
}
