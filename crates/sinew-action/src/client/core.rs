//! What a client does: its goals, and what comes of them.
//!
//! Answers and feedback are handled by listeners, on the thread that answers or publishes (or that
//! receives, from elsewhere), so futures need no executor. The program's callbacks run in the
//! client's group: a goal that has news for them lies in `ready`, once, and the bell has the
//! executor run one of them. While it runs, its thread has the goal's callbacks, so those of one
//! goal never run at the same time, also in a reentrant group, and no lock is held.
//!
//! What comes by the feedback topic, and the ends of goals, are taken in by one thread at a time
//! ([`Intake`]): so feedback keeps its order, and what was published before a goal ended reaches it
//! before its result does. A thread that finds another one at it leaves word and goes on. No lock is
//! held over a take from a topic: that reads what other processes have published, and may run
//! listeners.

use super::cancel::Cancel;
use super::goal::{GoalHandle, GoalResult};
use super::progress::{News, Progress};
use crate::error::{ResultError, SendGoalError, SendGoalFailure};
use crate::goal_id::GoalId;
use crate::maker::CallbackResult;
use crate::status::GoalStatus;
use crate::wire::{FeedbackMessage, GetResult, GetResultRequest, SendGoal, SendGoalRequest};
use foldhash::HashMap;
use sinew::__private::locks::{Mutex, no_lock_is_held};
use sinew::error::CallFailure;
use sinew::introspection::RegisteredType;
use sinew::msg::Action;
use sinew::service::{CallResult, RequestId};
use sinew::time::Time;
use sinew::{Client, GuardCondition, Shared, Subscription};
use sinew_interfaces::action_msgs::msg::GoalStatusArray;
use sinew_interfaces::action_msgs::srv::CancelGoal;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Pieces of feedback that are taken before the goals are told that have ended meanwhile: so many,
/// or twice as many as wait at most, which is all that was there when a goal ended.
const MOST_AT_ONCE: usize = 1000;

/// How long a goal that has ended waits at most for a thread that is reading feedback.
const READING: Duration = Duration::from_secs(1);

/// What a client's handles and listeners have in common.
pub(super) struct ClientCore<A: Action> {
    pub(super) name: String,
    pub(super) send: Client<SendGoal<A>>,
    pub(super) cancel: Client<CancelGoal>,
    pub(super) result: Client<GetResult<A>>,
    pub(super) feedback: Subscription<FeedbackMessage<A>>,
    pub(super) status: Subscription<GoalStatusArray>,
    /// Pieces of feedback of each goal, unless that says otherwise.
    pub(super) depth: usize,
    state: Mutex<ClientState<A>>,
    pub(super) bell: OnceLock<GuardCondition>,
    /// Its node tells others of the action's type.
    pub(super) used: OnceLock<RegisteredType>,
}

struct ClientState<A: Action> {
    /// Those of which something may come.
    goals: HashMap<GoalId, Arc<ClientGoal<A>>>,
    /// Those with news for callbacks.
    ready: VecDeque<Arc<ClientGoal<A>>>,
    intake: Intake<A>,
}

/// Who takes in what has come, and what is to be taken in.
struct Intake<A: Action> {
    /// A thread is at it, and looks again until nothing is wanted.
    is_running: bool,
    /// Something came since a thread looked last.
    is_wanted: bool,
    /// Goals that have ended: told once the feedback is that was published before.
    ends: VecDeque<End<A>>,
}

/// The end of a goal.
struct End<A: Action> {
    goal: Arc<ClientGoal<A>>,
    result: GoalEnd<A>,
}

/// The result of a goal, or why there is none.
type GoalEnd<A> = Result<(GoalStatus, Shared<<A as Action>::Result>), ResultError>;

/// One goal.
pub(super) struct ClientGoal<A: Action> {
    pub(super) id: GoalId,
    pub(super) has_feedback_callback: bool,
    has_callbacks: bool,
    /// Feedback of the action that had been lost on its way before this goal was sent.
    lost_before: u64,
    /// Handles of the program.
    pub(super) handles: AtomicUsize,
    pub(super) state: Mutex<GoalState<A>>,
}

