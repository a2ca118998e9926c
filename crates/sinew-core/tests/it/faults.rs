//! Callbacks that panic, fail, or spin.
#![expect(clippy::disallowed_types, reason = "a lock of the test's own")]

use crate::support::{Log, Number, PATIENCE, Room, finishes, virtual_context};
use sinew::error::SpinError;
use sinew::executor::{ExecutorBuilder, FaultPolicy};
use sinew::prelude::*;
use sinew::time::VirtualClock;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};

/// A context in virtual time, a node called /node, and an executor.
fn stage(
    configure: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> sinew::Result<(Context, Node, Executor)> {
    let context = virtual_context(&VirtualClock::new());
    let node = context.node("node")?;
    let executor = configure(Executor::builder()).build()?;
    executor.add(&context)?;
    Ok((context, node, executor))
}

fn panicked(entity: &str, message: &str) -> SpinError {
    SpinError::Panicked { entity: entity.to_owned(), message: message.to_owned() }
}

#[test]
fn a_panic_stops_the_spin_and_says_whose_callback_it_was() -> sinew::Result<()> {
    let (_context, node, executor) = stage(|builder| builder)?;
    let subscription = node.subscription("numbers").callback(|number: &Number| panic!("no {}", number.0))?;
    let publisher = node.publisher("numbers").create()?;
    publisher.publish(Number(13))?;
    assert_eq!(executor.spin(), Err(panicked("subscription to /numbers of node /node", "no 13")));
    drop(subscription);

    let guard = node.guard_condition().callback(|| panic!("plain"))?;
    guard.trigger();
    assert_eq!(executor.spin_some(), Err(panicked("guard condition of node /node", "plain")));
    drop(guard);

    let timer = node.timer(Duration::from_millis(20)).callback(|| panic!("late"))?;
    let due = Duration::from_millis(20);
    assert_eq!(executor.advance(due), Err(panicked("timer (20ms) of node /node", "late")));
    drop(timer);

    let handler = node.publisher::<Number>("numbers").on_matched(|| panic!("who"));
    let reader = handler.create()?;
    let _matched = node.subscription::<Number>("numbers").create()?;
    let error = executor.spin_once(PATIENCE).unwrap_err();
    assert_eq!(error, panicked("matched event of publisher on numbers of node /node", "who"));
    drop(reader);

    let subscription = node.subscription("numbers").callback(|_: &Number| std::panic::panic_any(7))?;
    publisher.publish(Number(1))?;
    let error = executor.spin_until(std::future::pending::<()>()).unwrap_err();
    assert_eq!(error, panicked("subscription to /numbers of node /node", "not a text"));
    drop(subscription);
    Ok(())
}

#[test]
fn errors_are_reported_by_default_and_panics_are_not() -> sinew::Result<()> {
    let (_context, node, executor) = stage(|builder| builder)?;
    let guard = node.guard_condition().callback(|| Err("as always"))?;
    guard.trigger();
    assert_eq!(executor.spin_some()?, 1);
    let guard = node.guard_condition().callback(|| panic!("never seen before"))?;
    guard.trigger();
    assert!(executor.spin_some().is_err());
    Ok(())
}

#[test]
fn publishing_after_shutdown_is_an_error_of_the_callback_and_no_panic() -> sinew::Result<()> {
    let (context, node, executor) = stage(|builder| builder.on_error(FaultPolicy::Stop))?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let guard = node.guard_condition().callback(move || {
        context.shutdown();
        publisher.publish(Number(1))
    })?;
    guard.trigger();
    let error = executor.spin().unwrap_err();
    assert!(error.to_string().contains("shut down"), "{error}");
    Ok(())
}

/// An error that stops its executor where it is dropped: it needs the executor's lock.
#[derive(Debug, thiserror::Error)]
#[error("it fails")]
struct Stops(sinew::executor::StopHandle);

impl Drop for Stops {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[test]
fn errors_that_come_second_are_dropped_under_no_lock() {
    finishes(|| {
        let context = virtual_context(&VirtualClock::new());
        let executor = Executor::builder().threads(3).on_error(FaultPolicy::Stop).build().unwrap();
        executor.add(&context).unwrap();
        let meeting = Arc::new(Barrier::new(3)); // so that all three fail
        let guards = ["one", "two", "three"].map(|name| {
            let (meeting, stop) = (meeting.clone(), executor.stop_handle());
            let fail = move || {
                meeting.wait();
                Err(Stops(stop.clone()))
            };
            context.node(name).unwrap().guard_condition().callback(fail).unwrap()
        });
        guards.iter().for_each(|guard| guard.trigger());
        assert!(matches!(executor.spin(), Err(SpinError::Failed { .. })));
    });
}

// ---- spinning inside of spinning ----

#[test]
fn an_executor_cannot_be_spun_by_its_own_callbacks() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let executor = Arc::new(room.executor);
    let inner = Arc::downgrade(&executor);
    let guard = room.node.guard_condition().callback(move || {
        let executor = inner.upgrade().unwrap();
        pen.write(executor.spin().err());
        pen.write(executor.spin_some().err());
        pen.write(executor.spin_all(PATIENCE).err());
        pen.write(executor.spin_once(PATIENCE).err());
        pen.write(executor.spin_until(async {}).err());
        pen.write(executor.advance(PATIENCE).err());
    })?;
    guard.trigger();
    assert_eq!(executor.spin_some()?, 1);
    assert_eq!(log.lines(), [const { Some(SpinError::Busy) }; 6]);
    guard.trigger();
    assert_eq!(executor.spin_some()?, 1, "and nothing is left of it");
    Ok(())
}

/// A panic whose payload panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload panicked");
    }
}

