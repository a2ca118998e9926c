//! A client's calls, from the request to the answer.
//!
//! # Which thread does what
//!
//! Every call has a place in its client's list, and a sequence number that is unique in the client;
//! together they are its [`CallId`]. The server's side holds the id, not the place: places are
//! reused at once, and an answer to a finished call finds another number there, or none. So a call
//! is *settled* once (answered or failed), by the thread that comes first, and *taken* or *given
//! up* once, by its caller, which is the only thread to free the place.
//!
//! | step | thread | under the lock | after it |
//! |---|---|---|---|
//! | begin | caller | place, number | |
//! | wait | caller | checks once more, registers its waker | sleeps |
//! | settle | server, or the thread that ends the wait | outcome; takes out the waiter | wakes |
//! | take, give up | caller | frees the place | drops the place's contents |
//!
//! A caller checks and registers its waker under one lock, so the call can't be settled in between.
//! Wakers and callbacks are code of the program: they are cloned, called and dropped under no lock.
//!
//! # Servers elsewhere
//!
//! A client has a line of its own to a server elsewhere ([`RemoteServerConnection`]), one at a
//! time: a new line replaces that of a server that is gone. Each call records the line of its
//! request before the request is sent. When a line ends, the calls sent by it fail.

mod call_table;
mod pulled;

use self::call_table::CallTable;
use self::pulled::PulledCalls;
use super::failure::CallFailure;
use super::observed::{Observed, ServiceEvent};
use super::statistics::ClientStatistics;
use super::types::ServiceTypes;
use crate::executor::crew::scheduler::{Scheduler, TaskRef, ToSignal};
use crate::executor::group_token::GroupToken;
use crate::executor::inbox::{Inbox, Queue};
use crate::executor::task::CallbackResult;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::{Listener, Notifications, Waiter, by_hand, contain, notify_where_allowed};
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::message::info::{ChainScope, Lineage, Publication};
use crate::ros::origin::Origin;
use crate::sys::clock::{Stamp, Time};
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};
use crate::topic::remote_endpoint::RemoteEndpoint;
use crate::topic::session::Session;
use crate::topic::typed_reader::TypedReader;
use sinew_shm::transport::{Counters, OwnEndpoint};
use sinew_shm::{Counter, EndpointKey};
use std::collections::VecDeque;
use std::mem;
use std::sync::OnceLock;
use std::time::Duration;

/// Identifies a call among those of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallId {
    place: u32,
    sequence: u64,
}

impl CallId {
    /// Returns the id of the call that another process answers.
    pub(crate) fn new(place: u32, sequence: u64) -> Self {
        Self { place, sequence }
    }

    pub(crate) fn place(self) -> u32 {
        self.place
    }

    pub(crate) fn sequence(self) -> u64 {
        self.sequence
    }
}

/// The reason why a call has no answer, and its request if no server took it.
pub(crate) struct CallFault {
    pub(crate) failure: CallFailure,
    pub(crate) request: Option<RawMessage>,
}

/// The outcome of a call.
pub(crate) type CallOutcome = Result<RawMessage, CallFault>;

/// The callback for the outcome of one call, called with its group's token.
pub(crate) type OnOutcome =
    Box<dyn FnOnce(&mut GroupToken, Result<RawMessage, (CallFault, &str)>) -> CallbackResult + Send>;

/// The listener for the outcome of one call; runs on the thread that settles the call.
pub(crate) type OnAnswer = Box<dyn FnOnce(Result<RawMessage, (CallFault, &str)>) + Send>;

/// The recipient of a call's outcome.
pub(crate) enum CallWaiter {
    /// The caller. It is woken, unless it polls.
    Caller(Option<Waiter>),
    Callback(OnOutcome),
    Listener(OnAnswer),
    /// The outcome waits to be taken by hand.
    Pulled,
}

/// The action for a settled call, once no lock is held.
enum CallWake {
    Waiter(Option<Waiter>),
    /// Its callback waits for the client's task, which has to be announced; so does the client's
    /// listener.
    Callback(Option<Waiter>),
    /// Its listener runs here.
    Listener(Box<Call>),
}

