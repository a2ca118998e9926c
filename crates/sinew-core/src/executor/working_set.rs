//! The memory that a callback uses, fetched while the task before it still runs.
//!
//! In a large system the memory of a hop has left the near caches when its turn comes, and each
//! line is found through the one before: of a chain of 1000 relays, two thirds of the time were
//! waits for memory. But the lane knows which task runs next while another one runs, and a callback
//! mostly publishes with the same publisher each time, which makes the same task ready. So a task's
//! header stores where these are: the publisher, the next block of its pool, and the next task.
//! They are requested together as soon as the task is the next of its lane.
//!
//! That is of use only for what a thread hasn't fetched when it woke up. So it is done in bursts in
//! which the thread uses an entity that it hasn't noted, or which began without a fetch
//! (`prefetch`).
//!
//! A task that the lane runs now and then *records* its working set: the values and the pool of
//! what its callback publishes or calls with, and the values of the tasks that this makes ready.
//! These are parts of what a thread fetches after a sleep. But here the addresses are only named to
//! the processor, by an instruction that fails nowhere: the memory may be gone by now. So nothing
//! is kept alive, and any thread may write a working set at any time.

use crate::sys::sync::{HintUsize, Ordering};
use std::cell::Cell;

/// The size of a cache line, or a good guess.
pub(super) const LINE: usize = 64;

/// Maximum number of places of a working set: one cache line of them. A publisher has three
/// (itself, its pool, a block), a subscription's task as many (the header, the subscription, the
/// task).
const PLACES: usize = 8;

/// Maximum number of lines of a place.
const MOST_LINES: usize = 8;

/// Number of measured runs of recorded tasks of which a thread records one again. A prime number,
/// so that it comes to each task of a burst that is always the same.
const RECORDED: u8 = 251;

/// The places that a callback used when it was last recorded, as the address of the first cache
/// line of each, with the number of lines in the low bits. 0: no further place.
#[derive(Default)]
pub(super) struct WorkingSet([HintUsize; PLACES]);

struct Recorder {
    is_recording: Cell<bool>,
    /// Number of places that were recorded.
    length: Cell<usize>,
    places: [Cell<usize>; PLACES],
    /// Number of measured runs since a recorded task was last due to be recorded again.
    passed: Cell<u8>,
}

thread_local! {
    static RECORDER: Recorder = const {
        Recorder {
            is_recording: Cell::new(false),
            length: Cell::new(0),
            places: [const { Cell::new(0) }; PLACES],
            passed: Cell::new(0),
        }
    };
}

impl WorkingSet {
    /// Requests its lines, for a task that runs soon on this thread.
    #[inline]
    pub(super) fn prefetch(&self) {
        for place in &self.0 {
            let place = place.load(Ordering::Relaxed); // a hint: carries nothing
            let lines = place % LINE;
            if lines == 0 {
                break;
            }
            for line in 0..lines {
                sinew_shm::prefetch::for_writing(place - lines + line * LINE);
            }
        }
    }

    /// Begins to record this run of its task, if it is time to.
    #[inline(never)]
    pub(super) fn record(&self) -> Option<Recording<'_>> {
        let is_known = self.0[0].load(Ordering::Relaxed) != 0;
        RECORDER.with(|recorder| {
            let passed = recorder.passed.get();
            recorder.passed.set((passed + 1) % RECORDED);
            // A run inside the run that is recorded belongs to that.
            if recorder.is_recording.get() || is_known && passed != 0 {
                return None;
            }
            recorder.length.set(0);
            recorder.is_recording.set(true);
            Some(Recording(self))
        })
    }

    #[cfg(test)]
    pub(super) fn places(&self) -> Vec<(usize, usize)> {
        let places = self.0.iter().map(|place| place.load(Ordering::Relaxed));
        places.filter(|place| *place != 0).map(|place| (place - place % LINE, place % LINE)).collect()
    }
}

