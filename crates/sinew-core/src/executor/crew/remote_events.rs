//! Receiving from other processes, for an executor.
//!
//! For each context that it serves, an executor has a port ([`EventReceiver`]). Its threads drain
//! the ports before they look for work; messages enter the histories, and so the ready queue, as if
//! they had been published here. One of the idle threads is the *poller*: it parks at the ports'
//! bell in shared memory ([`Parker::park_at`]). Threads that call it needn't know that.
//!
//! The poller begins under the scheduler's mutex, before it releases the mutex (P1 of the
//! scheduler), with the ports at that time. A thread that adds a port later calls it
//! (`Scheduler::port`).
//!
//! A poller that finds work ends. If that work may take longer than a wake-up, or waits, another
//! worker is called to poll. If the work takes longer unexpectedly, the monitor finds that no
//! worker polls (`wake_policy`).
//!
//! # One bell
//!
//! A thread sleeps on one word. The ports of participants in one directory share a bell, but not
//! with another directory. So an executor itself receives only in the directory of its first
//! context; for contexts in other directories their receiving threads do, and announce messages
//! like any other thread. The bell is that of the first context; when that leaves, the others get a
//! new one ([`RemoteEvents::renew_bell`]).
//!
//! # One drain at a time
//!
//! A drain goes from connection to connection. During a drain, a later message of one connection
//! may be in the ready queue, and an earlier message of another connection not yet. So no thread
//! takes work then: the others wait until the drain is over.
//!
//! - D1 `drain`: `progress` from [`IDLE`] to [`RUNS`], before it brings messages in, for which it
//!   takes the scheduler's mutex.
//! - D2 [`is_drained_by_another`](RemoteEvents::is_drained_by_another), under the scheduler's
//!   mutex: a thread that finds a task in the queue that a drain made ready sees D1 of that drain,
//!   or D4, and then all of its messages are there.
//! - D3 [`wait_for_drain`](RemoteEvents::wait_for_drain): `progress` from [`RUNS`] to [`AWAITED`]
//!   under `draining`, then sleeps.
//! - D4 `Drain::drop`: `progress` to [`IDLE`]; if it was [`AWAITED`], all are woken, under
//!   `draining`: the thread that set it sleeps by then.
//!
//! Filters and listeners run in a drain and may do anything. So a thread that is itself in a drain,
//! of any executor, never waits (two might wait for each other), and no thread waits for longer
//! than [`LONGEST_WAIT`]. After that time it takes the work that is there.

use crate::sys::clock::Time;
use crate::sys::logging::{Level, later, log_line};
use crate::sys::parker::{Bell, Parker};
use crate::sys::sync::{Arc, AtomicBool, AtomicU64, Condvar, Mutex, Ordering};
use sinew_shm::transport::{EventReceiver, Participant};
use std::cell::Cell;
use std::sync::Weak;
use std::time::Duration;

/// Number of looks at the ports between two readings of the clock.
const LOOKS: u32 = 16;

/// Maximum time that a worker waits for another one's drain. A filter that takes longer, or waits
/// for a callback of this executor, disturbs the order of the delayed messages, but stops no work.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// No thread drains.
const IDLE: u64 = 0;
/// A thread does.
const RUNS: u64 = 1;
/// A thread drains, and others wait for it.
const AWAITED: u64 = 2;

thread_local! {
    /// Whether this thread is in a drain.
    static DRAINS: Cell<bool> = const { Cell::new(false) };
}

/// The ports of an executor, and the thread that polls them.
pub(crate) struct RemoteEvents {
    any: AtomicBool,
    ports: Mutex<Arc<Vec<EventPort>>>,
    /// Whether a thread drains. One at a time: two would mix up the order of the messages.
    progress: AtomicU64,
    /// Taken by a thread that waits for a drain, and by one that ends a drain for which others
    /// wait.
    draining: Mutex<()>,
    over: Condvar,
    /// 1 + the worker that polls; 0 for none.
    poller: AtomicU64,
    /// Nanoseconds that the poller stays awake before it sleeps.
    patience: AtomicU64,
}

/// A context's presence among the processes of the machine, as an executor sees it.
pub(crate) trait Presence: Send + Sync {
    /// Returns the participant; `None` before it has joined.
    fn participant(&self) -> Option<&Arc<Participant>>;

    /// Makes every endpoint ask again for its port, after the executors of its endpoints changed.
    fn retune_all(&self);
}

/// A port and its presence.
#[derive(Clone)]
struct EventPort {
    port: Arc<EventReceiver>,
    presence: Weak<dyn Presence>,
}

impl Default for RemoteEvents {
    fn default() -> Self {
        Self {
            any: AtomicBool::new(false),
            ports: Mutex::default(),
            progress: AtomicU64::new(IDLE),
            draining: Mutex::default(),
            over: Condvar::new(),
            poller: AtomicU64::new(0),
            patience: AtomicU64::new(0),
        }
    }
}

