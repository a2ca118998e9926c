//! Command line options that have matched nothing, as the processes report them.

use sinew::gateway::Report;

use super::finding::Finding;
use crate::observed::{ObservedDomain, ObservedRecord};

const CHECK: &str = "options";

/// Returns a finding for each process with such options.
pub(super) fn check(snapshot: &ObservedDomain) -> Vec<Finding> {
    let is_it = |report: &&ObservedRecord| Report::of(&report.record) == Some(Report::Unmatched);
    let finding = |report: &ObservedRecord| {
        let (program, pid) = (report.peer.program(), report.peer.pid());
        let remedy = "correct it where the process is started, or leave it out";
        Finding::advice(CHECK, format!("{program} ({pid}): {}", report.record.type_name), remedy)
    };
    snapshot.reports.iter().filter(is_it).map(finding).collect()
}
