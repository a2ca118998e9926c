//! Entities that are removed while their callbacks run.

use super::{Probe, add_group, check, notify, stamp};
use crate::api::context::Context;
use crate::executor::Executor;
use crate::executor::crew::scheduler::{Scheduler, TaskRef};
use crate::executor::crew::worker::{Blocking, Next, Worker};
use crate::executor::group_token::GroupNumber;
use crate::sys::sync::{Arc, AtomicBool, Ordering};
use crate::time::VirtualClock;
use loom::thread;
use sinew_msg::Message;

/// A scheduler with one entity that is ready.
fn one_ready() -> (Arc<Scheduler>, TaskRef) {
    let scheduler = Scheduler::new();
    let [task_ref] = add_group(&scheduler, GroupNumber::new());
    notify(&task_ref, 1);
    (scheduler, task_ref)
}

/// After `leave` returns, the entity isn't handed out any more, even if it becomes ready again.
///
/// Fails if `leave` doesn't take it out of the heap, or if `make_ready` doesn't check whether it is
/// still a member.
#[test]
fn nothing_starts_after_leave() {
    check(6, || {
        let (scheduler, task_ref) = one_ready();
        let left = Arc::new(AtomicBool::new(false));
        let its = left.clone();
        let thread = thread::spawn(move || {
            task_ref.leave(false);
            its.store(true, Ordering::Release);
            notify(&task_ref, 2);
        });
        let mut worker = Worker::new(&scheduler, 0);
        let mut work = None;
        for _ in 0..2 {
            let was_left = left.load(Ordering::Acquire);
            match worker.next(&mut work, Blocking::None) {
                Next::Run => {
                    assert!(!was_left, "it ran after it had left");
                    work.as_mut().unwrap().next = Some(stamp(3)); // it has more to do
                }
                Next::Idle => {}
                Next::Lane | Next::Poked | Next::Stopped => panic!("no thread asked for that"),
            }
        }
        if work.is_some() {
            scheduler.finish(&mut work);
        }
        thread.join().unwrap();
        assert!(matches!(worker.next(&mut work, Blocking::None), Next::Idle));
    });
}

/// After a waiting `leave` returns, the callback doesn't run any more, and its writes are visible.
///
/// Fails if `leave` doesn't wait, if `finish` doesn't notify, or if `running` isn't set when the
/// entity is handed out.
fn leave_waits(through_next: bool) {
    check(6, move || {
        let (scheduler, task_ref) = one_ready();
        let touched = Arc::new(Probe::new(0));
        let its = touched.clone();
        let thread = thread::spawn(move || {
            task_ref.leave(true);
            its.write(its.read() + 1);
        });
        let mut worker = Worker::new(&scheduler, 0);
        let mut work = None;
        if let Next::Run = worker.next(&mut work, Blocking::None) {
            touched.write(touched.read() + 1); // the callback
            if through_next {
                assert!(matches!(worker.next(&mut work, Blocking::None), Next::Idle));
            } else {
                scheduler.finish(&mut work);
            }
        }
        thread.join().unwrap();
        assert!((1..=2).contains(&touched.read()));
    });
}

#[test]
fn leaving_waits_for_the_last_callback() {
    leave_waits(false);
}

#[test]
fn leaving_waits_while_the_executor_goes_on() {
    leave_waits(true);
}

#[derive(Clone)]
struct Tick;
impl Message for Tick {}

/// The same through the public API: after `Subscription::close` returns, its callback neither runs
/// nor starts, regardless of later publications; and the executor still wakes up for other
/// entities.
#[test]
fn closing_a_subscription_waits_for_its_callback() {
    check(6, || {
        let context = Context::builder().domain(0).virtual_time(&VirtualClock::new()).build().unwrap();
        let node = context.node("model").unwrap();
        let publisher = node.publisher::<Tick>("numbers").create().unwrap();
        let touched = Arc::new(Probe::new(0));
        let its = touched.clone();
        let callback = move |_: &Tick| its.write(its.read() + 1);
        let subscription = node.subscription::<Tick>("numbers").callback(callback).unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let stop = executor.stop_handle();
        let thread = thread::spawn(move || executor.spin().unwrap());
        publisher.publish(Tick).unwrap();
        subscription.close();
        touched.write(touched.read() + 1);
        publisher.publish(Tick).unwrap(); // without a subscription
        stop.stop();
        thread.join().unwrap();
        assert!((1..=2).contains(&touched.read()));
    });
}
