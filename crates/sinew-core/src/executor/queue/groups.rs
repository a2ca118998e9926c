//! The groups of an executor: which ones are ready, in which order, and how much work they have.
//!
//! A group is in the executor's heap while it has ready tasks and none that runs, under (priority,
//! oldest key).

use super::heap::index;
use super::ready::{GroupKey, ReadyGroups, ReadyMembers};
use crate::executor::group_token::REENTRANT;
use crate::sys::clock::Stamp;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;
use std::ops::{Index, IndexMut};

/// Time that a callback of unknown duration adds to the expected work.
const UNKNOWN_LOAD: i64 = 1_000_000_000;

/// All groups of an executor.
pub(crate) struct Groups {
    ready: ReadyGroups,
    entries: Slab<GroupEntry>,
    /// Expected time of the callbacks that are ready.
    load: i64,
    /// Whether that time is counted: only if the executor has several threads.
    counts_load: bool,
    /// Number of groups of each priority.
    priorities: BTreeMap<i32, usize>,
}

/// A group.
pub(crate) struct GroupEntry {
    /// The number of its token.
    pub(super) number: u64,
    /// The serial number of the member with the running callback; 0 for none, and always in a
    /// reentrant group.
    pub(super) running: u64,
    pub(super) ready: ReadyMembers,
    pub(super) priority: i32,
    pub(super) members: u32,
    /// The group is gone; the entry goes when its last callback has finished.
    pub(super) leaves: bool,
    /// Time that it adds to the load while it is ready.
    pub(super) load: i64,
    /// The serial numbers of a reentrant group's members with running callbacks.
    pub(super) concurrent: Vec<u64>,
}

impl GroupEntry {
    pub(super) fn is_running(&self) -> bool {
        self.running != 0 || !self.concurrent.is_empty()
    }
}

impl Groups {
    pub(super) fn new(counts_load: bool) -> Self {
        let (ready, entries, priorities) = (ReadyGroups::new(), Slab::new(), BTreeMap::new());
        Self { ready, entries, load: 0, counts_load, priorities }
    }

    pub(super) fn get(&self, slot: u32) -> Option<&GroupEntry> {
        self.entries.get(slot as usize)
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut GroupEntry> {
        self.entries.get_mut(slot as usize)
    }

    /// Number of groups.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Makes room for a group; `number` is that of its token, `threads` the number of threads that
    /// run its callbacks at once if it is reentrant.
    pub(super) fn add(&mut self, number: u64, priority: i32, threads: usize) -> u32 {
        let concurrent = if number == REENTRANT { Vec::with_capacity(threads) } else { Vec::new() };
        let slot = index(self.entries.insert(GroupEntry {
            number,
            running: 0,
            ready: ReadyMembers::default(),
            priority,
            members: 0,
            leaves: false,
            load: 0,
            concurrent,
        }));
        self.ready.reserve(slot + 1);
        self.count_priority(None, Some(priority));
        slot
    }

    /// Forgets a group that all members have left, now or when its last callback has finished.
    pub(super) fn remove(&mut self, slot: u32) {
        let Some(group) = self.get_mut(slot) else { return };
        group.leaves = group.is_running();
        if !group.leaves {
            self.forget(slot);
        }
    }

    pub(super) fn forget(&mut self, slot: u32) {
        self.ready.remove(slot);
        if let Some(mut gone) = self.entries.try_remove(slot as usize) {
            count_load(&mut self.load, &mut gone, 0);
            self.count_priority(Some(gone.priority), None);
        }
    }

    /// The caller then [places](Self::place) it.
    pub(super) fn set_priority(&mut self, slot: u32, priority: i32) {
        let Some(group) = self.get_mut(slot) else { return };
        let before = mem::replace(&mut group.priority, priority);
        self.count_priority(Some(before), Some(priority));
    }

    /// Records a change of a group's priority: from none for a new group, to none for a removed
    /// one.
    fn count_priority(&mut self, from: Option<i32>, to: Option<i32>) {
        if let Some(to) = to {
            *self.priorities.entry(to).or_default() += 1;
        }
        if let Some(from) = from
            && let Some(count) = self.priorities.get_mut(&from)
        {
            *count -= 1;
            if *count == 0 {
                self.priorities.remove(&from);
            }
        }
    }

    // ---- ready groups ----

    /// Returns the ready groups with their keys of order; the list itself has no order.
    pub(super) fn ready(&self) -> impl Iterator<Item = (GroupKey, u32)> + '_ {
        self.ready.iter()
    }

