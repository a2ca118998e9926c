//! Creating and destroying entities, also from inside callbacks, closing them, and shutting down. (The design's section 5.)
#![expect(clippy::disallowed_types, reason = "slots that a callback empties; nothing here is modelled")]

mod support;

use sinew::prelude::*;
use sinew::{CreateError, GuardCondition, PublishFailure, TimerInfo};
use std::sync::{Arc, Mutex};
use std::thread;
use support::{Gate, Log, Number, Pen, Room, finishes, numbers_in, real_context};

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

const ONCE: [&str; 3] = ["begins", "ends", "callback dropped"];

// ---- inside callbacks ----

#[test]
fn a_subscription_may_be_dropped_in_its_own_callback() -> sinew::Result<()> {
    let room = Room::new();
    let (slot, log) = (Slot::new(), Log::new());
    let (own, captured) = (slot.clone(), Captured(log.pen()));
    slot.put(room.node.subscription("numbers").callback(move |_: &Number| drop_it(&own, &captured))?);
    let publisher = room.node.publisher("numbers").create()?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    assert_eq!(room.run(), 1);
    assert_eq!(log.lines(), ONCE);
    assert_eq!(publisher.matched_subscriptions(), 0);
    Ok(())
}

#[test]
fn a_timer_may_be_dropped_in_its_own_callback() -> sinew::Result<()> {
    let room = Room::new();
    let (slot, log) = (Slot::new(), Log::new());
    let (own, captured) = (slot.clone(), Captured(log.pen()));
    let timer = room.node.timer(Duration::from_millis(1));
    slot.put(timer.callback(move |_: &TimerInfo| drop_it(&own, &captured))?);
    assert_eq!(room.advance(10), 1);
    assert_eq!(log.lines(), ONCE);
    Ok(())
}

#[test]
fn a_guard_condition_may_be_dropped_in_its_own_callback() -> sinew::Result<()> {
    let room = Room::new();
    let (slot, log) = (Slot::new(), Log::new());
    let (own, captured) = (slot.clone(), Captured(log.pen()));
    let guard: GuardCondition = room.node.guard_condition().callback(move || drop_it(&own, &captured))?;
    guard.trigger();
    slot.put(guard);
    assert_eq!(room.run(), 1);
    assert_eq!(log.lines(), ONCE);
    Ok(())
}

#[test]
fn an_entity_may_be_closed_in_its_own_callback_which_does_not_wait_for_itself() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let subscriptions = Slot::new();
    let (own, pen) = (subscriptions.clone(), log.pen());
    subscriptions.put(room.node.subscription("numbers").callback(move |_: &Number| {
        own.take().into_iter().for_each(Subscription::<Number>::close);
        pen.write("subscription");
    })?);
    let timers = Slot::new();
    let (own, pen) = (timers.clone(), log.pen());
    timers.put(room.node.timer(Duration::from_millis(1)).callback(move || {
        own.take().into_iter().for_each(Timer::close);
        pen.write("timer");
    })?);
    let guards = Slot::new();
    let (own, pen) = (guards.clone(), log.pen());
    let guard = room.node.guard_condition().callback(move || {
        own.take().into_iter().for_each(GuardCondition::close);
        pen.write("guard");
    })?;
    guard.trigger();
    guards.put(guard);
    room.node.publisher("numbers").create()?.publish(Number(1))?;
    finishes(move || {
        assert_eq!(room.advance(10), 3);
        assert_eq!(log.lines(), ["guard", "subscription", "timer"]);
    });
    Ok(())
}

#[test]
fn what_is_dropped_by_an_earlier_callback_does_not_run_though_it_was_ready() -> sinew::Result<()> {
    let room = Room::new();
    let slot = Slot::new();
    let victims = slot.clone();
    let killer = room.node.guard_condition().callback(move || drop(victims.take()))?;
    killer.trigger();
    let guard = room.node.guard_condition().callback(|| panic!("it was dropped"))?;
    guard.trigger();
    let reader = room.node.subscription("numbers").callback(|_: &Number| panic!("it was dropped"))?;
    room.node.publisher("numbers").create()?.publish(Number(1))?;
    let timer = room.node.timer(Duration::from_millis(1)).callback(|| panic!("it was dropped"))?;
    room.clock.advance(Duration::from_millis(1));
    slot.put((guard, reader, timer));
    assert_eq!(room.run(), 1);
    Ok(())
}

