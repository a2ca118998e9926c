//! Synchronisers of topics, in one context and between two contexts that stand for two processes.

use sinew::prelude::*;
use sinew::time::Time;
use sinew_filters::Synchronizer;
use sinew_interfaces::sensor_msgs::msg::{CameraInfo, Image};
use sinew_interfaces::std_msgs::msg::Header;

const PATIENCE: Duration = Duration::from_secs(60);

/// Pairs of contexts that can communicate.
fn worlds() -> [(Context, Context, Option<tempfile::TempDir>); 2] {
    let one = Context::builder().shared_memory(false).build().unwrap();
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let context = || Context::builder().domain(3).directory(place.path()).build().unwrap();
    let two = (context(), context());
    [(one.clone(), one, None), (two.0, two.1, Some(place))]
}

fn header(stamp: i64) -> Header {
    Header { stamp: Time::from_nanoseconds(stamp).to_msg(), frame_id: "camera".to_owned() }
}

#[test]
fn pictures_meet_their_calibration_without_being_copied() {
    for (camera, viewer, _place) in worlds() {
        let (camera, viewer_node) = (camera.node("camera").unwrap(), viewer.node("viewer").unwrap());
        let qos = QoS::default().keep_all();
        let group = viewer_node.group(Vec::new());
        let (tell, told) = std::sync::mpsc::channel();
        let pairs = Synchronizer::exact(10)
            .qos(qos)
            .subscribe_in(
                &group,
                ["image", "camera_info"],
                move |seen: &mut Vec<u32>, (image, info): (Shared<Image>, Shared<CameraInfo>)| {
                    assert_eq!(image.header, info.header);
                    seen.push(image.width);
                    tell.send((seen.clone(), image.data.as_ptr() as usize))
                },
            )
            .unwrap();
        let images = camera.publisher::<Image>("image").qos(qos).create().unwrap();
        let infos = camera.publisher::<CameraInfo>("camera_info").qos(qos).create().unwrap();
        assert!(images.wait_for_subscribers(1, PATIENCE) && infos.wait_for_subscribers(1, PATIENCE));
        let executor = Executor::single();
        executor.add(&viewer).unwrap();
        let mut sent = Vec::new();
        for number in 1..=3_u32 {
            let image = Image {
                header: header(number.into()),
                width: number,
                data: vec![1; 1000],
                ..Image::default()
            };
            sent.push(image.data.as_ptr() as usize);
            images.publish(image).unwrap();
            if number != 2 {
                infos.publish(CameraInfo { header: header(number.into()), ..CameraInfo::default() }).unwrap();
            }
        }
        let mut heard = Vec::new();
        let begin = Time::steady();
        while heard.len() < 2 {
            assert!(Time::steady() - begin < PATIENCE, "{heard:?}");
            executor.spin_some().unwrap();
            heard.extend(told.try_iter());
        }
        assert_eq!(heard[1].0, [1, 3]);
        assert_eq!(pairs.dropped(), [1, 0], "the picture without calibration");
        if _place.is_none() {
            assert_eq!([heard[0].1, heard[1].1], [sent[0], sent[2]], "they moved");
        }
    }
}

#[test]
fn time_that_goes_back_begins_anew() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    context.set_ros_time(Some(Time::from_nanoseconds(1000)));
    let node = context.node("viewer").unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let mut count = 0;
    let _pairs = Synchronizer::exact(10)
        .subscribe(&node, ["image", "camera_info"], move |(_, _): (Shared<Image>, Shared<CameraInfo>)| {
            count += 1;
            tell.send(count)
        })
        .unwrap();
    let images = node.publisher::<Image>("image").create().unwrap();
    let infos = node.publisher::<CameraInfo>("camera_info").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let send = |stamp| {
        images.publish(Image { header: header(stamp), ..Image::default() }).unwrap();
        infos.publish(CameraInfo { header: header(stamp), ..CameraInfo::default() }).unwrap();
        executor.spin_some().unwrap();
    };
    send(1000);
    send(10);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [1], "that is too late");
    context.set_ros_time(Some(Time::from_nanoseconds(5)));
    send(10);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [2]);
}

/// Messages of the time before a jump may come after it, and a stamp may be wrong: sets come again
/// once the stamps of a topic went back ten times in a row.
#[test]
fn a_late_message_of_the_time_before_stops_nothing() {
    for exact in [true, false] {
        let context = Context::builder().shared_memory(false).build().unwrap();
        context.set_ros_time(Some(Time::from_nanoseconds(1_000_000)));
        let node = context.node("viewer").unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let filter = if exact { Synchronizer::exact(10) } else { Synchronizer::approximate(10).build() };
        let pairs = filter
            .subscribe(
                &node,
                ["image", "camera_info"],
                move |(image, _): (Shared<Image>, Shared<CameraInfo>)| tell.send(image.header.stamp.nanosec),
            )
            .unwrap();
        let images = node.publisher::<Image>("image").create().unwrap();
        let infos = node.publisher::<CameraInfo>("camera_info").create().unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let publish = |stamp| {
            images.publish(Image { header: header(stamp), ..Image::default() }).unwrap();
            infos.publish(CameraInfo { header: header(stamp), ..CameraInfo::default() }).unwrap();
        };
        publish(1_000_001);
        context.set_ros_time(Some(Time::from_nanoseconds(5))); // that pair still waits to be taken
        for stamp in 10..50 {
            publish(stamp);
            executor.spin_some().unwrap();
        }
        let sets: Vec<_> = told.try_iter().collect();
        let again = sets.iter().position(|stamp| *stamp < 1000).unwrap();
        assert!(sets[again] <= 22 && sets[again..].is_sorted() && sets.contains(&48), "{sets:?}");
        assert!((1..=2).contains(&pairs.restarts()), "{}", pairs.restarts());
    }
}

/// One message completes several sets; the callback panics with the first of them.
#[test]
fn a_callback_that_panics_loses_no_other_set() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("viewer").unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let pairs = Synchronizer::approximate(10).age_penalty(0.0).build();
    let _pairs = pairs
        .subscribe(&node, ["image", "camera_info"], move |(image, _): (Shared<Image>, Shared<CameraInfo>)| {
            let stamp = image.header.stamp.nanosec;
            assert_ne!(stamp, 1, "unlucky");
            tell.send(stamp)
        })
        .unwrap();
    let images = node.publisher::<Image>("image").create().unwrap();
    let infos = node.publisher::<CameraInfo>("camera_info").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    for stamp in [10, 11, 111] {
        infos.publish(CameraInfo { header: header(stamp), ..CameraInfo::default() }).unwrap();
    }
    executor.spin_some().unwrap();
    images.publish(Image { header: header(1), ..Image::default() }).unwrap();
    executor.spin_some().unwrap();
    images.publish(Image { header: header(101), ..Image::default() }).unwrap();
    assert!(executor.spin_some().is_err(), "it panics");
    infos.publish(CameraInfo { header: header(200), ..CameraInfo::default() }).unwrap();
    executor.spin_some().unwrap();
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [101], "with the next message");
}
