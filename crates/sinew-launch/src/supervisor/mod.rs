//! Decides which process is started, asked to end, killed or restarted, and when.
//!
//! A state machine without processes or a clock: a driver reports events with their times, and
//! carries out the steps that [`poll`](Supervisor::poll) returns. Times are durations since any
//! fixed moment.
//!
//! A process goes `Waiting` (for the processes that it comes after) -> `Starting` (the driver got
//! the step) -> `Running` -> `Lingering` (it has ended, other processes of its group haven't) ->
//! `Delayed` (it will be restarted) or `Ended`.
//!
//! - A process starts once all processes that it waits for are *ready*. Ready is for good: a
//!   restarted process has been ready before.
//! - A process is asked to end by its signal, then SIGTERM, then SIGKILL, each after a grace
//!   period. The signals go to its whole process group, as long as any of that exists. Processes
//!   that it leaves behind when it ends get SIGTERM at once.
//! - Once everything has to end, nothing is started, and a process is asked when those that wait
//!   for it have ended; of several, the one that was started last is asked first.

mod policy;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

pub use policy::{Exit, Policy, Restart, RestartPolicy, Signal};

/// The driver's next action, or an event to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Start this process, and call [`started`](Supervisor::started) or
    /// [`failed_to_start`](Supervisor::failed_to_start).
    Start(usize),
    /// Send this signal to the process's group.
    Signal(usize, Signal),
    /// Processes that wait for this process may start.
    Ready(usize),
    /// The process has ended, as far as the supervisor is concerned: `again` is the delay of its
    /// restart, if it is restarted.
    Ended {
        /// The process.
        process: usize,
        /// How it ended.
        outcome: Outcome,
        /// Delay of its restart, from now.
        again: Option<Duration>,
    },
    /// All processes are to end.
    Stop(Reason),
}

/// The reason why all processes are to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The user asked for it.
    Asked,
    /// This process is required, and has ended.
    Required(usize),
}

/// The outcome of a process, final or before a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It ended by itself.
    Exited(Exit),
    /// It ended after it was asked to.
    Stopped(Exit),
    /// It ended by itself, and has been restarted as often as allowed.
    GaveUp(Exit),
    /// It was asked to end because it wasn't ready in time.
    NotReady,
    /// It could not be started.
    NotStarted,
    /// It still runs: it could not be ended.
    Left,
    /// It was never started: all processes were to end before, or the process that it waits for
    /// (this one) ended before it was ready.
    Skipped(Option<usize>),
}

impl Outcome {
    /// Returns the failure as an exit code: that of the process, 128 plus the number of the signal
    /// that killed it, or 1. Returns `None` if nothing failed.
    pub fn failure(self) -> Option<u8> {
        match self {
            Self::Exited(exit) | Self::GaveUp(exit) => exit.failure(),
            Self::NotReady | Self::NotStarted | Self::Left | Self::Skipped(Some(_)) => Some(1),
            Self::Stopped(_) | Self::Skipped(None) => None,
        }
    }
}

/// Decides when the processes of a plan start and end.
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
    /// Number of the user's requests to end, if all processes are to end.
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
    /// The driver has seen its offers.
    told: bool,
    ready: bool,
    /// A number that grows with each start of any process.
    start: u64,
    asked: Option<Asked>,
    /// It is asked to end because it wasn't ready in time.
    too_late: bool,
    /// Number of restarts since it last ran for as long as the window.
    streak: u32,
    /// Times of its restarts within the window.
    restarts: VecDeque<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Waiting,
    Starting,
    Running {
        since: Duration,
    },
    /// `was_asked`: it was asked to end before it did.
    Lingering {
        since: Duration,
        exit: Exit,
        was_asked: bool,
    },
    Delayed {
        until: Duration,
    },
    Ended,
}

/// The progress of asking a process to end.
#[derive(Debug, Clone, Copy)]
struct Asked {
    signal: Signal,
    /// Time of the next signal; `None` after SIGKILL.
    next: Option<Duration>,
}

impl Supervisor {
    /// Makes a supervisor for processes with these policies. Their `after` fields form no loops.
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

    /// Reports that the process was started.
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

    /// Reports that the process could not be started. If it has run before, that counts as a
    /// failed run: its program may be about to be replaced.
    pub fn failed_to_start(&mut self, process: usize, now: Duration) {
        match self.slots[process].start {
            0 => self.ended(process, Outcome::NotStarted, now),
            _ => self.over(process, Outcome::NotStarted, now, now),
        }
    }

    /// Puts a restart off that was returned as a step: it is returned again at that time.
    pub fn put_off(&mut self, process: usize, until: Duration) {
        // Either way, the end of its last run has already been reported.
        self.slots[process].state = match self.stop {
            Some(_) => State::Ended,
            None => State::Delayed { until },
        };
    }

    /// Reports that the process has ended; `others`: whether other processes of its group remain.
    pub fn exited(&mut self, process: usize, exit: Exit, others: bool, now: Duration) {
        let State::Running { since } = self.slots[process].state else { return };
        let was_asked = self.slots[process].asked.is_some();
        self.slots[process].state = State::Lingering { since, exit, was_asked };
        if !others {
            self.group_gone(process, now);
        } else if self.slots[process].asked.is_none_or(|asked| asked.signal < Signal::Term) {
            // It didn't wait for them. Processes that a shell has started in the background ignore
            // SIGINT.
            self.ask(process, Signal::Term, now);
        }
    }

    /// Reports that SIGKILL can't be sent to the running process, as it belongs to another user. It
    /// isn't waited for any more, and not restarted either.
    pub fn out_of_reach(&mut self, process: usize, now: Duration) {
        if let State::Running { .. } = self.slots[process].state {
            self.ended(process, Outcome::Left, now);
        }
    }

