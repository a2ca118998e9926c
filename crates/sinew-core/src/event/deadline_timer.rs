//! A timer that looks at objects when their time is up.
//!
//! A publisher or a subscription with watched promises has one [`DeadlineTimer`], a member of its
//! handlers' group: it waits in the executor's heap of deadlines, like any timer, until the
//! earliest time at which something could have run out. Then it looks ([`Timed::look`]), and waits
//! for the next such time. If the program takes the endpoint's statuses by hand, the timer waits
//! with the [`StatusThread`] instead. So a timely event (a message, a sign of life) pays nothing
//! for being watched except recording its time, and nothing polls.
//!
//! The timer calls no handler itself: it adds its findings to the handlers'
//! [`StatusCondition`](super::condition::StatusCondition)s, under the time at which they happened,
//! and the handlers run next.

use super::status_thread::{Due, StatusThread};
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group::GroupMember;
use crate::executor::group_core::{GroupCore, Membership};
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch::Part;
use crate::executor::task::{Run, Task, TaskBase, TaskOutcome};
use crate::mailbox::deferred::Deferred;
use crate::sys::clock::{Clock, ClockKind, Stamp};
use crate::sys::sync::{Arc, Mutex, next_serial};
use std::mem;
use std::sync::Weak;

/// An object with a deadline or a lease that can run out.
pub(crate) trait Timed: Send + Sync {
    /// Checks whether the time is up, and notifies the handlers if so. Returns the steady time at
    /// which to look again, if there is one.
    fn look(&self, deferred: &mut Deferred) -> Option<i64>;
}

/// See the module's documentation.
pub(crate) struct DeadlineTimer {
    clock: Clock,
    /// Its place with the thread for statuses; `None`: it waits in an executor.
    place: Option<ThreadPlace>,
    state: Mutex<DeadlineTimerState>,
}

/// A timer's place with the thread for statuses.
struct ThreadPlace {
    thread: Arc<StatusThread>,
    number: u64,
    timer: Weak<DeadlineTimer>,
}

#[derive(Default)]
struct DeadlineTimerState {
    /// Time of the next look, in steady nanoseconds.
    due: Option<i64>,
    watched: Vec<Weak<dyn Timed>>,
    /// Reused memory for the list of a run, so that a run allocates nothing.
    scratch: Vec<Weak<dyn Timed>>,
    task_ref: Option<TaskRef>,
    /// The time for which it waits with the thread.
    armed: Option<i64>,
}

impl DeadlineTimer {
    /// Sets the next look.
    fn arm(&self, state: &mut DeadlineTimerState, deferred: &mut Deferred) {
        if let Some(ThreadPlace { thread, number, timer }) = &self.place {
            let times = (state.armed, state.due);
            state.armed = state.due;
            thread.arm(*number, times, || timer.clone(), deferred);
        } else if let Some(task_ref) = &state.task_ref {
            deferred.signal(task_ref.arm(ClockKind::Steady, state.due));
        }
    }

    /// Looks at everything, and sets the next look.
    fn look(&self) {
        Deferred::with(|deferred| {
            let mut watched = {
                let mut state = self.state.lock();
                state.due = None; // a caller that wants a look from now on arms it again
                let mut watched = mem::take(&mut state.scratch);
                watched.extend_from_slice(&state.watched);
                watched
            };
            // Without the lock: a watched object has one of its own, under which it arms its
            // timers.
            let next =
                watched.iter().filter_map(Weak::upgrade).filter_map(|watched| watched.look(deferred)).min();
            watched.clear();
            let mut state = self.state.lock();
            state.scratch = watched;
            state.due = state.due.into_iter().chain(next).min();
            self.arm(&mut state, deferred);
        });
    }

    /// Adds an object to look at, when there is a time for it ([`DeadlineTimer::look_by`]).
    pub(crate) fn watch(&self, watched: Weak<dyn Timed>) {
        let mut state = self.state.lock();
        state.watched.retain(|other| other.strong_count() > 0);
        state.watched.push(watched);
    }

    pub(crate) fn forget(&self, watched: &Weak<dyn Timed>) {
        self.state.lock().watched.retain(|other| !other.ptr_eq(watched));
    }

    /// Schedules a look at this time, unless there is an earlier one.
    pub(crate) fn look_by(&self, due: i64, deferred: &mut Deferred) {
        let mut state = self.state.lock();
        if state.due.is_none_or(|sooner| due < sooner) {
            state.due = Some(due);
            self.arm(&mut state, deferred);
        }
    }
}

impl Run for Arc<DeadlineTimer> {
    fn run(&self, _token: &mut GroupToken) -> TaskOutcome {
        self.look();
        TaskOutcome::NOTHING // no handler was called: the conditions do that
    }

    fn pending(&self) -> Option<Stamp> {
        None
    }

    fn clear_ready(&self) -> bool {
        Deferred::with(|deferred| {
            let now = self.clock.steady();
            let mut state = self.state.lock();
            let is_due = state.due.is_some_and(|due| due <= now);
            if !is_due {
                self.arm(&mut state, deferred);
            }
            is_due
        })
    }
}

impl GroupMember for Arc<DeadlineTimer> {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        let mut state = self.state.lock();
        state.task_ref = task_ref;
        match &state.task_ref {
            Some(task_ref) => task_ref.arm(ClockKind::Steady, state.due),
            None => ToSignal::NONE,
        }
    }
}

impl Due for DeadlineTimer {
    fn due(&self) {
        self.look();
    }
}

/// A timer where it waits: in its group, from which dropping this removes it, or with the thread
/// for statuses.
pub(crate) struct AttachedTimer {
    timer: Arc<DeadlineTimer>,
    member: Option<(Arc<GroupCore>, Membership)>,
}

impl AttachedTimer {
    /// `entity` names the endpoint in log lines, such as "publisher on frames".
    pub(crate) fn new(group: &Arc<GroupCore>, entity: &str) -> Self {
        let clock = group.clock.clone();
        let timer = Arc::new(DeadlineTimer { clock, place: None, state: Mutex::default() });
        let base = TaskBase::new(group.node.clone(), format!("deadline and liveliness of {entity}"));
        let base = base.uses(vec![Part::value(&timer, 4)]);
        let membership = group.join(Task::new(base, timer.clone()));
        Self { timer, member: Some((group.clone(), membership)) }
    }

    /// Creates a timer that waits with the thread for statuses.
    pub(crate) fn on_thread(thread: &Arc<StatusThread>) -> Self {
        let timer = Arc::new_cyclic(|timer: &Weak<DeadlineTimer>| {
            let place = ThreadPlace { thread: thread.clone(), number: next_serial(), timer: timer.clone() };
            DeadlineTimer { clock: thread.clock().clone(), place: Some(place), state: Mutex::default() }
        });
        Self { timer, member: None }
    }

    pub(crate) fn timer(&self) -> &Arc<DeadlineTimer> {
        &self.timer
    }

    pub(crate) fn deregister(&self, wait: bool) {
        if let Some((group, membership)) = &self.member {
            group.deregister(*membership, wait);
        }
    }
}

impl Drop for AttachedTimer {
    fn drop(&mut self) {
        self.deregister(false);
    }
}
