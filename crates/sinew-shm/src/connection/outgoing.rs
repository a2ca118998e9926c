//! The sending end of connections: the state of each connection that the writer and the helper
//! thread share.

use crate::chunk::loan::Lent;
use crate::connection::flow_control::Cursor;
use crate::error::CapacityError;
use crate::event::protocol::{self, Announced, Position};
use crate::event::sender::{EventSender, EventSenders};
use crate::memory::data_segments::Block;
use crate::own::own_state::OwnState;
use crate::peer::mapped_peer::Peer;
use crate::platform::failpoints::{self, Point};
use crate::platform::logging::log_line_later;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, Mutex, Ordering, PlainU64};
use crate::platform::sys;
use crate::tables::control_segment::{
    DONE, IncomingRecord, OutgoingRecord, Table, names_generation, slot_of,
};
use crate::tables::endpoint::EndpointKey;
use std::collections::HashMap;

/// The connections of a participant as a writer.
pub(crate) struct Outgoing {
    own: Arc<OwnState>,
    pub(crate) event_rings: EventSenders,
    /// The connections by slot.
    connections: Mutex<HashMap<u32, Arc<Accepted>>>,
}

impl Outgoing {
    pub(crate) fn of(own: &Arc<OwnState>) -> Arc<Self> {
        let (event_rings, connections) = (EventSenders::default(), Mutex::default());
        Arc::new(Self { own: own.clone(), event_rings, connections })
    }

    /// Publishes a connection of one of this participant's entities; `None` if the reader is gone
    /// already.
    pub(crate) fn accept(
        self: &Arc<Self>,
        source: EndpointKey,
        peer: &Arc<Peer>,
        connect: &Connect,
    ) -> Result<Option<Arc<Accepted>>, CapacityError> {
        let control = self.own.control()?;
        self.own.readers.add(peer); // W5
        failpoints::at(Point::ReaderListed);
        peer.open_bells();
        let slot = control.allocate(Table::Outgoing)?;
        let record: ShmRef<OutgoingRecord> = control.record(Table::Outgoing, slot)?;
        // Relaxed: T2 publishes it.
        record.peer.store(peer.id(), Ordering::Relaxed);
        record.source.store(source.reference(), Ordering::Relaxed);
        record.target.store(connect.target.map_or(0, EndpointKey::reference), Ordering::Relaxed);
        record.first.store(connect.first, Ordering::Relaxed);
        record.live.store(connect.live, Ordering::Relaxed);
        record.end.store(0, Ordering::Relaxed);
        record.waiting.store(0, Ordering::Relaxed);
        // Added to the list before it is published: the reader's answer finds it there.
        let mut all = self.connections.lock();
        let reference = control.publish(Table::Outgoing, slot);
        let accepted = Arc::new(Accepted {
            all: self.clone(),
            slot,
            reference,
            record,
            peer: peer.clone(),
            cursor: Cursor::new(connect.first),
            route: Mutex::default(),
            ended: PlainU64::new(0),
            unfenced: PlainU64::new(u64::from(!sys::fences_threads())),
            retired: PlainU64::new(0),
            remains: Mutex::new(None),
        });
        all.insert(slot, accepted.clone());
        drop(all);
        if peer.is_gone() {
            // The peer's end was noticed before it was in the lists, so no other thread removes it,
            // unless it still holds something.
            if peer.holds_nothing() {
                self.own.readers.remove(peer.id());
            }
            if self.connections.lock().remove(&slot).is_some() {
                accepted.retire();
            }
            return Ok(None);
        }
        Ok(Some(accepted))
    }

    /// All current connections.
    pub(crate) fn all(&self) -> Vec<Arc<Accepted>> {
        self.connections.lock().values().cloned().collect()
    }

    /// The connection in this slot.
    pub(crate) fn find(&self, slot: u32) -> Option<Arc<Accepted>> {
        self.connections.lock().get(&slot).cloned()
    }

    /// Announces all connections to a peer once more.
    pub(crate) fn announce_to(&self, peer: u64) {
        let to_peer = |accepted: &&Arc<Accepted>| accepted.peer.id() == peer;
        let all: Vec<_> = self.connections.lock().values().filter(to_peer).cloned().collect();
        all.iter().for_each(|accepted| accepted.announce());
    }

