//! `sinew topic hz|bw|latency`: periodic reports on a topic.

use std::collections::HashMap;

use serde_json::{Value, json};
use sinew::graph::EndpointKind;
use sinew_shm::Domain;

use super::carried::Subscribing;
use super::list::TOPICS;
use super::track::Latencies;
use super::{Change, Track};
use crate::cli::tools::WatchOptions;
use crate::error::Error;
use crate::interfaces;
use crate::observed::{EndpointId, Observed, ObservedDomain};
use crate::output::{print, print_json};
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_bench::units::time;

/// A kind of report.
pub(super) trait Report {
    /// The kind of endpoints with the counters.
    const KIND: EndpointKind;

    /// Whether it needs the size of messages.
    const ASKS_FOR_SIZE: bool = false;

    /// Formats the report as text; `None` if there is nothing to report.
    fn text(total: &Total) -> Option<String>;

    /// Formats the report as JSON.
    fn json(total: &Total) -> Value;
}

/// Changes over all endpoints of a topic.
#[derive(Default)]
pub(super) struct Total {
    ends: usize,
    seconds: f64,
    rate: f64,
    messages: u64,
    bytes: u64,
    bytes_per_second: f64,
    /// Messages that moved by reference inside their process, and their rate per second.
    by_reference: u64,
    by_reference_rate: f64,
    /// Size of each message in bytes, if it is the same for all messages and the type has a
    /// description.
    fixed_size: Option<u64>,
    latencies: Latencies,
}

impl Total {
    fn of(changes: impl Iterator<Item = Change>) -> Self {
        let mut total = Self::default();
        for change in changes {
            let seconds = change.span_ns as f64 / 1e9;
            total.ends += 1;
            total.seconds = total.seconds.max(seconds);
            total.rate += change.rate;
            total.messages = total.messages.wrapping_add(change.messages);
            total.bytes = total.bytes.wrapping_add(change.bytes);
            total.bytes_per_second += if seconds > 0.0 { change.bytes as f64 / seconds } else { 0.0 };
            if change.by_reference > 0 {
                total.by_reference = total.by_reference.wrapping_add(change.by_reference);
                total.by_reference_rate += change.rate;
            }
            total.latencies.add(&change.latencies);
        }
        total
    }
}

/// Reports until the end.
pub(super) fn run<R: Report>(options: &WatchOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.info.place)?;
    let name = &options.info.name;
    let snapshot = observed.look()?;
    if !snapshot.topics().contains_key(name.as_str()) {
        return Err(TOPICS.missing(&observed, snapshot.topics().into_keys(), name));
    }
    let fixed_size = if R::ASKS_FOR_SIZE { fixed_size(options, &observed, &snapshot) } else { None };
    let window_ns = nanoseconds(options.window);
    let mut tracks = HashMap::new();
    follow::<R>(&mut tracks, &snapshot, name, window_ns);
    let mut subscribing = Subscribing::new(name);
    subscribe::<R>(&mut subscribing, options, &observed, &snapshot)?;
    let mut due_ns = now_ns();
    for _ in 0..options.count.unwrap_or(u64::MAX) {
        // After a long stop (Ctrl-Z), missed reports are not all made up for.
        due_ns = (due_ns + nanoseconds(options.interval)).max(now_ns());
        if !subscribing.wait(due_ns) {
            return Ok(());
        }
        let snapshot = observed.look()?;
        subscribe::<R>(&mut subscribing, options, &observed, &snapshot)?;
        follow::<R>(&mut tracks, &snapshot, name, window_ns);
        let total = Total { fixed_size, ..Total::of(tracks.values().map(Track::change)) };
        if options.info.json {
            let mut value = R::json(&total);
            value["topic"] = json!(name);
            value["seconds"] = json!(total.seconds);
            print_json(&value)?;
        } else {
            let nothing = match R::KIND {
                EndpointKind::Subscription if total.ends == 0 => "no subscription takes the messages\n",
                _ => "no new messages\n",
            };
            print(&R::text(&total).unwrap_or_else(|| nothing.to_owned()))?;
        }
    }
    Ok(())
}

/// Subscribes for measurements of publishers: remote publishers count only the messages that come
/// here. (A measurement of subscriptions concerns the existing ones.)
fn subscribe<R: Report>(
    subscribing: &mut Subscribing,
    options: &WatchOptions,
    observed: &Observed,
    snapshot: &ObservedDomain,
) -> Result<(), Error> {
    match R::KIND {
        EndpointKind::Publisher => subscribing.look(options, observed, snapshot),
        _ => Ok(()),
    }
}

/// Returns the size of the topic's messages, if it is fixed.
fn fixed_size(options: &WatchOptions, observed: &Observed, snapshot: &ObservedDomain) -> Option<u64> {
    let domain = Domain::find(options.info.place.dir.as_deref(), observed.domain()).ok().flatten()?;
    let publisher = snapshot.of(EndpointKind::Publisher).find(|end| end.info.name == options.info.name)?;
    interfaces::fixed_size(&domain, &publisher.info.type_hash?.0)
}

fn follow<R: Report>(
    tracks: &mut HashMap<EndpointId, Track>,
    snapshot: &ObservedDomain,
    name: &str,
    window_ns: i64,
) {
    let before = std::mem::take(tracks);
    tracks.extend(before.into_iter().filter(|(id, _)| snapshot.endpoints.iter().any(|end| end.id() == *id)));
    for end in snapshot.of(R::KIND).filter(|end| end.info.name == name) {
        let counts = end.counts();
        let new = || Track::new(window_ns, snapshot.at_ns, counts);
        tracks.entry(end.id()).or_insert_with(new).look(snapshot.at_ns, counts);
    }
}

