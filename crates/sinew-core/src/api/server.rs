//! Servers.

use super::context::ContextCore;
use super::introspection::service_events::{self, ServiceIntrospection};
use super::node::{Node, NodeCore};
use super::service_callback::{AsyncServiceCallback, IncomingRequest, ServiceCallback, info};
use crate::executor::crew::scheduler::{CallbackResult, Scheduler, Task, TaskOutcome, TaskRef};
use crate::executor::group::{CallbackGroup, Group, GroupCore, GroupMember, Membership, ReentrantGroup};
use crate::executor::group_token::GroupToken;
use crate::executor::owner::Close;
use crate::executor::wait_set::{self, Waitable};
use crate::executor::work::queue::WorkQueueCore;
use crate::executor::{panic_message, prefetch, report};
use crate::message::Unique;
use crate::message::block::Pool;
use crate::message::info::ChainScope;
use crate::remote::shm::transport::ShmTransport;
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::async_tasks::ServerFutures;
use crate::service::failure::CallFailure;
use crate::service::observed::{Observed, ServiceEvent};
use crate::service::pending_calls::PendingCalls;
use crate::service::request::{ReplyTo, Request};
use crate::service::request_queue::{
    self, MAX_REQUESTS, RequestListener, RequestQueue, ServerCore, ServerStats,
};
use crate::service::responder::ReplyToken;
use crate::service::statistics::ServerStatistics;
use crate::service::types::ServiceTypes;
use crate::sys::clock::Stamp;
use crate::sys::logging::Level;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering, next_serial};
use sinew_msg::Service;
use sinew_msg::cdr::Structure;
use sinew_shm::{Callback, EndpointKey, OwnEndpoint};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

/// Most blocks for responses in a server's pool.
const POOL_CAPACITY: usize = 64;

/// An entity that answers the requests of a service.
///
/// Made by [`Node::server`](crate::Node::server). A service has one server at a time. Its requests
/// wait in a bounded queue and are taken in the order of the calls. It exists until its last handle
/// is dropped: then the calls that wait for it fail at once ([`CallFailure::ServerGone`]), but
/// requests with a [`Responder`](crate::service::responder::Responder) may still be answered. It
/// may be dropped in its own callback.
///
/// ```
/// use sinew::prelude::*;
/// struct Operands { a: i64, b: i64 }
/// impl Message for Operands {}
/// #[derive(Debug, PartialEq)]
/// struct Sum(i64);
/// impl Message for Sum {}
/// struct AddTwoInts;
/// impl Service for AddTwoInts { type Request = Operands; type Response = Sum; }
///
/// let context = Context::new()?;
/// let node = context.node("adder")?;
/// let _server = node.server::<AddTwoInts>("add").callback(|request: &Operands| Sum(request.a + request.b))?;
/// let client = context.node("asker")?.client::<AddTwoInts>("add").create()?;
///
/// let executor = Executor::single();
/// executor.add(&context)?;
/// let sum = executor.spin_until(client.call_async(Operands { a: 40, b: 2 }))?;
/// assert_eq!(*sum.unwrap(), Sum(42));
/// # Ok::<(), sinew::Error>(())
/// ```
///
/// Clones are the same server: it ends when the last one is dropped, or any of them is
/// [closed](Self::close).
#[must_use = "a server ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _server = ..`), or `detach()` it"]
pub struct Server<S: Service> {
    inner: Arc<ServerInner>,
    of: PhantomData<fn(S)>,
}

/// The part that is dropped with the last handle.
struct ServerInner {
    core: Arc<ServerCore>,
    /// Its membership in its group; `None` if it has a listener.
    member: Option<(Arc<GroupCore>, Membership)>,
    /// Its futures in progress, if it answers asynchronously.
    tasks: Option<Arc<dyn Close>>,
    is_closed: AtomicBool,
    node: Arc<NodeCore>,
}

impl<S: Service> Server<S> {
    /// The queue does the work for which the server answers later than it takes the request.
    pub(super) fn is_worked_by(&self, queue: &Arc<WorkQueueCore>) {
        let core = &self.inner.core;
        core.requests.is_worked_by(core, queue.clone());
    }

    /// Returns the service's full name, after remapping.
    pub fn name(&self) -> &str {
        &self.inner.core.requests.name
    }

    /// Returns its counters.
    pub fn statistics(&self) -> ServerStatistics {
        self.inner.core.statistics()
    }

