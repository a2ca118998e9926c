//! The errors of reading and writing bags.

use sinew::error::{ErrorCode, HasCode};
use std::io;
use std::path::PathBuf;

/// A bag can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BagError {
    /// The operating system refused something.
    #[error("can't {action} {}: {source}", path.display())]
    File {
        /// The attempted operation, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// There is something of the bag's name already.
    #[error("{} exists already: a bag is written into a directory of its own", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// This is no bag, or none that is read here.
    #[error("{} is no bag: {why}", path.display())]
    NotABag {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// The bag was written by something newer, or much older.
    #[error("{}: the {what} is of version {version}, but this version of Sinew reads {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The part that has the version.
        what: &'static str,
        /// The version.
        version: String,
        /// The versions that are read.
        known: String,
    },
    /// The bag is in a format that is not read here.
    #[error("{}: {what} `{name}` is not supported: {hint}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The kind of thing that is not supported, such as the storage.
        what: &'static str,
        /// Its name in the file.
        name: String,
        /// A way out.
        hint: &'static str,
    },
    /// `metadata.yaml` can't be read.
    #[error("{}: {problem}", path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// Some bytes of a file are wrong. Messages in other chunks can be read.
    #[error("{} is damaged at byte {at}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The place of the chunk or record.
        at: u64,
        /// The problem.
        problem: String,
    },
    /// A database of SQLite can't be read, or not as a whole.
    #[error("the database {} can't be read: {problem}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// SQLite's answer.
        problem: String,
    },
    /// A single message can't be read, because its row or its own compression is damaged.
    #[error("the message of the time {received} ns in {} can't be read: {problem}", path.display())]
    DamagedMessage {
        /// The bag, or the file.
        path: PathBuf,
        /// The time at which it was received, in nanoseconds since the epoch.
        received: u64,
        /// The problem.
        problem: String,
    },
    /// The bag has no such topic.
    #[error("the bag has no topic {name}{}", similar.as_ref().map_or(String::new(), |name| format!("; perhaps {name}")))]
    NoTopic {
        /// The name.
        name: String,
        /// A topic that it has.
        similar: Option<String>,
    },
    /// A message is not of its topic's type.
    #[error("{topic} has the type {type_name}, but the message is a {found}")]
    OtherType {
        /// The topic.
        topic: String,
        /// Its type.
        type_name: String,
        /// The message's type.
        found: &'static str,
    },
    /// An option for writing has a wrong name or value.
    #[error("{what} can't be `{found}`: {expected}")]
    Option {
        /// The option.
        what: String,
        /// The value.
        found: String,
        /// The possible values.
        expected: &'static str,
    },
    /// A file can't have more of something.
    #[error("{}: {problem}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The limit.
        problem: String,
    },
}

impl BagError {
    /// Names the file of an operation that failed.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}

impl HasCode for BagError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::File { .. } => ErrorCode::System,
            Self::Exists { .. } => ErrorCode::BagExists,
            Self::NotABag { .. } => ErrorCode::NotABag,
            Self::Version { .. } | Self::Unsupported { .. } => ErrorCode::UnsupportedBag,
            Self::Metadata { .. }
            | Self::Damaged { .. }
            | Self::Database { .. }
            | Self::DamagedMessage { .. } => ErrorCode::DamagedBag,
            Self::NoTopic { .. } => ErrorCode::UnknownTopic,
            Self::OtherType { .. } => ErrorCode::OtherType,
            Self::Option { .. } => ErrorCode::InvalidArgument,
            Self::Full { .. } => ErrorCode::BagFull,
        }
    }
}

/// A message of a bag can't be decoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BagDecodeError {
    /// The topic has another type.
    #[error("{topic} has the type {found}, not {wanted}")]
    OtherType {
        /// The topic.
        topic: String,
        /// Its type.
        found: String,
        /// The type that was asked for.
        wanted: &'static str,
    },
    /// The type has changed since the bag was recorded.
    #[error("{topic} was recorded with another {type_name}: its hash is {found}, here it is {wanted}")]
    OtherHash {
        /// The topic.
        topic: String,
        /// The type.
        type_name: String,
        /// The hash in the bag.
        found: String,
        /// The hash of the program's type.
        wanted: String,
    },
    /// The type that was asked for has no encoded form.
    #[error("a type without an encoded form can't be in a bag: derive(Message) gives it one")]
    NoEncoding,
    /// The message is not encoded as CDR.
    #[error("the messages of {topic} are encoded as `{found}`, not as `cdr`")]
    OtherEncoding {
        /// The topic.
        topic: String,
        /// The encoding.
        found: String,
    },
    /// The bag lacks a definition of the type, or has one in a form that is not read.
    #[error("the type {type_name} of {topic} can't be made from the bag: {problem}")]
    Schema {
        /// The topic.
        topic: String,
        /// The type.
        type_name: String,
        /// The problem.
        problem: String,
    },
    /// The bytes are no such message.
    #[error("a message of {topic} can't be decoded: {source}")]
    Decode {
        /// The topic.
        topic: String,
        /// The problem.
        source: sinew_msg::DecodeError,
    },
    /// The bytes are no such message.
    #[error("a message of {topic} can't be decoded: {source}")]
    Dynamic {
        /// The topic.
        topic: String,
        /// The problem.
        source: sinew_msg::dynamic::DynamicDecodeError,
    },
}

impl HasCode for BagDecodeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::OtherType { .. } | Self::OtherHash { .. } => ErrorCode::OtherType,
            Self::NoEncoding => ErrorCode::NoRosType,
            Self::OtherEncoding { .. } | Self::Schema { .. } => ErrorCode::UnsupportedBag,
            Self::Decode { .. } | Self::Dynamic { .. } => ErrorCode::Undecodable,
        }
    }
}
