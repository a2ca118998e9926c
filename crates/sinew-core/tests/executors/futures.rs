//! Awaiting messages: futures and streams of subscriptions, whatever polls them.

use crate::support;

use futures_core::Stream;
use sinew::msg::{Messages, Recv, RecvUnique};
use sinew::prelude::*;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Wake, Waker};
use std::thread;
use support::tasks::{Task, block_on};
use support::{Log, Number, PATIENCE, Room, address, finishes, numbers_in, real_context};

/// A node with a publisher and a subscription that keeps the last ten.
struct Pair {
    room: Room,
    publisher: Publisher<Number>,
    subscription: Subscription<Number>,
}

impl Pair {
    fn new() -> Self {
        Self::with(QoS::default())
    }

    fn with(qos: QoS) -> Self {
        let room = Room::new();
        let publisher = room.node.publisher("numbers").qos(qos).create().expect("a valid publisher");
        let subscription = room.node.subscription("numbers").qos(qos).create().expect("a valid subscription");
        Self { room, publisher, subscription }
    }

    fn publish(&self, number: u64) {
        self.publisher.publish(Number(number)).expect("it can be published");
    }
}

/// What a poll of `recv` brought: a number, nothing yet, or the end.
#[derive(Debug, PartialEq)]
enum Got {
    Number(u64),
    Nothing,
    End,
}

/// Polls in the task.
fn poll(task: &Task, future: &mut Recv<'_, Number>) -> Got {
    match task.poll(future) {
        Poll::Ready(Some((number, _))) => Got::Number(number.0),
        Poll::Ready(None) => Got::End,
        Poll::Pending => Got::Nothing,
    }
}

fn next(messages: &mut Messages<'_, Number>) -> impl Future<Output = Option<u64>> {
    poll_fn(|task| Pin::new(&mut *messages).poll_next(task).map(|item| item.map(|(number, _)| number.0)))
}

// ---- one task ----

#[test]
fn what_waits_is_received_at_once_and_in_order() {
    let pair = Pair::new();
    (1..=3).for_each(|number| pair.publish(number));
    for number in 1..=3 {
        let (message, info) = block_on(pair.subscription.recv()).expect("the context lives");
        assert_eq!((message.0, info.publication_sequence()), (number, number));
    }
    assert_eq!(pair.subscription.statistics().taken, 3);
}

#[test]
fn a_message_wakes_the_task_that_waits_once() {
    let pair = Pair::new();
    let task = Task::new();
    let mut future = pair.subscription.recv();
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    assert_eq!(task.rings(), 0);
    pair.publish(1);
    assert_eq!(task.rings(), 1);
    pair.publish(2);
    assert_eq!(task.rings(), 0, "it has been notified already");
    assert_eq!(poll(&task, &mut future), Got::Number(1));
    assert_eq!(poll(&task, &mut future), Got::Number(2));
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    pair.publish(3);
    assert_eq!(task.rings(), 1, "a future that was ready may be polled for the next message");
}

#[test]
fn polling_for_no_reason_changes_nothing() {
    let pair = Pair::new();
    let task = Task::new();
    let mut future = pair.subscription.recv();
    for _ in 0..3 {
        assert_eq!(poll(&task, &mut future), Got::Nothing);
    }
    pair.publish(1);
    pair.publish(2);
    assert_eq!(task.rings(), 1);
}

#[test]
fn the_task_that_polled_last_is_woken() {
    let pair = Pair::new();
    let (before, now) = (Task::new(), Task::new());
    let mut future = pair.subscription.recv();
    assert_eq!(poll(&before, &mut future), Got::Nothing);
    assert_eq!(poll(&now, &mut future), Got::Nothing);
    pair.publish(1);
    assert_eq!((before.rings(), now.rings()), (0, 1));
    assert_eq!(poll(&now, &mut future), Got::Number(1));
}

#[test]
fn a_message_without_a_notification_is_found_by_polling() {
    let pair = Pair::new();
    let task = Task::new();
    let mut future = pair.subscription.recv();
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    pair.publish(1);
    assert_eq!(numbers_in(&pair.subscription), [1], "another reader was faster");
    assert_eq!(task.rings(), 1);
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    pair.publish(2);
    assert_eq!(task.rings(), 1, "it waits again");
    assert_eq!(poll(&task, &mut future), Got::Number(2));
}

// ---- dropping ----

#[test]
fn a_future_that_is_dropped_loses_no_message() {
    let pair = Pair::new();
    let task = Task::new();
    drop(pair.subscription.recv());
    let mut waiting = pair.subscription.recv();
    assert_eq!(poll(&task, &mut waiting), Got::Nothing);
    drop(waiting);
    let mut woken = pair.subscription.recv();
    assert_eq!(poll(&task, &mut woken), Got::Nothing);
    pair.publish(1);
    assert_eq!(task.rings(), 1);
    drop(woken);
    assert_eq!(numbers_in(&pair.subscription), [1]);
}

