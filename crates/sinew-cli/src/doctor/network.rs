//! Checks the gateway of the domain: whether it is on the network, reaches the other sessions
//! there, and can talk to them.

use std::collections::BTreeSet;

use sinew::graph::EndpointKind;

use super::finding::Finding;
use super::knock::{Listener, knock};
use crate::cli::tools::Where;
use crate::gateways::{Link, NetworkSession, ObservedGateway, Role};
use crate::observed::{Observed, ObservedDomain};
use sinew_bench::units::time;

/// Clocks that differ by no more than this count as equal, in nanoseconds.
const APART: i64 = 1_000_000_000;

/// Most endpoints that are tried if no router is found.
const ENDPOINTS: usize = 8;

/// Checks the gateways: nothing, if there are none.
pub(super) fn check(place: &Where) -> Vec<Finding> {
    let Ok(mut observed) = Observed::open_quietly(place) else { return Vec::new() };
    let Ok(snapshot) = observed.look() else { return Vec::new() };
    let mut findings = Vec::new();
    let gateways = ObservedGateway::all(&snapshot);
    let idle = if gateways.is_empty() { Vec::new() } else { super::idle::gateways(place, &mut observed) };
    for gateway in &gateways {
        if idle.contains(&gateway.peer.id()) {
            findings.push(stopped(gateway));
            continue; // its own reports are equally old
        }
        findings.push(connected(gateway));
        findings.extend(gateway.sessions.iter().filter_map(reached));
        #[cfg(feature = "gateway")]
        findings.extend(super::router::missing(gateway, &mut observed, REACH));
        findings.extend(gateway.sessions.iter().filter_map(|session| clock(session, &gateway.links)));
        findings.extend(old(gateway, &snapshot));
        findings.extend(others(gateway, observed.domain()));
    }
    findings
}

/// Reports that the gateway does nothing for its remote endpoints, and keeps other gateways from
/// leading.
fn stopped(gateway: &ObservedGateway) -> Finding {
    let ObservedGateway { pid, program, session, .. } = gateway;
    let found = format!(
        "process {pid} ({program}) leads, as session {session}, but is not at work: it hasn't heard a knock for {} s",
        super::idle::PATIENCE.as_secs()
    );
    let remedy = format!(
        "kill -CONT {pid} lets one go on that is stopped (state T in ps); else kill -9 {pid}: another gateway takes over"
    );
    Finding::wrong("gateway", found, remedy)
}

fn connected(gateway: &ObservedGateway) -> Finding {
    let check = "gateway";
    let ObservedGateway { pid, program, session, connects_to, .. } = gateway;
    let leads = format!("process {pid} ({program}) leads, as session {session}");
    let lacks_router = gateway.wants_router && gateway.count(Role::Router) == 0;
    let is_alone = gateway.links.is_empty() && !connects_to.is_empty();
    if !lacks_router && !is_alone {
        return Finding::fine(check, format!("{leads}: {}", gateway.connections()));
    }
    let endpoints: Vec<_> = connects_to.split(',').take(ENDPOINTS).collect();
    let listeners: Vec<_> =
        endpoints.iter().filter_map(|endpoint| Some((endpoint, knock(endpoint)?))).collect();
    let why: Vec<_> = match &listeners[..] {
        [(_, only)] => vec![only.to_string()],
        several => several.iter().map(|(endpoint, one)| format!("{endpoint}: {one}")).collect(),
    };
    // An endpoint with an unusable listener is most likely the intended one.
    let listens = |(_, one): &&(&&str, Listener)| !matches!(one, Listener::Nothing(_));
    let first = listeners.iter().find(listens).or(listeners.first());
    let remedy =
        first.map_or("see that one is there, and that its certificates are right", |(_, one)| one.remedy());
    let what = if lacks_router { "no router" } else { "no session" };
    let found = format!("{leads}, and finds {what} at {connects_to}; {}", why.join("; "));
    Finding::wrong(check, found.trim_end_matches("; ").to_owned(), remedy)
}

const REACH: &str = "have one of the two reach the port on which the other listens (--listen tcp/[::]:7448), or send \
                     everything through the router: sinew gateway --client, or mode: \"client\" in that program's session config";

/// Reports a session that is announced, but can't be reached.
fn reached(session: &NetworkSession) -> Option<Finding> {
    // Received messages are better evidence than a missing answer.
    let is_silent = session.is_reached == Some(false) && session.heard == 0;
    is_silent.then(|| {
        let found = format!(
            "{} (session {}) is announced, but not reached: there is no link with it, and it answers nothing",
            session.who(),
            session.id
        );
        Finding::wrong("peers", found, REACH)
    })
}

/// Reports source times that can't be right.
fn clock(session: &NetworkSession, links: &[Link]) -> Option<Finding> {
    let behind = session.behind_ns.filter(|behind| behind.unsigned_abs() > APART.unsigned_abs())?;
    let link = links.iter().find(|link| link.session == session.id);
    let at = link.map(|link| format!(" at {}", link.address)).unwrap_or_default();
    let apart = time(behind.unsigned_abs() as f64);
    let why = match behind > 0 {
        true => format!(
            "{apart} after they were published: the clock of that host is behind, or the link is that slow"
        ),
        false => format!("{apart} before they were published: the clock of that host is ahead"),
    };
    let found = format!("messages of {}{at} come {why}", session.who());
    let remedy = "give both hosts one source of time (chrony, PTP): source times, and all that is computed of them, are wrong by that";
    Some(Finding::advice("clocks", found, remedy))
}

