//! The ready queue: which callback runs next.
//!
//! # Purpose
//!
//! An executor's threads ask [`Scheduler::next`] for work; publishers and everybody else who makes an entity ready call
//! [`Scheduler::notify`]. Nothing is scanned: an idle entity costs nothing, and a wake-up costs the same with ten idle
//! entities or ten thousand.
//!
//! # Order
//!
//! - An *entity* (subscription, timer, guard condition, status event) is in its group's heap exactly while it has
//!   something to do, once, under a *sticky* key: the stamp of the oldest thing it had to do when it became ready, then
//!   after each run the stamp of the next. Later arrivals, and a keep_last history that drops its oldest, don't change it.
//! - A *group* is in the executor's heap while it has ready entities and isn't running, under (priority, oldest key).
//! - A *timer* waits in the heap of its clock and becomes ready under its due time. A message that was published before
//!   the due time goes first; so while there are messages to run, their stamps tell which timers are due, and the clock
//!   is read only when nothing is ready (or priorities differ, for then a due timer may overtake older messages).
//!
//! # Locks
//!
//! One mutex; nothing but this file's bookkeeping happens under it, never user code. It is the last lock in the order
//! graph -> publisher -> class -> history/status/timer -> scheduler. What ends up dropped is carried out of it.
//!
//! - P1 park: under the mutex, `parked = true`, then the condition variable's wait releases it.
//! - P2 notify: under the mutex, the entity enters the heap; if `parked`, it is taken back and the caller signals after it
//!   let go of all its locks. A parked thread therefore gets one signal however much arrives, and none is lost: it either
//!   saw the heap filled before P1 or is signalled.

use super::current;
use super::heap::Heap;
use super::ready;
use super::trail;
use super::turn::{REENTRANT, Turn};
use crate::clock::{self, Clock, ClockKind, Stamp, Wake};
use crate::sync::{Arc, Condvar, Mutex, next_serial};
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;
use std::thread::ThreadId;
use std::time::Duration;

/// Something with callbacks that an executor runs.
pub(crate) trait Entity: Send + Sync {
    /// Runs the callback for the oldest thing there is to do, if there still is one.
    fn run(&self, turn: &mut Turn) -> Ran;

    /// After a callback panicked: the stamp of what is left to do.
    fn left(&self) -> Option<Stamp>;

    /// If there is nothing to do after all, takes back that it announced something. Whether there is something.
    fn withdraw(&self) -> bool;

    /// Tells the entity where to announce that it is ready; announces at once what waits already.
    fn attach(&self, home: Option<Home>);

    /// Where the thread that runs it has noted it.
    fn place(&self) -> &trail::Place;

    /// What else it uses each time it runs.
    fn rest(&self) -> Option<trail::Rest> {
        None
    }

    /// For people, e.g. "subscription /camera/image of node /filter".
    fn describe(&self) -> String;
}

/// What came of running an entity.
pub(crate) struct Ran {
    /// What the callback said.
    pub(crate) result: Result<(), String>,
    /// The stamp of the next thing to do, if there is one.
    pub(crate) next: Option<Stamp>,
    /// Whether there was anything to do, so that a callback was called.
    pub(crate) called: bool,
}

impl Ran {
    /// There was nothing to do any more.
    pub(crate) const NOTHING: Self = Self { result: Ok(()), next: None, called: false };
}

/// Where an entity lives in a scheduler.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) scheduler: Arc<Scheduler>,
    member: u32,
    /// Never given twice: an entity that took over the place of a dropped one is not mistaken for it.
    serial: u64,
}

impl Home {
    /// The entity has something to do since `key`. True if the caller must `wake` the scheduler once it holds no lock.
    #[must_use]
    #[inline]
    pub(crate) fn notify(&self, key: Stamp) -> bool {
        self.scheduler.notify(self, key)
    }

    /// The entity has nothing to do any more. The caller holds the lock under which it announces.
    pub(crate) fn withdraw(&self) {
        self.scheduler.state.lock().unready(self);
    }
}

/// An executor's state. See the module's documentation.
pub(crate) struct Scheduler {
    pub(crate) id: u64,
    state: Mutex<State>,
    /// Signalled when a parked thread has to look again.
    bell: Condvar,
    /// Signalled when a callback has finished and somebody waits for that.
    finished: Condvar,
}

