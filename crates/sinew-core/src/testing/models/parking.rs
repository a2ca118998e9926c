//! P1, P2: an executor that goes to sleep while other threads wake it.

use super::{add_group, check, notify};
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::crew::worker::{Blocking, Next, Worker};
use crate::executor::group_token::GroupNumber;
use crate::sys::clock::{Clock, ClockKind, VirtualClock};
use loom::thread;

/// Runs ready entities until `count` have run, sleeping in between; or until another thread stops
/// it.
fn spin(scheduler: &Scheduler, count: usize) -> usize {
    let mut worker = Worker::new(scheduler, 0);
    for ran in 0..count {
        let mut work = None;
        match worker.next(&mut work, Blocking::Forever) {
            Next::Run => scheduler.finish(&mut work),
            Next::Stopped => return ran,
            Next::Idle | Next::Lane | Next::Poked => panic!("no thread asked for that"),
        }
    }
    count
}

/// Entities that become ready while the executor goes to sleep run: two notifiers, two entities,
/// none lost.
///
/// Fails if `next` doesn't set `parked`, if it sets it before it has looked at the heap and
/// releases the lock in between, if `notify` checks `parked` before the entity is in the heap and
/// under another lock, or if the caller doesn't signal.
#[test]
fn two_notifiers_wake_one_sleeper() {
    check(6, || {
        let scheduler = Scheduler::new();
        let tasks = add_group::<2>(&scheduler, GroupNumber::new());
        let threads = tasks.map(|task_ref| thread::spawn(move || notify(&task_ref, 1)));
        assert_eq!(spin(&scheduler, 2), 2);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// The same entity becomes ready again while it runs or after: never lost.
#[test]
fn ready_again_while_it_runs() {
    check(6, || {
        let scheduler = Scheduler::new();
        let [task_ref] = add_group(&scheduler, GroupNumber::new());
        let there = scheduler.clone();
        let thread = thread::spawn(move || {
            notify(&task_ref, 1);
            notify(&task_ref, 2); // merges with the first one, or counts separately
            there.stop();
        });
        let ran = spin(&scheduler, 3);
        assert!(ran <= 2, "ran {ran} times");
        thread.join().unwrap();
    });
}

/// A stop is never slept through, whether it comes before, while or after the executor goes to
/// sleep.
///
/// Fails if `halt` doesn't ring the bell, or marks without the lock.
#[test]
fn a_stop_wakes_the_sleeper() {
    check(6, || {
        let scheduler = Scheduler::new();
        let [task_ref] = add_group(&scheduler, GroupNumber::new());
        let there = scheduler.clone();
        let threads = [thread::spawn(move || notify(&task_ref, 1)), thread::spawn(move || there.stop())];
        let ran = spin(&scheduler, 2);
        assert!(ran <= 1);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// A poke is never slept through, even next to a notification.
///
/// Fails if `poke` doesn't signal the thread that it found parked.
#[test]
fn a_poke_wakes_the_sleeper() {
    check(6, || {
        let scheduler = Scheduler::new();
        let [task_ref] = add_group(&scheduler, GroupNumber::new());
        let there = scheduler.clone();
        let threads = [thread::spawn(move || notify(&task_ref, 1)), thread::spawn(move || there.poke())];
        let (mut ran, mut poked) = (0, 0);
        let mut worker = Worker::new(&scheduler, 0);
        while ran + poked < 2 {
            let mut work = None;
            match worker.next(&mut work, Blocking::Forever) {
                Next::Run => {
                    ran += 1;
                    scheduler.finish(&mut work);
                }
                Next::Poked => poked += 1,
                Next::Idle | Next::Lane | Next::Stopped => panic!("no thread asked for that"),
            }
        }
        assert_eq!((ran, poked), (1, 1));
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// A virtual clock passes a timer's due time while the executor goes to sleep: the timer runs.
///
/// Fails if `wake` doesn't signal, or if the clock wakes before it is set.
#[test]
fn virtual_time_passes_while_it_goes_to_sleep() {
    check(6, || {
        let time = VirtualClock::new();
        let clock = Clock::new(Some(time.clone()));
        let scheduler = Scheduler::new();
        assert!(scheduler.accept_clock(&clock));
        let [task_ref] = add_group(&scheduler, GroupNumber::new());
        assert!(task_ref.arm(ClockKind::Steady, Some(10)).is_none());
        let thread = thread::spawn(move || time.set(crate::time::Time::from_nanoseconds(10)));
        assert_eq!(spin(&scheduler, 1), 1);
        thread.join().unwrap();
    });
}

/// A timer is armed for a past time while the executor goes to sleep.
///
/// Fails if `arm` doesn't check `parked`.
#[test]
fn a_timer_is_armed_while_it_goes_to_sleep() {
    check(6, || {
        let clock = Clock::new(Some(VirtualClock::new()));
        let scheduler = Scheduler::new();
        assert!(scheduler.accept_clock(&clock));
        let [task_ref] = add_group(&scheduler, GroupNumber::new());
        let thread = thread::spawn(move || {
            task_ref.arm(ClockKind::Steady, Some(0)).signal();
        });
        assert_eq!(spin(&scheduler, 1), 1);
        thread.join().unwrap();
    });
}
