//! Simulated time: `use_sim_time` and `/clock`, jumps, rates and sleeps; in one process and between
//! two.

use crate::support::{Log, Place, Room, finishes, real_context, wait_for};
use sinew::parameters::NamedValue;
use sinew::prelude::*;
use sinew::time::{
    ClockChange, ClockPublisher, JumpThreshold, Rate, SleepError, Time, TimeJump, VirtualClock,
};
use std::pin::pin;
use std::thread;

const SECOND: Duration = Duration::from_secs(1);

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// The time so many milliseconds after a clock's epoch.
fn at(milliseconds: i64) -> Time {
    Time::from_nanoseconds(milliseconds * 1_000_000)
}

/// A virtual room whose ROS time is that of `/clock`.
fn simulated_room() -> Room {
    let room = Room::new();
    room.context.use_sim_time(true).expect("it isn't shut down");
    room
}

/// A simulator that stands still until it is stepped.
fn paused(node: &Node) -> ClockPublisher {
    node.clock_publisher().paused().create().expect("it isn't shut down")
}

/// Logs when a timer of ROS time ran, and what it skipped.
fn watch(node: &Node, period: Duration, log: &Log<(Time, u64)>) -> sinew::Result<Timer> {
    let pen = log.pen();
    let timer = node.timer(period).clock(ClockKind::Ros);
    Ok(timer.callback(move |info: &TimerInfo| pen.write((info.actual(), info.skipped())))?)
}

// ---- use_sim_time ----

#[test]
fn ros_time_is_0_until_the_first_message_and_the_wall_clock_again_afterwards() -> sinew::Result<()> {
    let room = Room::new();
    room.clock.advance(milliseconds(7));
    let simulator = paused(&room.node);
    assert!(!room.context.uses_sim_time());
    simulator.set(at(99))?;
    assert_eq!(room.node.now(), at(7), "not asked to follow");

    room.context.use_sim_time(true)?;
    room.context.use_sim_time(true)?; // again is nothing
    assert!(room.context.uses_sim_time());
    assert_eq!(room.node.now(), at(0));
    simulator.set(at(100))?;
    assert_eq!(room.node.now(), at(100), "on the publishing thread, whether an executor spins or not");
    for kind in [ClockKind::Steady, ClockKind::System] {
        assert_eq!(room.context.now_by(kind), at(7));
    }

    room.context.use_sim_time(false)?;
    assert!(!room.context.uses_sim_time());
    assert_eq!(room.node.now(), at(7));
    let probe = room.node.publisher::<sinew_interfaces::rosgraph_msgs::msg::Clock>("/clock").create()?;
    assert_eq!(probe.subscription_count(), 0, "the subscription is dropped");
    simulator.set(at(200))?;
    assert_eq!(room.node.now(), at(7));
    Ok(())
}

#[test]
fn setting_the_wall_clock_ends_simulated_time_too() -> sinew::Result<()> {
    let room = simulated_room();
    let simulator = paused(&room.node);
    simulator.set(at(5))?;
    room.context.set_ros_time(Some(at(6)));
    assert!(room.context.uses_sim_time());
    room.context.set_ros_time(None);
    assert!(!room.context.uses_sim_time());
    simulator.set(at(8))?;
    assert_eq!(room.node.now(), at(0), "virtual time, which stands for the wall clock");
    Ok(())
}

#[test]
fn a_node_s_parameter_speaks_for_its_context() -> sinew::Result<()> {
    let context = Context::builder().shared_memory(false).use_sim_time(true).build()?;
    let node = context.node("planner")?;
    let _gain = node.parameter("gain").default(1.0).create()?;
    assert_eq!(node.parameter_value("use_sim_time"), Some(true.into()), "it shows the current time source");
    node.set_parameter("use_sim_time", false)?;
    assert!(!context.uses_sim_time() && node.now().nanoseconds() > 0);
    node.set_parameter("use_sim_time", true)?;
    assert!(context.uses_sim_time());
    assert_eq!(node.now().nanoseconds(), 0, "until the first message");
    Ok(())
}

