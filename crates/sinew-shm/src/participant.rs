//! A participant: a process's presence in a domain.

use crate::connection::outgoing::Outgoing;
use crate::discovery::follower::Follower;
use crate::discovery::helper::Helper;
use crate::discovery::observer::Observer;
use crate::error::{CapacityError, JoinError};
use crate::event::receiver::EventReceiver;
use crate::own::heartbeat::Heartbeat;
use crate::own::own_state::OwnState;
use crate::peer::mapped_peer::Peer;
use crate::platform::logging::write_waiting;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, Ordering, PlainMutex, PlainU64};
use crate::platform::sys;
use crate::segment::domain::Domain;
use crate::tables::bell::Bell;
use crate::tables::control_segment::{EndpointRecord, Table};
use crate::tables::counters::Counters;
use crate::tables::endpoint::{Endpoint, EndpointKey, EndpointKind};
use crate::tables::own_tables::OwnControl;
use std::fmt;
use std::time::Duration;

/// A process's presence in a domain: the owner of its segments, visible to all other participants.
///
/// [`join`](Self::join) makes one. It [leaves](Self::leave) at the latest when it and all its
/// [entities](OwnEndpoint) are dropped, or when its process ends for any reason.
pub struct Participant {
    pub(crate) own: Arc<OwnState>,
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) follower: Arc<Follower>,
    helper: PlainMutex<Option<Helper>>,
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Participant({:016x} in {})", self.own.id, self.own.domain.path().display())
    }
}

impl Participant {
    /// Joins a domain with a random id. When this returns, the observer knows the participants that
    /// are in the domain. A thread of this participant, which sleeps while nothing changes, notices
    /// those that join later.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join(domain: &Domain, observer: Arc<dyn Observer>) -> Result<Arc<Self>, JoinError> {
        Self::join_as(sys::random(), domain, observer)
    }

    /// Joins a domain with this id, which must be random: no other participant has or had it.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join_as(id: u64, domain: &Domain, observer: Arc<dyn Observer>) -> Result<Arc<Self>, JoinError> {
        domain.warn_of_medium();
        let own = Arc::new(OwnState::create(domain, id)?);
        let outgoing = Outgoing::of(&own);
        let follower = Follower::new(&own, &outgoing, observer);
        let participant = Arc::new(Self { own, outgoing, follower, helper: PlainMutex::default() });
        participant.refresh();
        *participant.helper.lock() = Some(Helper::start(&participant.follower)?);
        participant.outgoing.prepare_fences();
        Ok(participant)
    }

    /// Returns the participant's id, a random number that no other participant has or had.
    pub fn id(&self) -> u64 {
        self.own.id
    }

    /// Returns the domain that the participant is in.
    pub fn domain(&self) -> &Domain {
        &self.own.domain
    }

    /// Returns an error if the participant has left, or if this process is a forked child.
    #[inline]
    pub fn check(&self) -> Result<(), CapacityError> {
        self.own.check()
    }

    /// Returns `true` if this process is a forked child of the participant's process. Nothing of
    /// the participant may be touched then.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.own.is_forked()
    }

    /// The control segment, unless it is gone for this process.
    pub(crate) fn control(&self) -> Result<&OwnControl, CapacityError> {
        self.own.control()
    }

    /// The bell on which this participant's writers wait for room.
    pub(crate) fn space_bell(&self) -> Result<Bell, CapacityError> {
        self.own.space_bell()
    }

    /// Makes writers that wait for room check again, for example when the program is to end. A
    /// waiting thread reads the bell first
    /// ([`Writer::wait_for_room`](crate::transport::Writer::wait_for_room)), then checks its
    /// condition, then sleeps.
    pub fn wake_writers(&self) {
        // A forked child doesn't have the memory of the bell.
        if !self.is_forked()
            && let Ok(bell) = self.space_bell()
        {
            bell.ring();
        }
    }

    // ---- entities ----

    /// Announces an entity to the other participants until the result is dropped. `node` is the
    /// entity of the node itself, if it has one. A [report](EndpointKind::Report) is for tools only
    /// and wakes no participant.
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
        self.own.request_look();
        Ok(OwnEndpoint {
            participant: self.clone(),
            own: self.own.clone(),
            key: EndpointKey::of(reference),
            record,
            kept: PlainU64::new(0),
            is_report,
            heartbeat: None,
        })
    }

    /// Makes a port. With `beside`, the new port sleeps on the bell of that port.
    ///
    /// # Errors
    /// [`CapacityError`]: a participant has 64 ports at most.
    pub fn port(&self, beside: Option<&EventReceiver>) -> Result<Arc<EventReceiver>, CapacityError> {
        let port = EventReceiver::new(&self.own, beside)?;
        self.follower.ports.add(&port);
        Ok(port)
    }

    /// Makes the participant's helper thread store a heartbeat at least once per `period`, until
    /// the result is dropped. Peers [read](crate::Peer::last_beat) the time of the last one.
    pub fn beat_every(&self, period: Duration) -> Heartbeat {
        Heartbeat::every(period, &self.own)
    }

    /// Looks for changes now, on this thread: participants that have joined or left, and their
    /// entities.
    ///
    /// Cheap if nothing has changed: one load per peer and a system call.
    pub fn refresh(&self) {
        self.follower.refresh();
    }

    /// Has the helper thread look at everything in two seconds, and call [`Observer::retry`]: there
    /// is something to retry.
    pub fn request_look(&self) {
        self.own.request_look();
    }

    /// Calls `pick` with each entity of another participant that this one knows, that is, each one
    /// reported to its [observer](Observer), and returns the results that are `Some`. Reads the
    /// entities' records, which allocates their names. Waits while another thread looks for
    /// changes; `pick` runs under that thread's lock.
    pub fn others<T>(&self, mut pick: impl FnMut(&Arc<Peer>, Endpoint) -> Option<T>) -> Vec<T> {
        let discovery = self.follower.discovery.lock();
        discovery.endpoints().filter_map(|(peer, endpoint)| pick(peer, endpoint)).collect()
    }

    /// Returns the number of messages that were copied because this participant had as many
    /// [holds](crate::transport::Hold) on messages of other processes as it may (4095). Nothing is
    /// lost, but each copy costs time in proportion to its length. The first one is logged as a
    /// warning.
    pub fn copied(&self) -> u64 {
        self.control().map_or(0, OwnControl::copied)
    }

    // ---- leaving ----

    /// Leaves the domain: notifies the other participants, and removes the files as soon as no
    /// participant needs them. Connected readers can still read the messages published before.
    /// Messages that are [held](crate::transport::Hold) stay valid; the control segment keeps its
    /// name until the last of them is dropped.
    pub fn leave(&self) {
        if !self.own.begin_to_leave() {
            return;
        }
        let helper = self.helper.lock().take();
        if let Some(helper) = helper {
            helper.stop();
        }
        write_waiting(); // the thread that would have logged it has ended
        let outgoing = self.outgoing.all();
        outgoing.iter().for_each(|accepted| accepted.end_if_open());
        // This participant reads no further messages. Its readers and their connections refer to
        // each other, so without this they would never be dropped.
        let incoming = std::mem::take(&mut *self.own.incoming.lock());
        drop(incoming);
        self.own.leave(|| outgoing.iter().any(|accepted| !accepted.is_done() && accepted.peer_is_alive()));
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

/// An entity that is announced to the other participants until this is dropped.
pub struct OwnEndpoint {
    participant: Arc<Participant>,
    pub(crate) own: Arc<OwnState>,
    key: EndpointKey,
    pub(crate) record: ShmRef<EndpointRecord>,
    /// 1 if the entity's `RetiredRing` retires the record later.
    pub(crate) kept: PlainU64,
    is_report: bool,
    /// Kept as long as the entity is announced.
    heartbeat: Option<Heartbeat>,
}

impl fmt::Debug for OwnEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnEndpoint({:?})", self.key)
    }
}