    /// Announces the connections whose readers could not be notified.
    pub(crate) fn announce_paused(&self) {
        let is_paused = |accepted: &&Arc<Accepted>| accepted.route.lock().paused.is_some();
        let all: Vec<_> = self.connections.lock().values().cloned().collect();
        all.iter().filter(is_paused).for_each(|accepted| accepted.announce());
    }

    /// Removes a connection that is ended and read.
    pub(crate) fn check(&self, accepted: &Accepted) {
        if accepted.is_ended() && accepted.is_done() {
            let mut all = self.connections.lock();
            // Its slot may be another connection's by now.
            let is_ours = all.get(&accepted.slot).is_some_and(|ours| ours.reference == accepted.reference);
            let ours = is_ours.then(|| all.remove(&accepted.slot)).flatten();
            drop(all);
            if let Some(ours) = ours {
                ours.retire();
            }
        }
    }

    /// Removes the connections to a peer that is gone.
    pub(crate) fn retire(&self, peer: u64) {
        let gone: Vec<_> =
            self.connections.lock().extract_if(|_, accepted| accepted.peer.id() == peer).collect();
        gone.iter().for_each(|(_, accepted)| accepted.retire());
    }

    /// Drops all connections, which refer to this.
    pub(crate) fn forget(&self) {
        let connections = std::mem::take(&mut *self.connections.lock());
        drop(connections);
    }

    /// Prepares the kernel's fences on a separate thread, because that takes long; until it is
    /// done, every publish takes a fence of its own.
    pub(crate) fn prepare_fences(self: &Arc<Self>) {
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
            crate::log_line!(
                log::Level::Info,
                "no thread to prepare the kernel's fences: publishing takes fences of its own ({error})"
            );
        }
    }

    /// Called when the kernel's fences are ready. Works as if a reader began to listen: see
    /// [`Accepted::has_listener`].
    fn leave_fences_to_kernel(&self) {
        let outgoing = self.all();
        outgoing.iter().for_each(|accepted| accepted.set_fenced());
        if !sys::fence_all_threads() {
            outgoing.iter().for_each(|accepted| accepted.set_unfenced());
        }
        outgoing.iter().for_each(|accepted| accepted.announce());
    }
}

/// A connection, as the writer and the helper thread see it.
pub(crate) struct Accepted {
    all: Arc<Outgoing>,
    pub(crate) slot: u32,
    pub(crate) reference: u64,
    pub(crate) record: ShmRef<OutgoingRecord>,
    pub(crate) peer: Arc<Peer>,
    /// The reader's position.
    pub(crate) cursor: Cursor,
    /// The port to notify, and the entry that was announced to it.
    route: Mutex<Route>,
    ended: PlainU64,
    /// 1 if the kernel puts no fence into our threads, so that each of them takes its own.
    unfenced: PlainU64,
    /// 1 if the record isn't published any more.
    retired: PlainU64,
    /// The parts that are released when the reader is done: the entity's record and its blocks.
    remains: Mutex<Option<Arc<RetiredRing>>>,
}

#[derive(Default)]
struct Route {
    /// The port in the reader's record; 0 also while that can't be notified.
    port: u64,
    event_sender: Option<Arc<EventSender>>,
    last: Position,
    /// Steady nanoseconds before which a port that couldn't be notified isn't tried again.
    paused: Option<i64>,
}

/// The parts of a writer that outlive it because its readers still read them.
pub(crate) struct RetiredRing {
    pub(crate) own: Arc<OwnState>,
    pub(crate) slot: u32,
    pub(crate) blocks: Mutex<Vec<Block>>,
    pub(crate) _chunks: Vec<Option<Lent>>,
}

impl Drop for RetiredRing {
    fn drop(&mut self) {
        // A participant that has left reuses nothing: others may still read it.
        if self.own.check().is_ok()
            && let Ok(control) = self.own.control()
        {
            control.give_back(Table::Endpoints, self.slot);
            let blocks = std::mem::take(&mut *self.blocks.lock());
            blocks.into_iter().for_each(|block| self.own.memory.free_block(block));
        }
    }
}

/// The parameters of a connection to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connect {
    /// The reading entity, if the connection is for it alone; `None` for all matching entities of
    /// its process.
    pub target: Option<EndpointKey>,
    /// The first message for the reader. Of the messages before the next one, the reader gets at
    /// least those that are still in the ring.
    pub first: u64,
    /// The first message that the reader would get if it weren't a late joiner.
    pub live: u64,
    /// Least number of messages that the ring should keep, within the limits for
    /// [readers](crate::transport::Writer::grow_for_reader).
    pub depth: usize,
    /// For a reader that must get every message: the number of messages that it may have yet to
    /// read, at most the number that the ring keeps.
    pub capacity: Option<usize>,
}

