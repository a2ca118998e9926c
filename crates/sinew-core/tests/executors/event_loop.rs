//! An executor in another library's event loop, and what its threads ask of the operating system.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sinew::error::{SpinError, ThreadError};
use sinew::executor::Placement;
use sinew::prelude::*;
use std::sync::mpsc::channel;

#[derive(Clone)]
struct Number(u64);

impl Message for Number {}

/// Waits for the executor's descriptor as an event loop does.
fn wait(executor: &Executor) {
    let descriptor = executor.descriptor().unwrap();
    assert_eq!(poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], None), Ok(1));
}

fn is_readable(executor: &Executor) -> bool {
    let descriptor = executor.descriptor().unwrap();
    let at_once = Timespec::default();
    poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&at_once)) == Ok(1)
}

/// A topic, with a callback that an executor runs.
fn topic_of_an_executor() -> (Publisher<Number>, Subscription<Number>, Executor) {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("guest").unwrap();
    let numbers = node.publisher::<Number>("numbers").create().unwrap();
    let subscription = node.subscription::<Number>("numbers").callback(|_: &Number| {}).unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    (numbers, subscription, executor)
}

#[test]
fn the_descriptor_is_readable_only_if_there_is_work() {
    let (numbers, _subscription, executor) = topic_of_an_executor();
    numbers.publish(Number(0)).unwrap();
    assert!(is_readable(&executor), "what waited before it was made");
    assert_eq!(executor.spin_some().unwrap(), 1);
    assert!(!is_readable(&executor));
    for round in 1..4 {
        (0..round).for_each(|n| numbers.publish(Number(n)).unwrap());
        assert!(is_readable(&executor));
        assert!(executor.spin_once(Duration::ZERO).unwrap());
        assert_eq!(is_readable(&executor), round > 1, "what one spin left for the next");
        assert_eq!(executor.spin_some().unwrap(), round - 1);
        assert!(!is_readable(&executor));
    }
    executor.stop_handle().stop();
    assert!(is_readable(&executor), "the loop is to notice");
}

#[test]
fn a_wait_for_work_runs_nothing_and_misses_nothing() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("patient").unwrap();
    let qos = QoS::default().keep_all();
    let numbers = node.publisher::<Number>("numbers").qos(qos).create().unwrap();
    let _numbers = node.subscription::<Number>("numbers").qos(qos).callback(|_: &Number| {}).unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    assert!(!executor.wait_for_work(Duration::ZERO).unwrap());
    let mut ran = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || (0..500).for_each(|n| numbers.publish(Number(n)).unwrap()));
        while ran < 500 {
            assert!(executor.wait_for_work(Duration::MAX).unwrap());
            assert!(executor.wait_for_work(Duration::ZERO).unwrap(), "it is still there");
            ran += executor.spin_some().unwrap();
        }
    });
    let _timer = node.timer(Duration::from_millis(1)).callback(|| {}).unwrap();
    assert!(executor.wait_for_work(Duration::MAX).unwrap(), "a timer");
    assert!(executor.spin_some().unwrap() > 0);
}

#[test]
fn a_wait_for_work_ends_when_it_is_woken_stopped_or_in_vain() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("patient").unwrap();
    let _numbers = node.subscription::<Number>("numbers").callback(|_: &Number| {}).unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let handle = executor.stop_handle();
    handle.wake();
    assert!(!executor.wait_for_work(Duration::MAX).unwrap(), "a wake before it counts");
    std::thread::scope(|scope| {
        scope.spawn(|| handle.wake());
        assert!(!executor.wait_for_work(Duration::MAX).unwrap());
    });
    handle.stop();
    assert!(matches!(executor.wait_for_work(Duration::MAX), Err(SpinError::Stopped)));
    assert!(!executor.wait_for_work(Duration::ZERO).unwrap(), "a stop is for one wait");
    context.shutdown();
    assert!(matches!(executor.wait_for_work(Duration::MAX), Err(SpinError::Stopped)));
}

