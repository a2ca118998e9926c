//! Why containers and nodes are not made.

use sinew::error::{CreateError, ErrorCode, HasCode};
use std::error::Error;

sinew::__debug_says!(ContainerError, LoadError);

/// The reason why a container could not be made.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// The node or a service cannot be made.
    #[error(transparent)]
    Sinew(#[from] sinew::Error),

    /// A component named on the command line cannot be loaded; the text says which one, and why.
    #[error("a component of the command line can't be loaded: {0}")]
    Load(String),

    /// Two modules register a component under the same name.
    #[error("two modules of the program register the component `{0}`; give one of them another name")]
    Twice(&'static str),

    /// The command line ends after `--component`.
    #[error("`--component` needs a value after it, such as `demo::Ticker` or `demo::Ticker=/robot/clock`")]
    MissingValue,
}

/// The reason why a node was not loaded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The container has no such component.
    #[error("this container has no `{wanted}`{instead}")]
    Unknown {
        /// The requested type.
        wanted: String,
        /// A similar name, or all that it has; and why none was found in a library.
        instead: String,
    },

    /// An extra argument is unknown, or has another type.
    #[error(
        "the extra argument {argument:?} of {node} isn't understood: the known ones are use_intra_process_comms, \
         forward_global_arguments, allow_undeclared_parameters, automatically_declare_parameters_from_overrides, \
         start_parameter_services and start_parameter_event_publisher, each true or false"
    )]
    Extra {
        /// Its name.
        argument: String,
        /// The requested node.
        node: String,
    },

    /// A parameter has a type that ROS 2 doesn't have.
    #[error("the parameter {name:?} of {node} has the type {kind}, which ROS 2 doesn't have")]
    Parameter {
        /// Its name.
        name: String,
        /// The requested node.
        node: String,
        /// The number of the type.
        kind: u8,
    },

    /// The log level is none of ROS 2's.
    #[error(
        "the log level {level} of {node} isn't one of ROS 2's: 10 debug, 20 info, 30 warn, 40 error, 50 fatal, 0 for none"
    )]
    Level {
        /// The number.
        level: u8,
        /// The requested node.
        node: String,
    },

    /// The node can't be made.
    #[error(transparent)]
    Node(#[from] CreateError),

    /// The component failed.
    #[error("{type_name} refused: {source}")]
    Refused {
        /// The component.
        type_name: String,
        /// Its reason.
        source: Box<dyn Error + Send + Sync>,
    },

    /// The component panicked.
    #[error("{type_name} panicked while it was made: {message}")]
    Panicked {
        /// The component.
        type_name: String,
        /// The text of the panic.
        message: String,
    },

    /// Another thread makes a node of this component, or this one does.
    #[error("another node of {type_name} is being made; load one after the other")]
    Busy {
        /// The component.
        type_name: String,
    },
}

/// A node was not unloaded, or its component failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnloadError {
    /// No node is loaded under a number.
    #[error("no node is loaded as {id}; those that are: {known}")]
    NotLoaded {
        /// The number.
        id: u64,
        /// The numbers of the loaded nodes.
        known: String,
    },

    /// The component panicked when it was dropped. Its node is unloaded.
    #[error("{node} panicked while it was unloaded: {message}")]
    Panicked {
        /// The full name of the node.
        node: String,
        /// The text of the panic.
        message: String,
    },
}

impl HasCode for LoadError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. } => ErrorCode::UnknownComponent,
            Self::Extra { .. } | Self::Level { .. } => ErrorCode::InvalidArgument,
            Self::Parameter { .. } => ErrorCode::OtherParameterType,
            Self::Node(error) => error.code(),
            Self::Refused { .. } | Self::Panicked { .. } => ErrorCode::ComponentFailed,
            Self::Busy { .. } => ErrorCode::Busy,
        }
    }
}

impl HasCode for ContainerError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Sinew(error) => error.code(),
            Self::Load(_) => ErrorCode::ComponentFailed,
            Self::Twice(_) => ErrorCode::ComponentTwice,
            Self::MissingValue => ErrorCode::InvalidArgument,
        }
    }
}

impl HasCode for UnloadError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotLoaded { .. } => ErrorCode::UnknownComponent,
            Self::Panicked { .. } => ErrorCode::ComponentFailed,
        }
    }
}
