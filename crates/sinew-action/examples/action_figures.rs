//! Measures the cost of an action above a service and a topic, in one process and in one run: from
//! sending a goal until its handler begins, beside a call until its callback begins; from
//! publishing feedback until its callback, beside a message until its callback; and hundreds of
//! goals at once.
//!
//! `cargo run --release -p sinew-action --example action_figures`
//!
//! With a number as its argument the program sends that many goals and nothing else, for
//! `.ci/instructions`, which counts what one goal costs until its handler begins.
#![expect(clippy::unwrap_used, reason = "a program for measuring")]

use parking_lot::Mutex;
use sinew::prelude::*;
use sinew::time::Time;
use sinew_action::{ActionClient, Actions, ExecutingGoal, GoalStatus, PendingGoal};
use sinew_interfaces::example_interfaces::action::{
    Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult,
};
use std::env;
use std::sync::Arc;

/// A way from one side to the other, with the time of arrival.
type Arrivals = Arc<Mutex<Time>>;

#[derive(Clone)]
struct Numbers(#[expect(dead_code, reason = "as much as feedback has")] Vec<i32>);
impl Message for Numbers {}

struct Order(#[expect(dead_code, reason = "as much as a goal has")] i32);
impl Message for Order {}
struct Ordering;
impl Service for Ordering {
    type Request = Order;
    type Response = Order;
}

const ROUNDS: usize = 20_000;
const BATCH: usize = 100;

/// Medians in nanoseconds. The batches take turns, so that a disturbance of the machine affects all
/// ways.
fn medians<const N: usize>(mut ways: [&mut dyn FnMut() -> i64; N]) -> [i64; N] {
    let mut times: [Vec<i64>; N] = std::array::from_fn(|_| Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS / BATCH {
        for (way, times) in ways.iter_mut().zip(&mut times) {
            times.extend((0..BATCH).map(|_| way()));
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

fn arrived(at: &Arrivals) {
    *at.lock() = Time::steady();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::builder().shared_memory(false).build()?;
    let node = context.node("figures")?;
    let executor = Executor::single();
    executor.add(&context)?;
    let at = Arrivals::default();

    // A service and a topic.
    let mine = at.clone();
    let _server = node.server::<Ordering>("plain").callback(move |order: Order| {
        arrived(&mine);
        order
    })?;
    let plain = node.client::<Ordering>("plain").create()?;
    let mine = at.clone();
    let _numbers = node.subscription::<Numbers>("numbers").callback(move |_: &Numbers| arrived(&mine))?;
    let numbers = node.publisher::<Numbers>("numbers").create()?;

    // An action.
    let (mine, held) = (at.clone(), Arc::new(Mutex::new(Vec::new())));
    let goals = held.clone();
    let _action = node
        .action_server::<Fibonacci>("fibonacci")
        .max_goals(2000)
        .result_timeout(Duration::ZERO)
        .callback(move |goal: ExecutingGoal<Fibonacci>| {
            arrived(&mine);
            goals.lock().push(goal);
        })?;
    let client = node.action_client::<Fibonacci>("fibonacci").create()?;
    let mine = at.clone();
    let _goal = client
        .goal(FibonacciGoal { order: 1 })
        .on_feedback(move |_: &FibonacciFeedback| arrived(&mine))
        .send();
    executor.spin_all(Duration::from_secs(5))?;
    if let Some(goals) = env::args().nth(1) {
        held.lock().pop().unwrap().succeed(FibonacciResult::default())?; // the others are alone
        for _ in 0..goals.parse()? {
            let pending = measured(&client, &executor);
            held.lock().pop().unwrap().succeed(FibonacciResult::default())?;
            drop(pending);
        }
        return Ok(());
    }
    let fed = held.lock().pop().unwrap();

    let since = |begin: Time| at.lock().nanoseconds() - begin.nanoseconds();
    let mut call = || {
        let begin = Time::steady();
        plain.call_then(Order(1), |_: sinew::service::CallResult<Ordering>| {}).unwrap();
        executor.spin_some().unwrap();
        let time = since(begin);
        executor.spin_some().unwrap();
        time
    };
    let mut goal = || {
        let begin = Time::steady();
        let pending = measured(&client, &executor);
        let time = since(begin);
        held.lock().pop().unwrap().succeed(FibonacciResult::default()).unwrap();
        drop(pending);
        time
    };
    let mut hop = || {
        let begin = Time::steady();
        numbers.publish(Numbers(vec![1])).unwrap();
        executor.spin_some().unwrap();
        since(begin)
    };
    let mut feedback = || {
        let begin = Time::steady();
        fed.publish_feedback(FibonacciFeedback { sequence: vec![1] }).unwrap();
        executor.spin_some().unwrap();
        since(begin)
    };
    let [call, goal, hop, feedback] = medians([&mut call, &mut goal, &mut hop, &mut feedback]);
    println!("call sent -> callback      {call:>6} ns");
    println!("goal sent -> handler       {goal:>6} ns  ({:+} ns)", goal - call);
    println!("published -> callback      {hop:>6} ns");
    println!("feedback -> callback       {feedback:>6} ns  ({:+} ns)", feedback - hop);

    many_at_once(&client, &held, &executor);
    fed.succeed(FibonacciResult::default())?;
    Ok(())
}

/// Sends a goal and spins until its handler has begun: the part that `.ci/instructions` counts.
#[inline(never)]
fn measured(client: &ActionClient<Fibonacci>, executor: &Executor) -> PendingGoal<Fibonacci> {
    let pending = client.send_goal(FibonacciGoal { order: 1 });
    executor.spin_some().unwrap();
    pending
}

/// Measures the time from sending the first goal to having the last goal's result, divided by the
/// number of goals.
fn many_at_once(
    client: &ActionClient<Fibonacci>,
    held: &Mutex<Vec<ExecutingGoal<Fibonacci>>>,
    executor: &Executor,
) {
    for count in [1, 10, 100, 1000] {
        let mut times: Vec<i64> = (0..(2000 / count).max(5))
            .map(|_| {
                let begin = Time::steady();
                let sent: Vec<_> =
                    (0..count).map(|order| client.send_goal(FibonacciGoal { order })).collect();
                executor.spin_all(Duration::from_secs(60)).unwrap();
                for goal in held.lock().drain(..) {
                    goal.succeed(FibonacciResult::default()).unwrap();
                }
                for goal in sent {
                    let result = goal.wait(Duration::ZERO).unwrap().result().wait(Duration::ZERO).unwrap();
                    assert_eq!(result.status(), GoalStatus::Succeeded);
                }
                (Time::steady() - begin).as_nanos().try_into().unwrap_or(i64::MAX)
            })
            .collect();
        times.sort_unstable();
        println!(
            "{count:>5} goals at once        {:>6} ns a goal",
            times[times.len() / 2] / i64::from(count)
        );
    }
}
