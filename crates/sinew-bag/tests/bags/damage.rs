//! Bags that were cut off, spoilt, or never were any.

use crate::{begin, data, place, text, texts, write};
use proptest::prelude::*;
use sinew::msg::TypeHash;
use sinew_bag::{
    BagError, BagMetadata, BagReader, Selection, Stamps, StoragePreset, TopicDefinition, WriterOptions,
    check, reindex,
};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::fs;
use std::path::Path;

fn options(preset: StoragePreset) -> WriterOptions {
    WriterOptions { storage: preset.into(), ..WriterOptions::default() }
}

#[test]
fn a_file_cut_anywhere_in_its_last_chunk_has_the_chunks_before() {
    for (_, preset) in StoragePreset::ALL {
        let (directory, path) = place();
        let (mut writer, topic) = begin(&path, options(preset));
        let file = path.join("bag_0.mcap");
        let mut lengths = Vec::new();
        for number in 0..3 {
            writer.write_message(topic, Stamps::at(number), &text(number)).unwrap();
            writer.flush().unwrap();
            lengths.push(usize::try_from(fs::metadata(&file).unwrap().len()).unwrap());
        }
        let bytes = fs::read(&file).unwrap();
        let expected: Vec<String> = (0..3).map(|number| text(number).data).collect();
        let cut = directory.path().join("cut.mcap");
        for length in lengths[1]..=lengths[2] {
            fs::write(&cut, &bytes[..length]).unwrap();
            let bag = BagReader::open(&cut).unwrap();
            let read = texts(&bag, &Selection::all());
            assert!(read.len() >= 2 && expected.starts_with(&read), "{preset:?} at {length}: {read:?}");
            assert!(!bag.problems().is_empty() && !check(&cut).unwrap().is_empty());
        }
        for length in 0..lengths[1] {
            fs::write(&cut, &bytes[..length]).unwrap();
            let read = texts(&BagReader::open(&cut).unwrap(), &Selection::all());
            assert!(expected.starts_with(&read), "{preset:?} at {length}: {read:?}");
        }
    }
}

#[test]
fn a_recorder_that_was_killed_leaves_a_bag_that_reindex_completes() {
    for (_, preset) in StoragePreset::ALL {
        let (_directory, path) = place();
        let (mut writer, topic) = begin(&path, options(preset));
        for number in 0..5 {
            writer.write_message(topic, Stamps::at(number), &text(number)).unwrap();
            if number == 3 {
                writer.flush().unwrap();
            }
        }
        std::mem::forget(writer);
        let bag = BagReader::open(&path).unwrap();
        let read = texts(&bag, &Selection::all());
        assert!(read.len() >= 4, "{preset:?}: {read:?}");
        assert!(!bag.problems().is_empty() && !bag.files()[0].has_summary);
        fs::remove_file(path.join("metadata.yaml")).unwrap();
        let done = reindex(&path).unwrap();
        assert_eq!(
            (done.rewritten, done.metadata.message_count),
            (vec!["bag_0.mcap".to_owned()], read.len() as u64)
        );
        assert!(!done.lost.is_empty());
        let bag = BagReader::open(&path).unwrap();
        assert_eq!(texts(&bag, &Selection::all()), read);
        assert!(bag.files()[0].has_summary && bag.problems().is_empty());
        assert_eq!(check(&path).unwrap().len(), 0, "{:?}", check(&path));
        assert_eq!(reindex(&path).unwrap().rewritten.len(), 0);
    }
}

#[test]
fn reindex_tells_two_types_of_one_name_apart() {
    let (_directory, path) = place();
    let (mut writer, first) = begin(&path, WriterOptions::default());
    let definition = TopicDefinition::of::<Text>("/chatter").unwrap();
    let changed = TopicDefinition { type_hash: Some(TypeHash([7; 32])), ..definition };
    let second = writer.add_topic(&changed).unwrap();
    for (time, topic) in [first, second, second].into_iter().enumerate() {
        writer.write(topic, Stamps::at(time as u64), &[0; 8]).unwrap();
    }
    writer.flush().unwrap();
    std::mem::forget(writer);
    let counts = || {
        let bag = BagReader::open(&path).unwrap();
        let count = |hash| {
            let topic = bag.topics().iter().find(|topic| topic.type_hash == hash);
            topic.unwrap().message_count
        };
        [count(definition.type_hash), count(changed.type_hash)]
    };
    assert_eq!(counts(), [1, 2]);
    assert_eq!(reindex(&path).unwrap().rewritten, ["bag_0.mcap"]);
    assert_eq!(counts(), [1, 2]);
}

