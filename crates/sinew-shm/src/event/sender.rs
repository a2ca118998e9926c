//! An event ring of this participant towards a port of another one; the protocol is in
//! [`event`](crate::event).

use crate::error::CapacityError;
use crate::event::protocol::{self, Entries, Position, Pusher};
use crate::memory::data_segments::Block;
use crate::own::own_state::OwnState;
use crate::peer::mapped_peer::{Peer, Ringer};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::tables::control_segment::{
    EventRingRecord, PeerRecord, PortRecord, Table, TailRecord, names_generation, read_generation, slot_of,
    tail_owner, tail_slot,
};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Number of entries that a new event ring has room for.
const FIRST_CAPACITY: usize = 64;

/// An event ring towards a port.
pub(crate) struct EventSender {
    pub(crate) peer: Arc<Peer>,
    /// Slot and life of the port.
    pub(crate) port: u64,
    slot: u32,
    record: ShmRef<EventRingRecord>,
    parked: ShmRef<PortRecord>,
    bell: Ringer,
    /// The reader's tail, once the reader has taken the ring up.
    tail: OnceLock<ShmRef<TailRecord>>,
    /// Stands for the tail until then.
    no_tail: AtomicU64,
    state: Mutex<EventSenderState>,
}

struct EventSenderState {
    pusher: Pusher,
    blocks: Vec<Block>,
    connections: usize,
}

impl EventSender {
    /// Makes the ring, and publishes it to the peer. `None` if the port is gone.
    pub(crate) fn create(
        own: &OwnState,
        peer: &Arc<Peer>,
        port: u64,
    ) -> Result<Option<Arc<Self>>, CapacityError> {
        let Some(parked) = peer.record::<PortRecord>(Table::Ports, slot_of(port)) else { return Ok(None) };
        // Relaxed: T3 checks it.
        let bell = || (parked.bell.load(Ordering::Relaxed), parked.bell_index.load(Ordering::Relaxed));
        let Some((generation, (owner, index))) = read_generation(&parked.generation, bell) else {
            return Ok(None);
        };
        if !names_generation(port, generation) {
            return Ok(None);
        }
        let Some(bell) = own.find_bell(peer, owner, index)? else { return Ok(None) };
        let block = own.memory.block(Entries::words(FIRST_CAPACITY) * 8)?;
        let entries = Entries::create(block.words.clone(), FIRST_CAPACITY);
        let control = own.control()?;
        let slot = control.allocate(Table::EventRings)?;
        let record: ShmRef<EventRingRecord> = control.record(Table::EventRings, slot)?;
        // Relaxed: T2 publishes it.
        record.peer.store(peer.id(), Ordering::Relaxed);
        record.port.store(port, Ordering::Relaxed);
        record.ring.store(block.location, Ordering::Relaxed);
        control.publish(Table::EventRings, slot);
        let state = EventSenderState { pusher: Pusher::new(entries), blocks: vec![block], connections: 0 };
        Ok(Some(Arc::new(Self {
            peer: peer.clone(),
            port,
            slot,
            record,
            parked,
            bell,
            tail: OnceLock::new(),
            no_tail: AtomicU64::new(0),
            state: Mutex::new(state),
        })))
    }

    /// Takes over the reader's tail, if it is there. Returns `true` if it is new: then all
    /// connections must be announced again.
    pub(crate) fn adopt_tail(&self, own_id: u64) -> bool {
        if self.tail.get().is_some() {
            return false;
        }
        let Some(peers) = self.peer.records::<PeerRecord>(Table::Peers) else { return false };
        for (slot, record) in (0u32..).zip(peers.iter()) {
            let generation = record.generation.load(Ordering::Acquire); // T3
            if generation.is_multiple_of(2) || record.id.load(Ordering::Relaxed) != own_id {
                continue;
            }
            let tail = tail_slot(slot, slot_of(self.port));
            let Some(tail) = self.peer.record::<TailRecord>(Table::Tails, tail) else { continue };
            // Acquire: pairs with the Release in `EventReceiver::peer_tail`.
            if tail.owner.load(Ordering::Acquire) == tail_owner(generation, self.port) {
                return self.tail.set(tail).is_ok();
            }
        }
        false
    }

    fn tail(&self) -> &AtomicU64 {
        self.tail.get().map_or(&self.no_tail, |tail| &tail.tail)
    }

    /// P2: announces a connection. The caller has passed the fence of P1.
    #[inline]
    pub(crate) fn push(&self, connection: u32, last: &mut Position) {
        self.state.lock().pusher.push(connection, last, self.tail());
    }

    /// P3, after the second fence.
    #[inline]
    pub(crate) fn ring_if_parked(&self) {
        let must = self.state.lock().pusher.must_ring(&self.parked.parked);
        if must {
            self.bell.ring();
        }
    }

