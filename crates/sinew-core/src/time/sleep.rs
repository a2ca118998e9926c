//! Sleeping until a clock shows a time, for threads and for tasks.

use crate::api::context::{Context, ContextCore};
use crate::api::node::Node;
use crate::api::timer::Timer;
use crate::ros::failure::SleepError;
use crate::sys::clock::Wake;
use crate::sys::clock::{ClockKind, Time, TimerClock, nanoseconds, precise_waits, restore_waits};
use crate::sys::jump::{ClockChange, FollowsTime, TimeJump};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, Mutex};
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

/// Maximum sleep in nanoseconds between two readings of a clock that may be set without
/// notification.
const LOOK_AGAIN: i64 = 1_000_000_000;

/// The next step of a sleeper.
pub(super) enum Look<R> {
    Done(R),
    /// Check again at that time, or earlier if the time jumps.
    Again(i64),
}

/// Reads a clock whenever its time may matter, until the wait is over.
pub(super) struct Sleeper<'a> {
    pub(super) context: &'a Arc<ContextCore>,
    /// `None` for the node's clock, which may change.
    pub(super) kind: Option<ClockKind>,
}

impl Sleeper<'_> {
    /// Returns the present clock, its time and its epoch.
    pub(super) fn read(&self) -> (ClockKind, i64, u64) {
        let clock = &self.context.session.clock;
        if let Some(kind) = self.kind {
            let (now, epoch) = clock.read(kind);
            return (kind, now, epoch);
        }
        let TimerClock { kind, now, source } = clock.of_timer(None);
        (kind, now, source)
    }

    /// Waits as a thread. `look` gets the time and its epoch.
    pub(super) fn block<R>(&self, mut look: impl FnMut(i64, u64) -> Look<R>) -> Result<R, SleepError> {
        let (session, clock) = (&self.context.session, &self.context.session.clock);
        let call = Arc::new(Call(Parker::new()));
        self.follow_jumps(&call);
        if let Some(source) = clock.virtual_clock() {
            let call: Arc<dyn Wake> = call.clone();
            source.watch(Arc::downgrade(&call));
        }
        let _precise = Precise(precise_waits());
        loop {
            if session.has_ended() {
                return Err(SleepError::Shutdown);
            }
            let (kind, now, epoch) = self.read();
            let due = match look(now, epoch) {
                Look::Done(result) => return Ok(result),
                Look::Again(due) => due,
            };
            let left = due.saturating_sub(now);
            let longest = if kind == ClockKind::Steady { left } else { left.min(LOOK_AGAIN) };
            let timeout = Duration::from_nanos(u64::try_from(longest).unwrap_or(0));
            call.0.park(clock.passes(kind).then_some(timeout)); // else the clock wakes it
        }
    }

    /// Waits as a task, which a timer of the node wakes.
    pub(super) async fn wait<R>(
        &self,
        node: &Node,
        mut look: impl FnMut(i64, u64) -> Look<R>,
    ) -> Result<R, SleepError> {
        let session = &self.context.session;
        let task = Arc::new(Task(Mutex::new(None)));
        self.follow_jumps(&task);
        let mut timer: Option<Timer> = None;
        poll_fn(|polling| {
            *task.0.lock() = Some(polling.waker().clone()); // before the look: no wake-up is missed
            if session.has_ended() {
                return Poll::Ready(Err(SleepError::Shutdown));
            }
            let (_, now, epoch) = self.read();
            let due = match look(now, epoch) {
                Look::Done(result) => return Poll::Ready(Ok(result)),
                Look::Again(due) => due,
            };
            if timer.is_none() {
                let woken = task.clone();
                let once = node.timer(Duration::from_nanos(u64::MAX / 4)).hidden();
                let once = if let Some(kind) = self.kind { once.clock(kind) } else { once };
                match once.callback(move || woken.wake()) {
                    Ok(made) => timer = Some(made),
                    Err(_) => return Poll::Ready(Err(SleepError::Shutdown)), // no other error can occur
                }
            }
            timer.iter().for_each(|timer| timer.set_due(due));
            Poll::Pending
        })
        .await
    }

    fn follow_jumps<F: FollowsTime + 'static>(&self, follower: &Arc<F>) {
        let follower: Arc<dyn FollowsTime> = follower.clone();
        self.context.session.on_jump(Arc::downgrade(&follower));
    }
}

/// Wakes a thread that sleeps.
struct Call(Parker);

impl FollowsTime for Call {
    fn jumped(&self, _jump: &TimeJump) {
        self.0.unpark();
    }

    fn ended(&self) {
        self.0.unpark();
    }
}

impl Wake for Call {
    fn wake(&self) {
        self.0.unpark();
    }
}

/// Wakes a task that sleeps.
struct Task(Mutex<Option<Waker>>);

