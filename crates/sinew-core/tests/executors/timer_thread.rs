//! A separate thread for timers.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use sinew::error::SpinError;
use sinew::prelude::*;
use std::sync::mpsc::{Receiver, channel};
use std::thread::ThreadId;

/// What a timer's callback saw: the thread it ran on.
fn spin_with_timer_thread() -> (Vec<ThreadId>, u64) {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("busy").unwrap();
    let (ticks, ticked) = channel();
    let (stop, mut left) = (context.clone(), 5);
    let _timer = context
        .node("ticking")
        .unwrap()
        .timer(Duration::from_millis(1))
        .callback(move || {
            ticks.send(std::thread::current().id()).unwrap();
            left -= 1;
            if left == 0 {
                stop.shutdown();
            }
        })
        .unwrap();
    let messages = node.publisher::<Note>("notes").create().unwrap();
    let group = node.group(0_u64);
    let seen = group.subscription::<Note>("notes").callback(|seen: &mut u64, _: &Note| *seen += 1).unwrap();
    messages.publish(Note).unwrap();
    let executor = Executor::builder().timer_thread(true).build().unwrap();
    executor.add(&context).unwrap();
    executor.spin().unwrap();
    (ticked.try_iter().collect(), seen.statistics().taken)
}

#[derive(Clone)]
struct Note;

impl Message for Note {}

#[test]
fn it_leaves_the_callbacks_to_the_executor() {
    let (ticks, taken) = spin_with_timer_thread();
    assert_eq!(ticks, vec![std::thread::current().id(); 5]);
    assert_eq!(taken, 1);
}

/// One of two threads waits in a callback for ticks of another group: the other one runs them.
#[test]
fn they_are_queued_while_a_callback_waits_for_them() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let (tick, ticked) = channel();
    let _timer = context
        .node("ticking")
        .unwrap()
        .timer(Duration::from_millis(1))
        .callback(move || tick.send(()))
        .unwrap();
    let stop = context.clone();
    let (saw, seen) = channel();
    let group = context.node("waiting").unwrap().group(ticked);
    let _guard = group
        .guard_condition()
        .callback(move |ticked: &mut Receiver<()>| {
            saw.send(ticked.iter().take(3).count()).unwrap();
            stop.shutdown();
        })
        .inspect(sinew::GuardCondition::trigger)
        .unwrap();
    let executor = Executor::builder().threads(2).timer_thread(true).build().unwrap();
    executor.add(&context).unwrap();
    executor.spin().unwrap();
    assert_eq!(seen.recv().unwrap(), 3);
}

#[test]
fn a_timer_whose_group_is_running_waits_for_it() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("one_group").unwrap();
    let group = node.group(Vec::new());
    let _timer = group
        .timer(Duration::from_millis(1))
        .callback(|log: &mut Vec<&str>| {
            log.push("timer begins");
            log.push("timer ends");
        })
        .unwrap();
    let notes = node.publisher::<Note>("notes").create().unwrap();
    let again = notes.clone();
    let stop = context.clone();
    let _notes = group
        .subscription::<Note>("notes")
        .callback(move |log: &mut Vec<&str>, _: &Note| {
            assert_ne!(log.last(), Some(&"timer begins"), "they ran at the same time");
            if log.len() >= 10 {
                stop.shutdown();
                return Ok(());
            }
            again.publish(Note)
        })
        .unwrap();
    notes.publish(Note).unwrap();
    let executor = Executor::builder().timer_thread(true).build().unwrap();
    executor.add(&context).unwrap();
    executor.spin().unwrap();
}

#[test]
fn a_panic_in_a_timer_that_it_queued_is_returned_by_spin() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("unlucky").unwrap();
    let _timer = node.timer(Duration::from_millis(1)).callback(|| panic!("as announced")).unwrap();
    let executor = Executor::builder().timer_thread(true).build().unwrap();
    executor.add(&context).unwrap();
    let Err(SpinError::Panicked { entity, message }) = executor.spin() else { panic!("no error") };
    assert_eq!((entity.as_str(), message.as_str()), ("timer (1ms) of node /unlucky", "as announced"));
}

#[test]
fn virtual_time_needs_no_thread() {
    let context = Context::builder()
        .shared_memory(false)
        .virtual_time(&sinew::time::VirtualClock::new())
        .build()
        .unwrap();
    let node = context.node("calm").unwrap();
    let _timer = node.timer(Duration::from_secs(1)).callback(|| {}).unwrap();
    let executor = Executor::builder().timer_thread(true).build().unwrap();
    executor.add(&context).unwrap();
    assert_eq!(executor.advance(Duration::from_secs(3)).unwrap(), 3);
}
