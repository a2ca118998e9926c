//! The machine's states: some machines take several times as long for a cache line at some times as
//! at others. Then the medians of a case may mix both, and the report shows each by itself.

use sinew_bench::samples::median;
use sinew_bench::units::time;

use crate::report::Report;
use crate::tables::Table;
use crate::words::{figure, spread};

/// Fewest rounds of all cases together that make a state: fewer are an accident.
const FEWEST: usize = 3;

/// A line takes at least this many times as long in the slow state: less is noise.
const APART: f64 = 2.0;

/// A line that differs by less before and after a round was in one state meanwhile.
const STEADY: f64 = 1.5;

/// Combines the line's times before and after a round. Returns `None` if it has changed meanwhile,
/// or was not measured.
pub fn during(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    let (before, after) = (before?, after?);
    (before.max(after) < STEADY * before.min(after)).then(|| (before * after).sqrt())
}

/// The two states of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct States {
    /// The medians of the line's times, in nanoseconds.
    fast: f64,
    slow: f64,
    /// What lies between.
    limit: f64,
}

/// Returns the states, if there are two: where the line's times are the furthest apart.
fn split(lines: &[f64]) -> Option<States> {
    let mut lines = lines.to_vec();
    lines.sort_by(f64::total_cmp);
    let gap = |at: usize| lines[at] / lines[at - 1];
    let at =
        (FEWEST..=lines.len().checked_sub(FEWEST)?).max_by(|&one, &other| gap(one).total_cmp(&gap(other)))?;
    let limit = (lines[at - 1] * lines[at]).sqrt();
    let (fast, slow) = lines.split_at(at);
    let (fast, slow) = (median(fast.iter().copied())?, median(slow.iter().copied())?);
    (slow >= APART * fast).then_some(States { fast, slow, limit })
}

/// Returns the line's times in all rounds. A case in several sections comes once for each, which
/// changes no state.
fn lines(report: &Report) -> impl Iterator<Item = f64> {
    report.parts.iter().flat_map(|part| &part.cases).flat_map(|case| case.lines.iter().copied().flatten())
}

/// Says how long a line took. `None` if it was not measured.
pub fn sentence(report: &Report) -> Option<String> {
    let all: Vec<f64> = lines(report).collect();
    let (least, most) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
    let (middle, least, most) = (time(median(all.iter().copied())?), time(least), time(most));
    let states = match split(&all) {
        Some(_) => "the machine was in two states: each has its columns in a table below",
        None => "the machine was in one state",
    };
    Some(format!(
        "A cache line took {middle} from one core to the other ({least} to {most} by rounds): {states}."
    ))
}

/// Returns the cases in both states, if the machine was in two: each by its first figure, beside
/// the best peer. Rounds in which the state has changed are left out.
pub fn table(report: &Report) -> Option<Table> {
    let states = split(&lines(report).collect::<Vec<_>>())?;
    let names = [states.fast, states.slow].map(|line| format!("line {}", time(line)));
    let mut heading = ["section", "case"].map(str::to_owned).to_vec();
    for name in &names {
        heading.extend([format!("{name}: Sinew"), "best peer".to_owned(), "Sinew / it".to_owned()]);
    }
    let mut rows = Vec::new();
    for part in &report.parts {
        let Some(measure) = part.section.compared().next() else { continue };
        for case in &part.cases {
            let mut cells = vec![part.section.title.to_owned(), case.label.clone()];
            for is_fast in [true, false] {
                let case = case.only(|line| (line < states.limit) == is_fast);
                let ours = case.main().and_then(|ours| ours.middle(measure.key));
                let next = case.rivals(measure).into_iter().next();
                cells.push(ours.map_or_else(String::new, |ours| figure(ours, measure.unit)));
                cells.push(next.map_or_else(String::new, |(side, _)| side.system.clone()));
                cells.push(next.map_or_else(String::new, |(_, lead)| spread(lead.advantage(measure.unit))));
            }
            if cells[2..].iter().any(|cell| !cell.is_empty()) {
                rows.push((false, cells));
            }
        }
    }
    Some(Table { heading, rows })
}

