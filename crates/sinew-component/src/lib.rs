//! Components: nodes that a process loads while it runs.
//!
//! A program registers the kinds of nodes that it can make, and a [`Container`] makes them on
//! request through services: `~/_container/load_node`, `unload_node` and `list_nodes` of ROS 2's
//! `composition_interfaces`, so `ros2 component` and `sinew component` work with it. The nodes
//! share the container's context: messages between them move by ownership, as between any nodes of
//! a process.
//!
//! Nodes to load at the start are named on the program's command line, by hand or by a launch file:
//! `--component demo::Ticker`, or `--component demo::Ticker=/robot/clock` with a name.
//!
//! Nothing is loaded from shared libraries: a container makes only components that were compiled
//! into its program. [`component!`] registers a kind of node, next to its definition, with all
//! containers of the program; [`ContainerBuilder::component`] registers one with a single
//! container, from a closure if necessary.
//!
//! ```
//! use sinew::prelude::*;
//! use sinew_component::{Container, component};
//!
//! struct Ticker { _timer: sinew::Timer }
//!
//! impl Ticker {
//!     fn new(node: Node) -> sinew::Result<Self> {
//!         let _timer = node.timer(Duration::from_secs(1)).callback(|| println!("tick"))?;
//!         Ok(Self { _timer }) // what it keeps lives until it is unloaded
//!     }
//! }
//!
//! component!("demo::Ticker", "ticker", Ticker::new);
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let context = Context::builder().shared_memory(false).build()?; // a program: Context::from_args()
//!     let container = Container::builder(&context, "container").build()?;
//!     assert!(container.types().contains(&"demo::Ticker"));
//!     // A program spins now: sinew::spin(&context)?
//!     Ok(())
//! }
//! ```

use std::any::Any;
use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sinew::error::CreateError;
use sinew::parameters::ParameterValue;
use sinew::{Context, Group, LogLevel, Node, Server};
use sinew_interfaces::composition_interfaces::srv::{
    ListNodes, ListNodesRequest, ListNodesResponse, LoadNode, LoadNodeRequest, LoadNodeResponse, UnloadNode,
    UnloadNodeRequest, UnloadNodeResponse,
};
use sinew_interfaces::rcl_interfaces::msg::Parameter;
use sinew_interfaces::std_srvs::srv::{Trigger, TriggerRequest, TriggerResponse};

sinew::__debug_says!(ContainerError, LoadError);

/// A boxed component, which ends when it is dropped; or the reason why it could not be made.
type Made = Result<Box<dyn Any + Send>, Box<dyn Error + Send + Sync>>;

/// Makes a component on the node that it is given.
type Factory = Box<dyn FnMut(Node) -> Made + Send>;

/// Registers a kind of node with all containers of the program: `component!(TYPE, NODE, MAKE)`.
/// `TYPE` is the name for requests (`plugin_name`, mostly `package::Type`), `NODE` the default name
/// of the node, and `MAKE` a function from a [`Node`] to a `Result` with a value that is kept while
/// the node is loaded. [`ContainerBuilder::component`] does the same for one container.
///
/// Use it at module level, beside functions. In a library, it takes effect only if the program uses
/// some item of that library, or says `use that_library as _;`: unreferenced code isn't linked.
/// (ROS 2: `RCLCPP_COMPONENTS_REGISTER_NODE`.)
///
/// ```
/// use sinew::prelude::*;
///
/// fn ticker(node: Node) -> sinew::Result<sinew::Timer> {
///     Ok(node.timer(Duration::from_secs(1)).callback(|| println!("tick"))?)
/// }
///
/// sinew_component::component!("demo::Metronome", "metronome", ticker);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! component {
    ($type_name:expr, $node:expr, $make:expr $(,)?) => {
        $crate::private::submit! {
            $crate::private::Component::new($type_name, $node, |node| $crate::private::boxed($make(node)))
        }
    };
}

/// Items for [`component!`] only.
#[doc(hidden)]
pub mod private {
    use super::{Any, Error, Made, Node};
    pub use inventory::submit;

    /// A kind of node registered by the macro.
    pub struct Component {
        pub(super) type_name: &'static str,
        pub(super) node: &'static str,
        pub(super) make: fn(Node) -> Made,
    }

