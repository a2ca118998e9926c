//! The command's output: results on standard output, everything else on standard error.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::error::Error;
use crate::harmless;

/// Prints one JSON value on a line of its own.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Error> {
    print(&json(value)?)
}

/// Formats one JSON value as a line of its own.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(value).map_err(|error| Error::Output(error.into()))?;
    Ok(harmless::json(text + "\n"))
}

/// Prints a text at once. Control characters from other processes are made harmless.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    print_bytes(harmless::printed(text).as_bytes())
}

/// Prints bytes that needn't be text, at once.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Error> {
    let mut to = io::stdout().lock();
    to.write_all(bytes).and_then(|()| to.flush()).map_err(Error::Output)
}

/// A list of several things, one of which may fail: that is reported, and doesn't hide the others.
#[derive(Default)]
pub(crate) struct Listing {
    has_failed: bool,
}

impl Listing {
    /// Returns what was found out about one of them. Its error is reported, and makes the whole
    /// list end as failed.
    pub(crate) fn keep<T, E: ToString>(&mut self, one: Result<T, E>) -> Option<T> {
        one.map_err(|error| {
            says(&error.to_string());
            self.has_failed = true;
        })
        .ok()
    }

    /// Returns the outcome of the whole, once it is printed.
    pub(crate) fn end(self) -> Result<(), Error> {
        if self.has_failed { Err(Error::Ended { code: 1 }) } else { Ok(()) }
    }
}

/// Writes a message for the user. If standard error is closed, there is no place left to report to.
pub(crate) fn says(text: &str) {
    let _ = writeln!(io::stderr(), "sinew: {}", harmless::lines(text));
}
