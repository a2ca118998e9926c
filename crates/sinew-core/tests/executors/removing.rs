//! Executors give away what they serve, also while they spin.

use sinew::executor::WaitSet;
use sinew::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn quiet() -> sinew::Result<Context> {
    Ok(Context::builder().shared_memory(false).build()?)
}

#[test]
fn what_is_removed_waits_for_another_executor() -> sinew::Result<()> {
    let context = quiet()?;
    let node = context.node("moved")?;
    let group = node.reentrant_group();
    let (first, second) = (Executor::single(), Executor::single());
    assert!(!first.remove(&node));
    first.add(&node)?;
    node.post(|| ())?;
    group.post(|| ())?;
    assert!(first.remove(&group) && !first.remove(&group));
    second.add(&group)?;
    assert_eq!((first.spin_some()?, second.spin_some()?), (1, 1));

    group.post(|| ())?;
    assert!(first.remove(&node) && !first.remove(&node));
    assert_eq!((first.spin_some()?, second.spin_some()?), (0, 1));
    node.post(|| ())?;
    let mut set = WaitSet::new();
    set.add(&context)?; // with the node's group that no executor serves
    assert_eq!(set.wait(Duration::ZERO)?.len(), 1);
    assert!(set.remove(&context));
    assert_eq!(set.wait(Duration::ZERO)?.len(), 0);
    second.add(&context)?;
    assert_eq!(second.spin_some()?, 1);
    // New groups of what was removed have no executor either.
    assert!(second.remove(&context));
    let late = node.reentrant_group();
    late.post(|| ())?;
    assert_eq!(second.spin_some()?, 0);
    Ok(())
}

#[test]
fn nothing_is_lost_or_runs_twice_while_two_executors_spin() -> sinew::Result<()> {
    const POSTS: u32 = 2_000;
    let context = quiet()?;
    let node = context.node("moving")?;
    let running = Arc::new(AtomicU32::new(0));
    let ran = Arc::new(AtomicU32::new(0));
    let executors = [Executor::multi(2), Executor::single()];
    for executor in &executors {
        executor.add(&context.node("stays")?)?;
    }
    std::thread::scope(|scope| -> sinew::Result<()> {
        let spinning: Vec<_> =
            executors.iter().map(|executor| scope.spawn(move || executor.spin())).collect();
        let mut place = 0;
        executors[place].add(&node)?;
        for post in 0..POSTS {
            let (running, ran) = (running.clone(), ran.clone());
            node.post(move || {
                // Relaxed: the group orders its callbacks, whichever executor runs them.
                assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0, "one callback of the group at a time");
                running.fetch_sub(1, Ordering::Relaxed);
                ran.fetch_add(1, Ordering::Relaxed);
            })?;
            if post % 10 == 0 {
                assert!(executors[place].remove(&node));
                place = 1 - place;
                executors[place].add(&node)?;
            }
        }
        let (done, end) = std::sync::mpsc::channel();
        node.post(move || {
            let _ = done.send(()); // the last one
        })?;
        let _ = end.recv();
        for executor in &executors {
            executor.stop_handle().stop();
        }
        for spin in spinning {
            spin.join().expect("no panic")?;
        }
        Ok(())
    })?;
    assert_eq!(ran.load(Ordering::Relaxed), POSTS);
    Ok(())
}

/// One callback of a group at a time, whichever executors it has been in.
#[test]
fn a_group_that_leaves_in_its_callback_goes_nowhere_before_that_has_ended() -> sinew::Result<()> {
    let context = quiet()?;
    let node = context.node("leaves")?;
    let executors = Arc::new([Executor::single(), Executor::single()]);
    executors[0].add(&node)?;
    let (all, leaving) = (executors.clone(), node.clone());
    node.post(move || {
        assert!(all[0].remove(&leaving));
        for executor in &*all {
            assert!(executor.add(&leaving).is_err(), "its callback runs");
        }
    })?;
    assert_eq!(executors[0].spin_some()?, 1);
    node.post(|| ())?;
    executors[1].add(&node)?;
    assert_eq!((executors[0].spin_some()?, executors[1].spin_some()?), (0, 1));
    Ok(())
}

