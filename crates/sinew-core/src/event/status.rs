//! The events that handlers receive: status events and guard conditions.

use crate::ros::qos::Policy;
use sinew_msg::DecodeError;

/// An endpoint matched with this entity, or ceased to match. ROS 2: `rmw_matched_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Matched {
    /// Number of entities that have ever matched.
    pub total: u64,
    /// Number of them since the last event.
    pub total_change: u64,
    /// Number of entities that match now.
    pub current: usize,
    /// Change of `current` since the last event.
    pub current_change: isize,
}

/// An entity of the same topic requests, or offers, a QoS that is incompatible with this one's. ROS
/// 2: `rmw_qos_incompatible_event_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IncompatibleQos {
    /// Number of such entities.
    pub total: u64,
    /// Number of them since the last event.
    pub total_change: u64,
    /// The policy that prevented the last match.
    pub last_policy: Option<Policy>,
    /// The node of the last one, and the offered and the requested value.
    pub last_reason: String,
}

/// An entity of the same topic has another type. ROS 2: `rmw_incompatible_type_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IncompatibleType {
    /// Number of such entities.
    pub total: u64,
    /// Number of them since the last event.
    pub total_change: u64,
    /// The node of the last one, and its type.
    pub last_reason: String,
}

/// Messages of a subscription were lost. They reached its history and gave way to newer ones, or
/// found it full; or they are of another process and were overwritten before they were read, or
/// could not be read, for example because a string is not UTF-8 (which is also logged once); or
/// they are of another host and were lost on the network. ROS 2: `rmw_message_lost_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MessageLost {
    /// Number of lost messages.
    pub total: u64,
    /// Number of them since the last event.
    pub total_change: u64,
    /// Number of messages in `total` that could not be read, or that an
    /// [`Adapter`](crate::msg::Adapter) refused.
    pub undecodable: u64,
    /// The problem with the last one of these, and its position in the message.
    pub last_problem: Option<DecodeError>,
}

/// A publisher was silent for longer than the deadline it offers, once for each period without a
/// message. ROS 2: `rmw_offered_deadline_missed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OfferedDeadlineMissed {
    /// Number of missed periods.
    pub total: u64,
    /// Number of them since the last event.
    pub total_change: u64,
}

/// No message reached a subscription for longer than the deadline it requests, once for each period
/// without a message. ROS 2: `rmw_requested_deadline_missed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestedDeadlineMissed {
    /// Number of missed periods.
    pub total: u64,
    /// Number of them since the last event.
    pub total_change: u64,
}

/// A publisher gave no sign of life for longer than its lease, and counts as not alive. ROS 2:
/// `rmw_liveliness_lost_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessLost {
    /// Number of expiries.
    pub total: u64,
    /// Number of them since the last event.
    pub total_change: u64,
}

/// Publishers that match a subscription were added or removed, let their lease expire, or gave a
/// sign of life again. ROS 2: `rmw_liveliness_changed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessChanged {
    /// Number of them that are alive now.
    pub alive: usize,
    /// Number of them that exist, but have given no sign of life within their lease.
    pub not_alive: usize,
    /// Change of `alive` since the last event; 0 if it went down and up again.
    pub alive_change: isize,
    /// Change of `not_alive` since the last event.
    pub not_alive_change: isize,
}

/// A guard condition was triggered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Triggered {
    /// Number of times since the callback ran last.
    pub count: u64,
}
