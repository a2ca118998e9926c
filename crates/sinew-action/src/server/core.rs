//! The server: the goal table, and the consequences of its changes.
//!
//! Listeners handle requests on the thread that sends them (for other processes, on the receiving
//! thread). So goals are accepted and cancelled, and results delivered, even while the group's
//! callbacks are busy, for instance with a goal that takes hours. The group's work (beginning a
//! goal, polling a goal's future) is put into `ready`, and the bell makes the executor run it.
//!
//! No code of the program runs while `state` is locked: the consequences of a change are collected
//! in [`Effects`] and carried out afterwards. So a goal may be ended in any callback, also in one
//! that handles a message which this server is just publishing.

use super::admission::{Admission, Admitted};
use super::builder::{Decision, Deferred, Options};
use super::cancel_signal::{CancelReason, CancelSignal};
use super::goal::{AcceptedGoal, ExecutingGoal, GoalHold};
use super::status_thread::{FEW, StatusThread};
use super::table::{CancelCode, GoalTable, Keeps, ResultRequest};
use super::task::GoalTask;
use crate::goal_id::GoalId;
use crate::status::{GoalEvent, GoalStatus};
use crate::wire::{
    FeedbackMessage, GetResult, GetResultRequest, GetResultResponse, SendGoal, SendGoalRequest,
    SendGoalResponse,
};
use foldhash::HashMap;
use sinew::__private::locks::{Mutex, MutexGuard, no_lock_is_held};
use sinew::msg::{Action, Message};
use sinew::time::Time;
use sinew::{GuardCondition, Publisher, Responder, Shared, Timer, Unique};
use sinew_interfaces::action_msgs::msg;
use sinew_interfaces::action_msgs::srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// State shared by a server's handle, its listeners and its goals.
pub(super) struct ServerCore<A: Action> {
    pub(super) name: String,
    pub(super) options: Options<A>,
    clock: Box<dyn Fn() -> Time + Send + Sync>,
    state: Mutex<ServerState<A>>,
    /// Makes the group run the work in `ready`.
    pub(super) bell: OnceLock<GuardCondition>,
    /// Forgets results. There is no timer if results are kept for ever or not at all; it is
    /// cancelled while there are no results.
    pub(super) timer: OnceLock<Timer>,
}

struct ServerState<A: Action> {
    table: GoalTable<Arc<CancelSignal>, Responder<GetResult<A>>, Shared<A::Result>>,
    admission: Admission<A::Goal>,
    ready: VecDeque<Ready<A>>,
    tasks: HashMap<GoalId, Arc<GoalTask<A>>>,
    /// `None` once the server is closed.
    topics: Option<Topics<A>>,
    /// The last published status array is older than the last change.
    is_stale: bool,
    /// A thread is publishing status arrays, and goes on until none is stale: arrays leave in
    /// order, and no lock is held meanwhile.
    is_publishing: bool,
    /// The thread that publishes arrays while there are many goals; started when there first were.
    status_thread: Option<StatusThread>,
}

pub(super) struct Topics<A: Action> {
    pub(super) feedback: Publisher<FeedbackMessage<A>>,
    pub(super) status: Publisher<msg::GoalStatusArray>,
}

/// A status array that is published once no lock is held.
struct StaleArray {
    array: Unique<msg::GoalStatusArray>,
    publisher: Publisher<msg::GoalStatusArray>,
}

impl StaleArray {
    fn publish(self) {
        // The context is shut down, or there is no room for now: the next change publishes
        // everything.
        drop(self.publisher.publish(self.array));
    }
}

/// Work for the group.
enum Ready<A: Action> {
    Begin(GoalId, A::Goal, Arc<CancelSignal>),
    Resume(Arc<GoalTask<A>>),
}

/// Work for the callback.
#[doc(hidden)]
pub enum Next<A: Action> {
    Begin(ExecutingGoal<A>),
    #[expect(private_interfaces, reason = "made and matched by this crate alone")]
    Resume(Arc<GoalTask<A>>),
}