#[test]
fn the_descriptor_is_readable_after_a_wait_that_left_work() {
    let (numbers, _subscription, executor) = topic_of_an_executor();
    assert!(!is_readable(&executor));
    assert!(!executor.wait_for_work(Duration::ZERO).unwrap());
    numbers.publish(Number(0)).unwrap();
    assert!(is_readable(&executor), "the wait is over");
    assert!(executor.wait_for_work(Duration::MAX).unwrap());
    assert!(is_readable(&executor));
    assert_eq!(executor.spin_some().unwrap(), 1);
}

#[test]
fn an_event_loop_misses_nothing_that_others_publish() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("guest").unwrap();
    let (received, mut got) = (node.group(Vec::new()), 0);
    let qos = QoS::default().keep_all();
    let _numbers = received
        .subscription::<Number>("numbers")
        .qos(qos)
        .callback(|received: &mut Vec<u64>, number: &Number| {
            assert_eq!(received.len() as u64, number.0, "in order, each once");
            received.push(number.0);
        })
        .unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    std::thread::scope(|scope| {
        let numbers = node.publisher::<Number>("numbers").qos(qos).create().unwrap();
        scope.spawn(move || (0..500).for_each(|n| numbers.publish(Number(n)).unwrap()));
        while got < 500 {
            wait(&executor);
            got += executor.spin_some().unwrap();
        }
    });
    assert!(!is_readable(&executor));
}

#[test]
fn timers_make_it_readable_also_those_that_come_later() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("guest").unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    assert!(!is_readable(&executor));
    let (ticks, ticked) = channel();
    let _hourly = node.timer(Duration::from_secs(3600)).callback(|| {}).unwrap();
    let _timer = node.timer(Duration::from_millis(1)).callback(move || ticks.send(()).unwrap()).unwrap();
    let mut ran = 0;
    while ran < 3 {
        wait(&executor);
        ran += executor.spin_some().unwrap();
    }
    assert_eq!(ticked.try_iter().count() as u64, ran);
}

/// The cores that the calling thread may use.
fn cores() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
}

/// The cores that two callbacks see which run at the same time, one on each of two threads.
fn cores_of_two(executor: Executor) -> Result<[Vec<usize>; 2], SpinError> {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let both = std::sync::Arc::new(std::sync::Barrier::new(2));
    let (sender, seen) = channel();
    let guards = ["a", "b"].map(|name| {
        let (sender, both, context) = (sender.clone(), both.clone(), context.clone());
        let guard = context.node(name).unwrap().guard_condition().callback(move || {
            both.wait();
            sender.send(cores()).unwrap();
            if both.wait().is_leader() {
                context.shutdown();
            }
        });
        guard.unwrap()
    });
    executor.add(&context).unwrap();
    guards.iter().for_each(|guard| guard.trigger());
    executor.spin()?;
    Ok([seen.recv().unwrap(), seen.recv().unwrap()])
}

#[test]
fn threads_are_spread_over_the_cores_and_the_calling_one_gets_its_own_back() {
    let before = cores();
    let [mut one, other] = cores_of_two(Executor::multi(2)).unwrap();
    if before.len() > 1 {
        assert_eq!((one.len(), other.len()), (1, 1));
        one.extend(other);
        one.sort_unstable();
        one.dedup();
        assert_eq!(one.len(), 2);
    }
    assert_eq!(cores(), before);
}

#[test]
fn threads_may_be_left_alone_or_listed() {
    let before = cores();
    assert_eq!(
        cores_of_two(Executor::builder().threads(2).placement(Placement::Off).build().unwrap()).unwrap(),
        [before.clone(), before.clone()]
    );
    let last = *before.last().unwrap();
    let listed = Executor::builder().threads(2).placement(Placement::Cores(vec![last])).build().unwrap();
    assert_eq!(cores_of_two(listed).unwrap(), [vec![last], vec![last]]);
    assert_eq!(cores(), before);
}

#[test]
fn a_core_that_there_is_not_is_an_error_of_the_spin() {
    let no_such = Executor::builder().threads(2).placement(Placement::Cores(vec![100_000])).build().unwrap();
    let error = cores_of_two(no_such).unwrap_err();
    assert!(matches!(error, SpinError::Setup(ThreadError::Core { core: 100_000, .. })), "{error}");
}
