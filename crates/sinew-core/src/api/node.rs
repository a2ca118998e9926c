//! Nodes: names, and the room in which entities are made.

use super::context::{Context, ContextCore};
use crate::executor::group::{Group, GroupCore, ReentrantGroup};
use crate::executor::membership::GroupRegistry;
use crate::executor::owner::{Host, Owner};
use crate::executor::{AddError, Executable, Executor, sealed};
use crate::message::type_support::TypeSupport;
use crate::parameters::options::ParameterOptions;
use crate::parameters::table::ParameterTable;
use crate::remote::shm::EndpointAbout;
use crate::ros::failure::CreateError;
use crate::ros::name::{self, NameKind};
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::ros::remap::RemapRules;
use crate::service::types::ServiceTypes;
use crate::sys::clock::{ClockKind, Time};
use crate::sys::logging::logger_of;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering, RwLock, next_serial};
use crate::topic::subscription_core::SubscriptionCore;
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use sinew_shm::{Endpoint, EndpointKey, EndpointKind, OwnEndpoint};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{OnceLock, Weak};
use std::time::Duration;

/// A part of a robot program: a name, and the publishers, subscriptions and timers made under it.
///
/// A node's methods make things in its default [`Group`]; those of a group the same, in that group.
/// Each gives a builder, whose last call is one of two verbs:
///
/// | | `create()`: taken by hand | `callback(f)`: run by an executor |
/// |---|---|---|
/// | [`publisher`](Self::publisher) | yes | - |
/// | [`subscription`](Self::subscription) | yes: [`take`](crate::Subscription::take), [`recv`](crate::Subscription::recv) | for each message |
/// | [`server`](Self::server) | - (a callback may hand its [`Responder`](crate::Responder) on) | for each request; `async_callback(f)` returns futures; `listener(f)` needs no executor |
/// | [`client`](Self::client) | yes: [`call`](crate::Client::call), [`call_async`](crate::Client::call_async) | per call, with [`call_then`](crate::Client::call_then) |
/// | [`timer`](Self::timer), [`guard_condition`](Self::guard_condition), [`descriptor`](Self::descriptor) | - (nothing to take) | for each time |
///
/// Made by [`Context::node`](crate::Context::node). Clones are the same node. A node lives, and
/// other processes are told of it, as long as there is a handle to it, a group or any entity of it:
/// so a program may keep a timer and drop the node. What is [detached](crate::Timer::detach) keeps
/// its node, too. It has no `close`, as it would end under its entities: those are closed.
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

/// What goes with the last handle.
struct NodeInner {
    core: Arc<NodeCore>,
    default_group: Group,
    groups: Arc<GroupRegistry>,
    /// A handle: what was detached goes with the last one of the context and its nodes.
    _context: Context,
}

/// What a node's groups and entities have in common, and keep.
pub(crate) struct NodeCore {
    /// What other processes know it by.
    entity: NodeEntity,
    /// It [stands in](Self::stand_in) for another one.
    pub(super) stands_in: bool,
    pub(crate) number: u64,
    pub(crate) full_name: Arc<str>,
    /// The name of its logger.
    pub(crate) logger: Arc<str>,
    pub(super) name: String,
    pub(super) namespace: String,
    /// Where what it stands for is at home.
    pub(crate) origin: Origin,
    /// It was said that it has nothing to run.
    said_idle: AtomicBool,
    /// How its topics and services are renamed, if otherwise than the context's command line says.
    pub(super) own_rules: Option<Arc<RemapRules>>,
    pub(crate) parameter_options: ParameterOptions,
    /// Its parameters, once it has one.
    pub(crate) parameters: OnceLock<Arc<ParameterTable>>,
    /// What serves them, which ends with the node.
    pub(crate) parameter_services: Mutex<Option<Box<dyn Any + Send>>>,
    pub(crate) context: Arc<ContextCore>,
    /// What the logging thread publishes its lines with, once it said something.
    pub(crate) rosout: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Its service of type descriptions, if a parameter wants it.
    pub(crate) type_descriptions: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Types that it uses without an end of them.
    pub(crate) registered_types: Mutex<BTreeMap<u64, RegisteredDescription>>,
}

/// What a node is made with.
#[derive(Default)]
pub(super) struct NodeOptions {
    pub(super) parameters: ParameterOptions,
    /// Stronger than those of the command line.
    pub(super) remap: RemapRules,
}

/// A type by its hash, and what describes it.
pub(crate) type RegisteredDescription = (TypeHash, fn() -> Option<TypeDescription>);

/// What other processes know a node by.
enum NodeEntity {
    /// They don't.
    None,
    Own(OwnEndpoint),
    /// That of the node for which it stands in.
    Of(EndpointKey),
}

