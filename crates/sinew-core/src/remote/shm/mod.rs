//! The other processes of the host: this context's participant in shared memory, and what it knows
//! of the others. It is the transport over shared memory: it implements the traits with which
//! [`topic`](crate::topic) reaches ends elsewhere, and is known to nothing there.
//!
//! | file | what |
//! |---|---|
//! | `endpoint_info` | what participants tell each other of an entity |
//! | `sender` | a publisher's way out: `PublisherEndpoint` and `RemoteSink` |
//! | `remote_publisher` | a publisher of another process, as its subscriptions here see it: `RemoteSource` |
//! | `directed` | a line: messages for one reader there that must get all of them; requests and answers |
//! | `services` | services: a server of another process and a client's connection with it (`RemoteServer`, `RemoteServerConnection`), and the clients there that a server has (`RemoteClient`) |
//! | `type_descriptions` | the descriptions of our types, for tools |
//! | `receiver_thread` | the thread that receives for subscriptions without an executor |

mod directed;
pub(crate) mod endpoint_info;
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
use crate::ros::failure::CreateError;
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

/// What the transport knows of its context: the ends that are here.
pub(crate) trait LocalEndpoints: Send + Sync {
    fn session(&self) -> &Arc<Session>;
    fn graph(&self) -> &Graph;
    fn services(&self) -> &ServiceRegistry;
    fn parameter_clients(&self) -> &ParameterClients;
    fn hints(&self) -> &Hints;
}

/// A node of another process: whose, and its full name.
pub(crate) type RemoteNode = (Arc<Peer>, String);

/// A context's presence among the processes of its host.
pub(crate) struct ShmTransport {
    participant: OnceLock<Arc<Participant>>,
    domain: Domain,
    context: Weak<dyn LocalEndpoints>,
    /// Publishers of others.
    pub(crate) publishers: Mutex<HashMap<(u64, EndpointKey), Arc<RemotePublisher>>>,
    /// Nodes of others on this host.
    nodes: Mutex<HashMap<(u64, EndpointKey), RemoteNode>>,
    /// Subscriptions of others.
    subscriptions: Mutex<HashMap<(u64, EndpointKey), Arc<RemoteSubscription>>>,
    /// Our subscriptions, by the keys that the others know them by.
    subscription_cores: Mutex<HashMap<EndpointKey, Weak<SubscriptionCore>>>,
    /// Our servers, likewise.
    servers: Mutex<HashMap<EndpointKey, Arc<ServerCore>>>,
    /// Our clients' ways to servers, by their entities.
    connections: Mutex<HashMap<EndpointKey, Weak<ShmServerConnection>>>,
    /// Servers of others.
    services: Mutex<HashMap<(u64, EndpointKey), Arc<ShmServer>>>,
    receiver: Mutex<Option<ReceiverThread>>,
    /// What the receiver is to tell listeners.
    to_tell: Arc<Mutex<ToTell>>,
    /// The receiver's, once it or a thread that waits for an answer needs one.
    receiver_port: OnceLock<Arc<EventReceiver>>,
    /// The receiver couldn't be started.
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

    /// Looks which participants and endpoints there are now.
    pub(crate) fn refresh(&self) {
        if let Some(participant) = self.participant() {
            participant.refresh();
        }
    }

    /// The processes of the host that have a node of one of these names, and the name.
    pub(crate) fn nodes_called(&self, names: &BTreeSet<&str>) -> Vec<RemoteNode> {
        let nodes = self.nodes.lock();
        nodes.values().filter(|(_, name)| names.contains(name.as_str())).cloned().collect()
    }

    /// The names of nodes of other processes of the host, at most so many.
    pub(crate) fn node_names(&self, most: usize) -> Vec<String> {
        self.nodes.lock().values().take(most).map(|(_, name)| name.clone()).collect()
    }

    /// Tells the others of an entity.
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

    /// The same, for the creation of `name`. `subscription_core`: of a subscription, to which alone
    /// others may send.
    pub(crate) fn advertise_or(
        &self,
        name: &str,
        about: &EndpointAbout<'_>,
        subscription_core: Option<&Arc<SubscriptionCore>>,
    ) -> Result<OwnEndpoint, CreateError> {
        // Held until it is in: a participant that answers at once is to find it.
        let mut subscription_cores = self.subscription_cores.lock();
        let entity = self.advertise(about).map_err(|source| CreateError::SharedMemory {
            name: name.to_owned(),
            source: Box::new(source.into()),
        })?;
        if let Some(subscription_core) = subscription_core {
            subscription_cores.insert(entity.key(), Arc::downgrade(subscription_core));
        }
        Ok(entity)
    }

