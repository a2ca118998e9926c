//! Sleeping until another thread calls: a worker of an executor, the timers' thread, a thread that
//! waits for an answer.
//!
//! One thread at a time parks; any thread may call it. A call that comes before the sleep is kept,
//! and ends the next one. So the thread first checks what it waits for and then parks, under no
//! lock. Two calls count as one. A sleep may end early: the thread checks again.
//!
//! # The word
//!
//! | value | state of the thread |
//! |---|---|
//! | [`AWAKE`] | awake, not called |
//! | [`ASLEEP`] | asleep on the word, or about to sleep |
//! | [`AT_BELL`] | asleep, or about to sleep, on a [`Bell`], which other processes ring as well |
//! | [`CALLED`] | called, and hasn't noticed |
//!
//! # Sync points
//!
//! - U1 [`unpark`](Parker::unpark): the word becomes [`CALLED`]. If it was [`ASLEEP`], the word is
//!   woken; if it was [`AT_BELL`], the bell is rung.
//! - U2 [`park`](Parker::park): from [`AWAKE`] to [`ASLEEP`], then sleeps while the word has that
//!   value. If it is [`CALLED`], there is no sleep.
//! - U3 [`park_at`](Parker::park_at): the bell's value is read, *then* the word goes from [`AWAKE`]
//!   to [`AT_BELL`]; then sleeps while the bell has that value.
//! - U4 the word becomes [`AWAKE`]: the thread has noticed.
//!
//! A call is either before U2 or U3 in the word's order, and there is no sleep; or after, and it
//! changes the value that the sleep depends on: the word, or the bell, which was read before U3.

use super::sync::{Arc, AtomicU32, Mutex, Ordering};
use std::time::Duration;

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const AT_BELL: u32 = 2;
const CALLED: u32 = 3;

/// A word in shared memory that a thread may sleep on.
pub(crate) trait Bell: Send + Sync {
    /// Returns the value that a ring changes.
    fn value(&self) -> u32;

    /// Changes the value, and wakes the threads that sleep on it.
    fn ring(&self);
}

/// The place where a thread sleeps and is called. See the module's documentation.
pub(crate) struct Parker {
    word: Word,
    /// The bell of the last sleep on one. Set before U3 by the thread that sleeps, read after U1.
    bell: Mutex<Option<Arc<dyn Bell>>>,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self { word: Word::new(), bell: Mutex::new(None) }
    }

    /// U1: ends the thread's sleep, or its next one. The caller holds no lock.
    pub(crate) fn unpark(&self) {
        // AcqRel: pairs with U4, and carries the caller's earlier writes; and with U3, which
        // carries the bell.
        match self.word.value.swap(CALLED, Ordering::AcqRel) {
            ASLEEP => self.word.wake(),
            AT_BELL => {
                let bell = self.bell.lock().clone();
                if let Some(bell) = bell {
                    bell.ring();
                }
            }
            _ => {} // it will see the call
        }
    }

    /// Sleeps until the thread is called, at most for `timeout`, or forever without one. May return
    /// early.
    pub(crate) fn park(&self, timeout: Option<Duration>) {
        if self.leave(ASLEEP) {
            self.word.sleep(ASLEEP, timeout);
            self.take_call();
        }
    }

    /// The same on a bell. `sleep` sleeps while the bell has the value passed to it, or returns.
    pub(crate) fn park_at<B: Bell + 'static>(&self, bell: &Arc<B>, sleep: impl FnOnce(u32)) {
        *self.bell.lock() = Some(bell.clone());
        let seen = bell.value();
        if self.leave(AT_BELL) {
            sleep(seen);
            self.take_call();
        }
    }

    /// U2, U3: returns `false` if the thread was called, which it has now noticed.
    fn leave(&self, to: u32) -> bool {
        // Release: carries the bell to U1. Relaxed: U4 follows.
        let left = self.word.value.compare_exchange(AWAKE, to, Ordering::Release, Ordering::Relaxed);
        left.is_ok() || !self.take_call()
    }

    /// U4: whether the thread was called.
    pub(crate) fn take_call(&self) -> bool {
        // Acquire: pairs with U1.
        self.word.value.swap(AWAKE, Ordering::Acquire) == CALLED
    }

    /// Whether the thread was called and hasn't noticed.
    #[inline]
    pub(crate) fn is_called(&self) -> bool {
        self.word.value.load(Ordering::Relaxed) == CALLED // orders nothing: U4 follows
    }
}

/// A word that one thread sleeps on, through the kernel.
#[cfg(not(loom))]
struct Word {
    value: AtomicU32,
}

#[cfg(not(loom))]
impl Word {
    fn new() -> Self {
        Self { value: AtomicU32::new(AWAKE) }
    }

    fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        use rustix::thread::futex;
        let timeout = timeout.map(super::clock::timespec);
        // Every error means: check again (the word changed, a signal came, the time is over).
        let _ = futex::wait(&self.value, futex::Flags::PRIVATE, seen, timeout.as_ref());
    }

    fn wake(&self) {
        use rustix::thread::futex;
        let _ = futex::wake(&self.value, futex::Flags::PRIVATE, 1); // can't fail for a valid address
    }
}

/// The same with loom's types. No sleep ends by itself.
#[cfg(loom)]
struct Word {
    value: AtomicU32,
    sleeper: (Mutex<()>, super::sync::Condvar),
}

#[cfg(loom)]
impl Word {
    fn new() -> Self {
        Self { value: AtomicU32::new(AWAKE), sleeper: (Mutex::new(()), super::sync::Condvar::new()) }
    }

    fn sleep(&self, seen: u32, _timeout: Option<Duration>) {
        let mut asleep = self.sleeper.0.lock();
        while self.value.load(Ordering::Relaxed) == seen {
            self.sleeper.1.wait_at_most(&mut asleep, None);
        }
    }

    fn wake(&self) {
        let _asleep = self.sleeper.0.lock();
        self.sleeper.1.notify_all();
    }
}
