//! The options for the files of a bag that is written: named as in `ros2 bag`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sinew_bag::StoragePreset;
use sinew_bench::options::seconds;

/// How a bag's files are written.
#[derive(Args, Debug)]
pub(crate) struct FileOptions {
    /// A preset for the files: none, fastwrite (no chunks, so no index), zstd_fast or zstd_small.
    #[arg(long, value_name = "PRESET", value_parser = preset, default_value = "none")]
    pub(crate) storage_preset_profile: StoragePreset,

    /// Storage options in YAML, which change those of the preset.
    #[arg(long, value_name = "FILE")]
    pub(crate) storage_config_file: Option<PathBuf>,

    /// Begin a new file when one is this long, in bytes [default: one file].
    #[arg(short = 'b', long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_bag_size: Option<u64>,

    /// Begin a new file when one has messages of this time, in seconds [default: one file].
    #[arg(short = 'd', long, value_name = "S", value_parser = seconds)]
    pub(crate) max_bag_duration: Option<Duration>,

    /// The version of the bag's metadata: 9, or 8 for tools of ROS 2 before Jazzy.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=9), default_value = "9")]
    pub(crate) metadata_version: u32,
}

fn preset(name: &str) -> Result<StoragePreset, String> {
    name.parse().map_err(|error: sinew_bag::BagError| error.to_string())
}