    /// Tells the others of an entity of its own for one line: of requests that a client sends to
    /// one server, or of answers to one client. `about`: the end's number, its node, and the
    /// service.
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

    /// From now on answers find this connection.
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

    /// A port of the calling thread's own, to wait for answers on; it keeps it. `None` if there are
    /// too many: the last one is the receiver's, which is told of answers then.
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

    /// The port on which an executor hears from others; `None` if it can't.
    pub(crate) fn port_of(self: &Arc<Self>, scheduler: &Scheduler) -> Option<Arc<EventReceiver>> {
        let presence: Arc<dyn Presence> = self.clone();
        scheduler.port(&presence)
    }

    /// The port of the thread that receives for subscriptions without an executor.
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
                        self.lacks_receiver.store(true, Ordering::Relaxed); // looked at now and then
                    }
                }
            }
            receiver.as_ref().map(ReceiverThread::port)
        })
    }

    fn start_receiver(&self) -> Result<ReceiverThread, StartError> {
        ReceiverThread::start(self.receiver_port()?, &self.to_tell)
    }

    /// Has the receiver tell listeners what other threads brought in.
    pub(crate) fn tell(&self, mut to_tell: ToTell) {
        if self.context.upgrade().is_none_or(|context| context.session().has_ended()) {
            return to_tell.into_iter().for_each(|tell| tell()); // the receiver goes
        }
        self.to_tell.lock().append(&mut to_tell);
        if let Some(port) = self.receiver() {
            port.ring();
        }
    }

    /// The receiver's port, also before there is a receiver.
    fn receiver_port(&self) -> Result<Arc<EventReceiver>, CapacityError> {
        if let Some(port) = self.receiver_port.get() {
            return Ok(port.clone());
        }
        let participant = self.participant().ok_or(CapacityError::Left { forked: false })?;
        let port = participant.port(None)?;
        Ok(self.receiver_port.get_or_init(|| port).clone()) // if another thread was faster, its one is as good
    }

    /// The port on which a line is heard: of the executor that runs its end, or of the receiver.
    fn port_for(self: &Arc<Self>, scheduler: Option<&Scheduler>) -> Option<Arc<EventReceiver>> {
        scheduler.and_then(|scheduler| self.port_of(scheduler)).or_else(|| self.receiver())
    }

    /// Tries again what there was no room for.
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
    /// Tells other processes of a server.
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

    /// Tells other processes of a client. Before that, looks which ones there are now.
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
            source: Box::new(source.into()),
        };
        let participant = self.participant().ok_or_else(|| failed(CapacityError::Left { forked: false }))?;
        self.told.offer_service(participant.domain(), types);
        participant.advertise(&entity, None).map_err(failed)
    }
}

/// What to tell the others of an entity.
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

/// A QoS as it is told, of an end that is at home there.
fn told(qos: QoS, travels: bool, origin: Origin) -> [u8; 64] {
    let mut bytes = qos.to_bytes(travels);
    origin.write_to(&mut bytes);
    bytes
}

/// Hears of the others.
struct DiscoveryObserver(Weak<ShmTransport>);

impl DiscoveryObserver {
    fn both(&self) -> Option<(Arc<ShmTransport>, Arc<dyn LocalEndpoints>)> {
        let transport = self.0.upgrade()?;
        let context = transport.context.upgrade()?;
        Some((transport, context))
    }
}

impl Observer for DiscoveryObserver {
    fn attend(&self, look: &mut dyn FnMut()) {
        // The context isn't to go while others are looked at: with it the participant would leave.
        let kept = self.both();
        Deferred::keep(look);
        drop(kept);
    }

    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        if entity.kind == EndpointKind::Client {
            // A gateway's own is there because a server is.
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
        // No end here has to do with others; and what those of the raw layer say is no QoS.
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
                // What is only listed has another server that stands for it.
                if server.described().travels && !server.described().origin.is_listed() {
                    context.services().add_remote(&entity.name, server);
                }
            }
            _ => {}
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
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
            // It published and went before a thread here looked: the subscriptions that it had
            // matched get what it published.
            let entity = incoming.source_endpoint().ok()?;
            let described = RemoteEndpoint::of(&entity, incoming.peer(), &transport.domain)?;
            let publisher = RemotePublisher::new(&transport, incoming.peer(), described);
            let source: Arc<dyn RemoteSource> = publisher.clone();
            context.graph().add_source(source.clone());
            // Once it serves them: a thread that takes by hand, and knows it already, would find
            // that no subscription wants what is there, and pass over it.
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
