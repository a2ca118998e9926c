//! Bags of SQLite, and those that rosbag2 has compressed.

use crate::{data, place};
use rusqlite::Connection;
use sinew_bag::{BagError, BagMessage, BagReader, BagWriter, Schema, Selection, WriterOptions, check, copy};
use sinew_interfaces::DEFINITIONS;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::fs;
use std::path::Path;

const BAGS: [(&str, u64); 5] = [
    ("cdr_test_foxy", 7),
    ("cdr_test_sqlite3", 7),
    ("service_events_sqlite3", 10),
    ("file_compression", 775),
    ("message_compression", 1127),
];

fn messages(bag: &BagReader, selection: &Selection) -> Vec<BagMessage> {
    bag.messages(selection).unwrap().map(Result::unwrap).collect()
}

fn known(name: &str) -> Option<Schema> {
    Schema::from_texts(name, |name| {
        DEFINITIONS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    })
}

/// Makes a database of the first schema: without QoS, metadata and definitions, and without an index
/// of the times.
fn make(path: &Path, times: impl Iterator<Item = i64>) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL);
             CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL);
             INSERT INTO topics VALUES (7, '/chatter', 'std_msgs/String', 'cdr');
             BEGIN",
        )
        .unwrap();
    for time in times {
        let bytes = encoded(&format!("at {time}"));
        connection
            .execute("INSERT INTO messages (topic_id, timestamp, data) VALUES (7, ?1, ?2)", (time, bytes))
            .unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    connection
}

fn encoded(text: &str) -> Vec<u8> {
    use sinew_msg::Message;
    let encoding = Text::ENCODING.unwrap();
    let text = Text { data: text.to_owned() };
    let mut bytes = vec![0; (encoding.size)(&text)];
    (encoding.encode)(&text, &mut bytes);
    bytes
}

#[test]
fn bags_of_rosbag2_are_read_in_order() {
    for (name, count) in BAGS {
        let bag = BagReader::open(data(name)).unwrap();
        assert_eq!(bag.problems().len(), 0, "{name}: {:?}", bag.problems());
        assert_eq!((bag.message_count(), bag.metadata().unwrap().message_count), (count, count), "{name}");
        let messages = messages(&bag, &Selection::all());
        assert_eq!(messages.len() as u64, count, "{name}");
        assert!(messages.is_sorted_by_key(|message| message.stamps.received));
        let (start, end) = bag.times().unwrap();
        let ends = [&messages[0], &messages[messages.len() - 1]].map(|message| message.stamps.received);
        assert_eq!(ends, [start, end], "{name}");
        assert!(bag.files().iter().all(|file| file.storage == "sqlite3"));
        assert_eq!(check(data(name)).unwrap().len(), 0, "{name}: {:?}", check(data(name)));
    }
}

#[test]
fn the_same_bag_is_equal_in_both_formats() {
    let all = |name: &str| {
        let bag = BagReader::open(data(name)).unwrap();
        let messages = messages(&bag, &Selection::all());
        let parts =
            messages.iter().map(|one| (one.topic.name.clone(), one.stamps.received, one.bytes.to_vec()));
        parts.collect::<Vec<_>>()
    };
    assert_eq!(all("cdr_test_sqlite3"), all("cdr_test"));
    assert_eq!(all("cdr_test_foxy"), all("cdr_test"));
}

#[test]
fn definitions_come_from_the_database_or_from_the_program() {
    let bag = BagReader::open(data("service_events_sqlite3")).unwrap();
    let all = messages(&bag, &Selection::all());
    let printed: String = all.iter().map(|message| message.decode_dynamic().unwrap().to_json()).collect();
    assert!(printed.contains("\"request\":[") && printed.contains("string_value"), "{printed}");

    let bag = BagReader::open(data("message_compression")).unwrap();
    let chatter = Selection::all().topic("/topic");
    let first = &messages(&bag, &chatter)[0];
    assert!(first.decode_dynamic().is_err(), "the database has no definitions");
    assert!(first.decode::<Text>().unwrap().data.starts_with("Hello, world!"));
    let bag = BagReader::open_with(data("message_compression"), &known).unwrap();
    let first = messages(&bag, &chatter)[0].decode_dynamic().unwrap();
    assert!(first.to_json().contains("Hello, world!"), "{}", first.to_json());
}

#[test]
fn copies_are_sound_bags_of_mcap() {
    for (name, count) in BAGS {
        let (_directory, path) = place();
        let bag = BagReader::open_with(data(name), &known).unwrap();
        let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
        let copied = copy(&[(bag.clone(), Selection::all())], &mut writer).unwrap();
        writer.close().unwrap();
        assert_eq!((copied.messages, copied.lost.len()), (count, 0));
        let new = BagReader::open(&path).unwrap();
        let all = |bag: &BagReader| {
            let all = messages(bag, &Selection::all());
            all.iter().map(|one| (one.topic.name.clone(), one.stamps, one.bytes.to_vec())).collect::<Vec<_>>()
        };
        assert_eq!(all(&new), all(&bag), "{name}");
        for (new, old) in new.topics().iter().zip(bag.topics()) {
            assert_eq!((&new.schema, &new.qos, new.type_hash), (&old.schema, &old.qos, old.type_hash));
        }
        assert_eq!(check(&path).unwrap().len(), 0, "{name}: {:?}", check(&path));
    }
}

