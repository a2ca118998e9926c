//! Clients.

use super::call::{self, PendingCall};
use super::client_core::{ClientCore, RequestId, error_of, result_of};
use super::erased::client as erased;
use super::introspection::service_events::ServiceIntrospection;
use super::node::NodeCore;
use super::service_callback::ResultCallback;
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group::{CallbackGroup, Group, GroupMember};
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch::{NoteIndex, Part};
use crate::executor::task::{Run, Task, TaskBase, TaskOutcome};
use crate::executor::wait_set::{self, Waitable};
use crate::mailbox::waiters::OnNews;
use crate::message::block::Pool;
use crate::message::info::ChainScope;
use crate::message::into_message::{IntoUnique, erase};
use crate::message::{Gid, Unique};
use crate::parameters::clients::ClientId;
use crate::remote::shm::transport::ShmTransport;
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::error::CallError;
use crate::service::pending_calls::{self, CallWaiter, OnAnswer, OnOutcome, PendingCalls};
use crate::service::reply::CallResult;
use crate::service::statistics::ClientStatistics;
use crate::service::types::ServiceTypes;
use crate::sys::clock::Stamp;
use crate::sys::sync::{Arc, AtomicBool, next_serial};
use sinew_msg::Service;
use sinew_shm::Callback;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// Maximum number of blocks for requests in a client's pool.
const POOL_CAPACITY: usize = 64;

/// Default limit of calls with responses that were not taken by hand.
const MAX_RESPONSES: usize = 1000;

/// A handle for calling a service.
///
/// Made by [`Node::client`](crate::Node::client), or by a group: then callbacks for results run in
/// that group, and may take its `State`. Clones are the same client; it exists until the last one,
/// and its last [`PendingCall`], is dropped. It may be used from any thread; calls of one client
/// reach the server in their order.
///
/// An accepted request is not lost: it is answered, or the call fails with a reason. While there is
/// no server, the request waits for one. There are five ways to get the response:
///
/// | | waits | in an executor's callback |
/// |---|---|---|
/// | [`call`](Self::call) | this thread, up to a timeout | may run the server itself meanwhile |
/// | [`call_async`](Self::call_async) | a future, in any runtime | for asynchronous servers |
/// | [`call_then`](Self::call_then) | no thread: a callback | always good |
/// | [`call_then_immediately`](Self::call_then_immediately) | no thread: a callback that runs at once | for bridges |
/// | [`send`](Self::send) | no thread: the program [takes](Self::take_response) it | for event loops, bindings |
///
/// ```
/// use sinew::prelude::*;
/// # struct Number(u64); impl Message for Number {}
/// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
/// let context = Context::new()?;
/// let node = context.node("doubler")?;
/// let _server = node.server::<Double>("double").callback(|n: &Number| Number(2 * n.0))?;
///
/// let client = context.node("asker")?.client::<Double>("double").create()?;
/// let executor = Executor::single();
/// executor.add(&context)?;
/// let stop = executor.stop_handle();
/// let doubled = std::thread::scope(|scope| {
///     scope.spawn(move || executor.spin());
///     let doubled = client.call(Number(21), Duration::from_secs(10));
///     stop.stop();
///     doubled
/// })?;
/// assert_eq!(doubled.0, 42);
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "a client ends when its last handle is dropped, with `let _ = ..` at once: name the variable (`let _client = ..`), or `detach()` it"]
pub struct Client<S: Service, State = ()> {
    erased: erased::Client<State>,
    of: PhantomData<fn(S)>,
}

