//! P1-P3 with several threads, callers among them.
//!
//! Time stands still in a model, and no sleep ends by itself: so every measured callback is known
//! to be short, no monitor checks for work left behind, and a busy worker must find work for which
//! no worker is called.

use super::{Probe, add_group, check, notify, stamp};
use crate::executor::DispatchOrder;
use crate::executor::crew::members::GroupSlot;
use crate::executor::crew::scheduler::{Scheduler, TaskRef, ToSignal};
use crate::executor::crew::worker::{Blocking, Next, Worker};
use crate::executor::group_token::{GroupNumber, REENTRANT};
use crate::sys::clock::{Clock, ClockKind, Time, VirtualClock};
use crate::sys::sync::{Arc, AtomicUsize, Condvar, Mutex, Ordering};
use crate::testing::idle;
use loom::thread;

/// State shared by a model's callbacks: the number of callbacks left to run before the executor
/// stops.
struct Left {
    scheduler: Arc<Scheduler>,
    count: AtomicUsize,
}

impl Left {
    fn new(scheduler: &Arc<Scheduler>, count: usize) -> Arc<Self> {
        Arc::new(Self { scheduler: scheduler.clone(), count: AtomicUsize::new(count) })
    }

    /// Counts a callback that has run.
    fn ran(&self) {
        let left = self.count.fetch_sub(1, Ordering::AcqRel);
        assert_ne!(left, 0, "a callback ran twice");
        if left == 1 {
            self.scheduler.stop();
        }
    }

    /// Runs callbacks until none is left; returns the number that this worker ran.
    fn spin(&self, worker: u32) -> usize {
        let (mut worker, mut work, mut ran) = (Worker::new(&self.scheduler, worker), None, 0);
        loop {
            match worker.next(&mut work, Blocking::Forever) {
                Next::Run => {
                    ran += 1;
                    self.ran();
                }
                Next::Stopped => return ran,
                Next::Idle | Next::Lane | Next::Poked => panic!("no thread asked for that"),
            }
        }
    }
}

fn two_threads() -> Arc<Scheduler> {
    Scheduler::with(2)
}

/// Tasks that become ready while two workers go to sleep all run, once each.
///
/// Fails if `notify` calls no worker, or calls without the lock; if `signal` rings for one worker
/// only; or if `unpark` doesn't count the worker that arrived.
#[test]
fn two_workers_share_what_comes() {
    check(3, || {
        let scheduler = two_threads();
        let [one] = add_group(&scheduler, GroupNumber::new());
        let [other] = add_group(&scheduler, GroupNumber::new());
        let left = Left::new(&scheduler, 2);
        let there = left.clone();
        let helper = thread::spawn(move || there.spin(1));
        let notifier = thread::spawn(move || {
            notify(&one, 1);
            notify(&other, 2);
        });
        let mine = left.spin(0);
        assert_eq!(mine + helper.join().unwrap(), 2);
        notifier.join().unwrap();
    });
}

/// Two notifiers, for two callbacks that wait for each other: the thread that takes the bits of
/// `due` rings for both, so that both workers come.
///
/// Fails if `signal` reads `due` and empties it in two steps.
#[test]
fn two_notifiers_call_two_workers() {
    check(2, || {
        let scheduler = two_threads();
        let tasks = [GroupNumber::new(), GroupNumber::new()].map(|group| add_group::<1>(&scheduler, group));
        let left = Left::new(&scheduler, 2);
        let meeting = Arc::new((Mutex::new(0), Condvar::new()));
        let spin = move |left: &Left, index: u32| {
            let (mut worker, mut work) = (Worker::new(&left.scheduler, index), None);
            while let Next::Run = worker.next(&mut work, Blocking::Forever) {
                let (here, came) = &*meeting;
                let mut here = here.lock();
                *here += 1;
                came.notify_all();
                while *here < 2 {
                    came.wait_at_most(&mut here, None);
                }
                drop(here);
                left.ran();
            }
        };
        let (there, helps) = (left.clone(), spin.clone());
        let helper = thread::spawn(move || helps(&there, 1));
        let notifiers = tasks.map(|[task_ref]| thread::spawn(move || notify(&task_ref, 1)));
        spin(&left, 0);
        helper.join().unwrap();
        for notifier in notifiers {
            notifier.join().unwrap();
        }
    });
}

/// A ready entity causes one call, however often it is announced. (Both `ready_member` and
/// `for_new` ensure that.)
#[test]
fn one_call_for_one_need() {
    check(3, || {
        let scheduler = two_threads();
        let [task_ref] = add_group(&scheduler, GroupNumber::new());
        let left = Left::new(&scheduler, 1);
        let there = left.clone();
        let helper = thread::spawn(move || there.spin(1));
        let mut calls = 0;
        for time in 1..=2 {
            if left.count.load(Ordering::Acquire) == 1 {
                let signal = task_ref.notify(stamp(time));
                calls += u64::from(!signal.is_none());
                signal.signal();
            }
        }
        assert!(calls <= 1, "it was taken, and announced again afterwards");
        assert_eq!(helper.join().unwrap(), 1);
    });
}

