//! W1-W3, R1-R3: publishing while others copy out; G1-G3: growth while others read.

use super::{Read, check, publish, read, ring, words};
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use crate::ring::Ring;
use loom::thread;

/// A message that is overwritten while it is copied out is never taken for complete.
///
/// Fails if W1's or R3's fence is left out, if W3 or R1 is relaxed, or if R3 doesn't check the
/// sequence again.
#[test]
fn a_copy_is_whole_or_known_to_be_torn() {
    check(2, || {
        let ours = ring(1);
        publish(&ours, 1);
        let theirs = ours.clone();
        let reader = thread::spawn(move || {
            let found = read(&theirs, 1);
            assert!(
                matches!(found, Read::There | Read::Changed | Read::Overwritten(2) | Read::Nothing),
                "{found:?}"
            );
        });
        publish(&ours, 2);
        reader.join().unwrap();
    });
}

/// A reader that sees a message's number sees all of the message, and nothing of the slot's earlier
/// contents.
///
/// Fails if W3 or R1 is relaxed.
#[test]
fn what_is_published_is_complete() {
    check(2, || {
        let ours = ring(2);
        let theirs = ours.clone();
        let reader = thread::spawn(move || {
            let found = [read(&theirs, 1), read(&theirs, 2)];
            for found in found {
                assert!(matches!(found, Read::There | Read::Nothing), "{found:?}");
            }
        });
        publish(&ours, 1);
        publish(&ours, 2);
        reader.join().unwrap();
    });
}

/// A reader in the middle of a ring that grows continues in the new one, and misses nothing.
///
/// Fails if G3 marks no slot, or before G2, if G2 is relaxed, or if G1 leaves something out.
#[test]
fn growth_loses_nothing() {
    check(2, || {
        let mut ours = ring(1);
        let bigger = ring(2);
        let rings = [ours.clone(), bigger.clone()];
        let place = Arc::new(AtomicU64::new(0));
        publish(&ours, 1);
        let found_at = place.clone();
        let reader = thread::spawn(move || {
            let mut at: Ring = rings[0].clone();
            let mut next = 1;
            while next < 4 {
                match read(&at, next) {
                    Read::There => next += 1,
                    Read::Moved => {
                        let location = found_at.load(Ordering::Acquire); // as `Incoming::look_for_ring`
                        assert_eq!(location, 1, "MOVED carries where to");
                        at = rings[1].clone();
                    }
                    Read::Nothing => thread::yield_now(),
                    Read::Changed => {}
                    Read::Overwritten(oldest) => {
                        assert!(oldest > next && oldest <= 3 && next == 1, "{next} is lost: {oldest}");
                        next = oldest;
                    }
                }
            }
        });
        ours.grow(bigger, 2, &place, 1);
        publish(&ours, 2);
        publish(&ours, 3);
        reader.join().unwrap();
    });
}

/// A message is found as long as it isn't overwritten, either in the ring that a reader had before
/// or in the one that it is led to.
///
/// Fails if G1 or G3 is left out.
#[test]
fn who_has_the_old_ring_finds_what_is_kept() {
    check(2, || {
        let mut ours = ring(2);
        let bigger = ring(4);
        let (old, new) = (ours.clone(), bigger.clone());
        let place = Arc::new(AtomicU64::new(0));
        publish(&ours, 1);
        publish(&ours, 2);
        let reader = thread::spawn(move || {
            for number in 1..=2 {
                match read(&old, number) {
                    Read::There => {}
                    Read::Moved => assert_eq!(read(&new, number), Read::There),
                    Read::Changed => {
                        // Marked meanwhile: the next look shows it.
                        assert_eq!(read(&old, number), Read::Moved);
                        assert_eq!(read(&new, number), Read::There);
                    }
                    other => panic!("message {number}: {other:?}"),
                }
            }
        });
        ours.grow(bigger, 3, &place, 1);
        publish(&ours, 3);
        reader.join().unwrap();
    });
}

/// A new ring's words are zero: there are no messages yet.
#[test]
fn a_fresh_ring_holds_nothing() {
    check(1, || {
        let fresh = ring(2);
        assert_eq!(
            [read(&fresh, 0), read(&fresh, 1), read(&fresh, 7)],
            [Read::Nothing, Read::Nothing, Read::Nothing]
        );
        assert!(Ring::open(words(8), "a file").is_err(), "without its shape it is no ring");
    });
}
