//! A timer's report for tools: its period, its clock, its number of calls.
//!
//! It is a [report](EndpointKind::Report) in its participant's table: other participants don't see
//! it, and tools read its counters as they read those of publishers.

use crate::sys::clock::ClockKind;
use sinew_shm::{Counts, Endpoint, EndpointKind};
use std::time::Duration;

/// Distinguishes it from the reports of gateways, which have their kind in this byte.
const MARK: u8 = 128;

/// An index of its counters.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub(crate) enum TimerWord {
    /// Nanoseconds.
    Period = 0,
    /// 1 + the [`ClockKind`] that it uses now.
    Clock = 1,
    /// 1: it follows its node's clock, of either kind.
    FollowsNode = 2,
    /// Calls of its callback.
    Calls = 3,
    /// Periods that were skipped, as it couldn't keep up.
    Skipped = 4,
    /// 1: it is cancelled until it is reset.
    IsCancelled = 5,
}

/// A timer's report; for tools.
///
/// The first 256 timers of a process have one; timers that wake sleeping tasks don't.
#[doc(hidden)] // for the command: it changes with `sinew_shm`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimerReport {
    /// Its period.
    pub period: Duration,
    /// The clock that it uses now.
    pub clock: ClockKind,
    /// Whether that is its node's clock, which may change.
    pub follows_node: bool,
    /// Calls of its callback.
    pub calls: u64,
    /// Periods that it skipped because it couldn't keep up.
    pub skipped: u64,
    /// Whether it is cancelled until it is reset.
    pub is_cancelled: bool,
}

impl TimerReport {
    /// Returns the endpoint for a timer of that node in its participant's table.
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

    /// Reads the report of an entity of a participant; `None` if it is not a timer, or malformed.
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
