//! The client's goals, and the handling of everything that arrives for them.
//!
//! Listeners handle answers and feedback on the thread that answers or publishes (for other
//! processes, on the receiving thread), so futures need no executor. The program's callbacks run in
//! the client's group: a goal that has news for them is posted there, once, and one of its
//! callbacks runs. While a callback runs, its thread owns the goal's callbacks and holds no lock,
//! so the callbacks of one goal never run at the same time, even in a reentrant group.
//!
//! One thread at a time takes in feedback messages and the ends of goals ([`Intake`]): feedback
//! keeps its order, and feedback that was published before a goal ended reaches the goal before its
//! result does. A thread that finds the intake busy leaves a note and returns. No lock is held
//! while a thread takes from a topic: a take reads messages of other processes and may run
//! listeners.

use super::cancel::{self, Cancel, CancelResult, PendingCancel};
use super::kind::{ClientKind, GoalAnswer};
use super::progress::{News, Progress};
use super::result::GoalResult;
use crate::error::{ResultError, SendGoalError, SendGoalFailure};
use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::posting::{CallbackResult, CloseWork, Poster};
use crate::status::GoalStatus;
use crate::waiting::{Waited, Wakers};
use foldhash::HashMap;
use sinew::__private::locks::{Mutex, no_lock_is_held};
use sinew::error::CallFailure;
use sinew::introspection::RegisteredType;
use sinew::service::RequestId;
use sinew::time::Time;
use sinew::{Client, Subscription, erased};
use sinew_interfaces::action_msgs::msg::GoalStatusArray;
use sinew_interfaces::action_msgs::srv::CancelGoal;
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

/// Number of feedback messages that are taken in one pass before ended goals get their results. The
/// limit is at least twice the number of messages that can wait, so a pass covers everything that
/// was there when a goal ended.
const MOST_AT_ONCE: usize = 1000;

/// Longest time for which an ended goal waits for a thread that is reading feedback.
const READING: Duration = Duration::from_secs(1);

/// State shared by a client's handles and listeners.
pub(super) struct ClientCore<A: ClientKind> {
    pub(super) name: String,
    pub(super) types: A::Types,
    pub(super) send: A::GoalClient,
    pub(super) cancel: Client<CancelGoal>,
    pub(super) result: A::ResultClient,
    pub(super) feedback: A::FeedbackSubscription,
    pub(super) status: Subscription<GoalStatusArray>,
    /// Number of feedback messages kept for each goal, unless the goal sets its own.
    pub(super) depth: usize,
    state: Mutex<ClientState<A>>,
    /// Posts work to the group, which runs the callbacks.
    pub(super) poster: OnceLock<Poster<Work<A>>>,
    /// Closes the queue to which it posts.
    pub(super) close_work: OnceLock<CloseWork>,
    /// Registers the action's type with the client's node, which describes it to other processes.
    pub(super) used: OnceLock<Option<RegisteredType>>,
}

/// Work for the client's group.
pub(super) enum Work<A: ClientKind> {
    /// A goal with news for its callbacks.
    Goal(Arc<ClientGoal<A>>),
    /// A callback with the answer to a cancel request.
    Canceled(Box<dyn FnOnce() -> CallbackResult + Send>),
}

struct ClientState<A: ClientKind> {
    /// Goals for which something may still arrive.
    goals: HashMap<GoalId, Arc<ClientGoal<A>>>,
    intake: Intake<A>,
}

/// The intake: whether a thread works on it, and the work that waits.
struct Intake<A: ClientKind> {
    /// A thread is working, and looks again until nothing is wanted.
    is_running: bool,
    /// Something arrived since a thread last looked.
    is_wanted: bool,
    /// Ended goals. Each gets its end once the feedback that was published before it has been taken
    /// in.
    ends: VecDeque<End<A>>,
}

/// The end of a goal.
struct End<A: ClientKind> {
    goal: Arc<ClientGoal<A>>,
    result: GoalEnd<A>,
}

/// The result of a goal, or the reason why there is none.
type GoalEnd<A> = Result<(GoalStatus, <A as Kind>::SharedResult), ResultError>;

