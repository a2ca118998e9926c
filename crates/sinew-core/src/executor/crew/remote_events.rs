//! How an executor hears from other processes.
//!
//! For each context that it serves it has a [`EventReceiver`]. Its threads drain the ports before
//! they look for work; what comes enters the histories, and so the ready queue, as if it had been
//! published here. One of the threads that have nothing to do is the *poller*: it parks at the
//! ports' bell in shared memory ([`Parker::park_at`]). Threads that call it needn't know.
//!
//! The poller begins under the scheduler's mutex, before the mutex is let go (P1 of the scheduler),
//! with the ports that there are then. One that comes later calls it (`Scheduler::port`).
//!
//! A poller that finds work ends. If that work may take longer than a wake-up, or waits for
//! something, another worker is called to poll; else the monitor finds that none does
//! (`wake_policy`), should it take longer all the same.
//!
//! # One bell
//!
//! A thread sleeps on one word. The ports of participants of one directory have one bell; those of
//! another directory can't. So an executor hears by itself in the directory of the first of its
//! contexts; for contexts elsewhere their receiving thread hears, and announces what comes as any
//! other thread does. The bell is that of the first context; when that leaves, the others get a new
//! one ([`RemoteEvents::renew_bell`]).
//!
//! # One drain at a time
//!
//! A drain goes from connection to connection, so in the middle of it what came later on one may be
//! in the ready queue, and what came earlier on another not yet. No thread takes work then: the
//! others wait until it is over.
//!
//! - D1 `drain`: `progress` from [`IDLE`] to [`RUNS`], before anything is brought in, which takes
//!   the scheduler's mutex.
//! - D2 [`is_drained_by_another`](RemoteEvents::is_drained_by_another), under the scheduler's
//!   mutex: a thread that finds something in the queue that a drain brought in sees D1 of that
//!   drain, or D4, and then all of it is there.
//! - D3 [`wait_for_drain`](RemoteEvents::wait_for_drain): `progress` from [`RUNS`] to [`AWAITED`]
//!   under `draining`, then sleeps.
//! - D4 `Drain::drop`: `progress` to [`IDLE`]; if it was [`AWAITED`], all are woken, under
//!   `draining`: the thread that set it sleeps by then.
//!
//! Filters and listeners run in a drain and may do anything: so a thread that is in a drain itself,
//! of whichever executor, never waits (two might wait for each other), and no thread waits for
//! longer than [`LONGEST_WAIT`]. One that has waited that long takes what there is.

use crate::executor::prefetch;
use crate::sys::clock::Time;
use crate::sys::logging::{Level, later, tell};
use crate::sys::parker::{Bell, Parker};
use crate::sys::sync::{Arc, AtomicBool, AtomicU64, Condvar, Mutex, Ordering};
use sinew_shm::transport::{EventReceiver, Participant};
use std::cell::Cell;
use std::sync::Weak;
use std::time::Duration;

/// How many looks at the ports between two looks at the clock.
const LOOKS: u32 = 16;

/// How long a worker waits for what another one brings in. A filter that takes longer, or waits for
/// a callback of this executor, costs the order of what it holds up, not the work.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// No thread brings anything in.
const IDLE: u64 = 0;
/// A thread does.
const RUNS: u64 = 1;
/// A thread does, and others wait for it.
const AWAITED: u64 = 2;

thread_local! {
    /// This thread is in a drain.
    static DRAINS: Cell<bool> = const { Cell::new(false) };
}

/// What an executor hears from other processes.
pub(crate) struct RemoteEvents {
    any: AtomicBool,
    ports: Mutex<Arc<Vec<EventPort>>>,
    /// Whether a thread brings in what has come. One at a time: two would mix up the order of what
    /// came.
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

/// A context's presence among the processes of the machine, as far as an executor knows of it.
pub(crate) trait Presence: Send + Sync {
    /// None before it has joined.
    fn participant(&self) -> Option<&Arc<Participant>>;

