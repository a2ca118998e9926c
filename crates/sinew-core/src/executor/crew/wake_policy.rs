//! Hand-over: the decision whether to wake another worker for a task that became ready.
//!
//! The callback for a message that is published inside a callback usually runs best next on the
//! same thread: the message is still in that processor's cache, and no thread has to be woken,
//! which costs tens of microseconds and a system call. But this is wrong if the running callback
//! goes on for long. So the executor learns how long each callback runs, and how long it continues
//! after its last publication (its *tail*). It compares the time that a message would wait here
//! with the cost of a wake-up, which it learns as well. This changes no order; it only omits the
//! wake-up.
//!
//! An unknown time counts as long: new callbacks wake another worker. A learnt time may be wrong:
//! so while an executor is busy, one idle worker, the *monitor*, looks again every few
//! milliseconds, and takes tasks that have waited for longer than a wake-up takes. It stays the
//! monitor over short breaks, and stops when no callback has run for a second; an idle executor
//! never wakes.
//!
//! One parked worker, the *timekeeper*, watches the timers: the one that went to sleep last,
//! because it has the timers' callbacks in its cache; or the monitor, while all others are in long
//! callbacks.
//!
//! All of this is bookkeeping under the scheduler's lock. No function here reads a clock.

/// Nanoseconds between two looks of the monitor.
pub(crate) const WATCH_INTERVAL: i64 = 5_000_000;

/// Nanoseconds without work after which the monitor goes off duty.
const OFF_DUTY_AFTER: i64 = 1_000_000_000;

/// Assumed cost of a wake-up in nanoseconds before one was measured, and the bounds of a plausible
/// one.
const WAKE_COST: i64 = 50_000;
pub(super) const WAKE_COST_LEAST: i64 = 10_000;
const WAKE_COST_MOST: i64 = 150_000;

/// A duration that is learnt from samples.
///
/// It follows a change in either direction within a few samples, but one outlier (a thread that was
/// interrupted) moves a short one by a few microseconds only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Learnt {
    /// Nanoseconds; `UNKNOWN` before the first sample.
    value: u32,
    samples: u16,
}

const UNKNOWN: u32 = u32::MAX;

/// Number of samples that make a duration reliable, and nanoseconds below which it is short.
const SURE: u16 = 16;
const SHORT: u32 = 10_000;

impl Learnt {
    pub(crate) const UNKNOWN: Self = Self { value: UNKNOWN, samples: 0 };

    /// Returns nanoseconds; practically unlimited while unknown.
    #[inline]
    pub(crate) fn expected(self) -> i64 {
        if self.value == UNKNOWN { i64::MAX / 4 } else { i64::from(self.value) }
    }

    #[inline]
    pub(crate) fn learn(&mut self, nanoseconds: i64) {
        let sample = u32::try_from(nanoseconds.max(0)).unwrap_or(UNKNOWN).min(UNKNOWN - 1);
        self.samples = self.samples.saturating_add(1);
        self.value = match self.value {
            UNKNOWN => sample,
            value if sample > value => {
                let believed = sample.min(value.saturating_mul(4).saturating_add(8_000));
                value + (believed - value).div_ceil(4)
            }
            value => value - (value - sample).div_ceil(8),
        };
    }

    /// Whether it is known to be so short that not every run needs measuring.
    #[inline]
    pub(crate) fn is_surely_short(self) -> bool {
        self.samples >= SURE && self.value < SHORT
    }
}

/// The learnt run times of one callback.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// From its start to its end.
    pub(crate) run: Learnt,
    /// From its last publication to its end.
    pub(crate) tail: Learnt,
}

/// Number of runs of a short callback of which one is measured.
pub(crate) const SAMPLED: u8 = 8;

impl Times {
    pub(crate) const UNKNOWN: Self = Self { run: Learnt::UNKNOWN, tail: Learnt::UNKNOWN };

