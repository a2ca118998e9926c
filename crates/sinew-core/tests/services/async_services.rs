//! Asynchronous calls and servers: no runtime, nothing lost when a future is dropped.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::disallowed_types, reason = "locks of the tests' own; nothing here is modelled")]

use crate::support;

use sinew::error::{CallError, CallFailure};
use sinew::prelude::*;
use sinew::service::RequestInfo;
use sinew::{Executor, Responder, Unique};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread;
use support::tasks::{Task, block_on};
use support::{Log, Number, Numbers, PATIENCE, Pen, Room, real_context};

fn client(room: &Room, name: &str) -> Client<Numbers> {
    room.node.client::<Numbers>(name).create().unwrap()
}

/// A server whose requests are answered by hand.
fn by_hand(room: &Room, name: &str) -> (Server<Numbers>, mpsc::Receiver<(u64, Responder<Numbers>)>) {
    let (keep, kept) = mpsc::channel();
    let server = room.node.group(()).server::<Numbers>(name);
    let callback = move |n: Number, responder: Responder<Numbers>| keep.send((n.0, responder)).unwrap();
    (server.callback(callback).unwrap(), kept)
}

#[test]
fn a_call_wakes_the_waker_it_was_polled_with_last_and_once() -> sinew::Result<()> {
    let room = Room::new();
    let (_server, kept) = by_hand(&room, "n");
    let (old, new) = (Task::new(), Task::new());
    let mut call = client(&room, "n").call_async(Number(1));
    assert!(old.poll(&mut call).is_pending());
    room.run();
    assert!(new.poll(&mut call).is_pending());
    assert!(new.poll(&mut call).is_pending());
    let (_, responder) = kept.recv().unwrap();
    responder.respond(Number(2)).unwrap();
    assert_eq!((old.rings(), new.rings()), (0, 1));
    let Poll::Ready(answer) = old.poll(&mut call) else { panic!("it was answered") };
    assert_eq!(answer?.0, 2);
    Ok(())
}

#[test]
#[should_panic(expected = "polled again after it had yielded its result")]
fn a_call_that_was_answered_is_not_polled_again() {
    let room = Room::new();
    room.context.shutdown();
    let context = real_context();
    let client = context.node("node").unwrap().client::<Numbers>("n").create().unwrap();
    context.shutdown();
    let mut call = client.call_async(Number(1));
    assert!(Task::new().poll(&mut call).is_ready());
    let _ = Task::new().poll(&mut call);
}

#[test]
fn a_dropped_call_takes_its_request_back_and_its_waker_with_it() {
    let room = Room::new();
    let (server, kept) = by_hand(&room, "n");
    let client = client(&room, "n");
    let task = Task::new();
    let mut calls: Vec<_> = (0..5).map(|n| client.call_async(Number(n))).collect();
    assert!(calls.iter_mut().all(|call| task.poll(call).is_pending()));
    drop(calls.remove(3));
    drop(calls.remove(1));
    assert_eq!(room.run(), 3);
    assert_eq!(kept.try_iter().map(|(n, _)| n).collect::<Vec<_>>(), [0, 2, 4]);
    assert_eq!((server.statistics().withdrawn, client.statistics().abandoned), (2, 2));
    assert_eq!(task.rings(), 3, "those whose responders were dropped");
}

#[test]
fn a_call_keeps_its_client() -> sinew::Result<()> {
    let room = Room::new();
    let call = client(&room, "n").call_async(Number(1));
    let _server = room.node.server::<Numbers>("n").callback(|n: Unique<Number>| n)?;
    assert_eq!(room.executor.spin_until(call)??.0, 1);
    Ok(())
}

#[test]
fn futures_may_be_made_from_every_form_of_request() -> sinew::Result<()> {
    let room = Room::new();
    let client = client(&room, "n");
    let service = || room.node.server::<Numbers>("n");
    let reentrant = room.node.reentrant_group();
    let state = room.node.group(7_u64);
    let expect = |server: Server<Numbers>, expected: u64| {
        assert_eq!(room.executor.spin_until(client.call_async(Number(1))).unwrap().unwrap().0, expected);
        drop(server);
    };
    expect(service().async_callback(|n: Number| async move { Number(n.0 + 1) })?, 2);
    expect(service().async_callback(|n: Unique<Number>| async { n })?, 1);
    expect(service().async_callback(|n: Box<Number>| async { Ok::<_, String>(n) })?, 1);
    expect(service().async_callback(async |n: Number| Number(n.0 + 2))?, 3);
    expect(
        service().async_callback(|_: Number, info: RequestInfo| async move { Number(info.sequence()) })?,
        5,
    );
    expect(state.server::<Numbers>("n").async_callback(|n: Number| std::future::ready(n))?, 1);
    expect(reentrant.server::<Numbers>("n").async_callback(|n: Number| async { n })?, 1);
    expect(
        reentrant.server::<Numbers>("n").async_callback(|_: Number, info: RequestInfo| async move {
            Ok::<_, CallError<Number>>(Number(info.sequence()))
        })?,
        8,
    );
    Ok(())
}