    /// Executors of its ends have changed: each asks anew where it is to be heard.
    fn retune_all(&self);
}

/// A port, and the presence that it belongs to.
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
    /// The port for a context, made when it is first asked for; and whether it was made now: then
    /// the poller is to be called. `None`: this executor doesn't hear for it.
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
                tell!(Level::Error, "an executor can't hear other processes by itself: {error}")
            })
            .ok()?;
        all.push(EventPort { port: port.clone(), presence: Arc::downgrade(presence) });
        *ports = Arc::new(all);
        // Relaxed: our caller calls a worker that sleeps without having seen it. Under the lock, as
        // in `give_up`: of two threads that change it at once, the second one's ports stay.
        self.any.store(true, Ordering::Relaxed);
        drop(ports);
        Some((port, true))
    }

    /// Others are to hear for this executor from now on.
    pub(crate) fn give_up(&self) {
        let mut all = self.ports.lock();
        let ports = std::mem::take(&mut *all);
        self.any.store(false, Ordering::Relaxed); // a look too many finds nothing
        drop(all);
        for ear in ports.iter() {
            if let Some(presence) = ear.presence.upgrade() {
                presence.retune_all();
            }
        }
    }

    /// A context has left. If it was the one at whose bell this executor sleeps, the others get
    /// another bell: participants that come now can't ring that one.
    pub(crate) fn renew_bell(&self) {
        let has_gone = self.ports.lock().first().is_some_and(|ear| ear.port.check().is_err());
        if has_gone {
            self.give_up(); // each asks for a port again
        }
    }

    /// How long to stay awake before sleeping.
    pub(crate) fn set_patience(&self, patience: Duration) {
        let nanoseconds = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        self.patience.store(nanoseconds, Ordering::Relaxed); // read by the next poller
    }

    /// Whether anything could come.
    #[inline]
    pub(crate) fn has_ports(&self) -> bool {
        // Relaxed: a port that was just made has nothing yet; the thread that makes it drains.
        self.any.load(Ordering::Relaxed)
    }

    /// Brings in what has come, or waits for another worker that does. Not under the scheduler's
    /// mutex.
    #[inline]
    pub(crate) fn listen(&self) {
        if self.has_ports() {
            self.drain();
        }
    }

    #[inline(never)]
    fn drain(&self) {
        let Some(drain) = self.begin_drain() else {
            // The thread that is at it brings in everything, or leaves it pending, which keeps
            // others from sleeping.
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
        // Acquire: pairs with D4; one drain happens after the other. Relaxed: nothing is done then.
        self.progress.compare_exchange(IDLE, RUNS, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let nested = DRAINS.try_with(|drains| drains.replace(true)).unwrap_or(false);
        Some(Drain { remote_events: self, nested })
    }

    /// D2: whether what is ready may be missing something older that is being brought in. Under the
    /// scheduler's mutex.
    #[inline]
    pub(crate) fn is_drained_by_another(&self) -> bool {
        // Relaxed: what counts was done before its doer had the mutex.
        self.progress.load(Ordering::Relaxed) != IDLE && !is_in_drain()
    }

    /// D3: sleeps until the drain that runs is over. False if it takes too long, or this thread is
    /// in one. Not under the scheduler's mutex.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_drain(&self) -> bool {
        if is_in_drain() {
            return false;
        }
        let end = Time::steady() + LONGEST_WAIT;
        let mut draining = self.draining.lock();
        // Relaxed: D4 takes the lock if it sees this, and if it came before there is nothing to
        // wait for.
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

    /// Whether no thread would notice what comes now. Under the scheduler's mutex.
    #[inline]
    pub(crate) fn have_no_poller(&self) -> bool {
        // Relaxed: the poller begins under that mutex, and one that ends looks once more.
        self.any.load(Ordering::Relaxed) && self.poller.load(Ordering::Relaxed) == 0
    }

    /// The worker that polls. Under the scheduler's mutex.
    pub(crate) fn poller(&self) -> Option<u32> {
        // Relaxed: as in `become_poller`.
        u32::try_from(self.poller.load(Ordering::Relaxed).checked_sub(1)?).ok()
    }

    /// Makes this worker the one that sleeps at the bell, if no other one is and there is a bell.
    /// Under the scheduler's mutex.
    pub(crate) fn become_poller(&self, worker: u32) -> Option<Poller<'_>> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        // Relaxed: changed under the scheduler's mutex, but for the poller's end.
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

/// What has come is brought in until this is dropped, also by a filter that panics.
pub(crate) struct Drain<'a> {
    remote_events: &'a RemoteEvents,
    /// Within another drain: of another executor, which a filter or listener spins.
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

/// The place on the bell, until it is dropped.
pub(crate) struct Poller<'a> {
    remote_events: &'a RemoteEvents,
    ports: Arc<Vec<EventPort>>,
}

impl Poller<'_> {
    /// Waits until something came, or until the worker, which parks there, is called. First it
    /// stays awake for a while, if it is to; before it sleeps it calls `falls_asleep`. Whether it
    /// was [away](prefetch::AWAY).
    pub(crate) fn wait(
        &self,
        parker: &Parker,
        timeout: Option<Duration>,
        falls_asleep: impl FnOnce(),
    ) -> bool {
        let awake = self.stay_awake(parker, timeout);
        if awake.is_none() {
            falls_asleep();
            self.sleep(parker, timeout);
        }
        awake.is_none_or(|awake| awake.as_nanos() > u128::from(prefetch::AWAY.unsigned_abs()))
    }

    /// Brings in what came; the worker polls no more.
    pub(crate) fn end(self) {
        let remote_events = self.remote_events;
        drop(self);
        remote_events.drain();
    }

    /// Whether something came.
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

    /// Looks for a while without sleeping, if it is to. If something came: for how long, to within
    /// a few looks.
    fn stay_awake(&self, parker: &Parker, timeout: Option<Duration>) -> Option<Duration> {
        let patience = Duration::from_nanos(self.remote_events.patience.load(Ordering::Relaxed));
        let patience = timeout.into_iter().chain([patience]).min().unwrap_or(patience);
        if patience.is_zero() {
            return None;
        }
        let begin = Time::steady();
        let mut awake = Duration::ZERO;
        while awake < patience {
            for _ in 0..LOOKS {
                if self.is_pending() || parker.is_called() && parker.take_call() {
                    return Some(awake);
                }
                std::hint::spin_loop();
            }
            awake = Time::steady() - begin;
        }
        None
    }
}

impl Drop for Poller<'_> {
    fn drop(&mut self) {
        self.remote_events.poller.store(0, Ordering::Relaxed); // it will look once more
    }
}
