//! The graph: nodes, topics and services, and their endpoints.

use crate::error::{raise, with_code};
use crate::message::described;
use crate::node::Node;
use crate::qos::{Parts, parts};
use crate::wait;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew::error::ErrorCode;
use sinew::graph::{EndpointInfo, EndpointKind, NameAndTypes};

type Named = Vec<(String, Vec<String>)>;

/// Node, type, hash, gid and QoS of an endpoint, and the number of its kind in ROS 2: 1 publisher,
/// 2 subscription.
type Endpoint = (String, String, Option<String>, Py<PyBytes>, Parts, u8);

fn named(all: Vec<NameAndTypes>, hidden: bool) -> Named {
    all.into_iter().filter(|one| hidden || !one.is_hidden()).map(|one| (one.name, one.types)).collect()
}

#[pyfunction]
pub(crate) fn topics(node: &Node) -> PyResult<Named> {
    Ok(named(node.get()?.graph().topics(), true))
}

#[pyfunction]
pub(crate) fn services(node: &Node) -> PyResult<Named> {
    Ok(named(node.get()?.graph().services(), true))
}

/// Returns the full names of all nodes.
#[pyfunction]
pub(crate) fn nodes(node: &Node) -> PyResult<Vec<String>> {
    Ok(node.get()?.graph().nodes().into_iter().map(|node| node.name).collect())
}

/// Returns the number of endpoints of a kind: "publishers", "subscriptions", "servers", "clients".
/// The name is resolved as the node's own.
#[pyfunction]
pub(crate) fn count(node: &Node, kind: &str, name: &str) -> PyResult<usize> {
    let graph = node.get()?.graph();
    Ok(match kind {
        "publishers" => graph.publisher_count(&topic(node, name)?),
        "subscriptions" => graph.subscription_count(&topic(node, name)?),
        "servers" => graph.server_count(&service(node, name)?),
        _ => graph.client_count(&service(node, name)?),
    })
}

#[pyfunction]
pub(crate) fn resolve_topic(node: &Node, name: &str) -> PyResult<String> {
    topic(node, name)
}

#[pyfunction]
pub(crate) fn resolve_service(node: &Node, name: &str) -> PyResult<String> {
    service(node, name)
}

/// Raises `InvalidNameError` for a name that no node can have.
#[pyfunction]
pub(crate) fn check_node_name(name: &str) -> PyResult<()> {
    sinew::names::check_node_name(name).map_err(|error| with_code(ErrorCode::InvalidName, error.to_string()))
}

#[pyfunction]
pub(crate) fn check_namespace(namespace: &str) -> PyResult<()> {
    let checked = sinew::names::check_namespace(namespace);
    checked.map_err(|error| with_code(ErrorCode::InvalidName, error.to_string()))
}

fn topic(node: &Node, name: &str) -> PyResult<String> {
    node.get()?.resolve_topic_name(name).map_err(raise)
}

fn service(node: &Node, name: &str) -> PyResult<String> {
    node.get()?.resolve_service_name(name).map_err(raise)
}

/// Returns the publishers or subscriptions of a topic.
#[pyfunction]
pub(crate) fn endpoints(py: Python<'_>, node: &Node, kind: &str, name: &str) -> PyResult<Vec<Endpoint>> {
    let (graph, name) = (node.get()?.graph(), topic(node, name)?);
    let all = if kind == "publishers" { graph.publishers(&name) } else { graph.subscriptions(&name) };
    Ok(all.into_iter().map(|one| endpoint(py, one)).collect())
}

fn endpoint(py: Python<'_>, of: EndpointInfo) -> Endpoint {
    let kind = match of.kind {
        EndpointKind::Publisher => 1,
        EndpointKind::Subscription => 2,
        _ => 0,
    };
    let gid = PyBytes::new(py, &of.gid.0).unbind();
    (of.node, of.type_name, of.type_hash.map(|hash| hash.to_string()), gid, parts(&of.qos), kind)
}

/// Returns the names and types of a node's endpoints of a kind, as in [`count`].
#[pyfunction]
pub(crate) fn of_node(node: &Node, full_name: &str, kind: &str) -> PyResult<Named> {
    let wanted = match kind {
        "publishers" => EndpointKind::Publisher,
        "subscriptions" => EndpointKind::Subscription,
        "servers" => EndpointKind::Server,
        _ => EndpointKind::Client,
    };
    let mut all = Named::new();
    for one in node.get()?.graph().endpoints_of_node(full_name) {
        if one.kind != wanted {
            continue;
        }
        match all.iter_mut().find(|(name, _)| *name == one.name) {
            Some((_, types)) if types.contains(&one.type_name) => {}
            Some((_, types)) => types.push(one.type_name),
            None => all.push((one.name, vec![one.type_name])),
        }
    }
    all.sort();
    Ok(all)
}

/// Returns the class of the messages of a topic, as another process describes their type; `None` if
/// no endpoint of the topic does.
#[pyfunction]
pub(crate) fn class_of_topic(py: Python<'_>, node: &Node, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let (graph, name) = (node.get()?.graph(), topic(node, name)?);
    let all = graph.publishers(&name).into_iter().chain(graph.subscriptions(&name));
    let found = wait::detached(py, || all.filter_map(|one| graph.description_of(&one)).next());
    found.map(|found| Ok(described(found)?.python(py)?.clone_ref(py).into_any())).transpose()
}

/// Waits until a node with this full name is there.
#[pyfunction]
#[pyo3(signature = (node, full_name, timeout=None))]
pub(crate) fn wait_for_node(
    py: Python<'_>,
    node: &Node,
    full_name: &str,
    timeout: Option<f64>,
) -> PyResult<bool> {
    let graph = node.get()?.graph();
    let is_there = |graph: &sinew::graph::Graph| graph.nodes().iter().any(|node| node.name == full_name);
    wait::sliced(py, &node.context, wait::end(timeout)?, |slice| graph.wait_until(slice, is_there))
}
