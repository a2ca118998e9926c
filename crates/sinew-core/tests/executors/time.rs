//! Timers, the three clocks, virtual time, and what is known about when and whence a message came.

use crate::support;

use sinew::error::{CreateError, SpinError};
use sinew::msg::{Gid, Transport};
use sinew::prelude::*;
use sinew::time::{ClockKind, Time, TimerInfo, VirtualClock};
use sinew::{Executor, Publisher};
use std::sync::{Arc, OnceLock};
use std::thread;
use support::{Log, Number, Pen, Room, finishes, real_context, virtual_context};

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// The time so many milliseconds after a clock's epoch.
fn at(milliseconds: i64) -> Time {
    Time::from_nanoseconds(milliseconds * 1_000_000)
}

// ---- virtual time ----

/// A small robot: timers, a relay, a join of two topics. Logs what ran when.
fn robot(advance: impl FnOnce(&Executor) -> sinew::Result<()>) -> sinew::Result<Vec<(i64, String)>> {
    let clock = VirtualClock::new();
    let context = virtual_context(&clock);
    let executor = Executor::single();
    executor.add(&context)?;
    let log = Log::new();
    let (sensor, relay, join) = (context.node("sensor")?, context.node("relay")?, context.node("join")?);
    let note = |what: &'static str| {
        let (pen, clock) = (log.pen(), clock.clone());
        move |number: u64| pen.write((clock.now().nanoseconds(), format!("{what} {number}")))
    };
    let (fast, slow) =
        (sensor.publisher::<Number>("fast").create()?, sensor.publisher::<Number>("slow").create()?);
    let (noted, mut count) = (note("fast"), 0);
    let _fast = sensor.timer(Duration::from_micros(700)).callback(move || {
        count += 1;
        noted(count);
        fast.publish(Number(count))
    })?;
    let (noted, mut count) = (note("slow"), 0);
    let _slow = sensor.timer(Duration::from_micros(2100)).callback(move |timer: &TimerInfo| {
        count += 1;
        noted(count);
        if count == 20 {
            timer.cancel();
        }
        slow.publish(Number(count))
    })?;
    let (noted, relayed) = (note("relay"), relay.publisher::<Number>("relayed").create()?);
    let _relay = relay.subscription("fast").callback(move |number: &Number| {
        noted(number.0);
        relayed.publish(number)
    })?;
    let sum = join.group(0);
    let noted = note("join");
    let _left = sum.subscription("relayed").callback(move |sum: &mut u64, number: &Number| {
        *sum += number.0;
        noted(*sum);
    })?;
    let _right =
        sum.subscription("slow").callback(|sum: &mut u64, number: &Number| *sum += 1000 * number.0)?;
    advance(&executor)?;
    Ok(log.lines())
}

#[test]
fn in_virtual_time_the_same_program_does_the_same_in_the_same_order() -> sinew::Result<()> {
    let at_once = |executor: &Executor| Ok(executor.advance(milliseconds(50)).map(drop)?);
    let first = robot(at_once)?;
    assert_eq!(first.iter().filter(|(_, what)| what.starts_with("join")).count(), 71);
    assert_eq!(first.last(), Some(&(49_700_000, "join 212556".to_owned())));
    for _ in 0..5 {
        assert_eq!(robot(at_once)?, first);
    }
    let in_steps = robot(|executor| {
        (0..500).try_for_each(|_| executor.advance(Duration::from_micros(100)).map(drop))?;
        Ok(())
    })?;
    assert_eq!(in_steps, first, "however it is cut into pieces");
    Ok(())
}

#[test]
fn virtual_time_stands_still_while_callbacks_run_and_advances_exactly() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let (pen, clock) = (log.pen(), room.clock.clone());
    let _timer = room.node.timer(milliseconds(3)).callback(move || pen.write(clock.now()))?;
    assert_eq!(room.advance(10), 3);
    assert_eq!(log.lines(), [at(3), at(6), at(9)]);
    assert_eq!(room.clock.now(), at(10));
    for kind in [ClockKind::Steady, ClockKind::System, ClockKind::Ros] {
        assert_eq!(room.context.now_by(kind), at(10));
    }
    assert_eq!(room.advance(2), 1, "due at 12, inclusive");
    Ok(())
}

