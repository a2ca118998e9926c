//! Messages that wait for transforms.

use crate::{along_x, at, fix, insert};
use sinew::prelude::*;
use sinew_interfaces::geometry_msgs::msg::PointStamped;
use sinew_interfaces::std_msgs::msg::Header;
use sinew_tf::{Buffer, MessageFilter, StampedTransform};
use std::sync::mpsc;

struct World {
    context: Context,
    executor: Executor,
    points: Publisher<PointStamped>,
    buffer: Buffer,
    filter: MessageFilter<PointStamped>,
    told: mpsc::Receiver<(i64, f64)>,
}

impl World {
    fn new(depth: usize) -> Self {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("mapper").unwrap();
        let buffer = Buffer::builder().history(Duration::from_nanos(100)).build();
        let (tell, told) = mpsc::channel();
        let group = node.group(0_i64);
        let filter = buffer
            .message_filter("odom")
            .depth(depth)
            .subscribe(
                &group,
                "points",
                move |count: &mut i64, point: Shared<PointStamped>, found: StampedTransform| {
                    *count += 1;
                    assert_eq!(found.stamp.nanoseconds(), i64::from(point.header.stamp.nanosec));
                    tell.send((found.stamp.nanoseconds(), found.transform.translation[0]))
                },
            )
            .unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let points = node.publisher("points").create().unwrap();
        Self { context, executor, points, buffer, filter, told }
    }

    fn send(&self, stamp: i64) {
        let header = Header { stamp: at(stamp).to_msg(), frame_id: "lidar".to_owned() };
        self.points.publish(PointStamped { header, ..PointStamped::default() }).unwrap();
        self.executor.spin_some().unwrap();
    }

    fn heard(&self) -> Vec<(i64, f64)> {
        self.executor.spin_some().unwrap();
        self.told.try_iter().collect()
    }
}

#[test]
fn messages_wait_for_their_transforms() {
    let world = World::new(10);
    fix(&world.buffer, "base", "lidar", 0.5);
    world.send(20);
    world.send(10);
    assert_eq!((world.heard(), world.filter.waiting()), (vec![], 2));
    insert(&world.buffer, "odom", "base", 5, 5.0);
    insert(&world.buffer, "odom", "base", 15, 15.0);
    assert_eq!(world.heard(), [(10, 10.5)]);
    insert(&world.buffer, "odom", "base", 25, 25.0);
    assert_eq!(world.heard(), [(20, 20.5)]);
    world.send(17); // its transform is there already
    assert_eq!((world.heard(), world.filter.waiting(), world.filter.dropped()), (vec![(17, 17.5)], 0, 0));
}

#[test]
fn the_oldest_gives_way_and_what_is_past_goes() {
    let world = World::new(2);
    for stamp in [10, 11, 12] {
        world.send(stamp);
    }
    assert_eq!((world.filter.waiting(), world.filter.dropped()), (2, 1));
    // These transforms begin long after the messages.
    world.buffer.insert(&along_x("odom", "lidar", 500, 1.0), "test").unwrap();
    assert_eq!((world.heard(), world.filter.waiting(), world.filter.dropped()), (vec![], 0, 3));
}

#[test]
fn a_depth_of_zero_is_one() {
    let world = World::new(0);
    [10, 11].into_iter().for_each(|stamp| world.send(stamp));
    assert_eq!((world.filter.waiting(), world.filter.dropped()), (1, 1));
}

/// The callback panics with one message, and receives the messages after it when the group runs
/// again.
#[test]
fn a_callback_that_panics_loses_no_other_message() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("mapper").unwrap();
    let buffer = Buffer::new();
    let (tell, told) = mpsc::channel();
    let callback = move |_: &mut (), point: Shared<PointStamped>, _: StampedTransform| {
        let number = point.header.stamp.nanosec;
        assert_ne!(number, 1, "unlucky");
        tell.send(number)
    };
    let filter = buffer.message_filter("odom").subscribe(&node.group(()), "points", callback).unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let points = node.publisher("points").create().unwrap();
    for number in 1..=3 {
        let header = Header { stamp: at(number).to_msg(), frame_id: "lidar".to_owned() };
        points.publish(PointStamped { header, ..PointStamped::default() }).unwrap();
    }
    executor.spin_some().unwrap();
    fix(&buffer, "odom", "lidar", 0.0);
    assert!(executor.spin_some().is_err(), "it panics");
    executor.spin_some().unwrap();
    assert_eq!((told.try_iter().collect::<Vec<_>>(), filter.waiting()), (vec![2, 3], 0));
}

#[test]
fn it_ends_when_it_is_dropped() {
    let World { context, executor, points, buffer, filter, told } = World::new(2);
    let header = Header { frame_id: "lidar".to_owned(), ..Header::default() };
    points.publish(PointStamped { header, ..PointStamped::default() }).unwrap();
    executor.spin_some().unwrap();
    assert_eq!(filter.waiting(), 1);
    drop(filter);
    assert_eq!(points.subscription_count(), 0);
    fix(&buffer, "odom", "lidar", 0.0);
    executor.spin_some().unwrap();
    assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Disconnected), "its callback is gone, too");
    context.shutdown();
}
