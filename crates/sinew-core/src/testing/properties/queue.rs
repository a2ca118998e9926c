//! The scheduler against all ready tasks, sorted.

use crate::executor::DispatchOrder;
use crate::executor::crew::current::{self, CallbackScope, CallerScope};
use crate::executor::crew::lane::{Advance, InLane};
use crate::executor::crew::members::GroupSlot;
use crate::executor::crew::scheduler::{RunningTask, Scheduler, TaskRef};
use crate::executor::crew::worker::{Blocking, Next, Worker};
use crate::executor::group_token::{GroupNumber, REENTRANT};
use crate::sys::clock::{Clock, ClockKind, Stamp, Time, VirtualClock};
use crate::sys::sync::Arc;
use crate::testing::idle;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::cmp::Reverse;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
enum Operation {
    AddGroup {
        priority: i32,
        reentrant: bool,
    },
    SetPriority {
        group: Index,
        priority: i32,
    },
    /// Adds an entity to a group.
    Enter {
        group: Index,
        timer: bool,
    },
    Leave {
        entity: Index,
    },
    /// Publishes a message that arrives later.
    Publish,
    /// A message arrives, from the running callback or from elsewhere; the entity announces itself
    /// if it has not.
    Arrive {
        entity: Index,
        elsewhere: bool,
        /// Whether it is the message that was published before.
        late: bool,
    },
    /// The oldest message gives way, as in a full keep_last history. The entity stays announced.
    Overwrite {
        entity: Index,
    },
    /// Sets a timer, this many nanoseconds from now; possibly to a past time.
    Arm {
        entity: Index,
        after: i64,
    },
    Disarm {
        entity: Index,
    },
    Wait {
        time: i64,
    },
    /// Takes work out, like a thread of the executor; `limited` to tasks that are ready now.
    Take {
        worker: Index,
        limited: bool,
    },
    /// The worker's callback ends.
    Finish {
        worker: Index,
    },
    /// A thread outside the executor takes a certain entity, or ends its callback if it is in one.
    Lend {
        entity: Index,
    },
    /// A running callback calls a server that has nothing to do, and runs it itself if it can.
    Call {
        entity: Index,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    let index = any::<Index>;
    let priority = || prop_oneof![3 => Just(0), 1 => -1..3];
    prop_oneof![
        1 => (priority(), prop::bool::weighted(0.3))
            .prop_map(|(priority, reentrant)| Operation::AddGroup { priority, reentrant }),
        1 => (index(), priority()).prop_map(|(group, priority)| Operation::SetPriority { group, priority }),
        3 => (index(), prop::bool::weighted(0.3)).prop_map(|(group, timer)| Operation::Enter { group, timer }),
        1 => index().prop_map(|entity| Operation::Leave { entity }),
        1 => Just(Operation::Publish),
        8 => (index(), prop::bool::weighted(0.3), prop::bool::weighted(0.2))
            .prop_map(|(entity, elsewhere, late)| Operation::Arrive { entity, elsewhere, late }),
        2 => index().prop_map(|entity| Operation::Overwrite { entity }),
        3 => (index(), -3..20_i64).prop_map(|(entity, after)| Operation::Arm { entity, after }),
        1 => index().prop_map(|entity| Operation::Disarm { entity }),
        3 => (0..12_i64).prop_map(|time| Operation::Wait { time }),
        8 => (index(), prop::bool::weighted(0.2))
            .prop_map(|(worker, limited)| Operation::Take { worker, limited }),
        4 => index().prop_map(|worker| Operation::Finish { worker }),
        3 => index().prop_map(|entity| Operation::Lend { entity }),
        2 => index().prop_map(|entity| Operation::Call { entity }),
    ]
}

/// The oracle's record of a group.
struct Group {
    slot: GroupSlot,
    priority: i32,
    reentrant: bool,
    /// Number of running callbacks.
    running: usize,
}

impl Group {
    fn is_free(&self) -> bool {
        self.reentrant || self.running == 0
    }
}

/// The oracle's record of an entity.
struct Member {
    task_ref: TaskRef,
    serial: u64,
    group: usize,
    is_timer: bool,
    /// Waiting messages.
    messages: VecDeque<Stamp>,
    /// Whether it has announced its messages, or the executor will learn of them when its callback
    /// ends.
    announced: bool,
    /// The stamp under which it is ready.
    key: Option<Stamp>,
    /// The timer's due time.
    due: Option<i64>,
    /// The number of its last announcement.
    number: u64,
}

#[derive(Default)]
struct Thread {
    work: Option<RunningTask>,
    /// The task of its lane that it runs instead.
    lane: Option<InLane>,
    runs: Option<Callback>,
}

/// A running callback.
struct Callback {
    _running: CallbackScope,
    group: usize,
    serial: u64,
    /// The next message at the time when the callback began.
    next: Option<Stamp>,
}

struct Pair {
    scheduler: Arc<Scheduler>,
    clock: Clock,
    time: VirtualClock,
    groups: Vec<Group>,
    members: Vec<Member>,
    /// The executor's threads, and one from outside.
    threads: Vec<Thread>,
    /// Whether the only worker has its lane open.
    has_lane: bool,
    /// The time of a published message that hasn't arrived yet.
    published: Option<Stamp>,
    ran: usize,
    order: DispatchOrder,
    /// Announcements so far.
    announced: u64,
    /// The announcement for which the last task of the lane ran.
    last_in_lane: u64,
    /// Number of tasks of the lane that ran one after the other.
    in_a_row: u32,
}

impl Pair {
    fn new(threads: usize, has_lane: bool, order: DispatchOrder) -> Self {
        let time = VirtualClock::new();
        let clock = Clock::new(Some(time.clone()));
        let scheduler = Scheduler::with(threads);
        scheduler.configure(order, true);
        assert!(scheduler.accept_clock(&clock));
        idle::spin(&scheduler);
        let threads = (0..=threads).map(|_| Thread::default()).collect();
        let (groups, members) = (Vec::new(), Vec::new());
        if has_lane {
            scheduler.trust_virtual_time();
            scheduler.open_lane(0, true);
            current::enter_lane(scheduler.id);
        }
        let mut pair = Self {
            scheduler,
            clock,
            time,
            groups,
            members,
            threads,
            has_lane,
            published: None,
            ran: 0,
            order,
            announced: 0,
            last_in_lane: 0,
            in_a_row: 0,
        };
        pair.run(Operation::AddGroup { priority: 0, reentrant: false });
        pair
    }

