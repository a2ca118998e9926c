//! The graph at one moment, as plain data; and functions that sort and gather its lists.

use crate::topic::endpoint_info::{EndpointInfo, EndpointKind, NameAndTypes, NodeInfo};
use std::collections::{BTreeMap, BTreeSet};

/// The nodes and endpoints of a graph at one moment: plain data, and queries of it.
///
/// Made by [`Graph::snapshot`](crate::graph::Graph::snapshot) for a program that takes part, and by
/// [`GraphReader::read`](crate::graph::GraphReader::read) for one that looks from outside. For
/// several questions, one snapshot is cheaper than several queries of the
/// [`Graph`](crate::graph::Graph), and the answers agree. Queries take no lock; those that return a
/// `Vec` allocate it. Two snapshots are equal if all their lists are.
///
/// ```
/// use sinew::prelude::*;
/// # #[derive(Message)]
/// # struct Scan { ranges: Vec<f32> }
/// let node = Context::new()?.node("scanner")?;
/// let _scans = node.publisher::<Scan>("scan").create()?;
/// let snapshot = node.graph().snapshot();
/// for topic in snapshot.topics() {
///     println!("{}: {} publishers", topic.name, snapshot.publishers(&topic.name).count());
/// }
/// assert_eq!(snapshot.publishers("/scan").count(), 1);
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphSnapshot {
    /// Sorted, as the next field.
    nodes: Vec<NodeInfo>,
    endpoints: Vec<EndpointInfo>,
    unreadable: Vec<String>,
}

impl GraphSnapshot {
    pub(super) fn new(
        mut nodes: Vec<NodeInfo>,
        mut endpoints: Vec<EndpointInfo>,
        unreadable: Vec<String>,
    ) -> Self {
        sort_nodes(&mut nodes);
        sort_endpoints(&mut endpoints);
        Self { nodes, endpoints, unreadable }
    }

    /// Returns the nodes, as [`Graph::nodes`](crate::graph::Graph::nodes) lists them.
    pub fn nodes(&self) -> &[NodeInfo] {
        &self.nodes
    }

    /// Returns all endpoints, sorted by kind, name and node.
    pub fn endpoints(&self) -> &[EndpointInfo] {
        &self.endpoints
    }

    /// Returns the topics that have a publisher or a subscription, with their types, sorted by
    /// name.
    pub fn topics(&self) -> Vec<NameAndTypes> {
        topics(&self.endpoints)
    }

    /// Returns the services that have a server or a client, with their types, sorted by name.
    pub fn services(&self) -> Vec<NameAndTypes> {
        services(&self.endpoints)
    }

    /// Returns the actions that have a server or a client, with their types, sorted by name. As
    /// ROS 2 does, it recognizes an action by its feedback topic.
    pub fn actions(&self) -> Vec<NameAndTypes> {
        actions(&self.endpoints)
    }

    /// Returns the endpoints of the nodes with that full name, sorted by kind and name.
    pub fn endpoints_of_node(&self, node: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.endpoints.iter().filter(move |end| end.node == node)
    }

    /// Returns the publishers on that topic, sorted by node. They may have other types than its
    /// subscriptions.
    pub fn publishers(&self, topic: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.named(EndpointKind::Publisher, topic)
    }

    /// Returns the subscriptions to that topic, sorted by node.
    pub fn subscriptions(&self, topic: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.named(EndpointKind::Subscription, topic)
    }

    /// Returns the servers of that service, sorted by node.
    pub fn servers(&self, service: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.named(EndpointKind::Server, service)
    }

    /// Returns the clients of that service, sorted by node.
    pub fn clients(&self, service: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.named(EndpointKind::Client, service)
    }

    /// Returns a sentence for each participant and endpoint that the lists leave out, because this
    /// program may not read it, or it belongs to another version of Sinew. Empty for the snapshot
    /// of a [`Graph`](crate::graph::Graph): its context logs them.
    pub fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    fn named(&self, kind: EndpointKind, name: &str) -> impl Iterator<Item = &EndpointInfo> {
        self.endpoints.iter().filter(move |end| end.kind == kind && end.name == name)
    }
}

/// Sorts nodes by name, and leaves each node of the network in once: a gateway's context and its
/// observer both announce it.
pub(super) fn sort_nodes(nodes: &mut Vec<NodeInfo>) {
    nodes.sort_unstable_by(|one, other| (&one.name, &one.place).cmp(&(&other.name, &other.place)));
    nodes.dedup_by(|one, other| one == other && one.place.is_network());
}

/// Sorts endpoints by kind, name and node, and leaves each server of the network in once: a
/// gateway's context and its observer both announce it.
pub(super) fn sort_endpoints(all: &mut Vec<EndpointInfo>) {
    all.sort_by(|one, other| order(one).cmp(&order(other)));
    all.dedup_by(|one, other| {
        one.kind == EndpointKind::Server
            && one.place.is_network()
            && (&one.node, &one.name, &one.type_name) == (&other.node, &other.name, &other.type_name)
            && one.place == other.place
    });
}

/// The order of lists. The gid comes last: it differs, and means nothing.
fn order(end: &EndpointInfo) -> impl Ord + '_ {
    (end.kind, &end.name, &end.node, &end.type_name, &end.place, end.gid)
}

pub(super) fn topics(all: &[EndpointInfo]) -> Vec<NameAndTypes> {
    named(of(all, [EndpointKind::Publisher, EndpointKind::Subscription]).map(named_by))
}

pub(super) fn services(all: &[EndpointInfo]) -> Vec<NameAndTypes> {
    named(of(all, [EndpointKind::Server, EndpointKind::Client]).map(named_by))
}

pub(super) fn actions(all: &[EndpointInfo]) -> Vec<NameAndTypes> {
    let ends = of(all, [EndpointKind::Publisher, EndpointKind::Subscription]);
    named(ends.filter_map(|end| {
        let name = end.name.strip_suffix("/_action/feedback")?;
        Some((name, end.type_name.strip_suffix("_FeedbackMessage")?))
    }))
}

fn of(all: &[EndpointInfo], kinds: [EndpointKind; 2]) -> impl Iterator<Item = &EndpointInfo> {
    all.iter().filter(move |end| kinds.contains(&end.kind))
}

fn named_by(end: &EndpointInfo) -> (&str, &str) {
    (&end.name, &end.type_name)
}

/// Gathers the types of each name.
fn named<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<NameAndTypes> {
    let mut names = BTreeMap::<&str, BTreeSet<&str>>::new();
    all.for_each(|(name, type_name)| _ = names.entry(name).or_default().insert(type_name));
    let named = names.into_iter().map(|(name, types)| NameAndTypes {
        name: name.to_owned(),
        types: types.into_iter().map(str::to_owned).collect(),
    });
    named.collect()
}
