//! The state of this thread: the executors that it spins and the callbacks that it runs.
//!
//! Used to find out whether a wait would be for this very thread (a publisher's for a full history,
//! a caller's for a server, that of `close` for a running callback, a spin inside a spin), and
//! where the callback for a published message should run next.

use std::cell::{Cell, RefCell};

/// Number of nested callbacks that are distinguished. Nested service calls are limited to fewer;
/// deeper spins inside callbacks only lose the check for waiting for themselves.
const DEPTH: usize = 128;

struct CallbackStack {
    depth: Cell<usize>,
    /// The executor of the lane that this thread works on; 0 for none.
    lane: Cell<u64>,
    /// Nanoseconds for which the outermost callback is expected to run after it has published a
    /// message, in an executor with several threads.
    tail: Cell<i64>,
    /// Time at which it last published a message for its executor; 0 for never.
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
    /// The innermost executor that this thread spins, or 0, and the thread's number among its
    /// workers.
    static WORKER: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
    /// The executors that are spun on this thread, or for which it runs a callback as a caller,
    /// outermost first.
    static SPINNING: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// While this lives, the thread runs a callback.
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

/// Looks at the executors that this thread spins. `None` if the thread is ending: a static object of
/// another language, which is destroyed after the thread's own values, ends entities.
fn spinning<R>(look: impl FnOnce(&mut Vec<u64>) -> R) -> Option<R> {
    SPINNING.try_with(|spinning| look(&mut spinning.borrow_mut())).ok()
}

/// The state of this thread before it began to spin another executor.
pub(super) struct OuterSpin {
    worker: (u64, u32),
    tail: i64,
    published: i64,
}

/// Records that this thread spins the executor, as this worker. Returns the state before.
pub(super) fn begin(executor: u64, worker: u32) -> OuterSpin {
    spinning(|spinning| spinning.push(executor));
    let worker = WORKER.replace((executor, worker));
    CALLBACKS.with(|callbacks| OuterSpin {
        worker,
        tail: callbacks.tail.get(),
        published: callbacks.published.get(),
    })
}

/// Restores the state before the spin.
pub(super) fn end(outer: &OuterSpin) {
    WORKER.set(outer.worker);
    CALLBACKS.with(|callbacks| {
        callbacks.tail.set(outer.tail);
        callbacks.published.set(outer.published);
    });
    spinning(Vec::pop);
}

/// Returns this thread's number among the workers of the innermost executor that it spins; 0 if it
/// spins none.
pub(super) fn innermost() -> u32 {
    WORKER.get().1
}

/// While this lives, the thread runs a callback of an executor in place of one of its workers.
pub(crate) struct CallerScope(());

impl CallerScope {
    pub(crate) fn enter(executor: u64) -> Self {
        spinning(|spinning| spinning.push(executor));
        Self(())
    }
}

impl Drop for CallerScope {
    fn drop(&mut self) {
        spinning(Vec::pop);
    }
}

/// Returns this thread's number among the executor's workers, if this is the innermost executor
/// that it spins.
#[inline]
pub(crate) fn worker_of(executor: u64) -> Option<u32> {
    let (current, worker) = WORKER.get();
    (current == executor).then_some(worker)
}

/// Records that this thread is the worker of this executor's lane. Returns the executor of the lane
/// before.
pub(crate) fn enter_lane(executor: u64) -> u64 {
    CALLBACKS.with(|callbacks| callbacks.lane.replace(executor))
}

/// Whether this thread is the worker of this executor's lane, and runs a callback.
#[inline]
pub(super) fn fills_lane_of(executor: u64) -> bool {
    CALLBACKS.with(|callbacks| callbacks.lane.get() == executor && callbacks.depth.get() > 0)
}

/// Records that a worker begins a callback, and the nanoseconds for which it is expected to run
/// after it has published a message.
#[inline]
pub(crate) fn begin_with_tail(tail: i64) {
    CALLBACKS.with(|callbacks| {
        callbacks.tail.set(tail);
        callbacks.published.set(0);
    });
}

/// Returns the time for which this thread is expected to continue its callback; unknown for a
/// nested one.
#[inline]
pub(super) fn tail() -> i64 {
    CALLBACKS.with(|callbacks| if callbacks.depth.get() == 1 { callbacks.tail.get() } else { i64::MAX })
}

/// Records that this thread's callback has published a message for its executor at this time.
#[inline]
pub(super) fn note_published(at: i64) {
    CALLBACKS.with(|callbacks| callbacks.published.set(at));
}

/// Returns the time at which the worker's last callback last published a message for its executor;
/// 0 for never.
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

/// Adds the exclusive groups with tokens held by this thread, and the executors that it spins, or
/// for which it runs a callback as a caller.
pub(crate) fn hold(groups: &mut Vec<u64>, executors: &mut Vec<u64>) {
    running(|callbacks| {
        groups.extend(callbacks.iter().map(|callback| callback.get().1).filter(|&group| group != 0));
    });
    spinning(|spinning| executors.extend(&*spinning));
}

/// Returns the number of nested callbacks on this thread.
pub(crate) fn depth() -> usize {
    CALLBACKS.with(|callbacks| callbacks.depth.get())
}

/// Whether this thread spins the executor, or runs a callback for it as a caller.
#[inline]
pub(crate) fn spins(executor: u64) -> bool {
    // Mostly it is the innermost one.
    worker_of(executor).is_some() || is_among_spinning(executor)
}

#[inline(never)]
fn is_among_spinning(executor: u64) -> bool {
    spinning(|spinning| spinning.contains(&executor)).unwrap_or(false)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    /// A callback that spins another executor keeps its state: its own times count, not those of
    /// the callbacks that ran meanwhile.
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

    /// As static objects of C++ do it in their destructors.
    #[test]
    fn a_thread_that_is_ending_holds_no_executor() {
        struct Last(mpsc::Sender<(bool, Vec<u64>)>);
        impl Drop for Last {
            fn drop(&mut self) {
                let (mut groups, mut executors) = (Vec::new(), Vec::new());
                hold(&mut groups, &mut executors);
                let is_gone = SPINNING.try_with(|_| ()).is_err();
                let _ = self.0.send((is_gone, executors));
            }
        }
        thread_local! {
            static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
        }
        let (sender, receiver) = mpsc::channel();
        let ending = thread::spawn(move || {
            LAST.set(Some(Last(sender))); // the first one, so it is dropped last
            end(&begin(1, 0));
        });
        ending.join().unwrap();
        assert_eq!(receiver.recv(), Ok((true, vec![])));
    }
}
