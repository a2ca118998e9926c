//! Contexts: a process's presence in a domain.

use crate::event::status_thread::StatusThread;
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::crew::wait_graph::WaitGraph;
use crate::executor::membership::GroupRegistry;
use crate::executor::owner::{Close, Host};
use crate::executor::{AddError, Executable, Executor, sealed};
use crate::parameters::clients::ParameterClients;
use crate::parameters::options::USE_SIM_TIME;
use crate::remote::shm::local_endpoints::LocalEndpoints;
use crate::remote::shm::transport::ShmTransport;
use crate::ros::arguments::Arguments;
use crate::ros::failure::{ContextError, CreateError, SharedMemoryError};
use crate::ros::hints::{self, Hints};
use crate::service::registry::ServiceRegistry;
use crate::sys::clock::{Clock, ClockKind, Time, VirtualClock};
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::interrupt::{self, ShutDown, Signals};
use crate::sys::logging::{Level, OUTPUTS, later, log_line, set_levels};
use crate::sys::sync::{Arc, AtomicBool, Mutex};
use crate::topic::graph::Graph;
use crate::topic::nodes::NodeRegistry;
use crate::topic::session::Session;
use crate::topic::shutdown::ShutdownHandler;
use sinew_shm::transport::Participant;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::Weak;
use std::time::Duration;

/// The variable in which `sinew launch` names the options that it gives to several processes.
const SHARED_OPTIONS: &str = "SINEW_SHARED_OPTIONS";

/// A process's presence in a domain: the root of its nodes.
///
/// Clones are the same context; [`shutdown`](Self::shutdown) of one closes all. Nodes of one
/// context reach each other inside the process. Separate contexts meet in the shared memory of
/// their host, whether in one process or in two, if they have the same domain and
/// [directory](ContextBuilder::directory). Most programs have one.
///
/// Making one starts no thread (but see [`ContextBuilder::interrupts`]) and opens no file. Its
/// first node joins the domain, which does both, unless the context is
/// [without shared memory](ContextBuilder::shared_memory), as it is by default in virtual time. The
/// context leaves the domain when its last clone and everything made with it is dropped, or when
/// the process ends.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::builder().domain(7).build()?;
/// assert_eq!(context.domain(), 7);
/// context.shutdown();
/// assert!(context.node("late").is_err());
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct Context(Arc<ContextHandle>);

/// The part that all handles of a context and of its nodes hold. Detached entities go with the last
/// of them.
struct ContextHandle(Arc<ContextCore>);

impl Drop for ContextHandle {
    fn drop(&mut self) {
        self.0.session.end_detached();
    }
}

/// The state that everything in a context shares.
pub(crate) struct ContextCore {
    pub(crate) session: Arc<Session>,
    pub(crate) graph: Graph,
    pub(crate) domain: u32,
    pub(crate) arguments: Arguments,
    pub(crate) services: ServiceRegistry,
    pub(crate) nodes: NodeRegistry,
    pub(crate) groups: Arc<GroupRegistry>,
    pub(crate) parameter_clients: ParameterClients,
    pub(crate) hints: Hints,
    /// Whether ROS time shall follow `/clock`: the last value that was set. See `time::sim_time`.
    pub(crate) wants_sim_time: AtomicBool,
    /// Held by the thread that changes it.
    pub(crate) changing_sim_time: CoalescingLock<()>,
    /// The thread for statuses that the program takes, once an endpoint has such.
    status_thread: Mutex<Option<Arc<StatusThread>>>,
    /// Why it was shut down.
    shutdown_reason: OnceLock<String>,
    /// Its connection to the other processes of the host: made with the first node.
    neighbours: Neighbours,
}

impl Context {
    /// Makes a context for a library or a test: it reads the domain from the environment, and
    /// ignores the command line.
    ///
    /// # Errors
    /// [`ContextError::Domain`].
    pub fn new() -> Result<Self, ContextError> {
        Self::builder().build()
    }

    /// Makes a context for a program: it reads the process's command line
    /// (`--ros-args -r from:=to`, see [`Arguments`]), and Ctrl-C and SIGTERM shut it down. With
    /// `--ros-args --help` it prints the options that nodes understand ([`Arguments::HELP`]) and
    /// ends the process; a `--help` elsewhere is the program's own.
    ///
    /// # Errors
    /// [`ContextError`].
    pub fn from_args() -> Result<Self, ContextError> {
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let context = Self::builder().arguments(arguments).interrupts(true).build()?;
        if context.arguments().wants_help() {
            // An error is ignored: standard output may be closed, and then has no reader.
            let _ = std::io::stdout().write_all(Arguments::HELP.as_bytes());
            std::process::exit(0);
        }
        Ok(context)
    }

