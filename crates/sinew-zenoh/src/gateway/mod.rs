//! The gateway.
//!
//! | file | what |
//! |---|---|
//! | `worker` | the gateway's thread: keeps track of endpoints, and connects both sides |
//! | `observer` | watches the domain and the network, and reports each change to that thread |
//! | `leader` | selects the leading one of a domain's gateways |
//! | `route` | a topic: its endpoints on both sides |
//! | `outgoing` | local publishers' messages, to the network |
//! | `turns` | the order of topics when the link can't take everything |
//! | `incoming` | remote publishers' messages, to this host |
//! | `descriptions` | descriptions, for tools, of types that only the network has |
//! | `services` | servers and clients of both sides |
//! | `callers` | threads that make calls beside the gateway's thread |
//! | `sessions` | the sessions of the network, their reachability and their clocks |
//! | `reports` | the counters of all this, where tools read them |
//!
//! Messages don't pass through the gateway's thread. The thread that publishes a message, or
//! received it from another process, puts it into the session, or leaves it to the thread that
//! waits for a slow link. The session's threads publish incoming messages.

mod callers;
mod descriptions;
#[cfg(test)]
mod held_up;
mod history;
mod incoming;
mod leader;
mod observer;
mod outgoing;
mod reports;
mod route;
mod services;
mod sessions;
mod turns;
mod worker;

use crate::config::{ConfigError, Environment, RouterCheck, SessionOptions, process_environment};
use crate::rules::{RuleError, RuleOptions, Rules};
use callers::Callers;
use leader::Claim;
use log::Level;
use observer::Change;
use outgoing::Congestion;
use sinew::__private::locks::{Condvar, Mutex};
use sinew::Context;
use sinew::time::{ClockKind, Time};
use sinew_shm::{Domain, DomainError, JoinError};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use zenoh::{Config, Session, Wait};

/// How often a waiting gateway checks whether the leader is gone.
const LEADER_PERIOD: Duration = Duration::from_millis(200);

/// The reason why a gateway doesn't run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Its configuration is unusable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The context has no shared memory.
    #[error(
        "a gateway finds by shared memory what there is, and this context is without: leave out shared_memory(false)"
    )]
    NoSharedMemory,
    /// The domain number is outside ROS 2's range.
    #[error("domain {domain} can't be on the network: ROS 2's are 0 to {LAST_DOMAIN}")]
    Domain {
        /// The context's domain.
        domain: u32,
    },
    /// The domain's directory is unusable.
    #[error(transparent)]
    Place(#[from] DomainError),
    /// The domain can't be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The file that decides which gateway leads can't be locked.
    #[error("{path}, which says which gateway of the domain leads, can't be locked: {source}")]
    Lock {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The session could not be opened.
    #[error("the session with the network could not be opened: {reason}")]
    Session {
        /// Zenoh's reason.
        reason: String,
    },
    /// A rule is invalid.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A thread could not be started.
    #[error("a thread of the gateway could not be started: {0}")]
    Thread(std::io::Error),
}

/// The greatest domain: ROS 2 with DDS allows no greater one on any platform.
const LAST_DOMAIN: u32 = 232;

/// Counters of a topic's messages between the domain and the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RouteStatistics {
    /// Messages that went to the network.
    pub sent: u64,
    /// Bytes of their encoded forms.
    pub sent_bytes: u64,
    /// Messages that didn't go to the network: newer ones displaced them, or the session refused
    /// them.
    pub unsent: u64,
    /// Messages that waited for the link for more than a second.
    pub late: u64,
    /// Messages that were dropped because of a [rate limit](crate::rules).
    pub limited: u64,
    /// Messages of the network that were published here.
    pub received: u64,
    /// Bytes of their encoded forms.
    pub received_bytes: u64,
    /// Messages that remote publishers published and that didn't arrive.
    pub missed: u64,
    /// Messages that arrived and could not be published here.
    pub refused: u64,
}

