//! The report as a whole, from which each format is written, and its form as JSON.

use std::path::Path;

use harness::{Figures, Work};
use serde_json::{Map, Value, json};
use sinew_bench::machine::Host;

use crate::bars;
use crate::cases::Measure;
use crate::measured::{Kind, Measured, Side, fair_ratio};
use crate::programs::{Missing, Participant};
use crate::run::Part;

/// The content of a report.
pub struct Report {
    /// The machine, and the date.
    pub host: Host,
    /// Sinew's version.
    pub version: String,
    /// Number of rounds of each side.
    pub rounds: u32,
    /// Whether `--quick` was given.
    pub quick: bool,
    /// Whether it was ended before everything was measured.
    pub ended_early: bool,
    /// Duration, in seconds.
    pub took: u64,
    /// The peers that took part.
    pub participants: Vec<Participant>,
    /// The peers that couldn't be measured.
    pub missing: Vec<Missing>,
    /// The measurements.
    pub parts: Vec<Part>,
}

impl Report {
    /// Returns it as JSON.
    pub fn json(&self) -> Value {
        let mut results = Vec::new();
        for part in &self.parts {
            for case in &part.cases {
                let side = |side: &Side| row(part, case, side);
                results.extend(case.floors.iter().map(side));
                results.extend(case.sides.iter().map(side));
            }
        }
        let missing = |missing: &Missing| json!({"name": missing.name, "reason": missing.reason});
        let peer = |participant: &Participant| {
            let mut peer = json!(participant.peer);
            peer["program"] = json!(file_name(&participant.program));
            peer
        };
        json!({
            "host": self.host,
            "sinew": self.version,
            "rounds": self.rounds,
            "quick": self.quick,
            "ended_early": self.ended_early,
            "took_seconds": self.took,
            "peers": self.participants.iter().map(peer).collect::<Vec<_>>(),
            "not_measured": self.missing.iter().map(missing).collect::<Vec<_>>(),
            "bars": bars::all(self).iter().map(bars::Outcome::json).collect::<Vec<_>>(),
            "results": results,
        })
    }

    /// Returns all comparisons, in the report's order: a case in several sections comes once for
    /// each of its figures.
    pub fn compared(&self) -> impl Iterator<Item = (&Part, &Measured, &'static Measure)> {
        let mut seen: Vec<(&Work, bool, &str)> = Vec::new();
        let cases = self.parts.iter().flat_map(|part| part.cases.iter().map(move |case| (part, case)));
        let all =
            cases.flat_map(|(part, case)| part.section.compared().map(move |measure| (part, case, measure)));
        all.filter(move |(_, case, measure)| {
            let this = (&case.work, case.loaded, measure.key);
            let is_new = !seen.contains(&this);
            seen.push(this);
            is_new
        })
    }

