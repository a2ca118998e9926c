//! Timers.

use super::background::Background;
use super::callback::EventCallback;
use super::node::NodeCore;
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group::{CallbackGroup, Group, GroupMember};
use crate::executor::group_core::{GroupCore, Membership};
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch::Part;
use crate::executor::task::{Run, Task, TaskBase, TaskOutcome};
use crate::executor::wait_set::{self, Waitable};
use crate::message::info::ChainScope;
use crate::ros::failure::CreateError;
use crate::ros::origin::Origin;
use crate::ros::timer_report::{TimerReport, TimerWord};
use crate::sys::clock::{Clock, ClockKind, Stamp, Time, TimerClock, nanoseconds};
use crate::sys::jump::{ClockChange, FollowsTime, TimeJump};
use crate::sys::sync::{Arc, HintI64, Mutex, Ordering, next_serial};
use sinew_shm::Callback;
use sinew_shm::transport::{Counters, OwnEndpoint};
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// An entity that runs a callback again and again, at fixed times: the `n`th due time is the first
/// plus `n` periods, however late the callbacks run.
///
/// Made by [`Node::timer`](crate::Node::timer), by the node's clock, or
/// [`Node::wall_timer`](crate::Node::wall_timer). It waits in its executor's own heap of deadlines:
/// no thread, no file descriptor. A timer that can't keep up skips periods and counts them
/// ([`TimerInfo::skipped`]); it doesn't burst. It exists until its last handle is dropped; after
/// that none of its callbacks starts. It may be dropped, cancelled or reset in its own callback,
/// and from any thread.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::builder().virtual_time(&sinew::time::VirtualClock::new()).build()?;
/// let node = context.node("blinker")?;
/// let mut left = 3;
/// let timer = node.timer(Duration::from_millis(100)).callback(move |info: &TimerInfo| {
///     left -= 1;
///     if left == 0 {
///         info.cancel();
///     }
/// })?;
/// let executor = Executor::single();
/// executor.add(&context)?;
/// assert_eq!(executor.advance(Duration::from_secs(1))?, 3);
/// assert!(timer.is_cancelled());
/// # Ok::<(), sinew::Error>(())
/// ```
///
/// Clones are the same timer: it ends when the last one is dropped, or any of them is
/// [closed](Self::close).
#[derive(Clone)]
#[must_use = "a timer ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _timer = ..`), make it with `.background()`, or `detach()` it"]
pub struct Timer {
    inner: Arc<TimerInner>,
}

/// The part that is dropped with the last handle.
struct TimerInner {
    schedule: Arc<Schedule>,
    group: Arc<GroupCore>,
    membership: Membership,
    node: Arc<NodeCore>,
}

impl Timer {
    /// Stops it, until [`reset`](Self::reset). An expiry that waits in the executor's queue is
    /// discarded.
    pub fn cancel(&self) {
        self.inner.schedule.cancel();
    }

    /// Starts it again: it is due one period from now. An expiry that waits in the executor's queue
    /// is discarded.
    pub fn reset(&self) {
        self.inner.schedule.reset();
    }

