//! Hand-over: workers that go to sleep, wake and work, against a model of each worker's state.

use crate::executor::crew::scheduler::index;
use crate::executor::crew::wake_policy::{Learnt, Times, WATCH_INTERVAL, WakeReason, Workers};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Debug, Clone)]
enum Operation {
    /// A worker begins a callback with a run time and a tail that may be known; or ends its present
    /// one.
    Work {
        worker: Index,
        run: Option<i64>,
        tail: Option<i64>,
        measured: bool,
    },
    /// A worker's callback blocks, or continues.
    Block {
        worker: Index,
    },
    /// A worker goes to sleep, or wakes up, by itself if it was not called.
    Sleep {
        worker: Index,
    },
    /// A task becomes ready: in a callback of this worker, if it is in one.
    New {
        worker: Index,
        ready: usize,
        load: i64,
    },
    /// A worker leaves tasks behind.
    Rest {
        ready: usize,
        load: i64,
        run: i64,
    },
    /// A timer is set: in a callback of this worker, if it is in one.
    Timer {
        worker: Index,
        after: i64,
    },
    Lend,
    Return,
    /// All workers are called, and leave.
    End,
    Wait {
        time: i64,
    },
}

/// A duration on either side of the cost of a wake-up.
fn duration() -> impl Strategy<Value = i64> {
    prop_oneof![2 => 0..5_000_i64, 2 => 5_000..200_000_i64, 1 => 200_000..50_000_000_i64]
}

fn operation() -> impl Strategy<Value = Operation> {
    let any_worker = any::<Index>;
    let known = || prop::option::weighted(0.8, duration());
    prop_oneof![
        6 => (any_worker(), known(), known(), prop::bool::weighted(0.8))
            .prop_map(|(worker, run, tail, measured)| Operation::Work { worker, run, tail, measured }),
        1 => any_worker().prop_map(|worker| Operation::Block { worker }),
        8 => any_worker().prop_map(|worker| Operation::Sleep { worker }),
        5 => (any_worker(), 1..4_usize, duration()).prop_map(|(worker, ready, load)| Operation::New { worker, ready, load }),
        2 => (0..4_usize, duration(), duration()).prop_map(|(ready, load, run)| Operation::Rest { ready, load, run }),
        2 => (any_worker(), duration()).prop_map(|(worker, after)| Operation::Timer { worker, after }),
        1 => Just(Operation::Lend),
        1 => Just(Operation::Return),
        1 => Just(Operation::End),
        3 => duration().prop_map(|time| Operation::Wait { time }),
    ]
}

/// A worker's state.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Awake,
    Callback {
        run: Option<i64>,
        tail: Option<i64>,
        since: Option<i64>,
        blocked: bool,
    },
    Asleep,
    /// Called, and not awake yet.
    Coming,
}

/// Workers, and the knowledge about them from their own reports.
struct Room {
    workers: Workers,
    now: i64,
    at: Vec<At>,
    /// In the reverse order of calling: the last is called first.
    asleep: Vec<u32>,
    monitor: Option<u32>,
    /// Whether a worker that was called for lack of a monitor has not gone to sleep yet.
    monitor_wanted: bool,
    timekeeper: Option<u32>,
    callers: usize,
}

impl Room {
    fn new(threads: usize) -> Self {
        Self {
            workers: Workers::new(threads),
            now: 1,
            at: vec![At::Awake; threads],
            asleep: Vec::new(),
            monitor: None,
            monitor_wanted: false,
            timekeeper: None,
            callers: 0,
        }
    }

    fn are_several(&self) -> bool {
        self.at.len() > 1
    }

    fn active(&self) -> usize {
        self.callers + self.at.iter().filter(|at| matches!(at, At::Callback { .. })).count()
    }

    fn has_room(&self) -> bool {
        self.callers == 0 || self.active() < self.at.len()
    }

    /// Returns the time that a ready task waits if no worker is woken; unlimited if that isn't
    /// known.
    fn expected_wait(&self, here: Option<usize>) -> i64 {
        if let Some(worker) = here {
            let At::Callback { tail, .. } = self.at[worker] else { unreachable!("only from callbacks") };
            return tail.unwrap_or(i64::MAX);
        }
        let waits = self.at.iter().filter_map(|at| match *at {
            At::Callback { run: Some(run), since, blocked: false, .. } => {
                let left = run - since.map_or(0, |since| self.now - since);
                (left >= 0).then_some(left) // an overdue worker is not relied on
            }
            _ => None,
        });
        waits.min().unwrap_or(i64::MAX)
    }

    /// Checks which worker, if any, should have been called.
    fn check_call(&mut self, called: Option<u32>, ready: usize, wait: i64) {
        let coming = self.at.iter().filter(|at| **at == At::Coming).count();
        let is_soon = wait < self.workers.patience();
        let is_needed = coming < ready && self.has_room() && !(is_soon && self.monitor.is_some());
        assert_eq!(called, self.asleep.last().copied().filter(|_| is_needed));
        self.monitor_wanted |= is_soon && called.is_some();
        self.note_call(called);
    }

