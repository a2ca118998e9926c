//! Hand-over: whether what became ready is worth waking another worker for.
//!
//! A message that is published inside a callback usually runs best next on the same thread: it is
//! still warm in that processor's cache, and no thread has to be woken, which costs tens of
//! microseconds and a system call. It is another matter if this thread has long to go. So the
//! executor learns of every callback how long it runs and how long it goes on after it last
//! published (its *tail*), and compares what a message would wait here with what a wake-up costs,
//! which it learns, too. Nothing is reordered by that; only the wake-up is omitted.
//!
//! What is not known counts as long: new callbacks wake. What is known may be wrong: so while an
//! executor is busy, one idle worker, the *monitor*, looks again every few milliseconds, and takes
//! what waited for longer than a wake-up would have taken. It stays monitor over short breaks and
//! gives it up when nothing has happened for a second; nothing wakes an idle executor.
//!
//! Timers are minded by one parked worker, the *timekeeper*: the one that came to rest last, as it
//! has the timers' callbacks in its cache; or, while all others are in long callbacks, the monitor.
//!
//! All of this is bookkeeping under the scheduler's lock. Nothing here reads a clock.

/// How often the monitor looks, in nanoseconds.
pub(crate) const WATCH_INTERVAL: i64 = 5_000_000;

/// After so long without any work the monitor goes off duty.
const OFF_DUTY_AFTER: i64 = 1_000_000_000;

/// What a wake-up is taken to cost before one was measured, in nanoseconds, and between which
/// bounds it is believed.
const WAKE_COST: i64 = 50_000;
pub(super) const WAKE_COST_LEAST: i64 = 10_000;
const WAKE_COST_MOST: i64 = 150_000;

/// A duration that is learnt from samples.
///
/// It follows a change within a few samples, down as well as up, but one sample that stands out (a
/// thread that was interrupted) moves a short one by a few microseconds only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Learnt {
    /// Nanoseconds; `UNKNOWN` before the first sample.
    value: u32,
    samples: u16,
}

const UNKNOWN: u32 = u32::MAX;

/// So many samples are believed, and less than so many nanoseconds are short.
const SURE: u16 = 16;
const SHORT: u32 = 10_000;

impl Learnt {
    pub(crate) const UNKNOWN: Self = Self { value: UNKNOWN, samples: 0 };

    /// Nanoseconds; as good as for ever while unknown.
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

    /// Known to be so short that it needn't be measured every time.
    #[inline]
    pub(crate) fn is_surely_short(self) -> bool {
        self.samples >= SURE && self.value < SHORT
    }
}

/// What is known about the run times of one callback.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// From its start to its end.
    pub(crate) run: Learnt,
    /// From its last publication to its end.
    pub(crate) tail: Learnt,
}

/// One in so many runs of a short callback is measured.
pub(crate) const SAMPLED: u8 = 8;

impl Times {
    pub(crate) const UNKNOWN: Self = Self { run: Learnt::UNKNOWN, tail: Learnt::UNKNOWN };

    /// Those of a task that runs past the queue.
    pub(crate) const SHORT: Self = {
        let most = Learnt { value: SHORT, samples: SURE };
        Self { run: most, tail: most }
    };
}

/// What a worker does now.
#[derive(Debug, Clone, Copy)]
struct AtWork {
    running: bool,
    /// Its callback waits for something: it will not be back soon.
    blocked: bool,
    times: Times,
    /// When the callback began, as far as a worker looked; 0 for unknown.
    since: i64,
}

const IDLE: AtWork = AtWork { running: false, blocked: false, times: Times::UNKNOWN, since: 0 };

/// The threads of an executor: which rest, which minds what, what the others are at.
#[derive(Debug)]
pub(crate) struct Workers {
    at_work: Box<[AtWork]>,
    /// The workers that sleep; the last is woken first, as it has slept the shortest. The monitor
    /// stands at the front.
    parked: Vec<u32>,
    /// How many were called and have not come yet.
    called: usize,
    /// When the last one was called.
    called_at: i64,
    monitor: Option<u32>,
    /// A worker was called to be monitor.
    watch_wanted: bool,
    timekeeper: Option<u32>,
    /// Callbacks that run, nested ones not counted.
    active: usize,
    /// Callbacks that run on threads that are not workers.
    callers: usize,
    /// Counts callbacks that were begun.
    runs: u64,
    /// `runs` at the monitor's last look, and for how long it has not changed.
    seen: u64,
    quiet: i64,
    wake_cost: i64,
}

