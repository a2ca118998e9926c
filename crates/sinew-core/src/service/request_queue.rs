//! The requests that wait for one service: a bounded queue between its clients and its server.
//!
//! There is one queue for each name that has a client or a server, so a call looks nothing up. The
//! queue may exist before its server: requests wait in it until a server is created. A request is
//! never lost silently. The server takes it, its caller takes it back, or its caller learns the
//! reason: the queue is full, the server was removed or has other types, or the context was shut
//! down.
//!
//! # Ownership
//!
//! The queue owns its requests, and a request keeps its client alive, and so the context: a request
//! that no thread takes or withdraws any more would keep all of them alive forever. So a thread
//! that adds a request from elsewhere, or puts one back, checks it under the lock that closing and
//! withdrawing take: it refuses the request if the server or the caller is gone.
//!
//! The queue also keeps its server and the clients elsewhere, which keep the queue, until the
//! server [closes](RequestQueue::close).

mod mismatch;
pub(crate) mod server_core;

use self::mismatch::{mismatch, mismatch_remote};
use self::server_core::{RequestTaker, ServerCore};
use super::failure::CallFailure;
use super::pending_calls::{CallId, PendingCalls, RemoteServer};
use super::request::{RefusedRequest, RemoteClient, ReplyTo, Request};
use super::statistics::ServerStatistics;
use super::types::ServiceTypes;
use crate::executor::crew::scheduler::{Scheduler, TaskRef, ToSignal};
use crate::executor::group_token::GroupToken;
use crate::executor::inbox::{Inbox, InboxGuard, Queue};
use crate::executor::prefetch;
use crate::executor::work::queue::{WorkId, WorkQueueCore};
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::{Listener, Waiter};
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::sys::clock::{Stamp, Time};
use crate::sys::sync::{Arc, Condvar, Ordering, no_lock_is_held};
use crate::topic::endpoint_info::{EndpointInfo, EndpointKind, Place, Wanted, hash_of};
use crate::topic::session::Session;
use sinew_shm::Counter;
use sinew_shm::transport::Counters;
use std::collections::VecDeque;
use std::{mem, ptr};

/// Maximum number of waiting requests while no server sets a limit.
pub(crate) const MAX_REQUESTS: usize = 1000;

/// The task to which a request is to be announced, and the time since which the request waits.
pub(crate) type Unannounced = Option<(TaskRef, Stamp)>;

/// The parts of a removed server that must be dropped under no lock.
struct Leaving {
    _serving: Option<Arc<ServerCore>>,
    _task_ref: Option<TaskRef>,
    _taker: Option<Arc<RequestTaker>>,
    _worker: Option<Arc<WorkQueueCore>>,
    _listener: Option<Arc<Listener>>,
    _clients: Vec<Arc<dyn RemoteClient>>,
}

/// The consequences of adding a server, for the caller to handle under no lock.
pub(crate) struct Opened {
    /// Requests that waited for a server of another type, to be handed back.
    pub(crate) refused: Vec<RefusedRequest>,
    /// Clients of other types.
    pub(crate) strangers: Strangers,
    /// The displaced server.
    pub(crate) displaced: Option<Arc<ServerCore>>,
    _left: Option<Leaving>,
}

/// Clients of other types: the node of each, and the description of its mismatch with the server.
pub(crate) type Strangers = Vec<(Arc<str>, String)>;

/// The queue of one service.
#[repr(C)] // fields that every call touches come first
pub(crate) struct RequestQueue {
    /// The server's task takes the requests.
    state: Inbox<QueueState>,
    pub(crate) name: Arc<str>,
    pub(crate) session: Arc<Session>,
    /// Signalled when a server is added, or the context ends.
    came: Condvar,
}

