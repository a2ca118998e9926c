//! The scheduler against everything that is ready, sorted.

use crate::clock::{Clock, ClockKind, Stamp, Time, VirtualClock};
use crate::executor::scheduler::{Home, Next, Patience, Scheduler, Work, Worker};
use crate::executor::turn::Number;
use crate::idle;
use crate::sync::Arc;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::cmp::Reverse;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
enum Operation {
    AddGroup {
        priority: i32,
    },
    SetPriority {
        group: Index,
        priority: i32,
    },
    /// An entity comes into a group.
    Enter {
        group: Index,
        timer: bool,
    },
    Leave {
        entity: Index,
    },
    /// A message comes; the entity announces itself if it has not.
    Arrive {
        entity: Index,
    },
    /// The oldest message gives way, as in a full keep_last history. The entity stays announced.
    Overwrite {
        entity: Index,
    },
    /// A timer is set, so many nanoseconds from now; also to a time that is past.
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
    /// Takes work out, like a thread of an executor, of which there are two; `limited` to what is ready now.
    Take {
        worker: Index,
        limited: bool,
    },
    /// The worker's callback ends.
    Finish {
        worker: Index,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    let index = any::<Index>;
    let priority = || prop_oneof![3 => Just(0), 1 => -1..3];
    prop_oneof![
        1 => priority().prop_map(|priority| Operation::AddGroup { priority }),
        1 => (index(), priority()).prop_map(|(group, priority)| Operation::SetPriority { group, priority }),
        3 => (index(), prop::bool::weighted(0.3)).prop_map(|(group, timer)| Operation::Enter { group, timer }),
        1 => index().prop_map(|entity| Operation::Leave { entity }),
        8 => index().prop_map(|entity| Operation::Arrive { entity }),
        2 => index().prop_map(|entity| Operation::Overwrite { entity }),
        3 => (index(), -3..20_i64).prop_map(|(entity, after)| Operation::Arm { entity, after }),
        1 => index().prop_map(|entity| Operation::Disarm { entity }),
        3 => (0..12_i64).prop_map(|time| Operation::Wait { time }),
        8 => (index(), prop::bool::weighted(0.2))
            .prop_map(|(worker, limited)| Operation::Take { worker, limited }),
        4 => index().prop_map(|worker| Operation::Finish { worker }),
    ]
}

/// What the oracle knows of a group.
struct Group {
    slot: u32,
    priority: i32,
    running: bool,
}

/// What the oracle knows of an entity.
struct Member {
    home: Home,
    serial: u64,
    group: usize,
    is_timer: bool,
    /// Messages that wait.
    messages: VecDeque<Stamp>,
    /// The stamp under which it is ready.
    key: Option<Stamp>,
    /// When the timer is due.
    due: Option<i64>,
    running: bool,
}

#[derive(Default)]
struct Thread {
    work: Option<Work>,
    /// What it runs: group and serial number.
    runs: Option<(usize, u64)>,
}

struct Pair {
    scheduler: Arc<Scheduler>,
    clock: Clock,
    time: VirtualClock,
    groups: Vec<Group>,
    members: Vec<Member>,
    workers: [Thread; 2],
    ran: usize,
}

impl Pair {
    fn new() -> Self {
        let time = VirtualClock::new();
        let clock = Clock::new(Some(time.clone()));
        let scheduler = Scheduler::new();
        assert!(scheduler.accept_clock(&clock));
        let (groups, members, workers) = (Vec::new(), Vec::new(), Default::default());
        let mut pair = Self { scheduler, clock, time, groups, members, workers, ran: 0 };
        pair.run(Operation::AddGroup { priority: 0 });
        pair
    }

    fn pick(&mut self, entity: &Index, timer: bool) -> Option<&mut Member> {
        let fitting: Vec<_> =
            (0..self.members.len()).filter(|&n| self.members[n].is_timer == timer).collect();
        (!fitting.is_empty()).then(|| &mut self.members[*entity.get(&fitting)])
    }

