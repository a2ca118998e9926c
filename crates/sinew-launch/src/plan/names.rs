//! Checks names of nodes and namespaces and rules for names as nodes will check them, so that
//! mistakes are reported before anything is started.

use crate::error::{LoadError, Problem};
use crate::text::Text;
use sinew::names::{check_namespace, check_node_name, check_remap_rule};

/// Checks the name of a node, which may be preceded by a namespace.
pub(super) fn node(key: &'static str, full: &str, text: &Text) -> Result<(), LoadError> {
    let (namespace, name) = full.rsplit_once('/').unwrap_or(("", full));
    let checked = if namespace.is_empty() { Ok(()) } else { check_namespace(namespace) };
    checked.and_then(|()| check_node_name(name)).map_err(|error| problem(key, full, &error).at(&text.place))
}

/// Checks a namespace relative to the root; empty for the root.
pub(super) fn namespace(namespace: &str, text: &Text) -> Result<(), LoadError> {
    if namespace.is_empty() {
        return Ok(());
    }
    check_namespace(namespace).map_err(|error| problem("namespace", namespace, &error).at(&text.place))
}

pub(super) fn remap((from, to): (&str, &str), text: &Text) -> Result<(), LoadError> {
    let rule = format!("{from}:={to}");
    check_remap_rule(&rule).map_err(|error| problem("remap", &rule, &error).at(&text.place))
}

fn problem(key: &'static str, found: &str, error: &dyn std::error::Error) -> Problem {
    Problem::value(key, format!("`{}`", found.escape_debug()), error.to_string())
}
