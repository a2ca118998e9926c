//! The measurements: the figures of each round, and their evaluation.

use harness::{Figures, Work};
use serde_json::Value;
use sinew_bench::samples::median;

use crate::cases::{Measure, Unit};

/// A case, with all sides that took part.
#[derive(Clone)]
pub struct Measured {
    /// The work.
    pub work: Work,
    /// Whether one core was busy meanwhile.
    pub loaded: bool,
    /// Its label in its section.
    pub label: String,
    /// Sinew's ways first, then those of the peers in the order of the programs.
    pub sides: Vec<Side>,
    /// References: the machine's own time for similar work, measured in turn with Sinew's side.
    pub floors: Vec<Side>,
    /// The time that a cache line took from one core to the other, by round, in nanoseconds; `None`
    /// if it has changed meanwhile. Empty if it was not measured.
    pub lines: Vec<Option<f64>>,
    /// Number of requested rounds.
    pub rounds: u32,
}

/// The kind of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sinew, used in some way.
    Ours,
    /// A peer with that name.
    Peer(String),
    /// A reference: the machine's own time for similar work.
    Floor,
}

/// One side of a case.
#[derive(Clone)]
pub struct Side {
    /// Its name in the rows.
    pub system: String,
    /// Its kind.
    pub kind: Kind,
    /// The difference from Sinew's work, if any.
    pub differs: Option<String>,
    /// The figures by round; `None` for a missing round.
    pub rounds: Vec<Option<Figures>>,
    /// Whether its work consists of messages, which it has to count.
    pub counts: bool,
    /// Whether it supports this case at all.
    pub takes_part: bool,
    /// The reason for missing rounds.
    pub failed: Option<String>,
}

impl Side {
    /// Makes a side without figures.
    pub fn new(system: &str, kind: Kind, differs: Option<String>) -> Self {
        Self {
            system: system.to_owned(),
            kind,
            differs,
            rounds: Vec::new(),
            counts: false,
            takes_part: true,
            failed: None,
        }
    }

    /// Returns `true` if it is Sinew.
    pub fn is_ours(&self) -> bool {
        self.kind == Kind::Ours
    }

    /// Returns `true` if anything was measured.
    pub fn was_measured(&self) -> bool {
        self.rounds.iter().any(Option::is_some)
    }

    /// Returns a figure for each round that has it.
    fn each<'a>(&'a self, key: &'a str) -> impl Iterator<Item = f64> + 'a {
        self.rounds.iter().flatten().filter_map(move |round| round.get(key))
    }

    /// Returns the median over the rounds.
    pub fn middle(&self, key: &str) -> Option<f64> {
        median(self.each(key))
    }

    /// Returns the best and the worst round.
    pub fn spread(&self, key: &str) -> Option<(f64, f64)> {
        Some((self.each(key).reduce(f64::min)?, self.each(key).reduce(f64::max)?))
    }

    /// Returns the number of rounds with figures.
    pub fn measured_rounds(&self) -> usize {
        self.rounds.iter().flatten().count()
    }

    /// Returns the sum over all rounds.
    pub fn sum(&self, key: &str) -> f64 {
        self.each(key).sum()
    }

    /// Returns the reason why its times are meaningless: messages were lost, for example.
    pub fn fault(&self) -> Option<String> {
        let counted = |round: &Figures| round.messages > Some(0);
        if self.counts && !self.rounds.iter().flatten().all(counted) {
            return Some("messages not counted".to_owned());
        }
        let (lost, reordered) = (self.sum("lost"), self.sum("reordered"));
        let messages = self.sum("messages");
        match (lost > 0.0, reordered > 0.0) {
            (true, true) => Some(format!("{lost} lost and {reordered} wrong or out of order of {messages}")),
            (true, false) => Some(format!("{lost} lost of {messages}")),
            (false, true) => Some(format!("{reordered} wrong or out of order of {messages}")),
            (false, false) => None,
        }
    }

    /// Combines all figures over the rounds.
    pub fn over_rounds(&self) -> Figures {
        Figures::over(&self.rounds.iter().flatten().cloned().collect::<Vec<_>>())
    }
}

/// The ratio of Sinew's figure to the same figure of another side, over the rounds that both have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median of (Sinew's / the other's in the same round).
    pub middle: f64,
    /// The smallest ratio of a round.
    pub least: f64,
    /// The greatest ratio of a round.
    pub most: f64,
    /// Number of rounds that both have.
    pub rounds: usize,
}

impl Ratio {
    /// Returns how many times better Sinew is. For every unit, a larger number is a larger lead.
    pub fn advantage(self, unit: Unit) -> Self {
        if unit == Unit::PerSecond { self } else { self.inverse() }
    }