    fn run(&mut self, operation: Operation) {
        match operation {
            Operation::AddGroup { priority } => {
                let slot = self.scheduler.add_group(Number::new().get(), priority);
                let slot = slot.expect("the scheduler is open");
                self.groups.push(Group { slot, priority, running: false });
            }
            Operation::SetPriority { group, priority } => {
                let group = group.index(self.groups.len());
                self.scheduler.set_priority(self.groups[group].slot, priority);
                self.groups[group].priority = priority;
            }
            Operation::Enter { group, timer: is_timer } => {
                let group = group.index(self.groups.len());
                let (home, serial) = idle::enter(&self.scheduler, self.groups[group].slot);
                let (messages, key, due) = (VecDeque::new(), None, None);
                self.members.push(Member {
                    home,
                    serial,
                    group,
                    is_timer,
                    messages,
                    key,
                    due,
                    running: false,
                });
            }
            Operation::Leave { entity } if !self.members.is_empty() => {
                let gone = self.members.swap_remove(entity.index(self.members.len()));
                self.scheduler.leave(&gone.home, false);
                assert!(!gone.home.notify(self.clock.stamp()), "nobody is parked");
                let _ = self.scheduler.arm(&gone.home, ClockKind::Steady, Some(0)); // for nobody
            }
            Operation::Arrive { entity } => {
                let stamp = self.clock.stamp();
                let Some(member) = self.pick(&entity, false) else { return };
                let announced = !member.messages.is_empty() || member.running || member.key.is_some();
                member.messages.push_back(stamp);
                if !announced {
                    member.key = Some(stamp);
                    assert!(!member.home.notify(stamp), "nobody is parked");
                }
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
                assert!(!member.home.scheduler.arm(&member.home, ClockKind::Steady, Some(due)));
            }
            Operation::Disarm { entity } => {
                let Some(member) = self.pick(&entity, true) else { return };
                (member.due, member.key) = (None, None);
                assert!(!member.home.scheduler.arm(&member.home, ClockKind::Steady, None));
            }
            Operation::Wait { time } => {
                self.time.set(Time::from_nanoseconds(self.time.now().nanoseconds() + time));
            }
            Operation::Take { worker, limited } => self.take(worker.index(2), limited),
            Operation::Finish { worker } => self.finish(worker.index(2)),
            Operation::Leave { .. } => {}
        }
    }

    /// The oracle's end of a callback; what the entity has to do next, if it still is there. `None` if nothing ran.
    fn end_callback(&mut self, worker: usize) -> Option<Option<Stamp>> {
        let (group, serial) = self.workers[worker].runs.take()?;
        self.groups[group].running = false;
        let member = self.members.iter_mut().find(|member| member.serial == serial);
        Some(member.and_then(|member| {
            member.running = false;
            if !member.is_timer {
                member.key = member.messages.front().copied();
                return member.key;
            }
            None
        }))
    }

    /// All that is ready, best first; timers that are due are.
    fn sorted(&self, limit: Option<Stamp>) -> Vec<(Reverse<i32>, Stamp, u64)> {
        let now = self.time.now().nanoseconds();
        let mut ready: Vec<_> = self
            .members
            .iter()
            .filter(|member| !self.groups[member.group].running)
            .filter_map(|member| {
                let due = member.due.filter(|&due| due <= now).map(Stamp::due);
                let key = member.key.or(due).filter(|key| limit.is_none_or(|limit| *key <= limit))?;
                Some((Reverse(self.groups[member.group].priority), key, member.serial))
            })
            .collect();
        ready.sort_unstable();
        ready
    }

    /// The worker puts back what it ran.
    fn finish(&mut self, worker: usize) {
        if let Some(next) = self.end_callback(worker) {
            let work = &mut self.workers[worker].work;
            if let Some(work) = work {
                work.next = next;
            }
            self.scheduler.finish(work);
        }
    }

    /// The worker puts back what it ran and asks for more.
    fn take(&mut self, worker: usize, limited: bool) {
        if let Some(next) = self.end_callback(worker)
            && let Some(work) = &mut self.workers[worker].work
        {
            work.next = next;
        }
        let limit = limited.then(|| self.clock.stamp());
        let patience = limit.map_or(Patience::None, Patience::Until);
        let sorted = self.sorted(limit);
        let work = &mut self.workers[worker].work;
        match self.scheduler.next(work, patience, &mut Worker::new(0)) {
            Next::Run => {
                let serial = work.as_ref().map(|work| work.serial).unwrap_or_default();
                let found = sorted.iter().find(|(_, _, ready)| *ready == serial);
                let &(priority, key, _) = found.expect("it was ready");
                let &(first_priority, first_key, _) = sorted.first().expect("something was");
                // Which of several with the same key goes first is not promised.
                assert_eq!((priority, key), (first_priority, first_key), "{sorted:?}");
                let member = self.members.iter_mut().find(|member| member.serial == serial);
                let member = member.expect("it has not left");
                member.key = None;
                member.running = true;
                self.ran += 1;
                if member.is_timer {
                    member.due = None; // until it is armed again
                } else {
                    // What it takes is its oldest message, which may be newer than the key it was ready under.
                    let taken = member.messages.pop_front().expect("it was announced");
                    assert!(taken >= key);
                }
                self.workers[worker].runs = Some((member.group, serial));
                self.groups[member.group].running = true;
            }
            Next::Idle => assert!(sorted.is_empty(), "idle, but there is {sorted:?}"),
            Next::Poked | Next::Stopped => panic!("nobody asked for that"),
        }
    }
}

proptest! {
    #[test]
    fn runs_what_is_first(operations in vec(operation(), 0..250)) {
        let mut pair = Pair::new();
        operations.into_iter().for_each(|operation| pair.run(operation));
        // In the end everything runs, and each message once.
        (0..2).for_each(|worker| pair.finish(worker));
        let left: usize = pair.members.iter().map(|member| member.messages.len()).sum();
        let due = pair.time.now().nanoseconds();
        let timers = pair.members.iter().filter(|member| member.due.is_some_and(|at| at <= due)).count();
        pair.ran = 0;
        for _ in 0..=left + timers {
            pair.take(0, false);
        }
        prop_assert_eq!(pair.ran, left + timers);
    }
}
