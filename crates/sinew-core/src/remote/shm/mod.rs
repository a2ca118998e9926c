//! The other processes of the host: this context's participant in shared memory, and its view of
//! the others. This is the transport over shared memory: it implements the traits with which
//! [`topic`](crate::topic) reaches endpoints elsewhere; nothing there depends on it.
//!
//! | file | contents |
//! |---|---|
//! | `endpoint_info` | the data that participants publish of an entity |
//! | `sender` | a publisher's way out: `PublisherEndpoint` and `RemoteSink` |
//! | `remote_publisher` | a publisher of another process, for its subscriptions: `RemoteSource` |
//! | `directed` | a line: requests or answers for one reader elsewhere that must get all |
//! | `services` | services: `RemoteServer`, `RemoteServerConnection` and `RemoteClient` |
//! | `type_descriptions` | descriptions of this process's types, for tools |
//! | `listing` | all of the others' nodes and endpoints, for programs that look at the graph |
//! | `receiver_thread` | the thread that receives for subscriptions without an executor |

mod directed;
pub(crate) mod endpoint_info;
mod listing;
pub(crate) mod notes;
pub(crate) mod receiver_thread;
pub(crate) mod remote_publisher;
pub(crate) mod sender;
pub(crate) mod services;
mod type_descriptions;

use crate::executor::remote_events::Presence;
use crate::executor::scheduler::Scheduler;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::ToTell;
use crate::message::type_support::TypeSupport;
use crate::parameters::clients::{ClientId, ParameterClients};
use crate::ros::failure::{CreateError, SharedMemoryError};
use crate::ros::hints::Hints;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::service::pending_calls::{PendingCalls, RemoteServer, RemoteServerConnection};
use crate::service::registry::ServiceRegistry;
use crate::service::request::RemoteClient;
use crate::service::request_queue::ServerCore;
use crate::service::types::ServiceTypes;
use crate::sys::logging::{Level, later, tell};
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};
use crate::topic::graph::Graph;
use crate::topic::remote_endpoint::RemoteEndpoint;
use crate::topic::remote_sink::RemoteSubscription;
use crate::topic::session::Session;
use crate::topic::subscription_core::{RemoteSource, SubscriptionCore};
use receiver_thread::{ReceiverThread, StartError};
use remote_publisher::RemotePublisher;
use sender::ShmAddress;
use services::{ShmClient, ShmServer, ShmServerConnection};
use sinew_shm::{
    CapacityError, Domain, Endpoint, EndpointKey, EndpointKind, EventReceiver, Incoming, JoinError, Observer,
    OwnEndpoint, Participant, Peer, Sink,
};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{OnceLock, Weak};

/// The context as the transport sees it: the endpoints of this process.
pub(crate) trait LocalEndpoints: Send + Sync {
    fn session(&self) -> &Arc<Session>;
    fn graph(&self) -> &Graph;
    fn services(&self) -> &ServiceRegistry;
    fn parameter_clients(&self) -> &ParameterClients;
    fn hints(&self) -> &Hints;
}

/// A node of another process: its participant, and its full name.
pub(crate) type RemoteNode = (Arc<Peer>, String);

/// A context's participant among the processes of its host, and its view of the others.
pub(crate) struct ShmTransport {
    participant: OnceLock<Arc<Participant>>,
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
    /// Connections of this process's clients with servers, by their entities.
    connections: Mutex<HashMap<EndpointKey, Weak<ShmServerConnection>>>,
    /// Servers of other processes.
    services: Mutex<HashMap<(u64, EndpointKey), Arc<ShmServer>>>,
    receiver: Mutex<Option<ReceiverThread>>,
    /// Notifications that the receiver is to make.
    to_tell: Arc<Mutex<ToTell>>,
    /// The receiver's port, once the receiver or a thread that waits for an answer needs one.
    receiver_port: OnceLock<Arc<EventReceiver>>,
    /// Whether the receiver couldn't be started.
    lacks_receiver: AtomicBool,
    told: type_descriptions::KnownTypes,
}

