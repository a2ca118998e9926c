//! U1-U4: a thread that sleeps until it is called, on its own word or on a bell.

use super::{Probe, check};
use crate::sys::parker::{Bell, Parker};
use crate::sys::sync::{Arc, AtomicU32, Condvar, Mutex, Ordering};
use loom::thread;

/// A bell like those in shared memory: a word, and the kernel's list of threads that sleep on it.
#[derive(Default)]
struct Word {
    value: AtomicU32,
    asleep: Mutex<()>,
    woken: Condvar,
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl Bell for Word {
    fn value(&self) -> u32 {
        self.value.load(Ordering::Acquire)
    }

    fn ring(&self) {
        self.value.fetch_add(1, Ordering::Release);
        let _asleep = self.asleep.lock();
        self.woken.notify_all();
    }
}

impl Word {
    fn sleep(&self, seen: u32) {
        let mut asleep = self.asleep.lock();
        while self.value.load(Ordering::Acquire) == seen {
            self.woken.wait_at_most(&mut asleep, None);
        }
    }
}

/// A call that comes before, while or after the thread goes to sleep ends the sleep, and carries
/// everything done before it.
///
/// Fails if U1 wakes no thread, if U2 doesn't check whether the thread was called, or if U1 or U4
/// is relaxed.
#[test]
fn a_call_ends_the_sleep() {
    check(6, || {
        let (parker, probe) = (Arc::new(Parker::new()), Arc::new(Probe::new(0)));
        let (there, written) = (parker.clone(), probe.clone());
        let thread = thread::spawn(move || {
            written.write(7);
            there.unpark();
        });
        parker.park(None);
        assert_eq!(probe.read(), 7);
        thread.join().unwrap();
    });
}

/// Two calls by two threads, with work for each: none is slept over. The thread checks, then parks.
///
/// Fails if U4 takes a call without the thread checking again.
#[test]
fn two_calls_are_not_slept_over() {
    check(4, || {
        let (parker, left) = (Arc::new(Parker::new()), Arc::new(AtomicU32::new(2)));
        let threads = [(); 2].map(|()| {
            let (there, left) = (parker.clone(), left.clone());
            thread::spawn(move || {
                left.fetch_sub(1, Ordering::Relaxed);
                there.unpark();
            })
        });
        while left.load(Ordering::Relaxed) > 0 {
            parker.park(None);
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A thread that sleeps at a bell is called, and another thread rings the bell; then the first
/// thread sleeps on its own word, and is called again.
///
/// Fails if U3 reads the bell's value after the word has changed, if U1 rings no bell, or if the
/// thread doesn't set the bell before U3.
#[test]
fn a_call_ends_a_sleep_on_a_bell() {
    check(4, || {
        let (parker, bell) = (Arc::new(Parker::new()), Arc::new(Word::default()));
        let called = Arc::new(AtomicU32::new(0));
        let (there, calls) = (parker.clone(), called.clone());
        let caller = thread::spawn(move || {
            for _ in 0..2 {
                calls.fetch_add(1, Ordering::Relaxed);
                there.unpark();
            }
        });
        let remote = bell.clone();
        let writer = thread::spawn(move || remote.ring());
        while called.load(Ordering::Relaxed) == 0 {
            parker.park_at(&bell, |seen| bell.sleep(seen));
        }
        while called.load(Ordering::Relaxed) < 2 {
            parker.park(None);
        }
        caller.join().unwrap();
        writer.join().unwrap();
    });
}
