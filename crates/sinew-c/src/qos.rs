//! Quality of service: the messages that are kept for readers, and the promises that are made.

use crate::status::{Failure, Result, sinew_status, status};
use crate::structure::{Place, Structure, structure};
use crate::text::optional_text;
use crate::time::sinew_duration;
use sinew::QoS;
use sinew::error::ErrorCode;
use sinew::qos::{Durability, History, Liveliness, Policy, QosOverrides, QosPolicy, Reliability};
use std::ffi::{c_char, c_int};
use std::sync::OnceLock;
use std::time::Duration;

/// The messages that wait for their reader: `SINEW_HISTORY_..`. The numbers are those of rmw.
pub type sinew_history = c_int;

/// The newest messages, up to the depth. The default.
pub const SINEW_HISTORY_KEEP_LAST: sinew_history = 1;
/// All messages, up to `max_samples`.
pub const SINEW_HISTORY_KEEP_ALL: sinew_history = 2;

/// Whether messages may be lost on their way: `SINEW_RELIABILITY_..`. The numbers are those of rmw.
pub type sinew_reliability = c_int;

/// Messages are sent again until they arrive. The default.
pub const SINEW_RELIABILITY_RELIABLE: sinew_reliability = 1;
/// Messages may be lost: a fresh message is worth more than a repeated one.
pub const SINEW_RELIABILITY_BEST_EFFORT: sinew_reliability = 2;
/// The strictest one with which the endpoint matches all other ends that exist when it is made.
pub const SINEW_RELIABILITY_BEST_AVAILABLE: sinew_reliability = 4;

/// Whether a subscription gets messages that were published before it: `SINEW_DURABILITY_..`. The
/// numbers are those of rmw.
pub type sinew_durability = c_int;

/// It gets the history of each publisher that still exists.
pub const SINEW_DURABILITY_TRANSIENT_LOCAL: sinew_durability = 1;
/// It doesn't. The default.
pub const SINEW_DURABILITY_VOLATILE: sinew_durability = 2;
/// The strictest one with which the endpoint matches all other ends that exist when it is made.
pub const SINEW_DURABILITY_BEST_AVAILABLE: sinew_durability = 4;

/// How a publisher proves that it is alive: `SINEW_LIVELINESS_..`. The numbers are those of rmw.
pub type sinew_liveliness = c_int;

/// By existing in a process that lives. The default.
pub const SINEW_LIVELINESS_AUTOMATIC: sinew_liveliness = 1;
/// By publishing, or by `sinew_publisher_assert_liveliness`, at least once in every lease.
pub const SINEW_LIVELINESS_MANUAL_BY_TOPIC: sinew_liveliness = 3;
/// The strictest one with which the endpoint matches all other ends that exist when it is made.
pub const SINEW_LIVELINESS_BEST_AVAILABLE: sinew_liveliness = 5;

/// As a deadline or lease: the strictest one with which the endpoint matches all other ends that
/// exist when it is made.
pub const SINEW_DURATION_BEST_AVAILABLE: sinew_duration = 9_223_372_036_854_775_806;

/// A policy of a QoS, or several added up: `SINEW_QOS_POLICY_..`. The numbers are those of rmw.
pub type sinew_qos_policy = u32;

/// The durability.
pub const SINEW_QOS_POLICY_DURABILITY: sinew_qos_policy = 2;
/// The deadline.
pub const SINEW_QOS_POLICY_DEADLINE: sinew_qos_policy = 4;
/// The liveliness.
pub const SINEW_QOS_POLICY_LIVELINESS: sinew_qos_policy = 8;
/// The reliability.
pub const SINEW_QOS_POLICY_RELIABILITY: sinew_qos_policy = 16;
/// The history.
pub const SINEW_QOS_POLICY_HISTORY: sinew_qos_policy = 32;
/// The lifespan.
pub const SINEW_QOS_POLICY_LIFESPAN: sinew_qos_policy = 64;
/// The depth.
pub const SINEW_QOS_POLICY_DEPTH: sinew_qos_policy = 128;
/// The lease of the liveliness.
pub const SINEW_QOS_POLICY_LEASE: sinew_qos_policy = 256;
/// History, depth and reliability: the policies that ROS 2 lets parameters change.
pub const SINEW_QOS_OVERRIDES_DEFAULT: sinew_qos_policy = 176;

