//! The two queues: the ready members of a group, and the ready groups of an executor.
//!
//! Both keep their first entry outside the heap behind it. Most of the time no other entry is
//! ready, so a wake-up touches the few bytes of that entry instead of two or three vectors
//! elsewhere in memory. With cold caches, as after every sleep, that memory dominates the cost.

use super::heap::Heap;
use crate::sys::clock::Stamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Members behind the first.
type Rest = BinaryHeap<Reverse<(Stamp, u32)>>;

/// A group's ready members, oldest first.
#[derive(Default)]
pub(crate) struct ReadyMembers {
    /// The oldest one, if there is any.
    first: Option<(Stamp, u32)>,
    rest: Option<Box<Rest>>,
}

impl ReadyMembers {
    /// Reserves memory, so that with `members` in the group, none allocates when it becomes ready.
    pub(crate) fn reserve(&mut self, members: usize) {
        if members > 1 {
            let rest = self.rest.get_or_insert_default();
            rest.reserve(members - rest.len());
        }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<(Stamp, u32)> {
        self.first
    }

    /// Adds a member that is not ready yet. Returns `true` if it is the first one now.
    #[inline]
    pub(crate) fn push(&mut self, key: Stamp, member: u32) -> bool {
        let Some(first) = self.first else {
            self.first = Some((key, member));
            return true;
        };
        let is_first = key < first.0;
        let later = if is_first { self.first.replace((key, member)).unwrap_or(first) } else { (key, member) };
        self.rest.get_or_insert_default().push(Reverse(later));
        is_first
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Stamp, u32)> {
        let first = self.first?;
        self.first = match &mut self.rest {
            None => None,
            Some(rest) => rest.pop().map(|Reverse(next)| next),
        };
        Some(first)
    }

    /// Returns every ready member, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Stamp, u32)> + '_ {
        let rest = self.rest.iter().flat_map(|rest| rest.iter().map(|Reverse(member)| *member));
        self.first.into_iter().chain(rest)
    }

    /// Removes a member. O(number of ready members), but entities rarely leave, and timers are
    /// rarely reset.
    pub(crate) fn remove(&mut self, member: u32) {
        match (self.first, &mut self.rest) {
            (Some((_, first)), _) if first == member => drop(self.pop()),
            (_, Some(rest)) => rest.retain(|Reverse((_, other))| *other != member),
            _ => {}
        }
    }
}

/// The order of groups: priority, then the stamp of the oldest work.
pub(crate) type GroupKey = (Reverse<i32>, Stamp);

/// An executor's ready groups: highest priority first, among equals the oldest.
pub(crate) struct ReadyGroups {
    /// The first one, if there is any.
    first: Option<(GroupKey, u32)>,
    rest: Heap<GroupKey>,
}

impl ReadyGroups {
    pub(crate) fn new() -> Self {
        Self { first: None, rest: Heap::new() }
    }

    /// Reserves memory for slots below `slots`.
    pub(crate) fn reserve(&mut self, slots: u32) {
        self.rest.reserve(slots);
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<(GroupKey, u32)> {
        self.first
    }

    /// Adds a group, or gives it another key.
    #[inline]
    pub(crate) fn update(&mut self, slot: u32, key: GroupKey) {
        match self.first {
            None => self.first = Some((key, slot)),
            Some(_) => self.update_among(slot, key),
        }
    }

    fn update_among(&mut self, slot: u32, key: GroupKey) {
        self.remove(slot);
        match self.first {
            Some(first) if first.0 <= key => self.rest.push(slot, key),
            before => {
                self.first = Some((key, slot));
                if let Some((key, slot)) = before {
                    self.rest.push(slot, key);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        match self.first {
            Some((_, first)) if first == slot => self.first = self.rest.pop(),
            Some(_) => drop(self.rest.remove(slot)),
            None => {}
        }
    }

    /// Returns every ready group, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (GroupKey, u32)> + '_ {
        self.first.into_iter().chain(self.rest.iter().map(|(slot, key)| (key, slot)))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn stamp(time: i64) -> Stamp {
        Stamp { time, order: 1 }
    }

    proptest! {
        #[test]
        fn members_come_out_oldest_first(ops in prop::collection::vec((0..4u8, 0..8u32, 0..50i64), 0..200)) {
            let (mut members, mut model) = (ReadyMembers::default(), BTreeMap::new());
            for (op, member, time) in ops {
                match op {
                    0 | 1 if !model.contains_key(&member) => {
                        let is_first = members.push(stamp(time), member);
                        model.insert(member, stamp(time));
                        prop_assert_eq!(is_first, members.first() == Some((stamp(time), member)));
                    }
                    2 => {
                        let popped = members.pop();
                        prop_assert_eq!(popped.map(|(key, _)| key), model.values().min().copied());
                        if let Some((_, member)) = popped {
                            model.remove(&member);
                        }
                    }
                    3 => {
                        members.remove(member);
                        model.remove(&member);
                    }
                    _ => {}
                }
                prop_assert_eq!(members.first().map(|(key, _)| key), model.values().min().copied());
            }
        }

        #[test]
        fn groups_come_out_by_priority_then_age(ops in prop::collection::vec((0..3u8, 0..8u32, -1..2i32, 0..50i64), 0..200)) {
            let (mut groups, mut model) = (ReadyGroups::new(), BTreeMap::new());
            for (op, slot, priority, time) in ops {
                let key = (Reverse(priority), stamp(time));
                match op {
                    0 | 1 => {
                        groups.update(slot, key);
                        model.insert(slot, key);
                    }
                    _ => {
                        groups.remove(slot);
                        model.remove(&slot);
                    }
                }
                prop_assert_eq!(groups.first().map(|(key, _)| key), model.values().min().copied());
                let mut all: Vec<_> = groups.iter().map(|(key, slot)| (slot, key)).collect();
                all.sort();
                prop_assert_eq!(all, model.iter().map(|(slot, key)| (*slot, *key)).collect::<Vec<_>>());
            }
        }
    }
}
