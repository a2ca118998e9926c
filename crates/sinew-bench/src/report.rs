//! Results: the figures of a round and over rounds, and the content of a row.

use std::ops::Add;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::samples::median;
use crate::units::{bytes, count, factor, percent, time};
use crate::{Samples, Summary, Usage};

/// The options that distinguish a row from its neighbours, by name.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Settings(pub(crate) Map<String, Value>);

impl Settings {
    /// Returns none.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns the options of a case: its fields.
    pub(crate) fn of(case: &impl Serialize) -> Self {
        match serde_json::to_value(case) {
            Ok(Value::Object(options)) => Self(options),
            _ => Self::default(),
        }
    }

    /// Returns the options of a case, with lists of one value as that value, and without those that
    /// have none.
    pub(crate) fn of_case(options: Map<String, Value>) -> Self {
        let only = |(name, value)| match value {
            Value::Array(values) => Some((name, values.into_iter().next()?)),
            Value::Null => None,
            // A file is told by its name.
            Value::String(file) if name == "file" => {
                let stem = Path::new(&file).file_stem()?.to_string_lossy().into_owned();
                Some((name, stem.into()))
            }
            value => Some((name, value)),
        };
        Self(options.into_iter().filter_map(only).collect())
    }

    /// Adds an option.
    pub(crate) fn with(mut self, option: &str, value: impl Into<Value>) -> Self {
        self.0.insert(option.to_owned(), value.into());
        self
    }
}

/// One measured case.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The scenario, or `floors` if only floors are measured.
    pub(crate) scenario: &'static str,
    /// `sinew`, another library, or `floor` for a limit of the machine.
    pub(crate) system: &'static str,
    /// The name of the floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) floor: Option<&'static str>,
    #[serde(flatten)]
    pub(crate) settings: Settings,
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// Defines [`Figures`]: each figure with the rule by which the rounds of a side make one, with its
/// heading in tables and with its format there.
macro_rules! figures {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $rule:ident, $heading:literal as $format:ident;)*) => {
        /// The figures of a round, or over all rounds of a side; those that don't apply are
        /// missing.
        #[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[serde(default)]
        pub struct Figures {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$kind>,)*
        }

        impl Figures {
            /// Combines the rounds of a side: medians of times and ratios, sums of counts, and the
            /// overall maximum. A figure that a round lacks is that of the other rounds.
            pub fn over(rounds: &[Self]) -> Self {
                Self { $($name: $rule(rounds.iter().filter_map(|round| round.$name)),)* }
            }

            /// Returns a figure by its name in the results.
            pub fn get(&self, name: &str) -> Option<f64> {
                match name {
                    $(stringify!($name) => self.$name.map(|value| value as f64),)*
                    _ => None,
                }
            }

            /// Returns each figure's heading, and its text.
            pub(crate) fn columns(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
                [$(($heading, self.$name.map(|value| $format(value as f64))),)*].into_iter()
            }
        }
    };
}

