//! Waiting for what is ready, and deciding oneself what to do about it.

use crate::support;

use sinew::error::{AddError, SpinError};
use sinew::event::Matched;
use sinew::executor::{FaultPolicy, Ready, StopHandle, WaitSet};
use sinew::prelude::*;
use sinew::time::TimerInfo;
use std::thread;
use support::{Gate, Log, Number, PATIENCE, Room, finishes, numbers_in, real_context};

/// A context in virtual time with one node, and a wait set that serves it.
fn stage() -> sinew::Result<(Room, WaitSet)> {
    let Room { clock, context, node, executor } = Room::new();
    drop(executor);
    let set = WaitSet::new();
    set.add(&context)?;
    Ok((Room { clock, context, node, executor: Executor::single() }, set))
}

fn publish(node: &Node, topic: &str, numbers: impl IntoIterator<Item = u64>) -> sinew::Result<()> {
    let publisher = node.publisher::<Number>(topic).create()?;
    Ok(numbers.into_iter().try_for_each(|number| publisher.publish(Number(number)))?)
}

/// What is ready now.
fn ready(set: &mut WaitSet) -> sinew::Result<Vec<String>> {
    Ok(set.wait(Duration::ZERO)?.map(|ready| ready.describe()).collect())
}

// ---- what is ready ----

#[test]
fn a_subscription_is_ready_until_its_messages_are_taken() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    let others = room.node.subscription::<Number>("others").create()?;
    set.add_subscription(&numbers)?;
    set.add_subscription(&others)?;
    set.add_subscription(&numbers)?; // again is no error
    assert_eq!(ready(&mut set)?.len(), 0);
    publish(&room.node, "numbers", 1..=2)?;
    for expected in 1..=2 {
        let found: Vec<_> = set.wait(PATIENCE)?.collect();
        assert_eq!(found.len(), 1, "once, though there are two messages, and again if one is left");
        assert!(found[0].is(&numbers) && !found[0].is(&others));
        assert_eq!(found[0].describe(), "subscription to /numbers of node /room");
        assert!(!found[0].run()?, "there is no callback to run");
        assert_eq!(numbers.take().map(|(number, _)| number.0), Some(expected));
    }
    assert_eq!(ready(&mut set)?.len(), 0);
    publish(&room.node, "numbers", [3])?;
    assert_eq!(ready(&mut set)?.len(), 1, "and then anew");
    Ok(())
}

#[test]
fn what_waited_before_it_was_added_is_ready() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    publish(&room.node, "numbers", [1])?;
    set.add_subscription(&numbers)?;
    assert_eq!(ready(&mut set)?.len(), 1);
    Ok(())
}

#[test]
fn everything_with_a_callback_is_ready_and_runs_on_request() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let log = Log::new();
    let (pen, events) = (log.pen(), log.pen());
    let numbers = room
        .node
        .subscription("numbers")
        .on_matched(move |event: &Matched| events.write(format!("matched {}", event.current)))
        .callback(move |number: &Number| pen.write(format!("message {}", number.0)))?;
    let pen = log.pen();
    let guard = room.node.guard_condition().callback(move || pen.write("guard".to_owned()))?;
    let pen = log.pen();
    let timer = room.node.timer(Duration::from_millis(10));
    let timer = timer.callback(move |info: &TimerInfo| pen.write(format!("timer {}", info.skipped())))?;
    publish(&room.node, "numbers", [1])?;
    guard.trigger();
    room.clock.advance(Duration::from_millis(35));
    let found: Vec<_> = set.wait(PATIENCE)?.collect();
    let which = |ready: &Ready<'_>| (ready.is(&numbers), ready.is(&guard), ready.is(&timer));
    let (event, others) = found.split_first().expect("all of them are ready");
    assert_eq!(event.describe(), "matched event of subscription to numbers of node /room");
    assert_eq!(which(event), (false, false, false));
    assert_eq!(
        others.iter().map(which).collect::<Vec<_>>(),
        [(true, false, false), (false, true, false), (false, false, true)],
        "oldest first"
    );
    assert_eq!(log.lines().len(), 0, "nothing ran by itself");
    for ready in found.iter().rev() {
        assert!(ready.run()?);
        assert!(!ready.run()?, "there was one thing to do for each");
    }
    assert_eq!(log.lines(), ["timer 2", "guard", "message 1", "matched 0"]);
    assert_eq!(ready_len(&mut set)?, 0);
    room.clock.advance(Duration::from_millis(5));
    assert_eq!(ready_len(&mut set)?, 1, "the timer is due again");
    Ok(())
}

