//! Programs of C++, compiled as a careful user would and run against the shared library, each in a
//! domain directory of its own. One that fails says where and exits with 1.

mod support;

use sinew_build::CppGenerator;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use support::{STRICT, checked, command, cxx, flags, library, meeting_place, root, run_program, skipped};

/// The headers of all packages, and the library's own headers as they are compiled once for all
/// programs.
fn headers() -> &'static Path {
    static HEADERS: OnceLock<tempfile::TempDir> = OnceLock::new();
    let place = HEADERS.get_or_init(|| {
        let place = tempfile::tempdir().expect("a directory");
        let interfaces = root().join("../sinew-interfaces/interfaces");
        let packages = std::fs::read_dir(interfaces).expect("the packages");
        let packages = packages.map(|package| package.expect("a package").path());
        let generator = packages.fold(CppGenerator::new(), CppGenerator::package);
        generator.write_to(place.path()).expect("the headers");
        let mut compile = compiler(place.path());
        compile.args(["-x", "c++-header"]).arg(root().join("include/sinew/sinew.hpp"));
        compile.arg("-o").arg(place.path().join("sinew.hpp.gch"));
        checked("the header is compiled", &compile.output().expect("c++ runs"));
        place
    });
    place.path()
}

/// The compiler with the flags that all its calls share, or the compiled header is not used.
fn compiler(headers: &Path) -> Command {
    let mut compile = Command::new(cxx());
    compile.args(STRICT).args(flags()).args(["-std=c++17", "-g0", "-pthread", "-Winvalid-pch"]);
    compile.arg("-I").arg(headers).arg("-I").arg(root().join("include"));
    compile
}

/// Compiles a program of `tests/cpp` and runs it, unless there is no compiler.
fn run(name: &str) {
    if skipped(&cxx()) {
        return;
    }
    compile_and_run(name, with_compiled_header());
}

/// The compiler with the library's headers, which are compiled already.
fn with_compiled_header() -> Command {
    let headers = headers();
    let mut compile = compiler(headers);
    compile.arg("-include").arg(headers.join("sinew.hpp"));
    compile
}

/// As `run`, but with coroutines, unless the compiler has none.
fn run_with_coroutines(name: &str) {
    if skipped(&cxx()) {
        return;
    }
    let mut asked = Command::new(cxx());
    asked.args(["-std=c++20", "-fsyntax-only", "-include", "coroutine", "-x", "c++", "/dev/null"]);
    if !asked.output().expect("c++ runs").status.success() {
        eprintln!("skipped: this c++ has no coroutines");
        return;
    }
    let mut compile = compiler(headers());
    compile.arg("-std=c++20");
    compile_and_run(name, compile);
}

fn compile_and_run(name: &str, compiler: Command) {
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join(name);
    compile(name, &program, compiler);
    run_program(&program);
}

/// Compiles a source of `tests/cpp`, and links it with the library.
fn compile(name: &str, to: &Path, mut compile: Command) {
    let source = root().join("tests/cpp").join(name).with_extension("cpp");
    compile.arg(&source).arg("-o").arg(to);
    compile.arg("-L").arg(library()).arg("-lsinew_c").arg(format!("-Wl,-rpath,{}", library().display()));
    checked(&format!("{} is compiled", source.display()), &compile.output().expect("c++ runs"));
}

