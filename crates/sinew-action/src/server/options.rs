//! A server's settings, and its decisions on goals.

use super::admission::Policy;
use super::goal::{AcceptedGoal, OnDrop};
use super::kind::ServerKind;
use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::posting::{BoxedError, CallbackResult};
use sinew::Duration;
use sinew::event::Outcome;
use std::fmt;

/// A server's decision on a goal; returned by the closure of
/// [`ActionServerBuilder::on_goal`](super::ActionServerBuilder::on_goal).
pub enum Decision<A: ServerKind> {
    /// Rejects the goal.
    Reject,
    /// Accepts the goal. The server's callback executes it, now or when the [policy](Policy)
    /// allows.
    Execute,
    /// Accepts the goal and hands it to the closure, once its client has been notified, on the
    /// thread that sent the request. The closure should be quick, for instance store the goal to be
    /// [executed](AcceptedGoal::execute) later. See [`Decision::defer`].
    Defer(Deferred<A>),
}

impl<A: ServerKind> Decision<A> {
    /// Makes a [`Decision::Defer`] and boxes the closure, which returns nothing or a `Result`.
    pub fn defer<R: Outcome>(then: impl FnOnce(AcceptedGoal<A>) -> R + Send + 'static) -> Self {
        Self::Defer(Box::new(move |goal| then(goal).into_result()))
    }
}

impl<A: ServerKind> fmt::Debug for Decision<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reject => "Reject",
            Self::Execute => "Execute",
            Self::Defer(_) => "Defer(..)",
        })
    }
}

/// Decides on each goal. After an error the goal is rejected.
type Decide<A> = Box<dyn Fn(GoalId, &<A as Kind>::Goal) -> Result<Decision<A>, BoxedError> + Send + Sync>;

/// Decides whether a goal may be ended early. After an error it may not. `None`: the program hasn't
/// got the goal yet, and is asked again.
type MayCancel = Box<dyn Fn(GoalId) -> Result<Option<bool>, BoxedError> + Send + Sync>;

/// Receives a deferred goal.
pub(super) type Deferred<A> = Box<dyn FnOnce(AcceptedGoal<A>) -> CallbackResult + Send>;

/// Settings of a server.
pub(super) struct Options<A: ServerKind> {
    pub(super) types: A::Types,
    pub(super) policy: Policy,
    pub(super) max_goals: usize,
    pub(super) max_results: usize,
    pub(super) max_result_bytes: usize,
    pub(super) result_timeout: Option<Duration>,
    pub(super) on_drop: OnDrop,
    /// Whether the program's decisions are made in the server's group.
    pub(super) decides_in_group: bool,
    pub(super) decide: Decide<A>,
    pub(super) may_cancel: MayCancel,
}
