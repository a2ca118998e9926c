//! Nodes: names, and the scope in which entities are made.

use super::context::{Context, ContextCore};
use super::kept_entities::KeptEntities;
use super::own_publishers::OwnPublishers;
use crate::executor::group::{Group, ReentrantGroup};
use crate::executor::group_core::GroupCore;
use crate::executor::membership::GroupRegistry;
use crate::executor::owner::{Close, Host, Owner};
use crate::executor::task::TaskOwner;
use crate::executor::{AddError, Executable, Executor, sealed};
use crate::message::type_support::TypeSupport;
use crate::parameters::options::ParameterOptions;
use crate::parameters::table::ParameterTable;
use crate::remote::shm::own_participant::EndpointAbout;
use crate::ros::failure::CreateError;
use crate::ros::name::{self, NameKind};
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::ros::remap::RemapRules;
use crate::service::types::ServiceTypes;
use crate::sys::logging::logger_of;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering, RwLock, next_serial};
use crate::topic::subscription_core::SubscriptionCore;
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use sinew_shm::transport::OwnEndpoint;
use sinew_shm::{Endpoint, EndpointKey, EndpointKind};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{OnceLock, Weak};
use std::time::Duration;

/// A part of a robot program: a name, and the publishers, subscriptions and timers made under it.
///
/// A node's methods make entities in its default [`Group`]; a group has the same methods and makes
/// them in that group. Each returns a builder, and its last call is one of two:
///
/// | | `create()`: taken by hand | `callback(f)`: run by an executor |
/// |---|---|---|
/// | [`publisher`](Self::publisher) | yes | - |
/// | [`subscription`](Self::subscription) | yes: [`take`](crate::Subscription::take), [`recv`](crate::Subscription::recv) | for each message |
/// | [`server`](Self::server) | yes: [`take_request`](crate::service::PulledServer::take_request) | for each request; `async_callback(f)` returns futures; `immediate_callback(f)` needs no executor |
/// | [`client`](Self::client) | yes: [`call`](crate::Client::call), [`call_async`](crate::Client::call_async), [`send`](crate::Client::send) | per call, with [`call_then`](crate::Client::call_then) |
/// | [`timer`](Self::timer), [`guard_condition`](Self::guard_condition), [`descriptor`](Self::descriptor) | - (nothing to take) | for each time |
///
/// Made by [`Context::node`](crate::Context::node). Clones are the same node. A node lives, and
/// other processes see it, as long as there is a handle to it, a group or any entity of it: so a
/// program may keep a timer and drop the node. [Detached](crate::Timer::detach) entities keep their
/// node as well; those in the [background](crate::Background) don't, and end with the last handle
/// of the node itself. A node has no `close`, since its entities need it: close those.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::builder().arguments(["robot", "--ros-args", "-r", "frames:=left/frames"]).build()?;
/// let camera = context.node("camera")?;
/// # struct Frame; impl Message for Frame {}
/// assert_eq!(camera.full_name(), "/camera");
/// assert_eq!(camera.publisher::<Frame>("frames").create()?.topic(), "/left/frames");
/// assert_eq!(camera.publisher::<Frame>("~/frames").create()?.topic(), "/camera/frames");
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct Node(Arc<NodeInner>);

/// The part that is dropped with the last handle.
struct NodeInner {
    core: Arc<NodeCore>,
    default_group: Group,
    groups: Arc<GroupRegistry>,
    /// A handle: detached entities go with the last one of the context and its nodes.
    _context: Context,
}

impl Drop for NodeInner {
    fn drop(&mut self) {
        self.core.background.close();
    }
}

