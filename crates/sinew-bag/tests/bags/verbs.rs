//! Copies of parts, merged bags, splits and forms of metadata.

use crate::{begin, place, text, texts, write};
use sinew::QoS;
use sinew::msg::TypeHash;
use sinew_bag::{
    BagDecodeError, BagError, BagReader, BagWriter, Selection, Stamps, TopicDefinition, WriterOptions, copy,
};
use sinew_interfaces::std_msgs::msg::{Header, String as Text};
use std::fs;
use std::time::Duration;

#[test]
fn bags_are_merged_in_time_and_cut() {
    let (directory, path) = place();
    let other = directory.path().join("other");
    write(&path, WriterOptions::default(), 4);
    let (mut writer, topic) = begin(&other, WriterOptions::default());
    writer.write_message(topic, Stamps::at(2), &Text { data: "between".to_owned() }).unwrap();
    writer.close().unwrap();
    let merged = directory.path().join("merged");
    let mut writer = BagWriter::create(&merged, WriterOptions::default()).unwrap();
    let bags =
        [&path, &other].map(|path| (BagReader::open(path).unwrap(), Selection::all().from(1).until(3)));
    copy(&bags, &mut writer).unwrap();
    writer.close().unwrap();
    let bag = BagReader::open(&merged).unwrap();
    assert_eq!(texts(&bag, &Selection::all()), ["number 1", "number 2", "between"]);
    assert_eq!(bag.topics().len(), 1);
}

#[test]
fn a_topic_whose_type_has_changed_is_copied_as_several() {
    let (directory, path) = place();
    let (mut writer, first) = begin(&path, WriterOptions::default());
    let definition = TopicDefinition::of::<Text>("/chatter").unwrap();
    let changed = TopicDefinition { type_hash: Some(TypeHash([7; 32])), ..definition.clone() };
    let other = TopicDefinition { encoding: "json".to_owned(), ..definition };
    let topics = [first, writer.add_topic(&changed).unwrap(), writer.add_topic(&other).unwrap()];
    for (time, topic) in [0, 0, 0, 1, 1, 2].into_iter().enumerate() {
        writer.write(topics[topic], Stamps::at(time as u64), &[0; 8]).unwrap();
    }
    writer.close().unwrap();
    let copied = directory.path().join("copied");
    let mut writer = BagWriter::create(&copied, WriterOptions::default()).unwrap();
    copy(&[(BagReader::open(&path).unwrap(), Selection::all())], &mut writer).unwrap();
    writer.close().unwrap();
    let topics = |path| {
        let bag = BagReader::open(path).unwrap();
        let about = bag
            .topics()
            .iter()
            .map(|topic| (topic.type_hash.map(|hash| hash.0), topic.encoding.clone(), topic.message_count));
        about.collect::<Vec<_>>()
    };
    assert_eq!(topics(&copied), topics(&path));
    let counts: Vec<u64> = topics(&copied).into_iter().map(|(.., count)| count).collect();
    assert_eq!(counts, [3, 2, 1]);
}

#[test]
fn files_are_split_by_time_and_each_is_whole() {
    let (_directory, path) = place();
    let options = WriterOptions { max_duration: Duration::from_nanos(2), ..WriterOptions::default() };
    write(&path, options, 5);
    let bag = BagReader::open(&path).unwrap();
    let counts: Vec<u64> = bag.files().iter().map(|file| file.message_count).collect();
    assert_eq!(counts, [2, 2, 1]);
    assert_eq!(texts(&bag, &Selection::all()).len(), 5);
    for file in bag.files() {
        let one = BagReader::open(&file.path).unwrap();
        assert_eq!(one.topics()[0].name, "/chatter");
        assert!(one.metadata().is_some());
    }
}

/// They may be used on any thread; a writer on one at a time.
const _: () = {
    const fn is_sent<T: Send>() {}
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<BagReader>();
    is_shared::<sinew_bag::Messages>();
    is_shared::<sinew_bag::BagMessage>();
    is_sent::<BagWriter>();
};

