//! Servers with requests that the program takes by hand.

use super::erased::pulled as erased;
use super::introspection::service_events::ServiceIntrospection;
use super::server::ServerBuilder;
use crate::executor::group::{CallbackGroup, Group};
use crate::mailbox::waiters::OnNews;
use crate::message::Unique;
use crate::message::into_message::{IntoUnique, erase};
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::error::AnswerError;
use crate::service::info::{RequestInfo, RequestKey};
use crate::service::statistics::ServerStatistics;
use sinew_msg::Service;
use std::fmt;
use std::marker::PhantomData;

/// An entity with requests of a service that the program takes by hand and answers when it likes,
/// from any thread. Made by [`ServerBuilder::create`](crate::service::ServerBuilder::create).
///
/// For event loops of other libraries and for bindings: no executor runs, and no callback. Requests
/// wait in the order of the calls until [`take_request`](Self::take_request). A request that was
/// taken is answered by its [key](RequestInfo::key). Requests that wait and those taken together
/// are at most [`max_requests`](crate::service::ServerBuilder::max_requests); further ones are
/// refused with [`CallFailure::Full`](crate::error::CallFailure::Full).
///
/// Clones are the same server: it ends when the last one is dropped, or any of them is
/// [closed](Self::close). Then all calls that were not answered fail at once with
/// [`CallFailure::ServerGone`](crate::error::CallFailure::ServerGone). A wait set has nothing to do
/// for it.
///
/// ```
/// use sinew::prelude::*;
/// # struct Number(u64); impl Message for Number {}
/// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
/// let context = Context::new()?;
/// let node = context.node("loop")?;
/// let (bell, news) = std::sync::mpsc::channel();
/// let server = node.server::<Double>("double").listener(move |count| drop(bell.send(count))).create()?;
/// std::thread::spawn(move || {
///     while news.recv().is_ok() {
///         while let Some((request, info)) = server.take_request() {
///             drop(server.respond(&info.key(), Number(2 * request.0)));
///         }
///     }
/// });
/// let client = node.client::<Double>("double").create()?;
/// assert_eq!(client.call(Number(21), Duration::from_secs(10))?.0, 42); // no executor spins
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "a server ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _server = ..`)"]
pub struct PulledServer<S: Service> {
    erased: erased::PulledServer,
    of: PhantomData<fn(S)>,
}

impl<S: Service, G: CallbackGroup> ServerBuilder<S, G> {
    /// Makes the server, with requests that the program takes by hand and answers when it likes;
    /// see [`PulledServer`]. No executor runs it, and the builder's group is not used.
    ///
    /// Requests that clients sent before the server existed wait already, and are its first.
    ///
    /// # Errors
    /// As [`callback`](Self::callback).
    pub fn create(self) -> Result<PulledServer<S>, CreateError> {
        self.create_erased().map(PulledServer::of)
    }
}

impl<S, G: CallbackGroup> ServerBuilder<S, G> {
    /// Sets a listener that is called for each request that arrives, from the first one on. For a
    /// server with requests that the program takes by hand: `create` and `create_erased` make it.
    /// [`PulledServer::set_listener`] replaces the listener. The thread that makes the server calls
    /// it first, for the requests that were sent before.
    pub fn listener(self, listener: impl Fn(u64) + Send + Sync + 'static) -> PulledServerBuilder<S, G> {
        PulledServerBuilder { builder: self, listener: Box::new(listener) }
    }
}

/// Makes a [`PulledServer`] with a listener; from [`ServerBuilder::listener`].
#[must_use = "nothing is received before `create`"]
pub struct PulledServerBuilder<S, G = Group> {
    builder: ServerBuilder<S, G>,
    listener: OnNews,
}

impl<S, G: CallbackGroup> PulledServerBuilder<S, G> {
    /// As [`ServerBuilder::max_requests`].
    pub fn max_requests(mut self, requests: usize) -> Self {
        self.builder = self.builder.max_requests(requests);
        self
    }

    /// Makes the server, without its types.
    ///
    /// # Errors
    /// As [`ServerBuilder::callback`].
    pub fn create_erased(self) -> Result<erased::PulledServer, CreateError> {
        let server = self.builder.create_erased()?;
        server.listen(self.listener);
        Ok(server)
    }
}

impl<S: Service, G: CallbackGroup> PulledServerBuilder<S, G> {
    /// Makes the server, as [`ServerBuilder::create`].
    ///
    /// # Errors
    /// As [`ServerBuilder::callback`].
    pub fn create(self) -> Result<PulledServer<S>, CreateError> {
        self.create_erased().map(PulledServer::of)
    }
}

