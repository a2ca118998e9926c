//! Waiting for goals inside callbacks of the executor that has to execute them. As with service
//! calls, the waiting thread runs the server, or gets an error if the wait would never end.

use crate::world::{PATIENCE, World, order, sent};
use sinew::error::SpinError;
use sinew::prelude::*;
use sinew_action::{
    ActionClient, ActionServer, Actions, Cancel, ExecutingGoal, GoalStatus, Policy, ResultError,
    SendGoalFailure,
};
use sinew_interfaces::example_interfaces::action::{
    Fibonacci, FibonacciResult, FibonacciSendGoalRequest, FibonacciSendGoalResponse,
};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context as Task, Wake};

fn execute(goal: ExecutingGoal<Fibonacci>) {
    let sequence = vec![goal.goal().order];
    goal.succeed(FibonacciResult { sequence }).unwrap();
}

fn serve(group: &Group) -> ActionServer<Fibonacci> {
    group.action_server("fibonacci").callback(execute).unwrap()
}

/// Returns the outcome of a callback in the group that sends a goal and waits for its result.
fn waited(
    executor: &Executor,
    group: &Group,
    client: &ActionClient<Fibonacci>,
) -> Result<(GoalStatus, Vec<i32>), ResultError> {
    let (client, (tell, told)) = (client.clone(), channel());
    let callback = move || {
        let result = sent(&client, 7).result().wait(PATIENCE);
        tell.send(result.map(|result| (result.status(), result.sequence.clone()))).unwrap();
    };
    let guard = group.guard_condition().callback(callback).unwrap();
    guard.trigger();
    spin(executor).unwrap();
    told.try_recv().unwrap()
}

fn spin(executor: &Executor) -> Result<u64, SpinError> {
    executor.spin_all(PATIENCE)
}

#[test]
fn the_thread_that_waits_executes_the_goal() {
    let world = World::in_process();
    let _server = serve(&world.server.group(()));
    let client = world.client();
    let group = world.client.group(());
    assert_eq!(waited(&world.executor, &group, &client), Ok((GoalStatus::Succeeded, vec![7])));
}

#[test]
fn the_thread_that_waits_decides_on_the_goal_too() {
    let world = World::in_process();
    let server = world.server.group(()).action_server("fibonacci").decide_in_group();
    let _server = server.callback(execute).unwrap();
    let client = world.client();
    let group = world.client.group(());
    assert_eq!(waited(&world.executor, &group, &client), Ok((GoalStatus::Succeeded, vec![7])));
}

#[test]
fn a_wait_in_the_servers_own_group_would_never_end() {
    let world = World::in_process();
    let group = world.server.group(());
    let _server = serve(&group);
    let client = world.client();
    let error = waited(&world.executor, &group, &client).unwrap_err();
    assert!(matches!(error, ResultError::WouldDeadlock { .. }), "{error}");
    assert!(
        error.to_string().contains("would never end: the server's callback group is the caller's"),
        "{error}"
    );
}

/// The goal has begun: any thread may end it, and the callback waits for that.
#[test]
fn a_goal_that_another_thread_ends_is_waited_for() {
    let world = World::in_process();
    let (_server, goals) = world.serve();
    let client = world.client();
    let group = world.client.group(());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            goals.recv_timeout(PATIENCE).unwrap().succeed(FibonacciResult { sequence: vec![3] })
        });
        assert_eq!(waited(&world.executor, &group, &client), Ok((GoalStatus::Succeeded, vec![3])));
    });
}

/// The goal waits behind one that a thread executes, and begins on the waiting thread.
#[test]
fn a_goal_that_begins_later_is_executed_by_the_thread_that_waits() {
    let world = World::in_process();
    let (hold, held) = channel();
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .policy(Policy::NewestWins)
        .callback(move |goal: ExecutingGoal<Fibonacci>| match goal.goal().order {
            1 => {
                let _ = hold.send(goal);
                Ok(())
            }
            number => goal.succeed(FibonacciResult { sequence: vec![number] }),
        })
        .unwrap();
    let client = world.client();
    let first = client.send_goal(order(1)).wait(PATIENCE).unwrap();
    let executing = world.next(&held);
    let group = world.client.group(());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !executing.is_cancel_requested() {
                std::thread::yield_now();
            }
            executing.canceled(FibonacciResult::default()).unwrap();
        });
        assert_eq!(waited(&world.executor, &group, &client), Ok((GoalStatus::Succeeded, vec![7])));
    });
    assert_eq!(first.result().wait(PATIENCE).unwrap().status(), GoalStatus::Canceled);
}