#[test]
fn a_node_has_the_parameter_before_it_declares_any() -> sinew::Result<()> {
    let context = real_context();
    let node = || context.node("plain");
    node()?.set_parameter("use_sim_time", true)?;
    assert!(context.uses_sim_time());
    assert_eq!(node()?.parameter_value("use_sim_time"), Some(true.into()));
    assert_eq!(node()?.describe_parameter("use_sim_time").unwrap().name, "use_sim_time");
    let plain = node()?;
    assert!(plain.set_parameter("other", true).is_err() && plain.parameter_value("other").is_none());
    assert!(plain.list_parameters(&[], 0).is_empty(), "no other name gives it any");
    context.shutdown();
    let refused = plain.set_parameter("use_sim_time", false).unwrap_err().to_string();
    assert!(refused.contains("is shut down"), "{refused}");
    Ok(())
}

/// A thread sets the parameter of one node; while the handler of that jump runs, another thread
/// sets that of the other node.
#[test]
fn the_last_value_counts_for_the_context_its_clock_and_all_parameters() -> sinew::Result<()> {
    let context = real_context();
    let nodes = ["a", "b"].map(|name| context.node(name).unwrap());
    let _parameters = nodes.each_ref().map(|node| node.parameter("x").default(0).create().unwrap());
    let other = nodes[1].clone();
    let _handler = context.on_time_jump(JumpThreshold::resets(), move |jump| {
        if jump.change == ClockChange::Activated {
            thread::scope(|scope| scope.spawn(|| other.set_parameter("use_sim_time", false)).join())
                .unwrap()
                .unwrap();
        }
    });
    nodes[0].set_parameter("use_sim_time", true)?;
    assert!(!context.uses_sim_time());
    assert!(context.now_by(ClockKind::Ros) > at(0), "the wall clock");
    let values = nodes.each_ref().map(|node| node.parameter_value("use_sim_time"));
    assert_eq!(values, [Some(false.into()), Some(false.into())]);
    Ok(())
}

#[test]
fn threads_that_change_it_at_once_leave_no_contradiction() {
    for _ in 0..50 {
        let context = real_context();
        let nodes = ["a", "b", "c"].map(|name| context.node(name).unwrap());
        thread::scope(|scope| {
            for (index, node) in nodes.iter().enumerate() {
                let set = move |round| node.set_parameter("use_sim_time", (index + round) % 2 == 0);
                let _x = node.parameter("x").default(0).create().unwrap();
                scope.spawn(move || (0..4).try_for_each(set).unwrap());
            }
        });
        let uses = context.uses_sim_time();
        assert_eq!(context.now_by(ClockKind::Ros) == at(0), uses);
        for node in nodes {
            assert_eq!(node.parameter_value("use_sim_time"), Some(uses.into()));
        }
    }
}

#[test]
fn a_parameter_does_not_say_what_its_context_refused() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("a")?;
    let x = node.parameter("x").default(0).create()?;
    context.shutdown();
    let both = [NamedValue::new("x", 1), NamedValue::new("use_sim_time", true)];
    let refused = node.set_parameters(both).unwrap_err().to_string();
    assert!(refused.contains("'use_sim_time' is not set") && refused.contains("is shut down"), "{refused}");
    assert_eq!((x.get(), node.parameter_value("use_sim_time")), (0, Some(false.into())));
    node.set_parameter("use_sim_time", false)?;
    Ok(())
}

#[test]
fn the_command_line_and_the_builder_say_it_too() -> sinew::Result<()> {
    let builder = |arguments: &[&str]| {
        let line = ["robot", "--ros-args"].iter().chain(arguments).copied();
        Context::builder().shared_memory(false).domain(0).arguments(line)
    };
    assert!(builder(&["-p", "use_sim_time:=true"]).build()?.uses_sim_time());
    assert!(builder(&["-p", "camera:use_sim_time:=True", "-p", "rate:=3"]).build()?.uses_sim_time());
    assert!(!builder(&["-p", "use_sim_time:=true", "-p", "use_sim_time:=false"]).build()?.uses_sim_time());
    assert!(!builder(&["-p", "use_sim_time:=true"]).use_sim_time(false).build()?.uses_sim_time());
    assert!(builder(&[]).use_sim_time(true).build()?.uses_sim_time());
    let error =
        builder(&["-p", "use_sim_time:=42"]).build()?.node("camera").map(drop).unwrap_err().to_string();
    assert!(error.contains("use_sim_time") && error.contains("bool"), "{error}");
    Ok(())
}

