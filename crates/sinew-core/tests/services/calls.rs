//! Blocking calls: who runs the server meanwhile, what ends a wait, and waits that would never end.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::disallowed_types, reason = "a lock of the test's own")]

use crate::support;

use sinew::error::{CallError, CallFailure, SpinError};
use sinew::executor::{FaultPolicy, StopHandle};
use sinew::prelude::*;
use sinew::service::CallResult;
use sinew::{Executor, ReentrantGroup, Responder, Unique};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use support::{Gate, Log, Number, Numbers, PATIENCE, Room, finishes, real_context};

const SOON: Duration = Duration::from_millis(20);

/// A context in real time with a thread that spins an executor until this is dropped.
struct Served {
    context: Context,
    stop: StopHandle,
    spinning: Option<thread::JoinHandle<Result<(), SpinError>>>,
    thread: ThreadId,
}

impl Served {
    fn by(executor: Executor) -> Self {
        let context = real_context();
        executor.add(&context).expect("nobody else serves it");
        let stop = executor.stop_handle();
        let (say, said) = std::sync::mpsc::channel();
        let node = context.node("starts").expect("a valid name");
        let guard =
            node.guard_condition().callback(move || say.send(()).expect("the test waits")).expect("it runs");
        guard.trigger();
        let spinning = thread::spawn(move || executor.spin());
        said.recv_timeout(PATIENCE).expect("it spins");
        let thread = spinning.thread().id();
        Self { context, stop, spinning: Some(spinning), thread }
    }

    fn node(&self) -> Node {
        self.context.node("node").expect("a valid name")
    }

    /// Stops, and returns what the spin did.
    fn end(mut self) -> Result<(), SpinError> {
        self.stop.stop();
        self.spinning.take().expect("it ends once").join().expect("no panic leaves a spin")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(spinning) = self.spinning.take() {
            self.stop.stop();
            let _ = spinning.join(); // the test has failed already, or doesn't care
        }
    }
}

/// An executor with this many threads that lets callers run servers.
fn lending(threads: usize) -> Executor {
    Executor::builder().threads(threads).caller_runs(true).build().expect("options that go together")
}

fn failure(result: Result<Unique<Number>, CallError<Number>>) -> CallFailure {
    result.expect_err("it can't be answered").failure().clone()
}

fn is_deadlock(result: Result<Unique<Number>, CallError<Number>>) -> bool {
    matches!(failure(result), CallFailure::WouldDeadlock { .. })
}

/// A server that asks the next one and adds one.
fn hop(node: &Node, to: usize) -> Server<Numbers> {
    let next = node.client::<Numbers>(&format!("hop_{}", to + 1)).create().unwrap();
    let group = node.group(());
    let service = group.server::<Numbers>(&format!("hop_{to}"));
    service
        .callback(move |n: Unique<Number>| -> Result<Unique<Number>, CallError<Number>> {
            let mut answer = next.call(n, PATIENCE)?;
            answer.0 += 1;
            Ok(answer)
        })
        .unwrap()
}

fn echo(node: &Node, name: &str) -> Server<Numbers> {
    node.group(()).server::<Numbers>(name).callback(|n: Unique<Number>| n).unwrap()
}

#[test]
fn a_call_from_outside_is_answered_by_any_executor() {
    let plain = [1, 2, 4].map(Executor::multi);
    for executor in plain.into_iter().chain([1, 2, 4].map(lending)) {
        let served = Served::by(executor);
        let _server = echo(&served.node(), "n");
        let client = served.node().client::<Numbers>("n").create().unwrap();
        for n in 0..100 {
            assert_eq!(client.call(Number(n), PATIENCE).unwrap().0, n);
        }
        assert_eq!(served.end(), Ok(()));
    }
}

#[test]
fn the_caller_s_thread_runs_the_server_of_an_executor_at_rest() {
    let served = Served::by(lending(1));
    let log = Log::new();
    let pen = log.pen();
    let node = served.node();
    let _server = node.server::<Numbers>("n").callback(move |n: Unique<Number>| {
        pen.write(thread::current().id());
        n
    });
    let client = node.client::<Numbers>("n").create().unwrap();
    // The thread that spins may not be at rest yet, or still be busy with the answer before: then
    // it is the one.
    finishes(move || {
        while client.call(Number(1), PATIENCE).is_ok() && log.next() != thread::current().id() {
            thread::park_timeout(Duration::from_millis(1));
        }
    });
    assert_ne!(served.thread, thread::current().id());
}

