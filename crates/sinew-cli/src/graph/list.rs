//! `sinew node list`, `sinew topic list`, `sinew service list`.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sinew::names::is_hidden;
use sinew_shm::{Domain, EndpointKind};

use crate::cli::tools::{FindOptions, GraphListOptions, InfoOptions, TypedListOptions, Where};
use crate::error::Error;
use crate::observed::{Ends, Observed, ObservedDomain};
use crate::output::{print, print_json, says};
use crate::similar::{self, suggestion};

/// Runs the equivalent of `ros2 node list`.
pub(super) fn nodes(options: &GraphListOptions) -> Result<(), Error> {
    let snapshot = Observed::open(&options.place)?.look()?;
    let mut nodes: Vec<_> = snapshot
        .of(EndpointKind::Node)
        .filter(|node| options.all || !is_hidden(&node.entity.node))
        .map(|node| (node.entity.node.as_str(), &node.peer))
        .collect();
    nodes.sort_by_key(|(name, peer)| (*name, peer.id()));
    if options.json {
        let one = |(name, peer): &(&str, &std::sync::Arc<sinew_shm::Peer>)| json!({"name": name, "pid": peer.pid(), "program": peer.program()});
        return print_json(&nodes.iter().map(one).collect::<Vec<_>>());
    }
    let names: Vec<&str> = nodes.iter().map(|(name, _)| *name).collect();
    hint_at(&options.place, names.is_empty(), "nodes");
    for name in names.chunk_by(|one, next| one == next).filter(|same| same.len() > 1) {
        says(&format!("{} nodes are called {}", name.len(), name[0]));
    }
    print(&names.iter().map(|name| format!("{name}\n")).collect::<String>())
}

/// A kind of name, with two kinds of endpoints.
pub(super) struct Named {
    pub(super) kinds: [EndpointKind; 2],
    /// The JSON names of the two kinds of endpoints.
    pub(super) sides: [&'static str; 2],
    /// Singular and plural.
    pub(super) what: [&'static str; 2],
}

pub(super) const TOPICS: Named = Named {
    kinds: [EndpointKind::Publisher, EndpointKind::Subscription],
    sides: ["publishers", "subscriptions"],
    what: ["topic", "topics"],
};

pub(super) const SERVICES: Named = Named {
    kinds: [EndpointKind::Server, EndpointKind::Client],
    sides: ["servers", "clients"],
    what: ["service", "services"],
};

impl Named {
    /// Returns the error that there is no such name.
    pub(super) fn missing(&self, observed: &Observed, snapshot: &ObservedDomain, name: &str) -> Error {
        let similar = similar::to(name, snapshot.ends(self.kinds).into_keys());
        Error::NotFound { what: self.what[0], name: name.to_owned(), domain: observed.domain(), similar }
    }
}

/// Runs the equivalent of `ros2 topic list`.
pub(super) fn topics(options: &TypedListOptions) -> Result<(), Error> {
    named(options, &TOPICS)
}

/// Runs the equivalent of `ros2 service list`: services with a server or a client.
pub(super) fn services(options: &TypedListOptions) -> Result<(), Error> {
    named(options, &SERVICES)
}

/// Runs the equivalent of `ros2 topic type`, `ros2 service type`.
pub(super) fn types(options: &InfoOptions, of: &Named) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let snapshot = observed.look()?;
    let ends = snapshot.ends(of.kinds);
    let types = ends.get(options.name.as_str()).map(Ends::types);
    let types = types.ok_or_else(|| of.missing(&observed, &snapshot, &options.name))?;
    if options.json {
        return print_json(&types);
    }
    print(&types.iter().map(|name| format!("{name}\n")).collect::<String>())
}

/// Runs the equivalent of `ros2 topic find`, `ros2 service find`.
pub(super) fn find(options: &FindOptions, of: &Named) -> Result<(), Error> {
    let snapshot = Observed::open(&options.list.place)?.look()?;
    let wanted = options.type_name.as_str();
    let mut ends = snapshot.ends(of.kinds);
    ends.retain(|name, _| options.list.all || !is_hidden(name));
    let found: Vec<&str> = ends
        .iter()
        .filter(|(_, ends)| ends.types().iter().any(|name| is_called(name, wanted)))
        .map(|(name, _)| *name)
        .collect();
    if options.list.json {
        return if options.count { print_json(&found.len()) } else { print_json(&found) };
    }
    if options.count {
        return print(&format!("{}\n", found.len()));
    }
    if found.is_empty() {
        let types: Vec<&str> = ends.values().flat_map(Ends::types).collect();
        let similar = suggestion(&similar::to(wanted, types.into_iter()));
        says(&format!("no {} have the type {wanted}{similar}", of.what[1]));
    }
    print(&found.iter().map(|name| format!("{name}\n")).collect::<String>())
}

/// Returns `true` if a type has this name, or this short one: `package/Type`.
fn is_called(type_name: &str, wanted: &str) -> bool {
    let short =
        type_name.split_once('/').and_then(|(package, rest)| Some((package, rest.split_once('/')?.1)));
    type_name == wanted || short.is_some() && short == wanted.split_once('/')
}

/// If nothing was found, writes the domain that was read to standard error.
fn hint_at(place: &Where, is_empty: bool, what: &str) {
    if let (true, Ok(domain)) = (is_empty, place.domain()) {
        let base = place.dir.clone().unwrap_or_else(|| Domain::default_base().0);
        says(&format!("no {what} in domain {domain} of {}", base.display()));
    }
}

fn named(options: &TypedListOptions, &Named { kinds, sides, what }: &Named) -> Result<(), Error> {
    let snapshot = Observed::open(&options.list.place)?.look()?;
    let mut all = snapshot.ends(kinds);
    all.retain(|name, _| options.list.all || !is_hidden(name));
    if options.list.json {
        let one = |(name, ends): (&&str, &Ends<'_>)| json!({"name": name, "types": ends.types(), sides[0]: ends.0[0].len(), sides[1]: ends.0[1].len()});
        return print_json(&all.iter().map(one).collect::<Vec<Value>>());
    }
    hint_at(&options.list.place, all.is_empty(), what[1]);
    let mut text = String::new();
    for (name, ends) in &all {
        let types = if options.show_types { of_types(ends) } else { String::new() };
        let _ = writeln!(text, "{name}{types}"); // writing to a string can't fail
    }
    print(&text)
}

/// Returns the types of a name, with a mark if there are several: such endpoints can't talk.
fn of_types(ends: &Ends<'_>) -> String {
    let types = ends.types().join(", ");
    match ends.count_types() {
        0 | 1 => format!(" [{types}]"),
        count if ends.types().len() == 1 => format!(" [{types}] ({count} versions, which don't match)"),
        count => format!(" [{types}] ({count} types, which don't match)"),
    }
}
