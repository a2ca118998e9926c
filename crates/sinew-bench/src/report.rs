//! Results: the content of a row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rounds::{Round, Usage};
use super::samples::{Summary, median};
use crate::options::ExecutorOptions;

/// The value of an option that identifies a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// A count or a size.
    Count(u64),
    /// A rate or a factor.
    Number(f64),
    /// A name.
    Name(String),
    /// A yes or no.
    Flag(bool),
}

impl From<u64> for Setting {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for Setting {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u32> for Setting {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<f64> for Setting {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Setting {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Setting {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// One measured case.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The scenario, or `floors` if only floors are measured.
    pub scenario: &'static str,
    /// `sinew`, or `floor` for a limit of the machine.
    pub system: &'static str,
    /// The name of the floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<&'static str>,
    /// The options that distinguish this row from its neighbours.
    #[serde(flatten)]
    pub settings: BTreeMap<&'static str, Setting>,
    /// The measured figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The figures of a row; those that don't apply are missing. Times over rounds are medians over the
/// rounds, except for the maximum, which is the maximum of all.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, rename_all = "snake_case")]
pub struct Figures {
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<f64>,
    /// The 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<f64>,
    /// The 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// The largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<f64>,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// `mean_ns` as a multiple of the value without a listener in another process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ratio: Option<f64>,
    /// The P50 of the best and of the worst round: the spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_min_ns: Option<f64>,
    /// See `p50_min_ns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_max_ns: Option<f64>,
    /// From the due time of the source's tick until the sink has its message: the whole way,
    /// including the source's own wake-up, and not per hop. The median, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_p50_ns: Option<f64>,
    /// P50 as a multiple of the floor's in the same round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_ratio: Option<f64>,
    /// P90 as a multiple of the floor's in the same round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_floor_ratio: Option<f64>,
    /// Source to sink per hop, if the other times mean something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_hop_p50_ns: Option<f64>,
    /// `per_hop_p50_ns` as a multiple of the minimum for the number of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_hop_ratio: Option<f64>,
    /// From a call to its answer, halved, per hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roundtrip_p50_ns: Option<f64>,
    /// The 90th percentile of the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roundtrip_p90_ns: Option<f64>,
    /// Callbacks that ran, per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callbacks_per_second: Option<f64>,
    /// Callbacks per second as a multiple of that of plain threads in the same round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callbacks_ratio: Option<f64>,
    /// The 99th percentile of the lateness of ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_p99_ns: Option<f64>,
    /// The time inside `publish`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publish_p50_ns: Option<f64>,
    /// Age of a value at the end of its read: the time since its write began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_p50_ns: Option<f64>,
    /// `publish_p50_ns` as a multiple of the floor's P50 in the same round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publish_floor_ratio: Option<f64>,
    /// Messages that arrived, per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_per_second: Option<f64>,
    /// Bytes of the messages that arrived, per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Time for creating a publisher with its subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create_ns_per_pair: Option<f64>,
    /// The CPU time of all processes while both are created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create_cpu_ns_per_pair: Option<f64>,
    /// Time for dropping both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroy_ns_per_pair: Option<f64>,
    /// The memory of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_bytes_per_pair: Option<f64>,
    /// Number of rounds behind the medians.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// Messages measured, in all rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Messages that were sent and never came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// Messages that came after a later one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered: Option<u64>,
    /// Messages that came late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Messages that came too late to be useful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_late: Option<u64>,
    /// Ticks at which nothing was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// Number of copies of all messages together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<u64>,
    /// CPU time per elapsed time, in percent of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Resident memory of all processes, at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// Resident memory at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_start_bytes: Option<u64>,
    /// Its growth during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_growth_bytes: Option<i64>,
}

impl Figures {
    /// Returns the figures of the rounds of one side; `parts` divides each sample (see
    /// [`super::samples::Samples::summary`]).
    pub fn over(rounds: &[Round], parts: u32) -> Self {
        let summaries: Vec<Summary> =
            rounds.iter().filter_map(|round| round.samples.summary(parts)).collect();
        let middle = |figure: fn(&Summary) -> f64| median(summaries.iter().map(figure)).map(tenth);
        let p50s = || summaries.iter().map(|summary| summary.p50);
        let usages = || rounds.iter().filter_map(|round| round.usage);
        Self {
            p50_ns: middle(|summary| summary.p50),
            p90_ns: middle(|summary| summary.p90),
            p99_ns: middle(|summary| summary.p99),
            max_ns: summaries.iter().map(|summary| summary.max).reduce(f64::max).map(tenth),
            p50_min_ns: p50s().reduce(f64::min).map(tenth),
            p50_max_ns: p50s().reduce(f64::max).map(tenth),
            rounds: Some(rounds.len() as u64),
            messages: Some(rounds.iter().map(|round| round.messages).sum()),
            lost: Some(rounds.iter().map(|round| round.lost).sum()),
            reordered: Some(rounds.iter().map(|round| round.reordered).sum()).filter(|&count| count > 0),
            copies: rounds.iter().map(|round| round.copies).sum(),
            cpu_percent: median(usages().map(|usage| usage.cpu_percent)).map(hundredth),
            rss_bytes: usages().map(|usage| usage.rss_bytes).max().filter(|&bytes| bytes > 0),
            ..Self::default()
        }
    }

