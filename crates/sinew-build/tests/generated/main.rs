//! The generator: its output for a package, and the definitions that it refuses.
//!
//! `arm_msgs.rs` and `text_msgs.rs` are its output, for readers and for the compiler. After a
//! change of the generator, run the test with `UPDATE_GENERATED=1` and review the difference.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod views;

use sinew_build::{GenerateError, Generator};
use sinew_msg::cdr::{BoundedString, WString};
use sinew_msg::view::view;
use sinew_msg::{Message, Plain};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// Included as a build script's output is, in a crate with strict lints.
#[deny(
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unreachable_pub,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences,
    warnings
)]
mod interfaces {
    pub(crate) mod arm_msgs {
        include!("arm_msgs.rs");
    }

    #[forbid(unsafe_code)]
    pub(crate) mod text_msgs {
        include!("text_msgs.rs");
    }
}

use interfaces::arm_msgs::msg as arm_msgs;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated")
}

#[test]
fn what_is_generated_is_the_file() {
    let packages = ["arm_msgs", "text_msgs"];
    let generator =
        packages.iter().fold(Generator::new(), |all, package| all.package(folder().join(package)));
    let texts = generator.texts().unwrap();
    assert_eq!(texts.keys().collect::<Vec<_>>(), packages);
    for (package, text) in texts {
        let file = folder().join(format!("{package}.rs"));
        if env::var_os("UPDATE_GENERATED").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let written = fs::read_to_string(&file).unwrap();
        assert!(written == text, "tests/generated/{package}.rs is out of date");
    }
}

#[test]
fn unsafe_code_is_allowed_where_something_is_plain() {
    let files = [("a/msg/A.msg", "uint8 x"), ("a/srv/S.srv", "string x\n---\nstring y")];
    let text = &with_services(Folder::new("plain", &files).generator(&["a"])).texts().unwrap()["a"];
    let (messages, services) = text.split_at(text.find("pub mod srv {").unwrap());
    let services = services.to_owned() + &messages[messages.rfind("#[allow(").unwrap()..];
    assert!(messages.contains("    unsafe_code,\n") && !services.contains("unsafe"), "{text}");
}

/// rustdoc would find no field named `self`.
#[test]
fn links_are_to_what_fields_are_called() {
    let text = fs::read_to_string(folder().join("arm_msgs.rs")).unwrap();
    for link in ["Keywords::self_", "Keywords::crate_", "Keywords::super_", "Keywords::type"] {
        assert!(text.contains(&format!("See [`{link}`].")), "{link}");
    }
    for link in ["Keywords::self_", "Keywords::crate_", "Keywords::super_"] {
        assert!(text.contains(&format!("Of [`{link}`].")), "{link}");
    }
    assert!(!text.contains("::self`]") && !text.contains("::crate`]") && !text.contains("::super`]"));
}

/// Returns the folder of ROS 2's packages.
fn ros() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/interfaces")
}

/// Adds the packages that services need, as the feature `service_msgs` does.
fn with_services(generator: Generator) -> Generator {
    ["builtin_interfaces", "service_msgs"].iter().fold(generator, |generator, package| {
        generator.elsewhere(ros().join(package), &format!("::sinew_interfaces::{package}"))
    })
}

/// Includes the packages of ROS 2, for more lines of every length.
#[test]
fn what_is_generated_is_formatted() {
    let packages = fs::read_dir(ros()).unwrap().map(|entry| entry.unwrap().path());
    let generator = packages.chain([folder().join("arm_msgs")]).fold(Generator::new(), Generator::package);
    let texts = generator.texts().unwrap();
    let folder = Folder::new("formatted", &[("rustfmt.toml", "")]); // rustfmt's defaults instead of the workspace's
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
    let mut encoded = vec![0; (encoding.size)(&value)];
    (encoding.encode)(&value, &mut encoded);
    assert_eq!((encoding.decode)(&encoded), Ok(value));
    let seen = view::<arm_msgs::Result>(&encoded).unwrap();
    let joint: arm_msgs::Joint_View<'_> = seen.value[1].result.iter().next().unwrap();
    assert_eq!(joint.name, "arm");
    assert_eq!(*joint.self_, [1.0, -2.5]);
    assert_eq!(BoundedString::<8>::try_from("arm"), Ok(arm_msgs::Joint::default().name));
}

/// A folder for one test, removed when the test ends.
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

