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

impl Policy {
    /// All of them, in the order of the variants.
    const ALL: [Self; 5] =
        [Self::Reliability, Self::Durability, Self::Deadline, Self::Liveliness, Self::Lease];
}

/// A set of policies.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PolicySet(u8);

impl PolicySet {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self((1 << Policy::ALL.len()) - 1);

    const fn bit(policy: Policy) -> u8 {
        1 << policy as u8
    }

    pub(super) const fn with(self, policy: Policy) -> Self {
        Self(self.0 | Self::bit(policy))
    }

    pub(super) const fn without(self, policy: Policy) -> Self {
        Self(self.0 & !Self::bit(policy))
    }

    pub(super) const fn contains(self, policy: Policy) -> bool {
        self.0 & Self::bit(policy) != 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Policy> {
        Policy::ALL.into_iter().filter(move |policy| self.contains(*policy))
    }
}

impl fmt::Debug for PolicySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
