//! The executor that this thread spins.

use super::current::{self, OuterSpin};
use super::scheduler::Scheduler;
use crate::sys::sync::Arc;
use std::cell::RefCell;

thread_local! {
    /// The innermost executor that this thread spins.
    static EXECUTOR: RefCell<Option<Arc<Scheduler>>> = const { RefCell::new(None) };
}

/// While this lives, the thread spins the executor.
pub(crate) struct Spinning {
    outer: OuterSpin,
    executor: Option<Arc<Scheduler>>,
}

impl Spinning {
    pub(crate) fn enter(executor: &Arc<Scheduler>, worker: u32) -> Self {
        let outer = current::begin(executor.id, worker);
        let executor = EXECUTOR.with_borrow_mut(|current| current.replace(executor.clone()));
        Self { outer, executor }
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        let gone = EXECUTOR.with_borrow_mut(|current| std::mem::replace(current, self.executor.take()));
        current::end(&self.outer);
        drop(gone); // dropping an executor may drop code of the program
    }
}

/// Returns the innermost executor that this thread spins, and the thread's number among its
/// workers.
pub(crate) fn worker() -> Option<(Arc<Scheduler>, u32)> {
    // A thread that is ending spins none.
    let executor = EXECUTOR.try_with(|executor| executor.borrow().clone()).ok().flatten()?;
    Some((executor, current::innermost()))
}
