//! Patterns of names, as programs and the command give them.

use crate::error::BagError;
use regex_lite::Regex;

/// Compiles a regular expression that is found anywhere in a name.
pub(crate) fn compiled(text: &str) -> Result<Regex, BagError> {
    Regex::new(text).map_err(|_| BagError::Option {
        what: "the pattern".to_owned(),
        found: text.to_owned(),
        expected: "a regular expression, such as `/camera/.*`",
    })
}
