//! The generator: what it writes for a package, and what it does not take.
//!
//! `arm_msgs.rs` is what it writes, for readers and for the compiler. After a change of the generator, run the test with
//! `UPDATE_GENERATED=1` and look at the difference.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod views;

use sinew_msg::build::{GenerateError, Generator};
use sinew_msg::cdr::{BoundedString, WString};
use sinew_msg::view::view;
use sinew_msg::{Message, Plain};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// As a build script's output is included.
mod interfaces {
    pub(crate) mod arm_msgs {
        include!("arm_msgs.rs");
    }
}

use interfaces::arm_msgs::msg as arm_msgs;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated")
}

#[test]
fn what_is_generated_is_the_file() {
    let texts = Generator::new().package(folder().join("arm_msgs")).texts().unwrap();
    assert_eq!(texts.keys().collect::<Vec<_>>(), ["arm_msgs"]);
    let file = folder().join("arm_msgs.rs");
    if env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&file, &texts["arm_msgs"]).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == texts["arm_msgs"],
        "tests/generated/arm_msgs.rs is out of date"
    );
}

/// With the packages of ROS 2, for more lines of any length.
#[test]
fn what_is_generated_is_formatted() {
    let ros = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/interfaces");
    let packages = fs::read_dir(ros).unwrap().map(|entry| entry.unwrap().path());
    let generator = packages.chain([folder().join("arm_msgs")]).fold(Generator::new(), Generator::package);
    let texts = generator.texts().unwrap();
    let folder = Folder::new("formatted", &[("rustfmt.toml", "")]); // the defaults, not ours
    let files = texts.iter().map(|(package, text)| {
        let file = folder.0.join(format!("{package}.rs"));
        fs::write(&file, text).unwrap();
        file
    });
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024"]).args(files);
    let Ok(output) = rustfmt.output() else { return skip("what_is_generated_is_formatted", "rustfmt") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn defaults_and_constants_are_those_of_the_definition() {
    let joint = arm_msgs::Joint::default();
    assert_eq!((joint.r#type, &*joint.name, joint.raw), (1, "arm", [0; 4]));
    assert_eq!((&*joint.self_, &*joint.steps), (&[1.0, -2.5][..], &[1, 2][..]));
    assert_eq!((joint.flags, joint.position.y), ([true, false], 1.5));
    assert_eq!(
        (joint.labels, joint.weights, joint.wide),
        (["a", "b"].map(str::to_owned), [0.0; 36], WString::from("ä"))
    );
    let limits = arm_msgs::Limits::default();
    assert_eq!(limits.shorts.iter().map(|text| &**text).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((limits.numbers.len(), limits.octets.as_ref(), limits.octet), (26, &[1, 2][..], 3));
    assert_eq!((arm_msgs::Joint::REVOLUTE, arm_msgs::Joint::UNIT), (1, "rad \"°\""));
    assert_eq!((arm_msgs::Joint::LIMIT, arm_msgs::Joint::SAFE), (-1.5, true));
}

#[test]
fn names_that_rust_has_are_only_names() {
    fn is_plain<T: Plain>() {}
    is_plain::<arm_msgs::Vec>();
    is_plain::<arm_msgs::JointView>();
    let text = arm_msgs::String { run: "a".to_owned(), decoder: vec![1, 2], ..arm_msgs::String::default() };
    let option = arm_msgs::Option {
        option: vec![text],
        result: vec![arm_msgs::Joint::default()],
        ..Default::default()
    };
    let value = arm_msgs::Result { value: [option.clone(), option], ok: true };
    let encoding = arm_msgs::Result::ENCODING.unwrap();
    let mut image = vec![0; (encoding.size)(&value)];
    (encoding.encode)(&value, &mut image);
    assert_eq!((encoding.decode)(&image), Ok(value));
    let seen = view::<arm_msgs::Result>(&image).unwrap();
    let joint: arm_msgs::Joint_View<'_> = seen.value[1].result.iter().next().unwrap();
    assert_eq!(joint.name, "arm");
    assert_eq!(*joint.self_, [1.0, -2.5]);
    assert_eq!(BoundedString::<8>::try_from("arm"), Ok(arm_msgs::Joint::default().name));
}

/// A folder of its own for each test, gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str, files: &[(&str, &str)]) -> Self {
        let folder = Self(env::temp_dir().join(format!("sinew-generated-{}-{test}", process::id())));
        for (file, text) in files {
            let path = folder.0.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn generator(&self, packages: &[&str]) -> Generator {
        packages.iter().fold(Generator::new(), |generator, package| generator.package(self.0.join(package)))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// A test can't do here what it is there for. It passes; whoever runs many tests finds the sentence in the file `$SINEW_SKIPPED`.
fn skip(test: &str, missing: &str) {
    let sentence = format!("{test} was skipped: there is no {missing}");
    if let Some(path) = env::var_os("SINEW_SKIPPED") {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "{sentence}")).unwrap();
    }
    eprintln!("{sentence}");
}

#[test]
fn errors_say_where() {
    let error = |test: &str, files: &[(&str, &str)]| {
        let folder = Folder::new(test, files);
        let error = folder.generator(&["a"]).texts().unwrap_err();
        // What `main` prints when it returns the error.
        format!("{error:?}").replace(&*folder.0.to_string_lossy(), "")
    };
    let parse = error("parse", &[("a/msg/A.msg", "uint8 x\n  boolean y")]);
    assert!(parse.starts_with("/a/msg/A.msg:2:1: "), "{parse}");
    let unknown = error("unknown", &[("a/msg/A.msg", "b/B x")]);
    assert_eq!(
        unknown,
        "/a/msg/A.msg:1:1: `x` of a/msg/A has the unknown type b/msg/B; add the definitions of b"
    );
    let recursive = error("recursive", &[("a/msg/A.msg", "A[] x")]);
    assert!(recursive.starts_with("/a/msg/A.msg:1:1: a/msg/A contains itself"), "{recursive}");
    let reserved = error("reserved", &[("a/msg/Self.msg", "")]);
    assert_eq!(reserved, "a/msg/Self can't be generated: Rust uses its name for something else; rename it");
    let missing = error("missing", &[("b/msg/A.msg", "")]);
    assert!(missing.contains("/a has no interfaces"), "{missing}");
    assert!(matches!(Generator::new().package("/").texts(), Err(GenerateError::PackageName { .. })));
}

#[test]
fn only_what_lies_in_an_image_as_in_memory_is_filled_there() {
    let files = [
        ("a/msg/Even.msg", "float64 c\nuint32 a\nfloat32 b"),
        ("a/msg/Uneven.msg", "uint32 a\nfloat32 b\nfloat64 c"), // where it begins in an image depends on what is before it
        ("a/msg/Parts.msg", "string name\nEven[] even\nUneven[] uneven\nbool[] flags"),
    ];
    let texts = Folder::new("uneven", &files).generator(&["a"]).texts().unwrap();
    let text = texts.iter().map(|(_, text)| text.as_str()).collect::<String>();
    let lengths = text.split("pub struct PartsLengths {").nth(1).unwrap().split('}').next().unwrap();
    assert!(
        lengths.contains("pub even: usize") && !lengths.contains("uneven") && !lengths.contains("flags"),
        "{lengths}"
    );
}

#[test]
fn packages_may_lie_in_another_crate() {
    let files = [("a/msg/A.msg", "b/B x"), ("a/srv/S.srv", "b/B[] x\n---\nA y"), ("b/msg/B.msg", "uint8 x")];
    let folder = Folder::new("elsewhere", &files);
    let generator = folder.generator(&["a"]).elsewhere(folder.0.join("b"), "::other::b").root("::sinew");
    let texts = generator.texts().unwrap();
    // Nobody has those that services need, so they are generated as well.
    assert_eq!(texts.keys().collect::<Vec<_>>(), ["a", "builtin_interfaces", "service_msgs"]);
    let text = &texts["a"];
    for line in [
        "pub x: ::other::b::msg::B,",
        "pub y: super::msg::A,",
        "pub info: super::super::service_msgs::msg::ServiceEventInfo,",
        "pub request: cdr::BoundedVec<SRequest, 1>,",
        "use ::sinew::{self as sinew, cdr, view};",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn files_are_written_only_if_they_change() {
    let folder = Folder::new("written", &[("a/msg/A.msg", "uint8 x"), ("out/a.rs", "")]);
    let out = folder.0.join("out");
    folder.generator(&["a"]).write_to(&out).unwrap();
    let time = |file: &str| fs::metadata(out.join(file)).unwrap().modified().unwrap();
    let before = (time("a.rs"), time("interfaces.rs"));
    assert!(fs::read_to_string(out.join("a.rs")).unwrap().contains("pub struct A {"));
    assert!(fs::read_to_string(out.join("interfaces.rs")).unwrap().contains("pub mod a {"));
    folder.generator(&["a"]).write_to(&out).unwrap();
    assert_eq!((time("a.rs"), time("interfaces.rs")), before);
    let error = folder.generator(&["a"]).write_to(&folder.0.join("none")).unwrap_err();
    assert!(error.to_string().contains("none/a.rs can't be written"), "{error}");
}
