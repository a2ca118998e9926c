//! Why a peer is ahead, and what it leaves out that a robot needs.

use std::fmt::Write as _;

use crate::report::Report;

/// Why some systems are ahead in some cases: a sentence, and one of what they leave out.
struct Reason {
    systems: &'static [&'static str],
    places: &'static [Place],
    /// What the machine spends the time on.
    why: &'static str,
    /// What a robot needs and these systems leave out; empty if it has nothing to do with the figure.
    leaves_out: &'static str,
    /// The tests in `needs/tests/needs.rs` that show it: Sinew passes them, and these systems fail.
    needs: &'static [&'static str],
}

/// A section by its name in links, the label of a case and the key of a figure: `None` for all.
type Place = (&'static str, Option<&'static str>, Option<&'static str>);

/// What all channels leave out.
const ONE_RECEIVER: &str = "Each message goes to one receiver, and a full channel refuses the newest message (tokio's \
                            `broadcast`, measured with whole robots, does neither).";
const OF_CHANNELS: &[&str] =
    &["every_subscriber_gets_every_message", "a_reader_that_is_behind_finds_the_newest"];

/// What sockets and pipes leave out.
const ONE_READER: &str =
    "Each byte goes to one reader, and a full socket or pipe refuses the newest message or stops its writer.";

/// What zenoh leaves out for subscribers with callbacks.
const CALLED_BACK: &str = "With callbacks, as here, its publisher runs its subscribers and waits for them; a \
                           subscriber with a channel is not run, and has a thread that must be woken.";

/// All that is known; the first that fits a case explains it. Change a reason when its cause is
/// removed, or another one is measured.
const REASONS: [Reason; 13] = [
    Reason {
        systems: &["crossbeam", "flume", "tokio mpsc"],
        places: &[("throughput-intra", Some("64 B"), None)],
        why: "From core to core goes crossbeam's slot with an index, flume's or tokio's queue with its lock or \
              semaphore, but Sinew's lock, history and block of the message, with its number, stamps and QoS.",
        leaves_out: ONE_RECEIVER,
        needs: OF_CHANNELS,
    },
    Reason {
        systems: &["crossbeam", "flume", "tokio mpsc", "zenoh, one session"],
        places: &[("throughput-intra", None, None)],
        why: "Filling and reading the memory is nearly all of the time; beyond that it was not profiled.",
        leaves_out: "",
        needs: &[],
    },
    Reason {
        systems: &["tokio mpsc", "tokio mpsc, one thread"],
        places: &[("chain", None, Some("p50_ns")), ("growth", None, Some("p50_ns"))],
        why: "A hop touches about 4 cache lines of a task and its channel, and 16 of a publisher, a history and a \
              subscription, and a long chain has more of them than the near caches hold.",
        leaves_out: ONE_RECEIVER,
        needs: OF_CHANNELS,
    },
    Reason {
        systems: &["crossbeam", "flume", "tokio mpsc", "tokio mpsc, one thread"],
        places: &[("chain", None, Some("rss_bytes")), ("growth", None, Some("rss_bytes"))],
        why: "Of the 6.3 MB that Sinew has with one relay 3.7 are mapped before the program makes a context; a relay \
              adds 9 KB, a task with a channel 2 KB, a thread with flume's channel 10 KB, one with crossbeam's, which \
              allocates its slots at once, 34 KB.",
        leaves_out: "",
        needs: &[],
    },
    Reason {
        systems: &["unix socket", "pipe"],
        places: &[("pingpong-sleep", None, None), ("requests", None, None)],
        why: "Back to back, a socket or a pipe with its copies takes less than a futex's wake-up alone (the floor \
              `wake`), by which readers of shared memory sleep, and after 10 ms of sleep Sinew's own code comes from \
              far caches.",
        leaves_out: ONE_READER,
        needs: OF_CHANNELS,
    },
    Reason {
        systems: &["unix socket"],
        places: &[("process-chain", None, None)],
        why: "Most of a hop is the wake-up, on both sides, and two system calls; a socket takes 217 instructions \
              besides, Sinew 12,100.",
        leaves_out: ONE_READER,
        needs: OF_CHANNELS,
    },
    Reason {
        systems: &["thrift, buffered", "thrift, framed"],
        places: &[("requests", None, None)],
        why: "A call is two wake-ups by a socket, which the kernel does sooner than by a futex in shared memory.",
        leaves_out: "After its server went and came again, a client stays cut off until the program connects it anew.",
        needs: &["a_server_that_comes_again_is_found"],
    },
    Reason {
        systems: &[
            "crossbeam",
            "flume",
            "tokio mpsc",
            "tokio mpsc, one thread",
            "zenoh, one session",
            "zenoh, a session per node",
            "hiroz, one context",
        ],
        places: &[("tails", None, Some("due_max_ns"))],
        why: "The longest is one message of a round of 30 s, which the kernel's scheduler decides: rounds of one side \
              differ by more than the sides do.",
        leaves_out: "",
        needs: &[],
    },
    Reason {
        systems: &["zenoh, one session"],
        places: &[("chain", None, None), ("growth", None, None), ("tails", None, None)],
        why: "When Sinew's executor wakes, it fetches what its last burst used before it runs the timer's callback: \
              the first hop is later for it, and the others are shorter.",
        leaves_out: CALLED_BACK,
        needs: &["a_publisher_does_not_run_its_subscribers"],
    },
    Reason {
        systems: &["zenoh, one session"],
        places: &[("entities", None, None)],
        why: "1152 of Sinew's 2549 live bytes for a pair are the subscription's history, which a callback has not.",
        leaves_out: CALLED_BACK,
        needs: &["a_publisher_does_not_run_its_subscribers"],
    },
    Reason {
        systems: &["zenoh, a session per node"],
        places: &[("latest", None, None)],
        why: "Its reader asks a queue of its own process, mostly for the value that it had before, and its write \
              returns before the value has left; Sinew's reader waits for a line of the writer's memory each time.",
        leaves_out: "What a subscriber of zenoh reads is older, as the table shows: a value arrives after its put has \
                     returned.",
        needs: &["a_read_finds_what_was_written_before"],
    },
    Reason {
        systems: &["zenoh, a session per node"],
        places: &[("entities", None, None)],
        why: "4 of 10 bytes of Sinew's are in files of shared memory: places for ten messages, and what both sides say \
              of their ends; zenoh queues in its sockets.",
        leaves_out: "",
        needs: &[],
    },
    Reason {
        systems: &["iceoryx2", "iceoryx2 with events"],
        places: &[
            ("pingpong-loan", None, None),
            ("pingpong-whole", None, None),
            ("pingpong-sleep", None, None),
            ("fanout", None, None),
            ("requests", None, None),
            ("throughput-shm", None, None),
            ("latest", None, None),
            ("big", None, None),
        ],
        why: "Both sides write and read the same bytes, and wait for as many cache lines or the same wake-up, which is \
              nearly all of the time.",
        leaves_out: "The node that creates a topic fixes how many may join, by default two publishers, which bounds \
                     its memory: a further one is refused.",
        needs: &["any_number_of_publishers_joins"],
    },
];

/// Returns a text for each reason that this report has a case of, and one for the cases without any.
pub fn of(report: &Report) -> Vec<String> {
    let mut cases: Vec<Vec<String>> = vec![Vec::new(); REASONS.len()];
    let mut unexplained = Vec::new();
    for (part, case, measure) in report.compared() {
        for (side, advantage) in case.rivals(measure) {
            if advantage.middle >= 1.0 {
                continue;
            }
            let explains = |reason: &Reason| {
                let here = |&(section, label, key): &Place| {
                    section == part.section.id
                        && label.is_none_or(|label| label == case.label)
                        && key.is_none_or(|key| key == measure.key)
                };
                reason.systems.contains(&side.system.as_str()) && reason.places.iter().any(here)
            };
            let place = format!("{} ({}), {}", part.section.title, case.label, measure.title);
            match REASONS.iter().position(explains) {
                Some(reason) => cases[reason].push(place),
                None => unexplained.push(format!("{}: {place}", side.system)),
            }
        }
    }
    let known = REASONS.iter().zip(&cases).filter(|(_, cases)| !cases.is_empty());
    let mut texts: Vec<String> = known.map(|(reason, cases)| explained(reason, cases.len())).collect();
    if !unexplained.is_empty() {
        texts.push(format!("Not profiled: {}.", unexplained.join("; ")));
    }
    texts
}

fn explained(Reason { systems, why, leaves_out, needs, .. }: &Reason, cases: usize) -> String {
    let cases = if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") };
    let mut text = format!("{} ({cases}): {why}", systems.join("; "));
    if !needs.is_empty() {
        let names: Vec<String> = needs.iter().map(|need| format!("`{need}`")).collect();
        let _ = write!(text, " {leaves_out} Shown by {}.", names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::sections;
    use crate::measured::{Kind, Measured, Side, round};
    use crate::run::Part;
    use harness::Work;

    #[test]
    fn only_what_a_peer_is_ahead_in_is_explained() {
        let side = |system: &str, kind, p50: f64| {
            let rounds = vec![round(&[("p50_ns", p50), ("messages", 9.0)])];
            Side { rounds, ..Side::new(system, kind, None) }
        };
        let of_peer = |system: &str, p50| side(system, Kind::Peer("peer".to_owned()), p50);
        let case = Measured {
            loaded: false,
            work: Work::Latest { size: 64 },
            label: "64 B".to_owned(),
            sides: vec![
                side("sinew", Kind::Ours, 100.0),
                of_peer("zenoh, a session per node", 50.0),
                of_peer("iceoryx2", 200.0),
                of_peer("unheard of", 40.0),
            ],
            floors: Vec::new(),
            lines: Vec::new(),
            rounds: 1,
        };
        let section = sections().into_iter().find(|section| section.id == "latest").unwrap();
        let texts = of(&Report::of(vec![Part { section, cases: vec![case] }]));
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].starts_with("zenoh, a session per node (1 case): "), "{texts:?}");
        assert!(texts[0].ends_with(" Shown by `a_read_finds_what_was_written_before`."), "{texts:?}");
        assert_eq!(texts[1], "Not profiled: unheard of: The latest value (64 B), a read.");
    }

    #[test]
    fn a_reason_is_two_sentences_at_most() {
        for Reason { why, leaves_out, needs, .. } in &REASONS {
            for sentence in [why, leaves_out] {
                assert!(
                    !sentence.contains(". ") && (sentence.is_empty() || sentence.ends_with('.')),
                    "{sentence}"
                );
            }
            assert_eq!(leaves_out.is_empty(), needs.is_empty(), "what is left out is shown: {leaves_out}");
        }
    }

    #[test]
    fn the_tests_exist_that_are_named() {
        let tests = include_str!("../../needs/tests/needs.rs");
        for need in REASONS.iter().flat_map(|reason| reason.needs) {
            assert!(tests.contains(&format!("#[test]\nfn {need}(")), "{need}");
        }
    }
}