    fn note_call(&mut self, called: Option<u32>) {
        let Some(worker) = called else { return };
        self.asleep.retain(|other| *other != worker);
        self.at[worker as usize] = At::Coming;
        self.timekeeper = self.timekeeper.filter(|timekeeper| *timekeeper != worker);
        self.workers.note_call(self.now);
    }

    fn park(&mut self, worker: u32) {
        let (minds_timers, watch) = self.workers.park(worker, self.now);
        let watches = match self.monitor {
            Some(monitor) => monitor == worker,
            None => self.are_several() && (self.monitor_wanted || self.active() > 0),
        };
        assert_eq!(watch, watches.then_some(WATCH_INTERVAL));
        self.at[worker as usize] = At::Asleep;
        if watches {
            // From here on the duration of callbacks that didn't read the clock is measured.
            for at in &mut self.at {
                if let At::Callback { since: since @ None, .. } = at {
                    *since = Some(self.now);
                }
            }
            self.monitor = Some(worker);
            self.monitor_wanted = false;
            self.asleep.insert(0, worker); // called last
        } else {
            self.asleep.push(worker);
        }
        if minds_timers {
            assert!(self.timekeeper.is_none() || self.timekeeper == self.monitor, "two watch the timers");
            self.timekeeper = Some(worker);
        }
    }

    fn unpark(&mut self, worker: u32) {
        let woken = self.workers.unpark(worker, self.now);
        let is_monitor = self.monitor == Some(worker);
        let minded_timers = self.timekeeper == Some(worker);
        self.timekeeper = self.timekeeper.filter(|_| !minded_timers);
        if self.at[worker as usize] == At::Coming {
            assert_eq!(woken, WakeReason::Called);
            self.monitor = self.monitor.filter(|_| !is_monitor);
        } else {
            let looks = is_monitor && !minded_timers;
            assert_eq!(woken, if looks { WakeReason::Look } else { WakeReason::Timeout });
            self.asleep.retain(|other| *other != worker);
        }
        self.at[worker as usize] = At::Awake;
    }

    fn begin(&mut self, worker: u32, run: Option<i64>, tail: Option<i64>, measured: bool) {
        let mut times = Times::UNKNOWN;
        run.into_iter().for_each(|run| times.run.learn(run));
        tail.into_iter().for_each(|tail| times.tail.learn(tail));
        let since = measured.then_some(self.now);
        self.workers.begin(worker, times, since.unwrap_or(0));
        self.workers.leave_poller(worker);
        self.monitor = self.monitor.filter(|monitor| *monitor != worker);
        self.at[worker as usize] = At::Callback { run, tail, since, blocked: false };
    }

    fn end(&mut self, worker: u32) {
        self.workers.end(worker);
        self.at[worker as usize] = At::Awake;
    }

    fn timer(&mut self, here: Option<u32>, due: i64) {
        let called = self.workers.for_timer(due, here);
        let expected = match (self.timekeeper, here.map(|worker| self.at[worker as usize])) {
            (Some(timekeeper), _) => Some(timekeeper), // its sleep has the wrong length
            // After its callback has ended it checks by itself.
            (None, Some(At::Callback { run, since: Some(since), .. })) => {
                let is_too_late = run.is_none_or(|run| due < since + run);
                let called = self.asleep.last().copied().filter(|_| is_too_late);
                self.monitor_wanted |= called.is_some() && self.monitor.is_none();
                called
            }
            (None, Some(_)) => None,
            (None, None) => self.asleep.last().copied(),
        };
        assert_eq!(called, expected);
        self.note_call(called);
    }

    fn end_all(&mut self) {
        self.workers.call_all();
        assert!(!self.workers.has_parked());
        for worker in std::mem::take(&mut self.asleep) {
            self.at[worker as usize] = At::Coming;
        }
        for worker in 0..index(self.at.len()) {
            match self.at[worker as usize] {
                At::Callback { .. } => self.end(worker),
                At::Coming => self.unpark(worker),
                At::Awake | At::Asleep => {}
            }
            self.workers.retire(worker);
        }
        (self.monitor, self.timekeeper) = (None, None);
    }

