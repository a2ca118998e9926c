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
