//! Ports: the receiving ends of notifications, for executors and threads that wait.
//!
//! The protocol is in [`event`](crate::event). A port belongs to one participant; it may sleep on
//! the bell of another port of the same process, so that an executor that serves several
//! participants sleeps on one word.

use crate::error::{CapacityError, SegmentError};
use crate::event::protocol::{self, Drained, Drainer, Entries};
use crate::own::incoming_entry::Sink;
use crate::own::own_state::OwnState;
use crate::peer::mapped_peer::Peer;
use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, Mutex, Ordering, PlainU64};
use crate::segment::domain::Domain;
use crate::tables::bell::Bell;
use crate::tables::control_segment::{
    EventRingRecord, PortRecord, Table, TailRecord, names_generation, reference, slot_of, tail_owner,
    tail_slot,
};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::ops::DerefMut;
use std::sync::Weak;
use std::time::Duration;

/// A port, on which an executor or a waiting thread listens.
pub struct EventReceiver {
    own: Arc<OwnState>,
    slot: u32,
    /// Slot and life of the port.
    pub(crate) reference: u64,
    record: ShmRef<PortRecord>,
    bell: Bell,
    bell_at: (u64, u64),
    /// Number of times that the port went to sleep.
    sleeps: PlainU64,
    sources: Mutex<Vec<PeerEventRing>>,
}

/// An event ring of a peer towards this port.
struct PeerEventRing {
    peer: Arc<Peer>,
    /// The slot of the peer's record of the ring.
    slot: u32,
    drainer: Drainer,
    tail: ShmRef<TailRecord>,
    /// Announcements from this position on came after the drain began.
    end: u64,
    /// Set if the ring has moved to memory that can't be opened now: steady nanoseconds before
    /// which opening isn't tried again.
    paused: Option<i64>,
}

impl fmt::Debug for EventReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl EventReceiver {
    /// Makes a port of this participant. With `beside`, it sleeps on the bell of that port.
    pub(crate) fn new(
        own: &Arc<OwnState>,
        beside: Option<&EventReceiver>,
    ) -> Result<Arc<Self>, CapacityError> {
        let control = own.control()?;
        let slot = control.allocate(Table::Ports)?;
        let record: ShmRef<PortRecord> = control.record(Table::Ports, slot)?;
        let (bell, bell_at) = match beside {
            Some(beside) if beside.own.shares_domain(own) => (beside.bell.clone(), beside.bell_at),
            _ => (own.bell(u64::from(slot) + 1)?, (own.id, u64::from(slot) + 1)),
        };
        // Relaxed: T2 publishes it.
        record.bell.store(bell_at.0, Ordering::Relaxed);
        record.bell_index.store(bell_at.1, Ordering::Relaxed);
        record.parked.store(0, Ordering::Relaxed);
        let reference = control.publish(Table::Ports, slot);
        Ok(Arc::new(Self {
            own: own.clone(),
            slot,
            reference,
            record,
            bell,
            bell_at,
            sleeps: PlainU64::new(1),
            sources: Mutex::new(Vec::new()),
        }))
    }

    /// Returns the id of the participant that owns the port.
    pub fn participant(&self) -> u64 {
        self.own.id
    }

    /// Returns an error if the port can't be used: see
    /// [`Participant::check`](crate::transport::Participant::check).
    ///
    /// # Errors
    /// [`CapacityError`]
    pub fn check(&self) -> Result<(), CapacityError> {
        self.own.check()
    }

    /// Returns `true` if the port's participant is in this domain: only ports of one domain can
    /// share a bell.
    pub fn is_in(&self, domain: &Domain) -> bool {
        self.own.domain == *domain
    }

    /// Adds a peer's event ring towards this port, from its first entry.
    pub(crate) fn add_source(&self, peer: &Arc<Peer>, slot: u32, entries: Entries, tail: ShmRef<TailRecord>) {
        let mut sources = self.sources.lock();
        sources.retain(|source| source.peer.id() != peer.id());
        sources.push(PeerEventRing {
            peer: peer.clone(),
            slot,
            drainer: Drainer::new(entries),
            tail,
            end: 0,
            paused: None,
        });
        drop(sources);
        self.ring(); // there may be something in it already
    }

    pub(crate) fn remove_sources(&self, peer: u64) {
        self.sources.lock().retain(|source| source.peer.id() != peer);
    }

    /// Returns `true` if a peer has announced something. Reads one word per peer.
    #[inline]
    pub fn is_pending(&self) -> bool {
        if self.own.is_forked() {
            return false;
        }
        let sources = self.sources.lock();
        sources.iter().any(|source| source.paused.is_none() && source.drainer.is_pending())
    }

    /// Drains the peers' announcements, one connection after another, up to the last one made
    /// before this call. Later announcements are left for the next call, so that a peer that never
    /// pauses doesn't keep the caller here. Returns `true` if there was an announcement.
    ///
    /// Several threads may call it at once.
    #[inline]
    pub fn drain(&self) -> bool {
        if self.own.is_forked() {
            return false;
        }
        let mut sources = self.sources.lock();
        let mut left = 0u64; // at most: another thread may take some
        for source in sources.iter_mut() {
            source.end = source.drainer.announced();
            left = left.saturating_add(source.end - source.drainer.taken());
        }
        let mut any = false;
        while left > 0
            && let Some(sink) = self.next(sources)
        {
            any = true;
            if let Some(sink) = sink {
                sink.drain();
            }
            left -= 1;
            if left == 0 || self.own.is_forked() {
                break;
            }
            sources = self.sources.lock();
        }
        any
    }