/// What was ready before the timer keeps it from being fired, and the thread that spins can run
/// neither.
#[test]
fn a_timer_that_is_due_waits_until_a_lent_thread_has_left_the_only_place() {
    let served = Served::by(lending(1));
    let node = served.node();
    let (ran, reached, ticked) = (Log::new(), Log::new(), Log::new());
    let pen = reached.pen();
    let guard = node.group(()).guard_condition().callback(move || pen.write(())).unwrap();
    let pen = ran.pen();
    let _server = node.group(()).server::<Numbers>("n").callback(move |n: Unique<Number>| {
        guard.trigger();
        thread::park_timeout(SOON); // the timer becomes due
        pen.write(thread::current().id());
        n
    });
    let pen = ticked.pen();
    let _timer = node.group(()).timer(SOON / 4).callback(move || pen.write(())).unwrap();
    let client = node.client::<Numbers>("n").create().unwrap();
    finishes(
        move || while client.call(Number(1), PATIENCE).is_ok() && ran.next() != thread::current().id() {},
    );
    reached.next();
    ticked.lines();
    ticked.wait_for(2); // and the next ones run
    assert_eq!(served.end(), Ok(()));
}

#[test]
fn a_chain_of_calls_needs_one_thread() {
    let room = Room::new();
    let mut servers: Vec<_> = (0..20).map(|n| hop(&room.node, n)).collect();
    servers.push(echo(&room.node, "hop_20"));
    let client = room.node.client::<Numbers>("hop_0").create().unwrap();
    let call = client.call_async(Number(100));
    assert_eq!(room.executor.spin_until(call).unwrap().unwrap().0, 120);
    assert_eq!(room.run(), 0, "all have run inside the first");
}

#[test]
fn a_chain_of_calls_from_outside_goes_through_every_executor() {
    for executor in [Executor::single(), Executor::multi(4), lending(1), lending(2), lending(4)] {
        let served = Served::by(executor);
        let node = served.node();
        let mut servers: Vec<_> = (0..20).map(|n| hop(&node, n)).collect();
        servers.push(echo(&node, "hop_20"));
        let client = node.client::<Numbers>("hop_0").create().unwrap();
        finishes(move || {
            for n in 0..50 {
                assert_eq!(client.call(Number(n), PATIENCE).unwrap().0, n + 20);
            }
        });
    }
}

#[test]
fn requests_that_wait_are_run_in_their_order_also_by_a_caller() {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let group = room.node.group(());
    let _server = group.server::<Numbers>("n").callback(move |n: Unique<Number>| {
        pen.write(n.0);
        n
    });
    let client = room.node.client::<Numbers>("n").create().unwrap();
    let _first = client.call_async(Number(1));
    let caller = client.clone();
    // Its group comes first, so that all requests are run inside its callback.
    let urgent = room.node.group(()).priority(1);
    let guard = urgent.guard_condition().callback(move || {
        let _second = caller.call_async(Number(2));
        assert_eq!(caller.call(Number(3), PATIENCE).unwrap().0, 3);
    });
    let guard = guard.unwrap();
    guard.trigger();
    room.run();
    assert_eq!(log.lines(), [1, 2, 3]);
}

#[test]
fn a_server_never_calls_itself() {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create().unwrap();
    let own = client.clone();
    let _server = room.node.server::<Numbers>("n").callback(move |n: Number| match n.0 {
        0 => Number(0),
        n => {
            let error = own.call(Number(n - 1), PATIENCE).unwrap_err();
            assert!(error.to_string().contains("callback group is the caller's"), "{error}");
            assert!(matches!(error.failure(), CallFailure::WouldDeadlock { .. }));
            assert_eq!(error.into_request().unwrap().0, n - 1);
            Number(42)
        }
    });
    assert_eq!(room.executor.spin_until(client.call_async(Number(7))).unwrap().unwrap().0, 42);
    assert_eq!(client.statistics().abandoned, 1);
    assert_eq!(room.run(), 0, "the request was taken back");
}

#[test]
fn servers_that_call_each_other_or_their_own_group_get_an_error() {
    for executor in [Executor::single(), Executor::multi(3), lending(1), lending(3)] {
        let served = Served::by(executor);
        let node = served.node();
        let server = |own: &str, other: &str| {
            let other = node.client::<Numbers>(other).create().unwrap();
            let service = node.group(()).server::<Numbers>(own);
            service.callback(move |n: Number| other.call(Number(n.0 + 1), PATIENCE)).unwrap()
        };
        let _servers = [server("a", "b"), server("b", "a")];
        let client = node.client::<Numbers>("a").create().unwrap();
        let result = finishes(move || client.call(Number(0), PATIENCE));
        let CallFailure::Failed { message } = failure(result) else { panic!("b says why") };
        // The caller that would have been the last to wait: with several threads any of them.
        assert!(message.contains("waiting for the answer would never end"), "{message}");

        // A callback of the server's group, which isn't the server.
        let _alone = node.server::<Numbers>("alone").callback(|n: Unique<Number>| n).unwrap();
        let client = node.client::<Numbers>("alone").create().unwrap();
        let log = Log::new();
        let pen = log.pen();
        let guard =
            node.guard_condition().callback(move || pen.write(is_deadlock(client.call(Number(1), PATIENCE))));
        let guard = guard.unwrap();
        guard.trigger();
        assert!(log.next());
    }
}