#[test]
fn a_stop_ends_an_advance_where_it_is() -> sinew::Result<()> {
    let room = Room::new();
    let stop = room.executor.stop_handle();
    let mut calls = 0;
    let _timer = room.node.timer(milliseconds(1)).callback(move || {
        calls += 1;
        if calls == 4 {
            stop.stop();
        }
    })?;
    assert_eq!(room.advance(100), 4);
    assert_eq!(room.clock.now(), at(4));
    assert_eq!(room.advance(6), 6, "the next one goes on");
    Ok(())
}

#[test]
fn only_virtual_time_can_be_advanced() -> sinew::Result<()> {
    let executor = Executor::single();
    executor.add(&real_context())?;
    assert_eq!(executor.advance(milliseconds(1)), Err(SpinError::NotVirtual));
    Ok(())
}

// ---- timers ----

/// A timer that logs each call: when it was due, when it ran, what it skipped.
fn watch(node: &Node, period: u64, kind: ClockKind, pen: Pen<(Time, Time, u64)>) -> sinew::Result<Timer> {
    let timer = node.timer(milliseconds(period)).clock(kind);
    Ok(timer.callback(move |info: &TimerInfo| pen.write((info.due(), info.actual(), info.skipped())))?)
}

#[test]
fn a_timer_knows_how_long_it_is_until_it_is_due() -> sinew::Result<()> {
    let room = Room::new();
    let timer = watch(&room.node, 10, ClockKind::Steady, Log::new().pen())?;
    assert_eq!(timer.period(), milliseconds(10));
    assert_eq!(timer.time_until_next(), Some(milliseconds(10)));
    room.clock.advance(milliseconds(4));
    assert_eq!(timer.time_until_next(), Some(milliseconds(6)));
    room.clock.advance(milliseconds(40));
    assert_eq!(timer.time_until_next(), Some(Duration::ZERO));
    timer.cancel();
    assert_eq!(timer.time_until_next(), None);
    timer.reset();
    assert_eq!(timer.time_until_next(), Some(milliseconds(10)));
    Ok(())
}

#[test]
fn a_timer_may_be_cancelled_in_its_own_callback() -> sinew::Result<()> {
    let room = Room::new();
    let timer = room.node.timer(milliseconds(1)).callback(TimerInfo::cancel)?;
    assert_eq!(room.advance(10), 1);
    assert!(timer.is_cancelled());
    timer.reset();
    assert_eq!(room.advance(10), 1, "one shot each time");
    Ok(())
}

#[test]
fn a_timer_may_be_reset_in_its_own_callback() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let (pen, clock) = (log.pen(), room.clock.clone());
    let own = Arc::new(OnceLock::<Timer>::new());
    let timer = own.clone();
    let _ = own.set(room.node.timer(milliseconds(10)).callback(move |info: &TimerInfo| {
        pen.write(info.due());
        clock.advance(milliseconds(3)); // the work takes that long
        timer.get().unwrap().reset(); // a pause of 10 ms after each
    })?);
    room.advance(40);
    assert_eq!(log.lines(), [at(10), at(23), at(36)]);
    Ok(())
}

#[test]
fn a_period_of_nothing_or_for_ever_is_an_error_that_names_the_node() -> sinew::Result<()> {
    let room = Room::new();
    for period in [Duration::ZERO, Duration::MAX] {
        let error = room.node.timer(period).callback(|| {}).unwrap_err();
        assert!(matches!(&error, CreateError::Period { .. }), "{error:?}");
        assert!(error.to_string().contains("/room"), "{error}");
    }
    Ok(())
}

