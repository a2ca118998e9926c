//! Parameters: declaring, setting, callbacks, structs, services, events, clients; with ROS 2's rules
//! and words.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod callbacks;
mod declaring;
mod overrides;
mod qos;
mod remote;
mod services;
mod setting;
mod structs;
#[path = "../support/mod.rs"]
mod support;

use sinew::parameters::{NamedValue, ParameterEvent, ParameterValue};
use sinew::prelude::*;
use support::pair::{PATHS, Pair, Path};
use support::real_context;

/// A node in a context of its own, without other processes.
fn node() -> Node {
    real_context().node("n").unwrap()
}

/// Returns the names in an event: `+new`, `~changed` and `-deleted`.
fn changes(event: &ParameterEvent) -> String {
    let parts =
        [('+', &event.new_parameters), ('~', &event.changed_parameters), ('-', &event.deleted_parameters)];
    let names = parts.iter().flat_map(|(mark, all)| all.iter().map(move |one| format!("{mark}{}", one.name)));
    names.collect::<Vec<_>>().join(" ")
}

fn integer(value: i64) -> ParameterValue {
    ParameterValue::Integer(value)
}

fn named(name: &str, value: impl Into<ParameterValue>) -> NamedValue {
    NamedValue::new(name, value)
}
