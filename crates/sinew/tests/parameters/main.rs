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
use support::{Place, real_context};

/// A node in a context of its own, without other processes.
fn node() -> Node {
    real_context().node("n").unwrap()
}

/// Where the one who asks is: in the node's context, or in another, as another process would be.
#[derive(Clone, Copy)]
enum Path {
    Inside,
    Shm,
}

const PATHS: [Path; 2] = [Path::Inside, Path::Shm];

/// A node that has parameters, another one that asks for them, and where they meet.
struct Pair {
    owner: Node,
    asker: Node,
    _place: Option<Place>,
}

impl Pair {
    fn new(path: Path) -> Self {
        Self::made(path, |context| context.node("owner").unwrap())
    }

    fn made(path: Path, owner: impl FnOnce(&Context) -> Node) -> Self {
        let place = matches!(path, Path::Shm).then(Place::new);
        let context = || place.as_ref().map_or_else(real_context, Place::context);
        let owners = context();
        let askers = if matches!(path, Path::Shm) { context() } else { owners.clone() };
        Self { owner: owner(&owners), asker: askers.node("asker").unwrap(), _place: place }
    }
}

/// What an event tells: `+new`, `~changed` and `-deleted` names.
fn told(event: &ParameterEvent) -> String {
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