/// The quality of service of a publisher or a subscription. Zero is the default of every field:
/// reliable, volatile, the last 10 messages.
///
/// A publisher offers one, a subscription requests one; they match if the publisher offers
/// everything that the subscription requests. To change a named profile, copy it:
/// `sinew_qos qos = *sinew_qos_sensor_data(); qos.depth = 1;`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_qos {
    /// `sizeof(struct sinew_qos)`.
    pub size: usize,
    /// The messages that wait for their reader. 0: keep last.
    pub history: sinew_history,
    /// Whether messages may be lost on their way. 0: reliable.
    pub reliability: sinew_reliability,
    /// Whether a subscription gets messages that were published before it. 0: volatile.
    pub durability: sinew_durability,
    /// How a publisher proves that it is alive. 0: automatic.
    pub liveliness: sinew_liveliness,
    /// The number of messages that keep last keeps, at most 16,777,216. 0: 10. Not used with keep
    /// all.
    pub depth: usize,
    /// The most messages that an endpoint holds. 0: the depth with keep last, 1000 with keep all.
    pub max_samples: usize,
    /// The longest time between two messages: promised by a publisher, expected by a subscription.
    /// 0 or negative: no limit.
    pub deadline: sinew_duration,
    /// The time after its publication during which a message may be taken. 0 or negative: for ever.
    pub lifespan: sinew_duration,
    /// The time for which a publisher counts as alive after its last sign of life. 0 or negative:
    /// no limit. ROS 2's `liveliness_lease_duration`.
    pub lease: sinew_duration,
    /// The longest time that publishing may wait for room, if both ends are reliable and keep all.
    /// 0: 100 ms; negative: for ever; 1 hardly waits.
    pub max_blocking_time: sinew_duration,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_qos {
    const NAME: &str = "sinew_qos";
}

impl sinew_qos {
    /// Returns the QoS in C's form: with the number of each policy, never 0 for an enumeration.
    pub(crate) fn of(qos: &QoS) -> Self {
        let best = |policy| qos.is_best_available(policy);
        let (history, depth) = match qos.history {
            History::KeepLast(depth) => (SINEW_HISTORY_KEEP_LAST, depth),
            History::KeepAll => (SINEW_HISTORY_KEEP_ALL, 0),
        };
        let chosen = |policy, limit| match best(policy) {
            true => SINEW_DURATION_BEST_AVAILABLE,
            false => limit_in_c(limit),
        };
        Self {
            size: size_of::<Self>(),
            history,
            reliability: match qos.reliability {
                _ if best(Policy::Reliability) => SINEW_RELIABILITY_BEST_AVAILABLE,
                Reliability::Reliable => SINEW_RELIABILITY_RELIABLE,
                Reliability::BestEffort => SINEW_RELIABILITY_BEST_EFFORT,
            },
            durability: match qos.durability {
                _ if best(Policy::Durability) => SINEW_DURABILITY_BEST_AVAILABLE,
                Durability::TransientLocal => SINEW_DURABILITY_TRANSIENT_LOCAL,
                _ => SINEW_DURABILITY_VOLATILE,
            },
            liveliness: match qos.liveliness {
                _ if best(Policy::Liveliness) => SINEW_LIVELINESS_BEST_AVAILABLE,
                Liveliness::ManualByTopic => SINEW_LIVELINESS_MANUAL_BY_TOPIC,
                _ => SINEW_LIVELINESS_AUTOMATIC,
            },
            depth,
            max_samples: qos.max_samples.unwrap_or(0),
            deadline: chosen(Policy::Deadline, qos.deadline),
            lifespan: limit_in_c(qos.lifespan),
            lease: chosen(Policy::Lease, qos.lease),
            max_blocking_time: sinew_duration::try_from(qos.max_blocking_time.as_nanos()).unwrap_or(-1),
        }
    }