/// Checks that a bag is not reindexed, and left as it is.
#[track_caller]
fn is_left_alone(path: &Path, names: &str) {
    let files = || {
        let paths = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<_> = paths.map(|path| (path.clone(), fs::read(&path).unwrap())).collect();
        all.sort();
        all
    };
    let before = files();
    let error = reindex(path).unwrap_err();
    assert!(matches!(error, BagError::Unsupported { .. }), "{error}");
    let error = error.to_string();
    assert!(error.contains(names) && error.contains("`sinew bag convert`"), "{error}");
    assert!(files() == before, "files were written");
}

#[test]
fn reindex_leaves_a_bag_with_compressed_files_alone() {
    let (_directory, path) = place();
    let (mut writer, topic) = begin(&path, WriterOptions::default());
    writer.write_message(topic, Stamps::at(0), &text(0)).unwrap();
    writer.split().unwrap();
    writer.write_message(topic, Stamps::at(1), &text(1)).unwrap();
    writer.flush().unwrap();
    std::mem::forget(writer);
    fs::remove_file(path.join("metadata.yaml")).unwrap();
    let first = path.join("bag_0.mcap");
    let bytes = fs::read(&first).unwrap();
    fs::write(path.join("bag_0.mcap.zstd"), zstd::encode_all(&*bytes, 1).unwrap()).unwrap();
    fs::remove_file(&first).unwrap();
    is_left_alone(&path, "`bag_0.mcap.zstd`");
    // The recorder was killed while it compressed the file: that is still there.
    fs::write(&first, bytes).unwrap();
    assert_eq!(reindex(&path).unwrap().metadata.relative_file_paths, ["bag_0.mcap", "bag_1.mcap"]);
}

#[test]
fn reindex_leaves_a_bag_of_compressed_messages_alone() {
    let (directory, path) = place();
    write(&path, WriterOptions::default(), 2);
    let yaml = path.join("metadata.yaml");
    let known = fs::read_to_string(&yaml).unwrap();
    let metadata = BagMetadata::from_yaml(&known, &yaml).unwrap();
    let compressed = BagMetadata {
        compression_mode: "MESSAGE".to_owned(),
        compression_format: "zstd".to_owned(),
        ..metadata
    };
    fs::write(&yaml, compressed.to_yaml()).unwrap();
    is_left_alone(&path, "`MESSAGE`");
    // Without `metadata.yaml`, a file's own record says so.
    let path = directory.path().join("other");
    fs::create_dir(&path).unwrap();
    let mut file = mcap::Writer::new(fs::File::create(path.join("other_0.mcap")).unwrap()).unwrap();
    let texts = [("serialized_metadata".to_owned(), compressed.to_yaml())].into();
    file.write_metadata(&mcap::records::Metadata { name: "rosbag2".to_owned(), metadata: texts }).unwrap();
    file.finish().unwrap();
    is_left_alone(&path, "other_0.mcap: ");
}

/// Returns the place of the first chunk's entry in the summary of a file.
fn first_chunk_entry(bytes: &[u8]) -> usize {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut at = usize::try_from(number(bytes.len() - 28)).unwrap(); // the footer names the place
    while bytes[at] != 8 {
        at += 9 + usize::try_from(number(at + 1)).unwrap();
    }
    at + 9
}

#[test]
fn a_summary_that_is_wrong_is_not_used_or_found_by_a_check() {
    let (_directory, path) = place();
    write(&path, WriterOptions::default(), 3);
    let file = path.join("bag_0.mcap");
    let sound = fs::read(&file).unwrap();
    assert!(BagReader::open(&path).unwrap().files()[0].has_summary);
    // The time of the first message, and the channel.
    for wrong in [0, 36] {
        let mut bytes = sound.clone();
        bytes[first_chunk_entry(&sound) + wrong] += 7;
        fs::write(&file, &bytes).unwrap();
        let bag = BagReader::open(&path).unwrap();
        assert!(!bag.files()[0].has_summary);
        assert_eq!(texts(&bag, &Selection::all()), ["number 0", "number 1", "number 2"]);
        drop(bag);
        let checksum = bytes.len() - 12;
        bytes[checksum..checksum + 4].fill(0); // none
        fs::write(&file, &bytes).unwrap();
        assert!(BagReader::open(&path).unwrap().files()[0].has_summary);
        let found = check(&path).unwrap();
        assert!(found.iter().any(|problem| problem.to_string().contains("other chunks")), "{found:?}");
    }
}

