//! The writer and the reader against a list in memory.

use crate::place;
use proptest::prelude::*;
use sinew_bag::{
    BagReader, BagWriter, Selection, Stamps, StorageOptions, StoragePreset, TopicDefinition, WriterOptions,
    check,
};
use std::time::Duration;

#[derive(Debug, Clone)]
enum Operation {
    Write { topic: usize, stamps: Stamps, bytes: Vec<u8> },
    Flush,
    Split,
}

fn operation() -> impl Strategy<Value = Operation> {
    let write = (0..4_usize, 0..40_u64, 0..100_u64, any::<u32>(), prop::collection::vec(any::<u8>(), 0..60));
    prop_oneof![
        8 => write.prop_map(|(topic, received, sent, sequence, bytes)| Operation::Write {
            topic,
            stamps: Stamps { received, sent, sequence },
            bytes,
        }),
        1 => Just(Operation::Flush),
        1 => Just(Operation::Split),
    ]
}

fn options() -> impl Strategy<Value = WriterOptions> {
    let preset = prop::sample::select(StoragePreset::ALL.map(|(_, preset)| preset).to_vec());
    let text = prop::sample::select(vec![
        "{}",
        "compression: Lz4",
        "chunkSize: 1",
        "chunkSize: 100\nnoChunkCRC: false",
        "noSummary: true",
        "noMessageIndex: true\nnoRepeatedSchemas: true",
        "noChunkIndex: true\nnoStatistics: true",
        "noRepeatedChannels: true\nenableDataCRC: true",
    ]);
    let limits = (prop::option::of(1..2000_u64), prop::option::of(1..30_u64));
    (preset, text, limits, 8..=9_u32).prop_map(|(preset, text, (max_size, nanoseconds), metadata_version)| {
        WriterOptions {
            storage: StorageOptions::from_yaml(text, preset, "options".as_ref()).unwrap(),
            max_size: max_size.unwrap_or(u64::MAX),
            max_duration: nanoseconds.map_or(Duration::MAX, Duration::from_nanos),
            metadata_version,
            ..WriterOptions::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(
        options in options(),
        operations in prop::collection::vec(operation(), 0..60),
        (from, until, seek) in (0..45_u64, 0..45_u64, 0..45_u64),
    ) {
        let (_directory, path) = place();
        let has_index = options.storage == StorageOptions::from(StoragePreset::ZstdFast);
        let mut writer = BagWriter::create(&path, options).unwrap();
        let names = ["/a", "/b", "/c", "/d"];
        let topics = names.map(|name| writer.add_topic(&TopicDefinition {
            name: name.to_owned(),
            type_name: "a/msg/A".to_owned(),
            encoding: "cdr".to_owned(),
            schema: None,
            qos: Vec::new(),
            type_hash: None,
        }).unwrap());
        let mut model = Vec::new();
        for operation in operations {
            match operation {
                Operation::Write { topic, stamps, bytes } => {
                    writer.write(topics[topic], stamps, &bytes).unwrap();
                    model.push((names[topic], stamps, bytes));
                }
                Operation::Flush => writer.flush().unwrap(),
                Operation::Split => writer.split().unwrap(),
            }
        }
        let metadata = writer.close().unwrap();
        prop_assert_eq!(metadata.message_count, model.len() as u64);
        model.sort_by_key(|(_, stamps, _)| stamps.received);

        let bag = BagReader::open(&path).unwrap();
        prop_assert_eq!(bag.message_count(), model.len() as u64);
        prop_assert_eq!(bag.topics().len(), names.len());
        let first_and_last = model.first().zip(model.last());
        prop_assert_eq!(bag.times(), first_and_last.map(|(first, last)| (first.1.received, last.1.received)));
        let read = |messages: sinew_bag::Messages| -> Vec<_> {
            let messages = messages.map(Result::unwrap);
            messages.map(|message| {
                let name = names.into_iter().find(|name| *name == message.topic.name).unwrap();
                (name, message.stamps, message.bytes.to_vec())
            }).collect()
        };
        prop_assert_eq!(&read(bag.messages(&Selection::all()).unwrap()), &model);

        let selection = Selection::all().topic("/a").topic("/c").from(from).until(until);
        let is_selected = |begin: u64, (name, stamps, _): &(&str, Stamps, Vec<u8>)| {
            ["/a", "/c"].contains(name) && stamps.received >= begin.max(from) && stamps.received < until
        };
        let mut messages = bag.messages(&selection).unwrap();
        let _ = messages.next();
        messages.seek(seek);
        let expected: Vec<_> = model.iter().filter(|one| is_selected(seek, one)).cloned().collect();
        prop_assert_eq!(read(messages), expected);
        if has_index {
            prop_assert!(check(&path).unwrap().is_empty());
        }
    }
}
