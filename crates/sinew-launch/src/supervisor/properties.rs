//! A simulated machine runs random plans, and an oracle that knows only the rules checks the
//! history.

use proptest::prelude::*;

use super::*;

/// An event.
#[derive(Debug, Clone, Copy)]
enum Happened {
    Step(Step),
    Started(usize),
    Exited(usize, Exit),
    GroupGone(usize),
    OutOfReach(usize),
    Offered(usize),
    Interrupt,
}

/// Behaviour of the simulated process in each run.
#[derive(Debug, Clone, Copy)]
struct Behaviour {
    /// Milliseconds after which it ends by itself.
    lives: Option<u64>,
    exit: Exit,
    /// Time from its start until it offers something.
    offers: u64,
    /// The signal that ends it, and the time that this takes.
    heeds: Signal,
    slowness: u64,
    /// Whether it leaves other processes of its group, which end at SIGKILL or by themselves.
    leaves: Option<u64>,
    /// Time for which its program is missing, from the first of the two on.
    missing: (u64, u64),
    /// Whether it belongs to another user, so that no signal reaches it.
    is_foreign: bool,
}

#[derive(Debug, Clone)]
struct Case {
    policies: Vec<Policy>,
    behaviours: Vec<Behaviour>,
    interrupts: Vec<u64>,
}

