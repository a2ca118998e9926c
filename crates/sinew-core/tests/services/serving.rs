//! Which executor serves what, and what happens when it goes.

use crate::support;

use sinew::Executor;
use sinew::error::AddError;
use sinew::prelude::*;
use sinew::time::VirtualClock;
use std::thread;
use support::{Log, Number, PATIENCE, Pen, Room, finishes, real_context, virtual_context};

/// Logs its name when it is triggered.
fn bell(node: &Node, name: &'static str, pen: Pen<&'static str>) -> sinew::Result<sinew::GuardCondition> {
    Ok(node.guard_condition().callback(move || pen.write(name))?)
}

#[test]
fn what_one_executor_serves_no_other_one_can() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node_in("/robot", "camera")?;
    let group = node.group(());
    for first in [&group as &dyn Any, &node, &context] {
        let (one, other) = (Executor::single(), Executor::single());
        first.add_to(&one)?;
        first.add_to(&one)?; // again is no error
        assert!(matches!(first.add_to(&other), Err(AddError::Taken { .. })));
        drop(one);
        first.add_to(&other)?; // it is free again
    }
    let (one, other) = (Executor::single(), Executor::single());
    one.add(&node)?;
    let error = other.add(&group).unwrap_err();
    assert!(
        error.to_string().starts_with("the group of node /robot/camera is served by another executor"),
        "{error}"
    );
    Ok(())
}

/// Something that can be added, for a list of them.
trait Any {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError>;
}

impl<T: sinew::executor::Executable> Any for T {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        executor.add(self)
    }
}

#[test]
fn a_context_brings_its_nodes_groups_and_entities_also_those_to_come() -> sinew::Result<()> {
    let context = real_context();
    let log = Log::new();
    let before = context.node("before")?;
    let _one = bell(&before, "before", log.pen())?;
    let executor = Executor::single();
    executor.add(&context)?;
    let after = context.node("after")?;
    let group = before.group(());
    let pen = log.pen();
    let bells = [
        bell(&before, "entity", log.pen())?,
        bell(&after, "node", log.pen())?,
        group.guard_condition().callback(move || pen.write("group"))?,
    ];
    bells.iter().for_each(sinew::GuardCondition::trigger);
    assert_eq!(executor.spin_all(PATIENCE)?, 3);
    assert_eq!(log.lines(), ["entity", "node", "group"]);
    Ok(())
}

#[test]
fn a_node_brings_its_own_groups_also_those_to_come_and_nothing_else() -> sinew::Result<()> {
    let context = real_context();
    let log = Log::new();
    let (node, other) = (context.node("node")?, context.node("other")?);
    let executor = Executor::single();
    executor.add(&node)?;
    let group = node.group(());
    let pen = log.pen();
    let bells = [
        bell(&other, "other", log.pen())?,
        bell(&node, "node", log.pen())?,
        group.guard_condition().callback(move || pen.write("group"))?,
    ];
    bells.iter().for_each(sinew::GuardCondition::trigger);
    assert_eq!(executor.spin_all(PATIENCE)?, 2);
    assert_eq!(log.lines(), ["node", "group"]);
    Ok(())
}

#[test]
fn a_timer_keeps_its_node_so_that_another_executor_can_take_it_over() -> sinew::Result<()> {
    let clock = VirtualClock::new();
    let context = virtual_context(&clock);
    let log = Log::new();
    let node = context.node("node")?;
    let pen = log.pen();
    let _timer = node.timer(Duration::from_secs(1)).callback(move || pen.write("timer"))?;
    let guard = bell(&node, "guard", log.pen())?;
    let first = Executor::single();
    first.add(&node)?;
    drop(node); // "a node lives as long as a handle to it or an entity of it"
    drop(first);

    let second = Executor::single();
    second.add(&context)?;
    guard.trigger();
    assert_eq!(second.advance(Duration::from_secs(1))?, 2);
    assert_eq!(log.lines(), ["guard", "timer"]);
    Ok(())
}

#[test]
fn two_executors_run_their_callbacks_each_on_its_own_thread() -> sinew::Result<()> {
    let context = real_context();
    let log = Log::new();
    let mut spinning = Vec::new();
    for name in ["left", "right"] {
        let node = context.node(name)?;
        let executor = Executor::single();
        executor.add(&node)?;
        let (pen, stop) = (log.pen(), executor.stop_handle());
        let qos = QoS::default().keep_last(20);
        let subscription = node.subscription("numbers").qos(qos).callback(move |number: &Number| {
            pen.write((name, thread::current().id()));
            if number.0 == 20 {
                stop.stop();
            }
        })?;
        let thread = thread::spawn(move || {
            executor.spin()?;
            drop(subscription);
            Ok::<_, sinew::Error>(thread::current().id())
        });
        spinning.push((name, thread));
    }
    let publisher = context.node("start")?.publisher("numbers").create()?;
    (1..=20).try_for_each(|number| publisher.publish(Number(number)))?;
    let threads = finishes(move || {
        spinning
            .into_iter()
            .map(|(name, thread)| Ok((name, thread.join().unwrap()?)))
            .collect::<sinew::Result<Vec<_>>>()
    })?;
    let lines = log.lines();
    assert_eq!(lines.len(), 40);
    assert!(lines.iter().all(|line| threads.contains(line)), "{lines:?} on {threads:?}");
    Ok(())
}

