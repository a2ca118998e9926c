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

const NO_VIRTUAL_TIME: &str = "Python has no virtual clock";
const NO_ROS_TIME: &str = "programs of Python don't set ROS time, nor does a context of theirs follow /clock";
const NO_STATISTICS: &str = "endpoints of Python have no statistics";
const NO_GROUPS: &str = "groups of Python have no priority, don't pause, and run where their node runs";
const NO_LIMITS: &str = "a QoS of Python has no limit of samples";

pub(crate) const LEFT_OUT_IN_PYTHON: LeftOut = &[
    ("a_manual_publisher_lapses_without_a_message", NO_VIRTUAL_TIME),
    ("a_manual_publisher_lapses_without_an_assertion", NO_VIRTUAL_TIME),
    ("a_missed_deadline_notifies_both_ends", NO_VIRTUAL_TIME),
    ("an_automatic_publisher_is_alive_while_it_exists", NO_VIRTUAL_TIME),
    ("another_runner_takes_over_what_waits", NO_VIRTUAL_TIME),
    ("a_message_whose_lifespan_is_over_is_not_called_for", NO_VIRTUAL_TIME),
    ("entities_may_be_dropped_and_closed_in_their_own_callbacks", NO_VIRTUAL_TIME),
    ("entities_may_be_made_in_callbacks", NO_VIRTUAL_TIME),
    ("what_an_earlier_callback_drops_does_not_run", NO_VIRTUAL_TIME),
    ("a_cancelled_timer_does_not_run_until_it_is_reset", NO_VIRTUAL_TIME),
    ("a_timer_is_due_at_multiples_of_its_period", NO_VIRTUAL_TIME),
    ("a_timer_that_cannot_keep_up_skips", NO_VIRTUAL_TIME),
    ("an_expiry_that_waits_does_not_run_if_its_timer_is_cancelled_or_reset", NO_VIRTUAL_TIME),
    ("timers_and_messages_run_by_due_time_and_time_of_publication", NO_VIRTUAL_TIME),
    ("virtual_time_wakes_whoever_sleeps", NO_VIRTUAL_TIME),
    ("no_timer_runs_before_the_first_word_of_clock", NO_ROS_TIME),
    ("setting_ros_time_wakes_whoever_sleeps", NO_ROS_TIME),
    ("all_paths_feed_one_history", NO_STATISTICS),
    ("callbacks_of_a_reentrant_group_run_once_for_each_message", NO_STATISTICS),
    ("two_runners_wake_each_other_and_lose_nothing", NO_STATISTICS),
    ("joining_while_others_publish_leaves_no_gap", NO_STATISTICS),
    ("keep_last_holds_its_depth", NO_STATISTICS),
    ("a_subscription_gets_its_messages_in_order_while_they_are_published", NO_STATISTICS),
    ("messages_that_give_way_during_their_callback_keep_its_place", NO_STATISTICS),
    ("a_request_that_finds_the_queue_full_is_refused", NO_STATISTICS),
    ("every_call_of_many_threads_is_answered_once", NO_STATISTICS),
    ("groups_of_one_node_run_in_different_runners", NO_GROUPS),
    ("a_priority_may_be_changed_while_messages_wait", NO_GROUPS),
    ("higher_priorities_begin_first", NO_GROUPS),
    ("a_group_pauses_itself", NO_GROUPS),
    ("a_paused_group_moves_between_runners", NO_GROUPS),
    ("a_paused_group_runs_nothing_and_goes_on_afresh", NO_GROUPS),
    ("what_joins_a_paused_group_waits_with_it", NO_GROUPS),
    ("shutdown_ends_every_spin", NO_GROUPS),
    ("keep_all_refuses_what_it_has_no_room_for", NO_LIMITS),
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
    ("something_can_be_added_while_it_spins", NO_GROUPS),
    ("pausing_waits_for_the_callback_that_runs", NO_GROUPS),
    ("spin_until_is_woken_from_a_callback", NO_STATISTICS),
    ("a_publisher_waits_for_room", NO_LIMITS),
    ("a_callback_waits_for_another_runner", NO_LIMITS),
    ("a_callback_cannot_wait_for_its_own_group", NO_LIMITS),
    ("a_callback_waits_for_another_group_if_there_is_another_thread", NO_LIMITS),
    ("the_last_thread_does_not_wait", NO_LIMITS),
    ("of_two_runners_that_would_wait_for_each_other_one_gets_an_error", NO_LIMITS),
    ("the_thread_that_ran_the_callbacks_cannot_wait_for_them", NO_LIMITS),
    ("a_waiting_callback_goes_on_when_the_subscription_goes", NO_LIMITS),
    ("a_message_without_room_comes_back", NO_LIMITS),
    ("whoever_takes_lets_a_waiting_publisher_go_on", NO_LIMITS),
    ("groups_that_pause_each_other_do_not_wait_for_ever", NO_GROUPS),
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