/// Nodes by the names of their loggers. Of several with one name, the oldest counts.
static BY_LOGGER: RwLock<BTreeMap<String, Vec<Weak<NodeCore>>>> = RwLock::new(BTreeMap::new());

/// Lines that nodes have said and that aren't published yet. Set by `logging`, which is above this.
pub(crate) static UNPUBLISHED: OnceLock<Unpublished> = OnceLock::new();

pub(crate) struct Unpublished {
    pub(crate) are_there: fn() -> bool,
    /// Waits until they are published, at most so long; returns whether they are.
    pub(crate) flush: fn(Duration) -> bool,
    /// They weren't for the node that went last (nobody reads the console, say), and still aren't.
    pub(crate) is_stuck: AtomicBool,
}

/// How long a node that goes waits for its lines to be published.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Makes the QoS of an end of a node on that topic another one, when the end is made.
pub(super) type AdaptQos = Box<dyn FnOnce(&Arc<NodeCore>, &str, QoS) -> Result<QoS, CreateError> + Send>;

/// What other processes are told of a node's entity.
pub(crate) struct Advertised<'a> {
    pub(crate) number: u64,
    pub(crate) name: &'a str,
    pub(crate) table: &'static TypeSupport,
    pub(crate) qos: QoS,
}

impl Owner for NodeCore {
    fn full_name(&self) -> &Arc<str> {
        &self.full_name
    }

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
        let NodeOptions { parameters, remap } = options;
        let all = context.arguments.remap_rules();
        let own = (!remap.is_empty()).then(|| Arc::new(remap.followed_by(all)));
        let rules = own.as_deref().unwrap_or(all);
        // What is renamed is the program's own.
        let is_local = origin == Origin::Local;
        let name = if is_local { rules.node_name(name, namespace) } else { name };
        let namespace = if is_local { rules.namespace(name, namespace) } else { namespace };
        let core = NodeCore::new(context, (name, namespace), origin, parameters, own.clone())?;
        let node = Self(Arc::new(NodeInner {
            default_group: Group::new(core.clone(), ()),
            core,
            groups: Arc::new(GroupRegistry::default()),
            _context: handle.clone(),
        }));
        node.register(&node.0.default_group.core);
        Ok(node)
    }

    /// An executor that serves this node or its context serves a new group of it, too.
    fn register(&self, group: &Arc<GroupCore>) {
        self.0.groups.register(group);
        self.0.core.context.groups.register(group);
    }

    /// Its name without the namespace, after remapping.
    pub fn name(&self) -> &str {
        &self.0.core.name
    }

    /// Its namespace, after remapping.
    pub fn namespace(&self) -> &str {
        &self.0.core.namespace
    }

    /// Its namespace and name.
    pub fn full_name(&self) -> &str {
        &self.0.core.full_name
    }

    /// Time now, by the clock that stamps of messages are read from:
    /// [`ClockKind::Ros`](crate::time::ClockKind::Ros), which is the wall clock unless it is
    /// [simulated](crate::Context::use_sim_time) or [set](crate::Context::set_ros_time). ROS 2:
    /// `now`.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew_interfaces::builtin_interfaces::msg::Time;
    /// let node = Context::new()?.node("camera")?;
    /// let stamp: Time = node.now().to_msg(); // as headers have it
    /// assert!(sinew::time::Time::from(stamp) <= node.now());
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn now(&self) -> Time {
        self.context_shared().session.now(ClockKind::Ros)
    }

    /// A mutually exclusive callback group whose callbacks share `state` (`()` for none).
    pub fn group<S: Send + 'static>(&self, state: S) -> Group<S> {
        let group = Group::new(self.0.core.clone(), state);
        self.register(&group.core);
        group
    }

    /// A callback group whose callbacks may run at the same time on several threads.
    pub fn reentrant_group(&self) -> ReentrantGroup {
        let group = ReentrantGroup::new(self.0.core.clone());
        self.register(&group.core);
        group
    }

    pub(crate) fn core(&self) -> &Arc<NodeCore> {
        &self.0.core
    }

    pub(crate) fn default_group(&self) -> &Group {
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
    /// A node as other processes see it; its names are valid.
    pub(crate) fn new(
        context: &Arc<ContextCore>,
        (name, namespace): (&str, &str),
        origin: Origin,
        parameter_options: ParameterOptions,
        own_rules: Option<Arc<RemapRules>>,
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
        // A node that a gateway has here runs where it is at home, or never anything.
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
            parameter_options,
            parameters: OnceLock::new(),
            parameter_services: Mutex::new(None),
            context,
            rosout: OnceLock::new(),
            type_descriptions: OnceLock::new(),
            registered_types: Mutex::default(),
        });
        if is_local {
            let mut nodes = BY_LOGGER.write();
            nodes.entry(node.logger.as_ref().to_owned()).or_default().push(Arc::downgrade(&node));
        }
        Ok(node)
    }

    /// The node that a logger belongs to: its own, or that of a logger above it.
    pub(crate) fn of_logger(logger: &str) -> Option<Arc<Self>> {
        let nodes = BY_LOGGER.read();
        let mut loggers = std::iter::successors(Some(logger), |name| Some(name.rsplit_once('.')?.0));
        loggers.find_map(|logger| nodes.get(logger)?.iter().find_map(Weak::upgrade))
    }

    /// The nodes of a context.
    pub(crate) fn all_of(context: &Arc<ContextCore>) -> Vec<Arc<Self>> {
        // Those that aren't wanted are dropped once the lock is free: each takes it when it goes.
        let all: Vec<_> = BY_LOGGER.read().values().flatten().filter_map(Weak::upgrade).collect();
        all.into_iter().filter(|node| Arc::ptr_eq(&node.context, context)).collect()
    }

    /// Those of them with that name.
    pub(crate) fn all_named(context: &Arc<ContextCore>, full_name: &str) -> Vec<Arc<Self>> {
        // As above.
        let all: Vec<_> = {
            let nodes = BY_LOGGER.read();
            nodes.get(&logger_of(full_name)).into_iter().flatten().filter_map(Weak::upgrade).collect()
        };
        let is_it = |node: &Arc<Self>| *node.full_name == *full_name && Arc::ptr_eq(&node.context, context);
        all.into_iter().filter(is_it).collect()
    }

    /// A node that is this one to others, and keeps its context, but neither keeps this one nor is
    /// kept by it: for what this one keeps itself.
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
            parameter_options: ParameterOptions::default(),
            parameters: OnceLock::new(),
            parameter_services: Mutex::new(None),
            context: self.context.clone(),
            rosout: OnceLock::new(),
            type_descriptions: OnceLock::new(),
            registered_types: Mutex::default(),
        })
    }

    /// The description of a type that it uses now, by its hash.
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

    /// The node of a group.
    pub(crate) fn of(group: &GroupCore) -> Arc<Self> {
        #[expect(clippy::expect_used, reason = "`Node::new` and nothing else makes owners of groups")]
        let node = group.node.clone().into_any().downcast().expect("a group's owner is a node");
        node
    }

    /// Checks that something can be made under the node.
    pub(crate) fn check_running(&self, name: &str) -> Result<(), CreateError> {
        self.context.session.check_running(name)
    }

    /// Tells other processes of an entity, if there are to be any. Before that, looks which ones
    /// there are now.
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

    /// Tells tools of something of this node, if there is room. Other processes aren't told.
    pub(crate) fn report(&self, endpoint: &Endpoint) -> Option<OwnEndpoint> {
        let participant = self.context.transport()?.participant()?;
        participant.advertise(endpoint, self.known()).ok()
    }

    /// Checks what a publisher and a subscription are made with, and finds the topic's full name.
    pub(crate) fn place(&self, topic: &str, qos: &QoS) -> Result<String, CreateError> {
        self.check_running(topic)?;
        qos.validate().map_err(|problem| CreateError::Qos { topic: topic.to_owned(), problem })?;
        self.renamed(NameKind::Topic, topic)
    }

    /// Checks what a server and a client are made with, and finds the service's full name.
    pub(crate) fn place_service(&self, service: &str) -> Result<String, CreateError> {
        self.check_running(service)?;
        self.renamed(NameKind::Service, service)
    }

    /// The full name of what the node calls so, after remapping.
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
    /// What it said last is published on `/rosout` before it goes: lines wait for the logging thread,
    /// which doesn't find it any more, but a node that stands in for it.
    fn publish_last_words(&mut self, logger: &str) {
        let Some(lines) = UNPUBLISHED.get() else { return };
        // Relaxed: a hint, so that many nodes that go wait once.
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
        lines.is_stuck.store(!(lines.flush)(LAST_WORDS), Ordering::Relaxed);
    }
}

impl Drop for NodeCore {
    fn drop(&mut self) {
        if self.stands_in || self.origin != Origin::Local {
            return;
        }
        self.context.hints.forget(&self.full_name);
        let logger = self.logger.clone();
        self.publish_last_words(&logger);
        let mut nodes = BY_LOGGER.write();
        if let Some(of_name) = nodes.get_mut(logger.as_ref()) {
            of_name.retain(|node| node.strong_count() > 0);
            if of_name.is_empty() {
                nodes.remove(logger.as_ref());
            }
        }
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
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.full_name())
    }
}