impl RemoteEvents {
    /// Returns the port for a context, created by the first call, and whether this call created it:
    /// then the caller calls the poller. `None` if this executor doesn't receive for the context.
    pub(crate) fn port(&self, presence: &Arc<dyn Presence>) -> Option<(Arc<EventReceiver>, bool)> {
        later(|| self.find_port(presence))
    }

    fn find_port(&self, presence: &Arc<dyn Presence>) -> Option<(Arc<EventReceiver>, bool)> {
        let participant = presence.participant()?;
        let mut ports = self.ports.lock();
        if let Some(ear) = ports.iter().find(|ear| ear.port.participant() == participant.id()) {
            return Some((ear.port.clone(), false));
        }
        let mut all: Vec<EventPort> =
            ports.iter().filter(|ear| ear.presence.strong_count() > 0).cloned().collect();
        let beside = all.first().map(|ear| &*ear.port);
        if beside.is_some_and(|beside| !beside.is_in(participant.domain())) {
            return None;
        }
        let port = participant
            .port(beside)
            .inspect_err(|error| {
                log_line!(Level::Error, "an executor can't receive from other processes by itself: {error}")
            })
            .ok()?;
        all.push(EventPort { port: port.clone(), presence: Arc::downgrade(presence) });
        *ports = Arc::new(all);
        // Relaxed: the caller of this function calls a worker that sleeps without having seen it.
        // Written under the lock, as in `give_up`: if two threads change it at once, the second
        // one's ports stay.
        self.any.store(true, Ordering::Relaxed);
        drop(ports);
        Some((port, true))
    }

    /// Removes all ports: other threads receive for this executor from now on.
    pub(crate) fn give_up(&self) {
        let mut all = self.ports.lock();
        let ports = std::mem::take(&mut *all);
        self.any.store(false, Ordering::Relaxed); // an unneeded look finds nothing
        drop(all);
        for ear in ports.iter() {
            if let Some(presence) = ear.presence.upgrade() {
                presence.retune_all();
            }
        }
    }

    /// Handles the end of a context. If this executor sleeps at that context's bell, the others get
    /// another bell: new participants can't ring that one.
    pub(crate) fn renew_bell(&self) {
        let has_gone = self.ports.lock().first().is_some_and(|ear| ear.port.check().is_err());
        if has_gone {
            self.give_up(); // each asks for a port again
        }
    }

    /// Sets the time for which the poller stays awake before it sleeps.
    pub(crate) fn set_patience(&self, patience: Duration) {
        let nanoseconds = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        self.patience.store(nanoseconds, Ordering::Relaxed); // read by the next poller
    }

    /// Whether there are ports.
    #[inline]
    pub(crate) fn has_ports(&self) -> bool {
        // Relaxed: a port that was just made has nothing yet; the thread that makes it drains.
        self.any.load(Ordering::Relaxed)
    }

    /// Drains the ports, or waits for another worker that does. The caller doesn't hold the
    /// scheduler's mutex.
    #[inline]
    pub(crate) fn listen(&self) {
        if self.has_ports() {
            self.drain();
        }
    }

    #[inline(never)]
    fn drain(&self) {
        let Some(drain) = self.begin_drain() else {
            // The draining thread brings in everything, or leaves it pending, which keeps others
            // from sleeping.
            self.wait_for_drain();
            return;
        };
        let ports = self.ports.lock().clone();
        for ear in ports.iter() {
            ear.port.drain();
        }
        drop(drain);
    }

    /// D1.
    pub(crate) fn begin_drain(&self) -> Option<Drain<'_>> {
        // Acquire: pairs with D4, so that one drain happens after the other. Relaxed on failure: no
        // drain begins.
        self.progress.compare_exchange(IDLE, RUNS, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let nested = DRAINS.try_with(|drains| drains.replace(true)).unwrap_or(false);
        Some(Drain { remote_events: self, nested })
    }

    /// D2: whether an older message may still be on its way in, so that the ready queue is
    /// incomplete. The caller holds the scheduler's mutex.
    #[inline]
    pub(crate) fn is_drained_by_another(&self) -> bool {
        // Relaxed: the draining thread wrote it before it took the mutex.
        self.progress.load(Ordering::Relaxed) != IDLE && !is_in_drain()
    }

