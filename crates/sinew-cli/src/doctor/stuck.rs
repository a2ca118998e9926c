//! Finds processes that don't handle their waiting work: executors stuck in a callback, and
//! processes that fetch nothing (stopped ones, or those that never spin).

use std::time::Duration;

use sinew_shm::Peer;

use super::finding::Finding;
use crate::cli::tools::Where;
use crate::error::Error;
use crate::graph::{Held, STUCK_NS};
use crate::observed::{Observed, ObservedDomain};
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};

const CHECK: &str = "callbacks";

/// Time between two looks at waiting work.
const MOMENT: Duration = Duration::from_millis(50);

/// Looks until nothing waits any more, for as long as a callback may last.
pub(super) fn check(place: &Where) -> Vec<Finding> {
    match findings(place) {
        Ok(all) if all.is_empty() => vec![Finding::fine(CHECK, "none lasts long, and what waits is taken")],
        Ok(all) => all,
        Err(error) => vec![Finding::wrong(CHECK, error.to_string(), "see the lines above")],
    }
}

fn findings(place: &Where) -> Result<Vec<Finding>, Error> {
    let mut observed = Observed::open_quietly(place)?;
    let mut snapshot = observed.look()?;
    let mut waits = snapshot.all_that_wait();
    let until = now_ns() + STUCK_NS;
    while !waits.is_empty() && now_ns() < until {
        sleep_until(now_ns() + nanoseconds(MOMENT));
        snapshot = observed.look()?;
        let still = snapshot.all_that_wait();
        waits.retain(|wait| still.contains(wait));
    }
    let (mut stuck, mut long, mut untaken) = (Vec::new(), Vec::new(), Vec::new());
    for peer in &snapshot.processes {
        let process = format!("{} ({})", peer.program(), peer.pid());
        let waits = |id| waits.iter().any(|(waiting, _)| *waiting == id);
        let ends: Vec<_> =
            snapshot.endpoints.iter().filter(|end| end.peer.id() == peer.id() && waits(end.id())).collect();
        let plural = if ends.len() == 1 { "end" } else { "ends" };
        match longest(&snapshot, peer).map(|held| held.text()) {
            Some(held) if ends.is_empty() => long.push(format!("{process} is {held}")),
            Some(held) => {
                stuck.push(format!("{process} is {held}, and work waits for {} {plural} of it", ends.len()));
            }
            // Fetched messages may be kept on purpose, to be taken when they are needed.
            None => match ends.iter().map(|end| snapshot.waiting(end).unread).sum::<u64>() {
                0 => {}
                1 => untaken.push(format!("one message waits for {process}, which doesn't take it")),
                count => untaken.push(format!("{count} messages wait for {process}, which takes none")),
            },
        }
    }
    let mut findings = Vec::new();
    if !stuck.is_empty() {
        let remedy = "let callbacks return soon: give long work a thread of its own, or an executor with more threads \
                      (Executor::multi) and the callback a group of its own; gdb -p <pid> shows where it is";
        findings.push(Finding::wrong(CHECK, stuck.join("; "), remedy));
    }
    if !long.is_empty() {
        let remedy = "no message waits for it, but timers of the same executor may; \
                      gdb -p <pid> shows where it is";
        findings.push(Finding::advice(CHECK, long.join("; "), remedy));
    }
    if !untaken.is_empty() {
        let remedy = "have it spin, or take what it subscribes to; \
                      a stopped one (state T in ps) goes on after kill -CONT <pid>";
        findings.push(Finding::advice(CHECK, untaken.join("; "), remedy));
    }
    Ok(findings)
}

/// Returns the longest running callback of a process, if it is too long.
fn longest(snapshot: &ObservedDomain, peer: &Peer) -> Option<Held> {
    let held = snapshot.held(peer).into_iter().filter(|held| held.nanoseconds >= STUCK_NS);
    held.max_by_key(|held| held.nanoseconds)
}
