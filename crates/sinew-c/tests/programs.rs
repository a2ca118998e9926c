//! Programs of C, compiled as a careful user would and run against the shared library, each in a
//! domain directory of its own. One that fails says where and exits with 1.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{
    STRICT, cc, checked, command, compile, cxx, library, meeting_place, root, run_program, skipped,
};

/// Compiles a program of `tests/c` and runs it. Returns its meeting place, unless there is no
/// compiler.
fn run(name: &str) -> Option<tempfile::TempDir> {
    if skipped(&cc()) {
        return None;
    }
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join(name);
    compile("c11", &root().join("tests/c").join(name).with_extension("c"), &program);
    Some(run_program(&program))
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
    actions,
    clocks,
    contexts,
    events,
    executors,
    failures,
    graphs,
    groups,
    lifecycles,
    log_lines,
    messages,
    parameters,
    pending_calls,
    processes,
    pulled_services,
    qos,
    service_events,
    service_qos,
    services,
    threads,
    timers,
    topics,
    transforms,
    two_contexts,
    two_processes,
    wait_sets,
    wakers,
    wrong_handles,
    wrong_messages,
}

/// Compiles `tests/c/libraries/components.c` with an option, and links it with a library.
fn component_library(option: &str, to: &Path, directory: &Path, name: &str) {
    let mut compile = Command::new(cc());
    compile.args(STRICT).args(["-std=c11", "-fPIC", "-shared", option]).arg("-I").arg(root().join("include"));
    compile.arg("-o").arg(to).arg(root().join("tests/c/libraries/components.c"));
    compile.arg("-L").arg(directory).arg(format!("-l{name}"));
    checked(&format!("{} is compiled", to.display()), &compile.output().expect("cc runs"));
}

/// With components of its own, and those of libraries that are right and wrong.
#[test]
fn containers() {
    if skipped(&cc()) {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let libraries = place.path().join("libraries");
    let index = libraries.join("share/ament_index/resource_index/rclcpp_components");
    std::fs::create_dir_all(&index).expect("a directory");
    let option_of =
        [("right", "-DRIGHT"), ("abi", "-DABI=77"), ("own", "-DOWN_COPY"), ("none", "-DNO_TABLE")];
    for (name, option) in option_of {
        component_library(option, &libraries.join(format!("lib{name}.so")), &library(), "sinew_c");
    }
    std::fs::write(index.join("drivers"), "drivers::Lidar;libright.so\nother::Type;libnone.so\n")
        .expect("a file");
    let program = place.path().join("containers");
    compile("c11", &root().join("tests/c/containers.c"), &program);
    let meeting = meeting_place();
    let mut run = command(&program, meeting.path());
    run.env("COMPONENT_LIBRARIES", &libraries).env("AMENT_PREFIX_PATH", &libraries);
    checked("containers", &run.output().expect("it starts"));
}

/// With nodes of Rust: the program links the library of the example in place of `libsinew_c`.
#[test]
fn nodes_of_rust_and_c_in_one_process() {
    if skipped(&cc()) {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let (program, component) = (place.path().join("mixed"), place.path().join("libright.so"));
    let examples = with_nodes_of_rust();
    component_library("-DRIGHT", &component, &examples, "rust_components");
    let mut compile = Command::new(cc());
    compile.args(STRICT).arg("-std=c11").arg("-I").arg(root().join("include")).arg("-o").arg(&program);
    compile.arg(root().join("tests/c/mixed/mixed.c")).arg("-L").arg(&examples).arg("-lrust_components");
    compile.arg(format!("-Wl,-rpath,{}", examples.display()));
    checked("mixed is compiled", &compile.output().expect("cc runs"));
    let meeting = meeting_place();
    let mut run = command(&program, meeting.path());
    checked("mixed", &run.env("COMPONENT_LIBRARY", &component).output().expect("it starts"));
}

/// Returns the directory of the example's library. Cargo builds that with all tests; with some
/// only, it has to be built here.
fn with_nodes_of_rust() -> PathBuf {
    let examples = library().join("../examples");
    let built = |path: PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    if built(examples.join("librust_components.so")) >= built(library().join("libsinew_c.so")) {
        return examples;
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target directory");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--offline", "--package", "sinew-c", "--example", "rust_components"]);
    build.arg("--target-dir").arg(target).args((!cfg!(debug_assertions)).then_some("--release"));
    checked("the library with the nodes of Rust", &build.current_dir(root()).output().expect("cargo runs"));
    examples
}

/// Two copies of the library in one process meet as two processes do.
#[test]
fn two_copies() {
    beside_a_copy("two_copies", |_| ());
}

/// Libraries of two versions refuse each other's handles. The other one is a copy, in which the
/// version and what is derived from it are replaced.
#[test]
fn two_versions() {
    beside_a_copy("two_versions", |library| {
        let (own, other) = (env!("CARGO_PKG_VERSION"), "9.9.9");
        assert_eq!(own.len(), other.len(), "texts are replaced where they are");
        for kind in ["sinew_context", "sinew_node"] {
            let (from, to) = (tag(own, kind).to_le_bytes(), tag(other, kind).to_le_bytes());
            assert!(replace(library, &from, &to) > 1, "the tag of {kind}");
        }
        let ended = |version| format!("{version}\0").into_bytes();
        assert!(replace(library, &ended(own), &ended(other)) > 0, "the version");
    });
}

/// The tag of a kind of handles in a version of the library: FNV-1a.
fn tag(version: &str, kind: &str) -> u32 {
    let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    version.bytes().chain(kind.bytes()).fold(0x811C_9DC5, add)
}

/// Replaces all occurrences. Returns their number.
fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) -> usize {
    let places: Vec<_> = bytes
        .windows(from.len())
        .enumerate()
        .filter(|(_, window)| *window == from)
        .map(|(at, _)| at)
        .collect();
    for at in &places {
        bytes[*at..at + to.len()].copy_from_slice(to);
    }
    places.len()
}

