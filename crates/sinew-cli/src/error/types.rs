//! The reasons why a type isn't known.

use std::path::PathBuf;

/// The reason why a type isn't known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TypesError {
    /// A folder that the user named has no packages.
    #[error(
        "{} has no interfaces: name the folder of a package (with `msg`, `srv` or `action` in it), or one with packages",
        path.display()
    )]
    NoPackages {
        /// The path as the user named it.
        path: PathBuf,
    },

    /// A definition can't be read.
    #[error(transparent)]
    Read(#[from] sinew_msg::definition::ReadError),

    /// Definitions contradict each other.
    #[error(transparent)]
    Resolve(#[from] sinew_msg::definition::ResolveError),

    /// The text is not the name of a type.
    #[error("{error}{similar}")]
    Name {
        /// The problem.
        error: sinew_msg::definition::NameError,
        /// A suggestion, as the end of a sentence.
        similar: String,
    },

    /// The type is unknown.
    #[error("{name} is not known (looked at: {looked}); --interfaces DIR adds definitions{similar}")]
    Unknown {
        /// The type.
        name: String,
        /// A suggestion, as the end of a sentence.
        similar: String,
        /// The places that were searched.
        looked: String,
    },

    /// The type is known, but with another hash than that in use.
    #[error(
        "{name} with the hash {hash} is not known: its definition here has the hash {here} (looked at: {looked}); \
         --interfaces DIR adds the definitions that are in use"
    )]
    Other {
        /// The type.
        name: String,
        /// The hash that its users announce.
        hash: String,
        /// The hash of the known definition.
        here: String,
        /// The places that were searched.
        looked: String,
    },

    /// The type is of the wrong kind.
    #[error("{name} is of the kind `{is}`, but {wanted}")]
    Kind {
        /// The type.
        name: String,
        /// Its kind.
        is: &'static str,
        /// The required kind.
        wanted: &'static str,
    },

    /// The type is known, but would fill the screen for hours.
    #[error(
        "{name} with all that is in it is longer than {most} bytes, so it is not shown; show the types of its fields by \
         themselves, or --json, which has each type once"
    )]
    TooLong {
        /// The type, or a nested one.
        name: String,
        /// The limit, in bytes.
        most: usize,
    },

    /// The type is known, but can't be used.
    #[error(transparent)]
    Type(#[from] sinew_msg::dynamic::TypeError),
}

impl From<sinew_msg::definition::NameError> for TypesError {
    fn from(error: sinew_msg::definition::NameError) -> Self {
        Self::Name { error, similar: String::new() }
    }
}
