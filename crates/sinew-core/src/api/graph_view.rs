//! The graph as a program sees it: nodes, names and endpoints, wherever they are.

use super::context::{Context, ContextCore};
use super::graph_snapshot::{self, GraphSnapshot};
use super::graph_watch::{GraphChanges, GraphListener};
use super::node::Node;
use crate::mailbox::waiters::Listener;
use crate::ros::failure::CreateError;
use crate::ros::mismatch::kept_description;
use crate::ros::qos::QoS;
use crate::sys::clock::Time;
use crate::sys::sync::Arc;
use crate::topic::endpoint_info::{EndpointInfo, EndpointKind, NameAndTypes, NodeInfo, Wanted};
use sinew_msg::description::TypeDescription;
use std::fmt;
use std::time::Duration;

/// The graph of a domain: its nodes, topics, services, actions and endpoints.
///
/// Made by [`Node::graph`] and [`Context::graph`]. It shows this context, all others of the domain
/// on this host, and what [gateways](crate::gateway) have brought in from the network. Names are
/// full names, after remapping: `/scan`, not `scan`. Lists include [hidden
/// names](NameAndTypes::is_hidden).
///
/// Each query first looks for changes in other processes. It does so on the calling thread, which
/// may run listeners meanwhile. The query then takes short locks, reads the tables that the other
/// processes share, and allocates the list and the names in it. No other process notices a query,
/// and the graph adds no cost to publishing and receiving. Any thread may use it, also in callbacks
/// and listeners.
///
/// A query lists an endpoint once the call that creates it has returned, and until it is dropped;
/// in other processes as well. A process that was killed stays listed until the kernel has reported
/// its end, usually for a millisecond.
///
/// ROS 2: `get_topic_names_and_types` is [`topics`](Self::topics), `count_publishers` is
/// [`publisher_count`](Self::publisher_count), `get_publishers_info_by_topic` is
/// [`publishers`](Self::publishers), `wait_for_graph_change` is [`changes`](Self::changes).
///
/// Clones refer to the same graph. A graph keeps its context alive, but no node.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::graph::Place;
/// # #[derive(Message)]
/// # struct Scan { ranges: Vec<f32> }
/// let context = Context::new()?;
/// let node = context.node("scanner")?;
/// let _scans = node.publisher::<Scan>("scan").create()?;
/// let graph = node.graph();
/// let scans = &graph.publishers("/scan")[0];
/// assert_eq!((scans.node.as_str(), &scans.place), ("/scanner", &Place::Here));
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct Graph(Arc<ContextCore>);

impl Graph {
    pub(super) fn of_context(context: &Arc<ContextCore>) -> Self {
        Self(context.clone())
    }

    /// Returns the QoS that the publishers on the topic offer.
    pub(super) fn offered_on(&self, topic: &str) -> Vec<QoS> {
        self.valid_qos(EndpointKind::Publisher, topic)
    }

    /// Returns the QoS that the subscriptions to the topic request.
    pub(super) fn requested_on(&self, topic: &str) -> Vec<QoS> {
        self.valid_qos(EndpointKind::Subscription, topic)
    }

    /// Returns the QoS of endpoints, except for any that another process has announced in an
    /// invalid form.
    fn valid_qos(&self, kind: EndpointKind, topic: &str) -> Vec<QoS> {
        let ends = self.list_named(kind, topic).into_iter().map(|end| end.qos);
        ends.filter(|qos| qos.validate().is_ok()).collect()
    }
}

impl Node {
    /// Returns the [graph](Graph) that this node is part of. Never blocks, and allocates nothing.
    pub fn graph(&self) -> Graph {
        Graph(self.context_shared().clone())
    }
}

impl Context {
    /// Returns the [graph](Graph) of this context's domain. A context without a node joins the
    /// domain first, so that it sees the other processes.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::new()?;
    /// let graph = context.graph()?;
    /// let node = context.node("camera")?;
    /// assert!(graph.nodes().iter().any(|node| node.name == "/camera"));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CreateError::SharedMemory`]: the domain can't be joined. [`CreateError::Shutdown`].
    pub fn graph(&self) -> Result<Graph, CreateError> {
        self.shared().session.check_running("the graph")?;
        self.shared().join("the graph")?;
        Ok(Graph(self.shared().clone()))
    }
}

impl Graph {
    /// Returns all nodes and endpoints at once, to answer several questions about one moment. An
    /// endpoint that comes or goes meanwhile may be missing although its node is listed, or be
    /// listed without its node.
    pub fn snapshot(&self) -> GraphSnapshot {
        GraphSnapshot::new(self.nodes(), self.endpoints(), Vec::new())
    }

