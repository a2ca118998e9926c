//! The tasks of an executor: which are ready, and which run.
//!
//! The states of a task, and who moves it, are in [`task`](crate::executor::task). A timer waits in
//! the heap of its clock and becomes ready under its due time.

use super::groups::Groups;
use super::heap::index;
use super::ready::GroupKey;
use super::timer_queue::TimerQueue;
use crate::executor::group_token::REENTRANT;
use crate::sys::clock::{ClockKind, Stamp};
use slab::Slab;
use std::mem;

/// A member of a group, in its executor.
#[derive(Clone, Copy)]
pub(crate) struct MemberId {
    pub(crate) index: u32,
    /// Unique: a task in the place of a dropped one is not mistaken for it.
    pub(crate) serial: u64,
}

/// An element of the queue.
pub(crate) trait Queued {
    /// Returns the expected run time of its callback, in nanoseconds.
    fn expected(&self) -> i64;
}

/// All groups of an executor, and their tasks.
pub(crate) struct ReadyQueue<T> {
    groups: Groups,
    members: Slab<MemberEntry<T>>,
    /// Finding the due timers takes more than a look at the first steady one, because there are
    /// timers of other clocks, or groups of different priorities.
    reads_clock: bool,
    timers: TimerQueue,
    /// Whether stamps are of virtual time, which may go back.
    pub(crate) is_virtual: bool,
}