/// Two callbacks hold each a group, and call a server in the other's: the second one gets an error.
#[test]
fn threads_that_wait_for_each_other_in_a_circle_get_an_error() {
    [Executor::multi(2), lending(2)].into_iter().for_each(wait_in_a_circle);
}

fn wait_in_a_circle(executor: Executor) {
    let served = Served::by(executor);
    let node = served.node();
    let (left, right) = (node.group(()), node.group(()));
    let _servers = [("left", &left), ("right", &right)]
        .map(|(name, group)| group.server::<Numbers>(name).callback(|n: Unique<Number>| n).unwrap());
    let log = Log::new();
    let (one, other) = (Gate::new(), Gate::new());
    let guards = [(&left, "right", one.clone(), other.clone()), (&right, "left", other, one)].map(
        |(group, name, mine, others)| {
            let client = node.client::<Numbers>(name).create().unwrap();
            let pen = log.pen();
            let guard = group.guard_condition();
            guard.callback(move || {
                mine.open();
                others.wait();
                pen.write(
                    client.call(Number(1), PATIENCE).map_err(|error| error.failure().clone()).map(drop),
                );
            })
        },
    );
    guards.iter().for_each(|guard| guard.as_ref().unwrap().trigger());
    let mut results = [log.next(), log.next()];
    results.sort_by_key(Result::is_err);
    assert_eq!(results[0], Ok(()));
    assert!(matches!(results[1], Err(CallFailure::WouldDeadlock { .. })), "{:?}", results[1]);
}

/// The executors wait for each other instead of the groups.
#[test]
fn executors_that_wait_for_each_other_get_an_error() {
    let context = real_context();
    let nodes = ["left", "right"].map(|name| context.node(name).unwrap());
    let log = Log::new();
    let (one, other) = (Gate::new(), Gate::new());
    let gates = [(one.clone(), other.clone()), (other, one)];
    let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
    let mut guards = Vec::new();
    for (place, (mine, others)) in gates.into_iter().enumerate() {
        kept.push(Box::new(echo(&nodes[place], nodes[place].name())));
        let client = nodes[place].client::<Numbers>(nodes[1 - place].name()).create().unwrap();
        let pen = log.pen();
        guards.push(nodes[place].guard_condition().callback(move || {
            mine.open();
            others.wait();
            pen.write(client.call(Number(1), PATIENCE).map_err(|error| error.failure().clone()).map(drop));
        }));
    }
    let executors = [Executor::single(), Executor::single()];
    let stops = executors.each_ref().map(Executor::stop_handle);
    for (executor, node) in executors.iter().zip(&nodes) {
        executor.add(node).unwrap();
    }
    thread::scope(|scope| {
        executors.iter().for_each(|executor| drop(scope.spawn(|| executor.spin())));
        guards.iter().for_each(|guard| guard.as_ref().unwrap().trigger());
        let mut results = [log.next(), log.next()];
        stops.iter().for_each(StopHandle::stop);
        results.sort_by_key(Result::is_err);
        assert_eq!(results[0], Ok(()));
        assert!(matches!(results[1], Err(CallFailure::WouldDeadlock { .. })), "{:?}", results[1]);
    });
}

/// That this thread spun last proves nothing: another one may be about to.
#[test]
fn a_thread_that_hands_its_executor_on_may_call() {
    let room = Room::new();
    let _server = echo(&room.node, "n");
    room.run();
    let client = room.node.client::<Numbers>("n").create().unwrap();
    let Room { executor, context, .. } = room;
    thread::scope(|scope| {
        let (go, gone) = std::sync::mpsc::channel();
        let spinning = scope.spawn(move || {
            gone.recv().unwrap();
            executor.spin()
        });
        let caller = scope.spawn(move || client.call(Number(1), PATIENCE).unwrap().0);
        go.send(()).unwrap();
        assert_eq!(caller.join().unwrap(), 1);
        context.shutdown();
        spinning.join().unwrap().unwrap();
    });
}

/// A node's setting and its getter are in one group: who publishes and then asks gets what he has
/// set.
#[test]
fn a_call_overtakes_nothing_older_in_the_group() {
    for executor in [Executor::single(), Executor::multi(2), lending(1), lending(2)] {
        let served = Served::by(executor);
        let node = served.node();
        let group = node.group(0);
        let _set = group
            .subscription::<Number>("set")
            .callback(|value: &mut u64, number: &Number| *value = number.0)
            .unwrap();
        let _get =
            group.server::<Numbers>("get").callback(|value: &mut u64, _: &Number| Number(*value)).unwrap();
        let set = node.publisher::<Number>("set").create().unwrap();
        let get = node.client::<Numbers>("get").create().unwrap();
        finishes(move || {
            for n in 1..=300 {
                set.publish(Number(n)).unwrap();
                assert_eq!(get.call(Number(0), PATIENCE).unwrap().0, n, "it read an old value");
            }
        });
    }
}