#[derive(Default)]
#[repr(C)]
struct QueueState {
    ever_served: bool,
    queue: VecDeque<Request>,
    /// The server of this process. The server and the queue keep each other alive until the server
    /// closes.
    serving: Option<Arc<ServerCore>>,
    /// Servers elsewhere; the first one answers while there is none here.
    remote: Vec<Arc<dyn RemoteServer>>,
    /// Clients elsewhere.
    remote_clients: Vec<Arc<dyn RemoteClient>>,
    /// Clients of this process.
    clients: Vec<Arc<PendingCalls>>,
    /// Counts of the server's queue.
    seen: ServerStatistics,
    /// The server's counters that other processes can read.
    counters: Option<Counters>,
    /// Is notified of requests that wait for the server.
    listener: Option<Arc<Listener>>,
    /// Takes the requests of a server with an immediate callback. Such a server has no task.
    taker: Option<Arc<RequestTaker>>,
    /// Completes the requests that such a server answers later, such as an action's goals.
    worker: Option<Arc<WorkQueueCore>>,
    /// The program takes the requests by hand.
    is_pulled: bool,
}

/// Whether a server elsewhere serves calls of these types.
fn serves(server: &dyn RemoteServer, types: &ServiceTypes) -> bool {
    let (name, hash, travels) = types.published();
    let described = server.described();
    travels && described.type_name == name && described.hash == hash
}

impl QueueState {
    /// Updates the counters that other processes read.
    #[inline]
    fn count(&self, last: Option<Stamp>) {
        let Some(counters) = &self.counters else { return };
        let waiting = self.queue.len() as u64;
        let taken = self.seen.received - self.seen.withdrawn - waiting;
        counters.set_all([
            (Counter::Messages, self.seen.received),
            (Counter::Taken, taken),
            (Counter::Waiting, waiting),
        ]);
        if let Some(last) = last {
            counters.set(Counter::Last, last.time.cast_unsigned());
        }
    }

    /// Updates the number of matching endpoints that other processes read, after one was added or
    /// removed.
    fn count_matched(&self) {
        if let Some(counters) = &self.counters {
            let here = self.clients.iter().filter(|calls| self.is_served_here(&calls.types)).count();
            counters.set(Counter::Matched, (here + self.remote_clients.len()) as u64);
        }
        self.clients.iter().for_each(|calls| calls.count_matched(self.servers(&calls.types)));
    }

    /// Returns the clients for which `wrong` describes a mismatch, with their nodes.
    fn strangers(&self, wrong: impl Fn(&ServiceTypes) -> Option<String>) -> Strangers {
        self.clients.iter().filter_map(|calls| Some((calls.node.clone(), wrong(&calls.types)?))).collect()
    }

    #[inline]
    fn is_served_by(&self, server: &ServerCore) -> bool {
        self.serving.as_ref().is_some_and(|serving| ptr::eq(&raw const **serving, server))
    }

    fn is_served_here(&self, types: &ServiceTypes) -> bool {
        self.serving.as_ref().is_some_and(|serving| serving.types.exchange_with(types))
    }

    /// Returns the number of servers for calls of these types.
    fn servers(&self, types: &ServiceTypes) -> usize {
        let remote = self.remote.iter().filter(|server| server.is_there() && serves(&***server, types));
        usize::from(self.is_served_here(types)) + remote.count()
    }

    /// Takes out the requests that suit a server, or those that don't.
    fn take_out(&mut self, that_suit: bool, serves: impl Fn(&ServiceTypes) -> bool) -> Vec<Request> {
        let (out, rest) = mem::take(&mut self.queue)
            .into_iter()
            .partition::<VecDeque<_>, _>(|request| request.reply_to.types().is_none_or(&serves) == that_suit);
        self.queue = rest;
        out.into()
    }
}

impl Queue for QueueState {
    #[inline]
    fn oldest(&self) -> Option<Stamp> {
        self.queue.front().map(|request| request.publication.stamp)
    }
}

impl InboxGuard<'_, QueueState> {
    /// Removes the server.
    fn leave(&mut self) -> Leaving {
        (self.counters, self.is_pulled) = (None, false);
        Leaving {
            _serving: self.serving.take(),
            _task_ref: self.detach(),
            _taker: self.taker.take(),
            _worker: self.worker.take(),
            _listener: self.listener.take(),
            _clients: mem::take(&mut self.remote_clients),
        }
    }
}