    /// Returns `true` if it is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.inner.schedule.state.lock().cancelled
    }

    /// Returns the time left until it is due: zero if it already is, `None` if it is cancelled. In
    /// the time of its own clock.
    pub fn time_until_next(&self) -> Option<Duration> {
        let state = self.inner.schedule.state.lock();
        let now = self.inner.schedule.clock.now(state.kind);
        (!state.cancelled).then(|| Time::from_nanoseconds(state.due) - Time::from_nanoseconds(now))
    }

    /// Returns the clock that it uses now. A timer that follows its node's clock, as all timers
    /// from [`Node::timer`](crate::Node::timer) do, changes its clock when simulated time begins or
    /// ends.
    pub fn clock(&self) -> ClockKind {
        self.inner.schedule.state.lock().kind
    }

    /// Returns the number of periods it has skipped because it couldn't keep up.
    pub fn skipped(&self) -> u64 {
        self.inner.schedule.state.lock().skipped
    }

    /// Returns the time from one due time to the next.
    pub fn period(&self) -> Duration {
        Time::from_nanoseconds(self.inner.schedule.period) - Time::from_nanoseconds(0)
    }

    /// Keeps it without a handle until the context ends: until
    /// [`Context::shutdown`](crate::Context::shutdown), the end of a spin after Ctrl-C, or the drop
    /// of the last handle to the context and its nodes. It keeps its node that long as well. A
    /// clone can still cancel or [close](Self::close) it; without one, only its own callback can
    /// cancel it ([`TimerInfo::cancel`]).
    ///
    /// The callback's captures are dropped with it. If they include a handle to its own context or
    /// to a node of it, they keep the context alive, so that only a shutdown ends it; publishers,
    /// subscriptions, clients and other entities don't.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// fn blink(context: &Context) -> sinew::Result<()> {
    ///     let node = context.node("blinker")?;
    ///     node.timer(Duration::from_secs(1)).callback(|| println!("blink"))?.detach();
    ///     Ok(()) // the timer goes on
    /// }
    /// let context = Context::builder().virtual_time(&sinew::time::VirtualClock::new()).build()?;
    /// blink(&context)?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.advance(Duration::from_secs(3))?, 3);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }

    /// Ends it and its clones, as dropping the last one does, and waits for its callback if that is
    /// running on another thread. Called in its own callback, it doesn't wait; nor does a second
    /// `close`. Clones can still be queried; cancelling or resetting them has no effect.
    pub fn close(self) {
        self.inner.schedule.end_report();
        self.inner.group.deregister(self.inner.membership, true);
    }

    /// Returns `true` if it was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        !self.inner.group.has(self.inner.membership)
    }
}

impl Drop for TimerInner {
    fn drop(&mut self) {
        self.schedule.end_report();
        self.group.deregister(self.membership, false);
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("period", &self.period()).finish_non_exhaustive()
    }
}

/// Information for a timer's callback. ROS 2: `rcl_timer_call_info_t`.
pub struct TimerInfo {
    due: Time,
    actual: Time,
    skipped: u64,
    schedule: Arc<Schedule>,
}

impl TimerInfo {
    /// Returns the time it was due, in the time of its clock.
    pub fn due(&self) -> Time {
        self.due
    }

    /// Returns the time it was called, in the time of its clock.
    pub fn actual(&self) -> Time {
        self.actual
    }

    /// Returns the number of due times after [`due`](Self::due) that have passed as well, and are
    /// skipped.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Cancels the timer, as [`Timer::cancel`].
    pub fn cancel(&self) {
        self.schedule.cancel();
    }
}

impl fmt::Debug for TimerInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimerInfo { due, actual, skipped, .. } = self;
        write!(f, "TimerInfo {{ due: {due:?}, actual: {actual:?}, skipped: {skipped} }}")
    }
}

/// A timer's due times and state.
pub(crate) struct Schedule {
    /// The clock it follows; `None` for the node's, which may change.
    follows: Option<ClockKind>,
    clock: Clock,
    /// Nanoseconds; more than 0.
    period: i64,
    state: Mutex<TimerState>,
}

struct TimerState {
    /// The clock that it uses now.
    kind: ClockKind,
    /// In the time of its clock.
    due: i64,
    /// The number of changes of its clock's source so far; `due` is a time of the latest source.
    source: u64,
    cancelled: bool,
    skipped: u64,
    task_ref: Option<TaskRef>,
    /// Its report for tools.
    report: Option<OwnReport>,
}

/// A timer's report for tools.
struct OwnReport {
    counters: Counters,
    _report: OwnEndpoint,
}

/// Maximum number of timers of a process with a report for tools; each report takes 1.5 KB of
/// shared memory.
const MOST_REPORTS: i64 = 256;

static REPORTS: HintI64 = HintI64::new(0);

