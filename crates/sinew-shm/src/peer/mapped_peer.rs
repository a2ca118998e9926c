//! Another participant, as this process has mapped it.

use crate::error::{SegmentError, SegmentProblem};
use crate::platform::shm_ref::{Record, ShmRef};
use crate::platform::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::platform::sys;
use crate::segment::directory::Directory;
use crate::segment::header::SegmentKind;
use crate::segment::peer_segment::{PeerSegment, ReservedLength, open_doorbell};
use crate::tables::bell::{BELLS_LENGTH, Bell, SPACE_BELL, bell_offset};
use crate::tables::control_segment::{self, ControlHeader, FIXED, LENGTH, PAGE, PROGRAM, TABLES, Table};
use crate::tables::endpoint::{Counts, Endpoint, EndpointKey, printable};
use crate::tables::own_tables::own_program;
use rustix::fd::OwnedFd;
use std::collections::HashMap;
use std::fmt;

/// Another participant of the domain.
pub struct Peer {
    id: u64,
    directory: Arc<Directory>,
    control: PeerSegment,
    header: ShmRef<ControlHeader>,
    bells: Mutex<Option<Bells>>,
    /// The mapped data segments, by number.
    data: Mutex<HashMap<u64, Arc<PeerSegment>>>,
    /// 1 once the participant's end was noticed: it reads and writes nothing any more, except for
    /// messages that it still holds.
    gone: AtomicU64,
    /// 1 once the participant's lock was found free.
    dead: AtomicU64,
    /// The position of its log up to which its entities are reported to the observer.
    followed: AtomicU64,
    /// The lengths that the participant has declared for its tables.
    declared: [ReservedLength; TABLES],
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peer({:016x})", self.id)
    }
}

/// The way to ring a peer's bells.
#[derive(Clone)]
enum Bells {
    /// The bells' words in the peer's memory; the peer belongs to the same user.
    Words(Arc<PeerSegment>),
    Doorbell(Arc<OwnedFd>),
}

/// A bell of a peer, to be rung.
pub(crate) enum Ringer {
    /// The word that the peer's threads sleep on.
    Bell(Bell),
    /// A file of another user's participant. Touching it notifies the participant's helper thread,
    /// which rings all of its bells.
    Doorbell(Arc<OwnedFd>),
}

impl Ringer {
    /// Ends a sleep that began, or begins, before this call.
    pub(crate) fn ring(&self) {
        match self {
            Self::Bell(bell) => bell.ring(),
            // Fails only if the file's mode was changed; a thread that sleeps then checks by itself
            // later.
            Self::Doorbell(file) => drop(sys::touch(file)),
        }
    }
}

/// The changes that a peer's log reports.
pub(crate) enum Changes {
    /// The changed records, and the position to continue from.
    Some(Vec<(Table, u32)>, u64),
    /// Too many changes: all tables must be read. Holds the position to continue from.
    All(u64),
}

/// Returns the name of this process's program as other participants see it: without its path, its
/// first 64 bytes, without control characters. Allocates it.
///
/// ```
/// assert!(!sinew_shm::program_name().contains('/'));
/// ```
pub fn program_name() -> String {
    let name = own_program();
    name_in(&name.as_bytes()[..name.len().min(PROGRAM)])
}

/// Returns the text before the first zero.
fn name_in(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    printable(&String::from_utf8_lossy(&bytes[..end]))
}

impl Peer {
    /// Maps another participant's control segment.
    pub(crate) fn open(directory: &Arc<Directory>, id: u64) -> Result<Self, SegmentError> {
        let control = PeerSegment::open(directory, SegmentKind::Control, (id, None), 0, FIXED)?;
        let length = control.mapping.length();
        let short = || {
            let problem = SegmentProblem::Truncated { length: length as u64, needed: LENGTH as u64 };
            SegmentError::new(&control.name, problem)
        };
        if length < LENGTH {
            return Err(short());
        }
        let header = ShmRef::at(&control.mapping, 0).ok_or_else(short)?;
        Ok(Self {
            id,
            directory: directory.clone(),
            control,
            header,
            bells: Mutex::default(),
            data: Mutex::default(),
            gone: AtomicU64::new(0),
            followed: AtomicU64::new(0),
            dead: AtomicU64::new(0),
            declared: Default::default(),
        })
    }