#[test]
fn a_context_with_simulated_time_ends_as_others_do() -> sinew::Result<()> {
    let place = Place::new();
    let (context, other) = (place.context(), place.context());
    let simulator = paused(&other.node("simulator")?);
    context.use_sim_time(true)?;
    let probe = other.node("probe")?;
    let probe = probe.publisher::<sinew_interfaces::rosgraph_msgs::msg::Clock>("/clock").create()?;
    assert!(probe.wait_for_subscribers(1, crate::support::PATIENCE));
    drop(context);
    wait_for("the subscription goes with the context", || (probe.subscription_count() == 0).then_some(()));
    simulator.set(at(1))?;
    other.shutdown();
    assert!(other.use_sim_time(true).is_err());
    assert!(simulator.set(at(2)).is_err());
    Ok(())
}

#[test]
fn another_process_s_clock_is_followed_through_shared_memory() -> sinew::Result<()> {
    let place = Place::new();
    let (robot, world) = (place.context(), place.context());
    robot.use_sim_time(true)?;
    let node = robot.node("robot")?;
    let log = Log::new();
    let _timer = watch(&node, milliseconds(10), &log)?;
    let executor = Executor::single();
    executor.add(&robot)?;
    let stop = executor.stop_handle();
    let spinning = thread::spawn(move || executor.spin());

    let simulator = paused(&world.node("simulator")?);
    // Best effort: until the two know each other, a time is lost.
    wait_for("it follows", || {
        simulator.set(at(5)).expect("it isn't shut down");
        (node.now() == at(5)).then_some(())
    });
    for step in 1..=3 {
        simulator.step(milliseconds(10))?;
        assert_eq!(log.next(), (at(5 + 10 * step), 0), "nothing but /clock brings it forward");
    }
    simulator.set(at(1000))?;
    assert_eq!(log.next(), (at(1000), 96));
    robot.use_sim_time(false)?;
    assert!(node.now() > at(1_700_000_000_000), "years since 1970");
    stop.stop();
    finishes(move || spinning.join().unwrap())?;
    Ok(())
}

/// What a robot's controller does in a simulator: nothing in it says which clock is meant.
#[test]
fn timers_and_rates_follow_use_sim_time_while_they_run() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let control = room.node.timer(milliseconds(10));
    let control = control.callback(move |info: &TimerInfo| pen.write((info.due(), info.skipped())))?;
    let mut rate = room.node.rate(milliseconds(10))?;
    let mut is_due = || pin!(rate.sleep_async()).poll(&mut noop()).is_ready();
    room.advance(25);
    assert_eq!((log.lines(), is_due()), (vec![(at(10), 0), (at(20), 0)], true));

    let _gain = room.node.parameter("gain").default(1.0).create()?;
    room.node.set_parameter("use_sim_time", true)?;
    assert_eq!(control.clock(), ClockKind::Ros);
    room.advance(1000);
    assert_eq!((log.lines(), is_due()), (vec![], false), "nothing before the first word of /clock");
    let simulator = paused(&room.node);
    simulator.set(at(86_400_000))?;
    assert_eq!((room.run(), is_due()), (0, false), "and no billion of skipped periods with it");
    assert_eq!(control.time_until_next(), Some(milliseconds(5)));
    for _ in 0..3 {
        simulator.step(milliseconds(10))?;
        room.run();
        assert!(is_due());
    }
    assert_eq!(log.lines(), [5, 15, 25].map(|ms| (at(86_400_000 + ms), 0)));

    room.node.set_parameter("use_sim_time", false)?;
    assert_eq!((control.clock(), is_due()), (ClockKind::Steady, false));
    room.advance(25); // 5 ms were left, from 1025 on
    assert_eq!((log.lines().len(), is_due()), (3, true));
    Ok(())
}

/// A sleep until a date that began before simulated time did ends at that date.
#[test]
fn a_sleep_that_began_before_the_first_word_of_clock_ends_at_its_time() -> sinew::Result<()> {
    let room = simulated_room();
    let simulator = paused(&room.node);
    let node = room.node.clone();
    let mut sleep = pin!(node.sleep_until_async(ClockKind::Ros, at(5000)));
    assert!(sleep.as_mut().poll(&mut noop()).is_pending());
    simulator.set(at(4990))?;
    assert!(sleep.as_mut().poll(&mut noop()).is_pending());
    simulator.set(at(5000))?;
    assert_eq!(sleep.as_mut().poll(&mut noop()), std::task::Poll::Ready(Ok(())));
    Ok(())
}

