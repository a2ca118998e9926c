//! Closures and futures that are posted to a callback group.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::support;

use parking_lot::Mutex;
use sinew::error::{JoinError, PostError, SpinError};
use sinew::executor::{FaultPolicy, WaitSet};
use sinew::prelude::*;
use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::task::{Poll, Waker};
use std::thread;
use support::tasks::block_on;
use support::{Gate, Log, Number, Room, finishes, real_context};

/// Counts how often a value of it was dropped.
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn counted() -> (Counted, impl Fn() -> u64) {
    let count = Arc::new(AtomicU64::new(0));
    (Counted(count.clone()), move || count.load(Ordering::SeqCst))
}

/// A future that is ready once it was opened, and the number of its polls.
#[derive(Clone, Default)]
struct Door(Arc<Mutex<(bool, u64, Option<Waker>)>>);

impl Door {
    fn opened(&self) -> impl Future<Output = ()> + Send + 'static {
        let door = self.clone();
        poll_fn(move |context| {
            let mut state = door.0.lock();
            state.1 += 1;
            state.2 = Some(context.waker().clone());
            if state.0 { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    fn open(&self) {
        let waker = {
            let mut state = self.0.lock();
            state.0 = true;
            state.2.take()
        };
        waker.unwrap().wake();
    }

    fn knock(&self) {
        let waker = self.0.lock().2.clone();
        waker.unwrap().wake();
    }

    fn polls(&self) -> u64 {
        self.0.lock().1
    }
}

// ---- closures ----

#[test]
fn closures_run_in_order_with_messages_and_timers() {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let _numbers =
        room.node.subscription("numbers").callback(move |number: &Number| pen.write(number.0)).unwrap();
    let pen = log.pen();
    let _timer = room.node.timer(Duration::from_millis(1)).callback(move || pen.write(100)).unwrap();
    let numbers = room.node.publisher("numbers").create().unwrap();
    let post = |number| {
        let pen = log.pen();
        room.node.post(move || pen.write(number)).unwrap();
    };
    numbers.publish(Number(1)).unwrap();
    post(2);
    room.clock.set(room.clock.now() + Duration::from_millis(1));
    post(3);
    numbers.publish(Number(4)).unwrap();
    post(5);
    room.run();
    let mut lines = log.wait_for(6);
    let timer = lines.iter().position(|&line| line == 100).unwrap();
    assert!(timer >= 2, "it was due after the first two: {lines:?}");
    lines.remove(timer);
    assert_eq!(lines, [1, 2, 3, 4, 5]);
}

#[test]
fn a_closure_has_the_state_of_its_group_to_itself() {
    finishes(|| {
        let context = real_context();
        let group = context.node("counter").unwrap().group(0_u64);
        let executor = Executor::multi(3);
        executor.add(&group).unwrap();
        let stop = executor.stop_handle();
        thread::scope(|scope| {
            scope.spawn(|| executor.spin().unwrap());
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        group.post(|count: &mut u64| *count += 1).unwrap();
                    }
                });
            }
            let (sender, receiver) = channel();
            // Posted again until all have run.
            while {
                let sender = sender.clone();
                group.post(move |count: &mut u64| sender.send(*count)).unwrap();
                receiver.recv().unwrap() < 2000
            } {}
            stop.stop();
        });
    });
}

/// Keeps a value in a thread-local of the calling thread.
fn leave(value: Counted) {
    std::thread_local! {
        static LEFT: RefCell<Vec<Counted>> = const { RefCell::new(Vec::new()) };
    }
    LEFT.with_borrow_mut(|left| left.push(value));
}