/// The state that a node's groups and entities share and keep alive.
pub(crate) struct NodeCore {
    /// The identity under which other processes know it.
    entity: NodeEntity,
    /// It [stands in](Self::stand_in) for another node.
    pub(super) stands_in: bool,
    pub(crate) number: u64,
    pub(crate) full_name: Arc<str>,
    /// The name of its logger.
    pub(crate) logger: Arc<str>,
    pub(super) name: String,
    pub(super) namespace: String,
    /// The origin of the node that it stands for.
    pub(crate) origin: Origin,
    /// It was reported that it has nothing to run.
    said_idle: AtomicBool,
    /// Rules that rename its topics and services, if they differ from the context's command line.
    pub(super) own_rules: Option<Arc<RemapRules>>,
    /// It takes nothing from the command line and from parameter files.
    pub(crate) ignores_arguments: bool,
    pub(crate) own_publishers: OwnPublishers,
    pub(crate) parameter_options: ParameterOptions,
    /// Its parameters, once it has one.
    pub(crate) parameters: OnceLock<Arc<ParameterTable>>,
    /// The services for them, which end with the node.
    pub(crate) parameter_services: Mutex<Option<Box<dyn Any + Send>>>,
    pub(crate) context: Arc<ContextCore>,
    /// The publisher for its log lines; set by the logging thread at the first line.
    pub(crate) rosout: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Its service of type descriptions, if a parameter enables it.
    pub(crate) type_descriptions: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Types that it uses without an endpoint.
    pub(crate) registered_types: Mutex<BTreeMap<u64, RegisteredDescription>>,
    /// Entities without a handle, which end with the last handle of the node.
    background: Arc<KeptEntities>,
}

/// The options for making a node.
#[derive(Default)]
pub(super) struct NodeOptions {
    pub(super) parameters: ParameterOptions,
    /// They take precedence over those of the command line.
    pub(super) remap: RemapRules,
    pub(super) ignores_arguments: bool,
    pub(super) publishers: OwnPublishers,
}

/// The settings that a node keeps.
#[derive(Default)]
pub(crate) struct NodeSettings {
    parameters: ParameterOptions,
    own_rules: Option<Arc<RemapRules>>,
    ignores_arguments: bool,
    publishers: OwnPublishers,
}

/// A type's hash, and a function that returns its description.
pub(crate) type RegisteredDescription = (TypeHash, fn() -> Option<TypeDescription>);

/// The identity under which other processes know a node.
enum NodeEntity {
    /// Other processes do not know it.
    None,
    Own(OwnEndpoint),
    /// The entity of the node that it stands in for.
    Of(EndpointKey),
}

/// Nodes by the names of their loggers. If several have one name, the oldest counts.
static BY_LOGGER: RwLock<BTreeMap<String, Vec<Weak<NodeCore>>>> = RwLock::new(BTreeMap::new());

/// Access to log lines of nodes that are not published yet. Set by `logging`, a higher layer.
pub(crate) static UNPUBLISHED: OnceLock<Unpublished> = OnceLock::new();

pub(crate) struct Unpublished {
    pub(crate) are_there: fn() -> bool,
    /// Keeps the stand-in of a dropped node until they are published: waits for that, at most that
    /// long, unless the caller is the thread that publishes them. Returns `false` if they aren't.
    pub(crate) publish_as: fn(Arc<NodeCore>, Duration) -> bool,
    /// The wait for the last dropped node timed out (nothing reads the console, say), and lines
    /// remain.
    pub(crate) is_stuck: AtomicBool,
}

/// Time that a dropped node waits for its lines to be published.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Changes the QoS of a node's endpoint on that topic, when the endpoint is made.
pub(super) type AdaptQos = Box<dyn FnOnce(&Arc<NodeCore>, &str, QoS) -> Result<QoS, CreateError> + Send>;

/// The description of a node's entity for other processes.
pub(crate) struct Advertised<'a> {
    pub(crate) number: u64,
    pub(crate) name: &'a str,
    pub(crate) table: &'static TypeSupport,
    pub(crate) qos: QoS,
}

impl TaskOwner for NodeCore {
    fn full_name(&self) -> &Arc<str> {
        &self.full_name
    }

    fn has_ended(&self) -> bool {
        self.context.session.has_ended()
    }
}

impl Owner for NodeCore {
    fn known(&self) -> Option<EndpointKey> {
        match &self.entity {
            NodeEntity::None => None,
            NodeEntity::Own(entity) => Some(entity.key()),
            NodeEntity::Of(key) => Some(*key),
        }
    }

    fn said_idle(&self) -> &AtomicBool {
        &self.said_idle
    }