#[cfg(test)]
mod tests {
    use harness::Work;

    use super::*;
    use crate::cases::sections;
    use crate::measured::{Kind, Measured, Side, round};
    use crate::run::Part;

    /// A report of one case, by rounds: the line's time, and the figures of Sinew and another.
    fn report(rounds: &[(Option<f64>, f64, f64)]) -> Report {
        let side = |system: &str, kind, of: fn(&(Option<f64>, f64, f64)) -> f64| Side {
            rounds: rounds.iter().map(|each| round(&[("p50_ns", of(each))])).collect(),
            ..Side::new(system, kind, None)
        };
        let other = Kind::Peer("other".to_owned());
        let case = Measured {
            loaded: false,
            work: Work::Latest { size: 64 },
            label: "64 B".to_owned(),
            sides: vec![side("sinew", Kind::Ours, |each| each.1), side("other", other, |each| each.2)],
            floors: Vec::new(),
            lines: rounds.iter().map(|each| each.0).collect(),
            rounds: 9,
        };
        let section = sections().into_iter().find(|section| section.id == "latest").unwrap();
        Report::of(vec![Part { section, cases: vec![case] }])
    }

    #[test]
    fn each_state_has_the_figures_of_its_rounds() {
        let fast = [(Some(50.0), 100.0, 200.0), (Some(45.0), 120.0, 200.0), (Some(55.0), 110.0, 200.0)];
        let slow = [(Some(230.0), 900.0, 300.0), (Some(250.0), 910.0, 300.0), (Some(240.0), 920.0, 300.0)];
        let changed = [(None, 5000.0, 1.0)];
        let report = report(&[&fast[..], &changed, &slow].concat());
        let Table { heading, rows } = table(&report).unwrap();
        let expected = [
            "line 50.0 ns: Sinew",
            "best peer",
            "Sinew / it",
            "line 240 ns: Sinew",
            "best peer",
            "Sinew / it",
        ];
        assert_eq!(heading[2..], expected);
        assert_eq!(rows.len(), 1);
        let expected = ["110 ns", "other", "0.55 (0.50 - 0.60)", "910 ns", "other", "3.03 (3.00 - 3.07)"];
        assert_eq!(rows[0].1[2..], expected);
        let sentence = sentence(&report).unwrap();
        assert!(
            sentence.contains("(45.0 ns to 250 ns by rounds)") && sentence.contains("two states"),
            "{sentence}"
        );
    }

    #[test]
    fn noise_and_an_accident_are_no_states() {
        let lines = split;
        assert_eq!(lines(&[170.0, 190.0, 200.0, 220.0, 250.0, 300.0]), None);
        assert_eq!(lines(&[25.0, 170.0, 190.0, 200.0, 220.0, 250.0]), None);
        assert_eq!(lines(&[50.0, 230.0]), None);
        assert_eq!(lines(&[]), None);
        let states = lines(&[230.0, 50.0, 240.0, 45.0, 55.0, 300.0, 250.0]).unwrap();
        assert!((states.fast, states.slow) == (50.0, 245.0) && (55.0..230.0).contains(&states.limit));
        let one = report(&[(Some(200.0), 1.0, 2.0); 5]);
        assert!(table(&one).is_none() && sentence(&one).unwrap().ends_with("the machine was in one state."));
        assert_eq!(sentence(&report(&[(None, 1.0, 2.0)])), None);
    }

    #[test]
    fn a_round_has_a_line_if_it_stayed_the_same() {
        assert_eq!(during(Some(200.0), Some(200.0)), Some(200.0));
        assert_eq!(during(Some(50.0), Some(230.0)), None);
        assert_eq!(during(Some(230.0), Some(50.0)), None);
        assert_eq!(during(None, Some(50.0)), None);
    }
}
