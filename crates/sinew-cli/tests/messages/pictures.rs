//! `topic plot` and `topic image`.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout};

use serde_json::{Value, json};
use sinew::prelude::*;
use sinew_interfaces::sensor_msgs::msg::{CompressedImage, Image, Temperature};

use crate::{Arm, Base, Joint, Text, end_with_ctrl_c, first_line, good, pause, wait_for_subscription};

/// Returns the next value that `topic plot --json` prints, with its name.
fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> (Value, f64) {
    let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert!(line["time_ns"].as_u64().unwrap() > 0, "{line}");
    (line["name"].clone(), line["value"].as_f64().unwrap())
}

fn lines(child: &mut Child) -> Lines<BufReader<ChildStdout>> {
    BufReader::new(child.stdout.take().unwrap()).lines()
}

fn warm(temperature: f64) -> Temperature {
    Temperature { temperature, ..Temperature::default() }
}

#[test]
fn values_are_plotted_as_they_come() {
    let base = Base::new();
    let context = base.context();
    let sensor = context.node("sensor").unwrap().publisher::<Temperature>("warm").create().unwrap();
    for name in ["a.svg", "a.html", "a.png"] {
        let picture = base.path().join(name);
        let to = picture.to_str().unwrap();
        let line = ["topic", "plot", "/warm.temperature", "warm.variance", "--json", "-o", to];
        let mut child = base.start(&line);
        wait_for_subscription(&sensor);
        let mut lines = lines(&mut child);
        for temperature in [20.5, 21.0, 19.0] {
            sensor.publish(warm(temperature)).unwrap();
            assert_eq!(next(&mut lines), (json!("/warm.temperature"), temperature));
            assert_eq!(next(&mut lines), (json!("/warm.variance"), 0.0));
        }
        end_with_ctrl_c(child);
        assert!(fs::metadata(&picture).unwrap().len() > 1000);
        while sensor.subscription_count() > 0 {
            pause();
        }
    }
}

#[test]
fn parts_of_types_that_only_their_program_knows_are_plotted() {
    let base = Base::new();
    let context = base.context();
    let arms = context.node("robot").unwrap().publisher::<Arm>("arm").create().unwrap();
    let mut child = base.start(&["topic", "plot", "/arm.joints[1].angle", "/arm.gains[1]", "--json"]);
    wait_for_subscription(&arms);
    let mut lines = lines(&mut child);
    let joint = |angle| Joint { angle, limits: Vec::new() };
    arms.publish(Arm { gains: [0.0, 0.5], ..Arm::default() }).unwrap();
    assert_eq!(next(&mut lines), (json!("/arm.gains[1]"), 0.5));
    arms.publish(Arm { joints: vec![joint(1.0), joint(2.0)], ..Arm::default() }).unwrap();
    assert_eq!(next(&mut lines), (json!("/arm.joints[1].angle"), 2.0));
    end_with_ctrl_c(child);
}

#[test]
fn rates_and_delays_are_plotted() {
    let base = Base::new();
    let context = base.context();
    let sensor = context.node("sensor").unwrap().publisher::<Temperature>("warm").create().unwrap();
    for option in ["--rate", "--latency"] {
        let mut child = base.start(&["topic", "plot", option, "warm", "--json"]);
        wait_for_subscription(&sensor);
        sensor.publish(warm(20.0)).unwrap();
        let (name, value) = next(&mut lines(&mut child));
        assert!(name == "/warm" && value > 0.0, "{name} {value}");
        if option == "--rate" {
            assert_eq!(value, 1.0);
        }
        end_with_ctrl_c(child);
        while sensor.subscription_count() > 0 {
            pause();
        }
    }
}

#[test]
fn without_a_terminal_the_chart_is_printed_at_the_end() {
    let base = Base::new();
    let context = base.context();
    let sensor = context.node("sensor").unwrap().publisher::<Temperature>("warm").create().unwrap();
    loop {
        let mut child = base.start(&["topic", "plot", "warm.temperature", "--duration", "1"]);
        while child.try_wait().unwrap().is_none() {
            sensor.publish(warm(20.0)).unwrap();
            pause();
        }
        let output = child.wait_with_output().unwrap();
        // On a busy machine nothing may have come by then.
        if String::from_utf8_lossy(&output.stderr).contains("no values came") {
            continue;
        }
        let chart = good(&output);
        let has_dots = chart.chars().any(|letter| u32::from(letter) > 0x2800);
        assert!(has_dots && chart.contains("── /warm.temperature  last 20.0"), "{chart}");
        return;
    }
}

