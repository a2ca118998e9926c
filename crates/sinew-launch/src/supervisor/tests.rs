//! Individual cases.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn after(processes: &[usize]) -> Policy {
    Policy { after: processes.to_vec(), ..Policy::default() }
}

fn restarting(policy: RestartPolicy) -> Policy {
    Policy { restart: Restart { policy, ..Restart::default() }, ..Policy::default() }
}

/// Starts processes as requested, and returns all steps.
fn run(supervisor: &mut Supervisor, now: Duration) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(step) = supervisor.poll(now) {
        if let Step::Start(process) = step {
            supervisor.started(process, now);
        }
        steps.push(step);
    }
    steps
}

fn ended(process: usize, outcome: Outcome) -> Step {
    Step::Ended { process, outcome, again: None }
}

#[test]
fn all_end_in_the_reverse_order_of_what_waits_for_what() {
    use Step::{Ready, Signal as Send, Start, Stop};
    let mut supervisor = Supervisor::new(vec![after(&[]), after(&[0]), after(&[1]), after(&[])]);
    let now = Duration::ZERO;
    let steps = run(&mut supervisor, now);
    assert_eq!(steps, [Start(0), Start(3), Ready(0), Ready(3), Start(1), Ready(1), Start(2), Ready(2)]);
    supervisor.interrupt(now);
    let steps = run(&mut supervisor, now);
    assert_eq!(steps, [Stop(Reason::Asked), Send(2, Signal::Int), Send(3, Signal::Int)]);
    supervisor.exited(2, Exit::Signal(2), false, now);
    let steps = run(&mut supervisor, now);
    assert_eq!(steps, [ended(2, Outcome::Stopped(Exit::Signal(2))), Send(1, Signal::Int)]);
    // It ignores the signals: two grace periods later it is killed.
    assert_eq!(supervisor.deadline(), Some(SECOND * 5));
    assert_eq!(run(&mut supervisor, SECOND * 5), [Send(1, Signal::Term), Send(3, Signal::Term)]);
    assert_eq!(run(&mut supervisor, SECOND * 10), [Send(1, Signal::Kill), Send(3, Signal::Kill)]);
    assert_eq!(supervisor.deadline(), None);
    for process in [1, 3] {
        supervisor.exited(process, Exit::Signal(9), false, SECOND * 10);
    }
    assert!(run(&mut supervisor, SECOND * 10).contains(&Send(0, Signal::Int)));
    supervisor.exited(0, Exit::Code(7), false, SECOND * 10);
    assert_eq!(run(&mut supervisor, SECOND * 10), [ended(0, Outcome::Stopped(Exit::Code(7)))]);
    assert!(supervisor.is_done());
    assert_eq!(supervisor.code(), 0, "the user wanted it");
}

#[test]
fn a_second_interrupt_hurries_and_the_third_kills() {
    let mut supervisor = Supervisor::new(vec![after(&[]), after(&[0])]);
    run(&mut supervisor, Duration::ZERO);
    supervisor.interrupt(SECOND);
    run(&mut supervisor, SECOND);
    supervisor.interrupt(SECOND);
    // Also processes that still wait for another's end.
    let terms = [Step::Signal(1, Signal::Term), Step::Signal(0, Signal::Term)];
    assert_eq!(run(&mut supervisor, SECOND), terms);
    supervisor.interrupt(SECOND);
    supervisor.interrupt(SECOND);
    let kills = [Step::Signal(1, Signal::Kill), Step::Signal(0, Signal::Kill)];
    assert_eq!(run(&mut supervisor, SECOND), kills);
}

#[test]
fn a_required_process_ends_all_and_says_how() {
    let mut supervisor =
        Supervisor::new(vec![after(&[]), Policy { required: true, ..after(&[]) }, after(&[1])]);
    run(&mut supervisor, Duration::ZERO);
    supervisor.exited(0, Exit::Code(4), false, SECOND);
    supervisor.exited(1, Exit::Code(3), false, SECOND);
    let steps = run(&mut supervisor, SECOND);
    assert!(steps.contains(&Step::Stop(Reason::Required(1))), "{steps:?}");
    supervisor.interrupt(SECOND); // the first Ctrl-C since then
    assert_eq!(run(&mut supervisor, SECOND), []);
    supervisor.exited(2, Exit::Signal(2), false, SECOND);
    run(&mut supervisor, SECOND);
    assert!(supervisor.is_done());
    assert_eq!(supervisor.code(), 3);
}