/// The consequences of a change of the table, carried out once no lock is held.
struct Effects<A: Action> {
    /// The time of the change, by the server's clock.
    now: Time,
    answers: Vec<(Responder<GetResult<A>>, GetResultResponse<A>)>,
    signals: Vec<(Arc<CancelSignal>, CancelReason)>,
    /// Results that are no longer kept.
    forgotten: Vec<Shared<A::Result>>,
    rings: bool,
    /// The first result is kept: the timer starts.
    begins_to_keep: bool,
}

impl<A: Action> Effects<A> {
    fn at(now: Time) -> Self {
        let (answers, signals, forgotten) = (Vec::new(), Vec::new(), Vec::new());
        Self { now, answers, signals, forgotten, rings: false, begins_to_keep: false }
    }
}

/// A result, and its size among the kept results.
struct GoalResult<A: Action> {
    result: Shared<A::Result>,
    bytes: usize,
}

impl<A: Action> GoalResult<A> {
    /// Computes the size: that of the encoded form, but at least that of the value itself.
    fn new(result: Shared<A::Result>) -> Self {
        let encoded = <A::Result as Message>::ENCODING.map_or(0, |encoding| (encoding.size)(&result));
        Self { result, bytes: encoded.max(size_of::<A::Result>()) }
    }
}

impl<A: Action> ServerState<A> {
    fn has_room(&self, options: &Options<A>) -> bool {
        self.topics.is_some() && self.table.active() < options.max_goals && self.admission.has_room()
    }

    /// Returns the states of all goals if they have changed. Otherwise the thread that
    /// `is_publishing` is done.
    fn stale_array(&mut self) -> Option<StaleArray> {
        let topics = self.topics.as_ref().filter(|_| self.is_stale);
        self.is_stale = false;
        self.is_publishing = topics.is_some();
        let publisher = topics?.status.clone();
        let mut array = publisher.loan();
        array.status_list.clear();
        array.status_list.extend(self.table.statuses().map(|(id, stamp, status)| msg::GoalStatus {
            goal_info: goal_info(id, stamp),
            status: status.to_wire(),
        }));
        Some(StaleArray { array, publisher })
    }

    fn begin(&mut self, id: GoalId, goal: A::Goal, effects: &mut Effects<A>) {
        if let Some(signal) = self.table.handle_event(id, GoalEvent::Execute) {
            self.ready.push_back(Ready::Begin(id, goal, signal.clone()));
            effects.rings = true;
        }
    }

    /// Asks a goal to end early. Returns `false` if it can't be.
    fn cancel(&mut self, id: GoalId, reason: CancelReason, effects: &mut Effects<A>) -> bool {
        let Some(signal) = self.table.handle_event(id, GoalEvent::Cancel) else { return false };
        signal.mark(reason);
        effects.signals.push((signal.clone(), reason));
        true
    }

    fn end(&mut self, id: GoalId, event: GoalEvent, result: GoalResult<A>, effects: &mut Effects<A>) {
        if event == GoalEvent::Canceled {
            self.table.handle_event(id, GoalEvent::Cancel); // no effect if already canceling
        }
        let kept = self.table.poll_timeout().is_some();
        let GoalResult { result, bytes } = result;
        if let Some((status, waiting)) =
            self.table.handle_end(effects.now, id, event, (result.clone(), bytes))
        {
            let answer = || GetResultResponse { status: status.to_wire(), result: result.clone() };
            effects.answers.extend(waiting.into_iter().map(|responder| (responder, answer())));
        }
        effects.forgotten.append(&mut self.table.take_forgotten());
        effects.forgotten.push(result); // with nothing kept, the result itself
        effects.begins_to_keep |= !kept && self.table.poll_timeout().is_some();
        if let Some((next, goal)) = self.admission.ended(id) {
            self.begin(next, goal, effects);
        }
    }

    /// Ends a waiting goal, which never begins.
    fn end_waiting(&mut self, id: GoalId, effects: &mut Effects<A>) {
        self.end(id, GoalEvent::Canceled, GoalResult::new(Shared::new(A::Result::default())), effects);
    }
}