    fn host(&self) -> &dyn Host {
        &*self.context
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Node {
    pub(super) fn new(
        handle: &Context,
        name: &str,
        namespace: &str,
        origin: Origin,
        options: NodeOptions,
    ) -> Result<Self, CreateError> {
        let context = handle.shared();
        context.session.check_running(name)?;
        name::validate_node_name(name)?;
        name::validate_namespace(namespace)?;
        let NodeOptions { parameters, remap, ignores_arguments, publishers } = options;
        publishers.validate(parameters.events)?;
        let all = context.arguments.remap_rules();
        let own = match ignores_arguments {
            true => Some(Arc::new(remap)),
            false => (!remap.is_empty()).then(|| Arc::new(remap.followed_by(all))),
        };
        let rules = own.as_deref().unwrap_or(all);
        // Rules rename only the program's own nodes.
        let is_local = origin == Origin::Local;
        let name = if is_local { rules.node_name(name, namespace) } else { name };
        let namespace = if is_local { rules.namespace(name, namespace) } else { namespace };
        let settings = NodeSettings { parameters, own_rules: own.clone(), ignores_arguments, publishers };
        let core = NodeCore::new(context, (name, namespace), origin, settings)?;
        let node = Self(Arc::new(NodeInner {
            default_group: Group::new(core.clone(), ()),
            core,
            groups: Arc::new(GroupRegistry::default()),
            _context: handle.clone(),
        }));
        node.register(&node.0.default_group.core);
        Ok(node)
    }

    /// Adds a new group to the executor that serves this node or its context.
    fn register(&self, group: &Arc<GroupCore>) {
        self.0.groups.register(group);
        self.0.core.context.groups.register(group);
    }

    /// Returns its name without the namespace, after remapping.
    pub fn name(&self) -> &str {
        &self.0.core.name
    }

    /// Returns its namespace, after remapping.
    pub fn namespace(&self) -> &str {
        &self.0.core.namespace
    }

    /// Returns its namespace and name.
    pub fn full_name(&self) -> &str {
        &self.0.core.full_name
    }

    /// Returns the full name that a publisher or subscription of this node has that is made with
    /// `topic`, after remapping. ROS 2: `resolve_topic_name`.
    ///
    /// # Errors
    /// [`CreateError`]: the name is invalid.
    ///
    /// ```
    /// let context = sinew::Context::new()?;
    /// let node = context.node("camera")?;
    /// assert_eq!(node.resolve_topic_name("~/image")?, "/camera/image");
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn resolve_topic_name(&self, topic: &str) -> Result<String, CreateError> {
        self.0.core.renamed(NameKind::Topic, topic)
    }

    /// Returns the full name of a service; as [`resolve_topic_name`](Self::resolve_topic_name).
    ///
    /// # Errors
    /// [`CreateError`]: the name is invalid.
    pub fn resolve_service_name(&self, service: &str) -> Result<String, CreateError> {
        self.0.core.renamed(NameKind::Service, service)
    }

    /// Makes a mutually exclusive callback group; its callbacks share `state` (`()` for none).
    pub fn group<S: Send + 'static>(&self, state: S) -> Group<S> {
        let group = Group::new(self.0.core.clone(), state);
        self.register(&group.core);
        group
    }

    /// Makes a callback group that may run its callbacks at the same time on several threads.
    pub fn reentrant_group(&self) -> ReentrantGroup {
        let group = ReentrantGroup::new(self.0.core.clone());
        self.register(&group.core);
        group
    }

    pub(crate) fn core(&self) -> &Arc<NodeCore> {
        &self.0.core
    }

    /// Returns the default group, to which entities belong that were made without another one: for
    /// [priorities](Group::priority), [pauses](Group::pause_handle), and executors of groups. ROS 2:
    /// `get_default_callback_group`.
    pub fn default_group(&self) -> &Group {
        &self.0.default_group
    }

    pub(crate) fn groups(&self) -> &Arc<GroupRegistry> {
        &self.0.groups
    }

    pub(crate) fn context_shared(&self) -> &Arc<ContextCore> {
        &self.0.core.context
    }
}

impl NodeCore {
    /// Makes a node as other processes see it; its names must be valid.
    pub(crate) fn new(
        context: &Arc<ContextCore>,
        (name, namespace): (&str, &str),
        origin: Origin,
        settings: NodeSettings,
    ) -> Result<Arc<Self>, CreateError> {
        context.session.check_running(name)?;
        let is_local = origin == Origin::Local;
        let full_name: Arc<str> = name::fully_qualified(name, namespace).into();
        let number = next_serial();
        let entity = match context.join(&full_name)? {
            Some(transport) => NodeEntity::Own(transport.advertise_or(
                &full_name,
                &EndpointAbout {
                    kind: EndpointKind::Node,
                    number,
                    node: &full_name,
                    name: "",
                    table: None,
                    qos: QoS::default(),
                    origin,
                    of_node: None,
                },
                None,
            )?),
            None => NodeEntity::None,
        };
        let NodeSettings { parameters: parameter_options, own_rules, ignores_arguments, publishers } =
            settings;
        // A node of a gateway runs on its own host, or never runs anything.
        let (said_idle, context) = (AtomicBool::new(origin != Origin::Local), context.clone());
        let (name, namespace) = (name.to_owned(), namespace.to_owned());
        let node = Arc::new(Self {
            entity,
            stands_in: false,
            number,
            logger: logger_of(&full_name).into(),
            full_name,
            name,
            namespace,
            origin,
            said_idle,
            own_rules,
            ignores_arguments,
            own_publishers: publishers,
            parameter_options,
            parameters: OnceLock::new(),
            parameter_services: Mutex::new(None),
            context,
            rosout: OnceLock::new(),
            type_descriptions: OnceLock::new(),
            registered_types: Mutex::default(),
            background: Arc::default(),
        });
        node.context.nodes.add(number, &node.full_name, origin);
        if is_local {
            let mut nodes = BY_LOGGER.write();
            nodes.entry(node.logger.as_ref().to_owned()).or_default().push(Arc::downgrade(&node));
        }
        Ok(node)
    }

