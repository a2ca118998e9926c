//! A client's calls, from the request to the answer.
//!
//! # What is done by which thread
//!
//! Every call has a place in its client's list and a sequence number that no other call of the
//! client has; together they are its [`CallId`]. The server's side holds the id, not the place:
//! places are used again at once, and an answer to a call that is over finds another number there,
//! or none. So a call is *settled* once (answered or failed), by the thread that comes first, and
//! *taken* or *given up* once, by its caller, which is the only one to free the place.
//!
//! | step | by | under the lock | after it |
//! |---|---|---|---|
//! | begin | caller | place, number | |
//! | wait | caller | looks once more, leaves how to be woken | sleeps |
//! | settle | server, or the thread that ends the wait | outcome; takes out whom to wake | wakes |
//! | take, give up | caller | frees the place | drops what was in it |
//!
//! A caller looks and leaves its waker under one lock, so no settling comes between. Wakers and
//! callbacks are code of the program: cloned, called and dropped under no lock.
//!
//! # Servers elsewhere
//!
//! A client has a line of its own to a server elsewhere ([`RemoteServerConnection`]), one at a
//! time: a new one replaces that of a server that has gone. Each call notes by which line its
//! request went, before it goes. When a line ends, the calls that went by it fail.

use super::failure::CallFailure;
use super::observed::{Observed, ServiceEvent};
use super::statistics::ClientStatistics;
use super::types::ServiceTypes;
use crate::executor::group_token::GroupToken;
use crate::executor::notifier::{TaskNotifier, ToSignal};
use crate::executor::scheduler::{self, CallbackResult, Scheduler, TaskRef, index};
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::{ToTell, by_hand, contain, tell_where_it_may_be};
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::message::info::{ChainScope, Lineage, Publication};
use crate::sys::clock::{Stamp, Time};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering, no_lock_is_held};
use crate::topic::remote_endpoint::RemoteEndpoint;
use crate::topic::session::Session;
use crate::topic::typed_reader::TypedReader;
use sinew_shm::{Counter, Counters, EndpointKey, EventReceiver, OwnEndpoint};
use slab::Slab;
use std::collections::VecDeque;
use std::mem;
use std::sync::OnceLock;
use std::task::Waker;
use std::time::Duration;

/// One call among those of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallId {
    place: u32,
    sequence: u64,
}

impl CallId {
    /// The call that another process says it answers.
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

/// Why a call has no answer, and its request if no server took that.
pub(crate) struct CallFault {
    pub(crate) failure: CallFailure,
    pub(crate) request: Option<RawMessage>,
}

/// What came of a call.
pub(crate) type CallOutcome = Result<RawMessage, CallFault>;

/// The callback that wants the outcome of one call. It is given its group's token.
pub(crate) type OnOutcome =
    Box<dyn FnOnce(&mut GroupToken, Result<RawMessage, (CallFault, &str)>) -> CallbackResult + Send>;

/// The listener that wants the outcome of one call: it runs on the thread that settles it.
pub(crate) type OnAnswer = Box<dyn FnOnce(Result<RawMessage, (CallFault, &str)>) + Send>;

/// What is woken when a call is settled.
pub(crate) enum CallWaiter {
    /// Nothing: the caller asks.
    Nothing,
    Thread(Arc<Parker>),
    /// A thread that waits for an answer from elsewhere, on a port of its own.
    Port(Arc<EventReceiver>),
    Task(Waker),
    Callback(OnOutcome),
    Listener(OnAnswer),
}

impl CallWaiter {
    #[inline]
    fn wake(self) {
        match self {
            CallWaiter::Thread(parker) => parker.unpark(),
            CallWaiter::Port(port) => port.ring(),
            CallWaiter::Task(waker) => {
                no_lock_is_held();
                waker.wake();
            }
            CallWaiter::Callback(_) | CallWaiter::Listener(_) | CallWaiter::Nothing => {}
        }
    }
}

/// What is to be done for a settled call once no lock is held.
enum CallWake {
    Caller(CallWaiter),
    /// The executor runs its callback.
    Executor(ToSignal),
    /// Its listener runs here.
    Listener(Box<Call>),
}

impl CallWake {
    #[inline(always)]
    fn wake(self, service: &Arc<str>) {
        match self {
            // Where a lock is held over several answers, a task's waker waits until it is free.
            CallWake::Caller(waiter @ CallWaiter::Task(_)) => Deferred::run(move || waiter.wake()),
            CallWake::Caller(waiter) => waiter.wake(),
            CallWake::Executor(executor) => scheduler::signal(executor),
            CallWake::Listener(call) => call.tell_listener(service),
        }
    }
}

/// A server elsewhere, as clients here see it.
pub(crate) trait RemoteServer: Send + Sync {
    /// What it says of itself.
    fn described(&self) -> &RemoteEndpoint;

