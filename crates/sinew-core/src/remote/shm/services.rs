//! Services across processes.
//!
//! A client has a [line](super::directed) of its own to a server of another process for its
//! requests, and that server has one to each of its clients for its answers, so no client blocks
//! another. Notifications follow the same rules as for messages.
//!
//! | | client's process | server's process |
//! |---|---|---|
//! | request | [`ShmServerConnection`]: writes it | [`ShmClient`]: reads and queues it |
//! | answer | [`ShmServerConnection`]: reads it, and settles the call | [`ShmClient`]: writes it |
//!
//! # Failures to send or read
//!
//! Each call learns of its failure. An answer that finds no memory, or can't be encoded, becomes a
//! short failure, which needs none; if there is not even room in the ring, it waits for some. An
//! answer that can't be read doesn't identify its call: then all calls that wait for an answer by
//! that line fail. If there is no room at all for a client's answers, the client is served once
//! there is.

use super::directed::{DirectedReader, DirectedWriter, Received, SendError};
use super::own_participant::OwnParticipant;
use super::sender::{head_of, publication_of};
use crate::executor::crew::blocked::Blocked;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::{Notifications, Waiter, by_hand};
use crate::message::block::RawMessage;
use crate::message::info::{Publication, introduce};
use crate::service::failure::CallFailure;
use crate::service::pending_calls::{
    CallFault, CallId, PendingCalls, RemoteServer, RemoteServerConnection, RemoteWait,
};
use crate::service::request::{RemoteClient, ReplyTo, Request};
use crate::service::request_queue::MAX_REQUESTS;
use crate::service::request_queue::server_core::ServerCore;
use crate::sys::clock::Time;
use crate::sys::logging::{Level, log_line};
use crate::sys::sync::{Arc, Guard, Mutex};
use crate::topic::remote_endpoint::RemoteEndpoint;
use sinew_shm::transport::{EventReceiver, Head, Incoming, Sink};
use sinew_shm::{CapacityError, EndpointKey, EndpointKind, Peer};
use std::collections::HashMap;
use std::sync::Weak;
use std::time::Duration;

/// A server of another process.
pub(crate) struct ShmServer {
    pub(super) own: Weak<OwnParticipant>,
    /// The connections of clients of this process, where a new one is added.
    pub(super) connections: Arc<ServerConnections>,
    pub(super) peer: Arc<Peer>,
    pub(super) key: EndpointKey,
    pub(super) described: RemoteEndpoint,
}

impl RemoteServer for ShmServer {
    fn described(&self) -> &RemoteEndpoint {
        &self.described
    }

    fn is_there(&self) -> bool {
        self.peer.has(self.key)
    }

    fn failure(&self) -> CallFailure {
        match self.described.origin.is_network() && self.peer.has_ended() {
            true => CallFailure::GatewayGone,
            false => CallFailure::ServerGone,
        }
    }

