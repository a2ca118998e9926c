//! The graph of nodes, topics and services, in any format.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::Value;
use sinew::graph::EndpointKind;
use sinew::names::is_hidden;

use crate::graph::one_sided::{self, Named, OneSided};
use crate::graph::{Held, Track};
use crate::observed::{EndpointId, ObservedDomain};

/// The graph of nodes, topics and services.
#[derive(Debug, Default, Serialize)]
pub(super) struct GraphPicture {
    pub(super) domain: u32,
    pub(super) processes: Vec<PicturedProcess>,
    pub(super) nodes: Vec<Node>,
    pub(super) topics: Vec<Channel>,
    pub(super) services: Vec<Channel>,
    /// One-sided names, also of actions.
    pub(super) one_sided: Vec<Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct PicturedProcess {
    pub(super) pid: u64,
    pub(super) program: String,
    /// The long-running callbacks of its threads.
    pub(super) in_callbacks: Vec<Held>,
}

/// A node. Several of one name in a process count as one.
#[derive(Debug, Serialize)]
pub(super) struct Node {
    pub(super) name: String,
    /// Index of the process.
    pub(super) process: usize,
}

/// A topic or service.
#[derive(Debug, Serialize)]
pub(super) struct Channel {
    pub(super) name: String,
    pub(super) types: Vec<String>,
    /// The missing side: `publisher`, `subscription` or `server`.
    pub(super) missing: Option<&'static str>,
    /// Most likely a mistake: something waits for it, or a similar name lacks the other side.
    pub(super) is_suspicious: bool,
    /// From publishers or clients.
    pub(super) from: Vec<Line>,
    /// To subscriptions or servers.
    pub(super) to: Vec<Line>,
}

/// A line between a node and a topic or service.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    /// Index of the node.
    pub(super) node: usize,
    /// Messages or requests per second.
    pub(super) rate_hz: f64,
}

impl GraphPicture {
    pub(super) fn of(
        snapshot: &ObservedDomain,
        domain: u32,
        all: bool,
        tracks: &mut HashMap<EndpointId, Track>,
    ) -> Self {
        let mut picture = Self { domain, ..Self::default() };
        let processes: HashMap<u64, usize> =
            snapshot.processes.iter().enumerate().map(|(index, peer)| (peer.id(), index)).collect();
        for peer in &snapshot.processes {
            let in_callbacks = snapshot.held(peer);
            picture.processes.push(PicturedProcess {
                pid: peer.pid(),
                program: peer.program(),
                in_callbacks,
            });
        }
        let mut nodes = BTreeMap::new();
        let of_ends = snapshot.endpoints.iter().map(|end| (end.info.node.as_str(), end.peer.id()));
        let with_none = snapshot.nodes.iter().map(|node| (node.info.name.as_str(), node.peer.id()));
        for (name, peer) in of_ends.chain(with_none) {
            if all || !is_hidden(name) {
                nodes.entry((name, peer)).or_insert(0);
            }
        }
        for (index, ((name, peer), place)) in nodes.iter_mut().enumerate() {
            *place = index;
            let process = processes.get(peer).copied().unwrap_or(0);
            picture.nodes.push(Node { name: (*name).to_owned(), process });
        }
        let one_sided = one_sided::find(snapshot);
        let missing: BTreeMap<_, _> = one_sided.iter().map(|one| ((one.what, one.name), one)).collect();
        let mut channels = |kinds: [EndpointKind; 2], what: Named| {
            let mut found = Vec::new();
            for (name, ends) in snapshot.ends(kinds) {
                if !all && is_hidden(name) {
                    continue;
                }
                let mut sides = ends.0.each_ref().map(|side| {
                    let mut lines = BTreeMap::<usize, f64>::new();
                    for end in side {
                        let Some(&node) = nodes.get(&(end.info.node.as_str(), end.peer.id())) else {
                            continue;
                        };
                        let track = tracks.remove(&end.id());
                        let rate = track.map(|mut track| {
                            track.look(snapshot.at_ns, end.counts());
                            track.change().rate
                        });
                        *lines.entry(node).or_default() += rate.unwrap_or(0.0);
                    }
                    lines.into_iter().map(|(node, rate_hz)| Line { node, rate_hz }).collect()
                });
                // Requests go from clients to servers.
                if kinds[0] == EndpointKind::Server {
                    sides.reverse();
                }
                let [from, to] = sides;
                let one = missing.get(&(what, name));
                let missing = one.map(|one| one.missing());
                let is_suspicious = one.is_some_and(|one| one.is_suspicious() || !one.is_offered);
                let types = ends.types().into_iter().map(str::to_owned).collect();
                found.push(Channel { name: name.to_owned(), types, missing, is_suspicious, from, to });
            }
            found.retain(|channel: &Channel| !channel.from.is_empty() || !channel.to.is_empty());
            found
        };
        picture.topics = channels([EndpointKind::Publisher, EndpointKind::Subscription], Named::Topic);
        picture.services = channels([EndpointKind::Server, EndpointKind::Client], Named::Service);
        picture.one_sided = one_sided.iter().map(OneSided::json).collect();
        picture
    }

    /// Returns topics, then services; `true` marks services.
    pub(super) fn channels(&self) -> impl Iterator<Item = (&Channel, bool)> {
        let services = self.services.iter().map(|service| (service, true));
        self.topics.iter().map(|topic| (topic, false)).chain(services)
    }

    /// Returns "talker (4711)".
    pub(super) fn process_of(&self, node: &Node) -> String {
        self.processes
            .get(node.process)
            .map_or_else(String::new, |process| format!("{} ({})", process.program, process.pid))
    }
}