    /// Returns a builder for a context with other settings.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// Shuts the context down: nothing can be created, published or called any more, waiting
    /// publishers, calls and futures fail, and executors return from spinning once their running
    /// callback has. Messages accepted before stay in their histories.
    /// [Detached](crate::Timer::detach) entities are dropped.
    ///
    /// May be called from any thread and any callback, and repeatedly.
    pub fn shutdown(&self) {
        self.shutdown_because("it was shut down by the program");
    }

    /// As [`shutdown`](Self::shutdown), with a reason that
    /// [`shutdown_reason`](Self::shutdown_reason) returns.
    pub fn shutdown_because(&self, reason: &str) {
        self.shared().shutdown(reason);
        self.shared().session.end_detached();
    }

    /// Returns why the context was shut down first: the reason that the program gave, or the name of
    /// the signal; `None` while it isn't. ROS 2: `shutdown_reason`.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// assert_eq!(context.shutdown_reason(), None);
    /// context.shutdown_because("the battery is low");
    /// assert_eq!(context.shutdown_reason(), Some("the battery is low"));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn shutdown_reason(&self) -> Option<&str> {
        self.shared().shutdown_reason.get().map(String::as_str)
    }

    /// Calls `callback` once the context is shut down: by [`shutdown`](Self::shutdown) or by a
    /// signal, but not if its last handle is dropped instead. If it is shut down already, the
    /// callback runs now. ROS 2: `on_shutdown`.
    ///
    /// The callback runs on the thread that shuts the context down, after everything that waits in
    /// the context was woken, so it may wait for threads to end. For a signal that is a thread of
    /// the library; the second signal still ends the process. A panic is logged. Dropping the
    /// returned value removes the callback.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::builder().shared_memory(false).build()?;
    /// let (send, ended) = std::sync::mpsc::channel();
    /// let _handler = context.on_shutdown(move || send.send("ended").unwrap());
    /// context.shutdown();
    /// assert_eq!(ended.try_recv(), Ok("ended"));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn on_shutdown(&self, callback: impl FnOnce() + Send + 'static) -> ShutdownHandler {
        self.shared().session.on_shutdown(callback)
    }

    /// Calls `callback` before the context is shut down, on the same thread as
    /// [`on_shutdown`](Self::on_shutdown): everything still works then, so it may publish a last
    /// message. If the context is shut down already, the callback never runs. ROS 2:
    /// `add_pre_shutdown_callback`.
    pub fn on_pre_shutdown(&self, callback: impl FnOnce() + Send + 'static) -> ShutdownHandler {
        self.shared().session.on_pre_shutdown(callback)
    }

    /// Returns `true` after [`shutdown`](Self::shutdown).
    pub fn is_shutdown(&self) -> bool {
        self.shared().session.has_ended()
    }

    /// Returns its domain: contexts of different domains never see each other.
    pub fn domain(&self) -> u32 {
        self.shared().domain
    }

    /// Returns the directory that holds its domain's shared memory, if one was
    /// [chosen](ContextBuilder::directory) other than the usual one.
    pub fn directory(&self) -> Option<&Path> {
        self.shared().neighbours.base.as_deref()
    }

    /// Returns `true` if it meets the other processes of its host; see
    /// [`ContextBuilder::shared_memory`].
    pub fn has_shared_memory(&self) -> bool {
        self.shared().neighbours.wanted
    }

    /// Returns the command line that it was made with.
    pub fn arguments(&self) -> &Arguments {
        &self.shared().arguments
    }

    /// Sets ROS time, as a simulator or a replay does; `None` returns to the wall clock, and from
    /// then on ignores [`/clock`](Self::use_sim_time). [Timers](crate::Node::timer), rates and
    /// sleeps of [`ClockKind::Ros`](crate::time::ClockKind::Ros) follow it while it is set: those
    /// that are due run or end, and if time went back, no timer waits longer than a period.
    ///
    /// Handlers of jumps ([`on_time_jump`](Self::on_time_jump)) run on the calling thread.
    pub fn set_ros_time(&self, time: Option<Time>) {
        self.shared().session.set_ros_time(time, None);
    }

    /// Returns `true` while ROS time is set or simulated, and not the wall clock. ROS 2:
    /// `ros_time_is_active`.
    pub fn ros_time_is_active(&self) -> bool {
        self.shared().session.clock.is_ros_time_set()
    }

    /// Returns the current ROS time, for the stamps of messages; as
    /// [`Node::now`](crate::Node::now).
    pub fn now(&self) -> Time {
        self.now_by(ClockKind::Ros)
    }

    /// Returns the current time of the given clock.
    pub fn now_by(&self, kind: ClockKind) -> Time {
        self.shared().session.now(kind)
    }

    pub(crate) fn shared(&self) -> &Arc<ContextCore> {
        &self.0.0
    }
}