impl CallWake {
    #[inline(always)]
    fn wake(self, service: &Arc<str>) {
        match self {
            CallWake::Waiter(None) | CallWake::Callback(None) => {}
            CallWake::Waiter(Some(waiter)) | CallWake::Callback(Some(waiter)) => Deferred::wake(waiter),
            CallWake::Listener(call) => call.notify_listener(service),
        }
    }
}

/// A server elsewhere, as clients here see it.
pub(crate) trait RemoteServer: Send + Sync {
    /// Returns the server's description of itself.
    fn described(&self) -> &RemoteEndpoint;

    /// Whether it still exists, even if no thread here has noticed its end.
    fn is_there(&self) -> bool;

    /// Returns the failure of the open calls, after the server is gone.
    fn failure(&self) -> CallFailure;

    /// Opens a client's own line to it. An error describes the problem.
    fn connect(&self, calls: &Arc<PendingCalls>) -> Result<Arc<dyn RemoteServerConnection>, String>;
}

/// A client's line to a server elsewhere, for its requests and their answers.
pub(crate) trait RemoteServerConnection: Send + Sync {
    /// Returns the key by which the server knows this line; each line of a client has its own.
    fn key(&self) -> EndpointKey;

    /// Sends the request of a call. `quietly`: the calling thread is about to wait for the answer.
    fn send(
        &self,
        calls: &PendingCalls,
        call: (CallId, &RawMessage, &Publication),
        quietly: bool,
    ) -> Result<(), CallFailure>;

    /// Waits for the outcome of a call of its client, until `deadline` (steady machine time). The
    /// thread spins for `patience` before it sleeps.
    fn wait(&self, calls: &PendingCalls, id: CallId, deadline: Time, patience: Duration) -> RemoteWait;

    /// Changes which executor is notified of answers, after the client's callbacks moved to another
    /// one or to none. Reads the answers that are there.
    fn retune(&self);

    /// Ends the line, because the client or the server is removed: no more requests. Settles the
    /// calls that already have an answer, and fails the others of this line if there is a failure:
    /// now, or after another thread has passed on the answers that it read.
    fn end(&self, failure: Option<CallFailure>);

    /// Makes a receiving thread notify listeners.
    fn notify_elsewhere(&self, notifications: Notifications);
}

/// Result of waiting for an answer from elsewhere.
pub(crate) enum RemoteWait {
    Settled(CallOutcome),
    TimedOut,
    /// The caller must wait in another way.
    Unable,
}

struct Call {
    sequence: u64,
    lineage: Lineage,
    waiter: CallWaiter,
    /// Whether the server took the request to answer it later.
    deferred: bool,
    /// The line by which its request went to another process.
    connection: Option<EndpointKey>,
    outcome: Option<CallOutcome>,
}

impl Call {
    #[cold]
    fn notify_listener(self, service: &Arc<str>) {
        let Call { waiter: CallWaiter::Listener(listener), outcome: Some(outcome), lineage, .. } = self
        else {
            return;
        };
        let service = service.clone();
        let notify = move || {
            let _chain = ChainScope::enter(Some(lineage));
            let outcome = outcome.map_err(|fault| (fault, &*service));
            contain(
                || listener(outcome),
                || format!("the immediate callback of a call of service {service}"),
            );
        };
        Deferred::run(move || notify_where_allowed(notify));
    }
}

/// The calls of a client, and its line to a server elsewhere.
#[repr(C)] // fields that every call touches come first
pub(crate) struct PendingCalls {
    state: Inbox<PendingState>,
    pub(crate) session: Arc<Session>,
    /// Observes requests that are sent and responses that are received.
    pub(crate) observed: Observed,
    /// The client's number in its participant.
    pub(crate) number: u64,
    /// The service's full name.
    pub(crate) service: Arc<str>,
    pub(crate) types: ServiceTypes,
    /// The node's full name, for log lines.
    pub(crate) node: Arc<str>,
    /// The node's origin.
    pub(crate) origin: Origin,
    /// The line to a server elsewhere.
    link: Mutex<Option<ServerLink>>,
    /// The client's endpoint as other processes see it.
    entity: OnceLock<OwnEndpoint>,
    /// Converts responses of servers of this process that hold them in another form.
    pub(crate) responses: OnceLock<TypedReader>,
    /// Whether calls have listeners: then no executor is notified of answers from elsewhere, as it
    /// may be busy.
    listens: AtomicBool,
}