    /// Combines runs that have figures of their own: medians, sums of counts, and the overall
    /// maximum.
    pub fn over_runs(runs: &[Self]) -> Self {
        let middle = |figure: fn(&Self) -> Option<f64>| median(runs.iter().filter_map(figure));
        let sum = |count: fn(&Self) -> Option<u64>| runs.iter().map(count).sum::<Option<u64>>();
        let total = |count: fn(&Self) -> Option<u64>| Some(runs.iter().filter_map(count).sum::<u64>());
        Self {
            p50_ns: middle(|run| run.p50_ns),
            p90_ns: middle(|run| run.p90_ns),
            p99_ns: middle(|run| run.p99_ns),
            max_ns: runs.iter().filter_map(|run| run.max_ns).reduce(f64::max),
            mean_ns: middle(|run| run.mean_ns),
            rounds: Some(runs.len() as u64),
            messages: sum(|run| run.messages),
            lost: sum(|run| run.lost),
            reordered: total(|run| run.reordered).filter(|&count| count > 0),
            late: sum(|run| run.late),
            too_late: sum(|run| run.too_late),
            copies: sum(|run| run.copies),
            cpu_percent: middle(|run| run.cpu_percent),
            rss_bytes: runs.iter().filter_map(|run| run.rss_bytes).max(),
            ..Self::default()
        }
    }

    /// Adds the resources of all processes.
    #[must_use]
    pub fn using(self, usage: Usage) -> Self {
        let cpu_percent = Some(hundredth(usage.cpu_percent));
        Self { cpu_percent, rss_bytes: Some(usage.rss_bytes).filter(|&bytes| bytes > 0), ..self }
    }

    /// Returns the figures of a run without rounds.
    pub fn of(summary: Option<Summary>) -> Self {
        let figure = |figure: fn(&Summary) -> f64| summary.as_ref().map(figure).map(tenth);
        Self {
            p50_ns: figure(|summary| summary.p50),
            p90_ns: figure(|summary| summary.p90),
            p99_ns: figure(|summary| summary.p99),
            max_ns: figure(|summary| summary.max),
            ..Self::default()
        }
    }
}

/// Rounds a time to the digits worth writing.
pub fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Rounds a percentage or a ratio to the digits worth writing.
pub fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

impl Row {
    /// Makes a row of Sinew.
    pub fn sinew(scenario: &'static str, figures: Figures) -> Self {
        Self { scenario, system: "sinew", floor: None, settings: BTreeMap::new(), figures }
    }

    /// Makes a row of one of the machine's floors, measured for `scenario`.
    pub fn floor(scenario: &'static str, floor: &'static str, figures: Figures) -> Self {
        Self { scenario, system: "floor", floor: Some(floor), settings: BTreeMap::new(), figures }
    }

    /// Adds the executor that ran the nodes.
    pub fn run_by(self, executor: ExecutorOptions) -> Self {
        self.with("executor", executor.kind.name()).with("threads", executor.threads())
    }

    /// Adds an option that identifies the row.
    pub fn with(mut self, option: &'static str, value: impl Into<Setting>) -> Self {
        self.settings.insert(option, value.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Samples;

    fn round(values: &[i64]) -> Round {
        let mut samples = Samples::with_room_for(values.len());
        values.iter().for_each(|&value| samples.record(value));
        Round::of(samples)
    }

    #[test]
    fn figures_over_rounds_are_medians_with_their_spread() {
        let rounds = [round(&[10, 20, 90]), round(&[30, 40, 50]), round(&[5, 6, 7])];
        let figures = Figures::over(&rounds, 2);
        assert_eq!(
            (figures.p50_ns, figures.p50_min_ns, figures.p50_max_ns),
            (Some(10.0), Some(3.0), Some(20.0))
        );
        assert_eq!((figures.max_ns, figures.messages, figures.lost), (Some(45.0), Some(9), Some(0)));
    }

    #[test]
    fn a_row_holds_only_the_figures_that_apply() {
        let figures = Figures { p50_ns: Some(61.5), messages: Some(3), ..Figures::default() };
        let row = Row::floor("chain", "direct", figures).with("rate", 10.0).with("relays", 10_u32);
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(
            json,
            r#"{"scenario":"chain","system":"floor","floor":"direct","rate":10.0,"relays":10,"p50_ns":61.5,"messages":3}"#
        );
    }

    #[test]
    fn copies_are_reported_only_where_every_round_counted_them() {
        let mut counted = round(&[1]);
        counted.copies = Some(2);
        assert_eq!(Figures::over(&[counted], 1).copies, Some(2));
        assert_eq!(Figures::over(&[round(&[1])], 1).copies, None);
    }
}
