//! Broadcasters and listeners.

use crate::{along_x, at, fix};
use sinew::prelude::*;
use sinew_interfaces::tf2_msgs::msg::TFMessage;
use sinew_tf::{
    At, Buffer, InsertError, StampedTransform, StaticTransformBroadcaster, TransformBroadcaster,
    TransformListener,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

const PATIENCE: Duration = Duration::from_secs(60);

/// Contexts of broadcasters and of listeners.
struct World {
    robot: Node,
    planner: Node,
    contexts: [Context; 2],
    _place: Option<tempfile::TempDir>,
}

impl World {
    fn in_process() -> Self {
        let context = Context::builder().shared_memory(false).build().unwrap();
        Self::of([context.clone(), context], None)
    }

    fn shm() -> Self {
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let context = || Context::builder().domain(3).directory(place.path()).build().unwrap();
        Self::of([context(), context()], Some(place))
    }

    fn of(contexts: [Context; 2], _place: Option<tempfile::TempDir>) -> Self {
        let (robot, planner) = (contexts[0].node("robot").unwrap(), contexts[1].node("planner").unwrap());
        Self { robot, planner, contexts, _place }
    }
}

macro_rules! on_both_paths {
    ($($name:ident),* $(,)?) => {
        mod in_process {
            $(#[test] fn $name() { super::$name(&super::World::in_process()); })*
        }
        mod shm {
            $(#[test] fn $name() { super::$name(&super::World::shm()); })*
        }
    };
}

on_both_paths! {
    a_buffer_is_filled_without_an_executor,
    who_comes_late_gets_what_is_static,
    a_listener_of_what_is_static_may_add_to_it,
    the_qos_are_those_of_ros_2,
    a_callback_may_wait,
    time_that_goes_back_clears,
    what_is_wrong_spoils_nothing_else,
    it_ends_with_its_listener,
    a_long_name_is_refused_and_told,
}

/// Threads that publish to one listener take turns: a transform that was taken earlier is not
/// inserted over one that a thread has inserted meanwhile. Nothing sends a static one again.
#[test]
fn the_last_static_transform_counts_however_many_send() {
    const ROUNDS: i32 = 400;
    let world = World::in_process();
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&world.planner, &buffer).unwrap();
    for frame in 0..1000 {
        fix(&buffer, "root", &format!("frame_{frame}"), 0.0); // a look at all of them takes a while
    }
    let (sent, ends) = (Barrier::new(4), AtomicBool::new(false));
    let broadcaster = || StaticTransformBroadcaster::new(&world.robot).unwrap();
    let (own, others) = (broadcaster(), [(); 3].map(|()| broadcaster()));
    std::thread::scope(|scope| {
        for (number, other) in others.into_iter().enumerate() {
            let sent = &sent;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    for _ in 0..4 {
                        other.send([along_x("other", &format!("thing_{number}"), 0, round.into())]).unwrap();
                    }
                    sent.wait();
                }
            });
        }
        let looks = scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                std::hint::black_box(buffer.frames());
            }
        });
        let mut wrong = 0;
        for round in 0..ROUNDS {
            for x in [f64::from(2 * round), f64::from(2 * round + 1)] {
                own.send([along_x("base", "camera", 0, x)]).unwrap();
            }
            sent.wait(); // every thread has inserted what it took
            let found = buffer.lookup("base", "camera", At::Latest);
            let is_last =
                |found: StampedTransform| found.transform.translation[0] == f64::from(2 * round + 1);
            wrong += i32::from(!found.is_ok_and(is_last)); // no panic: the others wait at the barrier
        }
        ends.store(true, Ordering::Relaxed);
        looks.join().unwrap();
        assert_eq!(wrong, 0);
    });
}