#[test]
fn spin_returns_when_the_other_threads_have_dropped_their_thread_locals() {
    finishes(|| {
        for _ in 0..20 {
            let context = real_context();
            let node = context.node("node").unwrap();
            let (group, executor) = (node.reentrant_group(), Executor::multi(4));
            executor.add(&group).unwrap();
            let (meeting, dropped) = (Arc::new(Barrier::new(4)), Arc::new(AtomicU64::new(0)));
            for _ in 0..4 {
                let (meeting, left) = (meeting.clone(), Counted(dropped.clone()));
                let stop = executor.stop_handle();
                let on_each_thread = move || {
                    leave(left);
                    meeting.wait();
                    stop.stop();
                };
                group.post(on_each_thread).unwrap();
            }
            executor.spin().unwrap();
            assert_eq!(dropped.load(Ordering::SeqCst), 3, "all but that of this thread");
        }
    });
}

#[test]
fn closures_of_a_reentrant_group_run_at_the_same_time() {
    finishes(|| {
        let context = real_context();
        let group = context.node("crowd").unwrap().reentrant_group();
        let executor = Executor::multi(2);
        executor.add(&group).unwrap();
        let (both, left) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU64::new(2)));
        for _ in 0..2 {
            let (both, left, stop) = (both.clone(), left.clone(), executor.stop_handle());
            let meet = move || {
                both.wait();
                if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                    stop.stop();
                }
            };
            group.post(meet).unwrap();
        }
        executor.spin().unwrap();
    });
}

#[test]
fn a_closure_may_post_others_and_they_come_after_what_is_ready() {
    let room = Room::new();
    let log = Log::new();
    let (node, outer, inner) = (room.node.clone(), log.pen(), log.pen());
    room.node
        .post(move || {
            outer.write(1);
            node.post(move || inner.write(3))
        })
        .unwrap();
    let pen = log.pen();
    room.node.post(move || pen.write(2)).unwrap();
    assert_eq!(room.run(), 3);
    assert_eq!(log.wait_for(3), [1, 2, 3]);
}

#[test]
fn what_goes_wrong_in_a_closure_is_the_executors_matter() {
    let room = Room::new();
    room.node.post(|| Err("it is stuck")).unwrap();
    assert_eq!(room.run(), 1, "errors are reported");
    let context = real_context();
    let node = context.node("arm").unwrap();
    let group = node.group(());
    let own = Executor::builder().on_error(FaultPolicy::Stop).build().unwrap();
    own.add(&node).unwrap();
    let moves = group.work_queue("moves");
    moves.post(|| Err("it is stuck")).unwrap();
    let error = own.spin_some().unwrap_err();
    assert_eq!(error.to_string(), "the callback of moves of node /arm failed: it is stuck");
    group.post(|| panic!("as announced")).unwrap();
    let Err(SpinError::Panicked { entity, message }) = own.spin_some() else { panic!("no error") };
    assert_eq!((entity.as_str(), message.as_str()), ("work posted of node /arm", "as announced"));
    group.post(|| {}).unwrap();
    assert_eq!(own.spin_some().unwrap(), 1, "the next one runs");
}

#[test]
fn a_closure_waits_for_an_executor_and_while_its_group_is_paused() {
    let context = real_context();
    let node = context.node("patient").unwrap();
    let log = Log::new();
    let post = |number| {
        let pen = log.pen();
        node.post(move || pen.write(number)).unwrap();
    };
    post(1);
    let one = Executor::single();
    one.add(&node).unwrap();
    assert_eq!(one.spin_some().unwrap(), 1);
    drop(one);
    post(2);
    let other = Executor::single();
    other.add(&node).unwrap();
    assert_eq!(other.spin_some().unwrap(), 1);
    assert_eq!(log.wait_for(2), [1, 2]);

    let group = node.group(());
    group.pause_handle().pause();
    let pen = log.pen();
    group.post(move || pen.write(3)).unwrap();
    assert_eq!(other.spin_some().unwrap(), 0);
    group.pause_handle().resume();
    assert_eq!(other.spin_some().unwrap(), 1);
    assert_eq!(log.next(), 3);
}

