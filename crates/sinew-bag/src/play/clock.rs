//! The publisher of `/clock`.

use super::error::PlayError;
use super::options::PlayerClock;
use sinew::time::Time;
use sinew::{Node, Publisher, QoS};
use sinew_interfaces::rosgraph_msgs::msg::Clock;

const TOPIC: &str = "/clock";

/// Publishes the time of the bags.
#[derive(Debug)]
pub(super) struct ClockOutput {
    publisher: Publisher<Clock>,
    /// Nanoseconds between two messages; `None`: each message of the bags comes with its time.
    period: Option<i64>,
    due: i64,
}

impl ClockOutput {
    /// Makes the publisher, if one is wanted; its first message is due at once.
    pub(super) fn new(node: &Node, wanted: PlayerClock, now: i64) -> Result<Option<Self>, PlayError> {
        let period = match wanted {
            PlayerClock::None => return Ok(None),
            PlayerClock::Messages => None,
            PlayerClock::Hertz(hertz) => Some(period(hertz)?),
        };
        let publisher = node.publisher(TOPIC).qos(QoS::default().keep_last(1)).create()?;
        Ok(Some(Self { publisher, period, due: now }))
    }

    /// Returns the time of the next message, if messages are due at times.
    pub(super) fn due(&self) -> Option<i64> {
        self.period.map(|_| self.due)
    }

    /// Publishes the time at one of the due times, and takes note of the next.
    pub(super) fn tick(&mut self, time: u64, now: i64) {
        let period = self.period.unwrap_or(i64::MAX);
        let missed = now.saturating_sub(self.due) / period;
        self.due = self.due.saturating_add((missed + 1).saturating_mul(period));
        self.publish(time);
    }

    /// Publishes the time of a message that comes next.
    pub(super) fn of_message(&self, time: u64) {
        if self.period.is_none() {
            self.publish(time);
        }
    }

    fn publish(&self, time: u64) {
        // Fails only when the context has ended, or without memory for 20 bytes: the next one may
        // go, and messages of the bags report it.
        let _ = self.publisher.publish(Clock { clock: ros(time).to_msg() });
    }
}

/// Returns a time of a bag as one of a clock.
pub(super) fn ros(time: u64) -> Time {
    Time::from_nanoseconds(i64::try_from(time).unwrap_or(i64::MAX))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a cast saturates, and the result is checked"
)]
fn period(hertz: f64) -> Result<i64, PlayError> {
    let period = (1e9 / hertz).round();
    let is_period = period >= 1.0 && period < i64::MAX as f64;
    is_period.then_some(period as i64).ok_or(PlayError::Frequency { hertz })
}
