//! Listeners: functions that are called as soon as something is new, so that others can come for
//! it.

use crate::support;

use sinew::GuardCondition;
use sinew::error::PublishFailure;
use sinew::msg::BufferType;
use sinew::prelude::*;
use std::cell::Cell;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use support::tasks::{Task, block_on};
use support::{Log, Number, PATIENCE, Pen, Place, Room, finishes, numbers_in, real_context};

/// A listener that reports its notifications.
fn reporting(pen: Pen<u64>) -> impl Fn(u64) + Send + Sync + 'static {
    move |count| pen.write(count)
}

fn publish(publisher: &Publisher<Number>, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| publisher.publish(Number(number)).expect("it can be published"));
}

// ---- subscriptions ----

#[test]
fn the_publishing_thread_notifies_a_listener_of_each_message() -> sinew::Result<()> {
    let room = Room::new();
    let subscription = room.node.subscription::<Number>("numbers").create()?;
    let publisher = room.node.publisher("numbers").create()?;
    let log = Log::new();
    let pen = log.pen();
    subscription.set_listener(move |count| pen.write((count, thread::current().id())));
    assert_eq!(log.lines(), [], "nothing waits");
    publish(&publisher, [1]);
    let there = thread::spawn(move || {
        publish(&publisher, [2]);
        thread::current().id()
    });
    let there = there.join().expect("it doesn't panic");
    assert_eq!(log.lines(), [(1, thread::current().id()), (1, there)]);
    assert_eq!(numbers_in(&subscription), [1, 2]);
    Ok(())
}

/// From another process a burst comes: taking one brings in the next, of which it is notified once
/// it has returned, however long that goes on.
#[test]
fn a_listener_is_notified_of_its_own_effects_once_it_has_returned() -> sinew::Result<()> {
    const COUNT: u64 = 20_000;
    thread_local! {
        static IS_IN: Cell<bool> = const { Cell::new(false) };
    }
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let contexts = [(one.clone(), one.clone()), (one, other)];
    for (publishing, taking) in contexts {
        let qos = QoS::new().keep_all().max_samples(64).max_blocking_time(PATIENCE);
        let subscription = taking.node("listener")?.subscription::<Number>("numbers").qos(qos).create()?;
        let publisher = publishing.node("talker")?.publisher::<Number>("numbers").qos(qos).create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        let (taken, done) = mpsc::channel();
        let taker = subscription.clone();
        subscription.set_listener(move |_| {
            assert!(!IS_IN.replace(true), "this thread is in it already");
            while let Some((number, _)) = taker.take() {
                let _ = taken.send(number.0); // the test has ended, perhaps
            }
            IS_IN.set(false);
        });
        (1..=COUNT).for_each(|number| publisher.publish(Number(number)).expect("there is room"));
        for number in 1..=COUNT {
            assert_eq!(done.recv_timeout(PATIENCE), Ok(number));
        }
        subscription.clear_listener();
    }
    Ok(())
}

/// Holds up the thread that receives for a context: in a listener, until the test says otherwise.
struct HeldReceiver {
    _subscription: Subscription<Number>,
    leave: mpsc::Sender<()>,
}

impl HeldReceiver {
    fn new(receiving: &Context, publishing: &Context) -> sinew::Result<Self> {
        let subscription = receiving.node("held")?.subscription::<Number>("hold").create()?;
        let publisher = publishing.node("holder")?.publisher::<Number>("hold").create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        let ((enter, entered), (leave, left)) = (mpsc::channel(), mpsc::channel::<()>());
        let left = parking_lot::Mutex::new(left);
        subscription.set_listener(move |_| {
            let _ = enter.send(());
            let _ = left.lock().recv();
        });
        publish(&publisher, [1]);
        entered.recv_timeout(PATIENCE).expect("the listener is notified");
        Ok(Self { _subscription: subscription, leave })
    }
}