/// The current state of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GatewayStatistics {
    /// Whether this gateway leads in its domain. The others do nothing.
    pub leads: bool,
    /// Its session's id.
    pub session: String,
    /// Nodes and endpoints of this host that the network knows.
    pub local: usize,
    /// Nodes and endpoints of the network that this host knows.
    pub remote: usize,
    /// Per topic: its name, its type, and its counters.
    pub topics: Vec<(String, String, RouteStatistics)>,
    /// Per service: its name, its type, and the numbers of calls that were forwarded, answered and
    /// failed.
    pub services: Vec<(String, String, [u64; 3])>,
    /// Tokens of the network that were invalid.
    pub garbage: u64,
}

/// Notifies waiting threads that the gateway leads.
#[derive(Default)]
struct Leads {
    leads: Mutex<bool>,
    changed: Condvar,
}

impl Leads {
    fn set(&self, leads: bool) {
        *self.leads.lock() = leads;
        self.changed.notify_all();
    }
}

/// Connects a domain's endpoints with the network, in both directions, until it is dropped.
///
/// If there is another gateway in the domain, this one waits until that one is gone, and then takes
/// over.
#[must_use = "a gateway ends when it is dropped"]
pub struct Gateway {
    changes: Sender<Change>,
    leads: Arc<Leads>,
    /// The last statistics that were requested.
    told: Mutex<GatewayStatistics>,
    thread: Option<JoinHandle<()>>,
}

impl Gateway {
    /// Returns a builder with the defaults of rmw_zenoh and of the environment; see
    /// [`config`](crate::config).
    pub fn builder() -> GatewayBuilder {
        let (options, rules) = (SessionOptions::default(), RuleOptions::default());
        GatewayBuilder { options, rules, strict_qos: false }
    }

    /// Returns the gateway's current state. Waits for the gateway's thread to report it. On that
    /// thread itself, which runs listeners of this program, it returns the previous report.
    pub fn statistics(&self) -> GatewayStatistics {
        if self.is_own_thread() {
            return self.told.lock().clone();
        }
        let (to, statistics) = mpsc::channel();
        // A gateway that has stopped reports nothing.
        let _ = self.changes.send(Change::Statistics(to));
        let statistics = statistics.recv().unwrap_or_default();
        self.told.lock().clone_from(&statistics);
        statistics
    }

    fn is_own_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|own| own.thread().id() == std::thread::current().id())
    }

    /// Blocks until the gateway leads in its domain, for at most `timeout`. Returns `true` if it
    /// does.
    pub fn wait_until_it_leads(&self, timeout: Duration) -> bool {
        let end = Time::steady() + timeout;
        let mut leads = self.leads.leads.lock();
        while !*leads {
            let left = end - Time::steady();
            if left.is_zero() {
                return false;
            }
            self.leads.changed.wait_for(&mut leads, left);
        }
        true
    }

    /// Closes the gateway, as dropping it does. Blocks until the network has been notified, or for
    /// a second if the link is slow; on the gateway's own thread, as in a listener, it doesn't
    /// wait.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.changes.send(Change::Stop); // on failure, it has stopped already
        // If a listener on the gateway's own thread closes it, the thread ends afterwards.
        let is_own = self.is_own_thread();
        if let Some(thread) = self.thread.take().filter(|_| !is_own) {
            let _ = thread.join(); // the thread has reported any error
        }
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("leads", &*self.leads.leads.lock()).finish_non_exhaustive()
    }
}

/// Makes a [`Gateway`].
#[derive(Debug, Clone)]
#[must_use = "nothing is brought over before `start`"]
pub struct GatewayBuilder {
    options: SessionOptions,
    rules: RuleOptions,
    strict_qos: bool,
}

impl GatewayBuilder {
    /// Connects to that endpoint (`tcp/HOST:7447`), instead of this host's router. May be called
    /// repeatedly.
    pub fn connect(mut self, endpoint: impl Into<String>) -> Self {
        self.options.connect.push(endpoint.into());
        self
    }