/// Number of cache lines of a client's calls that each call touches.
pub(crate) const LINES: usize = 6;

const _: () = assert!(cfg!(loom) || mem::offset_of!(PendingCalls, observed) < LINES * 64);

/// A server elsewhere, and the line to it.
struct ServerLink {
    server: Arc<dyn RemoteServer>,
    connection: Arc<dyn RemoteServerConnection>,
}

impl ServerLink {
    fn leads_to(&self, server: &Arc<dyn RemoteServer>) -> bool {
        Arc::ptr_eq(&self.server, server)
    }
}

#[repr(C)]
struct PendingState {
    calls: CallTable,
    counts: ClientStatistics,
    /// Settled calls with a callback, in the order in which they were settled. The client's task
    /// runs the callbacks.
    completed: VecDeque<(Stamp, CallId)>,
    /// The client's counters that other processes can read.
    counters: Option<Counters>,
    pulled: PulledCalls,
    /// Is notified of outcomes that wait for their callback, or to be taken by hand.
    listener: Option<Arc<Listener>>,
}

impl PendingState {
    /// Updates the counters that other processes read.
    #[inline]
    fn count(&self, last: Option<Stamp>) {
        let Some(counters) = &self.counters else { return };
        let ClientStatistics { calls: begun, answered, failed, abandoned, .. } = self.counts;
        counters.set_all([
            (Counter::Messages, begun),
            (Counter::Taken, answered),
            (Counter::Refused, failed),
            (Counter::Waiting, begun - answered - failed - abandoned),
        ]);
        if let Some(last) = last {
            counters.set(Counter::Last, last.time.cast_unsigned());
        }
    }

    fn call(&mut self, id: CallId) -> Option<&mut Call> {
        self.calls.get_mut(id.place).filter(|call| call.sequence == id.sequence)
    }

    /// Removes a finished call.
    fn remove(&mut self, id: CallId) -> Option<Call> {
        self.call(id)?;
        let call = self.calls.remove(id.place)?;
        if let CallWaiter::Pulled = call.waiter {
            self.pulled.forget(id);
        }
        Some(call)
    }

    /// Sets a call's outcome and returns what to wake. Does nothing for a call that already has
    /// one. `answered`: the steady time at which another process answered; `None`: now.
    fn complete(
        &mut self,
        id: CallId,
        outcome: CallOutcome,
        answered: Option<i64>,
        stamp: impl FnOnce() -> Stamp,
    ) -> Result<CallWake, CallOutcome> {
        let Some(call) = self.call(id).filter(|call| call.outcome.is_none()) else { return Err(outcome) };
        let is_answer = outcome.is_ok();
        call.outcome = Some(outcome);
        let woken = match &mut call.waiter {
            CallWaiter::Caller(waiter) => CallWake::Waiter(waiter.take()),
            CallWaiter::Callback(_) => {
                self.completed.push_back((stamp(), id));
                CallWake::Callback(self.listener.clone().map(Waiter::Listener))
            }
            CallWaiter::Listener(_) => {
                self.remove(id).map_or(CallWake::Waiter(None), |call| CallWake::Listener(Box::new(call)))
            }
            CallWaiter::Pulled => {
                let answered = answered.unwrap_or_else(|| stamp().time);
                self.pulled.settle(id, answered);
                CallWake::Waiter(self.listener.clone().map(Waiter::Listener))
            }
        };
        *(if is_answer { &mut self.counts.answered } else { &mut self.counts.failed }) += 1;
        self.count(None);
        Ok(woken)
    }
}

impl Queue for PendingState {
    fn oldest(&self) -> Option<Stamp> {
        self.completed.front().map(|(stamp, _)| *stamp)
    }
}