fn ready_len(set: &mut WaitSet) -> sinew::Result<usize> {
    Ok(set.wait(Duration::ZERO)?.len())
}

#[test]
fn what_is_left_alone_is_returned_again_and_nothing_of_it_is_lost() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let log = Log::new();
    let topics = ["a", "b", "c"];
    let mut readers = Vec::new();
    for topic in topics {
        let pen = log.pen();
        let callback = move |number: &Number| pen.write((topic, number.0));
        readers.push(room.node.group(()).subscription(topic).callback(callback)?);
    }
    publish(&room.node, "b", [1, 2])?;
    publish(&room.node, "c", [3])?;
    publish(&room.node, "a", [4])?;
    for _ in 0..3 {
        let expected = ["b", "c", "a"].map(|topic| format!("subscription to /{topic} of node /room"));
        assert_eq!(ready(&mut set)?, expected);
    }
    let mut second = set.wait(Duration::ZERO)?;
    assert!(second.nth(1).expect("c").run()?);
    drop(second);
    publish(&room.node, "c", [5])?;
    assert_eq!(ready(&mut set)?.len(), 3);
    // The first of those that are ready each time: the order of an executor.
    while let Some(first) = set.wait(Duration::ZERO)?.next() {
        assert!(first.run()?);
    }
    assert_eq!(log.lines(), [("c", 3), ("b", 1), ("b", 2), ("a", 4), ("c", 5)]);
    Ok(())
}

#[test]
fn a_higher_priority_comes_first() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let mut bells = Vec::new();
    let nodes = ["low", "high", "middle"].map(|name| room.context.node(name).unwrap());
    for (node, priority) in nodes.iter().zip([-1, 1, 0]) {
        let group = node.group(()).priority(priority);
        bells.push(group.guard_condition().callback(|| {})?);
    }
    bells.iter().for_each(sinew::GuardCondition::trigger);
    let expected = ["high", "middle", "low"].map(|name| format!("guard condition of node /{name}"));
    assert_eq!(ready(&mut set)?, expected);
    Ok(())
}

#[test]
fn a_subscription_whose_messages_were_taken_by_hand_is_not_ready_though_it_has_a_callback()
-> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let log = Log::new();
    let pen = log.pen();
    let numbers = room.node.subscription("numbers").callback(move |number: &Number| pen.write(number.0))?;
    publish(&room.node, "numbers", [1, 2])?;
    assert_eq!(numbers_in(&numbers), [1, 2]);
    assert_eq!(ready_len(&mut set)?, 0);
    publish(&room.node, "numbers", [3, 4])?;
    let found: Vec<_> = set.wait(Duration::ZERO)?.collect();
    assert_eq!(numbers_in(&numbers), [3, 4]);
    assert!(!found[0].run()?, "nothing is left");
    publish(&room.node, "numbers", [5])?;
    assert_eq!(ready_len(&mut set)?, 1);
    Ok(())
}

#[test]
fn a_timer_that_is_cancelled_or_reset_is_not_ready() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let timer = room.node.timer(Duration::from_millis(10)).callback(|| {})?;
    type Change = fn(&Timer);
    for change in [Timer::cancel as Change, Timer::reset] {
        timer.reset();
        room.clock.advance(Duration::from_millis(10));
        assert_eq!(ready_len(&mut set)?, 1);
        change(&timer);
        assert_eq!(ready_len(&mut set)?, 0);
    }
    room.clock.advance(Duration::from_millis(10));
    assert_eq!(ready_len(&mut set)?, 1);
    room.clock.set(sinew::time::Time::from_nanoseconds(0));
    assert_eq!(ready_len(&mut set)?, 0, "time went back");
    room.clock.advance(PATIENCE);
    assert_eq!(ready_len(&mut set)?, 1);
    Ok(())
}

