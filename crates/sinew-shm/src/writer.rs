//! The sending end of an entity: its ring, its chunks and its connections.
//! [`flow_control`](crate::flow_control) describes how it waits for readers.

use crate::bell::Bell;
use crate::chunk::{Lent, Loan, Pool, is_let_go_early};
use crate::control::Table;
use crate::endpoint::{Endpoint, EndpointKey};
use crate::error::CapacityError;
use crate::events;
use crate::flow_control::{self, Want};
use crate::memory::Block;
use crate::outgoing::{Accepted, Connect, RetiredRing};
use crate::participant::OwnEndpoint;
use crate::peer::Peer;
use crate::ring::{DEEPEST, Head, Payload, Ring, Shape};
use crate::slab::class_of;
use crate::sync::{Arc, Mutex, Ordering};
use crate::sys;
use std::fmt;
use std::time::Duration;

/// The sending end of an entity. Its owner keeps it under a lock: a thread that publishes, connects
/// or disconnects has exclusive access.
pub struct Writer {
    endpoint: Arc<OwnEndpoint>,
    ring: Ring,
    block: Block,
    outgrown: Vec<Block>,
    /// The chunk that each slot names.
    named: Vec<Option<Lent>>,
    /// No message before this one has a chunk that must be released.
    oldest: u64,
    /// The number of the next message.
    next: u64,
    /// Number of newest messages retained for late joiners. They leave the ring only if room is
    /// needed.
    retained: u64,
    connections: Vec<Connection>,
    /// Disconnected readers that may still read what was published before.
    ending: Vec<Connection>,
    pool: Arc<Pool>,
    /// Whether a reader has asked for more than the ring keeps for readers, and a warning was
    /// logged.
    has_refused_depth: bool,
    /// Since when there has been too little room, in steady nanoseconds; `None` if there is room.
    crowded: Option<i64>,
}

struct Connection {
    accepted: Arc<Accepted>,
    /// The reading entity, if the connection is for that one alone.
    target: Option<EndpointKey>,
    /// For a bound connection: the number of messages that may be under way. For an ended one: the
    /// number of messages that its reader must still get.
    capacity: Option<u64>,
    /// A cursor that the reader has had. While it leaves room, the cache line of the current cursor
    /// needn't be fetched from the reader's core. The reader never has to read a message before it,
    /// even if the current cursor goes back.
    seen: u64,
}

/// A reader that must get every message and has no room for more.
#[derive(Debug, Clone)]
pub struct Laggard {
    /// The reader's participant.
    pub peer: Arc<Peer>,
    /// The reading entity, if the connection is for it alone.
    pub target: Option<EndpointKey>,
    /// The number of the first message that the reader isn't done with.
    pub cursor: u64,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("entity", &self.endpoint)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Connection {
    #[inline]
    fn has_room(&mut self, next: u64) -> bool {
        let Some(capacity) = self.capacity else { return true };
        if next.saturating_sub(self.seen) < capacity {
            return true;
        }
        let cursor = self.accepted.cursor.at();
        if cursor <= next {
            self.seen = cursor.max(self.seen); // a cursor beyond `next` doesn't show what the reader has read
        }
        next.saturating_sub(cursor) < capacity || self.accepted.peer.is_gone()
    }

    /// Returns `true` if the reader has to make room before there is as much as `want` before
    /// message `next`.
    fn lacks_room(&self, next: u64, want: Want) -> bool {
        self.capacity
            .is_some_and(|capacity| self.accepted.cursor.at() < flow_control::wanted(next, capacity, want))
            && !self.accepted.peer.is_gone()
    }
}

impl Writer {
    /// The most messages that a writer can be asked to keep.
    pub const DEEPEST: usize = DEEPEST;