    /// Returns the node of a logger: its own, or that of the closest logger above it. Waits while
    /// that node is being dropped: its stand-in comes, or its entry goes.
    pub(crate) fn of_logger(logger: &str) -> Option<Arc<Self>> {
        loop {
            {
                let nodes = BY_LOGGER.read();
                let mut loggers = std::iter::successors(Some(logger), |name| Some(name.rsplit_once('.')?.0));
                let of_name = loggers.find_map(|logger| nodes.get(logger))?;
                if let Some(node) = of_name.iter().find_map(Weak::upgrade) {
                    return Some(node);
                }
            }
            std::thread::yield_now(); // a few short locks of the thread that drops it
        }
    }

    /// Returns the nodes of a context.
    pub(crate) fn all_of(context: &Arc<ContextCore>) -> Vec<Arc<Self>> {
        // Nodes of other contexts are dropped once the lock is free: dropping a node takes it.
        let all: Vec<_> = BY_LOGGER.read().values().flatten().filter_map(Weak::upgrade).collect();
        all.into_iter().filter(|node| Arc::ptr_eq(&node.context, context)).collect()
    }

    /// Returns the context's nodes with that name.
    pub(crate) fn all_named(context: &Arc<ContextCore>, full_name: &str) -> Vec<Arc<Self>> {
        // As above.
        let all: Vec<_> = {
            let nodes = BY_LOGGER.read();
            nodes.get(&logger_of(full_name)).into_iter().flatten().filter_map(Weak::upgrade).collect()
        };
        let is_it = |node: &Arc<Self>| *node.full_name == *full_name && Arc::ptr_eq(&node.context, context);
        all.into_iter().filter(is_it).collect()
    }

    /// Returns a node with the same identity to other processes, which keeps the context alive but
    /// neither keeps this node nor is kept by it. Parts that this node owns hold it.
    pub(crate) fn stand_in(&self) -> Arc<Self> {
        Arc::new(Self {
            entity: self.known().map_or(NodeEntity::None, NodeEntity::Of),
            stands_in: true,
            number: self.number,
            full_name: self.full_name.clone(),
            logger: self.logger.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            origin: self.origin,
            said_idle: AtomicBool::new(true),
            own_rules: self.own_rules.clone(),
            ignores_arguments: self.ignores_arguments,
            own_publishers: self.own_publishers,
            parameter_options: ParameterOptions::default(),
            parameters: OnceLock::new(),
            parameter_services: Mutex::new(None),
            context: self.context.clone(),
            rosout: OnceLock::new(),
            type_descriptions: OnceLock::new(),
            registered_types: Mutex::default(),
            background: Arc::default(),
        })
    }

