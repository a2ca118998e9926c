//! `sinew bag play`: what other processes get, outputs, and errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sinew::prelude::*;
use sinew_bag::{BagWriter, Stamps, TopicDefinition, WriterOptions};
use sinew_interfaces::builtin_interfaces::msg::Time;
use sinew_interfaces::rosbag2_interfaces::srv::{Play, PlayRequest, Stop, StopRequest};
use sinew_interfaces::std_msgs::msg::String as Text;
use tempfile::TempDir;

/// Writes a bag with messages on `/a` and `/b` in turn, 10 ms after each other.
fn bag(count: u64) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = directory.path().join("drive");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let topics =
        ["/a", "/b"].map(|name| writer.add_topic(&TopicDefinition::of::<Text>(name).unwrap()).unwrap());
    for number in 0..count {
        let stamps = Stamps::at(1_000_000_000 + number * 10_000_000);
        let text = Text { data: number.to_string() };
        writer.write_message(topics[usize::from(number % 2 == 1)], stamps, &text).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    (directory, path)
}

/// Runs the command in a domain of its directory; returns its exit code, its output and its errors.
fn play(directory: &TempDir, path: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["bag", "play"]).arg(path).args(options).arg("--dir").arg(directory.path());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn last_json(output: &str) -> Value {
    serde_json::from_str(output.lines().last().unwrap()).unwrap()
}

#[test]
fn another_process_gets_every_message() {
    let (directory, path) = bag(40);
    let context = Context::builder().directory(directory.path()).interrupts(false).build().unwrap();
    let node = context.node("listener").unwrap();
    let listen = |topic| node.subscription::<Text>(topic).qos(QoS::default().keep_all()).create().unwrap();
    let [renamed, plain] = ["/new", "/b"].map(listen);
    let options =
        "--rate 100 --lossless --remap /a:=/new --json --wait-for-all-acked 60000 --wait-for-subscribers 60";
    let options: Vec<&str> = options.split(' ').collect();
    let taker = |subscription: &Subscription<Text>| {
        let next = || sinew::executor::wait_for(&mut subscription.recv(), Duration::from_secs(60));
        (0..20).map(|_| next().unwrap().unwrap().0.data.clone()).collect::<Vec<_>>()
    };
    let (code, output, errors) = std::thread::scope(|scope| {
        let (of_a, of_b) = (scope.spawn(|| taker(&renamed)), scope.spawn(|| taker(&plain)));
        let done = play(&directory, &path, &options);
        let numbers =
            |first: usize| (first..40).step_by(2).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!((of_a.join().unwrap(), of_b.join().unwrap()), (numbers(0), numbers(1)));
        done
    });
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
    let end = last_json(&output);
    assert_eq!((&end["messages"], &end["lost"], &end["end"]), (&40.into(), &0.into(), &"finished".into()));
    assert_eq!(end["topics"][0]["name"], "/new");
    assert_eq!(end["position_ns"], 1_390_000_000);
}

#[test]
fn options_select_what_is_played() {
    let (directory, path) = bag(40);
    let messages = |options: &[&str]| {
        let options = [&["--as-fast-as-possible", "--json"], options].concat();
        let (code, output, errors) = play(&directory, &path, &options);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
        last_json(&output)["messages"].as_u64().unwrap()
    };
    assert_eq!(messages(&[]), 40);
    assert_eq!(messages(&["--topics", "a"]), 20);
    assert_eq!(messages(&["--regex", "^/[b]$", "--message-order", "sent"]), 20);
    assert_eq!(messages(&["--exclude-topics", "/a"]), 20);
    assert_eq!(messages(&["--start-offset", "0.2", "--playback-duration", "0.1"]), 11);
    assert_eq!(messages(&["--playback-until-sec", "1.05"]), 6);
    assert_eq!(messages(&["--playback-until-nsec", "1050000000", "--clock", "100", "--lossless"]), 6);
    let qos = directory.path().join("qos.yaml");
    fs::write(&qos, "/a: {reliability: best_effort}\n").unwrap();
    assert_eq!(messages(&["--qos-profile-overrides-path", qos.to_str().unwrap()]), 40);
}

#[test]
fn a_player_that_stays_is_asked_to_play_again() {
    let (directory, path) = bag(40);
    let context = Context::builder().directory(directory.path()).interrupts(false).build().unwrap();
    let node = context.node("rqt").unwrap();
    let limit = Duration::from_secs(60);
    let (again, stop) = (
        node.client::<Play>("/rosbag2_player/play").create().unwrap(),
        node.client::<Stop>("/rosbag2_player/stop").create().unwrap(),
    );
    let (code, output, errors) = std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(again.wait_for_server(limit) && stop.wait_for_server(limit));
            // It answers `false` until it has played everything.
            let begin = |request| while !again.call(request, limit).unwrap().success {};
            begin(PlayRequest::default());
            begin(PlayRequest { start_offset: Time { sec: 0, nanosec: 380_000_000 }, ..Default::default() });
            begin(PlayRequest::default());
            stop.call(StopRequest::default(), limit).unwrap();
        });
        play(&directory, &path, &["--as-fast-as-possible", "--stay-at-end", "--json"])
    });
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
    let end = last_json(&output);
    assert_eq!(end["end"], "stopped");
    // Everything twice and the last two messages; a third time may have been stopped at once.
    assert!((82..=122).contains(&end["messages"].as_u64().unwrap()), "{end}");
}

#[test]
fn a_summary_ends_it() {
    let (directory, path) = bag(10);
    let (code, output, errors) = play(&directory, &path, &["--rate", "50"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
    let last = output.lines().last().unwrap();
    assert!(last.starts_with("10 messages of 2 topics, 100 B, 99 % of them less than "), "{output}");
}

#[test]
fn damage_is_played_as_far_as_it_goes_and_named() {
    let (directory, path) = bag(10);
    let file = path.join("drive_0.mcap");
    let bytes = fs::read(&file).unwrap();
    let end = bytes.windows(6).position(|part| part == b"\x02\0\0\x007\0").unwrap();
    fs::write(&file, &bytes[..end]).unwrap();
    let (code, output, errors) = play(&directory, &path, &["--as-fast-as-possible", "--json"]);
    assert_eq!(code, Some(1));
    assert_eq!(last_json(&output)["messages"], 7);
    assert!(last_json(&output)["problems"][0].as_str().unwrap().contains("the file ends inside"), "{output}");
    assert!(errors.contains("one problem found"), "{errors}");
}

#[test]
fn errors_say_what_to_do() {
    let (directory, path) = bag(2);
    for (options, code, says) in [
        (&["--topics", "/x/a"][..], 1, "the bag has no topic /x/a; perhaps /a"),
        (&["--regex", "nothing"], 1, "nothing can be played: no topic is selected"),
        (&["--regex", "("], 1, "the pattern can't be `(`"),
        (&["--start-offset", "5"], 1, "the bags last 10ms"),
        (&["--clock", "0"], 1, "/clock can't be published at 0 Hz"),
        (&["--rate", "0"], 2, "must be a number above 0"),
        (&["--remap", "/a"], 2, "must be OLD:=NEW"),
        (&["--playback-until-sec", "soon"], 2, "no time in seconds since the epoch"),
    ] {
        let (found, output, errors) = play(&directory, &path, options);
        assert_eq!(found, Some(code), "{options:?} {output} {errors}");
        assert!(errors.contains(says), "{options:?} {errors}");
    }
}