#[test]
fn plots_that_can_not_be_say_why() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("sensor").unwrap();
    let sensor = node.publisher::<Temperature>("warm").create().unwrap();
    for (line, says) in [
        (&["warm"][..], "/warm can't be plotted: name a field"),
        (&["warm.heat"], "no such field, but `header`, `temperature`, `variance`"),
        (&["warm.temperature", "-o", "a.jpg"], "name it .svg, .html or .png"),
        (&["--rate", "warm.temperature"], "leave out the field"),
    ] {
        let said = base.failure(&[&["topic", "plot"], line].concat());
        assert!(said.contains(says), "{said}");
    }
    let output = base.command(&["topic", "plot", "--rate"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "which topic?");
    let child = base.start(&["topic", "plot", "warm.header"]);
    wait_for_subscription(&sensor);
    sensor.publish(warm(20.0)).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("it is no number"), "{said}");
    let said = base.failure(&["topic", "plot", "wram.temperature", "--duration", "0.1"]);
    assert_eq!(
        said,
        "sinew: /wram has no publisher in domain 0 yet: waiting; did you mean /warm?\nsinew: no values came\n"
    );
}

#[test]
fn images_are_saved_as_they_come() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("robot").unwrap();
    let latched = QoS::default().keep_last(4).transient_local();
    let camera = node.publisher::<Image>("camera").qos(latched).create().unwrap();
    for number in 0..4_u8 {
        let data = vec![number, 20, 30, 40, 50, 60];
        let image =
            Image { width: 2, height: 1, step: 6, encoding: "bgr8".to_owned(), data, ..Image::default() };
        camera.publish(image).unwrap();
    }
    let to = base.path().join("pictures");
    let line = ["topic", "image", "camera", "-o", to.to_str().unwrap(), "--every", "2", "--count", "2"];
    let told = base.text(&line);
    assert!(told.ends_with("pictures: 2 pictures\n"), "{told}");
    let mut names: Vec<String> =
        fs::read_dir(&to).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    assert!(names[0].starts_with("000000_") && names[1].starts_with("000002_"), "{names:?}");
    let file = fs::File::open(to.join(&names[1])).unwrap();
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, [30, 20, 2, 60, 50, 40]);
}

#[test]
fn messages_that_are_no_pictures_are_told_of() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("robot").unwrap();
    let _chatter = node.publisher::<Text>("chatter").create().unwrap();
    let to = base.path().join("pictures");
    let to = to.to_str().unwrap();
    let said = base.failure(&["topic", "image", "chatter", "-o", to]);
    assert!(said.contains("/chatter has the type std_msgs/msg/String; pictures are made of"), "{said}");

    let latched = QoS::default().keep_last(3).transient_local();
    let photos = node.publisher::<CompressedImage>("photo").qos(latched).create().unwrap();
    let photo = |data: &[u8]| CompressedImage { data: data.to_vec(), ..CompressedImage::default() };
    photos.publish(photo(&[1, 2, 3])).unwrap();
    photos.publish(photo(&[4, 5, 6])).unwrap();
    photos.publish(photo(&[0xFF, 0xD8, 0xFF])).unwrap();
    let output =
        base.command(&["topic", "image", "photo", "-o", to, "--count", "1", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && said.contains("warning: message 0 of /photo: the format"),
        "{said}"
    );
    assert_eq!(said.matches("warning: message").count(), 1, "{said}");
    assert_eq!(said.matches("don't count for --count").count(), 1, "{said}");
    assert!(said.ends_with("sinew: 2 messages could not be read\n"), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["pictures"], told["lost"].as_array().unwrap().len()), (&json!(1), 1));
    assert_eq!(told["unread"], 2);

    let mut child = base.start(&["topic", "image", "camera", "-o", to]);
    let said = first_line(child.stderr.take());
    assert_eq!(said, "sinew: /camera has no publisher in domain 0 yet: waiting\n");
    child.kill().unwrap();
    child.wait().unwrap();
}