#[test]
fn a_nested_call_overtakes_nothing_older_in_the_group() {
    let room = Room::new();
    let group = room.node.group(0);
    let _set =
        group.subscription::<Number>("set").callback(|value: &mut u64, number: &Number| *value = number.0);
    let get = group.server::<Numbers>("get");
    let _get = get.callback(|value: &mut u64, _: &Number| Number(*value));
    let set = room.node.publisher::<Number>("set").create().unwrap();
    let get = room.node.client::<Numbers>("get").create().unwrap();
    let log = Log::new();
    let pen = log.pen();
    let guard = room.node.guard_condition().callback(move || {
        set.publish(Number(7)).unwrap();
        pen.write(get.call(Number(0), PATIENCE).unwrap().0);
    });
    let guard = guard.unwrap();
    guard.trigger();
    room.run();
    assert_eq!(log.lines(), [7]);
}

/// The panic belongs to the spin in which it happened, whichever kind of spin that is.
#[test]
fn a_panic_in_a_nested_server_ends_the_spin_that_ran_it() {
    for at_most_one in [true, false] {
        let room = Room::new();
        let group = room.node.group(());
        let server = group.server::<Numbers>("n");
        let _server = server.callback(|n: Unique<Number>| if n.0 > 0 { panic!("as announced") } else { n });
        let client = room.node.client::<Numbers>("n").create().unwrap();
        let log = Log::new();
        let pen = log.pen();
        let guard = room.node.guard_condition().callback(move || {
            pen.write(matches!(
                client.call(Number(1), PATIENCE).map_err(|error| error.failure().clone()),
                Err(CallFailure::Panicked { .. })
            ));
        });
        let guard = guard.unwrap();
        guard.trigger();
        let result = if at_most_one {
            room.executor.spin_once(Duration::ZERO).map(drop)
        } else {
            room.executor.spin_all(PATIENCE).map(drop)
        };
        assert!(matches!(result, Err(SpinError::Panicked { .. })), "{result:?}");
        assert_eq!(log.lines(), [true]);
        assert_eq!(room.executor.spin_some(), Ok(0), "it is over");
    }
}

/// A call that begins while another thread closes its client doesn't wait for an answer.
#[test]
fn a_call_meets_the_end_of_its_client() {
    let context = real_context();
    let node = context.node("node").unwrap();
    for _ in 0..3000 {
        let client = node.client::<Numbers>("nothing").create().unwrap();
        let (both, closed) = (Arc::new(std::sync::Barrier::new(2)), client.clone());
        let other = both.clone();
        let closing = thread::spawn(move || {
            other.wait();
            closed.close();
        });
        both.wait();
        let error = client.call(Number(1), PATIENCE).err().unwrap();
        assert!(matches!(error.failure(), CallFailure::Closed), "{error}");
        closing.join().unwrap();
    }
}

/// Two callbacks that close each other's entity: one of them doesn't wait.
#[test]
fn closing_each_other_ends() {
    [Executor::multi(2), lending(2)].into_iter().for_each(close_each_other);
}

fn close_each_other(executor: Executor) {
    let served = Served::by(executor);
    let node = served.node();
    let both = Arc::new(std::sync::Barrier::new(2));
    let log = Log::new();
    // Each gets the other one's guard condition through a channel, as neither is there when the
    // first is made.
    let (to_first, first) = std::sync::mpsc::channel::<sinew::GuardCondition>();
    let (to_second, second) = std::sync::mpsc::channel::<sinew::GuardCondition>();
    let [mine, others] = [(0, first), (1, second)].map(|(n, other)| {
        let (both, pen) = (both.clone(), log.pen());
        let guard = node.group(()).guard_condition().callback(move || {
            both.wait();
            other.recv().unwrap().close();
            pen.write(n);
        });
        guard.unwrap()
    });
    mine.trigger();
    others.trigger();
    to_first.send(others).unwrap();
    to_second.send(mine).unwrap();
    let mut ended = log.wait_for(2);
    ended.sort_unstable();
    assert_eq!(ended, [0, 1]);
}

