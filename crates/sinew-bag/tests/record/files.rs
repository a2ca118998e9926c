//! Files: splits, rings, retained messages, snapshots.

use crate::{PATIENCE, World, assert_sound, kept, number, text, until};
use sinew::prelude::*;
use sinew_bag::{BagReader, Selection, Snapshot, StoragePreset, WriterOptions};
use sinew_interfaces::std_msgs::msg::String as Text;

fn latched() -> QoS {
    kept().transient_local()
}

/// Returns the numbers of a topic's messages by file.
fn by_file(world: &World, topic: &str) -> Vec<Vec<u64>> {
    let bag = BagReader::open(world.bag()).unwrap();
    let read = |path| {
        let file = BagReader::open(path).unwrap();
        let messages = file.messages(&Selection::all().topic(topic)).into_iter().flatten(); // not yet there
        messages.map(|message| number(&message.unwrap().decode::<Text>().unwrap())).collect()
    };
    bag.files().iter().map(|file| read(&file.path)).collect()
}

#[test]
fn retained_messages_come_first_and_again_in_each_file() {
    let world = World::new();
    let map = world.node.publisher::<Text>("/map").qos(latched().keep_last(2)).create().unwrap();
    (0..3).for_each(|number| map.publish(text(number)).unwrap()); // two of them are retained
    let recorder = world.record(|builder| builder.all_topics());
    let fast = world.publisher("/fast", kept());
    until(&recorder, "the map is there", |recorded| recorded.messages() == 2);
    for number in 0..3 {
        fast.publish(text(number)).unwrap();
        until(&recorder, "it is there", |recorded| recorded.messages() == 3 + number);
        recorder.split();
    }
    map.publish(text(3)).unwrap();
    until(&recorder, "the new map is there", |recorded| recorded.messages() == 6);
    recorder.split();
    fast.publish(text(3)).unwrap();
    let recorded = recorder.stop();
    assert_eq!((recorded.messages(), recorded.lost()), (7, 0));
    let bag = BagReader::open(world.bag()).unwrap();
    assert_eq!(bag.message_count(), recorded.messages() + recorded.repeated);
    let maps = by_file(&world, "/map");
    assert_eq!(maps[0], [1, 2]);
    assert!(maps[1..].iter().all(|map| map.starts_with(&[1, 2]) || *map == [2, 3]), "{maps:?}");
    assert_eq!(maps.last().unwrap(), &[2, 3]);
    let first = bag.messages(&Selection::all()).unwrap().next().unwrap().unwrap();
    assert_eq!((first.topic.name.as_str(), number(&first.decode::<Text>().unwrap())), ("/map", 1));
    assert!(first.stamps.sent < first.stamps.received);
    assert_sound(&world.bag());
}

#[test]
fn files_have_limits_and_only_the_newest_are_kept() {
    let world = World::new();
    let options = WriterOptions {
        storage: StoragePreset::FastWrite.into(),
        max_size: 100_000,
        max_files: 3,
        ..WriterOptions::default()
    };
    let recorder = world.record(|builder| builder.topics(["/a"]).storage(options).lossless());
    let publisher = world.publisher("/a", kept());
    (0..20_000).for_each(|number| publisher.publish(text(number)).unwrap());
    let recorded = recorder.stop();
    assert_eq!((recorded.messages(), recorded.lost()), (20_000, 0));
    assert!(recorded.files > 5);
    let numbers = world.numbers("/a");
    assert!(numbers.len() < 20_000 && *numbers.last().unwrap() == 19_999);
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    let bag = BagReader::open(world.bag()).unwrap();
    assert_eq!((bag.files().len(), bag.metadata().unwrap().message_count), (3, numbers.len() as u64));
}

#[test]
fn compressed_bags_have_everything_as_well() {
    for (_, preset) in StoragePreset::ALL {
        let world = World::new();
        let options = WriterOptions { storage: preset.into(), ..WriterOptions::default() };
        let recorder = world.record(|builder| builder.topics(["/a"]).storage(options).lossless());
        let publisher = world.publisher("/a", kept());
        (0..5000).for_each(|number| publisher.publish(text(number)).unwrap());
        let recorded = recorder.stop();
        assert_eq!((recorded.messages(), recorded.lost()), (5000, 0));
        assert_eq!(world.numbers("/a"), (0..5000).collect::<Vec<_>>());
    }
}

#[test]
fn a_snapshot_has_the_recent_messages_and_the_retained_ones() {
    let world = World::new();
    let recent = Snapshot { duration: Duration::MAX };
    let recorder = world.record(|builder| builder.all_topics().snapshot(recent).cache(40_000));
    world.publisher("/map", latched()).publish(text(0)).unwrap();
    let fast = world.publisher("/fast", QoS::default());
    let waits = |bytes| until(&recorder, "they wait", |recorded| recorded.waiting_bytes >= bytes);
    waits(10);
    (0..5000).for_each(|number| fast.publish(text(number)).unwrap());
    waits(39_000);
    assert!(recorder.take_snapshot());
    until(&recorder, "it is written", |recorded| recorded.messages() > 100);
    fast.publish(text(5000)).unwrap();
    until(&recorder, "the last one is written", |_| {
        recorder.take_snapshot(); // of nothing, perhaps
        by_file(&world, "/fast").concat().last() == Some(&5000)
    });
    let recorded = recorder.stop();
    let fast = by_file(&world, "/fast");
    assert!(fast.len() >= 2 && fast[0].len() > 100, "{fast:?}");
    assert!(fast.concat().is_sorted_by(|one, other| one < other));
    assert!(by_file(&world, "/map").iter().all(|map| *map == [0]));
    assert_eq!(recorded.files, fast.len() as u64);
}

#[test]
fn a_message_asks_for_a_snapshot() {
    let world = World::new();
    let recent = Snapshot { duration: Duration::MAX };
    let recorder = world.record(|builder| builder.topics(["/fast"]).snapshot(recent).trigger("/bump"));
    let (fast, bump) = (world.publisher("/fast", kept()), world.publisher("/bump", kept()));
    (0..10).for_each(|number| fast.publish(text(number)).unwrap());
    bump.publish(text(0)).unwrap();
    until(&recorder, "the snapshot is there", |recorded| recorded.messages() > 0);
    let _ = recorder.stop();
    assert_eq!((world.numbers("/fast"), world.numbers("/bump")), ((0..10).collect(), vec![0]));
    assert!(fast.wait_for_subscribers(0, PATIENCE));
}