/// A callback about to run.
pub(crate) struct ResultDelivery {
    pub(crate) then: OnOutcome,
    pub(crate) outcome: CallOutcome,
    pub(crate) lineage: Lineage,
    /// The stamp of the next one.
    pub(crate) next: Option<Stamp>,
}

impl PendingCalls {
    pub(crate) fn new(
        session: &Arc<Session>,
        number: u64,
        (node, origin): (Arc<str>, Origin),
        types: ServiceTypes,
        service: Arc<str>,
    ) -> Arc<Self> {
        let state = PendingState {
            calls: CallTable::default(),
            counts: ClientStatistics::default(),
            completed: VecDeque::new(),
            counters: None,
            pulled: PulledCalls::default(),
            listener: None,
        };
        Arc::new(Self {
            state: Inbox::new(state),
            session: session.clone(),
            number,
            service,
            types,
            node,
            origin,
            link: Mutex::new(None),
            entity: OnceLock::new(),
            responses: OnceLock::new(),
            listens: AtomicBool::new(false),
            observed: Observed::default(),
        })
    }

    /// Begins a new call.
    #[inline]
    pub(crate) fn begin(&self, waiter: CallWaiter) -> (CallId, Publication) {
        let stamp = self.session.clock.stamp();
        let mut state = self.state.lock();
        state.counts.calls += 1;
        let sequence = state.counts.calls;
        let publication = Publication::new(stamp, sequence, self.number, i64::MAX);
        let lineage = publication.lineage;
        let call = Call { sequence, lineage, waiter, deferred: false, connection: None, outcome: None };
        let place = state.calls.insert(call);
        state.count(Some(stamp));
        (CallId { place, sequence }, publication)
    }

    /// Returns the client's id as servers know it.
    pub(crate) fn gid(&self) -> Gid {
        Gid::of(self.number, self.session.participant)
    }

    /// Returns the client of a call and the call's number.
    pub(crate) fn named(&self, id: CallId) -> (Gid, u64) {
        (self.gid(), id.sequence)
    }

    // ---- other processes ----

    /// Returns the key by which other processes know the client.
    pub(crate) fn key(&self) -> Option<EndpointKey> {
        self.entity.get().map(OwnEndpoint::key)
    }

    /// Sets the endpoint by which other processes know the client; called once.
    pub(crate) fn is_known_as(&self, entity: OwnEndpoint) {
        let mut state = self.state.lock();
        state.counters = Some(entity.counters());
        state.count(None);
        drop(state);
        let _ = self.entity.set(entity);
    }

    /// Updates the number of matching servers that other processes read.
    pub(crate) fn count_matched(&self, servers: usize) {
        if let Some(entity) = self.entity.get() {
            entity.counters().set(Counter::Matched, servers as u64);
        }
    }

    /// Returns the line to a server of another process, if requests go there now.
    fn connection_now(&self) -> Option<Arc<dyn RemoteServerConnection>> {
        self.link.lock().as_ref().map(|link| link.connection.clone())
    }

    /// Whether requests go to this server of another process now.
    pub(crate) fn goes_to(&self, server: &Arc<dyn RemoteServer>) -> bool {
        self.link.lock().as_ref().is_some_and(|link| link.leads_to(server))
    }

    /// Sends the request of a call to a server of another process. Fails as if the server were gone
    /// if the call is over and there is no line to the server.
    pub(crate) fn send(
        self: &Arc<Self>,
        server: &Arc<dyn RemoteServer>,
        call: (CallId, &RawMessage, &Publication),
        quietly: bool,
    ) -> Result<(), CallFailure> {
        if !server.is_there() {
            return Err(CallFailure::ServerGone);
        }
        self.connection(server, call.0)?.send(self, call, quietly)
    }