    fn workers(&self) -> usize {
        self.threads.len() - 1
    }

    /// Whether as many callbacks run as the executor has threads.
    fn is_full(&self) -> bool {
        self.threads.iter().filter(|thread| thread.runs.is_some()).count() >= self.workers()
    }

    fn pick(&mut self, entity: &Index, timer: bool) -> Option<&mut Member> {
        let fitting: Vec<_> =
            (0..self.members.len()).filter(|&n| self.members[n].is_timer == timer).collect();
        (!fitting.is_empty()).then(|| &mut self.members[*entity.get(&fitting)])
    }

    fn run(&mut self, operation: Operation) {
        match operation {
            Operation::AddGroup { priority, reentrant } => {
                let number = if reentrant { REENTRANT } else { GroupNumber::new().get() };
                let slot = GroupSlot::new(&self.scheduler, number, priority).expect("the scheduler is open");
                self.groups.push(Group { slot, priority, reentrant, running: 0 });
            }
            Operation::SetPriority { group, priority } => {
                let group = group.index(self.groups.len());
                self.groups[group].slot.set_priority(priority);
                self.groups[group].priority = priority;
            }
            Operation::Enter { group, timer: is_timer } => {
                let group = group.index(self.groups.len());
                let (task_ref, serial) = idle::enter(&self.groups[group].slot);
                self.members.push(Member {
                    task_ref,
                    serial,
                    group,
                    is_timer,
                    messages: VecDeque::new(),
                    announced: false,
                    key: None,
                    due: None,
                    number: 0,
                });
            }
            Operation::Leave { entity } if !self.members.is_empty() => {
                let gone = self.members.swap_remove(entity.index(self.members.len()));
                gone.task_ref.leave(false);
                assert!(gone.task_ref.notify(self.clock.stamp()).is_none(), "nobody is parked");
                // Its entity is gone.
                let _ = gone.task_ref.arm(ClockKind::Steady, Some(0));
            }
            Operation::Publish => self.published = Some(self.clock.stamp()),
            Operation::Arrive { entity, elsewhere, late } => {
                let now = self.clock.stamp();
                let before = self.published.take_if(|_| late);
                let lane = elsewhere.then(|| current::enter_lane(0));
                self.announced += 1;
                let number = self.announced;
                if let Some(member) = self.pick(&entity, false) {
                    // Messages of one entity arrive in order.
                    let stamp = before.filter(|_| member.messages.is_empty()).unwrap_or(now);
                    member.messages.push_back(stamp);
                    if !std::mem::replace(&mut member.announced, true) {
                        (member.key, member.number) = (Some(stamp), number);
                        assert!(member.task_ref.notify(stamp).is_none(), "nobody is parked");
                    }
                }
                lane.map(current::enter_lane);
            }
            Operation::Overwrite { entity } => {
                if let Some(member) = self.pick(&entity, false)
                    && member.messages.len() > 1
                {
                    member.messages.pop_front();
                }
            }
            Operation::Arm { entity, after } => {
                let due = (self.time.now().nanoseconds() + after).max(0);
                let Some(member) = self.pick(&entity, true) else { return };
                (member.due, member.key) = (Some(due), None);
                // In virtual time all clocks agree; a timer may move from one to another.
                let clock = ClockKind::ALL[usize::try_from(after.rem_euclid(3)).unwrap_or(0)];
                assert!(member.task_ref.arm(clock, Some(due)).is_none());
            }
            Operation::Disarm { entity } => {
                let Some(member) = self.pick(&entity, true) else { return };
                (member.due, member.key) = (None, None);
                assert!(member.task_ref.arm(ClockKind::Steady, None).is_none());
            }
            Operation::Wait { time } => {
                self.time.set(Time::from_nanoseconds(self.time.now().nanoseconds() + time));
            }
            Operation::Take { worker, limited } => self.take(worker.index(self.workers()), limited),
            Operation::Finish { worker } => self.finish(worker.index(self.workers())),
            Operation::Lend { entity } => self.lend(&entity),
            Operation::Call { entity } => self.call(&entity),
            Operation::Leave { .. } => {}
        }
    }

