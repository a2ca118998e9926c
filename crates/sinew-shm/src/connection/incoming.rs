//! The receiving end of a connection.

use crate::chunk::hold::{Hold, ReadSlab};
use crate::connection::flow_control;
use crate::error::{CapacityError, SegmentError};
use crate::event::protocol;
use crate::event::receiver::EventReceiver;
use crate::hazards::holds::Mark;
use crate::own::incoming_entry::{IncomingEntry, Lease, Party, Sink};
use crate::own::own_state::OwnState;
use crate::peer::mapped_peer::Peer;
use crate::platform::failpoints::{self, Point};
use crate::platform::logging::log_line_later;
use crate::platform::prefetch;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, Ordering};
use crate::ring::{Chunk, Found, Head, Ring};
use crate::tables::bell::SPACE_BELL;
use crate::tables::control_segment::{
    DONE, EndpointRecord, IncomingRecord, OutgoingRecord, Table, UNBOUND, names_generation, read_generation,
    slot_of,
};
use crate::tables::endpoint::{Endpoint, EndpointKey};
use std::fmt;

/// How often a slot that changes during reading is tried again before its message counts as lost: a
/// broken writer must not hold up its readers.
const RETRIES: usize = 16;

/// Number of slabs that a connection remembers, a power of two.
const SLABS: usize = 4;

/// The greatest number that a message can have, so that twice the number fits into a word.
const GREATEST: u64 = 1 << 62;

/// The receiving end of a connection: reads the messages that a peer's entity publishes, from its
/// first message for this participant on. Its owner keeps it under a lock.
pub struct Incoming {
    own: Arc<OwnState>,
    peer: Arc<Peer>,
    source: EndpointKey,
    outgoing: ShmRef<OutgoingRecord>,
    outgoing_slot: u32,
    outgoing_generation: u64,
    endpoint: ShmRef<EndpointRecord>,
    record: ShmRef<IncomingRecord>,
    lease: Arc<Lease>,
    ring: Option<Ring>,
    /// The slabs that the last chunks were in, each at the place for its number: large messages of
    /// a writer take turns in a few slabs.
    slabs: [Option<Arc<ReadSlab>>; SLABS],
    /// Whether the last message was in a chunk.
    reads_chunks: bool,
    next: u64,
    /// Messages that were overwritten or left out since the last one that was read.
    missed: u64,
    /// Those of them that were left out.
    left_out: u64,
    live: u64,
    is_done: bool,
    /// The ring's location is invalid: no more messages can be read.
    is_broken: bool,
    /// Steady nanoseconds before which the next message isn't tried again, because it couldn't be
    /// opened; 0 if nothing is wrong.
    paused: i64,
    port: u64,
    /// The value of the record's cursor.
    cursor: u64,
    /// B2: the value of the writer's `waiting` word when this reader rang last.
    rung: u64,
}

