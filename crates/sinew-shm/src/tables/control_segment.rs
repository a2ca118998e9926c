//! The control segment: the tables that a participant publishes to all others.
//!
//! `docs/internals/shm-layout.md` draws its layout.
//!
//! One participant writes it, all others map it read-only. Participants don't send each other
//! requests: each records its own state, and the others adopt what they find. So it doesn't matter
//! in which order, or how late, a participant looks.
//!
//! # Records
//!
//! A table's record has a series of *lives*: its `generation` word is odd while the record is in
//! use and even while it is free, and increases with each step. A reference to a record names its
//! slot and its life, so that a later life is never mistaken for an earlier one.
//!
//! - T1 begin: `generation` is even; the owner fills the fields (Relaxed).
//! - T2 publish: `generation` + 1 (Release).
//! - T3 read: `generation` odd (Acquire; pairs with T2), copy the fields (Relaxed), fence Acquire,
//!   `generation` unchanged (Relaxed); otherwise the record has another life, or none.
//! - T4 retire: `generation` + 1 (Relaxed). The next thread that takes the record comes after that
//!   (by a lock of the owner's), and passes a fence Release: no reader that finds the old
//!   `generation` in T3's second load sees what that thread then stores. (The taking thread has to
//!   pass the fence: a fence of the retiring thread doesn't order the stores of another thread.)
//!
//! Fields that change during a life (counters, cursors, ports) are single words, each with its own
//! rule.
//!
//! # The log
//!
//! After each change of a table, the owner enters (table, slot) into a log: L1 entry (Relaxed),
//! then L2 head + 1 (Release). Other participants keep their position in it; L3 head (Acquire),
//! entries (Relaxed). An entry carries its own number, so that a reader notices one that was
//! overwritten meanwhile; a participant that has fallen behind reads the tables as a whole. Then
//! the owner touches the file, which wakes the participants that watch it.
//!
//! # Space
//!
//! The file is sparse. Records of a table are reserved a page at a time, and the table's `reserved`
//! word gives how many may be accessed. A crash between two steps leaves a record that is not
//! published, or published but not logged; the participant is dead then, and others access it only
//! to let go of it.

use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::Record;
use crate::platform::sync::{AtomicU64, Ordering, fence};
use crate::segment::header::Header;
#[cfg(not(loom))]
use std::mem::offset_of;

/// A table of the control segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Table {
    /// Entities: nodes, publishers and so on.
    Endpoints = 0,
    /// As a writer: the connections of its entities' rings to peers.
    Outgoing = 1,
    /// As a reader: the connections of other participants that it has taken up.
    Incoming = 2,
    /// As a reader: ports, which say whether a thread sleeps and how to wake it.
    Ports = 3,
    /// As a writer: event rings towards ports of other participants.
    EventRings = 4,
    /// As a reader: the peers with event rings that it reads; a peer's slot determines the place of
    /// the tails.
    Peers = 5,
    /// As a reader: the chunks that it is reading.
    Holds = 6,
    /// As a reader: how far it has read the event rings, by port and peer.
    Tails = 7,
    /// The callbacks that its threads are running; for tools.
    Workers = 8,
}

/// Number of tables.
pub(crate) const TABLES: usize = 9;

/// Number of tables that the header has room for: a log entry has four bits for the table.
const TABLES_AT_MOST: usize = 16;

impl Table {
    pub(crate) const ALL: [Table; TABLES] = [
        Table::Endpoints,
        Table::Outgoing,
        Table::Incoming,
        Table::Ports,
        Table::EventRings,
        Table::Peers,
        Table::Holds,
        Table::Tails,
        Table::Workers,
    ];

    /// Greatest number of records.
    pub(crate) const fn capacity(self) -> usize {
        match self {
            Table::Endpoints | Table::Outgoing | Table::Incoming => 1 << 15,
            Table::Ports => PORTS as usize,
            Table::EventRings | Table::Peers | Table::Workers => 1024,
            Table::Holds => 4096,
            Table::Tails => PORTS as usize * 1024,
        }
    }

