//! Calls: answers, sleeping and giving up at the same time; callers; futures that are woken
//! while they are polled.

use super::{Probe, check};
use crate::api::context::Context;
use crate::api::node::Node;
use crate::api::server::Server;
use crate::executor::Executor;
use crate::mailbox::waiters::Waiter;
use crate::message::block::RawMessage;
use crate::service::failure::CallFailure;
use crate::service::pending_calls::{CallFault, CallId, CallWaiter, PendingCalls};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, Mutex};
use crate::time::VirtualClock;
use crate::{Client, Duration, Service, Unique};
use loom::thread;
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, Wake, Waker};

struct Probing;

impl Service for Probing {
    type Request = Probe;
    type Response = Probe;
}

/// Assumed duration of a callback that was never measured: a thread from outside then runs it.
const LONG: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

fn room() -> (Context, Node) {
    let context = Context::builder().domain(0).virtual_time(&VirtualClock::new()).build().unwrap();
    let node = context.node("model").unwrap();
    (context, node)
}

/// A client's calls, and the id of one that has begun.
fn begun() -> (Client<Probing>, Arc<PendingCalls>, CallId) {
    let (_context, node) = room();
    let client = node.client::<Probing>("n").create().unwrap();
    let calls = client.calls().clone();
    let (id, _) = calls.begin(CallWaiter::Caller(None));
    (client, calls, id)
}

/// Sleeps until a call has its outcome.
fn wait(calls: &PendingCalls, id: CallId) -> Result<u64, CallFailure> {
    let parker = Arc::new(Parker::new());
    loop {
        match calls.take_or_wait(id, Waiter::Thread(parker.clone())) {
            Ok(Ok(response)) => return Ok(Unique::<Probe>::assume(response).read()),
            Ok(Err(CallFault { failure, .. })) => return Err(failure),
            Err(_) => parker.park(None),
        }
    }
}

/// An answer that comes while the caller goes to sleep wakes it, and carries everything written
/// before it.
///
/// Fails if `take_or_wait` checks and registers its parker under two locks, or if `complete`
/// doesn't wake.
#[test]
fn an_answer_wakes_its_caller() {
    check(6, || {
        let (_client, calls, id) = begun();
        let there = calls.clone();
        let server = thread::spawn(move || {
            let response = Probe::new(0);
            response.write(7);
            there.complete(id, Ok(RawMessage::new(response))).map_err(drop).unwrap();
        });
        assert_eq!(wait(&calls, id), Ok(7));
        server.join().unwrap();
    });
}

/// A call is settled once, by the thread that comes first; the second answer is returned.
#[test]
fn of_two_answers_one_counts() {
    check(6, || {
        Probe::reset_counts();
        let (client, calls, id) = begun();
        let servers = [1, 2].map(|n| {
            let there = calls.clone();
            thread::spawn(move || there.complete(id, Ok(RawMessage::new(Probe::new(n)))).is_ok())
        });
        let answer = wait(&calls, id).unwrap();
        let counted = servers.map(|server| server.join().unwrap());
        assert_eq!(counted, [answer == 1, answer == 2]);
        drop((client, calls));
        Probe::expect_counts(2, 2);
    });
}

/// A call is answered while its caller gives up and begins another one in the same place: the
/// answer either reaches the caller or is returned, and is never taken for that of the other call.
///
/// Fails if `complete` doesn't compare the numbers of the calls.
#[test]
fn a_late_answer_is_nobody_s() {
    check(6, || {
        Probe::reset_counts();
        let (client, calls, first) = begun();
        let there = calls.clone();
        let server = thread::spawn(move || there.complete(first, Ok(RawMessage::new(Probe::new(1)))).is_ok());
        let taken = calls.give_up(first).is_some_and(|outcome| outcome.is_ok());
        let (second, _) = calls.begin(CallWaiter::Caller(None));
        assert_eq!(server.join().unwrap(), taken);
        assert!(calls.take(second).is_none());
        drop((client, calls));
        Probe::expect_counts(1, 1);
    });
}

/// A caller that waits notices the end of the context, and so does one that is about to wait.
#[test]
fn an_end_wakes_its_caller() {
    check(6, || {
        let (_client, calls, id) = begun();
        let there = calls.clone();
        let ending = thread::spawn(move || there.end());
        assert_eq!(wait(&calls, id), Err(CallFailure::Shutdown));
        ending.join().unwrap();
    });
}

