//! Sinew's scenarios, driven through other languages: the suite of sinew-core, compiled here with
//! this crate in the place of `sinew`. It has the same names, as far as the scenarios use them,
//! over the functions of a front end (`front/front.h`): a program of another language, compiled by
//! its compiler, that does with that language's interface what each function says.
#![allow(dead_code, reason = "the suite and its support use a part of the names")]

extern crate sinew as real;
// In the scenarios, `sinew::` is this crate.
extern crate self as sinew;

mod callback;
mod embedded;
pub(crate) mod event;
mod failure;
mod fronts;
mod library;
#[macro_use]
#[path = "../../../sinew-core/tests/conformance/suite/lists.rs"]
mod lists;
#[path = "../support/mod.rs"]
mod compilers;
mod message;
mod node;
#[path = "../../../sinew-core/tests/conformance/paths.rs"]
mod paths;
mod publisher;
mod runner;
pub(crate) mod service;
mod subscription;
mod suite;
mod timer;

// ---- the names of the library ----

pub(crate) use failure::{Error, Result};
pub(crate) use message::Unique;
pub(crate) use publisher::Publisher;
pub(crate) use real::Service;
pub(crate) use runner::Executor;
pub(crate) use service::Responder;
pub(crate) use timer::GuardCondition;

pub(crate) mod prelude {
    pub(crate) use crate::message::{Message, Unique};
    pub(crate) use crate::node::{Context, Group, Node};
    pub(crate) use crate::runner::Executor;
    pub(crate) use crate::service::Server;
    pub(crate) use crate::subscription::Subscription;
    pub(crate) use crate::timer::Timer;
    pub(crate) use real::QoS;
    pub(crate) use std::time::Duration;
}

pub(crate) mod error {
    pub(crate) use crate::failure::{AddError, CallFailure, PublishFailure, SpinError};
    pub(crate) use real::error::DecodeError;
}

pub(crate) mod executor {
    pub(crate) use crate::runner::{Executable, StopHandle, WaitSet};
    pub(crate) use real::executor::FaultPolicy;
}

pub(crate) mod msg {
    pub(crate) use real::msg::{BufferType, Encoding, TypeHash};
}

pub(crate) mod qos {
    pub(crate) use real::qos::{Liveliness, Policy};
}

pub(crate) mod time {
    pub(crate) use crate::node::VirtualClock;
    pub(crate) use crate::timer::TimerInfo;
    pub(crate) use real::time::{ClockKind, Time};
}

// ---- the tests ----

use fronts::Elsewhere;
use paths::{Intra, Shm};

/// The front ends of all languages.
const ALL: &[fn() -> &'static [fronts::Front]] = &[fronts::compiled, fronts::python];

// Few runners and paths: what they do differently is not of these languages.
conformance! {
    intra over crate::Elsewhere(crate::Intra, crate::ALL), (one_process elsewhere): for_all
    [multi_2 = Threads(2)]
}

conformance! {
    intra_executors over crate::Elsewhere(crate::Intra, crate::ALL), (one_process elsewhere): for_executors
    [single = Threads(1)]
}

conformance! {
    intra_threads over crate::Elsewhere(crate::Intra, crate::ALL), (one_process elsewhere): for_threads
    [multi_2 = Threads(2)]
}

conformance! {
    shm over crate::Elsewhere(crate::Shm, &[crate::fronts::compiled]), (one_host elsewhere): for_all
    [wait_set = Set]
}

// Python has no wait sets.
conformance! {
    shm_python over crate::Elsewhere(crate::Shm, &[crate::fronts::python]), (one_host elsewhere): for_all
    [single = Threads(1)]
}

/// Why scenarios of the lists are not played here, by their words.
const REASONS: [(&str, &str); 4] = [
    ("panics", "no callback panics: it returns a status, whose failures are played"),
    ("futures", "no callback returns a future; answers by a responder are played"),
    ("run_times", "executors don't report the run times of callbacks"),
    ("entities", "some are of Rust alone, such as publishers that are detached"),
];

/// Adds the names of all scenarios of a list.
macro_rules! names {
    (
        $names:ident
        $($topic:ident { $($scenario:ident $([$($holds:tt)*])? $((rust $lacks:ident))?)* })*
    ) => {
        $names.extend([$($(stringify!($scenario)),*),*]);
    };
}

/// Adds the scenarios of a list that are not played here.
macro_rules! left_out {
    (
        $left:ident
        $($topic:ident { $($scenario:ident $([$($holds:tt)*])? $((rust $lacks:ident))?)* })*
    ) => {
        $($($($left.push((stringify!($scenario), stringify!($lacks)));)?)*)*
    };
}

#[test]
#[expect(clippy::vec_init_then_push, reason = "three lists add to it")]
fn what_is_not_played_has_a_reason() {
    let mut left: Vec<(&str, &str)> = Vec::new();
    for_all! { left_out left }
    for_executors! { left_out left }
    for_threads! { left_out left }
    for (scenario, word) in &left {
        let (_, why) = REASONS.iter().find(|(known, _)| known == word).expect("a reason");
        println!("not played: {scenario}: {why}");
    }
    for (word, _) in REASONS {
        assert!(left.iter().any(|(_, other)| *other == word), "{word} is no reason any more");
    }
    let mut names = Vec::new();
    for_all! { names names }
    for_executors! { names names }
    for_threads! { names names }
    for (scenario, _) in fronts::LEFT_OUT_IN_CPP.iter().chain(fronts::LEFT_OUT_IN_PYTHON) {
        assert!(names.contains(scenario), "{scenario} is no scenario any more");
    }
}
