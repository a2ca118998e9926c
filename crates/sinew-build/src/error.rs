//! The error of generating code.

use sinew_msg::definition::{ReadError, ResolveError, TypeName};
use std::path::PathBuf;
use std::{fmt, io};

/// The reason why code could not be generated. `Debug` shows the same sentence, for `main` to
/// return.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A package's definitions cannot be read, or a definition is wrong.
    #[error(transparent)]
    Read(Box<ReadError>),
    /// The definitions don't belong together.
    #[error(transparent)]
    Resolve(Box<ResolveError>),
    /// The folder has no name to use as the package name.
    #[error("{folder:?} has no name that a package could have; give a folder that is called as its package")]
    PackageName {
        /// The folder.
        folder: PathBuf,
    },
    /// The name is reserved in Rust, even as a raw identifier.
    #[error(
        "{file}:1:1: found a definition of `{}`, expected another name, since Rust uses that; rename the file",
        .name.base()
    )]
    Name {
        /// The type.
        name: TypeName,
        /// The file of its definition.
        file: String,
    },
    /// A file cannot be written.
    #[error("{path} can't be written: {error}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not a definition in the folder of its package.
    #[error(
        "{file:?} is not a definition; give a file as `package/msg/Name.msg`, `package/srv/Name.srv` or `package/action/Name.action`"
    )]
    Definition {
        /// The file.
        file: PathBuf,
    },
    /// The C++ header of an action needs types that are not known.
    #[error("the header of {name} needs the package action_msgs; add it, or a folder to search for it")]
    NoActionMessages {
        /// The action.
        name: TypeName,
    },
    /// Two types would have the same C++ header.
    #[error("{first} and {second} would both have the C++ header {header}; rename one")]
    Header {
        /// The type that comes first by name.
        first: TypeName,
        /// The other type.
        second: TypeName,
        /// The path by which programs include the header.
        header: String,
    },
    /// `OUT_DIR` is not set.
    #[error(
        "there is no OUT_DIR; call this in a build script, or write to a folder of your choice with `Generator`"
    )]
    NoBuildScript,
}

impl From<ReadError> for GenerateError {
    fn from(error: ReadError) -> Self {
        Self::Read(Box::new(error))
    }
}

impl From<ResolveError> for GenerateError {
    fn from(error: ResolveError) -> Self {
        Self::Resolve(Box::new(error))
    }
}

impl fmt::Debug for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
