//! Counts the allocations of a test's thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count of each thread's allocations.
struct Counting;

thread_local! {
    /// Number of allocations.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    /// Size of the largest allocation in bytes.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    /// Size of all allocations in bytes, also of those that are freed.
    static TOTAL: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize) {
    // A thread that is ending has no counters any more, and no test that reads them.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    let _ = TOTAL.try_with(|total| total.set(total.get().saturating_add(size)));
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: passed on from the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: passed on from the caller; the memory came from the same allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: passed on from the caller; the memory came from the same allocator.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs `work`, and returns its result, its number of allocations and the size of the largest one
/// in bytes.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    LARGEST.set(0);
    let before = COUNT.get();
    let result = work();
    (result, COUNT.get() - before, LARGEST.get())
}

/// Runs `work`, and returns its result and the size of all its allocations in bytes.
#[allow(dead_code, reason = "not each of the tests that share this file asks for it")]
pub(crate) fn allocated<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TOTAL.get();
    let result = work();
    (result, TOTAL.get() - before)
}
