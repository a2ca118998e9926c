//! Quality of service: what is kept for whom, and what is promised.
//!
//! A publisher *offers* a [`QoS`], a subscription *requests* one. They match if nothing is requested that isn't offered
//! (DDS 1.4, section 2.2.3: request/offered); everything else each end settles for itself. Names, presets and defaults
//! are those of ROS 2.

use crate::clock;
use std::fmt;
use std::time::Duration;

/// How many messages a keep-all history holds that was given no `max_samples`.
const KEEP_ALL_SAMPLES: usize = 1000;

/// The longest duration that nanoseconds in an `i64` hold. `RMW_DURATION_INFINITE` in ROS 2: no limit.
const LONGEST: Duration = Duration::from_nanos(i64::MAX as u64);

/// The quality of service of a publisher or a subscription.
///
/// Start from [`default`](QoS::default), [`new`](QoS::new) (the same, for constants) or a preset and change what
/// differs; a later call overrides an earlier one. The fields are there to be read. Whether the settings agree with
/// each other is checked when an entity is created with them, which fails with a [`QosError`] if they don't.
///
/// Plain data: never allocates, never blocks.
///
/// ```
/// use sinew::{Durability, History, QoS};
/// let map = QoS::default().keep_last(1).transient_local();
/// assert_eq!(map.history, History::KeepLast(1));
/// assert_eq!(map.durability, Durability::TransientLocal);
///
/// const LASER: QoS = QoS::sensor_data().keep_last(2);
/// assert_eq!(LASER.history, History::KeepLast(2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use = "a QoS does nothing until an entity is created with it"]
pub struct QoS {
    /// Which messages wait for their reader. Default: `KeepLast(10)`.
    pub history: History,
    /// Whether messages may be lost on their way. Default: `Reliable`.
    pub reliability: Reliability,
    /// Whether a subscription gets messages that were published before it. Default: `Volatile`.
    pub durability: Durability,
    /// At most this long between two messages. `None`, the default: no limit.
    pub deadline: Option<Duration>,
    /// How long after its publication a message is worth taking. `None`, the default: for ever.
    pub lifespan: Option<Duration>,
    /// Who says that a publisher is alive. Default: `Automatic`.
    pub liveliness: Liveliness,
    /// How long a publisher counts as alive after its last sign of life. `None`, the default: no limit.
    pub lease: Option<Duration>,
    /// How many messages an entity holds at most. `None`, the default: the depth with keep last, 1000 with keep all.
    pub max_samples: Option<usize>,
    /// How long publishing may wait for room; see [`QoS::keep_all`]. Default: 100 ms, as in DDS.
    pub max_blocking_time: Duration,
}

/// Which messages wait for their reader.
///
/// ```
/// use sinew::{History, QoS};
/// assert_eq!(QoS::default().history, History::KeepLast(10));
/// assert_eq!(QoS::default().keep_all().history, History::KeepAll);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum History {
    /// The newest ones, so many: the depth, at least 1.
    KeepLast(usize),
    /// All of them, up to `max_samples`.
    KeepAll,
}

/// Whether messages may be lost on their way. The stronger promise is the greater one.
///
/// ```
/// use sinew::{QoS, Reliability};
/// assert_eq!(QoS::sensor_data().reliability, Reliability::BestEffort);
/// assert!(Reliability::Reliable > Reliability::BestEffort);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reliability {
    /// They may: a fresh message is worth more than a repeated one.
    BestEffort,
    /// They are sent again until they arrive.
    Reliable,
}

/// Whether a subscription gets messages that were published before it. The stronger promise is the greater one.
///
/// ```
/// use sinew::{Durability, QoS};
/// assert_eq!(QoS::rosout().durability, Durability::TransientLocal);
/// assert!(Durability::TransientLocal > Durability::Volatile);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// It doesn't.
    Volatile,
    /// It gets what a publisher that still exists has in its history.
    TransientLocal,
}

/// Who says that a publisher is alive.
///
/// ```
/// use sinew::{Liveliness, QoS};
/// assert_eq!(QoS::default().liveliness, Liveliness::Automatic);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Liveliness {
    /// Nobody has to: it is while its process is.
    Automatic,
    /// The program, for each publisher, by publishing or by saying so. Comes with the next release.
    ManualByTopic,
}