    inventory::collect!(Component);

    impl Component {
        pub const fn new(type_name: &'static str, node: &'static str, make: fn(Node) -> Made) -> Self {
            Self { type_name, node, make }
        }
    }

    pub fn boxed<T: Send + 'static, E: Into<Box<dyn Error + Send + Sync>>>(made: Result<T, E>) -> Made {
        match made {
            Ok(component) => Ok(Box::new(component) as Box<dyn Any + Send>),
            Err(error) => Err(error.into()),
        }
    }
}

/// A kind of node that a container can make.
struct Registered {
    /// The default name of the node.
    node: String,
    factory: Factory,
}

/// A loaded node and its component.
struct Loaded {
    full_name: String,
    /// Dropping it ends the component.
    _component: Box<dyn Any + Send>,
}

/// The state of the container's callback group, which runs its services one at a time.
struct State {
    context: Context,
    registry: BTreeMap<String, Registered>,
    loaded: BTreeMap<u64, Loaded>,
    last: u64,
}

/// Makes a [`Container`]; returned by [`Container::builder`].
pub struct ContainerBuilder {
    context: Context,
    name: String,
    registry: BTreeMap<String, Registered>,
    /// A kind that two modules register.
    twice: Option<&'static str>,
}

/// A node with the three services that load, unload and list nodes. A fourth service,
/// `~/_container/list_types` (`std_srvs/srv/Trigger`), returns a message with the kinds that can be
/// loaded, one per line. Loaded nodes live as long as the container, unless they are unloaded.
///
/// The services run in the executor that serves the context.
pub struct Container {
    node: Node,
    types: Vec<String>,
    _services: Services,
    /// The last field, so that no service loads a node while the components are dropped.
    _group: Group<State>,
}

type Services = (Server<LoadNode>, Server<UnloadNode>, Server<ListNodes>, Server<Trigger>);

impl ContainerBuilder {
    /// Registers a kind of node: `type_name` is the name for requests (`plugin_name`, mostly
    /// `package::Type`), `node` the default name of the node, and `make` makes the value that is
    /// kept while the node is loaded. Replaces a kind registered before under the same name.
    ///
    /// `make` runs in a callback of the container, which loads nothing else meanwhile. If it fails
    /// or panics, `load_node` answers with the error.
    #[must_use]
    pub fn component<T, E>(
        mut self,
        type_name: impl Into<String>,
        node: impl Into<String>,
        mut make: impl FnMut(Node) -> Result<T, E> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let factory: Factory = Box::new(move |node| private::boxed(make(node)));
        self.registry.insert(type_name.into(), Registered { node: node.into(), factory });
        self
    }

    /// Makes the container's node and services, and loads the nodes named on the context's command
    /// line (`--component TYPE` or `--component TYPE=NODE`, outside `--ros-args`).
    ///
    /// # Errors
    /// [`ContainerError`] if a node or server cannot be made, a component cannot be loaded, or two
    /// components are registered under one name.
    pub fn build(self) -> Result<Container, ContainerError> {
        let Self { context, name, registry, twice } = self;
        if let Some(type_name) = twice {
            return Err(ContainerError::Twice(type_name));
        }
        let wanted = wanted(context.arguments().rest())?;
        let node = context.node(&name).map_err(sinew::Error::from)?;
        let types: Vec<String> = registry.keys().cloned().collect();
        let mut state = State { context, registry, loaded: BTreeMap::new(), last: 0 };
        for request in wanted {
            state.try_load(&request).map_err(|error| ContainerError::Load(error.to_string()))?;
        }
        Self::serve(node, types, state).map_err(ContainerError::from)
    }

    fn serve(node: Node, types: Vec<String>, state: State) -> sinew::Result<Container> {
        let group = node.group(state);
        let load = group
            .server::<LoadNode>("~/_container/load_node")
            .callback(|state: &mut State, request: &LoadNodeRequest| state.load(request))?;
        let unload = group
            .server::<UnloadNode>("~/_container/unload_node")
            .callback(|state: &mut State, request: &UnloadNodeRequest| state.unload(request))?;
        let list = group
            .server::<ListNodes>("~/_container/list_nodes")
            .callback(|state: &mut State, _: &ListNodesRequest| state.list())?;
        let message = types.join("\n");
        let known =
            group.server::<Trigger>("~/_container/list_types").callback(move |_: &TriggerRequest| {
                TriggerResponse { success: true, message: message.clone() }
            })?;
        Ok(Container { node, types, _services: (load, unload, list, known), _group: group })
    }
}

