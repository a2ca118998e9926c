//! Timers, in virtual and in real time.

use super::stage::{Setting, Stage};
use super::support::{Log, Number, Pen};
use sinew::prelude::*;
use sinew::time::{ClockKind, Time, TimerInfo};
use std::sync::{Arc, OnceLock};

/// The time so many milliseconds after a clock's epoch.
fn at(milliseconds: i64) -> Time {
    Time::from_nanoseconds(milliseconds * 1_000_000)
}

fn milliseconds(time: Time) -> i64 {
    time.nanoseconds() / 1_000_000
}

/// A timer that reports each call: when it was due, when it ran, what it skipped.
fn watch(stage: &Stage, period: u64, kind: ClockKind, pen: Pen<(i64, i64, u64)>) -> sinew::Result<Timer> {
    let timer = stage.receiver.timer(Duration::from_millis(period)).clock(kind);
    Ok(timer.callback(move |info: &TimerInfo| {
        pen.write((milliseconds(info.due()), milliseconds(info.actual()), info.skipped()));
    })?)
}

const KINDS: [ClockKind; 3] = [ClockKind::Steady, ClockKind::System, ClockKind::Ros];

pub(crate) fn a_timer_is_due_at_multiples_of_its_period(setting: Setting) -> sinew::Result<()> {
    for kind in KINDS {
        let stage = Stage::new(setting)?;
        let log = Log::new();
        stage.pass(100);
        let _timer = watch(&stage, 10, kind, log.pen())?;
        let mut lines = Vec::new();
        for late in [13, 8, 9, 10, 15] {
            stage.pass(late);
            lines.extend(stage.collect(&log, 1)?);
        }
        let expected = [(110, 113, 0), (120, 121, 0), (130, 130, 0), (140, 140, 0), (150, 155, 0)];
        assert_eq!(lines, expected, "{kind:?}");
    }
    Ok(())
}

pub(crate) fn a_timer_that_cannot_keep_up_skips(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let timer = watch(&stage, 10, ClockKind::Steady, log.pen())?;
    for (late, expected) in [(47, (10, 47, 3)), (3, (50, 50, 0)), (20, (60, 70, 1))] {
        stage.pass(late);
        assert_eq!(stage.collect(&log, 1)?, [expected], "it doesn't burst");
    }
    assert_eq!(timer.skipped(), 4);
    Ok(())
}

pub(crate) fn a_cancelled_timer_does_not_run_until_it_is_reset(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let timer = watch(&stage, 10, ClockKind::Steady, log.pen())?;
    stage.pass(10); // it is due already
    timer.cancel();
    assert_eq!(stage.collect(&log, 0)?, []);
    stage.pass(100);
    assert_eq!(stage.collect(&log, 0)?, []);
    timer.reset();
    stage.pass(15);
    assert_eq!(stage.collect(&log, 1)?, [(120, 125, 0)]);
    timer.reset(); // in the middle of a period
    stage.pass(9);
    assert_eq!(stage.collect(&log, 0)?, []);
    stage.pass(1);
    assert_eq!(stage.collect(&log, 1)?, [(135, 135, 0)]);
    Ok(())
}

pub(crate) fn an_expiry_that_waits_does_not_run_if_its_timer_is_cancelled_or_reset(
    setting: Setting,
) -> sinew::Result<()> {
    type Change = fn(&Timer);
    let changes: [(Change, &[i64], &[i64]); 3] =
        [(Timer::cancel, &[10], &[]), (Timer::reset, &[10], &[26]), (|_| {}, &[10, 11], &[22])];
    for (change, first, second) in changes {
        let stage = Stage::new(setting)?;
        let (log, slot) = (Log::new(), Arc::new(OnceLock::<Timer>::new()));
        let (other, pen) = (slot.clone(), log.pen());
        // Both are due when the runner looks, this one first; and they are in one group.
        let _first = stage.receiver.timer(Duration::from_millis(10)).callback(move |info: &TimerInfo| {
            info.cancel();
            change(other.get().expect("it is made"));
            pen.write((milliseconds(info.due()), 15, 0));
        })?;
        assert!(slot.set(watch(&stage, 11, ClockKind::Steady, log.pen())?).is_ok());
        for expected in [first, second] {
            stage.pass(if expected == first { 15 } else { 11 });
            let due: Vec<_> =
                stage.collect(&log, expected.len())?.into_iter().map(|(due, _, _)| due).collect();
            assert_eq!(due, *expected);
        }
    }
    Ok(())
}

pub(crate) fn timers_and_messages_run_by_due_time_and_time_of_publication(
    setting: Setting,
) -> sinew::Result<()> {
    // With timers of other clocks about, or with different priorities, it is found out in another
    // way what is due.
    for (other_clock, priority) in [(false, 0), (true, 0), (false, 1)] {
        let stage = Stage::new(setting)?;
        let log = Log::new();
        let _other = other_clock.then(|| watch(&stage, 1000, ClockKind::Ros, Log::new().pen()));
        let _unused = stage.receiver.group(()).priority(priority);
        let reader = stage.listen("numbers", QoS::default(), log.pen())?;
        let mut timers = Vec::new();
        for period in [10, 12] {
            let pen = log.pen();
            let timer = stage.receiver.timer(Duration::from_millis(period));
            timers.push(timer.callback(move || pen.write(100 * period))?);
        }
        let publisher = stage.publisher("numbers")?;
        for time in [5, 10, 11, 12, 15] {
            stage.clock().set(at(time));
            publisher.publish(Number(u64::try_from(time).unwrap()))?;
            stage.let_travel();
        }
        stage.let_arrive(&[(&reader, 5)]);
        let expected = [5, 1000, 10, 11, 1200, 12, 15];
        assert_eq!(stage.collect(&log, 7)?, expected, "{other_clock} {priority}");
    }
    Ok(())
}

