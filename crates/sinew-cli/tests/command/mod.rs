//! Runs the program.

use std::process::{Command, Output, Stdio};

/// Runs it to its end, without input, in a directory of its own.
pub(crate) fn sinew(arguments: &[&str]) -> Output {
    let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(arguments)
        .env("SINEW_DIR", place.path())
        .stdin(Stdio::null())
        .output()
        .expect("sinew starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