    /// Keeps an entity until the last handle of the node is dropped, or the context ends.
    pub(super) fn keep(&self, entity: Box<dyn Send>) -> Result<(), CreateError> {
        let (is_first, refused) = self.background.keep(entity);
        if let Some(entity) = refused {
            drop(entity); // the program's code, outside the lock
            return Err(CreateError::NodeGone { node: self.full_name.to_string() });
        }
        if is_first {
            let entities: Arc<dyn Close> = self.background.clone();
            self.context.session.close_at_end(Arc::downgrade(&entities), false);
        }
        Ok(())
    }

    /// Returns the description of a type in use now, by its hash.
    pub(crate) fn description(&self, hash: TypeHash) -> Option<TypeDescription> {
        let context = &self.context;
        let table = context.graph.types_of(self.number).into_iter().find(|table| table.hash() == Some(hash));
        if let Some(table) = table {
            return table.description();
        }
        let is_it = |types: &ServiceTypes| types.service.is_some_and(|service| service.hash == hash);
        if let Some(types) = context.services.types_of(&self.full_name).into_iter().find(is_it) {
            return types.description();
        }
        let describe = self.registered_types.lock().values().find(|(known, _)| *known == hash)?.1;
        describe()
    }

    /// Returns the node of a group.
    pub(crate) fn of(group: &GroupCore) -> Arc<Self> {
        #[expect(clippy::expect_used, reason = "`Node::new` and nothing else makes owners of groups")]
        let node = group.node.clone().into_any().downcast().expect("a group's owner is a node");
        node
    }

    /// Checks that the node can still make entities.
    pub(crate) fn check_running(&self, name: &str) -> Result<(), CreateError> {
        self.context.session.check_running(name)
    }

    /// Announces an entity to other processes, if the context meets any. First looks which
    /// processes there are now.
    pub(crate) fn advertise(
        &self,
        kind: EndpointKind,
        what: &Advertised<'_>,
        subscription: Option<&Arc<SubscriptionCore>>,
    ) -> Result<Option<OwnEndpoint>, CreateError> {
        let Some(transport) = self.context.transport() else { return Ok(None) };
        transport.refresh();
        if let Some(subscription) = subscription {
            self.context.graph.await_retained(subscription);
        }
        let about = EndpointAbout {
            kind,
            number: what.number,
            node: &self.full_name,
            name: what.name,
            table: Some(what.table),
            qos: what.qos,
            origin: self.origin,
            of_node: self.known(),
        };
        transport.advertise_or(what.name, &about, subscription).map(Some)
    }

    /// Shows a fact about this node to tools, if there is room. Other processes do not see it.
    pub(crate) fn report(&self, endpoint: &Endpoint) -> Option<OwnEndpoint> {
        let participant = self.context.transport()?.participant()?;
        participant.advertise(endpoint, self.known()).ok()
    }

    /// Checks the arguments for a publisher or a subscription, and returns the topic's full name.
    pub(crate) fn place(&self, topic: &str, qos: &QoS) -> Result<String, CreateError> {
        self.check_running(topic)?;
        qos.validate().map_err(|problem| CreateError::Qos { topic: topic.to_owned(), problem })?;
        self.renamed(NameKind::Topic, topic)
    }

    /// Checks the arguments for a server or a client, and returns the service's full name.
    pub(crate) fn place_service(&self, service: &str) -> Result<String, CreateError> {
        self.check_running(service)?;
        self.renamed(NameKind::Service, service)
    }

