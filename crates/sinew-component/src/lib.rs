//! Components: nodes that a process takes in while it runs.
//!
//! A program registers the kinds of nodes it can make, and a [`Container`] makes them when a
//! service asks for it: `~/_container/load_node`, `unload_node` and `list_nodes` of ROS 2's
//! `composition_interfaces`, so `ros2 component` and `sinew component` work on it. The nodes share the
//! container's context: messages between them move by ownership, as between any nodes of a process.
//!
//! What is to be there from the start is named on the program's command line, by hand or by a launch
//! file: `--component demo::Ticker`, or `--component demo::Ticker=/robot/clock` with a name.
//!
//! Nothing is loaded from shared libraries: what a container can make was compiled into its program.
//! [`component!`] registers a kind of node where it is written, with all containers of the program;
//! [`ContainerBuilder::component`] registers one with one container, from a closure if need be.
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

/// What a component is, in a box, so that dropping it ends it; or why there is none.
type Made = Result<Box<dyn Any + Send>, Box<dyn Error + Send + Sync>>;

/// Makes what a component is, on the node that it gets.
type Factory = Box<dyn FnMut(Node) -> Made + Send>;

/// Registers a kind of node with all containers of the program: `component!(TYPE, NODE, MAKE)`, where
/// `TYPE` is what is asked for (`plugin_name`, mostly `package::Type`), `NODE` what its node is called
/// if it isn't said, and `MAKE` a function from a [`Node`] to a `Result`, whose value is kept while
/// the node is loaded; see [`ContainerBuilder::component`], which does the same for one container.
///
/// It stands beside the functions of a module. One in a library counts if the program uses something
/// of that library, or says `use that_library as _;`: what nothing refers to isn't linked. (ROS 2:
/// `RCLCPP_COMPONENTS_REGISTER_NODE`.)
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

/// For [`component!`] alone.
#[doc(hidden)]
pub mod private {
    use super::{Any, Error, Made, Node};
    pub use inventory::submit;

    /// A kind of node that was registered where it is written.
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
    /// What its node is called if nobody says otherwise.
    node: String,
    factory: Factory,
}

/// A node that was loaded, and what it is made of.
struct Loaded {
    full_name: String,
    /// Dropping it ends all that it does.
    _component: Box<dyn Any + Send>,
}

/// The state of the container's group: its services run one at a time.
struct State {
    context: Context,
    registry: BTreeMap<String, Registered>,
    loaded: BTreeMap<u64, Loaded>,
    last: u64,
}

/// Makes a [`Container`]; from [`Container::builder`].
pub struct ContainerBuilder {
    context: Context,
    name: String,
    registry: BTreeMap<String, Registered>,
    /// A kind that two modules register.
    twice: Option<&'static str>,
}

/// A node with the three services that load, unload and list others, and one more,
/// `~/_container/list_types` (`std_srvs/srv/Trigger`), whose message has the kinds that can be
/// loaded, one on each line. Nodes that were loaded live as long as this, unless they are unloaded.
///
/// The services run in whatever executor serves the context.
pub struct Container {
    node: Node,
    types: Vec<String>,
    _services: Services,
    /// Last, so that nothing is loaded any more when the components are dropped.
    _group: Group<State>,
}

type Services = (Server<LoadNode>, Server<UnloadNode>, Server<ListNodes>, Server<Trigger>);

impl ContainerBuilder {
    /// Registers a kind of node: `type_name` is what is asked for (`plugin_name`, mostly
    /// `package::Type`), `node` what its node is called if it isn't said, and `make` makes what has
    /// to be kept while the node is loaded. A kind that was registered before is replaced.
    ///
    /// `make` runs in a callback of the container: while it does, nothing else is loaded. Its error,
    /// or its panic, is the answer of `load_node`.
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

    /// Makes the container's node and services, and loads what the context's command line names
    /// (`--component TYPE` or `--component TYPE=NODE`, outside `--ros-args`).
    ///
    /// # Errors
    /// [`ContainerError`]: a node or server can't be made, a component can't be loaded, or two are
    /// registered under one name.
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
    /// A container whose node is called so. It has what [`component!`] registers in the program.
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

    /// The container's node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The kinds of nodes that were registered, sorted.
    pub fn types(&self) -> Vec<&str> {
        self.types.iter().map(String::as_str).collect()
    }
}

/// Why there is no container.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// Its node or a service can't be made.
    #[error(transparent)]
    Sinew(#[from] sinew::Error),

    /// A component that the command line names can't be loaded; the sentence says which, and why.
    #[error("a component of the command line can't be loaded: {0}")]
    Load(String),

    /// Two modules register a component under one name.
    #[error("two modules of the program register the component `{0}`; give one of them another name")]
    Twice(&'static str),

    /// The command line ends behind `--component`.
    #[error("`--component` needs a value behind it, such as `demo::Ticker` or `demo::Ticker=/robot/clock`")]
    MissingValue,
}

/// What a command line wants to be loaded.
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

/// The node that is asked for.
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
    // What is asked for by name isn't called as the command line calls all nodes.
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

/// Why a node isn't loaded.
#[derive(thiserror::Error)]
enum LoadError {
    #[error("this container has no `{wanted}`{instead}")]
    Unknown { wanted: String, instead: String },

    #[error(
        "the extra argument {argument:?} of {node} isn't understood: there may be use_intra_process_comms, \
         allow_undeclared_parameters, automatically_declare_parameters_from_overrides, start_parameter_services and \
         start_parameter_event_publisher, each true or false"
    )]
    Extra { argument: String, node: String },

    #[error("the parameter {name:?} of {node} has the type {kind}, which ROS 2 doesn't have")]
    Parameter { name: String, node: String, kind: u8 },

    #[error(
        "the log level {level} of {node} is none of ROS 2's: 10 debug, 20 info, 30 warn, 40 error, 50 fatal, 0 for none"
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
        // A component that panics must not take the others with it. What it had made is dropped; the
        // factory is used again, as any callback is.
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
