//! The timers of a node, from their reports.

use serde::Serialize;
use sinew::records::TimerReport;
use sinew::time::ClockKind;

use crate::observed::{ObservedDomain, ObservedNode, ObservedRecord};

/// A timer.
#[derive(Serialize)]
pub(crate) struct ObservedTimer {
    period_ns: u64,
    /// The clock that it uses now.
    pub(crate) clock: &'static str,
    /// Whether that is its node's clock, which may change.
    follows_node: bool,
    pub(crate) calls: u64,
    pub(crate) skipped: u64,
    cancelled: bool,
}

/// Returns a node's reported timers, in the order in which they were created.
pub(crate) fn of(node: &ObservedNode, snapshot: &ObservedDomain) -> Vec<ObservedTimer> {
    let own =
        |report: &&ObservedRecord| report.peer.id() == node.peer.id() && report.record.node == node.info.name;
    let mut reports: Vec<_> = snapshot.reports.iter().filter(own).collect();
    reports.sort_by_key(|report| report.record.number);
    reports.into_iter().filter_map(ObservedTimer::read).collect()
}

impl ObservedTimer {
    /// Reads a timer's report; `None` if it is another report.
    pub(crate) fn read(report: &ObservedRecord) -> Option<Self> {
        let report = TimerReport::read(&report.record, &report.counts())?;
        Some(Self {
            period_ns: u64::try_from(report.period.as_nanos()).unwrap_or(u64::MAX),
            clock: match report.clock {
                ClockKind::Steady => "steady",
                ClockKind::System => "system",
                ClockKind::Ros => "ros",
            },
            follows_node: report.follows_node,
            calls: report.calls,
            skipped: report.skipped,
            cancelled: report.is_cancelled,
        })
    }

    /// Formats its period for people.
    pub(crate) fn period(&self) -> String {
        humantime::format_duration(std::time::Duration::from_nanos(self.period_ns)).to_string()
    }

    /// Formats it for people: `100ms of steady time: 12 calls`.
    pub(crate) fn text(&self) -> String {
        let period = self.period();
        let clock = match self.clock {
            "steady" => "steady time",
            "system" => "the wall clock",
            _ => "ROS time",
        };
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        let cancelled = if self.cancelled { ", cancelled" } else { "" };
        format!("{period} of {clock}: {} calls{skipped}{cancelled}", self.calls)
    }
}
