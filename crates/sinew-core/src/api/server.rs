//! Servers.

use super::background::Background;
use super::callback::Outcome;
use super::erased::pulled;
use super::erased::server::{
    self as erased, Answers, Asked, ServerInner, ServerTask, received, retire, task_base,
};
use super::erased::service::Request;
use super::introspection::service_events::ServiceIntrospection;
use super::node::NodeCore;
use super::service_callback::{AsyncServiceCallback, IncomingRequest, ServiceCallback, info};
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group::{CallbackGroup, Group, GroupMember, ReentrantGroup};
use crate::executor::group_token::GroupToken;
use crate::executor::owner::Close;
use crate::executor::task::{CallbackResult, Run, Task, TaskOutcome};
use crate::executor::wait_set::{self, Waitable};
use crate::message::Unique;
use crate::message::block::Pool;
use crate::message::info::ChainScope;
use crate::remote::shm::transport::ShmTransport;
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::async_tasks::ServerFutures;
use crate::service::observed::Observed;
use crate::service::request::Request as QueuedRequest;
use crate::service::request_queue::MAX_REQUESTS;
use crate::service::request_queue::server_core::{ServerCore, ServerStats};
use crate::service::responder::ReplyToken;
use crate::service::statistics::ServerStatistics;
use crate::service::types::ServiceTypes;
use crate::sys::clock::Stamp;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering, next_serial};
use sinew_msg::Service;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// Maximum number of blocks for responses in a server's pool.
const POOL_CAPACITY: usize = 64;

/// An entity that answers the requests of a service.
///
/// Made by [`Node::server`](crate::Node::server). A service has one server at a time. Its requests
/// wait in a bounded queue and are taken in the order of the calls. It exists until its last handle
/// is dropped: then the calls that wait for it fail at once
/// ([`CallFailure::ServerGone`](crate::error::CallFailure::ServerGone)), but requests with a
/// [`Responder`](crate::service::responder::Responder) may still be answered. It may be dropped in
/// its own callback.
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
#[must_use = "a server ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _server = ..`), make it with `.background()`, or `detach()` it"]
pub struct Server<S: Service> {
    erased: erased::Server,
    of: PhantomData<fn(S)>,
}

impl<S: Service> Server<S> {
    /// Returns the service's full name, after remapping.
    pub fn name(&self) -> &str {
        self.erased.name()
    }

    /// Returns its counters.
    pub fn statistics(&self) -> ServerStatistics {
        self.erased.statistics()
    }

    /// Sets a listener that is called for each request that arrives: with 1, on the calling thread,
    /// or, for clients of other processes, on the thread that receives. If requests wait already,
    /// it is called at once with their number. It replaces the former listener. ROS 2:
    /// `set_on_new_request_callback`.
    ///
    /// It is meant to notify other threads, and to count; the callback gets the requests as before.
    /// The listener of an [immediate callback](ServerBuilder::immediate_callback) is never called:
    /// there, no request waits. What it may do, how it is replaced and how long it is kept is as for
    /// [`PulledServer::set_listener`](crate::service::PulledServer::set_listener).
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// # let context = Context::new()?;
    /// # let node = context.node("adder")?;
    /// let server = node.server::<Double>("double").callback(|n: &Number| Number(2 * n.0))?;
    /// let (bell, news) = std::sync::mpsc::channel();
    /// server.set_listener(move |count| drop(bell.send(count)));
    /// let client = node.client::<Double>("double").create()?;
    /// let call = client.call_async(Number(21));
    /// assert_eq!(news.try_iter().collect::<Vec<_>>(), [1]); // no executor has run
    /// # drop(call);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.erased.set_listener(listener);
    }

    /// Removes the listener; it may still be called for requests that other threads are just
    /// sending.
    pub fn clear_listener(&self) {
        self.erased.clear_listener();
    }

    /// Keeps it without a handle until the context ends; as
    /// [`Timer::detach`](crate::Timer::detach).
    pub fn detach(self) {
        self.erased.detach();
    }

    /// Ends it and its clones, as dropping the last one does, and waits for its callback if that is
    /// running on another thread. Called in its own callback, it doesn't wait; nor does a second
    /// `close`, or that of a server with an [immediate
    /// callback](ServerBuilder::immediate_callback).
    pub fn close(self) {
        self.erased.close();
    }

    /// Publishes events of its requests and responses on the hidden topic
    /// `<service>/_service_event`, with or without content. Replaces the former setting. As
    /// [`Client::configure_introspection`](crate::Client::configure_introspection).
    ///
    /// # Errors
    /// [`CreateError`]: the service has no ROS 2 type, or one that can't be described; the QoS is
    /// invalid; or the context is shut down.
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        self.erased.configure_introspection(state, qos)
    }

    /// Returns `true` if it was [closed](Self::close), or if it [stands](crate::Context::node_of)
    /// for a server on the network and has given way to a server of this host.
    pub fn is_closed(&self) -> bool {
        self.erased.is_closed()
    }

    /// Returns the server without its types.
    pub fn erased(&self) -> &erased::Server {
        &self.erased
    }
}

