//! What goes here while others come and go: nothing keeps it, and nothing of a user's runs or is
//! dropped under a lock.
#![expect(clippy::disallowed_types, reason = "a lock of the test's own")]

use crate::support;

use sinew::Executor;
use sinew::event::Matched;
use sinew::prelude::*;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use support::{Number, PATIENCE, finishes};

fn place() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").expect("shared memory") // removed even if the test never ends
}

fn context(place: &Path) -> Context {
    Context::builder().domain(3).directory(place).build().expect("a context")
}

/// Says so when it goes.
struct State {
    _gone: mpsc::Sender<()>,
    sum: u64,
}

/// When the other participant's publisher goes.
#[derive(Debug, Clone, Copy)]
enum Publisher {
    Before,
    Meanwhile,
    After,
}

/// A subscription with handlers goes, with its executor and its context. Returns whether their
/// state does.
fn let_go(when: Publisher, spins: bool) -> sinew::Result<bool> {
    let place = place();
    let (here, there) = (context(place.path()), context(place.path()));
    let (sender, gone) = mpsc::channel();
    let executor = Executor::single();
    executor.add(&here)?;
    let stop = executor.stop_handle();
    let node = here.node("listener")?;
    let group = node.group(State { _gone: sender, sum: 0 });
    let subscription = group
        .subscription::<Number>("numbers")
        .on_matched(move |state: &mut State, matched: &Matched| {
            state.sum += matched.current as u64;
            if matched.current == 0 {
                stop.stop();
            }
        })
        .callback(|state: &mut State, number: &Number| state.sum += number.0)?;
    let talker = there.node("talker")?;
    let publisher = talker.publisher::<Number>("numbers").create()?;
    publisher.publish(Number(3))?;
    let away = (publisher, talker, there);
    if spins {
        executor.spin_some()?;
    }
    let here = (subscription, group, node, here, executor);
    match when {
        Publisher::Before => drop((away, here)),
        Publisher::Meanwhile => thread::scope(|scope| {
            scope.spawn(|| drop(away));
            drop(here);
        }),
        Publisher::After => drop((here, away)),
    }
    // At once, or with what the helper thread is just doing.
    Ok(gone.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Disconnected))
}

#[test]
fn what_the_handlers_of_a_subscription_hold_goes_with_it_whatever_its_publisher_does() -> sinew::Result<()> {
    for round in 0..40 {
        for when in [Publisher::Before, Publisher::Meanwhile, Publisher::After] {
            for spins in [false, true] {
                assert!(finishes(move || let_go(when, spins))?, "round {round}: publisher {when:?}, {spins}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_filter_may_wait_for_a_thread_that_makes_a_publisher() -> sinew::Result<()> {
    for _ in 0..20 {
        finishes(|| -> sinew::Result<()> {
            let place = place();
            let (here, there) = (context(place.path()), context(place.path()));
            let lock = Arc::new(Mutex::new(()));
            let wanted = lock.clone();
            let (begins, begun) = mpsc::channel();
            let wants = move |_: &Number| begins.send(()).is_ok() && wanted.lock().is_ok();
            let node = here.node("listener")?;
            let subscription = node.subscription::<Number>("numbers").filter(wants).create()?;
            let (received, receiver) = mpsc::channel();
            subscription.set_listener(move |_| received.send(()).unwrap_or_default()); // the test has ended, perhaps
            let locked = lock.lock().expect("no panic");
            let publisher = there.node("talker")?.publisher::<Number>("numbers").create()?;
            publisher.publish(Number(3))?;
            begun.recv_timeout(PATIENCE).expect("the filter is asked, by another thread");
            let _other = here.node("another")?.publisher::<Number>("others").create()?; // which looks who is there
            drop(locked);
            receiver.recv_timeout(PATIENCE).expect("the message");
            Ok(())
        })?;
    }
    Ok(())
}
