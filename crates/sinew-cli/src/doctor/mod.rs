//! `sinew doctor`: what shared memory needs of this machine, what is wrong with it and with the
//! gateway to the network, and how to mend it.

mod knock;
mod limits;
mod network;
mod place;
#[cfg(feature = "gateway")]
mod router;
mod stuck;
mod types;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::json;
use sinew_shm::{Domain, EndpointKind};

use crate::cli::tools::{DoctorOptions, Where};
use crate::error::Error;
use crate::graph::mismatch;
use crate::observed::Observed;
use crate::output;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Fine,
    /// It works; some programs may want more.
    Advice,
    /// Something doesn't work, or soon won't.
    Wrong,
}

/// What a check found.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    state: State,
    found: String,
    /// What to do; empty if nothing is to be done.
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

/// Checks everything, and tells it. Fails if something is wrong.
pub(crate) fn run(options: &DoctorOptions) -> Result<(), Error> {
    let domain = options.place.domain().map_err(Error::DomainNumber)?;
    let base = options.place.dir.clone().unwrap_or_else(|| Domain::default_base().0);
    let path = base.join(domain.to_string());
    let mut findings = place::check(options.place.dir.as_deref(), domain, &path, options.clean);
    findings.extend(stuck::check(&options.place));
    findings.extend(limits::check());
    findings.extend(pairs(&options.place));
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

/// Whether all who share a topic or a service can talk. Nothing, if who is there can't be looked
/// at: then the directory is what is wrong.
fn pairs(place: &Where) -> Vec<Finding> {
    let Ok(snapshot) = Observed::open_quietly(place).and_then(|mut observed| observed.look()) else {
        return Vec::new();
    };
    let kinds = [
        ("topics", [EndpointKind::Publisher, EndpointKind::Subscription]),
        ("services", [EndpointKind::Server, EndpointKind::Client]),
    ];
    let check = |(check, kinds): (&'static str, [EndpointKind; 2])| {
        let apart = mismatch::pairs(&snapshot, kinds);
        match (apart.is_empty(), snapshot.ends(kinds).len()) {
            (true, 0) => Vec::new(),
            (true, count) => vec![Finding::fine(check, format!("{count}; all ends of each match"))],
            _ => apart.iter().map(|pair| Finding::wrong(check, pair.to_string(), pair.remedy())).collect(),
        }
    };
    kinds.into_iter().flat_map(check).collect()
}

fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { check, state, found, remedy } in findings {
        let state = match state {
            State::Fine => "fine",
            State::Advice => "advice",
            State::Wrong => "WRONG",
        };
        let _ = writeln!(text, "{state:<8}{check:<16}{found}"); // a string takes everything
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
