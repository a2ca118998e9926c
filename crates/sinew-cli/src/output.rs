//! What the command says: results on standard output, all else on standard error.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::error::Error;
use crate::harmless;

/// Prints one JSON value on a line of its own.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Error> {
    print(&json(value)?)
}

/// One JSON value as a line of its own.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(value).map_err(|error| Error::Output(error.into()))?;
    Ok(harmless::json(text + "\n"))
}

/// Prints, at once. What is from others steers no terminal.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    print_bytes(harmless::printed(text).as_bytes())
}

/// The same of what needn't be text.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Error> {
    let mut to = io::stdout().lock();
    to.write_all(bytes).and_then(|()| to.flush()).map_err(Error::Output)
}

/// Tells the user something. Nothing is left to tell it to when standard error is closed.
pub(crate) fn says(text: &str) {
    let _ = writeln!(io::stderr(), "sinew: {}", harmless::lines(text));
}