pub(crate) struct State {
    clock: Option<Clock>,
    slots: Slab<Slot>,
    members: Slab<Member>,
    ready: ready::Groups,
    /// When the first steady timer is due; `i64::MAX` for none.
    first_due: i64,
    /// Which timers are due takes more than a look at `first_due`: there are timers of other clocks, or groups of different
    /// priorities.
    reads_clock: bool,
    /// Per clock: when the timers in `timer_places` are due.
    timers: [Heap<i64>; 3],
    timer_places: Slab<TimerPlace>,
    /// How many groups have which priority.
    priorities: BTreeMap<i32, usize>,
    /// The executor is gone: nothing is taken in any more.
    closed: bool,
    parked: bool,
    /// The next blocking spin, or the one that runs, returns.
    stopped: bool,
    /// The context is shut down: every spin returns.
    ended: bool,
    /// Somebody other than an entity wants the spinning thread to look up (a future that can go on).
    poked: bool,
    /// The thread that spins now.
    spinner: Option<ThreadId>,
    /// The thread that spun last.
    last_spinner: Option<ThreadId>,
    /// Threads waiting in `leave` for a callback to finish.
    leaving: usize,
}

#[derive(Clone, Copy)]
struct TimerPlace {
    clock: ClockKind,
    member: u32,
}

/// A group.
struct Slot {
    /// What its turn opens.
    group: u64,
    /// The serial number of the member whose callback runs now; 0 for none.
    running: u64,
    ready: ready::Members,
    priority: i32,
    members: u32,
    /// The group is gone; the slot goes when its last callback has finished.
    leaves: bool,
}

struct Member {
    serial: u64,
    slot: u32,
    timer: Option<u32>,
    /// `None` while it runs: the thread that runs it has it, so no reference has to be counted.
    entity: Option<Arc<dyn Entity>>,
    /// It is in its group's queue.
    ready: bool,
}

/// An entity on its way through its callback.
pub(crate) struct Work {
    pub(crate) entity: Arc<dyn Entity>,
    /// The turn of the entity's group, until the work is put back.
    pub(crate) turn: Turn,
    slot: u32,
    member: u32,
    pub(crate) serial: u64,
    /// Whether there is more to do, once it ran.
    pub(crate) next: Option<Stamp>,
}

/// What a thread that asks for work gets.
pub(crate) enum Next {
    Run,
    /// Nothing is ready (before the limit, or within the time allowed).
    Idle,
    /// Somebody poked.
    Poked,
    /// The executor was stopped, or its context was shut down.
    Stopped,
}

/// How long a thread that asks for work is ready to wait.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Patience {
    /// Not at all; and only for what was ready at this stamp.
    Until(Stamp),
    /// Not at all.
    None,
    /// Until this time of the machine's steady clock, also in virtual time.
    Deadline(i64),
    Forever,
}

fn index(n: usize) -> u32 {
    #[expect(clippy::expect_used, reason = "four thousand million entities need more memory than there is")]
    u32::try_from(n).expect("fewer than 2^32 entities")
}

