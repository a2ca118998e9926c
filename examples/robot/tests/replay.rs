//! A drive from a bag: odometry and controller answer it in the same way each time. It is replayed
//! `SINEW_TEST_REPLAYS` times, 10 unless set.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use robot::map::START;
use sinew::bag::{BagReader, Player, Recorder};
use sinew::interfaces::geometry_msgs::msg::{PoseStamped, Twist};
use sinew::interfaces::nav_msgs::msg::{Odometry, Path};
use sinew::interfaces::tf2_msgs::msg::TFMessage;
use sinew::prelude::*;
use sinew::time::{Time, VirtualClock};
use std::sync::atomic::{AtomicBool, Ordering};

/// The nodes' inputs.
const INPUTS: [&str; 3] = ["/joint_states", "/scan", "/path"];

/// Lets the whole robot but its planner drive for three seconds, and records it.
fn record(path: &std::path::Path) {
    let builder = Context::builder().shared_memory(false).virtual_time(&VirtualClock::new());
    let context = builder.build().unwrap();
    let make = |name| context.node(name).unwrap();
    let (wheels, lidar) =
        (robot::wheels::wheels(&make("wheels")).unwrap(), robot::lidar::lidar(&make("lidar")).unwrap());
    let _odometry = robot::odometry::odometry(&make("odometry")).unwrap();
    let _controller = robot::controller::controller(&make("controller")).unwrap();
    wheels.configure().unwrap();
    lidar.configure().unwrap();
    wheels.activate().unwrap();
    lidar.activate().unwrap();
    let ways = make("test").publisher::<Path>("path").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();

    let recorder = Recorder::builder(&context).topics(INPUTS).start(path).unwrap();
    let pass = |milliseconds| executor.advance(Duration::from_millis(milliseconds)).unwrap();
    while recorder.progress().topics.len() < INPUTS.len() {
        pass(20);
    }
    let mut way = Path::default();
    for (x, y) in [(0.5, 0.0), (1.0, 0.5), (1.0, 1.5)] {
        let mut pose = PoseStamped::default();
        [pose.pose.position.x, pose.pose.position.y] = [START[0] + x, START[1] + y];
        way.poses.push(pose);
    }
    ways.publish(way).unwrap();
    pass(3000); // fewer messages than may wait for the recorder
    let recorded = recorder.stop();
    assert_eq!((recorded.lost(), recorded.failure.is_none()), (0, true), "{recorded:?}");
    assert!(recorded.topics.iter().all(|topic| topic.messages > 0), "{recorded:?}");
}

/// Replays the drive into an odometry and a controller; returns all that they publish, with the times.
fn replay(path: &std::path::Path) -> String {
    let (begin, _end) = BagReader::open(path).unwrap().times().unwrap();
    let clock = VirtualClock::new();
    clock.set(Time::from_nanoseconds(begin.cast_signed()));
    let context = Context::builder().virtual_time(&clock).shared_memory(false).build().unwrap();
    let _odometry = robot::odometry::odometry(&context.node("odometry").unwrap()).unwrap();
    let _controller = robot::controller::controller(&context.node("controller").unwrap()).unwrap();
    let node = context.node("test").unwrap();
    let all = QoS::default().keep_all();
    let commands = node.subscription::<Twist>("/cmd_vel").qos(all).create().unwrap();
    let places = node.subscription::<Odometry>("/odom").qos(all).create().unwrap();
    let frames = node.subscription::<TFMessage>("/tf").qos(all).create().unwrap();

    let executor = Executor::single();
    executor.add(&context).unwrap();
    let mut replay = Player::builder(&context).bags([path]).topics(INPUTS).replay(&clock, &executor).unwrap();
    let mut output = String::new();
    while replay.step().unwrap().is_some() {
        while let Some((command, info)) = commands.take() {
            output += &format!("{} {command:?}\n", info.source_time().nanoseconds());
        }
        while let Some((place, info)) = places.take() {
            output += &format!("{} {place:?}\n", info.source_time().nanoseconds());
        }
        while let Some((frame, info)) = frames.take() {
            output += &format!("{} {frame:?}\n", info.source_time().nanoseconds());
        }
    }
    let refused = [commands.statistics(), places.statistics(), frames.statistics()].map(|ends| ends.refused);
    assert_eq!(refused, [0; 3]);
    output
}

#[test]
fn all_replays_of_a_drive_are_the_same() {
    let runs = std::env::var("SINEW_TEST_REPLAYS").map_or(10, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bag");
    record(&path);
    let first = replay(&path);
    assert!(first.matches("linear").count() > 2000, "it drove for most of three seconds: {}", first.len());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for round in 1..runs {
            // The second half beside a thread that keeps a processor busy.
            if round == runs / 2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let again = replay(&path);
            if again != first {
                is_over.store(true, Ordering::Relaxed);
                let differs = first.lines().zip(again.lines()).find(|(one, other)| one != other);
                panic!("run {round} differs: {differs:?}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