impl QoS {
    /// Reliable, volatile, the last 10 messages: [`QoS::default`] for constants.
    ///
    /// ```
    /// use sinew::QoS;
    /// const LATEST: QoS = QoS::new().keep_last(1);
    /// assert_eq!(LATEST, QoS::default().keep_last(1));
    /// ```
    pub const fn new() -> Self {
        Self {
            history: History::KeepLast(10),
            reliability: Reliability::Reliable,
            durability: Durability::Volatile,
            deadline: None,
            lifespan: None,
            liveliness: Liveliness::Automatic,
            lease: None,
            max_samples: None,
            max_blocking_time: Duration::from_millis(100),
        }
    }

    /// Best effort, volatile, the last 5 messages: for sensors, where fresh counts more than complete.
    /// `rmw_qos_profile_sensor_data` in ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::sensor_data(), QoS::default().best_effort().keep_last(5));
    /// ```
    pub const fn sensor_data() -> Self {
        Self::new().best_effort().keep_last(5)
    }

    /// Reliable, volatile, the last 10 messages: for requests and responses. Volatile, so that a service that comes
    /// back doesn't answer old requests. `rmw_qos_profile_services_default` in ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::services(), QoS::default());
    /// ```
    pub const fn services() -> Self {
        Self::new()
    }

    /// Reliable, volatile, the last 1000 messages: for the services of parameters. `rmw_qos_profile_parameters` in
    /// ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::parameters(), QoS::default().keep_last(1000));
    /// ```
    pub const fn parameters() -> Self {
        Self::new().keep_last(1000)
    }

    /// Reliable, volatile, the last 1000 messages: for `/parameter_events`. `rmw_qos_profile_parameter_events` in
    /// ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::parameter_events(), QoS::default().keep_last(1000));
    /// ```
    pub const fn parameter_events() -> Self {
        Self::new().keep_last(1000)
    }

    /// What the middleware thinks best. In ROS 2, `rmw_qos_profile_system_default` leaves it to the implementation
    /// below; here there is none below, so it is the default.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::system_default(), QoS::default());
    /// ```
    pub const fn system_default() -> Self {
        Self::new()
    }

    /// Best effort, volatile, the last message: for `/clock`. `rclcpp::ClockQoS` in ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::clock(), QoS::sensor_data().keep_last(1));
    /// ```
    pub const fn clock() -> Self {
        Self::sensor_data().keep_last(1)
    }

    /// Reliable, transient local, the last 1000 messages, for 10 seconds: for `/rosout`.
    /// `rcl_qos_profile_rosout_default` in ROS 2.
    ///
    /// ```
    /// use sinew::{Durability, QoS};
    /// use std::time::Duration;
    /// assert_eq!(QoS::rosout().durability, Durability::TransientLocal);
    /// assert_eq!(QoS::rosout().lifespan, Some(Duration::from_secs(10)));
    /// ```
    pub const fn rosout() -> Self {
        Self::new().keep_last(1000).transient_local().lifespan(Duration::from_secs(10))
    }

    /// Keeps the newest `depth` messages; when one more comes, the oldest is dropped and counted. At least 1, and not
    /// more than `max_samples` if that is set.
    ///
    /// ```
    /// use sinew::{History, QoS};
    /// assert_eq!(QoS::default().keep_last(3).history, History::KeepLast(3));
    /// ```
    pub const fn keep_last(mut self, depth: usize) -> Self {
        self.history = History::KeepLast(depth);
        self
    }

    /// Keeps every message until it is taken, up to [`max_samples`](QoS::max_samples).
    ///
    /// When that is full and both ends are keep all and reliable, publishing waits for room, up to the publisher's
    /// [`max_blocking_time`](QoS::max_blocking_time). Otherwise no subscription stops a publisher: the new message is
    /// dropped for that subscription and counted.
    ///
    /// ```
    /// use sinew::{History, QoS};
    /// assert_eq!(QoS::default().keep_all().history, History::KeepAll);
    /// ```
    pub const fn keep_all(mut self) -> Self {
        self.history = History::KeepAll;
        self
    }