impl Container {
    /// Returns a builder for a container with this node name. The container has all kinds that
    /// [`component!`] registers in the program.
    pub fn builder(context: &Context, name: impl Into<String>) -> ContainerBuilder {
        let (mut registry, mut twice) = (BTreeMap::new(), None);
        for component in inventory::iter::<private::Component> {
            let private::Component { type_name, node, make } = *component;
            let registered = Registered { node: node.to_owned(), factory: Box::new(make) };
            if registry.insert(type_name.to_owned(), registered).is_some() {
                twice = Some(type_name);
            }
        }
        ContainerBuilder { context: context.clone(), name: name.into(), registry, twice }
    }

    /// Returns the container's node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the registered kinds of nodes, sorted.
    pub fn types(&self) -> Vec<&str> {
        self.types.iter().map(String::as_str).collect()
    }
}

/// The reason why a container could not be made.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// The node or a service cannot be made.
    #[error(transparent)]
    Sinew(#[from] sinew::Error),

    /// A component named on the command line cannot be loaded; the text says which one, and why.
    #[error("a component of the command line can't be loaded: {0}")]
    Load(String),

    /// Two modules register a component under the same name.
    #[error("two modules of the program register the component `{0}`; give one of them another name")]
    Twice(&'static str),

    /// The command line ends after `--component`.
    #[error("`--component` needs a value after it, such as `demo::Ticker` or `demo::Ticker=/robot/clock`")]
    MissingValue,
}

/// Returns the load requests on a command line.
fn wanted(line: &[String]) -> Result<Vec<LoadNodeRequest>, ContainerError> {
    let mut words = line.iter();
    let mut wanted = Vec::new();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--component") {
            Some("") => words.next().ok_or(ContainerError::MissingValue)?,
            Some(rest) if rest.starts_with('=') => &rest[1..],
            _ => continue,
        };
        let (type_name, node) = value.split_once('=').unwrap_or((value, ""));
        let (namespace, name) = match node.rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some(both) => both,
            None => ("", node),
        };
        wanted.push(LoadNodeRequest {
            plugin_name: type_name.into(),
            node_name: name.into(),
            node_namespace: namespace.into(),
            ..LoadNodeRequest::default()
        });
    }
    Ok(wanted)
}

/// Makes the requested node.
fn made(context: &Context, name: &str, request: &LoadNodeRequest) -> Result<Node, LoadError> {
    let LoadNodeRequest {
        plugin_name: _,
        package_name: _,
        node_name,
        node_namespace,
        log_level,
        remap_rules,
        parameters,
        extra_arguments,
    } = request;
    let level = match log_level {
        0 => None,
        number => match LogLevel::of_number((*number).into()) {
            Some(level) => Some(level),
            None => return Err(LoadError::Level { level: *number, node: name.to_owned() }),
        },
    };
    let mut builder = context.node_builder(name);
    for rule in remap_rules {
        builder = builder.remap(rule);
    }
    if !node_namespace.is_empty() {
        builder = builder.namespace(node_namespace).remap(&format!("__ns:={node_namespace}"));
    }
    // A name in the request overrides the name that the command line gives to all nodes.
    if !node_name.is_empty() {
        builder = builder.remap(&format!("__node:={node_name}"));
    }
    for Parameter { name: argument, value } in extra_arguments {
        let known = ParameterValue::from_msg(value.clone());
        builder = match (argument.as_str(), known) {
            ("use_intra_process_comms", Some(ParameterValue::Bool(_))) => builder, // messages always move
            ("allow_undeclared_parameters", Some(ParameterValue::Bool(value))) => {
                builder.allow_undeclared(value)
            }
            ("automatically_declare_parameters_from_overrides", Some(ParameterValue::Bool(value))) => {
                builder.declare_overrides(value)
            }
            ("start_parameter_services", Some(ParameterValue::Bool(value))) => {
                builder.start_parameter_services(value)
            }
            ("start_parameter_event_publisher", Some(ParameterValue::Bool(value))) => {
                builder.start_parameter_event_publisher(value)
            }
            _ => return Err(LoadError::Extra { argument: argument.clone(), node: name.to_owned() }),
        };
    }
    for Parameter { name: parameter, value } in parameters {
        let kind = value.r#type;
        let Some(value) = ParameterValue::from_msg(value.clone()) else {
            return Err(LoadError::Parameter { name: parameter.clone(), node: name.to_owned(), kind });
        };
        builder = builder.parameter_override(parameter, value);
    }
    let node = builder.create()?;
    if level.is_some() {
        node.logger().set_level(level);
    }
    Ok(node)
}

