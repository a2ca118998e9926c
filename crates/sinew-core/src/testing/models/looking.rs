//! S1-S4: looks that no thread waits for; and D1-D4: work that is taken while events are being
//! drained.

use super::{Probe, check, notify};
use crate::executor::crew::members::GroupSlot;
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::crew::worker::{Blocking, Next, Worker};
use crate::executor::group_token::GroupNumber;
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::sync::{Arc, AtomicU64, Ordering};
use crate::testing::idle;
use loom::thread;

/// The number of announcements, and how many of them the looks have found.
struct Place {
    announced: AtomicU64,
    found: CoalescingLock<Probe>,
}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self { announced: AtomicU64::new(0), found: CoalescingLock::new(Probe::new(0)) })
    }

    fn look(&self) {
        self.found.look(|found| found.write(self.announced.load(Ordering::Relaxed)));
    }

    fn announce(&self) {
        self.announced.fetch_add(1, Ordering::Relaxed); // the word must carry this
        self.look();
    }
}

/// Three threads announce and look: in the end all announcements are found, though no thread waits
/// for another, and one thread at a time held the value.
///
/// Fails if a look that serves a request doesn't see the announcement before it (S1 without Release
/// or Acquire), if leaving drops the request (S3), if no thread checks for it (S4), or if two
/// threads hold the value at once.
#[test]
fn a_thread_that_finds_it_taken_is_served() {
    check(3, || {
        let place = Place::new();
        let threads = [(); 2].map(|()| {
            let place = place.clone();
            thread::spawn(move || place.announce())
        });
        place.announce();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(place.found.try_enter().unwrap().read(), 3);
    });
}

/// A thread leaves a request, then holds the value for other work, and checks afterwards: no
/// request is lost.
///
/// Fails if two threads hold the value at once (S2).
#[test]
fn a_thread_that_finds_it_taken_for_something_else_is_served() {
    check(6, || {
        let place = Place::new();
        let there = place.clone();
        let thread = thread::spawn(move || there.announce());
        place.announce();
        drop(place.found.try_enter());
        if place.found.is_wanted() {
            place.look();
        }
        thread.join().unwrap();
        assert_eq!(place.found.try_enter().unwrap().read(), 2);
    });
}

/// A thread drains events, the younger first, while another thread takes work: that one begins with
/// the older, or before either.
///
/// Fails if work is taken without checking whether events are being drained (D2), or if that isn't
/// announced before it happens (D1).
#[test]
fn nobody_begins_what_came_later() {
    check(3, || {
        let scheduler = Scheduler::new();
        let make = || {
            let group =
                GroupSlot::new(&scheduler, GroupNumber::new().get(), 0).expect("the scheduler is open");
            idle::enter(&group)
        };
        let ((older, first), (younger, second)) = (make(), make());
        let there = scheduler.clone();
        let thread = thread::spawn(move || {
            let drain = there.remote_events.begin_drain().unwrap();
            notify(&younger, 2);
            notify(&older, 1);
            drop(drain);
        });
        let (mut ran, mut work) = (Vec::new(), None);
        while let Next::Run = Worker::new(&scheduler, 0).next(&mut work, Blocking::None) {
            ran.extend(work.as_ref().map(|work| work.serial()));
        }
        thread.join().unwrap();
        assert!([first, second].starts_with(&ran), "{ran:?} of {first} and {second}");
    });
}