    /// Makes the sending end of an entity, beginning with message `next`. It keeps at least `depth`
    /// messages. Encoded messages of up to `inline` bytes are stored in the ring itself, longer
    /// ones in chunks.
    ///
    /// # Errors
    /// [`CapacityError`]
    pub fn new(
        endpoint: Arc<OwnEndpoint>,
        depth: usize,
        inline: usize,
        next: u64,
    ) -> Result<Self, CapacityError> {
        endpoint.local.check()?;
        let shape = Shape::new(depth, inline)?;
        let block = endpoint.local.memory.block(shape.bytes())?;
        let ring = Ring::create(block.words.clone(), shape);
        endpoint.record.ring.store(block.location, Ordering::Release); // G2: pairs with `Incoming::find_ring`
        let pool = Pool::new(&endpoint.local, endpoint.counters(), shape.slots);
        let named = std::iter::repeat_with(|| None).take(shape.slots).collect();
        let connections = Vec::with_capacity(1); // most writers have no more than one
        Ok(Self {
            endpoint,
            ring,
            block,
            outgrown: Vec::new(),
            named,
            oldest: next,
            next,
            retained: 0,
            connections,
            ending: Vec::new(),
            pool,
            has_refused_depth: false,
            crowded: None,
        })
    }

    /// Returns the entity that this is the sending end of.
    pub fn endpoint(&self) -> &Arc<OwnEndpoint> {
        &self.endpoint
    }

    /// Returns the number of the next message.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Continues with another number. No reader is connected, so none misses the numbers in
    /// between.
    pub fn skip_to(&mut self, next: u64) {
        debug_assert!(self.connections.is_empty() && next >= self.next);
        self.next = next;
    }

    /// Returns the number of encoded bytes that fit into the ring itself.
    #[inline]
    pub fn inline(&self) -> usize {
        self.ring.shape.inline()
    }

    /// Returns the number of messages that the ring keeps.
    pub fn depth(&self) -> usize {
        self.ring.shape.slots
    }

    /// Returns `true` if any reader is connected.
    #[inline]
    pub fn is_connected(&self) -> bool {
        !self.connections.is_empty()
    }

    /// Returns `true` if any reader must get every message.
    #[inline]
    pub fn is_bound(&self) -> bool {
        self.connections.iter().any(|connection| connection.capacity.is_some())
    }

    /// Whether the writer has found the cursor of every reader.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn knows_reader(&self) -> bool {
        self.connections.iter().all(|connection| connection.accepted.cursor.record().is_some())
    }

    /// Retains this many of the newest messages for late joiners: they stay in the ring even when
    /// all readers have passed them. By default none is retained.
    pub fn retain(&mut self, messages: usize) {
        self.retained = messages as u64;
    }

    /// Lends memory for an encoded message of `length` bytes. If need be, the oldest messages make
    /// room: first those that all readers have read, then those that are unread only by readers
    /// that needn't get every message. No message is dropped that wouldn't make room. Allocates
    /// nothing once warm.
    ///
    /// # Errors
    /// [`CapacityError`]: the file system is full, and the messages that may make room don't
    /// suffice: the remaining ones are being read, are retained, or must still be read.
    pub fn loan(&mut self, length: usize) -> Result<Loan, CapacityError> {
        self.loan_for(self.next, length)
    }

    /// Like [`loan`](Self::loan), for a message that was published before and is to be [brought
    /// back](Self::bring_back). Only messages before it make room: if the newest message is brought
    /// back first, none that was brought back already is lost.
    ///
    /// # Errors
    /// As [`loan`](Self::loan).
    pub fn loan_for(&mut self, number: u64, length: usize) -> Result<Loan, CapacityError> {
        loop {
            let error = match self.pool.loan(length) {
                Err(error) => error,
                loaned => return loaned,
            };
            let room = match &error {
                CapacityError::FileSystem { .. } => Some(self.endpoint.local.domain.usable(class_of(length))),
                CapacityError::System(_) => None, // no descriptor: a larger chunk needs none
                _ => return Err(error),
            };
            if !self.displace(class_of(length), number, room) {
                return Err(error);
            }
        }
    }