impl<A: Action> ServerCore<A> {
    pub(super) fn new(
        name: String,
        options: Options<A>,
        topics: Topics<A>,
        clock: impl Fn() -> Time + Send + Sync + 'static,
    ) -> Arc<Self> {
        let state = ServerState {
            table: GoalTable::new(Keeps {
                timeout: options.result_timeout,
                most: options.max_results,
                most_bytes: options.max_result_bytes,
            }),
            admission: Admission::new(options.policy),
            ready: VecDeque::new(),
            tasks: HashMap::default(),
            topics: Some(topics),
            is_stale: false,
            is_publishing: false,
            status_thread: None,
        };
        let (bell, timer) = (OnceLock::new(), OnceLock::new());
        Arc::new(Self { name, options, clock: Box::new(clock), state: Mutex::new(state), bell, timer })
    }

    fn now(&self) -> Time {
        (self.clock)()
    }

    fn ring(&self) {
        if let Some(bell) = self.bell.get() {
            bell.trigger();
        }
    }

    fn carry_out(self: &Arc<Self>, effects: Effects<A>) {
        self.publish_status();
        for (responder, answer) in effects.answers {
            drop(responder.respond(answer)); // the client may be gone: nothing to do
        }
        for (signal, reason) in effects.signals {
            signal.raise(reason);
        }
        if effects.begins_to_keep
            && let Some(timer) = self.timer.get()
        {
            timer.reset();
        }
        if effects.rings {
            self.ring();
        }
    }

    /// Has the states of all goals published: here and now if they are few, unless another thread
    /// is publishing, which then does so once more.
    pub(super) fn publish_status(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.is_stale = true;
        if std::mem::replace(&mut state.is_publishing, true) {
            return;
        }
        while !self.leaves_to_thread(&mut state)
            && let Some(stale) = state.stale_array()
        {
            MutexGuard::unlocked(&mut state, || stale.publish());
        }
    }

    /// Returns `true` if there are many goals: the status thread is woken, and publishes from now
    /// on.
    fn leaves_to_thread(self: &Arc<Self>, state: &mut ServerState<A>) -> bool {
        if state.table.known() <= FEW || state.topics.is_none() {
            return false;
        }
        if state.status_thread.is_none() {
            let core = Arc::downgrade(self);
            let publish = move || {
                let stale = core.upgrade().and_then(|core| core.state.lock().stale_array());
                stale.map(StaleArray::publish).is_some()
            };
            state.status_thread = StatusThread::start(publish).ok(); // on failure, arrays leave from here
        }
        state.status_thread.as_ref().inspect(|thread| thread.wake()).is_some()
    }

    // ---- requests ----

    pub(super) fn goal_requested(
        self: &Arc<Self>,
        request: SendGoalRequest<A>,
        responder: Responder<SendGoal<A>>,
    ) {
        let SendGoalRequest { goal_id: id, goal } = request;
        let is_open = {
            let state = self.state.lock();
            state.has_room(&self.options) && !state.table.knows(id)
        };
        no_lock_is_held();
        let decision = if is_open { (self.options.decide)(id, &goal) } else { Decision::Reject };
        let answer = |accepted, stamp| SendGoalResponse { accepted, stamp, of: PhantomData };
        let mut effects = Effects::at(self.now());
        let Some(deferred) = self.accept((id, goal), decision, &mut effects) else {
            drop(responder.respond(answer(false, Time::default()))); // as below
            return;
        };
        drop(responder.respond(answer(true, effects.now))); // the client may be gone: nothing to do
        self.carry_out(effects);
        if let Some((goal, then)) = deferred {
            then(goal);
        }
    }

