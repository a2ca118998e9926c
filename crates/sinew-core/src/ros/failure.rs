//! Errors of single operations, each with the place, the limit and the remedy. (Errors of executors
//! are in `executor`; errors that return a message are beside the operation that returns it.)

use super::arguments::ArgumentError;
use super::name::NameError;
use super::qos::QosError;
use super::remap::RemapError;
use crate::parameters::error::ParameterError;
use crate::sys::says::debug_says;
use std::fmt;
use std::time::Duration;

debug_says!(ContextError: Arguments(error), Domain { variable, value }, Interrupts(error), SimTime(error));
debug_says!(CreateError:
    SharedMemory { name, source }, Name(error), Remap(error), Qos { topic, problem }, Shutdown { name }, Period { node, period },
    AlwaysReady { name }, System { name, call, reason, remedy },
    ServiceTaken { service, node }, MaxRequests { service }, NoEventType { service },
    NoClone { topic, type_name }, NodeGone { node }, Parameter(error));
debug_says!(LoggingError: Taken, Environment { variable, value }, System(error));
debug_says!(SharedMemoryFailure: Join(error), Capacity(error));

/// The reason why a context could not be made.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The command line has an option between `--ros-args` and `--` that can't be used.
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
    /// `/clock` can't be followed.
    #[error("simulated time (use_sim_time) can't be followed: {0}")]
    SimTime(Box<CreateError>),
}

/// The reason why a node or one of its parts (a publisher, a subscription, a server ..) could not
/// be made.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The context can't meet the other processes of the host; see `sinew doctor`.
    #[error(
        "{name} can't be made known to other processes: {source}. `sinew doctor` finds the cause; SINEW_DIR sets another directory for \
         shared memory; a program that needs no other process can do without: Context::builder().shared_memory(false)"
    )]
    SharedMemory {
        /// The entity to be made.
        name: String,
        /// The reason.
        source: Box<SharedMemoryError>,
    },
    /// A name breaks ROS 2's rules.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A rule that renames the node or one of its parts is invalid.
    #[error(transparent)]
    Remap(#[from] RemapError),
    /// The QoS is contradictory.
    #[error("the QoS of `{topic}` can't be used: {problem}")]
    Qos {
        /// The given topic.
        topic: String,
        /// The contradiction.
        problem: QosError,
    },
    /// The context is shut down.
    #[error("`{name}` can't be created: the context is shut down")]
    Shutdown {
        /// The entity to be created.
        name: String,
    },
    /// A timer's period is zero or longer than 292 years.
    #[error(
        "a timer or a rate of node {node} can't have a period of {period:?}: it must be more than 0 and less than 292 years"
    )]
    Period {
        /// The node.
        node: String,
        /// The requested period.
        period: Duration,
    },
    /// The file descriptor is of a kind that is always ready, so that there is nothing to wait for.
    #[error(
        "{name} can't be created: its descriptor is a regular file or a directory, which are always ready; read or write it \
         directly, in a thread of its own if that takes long"
    )]
    AlwaysReady {
        /// The entity to be created.
        name: String,
    },
    /// The operating system refused a resource that it needs.
    #[error("{name} can't be created: {call} failed: {reason}; {remedy}")]
    System {
        /// The entity to be created.
        name: String,
        /// The system call, or its purpose.
        call: &'static str,
        /// The operating system's reason.
        reason: String,
        /// A possible remedy.
        remedy: &'static str,
    },
    /// The service already has a server.
    #[error(
        "service `{service}` already has a server, in node {node}: a service has one server; drop that one first, or use another name"
    )]
    ServiceTaken {
        /// The service's full name.
        service: String,
        /// The node of its server.
        node: String,
    },
    /// A server would not accept any request.
    #[error("the `max_requests` of service `{service}` is 0, but it must be at least 1")]
    MaxRequests {
        /// The service's full name.
        service: String,
    },
    /// A service's events have no type: ROS 2 derives it from the service's type.
    #[error(
        "the events of service `{service}` can't be published: its type has no ROS 2 description, from which theirs is \
         derived; use one that is generated from a .srv file"
    )]
    NoEventType {
        /// The service's full name.
        service: String,
    },
    /// A subscription is to own its messages, and their type can't be copied. Only an erased
    /// subscription can ask for that.
    #[error(
        "the subscription to `{topic}` can't own its messages: their type, {type_name}, was registered without a clone function"
    )]
    NoClone {
        /// The topic's full name.
        topic: String,
        /// The type.
        type_name: String,
    },
    /// An entity in the [background](crate::Background) has no node to live as long as.
    #[error(
        "nothing can live in the background of node {node}: its last handle was dropped; keep the node, or the entity's own handle"
    )]
    NodeGone {
        /// The node.
        node: String,
    },
    /// A parameter can't be declared.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// The reason why a message was not published. No subscription got it.
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
        waited: Duration,
    },
    /// The file system of the shared memory has no room for the message's encoded form, and no
    /// subscription in this process takes the message, or a reliable keep_all subscription of
    /// another process must get it. Otherwise the message is published in this process, and other
    /// processes miss it: that is logged once, and counted where tools find it
    /// ([`Counter::Missed`](sinew_shm::Counter::Missed)).
    #[error(
        "the message was not published: its encoded form of {wanted} bytes doesn't fit into the shared memory: {free} of its {size} bytes \
         are free, besides what is kept for participants that join. Make it bigger (for containers: --shm-size=1g, for a host: mount -o remount,size=4g /dev/shm), or set SINEW_DIR"
    )]
    NoSpace {
        /// Bytes of the encoded form.
        wanted: usize,
        /// Bytes that are left for messages.
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
    /// The message has another type than its publisher. Only an
    /// [erased publisher](crate::erased::Publisher) can be given such a message.
    #[error("the message was not published: it is a {message}, but the publisher sends {publisher}")]
    OtherType {
        /// The publisher's type.
        publisher: &'static str,
        /// The message's type.
        message: &'static str,
    },
    /// The message is a received [`Sample`](crate::msg::Sample) without a valid value, and a
    /// subscription of this process takes values. Or its encoded form is of another type and
    /// shorter than a header, 4 bytes.
    #[error(
        "the message was not published: it contains a string that is not UTF-8 (or less than its 4 bytes of header), so it can't be \
         decoded for a subscription of this process that takes values; let that one take views"
    )]
    Undecodable,
}