#[test]
fn a_future_that_is_dropped_is_woken_no_more() {
    let pair = Pair::new();
    let (gone, stays) = (Task::new(), Task::new());
    let (mut first, mut second) = (pair.subscription.recv(), pair.subscription.recv());
    assert_eq!(poll(&gone, &mut first), Got::Nothing);
    assert_eq!(poll(&stays, &mut second), Got::Nothing);
    drop(first);
    assert_eq!((gone.rings(), stays.rings()), (0, 0), "nothing came");
    pair.publish(1);
    assert_eq!((gone.rings(), stays.rings()), (0, 1));
}

#[test]
fn a_future_that_is_dropped_after_its_wake_passes_it_on() {
    let pair = Pair::new();
    let tasks: [Task; 3] = Default::default();
    let mut futures = [(); 3].map(|()| pair.subscription.recv());
    for (task, future) in tasks.iter().zip(&mut futures) {
        assert_eq!(poll(task, future), Got::Nothing);
    }
    let rings = || tasks.each_ref().map(Task::rings);
    pair.publish(1);
    assert_eq!(rings(), [1, 0, 0]);
    let [first, second, mut third] = futures;
    drop(first);
    assert_eq!(rings(), [0, 1, 0]);
    drop(second);
    assert_eq!(rings(), [0, 0, 1]);
    assert_eq!(poll(&tasks[2], &mut third), Got::Number(1));
    drop(third);
    assert_eq!(rings(), [0, 0, 0]);
}

#[test]
fn nothing_is_passed_on_for_a_message_that_is_taken() {
    let pair = Pair::new();
    let (first, second) = (Task::new(), Task::new());
    let (mut one, mut other) = (pair.subscription.recv(), pair.subscription.recv());
    assert_eq!(poll(&first, &mut one), Got::Nothing);
    assert_eq!(poll(&second, &mut other), Got::Nothing);
    pair.publish(1);
    assert_eq!(numbers_in(&pair.subscription), [1]);
    drop(one);
    assert_eq!((first.rings(), second.rings()), (1, 0));
}

// ---- several tasks ----

#[test]
fn each_message_wakes_one_task_first_come_first_served() {
    let pair = Pair::new();
    let tasks: [Task; 3] = Default::default();
    let mut futures = [(); 3].map(|()| pair.subscription.recv());
    for (task, future) in tasks.iter().zip(&mut futures) {
        assert_eq!(poll(task, future), Got::Nothing);
    }
    pair.publish(1);
    pair.publish(2);
    assert_eq!(tasks.each_ref().map(Task::rings), [1, 1, 0]);
    assert_eq!(poll(&tasks[1], &mut futures[1]), Got::Number(1), "the first to come takes the oldest");
    assert_eq!(poll(&tasks[0], &mut futures[0]), Got::Number(2));
    assert_eq!(poll(&tasks[2], &mut futures[2]), Got::Nothing);
}

#[test]
fn a_task_that_was_woken_in_vain_keeps_its_place() {
    let pair = Pair::new();
    let (first, second) = (Task::new(), Task::new());
    let (mut one, mut other) = (pair.subscription.recv(), pair.subscription.recv());
    assert_eq!(poll(&first, &mut one), Got::Nothing);
    assert_eq!(poll(&second, &mut other), Got::Nothing);
    pair.publish(1);
    assert_eq!(numbers_in(&pair.subscription), [1]);
    assert_eq!(poll(&first, &mut one), Got::Nothing);
    pair.publish(2);
    assert_eq!((first.rings(), second.rings()), (2, 0));
}

#[test]
fn a_callback_and_a_task_share_the_messages() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let subscription =
        room.node.subscription("numbers").callback(move |number: &Number| pen.write(number.0))?;
    let publisher = room.node.publisher("numbers").create()?;
    let task = Task::new();
    let mut future = subscription.recv();
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    (1..=3).try_for_each(|number| publisher.publish(Number(number)))?;
    assert_eq!(task.rings(), 1);
    assert_eq!(poll(&task, &mut future), Got::Number(1));
    assert_eq!(room.run(), 2);
    assert_eq!(log.lines(), [2, 3]);
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    Ok(())
}

// ---- the end ----

#[test]
fn a_shutdown_wakes_all_who_wait_and_ends_their_wait() {
    let pair = Pair::new();
    let tasks: [Task; 2] = Default::default();
    let mut futures = [(); 2].map(|()| pair.subscription.recv());
    for (task, future) in tasks.iter().zip(&mut futures) {
        assert_eq!(poll(task, future), Got::Nothing);
    }
    pair.room.context.shutdown();
    for (task, future) in tasks.iter().zip(&mut futures) {
        assert_eq!(task.rings(), 1);
        assert_eq!(poll(task, future), Got::End);
        assert_eq!(poll(task, future), Got::End, "and so it stays");
    }
}