impl prefetch::Footprint for RequestQueue {
    /// Names the memory of the oldest request. The queue's memory may move: the lock holds it in
    /// place.
    fn look(&self, _level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        let state = self.state.lock();
        let (held, _) = state.queue.as_slices();
        if state.queue.capacity() > 0 {
            name(held.as_ptr().addr(), 3 * 64);
        }
        false
    }
}

impl RequestQueue {
    pub(crate) fn new(name: Arc<str>, session: Arc<Session>) -> Arc<Self> {
        Arc::new(Self { state: Inbox::new(QueueState::default()), name, session, came: Condvar::new() })
    }

    /// Names the code that every call runs through, to be prefetched.
    pub(crate) fn code(name: &mut dyn FnMut(usize, usize)) {
        name(Self::enqueue as *const () as usize, 8);
        name(Self::take_for as *const () as usize, 6);
    }

    // ---- the clients' side ----

    /// Adds a request of a client of this process; the caller keeps the client alive meanwhile.
    /// Returns a refused request.
    ///
    /// `quietly`: no thread is woken. If the request then needs announcing, returns the task and
    /// the time since which it waits: the caller announces the request, or runs the server itself.
    #[inline]
    pub(crate) fn push(&self, request: Request, quietly: bool) -> Result<Unannounced, RefusedRequest> {
        no_lock_is_held(); // a server's immediate callback runs
        self.enqueue(self.state.lock(), request, quietly)
    }

    /// Adds a request of a client elsewhere, for this server and no other.
    pub(crate) fn push_remote(&self, server: &ServerCore, request: Request) -> Result<(), RefusedRequest> {
        let state = self.state.lock();
        if !state.is_served_by(server) {
            drop(state);
            return Err(request.refused(CallFailure::ServerGone));
        }
        self.enqueue(state, request, false).map(drop)
    }

