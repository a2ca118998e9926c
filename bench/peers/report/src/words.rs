//! Figures and comparisons, in words.

use sinew_bench::units::{bytes, time};

use crate::cases::{Measure, Unit};
use crate::measured::{Measured, Ratio, Side};

/// The heading of the cases where Sinew is behind, or nearly so.
pub const CLOSE: &str = "Cases where a peer is ahead, or within 1.5 times";

/// Leads to the reasons of the cases where Sinew is behind.
pub const WHY: &str = "Why a peer is ahead, in the median of the rounds, and what it leaves out that \
    a robot needs. The tests, which Sinew passes and these peers fail, are in \
    `bench/peers/needs/tests/needs.rs`.";

/// Refers to the explanation of why Sinew is behind.
pub const LEARNT: &str = "What was profiled, and what there is to learn, is in \
    docs/internals/decisions/0016-beside-the-peers.md.";

/// Explains the table of the machine's states.
pub const STATES: &str = "Before and after each round, two threads on the cores of the cases take \
    turns with a cache line. At some times it takes several times as long as at others, so the \
    medians above may mix both: here each case stands in both states, by its first figure, beside \
    the peer that is the best there. Rounds in which the state has changed are left out.";

/// Two sides that differ by less in each round are even.
const EVEN: f64 = 1.05;

/// Explains floors.
pub const FLOORS: &str = "A floor is a reference: what the machine takes for the like without a \
    library, measured in a rhythm of its own. It is no bound: a case with another rhythm may find \
    its lines in nearer caches and its cores more awake, and beat it.";

/// Explains the numbers beside a ratio, and the winners.
pub const SPREAD: &str = "Beside a ratio stand its least and its most of a round. Who wins is said \
    by the ratios, not by the order of the medians; where one round says this and another that, it \
    is not decided.";

/// Formats a figure in the most readable unit.
pub fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Time => time(value),
        Unit::Bytes => bytes(value),
        Unit::Percent => format!("{value:.1} %"),
        Unit::PerSecond => format!("{}/s", count(value)),
    }
}

/// Formats a large number briefly.
fn count(value: f64) -> String {
    match value {
        value if value >= 999_500.0 => format!("{} M", short(value / 1e6)),
        value if value >= 9995.0 => format!("{} k", short(value / 1e3)),
        value => format!("{value:.0}"),
    }
}

/// Formats two or three significant digits.
fn short(value: f64) -> String {
    match value {
        value if value < 9.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// Formats a factor for a sentence.
fn times(factor: f64) -> String {
    match factor {
        factor if factor < 1.995 => format!("{factor:.2}"),
        factor => short(factor),
    }
}

/// Formats a ratio for a table.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.0995 => format!("{ratio:.3}"),
        ratio if ratio < 9.95 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.0}"),
    }
}

/// Formats a ratio for a table, with its smallest and greatest value.
pub fn spread(of: Ratio) -> String {
    let [middle, least, most] = [of.middle, of.least, of.most].map(ratio);
    if of.rounds > 1 { format!("{middle} ({least} - {most})") } else { middle }
}

