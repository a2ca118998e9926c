//! What handlers are told: status events and guard conditions.

use crate::ros::qos::Policy;
use sinew_msg::DecodeError;

/// An endpoint matched with this entity, or went away. ROS 2: `rmw_matched_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Matched {
    /// How many entities have ever matched.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// How many are matched now.
    pub current: u64,
    /// How that changed since the last event.
    pub current_change: i64,
}

/// An entity of the same topic asks for, or offers, a QoS that doesn't go with this one's. ROS 2:
/// `rmw_qos_incompatible_event_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IncompatibleQos {
    /// How many there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// The policy that kept the last one apart.
    pub last_policy: Option<Policy>,
    /// The node of the last one, and what was offered and asked for.
    pub last_reason: String,
}

/// An entity of the same topic has another type. ROS 2: `rmw_incompatible_type_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IncompatibleType {
    /// How many there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// The node of the last one, and its type.
    pub last_reason: String,
}

/// Messages that reached the subscription's history were lost to newer ones, or found it full; or
/// messages of another process were overwritten before they were read, or made no sense, such as a
/// string that is not UTF-8 (which the log tells once, too); or messages of another host were lost on
/// the network. ROS 2: `rmw_message_lost_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MessageLost {
    /// How many there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// How many of `total` made no sense, or were refused by an [`Adapter`](crate::msg::Adapter).
    pub undecodable: u64,
    /// What was wrong with the last one of these, and where in it.
    pub last_problem: Option<DecodeError>,
}

/// A publisher was silent for longer than the deadline it offers, once for each period without a
/// message. ROS 2: `rmw_offered_deadline_missed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OfferedDeadlineMissed {
    /// How many periods there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
}

/// No message reached a subscription for longer than the deadline it requests, once for each period
/// without a message. ROS 2: `rmw_requested_deadline_missed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestedDeadlineMissed {
    /// How many periods there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
}

/// A publisher gave no sign of life for longer than its lease, and counts as not alive. ROS 2:
/// `rmw_liveliness_lost_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessLost {
    /// How often it did.
    pub total: u64,
    /// How many times of them since the last event.
    pub total_change: u64,
}

/// Publishers that match a subscription came, went, let their lease expire, or gave a sign of life
/// again. ROS 2: `rmw_liveliness_changed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessChanged {
    /// How many of them are alive now.
    pub alive: u64,
    /// How many exist, but have given no sign of life within their lease.
    pub not_alive: u64,
    /// How `alive` changed since the last event; 0 if it went down and up again.
    pub alive_change: i64,
    /// How `not_alive` changed since the last event.
    pub not_alive_change: i64,
}

/// A guard condition was triggered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Triggered {
    /// How often since the callback ran last.
    pub count: u64,
}