    /// Returns the first group, and its key of order.
    #[inline]
    pub(super) fn first(&self) -> Option<(GroupKey, u32)> {
        self.ready.first()
    }

    /// Returns the group with the oldest stamp that passes.
    #[inline(never)]
    pub(super) fn first_that(&self, passes: impl Fn(Stamp) -> bool) -> Option<u32> {
        let all = self.ready.iter().filter(|((_, key), _)| passes(*key));
        all.min_by_key(|(key, _)| *key).map(|(_, slot)| slot)
    }

    /// Returns the oldest stamp in the first group.
    #[inline]
    pub(crate) fn first_key(&self) -> Option<Stamp> {
        self.first().map(|((_, key), _)| key)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.first().is_none()
    }

    /// Number of groups that are ready.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    /// Returns the expected time of the callbacks that are ready, for an executor with several
    /// threads.
    #[inline]
    pub(crate) fn load(&self) -> i64 {
        self.load
    }

    /// Whether groups have different priorities.
    #[inline]
    pub(crate) fn have_priorities(&self) -> bool {
        self.priorities.len() > 1
    }

    /// Whether a member's callback runs, also if it has left meanwhile.
    pub(crate) fn runs(&self, serial: u64) -> bool {
        // This is asked rarely, so it searches all groups.
        self.entries.iter().any(|(_, group)| group.running == serial || group.concurrent.contains(&serial))
    }

    /// Whether the group with this number has left, and its last callback runs.
    pub(crate) fn still_runs(&self, slot: u32, number: u64) -> bool {
        self.get(slot).is_some_and(|group| group.leaves && group.number == number)
    }

    /// Adds a ready task with its expected time to a group. Returns `true` if the group became
    /// ready by that.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, (key, id): (Stamp, u32), expected: i64) -> bool {
        let Some(group) = self.entries.get_mut(slot as usize) else { return false };
        let was_ready = group.ready.first().is_some();
        if !group.ready.push(key, id) || group.running != 0 {
            return false;
        }
        self.ready.update(slot, (Reverse(group.priority), key));
        if self.counts_load {
            count_load(&mut self.load, group, expected);
        }
        !was_ready
    }

    /// Brings the executor's heap in line with the group's; `expected` returns how long a task is
    /// expected to take.
    #[inline]
    pub(super) fn place(&mut self, slot: u32, expected: impl FnOnce(u32) -> i64) {
        let Some(group) = self.entries.get_mut(slot as usize) else { return };
        match group.ready.first() {
            Some((key, member)) if group.running == 0 => {
                self.ready.update(slot, (Reverse(group.priority), key));
                if self.counts_load {
                    count_load(&mut self.load, group, expected(member));
                }
            }
            _ => {
                self.ready.remove(slot);
                count_load(&mut self.load, group, 0);
            }
        }
    }

    /// Marks a task of a group as running. Returns the group's number. The caller then
    /// [places](Self::place) a reentrant group, which may have more ready tasks.
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, serial: u64) -> u64 {
        let group = &mut self.entries[slot as usize];
        if group.number == REENTRANT {
            group.concurrent.push(serial);
        } else {
            group.running = serial;
            self.ready.remove(slot);
            count_load(&mut self.load, group, 0);
        }
        group.number
    }
}

impl Index<u32> for Groups {
    type Output = GroupEntry;

    #[inline]
    fn index(&self, slot: u32) -> &GroupEntry {
        &self.entries[slot as usize]
    }
}

impl IndexMut<u32> for Groups {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut GroupEntry {
        &mut self.entries[slot as usize]
    }
}

#[inline]
fn count_load(load: &mut i64, group: &mut GroupEntry, expected: i64) {
    let expected = expected.min(UNKNOWN_LOAD);
    *load += expected - mem::replace(&mut group.load, expected);
}