    fn connect(&self, calls: &Arc<PendingCalls>) -> Result<Arc<dyn RemoteServerConnection>, String> {
        let Some(own) = self.own.upgrade() else {
            return Err("the client is not known to other processes".to_owned());
        };
        match ShmServerConnection::open(&own, calls, self) {
            Ok(connection) => Ok(connection),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Connections of this process's clients with servers of other processes, by their entities.
#[derive(Default)]
pub(super) struct ServerConnections(Mutex<HashMap<EndpointKey, Weak<ShmServerConnection>>>);

impl ServerConnections {
    /// Adds a connection, so that answers find it from now on.
    fn add(&self, connection: &Arc<ShmServerConnection>) {
        self.0.lock().insert(connection.key, Arc::downgrade(connection));
    }

    fn remove(&self, key: EndpointKey) {
        self.0.lock().remove(&key);
    }

    pub(super) fn find(&self, key: EndpointKey) -> Option<Arc<ShmServerConnection>> {
        self.0.lock().get(&key).and_then(Weak::upgrade)
    }

    pub(super) fn all(&self) -> Vec<Arc<ShmServerConnection>> {
        self.0.lock().values().filter_map(Weak::upgrade).collect()
    }
}

/// A client's connection with the server of another process.
pub(crate) struct ShmServerConnection {
    calls: Weak<PendingCalls>,
    own: Weak<OwnParticipant>,
    connections: Arc<ServerConnections>,
    /// As [`RemoteServerConnection::key`].
    key: EndpointKey,
    /// The server's participant.
    server: Arc<Peer>,
    /// Maximum number of requests under way.
    limit: usize,
    /// `None` once it has ended.
    requests: Mutex<Option<DirectedWriter>>,
    answers: DirectedReader,
    /// The failure of calls without an answer, for the thread that passes on the last one.
    failing: Mutex<Option<CallFailure>>,
    /// Threads that wait for answers.
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    waiting: usize,
    /// The port of the thread that waits alone, or was the last to do so: no other port is notified
    /// of answers.
    alone: Option<Arc<EventReceiver>>,
}

impl ShmServerConnection {
    /// Connects a client with a server of another process.
    fn open(
        own: &Arc<OwnParticipant>,
        calls: &Arc<PendingCalls>,
        server: &ShmServer,
    ) -> Result<Arc<Self>, CapacityError> {
        let about = (calls.number, &*calls.node, &*calls.service);
        let entity = own.advertise_line(EndpointKind::Request, about, calls.types.request)?;
        let key = entity.key();
        let this = Arc::new(Self {
            calls: Arc::downgrade(calls),
            own: Arc::downgrade(own),
            connections: server.connections.clone(),
            key,
            server: server.peer.clone(),
            limit: server.described.qos.max_samples.unwrap_or(MAX_REQUESTS),
            requests: Mutex::new(None),
            answers: DirectedReader::new(false, calls.types.response, None),
            failing: Mutex::default(),
            threads: Mutex::default(),
        });
        server.connections.add(&this); // first: the server's answers must find it
        let writer = DirectedWriter::open(entity, &server.peer, server.key)
            .inspect_err(|_| server.connections.remove(key))?;
        *this.requests.lock() = Some(writer);
        Ok(this)
    }

    /// Whether answers may come from this participant, the server's.
    pub(crate) fn expects(&self, peer: &Peer) -> bool {
        peer.id() == self.server.id()
    }

    /// Sets the connection by which answers arrive. The caller then drains.
    pub(crate) fn accept(&self, incoming: Incoming) {
        self.answers.accept(incoming);
        self.choose_port(self.threads.lock());
    }

    /// Makes answers notify the thread that waits alone, otherwise the executor or the receiver.
    fn notify_right_one(&self, threads: Guard<'_, Threads>) {
        self.choose_port(threads);
        self.drain_by_hand(); // for threads of the program that call, and others
    }

    fn choose_port(&self, mut threads: Guard<'_, Threads>) {
        let (Some(own), Some(calls)) = (self.own.upgrade(), self.calls.upgrade()) else { return };
        let alone = threads.alone.take().filter(|_| threads.waiting == 1);
        threads.alone.clone_from(&alone);
        // Under the lock of the threads: if two threads change it at the same time, the second
        // one's choice stays.
        self.answers.set_port(alone.or_else(|| own.port_for(calls.scheduler().as_deref())));
    }

    /// Registers this thread as waiting for an answer, on this port of its own.
    fn enter(&self, port: &Arc<EventReceiver>) -> Entered<'_> {
        let mut threads = self.threads.lock();
        threads.waiting += 1;
        let is_notified = threads.alone.as_ref().is_some_and(|alone| Arc::ptr_eq(alone, port));
        threads.alone = (threads.waiting == 1).then(|| port.clone());
        if !(is_notified && threads.waiting == 1) {
            self.notify_right_one(threads);
        }
        Entered(self)
    }

    /// Reads the available answers on a thread that waits for one of them: listeners of other calls
    /// run on another thread.
    #[inline]
    fn drain_by_hand(&self) {
        by_hand(|| self.drain_answers(), |notifications| self.notify_elsewhere(notifications));
    }

    /// Reads the available answers. Listeners run once all of them have settled their calls: a
    /// listener that waits for a lock of the program may depend on a thread that waits for one of
    /// the answers.
    #[inline]
    fn drain_answers(&self) {
        by_hand(|| self.read_answers(), |notifications| notifications.into_iter().for_each(Deferred::run));
    }

    #[inline]
    fn read_answers(&self) {
        let (calls, mut lost) = (self.calls.upgrade(), None);
        self.answers.look(|received| match (received, &calls) {
            (Received::Content(id, head, content), Some(calls)) => {
                OwnParticipant::meet_entities_of(&self.own, &self.server);
                let outcome = content.map_err(|failure| CallFault { failure, request: None });
                calls.complete_by(self.key, id, outcome, head.stamp);
            }
            (Received::Lost(problem), _) => lost = Some(problem),
            (Received::Ended, Some(calls)) => {
                let failure = self.failing.lock().take();
                if let Some(failure) = failure {
                    calls.fail_unanswered(self.key, &failure);
                }
            }
            _ => {}
        });
        if let (Some(problem), Some(calls)) = (lost, calls) {
            log_line!(Level::Error, "calls of {} fail: {problem}", calls.service);
            self.fail_unanswered(CallFailure::Transport { problem });
        }
    }

    /// Fails the calls of this line that have no answer, once every thread has passed on the
    /// answers that it read: now, or on the thread that is the last to do so.
    #[cold]
    fn fail_unanswered(&self, failure: CallFailure) {
        *self.failing.lock() = Some(failure);
        self.answers.end();
        self.drain_answers();
    }
}

/// Marks this thread as one of those that wait for answers by a line.
struct Entered<'a>(&'a ShmServerConnection);

impl Drop for Entered<'_> {
    /// Keeps the thread's port as the notified one until another thread waits: nothing needs
    /// notifying meanwhile.
    fn drop(&mut self) {
        let mut threads = self.0.threads.lock();
        threads.waiting -= 1;
        if threads.alone.is_some() && self.0.calls.upgrade().is_some_and(|calls| calls.has_open()) {
            self.0.notify_right_one(threads);
        }
    }
}

