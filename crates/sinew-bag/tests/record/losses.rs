//! Messages are recorded, or counted as lost.

use crate::{PATIENCE, World, assert_sound, kept, number, text};
use sinew::prelude::*;
use sinew_bag::{BagReader, Recorder, Selection};
use sinew_interfaces::sensor_msgs::msg::Image;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::collections::BTreeMap;
use std::thread;

#[test]
fn a_lossless_recorder_has_every_message_of_all_publishers() {
    let world = World::new();
    let recorder = world.record(|builder| builder.all_topics().lossless().cache(64 << 10));
    thread::scope(|scope| {
        for topic in 0..20 {
            let publisher = world.publisher(&format!("/topic_{}", topic / 2), kept()); // two on each
            scope.spawn(move || {
                for number in 0..2000 {
                    publisher.publish(text(number)).unwrap();
                }
                let counted = publisher.statistics();
                assert_eq!((counted.published, counted.encodings, counted.copies), (2000, 2000, 0));
            });
        }
    });
    let recorded = recorder.stop();
    assert!(recorded.failure.is_none() && recorded.topics.len() == 10, "{recorded:?}");
    assert_eq!((recorded.messages(), recorded.lost()), (40_000, 0), "{recorded:?}");
    assert_sound(&world.bag());
    let bag = BagReader::open(world.bag()).unwrap();
    let (mut last, mut seen) = (0, BTreeMap::<_, Vec<u64>>::new());
    for message in bag.messages(&Selection::all()).unwrap() {
        let message = message.unwrap();
        assert!(message.stamps.received >= last && message.stamps.sent <= message.stamps.received);
        last = message.stamps.received;
        let text = number(&message.decode::<Text>().unwrap());
        assert_eq!(u64::from(message.stamps.sequence), text + 1);
        seen.entry(message.topic.name.clone()).or_default().push(text);
    }
    for numbers in seen.values_mut() {
        numbers.sort_unstable();
        assert_eq!(*numbers, (0..2000).flat_map(|number| [number, number]).collect::<Vec<_>>());
    }
}

#[test]
fn a_recorder_that_nobody_waits_for_counts_what_it_loses() {
    let world = World::new();
    let recorder = world.record(|builder| builder.topics(["/a", "/b"]).cache(10_000));
    thread::scope(|scope| {
        for topic in ["/a", "/b"] {
            let publisher = world.publisher(topic, kept());
            scope.spawn(move || (0..20_000).for_each(|number| publisher.publish(text(number)).unwrap()));
        }
    });
    let recorded = recorder.stop();
    for topic in &recorded.topics {
        assert_eq!(topic.messages + topic.lost(), 20_000, "{topic:?}");
        let numbers = world.numbers(&topic.name);
        assert_eq!(numbers.len() as u64, topic.messages);
        assert!(numbers.is_sorted_by(|one, other| one < other));
    }
    let bag = BagReader::open(world.bag()).unwrap();
    let lost: Vec<(String, u64)> =
        bag.metadata().unwrap().losses().map(|(topic, count)| (topic.to_owned(), count)).collect();
    let counted: Vec<(String, u64)> = recorded
        .topics
        .iter()
        .filter(|topic| topic.lost() > 0)
        .map(|topic| (topic.name.clone(), topic.lost()))
        .collect();
    assert_eq!(lost.len(), counted.len());
    assert!(counted.iter().all(|topic| lost.contains(topic)), "{lost:?} {counted:?}");
}

#[test]
fn twenty_topics_at_a_kilohertz() {
    let world = World::new();
    let recorder = world.record(|builder| builder.pattern("^/fast_"));
    let publishers: Vec<_> =
        (0..20).map(|topic| world.publisher(&format!("/fast_{topic}"), QoS::default())).collect();
    let node = &world.node;
    let mut rate = node.rate(Duration::from_millis(1)).unwrap();
    for number in 0..500 {
        publishers.iter().for_each(|publisher| publisher.publish(text(number)).unwrap());
        rate.sleep().unwrap();
    }
    let recorded = recorder.stop();
    for topic in &recorded.topics {
        assert_eq!(topic.messages + topic.lost(), 500, "{topic:?}");
        assert_eq!(world.numbers(&topic.name).first(), Some(&0));
    }
    assert_eq!(recorded.topics.len(), 20);
}

#[test]
fn large_messages_are_written_from_where_they_lie() {
    let world = World::new();
    let recorder = world.record(|builder| builder.topics(["/image"]).lossless());
    let images = world.node.publisher::<Image>("/image").qos(kept().max_samples(4)).create().unwrap();
    assert!(images.wait_for_subscribers(1, PATIENCE));
    for number in 0..50 {
        let data = vec![number; 1 << 20];
        images.publish(Image { height: u32::from(number), data, ..Image::default() }).unwrap();
    }
    let counted = images.statistics();
    assert_eq!((counted.encodings, counted.copies), (50, 0));
    let recorded = recorder.stop();
    assert_eq!((recorded.messages(), recorded.lost()), (50, 0));
    assert!(recorded.bytes() > 50 << 20);
    let bag = BagReader::open(world.bag()).unwrap();
    for (number, message) in bag.messages(&Selection::all()).unwrap().enumerate() {
        let image: Image = message.unwrap().decode().unwrap();
        assert!(
            image.height as usize == number && image.data.iter().all(|&byte| usize::from(byte) == number)
        );
    }
}

#[test]
fn a_program_records_itself() {
    let world = World::new();
    let context = crate::context_in(world.directory.path());
    let node = context.node("robot").unwrap();
    let publisher = node.publisher::<Text>("/own").qos(kept()).create().unwrap();
    let recorder = Recorder::builder(&context).topics(["/own"]).lossless().start(world.bag()).unwrap();
    (0..5000).for_each(|number| publisher.publish(text(number)).unwrap());
    let recorded = recorder.stop();
    assert_eq!((recorded.messages(), recorded.lost()), (5000, 0));
    assert_eq!(world.numbers("/own"), (0..5000).collect::<Vec<_>>());
    assert_eq!(publisher.statistics().encodings, 5000); // once each
}

#[test]
fn without_shared_memory_a_program_records_itself_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("robot").unwrap();
    let publisher = node.publisher::<Text>("/own").create().unwrap();
    let path = directory.path().join("bag");
    let recorder = Recorder::builder(&context).all().start(&path).unwrap();
    publisher.publish(text(7)).unwrap();
    assert_eq!(recorder.stop().messages(), 1);
    let bag = BagReader::open(&path).unwrap();
    let message = bag.messages(&Selection::all()).unwrap().next().unwrap().unwrap();
    assert!(message.decode_dynamic().unwrap().to_json().contains("number 7"));
}