    /// Whether it hasn't gone, be it that no thread here has noticed yet.
    fn is_there(&self) -> bool;

    /// What becomes of the calls that it has, now that it is gone.
    fn failure(&self) -> CallFailure;

    /// A client's own line to it. An error says what is wrong.
    fn connect(&self, calls: &Arc<PendingCalls>) -> Result<Arc<dyn RemoteServerConnection>, String>;
}

/// A client's line to a server elsewhere: its requests go by it, and the answers come by it.
pub(crate) trait RemoteServerConnection: Send + Sync {
    /// What the server knows it by: another line of the same client is another one.
    fn key(&self) -> EndpointKey;

    /// Sends the request of a call. `quietly`: the calling thread is about to wait for the answer.
    fn send(
        &self,
        calls: &PendingCalls,
        call: (CallId, &RawMessage, &Publication),
        quietly: bool,
    ) -> Result<(), CallFailure>;

    /// Waits for the outcome of a call of its client, until `deadline` (steady machine time). For
    /// so long as `patience` the thread looks without sleeping.
    fn wait(&self, calls: &PendingCalls, id: CallId, deadline: Time, patience: Duration) -> RemoteWait;

    /// Another executor runs the client's callbacks, or none: others are told of answers. Drains.
    fn retune(&self);

    /// The client or the server goes: no more requests. Settles the calls whose answers are there.
    fn end(&self);

    /// Has a thread that receives tell listeners.
    fn tell_elsewhere(&self, to_tell: ToTell);
}

/// What came of waiting for an answer from elsewhere.
pub(crate) enum RemoteWait {
    Settled(CallOutcome),
    TimedOut,
    /// It must be waited for in another way.
    Unable,
}

struct Call {
    sequence: u64,
    lineage: Lineage,
    waiter: CallWaiter,
    /// Its request was taken to be answered later.
    deferred: bool,
    /// By which line its request went to another process.
    connection: Option<EndpointKey>,
    outcome: Option<CallOutcome>,
}

impl Call {
    #[cold]
    fn tell_listener(self, service: &Arc<str>) {
        let Call { waiter: CallWaiter::Listener(listener), outcome: Some(outcome), lineage, .. } = self
        else {
            return;
        };
        let service = service.clone();
        let tell = move || {
            let _chain = ChainScope::enter(Some(lineage));
            let outcome = outcome.map_err(|fault| (fault, &*service));
            contain(|| listener(outcome), || format!("the listener of a call of service {service}"));
        };
        Deferred::run(move || tell_where_it_may_be(tell));
    }
}

/// The calls of a client, and its line to a server elsewhere.
#[repr(C)] // what every call touches comes first
pub(crate) struct PendingCalls {
    state: Mutex<PendingState>,
    pub(crate) session: Arc<Session>,
    /// Is told of requests that are sent, and responses that are received.
    pub(crate) observed: Observed,
    /// The client's number in its participant.
    pub(crate) number: u64,
    /// The service's full name.
    pub(crate) service: Arc<str>,
    pub(crate) types: ServiceTypes,
    /// The node's full name, for people.
    pub(crate) node: Arc<str>,
    /// The way to a server elsewhere.
    link: Mutex<Option<ServerLink>>,
    /// What other processes know the client by.
    entity: OnceLock<OwnEndpoint>,
    /// Makes responses of what servers of this process answer that hold them in another form.
    pub(crate) responses: OnceLock<TypedReader>,
    /// Whether calls have listeners: then no executor is told of answers from elsewhere, as it may be
    /// busy.
    listens: AtomicBool,
}

/// So many lines of a client's calls does each call touch.
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
    /// The client's task runs the callbacks of settled calls.
    notifier: TaskNotifier,
    /// Settled calls with a callback, in the order in which they were settled.
    completed: VecDeque<(Stamp, CallId)>,
    /// What others can see of the client.
    counters: Option<Counters>,
}