    /// Listens on that endpoint, instead of on a port that only this host reaches. May be called
    /// repeatedly.
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        self.options.listen.push(endpoint.into());
        self
    }

    /// Sets which names may pass, under which names on the network, and how often; see
    /// [`rules`](crate::rules). The default passes everything unchanged.
    pub fn rules(mut self, rules: RuleOptions) -> Self {
        self.rules = rules;
        self
    }

    /// Sets whether local and remote endpoints must have compatible QoS also if the other program
    /// isn't Sinew's. By default they match as in rmw_zenoh, which ignores QoS: a best-effort
    /// publisher here reaches a reliable subscription of ROS 2, and the log reports once which
    /// promise doesn't hold. Endpoints of two Sinew hosts are always matched strictly.
    pub fn strict_qos(mut self, is_strict: bool) -> Self {
        self.strict_qos = is_strict;
        self
    }

    /// Sets all options at once.
    pub fn options(mut self, options: SessionOptions) -> Self {
        self.options = options;
        self
    }

    /// Starts the gateway for the context's domain: for the context's nodes and those of all other
    /// programs in the domain. Publishers of this context put their messages into the network's
    /// session on their own threads, except for large messages, for which they would have to wait
    /// on a slow link.
    ///
    /// Starts a thread, which opens the session. A missing router is not an error: the session
    /// keeps looking for one.
    ///
    /// # Errors
    /// [`GatewayError`]
    pub fn start(self, context: &Context) -> Result<Gateway, GatewayError> {
        self.start_with(context, &process_environment)
    }

    /// Starts the gateway with another environment than the process's.
    ///
    /// # Errors
    /// [`GatewayError`]
    pub fn start_with(
        self,
        context: &Context,
        environment: Environment<'_>,
    ) -> Result<Gateway, GatewayError> {
        let mut config = crate::config::session(environment, &self.options)?;
        crate::config::mark(&mut config)?;
        let check = crate::config::router_check(environment)?;
        let rules = Rules::new(&self.rules)?;
        let domain = context.domain();
        if domain > LAST_DOMAIN {
            return Err(GatewayError::Domain { domain });
        }
        if !context.has_shared_memory() {
            return Err(GatewayError::NoSharedMemory);
        }
        let place = Domain::open(context.directory(), domain)?;
        let claim = Claim::new(&place)?;
        let (changes, told) = mpsc::channel();
        let leads = Arc::<Leads>::default();
        let start = Start {
            context: context.clone(),
            place,
            config,
            rules,
            strict_qos: self.strict_qos,
            check: if self.options.connect.is_empty() { check } else { RouterCheck::Skip },
            changes: changes.clone(),
            leads: leads.clone(),
        };
        // If this gateway leads at once, problems with the session are reported at once.
        let first = if claim.leads()? { Some(start.open()?) } else { None };
        let thread = std::thread::Builder::new()
            .name("sinew-gateway".to_owned())
            .spawn(move || start.run(&claim, first, &told))
            .map_err(GatewayError::Thread)?;
        Ok(Gateway { changes, leads, told: Mutex::default(), thread: Some(thread) })
    }
}

/// Everything that a gateway needs to lead.
struct Start {
    context: Context,
    place: Domain,
    config: Config,
    rules: Rules,
    strict_qos: bool,
    check: RouterCheck,
    changes: Sender<Change>,
    leads: Arc<Leads>,
}

impl Start {
    fn open(&self) -> Result<Session, GatewayError> {
        let session = zenoh::open(self.config.clone()).wait();
        session.map_err(|error| GatewayError::Session { reason: crate::config::reason(&error) })
    }