struct MemberEntry<T> {
    slot: u32,
    serial: u64,
    /// Whether it is in its group's heap.
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
            groups: Groups::new(counts_load),
            members: Slab::new(),
            reads_clock: false,
            timers: TimerQueue::new(),
            is_virtual: false,
        }
    }

    // ---- groups and members ----

    #[inline]
    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Makes room for a group; `number` is that of its token, `threads` the number of threads that
    /// run its callbacks at once if it is reentrant.
    pub(crate) fn add_group(&mut self, number: u64, priority: i32, threads: usize) -> u32 {
        let slot = self.groups.add(number, priority, threads);
        self.note_timers();
        slot
    }

    /// Removes a group that all members have left, now or after its last callback.
    pub(crate) fn remove_group(&mut self, slot: u32) {
        self.groups.remove(slot);
        self.note_timers();
    }

    pub(crate) fn set_priority(&mut self, slot: u32, priority: i32) {
        self.groups.set_priority(slot, priority);
        self.note_timers();
        self.place_group(slot);
    }

    /// Gives a task its place. `make` is passed its id and its group's number, and makes what is in
    /// the queue and what is returned.
    pub(crate) fn enter<R>(
        &mut self,
        slot: u32,
        serial: u64,
        make: impl FnOnce(MemberId, u64) -> (T, R),
    ) -> R {
        let group = &mut self.groups[slot];
        group.members += 1;
        group.ready.reserve(group.members as usize); // so that becoming ready never allocates
        let place = self.members.vacant_entry();
        let id = MemberId { index: index(place.key()), serial };
        let (task, result) = make(id, group.number);
        place.insert(MemberEntry { slot, serial, is_ready: false, timer: None, task });
        result
    }

    /// Removes a task. If it runs, [`end`](Self::end) finds it no longer.
    pub(crate) fn leave(&mut self, id: MemberId) -> Option<T> {
        self.entry(id)?;
        self.unready(id);
        let member = self.members.remove(id.index as usize);
        if let Some(timer) = member.timer {
            self.timers.remove(timer);
            self.note_timers();
        }
        if let Some(group) = self.groups.get_mut(member.slot) {
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

    /// Returns all tasks, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        self.members.iter().map(|(_, member)| &member.task)
    }

    // ---- becoming ready ----

    /// Makes a task ready. Returns `true` if its group became ready by that.
    #[inline]
    pub(crate) fn make_ready(&mut self, id: MemberId, key: Stamp) -> bool {
        self.entry(id).is_some() && self.ready_member(id.index, key) // else it left
    }

    #[inline]
    fn ready_member(&mut self, id: u32, key: Stamp) -> bool {
        let member = &mut self.members[id as usize];
        if mem::replace(&mut member.is_ready, true) {
            return false; // sticky: it keeps the key under which it waits
        }
        let expected = member.task.expected();
        let slot = member.slot;
        self.groups.push(slot, (key, id), expected)
    }

    /// Makes a task no longer ready, because it has no work.
    pub(crate) fn unready(&mut self, id: MemberId) {
        if let Some(member) = entry_mut(&mut self.members, id)
            && mem::take(&mut member.is_ready)
        {
            let slot = member.slot;
            if let Some(group) = self.groups.get_mut(slot) {
                group.ready.remove(id.index);
            }
            self.place_group(slot);
        }
    }

    /// Updates the executor's heap from the group's.
    fn place_group(&mut self, slot: u32) {
        let members = &self.members;
        self.groups.place(slot, |member| members[member as usize].task.expected());
    }

    // ---- ready tasks ----

    /// Returns all ready tasks of free groups with their keys, in no particular order.
    pub(crate) fn ready(&self) -> impl Iterator<Item = (GroupKey, MemberId, &T)> + '_ {
        self.groups.ready().flat_map(move |((priority, _), slot)| {
            self.groups[slot].ready.iter().map(move |(key, index)| {
                let member = &self.members[index as usize];
                ((priority, key), MemberId { index, serial: member.serial }, &member.task)
            })
        })
    }

    /// Whether nothing of a task's group is ready or runs.
    pub(crate) fn is_idle(&self, id: MemberId) -> bool {
        let group = self.entry(id).and_then(|member| self.groups.get(member.slot));
        group.is_some_and(|group| group.ready.first().is_none() && group.running == 0)
    }

    /// Returns the task that a thread may run while it waits for `id`, for at most `within`: the
    /// first one of that task's group, which may be older, if the task has work and the group is
    /// free. A thread from outside (not `nested`) gets it only if the executor would run it next,
    /// and it is known to finish in time.
    pub(crate) fn runnable(&self, id: MemberId, nested: bool, within: i64) -> Option<MemberId> {
        let member = self.entry(id)?;
        let group = self.groups.get(member.slot)?;
        if !member.is_ready || group.running != 0 {
            return None;
        }
        let (_, first) = group.ready.first()?;
        let is_next = || self.groups.first().is_some_and(|(_, slot)| slot == member.slot);
        let in_time = nested || (first == id.index && is_next() && member.task.expected() <= within);
        in_time.then(|| MemberId { index: first, serial: self.members[first as usize].serial })
    }

    /// Whether a task with this key was ready at the limit. Virtual time may have gone back since
    /// then, but the order of stamps never does.
    fn in_time(&self, key: Stamp, limit: Stamp) -> bool {
        if self.is_virtual && key.order != 0 { key.order <= limit.order } else { key <= limit }
    }

    // ---- running ----

    /// Takes out the next task to run, with its key: the task with the oldest key in the group of
    /// the highest priority, not after `limit`. The caller then [begins](Self::begin) it.
    #[inline]
    pub(crate) fn pop(&mut self, limit: Option<Stamp>) -> Option<(Stamp, u32)> {
        let ((_, first), mut slot) = self.groups.first()?;
        if let Some(limit) = limit
            && !self.in_time(first, limit)
        {
            // Tasks that were ready at the limit may stand behind a group of higher priority that
            // has become ready since.
            slot = self.groups.first_that(|key| self.in_time(key, limit))?;
        }
        self.groups[slot].ready.pop()
    }

    /// Takes out a certain task, if it exists and is ready, and its group is free. The caller then
    /// [begins](Self::begin) it.
    pub(crate) fn pop_this(&mut self, id: MemberId) -> bool {
        let Some(&MemberEntry { slot, is_ready, .. }) = self.entry(id) else { return false };
        let group = &mut self.groups[slot];
        if !is_ready || group.running != 0 {
            return false;
        }
        group.ready.remove(id.index);
        true
    }

    /// Begins to run a task that was taken out, or is idle in an idle group.
    #[inline]
    pub(crate) fn begin(&mut self, index: u32) -> (Turn, &mut T) {
        let MemberEntry { slot, serial, is_ready, .. } = &mut self.members[index as usize];
        *is_ready = false;
        let (slot, serial) = (*slot, *serial);
        let number = self.groups.begin(slot, serial);
        if number == REENTRANT {
            self.place_group(slot); // it may have more to do
        }
        let turn = Turn { id: MemberId { index, serial }, slot, group: number };
        (turn, &mut self.members[index as usize].task)
    }

    /// Ends a callback; `next` is the stamp of its task's next work. Returns the task, unless it
    /// left while it ran.
    #[inline]
    pub(crate) fn end(&mut self, turn: &Turn, next: Option<Stamp>) -> Option<&mut T> {
        let Turn { id, slot, .. } = *turn;
        let group = &mut self.groups[slot];
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

    /// Marks a task as running that was never taken out. Returns its group's place.
    pub(crate) fn mark_running(&mut self, id: MemberId) -> Option<u32> {
        let slot = self.entry(id)?.slot;
        self.groups[slot].running = id.serial;
        self.place_group(slot);
        Some(slot)
    }

    /// Ends the turn of an exclusive group.
    pub(crate) fn end_turn(&mut self, slot: u32) {
        self.groups[slot].running = 0;
        self.place_after_turn(slot);
    }

    /// Ends a turn of a group: places the group in the heap, or removes it.
    #[inline]
    fn place_after_turn(&mut self, slot: u32) {
        let group = &self.groups[slot];
        if group.leaves && !group.is_running() {
            self.groups.forget(slot);
            self.note_timers();
        } else if group.ready.first().is_some() {
            self.place_group(slot);
        }
    }

    // ---- timers ----

    pub(crate) fn timers(&self) -> &TimerQueue {
        &self.timers
    }

    /// Whether the clocks must be read to find timers that are due before the first ready task.
    #[inline]
    pub(crate) fn reads_clock(&self) -> bool {
        self.reads_clock
    }

    /// Sets the due time of a timer; until then its task is not ready any more. Returns `true` if
    /// it is due before all others of its clock.
    pub(crate) fn set_timer(&mut self, id: MemberId, clock: ClockKind, due: Option<i64>) -> bool {
        self.unready(id);
        let Some(member) = entry_mut(&mut self.members, id) else { return false };
        let is_first = self.timers.set(&mut member.timer, id.index, (clock, due));
        self.note_timers();
        is_first
    }

    /// Makes the timers of a clock ready that are due at `now`; `to_steady` converts its times to
    /// steady ones.
    #[inline(never)]
    pub(crate) fn fire(&mut self, clock: ClockKind, now: i64, to_steady: i64) {
        while let Some((member, due)) = self.timers.pop(clock, now) {
            self.ready_member(member, Stamp::due(due.saturating_add(to_steady)));
        }
        self.note_timers();
    }

    /// Brings `reads_clock` up to date.
    fn note_timers(&mut self) {
        let has_steady = self.timers.first_due() != i64::MAX;
        self.reads_clock = self.timers.has_other_clocks() || (self.groups.have_priorities() && has_steady);
    }
}

/// Borrows only the members, so that the caller can change an entry together with its group.
#[inline]
fn entry_mut<T>(members: &mut Slab<MemberEntry<T>>, id: MemberId) -> Option<&mut MemberEntry<T>> {
    members.get_mut(id.index as usize).filter(|member| member.serial == id.serial)
}
