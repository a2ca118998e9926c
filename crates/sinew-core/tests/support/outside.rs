//! An onlooker: it looks at participants from outside, as tools do.

use sinew_shm::transport::{Incoming, Observer, Participant, Sink};
use sinew_shm::{Counter, Domain, Endpoint, EndpointKey, EndpointKind, Peer};
use std::path::Path;
#[expect(clippy::disallowed_types, reason = "a test's own lock; nothing here is modelled")]
use std::sync::{Arc, Mutex};

#[derive(Default)]
#[expect(clippy::disallowed_types, reason = "as above")]
struct Seen(Mutex<Vec<(Arc<Peer>, EndpointKey, Endpoint)>>);

impl Observer for Seen {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        self.0.lock().expect("no panic").push((peer.clone(), key, entity.clone()));
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        self.0.lock().expect("no panic").retain(|(other, known, _)| other.id() != peer.id() || *known != key);
    }

    fn connected(&self, _: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        None
    }

    fn left(&self, _: &Arc<Peer>) {}
}

/// Looks, and does nothing else.
pub(crate) struct Onlooker {
    pub(crate) participant: Arc<Participant>,
    seen: Arc<Seen>,
}

impl Onlooker {
    pub(crate) fn join(directory: &Path, domain: u32) -> Self {
        let domain = Domain::open(Some(directory), domain).expect("a directory for shared memory");
        let seen = Arc::new(Seen::default());
        let participant = Participant::join(&domain, seen.clone()).expect("there is room");
        Self { participant, seen }
    }

    /// The entities of this kind and name, of this node.
    pub(crate) fn find(&self, kind: EndpointKind, name: &str, node: &str) -> Vec<(Arc<Peer>, EndpointKey)> {
        self.participant.refresh();
        let seen = self.seen.0.lock().expect("no panic");
        let is_it = |entity: &Endpoint| entity.kind == kind && entity.name == name && entity.node == node;
        let found = seen.iter().filter(|(_, _, entity)| is_it(entity));
        found.map(|(peer, key, _)| (peer.clone(), *key)).collect()
    }

    /// One counter of the only entity of this kind and name that this node has.
    #[track_caller]
    pub(crate) fn count(&self, kind: EndpointKind, name: &str, node: &str, counter: Counter) -> u64 {
        let found = self.find(kind, name, node);
        assert_eq!(found.len(), 1, "{kind:?} {name}");
        found[0].0.counts(found[0].1).expect("it is there").get(counter)
    }
}
