//! What can be wrong with definitions.

use super::model::Place;
use super::names::{Kind, TypeName};
use std::io;
use std::path::PathBuf;

/// Why a text is not a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ParseError {
    /// Where the problem is.
    pub place: Place,
    /// What was found, and what was expected.
    pub problem: Problem,
}

/// What is wrong in one place of a definition. What was found is shortened if it is long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file isn't text.
    #[error("found byte {byte:#04x}, expected a text in UTF-8; let your editor save the file as UTF-8")]
    NotUtf8 {
        /// The first byte that is no part of a character.
        byte: u8,
    },
    /// The file has a name that no type can have.
    #[error(
        "found a definition of `{found}`, expected the name of a type: an upper-case letter, then letters and digits; \
         rename the file"
    )]
    TypeName {
        /// The name of the file, without its extension.
        found: String,
    },
    /// Whitespace before a field or constant.
    #[error(
        "found whitespace, expected a field or constant at the beginning of the line, as ROS 2 does; remove it"
    )]
    Indented,
    /// `---` with something behind it.
    #[error("found `{found}`, expected `---` alone on its line")]
    Separator {
        /// The line.
        found: String,
    },
    /// Not as many `---` as sections need.
    #[error("found {}, expected {}: {}", separators(*found), separators(*expected), sections(*kind))]
    Sections {
        /// How many separators there are.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// What the file defines.
        kind: Kind,
    },
    /// A line that ends after the type.
    #[error("found `{found}` and nothing behind it, expected a type and the name of a field or constant")]
    NoName {
        /// The type, or whatever it is.
        found: String,
    },
    /// Something that is no type.
    #[error("found {}, expected a type: {hint}", quoted(found))]
    Type {
        /// What stands there.
        found: String,
        /// Which types there are, or which one may be meant.
        hint: String,
    },
    /// The size of an array, or the bound of a sequence or string.
    #[error("found {}, expected {what} as a number from 1 to {}", quoted(found), u32::MAX)]
    Bound {
        /// What stands there.
        found: String,
        /// Which number should.
        what: &'static str,
    },
    /// A name that ROS 2 doesn't allow.
    #[error(
        "found {}, expected the name of a field: lower-case letters, digits and single underscores, with a letter first and \
         no underscore last",
        quoted(found)
    )]
    FieldName {
        /// What stands there.
        found: String,
    },
    /// A name that ROS 2 doesn't allow.
    #[error(
        "found {}, expected the name of a constant: upper-case letters, digits and single underscores, with a letter first \
         and no underscore last",
        quoted(found)
    )]
    ConstantName {
        /// What stands there.
        found: String,
    },
    /// A name that is there twice.
    #[error("found another `{name}`, expected each name once: the first is in line {first}; rename one")]
    Duplicate {
        /// The name of both.
        name: String,
        /// The line of the first.
        first: usize,
    },
    /// A constant of a type that has no constants.
    #[error("found a constant of type `{found}`, expected a `bool`, a number, `string` or `wstring`")]
    ConstantType {
        /// Its type.
        found: String,
    },
    /// A field of a message type with a default value.
    #[error(
        "found `{found}`, expected the end of the line: a field of a message type has no default value here, but those of \
         its own fields"
    )]
    DefaultOfMessage {
        /// The value.
        found: String,
    },
    /// A value that doesn't fit its type.
    #[error("found {}, expected {expected}", quoted(found))]
    Value {
        /// What stands there.
        found: String,
        /// What the type allows.
        expected: String,
    },
    /// More or fewer values than the array or bounded sequence has room for.
    #[error("found {found} values, expected {expected} for `{field_type}`")]
    Count {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: String,
        /// The type.
        field_type: String,
    },
    /// A string that begins with a quote and doesn't end with it.
    #[error(
        "found `{found}`, expected a closing {quote}; write \\{quote} for one inside the string, and \\x23 for `#`, which \
         begins a comment inside quotes, too"
    )]
    Quote {
        /// The string.
        found: String,
        /// The quote that it begins with.
        quote: char,
    },
    /// A backslash with something wrong behind it.
    #[error("found the escape `{found}`, expected {expected}; write `\\\\` for a backslash")]
    Escape {
        /// The escape.
        found: String,
        /// What is right.
        expected: &'static str,
    },
    /// An annotation that there is not, or in the wrong place.
    #[error("found `{found}`, expected `@optional` at most, once and before a field")]
    Annotation {
        /// The annotation.
        found: String,
    },
}

/// What stands there, which may be nothing.
fn quoted(found: &str) -> String {
    if found.is_empty() { "nothing".to_owned() } else { format!("`{found}`") }
}

fn separators(count: usize) -> String {
    match count {
        0 => "no line `---`".to_owned(),
        1 => "one line `---`".to_owned(),
        count => format!("{count} lines `---`"),
    }
}

const fn sections(kind: Kind) -> &'static str {
    match kind {
        Kind::Action => "an action has a goal, a result and feedback, with `---` between them",
        Kind::Message => "a message has one section",
        Kind::Service => "a service has a request and a response, with `---` between them",
    }
}

/// Why definitions don't belong together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Two definitions of one type.
    #[error("{name} is defined twice, in {first} and in {second}; leave out one")]
    Duplicate {
        /// The type.
        name: TypeName,
        /// The file of the definition that came first.
        first: String,
        /// The other.
        second: String,
    },
    /// A field has a type that is not among the definitions.
    #[error("{place}: `{field}` of {name} has the unknown type {unknown}; {hint}")]
    Unknown {
        /// Where the field is.
        place: Place,
        /// The type with the field.
        name: TypeName,
        /// The field.
        field: String,
        /// The type that is not there.
        unknown: TypeName,
        /// What could be meant, or done.
        hint: Box<str>,
    },
    /// A type contains itself, so that no value would have an end.
    #[error("{place}: {name} contains itself: {}; ROS 2 has no recursive types", .cycle.join(", "))]
    Recursive {
        /// Where the field is that closes the circle.
        place: Place,
        /// The type.
        name: TypeName,
        /// Type by type, which field leads to the next.
        cycle: Vec<String>,
    },
}

/// Why a package's definitions could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A folder or file can't be read.
    #[error("{path} can't be read: {error}")]
    File {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no such folder.
    #[error("there is no folder {path}; give that of a package, with `msg`, `srv` or `action` in it")]
    NoFolder {
        /// The whole path.
        path: PathBuf,
    },
    /// Neither `msg` nor `srv` nor `action`.
    #[error("{path} has no interfaces; give the package's folder, with `msg`, `srv` or `action` in it")]
    NoInterfaces {
        /// The folder.
        path: PathBuf,
    },
    /// The package's or a file's name can't be that of a package or type.
    #[error("{path}: {error}")]
    Name {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        error: super::NameError,
    },
    /// A definition is wrong.
    #[error(transparent)]
    Definition(#[from] ParseError),
    /// A definition is there already.
    #[error(transparent)]
    Set(#[from] ResolveError),
}

/// The beginning of a text that may be long.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 48;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}