impl<S: Service> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self { erased: self.erased.clone(), of: PhantomData }
    }
}

impl<S: Service> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f)
    }
}

impl<S: Service> wait_set::sealed::Sealed for Server<S> {}

impl<S: Service> Waitable for Server<S> {
    fn subject(&self) -> usize {
        self.erased.subject()
    }
}

/// Makes a [`Server`]; from [`Node::server`](crate::Node::server).
#[must_use = "nothing is answered before `callback`, `async_callback`, `immediate_callback`, `listener` or `create`"]
pub struct ServerBuilder<S, G = Group> {
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
        Self::of_types(group, name, ServiceTypes::of::<S>())
    }
}

impl<S, G: CallbackGroup> ServerBuilder<S, G> {
    pub(super) fn of_types(group: &G, name: &str, types: ServiceTypes) -> Self {
        Self {
            node: NodeCore::of(group.core()),
            name: name.to_owned(),
            group: group.clone(),
            max_requests: MAX_REQUESTS,
            qos: QoS::services(),
            types,
            of: PhantomData,
        }
    }

    /// Sets the QoS that it announces to others.
    pub(crate) fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Sets the number of requests that may wait, including those taken to be answered later; at
    /// least 1. Default: 1000. Further requests are refused with
    /// [`CallFailure::Full`](crate::error::CallFailure::Full).
    pub fn max_requests(mut self, requests: usize) -> Self {
        self.max_requests = requests;
        self
    }

    /// Makes it live as long as its node, without a handle; see [`Background`].
    pub fn background(self) -> Background<Self> {
        Background::new(&self.node.clone(), self)
    }

    /// Makes the server a member of its group.
    fn member(
        self,
        core: Arc<ServerCore>,
        work: impl GroupMember + 'static,
        tasks: Option<Arc<dyn Close>>,
    ) -> erased::Server {
        let group = self.group.core().clone();
        let membership = group.join(Task::new(task_base(&group, &core), work));
        let (member, node) = (Some((group, membership)), self.node);
        erased::Server::of(ServerInner { core, member, tasks, is_closed: AtomicBool::new(false), node })
    }

    /// Makes the server with this callback.
    fn answering(self, callback: impl Answers) -> Result<erased::Server, CreateError> {
        let core = self.open()?;
        let work = ServerTask { core: core.clone(), callback };
        Ok(self.member(core, work, None))
    }

    /// Makes the server with this callback, to run on the threads that bring requests.
    fn answering_immediately(self, callback: impl Answers) -> Result<erased::Server, CreateError> {
        let core = self.open()?;
        let node = self.node;
        let inner = ServerInner { core, member: None, tasks: None, is_closed: AtomicBool::new(false), node };
        inner.core.requests.take_immediately(&inner.core, erased::immediate(Box::new(callback)));
        Ok(erased::Server::of(inner))
    }