#[test]
fn limits_of_zero_are_a_file_for_each_message() {
    let none = WriterOptions::default();
    for (options, files) in [
        (WriterOptions { max_duration: Duration::ZERO, ..none.clone() }, 3),
        (WriterOptions { max_size: 0, ..none.clone() }, 3),
        (none, 1),
    ] {
        let (_directory, path) = place();
        write(&path, options, 3);
        assert_eq!(BagReader::open(&path).unwrap().files().len(), files);
    }
}

#[test]
fn types_are_checked() {
    let (directory, path) = place();
    let (mut writer, topic) = begin(&directory.path().join("other"), WriterOptions::default());
    let error = writer.write_message(topic, Stamps::at(0), &Header::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/chatter has the type std_msgs/msg/String, but the message is a std_msgs/msg/Header"
    );
    write(&path, WriterOptions::default(), 1);
    let bag = BagReader::open(&path).unwrap();
    let message = bag.messages(&Selection::all()).unwrap().next().unwrap().unwrap();
    assert_eq!(message.decode::<Text>().unwrap(), text(0));
    assert_eq!(message.decode_dynamic().unwrap().to_json(), r#"{"data":"number 0"}"#);
    let error = message.decode::<Header>().unwrap_err();
    assert!(matches!(error, BagDecodeError::OtherType { .. }), "{error}");
    let error = bag.messages(&Selection::all().topic("chatter")).unwrap_err();
    assert!(matches!(&error, BagError::NoTopic { similar: Some(name), .. } if name == "/chatter"), "{error}");
}

#[test]
fn a_bag_without_messages_has_its_topics() {
    let (_directory, path) = place();
    let (writer, _) = begin(&path, WriterOptions::default());
    writer.close().unwrap();
    let bag = BagReader::open(&path).unwrap();
    assert_eq!((bag.topics().len(), bag.message_count(), bag.times()), (1, 0, None));
}

#[test]
fn qos_and_metadata_of_version_8_have_numbers() {
    let (_directory, path) = place();
    let options =
        WriterOptions { metadata_version: 8, ros_distro: "iron".to_owned(), ..WriterOptions::default() };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let topic =
        TopicDefinition::of::<Text>("/map").unwrap().qos(QoS::default().keep_last(1).transient_local());
    let topic = writer.add_topic(&topic).unwrap();
    writer.write_message(topic, Stamps::at(1), &text(1)).unwrap();
    writer.close().unwrap();
    let yaml = fs::read_to_string(path.join("metadata.yaml")).unwrap();
    assert!(
        yaml.contains("version: 8") && yaml.contains(r#"offered_qos_profiles: "- history: 1\n  depth: 1\n"#),
        "{yaml}"
    );
    let bytes = fs::read(path.join("bag_0.mcap")).unwrap();
    assert!(bytes.windows(12).any(|part| part == b"- history: 1"));
    let bag = BagReader::open(&path).unwrap();
    assert_eq!(bag.topics()[0].qos[0].qos(), QoS::default().keep_last(1).transient_local());
    assert_eq!(bag.metadata().unwrap().ros_distro, "iron");
}

#[test]
fn a_type_that_changes_is_two_topics() {
    let (_directory, path) = place();
    let (mut writer, first) = begin(&path, WriterOptions::default());
    let second = writer.add_topic(&TopicDefinition::of::<Header>("/chatter").unwrap()).unwrap();
    writer.write_message(first, Stamps::at(1), &text(1)).unwrap();
    writer.write_message(second, Stamps::at(2), &Header::default()).unwrap();
    writer.close().unwrap();
    let bag = BagReader::open(&path).unwrap();
    let types: Vec<&str> = bag.topics().iter().map(|topic| topic.type_name.as_str()).collect();
    assert_eq!(types, ["std_msgs/msg/String", "std_msgs/msg/Header"]);
    assert_eq!(bag.messages(&Selection::all().topic("/chatter")).unwrap().count(), 2);
}
