//! Decides which buffer gets which copy of a published message, before anything is cloned.
//!
//! A message lies at one address. Of the buffers that get it, *owners* want it for themselves at an
//! address of their own, *sharers* only read it, and *value* buffers keep it by value, so they have
//! no address to promise.
//!
//! | published | owners | sharers | values |
//! |---|---|---|---|
//! | `Unique`, owners present | first: the original; others: a copy each | one copy for all | a copy each |
//! | `Unique`, sharers but no owner | | the original | a copy each |
//! | `Unique`, values only | | | first: the original, moved; others: a copy each |
//! | `Shared` | a copy each | the original | a copy each |
//!
//! The plan makes as few copies as possible: all sharers share one instance, and the original
//! serves one of the readers, unless it stays shared and all of them want to own it. The rows
//! without values are those of ROS 2's intra-process design
//! (<https://design.ros2.org/articles/intraprocess_communications.html>).
//!
//! A publisher that has to keep a message (for late joiners, or to encode it afterwards) publishes
//! it as `Shared`.
//!
//! The caller makes all copies before it gives the original away by ownership: the new owner may
//! write to it.

/// How a buffer takes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Holds `Unique`: an address of its own.
    Owner,
    /// Holds `Shared`: reads it along with other holders.
    Sharer,
    /// Holds the value itself.
    Value,
}

/// How a message is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// By its only reference.
    Unique,
    /// By one of several references.
    Shared,
}

/// One buffer's share of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disposition {
    /// The published message by ownership. At most one buffer gets it, and then no buffer gets
    /// `OriginalShared`.
    Original,
    /// A reference to the published message.
    OriginalShared,
    /// A copy of its own.
    Copy,
    /// A reference to the one copy that all sharers share.
    SharedCopy,
}

/// Every buffer's share of one message: three words, computed from counts alone, without
/// allocating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyPlan {
    /// The first buffer with this role gets the original by ownership.
    heir: Option<Role>,
    /// Share of every sharer.
    shared: Disposition,
    copies: usize,
}

impl CopyPlan {
    /// Returns the plan for a message published in this form to these numbers of buffers of each
    /// role.
    #[inline]
    pub(crate) const fn new(form: Ownership, owners: usize, sharers: usize, values: usize) -> Self {
        let own = owners + values;
        match form {
            Ownership::Unique if owners > 0 => Self {
                heir: Some(Role::Owner),
                shared: Disposition::SharedCopy,
                copies: own - 1 + if sharers > 0 { 1 } else { 0 },
            },
            Ownership::Unique if sharers == 0 && values > 0 => {
                Self { heir: Some(Role::Value), shared: Disposition::OriginalShared, copies: own - 1 }
            }
            Ownership::Unique | Ownership::Shared => {
                Self { heir: None, shared: Disposition::OriginalShared, copies: own }
            }
        }
    }

    /// Returns the number of copies made: one per `Copy`, and one for all `SharedCopy` together.
    #[inline]
    pub(crate) const fn copies(&self) -> usize {
        self.copies
    }

