//! What an executor knows: its groups and their members, what is ready, the timers, its workers.
//! One lock guards it all.

use super::bells::Bells;
use super::error::SpinError;
use super::group_token::{GroupToken, REENTRANT};
use super::header::{MemberId, TaskHeader};
use super::heap::Heap;
use super::histogram::Histogram;
use super::lane::{Line, SHUT};
use super::options::FaultPolicy;
use super::ready;
use super::task::Task;
use super::wake_policy::{Times, Workers};
use crate::sys::clock::{self, Clock, ClockKind, Stamp, Time};
use crate::sys::parker::Parker;
use crate::sys::sync::Arc;
use sinew_shm::Worker as Teller;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;
use std::thread::ThreadId;
use std::time::Duration;

/// What an unknown callback adds to the expected work.
const UNKNOWN_LOAD: i64 = 1_000_000_000;

pub(crate) struct SchedulerState {
    pub(super) clock: Option<Clock>,
    pub(super) slots: Slab<Slot>,
    pub(super) members: Slab<Member>,
    pub(super) ready: ready::ReadyGroups,
    /// How long the callbacks that are ready are expected to take; of an executor with several
    /// threads.
    pub(super) load: i64,
    pub(super) workers: Workers,
    /// When the first steady timer is due; `i64::MAX` for none.
    first_due: i64,
    /// Which timers are due takes more than a look at `first_due`: there are timers of other
    /// clocks, or groups of different priorities.
    reads_clock: bool,
    /// Per clock: when the timers in `timer_places` are due.
    pub(super) timers: [Heap<i64>; 3],
    pub(super) timer_places: Slab<TimerEntry>,
    /// How many groups have which priority.
    priorities: BTreeMap<i32, usize>,
    /// The executor is gone: nothing is taken in any more.
    pub(super) closed: bool,
    /// The next blocking spin, or the one that runs, returns.
    pub(super) stopped: bool,
    /// The context is shut down: every spin returns.
    pub(super) ended: bool,
    /// The thread that spins has what it wanted: its helpers return.
    pub(super) dismissed: bool,
    /// Something other than an entity wants the spinning thread to look up (a future that can go
    /// on).
    pub(super) poked: bool,
    /// Why the spin that runs is to end.
    pub(super) fault: Option<SpinError>,
    /// Threads from outside that call a server of this executor may run it.
    pub(super) caller_runs: bool,
    /// The spin that runs has a place for them.
    pub(super) hosts: bool,
    pub(super) on_panic: FaultPolicy,
    pub(super) on_error: FaultPolicy,
    /// The thread that spins now.
    pub(super) spinner: Option<ThreadId>,
    /// The thread that spun last.
    pub(super) last_spinner: Option<ThreadId>,
    /// A thread waits for the executor's descriptor, and it isn't readable.
    pub(super) descriptor_waits: bool,
    /// A separate thread minds the timers.
    pub(super) timers_have_thread: bool,
    /// The groups' clocks are virtual.
    pub(super) is_virtual: bool,
    /// How many workers have the lane open: if any, the gate is to be set.
    pub(super) open_lanes: u32,
    /// The worker that runs tasks of its lane.
    lane_worker: Option<u32>,
    /// How many threads spin.
    pub(super) present: usize,
    /// Threads waiting in `leave` for a callback to finish.
    pub(super) leaving: usize,
    /// Threads that wait for a server and would run it themselves.
    pub(super) waiting_callers: Vec<WaitingCaller>,
    /// Of those, the ones to be rung.
    pub(super) rung: Vec<WaitingCaller>,
    /// What tools are told of what the workers are at; none without shared memory.
    pub(super) tellers: Arc<[Teller]>,
}

