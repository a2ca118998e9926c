//! `sinew node info`, `sinew topic info`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use sinew::graph::EndpointKind;
use sinew::msg::TypeHash;
use sinew_shm::Counter;

use super::carried::{NOT_CARRIED, Taken};
use super::list::{SERVICES, TOPICS};
use super::mismatch::{self, Pair};
use super::track::{dropped, is_by_reference};
use super::{qos, timers};
use crate::cli::tools::{InfoOptions, TopicInfoOptions};
use crate::error::Error;
use crate::gateways::{NetworkService, NetworkTopic, ObservedGateway};
use crate::observed::{Observed, ObservedDomain, ObservedEndpoint, ObservedNode, path, process_of, text_of};
use crate::output::{print, print_json};
use crate::similar;

/// The sections of `ros2 node info`, with their names in JSON.
const SECTIONS: [(EndpointKind, &str, &str); 4] = [
    (EndpointKind::Subscription, "Subscribers", "subscribers"),
    (EndpointKind::Publisher, "Publishers", "publishers"),
    (EndpointKind::Server, "Service Servers", "service_servers"),
    (EndpointKind::Client, "Service Clients", "service_clients"),
];

/// The counters, with their names in JSON.
const COUNTERS: [(Counter, &str); 15] = [
    (Counter::Messages, "messages"),
    (Counter::Bytes, "bytes"),
    (Counter::Taken, "taken"),
    (Counter::Overwritten, "overwritten"),
    (Counter::Refused, "refused"),
    (Counter::Expired, "expired"),
    (Counter::Missed, "missed"),
    (Counter::Waiting, "waiting"),
    (Counter::Matched, "matched"),
    (Counter::Copies, "copies"),
    (Counter::Encodings, "encodings"),
    (Counter::Decodings, "decodings"),
    (Counter::Encoded, "encoded"),
    (Counter::Last, "last_published_steady_ns"),
    (Counter::Latencies, "latencies_sum_ns"),
];

