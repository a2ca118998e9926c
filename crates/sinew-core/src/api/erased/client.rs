//! Clients of services of any type.

use super::service::{CallError, CallResult, ServiceTypes, fitting};
use crate::api::call::{self, SentCall, Wait};
use crate::api::client_core::{ClientCore, RequestId};
use crate::api::service_callback::ResultCallback;
use crate::executor::group_token::{GroupCell, StateOf};
use crate::executor::wait_set::{self, Waitable};
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::message::erased::{Message, UninitMessage};
use crate::service::pending_calls::{CallFault, CallId, CallWaiter, OnAnswer, OnOutcome};
use crate::service::statistics::ClientStatistics;
use crate::sys::clock::Time;
use crate::sys::sync::Arc;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// A handle for calling a service of any type. Made by
/// [`Node::erased_client`](crate::Node::erased_client), or by a group for callbacks that may take
/// its `State`. The documentation of [`Client<S>`](crate::Client), a shell over this type, holds
/// here as well.
///
/// A request has one owner: a message with several references is copied if its type has a clone
/// function, otherwise the call fails with
/// [`CallFailure::NotSole`](crate::error::CallFailure::NotSole). A message in encoded form is
/// decoded first.
#[must_use = "a client ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _client = ..`), or `detach()` it"]
pub struct Client<State = ()> {
    pub(in crate::api) inner: Arc<ClientCore>,
    /// The state of its group.
    pub(in crate::api) state: Arc<GroupCell<State, StateOf>>,
}

impl<State> Clone for Client<State> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), state: self.state.clone() }
    }
}

