//! The view as lines of text. Pure: the same figures on the same size give the same lines.

use std::cmp::{Ordering, Reverse};

use super::figures::{
    Figures, GatewayFigures, NetworkServiceFigures, NetworkTopicFigures, ProcessFigures, TimerFigures, Topic,
};
use super::keys::Key;
use crate::graph::NOT_CARRIED;
use sinew_bench::units::{bytes, time};
use sinew_msg::is_unseen;

/// The order of the topics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    Name,
    #[default]
    Rate,
    Bytes,
    Latency,
    Queue,
    Drops,
}

impl Order {
    const ALL: [Self; 6] = [Self::Name, Self::Rate, Self::Bytes, Self::Latency, Self::Queue, Self::Drops];

    fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Rate => "rate",
            Self::Bytes => "bytes",
            Self::Latency => "latency",
            Self::Queue => "queue",
            Self::Drops => "drops",
        }
    }

    fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|order| *order == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }

    /// Compares names in ascending and figures in descending order.
    fn compare(self, one: &Topic, other: &Topic) -> Ordering {
        let most = |figure: fn(&Topic) -> f64| figure(other).total_cmp(&figure(one));
        let first = match self {
            Self::Name => Ordering::Equal,
            Self::Rate => most(|topic| topic.rate_hz),
            Self::Bytes => most(|topic| topic.bytes_per_second),
            Self::Latency => most(|topic| topic.mean_latency_ns.unwrap_or(-1.0)),
            Self::Queue => Reverse(one.queued).cmp(&Reverse(other.queued)),
            Self::Drops => {
                Reverse((one.dropped_now, one.dropped)).cmp(&Reverse((other.dropped_now, other.dropped)))
            }
        };
        first.then_with(|| one.name.cmp(&other.name))
    }
}

/// The displayed part of the figures, and their order.
pub(super) struct View {
    domain: u32,
    pub(super) has_keys: bool,
    order: Order,
    /// Index of the first topic shown.
    first: usize,
}

/// Number of topics in a page.
const PAGE: usize = 10;

impl View {
    pub(super) fn new(domain: u32) -> Self {
        Self { domain, has_keys: false, order: Order::default(), first: 0 }
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: Key, figures: &Figures) {
        match key {
            Key::Quit => {}
            Key::Sort => self.order = self.order.step(1),
            Key::SortBack => self.order = self.order.step(Order::ALL.len() - 1),
            Key::Up => self.first = self.first.saturating_sub(1),
            Key::Down => self.first += 1,
            Key::PageUp => self.first = self.first.saturating_sub(PAGE),
            Key::PageDown => self.first += PAGE,
            Key::Home => self.first = 0,
            Key::End => self.first = usize::MAX,
        }
        self.first = self.first.min(figures.topics.len().saturating_sub(1));
    }
}

