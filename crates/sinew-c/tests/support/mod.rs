//! What the tests that compile C share.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a user's compiler is asked to refuse.
pub(crate) const STRICT: &[&str] =
    &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-g"];

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory with the shared library: `SINEW_C_LIBRARY`, else that which cargo builds for tests
/// beside the test program.
pub(crate) fn library() -> PathBuf {
    if let Some(directory) = std::env::var_os("SINEW_C_LIBRARY") {
        return directory.into();
    }
    let program = std::env::current_exe().expect("this program");
    let directory = program.parent().expect("its directory");
    assert!(directory.join("libsinew_c.so").exists(), "there is no libsinew_c.so in {}", directory.display());
    directory.to_owned()
}

/// The compiler of C: `SINEW_CC`, else `cc`.
pub(crate) fn cc() -> String {
    std::env::var("SINEW_CC").unwrap_or_else(|_| "cc".to_owned())
}

/// The compiler of C++: `SINEW_CXX`, else `c++`.
pub(crate) fn cxx() -> String {
    std::env::var("SINEW_CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// Says that a test can't be done without a program.
pub(crate) fn skipped(program: &str) -> bool {
    if Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return false;
    }
    skip(&format!("programs of sinew-c: there is no {program}"));
    true
}

/// Notes that a test can't be done here.
pub(crate) fn skip(why: &str) {
    let sentence = format!("{why}\n");
    eprint!("{sentence}");
    if let Some(list) = std::env::var_os("SINEW_SKIPPED") {
        use std::io::Write;
        let mut list =
            std::fs::OpenOptions::new().append(true).open(list).expect("the list of skipped tests");
        list.write_all(sentence.as_bytes()).expect("it can be written");
    }
}

pub(crate) fn checked(what: &str, output: &Output) {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{what}: {}\n{out}{err}", output.status);
}

/// Words of an environment variable, by which `.ci/deep` has programs compiled with sanitizers and
/// run under valgrind.
fn words(variable: &str) -> Vec<String> {
    let words = std::env::var(variable).unwrap_or_default();
    words.split_whitespace().map(str::to_owned).collect()
}

/// Further flags of all compilers.
pub(crate) fn flags() -> Vec<String> {
    words("SINEW_C_FLAGS")
}

/// Compiles a program, strictly, and links it with the shared library.
pub(crate) fn compile(standard: &str, source: &Path, program: &Path) {
    let library = library();
    let mut compile = Command::new(cc());
    compile.args(STRICT).args(flags()).arg(format!("-std={standard}")).arg("-I").arg(root().join("include"));
    compile.arg("-o").arg(program).arg(source).arg("-L").arg(&library).arg("-lsinew_c");
    compile.arg(format!("-Wl,-rpath,{}", library.display())).arg("-pthread");
    checked(&format!("{} is compiled", source.display()), &compile.output().expect("cc runs"));
}

/// Makes a directory in shared memory, where programs meet and write their logs. On a disk, a
/// program that writes a message would wait for seconds while others keep the disk busy. (Programs
/// are compiled elsewhere: containers don't run those that lie in shared memory.)
pub(crate) fn meeting_place() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").expect("shared memory")
}

/// Runs a compiled program in a meeting place of its own, which it returns.
pub(crate) fn run_program(program: &Path) -> tempfile::TempDir {
    let place = meeting_place();
    checked("it runs", &command(program, place.path()).output().expect("it starts"));
    place
}

/// Returns the command of a compiled program that meets others in this place.
pub(crate) fn command(program: &Path, place: &Path) -> Command {
    let mut words = words("SINEW_C_RUNNER");
    words.push(program.to_str().expect("UTF-8").to_owned());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command.env("SINEW_DIR", place.join("domains")).env("ROS_LOG_DIR", place.join("log"));
    // Cargo's `LD_LIBRARY_PATH` comes before the program's own path, and has older libraries.
    for variable in ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID", "LD_LIBRARY_PATH"] {
        command.env_remove(variable);
    }
    command
}
