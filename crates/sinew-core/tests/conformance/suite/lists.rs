//! The scenarios by their names, and what makes tests of them.

/// Makes a test of each scenario of a list that holds as far as the path reaches (`one_process`,
/// `one_host` or `network`), for each runner. `(one_host elsewhere)`: only of scenarios of which
/// another language has a word.
macro_rules! conformance {
    ($module:ident over $path:expr, $reach:tt: $list:ident [$($runner:ident = $kind:expr),* $(,)?]) => {
        mod $module {
            $(mod $runner {
                use crate::suite::stage::{Kind::*, Setting};
                use std::sync::Arc;

                $list! { tests ($reach, $kind, $path) }
            })*
        }
    };
}

/// What [`conformance!`] does with a list.
macro_rules! tests {
    (
        $arguments:tt
        $($topic:ident { $($scenario:ident $([$($holds:tt)*])? $((rust $lacks:ident))?)* })*
    ) => {
        $(mod $topic {
            #[allow(unused_imports, reason = "perhaps none of these holds")]
            use super::*;

            $(tests! { @test $arguments $topic $scenario [$($($holds)*)?] [$($lacks)?] })*
        })*
    };
    (@test (($reach:ident elsewhere), $($other:tt)*) $topic:ident $scenario:ident $holds:tt [$lacks:ident]) => {};
    (@test (($reach:ident elsewhere), $($other:tt)*) $topic:ident $scenario:ident $holds:tt []) => {
        tests! { @test ($reach, $($other)*) $topic $scenario $holds [] }
    };
    (@test (network, $($other:tt)*) $topic:ident $scenario:ident [one_host $why:ident] $lacks:tt) => {};
    (@test (network, $($other:tt)*) $topic:ident $scenario:ident [one_process] $lacks:tt) => {};
    (@test (one_host, $($other:tt)*) $topic:ident $scenario:ident [one_process] $lacks:tt) => {};
    (@test (one_process, $($other:tt)*) $topic:ident $scenario:ident [apart] $lacks:tt) => {};
    (@test ($reach:ident, $kind:expr, $path:expr) $topic:ident $scenario:ident $holds:tt $lacks:tt) => {
        #[test]
        fn $scenario() -> sinew::Result<()> {
            let setting = Setting { kind: $kind, path: &$path };
            let scenario = move || crate::suite::$topic::$scenario(setting);
            setting.path.play(stringify!($scenario), Arc::new(scenario))
        }
    };
}

