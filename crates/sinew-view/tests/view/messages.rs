//! Topics: what is offered, who is subscribed to, and which messages come.

use crate::client::decoded;
use crate::world::World;
use serde_json::json;
use sinew::msg::{GenericType, SerializedMessage, TypeHash};
use sinew::prelude::*;
use sinew_bag::Schema;
use sinew_interfaces::geometry_msgs::msg::{Point, PointStamped};
use sinew_interfaces::rosgraph_msgs::msg::Clock;
use sinew_interfaces::sensor_msgs::msg::Image;
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_interfaces::std_srvs::srv::{Trigger, TriggerRequest, TriggerResponse};
use sinew_msg::description::TypeDescription;
use sinew_view::{TypeDefinition, ViewStatistics};

/// Longer than anything takes that succeeds.
const PATIENCE: Duration = Duration::from_secs(60);

fn text(data: &str) -> Text {
    Text { data: data.to_owned() }
}

fn description<T: Message>() -> TypeDescription {
    T::ENCODING.unwrap().description.unwrap().describe().unwrap()
}

#[test]
fn a_topic_is_subscribed_to_only_while_a_client_looks() {
    let world = World::new();
    let points = world.node.publisher::<PointStamped>("points").create().unwrap();
    let mut viewer = world.viewer();
    let channel = viewer.channel("/points");
    assert_eq!((&channel["encoding"], &channel["schemaEncoding"]), (&json!("cdr"), &json!("ros2msg")));
    assert_eq!(channel["schemaName"], "geometry_msgs/msg/PointStamped");
    viewer.settle();
    assert_eq!(points.subscription_count(), 0);

    viewer.subscribe(7, &channel);
    assert!(points.wait_for_subscribers(1, PATIENCE));
    let mut point = PointStamped { point: Point { x: 1.5, y: 2.0, z: -3.0 }, ..PointStamped::default() };
    point.header.frame_id = "map".to_owned();
    points.publish(point).unwrap();
    let (id, time, bytes) = viewer.message();
    let message = decoded(&channel, &bytes);
    assert_eq!(
        (id, &message["header"]["frame_id"], &message["point"]["z"]),
        (7, &json!("map"), &json!(-3.0))
    );
    assert!(time > 1_600_000_000_000_000_000, "it is a wall time");

    viewer.send(json!({ "op": "unsubscribe", "subscriptionIds": [7] }));
    let mut changes = world.node.graph().changes();
    while points.subscription_count() > 0 {
        changes.wait(PATIENCE);
    }
}

#[test]
fn topics_come_and_go() {
    let world = World::new();
    let mut viewer = world.viewer();
    let publisher = world.node.publisher::<Text>("news").create().unwrap();
    let channel = viewer.channel("/news");
    viewer.subscribe(1, &channel);
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    drop(publisher);
    let gone = viewer.text("unadvertise");
    assert_eq!(gone["channelIds"], json!([channel["id"]]));
    let _again = world.node.publisher::<Text>("news").create().unwrap();
    let again = viewer.text_where("advertise", |text| text["channels"][0]["id"] != channel["id"]);
    assert_eq!(again["channels"][0]["topic"], "/news");
}

#[test]
fn publishers_of_the_servers_own_process_are_shown() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("robot").unwrap();
    let publisher = node.publisher::<Text>("news").create().unwrap();
    let server = sinew_view::ViewServer::builder().port(0).start(&context).unwrap();
    let mut viewer = crate::client::Viewer::connect(&server, "", &["foxglove.sdk.v1"]).unwrap();
    let channel = viewer.channel("/news");
    viewer.subscribe(1, &channel);
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(text("here")).unwrap();
    assert_eq!(decoded(&channel, &viewer.message().2)["data"], "here");
}

#[test]
fn retained_messages_reach_each_client() {
    let world = World::new();
    let latched = QoS::new().keep_last(12).transient_local();
    let publisher = world.node.publisher::<Text>("map").qos(latched).create().unwrap();
    (0..12).for_each(|n| publisher.publish(text(&n.to_string())).unwrap());
    for _ in 0..3 {
        let mut viewer = world.viewer();
        let channel = viewer.channel("/map");
        viewer.subscribe(1, &channel);
        for n in 0..12 {
            assert_eq!(decoded(&channel, &viewer.message().2)["data"], n.to_string());
        }
    }
    assert_eq!(world.server.statistics().dropped, 0);
}

