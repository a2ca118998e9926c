//! The transport: this context's participant in shared memory, and the endpoints of the others.

use super::endpoint_info::clock_of;
use super::local_endpoints::LocalEndpoints;
use super::own_participant::{EndpointAbout, OwnParticipant, SHORTEST_LEASE};
use super::remote_publisher::{Heartbeats, RemotePublisher, StoredSigns};
use super::sender::ShmAddress;
use super::services::{ServerConnections, ShmClient, ShmServer};
use crate::event::liveliness::{LivelinessLease, RemoteSigns};
use crate::executor::crew::remote_events::Presence;
use crate::mailbox::deferred::Deferred;
use crate::parameters::clients::ClientId;
use crate::ros::failure::{CreateError, SharedMemoryError};
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::service::pending_calls::{PendingCalls, RemoteServer, RemoteServerConnection};
use crate::service::request_queue::server_core::ServerCore;
use crate::sys::clock::Clock;
use crate::sys::logging::{Level, log_line};
use crate::sys::sync::{Arc, Mutex};
use crate::topic::remote_endpoint::RemoteEndpoint;
use crate::topic::remote_sink::RemoteSubscription;
use crate::topic::subscription_core::{RemoteSource, SubscriptionCore};
use sinew_shm::transport::{Incoming, Observer, OwnEndpoint, Participant, Sink};
use sinew_shm::{Domain, Endpoint, EndpointKey, EndpointKind, JoinError, Peer};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Weak;
use std::time::Duration;

/// A node of another process: its participant, and its full name.
pub(crate) type RemoteNode = (Arc<Peer>, String);

/// A context's participant among the processes of its host, and its view of the others.
pub(crate) struct ShmTransport {
    pub(super) own: Arc<OwnParticipant>,
    domain: Domain,
    context: Weak<dyn LocalEndpoints>,
    /// Publishers of other processes.
    pub(crate) publishers: Mutex<HashMap<(u64, EndpointKey), Arc<RemotePublisher>>>,
    /// Nodes of other processes on this host.
    nodes: Mutex<HashMap<(u64, EndpointKey), RemoteNode>>,
    /// Subscriptions of other processes.
    subscriptions: Mutex<HashMap<(u64, EndpointKey), Arc<RemoteSubscription>>>,
    /// This process's subscriptions, by the keys under which other processes know them.
    subscription_cores: Mutex<HashMap<EndpointKey, Weak<SubscriptionCore>>>,
    /// This process's servers, likewise.
    servers: Mutex<HashMap<EndpointKey, Arc<ServerCore>>>,
    connections: Arc<ServerConnections>,
    /// Servers of other processes.
    services: Mutex<HashMap<(u64, EndpointKey), Arc<ShmServer>>>,
}

impl ShmTransport {
    /// Joins the domain.
    pub(crate) fn join(
        context: &Arc<dyn LocalEndpoints>,
        base: Option<&Path>,
        domain: u32,
    ) -> Result<Arc<Self>, JoinError> {
        let domain = Domain::open(base, domain)?;
        let this = Arc::new_cyclic(|this: &Weak<Self>| Self {
            own: Arc::new(OwnParticipant::new(context, this.clone())),
            domain: domain.clone(),
            context: Arc::downgrade(context),
            publishers: Mutex::default(),
            nodes: Mutex::default(),
            subscriptions: Mutex::default(),
            subscription_cores: Mutex::default(),
            servers: Mutex::default(),
            connections: Arc::default(),
            services: Mutex::default(),
        });
        let watching = Arc::new(DiscoveryObserver(Arc::downgrade(&this)));
        let participant = Participant::join_as(context.session().participant, &domain, watching)?;
        this.own.joined(participant);
        Ok(this)
    }

    pub(crate) fn participant(&self) -> Option<&Arc<Participant>> {
        self.own.participant()
    }

    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Looks up the present participants and endpoints.
    pub(crate) fn refresh(&self) {
        self.own.refresh();
    }

    /// Returns the processes of the host that have a node with one of these names, and the name.
    pub(crate) fn nodes_called(&self, names: &BTreeSet<&str>) -> Vec<RemoteNode> {
        let nodes = self.nodes.lock();
        nodes.values().filter(|(_, name)| names.contains(name.as_str())).cloned().collect()
    }

