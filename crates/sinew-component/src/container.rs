//! Containers.

use crate::component::{Component, Loaded};
use crate::error::{ContainerError, LoadError, UnloadError};
use crate::private;
use crate::request::{NodeRequest, wanted};
use sinew::__private::locks::Mutex;
use sinew::{Context, Node, Server};
use sinew_interfaces::composition_interfaces::srv::{
    ListNodes, ListNodesRequest, ListNodesResponse, LoadNode, LoadNodeRequest, LoadNodeResponse, UnloadNode,
    UnloadNodeRequest, UnloadNodeResponse,
};
use sinew_interfaces::std_srvs::srv::{Trigger, TriggerRequest, TriggerResponse};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

/// Components by the names for requests.
type Registry = BTreeMap<String, Arc<Component>>;

/// Finds the components of a package, of which a container is asked for a type.
type Loader = Box<dyn Fn(&str, &str) -> Result<Vec<Component>, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// Makes a [`Container`]; returned by [`Container::builder`].
pub struct ContainerBuilder {
    context: Context,
    name: String,
    registry: Registry,
    loader: Option<Loader>,
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
    _services: Services,
    /// The last field, so that no service loads a node while the components are dropped.
    core: Arc<Core>,
}

type Services = (Server<LoadNode>, Server<UnloadNode>, Server<ListNodes>, Server<Trigger>);

struct Core {
    context: Context,
    registry: Mutex<Registry>,
    loader: Option<Loader>,
    loaded: Mutex<LoadedNodes>,
}

#[derive(Default)]
struct LoadedNodes {
    nodes: BTreeMap<u64, Loaded>,
    /// The number of the last one.
    last: u64,
}

impl ContainerBuilder {
    /// Registers a kind of node, as [`Component::new`]. Replaces a kind registered before under the
    /// same name.
    ///
    /// `make` runs in a callback of the container, which loads nothing else meanwhile. If it fails
    /// or panics, `load_node` answers with the error.
    #[must_use]
    pub fn component<T, E>(
        self,
        type_name: impl Into<String>,
        node: impl Into<String>,
        make: impl FnMut(Node) -> Result<T, E> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.register(Component::new(type_name, node, make))
    }

    /// Registers a component. Replaces one registered before under the same name.
    #[must_use]
    pub fn register(mut self, component: Component) -> Self {
        self.registry.insert(component.type_name().to_owned(), Arc::new(component));
        self
    }

    /// Sets a function that finds components when the container is asked for one that it doesn't
    /// have: it gets the package (`package_name`, never empty) and the type, and returns components
    /// to register, for example those of a shared library.
    #[must_use]
    pub fn loader<E>(
        mut self,
        find: impl Fn(&str, &str) -> Result<Vec<Component>, E> + Send + Sync + 'static,
    ) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.loader = Some(Box::new(move |package, type_name| find(package, type_name).map_err(Into::into)));
        self
    }

    /// Makes the container's node and services, and loads the nodes named on the context's command
    /// line (`--component TYPE` or `--component TYPE=NODE`, outside `--ros-args`).
    ///
    /// # Errors
    /// [`ContainerError`] if a node or server cannot be made, a component cannot be loaded, or two
    /// components are registered under one name.
    pub fn build(self) -> Result<Container, ContainerError> {
        let Self { context, name, registry, loader, twice } = self;
        if let Some(type_name) = twice {
            return Err(ContainerError::Twice(type_name));
        }
        let wanted = wanted(context.arguments().rest())?;
        let node = context.node(&name).map_err(sinew::Error::from)?;
        let (registry, loaded) = (Mutex::new(registry), Mutex::default());
        let core = Arc::new(Core { context, registry, loader, loaded });
        for request in wanted {
            core.load(&request).map_err(|error| ContainerError::Load(error.to_string()))?;
        }
        let _services = services(&node, &core)?;
        Ok(Container { node, _services, core })
    }
}

/// Makes the container's services, which run one at a time.
fn services(node: &Node, core: &Arc<Core>) -> sinew::Result<Services> {
    let (group, [loading, unloading, listing, known]) = (node.group(()), [(); 4].map(|()| core.clone()));
    let load = group
        .server::<LoadNode>("~/_container/load_node")
        .callback(move |request: &LoadNodeRequest| loading.answer_load(request))?;
    let unload = group
        .server::<UnloadNode>("~/_container/unload_node")
        .callback(move |request: &UnloadNodeRequest| unloading.answer_unload(request))?;
    let list =
        group.server::<ListNodes>("~/_container/list_nodes").callback(move |_: &ListNodesRequest| {
            let (unique_ids, full_node_names) = listing.nodes().into_iter().unzip();
            ListNodesResponse { full_node_names, unique_ids }
        })?;
    let types = group.server::<Trigger>("~/_container/list_types").callback(move |_: &TriggerRequest| {
        TriggerResponse { success: true, message: known.types().join("\n") }
    })?;
    Ok((load, unload, list, types))
}