#[test]
fn a_wrong_byte_costs_its_chunk_and_is_found() {
    let (_directory, path) = place();
    let mut options = options(StoragePreset::None);
    options.storage =
        sinew_bag::StorageOptions::from_yaml("noChunkCRC: false", StoragePreset::None, "x".as_ref()).unwrap();
    write(&path, options, 3);
    let file = path.join("bag_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.windows(8).position(|part| part == b"number 1").unwrap();
    bytes[place] ^= 1;
    fs::write(&file, bytes).unwrap();
    let bag = BagReader::open(&path).unwrap();
    let errors: Vec<_> = bag.messages(&Selection::all()).unwrap().filter_map(Result::err).collect();
    assert!(matches!(errors.as_slice(), [BagError::Damaged { .. }]), "{errors:?}");
    assert!(texts(&bag, &Selection::all()).contains(&"number 2".to_owned()));
    let found = check(&path).unwrap();
    assert!(found.iter().any(|problem| problem.to_string().contains("checksum")), "{found:?}");
}

#[test]
fn other_files_are_refused_by_name() {
    let (directory, path) = place();
    let file = directory.path().join("file");
    let refused = |bytes: &[u8], says: &str| {
        fs::write(&file, bytes).unwrap();
        let error = BagReader::open(&file).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("file"), "{error}");
    };
    refused(b"\x89MCAP1\r\n and more", "version 1");
    refused(b"SQLite format 3\0", "not a database");
    refused(b"#ROSBAG V2.0\n", "ROS 1");
    refused(b"something else", "neither as an MCAP file");
    assert!(matches!(BagReader::open(directory.path()), Err(BagError::NotABag { .. })));
    assert!(matches!(BagReader::open(&path), Err(BagError::File { .. })));
    for (yaml, says) in
        [("rosbag2_bagfile_information:\n  version: 77\n", "version 77"), ("a: [b", "metadata.yaml")]
    {
        fs::write(directory.path().join("metadata.yaml"), yaml).unwrap();
        let error = BagReader::open(directory.path()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    fs::remove_file(&file).unwrap();
    write(&path, WriterOptions::default(), 1);
    let metadata = path.join("metadata.yaml");
    let text = fs::read_to_string(&metadata).unwrap();
    fs::write(&metadata, text.replace("storage_identifier: mcap", "storage_identifier: other")).unwrap();
    let error = BagReader::open(&path).unwrap_err().to_string();
    assert!(error.contains("`other`") && error.contains("`mcap` and `sqlite3`"), "{error}");
}

#[test]
fn a_missing_file_of_several_is_reported() {
    let (_directory, path) = place();
    let (mut writer, topic) = begin(&path, WriterOptions::default());
    for number in 0..3 {
        writer.write_message(topic, Stamps::at(number), &text(number)).unwrap();
        writer.split().unwrap();
    }
    writer.close().unwrap();
    fs::remove_file(path.join("bag_1.mcap")).unwrap();
    let bag = BagReader::open(&path).unwrap();
    assert_eq!(texts(&bag, &Selection::all()), ["number 0", "number 2"]);
    assert!(bag.problems()[0].to_string().contains("bag_1.mcap"));
    let found = check(&path).unwrap();
    assert!(
        found.iter().any(|problem| problem.to_string().contains("counts 3 messages, but the files have 2")),
        "{found:?}"
    );
}

/// Reads everything of a file, sound or not.
fn read_all(path: &Path) {
    let Ok(bag) = BagReader::open(path) else { return };
    for message in bag.messages(&Selection::all()).unwrap().flatten() {
        let _ = message.decode_dynamic();
    }
    let _ = check(path);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The fuzzed file: bytes of real ones changed, cut out and doubled.
    #[test]
    fn no_file_makes_the_reader_panic(
        name in prop::sample::select(vec![
            "cdr_test/cdr_test_0.mcap",
            "test_bag_for_seek/test_bag_for_seek_0.mcap",
            "rewriter_a/rewriter_a_0.mcap",
        ]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        has_checksum in any::<bool>(),
        moved in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..200_usize)),
    ) {
        let mut bytes = fs::read(data(name)).unwrap();
        if !has_checksum {
            // Otherwise a changed summary would never be read.
            let end = bytes.len() - 8;
            bytes[end - 4..end].fill(0);
        }
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some((from, to, length)) = moved {
            let from = from.index(bytes.len());
            let length = length.min(bytes.len() - from);
            let part: Vec<u8> = bytes.drain(from..from + length).collect();
            let to = to.index(bytes.len());
            bytes.splice(to..to, part);
        }
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path().join("fuzzed.mcap");
        fs::write(&path, bytes).unwrap();
        read_all(&path);
    }
}