    /// Returns the names of nodes of other processes of the host, at most `most`.
    pub(crate) fn node_names(&self, most: usize) -> Vec<String> {
        self.nodes.lock().values().take(most).map(|(_, name)| name.clone()).collect()
    }

    /// The same, while `name` is created. `subscription_core`: given for a subscription, the only
    /// entity that others may send to.
    pub(crate) fn advertise_or(
        &self,
        name: &str,
        about: &EndpointAbout<'_>,
        subscription_core: Option<&Arc<SubscriptionCore>>,
    ) -> Result<OwnEndpoint, CreateError> {
        // Held until the subscription is added, so that a participant that answers at once finds
        // it.
        let mut subscription_cores = self.subscription_cores.lock();
        let entity = self.own.advertise(about).map_err(|source| CreateError::SharedMemory {
            name: name.to_owned(),
            source: Box::new(SharedMemoryError::capacity(source)),
        })?;
        if let Some(subscription_core) = subscription_core {
            subscription_cores.insert(entity.key(), Arc::downgrade(subscription_core));
        }
        Ok(entity)
    }

    pub(crate) fn forget_server(&self, key: EndpointKey) {
        let gone = self.servers.lock().remove(&key);
        drop(gone);
    }

    pub(crate) fn forget(&self, key: EndpointKey) {
        self.subscription_cores.lock().remove(&key);
    }

    /// Returns the publisher of a connection, which left before a thread here looked.
    fn departed_publisher(&self, incoming: &Incoming) -> Option<Arc<RemotePublisher>> {
        let entity = incoming.source_endpoint().ok()?;
        let described = RemoteEndpoint::of(&entity, incoming.peer(), &self.domain)?;
        Some(RemotePublisher::new(&self.own, incoming.peer(), described, None))
    }

    /// Retries what there was no room for. Returns whether there is something to retry later.
    fn retry(&self) -> bool {
        let servers: Vec<_> = self.servers.lock().values().cloned().collect();
        let mut are_waiting = false;
        for server in &servers {
            server.requests.for_remote_clients(|client| are_waiting |= client.retry());
        }
        if self.own.gets_receiver() {
            self.retune_all();
        }
        are_waiting || self.own.lacks_receiver()
    }

    /// Leaves the domain.
    pub(crate) fn leave(&self) {
        self.own.leave();
        let gone = std::mem::take(&mut *self.publishers.lock());
        drop(gone);
        let gone = std::mem::take(&mut *self.servers.lock());
        drop(gone);
        let gone = std::mem::take(&mut *self.nodes.lock());
        drop(gone);
    }
}

impl Presence for ShmTransport {
    fn participant(&self) -> Option<&Arc<Participant>> {
        self.participant()
    }

    fn retune_all(&self) {
        let publishers: Vec<_> = self.publishers.lock().values().cloned().collect();
        publishers.iter().for_each(|publisher| publisher.retune());
        let servers: Vec<_> = self.servers.lock().values().cloned().collect();
        servers.iter().for_each(|server| server.requests.for_remote_clients(|client| client.retune()));
        self.connections.all().iter().for_each(|connection| connection.retune());
    }
}

impl ShmTransport {
    /// Advertises a server to other processes.
    pub(crate) fn make_server_known(&self, server: &Arc<ServerCore>) -> Result<OwnEndpoint, CreateError> {
        let ServerCore { requests, number, node, types, qos, origin, .. } = &**server;
        let mut servers = self.servers.lock(); // as in `advertise_or`
        let entity = self.own.advertise_service(
            (EndpointKind::Server, *number),
            (node, &requests.name),
            types,
            (*qos, *origin),
        )?;
        servers.insert(entity.key(), server.clone());
        Ok(entity)
    }

    /// Advertises a client to other processes, after looking up the present ones.
    pub(crate) fn make_client_known(
        &self,
        (node, origin): (&str, Origin),
        name: &str,
        calls: &Arc<PendingCalls>,
    ) -> Result<(), CreateError> {
        self.refresh();
        let qos = QoS::services();
        let entity = self.own.advertise_service(
            (EndpointKind::Client, calls.number),
            (node, name),
            &calls.types,
            (qos, origin),
        )?;
        calls.is_known_as(entity);
        Ok(())
    }
}

