//! The bars that Sinew is to reach beside its peers, and whether it does.

use harness::{Mode, Path, Wait, Work};
use serde_json::{Value, json};

use crate::measured::{Kind, Side, fair_ratio};
use crate::report::{Report, significant};

/// A bar to reach: the cases, the peers, and the limit.
struct Bar {
    against: &'static str,
    what: &'static str,
    /// The greatest ratio of Sinew's figure to the peer's; for messages per second, the smallest.
    limit: f64,
    /// Sinew's system; `sinew` by default.
    key: &'static str,
    p90: Option<&'static str>,
    is_case: fn(&Work) -> bool,
    /// Selects peers, by the peer's name and the system's.
    is_peer: fn(&str, &str) -> bool,
}

/// The outcome of a bar.
pub struct Outcome {
    /// The peer, and the way to use it.
    pub against: &'static str,
    /// The work.
    pub what: &'static str,
    /// The limit as text: `0.8 x or less`.
    pub limit: String,
    /// The ratio of P50 that is farthest from the limit, and its case.
    pub p50: Option<(f64, String)>,
    /// The same for P90.
    pub p90: Option<(f64, String)>,
    /// Whether it holds; `None` if nothing was measured.
    pub holds: Option<bool>,
    /// Cases in which too few rounds have both sides.
    pub too_few_rounds: Vec<String>,
    /// Cases with too few messages per round for a P90.
    pub too_few_messages: Vec<String>,
}

/// Least number of rounds with both sides, or all rounds if fewer were requested.
const ROUNDS: usize = 3;

/// Least number of messages per round for a P90: with fewer, it is merely the second or third
/// worst.
const MESSAGES: f64 = 100.0;

/// The exclusions, shown beside the bars.
pub const LEFT_OUT: &str = "A case counts if at least 3 rounds (or all, if fewer were asked for) \
    have both sides; its P90 counts if each side's rounds have 100 messages or more: at 10 and 100 \
    Hz they have fewer, if `--seconds` isn't given.";

impl Outcome {
    /// Returns it as JSON.
    pub fn json(&self) -> Value {
        json!({
            "against": self.against,
            "what": self.what,
            "to_reach": self.limit,
            "worst_p50": self.p50.as_ref().map(|(ratio, _)| significant(*ratio)),
            "worst_p90": self.p90.as_ref().map(|(ratio, _)| significant(*ratio)),
            "holds": self.holds,
            "too_few_rounds": self.too_few_rounds,
            "too_few_messages_for_p90": self.too_few_messages,
        })
    }
}

/// Returns each bar with its outcome.
pub fn all(report: &Report) -> Vec<Outcome> {
    bars().iter().map(|bar| outcome(bar, report)).collect()
}

fn outcome(bar: &Bar, report: &Report) -> Outcome {
    let more_is_better = bar.key == "messages_per_second";
    let mut worst: [Option<(f64, String)>; 2] = [None, None];
    let (mut too_few_rounds, mut too_few_messages) = (Vec::new(), Vec::new());
    let cases = report.compared().filter(|(_, _, measure)| measure.key == bar.key).map(|(_, case, _)| case);
    for case in cases.filter(|case| (bar.is_case)(&case.work)) {
        let Some(ours) = case.main() else { continue };
        for peer in case.peers().filter(|peer| is_meant(bar, peer)) {
            let place = format!("{}, {}", case.label, peer.system);
            let Some(p50) = fair_ratio(ours, peer, bar.key) else { continue };
            if p50.rounds < ROUNDS.min(case.rounds as usize) {
                too_few_rounds.push(place);
                continue;
            }
            let mut p90 = bar.p90.and_then(|key| fair_ratio(ours, peer, key));
            let messages = |side: &Side| side.spread("messages").map_or(0.0, |(least, _)| least);
            if p90.is_some() && messages(ours).min(messages(peer)) < MESSAGES {
                too_few_messages.push(place.clone());
                p90 = None;
            }
            for (worst, ratio) in worst.iter_mut().zip([Some(p50), p90]) {
                let Some(ratio) = ratio.map(|ratio| ratio.middle) else { continue };
                let is_worse = |known: f64| if more_is_better { ratio < known } else { ratio > known };
                if worst.as_ref().is_none_or(|(known, _)| is_worse(*known)) {
                    *worst = Some((ratio, place.clone()));
                }
            }
        }
    }
    let reaches =
        |(ratio, _): &(f64, String)| if more_is_better { *ratio >= bar.limit } else { *ratio <= bar.limit };
    let holds = worst[0].as_ref().map(|_| worst.iter().flatten().all(reaches));
    let [p50, p90] = worst;
    let side = if more_is_better { "or more messages a second" } else { "or less" };
    Outcome {
        against: bar.against,
        what: bar.what,
        limit: format!("{} x {side}", bar.limit),
        p50,
        p90,
        holds,
        too_few_rounds,
        too_few_messages,
    }
}

fn is_meant(bar: &Bar, side: &Side) -> bool {
    matches!(&side.kind, Kind::Peer(peer) if (bar.is_peer)(peer, &side.system))
}

