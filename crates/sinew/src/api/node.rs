//! Nodes: names, and the room in which entities are made.

use super::context::{Context, ContextCore};
use super::handlers::Handlers;
use crate::executor::group::{Group, GroupCore, ReentrantGroup};
use crate::executor::membership::GroupRegistry;
use crate::executor::owner::{Host, Owner};
use crate::executor::{AddError, Executable, Executor, sealed};
use crate::message::type_support::TypeSupport;
use crate::remote::shm::EndpointAbout;
use crate::ros::failure::CreateError;
use crate::ros::name::{self, NameKind};
use crate::ros::qos::QoS;
use crate::sys::clock::{ClockKind, Time};
use crate::sys::sync::{Arc, AtomicBool, next_serial};
use crate::topic::subscription_core::SubscriptionCore;
use sinew_shm::{EndpointKey, EndpointKind, OwnEndpoint};
use std::fmt;

/// A part of a robot program: a name, and the publishers, subscriptions and timers made under it.
///
/// Made by [`Context::node`](crate::Context::node). Clones are the same node. A node lives, and
/// other processes are told of it, as long as there is a handle to it, a group or any entity of it:
/// so a program may keep a timer and drop the node. What is [detached](crate::Timer::detach) keeps
/// its node, too.
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
    name: String,
    namespace: String,
    default_group: Group,
    groups: Arc<GroupRegistry>,
    /// A handle: what was detached goes with the last one of the context and its nodes.
    _context: Context,
}

/// What a node's groups and entities have in common, and keep.
pub(crate) struct NodeCore {
    /// What other processes know it by.
    entity: Option<OwnEndpoint>,
    pub(crate) number: u64,
    pub(crate) full_name: Arc<str>,
    /// It was said that it has nothing to run.
    said_idle: AtomicBool,
    pub(crate) context: Arc<ContextCore>,
}

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
        self.entity.as_ref().map(OwnEndpoint::key)
    }

    fn said_idle(&self) -> &AtomicBool {
        &self.said_idle
    }

    fn host(&self) -> &dyn Host {
        &*self.context
    }
}

impl Context {
    /// A node in the root namespace (unless the command line says otherwise).
    ///
    /// # Errors
    /// [`CreateError`]: a name that breaks the rules, or the context is shut down. Two nodes may
    /// have the same name.
    pub fn node(&self, name: &str) -> Result<Node, CreateError> {
        self.node_in("/", name)
    }

    /// A node in a namespace, which begins with a slash.
    ///
    /// # Errors
    /// As [`node`](Self::node).
    pub fn node_in(&self, namespace: &str, name: &str) -> Result<Node, CreateError> {
        Node::new(self, name, namespace)
    }
}

impl Node {
    fn new(handle: &Context, name: &str, namespace: &str) -> Result<Self, CreateError> {
        let context = handle.shared();
        context.session.check_running(name)?;
        name::validate_node_name(name)?;
        let name = context.arguments.node_name(name);
        name::validate_node_name(name)?;
        let namespace = context.arguments.namespace(name, namespace);
        name::validate_namespace(namespace)?;
        let full_name: Arc<str> = name::fully_qualified(name, namespace).into();
        let number = next_serial();
        let entity = match context.join(&full_name)? {
            Some(transport) => Some(transport.advertise_or(
                &full_name,
                &EndpointAbout {
                    kind: EndpointKind::Node,
                    number,
                    node: &full_name,
                    name: "",
                    table: None,
                    qos: QoS::default(),
                    of_node: None,
                },
                None,
            )?),
            None => None,
        };
        let (said_idle, context) = (AtomicBool::new(false), context.clone());
        let core = Arc::new(NodeCore { entity, number, full_name, said_idle, context });
        let node = Self(Arc::new(NodeInner {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
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
        &self.0.name
    }

    /// Its namespace, after remapping.
    pub fn namespace(&self) -> &str {
        &self.0.namespace
    }

    /// Its namespace and name.
    pub fn full_name(&self) -> &str {
        &self.0.core.full_name
    }

    /// Time now, by the clock that stamps of messages are read from:
    /// [`ClockKind::Ros`](crate::ClockKind::Ros), which is the wall clock unless it was
    /// [set](crate::Context::set_ros_time). ROS 2: `now`.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew_interfaces::builtin_interfaces::msg::Time;
    /// let node = Context::new()?.node("camera")?;
    /// let stamp: Time = node.now().to_msg(); // as headers have it
    /// assert!(sinew::Time::from(stamp) <= node.now());
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

    pub(crate) fn default_group(&self) -> &Group {
        &self.0.default_group
    }

    pub(crate) fn groups(&self) -> &Arc<GroupRegistry> {
        &self.0.groups
    }

    pub(crate) fn core(&self) -> &Arc<NodeCore> {
        &self.0.core
    }

    pub(crate) fn context_shared(&self) -> &Arc<ContextCore> {
        &self.0.core.context
    }

    pub(crate) fn number(&self) -> u64 {
        self.0.core.number
    }

    pub(crate) fn full_name_shared(&self) -> Arc<str> {
        self.0.core.full_name.clone()
    }

    /// Checks that something can be made in a group.
    pub(crate) fn check_group(&self, group: &GroupCore, name: &str) -> Result<(), CreateError> {
        let session = &self.context_shared().session;
        session.check_running(name)?;
        if group.clock.same(&session.clock) {
            Ok(())
        } else {
            Err(CreateError::ForeignGroup { name: name.to_owned() })
        }
    }

    /// Tells other processes of an entity, if there are to be any. Before that, it is looked who
    /// they are now.
    pub(crate) fn advertise(
        &self,
        kind: EndpointKind,
        what: &Advertised<'_>,
        subscription: Option<&Arc<SubscriptionCore>>,
    ) -> Result<Option<OwnEndpoint>, CreateError> {
        let Some(transport) = self.context_shared().transport() else { return Ok(None) };
        transport.refresh();
        let about = EndpointAbout {
            kind,
            number: what.number,
            node: self.full_name(),
            name: what.name,
            table: Some(what.table),
            qos: what.qos,
            of_node: self.0.core.known(),
        };
        transport.advertise_or(what.name, &about, subscription).map(Some)
    }

    /// Checks what a publisher and a subscription are made with, and finds the topic's full name.
    pub(crate) fn place(
        &self,
        topic: &str,
        qos: &QoS,
        group: &GroupCore,
        handlers: &Handlers,
    ) -> Result<String, CreateError> {
        self.check_group(group, topic)?;
        if handlers.misplaced {
            return Err(CreateError::GroupAfterHandlers { topic: topic.to_owned() });
        }
        qos.validate().map_err(|problem| CreateError::Qos { topic: topic.to_owned(), problem })?;
        let NodeInner { name, namespace, core, .. } = &*self.0;
        let full = name::expand(NameKind::Topic, topic, name, namespace)?;
        Ok(core.context.arguments.remap_topic(&full, name, namespace)?.unwrap_or(full))
    }

    /// Checks what a server and a client are made with, and finds the service's full name.
    pub(crate) fn place_service(&self, service: &str, group: &GroupCore) -> Result<String, CreateError> {
        self.check_group(group, service)?;
        let NodeInner { name, namespace, core, .. } = &*self.0;
        let full = name::expand(NameKind::Service, service, name, namespace)?;
        Ok(core.context.arguments.remap_service(&full, name, namespace)?.unwrap_or(full))
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