#[test]
fn what_came_before_the_shutdown_is_still_received() {
    let pair = Pair::new();
    pair.publish(1);
    pair.publish(2);
    pair.room.context.shutdown();
    let received: Vec<_> = std::iter::from_fn(|| block_on(pair.subscription.recv())).collect();
    assert_eq!(received.iter().map(|(number, _)| number.0).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_task_in_another_thread_is_woken_by_the_shutdown() -> sinew::Result<()> {
    let context = real_context();
    let subscription = context.node("node")?.subscription::<Number>("numbers").create()?;
    let log = Log::new();
    let pen = log.pen();
    let waiter = thread::spawn(move || {
        let task = Task::new();
        assert_eq!(poll(&task, &mut subscription.recv()), Got::Nothing);
        pen.write(());
        block_on(subscription.recv()).is_none()
    });
    log.next();
    context.shutdown();
    assert!(finishes(move || waiter.join().expect("it doesn't panic")));
    Ok(())
}

// ---- with the rest of the rules ----

#[test]
fn a_late_joiner_receives_what_was_retained() -> sinew::Result<()> {
    let pair = Pair::with(QoS::default().keep_last(2).transient_local());
    (1..=3).for_each(|number| pair.publish(number));
    let late = pair.room.node.subscription::<Number>("numbers").qos(pair.subscription.qos()).create()?;
    pair.publish(4);
    let mut messages = late.stream();
    // A depth of two: the newest two.
    assert_eq!(block_on(next(&mut messages)), Some(3));
    assert_eq!(block_on(next(&mut messages)), Some(4));
    Ok(())
}

#[test]
fn a_message_that_expires_before_its_task_looks_is_not_received() {
    let pair = Pair::with(QoS::default().lifespan(Duration::from_millis(10)));
    let task = Task::new();
    let mut future = pair.subscription.recv();
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    pair.publish(1);
    assert_eq!(task.rings(), 1);
    pair.room.advance(10);
    assert_eq!(poll(&task, &mut future), Got::Nothing);
    assert_eq!(pair.subscription.statistics().expired, 1);
    pair.publish(2);
    assert_eq!(task.rings(), 1);
    assert_eq!(poll(&task, &mut future), Got::Number(2));
}

#[test]
fn a_publisher_that_waits_for_a_place_goes_on_when_a_task_takes() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let qos = QoS::default().keep_all().max_samples(1).max_blocking_time(PATIENCE);
    let subscription = node.subscription::<Number>("numbers").qos(qos).create()?;
    let publisher = node.publisher("numbers").qos(qos).create()?;
    let received = finishes(move || {
        thread::scope(|scope| {
            scope.spawn(|| (1..=200).for_each(|number| publisher.publish(Number(number)).unwrap()));
            (1..=200).map(|_| block_on(subscription.recv()).unwrap().0.0).collect::<Vec<_>>()
        })
    });
    assert_eq!(received, (1..=200).collect::<Vec<_>>(), "all of them, in order, through one place");
    Ok(())
}

#[test]
fn a_unique_message_is_copied_only_if_another_owner_holds_it() {
    let pair = Pair::new();
    let message = pair.publisher.loan();
    let there = address(&*message);
    pair.publisher.publish(message).unwrap();
    let (received, _) = block_on(pair.subscription.recv_unique()).unwrap();
    assert_eq!(address(&*received), there);
    assert_eq!(pair.subscription.statistics().copies, 0);
    let held = Unique::new(Number(2)).into_shared();
    pair.publisher.publish(held.clone()).unwrap();
    let (mut received, _) = block_on(pair.subscription.recv_unique()).unwrap();
    received.0 = 3;
    assert_eq!((held.0, pair.subscription.statistics().copies), (2, 1));
}

#[test]
fn a_stream_brings_all_in_order_and_ends_with_the_context() {
    let pair = Pair::new();
    let task = Task::new();
    let mut messages = pair.subscription.stream();
    assert!(task.poll(&mut next(&mut messages)).is_pending());
    (1..=3).for_each(|number| pair.publish(number));
    assert_eq!(task.rings(), 1);
    for number in 1..=3 {
        assert_eq!(task.poll(&mut next(&mut messages)), Poll::Ready(Some(number)));
    }
    assert!(task.poll(&mut next(&mut messages)).is_pending(), "the wait outlives the future");
    pair.publish(4);
    assert_eq!(task.rings(), 1);
    drop(messages);
    assert_eq!(numbers_in(&pair.subscription), [4], "a stream that is dropped loses nothing");
    pair.room.context.shutdown();
    assert_eq!(block_on(next(&mut pair.subscription.stream())), None);
}

#[test]
fn an_executor_can_wait_for_a_message_that_its_callbacks_bring() -> sinew::Result<()> {
    for executor in [Executor::single(), Executor::multi(2)] {
        let context = real_context();
        let node = context.node("node")?;
        executor.add(&context)?;
        let publisher = node.publisher("doubled").create()?;
        let _doubler = node
            .subscription("numbers")
            .callback(move |number: &Number| publisher.publish(Number(2 * number.0)))?;
        let doubled = node.subscription::<Number>("doubled").create()?;
        node.publisher("numbers").create()?.publish(Number(21))?;
        let received =
            finishes(move || executor.spin_until(doubled.recv()).map(|item| item.map(|(n, _)| n.0)));
        assert_eq!(received?, Some(42));
    }
    Ok(())
}

// ---- other people's code ----

/// A task that looks at its subscription in its waker's every function.
struct Nosy(Arc<Subscription<Number>>, AtomicU64);

impl Wake for Nosy {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(self.0.statistics().received, Ordering::Relaxed);
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        self.0.statistics();
    }
}