    fn to_qos(self) -> Result<QoS> {
        let mut qos = QoS::new();
        qos = match (self.history, self.depth) {
            (0 | SINEW_HISTORY_KEEP_LAST, 0) => qos,
            (0 | SINEW_HISTORY_KEEP_LAST, depth) => qos.keep_last(depth),
            (SINEW_HISTORY_KEEP_ALL, _) => qos.keep_all(),
            (other, _) => return Err(Failure::enumerator("history", other)),
        };
        qos = match self.reliability {
            0 | SINEW_RELIABILITY_RELIABLE => qos,
            SINEW_RELIABILITY_BEST_EFFORT => qos.best_effort(),
            SINEW_RELIABILITY_BEST_AVAILABLE => qos.best_available_for(Policy::Reliability),
            other => return Err(Failure::enumerator("reliability", other)),
        };
        qos = match self.durability {
            0 | SINEW_DURABILITY_VOLATILE => qos,
            SINEW_DURABILITY_TRANSIENT_LOCAL => qos.transient_local(),
            SINEW_DURABILITY_BEST_AVAILABLE => qos.best_available_for(Policy::Durability),
            other => return Err(Failure::enumerator("durability", other)),
        };
        qos = match self.liveliness {
            0 | SINEW_LIVELINESS_AUTOMATIC => qos,
            SINEW_LIVELINESS_MANUAL_BY_TOPIC => qos.liveliness(Liveliness::ManualByTopic),
            SINEW_LIVELINESS_BEST_AVAILABLE => qos.best_available_for(Policy::Liveliness),
            other => return Err(Failure::enumerator("liveliness", other)),
        };
        if self.max_samples > 0 {
            qos = qos.max_samples(self.max_samples);
        }
        qos = match self.deadline {
            SINEW_DURATION_BEST_AVAILABLE => qos.best_available_for(Policy::Deadline),
            deadline => limit(deadline).map_or(qos, |limit| qos.deadline(limit)),
        };
        qos = match self.lease {
            SINEW_DURATION_BEST_AVAILABLE => qos.best_available_for(Policy::Lease),
            lease => limit(lease).map_or(qos, |limit| qos.lease(limit)),
        };
        qos = limit(self.lifespan).map_or(qos, |limit| qos.lifespan(limit));
        Ok(match self.max_blocking_time {
            0 => qos,
            time => qos.max_blocking_time(crate::time::timeout(time)),
        })
    }
}

fn limit(nanoseconds: sinew_duration) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().filter(|limit| *limit > 0).map(Duration::from_nanos)
}

fn limit_in_c(limit: Option<Duration>) -> sinew_duration {
    // The longest that C can express means "no limit" as well.
    limit
        .and_then(|limit| i64::try_from(limit.as_nanos()).ok())
        .filter(|limit| *limit < i64::MAX)
        .unwrap_or(0)
}

/// Returns the caller's QoS; null is the default.
///
/// # Safety
/// It is null, or can be read for the number of bytes that it begins with.
pub(crate) unsafe fn qos(from: *const sinew_qos) -> Result<QoS> {
    // SAFETY: as the caller says.
    unsafe { structure(from) }?.to_qos()
}

/// Returns the parts of a QoS that parameters may change, if there are any.
///
/// # Safety
/// The text is null or ends with a NUL.
pub(crate) unsafe fn overrides(
    policies: sinew_qos_policy,
    id: *const c_char,
) -> Result<Option<QosOverrides>> {
    const ALL: [(sinew_qos_policy, QosPolicy); 8] = [
        (SINEW_QOS_POLICY_HISTORY, QosPolicy::History),
        (SINEW_QOS_POLICY_DEPTH, QosPolicy::Depth),
        (SINEW_QOS_POLICY_RELIABILITY, QosPolicy::Reliability),
        (SINEW_QOS_POLICY_DURABILITY, QosPolicy::Durability),
        (SINEW_QOS_POLICY_DEADLINE, QosPolicy::Deadline),
        (SINEW_QOS_POLICY_LIFESPAN, QosPolicy::Lifespan),
        (SINEW_QOS_POLICY_LIVELINESS, QosPolicy::Liveliness),
        (SINEW_QOS_POLICY_LEASE, QosPolicy::LivelinessLeaseDuration),
    ];
    let known = ALL.iter().fold(0, |known, (number, _)| known | number);
    if policies & !known != 0 {
        return Err(Failure::enumerator("qos_overrides", policies.cast_signed()));
    }
    // SAFETY: as the caller says.
    let id = unsafe { optional_text(id, "qos_overrides_id") }?;
    let wanted = ALL.iter().filter(|(number, _)| policies & number != 0);
    let overrides = QosOverrides::of(wanted.map(|(_, policy)| *policy)).id(id.unwrap_or_default());
    Ok((policies != 0).then_some(overrides))
}

