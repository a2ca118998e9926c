//! The options of `sinew bag`: named as in `ros2 bag` where that has them.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::bag_files::FileOptions;
use super::pictures::{BagImageOptions, BagPlotOptions, PartOptions};
use super::play::PlayOptions;
use super::record::RecordOptions;

#[derive(Args, Debug)]
pub(crate) struct BagOptions {
    #[command(subcommand)]
    pub(crate) command: BagCommand,
}

/// Commands for bags.
#[derive(Debug, Subcommand)]
pub(crate) enum BagCommand {
    /// Publish the messages of bags again, until the end or Ctrl-C. Exit code 1 if messages could
    /// not be published.
    #[command(after_help = super::play::KEYS)]
    Play(Box<PlayOptions>),
    /// Record topics to a new bag until Ctrl-C, or the key q. Exit code 1 if messages were lost.
    #[command(after_help = super::record::KEYS)]
    Record(Box<RecordOptions>),
    /// Show a bag's files, times and topics.
    Info(BagInfoOptions),
    /// List the bags in a directory and below it.
    List(BagListOptions),
    /// Read a whole bag, and report everything that is wrong with it. Exit code 1 if there is
    /// anything.
    Check(BagPathOptions),
    /// Mend the bag of a recorder that was killed: write each file without a summary anew, and make
    /// `metadata.yaml` from the files.
    Reindex(BagPathOptions),
    /// Copy a bag to a new one, with other compression, files or metadata; one of SQLite (`.db3`)
    /// becomes one of MCAP.
    Convert(ConvertOptions),
    /// Copy some topics of a bag to a new one.
    Filter(FilterOptions),
    /// Copy bags to a new one, merged in time.
    Merge(MergeOptions),
    /// Copy a part of a bag's time to a new one.
    Cut(CutOptions),
    /// Plot numbers in messages over time, or the rates or delays of topics.
    #[command(mut_arg("fields", super::pictures::all_topics_by_default))]
    Plot(BagPlotOptions),
    /// Save the images or clouds of points of a topic as pictures.
    Image(BagImageOptions),
}

#[derive(Args, Debug)]
pub(crate) struct BagPathOptions {
    /// The bag: a directory, or one file.
    #[arg(value_name = "BAG")]
    pub(crate) bag: PathBuf,

    /// One JSON object instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BagInfoOptions {
    #[command(flatten)]
    pub(crate) path: BagPathOptions,

    /// Also show the QoS of the topics' publishers.
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Also write a picture of the topics over time, with gaps: .svg, .html or .png. Reads the
    /// whole bag.
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct BagListOptions {
    /// The directory.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// One JSON array instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The new bag.
#[derive(Args, Debug)]
pub(crate) struct NewBag {
    /// The directory of the new bag, which must not exist yet.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) files: FileOptions,

    /// One JSON object instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ConvertOptions {
    /// The bag: a directory, or one file.
    #[arg(value_name = "BAG")]
    pub(crate) bag: PathBuf,

    #[command(flatten)]
    pub(crate) new: NewBag,
}

#[derive(Args, Debug)]
pub(crate) struct FilterOptions {
    /// The bag: a directory, or one file.
    #[arg(value_name = "BAG")]
    pub(crate) bag: PathBuf,

    /// Only these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1.., required_unless_present_any = ["topic_types", "exclude_topics", "exclude_topic_types"])]
    pub(crate) topics: Vec<String>,

    /// Also, or only, the topics of these types, such as sensor_msgs/msg/Image.
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    pub(crate) topic_types: Vec<String>,

    /// None of these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    pub(crate) exclude_topics: Vec<String>,

    /// No topics of these types.
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    pub(crate) exclude_topic_types: Vec<String>,

    #[command(flatten)]
    pub(crate) new: NewBag,
}

#[derive(Args, Debug)]
pub(crate) struct MergeOptions {
    /// The bags: directories, or files.
    #[arg(value_name = "BAG", required = true)]
    pub(crate) bags: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) new: NewBag,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("part").args(["start_offset", "playback_duration"]).required(true).multiple(true))]
pub(crate) struct CutOptions {
    /// The bag: a directory, or one file.
    #[arg(value_name = "BAG")]
    pub(crate) bag: PathBuf,

    #[command(flatten)]
    pub(crate) part: PartOptions,

    #[command(flatten)]
    pub(crate) new: NewBag,
}
