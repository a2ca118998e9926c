//! Tasks that wait for messages.

use super::check;
use crate::api::context::Context;
use crate::ros::qos::QoS;
use crate::sys::parker::Parker;
use crate::sys::sync::Arc;
use crate::time::VirtualClock;
use crate::{Publisher, Subscription};
use loom::thread;
use sinew_msg::Message;
use std::pin::pin;
use std::task::{self, Poll, Wake, Waker};

#[derive(Clone)]
struct Number(u64);
impl Message for Number {}

fn pair() -> (Context, Publisher<Number>, Arc<Subscription<Number>>) {
    let context = Context::builder().domain(0).virtual_time(&VirtualClock::new()).build().unwrap();
    let node = context.node("model").unwrap();
    let subscription = node.subscription::<Number>("numbers").qos(QoS::new()).create().unwrap();
    let publisher = node.publisher::<Number>("numbers").create().unwrap();
    (context, publisher, Arc::new(subscription))
}

/// A thread that sleeps until its future is woken: a lost wake-up is a deadlock, which loom
/// reports.
struct Sleeper(Parker);

impl Wake for Sleeper {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let sleeper = Arc::new(Sleeper(Parker::new()));
    let waker = Waker::from(sleeper.clone());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut task::Context::from_waker(&waker)) {
            return output;
        }
        sleeper.0.park(None);
    }
}

/// Receives in another thread.
fn receiver(subscription: &Arc<Subscription<Number>>) -> thread::JoinHandle<Option<u64>> {
    let subscription = subscription.clone();
    thread::spawn(move || block_on(subscription.recv()).map(|(number, _)| number.0))
}

/// A message that comes while a task goes to sleep wakes it.
///
/// Fails if A1 doesn't look again under the lock, or if A2 is left out.
#[test]
fn a_message_wakes_a_task() {
    check(4, || {
        let (_context, publisher, subscription) = pair();
        let thread = receiver(&subscription);
        publisher.publish(Number(1)).unwrap();
        assert_eq!(thread.join().unwrap(), Some(1));
    });
}

/// Two messages for two tasks: each gets one.
///
/// Fails if A2 takes no task out of the queue.
#[test]
fn two_messages_wake_two_tasks() {
    check(2, || {
        let (_context, publisher, subscription) = pair();
        let threads = [(); 2].map(|()| receiver(&subscription));
        publisher.publish(Number(1)).unwrap();
        publisher.publish(Number(2)).unwrap();
        let sum: u64 = threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).sum();
        assert_eq!(sum, 3);
    });
}

/// A future that is dropped at any moment leaves its message, and its wake-up, to the others.
///
/// Fails if A3 doesn't pass the wake on.
#[test]
fn a_future_that_goes_leaves_its_message_to_others() {
    check(2, || {
        let (_context, publisher, subscription) = pair();
        let there = subscription.clone();
        let gives_up = thread::spawn(move || {
            let mut future = there.recv();
            match std::pin::Pin::new(&mut future).poll(&mut task::Context::from_waker(Waker::noop())) {
                Poll::Ready(message) => message.map(|(number, _)| number.0),
                Poll::Pending => None,
            }
        });
        let stays = receiver(&subscription);
        publisher.publish(Number(1)).unwrap();
        if let Some(received) = gives_up.join().unwrap() {
            assert_eq!(received, 1);
            publisher.publish(Number(2)).unwrap();
        }
        assert!(stays.join().unwrap().is_some());
    });
}

/// A task that waits notices a shutdown, and so does one that is about to wait.
///
/// Fails if the shutdown doesn't wake tasks, or a task doesn't check for it under the lock before
/// it waits.
#[test]
fn a_shutdown_ends_a_tasks_wait() {
    check(4, || {
        let (context, _publisher, subscription) = pair();
        let thread = receiver(&subscription);
        context.shutdown();
        assert_eq!(thread.join().unwrap(), None);
    });
}

/// The same for closing a clone.
///
/// Fails if the close doesn't wake tasks, or a task doesn't check for it under the lock before it
/// waits.
#[test]
fn a_close_ends_a_tasks_wait() {
    check(4, || {
        let (_context, _publisher, subscription) = pair();
        let thread = receiver(&subscription);
        Subscription::clone(&subscription).close();
        assert_eq!(thread.join().unwrap(), None);
    });
}