    /// Takes a goal in. Returns `None` if it is rejected. A deferred goal is returned with the
    /// closure that receives it.
    fn accept(
        self: &Arc<Self>,
        (id, goal): (GoalId, A::Goal),
        decision: Decision<A>,
        effects: &mut Effects<A>,
    ) -> Option<Option<(AcceptedGoal<A>, Deferred<A>)>> {
        if matches!(decision, Decision::Reject) {
            return None;
        }
        let signal = Arc::new(CancelSignal::default());
        let mut state = self.state.lock();
        // Another thread may have come first while the program decided.
        if !state.has_room(&self.options) || !state.table.handle_goal(effects.now, id, signal.clone()) {
            return None;
        }
        if let Decision::Defer(then) = decision {
            let hold = GoalHold::new(self.clone(), id, signal, false);
            return Some(Some((AcceptedGoal::new(hold, goal), then)));
        }
        match state.admission.admit(id, goal) {
            Admitted::Begins(goal) => state.begin(id, goal, effects),
            Admitted::Waits { preempts, displaces } => {
                if let Some(executing) = preempts {
                    state.cancel(executing, CancelReason::Preempted, effects);
                }
                if let Some(waiting) = displaces {
                    state.end_waiting(waiting, effects);
                }
            }
        }
        Some(None)
    }

    pub(super) fn cancel_requested(
        self: &Arc<Self>,
        request: &CancelGoalRequest,
        responder: Responder<CancelGoal>,
    ) {
        let (id, stamp) = (GoalId::of(&request.goal_info), request.goal_info.stamp.into());
        let candidates = {
            let state = self.state.lock();
            let found = state.table.handle_cancel(id, stamp);
            found.map(|goals| goals.into_iter().map(|(id, stamp, _)| (id, stamp)).collect::<Vec<_>>())
        };
        let mut response = CancelGoalResponse::default();
        match candidates {
            Err(code) => response.return_code = code as i8,
            Ok(candidates) => {
                let any = !candidates.is_empty();
                let may_be = |(id, _): &(GoalId, Time)| (self.options.may_cancel)(*id);
                let wanted: Vec<_> = candidates.into_iter().filter(may_be).collect();
                let canceled = self.cancel_all(&wanted);
                let code = if any && canceled.is_empty() { CancelCode::Rejected } else { CancelCode::None };
                response.return_code = code as i8;
                response.goals_canceling = canceled;
            }
        }
        drop(responder.respond(response)); // the client may be gone: nothing to do
    }

    /// Asks goals to end early; goals for which this is no longer possible are left out.
    fn cancel_all(self: &Arc<Self>, goals: &[(GoalId, Time)]) -> Vec<msg::GoalInfo> {
        let mut effects = Effects::at(self.now());
        let mut canceled = Vec::new();
        {
            let mut state = self.state.lock();
            for (id, stamp) in goals {
                if !state.cancel(*id, CancelReason::Client, &mut effects) {
                    continue;
                }
                canceled.push(goal_info(*id, *stamp));
                if state.admission.withdraw(*id) {
                    state.end_waiting(*id, &mut effects);
                }
            }
        }
        if !canceled.is_empty() {
            self.carry_out(effects);
        }
        canceled
    }

    pub(super) fn result_requested(
        self: &Arc<Self>,
        request: &GetResultRequest<A>,
        responder: Responder<GetResult<A>>,
    ) {
        let now = self.now();
        let (forgotten, results, asked) = {
            let mut state = self.state.lock();
            if state.topics.is_none() {
                return; // dropping the responder reports it
            }
            let ServerState { table, .. } = &mut *state;
            let forgotten = table.handle_timeout(now);
            (forgotten, table.take_forgotten(), table.handle_result_request(request.goal_id, responder))
        };
        drop(results);
        if forgotten {
            self.publish_status();
        }
        let (responder, status, result) = match asked {
            ResultRequest::Kept => return,
            ResultRequest::Answer(responder, status, result) => (responder, status, result),
            ResultRequest::Unknown(responder) => {
                (responder, GoalStatus::Unknown, Shared::new(A::Result::default()))
            }
        };
        drop(responder.respond(GetResultResponse { status: status.to_wire(), result }));
    }

    /// Called by the timer: results have been kept long enough.
    pub(super) fn timed_out(self: &Arc<Self>) {
        let now = self.now();
        let (forgotten, results, is_empty) = {
            let ServerState { table, .. } = &mut *self.state.lock();
            (table.handle_timeout(now), table.take_forgotten(), table.poll_timeout().is_none())
        };
        drop(results);
        if is_empty && let Some(timer) = self.timer.get() {
            timer.cancel();
        }
        if forgotten {
            self.publish_status();
        }
    }