/// Runs the equivalent of `ros2 node info`. Nodes of the same name are shown one after the other.
pub(super) fn node(options: &InfoOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let snapshot = observed.look()?;
    let mut nodes: Vec<_> = snapshot.nodes.iter().filter(|node| node.info.name == options.name).collect();
    nodes.sort_by_key(|node| node.peer.id());
    if nodes.is_empty() {
        let names = snapshot.nodes.iter().map(|node| node.info.name.as_str());
        let similar = similar::to(&options.name, names);
        let (name, domain) = (options.name.clone(), observed.domain());
        return Err(Error::NotFound { what: "node", name, domain, similar });
    }
    // Within a process, endpoints don't say which of several nodes with the same name they belong
    // to.
    nodes.dedup_by_key(|node| node.peer.id());
    if options.json {
        return print_json(&nodes.iter().map(|node| node_json(node, &snapshot)).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for node in nodes {
        let _ = writeln!(text, "{}", node.info.name); // writing to a string can't fail
        let _ = writeln!(text, "  Process: {}", text_of(&node.info.place));
        for held in snapshot.held(&node.peer) {
            let _ = writeln!(text, "  Now {}", held.text());
        }
        for (kind, heading, _) in SECTIONS {
            let _ = writeln!(text, "  {heading}:");
            for ((name, type_name), waiting) in ends_of(node, kind, &snapshot) {
                let waiting = if waiting > 0 { format!(" ({waiting} waiting)") } else { String::new() };
                let _ = writeln!(text, "    {name}: {type_name}{waiting}");
            }
        }
        let timers = timers::of(node, &snapshot);
        if !timers.is_empty() {
            let _ = writeln!(text, "  Timers:");
        }
        text.extend(timers.iter().map(|timer| format!("    {}\n", timer.text())));
    }
    print(&text)
}

fn node_json(node: &ObservedNode, snapshot: &ObservedDomain) -> Value {
    let (pid, program) = process_of(&node.info.place);
    let mut value = json!({
        "name": node.info.name, "pid": pid, "program": program, "path": path(&node.info.place),
        "in_callbacks": snapshot.held(&node.peer),
    });
    for (kind, _, section) in SECTIONS {
        let ends = ends_of(node, kind, snapshot);
        let one = |((name, type_name), waiting): (&(&str, &str), &u64)| {
            let mut end = json!({"name": name, "type": type_name});
            if matches!(kind, EndpointKind::Subscription | EndpointKind::Server) {
                end["waiting"] = json!(waiting);
            }
            end
        };
        value[section] = ends.iter().map(one).collect();
    }
    value["timers"] = json!(timers::of(node, snapshot));
    value
}

/// Returns the names and types of a node's endpoints of one kind, sorted, with the number of
/// waiting messages.
fn ends_of<'a>(
    node: &ObservedNode,
    kind: EndpointKind,
    snapshot: &'a ObservedDomain,
) -> BTreeMap<(&'a str, &'a str), u64> {
    let mut ends = BTreeMap::new();
    for end in snapshot.of(kind).filter(|end| node.has(end)) {
        let waiting = snapshot.waiting(end).all();
        *ends.entry((end.info.name.as_str(), end.info.type_name.as_str())).or_default() += waiting;
    }
    ends
}

/// Runs the equivalent of `ros2 topic info`.
pub(super) fn topic(options: &TopicInfoOptions) -> Result<(), Error> {
    let TopicInfoOptions { verbose, info } = options;
    let mut observed = Observed::open(&info.place)?;
    let snapshot = observed.look()?;
    let mut topics = snapshot.topics();
    let Some(mut ends) = topics.remove(info.name.as_str()) else {
        return Err(TOPICS.missing(&observed, snapshot.topics().into_keys(), &info.name));
    };
    for side in &mut ends.0 {
        side.sort_by_key(|end| (&end.info.node, end.info.gid));
    }
    let types = ends.types();
    let pairs = mismatch::pairs_of(&ends.0);
    let taken = Taken::of(&snapshot);
    let is_it = |topic: &&NetworkTopic| topic.name == info.name;
    let [publishers, subscriptions] = &ends.0;
    if info.json {
        let all = |ends: &[&ObservedEndpoint]| {
            ends.iter().map(|end| end_json(end, &snapshot, &taken)).collect::<Vec<_>>()
        };
        let of = |gateway: &ObservedGateway| {
            gateway.topics.iter().filter(is_it).map(|topic| network_json(gateway, topic)).collect::<Vec<_>>()
        };
        let topics_there: Vec<_> = ObservedGateway::all(&snapshot).iter().flat_map(of).collect();
        return print_json(&json!({
            "name": info.name, "types": types,
            "publishers": all(publishers), "subscriptions": all(subscriptions),
            "incompatible": pairs.iter().map(Pair::json).collect::<Vec<_>>(),
            "network": topics_there,
        }));
    }
    let gap = if *verbose { "\n" } else { "" };
    let mut text = format!("Type: {}\n{gap}", types.join(", "));
    for (heading, side) in [("Publisher", publishers), ("Subscription", subscriptions)] {
        let _ = write!(text, "{heading} count: {}\n{gap}", side.len()); // can't fail
        if *verbose {
            text.extend(side.iter().map(|end| end_text(end, &snapshot, &pairs, &taken)));
        }
    }
    if *verbose {
        for gateway in &ObservedGateway::all(&snapshot) {
            let topics = gateway.topics.iter().filter(is_it);
            text.extend(topics.map(|topic| network_text(gateway, &topic.type_name, &topic.totals())));
        }
    } else {
        for pair in &pairs {
            let why = pair.towards(pair.sender).unwrap_or_default();
            let _ = writeln!(text, "{} is {why}", pair.sender.info.node);
        }
        text.extend(subscriptions.iter().filter_map(|end| held_up(end, &snapshot)));
    }
    text += &mismatch::tolerated(&ends.0);
    if !verbose {
        text.extend(publishers.iter().filter(|end| !taken.is_carried(end)).map(|end| {
            format!("{} of the network is {NOT_CARRIED} (sinew topic hz and echo subscribe)\n", end.info.node)
        }));
    }
    print(&text)
}

/// Runs the equivalent of `ros2 service info`; verbose, with the counters of each endpoint.
pub(super) fn service(options: &TopicInfoOptions) -> Result<(), Error> {
    let TopicInfoOptions { verbose, info } = options;
    let mut observed = Observed::open(&info.place)?;
    let snapshot = observed.look()?;
    let mut services = snapshot.ends(SERVICES.kinds);
    let Some(mut ends) = services.remove(info.name.as_str()) else {
        return Err(SERVICES.missing(&observed, snapshot.ends(SERVICES.kinds).into_keys(), &info.name));
    };
    for side in &mut ends.0 {
        side.sort_by_key(|end| (&end.info.node, end.info.gid));
    }
    let types = ends.types();
    let [servers, clients] = &ends.0;
    let is_it = |service: &&NetworkService| service.name == info.name;
    if info.json {
        let taken = Taken::of(&snapshot);
        let all = |ends: &[&ObservedEndpoint]| {
            ends.iter().map(|end| end_json(end, &snapshot, &taken)).collect::<Vec<_>>()
        };
        let of = |gateway: &ObservedGateway| {
            gateway
                .services
                .iter()
                .filter(is_it)
                .map(|service| network_json(gateway, service))
                .collect::<Vec<_>>()
        };
        let services_there: Vec<_> = ObservedGateway::all(&snapshot).iter().flat_map(of).collect();
        return print_json(&json!({
            "name": info.name, "types": types, "servers": all(servers), "clients": all(clients),
            "network": services_there,
        }));
    }
    let mut text = format!(
        "Type: {}\nClients count: {}\nServices count: {}\n",
        types.join(", "),
        clients.len(),
        servers.len()
    );
    for end in servers.iter().chain(clients).filter(|_| *verbose) {
        text += &service_text(end, &snapshot);
    }
    if *verbose {
        for gateway in &ObservedGateway::all(&snapshot) {
            let services = gateway.services.iter().filter(is_it);
            text.extend(services.map(|service| {
                format!("\n{}", network_text(gateway, &service.type_name, &service.totals()))
            }));
        }
    } else {
        text.extend(servers.iter().filter_map(|end| held_up(end, &snapshot)));
    }
    print(&text)
}

/// Returns a gateway's counters for one topic or service as JSON.
fn network_json(gateway: &ObservedGateway, totals: &impl Serialize) -> Value {
    json!({"pid": gateway.pid, "program": gateway.program, "totals": totals})
}

/// Returns the same as text.
fn network_text(gateway: &ObservedGateway, type_name: &str, totals: &[(&str, u64)]) -> String {
    let ObservedGateway { pid, program, .. } = gateway;
    let totals: String = totals.iter().map(|(what, count)| format!("  {what}: {count}\n")).collect();
    format!("On the network, by {pid} {program}: {type_name}\n{totals}")
}

/// Describes a server or client with its counters.
fn service_text(end: &ObservedEndpoint, snapshot: &ObservedDomain) -> String {
    let ObservedEndpoint { peer, info, .. } = end;
    let counts = end.counts();
    let of = |counter| counts.get(counter);
    let waiting = snapshot.waiting(end);
    let (kind, counters) = if info.kind == EndpointKind::Server {
        let counters = vec![
            ("Requests", of(Counter::Messages)),
            ("Taken", of(Counter::Taken)),
            ("Waiting", waiting.fetched),
            ("Not fetched yet", waiting.unread),
            ("Refused", of(Counter::Refused)),
            ("Clients", of(Counter::Matched)),
        ];
        ("Server", counters)
    } else {
        let counters = vec![
            ("Calls", of(Counter::Messages)),
            ("Answered", of(Counter::Taken)),
            ("Failed", of(Counter::Refused)),
            ("Waiting", of(Counter::Waiting)),
            ("Servers", of(Counter::Matched)),
        ];
        ("Client", counters)
    };
    let held: String = snapshot.held(peer).iter().map(|held| format!("  Now {}\n", held.text())).collect();
    let counters: String = counters.iter().map(|(what, count)| format!("  {what}: {count}\n")).collect();
    format!("\n{kind} of {}\n  Process: {}\n{held}{counters}", info.node, text_of(&info.place))
}

/// Describes the work that waits for a subscription or a server if its process is in a long
/// callback, or hasn't fetched it.
fn held_up(end: &ObservedEndpoint, snapshot: &ObservedDomain) -> Option<String> {
    let ObservedEndpoint { peer, info, .. } = end;
    let (waiting, held) = (snapshot.waiting(end), snapshot.held(peer));
    let (count, why) = match held.iter().max_by_key(|held| held.nanoseconds) {
        Some(held) => (waiting.all(), format!("is {}", held.text())),
        // Fetched messages may be kept on purpose, to be taken when they are needed.
        None => (waiting.unread, "has yet to fetch that".to_owned()),
    };
    let (node, (pid, program)) = (&info.node, process_of(&info.place));
    (count > 0).then(|| format!("{count} waiting for {node}: process {pid} ({program}) {why}\n"))
}

/// Describes one endpoint as `ros2 topic info --verbose` does, with its counters.
fn end_text(
    end: &ObservedEndpoint,
    snapshot: &ObservedDomain,
    pairs: &[Pair<'_>],
    taken: &Taken<'_>,
) -> String {
    let ObservedEndpoint { peer, info, .. } = end;
    let counts = end.counts();
    let (namespace, name) = split(&info.node);
    let is_publisher = info.kind == EndpointKind::Publisher;
    let gid = info.gid.0.map(|byte| format!("{byte:02x}")).join(".");
    let of = |counter| counts.get(counter);
    let counters = if is_publisher {
        vec![
            ("Published", of(Counter::Messages)),
            ("Bytes", of(Counter::Bytes)),
            ("Retained", of(Counter::Waiting)),
            ("Matched", of(Counter::Matched)),
            ("Copies", of(Counter::Copies)),
            ("Encodings", of(Counter::Encodings)),
            ("Decodings", of(Counter::Decodings)),
            ("Drafts", of(Counter::Encoded)),
            ("Refused", of(Counter::Refused)),
        ]
    } else {
        vec![
            ("Received", of(Counter::Messages)),
            ("Taken", of(Counter::Taken)),
            ("Waiting", of(Counter::Waiting)),
            ("Not fetched yet", snapshot.waiting(end).unread),
            ("Matched", of(Counter::Matched)),
            ("Copies", of(Counter::Copies)),
            ("Decodings", of(Counter::Decodings)),
            ("Views", of(Counter::Encoded)),
            ("Dropped", dropped(&counts)),
            ("  for newer ones", of(Counter::Overwritten)),
            ("  history full", of(Counter::Refused)),
            ("  lifespan over", of(Counter::Expired)),
            ("  lost on the way", of(Counter::Missed)),
        ]
    };
    let stay = is_publisher && is_by_reference(of(Counter::Messages), of(Counter::Bytes), &counts);
    let is_carried = !is_publisher || taken.is_carried(end);
    let note = |what: &str| match what {
        "Published" if !is_carried => format!(" ({NOT_CARRIED})"),
        "Bytes" if stay => " (the messages move by reference, none left its process)".to_owned(),
        _ => String::new(),
    };
    let counters: String = counters
        .iter()
        .map(|(what, count)| {
            format!(
                "  {what}: {count}{}
",
                note(what)
            )
        })
        .collect();
    let incompatible = pairs.iter().filter_map(|pair| pair.towards(end));
    let incompatible: String = incompatible.map(|why| format!("{why}\n")).collect();
    let held: String = snapshot.held(peer).iter().map(|held| format!("Now {}\n", held.text())).collect();
    format!(
        "Node name: {name}\nNode namespace: {namespace}\nProcess: {}\n{held}Topic type: {}\nTopic type hash: {}\n\
         Endpoint type: {}\nGID: {gid}\n{}Counters:\n{counters}{incompatible}\n",
        text_of(&info.place),
        info.type_name,
        hash_text(info.type_hash),
        if is_publisher { "PUBLISHER" } else { "SUBSCRIPTION" },
        qos::text(&info.qos),
    )
}

fn end_json(end: &ObservedEndpoint, snapshot: &ObservedDomain, taken: &Taken<'_>) -> Value {
    let ObservedEndpoint { peer, info, .. } = end;
    let counts = end.counts();
    let counters: serde_json::Map<_, _> =
        COUNTERS.iter().map(|&(counter, name)| (name.to_owned(), json!(counts.get(counter)))).collect();
    let used = counts.latencies.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    let is_carried = info.kind != EndpointKind::Publisher || taken.is_carried(end);
    let (pid, program) = process_of(&info.place);
    json!({
        "node": info.node, "pid": pid, "program": program, "path": path(&info.place), "carried": is_carried,
        "in_callbacks": snapshot.held(peer), "unread": snapshot.waiting(end).unread, "type": info.type_name,
        "type_hash": hash_text(info.type_hash), "gid": info.gid.0.map(|byte| format!("{byte:02x}")).concat(),
        "qos": qos::json(&info.qos), "counters": counters, "latencies_by_power_of_two_ns": counts.latencies[..used],
    })
}

/// Returns the hash of a type in ROS 2's notation.
fn hash_text(hash: Option<TypeHash>) -> String {
    hash.map_or_else(|| "INVALID".to_owned(), |hash| hash.to_string()) // as in `ros2`
}

/// Splits a node's name into its namespace and name.
fn split(node: &str) -> (&str, &str) {
    match node.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(both) => both,
        None => ("/", node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_a_namespace() {
        assert_eq!(split("/talker"), ("/", "talker"));
        assert_eq!(split("/a/b/talker"), ("/a/b", "talker"));
        assert_eq!(split("talker"), ("/", "talker"));
    }
}
