//! `sinew bag image`: the pictures of a topic as files.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;
use sinew_bag::{BagMessage, Selection};
use sinew_interfaces::sensor_msgs::msg::{CompressedImage, Image, PointCloud2};

use super::copies::part;
use super::info::count;
use super::opening::open;
use super::{pixels, points};
use crate::chart;
use crate::cli::pictures::{BagImageOptions, CloudView};
use crate::error::Error;
use crate::output::{print, print_json, says};

/// The types of which there are pictures.
const TYPES: [&str; 3] =
    ["sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2"];

/// Runs `sinew bag image`.
pub(super) fn image(options: &BagImageOptions) -> Result<(), Error> {
    let bag = open(&options.bag)?;
    let selection = Selection::all().topic(&options.topic);
    bag.messages(&selection)?; // the name is checked
    let other = bag
        .topics()
        .iter()
        .find(|topic| topic.name == options.topic && !TYPES.contains(&topic.type_name.as_str()));
    if let Some(topic) = other {
        return Err(Error::NoPictures { topic: topic.name.clone(), type_name: topic.type_name.clone() });
    }
    let (start, until) = part(&bag, &options.bag, &options.part)?;
    fs::create_dir_all(&options.output).map_err(failed("create the directory", &options.output))?;
    let (mut saved, mut lost) = (0_u64, Vec::new());
    let every = usize::try_from(options.every).unwrap_or(usize::MAX);
    for (number, message) in bag.messages(&selection.from(start).until(until))?.enumerate().step_by(every) {
        let picture = message.map_err(|error| error.to_string()).and_then(|message| {
            let (bytes, extension) = picture(&message, options.view)?;
            Ok((bytes, extension, message.stamps.received))
        });
        match picture {
            Ok((bytes, extension, time)) => {
                let (seconds, nanoseconds) = (time / 1_000_000_000, time % 1_000_000_000);
                let name = format!("{number:06}_{seconds}.{nanoseconds:09}.{extension}");
                let path = options.output.join(name);
                fs::write(&path, bytes).map_err(failed("write", &path))?;
                saved += 1;
            }
            Err(problem) => {
                says(&format!("warning: message {number} of {}: {problem}", options.topic));
                lost.push(problem);
            }
        }
    }
    if options.json {
        print_json(&json!({"output": options.output.to_string_lossy(), "pictures": saved, "lost": lost}))?;
    } else {
        print(&format!("{}: {}\n", options.output.display(), count(saved, "picture")))?;
    }
    if lost.is_empty() { Ok(()) } else { Err(Error::DamagedBag { count: lost.len() }) }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::File { action, path: path.to_owned(), source }
}

/// Makes a file's bytes, and the end of its name.
fn picture(message: &BagMessage, view: CloudView) -> Result<(Vec<u8>, &'static str), String> {
    let undecodable = |error: sinew_bag::BagDecodeError| error.to_string();
    match message.topic.type_name.as_str() {
        "sensor_msgs/msg/Image" => {
            let image: Image = message.decode().map_err(undecodable)?;
            let pixels::Pixels { size, colour, depth, bytes } = pixels::of(&image)?;
            let png = chart::encode(size, (colour, depth), &bytes).map_err(|error| error.to_string())?;
            Ok((png, "png"))
        }
        "sensor_msgs/msg/CompressedImage" => {
            let image: CompressedImage = message.decode().map_err(undecodable)?;
            let extension = match image.data.as_slice() {
                [0xFF, 0xD8, ..] => "jpg",
                [0x89, b'P', b'N', b'G', ..] => "png",
                _ => return Err(format!("the format `{}` is neither JPEG nor PNG", image.format)),
            };
            Ok((image.data, extension))
        }
        _ => {
            let cloud: PointCloud2 = message.decode().map_err(undecodable)?;
            let drawing = points::drawing(&cloud, view)?;
            Ok((chart::png(&drawing).map_err(|error| error.to_string())?, "png"))
        }
    }
}
