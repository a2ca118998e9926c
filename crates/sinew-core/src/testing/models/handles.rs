//! B1-B3: the guarantees of counted references for the value behind them.

use super::{Probe, check};
use crate::message::erased::Message;
use crate::message::{Shared, Unique};
use loom::thread;

/// The value is dropped once, by the thread that releases the last reference, after every read of
/// any thread.
///
/// Fails if B1 is Relaxed, if B2 is left out, if B3 is Relaxed (a sole reference drops without
/// counting down), or if the count is written back as load and store.
#[test]
fn the_last_one_drops_after_all_have_read() {
    check(6, || {
        Probe::reset_counts();
        let one = Shared::new(Probe::new(7));
        let other = one.clone();
        let threads = [one, other].map(|reference| {
            thread::spawn(move || {
                assert_eq!(reference.read(), 7);
                drop(reference);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        Probe::expect_counts(1, 1);
    });
}

/// References may be cloned while other references are dropped.
///
/// Fails if `another` is load and store instead of one step.
#[test]
fn cloning_and_dropping_at_once() {
    check(6, || {
        Probe::reset_counts();
        let one = Shared::new(Probe::new(7));
        let other = one.clone();
        let thread = thread::spawn(move || {
            let third = other.clone();
            drop(other);
            assert_eq!(third.read(), 7);
        });
        let fourth = one.clone();
        drop(one);
        assert_eq!(fourth.read(), 7);
        drop(fourth);
        thread.join().unwrap();
        Probe::expect_counts(1, 1);
    });
}

/// A thread that finds itself alone may write: all reads of other threads happened before.
///
/// Fails if B3 is Relaxed, or if B1 is.
#[test]
fn the_sole_reference_writes_after_all_have_read() {
    check(6, || {
        Probe::reset_counts();
        let one = Shared::new(Probe::new(7));
        let other = one.clone();
        let thread = thread::spawn(move || {
            assert_eq!(other.read(), 7);
        });
        match one.try_unique() {
            Ok(alone) => alone.write(8),
            Err(shared) => assert_eq!(shared.read(), 7),
        }
        thread.join().unwrap();
        Probe::expect_counts(1, 1);
    });
}

/// If two threads try to become sole owner, at most one succeeds while the other's reference lives,
/// and the message outlives both attempts.
///
/// Fails if `is_sole` is true for two references.
#[test]
fn two_want_to_be_alone() {
    check(6, || {
        Probe::reset_counts();
        let one = Shared::new(Probe::new(7));
        let other = one.clone();
        let attempt = |reference: Shared<Probe>, value: u64| match reference.try_unique() {
            Ok(alone) => alone.write(value),
            Err(shared) => drop(shared),
        };
        let thread = thread::spawn(move || attempt(other, 8));
        attempt(one, 9);
        thread.join().unwrap();
        Probe::expect_counts(1, 1);
    });
}

/// An adopted box is handed back once, to the thread that is left alone with it.
#[test]
fn an_adopted_box_is_freed_once() {
    check(6, || {
        Probe::reset_counts();
        let one = Unique::from(Box::new(Probe::new(7))).into_shared();
        let other = one.clone();
        let thread = thread::spawn(move || {
            if let Ok(alone) = other.try_unique() {
                alone.into_box().write(8);
            }
        });
        if let Ok(alone) = one.try_unique() {
            alone.into_inner().write(9);
        }
        thread.join().unwrap();
        Probe::expect_counts(1, 1);
    });
}

/// An adopted value goes to one thread that takes it, or is dropped once, after every read; also if
/// references pass as pointers.
///
/// Fails if `into_adopted` gives the value to a thread that isn't alone with it.
#[test]
fn an_adopted_value_is_taken_once() {
    /// A pointer for another thread.
    struct Raw(std::ptr::NonNull<()>);
    // SAFETY: it keeps a reference, which any thread may use.
    unsafe impl Send for Raw {}

    fn take(Raw(raw): Raw) {
        // SAFETY: from `into_raw`, and not used afterwards.
        let message = unsafe { Message::from_raw(raw) };
        assert!(message.value_of::<Probe>().is_some_and(|probe| probe.read() == 7));
        if let Ok(value) = message.into_adopted() {
            // SAFETY: a box of this type was adopted, and nothing else has it.
            drop(unsafe { Box::from_raw(value.cast::<Probe>().as_ptr()) });
        }
    }

    check(6, || {
        Probe::reset_counts();
        let one = Message::from(Unique::from(Box::new(Probe::new(7))));
        let other = Raw(one.clone().into_raw());
        let thread = thread::spawn(move || take(other));
        take(Raw(one.into_raw()));
        thread.join().unwrap();
        Probe::expect_counts(1, 1);
    });
}
