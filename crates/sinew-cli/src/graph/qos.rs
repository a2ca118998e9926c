//! The QoS of an endpoint, in the form of `ros2 topic info --verbose`.

use std::time::Duration;

use serde_json::{Value, json};
use sinew::QoS;
use sinew::qos::{Durability, History, Liveliness, Policy, Reliability};

/// Default depth of a keep-all history, as in `sinew`.
const KEEP_ALL: usize = 1000;

/// Returns the depth of the history.
pub(super) fn capacity(qos: &QoS) -> usize {
    match qos.history {
        History::KeepLast(depth) => depth,
        History::KeepAll => qos.max_samples.unwrap_or(KEEP_ALL),
    }
}

/// Returns `true` if a publisher with this QoS waits for a reader with it.
pub(super) fn is_blocking(qos: &QoS) -> bool {
    qos.history == History::KeepAll && qos.reliability == Reliability::Reliable
}

/// Returns the option that sets a policy.
pub(super) fn option(policy: Policy) -> String {
    match policy {
        Policy::Lease => "--qos-liveliness-lease-duration".to_owned(),
        policy => format!("--qos-{policy}"),
    }
}

/// Formats it as text.
pub(super) fn text(qos: &QoS) -> String {
    let (reliability, history, durability, liveliness) = names(qos);
    let history = match qos.history {
        History::KeepLast(depth) => format!("{history} ({depth})"),
        History::KeepAll => history.to_owned(),
    };
    format!(
        "QoS profile:\n  Reliability: {reliability}\n  History (Depth): {history}\n  Durability: {durability}\n  \
         Lifespan: {}\n  Deadline: {}\n  Liveliness: {liveliness}\n  Liveliness lease duration: {}\n",
        limit(qos.lifespan),
        limit(qos.deadline),
        limit(qos.lease),
    )
}

/// Formats it as JSON; `null` where [`text`] says `Infinite`.
pub(super) fn json(qos: &QoS) -> Value {
    let (reliability, history, durability, liveliness) = names(qos);
    let depth = match qos.history {
        History::KeepLast(depth) => Some(depth),
        History::KeepAll => None,
    };
    let nanoseconds = |limit: Option<Duration>| limit.map(whole_ns);
    json!({
        "reliability": reliability.to_lowercase(), "history": history.to_lowercase(), "depth": depth,
        "durability": durability.to_lowercase(), "liveliness": liveliness.to_lowercase(),
        "lifespan_ns": nanoseconds(qos.lifespan), "deadline_ns": nanoseconds(qos.deadline),
        "liveliness_lease_ns": nanoseconds(qos.lease), "max_samples": qos.max_samples,
        "max_blocking_time_ns": whole_ns(qos.max_blocking_time),
    })
}

/// Returns reliability, history, durability and liveliness by ROS 2's names.
fn names(qos: &QoS) -> (&'static str, &'static str, &'static str, &'static str) {
    let reliability = match qos.reliability {
        Reliability::BestEffort => "BEST_EFFORT",
        Reliability::Reliable => "RELIABLE",
    };
    let history = match qos.history {
        History::KeepLast(_) => "KEEP_LAST",
        History::KeepAll => "KEEP_ALL",
    };
    let durability = match qos.durability {
        Durability::Volatile => "VOLATILE",
        Durability::TransientLocal => "TRANSIENT_LOCAL",
        _ => "UNKNOWN",
    };
    let liveliness = match qos.liveliness {
        Liveliness::Automatic => "AUTOMATIC",
        Liveliness::ManualByTopic => "MANUAL_BY_TOPIC",
        _ => "UNKNOWN",
    };
    (reliability, history, durability, liveliness)
}

fn limit(limit: Option<Duration>) -> String {
    limit.map_or_else(|| "Infinite".to_owned(), |limit| format!("{} nanoseconds", limit.as_nanos()))
}

/// Converts to nanoseconds; saturates after 584 years.
fn whole_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_ros2_says_it() {
        let qos = QoS::sensor_data().transient_local().deadline(Duration::from_millis(100));
        let expected = "\
QoS profile:
  Reliability: BEST_EFFORT
  History (Depth): KEEP_LAST (5)
  Durability: TRANSIENT_LOCAL
  Lifespan: Infinite
  Deadline: 100000000 nanoseconds
  Liveliness: AUTOMATIC
  Liveliness lease duration: Infinite
";
        assert_eq!(text(&qos), expected);
        let qos = QoS::default().keep_all().liveliness(Liveliness::ManualByTopic);
        assert!(text(&qos).contains("History (Depth): KEEP_ALL\n"));
        assert!(text(&qos).contains("Liveliness: MANUAL_BY_TOPIC\n"));
    }

    #[test]
    fn for_programs_no_limit_is_null() {
        let told = json(&QoS::default().lifespan(Duration::from_micros(5)));
        assert_eq!((&told["history"], &told["depth"]), (&"keep_last".into(), &10.into()));
        assert_eq!((&told["lifespan_ns"], &told["deadline_ns"]), (&5000.into(), &Value::Null));
        assert_eq!(
            (&told["max_blocking_time_ns"], &told["reliability"]),
            (&100_000_000.into(), &"reliable".into())
        );
    }
}