    /// Keeps it without a handle until the context ends; as
    /// [`Timer::detach`](crate::Timer::detach).
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }

    /// Ends it and its clones, as dropping the last one does, and waits for its callback if that is
    /// running on another thread. Called in its own callback, it doesn't wait; nor does a second
    /// `close`, or that of a server with a [listener](ServerBuilder::listener).
    pub fn close(self) {
        self.inner.leave(true);
    }

    /// Publishes events of its requests and responses on the hidden topic
    /// `<service>/_service_event`, with or without content. Replaces the former setting. As
    /// [`Client::configure_introspection`](crate::Client::configure_introspection).
    ///
    /// # Errors
    /// [`CreateError`]: the service has no ROS 2 type, or one that can't be described; the QoS is
    /// invalid; or the context is shut down.
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError>
    where
        S: Service<Request: Structure, Response: Structure>,
    {
        let observer = service_events::observer::<S>(&self.inner.node, self.name(), (state, qos))?;
        drop(self.inner.core.observed.set(observer));
        Ok(())
    }

    /// Returns `true` if it was [closed](Self::close), or if it [stands](crate::Context::node_of)
    /// for a server on the network and has given way to a server of this host.
    pub fn is_closed(&self) -> bool {
        !self.inner.core.requests.is_served_by(&self.inner.core)
    }
}

impl<S: Service> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), of: PhantomData }
    }
}

impl ServerInner {
    fn leave(&self, wait: bool) {
        // Relaxed: one of several threads goes on, and locks protect everything else.
        if self.is_closed.swap(true, Ordering::Relaxed) {
            return; // it has left already: the service may have another server by now
        }
        if let Some((group, membership)) = &self.member {
            group.deregister(*membership, wait);
        }
        retire(&self.node.context, &self.core);
        if let Some(tasks) = &self.tasks {
            tasks.close();
        }
        self.core.pool.close();
    }
}

/// Lets no more requests reach a server, from this process or others.
fn retire(context: &ContextCore, core: &ServerCore) {
    let known = core.known.lock().take();
    if let (Some(known), Some(transport)) = (&known, context.transport()) {
        transport.forget_server(known.key());
    }
    context.services.remove_server(core);
    drop(known); // after its clients in other processes were notified
}

impl Drop for ServerInner {
    fn drop(&mut self) {
        self.leave(false);
    }
}

impl<S: Service> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Node {
    /// Returns a builder for a server of a service; service names follow the rules of topic names.
    /// (ROS 2: `create_service`.)
    pub fn server<S: Service>(&self, name: &str) -> ServerBuilder<S> {
        ServerBuilder::new(self.default_group(), name)
    }
}

impl<S: Service> wait_set::sealed::Sealed for Server<S> {}

impl<S: Service> Waitable for Server<S> {
    fn subject(&self) -> usize {
        Arc::as_ptr(&self.inner.core).addr()
    }
}

/// Makes a [`Server`]; from [`Node::server`](crate::Node::server).
#[must_use = "nothing is answered before `callback`, `async_callback` or `listener`"]
pub struct ServerBuilder<S: Service, G = Group> {
    node: Arc<NodeCore>,
    name: String,
    group: G,
    max_requests: usize,
    qos: QoS,
    types: ServiceTypes,
    of: PhantomData<fn(S)>,
}

impl<S: Service, G: CallbackGroup> ServerBuilder<S, G> {
    pub(crate) fn new(group: &G, name: &str) -> Self {
        Self {
            node: NodeCore::of(group.core()),
            name: name.to_owned(),
            group: group.clone(),
            max_requests: MAX_REQUESTS,
            qos: QoS::services(),
            types: ServiceTypes::of::<S>(),
            of: PhantomData,
        }
    }

    /// Sets other types than those of `S`.
    pub(super) fn of_types(mut self, types: ServiceTypes) -> Self {
        self.types = types;
        self
    }
}

impl<S: Service, G: CallbackGroup> ServerBuilder<S, G> {
    /// Sets the QoS that it announces to others.
    pub(crate) fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// The number of requests that may wait, including those taken to be answered later (1000 by
    /// default, at least 1). Further requests are refused with [`CallFailure::Full`].
    pub fn max_requests(mut self, requests: usize) -> Self {
        self.max_requests = requests;
        self
    }

    /// Makes the server, with a callback that the executor runs for each request; see
    /// [`ServiceCallback`] for its forms. The callback may also run on the thread of a waiting
    /// caller, in place of one of the executor's. A panic in it is passed on to the caller, and
    /// then treated as in any callback.
    ///
    /// Requests of clients that came before the server are waiting already and are its first.
    ///
    /// # Errors
    /// [`CreateError`]: the name is invalid, it has another server, the limit is 0, or the context
    /// is shut down.
    pub fn callback<Form, F>(self, callback: F) -> Result<Server<S>, CreateError>
    where
        F: ServiceCallback<S, S::Request, G, Form>,
        Form: 'static,
    {
        let core = self.open()?;
        let answerer = ServerTask::<S, G, Form, F> {
            core: core.clone(),
            callback: callback.cell(&self.group),
            group: self.group.clone(),
            place: prefetch::NoteIndex::new(),
            of: PhantomData,
        };
        Ok(self.member(core, Arc::new(answerer), None))
    }

