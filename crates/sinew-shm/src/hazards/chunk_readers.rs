//! The participants that may read another participant's chunks in place.

use crate::hazards::holds;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, AtomicU64, Mutex};
use crate::tables::control_segment::Table;

/// The peers that may read a participant's chunks: W5 of [`hazards`](crate::hazards).
#[derive(Default)]
pub(crate) struct Readers(Mutex<Vec<Arc<Peer>>>);

impl Readers {
    /// W5: adds a peer before it can know that it may hold anything.
    pub(crate) fn add(&self, peer: &Arc<Peer>) {
        let mut all = self.0.lock();
        if !all.iter().any(|known| known.id() == peer.id()) {
            all.push(peer.clone());
        }
    }

    /// Removes a peer; its holds no longer count.
    pub(crate) fn remove(&self, peer: u64) {
        self.0.lock().retain(|known| known.id() != peer);
    }

    pub(crate) fn find(&self, peer: u64) -> Option<Arc<Peer>> {
        self.0.lock().iter().find(|known| known.id() == peer).cloned()
    }

    /// W4 to W6 of [`hazards`](crate::hazards): collects the chunks that the readers hold. Returns
    /// how many holds were checked.
    pub(crate) fn collect_held(&self, held: &mut Vec<u64>) -> usize {
        held.clear();
        // W5: a reader that isn't in the list yet begins to read after this lock was taken.
        let mut all = None;
        holds::collect(held, || {
            let list = all.insert(self.0.lock());
            list.iter().filter_map(|peer| peer.records::<AtomicU64>(Table::Holds))
        })
    }
}