#[test]
fn wakers_run_under_no_lock() {
    finishes(|| {
        let Pair { room, publisher, subscription } = Pair::new();
        let subscription = Arc::new(subscription);
        let nosy = Arc::new(Nosy(subscription.clone(), AtomicU64::new(0)));
        let poll = |waker: Waker, future: &mut Recv<'_, Number>| {
            Pin::new(future).poll(&mut std::task::Context::from_waker(&waker)).is_ready()
        };
        let other = || Waker::from(Arc::new(Nosy(subscription.clone(), AtomicU64::new(0))));
        let mut future = subscription.recv();
        assert!(!poll(other(), &mut future));
        assert!(!poll(nosy.clone().into(), &mut future)); // drops the other one
        publisher.publish(Number(1)).unwrap();
        assert_eq!(nosy.1.load(Ordering::Relaxed), 1);
        assert!(poll(other(), &mut future));
        assert!(!poll(other(), &mut future));
        drop(future);
        let mut future = subscription.recv();
        assert!(!poll(other(), &mut future));
        room.context.shutdown();
        assert!(poll(other(), &mut future));
    });
}

struct Panicking;

impl Wake for Panicking {
    fn wake(self: Arc<Self>) {
        panic!("this waker is broken");
    }
}

#[test]
fn a_waker_that_panics_is_no_concern_of_the_publisher() {
    let pair = Pair::new();
    let waker = Waker::from(Arc::new(Panicking));
    let mut future = pair.subscription.recv();
    assert!(Pin::new(&mut future).poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    pair.publish(1);
    assert_eq!(numbers_in(&pair.subscription), [1]);
}

#[test]
fn futures_may_move_between_threads() {
    fn check<T: Send + Sync + Unpin>() {}
    check::<Recv<'_, Number>>();
    check::<RecvUnique<'_, Number>>();
    check::<Messages<'_, Number>>();
}

// ---- many at once ----

/// A runtime of another library, with tasks on one thread and timeouts that cut them short: nothing
/// is lost, nothing comes twice. (`stress` does it with threads.)
#[test]
fn tokio_may_cut_any_wait_short() -> sinew::Result<()> {
    const EACH: u64 = 500;
    let context = real_context();
    let node = context.node("node")?;
    let qos = QoS::default().keep_all().max_samples(4).max_blocking_time(PATIENCE);
    let subscription = Arc::new(node.subscription::<Number>("numbers").qos(qos).create()?);
    let publisher = node.publisher("numbers").qos(qos).create()?;
    let received = finishes(move || {
        let publishing = thread::spawn(move || {
            (0..EACH).for_each(|number| publisher.publish(Number(number)).unwrap());
            context.shutdown();
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let received = runtime.block_on(async {
            let tasks: Vec<_> = (0..3)
                .map(|_| {
                    let subscription = subscription.clone();
                    tokio::spawn(async move {
                        let mut received = Vec::new();
                        loop {
                            tokio::select! {
                                biased;
                                () = tokio::task::yield_now() => {}
                                message = subscription.recv() => match message {
                                    Some((number, _)) => received.push(number.0),
                                    None => return received,
                                },
                                () = tokio::time::sleep(Duration::from_micros(50)) => {}
                            }
                        }
                    })
                })
                .collect();
            let mut received = Vec::new();
            for task in tasks {
                received.extend(task.await.unwrap());
            }
            received
        });
        publishing.join().unwrap();
        received
    });
    assert_eq!(received.len() as u64, EACH);
    assert_eq!(received.into_iter().collect::<BTreeSet<_>>().len() as u64, EACH);
    Ok(())
}
