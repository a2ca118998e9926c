//! Rounds of single messages or calls at a steady rate.

use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use crate::process::PATIENCE;
use crate::{Error, Figures, Samples, Ticks, now_ns, ticks, warm_up};

/// Messages or calls per second.
pub(super) const RATE: f64 = 100.0;

/// Returns a callback that reports the time of a message's arrival.
pub(super) fn tell(to: &Sender<i64>) -> impl Fn() + Send + Sync + 'static {
    let to = to.clone();
    move || {
        let _ = to.send(now_ns()); // the receiver outlives all senders
    }
}

/// Waits until a message has arrived. Returns the time of its arrival.
pub(super) fn await_told(came: &Receiver<i64>) -> Result<i64, Error> {
    let silent = |_| Error::PeerSilent { what: "net", waited: PATIENCE };
    came.recv_timeout(PATIENCE).map_err(silent)
}

/// Measures a round of single messages at a steady rate: the time from before `send` until the
/// message's arrival, which `send` returns, divided by `parts`.
pub(super) fn one_by_one(
    time: Duration,
    parts: u32,
    mut send: impl FnMut() -> Result<i64, Error>,
) -> Result<Figures, Error> {
    let ticks = ticks(RATE, time);
    let mut samples = Samples::with_room_for(ticks as usize);
    let mut pace = Ticks::start(RATE)?;
    for tick in 0..ticks {
        pace.wait();
        let begin = now_ns();
        let end = send()?;
        if tick >= warm_up(ticks) {
            samples.record(end - begin);
        }
    }
    Ok(Figures::of(&samples, parts))
}