/// The report of `ros2 topic hz`.
pub(super) struct Rate;

impl Report for Rate {
    const KIND: EndpointKind = EndpointKind::Publisher;

    fn text(total: &Total) -> Option<String> {
        let Total { rate, messages, seconds, ends, .. } = total;
        (*messages > 0).then(|| {
            format!(
                "average rate: {rate:.3}\n\tmessages: {messages} window: {seconds:.1}s publishers: {ends}\n"
            )
        })
    }

    fn json(total: &Total) -> Value {
        json!({"publishers": total.ends, "messages": total.messages, "rate_hz": total.rate})
    }
}

/// The report of `ros2 topic bw`.
pub(super) struct Bandwidth;

impl Report for Bandwidth {
    const KIND: EndpointKind = EndpointKind::Publisher;
    const ASKS_FOR_SIZE: bool = true;

    fn text(total: &Total) -> Option<String> {
        let Total {
            messages, bytes, bytes_per_second, by_reference, by_reference_rate, ends, seconds, ..
        } = total;
        let window = format!("\twindow: {seconds:.1}s publishers: {ends}\n");
        if *messages == 0 {
            return None;
        }
        let inside = match total.fixed_size {
            _ if *by_reference == 0 => String::new(),
            Some(size) => format!(
                "{}/s by reference from {by_reference} messages of {}, which didn't leave their process\n",
                decimal(by_reference_rate * size as f64),
                decimal(size as f64)
            ),
            None => format!(
                "{by_reference_rate:.3} messages/s by reference from {by_reference} messages, which didn't leave their process; \
                 their size isn't counted\n"
            ),
        };
        let left = messages - by_reference;
        Some(match (left, bytes) {
            (0, _) => inside + &window,
            (_, 0) => format!("{inside}0 B/s from {left} messages, which no subscription gets\n{window}"),
            _ => {
                let (rate, size) = (decimal(*bytes_per_second), decimal(*bytes as f64 / left as f64));
                format!(
                    "{inside}{rate}/s from {left} messages\n\tMessage size mean: {size} publishers: {ends}\n"
                )
            }
        })
    }

    fn json(total: &Total) -> Value {
        json!({
            "publishers": total.ends, "messages": total.messages, "bytes": total.bytes,
            "bytes_per_second": total.bytes_per_second, "by_reference": total.by_reference,
            "by_reference_hz": total.by_reference_rate, "fixed_size": total.fixed_size,
        })
    }
}

/// The report of `sinew topic latency`.
pub(super) struct Latency;

impl Report for Latency {
    const KIND: EndpointKind = EndpointKind::Subscription;

    fn text(total: &Total) -> Option<String> {
        let latencies = &total.latencies;
        let (mean, count) = (latencies.mean()?, latencies.count());
        // P90 of five messages would be the longest of them.
        let told = [50, 90, 99].into_iter().filter(|percent| count.saturating_mul(100 - percent) >= 100);
        let told =
            told.filter_map(|percent| Some(format!("P{percent} {}, ", bucket(latencies.below(percent)?))));
        Some(format!(
            "average latency: {}\n\t{}messages: {count} subscriptions: {}\n",
            time(mean),
            told.collect::<String>(),
            total.ends
        ))
    }

    fn json(total: &Total) -> Value {
        let latencies = &total.latencies;
        json!({
            "subscriptions": total.ends, "messages": latencies.count(), "average_latency_ns": latencies.mean(),
            "p50_below_ns": latencies.below(50), "p90_below_ns": latencies.below(90), "p99_below_ns": latencies.below(99),
        })
    }
}

/// Formats a bucket of latencies by its upper end; it begins at half of that. Shows no more digits
/// than the counters support.
fn bucket(below_ns: u64) -> String {
    let rounded = |ns: u64| match ns {
        ..1_000 => (ns, "ns"),
        1_000..1_000_000 => (ns / 1_000, "µs"),
        1_000_000..1_000_000_000 => (ns / 1_000_000, "ms"),
        _ => (ns / 1_000_000_000, "s"),
    };
    let digits = |value: u64| if value < 100 { value } else { value / 10 * 10 };
    let ((from, unit), (to, of_end)) = (rounded(below_ns / 2), rounded(below_ns));
    let unit = if unit == of_end { String::new() } else { format!(" {unit}") };
    format!("{}{unit} to {} {of_end}", digits(from), digits(to))
}

/// Formats a size in the units of `ros2 topic bw`: powers of ten.
fn decimal(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e3 => format!("{bytes:.0} B"),
        bytes if bytes < 1e6 => format!("{:.2} KB", bytes / 1e3),
        bytes => format!("{:.2} MB", bytes / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_as_wide_as_the_counters() {
        for (below, told) in [
            (1, "0 to 1 ns"),
            (512, "250 to 510 ns"),
            (1024, "510 ns to 1 µs"),
            (8192, "4 to 8 µs"),
            (131_072, "65 to 130 µs"),
            (1 << 20, "520 µs to 1 ms"),
            (1 << 31, "1 to 2 s"),
        ] {
            assert_eq!(bucket(below), told);
        }
    }
}
