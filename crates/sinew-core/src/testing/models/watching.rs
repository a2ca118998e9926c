//! Watching the graph: a change that comes while a thread or a task goes to sleep.

use super::check;
use crate::Duration;
use crate::sys::sync::{Arc, AtomicBool, Ordering};
use crate::topic::graph_changes::GraphChanges;
use loom::thread;
use std::task::{Wake, Waker};

const LONG: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

fn change(changes: &GraphChanges) {
    if changes.note() {
        changes.notify();
    }
}

/// A change ends the wait of a thread that is going to sleep.
///
/// Fails if a thread counts as waiting only after it has looked without the lock.
#[test]
fn a_thread_that_goes_to_sleep_sees_the_change() {
    check(3, || {
        let changes = Arc::new(GraphChanges::new());
        let seen = changes.count();
        let waiting = {
            let changes = changes.clone();
            thread::spawn(move || changes.wait(seen, || false, LONG))
        };
        change(&changes);
        assert_eq!(waiting.join().unwrap(), Some(seen + 1));
    });
}

/// Notes that it was woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed); // the model joins the thread
    }
}

/// A task that finds no change is woken by the next one.
///
/// Fails if its waker is stored after the lock was released.
#[test]
fn a_task_that_goes_to_sleep_is_woken() {
    check(3, || {
        let changes = Arc::new(GraphChanges::new());
        let (seen, woken) = (changes.count(), Arc::new(Woken(AtomicBool::new(false))));
        let changing = {
            let changes = changes.clone();
            thread::spawn(move || change(&changes))
        };
        let found = changes.poll(seen, 1, &Waker::from(woken.clone()));
        changing.join().unwrap();
        assert!(found == Some(seen + 1) || woken.0.load(Ordering::Relaxed));
    });
}