impl<S: Service, State: Send + 'static> Client<S, State> {
    /// Returns a request from the client's pool, to be filled and sent: it holds the content of an
    /// earlier request, with all its capacity, or `Request::default()`. As
    /// [`Publisher::loan`](crate::Publisher::loan).
    pub fn loan(&self) -> Unique<S::Request>
    where
        S::Request: Default,
    {
        Unique::assume(self.core().pool.loan::<S::Request>())
    }

    /// Calls the service and waits for the response, at most for `timeout` (of real time, also in
    /// virtual time).
    ///
    /// In a callback, and while an executor is spun, this thread helps: if the server belongs to
    /// the executor that runs the callback, or to one that has a thread at rest, and its group is
    /// free, the server's waiting requests run here, oldest first, inside this call. So a chain of
    /// calls needs one thread. Calls can be nested 64 deep. Once warm, nothing is allocated.
    ///
    /// # Errors
    /// [`CallError`], which contains the request if no server took it. A wait that could never end
    /// fails at once with
    /// [`CallFailure::WouldDeadlock`](crate::service::failure::CallFailure::WouldDeadlock).
    pub fn call(
        &self,
        request: impl IntoUnique<S::Request>,
        timeout: Duration,
    ) -> Result<Unique<S::Response>, CallError<S::Request>> {
        let request = erase(request, &self.core().pool);
        match call::wait_for(self.core(), request, timeout) {
            Ok(response) => Ok(Unique::assume(response)),
            Err(fault) => Err(error_of::<S>(self.name(), fault)),
        }
    }

    /// Calls the service and returns a future that yields the response; it can be polled in any
    /// runtime, by [`Executor::spin_until`](crate::Executor::spin_until), and dropped, which
    /// abandons the call. The request is sent now, not when the future is polled. Never blocks.
    pub fn call_async(&self, request: impl IntoUnique<S::Request>) -> PendingCall<S> {
        let request = erase(request, &self.core().pool);
        match self.core().send(request, CallWaiter::Caller(None), false) {
            Ok((id, _)) => PendingCall::new(self.core(), id),
            Err(fault) => PendingCall::refused(error_of::<S>(self.name(), fault)),
        }
    }

    /// Calls the service. The executor of the client's group runs `callback` with the result, once;
    /// an error that the callback returns is reported as for any callback. It takes the result, a
    /// [`CallResult<S>`], or the state `&mut State` of the client's group and the result. Dropping
    /// the client drops its callbacks. Never blocks; allocates room for the callback's captures.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::service::CallResult;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let context = Context::new()?;
    /// let node = context.node("doubler")?;
    /// let _server = node.server::<Double>("double").callback(|n: &Number| Number(2 * n.0))?;
    ///
    /// let sum = context.node("asker")?.group(0_u64);
    /// let client = sum.client::<Double>("double").create()?;
    /// for n in [20, 1] {
    ///     client.call_then(Number(n), |sum: &mut u64, doubled: CallResult<Double>| {
    ///         doubled.map(|doubled| *sum += doubled.0)
    ///     })?;
    /// }
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// assert_eq!(executor.spin_all(Duration::from_secs(10))?, 2 + 2); // the server twice, then the callbacks
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CallError`]: the request was not accepted, and the callback won't run.
    pub fn call_then<Form, F>(
        &self,
        request: impl IntoUnique<S::Request>,
        callback: F,
    ) -> Result<(), CallError<S::Request>>
    where
        F: ResultCallback<CallResult<S>, State, Form>,
    {
        let callback = callback.with(&self.erased.state);
        let then: OnOutcome = Box::new(move |token, outcome| callback(token, result_of::<S>(outcome)));
        self.send_for(request, CallWaiter::Callback(then)).map(drop)
    }

    /// Calls the service. `callback` runs with the result, once, on the thread that answers (for
    /// servers of other processes, on the thread that receives), under no lock and in no executor.
    /// For bridges, which pass answers on: no executor has to wake up.
    ///
    /// The callback should be quick: the thread that ends the call, usually the server's, waits for
    /// it. It may run before this returns. It may publish and call; a panic in it is reported.
    /// Dropping the client drops its callbacks. Never blocks; allocates room for the callback's
    /// captures.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let context = Context::new()?;
    /// let node = context.node("bridge")?;
    /// let _server = node.server::<Double>("double").callback(|n: &Number| Number(2 * n.0))?;
    /// let client = node.client::<Double>("double").create()?;
    /// let (pass_on, passed_on) = std::sync::mpsc::channel();
    /// client.call_then_immediately(Number(21), move |result| {
    ///     drop(pass_on.send(result.map(|doubled| doubled.0)));
    /// })?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// executor.spin_some()?;
    /// assert_eq!(passed_on.try_recv().unwrap()?, 42);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CallError`]: the request was not accepted, and the callback won't run.
    pub fn call_then_immediately(
        &self,
        request: impl IntoUnique<S::Request>,
        callback: impl FnOnce(CallResult<S>) + Send + 'static,
    ) -> Result<RequestId, CallError<S::Request>> {
        self.core().calls.listen();
        let listener: OnAnswer = Box::new(move |outcome| callback(result_of::<S>(outcome)));
        self.send_for(request, CallWaiter::Listener(listener))
    }

    /// Takes back a request with an [immediate callback](Self::call_then_immediately), or one that
    /// was [sent](Self::send), if no server has taken it. Afterwards no server takes it, its
    /// callback is dropped, and there is no response to take. Returns `None` if a server has the
    /// request: then the callback has run, is running or will run. Never blocks.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
    /// let client = Context::new()?.node("asker")?.client::<Double>("double").create()?;
    /// let id = client.call_then_immediately(Number(21), |_| unreachable!("there is no server"))?;
    /// assert_eq!(client.withdraw(id).unwrap().0, 21);
    /// assert!(client.withdraw(id).is_none());
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn withdraw(&self, id: RequestId) -> Option<Unique<S::Request>> {
        self.core().withdraw(id).map(Unique::assume)
    }

    /// Returns the same client without its group's state, for code that takes clients of any group.
    /// Callbacks still run in that group.
    pub fn without_state(&self) -> Client<S> {
        Client { erased: self.erased.without_state(), of: PhantomData }
    }

    /// Returns the client without its types.
    pub fn erased(&self) -> &erased::Client<State> {
        &self.erased
    }

    /// The part that all handles share.
    #[inline]
    pub(super) fn core(&self) -> &Arc<ClientCore> {
        &self.erased.inner
    }

    fn send_for(
        &self,
        request: impl IntoUnique<S::Request>,
        waiter: CallWaiter,
    ) -> Result<RequestId, CallError<S::Request>> {
        let request = erase(request, &self.core().pool);
        match self.core().send(request, waiter, false) {
            Ok((id, _)) => Ok(RequestId(id)),
            Err(fault) => Err(error_of::<S>(self.name(), fault)),
        }
    }

    /// Closes the client, also for its clones: callbacks of its calls are dropped, calls for which a
    /// thread or a future waits fail with [`CallFailure::Closed`](crate::error::CallFailure::Closed),
    /// and so do later ones. Waits for a callback that runs on another thread; not for immediate
    /// ones, nor in the callback itself. Dropping the last handle waits for nothing.
    pub fn close(self) {
        self.erased.close();
    }

    /// Keeps it until the context ends, so that the callbacks of [its calls](Self::call_then) run;
    /// as [`Timer::detach`](crate::Timer::detach).
    pub fn detach(self) {
        self.erased.detach();
    }

    /// Returns `true` if there is a server of these types.
    pub fn is_server_ready(&self) -> bool {
        self.erased.is_server_ready()
    }

    /// Waits until there is a server of these types, at most for `timeout` (of real time, also in
    /// virtual time), or until the context is shut down; returns whether there is one. Not for
    /// callbacks: the thread does nothing else meanwhile.
    pub fn wait_for_server(&self, timeout: Duration) -> bool {
        self.erased.wait_for_server(timeout)
    }

    /// Returns the service's full name, after remapping.
    pub fn name(&self) -> &str {
        self.erased.name()
    }

    /// Returns its identity, as in
    /// [`RequestInfo::client`](crate::service::info::RequestInfo::client).
    pub fn gid(&self) -> Gid {
        self.erased.gid()
    }

    /// Publishes events of its requests and responses on the hidden topic
    /// `<service>/_service_event`: without content ([`ServiceIntrospection::Metadata`]), with
    /// content ([`ServiceIntrospection::Contents`]), or none ([`ServiceIntrospection::Off`], the
    /// initial state, which costs nothing). The messages have the type that ROS 2 derives from the
    /// service's, `package/srv/Name_Event`, as `ros2 service echo` and `sinew topic echo` read
    /// them. ROS 2: `configure_introspection`, with the system's default QoS.
    ///
    /// A request counts as sent just before it is sent, even if it is then refused. A response
    /// counts as received when it arrives, whether or not the program takes it. Stamps are of ROS
    /// time.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::introspection::ServiceIntrospection;
    /// use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsEvent, AddTwoIntsRequest};
    /// # use sinew_interfaces::example_interfaces::srv::AddTwoIntsResponse;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let node = context.node("adder")?;
    /// # let add = |request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b };
    /// let _server = node.server::<AddTwoInts>("add").immediate_callback(add)?;
    /// let client = node.client::<AddTwoInts>("add").create()?;
    /// client.configure_introspection(ServiceIntrospection::Contents, QoS::default())?;
    /// let events = node.subscription::<AddTwoIntsEvent>("add/_service_event").create()?;
    /// client.call(AddTwoIntsRequest { a: 40, b: 2 }, Duration::from_secs(1))?;
    /// let (sent, _) = events.take().unwrap();
    /// assert_eq!((sent.info.sequence_number, sent.request[0].a), (1, 40));
    /// let (received, _) = events.take().unwrap();
    /// assert_eq!((received.info.sequence_number, received.response[0].sum), (1, 42));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CreateError`]: the service has no ROS 2 type, or one that can't be described; the QoS is
    /// invalid; or the context is shut down.
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        self.erased.configure_introspection(state, qos)
    }

    /// Returns its counters.
    pub fn statistics(&self) -> ClientStatistics {
        self.erased.statistics()
    }
}