#[test]
fn a_due_timer_of_a_higher_priority_overtakes_older_messages() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let urgent = room.node.group(()).priority(1);
    let (pen, clock) = (log.pen(), room.clock.clone());
    let _reader = room.node.subscription("numbers").callback(move |number: &Number| {
        pen.write(format!("message {}", number.0));
        clock.advance(milliseconds(4));
    })?;
    let pen = log.pen();
    let timer = urgent.timer(milliseconds(10));
    let _timer = timer
        .callback(move |info: &TimerInfo| pen.write(format!("timer {}", info.actual().nanoseconds())))?;
    let publisher = room.node.publisher("numbers").create()?;
    (1..=5).try_for_each(|number| publisher.publish(Number(number)))?;
    room.run();
    let expected =
        ["message 1", "message 2", "message 3", "timer 12000000", "message 4", "message 5", "timer 20000000"];
    assert_eq!(log.lines(), expected);
    Ok(())
}

#[test]
fn a_callback_that_feeds_itself_does_not_starve_a_timer() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let echo = room.node.publisher::<Number>("echo").create()?;
    let (again, clock, pen) = (echo.clone(), room.clock.clone(), log.pen());
    let _echo = room.node.subscription("echo").qos(QoS::default().keep_last(1)).callback(
        move |number: &Number| {
            pen.write(number.0);
            clock.advance(milliseconds(1)); // the work takes that long
            if number.0 < 8 { again.publish(Number(number.0 + 1)) } else { Ok(()) }
        },
    )?;
    let pen = log.pen();
    let _timer = room.node.timer(Duration::from_micros(2500)).callback(move || pen.write(0))?;
    echo.publish(Number(1))?;
    room.run();
    assert_eq!(log.lines(), [1, 2, 3, 0, 4, 5, 0, 6, 7, 8, 0]);
    Ok(())
}

// ---- ROS time ----

#[test]
fn ros_time_is_the_wall_clock_until_it_is_set_and_then_stands_still() -> sinew::Result<()> {
    let room = Room::new();
    room.clock.advance(milliseconds(5));
    assert_eq!(room.context.now_by(ClockKind::Ros), at(5));
    room.context.set_ros_time(Some(at(1000)));
    room.clock.advance(milliseconds(5));
    assert_eq!(room.context.now_by(ClockKind::Ros), at(1000));
    assert_eq!(room.context.now_by(ClockKind::System), at(10));
    room.context.set_ros_time(None);
    assert_eq!(room.context.now_by(ClockKind::Ros), at(10));
    Ok(())
}

#[test]
fn timers_of_ros_time_follow_it_forward_and_skip_what_it_jumps_over() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    room.context.set_ros_time(Some(at(1000)));
    let timer = watch(&room.node, 10, ClockKind::Ros, log.pen())?;
    assert_eq!(room.run(), 0);
    room.context.set_ros_time(Some(at(1009)));
    assert_eq!(room.run(), 0);
    room.context.set_ros_time(Some(at(1010)));
    assert_eq!(room.run(), 1);
    room.context.set_ros_time(Some(at(1045)));
    assert_eq!(room.run(), 1);
    assert_eq!(log.lines(), [(at(1010), at(1010), 0), (at(1020), at(1045), 2)]);
    assert_eq!(timer.time_until_next(), Some(milliseconds(5)));
    Ok(())
}

#[test]
fn if_ros_time_goes_back_no_timer_waits_longer_than_its_period() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    room.context.set_ros_time(Some(at(100_000)));
    let timer = watch(&room.node, 10, ClockKind::Ros, log.pen())?;
    room.context.set_ros_time(Some(at(0))); // a replay starts again
    assert_eq!(timer.time_until_next(), Some(milliseconds(10)));
    for time in 1..=25 {
        room.context.set_ros_time(Some(at(time)));
        room.run();
    }
    assert_eq!(log.lines(), [(at(10), at(10), 0), (at(20), at(20), 0)]);
    // Back by less than that: the due time stays.
    room.context.set_ros_time(Some(at(22)));
    assert_eq!(timer.time_until_next(), Some(milliseconds(8)));
    Ok(())
}

