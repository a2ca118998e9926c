//! Passing work to the callback group of an action's server or client. Immediate callbacks do the
//! protocol work, so no callback of the group can delay it; only the program's callbacks run in the
//! group.

use sinew::error::PostError;
use std::error::Error;
use std::sync::Arc;

/// Passes work to a callback group.
pub(crate) type Poster<T> = Arc<dyn Fn(T) -> Result<(), PostError> + Send + Sync>;

/// Closes the queue of posted work, and waits for work that runs on another thread.
pub(crate) type CloseWork = Box<dyn Fn() + Send + Sync>;

/// An error of the program.
pub(crate) type BoxedError = Box<dyn Error + Send + Sync>;

/// A callback's return value.
pub(crate) type CallbackResult = Result<(), BoxedError>;
