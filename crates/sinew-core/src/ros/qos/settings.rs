//! The settings of a publisher or a subscription, and the presets of ROS 2.

use super::limits::limited;
use super::policy::{Policy, PolicySet};
use crate::sys::clock;
use std::time::Duration;

/// Messages in a keep-all history without `max_samples`.
const KEEP_ALL_SAMPLES: usize = 1000;

/// The quality of service of a publisher or a subscription.
///
/// Start from [`default`](QoS::default), [`new`](QoS::new) (the same, for constants) or a preset
/// and change what differs; a later call overrides an earlier one. The fields are meant for
/// reading. Creating an entity checks whether the settings agree with each other, and fails with a
/// [`QosError`](crate::error::QosError) if they don't.
///
/// Plain data: never allocates, never blocks.
///
/// ```
/// use sinew::QoS;
/// use sinew::qos::{Durability, History};
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
    /// The messages that wait for their reader. Default: `KeepLast(10)`.
    pub history: History,
    /// Whether messages may be lost on their way. Default: `Reliable`.
    pub reliability: Reliability,
    /// Whether a subscription gets messages that were published before it. Default: `Volatile`.
    pub durability: Durability,
    /// The longest time between two messages: promised by a publisher, expected by a subscription.
    /// `None`, the default: no limit.
    pub deadline: Option<Duration>,
    /// The time after its publication during which a message may be taken. `None`, the default: for
    /// ever.
    pub lifespan: Option<Duration>,
    /// How a publisher proves that it is alive. Default: `Automatic`.
    pub liveliness: Liveliness,
    /// The time for which a publisher counts as alive after its last sign of life. `None`, the
    /// default: no limit. ROS 2's `liveliness_lease_duration`.
    pub lease: Option<Duration>,
    /// The most messages that an entity holds. `None`, the default: the depth with keep last, 1000
    /// with keep all.
    pub max_samples: Option<usize>,
    /// The longest time that publishing may wait for room; see [`QoS::keep_all`]. Default: 100 ms,
    /// as in DDS.
    pub max_blocking_time: Duration,
    /// The policies that are left to the other ends of the topic; none once an entity exists.
    pub(super) best_available: PolicySet,
}

/// The messages that wait for their reader.
///
/// ```
/// use sinew::QoS;
/// use sinew::qos::History;
/// assert_eq!(QoS::default().history, History::KeepLast(10));
/// assert_eq!(QoS::default().keep_all().history, History::KeepAll);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum History {
    /// The newest messages, up to this depth, at least 1.
    KeepLast(usize),
    /// All messages, up to `max_samples`.
    KeepAll,
}

/// Whether messages may be lost on their way. The stronger promise is the greater one.
///
/// ```
/// use sinew::QoS;
/// use sinew::qos::Reliability;
/// assert_eq!(QoS::sensor_data().reliability, Reliability::BestEffort);
/// assert!(Reliability::Reliable > Reliability::BestEffort);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reliability {
    /// Messages may be lost: a fresh message is worth more than a repeated one.
    BestEffort,
    /// Messages are sent again until they arrive.
    Reliable,
}

/// Whether a subscription gets messages that were published before it. The stronger promise is the
/// greater one.
///
/// ```
/// use sinew::QoS;
/// use sinew::qos::Durability;
/// assert_eq!(QoS::rosout().durability, Durability::TransientLocal);
/// assert!(Durability::TransientLocal > Durability::Volatile);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// It doesn't.
    Volatile,
    /// It gets the history of each publisher that still exists.
    TransientLocal,
}

