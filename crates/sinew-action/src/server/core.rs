//! The server: the goal table, and the consequences of its changes.
//!
//! Listeners handle requests on the thread that sends them (for other processes, on the receiving
//! thread). So goals are accepted and cancelled, and results delivered, even while the group's
//! callbacks are busy, for instance with a goal that takes hours. A goal that begins is posted to
//! the group.
//!
//! No code of the program runs while `state` is locked: the consequences of a change are collected
//! in [`Effects`] and carried out afterwards. So a goal may be ended in any callback, also in one
//! that handles a message which this server is just publishing.

use super::admission::{Admission, Admitted};
use super::cancel_signal::{CancelReason, CancelSignal};
use super::goal::{AcceptedGoal, BeginningGoal, GoalHold, GoalOwner, OnDrop};
use super::kind::ServerKind;
use super::options::{Decision, Deferred, Options};
use super::status_thread::{FEW, StatusThread};
use super::table::{CancelCode, GoalTable, Keeps, ResultRequest};
use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::posting::{CallbackResult, Poster};
use crate::status::{GoalEvent, GoalStatus};
use sinew::__private::locks::{Mutex, MutexGuard, no_lock_is_held};
use sinew::time::Time;
use sinew::{Publisher, Responder, Timer, Unique};
use sinew_interfaces::action_msgs::msg;
use sinew_interfaces::action_msgs::srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock, Weak};

/// State shared by a server's handle, its listeners and its goals.
pub(super) struct ServerCore<A: ServerKind> {
    pub(super) name: String,
    pub(super) options: Options<A>,
    clock: Box<dyn Fn() -> Time + Send + Sync>,
    state: Mutex<ServerState<A>>,
    /// Forgets results. There is no timer if results are kept without a time limit or not at all;
    /// it is cancelled while there are no results.
    pub(super) timer: OnceLock<Timer>,
}

struct ServerState<A: ServerKind> {
    table: GoalTable<Arc<CancelSignal>, A::ResultResponder, A::SharedResult>,
    admission: Admission<A::Goal>,
    /// Posts a goal to the group. `None` before the server is open, and once it is closed.
    poster: Option<Poster<BeginningGoal<A>>>,
    /// Posts a request on which the program decides in the group. `None` as for `poster`.
    decider: Option<Poster<Requested<A>>>,
    /// `None` once the server is closed.
    topics: Option<Topics<A>>,
    /// The last published status array is older than the last change.
    is_stale: bool,
    /// A thread is publishing status arrays, and continues until none is stale: arrays leave in
    /// order, and no lock is held meanwhile.
    is_publishing: bool,
    /// The thread that publishes arrays while there are many goals; started when their number first
    /// becomes large.
    status_thread: Option<StatusThread>,
}

pub(super) struct Topics<A: ServerKind> {
    pub(super) feedback: A::FeedbackPublisher,
    pub(super) status: Publisher<msg::GoalStatusArray>,
}

/// A request on which the program decides.
pub(super) enum Requested<A: ServerKind> {
    Goal(GoalId, A::Goal, A::GoalResponder),
    Cancel(CancelGoalRequest, Responder<CancelGoal>),
    /// A cancel request that is answered once the program has got these goals.
    CancelRest(Cancelling),
}

/// A cancel request that the program is deciding on.
pub(super) struct Cancelling {
    /// The goals that it has not decided on.
    goals: Vec<(GoalId, Time)>,
    /// The goals that end early.
    canceled: Vec<msg::GoalInfo>,
    responder: Responder<CancelGoal>,
}

impl<A: ServerKind> Requested<A> {
    /// Returns the id under which threads that wait for the answer find the work.
    pub(super) fn id(&self) -> GoalId {
        match self {
            Self::Goal(id, ..) => *id,
            Self::Cancel(..) | Self::CancelRest(_) => GoalId::NONE,
        }
    }
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

/// Goals that begin; seldom more than one at a time.
type Begins<A> = SmallVec<[(GoalId, <A as Kind>::Goal, Arc<CancelSignal>); 1]>;

/// The consequences of a change of the table, carried out once no lock is held.
struct Effects<A: ServerKind> {
    /// The time of the change, by the server's clock.
    now: Time,
    answers: Vec<(A::ResultResponder, GoalStatus, A::SharedResult)>,
    signals: Vec<(Arc<CancelSignal>, CancelReason)>,
    /// Results that are no longer kept.
    forgotten: Vec<A::SharedResult>,
    /// Goals that will never begin; see [`end_displaced`](ServerCore::end_displaced).
    displaced: Vec<(GoalId, A::Goal)>,
    begins: Begins<A>,
    /// The first result is kept: the timer starts.
    begins_to_keep: bool,
}

impl<A: ServerKind> Effects<A> {
    fn at(now: Time) -> Self {
        Self {
            now,
            answers: Vec::new(),
            signals: Vec::new(),
            forgotten: Vec::new(),
            displaced: Vec::new(),
            begins: SmallVec::new(),
            begins_to_keep: false,
        }
    }
}

/// A result, and its size among the kept results.
struct KeptResult<A: ServerKind> {
    result: A::SharedResult,
    bytes: usize,
}

impl<A: ServerKind> KeptResult<A> {
    /// Computes the size: that of the encoded form, but at least that of the value itself.
    fn new(result: A::SharedResult) -> Self {
        Self { bytes: A::result_bytes(&result), result }
    }
}

impl<A: ServerKind> ServerState<A> {
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
        self.table.handle_listed();
        Some(StaleArray { array, publisher })
    }