    /// Ends a callback in the oracle. Returns the stamp that is ready then, if its entity still
    /// exists; `None` if nothing ran.
    fn end_callback(&mut self, thread: usize) -> Option<Option<Stamp>> {
        let Callback { group, serial, next, .. } = self.threads[thread].runs.take()?;
        self.groups[group].running -= 1;
        let member = self.members.iter_mut().find(|member| member.serial == serial);
        Some(member.and_then(|member| {
            member.key = member.key.or(next);
            next
        }))
    }

    /// Begins a callback in the oracle; its entity takes its oldest message.
    fn begin_callback(&mut self, thread: usize, serial: u64, key: Stamp) {
        let member = self.members.iter_mut().find(|member| member.serial == serial);
        let member = member.expect("it has not left");
        let group = &mut self.groups[member.group];
        group.running += 1;
        (member.key, member.announced) = (None, false);
        let mut next = None;
        if member.is_timer {
            member.due = None; // until it is armed again
        } else {
            // Its oldest message may be newer than the key under which it was ready.
            let taken = member.messages.pop_front().expect("it was announced");
            assert!(taken >= key);
            next = member.messages.front().copied();
            member.announced = next.is_some();
        }
        if group.reentrant
            && let Some(stamp) = next.take()
        {
            member.key = Some(stamp);
            assert!(member.task_ref.notify(stamp).is_none(), "nobody is parked");
        }
        let _running = CallbackScope::enter(serial, 0);
        self.threads[thread].runs = Some(Callback { _running, group: member.group, serial, next });
        self.ran += 1;
    }

    /// Returns all ready tasks, best first, including due timers.
    fn sorted(&self, limit: Option<Stamp>) -> Vec<(Reverse<i32>, Stamp, u64)> {
        let now = self.time.now().nanoseconds();
        let mut ready: Vec<_> = self
            .members
            .iter()
            .filter(|member| self.groups[member.group].is_free())
            .filter_map(|member| {
                let due = member.due.filter(|&due| due <= now).map(Stamp::due);
                let key = member.key.or(due).filter(|key| limit.is_none_or(|limit| *key <= limit))?;
                Some((Reverse(self.groups[member.group].priority), key, member.serial))
            })
            .collect();
        ready.sort_unstable();
        ready
    }

