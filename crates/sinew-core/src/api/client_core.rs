//! The state that all handles of a client share, and its pending calls.

use super::node::NodeCore;
use crate::executor::group_core::{GroupCore, Membership};
use crate::executor::prefetch;
use crate::mailbox::waiters::{Listener, OnNews};
use crate::message::Unique;
use crate::message::block::{OwnPool, RawMessage};
use crate::parameters::clients::ClientId;
use crate::service::error::CallError;
use crate::service::failure::CallFailure;
use crate::service::observed::ServiceEvent;
use crate::service::pending_calls::{self, CallFault, CallId, CallOutcome, CallWaiter, PendingCalls};
use crate::service::reply::CallResult;
use crate::service::request::{RefusedRequest, ReplyTo, Request};
use crate::service::request_queue::{RequestQueue, Unannounced};
use crate::sys::clock::{Clock, Time, wall_of};
use crate::sys::sync::{Arc, AtomicBool, Ordering};
use sinew_msg::Service;
use std::time::Duration;

/// The part that is dropped with the last handle.
pub(crate) struct ClientCore {
    pub(crate) calls: Arc<PendingCalls>,
    pub(crate) requests: Arc<RequestQueue>,
    pub(crate) pool: OwnPool,
    /// Time for which a thread that waits for another process polls before it sleeps.
    pub(crate) patience: Duration,
    /// Maximum number of calls with outcomes that the program has not taken by hand.
    pub(crate) max_responses: usize,
    pub(crate) group: Arc<GroupCore>,
    pub(crate) membership: Membership,
    /// The position of this client in the prefetch notes of the calling thread.
    pub(crate) note: prefetch::NoteIndex,
    pub(crate) node: Arc<NodeCore>,
    pub(crate) is_closed: AtomicBool,
}

impl ClientCore {
    /// The memory that a call touches.
    #[cold]
    fn parts(self: &Arc<Self>) -> prefetch::HotSet {
        vec![
            prefetch::Part::value(self, 2),
            prefetch::Part::value(&self.calls, pending_calls::LINES),
            prefetch::Part::pool(&self.pool),
        ]
    }

    /// Begins a call.
    pub(crate) fn send(
        self: &Arc<Self>,
        request: RawMessage,
        waiter: CallWaiter,
        quietly: bool,
    ) -> Result<(CallId, Unannounced), CallFault> {
        prefetch::note(Arc::as_ptr(self).addr(), &self.note, || self.parts());
        let (id, publication) = self.calls.begin(waiter);
        // Only now: `close` fails the calls that have begun. Relaxed: it sets the flag before it takes
        // the lock of the calls, so it finds this call, or this thread sees the flag.
        if self.is_closed.load(Ordering::Relaxed) {
            return self.refuse(id, CallFailure::Closed, request);
        }
        let reply_to = ReplyTo::Local(self.calls.clone(), id);
        self.calls.observed.notify(ServiceEvent::RequestSent, || self.calls.named(id), &request);
        let request = Request { message: request, publication, reply_to };
        match self.requests.push(request, quietly) {
            Ok(unannounced) => Ok((id, unannounced)),
            Err(RefusedRequest { message, failure, .. }) => self.refuse(id, failure, message),
        }
    }

    /// Ends a call with a request that is not sent.
    #[cold]
    fn refuse(
        &self,
        id: CallId,
        failure: CallFailure,
        request: RawMessage,
    ) -> Result<(CallId, Unannounced), CallFault> {
        if self.calls.refused(id) {
            Err(CallFault { failure, request: Some(request) })
        } else {
            Ok((id, None))
        }
    }

    /// Begins a call with an outcome that the program takes by hand.
    pub(crate) fn send_pulled(self: &Arc<Self>, request: RawMessage) -> Result<RequestId, CallFault> {
        if !self.calls.reserve(self.max_responses) {
            let failure = CallFailure::Untaken { limit: self.max_responses };
            return Err(CallFault { failure, request: Some(request) });
        }
        self.calls.listen(); // no executor need run
        let (id, _) = self.send(request, CallWaiter::Pulled, false)?;
        Ok(RequestId(id))
    }

    /// Takes the outcome of the call that was settled first of those that the program takes by
    /// hand.
    pub(crate) fn take_pulled(&self) -> Option<(CallOutcome, ResponseInfo)> {
        let (id, answered, outcome) = self.calls.take_settled()?;
        Some((outcome, ResponseInfo::new(RequestId(id), answered, &self.calls.session.clock)))
    }

    /// Sets the listener for outcomes that wait for their callback or to be taken by hand.
    pub(crate) fn listen(&self, listener: OnNews) {
        let calls = &self.calls;
        let entity = format!("client of {} of node {}", calls.service, calls.node);
        calls.set_listener(Some(Listener::boxed(entity, listener)));
    }