/// The lease of a publisher of another process, if it has one that can be watched: its signs of
/// life are times of this context's clock.
fn lease_of(
    (entity, qos): (&Endpoint, &QoS),
    clock: Clock,
    peer: &Arc<Peer>,
    key: EndpointKey,
) -> Option<Arc<LivelinessLease>> {
    let manual = qos.manual_lease_nanoseconds().filter(|_| clock_of(entity) == clock.identity());
    // A process gives its signs of life by the machine's clock: virtual time passes without them.
    let automatic = qos.automatic_lease_nanoseconds().filter(|_| !clock.is_virtual());
    let automatic = automatic.map(|lease| lease.max(SHORTEST_LEASE));
    let (lease, signs): (i64, Box<dyn RemoteSigns>) = match (manual, automatic) {
        (Some(lease), _) => (lease, Box::new(StoredSigns { peer: peer.clone(), key })),
        (None, Some(lease)) => (lease, Box::new(Heartbeats(peer.clone()))),
        (None, None) => return None,
    };
    Some(LivelinessLease::remote(lease, clock, signs))
}

/// Observes the other participants.
struct DiscoveryObserver(Weak<ShmTransport>);

impl DiscoveryObserver {
    fn both(&self) -> Option<(Arc<ShmTransport>, Arc<dyn LocalEndpoints>)> {
        let transport = self.0.upgrade()?;
        let context = transport.context.upgrade()?;
        Some((transport, context))
    }

    /// Counts a change of the graph, which the participant's lists and the matches show already.
    fn graph_changed(&self) {
        if let Some((_, context)) = self.both() {
            context.session().graph_changed();
        }
    }

    /// Connects a new entity of another process with those here.
    fn connect(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        if entity.kind == EndpointKind::Client {
            // A gateway's own client exists because a server does.
            if let Some((_, context)) =
                self.both().filter(|_| Origin::of(entity).is_some_and(Origin::is_shown))
            {
                context.parameter_clients().came(ClientId::Of(peer.id(), key), &entity.name);
            }
            return;
        }
        if entity.kind == EndpointKind::Node && Origin::of(entity) == Some(Origin::Local) {
            if let Some((transport, _)) = self.both() {
                transport.nodes.lock().insert((peer.id(), key), (peer.clone(), entity.node.clone()));
            }
            return;
        }
        // Other kinds don't concern any endpoint here, and those of the raw layer publish no QoS.
        if !matches!(entity.kind, EndpointKind::Publisher | EndpointKind::Subscription | EndpointKind::Server)
        {
            return;
        }
        let Some((transport, context)) = self.both() else { return };
        let Some(described) = RemoteEndpoint::of(entity, peer, &transport.domain) else {
            log_line!(Level::Warn, "an entity of {peer:?} on {} says what makes no sense", entity.name);
            return;
        };
        match entity.kind {
            EndpointKind::Publisher => {
                let lease = lease_of((entity, &described.qos), context.session().clock.clone(), peer, key);
                let publisher = RemotePublisher::new(&transport.own, peer, described, lease);
                transport.publishers.lock().insert((peer.id(), key), publisher.clone());
                context.graph().add_source(publisher);
            }
            EndpointKind::Subscription => {
                let address = Box::new(ShmAddress { peer: peer.clone(), key });
                let subscription = Arc::new(RemoteSubscription { wanted: described, address });
                transport.subscriptions.lock().insert((peer.id(), key), subscription.clone());
                context.graph().add_remote_subscription(subscription);
            }
            EndpointKind::Server => {
                let server = {
                    let (own, peer) = (Arc::downgrade(&transport.own), peer.clone());
                    let connections = transport.connections.clone();
                    Arc::new(ShmServer { own, connections, peer, key, described })
                };
                transport.services.lock().insert((peer.id(), key), server.clone());
                // A server that is only listed has another server that stands for it.
                if server.described().travels && !server.described().origin.is_listed() {
                    context.services().add_remote(&entity.name, server);
                }
            }
            _ => {}
        }
    }