#[test]
fn entities_may_be_created_in_callbacks() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let (context, pen) = (room.context.clone(), log.pen());
    let mut made = Vec::new();
    let _spawner = room.node.subscription("spawn").callback(move |number: &Number| {
        let node = context.node(&format!("node_{}", number.0))?;
        let (reader, timed, number) = (pen.clone(), pen.clone(), number.0);
        let subscription = node.subscription("numbers").callback(move |message: &Number| {
            reader.write(("message", number, message.0));
        })?;
        let timer = node.timer(Duration::from_millis(1)).callback(move |timer: &TimerInfo| {
            timed.write(("timer", number, 0));
            timer.cancel();
        })?;
        let publisher = node.publisher("numbers").create()?;
        publisher.publish(Number(10 * number))?;
        made.push((subscription, timer, publisher));
        Ok::<_, sinew::Error>(())
    })?;
    let spawn = room.node.publisher("spawn").create()?;
    spawn.publish(Number(1))?;
    spawn.publish(Number(2))?;
    room.advance(1);
    let expected =
        [("message", 1, 10), ("message", 1, 20), ("message", 2, 20), ("timer", 1, 0), ("timer", 2, 0)];
    let mut lines = log.lines();
    lines.sort_unstable();
    assert_eq!(lines, expected, "a reader gets what is published from its creation on");
    Ok(())
}

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
            room.node.subscription::<Noisy>("noisy").qos(qos).buffer(sinew::BufferType::Unique).create()
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
        room.node.guard_condition().in_group(&group).callback({
            let captured = Captured(log.pen());
            move || drop_it(&Slot::<()>::new(), &captured)
        })?,
        room.node.timer(Duration::from_millis(1)).in_group(&group).callback(|| panic!("it is gone"))?,
        room.node.subscription("numbers").in_group(&group).callback(|_: &Number| panic!("it is gone"))?,
        room.node
            .publisher::<Number>("numbers")
            .in_group(&group)
            .on_matched(|| panic!("it is gone"))
            .create()?,
        room.node.clone(),
        room.context.clone(),
        group.clone(),
    );
    captured.3.publish(Number(1))?;
    room.clock.advance(Duration::from_millis(1));
    let outer = room.node.guard_condition().in_group(&group).callback(move || {
        let _all = &captured;
    })?;
    finishes(move || {
        drop(outer);
        assert_eq!(log.lines(), ["callback dropped"]);
        assert_eq!(room.run(), 0);
    });
    Ok(())
}

// ---- while other threads run ----

/// An executor that spins on another thread, in a callback that waits at a gate.
struct Busy {
    log: Log<&'static str>,
    leave: Gate,
    stop: sinew::StopHandle,
    thread: thread::JoinHandle<()>,
}

impl Busy {
    /// Spins a room, once `make` has made something ready whose callback calls what it is given.
    fn start<T>(
        make: impl FnOnce(&Node, Box<dyn Fn() + Send>) -> sinew::Result<T>,
    ) -> sinew::Result<(Self, T)> {
        let context = real_context();
        let node = context.node("node")?;
        let log = Log::new();
        let leave = Gate::new();
        let (pen, waiter) = (log.pen(), leave.clone());
        let entity = make(
            &node,
            Box::new(move || {
                pen.write("begins");
                waiter.wait();
                pen.write("ends");
            }),
        )?;
        let executor = Executor::single();
        executor.add(&context)?;
        let stop = executor.stop_handle();
        let thread = thread::spawn(move || executor.spin().expect("no callback panics"));
        assert_eq!(log.next(), "begins");
        Ok((Self { log, leave, stop, thread }, entity))
    }

    /// Closes the entity on a thread of its own, opens the gate, and checks the order.
    fn check_close(self, close: impl FnOnce() + Send + 'static) {
        let pen = self.log.pen();
        let closing = thread::spawn(move || {
            pen.write("closing");
            close();
            pen.write("closed");
        });
        assert_eq!(self.log.next(), "closing");
        // Time enough to be wrong in; whoever waits as he should waits for the gate, however long this is.
        assert_eq!(self.log.next_within(Duration::from_millis(10)), None, "it didn't wait");
        self.leave.open();
        assert_eq!([self.log.next(), self.log.next()], ["ends", "closed"]);
        closing.join().expect("nothing panics");
        self.end();
    }

    /// Drops the entity while its callback waits for the gate.
    fn check_drop<T>(self, entity: T) {
        drop(entity);
        self.leave.open();
        assert_eq!(self.log.next(), "ends");
        self.end();
        // Whatever made it ready more than once: nothing of it has run since.
    }

    fn end(self) {
        self.stop.stop();
        finishes(move || self.thread.join().expect("nothing panics"));
        assert_eq!(self.log.lines().len(), 0);
    }
}

fn busy_subscription(messages: u64) -> sinew::Result<(Busy, Subscription<Number>)> {
    Busy::start(|node, work| {
        let subscription = node.subscription("numbers").callback(move |_: &Number| work())?;
        let publisher = node.publisher("numbers").create()?;
        (1..=messages).try_for_each(|number| publisher.publish(Number(number)))?;
        Ok(subscription)
    })
}

fn busy_guard() -> sinew::Result<(Busy, GuardCondition)> {
    Busy::start(|node, work| {
        let guard = node.guard_condition().callback(work)?;
        guard.trigger();
        Ok(guard)
    })
}

fn busy_timer() -> sinew::Result<(Busy, Timer)> {
    Busy::start(|node, work| {
        let timer = node.timer(Duration::from_micros(100));
        Ok(timer.callback(move |timer: &TimerInfo| {
            timer.cancel();
            work();
        })?)
    })
}