impl OwnEndpoint {
    /// Returns the entity's place in its participant's table.
    pub fn key(&self) -> EndpointKey {
        self.key
    }

    /// Returns the entity's participant.
    pub fn participant(&self) -> &Arc<Participant> {
        &self.participant
    }

    /// Returns the entity's counters, for its owner to write.
    pub fn counters(&self) -> Counters {
        Counters::new(self.record.clone(), self.key)
    }

    /// Keeps heartbeats as long as the entity is announced.
    pub fn keep_heartbeat(&mut self, heartbeat: Heartbeat) {
        self.heartbeat = Some(heartbeat);
    }

    /// Sets one of the entity's two notes: words that readers
    /// [receive](crate::transport::Incoming::note) with each message published afterwards. The
    /// layer above defines their meaning.
    pub fn set_note(&self, index: usize, value: u64) {
        if let Some(note) = self.record.notes.get(index) {
            note.store(value, Ordering::Relaxed); // W3 of the next message publishes it
        }
    }

    /// Returns a note that the owner has set.
    pub fn note(&self, index: usize) -> u64 {
        self.record.notes.get(index).map_or(0, |note| note.load(Ordering::Relaxed)) // its own
    }

    /// Returns the current values of the entity's counters.
    pub fn counts(&self) -> crate::tables::endpoint::Counts {
        crate::tables::endpoint::Counts::load(&self.record)
    }
}

impl Drop for OwnEndpoint {
    fn drop(&mut self) {
        if self.kept.load(Ordering::Relaxed) == 0 // set by the same owner
            && let Ok(control) = self.own.control()
        {
            match self.is_report {
                true => control.retire_quietly(Table::Endpoints, self.key.slot),
                false => control.retire(Table::Endpoints, self.key.slot),
            }
            self.own.request_look();
        }
    }
}
