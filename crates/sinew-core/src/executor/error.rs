//! Errors of executors, of posted work and of spinning.

use super::threads::ThreadError;
use crate::sys::says::debug_says;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc; // errors are no part of what loom models

debug_says!(ExecutorError: Priority { priority }, NoCores, CallerRuns { option });
debug_says!(PostError: Closed { queue });
debug_says!(JoinError: Panicked { message }, Cancelled);
debug_says!(AddError: Taken { what }, HasCallback { what }, Closed { what }, Shutdown, OtherClock);
debug_says!(SpinError:
    Busy, Nothing, Panicked { entity, message }, Failed { entity, error }, Thread { threads, reason }, Stopped,
    Setup(error), NotVirtual);

/// The reason why an executor can't be built with its options.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// The priority is not a realtime priority.
    #[error("{priority} is not a realtime priority: SCHED_FIFO has 1 (lowest) to 99")]
    Priority {
        /// The requested value.
        priority: u8,
    },
    /// The list of cores is empty.
    #[error("the list of cores to place threads on is empty: name one at least, or use Placement::Off")]
    NoCores,
    /// Threads from outside may run servers, but an option is for the executor's own threads only.
    #[error(
        "{option} is for the executor's own threads, and threads that call its services may run the servers in their \
         place: leave caller_runs(true) out, so that they wait instead"
    )]
    CallerRuns {
        /// The option that doesn't apply to threads from outside.
        option: &'static str,
    },
}

/// The reason why a context, node, group or subscription could not be added to an executor.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// Another executor serves it.
    #[error(
        "{what} is served by another executor: a callback group runs in one executor at a time; drop the other one first"
    )]
    Taken {
        /// The object that was to be added.
        what: String,
    },
    /// It has a callback, so a wait set can't wait for it by itself.
    #[error("{what} has a callback: add the node or the group in which that runs")]
    HasCallback {
        /// The object that was to be added.
        what: String,
    },
    /// It was closed.
    #[error("{what} was closed: make a new one")]
    Closed {
        /// The object that was to be added.
        what: String,
    },
    /// The context is shut down.
    #[error("the context is shut down")]
    Shutdown,
    /// The executor already serves contexts with other clocks.
    #[error(
        "the executor serves a context with another clock: contexts in virtual time need executors of their own"
    )]
    OtherClock,
}

/// The reason why a closure or a future could not be posted to a callback group.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// The queue accepts no more work. The closure or the future was dropped.
    #[error(
        "{queue} accepts no more work: it was closed, its context is shut down, or the last handles of the context and its nodes are gone; post before that"
    )]
    Closed {
        /// The queue, e.g. "work posted of node /arm".
        queue: String,
    },
}

/// The reason why a spawned future has no output.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The future panicked. The executor that polled it also reports the panic.
    #[error("the spawned future panicked: {message}")]
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// The future was cancelled, or its queue was closed, before it was ready.
    #[error("the spawned future was cancelled: by its handle, or because its queue or its context ended")]
    Cancelled,
}

/// The error that a callback returned, unchanged: it derefs to `dyn Error`, so it can be downcast
/// and has its causes. Clones share the error; a value equals its clones only.
///
/// ```
/// use sinew::error::SpinError;
/// use sinew::executor::FaultPolicy;
/// use sinew::prelude::*;
/// use std::num::ParseIntError;
/// let context = Context::new()?;
/// let node = context.node("parser")?;
/// let guard = node.guard_condition().callback(|| "twelve".parse::<u64>().map(drop))?;
/// let executor = Executor::builder().on_error(FaultPolicy::Stop).build()?;
/// executor.add(&context)?;
/// guard.trigger();
/// let SpinError::Failed { error, .. } = executor.spin().unwrap_err() else { panic!() };
/// assert!(error.downcast_ref::<ParseIntError>().is_some());
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct CallbackError(Arc<dyn Error + Send + Sync>);

impl CallbackError {
    pub(super) fn new(error: Box<dyn Error + Send + Sync>) -> Self {
        Self(error.into())
    }
}

// This type is no `Error`: the source of a `SpinError` is the callback's own error, to be downcast.
impl Deref for CallbackError {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl PartialEq for CallbackError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CallbackError {}

/// The reason why spinning stopped.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpinError {
    /// A thread already spins this executor: another one, or this one in a callback.
    #[error(
        "the executor is being spun already: one thread spins it at a time, and none of its own callbacks can"
    )]
    Busy,
    /// There is nothing to spin: no context, node or group with callbacks.
    #[error(
        "there is nothing to spin: nothing was added to the executor, or all of it is gone; `add` a context, a node or a \
         group before, and keep its handles"
    )]
    Nothing,
    /// A callback panicked.
    #[error("the callback of {entity} panicked: {message}")]
    Panicked {
        /// The entity that has the callback.
        entity: String,
        /// The panic's message.
        message: String,
    },
    /// A callback returned an error, which is the [`source`](std::error::Error::source) of this
    /// one.
    #[error("the callback of {entity} failed: {error}")]
    Failed {
        /// The entity that has the callback.
        entity: String,
        /// The error.
        #[source]
        error: CallbackError,
    },
    /// The operating system gave no more threads.
    #[error(
        "the executor needs {threads} threads, and one of them could not be started: {reason}; use fewer, or raise the \
         limit (ulimit -u)"
    )]
    Thread {
        /// The executor's number of threads.
        threads: usize,
        /// The error of the operating system.
        reason: String,
    },
    /// The executor or the wait set was stopped, or its context shut down, before the wait was
    /// over.
    #[error("stopped before the wait was over: by a stop handle, or because the context was shut down")]
    Stopped,
    /// A thread didn't get the core, priority or locked memory that the executor's options ask for.
    #[error(transparent)]
    Setup(#[from] ThreadError),
    /// Only virtual time can be moved.
    #[error(
        "only an executor that serves a context in virtual time (ContextBuilder::virtual_time) can move time"
    )]
    NotVirtual,
}
