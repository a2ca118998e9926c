//! The other processes of the host: this context's participant in shared memory, and what it knows of the others.
//!
//! | file | what |
//! |---|---|
//! | `description` | what participants tell each other of an entity |
//! | `sender` | a publisher's way out |
//! | `proxy` | a publisher of another process, as its subscriptions here see it |
//! | `receiver` | the thread that receives for those who wait without an executor |

pub(crate) mod description;
pub(crate) mod proxy;
pub(crate) mod receiver;
pub(crate) mod sender;

use crate::context::Shared as ContextShared;
use crate::delivery::inbox::{Inbox, Outbox};
use crate::error::CreateError;
use crate::message::table::Table;
use crate::qos::QoS;
use crate::sync::{Arc, Mutex};
use description::Described;
use proxy::{Proxy, Retained};
use receiver::Receiver;
use sinew_shm::{
    CapacityError, Domain, Entity, EntityKey, EntityKind, Incoming, JoinError, Observer, OwnEntity,
    Participant, Peer, Port, Sink,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{OnceLock, Weak};

/// A context's presence among the processes of its host.
pub(crate) struct Outside {
    participant: OnceLock<Arc<Participant>>,
    context: Weak<ContextShared>,
    /// Publishers of others.
    proxies: Mutex<HashMap<(u64, EntityKey), Arc<Proxy>>>,
    /// Topics of others' subscriptions.
    subscriptions: Mutex<HashMap<(u64, EntityKey), String>>,
    /// Our subscriptions, by what the others know them by.
    inboxes: Mutex<HashMap<EntityKey, Weak<Inbox>>>,
    receiver: Mutex<Option<Receiver>>,
}

impl Outside {
    /// Joins the domain.
    pub(crate) fn join(
        context: &Arc<ContextShared>,
        base: Option<&Path>,
        domain: u32,
    ) -> Result<Arc<Self>, JoinError> {
        let domain = Domain::open(base, domain)?;
        let this = Arc::new(Self {
            participant: OnceLock::new(),
            context: Arc::downgrade(context),
            proxies: Mutex::default(),
            subscriptions: Mutex::default(),
            inboxes: Mutex::default(),
            receiver: Mutex::default(),
        });
        let watching = Arc::new(Watching(Arc::downgrade(&this)));
        let participant = Participant::join_as(context.participant, &domain, watching)?;
        let _ = this.participant.set(participant);
        Ok(this)
    }

    pub(crate) fn participant(&self) -> Option<&Arc<Participant>> {
        self.participant.get()
    }

    /// Looks who is there now.
    pub(crate) fn refresh(&self) {
        if let Some(participant) = self.participant() {
            participant.refresh();
        }
    }

    /// Tells the others of an entity.
    pub(crate) fn advertise(&self, about: &About<'_>) -> Result<OwnEntity, CapacityError> {
        let Some(participant) = self.participant() else { return Err(CapacityError::Left { forked: false }) };
        let entity = Entity {
            kind: about.kind,
            number: about.number,
            node: about.node.to_owned(),
            name: about.name.to_owned(),
            type_name: about.table.map_or("", Table::name).to_owned(),
            hash: about.table.and_then(Table::hash).map_or([0; 32], |hash| hash.0),
            qos: about.qos.to_bytes(about.table.is_some_and(|table| table.image.is_some())),
        };
        participant.advertise(&entity, about.of_node)
    }

    /// The same, for the creation of `name`.
    pub(crate) fn advertise_or(&self, name: &str, about: &About<'_>) -> Result<OwnEntity, CreateError> {
        self.advertise(about)
            .map_err(|source| CreateError::Outside { name: name.to_owned(), source: Box::new(source.into()) })
    }

    /// Others may send to this subscription alone.
    pub(crate) fn know(&self, key: EntityKey, inbox: &Arc<Inbox>) {
        self.inboxes.lock().insert(key, Arc::downgrade(inbox));
    }

    pub(crate) fn forget(&self, key: EntityKey) {
        self.inboxes.lock().remove(&key);
    }

    /// The port of the thread that receives for those who wait without an executor.
    pub(crate) fn receiver(&self) -> Option<Arc<Port>> {
        let participant = self.participant()?;
        let mut receiver = self.receiver.lock();
        if receiver.is_none() {
            match Receiver::start(participant) {
                Ok(started) => *receiver = Some(started),
                Err(error) => {
                    log::error!("nothing is received for those who wait without an executor: {error}")
                }
            }
        }
        receiver.as_ref().map(Receiver::port)
    }

    /// The executors of subscriptions have changed.
    pub(crate) fn retune_all(&self) {
        let proxies: Vec<_> = self.proxies.lock().values().cloned().collect();
        proxies.iter().for_each(|proxy| proxy.retune());
    }

    /// Leaves the domain.
    pub(crate) fn leave(&self) {
        let receiver = self.receiver.lock().take();
        if let Some(receiver) = receiver {
            receiver.stop();
        }
        if let Some(participant) = self.participant() {
            participant.leave();
        }
        let gone = std::mem::take(&mut *self.proxies.lock());
        drop(gone);
    }
}

/// What to tell the others of an entity.
pub(crate) struct About<'a> {
    pub(crate) kind: EntityKind,
    pub(crate) number: u64,
    pub(crate) node: &'a str,
    pub(crate) name: &'a str,
    pub(crate) table: Option<&'static Table>,
    pub(crate) qos: QoS,
    pub(crate) of_node: Option<EntityKey>,
}

