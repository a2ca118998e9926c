//! What a participant has of its own: its segments, its tables, and what it has taken up of others.
//! All that is made with it has this; what follows the others is above, in
//! [`participant`](crate::participant).

use crate::bell::{BELLS_LENGTH, Bell, SPACE_BELL, bell_offset};
use crate::control::{EventRingRecord, PeerRecord, Table};
use crate::domain::Domain;
use crate::error::{CapacityError, JoinError, SegmentError, SystemError};
use crate::events::Entries;
use crate::failpoints::{self, Point};
use crate::fork::ForkMark;
use crate::hazards::{Hazards, Mark};
use crate::leftovers;
use crate::local_tables::{NewControl, OwnControl};
use crate::memory::Memory;
use crate::peer::{Peer, Ringer};
use crate::readers::Readers;
use crate::segment::{NewSegment, OwnSegment, SegmentKind, doorbell_name};
use crate::shm_ref::ShmRef;
use crate::sync::{Arc, Mutex, Ordering, PlainMutex, PlainU64};
use crate::sys::{self, Wake};
use crate::taken::{Lease, Party, Sink, Taken};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// How long what couldn't be opened is left alone.
const PAUSE: i64 = 20_000_000;

/// Words to mark chunks with that a participant has at least, once it reads.
const FEWEST_MARKS: usize = 8;

/// What a participant has of its own.
pub(crate) struct Local {
    pub(crate) id: u64,
    pub(crate) domain: Domain,
    mark: ForkMark,
    control: OwnControl,
    bells: OwnSegment,
    pub(crate) memory: Memory,
    pub(crate) hazards: Hazards,
    /// Held by the thread that copies what can't be held: the last hold belongs to it.
    pub(crate) copying: PlainMutex<()>,
    pub(crate) readers: Readers,
    /// Connections of this participant as a reader: by the writer's id, by the writer's slot.
    pub(crate) incoming: Mutex<BTreeMap<u64, Vec<Option<Taken>>>>,
    /// This participant's slot for a peer that it reads event rings of.
    peers: Mutex<HashMap<u64, u32>>,
    left: PlainU64,
    /// When something that couldn't be opened is to be tried again, in steady nanoseconds; 0:
    /// nothing is.
    paused: PlainU64,
    /// 1: it has left, and its readers remove its files.
    files_stay: PlainU64,
    /// What wakes the helper thread, once there is one.
    pub(crate) helper: OnceLock<Arc<Wake>>,
}

