//! Sinew's own threads in a program with large thread-local variables.

use std::cell::RefCell;
use std::hint::black_box;

/// Almost the stack of a thread, from which glibc takes the memory of thread-local variables.
const LARGE: usize = 240 << 10;

thread_local! {
    static VARIABLE: RefCell<[u8; LARGE]> = const { RefCell::new([0; LARGE]) };
}

/// The process would end if the stack overflowed.
#[test]
fn a_thread_has_its_stack_beside_thread_local_variables() {
    let thread = sinew_shm::threads::builder("threads").spawn(|| {
        let on_stack = [1u8; 160 << 10];
        VARIABLE.with(|variable| variable.borrow_mut()[LARGE - 1] = black_box(&on_stack)[0]);
        let name = std::thread::current().name().map(str::to_owned);
        (VARIABLE.with(|variable| variable.borrow()[LARGE - 1]), name)
    });
    let (last, name) = thread.expect("it starts").join().expect("it ends");
    assert_eq!((last, name.as_deref()), (1, Some("threads")));
}
