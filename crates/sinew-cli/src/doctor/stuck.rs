//! Executors that are stuck in a callback while work waits for them.

use std::time::Duration;

use super::Finding;
use crate::cli::tools::Where;
use crate::clock::{nanoseconds, now_ns, sleep_until};
use crate::error::Error;
use crate::graph::{Held, Observed, STUCK_NS, Snapshot};

const CHECK: &str = "callbacks";

/// What waits now and is taken within this time waits for nobody.
const MOMENT: Duration = Duration::from_millis(50);

/// Looks once, and if somebody seems to be stuck, once more.
pub(super) fn check(place: &Where) -> Finding {
    match stuck(place) {
        Ok(all) if all.is_empty() => Finding::fine(CHECK, "none lasts long while work waits for it"),
        Ok(all) => Finding::wrong(
            CHECK,
            all.join("; "),
            "let callbacks return soon: give long work a thread of its own, or an executor with more threads (Executor::multi) \
             and the callback a group of its own; gdb -p <pid> shows where it is",
        ),
        Err(error) => Finding::wrong(CHECK, error.to_string(), "see the lines above"),
    }
}

/// The processes that are stuck, in words.
fn stuck(place: &Where) -> Result<Vec<String>, Error> {
    let mut observed = Observed::open_quietly(place)?;
    let first = observed.look()?;
    if first.processes.iter().all(|peer| longest(&first, peer).is_none()) {
        return Ok(Vec::new());
    }
    let waited = first.all_that_wait();
    sleep_until(now_ns() + nanoseconds(MOMENT));
    let second = observed.look()?;
    let waits: Vec<_> = second.all_that_wait().intersection(&waited).copied().collect();
    let told = second.processes.iter().filter_map(|peer| {
        let held = longest(&second, peer)?;
        let ends = waits.iter().filter(|((owner, _), _)| *owner == peer.id()).count();
        let plural = if ends == 1 { "end" } else { "ends" };
        (ends > 0).then(|| {
            format!(
                "{} ({}) is {}, and work waits for {ends} {plural} of it",
                peer.program(),
                peer.pid(),
                held.text()
            )
        })
    });
    Ok(told.collect())
}

/// The longest callback that a process is in, if that is too long.
fn longest(snapshot: &Snapshot, peer: &sinew_shm::Peer) -> Option<Held> {
    let held = snapshot.held(peer).into_iter().filter(|held| held.nanoseconds >= STUCK_NS);
    held.max_by_key(|held| held.nanoseconds)
}
