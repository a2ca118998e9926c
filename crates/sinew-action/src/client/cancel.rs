//! Asking a server to end goals early.

use super::core::ClientCore;
use crate::error::CancelError;
use crate::goal_id::GoalId;
use parking_lot::Mutex;
use sinew::Duration;
use sinew::error::CallFailure;
use sinew::executor::wait_for;
use sinew::msg::Action;
use sinew::service::CallResult;
use sinew::time::Time;
use sinew_interfaces::action_msgs::msg::GoalInfo;
use sinew_interfaces::action_msgs::srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Which goals of an action are to end early, whichever client sent them. Times are those of the
/// server at which it accepted them ([`GoalHandle::stamp`](super::GoalHandle::stamp)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    /// All.
    All,
    /// Those that were accepted then or before.
    Before(Time),
    /// This one.
    Goal(GoalId),
    /// This one, and those that were accepted then or before.
    GoalAndBefore(GoalId, Time),
}

impl Cancel {
    fn request(self) -> CancelGoalRequest {
        let (id, stamp) = match self {
            Self::All => (GoalId::NONE, Time::default()),
            Self::Before(stamp) => (GoalId::NONE, stamp),
            Self::Goal(id) => (id, Time::default()),
            Self::GoalAndBefore(id, stamp) => (id, stamp),
        };
        CancelGoalRequest { goal_info: GoalInfo { goal_id: id.to_msg(), stamp: stamp.to_msg() } }
    }
}

/// What a server says to a request to cancel. ROS 2's `return_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelOutcome {
    /// It did, or there was nothing to cancel.
    Done,
    /// It won't.
    Rejected,
    /// It doesn't know the goal.
    UnknownGoal,
    /// The goal has ended, or is canceling already.
    GoalTerminated,
    /// A number that ROS 2 doesn't have.
    Other(i8),
}

/// The answer to a request to cancel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canceled {
    /// What the server says.
    pub outcome: CancelOutcome,
    /// The goals that will end early, and when they were accepted.
    pub goals: Vec<(GoalId, Time)>,
}

impl Canceled {
    fn of(response: &CancelGoalResponse) -> Self {
        let outcome = match response.return_code {
            0 => CancelOutcome::Done,
            1 => CancelOutcome::Rejected,
            2 => CancelOutcome::UnknownGoal,
            3 => CancelOutcome::GoalTerminated,
            code => CancelOutcome::Other(code),
        };
        let goals = response.goals_canceling.iter().map(|info| (GoalId::of(info), info.stamp.into()));
        Self { outcome, goals: goals.collect() }
    }
}

impl<A: Action> ClientCore<A> {
    /// The answer comes to a listener, as all do: so waiting for it needs no executor.
    pub(super) fn cancel(&self, which: Cancel) -> PendingCancel {
        let slot = Arc::new(Mutex::new(Slot::default()));
        let settle = |slot: &Mutex<Slot>, result: Result<Canceled, CallFailure>| {
            let waker = {
                let mut slot = slot.lock();
                slot.answer = Some(result);
                slot.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        let ours = slot.clone();
        let listener = move |result: CallResult<CancelGoal>| {
            let canceled = result.map(|response| Canceled::of(&response));
            settle(&ours, canceled.map_err(|error| error.failure().clone()));
        };
        if let Err(error) = self.cancel.call_with_listener(which.request(), listener) {
            settle(&slot, Err(error.failure().clone()));
        }
        PendingCancel { slot, action: self.name.clone() }
    }
}

#[derive(Default)]
struct Slot {
    answer: Option<Result<Canceled, CallFailure>>,
    waker: Option<Waker>,
}

/// The answer to a request to cancel, as a future for any runtime; from
/// [`ActionClient::cancel`](super::ActionClient::cancel) and
/// [`GoalHandle::cancel`](super::GoalHandle::cancel). Dropped, the request goes on.
#[must_use = "a future does nothing until it is awaited (the request is sent in any case)"]
pub struct PendingCancel {
    slot: Arc<Mutex<Slot>>,
    action: String,
}

impl PendingCancel {
    /// Waits for it, at most for `timeout` (of real time). In one process it doesn't wait at all.
    ///
    /// # Errors
    /// [`CancelError`].
    pub fn wait(mut self, timeout: Duration) -> Result<Canceled, CancelError> {
        let answer = wait_for(&mut self, timeout);
        answer.unwrap_or_else(|| Err(CancelError::Timeout { action: self.action.clone() }))
    }
}

impl Future for PendingCancel {
    type Output = Result<Canceled, CancelError>;

    /// Pending for ever once it has yielded the answer.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.slot.lock();
        let Some(answer) = slot.answer.take() else {
            slot.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(answer.map_err(|failure| CancelError::Call { action: self.action.clone(), failure }))
    }
}

impl fmt::Debug for PendingCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCancel").field("action", &self.action).finish_non_exhaustive()
    }
}
