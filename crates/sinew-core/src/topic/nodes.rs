//! The nodes of a context.

use super::endpoint_info::{NodeInfo, Place};
use super::session::Session;
use crate::ros::origin::Origin;
use crate::sys::sync::{Arc, Mutex};
use std::collections::BTreeMap;

/// The nodes of a context, by their numbers, for programs that look at the graph.
pub(crate) struct NodeRegistry {
    session: Arc<Session>,
    nodes: Mutex<BTreeMap<u64, (Arc<str>, Origin)>>,
}

impl NodeRegistry {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self { session: session.clone(), nodes: Mutex::default() }
    }

    /// Adds a node with that full name.
    pub(crate) fn add(&self, number: u64, name: &Arc<str>, origin: Origin) {
        self.nodes.lock().insert(number, (name.clone(), origin));
        self.session.graph_changed();
    }

    pub(crate) fn remove(&self, number: u64) {
        let gone = self.nodes.lock().remove(&number);
        if gone.is_some() {
            self.session.graph_changed();
        }
    }

    /// Appends the nodes that lists show.
    pub(crate) fn list(&self, into: &mut Vec<NodeInfo>) {
        let nodes = self.nodes.lock();
        let shown = nodes.values().filter(|(_, origin)| origin.is_shown());
        into.extend(
            shown.map(|(name, origin)| NodeInfo { name: name.to_string(), place: Place::of_own(*origin) }),
        );
    }
}