    /// Runs the gateway's thread.
    fn run(self, claim: &Claim, first: Option<Session>, told: &Receiver<Change>) {
        let session = match first {
            Some(session) => session,
            None => match self.wait(claim, told) {
                Some(session) => session,
                None => return,
            },
        };
        let (congestion, left) = Congestion::new();
        let shared = Arc::new(Shared {
            context: self.context.clone(),
            session,
            congestion,
            place: self.place.clone(),
            rules: self.rules.clone(),
            strict_qos: self.strict_qos,
            changes: self.changes.clone(),
            said: Mutex::default(),
            callers: Callers::default(),
            askers: Callers::default(),
        });
        let sending = Arc::downgrade(&shared);
        let sender = std::thread::Builder::new()
            .name("sinew-gw-send".to_owned())
            .spawn(move || Congestion::send(&sending, &left));
        let sender = match sender {
            Ok(sender) => sender,
            Err(error) => return shared.says(&format!("the gateway can't start a thread: {error}")),
        };
        if let Err(error) = worker::run(&self, &shared, told) {
            shared.says(&format!("the gateway has stopped: {error}"));
        }
        self.leads.set(false);
        shared.congestion.end();
        // The network was first notified that all of this host's endpoints are gone. A put that
        // waits for the link ends before the session is closed: meanwhile zenoh (1.10) could not
        // close it, and would make all sessions of the process wait.
        crate::router::close(&shared.session, move || drop(sender.join()));
    }

    /// Waits until this gateway leads. Returns `None` if it is to end.
    fn wait(&self, claim: &Claim, told: &Receiver<Change>) -> Option<Session> {
        let mut has_complained = false;
        loop {
            match told.recv_timeout(LEADER_PERIOD) {
                Ok(Change::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(Change::Statistics(to)) => drop(to.send(GatewayStatistics::default())),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
            let session = claim.leads().and_then(|leads| leads.then(|| self.open()).transpose());
            match session {
                Ok(Some(session)) => {
                    sinew_shm::tell!(
                        Level::Info,
                        "gateway of domain {}: the one before it is gone, and this one leads now, as session {}",
                        self.context.domain(),
                        session.zid()
                    );
                    return Some(session);
                }
                Ok(None) => {}
                Err(error) if !has_complained => {
                    has_complained = true;
                    sinew_shm::tell!(Level::Warn, "the gateway can't take over: {error}");
                }
                Err(_) => {}
            }
        }
    }
}

/// State shared by all threads of a gateway.
struct Shared {
    context: Context,
    session: Session,
    place: Domain,
    rules: Rules,
    /// Endpoints of programs that aren't Sinew's are matched by their QoS as well.
    strict_qos: bool,
    changes: Sender<Change>,
    congestion: Congestion,
    /// Subjects that were reported once.
    said: Mutex<HashSet<&'static str>>,
    /// Threads that call local servers for the network, for calls that waited for the gateway's
    /// thread or run a server of this program.
    callers: Callers,
    /// Threads that call the network: none of these waits for one of those.
    askers: Callers,
}

impl Shared {
    /// Returns the wall time, in nanoseconds.
    fn wall(&self) -> i64 {
        self.context.now(ClockKind::System).nanoseconds()
    }

    /// Sends a change to the gateway's thread, which exists as long as the gateway.
    fn tell(&self, change: Change) {
        let _ = self.changes.send(change);
    }

    /// Schedules work on the gateway's thread, behind all changes that were sent before. If that
    /// thread was held up, the time may be over while changes from before it still wait.
    fn later(self: &Arc<Self>, at: Time, work: impl FnOnce() + Send + 'static) {
        let shared = self.clone();
        let behind = move || shared.tell(Change::Later(at, Box::new(work)));
        self.tell(Change::Later(at, Box::new(behind)));
    }

    fn says(&self, text: &str) {
        sinew_shm::tell!(Level::Warn, "gateway of domain {}: {text}", self.context.domain());
    }

    /// Reports a subject only the first time: a problem with one message is a problem with many.
    fn says_once(&self, about: &'static str, text: impl FnOnce() -> String) {
        if self.said.lock().insert(about) {
            self.says(&format!("{} (counted, and not said again)", text()));
        }
    }
}
