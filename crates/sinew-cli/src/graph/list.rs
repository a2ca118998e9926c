//! `sinew node list`, `sinew topic list`, `sinew service list`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use sinew::graph::{EndpointInfo, EndpointKind, GraphSnapshot, NameAndTypes, NodeInfo};
use sinew::names::is_hidden;
use sinew_shm::Domain;

use crate::cli::tools::{FindOptions, GraphListOptions, InfoOptions, TypedListOptions, Where};
use crate::error::Error;
use crate::observed::{Observed, process_of};
use crate::output::{print, print_json, says};
use crate::similar::{self, suggestion};

/// Runs the equivalent of `ros2 node list`.
pub(super) fn nodes(options: &GraphListOptions) -> Result<(), Error> {
    let seen = Observed::open(&options.place)?.read()?;
    let nodes = seen.nodes().iter().filter(|node| options.all || !is_hidden(&node.name));
    if options.count {
        return print(&format!("{}\n", nodes.count()));
    }
    if options.json {
        let one = |node: &NodeInfo| {
            let (pid, program) = process_of(&node.place);
            json!({"name": node.name, "pid": pid, "program": program})
        };
        return print_json(&nodes.map(one).collect::<Vec<_>>());
    }
    let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
    hint_at(&options.place, names.is_empty(), "nodes");
    for name in names.chunk_by(|one, next| one == next).filter(|same| same.len() > 1) {
        says(&format!("{} nodes are called {}", name.len(), name[0]));
    }
    print(&names.iter().map(|name| format!("{name}\n")).collect::<String>())
}

/// A kind of name, with two kinds of endpoints.
pub(super) struct Named {
    pub(super) kinds: [EndpointKind; 2],
    /// Lists the names.
    all: fn(&GraphSnapshot) -> Vec<NameAndTypes>,
    /// The JSON names of the two kinds of endpoints.
    sides: [&'static str; 2],
    /// Singular and plural.
    what: [&'static str; 2],
}

pub(super) const TOPICS: Named = Named {
    kinds: [EndpointKind::Publisher, EndpointKind::Subscription],
    all: GraphSnapshot::topics,
    sides: ["publishers", "subscriptions"],
    what: ["topic", "topics"],
};

pub(super) const SERVICES: Named = Named {
    kinds: [EndpointKind::Server, EndpointKind::Client],
    all: GraphSnapshot::services,
    sides: ["servers", "clients"],
    what: ["service", "services"],
};

impl Named {
    /// Returns the error that there is no such name. `names`: the existing ones.
    pub(super) fn missing<'a>(
        &self,
        observed: &Observed,
        names: impl Iterator<Item = &'a str>,
        name: &str,
    ) -> Error {
        let similar = similar::to(name, names);
        Error::NotFound { what: self.what[0], name: name.to_owned(), domain: observed.domain(), similar }
    }

    /// Returns the names that a list shows: hidden ones on request only.
    fn shown(&self, seen: &GraphSnapshot, all: bool) -> Vec<NameAndTypes> {
        let mut names = (self.all)(seen);
        names.retain(|name| all || !name.is_hidden());
        names
    }

    /// Returns the endpoints of a name.
    fn ends<'a>(&self, seen: &'a GraphSnapshot, name: &str) -> impl Iterator<Item = &'a EndpointInfo> {
        seen.endpoints().iter().filter(move |end| self.kinds.contains(&end.kind) && end.name == name)
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
    let names = (of.all)(&observed.read()?);
    let found = names.iter().find(|name| name.name == options.name);
    let all = names.iter().map(|name| name.name.as_str());
    let types = &found.ok_or_else(|| of.missing(&observed, all, &options.name))?.types;
    if options.json {
        return print_json(types);
    }
    print(&types.iter().map(|name| format!("{name}\n")).collect::<String>())
}

/// Runs the equivalent of `ros2 topic find`, `ros2 service find`.
pub(super) fn find(options: &FindOptions, of: &Named) -> Result<(), Error> {
    let seen = Observed::open(&options.list.place)?.read()?;
    let wanted = options.type_name.as_str();
    let names = of.shown(&seen, options.list.all);
    let has_it = |name: &&NameAndTypes| name.types.iter().any(|name| is_called(name, wanted));
    let found: Vec<&str> = names.iter().filter(has_it).map(|name| name.name.as_str()).collect();
    if options.list.count {
        return print_json(&found.len());
    }
    if options.list.json {
        return print_json(&found);
    }
    if found.is_empty() {
        let types = names.iter().flat_map(|name| &name.types).map(String::as_str);
        let similar = suggestion(&similar::to(wanted, types));
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

fn named(options: &TypedListOptions, of: &Named) -> Result<(), Error> {
    let seen = Observed::open(&options.list.place)?.read()?;
    let all = of.shown(&seen, options.list.all);
    if options.list.count {
        return print(&format!("{}\n", all.len()));
    }
    if options.list.json {
        let one = |NameAndTypes { name, types, .. }: &NameAndTypes| {
            let count = |kind| of.ends(&seen, name).filter(|end| end.kind == kind).count();
            let [first, second] = of.kinds.map(count);
            json!({"name": name, "types": types, of.sides[0]: first, of.sides[1]: second})
        };
        return print_json(&all.iter().map(one).collect::<Vec<Value>>());
    }
    hint_at(&options.list.place, all.is_empty(), of.what[1]);
    let mut text = String::new();
    for name in &all {
        let types =
            if options.show_types { of_types(name, of.ends(&seen, &name.name)) } else { String::new() };
        let _ = writeln!(text, "{}{types}", name.name); // writing to a string can't fail
    }
    print(&text)
}

/// Returns the types of a name, with a mark if there are several: such endpoints can't talk. A type
/// with several hashes counts once for each.
fn of_types<'a>(name: &NameAndTypes, ends: impl Iterator<Item = &'a EndpointInfo>) -> String {
    let types = name.types.join(", ");
    let versions: BTreeSet<_> = ends.map(|end| (&end.type_name, end.type_hash.map(|hash| hash.0))).collect();
    match versions.len() {
        0 | 1 => format!(" [{types}]"),
        count if name.types.len() == 1 => format!(" [{types}] ({count} versions, which don't match)"),
        count => format!(" [{types}] ({count} types, which don't match)"),
    }
}