#[test]
fn after_a_shutdown_nothing_is_taken_and_what_waited_is_dropped() {
    let context = real_context();
    let node = context.node("late").unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let ((waiting, dropped), (future, future_dropped)) = (counted(), counted());
    let own = node.clone(); // which would keep itself
    node.post(move || drop((waiting, own))).unwrap();
    let handle = node
        .spawn(async move {
            pending::<()>().await;
            drop(future);
        })
        .unwrap();
    context.shutdown();
    assert_eq!(node.post(|| {}), Err(PostError::Closed { queue: "work posted of node /late".to_owned() }));
    assert!(node.spawn(async {}).is_err());
    executor.spin().unwrap();
    assert_eq!((dropped(), future_dropped()), (1, 1));
    assert_eq!(block_on(handle), Err(JoinError::Cancelled));
    let group = node.group(());
    assert!(group.post(|| {}).is_err());
}

#[test]
fn what_waits_keeps_its_group_and_goes_with_its_queue() {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    room.context.node("gone").unwrap().group(7).post(move |number: &mut u64| pen.write(*number)).unwrap();
    let door = Door::default();
    let (opened, pen) = (door.opened(), log.pen());
    let waits = async move {
        opened.await;
        pen.write(8);
    };
    room.context.node("gone_too").unwrap().spawn(waits).unwrap().detach();
    assert_eq!(room.run(), 2);
    assert_eq!(log.next(), 7);
    door.open();
    assert_eq!(room.run(), 1);
    assert_eq!(log.next(), 8);

    let (of_queue, queue_dropped) = counted();
    let queue = room.node.work_queue("short");
    queue.post(move || drop(of_queue)).unwrap();
    let clone = queue.clone();
    drop(queue);
    assert_eq!((queue_dropped(), clone.len()), (0, 1));
    drop(clone);
    assert_eq!((queue_dropped(), room.run()), (1, 0));
}

#[test]
fn a_queue_that_is_closed_waits_for_what_runs() {
    finishes(|| {
        let context = real_context();
        let queue = context.node("closing").unwrap().work_queue("slow");
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let (begun, open, over) = (Arc::new(Gate::new()), Arc::new(Gate::new()), Arc::new(AtomicU64::new(0)));
        let (its_begun, its_open, its_over) = (begun.clone(), open.clone(), over.clone());
        queue
            .post(move || {
                its_begun.open();
                its_open.wait();
                its_over.store(1, Ordering::SeqCst);
            })
            .unwrap();
        let kept = queue.clone();
        thread::scope(|scope| {
            scope.spawn(|| executor.spin_once(support::PATIENCE).unwrap());
            begun.wait();
            scope.spawn(|| {
                while kept.post(|| {}).is_ok() {
                    thread::yield_now(); // it isn't being closed yet
                }
                open.open();
            });
            queue.close();
            assert_eq!(over.load(Ordering::SeqCst), 1);
        });
        assert!(kept.is_empty());
    });
}

#[test]
fn a_queue_may_be_closed_in_its_own_work() {
    let room = Room::new();
    let queue = room.node.work_queue("own");
    let (value, dropped) = counted();
    let waiting = queue.spawn(pending::<()>()).unwrap();
    let own = queue.clone();
    queue
        .spawn(async move {
            let _value = value;
            own.close();
            pending::<()>().await;
        })
        .unwrap()
        .detach();
    let (last, last_dropped) = counted();
    queue.post(move || drop(last)).unwrap();
    assert_eq!(room.run(), 2, "the first poll of each future");
    assert_eq!((dropped(), last_dropped()), (1, 1));
    assert_eq!(block_on(waiting), Err(JoinError::Cancelled));
}