    /// Returns a handle that lends memory for this writer's messages without the writer's lock.
    pub fn lender(&self) -> Lender {
        Lender(self.pool.clone())
    }

    /// Grows the ring to keep at least `depth` messages.
    ///
    /// # Errors
    /// [`CapacityError`]: the ring is unchanged.
    pub fn grow(&mut self, depth: usize) -> Result<(), CapacityError> {
        if depth <= self.ring.shape.slots {
            return Ok(());
        }
        let local = &self.endpoint.local;
        local.check()?;
        let shape = self.ring.shape.keeping(depth)?;
        let block = local.memory.block(shape.bytes())?;
        let ring = Ring::create(block.words.clone(), shape);
        let mut named: Vec<_> = std::iter::repeat_with(|| None).take(shape.slots).collect();
        let kept = self.named.len();
        for number in self.next.saturating_sub(kept as u64)..self.next {
            named[slot_index(number, shape.slots)] = self.named[slot_index(number, kept)].take();
        }
        self.named = named;
        self.ring.grow(ring, self.next, &self.endpoint.record.ring, block.location); // G1 to G3
        let old = std::mem::replace(&mut self.block, block);
        self.outgrown.push(old);
        self.pool.expect(shape.slots);
        Ok(())
    }

    /// Grows the ring to keep `depth` messages for a reader, within limits: at most 65,536 messages
    /// and 64 MB of slots. Beyond that it keeps as many as allowed, and logs a warning once. For
    /// the writer's own needs there is [`grow`](Self::grow).
    ///
    /// # Errors
    /// [`CapacityError`]: the ring is unchanged.
    pub fn grow_for_reader(&mut self, depth: usize) -> Result<(), CapacityError> {
        let most = self.ring.shape.most_for_readers().max(self.depth());
        if depth > most && !std::mem::replace(&mut self.has_refused_depth, true) {
            let name = Endpoint::load_last(&self.endpoint.record, "")
                .map_or_else(|_| String::new(), |endpoint| endpoint.name);
            crate::tell!(
                log::Level::Warn,
                "a reader of `{name}` in another process asks for {depth} messages, {most} are kept for it: a slow one misses some; \
                 give it a smaller depth, or the writer a greater one"
            );
        }
        self.grow(depth.min(most))
    }

    /// Connects a reader. If the reader is gone already, it isn't connected afterwards.
    ///
    /// # Errors
    /// [`CapacityError`]: the reader isn't connected.
    pub fn connect(&mut self, peer: &Arc<Peer>, connect: &Connect) -> Result<(), CapacityError> {
        self.grow_for_reader(connect.depth.max(connect.capacity.unwrap_or(0)))?;
        let capacity = self.bounded(connect.capacity);
        let accepted = self.accept(peer, connect)?;
        let target = connect.target;
        let seen = connect.first;
        self.connections.extend(accepted.map(|accepted| Connection { accepted, target, capacity, seen }));
        Ok(())
    }

    /// Gives one entity of a reader the messages published so far, from `first` on, and no later
    /// ones. They are in the ring, or were [brought back](Self::bring_back). If the entity
    /// `must_get_all`, no message that it has yet to read makes room for others.
    ///
    /// # Errors
    /// [`CapacityError`]: the entity gets no message.
    pub fn hand_over(
        &mut self,
        peer: &Arc<Peer>,
        target: EndpointKey,
        first: u64,
        must_get_all: bool,
    ) -> Result<(), CapacityError> {
        let live = self.next;
        self.ring.reach_back(first);
        let connect = Connect { target: Some(target), first, live, depth: 0, capacity: None };
        if let Some(accepted) = self.accept(peer, &connect)? {
            accepted.end(live);
            let capacity = must_get_all.then(|| live.saturating_sub(first));
            self.ending.push(Connection { accepted, target: Some(target), capacity, seen: first });
        }
        Ok(())
    }

