//! The sending end of an entity: its ring, its chunks and its connections. How it waits for readers
//! is in [`room`](crate::flow_control).

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

/// The sending end of an entity. Its user has it under a lock: a thread that publishes, connects or
/// disconnects has it alone.
pub struct Writer {
    endpoint: Arc<OwnEndpoint>,
    ring: Ring,
    block: Block,
    outgrown: Vec<Block>,
    /// By slot: the chunk that it names.
    named: Vec<Option<Lent>>,
    /// No message before this one has a chunk that is to be let go of.
    oldest: u64,
    /// The number of the next message.
    next: u64,
    /// So many messages are for late joiners: only want of room takes them from the ring.
    retained: u64,
    connections: Vec<Connection>,
    /// Disconnected, but what was published before may still be read.
    ending: Vec<Connection>,
    pool: Arc<Pool>,
    /// A reader asked for more than the ring keeps for readers, and that was said.
    has_refused_depth: bool,
    /// Since when there was too little room, in steady nanoseconds; `None`: there was some.
    crowded: Option<i64>,
}

struct Connection {
    accepted: Arc<Accepted>,
    /// The reading entity, if it is for that one alone.
    target: Option<EndpointKey>,
    /// Of a bound connection: messages that may be under way. Of one that has ended: what its
    /// reader must still get.
    capacity: Option<u64>,
    /// A cursor that the reader has had: its line needn't be fetched from the reader's core while
    /// that one leaves room. What the reader is still to read is never before it, also where the
    /// cursor goes back.
    seen: u64,
}

/// A reader that must get everything, and has no room for more.
#[derive(Debug, Clone)]
pub struct Laggard {
    /// Its participant.
    pub peer: Arc<Peer>,
    /// The reading entity, if the connection is for it alone.
    pub target: Option<EndpointKey>,
    /// The number of the first message that it isn't done with.
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
            self.seen = cursor.max(self.seen); // one beyond says nothing of what the reader has read
        }
        next.saturating_sub(cursor) < capacity || self.accepted.peer.is_gone()
    }

    /// Whether the reader has to make room, so that there is so much before message `next`.
    fn lacks_room(&self, next: u64, want: Want) -> bool {
        self.capacity
            .is_some_and(|capacity| self.accepted.cursor.at() < flow_control::wanted(next, capacity, want))
            && !self.accepted.peer.is_gone()
    }
}

impl Writer {
    /// The most messages that a writer can be asked to keep.
    pub const DEEPEST: usize = DEEPEST;

    /// The sending end of an entity, which begins with message `next`. Keeps `depth` messages at
    /// least; images of up to `inline` bytes go into the ring itself, greater ones into chunks.
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
        let connections = Vec::with_capacity(1); // most have no more
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

    /// The entity that it is the end of.
    pub fn endpoint(&self) -> &Arc<OwnEndpoint> {
        &self.endpoint
    }

    /// The number of the next message.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Goes on with another number: no reader is connected, so none misses those between.
    pub fn skip_to(&mut self, next: u64) {
        debug_assert!(self.connections.is_empty() && next >= self.next);
        self.next = next;
    }

    /// Bytes of image that go into the ring itself.
    #[inline]
    pub fn inline(&self) -> usize {
        self.ring.shape.inline()
    }

    /// Messages that the ring keeps.
    pub fn depth(&self) -> usize {
        self.ring.shape.slots
    }

    /// Whether any reader is connected.
    #[inline]
    pub fn is_connected(&self) -> bool {
        !self.connections.is_empty()
    }

    /// Whether any reader must get everything.
    #[inline]
    pub fn is_bound(&self) -> bool {
        self.connections.iter().any(|connection| connection.capacity.is_some())
    }

