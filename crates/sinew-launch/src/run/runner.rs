//! The thread that carries out the supervisor's steps.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal as RawSignal, WaitOptions, WaitStatus, getpgrp, kill_process_group, set_child_subreaper, wait,
};
use rustix::termios::{isatty, tcgetpgrp};
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

use super::child::Child;
use super::error::{RunError, failed};
use super::family::Family;
use super::keeper::{self, Keeper};
use super::offers::Offers;
use super::options::RunOptions;
use super::output::Sink;
use super::report::{self, Event, Row};
use super::signals::{self, Signals};
use super::stat::{self, Group};
use super::usage::Meter;
use crate::plan::{Offer, Plan, Word};
use crate::supervisor::{Exit, Outcome, Signal, Step, Supervisor};

/// Runs a plan until all its processes have ended. Returns the exit code: the failure of the first
/// required process, else 0 if the user ended the launch, else the failure of the first process
/// that failed, else 0.
///
/// Writes to standard output. SIGINT, SIGTERM and SIGHUP end all processes in order, a second one
/// hurries, the third kills; SIGUSR1 (or Enter on a terminal) writes the resources of each process.
/// Blocks this thread, and starts no other.
///
/// It is for a program that does nothing else: it takes over signals, and adopts and reaps every
/// descendant of this process, including those that other code has started.
///
/// ```no_run
/// use sinew_launch::{Options, RunOptions, load, run};
///
/// let plan = load("robot.toml".as_ref(), &Options::default())?;
/// let code = run(&plan, &RunOptions::default())?;
/// std::process::exit(code.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RunError`]
pub fn run(plan: &Plan, options: &RunOptions) -> Result<u8, RunError> {
    let mut runner = Runner::new(plan, options)?;
    let outcome = runner.run();
    if outcome.is_err() {
        runner.kill_all();
    }
    runner.finish();
    outcome.map(|()| runner.supervisor.code())
}

struct Runner<'a> {
    plan: &'a Plan,
    options: &'a RunOptions,
    supervisor: Supervisor,
    /// The current run of each process.
    children: Vec<Option<Child>>,
    starts: Vec<u32>,
    /// The outcome of each process's last run.
    ends: Vec<Option<Outcome>>,
    sink: Sink,
    signals: Signals,
    offers: Option<Offers>,
    meter: Meter,
    next_table: Option<Duration>,
    /// Time of the next look at the groups whose process has ended.
    next_look: Duration,
    keeper: Option<Keeper>,
    family: Family,
    /// For parameter files, if there are any.
    temporary: Option<TempDir>,
    reads_keys: bool,
}

/// Time after which it is reported that other processes still wait for one.
const LATE: Duration = Duration::from_secs(10);

/// Period of polling where no notification exists: groups without a child of this process, and a
/// domain that can't be watched.
const AGAIN: Duration = Duration::from_millis(100);

/// Time that processes outside their group get to end.
const STRAYS: Duration = Duration::from_secs(1);

/// Time for writing the remaining output once all processes have ended, if the user is in a hurry.
const LAST_WORDS: Duration = Duration::from_secs(2);

fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}

impl<'a> Runner<'a> {
    fn new(plan: &'a Plan, options: &'a RunOptions) -> Result<Self, RunError> {
        let signals = Signals::listen().map_err(failed("listening for signals"))?;
        // A descendant that loses its parent becomes a child of this process, which reaps it.
        set_child_subreaper(Pid::from_raw(1)).map_err(|error| failed("prctl")(error.into()))?;
        let mut words = plan.processes.iter().flat_map(|process| &process.arguments);
        let needs_files = words.any(|word| matches!(word, Word::File(_)));
        let temporary = needs_files.then(|| tempfile::Builder::new().prefix(keeper::TEMPORARY).tempdir());
        let temporary = temporary
            .transpose()
            .map_err(|source| RunError::Temporary { path: std::env::temp_dir(), source })?;
        let family = Family::new();
        let keeper = match options.keeper.as_slice() {
            [] => None,
            command => {
                let keeper = Keeper::start(command, &family.mark, path_of(temporary.as_ref()));
                Some(keeper.map_err(failed("starting the process that outlives this one"))?)
            }
        };
        let has_offers = plan.processes.iter().any(|process| !process.ready.is_empty());
        let offers =
            has_offers.then(|| Offers::open(options.directory.as_deref(), options.domain)).transpose()?;
        let count = plan.processes.len();
        let policies = plan.processes.iter().map(|process| process.policy.clone()).collect();
        let mut meter = Meter::default();
        meter.begin(now());
        Ok(Self {
            plan,
            options,
            supervisor: Supervisor::new(policies),
            children: (0..count).map(|_| None).collect(),
            starts: vec![0; count],
            ends: vec![None; count],
            sink: Sink::open(plan, options)?,
            signals,
            offers,
            meter,
            next_table: options.table_every.map(|_| now()),
            next_look: now(),
            keeper,
            family,
            temporary,
            reads_keys: isatty(io::stdin()) && !options.json,
        })
    }

