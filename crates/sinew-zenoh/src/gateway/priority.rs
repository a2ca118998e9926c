//! Priorities of the gateway's data, where they differ from zenoh's default.

use zenoh::qos::Priority;

/// The priority of topics of few bytes. Service calls have the next one, everything else has
/// zenoh's default, which is lower.
pub(super) const LIGHT: Priority = Priority::InteractiveLow;

/// The priority of service calls.
pub(super) const CALLS: Priority = Priority::DataHigh;