/// A subscription one of whose event handlers runs.
fn busy_handler() -> sinew::Result<(Busy, Subscription<Number>)> {
    Busy::start(|node, work| {
        let subscription = node.subscription("numbers").on_matched(work).create()?;
        drop(node.publisher::<Number>("numbers").create()?);
        Ok(subscription)
    })
}

#[test]
fn close_waits_for_a_callback_that_runs_on_another_thread() -> sinew::Result<()> {
    let (busy, subscription) = busy_subscription(1)?;
    busy.check_close(move || subscription.close());
    let (busy, guard) = busy_guard()?;
    busy.check_close(move || guard.close());
    let (busy, timer) = busy_timer()?;
    busy.check_close(move || timer.close());
    let (busy, subscription) = busy_handler()?;
    busy.check_close(move || subscription.close());
    Ok(())
}

#[test]
fn drop_does_not_wait_but_no_callback_starts_after_it() -> sinew::Result<()> {
    let (busy, subscription) = busy_subscription(3)?;
    busy.check_drop(subscription);
    let (busy, guard) = busy_guard()?;
    guard.trigger();
    busy.check_drop(guard);
    let (busy, timer) = busy_timer()?;
    busy.check_drop(timer);
    let (busy, subscription) = busy_handler()?;
    busy.check_drop(subscription);
    Ok(())
}

#[test]
fn close_of_something_idle_returns_at_once() -> sinew::Result<()> {
    let (busy, _guard) = busy_guard()?; // another group would be as well
    let node = real_context().node("node")?;
    finishes(move || {
        node.guard_condition().callback(|| {})?.close();
        node.timer(Duration::from_secs(1)).callback(|| {})?.close();
        node.subscription("numbers").callback(|_: &Number| {})?.close();
        node.subscription::<Number>("numbers").create()?.close();
        Ok::<_, sinew::Error>(())
    })?;
    busy.leave.open();
    assert_eq!(busy.log.next(), "ends");
    busy.end();
    Ok(())
}

#[test]
fn entities_come_and_go_while_others_publish_and_an_executor_spins() -> sinew::Result<()> {
    const ROUNDS: u64 = 300;
    let context = real_context();
    let node = context.node("node")?;
    let executor = Executor::single();
    executor.add(&context)?;
    let stop = executor.stop_handle();
    let log = Log::new();
    let pen = log.pen();
    let deep = QoS::default().keep_last(10_000);
    let steady = node.subscription::<Number>("numbers").qos(deep).create()?;
    finishes(move || {
        thread::scope(|scope| {
            let spinning = scope.spawn(|| executor.spin().unwrap());
            let publishing: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        for number in 0..ROUNDS {
                            let publisher = node.publisher("numbers").create().unwrap();
                            publisher.publish(Number(number)).unwrap();
                            publisher.publish(Number(number)).unwrap();
                        }
                    })
                })
                .collect();
            for round in 0..ROUNDS {
                let (pen, group) = (pen.clone(), node.group(round));
                let subscription = node
                    .subscription("numbers")
                    .in_group(&group)
                    .callback(move |round: &mut u64, _: sinew::Unique<Number>| pen.write(*round))
                    .unwrap();
                let timer = node.timer(Duration::from_micros(10)).callback(|| {}).unwrap();
                if round % 2 == 0 {
                    subscription.close()
                } else {
                    drop(subscription)
                }
                drop(timer);
            }
            publishing.into_iter().for_each(|thread| thread.join().unwrap());
            stop.stop();
            spinning.join().unwrap();
        });
        assert_eq!(numbers_in(&steady).len() as u64, 4 * ROUNDS, "who stayed got everything");
    });
    let rounds = log.lines();
    assert!(rounds.is_sorted(), "no callback of a closed subscription ran behind a later one: {rounds:?}");
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
    assert_eq!(error.into_message().into_shared().0, 2);
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
fn shutdown_in_a_callback_ends_the_spin_after_it() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let (context, pen) = (room.context.clone(), log.pen());
    let _reader = room.node.subscription("numbers").callback(move |number: &Number| {
        context.shutdown();
        pen.write(number.0);
    })?;
    let publisher = room.node.publisher("numbers").create()?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    room.executor.spin()?;
    room.executor.spin()?;
    assert_eq!(room.executor.spin_some()?, 0);
    assert_eq!(log.lines(), [1]);
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
                .buffer(sinew::BufferType::Unique)
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
                                    assert_eq!(error.into_message().into_shared().0, number);
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
fn one_shutdown_ends_all_executors_of_a_context() -> sinew::Result<()> {
    let context = real_context();
    let log = Log::new();
    let mut spinning = Vec::new();
    for name in ["one", "two", "three"] {
        let node = context.node(name)?;
        let pen = log.pen();
        let guard = node.guard_condition().callback(move || pen.write(()))?;
        guard.trigger();
        let executor = Executor::single();
        executor.add(&node)?;
        spinning.push(thread::spawn(move || {
            let _guard = guard;
            executor.spin()
        }));
    }
    (0..3).for_each(|_| log.next());
    context.shutdown();
    finishes(move || spinning.into_iter().try_for_each(|thread| thread.join().unwrap()))?;
    Ok(())
}
