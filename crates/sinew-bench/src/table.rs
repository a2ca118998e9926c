//! The results as a table for people: one line per row, one column per figure that any row has.

use std::collections::BTreeSet;

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde_json::Value;

use crate::Settings;
use crate::machine::Host;
use crate::report::Row;
use crate::units::bytes;

/// Returns the table of `rows`.
pub(crate) fn of(rows: &[Row]) -> String {
    let figures: Vec<Vec<_>> = rows.iter().map(|row| row.figures.columns().collect()).collect();
    let is_filled = |index: &usize| figures.iter().any(|figures| figures[*index].1.is_some());
    let columns: BTreeSet<usize> = (0..figures.first().map_or(0, Vec::len)).filter(is_filled).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["what", "case"].into_iter().chain(columns.iter().map(|&index| figures[0][index].0)));
    for (row, figures) in rows.iter().zip(&figures) {
        let figures = columns.iter().map(|&index| Cell::new(figures[index].1.clone().unwrap_or_default()));
        table.add_row([Cell::new(name(row)), Cell::new(case(&row.settings))].into_iter().chain(figures));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// Describes the host of the measurement, and how reliable the figures are.
pub(crate) fn host_line(host: &Host) -> String {
    let warning = if host.build == "debug" { "\nA debug build: its times mean nothing." } else { "" };
    let Host { cpu, cores, kernel, date, profile, .. } = host;
    format!("{cpu}, {cores} cores, {kernel}, {date}, built by the profile {profile}{warning}")
}

fn name(row: &Row) -> String {
    row.floor.map_or_else(|| row.scenario.to_owned(), |floor| format!("floor {floor}"))
}

/// Describes a case by its options.
pub(crate) fn case(settings: &Settings) -> String {
    let text = |(option, value): (&String, &Value)| match (option.as_str(), value) {
        ("size", Value::Number(size)) => bytes(size.as_f64().unwrap_or(0.0)),
        ("rate", Value::Number(rate)) => format!("{} Hz", rate.as_f64().unwrap_or(0.0)),
        (_, Value::String(name)) => name.clone(),
        (option, Value::Bool(_)) => option.to_owned(),
        (option, value) => format!("{option} {}", value.as_f64().unwrap_or(0.0)),
    };
    // Zero work and "no" are only for programs.
    let says_something = |(option, value): &(&String, &Value)| match value {
        Value::Number(_) => !(option.starts_with("work_") && value.as_f64() == Some(0.0)),
        Value::Bool(is_so) => *is_so,
        _ => true,
    };
    settings.0.iter().filter(says_something).map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Figures;

    #[test]
    fn only_columns_that_say_something_appear() {
        let settings = Settings::new().with("size", 64_u64).with("work_after_us", 0_u64).with("async", false);
        let figures = Figures { p50_ns: Some(9.0), ..Figures::default() };
        let text = of(&[Row { scenario: "floors", system: "floor", floor: Some("copy"), settings, figures }]);
        assert!(text.contains("P50") && text.contains("9.00 ns") && text.contains("64 B"), "{text}");
        assert!(!text.contains("work_after_us") && !text.contains("async"), "{text}");
        assert!(!text.contains("copies") && !text.contains("CPU"), "{text}");
    }
}
