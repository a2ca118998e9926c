//! The tables of a report, shared by Markdown and HTML.

use crate::bars::{self, Outcome};
use crate::cases::{Axis, CPU, MEMORY, Measure, Unit};
use crate::measured::{Kind, Measured, Ratio, Side, fair_ratio};
use crate::report::Report;
use crate::run::Part;
use crate::words::{figure, growth, ratio as in_words, spread, verdict};

/// A table: its heading, and its rows.
pub struct Table {
    /// The columns' names; the first two columns are text.
    pub heading: Vec<String>,
    /// The rows, and whether each is Sinew's.
    pub rows: Vec<(bool, Vec<String>)>,
}

/// Returns the table of a section.
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
        if measure.is_compared() {
            heading.push("Sinew / it".to_owned());
        }
    }
    heading.extend(further.iter().map(|measure| measure.title.to_owned()));
    heading.push("lost".to_owned());
    let mut rows = Vec::new();
    for case in &part.cases {
        let mut sides: Vec<&Side> = case.sides.iter().filter(|side| side.was_measured()).collect();
        let better = |side: &Side| side.middle(measures[0].key).unwrap_or(f64::INFINITY);
        sides.sort_by(|one, other| better(one).total_cmp(&better(other)));
        if measures[0].unit == Unit::PerSecond {
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
            cells.push(of_rounds(case, side, measure));
        }
        if measure.is_compared() {
            cells.push(compared(case, side, measure));
        }
    }
    cells.extend(further.iter().map(|measure| of(measure)));
    cells.push(match side.fault() {
        Some(fault) => format!("**{fault}**"),
        None => side.middle("lost").map_or_else(String::new, |_| "0".to_owned()),
    });
    cells
}

/// Formats the best and the worst round, and the number of rounds if some are missing.
fn of_rounds(case: &Measured, side: &Side, measure: &Measure) -> String {
    let Some((least, most)) = side.spread(measure.key) else { return String::new() };
    let spread = format!("{} - {}", figure(least, measure.unit), figure(most, measure.unit));
    let measured = side.measured_rounds();
    if measured == case.rounds as usize {
        return spread;
    }
    format!("{spread} ({measured} of {} rounds)", case.rounds)
}

/// Formats the ratio of Sinew's figure to the other's: P50, and P90 if there is one.
fn compared(case: &Measured, side: &Side, measure: &Measure) -> String {
    let (Some(ours), Kind::Peer(_)) = (case.main(), &side.kind) else { return String::new() };
    if side.fault().is_some() || ours.fault().is_some() {
        return "not compared".to_owned();
    }
    let Some(p50) = fair_ratio(ours, side, measure.key) else { return String::new() };
    let p90 = measure.p90.and_then(|key| fair_ratio(ours, side, key));
    let p90 = p90.map_or_else(String::new, |ratio| format!("; P90 {}", spread(ratio)));
    format!("{}{p90}", spread(p50))
}

/// Returns the cases where a peer is ahead of Sinew, or nearly so.
pub fn close(report: &Report) -> Table {
    /// Cases where Sinew is this many times better are left out.
    const CLEAR: f64 = 1.5;
    let heading = ["section", "case", "system", "figure", "Sinew / it"].map(str::to_owned).into();
    let mut rows = Vec::new();
    for (part, case, measure) in report.compared() {
        let is_close = |(_, advantage): &(&Side, Ratio)| advantage.middle < CLEAR;
        for (side, advantage) in case.rivals(measure).into_iter().filter(is_close) {
            // For a time or for bytes, the advantage is the peer's figure divided by Sinew's;
            // inverted again, it is Sinew's by the peer's.
            let ratio = spread(advantage.advantage(measure.unit));
            let cells = [part.section.title, &case.label, &side.system, measure.title, &ratio];
            rows.push((false, cells.map(str::to_owned).into()));
        }
    }
    Table { heading, rows }
}

/// Returns the winner of each case, by each compared figure.
pub fn verdicts(part: &Part) -> Vec<String> {
    let mut lines = Vec::new();
    for case in &part.cases {
        for (index, measure) in part.section.compared().enumerate() {
            let has_it = case.main().is_some_and(|ours| ours.middle(measure.key).is_some());
            if index == 0 || has_it {
                lines.push(format!("{}, {}: {}", case.label, measure.title, verdict(case, measure)));
            }
        }
    }
    lines
}

