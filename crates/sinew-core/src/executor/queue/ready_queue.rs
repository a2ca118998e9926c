//! Groups, their tasks, what is ready and what runs.
//!
//! The states of a task, and who moves it, are in [`task`](crate::executor::task). A group is in the
//! executor's heap while it has ready tasks and none that runs, under (priority, oldest key). A timer
//! waits in the heap of its clock and becomes ready under its due time.

use super::heap::index;
use super::ready::{GroupKey, ReadyGroups, ReadyMembers};
use super::timer_queue::TimerQueue;
use crate::executor::group_token::REENTRANT;
use crate::sys::clock::{ClockKind, Stamp};
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;

/// What an unknown callback adds to the expected work.
const UNKNOWN_LOAD: i64 = 1_000_000_000;

/// A member of a group, in its executor.
#[derive(Clone, Copy)]
pub(crate) struct MemberId {
    pub(crate) index: u32,
    /// Never given twice: a task that took over the place of a dropped one is not mistaken for it.
    pub(crate) serial: u64,
}

/// What is in the queue.
pub(crate) trait Queued {
    /// The expected run time of its callback, in nanoseconds.
    fn expected(&self) -> i64;
}

/// All groups of an executor, and their tasks.
pub(crate) struct ReadyQueue<T> {
    ready: ReadyGroups,
    groups: Slab<GroupEntry>,
    members: Slab<MemberEntry<T>>,
    /// How long the callbacks that are ready are expected to take.
    load: i64,
    /// Whether that is counted: by an executor with several threads.
    counts_load: bool,
    /// Which timers are due takes more than a look at the first steady one: there are timers of
    /// other clocks, or groups of different priorities.
    reads_clock: bool,
    timers: TimerQueue,
    /// How many groups have which priority.
    priorities: BTreeMap<i32, usize>,
    /// Stamps are of virtual time, which may go back.
    is_virtual: bool,
}

struct GroupEntry {
    /// What its token opens.
    number: u64,
    /// The serial number of the member with the running callback; 0 for none, and always in a
    /// reentrant group.
    running: u64,
    ready: ReadyMembers,
    priority: i32,
    members: u32,
    /// The group is gone; the entry goes when its last callback has finished.
    leaves: bool,
    /// What it adds to the load while it is ready.
    load: i64,
    /// The serial numbers of a reentrant group's members with running callbacks.
    concurrent: Vec<u64>,
}

impl GroupEntry {
    fn is_running(&self) -> bool {
        self.running != 0 || !self.concurrent.is_empty()
    }
}

struct MemberEntry<T> {
    slot: u32,
    serial: u64,
    /// It is in its group's heap.
    is_ready: bool,
    timer: Option<u32>,
    task: T,
}

/// A task that begins to run.
pub(crate) struct Turn {
    pub(crate) id: MemberId,
    /// Its group's place.
    pub(crate) slot: u32,
    /// Its group's number.
    pub(crate) group: u64,
}

impl<T: Queued> ReadyQueue<T> {
    pub(crate) fn new(counts_load: bool) -> Self {
        Self {
            ready: ReadyGroups::new(),
            groups: Slab::new(),
            members: Slab::new(),
            load: 0,
            counts_load,
            reads_clock: false,
            timers: TimerQueue::new(),
            priorities: BTreeMap::new(),
            is_virtual: false,
        }
    }

    /// Whether its stamps are of virtual time.
    pub(crate) fn set_virtual(&mut self, is_virtual: bool) {
        self.is_virtual = is_virtual;
    }

    pub(crate) fn is_virtual(&self) -> bool {
        self.is_virtual
    }

    // ---- groups and members ----

