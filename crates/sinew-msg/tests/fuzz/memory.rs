//! Measures peak memory use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Maximum number of bytes in use at any time, as a function of the input length.
pub(crate) struct Bound {
    pub(crate) per_byte: usize,
    pub(crate) fixed: usize,
}

impl Bound {
    /// Runs `work` on an input of `length` bytes, and checks the peak of this thread's allocations
    /// meanwhile. (A block that grows counts twice during the growth: the allocator may have to
    /// copy it.)
    #[track_caller]
    pub(crate) fn check<R>(&self, length: usize, work: impl FnOnce() -> R) -> R {
        let before = LIVE.get();
        PEAK.set(before);
        let result = work();
        let taken = PEAK.get().wrapping_sub(before);
        let most = self.per_byte * length + self.fixed;
        assert!(taken <= most, "{taken} bytes of memory for an input of {length}, where {most} are allowed");
        result
    }
}

/// The system's allocator, with a count of each thread's bytes.
struct Counting;

thread_local! {
    /// Bytes allocated minus bytes freed by this thread. It may free memory of another thread, so
    /// the count wraps.
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn take(size: usize) {
    // A thread that is ending has no counters any more, and no longer needs them.
    let _ = LIVE.try_with(|live| {
        live.set(live.get().wrapping_add(size));
        let _ = PEAK.try_with(|peak| {
            // Compare the difference, since both wrap.
            if live.get().wrapping_sub(peak.get()).cast_signed() > 0 {
                peak.set(live.get());
            }
        });
    });
}

fn give_back(size: usize) {
    let _ = LIVE.try_with(|live| live.set(live.get().wrapping_sub(size)));
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: passed on from the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: passed on from the caller; the memory came from the same allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        give_back(layout.size());
        // SAFETY: passed on from the caller; the memory came from the same allocator.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn what_is_taken_at_a_time_is_counted() {
    let bound = Bound { per_byte: 1, fixed: 0 };
    let in_turn = || (0..10).for_each(|_| drop(vec![0_u8; 100]));
    bound.check(100, in_turn);
    std::panic::catch_unwind(|| bound.check(99, in_turn)).unwrap_err();
    std::panic::catch_unwind(|| bound.check(199, || [vec![0_u8; 100], vec![0_u8; 100]])).unwrap_err();
}