    /// Makes the server, with a listener for its requests: it runs at once on the thread that
    /// calls, or, for clients of other processes, on the thread that receives, under no lock and in
    /// no executor. For bridges, which pass requests on and answer later, with their
    /// [`Responder`](crate::Responder), and save the executor's wake-up.
    ///
    /// Its forms are those of a [`callback`](Self::callback) in a reentrant group, as several
    /// threads may run it at the same time; the builder's group is not used. It should be quick:
    /// its caller waits for it even with a timeout of zero, and callers of other processes wait for
    /// each other. It may publish, call and close the server; a blocking call in it behaves as on
    /// any thread. A panic in it is passed on to the caller as [`CallFailure::Panicked`], and
    /// reported. [`close`](Server::close) doesn't wait for it, and requests that it took may still
    /// be answered. A wait set has nothing to do for it.
    ///
    /// Requests that wait already are its first: the listener runs for them on this thread.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::Responder;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let context = Context::new()?;
    /// let node = context.node("bridge")?;
    /// let (pass_on, passed_on) = std::sync::mpsc::channel();
    /// let _server = node.server::<Double>("double").listener(move |request: Number, responder: Responder<Double>| {
    ///     drop(pass_on.send((request, responder)));
    /// })?;
    /// std::thread::spawn(move || {
    ///     for (request, responder) in passed_on {
    ///         drop(responder.respond(Number(2 * request.0)));
    ///     }
    /// });
    /// let client = node.client::<Double>("double").create()?;
    /// assert_eq!(client.call(Number(21), Duration::from_secs(10))?.0, 42); // no executor spins
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`callback`](Self::callback).
    pub fn listener<Form, F>(self, listener: F) -> Result<Server<S>, CreateError>
    where
        F: ServiceCallback<S, S::Request, ReentrantGroup, Form>,
        Form: 'static,
    {
        let core = self.open()?;
        let group = ReentrantGroup::new(self.node.clone());
        let cell = listener.cell(&group);
        let listener = RequestListener::new(move |core, request| {
            let call =
                |asked: IncomingRequest<'_, S>| F::call(&cell, &group, &mut GroupToken::reentrant(), asked);
            if let Err(error) = answer(core, request, call) {
                let what = format!("the listener of {}", describe(core));
                let level = if core.requests.session.has_ended() { Level::Info } else { Level::Error };
                report(level, &what, &format_args!("{what} failed: {error}"));
            }
        });
        let node = self.node;
        let inner = ServerInner { core, member: None, tasks: None, is_closed: AtomicBool::new(false), node };
        inner.core.requests.listen(&inner.core, listener);
        Ok(Server { inner: Arc::new(inner), of: PhantomData })
    }

    /// Makes the server a member of its group.
    fn member(
        self,
        core: Arc<ServerCore>,
        task: Arc<dyn GroupMember>,
        tasks: Option<Arc<dyn Close>>,
    ) -> Server<S> {
        let group = self.group.core().clone();
        let membership = group.join(task);
        let (member, node) = (Some((group, membership)), self.node);
        let inner = ServerInner { core, member, tasks, is_closed: AtomicBool::new(false), node };
        Server { inner: Arc::new(inner), of: PhantomData }
    }

    /// Makes the server, with a callback that returns futures; see [`AsyncServiceCallback`] for its
    /// forms. The executor polls them with its group's token; several may be in progress at once
    /// (at most [`max_requests`](Self::max_requests), including waiting requests), and no runtime
    /// is needed. Dropping the server drops its futures.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let context = Context::new()?;
    /// let node = context.node("quadrupler")?;
    /// let _double = node.server::<Double>("double").callback(|n: &Number| Number(2 * n.0))?;
    /// let double = node.client::<Double>("double").create()?;
    /// let _quadruple = node.server::<Double>("quadruple").async_callback(move |n: Number| {
    ///     let double = double.clone();
    ///     async move {
    ///         let doubled = double.call_async(n).await?;
    ///         double.call_async(doubled).await
    ///     }
    /// })?;
    /// let client = node.client::<Double>("quadruple").create()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.spin_until(client.call_async(Number(10)))?.unwrap().0, 40);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`callback`](Self::callback).
    pub fn async_callback<Form, F>(self, callback: F) -> Result<Server<S>, CreateError>
    where
        F: AsyncServiceCallback<S, S::Request, G, Form>,
        Form: 'static,
    {
        let core = self.open()?;
        let queue = self.group.core().bare_queue(&format!("service {}", core.requests.name));
        let tasks = ServerFutures::new(queue);
        let answerer = AsyncServerTask::<S, G, Form, F> {
            core: core.clone(),
            tasks: tasks.clone(),
            callback: callback.cell(&self.group),
            place: prefetch::NoteIndex::new(),
            of: PhantomData,
        };
        let queue = tasks.queue.clone();
        Ok(self.member(core, Arc::new(answerer), Some(queue)))
    }

    fn open(&self) -> Result<Arc<ServerCore>, CreateError> {
        open(&self.node, &self.name, self.types, (self.max_requests, self.qos))
    }
}

