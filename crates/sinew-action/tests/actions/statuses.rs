//! The states of hundreds of goals, on the status topic.

use crate::on_both_paths;
use crate::world::{PATIENCE, World, sent};
use sinew::prelude::*;
use sinew::time::Time;
use sinew_action::{ActionServer, Actions, ExecutingGoal};
use sinew_interfaces::action_msgs::msg::GoalStatusArray;
use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciResult};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

on_both_paths![leave_in_few_arrays, are_told_while_a_goal_holds_the_executor];

/// More goals than are published one by one.
const GOALS: i32 = 300;

/// Number of goals up to which each change publishes an array at once.
const AT_ONCE: usize = 64;

const EXECUTING: i8 = 2;
const SUCCEEDED: i8 = 4;

fn topic(world: &World) -> Subscription<GoalStatusArray> {
    let qos = QoS::new().keep_last(10_000).reliable().transient_local();
    world.client.subscription("fibonacci/_action/status").qos(qos).create().unwrap()
}

/// Waits for an array in which `count` goals have the wanted state, without an executor; returns
/// how many arrays came.
#[track_caller]
fn until_all_are(statuses: &Subscription<GoalStatusArray>, wanted: i8, count: i32) -> usize {
    let begin = Time::steady();
    let mut came = 0;
    loop {
        while let Some((array, _)) = statuses.take() {
            came += 1;
            let so = array.status_list.iter().filter(|entry| entry.status == wanted).count();
            if so == count.unsigned_abs() as usize {
                return came;
            }
        }
        assert!(Time::steady() - begin < PATIENCE, "they never are");
        std::thread::yield_now();
    }
}

fn leave_in_few_arrays(world: &World) {
    let statuses = topic(world);
    let (_server, goals) = world.serve();
    let client = world.client();
    let begin = Time::steady();
    let handles: Vec<_> = (0..GOALS).map(|number| sent(&client, number)).collect();
    let mut came = until_all_are(&statuses, EXECUTING, GOALS);
    let executing: Vec<_> = handles.iter().map(|_| world.next(&goals)).collect();
    for goal in executing {
        goal.succeed(FibonacciResult::default()).unwrap();
    }
    came += until_all_are(&statuses, SUCCEEDED, GOALS);
    // Beyond that, one array in two milliseconds at most; the first of each burst comes at once.
    let most = (Time::steady() - begin).as_millis() / 2 + 3 + AT_ONCE as u128;
    assert!(came as u128 <= most, "{came} arrays of {} changes, {most} at most", 2 * GOALS);
    assert_eq!(handles[0].status(), sinew_action::GoalStatus::Succeeded);
}

fn are_told_while_a_goal_holds_the_executor(world: &World) {
    let statuses = topic(world);
    let (release, held) = mpsc::channel::<()>();
    let begun = Arc::new(AtomicUsize::new(0));
    let _server: ActionServer<Fibonacci> = {
        let (begun, held) = (begun.clone(), parking_lot::Mutex::new(held));
        let begin = move |goal: ExecutingGoal<Fibonacci>| {
            begun.fetch_add(1, Ordering::Relaxed);
            let _ = held.lock().recv();
            goal.succeed(FibonacciResult::default())
        };
        world.server.action_server("fibonacci").callback(begin).unwrap()
    };
    let client = world.client();
    std::thread::scope(|scope| {
        let first = sent(&client, 0);
        scope.spawn(|| {
            while begun.load(Ordering::Relaxed) == 0 {
                world.executor.spin_once(PATIENCE).unwrap();
            }
        });
        while begun.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let others: Vec<_> = (1..GOALS).map(|number| sent(&client, number)).collect();
        until_all_are(&statuses, EXECUTING, GOALS);
        drop((release, first, others));
    });
}
