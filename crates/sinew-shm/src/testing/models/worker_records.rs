//! A1-A3: a process that reads what a thread is running never sees it as running for too long.

use super::check;
use crate::inspect::workers::{begin, look};
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use loom::thread;

/// A callback is never seen with a time from before it.
///
/// Fails if A2 or A3 is relaxed, or if A2 comes before A1.
#[test]
fn a_callback_is_no_older_than_its_time() {
    check(3, || {
        let words = Arc::new([0; 2].map(AtomicU64::new));
        let [running, since] = &*words;
        begin(running, since, 1, 10);
        let theirs = words.clone();
        let reader = thread::spawn(move || {
            let (task, since) = look(&theirs[0], &theirs[1]);
            let earliest = [0, 10, 20][usize::try_from(task).expect("one of them")];
            assert!(since >= earliest, "task {task} since {since}");
        });
        running.store(0, Ordering::Release); // as `Worker::rest`
        begin(running, since, 2, 20);
        reader.join().expect("it sees no other");
    });
}
