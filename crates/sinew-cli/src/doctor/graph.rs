//! Checks of the nodes and endpoints in the domain.

use std::collections::BTreeMap;

use sinew::graph::EndpointKind;
use sinew::names::is_hidden;

use super::finding::Finding;
use super::options;
use crate::cli::tools::Where;
use crate::graph::mismatch;
use crate::graph::one_sided::{self, Named};
use crate::observed::{Observed, ObservedDomain, text_of};

/// Most one-sided names that are listed one by one.
const MOST: usize = 10;

/// Checks that all endpoints of a topic or a service can talk and have a partner, and everything
/// else that is known of the participants. Returns nothing if the domain can't be read: then the
/// problem is the directory.
pub(super) fn check(place: &Where) -> Vec<Finding> {
    let Ok(snapshot) = Observed::open_quietly(place).and_then(|mut observed| observed.look()) else {
        return Vec::new();
    };
    let kinds = [
        ("topics", &[Named::Topic][..], [EndpointKind::Publisher, EndpointKind::Subscription]),
        ("services", &[Named::Service, Named::Action], [EndpointKind::Server, EndpointKind::Client]),
    ];
    let one_sided = one_sided::find(&snapshot);
    let check = |(check, what, kinds): (&'static str, &[Named], [EndpointKind; 2])| {
        let mut findings: Vec<_> = mismatch::pairs(&snapshot, kinds)
            .iter()
            .map(|pair| Finding::wrong(check, pair.to_string(), pair.remedy()))
            .collect();
        let (asked, unused): (Vec<_>, Vec<_>) = one_sided
            .iter()
            .filter(|one| what.contains(&one.what) && !one.is_repeated())
            .partition(|one| one.is_suspicious() || !one.is_offered);
        findings
            .extend(asked.iter().take(MOST).map(|one| Finding::advice(check, one.to_string(), one.remedy())));
        if asked.len() > MOST {
            let more = format!("{} more have no other end", asked.len() - MOST);
            findings.push(Finding::advice(check, more, "`sinew topic check` tells all"));
        }
        let count = snapshot.ends(kinds).len();
        let is_told_elsewhere = one_sided.iter().any(|one| what.contains(&one.what) && one.is_repeated());
        if findings.is_empty() && count > 0 && !is_told_elsewhere {
            let unused = match unused.as_slice() {
                [] => String::new(),
                [one] => format!("; {} has no {}", one.name, one.missing()),
                [one, ..] => format!("; {} have no {}, {} for one", unused.len(), one.missing(), one.name),
            };
            findings.push(Finding::fine(check, format!("{count}; all ends of each match{unused}")));
        }
        findings
    };
    let mut findings: Vec<_> = kinds.into_iter().flat_map(check).collect();
    findings.extend(twins(&snapshot));
    findings.extend(options::check(&snapshot));
    findings
}

/// Finds nodes with the same name.
fn twins(snapshot: &ObservedDomain) -> Vec<Finding> {
    let mut nodes = BTreeMap::<&str, Vec<String>>::new();
    for node in snapshot.nodes.iter().filter(|node| !is_hidden(&node.info.name)) {
        nodes.entry(&node.info.name).or_default().push(text_of(&node.info.place));
    }
    let count = nodes.values().map(Vec::len).sum::<usize>();
    let twins: Vec<_> = nodes.into_iter().filter(|(_, places)| places.len() > 1).collect();
    if twins.is_empty() && count > 0 {
        return vec![Finding::fine("nodes", format!("{count}; each has a name of its own"))];
    }
    let finding = |(name, places): &(&str, Vec<String>)| {
        let remedy = "commands and parameters reach any of them: give each a name of its own (-r __node:=.., -r __ns:=..)";
        Finding::advice("nodes", format!("{} are called {name}: {}", places.len(), places.join("; ")), remedy)
    };
    twins.iter().map(finding).collect()
}