/// An entity on its way through its callback.
pub(crate) struct RunningTask {
    pub(crate) entity: Arc<dyn Task>,
    /// The token of the entity's group, until the work is put back.
    pub(crate) token: GroupToken,
    /// Who runs it.
    pub(crate) run_by: RunBy,
    /// The number of its group.
    pub(crate) group: u64,
    pub(super) slot: u32,
    pub(super) member: u32,
    pub(crate) serial: u64,
    /// Whether there is more to do, once it ran.
    pub(crate) next: Option<Stamp>,
    /// When it began, and for how many runs it stands, if it is measured.
    pub(super) measured: Option<(i64, u8)>,
    /// When its callback last published something for this executor; 0 for never, or if a worker of
    /// several didn't run it.
    pub(super) published: i64,
    pub(super) times: Times,
}

impl RunningTask {
    /// The time its callback ended, if that is measured.
    #[inline]
    pub(super) fn end(this: &Option<Self>) -> i64 {
        if this.as_ref().is_some_and(|work| work.measured.is_some()) {
            Time::steady().nanoseconds()
        } else {
            0
        }
    }
}

pub(crate) fn index(n: usize) -> u32 {
    #[expect(clippy::expect_used, reason = "four thousand million entities need more memory than there is")]
    u32::try_from(n).expect("fewer than 2^32 entities")
}

/// A thread that waits for an entity to be run, and would do that itself if it could.
pub(super) struct WaitingCaller {
    pub(super) entity: MemberId,
    /// It spins this executor itself, in the middle of a callback, or has the place of one that
    /// does.
    pub(super) nested: bool,
    /// How long it waits at most.
    pub(super) within: i64,
    pub(super) parker: Arc<Parker>,
}

#[derive(Clone, Copy)]
pub(super) struct TimerEntry {
    clock: ClockKind,
    member: u32,
}

/// A group.
pub(super) struct Slot {
    /// What its token opens.
    pub(super) group: u64,
    /// The serial number of the member with the running callback; 0 for none, and always in a
    /// reentrant group.
    pub(super) running: u64,
    pub(super) ready: ready::ReadyMembers,
    pub(super) priority: i32,
    pub(super) members: u32,
    /// The group is gone; the slot goes when its last callback has finished.
    pub(super) leaves: bool,
    /// What it adds to the executor's load while it is ready.
    load: i64,
    /// The serial numbers of a reentrant group's members with running callbacks.
    pub(super) concurrent: Vec<u64>,
}

impl Slot {
    pub(super) fn new(group: u64, priority: i32, threads: usize) -> Self {
        let concurrent = if group == REENTRANT { Vec::with_capacity(threads) } else { Vec::new() };
        Self {
            group,
            running: 0,
            ready: ready::ReadyMembers::default(),
            priority,
            members: 0,
            leaves: false,
            load: 0,
            concurrent,
        }
    }

    pub(super) fn runs(&self, serial: u64) -> bool {
        self.running == serial || self.concurrent.contains(&serial)
    }

    fn is_running(&self) -> bool {
        self.running != 0 || !self.concurrent.is_empty()
    }
}

pub(super) struct Member {
    pub(super) slot: u32,
    pub(super) task: Arc<TaskHeader>,
    /// It is in its group's queue.
    ready: bool,
    /// `None` while it runs in an exclusive group: the thread that runs it has it, so no reference
    /// has to be counted.
    entity: Option<Arc<dyn Task>>,
    times: Times,
    timer: Option<u32>,
    /// How long its callbacks have run.
    pub(super) histogram: Histogram,
}

impl Member {
    pub(super) fn new(slot: u32, task: Arc<TaskHeader>, entity: Arc<dyn Task>) -> Self {
        Self {
            slot,
            task,
            ready: false,
            entity: Some(entity),
            times: Times::UNKNOWN,
            timer: None,
            histogram: Histogram::default(),
        }
    }

    #[inline]
    pub(super) fn serial(&self) -> u64 {
        self.task.serial()
    }

