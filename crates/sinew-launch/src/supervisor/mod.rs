//! Which process is started, asked to end, killed or started again, and when.
//!
//! A state machine without processes or a clock: a driver tells it what happened and at what time,
//! and does what [`poll`](Supervisor::poll) says. Times are durations since any moment, as long as
//! it is always the same.
//!
//! A process goes `Waiting` (for those it comes after) -> `Starting` (the driver was told to) ->
//! `Running` -> `Lingering` (it has ended, others of its process group haven't) -> `Delayed` (it
//! will be started again) or `Ended`.
//!
//! - It starts once all that it waits for are *ready*. To be ready is for good: who is started
//!   again has been ready before.
//! - It is asked to end by its signal, then SIGTERM, then SIGKILL, each after a grace. These go to
//!   its whole process group, as long as any of that is there. What a process leaves behind when it
//!   ends gets SIGTERM at once.
//! - Once all is to end, nothing is started, and a process is asked when those that wait for it have
//!   ended; of several the one that was started last is asked first.

mod policy;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

pub use policy::{Exit, Policy, Restart, RestartPolicy, Signal};

/// What is to be done next, or to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Start this process, and say [`started`](Supervisor::started) or
    /// [`failed_to_start`](Supervisor::failed_to_start).
    Start(usize),
    /// Send this signal to the process's group.
    Signal(usize, Signal),
    /// Those that wait for this process may start.
    Ready(usize),
    /// The process has ended, as the supervisor sees it: `again` says how soon it is started again,
    /// if it is.
    Ended {
        /// Which one.
        process: usize,
        /// How it ended.
        outcome: Outcome,
        /// When it is started again, from now.
        again: Option<Duration>,
    },
    /// All are to end.
    Stop(Reason),
}

/// Why all are to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The user wants it.
    Asked,
    /// This process is required, and has ended.
    Required(usize),
}

/// How a process ended for good, or for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// By itself.
    Exited(Exit),
    /// After it was asked to.
    Stopped(Exit),
    /// By itself, and has been started again as often as is allowed.
    GaveUp(Exit),
    /// After it was asked to, because it didn't get ready in time.
    NotReady,
    /// It could not be started.
    NotStarted,
    /// It was never started: all were to end before, or what it waits for (this process) has ended
    /// without having been ready.
    Skipped(Option<usize>),
}

impl Outcome {
    /// What went wrong, as an exit code: that of the process, 128 and the number of the signal that
    /// killed it, or 1. `None` if nothing did.
    pub fn failure(self) -> Option<u8> {
        match self {
            Self::Exited(exit) | Self::GaveUp(exit) => exit.failure(),
            Self::NotReady | Self::NotStarted | Self::Skipped(Some(_)) => Some(1),
            Self::Stopped(_) | Self::Skipped(None) => None,
        }
    }
}

/// Decides what happens to the processes of a plan.
///
/// ```
/// use sinew_launch::supervisor::{Exit, Outcome, Policy, Step, Supervisor};
/// use std::time::Duration;
///
/// let mut supervisor = Supervisor::new(vec![Policy::default()]);
/// let now = Duration::ZERO;
/// assert_eq!(supervisor.poll(now), Some(Step::Start(0)));
/// supervisor.started(0, now);
/// assert_eq!(supervisor.poll(now), Some(Step::Ready(0)));
/// supervisor.exited(0, Exit::Code(3), false, now);
/// let outcome = Outcome::Exited(Exit::Code(3));
/// assert_eq!(supervisor.poll(now), Some(Step::Ended { process: 0, outcome, again: None }));
/// assert!(supervisor.is_done());
/// assert_eq!(supervisor.code(), 3);
/// ```
#[derive(Debug)]
pub struct Supervisor {
    slots: Vec<Slot>,
    steps: VecDeque<Step>,
    /// How often the user asked for the end, if all are to end.
    stop: Option<u32>,
    by_user: bool,
    starts: u64,
    required_failure: Option<u8>,
    first_failure: Option<u8>,
}

