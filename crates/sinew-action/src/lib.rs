//! ROS 2's actions: goals that take time, report their progress, can be cancelled, and have a
//! result.
//!
//! An action type is generated from an `.action` definition: from ROS 2's packages
//! (`sinew-interfaces`) or from your own, by `sinew-build`. A name has one [`ActionServer`] and any
//! number of [`ActionClient`]s; on the wire they look like ROS 2's, so either side may be a ROS 2
//! program.
//!
//! ```
//! use sinew::prelude::*;
//! use sinew_action::{Actions, ExecutingGoal};
//! use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciGoal, FibonacciResult};
//!
//! let context = Context::new()?;
//! let node = context.node("mathematician")?;
//! let _server = node.action_server::<Fibonacci>("fibonacci").callback(|goal: ExecutingGoal<Fibonacci>| {
//!     let mut sequence = vec![0, 1];
//!     sequence.resize(goal.goal().order as usize, 1);
//!     goal.succeed(FibonacciResult { sequence })
//! })?;
//!
//! let client = context.node("asker")?.action_client::<Fibonacci>("fibonacci").create()?;
//! let executor = Executor::single();
//! executor.add(&context)?;
//! let result = executor.spin_until(async move {
//!     let goal = client.send_goal(FibonacciGoal { order: 3 }).await.unwrap();
//!     goal.result().await.unwrap()
//! })?;
//! assert_eq!(result.sequence, [0, 1, 1]);
//! # Ok::<(), sinew::Error>(())
//! ```
//!
//! # What runs where
//!
//! | code | thread or group |
//! |---|---|
//! | [`on_goal`], [`on_cancel`], a goal's [`on_cancel_requested`] | the requesting thread [^1] |
//! | a server's [`callback`], the futures of [`async_callback`] | the server's group |
//! | a goal's [`on_response`], `on_feedback`, `on_result` | the client's group |
//! | wakers of futures and streams | the thread that answers or publishes |
//!
//! [^1]: For requests from other processes, the receiving thread.
//!
//! [`on_goal`]: ActionServerBuilder::on_goal
//! [`on_cancel`]: ActionServerBuilder::on_cancel
//! [`on_cancel_requested`]: ExecutingGoal::on_cancel_requested
//! [`callback`]: ActionServerBuilder::callback
//! [`async_callback`]: ActionServerBuilder::async_callback
//! [`on_response`]: GoalBuilder::on_response
//!
//! So goals are accepted and cancelled, and results delivered, even while the groups' callbacks are
//! busy; nothing waits except for short locks.
//!
//! In one process, goals, feedback and results move, as messages do: none of them needs `Clone`.
//! The server keeps for later requests the same result object that the clients have.
#![forbid(unsafe_code)]

mod client;
mod code;
pub mod erased;
mod error;
mod goal_id;
mod kind;
mod posting;
mod server;
mod status;
mod waiting;
mod wire;

pub use client::{
    ActionClient, ActionClientBuilder, Cancel, CancelOutcome, Canceled, Feedback, FeedbackItem, GoalBuilder,
    GoalHandle, GoalResult, PendingCancel, PendingGoal, PendingResult,
};
pub use error::{CancelError, ResultError, SendGoalError, SendGoalFailure};
pub use goal_id::GoalId;
pub use kind::Kind;
pub use server::{
    AcceptedGoal, ActionServer, ActionServerBuilder, CancelReason, CancelRequested, Decision, EndError,
    ExecutingGoal, FeedbackError, GoalCallback, OnDrop, Policy,
};
pub use sinew::msg::Action;
pub use status::GoalStatus;
pub use wire::FeedbackMessage;

use sinew::executor::Maker;

/// Makes action servers and clients; implemented by nodes and groups.
pub trait Actions: Maker {
    /// Makes a server of an action. The action is named as topics are; the server's callback runs
    /// in this group, or in the node's default group.
    fn action_server<A: Action>(&self, name: &str) -> ActionServerBuilder<A, Self> {
        ActionServerBuilder::new(self, name, ())
    }

    /// Makes a client of an action. The action is named as topics are; the client's callbacks run
    /// in this group, or in the node's default group.
    fn action_client<A: Action>(&self, name: &str) -> ActionClientBuilder<A, Self> {
        ActionClientBuilder::new(self, name, ())
    }
}

impl<M: Maker> Actions for M {}
