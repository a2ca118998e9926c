//! `sinew topic hz|bw|delay`: what goes on at a topic, report after report.

use std::collections::HashMap;

use serde_json::{Value, json};
use sinew_shm::EndpointKind;

use super::carried::Subscribing;
use super::list::TOPICS;
use super::track::Latencies;
use super::{Change, Track};
use crate::cli::tools::WatchOptions;
use crate::error::Error;
use crate::observed::{EndpointId, Observed, ObservedDomain};
use crate::output::{print, print_json, says};
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_bench::table::time;

/// What is reported.
pub(super) trait Report {
    /// Whose counters say it.
    const KIND: EndpointKind;

    /// What is measured, if that isn't what its name says.
    const MEANING: Option<&str> = None;

    /// For people; `None` if there is nothing to tell.
    fn text(total: &Total) -> Option<String>;

    /// For programs.
    fn json(total: &Total) -> Value;
}

/// What changed at all ends of a topic.
#[derive(Default)]
pub(super) struct Total {
    ends: usize,
    seconds: f64,
    rate: f64,
    messages: u64,
    bytes: u64,
    bytes_per_second: f64,
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
            total.latencies.add(&change.latencies);
        }
        total
    }
}

/// Reports until it is enough.
pub(super) fn run<R: Report>(options: &WatchOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.info.place)?;
    let name = &options.info.name;
    let snapshot = observed.look()?;
    if !snapshot.topics().contains_key(name.as_str()) {
        return Err(TOPICS.missing(&observed, &snapshot, name));
    }
    if let Some(told) = R::MEANING.filter(|_| !options.info.json) {
        says(told);
    }
    let window_ns = nanoseconds(options.window);
    let mut tracks = HashMap::new();
    follow::<R>(&mut tracks, &snapshot, name, window_ns);
    let mut subscribing = Subscribing::new(name);
    subscribe::<R>(&mut subscribing, options, &observed, &snapshot)?;
    let mut due_ns = now_ns();
    for _ in 0..options.count.unwrap_or(u64::MAX) {
        // After a long stop (Ctrl-Z) not all that was missed is made up for.
        due_ns = (due_ns + nanoseconds(options.interval)).max(now_ns());
        if !subscribing.wait(due_ns) {
            return Ok(());
        }
        let snapshot = observed.look()?;
        subscribe::<R>(&mut subscribing, options, &observed, &snapshot)?;
        follow::<R>(&mut tracks, &snapshot, name, window_ns);
        let total = Total::of(tracks.values().map(Track::change));
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

/// Publishers of the network count only what comes here. (A measurement of subscriptions is of those
/// that are there.)
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

fn follow<R: Report>(
    tracks: &mut HashMap<EndpointId, Track>,
    snapshot: &ObservedDomain,
    name: &str,
    window_ns: i64,
) {
    let before = std::mem::take(tracks);
    tracks.extend(before.into_iter().filter(|(id, _)| snapshot.endpoints.iter().any(|end| end.id() == *id)));
    for end in snapshot.of(R::KIND).filter(|end| end.entity.name == name) {
        let counts = end.counts();
        let new = || Track::new(window_ns, snapshot.at_ns, counts);
        tracks.entry(end.id()).or_insert_with(new).look(snapshot.at_ns, counts);
    }
}

/// `ros2 topic hz`.
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

/// `ros2 topic bw`.
pub(super) struct Bandwidth;

impl Report for Bandwidth {
    const KIND: EndpointKind = EndpointKind::Publisher;

    fn text(total: &Total) -> Option<String> {
        let Total { messages, bytes, bytes_per_second, ends, seconds, .. } = total;
        if *messages > 0 && *bytes == 0 {
            return Some(format!(
                "0 B/s from {messages} messages: none left its process, where they move by reference and their size isn't counted\n\
                 \twindow: {seconds:.1}s publishers: {ends}\n"
            ));
        }
        (*messages > 0).then(|| {
            let (rate, size) = (decimal(*bytes_per_second), decimal(*bytes as f64 / *messages as f64));
            format!("{rate}/s from {messages} messages\n\tMessage size mean: {size} publishers: {ends}\n")
        })
    }

    fn json(total: &Total) -> Value {
        json!({
            "publishers": total.ends, "messages": total.messages, "bytes": total.bytes,
            "bytes_per_second": total.bytes_per_second,
        })
    }
}

/// `ros2 topic delay`.
pub(super) struct Delay;

impl Report for Delay {
    const KIND: EndpointKind = EndpointKind::Subscription;
    const MEANING: Option<&str> = Some(
        "the delay is the time from a message's publication until its callback has it, as the subscriptions' processes note it \
         (ros2 topic delay tells the age of header.stamp)",
    );

    fn text(total: &Total) -> Option<String> {
        let latencies = &total.latencies;
        let below = |percent| latencies.below(percent).map(|ns| time(ns as f64));
        let (p50, p90, p99) = (below(50)?, below(90)?, below(99)?);
        let (seconds, count) = (latencies.mean()? / 1e9, latencies.count());
        Some(format!(
            "average delay: {seconds:.9}\n\tP50 < {p50}, P90 < {p90}, P99 < {p99} window: {count} subscriptions: {}\n",
            total.ends
        ))
    }

    fn json(total: &Total) -> Value {
        let latencies = &total.latencies;
        json!({
            "subscriptions": total.ends, "messages": latencies.count(), "average_delay_ns": latencies.mean(),
            "p50_below_ns": latencies.below(50), "p90_below_ns": latencies.below(90), "p99_below_ns": latencies.below(99),
        })
    }
}

/// A size in the units of `ros2 topic bw`: powers of ten.
fn decimal(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e3 => format!("{bytes:.0} B"),
        bytes if bytes < 1e6 => format!("{:.2} KB", bytes / 1e3),
        bytes => format!("{:.2} MB", bytes / 1e6),
    }
}