fn milliseconds(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn restart() -> impl Strategy<Value = Restart> {
    let policy =
        prop_oneof![Just(RestartPolicy::Never), Just(RestartPolicy::OnFailure), Just(RestartPolicy::Always)];
    (policy, milliseconds(1..300), 1u32..8, prop::option::of(0u32..4), milliseconds(1..2000)).prop_map(
        |(policy, delay, times, max, window)| Restart {
            policy,
            delay,
            max_delay: delay * times,
            max,
            window,
        },
    )
}

fn policy(index: usize) -> impl Strategy<Value = Policy> {
    let after = prop::collection::vec(0..index.max(1), 0..=index.min(2));
    let signal = prop_oneof![Just(Signal::Int), Just(Signal::Term), Just(Signal::Kill)];
    let ready = (
        milliseconds(0..50),
        prop::option::weighted(0.2, 0..2u8),
        any::<bool>(),
        prop::option::of(milliseconds(1..400)),
    );
    (after, restart(), prop::bool::weighted(0.2), signal, milliseconds(0..500), milliseconds(0..500), ready)
        .prop_map(move |(after, restart, required, signal, grace, grace_after_term, ready)| Policy {
            after: if index == 0 { Vec::new() } else { after },
            restart,
            required,
            signal,
            grace,
            grace_after_term,
            ready_after: ready.0,
            ready_on_exit: ready.1,
            waits_to_be_told: ready.2,
            ready_timeout: ready.3,
        })
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    let exit = prop_oneof![Just(Exit::Code(0)), Just(Exit::Code(1)), Just(Exit::Signal(11))];
    let heeds = prop_oneof![Just(Signal::Int), Just(Signal::Term), Just(Signal::Kill)];
    (
        prop::option::of(0..2000u64),
        exit,
        0..300u64,
        heeds,
        0..300u64,
        prop::option::weighted(0.2, 0..2000u64),
        (0..2000u64, 0..500u64),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(lives, exit, offers, heeds, slowness, leaves, missing, is_foreign)| Behaviour {
            lives,
            exit,
            offers,
            heeds,
            slowness,
            leaves,
            missing,
            is_foreign,
        })
}

fn case() -> impl Strategy<Value = Case> {
    (1..6usize).prop_flat_map(|count| {
        let policies: Vec<_> = (0..count).map(policy).collect();
        let behaviours = prop::collection::vec(behaviour(), count);
        (policies, behaviours, prop::collection::vec(0..6000u64, 0..4)).prop_map(
            |(policies, behaviours, mut interrupts)| {
                interrupts.sort_unstable();
                Case { policies, behaviours, interrupts }
            },
        )
    })
}

/// A future event of the machine: at a time, for the n-th run of a process.
type Planned = (Duration, usize, usize, Happened);

type History = Vec<(Duration, Happened)>;

/// Runs the case for 60 simulated seconds, with an interrupt at 20 s, so that it comes to an end.
fn simulate(case: &Case) -> (History, Supervisor) {
    let mut supervisor = Supervisor::new(case.policies.clone());
    let mut history = History::new();
    let mut plans: Vec<Planned> = Vec::new();
    let mut lives = vec![0; case.policies.len()];
    let interrupts = case.interrupts.iter().copied().chain([20_000]);
    for at in interrupts {
        plans.push((Duration::from_millis(at), usize::MAX, 0, Happened::Interrupt));
    }
    let mut now = Duration::ZERO;
    while !supervisor.is_done() {
        while let Some(step) = supervisor.poll(now) {
            history.push((now, Happened::Step(step)));
            match step {
                Step::Start(process) => {
                    let Behaviour { lives: span, exit, offers, missing: (from, time), .. } =
                        case.behaviours[process];
                    if (Duration::from_millis(from)..Duration::from_millis(from + time)).contains(&now) {
                        supervisor.failed_to_start(process, now);
                        continue;
                    }
                    lives[process] += 1;
                    let life = lives[process];
                    let in_ms = |ms| now + Duration::from_millis(ms);
                    plans.push((in_ms(offers), process, life, Happened::Offered(process)));
                    if let Some(span) = span {
                        plans.push((in_ms(span), process, life, Happened::Exited(process, exit)));
                    }
                    supervisor.started(process, now);
                    history.push((now, Happened::Started(process)));
                }
                Step::Signal(process, signal) => {
                    let Behaviour { heeds, slowness, is_foreign, .. } = case.behaviours[process];
                    let number = match signal {
                        Signal::Int => 2,
                        Signal::Term => 15,
                        Signal::Kill => 9,
                    };
                    let (at, life) = (now + Duration::from_millis(slowness), lives[process]);
                    let is_running = matches!(supervisor.slots[process].state, State::Running { .. });
                    if is_foreign && is_running {
                        if signal == Signal::Kill {
                            supervisor.out_of_reach(process, now);
                            history.push((now, Happened::OutOfReach(process)));
                        }
                    } else if signal == Signal::Kill {
                        plans.push((now, process, life, Happened::Exited(process, Exit::Signal(number))));
                        plans.push((now, process, life, Happened::GroupGone(process)));
                    } else if signal >= heeds {
                        plans.push((at, process, life, Happened::Exited(process, Exit::Signal(number))));
                    }
                }
                _ => {}
            }
        }
        if supervisor.is_done() {
            break;
        }
        let next =
            plans.iter().enumerate().min_by_key(|(_, plan)| plan.0).map(|(index, plan)| (index, plan.0));
        let deadline = supervisor.deadline().filter(|&at| next.is_none_or(|(_, next)| at < next));
        if let Some(at) = deadline {
            assert!(at >= now, "a deadline in the past would spin");
            now = at;
            continue;
        }
        let Some((index, at)) = next else { panic!("nothing will ever happen: {supervisor:?}") };
        now = now.max(at);
        let (_, process, life, what) = plans.remove(index);
        if process != usize::MAX && life != lives[process] {
            continue;
        }
        if let Some(what) = apply(&mut supervisor, case, (now, process, life, what), &mut plans) {
            history.push((now, what));
        }
    }
    (history, supervisor)
}

fn apply(
    supervisor: &mut Supervisor,
    case: &Case,
    (now, _, life, what): Planned,
    plans: &mut Vec<Planned>,
) -> Option<Happened> {
    match what {
        Happened::Offered(process) if supervisor.is_looked_for(process) => supervisor.offered(process),
        Happened::Exited(process, exit) => {
            if !matches!(supervisor.slots[process].state, State::Running { .. }) {
                return None;
            }
            let leaves = case.behaviours[process].leaves;
            supervisor.exited(process, exit, leaves.is_some(), now);
            if let Some(leaves) = leaves {
                plans.push((
                    now + Duration::from_millis(leaves),
                    process,
                    life,
                    Happened::GroupGone(process),
                ));
            }
        }
        Happened::GroupGone(process) => {
            if !matches!(supervisor.slots[process].state, State::Lingering { .. }) {
                return None;
            }
            supervisor.group_gone(process, now);
        }
        Happened::Interrupt => supervisor.interrupt(now),
        _ => return None,
    }
    Some(what)
}

/// The oracle's knowledge of a process from the history so far.
#[derive(Debug, Clone, Default)]
struct Seen {
    is_alive: bool,
    is_group_there: bool,
    is_over: bool,
    was_ready: bool,
    started_at: Option<Duration>,
    /// Time before which it must not be restarted.
    not_before: Option<Duration>,
    restarts: Vec<Duration>,
    last_signal: Option<(Duration, Signal)>,
    exited_at: Option<Duration>,
}

type Checked = Result<(), TestCaseError>;

/// Knows the documented rules and the history so far.
struct Oracle<'a> {
    case: &'a Case,
    seen: Vec<Seen>,
    stopping: bool,
    by_user: bool,
    interrupts: u32,
    required: Option<u8>,
    first: Option<u8>,
}

