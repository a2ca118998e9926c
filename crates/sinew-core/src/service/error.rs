//! Errors of calls and answers that hand back the message.

use super::failure::CallFailure;
use crate::message::Unique;
use sinew_msg::Message;
use std::fmt;

/// A failed call: the reason, and the request if no server took it.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::error::CallFailure;
/// # #[derive(Debug)] struct Number(u64); impl Message for Number {}
/// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
/// let context = Context::new()?;
/// let client = context.node("caller")?.client::<Double>("double").create()?;
/// let error = client.call(Number(21), Duration::ZERO).unwrap_err();
/// assert!(matches!(error.failure(), CallFailure::NoServer { ever_seen: false, .. }));
/// assert!(error.to_string().starts_with("the call of service /double failed: no server came within 0ns"));
/// assert_eq!(error.into_request().unwrap().0, 21); // for another try
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct CallError<T: Message>(Box<FailedCall<Unique<T>>>);

/// A failed call, and its request of type `R`; in the errors of typed clients and of those of any
/// type.
pub(crate) struct FailedCall<R> {
    pub(crate) service: String,
    pub(crate) failure: CallFailure,
    pub(crate) request: Option<R>,
}

impl<R> fmt::Debug for FailedCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return crate::sys::says::say(self, f);
        }
        f.debug_struct("CallError")
            .field("service", &self.service)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

impl<R> fmt::Display for FailedCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the call of service {} failed: {}", self.service, self.failure)
    }
}

impl<R> std::error::Error for FailedCall<R> {}

impl<T: Message> CallError<T> {
    #[cold]
    pub(crate) fn new(service: &str, failure: CallFailure, request: Option<Unique<T>>) -> Self {
        Self(Box::new(FailedCall { service: service.to_owned(), failure, request }))
    }

    /// Returns the reason why there is no answer.
    pub fn failure(&self) -> &CallFailure {
        &self.0.failure
    }

    /// Returns the service's full name.
    pub fn service(&self) -> &str {
        &self.0.service
    }

    /// Returns the request, if no server took it: then it had no effect.
    pub fn into_request(self) -> Option<Unique<T>> {
        self.0.request
    }

    pub(crate) fn into_parts(self) -> (String, CallFailure) {
        let FailedCall { service, failure, .. } = *self.0;
        (service, failure)
    }
}

impl<T: Message> fmt::Debug for CallError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<T: Message> fmt::Display for CallError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<T: Message> std::error::Error for CallError<T> {}

/// A response that no caller waits for any more: the caller has given up or is gone, or the context
/// was shut down.
pub struct RespondError<T: Message>(Option<Unique<T>>);

impl<T: Message> RespondError<T> {
    pub(crate) fn new(response: Option<Unique<T>>) -> Self {
        Self(response)
    }

    /// Returns the response; `None` if an error was to be sent.
    pub fn into_response(self) -> Option<Unique<T>> {
        self.0
    }
}

impl<T: Message> fmt::Debug for RespondError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RespondError")
    }
}

impl<T: Message> fmt::Display for RespondError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody waits for the response any more: its caller has given up or gone")
    }
}

impl<T: Message> std::error::Error for RespondError<T> {}
