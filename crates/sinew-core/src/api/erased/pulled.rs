//! Servers of services of any type, with requests that the program takes by hand.
//!
//! The server has an immediate callback of the library's own, which moves each request into a
//! queue. From there a request goes into the table of those taken, with the target of its answer,
//! until it is answered by its key. Both count among the requests in hand, and so against the
//! server's limit.

use super::server::{Server, ServerInner, received};
use super::service::{ServiceTypes, checked};
use crate::api::node::NodeCore;
use crate::api::service_callback::info;
use crate::executor::owner::Close;
use crate::mailbox::waiters::OnNews;
use crate::message::block::RawMessage;
use crate::message::erased::{Message, UninitMessage};
use crate::service::error::{AnswerError, AnswerFailure};
use crate::service::failure::CallFailure;
use crate::service::info::{RequestInfo, RequestKey};
use crate::service::pending_calls::CallFault;
use crate::service::request::Request;
use crate::service::request_queue::server_core::{RequestTaker, ServerCore};
use crate::service::responder::ReplyToken;
use crate::service::statistics::ServerStatistics;
use crate::sys::clock::Stamp;
use crate::sys::sync::{Arc, AtomicBool, Mutex};
use std::collections::{HashMap, VecDeque};
use std::{fmt, mem};

/// An entity with requests of a service of any type that the program takes by hand. Made by
/// [`create_erased`](crate::service::ServerBuilder::create_erased). The documentation of
/// [`PulledServer<S>`](crate::service::PulledServer), a shell over this type, holds here as well.
#[must_use = "a server ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _server = ..`)"]
#[derive(Clone)]
pub struct PulledServer {
    pub(in crate::api) server: Server,
    requests: Arc<PulledRequests>,
}

/// The requests of a server that were not answered yet.
#[derive(Default)]
struct PulledRequests {
    state: Mutex<PulledState>,
}

#[derive(Default)]
struct PulledState {
    /// Not taken yet, in the order of the calls.
    waiting: VecDeque<PulledRequest>,
    taken: HashMap<RequestKey, ReplyToken>,
    is_closed: bool,
}

struct PulledRequest {
    message: RawMessage,
    stamp: Stamp,
    info: RequestInfo,
    reply_token: ReplyToken,
}

impl PulledServer {
    pub(in crate::api) fn new(core: Arc<ServerCore>, node: Arc<NodeCore>) -> Self {
        let requests = Arc::new(PulledRequests::default());
        let queue = requests.clone();
        let taker = RequestTaker::new(move |core, request| queue.add(core, request));
        let tasks: Arc<dyn Close> = requests.clone();
        let is_closed = AtomicBool::new(false);
        let inner = ServerInner { core, member: None, tasks: Some(tasks), is_closed, node };
        inner.core.requests.take_immediately(&inner.core, taker);
        inner.core.requests.is_pulled_by(&inner.core);
        Self { server: Server::of(inner), requests }
    }

    /// Returns the types of its service.
    pub fn types(&self) -> ServiceTypes {
        self.server.types()
    }

    /// Takes the oldest request that has not been taken yet, as
    /// [`PulledServer::take_request`](crate::service::PulledServer::take_request).
    pub fn take_request(&self) -> Option<(Message, RequestInfo)> {
        let (message, info) = self.take()?;
        Some((Message::of(message), info))
    }

    pub(in crate::api) fn take(&self) -> Option<(RawMessage, RequestInfo)> {
        let mut state = self.requests.state.lock();
        if state.waiting.is_empty() {
            drop(state);
            self.core().requests.look_elsewhere();
            state = self.requests.state.lock();
        }
        let PulledRequest { message, info, reply_token, .. } = state.waiting.pop_front()?;
        let replaced = state.taken.insert(info.key(), reply_token);
        drop(state);
        drop(replaced); // another process gave two requests one number: the older one fails
        Some((message, info))
    }

    /// Returns a place for a response in the server's pool. Once the pool is warm, allocates
    /// nothing.
    pub fn uninit_response(&self) -> UninitMessage {
        UninitMessage::of(self.core().pool.vacant())
    }

    /// Answers a request with a message of the response's type, as
    /// [`PulledServer::respond`](crate::service::PulledServer::respond). A message with several
    /// references is copied, if its type has a clone function; a message in encoded form is
    /// decoded.
    ///
    /// # Errors
    /// [`AnswerError`] returns the response. If the response has another type or can't be decoded
    /// or copied, the request can still be answered.
    pub fn respond(
        &self,
        key: &RequestKey,
        response: impl Into<Message>,
    ) -> Result<(), AnswerError<Message>> {
        let response = checked(response.into(), self.core())
            .map_err(|(response, failure)| self.error(key, AnswerFailure::Unfit(failure), Some(response)))?;
        self.answer(key, response).map_err(|error| error.map(Message::of))
    }

    /// Answers with an error: the caller gets [`CallFailure::Failed`].
    ///
    /// # Errors
    /// [`AnswerError`], without a response.
    pub fn fail(&self, key: &RequestKey, error: impl fmt::Display) -> Result<(), AnswerError<Message>> {
        self.refuse(key, error.to_string()).map_err(|error| error.map(Message::of))
    }

