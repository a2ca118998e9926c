//! Numbers of lost messages: in the files, without `metadata.yaml`, and in copies.

use crate::{begin, place, text};
use sinew_bag::{BagReader, BagWriter, Selection, Stamps, WriterOptions, copy, reindex};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

/// Writes a bag of two files. At the end of each, this number of messages was lost.
fn write(path: &Path, lost: [u64; 2]) {
    let (mut writer, topic) = begin(path, WriterOptions::default());
    for (number, lost) in (0..).zip(lost) {
        writer.write_message(topic, Stamps::at(number), &text(number)).unwrap();
        writer.set_lost("/chatter", lost);
        writer.split().unwrap();
    }
    writer.close().unwrap();
}

fn losses(path: &Path) -> Vec<(String, u64)> {
    BagReader::open(path).unwrap().losses().into_iter().collect()
}

#[test]
fn each_file_has_them() {
    let (_directory, path) = place();
    write(&path, [0, 7]);
    let lost = [("/chatter".to_owned(), 7)];
    assert_eq!(losses(&path), lost);
    assert_eq!(losses(&path.join("bag_0.mcap")), []);
    assert_eq!(losses(&path.join("bag_1.mcap")), lost);
    let record = |name| fs::read(path.join(name)).unwrap().windows(12).any(|part| part == b"sinew:losses");
    assert_eq!((record("bag_0.mcap"), record("bag_1.mcap")), (false, true));
    assert!(BagReader::open(&path).unwrap().metadata_records().is_empty());

    fs::remove_file(path.join("metadata.yaml")).unwrap();
    assert_eq!(losses(&path), lost);
    let metadata = reindex(&path).unwrap().metadata;
    assert_eq!(metadata.losses().collect::<Vec<_>>(), [("/chatter", 7)]);
}

#[test]
fn a_file_that_is_mended_gets_them() {
    let (_directory, path) = place();
    let (mut writer, topic) = begin(&path, WriterOptions::default());
    writer.write_message(topic, Stamps::at(0), &text(0)).unwrap();
    writer.set_lost("/chatter", 7);
    writer.flush().unwrap();
    let (_killed, killed) = place();
    fs::create_dir(&killed).unwrap();
    for name in ["bag_0.mcap", "metadata.yaml"] {
        fs::copy(path.join(name), killed.join(name)).unwrap();
    }
    assert_eq!(reindex(&killed).unwrap().rewritten, ["bag_0.mcap"]);
    assert_eq!(losses(&killed.join("bag_0.mcap")), [("/chatter".to_owned(), 7)]);
}

#[test]
fn the_record_of_a_file_that_is_mended_counts_if_it_is_greater() {
    let (_directory, path) = place();
    let (mut writer, topic) = begin(&path, WriterOptions::default());
    writer.write_message(topic, Stamps::at(0), &text(0)).unwrap();
    writer.set_lost("/chatter", 7);
    writer.flush().unwrap();
    let metadata = path.join("metadata.yaml");
    let flushed = fs::read(&metadata).unwrap();
    writer.set_lost("/chatter", 9);
    writer.close().unwrap();
    // The recorder was killed behind the last record, before the rest of the end was written.
    fs::write(&metadata, flushed).unwrap();
    let file = path.join("bag_0.mcap");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 8]).unwrap();
    assert_eq!(reindex(&path).unwrap().rewritten, ["bag_0.mcap"]);
    assert_eq!(losses(&file), [("/chatter".to_owned(), 9)]);
    assert_eq!(losses(&path), [("/chatter".to_owned(), 9)]);
}

#[test]
fn copies_add_them_up() {
    let (directory, path) = place();
    write(&path, [2, 7]);
    let (_other, other) = place();
    write(&other, [1, 1]);
    let copied = directory.path().join("copied");
    let mut writer = BagWriter::create(&copied, WriterOptions::default()).unwrap();
    let bags = [&path, &other].map(|path| (BagReader::open(path).unwrap(), Selection::all()));
    copy(&bags, &mut writer).unwrap();
    writer.close().unwrap();
    assert_eq!(losses(&copied), [("/chatter".to_owned(), 8)]);
}

#[test]
fn copies_of_the_files_of_one_recording_have_its_losses_once() {
    let (directory, path) = place();
    write(&path, [2, 7]);
    let files = || ["bag_0.mcap", "bag_1.mcap"].map(|name| path.join(name));
    let copied = |name| {
        let copied = directory.path().join(name);
        let mut writer = BagWriter::create(&copied, WriterOptions::default()).unwrap();
        let bags = files().map(|path| (BagReader::open(path).unwrap(), Selection::all()));
        copy(&bags, &mut writer).unwrap();
        writer.close().unwrap();
        losses(&copied)
    };
    assert_eq!(copied("merged"), [("/chatter".to_owned(), 7)]);
    // Files that nothing holds together may be of different recordings.
    fs::remove_file(path.join("metadata.yaml")).unwrap();
    assert_eq!(copied("added"), [("/chatter".to_owned(), 9)]);
}

#[test]
fn the_record_is_read_without_that_of_rosbag2() {
    let (_directory, path) = place();
    let mut writer = mcap::Writer::new(File::create(&path).unwrap()).unwrap();
    let texts = [("/a", "3"), ("/b", "many")].map(|(topic, count)| (topic.to_owned(), count.to_owned()));
    let record = |texts| mcap::records::Metadata { name: "sinew:losses".to_owned(), metadata: texts };
    writer.write_metadata(&record(BTreeMap::from(texts))).unwrap();
    writer.finish().unwrap();
    drop(writer);
    assert_eq!(losses(&path), [("/a".to_owned(), 3)]);
}