/// A spin that was stopped returns when its last callback has, also if that runs on a caller's
/// thread.
#[test]
fn a_spin_ends_after_the_callbacks_on_lent_threads() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let (begun, go_on) = (Gate::new(), Gate::new());
    let (opens, waits) = (begun.clone(), go_on.clone());
    let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let ends = ended.clone();
    let _server = node.server::<Numbers>("n").callback(move |n: Unique<Number>| {
        if n.0 > 0 {
            opens.open();
            waits.wait();
            ends.store(true, std::sync::atomic::Ordering::SeqCst);
        }
        n
    });
    let client = node.client::<Numbers>("n").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let stop = executor.stop_handle();
    thread::scope(|scope| {
        let spinning = scope.spawn(|| {
            executor.spin().unwrap();
            ended.load(std::sync::atomic::Ordering::SeqCst)
        });
        (0..20).for_each(|_| drop(client.call(Number(0), PATIENCE).unwrap())); // known to be short
        let caller = scope.spawn(|| client.call(Number(1), PATIENCE).unwrap().0);
        begun.wait();
        stop.stop();
        go_on.open();
        assert!(spinning.join().unwrap(), "a callback was running still");
        assert_eq!(caller.join().unwrap(), 1);
    });
}

/// A reentrant server may call itself, until it is too deep.
#[test]
fn calls_inside_calls_go_64_deep() {
    let room = Room::new();
    let group: ReentrantGroup = room.node.reentrant_group();
    let client = room.node.client::<Numbers>("n").create().unwrap();
    let own = client.clone();
    let _server =
        group.server::<Numbers>("n").callback(move |n: Number| match n.0 {
            0 => Ok(Number(0)),
            n => own.call(Number(n - 1), PATIENCE).map(|answer| Number(answer.0 + 1)).map_err(|error| {
                match error.failure() {
                    CallFailure::Failed { message } => message.clone(),
                    failure => format!("{failure:?} with {}", n),
                }
            }),
        });
    let ask = |n| room.executor.spin_until(client.call_async(Number(n))).unwrap();
    assert_eq!(ask(63).unwrap().0, 63);
    assert_eq!(failure(ask(64)), CallFailure::Failed { message: "TooDeep { limit: 64 } with 1".to_owned() });
    assert_eq!(ask(63).unwrap().0, 63);
}

#[test]
fn a_wait_ends_at_the_timeout_and_says_what_was_missing() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let client = node.client::<Numbers>("n").create().unwrap();
    let call = |n| client.call(Number(n), SOON).unwrap_err();
    let nobody = call(1);
    assert_eq!(nobody.failure(), &CallFailure::NoServer { waited: SOON, ever_seen: false });
    assert_eq!(nobody.into_request().unwrap().0, 1);

    let kept = Arc::new(Mutex::new(Vec::new()));
    let never_used = kept.clone();
    let server = node.server::<Numbers>("n").callback(move |_: &Number, responder: Responder<Numbers>| {
        never_used.lock().unwrap().push(responder); // a server that never answers
    });
    let server = server.unwrap();
    let unserved = call(2);
    assert_eq!(unserved.failure(), &CallFailure::Timeout { waited: SOON, started: false });
    assert!(unserved.to_string().contains("does an executor spin its node"), "{unserved}");
    assert_eq!(unserved.into_request().unwrap().0, 2);
    assert_eq!((server.statistics().waiting, server.statistics().withdrawn), (0, 1));

    // In a callback, so that it is this thread that runs the server.
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let (log, caller) = (Log::new(), client.clone());
    let pen = log.pen();
    let guard = node.group(()).guard_condition().callback(move || {
        pen.write(caller.call(Number(3), SOON).unwrap_err());
    });
    let guard = guard.unwrap();
    guard.trigger();
    executor.spin_some().unwrap();
    let unanswered = log.next();
    assert_eq!(unanswered.failure(), &CallFailure::Timeout { waited: SOON, started: true });
    assert!(unanswered.into_request().is_none());
    drop(server);
    assert_eq!(call(4).failure(), &CallFailure::NoServer { waited: SOON, ever_seen: true });
}

#[test]
fn a_call_waits_for_a_server_that_comes_and_for_an_executor_that_comes() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let client = node.client::<Numbers>("n").create().unwrap();
    let before = client.clone();
    let caller = thread::spawn(move || before.call(Number(1), PATIENCE).map(|n| n.0).map_err(drop));
    while client.statistics().waiting == 0 {
        thread::yield_now();
    }
    let waits = client.clone();
    let ready = thread::spawn(move || waits.wait_for_server(PATIENCE));
    let _server = echo(&node, "n");
    assert!(ready.join().unwrap());
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let stop = executor.stop_handle();
    let spinning = thread::spawn(move || executor.spin());
    assert_eq!(caller.join().unwrap(), Ok(1));
    stop.stop();
    spinning.join().unwrap().unwrap();
}