pub(crate) fn timers_of_all_clocks_run_in_real_time(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let mut timers = Vec::new();
    for kind in KINDS {
        let (pen, mut calls) = (log.pen(), 0);
        let timer = stage.receiver.timer(Duration::from_millis(1)).clock(kind);
        timers.push(timer.callback(move |info: &TimerInfo| {
            calls += 1;
            if calls == 3 {
                info.cancel();
            }
            pen.write(info.due() <= info.actual());
        })?);
    }
    assert_eq!(stage.collect(&log, 9)?, [true; 9], "none before it was due");
    Ok(())
}

pub(crate) fn setting_ros_time_wakes_sleepers(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    stage.receiving.set_ros_time(Some(at(0)));
    let _timer = watch(&stage, 10, ClockKind::Ros, log.pen())?;
    stage.while_spinning(|| {
        for time in [10, 20, 45] {
            stage.receiving.set_ros_time(Some(at(time)));
            assert_eq!(log.next().1, time);
        }
        stage.receiving.set_ros_time(Some(at(0))); // a replay starts again
        stage.receiving.set_ros_time(Some(at(10)));
        assert_eq!(log.next(), (10, 10, 0), "no timer waits longer than its period");
        Ok(())
    })
}

pub(crate) fn virtual_time_wakes_sleepers(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let _timer = watch(&stage, 10, ClockKind::Steady, log.pen())?;
    stage.while_spinning(|| {
        stage.pass(10);
        assert_eq!(log.next(), (10, 10, 0));
        stage.pass(9);
        stage.pass(1);
        assert_eq!(log.next(), (20, 20, 0));
        Ok(())
    })
}

/// Timers of nodes and groups go by their node's clock, wall timers don't.
pub(crate) fn timers_follow_their_node_s_clock(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (followed, wall) = (Log::new(), Log::new());
    let group = stage.receiver.group(());
    let mut timers = Vec::new();
    for (log, timer) in [
        (&followed, stage.receiver.timer(Duration::from_millis(10))),
        (&followed, group.timer(Duration::from_millis(10))),
        (&wall, stage.receiver.wall_timer(Duration::from_millis(10))),
        (&wall, group.wall_timer(Duration::from_millis(10))),
    ] {
        let pen = log.pen();
        timers.push(timer.callback(move |info: &TimerInfo| pen.write(milliseconds(info.due())))?);
    }
    let clocks = |timers: &[Timer]| timers.iter().map(Timer::clock).collect::<Vec<_>>();
    assert_eq!(clocks(&timers), [ClockKind::Steady; 4]);
    stage.pass(4);
    stage.receiving.set_ros_time(Some(at(1000))); // 6 ms are left
    assert_eq!(clocks(&timers)[..2], [ClockKind::Ros; 2]);
    assert_eq!(clocks(&timers)[2..], [ClockKind::Steady; 2]);
    stage.pass(8);
    assert_eq!(stage.collect(&wall, 2)?, [10, 10]);
    stage.receiving.set_ros_time(Some(at(1005)));
    assert!(stage.collect(&followed, 0)?.is_empty());
    stage.receiving.set_ros_time(Some(at(1006)));
    assert_eq!(stage.collect(&followed, 2)?, [1006, 1006]);
    // Back: they are due in the 7 ms that are left, by steady time again, which is 12 ms.
    stage.receiving.set_ros_time(Some(at(1009)));
    stage.receiving.set_ros_time(None);
    stage.pass(6);
    assert_eq!((stage.collect(&followed, 0)?, stage.collect(&wall, 0)?), (vec![], vec![]));
    stage.pass(2);
    assert_eq!(stage.collect(&followed, 2)?, [19, 19]);
    assert_eq!(stage.collect(&wall, 2)?, [20, 20]);
    Ok(())
}

/// Simulated time begins with the first word of `/clock`, wherever that is: it is no jump over a
/// billion periods, and nothing runs before.
pub(crate) fn no_timer_runs_before_the_first_word_of_clock(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    stage.pass(3);
    let timer = stage.receiver.timer(Duration::from_millis(10));
    let timer =
        timer.callback(move |info: &TimerInfo| pen.write((milliseconds(info.due()), info.skipped())))?;
    stage.receiving.use_sim_time(true)?;
    let _late = watch(&stage, 10, ClockKind::Ros, Log::new().pen())?;
    stage.pass(1000);
    assert_eq!((stage.collect(&log, 0)?, timer.skipped()), (vec![], 0));
    let simulator = stage.receiver.clock_publisher().paused().start(at(1_700_000_000_000)).create()?;
    simulator.publish()?;
    assert_eq!((stage.collect(&log, 0)?, timer.skipped()), (vec![], 0));
    for round in 1..=3 {
        simulator.step(Duration::from_millis(10))?;
        assert_eq!(stage.collect(&log, 1)?, [(1_700_000_000_000 + 10 * round, 0)]);
    }
    Ok(())
}
