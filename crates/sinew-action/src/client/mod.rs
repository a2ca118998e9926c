//! Clients.
//!
//! | file | contents |
//! |---|---|
//! | `progress` | a client's knowledge of a goal, and the order of its callbacks; without I/O |
//! | `core` | the handling of answers and feedback |
//! | `kind` | the endpoints for goals, results and feedback |
//! | `goal`, `result` | handles, futures and streams |
//! | `cancel` | ending goals early |

mod cancel;
mod core;
mod goal;
pub(crate) mod kind;
mod progress;
mod result;

pub use cancel::{Cancel, CancelOutcome, Canceled, PendingCancel};
pub use goal::{Feedback, FeedbackItem, GoalHandle, PendingGoal, PendingResult};
pub use result::GoalResult;

use self::core::{Callbacks, ClientCore};
use self::kind::ClientKind;
use crate::error::{CancelError, ResultError, SendGoalError};
use crate::goal_id::GoalId;
use crate::wire::{Names, status_qos};
use sinew::error::CreateError;
use sinew::event::Outcome;
use sinew::executor::Maker;
use sinew::introspection::ServiceIntrospection;
use sinew::msg::Action;
use sinew::time::Time;
use sinew::{Duration, QoS};
use std::fmt;
use std::sync::Arc;

/// Default capacity for feedback messages, in transit and for each goal: the depth of ROS 2's
/// subscriptions.
const FEEDBACK_DEPTH: usize = 10;

/// Sends goals to the server of an action.
///
/// Made by [`Actions::action_client`](crate::Actions::action_client). Clones are the same client;
/// it exists until the last clone, and the last handle and future of its goals, is dropped. (A goal
/// that was [given up](PendingGoal::wait) is canceled all the same if a server accepts it later.)
/// It may be used from any thread and in any callback. The thread that answers or publishes wakes
/// its futures, so these need no executor; callbacks run in the client's group.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_action::{Actions, ExecutingGoal, GoalStatus};
/// use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult};
///
/// let context = Context::new()?;
/// let node = context.node("asker")?;
/// let (begin, begun) = std::sync::mpsc::channel();
/// let _server = node
///     .action_server::<Fibonacci>("fibonacci")
///     .callback(move |goal: ExecutingGoal<Fibonacci>| begin.send(goal))?; // executed elsewhere
///
/// let client = node.action_client::<Fibonacci>("fibonacci").create()?;
/// assert!(client.wait_for_server(Duration::from_secs(5)));
/// let done = context.clone();
/// let goal = client
///     .goal(FibonacciGoal { order: 10 })
///     .on_feedback(|feedback: &FibonacciFeedback| println!("{:?}", feedback.sequence))
///     .on_result(move |result| {
///         assert_eq!(result.unwrap().status(), GoalStatus::Canceled);
///         done.shutdown();
///     })
///     .send()
///     .wait(Duration::from_secs(5))
///     .unwrap();
/// goal.cancel().wait(Duration::from_secs(5)).unwrap();
///
/// std::thread::spawn(move || {
///     let goal = begun.recv().unwrap();
///     assert!(goal.is_cancel_requested());
///     goal.canceled(FibonacciResult::default())
/// });
/// sinew::spin(&context)?;
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct ActionClient<A: ClientKind>(Arc<ClientCore<A>>);

impl<A: ClientKind> ActionClient<A> {
    /// Sends a goal now, not when the future is polled. The future yields the goal's handle once a
    /// server has accepted it. If there is no server, the goal waits for one.
    pub fn send_goal(&self, goal: A::Goal) -> PendingGoal<A> {
        self.goal(goal).send()
    }

    /// Prepares a goal with callbacks or other options.
    pub fn goal(&self, goal: A::Goal) -> GoalBuilder<A> {
        let callbacks = Callbacks { response: None, feedback: None, result: None };
        GoalBuilder { core: self.0.clone(), goal, depth: self.0.depth, callbacks }
    }

    /// Asks the server to end goals early, also those of other clients. The request is sent now,
    /// not when the future is polled.
    pub fn cancel(&self, which: Cancel) -> PendingCancel {
        self.0.cancel(which)
    }

    /// As [`cancel`](Self::cancel), with a callback that is called once with the answer, in the
    /// client's group.
    pub fn cancel_then<R: Outcome>(
        &self,
        which: Cancel,
        callback: impl FnOnce(Result<Canceled, CancelError>) -> R + Send + 'static,
    ) {
        self.0.cancel_then(which, move |result| callback(result).into_result());
    }