figures! {
    /// The median.
    p50_ns: f64 = middle, "P50" as time;
    /// The 90th percentile.
    p90_ns: f64 = middle, "P90" as time;
    /// The 99th percentile.
    p99_ns: f64 = middle, "P99" as time;
    /// The largest.
    max_ns: f64 = most, "max" as time;
    /// The mean.
    mean_ns: f64 = middle, "mean" as time;
    /// `mean_ns` as a multiple of the value without a listener in another process.
    mean_ratio: f64 = middle, "x without" as factor;
    /// The P50 of the best round: with `p50_max_ns`, the spread.
    p50_min_ns: f64 = least, "best P50" as time;
    /// The P50 of the worst round.
    p50_max_ns: f64 = most, "worst P50" as time;
    /// From the due time of the source's tick until the sink has its message: the whole way,
    /// including the source's own wake-up, and not per hop. The median, in nanoseconds.
    due_p50_ns: f64 = middle, "from due P50" as time;
    /// The 99.9th percentile of the same times.
    due_p999_ns: f64 = middle, "from due P99.9" as time;
    /// The longest of the same times.
    due_max_ns: f64 = most, "from due max" as time;
    /// The first message of a round, on its whole way: what it runs through was not used before.
    first_ns: f64 = middle, "first" as time;
    /// P50 as a multiple of the floor's in the same round.
    floor_ratio: f64 = middle, "x floor" as factor;
    /// P90 as a multiple of the floor's in the same round.
    p90_floor_ratio: f64 = middle, "P90 x floor" as factor;
    /// P50 as a multiple of that of the same work in Rust in the same round.
    rust_ratio: f64 = middle, "x Rust" as factor;
    /// P50 less that of the same work in Rust in the same round, in nanoseconds.
    over_rust_ns: f64 = middle, "more than Rust" as time;
    /// Instructions of each operation.
    instructions: f64 = middle, "instructions" as count;
    /// Those less those of the same work in Rust.
    over_rust_instructions: f64 = middle, "instructions more than Rust" as count;
    /// Source to sink per hop, if the other times mean something else.
    per_hop_p50_ns: f64 = middle, "per hop P50" as time;
    /// `per_hop_p50_ns` as a multiple of the minimum for the number of threads.
    per_hop_ratio: f64 = middle, "x threads" as factor;
    /// From a call to its answer, halved, per hop.
    roundtrip_p50_ns: f64 = middle, "round trip P50" as time;
    /// The 90th percentile of the same.
    roundtrip_p90_ns: f64 = middle, "round trip P90" as time;
    /// Callbacks that ran, per second.
    callbacks_per_second: f64 = middle, "callbacks/s" as count;
    /// Callbacks per second as a multiple of that of plain threads in the same round.
    callbacks_ratio: f64 = middle, "x plain threads" as factor;
    /// The 99th percentile of the lateness of ticks.
    lateness_p99_ns: f64 = middle, "late P99" as time;
    /// The time inside `publish`.
    publish_p50_ns: f64 = middle, "publish P50" as time;
    /// Age of a value at the end of its read: the time since its write began.
    age_p50_ns: f64 = middle, "age P50" as time;
    /// `publish_p50_ns` as a multiple of the floor's P50 in the same round.
    publish_floor_ratio: f64 = middle, "publish x floor" as factor;
    /// Messages that arrived, per second.
    messages_per_second: f64 = middle, "messages/s" as count;
    /// Bytes of the messages that arrived, per second.
    bytes_per_second: f64 = middle, "bytes/s" as bytes;
    /// Time for creating a publisher with its subscription.
    create_ns_per_pair: f64 = middle, "create/pair" as time;
    /// The CPU time of all processes while both are created.
    create_cpu_ns_per_pair: f64 = middle, "create CPU/pair" as time;
    /// Time for dropping both.
    destroy_ns_per_pair: f64 = middle, "destroy/pair" as time;
    /// The memory of both.
    rss_bytes_per_pair: f64 = middle, "RSS/pair" as bytes;
    /// Number of rounds.
    rounds: u64 = sum, "rounds" as count;
    /// Messages measured.
    messages: u64 = sum, "messages" as count;
    /// Messages that were sent and never came.
    lost: u64 = sum, "lost" as count;
    /// Messages that came after a later one, or twice; missing if there are none.
    reordered: u64 = sum, "reordered" as count;
    /// Messages that came late.
    late: u64 = sum, "late" as count;
    /// Messages that came too late to be useful.
    too_late: u64 = sum, "too late" as count;
    /// Ticks at which nothing was published.
    skipped: u64 = sum, "skipped" as count;
    /// Number of copies of all messages together.
    copies: u64 = sum, "copies" as count;
    /// Number of times that an idle process was woken.
    wake_ups: u64 = sum, "wake-ups" as count;
    /// CPU time per elapsed time, in percent of one core.
    cpu_percent: f64 = middle, "CPU" as percent;
    /// Resident memory of all processes, at the end.
    rss_bytes: u64 = most, "RSS" as bytes;
    /// Resident memory at the start.
    rss_start_bytes: u64 = most, "RSS at start" as bytes;
    /// Its growth during the run.
    rss_growth_bytes: i64 = most, "RSS growth" as bytes;
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    median(values).map(|value| (value * 1000.0).round() / 1000.0)
}

fn sum<T: Add<Output = T>>(values: impl Iterator<Item = T>) -> Option<T> {
    values.reduce(Add::add)
}

fn least<T: PartialOrd>(values: impl Iterator<Item = T>) -> Option<T> {
    values.reduce(|one, other| if other < one { other } else { one })
}

fn most<T: PartialOrd>(values: impl Iterator<Item = T>) -> Option<T> {
    values.reduce(|one, other| if other > one { other } else { one })
}

/// Subtracts the figure beside it; `None` unless both exist.
fn difference(figure: Option<f64>, beside: Option<f64>) -> Option<f64> {
    Some(figure? - beside?)
}

/// Divides a figure by the one beside it; `None` unless both exist.
fn ratio(figure: Option<f64>, beside: Option<f64>) -> Option<f64> {
    Some(figure? / beside.filter(|&beside| beside > 0.0)?)
}

impl Figures {
    /// Returns the figures of a round in which every sample is a message and none can be lost, as
    /// in the floors. `parts` divides each sample (see [`Samples::summary`]).
    pub fn of(samples: &Samples, parts: u32) -> Self {
        let messages = Some(samples.recorded());
        Self { rounds: Some(1), messages, lost: Some(0), ..Self::default() }.timed(samples.summary(parts))
    }