/// A thread that takes may hold a lock of the program's that the listener wants, also that of
/// another subscription which the same messages are for.
#[test]
fn no_thread_that_takes_runs_a_listener() -> sinew::Result<()> {
    let place = Place::new();
    let (publishing, taking) = (place.context(), place.context());
    let node = taking.node("taker")?;
    let [taken, other] = [(); 2].map(|()| node.subscription::<Number>("numbers").create());
    let (taken, other) = (taken?, other?);
    let publisher = publishing.node("talker")?.publisher::<Number>("numbers").create()?;
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    let (sender, received) = mpsc::channel();
    let lock = Arc::new(parking_lot::Mutex::new(()));
    for (number, subscription) in (0..).zip([&taken, &other]) {
        let (sender, lock) = (sender.clone(), lock.clone());
        subscription.set_listener(move |count| {
            drop(lock.lock());
            let _ = sender.send((number, count, thread::current().id()));
        });
    }
    let receiver = HeldReceiver::new(&taking, &publishing)?;
    {
        let _lock = lock.lock();
        publish(&publisher, [1, 2, 3]);
        // A thread that follows the publisher may be bringing them in just now.
        let first = std::iter::from_fn(|| Some(taken.take())).flatten().next();
        assert_eq!(first.map(|(number, _)| number.0), Some(1));
        // It stays: of a subscription that is dropped, messages that aren't brought in by then are
        // never notified.
        let second = thread::scope(|scope| scope.spawn(|| block_on(taken.recv())).join());
        assert_eq!(second.ok().flatten().map(|(number, _)| number.0), Some(2));
        assert_eq!(received.try_recv(), Err(mpsc::TryRecvError::Empty));
    }
    drop(receiver.leave);
    let mut counts = [0, 0];
    while counts != [3, 3] {
        let (number, count, thread): (usize, u64, _) =
            received.recv_timeout(PATIENCE).expect("it is notified");
        assert_ne!(thread, thread::current().id());
        counts[number] += count;
    }
    Ok(())
}

#[test]
fn a_listener_that_is_set_late_gets_the_number_of_waiting_messages_at_once() -> sinew::Result<()> {
    let room = Room::new();
    let subscription = room.node.subscription::<Number>("numbers").create()?;
    let publisher = room.node.publisher("numbers").create()?;
    publish(&publisher, 1..=3);
    assert!(subscription.take().is_some());
    let log = Log::new();
    subscription.set_listener(reporting(log.pen()));
    assert_eq!(log.lines(), [2]);
    publish(&publisher, [4]);
    assert_eq!(log.lines(), [1]);
    Ok(())
}

#[test]
fn a_late_joiners_listener_is_notified_of_retained_messages() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_last(3).transient_local();
    let publisher = room.node.publisher("numbers").qos(qos).create()?;
    publish(&publisher, 1..=5);
    let subscription = room.node.subscription::<Number>("numbers").qos(qos).create()?;
    let log = Log::new();
    subscription.set_listener(reporting(log.pen()));
    assert_eq!(log.lines(), [3]);
    Ok(())
}

#[test]
fn when_a_listener_is_called_the_message_is_there() -> sinew::Result<()> {
    finishes(|| {
        let room = Room::new();
        let subscription = Arc::new(room.node.subscription::<Number>("numbers").create()?);
        let publisher = room.node.publisher("numbers").create()?;
        let log = Log::new();
        let (pen, weak) = (log.pen(), Arc::downgrade(&subscription));
        subscription.set_listener(move |_| pen.write(weak.upgrade().map(|it| numbers_in(&it))));
        publish(&publisher, 1..=2);
        assert_eq!(log.lines(), [Some(vec![1]), Some(vec![2])]);
        Ok(())
    })
}

/// However a publisher reaches a subscription, by whatever shortcut.
#[test]
fn every_way_of_delivery_notifies_its_listeners() -> sinew::Result<()> {
    let buffers = [BufferType::Shared, BufferType::Unique, BufferType::Value];
    let several = buffers.iter().flat_map(|one| buffers.iter().map(move |other| vec![*one, *other]));
    for buffers in buffers.iter().map(|one| vec![*one]).chain(several) {
        for qos in [QoS::default(), QoS::default().transient_local(), QoS::default().keep_all()] {
            let room = Room::new();
            let publisher = room.node.publisher("numbers").qos(qos).create()?;
            let mut readers = Vec::new();
            for buffer in &buffers {
                let reader = room.node.subscription::<Number>("numbers").qos(qos).buffer(*buffer).create()?;
                let log = Log::new();
                reader.set_listener(reporting(log.pen()));
                readers.push((reader, log));
            }
            publish(&publisher, 1..=3);
            let by_reference = Number(4);
            publisher.publish(&by_reference)?;
            publisher.publish(publisher.loan().into_shared())?;
            for (reader, log) in &readers {
                assert_eq!(log.lines(), [1; 5], "{buffers:?} with {qos:?}");
                assert_eq!(numbers_in(reader).len(), 5);
            }
        }
    }
    Ok(())
}