impl RemoteServerConnection for ShmServerConnection {
    fn key(&self) -> EndpointKey {
        self.key
    }

    fn send(
        &self,
        calls: &PendingCalls,
        (id, message, publication): (CallId, &RawMessage, &Publication),
        quietly: bool,
    ) -> Result<(), CallFailure> {
        if !quietly && self.threads.lock().alone.is_some() {
            self.retune();
        }
        let mut requests = self.requests.lock();
        let Some(requests) = &mut *requests else { return Err(CallFailure::ServerGone) };
        // Under this lock: a thread that ends the line then finds the call.
        calls.goes_by(id, self.key);
        match requests.send(id, &head_of(publication), Ok(message), self.limit) {
            Ok(true) => Ok(()),
            Ok(false) => Err(CallFailure::Full { limit: self.limit }),
            Err(SendError::Capacity(error)) => Err(CallFailure::Transport { problem: error.to_string() }),
            Err(SendError::Encoding(reason)) => Err(CallFailure::Unencodable { what: "request", reason }),
        }
    }

    /// Waits on a port of this thread's own, so that the answer wakes it at once.
    fn wait(&self, calls: &PendingCalls, id: CallId, deadline: Time, patience: Duration) -> RemoteWait {
        let port = self.own.upgrade().and_then(|own| own.port_of_this_thread());
        let Some(port) = port else {
            self.retune(); // a thread that waited alone may be the one that is notified
            return RemoteWait::Unable;
        };
        let _blocked = Blocked::begin();
        let _entered = self.enter(&port);
        let awake = Time::steady() + patience;
        loop {
            let seen = port.bell(); // K1
            if !self.answers.has_nothing() {
                self.drain_by_hand();
            }
            let now = Time::steady();
            let polls = now < awake;
            let outcome = match polls {
                true => calls.take(id), // this thread needs no waking
                false => calls.take_or_wait(id, Waiter::Port(port.clone())).ok(),
            };
            if let Some(outcome) = outcome {
                return RemoteWait::Settled(outcome);
            }
            let left = deadline - now;
            if left.is_zero() {
                return RemoteWait::TimedOut;
            }
            if polls {
                std::hint::spin_loop();
                continue;
            }
            port.park(); // K2
            if !port.is_pending() {
                port.sleep(seen, Some(left)); // K3
            }
            port.unpark();
            by_hand(|| _ = port.drain(), |notifications| self.notify_elsewhere(notifications));
        }
    }

