//! Errors of calls and answers that hand back the message.

use super::failure::CallFailure;
use super::info::RequestKey;
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

/// A failed call and its request of type `R`, inside the errors of typed and of erased clients.
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
        if !f.alternate() {
            return crate::sys::says::say(self, f);
        }
        f.debug_struct("RespondError").finish_non_exhaustive()
    }
}

impl<T: Message> fmt::Display for RespondError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no caller waits for the response any more: it has given up, or is gone")
    }
}

impl<T: Message> std::error::Error for RespondError<T> {}

/// An answer that reached no caller: the reason, and the response, of type `R`, if there was one.
pub struct AnswerError<R>(Box<FailedAnswer<R>>);

struct FailedAnswer<R> {
    service: String,
    key: RequestKey,
    failure: AnswerFailure,
    response: Option<R>,
}

/// The reason why a request that was taken by hand can't be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerFailure {
    /// The server holds no such request: it was never taken, it is answered already, or the server
    /// was closed.
    NotInHand,
    /// No caller waits for the response any more: the caller has given up or is gone, or the
    /// context was shut down.
    Unclaimed,
    /// The response has another type, or can't be decoded or copied. The request can still be
    /// answered.
    Unfit(CallFailure),
}

impl fmt::Display for AnswerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInHand => f.write_str("the server holds no such request, or has answered it already"),
            Self::Unclaimed => f.write_str("its caller no longer waits"),
            Self::Unfit(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for AnswerFailure {}

impl<R> AnswerError<R> {
    #[cold]
    pub(crate) fn new(service: &str, key: RequestKey, failure: AnswerFailure, response: Option<R>) -> Self {
        Self(Box::new(FailedAnswer { service: service.to_owned(), key, failure, response }))
    }

    /// Returns the reason.
    pub fn failure(&self) -> &AnswerFailure {
        &self.0.failure
    }

    /// Returns the response; `None` if an error was to be sent.
    pub fn into_response(self) -> Option<R> {
        self.0.response
    }

    pub(crate) fn map<T>(self, convert: impl FnOnce(R) -> T) -> AnswerError<T> {
        let FailedAnswer { service, key, failure, response } = *self.0;
        AnswerError(Box::new(FailedAnswer { service, key, failure, response: response.map(convert) }))
    }
}

impl<R> fmt::Debug for AnswerError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return crate::sys::says::say(self, f);
        }
        f.debug_struct("AnswerError")
            .field("service", &self.0.service)
            .field("key", &self.0.key)
            .field("failure", &self.0.failure)
            .finish_non_exhaustive()
    }
}

impl<R> fmt::Display for AnswerError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FailedAnswer { service, key, failure, .. } = &*self.0;
        let RequestKey { client, sequence } = key;
        write!(f, "request {sequence} of client {client} to service {service} was not answered: {failure}")
    }
}

impl<R> std::error::Error for AnswerError<R> {}