pub(super) struct GoalState<A: Action> {
    pub(super) progress: Progress<Shared<FeedbackMessage<A>>, Shared<A::Result>>,
    /// The request that isn't answered yet.
    request: Option<RequestId>,
    /// The goal that never left.
    pub(super) unsent: Option<Box<A::Goal>>,
    /// A thread has them while it runs one.
    callbacks: Option<Callbacks<A>>,
    is_ready: bool,
}

pub(super) type Accepted<A> = Result<GoalHandle<A>, SendGoalError<<A as Action>::Goal>>;

/// A callback that is called once.
type Once<T> = Box<dyn FnOnce(T) -> CallbackResult + Send>;

/// A callback for each piece of feedback.
type OnFeedback<F> = Box<dyn FnMut(&F) -> CallbackResult + Send>;

/// What the program wants called.
pub(super) struct Callbacks<A: Action> {
    pub(super) response: Option<Once<Accepted<A>>>,
    pub(super) feedback: Option<OnFeedback<A::Feedback>>,
    pub(super) result: Option<Once<Result<GoalResult<A>, ResultError>>>,
}

impl<A: Action> Callbacks<A> {
    fn any(&self) -> bool {
        self.response.is_some() || self.feedback.is_some() || self.result.is_some()
    }
}

impl<A: Action> ClientGoal<A> {
    /// The outcome of sending it, once it is known.
    pub(super) fn accepted(self: &Arc<Self>, core: &Arc<ClientCore<A>>) -> Option<Accepted<A>> {
        let mut state = self.state.lock();
        match state.progress.response.clone()? {
            Ok(_) => {
                drop(state);
                Some(Ok(GoalHandle::new(core, self)))
            }
            Err(failure) => {
                let (action, goal) = (core.name.clone(), state.unsent.take());
                Some(Err(SendGoalError { action, failure, goal }))
            }
        }
    }

    /// What is looked for of the goal, or has the task woken at whatever comes next.
    pub(super) fn poll<T>(
        &self,
        task: &Waker,
        mut look: impl FnMut(&mut Progress<Shared<FeedbackMessage<A>>, Shared<A::Result>>) -> Option<T>,
    ) -> Poll<T> {
        let mut ours = None;
        loop {
            let mut state = self.state.lock();
            if let Some(found) = look(&mut state.progress) {
                drop(state);
                drop(ours); // the program's code, outside the lock
                return Poll::Ready(found);
            }
            if state.progress.has(task) {
                return Poll::Pending;
            }
            if let Some(ours) = ours.take() {
                state.progress.wait(ours);
                return Poll::Pending;
            }
            drop(state);
            ours = Some(task.clone()); // the program's code; then everything is looked at again
        }
    }

    pub(super) fn result(&self) -> Option<Result<GoalResult<A>, ResultError>> {
        let result = self.state.lock().progress.result.clone()?;
        Some(result.map(|(status, result)| GoalResult::new(self.id, status, result)))
    }
}

impl<A: Action> ClientCore<A> {
    pub(super) fn new(
        name: String,
        (send, cancel, result): (Client<SendGoal<A>>, Client<CancelGoal>, Client<GetResult<A>>),
        (feedback, status): (Subscription<FeedbackMessage<A>>, Subscription<GoalStatusArray>),
        depth: usize,
    ) -> Arc<Self> {
        let intake = Intake { is_running: false, is_wanted: false, ends: VecDeque::new() };
        let state = Mutex::new(ClientState { goals: HashMap::default(), ready: VecDeque::new(), intake });
        let core = Arc::new(Self {
            name,
            send,
            cancel,
            result,
            feedback,
            status,
            depth,
            state,
            bell: OnceLock::new(),
            used: OnceLock::new(),
        });
        let weak = Arc::downgrade(&core);
        core.feedback.set_listener(move |_| {
            if let Some(core) = weak.upgrade() {
                core.take_in(None);
            }
        });
        core
    }

    // ---- what goes out ----