    fn apply(&mut self, operation: Operation) {
        let threads = self.at.len();
        let number = |worker: Index| index(worker.index(threads));
        let in_callback = |at: &[At], worker: Index| {
            let worker = worker.index(threads);
            // With a single worker, its state isn't checked: no other worker sleeps.
            matches!(at[worker], At::Callback { .. }).then_some(worker).filter(|_| threads > 1)
        };
        match operation {
            Operation::Work { worker, run, tail, measured } => match self.at[worker.index(threads)] {
                At::Callback { .. } => self.end(number(worker)),
                At::Awake if self.has_room() => self.begin(number(worker), run, tail, measured),
                _ => {}
            },
            Operation::Block { worker } => {
                if let At::Callback { blocked, .. } = &mut self.at[worker.index(threads)] {
                    *blocked = !*blocked;
                    self.workers.set_blocked(number(worker), *blocked);
                }
            }
            Operation::Sleep { worker } => match self.at[worker.index(threads)] {
                At::Awake => self.park(number(worker)),
                At::Asleep | At::Coming => self.unpark(number(worker)),
                At::Callback { .. } => {}
            },
            Operation::New { worker, ready, load } => {
                let here = in_callback(&self.at, worker);
                let wait = self.expected_wait(here).saturating_add(load);
                let called = self.workers.for_new(ready, load, here.map(index), self.now);
                self.check_call(called, ready, wait);
            }
            Operation::Rest { ready, load, run } => {
                let called = self.workers.for_rest(ready, load, run);
                self.check_call(called, ready, run + load);
            }
            Operation::Timer { worker, after } => {
                let here = in_callback(&self.at, worker).map(index);
                self.timer(here, self.now + after);
            }
            Operation::Lend => {
                assert_eq!(self.workers.accepts_caller(), self.active() < threads);
                if self.workers.accepts_caller() {
                    self.workers.begin_caller();
                    self.callers += 1;
                }
            }
            Operation::Return if self.callers > 0 => {
                self.workers.end_caller();
                self.callers -= 1;
                let called = self.workers.for_place(2);
                self.check_call(called, 2, i64::MAX);
            }
            Operation::Return => {}
            Operation::End => self.end_all(),
            Operation::Wait { time } => self.now += time,
        }
        self.check();
    }

    fn check(&self) {
        assert_eq!(self.workers.has_parked(), !self.asleep.is_empty());
        assert_eq!(self.workers.are_full(), !self.has_room());
        assert!((10_000..=150_000).contains(&self.workers.patience()));
        if let Some(monitor) = self.monitor {
            assert!(!matches!(self.at[monitor as usize], At::Callback { .. }), "nobody watches");
        }
        if self.at.iter().all(|at| *at == At::Asleep) {
            assert!(self.timekeeper.is_some(), "all workers sleep, and none watches the timers");
        }
    }
}

proptest! {
    /// No worker keeps sleeping while a task may wait longer than a wake-up takes. The worker that
    /// has slept the shortest is called, and further ones as long as there is work for them; a
    /// called worker is not called again. While all sleep, exactly one watches the timers.
    #[test]
    fn who_is_needed_is_called(threads in 1..5_usize, operations in vec(operation(), 1..100)) {
        let mut room = Room::new(threads);
        operations.into_iter().for_each(|operation| room.apply(operation));
    }

    #[test]
    fn what_is_learnt_lies_between_the_samples(samples in vec(duration(), 1..60)) {
        let mut learnt = Learnt::UNKNOWN;
        for (count, sample) in samples.iter().enumerate() {
            let before = learnt.expected();
            learnt.learn(*sample);
            let seen = &samples[..=count];
            let (least, most) = (seen.iter().min().unwrap(), seen.iter().max().unwrap());
            prop_assert!((*least..=*most).contains(&learnt.expected()));
            if count > 0 {
                let step = before * 3 / 4 + 2_001; // an outlier counts only partly
                prop_assert!(learnt.expected() <= before + step);
            }
        }
        (0..200).for_each(|_| learnt.learn(7_000));
        prop_assert_eq!(learnt.expected(), 7_000, "the estimate follows a change");
    }
}

#[test]
fn what_is_not_known_is_longer_than_anything() {
    assert!(Learnt::UNKNOWN.expected() > 1_000_000_000 * 86_400 * 365);
    let mut learnt = Learnt::UNKNOWN;
    learnt.learn(i64::MAX);
    assert!(learnt.expected() < Learnt::UNKNOWN.expected());
}

#[test]
fn after_a_second_without_work_the_watchman_goes_off_duty() {
    let mut room = Room::new(2);
    room.begin(0, None, None, true);
    room.park(1);
    assert_eq!(room.monitor, Some(1));
    room.end(0);
    room.park(0);
    let mut looks = 0;
    while room.monitor.is_some() {
        let _ = room.workers.unpark(1, room.now);
        let (_, watch) = room.workers.park(1, room.now);
        room.monitor = watch.and(Some(1));
        looks += 1;
        assert!(looks <= 202, "it never rests");
    }
    assert!(looks >= 199, "it rests after {looks} looks");
}

/// The monitor leaves the timers to a worker with a callback that is known to be short. Once the
/// callback takes longer than ever before, the monitor watches them, although the worker didn't
/// read the clock when the callback began.
#[test]
fn the_monitor_minds_the_timers_when_a_short_callback_takes_long() {
    let mut room = Room::new(2);
    room.begin(0, Some(1000), Some(500), false);
    room.park(1);
    assert_eq!((room.monitor, room.timekeeper), (Some(1), None), "the worker is back soon");
    room.now += WATCH_INTERVAL;
    room.unpark(1);
    room.park(1);
    assert_eq!((room.monitor, room.timekeeper), (Some(1), Some(1)));
}