    /// P2 and P3 in one step.
    #[inline]
    pub(crate) fn push_and_ring(&self, connection: u32, last: &mut Position) {
        let mut state = self.state.lock();
        state.pusher.push(connection, last, self.tail());
        protocol::fence_of_p3();
        let must = state.pusher.must_ring(&self.parked.parked);
        drop(state);
        if must {
            self.bell.ring();
        }
    }

    /// Names the memory that it refers to, as
    /// [`Writer::footprint`](crate::transport::Writer::footprint) does.
    pub(crate) fn footprint(&self, name: &mut dyn FnMut(usize, usize)) {
        let mut name_word = |word: &AtomicU64| name(std::ptr::from_ref(word).addr(), 8);
        name_word(self.tail());
        name_word(&self.parked.parked);
        if let Some(state) = self.state.try_lock() {
            name_word(state.pusher.next_word());
        }
    }

    /// Makes room for one more connection.
    pub(crate) fn add_connection(&self, own: &OwnState) -> Result<(), CapacityError> {
        let mut state = self.state.lock();
        let capacity = state.pusher.capacity();
        if state.connections == capacity {
            let block = own.memory.block(Entries::words(capacity * 2) * 8)?;
            let entries = Entries::create(block.words.clone(), capacity * 2);
            state.pusher.grow(entries, self.tail(), &self.record.ring, block.location); // G1 to G3
            state.blocks.push(block);
        }
        state.connections += 1;
        Ok(())
    }

    pub(crate) fn remove_connection(&self) {
        self.state.lock().connections -= 1;
    }

    /// Retires the ring because the reader, or its port, is gone. The ring's memory stays: the
    /// reader may be slow to notice.
    pub(crate) fn retire(&self, own: &OwnState) {
        if let Ok(control) = own.control() {
            control.retire(Table::EventRings, self.slot);
        }
    }

    /// Frees the ring's memory for reuse. The reader is gone, and no thread here pushes any more.
    pub(crate) fn free(&self, own: &OwnState) {
        let blocks = std::mem::take(&mut self.state.lock().blocks);
        blocks.into_iter().for_each(|block| own.memory.free_block(block));
    }

    /// Whether the ring's port still exists.
    pub(crate) fn is_current(&self) -> bool {
        names_generation(self.port, self.parked.generation.load(Ordering::Acquire)) // T3
    }
}

/// The event rings of a participant towards ports of others, by the id of the peer: what a peer
/// changes is looked for among its own, however many others there are.
#[derive(Default)]
pub(crate) struct EventSenders {
    current: Mutex<BTreeMap<u64, Vec<Arc<EventSender>>>>,
    /// Event rings to ports that are gone; their readers may still look there.
    outlived: Mutex<BTreeMap<u64, Vec<Arc<EventSender>>>>,
}

impl EventSenders {
    /// The event ring towards a peer's port; makes one if there is none. `None` if the port is
    /// gone.
    pub(crate) fn event_sender(
        &self,
        own: &OwnState,
        peer: &Arc<Peer>,
        port: u64,
    ) -> Result<Option<Arc<EventSender>>, CapacityError> {
        let mut current = self.current.lock();
        let all = current.get(&peer.id()).map(Vec::as_slice).unwrap_or_default();
        if let Some(found) = all.iter().find(|event_sender| event_sender.port == port) {
            return Ok(Some(found.clone()));
        }
        if peer.is_gone() {
            return Ok(None); // its event rings are retired already
        }
        let made = EventSender::create(own, peer, port)?;
        if let Some(made) = &made {
            current.entry(peer.id()).or_default().push(made.clone());
        }
        Ok(made)
    }

    /// Takes over the tails that a peer may have for our event rings. Returns `true` if there are
    /// new ones.
    pub(crate) fn adopt_tails(&self, own: &OwnState, peer: u64) -> bool {
        let all = self.current.lock().get(&peer).cloned().unwrap_or_default();
        let mut news = false;
        for event_sender in all {
            news |= event_sender.adopt_tail(own.id);
        }
        news
    }

    /// Retires the event rings to those ports of a peer that are gone.
    pub(crate) fn retire(&self, own: &OwnState, peer: u64, is_gone: impl Fn(&EventSender) -> bool) {
        let gone: Vec<_> = {
            let mut current = self.current.lock();
            let Some(all) = current.get_mut(&peer) else { return };
            let gone = all.extract_if(.., |event_sender| is_gone(event_sender)).collect();
            if all.is_empty() {
                current.remove(&peer);
            }
            gone
        };
        if gone.is_empty() {
            return;
        }
        gone.iter().for_each(|event_sender| event_sender.retire(own));
        self.outlived.lock().entry(peer).or_default().extend(gone);
    }

    /// Frees all [retired](Self::retire) event rings to a peer that is gone; no thread here pushes
    /// there any more.
    pub(crate) fn free(&self, own: &OwnState, peer: u64) {
        let outlived = self.outlived.lock().remove(&peer).unwrap_or_default();
        outlived.iter().for_each(|event_sender| event_sender.free(own));
    }
}
