//! A server's treatment of a goal that arrives while another one is executing.

use crate::on_both_paths;
use crate::world::{Goals, PATIENCE, World, cancel, order, sent};
use sinew::prelude::*;
use sinew_action::{
    ActionServer, Actions, Cancel, CancelReason, ExecutingGoal, GoalHandle, GoalStatus, Policy,
    SendGoalFailure,
};
use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciResult};
use std::sync::mpsc;

on_both_paths![one_at_a_time, a_queue, the_newest_wins];

fn serve(world: &World, policy: Policy) -> (ActionServer<Fibonacci>, Goals) {
    let (pen, goals) = mpsc::channel();
    let begins = move |goal: ExecutingGoal<Fibonacci>| pen.send(goal);
    (world.server.action_server("fibonacci").policy(policy).callback(begins).unwrap(), goals)
}

fn ended(goal: &GoalHandle<Fibonacci>) -> GoalStatus {
    goal.result().wait(PATIENCE).unwrap().status()
}

fn one_at_a_time(world: &World) {
    let (_server, goals) = serve(world, Policy::Reject);
    let client = world.client();
    let first = sent(&client, 1);
    let executing = world.next(&goals);
    let second = client.send_goal(order(2)).wait(PATIENCE).unwrap_err();
    assert_eq!(*second.failure(), SendGoalFailure::Rejected);
    executing.succeed(FibonacciResult::default()).unwrap();
    assert_eq!(ended(&first), GoalStatus::Succeeded);
    sent(&client, 3);
    assert_eq!(world.next(&goals).goal().order, 3);
}

fn a_queue(world: &World) {
    let (_server, goals) = serve(world, Policy::Queue(2));
    let client = world.client();
    let [first, second, third] = [1, 2, 3].map(|number| sent(&client, number));
    assert!(client.send_goal(order(4)).wait(PATIENCE).is_err(), "two wait");
    let executing = world.next(&goals);
    assert_eq!(executing.goal().order, 1);
    world.until(|| (second.status() == GoalStatus::Accepted).then_some(()));
    // A waiting goal ends at once, and leaves room for another.
    assert_eq!(cancel(&client, Cancel::Goal(second.id())).goals.len(), 1);
    assert_eq!(ended(&second), GoalStatus::Canceled);
    let fourth = sent(&client, 4);
    executing.abort(FibonacciResult::default()).unwrap();
    for (goal, number) in [(third, 3), (fourth, 4)] {
        let executing = world.next(&goals);
        assert_eq!(executing.goal().order, number);
        executing.succeed(FibonacciResult::default()).unwrap();
        assert_eq!(ended(&goal), GoalStatus::Succeeded);
    }
    assert_eq!(ended(&first), GoalStatus::Aborted);
    assert!(goals.try_recv().is_err());
}

fn the_newest_wins(world: &World) {
    let (_server, goals) = serve(world, Policy::NewestWins);
    let client = world.client();
    let first = sent(&client, 1);
    let executing = world.next(&goals);
    assert_eq!(executing.cancel_reason(), None);
    let second = sent(&client, 2);
    assert_eq!(
        (executing.cancel_reason(), executing.status()),
        (Some(CancelReason::Preempted), GoalStatus::Canceling)
    );
    let third = sent(&client, 3);
    assert_eq!(ended(&second), GoalStatus::Canceled, "it never began");
    assert!(goals.try_recv().is_err(), "the first has not ended yet");
    executing.canceled(FibonacciResult::default()).unwrap();
    let executing = world.next(&goals);
    assert_eq!(executing.goal().order, 3);
    executing.succeed(FibonacciResult::default()).unwrap();
    assert_eq!((ended(&first), ended(&third)), (GoalStatus::Canceled, GoalStatus::Succeeded));
}

/// Each goal waits for the other, so this ends only if both are executed at the same time.
#[test]
fn several_at_once_in_a_reentrant_group() {
    let context = Context::builder().shared_memory(false).domain(0).build().unwrap();
    let node = context.node("both").unwrap();
    let meet = std::sync::Arc::new(std::sync::Barrier::new(2));
    let _server = node
        .reentrant_group()
        .action_server::<Fibonacci>("fibonacci")
        .callback(move |goal: ExecutingGoal<Fibonacci>| {
            meet.wait();
            goal.succeed(FibonacciResult::default())
        })
        .unwrap();
    let client = node.action_client::<Fibonacci>("fibonacci").create().unwrap();
    let executor = Executor::multi(2);
    executor.add(&context).unwrap();
    let goals = [sent(&client, 1), sent(&client, 2)];
    let both = async {
        for goal in &goals {
            assert_eq!(goal.result().await.unwrap().status(), GoalStatus::Succeeded);
        }
    };
    executor.spin_until(both).unwrap();
}

#[test]
fn a_group_lends_its_state() {
    let world = World::in_process();
    let group = world.server.group(Vec::new());
    let _server = group
        .action_server::<Fibonacci>("fibonacci")
        .callback(|orders: &mut Vec<i32>, goal: ExecutingGoal<Fibonacci>| {
            orders.push(goal.goal().order);
            goal.succeed(FibonacciResult { sequence: orders.clone() })
        })
        .unwrap();
    let client = world.client();
    let goals = [sent(&client, 4), sent(&client, 5)];
    world.executor.spin_all(PATIENCE).unwrap();
    let results = goals.map(|goal| goal.result().wait(PATIENCE).unwrap().sequence.clone());
    assert_eq!(results, [vec![4], vec![4, 5]]);
}