    /// Returns the line to this server of another process, for this call.
    fn connection(
        self: &Arc<Self>,
        server: &Arc<dyn RemoteServer>,
        call: CallId,
    ) -> Result<Arc<dyn RemoteServerConnection>, CallFailure> {
        let mut link = self.link.lock();
        if let Some(link) = link.as_ref().filter(|link| link.leads_to(server)) {
            return Ok(link.connection.clone());
        }
        // Under the lock of the link: a client that is removed abandons its calls before it ends
        // its line. So no line is opened afterwards, and a line that was opened before ends.
        if !self.is_awaited(call) {
            return Err(CallFailure::ServerGone);
        }
        let connection = server.connect(self).map_err(|problem| CallFailure::Transport { problem })?;
        let before = link.replace(ServerLink { server: server.clone(), connection: connection.clone() });
        drop(link);
        if let Some(before) = before {
            self.end_connection(&before); // replaced only if that server is gone
        }
        // This check comes after the line can be found: a thread that finds the server gone later
        // ends the line, and one that found it gone before makes this check fail.
        if !server.is_there() {
            self.lose(server);
            return Err(CallFailure::ServerGone);
        }
        Ok(connection)
    }

    /// Sets the outcome that another process reported at this steady time on this connection. Only
    /// calls that were sent by it are affected.
    pub(crate) fn complete_by(
        &self,
        connection: EndpointKey,
        id: CallId,
        outcome: CallOutcome,
        answered: i64,
    ) {
        let is_there = self.state.lock().call(id).is_some_and(|call| call.connection == Some(connection));
        if is_there {
            drop(self.complete_at(id, outcome, Some(answered))); // a caller that no longer waits doesn't miss it
        }
    }

    /// Records the line of a call's request, before it is sent.
    #[inline]
    pub(crate) fn goes_by(&self, id: CallId, connection: EndpointKey) {
        if let Some(call) = self.state.lock().call(id) {
            call.connection = Some(connection);
        }
    }

    /// Returns the line that carried a call's request, while it is still in use.
    pub(crate) fn connection_of(&self, id: CallId) -> Option<Arc<dyn RemoteServerConnection>> {
        let connection = self.connection_now()?;
        let key = self.state.lock().call(id)?.connection?;
        (connection.key() == key).then_some(connection)
    }

    /// Handles the end of a server of another process: callers that wait for its answers are
    /// notified.
    pub(crate) fn lose(&self, server: &Arc<dyn RemoteServer>) {
        let link = self.link.lock().take_if(|link| link.leads_to(server));
        if let Some(link) = link {
            self.end_connection(&link);
        }
    }

    /// Ends a line: it takes no more requests, and the requests it carried are not answered any
    /// more.
    fn end_connection(&self, ServerLink { server, connection }: &ServerLink) {
        // This may be a thread of the program that makes a call: it must run no listener.
        let end = || connection.end(Some(server.failure()));
        by_hand(end, |notifications| connection.notify_elsewhere(notifications));
    }

    /// Fails every call that waits for an answer by this line: the server has ended, or an answer
    /// can't be matched to its call.
    #[cold]
    pub(crate) fn fail_unanswered(&self, connection: EndpointKey, failure: &CallFailure) {
        self.fail(failure, |call| call.connection == Some(connection));
    }

    /// Allows calls to have listeners from now on.
    pub(crate) fn listen(&self) {
        // Relaxed: the lines' own locks order it; a line made later reads the new value at once.
        if !self.listens.swap(true, Ordering::Relaxed)
            && let Some(connection) = self.connection_now()
        {
            connection.retune();
        }
    }

    /// Sets the listener for outcomes that wait for their callback or to be taken by hand, or none,
    /// and notifies it of those that wait.
    pub(crate) fn set_listener(&self, listener: Option<Arc<Listener>>) {
        if listener.is_some() {
            self.listen();
        }
        let mut state = self.state.lock();
        let before = mem::replace(&mut state.listener, listener.clone());
        let waiting = (state.completed.len() + state.pulled.waiting()) as u64;
        drop(state);
        drop(before);
        if let Some(listener) = listener
            && waiting > 0
        {
            listener.notify(waiting);
        }
    }

    /// Returns the scheduler of the executor that is notified of answers from elsewhere.
    pub(crate) fn scheduler(&self) -> Option<Arc<Scheduler>> {
        if self.listens.load(Ordering::Relaxed) {
            return None; // as in `listen`
        }
        self.state.lock().task_ref().map(|task_ref| task_ref.scheduler.clone())
    }