/// Hears of the others.
struct Watching(Weak<Outside>);

impl Watching {
    fn both(&self) -> Option<(Arc<Outside>, Arc<ContextShared>)> {
        let outside = self.0.upgrade()?;
        let context = outside.context.upgrade()?;
        Some((outside, context))
    }
}

impl Observer for Watching {
    fn appeared(&self, peer: &Arc<Peer>, key: EntityKey, entity: &Entity) {
        let Some((outside, context)) = self.both() else { return };
        let Some(described) = Described::of(entity) else {
            log::warn!("an entity of {peer:?} on {} says what makes no sense", entity.name);
            return;
        };
        match entity.kind {
            EntityKind::Publisher => {
                let proxy = Proxy::new(&outside, peer, key, described);
                outside.proxies.lock().insert((peer.id(), key), proxy.clone());
                context.graph.add_proxy(proxy);
            }
            EntityKind::Subscription => {
                outside.subscriptions.lock().insert((peer.id(), key), described.topic.clone());
                context.graph.add_remote_subscription(peer, key, described);
            }
            _ => {}
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EntityKey) {
        let Some((outside, context)) = self.both() else { return };
        let proxy = outside.proxies.lock().remove(&(peer.id(), key));
        if let Some(proxy) = proxy {
            context.graph.remove_proxy(&proxy);
        }
        let topic = outside.subscriptions.lock().remove(&(peer.id(), key));
        if let Some(topic) = topic {
            context.graph.remove_remote_subscription(&topic, peer.id(), key);
        }
    }

    fn connected(&self, incoming: Incoming, target: Option<EntityKey>) -> Option<Arc<dyn Sink>> {
        let (outside, _) = self.both()?;
        let proxy = outside.proxies.lock().get(&(incoming.peer().id(), incoming.source())).cloned()?;
        let Some(target) = target else {
            proxy.accept(incoming);
            return Some(proxy);
        };
        let inbox = outside.inboxes.lock().get(&target).and_then(Weak::upgrade)?;
        Some(Arc::new(Retained::new(proxy, inbox, incoming)))
    }

    fn left(&self, _peer: &Arc<Peer>) {}
}

/// Runs `work` for each proxy once all locks are released.
pub(crate) fn drain_later(outbox: &mut Outbox, proxy: &Arc<Proxy>) {
    outbox.proxies.push(proxy.clone());
}
