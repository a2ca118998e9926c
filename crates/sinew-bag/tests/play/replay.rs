//! Replays in virtual time: the same input gives the same output.

use crate::{BEGIN, MILLISECOND, Writing, place};
use parking_lot::Mutex;
use sinew::executor::FaultPolicy;
use sinew::prelude::*;
use sinew::time::{Time, VirtualClock};
use sinew_bag::{Player, PlayerClock, ReplayError};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes a bag with two topics: messages each 10 ms and each 7 ms, several at equal times.
fn write(path: &Path) {
    let mut bag = Writing::begin(path);
    let (scans, poses) = (bag.topic("/scan", &[QoS::default()]), bag.topic("/pose", &[]));
    for at in 0..300 {
        if at % 7 == 0 {
            bag.text(poses, at, &format!("pose {at}"));
        }
        if at % 10 == 0 {
            bag.text(scans, at, &format!("scan {at}"));
        }
    }
    bag.close();
}

/// Starts virtual time with the bag.
fn begin() -> (VirtualClock, Context) {
    let clock = VirtualClock::new();
    clock.set(Time::from_nanoseconds(BEGIN as i64));
    let context = Context::builder().virtual_time(&clock).shared_memory(false).build().unwrap();
    (clock, context)
}

/// Replays the bag into a graph of three nodes: one fuses both topics, one controls by a timer, and
/// one writes down everything, with times and numbers. Returns its output.
fn run(path: &Path) -> Vec<u8> {
    let (clock, context) = begin();
    let log = Arc::new(Mutex::new(Vec::new()));

    let fusion = context.node("fusion").unwrap();
    let fused = fusion.publisher::<Text>("/fused").create().unwrap();
    let state = fusion.group(String::new());
    let publisher = fused.clone();
    let _poses = state
        .subscription::<Text>("/pose")
        .callback(|last: &mut String, pose: &Text| last.clone_from(&pose.data))
        .unwrap();
    let _scans = state
        .subscription::<Text>("/scan")
        .callback(move |last: &mut String, scan: &Text| {
            publisher.publish(Text { data: format!("{last} + {}", scan.data) })
        })
        .unwrap();

    let control = context.node("control").unwrap();
    let commands = control.publisher::<Text>("/command").create().unwrap();
    let node = control.clone();
    let mut count = 0;
    let _timer = control
        .timer(Duration::from_micros(3_333))
        .callback(move || {
            count += 1;
            commands.publish(Text { data: format!("command {count} at {:?}", node.now()) })
        })
        .unwrap();

    let recorder = context.node("recorder").unwrap();
    let write = |topic: &'static str| {
        let (log, node) = (log.clone(), recorder.clone());
        move |text: &Text, info: &MessageInfo| {
            let sequence = info.publication_sequence();
            let times = [node.now(), info.source_time()].map(Time::nanoseconds);
            log.lock().extend(format!("{times:?} {topic} {sequence} {}\n", text.data).into_bytes());
        }
    };
    let _fused = recorder.subscription::<Text>("/fused").callback(write("fused")).unwrap();
    let _commands = recorder.subscription::<Text>("/command").callback(write("command")).unwrap();

    let executor = Executor::single();
    executor.add(&context).unwrap();
    let mut replay = Player::builder(&context).bags([path]).replay(&clock, &executor).unwrap();
    replay.run().unwrap();
    assert_eq!((replay.published(), replay.problems().len()), (43 + 30, 0));
    log.lock().clone()
}