/// A process.
#[derive(Debug)]
struct Slot {
    policy: Policy,
    state: State,
    /// The driver has seen what it offers.
    told: bool,
    ready: bool,
    /// A number that grows with each start.
    start: u64,
    asked: Option<Asked>,
    /// It is asked to end for not having got ready.
    too_late: bool,
    /// How often it was started again since it last ran for as long as the window.
    streak: u32,
    /// When it was started again, within the window.
    restarts: VecDeque<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Waiting,
    Starting,
    Running { since: Duration },
    Lingering { since: Duration, exit: Exit },
    Delayed { until: Duration },
    Ended,
}

/// How far a process has been asked to end.
#[derive(Debug, Clone, Copy)]
struct Asked {
    signal: Signal,
    /// When the next signal follows; never after SIGKILL.
    next: Option<Duration>,
}

impl Supervisor {
    /// One for processes with these policies. What `after` says has no loops.
    pub fn new(policies: Vec<Policy>) -> Self {
        let slot = |policy| Slot {
            policy,
            state: State::Waiting,
            told: false,
            ready: false,
            start: 0,
            asked: None,
            too_late: false,
            streak: 0,
            restarts: VecDeque::new(),
        };
        Self {
            slots: policies.into_iter().map(slot).collect(),
            steps: VecDeque::new(),
            stop: None,
            by_user: false,
            starts: 0,
            required_failure: None,
            first_failure: None,
        }
    }

    /// The process was started.
    pub fn started(&mut self, process: usize, now: Duration) {
        let slot = &mut self.slots[process];
        slot.state = State::Running { since: now };
        slot.told = false;
        slot.too_late = false;
        slot.asked = None;
        self.starts += 1;
        slot.start = self.starts;
        if slot.policy.is_ready_at_start() {
            self.is_ready(process);
        }
    }

    /// The process could not be started. It is not tried again.
    pub fn failed_to_start(&mut self, process: usize, now: Duration) {
        self.ended(process, Outcome::NotStarted, now);
    }

    /// The process has ended; `others` says whether any of its group are still there.
    pub fn exited(&mut self, process: usize, exit: Exit, others: bool, now: Duration) {
        let State::Running { since } = self.slots[process].state else { return };
        self.slots[process].state = State::Lingering { since, exit };
        if !others {
            self.group_gone(process, now);
        } else if self.slots[process].asked.is_none_or(|asked| asked.signal < Signal::Term) {
            // It didn't wait for them. What a shell has started in the background ignores SIGINT.
            self.ask(process, Signal::Term, now);
        }
    }

    /// Nobody of the process's group is there any more.
    pub fn group_gone(&mut self, process: usize, now: Duration) {
        let State::Lingering { since, exit } = self.slots[process].state else { return };
        let slot = &mut self.slots[process];
        if slot.policy.ready_on_exit.is_some_and(|code| exit == Exit::Code(code)) {
            self.is_ready(process);
        }
        let slot = &mut self.slots[process];
        let outcome = if slot.too_late {
            Outcome::NotReady
        } else if self.stop.is_some() && slot.asked.is_some() {
            Outcome::Stopped(exit)
        } else {
            Outcome::Exited(exit)
        };
        let policy = slot.policy.restart.policy;
        let is_failure = outcome.failure().is_some() && !slot.is_meant(exit);
        let wants_again = policy == RestartPolicy::Always || policy == RestartPolicy::OnFailure && is_failure;
        if self.stop.is_some() || !wants_again {
            return self.ended(process, outcome, now);
        }
        match slot.again(since, now) {
            Some(delay) => {
                slot.state = State::Delayed { until: now + delay };
                self.steps.push_back(Step::Ended { process, outcome, again: Some(delay) });
            }
            None if slot.too_late => self.ended(process, outcome, now),
            None => self.ended(process, Outcome::GaveUp(exit), now),
        }
    }

    /// What the process is to offer is there.
    pub fn offered(&mut self, process: usize) {
        self.slots[process].told = true;
    }

    /// Whether the driver is to look for what the process offers.
    pub fn is_looked_for(&self, process: usize) -> bool {
        let slot = &self.slots[process];
        let is_running = matches!(slot.state, State::Running { .. });
        is_running && slot.policy.waits_to_be_told && !slot.told && !slot.ready
    }

    /// How long the process has been running, if it is.
    pub fn running_for(&self, process: usize, now: Duration) -> Option<Duration> {
        match self.slots[process].state {
            State::Running { since } => Some(now.saturating_sub(since)),
            _ => None,
        }
    }

