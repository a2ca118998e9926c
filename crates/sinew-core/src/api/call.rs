//! Waiting for an answer.

use super::client_core::{ClientCore, result_of};
use crate::executor::crew::blocked::Blocked;
use crate::executor::crew::scheduler::TaskRef;
use crate::executor::crew::wait_graph::Deadlock;
use crate::executor::work::queue::WorkId;
use crate::executor::{current, prefetch};
use crate::mailbox::waiters::Waiter;
use crate::message::block::RawMessage;
use crate::service::error::CallError;
use crate::service::failure::CallFailure;
use crate::service::pending_calls::{
    CallFault, CallId, CallOutcome, CallWaiter, RemoteServerConnection, RemoteWait,
};
use crate::service::reply::CallResult;
use crate::service::request_queue::Unannounced;
use crate::sys::clock::{Time, nanoseconds};
use crate::sys::parker::Parker;
use crate::sys::sync::Arc;
use sinew_msg::Service;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, Wake};
use std::time::Duration;

/// Maximum number of nested callbacks on a thread in which the innermost one may still call.
const DEPTH_LIMIT: usize = 64;

thread_local! {
    /// The parker on which this thread sleeps while it waits. (Nested calls share it: only the
    /// innermost one sleeps.)
    static PARKER: Arc<Parker> = Arc::new(Parker::new());
}

/// A call that this thread waits for.
struct BlockingCall<'a> {
    client: &'a ClientCore,
    id: CallId,
    wait: Wait<'a>,
    /// Whether it is over.
    over: bool,
}

/// How long a call waits.
pub(super) struct Wait<'a> {
    pub(super) timeout: Duration,
    /// The time between two calls of `goes_on`.
    pub(super) slice: Duration,
    /// Returns whether to wait for the rest of the timeout.
    pub(super) goes_on: &'a mut dyn FnMut() -> bool,
}

impl Drop for BlockingCall<'_> {
    fn drop(&mut self) {
        if !self.over {
            drop(self.client.give_up(self.id)); // a panic ended the wait
        }
    }
}

/// The end of a wait.
enum WaitEnd {
    /// Check again.
    Over,
    Settled(CallOutcome),
    InVain(&'static str),
}

/// Sends a request and waits for the answer; meanwhile runs the server if this thread can.
///
/// The request is announced without waking a thread, as this thread is about to run the server
/// itself. A worker is woken for it only if this thread cannot run it, because the server's group
/// is busy or its executor has no place for this thread.
pub(crate) fn wait_for(inner: &Arc<ClientCore>, request: RawMessage, timeout: Duration) -> CallOutcome {
    wait_while(inner, request, Wait { timeout, slice: timeout, goes_on: &mut || true })
}

/// As [`wait_for`], until the program ends the wait.
pub(super) fn wait_while<'a>(inner: &'a Arc<ClientCore>, request: RawMessage, wait: Wait<'a>) -> CallOutcome {
    if current::depth() >= DEPTH_LIMIT {
        let failure = CallFailure::TooDeep { limit: DEPTH_LIMIT };
        return Err(CallFault { failure, request: Some(request) });
    }
    let begin = Time::steady();
    if current::depth() == 0 {
        prefetch::take_notes(begin.nanoseconds());
    }
    let (id, server) = inner.send(request, CallWaiter::Caller(None), true)?;
    let mut waiting = BlockingCall { client: inner, id, wait, over: false };
    let outcome = waiting.end(server, begin);
    waiting.over = true;
    outcome
}