impl Scheduler {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            id: next_serial(),
            state: Mutex::new(State {
                clock: None,
                slots: Slab::new(),
                members: Slab::new(),
                ready: ready::Groups::new(),
                first_due: i64::MAX,
                reads_clock: false,
                timers: [Heap::new(), Heap::new(), Heap::new()],
                timer_places: Slab::new(),
                priorities: BTreeMap::new(),
                closed: false,
                parked: false,
                stopped: false,
                ended: false,
                poked: false,
                spinner: None,
                last_spinner: None,
                leaving: 0,
            }),
            bell: Condvar::new(),
            finished: Condvar::new(),
        })
    }

    // ---- membership ----

    /// Takes the clocks that all groups here follow; false if they follow others, of which one is virtual.
    pub(crate) fn accept_clock(self: &Arc<Self>, clock: &Clock) -> bool {
        let mut state = self.state.lock();
        match &state.clock {
            Some(ours) => ours.same(clock) || !(ours.is_virtual() || clock.is_virtual()),
            None => {
                state.clock = Some(clock.clone());
                drop(state);
                if let Some(source) = clock.virtual_clock() {
                    let this: Arc<dyn Wake> = self.clone();
                    source.watch(Arc::downgrade(&this));
                }
                true
            }
        }
    }

    /// Makes room for a group; `group` is the number that its turn opens. `None` if the executor is gone.
    pub(crate) fn add_group(&self, group: u64, priority: i32) -> Option<u32> {
        let mut state = self.state.lock();
        if state.closed {
            return None;
        }
        let slot =
            Slot { group, running: 0, ready: ready::Members::default(), priority, members: 0, leaves: false };
        let slot = index(state.slots.insert(slot));
        state.ready.reserve(slot + 1);
        state.count_priority(None, Some(priority));
        Some(slot)
    }

    /// Forgets a group whose members have all left; if its last callback is still running, after that.
    pub(crate) fn remove_group(&self, slot: u32) {
        let mut state = self.state.lock();
        let gone = match state.slots.get_mut(slot as usize) {
            Some(group) if group.running != 0 => {
                group.leaves = true;
                None
            }
            Some(_) => state.remove_slot(slot),
            None => None,
        };
        drop(state);
        drop(gone);
    }

    /// How many groups have a place here.
    #[cfg(test)]
    pub(crate) fn slots(&self) -> usize {
        self.state.lock().slots.len()
    }

    /// The executor goes: from now on nothing is taken in.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
    }

    pub(crate) fn set_priority(&self, slot: u32, priority: i32) {
        let mut state = self.state.lock();
        let Some(group) = state.slots.get_mut(slot as usize) else { return };
        let before = mem::replace(&mut group.priority, priority);
        state.count_priority(Some(before), Some(priority));
        state.place_group(slot);
    }

    /// Gives an entity its place; the caller then attaches it.
    pub(crate) fn enter(self: &Arc<Self>, slot: u32, serial: u64, entity: Arc<dyn Entity>) -> Home {
        let mut state = self.state.lock();
        let member = Member { serial, slot, timer: None, entity: Some(entity), ready: false };
        let member = index(state.members.insert(member));
        let group = &mut state.slots[slot as usize];
        group.members += 1;
        group.ready.reserve(group.members as usize); // so that becoming ready never allocates
        Home { scheduler: self.clone(), member, serial }
    }

    /// Takes an entity out. When this returns, none of its callbacks starts. With `wait`, none runs either, unless this
    /// very thread is in it.
    pub(crate) fn leave(&self, home: &Home, wait: bool) {
        let mut state = self.state.lock();
        let gone = state.take_member(home);
        if wait && !current::runs(home.serial) {
            state.leaving += 1;
            // Rarely: so the running member is looked for among all groups.
            while state.slots.iter().any(|(_, group)| group.running == home.serial) {
                state = self.finished.wait(state);
            }
            state.leaving -= 1;
        }
        drop(state);
        drop(gone);
    }

    // ---- becoming ready ----

    #[inline]
    fn notify(&self, home: &Home, key: Stamp) -> bool {
        let mut state = self.state.lock();
        state.make_ready(home, key);
        mem::take(&mut state.parked) // P2
    }

    /// Signals the parked thread, for a caller who was told to.
    pub(crate) fn signal(&self) {
        self.bell.notify_one();
    }

    /// Makes the spinning thread look up.
    pub(crate) fn poke(&self) {
        let parked = {
            let mut state = self.state.lock();
            state.poked = true;
            mem::take(&mut state.parked)
        };
        if parked {
            self.signal();
        }
    }

    pub(crate) fn stop(&self) {
        self.halt(|state| state.stopped = true);
    }

    /// The context is shut down: every spin returns, now and later.
    pub(crate) fn end(&self) {
        self.halt(|state| state.ended = true);
    }

    fn halt(&self, mark: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        mark(&mut state);
        state.parked = false;
        drop(state);
        self.bell.notify_all();
    }

    // ---- timers ----

    /// Sets when a timer is due; before that nothing of it is ready any more. True if the caller must signal.
    #[must_use]
    pub(crate) fn arm(&self, home: &Home, clock: ClockKind, due: Option<i64>) -> bool {
        let mut state = self.state.lock();
        let state = &mut *state;
        state.unready(home);
        let Some(member) = member_of(&mut state.members, home) else { return false };
        let heap = &mut state.timers[clock as usize];
        let before = heap.peek().map(|(due, _)| due);
        match (member.timer, due) {
            (Some(timer), Some(due)) => heap.update(timer, due),
            (None, Some(due)) => {
                let timer = index(state.timer_places.insert(TimerPlace { clock, member: home.member }));
                member.timer = Some(timer);
                heap.push(timer, due);
            }
            (Some(timer), None) => drop(heap.remove(timer)),
            (None, None) => return false,
        }
        let first = heap.peek().map(|(due, _)| due);
        state.note_timers();
        // Only an earlier end of the sleep is worth a wake-up.
        let earlier = first.is_some_and(|first| before.is_none_or(|before| first < before));
        earlier && mem::take(&mut state.parked)
    }

    /// The virtual time of the next expiry that its passing brings.
    pub(crate) fn next_due(&self) -> Option<i64> {
        let state = self.state.lock();
        let clock = state.clock.as_ref()?;
        let moving = ClockKind::ALL.into_iter().filter(|kind| clock.moves_with_steady(*kind));
        moving.filter_map(|kind| state.timers[kind as usize].peek().map(|(due, _)| due)).min()
    }

    // ---- spinning ----

    /// Makes the calling thread the one that spins; `false` if there is one already, be it this thread in a callback.
    pub(crate) fn begin(&self) -> bool {
        let mut state = self.state.lock();
        if state.spinner.is_some() {
            return false;
        }
        let thread = Some(std::thread::current().id());
        state.spinner = thread;
        state.last_spinner = thread;
        true
    }

    pub(crate) fn end_spin(&self) {
        let mut state = self.state.lock();
        state.spinner = None;
        state.stopped = false;
    }

    /// Whether nobody but the calling thread could run this executor's callbacks now.
    pub(crate) fn depends_on_this_thread(&self) -> bool {
        let state = self.state.lock();
        state.last_spinner == Some(std::thread::current().id())
    }

    pub(crate) fn is_stopped(&self) -> bool {
        let state = self.state.lock();
        state.stopped || state.ended
    }

    /// The clock of the groups, if there are any yet.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.state.lock().clock.clone()
    }

    /// Puts back what ran, and gets what to run next.
    ///
    /// `slack` is set when the thread waits for a timer for the first time.
    #[inline(never)]
    pub(crate) fn next(&self, work: &mut Option<Work>, patience: Patience, slack: &mut Slack) -> Next {
        let mut state = self.state.lock();
        if work.is_some() {
            let gone = state.put_back(work);
            if state.leaving > 0 {
                self.finished.notify_all();
            }
            if gone.is_some() {
                // Its last reference may be ours: dropped without the lock, as it holds the user's closure.
                drop(state);
                drop(gone);
                state = self.state.lock();
            }
        }
        loop {
            if state.stopped || state.ended {
                return Next::Stopped;
            }
            if mem::take(&mut state.poked) {
                return Next::Poked;
            }
            state.fire_timers();
            let limit = if let Patience::Until(limit) = patience { Some(limit) } else { None };
            if state.pop(limit, work).is_some() {
                return Next::Run;
            }
            let deadline = match patience {
                Patience::None | Patience::Until(_) => return Next::Idle,
                Patience::Deadline(deadline) => Some(deadline),
                Patience::Forever => None,
            };
            let timeout = match state.longest_wait(deadline) {
                Wait::Over => return Next::Idle,
                Wait::Look => continue,
                Wait::AtMost(timeout) => timeout,
            };
            slack.tighten();
            state.parked = true; // P1
            state = self.bell.wait_at_most(state, timeout);
            state.parked = false;
            drop(state);
            trail::fetch();
            state = self.state.lock();
        }
    }

    /// Puts back what ran last, when no more is wanted.
    pub(crate) fn finish(&self, work: &mut Option<Work>) {
        let mut state = self.state.lock();
        let gone = state.put_back(work);
        if state.leaving > 0 {
            self.finished.notify_all();
        }
        drop(state);
        drop(gone);
    }
}