impl ShmTransport {
    /// Joins the domain.
    pub(crate) fn join(
        context: &Arc<dyn LocalEndpoints>,
        base: Option<&Path>,
        domain: u32,
    ) -> Result<Arc<Self>, JoinError> {
        let domain = Domain::open(base, domain)?;
        let this = Arc::new(Self {
            participant: OnceLock::new(),
            domain: domain.clone(),
            context: Arc::downgrade(context),
            publishers: Mutex::default(),
            nodes: Mutex::default(),
            subscriptions: Mutex::default(),
            subscription_cores: Mutex::default(),
            servers: Mutex::default(),
            connections: Mutex::default(),
            services: Mutex::default(),
            receiver: Mutex::default(),
            to_tell: Arc::default(),
            receiver_port: OnceLock::new(),
            lacks_receiver: AtomicBool::new(false),
            told: type_descriptions::KnownTypes::default(),
        });
        let watching = Arc::new(DiscoveryObserver(Arc::downgrade(&this)));
        let participant = Participant::join_as(context.session().participant, &domain, watching)?;
        let _ = this.participant.set(participant);
        Ok(this)
    }

    pub(crate) fn participant(&self) -> Option<&Arc<Participant>> {
        self.participant.get()
    }

    /// Looks up the present participants and endpoints.
    pub(crate) fn refresh(&self) {
        if let Some(participant) = self.participant() {
            participant.refresh();
        }
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

    /// Advertises an entity to the other processes.
    pub(crate) fn advertise(&self, about: &EndpointAbout<'_>) -> Result<OwnEndpoint, CapacityError> {
        let Some(participant) = self.participant() else { return Err(CapacityError::Left { forked: false }) };
        let entity = Endpoint {
            kind: about.kind,
            number: about.number,
            node: about.node.to_owned(),
            name: about.name.to_owned(),
            type_name: about.table.map_or("", TypeSupport::name).to_owned(),
            hash: about.table.and_then(TypeSupport::hash).map_or([0; 32], |hash| hash.0),
            qos: told(about.qos, about.table.is_some_and(|table| table.image.is_some()), about.origin),
        };
        if let Some(table) = about.table {
            self.told.offer(participant.domain(), table);
        }
        participant.advertise(&entity, about.of_node)
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
        let entity = self.advertise(about).map_err(|source| CreateError::SharedMemory {
            name: name.to_owned(),
            source: Box::new(SharedMemoryError::capacity(source)),
        })?;
        if let Some(subscription_core) = subscription_core {
            subscription_cores.insert(entity.key(), Arc::downgrade(subscription_core));
        }
        Ok(entity)
    }

    /// Advertises a separate entity for one line: of requests from a client to one server, or of
    /// answers to one client. `about`: the endpoint's number, its node, and the service.
    fn advertise_line(
        &self,
        kind: EndpointKind,
        (number, node, name): (u64, &str, &str),
        table: &'static TypeSupport,
    ) -> Result<OwnEndpoint, CapacityError> {
        let (table, qos) = (Some(table), QoS::services());
        let origin = Origin::Local;
        self.advertise(&EndpointAbout { kind, number, node, name, table, qos, origin, of_node: None })
    }

    /// Registers the connection, so that answers find it from now on.
    pub(crate) fn add_connection(&self, connection: &Arc<ShmServerConnection>) {
        self.connections.lock().insert(connection.key(), Arc::downgrade(connection));
    }

    pub(crate) fn forget_server(&self, key: EndpointKey) {
        let gone = self.servers.lock().remove(&key);
        drop(gone);
    }

    pub(crate) fn remove_connection(&self, key: EndpointKey) {
        self.connections.lock().remove(&key);
    }

    /// Returns a port of the calling thread's own for waiting for answers; the thread keeps it.
    /// Returns `None` if there are too many ports: then the receiver's port, the last one, is
    /// notified of answers.
    pub(crate) fn port_of_this_thread(&self) -> Option<Arc<EventReceiver>> {
        std::thread_local! {
            static PORTS: std::cell::RefCell<Vec<Arc<EventReceiver>>> = const { std::cell::RefCell::new(Vec::new()) };
        }
        let participant = self.participant()?;
        let find = |ports: &std::cell::RefCell<Vec<Arc<EventReceiver>>>| {
            let mut ports = ports.borrow_mut();
            if let Some(port) = ports.iter().find(|port| port.participant() == participant.id()) {
                return Some(port.clone());
            }
            ports.retain(|port| port.check().is_ok());
            self.receiver_port().ok()?;
            let port = participant.port(None).ok()?;
            ports.push(port.clone());
            Some(port)
        };
        PORTS.try_with(find).ok().flatten() // none in a thread that ends
    }

    pub(crate) fn forget(&self, key: EndpointKey) {
        self.subscription_cores.lock().remove(&key);
    }

    /// Returns the port on which an executor is notified by other processes; `None` if it can't get
    /// one.
    pub(crate) fn port_of(self: &Arc<Self>, scheduler: &Scheduler) -> Option<Arc<EventReceiver>> {
        let presence: Arc<dyn Presence> = self.clone();
        scheduler.port(&presence)
    }

    /// Returns the port of the thread that receives for subscriptions without an executor.
    pub(crate) fn receiver(&self) -> Option<Arc<EventReceiver>> {
        self.participant()?;
        later(|| {
            let mut receiver = self.receiver.lock();
            if receiver.is_none() {
                match self.start_receiver() {
                    Ok(started) => *receiver = Some(started),
                    Err(error) => {
                        tell!(
                            Level::Error,
                            "nothing is received for subscriptions that wait without an executor, until this works: {error}"
                        );
                        self.lacks_receiver.store(true, Ordering::Relaxed); // polled now and then
                    }
                }
            }
            receiver.as_ref().map(ReceiverThread::port)
        })
    }

    fn start_receiver(&self) -> Result<ReceiverThread, StartError> {
        ReceiverThread::start(self.receiver_port()?, &self.to_tell)
    }

    /// Makes the receiver notify listeners of messages that other threads read.
    pub(crate) fn tell(&self, mut to_tell: ToTell) {
        if self.context.upgrade().is_none_or(|context| context.session().has_ended()) {
            return to_tell.into_iter().for_each(|tell| tell()); // the receiver is ending
        }
        self.to_tell.lock().append(&mut to_tell);
        if let Some(port) = self.receiver() {
            port.ring();
        }
    }

    /// Returns the receiver's port, even before there is a receiver.
    fn receiver_port(&self) -> Result<Arc<EventReceiver>, CapacityError> {
        if let Some(port) = self.receiver_port.get() {
            return Ok(port.clone());
        }
        let participant = self.participant().ok_or(CapacityError::Left { forked: false })?;
        let port = participant.port(None)?;
        Ok(self.receiver_port.get_or_init(|| port).clone()) // another thread's serves as well
    }

    /// Returns the port on which a line is received: of the executor that runs its endpoint, or of
    /// the receiver.
    fn port_for(self: &Arc<Self>, scheduler: Option<&Scheduler>) -> Option<Arc<EventReceiver>> {
        scheduler.and_then(|scheduler| self.port_of(scheduler)).or_else(|| self.receiver())
    }

    /// Retries what there was no room for.
    fn retry(&self) {
        let servers: Vec<_> = self.servers.lock().values().cloned().collect();
        servers.iter().for_each(|server| server.requests.for_remote_clients(RemoteClient::retry));
        if self.lacks_receiver.swap(false, Ordering::Relaxed) && self.receiver().is_some() {
            self.retune_all();
        }
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
        let to_tell = std::mem::take(&mut *self.to_tell.lock());
        to_tell.into_iter().for_each(|tell| tell());
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
        servers.iter().for_each(|server| server.requests.for_remote_clients(RemoteClient::retune));
        let connections: Vec<_> = self.connections.lock().values().filter_map(Weak::upgrade).collect();
        connections.iter().for_each(|connection| connection.retune());
    }
}

impl ShmTransport {
    /// Advertises a server to other processes.
    pub(crate) fn make_server_known(&self, server: &Arc<ServerCore>) -> Result<OwnEndpoint, CreateError> {
        let ServerCore { requests, number, node, types, qos, origin, .. } = &**server;
        let mut servers = self.servers.lock(); // as in `advertise_or`
        let entity = self.advertise_service(
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
        let entity = self.advertise_service(
            (EndpointKind::Client, calls.number),
            (node, name),
            &calls.types,
            (qos, origin),
        )?;
        calls.is_known_as(entity);
        Ok(())
    }

    fn advertise_service(
        &self,
        (kind, number): (EndpointKind, u64),
        (node, name): (&str, &str),
        types: &ServiceTypes,
        (qos, origin): (QoS, Origin),
    ) -> Result<OwnEndpoint, CreateError> {
        let (type_name, hash, travels) = types.told();
        let entity = Endpoint {
            kind,
            number,
            node: node.to_owned(),
            name: name.to_owned(),
            type_name,
            hash,
            qos: told(qos, travels, origin),
        };
        let failed = |source: CapacityError| CreateError::SharedMemory {
            name: name.to_owned(),
            source: Box::new(SharedMemoryError::capacity(source)),
        };
        let participant = self.participant().ok_or_else(|| failed(CapacityError::Left { forked: false }))?;
        self.told.offer_service(participant.domain(), types);
        participant.advertise(&entity, None).map_err(failed)
    }
}

/// The data to advertise of an entity.
pub(crate) struct EndpointAbout<'a> {
    pub(crate) kind: EndpointKind,
    pub(crate) number: u64,
    pub(crate) node: &'a str,
    pub(crate) name: &'a str,
    pub(crate) table: Option<&'static TypeSupport>,
    pub(crate) qos: QoS,
    pub(crate) origin: Origin,
    pub(crate) of_node: Option<EndpointKey>,
}

/// Returns the published form of a QoS, for an endpoint with this origin.
fn told(qos: QoS, travels: bool, origin: Origin) -> [u8; 64] {
    let mut bytes = qos.to_bytes(travels);
    origin.write_to(&mut bytes);
    bytes
}

/// Observes the other participants.
struct DiscoveryObserver(Weak<ShmTransport>);

impl DiscoveryObserver {
    fn both(&self) -> Option<(Arc<ShmTransport>, Arc<dyn LocalEndpoints>)> {
        let transport = self.0.upgrade()?;
        let context = transport.context.upgrade()?;
        Some((transport, context))
    }

