//! Recorders that are killed.

use crate::{World, context_in, kept, number, text};
use sinew::time::Time;
use sinew_bag::{BagReader, Recorder, Selection, StoragePreset, WriterOptions, reindex};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the process that is killed records to; absent in the tests themselves.
const PLACE: &str = "SINEW_TEST_PLACE";
/// Number of recorders that are killed; `.ci/deep` asks for more.
const KILLED: &str = "SINEW_TEST_KILLED";

/// The part of the process that is killed.
#[test]
fn it_records_until_it_is_killed() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let round = std::env::var("SINEW_TEST_ROUND").unwrap().parse::<usize>().unwrap();
    let (_, preset) = StoragePreset::ALL[round % StoragePreset::ALL.len()];
    let options = WriterOptions { storage: preset.into(), max_size: 200_000, ..WriterOptions::default() };
    let context = context_in(&place);
    let recorder =
        Recorder::builder(&context).topics(["/a"]).storage(options).start(place.join("bag")).unwrap();
    while recorder.is_running() {
        std::thread::park();
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill()); // SIGKILL
        drop(self.0.wait());
    }
}

fn start(place: &Path, round: usize) -> Killed {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "crash::it_records_until_it_is_killed"]);
    child.env(PLACE, place).env("SINEW_TEST_ROUND", round.to_string());
    Killed(child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
fn what_was_flushed_is_read_when_the_recorder_was_killed() {
    let rounds = std::env::var(KILLED).map_or(20, |text| text.parse().unwrap());
    for round in 0..rounds {
        let world = World::new();
        let mut recorder = start(world.directory.path(), round);
        let publisher = world.publisher("/a", kept());
        // Killed at another moment each time: mostly while it writes, now and then after a flush.
        let waits_for_flush = round % 5 == 0;
        let end = Time::steady() + Duration::from_millis(40 * (round as u64 % 17));
        let is_flushed = || BagReader::open(world.bag()).is_ok_and(|bag| bag.message_count() > 0);
        let mut published = 0;
        loop {
            publisher.publish(text(published)).unwrap();
            published += 1;
            if published % 50 == 0 {
                let _ = world.node.graph().changes().wait(Duration::from_millis(1)); // some 50 kHz
                if Time::steady() >= end && (!waits_for_flush || is_flushed()) {
                    break;
                }
            }
        }
        recorder.0.kill().unwrap();
        recorder.0.wait().unwrap();
        let bag = world.bag();
        let numbers = match BagReader::open(&bag) {
            Ok(bag) => read(&bag),
            Err(_) => Vec::new(), // it had not begun
        };
        assert!(numbers.is_sorted_by(|one, other| one < other), "{round}");
        assert!(!waits_for_flush || !numbers.is_empty(), "{round}: nothing of {published}");
        if !numbers.is_empty() {
            reindex(&bag).unwrap();
            assert_eq!(read(&BagReader::open(&bag).unwrap()), numbers, "{round}");
        }
    }
}

fn read(bag: &BagReader) -> Vec<u64> {
    let messages = bag.messages(&Selection::all()).unwrap().flatten();
    messages.map(|message| number(&message.decode::<Text>().unwrap())).collect()
}