/// With a shared library of components.
#[test]
fn components() {
    if skipped(&cxx()) {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let [library, program] = ["libcomponents.so", "components"].map(|name| place.path().join(name));
    let mut shared = compiler(headers());
    shared.args(["-fPIC", "-shared"]);
    compile("libraries/components", &library, shared);
    compile("components", &program, with_compiled_header());
    let meeting = meeting_place();
    let mut run = command(&program, meeting.path());
    checked("components", &run.env("COMPONENT_LIBRARY", &library).output().expect("it starts"));
}

/// The programs of the README and of the page for users of rclcpp.
#[test]
fn the_book() {
    if skipped(&cxx()) {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let mut number = 0;
    for page in ["README.md", "docs/book/cpp-for-rclcpp-users.md"] {
        let text = std::fs::read_to_string(root().join("../..").join(page)).expect("the page");
        for block in text.split("```cpp\n").skip(1).filter_map(|block| block.split("```").next()) {
            number += 1;
            let source = place.path().join(format!("block {number}.cpp"));
            std::fs::write(&source, block).expect("a file");
            let mut compile = with_compiled_header();
            compile.arg("-I").arg(root().join("rclcpp")).arg("-fsyntax-only").arg(&source);
            checked(&format!("{page}: {block}"), &compile.output().expect("c++ runs"));
        }
    }
    assert!(number > 2, "programs of the pages: {number}");
}

/// A program for rclcpp, of `examples/cpp`; `ctest` runs them all. A message stays at its address.
#[test]
fn a_ported_program() {
    if skipped(&cxx()) || skipped("bash") {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let examples = root().join("../../examples/cpp");
    let program = place.path().join("cyclic_pipeline");
    let mut compile = with_compiled_header();
    compile.arg("-I").arg(root().join("rclcpp")).arg("-o").arg(&program);
    compile.arg(examples.join("intra_process/cyclic_pipeline.cpp"));
    compile.arg("-L").arg(library()).arg("-lsinew_c").arg(format!("-Wl,-rpath,{}", library().display()));
    checked("cyclic_pipeline is compiled", &compile.output().expect("c++ runs"));
    let meeting = meeting_place();
    let mut run = command(&examples.join("expect"), meeting.path());
    run.arg(
        "with value:  42, and address: (0x[0-9A-F]+).*Received.* 42, and address: \\1.*44, and address: \\1",
    );
    checked("cyclic_pipeline", &run.arg("while").arg(&program).output().expect("bash"));
}

#[test]
fn as_rclcpp() {
    if skipped("c++") {
        return;
    }
    let mut compile = with_compiled_header();
    compile.arg("-I").arg(root().join("rclcpp"));
    compile_and_run("as_rclcpp", compile);
}

/// The adapter with which rclcpp takes part in the peers' report: the same source, over Sinew.
#[test]
fn the_adapter_for_rclcpp() {
    if skipped("c++") {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join("sinew-peer-ros2");
    let mut compile = with_compiled_header();
    compile.arg("-I").arg(root().join("rclcpp")).arg("-o").arg(&program);
    let sources = std::fs::read_dir(root().join("../../bench/peers/ros2")).expect("the adapter's sources");
    let sources = sources.map(|entry| entry.expect("a source").path());
    compile.args(sources.filter(|path| path.extension().is_some_and(|extension| extension == "cpp")));
    compile.arg("-L").arg(library()).arg("-lsinew_c").arg(format!("-Wl,-rpath,{}", library().display()));
    checked("the adapter is compiled", &compile.output().expect("c++ runs"));
    let case = r#"{"scenario": "chain", "relays": 10, "rate": 1000.0, "seconds": 0.05}"#;
    let meeting = meeting_place();
    let output = command(&program, meeting.path()).args(["run", case]).output().expect("it starts");
    checked("the adapter", &output);
    let figures = String::from_utf8_lossy(&output.stdout);
    assert!(figures.contains(r#""messages": 45, "lost": 0, "reordered": 0"#), "{figures}");
    let systems = command(&program, meeting.path()).arg("systems").output().expect("it starts");
    assert!(String::from_utf8_lossy(&systems.stdout).contains(r#""peer": "ros2""#), "{systems:?}");
    let other = command(&program, meeting.path()).args(["run", r#"{"scenario": "big"}"#]).output();
    assert_eq!(other.expect("it starts").status.code(), Some(3));
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
    adapters,
    closing,
    copies,
    endings,
    exceptions,
    executors,
    failures,
    generic,
    lifecycles,
    logging,
    node_options,
    parameters,
    services,
    starting,
    time,
    topics,
    transforms,
}

#[test]
fn services_with_coroutines() {
    run_with_coroutines("services");
}