impl Accepted {
    /// The event ring towards the reader, unless another thread has the route locked.
    pub(crate) fn event_sender(&self) -> Option<Arc<EventSender>> {
        self.route.try_lock().and_then(|route| route.event_sender.clone())
    }

    /// Calls `name` with each piece of memory that this refers to.
    pub(crate) fn footprint(&self, name: &mut dyn FnMut(usize, usize)) {
        name(Arc::as_ptr(&self.peer).addr(), 64);
        if let Some(record) = self.cursor.record() {
            // The rest is for tools.
            name((&raw const **record).addr(), std::mem::offset_of!(IncomingRecord, next));
        }
        if let Some(event_sender) = self.event_sender() {
            name(Arc::as_ptr(&event_sender).addr(), size_of::<EventSender>());
        }
    }

    /// Returns `true` if a listener may have to be notified. Checked before the fence of P1, so
    /// that a reader that polls costs no fence. When such a reader begins to listen, the helper
    /// thread sees it in the reader's log, and makes the kernel put a fence into every thread of
    /// this process (`membarrier`) before it announces the connection. A publish that saw no
    /// listener here came before that fence, so the reader that is notified by the announcement
    /// sees its message; a later publish sees the listener. If the kernel can't do this, or not
    /// yet, each publish takes the fence of P1, which has the same effect. When the kernel becomes
    /// ready, the connection is announced after a fence in the same way.
    #[inline]
    pub(crate) fn has_listener(&self) -> bool {
        // Relaxed: see above; set before there is anything to see.
        self.unfenced.load(Ordering::Relaxed) != 0
            || self.cursor.record().is_some_and(|incoming| incoming.port.load(Ordering::Relaxed) != 0)
    }

    /// The kernel can make fences now: the caller asks for one, and announces the connection.
    pub(crate) fn set_fenced(&self) {
        self.unfenced.store(0, Ordering::Relaxed); // the caller's fence orders it
    }

    /// The kernel has refused a fence, or can't make one yet.
    pub(crate) fn set_unfenced(&self) {
        // All threads see it in time, except one that publishes at this very moment.
        self.unfenced.store(1, Ordering::Relaxed);
    }

    #[cold]
    fn reroute(&self, route: &mut Route, port: u64) {
        let Outgoing { own, event_rings, .. } = &*self.all;
        let paused = route.paused;
        if paused.is_some_and(|until| own.is_pausing(until)) {
            return;
        }
        if let Some(old) = route.event_sender.take() {
            old.remove_connection();
        }
        *route = Route { port, ..Route::default() };
        if port == 0 {
            return;
        }
        let event_sender = event_rings.event_sender(own, &self.peer, port);
        match event_sender.and_then(|event_sender| {
            let Some(event_sender) = event_sender else { return Ok(None) };
            event_sender.add_connection(own)?;
            Ok(Some(event_sender))
        }) {
            Ok(event_sender) => route.event_sender = event_sender,
            // After the pause the helper thread announces the connection, which comes here again.
            Err(error) => {
                *route = Route { paused: Some(own.pause()), ..Route::default() };
                if paused.is_none() {
                    log_line_later!(
                        own; log::Level::Error,
                        "a reader can't be notified now, it is tried again: {error}"
                    );
                }
            }
        }
    }

    /// Announces the connection once: the reader has taken it up, or changed the port to notify, or
    /// lost track.
    pub(crate) fn announce(&self) {
        protocol::announce(std::iter::once(self));
    }

    /// Finds the reader's record if the helper thread hasn't done so yet: a reader that has read
    /// everything must not block the writer, however busy the machine is.
    #[cold]
    pub(crate) fn look_for_reader(&self) {
        if self.cursor.record().is_some() {
            return;
        }
        let answers = |record: &ShmRef<IncomingRecord>| {
            let ours = record.answers(self.all.own.id);
            ours.is_some_and(|outgoing| {
                slot_of(outgoing) == self.slot && names_generation(outgoing, self.reference)
            })
        };
        let all = 0..self.peer.reserved(Table::Incoming);
        let mut records = all.filter_map(|slot| self.peer.record::<IncomingRecord>(Table::Incoming, slot));
        if let Some(record) = records.find(answers) {
            self.adopt(record);
        }
    }