fn a_long_name_is_refused_and_told(world: &World) {
    let buffer = Buffer::new();
    let listener = TransformListener::new(&world.planner, &buffer).unwrap();
    let broadcaster = TransformBroadcaster::new(&world.robot).unwrap();
    assert!(broadcaster.publisher().wait_for_subscribers(1, PATIENCE));
    let long = "arm".repeat(100_000);
    broadcaster.send([along_x("base", &long, 1, 1.0), along_x("odom", "base", 1, 1.0)]).unwrap();
    buffer.wait_for("odom", "base", at(1)).wait(PATIENCE).unwrap();
    assert_eq!(buffer.frames().len(), 2);
    // The refusals of a message are counted once its valid transforms are there.
    broadcaster.send([along_x("odom", "arm", 1, 1.0)]).unwrap();
    buffer.wait_for("odom", "arm", at(1)).wait(PATIENCE).unwrap();
    let [refusal] = &listener.refusals()[..] else { panic!("{:?}", listener.refusals()) };
    assert!(matches!(refusal.error, InsertError::NameTooLong { length: 300_000, .. }), "{refusal}");
    assert!(buffer.lookup("odom", "amr", At::Latest).is_err());
}

fn a_buffer_is_filled_without_an_executor(world: &World) {
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&world.planner, &buffer).unwrap();
    let broadcaster = TransformBroadcaster::new(&world.robot).unwrap();
    assert!(broadcaster.publisher().wait_for_subscribers(1, PATIENCE));
    for stamp in 1..=500 {
        let both = [along_x("odom", "base", stamp, stamp as f64), along_x("base", "arm", stamp, 0.5)];
        broadcaster.send(both).unwrap();
        if stamp % 100 == 0 {
            // If more were sent at once, the queue might drop the first ones.
            buffer.wait_for("odom", "arm", at(stamp)).wait(PATIENCE).unwrap();
        }
    }
    for stamp in 1..=500 {
        assert_eq!(
            buffer.lookup("odom", "arm", at(stamp)).unwrap().transform.translation[0],
            stamp as f64 + 0.5
        );
    }
    let frames = buffer.frames();
    assert_eq!(frames[0].authority, broadcaster.publisher().gid().to_string());
}

/// Within one process the listener runs inside the first send; the last message has all transforms.
fn a_listener_of_what_is_static_may_add_to_it(world: &World) {
    let broadcaster = Arc::new(StaticTransformBroadcaster::new(&world.robot).unwrap());
    let qos = QoS::default().keep_last(1).transient_local();
    let heard = world.planner.subscription::<TFMessage>("/tf_static").qos(qos).create().unwrap();
    let (adds, is_first) = (broadcaster.clone(), AtomicBool::new(true));
    heard.set_listener(move |_| {
        if is_first.swap(false, Ordering::Relaxed) {
            adds.send([along_x("base", "camera", 1, 2.0)]).unwrap();
        }
    });
    broadcaster.send([along_x("base", "lidar", 1, 1.0)]).unwrap();
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&world.planner, &buffer).unwrap();
    for (frame, x) in [("lidar", 1.0), ("camera", 2.0)] {
        let found = buffer.wait_for("base", frame, at(5)).wait(PATIENCE).unwrap();
        assert_eq!(found.transform.translation[0], x, "{frame}");
    }
    heard.clear_listener(); // the listener keeps the broadcaster alive
}

fn who_comes_late_gets_what_is_static(world: &World) {
    let broadcaster = StaticTransformBroadcaster::new(&world.robot).unwrap();
    broadcaster.send([along_x("base", "lidar", 1, 1.0), along_x("base", "camera", 1, 2.0)]).unwrap();
    broadcaster.send([along_x("base", "imu", 1, 3.0), along_x("base", "lidar", 2, 4.0)]).unwrap();
    let other = StaticTransformBroadcaster::new(&world.robot).unwrap();
    other.send([along_x("base", "wheel", 1, 5.0)]).unwrap();

    let buffer = Buffer::new();
    let _listener = TransformListener::new(&world.planner, &buffer).unwrap();
    for (frame, x) in [("lidar", 4.0), ("camera", 2.0), ("imu", 3.0), ("wheel", 5.0)] {
        let found = buffer.wait_for("base", frame, at(123_456)).wait(PATIENCE).unwrap();
        assert_eq!(found.transform.translation[0], x, "{frame}");
    }
}

fn the_qos_are_those_of_ros_2(world: &World) {
    let (moving, fixed) = (
        TransformBroadcaster::new(&world.robot).unwrap(),
        StaticTransformBroadcaster::new(&world.robot).unwrap(),
    );
    assert_eq!((moving.publisher().topic(), fixed.publisher().topic()), ("/tf", "/tf_static"));
    assert_eq!(moving.publisher().qos(), QoS::default().keep_last(100));
    assert_eq!(fixed.publisher().qos(), QoS::default().keep_last(1).transient_local());
}

