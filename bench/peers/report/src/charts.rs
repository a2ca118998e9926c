//! The plots of a report.

use crate::cases::{Axis, Measure, Unit};
use crate::measured::{Kind, Measured, Side};
use crate::plot::{Bar, BarKind, Drawing, Series, bars, beside, lines};
use crate::report::Report;
use crate::run::Part;
use crate::words::figure;

/// A plot.
pub struct Chart {
    /// Its file's name, without the extension.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The drawing.
    pub drawing: Drawing,
}

/// Returns the plots of a section: a line for each system over the section's axis, for each figure;
/// or a bar for each system, for each figure of each case. Plots without data are left out.
pub fn of(part: &Part, report: &Report) -> Vec<Chart> {
    let measures = &part.section.measures;
    // A line needs at least two positions.
    let drawn: Vec<_> = match part.section.axis.filter(|_| part.cases.len() > 1) {
        Some(axis) => measures.iter().filter_map(|measure| line_chart(axis, measure, part, report)).collect(),
        None => {
            let bars = |case| measures.iter().filter_map(move |measure| bar_chart(case, measure, part));
            part.cases.iter().flat_map(bars).collect()
        }
    };
    let chart = |(index, (title, drawing))| Chart {
        id: format!("{}-{}", part.section.id, index + 1),
        title,
        drawing,
    };
    drawn.into_iter().enumerate().map(chart).collect()
}

/// Returns the file for the README: the chain and the ping-pong. `None` if neither was measured.
pub fn for_readme(report: &Report) -> Option<String> {
    let wanted = [
        ("chain", "100 Hz", "Chain of ten relays, 100 Hz: time per hop"),
        ("pingpong-whole", "whole, polling, 4 KB", "4 KB to another process and read: time one way"),
    ];
    let drawings: Vec<Drawing> = wanted
        .iter()
        .filter_map(|(section, case, title)| {
            let part = report.parts.iter().find(|part| part.section.id == *section)?;
            let case = part.cases.iter().find(|measured| measured.label == *case)?;
            let measure = part.section.measures[0];
            let drawn = bars_of(case, measure);
            (!drawn.is_empty()).then(|| bars(title, &drawn, |value| tick(value, measure.unit)))
        })
        .collect();
    (!drawings.is_empty())
        .then(|| beside("Sinew beside its peers: P50, and P90 as a mark; lower is better", &drawings))
}

fn bar_chart(case: &Measured, measure: &Measure, part: &Part) -> Option<(String, Drawing)> {
    let drawn = bars_of(case, measure);
    let place = if part.cases.len() > 1 { format!(", {}", case.label) } else { String::new() };
    let title = format!("{}{place}", capital(measure.title));
    let drawing = bars(&title, &drawn, |value| tick(value, measure.unit));
    (!drawn.is_empty()).then_some((title, drawing))
}

/// Returns the bars of a case: the floors, then the sides, the best first.
fn bars_of(case: &Measured, measure: &Measure) -> Vec<Bar> {
    let main = case.main().map(|side| side.system.clone());
    let bar = |side: &Side| {
        let value = side.middle(measure.key).filter(|value| *value > 0.0)?;
        let kind = match side.kind {
            Kind::Ours if main.as_ref() == Some(&side.system) => BarKind::Ours,
            Kind::Ours => BarKind::OursToo,
            Kind::Peer(_) => BarKind::Peer,
            Kind::Floor => BarKind::Floor,
        };
        let name =
            if kind == BarKind::Floor { format!("floor {}", side.system) } else { side.system.clone() };
        let mark = if side.fault().is_some() { " (!)" } else { "" };
        Some(Bar {
            name,
            kind,
            value,
            far: measure.p90.and_then(|key| side.middle(key)),
            text: format!("{}{mark}", figure(value, measure.unit)),
        })
    };
    // A floor can be compared only with the figure it was measured for.
    let floors = case.floors.iter().filter(|_| measure.key == "p50_ns");
    let mut drawn: Vec<Bar> = case.sides.iter().filter_map(bar).collect();
    drawn.sort_by(|one, other| one.value.total_cmp(&other.value));
    if measure.unit == Unit::PerSecond {
        drawn.reverse();
    }
    let peers = drawn.iter().any(|bar| bar.kind == BarKind::Peer || bar.kind == BarKind::Ours);
    if peers { floors.filter_map(bar).chain(drawn).collect() } else { Vec::new() }
}

fn line_chart(axis: Axis, measure: &Measure, part: &Part, report: &Report) -> Option<(String, Drawing)> {
    let mut cases: Vec<(f64, &Measured)> =
        part.cases.iter().filter_map(|case| Some((axis.of(&case.work)?, case))).collect();
    cases.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let places: Vec<(f64, String)> = cases.iter().map(|(place, _)| (*place, axis.label(*place))).collect();
    let mut systems: Vec<&Side> = Vec::new();
    for side in cases.iter().flat_map(|(_, case)| &case.sides) {
        if systems.iter().all(|known| known.system != side.system) {
            systems.push(side);
        }
    }
    let main = cases.iter().find_map(|(_, case)| case.main()).map(|side| side.system.clone());
    let series: Vec<Series> = systems
        .iter()
        .filter_map(|system| {
            let points = cases.iter().filter_map(|(place, case)| {
                let side = case.sides.iter().find(|side| side.system == system.system)?;
                Some((*place, side.middle(measure.key).filter(|value| *value > 0.0)?))
            });
            let points: Vec<_> = points.collect();
            let colour = (main.as_ref() != Some(&system.system)).then(|| colour_of(&system.system, report));
            (!points.is_empty()).then(|| Series { name: system.system.clone(), colour, points })
        })
        .collect();
    if series.is_empty() {
        return None;
    }
    let title = capital(measure.title);
    let drawing = lines(&title, axis.title(), &places, &series, |value| tick(value, measure.unit));
    Some((title, drawing))
}

/// Returns the colour of a system, the same in all plots.
fn colour_of(system: &str, report: &Report) -> usize {
    let systems = report.participants.iter().flat_map(|participant| &participant.peer.systems);
    systems.map(|other| other.name.as_str()).position(|name| name == system).map_or(0, |index| index + 1)
}

/// Formats a round number on an axis.
fn tick(value: f64, unit: Unit) -> String {
    let (number, name) = match unit {
        Unit::Time => match value {
            value if value < 0.999e3 => (value, "ns"),
            value if value < 0.999e6 => (value / 1e3, "µs"),
            value if value < 0.999e9 => (value / 1e6, "ms"),
            value => (value / 1e9, "s"),
        },
        Unit::Bytes => match value {
            value if value < 0.999e3 => (value, "B"),
            value if value < 0.999e6 => (value / 1e3, "kB"),
            value if value < 0.999e9 => (value / 1e6, "MB"),
            value => (value / 1e9, "GB"),
        },
        Unit::PerSecond => match value {
            value if value < 0.999e3 => (value, "/s"),
            value if value < 0.999e6 => (value / 1e3, "k/s"),
            value => (value / 1e6, "M/s"),
        },
        Unit::Percent => (value, "%"),
    };
    format!("{} {name}", (number * 1000.0).round() / 1000.0)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