/// Calls that wait survive the executor, and are answered by the next one.
#[test]
fn an_executor_that_goes_leaves_the_requests_for_the_next() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let _server = echo(&node, "n");
    let client = node.client::<Numbers>("n").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let caller = client.clone();
    let call = thread::spawn(move || caller.call(Number(1), PATIENCE).map(|n| n.0).map_err(drop));
    while client.statistics().waiting == 0 {
        thread::yield_now();
    }
    drop(executor);
    let next = Executor::single();
    next.add(&context).unwrap();
    let stop = next.stop_handle();
    let spinning = thread::spawn(move || next.spin());
    assert_eq!(call.join().unwrap(), Ok(1));
    stop.stop();
    spinning.join().unwrap().unwrap();
}

/// Starts a call in another thread, has something happen once the server has taken it, and returns
/// what came of it.
fn meanwhile(happens: impl FnOnce(&Served, Server<Numbers>, Responder<Numbers>)) -> Result<u64, CallFailure> {
    let served = Served::by(Executor::single());
    let node = served.node();
    let (keep, kept) = std::sync::mpsc::channel();
    let server = node.server::<Numbers>("n").callback(move |_: &Number, responder: Responder<Numbers>| {
        keep.send(responder).unwrap();
    });
    let client = node.client::<Numbers>("n").create().unwrap();
    let call = thread::spawn(move || client.call(Number(1), PATIENCE).map(|n| n.0));
    happens(&served, server.unwrap(), kept.recv_timeout(PATIENCE).unwrap());
    call.join().unwrap().map_err(|error| error.failure().clone())
}

#[test]
fn whatever_ends_a_call_wakes_its_thread() {
    assert_eq!(meanwhile(|_, _server, responder| responder.respond(Number(7)).unwrap()), Ok(7));
    assert_eq!(meanwhile(|_, _server, responder| drop(responder)), Err(CallFailure::Dropped));
    assert_eq!(
        meanwhile(|_, _server, responder| responder.fail("no").unwrap()),
        Err(CallFailure::Failed { message: "no".to_owned() })
    );
    assert_eq!(
        meanwhile(|served, _server, responder| {
            served.context.shutdown();
            assert!(responder.respond(Number(7)).is_err());
        }),
        Err(CallFailure::Shutdown)
    );
    assert_eq!(
        meanwhile(|_, server, responder| {
            drop(server);
            responder.respond(Number(7)).unwrap();
        }),
        Ok(7)
    );
}

#[test]
fn a_server_that_goes_wakes_the_threads_whose_requests_wait() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let server = echo(&node, "n"); // which no executor serves
    let client = node.client::<Numbers>("n").create().unwrap();
    let calls: Vec<_> = (0..8)
        .map(|n| {
            let client = client.clone();
            thread::spawn(move || failure(client.call(Number(n), PATIENCE)))
        })
        .collect();
    while server.statistics().waiting < 8 {
        thread::yield_now();
    }
    drop(server);
    for call in calls {
        assert_eq!(call.join().unwrap(), CallFailure::ServerGone);
    }
}

#[test]
fn a_panic_in_a_nested_server_reaches_every_caller_and_the_executor() {
    let room = Room::new();
    let node = &room.node;
    let _inner =
        node.group(()).server::<Numbers>("inner").callback(|n: &Number| -> Number { panic!("no {}", n.0) });
    let inner = node.client::<Numbers>("inner").create().unwrap();
    let _outer = node.server::<Numbers>("outer").callback(move |n: Unique<Number>| inner.call(n, PATIENCE));
    let outer = node.client::<Numbers>("outer").create().unwrap();
    let call = outer.call_async(Number(13));
    let error = room.executor.spin_all(PATIENCE).unwrap_err();
    let expected = SpinError::Panicked {
        entity: "service /inner of node /room".to_owned(),
        message: "no 13".to_owned(),
    };
    assert_eq!(error, expected);
    let message = "the call of service /inner failed: the server's callback panicked: no 13".to_owned();
    assert_eq!(failure(support::tasks::block_on(call)), CallFailure::Failed { message });
}

#[test]
fn a_reported_panic_in_a_nested_server_lets_the_rest_go_on() {
    let served = Served::by(Executor::builder().on_panic(FaultPolicy::Report).build().unwrap());
    let node = served.node();
    let _server = node.server::<Numbers>("n").callback(|n: Unique<Number>| {
        assert!(n.0 != 13, "no 13");
        n
    });
    let client = node.client::<Numbers>("n").create().unwrap();
    let panicked = CallFailure::Panicked { message: "no 13".to_owned() };
    assert_eq!(failure(client.call(Number(13), PATIENCE)), panicked);
    assert_eq!(client.call(Number(1), PATIENCE).unwrap().0, 1);
    assert_eq!(served.end(), Ok(()));
}

