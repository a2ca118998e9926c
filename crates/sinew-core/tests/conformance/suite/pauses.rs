//! Groups that are paused, and go on.

use super::stage::{Setting, Stage};
use super::support::tasks::block_on;
use super::support::{Gate, Log, Number, Numbers, Pen, wait_for};
use sinew::prelude::*;
use sinew::time::TimerInfo;
use std::sync::{Arc, Barrier};
use std::thread;

const LATCHED: QoS = QoS::new().keep_last(10).transient_local();

type Lines = Log<(&'static str, u64)>;

fn note(pen: Pen<(&'static str, u64)>, what: &'static str) -> impl Fn(&Number) {
    move |number: &Number| pen.write((what, number.0))
}

pub(crate) fn a_paused_group_runs_nothing_and_goes_on_afresh(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (log, group) = (Lines::new(), stage.receiver.group(()));
    let _volatile = group.subscription::<Number>("volatile").callback(note(log.pen(), "volatile"))?;
    let latched = group.subscription::<Number>("latched").qos(LATCHED);
    let _latched = latched.callback(note(log.pen(), "latched"))?;
    let pen = log.pen();
    let _timer = group
        .timer(Duration::from_millis(10))
        .callback(move |timer: &TimerInfo| pen.write(("timer", timer.skipped())))?;
    let pen = log.pen();
    let _server = group.server::<Numbers>("service").callback(move |number: Unique<Number>| {
        pen.write(("service", number.0));
        number
    })?;
    let pen = log.pen();
    let guard = group.guard_condition().callback(move || pen.write(("guard", 0)))?;
    let (volatile, latched) = (stage.publisher("volatile")?, stage.publisher_with("latched", LATCHED)?);
    let client = stage.sender.client::<Numbers>("/service").create()?;
    stage.settle()?;

    let handle = group.pause_handle();
    for round in 1..=2 {
        handle.pause();
        for number in 1..=3 {
            volatile.publish(Number(number))?;
            latched.publish(Number(number))?;
        }
        let call = client.call_async(Number(7));
        guard.trigger();
        stage.pass(25);
        stage.settle()?;
        assert_eq!(log.lines(), [], "round {round}");

        handle.resume();
        let mut lines = stage.collect(&log, 5)?;
        lines.sort_unstable();
        let waited = [("guard", 0), ("latched", 1), ("latched", 2), ("latched", 3), ("service", 7)];
        assert_eq!(lines, waited, "round {round}");
        assert_eq!(block_on(call)?.0, 7);
        stage.pass(9);
        stage.settle()?;
        assert_eq!(log.lines(), [], "the timer begins anew");
        stage.pass(1);
        volatile.publish(Number(4))?;
        let mut lines = stage.collect(&log, 2)?;
        lines.sort_unstable();
        assert_eq!(lines, [("timer", 0), ("volatile", 4)], "round {round}");
    }
    Ok(())
}

pub(crate) fn what_joins_a_paused_group_waits_with_it(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (log, group) = (Lines::new(), stage.receiver.group(()));
    let handle = group.pause_handle();
    handle.pause();
    let reader = group.subscription::<Number>("numbers").qos(LATCHED).callback(note(log.pen(), "late"))?;
    let gone = group.subscription::<Number>("numbers").qos(LATCHED).callback(note(log.pen(), "gone"))?;
    stage.publisher_with("numbers", LATCHED)?.publish(Number(1))?;
    stage.settle()?;
    gone.close();
    assert_eq!(log.lines(), []);
    handle.resume();
    handle.resume(); // it goes on already
    assert_eq!(stage.collect(&log, 1)?, [("late", 1)]);
    assert!(!handle.is_gone());
    drop((reader, group));
    assert!(handle.is_gone());
    handle.pause(); // there is none any more
    handle.resume();
    Ok(())
}

pub(crate) fn a_group_pauses_itself(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (log, group) = (Log::new(), stage.receiver.group(()));
    let (pen, handle) = (log.pen(), group.pause_handle());
    let _reader = group.subscription::<Number>("numbers").callback(move |number: &Number| {
        pen.write(number.0);
        handle.pause();
    })?;
    let publisher = stage.publisher("numbers")?;
    for number in 1..=3 {
        publisher.publish(Number(number))?;
    }
    assert_eq!(stage.collect(&log, 1)?, [1]);
    group.pause_handle().resume();
    publisher.publish(Number(4))?;
    assert_eq!(stage.collect(&log, 1)?, [4], "what had come before is out of date");
    Ok(())
}

pub(crate) fn a_paused_group_moves_between_runners(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let node = stage.receiving.node("moves")?;
    let (log, group) = (Lines::new(), node.group(()));
    group.pause_handle().pause();
    let first = group.subscription::<Number>("numbers").qos(LATCHED);
    let _reader = first.callback(note(log.pen(), "moved"))?;
    stage.publisher_with("numbers", LATCHED)?.publish(Number(1))?;
    stage.settle()?;
    let Stage { runner, receiving, .. } = stage;
    drop(runner); // the group is in no runner now
    let other = setting.runner();
    other.add(&receiving)?;
    other.settle()?;
    assert_eq!(log.lines(), []);
    group.pause_handle().resume();
    // While no runner had it, the context's own thread took what came from elsewhere: perhaps it still does.
    let moved = wait_for("the message", || {
        other.settle().ok()?;
        Some(log.lines()).filter(|lines| !lines.is_empty())
    });
    assert_eq!(moved, [("moved", 1)]);
    Ok(())
}

pub(crate) fn pausing_waits_for_the_callback_that_runs(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (log, group, gate) = (Log::new(), stage.receiver.group(()), Arc::new(Gate::new()));
    let (pen, wait) = (log.pen(), gate.clone());
    let guard = group.guard_condition().callback(move || {
        pen.write("begun");
        wait.wait();
        pen.write("ended");
    })?;
    stage.while_spinning(|| {
        guard.trigger();
        assert_eq!(log.next(), "begun");
        thread::scope(|scope| {
            let (handle, pen) = (group.pause_handle(), log.pen());
            scope.spawn(move || {
                handle.pause();
                pen.write("paused");
            });
            (0..1000).for_each(|_| thread::yield_now()); // who doesn't wait is through by now
            gate.open();
        });
        Ok(())
    })?;
    assert_eq!(log.lines(), ["ended", "paused"]);
    Ok(())
}

/// Each would wait for the other's end: one doesn't.
pub(crate) fn groups_that_pause_each_other_do_not_wait_for_ever(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (log, both) = (Log::new(), Arc::new(Barrier::new(2)));
    let groups = [(); 2].map(|()| stage.receiver.group(()));
    let mut guards = Vec::new();
    for (own, other) in [(0, 1), (1, 0)] {
        let (pen, both, other) = (log.pen(), both.clone(), groups[other].pause_handle());
        guards.push(groups[own].guard_condition().callback(move || {
            both.wait();
            other.pause();
            pen.write(own);
        })?);
    }
    stage.while_spinning(|| {
        guards.iter().for_each(sinew::GuardCondition::trigger);
        let mut ended = log.wait_for(2);
        ended.sort_unstable();
        assert_eq!(ended, [0, 1]);
        Ok(())
    })
}