    /// The user wants all to end. The second time each gets SIGTERM at once, then SIGKILL.
    pub fn interrupt(&mut self, now: Duration) {
        if self.stop.is_none() {
            self.by_user = true;
            self.begin_stop(Reason::Asked, now);
            return;
        }
        let times = self.stop.map_or(1, |times| times + 1);
        // The user's first Ctrl-C after a required process's end changes nothing: all are asked
        // already.
        self.stop = Some(times);
        let signal = match times {
            1 => return,
            2 => Signal::Term,
            _ => Signal::Kill,
        };
        for process in self.by_start() {
            let slot = &self.slots[process];
            let is_there = matches!(slot.state, State::Running { .. } | State::Lingering { .. });
            if is_there && slot.asked.is_none_or(|asked| asked.signal < signal) {
                self.ask(process, signal, now);
            }
        }
    }

    /// What is to be done at this time. Call it until it yields nothing, after whatever happened
    /// and when the [deadline](Self::deadline) has come.
    pub fn poll(&mut self, now: Duration) -> Option<Step> {
        if self.steps.is_empty() {
            self.advance(now);
        }
        self.steps.pop_front()
    }

    /// When to poll again if nothing happens before.
    pub fn deadline(&self) -> Option<Duration> {
        self.slots.iter().filter_map(|slot| slot.deadline(self.stop.is_some())).min()
    }

    /// Whether all processes have ended for good, and all has been told.
    pub fn is_done(&self) -> bool {
        self.steps.is_empty() && self.slots.iter().all(|slot| slot.state == State::Ended)
    }

    /// Whether all are to end.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// What is to be told to whoever started all this: what the first required process failed with;
    /// else 0 if the user wanted the end; else what the first process failed with; else 0.
    pub fn code(&self) -> u8 {
        let other = if self.by_user { None } else { self.first_failure };
        self.required_failure.or(other).unwrap_or(0)
    }

    /// Ends all, in order.
    fn begin_stop(&mut self, reason: Reason, now: Duration) {
        self.stop = Some(u32::from(self.by_user));
        self.steps.push_back(Step::Stop(reason));
        for process in 0..self.slots.len() {
            match self.slots[process].state {
                State::Waiting => self.ended(process, Outcome::Skipped(None), now),
                // It has ended before, and that was told.
                State::Delayed { .. } => self.slots[process].state = State::Ended,
                _ => {}
            }
        }
    }

    /// The process has ended for good.
    fn ended(&mut self, process: usize, outcome: Outcome, now: Duration) {
        let slot = &mut self.slots[process];
        slot.state = State::Ended;
        slot.asked = None;
        self.steps.push_back(Step::Ended { process, outcome, again: None });
        let is_meant = matches!(outcome, Outcome::Exited(exit) if slot.is_meant(exit));
        let failure = outcome.failure().filter(|_| !is_meant);
        self.first_failure = self.first_failure.or(failure);
        if slot.policy.required && !matches!(outcome, Outcome::Skipped(None) | Outcome::Stopped(_)) {
            self.required_failure = self.required_failure.or(failure);
            if self.stop.is_none() {
                self.begin_stop(Reason::Required(process), now);
            }
        }
    }

    fn is_ready(&mut self, process: usize) {
        if !std::mem::replace(&mut self.slots[process].ready, true) {
            self.steps.push_back(Step::Ready(process));
        }
    }

    fn ask(&mut self, process: usize, signal: Signal, now: Duration) {
        let slot = &mut self.slots[process];
        let grace = match signal {
            Signal::Kill => None,
            Signal::Term if slot.policy.signal != Signal::Term => Some(slot.policy.grace_after_term),
            Signal::Term | Signal::Int => Some(slot.policy.grace),
        };
        slot.asked = Some(Asked { signal, next: grace.map(|grace| now + grace) });
        self.steps.push_back(Step::Signal(process, signal));
    }

