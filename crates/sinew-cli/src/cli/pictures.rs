//! The options of `plot` and `image` for bags and topics, and of parts of bags.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Args, ValueEnum};
use sinew_bench::options::seconds;
use sinew_msg::dynamic::FieldPath;

use super::interfaces::DefinitionOptions;
use super::place::{Where, topic};
use super::play::offset;

/// A topic, and a field of its messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicField {
    pub(crate) topic: String,
    pub(crate) field: Option<String>,
}

impl TopicField {
    /// Returns it as the user names it.
    pub(crate) fn name(&self) -> String {
        match &self.field {
            Some(field) => format!("{}.{field}", self.topic),
            None => self.topic.clone(),
        }
    }
}

/// Parses a name such as `/imu.linear_acceleration.x`: topics have no dots.
fn topic_field(text: &str) -> Result<TopicField, String> {
    let (name, field) = text.split_once('.').map_or((text, None), |(name, field)| (name, Some(field)));
    if let Some(field) = field {
        FieldPath::check(field).map_err(|error| error.to_string())?;
    }
    Ok(TopicField { topic: topic(name)?, field: field.map(str::to_owned) })
}

/// Lets all topics of a bag stand for none that is named, where topics are plotted, not fields.
pub(super) fn all_topics_by_default(fields: Arg) -> Arg {
    fields.required(false).required_unless_present_any(["rate", "latency"]).help(
        "Numbers in the messages of a topic, such as /imu.linear_acceleration.x or /scan.ranges[0]; topics for --rate and \
         --latency [default for these: all topics]",
    )
}

#[derive(Args, Debug)]
pub(crate) struct BagPlotOptions {
    /// The bag: a directory, or one file.
    #[arg(value_name = "BAG")]
    pub(crate) bag: PathBuf,

    #[command(flatten)]
    pub(crate) plot: PlotOptions,

    #[command(flatten)]
    pub(crate) part: PartOptions,
}

#[derive(Args, Debug)]
pub(crate) struct TopicPlotOptions {
    #[command(flatten)]
    pub(crate) plot: PlotOptions,

    /// In the terminal, show the values of this time.
    #[arg(short, long, value_name = "S", value_parser = seconds, default_value = "30")]
    pub(crate) window: Duration,

    /// End after this time, in seconds [default: when Ctrl-C is pressed].
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) duration: Option<Duration>,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    #[command(flatten)]
    pub(crate) place: Where,
}

/// What is plotted, and how it is shown.
#[derive(Args, Debug)]
pub(crate) struct PlotOptions {
    /// Numbers in the messages of a topic, such as /imu.linear_acceleration.x or /scan.ranges[0];
    /// topics for --rate and --latency.
    #[arg(value_name = "TOPIC.FIELD", value_parser = topic_field, required = true)]
    pub(crate) fields: Vec<TopicField>,

    /// Write a picture: .svg, .html or .png [default: draw in the terminal].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Plot the messages per second.
    #[arg(long, conflicts_with = "latency")]
    pub(crate) rate: bool,

    /// Plot the time from sending to receiving, in milliseconds.
    #[arg(long)]
    pub(crate) latency: bool,

    /// One JSON object for each value, on a line of its own.
    #[arg(long)]
    pub(crate) json: bool,
}

impl PlotOptions {
    /// Returns `true` if topics are plotted, not fields.
    pub(crate) fn is_of_topics(&self) -> bool {
        self.rate || self.latency
    }
}

/// The side from which a cloud of points is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CloudView {
    /// From above: x up, y to the left.
    #[default]
    Above,
    /// From one side: x to the right, z up.
    Side,
    /// From the front: y to the right, z up.
    Front,
}

#[derive(Args, Debug)]
pub(crate) struct BagImageOptions {
    /// The bag: a directory, or one file.
    #[arg(value_name = "BAG")]
    pub(crate) bag: PathBuf,

    #[command(flatten)]
    pub(crate) image: ImageOptions,

    #[command(flatten)]
    pub(crate) part: PartOptions,
}

#[derive(Args, Debug)]
pub(crate) struct TopicImageOptions {
    #[command(flatten)]
    pub(crate) image: ImageOptions,

    /// End after this many pictures [default: when Ctrl-C is pressed].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    #[command(flatten)]
    pub(crate) place: Where,
}

/// Which pictures are saved, and where.
#[derive(Args, Debug)]
pub(crate) struct ImageOptions {
    /// A topic of sensor_msgs/msg/Image, CompressedImage or PointCloud2.
    #[arg(value_name = "NAME", value_parser = topic)]
    pub(crate) topic: String,

    /// The directory for the pictures, which is made if it doesn't exist.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// Save every Nth picture only.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), default_value = "1")]
    pub(crate) every: u64,

    /// For clouds of points the side from which they are seen.
    #[arg(long, value_name = "SIDE", default_value = "above")]
    pub(crate) view: CloudView,

    /// One JSON object instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of a bag's time.
#[derive(Args, Debug)]
pub(crate) struct PartOptions {
    /// Leave out this much at the beginning, in seconds.
    #[arg(long, value_name = "S", value_parser = offset)]
    pub(crate) start_offset: Option<Duration>,

    /// Take messages of this time, in seconds [default: up to the end].
    #[arg(long, value_name = "S", value_parser = offset)]
    pub(crate) playback_duration: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_begins_behind_the_first_dot() {
        let field = topic_field("/a/b.c[2].d").unwrap();
        assert_eq!((field.topic.as_str(), field.field.as_deref()), ("/a/b", Some("c[2].d")));
        assert_eq!(topic_field("a").unwrap(), TopicField { topic: "/a".to_owned(), field: None });
        assert!(topic_field("/a.").is_err() && topic_field("/a b.c").is_err());
    }
}