    /// Returns `true` if this message is in the ring.
    pub fn has_number(&self, number: u64) -> bool {
        matches!(self.ring.look(number), crate::ring::Found::Inline(..) | crate::ring::Found::Chunk(..))
    }

    /// Brings a message that was published before back into the ring for late joiners, unless a
    /// newer one has its place. The encoded message lies in memory [lent](Self::loan_for) for this
    /// writer, or fits into the ring. `None` means that there is no room for it; readers count the
    /// message as missed.
    pub fn bring_back(&mut self, number: u64, head: &Head, image: Option<Result<Lent, &[u8]>>) {
        if number >= self.next || self.ring.is_displaced(number) {
            return;
        }
        let (payload, lent) = match image {
            Some(Ok(lent)) => (Payload::Chunk(lent.chunk()), Some(lent)),
            Some(Err(bytes)) => (Payload::Inline(bytes), None),
            None => (Payload::LeftOut, None),
        };
        self.ring.publish(number, head, payload);
        let place = slot_index(number, self.named.len());
        let displaced = std::mem::replace(&mut self.named[place], lent);
        self.oldest = self.oldest.min(number);
        drop(displaced);
    }

    fn accept(&self, peer: &Arc<Peer>, connect: &Connect) -> Result<Option<Arc<Accepted>>, CapacityError> {
        self.endpoint.participant().outgoing.accept(self.endpoint.key(), peer, connect)
    }

    /// Returns `true` if this reader is connected.
    pub fn has(&self, peer: u64) -> bool {
        self.connections.iter().any(|connection| connection.accepted.peer.id() == peer)
    }

    /// Returns `true` if this entity of a reader has a connection of its own.
    pub fn has_endpoint(&self, peer: u64, target: EndpointKey) -> bool {
        self.connections
            .iter()
            .any(|connection| connection.accepted.peer.id() == peer && connection.target == Some(target))
    }

    /// Changes how many messages may be under way to a reader.
    pub fn bind(&mut self, peer: u64, capacity: Option<usize>) {
        let capacity = self.bounded(capacity);
        for connection in &mut self.connections {
            if connection.accepted.peer.id() == peer {
                connection.capacity = capacity;
            }
        }
    }

    /// Limits a capacity to the depth of the ring.
    fn bounded(&self, capacity: Option<usize>) -> Option<u64> {
        capacity.map(|capacity| capacity.min(self.depth()) as u64)
    }

    /// Ends a reader's connection. The reader can still read what was published before.
    pub fn disconnect(&mut self, peer: u64) {
        self.disconnect_if(peer, |_| true);
    }

    /// Ends the connection that one of the reader's entities has to itself.
    pub fn disconnect_endpoint(&mut self, peer: u64, target: EndpointKey) {
        self.disconnect_if(peer, |connected| connected == Some(target));
    }

    fn disconnect_if(&mut self, peer: u64, goes: impl Fn(Option<EndpointKey>) -> bool) {
        if self.endpoint.local.is_forked() {
            return;
        }
        let end = self.next;
        self.ending.retain(|connection| !connection.accepted.is_retired());
        let goes =
            |connection: &mut Connection| connection.accepted.peer.id() == peer && goes(connection.target);
        for connection in self.connections.extract_if(.., goes) {
            connection.accepted.end(end);
            // The reader that wanted every message is gone.
            self.ending.push(Connection { capacity: None, ..connection });
        }
    }

