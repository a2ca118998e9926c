//! Publishers of other processes that leave.

use crate::api::context::Context;
use crate::sys::sync::{Arc, Ordering};
use crate::topic::subscription_core::RemoteSource;
use sinew_msg::Message;

#[derive(Debug, Clone, Copy, Message)]
struct Number {
    _value: u64,
}

/// A publisher that is gone is over, so that no subscription that it matched keeps it forever.
#[test]
fn a_publisher_that_went_without_a_connection_is_over() -> crate::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let contexts = [0; 2].map(|_| Context::builder().domain(0).directory(directory.path()).build());
    let [talking, listening] = contexts.map(|context| context.expect("a context"));
    let _listener = listening.node("listener")?;
    let publisher = talking.node("talker")?.publisher::<Number>("numbers").create()?;
    let transport = listening.shared().transport().expect("shared memory").clone();
    transport.refresh();
    let known: Vec<_> = transport.publishers.lock().values().cloned().collect();
    let known = known.into_iter().find(|known| known.offered.topic.ends_with("numbers"));
    let known = known.expect("it is known");
    assert!(!known.is_over());
    drop(publisher);
    transport.refresh();
    assert!(known.is_over());
    Ok(())
}

/// Forgetting a publisher changes its list of subscriptions once, however many there are.
#[test]
fn a_publisher_is_forgotten_by_all_subscriptions_at_once() -> crate::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let contexts = [0; 2].map(|_| Context::builder().domain(0).directory(directory.path()).build());
    let [talking, listening] = contexts.map(|context| context.expect("a context"));
    let talker = talking.node("talker")?;
    let publishers: Vec<_> =
        (0..3).map(|_| talker.publisher::<Number>("numbers").create()).collect::<Result<_, _>>()?;
    let listener = listening.node("listener")?;
    let subscriptions: Vec<_> =
        (0..50).map(|_| listener.subscription::<Number>("numbers").create()).collect::<Result<_, _>>()?;
    let transport = listening.shared().transport().expect("shared memory").clone();
    transport.refresh();
    let known: Vec<_> = transport.publishers.lock().values().cloned().collect();
    let known: Vec<_> = known.into_iter().filter(|known| known.offered.topic.ends_with("numbers")).collect();
    assert_eq!(known.len(), 3);
    assert!(subscriptions.iter().all(|subscription| subscription.publisher_count() == 3));
    publishers[0].publish(Number { _value: 1 })?;
    let changes = || known.iter().map(|known| known.changes.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let before = changes();
    drop(publishers);
    transport.refresh();
    while known.iter().any(|known| Arc::strong_count(known) > 1) {
        subscriptions.iter().for_each(|subscription| drop(subscription.take())); // another thread may be at it
        std::thread::yield_now();
    }
    let after: Vec<_> = before.iter().map(|changes| changes + 1).collect();
    assert_eq!(changes(), after);
    assert!(subscriptions.iter().all(|subscription| subscription.publisher_count() == 0));
    Ok(())
}
