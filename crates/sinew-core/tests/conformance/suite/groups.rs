//! What runs at the same time, and who serves what.

use super::stage::{Setting, Stage, spinning};
use super::support::{Log, Number, real_context};
use sinew::GuardCondition;
use sinew::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

const DEEP: QoS = QoS::new().keep_last(10_000);

/// How many are inside, and how many ever were at once.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    /// Is inside for a while.
    fn visit(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        thread::yield_now();
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

pub(crate) fn callbacks_of_an_exclusive_group_never_overlap(setting: Setting) -> sinew::Result<()> {
    const MESSAGES: u64 = 100;
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let mut readers = Vec::new();
    let groups: Vec<_> =
        (0..3_u64).map(|n| (n, stage.receiver.group(0_u64), Arc::new(Inside::default()))).collect();
    for (n, group, inside) in &groups {
        for topic in ["a", "b"] {
            let (pen, inside, n) = (log.pen(), inside.clone(), *n);
            let callback = move |count: &mut u64, _: &Number| {
                inside.visit();
                *count += 1;
                pen.write((n, *count));
            };
            readers.push(group.subscription(topic).qos(DEEP).callback(callback)?);
        }
    }
    let (a, b) = (stage.publisher("a")?, stage.publisher("b")?);
    let mut lines = stage.while_spinning(|| {
        for number in 0..MESSAGES {
            a.publish(Number(number))?;
            b.publish(Number(number))?;
        }
        Ok(log.wait_for(6 * MESSAGES))
    })?;
    assert_eq!([0, 1, 2].map(|n: usize| groups[n].2.most()), [1; 3]);
    lines.sort_by_key(|(group, _)| *group);
    let expected = (0..3).flat_map(|group| (1..=2 * MESSAGES).map(move |count| (group, count)));
    assert_eq!(lines, expected.collect::<Vec<_>>(), "each finds what the last one left");
    Ok(())
}

pub(crate) fn callbacks_of_a_reentrant_group_run_once_for_each_message(
    setting: Setting,
) -> sinew::Result<()> {
    const MESSAGES: u64 = 300;
    let stage = Stage::in_real_time(setting)?;
    let (log, inside) = (Log::new(), Arc::new(Inside::default()));
    let group = stage.receiver.reentrant_group();
    let (pen, visited) = (log.pen(), inside.clone());
    let subscription = group.subscription("numbers").qos(DEEP).callback(move |number: &Number| {
        visited.visit();
        pen.write(number.0);
    })?;
    let publisher = stage.publisher("numbers")?;
    let mut lines = stage.while_spinning(|| {
        (0..MESSAGES).try_for_each(|number| publisher.publish(Number(number)))?;
        Ok(log.wait_for(MESSAGES))
    })?;
    if setting.threads() > 1 {
        lines.sort_unstable(); // they may overtake each other
    }
    assert_eq!(lines, (0..MESSAGES).collect::<Vec<_>>());
    assert!(inside.most() <= setting.threads(), "{} at once", inside.most());
    assert_eq!(subscription.statistics().taken, MESSAGES);
    Ok(())
}

pub(crate) fn reentrant_callbacks_overlap(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (log, meeting) = (Log::new(), Barrier::new(setting.threads()));
    let (pen, group) = (log.pen(), stage.receiver.reentrant_group());
    let callback = move |number: &Number| {
        meeting.wait(); // for all others
        pen.write(number.0);
    };
    let _numbers = group.subscription("numbers").qos(DEEP).callback(callback)?;
    let publisher = stage.publisher("numbers")?;
    (0..3 * setting.threads() as u64).try_for_each(|number| publisher.publish(Number(number)))?;
    let mut lines = stage.while_spinning(|| Ok(log.wait_for(3 * setting.threads() as u64)))?;
    lines.sort_unstable();
    assert_eq!(lines, (0..3 * setting.threads() as u64).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn exclusive_groups_overlap(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (log, meeting) = (Log::new(), Arc::new(Barrier::new(setting.threads())));
    let mut readers = Vec::new();
    for n in 0..setting.threads() {
        let (pen, meeting, group) = (log.pen(), meeting.clone(), stage.receiver.group(()));
        let callback = move |_: &Number| {
            meeting.wait();
            pen.write(n);
        };
        readers.push(group.subscription("numbers").callback(callback)?);
    }
    let publisher = stage.publisher("numbers")?;
    for _ in 0..10 {
        publisher.publish(Number(0))?;
        let mut lines = stage.while_spinning(|| Ok(log.wait_for(setting.threads() as u64)))?;
        lines.sort_unstable();
        assert_eq!(lines, (0..setting.threads()).collect::<Vec<_>>());
    }
    Ok(())
}

/// Reports its name when it is triggered.
fn bell(group: &Group, name: &'static str, log: &Log<&'static str>) -> sinew::Result<GuardCondition> {
    let pen = log.pen();
    Ok(group.guard_condition().callback(move || pen.write(name))?)
}

pub(crate) fn groups_of_one_node_run_in_different_runners(setting: Setting) -> sinew::Result<()> {
    let (_, context) = setting.path.open(None);
    let log = Log::new();
    let node = context.node("node")?;
    let (one, other, rest) = (node.group(()), node.group(()), node.group(()));
    let runners = [(setting.runner(), "one"), (setting.runner(), "other"), (setting.runner(), "rest")];
    runners[0].0.add(&one)?;
    runners[1].0.add(&other)?;
    runners[2].0.add(&context)?; // what no other one serves
    let bells = [bell(&one, "one", &log)?, bell(&other, "other", &log)?, bell(&rest, "rest", &log)?];
    bells.iter().for_each(GuardCondition::trigger);
    for (runner, name) in &runners {
        assert_eq!(spinning(runner, || Ok(log.next()))?, *name);
        runner.settle()?;
        assert_eq!(log.lines(), [""; 0]);
    }
    let all = spinning(&runners[0].0, || {
        spinning(&runners[1].0, || {
            bells.iter().for_each(GuardCondition::trigger);
            Ok(log.wait_for(2))
        })
    })?;
    assert!(all.contains(&"one") && all.contains(&"other"), "{all:?} at the same time");
    Ok(())
}

pub(crate) fn another_runner_takes_over_what_waits(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let _subscription = stage.listen("numbers", DEEP, log.pen())?;
    let pen = log.pen();
    let _timer = stage.receiver.timer(Duration::from_secs(1)).callback(move || pen.write(100))?;
    let pen = log.pen();
    let guard = stage.receiver.guard_condition().callback(move || pen.write(200))?;
    let publisher = stage.publisher("numbers")?;
    publisher.publish(Number(1))?;
    assert_eq!(stage.collect(&log, 1)?, [1]);
    publisher.publish(Number(2))?;
    stage.let_travel();
    stage.pass(1); // what came from another host stands behind what is of the same nanosecond
    guard.trigger();
    stage.pass(1000);
    let Stage { sending, receiving, runner, .. } = stage;
    drop(runner);
    publisher.publish(Number(3))?; // while nobody serves it
    let next = setting.runner();
    next.add(&sending)?;
    next.add(&receiving)?;
    publisher.publish(Number(4))?;
    let lines = spinning(&next, || Ok(log.wait_for(5)))?;
    assert_eq!(lines, [2, 200, 100, 3, 4]);
    Ok(())
}

pub(crate) fn two_runners_wake_each_other_and_lose_nothing(setting: Setting) -> sinew::Result<()> {
    const ROUNDS: u64 = 300;
    let (_, context) = setting.path.open(None);
    let log = Log::new();
    let side = |name: &str, from: &str, to: &str| -> sinew::Result<_> {
        let (node, runner, pen) = (context.node(name)?, setting.runner(), log.pen());
        runner.add(&node)?;
        let publisher = node.publisher::<Number>(to).create()?;
        let callback = move |number: &Number| match number.0 {
            ROUNDS => {
                pen.write(number.0);
                Ok(())
            }
            number => publisher.publish(Number(number + 1)),
        };
        Ok((runner, node.subscription(from).callback(callback)?))
    };
    let (ping, pong) = (side("ping", "left", "right")?, side("pong", "right", "left")?);
    context.node("start")?.publisher("left").create()?.publish(Number(1))?;
    assert_eq!(spinning(&ping.0, || spinning(&pong.0, || Ok(log.next())))?, ROUNDS);
    assert_eq!(ping.1.statistics().taken + pong.1.statistics().taken, ROUNDS);
    Ok(())
}

pub(crate) fn a_context_brings_what_is_still_to_come(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let late = stage.while_spinning(|| {
        let node = stage.receiving.node("late")?;
        let group = node.group(());
        let bell = bell(&group, "late", &log)?;
        bell.trigger();
        assert_eq!(log.next(), "late");
        Ok(bell)
    })?;
    late.trigger();
    assert_eq!(stage.collect(&log, 1)?, ["late"]);
    Ok(())
}

pub(crate) fn something_can_be_added_while_it_spins(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::unserved(setting)?;
    let log = Log::new();
    stage.runner.add(&stage.sender)?; // with nothing at all, a spin isn't worth its name
    stage.while_spinning(|| {
        for (context, name) in [(&stage.receiving, "one"), (&real_context(), "other")] {
            let node = context.node(name)?;
            let (exclusive, reentrant) = (node.group(()), node.reentrant_group());
            let (bell, pen) = (bell(&exclusive, name, &log)?, log.pen());
            let other = reentrant.guard_condition().callback(move || pen.write("reentrant"))?;
            bell.trigger();
            other.trigger();
            stage.runner.add(&exclusive)?;
            assert_eq!(log.next(), name);
            stage.runner.add(&reentrant)?;
            assert_eq!(log.next(), "reentrant");
        }
        Ok(())
    })
}