impl<State: Send + 'static> Client<State> {
    /// Returns the types of its service.
    pub fn types(&self) -> ServiceTypes {
        ServiceTypes::from_inner(self.inner.calls.types)
    }

    /// Returns a place for a request in the client's pool. Once the pool is warm, allocates
    /// nothing.
    pub fn uninit(&self) -> UninitMessage {
        UninitMessage::of(self.inner.pool.vacant())
    }

    /// Calls the service and waits for the response, as [`Client::call`](crate::Client::call).
    ///
    /// # Errors
    /// [`CallError`], which contains the request if no server took it.
    pub fn call(&self, request: impl Into<Message>, timeout: Duration) -> CallResult {
        let request = self.fitting(request.into())?;
        match call::wait_for(&self.inner, request, timeout) {
            Ok(response) => Ok(Message::of(response)),
            Err(fault) => Err(CallError::of(self.name(), fault)),
        }
    }

    /// For bindings, which look at signals while they wait: [`call`](Self::call), which asks
    /// `goes_on` after each `slice` of a long wait whether to wait further. If not, the call fails
    /// as after the timeout.
    ///
    /// # Errors
    /// [`CallError`], which contains the request if no server took it.
    #[doc(hidden)]
    pub fn __call_while(
        &self,
        request: impl Into<Message>,
        (timeout, slice): (Duration, Duration),
        goes_on: &mut dyn FnMut() -> bool,
    ) -> CallResult {
        let request = self.fitting(request.into())?;
        match call::wait_while(&self.inner, request, Wait { timeout, slice, goes_on }) {
            Ok(response) => Ok(Message::of(response)),
            Err(fault) => Err(CallError::of(self.name(), fault)),
        }
    }

    /// Calls the service and returns a future that yields the response, as
    /// [`Client::call_async`](crate::Client::call_async).
    ///
    /// # Errors
    /// [`CallError`]: the request was not accepted.
    pub fn call_async(&self, request: impl Into<Message>) -> Result<PendingCall, CallError> {
        let id = self.begin(request.into(), CallWaiter::Caller(None))?;
        Ok(PendingCall(SentCall::new(&self.inner, id)))
    }

    /// Calls the service. The executor of the client's group runs `callback` with the result, or
    /// with the group's state and the result, as [`Client::call_then`](crate::Client::call_then).
    /// [`give_up`](Self::give_up) with the id drops the callback.
    ///
    /// # Errors
    /// [`CallError`]: the request was not accepted, and the callback won't run.
    pub fn call_then<Form, F>(&self, request: impl Into<Message>, callback: F) -> Result<RequestId, CallError>
    where
        F: ResultCallback<CallResult, State, Form>,
    {
        let callback = callback.with(&self.state);
        let then: OnOutcome = Box::new(move |token, outcome| callback(token, result_of(outcome)));
        self.begin(request.into(), CallWaiter::Callback(then)).map(RequestId)
    }

    /// Calls the service. `callback` runs with the result on the thread that answers, as
    /// [`Client::call_then_immediately`](crate::Client::call_then_immediately).
    ///
    /// # Errors
    /// [`CallError`]: the request was not accepted, and the callback won't run.
    pub fn call_then_immediately(
        &self,
        request: impl Into<Message>,
        callback: impl FnOnce(CallResult) + Send + 'static,
    ) -> Result<RequestId, CallError> {
        self.inner.calls.listen();
        let listener: OnAnswer = Box::new(move |outcome| callback(result_of(outcome)));
        self.begin(request.into(), CallWaiter::Listener(listener)).map(RequestId)
    }

    /// Takes back a request with an immediate callback, or one that was sent by
    /// [`send`](Self::send), if no server has taken it, as
    /// [`Client::withdraw`](crate::Client::withdraw).
    pub fn withdraw(&self, id: RequestId) -> Option<Message> {
        self.inner.withdraw(id).map(Message::of)
    }

    /// Returns the same client without its group's state, as
    /// [`Client::without_state`](crate::Client::without_state).
    pub fn without_state(&self) -> Client {
        Client { inner: self.inner.clone(), state: Arc::new(GroupCell::nothing()) }
    }

    fn begin(&self, request: Message, waiter: CallWaiter) -> Result<CallId, CallError> {
        let request = self.fitting(request)?;
        match self.inner.send(request, waiter, false) {
            Ok((id, _)) => Ok(id),
            Err(fault) => Err(CallError::of(self.name(), fault)),
        }
    }

    pub(super) fn fitting(&self, request: Message) -> Result<RawMessage, CallError> {
        fitting(request, self.types().request(), (&self.inner.pool, "request"))
            .map_err(|(request, failure)| CallError::new(self.name(), failure, Some(request)))
    }

    /// For crates built on this one: [`call::wait_beside`].
    #[doc(hidden)]
    pub fn __wait_beside<F: Future + Unpin>(
        &self,
        id: &[u8; 16],
        future: &mut F,
        timeout: Duration,
    ) -> Result<Option<F::Output>, &'static str> {
        call::wait_beside(&self.inner, id, future, timeout)
    }

    /// Returns `true` if there is a server of these types.
    pub fn is_server_ready(&self) -> bool {
        let calls = &self.inner.calls;
        !calls.session.has_ended() && self.inner.requests.servers(&calls.types) > 0
    }

    /// As [`Client::wait_for_server`](crate::Client::wait_for_server).
    pub fn wait_for_server(&self, timeout: Duration) -> bool {
        let ClientCore { calls, requests, .. } = &*self.inner;
        requests.wait_for_server(&calls.types, Time::steady() + timeout)
    }

    /// Returns the service's full name, after remapping.
    pub fn name(&self) -> &str {
        &self.inner.calls.service
    }

    /// Returns its identity, as in
    /// [`RequestInfo::client`](crate::service::info::RequestInfo::client).
    pub fn gid(&self) -> Gid {
        self.inner.calls.gid()
    }

    /// Returns its counters.
    pub fn statistics(&self) -> ClientStatistics {
        self.inner.calls.statistics()
    }

    /// As [`Client::close`](crate::Client::close).
    pub fn close(self) {
        self.inner.close(true);
    }

    /// Keeps it until the context ends; as [`Client::detach`](crate::Client::detach).
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }
}

fn result_of(outcome: Result<RawMessage, (CallFault, &str)>) -> CallResult {
    outcome.map(Message::of).map_err(|(fault, service)| CallError::of(service, fault))
}

impl<State> wait_set::sealed::Sealed for Client<State> {}

impl<State> Waitable for Client<State> {
    fn subject(&self) -> usize {
        Arc::as_ptr(&self.inner.calls).addr()
    }
}

impl<State> fmt::Debug for Client<State> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("name", &self.inner.calls.service).finish_non_exhaustive()
    }
}

/// A pending call: a future that yields the response. Dropping it abandons the call. Otherwise as
/// [`PendingCall`](crate::service::PendingCall).
#[must_use = "dropped, the call is abandoned"]
pub struct PendingCall(SentCall);

impl Future for PendingCall {
    type Output = CallResult;

    /// # Panics
    /// If it has already yielded its result.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CallResult> {
        self.0.poll(context, result_of)
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall").finish_non_exhaustive()
    }
}