#[test]
fn callbacks_of_a_reentrant_group_run_too() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let log = Log::new();
    let (pen, group) = (log.pen(), room.node.reentrant_group());
    let _numbers = group.subscription("numbers").callback(move |number: &Number| pen.write(number.0))?;
    publish(&room.node, "numbers", 1..=3)?;
    while let Some(first) = set.wait(Duration::ZERO)?.next() {
        assert!(first.run()?);
    }
    assert_eq!(log.lines(), [1, 2, 3]);
    Ok(())
}

// ---- what is served ----

#[test]
fn what_another_one_waits_for_or_that_has_a_callback_cannot_be_added() -> sinew::Result<()> {
    let (room, set) = stage()?;
    let other = WaitSet::new();
    assert!(matches!(other.add(&room.node), Err(AddError::Taken { .. })));
    let calling = room.node.subscription("numbers").callback(|_: &Number| {})?;
    assert!(matches!(other.add_subscription(&calling), Err(AddError::HasCallback { .. })));
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    set.add_subscription(&numbers)?;
    let error = other.add_subscription(&numbers).unwrap_err();
    assert!(error.to_string().starts_with("the subscription to /numbers is served by another"), "{error}");
    drop(set);
    other.add_subscription(&numbers)?;
    room.context.shutdown();
    assert_eq!(WaitSet::new().add_subscription(&numbers), Err(AddError::Shutdown));
    Ok(())
}

#[test]
fn when_a_wait_set_is_dropped_another_one_or_an_executor_takes_over_what_waits() -> sinew::Result<()> {
    let (room, set) = stage()?;
    let log = Log::new();
    let pen = log.pen();
    let _calling = room.node.subscription("numbers").callback(move |number: &Number| pen.write(number.0))?;
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    set.add_subscription(&numbers)?;
    publish(&room.node, "numbers", [1])?;
    drop(set);
    publish(&room.node, "numbers", [2])?;
    let mut set = WaitSet::new();
    set.add_subscription(&numbers)?;
    assert_eq!(ready_len(&mut set)?, 1);
    room.executor.add(&room.context)?;
    assert_eq!(room.executor.spin_some()?, 2);
    assert_eq!(log.lines(), [1, 2]);
    assert_eq!(numbers_in(&numbers), [1, 2]);
    Ok(())
}

#[test]
fn what_is_dropped_while_it_is_ready_is_gone_at_once() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let held = std::sync::Arc::new(());
    let captured = held.clone();
    let calling = room.node.subscription("numbers").callback(move |_: &Number| drop(captured.clone()))?;
    let numbers = room.node.subscription::<Number>("numbers").create()?;
    set.add_subscription(&numbers)?;
    publish(&room.node, "numbers", [1])?;
    let found: Vec<_> = set.wait(PATIENCE)?.collect();
    assert_eq!(found.len(), 2);
    drop((calling, numbers));
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
    for ready in &found {
        assert!(!ready.run()?);
        assert_eq!(ready.describe(), "an entity that is gone");
    }
    assert_eq!(ready_len(&mut set)?, 0);
    Ok(())
}

#[test]
fn a_ready_callback_may_drop_what_is_ready_behind_it() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let numbers = room.node.subscription("numbers").callback(|_: &Number| panic!("it was dropped"))?;
    let mut victim = Some(numbers);
    let killer = room.node.guard_condition().callback(move || drop(victim.take()))?;
    killer.trigger();
    publish(&room.node, "numbers", [1])?;
    let ran = set.wait(PATIENCE)?.filter(|ready| ready.run().unwrap()).count();
    assert_eq!(ran, 1);
    Ok(())
}

// ---- waiting ----

#[test]
fn after_the_timeout_nothing_is_ready() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let _timer = room.node.timer(Duration::from_millis(1)).callback(|| {})?; // in virtual time, which stands still
    assert_eq!(set.wait(Duration::from_millis(2))?.len(), 0);
    assert_eq!(WaitSet::new().wait(Duration::from_millis(1))?.len(), 0, "nor in an empty one");
    Ok(())
}

