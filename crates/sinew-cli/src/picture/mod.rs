//! `sinew graph`: nodes, topics and services as a picture.

pub(crate) mod dot;
mod layout;
pub(crate) mod svg;

use std::collections::{BTreeMap, HashMap};
use std::fs;

use serde::Serialize;
use serde_json::Value;
use sinew::names::is_hidden;
use sinew_shm::EndpointKind;

use crate::cli::tools::{GraphFormat, GraphOptions};
use crate::error::Error;
use crate::graph::one_sided::{self, Named, OneSided};
use crate::graph::{Held, Track};
use crate::observed::{EndpointId, Observed, ObservedDomain};
use crate::output;
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};

/// The graph of nodes, topics and services.
#[derive(Debug, Default, Serialize)]
struct GraphPicture {
    domain: u32,
    processes: Vec<PicturedProcess>,
    nodes: Vec<Node>,
    topics: Vec<Channel>,
    services: Vec<Channel>,
    /// One-sided names, also of actions.
    one_sided: Vec<Value>,
}

#[derive(Debug, Serialize)]
struct PicturedProcess {
    pid: u64,
    program: String,
    /// The long-running callbacks of its threads.
    in_callbacks: Vec<Held>,
}

/// A node. Several of one name in a process count as one.
#[derive(Debug, Serialize)]
struct Node {
    name: String,
    /// Index of the process.
    process: usize,
}

/// A topic or service.
#[derive(Debug, Serialize)]
struct Channel {
    name: String,
    types: Vec<String>,
    /// The missing side: `publisher`, `subscription` or `server`.
    missing: Option<&'static str>,
    /// Most likely a mistake: something waits for it, or a similar name lacks the other side.
    is_suspicious: bool,
    /// From publishers or clients.
    from: Vec<Line>,
    /// To subscriptions or servers.
    to: Vec<Line>,
}

/// A line between a node and a topic or service.
#[derive(Debug, Serialize)]
struct Line {
    /// Index of the node.
    node: usize,
    /// Messages or requests per second.
    rate_hz: f64,
}

/// Draws the domain.
pub(crate) fn run(options: &GraphOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let first = observed.look()?;
    let mut tracks: HashMap<EndpointId, Track> = HashMap::new();
    for end in &first.endpoints {
        tracks.insert(end.id(), Track::new(1, first.at_ns, end.counts()));
    }
    sleep_until(now_ns() + nanoseconds(options.interval));
    let snapshot = observed.look()?;
    let picture = GraphPicture::of(&snapshot, observed.domain(), options.all, &mut tracks);
    let text = match options.format() {
        GraphFormat::Json => output::json(&picture)?,
        GraphFormat::Dot => dot::text(&picture),
        GraphFormat::Svg => svg::text(&picture),
    };
    match &options.output {
        Some(path) => fs::write(path, text).map_err(|source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        }),
        None => output::print(&text),
    }
}

impl GraphPicture {
    fn of(
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
        for end in &snapshot.endpoints {
            let name = end.entity.node.as_str();
            if all || !is_hidden(name) {
                nodes.entry((name, end.peer.id())).or_insert(0);
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
                        let Some(&node) = nodes.get(&(end.entity.node.as_str(), end.peer.id())) else {
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
    fn channels(&self) -> impl Iterator<Item = (&Channel, bool)> {
        let services = self.services.iter().map(|service| (service, true));
        self.topics.iter().map(|topic| (topic, false)).chain(services)
    }

    /// Returns "talker (4711)".
    fn process_of(&self, node: &Node) -> String {
        self.processes
            .get(node.process)
            .map_or_else(String::new, |process| format!("{} ({})", process.program, process.pid))
    }
}

/// Returns "10 Hz"; an empty text if nothing was sent.
fn rate(hz: f64) -> String {
    match hz {
        hz if hz < 0.05 => String::new(),
        hz if hz < 9.95 => format!("{hz:.1} Hz"),
        hz if hz < 9_999.5 => format!("{hz:.0} Hz"),
        hz => format!("{:.0} kHz", hz / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a camera, a filter that also serves, and a viewer that also calls, in two processes.
    pub(super) fn robot() -> GraphPicture {
        let process = |pid, program: &str, in_callbacks| PicturedProcess {
            pid,
            program: program.to_owned(),
            in_callbacks,
        };
        let node = |name: &str, process| Node { name: name.to_owned(), process };
        let line = |node, rate_hz| Line { node, rate_hz };
        let channel = |name: &str, type_name: &str, from, to| Channel {
            name: name.to_owned(),
            types: vec![type_name.to_owned()],
            missing: None,
            is_suspicious: false,
            from,
            to,
        };
        GraphPicture {
            domain: 0,
            processes: vec![
                process(10, "robot", Vec::new()),
                process(11, "viewer", vec![Held::of("/view<er>", "the callback of /edges", 4_200_000_000)]),
            ],
            nodes: vec![node("/camera", 0), node("/filter", 0), node("/view<er>", 1)],
            topics: vec![
                channel("/edges", "demo/msg/Image", vec![line(1, 29.7)], vec![line(2, 29.7)]),
                channel("/frames", "demo/msg/Image", vec![line(0, 30.0)], vec![line(1, 30.0), line(2, 0.0)]),
            ],
            services: vec![channel(
                "/filter/settings",
                "demo/srv/Set",
                vec![line(2, 1.0)],
                vec![line(1, 1.0)],
            )],
            one_sided: Vec::new(),
        }
    }

    #[test]
    fn rates_are_short() {
        let told = [0.0, 0.5, 29.97, 1234.5, 250_000.0].map(rate);
        assert_eq!(told, ["", "0.5 Hz", "30 Hz", "1234 Hz", "250 kHz"]);
    }
}
