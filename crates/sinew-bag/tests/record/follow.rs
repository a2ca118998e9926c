//! Topics that come, change and end.

use crate::{PATIENCE, World, assert_sound, kept, number, text, until};
use sinew::prelude::*;
use sinew_bag::{BagReader, RecordError, Recorder, Selection};
use sinew_interfaces::std_msgs::msg::{Header, String as Text};

#[test]
fn topics_that_come_later_are_recorded() {
    let world = World::new();
    let recorder = world.record(|builder| builder.all_topics().exclude(["/not"]).lossless());
    for topic in ["/one", "/two"] {
        let publisher = world.publisher(topic, kept());
        publisher.publish(text(1)).unwrap();
        drop(publisher);
        let again = world.publisher(topic, kept());
        again.publish(text(2)).unwrap();
    }
    let not = world.node.publisher::<Text>("/not").create().unwrap();
    not.publish(text(3)).unwrap();
    let recorded = recorder.stop();
    assert_eq!((recorded.topics.len(), recorded.messages(), recorded.lost()), (2, 4, 0), "{recorded:?}");
    assert_eq!((world.numbers("/one"), world.numbers("/two")), (vec![1, 2], vec![1, 2]));
}

#[test]
fn messages_of_a_new_publisher_that_nobody_could_hear_are_told() {
    let world = World::new();
    let before = world.node.publisher::<Text>("/before").create().unwrap();
    before.publish(text(0)).unwrap();
    let recorder = world.record(|builder| builder.all_topics());
    assert!(before.wait_for_subscribers(1, PATIENCE));
    before.publish(text(1)).unwrap();
    let late = world.node.publisher::<Text>("/late").create().unwrap();
    late.publish(text(0)).unwrap(); // heard or not
    assert!(late.wait_for_subscribers(1, PATIENCE));
    late.publish(text(1)).unwrap();
    let recorded = recorder.stop();
    let [before, late] = &recorded.topics[..] else { panic!("{recorded:?}") };
    assert_eq!((before.messages, before.early), (1, 0));
    assert_eq!((late.messages + late.early, late.lost()), (2, 0));
}

#[test]
fn three_hundred_topics_at_once() {
    let world = World::new();
    let publishers: Vec<_> = (0..300)
        .map(|topic| world.node.publisher::<Text>(&format!("/t{topic}")).qos(kept()).create().unwrap())
        .collect();
    let recorder = world.record(|builder| builder.pattern("^/t[0-9]+$").lossless());
    for publisher in &publishers {
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        (0..3).for_each(|number| publisher.publish(text(number)).unwrap());
    }
    let recorded = recorder.stop();
    assert_eq!((recorded.topics.len(), recorded.messages(), recorded.lost()), (300, 900, 0));
    assert_sound(&world.bag());
    let bag = BagReader::open(world.bag()).unwrap();
    assert!(bag.topics().iter().all(|topic| topic.message_count == 3 && topic.schema.is_some()));
}

#[test]
fn a_topic_with_another_type_is_there_twice() {
    let world = World::new();
    let recorder = world.record(|builder| builder.topics(["/a"]).lossless());
    world.publisher("/a", kept()).publish(text(1)).unwrap();
    let headers = world.node.publisher::<Header>("/a").qos(kept()).create().unwrap();
    assert!(headers.wait_for_subscribers(1, PATIENCE));
    headers.publish(Header { frame_id: "map".to_owned(), ..Header::default() }).unwrap();
    let recorded = recorder.stop();
    assert_eq!((recorded.topics.len(), recorded.messages(), recorded.lost()), (2, 2, 0));
    let bag = BagReader::open(world.bag()).unwrap();
    for message in bag.messages(&Selection::all()).unwrap() {
        let message = message.unwrap();
        match message.topic.type_name.as_str() {
            "std_msgs/msg/String" => assert_eq!(number(&message.decode().unwrap()), 1),
            _ => assert_eq!(message.decode::<Header>().unwrap().frame_id, "map"),
        }
    }
}