#[test]
fn it_wakes_for_whatever_becomes_ready() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let mut set = WaitSet::new();
    set.add(&context)?;
    let numbers = node.subscription::<Number>("numbers").create()?;
    set.add_subscription(&numbers)?;
    let guard = node.guard_condition().callback(|| {})?;
    let timer = node.timer(Duration::from_millis(1)).callback(TimerInfo::cancel)?;
    timer.cancel();
    let gate = Gate::new();
    let waiter = gate.clone();
    finishes(move || {
        thread::scope(|scope| {
            scope.spawn(|| {
                let acts: [&dyn Fn(); 3] =
                    [&|| publish(&node, "numbers", [1]).unwrap(), &|| guard.trigger(), &|| timer.reset()];
                for act in acts {
                    waiter.wait();
                    act();
                }
            });
            let expected: [&dyn Fn(&Ready<'_>) -> bool; 3] =
                [&|ready| ready.is(&numbers), &|ready| ready.is(&guard), &|ready| ready.is(&timer)];
            for is_it in expected {
                gate.open();
                let found: Vec<_> = set.wait(Duration::MAX).unwrap().collect();
                assert!(found.len() == 1 && is_it(&found[0]), "{found:?}");
                assert!(found[0].run().unwrap() || numbers.take().is_some());
            }
        });
    });
    Ok(())
}

#[test]
fn nothing_is_lost_while_another_thread_publishes() -> sinew::Result<()> {
    const MESSAGES: u64 = 2000;
    let context = real_context();
    let node = context.node("node")?;
    let mut set = WaitSet::new();
    set.add(&context)?;
    let deep = QoS::default().keep_last(10_000);
    let taken = node.subscription::<Number>("numbers").qos(deep).create()?;
    set.add_subscription(&taken)?;
    let log = Log::new();
    let pen = log.pen();
    let _called =
        node.subscription("numbers").qos(deep).callback(move |number: &Number| pen.write(number.0))?;
    finishes(move || {
        thread::scope(|scope| {
            scope.spawn(|| publish(&node, "numbers", 1..=MESSAGES).unwrap());
            let (mut by_hand, mut called) = (Vec::new(), 0);
            while by_hand.len() as u64 + called < 2 * MESSAGES {
                for ready in set.wait(Duration::MAX).unwrap() {
                    match ready.is(&taken) {
                        true => by_hand.extend(numbers_in(&taken)),
                        false => called += u64::from(ready.run().unwrap()),
                    }
                }
            }
            assert_eq!(by_hand, (1..=MESSAGES).collect::<Vec<_>>());
            assert_eq!(log.lines(), by_hand);
        });
    });
    Ok(())
}

#[test]
fn others_may_take_what_it_waits_for() -> sinew::Result<()> {
    const MESSAGES: u64 = 1000;
    let context = real_context();
    let node = context.node("node")?;
    let deep = QoS::default().keep_last(10_000);
    let numbers = node.subscription::<Number>("numbers").qos(deep).create()?;
    let mut set = WaitSet::new();
    set.add_subscription(&numbers)?;
    let stop = set.stop_handle();
    let taken = finishes(move || {
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut taken = 0;
                while set.wait(Duration::MAX).is_ok() {
                    taken += numbers_in(&numbers).len() as u64;
                }
                taken
            });
            let thief = scope.spawn(|| {
                let mut taken = 0;
                while numbers.statistics().taken < MESSAGES {
                    taken += numbers_in(&numbers).len() as u64;
                }
                stop.stop();
                taken
            });
            publish(&node, "numbers", 1..=MESSAGES).unwrap();
            waiting.join().unwrap() + thief.join().unwrap()
        })
    });
    assert_eq!(taken, MESSAGES);
    Ok(())
}

