//! How much memory something takes at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The most bytes that something of this length may take at any time.
pub(crate) struct Bound {
    pub(crate) per_byte: usize,
    pub(crate) fixed: usize,
}

impl Bound {
    /// Does something with an input of `length` bytes, and counts what this thread has allocated
    /// meanwhile. (A piece that grows counts twice while it does: the allocator may have to copy
    /// it.)
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

/// The system's allocator, which notes what each thread has.
struct Counting;

thread_local! {
    /// Less what others freed and more what was freed for others: it wraps.
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn take(size: usize) {
    // A thread that ends has no counters any more, and nobody who asks.
    let _ = LIVE.try_with(|live| {
        live.set(live.get().wrapping_add(size));
        let _ = PEAK.try_with(|peak| {
            // As a difference, since both wrap.
            if live.get().wrapping_sub(peak.get()).cast_signed() > 0 {
                peak.set(live.get());
            }
        });
    });
}

fn give_back(size: usize) {
    let _ = LIVE.try_with(|live| live.set(live.get().wrapping_sub(size)));
}

// SAFETY: every call is passed on to the system's allocator as it is; counting allocates nothing.
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
        // SAFETY: passed on from the caller; what is freed came from the same allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        give_back(layout.size());
        // SAFETY: passed on from the caller; what grows came from the same allocator.
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
