//! What this thread is in the middle of: the executors it spins and the callback it runs.
//!
//! Asked when something would wait for this very thread: a publisher for a full history, `close` for a running callback,
//! a spin inside a spin.

use std::cell::{Cell, RefCell};

thread_local! {
    /// The serial number of the entity whose callback runs; 0 for none.
    static ENTITY: Cell<u64> = const { Cell::new(0) };
    /// The executors that are spun on this thread, outermost first: (executor, the entity it was spun in).
    static SPINNING: RefCell<Vec<(u64, u64)>> = const { RefCell::new(Vec::new()) };
}

/// While it lives, this thread runs a callback of the entity.
pub(crate) struct Running(u64);

impl Running {
    #[inline]
    pub(crate) fn enter(serial: u64) -> Self {
        Self(ENTITY.replace(serial))
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        ENTITY.set(self.0);
    }
}

/// While it lives, this thread spins the executor.
pub(crate) struct Spinning(());

impl Spinning {
    pub(crate) fn enter(executor: u64) -> Self {
        SPINNING.with_borrow_mut(|spinning| spinning.push((executor, ENTITY.get())));
        Self(())
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        SPINNING.with_borrow_mut(Vec::pop);
    }
}

/// Whether a callback of the entity is on this thread's stack.
pub(crate) fn runs(serial: u64) -> bool {
    ENTITY.get() == serial
        || SPINNING.with_borrow(|spinning| spinning.iter().any(|&(_, entity)| entity == serial))
}

/// The executors that can't go on before this thread does.
pub(crate) fn spinning() -> Vec<u64> {
    SPINNING.with_borrow(|spinning| spinning.iter().map(|&(executor, _)| executor).collect())
}