/// Returns the bars that Sinew is to reach, and whether it does.
pub fn of_bars(report: &Report) -> Table {
    let heading =
        ["against", "work", "to reach", "worst P50", "worst P90", "holds"].map(str::to_owned).into();
    let worst = |worst: &Option<(f64, String)>| match worst {
        Some((ratio, place)) => format!("{} ({place})", in_words(*ratio)),
        None => String::new(),
    };
    let row = |outcome: &Outcome| {
        let p90 = match &outcome.p90 {
            None if !outcome.too_few_messages.is_empty() => "too few messages".to_owned(),
            p90 => worst(p90),
        };
        let holds = match outcome.holds {
            Some(true) => "holds",
            Some(false) => "**doesn't**",
            None => "not measured",
        };
        let holds = match outcome.too_few_rounds.as_slice() {
            [] => holds.to_owned(),
            places => format!("{holds} (too few rounds of {})", places.join("; ")),
        };
        let cells = [outcome.against, outcome.what, &outcome.limit, &worst(&outcome.p50), &p90, &holds];
        (outcome.holds == Some(true), cells.map(str::to_owned).into())
    };
    Table { heading, rows: bars::all(report).iter().map(row).collect() }
}

/// Returns remarks under a section's table: differences in the work, and failures.
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
            let sentence = match side.measured_rounds() {
                0 => format!("{} was not measured: {reason}", side.system),
                some => format!("{} has {some} of {} rounds: {reason}", side.system, case.rounds),
            };
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
    if part.section.axis == Some(Axis::Relays) && part.cases.len() > 1 {
        let measures = part.section.measures.iter();
        remarks.extend(measures.map(|measure| format!("{}.", growth(&part.cases, measure))));
    }
    if part.section.measures[0].unit == Unit::PerSecond {
        remarks.push("Ratios here are of messages a second: above 1, Sinew is ahead.".to_owned());
    }
    remarks
}

#[cfg(test)]
mod tests {
    use harness::{Figures, Work};

    use super::*;
    use crate::cases::sections;
    use crate::measured::round;

    fn case(theirs: &[(&str, f64)], rounds: usize) -> Part {
        let ours = [("p50_ns", 100.0), ("messages", 9.0), ("lost", 0.0)];
        let side = |system, kind, round: Option<Figures>| Side {
            rounds: vec![round; rounds],
            counts: true,
            ..Side::new(system, kind, None)
        };
        let case = Measured {
            loaded: false,
            work: Work::Latest { size: 64 },
            label: "64 B".to_owned(),
            sides: vec![
                side("sinew", Kind::Ours, round(&ours)),
                side("other", Kind::Peer("other".to_owned()), round(theirs)),
            ],
            floors: Vec::new(),
            lines: Vec::new(),
            rounds: 5,
        };
        let section = sections().into_iter().find(|section| section.id == "latest").unwrap();
        Part { section, cases: vec![case] }
    }

    /// Returns the cell of a column in the other system's row.
    fn cell(part: &Part, column: &str) -> String {
        let table = of(part);
        let index = table.heading.iter().position(|name| name == column).unwrap();
        table.rows.iter().find(|(_, cells)| cells[1] == "other").unwrap().1[index].clone()
    }

    #[test]
    fn what_was_not_counted_is_not_called_none() {
        let counted = [("p50_ns", 50.0), ("messages", 9.0), ("lost", 0.0)];
        assert_eq!(cell(&case(&counted, 5), "lost"), "0");
        assert_eq!(cell(&case(&counted[..2], 5), "lost"), "");
        assert_eq!(cell(&case(&counted[..1], 5), "lost"), "**messages not counted**");
        assert_eq!(cell(&case(&counted[..1], 5), "Sinew / it"), "not compared");
    }

    #[test]
    fn spreads_and_missing_rounds_are_shown() {
        let mut part = case(&[("p50_ns", 50.0), ("messages", 9.0)], 2);
        assert!(cell(&part, "of rounds").ends_with("(2 of 5 rounds)"), "{}", cell(&part, "of rounds"));
        if let Some(round) = &mut part.cases[0].sides[1].rounds[0] {
            round.p50_ns = Some(200.0);
        }
        assert_eq!(cell(&part, "Sinew / it"), "1.25 (0.50 - 2.00)");
    }

    #[test]
    fn where_a_peer_is_ahead_is_listed_by_each_figure() {
        let mut part = case(&[("p50_ns", 140.0), ("publish_p50_ns", 5.0), ("messages", 9.0)], 5);
        for round in part.cases[0].sides[0].rounds.iter_mut().flatten() {
            round.publish_p50_ns = Some(10.0);
        }
        let table = close(&Report::of(vec![part]));
        let figures: Vec<_> = table.rows.iter().map(|(_, cells)| (&*cells[3], &*cells[4])).collect();
        assert_eq!(figures, [("a read", "0.71 (0.71 - 0.71)"), ("a write", "2.00 (2.00 - 2.00)")]);
    }
}