#[test]
fn a_posted_closure_continues_the_chain_of_its_callback() {
    let room = Room::new();
    let out = room.node.publisher::<Number>("out").create().unwrap();
    let results = room.node.subscription::<Number>("out").create().unwrap();
    let node = room.node.clone();
    let log = Log::new();
    let pen = log.pen();
    let _numbers = room
        .node
        .subscription("numbers")
        .callback(move |_: &Number, info: &MessageInfo| {
            pen.write(info.lineage().id());
            let (later, now) = (out.clone(), out.clone());
            node.post(move || later.publish(Number(1)))?;
            node.spawn(async move { now.publish(Number(2)) })?.detach();
            Ok::<_, sinew::Error>(())
        })
        .unwrap();
    room.node.publisher("numbers").create().unwrap().publish(Number(0)).unwrap();
    room.run();
    let chain = log.next();
    for number in [1, 2] {
        let (result, info) = results.take().unwrap();
        assert_eq!((result.0, info.lineage().id()), (number, chain));
    }
    let out = room.node.publisher::<Number>("out").create().unwrap();
    room.node.post(move || out.publish(Number(3))).unwrap();
    room.run();
    assert_ne!(results.take().unwrap().1.lineage().id(), chain, "posted in no callback");
}

#[test]
fn a_wait_set_finds_posted_work_and_names_it() {
    let context = real_context();
    let node = context.node("waiting").unwrap();
    let mut set = WaitSet::new();
    set.add(&node).unwrap();
    node.post(|| {}).unwrap();
    node.post(|| {}).unwrap();
    for _ in 0..2 {
        let mut ready = set.wait(Duration::MAX).unwrap();
        let work = ready.next().unwrap();
        assert_eq!((work.describe().as_str(), ready.len()), ("work posted of node /waiting", 0));
        assert!(work.run().unwrap());
    }
    assert_eq!(set.wait(Duration::ZERO).unwrap().len(), 0);
}

// ---- futures ----

#[test]
fn a_future_is_polled_by_its_executor_alone() {
    let room = Room::new();
    let door = Door::default();
    let opened = door.opened();
    let here = thread::current().id();
    let handle = room
        .node
        .spawn(async move {
            opened.await;
            (thread::current().id(), 42)
        })
        .unwrap();
    assert_eq!(door.polls(), 0, "not on the thread that spawns it");
    assert_eq!((room.run(), door.polls()), (1, 1));
    thread::scope(|scope| {
        scope.spawn(|| door.open());
    });
    assert!(!handle.is_finished());
    assert_eq!((room.run(), door.polls()), (1, 2));
    assert!(handle.is_finished());
    assert_eq!(block_on(handle), Ok((here, 42)));
}

#[test]
fn a_future_that_is_woken_often_is_polled_once() {
    let room = Room::new();
    let door = Door::default();
    let handle = room.node.spawn(door.opened()).unwrap();
    room.run();
    (0..3).for_each(|_| door.knock());
    assert_eq!((room.run(), door.polls()), (1, 2));
    door.open();
    room.run();
    assert_eq!(block_on(handle), Ok(()));
}

#[test]
fn a_future_that_is_woken_while_it_is_polled_is_polled_again_after_the_others() {
    let room = Room::new();
    let log = Log::new();
    let (pen, mut left) = (log.pen(), 3);
    let yields = poll_fn(move |context| {
        pen.write(left);
        left -= 1;
        context.waker().wake_by_ref();
        if left == 0 { Poll::Ready(()) } else { Poll::Pending }
    });
    room.node.spawn(yields).unwrap().detach();
    let pen = log.pen();
    room.node.post(move || pen.write(9)).unwrap();
    room.run();
    assert_eq!(log.wait_for(4), [3, 9, 2, 1]);
}

