//! O1-O3: the last thread to leave reports the end.

use super::{Probe, check};
use crate::sys::last_out::LastOut;
use crate::sys::sync::{Arc, Mutex};
use loom::thread;

/// The parts of two threads, and who entered before the mark.
struct Place {
    all: LastOut,
    /// Orders O1 and O2: which threads have entered, and whether the end was marked.
    order: Mutex<([bool; 2], bool)>,
    parts: [Probe; 2],
}

impl Place {
    /// One thread's part; returns whether it reported the end.
    fn do_part(&self, thread: usize, marks: bool) -> bool {
        let mut order = self.order.lock();
        let inside = self.all.enter();
        if !order.1 {
            order.0[thread] = true;
        }
        if marks {
            inside.mark();
            order.1 = true;
        }
        drop(order);
        self.parts[thread].write(1);
        if !inside.leave() {
            return false;
        }
        let before = self.order.lock().0;
        for (part, _) in self.parts.iter().zip(before).filter(|(_, before)| *before) {
            assert_eq!(part.read(), 1, "the end was reported before a part was done");
        }
        true
    }
}

/// One of two threads marks the end while the other does its part: one of them reports it, once,
/// after the parts of those that entered before the mark.
///
/// Fails if leaving doesn't carry a part (O3 without Release or Acquire), or if a thread counts as
/// the last one in one step and takes the mark in another (O3).
#[test]
fn the_last_one_out_reports_the_end() {
    check(3, || {
        let place = Arc::new(Place {
            all: LastOut::new(),
            order: Mutex::new(([false; 2], false)),
            parts: [Probe::new(0), Probe::new(0)],
        });
        let other = place.clone();
        let other = thread::spawn(move || other.do_part(0, false));
        let reported = [place.do_part(1, true), other.join().unwrap()];
        assert_eq!(reported.into_iter().filter(|&reported| reported).count(), 1);
    });
}