    /// As [`cancel_then`](Self::cancel_then), on the thread that answers instead of in the client's group.
    /// The callback should be quick.
    pub fn cancel_then_immediately(
        &self,
        which: Cancel,
        callback: impl FnOnce(Result<Canceled, CancelError>) + Send + 'static,
    ) {
        self.0.cancel_then_immediately(which, callback);
    }

    /// For bindings: waits for a future that the answer to a cancel request makes ready, and runs
    /// the server meanwhile if this thread can, as [`PendingCancel::wait`].
    ///
    /// # Errors
    /// The reason why the wait would never end.
    #[doc(hidden)]
    pub fn __wait_beside_cancel<F: Future + Unpin>(
        &self,
        future: &mut F,
        timeout: Duration,
    ) -> Result<Option<F::Output>, &'static str> {
        self.0.cancel.erased().__wait_beside(&GoalId::NONE.0, future, timeout)
    }

    /// Returns `true` if there is a server: its three services, and publishers of both topics.
    pub fn is_server_ready(&self) -> bool {
        self.wait_for_server(Duration::ZERO)
    }

    /// Blocks until there is a server, for at most `timeout` (of real time), or until the context
    /// is shut down. Returns `true` if there is one. Not for callbacks: the thread does nothing
    /// else meanwhile.
    pub fn wait_for_server(&self, timeout: Duration) -> bool {
        let deadline = Time::steady() + timeout;
        let left = || deadline - Time::steady();
        let core = &*self.0;
        core.send().wait_for_server(left())
            && core.cancel.wait_for_server(left())
            && core.result().wait_for_server(left())
            && core.feedback().wait_for_publishers(1, left())
            && core.status.wait_for_publishers(1, left())
    }

    /// Ends the callbacks of its goals and requests, also those of its clones: none begins any more.
    /// Waits for one that runs on another thread, not when called in a callback of it. Goals go on,
    /// and their handles can still be awaited. Dropping the last handle waits for nothing.
    pub fn close(self) {
        if let Some(close_work) = self.0.close_work.get() {
            close_work();
        }
    }

    /// Returns the action's full name.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl<A: Action> ActionClient<A> {
    /// Publishes the client's requests and responses of all three services as events; see
    /// [`ActionServer::configure_introspection`](crate::ActionServer::configure_introspection).
    ///
    /// ```
    /// use sinew::introspection::ServiceIntrospection;
    /// use sinew::prelude::*;
    /// use sinew_action::{Actions, ExecutingGoal};
    /// use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciGoal, FibonacciSendGoalEvent};
    ///
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let node = context.node("asker")?;
    /// let _server = node.action_server::<Fibonacci>("fibonacci").callback(|_: ExecutingGoal<Fibonacci>| {})?;
    /// let client = node.action_client::<Fibonacci>("fibonacci").create()?;
    /// client.configure_introspection(ServiceIntrospection::Contents, QoS::default())?;
    /// let events = node.subscription("fibonacci/_action/send_goal/_service_event").create()?;
    /// client.send_goal(FibonacciGoal { order: 5 }).wait(Duration::from_secs(1)).unwrap();
    /// let (sent, _): (Shared<FibonacciSendGoalEvent>, _) = events.take().unwrap();
    /// assert_eq!(sent.request[0].goal.order, 5);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for the server.
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        self.0.send.configure_introspection(state, qos)?;
        self.0.cancel.configure_introspection(state, qos)?;
        self.0.result.configure_introspection(state, qos)
    }
}

impl<A: ClientKind> Clone for ActionClient<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: ClientKind> fmt::Debug for ActionClient<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionClient").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Makes an [`ActionClient`]; from [`Actions::action_client`](crate::Actions::action_client).
#[must_use = "nothing can be sent before `create`"]
#[derive(Debug)]
pub struct ActionClientBuilder<A: ClientKind, M: Maker> {
    maker: M,
    name: String,
    feedback_depth: usize,
    types: A::Types,
}

impl<A: ClientKind, M: Maker> ActionClientBuilder<A, M> {
    pub(crate) fn new(maker: &M, name: &str, types: A::Types) -> Self {
        let name = name.to_owned();
        Self { maker: maker.clone(), name, feedback_depth: FEEDBACK_DEPTH, types }
    }

    /// Sets the capacity for feedback messages (10 by default, at least 1). It applies twice: to
    /// messages of all goals of the action on their way to the client, which takes them in as they
    /// come, and to the unread messages of each of its goals, unless the goal [sets its
    /// own](GoalBuilder::feedback_depth). Beyond it, the oldest message is displaced, and is
    /// [counted](GoalHandle::feedback_lost).
    ///
    /// If a server in another process publishes in bursts, the capacity should cover the longest
    /// burst.
    pub fn feedback_depth(mut self, pieces: usize) -> Self {
        self.feedback_depth = pieces.max(1);
        self
    }