    fn run(&mut self) -> Result<(), RunError> {
        loop {
            while let Some(step) = self.supervisor.poll(now()) {
                self.step(step);
            }
            if self.supervisor.is_done() {
                return Ok(());
            }
            self.sink.write();
            self.wait()?;
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            // The process waits for the reader, as it would if it wrote to standard output itself.
            Step::Start(process) if !self.sink.has_room(process) => {
                self.supervisor.put_off(process, now() + AGAIN);
            }
            Step::Start(process) => self.start(process),
            Step::Signal(process, signal) => {
                let Some(child) = &self.children[process] else { return };
                let raw = match signal {
                    Signal::Int => RawSignal::INT,
                    Signal::Term => RawSignal::TERM,
                    Signal::Kill => RawSignal::KILL,
                };
                // Another error: the last of them has just ended.
                let is_refused = kill_process_group(child.pid, raw) == Err(Errno::PERM);
                if !is_refused || child.is_lingering {
                    return self.sink.event(process, &Event::Asked { signal });
                }
                self.sink.event(process, &Event::CantSignal { signal });
                if signal == Signal::Kill {
                    self.supervisor.out_of_reach(process, now());
                }
            }
            Step::Ready(process) => self.sink.event(process, &Event::Ready),
            Step::Ended { process, outcome, again } => {
                if let Some(child) = self.children[process].take() {
                    let group = child.pid.as_raw_pid();
                    self.family.groups.remove(&group);
                    self.keeper.iter().for_each(|keeper| keeper.ended(group));
                    self.sink.end(process, &outcome);
                }
                let waited_for = match outcome {
                    Outcome::Skipped(Some(other)) => Some(self.plan.processes[other].name.as_str()),
                    _ => None,
                };
                self.ends[process] = Some(outcome);
                self.sink.event(process, &Event::Ended { outcome, again, waited_for });
            }
            Step::Stop(reason) => self.sink.stop(reason),
        }
    }

    fn start(&mut self, process: usize) {
        let planned = &self.plan.processes[process];
        match Child::start(planned, process, &self.family.mark, path_of(self.temporary.as_ref())) {
            Ok((child, outputs)) => {
                self.sink.add(process, outputs);
                let pid = child.pid.as_raw_pid();
                self.family.groups.insert(pid);
                self.keeper.iter().for_each(|keeper| keeper.started(pid));
                self.sink.event(process, &Event::Started { pid });
                self.children[process] = Some(child);
                self.starts[process] += 1;
                self.supervisor.started(process, now());
            }
            Err(error) => {
                self.sink.event(process, &Event::CantStart { error: &error });
                self.supervisor.failed_to_start(process, now());
            }
        }
    }

    /// Waits for the first event, and takes in all events.
    fn wait(&mut self) -> Result<(), RunError> {
        let limit = self.limit();
        let timeout = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let Ready { signals, keys, offers, outputs } = self.ready(timeout.as_ref())?;
        self.sink.read(&outputs);
        self.sink.write();
        if self.sink.is_closed() && !self.supervisor.is_stopping() {
            self.supervisor.interrupt(now()); // as SIGPIPE would
        }
        let came = if signals { self.signals.take() } else { signals::Came::default() };
        if came.interrupt {
            self.supervisor.interrupt(now());
        }
        if came.child {
            self.reap();
        }
        if came.child || self.next_look <= now() {
            self.next_look = now() + AGAIN;
            self.look_at_groups();
        }
        let wants_table = keys && self.read_keys();
        let is_time = self.next_table.is_some_and(|at| at <= now());
        if let (true, Some(every)) = (is_time, self.options.table_every) {
            self.next_table = Some(now() + every);
        }
        if wants_table || came.table || is_time {
            self.tell_usage();
        }
        if offers || limit.is_some() {
            self.look_for_offers();
        }
        Ok(())
    }