#[test]
fn a_timer_made_before_ros_time_is_set_follows_it_from_then_on() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    room.clock.advance(milliseconds(100_000));
    let _timer = watch(&room.node, 10, ClockKind::Ros, log.pen())?; // due at 100.01 s
    room.context.set_ros_time(Some(at(0)));
    room.context.set_ros_time(Some(at(10)));
    room.run();
    assert_eq!(log.lines(), [(at(10), at(10), 0)]);
    Ok(())
}

#[test]
fn virtual_time_can_be_advanced_while_ros_time_stands_still() -> sinew::Result<()> {
    let (steady, ros) = finishes(|| {
        let room = Room::new();
        let (steady, ros) = (Log::new(), Log::new());
        room.context.set_ros_time(Some(at(0)));
        let _steady = watch(&room.node, 10, ClockKind::Steady, steady.pen())?;
        let _ros = watch(&room.node, 10, ClockKind::Ros, ros.pen())?;
        room.advance(50);
        Ok::<_, sinew::Error>((steady.lines().len(), ros.lines().len()))
    })?;
    assert_eq!((steady, ros), (5, 0));
    Ok(())
}

#[test]
fn virtual_time_can_be_advanced_while_ros_time_is_ahead_or_behind() -> sinew::Result<()> {
    for now in [at(5), at(100_000)] {
        let room = Room::new();
        let log = Log::new();
        room.clock.advance(milliseconds(1000));
        room.context.set_ros_time(Some(now));
        let _steady = watch(&room.node, 10, ClockKind::Steady, log.pen())?;
        let _ros = watch(&room.node, 7, ClockKind::Ros, log.pen())?;
        let executor = room.executor;
        finishes(move || executor.advance(milliseconds(50)))?;
        assert_eq!(log.lines().len(), 5);
        assert_eq!(room.clock.now(), at(1050));
    }
    Ok(())
}

#[test]
fn setting_ros_time_wakes_an_executor_that_sleeps() -> sinew::Result<()> {
    type Add = fn(&Executor, &Context, &Group) -> Result<(), sinew::error::AddError>;
    let parts: [(&str, Add); 2] = [
        ("context", |executor, context, _| executor.add(context)),
        ("group", |executor, _, group| executor.add(group)),
    ];
    for (part, add) in parts {
        let context = real_context();
        let node = context.node("node")?;
        let group = node.group(());
        let log = Log::new();
        context.set_ros_time(Some(at(0)));
        let pen = log.pen();
        let timer = group.timer(milliseconds(10)).clock(ClockKind::Ros);
        let _timer = timer.callback(move |timer: &TimerInfo| pen.write(timer.due()))?;
        let pen = log.pen();
        let guard = group.guard_condition().callback(move || pen.write(at(0)))?;
        guard.trigger();
        let executor = Executor::single();
        add(&executor, &context, &group)?;
        let stop = executor.stop_handle();
        let spinning = thread::spawn(move || executor.spin());
        assert_eq!(log.next(), at(0));
        context.set_ros_time(Some(at(10)));
        let first = log.next_within(support::PATIENCE);
        stop.stop();
        assert_eq!(first, Some(at(10)), "it serves a {part}");
        finishes(move || spinning.join().unwrap())?;
    }
    Ok(())
}

// ---- what is known about a message ----