impl OwnReport {
    fn new(node: &NodeCore, period: i64, follows: Option<ClockKind>) -> Option<Self> {
        if node.origin != Origin::Local || REPORTS.fetch_add(1, Ordering::Relaxed) >= MOST_REPORTS {
            REPORTS.fetch_sub(1, Ordering::Relaxed); // only a bound: no ordering needed
            return None;
        }
        let Some(report) = node.report(&TimerReport::endpoint(&node.full_name, next_serial())) else {
            REPORTS.fetch_sub(1, Ordering::Relaxed);
            return None;
        };
        let counters = report.counters();
        counters.store(TimerWord::Period as usize, period.unsigned_abs());
        counters.store(TimerWord::FollowsNode as usize, follows.is_none().into());
        Some(Self { counters, _report: report })
    }
}

impl Drop for OwnReport {
    fn drop(&mut self) {
        REPORTS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl TimerState {
    /// Updates the report for tools: its clock, and whether it is cancelled.
    fn report(&self) {
        if let Some(OwnReport { counters, .. }) = &self.report {
            counters.store(TimerWord::Clock as usize, 1 + self.kind as u64);
            counters.store(TimerWord::IsCancelled as usize, self.cancelled.into());
        }
    }
}

impl FollowsTime for Schedule {
    /// As in `rcl`: if its clock was set back so far that it is more than a period away, it is due
    /// one period from now. If the time comes from another source now, or simulated time begins
    /// later than it was due, the rest of its period stays the same.
    fn jumped(&self, jump: &TimeJump) {
        if jump.change == ClockChange::Same && !jump.begins {
            let is_near = |state: &TimerState| {
                let latest = jump.after.nanoseconds().saturating_add(self.period);
                state.kind != ClockKind::Ros || state.due <= latest
            };
            if is_near(&self.state.lock()) {
                return; // as with each message on `/clock`
            }
            self.change(|state, clock| {
                if clock.source == state.source && clock.kind == state.kind {
                    state.due = state.due.min(clock.now.saturating_add(self.period));
                }
            });
            return;
        }
        self.change(|state, _| {
            if state.source >= jump.source {
                return;
            }
            let before = match state.kind {
                ClockKind::Ros => jump.before.nanoseconds(),
                kind => self.clock.now(kind),
            };
            let left = state.due.saturating_sub(before).clamp(0, self.period);
            // If the source has changed again since, another call for that follows.
            state.kind = match (self.follows, jump.change) {
                (Some(kind), _) => kind,
                (None, ClockChange::Deactivated) => ClockKind::Steady,
                (None, ClockChange::Same | ClockChange::Activated) => ClockKind::Ros,
            };
            state.source = jump.source;
            let after = match state.kind {
                ClockKind::Ros => jump.after.nanoseconds(),
                kind => self.clock.now(kind),
            };
            // If simulated time begins at 0, due times stay.
            if !jump.begins || state.due <= after {
                state.due = after.saturating_add(left);
            }
        });
    }
}

impl Schedule {
    fn cancel(&self) {
        self.change(|state, _| state.cancelled = true);
    }

    fn reset(&self) {
        self.change(|state, clock| {
            state.cancelled = false;
            self.begin(state, clock);
        });
    }

    /// Makes it due one period from now; a cancelled timer stays cancelled.
    fn restart(&self) {
        self.change(|state, clock| self.begin(state, clock));
    }

    /// Makes it due one period from now.
    fn begin(&self, state: &mut TimerState, clock: TimerClock) {
        let TimerClock { kind, now, source } = clock;
        (state.kind, state.due, state.source) = (kind, now.saturating_add(self.period), source);
    }

    fn change(&self, change: impl FnOnce(&mut TimerState, TimerClock)) {
        let signal = {
            let mut state = self.state.lock();
            change(&mut state, self.clock.of_timer(self.follows));
            state.report();
            self.arm(&state)
        };
        signal.signal();
    }

    /// Ends the report for tools.
    fn end_report(&self) {
        let report = self.state.lock().report.take();
        drop(report); // outside the lock
    }

    /// Gives the executor its due time.
    fn arm(&self, state: &TimerState) -> ToSignal {
        let due = (!state.cancelled).then_some(state.due);
        state.task_ref.as_ref().map(|task_ref| task_ref.arm(state.kind, due)).unwrap_or_default()
    }

    /// Returns `true` if it is due; otherwise arms it again.
    fn clear_ready(&self) -> bool {
        let state = self.state.lock();
        let TimerClock { now, source, .. } = self.clock.of_timer(self.follows);
        if state.source != source {
            return false; // `jumped` follows for the other source
        }
        let is_due = !state.cancelled && state.due <= now;
        let signal = if is_due { ToSignal::NONE } else { self.arm(&state) };
        drop(state);
        signal.signal();
        is_due
    }

    /// Takes an expiry, if it still is one, and sets the next due time.
    fn expire(self: &Arc<Self>) -> Option<TimerInfo> {
        let mut state = self.state.lock();
        let TimerClock { now, source, .. } = self.clock.of_timer(self.follows);
        if state.cancelled || state.source != source {
            return None; // with another source, `jumped` follows, and arms it then
        }
        if state.due > now {
            // It was reset, or its clock was set back, since it became ready: arm it again.
            let signal = self.arm(&state);
            drop(state);
            signal.signal();
            return None;
        }
        let due = state.due;
        let skipped = (now - due) / self.period;
        state.due = due.saturating_add(self.period.saturating_mul(skipped + 1));
        let skipped = u64::try_from(skipped).unwrap_or(0);
        state.skipped += skipped;
        if let Some(OwnReport { counters, .. }) = &state.report {
            counters.count(TimerWord::Calls as usize, 1);
            counters.store(TimerWord::Skipped as usize, state.skipped);
        }
        let signal = self.arm(&state);
        drop(state);
        signal.signal();
        let (due, actual) = (Time::from_nanoseconds(due), Time::from_nanoseconds(now));
        Some(TimerInfo { due, actual, skipped, schedule: self.clone() })
    }
}

/// A timer as its executor sees it: everything a call needs in one place.
struct TimerTask<G, Form, F: EventCallback<TimerInfo, G, Form>> {
    schedule: Arc<Schedule>,
    group: G,
    callback: F::Cell,
    of: PhantomData<fn() -> Form>,
}

impl<G: CallbackGroup, Form, F: EventCallback<TimerInfo, G, Form>> Run for TimerTask<G, Form, F> {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let Some(info) = self.schedule.expire() else { return TaskOutcome::NOTHING };
        let _no_chain = ChainScope::enter(None);
        let result = F::call(&self.callback, &self.group, token, &info);
        TaskOutcome { result, next: None, called: true } // the next expiry is in the executor's heap of deadlines
    }

    fn pending(&self) -> Option<Stamp> {
        None
    }

    fn clear_ready(&self) -> bool {
        self.schedule.clear_ready()
    }
}

impl<G: CallbackGroup, Form, F: EventCallback<TimerInfo, G, Form>> GroupMember for TimerTask<G, Form, F> {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        let mut state = self.schedule.state.lock();
        state.task_ref = task_ref;
        self.schedule.arm(&state)
    }

