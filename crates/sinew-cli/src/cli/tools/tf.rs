//! The options of `sinew tf`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::ending_is_one_of;
use crate::cli::place::Where;
use crate::cli::seconds;

#[derive(Args, Debug)]
pub(crate) struct TfOptions {
    #[command(subcommand)]
    pub(crate) command: TfCommand,
}

/// What there is to know of frames.
#[derive(Debug, Subcommand)]
pub(crate) enum TfCommand {
    /// Which frame lies in which, how often and how lately each was told, and by whom. Exit code 1
    /// if frames lie in each other in a circle.
    #[command(visible_aliases = ["frames", "view_frames"])]
    Tree(TreeOptions),
    /// How a frame lies in another one, again and again.
    Echo(TfEchoOptions),
}

#[derive(Args, Debug)]
pub(crate) struct TreeOptions {
    /// What it is drawn in [default: what the file's name ends with, else text].
    #[arg(short = 'T', long, value_enum, conflicts_with = "json")]
    format: Option<TreeFormat>,

    /// The file it is written to; one that is there is replaced [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// How long to listen.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds, default_value = "1")]
    pub(crate) interval: Duration,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON value instead of text.
    #[arg(long)]
    json: bool,
}

impl TreeOptions {
    pub(crate) fn format(&self) -> TreeFormat {
        let ending = self.output.as_ref().and_then(|path| path.extension()?.to_str());
        match (self.json, self.format, ending) {
            (true, ..) => TreeFormat::Json,
            (_, Some(format), _) => format,
            (.., Some("svg")) => TreeFormat::Svg,
            (.., Some("dot" | "gv")) => TreeFormat::Dot,
            (.., Some("json")) => TreeFormat::Json,
            _ => TreeFormat::Text,
        }
    }
}

impl TfCommand {
    /// A file whose name promises something else than what would be in it is refused.
    pub(in crate::cli) fn check(&self) -> Result<(), String> {
        match self {
            Self::Tree(tree) if !tree.json && tree.format.is_none() => {
                ending_is_one_of(tree.output.as_deref(), &["svg", "dot", "gv", "json", "txt"])
            }
            _ => Ok(()),
        }
    }
}

/// How a tree of frames is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// Lines for a terminal.
    Text,
    /// The language of Graphviz: `sinew tf tree -T dot | dot -Tpdf > frames.pdf`.
    Dot,
    /// A picture for browsers, in one file, for light and dark pages.
    Svg,
    /// For programs, as --json.
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct TfEchoOptions {
    /// The frame in which it lies: tf2's target.
    pub(crate) reference: String,

    /// The frame that is looked for: tf2's source.
    pub(crate) frame: String,

    /// How often a second.
    #[arg(short, long, value_name = "HZ", value_parser = rate, default_value = "1")]
    pub(crate) rate: f64,

    /// End after so many.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<u64>,

    #[command(flatten)]
    pub(crate) place: Where,

    /// A JSON object for each.
    #[arg(long)]
    pub(crate) json: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    if (0.001..=1000.0).contains(&rate) {
        Ok(rate)
    } else {
        Err("a rate is from 0.001 to 1000 Hz".to_owned())
    }
}
