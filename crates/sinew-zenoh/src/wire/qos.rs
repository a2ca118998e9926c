//! QoS in a token: `reliability:durability:history,depth:deadline:lifespan:liveliness,lease`, times
//! as `seconds,nanoseconds`. A field is empty where it is rmw_zenoh's default.

use sinew::QoS;
use sinew::qos::{Durability, History, Liveliness, Reliability};
use std::time::Duration;

/// rmw_zenoh's default depth, which a depth of 0 also stands for (its `qos.cpp`).
const DEPTH: usize = 42;

/// Greatest depth that is accepted from the network: a peer's depth takes memory here.
const DEEPEST: usize = 1 << 20;

/// An infinite time (`rmw/time.h`): `RMW_DURATION_INFINITE`.
const INFINITE: (u64, u64) = (9_223_372_036, 854_775_807);

/// A chunk is not a valid QoS.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its QoS can't be read: {field} is `{value}`, {expected}")]
pub struct QosChunkError {
    /// The name of the field.
    pub field: &'static str,
    /// Its text.
    pub value: String,
    /// The expected form.
    pub expected: &'static str,
}

/// Returns the chunk for a QoS. Settings that only Sinew has are left out.
///
/// ```
/// use sinew::QoS;
/// use sinew_zenoh::wire::qos::to_chunk;
/// assert_eq!(to_chunk(&QoS::new().keep_last(10)), "::,10:,:,:,,");
/// assert_eq!(to_chunk(&QoS::new().best_effort().keep_last(5)), "2::,5:,:,:,,");
/// assert_eq!(to_chunk(&QoS::new().transient_local().keep_last(1)), ":1:,1:,:,:,,");
/// ```
pub fn to_chunk(qos: &QoS) -> String {
    let reliability = if qos.reliability == Reliability::BestEffort { "2" } else { "" };
    let durability = if qos.durability == Durability::TransientLocal { "1" } else { "" };
    let history = match qos.history {
        History::KeepLast(DEPTH) => ",".to_owned(),
        History::KeepLast(depth) => format!(",{depth}"),
        // The depth has no meaning there; its default is left out.
        _ => "2,".to_owned(),
    };
    let liveliness = if qos.liveliness == Liveliness::ManualByTopic { "3" } else { "" };
    let [deadline, lifespan, lease] = [qos.deadline, qos.lifespan, qos.lease].map(time_to_text);
    format!("{reliability}:{durability}:{history}:{deadline}:{lifespan}:{liveliness},{lease}")
}

fn time_to_text(time: Option<Duration>) -> String {
    let (seconds, nanoseconds) = match time {
        Some(time) if time.as_secs() < INFINITE.0 => (time.as_secs(), u64::from(time.subsec_nanos())),
        _ => INFINITE,
    };
    let unless = |value: u64, default: u64| if value == default { String::new() } else { value.to_string() };
    format!("{},{}", unless(seconds, INFINITE.0), unless(nanoseconds, INFINITE.1))
}

/// Parses a chunk. Settings that ROS 2 doesn't have get Sinew's defaults.
///
/// ```
/// use sinew::QoS;
/// use sinew_zenoh::wire::qos::parse_chunk;
/// assert_eq!(parse_chunk("::,10:,:,:,,"), Ok(QoS::new().keep_last(10)));
/// assert!(parse_chunk("7::,10:,:,:,,").is_err());
/// ```
///
/// # Errors
/// [`QosChunkError`]. "Best available" (4) is an error: an endpoint announces its choice, and
/// rmw_zenoh refuses the word as well.
pub fn parse_chunk(chunk: &str) -> Result<QoS, QosChunkError> {
    let groups: Vec<_> = chunk.split(':').collect();
    let wrong = |field, value: &str, expected| {
        Err(QosChunkError { field, value: super::name::shown(value), expected })
    };
    let [reliability, durability, history, deadline, lifespan, liveliness, ..] = groups[..] else {
        return wrong("the whole", chunk, "but has six parts between colons");
    };
    let mut qos = QoS::new();
    qos.reliability = match reliability {
        "" | "0" | "1" => Reliability::Reliable,
        "2" => Reliability::BestEffort,
        // Unknown; rmw_zenoh reads it as its default.
        "3" => Reliability::Reliable,
        other => return wrong("reliability", other, "not one of 0 to 3"),
    };
    qos.durability = match durability {
        "" | "0" | "2" | "3" => Durability::Volatile,
        "1" => Durability::TransientLocal,
        other => return wrong("durability", other, "not one of 0 to 3"),
    };
    let Some((history, depth)) = history.split_once(',') else {
        return wrong("history", history, "but has two parts: history,depth");
    };
    let depth = match number(depth, DEPTH as u64) {
        Some(0) => DEPTH,
        Some(depth) => usize::try_from(depth).unwrap_or(DEEPEST).min(DEEPEST),
        None => return wrong("depth", depth, "not a number"),
    };
    qos.history = match history {
        "" | "0" | "1" | "3" => History::KeepLast(depth),
        "2" => History::KeepAll,
        other => return wrong("history", other, "not one of 0 to 3"),
    };
    let Some((liveliness, lease)) = liveliness.split_once(',') else {
        return wrong("liveliness", liveliness, "but has three parts: liveliness,seconds,nanoseconds");
    };
    qos.liveliness = match liveliness {
        "" | "0" | "1" | "4" => Liveliness::Automatic,
        "3" => Liveliness::ManualByTopic,
        other => return wrong("liveliness", other, "not one of 0, 1, 3 and 4"),
    };
    for (field, text, to) in [
        ("deadline", deadline, &mut qos.deadline),
        ("lifespan", lifespan, &mut qos.lifespan),
        ("lease", lease, &mut qos.lease),
    ] {
        *to = match time_of_text(text) {
            Some(time) => time,
            None => return wrong(field, text, "but is two numbers: seconds,nanoseconds"),
        };
    }
    // No history of that depth keeps more; the default limit is for a QoS without one.
    if depth > qos.max_samples.unwrap_or(1000) {
        qos.max_samples = Some(depth);
    }
    Ok(qos)
}

