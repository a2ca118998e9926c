//! The requests that wait for one service: a bounded queue between its clients and its server.
//!
//! There is one for each name that has a client or a server, so a call looks nothing up. It is
//! there before its server is: what clients ask meanwhile waits in it, and the server that comes
//! finds it. A request is never lost silently. It is taken by the server, or taken back by its
//! caller, or its caller is told why not: the queue is full, the server went or has other types,
//! the context was shut down.

use super::failure::CallFailure;
use super::pending_calls::{CallFault, CallId, CallOutcome, PendingCalls, RemoteClient};
use super::types::ServiceTypes;
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch;
use crate::executor::scheduler::{self, Scheduler, TaskRef};
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::sys::clock::{Stamp, Time};
use crate::sys::sync::{Arc, AtomicU64, Condvar, Mutex, Ordering};
use crate::topic::remote_endpoint::RemoteEndpoint;
use crate::topic::session::Session;
use sinew_shm::{Counter, Counters, EndpointKey};
use std::collections::VecDeque;
use std::mem;

/// How many requests may wait while there is no server that says how many.
pub(crate) const MAX_REQUESTS: usize = 1000;

/// Where an answer goes.
pub(crate) struct Caller {
    pub(crate) calls: Arc<PendingCalls>,
    pub(crate) id: CallId,
}

/// Where a request comes from.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// A client of this process, which is there until the request is in.
    Client,
    /// The same, by way of a server of another process that has gone: its client may have gone
    /// meanwhile.
    Returned,
    /// A client of another process that has asked this server, and no other.
    Remote {
        /// The server's number.
        server: u64,
    },
}

/// A request on its way.
pub(crate) struct Request {
    pub(crate) message: RawMessage,
    pub(crate) publication: Publication,
    pub(crate) caller: Caller,
}

/// What became of a server's requests after it took them.
#[derive(Default)]
pub(crate) struct ServerStats {
    /// Taken to be answered later, and not answered yet.
    pub(crate) in_hand: AtomicU64,
    pub(crate) answered: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) unclaimed: AtomicU64,
}

/// A server, as far as its requests go.
pub(crate) struct ServerEntry {
    pub(crate) number: u64,
    /// Its node's full name, for people.
    pub(crate) node: Arc<str>,
    pub(crate) types: ServiceTypes,
    /// How many requests may wait or be in hand.
    pub(crate) limit: usize,
    pub(crate) stats: Arc<ServerStats>,
}

/// What a server's queue has seen.
#[derive(Default, Clone, Copy)]
pub(crate) struct QueueCounts {
    pub(crate) received: u64,
    pub(crate) refused: u64,
    pub(crate) withdrawn: u64,
    pub(crate) waiting: u64,
}

/// The queue of one service.
#[repr(C)] // what every call touches comes first
pub(crate) struct RequestQueue {
    state: Mutex<QueueState>,
    pub(crate) name: Arc<str>,
    /// Signalled when a server came, or everything ended.
    came: Condvar,
}

#[repr(C)]
struct QueueState {
    /// The server's entity knows that something waits.
    announced: bool,
    ever_served: bool,
    task_ref: Option<TaskRef>,
    queue: VecDeque<Request>,
    serving: Option<ServerEntry>,
    /// Servers elsewhere; the first answers while there is none here.
    remote: Vec<Arc<dyn RemoteServer>>,
    /// Clients elsewhere.
    remote_clients: Vec<Arc<dyn RemoteClient>>,
    /// Clients of this process that match the server.
    clients: usize,
    seen: QueueCounts,
    /// What others can see of the server.
    counters: Option<Counters>,
}

/// A server elsewhere, as clients here see it.
pub(crate) trait RemoteServer: Send + Sync {
    /// What it says of itself.
    fn described(&self) -> &RemoteEndpoint;

    /// Whether it hasn't gone, be it that no thread here has noticed yet.
    fn is_there(&self) -> bool;

    /// A client's own line to it. An error says what is wrong.
    fn connect(&self, calls: &Arc<PendingCalls>) -> Result<Arc<dyn RemoteServerConnection>, String>;
}

