//! `sinew bag`: outputs, new bags, and errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sinew_bag::{Attachment, BagReader, BagWriter, MetadataRecord, Stamps, TopicDefinition, WriterOptions};
use sinew_interfaces::sensor_msgs::msg::{CompressedImage, Image, PointCloud2, PointField, Temperature};
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
fn attachments_are_shown_and_come_along() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("drive");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let a = writer.add_topic(&TopicDefinition::of::<Text>("/a").unwrap()).unwrap();
    for second in 100..103 {
        let mut attachment = Attachment::new(format!("map_{second}"), [7; 2048]);
        attachment.logged = second * 1_000_000_000 - 1; // the first one before all messages
        writer.attach(&attachment).unwrap();
        writer.write_message(a, Stamps::at(second * 1_000_000_000), &Text::default()).unwrap();
    }
    let texts = [("serial".to_owned(), "17".to_owned())].into();
    writer.write_metadata_record(&MetadataRecord { name: "robot".to_owned(), texts }).unwrap();
    writer.close().unwrap();

    let (_, output, _) = run(&["info"], &[&path]);
    assert!(output.contains("Attachments:       map_100 | unknown type | 2.0 KiB\n"), "{output}");
    assert!(output.contains("Metadata records:  robot | 1 text\n"), "{output}");
    for (options, kept) in [
        (&["convert"][..], 3),
        (&["filter", "--topics", "/a"], 3),
        (&["cut", "--start-offset", "1"], 1),
        (&["cut", "--playback-duration", "1"], 2),
    ] {
        let new = directory.path().join(options.concat().replace('/', "_"));
        let arguments = [options, &["-o", new.to_str().unwrap()]].concat();
        let done = json(&arguments, &[&path]);
        assert_eq!(done["attachments"], kept, "{options:?}");
        let info = json(&["info"], &[&new]);
        assert_eq!(info["attachments"].as_array().unwrap().len(), kept, "{options:?}");
        assert_eq!(info["metadata_records"][0]["texts"]["serial"], "17");
    }
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

/// Writes a bag of temperatures at 10 Hz from second 100 on, with a gap, and of three images, a
/// photograph and a cloud.
fn measured() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("measured");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let warm = writer.add_topic(&TopicDefinition::of::<Temperature>("/warm").unwrap()).unwrap();
    let camera = writer.add_topic(&TopicDefinition::of::<Image>("/camera").unwrap()).unwrap();
    let photo = writer.add_topic(&TopicDefinition::of::<CompressedImage>("/photo").unwrap()).unwrap();
    let points = writer.add_topic(&TopicDefinition::of::<PointCloud2>("/points").unwrap()).unwrap();
    for number in (0..200).chain(300..500_u32) {
        let sent = (1000 + u64::from(number)) * 100_000_000;
        let stamps = Stamps { received: sent + 2_000_000, sent, sequence: 0 };
        let temperature = 20.0 + (f64::from(number) / 30.0).sin();
        writer.write_message(warm, stamps, &Temperature { temperature, ..Temperature::default() }).unwrap();
    }
    for number in 0..3_u8 {
        let data = vec![number, 20, 30, 40, 50, 60];
        let image =
            Image { width: 2, height: 1, step: 6, encoding: "bgr8".to_owned(), data, ..Image::default() };
        writer.write_message(camera, Stamps::at(101_000_000_000 + u64::from(number)), &image).unwrap();
    }
    let image = CompressedImage { data: vec![0xFF, 0xD8, 0xFF], ..CompressedImage::default() };
    writer.write_message(photo, Stamps::at(102_000_000_000), &image).unwrap();
    let field = |(name, offset): (&str, u32)| PointField {
        name: name.to_owned(),
        offset,
        datatype: PointField::FLOAT32,
        count: 1,
    };
    let spiral = (0..2000).map(|number| f64::from(number) / 100.0);
    let spiral = spiral.flat_map(|turn| [turn.cos() * turn / 4.0, turn.sin() * turn / 4.0, turn / 20.0]);
    #[expect(clippy::cast_possible_truncation, reason = "fewer digits are enough")]
    let data = spiral.flat_map(|value| (value as f32).to_le_bytes()).collect();
    let cloud = PointCloud2 {
        height: 1,
        width: 2000,
        fields: [("x", 0), ("y", 4), ("z", 8)].map(field).to_vec(),
        point_step: 12,
        row_step: 24000,
        data,
        ..PointCloud2::default()
    };
    writer.write_message(points, Stamps::at(103_000_000_000), &cloud).unwrap();
    writer.close().unwrap();
    (directory, path)
}

