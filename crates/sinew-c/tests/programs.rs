//! Programs of C, compiled as a careful user would and run against the shared library, each in a
//! domain directory of its own. One that fails says where and exits with 1.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a user's compiler is asked to refuse.
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-g"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory with the shared library, which cargo builds for tests beside the test program.
fn library() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let directory = program.parent().expect("its directory");
    assert!(directory.join("libsinew_c.so").exists(), "there is no libsinew_c.so in {}", directory.display());
    directory.to_owned()
}

/// Says that a test can't be done without a compiler.
fn skipped(compiler: &str) -> bool {
    if Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return false;
    }
    let sentence = format!("programs of sinew-c: there is no {compiler}\n");
    eprint!("{sentence}");
    if let Some(list) = std::env::var_os("SINEW_SKIPPED") {
        use std::io::Write;
        let mut list =
            std::fs::OpenOptions::new().append(true).open(list).expect("the list of skipped tests");
        list.write_all(sentence.as_bytes()).expect("it can be written");
    }
    true
}

fn checked(what: &str, output: &Output) {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{what}: {}\n{out}{err}", output.status);
}

/// Compiles a program of `tests/c` and runs it.
fn run(name: &str) {
    if skipped("cc") {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join(name);
    let library = library();
    let mut compile = Command::new("cc");
    compile.args(STRICT).arg("-std=c11").arg("-I").arg(root().join("include")).arg("-o").arg(&program);
    compile.arg(root().join("tests/c").join(format!("{name}.c"))).arg("-L").arg(&library).arg("-lsinew_c");
    compile.arg(format!("-Wl,-rpath,{}", library.display())).arg("-pthread");
    checked("it is compiled", &compile.output().expect("cc runs"));
    let mut program = Command::new(&program);
    program.env("SINEW_DIR", place.path().join("domains")).env("ROS_LOG_DIR", place.path().join("log"));
    for variable in ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID"] {
        program.env_remove(variable);
    }
    checked("it runs", &program.output().expect("it starts"));
}

macro_rules! programs {
    ($($name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*
    };
}

programs! {
    clocks,
    contexts,
    events,
    executors,
    graphs,
    groups,
    log_lines,
    messages,
    parameters,
    processes,
    pulled_services,
    qos,
    services,
    threads,
    timers,
    topics,
    two_processes,
    wait_sets,
    wakers,
    wrong_messages,
}

/// A program with the macros of the header, which a compiler sees only where they are used.
const USER: &str = r#"#include <sinew/sinew.h>
int main(void) {
    sinew_logger *logger = NULL;
    SINEW_INFO(logger, "without arguments");
    SINEW_WARN_ONCE(logger, "%d", 1);
    SINEW_ERROR_SKIPFIRST(logger, "%s", "text");
    SINEW_FATAL_THROTTLE(logger, 1000, "%d %d", 1, 2);
    return 0;
}
"#;

/// Every user includes it, in C and C++ of several years.
#[test]
fn the_header_is_accepted() {
    let place = tempfile::tempdir().expect("a directory");
    for (compiler, extension, standards) in [("cc", "c", ["c11", "c17"]), ("c++", "cpp", ["c++17", "c++20"])]
    {
        if skipped(compiler) {
            continue;
        }
        let file = place.path().join("user").with_extension(extension);
        std::fs::write(&file, USER).expect("a file");
        for standard in standards {
            let mut compile = Command::new(compiler);
            compile.args(STRICT).arg(format!("-std={standard}")).arg("-fsyntax-only");
            compile.arg("-I").arg(root().join("include")).arg(&file);
            checked(standard, &compile.output().expect("it runs"));
        }
    }
}
