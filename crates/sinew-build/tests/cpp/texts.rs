//! The generator without a compiler: what it writes, finds and refuses.

use super::compiler::Folder;
use sinew_build::{CppGenerator, GenerateError};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

fn ros() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/interfaces")
}

fn paths(generator: &CppGenerator) -> Vec<String> {
    generator.texts().unwrap().into_keys().collect()
}

#[test]
fn packages_are_searched_for_types_of_fields() {
    let folder = Folder::new("search");
    let file = folder.write("a/msg/A.msg", "b/B x\nstd_msgs/Header header");
    let _ = folder.write("a/msg/Other.msg", "A x");
    let _ = folder.write("a/srv/S.srv", "A x\n---\n");
    let _ = folder.write("b/msg/B.msg", "uint8 x");
    let generator = CppGenerator::new().search(&folder.0).search(ros());
    let package = generator.clone().package(folder.0.join("a"));
    assert_eq!(paths(&package), ["a/msg/a.hpp", "a/msg/other.hpp", "a/srv/s.hpp"]);
    assert_eq!(paths(&generator.clone().definition(&file)), ["a/msg/a.hpp"]);
    let missing = CppGenerator::new().search(&folder.0).package(folder.0.join("a")).texts().unwrap_err();
    assert!(missing.to_string().ends_with("add the definitions of std_msgs"), "{missing}");
    let wrong = generator.definition(folder.0.join("a/msg/B.msg")).texts().unwrap_err();
    assert!(matches!(wrong, GenerateError::Definition { .. }), "{wrong}");
}

/// Every set of definitions has built in what services need, except the cancelling of actions.
#[test]
fn packages_that_derived_types_need_are_generated() {
    let folder = Folder::new("derived");
    let _ = folder.write("a/srv/S.srv", "---");
    let service = CppGenerator::new().package(folder.0.join("a"));
    let expected =
        ["a/srv/s.hpp", "builtin_interfaces/msg/time.hpp", "service_msgs/msg/service_event_info.hpp"];
    assert_eq!(paths(&service), expected);
    let _ = folder.write("a/action/A.action", "---\n---");
    let action = service.texts().unwrap_err();
    assert_eq!(
        action.to_string(),
        "the header of a/action/A needs the package action_msgs; add it, or a folder to search for it"
    );
    assert_eq!(paths(&service.search(ros())), ["a/action/a.hpp", "a/srv/s.hpp"]);
}

#[test]
fn types_with_one_header_are_an_error() {
    let folder = Folder::new("one_header");
    let _ = folder.write("a/msg/UUID.msg", "uint8 x");
    let _ = folder.write("a/msg/Uuid.msg", "uint8 y");
    let error = CppGenerator::new().package(folder.0.join("a")).texts().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a/msg/UUID and a/msg/Uuid would both have the C++ header a/msg/uuid.hpp; rename one"
    );
}

/// By 2⁶³ paths there is a last type in the first: what is asked about it must be answered once.
#[test]
fn each_type_is_looked_at_once() {
    let folder = Folder::new("paths");
    for number in 0..63 {
        let _ = folder.write(&format!("a/msg/M{number}.msg"), &format!("M{0} a\nM{0} b", number + 1));
    }
    let _ = folder.write("a/msg/M63.msg", "bool x");
    let texts = CppGenerator::new().package(folder.0.join("a")).texts().unwrap();
    let is_fixed = "struct has_fixed_size<::a::msg::M0>\n  : ::std::integral_constant<bool, true>";
    assert!(texts["a/msg/m0.hpp"].contains(is_fixed));
}

#[test]
fn a_header_that_does_not_change_is_left_alone() {
    let folder = Folder::new("unchanged");
    let _ = folder.write("a/msg/A.msg", "uint8 x");
    let generator = CppGenerator::new().package(folder.0.join("a"));
    let header = folder.0.join("out/a/msg/a.hpp");
    generator.write_to(&folder.0.join("out")).unwrap();
    let old = SystemTime::UNIX_EPOCH;
    fs::File::options().write(true).open(&header).unwrap().set_modified(old).unwrap();
    generator.write_to(&folder.0.join("out")).unwrap();
    assert_eq!(fs::metadata(&header).unwrap().modified().unwrap(), old);
    let _ = folder.write("a/msg/A.msg", "uint8 y");
    generator.write_to(&folder.0.join("out")).unwrap();
    assert!(fs::read_to_string(&header).unwrap().contains("_y_type y;"));
}

#[test]
fn comments_stay_comments() {
    let folder = Folder::new("comments");
    let _ = folder.write("a/msg/A.msg", "# ends with \\\nuint8 x # */ \\\n");
    let texts = CppGenerator::new().package(folder.0.join("a")).texts().unwrap();
    let text = &texts["a/msg/a.hpp"];
    assert!(text.contains("/// ends with\n") && text.contains("  /// */\n"), "{text}");
}

#[test]
fn the_program_takes_packages_and_definitions() {
    let folder = Folder::new("program");
    let file = folder.write("a/msg/A.msg", "std_msgs/Header header");
    let _ = folder.write("b/msg/B.msg", "uint8 x");
    let run = |arguments: &[&Path]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_sinew-generate-cpp"));
        program.arg("--out").arg(folder.0.join("out")).args(arguments).output().unwrap()
    };
    let (b, search) = (folder.0.join("b"), ros());
    let done = run(&[&file, &b, Path::new("-I"), &search]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(folder.0.join("out/a/msg/a.hpp").is_file() && folder.0.join("out/b/msg/b.hpp").is_file());
    assert!(!folder.0.join("out/std_msgs").exists());
    let failed = run(&[&file]);
    let error = String::from_utf8(failed.stderr).unwrap();
    assert!(!failed.status.success() && error.contains("add the definitions of std_msgs"), "{error}");
}
