//! Bags that are played: counts, order, and the controls.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod controls;
mod playing;
mod readers;
mod replay;
mod retained;
mod rosbag2;
mod services;

use sinew::msg::{GenericType, SerializedMessage};
use sinew::prelude::*;
use sinew_bag::{BagWriter, Stamps, TopicDefinition, TopicId, WriterOptions};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The time of the first message.
const BEGIN: u64 = 1_700_000_000_000_000_000;
const MILLISECOND: u64 = 1_000_000;

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap(); // faster than a disk
    let path = directory.path().join("bag");
    (directory, path)
}

/// A bag that is being written.
struct Writing(BagWriter);

impl Writing {
    fn begin(path: &Path) -> Self {
        Self(BagWriter::create(path, WriterOptions::default()).unwrap())
    }

    fn topic(&mut self, name: &str, publishers: &[QoS]) -> TopicId {
        let topic = TopicDefinition::of::<Text>(name).unwrap();
        let topic = publishers.iter().fold(topic, |topic, qos| topic.qos(*qos));
        self.0.add_topic(&topic).unwrap()
    }

    /// Writes a message at a time in ms after the beginning.
    fn text(&mut self, topic: TopicId, at: u64, text: &str) {
        let stamps = Stamps::at(BEGIN + at * MILLISECOND);
        self.0.write_message(topic, stamps, &Text { data: text.to_owned() }).unwrap();
    }

    fn close(self) {
        self.0.close().unwrap();
    }
}

/// Writes a bag with messages `0`, `1` .. on `/chatter`, a ms after each other.
fn write(path: &Path, count: u64) {
    let mut bag = Writing::begin(path);
    let chatter = bag.topic("/chatter", &[]);
    (0..count).for_each(|number| bag.text(chatter, number, &number.to_string()));
    bag.close();
}

fn context() -> Context {
    Context::builder().shared_memory(false).build().unwrap()
}

/// A subscription that keeps all messages.
fn listen(context: &Context, topic: &str) -> Subscription<Text> {
    listen_with(context, topic, QoS::default().keep_last(10_000))
}

fn listen_with(context: &Context, topic: &str, qos: QoS) -> Subscription<Text> {
    let node = context.node("listener").unwrap();
    node.subscription::<Text>(topic).qos(qos).create().unwrap()
}

/// Takes the texts that have come.
fn take(subscription: &Subscription<Text>) -> Vec<String> {
    std::iter::from_fn(|| subscription.take()).map(|(text, _)| text.data.clone()).collect()
}

fn numbers(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

/// A subscription of a type that is described by its text only.
fn listen_to_type(context: &Context, topic: &str, known: GenericType) -> Subscription<SerializedMessage> {
    let node = context.node("listener").unwrap();
    node.generic_subscription(topic, known).qos(QoS::default().keep_last(10_000)).create().unwrap()
}