impl<S: Service> PulledServer<S> {
    pub(super) fn of(erased: erased::PulledServer) -> Self {
        Self { erased, of: PhantomData }
    }

    /// Takes the oldest request that has not been taken yet, with its metadata. Never blocks; any
    /// thread may take. ROS 2: `rmw_take_request`.
    ///
    /// If none waits, the caller reads those of other processes itself: a thread that takes again
    /// and again has a request as soon as it is sent. Without a [listener](Self::set_listener), no
    /// other thread is woken for it; such a server refuses requests beyond its limit when it reads
    /// them.
    ///
    /// The caller may have given up in the meantime: see [`is_awaited`](Self::is_awaited).
    pub fn take_request(&self) -> Option<(Unique<S::Request>, RequestInfo)> {
        let (message, info) = self.erased.take()?;
        Some((Unique::assume(message), info))
    }

    /// Answers a request that was [taken](Self::take_request), with a `Response`, a `Box<Response>`
    /// or a `Unique<Response>`. Never blocks; any thread may answer, and the order is free. The
    /// caller's thread, waker or executor is woken under no lock. ROS 2: `rmw_send_response`.
    ///
    /// # Errors
    /// [`AnswerError`] returns the response: the key is of no request in hand (never taken,
    /// answered already, or the server was closed), or the caller no longer waits. The server
    /// doesn't know whether a caller in another process still waits.
    pub fn respond(
        &self,
        key: &RequestKey,
        response: impl IntoUnique<S::Response>,
    ) -> Result<(), AnswerError<Unique<S::Response>>> {
        let response = erase(response, &self.erased.core().pool);
        self.erased.answer(key, response).map_err(|error| error.map(Unique::assume))
    }

    /// Answers with an error: the caller gets
    /// [`CallFailure::Failed`](crate::error::CallFailure::Failed).
    ///
    /// # Errors
    /// As [`respond`](Self::respond), without a response.
    pub fn fail(
        &self,
        key: &RequestKey,
        error: impl fmt::Display,
    ) -> Result<(), AnswerError<Unique<S::Response>>> {
        self.erased.refuse(key, error.to_string()).map_err(|error| error.map(Unique::assume))
    }

    /// Returns `true` if the request was taken and not answered, and its caller still waits. A
    /// caller of another process counts as waiting. Check this before a long computation.
    pub fn is_awaited(&self, key: &RequestKey) -> bool {
        self.erased.is_awaited(key)
    }

    /// Sets a listener that is called for each request that arrives: with 1, on the calling thread,
    /// or, for clients of other processes, on the thread that receives, once the request can be
    /// taken. If requests wait already, it is called at once with their number. It replaces the
    /// former listener, or the [builder's](ServerBuilder::listener), as
    /// [`Subscription::set_listener`](crate::Subscription::set_listener) says. ROS 2:
    /// `rmw_service_set_on_new_request_callback`.
    ///
    /// It runs under no lock, and several threads may call it at once. It may take, answer, call,
    /// replace or clear itself, and close the server. For requests that arrive as a result while it
    /// runs, it is called once it has returned, with their number. A panic in it is reported and
    /// does not reach the caller. The server keeps it until it ends, so a listener that holds the
    /// server in turn keeps both until the server is [closed](Self::close).
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.erased.set_listener(listener);
    }

    /// Removes the listener; it may still be called for requests that other threads are just
    /// sending.
    pub fn clear_listener(&self) {
        self.erased.clear_listener();
    }

    /// Returns the service's full name, after remapping.
    pub fn name(&self) -> &str {
        self.erased.name()
    }

    /// Returns its counters. Requests that wait to be taken count as in hand, like those taken.
    pub fn statistics(&self) -> ServerStatistics {
        self.erased.statistics()
    }

    /// Publishes events of its requests and responses, as
    /// [`Server::configure_introspection`](crate::Server::configure_introspection). A request counts
    /// as received when it arrives.
    ///
    /// # Errors
    /// As [`Server::configure_introspection`](crate::Server::configure_introspection).
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        self.erased.configure_introspection(state, qos)
    }

    /// Ends it and its clones, as dropping the last one does. Doesn't wait for a listener that
    /// runs.
    pub fn close(self) {
        self.erased.close();
    }

    /// Returns `true` if it was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.erased.is_closed()
    }

    /// Returns the server without its types.
    pub fn erased(&self) -> &erased::PulledServer {
        &self.erased
    }
}

impl<S: Service> Clone for PulledServer<S> {
    fn clone(&self) -> Self {
        Self::of(self.erased.clone())
    }
}

impl<S: Service> fmt::Debug for PulledServer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f)
    }
}
