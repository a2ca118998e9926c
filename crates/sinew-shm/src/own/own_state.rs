//! A participant's own state: its segments, its tables, and the connections of others that it has
//! taken up. All objects made with the participant share it; the code that follows other
//! participants is above, in [`participant`](crate::participant).

use crate::error::{CapacityError, JoinError, SystemError};
use crate::hazards::chunk_readers::Readers;
use crate::hazards::holds::{Hazards, Mark};
use crate::memory::data_segments::Memory;
use crate::own::heartbeat::Heartbeats;
use crate::own::incoming_entry::{IncomingEntry, Lease, Party, Sink};
use crate::peer::leftovers;
use crate::peer::mapped_peer::{Peer, Ringer};
use crate::platform::failpoints::{self, Point};
use crate::platform::fork::ForkMark;
use crate::platform::logging::log_line_later;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, Mutex, Ordering, PlainMutex, PlainU64};
use crate::platform::sys::{self, Wake};
use crate::segment::domain::Domain;
use crate::segment::header::{SegmentKind, doorbell_name};
use crate::segment::own_segment::{NewSegment, OwnSegment};
use crate::tables::bell::{BELLS_LENGTH, Bell, SPACE_BELL, bell_offset};
use crate::tables::control_segment::{PeerRecord, Table};
use crate::tables::own_tables::{NewControl, OwnControl};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Time until something that couldn't be opened is tried again, in nanoseconds.
const PAUSE: i64 = 20_000_000;

/// Least number of words for marking chunks that a participant has once it reads.
const FEWEST_MARKS: usize = 8;

/// A participant's own state.
pub(crate) struct OwnState {
    pub(crate) id: u64,
    pub(crate) domain: Domain,
    mark: ForkMark,
    control: OwnControl,
    bells: OwnSegment,
    pub(crate) memory: Memory,
    pub(crate) hazards: Hazards,
    /// Held by the thread that copies messages which can't be held: the last hold is reserved for
    /// it.
    pub(crate) copying: PlainMutex<()>,
    pub(crate) readers: Readers,
    /// Connections of this participant as a reader, by the writer's id and slot.
    pub(crate) incoming: Mutex<BTreeMap<u64, Vec<Option<IncomingEntry>>>>,
    /// This participant's slot for each peer with event rings that it reads.
    peers: Mutex<HashMap<u64, u32>>,
    pub(crate) heartbeats: Heartbeats,
    left: PlainU64,
    /// When something that couldn't be opened is tried again, in steady nanoseconds; 0 if nothing
    /// is pending.
    paused: PlainU64,
    /// 1 if a thread has requested a look at everything that has not begun.
    requested: PlainU64,
    /// 1 if the participant has left and its readers remove its files.
    files_stay: PlainU64,
    /// Wakes the helper thread, once there is one.
    pub(crate) helper: OnceLock<Arc<Wake>>,
}

impl OwnState {
    /// Creates the files of a participant with this id; other participants see it from now on.
    pub(crate) fn create(domain: &Domain, id: u64) -> Result<Self, JoinError> {
        let mark = ForkMark::new().map_err(SystemError::io("mmap", domain.path()))?;
        let bells = NewSegment {
            kind: SegmentKind::Bells,
            owner: id,
            number: 0,
            length: BELLS_LENGTH,
            reserved: BELLS_LENGTH,
            locked: false,
        };
        // The control segment is linked first and removed last: it identifies the owner of the
        // other files, and shows whether it lives.
        let bells = OwnSegment::create(domain, &bells)?;
        let control = NewControl::create(domain, id)?.publish()?;
        failpoints::at(Point::Joining);
        let bells = bells.publish().inspect_err(|_| {
            control.remove(); // there are no other files of ours
        })?;
        let remove = || {
            bells.remove();
            control.remove();
        };
        make_doorbell(domain, id).inspect_err(|_| remove())?;
        let hazards = Hazards::new(control.records(Table::Holds)?);
        Ok(Self {
            id,
            domain: domain.clone(),
            mark,
            control,
            bells,
            memory: Memory::new(domain.clone(), id),
            hazards,
            copying: PlainMutex::default(),
            readers: Readers::default(),
            incoming: Mutex::default(),
            peers: Mutex::default(),
            heartbeats: Heartbeats::default(),
            left: PlainU64::new(0),
            paused: PlainU64::new(0),
            requested: PlainU64::new(1),
            files_stay: PlainU64::new(0),
            helper: OnceLock::new(),
        })
    }