    /// The thread puts back the task it ran.
    fn finish(&mut self, thread: usize) {
        if let Some(next) = self.end_callback(thread) {
            if let Some(task) = self.threads[thread].lane.take() {
                self.scheduler.finish_in_lane(&task, next, None);
                self.scheduler.open_lane(0, false); // one spin is over, and the next begins
                self.scheduler.open_lane(0, true);
                return;
            }
            let work = &mut self.threads[thread].work;
            if let Some(work) = work {
                work.next = next;
            }
            self.scheduler.finish(work);
        }
    }

    /// The worker puts back the task it ran and asks for more.
    fn take(&mut self, worker: usize, limited: bool) {
        let next = self.end_callback(worker);
        if let (Some(next), Some(work)) = (next, &mut self.threads[worker].work) {
            work.next = next;
        }
        if let Some(task) = self.threads[worker].lane.take()
            && let Some(task) = self.advance(task, next.flatten())
        {
            return self.run_in_lane(worker, task);
        }
        let limit = (limited && !self.has_lane).then(|| self.clock.stamp());
        let patience = limit.map_or(Blocking::None, Blocking::Until);
        let sorted = self.sorted(limit);
        // A thread from outside runs a callback in place of this one.
        let is_replaced = self.threads[self.workers()].runs.is_some() && self.is_full();
        let work = &mut self.threads[worker].work;
        let index = u32::try_from(worker).expect("a few");
        let mut asks = Worker::new(&self.scheduler, index);
        match asks.next(work, patience) {
            Next::Run => {
                assert!(!is_replaced);
                let serial = work.as_ref().map(|work| work.serial()).unwrap_or_default();
                let found = sorted.iter().find(|(_, _, ready)| *ready == serial);
                let &(priority, key, _) = found.expect("it was ready");
                let &(first_priority, first_key, _) = sorted.first().expect("something was");
                // The order among several with the same key is not guaranteed.
                assert_eq!((priority, key), (first_priority, first_key), "{sorted:?}");
                self.in_a_row = 0;
                self.begin_callback(worker, serial, key);
            }
            Next::Idle => assert!(sorted.is_empty() || is_replaced, "idle, but {sorted:?} are ready"),
            Next::Lane => {
                let task = asks.task.take().expect("there is one");
                self.run_in_lane(worker, task);
            }
            Next::Poked | Next::Stopped => panic!("no thread asked for that"),
        }
    }

    /// Ends a task of the lane, which may have more to do; returns the next one of the lane, if
    /// there is one.
    fn advance(&mut self, task: InLane, next: Option<Stamp>) -> Option<InLane> {
        if next.is_some() {
            self.announced += 1;
            let serial = task.task().serial();
            if let Some(member) = self.members.iter_mut().find(|member| member.serial == serial) {
                member.number = self.announced; // it goes to the lane's end
            }
            self.scheduler.finish_in_lane(&task, next, None);
            return None;
        }
        match self.scheduler.advance(task) {
            Advance::Next(task) => Some(task),
            Advance::Ask => None,
            Advance::Unfinished(task) => {
                self.scheduler.finish_in_lane(&task, None, None);
                None
            }
        }
    }

    /// The worker runs a task of its lane.
    fn run_in_lane(&mut self, worker: usize, task: InLane) {
        let sorted = self.sorted(None);
        let serial = task.task().serial();
        let found = match self.order {
            DispatchOrder::ByTime => sorted.first(),
            DispatchOrder::RunNext => sorted.iter().find(|(_, _, ready)| *ready == serial),
        };
        let &(_, key, ready) = found.expect("it was ready");
        assert_eq!((key, ready), (task.key, serial), "{sorted:?}");
        let member = self.members.iter().find(|member| member.serial == serial).expect("it has not left");
        assert!(
            member.number > self.last_in_lane,
            "the lane's tasks run in the order of their announcements"
        );
        self.last_in_lane = member.number;
        self.in_a_row += 1;
        assert!(self.order == DispatchOrder::ByTime || self.in_a_row <= DispatchOrder::IN_A_ROW);
        self.threads[worker].lane = Some(task);
        self.begin_callback(worker, serial, key);
    }