    /// Abandons a call. Returns the outcome if there is one after all, else the request if no
    /// server took it.
    pub(crate) fn give_up(&self, id: CallId) -> Result<CallOutcome, Option<RawMessage>> {
        self.calls.give_up(id).ok_or_else(|| self.requests.withdraw(self.calls.number, id))
    }

    /// Gives up a call, and its request if no server has taken that. Returns `false` if there is no
    /// such call any more.
    pub(crate) fn abandon(&self, RequestId(id): RequestId) -> bool {
        let was_there = self.calls.abandon(id);
        drop(self.requests.withdraw(self.calls.number, id));
        was_there
    }

    /// Takes back a request with an immediate callback, or one of a call that is taken by hand,
    /// that no server has taken.
    pub(crate) fn withdraw(&self, RequestId(id): RequestId) -> Option<RawMessage> {
        let request = self.requests.withdraw(self.calls.number, id)?;
        drop(self.calls.give_up(id)); // no server answers it
        Some(request)
    }
}

/// The identity of one request among those of its client; from [`send`](crate::Client::send) and
/// [`call_then_immediately`](crate::Client::call_then_immediately).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(pub(in crate::api) CallId);

impl RequestId {
    /// Returns the request's number among those of its client, from 1: together with
    /// [`Client::gid`](crate::Client::gid) the [key](crate::service::RequestKey) by which the
    /// server knows the request.
    pub fn sequence(self) -> u64 {
        self.0.sequence()
    }

    /// Returns the number of the place in which the client keeps the call; places are used again.
    pub fn place(self) -> u32 {
        self.0.place()
    }

    /// Returns the id with this [number](Self::sequence) and [place](Self::place), for programs that
    /// keep an id outside Rust. An id that its client never returned stands for no call.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::service::RequestId;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let client = Context::new()?.node("asker")?.client::<Double>("double").create()?;
    /// let id = client.send(Number(21))?;
    /// let (sequence, place) = (id.sequence(), id.place());
    /// assert_eq!(RequestId::from_parts(sequence, place), id);
    /// assert!(!client.give_up(RequestId::from_parts(sequence + 1, place)));
    /// assert!(client.give_up(RequestId::from_parts(sequence, place)));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn from_parts(sequence: u64, place: u32) -> Self {
        Self(CallId::new(place, sequence))
    }
}

/// Metadata of a response that was [taken](crate::Client::take_response), or of the failure that
/// stands for it. ROS 2: `rmw_service_info_t`.
#[derive(Debug, Clone, Copy)]
pub struct ResponseInfo {
    id: RequestId,
    /// Steady nanoseconds.
    answered: i64,
    received: i64,
    /// Whether a virtual clock applies, which is also the wall clock.
    is_virtual: bool,
}

impl ResponseInfo {
    fn new(id: RequestId, answered: i64, clock: &Clock) -> Self {
        Self { id, answered, received: clock.steady(), is_virtual: clock.is_virtual() }
    }

    fn wall_of(&self, steady: i64) -> Time {
        Time::from_nanoseconds(if self.is_virtual { steady } else { wall_of(steady) })
    }

    /// Returns the id of the request, as [`send`](crate::Client::send) returned it.
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// Returns the wall time at which the server answered, or the call failed. For a server on
    /// another host, the time at which its answer reached this one.
    pub fn source_time(&self) -> Time {
        self.wall_of(self.answered)
    }

    /// Returns the wall time at which the program took the response.
    pub fn reception_time(&self) -> Time {
        self.wall_of(self.received)
    }

    /// Returns the time from the answer to its reception.
    pub fn latency(&self) -> Duration {
        Time::from_nanoseconds(self.received) - Time::from_nanoseconds(self.answered)
    }
}

/// Converts the outcome of a call to its types.
pub(crate) fn result_of<S: Service>(outcome: Result<RawMessage, (CallFault, &str)>) -> CallResult<S> {
    match outcome {
        Ok(response) => Ok(Unique::assume(response)),
        Err((fault, service)) => Err(error_of::<S>(service, fault)),
    }
}

#[cold]
pub(crate) fn error_of<S: Service>(service: &str, fault: CallFault) -> CallError<S::Request> {
    CallError::new(service, fault.failure, fault.request.map(Unique::assume))
}

impl ClientCore {
    /// Ends the client: no callback of it begins any more, and with `wait`, none runs on another
    /// thread. Threads and futures that wait for a response fail.
    pub(crate) fn close(&self, wait: bool) {
        // Relaxed: one of several threads continues, and locks protect everything else; `send` reads it
        // after such a lock.
        if self.is_closed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.group.deregister(self.membership, wait);
        self.calls.fail_callers(&CallFailure::Closed);
        for id in self.calls.close() {
            drop(self.requests.withdraw(self.calls.number, id));
        }
        self.node.context.services.remove_client(&self.calls);
        self.node.context.parameter_clients.went(ClientId::Own(self.calls.number));
        drop(self.calls.observed.set(None));
        self.pool.close();
    }
}

impl Drop for ClientCore {
    fn drop(&mut self) {
        self.close(false);
    }
}