    /// Makes room for a group; `number` is that of its token, `threads` the number of threads that
    /// run its callbacks at once if it is reentrant.
    pub(crate) fn add_group(&mut self, number: u64, priority: i32, threads: usize) -> u32 {
        let concurrent = if number == REENTRANT { Vec::with_capacity(threads) } else { Vec::new() };
        let slot = index(self.groups.insert(GroupEntry {
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
    pub(crate) fn remove_group(&mut self, slot: u32) {
        let Some(group) = self.groups.get_mut(slot as usize) else { return };
        group.leaves = group.is_running();
        if !group.leaves {
            self.forget_group(slot);
        }
    }

    fn forget_group(&mut self, slot: u32) {
        self.ready.remove(slot);
        if let Some(mut gone) = self.groups.try_remove(slot as usize) {
            count_load(&mut self.load, &mut gone, 0);
            self.count_priority(Some(gone.priority), None);
        }
    }

    pub(crate) fn set_priority(&mut self, slot: u32, priority: i32) {
        let Some(group) = self.groups.get_mut(slot as usize) else { return };
        let before = mem::replace(&mut group.priority, priority);
        self.count_priority(Some(before), Some(priority));
        self.place_group(slot);
    }

    /// Number of groups.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Gives a task its place. `make` is passed its id and its group's number, and makes what is in
    /// the queue and what is returned.
    pub(crate) fn enter<R>(
        &mut self,
        slot: u32,
        serial: u64,
        make: impl FnOnce(MemberId, u64) -> (T, R),
    ) -> R {
        let group = &mut self.groups[slot as usize];
        group.members += 1;
        group.ready.reserve(group.members as usize); // so that becoming ready never allocates
        let place = self.members.vacant_entry();
        let id = MemberId { index: index(place.key()), serial };
        let (task, result) = make(id, group.number);
        place.insert(MemberEntry { slot, serial, is_ready: false, timer: None, task });
        result
    }

    /// Takes a task out. One that runs is then [no longer found](Self::end).
    pub(crate) fn leave(&mut self, id: MemberId) -> Option<T> {
        self.entry(id)?;
        self.unready(id);
        let member = self.members.remove(id.index as usize);
        if let Some(timer) = member.timer {
            self.timers.remove(timer);
            self.note_timers();
        }
        if let Some(group) = self.groups.get_mut(member.slot as usize) {
            group.members -= 1;
        }
        Some(member.task)
    }

    #[inline]
    fn entry(&self, id: MemberId) -> Option<&MemberEntry<T>> {
        self.members.get(id.index as usize).filter(|member| member.serial == id.serial)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: MemberId) -> Option<&mut T> {
        entry_mut(&mut self.members, id).map(|member| &mut member.task)
    }

    /// All tasks, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        self.members.iter().map(|(_, member)| &member.task)
    }

    // ---- becoming ready ----

    /// A task has something to do. True if its group is ready now and wasn't.
    #[inline]
    pub(crate) fn make_ready(&mut self, id: MemberId, key: Stamp) -> bool {
        self.entry(id).is_some() && self.ready_member(id.index, key) // else it left
    }

    #[inline]
    fn ready_member(&mut self, id: u32, key: Stamp) -> bool {
        let member = &mut self.members[id as usize];
        if mem::replace(&mut member.is_ready, true) {
            return false; // sticky: it keeps the key under which it is waiting
        }
        let expected = member.task.expected();
        let slot = member.slot;
        let Some(group) = self.groups.get_mut(slot as usize) else { return false };
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

    /// A task has nothing to do any more.
    pub(crate) fn unready(&mut self, id: MemberId) {
        if let Some(member) = entry_mut(&mut self.members, id)
            && mem::take(&mut member.is_ready)
        {
            let slot = member.slot;
            if let Some(group) = self.groups.get_mut(slot as usize) {
                group.ready.remove(id.index);
            }
            self.place_group(slot);
        }
    }

    /// Brings the executor's heap in line with the group's.
    fn place_group(&mut self, slot: u32) {
        let Some(group) = self.groups.get_mut(slot as usize) else { return };
        match group.ready.first() {
            Some((key, member)) if group.running == 0 => {
                self.ready.update(slot, (Reverse(group.priority), key));
                if self.counts_load {
                    count_load(&mut self.load, group, self.members[member as usize].task.expected());
                }
            }
            _ => {
                self.ready.remove(slot);
                count_load(&mut self.load, group, 0);
            }
        }
    }

    // ---- what is ready ----

    /// All tasks that are ready and whose groups are free, with what they are ordered by; in no
    /// particular order.
    pub(crate) fn ready(&self) -> impl Iterator<Item = (GroupKey, MemberId, &T)> + '_ {
        self.ready.iter().flat_map(move |((priority, _), slot)| {
            self.groups[slot as usize].ready.iter().map(move |(key, index)| {
                let member = &self.members[index as usize];
                ((priority, key), MemberId { index, serial: member.serial }, &member.task)
            })
        })
    }

    /// The stamp of what is first.
    #[inline]
    pub(crate) fn first_key(&self) -> Option<Stamp> {
        self.ready.first().map(|((_, key), _)| key)
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

    /// How long the callbacks that are ready are expected to take; of an executor with several
    /// threads.
    #[inline]
    pub(crate) fn load(&self) -> i64 {
        self.load
    }

    /// Whether groups have different priorities.
    #[inline]
    pub(crate) fn has_priorities(&self) -> bool {
        self.priorities.len() > 1
    }

    /// Whether nothing of a task's group is ready or runs.
    pub(crate) fn is_idle(&self, id: MemberId) -> bool {
        let group = self.entry(id).and_then(|member| self.groups.get(member.slot as usize));
        group.is_some_and(|group| group.ready.first().is_none() && group.running == 0)
    }

    /// What a thread may run that waits for a task, at most for `within`: if it has something to do
    /// and its group is free, what comes first in its group, which may be older than that. A thread
    /// from outside (not `nested`) only if the executor would run just this next, and it is known to
    /// be done in time.
    pub(crate) fn runnable(&self, id: MemberId, nested: bool, within: i64) -> Option<u32> {
        let member = self.entry(id)?;
        let group = self.groups.get(member.slot as usize)?;
        if !member.is_ready || group.running != 0 {
            return None;
        }
        let (_, first) = group.ready.first()?;
        let is_next = || self.ready.first().is_some_and(|(_, slot)| slot == member.slot);
        let in_time = nested || (first == id.index && is_next() && member.task.expected() <= within);
        in_time.then_some(first)
    }

    /// Whether a member's callback runs, also if it has left meanwhile.
    pub(crate) fn runs(&self, serial: u64) -> bool {
        // Rarely: so the running member is looked for among all groups.
        self.groups.iter().any(|(_, group)| group.running == serial || group.concurrent.contains(&serial))
    }

    /// Whether what has this key was ready at the limit. Virtual time may have gone back since: its
    /// stamps' order doesn't.
    fn in_time(&self, key: Stamp, limit: Stamp) -> bool {
        if self.is_virtual && key.order != 0 { key.order <= limit.order } else { key <= limit }
    }

    // ---- running ----

    /// Takes out the next task to run, with its key: of the group of the highest priority the one
    /// with the oldest key, not after `limit`. It is then to [`begin`](Self::begin).
    #[inline]
    pub(crate) fn pop(&mut self, limit: Option<Stamp>) -> Option<(Stamp, u32)> {
        let ((_, first), mut slot) = self.ready.first()?;
        if let Some(limit) = limit
            && !self.in_time(first, limit)
        {
            // What was ready at the limit may stand behind a group of higher priority that became
            // ready since.
            let in_time = self.ready.iter().filter(|((_, key), _)| self.in_time(*key, limit));
            slot = in_time.min_by_key(|(key, _)| *key)?.1;
        }
        self.groups[slot as usize].ready.pop()
    }

    /// Takes out a certain task, if it is ready and its group free. It is then to
    /// [`begin`](Self::begin).
    pub(crate) fn pop_member(&mut self, index: u32) -> bool {
        let Some(member) = self.members.get(index as usize) else { return false };
        let group = &mut self.groups[member.slot as usize];
        if !member.is_ready || group.running != 0 {
            return false;
        }
        group.ready.remove(index);
        true
    }

    /// Takes out a certain task, if it is there and ready and its group free. It is then to
    /// [`begin`](Self::begin).
    pub(crate) fn pop_this(&mut self, id: MemberId) -> bool {
        self.entry(id).is_some() && self.pop_member(id.index)
    }

    /// A task that was taken out, or is idle in an idle group, begins to run.
    #[inline]
    pub(crate) fn begin(&mut self, index: u32) -> (Turn, &mut T) {
        let MemberEntry { slot, serial, is_ready, .. } = &mut self.members[index as usize];
        *is_ready = false;
        let (slot, serial) = (*slot, *serial);
        let group = &mut self.groups[slot as usize];
        let number = group.number;
        if number == REENTRANT {
            group.concurrent.push(serial);
            self.place_group(slot); // it may have more to do
        } else {
            group.running = serial;
            self.ready.remove(slot);
            count_load(&mut self.load, group, 0);
        }
        let turn = Turn { id: MemberId { index, serial }, slot, group: number };
        (turn, &mut self.members[index as usize].task)
    }

    /// A callback has ended; `next` is the stamp of what its task has to do next. Returns the task,
    /// if it hasn't left while it ran.
    #[inline]
    pub(crate) fn end(&mut self, turn: &Turn, next: Option<Stamp>) -> Option<&mut T> {
        let Turn { id, slot, .. } = *turn;
        let group = &mut self.groups[slot as usize];
        if group.number == REENTRANT {
            if let Some(place) = group.concurrent.iter().position(|&other| other == id.serial) {
                group.concurrent.swap_remove(place);
            }
        } else {
            group.running = 0;
        }
        if let (Some(member), Some(key)) = (entry_mut(&mut self.members, id), next)
            && !mem::replace(&mut member.is_ready, true)
        {
            group.ready.push(key, id.index);
        }
        self.place_after_turn(slot);
        self.get_mut(id)
    }

    /// A task runs that was never taken out. Returns its group's place.
    pub(crate) fn mark_running(&mut self, id: MemberId) -> Option<u32> {
        let slot = self.entry(id)?.slot;
        self.groups[slot as usize].running = id.serial;
        self.place_group(slot);
        Some(slot)
    }

    /// The turn of an exclusive group is over.
    pub(crate) fn end_turn(&mut self, slot: u32) {
        self.groups[slot as usize].running = 0;
        self.place_after_turn(slot);
    }

    /// A turn of a group is over: the group's place in the heap, or its end.
    #[inline]
    fn place_after_turn(&mut self, slot: u32) {
        let group = &self.groups[slot as usize];
        if group.leaves && !group.is_running() {
            self.forget_group(slot);
        } else if group.ready.first().is_some() {
            self.place_group(slot);
        }
    }

    // ---- timers ----

    pub(crate) fn timers(&self) -> &TimerQueue {
        &self.timers
    }

    /// Whether it takes a look at the clocks to know which timers are due before what is ready.
    #[inline]
    pub(crate) fn reads_clock(&self) -> bool {
        self.reads_clock
    }

    /// Sets when a timer is due; before that nothing of it is ready any more. True if that is
    /// before all others of its clock.
    pub(crate) fn set_timer(&mut self, id: MemberId, clock: ClockKind, due: Option<i64>) -> bool {
        self.unready(id);
        let Some(member) = entry_mut(&mut self.members, id) else { return false };
        let is_first = self.timers.set(&mut member.timer, id.index, (clock, due));
        self.note_timers();
        is_first
    }

    /// Makes the timers of a clock ready that are due at `now`; `to_steady` is what brings its
    /// times to steady ones.
    pub(crate) fn fire(&mut self, clock: ClockKind, now: i64, to_steady: i64) {
        while let Some((member, due)) = self.timers.pop(clock, now) {
            self.ready_member(member, Stamp::due(due.saturating_add(to_steady)));
        }
        self.note_timers();
    }

    /// A group's priority changes, from none if it comes, to none if it goes.
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
        self.note_timers();
    }

    /// Brings `reads_clock` up to date.
    fn note_timers(&mut self) {
        let has_steady = self.timers.first_due() != i64::MAX;
        self.reads_clock = self.timers.has_other_clocks() || (self.has_priorities() && has_steady);
    }
}

/// Borrows the members alone: what is found is changed together with its group.
#[inline]
fn entry_mut<T>(members: &mut Slab<MemberEntry<T>>, id: MemberId) -> Option<&mut MemberEntry<T>> {
    members.get_mut(id.index as usize).filter(|member| member.serial == id.serial)
}

#[inline]
fn count_load(load: &mut i64, group: &mut GroupEntry, expected: i64) {
    let expected = expected.min(UNKNOWN_LOAD);
    *load += expected - mem::replace(&mut group.load, expected);
}