    /// Size of a record in bytes.
    pub(crate) const fn size(self) -> usize {
        match self {
            Table::Endpoints => size_of::<EndpointRecord>(),
            Table::Outgoing => size_of::<OutgoingRecord>(),
            Table::Incoming => size_of::<IncomingRecord>(),
            Table::Ports => size_of::<PortRecord>(),
            Table::EventRings => size_of::<EventRingRecord>(),
            Table::Peers => size_of::<PeerRecord>(),
            Table::Holds => size_of::<AtomicU64>(),
            Table::Tails => size_of::<TailRecord>(),
            Table::Workers => size_of::<WorkerRecord>(),
        }
    }

    /// Name of the records for error messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Table::Endpoints => "nodes, publishers, subscriptions, servers and clients",
            Table::Outgoing => "connections to subscriptions of other processes",
            Table::Incoming => "connections from publishers of other processes",
            Table::Ports => "executors and waiting threads",
            Table::EventRings => "executors of other processes to notify",
            Table::Peers => "other participants",
            Table::Holds => "messages of other processes in use",
            Table::Tails => "event rings",
            Table::Workers => "threads of executors",
        }
    }

    /// Offset of the table in the segment.
    pub(crate) const fn offset(self) -> usize {
        let mut offset = TABLES_AT;
        let mut table = 0;
        while table < self as usize {
            let before = Self::ALL[table];
            offset += (before.capacity() * before.size()).next_multiple_of(PAGE);
            table += 1;
        }
        offset
    }
}

/// Greatest number of ports of a participant.
const PORTS: u32 = 64;

/// Bytes that are reserved at a time.
pub(crate) const PAGE: usize = 4096;

/// `state` of a participant that has left.
const LEFT: u64 = 1;

/// `state` of a participant that has left and holds no message of others.
const LET_GO: u64 = 2;

/// Entries of the log.
pub(crate) const LOG: usize = 1024;

const TABLES_AT: usize = size_of::<ControlHeader>().next_multiple_of(PAGE);

/// Size of a control segment in bytes, most of which are never touched.
pub(crate) const LENGTH: usize =
    Table::Workers.offset() + (Table::Workers.capacity() * Table::Workers.size()).next_multiple_of(PAGE);

/// Size in bytes of the control segment before the tables, which is always reserved.
pub(crate) const FIXED: usize = TABLES_AT;

/// Length of the program's name, in bytes.
pub(crate) const PROGRAM: usize = 64;