    fn discard(&self) {
        self.schedule.restart();
    }
}

impl wait_set::sealed::Sealed for Timer {}

impl Waitable for Timer {
    fn subject(&self) -> usize {
        Arc::as_ptr(&self.inner.schedule).addr()
    }
}

/// Makes a [`Timer`]; from [`Node::timer`](crate::Node::timer).
#[must_use = "nothing happens before `callback`"]
pub struct TimerBuilder<G = Group> {
    node: Arc<NodeCore>,
    period: Duration,
    follows: Option<ClockKind>,
    /// Whether tools see it.
    is_shown: bool,
    is_cancelled: bool,
    group: G,
}

impl<G: CallbackGroup> TimerBuilder<G> {
    pub(crate) fn new(group: &G, period: Duration) -> Self {
        let node = NodeCore::of(group.core());
        Self { node, period, follows: None, is_shown: true, is_cancelled: false, group: group.clone() }
    }
}

impl Timer {
    /// Makes it due at a time of its clock, and again each period after that.
    pub(crate) fn set_due(&self, due: i64) {
        self.inner.schedule.change(|state, TimerClock { kind, source, .. }| {
            (state.kind, state.due, state.source) = (kind, due, source);
        });
    }
}

impl<G: CallbackGroup> TimerBuilder<G> {
    /// Sets the clock it follows, regardless of the node's clock. [`ClockKind::Ros`] is the wall
    /// clock while simulated time isn't used.
    pub fn clock(mut self, kind: ClockKind) -> Self {
        self.follows = Some(kind);
        self
    }

