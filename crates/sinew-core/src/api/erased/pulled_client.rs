//! Responses of services of any type that the program takes by hand.

use super::client::Client;
use super::service::{CallError, CallResult};
use crate::api::client_core::{RequestId, ResponseInfo};
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
    pub fn take_response(&self) -> Option<(CallResult, ResponseInfo)> {
        let (outcome, info) = self.inner.take_pulled()?;
        Some((outcome.map(Message::of).map_err(|fault| CallError::of(self.name(), fault)), info))
    }

    /// Gives up a call, as [`Client::give_up`](crate::Client::give_up).
    pub fn give_up(&self, id: RequestId) -> bool {
        self.inner.abandon(id)
    }

    /// Sets a listener for responses that can be taken, as
    /// [`Client::set_listener`](crate::Client::set_listener).
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.inner.listen(Box::new(listener));
    }

    /// As [`Client::clear_listener`](crate::Client::clear_listener).
    pub fn clear_listener(&self) {
        self.inner.calls.set_listener(None);
    }
}