    /// The thread from outside puts back the task it ran, or takes an entity if that is the next to
    /// run and there is a place for a callback.
    fn lend(&mut self, entity: &Index) {
        let outside = self.workers();
        if self.threads[outside].runs.is_some() {
            return self.finish(outside);
        }
        let is_full = self.is_full();
        let Some(member) = self.pick(entity, false) else { return };
        let (task_ref, serial, key, group) =
            (member.task_ref.clone(), member.serial, member.key, member.group);
        let could = key.is_some() && self.groups[group].is_free() && !is_full;
        let mine = (Reverse(self.groups[group].priority), key);
        // Due timers are in the queue only if a worker has checked since: so they may come before
        // it or not.
        let all = self.sorted(None);
        let is_first =
            all.iter().all(|(priority, key, other)| *other == serial || (*priority, Some(*key)) > mine);
        let mut messages = self.members.iter().filter(|other| other.key.is_some() && other.serial != serial);
        let is_overtaking = messages.any(|other| {
            let others = (Reverse(self.groups[other.group].priority), other.key);
            self.groups[other.group].is_free() && others < mine
        });
        let mut work = None;
        task_ref.take_as_caller(None, i64::MAX, &mut work);
        assert!(work.is_none() || (could && !is_overtaking), "it took a task that wasn't next");
        assert!(work.is_some() || !(could && is_first), "it didn't take the next task");
        if let Some(key) = key.filter(|_| work.is_some()) {
            self.threads[outside].work = work;
            self.begin_callback(outside, serial, key);
        }
    }

    /// A running callback calls a server, and runs the first task of the server's group until it
    /// returns.
    fn call(&mut self, entity: &Index) {
        let outside = self.workers();
        let in_callback = self.threads[..outside].iter().any(|thread| thread.runs.is_some());
        if !in_callback || self.threads[outside].runs.is_some() {
            return;
        }
        let stamp = self.clock.stamp();
        let Some(server) = self.pick(entity, false).filter(|member| !member.announced) else { return };
        server.messages.push_back(stamp);
        (server.announced, server.key) = (true, Some(stamp));
        let (task_ref, group) = (server.task_ref.clone(), server.group);
        let mut work = None;
        let scope = CallerScope::enter(self.scheduler.id);
        task_ref.take_as_caller(Some(stamp), i64::MAX, &mut work);
        drop(scope);
        assert_eq!(work.is_some(), self.groups[group].is_free(), "it runs a task if the group is free");
        let Some(serial) = work.as_ref().map(|work| work.serial()) else { return };
        let ran = self.members.iter().find(|member| member.serial == serial).expect("it has not left");
        let key = ran.key.or(ran.due.map(Stamp::due)).expect("it was ready");
        let mut others = self.members.iter().filter(|member| member.group == group);
        assert!(ran.group == group && others.all(|member| member.key.is_none_or(|other| key <= other)));
        self.threads[outside].work = work;
        self.begin_callback(outside, serial, key);
        self.finish(outside);
    }
}

fn run_all(mut pair: Pair, operations: Vec<Operation>) {
    operations.into_iter().for_each(|operation| pair.run(operation));
    // In the end all tasks run, and each message is delivered once.
    (0..pair.threads.len()).for_each(|thread| pair.finish(thread));
    let left: usize = pair.members.iter().map(|member| member.messages.len()).sum();
    let due = pair.time.now().nanoseconds();
    let timers = pair.members.iter().filter(|member| member.due.is_some_and(|at| at <= due)).count();
    pair.ran = 0;
    for _ in 0..=left + timers {
        pair.take(0, false);
    }
    assert_eq!(pair.ran, left + timers);
    current::enter_lane(0);
}

proptest! {
    #[test]
    fn runs_what_is_first(threads in 1..5_usize, operations in vec(operation(), 0..250)) {
        run_all(Pair::new(threads, false, DispatchOrder::ByTime), operations);
    }

    #[test]
    fn runs_what_is_first_past_the_queue(operations in vec(operation(), 0..250)) {
        run_all(Pair::new(1, true, DispatchOrder::ByTime), operations);
    }

    #[test]
    fn runs_next_what_was_made_ready(operations in vec(operation(), 0..250)) {
        run_all(Pair::new(1, true, DispatchOrder::RunNext), operations);
    }
}
