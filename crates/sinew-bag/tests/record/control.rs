//! Control: pausing, and rosbag2's services.

use crate::{PATIENCE, World, kept, text, until};
use sinew::prelude::*;
use sinew_bag::Snapshot;
use sinew_interfaces::rosbag2_interfaces::msg::WriteSplitEvent;
use sinew_interfaces::rosbag2_interfaces::srv;
use sinew_interfaces::std_msgs::msg::String as Text;

#[test]
fn a_paused_recorder_passes_over_messages() {
    let world = World::new();
    let recorder = world.record(|builder| builder.topics(["/a"]));
    let publisher = world.publisher("/a", kept());
    publisher.publish(text(1)).unwrap();
    until(&recorder, "it is there", |recorded| recorded.messages() == 1);
    recorder.pause();
    publisher.publish(text(2)).unwrap();
    let graph = world.node.graph();
    assert!(graph.wait_until(PATIENCE, |_| publisher.statistics().published == 2));
    assert!(publisher.wait_for_all_acked(PATIENCE));
    recorder.resume();
    publisher.publish(text(3)).unwrap();
    let recorded = recorder.stop();
    assert_eq!((recorded.messages(), recorded.lost()), (2, 0));
    assert_eq!(world.numbers("/a"), [1, 3]);
}

#[test]
fn retained_messages_are_there_although_it_begins_paused() {
    let world = World::new();
    let map = world.node.publisher::<Text>("/map").qos(kept().transient_local()).create().unwrap();
    map.publish(text(1)).unwrap();
    let recorder = world.record(|builder| builder.all_topics().start_paused());
    until(&recorder, "it is there", |recorded| recorded.is_paused && recorded.messages() == 1);
    map.publish(text(2)).unwrap();
    assert!(map.wait_for_all_acked(PATIENCE));
    assert_eq!(recorder.stop().messages(), 1);
    assert_eq!(world.numbers("/map"), [1]);
}

#[test]
fn what_is_asked_for_may_be_overridden() {
    let world = World::new();
    let qos = [("/map".to_owned(), QoS::default())].into();
    let map = world.node.publisher::<Text>("/map").qos(kept().transient_local()).create().unwrap();
    map.publish(text(1)).unwrap(); // not asked for
    let recorder = world.record(|builder| builder.all_topics().qos_overrides(qos));
    assert!(map.wait_for_subscribers(1, PATIENCE));
    map.publish(text(2)).unwrap();
    assert_eq!(recorder.stop().messages(), 1);
    assert_eq!(world.numbers("/map"), [2]);
}

#[test]
fn others_control_it_by_services() {
    let world = World::new();
    let recorder = world.record(|builder| builder.topics(["/a"]).control_services());
    let splits = world.node.subscription::<WriteSplitEvent>("/events/write_split").create().unwrap();
    let publisher = world.publisher("/a", kept());
    fn call<S: Service<Request: Default>>(world: &World, name: &str) -> S::Response {
        let client = world.node.client::<S>(&format!("/rosbag2_recorder/{name}")).create().unwrap();
        client.call(S::Request::default(), PATIENCE).unwrap().into_inner()
    }
    let is_paused = || call::<srv::IsPaused>(&world, "is_paused").paused;
    call::<srv::Pause>(&world, "pause");
    assert!(is_paused() && recorder.progress().is_paused);
    call::<srv::TogglePaused>(&world, "toggle_paused");
    call::<srv::Pause>(&world, "pause");
    call::<srv::Resume>(&world, "resume");
    assert!(!is_paused());
    for number in 0..2 {
        publisher.publish(text(number)).unwrap();
        until(&recorder, "it is there", |recorded| recorded.messages() == number + 1);
        call::<srv::SplitBagfile>(&world, "split_bagfile");
    }
    assert!(!call::<srv::Snapshot>(&world, "snapshot").success); // not its mode
    call::<srv::Stop>(&world, "stop");
    until(&recorder, "it has stopped", |_| !recorder.is_running());
    assert_eq!(recorder.stop().files, 2);
    let event = splits.take().unwrap().0;
    assert!(event.closed_file.ends_with("/bag/bag_0.mcap") && event.opened_file.ends_with("/bag/bag_1.mcap"));
    assert_eq!(event.node_name, "/rosbag2_recorder");
}

#[test]
fn a_snapshot_is_asked_for_by_a_service() {
    let world = World::new();
    let recent = Snapshot { duration: Duration::MAX };
    let recorder = world.record(|builder| builder.topics(["/a"]).snapshot(recent).control_services());
    let publisher = world.publisher("/a", kept());
    publisher.publish(text(1)).unwrap();
    until(&recorder, "it waits", |recorded| recorded.waiting_bytes > 0);
    let client = world.node.client::<srv::Snapshot>("/rosbag2_recorder/snapshot").create().unwrap();
    assert!(client.call(srv::SnapshotRequest::default(), PATIENCE).unwrap().success);
    until(&recorder, "it is written", |recorded| recorded.messages() == 1);
}
