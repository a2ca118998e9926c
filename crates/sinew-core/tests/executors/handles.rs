//! Handles: clones are the same entity, which ends with the last of them, or with `close`.
#![expect(clippy::disallowed_types, reason = "a place from which a callback takes its own handle")]

use crate::support;

use sinew::GuardCondition;
use sinew::error::{AddError, CreateError};
use sinew::executor::WaitSet;
use sinew::prelude::*;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;
use support::tasks::Task;
use support::{Number, Numbers, Place, Room, finishes, numbers_in, wait_for};

/// What callbacks capture here, to see that it goes with them.
fn captured() -> (Arc<()>, Weak<()>) {
    let captured = Arc::new(());
    let seen = Arc::downgrade(&captured);
    (captured, seen)
}

const PERIOD: Duration = Duration::from_millis(10);

// ---- what a clone keeps, and what ends both ----

#[test]
fn a_timer_lives_as_long_as_a_clone_and_ends_when_one_is_closed() -> sinew::Result<()> {
    let room = Room::new();
    let (captured, seen) = captured();
    let timer = room.node.timer(PERIOD).callback(move || {
        let _ = &captured;
    })?;
    let clone = timer.clone();
    drop(timer);
    assert_eq!(room.advance(30), 3);

    assert!(!clone.is_closed());
    clone.clone().close();
    assert!(clone.is_closed() && seen.upgrade().is_none());
    clone.reset();
    assert_eq!(room.advance(30), 0);
    clone.close(); // again
    Ok(())
}

#[test]
fn a_guard_condition_lives_as_long_as_a_clone_and_ends_when_one_is_closed() -> sinew::Result<()> {
    let room = Room::new();
    let ((captured, seen), (arrived, received_by)) = (captured(), captured());
    let guard = room.node.guard_condition().callback(move || {
        let _ = &captured;
    })?;
    let clone = guard.clone();
    drop(guard);
    clone.trigger();
    assert_eq!(room.run(), 1);

    clone.set_listener(move |_| assert_eq!(Arc::strong_count(&arrived), 1));
    clone.clone().close();
    assert!(clone.is_closed() && seen.upgrade().is_none() && received_by.upgrade().is_none());
    clone.trigger();
    clone.set_listener(|_| panic!("it is closed"));
    clone.trigger();
    assert_eq!(room.run(), 0);
    Ok(())
}

#[test]
fn a_descriptor_source_lives_as_long_as_a_clone_and_ends_when_one_is_closed() -> sinew::Result<()> {
    let room = Room::new();
    let (captured, seen) = captured();
    let (near, far) = UnixStream::pair().unwrap();
    let source = room.node.descriptor(&near).callback(move || {
        let _ = &captured;
    })?;
    drop(near);
    let clone = source.clone();
    drop(source);
    std::io::Write::write_all(&mut &far, b"x").unwrap();
    wait_for("it is ready", || (room.run() > 0).then_some(()));

    clone.clone().close();
    assert!(clone.is_closed() && seen.upgrade().is_none());
    assert!(std::io::Write::write_all(&mut &far, b"x").is_err(), "the duplicate is closed");
    Ok(())
}

#[test]
fn a_subscription_lives_as_long_as_a_clone_and_ends_when_one_is_closed() -> sinew::Result<()> {
    let room = Room::new();
    let (captured, seen) = captured();
    let numbers = room.node.publisher::<Number>("numbers").create()?;
    let called = room.node.subscription("numbers").callback(move |_: &Number| {
        let _ = &captured;
    })?;
    let taken = room.node.subscription::<Number>("numbers").create()?;
    let (called_too, taken_too) = (called.clone(), taken.clone());
    drop((called, taken));
    numbers.publish(Number(1))?;
    numbers.publish(Number(2))?;
    assert_eq!(room.run(), 2);
    assert_eq!(taken_too.clone().take().unwrap().0.0, 1, "a clone takes from the same history");

    called_too.clone().close();
    taken_too.clone().close();
    assert!(called_too.is_closed() && taken_too.is_closed() && seen.upgrade().is_none());
    assert_eq!(numbers.subscription_count(), 0);
    numbers.publish(Number(3))?;
    assert_eq!((room.run(), numbers_in(&taken_too).len()), (0, 0), "what waited is gone, too");
    let statistics = (taken_too.statistics().received, taken_too.statistics().taken);
    assert_eq!(statistics, (1, 1), "what waited counts no more");
    Ok(())
}

#[test]
fn a_server_lives_as_long_as_a_clone_and_ends_when_one_is_closed() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("double").create()?;
    let answer = |factor| move |number: &Number| Number(factor * number.0);
    let server = || room.node.server::<Numbers>("double");
    let ask = || room.executor.spin_until(client.call_async(Number(1))).map(|response| response.unwrap().0);
    let first = server().callback(answer(2))?;
    let clone = first.clone();
    drop(first);
    assert_eq!(ask()?, 2);
    assert!(matches!(server().callback(answer(3)), Err(CreateError::ServiceTaken { .. })));

    clone.clone().close();
    assert!(clone.is_closed() && !client.is_server_ready());
    let second = server().callback(answer(3))?;
    drop(clone);
    assert_eq!(ask()?, 3, "a handle of the first one has nothing to do with the second");
    assert!(!second.is_closed());
    assert!(matches!(server().callback(answer(4)), Err(CreateError::ServiceTaken { .. })));
    Ok(())
}

#[test]
fn publishers_and_clients_end_with_their_last_clone() -> sinew::Result<()> {
    let room = Room::new();
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    let client = room.node.client::<Numbers>("double").create()?;
    let (publisher_too, client_too) = (publisher.clone(), client.clone());
    drop((publisher, client));
    publisher_too.publish(Number(7))?;
    assert_eq!(numbers_in(&numbers), [7]);
    assert_eq!((numbers.publisher_count(), client_too.name()), (1, "/double"));
    drop(publisher_too);
    assert_eq!(numbers.publisher_count(), 0);
    Ok(())
}

