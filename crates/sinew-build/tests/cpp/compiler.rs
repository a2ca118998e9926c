//! A folder with generated headers, and a C++ compiler that reads them.

use sinew_build::CppGenerator;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// The warnings that no header may cause.
const FLAGS: [&str; 9] = [
    "-std=c++17",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wold-style-cast",
    "-Werror",
];

/// A field for each kind of name that C++ or the generated code uses itself.
const KEYWORDS: &str =
    "uint8 class\nstring template\nuint32[] union\nuint8 other\nuint8 message\nuint8 visitor";

/// A folder of its own, removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let name = format!("sinew-cpp-{}-{test}", process::id());
        let folder = Self(env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The packages of ROS 2, those of the other tests and one with keywords.
pub(crate) fn packages(folder: &Folder) -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ros = fs::read_dir(here.join("../sinew-interfaces/interfaces")).unwrap();
    let mut packages: Vec<PathBuf> = ros.map(|entry| entry.unwrap().path()).collect();
    packages.extend(["arm_msgs", "text_msgs"].map(|name| here.join("tests/generated").join(name)));
    let _ = folder.write("keyword_msgs/msg/Keywords.msg", KEYWORDS);
    packages.push(folder.0.join("keyword_msgs"));
    packages.sort();
    packages
}

/// Generates the headers of all packages. Returns a text that includes those with these paths.
pub(crate) fn generate(folder: &Folder, is_included: impl Fn(&str) -> bool) -> String {
    let generator = packages(folder).into_iter().fold(CppGenerator::new(), CppGenerator::package);
    generator.write_to(&folder.0.join("headers")).unwrap();
    let texts = generator.texts().unwrap();
    texts.keys().filter(|path| is_included(path)).map(|path| format!("#include \"{path}\"\n")).collect()
}

/// Compiles a source with these flags too, into the folder's file `program` unless they say
/// otherwise. Returns it, or `None` without a compiler.
pub(crate) fn compile(folder: &Folder, source: &Path, program: &str, flags: &[&str]) -> Option<PathBuf> {
    let program = folder.0.join(program);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new(env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    compiler.args(FLAGS).args(flags).arg("-o").arg(&program);
    for include in [here.join("../sinew-c/include"), folder.0.join("headers"), folder.0.clone()] {
        compiler.arg("-I").arg(include);
    }
    let Ok(output) = compiler.arg(source).output() else {
        skip(program.file_name().unwrap_or_default().to_string_lossy().as_ref());
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Notes that a test can't be done here: in the file `$SINEW_SKIPPED`, where a run of many tests
/// collects it.
fn skip(test: &str) {
    let sentence = format!("C++ messages, {test}: there is no C++ compiler (CXX)");
    if let Some(path) = env::var_os("SINEW_SKIPPED") {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "{sentence}")).unwrap();
    }
    eprintln!("{sentence}");
}