#[test]
fn a_publisher_that_offers_less_is_heard_as_well() {
    let world = World::new();
    let _reliable = world.node.publisher::<Text>("news").create().unwrap();
    let mut viewer = world.viewer();
    let channel = viewer.channel("/news");
    viewer.subscribe(1, &channel);
    let weak = world.node.publisher::<Text>("news").qos(QoS::sensor_data()).create().unwrap();
    assert!(weak.wait_for_subscribers(1, PATIENCE));
    weak.publish(text("weak")).unwrap();
    assert_eq!(decoded(&channel, &viewer.message().2)["data"], "weak");
}

/// The field `height` of an encoded image, behind its header with an empty frame.
fn height(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[20..24].try_into().unwrap())
}

#[test]
fn a_slow_client_loses_messages_and_nobody_waits() {
    const COUNT: u32 = 60;
    let world = World::new();
    let images = world.node.publisher::<Image>("image").qos(QoS::new().keep_last(1)).create().unwrap();
    let (mut slow, mut quick) = (world.viewer(), world.viewer());
    let channel = slow.channel("/image");
    slow.subscribe(1, &channel);
    quick.subscribe(2, &channel);
    assert!(images.wait_for_subscribers(2, PATIENCE));
    for n in 0..COUNT {
        images.publish(Image { height: n, data: vec![0; 1 << 20], ..Image::default() }).unwrap();
        // The quick one gets every message while the slow one reads none.
        assert_eq!(height(&quick.message().2), n);
    }
    let (mut received, mut last) = (0, None);
    while last != Some(COUNT - 1) {
        let (id, _, bytes) = slow.message();
        let height = height(&bytes);
        assert!(id == 1 && last.is_none_or(|last| height > last));
        (last, received) = (Some(height), received + 1);
    }
    let warning = slow.status("messages of /image are lost");
    assert_eq!((&warning["level"], &warning["id"]), (&json!(1), &json!("lost:/image")));
    let statistics = world.server.statistics();
    assert_eq!(
        (statistics.messages, statistics.dropped),
        (u64::from(COUNT + received), u64::from(COUNT - received))
    );
}

#[test]
fn what_a_client_that_reads_nothing_loses_is_counted() {
    const COUNT: u64 = 60;
    let world = World::with(|builder| builder.depth(5));
    let images = world.node.publisher::<Image>("image").create().unwrap();
    let mut stuck = world.viewer();
    let channel = stuck.channel("/image");
    stuck.subscribe(1, &channel);
    assert!(images.wait_for_subscribers(1, PATIENCE));
    for _ in 0..COUNT {
        images.publish(Image { data: vec![0; 1 << 20], ..Image::default() }).unwrap();
    }
    let World { server, .. } = world;
    let ViewStatistics { messages, dropped, .. } = server.close();
    // One may have been in the middle of its way, and up to five were waiting.
    assert!(
        dropped > 0 && (COUNT - messages - 6..=COUNT - messages).contains(&dropped),
        "{dropped}, {messages}"
    );
}

#[test]
fn the_rate_of_a_topic_can_be_limited() {
    let world = World::with(|builder| builder.max_rate(0.001));
    let publisher = world.node.publisher::<Text>("news").create().unwrap();
    let latched = QoS::new().keep_last(2).transient_local();
    let map = world.node.publisher::<Text>("map").qos(latched).create().unwrap();
    map.publish(text("a")).unwrap();
    map.publish(text("b")).unwrap();
    let mut viewer = world.viewer();
    let (news, maps) = (viewer.channel("/news"), viewer.channel("/map"));
    viewer.subscribe(1, &news);
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(text("first")).unwrap();
    assert_eq!(decoded(&news, &viewer.message().2)["data"], "first");
    publisher.publish(text("too soon")).unwrap();
    viewer.subscribe(2, &maps);
    for data in ["a", "b"] {
        let (id, _, bytes) = viewer.message();
        assert_eq!((id, &decoded(&maps, &bytes)["data"]), (2, &json!(data)));
    }
}

