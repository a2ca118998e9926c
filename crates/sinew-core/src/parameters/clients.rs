//! Who asks for the parameters of nodes. A node that has none gets what serves them once there is a
//! client of it, here or elsewhere: before that nothing of it is there, and it costs nothing.

use crate::sys::sync::{Arc, Mutex};
use sinew_shm::EndpointKey;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The services that serve a node's parameters, below its name.
const SERVICES: [&str; 6] = [
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
];

/// A client, as long as it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ClientId {
    /// Of this context, by its number.
    Own(u64),
    /// Of another participant.
    Of(u64, EndpointKey),
}

/// The clients of nodes' parameters that a context knows of.
#[derive(Default)]
pub(crate) struct ParameterClients {
    known: Mutex<Known>,
    /// Has the nodes of a name serve their parameters, once there is a node.
    serve: OnceLock<Box<Serve>>,
}

type Serve = dyn Fn(&str) + Send + Sync;

#[derive(Default)]
struct Known {
    nodes: HashMap<ClientId, Arc<str>>,
    /// How many there are of each node.
    counts: HashMap<Arc<str>, usize>,
}

impl ParameterClients {
    /// Says how nodes are brought to serve their parameters, if that isn't said yet. What does it is
    /// called on any thread, also one that holds locks.
    pub(crate) fn serve_by<F: Fn(&str) + Send + Sync + 'static>(&self, serve: impl FnOnce() -> F) {
        self.serve.get_or_init(|| Box::new(serve()));
    }

    /// A client of that service came. If that is one of a node's parameters, the nodes of that name
    /// serve them, those that are there and those that come.
    pub(crate) fn came(&self, client: ClientId, service: &str) {
        let Some((node, _)) = service.rsplit_once('/').filter(|(_, name)| SERVICES.contains(name)) else {
            return;
        };
        {
            let mut known = self.known.lock();
            let node: Arc<str> = node.into();
            if known.nodes.insert(client, node.clone()).is_none() {
                *known.counts.entry(node).or_default() += 1;
            }
        }
        // A node that comes meanwhile has asked for clients, or is found now.
        if let Some(serve) = self.serve.get() {
            serve(node);
        }
    }

    /// It went. What it had made stays.
    pub(crate) fn went(&self, client: ClientId) {
        let mut known = self.known.lock();
        let Some(node) = known.nodes.remove(&client) else { return };
        if let Some(count) = known.counts.get_mut(&node) {
            *count -= 1;
            if *count == 0 {
                known.counts.remove(&node);
            }
        }
    }

    /// Whether there is one of that node.
    pub(crate) fn ask(&self, node: &str) -> bool {
        self.known.lock().counts.contains_key(node)
    }
}
