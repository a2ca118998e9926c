//! Requests to end goals early.

use crate::error::CancelError;
use crate::goal_id::GoalId;
use sinew::__private::locks::{Mutex, no_lock_is_held};
use sinew::service::{CallResult, RequestId};
use sinew::time::Time;
use sinew::{Client, Duration};
use sinew_interfaces::action_msgs::msg::GoalInfo;
use sinew_interfaces::action_msgs::srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Selects the goals of an action that must end early, from any of its clients. Times are
/// acceptance times by the server's clock ([`GoalHandle::stamp`](super::GoalHandle::stamp)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    /// All goals.
    All,
    /// The goals that were accepted at this time or before. Time 0 is an error: ROS 2 reads it as
    /// "all goals", and goals of a server that reports no times have it as their stamp.
    Before(Time),
    /// This goal. The id of zeros, which is the default one, is an error: ROS 2 reads it as "no
    /// single goal", and the request as one for all goals.
    Goal(GoalId),
    /// This goal, not that of zeros either, and the goals that were accepted at this time or
    /// before.
    GoalAndBefore(GoalId, Time),
}

impl Cancel {
    /// Makes the request, unless the server would take it for one of the other forms.
    fn request(self, action: &str) -> Result<CancelGoalRequest, CancelError> {
        let (id, stamp) = match self {
            Self::All => (GoalId::NONE, Time::default()),
            Self::Before(stamp) if stamp == Time::default() => {
                return Err(CancelError::NoTime { action: action.to_owned() });
            }
            Self::Before(stamp) => (GoalId::NONE, stamp),
            Self::Goal(GoalId::NONE) | Self::GoalAndBefore(GoalId::NONE, _) => {
                return Err(CancelError::NoGoal { action: action.to_owned() });
            }
            Self::Goal(id) => (id, Time::default()),
            Self::GoalAndBefore(id, stamp) => (id, stamp),
        };
        let goal_info = GoalInfo { goal_id: id.to_msg(), stamp: stamp.to_msg() };
        Ok(CancelGoalRequest { goal_info })
    }
}

/// The server's answer to a cancel request. ROS 2's `return_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelOutcome {
    /// The goals are canceling, or there was nothing to cancel.
    Done,
    /// The server refused.
    Rejected,
    /// The server doesn't know the goal.
    UnknownGoal,
    /// The goal has ended, or is already canceling.
    GoalTerminated,
    /// A code that ROS 2 doesn't define.
    Other(i8),
}

/// The answer to a cancel request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canceled {
    /// The server's return code.
    pub outcome: CancelOutcome,
    /// The goals that will end early, with their acceptance times.
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

/// The outcome of a cancel request.
pub(super) type CancelResult = Result<Canceled, CancelError>;

/// Sends the request. `settle` is called once, on the thread that answers or on this one.
pub(super) fn send_then(
    client: &Client<CancelGoal>,
    action: &str,
    which: Cancel,
    settle: impl FnOnce(CancelResult) + Send + 'static,
) -> Option<RequestId> {
    let request = match which.request(action) {
        Ok(request) => request,
        Err(error) => {
            settle(Err(error));
            return None;
        }
    };
    let action = action.to_owned();
    // The listener is dropped if the request isn't accepted.
    let settle = Arc::new(Mutex::new(Some(settle)));
    let take = |settle: &Mutex<Option<_>>| settle.lock().take();
    let (ours, of) = (settle.clone(), action.clone());
    let listener = move |result: CallResult<CancelGoal>| {
        let canceled = result.map(|response| Canceled::of(&response));
        let failed = |failure| CancelError::Call { action: of, failure };
        if let Some(settle) = take(&ours) {
            settle(canceled.map_err(|error| failed(error.failure().clone())));
        }
    };
    let sent = client.call_then_immediately(request, listener);
    if let Err(error) = &sent
        && let Some(settle) = take(&settle)
    {
        settle(Err(CancelError::Call { action, failure: error.failure().clone() }));
    }
    sent.ok()
}

/// Sends the request. A listener takes the answer, so waiting for it needs no executor.
pub(super) fn send(client: &Client<CancelGoal>, action: &str, which: Cancel) -> PendingCancel {
    let slot = Arc::new(Mutex::new(Slot::default()));
    let ours = slot.clone();
    let settle = move |result| {
        let waker = {
            let mut slot = ours.lock();
            slot.answer = Some(result);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            no_lock_is_held();
            waker.wake();
        }
    };
    let request = send_then(client, action, which, settle);
    PendingCancel { slot, action: action.to_owned(), client: client.clone(), request }
}

#[derive(Default)]
struct Slot {
    answer: Option<CancelResult>,
    waker: Option<Waker>,
}

/// The answer to a cancel request, as a future for any runtime; returned by
/// [`ActionClient::cancel`](super::ActionClient::cancel) and
/// [`GoalHandle::cancel`](super::GoalHandle::cancel). Dropping it doesn't withdraw the request.
#[must_use = "a future does nothing until it is awaited (the request is sent in any case)"]
pub struct PendingCancel {
    slot: Arc<Mutex<Slot>>,
    action: String,
    client: Client<CancelGoal>,
    request: Option<RequestId>,
}

impl PendingCancel {
    /// Waits for the answer, for at most `timeout` (of real time). If the server is in the same
    /// process, the answer is already there.
    ///
    /// # Errors
    /// [`CancelError`]. If no server took the request before the timeout, it is withdrawn: a server
    /// that comes later may have other goals.
    pub fn wait(mut self, timeout: Duration) -> Result<Canceled, CancelError> {
        let client = self.client.clone();
        let error = match client.erased().__wait_beside(&GoalId::NONE.0, &mut self, timeout) {
            Ok(Some(answer)) => return answer,
            Ok(None) => CancelError::Timeout { action: self.action },
            Err(why) => CancelError::WouldDeadlock { action: self.action, why },
        };
        if let Some(request) = self.request {
            drop(client.withdraw(request));
        }
        Err(error)
    }
}

impl Future for PendingCancel {
    type Output = Result<Canceled, CancelError>;

    /// Stays pending for ever once it has yielded the answer.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ours = context.waker().clone(); // runs the program's code: outside the lock
        let mut slot = self.slot.lock();
        let answer = slot.answer.take();
        let left = if answer.is_none() { slot.waker.replace(ours) } else { Some(ours) };
        drop(slot);
        drop(left);
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}

impl fmt::Debug for PendingCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCancel").field("action", &self.action).finish_non_exhaustive()
    }
}