    /// Returns the full name for `called`, after remapping.
    fn renamed(&self, kind: NameKind, called: &str) -> Result<String, CreateError> {
        let Self { name, namespace, context, .. } = self;
        let full = name::expand(kind, called, name, namespace)?;
        if self.origin != Origin::Local {
            return Ok(full);
        }
        let rules = self.own_rules.as_deref().unwrap_or(context.arguments.remap_rules());
        Ok(rules.remap(kind, &full, name, namespace)?.unwrap_or(full))
    }
}

impl NodeCore {
    /// Has its last lines published on `/rosout` before it is dropped: they wait for the logging
    /// thread, which does not find this node any more, but a node that stands in for it.
    fn publish_last_words(&mut self, logger: &str) {
        let Some(lines) = UNPUBLISHED.get() else { return };
        if self.own_publishers.rosout().is_none() {
            return; // it has no publisher for them
        }
        // Relaxed: a hint, so that many dropped nodes wait once.
        if !(lines.are_there)() {
            return lines.is_stuck.store(false, Ordering::Relaxed);
        }
        if self.context.session.has_ended() || lines.is_stuck.load(Ordering::Relaxed) {
            return;
        }
        let last = self.stand_in();
        if let Some(publisher) = self.rosout.take() {
            let _ = last.rosout.set(publisher); // a new node has none
        }
        BY_LOGGER.write().entry(logger.to_owned()).or_default().push(Arc::downgrade(&last));
        lines.is_stuck.store(!(lines.publish_as)(last, LAST_WORDS), Ordering::Relaxed);
    }

    /// Removes its own entry from [`BY_LOGGER`], if it has one. Others of its name keep theirs,
    /// even if they are dead: [`of_logger`](Self::of_logger) waits for the stand-ins that follow
    /// them.
    fn forget_logger(&self) {
        let mut nodes = BY_LOGGER.write();
        if let Some(of_name) = nodes.get_mut(self.logger.as_ref()) {
            of_name.retain(|node| !std::ptr::eq(node.as_ptr(), self));
            if of_name.is_empty() {
                nodes.remove(self.logger.as_ref());
            }
        }
    }
}

impl Drop for NodeCore {
    fn drop(&mut self) {
        if !self.stands_in {
            self.context.nodes.remove(self.number);
        }
        if self.origin != Origin::Local {
            return;
        }
        if !self.stands_in {
            self.context.hints.forget(&self.full_name);
            let logger = self.logger.clone();
            self.publish_last_words(&logger);
        }
        self.forget_logger();
    }
}

impl sealed::Sealed for Node {}

impl Executable for Node {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        let what = || format!("node {}", self.full_name());
        if self.default_group().core.is_served_by_another(&executor.scheduler) {
            return Err(AddError::Taken { what: what() });
        }
        executor.serve(&**self.context_shared(), self.groups(), what)
    }

    fn remove_from(&self, executor: &Executor) -> bool {
        executor.release(&**self.context_shared(), self.groups())
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.full_name())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::RefCell;

    const TWINS: &str = "twin_of_logger";

    thread_local! {
        /// A node that is dropped while another one is: between that one's end and its stand-in.
        static DROPPED_MEANWHILE: RefCell<Option<Node>> = const { RefCell::new(None) };
        /// The stand-ins that publish last lines.
        static STAND_INS: RefCell<Vec<Arc<NodeCore>>> = const { RefCell::new(Vec::new()) };
    }

    /// Makes lines wait for the node that is dropped while [`DROPPED_MEANWHILE`] is set.
    fn set_unpublished() {
        let are_there = || {
            let Some(meanwhile) = DROPPED_MEANWHILE.take() else { return false };
            drop(meanwhile);
            assert!(BY_LOGGER.read().contains_key(TWINS), "the other node's entry is left");
            true
        };
        let publish_as = |node, _| {
            STAND_INS.with_borrow_mut(|all| all.push(node));
            true
        };
        let _ = UNPUBLISHED.set(Unpublished { are_there, publish_as, is_stuck: AtomicBool::new(false) });
    }

    #[test]
    fn a_dropped_node_leaves_entries_of_others_with_its_name() -> crate::Result<()> {
        set_unpublished();
        let context = Context::builder().shared_memory(false).build()?;
        let (first, second) = (context.node(TWINS)?, context.node(TWINS)?);
        let entries = || BY_LOGGER.read().get(TWINS).map_or(0, Vec::len);
        assert_eq!(entries(), 2);
        DROPPED_MEANWHILE.set(Some(second));
        drop(first);
        let stand_ins = STAND_INS.take();
        assert_eq!(stand_ins.len(), 1);
        let found = NodeCore::of_logger(TWINS).unwrap();
        assert!(Arc::ptr_eq(&found, &stand_ins[0]));
        assert_eq!(entries(), 1);
        drop((found, stand_ins));
        assert_eq!(entries(), 0);
        Ok(())
    }
}
