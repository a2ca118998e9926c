//! Messages in C++: the generated headers, as a C++ compiler and ROS 2's programs see them.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod compiler;
mod exchange;
#[path = "../../../sinew-interfaces/tests/types/random.rs"]
mod random;
mod texts;

use compiler::{Folder, compile, generate};
use sinew_build::CppGenerator;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Without code generation, which takes most of the time.
#[test]
fn all_headers_compile_without_exceptions() {
    let folder = Folder::new("headers");
    let source = folder.write("all.cpp", &generate(&folder, |_| true));
    let _ = compile(&folder, &source, "headers", &["-fsyntax-only", "-fno-exceptions", "-fno-rtti"]);
}

#[test]
fn messages_have_the_shape_of_ros_2() {
    let folder = Folder::new("shape");
    let _ = generate(&folder, |_| false);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/shape.cpp");
    let Some(program) = compile(&folder, &source, "shape", &[]) else { return };
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the first block of this language after a text in the book's page.
fn block(page: &str, after: &str, language: &str) -> String {
    let rest = page.split_once(after).unwrap().1;
    let block = rest.split_once(&format!("```{language}\n")).unwrap().1;
    block.split_once("```\n").unwrap().0.to_owned()
}

#[test]
fn the_program_of_the_book() {
    let folder = Folder::new("book");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(here.join("../../docs/book/cpp-messages.md")).unwrap();
    let joint = block(&page, "`interfaces/arm_msgs/msg/Joint.msg`:", "text");
    let _ = folder.write("interfaces/arm_msgs/msg/Joint.msg", &joint);
    let ros = here.join("../sinew-interfaces/interfaces");
    let packages =
        [folder.0.join("interfaces/arm_msgs"), ros.join("std_msgs"), ros.join("builtin_interfaces")];
    let generator = packages.into_iter().fold(CppGenerator::new(), CppGenerator::package);
    generator.write_to(&folder.0.join("headers")).unwrap();
    let source = folder.write("main.cpp", &block(&page, "`main.cpp`:", "cpp"));
    let Some(program) = compile(&folder, &source, "book", &[]) else { return };
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("`angle` of arm_msgs/msg/Joint needs bytes up to "), "{error}");
}
