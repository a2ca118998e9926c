//! Attachments and metadata records: written, read, copied, damaged and without an index.

use crate::{begin, place, text, write};
use sinew_bag::{
    Attachment, BagError, BagReader, BagWriter, MetadataRecord, Selection, Stamps, StorageOptions,
    StoragePreset, WriterOptions, check, copy, reindex,
};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn attachment(name: &str, logged: u64) -> Attachment {
    let mut attachment = Attachment::new(name, format!("content of {name}"));
    (attachment.logged, attachment.created) = (logged, 7);
    attachment.media_type = "text/plain".to_owned();
    attachment
}

fn record(name: &str) -> MetadataRecord {
    MetadataRecord { name: name.to_owned(), texts: [("key".to_owned(), "value".to_owned())].into() }
}

/// Writes a bag with messages at the times 0 to 3, attachments at 0 and 2, and a metadata record.
fn write_all(path: &Path, options: WriterOptions) {
    let (mut writer, topic) = begin(path, options);
    for number in 0..4 {
        if number % 2 == 0 {
            writer.attach(&attachment(&format!("at {number}"), number)).unwrap();
        }
        writer.write_message(topic, Stamps::at(number), &text(number)).unwrap();
    }
    writer.write_metadata_record(&record("robot")).unwrap();
    writer.close().unwrap();
}

/// Reads the attachments, each in one text.
fn attached(bag: &BagReader) -> Vec<String> {
    let texts = bag.attachments().into_iter().map(|attachment| {
        attachment.verify().unwrap();
        let Attachment { name, media_type, logged, created, bytes, .. } = attachment;
        format!("{name}, {media_type}, {logged}, {created}: {}", String::from_utf8_lossy(&bytes))
    });
    texts.collect()
}

const BOTH: [&str; 2] =
    ["at 0, text/plain, 0, 7: content of at 0", "at 2, text/plain, 2, 7: content of at 2"];

fn copied(bags: &[(BagReader, Selection)], path: &Path) -> BagReader {
    let mut writer = BagWriter::create(path, WriterOptions::default()).unwrap();
    let copied = copy(bags, &mut writer).unwrap();
    writer.close().unwrap();
    let bag = BagReader::open(path).unwrap();
    assert_eq!(copied.attachments, bag.attachments().len() as u64);
    bag
}

#[test]
fn they_are_read_back_whatever_the_layout() {
    let without_index = "noAttachmentIndex: true\nnoMetadataIndex: true";
    let without_index = StorageOptions::from_yaml(without_index, StoragePreset::None, Path::new("")).unwrap();
    let mut layouts: Vec<StorageOptions> =
        StoragePreset::ALL.iter().map(|(_, preset)| (*preset).into()).collect();
    layouts.push(without_index);
    for storage in layouts {
        let (_directory, path) = place();
        write_all(&path, WriterOptions { storage, ..WriterOptions::default() });
        let bag = BagReader::open(&path).unwrap();
        assert_eq!(attached(&bag), BOTH);
        assert_eq!(bag.metadata_records(), [record("robot")]);
        assert_eq!(bag.files()[0].attachments, 2);
        assert_eq!(bag.times(), Some((0, 3)));
        assert!(bag.metadata().is_some() && bag.problems().is_empty());
    }
}

#[test]
fn copies_keep_those_of_their_time() {
    let (directory, path) = place();
    write_all(&path, WriterOptions::default());
    let bag = BagReader::open(&path).unwrap();
    let all = copied(&[(bag.clone(), Selection::all())], &directory.path().join("all"));
    assert_eq!(attached(&all), BOTH);
    assert_eq!(all.metadata_records(), [record("robot")]);
    assert_eq!(check(all.path()).unwrap().len(), 0);

    let cut = Selection::all().from(1).until(3);
    let cut = copied(&[(bag.clone(), cut)], &directory.path().join("cut"));
    assert_eq!(attached(&cut), BOTH[1..]);
    assert_eq!((cut.times(), cut.metadata_records()), (Some((1, 2)), vec![record("robot")]));

    let merged =
        copied(&[(bag.clone(), Selection::all()), (all, Selection::all())], &directory.path().join("merged"));
    assert_eq!(attached(&merged), [BOTH[0], BOTH[0], BOTH[1], BOTH[1]]);
    assert_eq!(merged.metadata_records(), [record("robot")]);
}