impl BlockingCall<'_> {
    /// `server`: the server's task, if the request isn't announced to it yet, and since when the
    /// request waits.
    fn end(&mut self, mut server: Unannounced, begin: Time) -> CallOutcome {
        let (client, id, timeout) = (self.client, self.id, self.wait.timeout);
        let ClientCore { calls, requests, .. } = client;
        let deadline = begin + timeout;
        let mut left = timeout; // the clock is read again once that may matter
        loop {
            if server.is_none()
                && let Some(connection) = calls.connection_of(id)
                && let Some(outcome) = self.wait_remote(&*connection, deadline)
            {
                return outcome;
            }
            let (task_ref, since) = match server.take() {
                Some((task_ref, since)) => (Some(task_ref), Some(since)),
                None => (requests.task_ref(), None),
            };
            let within = nanoseconds(left);
            let ran = task_ref.as_ref().is_some_and(|task_ref| task_ref.run_as_caller(since, within));
            if let Some(outcome) = calls.take(id) {
                return outcome;
            }
            left = deadline - Time::steady();
            if left.is_zero() {
                let outcome = self.give_up();
                if let Some(task_ref) = task_ref.filter(|_| !ran && since.is_some()) {
                    task_ref.leave_to_others();
                }
                return outcome;
            }
            if ran {
                continue; // it ran another caller's request, or the server answers this one later
            }
            match self.sleep(left.min(self.wait.slice)) {
                WaitEnd::Over if !(self.wait.goes_on)() => return self.give_up(),
                WaitEnd::Over => left = deadline - Time::steady(),
                WaitEnd::Settled(outcome) => return outcome,
                WaitEnd::InVain(why) => {
                    let give_up =
                        |request| CallFault { failure: CallFailure::WouldDeadlock { why }, request };
                    return client.give_up(id).unwrap_or_else(|request| Err(give_up(request)));
                }
            }
        }
    }

    /// Waits for an answer from another process. `None` if the connection cannot wait for it.
    #[inline(never)]
    fn wait_remote(
        &mut self,
        connection: &dyn RemoteServerConnection,
        deadline: Time,
    ) -> Option<CallOutcome> {
        let ClientCore { calls, patience, .. } = self.client;
        loop {
            let now = Time::steady();
            let end = deadline.min(now + self.wait.slice);
            match connection.wait(calls, self.id, end, *patience) {
                RemoteWait::Settled(outcome) => return Some(outcome),
                RemoteWait::TimedOut if end < deadline && (self.wait.goes_on)() => {}
                RemoteWait::TimedOut => return Some(self.give_up()),
                RemoteWait::Unable => return None,
            }
        }
    }

    /// Sleeps until there is an outcome, or this thread could run the server.
    #[inline(never)] // keeps its stack frame out of nested calls
    fn sleep(&self, left: Duration) -> WaitEnd {
        let ClientCore { calls, requests, .. } = self.client;
        // A thread that is ending has no parker.
        let parker = PARKER.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Parker::new()));
        let deferred = match calls.take_or_wait(self.id, Waiter::Thread(parker.clone())) {
            Ok(outcome) => return WaitEnd::Settled(outcome),
            Err(deferred) => deferred,
        };
        // Not earlier: from now on, a server that joins another executor wakes this thread to check
        // again.
        let task_ref = requests.task_ref();
        let Some(task_ref) = &task_ref else {
            let _blocked = Blocked::begin();
            parker.park(Some(left));
            return WaitEnd::Over;
        };
        // If this thread is a worker of the server's executor, `register_caller` below marks it as
        // blocked instead.
        let elsewhere = current::worker_of(task_ref.scheduler.id).is_none();
        let _blocked = if elsewhere { Blocked::begin() } else { None };
        let mut _known = None;
        // Any thread may answer a request that was taken to be answered later, so a deadlock could
        // not be detected.
        if !deferred {
            let lends = current::spins(task_ref.scheduler.id);
            _known = match calls.session.wait_graph.enter(task_ref, lends) {
                Err(Deadlock) => return WaitEnd::InVain(why(task_ref)),
                Ok(known) => known,
            };
        }
        if let Some(_caller) = task_ref.register_caller(nanoseconds(left), &parker) {
            parker.park(Some(left));
        }
        WaitEnd::Over
    }

    #[cold]
    #[inline(never)]
    fn give_up(&self) -> CallOutcome {
        self.client.give_up(self.id).unwrap_or_else(|request| Err(self.timed_out(request)))
    }

    /// Returns the failure for a missing answer; `request` if no server took it.
    #[cold]
    fn timed_out(&self, request: Option<RawMessage>) -> CallFault {
        let waited = self.wait.timeout;
        let failure = match (&request, self.client.requests.service()) {
            (Some(_), (false, ever_seen)) => CallFailure::NoServer { waited, ever_seen },
            _ => CallFailure::Timeout { waited, started: request.is_none() },
        };
        CallFault { failure, request }
    }
}

/// Waits for a future that becomes ready through a server's work, for example on the thread of a
/// callback. Like a call that waits for its answer, it meanwhile runs the server's work if this
/// thread can. `id` identifies the work in the server's work queue. Returns `None` if the future
/// isn't ready in time.
///
/// # Errors
/// The reason why the wait would never end.
pub(crate) fn wait_beside<F: Future + Unpin>(
    client: &ClientCore,
    id: &WorkId,
    future: &mut F,
    timeout: Duration,
) -> Result<Option<F::Output>, &'static str> {
    if current::depth() >= DEPTH_LIMIT {
        return Err("nested calls go at most 64 deep");
    }
    let deadline = Time::steady() + timeout;
    let parker = PARKER.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Parker::new()));
    let waker = Arc::new(UnparkWaker(parker.clone())).into();
    let mut context = Context::from_waker(&waker);
    let mut poll = || Pin::new(&mut *future).poll(&mut context);
    loop {
        if let Poll::Ready(output) = poll() {
            return Ok(Some(output));
        }
        let work = client.requests.work(id);
        let left = deadline - Time::steady();
        let run = |task_ref: &TaskRef| task_ref.run_as_caller(None, nanoseconds(left));
        let ran = work.as_ref().is_some_and(|(task_ref, _)| run(task_ref));
        if left.is_zero() {
            return Ok(match poll() {
                Poll::Ready(output) if ran => Some(output),
                _ => None,
            });
        }
        if !ran {
            sleep_beside(client, work, left, &parker)?;
        }
    }
}

