//! Pictures of messages as files: images as they are, and clouds of points from one side.

mod pixels;
mod points;

use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;
use sinew_interfaces::sensor_msgs::msg::{CompressedImage, Image, PointCloud2};
use sinew_msg::Message;

use crate::chart;
use crate::cli::pictures::{CloudView, ImageOptions};
use crate::error::Error;
use crate::output::{print, print_json, says};
use crate::problems::Problems;

/// The types of which there are pictures.
const TYPES: [&str; 3] =
    ["sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2"];

/// A message in its encoded form.
pub(crate) trait Undecoded {
    /// Returns the name of its type.
    fn type_name(&self) -> &str;

    /// Decodes it; an error is a sentence.
    fn decode<T: Message>(&self) -> Result<T, String>;
}

/// Checks that there are pictures of a topic's type.
pub(crate) fn check(topic: &str, type_name: &str) -> Result<(), Error> {
    if TYPES.contains(&type_name) {
        return Ok(());
    }
    Err(Error::NoPictures { topic: topic.to_owned(), type_name: type_name.to_owned() })
}

/// The directory in which the pictures of a topic are saved.
pub(crate) struct Pictures<'a> {
    options: &'a ImageOptions,
    saved: u64,
    /// Those of the messages that are no pictures.
    problems: Problems,
}

impl<'a> Pictures<'a> {
    /// Makes the directory if it doesn't exist.
    pub(crate) fn create(options: &'a ImageOptions) -> Result<Self, Error> {
        let directory = &options.output;
        fs::create_dir_all(directory).map_err(failed("create the directory", directory))?;
        Ok(Self { options, saved: 0, problems: Problems::default() })
    }

    /// Returns the number of pictures that were saved.
    pub(crate) fn saved(&self) -> u64 {
        self.saved
    }

    /// Returns the number of messages that are no pictures.
    pub(crate) fn lost(&self) -> usize {
        self.problems.count()
    }

    /// Returns `true` if the message of this number, from 0, is one of every Nth.
    pub(crate) fn is_wanted(&self, number: u64) -> bool {
        number.is_multiple_of(self.options.every)
    }

    /// Saves the picture of a message; `time` is in nanoseconds since the epoch. A message that is
    /// no picture is a warning.
    pub(crate) fn save(&mut self, number: u64, time: u64, message: &impl Undecoded) -> Result<(), Error> {
        match picture(message, self.options.view) {
            Ok((bytes, extension)) => {
                let (seconds, nanoseconds) = (time / 1_000_000_000, time % 1_000_000_000);
                let name = format!("{number:06}_{seconds}.{nanoseconds:09}.{extension}");
                let path = self.options.output.join(name);
                fs::write(&path, bytes).map_err(failed("write", &path))?;
                self.saved += 1;
            }
            Err(problem) => self.warn(number, &problem),
        }
        Ok(())
    }

    /// Counts a message that is no picture, and warns of the first with this problem.
    pub(crate) fn warn(&mut self, number: u64, problem: &str) {
        if self.problems.add(problem) {
            says(&format!("warning: message {number} of {}: {problem}", self.options.topic));
        }
    }

    /// Reports the number of pictures.
    pub(crate) fn report(&self) -> Result<(), Error> {
        let (output, saved) = (&self.options.output, self.saved);
        if self.options.json {
            let output = output.to_string_lossy();
            let (lost, unread) = (self.problems.texts(), self.problems.count());
            return print_json(&json!({"output": output, "pictures": saved, "lost": lost, "unread": unread}));
        }
        let pictures = if saved == 1 { "picture" } else { "pictures" };
        print(&format!("{}: {saved} {pictures}\n", output.display()))
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::File { action, path: path.to_owned(), source }
}

/// Makes a file's bytes, and the end of its name.
fn picture(message: &impl Undecoded, view: CloudView) -> Result<(Vec<u8>, &'static str), String> {
    match message.type_name() {
        "sensor_msgs/msg/Image" => {
            let pixels::Pixels { size, colour, depth, bytes } = pixels::of(&message.decode::<Image>()?)?;
            let png = chart::encode(size, (colour, depth), &bytes).map_err(|error| error.to_string())?;
            Ok((png, "png"))
        }
        "sensor_msgs/msg/CompressedImage" => {
            let image: CompressedImage = message.decode()?;
            let extension = match image.data.as_slice() {
                [0xFF, 0xD8, ..] => "jpg",
                [0x89, b'P', b'N', b'G', ..] => "png",
                _ => return Err(format!("the format `{}` is neither JPEG nor PNG", image.format)),
            };
            Ok((image.data, extension))
        }
        _ => {
            let drawing = points::drawing(&message.decode::<PointCloud2>()?, view)?;
            Ok((chart::png(&drawing).map_err(|error| error.to_string())?, "png"))
        }
    }
}