    fn retune(&self) {
        self.notify_right_one(self.threads.lock());
    }

    #[inline]
    fn notify_elsewhere(&self, notifications: Notifications) {
        OwnParticipant::notify_elsewhere(&self.own, notifications);
    }

    /// Ends the line of requests. Its entity stays until the server's answers have ended as well.
    fn end(&self, failure: Option<CallFailure>) {
        let requests = self.requests.lock().take();
        drop(requests);
        self.connections.remove(self.key);
        match failure {
            Some(failure) => self.fail_unanswered(failure),
            None => self.drain_answers(),
        }
    }
}

impl Sink for ShmServerConnection {
    fn drain(&self) {
        self.drain_answers();
    }
}

/// A client of another process as the server sees it. The server's queue keeps it as long as the
/// server exists, and so does each of its requests until it is answered.
pub(crate) struct ShmClient {
    own: Weak<OwnParticipant>,
    server: Arc<ServerCore>,
    /// The source of its requests and target of its answers.
    address: (Arc<Peer>, EndpointKey),
    /// As in [`Publication::publisher`].
    client: u64,
    requests: DirectedReader,
    /// `None` until there is room for it. No request is read before.
    answers: Mutex<Option<DirectedWriter>>,
}

impl ShmClient {
    /// Accepts a client of another process that calls a server here. Returns the sink that is
    /// notified of its requests; `None` if the server is gone.
    pub(crate) fn receive(
        own: &Arc<OwnParticipant>,
        incoming: Incoming,
        server: Arc<ServerCore>,
    ) -> Option<Arc<dyn Sink>> {
        let address = (incoming.peer().clone(), incoming.source());
        // The line has the client's number. (A client that is already gone sends no requests.)
        let number = incoming.source_endpoint().map_or(0, |line| line.number);
        let this = Arc::new(Self {
            own: Arc::downgrade(own),
            client: introduce(address.0.id()) | (number & u64::from(u32::MAX)),
            requests: DirectedReader::new(true, server.types.request, Some(incoming)),
            answers: Mutex::new(None),
            address,
            server,
        });
        let requests = &this.server.requests;
        if !requests.add_remote_client(&this.server, this.clone()) {
            return None;
        }
        if let Err(error) = this.open_answers() {
            log_line!(Level::Error, "a client of another process isn't served, until there is room: {error}");
        }
        this.choose_port(); // the caller drains, under no lock
        Some(Arc::new(ShmClientSink(Arc::downgrade(&this))))
    }

    /// Opens the line for its answers, if there is none yet and there is room.
    fn open_answers(&self) -> Result<(), CapacityError> {
        let mut answers = self.answers.lock();
        if let (None, Some(own)) = (&*answers, self.own.upgrade()) {
            let ServerCore { number, node, requests, types, .. } = &*self.server;
            let about = (*number, &**node, &*requests.name);
            let entity = own.advertise_line(EndpointKind::Reply, about, types.response)?;
            *answers = Some(DirectedWriter::open(entity, &self.address.0, self.address.1)?);
        }
        Ok(())
    }