    /// Returns the longest time to wait without an event.
    fn limit(&self) -> Option<Duration> {
        let now = now();
        let until = |at: Duration| at.saturating_sub(now);
        let lingers = self.children.iter().flatten().any(|child| child.is_lingering);
        let is_blind = self.offers.as_ref().is_some_and(|offers| offers.descriptor().is_none());
        let looked_for = (0..self.children.len()).any(|process| self.supervisor.is_looked_for(process));
        let again = (lingers || looked_for && is_blind).then_some(AGAIN);
        // A notification may have been missed while the domain was being created.
        let safety = looked_for.then_some(Duration::from_secs(1));
        let deadline = self.supervisor.deadline().map(until);
        [again, safety, deadline, self.next_table.map(until)].into_iter().flatten().min()
    }

    fn ready(&self, timeout: Option<&Timespec>) -> Result<Ready, RunError> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN)];
        let mut whose = Vec::new();
        for (index, from) in self.sink.sources() {
            fds.push(PollFd::from_borrowed_fd(from, PollFlags::IN));
            whose.push(index);
        }
        let offers = self.offers.as_ref().and_then(Offers::descriptor);
        fds.extend(offers.map(|watch| PollFd::from_borrowed_fd(watch, PollFlags::IN)));
        if let Some(screen) = self.sink.wants_to_write() {
            fds.push(PollFd::from_borrowed_fd(screen, PollFlags::OUT));
        }
        let terminal = io::stdin();
        // Reading in the background would stop this process.
        let has_keys = self.reads_keys && tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp());
        if has_keys {
            fds.push(PollFd::from_borrowed_fd(terminal.as_fd(), PollFlags::IN));
        }
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(failed("poll")(error.into())),
        }
        let came = |index: usize| !fds[index].revents().is_empty();
        let outputs = whose.iter().enumerate().filter(|(index, _)| came(index + 1)).map(|(_, whose)| *whose);
        Ok(Ready {
            signals: came(0),
            keys: has_keys && came(fds.len() - 1),
            offers: offers.is_some() && came(whose.len() + 1),
            outputs: outputs.collect(),
        })
    }

    /// Returns `true` if the user pressed Enter.
    fn read_keys(&mut self) -> bool {
        let mut bytes = [0; 256];
        match rustix::io::read(io::stdin(), &mut bytes) {
            Ok(count @ 1..) => bytes[..count].contains(&b'\n'),
            Err(Errno::INTR | Errno::AGAIN) => false,
            Ok(_) | Err(_) => {
                self.reads_keys = false;
                false
            }
        }
    }

    /// Reaps the processes that have ended.
    fn reap(&mut self) {
        // All of them first: a process that has ended but isn't reaped still counts in its group.
        let ended = std::iter::from_fn(|| wait(WaitOptions::NOHANG).ok().flatten());
        for (pid, status) in ended.collect::<Vec<_>>() {
            let is_it = |child: &Child| child.pid == pid && !child.is_lingering;
            let process = self.children.iter().position(|child| child.as_ref().is_some_and(is_it));
            let (Some(process), Some(exit)) = (process, exit(status)) else { continue };
            let others = self.has_others(process, pid);
            if let Some(child) = &mut self.children[process] {
                child.is_lingering = others;
            }
            self.sink.drain(process);
            self.supervisor.exited(process, exit, others, now());
        }
    }

    /// Looks for groups that have become empty since their process ended.
    fn look_at_groups(&mut self) {
        for process in 0..self.children.len() {
            let lingers = self.children[process].as_ref().filter(|child| child.is_lingering);
            let Some(pid) = lingers.map(|child| child.pid) else { continue };
            if self.has_others(process, pid) {
                continue;
            }
            if let Some(child) = &mut self.children[process] {
                child.is_lingering = false;
            }
            self.sink.drain(process);
            self.supervisor.group_gone(process, now());
        }
    }

    /// Returns `true` if processes remain in the group of a process that has ended.
    fn has_others(&mut self, process: usize, group: Pid) -> bool {
        let found = stat::group(group);
        if found == Group::Foreign {
            self.sink.event(process, &Event::LeftForeign);
        }
        found == Group::Lives
    }

    fn look_for_offers(&mut self) {
        let Some(offers) = &mut self.offers else { return };
        offers.refresh();
        for (index, process) in self.plan.processes.iter().enumerate() {
            if !self.supervisor.is_looked_for(index) {
                continue;
            }
            let Some(missing) = process.ready.iter().find(|offer| !offers.has(offer)) else {
                self.supervisor.offered(index);
                continue;
            };
            let Some(child) = &mut self.children[index] else { continue };
            let is_late = self.supervisor.running_for(index, now()).is_some_and(|time| time >= LATE);
            if is_late && !std::mem::replace(&mut child.is_told_late, true) {
                let similar = offers.similar(missing);
                let missing = match missing {
                    Offer::Service(name) => format!("server of {name}"),
                    Offer::Topic(name) => format!("publisher of {name}"),
                    Offer::Node(name) => format!("node {name}"),
                };
                self.sink.event(index, &Event::NotReadyYet { missing, similar });
            }
        }
    }

    fn tell_usage(&mut self) {
        let usage = self.meter.look(now());
        let row = |(index, process): (usize, &'a crate::plan::Process)| {
            let child = self.children[index].as_ref();
            let state = match (child, self.ends[index]) {
                (Some(child), _) => format!("process {}", child.pid.as_raw_pid()),
                (None, Some(Outcome::Exited(exit) | Outcome::Stopped(exit) | Outcome::GaveUp(exit))) => {
                    report::shown(exit)
                }
                (None, Some(Outcome::Left)) => "left running".to_owned(),
                (None, Some(_)) => "not started".to_owned(),
                (None, None) => "waiting".to_owned(),
            };
            let usage = child.and_then(|child| usage.get(&child.pid.as_raw_pid()).copied());
            Row { name: &process.name, state, restarts: self.starts[index].saturating_sub(1), usage }
        };
        let rows: Vec<Row<'_>> = self.plan.processes.iter().enumerate().map(row).collect();
        self.sink.usage(&rows);
    }

    /// Kills all groups, when nothing else helps.
    fn kill_all(&mut self) {
        for child in self.children.iter().flatten() {
            let _ = kill_process_group(child.pid, RawSignal::KILL); // fails if it has just ended
        }
    }

    /// Ends everything that is left.
    fn finish(&mut self) {
        let strays = self.family.end(STRAYS);
        if strays > 0 {
            self.sink.strays(strays);
        }
        self.sink.leave();
        self.write_the_rest();
        if let Some(keeper) = self.keeper.take() {
            keeper.dismiss();
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }

    /// Writes the remaining output once all processes have ended. Waits for the reader, for as long
    /// as the user does.
    fn write_the_rest(&mut self) {
        let until = self.supervisor.is_hurried().then(|| now() + LAST_WORDS);
        let mut has_all = false;
        loop {
            self.sink.write();
            if self.sink.wants_to_write().is_none() && !has_all {
                has_all = !self.sink.read_the_rest();
                continue;
            }
            let Some(screen) = self.sink.wants_to_write() else { return };
            let left = until.and_then(|until| Timespec::try_from(until.saturating_sub(now())).ok());
            let mut fds = [
                PollFd::from_borrowed_fd(screen, PollFlags::OUT),
                PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
            ];
            let is_over = !matches!(poll(&mut fds, left.as_ref()), Ok(1..) | Err(Errno::INTR));
            if self.signals.take().interrupt || is_over {
                return self.sink.tell_lost();
            }
        }
    }
}

/// Returns the path of the temporary directory; an empty one if there is none.
fn path_of(temporary: Option<&TempDir>) -> &Path {
    temporary.map_or(Path::new(""), TempDir::path)
}

/// Events to be taken in.
struct Ready {
    signals: bool,
    keys: bool,
    offers: bool,
    /// The indices of streams.
    outputs: Vec<usize>,
}

fn exit(status: WaitStatus) -> Option<Exit> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(Exit::Code(u8::try_from(code).unwrap_or(u8::MAX))),
        (None, Some(signal)) => Some(Exit::Signal(signal)),
        (None, None) => None, // it was stopped or continued
    }
}