impl Oracle<'_> {
    fn look(&mut self, now: Duration, happened: Happened) -> Checked {
        match happened {
            Happened::Step(step) => self.step(now, step)?,
            Happened::Started(process) => {
                let one = &mut self.seen[process];
                one.started_at = Some(now);
                (one.is_alive, one.is_group_there, one.last_signal) = (true, true, None);
            }
            Happened::Exited(process, _) => {
                self.seen[process].is_alive = false;
                self.seen[process].exited_at = Some(now);
                self.seen[process].is_group_there = self.case.behaviours[process].leaves.is_some();
            }
            Happened::GroupGone(process) => self.seen[process].is_group_there = false,
            Happened::OutOfReach(process) => {
                self.seen[process].is_alive = false;
                self.seen[process].is_group_there = false; // none that matters
            }
            Happened::Offered(_) => {}
            Happened::Interrupt => {
                self.by_user |= !self.stopping;
                self.interrupts += 1;
            }
        }
        Ok(())
    }

    fn step(&mut self, now: Duration, step: Step) -> Checked {
        match step {
            Step::Start(process) => {
                let (one, policy) = (&self.seen[process], &self.case.policies[process]);
                prop_assert!(!self.stopping, "nothing starts while all end");
                prop_assert!(!one.is_alive && !one.is_group_there && !one.is_over);
                prop_assert!(
                    policy.after.iter().all(|&other| self.seen[other].was_ready),
                    "{} waits",
                    process
                );
                prop_assert!(one.not_before.is_none_or(|at| at == now), "not when it was announced");
            }
            Step::Ready(process) => {
                let (one, policy) = (&mut self.seen[process], &self.case.policies[process]);
                prop_assert!(!std::mem::replace(&mut one.was_ready, true), "ready is told once");
                let earliest = one.started_at.map(|at| at + policy.ready_after);
                prop_assert!(policy.ready_on_exit.is_some() || earliest.is_some_and(|at| at <= now));
            }
            Step::Signal(process, signal) => self.signal(now, process, signal)?,
            Step::Stop(reason) => {
                prop_assert!(!self.stopping, "told once");
                prop_assert_eq!(reason == Reason::Asked, self.by_user);
                self.stopping = true;
                for one in &mut self.seen {
                    // A process that waits for its restart has now ended for good, which was
                    // reported before.
                    one.is_over |= one.not_before.is_some() && !one.is_group_there;
                }
            }
            Step::Ended { process, outcome, again } => self.ended(now, process, outcome, again)?,
        }
        Ok(())
    }

    fn signal(&mut self, now: Duration, process: usize, signal: Signal) -> Checked {
        let policy = &self.case.policies[process];
        let one = &mut self.seen[process];
        prop_assert!(one.is_group_there, "a signal to nobody");
        let is_first = one.last_signal.is_none();
        let is_hurried = self.interrupts >= 2;
        let wanted = if one.is_alive { policy.signal } else { Signal::Term };
        match one.last_signal {
            // Processes that it leaves behind get SIGTERM.
            None => prop_assert!(is_hurried || signal == wanted),
            Some((at, before)) => {
                prop_assert!(signal > before, "{:?} after {:?}", signal, before);
                let is_own = before == policy.signal || before == Signal::Int;
                let grace = if is_own { policy.grace } else { policy.grace_after_term };
                // Processes that it leaves behind get SIGTERM at once.
                let is_left = !one.is_alive && signal == Signal::Term && one.exited_at == Some(now);
                prop_assert!(is_hurried || is_left || now == at + grace, "its grace isn't over");
            }
        }
        one.last_signal = Some((now, signal));
        let is_late = policy.ready_timeout.is_some() && !one.was_ready;
        if self.stopping && one.is_alive && is_first && !is_hurried && !is_late {
            let policies = self.case.policies.iter().zip(&self.seen);
            let mut waiting = policies.filter(|(policy, _)| policy.after.contains(&process));
            prop_assert!(waiting.all(|(_, other)| other.is_over), "{} is needed", process);
        }
        Ok(())
    }

    fn ended(&mut self, now: Duration, process: usize, outcome: Outcome, again: Option<Duration>) -> Checked {
        let policy = &self.case.policies[process];
        let one = &self.seen[process];
        prop_assert!(!one.is_group_there && !one.is_over);
        let is_meant = |exit| policy.ready_on_exit.is_some_and(|code| exit == Exit::Code(code));
        let failure = match outcome {
            Outcome::Exited(exit) if is_meant(exit) => None,
            outcome => outcome.failure(),
        };
        let is_known = match outcome {
            // A process that was ready has done its part, even if it has ended since.
            Outcome::Skipped(Some(other)) => self.seen[other].is_over && !self.seen[other].was_ready,
            Outcome::Skipped(None) => self.stopping,
            // The next run would be one beside it.
            Outcome::Left => again.is_none() && self.case.behaviours[process].is_foreign,
            // What has never run is not tried again.
            Outcome::NotStarted => again.is_none() || self.seen[process].started_at.is_some(),
            _ => true,
        };
        prop_assert!(is_known, "{} has no reason for its outcome", process);
        let one = &mut self.seen[process];
        let Some(delay) = again else {
            one.is_over = true;
            self.first = self.first.or(failure);
            if policy.required && !matches!(outcome, Outcome::Stopped(_) | Outcome::Skipped(None)) {
                self.required = self.required.or(failure);
            }
            return Ok(());
        };
        let Restart { policy: when, max, window, max_delay, delay: least, .. } = policy.restart;
        prop_assert!(when == RestartPolicy::Always || when == RestartPolicy::OnFailure && failure.is_some());
        prop_assert!((least..=max_delay).contains(&delay));
        one.restarts.retain(|&at| at + window > now);
        prop_assert!(max.is_none_or(|max| one.restarts.len() < max as usize), "too often");
        one.restarts.push(now);
        one.not_before = Some(now + delay);
        Ok(())
    }
}

/// Checks the whole history, and the exit code.
fn check(case: &Case, history: &History, code: u8) -> Checked {
    let seen = vec![Seen::default(); case.policies.len()];
    let mut oracle =
        Oracle { case, seen, stopping: false, by_user: false, interrupts: 0, required: None, first: None };
    for &(now, happened) in history {
        oracle.look(now, happened)?;
    }
    let seen = &oracle.seen;
    prop_assert!(seen.iter().all(|one| one.is_over && !one.is_group_there), "all are over: {:?}", seen);
    let expected = oracle.required.or(if oracle.by_user { None } else { oracle.first });
    prop_assert_eq!(code, expected.unwrap_or(0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_history_follows_the_rules(case in case()) {
        let (history, supervisor) = simulate(&case);
        check(&case, &history, supervisor.code())?;
    }
}