    /// Implements [`push`](Self::push).
    #[inline(never)]
    fn enqueue(
        &self,
        mut state: InboxGuard<'_, QueueState>,
        mut request: Request,
        quietly: bool,
    ) -> Result<Unannounced, RefusedRequest> {
        if self.session.has_ended() {
            drop(state);
            return Err(request.refused(CallFailure::Shutdown));
        }
        let (mut limit, mut in_hand) = (MAX_REQUESTS, 0);
        if let Some(serving) = &state.serving {
            if let Some(types) = request.reply_to.types()
                && !serving.types.agree(types)
            {
                if !serving.types.exchange_with(types) {
                    let failure = CallFailure::OtherType { reason: mismatch(&self.name, serving, types) };
                    drop(state);
                    return Err(request.refused(failure));
                }
                request.reply_to = request.reply_to.meeting(&serving.types);
            }
            limit = serving.limit;
            // Relaxed: it only bounds the requests in hand and orders nothing.
            in_hand = usize::try_from(serving.stats.in_hand.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        } else if let Some((calls, _)) = request.reply_to.local()
            // The server used before fits: comparing the types again would allocate.
            && let Some(server) =
                state.remote.iter().find(|server| calls.goes_to(server) || serves(&***server, &calls.types))
        {
            let server = server.clone();
            drop(state);
            return self.forward(request, &server, quietly);
        }
        if state.queue.len().saturating_add(in_hand) >= limit {
            state.seen.refused += 1;
            if let Some(counters) = &state.counters {
                counters.set(Counter::Refused, state.seen.refused);
            }
            drop(state);
            return Err(request.refused(CallFailure::Full { limit }));
        }
        let stamp = request.publication.stamp;
        // Requests that arrive from other processes at different times are answered in the order of
        // the calls.
        let is_later = |other: &Request| other.publication.stamp > stamp;
        if state.queue.back().is_some_and(is_later) {
            let later = state.queue.iter().rev().take_while(|other| is_later(other)).count();
            let place = state.queue.len() - later;
            state.queue.insert(place, request);
        } else {
            state.queue.push_back(request);
        }
        state.seen.received += 1;
        state.count(Some(stamp));
        if state.taker.is_some() {
            self.take_oldest(state);
            return Ok(None);
        }
        let listener = state.listener.clone();
        let mut unannounced = None;
        if quietly {
            unannounced = state.announce_quietly().map(|(task_ref, since)| (task_ref.clone(), since));
            drop(state);
        } else {
            state.announce().signal();
        }
        if let Some(listener) = listener {
            Deferred::wake(Waiter::Listener(listener));
        }
        Ok(unannounced)
    }

    /// Runs the server's immediate callback, if it has one, on this thread for the oldest request.
    /// Returns `false` if there was nothing to do.
    ///
    /// With such a callback, each thread that adds a request takes one out under the same lock. So
    /// no request stays behind, except those that waited before the callback was set.
    #[cold]
    fn take_oldest(&self, mut state: InboxGuard<'_, QueueState>) -> bool {
        let (Some(taker), Some(server)) = (state.taker.clone(), state.serving.clone()) else {
            return false;
        };
        let Some(request) = state.queue.pop_front() else { return false };
        state.count(None);
        drop(state);
        let is_converted = matches!(request.reply_to, ReplyTo::Converted(..));
        if let Some(request) = if is_converted { server.converted(request) } else { Some(request) } {
            Deferred::run(move || taker.hand_over(&server, request));
        }
        true
    }

    /// Whether the server runs on the calling thread.
    pub(crate) fn runs_immediately(&self) -> bool {
        self.state.lock().taker.is_some()
    }

    /// Sets the callback that takes the server's requests from now on, and runs it for those that
    /// wait.
    pub(crate) fn take_immediately(&self, server: &ServerCore, taker: Arc<RequestTaker>) {
        let Some(mut state) = self.of(server) else { return };
        state.taker = Some(taker);
        drop(state);
        while self.of(server).is_some_and(|state| self.take_oldest(state)) {}
    }

    /// Records that the program takes the server's requests by hand: a thread that takes one reads
    /// those of other processes itself.
    pub(crate) fn is_pulled_by(&self, server: &ServerCore) {
        if let Some(mut state) = self.of(server) {
            state.is_pulled = true;
        }
        self.retune();
    }

    /// Whether nothing is to be notified of requests from elsewhere, because the program polls.
    pub(crate) fn is_polled(&self) -> bool {
        let state = self.state.lock();
        state.is_pulled && state.listener.is_none()
    }

    /// Reads the requests that have come from other processes, on this thread.
    pub(crate) fn look_elsewhere(&self) {
        let client = |place: usize| self.state.lock().remote_clients.get(place).cloned();
        (0..).map_while(client).for_each(RemoteClient::look);
    }

    /// Sets the server's listener, or none. Returns the number of requests that wait here, and the
    /// previous listener, to be dropped under no lock; or the new one if the server is gone.
    pub(crate) fn replace_listener(
        &self,
        server: &ServerCore,
        listener: Option<Arc<Listener>>,
    ) -> (u64, Option<Arc<Listener>>) {
        let Some(mut state) = self.of(server) else { return (0, listener) };
        (state.queue.len() as u64, mem::replace(&mut state.listener, listener))
    }

    /// Returns the server's listener.
    pub(crate) fn listener(&self, server: &ServerCore) -> Option<Arc<Listener>> {
        self.of(server)?.listener.clone()
    }

    /// Returns the scheduler of the executor that is notified of requests from elsewhere. A server
    /// with a listener has none: its executor may be busy.
    pub(crate) fn scheduler(&self) -> Option<Arc<Scheduler>> {
        let state = self.state.lock();
        let task_ref = state.task_ref().filter(|_| state.listener.is_none())?;
        Some(task_ref.scheduler.clone())
    }

    /// Takes back a request that has not been taken yet.
    pub(crate) fn withdraw(&self, client: u64, id: CallId) -> Option<RawMessage> {
        let mut state = self.state.lock();
        let is_it = |request: &Request| {
            request.publication.publisher == client
                && request.reply_to.local().is_some_and(|(_, local)| local == id)
        };
        let place = state.queue.iter().position(is_it)?;
        let request = state.queue.remove(place)?;
        state.seen.withdrawn += 1;
        state.count(None);
        drop(state);
        Some(request.message)
    }

    /// Returns the server's task, if it has an executor.
    pub(crate) fn task_ref(&self) -> Option<TaskRef> {
        self.state.task_ref()
    }

    /// Returns the server's task, and whether any request waits for it. For a server without a
    /// task, returns the task of the queue that works for it, and whether this work waits there.
    pub(crate) fn work(&self, id: &WorkId) -> Option<(TaskRef, bool)> {
        let worker = {
            let state = self.state.lock();
            if let Some(task_ref) = state.task_ref() {
                return Some((task_ref.clone(), !state.queue.is_empty()));
            }
            state.worker.clone()?
        };
        Some((worker.task_ref()?, worker.has(id)))
    }

    /// Sets the queue that completes the requests which the server answers later.
    pub(crate) fn is_worked_by(&self, server: &ServerCore, worker: Arc<WorkQueueCore>) {
        if let Some(mut state) = self.of(server) {
            state.worker = Some(worker);
        }
    }

    /// Returns the number of servers for calls of these types, here and elsewhere.
    pub(crate) fn servers(&self, types: &ServiceTypes) -> usize {
        self.state.lock().servers(types)
    }

    /// Whether there is a server now, and whether there ever was one.
    pub(crate) fn service(&self) -> (bool, bool) {
        let state = self.state.lock();
        (state.serving.is_some(), state.ever_served)
    }

    /// Waits for a server for calls of these types, until `deadline` (steady machine time) or until
    /// the context ends. Returns whether there is one.
    pub(crate) fn wait_for_server(&self, types: &ServiceTypes, deadline: Time) -> bool {
        let mut state = self.state.lock();
        loop {
            if self.session.has_ended() {
                return false;
            }
            if state.servers(types) > 0 {
                return true;
            }
            let left = deadline - Time::steady();
            if left.is_zero() {
                return false;
            }
            state.wait_at_most(&self.came, Some(left));
        }
    }

    /// Describes the server's types and location for a client that it doesn't serve; `None` if a
    /// server serves the client, or there is none at all.
    pub(crate) fn mismatch(&self, types: &ServiceTypes) -> Option<String> {
        let state = self.state.lock();
        if let Some(serving) = &state.serving {
            return (!serving.types.exchange_with(types)).then(|| mismatch(&self.name, serving, types));
        }
        let server = state.remote.first()?;
        let is_served = state.remote.iter().any(|server| serves(&**server, types));
        (!is_served).then(|| mismatch_remote(&self.name, &**server, types))
    }

    /// Adds a client of this process.
    pub(crate) fn add_client(&self, calls: &Arc<PendingCalls>) {
        let mut state = self.state.lock();
        state.clients.push(calls.clone());
        state.count_matched();
    }

    /// Removes a client of this process.
    pub(crate) fn remove_client(&self, calls: &Arc<PendingCalls>) {
        let mut state = self.state.lock();
        state.clients.retain(|known| !Arc::ptr_eq(known, calls)); // the caller has another reference
        state.count_matched();
    }

    /// Returns the clients of this process.
    pub(crate) fn clients(&self) -> Vec<Arc<PendingCalls>> {
        self.state.lock().clients.clone()
    }

    /// Returns the types of this node's endpoints of the service.
    pub(crate) fn types_of(&self, node: &Arc<str>) -> Vec<ServiceTypes> {
        let state = self.state.lock();
        let served = state.serving.iter().filter(|server| Arc::ptr_eq(&server.node, node));
        let called = state.clients.iter().filter(|calls| Arc::ptr_eq(&calls.node, node));
        served.map(|server| server.types).chain(called.map(|calls| calls.types)).collect()
    }

    /// Returns the clients of this process, if there never was a server.
    pub(crate) fn unserved(&self) -> Vec<Arc<PendingCalls>> {
        let state = self.state.lock();
        match state.serving.is_some() || state.ever_served || !state.remote.is_empty() {
            true => Vec::new(),
            false => state.clients.clone(),
        }
    }

    /// Returns the type and node of a server.
    pub(crate) fn server(&self) -> Option<(String, String)> {
        let state = self.state.lock();
        let here = state.serving.as_ref().map(|server| (server.types.published().0, server.node.to_string()));
        here.or_else(|| {
            let described = state.remote.first()?.described();
            Some((described.type_name.clone(), described.node.clone()))
        })
    }

    /// Returns the nodes of the service's endpoints in this process, and their types.
    pub(crate) fn users(&self) -> Vec<(Arc<str>, String)> {
        let state = self.state.lock();
        let served = state.serving.iter().map(|server| (&server.node, &server.types));
        let all = served.chain(state.clients.iter().map(|calls| (&calls.node, &calls.types)));
        all.map(|(node, types)| (node.clone(), types.published().0)).collect()
    }

    /// Appends the wanted endpoints of this process.
    pub(crate) fn list(&self, wanted: &Wanted<'_>, into: &mut Vec<EndpointInfo>) {
        let state = self.state.lock();
        let servers = state.serving.iter().map(|server| {
            let about = (server.number, server.origin);
            (EndpointKind::Server, &server.node, &server.types, about, server.qos)
        });
        let clients = state.clients.iter().map(|calls| {
            let about = (calls.number, calls.origin);
            (EndpointKind::Client, &calls.node, &calls.types, about, QoS::services())
        });
        let shown = servers.chain(clients).filter(|(kind, node, _, (_, origin), _)| {
            origin.is_shown() && wanted.is(*kind, &self.name, node)
        });
        into.extend(shown.map(|(kind, node, types, (number, origin), qos)| {
            let (type_name, hash, travels) = types.published();
            EndpointInfo {
                kind,
                node: node.to_string(),
                name: self.name.to_string(),
                type_name,
                type_hash: hash_of(hash),
                qos,
                gid: Gid::of_endpoint(self.session.participant, number),
                place: Place::of_own(origin),
                travels,
                origin,
                domain: None,
            }
        }));
    }

    /// Whether the queue has no endpoint any more.
    pub(crate) fn is_unused(&self) -> bool {
        let state = self.state.lock();
        state.serving.is_none() && state.clients.is_empty() && state.remote.is_empty()
    }

    /// Updates the matching counts, after an endpoint became known to other processes.
    pub(crate) fn count_matched(&self) {
        self.state.lock().count_matched();
    }

    // ---- other processes ----

    /// Adds a server of another process. Returns the requests that the caller is to forward to it,
    /// and clients of other types.
    pub(crate) fn add_remote(&self, server: &Arc<dyn RemoteServer>) -> (Vec<Request>, Strangers) {
        let mut state = self.state.lock();
        let waiting = match state.serving {
            None => state.take_out(true, |types| serves(&**server, types)),
            Some(_) => Vec::new(),
        };
        state.ever_served = true;
        state.remote.push(server.clone());
        state.count_matched();
        self.came.notify_all();
        let wrong = |types: &ServiceTypes| {
            (!serves(&**server, types)).then(|| mismatch_remote(&self.name, &**server, types))
        };
        (waiting, state.strangers(wrong))
    }

    /// Sends a request to another process. If that server is gone, the request goes to another one,
    /// or waits for one.
    #[inline(never)]
    pub(crate) fn forward(
        &self,
        request: Request,
        server: &Arc<dyn RemoteServer>,
        quietly: bool,
    ) -> Result<Unannounced, RefusedRequest> {
        let Request { message, publication, reply_to } = &request;
        let Some((calls, id)) = reply_to.local() else {
            return Err(request.refused(CallFailure::ServerGone));
        };
        match calls.send(server, (id, message, publication), quietly) {
            Ok(()) => Ok(None),
            Err(CallFailure::ServerGone) if calls.is_awaited(id) => {
                // The others are notified when the server's end is noticed.
                self.remove_remote(server);
                calls.lose(server);
                let state = self.state.lock();
                if !calls.is_awaited(id) {
                    drop(state);
                    return Err(request.refused(CallFailure::ServerGone));
                }
                self.enqueue(state, request, quietly)
            }
            Err(failure) => Err(request.refused(failure)),
        }
    }

    /// Removes a server of another process.
    pub(crate) fn remove_remote(&self, server: &Arc<dyn RemoteServer>) {
        let mut state = self.state.lock();
        state.remote.retain(|known| !Arc::ptr_eq(known, server)); // the caller has another reference
        state.count_matched();
    }

    /// Adds a client of another process, which is kept until it or the server is removed. Returns
    /// `false` if the server is already gone.
    pub(crate) fn add_remote_client(&self, server: &ServerCore, client: Arc<dyn RemoteClient>) -> bool {
        let mut state = self.state.lock();
        if !state.is_served_by(server) {
            return false;
        }
        state.remote_clients.push(client);
        state.count_matched();
        true
    }

    /// Removes a client of another process.
    pub(crate) fn remove_remote_client(&self, client: &Arc<dyn RemoteClient>) {
        let mut state = self.state.lock();
        state.remote_clients.retain(|known| !Arc::ptr_eq(known, client)); // the caller's reference isn't the last one
        state.count_matched();
    }

    /// Calls `act` for each client of another process.
    pub(crate) fn for_remote_clients(&self, act: impl FnMut(Arc<dyn RemoteClient>)) {
        let clients = self.state.lock().remote_clients.clone();
        clients.into_iter().for_each(act);
    }

    /// Sets the server's counters that other processes can read; called once it is added.
    pub(crate) fn is_counted(&self, counters: Counters) {
        let mut state = self.state.lock();
        state.counters = Some(counters);
        state.count(None);
        state.count_matched();
    }

    // ---- the server's side ----

    /// Adds a server. A server that stands for one of the network gives way to one of this host.
    pub(crate) fn open(&self, server: &Arc<ServerCore>) -> Result<Opened, CreateError> {
        let mut state = self.state.lock();
        let gives_way = |serving: &ServerCore| serving.origin.is_remote() && !server.origin.is_remote();
        let displaced = state.serving.clone();
        if let Some(serving) = displaced.as_ref().filter(|serving| !gives_way(serving)) {
            let (service, node) = (self.name.as_ref().to_owned(), serving.node.as_ref().to_owned());
            return Err(CreateError::ServiceTaken { service, node });
        }
        let left = displaced.is_some().then(|| state.leave());
        let wrong = |types: &ServiceTypes| {
            (!server.types.exchange_with(types)).then(|| mismatch(&self.name, server, types))
        };
        let strange = state.take_out(false, |types| server.types.exchange_with(types));
        let refused = strange.into_iter().map(|request| {
            let reason = request.reply_to.types().and_then(wrong).unwrap_or_default();
            request.refused(CallFailure::OtherType { reason })
        });
        let mut refused: Vec<_> = refused.collect();
        // Requests from elsewhere were for the displaced server, and are in its form.
        let (waiting, remote): (Vec<_>, Vec<_>) =
            mem::take(&mut state.queue).into_iter().partition(|request| request.reply_to.types().is_some());
        refused.extend(remote.into_iter().map(|request| request.refused(CallFailure::ServerGone)));
        state.queue = waiting.into_iter().map(|request| request.meeting(&server.types)).collect();
        state.seen = ServerStatistics { received: state.queue.len() as u64, ..ServerStatistics::default() };
        state.ever_served = true;
        state.serving = Some(server.clone());
        state.count_matched();
        self.came.notify_all();
        let strangers = state.strangers(wrong);
        Ok(Opened { refused, strangers, displaced, _left: left })
    }

    /// Closes the server: waiting requests fail.
    pub(crate) fn close(&self, server: &ServerCore) {
        let mut state = self.state.lock();
        if !state.is_served_by(server) {
            return;
        }
        let (left, waiting) = (state.leave(), mem::take(&mut state.queue));
        state.count_matched();
        drop(state);
        drop(left);
        waiting.into_iter().for_each(|request| request.refused(CallFailure::ServerGone).give_back());
    }

    /// Fails all waiting requests, because the context ends.
    pub(crate) fn end(&self) {
        let waiting = mem::take(&mut self.state.lock().queue);
        waiting.into_iter().for_each(|request| request.refused(CallFailure::Shutdown).give_back());
        self.came.notify_all();
    }

    /// Whether this is still the queue's server.
    pub(crate) fn is_served_by(&self, server: &ServerCore) -> bool {
        self.of(server).is_some()
    }

    /// Locks the state, if this is still the queue's server.
    #[inline]
    fn of(&self, server: &ServerCore) -> Option<InboxGuard<'_, QueueState>> {
        Some(self.state.lock()).filter(|state| state.is_served_by(server))
    }

