//! Servers.
//!
//! | file | contents |
//! |---|---|
//! | `table` | the protocol, without I/O and clock |
//! | `admission` | the policies, likewise |
//! | `core` | the consequences of the table's changes: answers, topics, work for the group |
//! | `goal`, `cancel_signal` | the program's handles of a goal |
//! | `status_thread` | publishes the states of many goals |
//! | `kind` | its endpoints for goals, results and feedback |
//! | `options` | its settings, and its decisions on goals |
//! | `builder`, `callback` | making a server |

mod admission;
mod builder;
mod callback;
mod cancel_signal;
mod core;
mod goal;
pub(crate) mod kind;
mod options;
mod status_thread;
mod table;

pub use admission::Policy;
pub use builder::ActionServerBuilder;
pub use callback::GoalCallback;
pub use cancel_signal::{CancelReason, CancelRequested};
pub use goal::{AcceptedGoal, EndError, ExecutingGoal, FeedbackError, OnDrop};
pub use options::Decision;

use self::core::ServerCore;
use self::kind::ServerKind;
use crate::goal_id::GoalId;
use crate::posting::CloseWork;
use crate::status::GoalStatus;
use sinew::error::CreateError;
use sinew::event::ShutdownHandler;
use sinew::introspection::{RegisteredType, ServiceIntrospection};
use sinew::msg::Action;
use sinew::time::Time;
use sinew::{QoS, Server};
use sinew_interfaces::action_msgs::srv::CancelGoal;
use std::fmt;
use std::sync::Arc;

/// Executes the goals of an action.
///
/// Made by [`Actions::action_server`](crate::Actions::action_server). Goals are accepted and
/// cancelled, and results delivered, on the threads that send the requests; the executor of the
/// server's group runs its callback for each goal that begins. So a busy callback delays no
/// client's request.
///
/// Clones are the same server: it ends when the last one is dropped, or any of them is
/// [closed](Self::close). Then its goals are notified ([`CancelReason::ServerGone`]), and clients
/// that wait for a result get an error. Its goals are also notified when its context is shut down.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_action::{Actions, Decision, ExecutingGoal};
/// use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult};
///
/// let context = Context::new()?;
/// let node = context.node("mathematician")?;
/// let _server = node
///     .action_server::<Fibonacci>("fibonacci")
///     .on_goal(|_, goal| if goal.order < 40 { Decision::Execute } else { Decision::Reject })
///     .callback(|goal: ExecutingGoal<Fibonacci>| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///         let mut sequence = vec![0, 1];
///         for _ in 1..goal.goal().order {
///             if goal.is_cancel_requested() {
///                 return Ok(goal.canceled(FibonacciResult { sequence })?);
///             }
///             sequence.push(sequence[sequence.len() - 2..].iter().sum());
///             goal.publish_feedback(FibonacciFeedback { sequence: sequence.clone() })?;
///         }
///         Ok(goal.succeed(FibonacciResult { sequence })?)
///     })?;
/// let client = node.action_client::<Fibonacci>("fibonacci").create()?;
/// let executor = Executor::single();
/// executor.add(&context)?;
/// let sequence = executor.spin_until(async move {
///     let goal = client.send_goal(FibonacciGoal { order: 5 }).await.unwrap();
///     goal.result().await.unwrap().sequence.clone()
/// })?;
/// assert_eq!(sequence, [0, 1, 1, 2, 3, 5]);
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "a server ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _server = ..`)"]
pub struct ActionServer<A: ServerKind>(Arc<ServerInner<A>>);

/// The server's state, dropped with its last handle.
struct ServerInner<A: ServerKind> {
    core: Arc<ServerCore<A>>,
    /// Closes the queue of the callback's work, and waits for work that runs on another thread.
    close_work: CloseWork,
    send: A::GoalServer,
    cancel: Server<CancelGoal>,
    result: A::ResultServer,
    /// Registers the action's type with the server's node, which describes it to other processes.
    _used: Option<RegisteredType>,
    /// Notifies the goals when the context is shut down.
    _at_shutdown: ShutdownHandler,
}

impl<A: ServerKind> ActionServer<A> {
    fn new(
        (core, close_work): (Arc<ServerCore<A>>, CloseWork),
        (send, cancel, result): (A::GoalServer, Server<CancelGoal>, A::ResultServer),
        (_used, _at_shutdown): (Option<RegisteredType>, ShutdownHandler),
    ) -> Self {
        Self(Arc::new(ServerInner { core, close_work, send, cancel, result, _used, _at_shutdown }))
    }

    /// Returns the action's full name, after remapping. (The names of its five entities can also be
    /// remapped one by one.)
    pub fn name(&self) -> &str {
        &self.0.core.name
    }

    /// Returns the goals that the server knows, with the times of their acceptance and their states,
    /// in the order in which they were accepted: those that have not ended, and those with a result
    /// that is still kept.
    pub fn goals(&self) -> Vec<(GoalId, Time, GoalStatus)> {
        self.0.core.goals()
    }

    /// Closes the server, also for its clones, as dropping the last one does. Executing goals are
    /// notified ([`CancelReason::ServerGone`]), waiting ones are dropped. Waits for its callback if
    /// that runs on another thread, not when called in the callback itself; dropping the last handle
    /// waits for nothing.
    pub fn close(self) {
        self.0.close();
        (self.0.close_work)();
    }
}

impl<A: Action> ActionServer<A> {
    /// Publishes the requests and responses of the three services as events, each on the hidden
    /// topic `<action>/_action/<service>/_service_event`; see
    /// [`Server::configure_introspection`](sinew::Server::configure_introspection). (ROS 2, from
    /// Kilted on: `configure_introspection` of an action's server.)
    ///
    /// # Errors
    /// [`CreateError`]: the action's types can't be described, the QoS is invalid, or the context
    /// is shut down. Services before the one that failed stay configured.
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        self.0.send.configure_introspection(state, qos)?;
        self.0.cancel.configure_introspection(state, qos)?;
        self.0.result.configure_introspection(state, qos)
    }
}

impl<A: ServerKind> ServerInner<A> {
    fn close(&self) {
        A::erased_goal_server(&self.send).clone().close();
        self.cancel.clone().close();
        A::erased_result_server(&self.result).clone().close();
        self.core.close();
    }
}

impl<A: ServerKind> Drop for ServerInner<A> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<A: ServerKind> Clone for ActionServer<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: ServerKind> fmt::Debug for ActionServer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionServer").field("name", &self.name()).finish_non_exhaustive()
    }
}