#[test]
fn a_handle_that_is_dropped_cancels_its_future_and_a_detached_one_does_not() {
    let room = Room::new();
    let ((one, one_dropped), (other, other_dropped)) = (counted(), counted());
    let door = Door::default();
    let (first, second) = (door.opened(), pending::<()>());
    let cancelled = room.node.spawn(async move {
        second.await;
        drop(one);
    });
    let detached = room.node.spawn(async move {
        first.await;
        drop(other);
    });
    detached.unwrap().detach();
    room.run();
    drop(cancelled);
    assert_eq!((one_dropped(), other_dropped()), (1, 0));
    door.open();
    room.run();
    assert_eq!(other_dropped(), 1);
    // Before its first poll, and after the end.
    let (third, third_dropped) = counted();
    let handle = room.node.spawn(async move { drop(third) }).unwrap();
    handle.cancel();
    assert!(handle.is_finished() && third_dropped() == 1);
    assert_eq!((room.run(), block_on(handle)), (0, Err(JoinError::Cancelled)));
    let handle = room.node.spawn(async { 7 }).unwrap();
    room.run();
    handle.cancel();
    assert_eq!(block_on(handle), Ok(7));
}

#[test]
fn a_future_that_is_cancelled_while_it_is_polled_goes_after_that() {
    let room = Room::new();
    let (value, dropped) = counted();
    let handle = Arc::new(Mutex::new(None::<sinew::executor::JoinHandle<()>>));
    let own = handle.clone();
    let spawned = room
        .node
        .spawn(async move {
            let _value = value;
            poll_fn(|_| {
                own.lock().as_ref().unwrap().cancel();
                Poll::<()>::Pending
            })
            .await;
        })
        .unwrap();
    *handle.lock() = Some(spawned);
    assert_eq!((room.run(), dropped()), (1, 1));
    let handle = handle.lock().take().unwrap();
    assert_eq!(block_on(handle), Err(JoinError::Cancelled));
}

#[test]
fn a_future_that_cancels_itself_and_is_ready_has_its_output() {
    let room = Room::new();
    let handle = Arc::new(Mutex::new(None::<sinew::executor::JoinHandle<u64>>));
    let own = handle.clone();
    let spawned = room
        .node
        .spawn(async move {
            own.lock().as_ref().unwrap().cancel();
            7
        })
        .unwrap();
    *handle.lock() = Some(spawned);
    room.run();
    let handle = handle.lock().take().unwrap();
    assert_eq!(block_on(handle), Ok(7));
}

#[test]
#[should_panic(expected = "polled after it was ready")]
fn a_handle_yields_once() {
    let room = Room::new();
    let mut handle = room.node.spawn(async { 7 }).unwrap();
    room.run();
    assert_eq!(block_on(&mut handle), Ok(7));
    let _ = block_on(&mut handle);
}

#[test]
fn an_output_that_no_one_takes_goes_with_the_handle() {
    let room = Room::new();
    let (value, dropped) = counted();
    let door = Door::default();
    let opened = door.opened();
    let handle = room.node.spawn(async move {
        opened.await;
        value
    });
    room.run();
    door.open();
    room.run();
    assert_eq!(dropped(), 0);
    drop(handle);
    assert_eq!(dropped(), 1, "though the door has a waker still");
    door.knock();
    assert_eq!(room.run(), 0);
}

/// Panics when it is dropped.
struct Unruly;

impl Drop for Unruly {
    fn drop(&mut self) {
        panic!("unruly");
    }
}

#[test]
fn a_panic_in_a_drop_leaves_no_handle_waiting() {
    let context = real_context();
    let node = context.node("unruly").unwrap();
    let executor = Executor::builder().on_panic(FaultPolicy::Report).build().unwrap();
    executor.add(&node).unwrap();
    let unruly = || {
        let value = Unruly;
        node.spawn(async move {
            let _value = value;
            pending::<()>().await;
        })
        .unwrap()
    };
    let cancelled = unruly();
    executor.spin_some().unwrap();
    cancelled.cancel();
    assert_eq!(block_on(cancelled), Err(JoinError::Cancelled));
    let queue = node.work_queue("unruly");
    let value = Unruly;
    queue.post(move || drop(value)).unwrap();
    let after = queue.spawn(pending::<()>()).unwrap();
    queue.close();
    assert_eq!(block_on(after), Err(JoinError::Cancelled));
    let (of_context, also) = (unruly(), node.spawn(pending::<()>()).unwrap());
    context.shutdown();
    executor.spin().unwrap();
    assert_eq!(block_on(of_context), Err(JoinError::Cancelled));
    assert_eq!(block_on(also), Err(JoinError::Cancelled));
}

