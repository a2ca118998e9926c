//! QoS overrides: through parameters, the command line and files set the QoS policies that the
//! program allows.

use super::node::NodeCore;
use super::parameters::node::table_of;
use super::publisher::PublisherBuilder;
use super::subscription::SubscriptionBuilder;
use crate::executor::group::CallbackGroup;
use crate::parameters::descriptor::ParameterDescriptor;
use crate::parameters::error::ParameterError;
use crate::parameters::spec::Declaration;
use crate::parameters::value::ParameterValue;
use crate::ros::failure::CreateError;
use crate::ros::qos::{Durability, History, Liveliness, Policy, QoS, Reliability};
use crate::sys::sync::Arc;
use std::time::Duration;

/// A policy of a [`QoS`] that a parameter can change. The parameter is an integer for `Depth` and
/// for durations (in nanoseconds), and otherwise a string. The value `best_available`, or
/// 9223372036854775806 for a duration, leaves the policy to the topic's other endpoints; see
/// [`QoS::best_available`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QosPolicy {
    /// `deadline`; a negative value, or the greatest integer, means none.
    Deadline,
    /// `depth`, the number of messages that `keep_last` keeps: at least 1.
    Depth,
    /// `durability`: `volatile`, `transient_local`, `best_available`.
    Durability,
    /// `history`: `keep_last`, `keep_all`.
    History,
    /// `lifespan`, written like the deadline; for publishers.
    Lifespan,
    /// `liveliness`: `automatic`, `manual_by_topic`, `best_available`.
    Liveliness,
    /// `liveliness_lease_duration`, written like the deadline.
    LivelinessLeaseDuration,
    /// `reliability`: `reliable`, `best_effort`, `best_available`.
    Reliability,
}

/// The policies of an endpoint's QoS that parameters may change. Creating the endpoint declares a
/// read-only parameter for each of them, such as `qos_overrides./TOPIC.publisher.depth`. The
/// parameters stay declared: a later endpoint with the same node, kind, topic and
/// [identifier](Self::id) gets their values, also where its program's QoS differs. Without
/// overrides, parameters don't change the QoS. For
/// [`PublisherBuilder::qos_overrides`](crate::msg::PublisherBuilder::qos_overrides) and
/// [`SubscriptionBuilder::qos_overrides`](crate::msg::SubscriptionBuilder::qos_overrides).
///
/// ```
/// use sinew::prelude::*;
/// use sinew::qos::{QosOverrides, Reliability};
/// # #[derive(Clone)] struct Scan; impl Message for Scan {}
/// let parameter = "qos_overrides./scan.publisher.reliability:=best_effort";
/// let context = Context::builder().arguments(["laser", "--ros-args", "-p", parameter]).build()?;
/// let node = context.node("laser")?;
/// let scans = node.publisher::<Scan>("scan").qos_overrides(QosOverrides::default()).create()?;
/// assert_eq!(scans.qos().reliability, Reliability::BestEffort);
/// assert_eq!(node.parameter_value("qos_overrides./scan.publisher.depth"), Some(10.into()));
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QosOverrides {
    policies: Vec<QosPolicy>,
    id: String,
}

impl Default for QosOverrides {
    /// History, depth and reliability, as in ROS 2.
    fn default() -> Self {
        Self::of([QosPolicy::History, QosPolicy::Depth, QosPolicy::Reliability])
    }
}

impl QosOverrides {
    /// Allows parameters to change only these policies.
    pub fn of(policies: impl IntoIterator<Item = QosPolicy>) -> Self {
        Self { policies: policies.into_iter().collect(), id: String::new() }
    }

