//! Times and durations of messages, to and from Rust's.

use sinew_interfaces::builtin_interfaces::msg::{Duration, Time};
use sinew_interfaces::time::{Negative, TooLong};
use std::time::SystemTime;

#[test]
fn nanoseconds_count_up() {
    for (nanoseconds, sec, nanosec) in [
        (0, 0, 0),
        (1, 0, 1),
        (-1, -1, 999_999_999),
        (-500_000_000, -1, 500_000_000),
        (-1_000_000_000, -1, 0),
        (1_700_000_000_123_456_789, 1_700_000_000, 123_456_789),
        (2_147_483_647_999_999_999, i32::MAX, 999_999_999),
        (-2_147_483_648_000_000_000, i32::MIN, 0),
    ] {
        assert_eq!(Time::from_nanoseconds(nanoseconds), Time { sec, nanosec });
        assert_eq!(Duration::from_nanoseconds(nanoseconds), Duration { sec, nanosec });
        assert_eq!(Time { sec, nanosec }.nanoseconds(), nanoseconds);
        assert_eq!(Duration { sec, nanosec }.nanoseconds(), nanoseconds);
    }
}

#[test]
fn what_a_message_cannot_hold_is_the_nearest_that_it_can() {
    let (first, last) = (Time { sec: i32::MIN, nanosec: 0 }, Time { sec: i32::MAX, nanosec: 999_999_999 });
    assert_eq!(Time::from_nanoseconds(-2_147_483_648_000_000_001), first);
    assert_eq!(Time::from_nanoseconds(2_147_483_648_000_000_000), last);
    assert_eq!((Time::from_nanoseconds(i64::MIN), Time::from_nanoseconds(i64::MAX)), (first, last));
    let century = std::time::Duration::from_secs(100 * 365 * 86400);
    for centuries in [1, 4] {
        assert_eq!(Time::from(SystemTime::UNIX_EPOCH + centuries * century), last);
        assert_eq!(Time::from(SystemTime::UNIX_EPOCH - centuries * century), first);
    }
}

#[test]
fn wall_times_come_back() {
    for time in [
        Time::default(),
        Time { sec: -1, nanosec: 1 },
        Time { sec: i32::MIN, nanosec: 0 },
        Time { sec: i32::MAX, nanosec: 999_999_999 },
    ] {
        assert_eq!(Time::from(SystemTime::from(time)), time);
    }
    let more_than_a_second = Time { sec: 1, nanosec: u32::MAX };
    assert_eq!(Time::from(SystemTime::from(more_than_a_second)), Time { sec: 5, nanosec: 294_967_295 });
}

#[test]
fn durations_that_fit_come_back() {
    let long = std::time::Duration::new(2_147_483_647, 999_999_999);
    for duration in [std::time::Duration::ZERO, std::time::Duration::from_nanos(1_500_000_001), long] {
        let there = Duration::try_from(duration).unwrap();
        assert_eq!(std::time::Duration::try_from(there), Ok(duration));
    }
    let duration = long + std::time::Duration::from_nanos(1);
    let error = Duration::try_from(duration).unwrap_err();
    assert_eq!(error, TooLong { duration });
    assert!(error.to_string().starts_with("2147483648s is longer than the 2147483647.999999999 s that "));
    let before = Duration { sec: -1, nanosec: 999_999_999 };
    let error = std::time::Duration::try_from(before).unwrap_err();
    assert_eq!(error, Negative { nanoseconds: -1 });
    assert!(error.to_string().starts_with("a duration of -1 ns is negative, "));
}