/// Rings for a task.
struct Alarm(Parker);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A task that is polled while the answer comes finds it, or is woken.
///
/// Fails if `take_or_wait` registers the waker without checking.
#[test]
fn an_answer_wakes_its_task() {
    check(6, || {
        let (_client, calls, id) = begun();
        let there = calls.clone();
        let server = thread::spawn(move || {
            there.complete(id, Ok(RawMessage::new(Probe::new(7)))).map_err(drop).unwrap();
        });
        let alarm = Arc::new(Alarm(Parker::new()));
        let waker = Waker::from(alarm.clone());
        let response = loop {
            match calls.take_or_wait(id, Waiter::Task(waker.clone())) {
                Ok(outcome) => break outcome.map_err(|fault| fault.failure).unwrap(),
                Err(_) => alarm.0.park(None),
            }
        };
        assert_eq!(Unique::<Probe>::assume(response).read(), 7);
        server.join().unwrap();
    });
}

fn echo(node: &Node) -> Server<Probing> {
    node.server::<Probing>("n").callback(|request: Unique<Probe>| request).unwrap()
}

/// A thread calls a server while another one spins its executor, rests, and is stopped: one of them
/// runs the server, and the other isn't left sleeping.
///
/// Fails if a thread that can't run the server is rung: it would check again and again.
#[test]
fn a_thread_runs_the_server() {
    std::thread_local! {
        /// Number of interleavings in which the caller ran it.
        static LENT: Cell<u64> = const { Cell::new(0) };
    }
    check(2, || {
        let (context, node) = room();
        let caller = thread::current().id();
        let run = move |request: Unique<Probe>| {
            LENT.set(LENT.get() + u64::from(thread::current().id() == caller));
            request
        };
        let _server = node.server::<Probing>("n").callback(run).unwrap();
        let client = node.client::<Probing>("n").create().unwrap();
        let executor = Executor::builder().caller_runs(true).build().unwrap();
        executor.add(&context).unwrap();
        let stop = executor.stop_handle();
        let spinning = thread::spawn(move || executor.spin().unwrap());
        assert_eq!(client.call(Probe::new(7), LONG).unwrap().read(), 7);
        stop.stop();
        spinning.join().unwrap();
    });
    assert!(LENT.get() > 0, "no thread ever runs the server: the model is too small");
}

/// Two threads compete for the only place of a resting executor, to run servers of the same group.
///
/// Fails if a thread that has run the server doesn't call another for the work it leaves.
#[test]
fn two_callers_want_one_turn() {
    check(2, || {
        let (context, node) = room();
        let _server = echo(&node);
        let client = node.client::<Probing>("n").create().unwrap();
        let executor = Executor::builder().caller_runs(true).build().unwrap();
        executor.add(&context).unwrap();
        let stop = executor.stop_handle();
        let other = client.clone();
        let calling = thread::spawn(move || other.call(Probe::new(1), LONG).unwrap().read());
        let ending = thread::spawn(move || {
            assert_eq!(client.call(Probe::new(2), LONG).unwrap().read(), 2);
            assert_eq!(calling.join().unwrap(), 1);
            stop.stop();
        });
        executor.spin().unwrap();
        ending.join().unwrap();
    });
}

/// A future that is ready once a thread has set the flag; until then it leaves its waker.
struct Flag(Arc<Mutex<(bool, Option<Waker>)>>);

impl Future for Flag {
    type Output = Probe;

    fn poll(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Probe> {
        let mut flag = self.0.lock();
        if flag.0 {
            return Poll::Ready(Probe::new(7));
        }
        flag.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// A future that is woken while it is polled, put back or waiting is polled again.
///
/// Fails if `wake` does nothing for a future that is being polled, or if `put_back` doesn't check
/// for that.
#[test]
fn a_future_is_not_forgotten() {
    check(2, || {
        let (context, node) = room();
        let flag = Arc::new(Mutex::new((false, None::<Waker>)));
        let its = flag.clone();
        let _server =
            node.server::<Probing>("n").async_callback(move |_: Unique<Probe>| Flag(its.clone())).unwrap();
        let client = node.client::<Probing>("n").create().unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let waking = thread::spawn(move || {
            let waker = {
                let mut flag = flag.lock();
                flag.0 = true;
                flag.1.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        let answer = executor.spin_until(client.call_async(Probe::new(1))).unwrap();
        assert_eq!(answer.unwrap().read(), 7);
        waking.join().unwrap();
    });
}