    /// Makes the server, without its types, with a callback that runs on the threads that bring
    /// requests, as `immediate_callback`.
    ///
    /// # Errors
    /// As `callback`.
    pub fn immediate_callback_erased<R: Outcome>(
        self,
        callback: impl Fn(Request<'_>) -> R + Send + Sync + 'static,
    ) -> Result<erased::Server, CreateError> {
        let callback: erased::ErasedCallback = Box::new(move |_, request| callback(request).into_result());
        self.answering_immediately(callback)
    }

    /// Makes the server, without its types, with requests that the program takes by hand, as
    /// [`create`](Self::create).
    ///
    /// # Errors
    /// As `callback`.
    pub fn create_erased(self) -> Result<pulled::PulledServer, CreateError> {
        let core = self.open()?;
        Ok(pulled::PulledServer::new(core, self.node))
    }

    fn open(&self) -> Result<Arc<ServerCore>, CreateError> {
        open(&self.node, &self.name, self.types, (self.max_requests, self.qos))
    }
}

impl<S, State: Send + 'static> ServerBuilder<S, Group<State>> {
    /// Makes the server, without its types, with a callback that the executor runs for each
    /// request: it gets the group's state and the request. Otherwise as `callback`.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::Unique;
    /// use sinew::erased::{Message as Erased, Request, ServiceTypes};
    /// # #[derive(Debug, PartialEq)] struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let context = Context::new()?;
    /// let node = context.node("binding")?;
    /// let calls = node.group(0_u64);
    /// let types = ServiceTypes::of::<Double>();
    /// let _server = calls.erased_server("double", types).callback_erased(|calls: &mut u64, request: Request| {
    ///     *calls += 1;
    ///     let doubled = request.message.value_of::<Number>().unwrap().0 * 2;
    ///     request.respond(Unique::new(Number(doubled)))
    /// })?;
    /// let client = node.erased_client("double", types).create_erased()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// let doubled = executor.spin_until(client.call_async(Unique::new(Number(21))).unwrap())?.unwrap();
    /// assert_eq!(doubled.value_of::<Number>(), Some(&Number(42)));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As `callback`.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl FnMut(&mut State, Request<'_>) -> R + Send + 'static,
    ) -> Result<erased::Server, CreateError> {
        let state = self.group.state.clone();
        let cell = self.group.number.callback(callback);
        let callback: erased::ErasedCallback = Box::new(move |token, request| {
            let callback = cell.open(&mut token.callbacks);
            callback(state.open(&mut token.state), request).into_result()
        });
        self.answering(callback)
    }
}

impl<S> ServerBuilder<S, ReentrantGroup> {
    /// As in a [`Group`], but several threads may call it at once, and there is no state.
    ///
    /// # Errors
    /// As `callback`.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl Fn(Request<'_>) -> R + Send + Sync + 'static,
    ) -> Result<erased::Server, CreateError> {
        let callback: erased::ErasedCallback = Box::new(move |_, request| callback(request).into_result());
        self.answering(callback)
    }
}

impl<S: Service, G: CallbackGroup> ServerBuilder<S, G> {
    /// Makes the server, with a callback that the executor runs for each request; see
    /// [`ServiceCallback`] for its forms. The callback may also run on the thread of a waiting
    /// caller, in place of one of the executor's. A panic in it is passed on to the caller, and
    /// then treated as in any callback.
    ///
    /// Requests that clients sent before the server existed wait already, and are its first.
    ///
    /// # Errors
    /// [`CreateError`]: the name is invalid, it has another server, the limit is 0, or the context
    /// is shut down.
    pub fn callback<Form, F>(self, callback: F) -> Result<Server<S>, CreateError>
    where
        F: ServiceCallback<S, S::Request, G, Form>,
        Form: 'static,
    {
        let call = TypedCall::<S, G, Form, F> {
            cell: callback.cell(&self.group),
            group: self.group.clone(),
            of: PhantomData,
        };
        Ok(Server { erased: self.answering(call)?, of: PhantomData })
    }