    /// Creates the client. There needn't be a server yet.
    ///
    /// # Errors
    /// [`CreateError`]: the name is invalid, or the context is shut down.
    pub fn create(self) -> Result<ActionClient<A>, CreateError> {
        let Self { maker, name, feedback_depth, types } = self;
        let names = Names::of(&name);
        let status = maker.subscription(&names.status).qos(status_qos()).create()?;
        let full_name = Names::action_of(status.topic()).to_owned();
        let feedback_qos = QoS::default().keep_last(feedback_depth);
        let what = format!("action client {full_name}");
        let services = (
            A::goal_client(&types, &maker, &names.send_goal)?,
            maker.client(&names.cancel_goal).create()?.without_state(),
            A::result_client(&types, &maker, &names.get_result)?,
        );
        let feedback = A::feedback_subscription(&types, &maker, &names.feedback, feedback_qos)?;
        let core = ClientCore::new((full_name, types), services, (feedback, status), feedback_depth);
        let weak = Arc::downgrade(&core);
        let queue = maker.work_queue(&what);
        let closed = queue.clone();
        drop(core.close_work.set(Box::new(move || closed.clone().close())));
        let poster = move |work| {
            let core = weak.clone();
            queue.post(move || core.upgrade().map_or(Ok(()), |core| core.run(work)))
        };
        drop(core.poster.set(Arc::new(poster)));
        drop(core.used.set(A::register(&maker)));
        Ok(ActionClient(core))
    }
}

/// A goal to be sent; from [`ActionClient::goal`].
///
/// The callbacks run in the client's group, those of one goal never at the same time, and always in
/// this order: the response, feedback, the result. Once the client and all handles of its goals are
/// dropped, no callback is called.
#[must_use = "nothing is sent before `send`"]
pub struct GoalBuilder<A: ClientKind> {
    core: Arc<ClientCore<A>>,
    goal: A::Goal,
    depth: usize,
    callbacks: Callbacks<A>,
}

impl<A: ClientKind> GoalBuilder<A> {
    /// Sets a callback that is called once, with the goal's handle or the reason why it was not
    /// accepted; also if [`wait`](PendingGoal::wait) gave the goal up.
    pub fn on_response<R: Outcome>(
        mut self,
        callback: impl FnOnce(Result<GoalHandle<A>, SendGoalError<A::Goal>>) -> R + Send + 'static,
    ) -> Self {
        self.callbacks.response = Some(Box::new(move |core, goal, accepted| {
            callback(accepted.map(|()| GoalHandle::new(core, goal))).into_result()
        }));
        self
    }

    /// Sets a callback that is called for each feedback message as it arrived.
    pub fn on_feedback_message<R: Outcome>(
        mut self,
        mut callback: impl FnMut(&A::SharedFeedback) -> R + Send + 'static,
    ) -> Self {
        self.callbacks.feedback = Some(Box::new(move |message| callback(message).into_result()));
        self
    }

    /// Sets a callback that is called once for a goal that was accepted, with the result or the
    /// reason why there is none.
    pub fn on_result<R: Outcome>(
        mut self,
        callback: impl FnOnce(Result<GoalResult<A>, ResultError>) -> R + Send + 'static,
    ) -> Self {
        self.callbacks.result = Some(Box::new(move |result| callback(result).into_result()));
        self
    }

    /// Sets the number of unread feedback messages that are kept for this goal (at least 1; by
    /// default that of [its client](ActionClientBuilder::feedback_depth)). Beyond it, the oldest
    /// message is displaced, and is [counted](GoalHandle::feedback_lost).
    pub fn feedback_depth(mut self, pieces: usize) -> Self {
        self.depth = pieces;
        self
    }

    /// Sends the goal. Never blocks, except for short locks.
    pub fn send(self) -> PendingGoal<A> {
        let Self { core, goal, depth, callbacks } = self;
        let sent = core.send_goal(goal, depth, callbacks);
        PendingGoal::new(&core, &sent)
    }
}

impl<A: Action> GoalBuilder<A> {
    /// Sets a callback that is called for each feedback message.
    pub fn on_feedback<R: Outcome>(
        self,
        mut callback: impl FnMut(&A::Feedback) -> R + Send + 'static,
    ) -> Self {
        self.on_feedback_message(move |message| callback(&message.feedback))
    }
}

impl<A: ClientKind> fmt::Debug for GoalBuilder<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalBuilder").field("action", &self.core.name).finish_non_exhaustive()
    }
}
