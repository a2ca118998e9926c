//! The options of `sinew view`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::interfaces::DefinitionOptions;
use super::tools::Where;

/// Permissions of viewers besides looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Permission {
    /// Publish messages.
    Publish,
    /// Call services.
    Services,
    /// Set parameters.
    Parameters,
}

#[derive(Args, Debug)]
pub(crate) struct ViewOptions {
    /// Play these bags, which viewers control, instead of showing programs that run. No program
    /// gets their messages.
    #[arg(value_name = "BAG")]
    pub(crate) bags: Vec<PathBuf>,

    /// How fast to play: 2 is twice as fast as recorded.
    #[arg(short, long, value_name = "RATE", default_value = "1", value_parser = rate, requires = "bags")]
    pub(crate) rate: f64,

    /// Play from the beginning again at the end.
    #[arg(short, long, requires = "bags")]
    pub(crate) r#loop: bool,

    /// Begin with a pause.
    #[arg(short = 'p', long, requires = "bags")]
    pub(crate) start_paused: bool,

    #[command(flatten)]
    pub(crate) place: Where,

    /// The port.
    #[arg(long, value_name = "PORT", default_value_t = 8765)]
    pub(crate) port: u16,

    /// The address to listen on: that of this host's interface to other hosts, or 0.0.0.0 for all.
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into())]
    pub(crate) address: IpAddr,

    /// Show only matching topics: /camera/**, where * is a part of a word and ** any number of
    /// words. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) topics: Vec<String>,

    /// Don't show matching topics. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Show only matching services. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) services: Vec<String>,

    /// Show only matching parameters, by names such as /camera.rate. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) params: Vec<String>,

    /// Also show topics and services of which a part begins with an underscore.
    #[arg(long)]
    pub(crate) include_hidden: bool,

    /// Let viewers do more than look. They may always read parameters.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) allow: Vec<Permission>,

    /// Let in only viewers with this token: ws://HOST:PORT/?token=TOKEN. Others on this host can
    /// read it in the list of processes; $SINEW_VIEW_TOKEN they can't.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// Let in only web pages of this origin, such as https://app.foxglove.dev, and programs. May be
    /// given several times.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,

    /// Send at most this many messages of a topic per second, for slow links. Topics with retained
    /// messages have no limit.
    #[arg(long, value_name = "HZ", value_parser = rate)]
    pub(crate) max_rate: Option<f64>,

    /// Number of messages of a topic that wait for a slow viewer; then the newest win.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) depth: u16,

    /// Also offer images as JPEG, on TOPIC/compressed, scaled down to at most this many pixels in a
    /// row: for slow links.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) image_width: Option<u16>,

    /// Quality of these JPEGs, from 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 80, requires = "image_width",
        value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) image_quality: u8,

    /// Let viewers read files of packages, such as meshes, below this directory: those of
    /// package://arm/.. in DIR/arm or DIR/share/arm. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) assets: Vec<PathBuf>,

    /// Give viewers the time of /clock.
    #[arg(long, conflicts_with = "bags")]
    pub(crate) use_sim_time: bool,

    #[command(flatten)]
    pub(crate) definitions: DefinitionOptions,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if rate.is_finite() && rate > 0.0 { Ok(rate) } else { Err("must be more than 0".to_owned()) }
}