    /// Replaces the times.
    #[must_use]
    pub fn timed(self, summary: Option<Summary>) -> Self {
        let rounded = |figure: fn(Summary) -> f64| summary.map(|of| (figure(of) * 1000.0).round() / 1000.0);
        let p50_ns = rounded(|summary| summary.p50);
        Self {
            p50_ns,
            p90_ns: rounded(|summary| summary.p90),
            p99_ns: rounded(|summary| summary.p99),
            max_ns: rounded(|summary| summary.max),
            p50_min_ns: p50_ns,
            p50_max_ns: p50_ns,
            ..self
        }
    }

    /// Sets the times from the due time of the source's tick until the sink has its message.
    #[must_use]
    pub fn since_due(self, due: &Samples) -> Self {
        let Some(due) = due.summary(1) else { return self };
        let (due_p50_ns, due_p999_ns, due_max_ns) = (Some(due.p50), Some(due.p999), Some(due.max));
        Self { due_p50_ns, due_p999_ns, due_max_ns, ..self }
    }

    /// Sets the numbers of messages that were lost, and that came out of order.
    #[must_use]
    pub fn faulty(self, lost: u64, reordered: u64) -> Self {
        Self { lost: Some(lost), reordered: Some(reordered).filter(|&count| count > 0), ..self }
    }

    /// Adds the resources of all processes.
    #[must_use]
    pub fn using(self, usage: Usage) -> Self {
        let cpu_percent = middle(std::iter::once(usage.cpu_percent));
        Self { cpu_percent, rss_bytes: Some(usage.rss_bytes).filter(|&bytes| bytes > 0), ..self }
    }

    /// Adds the ratios to a floor that was measured in the same round.
    #[must_use]
    pub(crate) fn beside(self, floor: &Self) -> Self {
        Self {
            floor_ratio: ratio(self.p50_ns, floor.p50_ns),
            p90_floor_ratio: ratio(self.p90_ns, floor.p90_ns),
            publish_floor_ratio: ratio(self.publish_p50_ns, floor.p50_ns),
            callbacks_ratio: ratio(self.callbacks_per_second, floor.callbacks_per_second),
            ..self
        }
    }

    /// Adds the comparison with the same work in Rust, measured in the same round.
    #[must_use]
    pub(crate) fn beside_rust(self, rust: &Self) -> Self {
        Self {
            rust_ratio: ratio(self.p50_ns, rust.p50_ns),
            over_rust_ns: difference(self.p50_ns, rust.p50_ns),
            over_rust_instructions: difference(self.instructions, rust.instructions),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(values: &[i64], parts: u32) -> Figures {
        let mut samples = Samples::with_room_for(values.len());
        values.iter().for_each(|&value| samples.record(value));
        Figures::of(&samples, parts)
    }

    #[test]
    fn figures_over_rounds_are_medians_with_their_spread() {
        let rounds = [round(&[10, 20, 90], 2), round(&[30, 40, 50], 2), round(&[5, 6, 7], 2)];
        let figures = Figures::over(&rounds);
        assert_eq!(
            (figures.p50_ns, figures.p50_min_ns, figures.p50_max_ns),
            (Some(10.0), Some(3.0), Some(20.0))
        );
        assert_eq!((figures.max_ns, figures.rounds), (Some(45.0), Some(3)));
        assert_eq!((figures.messages, figures.lost, figures.copies), (Some(9), Some(0), None));
        assert_eq!(
            (figures.get("messages"), figures.get("copies"), figures.get("rate")),
            (Some(9.0), None, None)
        );
    }

    #[test]
    fn ratios_are_of_values_per_part() {
        let ours = round(&[100], 10);
        let beside = |floor: &Figures| ours.clone().beside(floor);
        assert_eq!(beside(&round(&[10], 2)).floor_ratio, Some(2.0));
        assert_eq!(beside(&round(&[0], 2)).floor_ratio, None);
        assert_eq!(beside(&round(&[10], 2)).callbacks_ratio, None);
    }

    #[test]
    fn a_row_holds_only_the_figures_that_apply() {
        let figures = Figures { p50_ns: Some(61.5), messages: Some(3), ..Figures::default() };
        let settings = Settings::new().with("rate", 10.0).with("relays", 10_u32);
        let row = Row { scenario: "chain", system: "floor", floor: Some("direct"), settings, figures };
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(
            json,
            r#"{"scenario":"chain","system":"floor","floor":"direct","rate":10.0,"relays":10,"p50_ns":61.5,"messages":3}"#
        );
    }
}
