//! The writing side of the control segment: this participant's own tables.

use crate::error::{CapacityError, JoinError};
use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::{Record, ShmRef};
use crate::platform::sync::{AtomicU64, Mutex, Ordering};
use crate::platform::sys;
use crate::segment::domain::Domain;
use crate::segment::header::SegmentKind;
use crate::segment::own_segment::{NewSegment, OwnSegment, Unpublished};
use crate::tables::control_segment::{self, ControlHeader, FIXED, LENGTH, PAGE, TABLES, Table, reference};

/// Least number of records of each table that have room from the beginning: enough for one or two
/// nodes, rounded up to whole pages.
const SET_ASIDE: [(Table, usize); TABLES] = [
    (Table::Endpoints, 16),
    (Table::Outgoing, 1),
    (Table::Incoming, 1),
    (Table::Ports, 1),
    (Table::EventRings, 1),
    (Table::Peers, 1),
    (Table::Holds, 1),
    (Table::Tails, 1),
    (Table::Workers, 1),
];

/// This participant's control segment.
pub(crate) struct OwnControl {
    segment: OwnSegment,
    domain: Domain,
    header: ShmRef<ControlHeader>,
    tables: Mutex<[Slots; TABLES]>,
    /// Guards the log.
    log: Mutex<()>,
}

/// The records of a table that are in use.
#[derive(Default)]
struct Slots {
    /// Number of records that may be accessed.
    reserved: usize,
    /// Number of records that were ever used.
    used: u32,
    free: Vec<u32>,
}

/// A control segment that no other participant sees yet.
pub(crate) struct NewControl {
    unpublished: Unpublished,
    domain: Domain,
}

impl NewControl {
    pub(crate) fn create(domain: &Domain, owner: u64) -> Result<Self, CapacityError> {
        let new = NewSegment {
            kind: SegmentKind::Control,
            owner,
            number: 0,
            length: LENGTH,
            reserved: FIXED,
            locked: true,
        };
        let unpublished = OwnSegment::create(domain, &new)?;
        // Space that the participant will most likely need is reserved now: if messages fill the
        // file system later, it can still connect and publish its state.
        for (table, records) in SET_ASIDE {
            let length = (records * table.size()).next_multiple_of(PAGE);
            unpublished.segment.reserve(domain, table.offset(), length)?;
        }
        Ok(Self { unpublished, domain: domain.clone() })
    }

    /// Links the segment under its name; other participants see it from now on.
    pub(crate) fn publish(self) -> Result<OwnControl, JoinError> {
        let header = ShmRef::<ControlHeader>::at(&self.unpublished.segment.mapping, 0)
            .ok_or(CapacityError::Table { table: "bytes in a control segment", limit: LENGTH })?;
        // Relaxed: no other participant sees it before it is linked.
        header.pid.store(u64::from(std::process::id()), Ordering::Relaxed);
        header.started.store(sys::wall().cast_unsigned(), Ordering::Relaxed);
        store_text(&header.program, own_program().as_bytes());
        let segment = self.unpublished.publish()?;
        segment.is_seen_alive().inspect_err(|_| segment.remove())?;
        Ok(OwnControl {
            segment,
            domain: self.domain,
            header,
            tables: Mutex::default(),
            log: Mutex::default(),
        })
    }
}

/// Returns the name of this process's program, without its path.
pub(crate) fn own_program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    std::path::Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Stores bytes in words, as many as fit, padded with zeros.
pub(crate) fn store_text(words: &[AtomicU64], bytes: &[u8]) {
    for (index, word) in words.iter().enumerate() {
        let mut eight = [0; 8];
        let from = bytes.get(index * 8..).unwrap_or_default();
        let length = from.len().min(8);
        eight[..length].copy_from_slice(&from[..length]);
        word.store(u64::from_le_bytes(eight), Ordering::Relaxed); // the caller publishes it
    }
}