#[test]
fn a_detached_entity_whose_drop_panics_leaves_no_future_waiting() {
    let context = real_context();
    let node = context.node("unruly").unwrap();
    let value = Unruly;
    node.timer(Duration::from_secs(3600))
        .callback(move || {
            let _ = &value;
        })
        .unwrap()
        .detach();
    let future = node.spawn(pending::<()>()).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| context.shutdown())).is_err());
    assert!(future.is_finished());
    assert_eq!(block_on(future), Err(JoinError::Cancelled));
}

#[test]
fn a_cancelled_future_leaves_nothing_in_a_queue_that_is_not_served() {
    let context = real_context();
    let queue = context.node("idle").unwrap().work_queue("unserved");
    for _ in 0..10 {
        drop(queue.spawn(pending::<()>()).unwrap());
    }
    queue.post(|| {}).unwrap();
    assert_eq!(queue.len(), 1);
}

#[test]
fn futures_wait_while_their_group_is_paused_and_move_with_it() {
    let context = real_context();
    let group = context.node("moving").unwrap().group(());
    let (door, other) = (Door::default(), Door::default());
    let one = Executor::single();
    one.add(&group).unwrap();
    let (first, second) = (group.spawn(door.opened()).unwrap(), group.spawn(other.opened()).unwrap());
    assert_eq!(one.spin_some().unwrap(), 2);
    group.pause_handle().pause();
    door.open();
    assert_eq!(one.spin_some().unwrap(), 0);
    group.pause_handle().resume();
    assert_eq!(one.spin_some().unwrap(), 1);
    drop(one);
    other.open();
    let another = Executor::single();
    another.add(&group).unwrap();
    assert_eq!(another.spin_some().unwrap(), 1);
    assert_eq!((block_on(first), block_on(second)), (Ok(()), Ok(())));
}

#[test]
fn the_error_of_a_detached_future_and_a_panic_reach_the_executor() {
    let context = real_context();
    let executor = Executor::builder().on_error(FaultPolicy::Stop).build().unwrap();
    executor.add(&context).unwrap();
    let node = context.node("unlucky").unwrap();
    node.spawn(async { Err::<(), _>("stuck") }).unwrap().detach();
    let error = executor.spin_some().unwrap_err();
    assert_eq!(error.to_string(), "the callback of work posted of node /unlucky failed: stuck");
    // Also if it was over before.
    let over = node.spawn(async { Err::<(), _>("stuck") }).unwrap();
    assert_eq!(executor.spin_some().unwrap(), 1, "the handle has the error");
    over.detach();
    assert!(matches!(executor.spin_some(), Err(SpinError::Failed { .. })));

    let panics = node.spawn(async { panic!("as announced") }).unwrap();
    let Err(SpinError::Panicked { message, .. }) = executor.spin_some() else { panic!("no error") };
    assert_eq!(message, "as announced");
    let panicked: Result<(), _> = block_on(panics);
    assert_eq!(panicked, Err(JoinError::Panicked { message }));
}

#[test]
fn handles_may_be_awaited_in_other_futures_and_in_spins() {
    let context = real_context();
    let node = context.node("family").unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let child = node.spawn(async { 20 }).unwrap();
    let parent = node.spawn(async move { child.await.map(|answer| answer + 1) }).unwrap();
    let grandparent = async move { 2 * parent.await.unwrap().unwrap() };
    assert_eq!(executor.spin_until(grandparent).unwrap(), 42);
}