    /// Promises (publisher) or asks (subscription) that no message is lost on its way. Such a subscription doesn't
    /// match a best-effort publisher.
    ///
    /// ```
    /// use sinew::{QoS, Reliability};
    /// assert_eq!(QoS::sensor_data().reliable().reliability, Reliability::Reliable);
    /// ```
    pub const fn reliable(mut self) -> Self {
        self.reliability = Reliability::Reliable;
        self
    }

    /// Accepts that messages are lost on their way rather than late.
    ///
    /// ```
    /// use sinew::{QoS, Reliability};
    /// assert_eq!(QoS::default().best_effort().reliability, Reliability::BestEffort);
    /// ```
    pub const fn best_effort(mut self) -> Self {
        self.reliability = Reliability::BestEffort;
        self
    }

    /// A subscription gets what is published from its creation on.
    ///
    /// ```
    /// use sinew::{Durability, QoS};
    /// assert_eq!(QoS::rosout().volatile().durability, Durability::Volatile);
    /// ```
    pub const fn volatile(mut self) -> Self {
        self.durability = Durability::Volatile;
        self
    }

    /// A publisher keeps its history for subscriptions that come later; a subscription asks for it, and doesn't match
    /// a volatile publisher. With a depth of 1 this is ROS 1's latching.
    ///
    /// ```
    /// use sinew::{Durability, QoS};
    /// assert_eq!(QoS::default().transient_local().durability, Durability::TransientLocal);
    /// ```
    pub const fn transient_local(mut self) -> Self {
        self.durability = Durability::TransientLocal;
        self
    }

    /// At most this long between two messages; `Duration::MAX`: no limit. Comes with the next release: until then, an
    /// entity with a deadline can't be created.
    ///
    /// ```
    /// use sinew::QoS;
    /// use std::time::Duration;
    /// assert_eq!(QoS::default().deadline(Duration::MAX).deadline, None);
    /// ```
    pub const fn deadline(mut self, period: Duration) -> Self {
        self.deadline = limited(period);
        self
    }

    /// A message that wasn't taken for so long after its publication is dropped and counted; `Duration::MAX`: no limit.
    /// More than zero, and up to 292 years.
    ///
    /// ```
    /// use sinew::QoS;
    /// use std::time::Duration;
    /// let qos = QoS::default().lifespan(Duration::from_secs(1));
    /// assert_eq!(qos.lifespan, Some(Duration::from_secs(1)));
    /// assert_eq!(qos.lifespan(Duration::MAX).lifespan, None);
    /// ```
    pub const fn lifespan(mut self, age: Duration) -> Self {
        self.lifespan = limited(age);
        self
    }

    /// Who says that a publisher is alive. Everything but `Automatic` comes with the next release: until then, an
    /// entity with it can't be created.
    ///
    /// ```
    /// use sinew::{Liveliness, QoS};
    /// assert_eq!(QoS::default().liveliness(Liveliness::Automatic), QoS::default());
    /// ```
    pub const fn liveliness(mut self, kind: Liveliness) -> Self {
        self.liveliness = kind;
        self
    }

    /// How long a publisher counts as alive after its last sign of life; `Duration::MAX`: no limit. Comes with the next
    /// release: until then, an entity with a lease can't be created. ROS 2's `liveliness_lease_duration`.
    ///
    /// ```
    /// use sinew::QoS;
    /// use std::time::Duration;
    /// assert_eq!(QoS::default().lease(Duration::MAX).lease, None);
    /// ```
    pub const fn lease(mut self, duration: Duration) -> Self {
        self.lease = limited(duration);
        self
    }

    /// How many messages the entity holds at most: the bound of [`keep_all`](QoS::keep_all). At least 1, and not less
    /// than the depth of keep last.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::default().keep_all().max_samples(64).max_samples, Some(64));
    /// ```
    pub const fn max_samples(mut self, messages: usize) -> Self {
        self.max_samples = Some(messages);
        self
    }

