//! What keeps a type from being known.

use std::path::PathBuf;

/// What keeps a type from being known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TypesError {
    /// A folder that the user named has no packages.
    #[error(
        "{} has no interfaces: name the folder of a package (with `msg`, `srv` or `action` in it), or one with packages",
        path.display()
    )]
    NoPackages {
        /// As the user named it.
        path: PathBuf,
    },

    /// A definition can't be read.
    #[error(transparent)]
    Read(#[from] sinew_msg::definition::ReadError),

    /// Definitions don't go together.
    #[error(transparent)]
    Resolve(#[from] sinew_msg::definition::ResolveError),

    /// What isn't the name of a type.
    #[error("{error}{similar}")]
    Name {
        /// What is wrong with it.
        error: sinew_msg::definition::NameError,
        /// What may have been meant, as the end of a sentence.
        similar: String,
    },

    /// Nobody knows it.
    #[error("{name} is not known (looked at: {looked}); --interfaces DIR adds definitions{similar}")]
    Unknown {
        /// The type.
        name: String,
        /// What may have been meant, as the end of a sentence.
        similar: String,
        /// Where it was looked for.
        looked: String,
    },

    /// It is known, but not as it is in use.
    #[error(
        "{name} with the hash {hash} is not known: its definition here has the hash {here} (looked at: {looked}); \
         --interfaces DIR adds the definitions that are in use"
    )]
    Other {
        /// The type.
        name: String,
        /// Its hash, as those who use it say.
        hash: String,
        /// The hash of what is known.
        here: String,
        /// Where it was looked for.
        looked: String,
    },

    /// It is none of what is needed.
    #[error("{name} is of the kind `{is}`, but {wanted}")]
    Kind {
        /// The type.
        name: String,
        /// What it is.
        is: &'static str,
        /// What it should be.
        wanted: &'static str,
    },

    /// It is known, but would fill the screen for hours.
    #[error(
        "{name} with all that is in it is longer than {most} bytes, so it is not shown; show the types of its fields by \
         themselves, or --json, which has each type once"
    )]
    TooLong {
        /// The type, or one in it.
        name: String,
        /// What is shown at most.
        most: usize,
    },

    /// It is known, but can't be read.
    #[error(transparent)]
    Type(#[from] sinew_msg::dynamic::TypeError),
}

impl From<sinew_msg::definition::NameError> for TypesError {
    fn from(error: sinew_msg::definition::NameError) -> Self {
        Self::Name { error, similar: String::new() }
    }
}
