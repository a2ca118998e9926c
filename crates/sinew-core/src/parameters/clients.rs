//! Clients of nodes' parameters. A node without parameters gets its services once a client of them
//! exists, in this process or another; before that it has no services, and costs nothing.

use crate::sys::sync::{Arc, Mutex};
use sinew_shm::EndpointKey;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The services for a node's parameters, below its name.
const SERVICES: [&str; 6] = [
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
];

/// The identity of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ClientId {
    /// A client of this context, by its number.
    Own(u64),
    /// A client of another participant.
    Of(u64, EndpointKey),
}

/// The clients of nodes' parameters that a context knows of.
#[derive(Default)]
pub(crate) struct ParameterClients {
    known: Mutex<Known>,
    /// Makes the nodes of a name serve their parameters; set with the first node.
    serve: OnceLock<Box<Serve>>,
}

type Serve = dyn Fn(&str) + Send + Sync;

#[derive(Default)]
struct Known {
    nodes: HashMap<ClientId, Arc<str>>,
    /// Number of clients of each node.
    counts: HashMap<Arc<str>, usize>,
}

impl ParameterClients {
    /// Sets the function that makes nodes serve their parameters, if none is set yet. It is called
    /// on any thread, also on one that holds locks.
    pub(crate) fn serve_by<F: Fn(&str) + Send + Sync + 'static>(&self, serve: impl FnOnce() -> F) {
        self.serve.get_or_init(|| Box::new(serve()));
    }

    /// Notes a new client of that service. If the service is one of a node's parameters, the nodes
    /// of that name serve them: existing nodes and later ones.
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
        // A node that is being made meanwhile either has seen this client, or is found now.
        if let Some(serve) = self.serve.get() {
            serve(node);
        }
    }

    /// Notes the end of a client. Services that it started stay.
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

    /// Returns `true` if there is a client of that node.
    pub(crate) fn ask(&self, node: &str) -> bool {
        self.known.lock().counts.contains_key(node)
    }
}