impl sealed::Sealed for Context {}

impl Executable for Context {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        executor.serve(&**self.shared(), &self.shared().groups, || "the context".to_owned())
    }

    fn remove_from(&self, executor: &Executor) -> bool {
        executor.release(&**self.shared(), &self.shared().groups)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("domain", &self.domain()).finish_non_exhaustive()
    }
}

impl Host for ContextCore {
    fn clock(&self) -> &Clock {
        &self.session.clock
    }

    fn wait_graph(&self) -> &WaitGraph {
        &self.session.wait_graph
    }

    fn has_ended(&self) -> bool {
        self.session.has_ended()
    }

    fn register_executor(&self, scheduler: &Arc<Scheduler>) -> bool {
        self.session.register_executor(scheduler)
    }

    fn release_executor(&self, scheduler: &Arc<Scheduler>) {
        self.session.forget_executor(scheduler, || self.groups.is_served_by(scheduler));
    }

    fn close_at_end(&self, what: Weak<dyn Close>, has_handle: bool) {
        self.session.close_at_end(what, has_handle);
    }

    fn end_detached(&self) {
        self.session.end_detached();
    }

    fn participant(&self) -> Option<&Arc<Participant>> {
        self.transport()?.participant()
    }
}

impl LocalEndpoints for ContextCore {
    fn session(&self) -> &Arc<Session> {
        &self.session
    }

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn services(&self) -> &ServiceRegistry {
        &self.services
    }

    fn parameter_clients(&self) -> &ParameterClients {
        &self.parameter_clients
    }

    fn hints(&self) -> &Hints {
        &self.hints
    }
}

impl ShutDown for ContextCore {
    fn shutdown(&self, reason: &str) {
        self.session.run_pre_shutdown_callbacks();
        let _ = self.shutdown_reason.set(reason.to_owned()); // the first one counts
        self.session.end();
        if let Some(thread) = &*self.status_thread.lock() {
            thread.end();
        }
        for core in self.graph.subscriptions() {
            core.end();
        }
        self.services.end();
        if let Some(participant) = self.transport().and_then(|transport| transport.participant()) {
            participant.wake_writers(); // publishers that wait for room in other processes
        }
        self.session.run_shutdown_callbacks();
    }
}

impl ContextCore {
    /// Returns this context's presence among the processes of the host, unless the context is to
    /// have none; the first call joins the domain.
    pub(crate) fn join(self: &Arc<Self>, name: &str) -> Result<Option<&Arc<ShmTransport>>, CreateError> {
        let Neighbours { wanted, base, transport, joining } = &self.neighbours;
        if !wanted {
            return Ok(None);
        }
        if let Some(transport) = transport.get() {
            return Ok(Some(transport));
        }
        later(|| {
            let _one_at_a_time = joining.lock();
            if transport.get().is_none() {
                let ends: Arc<dyn LocalEndpoints> = self.clone();
                let joined = ShmTransport::join(&ends, base.as_deref(), self.domain);
                let joined = joined.map_err(|source| CreateError::SharedMemory {
                    name: name.to_owned(),
                    source: Box::new(SharedMemoryError::join(source)),
                })?;
                let _ = transport.set(joined);
            }
            Ok(transport.get())
        })
    }

