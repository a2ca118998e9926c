//! Types, errors and requests of clients and servers of any type.

use crate::api::service_callback::info;
use crate::message::block::{Pool, RawMessage};
use crate::message::erased::{Message, UninitMessage};
use crate::message::generic::GenericType;
use crate::message::info::Publication;
use crate::message::registered::{MessageType, TypeError};
use crate::service::error::FailedCall;
use crate::service::failure::CallFailure;
use crate::service::info::RequestInfo;
use crate::service::pending_calls::{CallFault, CallOutcome};
use crate::service::request::ReplyTo;
use crate::service::request_queue::server_core::ServerCore;
use crate::service::responder::ReplyToken;
use crate::service::types;
use crate::sys::sync::Arc;
use sinew_msg::{Service, TypeHash};
use std::fmt;

/// The types of a service: request, response, and its ROS 2 name and hash. Copying it costs
/// nothing.
///
/// ```
/// use sinew::erased::{MessageType, ServiceTypes};
/// use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
/// let rust = ServiceTypes::of::<AddTwoInts>();
/// let (name, hash) = (rust.name().unwrap(), rust.hash().unwrap());
/// let request = MessageType::of::<AddTwoIntsRequest>();
/// let response = MessageType::of::<AddTwoIntsResponse>();
/// assert_eq!(ServiceTypes::new(Some((name, hash)), request, response)?, rust);
/// # Ok::<(), sinew::erased::TypeError>(())
/// ```
#[derive(Clone, Copy)]
pub struct ServiceTypes(types::ServiceTypes);

impl ServiceTypes {
    /// Returns the types of a service of Rust.
    pub fn of<S: Service>() -> Self {
        Self(types::ServiceTypes::of::<S>())
    }

    /// Returns the types of a service that is known by name and hash only; its requests and
    /// responses exist in encoded form only.
    pub fn known(known: GenericType) -> Self {
        Self(types::ServiceTypes::generic(known))
    }

    /// Returns a service of these types. `of`: its ROS 2 name, `package/srv/Name`, and the hash of
    /// its description, by which endpoints of other types and of other processes match; without
    /// them, the types of request and response decide. Each name and hash costs memory that is
    /// never freed, and at most 4096 can exist.
    ///
    /// # Errors
    /// [`TypeError`]: the name is no type name, or there are too many.
    pub fn new(
        of: Option<(&str, TypeHash)>,
        request: MessageType,
        response: MessageType,
    ) -> Result<Self, TypeError> {
        let known = of.map(|(name, hash)| GenericType::new(name, hash)).transpose();
        let service = known.map_err(TypeError::of_known)?.map(GenericType::service);
        let cloners = [request, response].map(MessageType::cloner);
        let (request, response) = (request.table(), response.table());
        Ok(Self(types::ServiceTypes { request, response, service, cloners }))
    }

    pub(in crate::api) fn from_inner(types: types::ServiceTypes) -> Self {
        Self(types)
    }

    pub(in crate::api) fn inner(self) -> types::ServiceTypes {
        self.0
    }

    /// Returns the service's ROS 2 name, if it has one.
    pub fn name(self) -> Option<&'static str> {
        self.0.service.map(|service| service.name)
    }

    /// Returns the hash of its description, if it has one.
    pub fn hash(self) -> Option<TypeHash> {
        self.0.service.map(|service| service.hash)
    }

    /// Returns the type of its requests.
    pub fn request(self) -> MessageType {
        MessageType::of_table_with(self.0.request, self.0.cloners[0])
    }

    /// Returns the type of its responses.
    pub fn response(self) -> MessageType {
        MessageType::of_table_with(self.0.response, self.0.cloners[1])
    }
}

/// Equal if clients of one and servers of the other exchange pointers to values.
impl PartialEq for ServiceTypes {
    fn eq(&self, other: &Self) -> bool {
        self.0.agree(&other.0) && self.0.service == other.0.service
    }
}

impl Eq for ServiceTypes {}

impl fmt::Debug for ServiceTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceTypes({})", self.0.describe())
    }
}