/// The same name, but other fields, as after an update.
#[derive(Message)]
#[message(name = "std_msgs/msg/String")]
struct OtherText {
    data: String,
    language: String,
}

#[test]
fn two_types_of_one_name_are_told_apart_by_their_hashes() {
    let world = World::new();
    let recorder = world.record(|builder| builder.topics(["/a"]).lossless());
    world.publisher("/a", kept()).publish(text(1)).unwrap();
    let others = world.node.publisher::<OtherText>("/a").qos(kept()).create().unwrap();
    assert!(others.wait_for_subscribers(1, PATIENCE));
    others.publish(OtherText { data: "hallo".to_owned(), language: "de".to_owned() }).unwrap();
    assert_eq!(recorder.stop().messages(), 2);
    let bag = BagReader::open(world.bag()).unwrap();
    let messages = bag.messages(&Selection::all()).unwrap();
    let mut texts: Vec<String> =
        messages.map(|message| message.unwrap().decode_dynamic().unwrap().to_json()).collect();
    texts.sort();
    assert!(texts[0].contains("\"language\":\"de\"") && texts[1].contains("number 1"), "{texts:?}");
}

#[test]
fn a_publisher_that_offers_less_is_recorded_too() {
    let world = World::new();
    let recorder = world.record(|builder| builder.topics(["/a"]));
    let strong = world.publisher("/a", QoS::default().reliable().transient_local());
    strong.publish(text(1)).unwrap();
    until(&recorder, "one is there", |recorded| recorded.messages() == 1);
    strong.publish(text(2)).unwrap();
    let weak = world.publisher("/a", QoS::default().best_effort());
    weak.publish(text(3)).unwrap();
    assert!(strong.wait_for_subscribers(1, PATIENCE));
    strong.publish(text(4)).unwrap();
    let recorded = recorder.stop();
    assert_eq!((recorded.messages(), recorded.lost()), (4, 0), "{recorded:?}");
    assert_eq!(world.numbers("/a"), [1, 2, 3, 4]); // each once
}

#[test]
fn a_service_is_recorded_by_its_events() {
    use sinew::introspection::ServiceIntrospection;
    use sinew_interfaces::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
    let world = World::new();
    let recorder = world.record(|builder| builder.all_services().lossless());
    let _server = world
        .node
        .server::<SetBool>("/enable")
        .immediate_callback(|_: SetBoolRequest| SetBoolResponse { success: true, ..Default::default() })
        .unwrap();
    let client = world.node.client::<SetBool>("/enable").create().unwrap();
    client.configure_introspection(ServiceIntrospection::Contents, QoS::default()).unwrap();
    let graph = world.node.graph();
    assert!(graph.wait_until(PATIENCE, |graph| graph.subscription_count("/enable/_service_event") == 1));
    client.call(SetBoolRequest { data: true }, PATIENCE).unwrap();
    let recorded = recorder.stop();
    assert_eq!((recorded.topics[0].name.as_str(), recorded.messages()), ("/enable/_service_event", 2));
    let bag = BagReader::open(world.bag()).unwrap();
    assert_eq!(bag.topics()[0].type_name, "std_srvs/srv/SetBool_Event");
    for message in bag.messages(&Selection::all()).unwrap() {
        message.unwrap().decode_dynamic().unwrap();
    }
}

#[test]
fn wrong_wishes_are_refused() {
    let world = World::new();
    let begin = |builder: sinew_bag::RecorderBuilder| builder.start(world.bag()).map(drop).unwrap_err();
    let builder = || Recorder::builder(&world.beside);
    assert!(matches!(begin(builder()), RecordError::Nothing));
    assert!(matches!(begin(builder().pattern("(")), RecordError::Bag(_)));
    std::fs::create_dir(world.bag()).unwrap();
    let error = begin(builder().all());
    assert!(error.to_string().contains("bag"), "{error}");
}