impl<S: Service> Client<S> {
    #[cfg(all(test, loom))]
    pub(crate) fn calls(&self) -> &Arc<PendingCalls> {
        &self.core().calls
    }
}

impl<S: Service, State> Clone for Client<S, State> {
    fn clone(&self) -> Self {
        Self { erased: self.erased.clone(), of: PhantomData }
    }
}

impl<S: Service, State> fmt::Debug for Client<S, State> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f)
    }
}

impl<S: Service, State> wait_set::sealed::Sealed for Client<S, State> {}

impl<S: Service, State> Waitable for Client<S, State> {
    fn subject(&self) -> usize {
        self.erased.subject()
    }
}

/// Makes a [`Client`]; from [`Node::client`](crate::Node::client).
#[must_use = "nothing can be called before `create`"]
pub struct ClientBuilder<S, G = Group> {
    node: Arc<NodeCore>,
    name: String,
    group: G,
    spin_before_park: Duration,
    max_responses: usize,
    listener: Option<OnNews>,
    types: ServiceTypes,
    of: PhantomData<fn(S)>,
}

impl<S: Service, G: CallbackGroup> ClientBuilder<S, G> {
    pub(crate) fn new(group: &G, name: &str) -> Self {
        Self::of_types(group, name, ServiceTypes::of::<S>())
    }