impl OwnControl {
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.segment.path()
    }

    /// Removes the segment's name.
    pub(crate) fn remove(&self) {
        self.segment.remove();
    }

    /// Whether other participants can still find this one.
    pub(crate) fn has_name(&self) -> bool {
        self.segment.has_name()
    }

    /// T1: takes a free record of a table, to be filled and [published](Self::publish).
    pub(crate) fn allocate(&self, table: Table) -> Result<u32, CapacityError> {
        let mut tables = self.tables.lock();
        let slots = &mut tables[table as usize];
        if let Some(slot) = slots.free.pop() {
            drop(tables);
            control_segment::begin_generation(); // T1
            return Ok(slot);
        }
        if slots.used as usize == table.capacity() {
            return Err(CapacityError::Table { table: table.name(), limit: table.capacity() });
        }
        self.grow(table, slots, slots.used as usize + 1)?;
        let slot = slots.used;
        slots.used += 1;
        Ok(slot)
    }

    /// Number of records of a table that were ever used.
    pub(crate) fn used(&self, table: Table) -> u32 {
        self.tables.lock()[table as usize].used
    }

    /// Makes sure that the first `wanted` records may be accessed; returns how many may be.
    pub(crate) fn reserve(&self, table: Table, wanted: usize) -> Result<usize, CapacityError> {
        let mut tables = self.tables.lock();
        let slots = &mut tables[table as usize];
        if wanted > table.capacity() {
            return Err(CapacityError::Table { table: table.name(), limit: table.capacity() });
        }
        self.grow(table, slots, wanted)?;
        Ok(slots.reserved)
    }

    fn grow(&self, table: Table, slots: &mut Slots, wanted: usize) -> Result<(), CapacityError> {
        if wanted <= slots.reserved {
            return Ok(());
        }
        let begin = (slots.reserved * table.size()).next_multiple_of(PAGE);
        // An eighth more than before, so that a table that grows by thousands takes few steps.
        let end = (wanted.max(slots.reserved + slots.reserved / 8) * table.size()).next_multiple_of(PAGE);
        let end = end.min((table.capacity() * table.size()).next_multiple_of(PAGE));
        if end > begin {
            self.segment.reserve(&self.domain, table.offset() + begin, end - begin)?;
        }
        failpoints::at(Point::Reserved);
        // Writers check every hold that may be in use, so there are no more than needed.
        let ready = if table == Table::Holds { wanted } else { end / table.size() };
        slots.reserved = ready.min(table.capacity());
        // Release: pairs with the Acquire in `Peer::says_reserved`; carries the allocation of the
        // space.
        self.header.reserved[table as usize].store(slots.reserved as u64, Ordering::Release);
        Ok(())
    }

    /// A record that may be accessed.
    pub(crate) fn record<R: Record>(&self, table: Table, slot: u32) -> Result<ShmRef<R>, CapacityError> {
        debug_assert!(size_of::<R>() == table.size());
        ShmRef::at(&self.segment.mapping, table.offset() + slot as usize * table.size())
            .ok_or(CapacityError::Table { table: table.name(), limit: table.capacity() })
    }

    /// All records of a table; only the reserved ones may be accessed.
    pub(crate) fn records<R: Record>(&self, table: Table) -> Result<ShmRef<[R]>, CapacityError> {
        debug_assert!(size_of::<R>() == table.size());
        ShmRef::slice(&self.segment.mapping, table.offset(), table.capacity())
            .ok_or(CapacityError::Table { table: table.name(), limit: table.capacity() })
    }

    fn generation(&self, table: Table, slot: u32) -> Option<ShmRef<AtomicU64>> {
        ShmRef::at(&self.segment.mapping, table.offset() + slot as usize * table.size())
    }

    /// T2: the record is complete. Returns the reference to it.
    pub(crate) fn publish(&self, table: Table, slot: u32) -> u64 {
        let reference = self.publish_quietly(table, slot);
        self.changed(table, slot);
        reference
    }

    /// T2 for a record that other participants don't act upon.
    pub(crate) fn publish_quietly(&self, table: Table, slot: u32) -> u64 {
        let Some(generation) = self.generation(table, slot) else { return 0 };
        reference(slot, control_segment::publish_generation(&generation))
    }

    /// T4: no participant may use the record any more, and it may be reused.
    pub(crate) fn retire(&self, table: Table, slot: u32) {
        self.unpublish(table, slot);
        self.give_back(table, slot);
    }

    /// T4 for a record that other participants don't act upon.
    pub(crate) fn retire_quietly(&self, table: Table, slot: u32) {
        if let Some(generation) = self.generation(table, slot) {
            control_segment::end_generation(&generation);
        }
        self.give_back(table, slot);
    }

    /// T4, but the record isn't reused until it is [given back](Self::give_back).
    pub(crate) fn unpublish(&self, table: Table, slot: u32) {
        let Some(generation) = self.generation(table, slot) else { return };
        control_segment::end_generation(&generation);
        self.changed(table, slot);
    }

    /// Makes a record available that is not published (any more).
    pub(crate) fn give_back(&self, table: Table, slot: u32) {
        self.tables.lock()[table as usize].free.push(slot);
    }

    /// L1, L2: notifies other participants of a change of this record, and wakes them.
    pub(crate) fn changed(&self, table: Table, slot: u32) {
        let guard = self.log.lock();
        control_segment::enter(&self.header.log, &self.header.changes, table, slot);
        drop(guard);
        self.segment.announce();
    }

    /// Q2: publishes that this participant leaves. Connected readers may still read its messages.
    pub(crate) fn leave(&self) {
        control_segment::leave(&self.header.state);
        self.segment.announce();
    }

    /// Counts a message that was copied because no hold was free. Returns the number copied before.
    pub(crate) fn count_copied(&self) -> u64 {
        self.header.copied.fetch_add(1, Ordering::Relaxed) // independent of other words; all threads of the owner add
    }

    /// Number of messages that were copied because no hold was free.
    pub(crate) fn copied(&self) -> u64 {
        self.header.copied.load(Ordering::Relaxed) // as above
    }

    /// Stores the time of a heartbeat, in steady nanoseconds; 0 if there are none from now on.
    pub(crate) fn set_alive(&self, at: i64) {
        self.header.alive.store(at.cast_unsigned(), Ordering::Relaxed); // independent of other words
    }

    /// Q3: publishes that it reads nothing in place any more.
    pub(crate) fn let_go(&self) {
        control_segment::let_go(&self.header.state);
        self.segment.announce();
    }
}
