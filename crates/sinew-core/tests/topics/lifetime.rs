//! Creating and destroying entities, and shutting down; more in `conformance/lifetime.rs`.
#![expect(clippy::disallowed_types, reason = "slots that a callback empties; nothing here is modelled")]

use crate::support;

use sinew::error::{CreateError, PublishFailure};
use sinew::prelude::*;
use std::sync::{Arc, Mutex};
use std::thread;
use support::{Log, Number, Pen, Room, finishes, numbers_in, real_context};

/// A place from which a callback can drop an entity, be it its own.
struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }

    fn put(&self, entity: T) {
        *self.0.lock().expect("nobody panics with it") = Some(entity);
    }

    fn take(&self) -> Option<T> {
        self.0.lock().expect("nobody panics with it").take()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Says so when it is dropped: part of a callback, to see when that goes.
struct Captured(Pen<&'static str>);

impl Drop for Captured {
    fn drop(&mut self) {
        self.0.write("callback dropped");
    }
}

/// Drops what is in the slot, between two lines in the log.
fn drop_it<T>(slot: &Slot<T>, captured: &Captured) {
    captured.0.write("begins");
    drop(slot.take());
    captured.0.write("ends");
}

// ---- inside callbacks ----

#[test]
fn a_callback_may_replace_its_own_subscription_again_and_again() -> sinew::Result<()> {
    fn subscribe(node: &Node, slot: &Slot<Subscription<Number>>, pen: &Pen<u64>) -> sinew::Result<()> {
        let (again, own, log) = (node.clone(), slot.clone(), pen.clone());
        let subscription = node.subscription("numbers").callback(move |number: &Number| {
            log.write(number.0);
            drop(own.take());
            subscribe(&again, &own, &log)?;
            again.publisher("numbers").create()?.publish(Number(number.0 + 1))?;
            Ok::<_, sinew::Error>(())
        })?;
        slot.put(subscription);
        Ok(())
    }
    let room = Room::new();
    let (slot, log) = (Slot::new(), Log::new());
    subscribe(&room.node, &slot, &log.pen())?;
    room.node.publisher("numbers").create()?.publish(Number(0))?;
    for _ in 0..100 {
        room.executor.spin_once(Duration::ZERO)?;
    }
    assert_eq!(log.lines(), (0..100).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_clone_or_drop_of_a_message_may_publish_and_subscribe_itself() -> sinew::Result<()> {
    /// Publishes a number when it is cloned, and when it is dropped.
    struct Noisy(sinew::Publisher<Number>, Node);
    impl Message for Noisy {}
    impl Clone for Noisy {
        fn clone(&self) -> Self {
            self.0.publish(Number(1)).expect("it is running");
            Self(self.0.clone(), self.1.clone())
        }
    }
    impl Drop for Noisy {
        fn drop(&mut self) {
            let subscription = self.1.subscription::<Noisy>("noisy").create();
            self.0.publish(Number(2)).expect("it is running");
            drop(subscription);
        }
    }
    finishes(|| {
        let room = Room::new();
        let numbers = room.node.subscription::<Number>("numbers").create()?;
        let owner = || {
            let qos = QoS::default().keep_last(1);
            room.node.subscription::<Noisy>("noisy").qos(qos).buffer(sinew::msg::BufferType::Unique).create()
        };
        let owners = [owner()?, owner()?];
        let publisher = room.node.publisher::<Noisy>("noisy").create()?;
        for _ in 0..2 {
            publisher.publish(Noisy(room.node.publisher("numbers").create()?, room.node.clone()))?;
        }
        assert_eq!(numbers_in(&numbers), [1, 1, 2, 2], "two copies were made, two messages overwritten");
        drop(owners);
        assert_eq!(numbers_in(&numbers), [2, 2]);
        Ok::<_, sinew::Error>(())
    })
}

#[test]
fn what_a_callback_has_captured_goes_with_it_be_it_entities_of_its_own_group() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let group = room.node.group(());
    let captured = (
        group.guard_condition().callback({
            let captured = Captured(log.pen());
            move || drop_it(&Slot::<()>::new(), &captured)
        })?,
        group.timer(Duration::from_millis(1)).callback(|| panic!("it is gone"))?,
        group.subscription("numbers").callback(|_: &Number| panic!("it is gone"))?,
        group.publisher::<Number>("numbers").on_matched(|| panic!("it is gone")).create()?,
        room.node.clone(),
        room.context.clone(),
        group.clone(),
    );
    captured.3.publish(Number(1))?;
    room.clock.advance(Duration::from_millis(1));
    let outer = group.guard_condition().callback(move || {
        let _all = &captured;
    })?;
    finishes(move || {
        drop(outer);
        assert_eq!(log.lines(), ["callback dropped"]);
        assert_eq!(room.run(), 0);
    });
    Ok(())
}

// ---- shutting down ----

#[test]
fn after_shutdown_publishing_gives_the_message_back() -> sinew::Result<()> {
    let room = Room::new();
    let reader = room.node.subscription::<Number>("numbers").create()?;
    for qos in [QoS::default(), QoS::default().transient_local(), QoS::default().keep_all()] {
        let publisher = room.node.publisher::<Number>("numbers").qos(qos).create()?;
        publisher.publish(Number(1))?;
    }
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    room.context.shutdown();
    room.context.shutdown(); // again is no error
    assert!(room.context.is_shutdown());
    let error = publisher.publish(Box::new(Number(2))).unwrap_err();
    assert_eq!(error.failure(), PublishFailure::Shutdown);
    assert_eq!(error.into_message().into_shared().unwrap().0, 2);
    assert_eq!(numbers_in(&reader), [1, 1, 1], "what was accepted before stays in its histories");
    Ok(())
}

#[test]
fn after_shutdown_nothing_can_be_created() -> sinew::Result<()> {
    let room = Room::new();
    room.context.shutdown();
    let name = |name: &str| CreateError::Shutdown { name: name.to_owned() };
    assert_eq!(room.context.node("late").unwrap_err(), name("late"));
    assert_eq!(room.node.publisher::<Number>("numbers").create().unwrap_err(), name("numbers"));
    assert_eq!(room.node.subscription::<Number>("numbers").create().unwrap_err(), name("numbers"));
    assert!(room.node.subscription::<Number>("numbers").callback(|_: &Number| {}).is_err());
    assert!(room.node.timer(Duration::from_secs(1)).callback(|| {}).is_err());
    assert!(room.node.guard_condition().callback(|| {}).is_err());
    Ok(())
}

#[test]
fn shutdown_while_others_publish_loses_nothing_that_was_accepted() -> sinew::Result<()> {
    for _ in 0..20 {
        let context = real_context();
        let node = context.node("node")?;
        let readers = [
            node.subscription::<Number>("numbers").qos(QoS::default().keep_last(1_000_000)).create()?,
            node.subscription::<Number>("numbers")
                .qos(QoS::default().keep_last(1_000_000))
                .buffer(sinew::msg::BufferType::Unique)
                .create()?,
        ];
        let log = Log::new();
        finishes(move || {
            let accepted: u64 = thread::scope(|scope| {
                let publishing: Vec<_> = (0..2)
                    .map(|_| {
                        let (pen, node) = (log.pen(), node.clone());
                        scope.spawn(move || {
                            let publisher = node.publisher("numbers").create().unwrap();
                            for number in 0.. {
                                if let Err(error) = publisher.publish(Number(number)) {
                                    assert_eq!(error.failure(), PublishFailure::Shutdown);
                                    assert_eq!(error.into_message().into_shared().unwrap().0, number);
                                    return number;
                                }
                                if number == 5 {
                                    pen.write(());
                                }
                            }
                            unreachable!("it is shut down some day")
                        })
                    })
                    .collect();
                (0..2).for_each(|_| log.next());
                context.shutdown();
                publishing.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            for reader in &readers {
                assert_eq!(reader.statistics().waiting, accepted);
            }
        });
    }
    Ok(())
}

#[test]
fn a_dropped_subscription_goes_though_its_publisher_never_publishes_again() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    for others in 0..3 {
        for durable in [false, true] {
            for filters in [false, true] {
                let qos = if durable { QoS::default().transient_local() } else { QoS::default() };
                let publisher = node.publisher::<Number>("numbers").qos(qos).create()?;
                let _others: Vec<_> = (0..others)
                    .map(|_| node.subscription::<Number>("numbers").create())
                    .collect::<Result<_, _>>()?;
                let captured = Arc::new(());
                let (in_filter, in_handler) = (captured.clone(), captured.clone());
                let builder = node.subscription::<Number>("numbers");
                let builder = if filters {
                    builder.filter(move |_| Arc::strong_count(&in_filter) > 0)
                } else {
                    drop(in_filter);
                    builder
                };
                let handler =
                    move |_: &sinew::event::MessageLost| assert!(Arc::strong_count(&in_handler) > 0);
                let subscription = builder.on_message_lost(handler).callback(|_: &Number| ())?;
                publisher.publish(Number(1))?;
                drop(subscription);
                assert_eq!(
                    Arc::strong_count(&captured),
                    1,
                    "{others} others, transient local: {durable}, filter: {filters}"
                );
                publisher.publish(Number(2))?;
            }
        }
    }
    Ok(())
}