/// While this lives, what the thread uses is recorded.
pub(super) struct Recording<'a>(&'a WorkingSet);

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        RECORDER.with(|recorder| {
            recorder.is_recording.set(false);
            // A run that published nothing leaves the set empty, so the next measured run records.
            let length = recorder.length.get();
            for (at, (known, new)) in self.0.0.iter().zip(&recorder.places).enumerate() {
                let new = if at < length { new.get() } else { 0 };
                // Relaxed: as in `prefetch`.
                if known.load(Ordering::Relaxed) != new {
                    known.store(new, Ordering::Relaxed);
                }
            }
        });
    }
}

/// Whether this thread records.
#[inline]
pub(super) fn is_recording() -> bool {
    RECORDER.with(|recorder| recorder.is_recording.get())
}

/// Records memory as its address and a number of bytes, unless its first line is known, or the set
/// is full.
pub(super) fn add(place: Option<(usize, usize)>) {
    let Some((address, bytes)) = place else { return };
    let first = address - address % LINE;
    let lines = (address + bytes - first).div_ceil(LINE).min(MOST_LINES);
    RECORDER.with(|recorder| {
        let length = recorder.length.get();
        let is_known = recorder.places[..length].iter().any(|place| place.get() / LINE == first / LINE);
        if length < PLACES && lines > 0 && !is_known {
            recorder.places[length].set(first + lines);
            recorder.length.set(length + 1);
        }
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn use_memory(address: usize, bytes: usize) {
        if is_recording() {
            add(Some((address, bytes)));
        }
    }

    #[test]
    fn records_each_place_once_with_its_lines() {
        let set = WorkingSet::default();
        let recording = set.record();
        use_memory(0x1000, 64);
        use_memory(0x2030, 32); // reaches into a second line
        use_memory(0x1008, 8);
        use_memory(0x3000, 0);
        use_memory(0x5000, 0x1000);
        drop(recording);
        use_memory(0x4000, 64); // nothing is recorded any more
        assert_eq!(set.places(), [(0x1000, 1), (0x2000, 2), (0x5000, MOST_LINES)]);
        set.prefetch(); // no such memory exists
    }

    #[test]
    fn keeps_the_first_places_if_there_are_too_many() {
        let set = WorkingSet::default();
        let recording = set.record();
        (1..100).for_each(|at| use_memory(at * 0x1000, 64));
        drop(recording);
        let first: Vec<_> = (1..=PLACES).map(|at| (at * 0x1000, 1)).collect();
        assert_eq!(set.places(), first);
    }

    #[test]
    fn a_run_inside_a_recorded_one_belongs_to_it() {
        let [outer, inner] = [(); 2].map(|()| WorkingSet::default());
        let recording = outer.record();
        assert!(inner.record().is_none());
        use_memory(0x1000, 64);
        drop(recording);
        assert_eq!((outer.places(), inner.places()), (vec![(0x1000, 1)], vec![]));
    }

    /// A callback that publishes only now and then, or has stopped.
    #[test]
    fn a_run_that_used_nothing_is_followed_by_another_recording() {
        let set = WorkingSet::default();
        for _ in 0..3 {
            drop(set.record());
            assert_eq!(set.places(), []);
        }
        let recording = set.record().expect("nothing is known yet");
        use_memory(0x1000, 64);
        drop(recording);
        assert_eq!(set.places(), [(0x1000, 1)]);
        let unused = (0..).find_map(|_| set.record()).expect("it is recorded again");
        drop(unused);
        assert_eq!(set.places(), []);
    }

    /// A program may replace publishers. The tasks of a burst are measured one after the other.
    #[test]
    fn each_task_of_a_burst_is_recorded_again() {
        for tasks in [1, 8, 64, 256, 512] {
            let sets: Vec<_> = (0..tasks).map(|_| WorkingSet::default()).collect();
            let run_all = |address| {
                for set in &sets {
                    let _recording = set.record();
                    use_memory(address, 64);
                }
            };
            run_all(0x1000);
            (0..RECORDED).for_each(|_| run_all(0x2000));
            assert!(sets.iter().all(|set| set.places() == [(0x2000, 1)]), "{tasks} tasks");
        }
    }
}