#[test]
fn delays_double_until_the_process_has_run_long_enough() {
    let mut supervisor = Supervisor::new(vec![restarting(RestartPolicy::OnFailure)]);
    let mut now = Duration::ZERO;
    let mut delays = Vec::new();
    for _ in 0..9 {
        run(&mut supervisor, now);
        supervisor.exited(0, Exit::Code(1), false, now);
        run(&mut supervisor, now);
        let until = supervisor.deadline().unwrap();
        delays.push((until - now).as_millis());
        assert_eq!(run(&mut supervisor, until - Duration::from_nanos(1)), []);
        now = until;
    }
    assert_eq!(delays, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
    run(&mut supervisor, now);
    now += SECOND * 60;
    supervisor.exited(0, Exit::Code(1), false, now);
    run(&mut supervisor, now);
    assert_eq!(supervisor.deadline(), Some(now + Duration::from_millis(500)));
    run(&mut supervisor, now + SECOND);
    supervisor.exited(0, Exit::Code(0), false, now + SECOND);
    assert_eq!(run(&mut supervisor, now + SECOND), [ended(0, Outcome::Exited(Exit::Code(0)))]);
    assert_eq!(supervisor.code(), 0);
}

#[test]
fn what_never_gets_ready_is_ended_and_nothing_waits_for_it_for_ever() {
    let late = Policy { waits_to_be_told: true, ready_timeout: Some(SECOND), ..Policy::default() };
    let mut supervisor = Supervisor::new(vec![late, after(&[0]), after(&[1])]);
    run(&mut supervisor, Duration::ZERO);
    assert!(supervisor.is_looked_for(0));
    assert_eq!(run(&mut supervisor, SECOND), [Step::Signal(0, Signal::Int)]);
    supervisor.exited(0, Exit::Code(0), false, SECOND);
    let steps = [
        ended(0, Outcome::NotReady),
        ended(1, Outcome::Skipped(Some(0))),
        ended(2, Outcome::Skipped(Some(1))),
    ];
    assert_eq!(run(&mut supervisor, SECOND), steps);
    assert!(supervisor.is_done());
    assert_eq!(supervisor.code(), 1);
}

#[test]
fn one_that_does_its_work_and_ends_lets_the_others_start() {
    let once = Policy { ready_on_exit: Some(0), ..Policy::default() };
    let mut supervisor = Supervisor::new(vec![once, after(&[0])]);
    assert_eq!(run(&mut supervisor, Duration::ZERO), [Step::Start(0)]);
    supervisor.exited(0, Exit::Code(0), false, SECOND);
    assert!(run(&mut supervisor, SECOND).contains(&Step::Start(1)));
}

#[test]
fn the_rest_of_a_group_is_ended_before_the_process_is_started_again() {
    let mut supervisor = Supervisor::new(vec![restarting(RestartPolicy::Always)]);
    run(&mut supervisor, Duration::ZERO);
    supervisor.exited(0, Exit::Code(0), true, SECOND);
    assert_eq!(run(&mut supervisor, SECOND), [Step::Signal(0, Signal::Term)]);
    assert_eq!(run(&mut supervisor, SECOND * 6), [Step::Signal(0, Signal::Kill)]);
    supervisor.group_gone(0, SECOND * 6);
    let outcome = Outcome::Exited(Exit::Code(0));
    let again = Some(Duration::from_millis(500));
    assert_eq!(run(&mut supervisor, SECOND * 6), [Step::Ended { process: 0, outcome, again }]);
}

#[test]
fn what_was_ready_and_has_ended_holds_up_nobody() {
    let late = Policy { ready_after: SECOND, ..Policy::default() };
    let mut supervisor = Supervisor::new(vec![after(&[]), late, after(&[0, 1])]);
    run(&mut supervisor, Duration::ZERO);
    supervisor.exited(0, Exit::Code(0), false, Duration::ZERO);
    assert_eq!(run(&mut supervisor, Duration::ZERO), [ended(0, Outcome::Exited(Exit::Code(0)))]);
    assert!(run(&mut supervisor, SECOND).contains(&Step::Start(2)));
}

#[test]
fn of_two_required_processes_the_first_that_failed_counts() {
    let required = Policy { required: true, ..Policy::default() };
    let mut supervisor = Supervisor::new(vec![required.clone(), required, after(&[1])]);
    run(&mut supervisor, Duration::ZERO);
    supervisor.exited(0, Exit::Code(3), false, SECOND);
    run(&mut supervisor, SECOND);
    supervisor.exited(1, Exit::Code(9), false, SECOND); // before it was asked: the third needs it
    supervisor.exited(2, Exit::Code(0), false, SECOND);
    run(&mut supervisor, SECOND);
    assert!(supervisor.is_done());
    assert_eq!(supervisor.code(), 3);
}

#[test]
fn a_failed_restart_is_a_failure_like_others_and_a_failed_start_is_final() {
    for policy in [RestartPolicy::Always, RestartPolicy::OnFailure] {
        let restart = Restart { policy, max: Some(2), ..Restart::default() };
        let mut supervisor = Supervisor::new(vec![Policy { restart, ..Policy::default() }]);
        run(&mut supervisor, Duration::ZERO);
        supervisor.exited(0, Exit::Code(1), false, SECOND);
        supervisor.poll(SECOND);
        assert_eq!(supervisor.poll(SECOND * 2), Some(Step::Start(0)));
        supervisor.failed_to_start(0, SECOND * 2);
        let again = Some(Duration::from_millis(1000)); // twice as long
        let step = Step::Ended { process: 0, outcome: Outcome::NotStarted, again };
        assert_eq!(supervisor.poll(SECOND * 2), Some(step));
        assert_eq!(supervisor.poll(SECOND * 3), Some(Step::Start(0)));
        supervisor.failed_to_start(0, SECOND * 3);
        assert_eq!(run(&mut supervisor, SECOND * 3), [ended(0, Outcome::NotStarted)]);
        assert_eq!((supervisor.is_done(), supervisor.code()), (true, 1));
    }
    let mut supervisor = Supervisor::new(vec![restarting(RestartPolicy::Always)]);
    assert_eq!(supervisor.poll(Duration::ZERO), Some(Step::Start(0)));
    supervisor.failed_to_start(0, Duration::ZERO);
    assert_eq!(run(&mut supervisor, Duration::ZERO), [ended(0, Outcome::NotStarted)]);
}

#[test]
fn a_failure_before_the_interrupt_stays_one_while_its_group_lingers() {
    let required = Policy { required: true, ..Policy::default() };
    let mut supervisor = Supervisor::new(vec![required]);
    run(&mut supervisor, Duration::ZERO);
    supervisor.exited(0, Exit::Code(7), true, SECOND);
    supervisor.interrupt(SECOND);
    run(&mut supervisor, SECOND);
    supervisor.group_gone(0, SECOND * 2);
    assert_eq!(run(&mut supervisor, SECOND * 2), [ended(0, Outcome::Exited(Exit::Code(7)))]);
    assert_eq!(supervisor.code(), 7);
}

#[test]
fn a_process_that_no_signal_reaches_is_left_alone() {
    let restart = Restart { policy: RestartPolicy::Always, ..Restart::default() };
    let foreign =
        Policy { waits_to_be_told: true, ready_timeout: Some(SECOND), restart, ..Policy::default() };
    let mut supervisor = Supervisor::new(vec![foreign]);
    run(&mut supervisor, Duration::ZERO);
    for (second, signal) in [(1, Signal::Int), (6, Signal::Term), (11, Signal::Kill)] {
        assert_eq!(run(&mut supervisor, SECOND * second), [Step::Signal(0, signal)]);
    }
    supervisor.out_of_reach(0, SECOND * 11);
    assert_eq!(run(&mut supervisor, SECOND * 11), [ended(0, Outcome::Left)], "not started beside itself");
    assert_eq!((supervisor.is_done(), supervisor.code()), (true, 1));
}

#[test]
fn a_restart_that_is_put_off_comes_later_or_not_at_all() {
    for is_interrupted in [false, true] {
        let mut supervisor = Supervisor::new(vec![restarting(RestartPolicy::Always)]);
        run(&mut supervisor, Duration::ZERO);
        supervisor.exited(0, Exit::Code(0), false, SECOND);
        supervisor.poll(SECOND);
        assert_eq!(supervisor.poll(SECOND * 2), Some(Step::Start(0)));
        if is_interrupted {
            supervisor.interrupt(SECOND * 2);
        }
        supervisor.put_off(0, SECOND * 3);
        let next = if is_interrupted { Step::Stop(Reason::Asked) } else { Step::Start(0) };
        assert_eq!(supervisor.deadline(), Some(SECOND * 3).filter(|_| !is_interrupted));
        assert_eq!(supervisor.poll(SECOND * 3), Some(next));
        assert_eq!(supervisor.is_done(), is_interrupted);
    }
}