    pub(super) fn send_goal(
        self: &Arc<Self>,
        goal: A::Goal,
        depth: usize,
        callbacks: Callbacks<A>,
    ) -> Arc<ClientGoal<A>> {
        let id = GoalId::random();
        let sent = Arc::new(ClientGoal {
            id,
            has_feedback_callback: callbacks.feedback.is_some(),
            has_callbacks: callbacks.any(),
            lost_before: self.lost_on_the_way(),
            handles: AtomicUsize::new(0),
            state: Mutex::new(GoalState {
                progress: Progress::new(depth),
                request: None,
                unsent: None,
                callbacks: Some(callbacks),
                is_ready: false,
            }),
        });
        // Known before it is sent: its feedback may come before its response.
        self.state.lock().goals.insert(id, sent.clone());
        let (core, known) = (Arc::downgrade(self), sent.clone());
        let listener = move |result: CallResult<SendGoal<A>>| {
            if let Some(core) = core.upgrade() {
                core.answered(&known, result);
            }
        };
        match self.send.call_with_listener(SendGoalRequest { goal_id: id, goal }, listener) {
            // Of no use if it was answered meanwhile, and no harm.
            Ok(request) => sent.state.lock().request = Some(request),
            Err(error) => {
                let failure = error.failure().clone();
                sent.state.lock().unsent =
                    error.into_request().map(|request| Box::new(request.into_inner().goal));
                self.change(&sent, |progress| {
                    progress.handle_response(Err(SendGoalFailure::Call(failure)));
                });
            }
        }
        sent
    }

    /// The client waits no longer for a goal to be accepted. The goal comes back if no server took
    /// it; one that is accepted later is canceled.
    pub(super) fn give_up(&self, goal: &ClientGoal<A>) -> Option<Box<A::Goal>> {
        let request = {
            let mut state = goal.state.lock();
            state.progress.give_up();
            state.request.take()?
        };
        let request = self.send.withdraw(request)?;
        self.forget(goal.id);
        Some(Box::new(request.into_inner().goal))
    }

    fn answered(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>, result: CallResult<SendGoal<A>>) {
        let response = match result {
            Ok(response) if response.accepted => Ok(response.stamp),
            Ok(_) => Err(SendGoalFailure::Rejected),
            Err(error) => {
                let failure = error.failure().clone();
                let unsent = error.into_request().map(|request| Box::new(request.into_inner().goal));
                goal.state.lock().unsent = unsent;
                Err(SendGoalFailure::Call(failure))
            }
        };
        let is_accepted = response.is_ok();
        let mut is_given_up = false;
        self.change(goal, |progress| is_given_up = progress.handle_response(response));
        if is_accepted {
            if is_given_up {
                drop(self.cancel(Cancel::Goal(goal.id))); // no one waits for the answer
            }
            self.ask_for_result(goal);
        }
    }

    fn ask_for_result(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>) {
        let (core, known) = (Arc::downgrade(self), goal.clone());
        let listener = move |result: CallResult<GetResult<A>>| {
            if let Some(core) = core.upgrade() {
                core.ended(&known, result);
            }
        };
        let request = GetResultRequest { goal_id: goal.id, of: PhantomData };
        if let Err(error) = self.result.call_with_listener(request, listener) {
            let failure = ResultError::of(goal.id, error.failure().clone());
            self.end(goal, Err(failure));
        } else if !self.send.is_server_ready() && !self.result.is_server_ready() {
            // The server has gone since it answered. What went to it has failed; but the request
            // may have found no server, and would wait for another one.
            self.end(goal, Err(ResultError::ServerGone { goal: goal.id }));
        }
    }

    // ---- what comes ----

    fn ended(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>, result: CallResult<GetResult<A>>) {
        let result = match result {
            Err(error) => Err(ResultError::of(goal.id, error.failure().clone())),
            Ok(response) => {
                let response = response.into_inner();
                match GoalStatus::of_wire(response.status) {
                    status if status.is_terminal() => Ok((status, response.result)),
                    _ => Err(ResultError::UnknownGoal { goal: goal.id }),
                }
            }
        };
        self.take_in(Some(End { goal: goal.clone(), result }));
    }