    fn begin(&mut self, id: GoalId, goal: A::Goal, effects: &mut Effects<A>) {
        if let Some(signal) = self.table.handle_event(id, GoalEvent::Execute) {
            effects.begins.push((id, goal, signal.clone()));
        }
    }

    /// Asks a goal to end early. Returns `false` if it can't be.
    fn cancel(&mut self, id: GoalId, reason: CancelReason, effects: &mut Effects<A>) -> bool {
        let Some(signal) = self.table.handle_event(id, GoalEvent::Cancel) else { return false };
        signal.mark(reason);
        effects.signals.push((signal.clone(), reason));
        true
    }

    fn end(&mut self, id: GoalId, event: GoalEvent, result: KeptResult<A>, effects: &mut Effects<A>) {
        if event == GoalEvent::Canceled {
            self.table.handle_event(id, GoalEvent::Cancel); // no effect if already canceling
        }
        let kept = self.table.poll_timeout().is_some();
        let KeptResult { result, bytes } = result;
        if let Some((status, waiting)) =
            self.table.handle_end(effects.now, id, event, (result.clone(), bytes))
        {
            let answers = waiting.into_iter().map(|responder| (responder, status, result.clone()));
            effects.answers.extend(answers);
        }
        effects.forgotten.append(&mut self.table.take_forgotten());
        effects.forgotten.push(result); // with nothing kept, the result itself
        effects.begins_to_keep |= !kept && self.table.poll_timeout().is_some();
        if let Some((next, goal)) = self.admission.ended(id) {
            self.begin(next, goal, effects);
        }
    }
}