    /// How long publishing may wait for room in a keep-all history that is full; then it fails and gives the message
    /// back. Zero: not at all; `Duration::MAX`: for ever; else up to 292 years.
    ///
    /// ```
    /// use sinew::QoS;
    /// use std::time::Duration;
    /// let patient = QoS::default().keep_all().max_blocking_time(Duration::from_secs(1));
    /// assert_eq!(patient.max_blocking_time, Duration::from_secs(1));
    /// ```
    pub const fn max_blocking_time(mut self, duration: Duration) -> Self {
        self.max_blocking_time = duration;
        self
    }

    /// Whether an entity can be created with it: no setting is out of range, contradicts another or is still to come.
    pub(crate) fn validate(&self) -> Result<(), QosError> {
        if let History::KeepLast(0) = self.history {
            return Err(QosError::ZeroDepth);
        }
        if self.max_samples == Some(0) {
            return Err(QosError::ZeroMaxSamples);
        }
        if let (History::KeepLast(depth), Some(max_samples)) = (self.history, self.max_samples)
            && depth > max_samples
        {
            return Err(QosError::DepthOverMaxSamples { depth, max_samples });
        }
        if self.lifespan == Some(Duration::ZERO) {
            return Err(QosError::ZeroLifespan);
        }
        for (setting, duration) in
            [("lifespan", self.lifespan), ("max_blocking_time", Some(self.max_blocking_time))]
        {
            if let Some(duration) = duration.and_then(limited)
                && duration > LONGEST
            {
                return Err(QosError::TooLong { setting, duration });
            }
        }
        for (setting, is_set) in [
            ("deadline", self.deadline.and_then(limited).is_some()),
            ("liveliness", self.liveliness != Liveliness::Automatic),
            ("lease", self.lease.and_then(limited).is_some()),
        ] {
            if is_set {
                return Err(QosError::Unsupported { setting });
            }
        }
        Ok(())
    }

    /// How many messages the history holds.
    pub(crate) const fn capacity(&self) -> usize {
        match (self.history, self.max_samples) {
            (History::KeepLast(depth), _) => depth,
            (History::KeepAll, Some(max_samples)) => max_samples,
            (History::KeepAll, None) => KEEP_ALL_SAMPLES,
        }
    }

    /// Whether a full history refuses the newest message instead of dropping the oldest.
    pub(crate) const fn is_keep_all(&self) -> bool {
        matches!(self.history, History::KeepAll)
    }

    /// Whether a full history here may make publishing wait: keep all and reliable, which takes both ends.
    pub(crate) const fn is_blocking(&self) -> bool {
        self.is_keep_all() && matches!(self.reliability, Reliability::Reliable)
    }

    /// Whether publishers with these two reach the same subscriptions in the same way.
    pub(crate) fn same_class(&self, other: &QoS) -> bool {
        (self.reliability, self.durability, self.is_blocking())
            == (other.reliability, other.durability, other.is_blocking())
    }

    /// What this says for the policy, in a word.
    pub(crate) const fn word(&self, policy: Policy) -> &'static str {
        match (policy, self.reliability, self.durability) {
            (Policy::Reliability, Reliability::Reliable, _) => "reliable",
            (Policy::Reliability, Reliability::BestEffort, _) => "best effort",
            (Policy::Durability, _, Durability::TransientLocal) => "transient local",
            (Policy::Durability, _, Durability::Volatile) => "volatile",
        }
    }

    /// Whether messages are kept, or asked for, that were published before the subscription was there.
    pub(crate) const fn is_transient_local(&self) -> bool {
        matches!(self.durability, Durability::TransientLocal)
    }

    /// The lifespan in nanoseconds.
    pub(crate) fn lifespan_nanoseconds(&self) -> Option<i64> {
        self.lifespan.and_then(limited).map(clock::nanoseconds)
    }
}

impl Default for QoS {
    /// Reliable, volatile, the last 10 messages, no limits in time. `rmw_qos_profile_default` in ROS 2.
    fn default() -> Self {
        Self::new()
    }
}

/// A duration as a limit: none, if it is one of the two that mean "for ever".
const fn limited(duration: Duration) -> Option<Duration> {
    let nanoseconds = duration.as_nanos();
    if nanoseconds == Duration::MAX.as_nanos() || nanoseconds == LONGEST.as_nanos() {
        None
    } else {
        Some(duration)
    }
}