    /// Returns the inverse ratio.
    pub fn inverse(self) -> Self {
        Self { middle: 1.0 / self.middle, least: 1.0 / self.most, most: 1.0 / self.least, ..self }
    }
}

/// Divides Sinew's figure by the other's. Returns `None` if no round has both.
pub fn ratio(ours: &Side, theirs: &Side, key: &str) -> Option<Ratio> {
    let figure = |round: &Option<Figures>| round.as_ref()?.get(key).filter(|figure| *figure > 0.0);
    let both = ours.rounds.iter().zip(&theirs.rounds);
    let each: Vec<f64> = both.filter_map(|(ours, theirs)| Some(figure(ours)? / figure(theirs)?)).collect();
    Some(Ratio {
        middle: median(each.iter().copied())?,
        least: each.iter().copied().reduce(f64::min)?,
        most: each.iter().copied().reduce(f64::max)?,
        rounds: each.len(),
    })
}

/// As [`ratio`], only if both sides did all of the work: lost or uncounted messages make no winner.
pub fn fair_ratio(ours: &Side, theirs: &Side, key: &str) -> Option<Ratio> {
    (ours.fault().is_none() && theirs.fault().is_none()).then(|| ratio(ours, theirs, key)).flatten()
}

impl Measured {
    /// Returns the side of Sinew that sentences compare.
    pub fn main(&self) -> Option<&Side> {
        self.sides.iter().find(|side| side.is_ours())
    }

    /// Returns the peers that were measured.
    pub fn peers(&self) -> impl Iterator<Item = &Side> {
        self.sides.iter().filter(|side| !side.is_ours() && side.was_measured())
    }

    /// Returns the case with those rounds only in which a cache line took such a time.
    pub fn only(&self, is_such: impl Fn(f64) -> bool) -> Self {
        let mut only = self.clone();
        for side in &mut only.sides {
            for (index, round) in side.rounds.iter_mut().enumerate() {
                let line = self.lines.get(index).copied().flatten();
                round.take_if(|_| !line.is_some_and(&is_such));
            }
        }
        only
    }

    /// Returns the peers that can be compared by this figure, each with how many times better Sinew
    /// is: the best peer first.
    pub fn rivals(&self, measure: &Measure) -> Vec<(&Side, Ratio)> {
        let Some(ours) = self.main() else { return Vec::new() };
        let advantage = |peer| Some(fair_ratio(ours, peer, measure.key)?.advantage(measure.unit));
        let mut rivals: Vec<_> = self.peers().filter_map(|peer| Some((peer, advantage(peer)?))).collect();
        rivals.sort_by(|(_, one), (_, other)| one.middle.total_cmp(&other.middle));
        rivals
    }
}

/// Parses the figures of a round: a program's answer. A floor's answer also has the floor's name.
///
/// # Errors
///
/// If the answer violates the protocol, or lacks the compared figure.
pub fn of_answer(answer: &str, kind: &Kind, needed: &str) -> Result<(Figures, Option<String>), String> {
    let wrong = |error| format!("its answer isn't what the protocol says: {error}");
    let answer: Value = serde_json::from_str(answer).map_err(wrong)?;
    let floor = answer["floor"].as_str().map(str::to_owned);
    let figures: Figures = serde_json::from_value(answer).map_err(wrong)?;
    let p50_ns = figures.p50_ns;
    let figures = Figures { rounds: Some(1), p50_min_ns: p50_ns, p50_max_ns: p50_ns, ..figures };
    Ok((if *kind == Kind::Floor { figures } else { complete(figures, needed)? }, floor))
}

/// Returns `true` if an answer has figures, but not this one.
pub fn lacks(answer: &str, needed: &str) -> bool {
    let figures = serde_json::from_str::<Figures>(answer);
    figures.is_ok_and(|figures| figures.p50_ns.is_some() && figures.get(needed).is_none())
}

fn complete(round: Figures, needed: &str) -> Result<Figures, String> {
    match round.get(needed) {
        Some(figure) if figure.is_finite() && figure > 0.0 => Ok(round),
        Some(figure) => Err(format!("it says {needed} is {figure}, which can't be")),
        None => Err(format!("its answer has no {needed}")),
    }
}