impl<A: ServerKind> ServerCore<A> {
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
            poster: None,
            decider: None,
            topics: Some(topics),
            is_stale: false,
            is_publishing: false,
            status_thread: None,
        };
        let timer = OnceLock::new();
        Arc::new(Self { name, options, clock: Box::new(clock), state: Mutex::new(state), timer })
    }

    fn now(&self) -> Time {
        (self.clock)()
    }

    pub(super) fn goals(&self) -> Vec<(GoalId, Time, GoalStatus)> {
        self.state.lock().table.goals().collect()
    }

    /// From now on, goals that begin are posted, and requests on which the group decides.
    pub(super) fn open(&self, poster: Poster<BeginningGoal<A>>, decider: Poster<Requested<A>>) {
        let mut state = self.state.lock();
        (state.poster, state.decider) = (Some(poster), Some(decider));
    }

    fn carry_out(self: &Arc<Self>, effects: Effects<A>) {
        self.publish_status();
        for (responder, status, result) in effects.answers {
            A::answer_result(responder, status, result);
        }
        for_each_of_all(effects.signals, |(signal, reason)| signal.raise(reason));
        if effects.begins_to_keep
            && let Some(timer) = self.timer.get()
        {
            timer.reset();
        }
        if !effects.begins.is_empty() {
            self.post(effects.begins);
        }
    }

    /// Posts goals to the group.
    fn post(self: &Arc<Self>, goals: Begins<A>) {
        let poster = self.state.lock().poster.clone();
        let Some(poster) = poster else { return }; // the server is closed
        for (id, goal, signal) in goals {
            let owner: Weak<Self> = Arc::downgrade(self);
            // The context may be shut down: no goal runs any more.
            drop(poster(BeginningGoal::new(owner, id, goal, signal)));
        }
    }

    /// Publishes the states of all goals: at once on this thread if they are few, unless another
    /// thread is publishing, which then publishes once more.
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
        if state.table.listed() <= FEW || state.topics.is_none() {
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

    /// Ends the displaced goals, with empty results. The program's code makes the results and drops
    /// the goals, so the caller holds no lock.
    fn end_displaced(&self, effects: &mut Effects<A>) {
        let displaced = std::mem::take(&mut effects.displaced);
        for (id, _) in &displaced {
            let empty = KeptResult::new(A::empty_result(&self.options.types, GoalStatus::Canceled));
            self.state.lock().end(*id, GoalEvent::Canceled, empty, effects);
        }
        effects.displaced = displaced;
    }

    // ---- requests ----

    /// Handles a request, or posts it.
    pub(super) fn requested(self: &Arc<Self>, requested: Requested<A>) -> CallbackResult {
        if !self.options.decides_in_group {
            return self.decide(requested);
        }
        self.decide_later(requested);
        Ok(())
    }

    /// Posts a request to the group.
    fn decide_later(&self, requested: Requested<A>) {
        let decider = self.state.lock().decider.clone();
        let Some(post) = decider else { return }; // closed: dropping the responder reports it
        // The context may be shut down: dropping the responder reports it.
        drop(post(requested));
    }

    /// Handles a request, which may run the program's code.
    pub(super) fn decide(self: &Arc<Self>, requested: Requested<A>) -> CallbackResult {
        match requested {
            Requested::Goal(id, goal, responder) => self.goal_requested(id, goal, responder),
            Requested::Cancel(request, responder) => self.cancel_requested(&request, responder),
            Requested::CancelRest(rest) => self.decide_cancel(rest),
        }
    }

    fn goal_requested(
        self: &Arc<Self>,
        id: GoalId,
        goal: A::Goal,
        responder: A::GoalResponder,
    ) -> CallbackResult {
        let is_open = {
            let state = self.state.lock();
            state.has_room(&self.options) && !state.table.knows(id)
        };
        no_lock_is_held();
        let decision = if is_open { (self.options.decide)(id, &goal) } else { Ok(Decision::Reject) };
        let (decision, failed) = match decision {
            Ok(decision) => (decision, Ok(())),
            Err(error) => (Decision::Reject, Err(error)),
        };
        let mut effects = Effects::at(self.now());
        let Some(deferred) = self.accept((id, goal), decision, &mut effects) else {
            A::answer_goal(responder, None);
            return failed;
        };
        A::answer_goal(responder, Some(effects.now));
        self.carry_out(effects);
        deferred.map_or(Ok(()), |(goal, then)| then(goal))
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
                effects.displaced.extend(displaces);
            }
        }
        drop(state);
        self.end_displaced(effects);
        Some(None)
    }

    fn cancel_requested(
        self: &Arc<Self>,
        request: &CancelGoalRequest,
        responder: Responder<CancelGoal>,
    ) -> CallbackResult {
        let (id, stamp) = (GoalId::of(&request.goal_info), request.goal_info.stamp.into());
        let candidates = {
            let state = self.state.lock();
            let found = state.table.handle_cancel(id, stamp);
            found.map(|goals| goals.into_iter().map(|(id, stamp, _)| (id, stamp)).collect::<Vec<_>>())
        };
        match candidates {
            Ok(goals) if !goals.is_empty() => {
                self.decide_cancel(Cancelling { goals, canceled: Vec::new(), responder })
            }
            candidates => {
                let code = candidates.err().unwrap_or(CancelCode::None);
                respond_to_cancel(responder, code, Vec::new());
                Ok(())
            }
        }
    }

    /// Asks the program which of the goals may end early. Those that it hasn't got are asked for
    /// again after the work that waits in the group: the callback that gets them is part of it.
    fn decide_cancel(self: &Arc<Self>, cancelling: Cancelling) -> CallbackResult {
        let Cancelling { goals, mut canceled, responder } = cancelling;
        let (mut wanted, mut unknown) = (Vec::new(), Vec::new());
        let mut outcome = Ok(());
        for goal in goals {
            match (self.options.may_cancel)(goal.0) {
                Ok(Some(true)) => wanted.push(goal),
                Ok(Some(false)) => (),
                Ok(None) => unknown.push(goal),
                Err(error) => outcome = Err(error),
            }
        }
        {
            // One that has ended meanwhile is asked for no more; one that waits for its turn under
            // the server's policy is the server's alone.
            let state = self.state.lock();
            unknown.retain(|(id, _)| state.table.status(*id).is_cancelable());
            wanted.extend(unknown.extract_if(.., |(id, _)| state.admission.is_waiting(*id)));
        }
        canceled.extend(self.cancel_all(&wanted));
        if unknown.is_empty() {
            let code = if canceled.is_empty() { CancelCode::Rejected } else { CancelCode::None };
            respond_to_cancel(responder, code, canceled);
        } else {
            self.decide_later(Requested::CancelRest(Cancelling { goals: unknown, canceled, responder }));
        }
        outcome
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
                let waiting = state.admission.withdraw(*id);
                effects.displaced.extend(waiting.map(|goal| (*id, goal)));
            }
        }
        self.end_displaced(&mut effects);
        if !canceled.is_empty() {
            self.carry_out(effects);
        }
        canceled
    }

    pub(super) fn result_requested(self: &Arc<Self>, id: GoalId, responder: A::ResultResponder) {
        let now = self.now();
        let (forgotten, results, asked) = {
            let mut state = self.state.lock();
            if state.topics.is_none() {
                return; // dropping the responder reports it
            }
            let ServerState { table, .. } = &mut *state;
            let forgotten = table.handle_timeout(now);
            (forgotten, table.take_forgotten(), table.handle_result_request(id, responder))
        };
        drop(results);
        if forgotten {
            self.publish_status();
        }
        let (responder, status, result) = match asked {
            ResultRequest::Kept => return,
            ResultRequest::Answer(responder, status, result) => (responder, status, result),
            ResultRequest::Unknown(responder) => {
                let unknown = GoalStatus::Unknown;
                (responder, unknown, A::empty_result(&self.options.types, unknown))
            }
        };
        A::answer_result(responder, status, result);
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
            // A goal that ended meanwhile may have started it before that.
            let has_results = self.state.lock().table.poll_timeout().is_some();
            if has_results {
                timer.reset();
            }
        }
        if forgotten {
            self.publish_status();
        }
    }

    /// Asks all goals to end, because their clients get nothing from them any more.
    pub(super) fn notify_goals(&self) {
        let signals: Vec<_> = self.state.lock().table.actives().cloned().collect();
        for_each_of_all(signals, |signal| signal.raise(CancelReason::ServerGone));
    }

    /// Closes the server: its goals are notified, and the clients that wait for results get an
    /// error.
    pub(super) fn close(&self) {
        let (topics, waiting, rest) = {
            let mut state = self.state.lock();
            let rest = (state.poster.take(), state.decider.take(), state.admission.clear());
            let topics = (state.topics.take(), state.status_thread.take());
            (topics, state.table.take_waiting(), rest)
        };
        drop((topics, waiting)); // pending requests fail
        self.notify_goals(); // none is accepted any more
        drop(rest); // with the queue, which drops the goals that haven't begun, and all futures
    }
}