    // ---- goals ----

    /// Begins a deferred goal.
    pub(super) fn execute(self: &Arc<Self>, id: GoalId) {
        // A goal that is canceling stays so.
        let begins = self.state.lock().table.handle_event(id, GoalEvent::Execute).is_some();
        if begins {
            self.publish_status();
        }
    }

    pub(super) fn status(&self, id: GoalId) -> GoalStatus {
        self.state.lock().table.status(id)
    }

    /// Ends a goal. The result comes back if the server is gone.
    pub(super) fn end(
        self: &Arc<Self>,
        id: GoalId,
        event: GoalEvent,
        result: Shared<A::Result>,
    ) -> Result<(), Shared<A::Result>> {
        let mut effects = Effects::at(self.now());
        let result = GoalResult::new(result);
        {
            let mut state = self.state.lock();
            if state.topics.is_none() {
                return Err(result.result);
            }
            state.end(id, event, result, &mut effects);
        }
        self.carry_out(effects);
        Ok(())
    }

    /// Returns the publisher of feedback, while the server is open.
    pub(super) fn feedback(&self) -> Option<Publisher<FeedbackMessage<A>>> {
        self.state.lock().topics.as_ref().map(|topics| topics.feedback.clone())
    }

    // ---- the group's work ----

    /// Returns the next work for the group. If there is more, the executor comes again.
    pub(super) fn next(self: &Arc<Self>) -> Option<Next<A>> {
        let (next, more) = {
            let mut state = self.state.lock();
            (state.ready.pop_front()?, !state.ready.is_empty())
        };
        if more {
            self.ring();
        }
        Some(match next {
            Ready::Begin(id, goal, signal) => {
                Next::Begin(ExecutingGoal::new(GoalHold::new(self.clone(), id, signal, true), goal))
            }
            Ready::Resume(task) => Next::Resume(task),
        })
    }

    /// Returns `true` if a goal waits for the group, to begin or to go on.
    pub(super) fn waits_for_group(&self, id: GoalId) -> bool {
        let is_it = |ready: &Ready<A>| match ready {
            Ready::Begin(other, ..) => *other == id,
            Ready::Resume(task) => task.id() == id,
        };
        self.state.lock().ready.iter().any(is_it)
    }

    /// Puts a goal's future into `ready`: it can go on.
    pub(super) fn resume(&self, task: Arc<GoalTask<A>>) {
        self.state.lock().ready.push_back(Ready::Resume(task));
        self.ring();
    }

    /// Keeps a goal's future until it is finished or the server closes.
    pub(super) fn keep(&self, id: GoalId, task: Arc<GoalTask<A>>) {
        let mut state = self.state.lock();
        if state.topics.is_some() {
            state.tasks.insert(id, task);
        }
    }

    /// Drops a goal's future, which is finished.
    pub(super) fn forget(&self, id: GoalId) {
        let task = self.state.lock().tasks.remove(&id);
        drop(task); // outside the lock
    }

    /// Closes the server: its goals are notified, and the clients that wait for results get an
    /// error.
    pub(super) fn close(&self) {
        let (topics, waiting, signals, rest) = {
            let mut state = self.state.lock();
            let signals: Vec<_> = state.table.actives().cloned().collect();
            let rest =
                (std::mem::take(&mut state.ready), std::mem::take(&mut state.tasks), state.admission.clear());
            let topics = (state.topics.take(), state.status_thread.take());
            (topics, state.table.take_waiting(), signals, rest)
        };
        drop((topics, waiting)); // pending requests fail
        for signal in signals {
            signal.raise(CancelReason::ServerGone);
        }
        for task in rest.1.values() {
            task.discard();
        }
        drop(rest);
    }
}

fn goal_info(id: GoalId, stamp: Time) -> msg::GoalInfo {
    msg::GoalInfo { goal_id: id.to_msg(), stamp: stamp.to_msg() }
}