    /// Returns the participant's id: the first half of its entities' gids.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the process id, in the PID namespace of that process.
    pub fn pid(&self) -> u64 {
        self.header.pid.load(Ordering::Relaxed) // written before the segment got its name
    }

    /// Returns the name of the participant's program, without control characters.
    pub fn program(&self) -> String {
        let words = self.header.program.iter();
        let bytes: Vec<u8> = words.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        name_in(&bytes)
    }

    /// Returns when the participant joined, in wall-clock nanoseconds.
    pub fn started(&self) -> i64 {
        self.header.started.load(Ordering::Relaxed).cast_signed() // as `pid`
    }

    /// Returns the number of messages that the participant has copied because every hold was in
    /// use: see [`Participant::copied`](crate::transport::Participant::copied).
    pub fn copied(&self) -> u64 {
        self.header.copied.load(Ordering::Relaxed) // independent of other words
    }

    /// Whether the participant has left its domain, rather than died in it.
    pub(crate) fn has_left(&self) -> bool {
        control_segment::has_left(&self.header.state)
    }

    /// Q4: whether the participant has no hold and never will again: it has released them all, or
    /// is dead.
    pub(crate) fn holds_nothing(&self) -> bool {
        // Pairs with `set_dead`.
        control_segment::has_let_go(&self.header.state) || self.dead.load(Ordering::Acquire) != 0
    }

    /// Whether the participant's lock is taken, even if its files have lost their names.
    pub(crate) fn is_alive(&self) -> bool {
        self.control.is_locked()
    }

    /// Whether other participants can still find it.
    pub(crate) fn has_name(&self) -> bool {
        self.control.has_name(&self.directory)
    }

    /// Notes that the participant's lock was found free.
    pub(crate) fn set_dead(&self) {
        self.dead.store(1, Ordering::Release); // carries that it reads nothing
    }