#[test]
fn a_damaged_one_is_named_and_not_copied() {
    let (directory, path) = place();
    write_all(&path, WriterOptions::default());
    let file = path.join("bag_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let content = b"content of at 0";
    let at = bytes.windows(content.len()).position(|part| part == content).unwrap();
    bytes[at] ^= 1;
    fs::write(&file, bytes).unwrap();
    let bag = BagReader::open(&path).unwrap();
    let error = bag.attachments()[0].verify().unwrap_err();
    assert!(error.to_string().contains("the checksum of the attachment \"at 0\" is wrong"), "{error}");
    assert_eq!(check(&path).unwrap().len(), 1);
    let mut writer = BagWriter::create(directory.path().join("copied"), WriterOptions::default()).unwrap();
    let done = copy(&[(bag, Selection::all())], &mut writer).unwrap();
    assert_eq!((done.messages, done.attachments, done.lost.len()), (4, 1, 1));
}

#[test]
fn a_file_is_mended_with_them() {
    let (_directory, path) = place();
    write_all(&path, WriterOptions::default());
    let file = path.join("bag_0.mcap");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 8]).unwrap(); // no end
    assert!(!BagReader::open(&path).unwrap().files()[0].has_summary);
    assert_eq!(reindex(&path).unwrap().rewritten, ["bag_0.mcap"]);
    let bag = BagReader::open(&path).unwrap();
    assert!(bag.files()[0].has_summary);
    assert_eq!(attached(&bag), BOTH);
    assert_eq!((bag.message_count(), bag.metadata_records()), (4, vec![record("robot")]));
}

#[test]
fn files_without_messages_have_no_time() {
    let (_directory, path) = place();
    let options = WriterOptions { max_duration: Duration::ZERO, max_size: 0, ..WriterOptions::default() };
    let (mut writer, topic) = begin(&path, options);
    writer.attach(&attachment("early", 5)).unwrap();
    writer.split().unwrap();
    writer.attach(&attachment("late", 6)).unwrap();
    writer.write_message(topic, Stamps::at(90), &text(1)).unwrap();
    let metadata = writer.close().unwrap();
    assert_eq!((metadata.starting_time, metadata.duration, metadata.message_count), (90, 0, 1));
    let counts: Vec<u64> = metadata.files.iter().map(|file| file.message_count).collect();
    assert_eq!(counts, [0, 1]);
    assert_eq!(BagReader::open(&path).unwrap().attachments().len(), 2);
}

#[test]
fn names_of_the_writers_own_records_are_refused() {
    let (_directory, path) = place();
    let (mut writer, topic) = begin(&path, WriterOptions::default());
    let error = writer.write_metadata_record(&record("rosbag2")).unwrap_err();
    assert!(matches!(error, BagError::Option { .. }), "{error}");
    writer.write_message(topic, Stamps::at(0), &text(0)).unwrap(); // it goes on
    writer.close().unwrap();
    let (_directory, plain) = place();
    write(&plain, WriterOptions::default(), 1);
    assert!(BagReader::open(&plain).unwrap().metadata_records().is_empty());
}

#[test]
fn very_many_metadata_records_are_read_and_copied() {
    let (directory, path) = place();
    let (mut writer, _) = begin(&path, WriterOptions::default());
    // Comparing each with all others would take 5 billion comparisons.
    for number in 0..100_000 {
        writer.write_metadata_record(&record(&number.to_string())).unwrap();
    }
    (0..10).for_each(|_| writer.write_metadata_record(&record("7")).unwrap());
    writer.close().unwrap();
    let copied =
        copied(&[(BagReader::open(&path).unwrap(), Selection::all())], &directory.path().join("copied"));
    let records = copied.metadata_records();
    assert_eq!((records.len(), &records[7]), (100_000, &record("7")));
}