    pub(in crate::api) fn answer(
        &self,
        key: &RequestKey,
        response: RawMessage,
    ) -> Result<(), AnswerError<RawMessage>> {
        let Some(mut reply_token) = self.requests.give(key) else {
            return Err(self.error(key, AnswerFailure::NotInHand, Some(response)));
        };
        let result = reply_token.complete(Ok(response));
        result.map_err(|outcome| self.error(key, AnswerFailure::Unclaimed, outcome.ok()))
    }

    pub(in crate::api) fn refuse(
        &self,
        key: &RequestKey,
        message: String,
    ) -> Result<(), AnswerError<RawMessage>> {
        let Some(mut reply_token) = self.requests.give(key) else {
            return Err(self.error(key, AnswerFailure::NotInHand, None));
        };
        let fault = CallFault { failure: CallFailure::Failed { message }, request: None };
        let result = reply_token.complete(Err(fault));
        result.map_err(|_| self.error(key, AnswerFailure::Unclaimed, None))
    }

    #[cold]
    fn error<R>(&self, key: &RequestKey, failure: AnswerFailure, response: Option<R>) -> AnswerError<R> {
        AnswerError::new(self.name(), *key, failure, response)
    }

    /// As [`PulledServer::is_awaited`](crate::service::PulledServer::is_awaited).
    pub fn is_awaited(&self, key: &RequestKey) -> bool {
        self.requests.state.lock().taken.get(key).is_some_and(ReplyToken::is_awaited)
    }

    /// As [`PulledServer::set_listener`](crate::service::PulledServer::set_listener).
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.listen(Box::new(listener));
    }

    pub(in crate::api) fn listen(&self, listener: OnNews) {
        self.replace_listener(Some(listener));
    }

    /// Under the lock of the requests: each request is either counted here or announced by `add`.
    fn replace_listener(&self, listener: Option<OnNews>) {
        let state = self.requests.state.lock();
        let replaced = self.server.replace_listener(listener);
        let waiting = state.waiting.len() as u64;
        drop(state);
        replaced.finish(waiting);
    }

    /// As [`PulledServer::clear_listener`](crate::service::PulledServer::clear_listener).
    pub fn clear_listener(&self) {
        self.replace_listener(None);
    }

    /// Returns the service's full name, after remapping.
    pub fn name(&self) -> &str {
        self.server.name()
    }

    /// Returns its counters, as
    /// [`PulledServer::statistics`](crate::service::PulledServer::statistics).
    pub fn statistics(&self) -> ServerStatistics {
        self.core().requests.look_elsewhere();
        self.server.statistics()
    }

    /// As [`PulledServer::close`](crate::service::PulledServer::close).
    pub fn close(self) {
        self.server.close();
    }

    /// As [`PulledServer::is_closed`](crate::service::PulledServer::is_closed).
    pub fn is_closed(&self) -> bool {
        self.server.is_closed()
    }

    pub(in crate::api) fn core(&self) -> &Arc<ServerCore> {
        &self.server.inner.core
    }
}

impl fmt::Debug for PulledServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PulledServer").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl PulledRequests {
    /// Adds a request. Runs on the thread that calls, or that receives from other processes.
    fn add(&self, core: &Arc<ServerCore>, request: Request) {
        received(core, &request);
        let Request { message, publication, reply_to } = request;
        let (stamp, info) = (publication.stamp, info(publication, core));
        let request = PulledRequest { message, stamp, info, reply_token: ReplyToken::new(reply_to, core) };
        let mut state = self.state.lock();
        if state.is_closed {
            drop(state);
            return request.give_back();
        }
        // Several threads may add requests at once, and not in the order of the calls.
        let later = state.waiting.iter().rev().take_while(|other| other.stamp > stamp).count();
        let place = state.waiting.len() - later;
        state.waiting.insert(place, request);
        let listener = core.requests.listener(core);
        drop(state);
        if let Some(listener) = listener {
            listener.notify(1);
        }
    }

    /// Returns the target of the answer to a request that was taken.
    fn give(&self, key: &RequestKey) -> Option<ReplyToken> {
        self.state.lock().taken.remove(key)
    }
}

impl Close for PulledRequests {
    fn close(&self) {
        let left = {
            let mut state = self.state.lock();
            mem::replace(&mut *state, PulledState { is_closed: true, ..PulledState::default() })
        };
        left.waiting.into_iter().for_each(PulledRequest::give_back);
        left.taken.into_values().for_each(|mut reply_token| reply_token.fail(CallFailure::ServerGone));
    }
}

impl PulledRequest {
    /// Hands the request back to its caller, because the server closed before the program took it.
    fn give_back(mut self) {
        let fault = CallFault { failure: CallFailure::ServerGone, request: Some(self.message) };
        // A caller that no longer waits doesn't want it.
        drop(self.reply_token.complete(Err(fault)));
    }
}
