//! Bags that were cut off, spoilt, or never were any.

use crate::{begin, data, place, text, texts, write};
use proptest::prelude::*;
use sinew_bag::{BagError, BagReader, Selection, Stamps, StoragePreset, WriterOptions, check, reindex};
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
        moved in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..200_usize)),
    ) {
        let mut bytes = fs::read(data(name)).unwrap();
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
