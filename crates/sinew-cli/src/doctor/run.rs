//! Runs all checks, and prints their findings.

use std::fmt::Write as _;

use serde_json::json;
use sinew_shm::Domain;

use super::finding::{Finding, State};
use super::{graph, limits, network, place, ros2, stuck};
use crate::cli::tools::DoctorOptions;
use crate::error::Error;
use crate::output;

/// Runs all checks, and prints the results. Fails if something is wrong.
pub(crate) fn run(options: &DoctorOptions) -> Result<(), Error> {
    let domain = options.place.domain().map_err(Error::DomainNumber)?;
    let base = options.place.dir.clone().unwrap_or_else(|| Domain::default_base().0);
    let path = base.join(domain.to_string());
    let mut findings = place::check(options.place.dir.as_deref(), domain, &path, options.clean);
    findings.extend(stuck::check(&options.place));
    findings.extend(limits::check());
    findings.extend(graph::check(&options.place));
    findings.extend(network::check(&options.place));
    findings.extend(ros2::check());
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