    /// Makes the client. There needn't be a server yet.
    ///
    /// # Errors
    /// [`CreateError`]: the name is invalid, or the context is shut down.
    pub fn create(self) -> Result<Client<S, G::State>, CreateError> {
        Ok(Client { erased: self.create_erased()?, of: PhantomData })
    }
}

impl<S, G: CallbackGroup> ClientBuilder<S, G> {
    pub(super) fn of_types(group: &G, name: &str, types: ServiceTypes) -> Self {
        Self {
            node: NodeCore::of(group.core()),
            name: name.to_owned(),
            group: group.clone(),
            spin_before_park: Duration::ZERO,
            max_responses: MAX_RESPONSES,
            listener: None,
            types,
            of: PhantomData,
        }
    }

    /// Sets the time for which a thread in [`Client::call`] polls for the answer of a server in
    /// another process before it sleeps (default: not at all). As
    /// [`ExecutorBuilder::spin_before_park`](crate::executor::ExecutorBuilder::spin_before_park).
    pub fn spin_before_park(mut self, patience: Duration) -> Self {
        self.spin_before_park = patience;
        self
    }

    /// Sets the maximum number of calls [sent](Client::send) that have no answer yet, or an answer
    /// that was not taken (default: 1000). Further calls are refused with
    /// [`CallFailure::Untaken`](crate::error::CallFailure::Untaken); with 0, all calls.
    pub fn max_responses(mut self, responses: usize) -> Self {
        self.max_responses = responses;
        self
    }