/// A column: its heading, its width, and its text for a row. The first column takes the remaining
/// width.
type Column<T> = (&'static str, usize, fn(&T) -> String);

const PROCESS: &[Column<ProcessFigures>] = &[
    ("PROCESS", 0, |process| process.program.clone()),
    ("PID", 8, |process| process.pid.to_string()),
    ("NODES", 6, |process| process.nodes.to_string()),
    ("PUB", 6, |process| process.publishers.to_string()),
    ("SUB", 6, |process| process.subscriptions.to_string()),
    ("SENT/S", 9, |process| rate(process.published_hz)),
    ("TAKEN/S", 9, |process| rate(process.taken_hz)),
    ("BYTES/S", 9, |process| moved_bytes(process.bytes_per_second, process.by_reference_hz)),
    ("MEMORY", 8, |process| bytes(process.memory as f64)),
    ("DROPS", 7, |process| count(process.dropped)),
];

const TOPIC: &[Column<Topic>] = &[
    ("TOPIC", 0, |topic| topic.name.clone()),
    ("PUB", 5, |topic| topic.publishers.to_string()),
    ("SUB", 5, |topic| topic.subscriptions.to_string()),
    ("MSG/S", 8, |topic| rate(topic.rate_hz)),
    ("BYTES/S", 9, |topic| moved_bytes(topic.bytes_per_second, topic.by_reference_hz)),
    ("COPIES/S", 9, |topic| rate(topic.copies_hz + topic.encodings_hz + topic.decodings_hz)),
    ("LATENCY", 8, |topic| topic.mean_latency_ns.map_or_else(String::new, time)),
    ("P99 <", 8, |topic| topic.p99_below_ns.map_or_else(String::new, |ns| time(ns as f64))),
    ("QUEUE", 6, |topic| count(topic.queued)),
    ("DROPS", 7, |topic| count(topic.dropped)),
];

/// A row's text in place of its columns, and the number of columns before it.
type Note<T> = fn(&T) -> Option<(usize, &'static str)>;

fn no_note<T>(_: &T) -> Option<(usize, &'static str)> {
    None
}

fn not_carried(topic: &Topic) -> Option<(usize, &'static str)> {
    (!topic.carried).then_some((3, NOT_CARRIED))
}

const NETWORK_TOPIC: &[Column<NetworkTopicFigures>] = &[
    ("NETWORK TOPIC", 0, |topic| topic.totals.name.clone()),
    ("IN/S", 8, |topic| rate(topic.received_hz)),
    ("BYTES/S", 9, |topic| bytes(topic.received_bytes_per_second)),
    ("LOST", 7, |topic| count(topic.totals.missed.wrapping_add(topic.totals.refused))),
    ("OUT/S", 8, |topic| rate(topic.sent_hz)),
    ("BYTES/S", 9, |topic| bytes(topic.sent_bytes_per_second)),
    ("UNSENT", 7, |topic| count(topic.totals.unsent)),
    ("LIMITED", 8, |topic| count(topic.totals.limited)),
];

const NETWORK_SERVICE: &[Column<NetworkServiceFigures>] = &[
    ("NETWORK SERVICE", 0, |service| service.totals.name.clone()),
    ("CALLS/S", 9, |service| rate(service.calls_hz)),
    ("CALLS", 8, |service| count(service.totals.calls)),
    ("FAILED", 8, |service| count(service.totals.failed)),
];

const TIMER: &[Column<TimerFigures>] = &[
    ("TIMER OF", 0, |timer| timer.node.clone()),
    ("PERIOD", 14, |timer| timer.timer.period()),
    ("CLOCK", 8, |timer| timer.timer.clock.to_owned()),
    ("CALLS/S", 9, |timer| rate(timer.calls_hz)),
    ("SKIPPED", 9, |timer| count(timer.timer.skipped)),
];

/// Draws everything within the given columns and rows.
pub(super) fn lines(figures: &Figures, view: &View, (columns, rows): (usize, usize)) -> Vec<String> {
    let keys = if view.has_keys { "; q ends, s sorts, arrows scroll" } else { "" };
    let head = format!(
        "domain {}: {} processes, {} topics by {}{keys}",
        view.domain,
        figures.processes.len(),
        figures.topics.len(),
        view.order.name()
    );
    let mut lines = vec![cut(&head, columns)];
    let for_processes = (rows.saturating_sub(5) / 3).max(2);
    let processes: Vec<_> = figures.processes.iter().collect();
    lines.extend(table((PROCESS, no_note), &processes, (columns, for_processes)));
    lines.extend(held_up(&figures.processes, columns));
    for gateway in &figures.gateways {
        lines.extend(network(gateway, (columns, rows.saturating_sub(5) / 5)));
    }
    let mut timers: Vec<_> = figures.timers.iter().collect();
    timers.sort_by(|one, other| {
        // Timers that skip calls first, then by their rate.
        let skipped = other.timer.skipped.cmp(&one.timer.skipped);
        skipped.then(other.calls_hz.total_cmp(&one.calls_hz)).then_with(|| one.node.cmp(&other.node))
    });
    if !timers.is_empty() {
        lines.extend(table((TIMER, no_note), &timers, (columns, (rows.saturating_sub(5) / 6).max(2))));
    }
    lines.push(String::new());
    let mut topics: Vec<&Topic> = figures.topics.iter().collect();
    topics.sort_by(|one, other| view.order.compare(one, other));
    let left = rows.saturating_sub(lines.len() + 1);
    // Scrolled no further than to the last full page.
    let first = view.first.min(topics.len().saturating_sub(left));
    lines.extend(table((TOPIC, not_carried), &topics[first..], (columns, left)));
    lines.truncate(rows);
    lines
}

/// Draws a gateway and its topics, the busiest first.
fn network(gateway: &GatewayFigures, (columns, room): (usize, usize)) -> Vec<String> {
    let GatewayFigures { pid, program, connections, .. } = gateway;
    let mut lines = vec![cut(&format!("gateway {pid} ({program}): {connections}"), columns)];
    let moved = |topic: &NetworkTopicFigures| topic.received_hz + topic.sent_hz;
    let is_used = |topic: &&NetworkTopicFigures| topic.totals.totals().iter().any(|(_, count)| *count > 0);
    let mut topics: Vec<_> = gateway.topics.iter().filter(is_used).collect();
    topics.sort_by(|one, other| moved(other).total_cmp(&moved(one)));
    if !topics.is_empty() {
        lines.extend(table((NETWORK_TOPIC, no_note), &topics, (columns, room.max(2))));
    }
    let mut services: Vec<_> = gateway.services.iter().filter(|service| service.totals.calls > 0).collect();
    services.sort_by(|one, other| other.calls_hz.total_cmp(&one.calls_hz));
    if !services.is_empty() {
        lines.extend(table((NETWORK_SERVICE, no_note), &services, (columns, room.max(2))));
    }
    lines
}

/// Most stuck processes that are listed.
const HELD_UP: usize = 4;

/// Lists long-running callbacks, the longest first.
fn held_up(processes: &[ProcessFigures], columns: usize) -> Vec<String> {
    let of = |process: &ProcessFigures| {
        let longest = process.in_callbacks.iter().max_by_key(|held| held.nanoseconds)?;
        let ProcessFigures { program, pid, waiting, .. } = process;
        let waiting = if *waiting > 0 { format!("; {} waiting", count(*waiting)) } else { String::new() };
        Some((longest.nanoseconds, format!("{program} ({pid}) is {}{waiting}", longest.text())))
    };
    let mut held: Vec<_> = processes.iter().filter_map(of).collect();
    held.sort_unstable_by(|one, other| other.cmp(one));
    held.iter().take(HELD_UP).map(|(_, text)| cut(text, columns)).collect()
}

/// Draws headings, and as many rows as fit; the last one says how many more there are.
fn table<T>(
    (table, note): (&[Column<T>], Note<T>),
    rows: &[&T],
    (columns, room): (usize, usize),
) -> Vec<String> {
    let others: usize = table.iter().map(|(_, width, _)| width).sum();
    let width = columns.saturating_sub(others).max(10);
    let line = |cell: &dyn Fn(&Column<T>) -> String, note: Option<(usize, &str)>| {
        let mut line = String::new();
        let (shown, note) = note.unwrap_or((table.len(), ""));
        for (index, column) in table[..shown].iter().enumerate() {
            let text = cell(column);
            line += &if index == 0 {
                format!("{:<width$}", cut(&text, width))
            } else {
                format!("{text:>0$}", column.1)
            };
        }
        cut(format!("{line}  {note}").trim_end(), columns)
    };
    let mut lines = vec![line(&|column| column.0.to_owned(), None)];
    let shown = if rows.len() > room { room.saturating_sub(1) } else { rows.len() };
    lines.extend(rows[..shown].iter().map(|row| line(&|column| (column.2)(row), note(row))));
    if shown < rows.len() {
        lines.push(cut(&format!("... and {} more", rows.len() - shown), columns));
    }
    lines
}

/// Cuts a text to `width` letters, with `~` for the omitted ones.
fn cut(text: &str, width: usize) -> String {
    // Control characters are replaced, as they would move the cursor.
    let mut letters: Vec<char> =
        text.chars().map(|letter| if is_unseen(letter) { '?' } else { letter }).collect();
    if letters.len() > width {
        letters.truncate(width);
        letters.pop();
        letters.extend((width > 0).then_some('~'));
    }
    letters.into_iter().collect()
}

/// Formats the bytes that left the publishers' processes; `by ref` if none did because all messages
/// moved by reference.
fn moved_bytes(bytes_per_second: f64, by_reference_hz: f64) -> String {
    let is_by_reference = by_reference_hz > 0.0 && bytes_per_second == 0.0;
    if is_by_reference { "by ref".to_owned() } else { bytes(bytes_per_second) }
}

fn rate(hz: f64) -> String {
    match hz {
        hz if hz < 9.995 => format!("{hz:.2}"),
        hz if hz < 999.5 => format!("{hz:.1}"),
        hz if hz < 99_999.5 => format!("{hz:.0}"),
        hz => format!("{:.0}k", hz / 1e3),
    }
}

fn count(count: u64) -> String {
    match count {
        0..100_000 => count.to_string(),
        100_000..10_000_000 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateways::NetworkTopic;

    fn figures() -> Figures {
        let topic = |index: u64| Topic {
            name: format!("/topic{index}"),
            publishers: 1,
            subscriptions: 2,
            carried: index != 48,
            rate_hz: index as f64,
            bytes_per_second: 2048.0,
            mean_latency_ns: (index > 0).then_some(1e6 / (index as f64 + 1.0)),
            p99_below_ns: (index > 0).then_some(16_384),
            queued: index % 7,
            dropped: index * 10_000,
            ..Topic::default()
        };
        let process = |index: u64| ProcessFigures {
            pid: 1000 + index,
            program: "a_program_with_a_name_of_sixty_four_bytes_which_is_too_long_for_it".into(),
            nodes: 3,
            ..ProcessFigures::default()
        };
        Figures {
            seconds: 1.0,
            processes: (0..40).map(process).collect(),
            gateways: Vec::new(),
            topics: (0..50).map(topic).collect(),
            timers: Vec::new(),
        }
    }

    #[test]
    fn it_fits_any_size() {
        let figures = figures();
        for (columns, rows) in [(80, 24), (40, 10), (10, 3), (1, 1), (0, 0), (200, 60)] {
            let lines = lines(&figures, &View::new(0), (columns, rows));
            assert!(lines.len() <= rows, "{} of {rows} rows", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= columns), "{columns}: {lines:#?}");
        }
    }

    #[test]
    fn what_a_gateway_brings_over_is_shown_if_it_is_something() {
        let topic = |name: &str, received: u64| NetworkTopicFigures {
            totals: NetworkTopic {
                name: name.to_owned(),
                received,
                missed: received / 3,
                refused: received / 7,
                unsent: 5,
                ..NetworkTopic::default()
            },
            received_hz: received as f64,
            ..NetworkTopicFigures::default()
        };
        let mut idle = topic("/idle", 0);
        idle.totals.unsent = 0;
        let gateway = GatewayFigures {
            pid: 7,
            program: "sinew".to_owned(),
            connections: "one router".to_owned(),
            topics: vec![topic("/slow", 1), idle, topic("/fast", 21)],
            ..GatewayFigures::default()
        };
        let figures = Figures { gateways: vec![gateway], ..Figures::default() };
        let lines = lines(&figures, &View::new(0), (80, 24));
        let rows: Vec<Vec<&str>> = lines.iter().map(|line| line.split_whitespace().collect()).collect();
        let at = rows.iter().position(|row| row[..2] == ["gateway", "7"]).unwrap();
        assert_eq!(lines[at], "gateway 7 (sinew): one router");
        assert_eq!(rows[at + 1].last(), Some(&"LIMITED"));
        assert_eq!(rows[at + 2], ["/fast", "21.0", "0", "B", "10", "0.00", "0", "B", "5", "0"]);
        assert_eq!(rows[at + 3][0], "/slow");
        assert_eq!(rows[at + 4], Vec::<&str>::new(), "no services: {lines:#?}");
    }

    #[test]
    fn a_terminal_of_80_by_24_shows_all_columns_and_says_what_it_leaves_out() {
        let lines = lines(&figures(), &View { has_keys: true, ..View::new(3) }, (80, 24));
        assert_eq!(lines.len(), 24);
        assert_eq!(lines[0], "domain 3: 40 processes, 50 topics by rate; q ends, s sorts, arrows scroll");
        assert_eq!(
            lines[1],
            "PROCESS          PID NODES   PUB   SUB   SENT/S  TAKEN/S  BYTES/S  MEMORY  DROPS"
        );
        assert!(lines[7].starts_with("... and 35 more"), "{lines:#?}");
        assert!(lines[9].starts_with("TOPIC") && lines[9].ends_with("QUEUE  DROPS"), "{lines:#?}");
        assert!(lines[10].starts_with("/topic49") && lines[10].ends_with(" 490k"), "{lines:#?}");
        assert!(lines[11].starts_with("/topic48"), "{lines:#?}");
        assert!(lines[11].ends_with(" 1    2  not carried: no subscription here"), "{lines:#?}");
        assert_eq!(lines[23], "... and 37 more");
    }

    #[test]
    fn keys_order_and_scroll() {
        let figures = figures();
        let mut view = View::new(0);
        let first = |view: &View| lines(&figures, view, (80, 24))[10].split(' ').next().unwrap().to_owned();
        let orders = ["/topic0", "/topic0", "/topic1", "/topic13", "/topic49"];
        for (key, expected) in [Key::SortBack, Key::Sort, Key::Sort, Key::Sort, Key::Sort]
            .into_iter()
            .zip([orders[0], "/topic49", "/topic0", orders[2], orders[3]])
        {
            view.press(key, &figures);
            assert_eq!(first(&view), expected, "by {}", view.order.name());
        }
        view.press(Key::Sort, &figures);
        assert_eq!((view.order, first(&view)), (Order::Drops, orders[4].to_owned()));
        view.press(Key::Down, &figures);
        assert_eq!(first(&view), "/topic48");
        view.press(Key::End, &figures);
        assert!(lines(&figures, &view, (80, 24))[23].starts_with("/topic0 "));
        view.press(Key::Up, &figures);
        view.press(Key::Home, &figures);
        assert_eq!(first(&view), "/topic49");
    }

    #[test]
    fn names_cant_move_the_cursor() {
        assert_eq!(cut("/a\x1b[2Jb\n", 20), "/a?[2Jb?");
        assert_eq!((cut("/abc", 3), cut("/abc", 0)), ("/a~".to_owned(), String::new()));
    }

    #[test]
    fn what_moves_by_reference_is_not_nothing() {
        assert_eq!([moved_bytes(0.0, 30.0), moved_bytes(0.0, 0.0)], ["by ref", "0 B"]);
        assert_eq!(moved_bytes(2048.0, 30.0), "2.00 KB");
    }

    #[test]
    fn numbers_stay_short() {
        assert_eq!([0.5, 99.96, 1234.0, 2.5e6].map(rate), ["0.50", "100.0", "1234", "2500k"]);
        assert_eq!([7, 123_456, 98_765_432].map(count), ["7", "123k", "98M"]);
    }
}