// ---- an hour in a moment ----

#[test]
fn an_hour_passes_in_a_moment_and_timers_keep_their_order() -> sinew::Result<()> {
    let room = simulated_room();
    let _simulator = room.node.clock_publisher().speed(10.0).create()?;
    let log = Log::new();
    let timer = |period: u64| {
        let pen = log.pen();
        let timer = room.node.timer(milliseconds(period)).clock(ClockKind::Ros);
        timer.callback(move |info: &TimerInfo| pen.write((info.due(), info.skipped())))
    };
    // A message every 25 ms, ten times as fast: 250 ms of simulated time a step.
    let _timers = [timer(500)?, timer(1000)?, timer(7000)?];
    room.executor.advance(6 * 60 * SECOND)?;
    assert_eq!(room.node.now(), at(3_600_000));
    let runs = log.lines();
    assert_eq!(runs.len(), 7200 + 3600 + 3_600_000 / 7000);
    assert!(runs.iter().all(|(_, skipped)| *skipped == 0));
    assert!(runs.is_sorted_by_key(|(due, _)| *due), "in the order in which they were due");
    Ok(())
}

#[test]
fn a_pause_holds_everything_that_goes_by_ros_time() -> sinew::Result<()> {
    let room = simulated_room();
    let simulator = room.node.clock_publisher().create()?;
    let (ros, steady) = (Log::new(), Log::new());
    let _ros = watch(&room.node, milliseconds(100), &ros)?;
    let pen = steady.pen();
    let _steady = room.node.wall_timer(milliseconds(100)).callback(move || pen.write(()))?;
    room.advance(1000);
    assert_eq!((ros.lines().len(), steady.lines().len()), (10, 10));
    simulator.pause()?;
    assert!(simulator.is_paused());
    room.advance(60_000);
    assert_eq!((ros.lines().len(), steady.lines().len(), room.node.now()), (0, 600, at(1000)));
    simulator.step(milliseconds(100))?;
    room.run();
    assert_eq!(ros.lines(), [(at(1100), 0)]);
    simulator.set_speed(0.5)?;
    simulator.resume()?;
    room.advance(2000);
    assert_eq!((ros.lines().len(), room.node.now()), (10, at(2100)));
    for useless in [0.0, -1.0, f64::NAN] {
        simulator.set_speed(useless)?;
        room.advance(1000);
        assert_eq!(simulator.now(), at(2100), "{useless}");
    }
    Ok(())
}

#[test]
fn who_comes_late_learns_the_time_of_a_paused_clock() -> sinew::Result<()> {
    let room = Room::new();
    let simulator = room.node.clock_publisher().start(at(42)).paused().period(milliseconds(10)).create()?;
    room.context.use_sim_time(true)?;
    assert_eq!(room.node.now(), at(0));
    room.advance(10);
    assert_eq!((room.node.now(), simulator.now()), (at(42), at(42)));
    Ok(())
}

// ---- jumps ----

#[test]
fn jump_handlers_run_for_the_jumps_they_ask_for() -> sinew::Result<()> {
    let room = Room::new();
    room.clock.advance(milliseconds(5000));
    let simulator = paused(&room.node);
    let asks = |threshold| {
        let log = Log::new();
        let pen = log.pen();
        let note = move |jump: &TimeJump| pen.write((jump.change, jump.before, jump.after));
        (room.context.on_time_jump(threshold, note), log)
    };
    let none = JumpThreshold::default();
    let (_changes, changes) = asks(JumpThreshold { on_clock_change: true, ..none });
    let (_forward, forward) = asks(JumpThreshold { min_forward: Some(SECOND), ..none });
    let (_backward, backward) = asks(JumpThreshold { min_backward: Some(milliseconds(10)), ..none });
    let (resets, all_resets) = asks(JumpThreshold::resets());
    room.context.use_sim_time(true)?;
    for time in [10_000, 10_025, 10_024, 12_000, 11_000, 11_000] {
        simulator.set(at(time))?;
    }
    drop(resets);
    room.context.use_sim_time(false)?;
    use ClockChange::{Activated, Deactivated, Same};
    let activated = (Activated, at(5000), at(0));
    assert_eq!(changes.lines(), [activated, (Deactivated, at(11_000), at(5000))]);
    assert_eq!(forward.lines(), [(Same, at(0), at(10_000)), (Same, at(10_024), at(12_000))]);
    assert_eq!(backward.lines(), [(Same, at(12_000), at(11_000))]);
    let back_by_one = (Same, at(10_025), at(10_024));
    assert_eq!(all_resets.lines(), [activated, back_by_one, (Same, at(12_000), at(11_000))]);
    Ok(())
}

