//! What an image costs in memory: in proportion to its length, whatever lengths it claims.

use crate::message_type;
use sinew_msg::dynamic::DynamicMessage;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which notes the largest piece that each thread asks for.
struct Noting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize) {
    // A thread that ends has no note any more, and nobody who asks.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is passed on to the system's allocator as it is; noting allocates nothing.
unsafe impl GlobalAlloc for Noting {
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
        // SAFETY: passed on from the caller; what is freed came from the same allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: passed on from the caller; what grows came from the same allocator.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static NOTING: Noting = Noting;

#[test]
fn a_length_that_lies_costs_no_memory() {
    const LENGTH: usize = 4096;
    let types = [
        "uint8[] a",
        "float64[] a",
        "string[] a",
        "wstring a",
        "string a",
        "Empty[] a",
        "Pair[] a",
        "uint8[100000000] a",
        "Empty[1000000] a",
    ];
    for text in types {
        let message_type =
            message_type(&[("A", text), ("Empty", ""), ("Pair", "Empty[<=9] one\nstring two")]);
        for claimed in [u32::MAX, 1 << 30, 4000, 900, 100] {
            let mut image = vec![0; LENGTH];
            image[1] = 1;
            image[4..8].copy_from_slice(&claimed.to_le_bytes());
            LARGEST.set(0);
            let _ = DynamicMessage::decode(&message_type, &image);
            // A value of a byte takes 32 in memory, and a vector that grows has up to twice as many.
            assert!(LARGEST.get() <= 64 * LENGTH, "{text}, {claimed}: {} bytes", LARGEST.get());
        }
    }
}