    /// Makes the server, with a callback that runs for each request at once: on the thread that
    /// calls, or, for clients of other processes, on the thread that receives, under no lock and in
    /// no executor. For bridges, which pass requests on and answer later, with their
    /// [`Responder`](crate::Responder): no executor has to wake up.
    ///
    /// Its forms are those of a [`callback`](Self::callback) in a reentrant group, as several
    /// threads may run it at the same time; the builder's group is not used. It should be quick:
    /// its caller waits for it even with a timeout of zero, and callers of other processes wait for
    /// each other. It may publish, call and close the server; a blocking call in it behaves as on
    /// any thread. A panic in it is passed on to the caller as
    /// [`CallFailure::Panicked`](crate::error::CallFailure::Panicked), and reported.
    /// [`close`](Server::close) doesn't wait for it, and requests that it took may still be
    /// answered. A wait set has nothing to do for it.
    ///
    /// Requests that wait already are its first: the callback runs for them on this thread.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::Responder;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let context = Context::new()?;
    /// let node = context.node("bridge")?;
    /// let (pass_on, passed_on) = std::sync::mpsc::channel();
    /// let _server = node.server::<Double>("double").immediate_callback(move |request: Number, responder: Responder<Double>| {
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
    pub fn immediate_callback<Form, F>(self, callback: F) -> Result<Server<S>, CreateError>
    where
        F: ServiceCallback<S, S::Request, ReentrantGroup, Form>,
        Form: 'static,
    {
        let group = ReentrantGroup::new(self.node.clone());
        let call =
            TypedCall::<S, ReentrantGroup, Form, F> { cell: callback.cell(&group), group, of: PhantomData };
        Ok(Server { erased: self.answering_immediately(call)?, of: PhantomData })
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
            request_is_next: AtomicBool::new(false),
            callback: callback.cell(&self.group),
            of: PhantomData,
        };
        let queue = tasks.queue.clone();
        Ok(Server { erased: self.member(core, answerer, Some(queue)), of: PhantomData })
    }
}

impl<S: Service, G: CallbackGroup> Background<ServerBuilder<S, G>> {
    /// Makes the server, as [`ServerBuilder::callback`].
    ///
    /// # Errors
    /// As [`ServerBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback<Form, F>(self, callback: F) -> Result<(), CreateError>
    where
        F: ServiceCallback<S, S::Request, G, Form>,
        Form: 'static,
    {
        self.make(|builder| builder.callback(callback))
    }

    /// Makes the server, as [`ServerBuilder::immediate_callback`].
    ///
    /// # Errors
    /// As [`callback`](Self::callback).
    pub fn immediate_callback<Form, F>(self, callback: F) -> Result<(), CreateError>
    where
        F: ServiceCallback<S, S::Request, ReentrantGroup, Form>,
        Form: 'static,
    {
        self.make(|builder| builder.immediate_callback(callback))
    }

    /// Makes the server, as [`ServerBuilder::async_callback`].
    ///
    /// # Errors
    /// As [`callback`](Self::callback).
    pub fn async_callback<Form, F>(self, callback: F) -> Result<(), CreateError>
    where
        F: AsyncServiceCallback<S, S::Request, G, Form>,
        Form: 'static,
    {
        self.make(|builder| builder.async_callback(callback))
    }
}

impl<S, G: CallbackGroup> Background<ServerBuilder<S, G>> {
    /// Makes the server, as [`ServerBuilder::immediate_callback_erased`].
    ///
    /// # Errors
    /// As [`ServerBuilder::callback`]; or the last handle of the node was dropped.
    pub fn immediate_callback_erased<R: Outcome>(
        self,
        callback: impl Fn(Request<'_>) -> R + Send + Sync + 'static,
    ) -> Result<(), CreateError> {
        self.make(|builder| builder.immediate_callback_erased(callback))
    }
}

impl<S, State: Send + 'static> Background<ServerBuilder<S, Group<State>>> {
    /// Makes the server, as [`ServerBuilder::callback_erased`].
    ///
    /// # Errors
    /// As [`ServerBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl FnMut(&mut State, Request<'_>) -> R + Send + 'static,
    ) -> Result<(), CreateError> {
        self.make(|builder| builder.callback_erased(callback))
    }
}

