//! Rates: loops that run periodically.

use super::sleep::{Look, Sleeper};
use crate::api::node::Node;
use crate::ros::failure::{CreateError, SleepError};
use crate::sys::clock::{ClockKind, nanoseconds};
use std::fmt;
use std::time::Duration;

/// Paces a loop at fixed times: the `n`th round is due `n` periods after the beginning, however
/// long each round takes. From [`Node::rate`].
///
/// A round that takes longer than a period is followed by the next one at once; periods that passed
/// completely are skipped and counted, as by a [timer](crate::Timer). If its clock goes back, or
/// its source changes, the next round is at most one period from there.
///
/// In an executor a timer does the same without blocking a thread; a rate is for a thread, or a
/// task, with a loop of its own. ROS 2: `rclcpp::Rate`.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::builder().shared_memory(false).build()?;
/// let node = context.node("controller")?;
/// let mut rate = node.rate(Duration::from_millis(1))?;
/// let mut rounds = 0;
/// while rate.sleep().is_ok() {
///     rounds += 1; // the loop's work
///     if rounds == 3 {
///         context.shutdown(); // as Ctrl-C does
///     }
/// }
/// assert_eq!(rounds, 3);
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Rate {
    node: Node,
    /// `None` for the node's clock.
    kind: Option<ClockKind>,
    /// The period in nanoseconds; more than 0.
    period: i64,
    /// The due time of the current round, and the epoch of the clock to which this time belongs.
    last: (i64, u64),
}

impl Node {
    /// Creates a [`Rate`] with the given period, on the node's clock, like a [timer](Self::timer):
    /// simulated time while that is used, otherwise steady time. It begins now.
    ///
    /// # Errors
    /// Returns [`CreateError`] if the period is zero or unlimited, or the context is shut down.
    pub fn rate(&self, period: Duration) -> Result<Rate, CreateError> {
        self.context_shared().session.check_running("a rate")?;
        let node = self.full_name();
        match nanoseconds(period) {
            0 | i64::MAX => Err(CreateError::Period { node: node.to_owned(), period }),
            period => {
                let (node, kind, last) = (self.clone(), None, (0, 0));
                let mut rate = Rate { node, kind, period, last };
                rate.reset();
                Ok(rate)
            }
        }
    }
}

impl Rate {
    /// Sets the clock to follow, instead of the node's. The rate begins now.
    #[must_use]
    pub fn clock(mut self, kind: ClockKind) -> Self {
        self.kind = Some(kind);
        self.reset();
        self
    }

    /// Restarts the rate: the next round is one period from now.
    pub fn reset(&mut self) {
        let (_, now, epoch) = self.sleeper().read();
        self.last = (now, epoch);
    }

    fn sleeper(&self) -> Sleeper<'_> {
        Sleeper { context: self.node.context_shared(), kind: self.kind }
    }

    /// Returns the time from one round to the next.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.period).unwrap_or(0))
    }

    /// Sleeps until the next round is due; not at all if it already is. Returns the number of
    /// skipped rounds, which were over before this one could begin: 0 if the loop keeps up.
    ///
    /// Blocks the thread, like [`Node::sleep_until`].
    ///
    /// # Errors
    /// Returns only [`SleepError::Shutdown`]: a loop on it ends with the context.
    pub fn sleep(&mut self) -> Result<u64, SleepError> {
        let (period, mut last) = (self.period, self.last);
        let slept = self.sleeper().block(|now, epoch| round(period, &mut last, (now, epoch)));
        self.last = last;
        slept
    }

    /// The same for a task. A timer of the node wakes it, so an executor has to serve the node.
    /// Allocates. The future may be dropped and a new one created at any time.
    ///
    /// # Errors
    /// As for [`sleep`](Self::sleep).
    pub async fn sleep_async(&mut self) -> Result<u64, SleepError> {
        let Self { node, kind, period, last } = self;
        let sleeper = Sleeper { context: node.context_shared(), kind: *kind };
        sleeper.wait(node, |now, epoch| round(*period, last, (now, epoch))).await
    }
}

/// Checks whether the round after `last` is due. If so, makes that the last one, and returns the
/// number of skipped rounds.
fn round(period: i64, last: &mut (i64, u64), (now, epoch): (i64, u64)) -> Look<u64> {
    if last.1 != epoch || now < last.0 {
        *last = (now, epoch);
    }
    let due = last.0.saturating_add(period);
    if now < due {
        return Look::Again(due);
    }
    let missed = (now - due) / period;
    last.0 = due.saturating_add(missed.saturating_mul(period));
    Look::Done(u64::try_from(missed).unwrap_or(0))
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rate")
            .field("period", &self.period())
            .field("clock", &self.sleeper().read().0)
            .finish_non_exhaustive()
    }
}
