//! Sinew's own threads. They are for crates of Sinew.

use crate::platform::sys;
use std::thread;

/// The bytes of stack that a thread of Sinew has for its calls.
const STACK: usize = 256 << 10;

/// Returns a builder of one of Sinew's own threads. Its stack is small, because a program may lock
/// all its memory.
///
/// glibc takes a thread's copies of the program's thread-local variables from the thread's stack, so
/// their size is added.
pub fn builder(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK.saturating_add(sys::thread_locals()))
}