    /// Reads the available requests, if they can be answered.
    fn drain_requests(self: &Arc<Self>) {
        if self.answers.lock().is_none() {
            return;
        }
        self.requests.look(|received| match received {
            Received::Content(id, head, content) => self.ask(id, &head, content),
            Received::Lost(problem) => {
                log_line!(Level::Error, "{} of another process: {problem}", self.server.requests.name);
                let head = self.head();
                self.answers.lock().iter_mut().for_each(|answers| answers.send_lost(&head, &problem));
                self.request_retry();
            }
            Received::Over => self.leave(),
            Received::Ended => {} // this side never asks for it
        });
    }

    /// Handles the client's end: its line of answers ends too.
    fn leave(self: &Arc<Self>) {
        let this: Arc<dyn RemoteClient> = self.clone();
        self.server.requests.remove_remote_client(&this);
    }

    /// Has the helper thread call [`RemoteClient::retry`] soon: a failure may have found no room.
    fn request_retry(&self) {
        let own = self.own.upgrade();
        own.iter().filter_map(|own| own.participant()).for_each(|participant| participant.request_look());
    }

    /// Chooses the thread that is notified of requests from the next look on.
    fn choose_port(&self) {
        let Some(own) = self.own.upgrade() else { return };
        let requests = &self.server.requests;
        loop {
            let is_polled = requests.is_polled();
            let port = match is_polled {
                true => None,
                false => own.port_for(requests.scheduler().as_deref()),
            };
            self.requests.set_port(port);
            // Another thread may have set a listener and chosen a port meanwhile: then this choice
            // is not the last.
            if requests.is_polled() == is_polled {
                return;
            }
        }
    }

    fn head(&self) -> Head {
        let stamp = self.server.requests.session.clock.stamp();
        Head { stamp: stamp.time, order: stamp.order, ..Head::default() }
    }

    /// Adds a request to the server's queue on behalf of the client.
    fn ask(self: &Arc<Self>, id: CallId, head: &Head, content: Result<RawMessage, CallFailure>) {
        OwnParticipant::meet_entities_of(&self.own, &self.address.0);
        let message = match content {
            Ok(message) => message,
            Err(failure) => return self.answer(id, Err(&failure)),
        };
        let publication = publication_of(head, id.sequence(), self.client, i64::MAX);
        let request = Request { message, publication, reply_to: ReplyTo::Remote(self.clone(), id) };
        if let Err(refused) = self.server.requests.push_remote(&self.server, request) {
            refused.give_back();
        }
    }
}

impl RemoteClient for ShmClient {
    fn number(&self) -> u64 {
        self.client
    }

    fn answer(&self, id: CallId, outcome: Result<&RawMessage, &CallFailure>) {
        let head = self.head();
        let sent = self.answers.lock().as_mut().map_or(Ok(()), |answers| answers.answer(id, &head, outcome));
        if let Err(error) = sent {
            let service = &self.server.requests.name;
            log_line!(
                Level::Error,
                "an answer of {service} can't be sent, its caller gets an error: {error}"
            );
            self.request_retry();
        }
    }

    fn retry(self: Arc<Self>) -> bool {
        if let Some(answers) = &mut *self.answers.lock() {
            return !answers.send_overdue();
        }
        if self.requests.is_over() {
            self.leave();
            return false;
        }
        let is_open = self.open_answers().is_ok();
        if is_open {
            self.drain_requests();
        }
        !is_open
    }

    fn retune(self: Arc<Self>) {
        self.choose_port();
        self.drain_requests();
    }

    #[inline]
    fn look(self: Arc<Self>) {
        if self.requests.has_nothing() {
            return;
        }
        by_hand(
            || self.drain_requests(),
            |notifications| OwnParticipant::notify_elsewhere(&self.own, notifications),
        );
    }
}

/// A client elsewhere, as threads notified of requests see it. Weak, because the client keeps the
/// participant.
struct ShmClientSink(Weak<ShmClient>);

impl Sink for ShmClientSink {
    fn drain(&self) {
        self.0.upgrade().iter().for_each(ShmClient::drain_requests);
    }
}