    /// The run times of a task that runs past the queue.
    pub(crate) const SHORT: Self = {
        let most = Learnt { value: SHORT, samples: SURE };
        Self { run: most, tail: most }
    };
}

/// The current activity of a worker.
#[derive(Debug, Clone, Copy)]
struct AtWork {
    running: bool,
    /// Whether its callback waits, so that the worker will not be back soon.
    blocked: bool,
    times: Times,
    /// Time at which the callback began, if a worker read the clock; 0 for unknown.
    since: i64,
}

const IDLE: AtWork = AtWork { running: false, blocked: false, times: Times::UNKNOWN, since: 0 };

/// The threads of an executor: the sleeping ones, their duties, and the activity of the others.
#[derive(Debug)]
pub(crate) struct Workers {
    at_work: Box<[AtWork]>,
    /// The workers that sleep; the last is woken first, since it has slept the shortest. The
    /// monitor is at the front.
    parked: Vec<u32>,
    /// Number of workers that were called and have not come yet.
    called: usize,
    /// Time at which the last one was called.
    called_at: i64,
    monitor: Option<u32>,
    /// Whether a worker was called to become the monitor.
    watch_wanted: bool,
    timekeeper: Option<u32>,
    /// Number of running callbacks, without nested ones.
    active: usize,
    /// Number of callbacks on threads that are not workers.
    callers: usize,
    /// Number of callbacks that were begun.
    runs: u64,
    /// `runs` at the monitor's last look, and the time for which it has not changed.
    seen: u64,
    quiet: i64,
    wake_cost: i64,
}

/// The reason why a parked worker continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeReason {
    /// It was called.
    Called,
    /// Its time was up.
    Timeout,
    /// It is the monitor, and has to look for tasks left waiting.
    Look,
}