    /// D3: sleeps until the current drain is over. Returns `false` if that takes too long, or this
    /// thread is in a drain. The caller doesn't hold the scheduler's mutex.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_drain(&self) -> bool {
        if is_in_drain() {
            return false;
        }
        let end = Time::steady() + LONGEST_WAIT;
        let mut draining = self.draining.lock();
        // Relaxed: D4 takes the lock if it sees this value, and if D4 came before, there is nothing
        // to wait for.
        while self.progress.compare_exchange(RUNS, AWAITED, Ordering::Relaxed, Ordering::Relaxed) != Err(IDLE)
        {
            let left = end - Time::steady();
            if left.is_zero() {
                return false;
            }
            self.over.wait_at_most(&mut draining, Some(left));
        }
        true
    }

    /// Whether no thread would notice a message that comes now. The caller holds the scheduler's
    /// mutex.
    #[inline]
    pub(crate) fn have_no_poller(&self) -> bool {
        // Relaxed: the poller begins under that mutex, and looks once more when it ends.
        self.any.load(Ordering::Relaxed) && self.poller.load(Ordering::Relaxed) == 0
    }

    /// Returns the worker that polls. The caller holds the scheduler's mutex.
    pub(crate) fn poller(&self) -> Option<u32> {
        // Relaxed: as in `become_poller`.
        u32::try_from(self.poller.load(Ordering::Relaxed).checked_sub(1)?).ok()
    }

    /// Makes this worker the poller, if there is a bell and no other poller. The caller holds the
    /// scheduler's mutex.
    pub(crate) fn become_poller(&self, worker: u32) -> Option<Poller<'_>> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        // Relaxed: written under the scheduler's mutex, except at the poller's end.
        if self.poller.load(Ordering::Relaxed) != 0 {
            return None;
        }
        let ports = self.ports.lock().clone();
        ports.first()?;
        self.poller.store(u64::from(worker) + 1, Ordering::Relaxed);
        Some(Poller { remote_events: self, ports })
    }
}

impl Bell for EventReceiver {
    fn value(&self) -> u32 {
        self.bell() // K1
    }

    fn ring(&self) {
        self.ring();
    }
}

/// Whether this thread is in a drain.
fn is_in_drain() -> bool {
    DRAINS.try_with(Cell::get).unwrap_or(false)
}

/// A drain, which ends when this is dropped, even by a filter that panics.
pub(crate) struct Drain<'a> {
    remote_events: &'a RemoteEvents,
    /// Whether it is inside another drain: of another executor, which a filter or listener spins.
    nested: bool,
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        let _ = DRAINS.try_with(|drains| drains.set(self.nested));
        // D4: Release; pairs with D1.
        if self.remote_events.progress.swap(IDLE, Ordering::Release) == AWAITED {
            let draining = self.remote_events.draining.lock();
            self.remote_events.over.notify_all();
            drop(draining);
        }
    }
}

/// The poller's place at the bell, until this is dropped.
pub(crate) struct Poller<'a> {
    remote_events: &'a RemoteEvents,
    ports: Arc<Vec<EventPort>>,
}

impl Poller<'_> {
    /// Waits until a message has come, or until the parked worker is called. If so configured, the
    /// worker first stays awake for a while; before it sleeps it calls `falls_asleep`.
    pub(crate) fn wait(&self, parker: &Parker, timeout: Option<Duration>, falls_asleep: impl FnOnce()) {
        if !self.stay_awake(parker, timeout) {
            falls_asleep();
            self.sleep(parker, timeout);
        }
    }

    /// Drains the ports, and ends the polling.
    pub(crate) fn end(self) {
        let remote_events = self.remote_events;
        drop(self);
        remote_events.drain();
    }

    /// Whether a message has come.
    pub(crate) fn is_pending(&self) -> bool {
        self.ports.iter().any(|ear| ear.port.is_pending())
    }

    fn sleep(&self, parker: &Parker, timeout: Option<Duration>) {
        let Some(first) = self.ports.first() else { return };
        parker.park_at(&first.port, |seen| {
            self.ports.iter().for_each(|ear| ear.port.park()); // K2
            if !self.is_pending() {
                first.port.sleep(seen, timeout); // K3
            }
            self.ports.iter().for_each(|ear| ear.port.unpark());
        });
    }

    /// Looks for a while without sleeping, if so configured. Returns whether there is a reason to
    /// stay awake.
    fn stay_awake(&self, parker: &Parker, timeout: Option<Duration>) -> bool {
        let patience = Duration::from_nanos(self.remote_events.patience.load(Ordering::Relaxed));
        let patience = timeout.into_iter().chain([patience]).min().unwrap_or(patience);
        if patience.is_zero() {
            return false;
        }
        let end = Time::steady() + patience;
        while Time::steady() < end {
            for _ in 0..LOOKS {
                if self.is_pending() || parker.is_called() && parker.take_call() {
                    return true;
                }
                std::hint::spin_loop();
            }
        }
        false
    }
}

impl Drop for Poller<'_> {
    fn drop(&mut self) {
        self.remote_events.poller.store(0, Ordering::Relaxed); // this worker looks once more afterwards
    }
}