    /// Whether the writer knows where its reader says how far it is.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn knows_reader(&self) -> bool {
        self.connections.iter().all(|connection| connection.accepted.cursor.record().is_some())
    }

    /// So many of the newest messages are for late joiners: they stay in the ring, also once all
    /// readers have passed them. None before this is called.
    pub fn retain(&mut self, messages: usize) {
        self.retained = messages as u64;
    }

    /// Memory for an image of `length` bytes, for which the oldest messages make room if need be:
    /// first those that all readers have read, then those that only readers miss that needn't get
    /// everything. None is lost that makes no room. Allocates nothing once warm.
    ///
    /// # Errors
    /// [`CapacityError`]: the file system is full, and whatever may make room doesn't suffice: the rest is
    /// read, or kept, or must be read.
    pub fn loan(&mut self, length: usize) -> Result<Loan, CapacityError> {
        self.loan_for(self.next, length)
    }

    /// The same for a message that was published before, and is to be [brought
    /// back](Self::bring_back): only messages before it make room. So none is lost to it that was
    /// brought back already, if the newest is brought back first.
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

    /// What lends memory for this writer's images, without its lock.
    pub fn lender(&self) -> Lender {
        Lender(self.pool.clone())
    }

    /// Keeps at least so many messages.
    ///
    /// # Errors
    /// [`CapacityError`]: then it keeps what it kept.
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

    /// Keeps at least so many messages for a reader that asks for them, within reason: 65,536 at
    /// most, and no more than 64 MB of slots. Beyond that it keeps what it may, and says so once;
    /// for what the writer wants for itself there is [`grow`](Self::grow).
    ///
    /// # Errors
    /// [`CapacityError`]: then it keeps what it kept.
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

    /// Connects a reader. One that is gone already isn't connected afterwards.
    ///
    /// # Errors
    /// [`CapacityError`]: then it isn't connected.
    pub fn connect(&mut self, peer: &Arc<Peer>, connect: &Connect) -> Result<(), CapacityError> {
        self.grow_for_reader(connect.depth.max(connect.capacity.unwrap_or(0)))?;
        let capacity = self.bounded(connect.capacity);
        let accepted = self.accept(peer, connect)?;
        let target = connect.target;
        let seen = connect.first;
        self.connections.extend(accepted.map(|accepted| Connection { accepted, target, capacity, seen }));
        Ok(())
    }

    /// Gives one entity of a reader the messages from `first` on that were published so far, and no
    /// more. They are in the ring, or were [brought back](Self::bring_back). If it `must_get_all`,
    /// none that it has yet to read makes room for others.
    ///
    /// # Errors
    /// [`CapacityError`]: then it gets none.
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

    /// Whether this message is in the ring.
    pub fn has_number(&self, number: u64) -> bool {
        matches!(self.ring.look(number), crate::ring::Found::Inline(..) | crate::ring::Found::Chunk(..))
    }

    /// Brings a message that was published before into the ring, for late joiners: unless a newer
    /// one has its place. The image lies in memory [lent](Self::loan_for) for this writer, or fits
    /// into the ring; `None`: there is no room for it, and readers count the message as missed.
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

    /// Whether this reader is connected.
    pub fn has(&self, peer: u64) -> bool {
        self.connections.iter().any(|connection| connection.accepted.peer.id() == peer)
    }

    /// Whether this entity of a reader's has a connection of its own.
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

    /// No more can be under way than the ring keeps.
    fn bounded(&self, capacity: Option<usize>) -> Option<u64> {
        capacity.map(|capacity| capacity.min(self.depth()) as u64)
    }

    /// Ends a reader's connection: what was published before is still its.
    pub fn disconnect(&mut self, peer: u64) {
        self.disconnect_if(peer, |_| true);
    }

    /// The same of the connection that one of the reader's entities has for itself.
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
            // The reader that wanted everything is gone.
            self.ending.push(Connection { capacity: None, ..connection });
        }
    }

    /// Whether every reader that must get everything has room for one more message. Those that are
    /// gone have.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        let next = self.next;
        self.connections.iter_mut().all(|connection| connection.has_room(next))
    }

    /// One of the readers that stand in the way of the next message.
    pub fn laggard(&self) -> Option<Laggard> {
        let behind = self.connections.iter().find(|connection| connection.lacks_room(self.next, Want::Any));
        let Connection { accepted, target, .. } = behind?;
        let cursor = self.next - accepted.cursor.lag(self.next);
        Some(Laggard { peer: accepted.peer.clone(), target: *target, cursor })
    }

    /// B1: `None` if there is room for the next message. Else how to [wait](Waiting::sleep) for
    /// some: then this is asked again, whatever [`has_room`](Self::has_room) says: a writer that
    /// waits does so for half of its readers' capacity, for half a millisecond, lest it waits for
    /// every message. A thread that gives up has nothing to take back.
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

    /// Publishes the next message with this number, with an image that fits into the ring
    /// ([`inline`](Self::inline)). In a forked child, does nothing: see
    /// [`Participant::check`](crate::Participant::check).
    #[inline]
    pub fn publish_inline(&mut self, number: u64, head: &Head, image: &[u8]) {
        self.publish(number, head, Payload::Inline(image), None);
    }

    /// Publishes the next message with this number and an image that lies in memory that was lent
    /// for this writer. In a forked child, does nothing.
    #[inline]
    pub fn publish_lent(&mut self, number: u64, head: &Head, image: Lent) {
        let chunk = image.chunk();
        let is_large = is_let_go_early(image.class(), self.named.len());
        self.publish(number, head, Payload::Chunk(chunk), Some(image));
        if is_large {
            self.let_go();
        }
    }

    /// W0: of the messages that all readers have read, and that aren't for late joiners, the chunks
    /// are free for the next. Whether there were any. For a writer that publishes seldom:
    /// publishing large images does so each time. The helper thread gives back what wasn't needed
    /// for some seconds.
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

    /// There is no room for a chunk of this class: W0 of what all readers have read, or else of the
    /// oldest message before number `before` that a reader may miss, if such messages make room
    /// enough. One that a reader keeps, or anything else in this process, makes none. `room`: see
    /// [`would_do`](crate::memory::Memory::would_do). False if nothing may go that helps.
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
        // An image that was published several times is named as often.
        let mut named: Vec<u64> = may_go.clone().map(Lent::name).collect();
        named.sort_unstable();
        let local = &self.endpoint.local;
        let mut held = Vec::new();
        local.readers.collect_held(&mut held); // a hint, as are the references: others come and go
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

    /// W0 of the oldest message before `end` that has a chunk, and may go. False if there is none.
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

    /// Gives the next message this number without an image, for which there was no room: its
    /// readers count it as missed. They are not told before the message after it comes.
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

    /// Fills the next message's slot; returns what it named before.
    #[inline]
    fn fill(&mut self, number: u64, head: &Head, payload: Payload<'_>, lent: Option<Lent>) -> Option<Lent> {
        debug_assert!(number >= self.next);
        self.ring.publish(number, head, payload);
        self.next = number + 1;
        let place = slot_index(number, self.named.len());
        std::mem::replace(&mut self.named[place], lent)
    }

    /// P1 to P3, for all connections with two fences.
    #[inline]
    fn announce(&self) {
        if let [Connection { accepted, .. }] = &self.connections[..] {
            if accepted.has_listener() {
                events::announce_one(&**accepted);
            }
            return; // as below
        }
        if !self.connections.iter().any(|connection| connection.accepted.has_listener()) {
            return; // a reader that takes a connection up, or begins to listen, looks by itself
        }
        events::announce(self.connections.iter().map(|connection| &*connection.accepted));
    }

    /// Names the memory that the next message will touch, by address and bytes, for a thread that
    /// was away and fetches all of it at once. What is named at one level leads to what is at the
    /// next: so it is asked level by level, for all writers that are about to publish. Returns
    /// whether there is another level. In a forked child nothing is named: it hasn't that memory.
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

    /// Forgets the connections to a peer that is gone.
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

/// Lends memory for the images of one writer.
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

    /// Memory for an image of `length` bytes. Once warm, allocates nothing and calls nothing; takes
    /// a short lock.
    ///
    /// # Errors
    /// [`CapacityError`]: the file system is full.
    #[inline]
    pub fn loan(&self, length: usize) -> Result<Loan, CapacityError> {
        self.0.loan(length)
    }
}

/// How to wait for room; see [`Writer::wait_for_room`].
pub struct Waiting {
    bell: Bell,
    seen: u32,
    /// How long it is worth it to wait for more than a place.
    at_most: Option<Duration>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Waiting {
    /// For a bell that was not rung yet when this is made.
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
