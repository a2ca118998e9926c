//! Nodes that a router knows and the gateway doesn't: a separate zenoh session asks the router.

use std::collections::BTreeMap;
use std::time::Duration;

use sinew_zenoh::config::process_environment;

use super::finding::Finding;
use crate::gateways::{Link, ObservedGateway, Role};
use crate::observed::Observed;
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};

/// Most routers that are tried.
const ROUTERS: usize = 8;

/// Longest wait for a router's answer, and for a gateway to learn of a node.
const PATIENCE: Duration = Duration::from_secs(3);

/// Returns the nodes that a router knows and the gateway doesn't: a router forwards nothing between
/// its peers.
pub(super) fn missing(gateway: &ObservedGateway, observed: &mut Observed, remedy: &str) -> Vec<Finding> {
    let routers = gateway.links.iter().filter(|link| link.role == Role::Router);
    let ask = |link: &Link| {
        sinew_zenoh::look::nodes(&process_environment, &link.address, observed.domain(), PATIENCE).ok()
    };
    // A router that can't be asked isn't the gateway's fault: the router may have opened the
    // connection.
    let Some(nodes) = routers.take(ROUTERS).find_map(ask) else { return Vec::new() };
    let mut sessions = BTreeMap::<String, Vec<String>>::new();
    for node in nodes.iter().filter(|node| node.session != gateway.session) {
        sessions.entry(node.session.clone()).or_default().push(node.full_node());
    }
    // New nodes may not have reached the gateway yet.
    let until = now_ns() + nanoseconds(PATIENCE);
    loop {
        let Ok(snapshot) = observed.look() else { return Vec::new() };
        let gateways = ObservedGateway::all(&snapshot);
        let now = gateways.iter().find(|now| now.session == gateway.session);
        let Some(now) = now else { return Vec::new() };
        sessions.retain(|id, _| now.sessions.iter().all(|known| known.id != *id));
        if sessions.is_empty() || now_ns() >= until {
            break;
        }
        sleep_until(now_ns() + nanoseconds(Duration::from_millis(50)));
    }
    let finding = |(id, nodes): (String, Vec<String>)| {
        let others = if nodes.len() > 3 { format!(" and {} more", nodes.len() - 3) } else { String::new() };
        let found = format!(
            "{}{others} (session {id}) is at the router, but not reached by the gateway, nor by others of the router's peers",
            nodes[..nodes.len().min(3)].join(", "),
        );
        Finding::wrong("peers", found, remedy)
    };
    sessions.into_iter().map(finding).collect()
}