impl Task {
    fn wake(&self) {
        let waker = self.0.lock().take();
        if let Some(waker) = waker {
            waker.wake(); // runs code of the program, outside the lock
        }
    }
}

impl FollowsTime for Task {
    /// Wakes the task, unless the time merely advanced: then its timer becomes due.
    fn jumped(&self, jump: &TimeJump) {
        if jump.change != ClockChange::Same || jump.begins || jump.backward() > Duration::ZERO {
            self.wake();
        }
    }

    fn ended(&self) {
        self.wake();
    }
}

/// Gives this thread precise waits until it is dropped.
struct Precise(Option<u64>);

impl Drop for Precise {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            restore_waits(before);
        }
    }
}

/// Waits until a time is reached, if the clock still has the same source.
fn until(target: i64) -> impl FnMut(i64, u64) -> Look<Result<(), SleepError>> {
    let mut begun = None;
    move |now, epoch| {
        if *begun.get_or_insert(epoch) != epoch {
            Look::Done(Err(SleepError::ClockChanged))
        } else if now >= target {
            Look::Done(Ok(()))
        } else {
            Look::Again(target)
        }
    }
}

impl Context {
    /// Sleeps until the clock shows `time`, as [`Node::sleep_until`].
    ///
    /// # Errors
    /// Returns [`SleepError`].
    pub fn sleep_until(&self, clock: ClockKind, time: Time) -> Result<(), SleepError> {
        self.sleeper(clock).block(until(time.nanoseconds()))?
    }

    /// Sleeps until the clock has advanced by `duration`, as [`Node::sleep_for`].
    ///
    /// # Errors
    /// Returns [`SleepError`].
    pub fn sleep_for(&self, clock: ClockKind, duration: Duration) -> Result<(), SleepError> {
        self.sleeper(clock).block(after(duration))?
    }

    fn sleeper(&self, kind: ClockKind) -> Sleeper<'_> {
        Sleeper { context: self.shared(), kind: Some(kind) }
    }
}

impl Node {
    /// Sleeps until the clock shows `time`; not at all if it already does. A jump past it ends the
    /// sleep, and a jump back makes it longer. ROS 2: `sleep_until`.
    ///
    /// Blocks the thread, so don't call it in callbacks. It never returns in a callback of the
    /// executor that would advance the time, as for a
    /// [`ClockPublisher`](crate::time::ClockPublisher) or virtual time (simulated time from
    /// `/clock` needs no executor). It meets real times within some µs.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let node = Context::builder().shared_memory(false).build()?.node("sleeper")?;
    /// let begin = sinew::time::Time::steady();
    /// node.sleep_until(ClockKind::Steady, begin + Duration::from_millis(1))?;
    /// assert!(sinew::time::Time::steady() - begin >= Duration::from_millis(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`SleepError`].
    pub fn sleep_until(&self, clock: ClockKind, time: Time) -> Result<(), SleepError> {
        self.sleeper(clock).block(until(time.nanoseconds()))?
    }

    /// Sleeps until the clock has advanced by `duration`; otherwise like
    /// [`sleep_until`](Self::sleep_until).
    ///
    /// # Errors
    /// Returns [`SleepError`].
    pub fn sleep_for(&self, clock: ClockKind, duration: Duration) -> Result<(), SleepError> {
        self.sleeper(clock).block(after(duration))?
    }

    /// The same as [`sleep_until`](Self::sleep_until), for tasks: completes when the clock shows
    /// `time`. A timer of this node wakes the task, so an executor has to serve the node.
    /// Allocates.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let node = context.node("sleeper")?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// let time = node.now() + Duration::from_millis(1);
    /// executor.spin_until(node.sleep_until_async(ClockKind::Ros, time))??;
    /// assert!(node.now() >= time);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`SleepError`].
    pub async fn sleep_until_async(&self, clock: ClockKind, time: Time) -> Result<(), SleepError> {
        self.sleeper(clock).wait(self, until(time.nanoseconds())).await?
    }

    /// The same as [`sleep_for`](Self::sleep_for), for tasks, like
    /// [`sleep_until_async`](Self::sleep_until_async).
    ///
    /// # Errors
    /// Returns [`SleepError`].
    pub async fn sleep_for_async(&self, clock: ClockKind, duration: Duration) -> Result<(), SleepError> {
        self.sleeper(clock).wait(self, after(duration)).await?
    }

    pub(super) fn sleeper(&self, kind: ClockKind) -> Sleeper<'_> {
        Sleeper { context: self.context_shared(), kind: Some(kind) }
    }
}

/// Waits until this duration has passed since the first check.
fn after(duration: Duration) -> impl FnMut(i64, u64) -> Look<Result<(), SleepError>> {
    let mut look = None;
    move |now, epoch| look.get_or_insert_with(|| until(now.saturating_add(nanoseconds(duration))))(now, epoch)
}
