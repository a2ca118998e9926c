//! The time of a bag as it is played: a function of the steady clock, so that it doesn't drift.

/// The time of a bag while it is played. Times of the bag are nanoseconds since the epoch, those of
/// the clock steady nanoseconds.
///
/// Each change of the motion begins from the present time of the bag; between changes each time is
/// computed from the last one, and no error adds up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The time of the bag at the steady time `since`, and before: until then it stands still.
    time: u64,
    since: i64,
    /// Nanoseconds of the bag in one of the clock; infinite: as fast as possible.
    rate: f64,
    is_paused: bool,
}

impl Pace {
    /// It stands still until it [begins](Self::begin). A rate of infinity plays as fast as
    /// possible: then only [`reached`](Self::reached) moves the time.
    pub(super) fn new(time: u64, rate: f64, is_paused: bool) -> Self {
        Self { time, since: i64::MAX, rate, is_paused }
    }

    /// Begins at a steady time, from the present time of the bag. Time before that doesn't count.
    pub(super) fn begin(&mut self, at: i64) {
        self.since = at;
    }

    /// Returns the time of the bag.
    pub(super) fn time(&self, now: i64) -> u64 {
        if self.is_paused || self.rate.is_infinite() {
            return self.time;
        }
        let passed = u64::try_from(now.saturating_sub(self.since)).unwrap_or(0);
        self.time.saturating_add(scaled(passed, self.rate))
    }

    /// Returns the steady time at which the bag shows this time; `None` if it is paused.
    pub(super) fn due(&self, time: u64) -> Option<i64> {
        if self.is_paused {
            return None;
        }
        let left = time.saturating_sub(self.time); // what lies before is due now
        let left = if self.rate.is_infinite() { 0 } else { scaled(left, 1.0 / self.rate) };
        Some(self.since.saturating_add(i64::try_from(left).unwrap_or(i64::MAX)))
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Returns whether it plays as fast as possible.
    pub(super) fn is_unpaced(&self) -> bool {
        self.rate.is_infinite()
    }

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn pause(&mut self, now: i64) {
        self.settle(now);
        self.is_paused = true;
    }

    pub(super) fn resume(&mut self, now: i64) {
        self.settle(now);
        self.is_paused = false;
    }

    pub(super) fn set_rate(&mut self, rate: f64, now: i64) {
        self.settle(now);
        self.rate = rate;
    }

    /// Goes to a time, or takes note of a message that was played without being due.
    pub(super) fn reached(&mut self, time: u64, now: i64) {
        // Before the beginning it goes on standing still.
        (self.time, self.since) = (time, self.since.max(now));
    }

    /// Lets the bag stand still for the last `delay` nanoseconds.
    pub(super) fn delay(&mut self, delay: i64) {
        self.since = self.since.saturating_add(delay);
    }

    fn settle(&mut self, now: i64) {
        self.reached(self.time(now), now);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a cast saturates, rates are positive, and 104 days are exact"
)]
fn scaled(nanoseconds: u64, factor: f64) -> u64 {
    #[expect(clippy::float_cmp, reason = "the one rate at which nothing is to be rounded")]
    if factor == 1.0 { nanoseconds } else { (nanoseconds as f64 * factor).round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    const DAY: u64 = 86_400_000_000_000;
    /// A time of 2026: a float doesn't hold its nanoseconds.
    const BEGIN: u64 = 1_790_000_000_123_456_789;

    fn begun(time: u64, at: i64, rate: f64) -> Pace {
        let mut pace = Pace::new(time, rate, false);
        pace.begin(at);
        pace
    }

    #[test]
    fn it_stands_still_until_it_begins() {
        let mut pace = Pace::new(1_000, 2.0, false);
        assert_eq!((pace.time(900), pace.due(1_000)), (1_000, Some(i64::MAX)));
        // Calls before the beginning don't start it.
        pace.pause(100);
        pace.resume(200);
        pace.set_rate(10.0, 300);
        assert_eq!(pace.time(900), 1_000);
        pace.reached(2_000, 500);
        assert_eq!((pace.time(900), pace.due(2_000)), (2_000, Some(i64::MAX)));
        // With a delay.
        pace.begin(1_500);
        assert_eq!((pace.time(1_400), pace.due(2_000)), (2_000, Some(1_500)));
        pace.pause(1_100);
        pace.resume(1_200);
        assert_eq!((pace.time(1_510), pace.due(2_200)), (2_100, Some(1_520)));
    }

    #[test]
    fn times_are_exact_after_a_day() {
        let pace = begun(BEGIN, 1_000, 1.0);
        assert_eq!(pace.due(BEGIN + DAY + 1), Some(1_001 + DAY as i64));
        assert_eq!(pace.time(1_001 + DAY as i64), BEGIN + DAY + 1);
        let fast = begun(BEGIN, 1_000, 100.0);
        assert_eq!(fast.due(BEGIN + DAY), Some(1_000 + DAY as i64 / 100));
        assert_eq!(fast.time(1_000 + DAY as i64 / 100), BEGIN + DAY);
    }

    #[test]
    fn changes_begin_from_where_it_stands() {
        let mut pace = begun(1_000, 0, 2.0);
        pace.pause(100);
        assert_eq!((pace.time(500), pace.due(2_000)), (1_200, None));
        pace.resume(1_000);
        assert_eq!((pace.time(1_100), pace.due(1_600)), (1_400, Some(1_200)));
        pace.set_rate(0.5, 1_100);
        assert_eq!((pace.time(1_300), pace.due(1_600)), (1_500, Some(1_500)));
        pace.reached(7, 2_000);
        assert_eq!((pace.time(2_000), pace.due(5)), (7, Some(2_000)));
        pace.delay(1_000);
        assert_eq!(pace.due(8), Some(3_002));
    }

    #[test]
    fn as_fast_as_possible_everything_is_due() {
        let mut pace = begun(1_000, 50, f64::INFINITY);
        assert_eq!((pace.time(99), pace.due(u64::MAX)), (1_000, Some(50)));
        pace.reached(2_000, 60);
        assert_eq!(pace.time(99), 2_000);
        pace.pause(70);
        assert_eq!(pace.due(3_000), None);
    }
}