#[test]
fn a_listener_is_notified_of_arrivals_and_nothing_else() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let overwriting =
        room.node.subscription::<Number>("numbers").qos(QoS::default().keep_last(1)).create()?;
    overwriting.set_listener(reporting(log.pen()));
    let refused = Log::new();
    let bounded = QoS::default().keep_all().max_samples(1).best_effort();
    let refusing = room.node.subscription::<Number>("numbers").qos(bounded).create()?;
    refusing.set_listener(reporting(refused.pen()));
    let filtered = Log::new();
    let filtering = room.node.subscription("numbers").filter(|number: &Number| number.0 > 2).create()?;
    filtering.set_listener(reporting(filtered.pen()));
    let publisher = room.node.publisher("numbers").create()?;
    publish(&publisher, 1..=3);
    assert_eq!(log.lines(), [1, 1, 1], "what gave way had arrived");
    assert_eq!(refused.lines(), [1], "two found it full");
    assert_eq!(filtered.lines(), [1]);
    Ok(())
}

#[test]
fn a_publish_that_fails_notifies_no_listener() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_all().max_samples(1).max_blocking_time(Duration::ZERO);
    let subscription = room.node.subscription::<Number>("numbers").qos(qos).create()?;
    let publisher = room.node.publisher("numbers").qos(qos).create()?;
    let log = Log::new();
    subscription.set_listener(reporting(log.pen()));
    publish(&publisher, [1]);
    let failure = publisher.publish(Number(2)).map_err(|error| error.failure());
    assert!(matches!(failure, Err(PublishFailure::Full { .. })), "{failure:?}");
    assert_eq!(log.lines(), [1]);
    Ok(())
}

#[test]
fn a_callback_a_task_and_a_listener_go_together() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let subscription =
        room.node.subscription("numbers").callback(move |number: &Number| pen.write(number.0))?;
    let arrived = Log::new();
    subscription.set_listener(reporting(arrived.pen()));
    let publisher = room.node.publisher("numbers").create()?;
    let task = Task::new();
    let mut future = subscription.recv();
    assert!(task.poll(&mut future).is_pending());
    publish(&publisher, 1..=3);
    assert_eq!((arrived.lines(), task.rings()), (vec![1, 1, 1], 1));
    assert!(task.poll(&mut future).is_ready());
    assert_eq!(room.run(), 2);
    assert_eq!(log.lines(), [2, 3]);
    Ok(())
}

#[test]
fn a_listener_may_lead_an_executor_of_ones_own() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let qos = QoS::default().keep_last(300);
    let subscriptions: Vec<_> = (0..3)
        .map(|n| node.subscription::<Number>(&format!("topic_{n}")).qos(qos).create())
        .collect::<Result<_, _>>()?;
    let log = Log::new();
    for (n, subscription) in subscriptions.iter().enumerate() {
        let pen = log.pen();
        subscription.set_listener(move |_| pen.write(n));
    }
    let publishers: Vec<_> =
        (0..3).map(|n| node.publisher(&format!("topic_{n}")).create()).collect::<Result<_, _>>()?;
    let publishing = thread::spawn(move || {
        (0..300).zip(publishers.iter().cycle()).for_each(|(number, publisher)| publish(publisher, [number]));
    });
    let mut taken = Vec::new();
    while taken.len() < 300 {
        let (number, _) = subscriptions[log.next()].take().expect("one message for each call");
        taken.push(number.0);
    }
    publishing.join().expect("it doesn't panic");
    assert_eq!(taken, (0..300).collect::<Vec<_>>());
    Ok(())
}

// ---- setting and clearing ----

/// Says when it is dropped.
struct Held(Pen<&'static str>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.write("dropped");
    }
}

