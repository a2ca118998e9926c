//! The options that recording and playing have in common: named as in `ros2 bag`.

use std::path::PathBuf;

use clap::Args;

use super::place::Where;

/// How a recorder or a player takes part in a domain, and shows what it does.
#[derive(Args, Debug)]
pub(crate) struct SessionOptions {
    /// The QoS of topics, in YAML, instead of the one that their publishers offer, or offered.
    #[arg(long, value_name = "FILE")]
    pub(crate) qos_profile_overrides_path: Option<PathBuf>,

    /// The name of the node [default: rosbag2_recorder or rosbag2_player].
    #[arg(long, value_name = "NAME")]
    pub(crate) node_name: Option<String>,

    /// Read no keys, and print a line each second instead of a screen.
    #[arg(long)]
    pub(crate) disable_keyboard_controls: bool,

    /// A JSON object each second, and one at the end.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: Where,
}

impl SessionOptions {
    /// Whether a terminal shows a screen.
    pub(crate) fn has_screen(&self) -> bool {
        !self.json && !self.disable_keyboard_controls
    }
}