    /// Returns `true` if every reader that must get every message has room for one more. Readers
    /// that are gone count as having room.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        let next = self.next;
        self.connections.iter_mut().all(|connection| connection.has_room(next))
    }

    /// Returns one of the readers that have no room for the next message.
    pub fn laggard(&self) -> Option<Laggard> {
        let behind = self.connections.iter().find(|connection| connection.lacks_room(self.next, Want::Any));
        let Connection { accepted, target, .. } = behind?;
        let cursor = self.next - accepted.cursor.lag(self.next);
        Some(Laggard { peer: accepted.peer.clone(), target: *target, cursor })
    }

    /// B1: returns `None` if there is room for the next message, and otherwise a handle to
    /// [wait](Waiting::sleep) for room. The caller then calls this again, whatever
    /// [`has_room`](Self::has_room) returns: a waiting writer waits until half of its readers'
    /// capacity is free, for at most half a millisecond, so that it doesn't wait for every single
    /// message. A thread that gives up has nothing to undo.
    #[inline]
    pub fn wait_for_room(&mut self) -> Option<Waiting> {
        if self.crowded.is_none() && self.has_room() { None } else { self.begin_to_wait() }
    }

    #[cold]
    fn begin_to_wait(&mut self) -> Option<Waiting> {
        let local = &self.endpoint.local;
        local.control().ok()?; // not in a forked child
        let bell = local.space_bell().ok()?;
        let now = sys::steady();
        let patience = flow_control::FAIR - (now - *self.crowded.get_or_insert(now));
        let want = if patience > 0 { Want::Half } else { Want::Any };
        let Self { connections, next, .. } = self;
        let full = connections.iter().filter(|connection| connection.lacks_room(*next, Want::Any));
        full.for_each(|connection| connection.accepted.look_for_reader()); // B3
        let bound = connections.iter().filter_map(|connection| {
            let wanted = flow_control::wanted(*next, connection.capacity?, want);
            Some((&connection.accepted.record.waiting, wanted))
        });
        let has_room = || !connections.iter().any(|connection| connection.lacks_room(*next, want));
        let seen = flow_control::begin_to_wait(&bell, bound, has_room);
        let Some(seen) = seen else {
            self.crowded = None;
            return None;
        };
        let at_most = u64::try_from(patience).ok().filter(|&patience| patience > 0);
        Some(Waiting { bell, seen, at_most: at_most.map(Duration::from_nanos) })
    }

    /// Publishes the next message, with this number and encoded bytes that fit into the ring
    /// ([`inline`](Self::inline)). Does nothing in a forked child: see
    /// [`Participant::check`](crate::Participant::check).
    #[inline]
    pub fn publish_inline(&mut self, number: u64, head: &Head, image: &[u8]) {
        self.publish(number, head, Payload::Inline(image), None);
    }

    /// Publishes the next message, with this number and an encoded form that lies in memory lent
    /// for this writer. Does nothing in a forked child.
    #[inline]
    pub fn publish_lent(&mut self, number: u64, head: &Head, image: Lent) {
        let chunk = image.chunk();
        let is_large = is_let_go_early(image.class(), self.named.len());
        self.publish(number, head, Payload::Chunk(chunk), Some(image));
        if is_large {
            self.let_go();
        }
    }

    /// W0: releases the chunks of the messages that all readers have read and that aren't retained
    /// for late joiners. Returns `true` if there were any. This is for writers that publish seldom:
    /// publishing a large message does it each time. The helper thread gives memory back that
    /// wasn't needed for some seconds.
    pub fn let_go(&mut self) -> bool {
        let readers = self.connections.iter().chain(&self.ending);
        let passed = readers.map(|connection| connection.accepted.passed(false)).min();
        let end = passed.unwrap_or(u64::MAX).min(self.next.saturating_sub(self.retained));
        let mut is_any = false;
        while self.withdraw(end, |_| true) {
            is_any = true;
        }
        is_any
    }

    /// Makes room for a chunk of this class: W0 of the messages that all readers have read. If
    /// there are none, W0 of the oldest message before number `before` that a reader may miss,
    /// provided that such messages make enough room. A message that a reader, or anything else in
    /// this process, still holds makes none. For `room` see
    /// [`would_do`](crate::memory::Memory::would_do). Returns `false` if no message that may go
    /// would help.
    #[cold]
    pub(crate) fn displace(&mut self, class: usize, before: u64, room: Option<i64>) -> bool {
        let readers = || self.connections.iter().chain(&self.ending);
        readers().for_each(|connection| connection.accepted.look_for_reader());
        let bound = readers().filter(|connection| connection.capacity.is_some());
        let end = bound.map(|connection| connection.accepted.passed(true)).min();
        if self.let_go() {
            return true;
        }
        let end = end.unwrap_or(u64::MAX).min(before).min(self.next);
        let slots = self.named.len();
        let first = self.oldest.max(self.next.saturating_sub(slots as u64));
        let may_go = (first..end).filter_map(|number| self.named[slot_index(number, slots)].as_ref());
        // A chunk that was published several times is named several times.
        let mut named: Vec<u64> = may_go.clone().map(Lent::name).collect();
        named.sort_unstable();
        let local = &self.endpoint.local;
        let mut held = Vec::new();
        // A hint, as the reference counts are: other threads change both.
        local.readers.collect_held(&mut held);
        held.sort_unstable();
        let is_freed = |lent: &Lent| {
            let name = lent.name();
            let (begin, end) =
                (named.partition_point(|&other| other < name), named.partition_point(|&other| other <= name));
            lent.references() <= 1 + (end - begin) && held.binary_search(&name).is_err()
        };
        let mut freed: Vec<u64> = may_go.filter(|lent| is_freed(lent)).map(Lent::name).collect();
        freed.sort_unstable();
        local.memory.would_do(class, &freed, room) && self.withdraw(end, is_freed)
    }

    /// W0 of the oldest message before `end` that has a chunk and may go. Returns `false` if there
    /// is none.
    fn withdraw(&mut self, end: u64, may_go: impl Fn(&Lent) -> bool) -> bool {
        if self.endpoint.local.is_forked() {
            return false;
        }
        let slots = self.named.len();
        self.oldest = self.oldest.max(self.next.saturating_sub(slots as u64));
        for number in self.oldest..end.min(self.next) {
            let named = &mut self.named[slot_index(number, slots)];
            if let Some(lent) = named.take_if(|lent| may_go(lent)) {
                self.ring.withdraw(number);
                drop(lent);
                return true;
            }
            if named.is_none() && number == self.oldest {
                self.oldest += 1;
            }
        }
        false
    }

    /// Publishes the next message without its contents, for which there was no room; readers count
    /// it as missed. They are not notified before the next message.
    #[cold]
    pub fn leave_out(&mut self, number: u64, head: &Head) {
        if self.endpoint.local.is_forked() {
            return;
        }
        let displaced = self.fill(number, head, Payload::LeftOut, None);
        drop(displaced);
    }

    #[inline]
    fn publish(&mut self, number: u64, head: &Head, payload: Payload<'_>, lent: Option<Lent>) {
        if self.endpoint.local.is_forked() {
            return; // the ring is its parent's
        }
        let displaced = self.fill(number, head, payload, lent);
        self.announce();
        drop(displaced);
    }

    /// Fills the next message's slot; returns the chunk that the slot named before.
    #[inline]
    fn fill(&mut self, number: u64, head: &Head, payload: Payload<'_>, lent: Option<Lent>) -> Option<Lent> {
        debug_assert!(number >= self.next);
        self.ring.publish(number, head, payload);
        self.next = number + 1;
        let place = slot_index(number, self.named.len());
        std::mem::replace(&mut self.named[place], lent)
    }

    /// P1 to P3 for all connections, with two fences.
    #[inline]
    fn announce(&self) {
        if let [Connection { accepted, .. }] = &self.connections[..] {
            if accepted.has_listener() {
                events::announce_one(&**accepted);
            }
            return; // as below
        }
        if !self.connections.iter().any(|connection| connection.accepted.has_listener()) {
            return; // a reader that takes a connection up, or begins to listen, checks the ring itself
        }
        events::announce(self.connections.iter().map(|connection| &*connection.accepted));
    }

    /// Names the memory that the next message will touch, by address and bytes, for a thread that
    /// was idle and prefetches all of it at once. Memory named at one level leads to that of the
    /// next, so callers go level by level, for all writers that are about to publish. Returns
    /// `true` if there is another level. In a forked child nothing is named, because it doesn't
    /// have that memory.
    pub fn footprint(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        if self.endpoint.local.is_forked() {
            return false;
        }
        let accepted = || self.connections.iter().map(|connection| &*connection.accepted);
        match level {
            0 => {
                let (address, bytes) = self.ring.place_of(self.next);
                name(address, bytes);
                name(self.connections.as_ptr().addr(), size_of_val(&*self.connections));
                name((&raw const self.named[slot_index(self.next, self.named.len())]).addr(), 8);
                name(Arc::as_ptr(&self.endpoint).addr(), size_of::<OwnEndpoint>());
            }
            1 => accepted().for_each(|accepted| name((&raw const *accepted).addr(), size_of_val(accepted))),
            2 => accepted().for_each(|accepted| accepted.footprint(name)),
            3 => accepted().for_each(|accepted| {
                if let Some(event_sender) = accepted.event_sender() {
                    event_sender.footprint(name);
                }
            }),
            _ => {}
        }
        level < 3
    }

    /// Removes the connections to a peer that is gone.
    pub fn forget(&mut self, peer: u64) {
        self.connections.retain(|connection| connection.accepted.peer.id() != peer);
    }
}

