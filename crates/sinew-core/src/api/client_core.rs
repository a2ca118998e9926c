//! The state that all handles of a client share, and its pending calls.

use super::node::NodeCore;
use crate::executor::group::{GroupCore, Membership};
use crate::executor::prefetch;
use crate::message::Unique;
use crate::message::block::{Pool, RawMessage};
use crate::parameters::clients::ClientId;
use crate::service::error::CallError;
use crate::service::failure::CallFailure;
use crate::service::observed::ServiceEvent;
use crate::service::pending_calls::{self, CallFault, CallId, CallOutcome, CallWaiter, PendingCalls};
use crate::service::reply::CallResult;
use crate::service::request::{RefusedRequest, ReplyTo, Request};
use crate::service::request_queue::{RequestQueue, Unannounced};
use crate::sys::sync::Arc;
use sinew_msg::Service;
use std::time::Duration;

/// The part that is dropped with the last handle.
pub(crate) struct ClientCore {
    pub(crate) calls: Arc<PendingCalls>,
    pub(crate) requests: Arc<RequestQueue>,
    pub(crate) pool: Arc<Pool>,
    /// How long a thread that waits for another process polls before it sleeps.
    pub(crate) patience: Duration,
    /// Most calls with outcomes that the program didn't take by hand.
    pub(crate) max_responses: usize,
    pub(crate) group: Arc<GroupCore>,
    pub(crate) membership: Membership,
    /// The position of this client in the prefetch notes of the calling thread.
    pub(crate) note: prefetch::NoteIndex,
    pub(crate) node: Arc<NodeCore>,
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
        let reply_to = ReplyTo::Local(self.calls.clone(), id);
        self.calls.observed.tell(ServiceEvent::RequestSent, || self.calls.named(id), &request);
        let request = Request { message: request, publication, reply_to };
        match self.requests.push(request, quietly) {
            Ok(unannounced) => Ok((id, unannounced)),
            Err(RefusedRequest { message, failure, .. }) => {
                if self.calls.refused(id) {
                    Err(CallFault { failure, request: Some(message) })
                } else {
                    Ok((id, None))
                }
            }
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

    /// Takes back a request with an immediate callback, or one of a call that is taken by hand, that no server
    /// has taken.
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
    /// [`Client::gid`](crate::Client::gid) the [key](crate::service::RequestKey) by which the server
    /// knows the request.
    pub fn sequence(self) -> u64 {
        self.0.sequence()
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

impl Drop for ClientCore {
    fn drop(&mut self) {
        self.group.deregister(self.membership, false);
        for id in self.calls.close() {
            drop(self.requests.withdraw(self.calls.number, id));
        }
        self.node.context.services.remove_client(&self.calls);
        self.node.context.parameter_clients.went(ClientId::Own(self.calls.number));
        drop(self.calls.observed.set(None));
        self.pool.close();
    }
}