/// Runs a program that loads a copy of the library as well.
fn beside_a_copy(name: &str, change: impl Fn(&mut [u8])) {
    if skipped(&cc()) {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let (program, copy) = (place.path().join(name), place.path().join("libcopy.so"));
    let mut library = std::fs::read(library().join("libsinew_c.so")).expect("the library");
    change(&mut library);
    std::fs::write(&copy, &library).expect("a file");
    compile("gnu11", &root().join("tests/c/copies").join(name).with_extension("c"), &program);
    let meeting = meeting_place();
    checked(name, &command(&program, meeting.path()).env("COPY", &copy).output().expect("it starts"));
}

/// Also that a process that frees all its handles leaves no file.
#[test]
fn raw_handles() {
    leaves_nothing("raw_handles");
}

/// Also that a process that frees nothing leaves no file when it exits.
#[test]
fn raw_names() {
    leaves_nothing("raw_names");
}

fn leaves_nothing(name: &str) {
    let Some(place) = run(name) else { return };
    let files = std::fs::read_dir(place.path().join("domains/0")).expect("the domain's directory");
    let files: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    assert!(files.is_empty(), "{files:?}");
}

/// The programs of `docs/book/c.md` and of `examples/c` are compiled.
#[test]
fn the_book_and_the_examples() {
    if skipped(&cc()) {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let repository = root().join("../..");
    let page = std::fs::read_to_string(repository.join("docs/book/c.md")).expect("the page");
    let blocks = page.split("```c\n").skip(1).filter_map(|block| block.split("```").next());
    let mut number = 0;
    for block in blocks {
        number += 1;
        let source = place.path().join(format!("block {number} of c.md.c"));
        std::fs::write(&source, block).expect("a file");
        compile("gnu11", &source, &place.path().join("program"));
    }
    assert!(number > 3, "programs of the page: {number}");
    for example in std::fs::read_dir(repository.join("examples/c")).expect("the examples") {
        let example = example.expect("a file").path();
        if example.extension() == Some("c".as_ref()) {
            compile("gnu11", &example, &place.path().join("program"));
        }
    }
}

/// A program with the macros of the header, which a compiler sees only where they are used.
const USER: &str = r#"#include <sinew/sinew.h>
#include <sinew/sinew.h>
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
    let languages = [(cc(), "c", ["c11", "c17"]), (cxx(), "cpp", ["c++17", "c++20"])];
    for (compiler, extension, standards) in languages {
        if skipped(&compiler) {
            continue;
        }
        let file = place.path().join("user").with_extension(extension);
        std::fs::write(&file, USER).expect("a file");
        for standard in standards {
            let mut compile = Command::new(&compiler);
            compile.args(STRICT).arg(format!("-std={standard}")).arg("-fsyntax-only");
            compile.arg("-I").arg(root().join("include")).arg(&file);
            checked(standard, &compile.output().expect("it runs"));
        }
    }
}
