//! The options of `sinew param`: named as in `ros2 param`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use sinew_bench::options::seconds;

use super::place::{Where, name};

#[derive(Args, Debug)]
pub(crate) struct ParamOptions {
    #[command(subcommand)]
    pub(crate) command: ParamCommand,
}

/// Commands for the parameters of nodes. Each takes part in the domain, as a node that sends
/// requests.
#[derive(Debug, Subcommand)]
pub(crate) enum ParamCommand {
    /// List the parameters of a node, or of all nodes.
    List(ListOptions),
    /// Print the value of a parameter.
    Get(GetOptions),
    /// Set a parameter. The value is written as in YAML; an integer becomes a double, and any word
    /// a text, if the parameter has that type.
    Set(SetOptions),
    /// Delete a parameter with dynamic typing.
    Delete(DeleteOptions),
    /// Describe parameters: type, description, range.
    Describe(DescribeOptions),
    /// Print all parameters of a node with their values, as a parameter file.
    Dump(NodeOptions),
    /// Set the parameters of a node from a parameter file, one after the other.
    Load(LoadOptions),
}

/// Common options.
#[derive(Args, Debug)]
pub(crate) struct AskOptions {
    /// Longest wait for a node.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds, default_value = "5")]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON value instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ListOptions {
    /// The node's full name; the leading `/` may be left out [default: all nodes].
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: Option<String>,

    /// Only these parameters and those below them. Can be given several times.
    #[arg(long = "param-prefixes", alias = "prefix", value_name = "PREFIX", num_args = 1..)]
    pub(crate) prefixes: Vec<String>,

    /// Also print the names of their types.
    #[arg(long = "param-type", visible_alias = "show-types")]
    pub(crate) types: bool,

    /// Also hidden nodes: those with a part that begins with `_`.
    #[arg(short, long, visible_alias = "include-hidden-nodes")]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) ask: AskOptions,
}

#[derive(Args, Debug)]
pub(crate) struct NodeOptions {
    /// The node's full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    #[command(flatten)]
    pub(crate) ask: AskOptions,
}

#[derive(Args, Debug)]
pub(crate) struct GetOptions {
    /// The node's full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// The parameter.
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameter: String,

    /// Only the value, without its type.
    #[arg(long)]
    pub(crate) hide_type: bool,

    #[command(flatten)]
    pub(crate) ask: AskOptions,
}

#[derive(Args, Debug)]
pub(crate) struct SetOptions {
    /// The node's full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// The parameter.
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameter: String,

    /// Its value, such as 1.5, true, text or [1, 2].
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,

    #[command(flatten)]
    pub(crate) ask: AskOptions,
}

#[derive(Args, Debug)]
pub(crate) struct DeleteOptions {
    /// The node's full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// The parameter.
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameter: String,

    #[command(flatten)]
    pub(crate) ask: AskOptions,
}

#[derive(Args, Debug)]
pub(crate) struct DescribeOptions {
    /// The node's full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// The parameters [default: all].
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameters: Vec<String>,

    #[command(flatten)]
    pub(crate) ask: AskOptions,
}

#[derive(Args, Debug)]
pub(crate) struct LoadOptions {
    /// The node's full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// The parameter file. Only its values for this node count.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) ask: AskOptions,
}
