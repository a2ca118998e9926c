//! Threads for calls that must not hold up the gateway's thread.
//!
//! A call may run code of the program on the calling thread: a server's listener, which may itself
//! call over the network and wait, or the listener of a caller when its call fails. It may also
//! wait for a slow link. So each call gets a thread of its own, which continues with waiting calls
//! and ends when there are none. As clients on the network determine the number of calls, at most
//! [`MOST`] threads exist at a time; further calls wait for one of them.

use sinew::__private::locks::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Limit of threads. A chain of servers, each of which waits for the next one's answer on its
/// caller's thread, takes as many threads as it has links.
const MOST: usize = 32;

type Calls = Box<dyn FnOnce() + Send>;

/// The threads that make calls, and the calls that wait for one.
#[derive(Default)]
pub(super) struct Callers(Arc<Mutex<Work>>);

#[derive(Default)]
struct Work {
    waiting: VecDeque<Calls>,
    threads: usize,
}

impl Callers {
    /// Makes these calls on another thread, or on the current one if no thread can be started.
    pub(super) fn make(&self, calls: impl FnOnce() + Send + 'static) {
        {
            let mut work = self.0.lock();
            work.waiting.push_back(Box::new(calls));
            if work.threads == MOST {
                return; // one of them takes it
            }
            work.threads += 1;
        }
        let work = self.0.clone();
        let run = move || work_off(&work);
        if std::thread::Builder::new().name("sinew-gw-call".to_owned()).spawn(run).is_err() {
            work_off(&self.0);
        }
    }
}

/// Makes calls until none wait.
fn work_off(work: &Mutex<Work>) {
    /// Counts the thread out even if a call panics: another thread is started in its place.
    struct Working<'a>(&'a Mutex<Work>);

    impl Drop for Working<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                self.0.lock().threads -= 1;
            }
        }
    }

    let _working = Working(work);
    loop {
        let next = {
            let mut work = work.lock();
            let next = work.waiting.pop_front();
            if next.is_none() {
                // Under the lock: later calls find one thread less.
                work.threads -= 1;
            }
            next
        };
        let Some(calls) = next else { return };
        calls();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::time::Time;
    use std::sync::mpsc;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn calls_that_wait_for_others_hold_up_none() {
        let callers = Callers::default();
        let (made, makes) = mpsc::channel();
        let (ends, blocked): (Vec<_>, Vec<_>) = (1..MOST).map(|_| mpsc::channel::<()>()).unzip();
        for end in blocked {
            let made = made.clone();
            callers.make(move || {
                let _ = end.recv();
                made.send("late").unwrap();
            });
        }
        // One thread is left for all these calls.
        for _ in 0..100 {
            let made = made.clone();
            callers.make(move || made.send("at once").unwrap());
        }
        let first: Vec<_> = (0..100).map(|_| makes.recv_timeout(PATIENCE).unwrap()).collect();
        assert!(first.iter().all(|made| *made == "at once"), "{first:?}");
        drop(ends);
        assert!((1..MOST).all(|_| makes.recv_timeout(PATIENCE) == Ok("late")));
    }

    #[test]
    fn no_more_threads_than_may_be_and_none_is_lost_by_a_panic() {
        let callers = Callers::default();
        let (made, makes) = mpsc::channel();
        for number in 0..3 * MOST {
            let made = made.clone();
            callers.make(move || {
                made.send(number).unwrap();
                assert!(number % 7 != 0, "unlucky");
            });
            assert!(callers.0.lock().threads <= MOST);
        }
        let mut numbers: Vec<_> = (0..3 * MOST).map(|_| makes.recv_timeout(PATIENCE).unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..3 * MOST).collect::<Vec<_>>());
        drop(made);
        let end = Time::steady() + PATIENCE;
        while callers.0.lock().threads > 0 {
            assert!(Time::steady() < end, "they end");
            std::thread::yield_now();
        }
    }
}