/// Reports that a test cannot run here. The test passes; the sentence is also appended to the file
/// `$SINEW_SKIPPED`, where a run of many tests collects it.
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
        // The text that `main` prints when it returns the error.
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
    let reserved = error("reserved", &[("a/msg/Self.msg", "uint8 x")]);
    assert_eq!(
        reserved,
        "/a/msg/Self.msg:1:1: found a definition of `Self`, expected another name, since Rust uses that; rename the file"
    );
    let service = error("service", &[("a/srv/S.srv", "---")]);
    assert_eq!(
        service,
        "/a/srv/S.srv:1:1: `info` of a/srv/S_Event has the unknown type service_msgs/msg/ServiceEventInfo; \
         add sinew with its feature `service_msgs` to the dependencies"
    );
    let missing = error("missing", &[("b/msg/A.msg", "")]);
    assert_eq!(missing, "there is no folder /a; give that of a package, with `msg`, `srv` or `action` in it");
    let empty = error("empty", &[("a/package.xml", "")]);
    assert!(empty.starts_with("/a has no interfaces; "), "{empty}");
    let relative = Generator::new().package("interfaces/missing").texts().unwrap_err().to_string();
    let absolute = env::current_dir().unwrap().join("interfaces/missing");
    assert!(relative.starts_with(&format!("there is no folder {};", absolute.display())), "{relative}");
    assert!(matches!(Generator::new().package("/").texts(), Err(GenerateError::PackageName { .. })));
}

#[test]
fn only_what_lies_in_an_encoded_message_as_in_memory_is_filled_there() {
    let files = [
        ("a/msg/Even.msg", "float64 c\nuint32 a\nfloat32 b"),
        ("a/msg/Uneven.msg", "uint32 a\nfloat32 b\nfloat64 c"), // its offset depends on the fields before it
        ("a/msg/Parts.msg", "string name\nEven[] even\nUneven[] uneven\nbool[] flags"),
    ];
    let texts = Folder::new("uneven", &files).generator(&["a"]).texts().unwrap();
    let text = texts.values().map(String::as_str).collect::<String>();
    let lengths = text.split("pub struct PartsLengths {").nth(1).unwrap().split('}').next().unwrap();
    assert!(
        lengths.contains("pub even: usize") && !lengths.contains("uneven") && !lengths.contains("flags"),
        "{lengths}"
    );
}

/// By 2⁶³ paths there is a last type in the first: what is asked about it must be answered once.
#[test]
fn each_type_is_looked_at_once() {
    let text =
        |number| if number == 63 { "bool x".to_owned() } else { format!("M{0} a\nM{0} b", number + 1) };
    let files: Vec<_> = (0..64).map(|number| (format!("a/msg/M{number}.msg"), text(number))).collect();
    let files: Vec<_> = files.iter().map(|(file, text)| (&**file, &**text)).collect();
    let texts = Folder::new("paths", &files).generator(&["a"]).texts().unwrap();
    assert!(!texts["a"].contains("M0View") && !texts["a"].contains("M0Lengths"));
}

#[test]
fn packages_may_lie_in_another_crate() {
    let files = [("a/msg/A.msg", "b/B x"), ("a/srv/S.srv", "b/B[] x\n---\nA y"), ("b/msg/B.msg", "uint8 x")];
    let folder = Folder::new("elsewhere", &files);
    let generator = folder.generator(&["a"]).elsewhere(folder.0.join("b"), "::other::b").root("::sinew");
    let texts = with_services(generator).texts().unwrap();
    assert_eq!(texts.keys().collect::<Vec<_>>(), ["a"]);
    let text = &texts["a"];
    for line in [
        "pub x: ::other::b::msg::B,",
        "pub y: super::msg::A,",
        "pub info: ::sinew_interfaces::service_msgs::msg::ServiceEventInfo,",
        "pub request: cdr::BoundedVec<SRequest, 1>,",
        "use ::sinew::__private::{self as sinew, cdr, view};",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn files_are_written_only_if_they_change() {
    let folder = Folder::new("written", &[("a/msg/A.msg", "uint8 x"), ("out/a.package.rs", "")]);
    let out = folder.0.join("out");
    folder.generator(&["a"]).write_to(&out).unwrap();
    let time = |file: &str| fs::metadata(out.join(file)).unwrap().modified().unwrap();
    let before = (time("a.package.rs"), time("interfaces.rs"));
    assert!(fs::read_to_string(out.join("a.package.rs")).unwrap().contains("pub struct A {"));
    assert!(fs::read_to_string(out.join("interfaces.rs")).unwrap().contains("pub mod a {"));
    folder.generator(&["a"]).write_to(&out).unwrap();
    assert_eq!((time("a.package.rs"), time("interfaces.rs")), before);
    let error = folder.generator(&["a"]).write_to(&folder.0.join("none")).unwrap_err();
    assert!(error.to_string().contains("none/a.package.rs can't be written"), "{error}");
}

#[test]
fn a_package_may_be_called_interfaces() {
    let files = [("interfaces/msg/A.msg", "uint8 x"), ("out/keep", "")];
    let folder = Folder::new("interfaces", &files);
    let out = folder.0.join("out");
    folder.generator(&["interfaces"]).write_to(&out).unwrap();
    let written = |file: &str| fs::read_to_string(out.join(file)).unwrap();
    assert!(written("interfaces.rs").contains("pub mod interfaces {"));
    assert!(written("interfaces.package.rs").contains("pub struct A {"));
}