#[test]
fn an_executor_lives_in_one_time() -> sinew::Result<()> {
    let (one, other) = (Room::new(), Room::new());
    let real = real_context();
    assert_eq!(one.executor.add(&real), Err(AddError::OtherClock));
    assert_eq!(one.executor.add(&other.node.group(())), Err(AddError::OtherClock));
    let executor = Executor::single();
    executor.add(&real)?;
    assert_eq!(executor.add(&virtual_context(&VirtualClock::new())), Err(AddError::OtherClock));
    executor.add(&real_context())?;
    Ok(())
}

/// After which time a spin that should have ended is taken for one that doesn't.
const HANGS: Duration = Duration::from_secs(60);

#[test]
fn shutting_a_context_down_ends_the_spin_of_what_serves_a_part_of_it() -> sinew::Result<()> {
    type Add = fn(&Executor, &Context, &Node, &Group) -> Result<(), AddError>;
    let parts: [(&str, Add); 3] = [
        ("context", |executor, context, _, _| executor.add(context)),
        ("node", |executor, _, node, _| executor.add(node)),
        ("group", |executor, _, _, group| executor.add(group)),
    ];
    for (part, add) in parts {
        let context = real_context();
        let node = context.node("node")?;
        let group = node.group(());
        let log = Log::new();
        let pen = log.pen();
        let guard = group.guard_condition().callback(move || pen.write("spins"))?;
        let executor = Executor::single();
        add(&executor, &context, &node, &group)?;
        let stop = executor.stop_handle();
        let ended = Log::new();
        let pen = ended.pen();
        let spinning = thread::spawn(move || {
            executor.spin().unwrap();
            pen.write(());
            executor.spin().unwrap(); // and so does every later one
            pen.write(());
        });
        guard.trigger();
        assert_eq!(log.next(), "spins");
        context.shutdown();
        let second = ended.next_within(HANGS).and_then(|()| ended.next_within(HANGS));
        stop.stop();
        stop.stop();
        assert!(second.is_some(), "the executor that serves the {part} still spins");
        drop(spinning);
    }
    Ok(())
}

#[test]
fn nothing_of_a_context_that_is_shut_down_can_be_added() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let group = node.group(());
    context.shutdown();
    let executor = Executor::single();
    assert_eq!(executor.add(&context), Err(AddError::Shutdown));
    assert_eq!(executor.add(&node), Err(AddError::Shutdown));
    assert_eq!(executor.add(&group), Err(AddError::Shutdown));
    Ok(())
}

#[test]
fn a_context_that_an_executor_could_not_get_is_nothing_to_it() -> sinew::Result<()> {
    let (taken, own) = (real_context(), real_context());
    let (first, second) = (Executor::single(), Executor::single());
    first.add(&taken)?;
    assert!(second.add(&taken).is_err());
    let log = Log::new();
    let node = own.node("own")?;
    let guard = bell(&node, "still there", log.pen())?;
    second.add(&own)?;
    taken.shutdown();
    guard.trigger();
    assert_eq!(second.spin_some()?, 1);
    assert_eq!(log.lines(), ["still there"]);
    Ok(())
}

#[test]
fn a_callback_may_add_to_the_executor_that_runs_it() -> sinew::Result<()> {
    let context = real_context();
    let log = Log::new();
    let executor = std::sync::Arc::new(Executor::single());
    let node = context.node("node")?;
    executor.add(&node)?;
    let (own, pen) = (std::sync::Arc::downgrade(&executor), log.pen());
    let mut made = Vec::new();
    let guard = node.guard_condition().callback(move || {
        let late = context.node("late")?;
        let guard = bell(&late, "late", pen.clone())?;
        guard.trigger();
        own.upgrade().expect("it runs").add(&late)?;
        made.push(guard);
        Ok::<_, sinew::Error>(())
    })?;
    guard.trigger();
    assert_eq!(executor.spin_all(PATIENCE)?, 2);
    assert_eq!(log.lines(), ["late"]);
    Ok(())
}
