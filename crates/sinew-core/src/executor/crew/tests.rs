//! An executor with several workers, and its lane.

use super::current::{self, CallbackScope};
use super::members::GroupSlot;
use super::scheduler::Scheduler;
use super::worker::{Blocking, Next, Worker};
use crate::executor::group_token::GroupNumber;
use crate::sys::clock::Stamp;
use crate::testing::idle;

/// A worker with a short task in its lane takes a task of the queue that may be long: the task in
/// the lane goes into the queue, and the other worker is called for it. (W1)
#[test]
fn a_task_of_the_lane_does_not_wait_behind_a_long_one_of_the_queue() {
    let scheduler = Scheduler::with(2);
    idle::spin(&scheduler);
    scheduler.open_lane(0, true);
    current::enter_lane(scheduler.id);
    let [first, long, short] =
        [(); 3].map(|()| idle::enter(&GroupSlot::new(&scheduler, GroupNumber::new().get(), 0).unwrap()));
    short.0.is_known_to_be_short();
    let at = |time| Stamp { time, order: 1 };
    let (mut worker, mut work) = (Worker::new(&scheduler, 0), None);
    assert!(first.0.notify(at(1)).is_none() && long.0.notify(at(2)).is_none(), "no worker sleeps");
    assert!(matches!(worker.next(&mut work, Blocking::None), Next::Run));
    let _ = scheduler.lock().workers.park(1, 1); // the other one is the monitor from now on
    current::begin_with_tail(0);
    let running = CallbackScope::enter(first.1, u64::MAX);
    assert!(short.0.notify(at(3)).is_none(), "this worker runs it itself");
    drop(running);
    assert!(scheduler.lane.lock().first().is_some(), "it is in the lane");

    assert!(matches!(worker.next(&mut work, Blocking::None), Next::Run));
    assert_eq!(work.as_ref().map(|work| work.serial()), Some(long.1));
    assert!(!scheduler.lock().workers.has_parked(), "the other worker is called");
    let mut others = None;
    let _ = scheduler.lock().workers.unpark(1, 1);
    assert!(matches!(Worker::new(&scheduler, 1).next(&mut others, Blocking::None), Next::Run));
    assert_eq!(others.as_ref().map(|work| work.serial()), Some(short.1));
    current::enter_lane(0);
}