/// Sleeps until the future may be ready, or this thread could run the server's work.
fn sleep_beside(
    client: &ClientCore,
    work: Option<(TaskRef, bool)>,
    left: Duration,
    parker: &Arc<Parker>,
) -> Result<(), &'static str> {
    let Some((task_ref, is_needed)) = work else {
        let _blocked = Blocked::begin();
        parker.park(Some(left));
        return Ok(());
    };
    let elsewhere = current::worker_of(task_ref.scheduler.id).is_none();
    let _blocked = if elsewhere { Blocked::begin() } else { None };
    let mut _known = None;
    // Any thread may end work that has begun, so only needed work is checked for deadlock.
    if is_needed {
        let lends = current::spins(task_ref.scheduler.id);
        _known = match client.calls.session.wait_graph.enter(&task_ref, lends) {
            Err(Deadlock) => return Err(why(&task_ref)),
            Ok(known) => known,
        };
    }
    if let Some(_caller) = task_ref.register_caller(nanoseconds(left), parker) {
        parker.park(Some(left));
    }
    Ok(())
}

/// Wakes a thread that [waits](wait_beside).
struct UnparkWaker(Arc<Parker>);

impl Wake for UnparkWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns the reason why no thread could run a server while this thread waits.
fn why(task_ref: &TaskRef) -> &'static str {
    if current::has_token_of(task_ref.group()) {
        "the server's callback group is the caller's, or that of a callback which waits for the caller"
    } else {
        "every thread that could run the server waits for the caller"
    }
}

/// A pending call: a future that yields the response. From
/// [`Client::call_async`](super::client::Client::call_async).
///
/// It may be polled by any runtime, and by [`Executor::spin_until`](crate::Executor::spin_until);
/// moved to another thread; and dropped at any time. Dropping it abandons the call: its request is
/// taken back if no server has taken it, and the server counts an answer that comes all the same.
/// It keeps its client alive. It isn't `Clone`: one reader gets the result. If the server is
/// dropped or the context is shut down, it yields an error; it has no timeout of its own, so use
/// the runtime's.
#[must_use = "dropped, the call is abandoned"]
pub struct PendingCall<S: Service> {
    state: CallState<S>,
    of: PhantomData<fn(S)>,
}

enum CallState<S: Service> {
    Sent(SentCall),
    Refused(CallError<S::Request>),
    Over,
}

/// A call that a task awaits, of a typed client or of one of any type. Dropping it abandons the
/// call.
pub(super) struct SentCall(Option<(Arc<ClientCore>, CallId)>);

impl SentCall {
    pub(super) fn new(client: &Arc<ClientCore>, id: CallId) -> Self {
        Self(Some((client.clone(), id)))
    }

    /// Yields the outcome once, as `result_of` has it.
    ///
    /// # Panics
    /// If it has yielded its outcome before.
    pub(super) fn poll<R>(
        &mut self,
        context: &mut Context<'_>,
        result_of: impl FnOnce(Result<RawMessage, (CallFault, &str)>) -> R,
    ) -> Poll<R> {
        let Some((client, id)) = &self.0 else { panic!("{POLLED_AGAIN}") };
        let waiter = Waiter::Task(context.waker().clone());
        let Ok(outcome) = client.calls.take_or_wait(*id, waiter) else { return Poll::Pending };
        let result = result_of(outcome.map_err(|fault| (fault, &*client.calls.service)));
        self.0 = None;
        Poll::Ready(result)
    }
}

impl Drop for SentCall {
    fn drop(&mut self) {
        if let Some((client, id)) = &self.0 {
            drop(client.give_up(*id)); // the content is dropped with it
        }
    }
}

const POLLED_AGAIN: &str = "a call has been polled again after it had yielded its result";

impl<S: Service> PendingCall<S> {
    pub(crate) fn new(inner: &Arc<ClientCore>, id: CallId) -> Self {
        Self { state: CallState::Sent(SentCall::new(inner, id)), of: PhantomData }
    }

    pub(crate) fn refused(error: CallError<S::Request>) -> Self {
        Self { state: CallState::Refused(error), of: PhantomData }
    }
}

impl<S: Service> Future for PendingCall<S> {
    type Output = CallResult<S>;

    /// # Panics
    /// If it has yielded its result before.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let CallState::Sent(call) = &mut this.state {
            return call.poll(context, result_of::<S>);
        }
        match std::mem::replace(&mut this.state, CallState::Over) {
            CallState::Refused(error) => Poll::Ready(Err(error)),
            _ => panic!("{POLLED_AGAIN}"),
        }
    }
}

impl<S: Service> Unpin for PendingCall<S> {}

impl<S: Service> fmt::Debug for PendingCall<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall").finish_non_exhaustive()
    }
}