    /// Sets whether it starts by itself: `true` by default. Otherwise it is cancelled until
    /// [`Timer::reset`].
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::time::VirtualClock;
    /// let context = Context::builder().virtual_time(&VirtualClock::new()).build()?;
    /// let node = context.node("watchdog")?;
    /// let timer = node.timer(Duration::from_secs(1)).autostart(false).callback(|| println!("too late"))?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.advance(Duration::from_secs(3))?, 0);
    /// timer.reset();
    /// assert_eq!(executor.advance(Duration::from_secs(3))?, 3);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn autostart(mut self, wanted: bool) -> Self {
        self.is_cancelled = !wanted;
        self
    }

    /// Hides it from tools: it serves another entity.
    pub(crate) fn hidden(mut self) -> Self {
        self.is_shown = false;
        self
    }

    /// Makes it live as long as its node, without a handle; see [`Background`].
    pub fn background(self) -> Background<Self> {
        Background::new(&self.node.clone(), self)
    }

    /// Makes the timer; it is due for the first time one period from now. The callback takes
    /// nothing, `&TimerInfo`, the group's state `&mut S`, or the state and `&TimerInfo`.
    ///
    /// # Errors
    /// [`CreateError`]: the period is zero, or the context is shut down.
    pub fn callback<Form, F>(self, callback: F) -> Result<Timer, CreateError>
    where
        F: EventCallback<TimerInfo, G, Form>,
        Form: 'static,
    {
        let period = nanoseconds(self.period);
        if period == 0 || period == i64::MAX {
            return Err(CreateError::Period { node: self.node.full_name.to_string(), period: self.period });
        }
        self.node.check_running("a timer")?;
        let session = &self.node.context.session;
        let clock = session.clock.clone();
        let TimerClock { kind, now, source } = clock.of_timer(self.follows);
        let due = now.saturating_add(period);
        let report = self.is_shown.then(|| OwnReport::new(&self.node, period, self.follows)).flatten();
        let cancelled = self.is_cancelled;
        let state = TimerState { kind, due, source, cancelled, skipped: 0, task_ref: None, report };
        state.report();
        let schedule = Arc::new(Schedule { follows: self.follows, clock, period, state: Mutex::new(state) });
        if matches!(self.follows, None | Some(ClockKind::Ros)) {
            let follows: Arc<dyn FollowsTime> = schedule.clone();
            session.on_jump(Arc::downgrade(&follows));
            schedule.restart(); // the time may have jumped before
        }
        let group = self.group.core().clone();
        let base = TaskBase::new(group.node.clone(), format!("timer ({:?})", self.period))
            .subject(&schedule)
            .callback(group.node.known().map(Callback::Timer))
            .uses(vec![Part::value(&schedule, 4)]);
        let work = TimerTask::<G, Form, F> {
            schedule: schedule.clone(),
            callback: callback.cell(&self.group),
            group: self.group,
            of: PhantomData,
        };
        let membership = group.join(Task::new(base, work));
        let inner = TimerInner { schedule, group, membership, node: self.node.clone() };
        Ok(Timer { inner: Arc::new(inner) })
    }
}

impl<G: CallbackGroup> Background<TimerBuilder<G>> {
    /// Makes the timer, as [`TimerBuilder::callback`]. Only its own callback can cancel it
    /// ([`TimerInfo::cancel`]).
    ///
    /// # Errors
    /// As [`TimerBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback<Form, F>(self, callback: F) -> Result<(), CreateError>
    where
        F: EventCallback<TimerInfo, G, Form>,
        Form: 'static,
    {
        self.make(|builder| builder.callback(callback))
    }
}