/// The waiting thread also polls the futures of goals.
#[test]
fn the_thread_that_waits_polls_the_goals_future() {
    let world = World::in_process();
    let _server = world
        .server
        .action_server::<Fibonacci>("fibonacci")
        .async_callback(|goal: ExecutingGoal<Fibonacci>| async move {
            let mut is_first = true;
            std::future::poll_fn(move |context| {
                context.waker().wake_by_ref();
                if std::mem::take(&mut is_first) {
                    std::task::Poll::Pending
                } else {
                    std::task::Poll::Ready(())
                }
            })
            .await;
            goal.succeed(FibonacciResult { sequence: vec![5] })
        })
        .unwrap();
    let client = world.client();
    let group = world.client.group(());
    assert_eq!(waited(&world.executor, &group, &client), Ok((GoalStatus::Succeeded, vec![5])));
}

/// The request to cancel is answered while it is sent, and the goal that never began ends on this
/// thread.
#[test]
fn a_callback_cancels_and_waits() {
    let world = World::in_process();
    let _server = serve(&world.server.group(()));
    let client = world.client();
    let (tell, told) = channel();
    let cancels = move || {
        let goal = sent(&client, 7);
        let canceled = client.cancel(Cancel::All).wait(PATIENCE).unwrap();
        tell.send((canceled.goals.len(), goal.result().wait(PATIENCE).unwrap().status())).unwrap();
    };
    let guard = world.client.group(()).guard_condition().callback(cancels).unwrap();
    guard.trigger();
    spin(&world.executor).unwrap();
    assert_eq!(told.try_recv(), Ok((1, GoalStatus::Succeeded)), "the server doesn't heed it");
}

/// As many callbacks wait as there are threads, so no thread is left.
#[test]
fn every_thread_of_an_executor_may_wait() {
    let context = Context::builder().shared_memory(false).domain(0).build().unwrap();
    let node = context.node("both").unwrap();
    let _server = serve(&node.group(()));
    let client = node.action_client::<Fibonacci>("fibonacci").create().unwrap();
    let executor = Executor::multi(2);
    executor.add(&context).unwrap();
    let (tell, told) = channel();
    let guards: Vec<_> = (0..2)
        .map(|number| {
            let (client, tell) = (client.clone(), tell.clone());
            let callback = move || tell.send(sent(&client, number).result().wait(PATIENCE)).unwrap();
            node.group(()).guard_condition().callback(callback).unwrap()
        })
        .collect();
    guards.iter().for_each(sinew::GuardCondition::trigger);
    std::thread::scope(|scope| {
        let stop = executor.stop_handle();
        scope.spawn(|| executor.spin().unwrap());
        for _ in 0..2 {
            assert_eq!(told.recv_timeout(PATIENCE).unwrap().unwrap().status(), GoalStatus::Succeeded);
        }
        stop.stop();
    });
}

/// A server of hand-made services with a callback that an executor has to run.
#[test]
fn the_thread_that_waits_runs_a_server_that_is_made_by_hand() {
    type SendGoal = <Fibonacci as sinew_action::Action>::SendGoal;
    let world = World::in_process();
    let reject = |_: &FibonacciSendGoalRequest| FibonacciSendGoalResponse::default();
    let group = world.server.group(());
    let _server = group.server::<SendGoal>("fibonacci/_action/send_goal").callback(reject).unwrap();
    let client = world.client.action_client::<Fibonacci>("fibonacci").create().unwrap();
    for (asking, is_own) in [(world.client.group(()), false), (group, true)] {
        let (tell, told) = channel();
        let client = client.clone();
        let callback = move || tell.send(client.send_goal(order(1)).wait(PATIENCE).map(drop)).unwrap();
        let guard = asking.guard_condition().callback(callback).unwrap();
        guard.trigger();
        spin(&world.executor).unwrap();
        let error = told.try_recv().unwrap().unwrap_err();
        match is_own {
            false => assert_eq!(*error.failure(), SendGoalFailure::Rejected),
            true => {
                assert!(matches!(error.failure(), SendGoalFailure::WouldDeadlock { .. }), "{error}");
                assert_eq!(error.into_goal().unwrap().order, 1);
            }
        }
    }
}

struct Woken;

impl Wake for Woken {
    fn wake(self: Arc<Self>) {}
}

fn leaves_no_waker(mut future: impl Future + Unpin) {
    let tasks = [Arc::new(Woken), Arc::new(Woken)];
    let kept = || tasks.each_ref().map(|task| Arc::strong_count(task) - 1);
    let mut poll = |task: usize| {
        let waker = tasks[task].clone().into();
        assert!(Pin::new(&mut future).poll(&mut Task::from_waker(&waker)).is_pending());
    };
    poll(0);
    poll(0);
    assert_eq!(kept(), [1, 0]);
    poll(1);
    assert_eq!(kept(), [0, 1], "only the last task is to be woken");
    drop(future);
    assert_eq!(kept(), [0, 0]);
}

#[test]
fn a_future_keeps_one_waker_and_none_once_it_is_dropped() {
    let world = World::in_process();
    let (_server, goals) = world.serve();
    let goal = sent(&world.client(), 1);
    let executing = world.next(&goals);
    let mut feedback = goal.feedback();
    leaves_no_waker(goal.result());
    leaves_no_waker(Box::pin(async move { feedback.next().await.is_some() }));
    leaves_no_waker(executing.cancel_requested());
}