/// Returns the number of a policy that matching compares; 0 for none.
pub(crate) fn policy(policy: Option<Policy>) -> sinew_qos_policy {
    match policy {
        Some(Policy::Reliability) => SINEW_QOS_POLICY_RELIABILITY,
        Some(Policy::Durability) => SINEW_QOS_POLICY_DURABILITY,
        Some(Policy::Deadline) => SINEW_QOS_POLICY_DEADLINE,
        Some(Policy::Liveliness) => SINEW_QOS_POLICY_LIVELINESS,
        Some(Policy::Lease) => SINEW_QOS_POLICY_LEASE,
        _ => 0,
    }
}

/// A named profile, with room behind it: a program with a longer structure copies that as well, and
/// the size says that it doesn't count.
#[repr(C)]
struct Profile {
    qos: sinew_qos,
    room: [u64; 16],
}

impl Profile {
    fn new(qos: QoS) -> Self {
        Self { qos: sinew_qos::of(&qos), room: [0; 16] }
    }
}

macro_rules! profile {
    ($name:ident) => {{
        static PROFILE: OnceLock<Profile> = OnceLock::new();
        let profile: *const Profile = PROFILE.get_or_init(|| Profile::new(QoS::$name()));
        profile.cast()
    }};
}

/// Returns the default: reliable, volatile, the last 10 messages. As all profiles, it lives as long
/// as the process.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_default() -> *const sinew_qos {
    profile!(new)
}

/// Returns best effort, volatile, the last 5 messages: for sensors.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_sensor_data() -> *const sinew_qos {
    profile!(sensor_data)
}

/// Returns reliable, volatile, the last 10 messages: for requests and responses.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_services() -> *const sinew_qos {
    profile!(services)
}

/// Returns reliable, volatile, the last 1000 messages: for the services of parameters.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_parameters() -> *const sinew_qos {
    profile!(parameters)
}

/// Returns reliable, volatile, the last 1000 messages: for `/parameter_events`.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_parameter_events() -> *const sinew_qos {
    profile!(parameter_events)
}

/// Returns the default, as there is no middleware below that could have another.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_system_default() -> *const sinew_qos {
    profile!(system_default)
}

/// Returns best effort, volatile, the last message: for `/clock`.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_clock() -> *const sinew_qos {
    profile!(clock)
}

/// Returns reliable, transient local, the last 1000 messages, for 10 seconds: for `/rosout`.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_rosout() -> *const sinew_qos {
    profile!(rosout)
}

/// Returns the last 10 messages, with the strictest reliability, durability, deadline, liveliness
/// and lease with which the endpoint matches all other ends of its topic that exist when it is
/// made.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_qos_best_available() -> *const sinew_qos {
    profile!(best_available)
}

/// Checks whether a publisher that offers one QoS matches a subscription that requests another. If
/// not, fails with `SINEW_ERROR_INVALID_QOS` and a sentence that names each policy with both
/// values. Null is the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_qos_check_compatible(
    offered: *const sinew_qos,
    requested: *const sinew_qos,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let offered = unsafe { qos(offered) }?;
        // SAFETY: the caller's structure.
        let requested = unsafe { qos(requested) }?;
        match offered.incompatibility(&requested) {
            None => Ok(()),
            Some(why) => Err(Failure::new(ErrorCode::InvalidQos, format_args!("they don't match: {why}"))),
        }
    })
}

/// Writes a QoS to the caller's structure, of which it fills as much as there is.
///
/// # Safety
/// The structure begins with its size, and can be written for that number of bytes.
pub(crate) unsafe fn write(place: *mut sinew_qos, value: &QoS) -> Result {
    // SAFETY: as the caller says.
    unsafe { Place::new(place, "qos") }?.fill(sinew_qos::of(value));
    Ok(())
}
