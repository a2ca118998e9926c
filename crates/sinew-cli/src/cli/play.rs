//! The options of `sinew bag play`: named as in `ros2 bag play` where that has them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::bag_session::SessionOptions;
use super::place::{name, topic};

/// Keys, for the help.
pub(crate) const KEYS: &str = "\
Keys in a terminal: space pauses and goes on, right plays the next message, up and down change the rate by a tenth, \
left goes back by 5 s, page up and page down by 30 s back and forth, home to the beginning, q ends it.";

#[derive(Args, Debug)]
pub(crate) struct PlayOptions {
    /// The bags: directories, or MCAP files. Several are merged in time.
    #[arg(value_name = "BAG", required = true)]
    pub(crate) bags: Vec<PathBuf>,

    /// How fast: 2 is twice as fast as recorded.
    #[arg(short, long, value_name = "RATE", default_value = "1", value_parser = rate)]
    pub(crate) rate: f64,

    /// Publish each message as soon as the one before is published.
    #[arg(long, conflicts_with = "rate")]
    pub(crate) as_fast_as_possible: bool,

    /// Only these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_parser = name)]
    pub(crate) topics: Vec<String>,

    /// Also, or only, topics with names in which this regular expression is found.
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub(crate) regex: Option<String>,

    /// None of these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_parser = name)]
    pub(crate) exclude_topics: Vec<String>,

    /// No topics with names in which this regular expression is found.
    #[arg(short = 'x', long, value_name = "REGEX")]
    pub(crate) exclude_regex: Option<String>,

    /// Publish a topic under another name, such as /scan:=/recorded/scan.
    #[arg(short = 'm', long, value_name = "OLD:=NEW", num_args = 1.., value_parser = renaming)]
    pub(crate) remap: Vec<(String, String)>,

    /// The order of messages: as they were received, or as they were sent.
    #[arg(long, value_name = "ORDER", default_value = "received")]
    pub(crate) message_order: Order,

    /// Begin again at the end, until Ctrl-C.
    #[arg(short, long)]
    pub(crate) r#loop: bool,

    /// At the end, wait for the service ~/play or a seek, until Ctrl-C.
    #[arg(long)]
    pub(crate) stay_at_end: bool,

    /// Begin this much after the first message, in seconds.
    #[arg(long, value_name = "S", value_parser = offset)]
    pub(crate) start_offset: Option<Duration>,

    /// Play this much of the bag's time, in seconds [default: up to the end].
    #[arg(long, value_name = "S", value_parser = offset)]
    pub(crate) playback_duration: Option<Duration>,

    /// Play up to this time, in seconds since the epoch [default: up to the end].
    #[arg(long, value_name = "S", value_parser = timestamp, conflicts_with = "playback_until_nsec")]
    pub(crate) playback_until_sec: Option<u64>,

    /// Play up to this time, in nanoseconds since the epoch.
    #[arg(long, value_name = "NS")]
    pub(crate) playback_until_nsec: Option<u64>,

    /// Begin with a pause.
    #[arg(short = 'p', long)]
    pub(crate) start_paused: bool,

    /// Publish the time of the bag on /clock, that often a second.
    #[arg(long, value_name = "HZ", num_args = 0..=1, default_missing_value = "40")]
    pub(crate) clock: Option<f64>,

    /// Publish the time on /clock with each message.
    #[arg(long, conflicts_with = "clock")]
    pub(crate) clock_topics_all: bool,

    /// Wait this long before the first message, in seconds.
    #[arg(short, long, value_name = "S", value_parser = offset)]
    pub(crate) delay: Option<Duration>,

    /// Wait until each topic has a subscription, this long at most, in seconds.
    #[arg(long, value_name = "S", value_parser = offset)]
    pub(crate) wait_for_subscribers: Option<Duration>,

    /// Wait at the end until all messages are read, this long at most, in milliseconds; 0: without
    /// a limit.
    #[arg(long, value_name = "MS")]
    pub(crate) wait_for_all_acked: Option<u64>,

    /// Wait for slow readers instead of losing messages.
    #[arg(long)]
    pub(crate) lossless: bool,

    #[command(flatten)]
    pub(crate) session: SessionOptions,
}

/// The order in which messages are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    Received,
    Sent,
}

pub(super) fn offset(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{text} is no number of seconds from 0"))
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    number.ok_or_else(|| "must be a number above 0".to_owned())
}

fn renaming(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once(":=").ok_or("must be OLD:=NEW, such as /scan:=/recorded/scan")?;
    Ok((name(from)?, topic(to)?))
}

/// Parses seconds with up to nine decimals.
fn timestamp(text: &str) -> Result<u64, String> {
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let nanoseconds = || {
        let decimals: u64 = format!("{decimals:0<9}").parse().ok()?;
        seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(decimals)
    };
    let time = (is_number(seconds) && is_number(decimals) && decimals.len() <= 9).then(nanoseconds).flatten();
    time.ok_or_else(|| format!("{text} is no time in seconds since the epoch"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_nanoseconds() {
        assert_eq!(timestamp("1700000000.000000001"), Ok(1_700_000_000_000_000_001));
        assert_eq!((timestamp("7"), timestamp("7.5")), (Ok(7_000_000_000), Ok(7_500_000_000)));
        for wrong in ["", "-1", "1e9", "1.0000000001", "x", "99999999999999"] {
            assert!(timestamp(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_renamed() {
        assert_eq!(renaming("/a:=b/c"), Ok(("/a".to_owned(), "/b/c".to_owned())));
        assert!(renaming("/a").is_err() && renaming("/a:=b c").is_err());
    }
}