/// Makes a round of figures by their names.
#[cfg(test)]
pub fn round(figures: &[(&str, f64)]) -> Option<Figures> {
    let figure = |(name, value): &(&str, f64)| ((*name).to_owned(), crate::report::number(*value));
    serde_json::from_value(Value::Object(figures.iter().map(figure).collect())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(system: &str, rounds: &[&[(&str, f64)]]) -> Side {
        let kind = if system == "sinew" { Kind::Ours } else { Kind::Peer(system.to_owned()) };
        let of = |figures: &&[(&str, f64)]| if figures.is_empty() { None } else { round(figures) };
        Side { rounds: rounds.iter().map(of).collect(), ..Side::new(system, kind, None) }
    }

    #[test]
    fn ratios_are_taken_in_each_round() {
        // The machine was slow in the third round: for both sides.
        let ours = side("sinew", &[&[("p50_ns", 1.0)], &[("p50_ns", 3.0)], &[("p50_ns", 50.0)]]);
        let theirs = side("other", &[&[("p50_ns", 4.0)], &[("p50_ns", 4.0)], &[("p50_ns", 100.0)]]);
        let expected = Ratio { middle: 0.5, least: 0.25, most: 0.75, rounds: 3 };
        assert_eq!(ratio(&ours, &theirs, "p50_ns"), Some(expected));
        let inverse = Ratio { middle: 2.0, least: 4.0 / 3.0, most: 4.0, rounds: 3 };
        assert_eq!(ratio(&theirs, &ours, "p50_ns"), Some(inverse));
        assert_eq!(
            (expected.advantage(Unit::Time), expected.advantage(Unit::PerSecond)),
            (inverse, expected)
        );
        let holes = side("other", &[&[("p50_ns", 4.0)], &[], &[("p50_ns", 0.0)]]);
        let once = Ratio { middle: 0.25, least: 0.25, most: 0.25, rounds: 1 };
        assert_eq!(ratio(&ours, &holes, "p50_ns"), Some(once));
        assert_eq!(ratio(&ours, &holes, "p90_ns"), None);
    }

    #[test]
    fn what_was_lost_or_not_counted_makes_no_winner() {
        let ours = side("sinew", &[&[("p50_ns", 1.0), ("lost", 0.0), ("messages", 9.0)]]);
        let theirs = side("other", &[&[("p50_ns", 2.0), ("lost", 3.0), ("messages", 9.0)]]);
        assert_eq!(theirs.fault().as_deref(), Some("3 lost of 9"));
        assert!(ratio(&ours, &theirs, "p50_ns").is_some());
        assert_eq!(fair_ratio(&ours, &theirs, "p50_ns"), None);
        assert_eq!(fair_ratio(&theirs, &ours, "p50_ns"), None);

        let silent = side("other", &[&[("p50_ns", 2.0), ("messages", 9.0)], &[("p50_ns", 2.0)]]);
        assert!(fair_ratio(&ours, &silent, "p50_ns").is_some(), "its work may be no messages");
        let silent = Side { counts: true, ..silent };
        assert_eq!(silent.fault().as_deref(), Some("messages not counted"));
        assert_eq!(fair_ratio(&ours, &silent, "p50_ns"), None);
    }

    #[test]
    fn over_rounds_counts_add_and_times_are_medians() {
        let round = |p50, max, lost| {
            let answer = format!(r#"{{"p50_ns":{p50},"max_ns":{max},"messages":10,"lost":{lost}}}"#);
            Some(of_answer(&answer, &Kind::Ours, "p50_ns").unwrap().0)
        };
        let rounds = vec![round(3, 9, 1), None, round(1, 90, 0), round(2, 8, 0)];
        let all = Side { rounds, ..Side::new("other", Kind::Floor, None) }.over_rounds();
        let counts = (all.rounds, all.messages, all.lost);
        assert_eq!(counts, (Some(3), Some(30), Some(1)));
        let times = (all.p50_ns, all.p50_min_ns, all.p50_max_ns, all.max_ns);
        assert_eq!(times, (Some(2.0), Some(1.0), Some(3.0), Some(90.0)));
    }

    #[test]
    fn answers_are_checked() {
        let of = |answer| of_answer(answer, &Kind::Ours, "p50_ns").map(|(figures, _)| figures.p50_ns);
        assert_eq!(of(r#"{"p50_ns": 12.5}"#), Ok(Some(12.5)));
        for wrong in
            ["", "fine", "[]", "{}", r#"{"p50_ns": "12"}"#, r#"{"p50_ns": 0}"#, r#"{"p50_ns": -1.0}"#]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        assert!(lacks(r#"{"p50_ns": 1}"#, "due_p50_ns") && !lacks(r#"{"due_p50_ns": 1}"#, "due_p50_ns"));
        assert!(!lacks("all went well", "due_p50_ns"));
        let floor = of_answer(r#"{"floor": "idle", "rss_bytes": 7}"#, &Kind::Floor, "mean_ns").unwrap();
        assert_eq!((floor.0.rss_bytes, floor.1.as_deref()), (Some(7), Some("idle")));
    }
}
