//! The steps of publishing to a list of subscriptions, known before there is a message.

use super::copy_plan::Ownership;
use std::ops::BitOr;

/// The steps of a publish, in bits. Renewed when matching changes; each message reads it once and
/// skips the steps without a bit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Strategy(u8);

impl Strategy {
    /// There are subscriptions in this process.
    pub(crate) const LOCAL: Self = Self(1);
    /// Filters, copies, moves or other types may be needed.
    pub(crate) const CARE: Self = Self(1 << 1);
    /// The only subscription owns its messages: it needs a copy of a message with several
    /// references.
    pub(crate) const OWNED: Self = Self(1 << 2);
    /// A subscription takes no encoded messages.
    pub(crate) const VALUES: Self = Self(1 << 3);
    /// A subscription can block the publisher.
    pub(crate) const BOUND: Self = Self(1 << 4);
    /// Subscriptions elsewhere are connected.
    pub(crate) const REMOTE: Self = Self(1 << 5);
    /// The publisher keeps messages for late joiners.
    pub(crate) const RETAINS: Self = Self(1 << 6);
    /// The publisher has a deadline or a lease that a task watches.
    pub(crate) const WATCHED: Self = Self(1 << 7);

    /// Whether any of these bits is set.
    #[inline]
    pub(crate) const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    const fn and(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// Returns these bits if `so`, otherwise none.
    pub(crate) const fn only_if(self, so: bool) -> Self {
        if so { self } else { Self(0) }
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

impl BitOr for Strategy {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

/// How a message is published: the bits that keep it from the fast path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form(Strategy);

impl Form {
    /// A value, by its only reference.
    pub(crate) const UNIQUE: Self = Self(Strategy::CARE);
    /// A value, by one of several references.
    pub(crate) const SHARED: Self = Self(Strategy::CARE.and(Strategy::OWNED));
    /// A message in encoded form.
    pub(crate) const ENCODED: Self = Self(Strategy::CARE.and(Strategy::OWNED).and(Strategy::VALUES));
    /// A value that lies in no block: it can't be handed on or retained.
    pub(crate) const BARE: Self = Self(Strategy::CARE.and(Strategy::LOCAL).and(Strategy::RETAINS));

    pub(crate) const fn of_value(ownership: Ownership) -> Self {
        match ownership {
            Ownership::Unique => Self::UNIQUE,
            Ownership::Shared => Self::SHARED,
        }
    }

    /// Returns the bits that keep such a message from the fast path.
    #[inline]
    pub(crate) const fn obstacles(self) -> Strategy {
        self.0
    }

    pub(crate) const fn ownership(self) -> Ownership {
        if self.0.has(Strategy::OWNED) { Ownership::Shared } else { Ownership::Unique }
    }
}
