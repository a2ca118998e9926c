//! Packages in folders.

use sinew_msg::definition::{Definitions, Packages, ReadError, TypeName};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A folder for one test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str, files: &[(&str, &str)]) -> Self {
        let folder = Self(env::temp_dir().join(format!("sinew-definitions-{}-{test}", process::id())));
        for (file, text) in files {
            let path = folder.0.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn read(folder: &Path) -> Result<Definitions, ReadError> {
    let mut definitions = Definitions::new();
    definitions.read_package("x", folder)?;
    Ok(definitions)
}

#[test]
fn a_package_is_its_folders() {
    let files = [
        ("msg/B.msg", ""),
        ("msg/A.msg", "B b"),
        ("msg/README.md", "no definition"),
        ("srv/C.srv", "---"),
        ("action/D.action", "---\n---"),
        ("msg/old/E.msg", "no definition either"),
    ];
    let folder = Folder::new("package", &files);
    let definitions = read(&folder.0).unwrap();
    let names: Vec<_> = definitions.iter().map(|definition| definition.name.to_string()).collect();
    assert_eq!(names, ["x/action/D", "x/msg/A", "x/msg/B", "x/srv/C"]);
    assert!(definitions.resolve().is_ok());
}

/// An installation of ROS 2 has a definition in IDL beside each other one.
#[test]
fn a_type_that_is_defined_only_in_idl_is_an_error() {
    let both = Folder::new("both", &[("x/msg/A.idl", "module x {};"), ("x/msg/A.msg", "int32 a")]);
    assert_eq!(read(&both.0.join("x")).unwrap().iter().count(), 1);

    let files = [
        ("x/srv/B.idl", "module x {};"),
        ("x/msg/A.msg", "int32 a"),
        ("x/msg/C.msg", "D d"),
        ("x/msg/D.idl", ""),
    ];
    let only = Folder::new("idl", &files);
    let sentence = |file: &str, kind: &str| {
        let path = only.0.join(file);
        format!(
            "{}: definitions in IDL are not read; write it as a `.{kind}` file beside this one",
            path.display()
        )
    };
    assert_eq!(read(&only.0.join("x")).unwrap_err().to_string(), sentence("x/msg/D.idl", "msg"));

    let mut packages = Packages::new(&[]);
    packages.add(&only.0);
    let load =
        |name: &str| packages.load(&name.parse().unwrap()).map(drop).map_err(|error| error.to_string());
    assert_eq!(load("x/msg/A"), Ok(()));
    assert_eq!(load("x/srv/B"), Err(sentence("x/srv/B.idl", "srv")));
    assert_eq!(load("x/msg/C"), Err(sentence("x/msg/D.idl", "msg")));
}

#[test]
fn errors_name_the_file() {
    let broken = Folder::new("broken", &[("msg/A.msg", "int32 a\nint b")]);
    let error = read(&broken.0).unwrap_err().to_string();
    let file = broken.0.join("msg/A.msg");
    assert_eq!(error, format!("{}:2:1: found `int`, expected a type: perhaps `int32`", file.display()));

    let misnamed = Folder::new("misnamed", &[("msg/a.msg", "")]);
    let error = read(&misnamed.0).unwrap_err().to_string();
    assert!(error.contains("msg/a.msg: `x/msg/a` is not the name of a ROS 2 type"), "{error}");

    let empty = Folder::new("empty", &[("message/A.msg", "")]);
    let error = read(&empty.0).unwrap_err().to_string();
    assert!(
        error.ends_with("has no interfaces; give the package's folder, with `msg`, `srv` or `action` in it"),
        "{error}"
    );

    let unreadable = Folder::new("unreadable", &[("msg/A.msg/file", "")]);
    let error = read(&unreadable.0).unwrap_err().to_string();
    assert!(error.contains("msg/A.msg can't be read: "), "{error}");
}

#[test]
fn a_package_is_read_once() {
    let folder = Folder::new("twice", &[("msg/A.msg", "")]);
    let mut definitions = read(&folder.0).unwrap();
    let error = definitions.read_package("x", &folder.0).unwrap_err().to_string();
    assert!(error.starts_with("x/msg/A is defined twice, in "), "{error}");
}

static BUILT_IN: &[(&str, &str)] = &[
    ("std_msgs/msg/Header", "builtin_interfaces/Time stamp\nstring frame_id"),
    ("std_msgs/msg/Text", "string data"),
];

#[test]
fn types_are_read_alone_from_the_first_source() {
    let files = [
        ("first/arm_msgs/msg/Joint.msg", "std_msgs/Text name"),
        ("first/arm_msgs/msg/Broken.msg", "int a"),
        ("first/arm_msgs/srv/Move.srv", "Joint joint\n---"),
        ("first/arm_msgs/msg/Lost.msg", "std_msgs/Txt text"),
        ("second/arm_msgs/msg/Arm.msg", "int32 joints"),
        ("second/std_msgs/msg/Text.msg", "string data\nstring more"),
        ("second/notes/README.md", "no package"),
    ];
    let folder = Folder::new("sources", &files);
    let mut packages = Packages::new(BUILT_IN);
    assert_eq!(packages.add(&folder.0.join("first")), ["arm_msgs"]);
    assert_eq!(packages.add(&folder.0.join("second")), ["arm_msgs", "std_msgs"]);
    assert!(packages.add(&folder.0.join("third")).is_empty());
    assert_eq!(packages.names().into_iter().collect::<Vec<_>>(), ["arm_msgs", "std_msgs"]);
    let types: Vec<String> = packages.types("arm_msgs").iter().map(ToString::to_string).collect();
    assert_eq!(
        types,
        ["arm_msgs/msg/Broken", "arm_msgs/msg/Joint", "arm_msgs/msg/Lost", "arm_msgs/srv/Move"]
    );

    let request: TypeName = "arm_msgs/srv/Move_Request".parse().unwrap();
    assert!(packages.has(&request) && packages.text(&request).unwrap().is_none());
    let interfaces = packages.load(&request).unwrap();
    let description = interfaces.description(&request).unwrap();
    let inside: Vec<(&str, usize)> = description
        .referenced_type_descriptions
        .iter()
        .map(|one| (one.type_name.as_str(), one.fields.len()))
        .collect();
    assert_eq!(inside, [("arm_msgs/msg/Joint", 1), ("std_msgs/msg/Text", 2)]);

    let load = |name: &str| packages.load(&name.parse().unwrap());
    assert!(load("arm_msgs/msg/Broken").unwrap_err().to_string().contains("Broken.msg:1:1"));
    assert!(
        load("arm_msgs/msg/Lost").unwrap_err().to_string().ends_with("std_msgs has no message of this name")
    );
    assert_eq!(load("arm_msgs/msg/Arm").unwrap().iter().count(), 0);
    assert!(!packages.has(&"std_msgs/msg/Header".parse().unwrap())); // the package in the folder counts
}

#[test]
fn packages_that_are_compiled_in_come_last() {
    let packages = Packages::new(BUILT_IN);
    let header = "std_msgs/msg/Header".parse().unwrap();
    let error = packages.load(&header).unwrap_err().to_string();
    assert!(error.contains("unknown type builtin_interfaces/msg/Time"), "{error}");
    assert!(packages.text(&header).unwrap().unwrap().contains("frame_id"));
}