    /// Whether the participant's end was noticed. A thread that adds something for the participant
    /// to a list checks this afterwards, with or without the list's lock:
    /// [`set_gone`](Self::set_gone) comes before the lists are cleared, so either the clearing
    /// finds the addition, or this returns `true`.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire) != 0 // pairs with `set_gone`
    }

    /// Notes that the participant has left or died.
    pub(crate) fn set_gone(&self) {
        self.gone.store(1, Ordering::Release); // carries that its memory stays as it is
    }

    /// The name of its control segment's file.
    pub(crate) fn file(&self) -> &str {
        &self.control.name
    }

    /// Number of records of a table that may be accessed.
    #[inline]
    pub(crate) fn reserved(&self, table: Table) -> u32 {
        let declared = || self.says_reserved(table);
        let reserved =
            self.declared[table as usize].check(declared, |declared| self.has_room(table, declared));
        u32::try_from(reserved).unwrap_or(0)
    }

    fn says_reserved(&self, table: Table) -> u64 {
        // Acquire: pairs with the Release in `OwnControl::grow`.
        self.header.reserved[table as usize].load(Ordering::Acquire).min(table.capacity() as u64)
    }

    /// Whether the file has room for `needed` records of this table, and for the declared records
    /// of the others.
    #[cold]
    fn has_room(&self, table: Table, declared: u64) -> bool {
        let pages =
            |(table, records): (Table, u64)| (records * table.size() as u64).next_multiple_of(PAGE as u64);
        let others = Table::ALL.into_iter().filter(|&other| other != table);
        let all = others
            .map(|other| (other, self.says_reserved(other).max(self.declared[other as usize].checked())));
        let needed = FIXED as u64 + all.chain([(table, declared)]).map(pages).sum::<u64>();
        self.control.allocated() >= needed // read last: space is allocated before it is declared
    }

    /// A record of one of the participant's tables; `None` if it may not be accessed (yet).
    pub(crate) fn record<R: Record>(&self, table: Table, slot: u32) -> Option<ShmRef<R>> {
        debug_assert!(size_of::<R>() == table.size());
        if slot >= self.reserved(table) {
            return None;
        }
        ShmRef::at(&self.control.mapping, table.offset() + slot as usize * table.size())
    }

    /// All records of a table that may be accessed.
    pub(crate) fn records<R: Record>(&self, table: Table) -> Option<ShmRef<[R]>> {
        ShmRef::slice(&self.control.mapping, table.offset(), self.reserved(table) as usize)
    }

    /// L3: the changes since this position of the participant's log.
    pub(crate) fn changes(&self, since: u64) -> Changes {
        match control_segment::entered(&self.header.log, &self.header.changes, since) {
            Ok((changes, head)) => Changes::Some(changes, head),
            Err(head) => Changes::All(head),
        }
    }

    /// Whether anything has changed since this position of the participant's log.
    pub(crate) fn has_changed(&self, since: u64) -> bool {
        self.header.changes.load(Ordering::Acquire) != since // as L3, which follows
    }

    /// Whether the participant has entities or connections, or has lost some, that are not reported
    /// to the [observer](crate::transport::Observer) yet; a
    /// [refresh](crate::transport::Participant::refresh) reports them. What it did before it sent a
    /// message is seen by a thread that has read the message. Two loads.
    #[inline]
    pub fn has_news(&self) -> bool {
        // Acquire: what was reported before is visible to a thread that needn't refresh.
        self.has_changed(self.followed.load(Ordering::Acquire))
    }

    /// Everything up to this position of the log is reported.
    pub(crate) fn is_followed(&self, position: u64) {
        self.followed.store(position, Ordering::Release); // pairs with `has_news`
    }

    /// The record of one of the participant's entities.
    pub(crate) fn endpoint_record(
        &self,
        slot: u32,
    ) -> Option<ShmRef<crate::tables::control_segment::EndpointRecord>> {
        self.record(Table::Endpoints, slot)
    }

    /// Returns the participant's entities now. Invalid records are skipped.
    pub fn endpoints(&self) -> Vec<(EndpointKey, Endpoint)> {
        let mut endpoints = Vec::new();
        for slot in 0..self.reserved(Table::Endpoints) {
            let Some(record) = self.endpoint_record(slot) else { break };
            if let Ok(Some((generation, endpoint))) = Endpoint::load(&record, self.file()) {
                endpoints.push((
                    EndpointKey::of(crate::tables::control_segment::reference(slot, generation)),
                    endpoint,
                ));
            }
        }
        endpoints
    }

    /// Returns one of the participant's entities; `None` if it is gone, or its record is invalid.
    pub(crate) fn endpoint(&self, key: EndpointKey) -> Option<Endpoint> {
        let record = self.endpoint_record(key.slot)?;
        let (generation, endpoint) = Endpoint::load(&record, self.file()).ok()??;
        (EndpointKey::of(control_segment::reference(key.slot, generation)) == key).then_some(endpoint)
    }

    /// Returns the counters of one of the participant's entities; `None` if the entity is gone.
    /// Takes a few hundred loads; the peer doesn't notice.
    pub fn counts(&self, key: EndpointKey) -> Option<Counts> {
        let record = self.endpoint_record(key.slot)?;
        let (generation, counts) =
            control_segment::read_generation(&record.generation, || Counts::load(&record))?;
        control_segment::names_generation(u64::from(key.generation), generation).then_some(counts)
    }

    /// Returns when the participant's helper thread stored its last
    /// [heartbeat](crate::transport::Participant::beat_every), in steady nanoseconds of the
    /// machine; `None` if it stores none. One load; the peer doesn't notice.
    pub fn last_beat(&self) -> Option<i64> {
        let at = self.header.alive.load(Ordering::Relaxed); // independent of other words
        (at != 0).then(|| at.cast_signed())
    }

    /// Returns when one of the participant's entities last stored a heartbeat, in steady
    /// nanoseconds of the machine; `None` if the entity is gone, or stores none. Takes a few loads;
    /// the peer doesn't notice.
    pub fn last_alive(&self, key: EndpointKey) -> Option<i64> {
        let record = self.endpoint_record(key.slot)?;
        let load = || record.alive.load(Ordering::Relaxed); // T3 checks that it is still this entity's
        let (generation, at) = control_segment::read_generation(&record.generation, load)?;
        let is_it = control_segment::names_generation(u64::from(key.generation), generation);
        (is_it && at != 0).then(|| at.cast_signed())
    }

    /// Returns `true` if the participant still has this entity, according to its own records. A
    /// participant that was killed seems to have it until its end is noticed. Takes a few loads;
    /// the peer doesn't notice.
    pub fn has(&self, key: EndpointKey) -> bool {
        // Acquire: pairs with T2; an entity that is found was advertised.
        let is_alive = |record: ShmRef<crate::tables::control_segment::EndpointRecord>| {
            control_segment::names_generation(
                u64::from(key.generation),
                record.generation.load(Ordering::Acquire),
            )
        };
        !self.is_gone() && !self.has_left() && self.endpoint_record(key.slot).is_some_and(is_alive)
    }

    /// Returns `true` if the participant has left its domain, or was found dead. One or two loads;
    /// never blocks.
    pub fn has_ended(&self) -> bool {
        self.is_gone() || self.has_left()
    }

    /// Opens the participant's bells while they have a name, so that this process can ring them as
    /// long as it is connected. Errors are reported when a bell is rung.
    pub(crate) fn open_bells(&self) {
        let _ = self.bell(SPACE_BELL); // tried again when a bell is rung
    }

    /// One of the participant's bells.
    pub(crate) fn bell(&self, index: u64) -> Result<Ringer, SegmentError> {
        let mut bells = self.bells.lock();
        let found = match &*bells {
            Some(found) => found.clone(),
            None => bells.insert(self.find_bells()?).clone(),
        };
        drop(bells);
        let segment = match found {
            Bells::Words(segment) => segment,
            Bells::Doorbell(file) => return Ok(Ringer::Doorbell(file)),
        };
        let wrong = || SegmentError::field(&segment.name, "bell", index, Table::Ports.capacity() as u64);
        let offset = usize::try_from(index).ok().and_then(bell_offset).ok_or_else(wrong)?;
        if offset + 4 > segment.reserved() {
            return Err(wrong());
        }
        ShmRef::at(&segment.mapping, offset).map(Bell).map(Ringer::Bell).ok_or_else(wrong)
    }

    fn find_bells(&self) -> Result<Bells, SegmentError> {
        // Memory that another user may shorten is mapped only if there is no other way.
        if self.control.user != rustix::process::geteuid().as_raw()
            && let Some(file) = open_doorbell(&self.directory, self.id, self.control.user)?
        {
            return Ok(Bells::Doorbell(Arc::new(file)));
        }
        let segment =
            PeerSegment::open(&self.directory, SegmentKind::Bells, self.identity(), 0, BELLS_LENGTH)?;
        Ok(Bells::Words(Arc::new(segment)))
    }

    /// The participant, and the user that owns its files.
    fn identity(&self) -> (u64, Option<u32>) {
        (self.id, Some(self.control.user))
    }

    /// One of the participant's data segments, mapped on first use.
    pub(crate) fn data(&self, number: u64) -> Result<Arc<PeerSegment>, SegmentError> {
        if let Some(segment) = self.data.lock().get(&number) {
            return Ok(segment.clone());
        }
        let segment = PeerSegment::open(&self.directory, SegmentKind::Data, self.identity(), number, PAGE)?;
        let segment = Arc::new(segment);
        Ok(self.data.lock().entry(number).or_insert(segment).clone())
    }

    /// The words of one of the participant's blocks, from `location` to the end of the accessible
    /// memory.
    pub(crate) fn block(
        &self,
        location: u64,
    ) -> Result<(ShmRef<[AtomicU64]>, Arc<PeerSegment>), SegmentError> {
        let segment = self.data(location >> 32)?;
        let offset = usize::try_from(location & 0xffff_ffff).unwrap_or(usize::MAX).saturating_mul(64);
        let reserved = segment.reserved();
        let wrong =
            || SegmentError::field(&segment.name, "offset of a block", offset as u64, reserved as u64);
        let words = reserved.checked_sub(offset).ok_or_else(wrong)? / 8;
        let place = ShmRef::slice(&segment.mapping, offset, words).ok_or_else(wrong)?;
        Ok((place, segment))
    }
}
