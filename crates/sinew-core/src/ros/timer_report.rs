//! What a node's timer tells tools of itself: the period, the clock, how often it ran.
//!
//! It is a [report](EndpointKind::Report) in its participant's table: other participants aren't told
//! of it, and tools read its counters as they read those of publishers.

use crate::sys::clock::ClockKind;
use sinew_shm::{Counts, Endpoint, EndpointKind};
use std::time::Duration;

/// What tells it from the reports of gateways, where those have their kind.
const MARK: u8 = 128;

/// A word of its counters.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub(crate) enum TimerWord {
    /// Nanoseconds.
    Period = 0,
    /// 1 + the [`ClockKind`] that it goes by now.
    Clock = 1,
    /// 1: its node's, whichever that is.
    FollowsNode = 2,
    /// Calls of its callback.
    Calls = 3,
    /// Periods that were left out, as it couldn't keep up.
    Skipped = 4,
    /// 1: it rests until it is reset.
    IsCancelled = 5,
}

/// What a timer tells tools of itself; for tools.
///
/// The first 256 timers of a process do; those that wake sleeping tasks don't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimerReport {
    /// Its period.
    pub period: Duration,
    /// The clock that it goes by now.
    pub clock: ClockKind,
    /// Whether that is its node's clock, which may change.
    pub follows_node: bool,
    /// How often its callback was called.
    pub calls: u64,
    /// Periods that it left out because it couldn't keep up.
    pub skipped: u64,
    /// Whether it rests until it is reset.
    pub is_cancelled: bool,
}

impl TimerReport {
    /// What a timer of that node has in its participant's table.
    pub(crate) fn endpoint(node: &str, number: u64) -> Endpoint {
        let mut qos = [0; 64];
        qos[0] = MARK;
        Endpoint {
            kind: EndpointKind::Report,
            number,
            node: node.to_owned(),
            name: String::new(),
            type_name: String::new(),
            hash: [0; 32],
            qos,
        }
    }

    /// What an entity of a participant tells of itself; `None` if it is no timer, or makes no sense.
    #[must_use]
    pub fn read(endpoint: &Endpoint, counts: &Counts) -> Option<Self> {
        if endpoint.kind != EndpointKind::Report || endpoint.qos[0] != MARK {
            return None;
        }
        let word = |word: TimerWord| counts.word(word as usize);
        let clock = usize::try_from(word(TimerWord::Clock)).ok()?.checked_sub(1)?;
        Some(Self {
            period: Duration::from_nanos(word(TimerWord::Period)),
            clock: ClockKind::ALL.get(clock).copied()?,
            follows_node: word(TimerWord::FollowsNode) == 1,
            calls: word(TimerWord::Calls),
            skipped: word(TimerWord::Skipped),
            is_cancelled: word(TimerWord::IsCancelled) == 1,
        })
    }
}