#[test]
fn a_hundred_runs_give_the_same_bytes() {
    let (_directory, path) = place();
    write(&path);
    let first = run(&path);
    let text = String::from_utf8(first.clone()).unwrap();
    assert_eq!(text.lines().count(), 30 + 88); // scans, and commands of 294 ms
    assert!(text.contains("fused 2 pose 7 + scan 10"), "{text}");
    // Both at 70 ms: the pose was written first.
    assert!(text.contains("fused 8 pose 70 + scan 70"), "{text}");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for round in 1..100 {
            // The second half beside a thread that keeps a processor busy.
            if round == 50 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let again = run(&path);
            if again != first {
                is_over.store(true, Ordering::Relaxed);
                panic!("run {round} differs:\n{}", String::from_utf8_lossy(&again));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn timers_run_before_a_message_of_the_same_time() {
    let (_directory, path) = place();
    write(&path);
    let (clock, context) = begin();
    let node = context.node("listener").unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let (ticks, scans) = (log.clone(), log.clone());
    let _timer = node.timer(Duration::from_millis(20)).callback(move || ticks.lock().push("tick".to_owned()));
    let _scans = node
        .subscription::<Text>("/scan")
        .callback(move |scan: &Text| scans.lock().push(scan.data.clone()))
        .unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let builder = Player::builder(&context).bags([&path]).topics(["/scan"]);
    let mut replay = builder.replay(&clock, &executor).unwrap();
    assert_eq!(replay.times(), (BEGIN, BEGIN + 294 * MILLISECOND));
    replay.run_until(BEGIN + 29 * MILLISECOND).unwrap();
    assert_eq!(*log.lock(), ["scan 0", "scan 10", "tick", "scan 20"]);
    assert_eq!(clock.now().nanoseconds().unsigned_abs(), BEGIN + 29 * MILLISECOND);
    assert_eq!(replay.step().unwrap(), Some(BEGIN + 30 * MILLISECOND));
    assert_eq!(log.lock().last().unwrap(), "scan 30");
}

#[test]
fn simulated_time_can_come_from_the_replay_too() {
    let (_directory, path) = place();
    write(&path);
    for (wanted, expected) in [(PlayerClock::Messages, 290), (PlayerClock::Hertz(1_000.0), 290)] {
        let (clock, context) = begin();
        context.use_sim_time(true).unwrap();
        let node = context.node("listener").unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let builder = Player::builder(&context).bags([&path]).topics(["/scan"]).clock(wanted);
        builder.replay(&clock, &executor).unwrap().run().unwrap();
        assert_eq!(node.now().nanoseconds().unsigned_abs(), BEGIN + expected * MILLISECOND, "{wanted:?}");
    }
}

#[test]
fn a_replay_goes_on_after_a_callback_that_failed() {
    let (_directory, path) = place();
    write(&path);
    let (clock, context) = begin();
    let node = context.node("listener").unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let scans = log.clone();
    let _timer = node
        .timer(Duration::from_millis(35))
        .callback(move || -> Result<(), &'static str> { Err("a timer fails") })
        .unwrap();
    let _scans = node
        .subscription::<Text>("/scan")
        .callback(move |scan: &Text| {
            scans.lock().push(scan.data.clone());
            if scan.data == "scan 10" { Err("a scan fails") } else { Ok(()) }
        })
        .unwrap();
    let executor = Executor::builder().on_error(FaultPolicy::Stop).build().unwrap();
    executor.add(&context).unwrap();
    let builder = Player::builder(&context).bags([&path]).topics(["/scan"]);
    let mut replay = builder.replay(&clock, &executor).unwrap();
    let failed = |step: Result<Option<u64>, ReplayError>| matches!(step, Err(ReplayError::Spin(_)));
    let at = |at: u64| Some(BEGIN + at * MILLISECOND);
    assert_eq!(replay.step().unwrap(), at(0));
    assert!(failed(replay.step())); // on its message
    assert_eq!((replay.step().unwrap(), replay.step().unwrap()), (at(20), at(30)));
    assert!(failed(replay.step())); // before the message
    assert_eq!(replay.step().unwrap(), at(40));
    assert_eq!(*log.lock(), ["scan 0", "scan 10", "scan 20", "scan 30", "scan 40"]);
    assert_eq!(replay.published(), 5);
}

#[test]
fn a_replay_needs_the_clock_of_its_context() {
    let (_directory, path) = place();
    write(&path);
    let (_clock, context) = begin();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let other = VirtualClock::new();
    let mut replay = Player::builder(&context).bags([&path]).replay(&other, &executor).unwrap();
    replay.step().unwrap(); // the first message is at the beginning
    assert!(matches!(replay.run(), Err(ReplayError::OtherClock)));
}
