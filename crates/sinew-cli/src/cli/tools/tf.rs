//! The options of `sinew tf`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use sinew_bench::options::seconds;

use super::ending_is_one_of;
use crate::cli::place::Where;

#[derive(Args, Debug)]
pub(crate) struct TfOptions {
    #[command(subcommand)]
    pub(crate) command: TfCommand,
}

/// Commands for frames.
#[derive(Debug, Subcommand)]
pub(crate) enum TfCommand {
    /// Show the tree of frames with the rate, the age and the publisher of each transform. Exit
    /// code 1 if frames form a circle.
    #[command(visible_aliases = ["frames", "view_frames"])]
    Tree(TreeOptions),
    /// Print the transform from one frame to another, repeatedly.
    Echo(TfEchoOptions),
}

#[derive(Args, Debug)]
pub(crate) struct TreeOptions {
    /// The format [default: by the file's extension, else text].
    #[arg(short = 'T', long, value_enum, conflicts_with = "json")]
    format: Option<TreeFormat>,

    /// The file to write; an existing one is replaced [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Time to listen.
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
    /// Rejects a file with an extension that doesn't fit the format.
    pub(in crate::cli) fn check(&self) -> Result<(), String> {
        match self {
            Self::Tree(tree) if !tree.json && tree.format.is_none() => {
                ending_is_one_of(tree.output.as_deref(), &["svg", "dot", "gv", "json", "txt"])
            }
            _ => Ok(()),
        }
    }
}

/// The format of a tree of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// Lines for a terminal.
    Text,
    /// The language of Graphviz: `sinew tf tree -T dot | dot -Tpdf > frames.pdf`.
    Dot,
    /// A picture for browsers, in one file, for light and dark pages.
    Svg,
    /// JSON for programs, as --json.
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct TfEchoOptions {
    /// The reference frame: tf2's target.
    pub(crate) reference: String,

    /// The frame to locate: tf2's source.
    pub(crate) frame: String,

    /// Transforms per second.
    #[arg(short, long, value_name = "HZ", value_parser = rate, default_value = "1")]
    pub(crate) rate: f64,

    /// End after this many transforms.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<u64>,

    #[command(flatten)]
    pub(crate) place: Where,

    /// Print each transform as a JSON object.
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