    /// Returns the thread that notices what is due for statuses that the program takes; the first
    /// call starts it. `None` if it can't be started, which is logged, or the context has ended.
    pub(crate) fn status_thread(&self) -> Option<Arc<StatusThread>> {
        later(|| {
            let mut thread = self.status_thread.lock();
            if thread.is_none() && !self.session.has_ended() {
                match StatusThread::start(&self.session.clock) {
                    Ok(started) => *thread = Some(started),
                    Err(error) => log_line!(
                        Level::Error,
                        "missed deadlines and expired leases are noticed by executors only: the thread `sinew-statuses` \
                         can't be started: {error} (see `ulimit -u`, and the memory that is left)"
                    ),
                }
            }
            thread.clone()
        })
    }

    /// Returns this context's presence among the processes of the host, if it has one by now.
    pub(crate) fn transport(&self) -> Option<&Arc<ShmTransport>> {
        self.neighbours.transport.get()
    }
}

/// A context's connection to the other processes of the host.
struct Neighbours {
    wanted: bool,
    /// The directory that holds the domains; `None` for the usual one.
    base: Option<PathBuf>,
    transport: OnceLock<Arc<ShmTransport>>,
    joining: Mutex<()>,
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        let thread = self.status_thread.lock().take();
        if let Some(thread) = thread {
            thread.end();
            thread.join();
        }
        if let Some(transport) = self.neighbours.transport.get() {
            transport.leave();
            self.session.each_executor(|scheduler| scheduler.remote_events.renew_bell());
        }
    }
}

/// Makes a [`Context`]; from [`Context::builder`].
#[derive(Default)]
pub struct ContextBuilder {
    /// Whether it meets other processes, if set.
    shared_memory: Option<bool>,
    base: Option<PathBuf>,
    arguments: Option<Vec<String>>,
    domain: Option<u32>,
    interrupts: bool,
    /// The signals for which it installs handlers then, if set; `None`: none.
    signals: Option<Option<Signals>>,
    clock: Option<VirtualClock>,
    /// Whether ROS time follows `/clock`, if set.
    sim_time: Option<bool>,
    /// The delay before it logs hints, if set.
    hints: Option<Duration>,
}