    /// Counts a change of the graph, which the participant's lists show already.
    fn graph_changed(&self) {
        if let Some((_, context)) = self.both() {
            context.session().graph_changed();
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

    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        self.graph_changed();
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
            tell!(Level::Warn, "an entity of {peer:?} on {} says what makes no sense", entity.name);
            return;
        };
        match entity.kind {
            EndpointKind::Publisher => {
                let publisher = RemotePublisher::new(&transport, peer, described);
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
                    let (transport, peer) = (Arc::downgrade(&transport), peer.clone());
                    Arc::new(ShmServer { transport, peer, key, described })
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

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        self.graph_changed();
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
            let entity = incoming.source_endpoint().ok()?;
            let described = RemoteEndpoint::of(&entity, incoming.peer(), &transport.domain)?;
            let publisher = RemotePublisher::new(&transport, incoming.peer(), described);
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
            return ShmClient::receive(&transport, incoming, server);
        }
        let connection = transport.connections.lock().get(&target).and_then(Weak::upgrade);
        if let Some(connection) = connection {
            if !connection.expects(incoming.peer()) {
                return None;
            }
            connection.accept(incoming);
            return Some(connection);
        }
        let publisher = publisher?;
        let subscription_core = transport.subscription_cores.lock().get(&target).cloned()?;
        publisher.accept_retained(subscription_core, incoming);
        Some(publisher)
    }

    fn left(&self, _peer: &Arc<Peer>) {}

    fn retry(&self) {
        if let Some((transport, context)) = self.both() {
            context.graph().connect_again();
            context.graph().tidy();
            context.graph().give_up();
            context.graph().warn_unmatched();
            transport.retry();
            context.hints().speak();
        }
    }
}