/// Registers the server; from now on at most `limit` requests wait for it.
fn open(
    node: &NodeCore,
    name: &str,
    types: ServiceTypes,
    (limit, qos): (usize, QoS),
) -> Result<Arc<ServerCore>, CreateError> {
    let name = node.place_service(name)?;
    if limit == 0 {
        return Err(CreateError::MaxRequests { service: name });
    }
    let context = &node.context;
    let (core, displaced) = context.services.add_server(&name, |requests| {
        Arc::new(ServerCore {
            requests,
            pool: Pool::of_table(types.response, POOL_CAPACITY),
            stats: ServerStats::default(),
            limit,
            types,
            qos: qos.max_samples(limit),
            origin: node.origin,
            number: next_serial(),
            node: node.full_name.clone(),
            known: Mutex::new(None),
            converted: OnceLock::new(),
            observed: Observed::default(),
        })
    })?;
    if let Some(displaced) = displaced {
        retire(context, &displaced);
    }
    let make_known = |transport: &Arc<ShmTransport>| transport.make_server_known(&core);
    match context.transport().map(make_known).transpose() {
        Ok(Some(known)) => {
            core.requests.is_counted(known.counters());
            *core.known.lock() = Some(known);
        }
        Ok(None) => {}
        Err(error) => {
            context.services.remove_server(&core);
            return Err(error);
        }
    }
    Ok(core)
}

/// Methods that tasks of servers take from their cores.
macro_rules! task_of_core {
    () => {
        fn callback_of(&self, node: EndpointKey) -> Callback {
            self.core.known.lock().as_ref().map(OwnEndpoint::key).map_or(Callback::Other(node), Callback::Of)
        }

        fn place(&self) -> &prefetch::NoteIndex {
            &self.place
        }

        fn rest(&self) -> Vec<prefetch::Part> {
            rest(&self.core)
        }

        fn subject(&self) -> usize {
            Arc::as_ptr(&self.core).addr()
        }

        fn has_ended(&self) -> bool {
            self.core.requests.session.has_ended()
        }

        fn describe(&self) -> String {
            describe(&self.core)
        }
    };
}

/// A server as its executor sees it: everything a call needs in one place.
struct ServerTask<S: Service, G, Form, F: ServiceCallback<S, S::Request, G, Form>> {
    core: Arc<ServerCore>,
    group: G,
    place: prefetch::NoteIndex,
    callback: F::Cell,
    of: PhantomData<fn(S) -> Form>,
}

impl<S, G, Form, F> Task for ServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: ServiceCallback<S, S::Request, G, Form>,
{
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let core = &self.core;
        let Some((request, next)) = core.requests.take_for(core, token) else {
            return TaskOutcome::NOTHING;
        };
        let result = answer(core, request, |asked| F::call(&self.callback, &self.group, token, asked));
        TaskOutcome { result, next, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        self.core.requests.pending(&self.core)
    }

    fn clear_ready(&self) -> bool {
        self.core.requests.retract(&self.core, false)
    }

    task_of_core!();
}

impl<S, G, Form, F> GroupMember for ServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: ServiceCallback<S, S::Request, G, Form>,
{
    fn attach(&self, task_ref: Option<TaskRef>) {
        self.core.requests.attach(&self.core, task_ref);
    }

    fn attached(&self) {
        self.core.requests.retune();
    }
}

