//! Errors in definitions.

use super::model::Place;
use super::names::{Kind, TypeName};
use std::io;
use std::path::PathBuf;

/// The reason why a text is not a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ParseError {
    /// The place of the problem.
    pub place: Place,
    /// The problem: what the text has there, and what the parser expected.
    pub problem: Problem,
}

/// A problem in one place of a definition. Long quotations from the text are shortened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file isn't text.
    #[error("found byte {byte:#04x}, expected a text in UTF-8; let your editor save the file as UTF-8")]
    NotUtf8 {
        /// The first byte that is not part of a character.
        byte: u8,
    },
    /// The file's name cannot be that of a type.
    #[error(
        "found a definition of `{found}`, expected the name of a type: an upper-case letter, then letters and digits; \
         rename the file"
    )]
    TypeName {
        /// The name of the file, without its extension.
        found: String,
    },
    /// There is whitespace before a field or constant.
    #[error(
        "found whitespace, expected a field or constant at the beginning of the line, as ROS 2 does; remove it"
    )]
    Indented,
    /// There is something after `---` in its line.
    #[error("found `{found}`, expected `---` alone on its line")]
    Separator {
        /// The line.
        found: String,
    },
    /// The number of `---` lines does not fit the kind of the file.
    #[error("found {}, expected {}: {}", separators(*found), separators(*expected), sections(*kind))]
    Sections {
        /// Number of separators in the file.
        found: usize,
        /// Number of separators expected.
        expected: usize,
        /// The kind of the file.
        kind: Kind,
    },
    /// A line ends after the type.
    #[error("found `{found}` and nothing after it, expected a type and the name of a field or constant")]
    NoName {
        /// The text where a type is expected.
        found: String,
    },
    /// The text is not a type.
    #[error("found {}, expected a type: {hint}", quoted(found))]
    Type {
        /// The text.
        found: String,
        /// The types that exist, or the one that may be meant.
        hint: String,
    },
    /// The size of an array, or the bound of a sequence or string, is not a valid number.
    #[error("found {}, expected {what} as a number from 1 to {}", quoted(found), u32::MAX)]
    Bound {
        /// The text.
        found: String,
        /// The number expected.
        what: &'static str,
    },
    /// ROS 2 does not allow the name of a field.
    #[error(
        "found {}, expected the name of a field: lower-case letters, digits and single underscores, with a letter first and \
         no underscore last",
        quoted(found)
    )]
    FieldName {
        /// The name.
        found: String,
    },
    /// ROS 2 does not allow the name of a constant.
    #[error(
        "found {}, expected the name of a constant: upper-case letters, digits and single underscores, with a letter first \
         and no underscore last",
        quoted(found)
    )]
    ConstantName {
        /// The name.
        found: String,
    },
    /// A name occurs twice.
    #[error("found another `{name}`, expected each name once: the first is in line {first}; rename one")]
    Duplicate {
        /// The name.
        name: String,
        /// The line of its first occurrence.
        first: usize,
    },
    /// A constant has a type that constants cannot have.
    #[error("found a constant of type `{found}`, expected a `bool`, a number, `string` or `wstring`")]
    ConstantType {
        /// The type of the constant.
        found: String,
    },
    /// A field of a message type has a default value.
    #[error(
        "found `{found}`, expected the end of the line: a field of a message type has no default value here, but those of \
         its own fields"
    )]
    DefaultOfMessage {
        /// The value.
        found: String,
    },
    /// A value doesn't fit its type.
    #[error("found {}, expected {expected}", quoted(found))]
    Value {
        /// The text.
        found: String,
        /// The values that the type allows.
        expected: String,
    },
    /// There are more or fewer values than the array or bounded sequence holds.
    #[error("found {found} values, expected {expected} for `{field_type}`")]
    Count {
        /// Number of values.
        found: usize,
        /// Number of values expected.
        expected: String,
        /// The type of the array or sequence.
        field_type: String,
    },
    /// A string begins with a quote and doesn't end with it.
    #[error(
        "found `{found}`, expected a closing {quote}; write \\{quote} for one inside the string, and \\x23 for `#`, which \
         begins a comment inside quotes, too"
    )]
    Quote {
        /// The string.
        found: String,
        /// The quote at the beginning.
        quote: char,
    },
    /// A backslash begins no valid escape.
    #[error("found the escape `{found}`, expected {expected}; write `\\\\` for a backslash")]
    Escape {
        /// The escape.
        found: String,
        /// The valid form.
        expected: &'static str,
    },
    /// An annotation is unknown or in the wrong place.
    #[error("found `{found}`, expected `@optional` at most, once and before a field")]
    Annotation {
        /// The annotation.
        found: String,
    },
}

/// Quotes the text; says "nothing" for an empty one.
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

/// The reason why definitions don't belong together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Two definitions have the same type.
    #[error("{name} is defined twice, in {first} and in {second}; leave out one")]
    Duplicate {
        /// The type.
        name: TypeName,
        /// The file of the definition that came first.
        first: String,
        /// The file of the other definition.
        second: String,
    },
    /// A field has a type that is not among the definitions.
    #[error("{place}: `{field}` of {name} has the unknown type {unknown}; {hint}")]
    Unknown {
        /// The place of the field.
        place: Place,
        /// The type that contains the field.
        name: TypeName,
        /// The field.
        field: String,
        /// The type that is missing.
        unknown: TypeName,
        /// The type that may be meant, or a remedy.
        hint: Box<str>,
    },
    /// A type contains itself, so that its values would have infinite size.
    #[error("{place}: {name} contains itself: {}; ROS 2 has no recursive types", .cycle.join(", "))]
    Recursive {
        /// The place of the field that closes the cycle.
        place: Place,
        /// The type.
        name: TypeName,
        /// The field that leads from each type to the next.
        cycle: Vec<String>,
    },
}

/// The reason why a package's definitions could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A folder or file can't be read.
    #[error("{path} can't be read: {error}")]
    File {
        /// The folder or file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The folder does not exist.
    #[error("there is no folder {path}; give that of a package, with `msg`, `srv` or `action` in it")]
    NoFolder {
        /// The whole path.
        path: PathBuf,
    },
    /// The folder contains neither `msg` nor `srv` nor `action`.
    #[error("{path} has no interfaces; give the package's folder, with `msg`, `srv` or `action` in it")]
    NoInterfaces {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A type is defined only in IDL, which ROS 2 also generates beside each definition.
    #[error("{path}: definitions in IDL are not read; write it as a `.{kind}` file beside this one")]
    Idl {
        /// The file.
        path: PathBuf,
        /// The kind of the definition.
        kind: Kind,
    },
    /// The name of the package or of a file cannot be that of a package or type.
    #[error("{path}: {error}")]
    Name {
        /// The folder or file.
        path: PathBuf,
        /// The problem with the name.
        error: super::NameError,
    },
    /// A definition is wrong.
    #[error(transparent)]
    Definition(#[from] ParseError),
    /// The type of a definition is defined already.
    #[error(transparent)]
    Set(#[from] ResolveError),
}

/// Returns the beginning of a long text, or a short text unchanged.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 48;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}
