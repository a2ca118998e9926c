//! The public items of the libraries are those that `docs/api` lists: so a change of them is seen,
//! and meant. `SINEW_UPDATE=1 cargo test -p sinew-core --test public_api` writes the lists anew.

mod support;

use sinew::error::ErrorCode;
use sinew::msg::{SerializedMessage, loan};
use sinew::{erased, error, logging, parameters, time};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The format of rustdoc's JSON that `public-api` reads. Another toolchain has another one.
const FORMAT: &str = "\"format_version\":57";

/// Rustdoc writes JSON only if unstable options are allowed; they aren't for the compiler, lest all
/// be built again.
const RUSTDOC: &str =
    "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\" -Zunstable-options --output-format=json\n";

/// The libraries with lists.
const LIBRARIES: [&str; 4] = ["sinew-core", "sinew-shm", "sinew-msg", "sinew-build"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Has rustdoc write what it knows of the libraries as JSON, all at once, so that they share what
/// they depend on. Returns the directory.
fn documented() -> PathBuf {
    let place = tempfile::tempdir().expect("a directory");
    let rustdoc = place.path().join("rustdoc");
    fs::write(&rustdoc, RUSTDOC).expect("a file");
    fs::set_permissions(&rustdoc, fs::Permissions::from_mode(0o700)).expect("its mode");
    // The workspace's, where some of it is built.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target directory");
    let done = Command::new(env!("CARGO"))
        .args(["doc", "--quiet", "--no-deps", "--lib", "--target-dir"])
        .arg(target)
        .args(LIBRARIES.map(|library| format!("--package={library}")))
        .current_dir(root())
        .env("RUSTDOC", &rustdoc)
        .env_remove("RUSTDOCFLAGS")
        .output()
        .expect("cargo runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    target.join("doc")
}

/// The name of an error, without its modules and parameters; errors of `erased` keep that module's
/// name, since others have the same names.
fn error_name(path: &str) -> String {
    let path = path.split('<').next().unwrap_or_default();
    let name = path.rsplit("::").next().unwrap_or_default();
    if path.contains("erased::") { format!("erased::{name}") } else { name.to_owned() }
}

/// The errors of all `Result`s in a line of the list.
fn errors_in(line: &str) -> impl Iterator<Item = &str> {
    line.split("result::Result<").skip(1).filter_map(|rest| {
        let (mut depth, mut second) = (0_i32, None);
        for (at, character) in rest.char_indices() {
            match character {
                '<' | '(' | '[' => depth += 1,
                '>' if rest[..at].ends_with('-') => {} // an arrow
                '>' | ')' | ']' if depth > 0 => depth -= 1,
                '>' => return rest.get(second?..at).map(str::trim),
                ',' if depth == 0 => second = Some(at + 1),
                _ => {}
            }
        }
        None
    })
}

/// `?` turns the errors of all public functions into `sinew::Error`.
#[test]
fn every_error_that_is_returned_turns_into_the_one() {
    fn turns<E: Into<sinew::Error>>() {}
    macro_rules! turn {
        ($($error:ty,)*) => {{
            $(turns::<$error>();)*
            [$(error_name(&stringify!($error).replace(' ', "")),)*]
        }};
    }
    let turn = turn![
        error::AddError,
        error::AnswerError<()>,
        error::ArgumentError,
        error::CallError<SerializedMessage>,
        error::ContextError,
        error::CreateError,
        error::DecodeError,
        error::ExecutorError,
        error::GenericTypeError,
        error::JoinError,
        error::NameError,
        error::ParameterClientError,
        error::ParameterError,
        error::ParseTypeHashError,
        error::PostError,
        error::PublishError<SerializedMessage>,
        error::RemapError,
        error::RespondError<SerializedMessage>,
        error::SharedMemoryError,
        error::SpinError,
        erased::CallError,
        erased::PublishError,
        erased::RespondError,
        erased::TypeError,
        loan::BuildError,
        logging::LoggingError,
        parameters::ParameterTextError,
        time::SleepError,
    ];
    let list = fs::read_to_string(root().join("docs/api/sinew-core.txt")).expect("the list");
    let is_ours = |error: &&str| error.starts_with("sinew") && error_name(error).ends_with("Error");
    let returned: BTreeSet<_> = list.lines().flat_map(errors_in).filter(is_ours).map(error_name).collect();
    assert!(returned.len() > 20, "{returned:?}");
    let missing: Vec<_> = returned.iter().filter(|error| !turn.contains(error)).collect();
    assert!(missing.is_empty(), "no `From` for sinew::Error, or not in this test: {missing:?}");
}

#[test]
fn error_codes_are_those_that_are_listed() {
    let line = |code: &ErrorCode| format!("{:3} {:24} {}\n", code.number(), code.name(), code.meaning());
    let codes: String = ErrorCode::ALL.iter().map(line).collect();
    let list = root().join("docs/api/error-codes.txt");
    if std::env::var_os("SINEW_UPDATE").is_some() {
        fs::write(&list, codes).expect("the list is written");
        return;
    }
    let listed = fs::read_to_string(&list).expect("the list");
    let gone: Vec<_> = listed.lines().filter(|line| !codes.lines().any(|code| code == *line)).collect();
    assert!(gone.is_empty(), "a code keeps its number, name and meaning: {gone:#?}");
    assert_eq!(codes, listed, "a new code: SINEW_UPDATE=1 cargo test -p sinew-core --test public_api");
}

/// Programs depend on `sinew` alone: its items name no type of the crate that moves the bytes. The
/// codes of the raw layer's errors are no exception: only a program that has these types sees them.
#[test]
fn no_item_of_sinew_names_a_type_of_shared_memory() {
    let listed = fs::read_to_string(root().join("docs/api/sinew-core.txt")).expect("the list");
    let is_code = |item: &str| {
        let raw = "sinew_shm::raw::error::";
        item.starts_with(&format!("impl sinew::error::HasCode for {raw}"))
            || item.starts_with(&format!("pub fn {raw}"))
                && item.ends_with("::code(&self) -> sinew::error::ErrorCode")
    };
    let named: Vec<_> = listed.lines().filter(|item| item.contains("sinew_shm") && !is_code(item)).collect();
    assert!(named.is_empty(), "{named:#?}");
}

#[test]
fn public_items_are_those_that_are_listed() {
    let documented = documented();
    for library in LIBRARIES {
        // The core's library has the facade's name.
        let name = if library == "sinew-core" { "sinew".to_owned() } else { library.replace('-', "_") };
        let json = documented.join(name).with_extension("json");
        let text = fs::read_to_string(&json).expect("rustdoc has written it");
        if !text.contains(FORMAT) {
            return support::skip("another toolchain documents in another format");
        }
        let api = public_api::Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .expect("the JSON has the right format");
        let items: String = api.items().map(|item| format!("{item}\n")).collect();
        let list = root().join("docs/api").join(library).with_extension("txt");
        if std::env::var_os("SINEW_UPDATE").is_some() {
            fs::write(&list, items).expect("the list is written");
            continue;
        }
        let listed = fs::read_to_string(&list).unwrap_or_default();
        let new: Vec<_> = items.lines().filter(|item| !listed.lines().any(|line| line == *item)).collect();
        let gone: Vec<_> = listed.lines().filter(|line| !items.lines().any(|item| item == *line)).collect();
        assert!(
            new.is_empty() && gone.is_empty(),
            "the public items of {library} aren't those of docs/api. New:\n  {}\ngone:\n  {}\nIf that is meant: \
             SINEW_UPDATE=1 cargo test -p sinew-core --test public_api",
            new.join("\n  "),
            gone.join("\n  ")
        );
    }
}
