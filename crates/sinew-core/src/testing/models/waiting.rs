//! Publishers that wait for a place in a full history.

use super::check;
use crate::api::context::Context;
use crate::error::PublishFailure;
use crate::ros::qos::QoS;
use crate::time::VirtualClock;
use crate::{Duration, Publisher, Subscription};
use loom::thread;
use sinew_msg::Message;

#[derive(Clone)]
struct Number(u64);
impl Message for Number {}

/// Creates a pair with a subscription that has room for one message, and is full.
fn full() -> (Context, Publisher<Number>, Subscription<Number>) {
    let context = Context::builder().domain(0).virtual_time(&VirtualClock::new()).build().unwrap();
    let node = context.node("model").unwrap();
    let qos =
        QoS::new().reliable().keep_all().max_samples(1).max_blocking_time(Duration::from_secs(24 * 3600));
    let subscription = node.subscription::<Number>("numbers").qos(qos).create().unwrap();
    let publisher = node.publisher::<Number>("numbers").qos(qos).create().unwrap();
    publisher.publish(Number(1)).unwrap();
    (context, publisher, subscription)
}

/// A place that becomes free while the publisher goes to sleep wakes it.
///
/// Fails if `take` doesn't notify, or checks whether a publisher waits before it has made room and
/// under another lock.
#[test]
fn taking_makes_room() {
    check(6, || {
        let (_context, publisher, subscription) = full();
        let thread = thread::spawn(move || publisher.publish(Number(2)).unwrap());
        assert_eq!(subscription.take().unwrap().0.0, 1);
        thread.join().unwrap();
        assert_eq!(subscription.take().unwrap().0.0, 2);
        assert!(subscription.take().is_none());
    });
}

/// Two publishers want the one place that becomes free. One of them reserves it, so the history
/// never exceeds its capacity; the other keeps waiting, and is released when the subscription is
/// removed.
///
/// Fails if `reserve` doesn't count its reservations.
#[test]
fn one_place_is_promised_once() {
    check(2, || {
        let (_context, publisher, subscription) = full();
        let threads = [2, 3].map(|n| {
            let publisher = publisher.clone();
            thread::spawn(move || publisher.publish(Number(n)).unwrap())
        });
        assert_eq!(subscription.take().unwrap().0.0, 1);
        let statistics = subscription.statistics();
        assert!(statistics.waiting <= 1, "{statistics:?}");
        drop(subscription);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Removing a subscription releases its waiting publisher.
///
/// Fails if `SubscriptionCore::close` doesn't notify.
#[test]
fn leaving_lets_the_publisher_go() {
    check(6, || {
        let (_context, publisher, subscription) = full();
        let thread = thread::spawn(move || publisher.publish(Number(2)).unwrap());
        drop(subscription);
        thread.join().unwrap();
    });
}

/// A publisher that waits notices a shutdown, and so does one that is about to wait.
///
/// Fails if the shutdown doesn't take the subscription's lock before it notifies.
#[test]
fn a_shutdown_ends_the_wait() {
    check(6, || {
        let (context, publisher, subscription) = full();
        let thread = thread::spawn(move || publisher.publish(Number(2)).map_err(|error| error.failure()));
        context.shutdown();
        assert_eq!(thread.join().unwrap(), Err(PublishFailure::Shutdown));
        assert_eq!(subscription.take().unwrap().0.0, 1);
        assert!(subscription.take().is_none());
    });
}
