//! Tasks that run past the queue while other threads remove or run them: L1-L3, M1-M3.

use super::{Probe, add_group, check, notify, stamp};
use crate::executor::crew::current::{self, CallbackScope};
use crate::executor::crew::lane::{Advance, InLane};
use crate::executor::crew::scheduler::{RunningTask, Scheduler, TaskRef};
use crate::executor::crew::worker::{Blocking, Next, Worker};
use crate::executor::group_token::GroupNumber;
use crate::sys::clock::Wake;
use crate::sys::sync::{Arc, AtomicBool, AtomicUsize, Ordering};
use crate::testing::idle;
use loom::thread;

/// A scheduler with its lane open on this thread, which runs the callback of the first of two tasks
/// and makes the other one ready at 2 within it.
struct Burst {
    scheduler: Arc<Scheduler>,
    other: TaskRef,
}

impl Burst {
    fn begin() -> Self {
        let scheduler = Scheduler::new();
        idle::spin(&scheduler);
        scheduler.open_lane(0, true);
        current::enter_lane(scheduler.id);
        let [first] = add_group(&scheduler, GroupNumber::new());
        let [other] = add_group(&scheduler, GroupNumber::new());
        notify(&first, 1);
        let burst = Self { scheduler, other };
        burst.publish(2);
        burst
    }

    /// Makes the other task ready inside a callback.
    fn publish(&self, time: i64) {
        let _running = CallbackScope::enter(u64::MAX, u64::MAX);
        assert!(self.other.notify(stamp(time)).is_none(), "this thread runs it itself");
    }

    /// Runs the ready tasks; `ran` gets the key of each task from the lane, and 0 for others.
    fn run(&mut self, mut ran: impl FnMut(i64)) {
        let end = spin(&mut Worker::new(&self.scheduler, 0), Blocking::None, |task, _| {
            ran(task.map_or(0, |task| task.key.time));
        });
        assert!(matches!(end, Next::Idle), "no thread asked for that");
        current::enter_lane(0);
        self.scheduler.open_lane(0, false);
    }
}

/// Runs the ready tasks, as a worker does; `ran` gets each task, from the lane or the queue.
/// Returns why it ended.
fn spin(
    worker: &mut Worker<'_>,
    patience: Blocking,
    mut ran: impl FnMut(Option<&InLane>, Option<&RunningTask>),
) -> Next {
    let mut work = None;
    loop {
        match worker.next(&mut work, patience) {
            Next::Run => ran(None, work.as_ref()),
            Next::Lane => {
                let mut next = worker.task.take();
                while let Some(task) = next {
                    let running = CallbackScope::enter(task.task().serial(), task.task().group);
                    ran(Some(&task), None);
                    drop(running);
                    next = match worker.scheduler.advance(task) {
                        Advance::Next(task) => Some(task),
                        Advance::Ask => None,
                        Advance::Unfinished(task) => {
                            worker.scheduler.finish_in_lane(&task, None, None);
                            None
                        }
                    };
                }
            }
            end => return end,
        }
    }
}

/// After `leave` returns, a task of the lane neither runs nor starts, and its writes are visible.
///
/// Fails if the entry stays in the lane (M2), or if the group of the running task isn't marked when
/// the task leaves.
#[test]
fn a_task_leaves_the_lane() {
    check(3, || {
        let mut burst = Burst::begin();
        let touched = Arc::new(Probe::new(0));
        let left = Arc::new(AtomicBool::new(false));
        let (its, other, gone) = (touched.clone(), burst.other.clone(), left.clone());
        let thread = thread::spawn(move || {
            other.leave(true);
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

/// A task that another thread makes ready, and then announces to a callback, runs before the tasks
/// that the callback makes ready after that.
///
/// Fails if the gate isn't set when the scheduler's lock is released, or isn't checked.
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
        let (other, mut through_queue, mut polled) = (burst.other.clone(), 0, false);
        burst.run(|key| match key {
            2 => {
                polled = said.load(Ordering::Acquire);
                let _running = CallbackScope::enter(u64::MAX, u64::MAX);
                assert!(other.notify(stamp(4)).is_none());
            }
            4 => assert!(!polled || through_queue == 2, "the task published at 3 runs before"),
            _ => through_queue += 1,
        });
        thread.join().unwrap();
    });
}

/// A worker that wakes while another one runs tasks of the lane doesn't run callbacks of their
/// groups at the same time, and takes over the waiting tasks.
///
/// Fails if a worker that wakes doesn't settle the lane (X1).
#[test]
fn another_worker_settles_the_lane() {
    two_workers(|task, [_, in_lane, in_queue], scheduler| {
        if task == in_lane.serial() {
            notify(in_queue, 3);
            scheduler.wake();
        }
    });
}

/// While two workers are awake, tasks that one of them makes ready don't run past the queue.
///
/// Fails if the gate stays open meanwhile.
#[test]
fn two_workers_that_are_awake_have_no_lane() {
    two_workers(|task, [first, _, in_queue], _| {
        if task == first.serial() {
            notify(in_queue, 1);
        }
    });
}

/// Two workers and three tasks: the callback of the first makes the second one ready, which is
/// known to be short. `elsewhere` gets each task that runs, and makes the third one ready, as
/// another thread would. The last two have the same group. Each runs once.
fn two_workers(elsewhere: impl Fn(u64, &[TaskRef; 3], &Scheduler) + Copy + Send + Sync + 'static) {
    check(2, move || {
        let scheduler = Scheduler::with(2);
        idle::spin(&scheduler);
        let [first] = add_group(&scheduler, GroupNumber::new());
        let [in_lane, in_queue] = add_group(&scheduler, GroupNumber::new());
        in_lane.is_known_to_be_short();
        notify(&first, 1);
        let tasks = [first, in_lane, in_queue];
        let touched = Arc::new(Probe::new(0));
        let left = Arc::new(AtomicUsize::new(3));
        let spins = {
            let (scheduler, touched, left) = (scheduler.clone(), touched.clone(), left.clone());
            move |index: u32| {
                scheduler.open_lane(index, true);
                current::enter_lane(scheduler.id);
                let mut worker = Worker::new(&scheduler, index);
                let end = spin(&mut worker, Blocking::Forever, |lane, queue| {
                    let serial = lane.map(|task| task.task().serial());
                    let serial = serial.or_else(|| queue.map(|work| work.serial())).unwrap();
                    let [first, in_lane, _] = &tasks;
                    while serial == first.serial() && !scheduler.leaves_one_awake() {
                        thread::yield_now();
                    }
                    current::enter_lane(0);
                    elsewhere(serial, &tasks, &scheduler);
                    current::enter_lane(scheduler.id);
                    if serial == first.serial() {
                        current::begin_with_tail(0);
                        let _running = CallbackScope::enter(serial, u64::MAX);
                        notify(in_lane, 2);
                    } else {
                        touched.write(touched.read() + 1);
                    }
                    if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                        scheduler.stop();
                    }
                });
                assert!(matches!(end, Next::Stopped));
                current::enter_lane(0);
                scheduler.open_lane(index, false);
            }
        };
        let its = spins.clone();
        let helper = thread::spawn(move || its(1));
        spins(0);
        helper.join().unwrap();
        assert_eq!((left.load(Ordering::Acquire), touched.read()), (0, 2));
    });
}
