//! The tables of a report, which Markdown and HTML write alike.

use crate::bars::{self, Outcome};
use crate::cases::{CPU, MEMORY, Measure};
use crate::measured::{Kind, Measured, Side, ratio};
use crate::report::Report;
use crate::run::Part;
use crate::words::{figure, ratio as in_words};

/// A table: its heading, and its rows.
pub struct Table {
    /// The columns' names; those of the first two are of text.
    pub heading: Vec<String>,
    /// The rows, and whether each is ours.
    pub rows: Vec<(bool, Vec<String>)>,
}

/// What was measured in a section.
pub fn of(part: &Part) -> Table {
    let measures: &[&Measure] = &part.section.measures;
    let further: Vec<&Measure> = [&CPU, &MEMORY]
        .into_iter()
        .filter(|measure| measures.iter().all(|other| other.key != measure.key))
        .filter(|measure| sides(part).any(|side| side.middle(measure.key).is_some()))
        .collect();
    let mut heading = vec!["case".to_owned(), "system".to_owned()];
    for (index, measure) in measures.iter().enumerate() {
        let p50 =
            if measure.p90.is_some() { format!("{}, P50", measure.title) } else { measure.title.to_owned() };
        heading.push(p50);
        if measure.p90.is_some() {
            heading.push("P90".to_owned());
        }
        if index == 0 {
            heading.push("of rounds".to_owned());
        }
    }
    heading.extend(further.iter().map(|measure| measure.title.to_owned()));
    heading.extend(["lost", "Sinew / it"].map(str::to_owned));
    let mut rows = Vec::new();
    for case in &part.cases {
        let mut sides: Vec<&Side> = case.sides.iter().filter(|side| side.was_measured()).collect();
        let better = |side: &Side| side.middle(measures[0].key).unwrap_or(f64::INFINITY);
        sides.sort_by(|one, other| better(one).total_cmp(&better(other)));
        if measures[0].unit == crate::cases::Unit::PerSecond {
            sides.reverse();
        }
        for side in case.floors.iter().chain(sides) {
            rows.push((side.is_ours(), cells(case, side, measures, &further)));
        }
    }
    Table { heading, rows }
}

fn sides(part: &Part) -> impl Iterator<Item = &Side> {
    part.cases.iter().flat_map(|case| &case.sides)
}

fn cells(case: &Measured, side: &Side, measures: &[&Measure], further: &[&Measure]) -> Vec<String> {
    let is_floor = side.kind == Kind::Floor;
    let name = if is_floor { format!("floor {}", side.system) } else { side.system.clone() };
    let of = |measure: &Measure| {
        side.middle(measure.key).map_or_else(String::new, |value| figure(value, measure.unit))
    };
    let mut cells = vec![case.label.clone(), name];
    for (index, measure) in measures.iter().enumerate() {
        cells.push(of(measure));
        if let Some(p90) = measure.p90 {
            cells.push(side.middle(p90).map_or_else(String::new, |value| figure(value, measure.unit)));
        }
        if index == 0 {
            let spread = side.spread(measure.key).map(|(least, most)| {
                format!("{} - {}", figure(least, measure.unit), figure(most, measure.unit))
            });
            cells.push(spread.unwrap_or_default());
        }
    }
    cells.extend(further.iter().map(|measure| of(measure)));
    cells.push(match side.fault() {
        Some(fault) => format!("**{fault}**"),
        None if is_floor => String::new(),
        None => "0".to_owned(),
    });
    cells.push(compared(case, side, measures[0]));
    cells
}

/// Our figure by theirs: P50, and P90 if there is one.
fn compared(case: &Measured, side: &Side, measure: &Measure) -> String {
    let (Some(ours), Kind::Peer(_)) = (case.main(), &side.kind) else { return String::new() };
    if side.fault().is_some() || ours.fault().is_some() {
        return "not compared".to_owned();
    }
    let p50 = ratio(ours, side, measure.key).map(in_words);
    let p90 = measure.p90.and_then(|key| ratio(ours, side, key)).map(in_words);
    match (p50, p90) {
        (Some(p50), Some(p90)) => format!("{p50} (P90 {p90})"),
        (Some(p50), None) => p50,
        _ => String::new(),
    }
}

/// What Sinew is to reach, and whether it does.
pub fn of_bars(report: &Report) -> Table {
    let heading =
        ["against", "work", "to reach", "worst P50", "worst P90", "holds"].map(str::to_owned).into();
    let worst = |worst: &Option<(f64, String)>| match worst {
        Some((ratio, place)) => format!("{} ({place})", in_words(*ratio)),
        None => String::new(),
    };
    let row = |outcome: &Outcome| {
        let holds = match outcome.holds {
            Some(true) => "holds",
            Some(false) => "**doesn't**",
            None => "not measured",
        };
        let cells = [
            outcome.against,
            outcome.what,
            &outcome.limit,
            &worst(&outcome.p50),
            &worst(&outcome.p90),
            holds,
        ];
        (outcome.holds == Some(true), cells.map(str::to_owned).into())
    };
    Table { heading, rows: bars::all(report).iter().map(row).collect() }
}

/// Remarks under a section's table: where the work differs, and who failed.
pub fn remarks(part: &Part) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    let mut differing: Vec<&str> = Vec::new();
    for side in sides(part).filter(|side| side.was_measured()) {
        if let (Some(how), false) = (&side.differs, differing.contains(&side.system.as_str())) {
            differing.push(&side.system);
            remarks.push(format!("{}: {how}.", side.system));
        }
    }
    let mut failures: Vec<(String, Vec<String>)> = Vec::new();
    for case in &part.cases {
        for side in &case.sides {
            let Some(reason) = &side.failed else { continue };
            let sentence = format!("{} was not measured: {reason}", side.system);
            match failures.iter_mut().find(|(known, _)| *known == sentence) {
                Some((_, places)) => places.push(case.label.clone()),
                None => failures.push((sentence, vec![case.label.clone()])),
            }
        }
    }
    let everywhere = part.cases.len();
    remarks.extend(failures.into_iter().map(|(sentence, places)| {
        let place =
            if places.len() == everywhere { String::new() } else { format!(" ({})", places.join("; ")) };
        format!("{}{place}.", sentence.trim_end_matches('.'))
    }));
    remarks
}
