//! `sinew bag`: outputs, new bags, and errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sinew_bag::{BagReader, BagWriter, Stamps, TopicDefinition, WriterOptions};
use sinew_interfaces::std_msgs::msg::{Header, String as Text};
use tempfile::TempDir;

/// Writes a bag with a message on `/a` each second from second 100 on, and one on `/b`.
fn bag(count: u64) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive");
    let options = WriterOptions { ros_distro: "jazzy".to_owned(), ..WriterOptions::default() };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let a = TopicDefinition::of::<Text>("/a").unwrap().qos(sinew::QoS::default());
    let a = writer.add_topic(&a).unwrap();
    let b = writer.add_topic(&TopicDefinition::of::<Header>("/b").unwrap()).unwrap();
    for number in 0..count {
        let stamps = Stamps::at((100 + number) * 1_000_000_000);
        writer.write_message(a, stamps, &Text { data: format!("{number}") }).unwrap();
    }
    writer.write_message(b, Stamps::at(101_500_000_000), &Header::default()).unwrap();
    writer.close().unwrap();
    (directory, path)
}

/// Runs the command, and returns its exit code, its output and its errors.
fn run(arguments: &[&str], paths: &[&Path]) -> (Option<i32>, String, String) {
    let paths = paths.iter().map(|path| path.to_str().unwrap());
    let line: Vec<&str> = ["bag"].into_iter().chain(arguments.iter().copied()).chain(paths).collect();
    let output = Command::new(env!("CARGO_BIN_EXE_sinew")).args(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str], paths: &[&Path]) -> Value {
    let (code, output, errors) = run(&[arguments, &["--json"]].concat(), paths);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
    serde_json::from_str(&output).unwrap()
}