/// Messages of an old rmw_zenoh.
fn old(gateway: &ObservedGateway, snapshot: &ObservedDomain) -> Vec<Finding> {
    let topics =
        gateway.topics.iter().map(|topic| (&topic.name, topic.old_attachments, EndpointKind::Publisher));
    let services =
        gateway.services.iter().map(|service| (&service.name, service.old_attachments, EndpointKind::Client));
    let finding = |(name, count, kind): (&String, u64, EndpointKind)| {
        let ends = snapshot.of(kind).filter(|end| end.is_remote() && end.info.name == *name);
        let nodes: BTreeSet<_> = ends.map(|end| end.info.node.as_str()).collect();
        (count > 0).then(|| old_of(name, count, (kind, &nodes.into_iter().collect::<Vec<_>>())))
    };
    topics.chain(services).filter_map(finding).collect()
}

/// `nodes`: the nodes that may have sent them.
fn old_of(name: &str, count: u64, (kind, nodes): (EndpointKind, &[&str])) -> Finding {
    let (whose, what) = match kind {
        EndpointKind::Publisher => ("publishers", "messages"),
        _ => ("clients", "requests"),
    };
    let of = match nodes {
        [] => String::new(),
        [one] => format!(" of {one}"),
        several => format!(" of one of its {whose} ({})", several.join(", ")),
    };
    let found = format!(
        "{name}: {count} {what}{of} have an attachment as rmw_zenoh wrote it before April 2025, and are left out"
    );
    let remedy =
        "update rmw_zenoh there (ros-DISTRO-rmw-zenoh-cpp): its newer releases don't understand it, either";
    Finding::wrong("attachments", found, remedy)
}

/// Nodes of other domains on the network, and tokens that couldn't be read.
fn others(gateway: &ObservedGateway, domain: u32) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some((other, nodes)) = gateway.other_domain.filter(|_| gateway.sessions.is_empty()) {
        let are = if nodes == 1 { "one is".to_owned() } else { format!("{nodes} are") };
        let found = format!("no node of domain {domain} is on the network, but {are} of domain {other}");
        let remedy = "if they are to meet, give both the same ROS_DOMAIN_ID (or SINEW_DOMAIN_ID, --domain)";
        findings.push(Finding::advice("domains", found, remedy));
    }
    if gateway.garbage > 0 {
        let found = format!(
            "{} tokens of the network made no sense: what they tell of isn't seen here",
            gateway.garbage
        );
        let remedy = "the gateway's log has the first one; programs there are of another version of rmw_zenoh, perhaps";
        findings.push(Finding::advice("tokens", found, remedy));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    fn session() -> NetworkSession {
        NetworkSession {
            id: "8b20".to_owned(),
            node: "/talker".to_owned(),
            nodes: 3,
            is_reached: Some(true),
            heard: 1,
            behind_ns: Some(0),
        }
    }

    #[test]
    fn a_session_is_told_of_if_it_is_known_to_be_out_of_reach() {
        let with = |is_reached, heard| reached(&NetworkSession { is_reached, heard, ..session() });
        assert!(with(Some(true), 0).is_none() && with(None, 0).is_none());
        assert!(with(Some(false), 1).is_none(), "its messages come");
        let found = with(Some(false), 0).unwrap();
        assert_eq!(found.state, State::Wrong);
        assert!(
            found.found.starts_with("/talker and 2 other nodes of its program (session 8b20) is announced"),
            "{found:?}"
        );
        assert!(found.remedy.contains("sinew gateway --client"), "{found:?}");
    }

    #[test]
    fn a_clock_that_differs_is_told_with_its_host() {
        let links =
            [Link { session: "8b20".to_owned(), address: "tcp/10.0.0.7:4000".to_owned(), role: Role::Peer }];
        let with = |behind_ns, links: &[Link]| clock(&NetworkSession { behind_ns, ..session() }, links);
        for fine in [None, Some(0), Some(APART), Some(-APART)] {
            assert!(with(fine, &links).is_none(), "{fine:?}");
        }
        let found = with(Some(3 * APART), &links).unwrap();
        let begin = "messages of /talker and 2 other nodes of its program at tcp/10.0.0.7:4000 come ";
        assert_eq!(found.state, State::Advice);
        assert!(found.found.starts_with(begin) && found.found.contains("after they were"), "{found:?}");
        let found = with(Some(i64::MIN), &[]).unwrap();
        assert!(found.found.contains("program come ") && found.found.ends_with("host is ahead"), "{found:?}");
    }

    #[test]
    fn old_attachments_are_told_with_those_who_may_send_them() {
        let told = |kind, nodes: &[&str]| old_of("/chatter", 7, (kind, nodes)).found;
        let begin =
            "/chatter: 7 messages of /talker have an attachment as rmw_zenoh wrote it before April 2025";
        assert!(told(EndpointKind::Publisher, &["/talker"]).starts_with(begin));
        let two = told(EndpointKind::Client, &["/a", "/b"]);
        assert!(two.starts_with("/chatter: 7 requests of one of its clients (/a, /b) have"), "{two}");
        assert!(told(EndpointKind::Publisher, &[]).starts_with("/chatter: 7 messages have"));
    }
}
