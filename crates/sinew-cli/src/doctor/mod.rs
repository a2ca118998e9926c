//! `sinew doctor`: checks this machine's settings for shared memory and the gateway to the network,
//! and says how to correct them.

mod idle;
mod knock;
mod limits;
mod network;
mod options;
mod place;
#[cfg(feature = "gateway")]
mod router;
mod stuck;
mod types;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::json;
use sinew::names::is_hidden;
use sinew_shm::{Domain, EndpointKind};

use crate::cli::tools::{DoctorOptions, Where};
use crate::error::Error;
use crate::graph::mismatch;
use crate::graph::one_sided::{self, Named};
use crate::observed::{Observed, ObservedDomain};
use crate::output;

/// Most one-sided names that are listed one by one.
const MOST: usize = 10;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Fine,
    /// It works, but some programs may need more.
    Advice,
    /// Something doesn't work, or soon won't.
    Wrong,
}

/// The result of a check.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    state: State,
    found: String,
    /// Advice; empty if there is nothing to do.
    remedy: String,
}

impl Finding {
    fn fine(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Fine, found: found.into(), remedy: String::new() }
    }

    fn advice(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Advice, found: found.into(), remedy: remedy.into() }
    }

    fn wrong(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Wrong, found: found.into(), remedy: remedy.into() }
    }
}

/// Runs all checks, and prints the results. Fails if something is wrong.
pub(crate) fn run(options: &DoctorOptions) -> Result<(), Error> {
    let domain = options.place.domain().map_err(Error::DomainNumber)?;
    let base = options.place.dir.clone().unwrap_or_else(|| Domain::default_base().0);
    let path = base.join(domain.to_string());
    let mut findings = place::check(options.place.dir.as_deref(), domain, &path, options.clean);
    findings.extend(stuck::check(&options.place));
    findings.extend(limits::check());
    findings.extend(graph(&options.place));
    findings.extend(network::check(&options.place));
    if options.json {
        let healthy = findings.iter().all(|finding| finding.state != State::Wrong);
        output::print_json(
            &json!({"domain": domain, "directory": path, "healthy": healthy, "checks": findings}),
        )?;
    } else {
        output::print(&text(&findings))?;
    }
    match findings.iter().filter(|finding| finding.state == State::Wrong).count() {
        0 => Ok(()),
        count => Err(Error::Unwell { count }),
    }
}

/// Checks that all endpoints of a topic or a service can talk and have a partner, and everything
/// else that is known of the participants. Returns nothing if the domain can't be read: then the
/// problem is the directory.
fn graph(place: &Where) -> Vec<Finding> {
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
            let more = format!("{} more have nobody at the other end", asked.len() - MOST);
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
    for node in snapshot.of(EndpointKind::Node).filter(|node| !is_hidden(&node.entity.node)) {
        nodes.entry(&node.entity.node).or_default().push(node.place());
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

fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { check, state, found, remedy } in findings {
        let state = match state {
            State::Fine => "fine",
            State::Advice => "advice",
            State::Wrong => "WRONG",
        };
        let _ = writeln!(text, "{state:<8}{check:<16}{found}"); // writing to a string can't fail
        if !remedy.is_empty() {
            let _ = writeln!(text, "{:<24}{remedy}", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_stand_below() {
        let findings = [Finding::fine("kernel", "6.1"), Finding::wrong("size", "4 KB", "make it bigger")];
        let expected = "fine    kernel          6.1\nWRONG   size            4 KB\n                        make it bigger\n";
        assert_eq!(text(&findings), expected);
    }
}