    /// Sets an identifier, which distinguishes the endpoint's parameters from those of other
    /// endpoints with the same node, kind and topic: their names contain `publisher_ID` instead of
    /// `publisher`. Default: none.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.id);
        self
    }

    /// Returns an endpoint's QoS with the values of its parameters, declaring those that aren't
    /// declared yet: by an endpoint before it, or from overrides.
    fn apply(
        &self,
        node: &Arc<NodeCore>,
        (topic, end): (&str, &str),
        mut qos: QoS,
    ) -> Result<QoS, CreateError> {
        let separator = if self.id.is_empty() { "" } else { "_" };
        let prefix = format!("qos_overrides.{topic}.{end}{separator}{}", self.id);
        let turn = table_of(node)?.turn()?;
        let given = qos;
        for policy in &self.policies {
            let (name, default) = (format!("{prefix}.{}", policy.name()), policy.of(&given));
            let mut descriptor = ParameterDescriptor::new(&*name, default.kind());
            descriptor.read_only = true;
            let value =
                turn.value_or_declared(Declaration::new::<ParameterValue>(descriptor, Ok(default)))?;
            policy.set(&mut qos, &value).ok_or_else(|| {
                let reason = format!("{value} is none of: {}", policy.allowed());
                ParameterError::InvalidValue { node: node.full_name.to_string(), name, reason }
            })?;
        }
        qos.validate().map_err(|problem| CreateError::Qos { topic: topic.to_owned(), problem })?;
        Ok(qos)
    }
}

impl<T, G: CallbackGroup> PublisherBuilder<T, G> {
    /// Allows parameters to change the QoS; see [`QosOverrides`]. Default: none may.
    pub fn qos_overrides(self, overrides: QosOverrides) -> Self {
        self.adapt_qos(Box::new(move |node, topic, qos| overrides.apply(node, (topic, "publisher"), qos)))
    }
}

impl<T, G: CallbackGroup> SubscriptionBuilder<T, G> {
    /// Allows parameters to change the QoS; see [`QosOverrides`]. Default: none may.
    pub fn qos_overrides(self, overrides: QosOverrides) -> Self {
        self.adapt_qos(Box::new(move |node, topic, qos| overrides.apply(node, (topic, "subscription"), qos)))
    }
}

/// Returns a duration in nanoseconds; the greatest integer if there is none.
fn nanoseconds(limit: Option<Duration>) -> ParameterValue {
    let nanoseconds = limit.and_then(|limit| i64::try_from(limit.as_nanos()).ok());
    ParameterValue::Integer(nanoseconds.unwrap_or(i64::MAX))
}