#[test]
fn the_shutdown_of_a_context_that_was_removed_ends_no_executor() -> sinew::Result<()> {
    let (stays, goes, partly) = (quiet()?, quiet()?, quiet()?);
    let executor = Executor::single();
    executor.add(&stays)?;
    executor.add(&goes)?;
    let (one, other) = (partly.node("one")?, partly.node("other")?);
    executor.add(&one)?;
    executor.add(&other)?;
    assert!(executor.remove(&goes) && executor.remove(&one));
    goes.shutdown();
    let node = stays.node("stays")?;
    node.post(|| ())?;
    assert_eq!(executor.spin_some()?, 1);
    partly.shutdown(); // of which it still serves a node
    node.post(|| ())?;
    assert_eq!(executor.spin_some()?, 0);
    Ok(())
}

/// A thread that waits for the end of a callback after a pause, while the group is resumed.
#[test]
fn a_group_that_is_resumed_during_its_pause_loses_no_member() -> sinew::Result<()> {
    for round in 0..20 {
        let context = quiet()?;
        let node = context.node("resumed")?;
        let group = node.group(());
        let (begin, begun) = std::sync::mpsc::channel();
        let is_pausing = Arc::new(AtomicU32::new(0));
        let (resuming, pausing) = (group.pause_handle(), is_pausing.clone());
        let first = group.guard_condition().callback(move |_: &mut ()| {
            let _ = begin.send(());
            while pausing.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            for _ in 0..2000 {
                resuming.resume();
                std::thread::yield_now();
            }
        })?;
        let ran = Arc::new(AtomicU32::new(0));
        let others = [(); 2].map(|()| {
            let ran = ran.clone();
            let count = move |_: &mut ()| {
                ran.fetch_add(1, Ordering::Relaxed);
            };
            group.guard_condition().callback(count)
        });
        let [second, third] = others;
        let others = [second?, third?];
        let executor = Executor::single();
        executor.add(&context)?;
        let pause = group.pause_handle();
        std::thread::scope(|scope| -> sinew::Result<()> {
            let spinning = scope.spawn(|| executor.spin_once(Duration::from_secs(60)));
            first.trigger();
            let _ = begun.recv();
            is_pausing.store(1, Ordering::Release);
            pause.pause();
            assert!(spinning.join().expect("it doesn't panic")?);
            Ok(())
        })?;
        pause.resume();
        others.iter().for_each(|other| other.trigger());
        assert_eq!((executor.spin_some()?, ran.load(Ordering::Relaxed)), (2, 2), "round {round}");
    }
    Ok(())
}

#[test]
fn some_work_runs_until_its_time_is_up() -> sinew::Result<()> {
    let context = quiet()?;
    let node = context.node("busy")?;
    let executor = Executor::single();
    executor.add(&context)?;
    for _ in 0..3 {
        node.post(|| ())?;
    }
    assert_eq!(executor.spin_some_for(Duration::ZERO)?, 1);
    assert_eq!(executor.spin_some_for(Duration::MAX)?, 2);
    Ok(())
}

#[test]
fn callbacks_for_a_shutdown_run_once_and_a_panic_is_contained() -> sinew::Result<()> {
    let context = quiet()?;
    let ran = Arc::new(AtomicU32::new(0));
    let add = |number: u32| {
        let ran = ran.clone();
        move || {
            ran.fetch_add(number, Ordering::Relaxed);
        }
    };
    let first = context.on_shutdown(add(1));
    let panics = context.on_shutdown(|| panic!("no more"));
    let second = context.on_shutdown(add(10));
    drop(context.on_shutdown(add(100)));
    context.shutdown();
    context.shutdown();
    assert_eq!(ran.load(Ordering::Relaxed), 11);
    let late = context.on_shutdown(add(1000));
    assert_eq!(ran.load(Ordering::Relaxed), 1011);
    drop((first, panics, second, late));
    Ok(())
}
