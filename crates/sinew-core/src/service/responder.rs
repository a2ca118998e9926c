//! The way from a request to its answer.

use super::error::RespondError;
use super::failure::CallFailure;
use super::observed::ServiceEvent;
use super::pending_calls::{CallFault, CallOutcome};
use super::request::ReplyTo;
use super::request_queue::server_core::ServerCore;
use crate::message::Unique;
use crate::message::into_message::{IntoUnique, erase};
use crate::sys::panics::panic_message;
use crate::sys::sync::{Arc, AtomicU64, Ordering, no_lock_is_held};
use sinew_msg::Service;
use std::fmt;
use std::fmt::Display;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed); // a statistic: orders nothing
}

impl ServerCore {
    /// Gives a caller the outcome of its request. Returns an outcome that no caller waits for.
    pub(crate) fn complete(&self, reply_to: ReplyTo, outcome: CallOutcome) -> Result<(), CallOutcome> {
        no_lock_is_held(); // a call's immediate callback runs
        if let Ok(response) = &outcome {
            let caller = || reply_to.caller(self.requests.session.participant);
            self.observed.notify(ServiceEvent::ResponseSent, caller, response);
        }
        let stats = &self.stats;
        let counter = match &outcome {
            Ok(_) => &stats.answered,
            Err(CallFault { failure: CallFailure::Dropped, .. }) => &stats.dropped,
            Err(_) => &stats.failed,
        };
        let result = reply_to.complete(outcome);
        count(if result.is_ok() { counter } else { &stats.unclaimed });
        result
    }

    pub(crate) fn fail(&self, reply_to: ReplyTo, failure: CallFailure) {
        // A caller that no longer waits doesn't miss it.
        drop(self.complete(reply_to, Err(CallFault { failure, request: None })));
    }
}

/// A request that was taken to be answered later. Dropping the token answers with a failure.
pub(crate) struct ReplyToken {
    reply_to: Option<ReplyTo>,
    core: Arc<ServerCore>,
}

impl ReplyToken {
    pub(crate) fn new(reply_to: ReplyTo, core: &Arc<ServerCore>) -> Self {
        count(&core.stats.in_hand);
        reply_to.nudge(true);
        Self { reply_to: Some(reply_to), core: core.clone() }
    }

    pub(crate) fn complete(&mut self, outcome: CallOutcome) -> Result<(), CallOutcome> {
        let Some(reply_to) = self.reply_to.take() else { return Err(outcome) };
        self.core.stats.in_hand.fetch_sub(1, Ordering::Relaxed); // as in `count`
        self.core.complete(reply_to, outcome)
    }

    pub(crate) fn fail(&mut self, failure: CallFailure) {
        // A caller that no longer waits doesn't miss it.
        drop(self.complete(Err(CallFault { failure, request: None })));
    }

    /// Whether the caller still waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.reply_to.as_ref().is_some_and(ReplyTo::is_awaited)
    }

    pub(crate) fn core(&self) -> &Arc<ServerCore> {
        &self.core
    }

    /// Runs code of the program. If it panics, the caller is notified before the panic goes on.
    pub(crate) fn guard<R>(&mut self, code: impl FnOnce() -> R) -> R {
        match catch_unwind(AssertUnwindSafe(code)) {
            Ok(result) => result,
            Err(panic) => {
                self.fail(CallFailure::Panicked { message: panic_message(&*panic) });
                resume_unwind(panic)
            }
        }
    }
}

impl Drop for ReplyToken {
    fn drop(&mut self) {
        if self.reply_to.is_some() {
            self.fail(if std::thread::panicking() {
                CallFailure::Panicked { message: "it dropped the request over that".to_owned() }
            } else {
                CallFailure::Dropped
            });
        }
    }
}

/// Answers one request, later and from any thread.
///
/// A server's callback that takes a responder as its last parameter decides when to answer: it
/// passes the responder on to a thread, a later callback or a task. If the responder is dropped
/// without an answer, the call fails at once with [`CallFailure::Dropped`]. A responder may outlive
/// its server. While it lives it counts towards the server's
/// [`max_requests`](crate::api::server::ServerBuilder::max_requests). It isn't `Clone`: a request
/// has one answer.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::Responder;
/// # struct Number(u64); impl Message for Number {}
/// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
/// let context = Context::new()?;
/// let node = context.node("doubler")?;
/// let _server = node.server::<Double>("double").callback(|request: Number, responder: Responder<Double>| {
///     std::thread::spawn(move || responder.respond(Number(2 * request.0)));
/// })?;
/// let client = node.client::<Double>("double").create()?;
/// let executor = Executor::single();
/// executor.add(&context)?;
/// let response = executor.spin_until(client.call_async(Number(21)))?;
/// assert_eq!(response.unwrap().0, 42);
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "dropped without an answer, the call fails"]
pub struct Responder<S: Service> {
    reply_token: ReplyToken,
    of: PhantomData<fn(S)>,
}

impl<S: Service> Responder<S> {
    pub(crate) fn new(reply_token: ReplyToken) -> Self {
        Self { reply_token, of: PhantomData }
    }

    /// Answers with a `Response`, a `Box<Response>` or a `Unique<Response>`. Never blocks. The
    /// caller's thread, waker or executor is woken under no lock.
    ///
    /// # Errors
    /// Returns the response if the caller no longer waits for it.
    pub fn respond(
        mut self,
        response: impl IntoUnique<S::Response>,
    ) -> Result<(), RespondError<S::Response>> {
        let response = erase(response, &self.reply_token.core().pool);
        self.reply_token
            .complete(Ok(response))
            .map_err(|outcome| RespondError::new(outcome.ok().map(Unique::assume)))
    }

    /// Answers with an error: the caller gets [`CallFailure::Failed`].
    ///
    /// # Errors
    /// Returns an error if the caller no longer waits.
    pub fn fail(mut self, error: impl Display) -> Result<(), RespondError<S::Response>> {
        let failure = CallFailure::Failed { message: error.to_string() };
        self.reply_token
            .complete(Err(CallFault { failure, request: None }))
            .map_err(|_| RespondError::new(None))
    }

    /// Returns `true` if the caller still waits. Check this before a long computation.
    pub fn is_awaited(&self) -> bool {
        self.reply_token.is_awaited()
    }
}

impl<S: Service> fmt::Debug for Responder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("service", &self.reply_token.core.requests.name)
            .finish_non_exhaustive()
    }
}
