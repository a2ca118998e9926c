//! The one error that all others convert to.

use super::erased::{publisher as erased, service as erased_service};
use super::parameter_client::ParameterClientError;
use super::publisher::PublishError;
use crate::executor::error::{AddError, ExecutorError, JoinError, PostError, SpinError};
use crate::message::generic::GenericTypeError;
use crate::message::registered::TypeError;
use crate::parameters::error::ParameterError;
use crate::ros::arguments::ArgumentError;
use crate::ros::failure::{
    ContextError, CreateError, LoggingError, PublishFailure, SharedMemoryError, SleepError,
};
use crate::ros::name::NameError;
use crate::ros::parameters::ParameterTextError;
use crate::ros::remap::RemapError;
use crate::service::error::{AnswerError, AnswerFailure, CallError, RespondError};
use crate::service::failure::CallFailure;
use crate::sys::says::debug_says;
use sinew_msg::loan::BuildError;
use sinew_msg::{DecodeError, Message, ParseTypeHashError};

debug_says!(Error:
    Context(error), Create(error), Publish(failure), Draft(error), Decode(error), Call { service, failure },
    Answer(failure), Executor(error), Add(error), Spin(error), Post(error), Join(error), Sleep(error),
    Parameter(error), ParameterClient(error), ParameterText(error), Logging(error), SharedMemory(error),
    Name(error), Remap(error), GenericType(error), Type(error), TypeHash(error));

/// The error that `?` makes of every error of this crate, in a program's `main` or a callback.
///
/// A `main` that returns it prints one sentence, with advice: that is its `Debug` form. `{:#?}`
/// shows the parts.
///
/// ```
/// fn main() -> sinew::Result<()> {
///     let context = sinew::Context::new()?;
///     let node = context.node("no spaces please");
///     assert!(matches!(node, Err(sinew::error::CreateError::Name(_))));
///     let error = sinew::Error::from(node.unwrap_err());
///     assert_eq!(format!("{error:?}"), error.to_string());
///     Ok(())
/// }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A context could not be made.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A node or an entity could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A message could not be published; it was dropped when the error was turned into this one.
    #[error("{0}")]
    Publish(PublishFailure),
    /// An encoded form could not be made in place.
    #[error(transparent)]
    Draft(#[from] BuildError),
    /// The bytes of a message are no valid encoded form of its type.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A call has no answer; the request was dropped when the error was turned into this one.
    #[error("the call of service {service} failed: {failure}")]
    Call {
        /// The service's full name.
        service: String,
        /// The reason.
        failure: CallFailure,
    },
    /// A request could not be answered; the response was dropped when the error was turned into
    /// this one.
    #[error("a request was not answered: {0}")]
    Answer(AnswerFailure),
    /// An executor cannot have the requested options.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// A context, node, group or subscription could not be added to an executor.
    #[error(transparent)]
    Add(#[from] AddError),
    /// An executor stopped.
    #[error(transparent)]
    Spin(#[from] SpinError),
    /// A closure or a future could not be posted.
    #[error(transparent)]
    Post(#[from] PostError),
    /// A spawned future has no output.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// A sleep ended early.
    #[error(transparent)]
    Sleep(#[from] SleepError),
    /// A parameter could not be set.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The parameters of another node could not be read or set.
    #[error(transparent)]
    ParameterClient(#[from] ParameterClientError),
    /// The text of parameters or of a value could not be read.
    #[error(transparent)]
    ParameterText(#[from] ParameterTextError),
    /// Logging could not begin.
    #[error(transparent)]
    Logging(#[from] LoggingError),
    /// The graph could not be read from shared memory.
    #[error(transparent)]
    SharedMemory(#[from] SharedMemoryError),
    /// A name of a node, topic, service or namespace is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A rule that renames is invalid.
    #[error(transparent)]
    Remap(#[from] RemapError),
    /// A type that is known by its name or description cannot be used.
    #[error(transparent)]
    GenericType(#[from] GenericTypeError),
    /// A type could not be registered.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// The text of a type's hash is invalid.
    #[error(transparent)]
    TypeHash(#[from] ParseTypeHashError),
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl<T: Message> From<PublishError<T>> for Error {
    fn from(error: PublishError<T>) -> Self {
        Error::Publish(error.failure())
    }
}

impl<T: Message> From<CallError<T>> for Error {
    fn from(error: CallError<T>) -> Self {
        let (service, failure) = error.into_parts();
        Error::Call { service, failure }
    }
}

impl<T: Message> From<RespondError<T>> for Error {
    fn from(_: RespondError<T>) -> Self {
        Error::Answer(AnswerFailure::Unclaimed)
    }
}

impl<R> From<AnswerError<R>> for Error {
    fn from(error: AnswerError<R>) -> Self {
        Error::Answer(error.failure().clone())
    }
}

impl From<erased::PublishError> for Error {
    fn from(error: erased::PublishError) -> Self {
        Error::Publish(error.failure())
    }
}

impl From<erased_service::CallError> for Error {
    fn from(error: erased_service::CallError) -> Self {
        Error::Call { service: error.service().to_owned(), failure: error.failure().clone() }
    }
}

impl From<erased_service::RespondError> for Error {
    fn from(error: erased_service::RespondError) -> Self {
        Error::Answer(
            error.failure().map_or(AnswerFailure::Unclaimed, |failure| AnswerFailure::Unfit(failure.clone())),
        )
    }
}

impl From<ArgumentError> for Error {
    fn from(error: ArgumentError) -> Self {
        Error::Context(error.into())
    }
}