/// Where others see it: it is gone with `close`, whatever handles are left.
#[test]
fn what_is_closed_is_gone_for_other_processes_too() -> sinew::Result<()> {
    let place = Place::new();
    let (here, there) = (place.context(), place.context());
    let numbers = here.node("here")?.subscription::<Number>("numbers").create()?;
    let server = here.node("here")?.server::<Numbers>("double").callback(|number: Number| number)?;
    let publisher = there.node("there")?.publisher::<Number>("numbers").create()?;
    let client = there.node("there")?.client::<Numbers>("double").create()?;
    wait_for("they meet", || (publisher.subscription_count() == 1 && client.is_server_ready()).then_some(()));
    let (numbers_too, server_too) = (numbers.clone(), server.clone());
    numbers.close();
    server.close();
    wait_for("they part", || {
        (publisher.subscription_count() == 0 && !client.is_server_ready()).then_some(())
    });
    assert!(numbers_too.is_closed() && server_too.is_closed());
    Ok(())
}

// ---- close, seen from elsewhere ----

#[test]
fn a_task_that_awaits_a_message_of_a_clone_ends_when_the_subscription_is_closed() -> sinew::Result<()> {
    let room = Room::new();
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    let clone = numbers.clone();
    let (task, mut waiting) = (Task::new(), numbers.recv());
    assert!(task.poll(&mut waiting).is_pending());
    clone.close();
    assert_eq!(task.rings(), 1);
    assert!(matches!(task.poll(&mut waiting), Poll::Ready(None)));
    let mut late = numbers.recv();
    assert!(matches!(task.poll(&mut late), Poll::Ready(None)));
    // One that is dropped instead of being polled again.
    let other = room.node.subscription::<Number>("numbers").create()?;
    let mut waiting = other.recv();
    assert!(task.poll(&mut waiting).is_pending());
    other.clone().close();
    drop(waiting);
    Ok(())
}

#[test]
fn a_callback_may_close_a_clone_of_its_own_handle() {
    finishes(|| {
        let room = Room::new();
        let (captured, seen) = captured();
        let own: Arc<Mutex<Option<GuardCondition>>> = Arc::default();
        let slot = own.clone();
        let callback = move || {
            let _ = &captured;
            slot.lock().unwrap().clone().unwrap().close();
        };
        let guard = room.node.guard_condition().callback(callback).unwrap();
        *own.lock().unwrap() = Some(guard.clone());
        drop(own); // only its callback has a clone now, besides `guard`
        guard.trigger();
        assert_eq!(room.run(), 1);
        assert!(guard.is_closed() && seen.upgrade().is_none(), "it doesn't keep itself");
    });
}

#[test]
fn a_wait_set_takes_no_subscription_that_is_closed() -> sinew::Result<()> {
    let room = Room::new();
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    let mut set = WaitSet::new();
    set.add_subscription(&numbers)?;
    room.node.publisher("numbers").create()?.publish(Number(1))?;
    assert_eq!(set.wait(Duration::ZERO)?.len(), 1);
    numbers.clone().close();
    assert_eq!(set.wait(Duration::ZERO)?.len(), 0);
    let what = "the subscription to /numbers".to_owned();
    assert_eq!(set.add_subscription(&numbers), Err(AddError::Closed { what }));
    Ok(())
}

#[test]
fn what_is_detached_goes_on_and_a_clone_still_closes_it() -> sinew::Result<()> {
    let room = Room::new();
    let timer = room.node.timer(PERIOD).callback(|| ())?;
    let guard = room.node.guard_condition().callback(|| ())?;
    let (timer_too, guard_too) = (timer.clone(), guard.clone());
    timer.detach();
    guard.detach();
    guard_too.trigger();
    assert_eq!(room.advance(10), 2);
    timer_too.close();
    guard_too.close();
    assert_eq!(room.advance(10), 0);
    Ok(())
}

// ---- what handles have in common ----

#[test]
fn handles_say_what_they_are() -> sinew::Result<()> {
    fn said<H: std::fmt::Debug + Clone + Send + Sync>(handle: &H) -> String {
        format!("{:?}", handle.clone())
    }
    let room = Room::new();
    let node = &room.node;
    let (near, _far) = UnixStream::pair().unwrap();
    let said = [
        said(&room.context),
        said(node),
        said(&node.group(1)),
        said(&node.reentrant_group()),
        said(&node.publisher::<Number>("numbers").create()?),
        said(&node.subscription::<Number>("numbers").create()?),
        said(&node.client::<Numbers>("double").create()?),
        said(&node.server::<Numbers>("double").callback(|number: Number| number)?),
        said(&node.timer(PERIOD).callback(|| ())?),
        said(&node.guard_condition().callback(|| ())?),
        said(&node.descriptor(&near).callback(|| ())?),
        said(&room.executor.stop_handle()),
    ];
    let kinds = [
        "Context",
        "Node",
        "Group",
        "ReentrantGroup",
        "Publisher",
        "Subscription",
        "Client",
        "Server",
        "Timer",
        "GuardCondition",
        "DescriptorSource",
        "StopHandle",
    ];
    for (said, kind) in said.iter().zip(kinds) {
        assert!(said.starts_with(kind), "{kind}: {said}");
    }
    let names = ["/room", "/room", "/room", "/numbers", "/numbers", "/double", "/double"];
    for (said, name) in said[1..].iter().zip(names) {
        assert!(said.contains(name), "{name}: {said}");
    }
    Ok(())
}