    /// Brings what has come to its goals, and ends a goal after that; unless another thread is at
    /// it, which then does so.
    fn take_in(self: &Arc<Self>, end: Option<End<A>>) {
        {
            let Intake { is_running, is_wanted, ends } = &mut self.state.lock().intake;
            ends.extend(end);
            *is_wanted = true;
            if std::mem::replace(is_running, true) {
                return;
            }
        }
        let mut running = RunningIntake { core: self, ends: VecDeque::new(), is_over: false };
        while running.next() {
            self.take_feedback();
            if !running.ends.is_empty() {
                // A take finds nothing of what another thread is just reading.
                self.feedback.bring_in(READING);
                self.take_feedback();
            }
            while let Some(End { goal, result }) = running.ends.pop_front() {
                self.end(&goal, result);
            }
        }
    }

    fn end(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>, result: GoalEnd<A>) {
        let lost = self.lost_on_the_way() - goal.lost_before;
        self.change(goal, |progress| progress.handle_result(result, lost));
    }

    /// Feedback of the action, of whatever goals, that was lost before it was taken in here: it was
    /// overwritten, got lost on the network, or had no room.
    fn lost_on_the_way(&self) -> u64 {
        let statistics = self.feedback.statistics();
        statistics.overwritten + statistics.missed
    }

    /// Feedback of a goal that its program missed, as far as that is known.
    pub(super) fn missed_feedback(&self, goal: &ClientGoal<A>) -> u64 {
        let lost = self.lost_on_the_way();
        goal.state.lock().progress.missed(|| lost - goal.lost_before)
    }

    /// Takes what has come from the topic to the goals that it is of; what is of other clients'
    /// goals is no concern of this one. Only for the thread that is at the intake.
    fn take_feedback(self: &Arc<Self>) {
        for _ in 0..MOST_AT_ONCE.max(self.depth.saturating_mul(2)) {
            let Some((message, _)) = self.feedback.take() else { return };
            let goal = self.state.lock().goals.get(&message.goal_id).cloned();
            if let Some(goal) = goal {
                let mut displaced = None;
                self.change(&goal, |progress| displaced = progress.handle_feedback(message));
                drop(displaced); // outside the lock: with the program's code
            }
        }
        self.state.lock().intake.is_wanted = true; // a goal that ends needn't wait for all of these
    }

    /// Takes what has come of the goals' states. Several threads may do so: a goal's state goes on,
    /// and never back.
    pub(super) fn take_status(&self) {
        while let Some((array, _)) = self.status.take() {
            for entry in &array.status_list {
                let goal = self.state.lock().goals.get(&GoalId::of(&entry.goal_info)).cloned();
                if let Some(goal) = goal {
                    goal.state.lock().progress.handle_status(GoalStatus::of_wire(entry.status));
                }
            }
        }
    }

    /// Something of a goal changes: tells those that wait for it.
    fn change(
        self: &Arc<Self>,
        goal: &Arc<ClientGoal<A>>,
        change: impl FnOnce(&mut Progress<Shared<FeedbackMessage<A>>, Shared<A::Result>>),
    ) {
        let (wakers, rings, is_over) = {
            let mut state = goal.state.lock();
            change(&mut state.progress);
            let has_news = goal.has_callbacks && state.progress.has_news(goal.has_feedback_callback);
            let rings = has_news && !state.is_ready;
            state.is_ready |= has_news;
            (state.progress.take_wakers(), rings, state.progress.is_over())
        };
        if is_over {
            self.forget(goal.id);
        }
        if rings {
            self.state.lock().ready.push_back(goal.clone());
            self.ring();
        }
        no_lock_is_held();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Nothing more is expected of a goal.
    pub(super) fn forget(&self, id: GoalId) {
        let goal = self.state.lock().goals.remove(&id);
        drop(goal); // outside the lock: with the program's code
    }

    /// The program has no handle of the goal any more.
    pub(super) fn release(&self, goal: &ClientGoal<A>) {
        if !goal.has_callbacks {
            self.forget(goal.id);
        }
    }

    // ---- the group's work ----

    fn ring(&self) {
        if let Some(bell) = self.bell.get() {
            bell.trigger();
        }
    }

    /// Runs a callback. If there is more to do, the executor comes again.
    pub(super) fn run_next(self: &Arc<Self>) -> CallbackResult {
        let (goal, more) = {
            let mut state = self.state.lock();
            let Some(goal) = state.ready.pop_front() else { return Ok(()) };
            (goal, !state.ready.is_empty())
        };
        if more {
            self.ring();
        }
        let (news, callbacks) = {
            let mut state = goal.state.lock();
            let news = state.progress.poll_news(goal.has_feedback_callback);
            (news, state.callbacks.take())
        };
        let mut running = Running { core: self, goal: &goal, callbacks };
        running.tell(news)
    }
}

/// This thread is at the intake until this is dropped, also over a panic of the program's code.
struct RunningIntake<'a, A: Action> {
    core: &'a ClientCore<A>,
    /// The goals that have ended, and don't know it yet.
    ends: VecDeque<End<A>>,
    is_over: bool,
}