#[test]
fn a_panic_on_a_caller_s_thread_ends_the_spin_of_the_executor() {
    let served = Served::by(lending(1));
    let node = served.node();
    let _server = node.server::<Numbers>("n").callback(|_: &Number| -> Number { panic!("no") });
    let client = node.client::<Numbers>("n").create().unwrap();
    let panicked = CallFailure::Panicked { message: "no".to_owned() };
    assert_eq!(failure(client.call(Number(1), PATIENCE)), panicked);
    let mut served = served;
    let result = served.spinning.take().unwrap().join().unwrap();
    assert!(matches!(result, Err(SpinError::Panicked { message, .. }) if message == "no"));
}

/// A stop in the middle of a callback lets it finish, with the calls it makes.
#[test]
fn a_stop_lets_the_running_callback_make_its_calls() {
    let room = Room::new();
    let _server = echo(&room.node, "n");
    let client = room.node.client::<Numbers>("n").create().unwrap();
    let stop = room.executor.stop_handle();
    let log = Log::new();
    let pen = log.pen();
    let guard = room.node.guard_condition().callback(move || {
        stop.stop();
        pen.write(client.call(Number(1), PATIENCE).map(|n| n.0).map_err(drop));
    });
    let guard = guard.unwrap();
    guard.trigger();
    room.executor.spin().unwrap();
    assert_eq!(log.next(), Ok(1));
}

/// Many threads call one server, whose group sees one at a time; every call is answered once.
#[test]
fn many_threads_call_one_server() {
    for executor in [Executor::single(), Executor::multi(2), lending(1), lending(2)] {
        let served = Served::by(executor);
        let node = served.node();
        let sum = node.group(0_u64);
        let server = sum.server::<Numbers>("n").callback(|sum: &mut u64, n: &Number| {
            *sum += n.0;
            Number(*sum)
        });
        let client = node.client::<Numbers>("n").create().unwrap();
        let (threads, calls) = (8, 500);
        let mut answers: Vec<u64> = thread::scope(|scope| {
            let callers: Vec<_> = (0..threads)
                .map(|n| {
                    // Half of them share a client.
                    let client = if n % 2 == 0 {
                        client.clone()
                    } else {
                        node.client::<Numbers>("n").create().unwrap()
                    };
                    scope.spawn(move || {
                        (0..calls).map(|_| client.call(Number(1), PATIENCE).unwrap().0).collect::<Vec<_>>()
                    })
                })
                .collect();
            callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
        });
        answers.sort_unstable();
        assert_eq!(answers, (1..=threads * calls).collect::<Vec<_>>());
        assert_eq!(served.end(), Ok(())); // it counts an answer after its caller has it
        assert_eq!(server.unwrap().statistics().answered, threads * calls);
    }
}

/// Callbacks on all threads of an executor call servers in it, in turns and across: nobody is left
/// waiting.
#[test]
fn callbacks_on_all_threads_call_servers_of_their_own_executor() {
    [Executor::multi(4), lending(4)].into_iter().for_each(call_on_all_threads);
}

fn call_on_all_threads(executor: Executor) {
    let served = Served::by(executor);
    let node = served.node();
    let servers: Vec<_> = (0..3).map(|n| echo(&node, &format!("n_{n}"))).collect();
    let log = Log::new();
    let subscriptions: Vec<_> = (0..6)
        .map(|n: u64| {
            let clients: Vec<_> =
                (0..3).map(|n| node.client::<Numbers>(&format!("n_{n}")).create().unwrap()).collect();
            let pen = log.pen();
            let subscription = node.group(()).subscription::<Number>("go").qos(QoS::default().keep_all());
            subscription
                .callback(move |number: &Number| {
                    let client = &clients[usize::try_from((number.0 + n) % 3).unwrap()];
                    pen.write(client.call(Number(number.0), PATIENCE).unwrap().0);
                })
                .unwrap()
        })
        .collect();
    let go = node.publisher::<Number>("go").qos(QoS::default().keep_all()).create().unwrap();
    for n in 0..200 {
        go.publish(Number(n)).unwrap();
    }
    let mut answers: Vec<_> = (0..1200).map(|_| log.next()).collect();
    answers.sort_unstable();
    assert_eq!(answers, (0..200).flat_map(|n| [n; 6]).collect::<Vec<_>>());
    drop((servers, subscriptions));
    assert_eq!(served.end(), Ok(()));
}