/// One goal.
pub(super) struct ClientGoal<A: ClientKind> {
    pub(super) id: GoalId,
    pub(super) has_feedback_callback: bool,
    has_callbacks: bool,
    /// Number of the action's feedback messages that had been lost in transit before this goal was
    /// sent.
    lost_before: u64,
    /// Number of handles that the program holds.
    pub(super) handles: AtomicUsize,
    pub(super) state: Mutex<GoalState<A>>,
}

pub(super) struct GoalState<A: ClientKind> {
    pub(super) progress: Progress<A::SharedFeedback, A::SharedResult>,
    /// The request that is not answered yet.
    request: Option<RequestId>,
    /// Set if the goal was given up and a server may still accept it.
    given_up: Option<GivenUp<A>>,
    /// The goal that was never sent.
    pub(super) unsent: Option<Box<A::Goal>>,
    /// `None` while a thread runs one of them.
    callbacks: Option<Callbacks<A>>,
    /// It is posted, or a callback runs that looks for more.
    is_ready: bool,
}

impl<A: ClientKind> Waited for GoalState<A> {
    fn wakers(&mut self) -> &mut Wakers {
        &mut self.progress.wakers
    }
}

/// The endpoints that get the answer to a goal that was given up, and cancel the goal if it was
/// accepted. They outlive the client: the first one's listener holds the goal, and the goal holds
/// them, until the answer comes.
struct GivenUp<A: ClientKind> {
    action: String,
    _send: A::GoalClient,
    cancel: Client<CancelGoal>,
}

impl<A: ClientKind> GivenUp<A> {
    fn of(core: &ClientCore<A>) -> Self {
        Self { action: core.name.clone(), _send: core.send.clone(), cancel: core.cancel.clone() }
    }

    fn cancel(self, goal: GoalId) {
        // Dropping the endpoint would withdraw the request.
        let keeps = self.cancel.clone();
        cancel::send_then(&self.cancel, &self.action, Cancel::Goal(goal), move |_| drop(keeps));
    }
}

/// A callback that is called with the outcome of sending a goal.
type OnResponse<A> = Box<
    dyn FnOnce(
            &Arc<ClientCore<A>>,
            &Arc<ClientGoal<A>>,
            Result<(), SendGoalError<<A as Kind>::Goal>>,
        ) -> CallbackResult
        + Send,
>;

/// A callback that is called once.
type Once<T> = Box<dyn FnOnce(T) -> CallbackResult + Send>;

/// A callback that is called for each feedback message.
type OnFeedback<F> = Box<dyn FnMut(&F) -> CallbackResult + Send>;

/// The program's callbacks for a goal.
pub(super) struct Callbacks<A: ClientKind> {
    pub(super) response: Option<OnResponse<A>>,
    pub(super) feedback: Option<OnFeedback<A::SharedFeedback>>,
    pub(super) result: Option<Once<Result<GoalResult<A>, ResultError>>>,
}

impl<A: ClientKind> Callbacks<A> {
    fn any(&self) -> bool {
        self.response.is_some() || self.feedback.is_some() || self.result.is_some()
    }
}

impl<A: ClientKind> ClientGoal<A> {
    /// Returns the outcome of sending the goal, once it is known.
    pub(super) fn accepted(&self, action: &str) -> Option<Result<(), SendGoalError<A::Goal>>> {
        let mut state = self.state.lock();
        match state.progress.response.clone()? {
            Ok(_) => Some(Ok(())),
            Err(failure) => {
                let (action, goal) = (action.to_owned(), state.unsent.take());
                Some(Err(SendGoalError { action, failure, goal }))
            }
        }
    }

    pub(super) fn result(&self) -> Option<Result<GoalResult<A>, ResultError>> {
        let result = self.state.lock().progress.result.clone()?;
        Some(result.map(|(status, result)| GoalResult::new(self.id, status, result)))
    }
}

impl<A: ClientKind> ClientCore<A> {
    pub(super) fn new(
        (name, types): (String, A::Types),
        (send, cancel, result): (A::GoalClient, Client<CancelGoal>, A::ResultClient),
        (feedback, status): (A::FeedbackSubscription, Subscription<GoalStatusArray>),
        depth: usize,
    ) -> Arc<Self> {
        let intake = Intake { is_running: false, is_wanted: false, ends: VecDeque::new() };
        let state = Mutex::new(ClientState { goals: HashMap::default(), intake });
        let core = Arc::new(Self {
            name,
            types,
            send,
            cancel,
            result,
            feedback,
            status,
            depth,
            state,
            poster: OnceLock::new(),
            close_work: OnceLock::new(),
            used: OnceLock::new(),
        });
        let weak = Arc::downgrade(&core);
        core.feedback().set_listener(move |_| {
            if let Some(core) = weak.upgrade() {
                core.take_in(None);
            }
        });
        core
    }

