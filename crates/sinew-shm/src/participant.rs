//! A participant: a process's presence in a domain.

use crate::bell::{BELLS_LENGTH, Bell, SPACE_BELL, bell_offset};
use crate::control::{EntityRecord, EventRingRecord, PeerRecord, Table, names_life};
use crate::counters::Counters;
use crate::discovery::{Discovery, Helper, is_read_by_others, remove_files};
use crate::domain::Domain;
use crate::entity::{Entity, EntityKey};
use crate::error::{CapacityError, JoinError, SegmentError, SystemError};
use crate::events::Entries;
use crate::holds::{Holds, Mark};
use crate::incoming::{Incoming, Taken};
use crate::kill::{self, Point};
use crate::logging::tell_waiting;
use crate::memory::Memory;
use crate::own::{NewControl, OwnControl};
use crate::peer::Peer;
use crate::place::Place;
use crate::port::{Port, Sink};
use crate::readers::Readers;
use crate::segment::{Kind, NewSegment, OwnSegment, doorbell_name};
use crate::sync::{Arc, Mutex, Ordering, PlainMutex, PlainU64};
use crate::sys::{self, ForkMark};
use crate::towards::Towards;
use crate::writer::Accepted;
use std::collections::HashMap;
use std::fmt;
use std::sync::Weak;

/// What a participant is told of the others. Called by its helper thread, or by a thread of its own
/// process that asked for news ([`Participant::refresh`]), one call at a time, in the order in
/// which things happened at each peer.
///
/// What is told here is told under a lock: nothing in these calls should wait for another thread,
/// or run or drop anything of a user's, who could wait for one. For what has to be done without it
/// there is [`attend`](Self::attend).
pub trait Observer: Send + Sync + 'static {
    /// Runs `look`, which makes the calls below, on the same thread, with no lock held before and
    /// after it. What those leave to do can be done here afterwards.
    fn attend(&self, look: &mut dyn FnMut()) {
        look();
    }
    /// A peer has this entity now.
    fn appeared(&self, peer: &Arc<Peer>, key: EntityKey, entity: &Entity);
    /// A peer has it no more.
    fn vanished(&self, peer: &Arc<Peer>, key: EntityKey);
    /// A peer's entity sends to this participant from now on; with `target`, to that entity of ours
    /// alone. Returns who reads it, if somebody does.
    fn connected(&self, incoming: Incoming, target: Option<EntityKey>) -> Option<Arc<dyn Sink>>;
    /// A peer has left, or died. Its entities have vanished before.
    fn left(&self, peer: &Arc<Peer>);
    /// Called every few seconds, whatever happens, and under no lock: there may be room for what
    /// there was none for. Does nothing by default.
    fn retry(&self) {}
}

/// How long what couldn't be opened is left alone.
const PAUSE: i64 = 20_000_000;

/// Words to mark chunks with that a participant has at least, once it reads.
const FEWEST_MARKS: usize = 8;

/// A process's presence in a domain: owner of its segments, known to all others there.
///
/// Made by [`join`](Self::join). It [leaves](Self::leave) at the latest when it and all that was
/// made with it is dropped, or its process ends, however that happens.
pub struct Participant {
    id: u64,
    domain: Domain,
    mark: ForkMark,
    control: OwnControl,
    bells: OwnSegment,
    pub(crate) memory: Memory,
    pub(crate) holds: Holds,
    /// Who copies what can't be held: the last hold is that one's.
    pub(crate) copying: PlainMutex<()>,
    pub(crate) readers: Readers,
    pub(crate) discovery: Mutex<Discovery>,
    pub(crate) observer: std::sync::OnceLock<Arc<dyn Observer>>,
    ports: Mutex<HashMap<u32, Weak<Port>>>,
    /// Those who are sent to: by their id, by port.
    pub(crate) towards: Mutex<Vec<Arc<Towards>>>,
    /// Event rings whose ports are gone, of readers that may still look there.
    pub(crate) outlived: Mutex<Vec<Arc<Towards>>>,
    /// Connections of this participant as a writer, by slot.
    pub(crate) outgoing: Mutex<HashMap<u32, Arc<Accepted>>>,
    /// Connections of this participant as a reader: by the writer's id, by the writer's slot.
    pub(crate) incoming: Mutex<HashMap<u64, Vec<Option<Taken>>>>,
    /// This participant's slot for a peer whose event rings it reads.
    peers: Mutex<HashMap<u64, u32>>,
    left: PlainU64,
    /// When something that couldn't be opened is to be tried again, in steady nanoseconds; 0:
    /// nothing is.
    paused: PlainU64,
    /// 1: it has left, and its readers remove its files.
    files_stay: PlainU64,
    helper: PlainMutex<Option<Helper>>,
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Participant({:016x} in {})", self.id, self.domain.path().display())
    }
}