/// The first policy for which a publisher offers less than a subscription requests; they match if there is none.
pub(crate) fn incompatibility(offered: &QoS, requested: &QoS) -> Option<Policy> {
    if offered.reliability < requested.reliability {
        Some(Policy::Reliability)
    } else if offered.durability < requested.durability {
        Some(Policy::Durability)
    } else {
        None
    }
}

/// A policy for which a publisher must offer at least what a subscription requests.
///
/// ```
/// use sinew::Policy;
/// assert_eq!(Policy::Durability.to_string(), "durability");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// A best-effort publisher doesn't match a reliable subscription.
    Reliability,
    /// A volatile publisher doesn't match a transient-local subscription.
    Durability,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Policy::Reliability => "reliability",
            Policy::Durability => "durability",
        })
    }
}

/// Why no entity can be created with a [`QoS`]. The caller can fix each of them.
///
/// ```
/// use sinew::QosError;
/// let error = QosError::DepthOverMaxSamples { depth: 20, max_samples: 8 };
/// assert!(error.to_string().starts_with("keep_last(20) contradicts max_samples(8)"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QosError {
    /// A history of no messages.
    #[error("keep_last(0) keeps no message: the depth must be at least 1")]
    ZeroDepth,
    /// Room for no messages.
    #[error("max_samples(0) leaves no room for a message: set at least 1, or leave it out")]
    ZeroMaxSamples,
    /// A history that is larger than what the entity may hold.
    #[error(
        "keep_last({depth}) contradicts max_samples({max_samples}): set max_samples to at least {depth} or leave it \
         out, or lower the depth"
    )]
    DepthOverMaxSamples {
        /// The depth of keep last.
        depth: usize,
        /// The entity's limit.
        max_samples: usize,
    },
    /// Every message would expire at once.
    #[error("a lifespan of zero expires every message before it can be taken: leave it out for no limit")]
    ZeroLifespan,
    /// A duration that nanoseconds in 64 bits can't hold.
    #[error(
        "{setting} is {duration:?}, more than the {LONGEST:?} (292 years) it can be: use Duration::MAX for no limit"
    )]
    TooLong {
        /// The method of [`QoS`] that sets it.
        setting: &'static str,
        /// What it was set to.
        duration: Duration,
    },
    /// A policy that this release doesn't honour.
    #[error("{setting} can't be honoured yet, it comes with the next release: leave it out")]
    Unsupported {
        /// The method of [`QoS`] that sets it.
        setting: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::option;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// DDS 1.4, table in section 2.2.3, for the kinds there are: R(eliable), B(est effort), T(ransient local),
    /// V(olatile).
    #[test]
    fn every_offer_meets_every_request() {
        let qos = |text: &str| {
            let qos = if text.starts_with('R') { QoS::new().reliable() } else { QoS::new().best_effort() };
            if text.ends_with('T') { qos.transient_local() } else { qos.volatile() }
        };
        let (reliability, durability) = (Some(Policy::Reliability), Some(Policy::Durability));
        for (offered, requested, incompatible) in [
            ("RT", "RT", None),
            ("RT", "RV", None),
            ("RT", "BT", None),
            ("RT", "BV", None),
            ("RV", "RT", durability),
            ("RV", "RV", None),
            ("RV", "BT", durability),
            ("RV", "BV", None),
            ("BT", "RT", reliability),
            ("BT", "RV", reliability),
            ("BT", "BT", None),
            ("BT", "BV", None),
            ("BV", "RT", reliability), // and durability: one reason at a time
            ("BV", "RV", reliability),
            ("BV", "BT", durability),
            ("BV", "BV", None),
        ] {
            assert_eq!(
                incompatibility(&qos(offered), &qos(requested)),
                incompatible,
                "{offered} to {requested}"
            );
        }
    }

    #[test]
    fn only_a_reliable_keep_all_end_can_block() {
        let full = QoS::new().keep_all();
        assert!(full.is_blocking());
        for other in [full.best_effort(), full.keep_last(10), QoS::sensor_data()] {
            assert!(!other.is_blocking());
        }
    }

    /// Values of rmw's `qos_profiles.h`, rcl's `logging_rosout.h` and rclcpp's `qos.hpp`.
    #[test]
    fn presets_are_those_of_ros() {
        use {Durability::*, Reliability::*};
        let ten_seconds = Some(Duration::from_secs(10));
        for (name, qos, depth, reliability, durability, lifespan) in [
            ("default", QoS::default(), 10, Reliable, Volatile, None),
            ("sensor_data", QoS::sensor_data(), 5, BestEffort, Volatile, None),
            ("services", QoS::services(), 10, Reliable, Volatile, None),
            ("parameters", QoS::parameters(), 1000, Reliable, Volatile, None),
            ("parameter_events", QoS::parameter_events(), 1000, Reliable, Volatile, None),
            ("system_default", QoS::system_default(), 10, Reliable, Volatile, None),
            ("clock", QoS::clock(), 1, BestEffort, Volatile, None),
            ("rosout", QoS::rosout(), 1000, Reliable, TransientLocal, ten_seconds),
        ] {
            let expected = QoS {
                history: History::KeepLast(depth),
                reliability,
                durability,
                deadline: None,
                lifespan,
                liveliness: Liveliness::Automatic,
                lease: None,
                max_samples: None,
                max_blocking_time: Duration::from_millis(100),
            };
            assert_eq!(qos, expected, "{name}");
            assert_eq!(qos.validate(), Ok(()), "{name}");
        }
    }

    #[test]
    fn what_the_history_holds() {
        assert_eq!(QoS::new().capacity(), 10);
        assert_eq!(QoS::new().max_samples(50).capacity(), 10);
        assert_eq!(QoS::new().keep_all().capacity(), 1000);
        assert_eq!(QoS::new().keep_all().max_samples(3).capacity(), 3);
    }

    #[test]
    fn lifespan_in_nanoseconds() {
        assert_eq!(QoS::new().lifespan_nanoseconds(), None);
        assert_eq!(QoS::rosout().lifespan_nanoseconds(), Some(10_000_000_000));
        let mut qos = QoS::new();
        qos.lifespan = Some(Duration::MAX);
        assert_eq!(qos.lifespan_nanoseconds(), None);
    }

    #[test]
    fn for_ever_is_no_limit() {
        for ever in [Duration::MAX, LONGEST] {
            let qos = QoS::new().lifespan(ever).deadline(ever).lease(ever);
            assert_eq!(qos, QoS::new());
            assert_eq!(qos.max_blocking_time(ever).validate(), Ok(()));
        }
    }

    #[test]
    fn edges_that_are_fine() {
        let instant = Duration::from_nanos(1);
        for qos in [
            QoS::new().keep_last(1).max_samples(1),
            QoS::new().keep_last(10).max_samples(10),
            QoS::new().lifespan(instant),
            QoS::new().lifespan(LONGEST - instant),
            QoS::new().max_blocking_time(Duration::ZERO),
            QoS::new().liveliness(Liveliness::Automatic),
            QoS::new().keep_last(2000).keep_all().max_samples(5), // the later call counts
        ] {
            assert_eq!(qos.validate(), Ok(()), "{qos:?}");
        }
    }

    #[test]
    fn what_is_refused_and_why() {
        let too_long = LONGEST + Duration::from_nanos(1);
        for (qos, message) in [
            (QoS::new().keep_last(0), "keep_last(0) keeps no message: the depth must be at least 1"),
            (
                QoS::new().keep_all().max_samples(0),
                "max_samples(0) leaves no room for a message: set at least 1, or leave it out",
            ),
            (
                QoS::new().max_samples(9),
                "keep_last(10) contradicts max_samples(9): set max_samples to at least 10 or leave it out, or lower \
                 the depth",
            ),
            (
                QoS::new().lifespan(Duration::ZERO),
                "a lifespan of zero expires every message before it can be taken: leave it out for no limit",
            ),
            (
                QoS::new().lifespan(too_long),
                "lifespan is 9223372036.854775808s, more than the 9223372036.854775807s (292 years) it can be: use \
                 Duration::MAX for no limit",
            ),
            (
                QoS::new().max_blocking_time(Duration::from_secs(1 << 40)),
                "max_blocking_time is 1099511627776s, more than the 9223372036.854775807s (292 years) it can be: use \
                 Duration::MAX for no limit",
            ),
            (
                QoS::new().deadline(SECOND),
                "deadline can't be honoured yet, it comes with the next release: leave it out",
            ),
            (
                QoS::new().liveliness(Liveliness::ManualByTopic),
                "liveliness can't be honoured yet, it comes with the next release: leave it out",
            ),
            (
                QoS::new().lease(SECOND),
                "lease can't be honoured yet, it comes with the next release: leave it out",
            ),
        ] {
            assert_eq!(qos.validate().unwrap_err().to_string(), message);
        }
    }

    fn size() -> impl Strategy<Value = usize> {
        prop_oneof![0..4_usize, 8..12_usize, any::<usize>()]
    }

    fn duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            Just(Duration::ZERO),
            Just(Duration::MAX),
            (0..3_u64).prop_map(|more| Duration::from_nanos(i64::MAX as u64 - 1 + more)),
            (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos)),
        ]
    }

    prop_compose! {
        /// Any QoS, also one whose fields were written by hand.
        fn qos()(
            history in prop_oneof![size().prop_map(History::KeepLast), Just(History::KeepAll)],
            reliable in any::<bool>(),
            transient_local in any::<bool>(),
            manual in proptest::bool::weighted(0.1),
            (deadline, lease) in (option::weighted(0.1, duration()), option::weighted(0.1, duration())),
            lifespan in option::of(duration()),
            max_samples in option::of(size()),
            max_blocking_time in duration(),
        ) -> QoS {
            QoS {
                history,
                reliability: if reliable { Reliability::Reliable } else { Reliability::BestEffort },
                durability: if transient_local { Durability::TransientLocal } else { Durability::Volatile },
                deadline,
                lifespan,
                liveliness: if manual { Liveliness::ManualByTopic } else { Liveliness::Automatic },
                lease,
                max_samples,
                max_blocking_time,
            }
        }
    }

    /// The rules of `validate`, said the other way round: what is fine.
    fn is_fine(qos: &QoS) -> bool {
        let unlimited =
            |duration: Duration| duration == Duration::MAX || duration.as_nanos() == i64::MAX as u128;
        let holds = |duration: Duration| unlimited(duration) || i64::try_from(duration.as_nanos()).is_ok();
        let room = qos.max_samples.unwrap_or(usize::MAX);
        let history = match qos.history {
            History::KeepLast(depth) => (1..=room).contains(&depth),
            History::KeepAll => room > 0,
        };
        history
            && qos.lifespan.is_none_or(|lifespan| !lifespan.is_zero() && holds(lifespan))
            && holds(qos.max_blocking_time)
            && qos.deadline.is_none_or(unlimited)
            && qos.lease.is_none_or(unlimited)
            && qos.liveliness == Liveliness::Automatic
    }

    proptest! {
        #[test]
        fn validate_refuses_what_is_not_fine(qos in qos()) {
            prop_assert_eq!(qos.validate().is_ok(), is_fine(&qos));
            if qos.validate().is_ok() {
                prop_assert!(qos.capacity() > 0);
                prop_assert!(qos.lifespan_nanoseconds().is_none_or(|lifespan| (1..i64::MAX).contains(&lifespan)));
            }
        }

        /// A request is a list of demands; an offer is what it can do. Nothing else about the ends matters.
        #[test]
        fn ends_match_if_every_demand_is_met(offered in qos(), requested in qos()) {
            let abilities = |qos: &QoS| {
                let mut abilities = Vec::new();
                if qos.reliability != Reliability::BestEffort {
                    abilities.push(Policy::Reliability);
                }
                if qos.durability != Durability::Volatile {
                    abilities.push(Policy::Durability);
                }
                abilities
            };
            let offer = abilities(&offered);
            let unmet: Vec<_> = abilities(&requested).into_iter().filter(|demand| !offer.contains(demand)).collect();
            match incompatibility(&offered, &requested) {
                None => prop_assert!(unmet.is_empty()),
                Some(policy) => prop_assert!(unmet.contains(&policy)),
            }
        }
    }
}