impl Container {
    /// Returns a builder for a container with this node name. The container has all kinds that
    /// [`component!`](crate::component!) registers in the program.
    pub fn builder(context: &Context, name: impl Into<String>) -> ContainerBuilder {
        let (mut registry, mut twice) = (BTreeMap::new(), None);
        for component in inventory::iter::<private::Registered> {
            let private::Registered { type_name, node, make } = *component;
            let component = Component::on_node(type_name.to_owned(), node.to_owned(), make);
            if registry.insert(type_name.to_owned(), Arc::new(component)).is_some() {
                twice = Some(type_name);
            }
        }
        ContainerBuilder { context: context.clone(), name: name.into(), registry, loader: None, twice }
    }

    /// Returns the container's node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the registered kinds of nodes, sorted.
    pub fn types(&self) -> Vec<String> {
        self.core.types()
    }

    /// Registers a component while the container runs. Replaces one registered before under the same
    /// name; nodes that are loaded stay.
    pub fn register(&self, component: Component) {
        self.core.register(component);
    }

    /// Loads a node on the calling thread, as the service does. Returns its number and full name.
    ///
    /// # Errors
    /// [`LoadError`], which says why.
    pub fn load(&self, request: &LoadNodeRequest) -> Result<(u64, String), LoadError> {
        self.core.load(request)
    }

    /// Unloads a node: drops its component on the calling thread.
    ///
    /// # Errors
    /// [`UnloadError`] if no node has the number, or its component panicked; it is unloaded then.
    pub fn unload(&self, id: u64) -> Result<(), UnloadError> {
        self.core.unload(id)
    }

    /// Returns the numbers and full names of the loaded nodes, by number.
    pub fn nodes(&self) -> Vec<(u64, String)> {
        self.core.nodes()
    }
}

impl Core {
    fn types(&self) -> Vec<String> {
        self.registry.lock().keys().cloned().collect()
    }

    fn register(&self, component: Component) {
        let replaced = self.registry.lock().insert(component.type_name().to_owned(), Arc::new(component));
        drop(replaced); // without the lock: it may be the program's code
    }

    fn nodes(&self) -> Vec<(u64, String)> {
        let loaded = self.loaded.lock();
        loaded.nodes.iter().map(|(id, node)| (*id, node.full_name.clone())).collect()
    }

    fn answer_load(&self, request: &LoadNodeRequest) -> LoadNodeResponse {
        match self.load(request) {
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

    fn answer_unload(&self, request: &UnloadNodeRequest) -> UnloadNodeResponse {
        match self.unload(request.unique_id) {
            Ok(()) => UnloadNodeResponse { success: true, error_message: String::new() },
            Err(error) => UnloadNodeResponse { success: false, error_message: error.to_string() },
        }
    }

    fn load(&self, request: &LoadNodeRequest) -> Result<(u64, String), LoadError> {
        let component = self.find(request)?;
        let node = component.load(&NodeRequest::new(&self.context, request))?;
        let full_name = node.full_name.clone();
        let mut loaded = self.loaded.lock();
        loaded.last += 1;
        let id = loaded.last;
        loaded.nodes.insert(id, node);
        Ok((id, full_name))
    }

    /// Returns the requested component: one that is registered, or else from its package.
    fn find(&self, request: &LoadNodeRequest) -> Result<Arc<Component>, LoadError> {
        let type_name = &request.plugin_name;
        let registered = || self.registry.lock().get(type_name).cloned();
        if let Some(component) = registered() {
            return Ok(component);
        }
        let mut reason = String::new();
        if let Some(find) = self.loader.as_ref().filter(|_| !request.package_name.is_empty()) {
            match find(&request.package_name, type_name) {
                Ok(components) => components.into_iter().for_each(|component| self.register(component)),
                Err(error) => reason = format!("; {error}"),
            }
        }
        registered().ok_or_else(|| {
            let types = self.types();
            let similar = sinew::names::similar(type_name, types.iter().map(String::as_str));
            let instead = match similar.first() {
                Some(name) => format!("; did you mean `{name}`?"),
                None if types.is_empty() => "; it has none".to_owned(),
                None => format!("; it has {}", types.join(", ")),
            };
            LoadError::Unknown { wanted: type_name.clone(), instead: instead + &reason }
        })
    }

    fn unload(&self, id: u64) -> Result<(), UnloadError> {
        let removed = self.loaded.lock().nodes.remove(&id);
        match removed {
            Some(node) => node.end(), // without the lock: it is the program's code
            None => {
                let known: Vec<String> = self.nodes().iter().map(|(id, _)| id.to_string()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(UnloadError::NotLoaded { id, known })
            }
        }
    }
}