#[test]
fn a_handler_may_set_the_time_and_drop_itself() -> sinew::Result<()> {
    let room = Room::new();
    let context = room.context.clone();
    let threshold = JumpThreshold { min_backward: Some(SECOND), ..JumpThreshold::default() };
    let _handler = room.context.on_time_jump(threshold, move |_| context.set_ros_time(Some(at(77))));
    finishes(move || {
        room.context.set_ros_time(Some(at(10_000)));
        room.context.set_ros_time(Some(at(0)));
        assert_eq!(room.node.now(), at(77));
    });
    Ok(())
}

#[test]
fn a_timer_keeps_what_is_left_of_its_period_when_the_source_changes() -> sinew::Result<()> {
    let room = Room::new();
    room.clock.set(at(1_000_000));
    let log = Log::new();
    let timer = watch(&room.node, milliseconds(100), &log)?;
    room.clock.advance(milliseconds(30));
    room.context.set_ros_time(Some(at(50)));
    assert_eq!(timer.time_until_next(), Some(milliseconds(70)));
    room.context.set_ros_time(Some(at(119)));
    assert_eq!(room.run(), 0);
    room.context.set_ros_time(Some(at(120)));
    room.run();
    assert_eq!(log.lines(), [(at(120), 0)]);
    room.context.set_ros_time(Some(at(140)));
    room.clock.advance(SECOND);
    room.context.set_ros_time(None); // the wall clock is a quarter of an hour ahead: no burst, no skipping
    assert_eq!(room.run(), 0);
    assert_eq!((timer.time_until_next(), timer.skipped()), (Some(milliseconds(80)), 0));
    room.advance(80);
    assert_eq!(log.lines(), [(at(1_001_110), 0)]);
    Ok(())
}

// ---- sleeps and rates ----

/// Has a thread sleep until a ROS time, and returns the outcome.
fn sleeper(node: &Node, until: Time) -> Log<Result<(), SleepError>> {
    let (log, node) = (Log::new(), node.clone());
    let pen = log.pen();
    thread::spawn(move || pen.write(node.sleep_until(ClockKind::Ros, until)));
    log
}

#[test]
fn a_sleep_ends_at_a_jump_over_its_time_at_a_change_of_the_source_and_at_the_end() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("sleeper")?;
    context.set_ros_time(Some(at(100)));
    assert_eq!(node.sleep_until(ClockKind::Ros, at(100)), Ok(()), "it is that late already");

    let jump = sleeper(&node, at(200));
    context.set_ros_time(Some(at(150)));
    context.set_ros_time(Some(at(20)));
    assert_eq!(jump.next_within(milliseconds(5)), None);
    context.set_ros_time(Some(at(900)));
    assert_eq!(jump.next(), Ok(()));

    let change = sleeper(&node, at(1_000_000));
    // It may not sleep yet: then the change is before its first look, and it waits for years.
    let end = wait_for("the change ends it", || {
        context.set_ros_time(None);
        context.set_ros_time(Some(at(0)));
        change.next_within(milliseconds(1))
    });
    assert_eq!(end, Err(SleepError::ClockChanged));

    let shutdown = sleeper(&node, at(1_000_000));
    context.shutdown();
    assert_eq!(shutdown.next(), Err(SleepError::Shutdown));
    assert_eq!(node.sleep_for(ClockKind::Steady, SECOND), Err(SleepError::Shutdown));
    Ok(())
}