/// For whatever runs callbacks.
macro_rules! for_all {
    ($with:ident $arguments:tt) => {
        $with! {
            $arguments
            order {
                a_subscription_gets_its_messages_in_order_while_they_are_published
                messages_of_one_group_run_in_the_order_of_their_publication [one_host topics]
                messages_of_many_groups_begin_in_the_order_of_their_publication [one_host topics]
                each_group_keeps_the_order_and_one_thread_keeps_it_over_all [one_host topics]
                higher_priorities_begin_first
                a_priority_may_be_changed_while_messages_wait
                what_a_callback_publishes_comes_behind_what_waits_already [one_host topics]
                a_topic_that_overwrites_itself_keeps_its_place [one_host place]
                messages_that_give_way_during_their_callback_keep_its_place [one_host place]
                a_topic_that_feeds_itself_leaves_the_others_their_turn [one_host topics]
                nothing_is_lost_between_many_publishers_and_groups
            }
            groups {
                callbacks_of_an_exclusive_group_never_overlap
                callbacks_of_a_reentrant_group_run_once_for_each_message
                groups_of_one_node_run_in_different_runners
                another_runner_takes_over_what_waits
                two_runners_wake_each_other_and_lose_nothing
                a_context_brings_what_is_still_to_come
            }
            pauses {
                a_paused_group_runs_nothing_and_goes_on_afresh [one_host topics]
                what_joins_a_paused_group_waits_with_it
                a_group_pauses_itself
                a_paused_group_moves_between_runners
            }
            events {
                ends_that_do_not_match_are_both_notified_why
                ends_of_different_types_are_both_notified_of_the_types
                a_missed_deadline_notifies_both_ends
                an_automatic_publisher_is_alive_while_it_exists
                a_manual_publisher_lapses_without_a_message
                a_manual_publisher_lapses_without_an_assertion [one_host assertions]
                displaced_messages_are_counted_and_notified
                a_filter_decides_before_anything_is_kept
                own_publications_can_be_ignored
                all_paths_feed_one_history
                buffers_of_all_kinds_get_everything
            }
            hands {
                what_was_published_can_be_taken
                messages_can_be_held_while_newer_ones_come
                a_task_is_woken_for_each_message
                a_stream_brings_what_waits_and_what_comes
                a_listener_is_notified_of_each_message
                a_wait_set_waits_for_a_subscription
                a_group_moves_between_runners_and_loses_nothing
            }
            histories {
                keep_last_holds_its_depth
                keep_all_refuses_what_it_has_no_room_for
                a_late_joiner_gets_what_was_kept_and_nothing_twice
                joining_while_others_publish_leaves_no_gap
                a_message_whose_lifespan_is_over_is_not_called_for
                matched_events_add_up
                a_subscription_is_notified_when_a_publisher_goes
                who_takes_by_hand_takes_from_the_callback
            }
            pressure {
                a_publisher_waits_for_room [one_host room]
                a_callback_waits_for_another_runner [one_host room]
                a_callback_cannot_wait_for_its_own_group [one_process]
                a_callback_waits_for_another_group_if_there_is_another_thread [one_process]
                the_last_thread_does_not_wait [one_process]
                of_two_runners_that_would_wait_for_each_other_one_gets_an_error [one_process]
                the_thread_that_ran_the_callbacks_cannot_wait_for_them [one_process]
                a_waiting_callback_goes_on_when_the_subscription_goes
                a_message_without_room_comes_back [one_host room]
                a_taker_lets_a_waiting_publisher_go_on [one_host room]
            }
            services {
                requests_of_all_clients_are_answered_in_the_order_of_the_calls [one_host clients]
                a_chain_of_blocking_calls_is_answered
                servers_that_call_each_other_get_an_error
                a_server_in_another_runner_is_waited_for
                of_two_runners_that_would_call_each_other_one_gets_an_error [one_process]
                every_call_of_many_threads_is_answered_once
                answers_may_be_given_later_and_by_others
                a_server_that_goes_fails_its_calls_and_the_next_takes_over
                a_panic_reaches_the_caller_and_the_runner (rust panics)
                results_are_called_back_in_the_order_of_the_answers
                a_request_that_finds_the_queue_full_is_refused
                a_call_that_was_given_up_is_in_nobodys_way
                a_client_that_goes_leaves_the_others_served
                a_server_that_asks_its_caller_is_not_stuck
                ends_that_are_pulled_answer_each_other
            }
            time {
                a_timer_is_due_at_multiples_of_its_period
                a_timer_that_cannot_keep_up_skips
                a_cancelled_timer_does_not_run_until_it_is_reset
                an_expiry_that_waits_does_not_run_if_its_timer_is_cancelled_or_reset
                timers_and_messages_run_by_due_time_and_time_of_publication
                timers_of_all_clocks_run_in_real_time
                setting_ros_time_wakes_sleepers
                virtual_time_wakes_sleepers
                timers_follow_their_node_s_clock
                no_timer_runs_before_the_first_word_of_clock
            }
            lifetime {
                guard_conditions_count_their_triggers
                a_guard_condition_may_trigger_itself [one_host place]
                a_sleeping_runner_wakes_for_whatever_becomes_ready
                entities_may_be_dropped_and_closed_in_their_own_callbacks
                what_an_earlier_callback_drops_does_not_run
                entities_may_be_made_in_callbacks
                entities_come_and_go_while_others_publish
                close_waits_for_a_callback_that_runs
                drop_does_not_wait_but_nothing_starts_after_it
                close_of_something_idle_returns_at_once
                nothing_is_left_behind
            }
            rust_only {
                a_chain_of_asynchronous_calls_is_answered (rust futures)
            }
            nodes {
                a_node_is_listed_as_long_as_anything_of_it_is_there [apart] (rust entities)
                what_is_detached_goes_on_until_its_context_is_shut_down (rust entities)
            }
            faults {
                a_panic_stops_the_spin_and_the_next_one_goes_on_with_the_rest (rust panics)
                a_panic_that_is_only_reported_lets_the_rest_go_on (rust panics)
                an_error_is_reported_unless_it_is_to_stop
                who_is_busy_cannot_be_spun_again
                a_callback_may_spin_another_runner
            }
            stopping {
                a_stop_from_another_thread_ends_the_spin
                a_stop_before_the_spin_counts_once
                a_stop_from_a_callback_lets_that_one_finish
                shutdown_ends_every_spin
                shutdown_in_a_callback_ends_the_spin_after_it
            }
        }
    };
}

/// What takes an `Executor`.
macro_rules! for_executors {
    ($with:ident $arguments:tt) => {
        $with! {
            $arguments
            stopping {
                spin_until_is_woken_from_another_thread
                spin_until_is_woken_from_a_callback
                spin_until_says_so_if_it_was_stopped
            }
            rust_only {
                run_times_add_up (rust run_times)
            }
            groups {
                something_can_be_added_while_it_spins
            }
            hands {
                its_descriptor_is_readable_when_something_came
            }
        }
    };
}

/// What takes two threads.
macro_rules! for_threads {
    ($with:ident $arguments:tt) => {
        $with! {
            $arguments
            groups {
                reentrant_callbacks_overlap
                exclusive_groups_overlap
            }
            pauses {
                pausing_waits_for_the_callback_that_runs
                groups_that_pause_each_other_do_not_wait_for_ever
            }
            hands {
                what_comes_while_a_thread_is_busy_is_handled_by_another
            }
            faults {
                a_panic_on_another_thread_is_returned (rust panics)
            }
        }
    };
}