/// The calls of a client. The first has its place here: most clients wait for one call at a time,
/// and that one then touches no memory elsewhere.
#[derive(Default)]
struct CallTable {
    first: Option<Call>,
    /// At their place less one.
    others: Slab<Call>,
}

impl CallTable {
    fn insert(&mut self, call: Call) -> u32 {
        if self.first.is_none() {
            self.first = Some(call);
            return 0;
        }
        index(self.others.insert(call) + 1)
    }

    fn get_mut(&mut self, place: u32) -> Option<&mut Call> {
        match place.checked_sub(1) {
            None => self.first.as_mut(),
            Some(other) => self.others.get_mut(other as usize),
        }
    }

    fn remove(&mut self, place: u32) -> Option<Call> {
        match place.checked_sub(1) {
            None => self.first.take(),
            Some(other) => self.others.try_remove(other as usize),
        }
    }

    /// Those that have no outcome yet.
    fn open(&self) -> impl Iterator<Item = (CallId, &Call)> + '_ {
        let others = self.others.iter().map(|(place, call)| (place + 1, call));
        let all = self.first.iter().map(|call| (0, call)).chain(others);
        all.filter(|(_, call)| call.outcome.is_none()).map(|(place, call)| {
            let place = index(place);
            (CallId { place, sequence: call.sequence }, call)
        })
    }
}

impl PendingState {
    /// Tells others what became of the calls.
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

    /// Takes a call out that is over.
    fn remove(&mut self, id: CallId) -> Option<Call> {
        self.call(id)?;
        self.calls.remove(id.place)
    }

    /// A call has an outcome: what to wake. Not for calls that have one already.
    fn complete(
        &mut self,
        id: CallId,
        outcome: CallOutcome,
        stamp: impl FnOnce() -> Stamp,
    ) -> Result<CallWake, CallOutcome> {
        let Some(call) = self.call(id).filter(|call| call.outcome.is_none()) else { return Err(outcome) };
        let answered = outcome.is_ok();
        call.outcome = Some(outcome);
        let woken = match mem::replace(&mut call.waiter, CallWaiter::Nothing) {
            callback @ CallWaiter::Callback(_) => {
                call.waiter = callback;
                let stamp = stamp();
                self.completed.push_back((stamp, id));
                CallWake::Executor(self.notifier.notify(stamp))
            }
            listener @ CallWaiter::Listener(_) => {
                call.waiter = listener;
                self.remove(id).map_or(CallWake::Executor(None), |call| CallWake::Listener(Box::new(call)))
            }
            waiter => CallWake::Caller(waiter),
        };
        *(if answered { &mut self.counts.answered } else { &mut self.counts.failed }) += 1;
        self.count(None);
        Ok(woken)
    }

    /// Since when an outcome has waited for its callback.
    fn oldest(&self) -> Option<Stamp> {
        self.completed.front().map(|(stamp, _)| *stamp)
    }
}