    /// Returns peers and their versions, in one line.
    pub fn versions(&self) -> String {
        let version = |participant: &Participant| {
            let peer = &participant.peer;
            // For several libraries, the version names them.
            let named = peer.version.contains(char::is_alphabetic) && peer.version.contains(' ');
            if named { peer.version.clone() } else { format!("{} {}", peer.peer, peer.version) }
        };
        let peers: Vec<_> = self.participants.iter().map(version).collect();
        peers.join("; ")
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the row of a side: its name, its settings, and its figures.
fn row(part: &Part, case: &Measured, side: &Side) -> Value {
    let mut row = Map::new();
    row.insert("section".to_owned(), json!(part.section.id));
    row.insert("case".to_owned(), json!(case.label));
    if let Ok(Value::Object(work)) = serde_json::to_value(&case.work) {
        row.extend(work);
    }
    if case.loaded {
        row.insert("loaded".to_owned(), json!(true));
    }
    match &side.kind {
        Kind::Ours => _ = row.insert("system".to_owned(), json!(side.system)),
        Kind::Peer(peer) => {
            row.insert("system".to_owned(), json!(side.system));
            row.insert("peer".to_owned(), json!(peer));
        }
        Kind::Floor => {
            row.insert("system".to_owned(), json!("floor"));
            row.insert("floor".to_owned(), json!(side.system));
        }
    }
    row.extend(figures(&side.over_rounds()));
    let by_round: Vec<_> = side.rounds.iter().map(|round| round.as_ref().map(figures)).collect();
    row.insert("by_round".to_owned(), json!(by_round));
    let rounded = |line: &Option<f64>| line.map(|line| number((line * 10.0).round() / 10.0));
    row.insert("line_ns_by_round".to_owned(), json!(case.lines.iter().map(rounded).collect::<Vec<_>>()));
    row.extend(side.failed.as_ref().map(|reason| ("failed".to_owned(), json!(reason))));
    row.extend(side.fault().map(|fault| ("fault".to_owned(), json!(fault))));
    row.extend(side.differs.as_ref().map(|how| ("differs".to_owned(), json!(how))));
    if side.is_ours() {
        row.insert("ratios".to_owned(), ratios(part, case, side));
    }
    Value::Object(row)
}

fn figures(round: &Figures) -> Map<String, Value> {
    let Ok(Value::Object(figures)) = serde_json::to_value(round) else { return Map::new() };
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    figures.into_iter().filter_map(|(name, value)| Some((name, number(rounded(value.as_f64()?))))).collect()
}

/// Converts a number; whole ones have no decimal point.
pub fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and far below the largest")]
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

/// Returns Sinew's figures divided by each peer's, by the figure's name and the system's. For times
/// and bytes, below 1 is better; for messages per second, above.
fn ratios(part: &Part, case: &Measured, ours: &Side) -> Value {
    let against = |key: &str| {
        let ratio = |peer: &Side| {
            let ratio = fair_ratio(ours, peer, key)?;
            let [middle, least, most] = [ratio.middle, ratio.least, ratio.most].map(significant);
            let ratio = json!({"ratio": middle, "least": least, "most": most, "rounds": ratio.rounds});
            Some((peer.system.clone(), ratio))
        };
        Value::Object(case.peers().filter_map(ratio).collect())
    };
    let keys = part.section.measures.iter().flat_map(|measure| measure.keys());
    Value::Object(keys.map(|key| (key.to_owned(), against(key))).collect())
}

/// Rounds to three digits.
pub fn significant(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powf(2.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

#[cfg(test)]
impl Report {
    /// Makes a report with nothing but these parts.
    pub fn of(parts: Vec<Part>) -> Self {
        Self {
            host: Host::read(),
            version: "0".to_owned(),
            rounds: 5,
            quick: false,
            ended_early: false,
            took: 0,
            participants: Vec::new(),
            missing: Vec::new(),
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::sections;

    #[test]
    fn each_figure_keeps_its_own_ratios() {
        let round = |publish, last| {
            crate::measured::round(&[("publish_p50_ns", publish), ("p50_ns", last), ("messages", 9.0)])
        };
        let ours = Side { rounds: vec![round(1.0, 30.0), None], ..Side::new("sinew", Kind::Ours, None) };
        let peer = Kind::Peer("other".to_owned());
        let theirs = Side { rounds: vec![round(4.0, 20.0)], ..Side::new("other", peer, None) };
        let case = Measured {
            loaded: false,
            work: Work::Fanout { subscriptions: 8 },
            label: "8 subscribers".to_owned(),
            sides: vec![ours, theirs],
            floors: Vec::new(),
            lines: Vec::new(),
            rounds: 2,
        };
        let section = sections().into_iter().find(|section| section.id == "fanout").unwrap();
        let row = &Report::of(vec![Part { section, cases: vec![case] }]).json()["results"][0];
        assert_eq!(row["ratios"]["publish_p50_ns"]["other"]["ratio"], 0.25);
        assert_eq!(row["ratios"]["p50_ns"]["other"]["ratio"], 1.5);
        assert_eq!(row["ratios"]["p90_ns"], json!({}));
        assert_eq!((&row["by_round"][0]["p50_ns"], &row["by_round"][1]), (&json!(30), &Value::Null));
    }

    #[test]
    fn ratios_keep_three_digits() {
        assert_eq!([0.012_345, 1.0, 123.456].map(significant), [0.0123, 1.0, 123.0]);
    }
}