    pub(super) fn send(&self) -> &erased::Client {
        A::erased_goal_client(&self.send)
    }

    pub(super) fn result(&self) -> &erased::Client {
        A::erased_result_client(&self.result)
    }

    pub(super) fn feedback(&self) -> &erased::Subscription {
        A::erased_subscription(&self.feedback)
    }

    // ---- sending ----

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
                given_up: None,
                unsent: None,
                callbacks: Some(callbacks),
                is_ready: false,
            }),
        });
        // Registered before it is sent: its feedback may come before its response.
        self.state.lock().goals.insert(id, sent.clone());
        let (core, known) = (Arc::downgrade(self), sent.clone());
        let listener = move |answer| {
            let is_accepted = matches!(answer, Ok(Some(_)));
            if let Some(core) = core.upgrade() {
                core.answered(&known, answer);
            }
            let given_up = known.state.lock().given_up.take();
            if let Some(given_up) = given_up.filter(|_| is_accepted) {
                given_up.cancel(known.id);
            }
        };
        match A::send_goal(&self.send, &self.types, (id, goal), listener) {
            // If the goal was answered meanwhile, the id is unused, which does no harm.
            Ok(request) => sent.state.lock().request = Some(request),
            Err((failure, unsent)) => {
                sent.state.lock().unsent = unsent.map(Box::new);
                let response = Err(SendGoalFailure::Call(failure));
                self.change(&sent, |state| state.progress.handle_response(response));
            }
        }
        sent
    }

    /// Stops waiting for a goal to be accepted, and takes it back if no server took it; a goal that
    /// is accepted later is canceled. `why` is told whether it came back. Its reason is the
    /// outcome, also for the goal's callbacks, unless the answer arrived at the last moment.
    pub(super) fn give_up(
        self: &Arc<Self>,
        goal: &Arc<ClientGoal<A>>,
        why: impl FnOnce(bool) -> SendGoalFailure,
    ) -> Result<(), SendGoalError<A::Goal>> {
        let request = goal.state.lock().request.take();
        let unsent = request.and_then(|request| A::withdraw(&self.send, request)).map(Box::new);
        let failure = why(unsent.is_some());
        let is_first = self.change(goal, |state| {
            let is_first = state.progress.handle_response(Err(failure.clone()));
            if is_first && unsent.is_none() {
                state.given_up = Some(GivenUp::of(self));
            }
            is_first
        });
        let answer = if is_first { None } else { goal.accepted(&self.name) };
        let action = self.name.clone();
        answer.unwrap_or_else(|| Err(SendGoalError { action, failure, goal: unsent }))
    }

    pub(super) fn cancel(&self, which: Cancel) -> PendingCancel {
        cancel::send(&self.cancel, &self.name, which)
    }

    pub(super) fn cancel_then_immediately(
        &self,
        which: Cancel,
        callback: impl FnOnce(CancelResult) + Send + 'static,
    ) {
        cancel::send_then(&self.cancel, &self.name, which, callback);
    }

    pub(super) fn cancel_then(
        self: &Arc<Self>,
        which: Cancel,
        callback: impl FnOnce(CancelResult) -> CallbackResult + Send + 'static,
    ) {
        let core = Arc::downgrade(self);
        cancel::send_then(&self.cancel, &self.name, which, move |result| {
            let core = core.upgrade();
            if let Some(poster) = core.as_ref().and_then(|core| core.poster.get()) {
                // The context may be shut down: no callback runs any more.
                drop(poster(Work::Canceled(Box::new(move || callback(result)))));
            }
        });
    }

    fn answered(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>, answer: GoalAnswer<A>) {
        let response = match answer {
            Ok(accepted) => accepted.ok_or(SendGoalFailure::Rejected),
            Err((failure, unsent)) => {
                goal.state.lock().unsent = unsent.map(Box::new);
                Err(SendGoalFailure::Call(failure))
            }
        };
        let is_accepted = response.is_ok();
        let is_wanted = self.change(goal, |state| state.progress.handle_response(response));
        if is_accepted && is_wanted {
            self.ask_for_result(goal);
        }
    }

    fn ask_for_result(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>) {
        let (core, known) = (Arc::downgrade(self), goal.clone());
        let listener = move |result| {
            if let Some(core) = core.upgrade() {
                core.ended(&known, result);
            }
        };
        if let Err(failure) = A::request_result(&self.result, &self.types, goal.id, listener) {
            self.end(goal, Err(ResultError::of(goal.id, failure)));
        } else if !self.send().is_server_ready() && !self.result().is_server_ready() {
            // The server has gone since it answered. Requests that it had taken have failed, but
            // this one may have found no server and would wait for another one.
            self.end(goal, Err(ResultError::ServerGone { goal: goal.id }));
        }
    }

    // ---- receiving ----

    fn ended(
        self: &Arc<Self>,
        goal: &Arc<ClientGoal<A>>,
        result: Result<(i8, A::SharedResult), CallFailure>,
    ) {
        let result = match result {
            Err(failure) => Err(ResultError::of(goal.id, failure)),
            Ok((status, result)) => match GoalStatus::of_wire(status) {
                status if status.is_terminal() => Ok((status, result)),
                _ => Err(ResultError::UnknownGoal { goal: goal.id }),
            },
        };
        self.take_in(Some(End { goal: goal.clone(), result }));
    }

    /// Hands arrived feedback and statuses to their goals, and then ends a goal. If another thread
    /// is already doing this, that thread takes over the work.
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
                // A take misses messages that another thread is reading at the moment.
                self.feedback().bring_in(READING);
                self.take_feedback();
            }
            while let Some(End { goal, result }) = running.ends.pop_front() {
                self.end(&goal, result);
            }
        }
    }

    fn end(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>, result: GoalEnd<A>) {
        let lost = self.lost_on_the_way() - goal.lost_before;
        self.change(goal, |state| state.progress.handle_result(result, lost));
    }

    /// Returns the number of the action's feedback messages, of any goal, that were lost before
    /// this client took them in: overwritten, lost on the network, or dropped because there was no
    /// room.
    fn lost_on_the_way(&self) -> u64 {
        let statistics = self.feedback().statistics();
        statistics.overwritten + statistics.missed
    }

    /// Returns the number of the goal's feedback messages that its program missed, as far as is
    /// known.
    pub(super) fn missed_feedback(&self, goal: &ClientGoal<A>) -> u64 {
        let lost = self.lost_on_the_way();
        goal.state.lock().progress.missed(|| lost - goal.lost_before)
    }

    /// Takes feedback messages from the topic and hands them to their goals; messages for other
    /// clients' goals are skipped. Only for the thread that runs the intake.
    fn take_feedback(self: &Arc<Self>) {
        for _ in 0..MOST_AT_ONCE.max(self.depth.saturating_mul(2)) {
            let Some(message) = A::take(&self.feedback) else { return };
            let goal = self.state.lock().goals.get(&A::goal_of(&self.types, &message)).cloned();
            if let Some(goal) = goal {
                let displaced = self.change(&goal, |state| state.progress.handle_feedback(message));
                drop(displaced); // runs the program's code: outside the lock
            }
        }
        self.state.lock().intake.is_wanted = true; // a goal that ends needn't wait for all of these
    }

    /// Takes status arrays from the topic. Several threads may do so: a goal's state only ever
    /// moves forward.
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

    /// Applies a change to a goal, and wakes the tasks and the callbacks that wait for it.
    fn change<R>(
        self: &Arc<Self>,
        goal: &Arc<ClientGoal<A>>,
        change: impl FnOnce(&mut GoalState<A>) -> R,
    ) -> R {
        let (changed, wakers, posts, is_over) = {
            let mut state = goal.state.lock();
            let changed = change(&mut state);
            let has_news = goal.has_callbacks && state.progress.has_news(goal.has_feedback_callback);
            let posts = has_news && !state.is_ready;
            state.is_ready |= has_news;
            (changed, state.progress.wakers.take(), posts, state.progress.is_over())
        };
        if is_over {
            self.forget(goal.id);
        }
        if posts {
            self.post(goal);
        }
        no_lock_is_held();
        wakers.into_iter().for_each(Waker::wake);
        changed
    }

    /// Forgets a goal that expects nothing more.
    pub(super) fn forget(&self, id: GoalId) {
        let goal = self.state.lock().goals.remove(&id);
        drop(goal); // runs the program's code: outside the lock
    }

    /// Records that the program has dropped its last handle of the goal.
    pub(super) fn release(&self, goal: &ClientGoal<A>) {
        if !goal.has_callbacks {
            self.forget(goal.id);
        }
    }

    // ---- callbacks, in the group ----

    fn post(&self, goal: &Arc<ClientGoal<A>>) {
        if let Some(poster) = self.poster.get() {
            // The context may be shut down: no callback runs any more.
            drop(poster(Work::Goal(goal.clone())));
        }
    }

    pub(super) fn run(self: &Arc<Self>, work: Work<A>) -> CallbackResult {
        match work {
            Work::Goal(goal) => self.run_callback(&goal),
            Work::Canceled(callback) => callback(),
        }
    }

    /// Runs one callback of the goal. If it has more news, it is posted again.
    fn run_callback(self: &Arc<Self>, goal: &Arc<ClientGoal<A>>) -> CallbackResult {
        let (news, callbacks) = {
            let mut state = goal.state.lock();
            let news = state.progress.poll_news(goal.has_feedback_callback);
            (news, state.callbacks.take())
        };
        let mut running = Running { core: self, goal, callbacks };
        running.tell(news)
    }
}