/// The leader in a case: how much better it is than the next one, from Sinew's view.
enum Lead<'a> {
    /// Sinew, by this factor over the next best.
    Ours(Ratio, &'a str),
    /// Neither, in any round.
    Even(&'a str),
    /// Sometimes this one, sometimes the other; by this factor over Sinew.
    Undecided(Ratio, &'a str),
    /// This peer, by this factor over Sinew.
    Theirs(Ratio, &'a str),
}

fn lead<'a>(case: &'a Measured, measure: &Measure) -> Option<Lead<'a>> {
    let (best, advantage) = case.rivals(measure).into_iter().next()?;
    let name = best.system.as_str();
    Some(match advantage {
        Ratio { least, most, .. } if least > 1.0 / EVEN && most < EVEN => Lead::Even(name),
        Ratio { least, .. } if least > 1.0 => Lead::Ours(advantage, name),
        Ratio { most, .. } if most < 1.0 => Lead::Theirs(advantage.inverse(), name),
        _ => Lead::Undecided(advantage, name),
    })
}

/// Describes by how much the side behind is worse.
fn behind(name: &str, unit: Unit, factors: &[f64]) -> String {
    let factor = range(factors, unit);
    match unit {
        Unit::Time => format!("{name} takes {factor} times as long"),
        Unit::Bytes => format!("{name} takes {factor} times the memory"),
        Unit::Percent => format!("{name} uses {factor} times the CPU"),
        Unit::PerSecond => format!("{name} carries {factor} times as many messages"),
    }
}

/// Describes the same over the rounds: the middle, and the range.
fn behind_in_rounds(name: &str, unit: Unit, factor: Ratio) -> String {
    let sentence = behind(name, unit, &[factor.middle]);
    if factor.rounds < 2 {
        return sentence;
    }
    format!("{sentence} ({})", range(&[factor.least, factor.most], unit))
}

/// Describes who wins a case, and by how much.
pub fn verdict(case: &Measured, measure: &Measure) -> String {
    let Some(ours) = case.main() else { return String::new() };
    if let (false, Some(reason)) = (ours.was_measured(), &ours.failed) {
        return format!("Sinew's side failed: {reason}.");
    }
    if let Some(fault) = ours.fault() {
        return format!("Sinew's messages weren't all right ({fault}): it can't win.");
    }
    let unit = measure.unit;
    match lead(case, measure) {
        None => "There is nothing beside Sinew to compare with.".to_owned(),
        Some(Lead::Even(name)) => format!("Sinew and {name} are even."),
        Some(Lead::Undecided(factor, name)) => {
            let sentence = behind_in_rounds(name, unit, factor);
            format!("Not decided between Sinew and {name}: {sentence}.")
        }
        Some(Lead::Theirs(factor, name)) => {
            format!("{name} wins: {}.", behind_in_rounds("Sinew", unit, factor))
        }
        Some(Lead::Ours(factor, name)) => {
            let rivals = case.rivals(measure);
            let last = rivals.last().filter(|(side, _)| side.system != name);
            let last = last.map_or_else(String::new, |(side, factor)| {
                format!(", the last ({}) {}", side.system, range(&[factor.middle], unit))
            });
            let next = behind_in_rounds(&format!("the next ({name})"), unit, factor);
            format!("Sinew wins: {next}{last}.")
        }
    }
}

/// Describes by how much each system's figure grows from the first case to the last.
pub fn growth(cases: &[Measured], measure: &Measure) -> String {
    let (Some(first), Some(last)) = (cases.first(), cases.last()) else { return String::new() };
    let factor = |side: &Side| {
        let end = last.sides.iter().find(|end| end.system == side.system)?;
        let sound = side.fault().is_none() && end.fault().is_none();
        let factor = end.middle(measure.key)? / side.middle(measure.key)?;
        sound.then(|| format!("{} {}", side.system, times(factor)))
    };
    let factors: Vec<_> = first.sides.iter().filter_map(factor).collect();
    format!("{} grows from {} to {} by: {}", measure.title, first.label, last.label, factors.join("; "))
}

/// Formats the range of differences of the side behind.
fn range(factors: &[f64], unit: Unit) -> String {
    let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = factors.iter().copied().fold(0.0, f64::max);
    let (least, most) = match unit {
        // More is better: the side behind has a fraction of it.
        Unit::PerSecond => (ratio(1.0 / most), ratio(1.0 / least)),
        _ => (times(least), times(most)),
    };
    if least == most { least } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use harness::Work;

    use super::*;
    use crate::cases::sections;
    use crate::measured::Kind;

    fn case(rate: f64, figures: &[(&str, f64, f64)]) -> Measured {
        let sides = figures.iter().map(|(system, p50, lost)| {
            let kind = if *system == "sinew" { Kind::Ours } else { Kind::Peer((*system).to_owned()) };
            let round = crate::measured::round(&[("p50_ns", *p50), ("lost", *lost)]);
            Side { rounds: vec![round], ..Side::new(system, kind, None) }
        });
        Measured {
            loaded: false,
            work: Work::Chain { relays: 10, rate },
            label: format!("{rate} Hz"),
            sides: sides.collect(),
            floors: Vec::new(),
            lines: Vec::new(),
            rounds: 1,
        }
    }

    #[test]
    fn who_wins_is_said() {
        let sections = sections();
        let hop = sections[0].measures[0];
        let wins = case(10.0, &[("sinew", 100.0, 0.0), ("a", 900.0, 0.0), ("b", 250.0, 0.0)]);
        assert_eq!(
            verdict(&wins, hop),
            "Sinew wins: the next (b) takes 2.5 times as long, the last (a) 9.0."
        );
        let loses = case(100.0, &[("sinew", 150.0, 0.0), ("a", 100.0, 0.0)]);
        assert_eq!(verdict(&loses, hop), "a wins: Sinew takes 1.50 times as long.");
        let even = case(1000.0, &[("sinew", 100.0, 0.0), ("a", 102.0, 0.0)]);
        assert_eq!(verdict(&even, hop), "Sinew and a are even.");
        let mut open = case(1000.0, &[("sinew", 100.0, 0.0), ("a", 125.0, 0.0)]);
        for (side, p50) in open.sides.iter_mut().zip([100.0, 80.0]) {
            side.rounds.push(crate::measured::round(&[("p50_ns", p50)]));
        }
        let sentence = "Not decided between Sinew and a: a takes 0.98 times as long (0.80 to 1.25).";
        assert_eq!(verdict(&open, hop), sentence);
        let lossy = case(10.0, &[("sinew", 100.0, 0.0), ("a", 10.0, 1.0)]);
        assert_eq!(verdict(&lossy, hop), "There is nothing beside Sinew to compare with.");
        let ours = case(10.0, &[("sinew", 1.0, 2.0), ("a", 10.0, 0.0)]);
        assert!(verdict(&ours, hop).contains("can't win"));
        let grown = case(100.0, &[("sinew", 200.0, 0.0), ("a", 900.0, 0.0), ("b", 250.0, 1.0)]);
        assert_eq!(
            growth(&[wins, grown], hop),
            "time per hop grows from 10 Hz to 100 Hz by: sinew 2.0; a 1.00"
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.234, 2.0, 12.34, 123.0].map(times), ["1.23", "2.0", "12", "123"]);
        assert_eq!([0.0123, 0.5, 12.3].map(ratio), ["0.012", "0.50", "12"]);
        assert_eq!(figure(12_345_678.0, Unit::PerSecond), "12 M/s");
    }
}
