//! Errors: one enum per operation, each saying what, where, the limit and the remedy.
//!
//! A `main` that returns one prints its `Debug` form, so that is the sentence, too: see [`say`].

use crate::arguments::ArgumentError;
use crate::executor::{AddError, SpinError};
use crate::name::NameError;
use crate::publisher::PublishError;
use crate::qos::QosError;
use crate::service::{CallError, CallFailure};
use sinew_msg::Message;
use sinew_msg::loan::BuildError;
use std::fmt;

/// Writes an error as a program's `main` prints it: its sentence, and those of its causes that it
/// doesn't have in it, each on a line of its own.
pub(crate) fn say(error: &dyn std::error::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut said = error.to_string();
    f.write_str(&said)?;
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !said.contains(&text) {
            write!(f, "\n  because: {text}")?;
            said.push_str(&text);
        }
        cause = error.source();
    }
    Ok(())
}

/// `Debug` of errors: the sentence, see [`say`]; with `{:#?}` the variant and its fields.
macro_rules! debug_says {
    ($error:ident: $($variant:ident $(($part:ident))? $({ $($field:ident),+ })?),+ $(,)?) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if !f.alternate() {
                    return $crate::error::say(self, f);
                }
                match self {
                    $(Self::$variant $(($part))? $({ $($field),+ })? => f
                        .debug_struct(stringify!($variant))
                        $(.field(stringify!($part), $part))?
                        $($(.field(stringify!($field), $field))+)?
                        .finish(),)+
                }
            }
        }
    };
}
pub(crate) use debug_says;

debug_says!(Error:
    Context(error), Create(error), Publish(failure), Draft(error), Call { service, failure }, Add(error), Spin(error));
debug_says!(ContextError: Arguments(error), Domain { variable, value }, Interrupts(error));
debug_says!(CreateError:
    Outside { name, source }, Name(error), Qos { topic, problem }, Shutdown { name }, Period { node, period },
    GroupAfterHandlers { topic }, AlwaysReady { name }, System { name, call, reason, remedy },
    ServiceTaken { service, node }, MaxRequests { service }, ForeignGroup { name });
debug_says!(OutsideError: Join(error), Capacity(error));

/// What `?` in a program's `main` or a callback turns every error of this crate into.
///
/// A `main` that returns it prints the sentence, with what to do: its `Debug` form is that. `{:#?}`
/// has the parts.
///
/// ```
/// fn main() -> sinew::Result<()> {
///     let context = sinew::Context::new()?;
///     let node = context.node("no spaces please");
///     assert!(matches!(node, Err(sinew::CreateError::Name(_))));
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
    /// An image could not be made in place.
    #[error(transparent)]
    Draft(#[from] BuildError),
    /// A call has no answer; the request was dropped when the error was turned into this one.
    #[error("the call of service {service} failed: {failure}")]
    Call {
        /// The service's full name.
        service: String,
        /// Why.
        failure: CallFailure,
    },
    /// Something could not be added to an executor.
    #[error(transparent)]
    Add(#[from] AddError),
    /// An executor stopped.
    #[error(transparent)]
    Spin(#[from] SpinError),
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

/// Why a context could not be made.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The command line has something between `--ros-args` and `--` that can't be used.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// The domain in the environment isn't a number.
    #[error("{variable} is `{value}`, but a domain is a number from 0 to 4294967295: correct it or unset it")]
    Domain {
        /// The environment variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// The operating system refused a handler for Ctrl-C.
    #[error("no handler for SIGINT and SIGTERM could be installed: {0}")]
    Interrupts(std::io::Error),
}

/// Why a node or something of it (a publisher, a subscription, a server ..) could not be made.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The context can't meet the other processes of the host; see `sinew doctor`.
    #[error(
        "{name} can't be made known to other processes: {source}. `sinew doctor` says what is wrong; another directory for shared memory \
         is set with SINEW_DIR; and a program that needs no other one does without: Context::builder().shared_memory(false)"
    )]
    Outside {
        /// What was to be made.
        name: String,
        /// Why.
        source: Box<OutsideError>,
    },
    /// A name breaks ROS 2's rules.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The QoS is contradictory.
    #[error("the QoS of `{topic}` can't be used: {problem}")]
    Qos {
        /// The topic as it was given.
        topic: String,
        /// What is wrong with it.
        problem: QosError,
    },
    /// The context is shut down.
    #[error("`{name}` can't be created: the context is shut down")]
    Shutdown {
        /// What was to be created.
        name: String,
    },
    /// A timer's period is zero or longer than 292 years.
    #[error(
        "a timer of node {node} can't have a period of {period:?}: it must be more than 0 and less than 292 years"
    )]
    Period {
        /// The node.
        node: String,
        /// The period that was asked for.
        period: std::time::Duration,
    },
    /// A status handler was given before the group it belongs to.
    #[error("`in_group` must come before the `on_..` handlers of `{topic}`: they belong to the group, too")]
    GroupAfterHandlers {
        /// The topic as it was given.
        topic: String,
    },
    /// The file descriptor is of a kind that is always ready, so that there is nothing to wait for.
    #[error(
        "{name} can't be created: its descriptor is a regular file or a directory, which are always ready; read or write it \
         directly, in a thread of its own if that takes long"
    )]
    AlwaysReady {
        /// What was to be created.
        name: String,
    },
    /// The operating system refused something that it takes.
    #[error("{name} can't be created: {call} failed: {reason}; {remedy}")]
    System {
        /// What was to be created.
        name: String,
        /// The system call, or what it was for.
        call: &'static str,
        /// What the operating system said.
        reason: String,
        /// What might help.
        remedy: &'static str,
    },
    /// The service has a server.
    #[error(
        "service `{service}` has a server already, in node {node}: there can be one; drop that one first, or use another name"
    )]
    ServiceTaken {
        /// The service's full name.
        service: String,
        /// The node of its server.
        node: String,
    },
    /// A server that could not take a single request.
    #[error("the `max_requests` of service `{service}` is 0, but it must be at least 1")]
    MaxRequests {
        /// The service's full name.
        service: String,
    },
    /// The group belongs to another context.
    #[error("`{name}` can't be in a group of another context")]
    ForeignGroup {
        /// What was to be created.
        name: String,
    },
}