/// Returns all bars.
fn bars() -> Vec<Bar> {
    type IsCase = fn(&Work) -> bool;
    type IsPeer = fn(&str, &str) -> bool;
    let chain: IsCase = |work| matches!(work, Work::Chain { relays: 10, .. });
    let asleep: IsCase = |work| matches!(work, Work::PingPong { wait: Wait::Sleep, .. });
    let pairs: IsCase = |work| matches!(work, Work::Entities { .. });
    let rate = "messages_per_second";
    let iceoryx2: IsPeer = |peer, _| peer == "iceoryx2";
    let times = |against, what, limit, is_case: IsCase, is_peer: IsPeer| Bar {
        against,
        what,
        limit,
        key: "p50_ns",
        p90: Some("p90_ns"),
        is_case,
        is_peer,
    };
    let of = |key, against, what, limit, is_case, is_peer| Bar {
        key,
        p90: None,
        ..times(against, what, limit, is_case, is_peer)
    };
    let zenoh: IsPeer = |_, name| name == "zenoh, one session";
    let sessions: IsPeer = |_, name| name == "zenoh, a session per node";
    let calls: IsPeer = |peer, _| matches!(peer, "thrift" | "tonic" | "zenoh");
    let service_chain: IsCase = |work| matches!(work, Work::ServiceChain { .. });
    let within: IsCase = |work| matches!(work, Work::Throughput { size: 64, path: Path::Intra });
    let between: IsCase = |work| matches!(work, Work::Throughput { size: 64, path: Path::Shm });
    let loans: IsCase = |work| matches!(work, Work::PingPong { mode: Mode::Loan, wait: Wait::Poll, .. });
    let small: IsCase =
        |work| matches!(work, Work::PingPong { mode: Mode::Whole, wait: Wait::Poll, size: ..=4096, .. });
    let large: IsCase =
        |work| matches!(work, Work::PingPong { mode: Mode::Whole, wait: Wait::Poll, size: 65536.., .. });
    let to_256_kb: IsCase = |work| matches!(work, Work::PingPong { size: ..=262_144, .. });
    let morn: IsPeer = |peer, _| peer == "morn";
    let to_32: IsCase = |work| matches!(work, Work::Fanout { subscriptions: 32 });
    let polling: IsCase = |work| matches!(work, Work::Requests { wait: Wait::Poll, .. });
    let sleeping: IsCase = |work| matches!(work, Work::Requests { wait: Wait::Sleep, .. });
    vec![
        times("zenoh, callbacks in one session", "chain", 0.8, chain, zenoh),
        times("zenoh, a session per node", "chain", 0.02, chain, sessions),
        times("tokio mpsc", "chain", 0.2, chain, |_, name| name == "tokio mpsc"),
        of(rate, "crossbeam", "throughput in one process, 64 B", 0.8, within, |_, name| name == "crossbeam"),
        times("thrift, tonic, zenoh get", "service chain", 0.05, service_chain, calls),
        times("iceoryx2", "ping-pong of loans, polling", 0.5, loans, iceoryx2),
        times("iceoryx2", "ping-pong, sleeping", 0.9, asleep, iceoryx2),
        times("iceoryx2", "ping-pong of whole messages to 4 KB", 0.8, small, iceoryx2),
        times("iceoryx2", "ping-pong of whole messages of 64 KB and more", 1.0, large, iceoryx2),
        of("publish_p50_ns", "iceoryx2", "publish to 32", 0.3, to_32, iceoryx2),
        times("iceoryx2", "request-response, polling", 0.5, polling, iceoryx2),
        times("iceoryx2", "request-response, sleeping", 0.5, sleeping, iceoryx2),
        of("create_ns_per_pair", "iceoryx2", "creating a pair", 0.05, pairs, iceoryx2),
        of("rss_bytes_per_pair", "iceoryx2", "memory of a pair", 0.05, pairs, iceoryx2),
        of(rate, "iceoryx2", "throughput between processes, 64 B", 2.0, between, iceoryx2),
        times("Morn", "ping-pong to 256 KB", 1.0, to_256_kb, morn),
        times("Morn", "latest value", 1.0, |work| matches!(work, Work::Latest { .. }), morn),
        times("Unix sockets, pipes", "ping-pong, sleeping", 0.9, asleep, |peer, _| peer == "os"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::sections;
    use crate::measured::Measured;
    use crate::run::Part;

    /// Returns the outcome of the bar for chains beside tokio's channels, with this many rounds
    /// and messages.
    fn beside(rounds: usize, messages: f64) -> Outcome {
        let round = crate::measured::round(&[("p50_ns", 100.0), ("p90_ns", 200.0), ("messages", messages)]);
        let side = |system, kind, rounds| Side {
            rounds: vec![round.clone(); rounds],
            ..Side::new(system, kind, None)
        };
        let case = Measured {
            loaded: false,
            work: Work::Chain { relays: 10, rate: 100.0 },
            label: "100 Hz".to_owned(),
            sides: vec![
                side("sinew", Kind::Ours, 5),
                side("tokio mpsc", Kind::Peer("channels".to_owned()), rounds),
            ],
            floors: Vec::new(),
            lines: Vec::new(),
            rounds: 5,
        };
        let report = Report::of(vec![Part { section: sections().remove(0), cases: vec![case] }]);
        all(&report).into_iter().find(|bar| bar.against == "tokio mpsc").unwrap()
    }

    #[test]
    fn a_bar_needs_rounds_and_its_p90_messages() {
        let bar = beside(3, 100.0);
        assert_eq!((bar.holds, bar.p50.is_some(), bar.p90.is_some()), (Some(false), true, true));
        let bar = beside(2, 100.0);
        assert_eq!(
            (bar.holds, bar.too_few_rounds.as_slice()),
            (None, &["100 Hz, tokio mpsc".to_owned()][..])
        );
        let bar = beside(3, 99.0);
        assert_eq!((bar.p50.is_some(), bar.p90.is_some()), (true, false));
        assert_eq!(bar.too_few_messages, ["100 Hz, tokio mpsc"]);
    }
}
