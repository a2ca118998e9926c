//! Options of command lines that have matched nothing, as the processes tell of them.

use sinew::gateway::Report;

use super::Finding;
use crate::observed::{ObservedDomain, ObservedEndpoint};

const CHECK: &str = "options";

/// What each process says. Nothing, if there is nothing to say.
pub(super) fn check(snapshot: &ObservedDomain) -> Vec<Finding> {
    let is_it = |report: &&ObservedEndpoint| Report::of(&report.entity) == Some(Report::Unmatched);
    let finding = |report: &ObservedEndpoint| {
        let (program, pid) = (report.peer.program(), report.peer.pid());
        let remedy = "correct it where the process is started, or leave it out";
        Finding::advice(CHECK, format!("{program} ({pid}): {}", report.entity.type_name), remedy)
    };
    snapshot.reports.iter().filter(is_it).map(finding).collect()
}
