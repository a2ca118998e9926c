//! `sinew node list`, `sinew topic list`, `sinew service list`.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde_json::{Value, json};
use sinew_shm::{Domain, EntityKind};

use super::{Ends, Observed, print, print_json};
use crate::cli::tools::{ListOptions, TypedListOptions, Where};
use crate::error::Error;

/// `ros2 node list`.
pub(super) fn nodes(options: &ListOptions) -> Result<(), Error> {
    let snapshot = Observed::open(&options.place)?.look()?;
    let mut nodes: Vec<_> = snapshot
        .of(EntityKind::Node)
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
        // Nothing is left to tell it to when standard error is closed.
        let _ = writeln!(io::stderr(), "sinew: {} nodes are called {}", name.len(), name[0]);
    }
    print(&names.iter().map(|name| format!("{name}\n")).collect::<String>())
}

/// `ros2 topic list`.
pub(super) fn topics(options: &TypedListOptions) -> Result<(), Error> {
    let kinds = [EntityKind::Publisher, EntityKind::Subscription];
    named(options, kinds, ["publishers", "subscriptions"], "topics")
}

/// `ros2 service list`: those that somebody serves or calls.
pub(super) fn services(options: &TypedListOptions) -> Result<(), Error> {
    named(options, [EntityKind::Server, EntityKind::Client], ["servers", "clients"], "services")
}

/// Says on standard error where was looked, if nothing was found.
fn hint_at(place: &Where, is_empty: bool, what: &str) {
    if let (true, Ok(domain)) = (is_empty, place.domain()) {
        let base = place.dir.clone().unwrap_or_else(|| Domain::default_base().0);
        // Nothing is left to tell it to when standard error is closed.
        let _ = writeln!(io::stderr(), "sinew: no {what} in domain {domain} of {}", base.display());
    }
}

fn named(
    options: &TypedListOptions,
    kinds: [EntityKind; 2],
    sides: [&str; 2],
    what: &str,
) -> Result<(), Error> {
    let snapshot = Observed::open(&options.list.place)?.look()?;
    let mut all = snapshot.ends(kinds);
    all.retain(|name, _| options.list.all || !is_hidden(name));
    if options.list.json {
        let one = |(name, ends): (&&str, &Ends<'_>)| json!({"name": name, "types": ends.types(), sides[0]: ends.0[0].len(), sides[1]: ends.0[1].len()});
        return print_json(&all.iter().map(one).collect::<Vec<Value>>());
    }
    hint_at(&options.list.place, all.is_empty(), what);
    let mut text = String::new();
    for (name, ends) in &all {
        let types =
            if options.show_types { format!(" [{}]", ends.types().join(", ")) } else { String::new() };
        let _ = writeln!(text, "{name}{types}"); // a string takes everything
    }
    print(&text)
}

/// Whether a part of the name begins with `_`: such names are for tools.
/// (<https://design.ros2.org/articles/topic_and_service_names.html#hidden-topic-or-service-names>)
fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::is_hidden;

    #[test]
    fn a_hidden_part_hides_all() {
        assert!(is_hidden("/_tool") && is_hidden("/a/_feedback/b"));
        assert!(!is_hidden("/a_b/c_") && !is_hidden("/"));
    }
}
