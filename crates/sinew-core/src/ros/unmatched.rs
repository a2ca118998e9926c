//! Rules and values of command lines and files that have matched nothing so far, and what they may
//! have meant. Pure functions from existing names to sentences.

use super::similar::{alike, similar};
use crate::sys::sync::{Arc, HintU8, Ordering};

/// Most names that are listed if none is similar.
const FEW: usize = 4;

/// A mark for rules and values that were used. Clones are the same mark.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mark(Arc<HintU8>);

impl Mark {
    pub(crate) fn set(&self) {
        self.0.store(1, Ordering::Relaxed); // independent of all other memory
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// A node of the context, and its names.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeNames {
    pub(crate) full_name: Arc<str>,
    pub(crate) name: String,
    pub(crate) namespace: String,
    /// Full names, except for those that every node has.
    pub(crate) topics: Vec<Arc<str>>,
    pub(crate) services: Vec<Arc<str>>,
    pub(crate) parameters: Vec<String>,
}

/// A rule or value that has matched nothing so far.
#[derive(Debug)]
pub(crate) struct Unmatched {
    /// One sentence, which ends with the existing names.
    pub(crate) text: String,
    /// Whether it can hardly be intended.
    pub(crate) is_likely_wrong: bool,
    /// Set once it matches; if there are several, it matches once all are set.
    pub(crate) marks: Vec<Mark>,
}

impl Unmatched {
    pub(crate) fn still(&self) -> bool {
        self.marks.iter().any(|mark| !mark.is_set())
    }
}

/// Returns `/talker`, or `3 nodes`.
pub(crate) fn names_of(nodes: &[&NodeNames]) -> String {
    match nodes {
        [node] => node.full_name.to_string(),
        nodes => format!("{} nodes", nodes.len()),
    }
}

/// Says that none of these nodes has a parameter of that name.
pub(crate) fn missing_parameter(name: &str, nodes: &[&NodeNames]) -> String {
    let has = if nodes.len() == 1 { "it has" } else { "they have" };
    let names = nodes.iter().flat_map(|node| &node.parameters).map(String::as_str);
    let instead = instead(has, name, names, |name| name);
    format!("no parameter of {} is called {}{instead}", names_of(nodes), name.escape_debug())
}

/// Returns the end of a sentence about a missing name: similar names, or all names if there are
/// few. `shown` formats a name.
pub(crate) fn instead<'a>(
    has: &str,
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
    shown: impl Fn(&'a str) -> &'a str,
) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    let near = similar(wanted, names.iter().copied());
    let listed = if near.is_empty() && names.len() <= FEW { &names } else { &near };
    match (listed.as_slice(), names.len()) {
        ([], 0) => format!("; {has} none"),
        ([], count) => format!("; {has} {count} others"),
        (listed, _) => {
            format!("; {has} {}", listed.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", "))
        }
    }
}

/// As [`instead`], for nodes.
pub(crate) fn nodes_instead(wanted: &str, nodes: &[NodeNames]) -> String {
    instead("there is", wanted, nodes.iter().map(|node| &*node.full_name), |name| name)
}

/// Returns `true` if the name of one of the nodes resembles it.
pub(crate) fn resembles_a_node(wanted: &str, nodes: &[NodeNames]) -> bool {
    nodes.iter().any(|node| alike(wanted, &node.full_name).is_some())
}