impl<A: Action> RunningIntake<'_, A> {
    /// Gets the goals that have ended meanwhile. False: nothing has come since the last look.
    fn next(&mut self) -> bool {
        let Intake { is_running, is_wanted, ends } = &mut self.core.state.lock().intake;
        if !std::mem::take(is_wanted) {
            *is_running = false;
            self.is_over = true;
            return false;
        }
        self.ends.append(ends);
        true
    }
}

impl<A: Action> Drop for RunningIntake<'_, A> {
    fn drop(&mut self) {
        if !self.is_over {
            // A waker of the program panicked: the next thread goes on with the rest.
            let Intake { is_running, is_wanted, ends } = &mut self.core.state.lock().intake;
            self.ends.append(ends);
            std::mem::swap(ends, &mut self.ends);
            (*is_running, *is_wanted) = (false, true);
        }
    }
}

/// One callback of a goal that is being called. Dropped, also over a panic, it gives the callbacks
/// back; if there is more news, the executor comes again.
struct Running<'a, A: Action> {
    core: &'a Arc<ClientCore<A>>,
    goal: &'a Arc<ClientGoal<A>>,
    callbacks: Option<Callbacks<A>>,
}

impl<A: Action> Running<'_, A> {
    fn tell(&mut self, news: Option<News<Shared<FeedbackMessage<A>>>>) -> CallbackResult {
        let Some(callbacks) = self.callbacks.as_mut() else { return Ok(()) };
        match news {
            None => Ok(()),
            Some(News::Response) => match (callbacks.response.take(), self.goal.accepted(self.core)) {
                (Some(callback), Some(accepted)) => callback(accepted),
                _ => Ok(()),
            },
            Some(News::Feedback(message)) => match &mut callbacks.feedback {
                Some(callback) => callback(&message.feedback),
                None => Ok(()),
            },
            Some(News::Result) => match (callbacks.result.take(), self.goal.result()) {
                (Some(callback), Some(result)) => callback(result),
                _ => Ok(()),
            },
        }
    }
}

impl<A: Action> Drop for Running<'_, A> {
    fn drop(&mut self) {
        let Self { core, goal, callbacks } = self;
        let again = {
            let mut state = goal.state.lock();
            state.callbacks = callbacks.take();
            state.is_ready = state.progress.has_news(goal.has_feedback_callback);
            state.is_ready
        };
        if again {
            core.state.lock().ready.push_back(Arc::clone(goal));
            core.ring();
        }
    }
}

impl ResultError {
    fn of(goal: GoalId, failure: CallFailure) -> Self {
        match failure {
            CallFailure::ServerGone | CallFailure::Dropped => Self::ServerGone { goal },
            failure => Self::Call { goal, failure },
        }
    }
}

/// When a goal was accepted, by its server's clock.
pub(super) fn stamp_of<A: Action>(goal: &ClientGoal<A>) -> Time {
    match &goal.state.lock().progress.response {
        Some(Ok(stamp)) => *stamp,
        _ => Time::default(),
    }
}