#[test]
fn many_threads_wake_and_cancel_and_every_future_goes_once() {
    finishes(|| {
        let context = real_context();
        let group = context.node("busy").unwrap().reentrant_group();
        let executor = Executor::multi(2);
        executor.add(&group).unwrap();
        let stop = executor.stop_handle();
        let (dropped, made) = (Arc::new(AtomicU64::new(0)), 600);
        thread::scope(|scope| {
            let spinning = scope.spawn(|| executor.spin().unwrap());
            let threads = [(); 3].map(|()| {
                scope.spawn(|| {
                    for n in 0..made / 3 {
                        let (value, door) = (Counted(dropped.clone()), Door::default());
                        let opened = door.opened();
                        let handle = group
                            .spawn(async move {
                                opened.await;
                                drop(value);
                            })
                            .unwrap();
                        while n % 3 == 0 && door.polls() == 0 {
                            thread::yield_now();
                        }
                        match n % 3 {
                            0 => {
                                door.open();
                                assert_eq!(block_on(handle), Ok(()));
                            }
                            1 => drop(handle),
                            _ => {
                                handle.cancel();
                                assert_eq!(block_on(handle), Err(JoinError::Cancelled));
                            }
                        }
                    }
                })
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            stop.stop();
            spinning.join().unwrap();
        });
        context.shutdown();
        executor.spin().unwrap();
        assert_eq!(dropped.load(Ordering::SeqCst), made);
    });
}

#[test]
fn a_future_waits_for_messages_beside_the_callbacks_of_its_group() {
    let room = Room::new();
    let group = room.node.group(0_u64);
    let requests = group.subscription::<Number>("requests").create().unwrap();
    let publisher = room.node.publisher("requests").create().unwrap();
    let sum = group
        .spawn(async move {
            let mut sum = 0;
            for _ in 0..2 {
                sum += requests.recv().await.unwrap().0.0;
            }
            sum
        })
        .unwrap();
    let mut sum = pin!(sum);
    publisher.publish(Number(1)).unwrap();
    room.run();
    group.post(|state: &mut u64| *state += 1).unwrap();
    publisher.publish(Number(2)).unwrap();
    assert_eq!(room.executor.spin_until(sum.as_mut()).unwrap(), Ok(3));
}

#[test]
fn a_named_queue_outlives_the_handles_of_its_context() {
    let (executor, log) = (Executor::single(), Log::new());
    let queue = {
        let context = real_context();
        let group = context.node("left").unwrap().group(());
        executor.add(&group).unwrap();
        group.work_queue("left alone")
    };
    let pen = log.pen();
    let future = queue.spawn(async { 7 }).unwrap();
    queue.post(move || pen.write(8)).unwrap();
    assert_eq!((executor.spin_some().unwrap(), block_on(future), log.next()), (2, Ok(7), 8));
}

/// Panics when it wakes.
struct Broken;

impl std::task::Wake for Broken {
    fn wake(self: Arc<Self>) {
        panic!("this waker is broken");
    }
}

#[test]
fn a_waker_that_panics_leaves_no_other_handle_waiting() {
    let context = real_context();
    let queue = context.node("unlucky").unwrap().work_queue("cut short");
    let (mut first, second) = (queue.spawn(pending::<()>()).unwrap(), queue.spawn(pending::<()>()).unwrap());
    let broken = Waker::from(Arc::new(Broken));
    assert!(pin!(&mut first).poll(&mut std::task::Context::from_waker(&broken)).is_pending());
    queue.close();
    assert_eq!((block_on(first), block_on(second)), (Err(JoinError::Cancelled), Err(JoinError::Cancelled)));
}

#[test]
fn a_wait_set_knows_a_queue() {
    let context = real_context();
    let node = context.node("choosy").unwrap();
    let (queue, other) = (node.work_queue("own"), node.work_queue("other"));
    let mut set = WaitSet::new();
    set.add(&context).unwrap();
    queue.post(|| {}).unwrap();
    let mut ready = set.wait(Duration::ZERO).unwrap();
    let found = ready.next().unwrap();
    assert!(found.is(&queue) && !found.is(&other) && found.run().unwrap());
    assert_eq!(ready.count(), 0);
}