#[test]
fn info_shows_files_times_and_topics() {
    let (_directory, path) = bag(5);
    let (code, output, errors) = run(&["info", "-v"], &[&path]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    for line in [
        "Files:             drive_0.mcap\n",
        "ROS Distro:        jazzy\n",
        "Duration:          4.000000000 s\n",
        "Start:             1970-01-01T00:01:40.000000000Z (100.000000000)\n",
        "Messages:          6\n",
        "Topics:            /a | std_msgs/msg/String | 5 messages | 1.2 Hz\n",
        "Reliable, Volatile, KeepLast(10)\n",
        "                   /b | std_msgs/msg/Header | 1 message\n",
    ] {
        assert!(output.contains(line), "{line}{output}");
    }
    let info = json(&["info"], &[&path]);
    assert_eq!((&info["messages"], &info["files"][0]["summary"]), (&6.into(), &true.into()));
    assert_eq!((&info["topics"][1]["name"], &info["start_ns"]), (&"/b".into(), &100_000_000_000_u64.into()));
}

#[test]
fn list_finds_bags_below_a_directory() {
    let (directory, path) = bag(2);
    fs::create_dir(directory.path().join("empty")).unwrap();
    let (code, output, _) = run(&["list"], &[directory.path()]);
    assert_eq!(code, Some(0));
    assert!(
        output.starts_with(&format!("{}: 1.500000000 s, 3 messages on 2 topics, ", path.display())),
        "{output}"
    );
    assert_eq!(json(&["list"], &[directory.path()]).as_array().unwrap().len(), 1);
}

#[test]
fn copies_have_what_was_asked_for() {
    let (directory, path) = bag(5);
    let new = |name: &str| directory.path().join(name);
    let messages = |name: &str| BagReader::open(new(name)).unwrap().message_count();
    let output = |name| new(name).to_str().unwrap().to_owned();

    let done = json(&["convert", "-o", &output("small"), "--storage-preset-profile", "zstd_small"], &[&path]);
    assert_eq!((&done["messages"], messages("small")), (&6.into(), 6));
    assert_eq!(BagReader::open(new("small")).unwrap().files()[0].compression, "zstd");
    assert_eq!(BagReader::open(new("small")).unwrap().metadata().unwrap().ros_distro, "jazzy");

    json(
        &["filter", "-o", &output("filtered"), "--exclude-topics", "/b", "--max-bag-duration", "2"],
        &[&path],
    );
    let filtered = BagReader::open(new("filtered")).unwrap();
    assert_eq!((filtered.message_count(), filtered.topics().len(), filtered.files().len()), (5, 1, 3));

    json(&["cut", "-o", &output("cut"), "--start-offset", "1", "--playback-duration", "1.5"], &[&path]);
    assert_eq!(messages("cut"), 3);

    let (code, said, _) = run(&["merge", "-o", &output("merged")], &[&new("cut"), &new("filtered")]);
    assert_eq!((code, messages("merged")), (Some(0), 8));
    assert!(said.contains("8 messages in 1 file"), "{said}");
    for name in ["small", "filtered", "cut", "merged"] {
        let (code, said, _) = run(&["check"], &[&new(name)]);
        assert_eq!((code, said), (Some(0), format!("{} is sound\n", new(name).display())));
    }
}

#[test]
fn damage_is_named_and_mended() {
    let (_directory, path) = bag(5);
    let file = path.join("drive_0.mcap");
    let bytes = fs::read(&file).unwrap();
    // Inside the message `3`: its length, its text and the NUL.
    let end = bytes.windows(6).position(|part| part == b"\x02\0\0\x003\0").unwrap();
    fs::write(&file, &bytes[..end]).unwrap();

    let (code, output, errors) = run(&["info"], &[&path]);
    assert_eq!(code, Some(0));
    assert!(
        output.contains("/a | std_msgs/msg/String") && errors.contains("the file ends inside"),
        "{errors}"
    );
    let (code, output, errors) = run(&["check"], &[&path]);
    assert_eq!(code, Some(1));
    assert!(output.contains("no summary") && errors.contains("problems found"), "{output}{errors}");
    let (code, output, errors) = run(&["reindex"], &[&path]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(output.contains("drive_0.mcap is written anew"), "{output}");
    assert_eq!(run(&["check"], &[&path]).0, Some(0));
}

#[test]
fn errors_say_what_to_do() {
    let (directory, path) = bag(2);
    let new = directory.path().join("new");
    let new = new.to_str().unwrap();
    let foreign = directory.path().join("foreign.mcap");
    fs::write(&foreign, "not a bag").unwrap();
    let future = directory.path().join("future.mcap");
    fs::write(&future, b"\x89MCAP7\r\n").unwrap();
    let taken = path.to_str().unwrap();
    for (arguments, path, says) in [
        (&["info"][..], foreign.as_path(), "is no bag: it begins neither as an MCAP file nor"),
        (&["info"], &future, "the format MCAP is of version 7"),
        (&["info"], Path::new("/nowhere"), "can't open /nowhere"),
        (&["convert", "-o", taken], &path, "exists already"),
        (&["filter", "-o", new, "--topics=a"], &path, "the bag has no topic a; perhaps /a"),
        (&["filter", "-o", new, "--exclude-topics=/a", "--exclude-topics=/b"], &path, "no topic of"),
        (&["cut", "-o", new, "--start-offset=60"], &path, "is 1.500000000 s long, so nothing would be left"),
    ] {
        let (code, output, errors) = run(arguments, &[path]);
        assert_eq!((code, output.as_str()), (Some(1), ""), "{errors}");
        assert!(errors.starts_with("sinew: ") && errors.contains(says), "{errors}");
    }
    for (arguments, says) in [
        (&["filter", "-o", new][..], "--topics"),
        (&["cut", "-o", new], "--start-offset"),
        (
            &["convert", "-o", new, "--storage-preset-profile=fast"],
            "one of none, fastwrite, zstd_fast and zstd_small",
        ),
    ] {
        let (code, _, errors) = run(arguments, &[&path]);
        assert_eq!(code, Some(2));
        assert!(errors.contains(says), "{errors}");
    }
}

#[test]
fn bags_of_sqlite_become_bags_of_mcap_with_definitions() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-bag/tests/data/message_compression");
    let (code, output, errors) = run(&["info"], &[&old]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(output.contains("Storage id:        sqlite3\n"), "{output}");
    assert!(output.contains("Compression:       zstd (each message)\n"), "{output}");
    let directory = tempfile::tempdir().unwrap();
    let new = directory.path().join("new");
    let (code, output, errors) = run(&["convert", "-o", new.to_str().unwrap()], &[&old]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
    assert_eq!(run(&["check"], &[&new]).0, Some(0));
    let bag = BagReader::open(&new).unwrap();
    assert_eq!((bag.message_count(), bag.files()[0].storage), (1127, "mcap"));
    for topic in bag.topics() {
        assert!(topic.message_type().is_ok(), "{}", topic.type_name);
    }
}