fn holding(pen: Pen<&'static str>) -> impl Fn(u64) + Send + Sync + 'static {
    let held = Held(pen);
    move |_| held.0.write("called")
}

#[test]
fn a_listener_is_kept_until_it_is_replaced_cleared_or_the_subscription_goes() -> sinew::Result<()> {
    let room = Room::new();
    let subscription = room.node.subscription::<Number>("numbers").create()?;
    let publisher = room.node.publisher("numbers").create()?;
    let (first, second, third) = (Log::new(), Log::new(), Log::new());
    subscription.set_listener(holding(first.pen()));
    publish(&publisher, [1]);
    assert!(subscription.take().is_some());
    subscription.set_listener(holding(second.pen()));
    publish(&publisher, [2]);
    assert_eq!(first.lines(), ["called", "dropped"]);
    subscription.clear_listener();
    subscription.clear_listener();
    publish(&publisher, [3]);
    assert_eq!(second.lines(), ["called", "dropped"]);
    subscription.set_listener(holding(third.pen()));
    drop(subscription);
    publish(&publisher, [4]);
    assert_eq!(third.lines(), ["called", "dropped"], "called for those that waited");
    Ok(())
}

#[test]
fn a_listener_may_do_everything_with_its_subscription() -> sinew::Result<()> {
    finishes(|| {
        let room = Room::new();
        let subscription = Arc::new(room.node.subscription::<Number>("numbers").create()?);
        let publisher = room.node.publisher::<Number>("numbers").create()?;
        let log = Log::new();
        // Replaces itself by one that publishes, which clears itself first.
        let (pen, onward) = (log.pen(), publisher.clone());
        let (outer, inner) = (Arc::downgrade(&subscription), Arc::downgrade(&subscription));
        subscription.set_listener(move |_| {
            pen.write("first");
            let (pen, onward, inner) = (pen.clone(), onward.clone(), inner.clone());
            outer.upgrade().expect("it lives").take();
            outer.upgrade().expect("it lives").set_listener(move |_| {
                pen.write("second");
                inner.upgrade().expect("it lives").clear_listener();
                publish(&onward, [3]);
            });
        });
        publish(&publisher, 1..=2);
        assert_eq!(log.lines(), ["first", "second"]);
        assert_eq!(numbers_in(&subscription), [2, 3]);
        Ok(())
    })
}

#[test]
fn a_listener_that_panics_is_no_concern_of_the_publisher_or_of_others() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let broken = room.node.subscription::<Number>("numbers").create()?;
    let well = room.node.subscription::<Number>("numbers").create()?;
    let pen = log.pen();
    broken.set_listener(move |count| {
        pen.write(count);
        panic!("this listener is broken");
    });
    let arrived = Log::new();
    well.set_listener(reporting(arrived.pen()));
    let publisher = room.node.publisher("numbers").create()?;
    publish(&publisher, 1..=2);
    assert_eq!(log.lines(), [1, 1], "it is called again");
    assert_eq!(arrived.lines(), [1, 1]);
    assert_eq!((numbers_in(&broken), numbers_in(&well)), (vec![1, 2], vec![1, 2]));
    Ok(())
}

/// The numbers that a listener gets add up to the messages that arrived, at whatever moment it is
/// set.
#[test]
fn each_message_is_notified_exactly_once() -> sinew::Result<()> {
    const EACH: u32 = 300;
    let context = real_context();
    for _ in 0..20 {
        let node = context.node("node")?;
        let qos = QoS::default().keep_last(2 * EACH as usize);
        let subscription = node.subscription::<Number>("numbers").qos(qos).create()?;
        let log = Log::new();
        let publishers = [(); 2].map(|()| {
            let publisher = node.publisher("numbers").create().expect("a valid publisher");
            thread::spawn(move || publish(&publisher, 0..u64::from(EACH)))
        });
        subscription.set_listener(reporting(log.pen()));
        publishers.into_iter().for_each(|publisher| publisher.join().expect("it doesn't panic"));
        assert_eq!(log.lines().iter().sum::<u64>(), u64::from(2 * EACH));
        assert_eq!(numbers_in(&subscription).len(), 2 * EACH as usize);
    }
    Ok(())
}

#[test]
fn a_listener_of_the_builder_is_notified_from_the_first_message_on() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_last(5).transient_local();
    let publisher = room.node.publisher::<Number>("numbers").qos(qos).create()?;
    publish(&publisher, 1..=2);
    let builder = || room.node.subscription::<Number>("numbers").qos(qos);
    let (taking, calling, erased, next) = (Log::new(), Log::new(), Log::new(), Log::new());
    let by_hand = builder().listener(reporting(taking.pen())).create()?;
    let _called = builder().listener(reporting(calling.pen())).callback(|_: &Number| {})?;
    let _erased = builder().listener(reporting(erased.pen())).create_erased()?;
    for log in [&taking, &calling, &erased] {
        assert_eq!(log.lines(), [2], "those that were retained");
    }
    publish(&publisher, [3]);
    by_hand.set_listener(reporting(next.pen()));
    publish(&publisher, [4]);
    assert_eq!((taking.lines(), next.lines()), (vec![1], vec![3, 1]), "it is replaced");
    assert_eq!((calling.lines(), erased.lines()), (vec![1, 1], vec![1, 1]));
    assert_eq!(numbers_in(&by_hand), [1, 2, 3, 4]);
    Ok(())
}

