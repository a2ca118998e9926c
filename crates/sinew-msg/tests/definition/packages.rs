//! Packages in folders.

use sinew_msg::definition::{Definitions, ReadError};
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
