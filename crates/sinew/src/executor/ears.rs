//! How an executor hears from other processes.
//!
//! For each context that it serves it has a [`Port`]. Its threads drain the ports before they look for work; what comes enters the
//! histories, and so the ready queue, as if it had been published here. One of the threads that have nothing to do has the *post*: it
//! sleeps on the ports' bell in shared memory instead of its condition variable, and whoever calls it rings that bell.
//!
//! The post is taken under the scheduler's mutex, before the mutex is let go (P1 of the scheduler); the bell's value is read then, so a
//! call that comes after it, which also is made under the mutex, ends the sleep or keeps it from beginning.

use crate::clock::Time;
use crate::outside::Outside;
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, Ordering};
use sinew_shm::Port;
use std::sync::Weak;
use std::time::Duration;

/// How long an executor sleeps at most whose ports have no common bell: it serves contexts of different directories.
const FALLBACK: Duration = Duration::from_millis(1);

/// How many looks at the ports between two looks at the clock.
const LOOKS: u32 = 16;

/// What an executor hears from other processes.
#[derive(Default)]
pub(crate) struct Ears {
    any: AtomicBool,
    ports: Mutex<Arc<Vec<Ear>>>,
    /// Held by who brings in what has come. One at a time: two would mix up the order of what came.
    draining: Mutex<()>,
    /// 1 + the worker that has the post; 0 for nobody.
    post: AtomicU64,
    /// Nanoseconds that whoever has the post stays awake before it sleeps.
    patience: AtomicU64,
}

/// A port, and whose it is.
#[derive(Clone)]
struct Ear {
    port: Arc<Port>,
    outside: Weak<Outside>,
}

impl Ears {
    /// The port for a context, made when it is first asked for; and whether it was made now: then whoever sleeps is to be called.
    pub(crate) fn port(&self, outside: &Arc<Outside>) -> Option<(Arc<Port>, bool)> {
        let participant = outside.participant()?;
        let mut ports = self.ports.lock();
        if let Some(ear) = ports.iter().find(|ear| Arc::ptr_eq(ear.port.participant(), participant)) {
            return Some((ear.port.clone(), false));
        }
        let beside = ports.first().map(|ear| &*ear.port);
        let port = Port::new(participant, beside)
            .inspect_err(|error| log::error!("an executor can't hear other processes by itself: {error}"))
            .ok()?;
        let mut all: Vec<Ear> = ports.iter().filter(|ear| ear.outside.strong_count() > 0).cloned().collect();
        all.push(Ear { port: port.clone(), outside: Arc::downgrade(outside) });
        *ports = Arc::new(all);
        drop(ports);
        self.any.store(true, Ordering::Relaxed); // whoever sleeps without having seen it is called by our caller
        self.call_anybody();
        Some((port, true))
    }

    /// Others are to hear for this executor from now on.
    pub(crate) fn give_up(&self) {
        let ports = std::mem::take(&mut *self.ports.lock());
        self.any.store(false, Ordering::Relaxed); // a look too many finds nothing
        if let Some(first) = ports.first() {
            first.port.ring(); // whoever sleeps there is to sleep where it is called from now on
        }
        for ear in ports.iter() {
            if let Some(outside) = ear.outside.upgrade() {
                outside.retune_all();
            }
        }
    }

    /// How long to stay awake before sleeping.
    pub(crate) fn set_patience(&self, patience: Duration) {
        let nanoseconds = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        self.patience.store(nanoseconds, Ordering::Relaxed); // read by whoever takes the post next
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_nanos(self.patience.load(Ordering::Relaxed)) // set before anybody sleeps
    }

    /// Brings in what has come, and says whether something may have. Not under the scheduler's mutex.
    #[inline]
    pub(crate) fn listen(&self) -> bool {
        // Relaxed: a port that was just made has nothing yet; who makes it drains.
        let any = self.any.load(Ordering::Relaxed);
        if any {
            self.drain();
        }
        any
    }

    #[inline(never)]
    fn drain(&self) {
        // Whoever is at it brings in everything, or leaves it pending, which keeps others from sleeping.
        let Some(_alone) = self.draining.try_lock() else { return };
        let ports = self.ports.lock().clone();
        for ear in ports.iter() {
            ear.port.drain();
        }
    }

    /// Makes this worker the one that sleeps on the bell, if nobody is and there is one. Under the scheduler's mutex.
    pub(crate) fn take_post(&self, worker: u32) -> Option<Post<'_>> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        // Relaxed: changed under the scheduler's mutex, but for giving the post up.
        if self.post.load(Ordering::Relaxed) != 0 {
            return None;
        }
        let ports = self.ports.lock().clone();
        let seen = ports.first()?.port.bell(); // K1
        // SeqCst: pairs with the load in `call`; see there.
        self.post.store(u64::from(worker) + 1, Ordering::SeqCst);
        Some(Post { ears: self, ports, seen })
    }

    /// The worker was called: if it has the post, the bell is rung for it.
    #[inline]
    pub(crate) fn call(&self, worker: u32) {
        // SeqCst: a worker that took the post before it was called is seen; it was called under the mutex under which it took it.
        if self.any.load(Ordering::Relaxed) && self.post.load(Ordering::SeqCst) == u64::from(worker) + 1 {
            self.call_anybody();
        }
    }

    /// Whoever has the post looks.
    pub(crate) fn call_anybody(&self) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let ports = self.ports.lock().clone();
        if let Some(first) = ports.first() {
            first.port.ring();
        }
    }
}

/// The place on the bell, until it is dropped.
pub(crate) struct Post<'a> {
    ears: &'a Ears,
    ports: Arc<Vec<Ear>>,
    seen: u32,
}

impl Post<'_> {
    /// Sleeps until somebody calls or something came, which is brought in then.
    pub(crate) fn sleep(self, timeout: Option<Duration>) {
        let Some(first) = self.ports.first() else { return };
        let is_pending = || self.ports.iter().any(|ear| ear.port.is_pending());
        if !self.stay_awake(timeout) {
            self.ports.iter().for_each(|ear| ear.port.park()); // K2
            if !is_pending() {
                let one_bell = self.ports.iter().all(|ear| ear.port.sleeps_with(&first.port));
                let timeout = if one_bell { timeout } else { timeout.into_iter().chain([FALLBACK]).min() };
                first.port.sleep(self.seen, timeout); // K3
            }
            self.ports.iter().for_each(|ear| ear.port.unpark());
        }
        let ears = self.ears;
        drop(self);
        ears.drain();
    }

    /// Looks for a while without sleeping, if it is to. True if something came.
    fn stay_awake(&self, timeout: Option<Duration>) -> bool {
        let patience = Duration::from_nanos(self.ears.patience.load(Ordering::Relaxed));
        let patience = timeout.into_iter().chain([patience]).min().unwrap_or(patience);
        if patience.is_zero() {
            return false;
        }
        let Some(first) = self.ports.first() else { return false };
        let end = Time::steady() + patience;
        loop {
            for _ in 0..LOOKS {
                if self.ports.iter().any(|ear| ear.port.is_pending()) || first.port.bell() != self.seen {
                    return true;
                }
                std::hint::spin_loop();
            }
            if Time::steady() >= end {
                return false;
            }
        }
    }
}

impl Drop for Post<'_> {
    fn drop(&mut self) {
        self.ears.post.store(0, Ordering::SeqCst); // as in `take_post`
    }
}
