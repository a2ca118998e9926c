//! C1, C2: a subscription that is created while others publish.

use super::check;
use crate::Executor;
use crate::api::context::Context;
use crate::api::node::Node;
use crate::api::subscription::{BufferType, Subscription};
use crate::event::{LivelinessChanged, Matched};
use crate::ros::qos::QoS;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};
use crate::time::VirtualClock;
use loom::thread;
use sinew_msg::Message;

#[derive(Clone)]
struct Number(u64);
impl Message for Number {}

/// Creates a node in virtual time, because a model must behave the same in every run.
fn node() -> Node {
    Context::builder().domain(0).virtual_time(&VirtualClock::new()).build().unwrap().node("model").unwrap()
}

fn take_all(subscription: &Subscription<Number>) -> Vec<u64> {
    std::iter::from_fn(|| subscription.take().map(|(number, _)| number.0)).collect()
}

/// After `create` returns, a volatile subscription gets every message published from then on, in
/// order and without gaps after the first.
///
/// Fails if C1 increments before it changes the list, if C2 records a generation that it reads
/// after the list, or if a publisher never checks the generation again.
///
/// `warm`: the publisher already has a list.
fn volatile(others: &'static [BufferType], warm: bool) {
    check(5, move || {
        let node = node();
        let publisher = node.publisher::<Number>("numbers").create().unwrap();
        let _others: Vec<_> = others
            .iter()
            .map(|&buffer| node.subscription::<Number>("numbers").buffer(buffer).create().unwrap())
            .collect();
        if warm {
            publisher.publish(Number(0)).unwrap();
        }
        let joined = Arc::new(AtomicBool::new(false));
        let there = joined.clone();
        let thread = thread::spawn(move || {
            let mut promised = Vec::new();
            for n in 1..=2 {
                let after = there.load(Ordering::Acquire);
                publisher.publish(Number(n)).unwrap();
                promised.extend(after.then_some(n));
            }
            promised
        });
        let subscription = node.subscription::<Number>("numbers").create().unwrap();
        joined.store(true, Ordering::Release);
        let promised = thread.join().unwrap();
        let got = take_all(&subscription);
        assert!([&[][..], &[2], &[1, 2]].contains(&&got[..]), "{got:?}");
        assert!(promised.iter().all(|n| got.contains(n)), "promised {promised:?}, got {got:?}");
    });
}

#[test]
fn a_volatile_joiner_alone() {
    volatile(&[], true);
}

#[test]
fn a_volatile_joiner_before_the_first_publish() {
    volatile(&[], false);
}

/// If copies are needed, the publisher takes its list out of the lock.
#[test]
fn a_volatile_joiner_among_owners() {
    volatile(&[BufferType::Unique], true);
}

/// A transient-local subscription that joins while its publisher publishes gets every message once,
/// in order.
///
/// Fails if the joiner copies the retained messages before it is in the list; among owners also if
/// the slow path doesn't check the generation again before it delivers; and if `merge` doesn't drop
/// duplicates.
fn transient_local(others: &'static [BufferType]) {
    check(5, move || {
        let node = node();
        let qos = QoS::new().reliable().transient_local().keep_last(10);
        let publisher = node.publisher::<Number>("numbers").qos(qos).create().unwrap();
        let _others: Vec<_> = others
            .iter()
            .map(|&buffer| node.subscription::<Number>("numbers").buffer(buffer).create().unwrap())
            .collect();
        publisher.publish(Number(0)).unwrap();
        let thread = thread::spawn(move || {
            for n in 1..=2 {
                publisher.publish(Number(n)).unwrap();
            }
            publisher // its retained messages live as long as it does
        });
        let subscription = node.subscription::<Number>("numbers").qos(qos).create().unwrap();
        let publisher = thread.join().unwrap();
        assert_eq!(take_all(&subscription), [0, 1, 2]);
        assert_eq!(publisher.statistics().retained, 3);
    });
}

#[test]
fn a_transient_local_joiner_alone() {
    transient_local(&[]);
}

#[test]
fn a_transient_local_joiner_among_owners() {
    transient_local(&[BufferType::Unique]);
}

/// A subscription is removed while others publish: no publisher fails because of it, and the
/// remaining subscriptions miss nothing.
#[test]
fn leaving_while_others_publish() {
    check(5, || {
        let node = node();
        let publisher = node.publisher::<Number>("numbers").create().unwrap();
        let stays = node.subscription::<Number>("numbers").create().unwrap();
        let goes = node.subscription::<Number>("numbers").create().unwrap();
        let thread = thread::spawn(move || {
            for n in 1..=2 {
                publisher.publish(Number(n)).unwrap();
            }
        });
        drop(goes);
        thread.join().unwrap();
        assert_eq!(take_all(&stays), [1, 2]);
    });
}

/// A thread that sees that a subscription has a publisher, or has none any more, finds that the
/// subscription's handlers are already notified.
///
/// Fails if the number changes before a handler is notified.
#[test]
fn a_number_that_is_seen_is_no_news_to_the_handlers() {
    check(2, || {
        let node = node();
        let notified = Arc::new(Mutex::new((0, 0)));
        let (matched, alive) = (notified.clone(), notified.clone());
        let subscription = node
            .subscription::<Number>("numbers")
            .on_matched(move |event: &Matched| matched.lock().0 = event.current)
            .on_liveliness_changed(move |event: &LivelinessChanged| alive.lock().1 = event.alive)
            .create()
            .unwrap();
        let executor = Executor::single();
        executor.add(&node).unwrap();
        let publisher = node.publisher::<Number>("numbers").create().unwrap();
        executor.spin_some().unwrap();
        let going = thread::spawn(move || drop(publisher));
        let seen = subscription.publisher_count();
        executor.spin_some().unwrap();
        let (matched, alive) = *notified.lock();
        assert!(matched <= seen && alive <= seen, "{seen} seen; {matched} matched, {alive} alive notified");
        going.join().unwrap();
    });
}