#[test]
fn several_requests_are_on_their_way_at_once_and_end_in_any_order() -> sinew::Result<()> {
    let room = Room::new();
    let (_inner_server, kept) = by_hand(&room, "inner");
    let inner = client(&room, "inner");
    let server = room.node.server::<Numbers>("outer").async_callback(move |n: Unique<Number>| {
        let inner = inner.clone();
        async move {
            let mut answer = inner.call_async(n).await?;
            answer.0 *= 10;
            inner.call_async(answer).await
        }
    })?;
    let outer = client(&room, "outer");
    let mut calls: Vec<_> = (0..6).map(|n| outer.call_async(Number(n))).collect();
    room.run();
    assert_eq!(server.statistics().in_hand, 6);
    let mut first: Vec<_> = kept.try_iter().collect();
    first.reverse();
    for (n, responder) in first {
        responder.respond(Number(n + 1)).unwrap();
    }
    room.run();
    let second: Vec<_> = kept.try_iter().collect();
    assert_eq!(second.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [60, 50, 40, 30, 20, 10]);
    for (n, responder) in second {
        responder.respond(Number(n)).unwrap();
    }
    room.run();
    for (n, call) in (0..).zip(&mut calls) {
        let Poll::Ready(answer) = Task::new().poll(call) else { panic!("{n} has no answer") };
        assert_eq!(answer?.0, 10 * (n + 1));
    }
    assert_eq!((server.statistics().in_hand, server.statistics().answered), (0, 6));
    Ok(())
}

#[test]
fn a_chain_of_asynchronous_servers_needs_one_thread() -> sinew::Result<()> {
    const HOPS: u64 = 30;
    let room = Room::new();
    let mut servers = Vec::new();
    for hop in 0..HOPS {
        let next = client(&room, &format!("hop_{}", hop + 1));
        servers.push(room.node.server::<Numbers>(&format!("hop_{hop}")).async_callback(
            move |n: Unique<Number>| {
                let answer = next.call_async(n);
                async move { answer.await.map(|n| Number(n.0 + 1)) }
            },
        )?);
    }
    servers.push(room.node.server::<Numbers>(&format!("hop_{HOPS}")).callback(|n: Unique<Number>| n)?);
    let first = client(&room, "hop_0");
    for n in 0..10 {
        assert_eq!(room.executor.spin_until(first.call_async(Number(n)))??.0, n + HOPS);
    }
    Ok(())
}

/// Wakes itself a few times before it is ready, from its own poll and from elsewhere.
struct Restless {
    polls: u64,
    left: u64,
}

impl Future for Restless {
    type Output = Number;

    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Number> {
        self.polls += 1;
        if self.left == 0 {
            return Poll::Ready(Number(self.polls));
        }
        self.left -= 1;
        if self.left.is_multiple_of(2) {
            context.waker().wake_by_ref();
            context.waker().wake_by_ref();
        } else {
            let waker = context.waker().clone();
            thread::spawn(move || waker.wake());
        }
        Poll::Pending
    }
}

#[test]
fn a_future_is_polled_again_when_it_is_woken_and_not_otherwise() {
    for executor in [Executor::single(), Executor::multi(2)] {
        let context = real_context();
        let node = context.node("node").unwrap();
        for reentrant in [false, true] {
            let restless = |n: Number| Restless { polls: 0, left: n.0 };
            let _server = if reentrant {
                node.reentrant_group().server::<Numbers>("restless").async_callback(restless).unwrap()
            } else {
                node.server::<Numbers>("restless").async_callback(restless).unwrap()
            };
            let _ = executor.add(&context);
            let client = node.client::<Numbers>("restless").create().unwrap();
            let calls: Vec<_> = (0..40).map(|n| client.call_async(Number(n))).collect();
            for (n, call) in (0..).zip(calls) {
                assert_eq!(executor.spin_until(call).unwrap().unwrap().0, n + 1);
            }
        }
    }
}