/// Why a parked worker goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeReason {
    /// It was called.
    Called,
    /// Its time was up.
    Timeout,
    /// As monitor it is to look whether anything was left lying.
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

    /// As many callbacks run as the executor has threads, some of them on callers' threads.
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

    /// Whether at most one of so many workers is awake, and one of those that rest looks after it.
    /// The only worker of an executor needs no other one to do so.
    #[inline]
    pub(crate) fn leave_one_awake(&self, present: usize) -> bool {
        !self.are_several()
            || (self.parked.len() + 1 == present && self.monitor.is_some() && self.callers == 0)
    }

    /// A worker has run one more callback past the queue.
    pub(crate) fn count_run(&mut self) {
        self.runs += 1;
    }

    pub(crate) fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    // ---- callbacks ----

    /// A worker begins a callback. `now` is 0 if the worker didn't look at the clock.
    #[inline]
    pub(crate) fn begin(&mut self, worker: u32, times: Times, now: i64) {
        self.active += 1;
        self.runs += 1;
        if self.are_several() {
            self.at_work[worker as usize] = AtWork { running: true, blocked: false, times, since: now };
        }
    }

    /// It has ended.
    #[inline]
    pub(crate) fn end(&mut self, worker: u32) {
        self.active -= 1;
        self.at_work[worker as usize].running = false;
    }

    /// A thread that is no worker begins a callback.
    pub(crate) fn begin_caller(&mut self) {
        self.active += 1;
        self.callers += 1;
        self.runs += 1;
    }

    pub(crate) fn end_caller(&mut self) {
        self.active -= 1;
        self.callers -= 1;
    }

    /// A worker's callback begins to wait for something, or goes on.
    pub(crate) fn set_blocked(&mut self, worker: u32, blocked: bool) {
        self.at_work[worker as usize].blocked = blocked;
    }

    // ---- calling ----

    /// A group became ready, as one of `ready` that are there now; the callbacks of the others are
    /// expected to take `load`. Returns the worker to wake for it. `here` is the worker whose
    /// callback brought that about.
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

    /// A worker has taken what it expects to take `run`, and left `ready` groups of this `load`
    /// behind. Returns the worker to wake for those.
    #[inline]
    pub(crate) fn for_rest(&mut self, ready: usize, load: i64, run: i64) -> Option<u32> {
        if self.parked.is_empty() || self.called >= ready || self.are_full() {
            return None;
        }
        self.unless_soon(run.saturating_add(load))
    }

    /// A worker begins what it expects to take `run`, and no worker hears what other processes have
    /// to say. Returns the worker to wake for that.
    pub(crate) fn for_poller(&mut self, run: i64) -> Option<u32> {
        // A worker that was called hears, or rests, and hears then.
        if self.parked.is_empty() || self.called > 0 { None } else { self.unless_soon(run) }
    }

    /// A place became free that a thread from outside had. Returns the worker to wake for what is
    /// ready.
    pub(crate) fn for_place(&mut self, ready: usize) -> Option<u32> {
        if ready > self.called && !self.are_full() { self.call() } else { None }
    }

    /// Wakes a worker, whatever is expected.
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

    /// A timer is due earlier than any other, at `due`. Returns the worker to wake to mind it.
    /// `here` is the worker that set it in its callback.
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

    /// A worker begins something that it expects to take `run`, and the next timer is due at `due`.
    /// Returns the worker to wake to mind that.
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

    /// In how long the first of those that run callbacks is expected to be back.
    fn soonest(&self, now: i64) -> i64 {
        let running = self.at_work.iter().filter(|at_work| at_work.running && !at_work.blocked);
        running
            .map(|at_work| {
                let run = at_work.times.run.expected();
                let elapsed = if at_work.since == 0 { 0 } else { (now - at_work.since).max(0) };
                // A worker that is overdue is not to be relied on.
                if elapsed > run { i64::MAX } else { run - elapsed }
            })
            .min()
            .unwrap_or(i64::MAX)
    }

    /// When a worker was called: for learning what that costs.
    pub(crate) fn note_call(&mut self, now: i64) {
        self.called_at = now;
    }

    // ---- resting ----

    /// A worker goes to sleep. Returns whether it minds the timers, and how long it may sleep as
    /// monitor.
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
            // One that goes on from here for longer than it is expected to is not to be relied on.
            for at_work in self.at_work.iter_mut().filter(|at_work| at_work.running && at_work.since == 0) {
                at_work.since = now;
            }
            self.monitor = Some(worker);
            self.parked.insert(0, worker);
        } else {
            self.parked.push(worker);
        }
        let minds = if watches {
            // A worker that is back soon minds them better: the timers' callbacks are in its cache.
            self.timekeeper.is_none() && (self.active == 0 || self.soonest(now) >= self.wake_cost)
        } else {
            self.timekeeper.is_none() || self.timekeeper == self.monitor
        };
        if minds {
            self.timekeeper = Some(worker);
        }
        (minds, watches.then_some(WATCH_INTERVAL))
    }

    /// A worker woke up; `slept` is for how long a monitor was to.
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

    /// The monitor takes what was left lying, and is a worker like the others.
    pub(crate) fn leave_poller(&mut self, worker: u32) {
        if self.monitor == Some(worker) {
            self.monitor = None;
        }
    }

    /// A worker leaves the executor for good.
    pub(crate) fn retire(&mut self, worker: u32) {
        self.leave_poller(worker);
        self.at_work[worker as usize] = IDLE;
    }

    /// All workers are to wake.
    pub(crate) fn call_all(&mut self) {
        self.called += self.parked.len();
        self.parked.clear();
    }

    /// What has waited longer than that should not have.
    pub(crate) fn patience(&self) -> i64 {
        self.wake_cost
    }
}
