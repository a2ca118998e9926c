//! The one error that all others convert to.

use super::parameter_client::ParameterClientError;
use super::publisher::PublishError;
use crate::executor::error::{AddError, ExecutorError, JoinError, PostError, SpinError};
use crate::parameters::error::ParameterError;
use crate::ros::failure::{ContextError, CreateError, PublishFailure};
use crate::service::error::CallError;
use crate::service::failure::CallFailure;
use crate::sys::says::debug_says;
use sinew_msg::Message;
use sinew_msg::loan::BuildError;

debug_says!(Error:
    Context(error), Create(error), Publish(failure), Draft(error), Call { service, failure }, Executor(error),
    Add(error), Spin(error), Post(error), Join(error), Parameter(error), ParameterClient(error));

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
    /// A call has no answer; the request was dropped when the error was turned into this one.
    #[error("the call of service {service} failed: {failure}")]
    Call {
        /// The service's full name.
        service: String,
        /// The reason.
        failure: CallFailure,
    },
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
    /// A parameter could not be set.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The parameters of another node could not be read or set.
    #[error(transparent)]
    ParameterClient(#[from] ParameterClientError),
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