/// While another thread is in a listener, it is replaced. The former one is not notified any more,
/// and lives until that thread has returned from it.
#[test]
fn a_listener_may_be_replaced_while_another_thread_is_in_it() -> sinew::Result<()> {
    finishes(|| {
        let room = Room::new();
        let (entered, enters) = mpsc::channel();
        let leave = Arc::new(Barrier::new(2));
        let leaves = leave.clone();
        let (former, latter) = (Log::new(), Log::new());
        let its = Held(former.pen());
        let subscription = room
            .node
            .subscription::<Number>("numbers")
            .listener(move |_| {
                its.0.write("called");
                entered.send(()).expect("the test waits");
                leaves.wait();
                its.0.write("returns");
            })
            .create()?;
        let publisher = room.node.publisher::<Number>("numbers").create()?;
        let there = publisher.clone();
        let publishing = thread::spawn(move || publish(&there, [1]));
        enters.recv_timeout(PATIENCE).expect("it is notified");
        subscription.set_listener(reporting(latter.pen()));
        publish(&publisher, [2]);
        assert_eq!(
            (former.lines(), latter.lines()),
            (vec!["called"], vec![1, 1]),
            "what waits, then what comes"
        );
        leave.wait();
        publishing.join().expect("it doesn't panic");
        assert_eq!((former.lines(), latter.lines()), (vec!["returns", "dropped"], vec![]));
        assert_eq!(numbers_in(&subscription), [1, 2]);
        Ok(())
    })
}

// ---- guard conditions ----

fn guard(room: &Room) -> sinew::Result<GuardCondition> {
    Ok(room.node.guard_condition().callback(|| {})?)
}

#[test]
fn a_guard_conditions_listener_is_notified_of_each_trigger() -> sinew::Result<()> {
    let room = Room::new();
    let guard = guard(&room)?;
    let log = Log::new();
    guard.set_listener(reporting(log.pen()));
    guard.trigger();
    guard.trigger();
    assert_eq!(log.lines(), [1, 1]);
    assert_eq!(room.run(), 1, "the callback runs as ever");
    guard.clear_listener();
    guard.trigger();
    assert!(log.lines().is_empty());
    assert_eq!(room.run(), 1);
    Ok(())
}

#[test]
fn a_guard_conditions_late_listener_gets_the_waiting_triggers_at_once() -> sinew::Result<()> {
    let room = Room::new();
    let guard = guard(&room)?;
    let (first, second) = (Log::new(), Log::new());
    guard.trigger();
    guard.trigger();
    guard.set_listener(reporting(first.pen()));
    assert_eq!(first.lines(), [2]);
    room.run();
    guard.set_listener(reporting(second.pen()));
    guard.trigger();
    assert_eq!((first.lines(), second.lines()), (vec![], vec![1]), "nothing waited");
    Ok(())
}

#[test]
fn a_guard_condition_takes_its_listener_from_the_builder_and_another_from_the_handle() -> sinew::Result<()> {
    let room = Room::new();
    let (first, second) = (Log::new(), Log::new());
    let guard = room.node.guard_condition().listener(reporting(first.pen())).callback(|| {})?;
    guard.trigger();
    guard.set_listener(reporting(second.pen()));
    guard.trigger();
    assert_eq!((first.lines(), second.lines()), (vec![1], vec![1, 1]));
    Ok(())
}

#[test]
fn a_guard_conditions_listener_may_clear_itself_and_panic() -> sinew::Result<()> {
    finishes(|| {
        let room = Room::new();
        let guard = Arc::new(guard(&room)?);
        let log = Log::new();
        let (its, weak) = (Held(log.pen()), Arc::downgrade(&guard));
        guard.set_listener(move |_| {
            its.0.write("called");
            weak.upgrade().expect("it lives").clear_listener();
            panic!("this listener is broken");
        });
        guard.trigger();
        guard.trigger();
        assert_eq!(log.lines(), ["called", "dropped"]);
        Ok(())
    })
}

#[test]
fn a_listener_can_wake_a_future() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let (here, there) = (node.subscription::<Number>("here").create()?, node.publisher("here").create()?);
    let relayed = node.publisher("relayed").create()?;
    let end = node.subscription::<Number>("relayed").create()?;
    here.set_listener(move |count| publish(&relayed, [count]));
    let publishing = thread::spawn(move || publish(&there, [7]));
    assert_eq!(block_on(end.recv()).map(|(number, _)| number.0), Some(1));
    publishing.join().expect("it doesn't panic");
    Ok(())
}
