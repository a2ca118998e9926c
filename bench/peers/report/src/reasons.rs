//! Why a peer is ahead, and what it leaves out that a robot needs.

use std::fmt::Write as _;

use crate::report::Report;

/// Why some systems are ahead in some sections.
struct Reason {
    systems: &'static [&'static str],
    /// The sections' names in links, and there the figure that it explains; `None`: each of them.
    places: &'static [(&'static str, Option<&'static str>)],
    /// What the machine spends the time on.
    why: &'static str,
    /// What a robot needs and these systems leave out.
    leaves_out: &'static str,
    /// The tests in `needs/tests/needs.rs` that Sinew passes and these systems fail.
    needs: &'static [&'static str],
}

/// All that is known. Change a reason when the cause is removed, or another one is measured.
const REASONS: [Reason; 8] = [
    Reason {
        systems: &["crossbeam", "flume", "tokio mpsc"],
        places: &[("throughput-intra", None)],
        why: "For a message of 64 B one cache line goes from core to core: the channel's slot. In Sinew three go one \
              after the other: the message's block, the lock, and the history with the message's number, stamps and \
              QoS. From 64 KB on, filling and reading are nearly all there is, and rounds of one side differ by more \
              than the sides do.",
        leaves_out: "A channel has one receiver, and one that is full refuses the newest message.",
        needs: &["every_subscriber_gets_every_message", "a_reader_that_is_behind_finds_the_newest"],
    },
    Reason {
        systems: &["tokio mpsc", "tokio mpsc, one thread"],
        places: &[("chain", Some("p50_ns")), ("growth", Some("p50_ns"))],
        why: "A hop touches about 4 cache lines of a task and its channel, and 16 of a publisher, a history and a \
              subscription; a chain of 1000 has more of them than the near caches hold.",
        leaves_out: "A channel has one receiver, and one that is full refuses the newest message.",
        needs: &["every_subscriber_gets_every_message", "a_reader_that_is_behind_finds_the_newest"],
    },
    Reason {
        systems: &["crossbeam", "flume", "tokio mpsc", "tokio mpsc, one thread"],
        places: &[("chain", Some("rss_bytes")), ("growth", Some("rss_bytes"))],
        why: "Of Sinew's memory 3.7 MB are mapped before the program makes a context, 6.6 MB with one relay. A relay \
              adds 9 KB (a node, a publisher with a pool, a subscription with a history), a task with a channel 2 KB, \
              a thread with one 36 KB.",
        leaves_out: "A channel keeps one value for one receiver.",
        needs: &["every_subscriber_gets_every_message"],
    },
    Reason {
        systems: &["unix socket", "pipe", "thrift, buffered", "thrift, framed"],
        places: &[("pingpong-sleep", None), ("process-chain", None), ("requests", None)],
        why: "The kernel wakes the reader of a socket or a pipe sooner than a reader of shared memory, which sleeps on \
              a futex: both, with their copies, take less than that wake-up alone (the floor `wake`). So this costs \
              small messages that come seldom; from 64 KB on the copies cost more.",
        leaves_out: "A socket has one reader, keeps the oldest bytes, and stops or refuses its writer; a client of a \
                     server that comes again has to connect anew.",
        needs: &[
            "every_subscriber_gets_every_message",
            "a_reader_that_is_behind_finds_the_newest",
            "a_server_that_comes_again_is_found",
        ],
    },
    Reason {
        systems: &["zenoh, one session"],
        places: &[
            ("chain", None),
            ("growth", None),
            ("tails", None),
            ("entities", None),
            ("throughput-intra", None),
        ],
        why: "A subscriber is called within the publish: there is no queue between them, and no executor to wake.",
        leaves_out: "So each publisher runs all its subscribers' callbacks, and waits for them.",
        needs: &["a_publisher_does_not_run_its_subscribers", "a_node_that_comes_late_gets_the_last_message"],
    },
    Reason {
        systems: &["zenoh, a session per node"],
        places: &[("latest", None)],
        why: "Its reader asks a queue of its own process, mostly for the value that it had before; Sinew's reads the \
              writer's memory, and waits for a cache line of another core each time.",
        leaves_out: "What it reads is older, as the table shows: a value comes after its write has returned.",
        needs: &["a_read_finds_what_was_written_before"],
    },
    Reason {
        systems: &["zenoh, a session per node"],
        places: &[("entities", None)],
        why: "Of Sinew's memory for a pair between processes 40 % are files of shared memory: places for ten messages, \
              and what both sides say of their ends. zenoh keeps neither, and queues in its sockets.",
        leaves_out: "Nothing is kept for a node that comes late.",
        needs: &["a_node_that_comes_late_gets_the_last_message"],
    },
    Reason {
        systems: &["iceoryx2", "iceoryx2 with events"],
        places: &[
            ("pingpong-loan", None),
            ("pingpong-whole", None),
            ("pingpong-sleep", None),
            ("fanout", None),
            ("requests", None),
            ("throughput-shm", None),
            ("latest", None),
            ("big", None),
        ],
        why: "Both sides move the same cache lines; where a round says this and another that, filling and reading the \
              memory, or the wake-up, is nearly all of the time.",
        leaves_out: "The first node sets how many others may join a topic; by default, two publishers.",
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
                let here = |&(place, key): &(&str, Option<&str>)| {
                    place == part.section.id && key.is_none_or(|key| key == measure.key)
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
    let mut text =
        format!("{} ({cases} {}): ", systems.join("; "), if cases == 1 { "case" } else { "cases" });
    let _ = write!(text, "{why} {leaves_out}");
    let names: Vec<String> = needs.iter().map(|need| format!("`{need}`")).collect();
    let _ = write!(text, " Shown by {}.", names.join(", "));
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
    fn the_tests_exist_that_are_named() {
        let tests = include_str!("../../needs/tests/needs.rs");
        for need in REASONS.iter().flat_map(|reason| reason.needs) {
            assert!(tests.contains(&format!("#[test]\nfn {need}(")), "{need}");
        }
    }
}