/// Reports when it is dropped.
struct Dropped(Pen<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.write("dropped");
    }
}

#[test]
fn a_server_that_goes_drops_its_futures_and_their_callers_get_an_error() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let server = room.node.server::<Numbers>("n").async_callback(move |n: Number| {
        let kept = Dropped(pen.clone());
        async move {
            if n.0 > 0 {
                std::future::pending::<()>().await;
            }
            drop(kept);
            n
        }
    })?;
    let client = client(&room, "n");
    let mut calls: Vec<_> = (0..3).map(|n| client.call_async(Number(n))).collect();
    room.run();
    let waits = client.call_async(Number(9));
    assert_eq!(log.lines(), ["dropped"]);
    assert_eq!(server.statistics().in_hand, 2);
    drop(server);
    assert_eq!(log.lines(), ["dropped", "dropped"]);
    assert_eq!(block_on(calls.remove(0))?.0, 0);
    for (taken, call) in [(true, calls.remove(0)), (true, calls.remove(0)), (false, waits)] {
        let error = block_on(call).unwrap_err();
        assert_eq!(error.failure(), &CallFailure::ServerGone);
        assert_eq!(error.into_request().is_none(), taken);
    }
    Ok(())
}

#[test]
fn a_server_may_go_while_its_future_is_polled() -> sinew::Result<()> {
    for ready in [true, false] {
        let room = Room::new();
        let (give, given) = mpsc::channel::<Server<Numbers>>();
        let given = Arc::new(Shared::new(Given(given)));
        let server = room.node.server::<Numbers>("n").async_callback(move |n: Number| {
            let given = given.clone();
            async move {
                drop(given.take());
                if !ready {
                    std::future::pending::<()>().await;
                }
                n
            }
        })?;
        give.send(server).unwrap();
        let call = client(&room, "n").call_async(Number(1));
        room.run();
        let result = block_on(call);
        match ready {
            true => assert_eq!(result?.0, 1),
            false => assert_eq!(result.unwrap_err().failure(), &CallFailure::ServerGone),
        }
    }
    Ok(())
}

/// A receiver that futures may share.
struct Given(mpsc::Receiver<Server<Numbers>>);

struct Shared(Mutex<Given>);

impl Shared {
    fn new(given: Given) -> Self {
        Self(Mutex::new(given))
    }

    fn take(&self) -> Server<Numbers> {
        self.0.lock().unwrap().0.recv().unwrap()
    }
}

/// The caller gives up while the server works: the future goes on to its end, and its answer is
/// nobody's.
#[test]
fn a_future_whose_caller_has_gone_still_ends() -> sinew::Result<()> {
    let room = Room::new();
    let (_server, kept) = by_hand(&room, "inner");
    let inner = client(&room, "inner");
    let log = Log::new();
    let pen = log.pen();
    let server = room.node.server::<Numbers>("n").async_callback(move |n: Unique<Number>| {
        let (answer, pen) = (inner.call_async(n), pen.clone());
        async move {
            let answer = answer.await;
            pen.write(());
            answer
        }
    })?;
    let call = client(&room, "n").call_async(Number(1));
    room.run();
    drop(call);
    let (_, responder) = kept.recv().unwrap();
    responder.respond(Number(1)).unwrap();
    room.run();
    assert_eq!(log.lines().len(), 1);
    assert_eq!((server.statistics().unclaimed, server.statistics().in_hand), (1, 0));
    Ok(())
}