/// The place of a chunk's slab among those that a connection remembers.
#[inline]
fn place_of(chunk: Chunk) -> usize {
    (chunk.name >> 32) as usize & (SLABS - 1)
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("peer", &self.peer)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// A message that was read from a ring.
#[derive(Debug)]
pub struct Message {
    /// The message's number among its writer's messages.
    pub number: u64,
    /// Time and lineage of the publication.
    pub head: Head,
    /// Number of messages before this one that were overwritten before they were read, or for which
    /// their writer had no room.
    pub missed: u64,
    /// Number of those that were [left out](crate::transport::Writer::leave_out).
    pub left_out: u64,
    /// Whether the message was retained for late joiners.
    pub is_retained: bool,
    /// The encoded message, if it is read in place; otherwise it is in the buffer.
    pub hold: Option<Hold>,
}

impl Incoming {
    /// Takes up a connection that a peer has published.
    pub(crate) fn take_up(
        own: &Arc<OwnState>,
        peer: &Arc<Peer>,
        (outgoing_slot, outgoing_generation): (u32, u64),
        outgoing: ShmRef<OutgoingRecord>,
    ) -> Result<Option<Self>, CapacityError> {
        // Relaxed: T3 checks it.
        let load = |word: &crate::platform::sync::AtomicU64| word.load(Ordering::Relaxed);
        let found = read_generation(&outgoing.generation, || {
            (load(&outgoing.source), load(&outgoing.first), load(&outgoing.live))
        });
        let Some((generation, (source, first, live))) = found else { return Ok(None) };
        if generation != outgoing_generation {
            return Ok(None);
        }
        // Only a broken writer counts that far, so our numbers don't overflow.
        if first > GREATEST {
            return Ok(None);
        }
        let Some(endpoint) = peer.endpoint_record(slot_of(source)) else { return Ok(None) };
        own.prepare_marks()?;
        let control = own.control()?;
        let slot = control.allocate(Table::Incoming)?;
        let record: ShmRef<IncomingRecord> = control.record(Table::Incoming, slot)?;
        // Relaxed: T2 publishes it.
        record.peer.store(peer.id(), Ordering::Relaxed);
        record.outgoing.store(
            crate::tables::control_segment::reference(outgoing_slot, outgoing_generation),
            Ordering::Relaxed,
        );
        record.port.store(0, Ordering::Relaxed);
        record.cursor.store(first, Ordering::Relaxed);
        record.next.store(first, Ordering::Relaxed);
        control.publish(Table::Incoming, slot);
        peer.open_bells();
        Ok(Some(Self {
            own: own.clone(),
            peer: peer.clone(),
            source: EndpointKey::of(source),
            outgoing,
            outgoing_slot,
            outgoing_generation,
            endpoint,
            record,
            lease: Arc::new(Lease::of(slot)),
            ring: None,
            slabs: Default::default(),
            reads_chunks: false,
            next: first,
            missed: 0,
            left_out: 0,
            live,
            is_done: false,
            is_broken: false,
            paused: 0,
            port: 0,
            cursor: first,
            rung: 0,
        }))
    }

    /// Returns the description of the writing entity, even if the entity is gone: its record stays
    /// until this connection is done.
    ///
    /// # Errors
    /// [`SegmentError`]: the peer's record is invalid.
    pub fn source_endpoint(&self) -> Result<Endpoint, SegmentError> {
        Endpoint::load_last(&self.endpoint, self.peer.file())
    }

    pub(crate) fn entry(&self, sink: Option<Arc<dyn Sink>>) -> IncomingEntry {
        IncomingEntry { generation: self.outgoing_generation, lease: self.lease.clone(), sink }
    }

    /// The number after the last message of this connection, once that is known.
    #[inline]
    fn end(&self) -> u64 {
        match self.outgoing.end.load(Ordering::Acquire) {
            // pairs with `Accepted::end`
            0 | u64::MAX => u64::MAX,
            end => end - 1,
        }
    }

    /// Returns the peer that writes these messages.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Returns the peer's entity that writes these messages.
    pub fn source(&self) -> EndpointKey {
        self.source
    }

    /// Returns a [note](crate::transport::OwnEndpoint::set_note) of the writer for its readers, as
    /// of the last message that was read, or later.
    pub fn note(&self, index: usize) -> u64 {
        // Relaxed: the message's sequence was read before and carries it.
        self.endpoint.notes.get(index).map_or(0, |note| note.load(Ordering::Relaxed))
    }

    /// Returns the number of the next message.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Reads the next message, if there is one. If it isn't read in place, its bytes are in
    /// `buffer` afterwards: that applies to messages in the ring itself, and to all others while
    /// this participant holds as many messages as it may (4095), which are
    /// [counted](crate::transport::Participant::copied).
    ///
    /// Allocates only in `buffer`. Doesn't block, except while another thread makes such a copy.
    ///
    /// # Errors
    /// [`SegmentError`]: the peer's memory is invalid. The message is skipped and counts as missed.
    /// If the whole ring is unusable, this is returned once, and the connection [is
    /// over](Self::is_over).
    ///
    /// Memory that can't be opened now, because the system has no descriptors or memory left, is no
    /// error: the failure is logged once and the attempt repeated, and meanwhile there is nothing
    /// to read. Messages that are overwritten until then count as missed.
    ///
    /// In a forked child, or once the participant has left, there is nothing to read.
    #[inline]
    pub fn read(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Message>, SegmentError> {
        if self.has_read_all() { Ok(None) } else { self.read_next(buffer) }
    }

    /// Returns `true` if the next message isn't published yet: the usual end, found by one look.
    /// `false` may also mean that only [`read`](Self::read) can find out.
    #[inline]
    pub fn has_read_all(&self) -> bool {
        self.ring.as_ref().is_some_and(|ring| ring.is_yet_to_come(self.next))
    }

    /// As [`read`](Self::read), for a caller that expects a message.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Message>, SegmentError> {
        if self.own.check().is_err() {
            return Ok(None);
        }
        if self.is_paused() {
            return Ok(None);
        }
        let mut retries = 0..RETRIES;
        while retries.next().is_some() {
            self.find_ring()?;
            let Some(ring) = &self.ring else { return Ok(None) };
            let found = ring.look(self.next);
            // After the look: a writer that ends the connection stores the end before it publishes
            // messages that are no longer for it.
            let end = self.end();
            if self.next >= end {
                return Ok(None); // later messages are for others, or come by another connection
            }
            match found {
                Found::Nothing => return Ok(None),
                Found::Moved => self.ring = None,
                Found::Overwritten(oldest) if oldest > GREATEST => {
                    self.is_broken = true;
                    self.ring = None;
                    return Err(SegmentError::field(
                        self.peer.file(),
                        "number of a message",
                        oldest,
                        GREATEST,
                    ));
                }
                Found::Overwritten(oldest) => {
                    let oldest = oldest.min(end);
                    self.missed += oldest - self.next;
                    self.next = oldest;
                }
                Found::LeftOut if ring.still_there(self.next) => {
                    self.missed += 1;
                    self.left_out += 1;
                    self.next += 1;
                    retries = 0..RETRIES; // several in a row may be left out
                }
                Found::LeftOut => {}
                Found::Inline(head, length) => {
                    buffer.resize(length, 0); // all of it is overwritten
                    self.reads_chunks = false;
                    if ring.read_inline(self.next, buffer) {
                        return Ok(self.found(head, None));
                    }
                }
                Found::Chunk(head, chunk) => match self.read_chunk(chunk, buffer) {
                    Ok(Some(hold)) => return Ok(self.found(head, hold)),
                    Ok(None) => {}
                    Err(error) if error.may_pass() => {
                        self.pause(&error);
                        return Ok(None);
                    }
                    Err(error) => {
                        self.next += 1;
                        self.missed += 1;
                        return Err(error);
                    }
                },
            }
        }
        // Overwritten again and again: the writer is too fast, or broken. The next call tries
        // again.
        Ok(None)
    }

    #[inline]
    fn found(&mut self, head: Head, hold: Option<Hold>) -> Option<Message> {
        // Last: once we have left, the writer reuses the ring's memory for another ring. That
        // follows Q2, which follows this word; so a thread that has read anything of the other
        // ring, and passed the fence after that, sees it set.
        if self.own.has_left() {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.publish_next();
        self.paused = 0;
        let (missed, left_out) = (std::mem::take(&mut self.missed), std::mem::take(&mut self.left_out));
        Some(Message { number, head, missed, left_out, is_retained: number < self.live, hold })
    }

    /// Finds the ring if it isn't known or was outgrown; there may be none yet.
    #[inline]
    fn find_ring(&mut self) -> Result<(), SegmentError> {
        if self.ring.is_some() { Ok(()) } else { self.look_for_ring() }
    }

    #[cold]
    fn look_for_ring(&mut self) -> Result<(), SegmentError> {
        let location = self.endpoint.ring.load(Ordering::Acquire); // pairs with G2
        if location == 0 || self.is_broken || self.is_done || self.is_paused() {
            return Ok(());
        }
        match self.peer.block(location).and_then(|(words, segment)| Ring::open(words, &segment.name)) {
            Ok(ring) => self.ring = Some(ring),
            Err(error) if error.may_pass() => self.pause(&error),
            Err(error) => {
                self.is_broken = true;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether the next message could not be opened a short time ago.
    #[inline]
    fn is_paused(&self) -> bool {
        self.paused != 0 && self.own.is_pausing(self.paused)
    }

    /// Pauses because the next message can't be opened now.
    #[cold]
    fn pause(&mut self, error: &SegmentError) {
        if self.paused == 0 {
            log_line_later!(
                self.own; log::Level::Warn,
                "messages of {:?} can't be read now, it is tried again: {error}",
                self.peer
            );
        }
        self.paused = self.own.pause();
    }

    /// Reads in place, or if that isn't possible, copies into `buffer`. Returns `None` if the
    /// message was overwritten meanwhile.
    #[inline]
    fn read_chunk(
        &mut self,
        chunk: Chunk,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Option<Hold>>, SegmentError> {
        if let Some(slab) = self.slabs[place_of(chunk)].as_ref().filter(|slab| slab.has(chunk)) {
            slab.prefetch(chunk);
        }
        self.reads_chunks = true;
        match self.own.take_mark() {
            Some(mark) => Ok(self.hold(mark, chunk)?.map(Some)),
            None => self.copy_chunk(chunk, buffer),
        }
    }

    /// H3 to H6. Returns `None` if the message was overwritten meanwhile.
    #[inline]
    fn hold(&mut self, mark: Mark, chunk: Chunk) -> Result<Option<Hold>, SegmentError> {
        let is_there = |ring: &Ring| self.own.hazards.hold(&mark, chunk.name, ring, self.next);
        if !self.ring.as_ref().is_some_and(is_there) {
            self.own.give_back(&mark);
            return Ok(None);
        }
        // H6
        failpoints::at(Point::HoldChecked);
        let held = match self.slab_of(chunk) {
            Ok(slab) => slab.hold(mark, chunk),
            Err(error) => Err((mark, error)),
        };
        held.map(Some).map_err(|(mark, error)| {
            self.own.give_back(&mark);
            error
        })
    }

    /// Holds the chunk for the duration of the copy; only one thread at a time may take the hold
    /// for that.
    #[cold]
    fn copy_chunk(
        &mut self,
        chunk: Chunk,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Option<Hold>>, SegmentError> {
        let own = self.own.clone();
        let _turn = own.copying.lock();
        let Some(mark) = own.hazards.take_to_copy() else { return Ok(None) };
        let Some(hold) = self.hold(mark, chunk)? else { return Ok(None) };
        buffer.clear();
        buffer.extend_from_slice(hold.bytes());
        own.has_copied();
        Ok(Some(None))
    }

    /// The slab that a chunk is in.
    #[inline]
    fn slab_of(&mut self, chunk: Chunk) -> Result<&Arc<ReadSlab>, SegmentError> {
        let place = &mut self.slabs[place_of(chunk)];
        match place {
            Some(slab) if slab.has(chunk) => {}
            _ => {
                let number = chunk.name >> 32;
                *place = Some(ReadSlab::new(&self.own, self.peer.data(number)?, number)?);
            }
        }
        Ok(place.as_ref().expect("just set"))
    }

    /// Returns `true` if a message can be read. Cheaper than reading it.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        if self.paused == 0
            && let Some(ring) = &self.ring
            && let Some(is_there) = ring.is_there(self.next)
        {
            if !is_there && self.reads_chunks {
                self.warm();
            }
            return is_there;
        }
        self.becomes_ready()
    }

    /// Fetches the cache lines that the next message read in place will write, which the writer may
    /// have looked at since: a thread that waits has the time.
    #[inline]
    fn warm(&self) {
        prefetch::for_writing((&raw const self.record.next).addr());
        self.own.hazards.warm();
    }

    fn becomes_ready(&mut self) -> bool {
        if self.is_paused() {
            return false;
        }
        // Twice, because the ring may have been outgrown; a ring that is outgrown again has
        // nothing.
        for _ in 0..2 {
            if self.find_ring().is_err() {
                return false;
            }
            let Some(ring) = &self.ring else { return false };
            match ring.look(self.next) {
                Found::Nothing => return false,
                Found::Moved => self.ring = None,
                Found::Overwritten(_) | Found::Inline(..) | Found::Chunk(..) | Found::LeftOut => return true,
            }
        }
        false
    }

    /// Returns `true` if there is nothing to read and the connection isn't over.
    #[inline]
    pub fn has_nothing(&mut self) -> bool {
        !self.is_ready() && !self.is_over()
    }

    /// Skips messages as long as at least `depth` newer ones are there. Returns the number of
    /// skipped messages.
    #[inline]
    pub fn skip_to_newest(&mut self, depth: u64) -> u64 {
        if self.ring.as_ref().is_some_and(|ring| !ring.has(self.next.saturating_add(depth))) {
            return 0; // the usual case: fewer wait
        }
        self.skip(depth)
    }

    fn skip(&mut self, depth: u64) -> u64 {
        let mut skipped = 0;
        while self.find_ring().is_ok() {
            let Some(ring) = &self.ring else { break };
            let newer = self.next.saturating_add(depth);
            if !ring.has(newer) || newer >= self.end() {
                break; // the end after the look, as in `read`
            }
            self.next += 1;
            skipped += 1;
        }
        if skipped > 0 && !self.own.is_forked() {
            self.publish_next();
        }
        skipped
    }

    /// Publishes the reading position for tools. Messages that were overwritten are included with
    /// the next one that is read. Must not be called in a forked child.
    #[inline]
    fn publish_next(&self) {
        self.record.next.store(self.next, Ordering::Relaxed); // independent of other words
    }

    /// E1: sets the port to notify; with `None`, the reader has to poll. Returns `true` if the port
    /// has changed: then the caller drains once more.
    pub fn set_port(&mut self, port: Option<&EventReceiver>) -> bool {
        let reference = port.map_or(0, |port| port.reference);
        if reference == self.port || self.is_done || self.own.is_forked() {
            return false;
        }
        let listens_first = self.port == 0;
        self.port = reference;
        protocol::change_port(&self.record.port, reference); // E1
        if listens_first && let Ok(control) = self.own.control() {
            control.changed(Table::Incoming, self.lease.slot); // see `Accepted::has_listener`
        }
        true
    }

    /// B2: releases all messages before this number. Wakes the writer if it waits for that.
    #[inline]
    pub fn set_cursor(&mut self, cursor: u64) {
        let cursor = cursor.min(UNBOUND);
        // A writer that has begun to wait since the cursor was set has seen it.
        if cursor == self.cursor || self.is_done || self.own.is_forked() {
            return;
        }
        self.advance(cursor);
    }

    /// B2
    #[inline]
    fn advance(&mut self, cursor: u64) {
        self.cursor = cursor;
        let waits =
            flow_control::advance(&self.record.cursor, cursor, &self.outgoing.waiting, &mut self.rung);
        failpoints::at(Point::CursorMoved);
        if waits {
            self.ring_space();
        }
    }

    /// Marks that no reader here needs every message, so the writer never waits for this reader.
    pub fn unbind(&mut self) {
        self.set_cursor(UNBOUND);
    }

    #[cold]
    fn ring_space(&self) {
        if let Ok(bell) = self.peer.bell(SPACE_BELL) {
            bell.ring();
        }
    }

    /// Returns `true` if nothing more will come: the writer has ended the connection and all its
    /// messages were read, or the writer is gone and nothing is left.
    pub fn is_over(&mut self) -> bool {
        let generation = self.outgoing.generation.load(Ordering::Acquire); // T3
        if generation != self.outgoing_generation || self.is_broken {
            return true;
        }
        match self.outgoing.end.load(Ordering::Acquire) {
            // pairs with `Accepted::end`
            0 => self.peer.is_gone() && self.is_empty(),
            u64::MAX => self.is_empty(),
            // A peer that is gone sends nothing more, whatever end it stored.
            end => self.next >= end - 1 || self.peer.is_gone() && self.is_empty(),
        }
    }

    /// Whether the ring has no message to read, neither now nor once it can be opened again.
    fn is_empty(&mut self) -> bool {
        !self.is_ready() && self.paused == 0
    }

    /// Returns `true` if the writer has ended the connection: it has published its last message for
    /// this reader.
    pub fn has_ended(&self) -> bool {
        // T3, and pairs with `Accepted::end`.
        self.outgoing.generation.load(Ordering::Acquire) != self.outgoing_generation
            || self.outgoing.end.load(Ordering::Acquire) != 0
    }

    /// Finishes reading: the writer may drop this connection. From now on there is nothing to read,
    /// because another connection may reuse the record that holds the end.
    pub fn done(&mut self) {
        self.ring = None;
        if std::mem::replace(&mut self.is_done, true) || self.own.is_forked() {
            return;
        }
        self.record.port.store(0, Ordering::Relaxed); // no port is notified any more
        // Also pairs with `Accepted::is_done`; carries all reading.
        self.advance(DONE);
        failpoints::at(Point::ConnectionDone);
        if let Ok(control) = self.own.control() {
            control.changed(Table::Incoming, self.lease.slot);
        }
        self.own.end_lease(&self.lease, Party::Reader);
        // The record is retired once the writer's is retired, or the writer is gone: see
        // `discovery`.
        let generation = self.outgoing.generation.load(Ordering::Acquire); // T3
        if !names_generation(generation, self.outgoing_generation) {
            self.own.retire_incoming(self.peer.id(), self.outgoing_slot, self.outgoing_generation);
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.done();
    }
}
