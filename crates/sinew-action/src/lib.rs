//! ROS 2's actions: goals that take their time, tell how far they are, can be cancelled, and have a
//! result.
//!
//! An action type comes from an `.action` definition: from ROS 2's packages (`sinew-interfaces`) or
//! from your own, by `sinew-build`. A name has one [`ActionServer`] and any number of
//! [`ActionClient`]s; on the wire they are what ROS 2's are, so each may be ROS 2's own.
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
//! | what | runs |
//! |---|---|
//! | [`on_goal`](ActionServerBuilder::on_goal), [`on_cancel`](ActionServerBuilder::on_cancel), a goal's [`on_cancel_requested`](ExecutingGoal::on_cancel_requested) | on the thread that asks; for other processes on that which receives |
//! | a server's [`callback`](ActionServerBuilder::callback), the futures of [`async_callback`](ActionServerBuilder::async_callback) | in the server's group |
//! | a goal's [`on_response`](GoalBuilder::on_response), `on_feedback`, `on_result` | in the client's group |
//! | wakers of futures and streams | on the thread that answers or publishes |
//!
//! So goals are accepted and cancelled, and results given, whatever the groups' callbacks are busy
//! with; nothing waits for anything but for short locks.
//!
//! In one process, goals, feedback and results move, as messages do: none of them needs `Clone`. A
//! result that the server keeps for those who ask later is the one that the clients have.
#![forbid(unsafe_code)]

mod client;
mod error;
mod goal_id;
mod maker;
mod server;
mod status;
mod wire;

pub use client::{
    ActionClient, ActionClientBuilder, Cancel, CancelOutcome, Canceled, Feedback, FeedbackItem, GoalBuilder,
    GoalHandle, GoalResult, PendingCancel, PendingGoal, PendingResult,
};
pub use error::{CancelError, ResultError, SendGoalError, SendGoalFailure};
pub use goal_id::GoalId;
pub use maker::Maker;
pub use server::{
    AcceptedGoal, ActionServer, ActionServerBuilder, CancelReason, CancelRequested, Decision, EndError,
    ExecutingGoal, FeedbackError, GoalCallback, OnDrop, Policy,
};
pub use sinew::msg::Action;
pub use status::GoalStatus;
pub use wire::FeedbackMessage;

/// What nodes and groups have for actions.
pub trait Actions: Maker {
    /// A server of an action, named as topics are; its callback runs in this group, or in the node's
    /// default group.
    fn action_server<A: Action>(&self, name: &str) -> ActionServerBuilder<A, Self> {
        ActionServerBuilder::new(self, name)
    }

    /// A client of an action, named as topics are; its callbacks run in this group, or in the node's
    /// default group.
    fn action_client<A: Action>(&self, name: &str) -> ActionClientBuilder<A, Self> {
        ActionClientBuilder::new(self, name)
    }
}

impl<M: Maker> Actions for M {}
