//! Publishers of other processes that leave.

use crate::api::context::Context;
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
