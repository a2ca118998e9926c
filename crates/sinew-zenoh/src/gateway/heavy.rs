//! Decides when a topic counts as heavy: it sends too much, or the link is too slow for it. Plain
//! data, without a link.

use super::turns::OVERHEAD;
use sinew::time::Time;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that a topic may send and still count as one of few bytes.
#[derive(Default)]
pub(super) struct Allowance {
    /// Time of the last update of `used`.
    at: Option<Time>,
    /// Bytes in use.
    used: u64,
}

impl Allowance {
    /// Longest message, in bytes.
    pub(super) const LONGEST: usize = 8 << 10;

    /// Bytes that become free in a second, and bytes that may be used at once.
    const RATE: u64 = 64 << 10;

    /// Returns `true` if a message of `length` bytes is within the allowance.
    pub(super) fn takes(&mut self, length: usize, now: Time) -> bool {
        let passed = now - *self.at.get_or_insert(now);
        let back =
            u64::try_from(passed.as_micros()).unwrap_or(u64::MAX).saturating_mul(Self::RATE) / 1_000_000;
        if back > 0 {
            (self.at, self.used) = (Some(now), self.used.saturating_sub(back));
        }
        self.used = self.used.saturating_add((length + OVERHEAD) as u64);
        length <= Self::LONGEST && self.used <= Self::RATE
    }
}

/// Watches whether puts of a topic of few bytes wait for the link. As soon as one has, the sender
/// makes the puts behind it, so that no publisher waits again; if those wait as well, the topic is
/// heavy.
#[derive(Default)]
pub(super) struct Slowness(AtomicUsize);

impl Slowness {
    /// Number of slow puts in a row that a busy machine no longer explains.
    const MOST: usize = 3;

    /// Records a put. Returns `true` if too many in a row were slow.
    pub(super) fn note(&self, is_slow: bool) -> bool {
        // Relaxed: the count stands alone.
        if is_slow {
            return self.0.fetch_add(1, Ordering::Relaxed) + 1 >= Self::MOST;
        }
        if self.is_suspected() {
            self.0.store(0, Ordering::Relaxed);
        }
        false
    }

    /// Returns `true` if the last put was slow.
    pub(super) fn is_suspected(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_slow_put_makes_no_topic_heavy() {
        let slowness = Slowness::default();
        for _ in 0..100 {
            assert!(!slowness.note(true), "the machine was busy");
            assert!(slowness.is_suspected(), "the sender makes the next one");
            assert!(!slowness.note(false));
            assert!(!slowness.is_suspected());
        }
        assert_eq!([true; 3].map(|is_slow| slowness.note(is_slow)), [false, false, true], "the link is slow");
    }

    #[test]
    fn what_few_bytes_are() {
        let at = |milliseconds: i64| Time::from_nanoseconds(milliseconds * 1_000_000);
        let is_light = |length: usize, period: i64| {
            let mut allowance = Allowance::default();
            (0..10_000).all(|number| allowance.takes(length, at(number * period)))
        };
        assert!(is_light(20, 10), "a state, a hundred times a second");
        assert!(is_light(5000, 100), "a scan, ten times a second");
        assert!(!is_light(1000, 1), "a thousand of them a second are too many");
        assert!(!is_light(9000, 1000), "one is too large");
        let mut allowance = Allowance::default();
        assert!((0..50).all(|_| allowance.takes(1000, at(0))), "some may come at once");
        assert!((0..50).all(|_| allowance.takes(1000, at(2000))), "and again when time has passed");
        assert!(!(0..20).all(|_| allowance.takes(1000, at(2000))));
    }
}