    /// Takes an entity that is gone from those here.
    fn disconnect(&self, peer: &Arc<Peer>, key: EndpointKey) {
        let Some((transport, context)) = self.both() else { return };
        context.parameter_clients().went(ClientId::Of(peer.id(), key));
        let node = transport.nodes.lock().remove(&(peer.id(), key));
        drop(node);
        let publisher = transport.publishers.lock().remove(&(peer.id(), key));
        if let Some(publisher) = publisher {
            let source: Arc<dyn RemoteSource> = publisher.clone();
            context.graph().remove_source(&source);
            publisher.end();
        }
        let subscription = transport.subscriptions.lock().remove(&(peer.id(), key));
        if let Some(subscription) = subscription {
            context.graph().remove_remote_subscription(&subscription);
        }
        let server = transport.services.lock().remove(&(peer.id(), key));
        if let Some(server) = server {
            let server: Arc<dyn RemoteServer> = server;
            context.services().remove_remote(&server.described().topic, &server);
        }
    }
}

impl Observer for DiscoveryObserver {
    fn attend(&self, look: &mut dyn FnMut()) {
        // Keeps the context alive while others are looked at: with it, the participant would leave.
        let kept = self.both();
        Deferred::keep(look);
        drop(kept);
    }

    fn drain(&self, sink: Arc<dyn Sink>) {
        Deferred::run(move || sink.drain());
    }

    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        self.connect(peer, key, entity);
        self.graph_changed();
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        self.disconnect(peer, key);
        self.graph_changed();
    }

    fn connected(&self, incoming: Incoming, target: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        let (transport, context) = self.both()?;
        let source = (incoming.peer().id(), incoming.source());
        let publisher = transport.publishers.lock().get(&source).cloned();
        let Some(target) = target else {
            if let Some(publisher) = publisher {
                publisher.accept(incoming);
                return Some(publisher);
            }
            // The publisher published and left before a thread here looked: the subscriptions that
            // it had matched get its messages.
            let publisher = transport.departed_publisher(&incoming)?;
            let source: Arc<dyn RemoteSource> = publisher.clone();
            context.graph().add_source(source.clone());
            // Only after it serves them: otherwise a thread that takes by hand, and already knows
            // it, would find no subscription that wants the messages, and skip them.
            publisher.accept(incoming);
            context.graph().remove_source(&source);
            publisher.end();
            return Some(publisher);
        };
        let server = transport.servers.lock().get(&target).cloned();
        if let Some(server) = server {
            return ShmClient::receive(&transport.own, incoming, server);
        }
        let connection = transport.connections.find(target);
        if let Some(connection) = connection {
            if !connection.expects(incoming.peer()) {
                return None;
            }
            connection.accept(incoming);
            return Some(connection);
        }
        let subscription_core = transport.subscription_cores.lock().get(&target).cloned()?;
        let publisher = publisher.or_else(|| transport.departed_publisher(&incoming))?;
        publisher.accept_retained(subscription_core, incoming);
        Some(publisher)
    }

    fn left(&self, _peer: &Arc<Peer>) {}

    fn retry(&self) -> Option<Duration> {
        let (transport, context) = self.both()?;
        let graph = context.graph();
        let are_waiting =
            [graph.tidy(), graph.connect_again(), graph.give_up(), graph.warn_unmatched(), transport.retry()];
        let hints = context.hints().speak();
        if are_waiting.contains(&true) { Some(Duration::ZERO) } else { hints }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sys::sync::{AtomicBool, Ordering};

    struct Flag(AtomicBool);

    impl Sink for Flag {
        fn drain(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// A thread that makes a node's first parameter looks at the other processes under the lock of
    /// that: filters and listeners of the program wait.
    #[test]
    fn what_others_have_sent_is_read_once_no_lock_is_held() {
        let (observer, flag) = (DiscoveryObserver(Weak::new()), Arc::new(Flag(AtomicBool::new(false))));
        Deferred::keep(|| {
            observer.drain(flag.clone());
            assert!(!flag.0.load(Ordering::Relaxed));
        });
        assert!(flag.0.swap(false, Ordering::Relaxed));
        observer.drain(flag.clone());
        assert!(flag.0.load(Ordering::Relaxed));
    }
}