/// A client's line to a server elsewhere: its requests go by it, and the answers come by it.
pub(crate) trait RemoteServerConnection: Send + Sync {
    /// What the server knows it by: another line of the same client is another one.
    fn key(&self) -> EndpointKey;

    /// Sends a request. `quietly`: the calling thread is about to wait for the answer.
    fn send(&self, request: &Request, quietly: bool) -> Result<(), CallFailure>;

    /// Waits for the answer to a call of its client, until `deadline` (steady machine time). Then
    /// the call is given up, as by [`PendingCalls::give_up`], of which this is the result. `None`
    /// if the answer must be waited for in another way.
    fn wait(
        &self,
        calls: &PendingCalls,
        id: CallId,
        deadline: Time,
    ) -> Option<Result<CallOutcome, Option<RawMessage>>>;

    /// Another executor runs the client's callbacks, or none: others are told of answers. Drains.
    fn retune(&self);

    /// Settles the calls whose answers are there.
    fn drain(&self);

    /// The client or the server goes: no more requests. Answers may still come.
    fn end(&self);
}

/// Whether a server elsewhere serves calls of these types.
pub(crate) fn serves(server: &dyn RemoteServer, types: &ServiceTypes) -> bool {
    let (name, hash, travels) = types.told();
    let described = server.described();
    travels && described.type_name == name && described.hash == hash
}

/// Says who has which types, where the server is elsewhere.
pub(crate) fn mismatch_remote(service: &str, server: &dyn RemoteServer, types: &ServiceTypes) -> String {
    let RemoteEndpoint { process, type_name, hash, .. } = server.described();
    format!(
        "the server of {service} in {process} has type {type_name} ({}), the client has type {}",
        sinew_msg::TypeHash(*hash),
        types.describe()
    )
}

impl QueueState {
    /// Tells others what came, or went.
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

    fn count_matched(&self) {
        if let Some(counters) = &self.counters {
            counters.set(Counter::Matched, (self.clients + self.remote_clients.len()) as u64);
        }
    }

    fn serves(&self, number: u64) -> bool {
        self.serving.as_ref().is_some_and(|serving| serving.number == number)
    }

    fn is_served_here(&self, types: &ServiceTypes) -> bool {
        self.serving.as_ref().is_some_and(|serving| serving.types.agree(types))
    }

    /// How many servers there are for calls of these types.
    fn servers(&self, types: &ServiceTypes) -> usize {
        let remote = self.remote.iter().filter(|server| server.is_there() && serves(&***server, types));
        usize::from(self.is_served_here(types)) + remote.count()
    }

    fn is_served(&self, types: &ServiceTypes) -> bool {
        let is_served_by = |server: &Arc<dyn RemoteServer>| server.is_there() && serves(&**server, types);
        self.is_served_here(types) || self.remote.iter().any(is_served_by)
    }

    fn oldest(&self) -> Option<Stamp> {
        self.queue.front().map(|request| request.publication.stamp)
    }

    /// What the server does next, once it has taken one. In a reentrant group it is announced here,
    /// as the callback for what was taken may run for long; the scheduler to signal is returned in
    /// place of the stamp.
    fn next(&mut self, token: &GroupToken) -> (Option<Stamp>, Option<Arc<Scheduler>>) {
        let oldest = self.oldest();
        self.announced = oldest.is_some() && self.task_ref.is_some();
        match (oldest, &self.task_ref) {
            (Some(oldest), Some(task_ref)) if token.is_reentrant() => {
                (None, task_ref.notify(oldest).then(|| task_ref.scheduler.clone()))
            }
            _ => (oldest, None),
        }
    }
}

/// Why a request didn't come to wait.
pub(crate) type RefusedRequest = (RawMessage, CallFailure);

impl prefetch::Footprint for RequestQueue {
    /// The queue is in memory that may move: it stays there during the look.
    fn look(&self, _level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        let state = self.state.lock();
        let (held, _) = state.queue.as_slices();
        if state.queue.capacity() > 0 {
            name(held.as_ptr().addr(), 3 * 64);
        }
        false
    }
}