    /// Does all that is due.
    fn advance(&mut self, now: Duration) {
        for process in 0..self.slots.len() {
            self.advance_one(process, now);
        }
        if self.stop.is_some() {
            for process in self.by_start() {
                let is_running = matches!(self.slots[process].state, State::Running { .. });
                if is_running && self.slots[process].asked.is_none() && self.is_waited_for_by_none(process) {
                    self.ask(process, self.slots[process].policy.signal, now);
                }
            }
            return;
        }
        for process in 0..self.slots.len() {
            match self.slots[process].state {
                State::Waiting => self.start_or_skip(process, now),
                State::Delayed { until } if until <= now => self.start(process),
                _ => {}
            }
        }
    }

    fn advance_one(&mut self, process: usize, now: Duration) {
        let slot = &self.slots[process];
        if let Some(Asked { signal, next: Some(next) }) = slot.asked
            && next <= now
            && matches!(slot.state, State::Running { .. } | State::Lingering { .. })
        {
            self.ask(process, signal.next(), now);
        }
        let slot = &self.slots[process];
        let State::Running { since } = slot.state else { return };
        let policy = &slot.policy;
        if slot.ready || policy.ready_on_exit.is_some() && policy.ready_timeout.is_none() {
            return;
        }
        let is_offered = slot.told || !policy.waits_to_be_told;
        if policy.ready_on_exit.is_none() && is_offered && since + policy.ready_after <= now {
            self.is_ready(process);
        } else if policy.ready_timeout.is_some_and(|timeout| since + timeout <= now)
            && slot.asked.is_none()
            && self.stop.is_none()
        {
            self.slots[process].too_late = true;
            self.ask(process, self.slots[process].policy.signal, now);
        }
    }

    fn start_or_skip(&mut self, process: usize, now: Duration) {
        let mut all_ready = true;
        for index in 0..self.slots[process].policy.after.len() {
            let other = self.slots[process].policy.after[index];
            let slot = &self.slots[other];
            if !slot.ready && slot.state == State::Ended {
                return self.ended(process, Outcome::Skipped(Some(other)), now);
            }
            all_ready &= slot.ready;
        }
        // What was skipped may have been required.
        if all_ready && self.stop.is_none() {
            self.start(process);
        }
    }

    fn start(&mut self, process: usize) {
        self.slots[process].state = State::Starting;
        self.steps.push_back(Step::Start(process));
    }

    fn is_waited_for_by_none(&self, process: usize) -> bool {
        !self.slots.iter().any(|slot| slot.policy.after.contains(&process) && slot.state != State::Ended)
    }

    /// All processes, those first that were started last.
    fn by_start(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.slots.len()).collect();
        all.sort_by_key(|&process| std::cmp::Reverse(self.slots[process].start));
        all
    }
}

impl Slot {
    /// Whether the process is meant to end so.
    fn is_meant(&self, exit: Exit) -> bool {
        self.policy.ready_on_exit.is_some_and(|code| exit == Exit::Code(code))
    }

    /// How long until it is started again; `None` if that is not allowed.
    fn again(&mut self, since: Duration, now: Duration) -> Option<Duration> {
        let Restart { delay, max_delay, max, window, .. } = self.policy.restart;
        if now.saturating_sub(since) >= window {
            self.streak = 0;
        }
        self.restarts.retain(|&at| at + window > now);
        if max.is_some_and(|max| self.restarts.len() >= max as usize) {
            return None;
        }
        self.restarts.push_back(now);
        let factor = 1u32.checked_shl(self.streak).unwrap_or(u32::MAX);
        self.streak = self.streak.saturating_add(1);
        Some(delay.checked_mul(factor).map_or(max_delay, |delay| delay.min(max_delay)))
    }

    /// When something is due by itself.
    fn deadline(&self, is_stopping: bool) -> Option<Duration> {
        let next = self.asked.and_then(|asked| asked.next);
        match self.state {
            State::Delayed { until } => Some(until),
            State::Lingering { .. } => next,
            State::Running { since } => {
                let is_waiting = !self.ready && self.asked.is_none() && !is_stopping;
                let ready = (is_waiting && self.policy.ready_on_exit.is_none())
                    .then(|| {
                        (self.told || !self.policy.waits_to_be_told)
                            .then_some(since + self.policy.ready_after)
                    })
                    .flatten();
                let timeout = self.policy.ready_timeout.filter(|_| is_waiting).map(|timeout| since + timeout);
                [next, ready, timeout].into_iter().flatten().min()
            }
            State::Waiting | State::Starting | State::Ended => None,
        }
    }
}
