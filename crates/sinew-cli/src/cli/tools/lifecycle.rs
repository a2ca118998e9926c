//! The options of `sinew lifecycle`.

use std::time::Duration;

use clap::{Args, Subcommand};
use sinew_bench::options::seconds;
use sinew_lifecycle::Transition;

use crate::cli::place::{Where, name};

#[derive(Args, Debug)]
pub(crate) struct LifecycleOptions {
    #[command(subcommand)]
    pub(crate) command: LifecycleCommand,
}

/// Commands for managed nodes.
#[derive(Debug, Subcommand)]
pub(crate) enum LifecycleCommand {
    /// List all managed nodes.
    Nodes(ManagedNodesOptions),
    /// Print the state of a node, or of all nodes.
    Get(GetStateOptions),
    /// List the transitions that may begin now, or all transitions.
    List(TransitionsOptions),
    /// Trigger a transition of a node: configure, activate, deactivate, cleanup or shutdown.
    Set(SetStateOptions),
}

#[derive(Args, Debug)]
pub(crate) struct ManagedNodesOptions {
    #[command(flatten)]
    pub(crate) asking: Asking,

    /// Print only their number.
    #[arg(short, long)]
    pub(crate) count_nodes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct GetStateOptions {
    /// Its full name; the leading `/` may be left out [default: all].
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: Option<String>,

    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Args, Debug)]
pub(crate) struct TransitionsOptions {
    /// Its full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// All transitions, not only those that may begin now.
    #[arg(short, long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) asking: Asking,
}

#[derive(Args, Debug)]
pub(crate) struct SetStateOptions {
    /// Its full name; the leading `/` may be left out.
    #[arg(value_name = "NODE", value_parser = name)]
    pub(crate) node: String,

    /// The transition: its label, or its number.
    #[arg(value_name = "TRANSITION", value_parser = transition)]
    pub(crate) transition: Transition,

    #[command(flatten)]
    pub(crate) asking: Asking,
}

/// The options of requests: domain, timeout and output.
#[derive(Args, Debug)]
pub(crate) struct Asking {
    /// Longest wait for a node's answer; a transition has to be finished by then.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seconds, default_value = "10")]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) place: Where,

    /// One JSON value instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a label or a number, as `ros2 lifecycle set` takes both.
fn transition(text: &str) -> Result<Transition, String> {
    let numbered = match text {
        "1" => Some(Transition::Configure),
        "2" => Some(Transition::Cleanup),
        "3" => Some(Transition::Activate),
        "4" => Some(Transition::Deactivate),
        "5" | "6" | "7" => Some(Transition::Shutdown), // one number for each state
        _ => None,
    };
    numbered.or_else(|| Transition::from_label(text)).ok_or_else(|| {
        let labels = Transition::ALL.map(Transition::label);
        format!("no transition is called that; there are {}", labels.join(", "))
    })
}