/// Callers on threads, servers on two threads, calls that are dropped at any time: everybody gets
/// his own answer.
#[test]
fn calls_are_answered_and_dropped_on_many_threads() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let executor = Executor::multi(2);
    executor.add(&context).unwrap();
    let group = node.reentrant_group();
    let _inner = group.server::<Numbers>("inner").callback(|n: &Number| Number(n.0 + 1)).unwrap();
    let inner = node.client::<Numbers>("inner").create().unwrap();
    let outer = group.server::<Numbers>("outer").async_callback(move |n: Unique<Number>| {
        let inner = inner.clone();
        async move {
            let n = inner.call_async(n).await?;
            inner.call_async(n).await
        }
    });
    let server = outer.unwrap();
    let stop = executor.stop_handle();
    thread::scope(|scope| {
        let executor = &executor;
        scope.spawn(move || executor.spin());
        let callers: Vec<_> = (0..4_u64)
            .map(|caller| {
                let client = node.client::<Numbers>("outer").create().unwrap();
                scope.spawn(move || {
                    for n in 0..200 {
                        let n = 1000 * caller + n;
                        let dropped = client.call_async(Number(0));
                        let call = client.call_async(Number(n));
                        if n % 3 == 0 {
                            drop(dropped);
                        } else {
                            assert_eq!(block_on(dropped).unwrap().0, 2);
                        }
                        assert_eq!(block_on(call).unwrap().0, n + 2);
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
        stop.stop();
    });
    executor.spin_all(PATIENCE).unwrap();
    let statistics = server.statistics();
    let ended = statistics.answered + statistics.unclaimed + statistics.withdrawn;
    assert_eq!((ended, statistics.received, statistics.in_hand), (1600, 1600, 0));
}

/// A call for which no time is left leaves its server to the executor: the next call is answered,
/// too.
#[test]
fn a_call_without_time_leaves_the_server_to_the_executor() -> sinew::Result<()> {
    for threads in [1, 2] {
        let context = real_context();
        let node = context.node("node")?;
        let _server = node.server::<Numbers>("double").callback(|n: &Number| Number(2 * n.0))?;
        let client = node.client::<Numbers>("double").create()?;
        let executor = Executor::multi(threads);
        executor.add(&context)?;
        thread::scope(|scope| {
            scope.spawn(|| executor.spin().unwrap());
            for _ in 0..50 {
                let _ = client.call(Number(1), sinew::Duration::ZERO); // most have no answer
                thread::park_timeout(sinew::Duration::from_micros(200)); // so that the worker sleeps
            }
            assert_eq!(block_on(client.call_async(Number(21))).unwrap().0, 42);
            context.shutdown();
        });
    }
    Ok(())
}

/// A callback wakes a future of a server, and calls the server: both announce it. What it did is
/// two runs, though it may have been asked once more.
#[test]
fn a_run_that_finds_nothing_to_do_is_not_counted() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let (notified, waker) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None::<Waker>)));
    let (notifies, wake) = (notified.clone(), waker.clone());
    let _server = node.server::<Numbers>("service").async_callback(move |n: Number| {
        let (notified, waker) = (notified.clone(), waker.clone());
        std::future::poll_fn(move |context| {
            *waker.lock().unwrap() = Some(context.waker().clone());
            if n.0 == 2 || notified.load(Ordering::Relaxed) {
                Poll::Ready(Number(n.0))
            } else {
                Poll::Pending
            }
        })
    })?;
    let client = node.client::<Numbers>("service").create()?;
    let second = Arc::new(Mutex::new(None));
    let (calls, called) = (client.clone(), second.clone());
    let _go = node.subscription::<Number>("go").callback(move |_: &Number| {
        *called.lock().unwrap() = Some(calls.call_async(Number(2)));
        notifies.store(true, Ordering::Relaxed);
        let waker = wake.lock().unwrap().take();
        waker.expect("the first waits").wake();
    })?;
    let executor = Executor::single();
    executor.add(&context)?;
    let first = client.call_async(Number(1));
    executor.spin_all(PATIENCE)?;
    node.publisher::<Number>("go").create()?.publish(Number(0))?;
    executor.spin_all(PATIENCE)?;
    assert_eq!(block_on(first).unwrap().0, 1);
    let second = second.lock().unwrap().take().expect("it was called");
    assert_eq!(block_on(second).unwrap().0, 2);
    let times = executor.run_times();
    let of_server = times.iter().find(|times| times.entity.starts_with("service"));
    assert_eq!(of_server.map(|times| times.histogram.count()), Some(3));
    Ok(())
}

#[test]
fn a_request_is_taken_beside_a_future_that_always_goes_on() {
    let room = Room::new();
    let done = Arc::new(AtomicBool::new(false));
    let _server = room.node.server::<Numbers>("n").async_callback(move |n: Number| {
        let done = done.clone();
        async move {
            done.fetch_or(n.0 == 1, Ordering::Relaxed);
            let mut turns = 0;
            while !done.load(Ordering::Relaxed) && turns < 1000 {
                turns += 1;
                let mut has_yielded = false;
                std::future::poll_fn(|context| {
                    context.waker().wake_by_ref();
                    if std::mem::replace(&mut has_yielded, true) { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            }
            Number(turns)
        }
    });
    let client = client(&room, "n");
    let (waits, ends) = (client.call_async(Number(0)), client.call_async(Number(1)));
    room.run();
    assert_eq!(block_on(ends).unwrap().0, 0);
    assert!(block_on(waits).unwrap().0 < 10);
}