impl Workers {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            at_work: vec![IDLE; threads].into(),
            parked: Vec::with_capacity(threads),
            called: 0,
            called_at: 0,
            monitor: None,
            watch_wanted: false,
            timekeeper: None,
            active: 0,
            callers: 0,
            runs: 0,
            seen: 0,
            quiet: 0,
            wake_cost: WAKE_COST,
        }
    }

    fn are_several(&self) -> bool {
        self.at_work.len() > 1
    }

    /// Whether as many callbacks run as the executor has threads, some of them on callers' threads.
    #[inline]
    pub(crate) fn are_full(&self) -> bool {
        self.callers > 0 && self.active >= self.at_work.len()
    }

    /// Whether threads from outside run callbacks.
    pub(crate) fn any_caller_runs(&self) -> bool {
        self.callers > 0
    }

    /// Whether a thread from outside may run a callback now.
    pub(crate) fn accepts_caller(&self) -> bool {
        self.active < self.at_work.len()
    }

    /// Whether at most one of the workers is awake, and a sleeping one is the monitor. An executor
    /// with one worker needs no monitor.
    #[inline]
    pub(crate) fn leave_one_awake(&self, present: usize) -> bool {
        !self.are_several()
            || (self.parked.len() + 1 == present && self.monitor.is_some() && self.callers == 0)
    }

    /// Counts a callback that a worker ran past the queue.
    pub(crate) fn count_run(&mut self) {
        self.runs += 1;
    }

    pub(crate) fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    // ---- callbacks ----

    /// Records that a worker begins a callback. `now` is 0 if the worker didn't read the clock.
    #[inline]
    pub(crate) fn begin(&mut self, worker: u32, times: Times, now: i64) {
        self.active += 1;
        self.runs += 1;
        if self.are_several() {
            self.at_work[worker as usize] = AtWork { running: true, blocked: false, times, since: now };
        }
    }

    /// Records that a worker's callback has ended.
    #[inline]
    pub(crate) fn end(&mut self, worker: u32) {
        self.active -= 1;
        self.at_work[worker as usize].running = false;
    }

    /// Records that a thread from outside begins a callback.
    pub(crate) fn begin_caller(&mut self) {
        self.active += 1;
        self.callers += 1;
        self.runs += 1;
    }

    pub(crate) fn end_caller(&mut self) {
        self.active -= 1;
        self.callers -= 1;
    }

    /// Records that a worker's callback begins to wait, or continues.
    pub(crate) fn set_blocked(&mut self, worker: u32, blocked: bool) {
        self.at_work[worker as usize].blocked = blocked;
    }

    // ---- calling ----

    /// Returns the worker to wake for a group that became ready. `ready` groups are ready now,
    /// including this one; the callbacks of the others are expected to take `load`. `here` is the
    /// worker with the callback that made it ready.
    #[inline]
    pub(crate) fn for_new(&mut self, ready: usize, load: i64, here: Option<u32>, stamp: i64) -> Option<u32> {
        if self.parked.is_empty() || self.called >= ready || self.are_full() {
            return None;
        }
        let wait = match here {
            Some(worker) => self.at_work[worker as usize].times.tail.expected(),
            None if self.active == 0 => i64::MAX,
            None => self.soonest(stamp),
        };
        self.unless_soon(wait.saturating_add(load))
    }

    /// Returns the worker to wake for `ready` groups of this `load`, which a worker leaves behind
    /// when it takes a callback with the expected time `run`.
    #[inline]
    pub(crate) fn for_rest(&mut self, ready: usize, load: i64, run: i64) -> Option<u32> {
        if self.parked.is_empty() || self.called >= ready || self.are_full() {
            return None;
        }
        self.unless_soon(run.saturating_add(load))
    }

    /// Returns the worker to wake as poller, when a worker begins a callback with the expected time
    /// `run` and no worker receives from other processes.
    pub(crate) fn for_poller(&mut self, run: i64) -> Option<u32> {
        // A worker that was called receives now, or when it goes to sleep.
        if self.parked.is_empty() || self.called > 0 { None } else { self.unless_soon(run) }
    }

    /// Returns the worker to wake for the ready groups, after a thread from outside gave its place
    /// back.
    pub(crate) fn for_place(&mut self, ready: usize) -> Option<u32> {
        if ready > self.called && !self.are_full() { self.call() } else { None }
    }

    /// Wakes a worker, regardless of expected times.
    pub(crate) fn call(&mut self) -> Option<u32> {
        let worker = *self.parked.last()?;
        self.call_this(worker)
    }

    /// Wakes a certain worker, if it sleeps.
    pub(crate) fn call_this(&mut self, worker: u32) -> Option<u32> {
        let place = self.parked.iter().position(|&other| other == worker)?;
        self.parked.remove(place);
        self.called += 1;
        if self.timekeeper == Some(worker) {
            self.timekeeper = None;
        }
        Some(worker)
    }

    /// Returns the worker to wake to watch a timer that is due at `due`, before all others. `here`
    /// is the worker that set it in its callback.
    pub(crate) fn for_timer(&mut self, due: i64, here: Option<u32>) -> Option<u32> {
        match (self.timekeeper, here) {
            (Some(worker), _) => self.call_this(worker),
            (None, Some(worker)) => {
                let AtWork { since, times, .. } = self.at_work[worker as usize];
                if since == 0 { None } else { self.for_timer_during(due, since, times.run.expected()) }
            }
            (None, None) => self.call(),
        }
    }

    /// Returns the worker to wake to watch the next timer, due at `due`, when a worker begins a
    /// callback with the expected time `run`.
    #[inline]
    pub(crate) fn for_timer_during(&mut self, due: i64, now: i64, run: i64) -> Option<u32> {
        if self.parked.is_empty() || self.timekeeper.is_some() || now == 0 || due >= now.saturating_add(run) {
            return None;
        }
        self.watch_wanted = self.monitor.is_none();
        self.call()
    }

    fn unless_soon(&mut self, wait: i64) -> Option<u32> {
        if wait < self.wake_cost {
            if self.monitor.is_some() {
                return None;
            }
            self.watch_wanted = true; // no worker would notice if it isn't soon
        }
        self.call()
    }

    /// Returns the time after which the first of the workers in callbacks is expected to be back.
    fn soonest(&self, now: i64) -> i64 {
        let running = self.at_work.iter().filter(|at_work| at_work.running && !at_work.blocked);
        running
            .map(|at_work| {
                let run = at_work.times.run.expected();
                let elapsed = if at_work.since == 0 { 0 } else { (now - at_work.since).max(0) };
                // An overdue worker is not relied on.
                if elapsed > run { i64::MAX } else { run - elapsed }
            })
            .min()
            .unwrap_or(i64::MAX)
    }

    /// Records the time at which a worker was called, to learn the cost of a wake-up.
    pub(crate) fn note_call(&mut self, now: i64) {
        self.called_at = now;
    }

    // ---- resting ----

    /// Records that a worker goes to sleep. Returns whether it watches the timers, and the time
    /// that it may sleep as the monitor.
    pub(crate) fn park(&mut self, worker: u32, now: i64) -> (bool, Option<i64>) {
        if !self.are_several() {
            self.parked.push(worker);
            return (true, None);
        }
        let watches = match self.monitor {
            None => std::mem::take(&mut self.watch_wanted) || self.active > 0,
            Some(monitor) => monitor == worker,
        };
        if watches {
            // A callback that continues from here for longer than expected is not relied on.
            for at_work in self.at_work.iter_mut().filter(|at_work| at_work.running && at_work.since == 0) {
                at_work.since = now;
            }
            self.monitor = Some(worker);
            self.parked.insert(0, worker);
        } else {
            self.parked.push(worker);
        }
        let minds = if watches {
            // A worker that is back soon watches them better: the timers' callbacks are in its
            // cache.
            self.timekeeper.is_none() && (self.active == 0 || self.soonest(now) >= self.wake_cost)
        } else {
            self.timekeeper.is_none() || self.timekeeper == self.monitor
        };
        if minds {
            self.timekeeper = Some(worker);
        }
        (minds, watches.then_some(WATCH_INTERVAL))
    }

    /// Records that a worker woke up. Returns the reason.
    pub(crate) fn unpark(&mut self, worker: u32, now: i64) -> WakeReason {
        let minded = self.timekeeper == Some(worker);
        if minded {
            self.timekeeper = None;
        }
        let Some(place) = self.parked.iter().position(|&other| other == worker) else {
            self.called = self.called.saturating_sub(1);
            if self.called == 0 && self.called_at != 0 {
                let cost = (now - self.called_at).clamp(WAKE_COST_LEAST, WAKE_COST_MOST);
                self.wake_cost += (cost - self.wake_cost) / 8;
            }
            if self.monitor == Some(worker) {
                self.monitor = None;
            }
            return WakeReason::Called;
        };
        self.parked.remove(place);
        if self.monitor != Some(worker) {
            return WakeReason::Timeout;
        }
        self.quiet = if self.runs == self.seen { self.quiet + WATCH_INTERVAL } else { 0 };
        self.seen = self.runs;
        if self.quiet >= OFF_DUTY_AFTER {
            self.quiet = 0;
            self.monitor = None;
        }
        if minded { WakeReason::Timeout } else { WakeReason::Look }
    }

    /// Makes the monitor a worker like the others: it takes the tasks left waiting.
    pub(crate) fn leave_poller(&mut self, worker: u32) {
        if self.monitor == Some(worker) {
            self.monitor = None;
        }
    }

    /// Removes a worker from the executor for good.
    pub(crate) fn retire(&mut self, worker: u32) {
        self.leave_poller(worker);
        self.at_work[worker as usize] = IDLE;
    }

    /// Calls all workers.
    pub(crate) fn call_all(&mut self) {
        self.called += self.parked.len();
        self.parked.clear();
    }

    /// Returns the time that a ready task may wait at most.
    pub(crate) fn patience(&self) -> i64 {
        self.wake_cost
    }
}
