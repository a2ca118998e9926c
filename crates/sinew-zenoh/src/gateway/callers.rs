//! Threads that make calls which must not hold up the gateway's thread.
//!
//! A call may run code of the program on the thread that makes it: a server's listener, which may
//! call over the network itself and wait, or the listener of a caller who is told that it fails.
//! And it may wait for a slow link. So each has a thread of its own, started for it, which goes on
//! with others that wait and ends when there are none. As clients of the network decide how many
//! calls there are, no more than [`MOST`] threads are there at a time; what comes then waits for
//! one of them.

use sinew::__private::locks::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Threads at a time. A chain of servers, each of which waits for the next one's answer on its
/// caller's thread, takes as many as it has links.
const MOST: usize = 32;

type Calls = Box<dyn FnOnce() + Send>;

/// Who makes calls aside, and what waits for that.
#[derive(Default)]
pub(super) struct Callers(Arc<Mutex<Work>>);

#[derive(Default)]
struct Work {
    waiting: VecDeque<Calls>,
    threads: usize,
}

impl Callers {
    /// Has a thread make these calls; this one, if none can be started.
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
    /// Also if one panics: another thread is started in its place.
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
                // Under the lock: what comes later finds one thread less.
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
        // One thread is left for all of these.
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
