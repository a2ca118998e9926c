//! Bags that rosbag2 wrote.

use crate::{data, place};
use sinew::QoS;
use sinew_bag::{BagMetadata, BagReader, BagWriter, Selection, WriterOptions, check, copy};
use std::fs;

const BAGS: [(&str, u64); 4] =
    [("cdr_test", 7), ("rewriter_a", 150), ("service_events", 218), ("test_bag_for_seek", 5)];

#[test]
fn all_messages_are_read_in_order() {
    for (name, count) in BAGS {
        let bag = BagReader::open(data(name)).unwrap();
        assert_eq!(bag.problems().len(), 0, "{name}: {:?}", bag.problems());
        // That summary counts fewer channels than it has.
        let has_summary = name != "service_events";
        assert!(bag.files().iter().all(|file| file.has_summary == has_summary), "{name}");
        let metadata = bag.metadata().unwrap();
        assert_eq!((bag.message_count(), metadata.message_count), (count, count), "{name}");
        let messages: Vec<_> = bag.messages(&Selection::all()).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(messages.len() as u64, count, "{name}");
        assert!(messages.is_sorted_by_key(|message| message.stamps.received));
        let (start, end) = bag.times().unwrap();
        // That bag's metadata was written by hand.
        if name != "rewriter_a" {
            assert_eq!((start, end - start), (metadata.starting_time, metadata.duration), "{name}");
        }
        for topic in bag.topics().iter().filter(|topic| topic.message_count > 0) {
            let known = metadata.topics.iter().find(|known| known.name == topic.name).unwrap();
            assert_eq!(topic.message_count, known.message_count, "{name} {}", topic.name);
        }
    }
}

#[test]
fn messages_are_decoded_by_the_definitions_in_the_bag() {
    let bag = BagReader::open(data("service_events")).unwrap();
    let mut undefined = Vec::new();
    let mut printed = String::new();
    for message in bag.messages(&Selection::all()).unwrap() {
        let message = message.unwrap();
        match message.decode_dynamic() {
            Ok(message) => printed += &message.to_json(),
            Err(_) => undefined.push(message.topic.type_name.clone()),
        }
    }
    assert!(printed.contains(r#"{"data":"Hello World: 1"}"#));
    assert!(printed.contains(r#""response":[{"sum":"#));
    // The recorder hadn't found these.
    undefined.sort();
    undefined.dedup();
    let action = "example_interfaces/action/Fibonacci";
    let expected =
        ["_FeedbackMessage", "_GetResult_Event", "_SendGoal_Event"].map(|end| format!("{action}{end}"));
    assert!(
        undefined.iter().all(|name| expected.contains(name) || name.starts_with("action_msgs/")),
        "{undefined:?}"
    );
}

#[test]
fn qos_of_all_versions_is_read() {
    let bag = BagReader::open(data("service_events")).unwrap();
    let events = bag.topics().iter().find(|topic| topic.name == "/test_service1/_service_event").unwrap();
    assert_eq!(events.qos[0].qos(), QoS::default().transient_local());
    assert!(events.type_hash.is_some());
    let bag = BagReader::open(data("rewriter_a")).unwrap();
    let empty = &bag.topics()[0];
    assert_eq!(empty.type_name, "test_msgs/msg/Empty");
    let qos: Vec<QoS> = empty.qos.iter().map(|qos| qos.qos()).collect();
    assert_eq!(
        qos,
        [
            QoS::default().keep_last(1).transient_local(),
            QoS::default().keep_last(2).best_effort().transient_local()
        ]
    );
}

#[test]
fn metadata_is_written_as_rosbag2_does() {
    let path = data("service_events/metadata.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let metadata = BagMetadata::from_yaml(&text, &path).unwrap();
    // A blank at the end of one line was put there by hand.
    let theirs: Vec<&str> = text.lines().map(str::trim_end).collect();
    for (place, line) in metadata.to_yaml().lines().enumerate() {
        assert_eq!(Some(line), theirs.get(place).copied(), "line {place}");
    }
    assert_eq!(metadata.to_yaml().lines().count(), theirs.len());
}

#[test]
fn copies_are_equal_and_sound() {
    for (name, count) in BAGS {
        let (_directory, path) = place();
        let bag = BagReader::open(data(name)).unwrap();
        let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
        let copied = copy(&[(bag.clone(), Selection::all())], &mut writer).unwrap();
        writer.close().unwrap();
        assert_eq!((copied.messages, copied.lost.len()), (count, 0));
        let new = BagReader::open(&path).unwrap();
        let all = |bag: &BagReader| {
            let messages = bag.messages(&Selection::all()).unwrap().map(Result::unwrap);
            messages
                .map(|message| (message.topic.name.clone(), message.stamps, message.bytes.to_vec()))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(&new), all(&bag), "{name}");
        for (new, old) in new.topics().iter().zip(bag.topics()) {
            assert_eq!((&new.schema, &new.qos, new.type_hash), (&old.schema, &old.qos, old.type_hash));
        }
        assert_eq!(check(&path).unwrap().len(), 0, "{name}: {:?}", check(&path));
    }
}