/// One thread runs everything, and a callback on it waits for a later transform.
fn a_callback_may_wait(world: &World) {
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&world.planner, &buffer).unwrap();
    let broadcaster = TransformBroadcaster::new(&world.robot).unwrap();
    assert!(broadcaster.publisher().wait_for_subscribers(1, PATIENCE));
    let (begun, begins) = std::sync::mpsc::channel();
    let (done, context) = (world.contexts[1].clone(), world.contexts[1].clone());
    let waits = buffer.clone();
    let _timer = world
        .planner
        .timer(Duration::from_millis(1))
        .callback(move || {
            begun.send(()).unwrap();
            waits.wait_for("odom", "base", At::Latest).wait(PATIENCE).unwrap();
            done.shutdown();
        })
        .unwrap();
    let spinning = std::thread::spawn(move || sinew::spin(&context));
    begins.recv_timeout(PATIENCE).unwrap();
    broadcaster.send([along_x("odom", "base", 1, 1.0)]).unwrap();
    spinning.join().unwrap().unwrap();
}

fn time_that_goes_back_clears(world: &World) {
    let context = &world.contexts[1];
    context.set_ros_time(Some(at(1_000)));
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&world.planner, &buffer).unwrap();
    fix(&buffer, "base", "lidar", 1.0);
    buffer.insert(&along_x("odom", "base", 1_000, 1.0), "test").unwrap();
    context.set_ros_time(Some(at(2_000)));
    assert!(buffer.lookup("odom", "lidar", At::Latest).is_ok(), "forward is nothing");
    context.set_ros_time(Some(at(500)));
    assert!(buffer.lookup("odom", "lidar", At::Latest).is_err());
    assert!(buffer.lookup("base", "lidar", At::Latest).is_ok());
}

fn what_is_wrong_spoils_nothing_else(world: &World) {
    let buffer = Buffer::new();
    let listener = TransformListener::new(&world.planner, &buffer).unwrap();
    let publisher = world.robot.publisher::<TFMessage>("/tf").create().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let transforms = vec![
        along_x("odom", "", 1, 1.0),
        along_x("odom", "base", 1, f64::NAN),
        along_x("map", "", 1, 1.0),
        along_x("odom", "base", 1, 1.0),
    ];
    assert_eq!(listener.refusals(), []);
    publisher.publish(TFMessage { transforms }).unwrap();
    buffer.wait_for("odom", "base", At::Latest).wait(PATIENCE).unwrap();
    assert_eq!(buffer.frames().len(), 2);

    // The refusals of a message are counted once its valid transforms are there.
    publisher.publish(TFMessage { transforms: vec![along_x("odom", "arm", 1, 1.0)] }).unwrap();
    buffer.wait_for("odom", "arm", At::Latest).wait(PATIENCE).unwrap();
    let refusals = listener.refusals();
    let [no_child, not_finite] = &refusals[..] else { panic!("{refusals:?}") };
    assert_eq!((no_child.count, &no_child.error), (2, &InsertError::NoChild { parent: "map".to_owned() }));
    assert!(matches!(&not_finite.error, InsertError::NotFinite { child, .. } if child == "base"));
    assert_eq!((not_finite.count, &*not_finite.authority), (1, publisher.gid().to_string().as_str()));
    let other = TransformListener::new(&world.planner, &Buffer::new()).unwrap();
    assert_eq!(other.refusals(), [], "of its own only");
}

fn it_ends_with_its_listener(world: &World) {
    let buffer = Buffer::new();
    let listener = TransformListener::new(&world.planner, &buffer).unwrap();
    let broadcaster = TransformBroadcaster::new(&world.robot).unwrap();
    assert!(broadcaster.publisher().wait_for_subscribers(1, PATIENCE));
    drop(listener);
    let begin = sinew::time::Time::steady();
    while broadcaster.publisher().subscription_count() > 0 {
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "its subscription is there still");
        std::thread::yield_now();
    }
    broadcaster.send([along_x("odom", "base", 1, 1.0)]).unwrap();
    assert!(buffer.frames().is_empty());
}
