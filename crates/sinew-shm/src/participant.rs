//! A participant: a process's presence in a domain.

use crate::bell::Bell;
use crate::control::{EndpointRecord, Table};
use crate::counters::Counters;
use crate::discovery::{Follower, Helper, Observer};
use crate::domain::Domain;
use crate::endpoint::{Endpoint, EndpointKey, EndpointKind};
use crate::error::{CapacityError, JoinError};
use crate::event_rx::EventReceiver;
use crate::local::Local;
use crate::local_tables::OwnControl;
use crate::logging::tell_waiting;
use crate::outgoing::Outgoing;
use crate::shm_ref::ShmRef;
use crate::sync::{Arc, Ordering, PlainMutex, PlainU64};
use crate::sys;
use std::fmt;

/// A process's presence in a domain: owner of its segments, known to all others there.
///
/// Made by [`join`](Self::join). It [leaves](Self::leave) at the latest when it and all its
/// [entities](OwnEndpoint) are dropped, or its process ends, however that happens.
pub struct Participant {
    pub(crate) local: Arc<Local>,
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) follower: Arc<Follower>,
    helper: PlainMutex<Option<Helper>>,
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Participant({:016x} in {})", self.local.id, self.local.domain.path().display())
    }
}

impl Participant {
    /// Joins a domain, with a random id. The observer knows the participants that are there when
    /// this returns; a thread of this participant, which sleeps while nothing changes, notices
    /// those that come later.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join(domain: &Domain, observer: Arc<dyn Observer>) -> Result<Arc<Self>, JoinError> {
        Self::join_as(sys::random(), domain, observer)
    }

    /// Joins a domain with this id, which is random: no other participant has or had it.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join_as(id: u64, domain: &Domain, observer: Arc<dyn Observer>) -> Result<Arc<Self>, JoinError> {
        domain.warn_of_medium();
        let local = Arc::new(Local::create(domain, id)?);
        let outgoing = Outgoing::of(&local);
        let follower = Follower::new(&local, &outgoing, observer);
        let participant = Arc::new(Self { local, outgoing, follower, helper: PlainMutex::default() });
        participant.refresh();
        *participant.helper.lock() = Some(Helper::start(&participant.follower)?);
        participant.outgoing.prepare_fences();
        Ok(participant)
    }

    /// Its id, random: no other participant has or had it.
    pub fn id(&self) -> u64 {
        self.local.id
    }

    /// The domain it is in.
    pub fn domain(&self) -> &Domain {
        &self.local.domain
    }

    /// Whether it may be used: it hasn't left, and this is not a forked child.
    #[inline]
    pub fn check(&self) -> Result<(), CapacityError> {
        self.local.check()
    }

    /// Whether this is a child that its process forked: then nothing of it may be touched.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.local.is_forked()
    }

    /// The control segment, unless it is gone for this process.
    pub(crate) fn control(&self) -> Result<&OwnControl, CapacityError> {
        self.local.control()
    }

    /// The bell on which this participant's writers wait for room.
    pub(crate) fn space_bell(&self) -> Result<Bell, CapacityError> {
        self.local.space_bell()
    }

    /// Has writers that wait for room look again, as when the program is to end. A thread that
    /// waits reads the bell first ([`Writer::wait_for_room`](crate::Writer::wait_for_room)), then
    /// what it is to find out, then sleeps.
    pub fn wake_writers(&self) {
        if let Ok(bell) = self.space_bell() {
            bell.ring();
        }
    }

    // ---- entities ----

    /// Tells the others of an entity, until the result is dropped. `node` is the node's own entity,
    /// if it has one. A [report](EndpointKind::Report) is there for tools, and wakes no participant.
    ///
    /// # Errors
    /// [`CapacityError`]
    pub fn advertise(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        node: Option<EndpointKey>,
    ) -> Result<OwnEndpoint, CapacityError> {
        self.check()?;
        let control = self.control()?;
        let slot = control.allocate(Table::Endpoints)?;
        let record: ShmRef<EndpointRecord> = control.record(Table::Endpoints, slot)?;
        endpoint.store(&record, node.map_or(0, |node| node.slot));
        let is_report = endpoint.kind == EndpointKind::Report;
        let reference = match is_report {
            true => control.publish_quietly(Table::Endpoints, slot),
            false => control.publish(Table::Endpoints, slot),
        };
        Ok(OwnEndpoint {
            participant: self.clone(),
            local: self.local.clone(),
            key: EndpointKey::of(reference),
            record,
            kept: PlainU64::new(0),
            is_report,
        })
    }

    /// A new port; with `beside`, it sleeps on the bell of that port.
    ///
    /// # Errors
    /// [`CapacityError`]: a participant has 64 ports at most.
    pub fn port(&self, beside: Option<&EventReceiver>) -> Result<Arc<EventReceiver>, CapacityError> {
        let port = EventReceiver::new(&self.local, beside)?;
        self.follower.ports.add(&port);
        Ok(port)
    }

    /// Looks what is new, now, on this thread: which participants have joined or left, and what
    /// entities there are.
    ///
    /// Cheap when nothing has changed: one look at a word of each peer, and a system call.
    pub fn refresh(&self) {
        self.follower.refresh();
    }

    /// Messages that were copied because this participant had [as many](crate::Hold) of other
    /// processes in use as it may (4095): nothing is lost, but each costs its length. The first one
    /// is logged as a warning.
    pub fn copied(&self) -> u64 {
        self.control().map_or(0, OwnControl::copied)
    }

    // ---- leaving ----

    /// Leaves the domain: tells the others, and removes the files as soon as no participant needs
    /// them. What is published can still be read by those that are connected. Messages that are
    /// [held](crate::Hold) stay as they are; until the last of them is dropped, the control segment
    /// keeps its name.
    pub fn leave(&self) {
        if !self.local.begin_to_leave() {
            return;
        }
        let helper = self.helper.lock().take();
        if let Some(helper) = helper {
            helper.stop();
        }
        tell_waiting(); // the thread that would have said it has ended
        let outgoing = self.outgoing.all();
        outgoing.iter().for_each(|accepted| accepted.end_if_open());
        // What is read here is read no more. Its readers refer to what they read, so they wouldn't
        // go by themselves.
        let incoming = std::mem::take(&mut *self.local.incoming.lock());
        drop(incoming);
        self.local.leave(|| outgoing.iter().any(|accepted| !accepted.is_done() && accepted.peer_is_alive()));
        self.follower.forget();
        self.outgoing.forget();
        if let Ok(bell) = self.space_bell() {
            bell.ring();
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.leave();
    }
}