impl<S> Background<ServerBuilder<S, ReentrantGroup>> {
    /// As in a [`Group`], but several threads may call it at once, and there is no state.
    ///
    /// # Errors
    /// As [`ServerBuilder::callback`]; or the last handle of the node was dropped.
    pub fn callback_erased<R: Outcome>(
        self,
        callback: impl Fn(Request<'_>) -> R + Send + Sync + 'static,
    ) -> Result<(), CreateError> {
        self.make(|builder| builder.callback_erased(callback))
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

/// A callback in one of the [forms](ServiceCallback) for an `S`.
struct TypedCall<S: Service, G, Form, F: ServiceCallback<S, S::Request, G, Form>> {
    cell: F::Cell,
    group: G,
    of: PhantomData<fn(S) -> Form>,
}

impl<S, G, Form, F> Answers for TypedCall<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    Form: 'static,
    F: ServiceCallback<S, S::Request, G, Form>,
{
    #[inline]
    fn answer(&self, core: &Arc<ServerCore>, token: &mut GroupToken, asked: Asked<'_>) -> CallbackResult {
        let Asked { message, publication, reply_to } = asked;
        let asked = IncomingRequest { request: Unique::assume(message), publication, reply_to, core };
        F::call(&self.cell, &self.group, token, asked)
    }
}

/// An asynchronous server as its executor sees it: two queues, requests and futures that can go on.
struct AsyncServerTask<S: Service, G, Form, F: AsyncServiceCallback<S, S::Request, G, Form>> {
    core: Arc<ServerCore>,
    tasks: Arc<ServerFutures<F::Future, S::Response>>,
    /// Whether a future ran last, so that a waiting request is next.
    request_is_next: AtomicBool,
    callback: F::Cell,
    of: PhantomData<fn(S, G) -> Form>,
}

impl<S, G, Form, F> AsyncServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: AsyncServiceCallback<S, S::Request, G, Form>,
{
    /// Begins to answer the oldest request, if one waits.
    fn take_request(&self, token: &mut GroupToken) -> Option<TaskOutcome> {
        let (request, next) = self.core.requests.take_for(&self.core, token)?;
        let next = earlier(next, self.tasks.queue.next_for(token));
        Some(TaskOutcome { result: self.begin(request, token), next, called: true })
    }

    /// Polls the future that was woken first, if any was woken.
    fn go_on(&self, token: &mut GroupToken) -> Option<TaskOutcome> {
        let (woken, next) = self.tasks.queue.take(token);
        let woken = woken?;
        self.request_is_next.store(true, Ordering::Relaxed);
        let next = earlier(self.core.requests.next_for(&self.core, token), next);
        let result = woken.run(token);
        Some(TaskOutcome { called: result.is_some(), result: result.unwrap_or(Ok(())), next })
    }

    /// Makes a future for a request, and polls it for the first time.
    fn begin(&self, request: QueuedRequest, token: &mut GroupToken) -> CallbackResult {
        received(&self.core, &request);
        let QueuedRequest { message, publication, reply_to } = request;
        let _chain = ChainScope::enter(Some(publication.lineage));
        let about = || info(publication, &self.core);
        let mut reply_token = ReplyToken::new(reply_to, &self.core);
        let request: Unique<S::Request> = Unique::assume(message);
        let future = reply_token.guard(|| F::call(&self.callback, token, request, &about));
        self.tasks.begin(future, reply_token, publication.lineage)
    }
}

impl<S, G, Form, F> Run for AsyncServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: AsyncServiceCallback<S, S::Request, G, Form>,
{
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        // Futures and requests take turns, so that neither keeps the other waiting. Relaxed: the
        // turn is a hint, and the queues have their locks.
        if self.request_is_next.swap(false, Ordering::Relaxed)
            && let Some(outcome) = self.take_request(token)
        {
            return outcome;
        }
        let outcome = self.go_on(token).or_else(|| self.take_request(token));
        outcome.unwrap_or(TaskOutcome::NOTHING)
    }

    fn pending(&self) -> Option<Stamp> {
        earlier(self.core.requests.pending(&self.core), self.tasks.queue.pending())
    }

    fn clear_ready(&self) -> bool {
        self.tasks.queue.clear_ready_with(true, |woken| self.core.requests.clear_ready(&self.core, woken))
    }
}

impl<S, G, Form, F> GroupMember for AsyncServerTask<S, G, Form, F>
where
    S: Service,
    G: CallbackGroup,
    F: AsyncServiceCallback<S, S::Request, G, Form>,
{
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        let woken = self.tasks.queue.attach(task_ref.clone());
        woken.or(self.core.requests.attach(&self.core, task_ref))
    }

    fn attached(&self) {
        self.core.requests.retune();
    }
}

fn earlier(one: Option<Stamp>, other: Option<Stamp>) -> Option<Stamp> {
    one.into_iter().chain(other).min()
}
