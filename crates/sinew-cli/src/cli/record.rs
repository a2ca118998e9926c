//! The options of `sinew bag record`: named as in `ros2 bag record` where that has them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use sinew_bench::options::seconds;

use super::bag_files::FileOptions;
use super::bag_session::SessionOptions;
use super::interfaces::DefinitionOptions;
use super::place::name;

/// Keys, for the help.
pub(crate) const KEYS: &str = "\
Keys in a terminal: space pauses and goes on, n begins a new file, s takes a snapshot (with --snapshot-mode), \
q ends the recording.";

#[derive(Args, Debug)]
pub(crate) struct RecordOptions {
    /// Topics, also hidden ones.
    #[arg(value_name = "TOPIC", value_parser = name)]
    pub(crate) topics: Vec<String>,

    /// All topics, services and actions, except for hidden topics.
    #[arg(short, long)]
    pub(crate) all: bool,

    /// All topics, except for hidden ones.
    #[arg(long)]
    pub(crate) all_topics: bool,

    /// The events of all services, as far as their clients and servers publish any.
    #[arg(long)]
    pub(crate) all_services: bool,

    /// Feedback, status and service events of all actions.
    #[arg(long)]
    pub(crate) all_actions: bool,

    /// Topics, as without the option.
    #[arg(long = "topics", value_name = "TOPIC", num_args = 1.., value_parser = name)]
    pub(crate) named_topics: Vec<String>,

    /// Topics of these types, such as sensor_msgs/msg/Image.
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    pub(crate) topic_types: Vec<String>,

    /// The events of these services.
    #[arg(long, value_name = "SERVICE", num_args = 1.., value_parser = name)]
    pub(crate) services: Vec<String>,

    /// Feedback, status and service events of these actions.
    #[arg(long, value_name = "ACTION", num_args = 1.., value_parser = name)]
    pub(crate) actions: Vec<String>,

    /// Topics, services and actions with names in which this regular expression is found.
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub(crate) regex: Option<String>,

    /// None with names in which this regular expression is found.
    #[arg(short = 'x', long, visible_alias = "exclude", value_name = "REGEX")]
    pub(crate) exclude_regex: Option<String>,

    /// None of these topics, services and actions.
    #[arg(long, visible_aliases = ["exclude-services", "exclude-actions"], value_name = "NAME", num_args = 1.., value_parser = name)]
    pub(crate) exclude_topics: Vec<String>,

    /// No topics of these types, unless they are named.
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    pub(crate) exclude_topic_types: Vec<String>,

    /// Hidden topics, too: those with a part that begins with an underscore.
    #[arg(long, visible_alias = "include-hidden")]
    pub(crate) include_hidden_topics: bool,

    /// The directory of the new bag, which must not exist yet [default: rosbag2_ and the time in
    /// UTC].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) files: FileOptions,

    /// The compression of the files, instead of the preset's.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) compression: Option<Compression>,

    /// Threads that compress, for zstd [default: the one that writes].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) compression_threads: Option<u32>,

    /// Keep only this many files: the oldest give way.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_bag_files: Option<u32>,

    /// Bytes that may wait for the disk, or for a snapshot: messages, and about 100 bytes of
    /// bookkeeping for each [default: 104857600].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_cache_size: Option<u64>,

    /// Let publishers wait that are reliable and keep all, each as long as it allows, rather than
    /// lose their messages.
    #[arg(long, conflicts_with = "snapshot_mode")]
    pub(crate) lossless: bool,

    /// Write nothing until a snapshot is asked for: by a key, the service ~/snapshot, or a message;
    /// then the messages of the time before.
    #[arg(long)]
    pub(crate) snapshot_mode: bool,

    /// How far back a snapshot goes, in seconds [default: as the cache has room].
    #[arg(long, visible_alias = "max-cache-duration", value_name = "S", value_parser = seconds, requires = "snapshot_mode")]
    pub(crate) snapshot_duration: Option<Duration>,

    /// A topic with messages that ask for a snapshot.
    #[arg(long, value_name = "TOPIC", value_parser = name, requires = "snapshot_mode")]
    pub(crate) snapshot_trigger: Option<String>,

    /// Begin paused.
    #[arg(long)]
    pub(crate) start_paused: bool,

    /// A text for the metadata. Can be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = custom_data)]
    pub(crate) custom_data: Vec<(String, String)>,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,

    #[command(flatten)]
    pub(crate) session: SessionOptions,
}

/// A compression of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compression {
    None,
    Lz4,
    Zstd,
}

fn custom_data(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| "write it as key=value".to_owned())?;
    Ok((key.to_owned(), value.to_owned()))
}