impl QosPolicy {
    fn name(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Depth => "depth",
            Self::Durability => "durability",
            Self::History => "history",
            Self::Lifespan => "lifespan",
            Self::Liveliness => "liveliness",
            Self::LivelinessLeaseDuration => "liveliness_lease_duration",
            Self::Reliability => "reliability",
        }
    }

    /// Returns the policy that matching compares, and that can be left to the other endpoints.
    fn compared(self) -> Option<Policy> {
        match self {
            Self::Deadline => Some(Policy::Deadline),
            Self::Durability => Some(Policy::Durability),
            Self::Liveliness => Some(Policy::Liveliness),
            Self::LivelinessLeaseDuration => Some(Policy::Lease),
            Self::Reliability => Some(Policy::Reliability),
            Self::Depth | Self::History | Self::Lifespan => None,
        }
    }

    /// Whether the value leaves this policy to the other endpoints.
    fn means_best_available(self, value: &ParameterValue) -> bool {
        match (self, value) {
            (Self::Deadline | Self::LivelinessLeaseDuration, ParameterValue::Integer(value)) => {
                *value == BEST_AVAILABLE_NANOSECONDS
            }
            (_, ParameterValue::String(word)) => word == BEST_AVAILABLE,
            _ => false,
        }
    }

    fn allowed(self) -> &'static str {
        match self {
            Self::Deadline | Self::Lifespan | Self::LivelinessLeaseDuration => "nanoseconds",
            Self::Depth => "a number from 1 on",
            Self::Durability => "volatile, transient_local, best_available",
            Self::History => "keep_last, keep_all",
            Self::Liveliness => "automatic, manual_by_topic, best_available",
            Self::Reliability => "reliable, best_effort, best_available",
        }
    }

    /// Returns this policy of a QoS as a parameter's value.
    fn of(self, qos: &QoS) -> ParameterValue {
        let depth = |depth: usize| ParameterValue::Integer(i64::try_from(depth).unwrap_or(i64::MAX));
        if self.compared().is_some_and(|policy| qos.is_best_available(policy)) {
            return match self {
                Self::Deadline | Self::LivelinessLeaseDuration => {
                    ParameterValue::Integer(BEST_AVAILABLE_NANOSECONDS)
                }
                _ => BEST_AVAILABLE.into(),
            };
        }
        match self {
            Self::Deadline => nanoseconds(qos.deadline),
            Self::Lifespan => nanoseconds(qos.lifespan),
            Self::LivelinessLeaseDuration => nanoseconds(qos.lease),
            Self::Depth => match qos.history {
                History::KeepLast(kept) => depth(kept),
                History::KeepAll => depth(DEPTH),
            },
            Self::Durability if qos.durability == Durability::TransientLocal => "transient_local".into(),
            Self::Durability => "volatile".into(),
            Self::History if qos.history == History::KeepAll => "keep_all".into(),
            Self::History => "keep_last".into(),
            Self::Liveliness if qos.liveliness == Liveliness::ManualByTopic => "manual_by_topic".into(),
            Self::Liveliness => "automatic".into(),
            Self::Reliability if qos.reliability == Reliability::Reliable => "reliable".into(),
            Self::Reliability => "best_effort".into(),
        }
    }

    /// Sets this policy. Returns `None` if the value doesn't fit it.
    fn set(self, qos: &mut QoS, value: &ParameterValue) -> Option<()> {
        if let Some(policy) = self.compared()
            && self.means_best_available(value)
        {
            *qos = qos.best_available_for(policy);
            return Some(());
        }
        match (self, value) {
            (Self::Deadline, ParameterValue::Integer(value)) => *qos = qos.deadline(limit(*value)),
            (Self::Lifespan, ParameterValue::Integer(value)) => *qos = qos.lifespan(limit(*value)),
            (Self::LivelinessLeaseDuration, ParameterValue::Integer(value)) => {
                *qos = qos.lease(limit(*value))
            }
            (Self::Depth, ParameterValue::Integer(value)) => {
                let kept = usize::try_from(*value).ok().filter(|kept| *kept > 0)?;
                if let History::KeepLast(depth) = &mut qos.history {
                    *depth = kept;
                }
            }
            (_, ParameterValue::String(word)) => match (self, word.as_str()) {
                (Self::Durability, "volatile") => *qos = qos.volatile(),
                (Self::Durability, "transient_local") => *qos = qos.transient_local(),
                (Self::History, "keep_all") => qos.history = History::KeepAll,
                (Self::History, "keep_last") => {
                    if qos.history == History::KeepAll {
                        qos.history = History::KeepLast(DEPTH);
                    }
                }
                (Self::Liveliness, "automatic") => *qos = qos.liveliness(Liveliness::Automatic),
                (Self::Liveliness, "manual_by_topic") => *qos = qos.liveliness(Liveliness::ManualByTopic),
                (Self::Reliability, "reliable") => *qos = qos.reliable(),
                (Self::Reliability, "best_effort") => *qos = qos.best_effort(),
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }
}

/// The depth of `keep_last` if nothing sets one.
const DEPTH: usize = 10;

/// The word that leaves a policy to the other endpoints.
const BEST_AVAILABLE: &str = "best_available";

/// The duration that does the same: `RMW_QOS_DEADLINE_BEST_AVAILABLE` and
/// `RMW_QOS_LIVELINESS_LEASE_DURATION_BEST_AVAILABLE` of ROS 2.
const BEST_AVAILABLE_NANOSECONDS: i64 = i64::MAX - 1;

/// Returns a parameter's duration; unlimited if it is negative.
fn limit(nanoseconds: i64) -> Duration {
    u64::try_from(nanoseconds).map_or(Duration::MAX, Duration::from_nanos)
}
