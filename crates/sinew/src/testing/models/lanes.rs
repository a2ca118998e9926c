//! Tasks that run past the queue, and others that want them elsewhere: L1-L3, M1-M3.

use super::{Probe, add_group, check, notify, stamp};
use crate::executor::current::{self, CallbackScope};
use crate::executor::group_token::GroupNumber;
use crate::executor::lane::Advance;
use crate::executor::scheduler::{Blocking, Next, Scheduler, TaskRef, Worker};
use crate::sys::sync::{Arc, AtomicBool, Ordering};
use loom::thread;

/// A scheduler that has its lane open on this thread, which runs the callback of the first of two
/// tasks, and in it makes the other one ready at 2.
struct Burst {
    scheduler: Arc<Scheduler>,
    worker: Worker,
    other: TaskRef,
}

impl Burst {
    fn begin() -> Self {
        let scheduler = Scheduler::new();
        assert!(scheduler.begin());
        scheduler.open_lane(true);
        current::enter_lane(scheduler.id);
        let [first] = add_group(&scheduler, GroupNumber::new());
        let [other] = add_group(&scheduler, GroupNumber::new());
        notify(&first, 1);
        let burst = Self { scheduler, worker: Worker::new(0), other };
        burst.publish(2);
        burst
    }

    /// In a callback, the other task is made ready.
    fn publish(&self, time: i64) {
        let _running = CallbackScope::enter(u64::MAX, u64::MAX);
        assert!(!self.other.notify(stamp(time)), "this thread comes to it");
    }

    /// Runs what there is, as a worker does; `ran` is told the keys of what the lane had, else 0.
    fn run(&mut self, mut ran: impl FnMut(i64)) {
        let mut work = None;
        loop {
            match self.scheduler.next(&mut work, Blocking::None, &mut self.worker) {
                Next::Run => ran(0),
                Next::Lane => {
                    let mut next = self.worker.task.take();
                    while let Some(task) = next {
                        let running = CallbackScope::enter(task.task().serial(), task.task().group);
                        ran(task.key.time);
                        drop(running);
                        next = match self.scheduler.advance(task) {
                            Advance::Next(task) => Some(task),
                            Advance::Ask => None,
                            Advance::Unfinished(task) => {
                                self.scheduler.finish_in_lane(&task, None, None);
                                None
                            }
                        };
                    }
                }
                Next::Idle => break,
                Next::Poked | Next::Stopped => panic!("no thread asked for that"),
            }
        }
        current::enter_lane(0);
        self.scheduler.open_lane(false);
    }
}

/// When `leave` has returned, a task of the lane neither runs nor starts, and what it wrote is to
/// be seen.
///
/// Fails if the entry stays in the lane (M2), or if the group of the task that runs isn't marked
/// when the task leaves.
#[test]
fn a_task_leaves_the_lane() {
    check(3, || {
        let mut burst = Burst::begin();
        let touched = Arc::new(Probe::new(0));
        let left = Arc::new(AtomicBool::new(false));
        let (its, scheduler, other, gone) =
            (touched.clone(), burst.scheduler.clone(), burst.other.clone(), left.clone());
        let thread = thread::spawn(move || {
            scheduler.leave(&other, true);
            its.write(its.read() + 1);
            gone.store(true, Ordering::Release);
        });
        burst.run(|key| {
            if key == 2 {
                assert!(!left.load(Ordering::Acquire), "it ran after it had left");
                touched.write(touched.read() + 1);
            }
        });
        thread.join().unwrap();
        burst.publish(3);
        burst.run(|_| panic!("it ran after it had left"));
        assert!((1..=2).contains(&touched.read()));
    });
}

/// What another thread makes ready, and says so to a callback, runs before what that callback
/// makes ready then.
///
/// Fails if the gate isn't set when the scheduler's lock is let go, or isn't looked at.
#[test]
fn what_is_older_elsewhere_runs_first() {
    check(3, || {
        let mut burst = Burst::begin();
        let [elsewhere] = add_group(&burst.scheduler, GroupNumber::new());
        let said = Arc::new(AtomicBool::new(false));
        let says = said.clone();
        let thread = thread::spawn(move || {
            notify(&elsewhere, 3);
            says.store(true, Ordering::Release);
        });
        let (other, mut through_queue, mut heard) = (burst.other.clone(), 0, false);
        burst.run(|key| match key {
            2 => {
                heard = said.load(Ordering::Acquire);
                let _running = CallbackScope::enter(u64::MAX, u64::MAX);
                assert!(!other.notify(stamp(4)));
            }
            4 => assert!(!heard || through_queue == 2, "what was published at 3 runs before"),
            _ => through_queue += 1,
        });
        thread.join().unwrap();
    });
}