/// An entity that the others are told of, until this is dropped.
pub struct OwnEndpoint {
    participant: Arc<Participant>,
    pub(crate) local: Arc<Local>,
    key: EndpointKey,
    pub(crate) record: ShmRef<EndpointRecord>,
    /// 1: its `RetiredRing` retires the record, later.
    pub(crate) kept: PlainU64,
    is_report: bool,
}

impl fmt::Debug for OwnEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnEndpoint({:?})", self.key)
    }
}

impl OwnEndpoint {
    /// Its place in its participant's table.
    pub fn key(&self) -> EndpointKey {
        self.key
    }

    /// Its participant.
    pub fn participant(&self) -> &Arc<Participant> {
        &self.participant
    }

    /// Its counters, for its owner.
    pub fn counters(&self) -> Counters {
        Counters::new(self.record.clone(), self.key)
    }

    /// A note for its readers: a word that they [have](crate::Incoming::note) with each message that
    /// is published afterwards, and that means what the layer above says. There are two.
    pub fn set_note(&self, index: usize, value: u64) {
        if let Some(note) = self.record.notes.get(index) {
            note.store(value, Ordering::Relaxed); // W3 of the next message publishes it
        }
    }

    /// The same note, for its owner.
    pub fn note(&self, index: usize) -> u64 {
        self.record.notes.get(index).map_or(0, |note| note.load(Ordering::Relaxed)) // its own
    }

    /// Its counters now.
    pub fn counts(&self) -> crate::endpoint::Counts {
        crate::endpoint::Counts::load(&self.record)
    }
}

impl Drop for OwnEndpoint {
    fn drop(&mut self) {
        if self.kept.load(Ordering::Relaxed) == 0 // set by the same owner
            && let Ok(control) = self.local.control()
        {
            match self.is_report {
                true => control.retire_quietly(Table::Endpoints, self.key.slot),
                false => control.retire(Table::Endpoints, self.key.slot),
            }
        }
    }
}