#[test]
fn values_rates_and_delays_are_plotted() {
    let (directory, path) = measured();
    for arguments in [&["/warm.temperature", "/warm.variance"][..], &["--rate"], &["--latency", "/warm"]] {
        let (code, output, errors) = run(&["plot", path.to_str().unwrap()], &[]);
        assert_eq!((code, output.as_str()), (Some(2), ""), "{errors}");
        for name in ["a.svg", "a.html", "a.png"] {
            let picture = directory.path().join(name);
            let to = ["-o", picture.to_str().unwrap()];
            let line = [&["plot", path.to_str().unwrap()], arguments, &to].concat();
            assert_eq!(run(&line, &[]), (Some(0), String::new(), String::new()));
            assert!(fs::metadata(&picture).unwrap().len() > 1000);
        }
        let (code, output, errors) = run(&[&["plot", path.to_str().unwrap()], arguments].concat(), &[]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        let has_dots = output.chars().any(|letter| u32::from(letter) > 0x2800);
        assert!(output.contains("/warm") && has_dots, "{output}");
    }
    let path = path.to_str().unwrap();
    let lines = |arguments: &[&str]| {
        let (code, output, errors) = run(&[&["plot", path, "--json"], arguments].concat(), &[]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let values = lines(&["/warm.temperature"]);
    assert_eq!(
        (values.len(), &values[0]["value"], &values[0]["name"]),
        (400, &20.0.into(), &"/warm.temperature".into())
    );
    assert_eq!(lines(&["--latency", "/warm"])[7]["value"], 2.0);
    let rates = lines(&["--rate", "/warm"]);
    let sum: f64 = rates.iter().map(|rate| rate["value"].as_f64().unwrap()).sum();
    assert!((sum - 400.0 * 50.0 / 49.9).abs() < 1e-6, "{sum}: 50 parts of 49.9 s");
    assert_eq!(lines(&["/warm.temperature", "--start-offset=1", "--playback-duration=1"]).len(), 10);
    for (arguments, says) in [
        (&["/warm"][..], "name a field"),
        (&["/warm.heat"], "no such field"),
        (&["/warm.header"], "it is no number"),
        (&["/cold.temperature"], "no topic /cold"),
        (&["--rate", "/warm.temperature"], "leave out the field"),
        (&["/warm.temperature", "-o", "a.jpg"], ".png"),
        (&["/photo.data[7]"], "no such values"),
    ] {
        let (code, output, errors) = run(&[&["plot", path], arguments].concat(), &[]);
        assert_eq!((code, output.as_str()), (Some(1), ""), "{errors}");
        assert!(errors.contains(says), "{errors}");
    }
}

#[test]
fn undecodable_messages_are_one_warning_for_each_topic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wrong");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let add = |writer: &mut BagWriter, name: &str| {
        writer.add_topic(&TopicDefinition::of::<Temperature>(name).unwrap()).unwrap()
    };
    let (warm, cold) = (add(&mut writer, "/warm"), add(&mut writer, "/cold"));
    for time in 0..3 {
        writer.write(warm, Stamps::at(time), &[0, 1, 0, 0, 7]).unwrap();
    }
    writer.write(cold, Stamps::at(3), &[0, 1, 0, 0, 7]).unwrap();
    writer.write_message(warm, Stamps::at(4), &Temperature::default()).unwrap();
    writer.close().unwrap();
    let fields = ["plot", path.to_str().unwrap(), "/warm.temperature", "/cold.temperature"];
    let (code, _, errors) = run(&fields, &[]);
    assert_eq!((code, errors.matches("warning:").count()), (Some(1), 2), "{errors}");
    for says in ["(3 messages of /warm)", "a message of /cold can't be decoded"] {
        assert!(errors.contains(says), "{errors}");
    }
}

#[test]
fn a_bag_is_a_picture_of_its_topics() {
    let (directory, path) = measured();
    let picture = directory.path().join("bag.svg");
    let (code, output, errors) = run(&["info", "--picture", picture.to_str().unwrap()], &[&path]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(output.contains("Topics:"), "{output}");
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.contains(">/warm<") && svg.contains(">400 messages<"), "{svg}");
    // Two of /warm, as there is a gap, and one of each other topic; the page is one more.
    assert_eq!(svg.matches("<rect ").count(), 1 + 2 + 3, "{svg}");
    let picture = directory.path().join("bag.png");
    assert_eq!(run(&["info", "--picture", picture.to_str().unwrap()], &[&path]).0, Some(0));
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn images_and_clouds_are_saved() {
    let (directory, path) = measured();
    let to = directory.path().join("pictures");
    let save = |arguments: &[&str]| {
        let line = [&["image", path.to_str().unwrap(), "-o", to.to_str().unwrap()], arguments].concat();
        run(&line, &[])
    };
    let (code, output, errors) = save(&["/camera", "--every", "2"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(output.ends_with("pictures: 2 pictures\n"), "{output}");
    let file = fs::File::open(to.join("000002_101.000000002.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, [30, 20, 2, 60, 50, 40]);
    assert_eq!(save(&["/photo"]).0, Some(0));
    assert_eq!(fs::read(to.join("000000_102.000000000.jpg")).unwrap(), [0xFF, 0xD8, 0xFF]);
    assert_eq!(save(&["/points", "--view=side"]).0, Some(0));
    assert!(fs::read(to.join("000000_103.000000000.png")).unwrap().starts_with(b"\x89PNG"));
    let (code, _, errors) = save(&["/warm"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("sensor_msgs/msg/Temperature"), "{errors}");
}