/// Converts a message to one that an endpoint may send as a request or response: a value of the
/// right type with one owner. Otherwise returns the message and the reason.
pub(in crate::api) fn fitting(
    message: Message,
    own: MessageType,
    (pool, what): (&Arc<Pool>, &'static str),
) -> Result<RawMessage, (Message, CallFailure)> {
    let table = own.table();
    if !message.fits(table) {
        let other = message.message_type();
        let reason = format!("the {what} is a {other:?}, but a {own:?} is sent");
        return Err((message, CallFailure::OtherType { reason }));
    }
    if let Some(bytes) = message.to_be_decoded_for(table) {
        return match RawMessage::decode(pool, bytes) {
            Ok(value) => Ok(value),
            Err(error) => Err((message, CallFailure::Undecodable { what, reason: error.to_string() })),
        };
    }
    let message = message.into_inner();
    if message.is_ownable() {
        return Ok(message);
    }
    let Some(clone) = own.cloner() else {
        return Err((Message::of(message), CallFailure::NotSole { what }));
    };
    // SAFETY: the function copies values of the type, which the message has; the pool is for the
    // same type.
    Ok(unsafe { message.duplicate(clone, pool) })
}

/// A failed call: the reason, and the request if no server took it.
pub struct CallError(Box<FailedCall<Message>>);

impl CallError {
    #[cold]
    pub(in crate::api) fn new(service: &str, failure: CallFailure, request: Option<Message>) -> Self {
        Self(Box::new(FailedCall { service: service.to_owned(), failure, request }))
    }

    #[cold]
    pub(in crate::api) fn of(service: &str, fault: CallFault) -> Self {
        Self::new(service, fault.failure, fault.request.map(Message::of))
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
    pub fn into_request(self) -> Option<Message> {
        self.0.request
    }
}

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for CallError {}

/// The result of a call: the response, or the reason why there is none.
pub type CallResult = Result<Message, CallError>;

/// A response that was not accepted, and the reason: its message has another type or is shared, or
/// no caller waits for it any more.
pub struct RespondError {
    failure: Option<CallFailure>,
    response: Option<Message>,
}

impl RespondError {
    /// Returns the reason; `None` if no caller waits any more.
    pub fn failure(&self) -> Option<&CallFailure> {
        self.failure.as_ref()
    }

    /// Returns the response; `None` if an error was to be sent.
    pub fn into_response(self) -> Option<Message> {
        self.response
    }

    fn unfit((response, failure): (Message, CallFailure)) -> Self {
        Self { failure: Some(failure), response: Some(response) }
    }

    fn unclaimed(outcome: CallOutcome) -> Self {
        Self { failure: None, response: outcome.ok().map(Message::of) }
    }
}

impl fmt::Debug for RespondError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return crate::sys::says::say(self, f);
        }
        f.debug_struct("RespondError").field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl fmt::Display for RespondError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            Some(failure) => write!(f, "the response was not sent: {failure}"),
            None => f.write_str("no caller waits for the response any more: it has given up, or is gone"),
        }
    }
}

impl std::error::Error for RespondError {}

/// A request of any type, for a server's callback. It is answered here and now, or
/// [later](Self::defer). If it is dropped without an answer, the call fails with
/// [`CallFailure::Dropped`].
pub struct Request<'a> {
    /// The request, which the callback owns.
    pub message: Message,
    publication: Publication,
    reply_to: &'a mut Option<ReplyTo>,
    core: &'a Arc<ServerCore>,
}

impl<'a> Request<'a> {
    pub(in crate::api) fn new(
        message: RawMessage,
        publication: Publication,
        reply_to: &'a mut Option<ReplyTo>,
        core: &'a Arc<ServerCore>,
    ) -> Self {
        Self { message: Message::of(message), publication, reply_to, core }
    }

    /// Returns its metadata.
    pub fn info(&self) -> RequestInfo {
        info(self.publication, self.core)
    }

    /// Returns a place for the response in the server's pool. Once the pool is warm, allocates
    /// nothing.
    pub fn uninit_response(&self) -> UninitMessage {
        UninitMessage::of(self.core.pool.vacant())
    }

    /// Answers with a message of the response's type. A message with several references is copied,
    /// if its type has a clone function; a message in encoded form is decoded.
    ///
    /// # Errors
    /// [`RespondError`] returns the response. If it has another type, can't be decoded or copied,
    /// the caller gets [`CallFailure::Dropped`].
    pub fn respond(self, response: impl Into<Message>) -> Result<(), RespondError> {
        let response = checked(response.into(), self.core).map_err(RespondError::unfit)?;
        let Some(reply_to) = self.reply_to.take() else { return Err(RespondError::unclaimed(Ok(response))) };
        self.core.complete(reply_to, Ok(response)).map_err(RespondError::unclaimed)
    }

    /// Answers with an error: the caller gets [`CallFailure::Failed`].
    pub fn fail(self, error: impl fmt::Display) {
        if let Some(reply_to) = self.reply_to.take() {
            self.core.fail(reply_to, CallFailure::Failed { message: error.to_string() });
        }
    }

    /// Returns the request, and a responder that answers it later, from any thread.
    pub fn defer(self) -> (Message, Responder) {
        #[expect(clippy::expect_used, reason = "each of the ways to take it consumes the request")]
        let reply_to = self.reply_to.take().expect("a request has a caller");
        (self.message, Responder(ReplyToken::new(reply_to, self.core)))
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("message", &self.message).finish_non_exhaustive()
    }
}

/// Converts a response, or returns it with the reason.
pub(in crate::api) fn checked(
    response: Message,
    core: &ServerCore,
) -> Result<RawMessage, (Message, CallFailure)> {
    let of = ServiceTypes::from_inner(core.types).response();
    fitting(response, of, (&core.pool, "response"))
}

/// Answers one request, later and from any thread; otherwise as
/// [`Responder`](crate::Responder).
#[must_use = "dropped without an answer, the call fails"]
pub struct Responder(ReplyToken);

impl Responder {
    /// Returns a place for the response in the server's pool.
    pub fn uninit_response(&self) -> UninitMessage {
        UninitMessage::of(self.0.core().pool.vacant())
    }

    /// As [`Request::respond`].
    ///
    /// # Errors
    /// As [`Request::respond`].
    pub fn respond(mut self, response: impl Into<Message>) -> Result<(), RespondError> {
        let response = checked(response.into(), self.0.core()).map_err(RespondError::unfit)?;
        self.0.complete(Ok(response)).map_err(RespondError::unclaimed)
    }

    /// As [`Request::fail`].
    pub fn fail(mut self, error: impl fmt::Display) {
        self.0.fail(CallFailure::Failed { message: error.to_string() });
    }

    /// Returns `true` if the caller still waits.
    pub fn is_awaited(&self) -> bool {
        self.0.is_awaited()
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("service", &self.0.core().requests.name).finish_non_exhaustive()
    }
}
