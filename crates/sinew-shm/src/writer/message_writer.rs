//! The sending end of an entity: its ring, its chunks and its connections.
//! [`flow_control`](crate::connection::flow_control) describes how it waits for readers.

use crate::chunk::loan::Lent;
use crate::chunk::pool::{Pool, is_let_go_early};
use crate::connection::outgoing::{Accepted, Connect, RetiredRing};
use crate::error::CapacityError;
use crate::event::protocol;
use crate::memory::data_segments::Block;
use crate::participant::OwnEndpoint;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, Mutex, Ordering};
use crate::ring::{DEEPEST, Found, Head, Payload, Ring, Shape};
use crate::tables::control_segment::Table;
use crate::tables::endpoint::{Endpoint, EndpointKey};
use crate::writer::connection::Connection;
use std::fmt;

/// The sending end of an entity. Its owner keeps it under a lock: a thread that publishes, connects
/// or disconnects has exclusive access.
pub struct Writer {
    pub(super) endpoint: Arc<OwnEndpoint>,
    pub(super) ring: Ring,
    pub(super) block: Block,
    pub(super) outgrown: Vec<Block>,
    /// The chunk that each slot names.
    pub(super) named: Vec<Option<Lent>>,
    /// No message before this one has a chunk that must be released.
    pub(super) oldest: u64,
    /// The number of the next message.
    pub(super) next: u64,
    /// Number of newest messages retained for late joiners. They leave the ring only if room is
    /// needed.
    pub(super) retained: u64,
    pub(super) connections: Vec<Connection>,
    /// Disconnected readers that may still read the messages published before.
    pub(super) ending: Vec<Connection>,
    pub(super) pool: Arc<Pool>,
    /// Whether a reader has requested more than the ring keeps for readers, and a warning was
    /// logged.
    pub(super) has_refused_depth: bool,
    /// The number of the next message when the helper thread last released what was read; `None` if
    /// it doesn't look after that, since nothing was left.
    pub(super) tidied: Option<u64>,
    /// The time since when there has been too little room, in steady nanoseconds; `None` if there
    /// is enough.
    pub(super) crowded: Option<i64>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("entity", &self.endpoint)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Writer {
    /// The greatest number of messages that a writer can keep.
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
        endpoint.own.check()?;
        let shape = Shape::new(depth, inline)?;
        let block = endpoint.own.memory.block(shape.bytes())?;
        let ring = Ring::create(block.words.clone(), shape);
        endpoint.record.ring.store(block.location, Ordering::Release); // G2: pairs with `Incoming::find_ring`
        let pool = Pool::new(&endpoint.own, endpoint.counters(), shape.slots);
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
            tidied: None,
            crowded: None,
        })
    }

    /// Returns the entity that this sending end belongs to.
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

    /// Retains the newest `messages` messages for late joiners: they stay in the ring even when all
    /// readers have passed them. By default none is retained.
    pub fn retain(&mut self, messages: usize) {
        self.retained = messages as u64;
    }

    /// Grows the ring to keep at least `depth` messages.
    ///
    /// # Errors
    /// [`CapacityError`]: the ring is unchanged.
    pub fn grow(&mut self, depth: usize) -> Result<(), CapacityError> {
        if depth <= self.ring.shape.slots {
            return Ok(());
        }
        let own = &self.endpoint.own;
        own.check()?;
        let shape = self.ring.shape.keeping(depth)?;
        let block = own.memory.block(shape.bytes())?;
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
    /// and 64 MB of slots. Beyond that it keeps the greatest allowed number, and logs a warning
    /// once. [`grow`](Self::grow) is for the writer's own needs.
    ///
    /// # Errors
    /// [`CapacityError`]: the ring is unchanged.
    pub fn grow_for_reader(&mut self, depth: usize) -> Result<(), CapacityError> {
        let most = self.ring.shape.most_for_readers().max(self.depth());
        if depth > most && !std::mem::replace(&mut self.has_refused_depth, true) {
            let name = Endpoint::load_last(&self.endpoint.record, "")
                .map_or_else(|_| String::new(), |endpoint| endpoint.name);
            crate::log_line!(
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
        matches!(self.ring.look(number), Found::Inline(..) | Found::Chunk(..))
    }

    /// Returns the last message's encoded form: where it lies, or a copy of what is in the ring.
    /// `None` if there is none, or its bytes were left out.
    pub(crate) fn last(&self) -> Option<Result<Lent, Vec<u8>>> {
        let number = self.next.checked_sub(1)?;
        match self.ring.look(number) {
            Found::Chunk(..) => self.named[slot_index(number, self.named.len())].clone().map(Ok),
            Found::Inline(_, length) => {
                let mut bytes = vec![0; length];
                self.ring.read_inline(number, &mut bytes).then_some(Err(bytes))
            }
            Found::Nothing | Found::Overwritten(_) | Found::Moved | Found::LeftOut => None,
        }
    }

    /// Brings a message that was published before back into the ring for late joiners, unless a
    /// newer one has its place. The encoded message lies in memory [lent](Self::loan_for) for this
    /// writer, or fits into the ring. `None` means that there is no room for it; readers count the
    /// message as missed.
    pub fn bring_back(&mut self, number: u64, head: &Head, encoded: Option<Result<Lent, &[u8]>>) {
        if number >= self.next || self.ring.is_displaced(number) {
            return;
        }
        let (payload, lent) = match encoded {
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

    pub(super) fn accept(
        &self,
        peer: &Arc<Peer>,
        connect: &Connect,
    ) -> Result<Option<Arc<Accepted>>, CapacityError> {
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

    /// Changes the number of messages that a reader may have yet to read.
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

    /// Ends a reader's connection. The reader can still read the messages published before.
    pub fn disconnect(&mut self, peer: u64) {
        self.disconnect_if(peer, |_| true);
    }

    /// Ends the connection that one of the reader's entities has to itself.
    pub fn disconnect_endpoint(&mut self, peer: u64, target: EndpointKey) {
        self.disconnect_if(peer, |connected| connected == Some(target));
    }

    fn disconnect_if(&mut self, peer: u64, goes: impl Fn(Option<EndpointKey>) -> bool) {
        if self.endpoint.own.is_forked() {
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

    /// Publishes the next message, with this number and encoded bytes that fit into the ring
    /// ([`inline`](Self::inline)). Does nothing in a forked child: see
    /// [`Participant::check`](crate::transport::Participant::check).
    #[inline]
    pub fn publish_inline(&mut self, number: u64, head: &Head, encoded: &[u8]) {
        self.publish(number, head, Payload::Inline(encoded), None);
    }

    /// Publishes the next message, with this number and an encoded form that lies in memory lent
    /// for this writer. Does nothing in a forked child.
    #[inline]
    pub fn publish_lent(&mut self, number: u64, head: &Head, encoded: Lent) {
        let chunk = encoded.chunk();
        let class = encoded.class();
        self.publish(number, head, Payload::Chunk(chunk), Some(encoded));
        if is_let_go_early(class, self.named.len()) {
            self.let_go();
        }
        if self.tidied.is_none() {
            self.tidied = Some(0);
            self.endpoint.own.request_look(); // for `tidy`
        }
        self.pool.prepare(class);
    }

    /// Publishes the next message without its contents, for which there was no room; readers count
    /// it as missed. They are not notified before the next message.
    #[cold]
    pub fn leave_out(&mut self, number: u64, head: &Head) {
        if self.endpoint.own.is_forked() {
            return;
        }
        let displaced = self.fill(number, head, Payload::LeftOut, None);
        drop(displaced);
    }

    #[inline]
    fn publish(&mut self, number: u64, head: &Head, payload: Payload<'_>, lent: Option<Lent>) {
        if self.endpoint.own.is_forked() {
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
                protocol::announce_one(&**accepted);
            }
            return; // as below
        }
        if !self.connections.iter().any(|connection| connection.accepted.has_listener()) {
            return; // a reader that takes a connection up, or begins to listen, checks the ring itself
        }
        protocol::announce(self.connections.iter().map(|connection| &*connection.accepted));
    }

    /// Names the memory that the next message will touch, by address and bytes, for a thread that
    /// was idle and prefetches all of it at once. Memory named at one level leads to that of the
    /// next, so callers go level by level, for all writers that are about to publish. Returns
    /// `true` if there is another level. In a forked child nothing is named, because it doesn't
    /// have that memory.
    pub fn footprint(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        if self.endpoint.own.is_forked() {
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
pub(super) fn slot_index(number: u64, slots: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "only the lower bits count")]
    let index = number as usize & (slots - 1);
    index
}

impl Drop for Writer {
    /// Ends all connections. The ring stays until its readers are done.
    fn drop(&mut self) {
        let own = self.endpoint.own.clone();
        if own.is_forked() {
            return;
        }
        self.pool.close();
        self.endpoint.kept.store(1, Ordering::Relaxed); // read when the entity is dropped, by its last owner
        let Ok(control) = own.control() else { return };
        control.unpublish(Table::Endpoints, self.endpoint.key().slot);
        let mut blocks = std::mem::take(&mut self.outgrown);
        blocks.push(Block { location: self.block.location, words: self.block.words.clone() });
        let remains = Arc::new(RetiredRing {
            own,
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
