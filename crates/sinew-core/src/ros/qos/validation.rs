//! Settings with which no entity can be created.

use super::limits::{DEEPEST, LONGEST, limited};
use super::settings::{History, QoS};
use std::time::Duration;

impl QoS {
    /// Checks that an entity can be created with it: no setting is out of range or contradicts
    /// another.
    ///
    /// Deadline, lifespan, liveliness and lease of one endpoint contradict nothing. A lifespan may
    /// be shorter than the deadline: an older message is worthless, whether it is the newest or
    /// not. A lease may be shorter than the deadline, as a program may assert its liveliness
    /// without publishing. And a lease without manual liveliness, or the other way round, is a
    /// request or an offer like any other: matching compares each by itself (DDS 1.4, section
    /// 2.2.3.11).
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
        if self.capacity() > DEEPEST {
            return Err(QosError::TooDeep { messages: self.capacity() });
        }
        for (duration, error) in [
            (self.deadline, QosError::ZeroDeadline),
            (self.lifespan, QosError::ZeroLifespan),
            (self.lease, QosError::ZeroLease),
        ] {
            if duration == Some(Duration::ZERO) {
                return Err(error);
            }
        }
        for (setting, duration) in [
            ("deadline", self.deadline),
            ("lifespan", self.lifespan),
            ("lease", self.lease),
            ("max_blocking_time", Some(self.max_blocking_time)),
        ] {
            if let Some(duration) = duration.and_then(limited)
                && duration > LONGEST
            {
                return Err(QosError::TooLong { setting, duration });
            }
        }
        Ok(())
    }
}

/// The reason why no entity can be created with a [`QoS`]. The caller can fix each of them.
///
/// ```
/// use sinew::error::QosError;
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
    /// A history larger than any ring towards another process.
    #[error(
        "a history of {messages} messages is too long, as the limit is {DEEPEST}: lower the depth of keep_last, or \
         the max_samples of keep_all"
    )]
    TooDeep {
        /// The requested number of messages.
        messages: usize,
    },
    /// No message could come in time.
    #[error("a deadline of zero is always missed: leave it out for no limit")]
    ZeroDeadline,
    /// Every message would expire at once.
    #[error("a lifespan of zero expires every message before it can be taken: leave it out for no limit")]
    ZeroLifespan,
    /// No publisher could be alive.
    #[error("a lease of zero is over before any sign of life: leave it out for no limit")]
    ZeroLease,
    /// A duration that nanoseconds in 64 bits can't hold.
    #[error(
        "{setting} is {duration:?}, but can be at most {LONGEST:?} (292 years): use Duration::MAX for no limit"
    )]
    TooLong {
        /// The method of [`QoS`] that sets it.
        setting: &'static str,
        /// The value that was set.
        duration: Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::super::{Liveliness, any};
    use super::*;
    use proptest::prelude::*;

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
        let manual = QoS::new().liveliness(Liveliness::ManualByTopic);
        for qos in [
            QoS::new().keep_last(1).max_samples(1),
            QoS::new().keep_last(10).max_samples(10),
            QoS::new().keep_last(16_777_216).max_samples(usize::MAX),
            QoS::new().lifespan(instant).deadline(instant).lease(instant),
            QoS::new().lifespan(LONGEST - instant).deadline(LONGEST - instant).lease(LONGEST - instant),
            QoS::new().max_blocking_time(Duration::ZERO),
            QoS::new().liveliness(Liveliness::Automatic),
            QoS::new().keep_last(2000).keep_all().max_samples(5), // the later call counts
            manual,
            manual.deadline(Duration::from_secs(1)).lease(instant).lifespan(instant),
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
                QoS::new().deadline(Duration::ZERO),
                "a deadline of zero is always missed: leave it out for no limit",
            ),
            (
                QoS::new().keep_all().max_samples(16_777_217),
                "a history of 16777217 messages is too long, as the limit is 16777216: lower the depth of keep_last, or \
                 the max_samples of keep_all",
            ),
            (
                QoS::new().lifespan(Duration::ZERO),
                "a lifespan of zero expires every message before it can be taken: leave it out for no limit",
            ),
            (
                QoS::new().lease(Duration::ZERO),
                "a lease of zero is over before any sign of life: leave it out for no limit",
            ),
            (
                QoS::new().deadline(too_long),
                "deadline is 9223372036.854775808s, but can be at most 9223372036.854775807s (292 years): use \
                 Duration::MAX for no limit",
            ),
            (
                QoS::new().lifespan(too_long),
                "lifespan is 9223372036.854775808s, but can be at most 9223372036.854775807s (292 years): use \
                 Duration::MAX for no limit",
            ),
            (
                QoS::new().lease(too_long),
                "lease is 9223372036.854775808s, but can be at most 9223372036.854775807s (292 years): use \
                 Duration::MAX for no limit",
            ),
            (
                QoS::new().max_blocking_time(Duration::from_secs(1 << 40)),
                "max_blocking_time is 1099511627776s, but can be at most 9223372036.854775807s (292 years): use \
                 Duration::MAX for no limit",
            ),
        ] {
            assert_eq!(qos.validate().unwrap_err().to_string(), message);
        }
    }

    /// The rules of `validate` in positive form: the valid settings.
    fn is_fine(qos: &QoS) -> bool {
        let unlimited =
            |duration: Duration| duration == Duration::MAX || duration.as_nanos() == i64::MAX as u128;
        let holds = |duration: Duration| unlimited(duration) || i64::try_from(duration.as_nanos()).is_ok();
        let room = qos.max_samples.unwrap_or(usize::MAX);
        let history = match qos.history {
            History::KeepLast(depth) => (1..=room.min(1 << 24)).contains(&depth),
            History::KeepAll => room > 0 && (qos.max_samples.is_none() || room <= 1 << 24),
        };
        let limits = [qos.deadline, qos.lifespan, qos.lease];
        history
            && limits.into_iter().flatten().all(|limit| !limit.is_zero() && holds(limit))
            && holds(qos.max_blocking_time)
    }

    proptest! {
        #[test]
        fn validate_refuses_what_is_not_fine(qos in any::qos()) {
            prop_assert_eq!(qos.validate().is_ok(), is_fine(&qos));
            if qos.validate().is_ok() {
                prop_assert!(qos.capacity() > 0);
                let limits =
                    [qos.lifespan_nanoseconds(), qos.deadline_nanoseconds(), qos.manual_lease_nanoseconds()];
                for limit in limits.into_iter().flatten() {
                    prop_assert!((1..i64::MAX).contains(&limit));
                }
            }
        }
    }
}