impl Wake for Scheduler {
    fn wake(&self) {
        let parked = mem::take(&mut self.state.lock().parked);
        if parked {
            self.signal();
        }
    }
}

/// How long to sleep.
enum Wait {
    /// The deadline has passed.
    Over,
    /// Something is due already.
    Look,
    /// At most so long, or until somebody signals.
    AtMost(Option<Duration>),
}

#[inline]
fn member_of<'a>(members: &'a mut Slab<Member>, home: &Home) -> Option<&'a mut Member> {
    members.get_mut(home.member as usize).filter(|member| member.serial == home.serial)
}

impl State {
    #[inline]
    fn make_ready(&mut self, home: &Home, key: Stamp) {
        if member_of(&mut self.members, home).is_some() {
            self.ready_member(home.member, key);
        } // else it left
    }

    #[inline]
    fn ready_member(&mut self, id: u32, key: Stamp) {
        let member = &mut self.members[id as usize];
        if mem::replace(&mut member.ready, true) {
            return; // sticky: it keeps the key under which it is waiting
        }
        let Some(group) = self.slots.get_mut(member.slot as usize) else { return };
        if group.ready.push(key, id) && group.running == 0 {
            self.ready.update(member.slot, (Reverse(group.priority), key));
        }
    }

    /// Brings the executor's queue in line with the group's.
    fn place_group(&mut self, slot: u32) {
        let Some(group) = self.slots.get(slot as usize) else { return };
        match group.ready.first() {
            Some((key, _)) if group.running == 0 => self.ready.update(slot, (Reverse(group.priority), key)),
            _ => self.ready.remove(slot),
        }
    }

