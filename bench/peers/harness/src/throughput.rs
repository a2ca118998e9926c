//! The highest rate of messages to another process without losing one.

use std::time::Duration;

pub use sinew_bench::flood::{Drained, Sending, Sent, send_for};
use sinew_bench::rounds::Meter;

use crate::{Figures, Process, Result};

/// Measures a flood to another process, by calling `send` as in [`send_for`]. `other` is sent the
/// number of messages, and returns its [`Drained`].
///
/// # Errors
///
/// The errors of `send`, and if `other` ends early.
pub fn measure(
    time: Duration,
    size: usize,
    other: Process,
    send: impl FnMut(u64) -> Result<()>,
) -> Result<Figures> {
    let meter = Meter::start();
    let sent = send_for(time, send)?;
    let usage = meter.usage();
    Ok(other.finish_after::<Drained>(sent.count)?.figures(sent, size, usage))
}