    /// Whether a caller waits for an answer.
    pub(crate) fn has_open(&self) -> bool {
        self.state.lock().calls.open().next().is_some()
    }

    /// Fails the calls without an outcome that `which` selects.
    fn fail(&self, failure: &CallFailure, which: impl Fn(&Call) -> bool) {
        let mut woken = Vec::new();
        let mut state = self.state.lock();
        let ids: Vec<_> = state.calls.open().filter(|(_, call)| which(call)).map(|(id, _)| id).collect();
        for id in ids {
            let fault = CallFault { failure: failure.clone(), request: None };
            woken.extend(state.complete(id, Err(fault), None, || self.session.clock.stamp()).ok());
        }
        Deferred::with(|deferred| deferred.signal(state.announce()));
        let service = self.service.clone();
        Deferred::run(move || woken.into_iter().for_each(|woken| woken.wake(&service)));
    }

    /// Completes a call. Returns the outcome as an error if the call is already over.
    #[inline]
    pub(crate) fn complete(&self, id: CallId, outcome: CallOutcome) -> Result<(), CallOutcome> {
        self.complete_at(id, outcome, None)
    }

    #[inline(never)]
    fn complete_at(
        &self,
        id: CallId,
        outcome: CallOutcome,
        answered: Option<i64>,
    ) -> Result<(), CallOutcome> {
        if let Ok(response) = &outcome
            && self.observed.is_on()
            && self.is_awaited(id)
        {
            self.observed.notify(ServiceEvent::ResponseReceived, || self.named(id), response);
        }
        let mut state = self.state.lock();
        let woken = state.complete(id, outcome, answered, || self.session.clock.stamp())?;
        if let CallWake::Callback(_) = woken {
            // Later, if this thread looks at others under a lock: a wake may run code of the
            // program.
            Deferred::with(|deferred| deferred.signal(state.announce()));
        } else {
            drop(state);
        }
        woken.wake(&self.service);
        Ok(())
    }

    /// Whether the caller still waits.
    pub(crate) fn is_awaited(&self, id: CallId) -> bool {
        self.state.lock().call(id).is_some_and(|call| call.outcome.is_none())
    }

    /// Makes a waiting thread check again, because the server's state has changed. `deferred`: the
    /// request was taken to be answered later.
    pub(crate) fn nudge(&self, id: CallId, deferred: bool) {
        let parker = {
            let mut state = self.state.lock();
            let Some(call) = state.call(id) else { return };
            call.deferred |= deferred;
            if let CallWaiter::Caller(Some(Waiter::Thread(parker))) = &call.waiter {
                Some(parker.clone())
            } else {
                None
            }
        };
        if let Some(parker) = parker {
            parker.unpark();
        }
    }

    // ---- the caller's side ----

    /// Takes the outcome, if there is one.
    #[inline]
    pub(crate) fn take(&self, id: CallId) -> Option<CallOutcome> {
        let mut state = self.state.lock();
        state.call(id)?.outcome.as_ref()?;
        state.remove(id)?.outcome
    }

    /// Takes the outcome, if there is one; otherwise registers `waiter` to be woken and returns
    /// whether the request was taken to be answered later.
    pub(crate) fn take_or_wait(&self, id: CallId, waiter: Waiter) -> Result<CallOutcome, bool> {
        let mut state = self.state.lock();
        let Some(call) = state.call(id) else { return Err(false) };
        if call.outcome.is_none() {
            let (before, deferred) =
                (mem::replace(&mut call.waiter, CallWaiter::Caller(Some(waiter))), call.deferred);
            drop(state);
            drop(before); // may run code of the program
            return Err(deferred);
        }
        let gone = state.remove(id);
        drop(state);
        gone.and_then(|call| call.outcome).ok_or(false)
    }

    /// Gives up waiting for a call. Returns the outcome if there is one after all.
    pub(crate) fn give_up(&self, id: CallId) -> Option<CallOutcome> {
        self.remove(id)?.outcome
    }

