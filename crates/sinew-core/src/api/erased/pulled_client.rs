//! Responses of services of any type that the program takes by hand.

use super::client::Client;
use super::service::{CallError, CallResult};
use crate::api::client_core::RequestId;
use crate::mailbox::waiters::Listener;
use crate::message::erased::Message;

impl Client {
    /// Calls the service; the program takes the response by hand, as
    /// [`Client::send`](crate::Client::send).
    ///
    /// # Errors
    /// [`CallError`]: the request was not accepted.
    pub fn send(&self, request: impl Into<Message>) -> Result<RequestId, CallError> {
        let request = self.fitting(request.into())?;
        self.inner.send_pulled(request).map_err(|fault| CallError::of(self.name(), fault))
    }

    /// Takes the oldest response that was not taken yet, as
    /// [`Client::take_response`](crate::Client::take_response).
    pub fn take_response(&self) -> Option<(RequestId, CallResult)> {
        let (id, outcome) = self.inner.calls.take_settled()?;
        Some((RequestId(id), outcome.map(Message::of).map_err(|fault| CallError::of(self.name(), fault))))
    }

    /// Gives up a call, as [`Client::give_up`](crate::Client::give_up).
    pub fn give_up(&self, id: RequestId) -> bool {
        self.inner.abandon(id)
    }

    /// Sets a listener for responses that can be taken, as
    /// [`Client::set_listener`](crate::Client::set_listener).
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        let calls = &self.inner.calls;
        let whose = format!("client of {} of node {}", calls.service, calls.node);
        calls.set_listener(Some(Listener::new(whose, listener)));
    }

    /// As [`Client::clear_listener`](crate::Client::clear_listener).
    pub fn clear_listener(&self) {
        self.inner.calls.set_listener(None);
    }
}