/// Two workers, one group: one callback at a time, and the worker that ends it makes the rest
/// available.
///
/// Fails if `put_back` doesn't put the group back, or if a worker goes to sleep while work is left.
#[test]
fn an_exclusive_group_passes_between_workers() {
    check(3, || {
        let scheduler = two_threads();
        let group = GroupNumber::new();
        let state = Arc::new(group.state(Probe::new(0)));
        let tasks = add_group::<2>(&scheduler, group);
        let left = Left::new(&scheduler, 2);
        let spin = move |left: Arc<Left>, index: u32| {
            let (mut worker, mut work) = (Worker::new(&left.scheduler, index), None);
            while let Next::Run = worker.next(&mut work, Blocking::Forever) {
                let token = &mut work.as_mut().unwrap().token;
                let state = state.open(&mut token.state);
                state.write(state.read() + 1);
                left.ran();
            }
        };
        notify(&tasks[0], 1);
        let (there, helps) = (left.clone(), spin.clone());
        let helper = thread::spawn(move || helps(there, 1));
        notify(&tasks[1], 2);
        spin(left.clone(), 0);
        helper.join().unwrap();
        assert_eq!(left.count.load(Ordering::Acquire), 0);
    });
}

/// A reentrant group's entity has two messages, and announces the second before its callback for
/// the first runs: two workers call it twice.
///
/// Fails if `hand_out` doesn't put the group back, or `put_back` removes the announcement.
#[test]
fn a_reentrant_entity_is_called_for_each_message() {
    check(3, || {
        let scheduler = two_threads();
        let group = GroupSlot::new(&scheduler, REENTRANT, 0).unwrap();
        let (task_ref, _) = idle::enter(&group);
        let left = Left::new(&scheduler, 2);
        let messages = Arc::new(Mutex::new(2));
        let spin = move |left: Arc<Left>, task_ref: TaskRef, index: u32| {
            let (mut worker, mut work) = (Worker::new(&left.scheduler, index), None);
            while let Next::Run = worker.next(&mut work, Blocking::Forever) {
                let mut messages = messages.lock();
                *messages -= 1; // taken
                let signal = if *messages > 0 { task_ref.notify(stamp(2)) } else { ToSignal::NONE };
                drop(messages);
                signal.signal();
                left.ran();
            }
        };
        let (there, its, helps) = (left.clone(), task_ref.clone(), spin.clone());
        let helper = thread::spawn(move || helps(there, its, 1));
        notify(&task_ref, 1);
        spin(left.clone(), task_ref, 0);
        helper.join().unwrap();
        assert_eq!(left.count.load(Ordering::Acquire), 0);
    });
}

/// A thread from outside and a worker, one entity: exactly one of them runs it.
///
/// Fails if `pop_member` doesn't check whether the entity is ready.
#[test]
fn a_lent_thread_or_the_worker() {
    check(4, || {
        let scheduler = Scheduler::new();
        scheduler.configure(DispatchOrder::ByTime, true);
        idle::spin(&scheduler);
        let group = GroupSlot::new(&scheduler, GroupNumber::new().get(), 0).unwrap();
        let (task_ref, serial) = idle::enter(&group);
        let [last] = add_group(&scheduler, GroupNumber::new());
        let caller = thread::spawn(move || {
            notify(&task_ref, 1);
            let ran = task_ref.run_as_caller(None, i64::MAX);
            notify(&last, 2);
            usize::from(ran)
        });
        let (mut worker, mut work, mut ran) = (Worker::new(&scheduler, 0), None, Vec::new());
        while !matches!(&ran[..], [.., last] if *last != serial) {
            assert!(matches!(worker.next(&mut work, Blocking::Forever), Next::Run));
            ran.extend(work.as_ref().map(|work| work.serial()));
        }
        scheduler.finish(&mut work);
        assert_eq!(ran.len() - 1 + caller.join().unwrap(), 1);
    });
}

/// While a thread from outside has the only place, the worker sleeps although more is ready; then
/// it is called.
///
/// Fails if `finish` doesn't call a worker for the freed place, or if `pop` ignores that there was
/// none (two would run at once).
#[test]
fn the_place_of_a_lent_thread_is_passed_on() {
    check(3, || {
        let scheduler = Scheduler::new();
        scheduler.configure(DispatchOrder::ByTime, true);
        idle::spin(&scheduler);
        let [one] = add_group(&scheduler, GroupNumber::new());
        let [other] = add_group(&scheduler, GroupNumber::new());
        let left = Left::new(&scheduler, 2);
        let there = left.clone();
        let caller = thread::spawn(move || {
            notify(&one, 1);
            notify(&other, 2);
            let ran = one.run_as_caller(None, i64::MAX);
            if ran {
                there.ran();
            }
            usize::from(ran)
        });
        let mine = left.spin(0);
        assert_eq!(mine + caller.join().unwrap(), 2);
    });
}

/// A timer is due while a thread from outside has the only place, and an older task is ready: the
/// worker sleeps, and runs both when it is called.
///
/// Fails if the timer isn't queued (the worker would check again and again), or if `finish` doesn't
/// call a worker for the freed place.
#[test]
fn a_timer_that_is_due_waits_for_a_place() {
    check(2, || {
        let clock = VirtualClock::new();
        clock.set(Time::from_nanoseconds(10));
        let scheduler = Scheduler::new();
        scheduler.configure(DispatchOrder::ByTime, true);
        assert!(scheduler.accept_clock(&Clock::new(Some(clock))));
        idle::spin(&scheduler);
        let [one] = add_group(&scheduler, GroupNumber::new());
        let [older, timed] = add_group(&scheduler, GroupNumber::new());
        let left = Left::new(&scheduler, 3);
        let there = left.clone();
        let caller = thread::spawn(move || {
            notify(&one, 1);
            notify(&older, 2);
            timed.arm(ClockKind::Steady, Some(5)).signal();
            let ran = one.run_as_caller(None, i64::MAX);
            if ran {
                there.ran();
            }
            usize::from(ran)
        });
        let mine = left.spin(0);
        assert_eq!(mine + caller.join().unwrap(), 3);
    });
}