    /// A run that began at `since` and stands for so many ended at `now`. It last published
    /// something at `published`, if that is not before `since`.
    #[inline(never)]
    pub(super) fn learn(&mut self, (since, weight): (i64, u8), now: i64, published: i64) {
        self.times.run.learn(now - since);
        if published >= since {
            self.times.tail.learn(now - published);
        }
        self.histogram.record_nanoseconds(u64::try_from(now - since).unwrap_or(0), weight.into());
        self.task.sampling.set(self.times.run.is_surely_short());
        self.task.expected.set(&self.times);
    }
}

/// Who has a callback in hand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunBy {
    Worker(u32),
    /// A worker of this executor, in the middle of another callback.
    Nested,
    /// A thread that is none of the executor's.
    Caller,
}

/// How long to sleep.
pub(super) enum Sleep {
    /// The deadline has passed.
    Over,
    /// Something is due already.
    Look,
    /// At most so long, or until another thread signals.
    AtMost(Option<Duration>),
}

#[inline]
pub(super) fn member_of(members: &mut Slab<Member>, id: MemberId) -> Option<&mut Member> {
    members.get_mut(id.index as usize).filter(|member| member.serial() == id.serial)
}

impl SchedulerState {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            clock: None,
            slots: Slab::new(),
            members: Slab::new(),
            ready: ready::ReadyGroups::new(),
            load: 0,
            workers: Workers::new(threads),
            first_due: i64::MAX,
            reads_clock: false,
            timers: [Heap::new(), Heap::new(), Heap::new()],
            timer_places: Slab::new(),
            priorities: BTreeMap::new(),
            closed: false,
            stopped: false,
            ended: false,
            dismissed: false,
            poked: false,
            fault: None,
            caller_runs: true,
            hosts: false,
            on_panic: FaultPolicy::Stop,
            on_error: FaultPolicy::Report,
            spinner: None,
            last_spinner: None,
            descriptor_waits: false,
            timers_have_thread: false,
            is_virtual: false,
            open_lanes: 0,
            lane_worker: None,
            present: 0,
            leaving: 0,
            waiting_callers: Vec::new(),
            rung: Vec::new(),
            tellers: Arc::default(),
        }
    }

    /// No thread spins any more.
    pub(super) fn leave_spin(&mut self) {
        self.spinner = None;
        self.present = 0;
        self.retire(0);
    }

    /// A worker leaves the executor for good.
    pub(super) fn retire(&mut self, worker: u32) {
        self.workers.retire(worker);
        self.tell_rest(worker);
    }

    /// Tools are told that a worker runs nothing.
    pub(super) fn tell_rest(&self, worker: u32) {
        if let Some(teller) = self.tellers.get(worker as usize) {
            teller.rest();
        }
    }

    /// An entity has something to do. True if its group is ready now and wasn't.
    #[inline]
    pub(super) fn make_ready(&mut self, id: MemberId, key: Stamp) -> bool {
        member_of(&mut self.members, id).is_some() && self.ready_member(id.index, key) // else it left
    }

    #[inline]
    fn ready_member(&mut self, id: u32, key: Stamp) -> bool {
        let member = &mut self.members[id as usize];
        if mem::replace(&mut member.ready, true) {
            return false; // sticky: it keeps the key under which it is waiting
        }
        let expected = member.times.run.expected();
        let slot = member.slot;
        let Some(group) = self.slots.get_mut(slot as usize) else { return false };
        let was_ready = group.ready.first().is_some();
        if !group.ready.push(key, id) || group.running != 0 {
            return false;
        }
        self.ready.update(slot, (Reverse(group.priority), key));
        if self.workers.threads() > 1 {
            count_load(&mut self.load, group, expected);
        }
        !was_ready
    }

    /// Brings the executor's queue in line with the group's.
    pub(super) fn place_group(&mut self, slot: u32) {
        let Some(group) = self.slots.get_mut(slot as usize) else { return };
        match group.ready.first() {
            Some((key, member)) if group.running == 0 => {
                self.ready.update(slot, (Reverse(group.priority), key));
                if self.workers.threads() > 1 {
                    count_load(&mut self.load, group, self.members[member as usize].times.run.expected());
                }
            }
            _ => {
                self.ready.remove(slot);
                count_load(&mut self.load, group, 0);
            }
        }
    }

    pub(super) fn unready(&mut self, id: MemberId) {
        if let Some(member) = member_of(&mut self.members, id)
            && mem::take(&mut member.ready)
        {
            let slot = member.slot;
            if let Some(group) = self.slots.get_mut(slot as usize) {
                group.ready.remove(id.index);
            }
            self.place_group(slot);
        }
    }

    pub(super) fn take_member(&mut self, id: MemberId) -> Option<Member> {
        member_of(&mut self.members, id)?;
        self.unready(id);
        let member = self.members.remove(id.index as usize);
        if let Some(timer) = member.timer {
            let place = self.timer_places.remove(timer as usize);
            self.timers[place.clock as usize].remove(timer);
            self.note_timers();
        }
        if let Some(group) = self.slots.get_mut(member.slot as usize) {
            group.members -= 1;
        }
        Some(member)
    }

    pub(super) fn remove_slot(&mut self, slot: u32) -> Option<Slot> {
        self.ready.remove(slot);
        let mut gone = self.slots.try_remove(slot as usize)?;
        count_load(&mut self.load, &mut gone, 0);
        self.count_priority(Some(gone.priority), None);
        Some(gone)
    }

    /// Forgets a group that all members have left, now or when its last callback has finished.
    pub(super) fn retire_slot(&mut self, slot: u32) -> Option<Slot> {
        let group = self.slots.get_mut(slot as usize)?;
        group.leaves = group.is_running();
        if group.leaves { None } else { self.remove_slot(slot) }
    }

    /// Sets when a timer is due; before that nothing of it is ready any more. True if that is
    /// before all others.
    pub(super) fn set_timer(&mut self, id: MemberId, clock: ClockKind, due: Option<i64>) -> bool {
        self.unready(id);
        let Some(member) = member_of(&mut self.members, id) else { return false };
        if let Some(timer) = member.timer {
            let former = std::mem::replace(&mut self.timer_places[timer as usize].clock, clock);
            if former != clock {
                self.timers[former as usize].remove(timer); // it follows another clock now
            }
        }
        let heap = &mut self.timers[clock as usize];
        let before = heap.peek().map(|(due, _)| due);
        match (member.timer, due) {
            (Some(timer), Some(due)) => heap.update(timer, due),
            (None, Some(due)) => {
                let place = TimerEntry { clock, member: id.index };
                let timer = index(self.timer_places.insert(place));
                member.timer = Some(timer);
                heap.push(timer, due);
            }
            (Some(timer), None) => drop(heap.remove(timer)),
            (None, None) => return false,
        }
        let first = heap.peek().map(|(due, _)| due);
        self.note_timers();
        first.is_some_and(|first| before.is_none_or(|before| first < before))
    }

    /// A group's priority changes, from none if it comes, to none if it goes.
    pub(super) fn count_priority(&mut self, from: Option<i32>, to: Option<i32>) {
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

    /// Brings `first_due` and `reads_clock` up to date.
    fn note_timers(&mut self) {
        let [steady, others @ ..] = &self.timers;
        self.first_due = steady.peek().map_or(i64::MAX, |(due, _)| due);
        let other_clocks = others.iter().any(|heap| !heap.is_empty());
        self.reads_clock = other_clocks || (self.priorities.len() > 1 && !steady.is_empty());
    }

    /// Makes the timers ready that are due before what is ready, in the queue or the lane, or now.
    #[inline]
    pub(super) fn fire_timers(&mut self, lane: Option<Stamp>) {
        let queue = self.ready.first().map(|((_, key), _)| key);
        let first = queue.into_iter().chain(lane).min().map(|key| key.time);
        if let Some(first) = first.filter(|_| !self.reads_clock) {
            // It was published at a time that is past: a timer that is due before it is due.
            if self.first_due <= first {
                self.fire(ClockKind::Steady, first, 0);
            }
        } else if self.first_due != i64::MAX || self.reads_clock {
            self.fire_by_clock();
        }
    }

    /// Makes all timers ready that are due now.
    pub(super) fn fire_by_clock(&mut self) {
        let Some(clock) = self.clock.clone() else { return };
        let steady = clock.steady();
        for kind in ClockKind::ALL {
            if !self.timers[kind as usize].is_empty() {
                let now = if kind == ClockKind::Steady { steady } else { clock.now(kind) };
                self.fire(kind, now, steady.saturating_sub(now));
            }
        }
    }

    /// Makes the timers of a clock ready that are due at `now`; `to_steady` is what brings its
    /// times to steady ones.
    fn fire(&mut self, kind: ClockKind, now: i64, to_steady: i64) {
        while let Some((due, timer)) = self.timers[kind as usize].peek() {
            if due > now {
                break;
            }
            self.timers[kind as usize].pop();
            let TimerEntry { member, .. } = self.timer_places[timer as usize];
            self.ready_member(member, Stamp::due(due.saturating_add(to_steady)));
        }
        self.note_timers();
    }

    /// Whether what runs next was published before `heard`, wherever it comes from, and so runs
    /// before all that was published since. `work` is to be put back.
    #[inline]
    pub(super) fn goes_on_before(&self, heard: i64, work: &Option<RunningTask>) -> bool {
        let is_older = |key: Stamp| key.time <= heard;
        let is_first = self.ready.first().is_some_and(|((_, key), _)| is_older(key));
        let is_next = work.as_ref().and_then(|work| work.next).is_some_and(is_older);
        (is_first || is_next) && self.priorities.len() <= 1 && !self.is_virtual
    }

    /// Whether what has this key was ready at the limit. Virtual time may have gone back since: its
    /// stamps' order doesn't.
    fn in_time(&self, key: Stamp, limit: Stamp) -> bool {
        if self.is_virtual && key.order != 0 { key.order <= limit.order } else { key <= limit }
    }

    /// The next entity to run: of the group of the highest priority the one with the oldest key,
    /// not after `limit`.
    #[inline]
    pub(super) fn pop(
        &mut self,
        limit: Option<Stamp>,
        run_by: RunBy,
        now: i64,
        work: &mut Option<RunningTask>,
    ) -> bool {
        let Some(((_, first), mut slot)) = self.ready.first() else { return false };
        if self.workers.are_full() {
            return false; // a thread from outside runs a callback in place of this one
        }
        if let Some(limit) = limit
            && !self.in_time(first, limit)
        {
            // What was ready at the limit may stand behind a group of higher priority that became
            // ready since.
            let in_time = self.ready.iter().filter(|((_, key), _)| self.in_time(*key, limit));
            match in_time.min_by_key(|(key, _)| *key) {
                Some((_, in_time)) => slot = in_time,
                None => return false,
            }
        }
        let Some((key, id)) = self.slots[slot as usize].ready.pop() else { return false };
        *work = self.hand_out(id, run_by, (now, key.time));
        work.is_some()
    }

    /// What a thread may run that waits for an entity, at most for `within`: if it has something to
    /// do and its group is free, what comes first in its group, which may be older than that. A
    /// thread from outside only if the executor would run just this next, and it is known to be
    /// done in time.
    pub(super) fn runnable(&self, id: MemberId, nested: bool, within: i64) -> Option<u32> {
        let member = self.members.get(id.index as usize).filter(|member| member.serial() == id.serial)?;
        let group = self.slots.get(member.slot as usize)?;
        if !member.ready || group.running != 0 {
            return None;
        }
        let (_, first) = group.ready.first()?;
        let is_next = || self.ready.first().is_some_and(|(_, slot)| slot == member.slot);
        let in_time = nested || (first == id.index && is_next() && member.times.run.expected() <= within);
        in_time.then_some(first)
    }

    /// Whether nothing of an entity's group is ready or runs.
    pub(super) fn is_idle(&self, id: MemberId) -> bool {
        let member = self.members.get(id.index as usize).filter(|member| member.serial() == id.serial);
        let group = member.and_then(|member| self.slots.get(member.slot as usize));
        group.is_some_and(|group| group.ready.first().is_none() && group.running == 0)
    }

    /// A certain entity, if it is ready and its group free.
    pub(super) fn pop_this(&mut self, id: MemberId, run_by: RunBy, work: &mut Option<RunningTask>) -> bool {
        member_of(&mut self.members, id).is_some() && self.pop_member(id.index, run_by, work)
    }

    /// A certain member, if it is there and ready and its group free.
    pub(super) fn pop_member(&mut self, id: u32, run_by: RunBy, work: &mut Option<RunningTask>) -> bool {
        let Some(member) = self.members.get(id as usize) else { return false };
        let group = &mut self.slots[member.slot as usize];
        if !member.ready || group.running != 0 {
            return false;
        }
        group.ready.remove(id);
        *work = self.hand_out(id, run_by, (0, 0));
        work.is_some()
    }

    /// Hands out an entity that was taken out of its group's queue. `now` is 0 if no clock was
    /// read; it was ready since `key`, or 0.
    #[inline(never)]
    pub(super) fn hand_out(
        &mut self,
        id: u32,
        run_by: RunBy,
        (mut now, key): (i64, i64),
    ) -> Option<RunningTask> {
        let member = &mut self.members[id as usize];
        member.ready = false;
        let weight = member.task.sampling.measures_next();
        if weight.is_some() && now == 0 {
            now = clock::Time::steady().nanoseconds();
        }
        let slot = member.slot;
        let group = &mut self.slots[slot as usize];
        let (entity, token) = match group.group {
            REENTRANT => {
                group.concurrent.push(member.serial());
                (member.entity.clone()?, GroupToken::reentrant())
            }
            number => {
                group.running = member.serial();
                self.ready.remove(slot);
                count_load(&mut self.load, group, 0);
                // SAFETY: a group is in one scheduler at a time (`GroupCore::add_to`; it leaves
                // when the executor is dropped, which can't be while a spin borrows it, and a
                // thread that runs a callback of it for a caller keeps the token until `put_back`),
                // and here it runs one member at a time: `running` was 0, or the group would not
                // have been in `ready`, and is set until `put_back` takes the token back.
                (member.entity.take()?, unsafe { GroupToken::of(number) })
            }
        };
        let (serial, told, times, group_number) =
            (member.serial(), member.task.told, member.times, group.group);
        if group_number == REENTRANT {
            self.place_group(slot); // it may have more to do
        }
        let teller = match run_by {
            RunBy::Worker(worker) => {
                self.workers.begin(worker, times, now);
                self.tellers.get(worker as usize)
            }
            RunBy::Caller => {
                self.workers.begin_caller();
                None
            }
            RunBy::Nested => None,
        };
        if let Some(teller) = teller {
            teller.begin(told, if now == 0 { key } else { now });
        }
        let measured = weight.map(|weight| (now, weight));
        Some(RunningTask {
            entity,
            token,
            run_by,
            group: group_number,
            slot,
            member: id,
            serial,
            next: None,
            measured,
            published: 0,
            times,
        })
    }

    /// Puts an entity back; returns it if it left while it ran. `now` is when its callback ended,
    /// if that is measured.
    #[inline(never)]
    pub(crate) fn put_back(&mut self, work: &mut Option<RunningTask>, now: i64) -> Option<Arc<dyn Task>> {
        // With it the token is free, before any thread can get the next one.
        let RunningTask { entity, run_by, slot, member: id, serial, next, measured, published, .. } =
            work.take()?;
        match run_by {
            RunBy::Worker(worker) => self.workers.end(worker),
            RunBy::Caller => self.workers.end_caller(),
            RunBy::Nested => {}
        }
        let group = &mut self.slots[slot as usize];
        if group.group == REENTRANT {
            if let Some(place) = group.concurrent.iter().position(|&other| other == serial) {
                group.concurrent.swap_remove(place);
            }
        } else {
            group.running = 0;
        }
        let gone = match self.members.get_mut(id as usize) {
            Some(member) if member.serial() == serial => {
                if let Some(measured) = measured {
                    member.learn(measured, now, published);
                }
                let spare =
                    if group.group == REENTRANT { Some(entity) } else { member.entity.replace(entity) };
                if let Some(key) = next
                    && !mem::replace(&mut member.ready, true)
                {
                    group.ready.push(key, id);
                }
                spare // a clone, which is not the last
            }
            _ => Some(entity),
        };
        self.place_after_turn(slot);
        gone // of a group that leaves, the last member: its slot had nothing to be dropped
    }

    /// A turn of a group is over: the group's place in the queue, or its end.
    #[inline]
    fn place_after_turn(&mut self, slot: u32) {
        let group = &self.slots[slot as usize];
        if group.leaves && !group.is_running() {
            self.remove_slot(slot);
        } else if group.ready.first().is_some() {
            self.place_group(slot);
        }
    }

    // ---- the lane ----

    /// What runs past the queue must be older than that: what is first in it, or due next.
    #[inline]
    pub(super) fn gate(&self) -> i64 {
        let is_shut = self.stopped
            | self.ended
            | self.dismissed
            | self.poked
            | self.closed
            | self.reads_clock
            | self.timers_have_thread
            | self.is_virtual
            | (self.priorities.len() > 1)
            | !self.workers.leave_one_awake(self.present);
        if is_shut {
            return SHUT;
        }
        self.ready.first().map_or(self.first_due, |((_, key), _)| key.time.min(self.first_due))
    }

    /// The tasks that wait in the lane go into the queue, and the group of the one that runs is
    /// marked as running.
    #[inline(never)]
    pub(super) fn settle(&mut self, line: &mut Line) {
        for (id, key) in line.drain() {
            self.make_ready(id, key);
        }
        if let Some(id) = line.unsettled()
            && let Some(member) = member_of(&mut self.members, id)
        {
            let slot = member.slot;
            self.slots[slot as usize].running = id.serial;
            self.place_group(slot);
            line.settled(slot);
        }
    }

    /// A worker runs tasks of its lane, and keeps its place meanwhile.
    #[inline]
    pub(super) fn begin_lane(&mut self, worker: u32) {
        self.lane_worker = Some(worker);
        self.workers.begin(worker, Times::SHORT, 0);
    }

    /// It asks what else there is.
    #[inline]
    pub(super) fn end_lane(&mut self, worker: u32) {
        if self.lane_worker == Some(worker) {
            self.lane_worker = None;
            self.workers.end(worker);
        }
    }

    /// A worker has its lane open.
    #[inline]
    pub(super) fn has_open_lane(&self) -> bool {
        self.open_lanes > 0
    }

    /// The turn of an exclusive group is over.
    pub(super) fn end_turn(&mut self, slot: u32) {
        self.slots[slot as usize].running = 0;
        self.place_after_turn(slot);
    }

    /// Calls a thread for what is ready and was not taken by the thread that took `work`. True if
    /// the caller must signal.
    #[inline]
    pub(super) fn call_for_rest(
        &mut self,
        work: &Option<RunningTask>,
        bells: &Bells,
        has_no_poller: bool,
    ) -> bool {
        let Some(work) = work else { return false };
        let run = work.times.run.expected();
        if has_no_poller && let Some(worker) = self.workers.for_poller(run) {
            bells.call(worker);
            return true;
        }
        if self.ready.first().is_some() {
            let called = self.workers.for_rest(self.ready.len(), self.load, run);
            if let Some(worker) = called {
                bells.call(worker);
                return true;
            }
            if !self.waiting_callers.is_empty() {
                return self.call_waiting_caller(bells);
            }
        }
        if (self.first_due == i64::MAX && !self.reads_clock) || self.timers_have_thread {
            return false;
        }
        let now = work.measured.map_or(0, |(now, _)| now);
        // What the other clocks' timers are due at isn't known without a look at those clocks.
        let soon = if self.reads_clock { now.saturating_add(self.workers.patience()) } else { i64::MAX };
        let due = self.first_due.min(soon);
        let called = self.workers.for_timer_during(due, now, run);
        called.inspect(|worker| bells.call(*worker)).is_some()
    }

    /// Whether a thread may run something, as far as that isn't about what it is to run.
    pub(super) fn accepts(&self, nested: bool) -> bool {
        if self.closed || self.ended {
            return false;
        }
        // One in the middle of a callback may also if the spin is to end: it does when that
        // callback has finished.
        nested
            || (self.caller_runs
                && self.hosts
                && self.present > 0
                && !self.stopped
                && !self.dismissed
                && self.workers.accepts_caller())
    }

    /// Rings a thread that waits for something it can run itself now. No other thread is rung: it
    /// would look in vain, and sleep, and be rung again.
    pub(super) fn call_waiting_caller(&mut self, bells: &Bells) -> bool {
        let can_run = |caller: &WaitingCaller| {
            self.accepts(caller.nested)
                && self.runnable(caller.entity, caller.nested, caller.within).is_some()
        };
        let Some(place) = self.waiting_callers.iter().position(can_run) else { return false };
        let gone = self.waiting_callers.swap_remove(place);
        self.rung.push(gone);
        bells.call_callers();
        true
    }

    /// Whether something is ready that has waited for longer than a wake-up takes.
    pub(super) fn is_something_left_lying(&self, now: i64) -> bool {
        let patience = self.workers.patience();
        self.ready.first().is_some_and(|((_, key), _)| now - key.time > patience)
    }

    /// How long a thread may sleep when nothing is ready.
    pub(super) fn longest_wait(&self, deadline: Option<i64>, minds_timers: bool) -> Sleep {
        let mut sleep = i64::MAX;
        if let Some(deadline) = deadline {
            sleep = deadline.saturating_sub(clock::Time::steady().nanoseconds());
            if sleep <= 0 {
                return Sleep::Over;
            }
        }
        let Some(clock) = self.clock.as_ref().filter(|_| minds_timers) else {
            return Sleep::AtMost((sleep != i64::MAX).then(|| wait_of(sleep))); // no group yet, or others mind the timers
        };
        let now = clock.steady();
        for kind in ClockKind::ALL {
            let Some((due, _)) = self.timers[kind as usize].peek() else { continue };
            let left = due.saturating_sub(if kind == ClockKind::Steady { now } else { clock.now(kind) });
            if left <= 0 {
                return Sleep::Look;
            }
            if clock.passes(kind) {
                // The wall clock may be set without our being told: look again every second.
                sleep = sleep.min(if kind == ClockKind::Steady { left } else { left.min(1_000_000_000) });
            }
        }
        Sleep::AtMost((sleep != i64::MAX).then(|| wait_of(sleep)))
    }
}

pub(super) fn wait_of(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

#[inline]
fn count_load(load: &mut i64, group: &mut Slot, expected: i64) {
    let expected = expected.min(UNKNOWN_LOAD);
    *load += expected - mem::replace(&mut group.load, expected);
}