/// How a publisher proves that it is alive. The stronger promise is the greater one.
///
/// ```
/// use sinew::QoS;
/// use sinew::qos::Liveliness;
/// assert_eq!(QoS::default().liveliness, Liveliness::Automatic);
/// assert!(Liveliness::ManualByTopic > Liveliness::Automatic);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Liveliness {
    /// Without the program's doing: it is alive while it exists in a process that lives. Within one
    /// process, its lease has no effect. For subscriptions of other processes it lapses if its
    /// process gives no sign of life for longer than the lease, for example because it is stopped.
    Automatic,
    /// The program asserts it for each publisher, by publishing or with
    /// [`assert_liveliness`](crate::Publisher::assert_liveliness), at least once in every lease.
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
            best_available: PolicySet::NONE,
        }
    }

    /// Best effort, volatile, the last 5 messages: for sensors, where freshness matters more than
    /// completeness. `rmw_qos_profile_sensor_data` in ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::sensor_data(), QoS::default().best_effort().keep_last(5));
    /// ```
    pub const fn sensor_data() -> Self {
        Self::new().best_effort().keep_last(5)
    }

    /// Reliable, volatile, the last 10 messages: for requests and responses. Volatile, so that a
    /// restarted service doesn't answer old requests. `rmw_qos_profile_services_default` in ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::services(), QoS::default());
    /// ```
    pub const fn services() -> Self {
        Self::new()
    }

    /// Reliable, volatile, the last 1000 messages: for the services of parameters.
    /// `rmw_qos_profile_parameters` in ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::parameters(), QoS::default().keep_last(1000));
    /// ```
    pub const fn parameters() -> Self {
        Self::new().keep_last(1000)
    }

    /// Reliable, volatile, the last 1000 messages: for `/parameter_events`.
    /// `rmw_qos_profile_parameter_events` in ROS 2.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::parameter_events(), QoS::default().keep_last(1000));
    /// ```
    pub const fn parameter_events() -> Self {
        Self::new().keep_last(1000)
    }

    /// The default. In ROS 2, `rmw_qos_profile_system_default` leaves the choice to the middleware
    /// below; here there is none below.
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
    /// use sinew::QoS;
    /// use sinew::qos::Durability;
    /// use std::time::Duration;
    /// assert_eq!(QoS::rosout().durability, Durability::TransientLocal);
    /// assert_eq!(QoS::rosout().lifespan, Some(Duration::from_secs(10)));
    /// ```
    pub const fn rosout() -> Self {
        Self::new().keep_last(1000).transient_local().lifespan(Duration::from_secs(10))
    }

    /// Keeps the newest `depth` messages; when one more comes, the oldest is dropped and counted.
    /// At least 1, at most 16,777,216, and not more than `max_samples` if that is set.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::History;
    /// assert_eq!(QoS::default().keep_last(3).history, History::KeepLast(3));
    /// ```
    pub const fn keep_last(mut self, depth: usize) -> Self {
        self.history = History::KeepLast(depth);
        self
    }

    /// Keeps every message until it is taken, up to [`max_samples`](QoS::max_samples).
    ///
    /// When that is full and both endpoints are keep all and reliable, publishing waits for room,
    /// up to the publisher's [`max_blocking_time`](QoS::max_blocking_time). Otherwise no
    /// subscription stops a publisher: the new message is dropped for that subscription and
    /// counted.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::History;
    /// assert_eq!(QoS::default().keep_all().history, History::KeepAll);
    /// ```
    pub const fn keep_all(mut self) -> Self {
        self.history = History::KeepAll;
        self
    }

    /// Promises (publisher) or requests (subscription) that no message is lost on its way. A
    /// subscription with it doesn't match a best-effort publisher.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::Reliability;
    /// assert_eq!(QoS::sensor_data().reliable().reliability, Reliability::Reliable);
    /// ```
    pub const fn reliable(mut self) -> Self {
        self.reliability = Reliability::Reliable;
        self.best_available = self.best_available.without(Policy::Reliability);
        self
    }

    /// Accepts that messages are lost on their way rather than late.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::Reliability;
    /// assert_eq!(QoS::default().best_effort().reliability, Reliability::BestEffort);
    /// ```
    pub const fn best_effort(mut self) -> Self {
        self.reliability = Reliability::BestEffort;
        self.best_available = self.best_available.without(Policy::Reliability);
        self
    }

    /// Lets a subscription get only messages that are published after its creation.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::Durability;
    /// assert_eq!(QoS::rosout().volatile().durability, Durability::Volatile);
    /// ```
    pub const fn volatile(mut self) -> Self {
        self.durability = Durability::Volatile;
        self.best_available = self.best_available.without(Policy::Durability);
        self
    }

    /// Lets a publisher keep its history for later subscriptions; a subscription requests it, and
    /// then doesn't match a volatile publisher. With a depth of 1 this is ROS 1's latching.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::Durability;
    /// assert_eq!(QoS::default().transient_local().durability, Durability::TransientLocal);
    /// ```
    pub const fn transient_local(mut self) -> Self {
        self.durability = Durability::TransientLocal;
        self.best_available = self.best_available.without(Policy::Durability);
        self
    }

    /// Sets the longest time between two messages; `Duration::MAX`: no limit. More than zero, and
    /// up to 292 years.
    ///
    /// A publisher promises it; a subscription requests it, and doesn't match a publisher that
    /// promises less or nothing. Each endpoint counts the periods that pass without a message, from
    /// the first message on, for its `on_deadline_missed` handler.
    ///
    /// ```
    /// use sinew::QoS;
    /// use std::time::Duration;
    /// let qos = QoS::default().deadline(Duration::from_millis(100));
    /// assert_eq!(qos.deadline, Some(Duration::from_millis(100)));
    /// assert_eq!(qos.deadline(Duration::MAX).deadline, None);
    /// ```
    pub const fn deadline(mut self, period: Duration) -> Self {
        self.deadline = limited(period);
        self.best_available = self.best_available.without(Policy::Deadline);
        self
    }

    /// Sets the age at which a message that wasn't taken is dropped and counted; `Duration::MAX`:
    /// no limit. More than zero, and up to 292 years.
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

    /// Sets how a publisher proves that it is alive. A subscription that requests `ManualByTopic`
    /// doesn't match a publisher that is `Automatic`.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::Liveliness;
    /// use std::time::Duration;
    /// let watched = QoS::default().liveliness(Liveliness::ManualByTopic).lease(Duration::from_millis(50));
    /// assert_eq!(watched.liveliness, Liveliness::ManualByTopic);
    /// ```
    pub const fn liveliness(mut self, kind: Liveliness) -> Self {
        self.liveliness = kind;
        self.best_available = self.best_available.without(Policy::Liveliness);
        self
    }

    /// Sets the time for which a publisher counts as alive after its last sign of life;
    /// `Duration::MAX`: no limit. More than zero, and up to 292 years. ROS 2's
    /// `liveliness_lease_duration`.
    ///
    /// A subscription that requests a lease doesn't match a publisher with a longer one or none;
    /// the publisher's lease is the one that counts. An automatic publisher needs no lease to be
    /// known dead: it is alive while it exists. A manual one without a lease never expires.
    ///
    /// ```
    /// use sinew::QoS;
    /// use std::time::Duration;
    /// let qos = QoS::default().lease(Duration::from_secs(1));
    /// assert_eq!(qos.lease, Some(Duration::from_secs(1)));
    /// assert_eq!(qos.lease(Duration::MAX).lease, None);
    /// ```
    pub const fn lease(mut self, duration: Duration) -> Self {
        self.lease = limited(duration);
        self.best_available = self.best_available.without(Policy::Lease);
        self
    }

    /// Sets the most messages that the entity holds: the bound of [`keep_all`](QoS::keep_all). At
    /// least 1, and not less than the depth of keep last.
    ///
    /// ```
    /// use sinew::QoS;
    /// assert_eq!(QoS::default().keep_all().max_samples(64).max_samples, Some(64));
    /// ```
    pub const fn max_samples(mut self, messages: usize) -> Self {
        self.max_samples = Some(messages);
        self
    }

    /// Sets the longest time that publishing may wait for room in a full keep-all history; then it
    /// fails and returns the message. Zero: not at all; `Duration::MAX`: without a limit; else up
    /// to 292 years.
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

    /// Returns the capacity of the history in messages.
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

    /// Whether a full history here may make publishing wait: keep all and reliable, at both
    /// endpoints.
    pub(crate) const fn is_blocking(&self) -> bool {
        self.is_keep_all() && matches!(self.reliability, Reliability::Reliable)
    }

    /// Returns the number of messages that a ring towards another process has to keep.
    pub(crate) const fn ring_depth(&self) -> usize {
        self.capacity()
    }

    /// Whether it keeps, or requests, messages that were published before the subscription existed.
    pub(crate) const fn is_transient_local(&self) -> bool {
        matches!(self.durability, Durability::TransientLocal)
    }

    /// Returns the lifespan in nanoseconds.
    pub(crate) fn lifespan_nanoseconds(&self) -> Option<i64> {
        self.lifespan.and_then(limited).map(clock::nanoseconds)
    }

    /// Returns the deadline's period in nanoseconds.
    pub(crate) fn deadline_nanoseconds(&self) -> Option<i64> {
        self.deadline.and_then(limited).map(clock::nanoseconds)
    }

    /// Returns the lease in nanoseconds, if the program has to give signs of life within it.
    pub(crate) fn manual_lease_nanoseconds(&self) -> Option<i64> {
        self.lease_nanoseconds(Liveliness::ManualByTopic)
    }

    /// Returns the lease in nanoseconds, if the process gives signs of life within it, for others.
    pub(crate) fn automatic_lease_nanoseconds(&self) -> Option<i64> {
        self.lease_nanoseconds(Liveliness::Automatic)
    }

    fn lease_nanoseconds(&self, kind: Liveliness) -> Option<i64> {
        let lease = self.lease.filter(|_| self.liveliness == kind);
        lease.and_then(limited).map(clock::nanoseconds)
    }
}

impl Default for QoS {
    /// Reliable, volatile, the last 10 messages, no limits in time. `rmw_qos_profile_default` in
    /// ROS 2.
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                best_available: PolicySet::NONE,
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
    fn only_a_manual_publisher_can_lapse() {
        let lease = QoS::new().lease(Duration::from_micros(1));
        assert_eq!(lease.manual_lease_nanoseconds(), None);
        assert_eq!(lease.liveliness(Liveliness::ManualByTopic).manual_lease_nanoseconds(), Some(1000));
        assert_eq!(QoS::new().liveliness(Liveliness::ManualByTopic).manual_lease_nanoseconds(), None);
    }
}