#[test]
fn filters_and_underscores_hide() {
    let world = World::with(|builder| {
        let builder = builder.allow_services(true).topics("/camera/**").exclude_topics("/camera/raw");
        builder.services("/camera/**").exclude_services("/camera/raw/on")
    });
    let node = &world.node;
    let names = ["camera/raw", "camera/_inside", "lidar", "camera/image"];
    let _publishers = names.map(|name| node.publisher::<Text>(name).create().unwrap());
    let _subscriptions = names.map(|name| node.subscription::<Text>(name).create().unwrap());
    let _servers = names.map(|name| {
        let server = node.server::<Trigger>(&format!("{name}/on"));
        server.callback(|_: &TriggerRequest| TriggerResponse::default()).unwrap()
    });
    let mut viewer = world.viewer();
    // The last ones: what is shown of the others has been offered before.
    viewer.channel("/camera/image");
    viewer.service("/camera/image/on");
    viewer.send(json!({ "op": "subscribeConnectionGraph" }));
    let graph = viewer.text("connectionGraphUpdate");
    for (member, name) in [
        ("publishedTopics", "/camera/image"),
        ("subscribedTopics", "/camera/image"),
        ("advertisedServices", "/camera/image/on"),
    ] {
        let all = graph[member].as_array().unwrap();
        assert!(all.len() == 1 && all[0]["name"] == name, "{all:?}");
    }
    assert!(viewer.has_passed("\"/camera/image\"") && viewer.has_passed("\"/camera/image/on\""));
    for name in &names[..3] {
        assert!(!viewer.has_passed(&format!("\"/{name}")), "{name}");
    }
}

#[test]
fn a_type_that_nobody_describes_is_told_of() {
    let description = description::<Text>();
    let hash = description.hash();
    let known = parking_lot::Mutex::new(None);
    let known = std::sync::Arc::new(known);
    let source = known.clone();
    let world = World::with(move |builder| {
        builder.definitions(move |name, asked| {
            let known: Option<TypeDefinition> = source.lock().clone();
            known.filter(|_| name == "other_msgs/msg/Odd" && asked == Some(hash))
        })
    });
    let odd = GenericType::new("other_msgs/msg/Odd", hash).unwrap();
    let odd = world.node.generic_publisher("odd", odd).create().unwrap();
    let mut viewer = world.viewer();
    let status = viewer.status("the topic /odd isn't shown");
    assert_eq!(status["level"], 1);
    // The hash is that of another name's description, which is what counts.
    let schema = Schema { encoding: "ros2msg".to_owned(), text: "string A=\"a\"\nstring data\n".to_owned() };
    *known.lock() = Some(TypeDefinition { description, schema: Some(schema.clone()) });
    let channel = viewer.channel("/odd");
    assert_eq!(channel["schema"], schema.text);
    assert_eq!(viewer.text("removeStatus")["statusIds"], json!([status["id"]]));
    viewer.subscribe(1, &channel);
    assert!(odd.wait_for_subscribers(1, PATIENCE));
    odd.publish(SerializedMessage::new(vec![0, 1, 0, 0, 2, 0, 0, 0, b'a', 0])).unwrap();
    assert_eq!(decoded(&channel, &viewer.message().2)["data"], "a");
    assert_ne!(hash, TypeHash([0; 32]));
}

#[test]
fn simulated_time_is_told() {
    let world = World::with(|builder| builder.use_sim_time(true));
    let clock = world.node.publisher::<Clock>("/clock").create().unwrap();
    let news = world.node.publisher::<Text>("news").create().unwrap();
    let mut viewer = world.viewer();
    assert!(viewer.info["capabilities"].to_string().contains("\"time\""));
    let channel = viewer.channel("/news");
    viewer.subscribe(1, &channel);
    assert!(clock.wait_for_subscribers(1, PATIENCE) && news.wait_for_subscribers(1, PATIENCE));
    let mut time = Clock::default();
    (time.clock.sec, time.clock.nanosec) = (12, 345);
    clock.publish(time).unwrap();
    assert_eq!(viewer.binary(2)[1..], 12_000_000_345_u64.to_le_bytes());
    news.publish(text("a")).unwrap();
    assert_eq!(viewer.message().1, 12_000_000_345);
}

#[test]
fn a_client_has_a_limit_of_subscriptions() {
    let world = World::new();
    let publisher = world.node.publisher::<Text>("news").create().unwrap();
    let mut viewer = world.viewer();
    let channel = viewer.channel("/news");
    (1..=5).for_each(|id| viewer.subscribe(id, &channel));
    viewer.status("can't subscribe to /news: a client may have 4 subscriptions to it");
    assert!(publisher.wait_for_subscribers(4, PATIENCE));
    viewer.send(json!({ "op": "unsubscribe", "subscriptionIds": [1, 2, 3, 4] }));
    assert!(world.node.graph().wait_until(PATIENCE, |_| publisher.subscription_count() == 0));
    viewer.subscribe(5, &channel);
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(text("here")).unwrap();
    assert_eq!(viewer.message().0, 5);
}