/// The reason why a context can't meet the other processes of the host.
/// `Context::builder().shared_memory(false)` does without them.
///
/// It says what is missing, such as a permission or room, and the remedy.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct SharedMemoryError(pub(crate) SharedMemoryFailure);

#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SharedMemoryFailure {
    /// The context can't join the domain.
    #[error(transparent)]
    Join(sinew_shm::JoinError),
    /// There is no room for more.
    #[error(transparent)]
    Capacity(sinew_shm::CapacityError),
}

impl SharedMemoryError {
    pub(crate) fn join(error: sinew_shm::JoinError) -> Self {
        Self(SharedMemoryFailure::Join(error))
    }

    pub(crate) fn capacity(error: sinew_shm::CapacityError) -> Self {
        Self(SharedMemoryFailure::Capacity(error))
    }
}

impl fmt::Debug for SharedMemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The reason why logging can't begin.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoggingError {
    /// The process already has a logger, of this or another library.
    #[error(
        "the process has a logger already: call sinew::logging::init() once, before anything else that sets one (env_logger and the like)"
    )]
    Taken,
    /// An environment variable of `rcutils` is neither 0 nor 1.
    #[error("{variable} is `{value}`, but must be 0 or 1: correct it or unset it")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// The operating system provides no thread, or no descriptor for it to sleep on.
    #[error(
        "the logging thread can't be started: {0}; raise the limits of processes or descriptors (ulimit -u, -n)"
    )]
    System(std::io::Error),
}

/// The reason why a sleep ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SleepError {
    /// The context was shut down.
    #[error("the sleep ended early: the context was shut down")]
    Shutdown,
    /// The source of ROS time changed: simulated time began or ended. The target time belongs to
    /// the old source.
    #[error(
        "the sleep ended early: ROS time has another source now (use_sim_time), and the target time belongs to the \
         old one; read the time, and sleep again"
    )]
    ClockChanged,
}
