//! Bags in files: written and read back, with attachments, damaged, and those of rosbag2.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attachments;
mod damage;
mod losses;
mod property;
mod rosbag2;
mod sqlite;
mod verbs;

use sinew_bag::{BagReader, BagWriter, Selection, Stamps, TopicDefinition, TopicId, WriterOptions};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory for a test, and the path of a bag in it.
fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap(); // faster than a disk
    let path = directory.path().join("bag");
    (directory, path)
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn text(number: u64) -> Text {
    Text { data: format!("number {number}") }
}

/// Begins a bag with one topic.
fn begin(path: &Path, options: WriterOptions) -> (BagWriter, TopicId) {
    let mut writer = BagWriter::create(path, options).unwrap();
    let topic = writer.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap()).unwrap();
    (writer, topic)
}

/// Writes a bag with messages at the times 0, 1, .. of one topic, with a chunk for each.
fn write(path: &Path, options: WriterOptions, count: u64) {
    let (mut writer, topic) = begin(path, options);
    for number in 0..count {
        writer.write_message(topic, Stamps::at(number), &text(number)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

/// Reads the texts of all messages that can be read.
fn texts(bag: &BagReader, selection: &Selection) -> Vec<String> {
    let messages = bag.messages(selection).unwrap().flatten();
    messages.map(|message| message.decode::<Text>().unwrap().data).collect()
}
