//! The report as a whole: what the writers of each form read, and its form as JSON.

use std::path::Path;

use serde_json::{Map, Value, json};
use sinew_bench::machine::Host;

use crate::bars;
use crate::measured::{Measured, Side, fair_ratio};
use crate::programs::{Missing, Participant};
use crate::run::Part;

/// All that a report says.
pub struct Report {
    /// The machine, and when.
    pub host: Host,
    /// Sinew's version.
    pub version: String,
    /// How often each side was measured.
    pub rounds: u32,
    /// Whether a first look was asked for.
    pub quick: bool,
    /// Whether it was ended before everything was measured.
    pub ended_early: bool,
    /// How long it took, in seconds.
    pub took: u64,
    /// All who took part.
    pub participants: Vec<Participant>,
    /// What couldn't be measured.
    pub missing: Vec<Missing>,
    /// What was measured.
    pub parts: Vec<Part>,
}

impl Report {
    /// As JSON.
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

    /// Peers and their versions, in one line.
    pub fn versions(&self) -> String {
        let version = |participant: &Participant| {
            let peer = &participant.peer;
            // Of several libraries, the version says which ones.
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

/// The row of a side: what it is, what it was asked for, and its figures.
fn row(part: &Part, case: &Measured, side: &Side) -> Value {
    use crate::measured::Kind;
    let mut row = Map::new();
    row.insert("section".to_owned(), json!(part.section.id));
    row.insert("case".to_owned(), json!(case.label));
    if let Ok(Value::Object(work)) = serde_json::to_value(&case.work) {
        row.extend(work);
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
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    row.extend(side.over_rounds().into_iter().map(|(name, value)| (name, number(rounded(value)))));
    row.extend(side.failed.as_ref().map(|reason| ("failed".to_owned(), json!(reason))));
    row.extend(side.fault().map(|fault| ("fault".to_owned(), json!(fault))));
    row.extend(side.differs.as_ref().map(|how| ("differs".to_owned(), json!(how))));
    if side.is_ours() {
        row.extend(ratios(part, case, side));
    }
    Value::Object(row)
}

/// A whole number without a point.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and far below the largest")]
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

/// Our figure by each peer's, as medians over the rounds: of times and bytes, below 1 is better; of messages a second, above.
fn ratios(part: &Part, case: &Measured, ours: &Side) -> Map<String, Value> {
    let against = |key: &str| {
        let peers = case.peers().filter_map(|peer| {
            let ratio = fair_ratio(ours, peer, key)?;
            Some((peer.system.clone(), json!(significant(ratio))))
        });
        Value::Object(peers.collect())
    };
    let mut ratios = Map::new();
    for (index, measure) in part.section.measures.iter().enumerate() {
        if index == 0 {
            ratios.insert("ratio_of".to_owned(), json!(measure.key));
            ratios.insert("ratio_p50".to_owned(), against(measure.key));
            if let Some(p90) = measure.p90 {
                ratios.insert("ratio_p90".to_owned(), against(p90));
            }
        } else {
            ratios.insert(format!("ratio_{}", measure.key.trim_end_matches("_ns")), against(measure.key));
        }
    }
    ratios
}

/// Rounded to three digits.
pub fn significant(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powf(2.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_keep_three_digits() {
        assert_eq!([0.012_345, 1.0, 123.456].map(significant), [0.0123, 1.0, 123.0]);
    }
}