#[test]
fn the_info_of_a_message_says_who_published_it_when_and_as_which() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let _reader = room
        .node
        .subscription::<Number>("numbers")
        .qos(QoS::default().keep_last(2))
        .filter(|number| number.0 != 2)
        .callback(move |_: &Number, info: &MessageInfo| pen.write(info.clone()))?;
    let publisher = room.node.publisher("numbers").create()?;
    let other = room.node.publisher::<Number>("numbers").create()?;
    for number in 1..=4 {
        room.clock.set(at(10 * number));
        publisher.publish(Number(u64::try_from(number).unwrap()))?;
    }
    room.clock.set(at(100));
    room.run();
    let infos = log.lines();
    let numbers: Vec<_> =
        infos.iter().map(|info| (info.publication_sequence(), info.reception_sequence())).collect();
    assert_eq!(numbers, [(3, 2), (4, 3)], "2 was filtered out, 1 was overwritten");
    for (info, published) in infos.iter().zip([30, 40]) {
        assert_eq!((info.source_time(), info.reception_time()), (at(published), at(100)));
        assert_eq!(info.latency(), at(100) - at(published));
        assert_eq!((info.publisher(), info.transport()), (publisher.gid(), Transport::Intra));
    }
    assert_ne!(publisher.gid(), other.gid());
    assert_ne!(publisher.gid(), Gid([0; 16]));
    Ok(())
}

#[test]
fn in_real_time_source_and_reception_are_wall_times_in_order() -> sinew::Result<()> {
    let node = real_context().node("node")?;
    let reader = node.subscription::<Number>("numbers").create()?;
    node.publisher("numbers").create()?.publish(Number(1))?;
    let (_, info) = reader.take().unwrap();
    assert!(info.source_time() <= info.reception_time());
    assert_eq!(info.reception_time() - info.source_time(), info.latency());
    assert!(info.source_time() > Time::from_nanoseconds(1_700_000_000_000_000_000), "years since 1970");
    Ok(())
}

/// A node that passes numbers on, and takes a millisecond for it.
fn hop(room: &Room, from: &'static str, to: &'static str) -> sinew::Result<Subscription<Number>> {
    let clock = room.clock.clone();
    let next = room.node.publisher::<Number>(to).create()?;
    Ok(room.node.subscription(from).callback(move |number: &Number| {
        clock.advance(milliseconds(1));
        next.publish(number)
    })?)
}

#[test]
fn a_chain_of_callbacks_inherits_the_lineage_of_its_first_message() -> sinew::Result<()> {
    let room = Room::new();
    let taps = ["a", "b", "c"].map(|topic| room.node.subscription::<Number>(topic).create().unwrap());
    let _hops = [hop(&room, "a", "b")?, hop(&room, "b", "c")?];
    let first = room.node.publisher::<Number>("a").create()?;
    room.clock.set(at(10));
    first.publish(Number(1))?;
    room.run();
    first.publish(Number(2))?; // at 12 ms
    room.run();
    let infos = taps.each_ref().map(|tap| [tap.take().unwrap().1, tap.take().unwrap().1]);
    for (nth, began) in [(0, at(10)), (1, at(12))] {
        for (hops, info) in (0..).zip(&infos) {
            assert_eq!(info[nth].lineage(), infos[0][nth].lineage());
            assert_eq!(info[nth].lineage().stamp(), began);
            assert_eq!(info[nth].source_time(), began + milliseconds(hops));
            assert_eq!(info[nth].chain_latency(), at(14) - began);
        }
    }
    assert_ne!(infos[0][0].lineage().id(), infos[0][1].lineage().id());
    Ok(())
}

/// The id of the chain that the next message of a subscription belongs to.
fn chain_of(subscription: &Subscription<Number>) -> u64 {
    subscription.take().expect("it was published").1.lineage().id()
}