/// Why a message was not published. Nobody got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishFailure {
    /// The context is shut down.
    #[error("the message was not published: the context is shut down")]
    Shutdown,
    /// A reliable keep_all subscription had no room for `max_blocking_time`.
    #[error(
        "the message was not published: a reliable keep_all subscription had no room for it within {waited:?} \
         (max_blocking_time); take faster, or raise max_samples"
    )]
    Full {
        /// The publisher's `max_blocking_time`.
        waited: std::time::Duration,
    },
    /// The file system of the shared memory has no room for the message's image, and nobody in this
    /// process takes the message, or a reliable keep_all subscription of another one must get it.
    /// Otherwise it is published in this process, and the others miss it: that is logged once, and
    /// counted where tools find it ([`Counter::Missed`](sinew_shm::Counter::Missed)).
    #[error(
        "the message was not published: its image of {wanted} bytes doesn't fit into the shared memory, of whose {size} bytes {free} \
         are free. Make it bigger (for containers: --shm-size=1g, for a host: mount -o remount,size=4g /dev/shm), or set SINEW_DIR"
    )]
    NoSpace {
        /// Bytes of the image.
        wanted: usize,
        /// Bytes that are left.
        free: u64,
        /// The size of the file system.
        size: u64,
    },
    /// A reliable keep_all subscription has no room, and only the caller could make some.
    #[error(
        "the message was not published: a reliable keep_all subscription is full, and waiting for it would never end, \
         as the thread that would have to empty it is waiting here; use keep_last, or another executor"
    )]
    WouldDeadlock,
    /// A received [`Sample`](crate::Sample) was to be passed on, and a subscription of this process
    /// takes values, of which there is none.
    #[error(
        "the message was not published: it contains a string that is not UTF-8, so it can't be decoded for a subscription of this \
         process that takes values; let that one take views"
    )]
    Undecodable,
}

/// Why a context can't meet the other processes of the host.
/// `Context::builder().shared_memory(false)` does without them.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutsideError {
    /// It can't join the domain.
    #[error(transparent)]
    Join(#[from] sinew_shm::JoinError),
    /// There is no room for more.
    #[error(transparent)]
    Capacity(#[from] sinew_shm::CapacityError),
}
