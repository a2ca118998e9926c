//! Sinew's scenarios over the network: two hosts on loopback, with gateways in the programs that
//! publish and subscribe, and a router between them.

mod hosts;
#[macro_use]
#[allow(dead_code, reason = "not all scenarios hold here")]
#[path = "../../../sinew-core/tests/conformance/suite/mod.rs"]
mod suite;

conformance! {
    net over crate::hosts::Net, network: for_all
    [single = Threads(1)]
}

conformance! {
    net_executors over crate::hosts::Net, network: for_executors
    [single = Threads(1)]
}

conformance! {
    net_threads over crate::hosts::Net, network: for_threads
    [multi_2 = Threads(2)]
}

/// The promises that a network can't keep, by their words in the lists.
const REASONS: [(&str, &str); 6] = [
    ("deadlocks", "a wait that could never end is not detected"),
    ("room", "`publish` does not wait for room on another host"),
    ("place", "a message has its place in the queue by its arrival"),
    ("topics", "the order between topics is lost when a link makes messages wait"),
    ("clients", "calls of several clients come in the order of their arrival"),
    ("assertions", "an assertion that a publisher is alive stays on its host"),
];

/// Adds the scenarios of a list that are not run here.
macro_rules! left_out {
    ($left:ident $($topic:ident { $($scenario:ident $([$($holds:tt)*])? $((rust $lacks:ident))?)* })*) => {
        $($(left_out! { @add $left $scenario [$($($holds)*)?] })*)*
    };
    (@add $left:ident $scenario:ident [one_host $word:ident]) => {
        $left.push((stringify!($scenario), stringify!($word)));
    };
    (@add $left:ident $scenario:ident [one_process]) => {
        $left.push((stringify!($scenario), "deadlocks"));
    };
    (@add $left:ident $scenario:ident [$($holds:tt)*]) => {};
}

/// The book lists them in the same words.
#[test]
#[expect(clippy::vec_init_then_push, reason = "three lists add to it")]
fn what_a_network_cannot_keep_is_in_the_book() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/qos.md");
    let book = std::fs::read_to_string(path).expect("the book");
    let (_, section) = book.split_once("## What a network can't keep").expect("a section");
    let mut left: Vec<(&str, &str)> = Vec::new();
    for_all! { left_out left }
    for_executors! { left_out left }
    for_threads! { left_out left }
    for (scenario, word) in &left {
        let (_, why) = REASONS.iter().find(|(known, _)| known == word).expect("a reason");
        println!("not over the network: {scenario}: {why}");
    }
    for (word, why) in REASONS {
        assert!(left.iter().any(|(_, other)| *other == word), "{word} is no reason any more");
        assert!(section.contains(&format!("| {why} |")), "the book doesn't say that {why}");
    }
}
