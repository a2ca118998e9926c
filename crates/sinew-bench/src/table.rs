//! The results as a table for people: one line per row, one column per figure that any row has.

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::report::{Figures, Row, Setting};
use crate::machine::Host;

/// A column: its heading, and its text for a row.
type Column = (&'static str, fn(&Figures) -> Option<String>);

const COLUMNS: &[Column] = &[
    ("P50", |f| f.p50_ns.map(time)),
    ("P90", |f| f.p90_ns.map(time)),
    ("P99", |f| f.p99_ns.map(time)),
    ("max", |f| f.max_ns.map(time)),
    ("mean", |f| f.mean_ns.map(time)),
    ("x without", |f| f.mean_ratio.map(|ratio| format!("{ratio:.2}"))),
    ("P50 of rounds", |f| Some(format!("{} - {}", time(f.p50_min_ns?), time(f.p50_max_ns?)))),
    ("x floor", |f| f.floor_ratio.map(|ratio| format!("{ratio:.2}"))),
    ("P90 x floor", |f| f.p90_floor_ratio.map(|ratio| format!("{ratio:.2}"))),
    ("per hop P50", |f| f.per_hop_p50_ns.map(time)),
    ("x threads", |f| f.per_hop_ratio.map(|ratio| format!("{ratio:.2}"))),
    ("round trip P50", |f| f.roundtrip_p50_ns.map(time)),
    ("round trip P90", |f| f.roundtrip_p90_ns.map(time)),
    ("callbacks/s", |f| f.callbacks_per_second.map(|count| format!("{count:.0}"))),
    ("x plain threads", |f| f.callbacks_ratio.map(|ratio| format!("{ratio:.3}"))),
    ("publish P50", |f| f.publish_p50_ns.map(time)),
    ("age P50", |f| f.age_p50_ns.map(time)),
    ("publish x floor", |f| f.publish_floor_ratio.map(|ratio| format!("{ratio:.2}"))),
    ("messages/s", |f| f.messages_per_second.map(|count| format!("{count:.0}"))),
    ("GB/s", |f| f.bytes_per_second.map(|count| format!("{:.2}", count / 1e9))),
    ("create/pair", |f| f.create_ns_per_pair.map(time)),
    ("create CPU/pair", |f| f.create_cpu_ns_per_pair.map(time)),
    ("destroy/pair", |f| f.destroy_ns_per_pair.map(time)),
    ("RSS/pair", |f| f.rss_bytes_per_pair.map(bytes)),
    ("messages", |f| f.messages.map(|count| count.to_string())),
    ("lost", |f| f.lost.map(|count| count.to_string())),
    ("reordered", |f| f.reordered.map(|count| count.to_string())),
    ("late", |f| f.late.map(|count| count.to_string())),
    ("too late", |f| f.too_late.map(|count| count.to_string())),
    ("skipped", |f| f.skipped.map(|count| count.to_string())),
    ("copies", |f| f.copies.map(|count| count.to_string())),
    ("CPU", |f| f.cpu_percent.map(|percent| format!("{percent:.1} %"))),
    ("RSS at start", |f| f.rss_start_bytes.map(|count| bytes(count as f64))),
    ("RSS", |f| f.rss_bytes.map(|count| bytes(count as f64))),
    ("RSS growth", |f| f.rss_growth_bytes.map(|count| bytes(count as f64))),
];

/// Returns the table of `rows`.
pub fn of(rows: &[Row]) -> String {
    let columns: Vec<&Column> =
        COLUMNS.iter().filter(|(_, read)| rows.iter().any(|row| read(&row.figures).is_some())).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["what", "case"].into_iter().chain(columns.iter().map(|(heading, _)| *heading)));
    for row in rows {
        let figures = columns.iter().map(|(_, read)| Cell::new(read(&row.figures).unwrap_or_default()));
        table.add_row([Cell::new(name(row)), Cell::new(case(row))].into_iter().chain(figures));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// Describes the host of the measurement, and how reliable the figures are.
pub fn host_line(host: &Host) -> String {
    let warning = if host.build == "debug" { "\nA debug build: its times mean nothing." } else { "" };
    format!("{}, {} cores, {}, {}{warning}", host.cpu, host.cores, host.kernel, host.date)
}

fn name(row: &Row) -> String {
    row.floor.map_or_else(|| row.scenario.to_owned(), |floor| format!("floor {floor}"))
}

fn case(row: &Row) -> String {
    let text = |(option, value): (&&'static str, &Setting)| match value {
        Setting::Count(bytes_count) if *option == "size" => bytes(*bytes_count as f64),
        Setting::Count(count) => format!("{option} {count}"),
        Setting::Number(number) if *option == "rate" => format!("{number} Hz"),
        Setting::Number(number) => format!("{option} {number}"),
        Setting::Name(name) => name.clone(),
        Setting::Flag(_) => (*option).to_owned(),
    };
    // Zero work and "no" are only for programs.
    let says_something = |(option, value): &(&&'static str, &Setting)| match value {
        Setting::Count(0) => !option.starts_with("work_"),
        Setting::Flag(is_so) => *is_so,
        _ => true,
    };
    row.settings.iter().filter(says_something).map(text).collect::<Vec<_>>().join(", ")
}

/// Formats a time in the most readable unit.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 999.5 => format!("{} ns", significant(ns)),
        ns if ns < 999_500.0 => format!("{} µs", significant(ns / 1e3)),
        ns if ns < 999_500_000.0 => format!("{} ms", significant(ns / 1e6)),
        ns => format!("{} s", significant(ns / 1e9)),
    }
}

/// Formats a size, which may be negative, in binary units.
pub fn bytes(count: f64) -> String {
    match count.abs() {
        size if size < 1024.0 => format!("{count:.0} B"),
        size if size < 1024.0 * 1024.0 => format!("{} KB", significant(count / 1024.0)),
        _ => format!("{} MB", significant(count / (1024.0 * 1024.0))),
    }
}

/// Formats a number with three significant digits if it is below 1000, with more if it is larger.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_read_well() {
        let times = [0.0, 8.64, 63.0, 999.6, 1234.0, 45_678.0, 1_500_000.0, 2e9].map(time);
        assert_eq!(
            times,
            ["0.00 ns", "8.64 ns", "63.0 ns", "1.00 µs", "1.23 µs", "45.7 µs", "1.50 ms", "2.00 s"]
        );
        let sizes = [64.0, 1024.0, -2048.0, 8.0 * 1024.0 * 1024.0].map(bytes);
        assert_eq!(sizes, ["64 B", "1.00 KB", "-2.00 KB", "8.00 MB"]);
    }

    #[test]
    fn only_columns_that_say_something_appear() {
        let row = Row::floor("floors", "copy", Figures { p50_ns: Some(9.0), ..Figures::default() });
        let text = of(&[row.with("size", 64_u64).with("work_after_us", 0_u64).with("async", false)]);
        assert!(text.contains("P50") && text.contains("9.00 ns") && text.contains("64 B"), "{text}");
        assert!(!text.contains("work_after_us") && !text.contains("async"), "{text}");
        assert!(!text.contains("copies") && !text.contains("CPU"), "{text}");
    }
}