    /// The next announced connection; `Some(None)` if it isn't there (any more, or not yet: the
    /// thread that makes it drains it). `sources` is locked, and released before this returns.
    #[inline]
    fn next(&self, mut sources: impl DerefMut<Target = Vec<PeerEventRing>>) -> Option<Option<Arc<dyn Sink>>> {
        for (index, source) in sources.iter_mut().enumerate() {
            let PeerEventRing { peer, slot, drainer, tail, end, paused } = source;
            if drainer.taken() >= *end {
                continue;
            }
            if paused.is_some_and(|until| self.own.is_pausing(until)) {
                continue;
            }
            let pause = Cell::new(None);
            let find = || match self.own.event_entries(peer, *slot) {
                Ok(entries) => entries,
                Err(error) => {
                    pause.set(error.may_pass().then(|| self.own.pause()));
                    None
                }
            };
            let found = drainer.next(&tail.tail, find);
            *paused = pause.get();
            match found {
                Drained::Nothing => {}
                Drained::Lost if paused.is_some() => {}
                Drained::Connection(connection) => {
                    let peer = peer.id();
                    drop(sources);
                    return Some(self.own.sink(peer, connection));
                }
                Drained::Lost => {
                    let lost = sources.swap_remove(index);
                    drop(sources);
                    crate::log_line!(
                        log::Level::Warn,
                        "events of {:?} are ignored: it says that they are elsewhere",
                        lost.peer
                    );
                    return Some(None); // and the other rings are checked again
                }
            }
        }
        None
    }

    /// K1: returns the bell's value. The caller reads it before it [parks](Self::park) the port,
    /// and passes it to [`sleep`](Self::sleep).
    #[inline]
    pub fn bell(&self) -> u32 {
        if self.own.is_forked() {
            return 0;
        }
        self.bell.rung()
    }

    /// K2: from now on, a writer that makes an announcement for this port rings the bell. Before
    /// the caller sleeps, it checks everything that it waits for once more, including
    /// [`is_pending`](Self::is_pending).
    ///
    /// Does nothing in a forked child.
    #[inline]
    pub fn park(&self) {
        if self.own.is_forked() {
            return;
        }
        // Relaxed: one thread at a time parks; the number only has to differ from the one before.
        let sleep = self.sleeps.fetch_add(1, Ordering::Relaxed);
        protocol::park(&self.record.parked, sleep);
    }

    /// K4: the thread is awake again.
    #[inline]
    pub fn unpark(&self) {
        if self.own.is_forked() {
            return;
        }
        protocol::unpark(&self.record.parked);
    }

    /// Sleeps until the bell is rung, unless it has been rung since `seen` was read. May return
    /// early; returns at once in a forked child.
    pub fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        if self.own.is_forked() {
            return;
        }
        self.bell.sleep(seen, timeout);
    }

    /// Ends a sleep of this process.
    pub fn ring(&self) {
        if self.own.is_forked() {
            return;
        }
        self.bell.ring();
    }

    pub(crate) fn peer_tail(
        &self,
        peer_slot: u32,
        peer_generation: u64,
    ) -> Result<ShmRef<TailRecord>, CapacityError> {
        let control = self.own.control()?;
        let slot = tail_slot(peer_slot, self.slot);
        control.reserve(Table::Tails, slot as usize + 1)?;
        let tail: ShmRef<TailRecord> = control.record(Table::Tails, slot)?;
        tail.tail.store(0, Ordering::Relaxed); // the owner's word publishes it
        // Release: pairs with the Acquire in `EventSender::adopt_tail`; the tail counts from now
        // on.
        tail.owner.store(tail_owner(peer_generation, self.reference), Ordering::Release);
        failpoints::at(Point::TailPublished);
        control.changed(Table::Tails, slot);
        Ok(tail)
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        if let Ok(control) = self.own.control() {
            control.retire(Table::Ports, self.slot);
        }
        debug_assert!(reference(self.slot, self.reference) == self.reference);
    }
}

/// The ports of a participant, by slot.
#[derive(Default)]
pub(crate) struct EventReceivers(Mutex<HashMap<u32, Weak<EventReceiver>>>);

impl EventReceivers {
    pub(crate) fn add(&self, port: &Arc<EventReceiver>) {
        let mut all = self.0.lock();
        all.retain(|_, port| port.strong_count() > 0);
        all.insert(slot_of(port.reference), Arc::downgrade(port));
    }

    /// The port that a reference names, if it lives.
    pub(crate) fn find(&self, reference: u64) -> Option<Arc<EventReceiver>> {
        let port = self.0.lock().get(&slot_of(reference))?.upgrade()?;
        names_generation(reference, port.reference).then_some(port)
    }

    pub(crate) fn each(&self, act: impl Fn(&EventReceiver)) {
        let ports: Vec<_> = self.0.lock().values().filter_map(Weak::upgrade).collect();
        ports.iter().for_each(|port| act(port));
    }
}

impl OwnState {
    /// The current entries of a peer's event ring; `None` if there are none, or if they are
    /// invalid.
    ///
    /// # Errors
    /// [`SegmentError`]: the ring can't be mapped. That [may pass](SegmentError::may_pass).
    pub(crate) fn event_entries(&self, peer: &Peer, slot: u32) -> Result<Option<Entries>, SegmentError> {
        let record = peer.record::<EventRingRecord>(Table::EventRings, slot);
        let Some(record) = record else { return Ok(None) };
        let location = record.ring.load(Ordering::Acquire); // pairs with G2
        let (words, _) = peer.block(location)?;
        Ok(Entries::open(words))
    }
}
