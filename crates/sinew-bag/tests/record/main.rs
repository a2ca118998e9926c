//! Recording: counts at both ends, topics that come and change, files, crashes, and control.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod control;
mod crash;
mod files;
mod follow;
mod losses;

use sinew::prelude::*;
use sinew_bag::{BagReader, Recorded, Recorder, RecorderBuilder, Selection};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// To fail instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A robot, and a recorder beside it as another process has it: with a context of its own.
struct World {
    directory: TempDir,
    node: Node,
    beside: Context,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let node = context_in(directory.path()).node("robot").unwrap();
        let beside = context_in(directory.path());
        Self { directory, node, beside }
    }

    fn bag(&self) -> PathBuf {
        self.directory.path().join("bag")
    }

    fn record(&self, options: impl FnOnce(RecorderBuilder) -> RecorderBuilder) -> Recorder {
        options(Recorder::builder(&self.beside)).start(self.bag()).unwrap()
    }

    /// Makes a publisher that the recorder hears.
    fn publisher(&self, topic: &str, qos: QoS) -> Publisher<Text> {
        let publisher = self.node.publisher::<Text>(topic).qos(qos).create().unwrap();
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        publisher
    }

    /// Returns the numbers of a topic's messages in the bag.
    fn numbers(&self, topic: &str) -> Vec<u64> {
        let bag = BagReader::open(self.bag()).unwrap();
        assert!(bag.problems().is_empty(), "{:?}", bag.problems());
        let messages = bag.messages(&Selection::all().topic(topic)).unwrap();
        messages.map(|message| number(&message.unwrap().decode::<Text>().unwrap())).collect()
    }
}

fn context_in(place: &Path) -> Context {
    Context::builder().domain(7).directory(place).build().unwrap()
}

fn text(number: u64) -> Text {
    Text { data: format!("number {number}") }
}

fn number(text: &Text) -> u64 {
    text.data.strip_prefix("number ").unwrap().parse().unwrap()
}

/// The most that a recorder loses nothing of.
fn kept() -> QoS {
    QoS::default().keep_all().max_samples(1000).max_blocking_time(PATIENCE)
}

/// Waits until the recording is as it should be.
#[track_caller]
fn until(recorder: &Recorder, what: &str, is_so: impl Fn(&Recorded) -> bool) -> Recorded {
    let end = sinew::time::Time::steady() + PATIENCE;
    loop {
        let progress = recorder.progress();
        if is_so(&progress) {
            return progress;
        }
        assert!(sinew::time::Time::steady() < end, "{what}: it never is: {progress:?}");
        std::thread::yield_now();
    }
}

/// Checks that nothing is wrong with the bag.
#[track_caller]
fn assert_sound(path: &Path) {
    let found = sinew_bag::check(path).unwrap();
    assert!(found.is_empty(), "{found:?}");
}