    /// Reports that no process of the group remains.
    pub fn group_gone(&mut self, process: usize, now: Duration) {
        let State::Lingering { since, exit, was_asked } = self.slots[process].state else { return };
        if self.slots[process].is_meant(exit) {
            self.is_ready(process);
        }
        let outcome = if self.slots[process].too_late {
            Outcome::NotReady
        } else if was_asked {
            Outcome::Stopped(exit)
        } else {
            Outcome::Exited(exit)
        };
        self.over(process, outcome, since, now);
    }

    /// Reports that the process's offers exist.
    pub fn offered(&mut self, process: usize) {
        self.slots[process].told = true;
    }

    /// Returns `true` if the driver is to look for the process's offers.
    pub fn is_looked_for(&self, process: usize) -> bool {
        let slot = &self.slots[process];
        let is_running = matches!(slot.state, State::Running { .. });
        is_running && slot.policy.waits_to_be_told && !slot.told && !slot.ready
    }

    /// Returns how long the process has been running, if it is.
    pub fn running_for(&self, process: usize, now: Duration) -> Option<Duration> {
        match self.slots[process].state {
            State::Running { since } => Some(now.saturating_sub(since)),
            _ => None,
        }
    }

    /// Reports that the user wants everything to end. The second time, each process gets SIGTERM at
    /// once, then SIGKILL.
    pub fn interrupt(&mut self, now: Duration) {
        if self.stop.is_none() {
            self.by_user = true;
            self.begin_stop(Reason::Asked, now);
            return;
        }
        let times = self.stop.map_or(1, |times| times + 1);
        // The user's first Ctrl-C after a required process's end changes nothing: all processes
        // have already been asked.
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

    /// Returns the next step at this time. Call it until it returns `None`, after every event and
    /// when the [deadline](Self::deadline) has come.
    pub fn poll(&mut self, now: Duration) -> Option<Step> {
        if self.steps.is_empty() {
            self.advance(now);
        }
        self.steps.pop_front()
    }

    /// Returns the time of the next poll if nothing happens before.
    pub fn deadline(&self) -> Option<Duration> {
        self.slots.iter().filter_map(|slot| slot.deadline(self.stop.is_some())).min()
    }

    /// Returns `true` if all processes have ended for good and all steps have been returned.
    pub fn is_done(&self) -> bool {
        self.steps.is_empty() && self.slots.iter().all(|slot| slot.state == State::Ended)
    }

    /// Returns `true` if everything has to end.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// Returns `true` if the user has asked more than once for the end.
    pub fn is_hurried(&self) -> bool {
        self.stop.is_some_and(|times| times > 1)
    }

    /// Returns the exit code of the launch: the failure of the first required process; else 0 if
    /// the user asked for the end; else the failure of the first process that failed; else 0.
    pub fn code(&self) -> u8 {
        let other = if self.by_user { None } else { self.first_failure };
        self.required_failure.or(other).unwrap_or(0)
    }

    /// Ends all processes, in order.
    fn begin_stop(&mut self, reason: Reason, now: Duration) {
        self.stop = Some(u32::from(self.by_user));
        self.steps.push_back(Step::Stop(reason));
        for process in 0..self.slots.len() {
            match self.slots[process].state {
                State::Waiting => self.ended(process, Outcome::Skipped(None), now),
                // Its end has already been reported.
                State::Delayed { .. } => self.slots[process].state = State::Ended,
                _ => {}
            }
        }
    }

    /// Records that a run of the process since that time is over: it is restarted or has ended for
    /// good.
    fn over(&mut self, process: usize, outcome: Outcome, since: Duration, now: Duration) {
        let slot = &mut self.slots[process];
        let wants_again = match slot.policy.restart.policy {
            RestartPolicy::Never => false,
            RestartPolicy::OnFailure => slot.failure(outcome).is_some(),
            RestartPolicy::Always => true,
        };
        if self.stop.is_some() || !wants_again {
            return self.ended(process, outcome, now);
        }
        match (slot.again(since, now), outcome) {
            (Some(delay), _) => {
                slot.state = State::Delayed { until: now + delay };
                self.steps.push_back(Step::Ended { process, outcome, again: Some(delay) });
            }
            (None, Outcome::Exited(exit)) => self.ended(process, Outcome::GaveUp(exit), now),
            (None, _) => self.ended(process, outcome, now),
        }
    }

    /// Records that the process has ended for good.
    fn ended(&mut self, process: usize, outcome: Outcome, now: Duration) {
        let slot = &mut self.slots[process];
        slot.state = State::Ended;
        slot.asked = None;
        self.steps.push_back(Step::Ended { process, outcome, again: None });
        let failure = slot.failure(outcome);
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

    /// Does everything that is due.
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
        // A skipped process may have been required.
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

    /// Returns all processes, those first that were started last.
    fn by_start(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.slots.len()).collect();
        all.sort_by_key(|&process| std::cmp::Reverse(self.slots[process].start));
        all
    }
}

impl Slot {
    /// Returns `true` if the process counts as ready when it ends like this.
    fn is_meant(&self, exit: Exit) -> bool {
        self.policy.ready_on_exit.is_some_and(|code| exit == Exit::Code(code))
    }

    /// Returns the failure as an exit code, if this outcome is one for this process.
    fn failure(&self, outcome: Outcome) -> Option<u8> {
        let is_meant = matches!(outcome, Outcome::Exited(exit) if self.is_meant(exit));
        outcome.failure().filter(|_| !is_meant)
    }

    /// Returns the delay of its restart; `None` if no restart is allowed.
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

    /// Returns the time at which something is due by itself.
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