    /// Makes the client, without its types. There needn't be a server yet.
    ///
    /// # Errors
    /// As `create`.
    pub fn create_erased(self) -> Result<erased::Client<G::State>, CreateError> {
        let (core, state) = (self.group.core().clone(), self.group.state());
        let name = self.node.place_service(&self.name)?;
        let context = &self.node.context;
        let calls = PendingCalls::new(
            &context.session,
            next_serial(),
            (self.node.full_name.clone(), self.node.origin),
            self.types,
            name.as_str().into(),
        );
        let requests = context.services.add_client(&calls);
        let make_known = |transport: &Arc<ShmTransport>| {
            let node = (&*self.node.full_name, self.node.origin);
            transport.make_client_known(node, &name, &calls)
        };
        if let Err(error) = context.transport().map_or(Ok(()), make_known) {
            context.services.remove_client(&calls);
            return Err(error);
        }
        // From now on, a node of this context that the client asks for parameters serves them.
        context.parameter_clients.came(ClientId::Own(calls.number), &name);
        requests.count_matched();
        let base = TaskBase::new(core.node.clone(), format!("client of service {}", calls.service))
            .subject(&calls)
            .callback(calls.key().map(Callback::Of))
            .uses(vec![Part::value(&calls, pending_calls::LINES)]);
        let membership = core.join(Task::new(base, ClientTask { calls: calls.clone() }));
        let pool = Pool::of_table(self.types.request, POOL_CAPACITY);
        let (note, node) = (NoteIndex::new(), self.node.clone());
        let (group, patience, max_responses) = (core, self.spin_before_park, self.max_responses);
        let is_closed = AtomicBool::new(false);
        let inner = ClientCore {
            calls,
            requests,
            pool,
            patience,
            max_responses,
            group,
            membership,
            note,
            node,
            is_closed,
        };
        if let Some(listener) = self.listener {
            inner.listen(listener);
        }
        Ok(erased::Client { inner: Arc::new(inner), state })
    }
}

impl<S, G: CallbackGroup<State = ()>> ClientBuilder<S, G> {
    /// Sets a listener that is called for each response that the program can
    /// [take](Client::take_response), or that waits for the callback of
    /// [`call_then`](Client::call_then): with 1, on the thread that answers, or, for servers of other
    /// processes, on the thread that receives. [`Client::set_listener`] replaces it, and says what
    /// it may do. A thread or future that waits for a response gets it without the listener.
    pub fn listener(mut self, listener: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }
}

/// A client as its executor sees it: results for callbacks.
struct ClientTask {
    calls: Arc<PendingCalls>,
}

impl Run for ClientTask {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let Some(delivery) = self.calls.take_completed(token) else { return TaskOutcome::NOTHING };
        let _chain = ChainScope::enter(Some(delivery.lineage));
        let outcome = delivery.outcome.map_err(|fault| (fault, &*self.calls.service));
        let result = (delivery.then)(token, outcome);
        TaskOutcome { result, next: delivery.next, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        self.calls.pending()
    }

    fn clear_ready(&self) -> bool {
        self.calls.clear_ready()
    }
}

impl GroupMember for ClientTask {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.calls.attach(task_ref)
    }

    fn attached(&self) {
        self.calls.retune();
    }
}