/// The beginning of a control segment. Its owner writes it, all participants read it.
///
/// | field | unit | first value |
/// |---|---|---|
/// | `segment` | see [`Header`] | |
/// | `pid` | process id in the owner's PID namespace | |
/// | `started` | wall nanoseconds | |
/// | `program` | the program's name, UTF-8, filled with zeros | |
/// | `state` | 0 present, 1 left, 2 left and holding nothing. Q2, Q3 of `hazards` | 0 |
/// | `copied` | messages that were copied because every hold was in use | 0 |
/// | `alive` | steady ns of the last heartbeat; 0 while none are requested | 0 |
/// | `changes` | L2: entries written to the log so far | 0 |
/// | `reserved` | records of each table that may be accessed | |
/// | `log` | L1: number << 20, table << 16, slot | 0 |
///
/// After `state` 1, others may still read the messages that the participant published, and it may
/// still read those that it holds.
#[repr(C, align(64))]
pub(crate) struct ControlHeader {
    pub(crate) segment: Header,
    pub(crate) pid: AtomicU64,
    pub(crate) started: AtomicU64,
    pub(crate) program: [AtomicU64; PROGRAM / 8],
    pub(crate) state: AtomicU64,
    pub(crate) copied: AtomicU64,
    pub(crate) alive: AtomicU64,
    pub(crate) spare: [AtomicU64; 3],
    pub(crate) changes: AtomicU64,
    pub(crate) spare_line: [AtomicU64; 7],
    pub(crate) reserved: [AtomicU64; TABLES_AT_MOST],
    pub(crate) log: [AtomicU64; LOG],
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for ControlHeader {}

/// The longest text of an entity in bytes: three names of 255 bytes and their ends.
pub(crate) const TEXT: usize = 768;

/// Number of an entity's counters.
pub(crate) const WORDS: usize = 16;

/// Number of an entity's notes for its readers.
pub(crate) const NOTES: usize = 2;

/// Number of buckets of an entity's histogram: powers of two of nanoseconds.
pub(crate) const BUCKETS: usize = 32;

/// An entity: a node, publisher, subscription, server or client. Its owner writes it, all
/// participants read it.
///
/// | field | unit | first value |
/// |---|---|---|
/// | `generation` | T2, T4 | 0 |
/// | `kind_node` | kind << 32, slot of its node | |
/// | `number` | the entity's number in its participant, as in a gid | |
/// | `ring` | location of its ring: segment << 32, offset / 64; 0 for none. G2 of `ring` | 0 |
/// | `hash` | of its type | |
/// | `lengths` | of node, topic or service, and type in `text`: 16 bits each | |
/// | `memory` | bytes of chunks that it has for messages, besides its ring | 0 |
/// | `notes` | data of the layer above that its readers know before the next message | 0 |
/// | `alive` | steady ns of the last heartbeat of the layer above; 0 if it stores none | 0 |
/// | `spare` | | 0 |
/// | `qos` | the layer above defines the contents | |
/// | `text` | node, topic or service, type, UTF-8 | |
/// | `counters` | one word each, Relaxed: see [`Counter`](crate::tables::endpoint::Counter) | 0 |
/// | `histogram` | messages by latency: bucket i from 2^i ns | 0 |
#[repr(C, align(64))]
pub(crate) struct EndpointRecord {
    pub(crate) generation: AtomicU64,
    pub(crate) kind_node: AtomicU64,
    pub(crate) number: AtomicU64,
    pub(crate) ring: AtomicU64,
    pub(crate) hash: [AtomicU64; 4],
    pub(crate) lengths: AtomicU64,
    pub(crate) memory: AtomicU64,
    pub(crate) notes: [AtomicU64; NOTES],
    pub(crate) alive: AtomicU64,
    pub(crate) spare: [AtomicU64; 3],
    pub(crate) qos: [AtomicU64; 8],
    pub(crate) text: [AtomicU64; TEXT / 8],
    pub(crate) counters: [AtomicU64; WORDS],
    pub(crate) histogram: [AtomicU64; BUCKETS],
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for EndpointRecord {}

/// A connection, described by its writer, which alone writes it.
///
/// | field | unit | first value |
/// |---|---|---|
/// | `generation` | T2, T4 | 0 |
/// | `peer` | the reader's participant id | |
/// | `source` | the entity that owns the ring: slot << 32, lower half of its life | |
/// | `target` | the reading entity (slot << 32, lower half of its life), or 0 for all | |
/// | `first` | number of the first message that is for this reader | |
/// | `live` | number of the first message that wasn't retained for late joiners | |
/// | `end` | 0, or 1 + the number after the last message; all ones: all that the ring has | 0 |
/// | `waiting` | B1: 1 + the cursor that the writer waits for, or has waited for | 0 |
///
/// `target` is set if the connection is for one entity only, such as a client. After the `end`, the
/// reader may still read the messages before it.
#[repr(C, align(64))]
pub(crate) struct OutgoingRecord {
    pub(crate) generation: AtomicU64,
    pub(crate) peer: AtomicU64,
    pub(crate) source: AtomicU64,
    pub(crate) target: AtomicU64,
    pub(crate) first: AtomicU64,
    pub(crate) live: AtomicU64,
    pub(crate) end: AtomicU64,
    pub(crate) waiting: AtomicU64,
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for OutgoingRecord {}

/// A connection, described by its reader, which alone writes it.
///
/// | field | unit | first value |
/// |---|---|---|
/// | `generation` | T2, T4 | 0 |
/// | `peer` | the writer's participant id | |
/// | `outgoing` | the writer's record: slot << 32, lower half of its life | |
/// | `port` | the port to notify (slot << 32, lower half of its life), or 0. E1 of `event` | 0 |
/// | `cursor` | B2: the first message that is still needed; [`UNBOUND`], [`DONE`] | `first` |
/// | `spare` | | 0 |
/// | `next` | number of the next message to read | `first` |
/// | `spare_line` | | 0 |
///
/// `next` is a hint, for tools and for W0 of `ring`. It is on a cache line that the writer seldom
/// reads.
#[repr(C, align(64))]
pub(crate) struct IncomingRecord {
    pub(crate) generation: AtomicU64,
    pub(crate) peer: AtomicU64,
    pub(crate) outgoing: AtomicU64,
    pub(crate) port: AtomicU64,
    pub(crate) cursor: AtomicU64,
    pub(crate) spare: [AtomicU64; 3],
    pub(crate) next: AtomicU64,
    pub(crate) spare_line: [AtomicU64; 7],
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for IncomingRecord {}

/// A port on which a thread sleeps until a participant has something for it, or several threads, of
/// which one sleeps at a time. Its process writes it.
///
/// | field | unit | first value |
/// |---|---|---|
/// | `generation` | T2, T4 | 0 |
/// | `bell` | the participant that owns the bell to ring | |
/// | `bell_index` | the index of the bell in that participant | |
/// | `parked` | K2 of `event`: 0 awake, else the number of this sleep. On its own line | 0 |
#[repr(C, align(128))]
pub(crate) struct PortRecord {
    pub(crate) generation: AtomicU64,
    pub(crate) bell: AtomicU64,
    pub(crate) bell_index: AtomicU64,
    pub(crate) spare: [AtomicU64; 13],
    pub(crate) parked: AtomicU64,
    pub(crate) spare_line: [AtomicU64; 15],
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for PortRecord {}

/// An event ring towards a port of another participant. Written by the writer.
///
/// | field | unit | first value |
/// |---|---|---|
/// | `generation` | T2, T4 | 0 |
/// | `peer` | the reader's participant id | |
/// | `port` | the port's slot << 32, lower half of its life | |
/// | `ring` | location of the ring: segment << 32, offset / 64. G2 of `event` | |
/// | `spare` | | 0 |
#[repr(C, align(64))]
pub(crate) struct EventRingRecord {
    pub(crate) generation: AtomicU64,
    pub(crate) peer: AtomicU64,
    pub(crate) port: AtomicU64,
    pub(crate) ring: AtomicU64,
    pub(crate) spare: [AtomicU64; 4],
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for EventRingRecord {}

/// Another participant with event rings that this one reads. Its slot determines where their tails
/// are: row slot, column port of [`Table::Tails`].
///
/// | field | unit | first value |
/// |---|---|---|
/// | `generation` | T2, T4 | 0 |
/// | `id` | the participant | |
#[repr(C)]
pub(crate) struct PeerRecord {
    pub(crate) generation: AtomicU64,
    pub(crate) id: AtomicU64,
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for PeerRecord {}

/// The position up to which an event ring is read. The reader writes it, the writer reads it at
/// every push, so it is on a cache line of its own.
///
/// | field | unit | first value |
/// |---|---|---|
/// | `owner` | the port that the tail counts for | 0 |
/// | `tail` | D2 of `event`: entries taken so far | 0 |
///
/// `owner` is the lower half of the peer record's life << 32, and the lower half of the port's
/// life.
#[repr(C, align(64))]
pub(crate) struct TailRecord {
    pub(crate) owner: AtomicU64,
    pub(crate) tail: AtomicU64,
    pub(crate) spare: [AtomicU64; 6],
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for TailRecord {}

/// A thread that runs an executor's callbacks, and the callback that it is running. Its process
/// writes it; see [`workers`](crate::inspect::workers).
///
/// | field | unit | first value |
/// |---|---|---|
/// | `generation` | T2, T4 | 0 |
/// | `executor` | the executor's number, the same for all its threads | |
/// | `worker` | the thread's number; the one after the last watches the timers | |
/// | `running` | A2: the callback that it is running; 0 for none | 0 |
/// | `since` | A1: steady nanoseconds at which the callback began | 0 |
/// | `spare` | | 0 |
///
/// `running` is the callback's kind << 48, the slot of an entity << 32, and the lower half of its
/// life.
#[repr(C, align(64))]
pub(crate) struct WorkerRecord {
    pub(crate) generation: AtomicU64,
    pub(crate) executor: AtomicU64,
    pub(crate) worker: AtomicU64,
    pub(crate) running: AtomicU64,
    pub(crate) since: AtomicU64,
    pub(crate) spare: [AtomicU64; 3],
}

// SAFETY: atomics, no padding (frozen below).
unsafe impl Record for WorkerRecord {}

#[cfg(not(loom))]
const _: () = {
    assert!(offset_of!(ControlHeader, pid) == 64);
    assert!(offset_of!(ControlHeader, program) == 80);
    assert!(offset_of!(ControlHeader, state) == 144);
    assert!(offset_of!(ControlHeader, copied) == 152);
    assert!(offset_of!(ControlHeader, changes) == 192);
    assert!(offset_of!(ControlHeader, reserved) == 256);
    assert!(offset_of!(ControlHeader, log) == 384);
    assert!(size_of::<ControlHeader>() == 384 + 8 * LOG);
    assert!(TABLES <= TABLES_AT_MOST);
    assert!(offset_of!(EndpointRecord, ring) == 24);
    assert!(offset_of!(EndpointRecord, hash) == 32);
    assert!(offset_of!(EndpointRecord, notes) == 80);
    assert!(offset_of!(EndpointRecord, qos) == 128);
    assert!(offset_of!(EndpointRecord, text) == 192);
    assert!(offset_of!(EndpointRecord, counters) == 192 + TEXT);
    assert!(offset_of!(EndpointRecord, histogram) == 320 + TEXT);
    assert!(size_of::<EndpointRecord>() == 320 + TEXT + 8 * BUCKETS);
    assert!(offset_of!(OutgoingRecord, waiting) == 56 && size_of::<OutgoingRecord>() == 64);
    assert!(offset_of!(IncomingRecord, cursor) == 32 && size_of::<IncomingRecord>() == 128);
    assert!(offset_of!(IncomingRecord, next) == 64);
    assert!(offset_of!(PortRecord, parked) == 128 && size_of::<PortRecord>() == 256);
    assert!(offset_of!(EventRingRecord, ring) == 24 && size_of::<EventRingRecord>() == 64);
    assert!(size_of::<PeerRecord>() == 16);
    assert!(offset_of!(TailRecord, tail) == 8 && size_of::<TailRecord>() == 64);
    assert!(offset_of!(WorkerRecord, running) == 24 && size_of::<WorkerRecord>() == 64);
};

/// Q2: this participant has left.
pub(crate) fn leave(state: &AtomicU64) {
    state.store(LEFT, Ordering::Release); // carries that everything is published; pairs with `has_left`
    // SeqCst, pairs with that of `let_go`, and with itself. Forbids that of two leaving
    // participants, neither sees that the other has left.
    fence(Ordering::SeqCst);
}

/// Q3: this participant has left, and holds no message of others any more.
pub(crate) fn let_go(state: &AtomicU64) {
    state.store(LET_GO, Ordering::Release); // Q3: pairs with Q4; carries that everything was read
    fence(Ordering::SeqCst); // as in `leave`
}

/// Whether a participant has left.
pub(crate) fn has_left(state: &AtomicU64) -> bool {
    state.load(Ordering::Acquire) != 0 // pairs with Q2 and Q3
}

/// Q4: whether a participant has left, and holds no message of others any more.
pub(crate) fn has_let_go(state: &AtomicU64) -> bool {
    state.load(Ordering::Acquire) == LET_GO // Q4: pairs with Q3
}

/// T1: begins to fill a record that may have been used before. The caller got the record under the
/// lock under which it was given back.
pub(crate) fn begin_generation() {
    fence(Ordering::Release); // T1: pairs with T3's fence; comes before all fields
}

/// T2: the record is complete. Returns its generation.
pub(crate) fn publish_generation(generation: &AtomicU64) -> u64 {
    let next = generation.load(Ordering::Relaxed).wrapping_add(1); // ours alone
    debug_assert!(next % 2 == 1, "published twice");
    failpoints::at(Point::RecordFilled);
    generation.store(next, Ordering::Release); // T2: pairs with T3
    failpoints::at(Point::RecordPublished);
    next
}

/// T4: the life ends.
pub(crate) fn end_generation(generation: &AtomicU64) {
    let next = generation.load(Ordering::Relaxed).wrapping_add(1); // ours alone
    debug_assert!(next.is_multiple_of(2), "retired twice");
    // T4: ordered by the lock and the fence of the record's next user.
    generation.store(next, Ordering::Relaxed);
    failpoints::at(Point::RecordRetired);
}

/// T3: returns the result of `read` on a record, and the record's generation; `None` if it has no
/// current life, or another one after `read` than before.
pub(crate) fn read_generation<T>(generation: &AtomicU64, read: impl FnOnce() -> T) -> Option<(u64, T)> {
    let before = generation.load(Ordering::Acquire); // T3: pairs with T2
    if before.is_multiple_of(2) {
        return None;
    }
    let found = read();
    fence(Ordering::Acquire); // T3: pairs with T1's fence
    // Relaxed: the fence orders it after `read`; its value is all that counts.
    (generation.load(Ordering::Relaxed) == before).then_some((before, found))
}

/// L1, L2: enters a record into the log. One thread at a time.
pub(crate) fn enter(log: &[AtomicU64], changes: &AtomicU64, table: Table, slot: u32) {
    let number = changes.load(Ordering::Relaxed); // ours alone
    let entry = number << 20 | (table as u64) << 16 | u64::from(slot);
    // L1: L2 publishes it; its number distinguishes it from others.
    log[place_in(log, number)].store(entry, Ordering::Relaxed);
    failpoints::at(Point::LogEntry);
    changes.store(number.wrapping_add(1), Ordering::Release); // L2: pairs with L3; carries L1
    failpoints::at(Point::LogHead);
}

/// L3: the entries of a log since this position. `Err` if they are no longer there, or are invalid:
/// then all tables must be read. Both contain the position to continue from.
pub(crate) fn entered(
    log: &[AtomicU64],
    changes: &AtomicU64,
    since: u64,
) -> Result<(Vec<(Table, u32)>, u64), u64> {
    let head = changes.load(Ordering::Acquire); // L3: pairs with L2
    if head < since || head - since > log.len() as u64 {
        return Err(head);
    }
    let mut found = Vec::new();
    for number in since..head {
        // L3: published with the head, or a later one.
        let entry = log[place_in(log, number)].load(Ordering::Relaxed);
        #[expect(clippy::cast_possible_truncation, reason = "16 bits")]
        let slot = entry as u32 & 0xffff;
        let table = Table::ALL.get(usize::try_from(entry >> 16 & 0xf).unwrap_or(usize::MAX));
        match table {
            Some(&table) if entry >> 20 == number & (u64::MAX >> 20) => found.push((table, slot)),
            _ => return Err(head),
        }
    }
    Ok((found, head))
}

fn place_in(log: &[AtomicU64], number: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "reduced to the size of the log")]
    let place = (number % log.len() as u64) as usize;
    place
}

/// A cursor that no writer waits for: nothing in the reader needs all messages now.
pub(crate) const UNBOUND: u64 = u64::MAX - 1;

/// The cursor of a reader that has read a connection to its end: the writer may retire its record,
/// and then the reader its own.
pub(crate) const DONE: u64 = u64::MAX;

/// Packs a slot and the lower half of its life into a word.
pub(crate) fn reference(slot: u32, generation: u64) -> u64 {
    u64::from(slot) << 32 | (generation & 0xffff_ffff)
}

/// The slot that a reference names.
pub(crate) fn slot_of(reference: u64) -> u32 {
    (reference >> 32) as u32
}

impl IncomingRecord {
    /// The writer's connection that this record takes up, as a reference.
    pub(crate) fn answers(&self, writer: u64) -> Option<u64> {
        // Relaxed: T3 checks it. All of it belongs to one life, so the cursor isn't from an earlier
        // life either.
        let read = || (self.peer.load(Ordering::Relaxed), self.outgoing.load(Ordering::Relaxed));
        let (_, (peer, outgoing)) = read_generation(&self.generation, read)?;
        (peer == writer).then_some(outgoing)
    }
}

/// Whether a reference names this life.
pub(crate) fn names_generation(reference: u64, generation: u64) -> bool {
    reference & 0xffff_ffff == generation & 0xffff_ffff
}

/// The slot of the tail for the event ring from this peer to this port: a row for each peer.
pub(crate) fn tail_slot(peer: u32, port: u32) -> u32 {
    peer * PORTS + port
}

/// The value of a tail's `owner` word.
pub(crate) fn tail_owner(peer_generation: u64, port: u64) -> u64 {
    peer_generation << 32 | (port & 0xffff_ffff)
}