/// Parses a time. `None`: not a valid time. `Some(None)`: infinite, or unspecified.
fn time_of_text(text: &str) -> Option<Option<Duration>> {
    let (seconds, nanoseconds) = text.split_once(',')?;
    let (seconds, nanoseconds) = (number(seconds, INFINITE.0)?, number(nanoseconds, INFINITE.1)?);
    let is_finite = (1..INFINITE.0).contains(&seconds) || seconds == 0 && nanoseconds > 0;
    Some(is_finite.then(|| Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanoseconds))))
}

fn number(text: &str, default: u64) -> Option<u64> {
    if text.is_empty() { Some(default) } else { super::name::number(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_ros_2_writes_them() {
        let plain = QoS::new().keep_last(10);
        for (qos, chunk) in [
            (plain, "::,10:,:,:,,"),
            (QoS::new().keep_last(42), "::,:,:,:,,"),
            (QoS::new().keep_last(7), "::,7:,:,:,,"),
            (QoS::new().keep_last(5).best_effort(), "2::,5:,:,:,,"),
            (QoS::new().keep_last(1).transient_local(), ":1:,1:,:,:,,"),
            (QoS::new().keep_all(), "::2,:,:,:,,"),
            (plain.deadline(Duration::from_millis(1500)), "::,10:1,500000000:,:,,"),
            (plain.lifespan(Duration::from_secs(2)), "::,10:,:2,0:,,"),
            (plain.liveliness(Liveliness::ManualByTopic).lease(Duration::from_secs(3)), "::,10:,:,:3,3,0"),
        ] {
            assert_eq!(to_chunk(&qos), chunk);
            assert_eq!(parse_chunk(chunk), Ok(qos), "{chunk}");
        }
    }

    #[test]
    fn what_others_may_write() {
        let same = |one: &str, other: &str| assert_eq!(parse_chunk(one), parse_chunk(other), "{one}");
        same("1:2:1,10:9223372036,854775807:9223372036,854775807:1,9223372036,854775807", "::,10:,:,:,,");
        same("0:0:0,0:0,0:0,0:0,0,0", "::,:,:,:,,");
        assert_eq!(parse_chunk("::,5000:,:,:,,").unwrap().max_samples, Some(5000));
        assert!(parse_chunk("::,18446744073709551615:,:,:,,").unwrap().validate_depth());
    }

    trait Deep {
        fn validate_depth(&self) -> bool;
    }

    impl Deep for QoS {
        fn validate_depth(&self) -> bool {
            matches!(self.history, History::KeepLast(depth) if depth <= DEEPEST)
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for (chunk, field) in [
            ("", "the whole"),
            ("::,10:,:,", "the whole"),
            ("4::,10:,:,:,,", "reliability"),
            (":4:,10:,:,:,,", "durability"),
            ("::10:,:,:,,", "history"),
            ("::9,10:,:,:,,", "history"),
            ("::,x:,:,:,,", "depth"),
            ("::,10:x,:,:,,", "deadline"),
            ("::,10:,::,,", "lifespan"),
            ("::,10:,:,:2,,", "liveliness"),
            ("::,10:,:,:,", "lease"),
        ] {
            assert_eq!(parse_chunk(chunk).unwrap_err().field, field, "{chunk}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_refused(text: String, shape in "[0-9,:]{0,40}") {
            let _ = (parse_chunk(&text), parse_chunk(&shape));
        }

        #[test]
        fn there_and_back(
            depth in 1usize..=1000, flags: [bool; 4], times in proptest::array::uniform3(proptest::option::of(1u64..1 << 60)),
        ) {
            let mut qos = if flags[0] { QoS::new().keep_all() } else { QoS::new().keep_last(depth) };
            if flags[1] { qos = qos.best_effort(); }
            if flags[2] { qos = qos.transient_local(); }
            if flags[3] { qos = qos.liveliness(Liveliness::ManualByTopic); }
            [qos.deadline, qos.lifespan, qos.lease] = times.map(|time| time.map(Duration::from_nanos));
            prop_assert_eq!(parse_chunk(&to_chunk(&qos)), Ok(qos));
        }
    }
}