impl Participant {
    /// Joins a domain, with a random id. Who is there is known to the observer when this returns;
    /// who comes later is noticed by a thread of this participant, which sleeps while nothing
    /// changes.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join(domain: &Domain, observer: Arc<dyn Observer>) -> Result<Arc<Self>, JoinError> {
        Self::join_as(sys::random(), domain, observer)
    }

    /// Joins a domain with this id, which is random: nobody else has or had it.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn join_as(id: u64, domain: &Domain, observer: Arc<dyn Observer>) -> Result<Arc<Self>, JoinError> {
        domain.warn_of_medium();
        let mark = ForkMark::new().map_err(SystemError::io("mmap", domain.path()))?;
        let bells = NewSegment {
            kind: Kind::Bells,
            owner: id,
            number: 0,
            length: BELLS_LENGTH,
            reserved: BELLS_LENGTH,
            locked: false,
        };
        // The control segment is linked first, and removed last: it says whose files the others
        // are, and whether he lives.
        let bells = OwnSegment::create(domain, &bells)?;
        let control = NewControl::create(domain, id)?.publish()?;
        kill::at(Point::Joining);
        let bells = bells.publish().inspect_err(|_| {
            control.remove(); // there is nothing else of ours
        })?;
        let remove = || {
            bells.remove();
            control.remove();
        };
        make_doorbell(domain, id).inspect_err(|_| remove())?;
        let holds = Holds::new(control.records(Table::Holds)?);
        let discovery = Discovery::new(domain, id);
        let participant = Arc::new(Self {
            id,
            domain: domain.clone(),
            mark,
            control,
            bells,
            memory: Memory::new(domain.clone(), id),
            holds,
            copying: PlainMutex::default(),
            readers: Readers::default(),
            discovery: Mutex::new(discovery),
            observer: std::sync::OnceLock::new(),
            ports: Mutex::default(),
            towards: Mutex::default(),
            outlived: Mutex::default(),
            outgoing: Mutex::default(),
            incoming: Mutex::default(),
            peers: Mutex::default(),
            left: PlainU64::new(0),
            paused: PlainU64::new(0),
            files_stay: PlainU64::new(0),
            helper: PlainMutex::default(),
        });
        let _ = participant.observer.set(observer);
        participant.refresh();
        *participant.helper.lock() = Some(Helper::start(&participant)?);
        participant.prepare_fences();
        Ok(participant)
    }

    /// Has the kernel's fences prepared, on a thread of its own, for it takes long; until then
    /// every publish takes its own.
    fn prepare_fences(self: &Arc<Self>) {
        static PREPARED: std::sync::Once = std::sync::Once::new();
        if !sys::are_fences_unknown() {
            return;
        }
        let this = Arc::downgrade(self);
        let prepare = move || {
            PREPARED.call_once(sys::prepare_fences);
            if let Some(this) = this.upgrade().filter(|_| sys::fences_threads()) {
                this.leave_fences_to_kernel();
            }
        };
        if let Err(error) = std::thread::Builder::new().name("sinew-fences".to_owned()).spawn(prepare) {
            crate::tell!(
                log::Level::Info,
                "no thread to prepare the kernel's fences: publishing takes fences of its own ({error})"
            );
        }
    }

    /// The kernel's fences are ready. As when a reader begins to listen: see
    /// `Accepted::has_listener`.
    fn leave_fences_to_kernel(&self) {
        let outgoing: Vec<_> = self.outgoing.lock().values().cloned().collect();
        outgoing.iter().for_each(|accepted| accepted.set_fenced());
        if !sys::fence_all_threads() {
            outgoing.iter().for_each(|accepted| accepted.set_unfenced());
        }
        outgoing.iter().for_each(|accepted| accepted.announce());
    }

    /// Whether others can find it: nobody has removed its control segment's name.
    pub(crate) fn has_name(&self) -> bool {
        self.control.has_name()
    }

    pub(crate) fn control_path(&self) -> std::path::PathBuf {
        self.control.path()
    }

    /// Its id, random: no other participant has or had it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The domain it is in.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Whether both are in the same directory, so that they know each other.
    pub(crate) fn shares_domain(&self, other: &Participant) -> bool {
        self.domain == other.domain
    }

    /// Whether it may be used: it hasn't left, and this is not a forked child.
    #[inline]
    pub fn check(&self) -> Result<(), CapacityError> {
        let forked = self.mark.is_child();
        if forked || self.has_left() {
            return Err(CapacityError::Left { forked });
        }
        Ok(())
    }

    /// Whether this is a child that its process forked: then nothing of it may be touched.
    #[inline]
    pub fn is_forked(&self) -> bool {
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
        offset.and_then(|offset| Place::at(&self.bells.mapping, offset)).map(Bell).ok_or(wrong)
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
    /// if it has one.
    ///
    /// # Errors
    /// [`CapacityError`]
    pub fn advertise(
        self: &Arc<Self>,
        entity: &Entity,
        node: Option<EntityKey>,
    ) -> Result<OwnEntity, CapacityError> {
        self.check()?;
        let slot = self.control.allocate(Table::Entities)?;
        let record: Place<EntityRecord> = self.control.record(Table::Entities, slot)?;
        entity.store(&record, node.map_or(0, |node| node.slot));
        let reference = self.control.publish(Table::Entities, slot);
        Ok(OwnEntity {
            participant: self.clone(),
            key: EntityKey::of(reference),
            record,
            kept: PlainU64::new(0),
        })
    }

    // ---- ports ----

    pub(crate) fn add_port(&self, port: &Arc<Port>) {
        self.ports.lock().insert(crate::control::slot_of(port.reference), Arc::downgrade(port));
    }

    pub(crate) fn remove_port(&self, slot: u32) {
        self.ports.lock().remove(&slot);
    }

    /// The port that a reference names, if it lives.
    pub(crate) fn port(&self, reference: u64) -> Option<Arc<Port>> {
        let port = self.ports.lock().get(&crate::control::slot_of(reference))?.upgrade()?;
        names_life(reference, port.reference).then_some(port)
    }

    pub(crate) fn each_port(&self, act: impl Fn(&Port)) {
        let ports: Vec<_> = self.ports.lock().values().filter_map(Weak::upgrade).collect();
        ports.iter().for_each(|port| act(port));
    }

    /// The slot under which this participant reads a peer's event rings, and its life.
    pub(crate) fn slot_for(&self, peer: u64) -> Result<(u32, u64), CapacityError> {
        let control = self.control()?;
        let mut peers = self.peers.lock();
        let slot = match peers.get(&peer) {
            Some(&slot) => slot,
            None => {
                let slot = control.allocate(Table::Peers)?;
                let record: Place<PeerRecord> = control.record(Table::Peers, slot)?;
                record.id.store(peer, Ordering::Relaxed); // T2 publishes it
                control.publish(Table::Peers, slot);
                peers.insert(peer, slot);
                slot
            }
        };
        let record: Place<PeerRecord> = control.record(Table::Peers, slot)?;
        Ok((slot, record.life.load(Ordering::Relaxed))) // our own
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

    /// Something of another participant can't be opened now: when that is to be tried again. Until
    /// then it is left alone, and what is connected goes on by itself, also if nobody announces
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

    /// Has the helper thread look at once. Where that is about to end, or only begins, it looks by
    /// itself, a little later.
    pub(crate) fn wake_helper(&self) {
        if let Some(helper) = self.helper.try_lock()
            && let Some(helper) = &*helper
        {
            helper.wake();
        }
    }

    /// How long it is until something is to be tried again.
    pub(crate) fn paused(&self) -> Option<i64> {
        let until = self.paused.load(Ordering::Relaxed).cast_signed(); // as above
        (until != 0).then(|| (until - sys::steady()).max(0))
    }

    /// A pause is over: whoever had one reads on. Returns who is to be drained.
    pub(crate) fn go_on(&self) -> Vec<Arc<dyn Sink>> {
        if self.paused() != Some(0) {
            return Vec::new();
        }
        self.paused.store(0, Ordering::Relaxed); // before they try: who pauses again says so again
        self.each_port(Port::ring);
        let all = self.incoming.lock();
        all.values().flatten().flatten().filter_map(|taken| taken.sink.clone()).collect()
    }

    /// Who reads what a peer announced under this connection.
    #[inline]
    pub(crate) fn sink(&self, peer: u64, connection: u32) -> Option<Arc<dyn Sink>> {
        let incoming = self.incoming.lock();
        let taken = incoming.get(&peer)?.get(connection as usize)?.as_ref()?;
        taken.sink.clone()
    }

    /// Makes sure that there are some words to mark chunks with: without any, nothing can be read
    /// that lies in one.
    pub(crate) fn prepare_marks(&self) -> Result<(), CapacityError> {
        if self.holds.ready() == 0 {
            self.holds.add(self.control()?.reserve(Table::Holds, FEWEST_MARKS)?);
        }
        Ok(())
    }

    /// A word to mark a chunk with that is read in place; `None` at the limit.
    #[inline]
    pub(crate) fn take_mark(&self) -> Option<Mark> {
        self.holds.take().or_else(|| self.more_marks())
    }

    #[cold]
    fn more_marks(&self) -> Option<Mark> {
        let wanted = (self.holds.ready() * 2).clamp(FEWEST_MARKS, self.holds.limit());
        let ready = self.control().ok()?.reserve(Table::Holds, wanted).ok()?;
        self.holds.add(ready);
        self.holds.take()
    }

    /// Messages that were copied because this participant had [as many](crate::Hold) of other
    /// processes in use as it may (4095): nothing is lost, but each costs its length. The first one
    /// is logged as a warning.
    pub fn copied(&self) -> u64 {
        self.control().map_or(0, OwnControl::copied)
    }

    /// A message was copied, since no mark was to be had.
    #[cold]
    pub(crate) fn has_copied(&self) {
        if self.control().is_ok_and(|control| control.count_copied() == 0) {
            crate::tell_soon!(
                log::Level::Warn,
                "{} messages of other processes are in use at once, as many as can be: further ones are copied, which takes longer; \
                 let go of them earlier, or keep copies",
                self.holds.limit() - 1
            );
        }
    }

    /// H7.
    #[inline]
    pub(crate) fn give_back(&self, mark: &Mark) {
        if self.holds.give_back(mark) {
            self.let_go();
        }
    }

    // ---- leaving ----

    /// Leaves the domain: tells the others, and removes the files as soon as nobody needs them.
    /// What is published can still be read by those who are connected. Messages that are
    /// [held](crate::Hold) stay as they are; until the last of them is dropped, the control segment
    /// keeps its name.
    pub fn leave(&self) {
        if self.mark.is_child() || self.left.swap(1, Ordering::AcqRel) != 0 {
            return;
        }
        self.holds.refuse(); // Q1
        let helper = self.helper.lock().take();
        if let Some(helper) = helper {
            helper.stop();
        }
        tell_waiting(); // the thread that would have said it has ended
        let outgoing: Vec<_> = self.outgoing.lock().values().cloned().collect();
        outgoing.iter().for_each(|accepted| accepted.end_if_open());
        // What is read here is read no more. Its readers refer to this participant, so they
        // wouldn't go by themselves.
        let incoming = std::mem::take(&mut *self.incoming.lock());
        drop(incoming);
        self.control.leave(); // Q2
        let read_on = outgoing.iter().any(|accepted| !accepted.is_done() && accepted.peer_lives());
        kill::at(Point::Leaving);
        if !read_on {
            self.memory.remove_names();
            self.bells.remove();
            let _ = self.domain.directory().remove(&doorbell_name(self.id)); // there is one for other users only
        }
        self.files_stay.store(u64::from(read_on), Ordering::Relaxed); // the lock of `are_all_back` publishes it
        if self.holds.are_all_back() {
            self.let_go();
        }
        let mut discovery = self.discovery.lock();
        self.clear_up(&discovery);
        discovery.forget();
        drop(discovery);
        let connections = std::mem::take(&mut *self.outgoing.lock()); // they, too, refer to this participant
        drop(connections);
        if let Ok(bell) = self.space_bell() {
            bell.ring();
        }
    }
}

impl Participant {
    /// Q3: nothing of others is read in place any more.
    #[cold]
    fn let_go(&self) {
        self.control.let_go();
        if self.files_stay.load(Ordering::Relaxed) == 0 {
            kill::at(Point::LeftControl);
            self.control.remove(); // last: it says whose files the others are
            return;
        }
        // Readers may have left since, and found that we hadn't let go.
        let directory = self.domain.directory();
        let is_read = match Peer::open(directory, self.id) {
            Ok(own) => is_read_by_others(directory, &own),
            // Who can't look now can't tell; others find them without an owner, later.
            Err(error) => error.may_pass(),
        };
        if !is_read {
            remove_files(&self.domain, self.id);
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

impl Drop for Participant {
    fn drop(&mut self) {
        self.leave();
    }
}

/// An entity that the others are told of, until this is dropped.
pub struct OwnEntity {
    pub(crate) participant: Arc<Participant>,
    key: EntityKey,
    pub(crate) record: Place<EntityRecord>,
    /// 1: its record is retired by somebody else, later.
    pub(crate) kept: PlainU64,
}

impl fmt::Debug for OwnEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnEntity({:?})", self.key)
    }
}

impl OwnEntity {
    /// Its place in its participant's table.
    pub fn key(&self) -> EntityKey {
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

    /// Its counters now.
    pub fn counts(&self) -> crate::entity::Counts {
        crate::entity::Counts::load(&self.record)
    }
}

impl Drop for OwnEntity {
    fn drop(&mut self) {
        if self.kept.load(Ordering::Relaxed) == 0 // set by the same owner
            && let Ok(control) = self.participant.control()
        {
            control.retire(Table::Entities, self.key.slot);
        }
    }
}