#[inline]
fn slot_index(number: u64, slots: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "only the lower bits count")]
    let index = number as usize & (slots - 1);
    index
}

impl Drop for Writer {
    /// Ends all connections. The ring stays until its readers are done.
    fn drop(&mut self) {
        let local = self.endpoint.local.clone();
        if local.is_forked() {
            return;
        }
        self.pool.close();
        self.endpoint.kept.store(1, Ordering::Relaxed); // read when the entity is dropped, by its last owner
        let Ok(control) = local.control() else { return };
        control.unpublish(Table::Endpoints, self.endpoint.key().slot);
        let mut blocks = std::mem::take(&mut self.outgrown);
        blocks.push(Block { location: self.block.location, words: self.block.words.clone() });
        let remains = Arc::new(RetiredRing {
            local,
            slot: self.endpoint.key().slot,
            blocks: Mutex::new(blocks),
            _chunks: std::mem::take(&mut self.named),
        });
        for connection in &self.ending {
            connection.accepted.leave(&remains);
        }
        for connection in &self.connections {
            connection.accepted.leave(&remains);
            connection.accepted.end(self.next);
        }
    }
}

/// A handle that lends memory for the messages of one writer.
#[derive(Clone)]
pub struct Lender(Arc<Pool>);

impl fmt::Debug for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lender")
    }
}

impl Lender {
    #[cfg(all(test, not(loom)))]
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0
    }

    /// Lends memory for an encoded message of `length` bytes. Once warm, allocates nothing and
    /// makes no system call; takes a short lock.
    ///
    /// # Errors
    /// [`CapacityError`]: the file system is full.
    #[inline]
    pub fn loan(&self, length: usize) -> Result<Loan, CapacityError> {
        self.0.loan(length)
    }
}

/// A wait for room; see [`Writer::wait_for_room`].
pub struct Waiting {
    bell: Bell,
    seen: u32,
    /// How long it is worth waiting for more than one place.
    at_most: Option<Duration>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Waiting {
    /// Waits on a bell that has not been rung yet when this is made.
    pub(crate) fn on(bell: Bell) -> Self {
        let seen = bell.rung();
        Self { bell, seen, at_most: None }
    }

    /// Sleeps until there may be room. May return early.
    pub fn sleep(&self, timeout: Option<Duration>) {
        self.bell.sleep(self.seen, timeout.into_iter().chain(self.at_most).min());
    }
}

#[cfg(all(test, not(loom)))]
#[expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests;