    /// Returns the nodes, sorted by name. Two nodes of this host with the same name are both
    /// listed; two nodes of the network with the same name are listed once for each gateway that
    /// brings them in.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let node = Context::new()?.node("camera")?;
    /// let names: Vec<String> = node.graph().nodes().into_iter().map(|node| node.name).collect();
    /// assert!(names.contains(&"/camera".to_owned()));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn nodes(&self) -> Vec<NodeInfo> {
        let mut nodes = Vec::new();
        if let Some(transport) = self.0.transport() {
            transport.refresh();
            transport.list_nodes(&mut nodes);
        }
        self.0.nodes.list(&mut nodes);
        graph_snapshot::sort_nodes(&mut nodes);
        nodes
    }

    /// Returns the topics that have a publisher or a subscription, with their types, sorted by
    /// name.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Message)]
    /// # struct Scan { ranges: Vec<f32> }
    /// let node = Context::new()?.node("viewer")?;
    /// let _scans = node.subscription::<Scan>("viewed_scan").create()?;
    /// let topics = node.graph().topics();
    /// let scan = topics.iter().find(|topic| topic.name == "/viewed_scan").expect("it is there");
    /// assert_eq!(scan.types.len(), 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn topics(&self) -> Vec<NameAndTypes> {
        graph_snapshot::topics(&self.endpoints())
    }

    /// Returns the services that have a server or a client, with their types, sorted by name. The
    /// services of parameters and actions are included.
    pub fn services(&self) -> Vec<NameAndTypes> {
        graph_snapshot::services(&self.endpoints())
    }

    /// Returns the actions that have a server or a client, with their types, sorted by name. As
    /// ROS 2 does, it recognizes an action by its feedback topic.
    pub fn actions(&self) -> Vec<NameAndTypes> {
        graph_snapshot::actions(&self.endpoints())
    }

    /// Returns all endpoints, sorted by kind, name and node.
    pub fn endpoints(&self) -> Vec<EndpointInfo> {
        self.list(Wanted::default())
    }

    /// Returns the endpoints of the nodes with that full name, sorted by kind and name.
    ///
    /// ```
    /// use sinew::graph::EndpointKind;
    /// use sinew::prelude::*;
    /// # #[derive(Message)]
    /// # struct Scan { ranges: Vec<f32> }
    /// let node = Context::new()?.node("mapper")?;
    /// let _scans = node.subscription::<Scan>("scan").create()?;
    /// let ends = node.graph().endpoints_of_node("/mapper");
    /// assert!(ends.iter().any(|end| end.kind == EndpointKind::Subscription && end.name == "/scan"));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn endpoints_of_node(&self, node: &str) -> Vec<EndpointInfo> {
        self.list(Wanted { node: Some(node), ..Wanted::default() })
    }

    /// Returns the publishers on that topic, sorted by node. They may have other types than its
    /// subscriptions.
    pub fn publishers(&self, topic: &str) -> Vec<EndpointInfo> {
        self.list_named(EndpointKind::Publisher, topic)
    }

    /// Returns the subscriptions to that topic, sorted by node.
    pub fn subscriptions(&self, topic: &str) -> Vec<EndpointInfo> {
        self.list_named(EndpointKind::Subscription, topic)
    }

    /// Returns the servers of that service, sorted by node.
    pub fn servers(&self, service: &str) -> Vec<EndpointInfo> {
        self.list_named(EndpointKind::Server, service)
    }

    /// Returns the clients of that service, sorted by node.
    pub fn clients(&self, service: &str) -> Vec<EndpointInfo> {
        self.list_named(EndpointKind::Client, service)
    }

    /// Returns the number of [publishers](Self::publishers) on that topic, of any type. A
    /// subscription of this program returns the number of those that match:
    /// [`publisher_count`](crate::Subscription::publisher_count).
    pub fn publisher_count(&self, topic: &str) -> usize {
        self.publishers(topic).len()
    }

    /// Returns the number of [subscriptions](Self::subscriptions) to that topic, of any type. A
    /// publisher of this program returns the number of those that match:
    /// [`subscription_count`](crate::Publisher::subscription_count).
    pub fn subscription_count(&self, topic: &str) -> usize {
        self.subscriptions(topic).len()
    }

    /// Returns the number of [servers](Self::servers) of that service.
    pub fn server_count(&self, service: &str) -> usize {
        self.servers(service).len()
    }

    /// Returns the number of [clients](Self::clients) of that service.
    pub fn client_count(&self, service: &str) -> usize {
        self.clients(service).len()
    }

    /// Returns the description of the type of a topic's endpoint: its fields, and those of the
    /// types in it. Returns `None` if no participant has described the type, or it has no hash. For
    /// a type of another process, this method reads a file, and blocks meanwhile; it checks the
    /// content by the hash.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Message)]
    /// # struct Scan { ranges: Vec<f32> }
    /// let node = Context::new()?.node("scanner")?;
    /// let _scans = node.publisher::<Scan>("scan").create()?;
    /// let graph = node.graph();
    /// let described = graph.description_of(&graph.publishers("/scan")[0]).expect("it has a derived type");
    /// assert_eq!(described.type_description.fields[0].name, "ranges");
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn description_of(&self, endpoint: &EndpointInfo) -> Option<TypeDescription> {
        let hash = endpoint.type_hash?;
        let here = self.0.graph.description(&endpoint.name, hash);
        here.or_else(|| kept_description(self.0.transport()?.domain(), &hash.0))
    }

    /// Returns a receiver of the changes from now on: for a thread that waits, or a task.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use std::time::Duration;
    /// let context = Context::new()?;
    /// let graph = context.graph()?;
    /// let mut changes = graph.changes();
    /// let _node = context.node("newcomer")?;
    /// assert!(changes.wait(Duration::from_secs(10)));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn changes(&self) -> GraphChanges {
        GraphChanges::new(&self.0.session)
    }

    /// Adds a listener, which is called after each change until the returned handle is dropped. The
    /// thread that made or noticed the change calls it: a thread of the program or of the context.
    /// No lock of the library is held meanwhile, so the listener may query the graph and create
    /// endpoints; it is called again for those once it has returned. Several threads may call it at
    /// once. One call may stand for several changes, or for a change that no list shows. A panic in
    /// it is reported.
    ///
    /// Keep the listener short. The context's thread `sinew-shm`, which notices most changes in
    /// other processes, also asserts the liveliness of automatic publishers with a
    /// [lease](crate::QoS::lease): if a listener occupies it for longer than the lease, other
    /// processes consider those publishers not alive. A program with more to do wakes a thread of
    /// its own, or uses [`changes`](Self::changes).
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use std::sync::mpsc::channel;
    /// let context = Context::new()?;
    /// let (graph, (send, seen)) = (context.graph()?, channel());
    /// let looked = graph.clone();
    /// let listener = graph.on_change(move || {
    ///     drop(send.send(looked.nodes().iter().any(|node| node.name == "/newcomer")));
    /// });
    /// let _node = context.node("newcomer")?;
    /// assert!(seen.try_iter().any(|is_there| is_there));
    /// drop(listener);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_change(&self, listener: impl Fn() + Send + Sync + 'static) -> GraphListener {
        let listener = Listener::new("graph".to_owned(), move |_| listener());
        GraphListener::new(&self.0.session, listener)
    }

    /// Blocks until `condition` holds for the graph, for at most `timeout` of real time. Tests the
    /// condition at once, after each change, and once more at the time limit. Returns `false` if it
    /// doesn't hold then, or if the context is shut down. In a callback, it blocks the executor's
    /// thread.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use std::time::Duration;
    /// # #[derive(Message)]
    /// # struct Scan { ranges: Vec<f32> }
    /// let node = Context::new()?.node("scanner")?;
    /// let _scans = node.publisher::<Scan>("scan").create()?;
    /// let patience = Duration::from_secs(10);
    /// assert!(node.graph().wait_until(patience, |graph| graph.publisher_count("/scan") > 0));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn wait_until(&self, timeout: Duration, mut condition: impl FnMut(&Self) -> bool) -> bool {
        let deadline = Time::steady() + timeout;
        let mut changes = self.changes();
        loop {
            if condition(self) {
                return true;
            }
            if !changes.wait(deadline - Time::steady()) {
                // The condition may depend on more than the graph.
                return !self.0.session.has_ended() && condition(self);
            }
        }
    }

    fn list_named(&self, kind: EndpointKind, name: &str) -> Vec<EndpointInfo> {
        self.list(Wanted { kind: Some(kind), name: Some(name), node: None })
    }

    fn list(&self, wanted: Wanted<'_>) -> Vec<EndpointInfo> {
        let mut all = Vec::new();
        if let Some(transport) = self.0.transport() {
            transport.refresh();
            transport.list(&wanted, &mut all);
        }
        let of_others = all.len();
        self.0.graph.list(&wanted, &mut all);
        self.0.services.list(&wanted, &mut all);
        // Contexts in shared memory keep type descriptions for other processes; this one keeps them
        // as well.
        let domain = self.0.transport().map(|transport| transport.domain());
        all[of_others..].iter_mut().for_each(|own| own.domain = domain.cloned());
        graph_snapshot::sort_endpoints(&mut all);
        all
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("domain", &self.0.domain).finish_non_exhaustive()
    }
}