/// A callback on its way to be run.
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
        node: Arc<str>,
        types: ServiceTypes,
        service: Arc<str>,
    ) -> Arc<Self> {
        let state = PendingState {
            calls: CallTable::default(),
            counts: ClientStatistics::default(),
            notifier: TaskNotifier::default(),
            completed: VecDeque::new(),
            counters: None,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            session: session.clone(),
            number,
            service,
            types,
            node,
            link: Mutex::new(None),
            entity: OnceLock::new(),
            responses: OnceLock::new(),
            listens: AtomicBool::new(false),
            observed: Observed::default(),
        })
    }

    /// A new call.
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

    /// The client, as servers know it.
    pub(crate) fn gid(&self) -> Gid {
        Gid::of(self.number, self.session.participant)
    }

    /// The client of a call, and the call's number.
    pub(crate) fn named(&self, id: CallId) -> (Gid, u64) {
        (self.gid(), id.sequence)
    }

    // ---- other processes ----

    /// What other processes know the client by.
    pub(crate) fn key(&self) -> Option<EndpointKey> {
        self.entity.get().map(OwnEndpoint::key)
    }

    /// What other processes know the client by; set once.
    pub(crate) fn is_known_as(&self, entity: OwnEndpoint) {
        let mut state = self.state.lock();
        state.counters = Some(entity.counters());
        state.count(None);
        drop(state);
        let _ = self.entity.set(entity);
    }

    /// Tells others how many servers there are for it.
    pub(crate) fn count_matched(&self, servers: usize) {
        if let Some(entity) = self.entity.get() {
            entity.counters().set(Counter::Matched, servers as u64);
        }
    }

    /// The way to a server of another process, if requests go there now.
    fn connection_now(&self) -> Option<Arc<dyn RemoteServerConnection>> {
        self.link.lock().as_ref().map(|link| link.connection.clone())
    }

    /// Whether requests go to this server of another process now.
    pub(crate) fn goes_to(&self, server: &Arc<dyn RemoteServer>) -> bool {
        self.link.lock().as_ref().is_some_and(|link| link.leads_to(server))
    }

    /// Sends the request of a call to a server of another process. Fails as if that had gone if the
    /// call is over, and there is no line to the server.
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

    /// The way to this server of another process, for this call.
    fn connection(
        self: &Arc<Self>,
        server: &Arc<dyn RemoteServer>,
        call: CallId,
    ) -> Result<Arc<dyn RemoteServerConnection>, CallFailure> {
        let mut link = self.link.lock();
        if let Some(link) = link.as_ref().filter(|link| link.leads_to(server)) {
            return Ok(link.connection.clone());
        }
        // Under the lock of the link: a client that goes abandons its calls before it ends its line.
        // So no line is opened once it has gone, and one that is opened before is ended.
        if !self.is_awaited(call) {
            return Err(CallFailure::ServerGone);
        }
        let connection = server.connect(self).map_err(|problem| CallFailure::Transport { problem })?;
        let before = link.replace(ServerLink { server: server.clone(), connection: connection.clone() });
        drop(link);
        if let Some(before) = before {
            self.end_connection(&before); // another one is taken only if that server is gone
        }
        // After the line can be found: a thread that finds out that the server is gone ends the
        // line then, or has done so before this look.
        if !server.is_there() {
            self.lose(server);
            return Err(CallFailure::ServerGone);
        }
        Ok(connection)
    }

    /// A call has an outcome, as another process says by this connection: of those that went there
    /// no other one.
    pub(crate) fn complete_by(&self, connection: EndpointKey, id: CallId, outcome: CallOutcome) {
        let is_there = self.state.lock().call(id).is_some_and(|call| call.connection == Some(connection));
        if is_there {
            drop(self.complete(id, outcome)); // if the caller doesn't wait any more, it doesn't miss it
        }
    }

    /// Notes by which line a call's request goes. Before it does.
    #[inline]
    pub(crate) fn goes_by(&self, id: CallId, connection: EndpointKey) {
        if let Some(call) = self.state.lock().call(id) {
            call.connection = Some(connection);
        }
    }

    /// The line by which a call's request went, while requests go by it.
    pub(crate) fn connection_of(&self, id: CallId) -> Option<Arc<dyn RemoteServerConnection>> {
        let connection = self.connection_now()?;
        let key = self.state.lock().call(id)?.connection?;
        (connection.key() == key).then_some(connection)
    }

    /// A server of another process is gone: a caller that waits for its answer is told.
    pub(crate) fn lose(&self, server: &Arc<dyn RemoteServer>) {
        let link = self.link.lock().take_if(|link| link.leads_to(server));
        if let Some(link) = link {
            self.end_connection(&link);
        }
    }

    /// No more requests go by a line, and those that did are not answered any more.
    fn end_connection(&self, ServerLink { server, connection }: &ServerLink) {
        // Perhaps a thread of the program's does so that calls anew.
        let end = || {
            connection.end();
            self.fail(&server.failure(), |call| call.connection == Some(connection.key()));
        };
        by_hand(end, |to_tell| connection.tell_elsewhere(to_tell));
    }

    /// An answer that came by a line can't be told from the others: all that wait for one of them
    /// are told.
    #[cold]
    pub(crate) fn lose_answers(&self, connection: &dyn RemoteServerConnection, problem: String) {
        let failure = CallFailure::Transport { problem };
        self.fail(&failure, |call| call.connection == Some(connection.key()));
    }

    /// From now on calls may have listeners.
    pub(crate) fn listen(&self) {
        // Relaxed: the lines' own locks order it; a line that is made later is told right at once.
        if !self.listens.swap(true, Ordering::Relaxed)
            && let Some(connection) = self.connection_now()
        {
            connection.retune();
        }
    }

    /// The scheduler of the executor that is told of answers from elsewhere.
    pub(crate) fn scheduler(&self) -> Option<Arc<Scheduler>> {
        if self.listens.load(Ordering::Relaxed) {
            return None; // as in `listen`
        }
        self.state.lock().notifier.task_ref().map(|task_ref| task_ref.scheduler.clone())
    }

    /// Whether a caller waits for an answer.
    pub(crate) fn has_open(&self) -> bool {
        self.state.lock().calls.open().next().is_some()
    }

    /// Fails those calls that have no outcome yet.
    fn fail(&self, failure: &CallFailure, which: impl Fn(&Call) -> bool) {
        let mut woken = Vec::new();
        {
            let mut state = self.state.lock();
            let ids: Vec<_> = state.calls.open().filter(|(_, call)| which(call)).map(|(id, _)| id).collect();
            for id in ids {
                let fault = CallFault { failure: failure.clone(), request: None };
                woken.extend(state.complete(id, Err(fault), || self.session.clock.stamp()).ok());
            }
        }
        let service = self.service.clone();
        Deferred::run(move || woken.into_iter().for_each(|woken| woken.wake(&service)));
    }

    /// A call ends. False if it is over, or was before; then the outcome comes back.
    #[inline(never)]
    pub(crate) fn complete(&self, id: CallId, outcome: CallOutcome) -> Result<(), CallOutcome> {
        if let Ok(response) = &outcome
            && self.observed.is_on()
            && self.is_awaited(id)
        {
            self.observed.tell(ServiceEvent::ResponseReceived, || self.named(id), response);
        }
        let mut state = self.state.lock();
        let woken = state.complete(id, outcome, || self.session.clock.stamp());
        drop(state);
        woken.map(|woken| woken.wake(&self.service))
    }

    /// Whether the caller still waits.
    pub(crate) fn is_awaited(&self, id: CallId) -> bool {
        self.state.lock().call(id).is_some_and(|call| call.outcome.is_none())
    }

    /// Has a thread that waits look again: what it knew of the server is no longer so. `deferred`:
    /// the request was taken to be answered later.
    pub(crate) fn nudge(&self, id: CallId, deferred: bool) {
        let parker = {
            let mut state = self.state.lock();
            let Some(call) = state.call(id) else { return };
            call.deferred |= deferred;
            if let CallWaiter::Thread(parker) = &call.waiter { Some(parker.clone()) } else { None }
        };
        if let Some(parker) = parker {
            parker.unpark();
        }
    }

    // ---- the caller's side ----

    /// The outcome, if there is one.
    #[inline]
    pub(crate) fn take(&self, id: CallId) -> Option<CallOutcome> {
        let mut state = self.state.lock();
        state.call(id)?.outcome.as_ref()?;
        state.remove(id)?.outcome
    }

    /// The outcome, if there is one; if not, `waiter` is woken when there is. Then says whether the
    /// request was taken to be answered later.
    pub(crate) fn take_or_wait(&self, id: CallId, waiter: CallWaiter) -> Result<CallOutcome, bool> {
        let mut state = self.state.lock();
        let Some(call) = state.call(id) else { return Err(false) };
        if call.outcome.is_none() {
            let (before, deferred) = (mem::replace(&mut call.waiter, waiter), call.deferred);
            drop(state);
            drop(before); // perhaps code of the program
            return Err(deferred);
        }
        let gone = state.remove(id);
        drop(state);
        gone.and_then(|call| call.outcome).ok_or(false)
    }

    /// The caller waits no longer. Returns the outcome if there is one after all.
    pub(crate) fn give_up(&self, id: CallId) -> Option<CallOutcome> {
        let gone = {
            let mut state = self.state.lock();
            let gone = state.remove(id);
            if gone.as_ref().is_some_and(|call| call.outcome.is_none()) {
                state.counts.abandoned += 1;
                state.count(None);
            }
            gone
        };
        gone?.outcome
    }

    /// The request was not accepted: there is no such call. False if its listener has been told
    /// why already, as the context has ended meanwhile.
    #[cold]
    pub(crate) fn refused(&self, id: CallId) -> bool {
        let mut state = self.state.lock();
        let gone = state.remove(id);
        let is_there = gone.is_some();
        // The context may have ended meanwhile: then it has failed already.
        if gone.as_ref().is_some_and(|call| call.outcome.is_none()) {
            state.counts.failed += 1;
            state.count(None);
        }
        drop(state);
        drop(gone);
        is_there
    }

    // ---- callbacks ----

    /// The oldest outcome that waits for its callback. In a reentrant group the next one has been
    /// announced already.
    pub(crate) fn take_completed(&self, token: &GroupToken) -> Option<ResultDelivery> {
        let mut state = self.state.lock();
        let call = state.completed.pop_front().and_then(|(_, id)| state.remove(id));
        let oldest = state.oldest();
        let (next, signal) = state.notifier.next(oldest, token.is_reentrant());
        drop(state);
        scheduler::signal(signal);
        match call? {
            Call { waiter: CallWaiter::Callback(then), outcome: Some(outcome), lineage, .. } => {
                Some(ResultDelivery { then, outcome, lineage, next })
            }
            _ => None,
        }
    }

    /// What is announced still, after a callback panicked.
    pub(crate) fn pending(&self) -> Option<Stamp> {
        let mut state = self.state.lock();
        let oldest = state.oldest();
        state.notifier.pending(oldest)
    }

    /// Takes back the announcement if no outcome waits for its callback; whether one does.
    pub(crate) fn retract(&self) -> bool {
        let mut state = self.state.lock();
        if state.completed.is_empty() {
            state.notifier.retract(false);
        }
        !state.completed.is_empty()
    }

    /// Sets where to announce outcomes, and announces those that wait.
    pub(crate) fn attach(&self, task_ref: Option<TaskRef>) {
        let mut state = self.state.lock();
        let oldest = state.oldest();
        let (before, signal) = state.notifier.attach(task_ref, oldest);
        drop(state);
        drop(before);
        scheduler::signal(signal);
    }

    /// Another executor runs the callbacks, or none: others are told of answers from elsewhere.
    pub(crate) fn retune(&self) {
        if let Some(connection) = self.connection_now() {
            connection.retune();
        }
    }

    // ---- the end ----

    /// Everything ends: all calls fail that wait.
    pub(crate) fn end(&self) {
        self.fail(&CallFailure::Shutdown, |_| true);
    }

    /// The client goes: its calls are abandoned. Returns those that had no outcome.
    pub(crate) fn close(&self) -> Vec<CallId> {
        let (gone, open) = {
            let mut state = self.state.lock();
            state.completed.clear();
            let open: Vec<_> = state.calls.open().map(|(id, _)| id).collect();
            state.counts.abandoned += open.len() as u64;
            state.count(None);
            (mem::take(&mut state.calls), open)
        };
        drop(gone);
        let link = self.link.lock().take();
        if let Some(link) = link {
            link.connection.end();
        }
        open
    }

    pub(crate) fn statistics(&self) -> ClientStatistics {
        let state = self.state.lock();
        let waiting = state.calls.open().count() as u64;
        ClientStatistics { waiting, ..state.counts }
    }
}