#[test]
fn a_stop_ends_the_wait_that_runs_or_the_next_one() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let stop = set.stop_handle();
    stop.stop();
    assert_eq!(set.wait(Duration::MAX).err(), Some(SpinError::Stopped));
    assert_eq!(set.wait(Duration::ZERO)?.len(), 0, "once");
    let again = stop.clone();
    let guard = room.node.guard_condition().callback(move || again.stop())?;
    guard.trigger();
    for ready in set.wait(PATIENCE)? {
        assert!(ready.run()?); // stops, which is for the next wait
    }
    assert_eq!(set.wait(Duration::MAX).err(), Some(SpinError::Stopped));
    ends_for(set, move || stop.stop());
    Ok(())
}

#[test]
fn a_shutdown_ends_every_wait_and_nothing_runs_any_more() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let context = room.context.clone();
    let guards = [
        room.node.guard_condition().callback(move || context.shutdown())?,
        room.node.guard_condition().callback(|| panic!("it is shut down"))?,
    ];
    guards.iter().for_each(sinew::GuardCondition::trigger);
    let ran: Vec<_> = set.wait(PATIENCE)?.map(|ready| ready.run()).collect();
    assert_eq!(ran, [Ok(true), Ok(false)]);
    for _ in 0..2 {
        assert_eq!(set.wait(Duration::MAX).err(), Some(SpinError::Stopped));
    }
    let (room, set) = stage()?;
    ends_for(set, move || room.context.shutdown());
    Ok(())
}

/// A wait in another thread ends when this is done.
fn ends_for(mut set: WaitSet, act: impl FnOnce()) {
    let gate = Gate::new();
    let opener = gate.clone();
    let waiting = thread::spawn(move || {
        opener.open();
        set.wait(Duration::MAX).err()
    });
    gate.wait();
    act();
    assert_eq!(finishes(move || waiting.join().expect("nothing panics")), Some(SpinError::Stopped));
}

// ---- faults ----

#[test]
fn a_panic_or_an_error_is_returned_or_reported_as_an_executor_does() -> sinew::Result<()> {
    for (reaction, fails) in [(FaultPolicy::Stop, true), (FaultPolicy::Report, false)] {
        let Room { context, node, executor, .. } = Room::new();
        drop(executor);
        let mut set = WaitSet::builder().on_panic(reaction).on_error(reaction).build();
        set.add(&context)?;
        let numbers = node.subscription("numbers").callback(|number: &Number| match number.0 {
            1 => panic!("one"),
            2 => Err("two"),
            _ => Ok(()),
        })?;
        publish(&node, "numbers", 1..=3)?;
        let mut outcomes = Vec::new();
        while let Some(ready) = set.wait(Duration::ZERO)?.next() {
            outcomes.push(ready.run());
        }
        assert_eq!(outcomes.len(), 3);
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), if fails { 2 } else { 0 });
        assert_eq!(outcomes[2], Ok(true));
        drop(numbers);
    }
    Ok(())
}

#[test]
fn a_wait_that_only_the_set_itself_could_end_is_an_error() -> sinew::Result<()> {
    let (room, mut set) = stage()?;
    let full = QoS::default().keep_all().max_samples(1).max_blocking_time(PATIENCE);
    let numbers = room.node.subscription::<Number>("numbers").qos(full).create()?;
    set.add_subscription(&numbers)?;
    let publisher = room.node.publisher::<Number>("numbers").qos(full).create()?;
    publisher.publish(Number(1))?;
    let again = publisher.clone();
    let log = Log::new();
    let pen = log.pen();
    let guard = room.node.guard_condition().callback(move || {
        pen.write(again.publish(Number(2)).err().map(|error| error.failure()));
    })?;
    guard.trigger();
    for ready in set.wait(PATIENCE)?.filter(|ready| ready.is(&guard)) {
        assert!(ready.run()?);
    }
    assert_eq!(log.lines(), [Some(sinew::error::PublishFailure::WouldDeadlock)]);
    let failure = publisher.publish(Number(3)).unwrap_err().failure();
    assert_eq!(failure, sinew::error::PublishFailure::WouldDeadlock, "only this thread takes");
    Ok(())
}

#[test]
fn handles_may_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<WaitSet>();
    check::<Ready<'_>>();
    check::<StopHandle>();
}