    /// Returns the share of the buffer that has `nth` buffers of the same role before it.
    #[inline]
    pub(crate) fn share(&self, role: Role, nth: usize) -> Disposition {
        match role {
            Role::Sharer => self.shared,
            role if nth == 0 && self.heir == Some(role) => Disposition::Original,
            Role::Owner | Role::Value => Disposition::Copy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn plan(form: Ownership, buffers: &[Role]) -> CopyPlan {
        let count = |role| buffers.iter().filter(|&&buffer| buffer == role).count();
        CopyPlan::new(form, count(Role::Owner), count(Role::Sharer), count(Role::Value))
    }

    fn shares(plan: CopyPlan, buffers: &[Role]) -> Vec<Disposition> {
        let nth = |index: usize| buffers[..index].iter().filter(|&&before| before == buffers[index]).count();
        (0..buffers.len()).map(|index| plan.share(buffers[index], nth(index))).collect()
    }

    /// Returns the addresses that buffers in this order get: 1 is the original's, copies are
    /// numbered from 2.
    fn addresses(shares: &[Disposition]) -> Vec<usize> {
        let (mut copies, mut shared_copy) = (1, None);
        let mut copy = || {
            copies += 1;
            copies
        };
        let mut addresses = Vec::new();
        for share in shares {
            addresses.push(match share {
                Disposition::Original | Disposition::OriginalShared => 1,
                Disposition::Copy => copy(),
                Disposition::SharedCopy => *shared_copy.get_or_insert_with(&mut copy),
            });
        }
        addresses
    }

    #[track_caller]
    fn check(form: Ownership, pattern: &str, delivered: &str) {
        let buffers: Vec<_> = pattern
            .split(' ')
            .map(|buffer| match buffer {
                "u" => Role::Owner,
                "s" => Role::Sharer,
                "v" => Role::Value,
                other => panic!("no such buffer: {other}"),
            })
            .collect();
        let plan = plan(form, &buffers);
        let addresses = addresses(&shares(plan, &buffers));
        let text: Vec<_> = addresses.iter().map(|address| format!("@{address}")).collect();
        assert_eq!(text.join(" "), delivered, "{form:?} published to {pattern}");
        let copies = addresses.iter().max().map_or(0, |&last| last - 1);
        assert_eq!(plan.copies(), copies, "{form:?} published to {pattern}");
    }

    /// The published message lies at @1. `u` owns, `s` shares, `v` keeps it by value (where @1
    /// means moved).
    #[test]
    fn the_table() {
        for (buffers, unique, shared) in [
            ("u", "@1", "@2"),
            ("u u", "@1 @2", "@2 @3"),
            ("s", "@1", "@1"),
            ("s s", "@1 @1", "@1 @1"),
            ("u s", "@1 @2", "@2 @1"),
            ("u s s", "@1 @2 @2", "@2 @1 @1"),
            ("u u s s", "@1 @2 @3 @3", "@2 @3 @1 @1"),
            ("v", "@1", "@2"),
            ("v v", "@1 @2", "@2 @3"),
            ("v v v", "@1 @2 @3", "@2 @3 @4"),
            ("s v", "@1 @2", "@1 @2"),
            ("s s v v", "@1 @1 @2 @3", "@1 @1 @2 @3"),
            ("u v", "@1 @2", "@2 @3"),
            ("u v v", "@1 @2 @3", "@2 @3 @4"),
            ("u s v", "@1 @2 @3", "@2 @1 @3"),
            ("u u s s v v", "@1 @2 @3 @3 @4 @5", "@2 @3 @1 @1 @4 @5"),
            // The order of the buffers changes the numbers, not each buffer's share.
            ("s u", "@2 @1", "@1 @2"),
            ("v s u s", "@2 @3 @1 @3", "@2 @1 @3 @1"),
            ("v u u", "@2 @1 @3", "@2 @3 @4"),
        ] {
            check(Ownership::Unique, buffers, unique);
            check(Ownership::Shared, buffers, shared);
        }
    }

    #[test]
    fn without_recipients_no_copy_is_made() {
        for form in [Ownership::Unique, Ownership::Shared] {
            assert_eq!(CopyPlan::new(form, 0, 0, 0).copies(), 0);
        }
    }

    fn form() -> impl Strategy<Value = Ownership> {
        prop_oneof![Just(Ownership::Unique), Just(Ownership::Shared)]
    }

    fn role() -> impl Strategy<Value = Role> {
        prop_oneof![Just(Role::Owner), Just(Role::Sharer), Just(Role::Value)]
    }

    proptest! {
        #[test]
        fn every_reader_is_safe_and_no_copy_is_spare(form in form(), buffers in vec(role(), 0..24)) {
            let plan = plan(form, &buffers);
            let shares = shares(plan, &buffers);
            let count = |wanted| shares.iter().filter(|&&share| share == wanted).count();

            let originals = count(Disposition::Original);
            prop_assert!(originals <= 1);
            prop_assert!(originals == 0 || count(Disposition::OriginalShared) == 0, "a reader next to the owner");
            prop_assert!(originals == 0 || form == Ownership::Unique, "others may hold a shared message");

            for (role, share) in buffers.iter().zip(&shares) {
                let alone = matches!(share, Disposition::Original | Disposition::Copy);
                prop_assert_eq!(alone, *role != Role::Sharer);
            }

            let distinct = count(Disposition::Copy) + usize::from(count(Disposition::SharedCopy) > 0);
            prop_assert_eq!(plan.copies(), distinct);

            // The minimum: one instance for each buffer that keeps its own and one for all sharers.
            // The original serves as one of them, unless it stays shared and no subscription reads
            // it.
            let own = buffers.iter().filter(|&&role| role != Role::Sharer).count();
            let sharers = own < buffers.len();
            let instances = own + usize::from(sharers);
            let original_serves = form == Ownership::Unique || sharers;
            prop_assert_eq!(plan.copies(), instances - usize::from(original_serves && instances > 0));
        }
    }
}
