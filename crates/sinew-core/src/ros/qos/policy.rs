//! The policies that matching compares.

use std::fmt;

/// A policy for which a publisher must offer at least what a subscription requests.
///
/// ```
/// use sinew::qos::Policy;
/// assert_eq!(Policy::Durability.to_string(), "durability");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// A best-effort publisher doesn't match a reliable subscription.
    Reliability,
    /// A volatile publisher doesn't match a transient-local subscription.
    Durability,
    /// A publisher with a longer deadline, or none, doesn't match a subscription that asks for one.
    Deadline,
    /// An automatic publisher doesn't match a subscription that asks for liveliness that is manual
    /// by topic.
    Liveliness,
    /// A publisher with a longer lease, or none, doesn't match a subscription that asks for one.
    Lease,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Policy::Reliability => "reliability",
            Policy::Durability => "durability",
            Policy::Deadline => "deadline",
            Policy::Liveliness => "liveliness",
            Policy::Lease => "liveliness lease",
        })
    }
}