/// What is captured, asked and answered is dropped once, however calls end.
#[test]
fn nothing_leaks_however_calls_end() {
    struct Counted(Arc<()>);
    impl Message for Counted {}
    struct CountedService;
    impl Service for CountedService {
        type Request = Counted;
        type Response = Counted;
    }
    let alive = Arc::new(());
    let room = Room::new();
    let node = &room.node;
    let new = || Counted(alive.clone());
    let client = node.client::<CountedService>("n").create().unwrap();
    drop(client.call(new(), Duration::ZERO));
    drop(client.call_async(new()));
    let waits = client.call_async(new());
    let captured = new();
    let server = node
        .server::<CountedService>("n")
        .max_requests(3)
        .callback(move |request: Counted, responder: Responder<CountedService>| {
            let _ = &captured;
            match Arc::strong_count(&request.0) % 3 {
                0 => drop(responder),
                1 => drop(responder.respond(request)),
                _ => drop(responder.respond(Box::new(request))),
            }
        })
        .unwrap();
    let more: Vec<_> = (0..5).map(|_| client.call_async(new())).collect();
    room.run();
    for _ in 0..4 {
        let kept = new();
        client.call_then(new(), move |_: CallResult<CountedService>| drop(kept)).unwrap_or_default();
    }
    room.executor.spin_once(Duration::ZERO).unwrap();
    drop((server, waits, more));
    assert!(Arc::strong_count(&alive) > 1, "callbacks wait for the error that the server has gone");
    room.run();
    drop(client);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn a_wait_set_says_which_server_and_which_client_is_ready() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let mut set = sinew::executor::WaitSet::new();
    set.add(&context).unwrap();
    let servers = [echo(&node, "a"), echo(&node, "b")];
    let client = node.client::<Numbers>("b").create().unwrap();
    let log = Log::new();
    let pen = log.pen();
    client.call_then(Number(1), move |result: CallResult<Numbers>| pen.write(result.unwrap().0)).unwrap();
    let ready: Vec<_> = set.wait(PATIENCE).unwrap().collect();
    assert_eq!((ready.len(), ready[0].is(&servers[0]), ready[0].is(&servers[1])), (1, false, true));
    assert!(ready[0].run().unwrap());
    let ready: Vec<_> = set.wait(PATIENCE).unwrap().collect();
    assert_eq!((ready.len(), ready[0].is(&client), ready[0].is(&servers[1])), (1, true, false));
    assert!(ready[0].run().unwrap());
    assert_eq!(log.lines(), [1]);

    // What is taken back before it is run leaves nothing ready.
    drop(client.call_async(Number(2)));
    assert_eq!(set.wait(Duration::ZERO).unwrap().len(), 0);
}

#[test]
fn an_executor_runs_its_servers_itself_by_default() {
    let served = Served::by(Executor::single());
    let node = served.node();
    let log = Log::new();
    let pen = log.pen();
    let _server = node
        .server::<Numbers>("n")
        .callback(move |n: Unique<Number>| {
            pen.write(thread::current().id());
            n
        })
        .unwrap();
    let client = node.client::<Numbers>("n").create().unwrap();
    (0..20).for_each(|n| assert_eq!(client.call(Number(n), PATIENCE).unwrap().0, n));
    assert_eq!(log.lines(), [served.thread; 20]);
}

/// A callback calls a server of another executor, which calls back: the first executor needs a
/// second thread for that, and with one alone both get an error at once.
#[test]
fn servers_of_two_executors_that_call_each_other_need_a_thread_or_get_an_error() {
    for (threads, ends_well) in [(1, false), (2, true)] {
        let context = real_context();
        let [here, there] = ["here", "there"].map(|name| context.node(name).unwrap());
        let _echo = echo(&here, "echo");
        let back = there.client::<Numbers>("echo").create().unwrap();
        let _relay =
            there.server::<Numbers>("relay").callback(move |n: Unique<Number>| back.call(n, PATIENCE));
        let relay = here.client::<Numbers>("relay").create().unwrap();
        let log = Log::new();
        let pen = log.pen();
        let start =
            here.guard_condition().callback(move || pen.write(relay.call(Number(7), PATIENCE))).unwrap();
        let executors = [Executor::multi(threads), Executor::single()];
        executors[0].add(&here).unwrap();
        executors[1].add(&there).unwrap();
        thread::scope(|scope| {
            executors.iter().for_each(|executor| drop(scope.spawn(|| executor.spin())));
            start.trigger();
            let result = log.next();
            context.shutdown();
            match result {
                Ok(answer) => assert!(ends_well && answer.0 == 7),
                Err(error) => assert!(!ends_well && error.to_string().contains("echo"), "{error}"),
            }
        });
    }
}

/// A caller announces its request without waking a thread. Where it can't run the server itself, an
/// event loop wakes for it.
#[test]
fn a_call_wakes_an_event_loop() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let context = real_context();
    let node = context.node("node").unwrap();
    let _server = echo(&node, "n");
    let client = node.client::<Numbers>("n").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let descriptor = executor.descriptor().unwrap();
    executor.spin_some().unwrap(); // from now on it is to be woken
    thread::scope(|scope| {
        let caller = scope.spawn(move || client.call(Number(1), PATIENCE).unwrap().0);
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        assert_eq!(
            poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&patience)),
            Ok(1),
            "no caller got an error"
        );
        while !caller.is_finished() {
            executor.spin_once(Duration::from_millis(1)).unwrap();
        }
        assert_eq!(caller.join().unwrap(), 1);
    });
}