    /// The number of the first message that the reader may still have to read; see
    /// [`Cursor::passed`].
    pub(crate) fn passed(&self, is_bound: bool) -> u64 {
        let is_over = self.is_retired() || self.peer.is_gone();
        if is_over { u64::MAX } else { self.cursor.passed(is_bound) }
    }

    /// B3: the reader's record was found.
    pub(crate) fn adopt(&self, incoming: ShmRef<IncomingRecord>) {
        if let Ok(bell) = self.all.own.space_bell() {
            self.cursor.adopt(incoming, &bell);
        }
    }

    /// Hands the writer's remaining parts to this connection, because its reader may still read
    /// them.
    pub(crate) fn leave(&self, remains: &Arc<RetiredRing>) {
        let mut place = self.remains.lock();
        if !self.is_retired() {
            *place = Some(remains.clone());
        }
    }

    /// Ends the connection: from message `end` on, the reader gets nothing more.
    pub(crate) fn end(&self, end: u64) {
        self.ended.store(1, Ordering::Release); // after `remains`, for a thread that sees it done
        self.record.end.store(end.wrapping_add(1), Ordering::Release); // pairs with `Incoming::is_over`
        failpoints::at(Point::ConnectionEnded);
        let Ok(control) = self.all.own.control() else { return };
        control.changed(Table::Outgoing, self.slot);
        self.announce();
        self.all.check(self);
    }

    /// Ends an open connection because the participant leaves; the writer may still exist.
    pub(crate) fn end_if_open(&self) {
        if self.ended.load(Ordering::Acquire) == 0 {
            // The end is the last message in the ring.
            self.record.end.store(u64::MAX, Ordering::Release); // pairs with `Incoming::is_over`
            self.announce();
        }
    }

    /// Whether the reader has read to the end, and this connection is no longer needed.
    pub(crate) fn is_done(&self) -> bool {
        // Pairs with `Incoming::done`.
        self.cursor.record().is_some_and(|incoming| incoming.cursor.load(Ordering::Acquire) == DONE)
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) != 0
    }

    pub(crate) fn peer_is_alive(&self) -> bool {
        self.peer.is_alive() && !self.peer.has_left()
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire) != 0 // pairs with `retire`
    }

    /// The reader is gone, or done: the record may be reused once its writer has let go of it as
    /// well.
    pub(crate) fn retire(&self) {
        if let Some(event_sender) = self.route.lock().event_sender.take() {
            event_sender.remove_connection();
        }
        if let Ok(control) = self.all.own.control() {
            control.unpublish(Table::Outgoing, self.slot);
        }
        let mut place = self.remains.lock();
        self.retired.store(1, Ordering::Release); // pairs with `is_retired`
        let remains = place.take();
        drop(place);
        drop(remains); // takes locks of its own
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        // Not earlier: the writer may write into the record until now.
        if self.is_retired()
            && let Ok(control) = self.all.own.control()
        {
            control.give_back(Table::Outgoing, self.slot);
        }
    }
}

impl Announced for Accepted {
    #[inline]
    fn push(&self) -> bool {
        let Some(incoming) = self.cursor.record() else { return false };
        let port = incoming.port.load(Ordering::Acquire); // P1: pairs with E1
        let mut route = self.route.lock();
        if route.port != port {
            self.reroute(&mut route, port);
        }
        let Route { event_sender, last, .. } = &mut *route;
        let Some(event_sender) = event_sender else { return false };
        event_sender.push(self.slot, last);
        true
    }

    /// All steps at once, taking each lock only once.
    #[inline]
    fn push_and_ring(&self) {
        let Some(incoming) = self.cursor.record() else { return };
        let port = incoming.port.load(Ordering::Acquire); // P1: pairs with E1
        let mut route = self.route.lock();
        if route.port != port {
            self.reroute(&mut route, port);
        }
        let Route { event_sender, last, .. } = &mut *route;
        if let Some(event_sender) = event_sender {
            event_sender.push_and_ring(self.slot, last);
        }
    }

    #[inline]
    fn ring_if_parked(&self) {
        let route = self.route.lock();
        if let Some(event_sender) = &route.event_sender {
            event_sender.ring_if_parked();
        }
    }
}
