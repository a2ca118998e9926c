//! N1-N3: messages moved out of a history in bulk, to be taken under another lock. In models a
//! single message counts as many.

use super::check;
use crate::api::context::Context;
use crate::ros::qos::QoS;
use crate::sys::sync::Arc;
use crate::time::VirtualClock;
use crate::{Duration, Publisher, Subscription};
use loom::thread;
use sinew_msg::Message;

#[derive(Clone)]
struct Number(u64);
impl Message for Number {}

type Pair = (Context, Publisher<Number>, Arc<Subscription<Number>>);

/// Creates a pair with a subscription that has room for `room` messages and is full.
fn full(room: u64) -> Pair {
    let context = Context::builder().domain(0).virtual_time(&VirtualClock::new()).build().unwrap();
    let node = context.node("model").unwrap();
    let most = usize::try_from(room).unwrap();
    let qos =
        QoS::new().reliable().keep_all().max_samples(most).max_blocking_time(Duration::from_secs(24 * 3600));
    let subscription = node.subscription::<Number>("numbers").qos(qos).create().unwrap();
    let publisher = node.publisher::<Number>("numbers").qos(qos).create().unwrap();
    (1..=room).for_each(|number| publisher.publish(Number(number)).unwrap());
    (context, publisher, Arc::new(subscription))
}

fn take(subscription: &Subscription<Number>) -> u64 {
    subscription.take().unwrap().0.0
}

/// Taking a moved message makes room for a publisher that goes to sleep.
///
/// Fails if messages stay moved while a publisher waits.
#[test]
fn taking_what_was_moved_makes_room() {
    check(3, || {
        let (_context, publisher, subscription) = full(3);
        assert_eq!(take(&subscription), 1); // 2 and 3 are moved
        publisher.publish(Number(4)).unwrap();
        let thread = thread::spawn(move || publisher.publish(Number(5)).unwrap());
        assert_eq!(take(&subscription), 2);
        thread.join().unwrap();
        assert_eq!([(); 3].map(|()| take(&subscription)), [3, 4, 5]);
        assert!(subscription.take().is_none());
    });
}

/// A publisher that waits for several places is woken when that many are free.
///
/// Fails if messages are moved while a publisher waits.
#[test]
fn nothing_is_moved_while_a_publisher_waits() {
    check(2, || {
        let (_context, publisher, subscription) = full(4);
        let thread = thread::spawn(move || publisher.publish(Number(5)).unwrap());
        assert_eq!([(); 2].map(|()| take(&subscription)), [1, 2]);
        thread.join().unwrap();
        assert_eq!([(); 3].map(|()| take(&subscription)), [3, 4, 5]);
    });
}

/// Two threads take: each message goes to one of them, and each thread gets its messages in order.
///
/// Fails if a taker that doesn't see the moved messages takes those after them.
#[test]
fn two_takers_have_their_messages_in_order() {
    check(3, || {
        let (_context, _publisher, subscription) = full(4);
        let other = subscription.clone();
        let thread = thread::spawn(move || [take(&other), take(&other)]);
        let mine = [take(&subscription), take(&subscription)];
        let theirs = thread.join().unwrap();
        assert!(mine.is_sorted() && theirs.is_sorted(), "{mine:?} {theirs:?}");
        let mut all = [mine, theirs].concat();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 4]);
        let statistics = subscription.statistics();
        assert_eq!((statistics.received, statistics.taken, statistics.waiting), (4, 4, 0));
    });
}

/// Messages published meanwhile come after the moved ones, and all of them are counted.
///
/// Fails if a thread that has taken the last moved message doesn't look for more.
#[test]
fn what_comes_meanwhile_comes_behind_what_was_moved() {
    check(3, || {
        let (_context, publisher, subscription) = full(2);
        assert_eq!(take(&subscription), 1); // 2 is moved
        let thread = thread::spawn(move || publisher.publish(Number(3)).unwrap());
        assert_eq!(take(&subscription), 2);
        thread.join().unwrap();
        let statistics = subscription.statistics();
        assert_eq!((statistics.received, statistics.taken, statistics.waiting), (3, 2, 1));
        assert_eq!(take(&subscription), 3);
        assert!(subscription.take().is_none());
    });
}