    /// Gives up a call. Returns `false` if it is over and its outcome was taken.
    pub(crate) fn abandon(&self, id: CallId) -> bool {
        self.remove(id).is_some() // dropped under no lock
    }

    fn remove(&self, id: CallId) -> Option<Call> {
        let mut state = self.state.lock();
        let gone = state.remove(id);
        if gone.as_ref().is_some_and(|call| call.outcome.is_none()) {
            state.counts.abandoned += 1;
            state.count(None);
        }
        gone
    }

    /// Removes the call of a request that was not accepted. Returns `false` if its listener already
    /// knows the reason, because the context has ended meanwhile.
    #[cold]
    pub(crate) fn refused(&self, id: CallId) -> bool {
        let mut state = self.state.lock();
        let gone = state.remove(id);
        let is_there = gone.is_some();
        // If the context ended meanwhile, the call has already failed.
        if gone.as_ref().is_some_and(|call| call.outcome.is_none()) {
            state.counts.failed += 1;
            state.count(None);
        }
        drop(state);
        drop(gone);
        is_there
    }

    // ---- callbacks ----

    /// Takes the oldest outcome that waits for its callback. In a reentrant group the next one has
    /// already been announced.
    pub(crate) fn take_completed(&self, token: &GroupToken) -> Option<ResultDelivery> {
        let mut state = self.state.lock();
        let call = state.completed.pop_front().and_then(|(_, id)| state.remove(id));
        let (next, signal) = state.next(token.is_reentrant());
        signal.signal();
        match call? {
            Call { waiter: CallWaiter::Callback(then), outcome: Some(outcome), lineage, .. } => {
                Some(ResultDelivery { then, outcome, lineage, next })
            }
            _ => None,
        }
    }

    /// Returns the stamp that is still announced, after a callback panicked.
    pub(crate) fn pending(&self) -> Option<Stamp> {
        self.state.lock().pending()
    }

    /// Takes back the announcement if no outcome waits for its callback. Returns `true` if one
    /// waits.
    pub(crate) fn clear_ready(&self) -> bool {
        self.state.lock().clear_ready(false)
    }

    /// Sets the task to which outcomes are announced, and announces those that wait.
    pub(crate) fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.state.lock().attach(task_ref)
    }

    /// Changes which executor is notified of answers from elsewhere, after the callbacks moved to
    /// another one or to none.
    pub(crate) fn retune(&self) {
        if let Some(connection) = self.connection_now() {
            connection.retune();
        }
    }

    // ---- the end ----

    /// Fails all waiting calls, because the context ends.
    pub(crate) fn end(&self) {
        self.fail(&CallFailure::Shutdown, |_| true);
    }

    /// Fails the calls for which a thread or a future waits.
    pub(crate) fn fail_callers(&self, failure: &CallFailure) {
        self.fail(failure, |call| matches!(call.waiter, CallWaiter::Caller(_)));
    }

    /// Closes the client and abandons its calls, except those for which a caller waits. Returns
    /// those without an outcome.
    pub(crate) fn close(&self) -> Vec<CallId> {
        let (gone, open) = {
            let mut state = self.state.lock();
            let is_abandoned = |call: &Call| !matches!(call.waiter, CallWaiter::Caller(_));
            let open = state.calls.open().filter(|(_, call)| is_abandoned(call));
            let open: Vec<_> = open.map(|(id, _)| id).collect();
            let completed: Vec<_> = state.completed.drain(..).map(|(_, id)| id).collect();
            let ids = open.iter().chain(&completed);
            let gone: Vec<_> = ids.filter_map(|id| state.remove(*id)).collect();
            state.counts.abandoned += open.len() as u64;
            state.count(None);
            ((gone, mem::take(&mut state.pulled), state.listener.take()), open)
        };
        drop(gone);
        let link = self.link.lock().take();
        if let Some(link) = link {
            link.connection.end(None);
        }
        open
    }

    pub(crate) fn statistics(&self) -> ClientStatistics {
        let state = self.state.lock();
        let waiting = state.calls.open().count() as u64;
        ClientStatistics { waiting, ..state.counts }
    }
}
