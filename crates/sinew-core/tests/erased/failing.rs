//! Functions of a class that panic.

use crate::class::{Class, text_of};
use crate::support::Room;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;

#[test]
fn a_copy_that_panics_delivers_nothing() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let owners =
        [(); 2].map(|()| room.node.erased_subscription("text", string).owned().create_erased().unwrap());
    class.panics.store(true, SeqCst);
    let message = class.message(string, "hello");
    class.panics.store(true, SeqCst);
    let keep = message.clone(); // shared: both owners need a copy
    let published = catch_unwind(AssertUnwindSafe(|| publisher.publish(message)));
    assert!(published.is_err());
    class.panics.store(false, SeqCst);
    assert!(owners.iter().all(|owner| owner.take().is_none()));
    assert!(keep.is_sole(), "no reference was left behind");
    publisher.publish(keep).unwrap();
    assert!(owners.iter().all(|owner| text_of(&owner.take().unwrap().0) == "hello"));
    assert_eq!(class.counts(), [2, 1, 1, 0, 0]);
    Ok(())
}

#[test]
fn a_destructor_that_panics_runs_once_and_frees() {
    let class = Class::new();
    let message = class.message(class.register(), "hello");
    class.panics.store(true, SeqCst);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(message))).is_err());
    class.panics.store(false, SeqCst);
    assert_eq!(class.counts(), [1, 1, 0, 0, 0]);
}

#[test]
fn a_copy_that_panics_at_the_taker_leaves_the_original() {
    let class = Class::new();
    let message = class.message(class.register(), "hello");
    class.panics.store(true, SeqCst);
    assert!(catch_unwind(AssertUnwindSafe(|| message.duplicate().map(drop))).is_err());
    class.panics.store(false, SeqCst);
    assert_eq!((text_of(&message).as_str(), message.is_sole()), ("hello", true));
}