impl Local {
    /// Makes the files of a participant with this id: from now on others see it.
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
        // The control segment is linked first, and removed last: it says which participant owns the
        // others, and whether it lives.
        let bells = OwnSegment::create(domain, &bells)?;
        let control = NewControl::create(domain, id)?.publish()?;
        failpoints::at(Point::Joining);
        let bells = bells.publish().inspect_err(|_| {
            control.remove(); // there is nothing else of ours
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
            left: PlainU64::new(0),
            paused: PlainU64::new(0),
            files_stay: PlainU64::new(0),
            helper: OnceLock::new(),
        })
    }

    /// Whether others can find it: its control segment's name has not been removed.
    pub(crate) fn has_name(&self) -> bool {
        self.control.has_name()
    }

    pub(crate) fn control_path(&self) -> std::path::PathBuf {
        self.control.path()
    }

    /// Whether both are in the same directory, so that they know each other.
    pub(crate) fn shares_domain(&self, other: &Local) -> bool {
        self.domain == other.domain
    }

    /// Whether it may be used: it hasn't left, and this is not a forked child.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), CapacityError> {
        let forked = self.mark.is_child();
        if forked || self.has_left() {
            return Err(CapacityError::Left { forked });
        }
        Ok(())
    }

    /// Whether this is a child that its process forked: then nothing of it may be touched.
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

    /// Ends every sleep of this participant's threads: another user has rung.
    pub(crate) fn ring_all(&self) {
        let ports = self.control().map_or(0, |control| control.used(Table::Ports));
        (0..=u64::from(ports)).filter_map(|index| self.bell(index).ok()).for_each(|bell| bell.ring());
    }

    /// A bell that a peer names: its own, another peer's of the same process, or even ours.
    pub(crate) fn find_bell(&self, peer: &Peer, owner: u64, index: u64) -> Option<Ringer> {
        let found = if owner == peer.id() {
            peer.bell(index).map_err(|error| error.to_string())
        } else if owner == self.id {
            self.bell(index).map(Ringer::Bell).map_err(|error| error.to_string())
        } else if let Some(known) = self.readers.find(owner) {
            known.bell(index).map_err(|error| error.to_string())
        } else {
            let other = Peer::open(self.domain.directory(), owner);
            other.and_then(|other| other.bell(index)).map_err(|error| error.to_string())
        };
        found
            .map_err(|error| crate::tell_soon!(log::Level::Warn, "a port of {peer:?} can't be rung: {error}"))
            .ok()
    }

    // ---- what is taken up of others ----

    /// The slot under which this participant reads a peer's event rings, and its life.
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

    /// Where a peer's event ring is now; `None` if nothing of use is there.
    ///
    /// # Errors
    /// [`SegmentError`]: it can't be seen. That [may pass](SegmentError::may_pass).
    pub(crate) fn event_entries(&self, peer: &Peer, slot: u32) -> Result<Option<Entries>, SegmentError> {
        let record = peer.record::<EventRingRecord>(Table::EventRings, slot);
        let Some(record) = record else { return Ok(None) };
        let location = record.ring.load(Ordering::Acquire); // pairs with G2
        let (words, _) = peer.block(location)?;
        Ok(Entries::open(words))
    }

    /// The sink that reads what a peer announced under this connection.
    #[inline]
    pub(crate) fn sink(&self, peer: u64, connection: u32) -> Option<Arc<dyn Sink>> {
        let incoming = self.incoming.lock();
        let taken = incoming.get(&peer)?.get(connection as usize)?.as_ref()?;
        taken.sink.clone()
    }

    /// This one won't touch the record any more; it may be used again when the other one won't
    /// either.
    pub(crate) fn end_lease(&self, lease: &Lease, party: Party) {
        if lease.end(party)
            && let Ok(control) = self.control()
        {
            control.retire(Table::Incoming, lease.slot);
        }
    }

    /// A connection is forgotten by its writer: so by us.
    pub(crate) fn retire_incoming(&self, peer: u64, slot: u32, generation: u64) {
        let mut all = self.incoming.lock();
        let place = all.get_mut(&peer).and_then(|all| all.get_mut(slot as usize));
        let Some(place) = place else { return };
        if place.as_ref().is_none_or(|taken| taken.generation != generation) {
            return;
        }
        let taken = place.take();
        drop(all);
        if let Some(taken) = taken {
            self.end_lease(&taken.lease, Party::Helper);
        }
    }

    // ---- pauses ----

    /// Something of another participant can't be opened now: when that is to be tried again. Until
    /// then it is left alone, and what is connected goes on by itself, also if no writer announces
    /// anything: the helper thread sees to it.
    #[cold]
    pub(crate) fn pause(&self) -> i64 {
        let until = sys::steady() + PAUSE;
        self.try_again_at(until);
        until
    }

    /// Whether a pause isn't over.
    #[cold]
    pub(crate) fn is_pausing(&self, until: i64) -> bool {
        let is_pausing = sys::steady() < until;
        if is_pausing {
            self.try_again_at(until);
        }
        is_pausing
    }

    fn try_again_at(&self, until: i64) {
        // Relaxed: a time and no more. One that is overwritten by a later one is late by that.
        if self.paused.swap(until.cast_unsigned(), Ordering::Relaxed) == 0 {
            self.wake_helper();
        }
    }

    /// Has the helper thread look at once. Where that only begins, it looks by itself, a little
    /// later.
    pub(crate) fn wake_helper(&self) {
        if let Some(wake) = self.helper.get() {
            wake.wake();
        }
    }

    /// How long it is until something is to be tried again.
    pub(crate) fn paused(&self) -> Option<i64> {
        let until = self.paused.load(Ordering::Relaxed).cast_signed(); // as above
        (until != 0).then(|| (until - sys::steady()).max(0))
    }

    /// True once when a pause is over.
    pub(crate) fn ends_pause(&self) -> bool {
        let is_over = self.paused() == Some(0);
        if is_over {
            // Before they try: a thread that pauses again says so again.
            self.paused.store(0, Ordering::Relaxed);
        }
        is_over
    }

    // ---- holds ----

    /// Makes sure that there are some words to mark chunks with: without any, nothing can be read
    /// that lies in one.
    pub(crate) fn prepare_marks(&self) -> Result<(), CapacityError> {
        if self.hazards.ready() == 0 {
            self.hazards.add(self.control()?.reserve(Table::Holds, FEWEST_MARKS)?);
        }
        Ok(())
    }

    /// A word to mark a chunk with that is read in place; `None` at the limit.
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

    /// A message was copied, since no mark was to be had.
    #[cold]
    pub(crate) fn has_copied(&self) {
        if self.control().is_ok_and(|control| control.count_copied() == 0) {
            crate::tell_soon!(
                log::Level::Warn,
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

    /// No thread begins anything from now on. True once, and not in a forked child.
    pub(crate) fn begin_to_leave(&self) -> bool {
        if self.mark.is_child() || self.left.swap(1, Ordering::AcqRel) != 0 {
            return false;
        }
        self.hazards.refuse(); // Q1
        true
    }

    /// Tells the others, and removes the files, unless a participant still reads what is in them.
    pub(crate) fn leave(&self, is_read: impl FnOnce() -> bool) {
        self.control.leave(); // Q2
        let is_read = is_read();
        failpoints::at(Point::Leaving);
        if !is_read {
            self.memory.remove_names();
            self.bells.remove();
            let _ = self.domain.directory().remove(&doorbell_name(self.id)); // there is one for other users only
        }
        self.files_stay.store(u64::from(is_read), Ordering::Relaxed); // the lock of `are_all_back` publishes it
        if self.hazards.are_all_back() {
            self.let_go();
        }
    }

    /// Q3: nothing of others is read in place any more.
    #[cold]
    fn let_go(&self) {
        self.control.let_go();
        if self.files_stay.load(Ordering::Relaxed) == 0 {
            failpoints::at(Point::LeftControl);
            self.control.remove(); // last: it says which participant owns the others
            return;
        }
        // Readers may have left since, and found that we hadn't let go.
        let directory = self.domain.directory();
        let is_read = match Peer::open(directory, self.id) {
            Ok(own) => leftovers::is_read_by_others(directory, &own),
            // A participant that can't look now can't tell; others find them without an owner,
            // later.
            Err(error) => error.may_pass(),
        };
        if !is_read {
            leftovers::remove_files(&self.domain, self.id);
        }
    }
}

/// Makes the file that other users touch to have this participant's bells rung, where there are
/// other users.
fn make_doorbell(domain: &Domain, id: u64) -> Result<(), SystemError> {
    let Some(mode) = domain.touch_mode() else { return Ok(()) };
    let (directory, name) = (domain.directory(), doorbell_name(id));
    let file = directory.unnamed()?;
    sys::change_mode(&file, mode, &directory.join(&name))?;
    directory.link(&file, &name)
}