/// The current thread runs the intake until this is dropped, even if the program's code panics.
struct RunningIntake<'a, A: ClientKind> {
    core: &'a ClientCore<A>,
    /// Ended goals that have not got their results yet.
    ends: VecDeque<End<A>>,
    is_over: bool,
}

impl<A: ClientKind> RunningIntake<'_, A> {
    /// Collects the goals that have ended meanwhile. Returns `false` if nothing has come since the
    /// last look.
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

impl<A: ClientKind> Drop for RunningIntake<'_, A> {
    fn drop(&mut self) {
        if !self.is_over {
            // A waker of the program panicked: the next thread handles the remaining ends.
            let Intake { is_running, is_wanted, ends } = &mut self.core.state.lock().intake;
            self.ends.append(ends);
            std::mem::swap(ends, &mut self.ends);
            (*is_running, *is_wanted) = (false, true);
        }
    }
}

/// A callback of a goal that is being run. Dropping it, also during a panic, gives the callbacks
/// back; if there is more news, the goal is posted again.
struct Running<'a, A: ClientKind> {
    core: &'a Arc<ClientCore<A>>,
    goal: &'a Arc<ClientGoal<A>>,
    callbacks: Option<Callbacks<A>>,
}

impl<A: ClientKind> Running<'_, A> {
    fn tell(&mut self, news: Option<News<A::SharedFeedback>>) -> CallbackResult {
        let Some(callbacks) = self.callbacks.as_mut() else { return Ok(()) };
        match news {
            None => Ok(()),
            Some(News::Response) => match (callbacks.response.take(), self.goal.accepted(&self.core.name)) {
                (Some(callback), Some(accepted)) => callback(self.core, self.goal, accepted),
                _ => Ok(()),
            },
            Some(News::Feedback(message)) => match &mut callbacks.feedback {
                Some(callback) => callback(&message),
                None => Ok(()),
            },
            Some(News::Result) => match (callbacks.result.take(), self.goal.result()) {
                (Some(callback), Some(result)) => callback(result),
                _ => Ok(()),
            },
        }
    }
}

impl<A: ClientKind> Drop for Running<'_, A> {
    fn drop(&mut self) {
        let Self { core, goal, callbacks } = self;
        let again = {
            let mut state = goal.state.lock();
            if !state.progress.is_told() {
                state.callbacks = callbacks.take();
            } // else they are dropped with this: they may hold handles of the goal
            state.is_ready = state.progress.has_news(goal.has_feedback_callback);
            state.is_ready
        };
        if again {
            core.post(goal);
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

/// Returns the goal's acceptance time, by its server's clock.
pub(super) fn stamp_of<A: ClientKind>(goal: &ClientGoal<A>) -> Time {
    match &goal.state.lock().progress.response {
        Some(Ok(stamp)) => *stamp,
        _ => Time::default(),
    }
}
