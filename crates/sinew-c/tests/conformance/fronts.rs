//! The front ends: how their programs are compiled, and scenarios that are played with them.

use crate::compilers::{STRICT, cc, checked, cxx, library, root, skipped};
use crate::embedded;
use crate::library::{Functions, choose};
use crate::node::{Context, Node, VirtualClock};
use crate::suite::stage::{Path, Play};
use crate::suite::support::outside::Onlooker;
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// A front end.
pub(crate) struct Front {
    language: &'static str,
    functions: Functions,
    leaves_out: LeftOut,
}

/// Scenarios of which a language has no word, and why.
pub(crate) type LeftOut = &'static [(&'static str, &'static str)];

pub(crate) const LEFT_OUT_IN_CPP: LeftOut = &[(
    "drop_does_not_wait_but_nothing_starts_after_it",
    "destructors of C++ close: they wait for a callback that runs on another thread",
)];

const NO_ROS_TIME: &str = "programs of Python don't set ROS time, nor does a context of theirs follow /clock";

pub(crate) const LEFT_OUT_IN_PYTHON: LeftOut = &[
    ("no_timer_runs_before_the_first_word_of_clock", NO_ROS_TIME),
    ("setting_ros_time_wakes_sleepers", NO_ROS_TIME),
    ("shutdown_ends_every_spin", "executors of Python serve nodes and groups, not a whole context"),
    (
        "messages_that_give_way_during_their_callback_keep_its_place",
        "a spin of Python runs all that is ready before it looks for what has come",
    ),
    ("a_filter_decides_before_anything_is_kept", "subscriptions of Python have no filter"),
    ("a_wait_set_waits_for_a_subscription", "Python has no wait sets"),
    ("ends_that_are_pulled_answer_each_other", "services of Python have a callback"),
    (
        "results_are_called_back_in_the_order_of_the_answers",
        "a future of Python is done on the thread that answers",
    ),
    (
        "an_error_is_reported_unless_it_is_to_stop",
        "a spin raises the exception of the callback, which doesn't name the entity",
    ),
    (
        "drop_does_not_wait_but_nothing_starts_after_it",
        "`destroy` closes: it waits for a callback that runs on another thread",
    ),
    (
        "guard_conditions_count_their_triggers",
        "callbacks of guard conditions don't get the number of triggers",
    ),
    ("timers_follow_their_node_s_clock", "timers of Python don't tell their clock"),
];

/// Those for which there is a compiler: C and C++.
pub(crate) fn compiled() -> &'static [Front] {
    static FRONTS: OnceLock<Vec<Front>> = OnceLock::new();
    FRONTS.get_or_init(|| {
        let none: LeftOut = &[];
        [("C", cc(), "c11", "front.c", none), ("C++", cxx(), "c++17", "front.cpp", LEFT_OUT_IN_CPP)]
            .into_iter()
            .filter(|(_, compiler, ..)| !skipped(compiler))
            .map(|(language, compiler, standard, source, leaves_out)| Front {
                language,
                functions: shared_library(&compiler, standard, source),
                leaves_out,
            })
            .collect()
    })
}

/// That of Python, if there is an interpreter.
pub(crate) fn python() -> &'static [Front] {
    static FRONT: OnceLock<Option<Front>> = OnceLock::new();
    let front = || {
        let functions = embedded::front()?;
        Some(Front { language: "Python", functions, leaves_out: LEFT_OUT_IN_PYTHON })
    };
    FRONT.get_or_init(front).as_slice()
}

/// Compiles a program of `front` into a shared library, and loads it.
fn shared_library(compiler: &str, standard: &str, source: &str) -> Functions {
    let place = tempfile::tempdir().expect("a directory");
    let (program, library) = (place.path().join("front.so"), library());
    let mut compile = Command::new(compiler);
    compile.args(STRICT).arg(format!("-std={standard}")).args(["-g0", "-fPIC", "-shared", "-pthread", "-o"]);
    compile.arg(&program).arg(root().join("tests/conformance/front").join(source));
    compile.arg("-I").arg(root().join("include")).arg("-L").arg(&library).arg("-lsinew_c");
    compile.arg(format!("-Wl,-rpath,{}", library.display()));
    checked(&format!("{source} is compiled"), &compile.output().expect("the compiler runs"));
    Functions::load(&program)
}

/// A path of messages between programs of other languages. A scenario is played with one of these front
/// ends after the other.
pub(crate) struct Elsewhere<P>(pub(crate) P, pub(crate) &'static [fn() -> &'static [Front]]);

impl<P: Path> Path for Elsewhere<P> {
    fn is_apart(&self) -> bool {
        self.0.is_apart()
    }

    fn open(&self, clock: Option<&VirtualClock>) -> (Context, Context) {
        self.0.open(clock)
    }

    fn find_out(&self, sender: &Node, receiver: &Node) {
        self.0.find_out(sender, receiver);
    }

    fn onlooker(&self) -> Onlooker {
        self.0.onlooker()
    }

    fn play(&self, name: &str, scenario: Play) -> sinew::Result<()> {
        self.1.iter().flat_map(|fronts| fronts()).try_for_each(|front| {
            let language = front.language;
            if let Some((_, why)) = front.leaves_out.iter().find(|(left_out, _)| *left_out == name) {
                println!("not through {language}: {why}");
                return Ok(());
            }
            println!("through {language}");
            let scenario = scenario.clone();
            let choosing = move || {
                choose(&front.functions);
                scenario()
            };
            self.0.play(name, Arc::new(choosing))
        })
    }
}