impl ContextBuilder {
    /// Sets the command line, starting with the program's name. Default: none. Its options about
    /// logging, except those about `/rosout`, apply to the whole process.
    #[must_use]
    pub fn arguments<I, A>(mut self, arguments: I) -> Self
    where
        I: IntoIterator<Item = A>,
        A: Into<String>,
    {
        self.arguments = Some(arguments.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the domain. Default: `SINEW_DOMAIN_ID`, else `ROS_DOMAIN_ID`, else 0.
    #[must_use]
    pub fn domain(mut self, domain: u32) -> Self {
        self.domain = Some(domain);
        self
    }

    /// Sets whether SIGINT (Ctrl-C) and SIGTERM shut the context down; a second signal ends the
    /// process. Default: no. The first context that wants it starts the one thread that waits for
    /// signals.
    #[must_use]
    pub fn interrupts(mut self, wanted: bool) -> Self {
        self.interrupts = wanted;
        self
    }

    /// Sets the signals for which a context with [`interrupts`](Self::interrupts) installs handlers,
    /// if there are none: those of the process shut down all such contexts. Default: all. With
    /// `None` it installs none: [`signal::install`](crate::signal::install) does.
    #[must_use]
    pub fn signals(mut self, signals: Option<Signals>) -> Self {
        self.signals = Some(signals);
        self
    }

    /// Sets whether its nodes reach those of other processes on the host, through the shared memory
    /// of the domain's directory. Without it, the context opens no file and starts no thread.
    /// Default: yes, except for contexts in [virtual time](Self::virtual_time) without a given
    /// [directory](Self::directory).
    #[must_use]
    pub fn shared_memory(mut self, wanted: bool) -> Self {
        self.shared_memory = Some(wanted);
        self
    }

    /// Sets the directory in which each domain has its own. Default: `$SINEW_DIR`, else
    /// `/dev/shm/sinew-<uid>`. Contexts with different directories never meet.
    #[must_use]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.base = Some(path.into());
        self
    }

    /// Puts the context into virtual time. It then meets no other context unless
    /// [`shared_memory`](Self::shared_memory) or [`directory`](Self::directory) asks for it:
    /// stamps, lifespans and deadlines would mean nothing to contexts with another clock. If it
    /// does, all contexts that meet there should use this clock.
    #[must_use]
    pub fn virtual_time(mut self, clock: &VirtualClock) -> Self {
        self.clock = Some(clock.clone());
        self
    }

    /// Sets whether ROS time follows `/clock` from the beginning, see [`Context::use_sim_time`];
    /// the command line is then ignored. Default: whether the command line says
    /// `-p use_sim_time:=true`, for any node.
    #[must_use]
    pub fn use_sim_time(mut self, wanted: bool) -> Self {
        self.sim_time = Some(wanted);
        self
    }

    /// Sets the delay after which its nodes log hints about missing endpoints and unused options;
    /// `Duration::MAX`: never. Default: 5 s, or never with `--disable-hint-logs`. Each hint is
    /// logged once:
    ///
    /// - A subscription has had no publisher, or a client no server (as information).
    /// - An option of the command line has matched nothing: a remap rule, a parameter, a block of a
    ///   parameter file, a log level (as a warning; as information if it may well be meant for
    ///   other processes). This is logged this long after an executor has begun to serve the
    ///   context, or six times as long after its first node if none does; `sinew doctor` shows the
    ///   warnings as well.
    /// - Two nodes have one name (as a warning).
    ///
    /// Each line lists existing names that may have been meant. The thread that watches the other
    /// processes checks, to within two seconds; a context [without shared
    /// memory](Self::shared_memory) logs no hints.
    /// [`NodeBuilder::hints`](crate::parameters::NodeBuilder::hints) turns them off for single
    /// nodes.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use std::time::Duration;
    /// let context = Context::builder().hints_after(Duration::from_secs(30)).build()?;
    /// # Ok::<(), sinew::Error>(())
    /// ```
    #[must_use]
    pub fn hints_after(mut self, patience: Duration) -> Self {
        self.hints = Some(patience);
        self
    }

    /// Makes the context. One that [uses simulated time](Self::use_sim_time) joins its domain at
    /// once, to follow `/clock`.
    ///
    /// # Errors
    /// [`ContextError`].
    pub fn build(self) -> Result<Context, ContextError> {
        let mut arguments = match self.arguments {
            Some(line) => {
                let mut arguments = Arguments::parse(line)?;
                if let Ok(options) = std::env::var(SHARED_OPTIONS) {
                    arguments.are_shared(&options);
                }
                set_levels(arguments.log_levels());
                *OUTPUTS.lock() = arguments.outputs().clone();
                arguments
            }
            None => Arguments::default(),
        };
        let domain = match self.domain {
            Some(domain) => domain,
            None => domain_from_environment()?,
        };
        let meets_others = self.shared_memory.unwrap_or(self.clock.is_none() || self.base.is_some());
        let sim_time = match self.sim_time {
            Some(wanted) => {
                arguments.forget_parameter(USE_SIM_TIME);
                wanted
            }
            None => arguments.is_parameter_true(USE_SIM_TIME),
        };
        let hints = match self.hints {
            Some(patience) => (patience < Duration::MAX).then_some(patience),
            None => arguments.hint_logs().then_some(hints::PATIENCE),
        };
        let session = Session::new(self.clock);
        let shared = Arc::new(ContextCore {
            graph: Graph::new(&session),
            services: ServiceRegistry::new(&session),
            nodes: NodeRegistry::new(&session),
            session,
            domain,
            arguments,
            groups: Arc::default(),
            parameter_clients: ParameterClients::default(),
            hints: Hints::new(hints),
            wants_sim_time: AtomicBool::new(false),
            changing_sim_time: CoalescingLock::new(()),
            status_thread: Mutex::default(),
            shutdown_reason: OnceLock::new(),
            neighbours: Neighbours {
                wanted: meets_others && cfg!(not(loom)),
                base: self.base,
                transport: OnceLock::new(),
                joining: Mutex::new(()),
            },
        });
        if self.interrupts {
            let ends: Arc<dyn ShutDown> = shared.clone();
            let signals = self.signals.unwrap_or(Some(Signals::All));
            interrupt::shut_down_on_signal(Arc::downgrade(&ends), signals)
                .map_err(ContextError::Interrupts)?;
        }
        let context = Context(Arc::new(ContextHandle(shared)));
        if sim_time {
            context.use_sim_time(true).map_err(|error| ContextError::SimTime(Box::new(error)))?;
        }
        Ok(context)
    }
}

fn domain_from_environment() -> Result<u32, ContextError> {
    for variable in ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID"] {
        if let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
            let value = value.to_string_lossy();
            return value
                .trim()
                .parse()
                .map_err(|_| ContextError::Domain { variable, value: value.into_owned() });
        }
    }
    Ok(0)
}