#[test]
fn timers_guard_conditions_and_events_begin_chains_of_their_own() -> sinew::Result<()> {
    let room = Room::new();
    let out = room.node.subscription::<Number>("out").create()?;
    let publisher = || room.node.publisher::<Number>("out").create();
    let (timed, guarded, received) = (publisher()?, publisher()?, publisher()?);
    let _timer = room.node.timer(milliseconds(1)).callback(move || timed.publish(Number(1)))?;
    let guard = room.node.guard_condition().callback(move || guarded.publish(Number(2)))?;
    let input = room.node.subscription::<Number>("in");
    let input = input.on_matched(move || received.publish(Number(3))).create()?;
    room.node.publisher("in").create()?.publish(Number(0))?;
    guard.trigger();
    let (_, info) = input.take().unwrap();
    {
        let _chain = info.continue_chain(); // which has nothing to do with what the executor runs
        assert_eq!(room.advance(1), 3);
    }
    let mut chains: Vec<_> = (0..3).map(|_| chain_of(&out)).collect();
    chains.push(info.lineage().id());
    chains.sort_unstable();
    chains.dedup();
    assert_eq!(chains.len(), 4, "each its own");
    Ok(())
}

#[test]
fn who_takes_by_hand_may_continue_the_chain_as_a_callback_would() -> sinew::Result<()> {
    let room = Room::new();
    let reader = |topic| room.node.subscription::<Number>(topic).create();
    let (input, output) = (reader("in")?, reader("out")?);
    let publisher = |topic| room.node.publisher::<Number>(topic).create();
    let (source, sink): (Publisher<Number>, Publisher<Number>) = (publisher("in")?, publisher("out")?);
    source.publish(Number(1))?;
    source.publish(Number(2))?;
    let ((_, one), (_, two)) = (input.take().unwrap(), input.take().unwrap());
    {
        let _one = one.continue_chain();
        sink.publish(Number(1))?;
        assert_eq!(chain_of(&output), one.lineage().id());
        {
            let _two = two.continue_chain();
            sink.publish(Number(2))?;
            assert_eq!(chain_of(&output), two.lineage().id());
        }
        sink.publish(Number(3))?;
        assert_eq!(chain_of(&output), one.lineage().id());
    }
    sink.publish(Number(4))?;
    let own = chain_of(&output);
    assert!(own != one.lineage().id() && own != two.lineage().id());
    Ok(())
}

#[test]
fn a_callback_that_panics_leaves_no_chain_behind() -> sinew::Result<()> {
    let room = Room::new();
    let out = room.node.subscription::<Number>("out").create()?;
    let tap = room.node.subscription::<Number>("in").create()?;
    let _reader = room.node.subscription("in").callback(|_: &Number| panic!("in the middle of a chain"))?;
    room.node.publisher("in").create()?.publish(Number(1))?;
    assert!(room.executor.spin_some().is_err());
    room.node.publisher("out").create()?.publish(Number(2))?;
    assert_ne!(chain_of(&out), chain_of(&tap));
    Ok(())
}

#[test]
fn a_timer_that_was_due_waits_again_when_time_goes_back() -> sinew::Result<()> {
    let clock = sinew::time::VirtualClock::new();
    let context = virtual_context(&clock);
    let node = context.node("node")?;
    let executor = sinew::Executor::single();
    executor.add(&context)?;
    let back = clock.clone();
    let mut first = true;
    let _one = node.timer(Duration::from_millis(100)).callback(move || {
        if std::mem::take(&mut first) {
            back.set(sinew::time::Time::from_nanoseconds(0));
        }
    })?;
    let other = node.timer(Duration::from_millis(100)).callback(|| {})?;
    clock.advance(Duration::from_millis(100));
    assert_eq!(executor.spin_some()?, 1, "the second one is not due any more");
    assert_eq!(other.time_until_next(), Some(Duration::from_millis(100)));
    clock.advance(Duration::from_millis(100));
    assert_eq!(executor.spin_some()?, 1, "it is due again; the first is due at 200 ms");
    Ok(())
}

#[test]
fn spin_once_gives_up_after_real_time_also_in_virtual_time() -> sinew::Result<()> {
    let context = virtual_context(&sinew::time::VirtualClock::new());
    let node = context.node("node")?;
    let executor = sinew::Executor::single();
    executor.add(&context)?;
    let _timer = node.timer(Duration::from_millis(1)).callback(|| {})?;
    assert!(!executor.spin_once(Duration::from_millis(5))?);
    Ok(())
}