#[test]
fn a_panic_whose_payload_panics_leaves_the_group_working() -> sinew::Result<()> {
    let (_context, node, executor) = stage(|builder| builder)?;
    let mut first = true;
    let subscription = node.subscription("numbers").callback(move |_: &Number| {
        if std::mem::take(&mut first) {
            std::panic::panic_any(Bomb);
        }
    })?;
    let publisher = node.publisher("numbers").create()?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    assert!(matches!(executor.spin_some(), Err(SpinError::Panicked { .. })));
    assert_eq!(executor.spin_some()?, 1, "the second message is still there, and runs");
    subscription.close();
    Ok(())
}

#[test]
fn a_filter_that_panics_while_its_subscription_joins_leaves_no_subscription() -> sinew::Result<()> {
    let (_context, node, _executor) = stage(|builder| builder)?;
    let qos = QoS::default().transient_local();
    let publisher = node.publisher("numbers").qos(qos).create()?;
    publisher.publish(Number(1))?;
    let joining = std::panic::AssertUnwindSafe(|| {
        let picky = node.subscription("numbers").qos(qos).filter(|_: &Number| panic!("no"));
        drop(picky.create());
    });
    assert!(std::panic::catch_unwind(joining).is_err());
    assert_eq!(publisher.subscription_count(), 0);
    Ok(())
}

/// The message that panics when it is dropped gives way in one history, just when the next one has
/// taken the place that was reserved for it in another.
#[test]
fn a_message_that_panics_when_it_gives_way_leaves_reserved_places_alone() -> sinew::Result<()> {
    #[derive(Clone)]
    struct Fuse(bool);
    impl Message for Fuse {}
    impl Drop for Fuse {
        fn drop(&mut self) {
            if self.0 {
                panic!("dropped");
            }
        }
    }

    let node = virtual_context(&VirtualClock::new()).node("node")?;
    let qos = QoS::default().keep_all().max_samples(2).max_blocking_time(Duration::ZERO);
    let publisher = node.publisher::<Fuse>("fuses").qos(qos).create()?;
    let newest = node.subscription::<Fuse>("fuses").qos(QoS::default().keep_last(1)).create()?;
    publisher.publish(Fuse(true))?;
    let all = node.subscription::<Fuse>("fuses").qos(qos).create()?;
    let publish = AssertUnwindSafe(|| publisher.publish(Fuse(false)));
    assert!(catch_unwind(publish).is_err());
    publisher.publish(Fuse(false))?;
    assert!(publisher.publish(Fuse(false)).is_err(), "there is room for two");
    assert_eq!(all.statistics().waiting, 2);
    drop((newest, all));
    Ok(())
}

#[test]
fn a_callback_that_panics_after_the_rest_was_taken_by_hand_is_called_again() -> sinew::Result<()> {
    let (_context, node, executor) = stage(|builder| builder)?;
    let own = Arc::new(std::sync::Mutex::new(None::<Subscription<Number>>));
    let (slot, log) = (own.clone(), Log::new());
    let pen = log.pen();
    let subscription = node.subscription("numbers").callback(move |number: &Number| {
        pen.write(number.0);
        if number.0 == 1 {
            let taken = slot.lock().unwrap().as_ref().and_then(Subscription::take);
            assert_eq!(taken.map(|(number, _)| number.0), Some(2));
            panic!("unlucky");
        }
    })?;
    *own.lock().unwrap() = Some(subscription);
    let publisher = node.publisher("numbers").create()?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    assert!(executor.spin_some().is_err());
    publisher.publish(Number(3))?;
    assert_eq!(executor.spin_some()?, 1);
    assert_eq!(log.lines(), [1, 3]);
    drop(own.lock().unwrap().take()); // its callback holds it
    Ok(())
}