impl<A: ServerKind> GoalOwner<A> for ServerCore<A> {
    fn name(&self) -> &str {
        &self.name
    }

    fn types(&self) -> &A::Types {
        &self.options.types
    }

    fn on_drop(&self) -> OnDrop {
        self.options.on_drop
    }

    fn status(&self, id: GoalId) -> GoalStatus {
        self.state.lock().table.status(id)
    }

    fn execute(self: Arc<Self>, id: GoalId) {
        // A goal that is canceling stays so.
        let begins = self.state.lock().table.handle_event(id, GoalEvent::Execute).is_some();
        if begins {
            self.publish_status();
        }
    }

    fn end(
        self: Arc<Self>,
        id: GoalId,
        event: GoalEvent,
        result: A::SharedResult,
    ) -> Result<(), A::SharedResult> {
        let mut effects = Effects::at(self.now());
        let result = KeptResult::new(result);
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

    fn end_empty(self: Arc<Self>, id: GoalId, event: GoalEvent) {
        let result = A::empty_result(&self.options.types, event.end());
        drop(self.end(id, event, result)); // a server that is gone has already notified the clients
    }

    fn feedback(&self) -> Option<A::FeedbackPublisher> {
        self.state.lock().topics.as_ref().map(|topics| topics.feedback.clone())
    }
}

/// Acts on all items, also after a panic in the program's code that one of them runs. Then resumes
/// the first panic.
fn for_each_of_all<T>(items: Vec<T>, mut act: impl FnMut(T)) {
    let mut panic = None;
    for item in items {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| act(item))) {
            panic.get_or_insert(payload);
        }
    }
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

fn respond_to_cancel(responder: Responder<CancelGoal>, code: CancelCode, canceled: Vec<msg::GoalInfo>) {
    let response = CancelGoalResponse { return_code: code as i8, goals_canceling: canceled };
    drop(responder.respond(response)); // the client may be gone: nothing to do
}

fn goal_info(id: GoalId, stamp: Time) -> msg::GoalInfo {
    msg::GoalInfo { goal_id: id.to_msg(), stamp: stamp.to_msg() }
}