/// What is left to do when a request has come, once no lock is held.
#[must_use]
pub(crate) enum Announcement {
    Nothing,
    /// The executor is to be signalled.
    Signal(Arc<Scheduler>),
    /// The caller runs the server, or announces it: it has had something to do since then.
    Callers(TaskRef, Stamp),
}

impl Announcement {
    /// For those that run no server.
    pub(crate) fn signal(self) {
        match self {
            Self::Signal(scheduler) => scheduler.signal(),
            Self::Callers(task_ref, since) if task_ref.notify(since) => task_ref.scheduler.signal(),
            Self::Callers(..) | Self::Nothing => {}
        }
    }
}

impl RequestQueue {
    pub(crate) fn new(name: Arc<str>) -> Arc<Self> {
        let state = QueueState {
            announced: false,
            ever_served: false,
            task_ref: None,
            queue: VecDeque::new(),
            serving: None,
            remote: Vec::new(),
            remote_clients: Vec::new(),
            clients: 0,
            seen: QueueCounts::default(),
            counters: None,
        };
        Arc::new(Self { state: Mutex::new(state), name, came: Condvar::new() })
    }

    // ---- the clients' side ----

    /// Brings a request in and announces it. `quietly`: wakes no thread, as the caller will run the
    /// server itself or see to it that another thread does. Otherwise returns whom to signal. A
    /// request that was refused comes back.
    #[inline(never)]
    pub(crate) fn push(
        &self,
        request: Request,
        quietly: bool,
        origin: Origin,
    ) -> Result<Announcement, RefusedRequest> {
        let mut state = self.state.lock();
        let calls = &request.caller.calls;
        if calls.session.has_ended() {
            return Err((request.message, CallFailure::Shutdown));
        }
        // A request keeps its context, and the queue keeps the request: one that no thread takes or
        // withdraws any more would keep all three for good. So those are refused, under the lock
        // that closing and withdrawing take afterwards.
        let has_taker = match origin {
            Origin::Client => true,
            Origin::Returned => calls.is_awaited(request.caller.id),
            Origin::Remote { server } => state.serves(server),
        };
        if !has_taker {
            drop(state);
            return Err((request.message, CallFailure::ServerGone));
        }
        // Where it went before fits: to compare the types again would allocate.
        let fits =
            |server: &&Arc<dyn RemoteServer>| calls.goes_to(server) || serves(&***server, &calls.types);
        if state.serving.is_none()
            && let Some(server) = state.remote.iter().find(fits).cloned()
        {
            drop(state);
            return self.forward(request, &server, quietly);
        }
        let mut limit = MAX_REQUESTS;
        let mut in_hand = 0;
        if let Some(serving) = &state.serving {
            if !serving.types.agree(&calls.types) {
                let failure = other_type(&self.name, serving, &calls.types);
                drop(state);
                return Err((request.message, failure));
            }
            limit = serving.limit;
            // Relaxed: it bounds what piles up, nothing rides on it.
            in_hand = usize::try_from(serving.stats.in_hand.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        }
        if state.queue.len().saturating_add(in_hand) >= limit {
            state.seen.refused += 1;
            if let Some(counters) = &state.counters {
                counters.set(Counter::Refused, state.seen.refused);
            }
            drop(state);
            return Err((request.message, CallFailure::Full { limit }));
        }
        let stamp = request.publication.stamp;
        // What came from other processes at different times is answered in the order of the calls.
        let later = state.queue.iter().rev().take_while(|other| other.publication.stamp > stamp).count();
        let place = state.queue.len() - later;
        state.queue.insert(place, request);
        state.seen.received += 1;
        state.count(Some(stamp));
        if state.announced {
            if place == 0
                && let Some(task_ref) = &state.task_ref
            {
                task_ref.change_key(stamp);
            }
            return Ok(Announcement::Nothing);
        }
        state.announced = state.task_ref.is_some();
        Ok(match &state.task_ref {
            Some(task_ref) if quietly => Announcement::Callers(task_ref.clone(), stamp),
            Some(task_ref) if task_ref.notify(stamp) => Announcement::Signal(task_ref.scheduler.clone()),
            _ => Announcement::Nothing,
        })
    }

    /// Takes a request back that has not been taken yet.
    pub(crate) fn withdraw(&self, client: u64, id: CallId) -> Option<RawMessage> {
        let mut state = self.state.lock();
        let is_it = |request: &Request| request.publication.publisher == client && request.caller.id == id;
        let place = state.queue.iter().position(is_it)?;
        let request = state.queue.remove(place)?;
        state.seen.withdrawn += 1;
        state.count(None);
        drop(state);
        Some(request.message)
    }

    /// Where the server lives, if it has an executor.
    pub(crate) fn task_ref(&self) -> Option<TaskRef> {
        self.state.lock().task_ref.clone()
    }

    /// Whether there is a server for calls of these types.
    pub(crate) fn is_served(&self, types: &ServiceTypes) -> bool {
        self.state.lock().is_served(types)
    }

    /// Whether the server of this process is for calls of these types.
    pub(crate) fn is_served_here(&self, types: &ServiceTypes) -> bool {
        self.state.lock().is_served_here(types)
    }

    /// How many servers there are for calls of these types, here and elsewhere.
    pub(crate) fn servers(&self, types: &ServiceTypes) -> usize {
        self.state.lock().servers(types)
    }

    // ---- other processes ----

    /// A server of another process came: what waits goes to it.
    pub(crate) fn add_remote(&self, server: Arc<dyn RemoteServer>) {
        let mut state = self.state.lock();
        let mut waiting = VecDeque::new();
        if state.serving.is_none() {
            let (fitting, others): (VecDeque<_>, VecDeque<_>) = mem::take(&mut state.queue)
                .into_iter()
                .partition(|request| serves(&*server, &request.caller.calls.types));
            waiting = fitting;
            state.queue = others;
        }
        state.ever_served = true;
        state.remote.push(server.clone());
        drop(state);
        self.came.notify_all();
        for request in waiting {
            let (calls, id) = (request.caller.calls.clone(), request.caller.id);
            if let Err((message, failure)) = self.forward(request, &server, false) {
                drop(calls.complete(id, Err(CallFault { failure, request: Some(message) })));
            }
        }
    }

    /// Sends a request to another process. If that server is gone, the request goes to another one,
    /// or waits for one.
    #[inline(never)]
    fn forward(
        &self,
        request: Request,
        server: &Arc<dyn RemoteServer>,
        quietly: bool,
    ) -> Result<Announcement, RefusedRequest> {
        let calls = &request.caller.calls;
        let sent = if server.is_there() {
            calls.connection(server).and_then(|connection| connection.send(&request, quietly))
        } else {
            Err(CallFailure::ServerGone)
        };
        match sent {
            Ok(()) => Ok(Announcement::Nothing),
            Err(CallFailure::ServerGone) => {
                // Others are told when its end is noticed.
                self.remove_remote(server);
                calls.lose(server);
                self.push(request, quietly, Origin::Returned)
            }
            Err(failure) => Err((request.message, failure)),
        }
    }

    /// Whether there is a server of another process.
    pub(crate) fn is_served_remotely(&self) -> bool {
        !self.state.lock().remote.is_empty()
    }

    /// A server of another process is gone.
    pub(crate) fn remove_remote(&self, server: &Arc<dyn RemoteServer>) {
        let mut state = self.state.lock();
        state.remote.retain(|known| !Arc::ptr_eq(known, server)); // the caller has another reference
    }

    /// A client of another process came, and is kept until it or the server goes. False if the
    /// server has gone already.
    pub(crate) fn add_remote_client(&self, server: u64, remote_client: Arc<dyn RemoteClient>) -> bool {
        let mut state = self.state.lock();
        if !state.serves(server) {
            return false;
        }
        state.remote_clients.push(remote_client);
        state.count_matched();
        true
    }

    /// A client of another process is gone.
    pub(crate) fn remove_remote_client(&self, remote_client: &Arc<dyn RemoteClient>) {
        let mut state = self.state.lock();
        state.remote_clients.retain(|known| !Arc::ptr_eq(known, remote_client)); // the caller's reference isn't the last one
        state.count_matched();
    }

    /// Sends what had no room to clients of other processes.
    pub(crate) fn send_overdue(&self) {
        let remote_clients = self.state.lock().remote_clients.clone();
        remote_clients.iter().for_each(|remote_client| remote_client.send_overdue());
    }

    /// What other processes know the server by.
    pub(crate) fn key(&self) -> Option<EndpointKey> {
        self.state.lock().counters.as_ref().map(Counters::key)
    }

    /// What others can see of the server; set once it is there.
    pub(crate) fn is_counted(&self, counters: Counters) {
        let mut state = self.state.lock();
        state.counters = Some(counters);
        state.count(None);
        state.count_matched();
    }

    /// So many clients of this process match the server.
    pub(crate) fn set_clients(&self, clients: usize) {
        let mut state = self.state.lock();
        state.clients = clients;
        state.count_matched();
    }

    /// Who runs the server has changed.
    pub(crate) fn retune(&self) {
        let remote_clients = self.state.lock().remote_clients.clone();
        remote_clients.into_iter().for_each(|remote_client| remote_client.retune());
    }

    /// Whether there is a server now, and whether there ever was one.
    pub(crate) fn service(&self) -> (bool, bool) {
        let state = self.state.lock();
        (state.serving.is_some(), state.ever_served)
    }

    /// Waits until there is a server for calls of these types, until `deadline` (steady machine
    /// time), or until the context ends. Whether there is one.
    pub(crate) fn wait_for_server(&self, types: &ServiceTypes, deadline: Time, session: &Session) -> bool {
        let mut state = self.state.lock();
        loop {
            if session.has_ended() {
                return false;
            }
            if state.is_served(types) {
                return true;
            }
            let left = deadline - Time::steady();
            if left.is_zero() {
                return false;
            }
            self.came.wait_at_most(&mut state, Some(left));
        }
    }

    // ---- the server's side ----

    /// A server comes. What waits for another type of server fails. (That there is none yet the
    /// caller has made sure of.)
    pub(crate) fn open(&self, serving: ServerEntry) {
        let mut state = self.state.lock();
        let (fitting, others): (VecDeque<_>, VecDeque<_>) = mem::take(&mut state.queue)
            .into_iter()
            .partition(|request| request.caller.calls.types.agree(&serving.types));
        let waiting = fitting.len() as u64;
        state.queue = fitting;
        state.seen = QueueCounts { received: waiting, ..QueueCounts::default() };
        state.ever_served = true;
        let failures: Vec<_> = others
            .into_iter()
            .map(|request| (other_type(&self.name, &serving, &request.caller.calls.types), request))
            .collect();
        state.serving = Some(serving);
        drop(state);
        self.came.notify_all();
        for (failure, request) in failures {
            request.fail(failure);
        }
    }

    /// The server goes: what waits for it fails.
    pub(crate) fn close(&self, number: u64) {
        let waiting = {
            let mut state = self.state.lock();
            if !state.serves(number) {
                return;
            }
            state.serving = None;
            state.task_ref = None;
            state.counters = None;
            state.announced = false;
            (mem::take(&mut state.queue), mem::take(&mut state.remote_clients))
        };
        let (waiting, remote_clients) = waiting;
        drop(remote_clients);
        waiting.into_iter().for_each(|request| request.fail(CallFailure::ServerGone));
    }

    /// Everything ends: what waits fails.
    pub(crate) fn end(&self) {
        let waiting = mem::take(&mut self.state.lock().queue);
        waiting.into_iter().for_each(|request| request.fail(CallFailure::Shutdown));
        self.came.notify_all();
    }

    /// Takes the oldest request for a server. Also returns the stamp under which the executor keeps
    /// the server ready, if there is more; in a reentrant group that has been announced already.
    #[inline(never)]
    pub(crate) fn take_for(&self, number: u64, token: &GroupToken) -> Option<(Request, Option<Stamp>)> {
        let mut state = self.state.lock();
        if !state.serves(number) {
            return None;
        }
        let request = state.queue.pop_front();
        state.count(None);
        let (next, signal) = state.next(token);
        drop(state);
        scheduler::signal(signal);
        request.map(|request| (request, next))
    }

    /// What the server does next, if it did something else this time; as with
    /// [`take_for`](Self::take_for).
    pub(crate) fn next_for(&self, number: u64, token: &GroupToken) -> Option<Stamp> {
        let mut state = self.state.lock();
        if !state.serves(number) {
            return None;
        }
        let (next, signal) = state.next(token);
        drop(state);
        scheduler::signal(signal);
        next
    }

    /// What is announced still, after a callback panicked.
    pub(crate) fn pending(&self, number: u64) -> Option<Stamp> {
        let state = self.state.lock();
        if state.serves(number) && state.announced { state.oldest() } else { None }
    }

    /// Takes back the announcement if nothing waits; whether something does. `other`: the server
    /// has something else to do.
    pub(crate) fn retract(&self, number: u64, other: bool) -> bool {
        let mut state = self.state.lock();
        if !state.serves(number) {
            return other;
        }
        let waits = state.oldest().is_some();
        if !waits {
            state.announced = false;
            if !other && let Some(task_ref) = &state.task_ref {
                task_ref.clear_ready();
            }
        }
        waits || other
    }

    /// Sets where to announce requests, announces those that wait, and lets their callers know,
    /// which may want to help.
    pub(crate) fn attach(&self, number: u64, task_ref: Option<TaskRef>) {
        let mut state = self.state.lock();
        if !state.serves(number) {
            return;
        }
        let oldest = state.oldest();
        state.announced = task_ref.is_some() && oldest.is_some();
        let signal = match (&task_ref, oldest) {
            (Some(task_ref), Some(oldest)) if task_ref.notify(oldest) => Some(task_ref.scheduler.clone()),
            _ => None,
        };
        let came = task_ref.is_some();
        let old = mem::replace(&mut state.task_ref, task_ref);
        let waiting: Vec<_> = if came {
            state.queue.iter().map(|request| (request.caller.calls.clone(), request.caller.id)).collect()
        } else {
            Vec::new()
        };
        drop(state);
        drop(old);
        scheduler::signal(signal);
        waiting.iter().for_each(|(calls, id)| calls.nudge(*id));
        self.retune();
    }

    /// What the server's queue has seen.
    pub(crate) fn seen(&self, number: u64) -> QueueCounts {
        let state = self.state.lock();
        if !state.serves(number) {
            return QueueCounts::default();
        }
        QueueCounts { waiting: state.queue.len() as u64, ..state.seen }
    }

    /// The server's types and where it is, for a client that wonders; `None` if there is one that
    /// serves it, or none at all.
    pub(crate) fn mismatch(&self, types: &ServiceTypes) -> Option<String> {
        let state = self.state.lock();
        if let Some(serving) = &state.serving {
            return (!serving.types.agree(types)).then(|| mismatch(&self.name, serving, types));
        }
        let server = state.remote.first()?;
        let is_served = state.remote.iter().any(|server| serves(&**server, types));
        (!is_served).then(|| mismatch_remote(&self.name, &**server, types))
    }
}

impl Request {
    /// The caller gets it back, with the reason.
    fn fail(self, failure: CallFailure) {
        let Caller { calls, id } = self.caller;
        // If the caller doesn't wait any more, it doesn't want it.
        drop(calls.complete(id, Err(CallFault { failure, request: Some(self.message) })));
    }
}

/// Says who has which types.
pub(crate) fn mismatch(service: &str, serving: &ServerEntry, types: &ServiceTypes) -> String {
    format!(
        "the server of {service} in node {} has type {}, the client has type {}",
        serving.node,
        serving.types.describe(),
        types.describe()
    )
}

#[cold]
fn other_type(service: &str, serving: &ServerEntry, types: &ServiceTypes) -> CallFailure {
    CallFailure::OtherType { reason: mismatch(service, serving, types) }
}