#[test]
fn a_sleep_in_virtual_time_ends_when_that_is_moved() -> sinew::Result<()> {
    let clock = VirtualClock::new();
    let node = crate::support::virtual_context(&clock).node("sleeper")?;
    for kind in [ClockKind::Steady, ClockKind::System, ClockKind::Ros] {
        let (log, node) = (Log::new(), node.clone());
        let pen = log.pen();
        thread::spawn(move || pen.write(node.sleep_for(kind, 3600 * SECOND)));
        wait_for("it sleeps until the hour is over", || {
            clock.advance(600 * SECOND);
            log.next_within(milliseconds(1)).map(|end| assert_eq!(end, Ok(())))
        });
    }
    Ok(())
}

/// For polls that nothing waits for.
fn noop() -> std::task::Context<'static> {
    std::task::Context::from_waker(std::task::Waker::noop())
}

/// What so many rounds of a rate leave out.
fn rounds(rate: &mut Rate, count: u64) -> Result<Vec<u64>, SleepError> {
    (0..count).map(|_| rate.sleep()).collect()
}

#[test]
fn a_rate_keeps_its_times_and_counts_what_it_leaves_out() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("loop")?;
    context.set_ros_time(Some(at(1000)));
    let mut rate = node.rate(milliseconds(10))?.clock(ClockKind::Ros);
    assert_eq!(rate.period(), milliseconds(10));
    let set = |time| context.set_ros_time(Some(at(time)));
    set(1010);
    assert_eq!(rounds(&mut rate, 1), Ok(vec![0]));
    set(1059); // 1020 is late, and 1030, 1040, 1050 are left out
    assert_eq!(rounds(&mut rate, 1), Ok(vec![3]));
    set(1060);
    assert_eq!(rounds(&mut rate, 1), Ok(vec![0]), "as if nothing had been left out");
    set(500); // back: the next round is one period from there
    let is_due = |rate: &mut Rate| pin!(rate.sleep_async()).poll(&mut noop()).is_ready();
    assert!(!is_due(&mut rate));
    set(509);
    assert!(!is_due(&mut rate));
    set(510);
    assert!(is_due(&mut rate));
    context.set_ros_time(None); // another source, years ahead: the same
    assert!(!is_due(&mut rate));
    context.shutdown();
    assert_eq!(rate.sleep(), Err(SleepError::Shutdown));
    assert!(node.rate(SECOND).is_err());
    Ok(())
}

#[test]
fn a_steady_rate_has_no_drift() -> sinew::Result<()> {
    let node = real_context().node("loop")?;
    let begin = Time::steady();
    let mut rate = node.rate(milliseconds(1))?;
    let left_out: u64 = rounds(&mut rate, 20).map(|rounds| rounds.iter().sum()).unwrap();
    assert!(Time::steady() - begin >= milliseconds(20 + left_out), "20 rounds begin after 20 periods");
    for period in [Duration::ZERO, Duration::MAX] {
        assert!(node.rate(period).unwrap_err().to_string().contains("/loop"));
    }
    Ok(())
}

#[test]
fn tasks_sleep_by_a_timer_of_their_node() -> sinew::Result<()> {
    let room = simulated_room();
    let log = Log::new();
    let simulator = room.node.clock_publisher().create()?;
    let (pen, node, world) = (log.pen(), room.node.clone(), simulator.clone());
    let task = async move {
        let mut rate = node.rate(milliseconds(50)).unwrap().clock(ClockKind::Ros);
        for _ in 0..2 {
            pen.write((rate.sleep_async().await, node.now()));
        }
        pen.write((node.sleep_until_async(ClockKind::Ros, at(1000)).await.map(|()| 0), node.now()));
        pen.write((node.sleep_for_async(ClockKind::Steady, SECOND).await.map(|()| 0), node.now()));
        world.set(at(500)).unwrap(); // back
        pen.write((node.sleep_for_async(ClockKind::Ros, milliseconds(100)).await.map(|()| 0), node.now()));
    };
    let mut task = pin!(task);
    while task.as_mut().poll(&mut noop()).is_pending() {
        room.advance(25); // each time one message of /clock
    }
    let expected = [50, 100, 1000, 2000, 600].map(|end| (Ok(0), at(end)));
    assert_eq!(log.lines(), expected);
    Ok(())
}