/// Runs a callback for a request. If it panics, the caller is notified before the panic goes on.
#[inline(always)]
fn answer<S: Service>(
    core: &Arc<ServerCore>,
    request: Request,
    callback: impl FnOnce(IncomingRequest<'_, S>) -> CallbackResult,
) -> CallbackResult {
    received(core, &request);
    let Request { message, publication, reply_to } = request;
    let _chain = ChainScope::enter(Some(publication.lineage));
    let mut reply_to = Some(reply_to);
    let open = &mut reply_to;
    let result = catch_unwind(AssertUnwindSafe(|| {
        callback(IncomingRequest { request: Unique::assume(message), publication, reply_to: open, core })
    }));
    match result {
        Ok(result) => result,
        Err(panic) => panicked(core, reply_to, panic),
    }
}

/// Notifies the server's observer of a request that it has taken.
#[inline]
fn received(core: &ServerCore, request: &Request) {
    let caller = || request.reply_to.caller(core.requests.session.participant);
    core.observed.tell(ServiceEvent::RequestReceived, caller, &request.message);
}

/// Notifies the caller of a callback's panic, and resumes that.
#[cold]
#[inline(never)]
fn panicked(core: &ServerCore, reply_to: Option<ReplyTo>, panic: Box<dyn Any + Send>) -> ! {
    if let Some(reply_to) = reply_to {
        core.fail(reply_to, CallFailure::Panicked { message: panic_message(&*panic) });
    }
    resume_unwind(panic)
}

/// The code that every call of a service executes.
fn code(name: &mut dyn FnMut(usize, usize)) {
    RequestQueue::code(name);
    name(PendingCalls::complete as *const () as usize, 7);
    name(Scheduler::run_as_caller as *const () as usize, 10);
    name(Scheduler::finish as *const () as usize, 5);
}

fn rest(core: &Arc<ServerCore>) -> Vec<prefetch::Part> {
    let queue: Arc<dyn prefetch::Footprint> = core.requests.clone();
    vec![
        prefetch::Part::value(core, request_queue::LINES),
        prefetch::Part::value(&core.requests, 4),
        prefetch::Part::Deep(Arc::downgrade(&queue)),
        prefetch::Part::Code(code),
        prefetch::Part::pool(&core.pool),
    ]
}

fn describe(core: &ServerCore) -> String {
    format!("service {} of node {}", core.requests.name, core.node)
}

/// An asynchronous server as its executor sees it: two queues, requests and futures that can go on.
struct AsyncServerTask<S: Service, G, Form, F: AsyncServiceCallback<S, S::Request, G, Form>> {
    core: Arc<ServerCore>,
    tasks: Arc<ServerFutures<F::Future, S::Response>>,
    place: prefetch::NoteIndex,
    callback: F::Cell,
    of: PhantomData<fn(S, G) -> Form>,
}

impl<S, G, Form, F> AsyncServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: AsyncServiceCallback<S, S::Request, G, Form>,
{
    /// Makes a future for a request, and polls it for the first time.
    fn begin(&self, request: Request, token: &mut GroupToken) -> CallbackResult {
        received(&self.core, &request);
        let Request { message, publication, reply_to } = request;
        let _chain = ChainScope::enter(Some(publication.lineage));
        let about = || info(publication, &self.core);
        let mut reply_token = ReplyToken::new(reply_to, &self.core);
        let request: Unique<S::Request> = Unique::assume(message);
        let future = reply_token.guard(|| F::call(&self.callback, token, request, &about));
        self.tasks.begin(future, reply_token, publication.lineage)
    }
}

impl<S, G, Form, F> Task for AsyncServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: AsyncServiceCallback<S, S::Request, G, Form>,
{
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let (core, requests) = (&*self.core, &self.core.requests);
        let futures = &self.tasks.queue;
        // Woken futures go first: so new requests cannot delay old ones, and nothing piles up.
        if let (Some(woken), next) = futures.take(token) {
            let next = earlier(requests.next_for(core, token), next);
            let result = woken.run(token);
            return TaskOutcome { called: result.is_some(), result: result.unwrap_or(Ok(())), next };
        }
        let Some((request, next)) = requests.take_for(core, token) else { return TaskOutcome::NOTHING };
        TaskOutcome { result: self.begin(request, token), next, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        earlier(self.core.requests.pending(&self.core), self.tasks.queue.pending())
    }

    fn clear_ready(&self) -> bool {
        self.tasks.queue.retract(true, |woken| self.core.requests.retract(&self.core, woken))
    }

    task_of_core!();
}

impl<S, G, Form, F> GroupMember for AsyncServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: AsyncServiceCallback<S, S::Request, G, Form>,
{
    fn attach(&self, task_ref: Option<TaskRef>) {
        self.tasks.queue.attach(task_ref.clone());
        self.core.requests.attach(&self.core, task_ref);
    }

    fn attached(&self) {
        self.core.requests.retune();
    }
}

fn earlier(one: Option<Stamp>, other: Option<Stamp>) -> Option<Stamp> {
    one.into_iter().chain(other).min()
}