/// The reason why a node was not loaded.
#[derive(thiserror::Error)]
enum LoadError {
    #[error("this container has no `{wanted}`{instead}")]
    Unknown { wanted: String, instead: String },

    #[error(
        "the extra argument {argument:?} of {node} isn't understood: the known ones are use_intra_process_comms, \
         allow_undeclared_parameters, automatically_declare_parameters_from_overrides, start_parameter_services and \
         start_parameter_event_publisher, each true or false"
    )]
    Extra { argument: String, node: String },

    #[error("the parameter {name:?} of {node} has the type {kind}, which ROS 2 doesn't have")]
    Parameter { name: String, node: String, kind: u8 },

    #[error(
        "the log level {level} of {node} isn't one of ROS 2's: 10 debug, 20 info, 30 warn, 40 error, 50 fatal, 0 for none"
    )]
    Level { level: u8, node: String },

    #[error(transparent)]
    Node(#[from] CreateError),

    #[error("{type_name} refused: {source}")]
    Refused { type_name: String, source: Box<dyn Error + Send + Sync> },

    #[error("{type_name} panicked while it was made: {message}")]
    Panicked { type_name: String, message: String },
}

impl State {
    fn load(&mut self, request: &LoadNodeRequest) -> LoadNodeResponse {
        match self.try_load(request) {
            Ok((unique_id, full_node_name)) => {
                LoadNodeResponse { success: true, error_message: String::new(), full_node_name, unique_id }
            }
            Err(error) => LoadNodeResponse {
                success: false,
                error_message: error.to_string(),
                full_node_name: String::new(),
                unique_id: 0,
            },
        }
    }

    fn try_load(&mut self, request: &LoadNodeRequest) -> Result<(u64, String), LoadError> {
        let type_name = &request.plugin_name;
        let Some(registered) = self.registry.get_mut(type_name) else {
            let names = || self.registry.keys().map(String::as_str);
            let instead = match sinew::names::similar(type_name, names()).first() {
                Some(name) => format!("; did you mean `{name}`?"),
                None => format!("; it has {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(LoadError::Unknown { wanted: type_name.clone(), instead });
        };
        let name = if request.node_name.is_empty() { &registered.node } else { &request.node_name };
        let node = made(&self.context, name, request)?;
        let full_name = node.full_name().to_owned();
        // A panic in one component must not affect the others. The values that it had made are
        // dropped; the factory is called again later, like any callback.
        let made = catch_unwind(AssertUnwindSafe(|| (registered.factory)(node)));
        let component = match made {
            Ok(made) => made.map_err(|source| LoadError::Refused { type_name: type_name.clone(), source })?,
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                return Err(LoadError::Panicked { type_name: type_name.clone(), message });
            }
        };
        self.last += 1;
        self.loaded.insert(self.last, Loaded { full_name: full_name.clone(), _component: component });
        Ok((self.last, full_name))
    }

    fn unload(&mut self, request: &UnloadNodeRequest) -> UnloadNodeResponse {
        let id = request.unique_id;
        match self.loaded.remove(&id) {
            Some(_) => UnloadNodeResponse { success: true, error_message: String::new() },
            None => {
                let known: Vec<String> = self.loaded.keys().map(u64::to_string).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let error_message = format!("no node is loaded as {id}; those that are: {known}");
                UnloadNodeResponse { success: false, error_message }
            }
        }
    }

    fn list(&self) -> ListNodesResponse {
        ListNodesResponse {
            full_node_names: self.loaded.values().map(|loaded| loaded.full_name.clone()).collect(),
            unique_ids: self.loaded.keys().copied().collect(),
        }
    }
}