#[test]
fn times_and_topics_are_selected_and_sought() {
    let bag = BagReader::open(data("message_compression")).unwrap();
    let all = messages(&bag, &Selection::all());
    let middle = all[500].stamps.received;
    let chatter = Selection::all().topic("/topic").from(middle).until(middle + 10_000_000_000);
    let expected: Vec<_> = all
        .iter()
        .filter(|one| one.topic.name == "/topic")
        .map(|one| one.stamps.received)
        .filter(|time| (middle..middle + 10_000_000_000).contains(time))
        .collect();
    let found: Vec<_> = messages(&bag, &chatter).iter().map(|one| one.stamps.received).collect();
    assert!(found.len() > 10);
    assert_eq!(found, expected);
    let mut messages = bag.messages(&Selection::all()).unwrap();
    assert_eq!(messages.by_ref().count(), all.len());
    for place in [0, 900, 3] {
        messages.seek(all[place].stamps.received);
        assert_eq!(messages.next().unwrap().unwrap().stamps, all[place].stamps);
    }
    messages.seek(u64::MAX);
    assert!(messages.next().is_none());
}

#[test]
fn the_oldest_schema_is_read_without_an_index() {
    let (directory, _) = place();
    let path = directory.path().join("old.db3");
    // More than are read ahead, backwards, and each time twice.
    let times = (0..1500).rev().flat_map(|time| [time, time]);
    drop(make(&path, times));
    for opened in [directory.path(), &path] {
        let bag = BagReader::open(opened).unwrap();
        let topic = &bag.topics()[0];
        assert_eq!((topic.type_name.as_str(), topic.message_count), ("std_msgs/msg/String", 3000));
        let texts: Vec<String> = messages(&bag, &Selection::all().from(10))
            .iter()
            .map(|message| message.decode::<Text>().unwrap().data)
            .collect();
        let expected: Vec<String> =
            (10..1500).flat_map(|time| [format!("at {time}"), format!("at {time}")]).collect();
        assert_eq!(texts, expected);
    }
}

#[test]
fn a_log_that_is_still_there_is_read_and_none_is_made() {
    let (directory, _) = place();
    let path = directory.path().join("live.db3");
    let recorder = make(&path, 0..3);
    recorder.pragma_update(None, "journal_mode", "wal").unwrap();
    let add = "INSERT INTO messages (topic_id, timestamp, data) VALUES (7, 9, ?1)";
    recorder.execute(add, [encoded("in the log")]).unwrap();
    let bag = BagReader::open(&path).unwrap();
    assert_eq!(messages(&bag, &Selection::all()).len(), 4);
    drop((bag, recorder));
    assert_eq!(messages(&BagReader::open(&path).unwrap(), &Selection::all()).len(), 4);
    let names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["live.db3"]);
}

#[test]
fn newer_schemas_and_other_compressions_are_refused_by_name() {
    let (directory, _) = place();
    let path = directory.path().join("new.db3");
    let connection = make(&path, 0..1);
    connection
        .execute_batch(
            "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
             INSERT INTO schema VALUES (5, 'future')",
        )
        .unwrap();
    drop(connection);
    let error = BagReader::open(&path).unwrap_err().to_string();
    assert!(error.contains("version 5") && error.contains("1 to 4"), "{error}");
    let text = fs::read_to_string(data("message_compression/metadata.yaml")).unwrap();
    fs::copy(
        data("message_compression/message_compression_0.db3"),
        directory.path().join("message_compression_0.db3"),
    )
    .unwrap();
    let text = text.replace("compression_format: zstd", "compression_format: bz2");
    fs::write(directory.path().join("metadata.yaml"), text).unwrap();
    let error = BagReader::open(directory.path()).unwrap_err().to_string();
    assert!(error.contains("`bz2`"), "{error}");
}

#[test]
fn a_damaged_message_costs_no_other() {
    let (directory, _) = place();
    let path = directory.path().join("message_compression_0.db3");
    fs::copy(data("message_compression/message_compression_0.db3"), &path).unwrap();
    fs::copy(data("message_compression/metadata.yaml"), directory.path().join("metadata.yaml")).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE messages SET data = x'00010203' WHERE id = 5", []).unwrap();
    connection.execute("UPDATE messages SET data = 'text' WHERE id = 6", []).unwrap();
    connection.execute("UPDATE messages SET topic_id = 99 WHERE id = 7", []).unwrap();
    drop(connection);
    let bag = BagReader::open(directory.path()).unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = bag.messages(&Selection::all()).unwrap().partition(Result::is_ok);
    assert_eq!((good.len(), bad.len()), (377, 2));
    assert!(bad.iter().all(|error| matches!(error, Err(BagError::DamagedMessage { .. }))), "{bad:?}");
    let problems: String =
        check(directory.path()).unwrap().iter().map(|error| format!("{error}\n")).collect();
    assert!(problems.contains("of topic 99") && problems.contains("can't be opened"), "{problems}");
}

#[test]
fn any_damage_is_an_error_and_never_a_panic() {
    let (directory, _) = place();
    let whole = fs::read(data("cdr_test_sqlite3/cdr_test_0.db3")).unwrap();
    let compressed = fs::read(data("file_compression/file_compression_3.db3.zstd")).unwrap();
    let mut random: u64 = 1;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % below
    };
    let path = directory.path().join("damaged.db3");
    for round in 0..300 {
        let mut bytes = if round % 3 == 0 { compressed.clone() } else { whole.clone() };
        for _ in 0..=next(8) {
            let place = next(bytes.len());
            bytes[place] = u8::try_from(next(256)).unwrap();
        }
        if round % 5 == 0 {
            bytes.truncate(next(bytes.len()));
        }
        fs::write(&path, bytes).unwrap();
        if let Ok(bag) = BagReader::open(&path) {
            // It ends, with any damage.
            assert!(bag.messages(&Selection::all()).unwrap().count() < 10_000);
            let _ = check(&path);
        }
    }
}
