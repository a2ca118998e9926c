//! What this thread is in the middle of: the executors it spins and the callbacks it runs.
//!
//! Asked when something would wait for this very thread (a publisher for a full history, a caller
//! for a server, `close` for a running callback, a spin inside a spin), and where a message that is
//! published should run next.

use std::cell::{Cell, RefCell};

/// So many callbacks inside each other are told apart. Calls of services are limited to fewer;
/// spins inside callbacks that go deeper than this only lose the check for waiting for themselves.
const DEPTH: usize = 128;

struct CallbackStack {
    depth: Cell<usize>,
    /// The executor in whose lane this thread is the worker; 0 for none.
    lane: Cell<u64>,
    /// Of the outermost callback, in an executor with several threads: how long it is expected to
    /// go on after it has published something, in nanoseconds.
    tail: Cell<i64>,
    /// When it last published something for its executor; 0 for never.
    published: Cell<i64>,
    /// From the outermost: the serial number of the entity, and the number of its group.
    running: [Cell<(u64, u64)>; DEPTH],
}

thread_local! {
    static CALLBACKS: CallbackStack =
        const { CallbackStack {
            depth: Cell::new(0),
            lane: Cell::new(0),
            tail: Cell::new(0),
            published: Cell::new(0),
            running: [const { Cell::new((0, 0)) }; DEPTH],
        } };
    /// The executor that this thread spins innermost, and which of its workers it is; 0 for none.
    static WORKER: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
    /// The executors that are spun on this thread, or for which it runs a callback as a caller,
    /// outermost first.
    static SPINNING: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// While it lives, this thread runs a callback.
pub(crate) struct CallbackScope(());

impl CallbackScope {
    #[inline]
    pub(crate) fn enter(serial: u64, group: u64) -> Self {
        CALLBACKS.with(|callbacks| {
            let depth = callbacks.depth.get();
            if let Some(place) = callbacks.running.get(depth) {
                place.set((serial, group));
            }
            callbacks.depth.set(depth + 1);
        });
        Self(())
    }
}

impl Drop for CallbackScope {
    #[inline]
    fn drop(&mut self) {
        CALLBACKS.with(|callbacks| callbacks.depth.set(callbacks.depth.get() - 1));
    }
}

fn running<R>(look: impl FnOnce(&[Cell<(u64, u64)>]) -> R) -> R {
    CALLBACKS.with(|callbacks| look(&callbacks.running[..callbacks.depth.get().min(DEPTH)]))
}

/// What this thread was in the middle of when it began to spin another executor.
pub(super) struct OuterSpin {
    worker: (u64, u32),
    tail: i64,
    published: i64,
}

/// This thread spins the executor from now on, as this worker. Returns what it spun before.
pub(super) fn begin(executor: u64, worker: u32) -> OuterSpin {
    SPINNING.with_borrow_mut(|spinning| spinning.push(executor));
    let worker = WORKER.replace((executor, worker));
    CALLBACKS.with(|callbacks| OuterSpin {
        worker,
        tail: callbacks.tail.get(),
        published: callbacks.published.get(),
    })
}

/// Goes back to what this thread spun before.
pub(super) fn end(outer: &OuterSpin) {
    WORKER.set(outer.worker);
    CALLBACKS.with(|callbacks| {
        callbacks.tail.set(outer.tail);
        callbacks.published.set(outer.published);
    });
    SPINNING.with_borrow_mut(Vec::pop);
}

/// Which worker of the executor that it spins innermost this thread is; 0 if it spins none.
pub(super) fn innermost() -> u32 {
    WORKER.get().1
}

/// While it lives, this thread runs a callback of an executor in the place of one of those that
/// spin it.
pub(crate) struct CallerScope(());

impl CallerScope {
    pub(crate) fn enter(executor: u64) -> Self {
        SPINNING.with_borrow_mut(|spinning| spinning.push(executor));
        Self(())
    }
}

impl Drop for CallerScope {
    fn drop(&mut self) {
        SPINNING.with_borrow_mut(Vec::pop);
    }
}

/// Which worker of the executor this thread is, if that is the one it spins innermost.
#[inline]
pub(crate) fn worker_of(executor: u64) -> Option<u32> {
    let (current, worker) = WORKER.get();
    (current == executor).then_some(worker)
}

/// This thread is the worker of this executor's lane from now on. Returns the executor that it was
/// the worker of before.
pub(crate) fn enter_lane(executor: u64) -> u64 {
    CALLBACKS.with(|callbacks| callbacks.lane.replace(executor))
}

/// Whether this thread is the worker of this executor's lane, and runs a callback.
#[inline]
pub(super) fn fills_lane_of(executor: u64) -> bool {
    CALLBACKS.with(|callbacks| callbacks.lane.get() == executor && callbacks.depth.get() > 0)
}

/// A worker begins a callback that is expected to go on for so many nanoseconds after it has
/// published something.
#[inline]
pub(crate) fn begin_with_tail(tail: i64) {
    CALLBACKS.with(|callbacks| {
        callbacks.tail.set(tail);
        callbacks.published.set(0);
    });
}

/// For how long this thread is expected to go on with its callback; a callback inside another one
/// says nothing of that.
#[inline]
pub(super) fn tail() -> i64 {
    CALLBACKS.with(|callbacks| if callbacks.depth.get() == 1 { callbacks.tail.get() } else { i64::MAX })
}

/// This thread's callback has published something for its executor at this time.
#[inline]
pub(super) fn note_published(at: i64) {
    CALLBACKS.with(|callbacks| callbacks.published.set(at));
}

/// When the worker's last callback last published something for its executor; 0 for never.
#[inline]
pub(super) fn published() -> i64 {
    CALLBACKS.with(|callbacks| callbacks.published.get())
}

/// Whether a callback of the entity is on this thread's stack.
pub(crate) fn runs(serial: u64) -> bool {
    running(|callbacks| callbacks.iter().any(|callback| callback.get().0 == serial))
}

/// Whether this thread has the token of an exclusive group.
pub(crate) fn has_token_of(group: u64) -> bool {
    group != 0 && running(|callbacks| callbacks.iter().any(|callback| callback.get().1 == group))
}

/// Adds the exclusive groups that this thread has the tokens of, and the executors it spins or runs
/// for as a caller.
pub(crate) fn hold(groups: &mut Vec<u64>, executors: &mut Vec<u64>) {
    running(|callbacks| {
        groups.extend(callbacks.iter().map(|callback| callback.get().1).filter(|&group| group != 0));
    });
    SPINNING.with_borrow(|spinning| executors.extend(spinning));
}

/// How many callbacks this thread is in.
pub(crate) fn depth() -> usize {
    CALLBACKS.with(|callbacks| callbacks.depth.get())
}

/// Whether this thread spins the executor, or runs for it as a caller.
pub(crate) fn spins(executor: u64) -> bool {
    SPINNING.with_borrow(|spinning| spinning.contains(&executor))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A callback that spins another executor goes on as what it was: its own times count, not
    /// those of the callbacks that ran meanwhile.
    #[test]
    fn a_spin_inside_a_callback_leaves_the_times_of_the_callback() {
        let outer = begin(1, 0);
        begin_with_tail(3000);
        let _callback = CallbackScope::enter(1, 1);
        note_published(10);
        let inner = begin(2, 1);
        begin_with_tail(7000);
        let nested = CallbackScope::enter(2, 2);
        note_published(20);
        drop(nested);
        end(&inner);
        assert_eq!((worker_of(1), tail(), published()), (Some(0), 3000, 10));
        end(&outer);
        assert_eq!(worker_of(1), None);
    }
}