    fn unready(&mut self, home: &Home) {
        if let Some(member) = member_of(&mut self.members, home)
            && mem::take(&mut member.ready)
        {
            let slot = member.slot;
            if let Some(group) = self.slots.get_mut(slot as usize) {
                group.ready.remove(home.member);
            }
            self.place_group(slot);
        }
    }

    fn take_member(&mut self, home: &Home) -> Option<Member> {
        member_of(&mut self.members, home)?;
        self.unready(home);
        let member = self.members.remove(home.member as usize);
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

    fn remove_slot(&mut self, slot: u32) -> Option<Slot> {
        self.ready.remove(slot);
        let gone = self.slots.try_remove(slot as usize)?;
        self.count_priority(Some(gone.priority), None);
        Some(gone)
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

    /// Brings `first_due` and `reads_clock` up to date.
    fn note_timers(&mut self) {
        let [steady, others @ ..] = &self.timers;
        self.first_due = steady.peek().map_or(i64::MAX, |(due, _)| due);
        let other_clocks = others.iter().any(|heap| !heap.is_empty());
        self.reads_clock = other_clocks || (self.priorities.len() > 1 && !steady.is_empty());
    }

    /// Makes the timers ready that are due before what is ready, or now.
    #[inline]
    fn fire_timers(&mut self) {
        let first = self.ready.first().map(|((_, key), _)| key.time);
        if let Some(first) = first.filter(|_| !self.reads_clock) {
            // It was published at a time that is past: a timer that is due before it is due.
            if self.first_due <= first {
                self.fire(ClockKind::Steady, first, 0);
            }
        } else if self.first_due != i64::MAX || self.reads_clock {
            self.fire_by_clock();
        }
    }

    fn fire_by_clock(&mut self) {
        let Some(clock) = self.clock.clone() else { return };
        let steady = clock.steady();
        for kind in ClockKind::ALL {
            if !self.timers[kind as usize].is_empty() {
                let now = if kind == ClockKind::Steady { steady } else { clock.now(kind) };
                self.fire(kind, now, steady.saturating_sub(now));
            }
        }
    }

    /// Makes the timers of a clock ready that are due at `now`; `to_steady` is what brings its times to steady ones.
    fn fire(&mut self, kind: ClockKind, now: i64, to_steady: i64) {
        while let Some((due, timer)) = self.timers[kind as usize].peek() {
            if due > now {
                break;
            }
            self.timers[kind as usize].pop();
            let TimerPlace { member, .. } = self.timer_places[timer as usize];
            self.ready_member(member, Stamp::due(due.saturating_add(to_steady)));
        }
        self.note_timers();
    }

    /// Whether what has this key was ready at the limit. Virtual time may have gone back since: its stamps' order doesn't.
    fn in_time(&self, key: Stamp, limit: Stamp) -> bool {
        let is_virtual = self.clock.as_ref().is_some_and(Clock::is_virtual);
        if is_virtual && key.order != 0 { key.order <= limit.order } else { key <= limit }
    }

    /// The next entity to run: of the group of the highest priority the one with the oldest key, not after `limit`.
    #[inline]
    fn pop(&mut self, limit: Option<Stamp>, work: &mut Option<Work>) -> Option<()> {
        let ((_, first), mut slot) = self.ready.first()?;
        if let Some(limit) = limit
            && !self.in_time(first, limit)
        {
            // What was ready at the limit may stand behind a group of higher priority that became ready since.
            let in_time = self.ready.iter().filter(|((_, key), _)| self.in_time(*key, limit));
            slot = in_time.min_by_key(|(key, _)| *key)?.1;
        }
        self.ready.remove(slot);
        let group = &mut self.slots[slot as usize];
        let (_, id) = group.ready.pop()?;
        let member = &mut self.members[id as usize];
        member.ready = false;
        let entity = member.entity.take()?;
        group.running = member.serial;
        let turn = match group.group {
            REENTRANT => Turn::reentrant(),
            // SAFETY: a group is in one scheduler at a time (`GroupCore::add_to`; it leaves when the executor is dropped,
            // which can't be while a spin borrows it), and here it runs one member at a time: `running` was 0, or the group
            // would not have been in `ready`, and is set until `put_back` takes the turn back.
            number => unsafe { Turn::of(number) },
        };
        *work = Some(Work { entity, turn, slot, member: id, serial: member.serial, next: None });
        Some(())
    }

    /// Puts an entity back; returns it if it left while it ran.
    #[inline(never)]
    pub(crate) fn put_back(&mut self, work: &mut Option<Work>) -> Option<Arc<dyn Entity>> {
        // With it the turn ends, before anybody can get the next one.
        let Work { entity, slot, member: id, serial, next, .. } = work.take()?;
        let group = &mut self.slots[slot as usize];
        group.running = 0;
        let gone = match self.members.get_mut(id as usize) {
            Some(member) if member.serial == serial => {
                member.entity = Some(entity);
                if let Some(key) = next
                    && !mem::replace(&mut member.ready, true)
                {
                    group.ready.push(key, id);
                }
                None
            }
            _ => Some(entity),
        };
        if group.leaves {
            // Its last members left while this ran: `gone` is the last of them, and the slot has nothing to be dropped.
            self.remove_slot(slot);
        } else if let Some((key, _)) = group.ready.first() {
            self.ready.update(slot, (Reverse(group.priority), key));
        }
        gone
    }

    /// How long a thread may sleep when nothing is ready.
    fn longest_wait(&self, deadline: Option<i64>) -> Wait {
        let mut sleep = i64::MAX;
        if let Some(deadline) = deadline {
            sleep = deadline.saturating_sub(clock::Time::steady().nanoseconds());
            if sleep <= 0 {
                return Wait::Over;
            }
        }
        let Some(clock) = &self.clock else {
            return Wait::AtMost((sleep != i64::MAX).then(|| wait_of(sleep))); // no group yet, so no timer
        };
        let now = clock.steady();
        for kind in ClockKind::ALL {
            let Some((due, _)) = self.timers[kind as usize].peek() else { continue };
            let left = due.saturating_sub(if kind == ClockKind::Steady { now } else { clock.now(kind) });
            if left <= 0 {
                return Wait::Look;
            }
            if clock.passes(kind) {
                // Somebody may set the wall clock without telling us: look again every second.
                sleep = sleep.min(if kind == ClockKind::Steady { left } else { left.min(1_000_000_000) });
            }
        }
        Wait::AtMost((sleep != i64::MAX).then(|| wait_of(sleep)))
    }
}

fn wait_of(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

/// A thread's timer slack, while it spins.
pub(crate) struct Slack {
    before: Option<u64>,
    tightened: bool,
}

impl Slack {
    pub(crate) fn new() -> Self {
        Self { before: None, tightened: false }
    }

    fn tighten(&mut self) {
        if !mem::replace(&mut self.tightened, true) {
            self.before = clock::precise_waits();
        }
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            clock::restore_waits(before);
        }
    }
}