    /// Takes the oldest request for a server. Also returns the stamp under which the executor keeps
    /// the server ready, if there is more; in a reentrant group that has already been announced.
    #[inline(never)]
    pub(crate) fn take_for(
        &self,
        server: &ServerCore,
        token: &GroupToken,
    ) -> Option<(Request, Option<Stamp>)> {
        loop {
            let mut state = self.of(server)?;
            let request = state.queue.pop_front();
            state.count(None);
            let (next, signal) = state.next(token.is_reentrant());
            signal.signal();
            // By reference: moving the request before the check would move it twice.
            let is_converted = |request: &Request| matches!(request.reply_to, ReplyTo::Converted(..));
            if !request.as_ref().is_some_and(is_converted) {
                return request.map(|request| (request, next));
            }
            if let Some(request) = request.and_then(|request| server.converted(request)) {
                return Some((request, next));
            }
        }
    }

    /// Returns the server's next stamp after it did something other than taking a request; as in
    /// [`take_for`](Self::take_for).
    pub(crate) fn next_for(&self, server: &ServerCore, token: &GroupToken) -> Option<Stamp> {
        let (next, signal) = self.of(server)?.next(token.is_reentrant());
        signal.signal();
        next
    }

    /// Returns the stamp that is still announced, after a callback panicked.
    pub(crate) fn pending(&self, server: &ServerCore) -> Option<Stamp> {
        self.of(server)?.pending()
    }

    /// Takes back the announcement if no request waits. Returns `true` if one waits, or if `other`
    /// is set: the server has something else to do.
    pub(crate) fn clear_ready(&self, server: &ServerCore, other: bool) -> bool {
        self.of(server).is_some_and(|mut state| state.clear_ready(other)) || other
    }

    /// Sets the task to which requests are announced, announces those that wait, and wakes their
    /// callers, which may run the server themselves.
    pub(crate) fn attach(&self, server: &ServerCore, task_ref: Option<TaskRef>) -> ToSignal {
        let Some(state) = self.of(server) else { return ToSignal::NONE };
        let came = task_ref.is_some();
        let local = |request: &Request| request.reply_to.local().map(|(calls, id)| (calls.clone(), id));
        let waiting: Vec<_> = state.queue.iter().filter(|_| came).filter_map(local).collect();
        let signal = state.attach(task_ref);
        waiting.iter().for_each(|(calls, id)| calls.nudge(*id, false));
        signal
    }

    /// Changes which executor is notified of requests from elsewhere, after the server moved to
    /// another one or to none.
    pub(crate) fn retune(&self) {
        self.for_remote_clients(RemoteClient::retune);
    }
}