    /// Whether other participants can find it: its control segment's name has not been removed.
    pub(crate) fn has_name(&self) -> bool {
        self.control.has_name()
    }

    pub(crate) fn control_path(&self) -> std::path::PathBuf {
        self.control.path()
    }

    /// Whether both are in the same directory, so that they know each other.
    pub(crate) fn shares_domain(&self, other: &OwnState) -> bool {
        self.domain == other.domain
    }

    /// Returns an error if it has left, or if this process is a forked child.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), CapacityError> {
        let forked = self.mark.is_child();
        if forked || self.has_left() {
            return Err(CapacityError::Left { forked });
        }
        Ok(())
    }

    /// Whether this process is a forked child: nothing of the participant may be touched then.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.mark.is_child()
    }

    #[inline]
    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire) != 0 // pairs with the Release in `leave`
    }

    /// The control segment, unless it is gone for this process.
    pub(crate) fn control(&self) -> Result<&OwnControl, CapacityError> {
        if self.mark.is_child() {
            return Err(CapacityError::Left { forked: true });
        }
        Ok(&self.control)
    }

    pub(crate) fn bell(&self, index: u64) -> Result<Bell, CapacityError> {
        let wrong = CapacityError::Table { table: "bells", limit: Table::Ports.capacity() };
        let offset = usize::try_from(index).ok().and_then(bell_offset);
        offset.and_then(|offset| ShmRef::at(&self.bells.mapping, offset)).map(Bell).ok_or(wrong)
    }

    /// The bell on which this participant's writers wait for room.
    pub(crate) fn space_bell(&self) -> Result<Bell, CapacityError> {
        self.bell(SPACE_BELL)
    }

    /// Ends every sleep of this participant's threads, because another user has rung.
    pub(crate) fn ring_all(&self) {
        let ports = self.control().map_or(0, |control| control.used(Table::Ports));
        (0..=u64::from(ports)).filter_map(|index| self.bell(index).ok()).for_each(|bell| bell.ring());
    }

    /// Finds the bell that a peer's port names: the peer's, another participant's of its process,
    /// or even ours.
    pub(crate) fn find_bell(
        &self,
        peer: &Peer,
        owner: u64,
        index: u64,
    ) -> Result<Option<Ringer>, CapacityError> {
        if owner == self.id {
            return self.bell(index).map(|bell| Some(Ringer::Bell(bell)));
        }
        let found = if owner == peer.id() {
            peer.bell(index)
        } else if let Some(known) = self.readers.find(owner) {
            known.bell(index)
        } else {
            Peer::open(self.domain.directory(), owner).and_then(|other| other.bell(index))
        };
        match found {
            Ok(ringer) => Ok(Some(ringer)),
            Err(error) => match error.into_passing() {
                Ok(system) => Err(system.into()),
                Err(error) => {
                    log_line_later!(self; log::Level::Warn, "a port of {peer:?} can't be rung: {error}");
                    Ok(None)
                }
            },
        }
    }

    // ---- connections of others ----

    /// The slot under which this participant reads a peer's event rings, and the slot's life.
    pub(crate) fn slot_for(&self, peer: u64) -> Result<(u32, u64), CapacityError> {
        let control = self.control()?;
        let mut peers = self.peers.lock();
        let slot = match peers.get(&peer) {
            Some(&slot) => slot,
            None => {
                let slot = control.allocate(Table::Peers)?;
                let record: ShmRef<PeerRecord> = control.record(Table::Peers, slot)?;
                record.id.store(peer, Ordering::Relaxed); // T2 publishes it
                control.publish(Table::Peers, slot);
                peers.insert(peer, slot);
                slot
            }
        };
        let record: ShmRef<PeerRecord> = control.record(Table::Peers, slot)?;
        Ok((slot, record.generation.load(Ordering::Relaxed))) // our own
    }

    pub(crate) fn forget_slot_for(&self, peer: u64) {
        let slot = self.peers.lock().remove(&peer);
        if let (Some(slot), Ok(control)) = (slot, self.control()) {
            control.retire(Table::Peers, slot);
        }
    }

    /// The sink for a connection that a peer announced.
    #[inline]
    pub(crate) fn sink(&self, peer: u64, connection: u32) -> Option<Arc<dyn Sink>> {
        let incoming = self.incoming.lock();
        let entry = incoming.get(&peer)?.get(connection as usize)?.as_ref()?;
        entry.sink.clone()
    }

    /// Notes that this party won't touch the record any more; the record may be reused once the
    /// other party has done the same.
    pub(crate) fn end_lease(&self, lease: &Lease, party: Party) {
        if lease.end(party)
            && let Ok(control) = self.control()
        {
            control.retire(Table::Incoming, lease.slot);
        }
    }

    /// Removes a connection that its writer has retired.
    pub(crate) fn retire_incoming(&self, peer: u64, slot: u32, generation: u64) {
        let mut all = self.incoming.lock();
        let place = all.get_mut(&peer).and_then(|all| all.get_mut(slot as usize));
        let Some(place) = place else { return };
        if place.as_ref().is_none_or(|entry| entry.generation != generation) {
            return;
        }
        let entry = place.take();
        drop(all);
        if let Some(entry) = entry {
            self.end_lease(&entry.lease, Party::Helper);
        }
    }

    // ---- pauses ----

    /// Begins a pause because something of another participant can't be opened now; returns when to
    /// try again. Until then it is not tried, and afterwards connections continue by themselves,
    /// even if no writer announces anything: the helper thread takes care of that.
    #[cold]
    pub(crate) fn pause(&self) -> i64 {
        let until = sys::steady() + PAUSE;
        self.try_again_at(until);
        until
    }

    /// Whether a pause isn't over yet.
    #[cold]
    pub(crate) fn is_pausing(&self, until: i64) -> bool {
        let is_pausing = sys::steady() < until;
        if is_pausing {
            self.try_again_at(until);
        }
        is_pausing
    }

    fn try_again_at(&self, until: i64) {
        // Relaxed: it carries only a time. If a later time overwrites it, the retry is late by the
        // difference.
        if self.paused.swap(until.cast_unsigned(), Ordering::Relaxed) == 0 {
            self.wake_helper();
        }
    }

    /// Wakes the helper thread to look at once. A helper thread that is only starting looks by
    /// itself a little later.
    pub(crate) fn wake_helper(&self) {
        if let Some(wake) = self.helper.get() {
            wake.wake();
        }
    }

    /// Has the helper thread look at everything in two seconds: there is something new to look
    /// after. It would sleep on without it.
    pub(crate) fn request_look(&self) {
        // Release: pairs with the Acquire in `take_request`; carries the new thing.
        if self.requested.swap(1, Ordering::Release) == 0 {
            self.wake_helper();
        }
    }

    /// Whether a thread has requested a look at everything that has not begun.
    pub(crate) fn has_request(&self) -> bool {
        self.requested.load(Ordering::Relaxed) != 0 // the look itself takes it
    }

    /// A look at everything begins. It sees what was requested before: the swaps of one word have
    /// an order, so a thread that requests later wakes the helper thread again.
    pub(crate) fn take_request(&self) {
        self.requested.swap(0, Ordering::Acquire); // pairs with the Release in `request_look`
    }

    /// Time until something is to be tried again, in nanoseconds.
    pub(crate) fn paused(&self) -> Option<i64> {
        let until = self.paused.load(Ordering::Relaxed).cast_signed(); // as above
        (until != 0).then(|| (until - sys::steady()).max(0))
    }

    /// Returns `true` once when a pause is over.
    pub(crate) fn ends_pause(&self) -> bool {
        let is_over = self.paused() == Some(0);
        if is_over {
            // Before the retry: a thread that pauses again sets it again.
            self.paused.store(0, Ordering::Relaxed);
        }
        is_over
    }

    // ---- holds ----

    /// Makes sure that there are some words for marking chunks; without any, no message in a chunk
    /// can be read.
    pub(crate) fn prepare_marks(&self) -> Result<(), CapacityError> {
        if self.hazards.ready() == 0 {
            self.hazards.add(self.control()?.reserve(Table::Holds, FEWEST_MARKS)?);
        }
        Ok(())
    }

    /// Takes a word to mark a chunk that is read in place; `None` at the limit.
    #[inline]
    pub(crate) fn take_mark(&self) -> Option<Mark> {
        self.hazards.take().or_else(|| self.more_marks())
    }

    #[cold]
    fn more_marks(&self) -> Option<Mark> {
        let wanted = (self.hazards.ready() * 2).clamp(FEWEST_MARKS, self.hazards.limit());
        let ready = self.control().ok()?.reserve(Table::Holds, wanted).ok()?;
        self.hazards.add(ready);
        self.hazards.take()
    }

    /// Counts a message that was copied because no mark was available.
    #[cold]
    pub(crate) fn has_copied(&self) {
        if self.control().is_ok_and(|control| control.count_copied() == 0) {
            log_line_later!(
                self; log::Level::Warn,
                "{} messages of other processes are in use at once, as many as can be: further ones are copied, which takes longer; \
                 let go of them earlier, or keep copies",
                self.hazards.limit() - 1
            );
        }
    }

    /// H7.
    #[inline]
    pub(crate) fn give_back(&self, mark: &Mark) {
        if self.hazards.give_back(mark) {
            self.let_go();
        }
    }

    // ---- leaving ----

    /// Prevents threads from beginning any further operation. Returns `true` once, and never in a
    /// forked child.
    pub(crate) fn begin_to_leave(&self) -> bool {
        if self.mark.is_child() || self.left.swap(1, Ordering::AcqRel) != 0 {
            return false;
        }
        self.hazards.refuse(); // Q1
        true
    }

    /// Notifies the other participants and removes the files, unless a participant still reads
    /// them.
    pub(crate) fn leave(&self, is_read: impl FnOnce() -> bool) {
        self.control.leave(); // Q2
        let is_read = is_read();
        failpoints::at(Point::Leaving);
        if !is_read {
            self.memory.remove_names();
            self.bells.remove();
            // The doorbell exists only if there are other users.
            let _ = self.domain.directory().remove(&doorbell_name(self.id));
        }
        // The lock of `are_all_back` publishes it.
        self.files_stay.store(u64::from(is_read), Ordering::Relaxed);
        if self.hazards.are_all_back() {
            self.let_go();
        }
    }

    /// Q3: nothing of other participants is read in place any more.
    #[cold]
    fn let_go(&self) {
        self.control.let_go();
        if self.files_stay.load(Ordering::Relaxed) == 0 {
            failpoints::at(Point::LeftControl);
            self.control.remove(); // last: it identifies the owner of the other files
            return;
        }
        // Readers may have left since, and seen that we still held messages.
        let directory = self.domain.directory();
        let is_read = match Peer::open(directory, self.id) {
            Ok(own) => leftovers::is_read_by_others(directory, &own),
            // A participant that can't look now can't know; others find the files without an owner
            // later.
            Err(error) => error.may_pass(),
        };
        if !is_read {
            leftovers::remove_files(&self.domain, self.id);
        }
    }
}

/// Creates the file that other users touch to ring this participant's bells, if there are other
/// users.
fn make_doorbell(domain: &Domain, id: u64) -> Result<(), SystemError> {
    let Some(mode) = domain.touch_mode() else { return Ok(()) };
    let (directory, name) = (domain.directory(), doorbell_name(id));
    let file = directory.unnamed()?;
    sys::change_mode(&file, mode, &directory.join(&name))?;
    directory.link(&file, &name)
}
