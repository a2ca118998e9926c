//! The gateway.
//!
//! | file | what |
//! |---|---|
//! | `worker` | the gateway's thread: who is where, and what is brought over for that |
//! | `observer` | what is in the domain and on the network; each change is told to that thread |
//! | `leader` | which of several gateways of a domain does it |
//! | `route` | a topic: its ends on both sides |
//! | `outgoing` | what publishers here publish, to the network |
//! | `turns` | whose turn it is when the link doesn't take everything |
//! | `incoming` | what publishers there publish, to this host |
//! | `descriptions` | what tools need to know of types that only the network has |
//! | `services` | servers and clients of both sides |
//! | `callers` | threads that make calls beside the gateway's thread |
//! | `sessions` | which sessions there are, whether they are reached, and their clocks |
//! | `reports` | the counters of all this, where tools read them |
//!
//! Messages don't pass the gateway's thread. What leaves is put into the session by the thread that
//! publishes it, or received it from another process, or by the one that waits for a slow link; what
//! comes is published by the session's.

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

/// How often a gateway that waits for another one to go looks whether it has.
const LEADER_PERIOD: Duration = Duration::from_millis(200);

/// Why a gateway doesn't run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Its configuration can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The context is without shared memory.
    #[error(
        "a gateway finds by shared memory what there is, and this context is without: leave out shared_memory(false)"
    )]
    NoSharedMemory,
    /// The domain is none of ROS 2's.
    #[error("domain {domain} can't be on the network: ROS 2's are 0 to {LAST_DOMAIN}")]
    Domain {
        /// The context's.
        domain: u32,
    },
    /// The domain's directory can't be used.
    #[error(transparent)]
    Place(#[from] DomainError),
    /// The domain can't be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The file can't be locked that says which gateway leads.
    #[error("{path}, which says which gateway of the domain leads, can't be locked: {source}")]
    Lock {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The session could not be opened.
    #[error("the session with the network could not be opened: {reason}")]
    Session {
        /// What zenoh said.
        reason: String,
    },
    /// What may pass isn't said rightly.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A thread could not be started.
    #[error("a thread of the gateway could not be started: {0}")]
    Thread(std::io::Error),
}

/// The greatest domain: ROS 2 allows more with DDS nowhere.
const LAST_DOMAIN: u32 = 232;

/// What a topic brought over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RouteStatistics {
    /// Messages that went to the network.
    pub sent: u64,
    /// Bytes of their images.
    pub sent_bytes: u64,
    /// Messages that didn't: they gave way to newer ones, or the session refused them.
    pub unsent: u64,
    /// Messages that waited for the link for more than a second.
    pub late: u64,
    /// Messages that were left out for a [rate limit](crate::rules).
    pub limited: u64,
    /// Messages of the network that were published here.
    pub received: u64,
    /// Bytes of their images.
    pub received_bytes: u64,
    /// Messages that publishers there published, and that didn't come.
    pub missed: u64,
    /// Messages that came, and could not be published here.
    pub refused: u64,
}

/// What a gateway does now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GatewayStatistics {
    /// Whether it is the one that leads in its domain. The others do nothing.
    pub leads: bool,
    /// Its session's id.
    pub session: String,
    /// Nodes and ends of this host that the network knows.
    pub local: usize,
    /// Nodes and ends of the network that this host knows.
    pub remote: usize,
    /// Per topic: its name, its type, and what was brought over.
    pub topics: Vec<(String, String, RouteStatistics)>,
    /// Per service: its name, its type, and how many calls were brought over, were answered, and
    /// failed.
    pub services: Vec<(String, String, [u64; 3])>,
    /// Tokens of the network that made no sense.
    pub garbage: u64,
}

/// Whether a gateway leads.
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

/// Brings a domain's ends to the network, and the network's to the domain, until it is dropped.
///
/// If there is another gateway in the domain, it waits until that one is gone, and takes over then.
#[must_use = "a gateway ends when it is dropped"]
pub struct Gateway {
    changes: Sender<Change>,
    leads: Arc<Leads>,
    /// Its statistics when it was asked last.
    told: Mutex<GatewayStatistics>,
    thread: Option<JoinHandle<()>>,
}

impl Gateway {
    /// One with the defaults of rmw_zenoh and of the environment; see [`config`](crate::config).
    pub fn builder() -> GatewayBuilder {
        let (options, rules) = (SessionOptions::default(), RuleOptions::default());
        GatewayBuilder { options, rules, strict_qos: false }
    }

    /// What it does now. Waits for the gateway's thread to say: on that thread itself, which tells
    /// listeners of this program what comes and goes on the network, it is what it said last.
    pub fn statistics(&self) -> GatewayStatistics {
        if self.is_own_thread() {
            return self.told.lock().clone();
        }
        let (to, statistics) = mpsc::channel();
        // A gateway that has stopped does nothing.
        let _ = self.changes.send(Change::Statistics(to));
        let statistics = statistics.recv().unwrap_or_default();
        self.told.lock().clone_from(&statistics);
        statistics
    }

    fn is_own_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|own| own.thread().id() == std::thread::current().id())
    }

    /// Waits until it leads in its domain, at most for `timeout`. Whether it does.
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

    /// Ends it; as when it is dropped. Blocks until the network knows, or for a second if the link is
    /// slow; on its own thread, as in a listener, it doesn't wait.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.changes.send(Change::Stop); // it has stopped already, if it isn't there
        // A listener that it tells on its own thread has it end afterwards.
        let is_own = self.is_own_thread();
        if let Some(thread) = self.thread.take().filter(|_| !is_own) {
            let _ = thread.join(); // it has said what it had to say
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
    /// again.
    pub fn connect(mut self, endpoint: impl Into<String>) -> Self {
        self.options.connect.push(endpoint.into());
        self
    }

    /// Listens there, instead of on a port that only this host reaches. May be called again.
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        self.options.listen.push(endpoint.into());
        self
    }

    /// What may pass, under which names, and how often; see [`rules`](crate::rules). The default
    /// passes everything as it is.
    pub fn rules(mut self, rules: RuleOptions) -> Self {
        self.rules = rules;
        self
    }

    /// Whether ends here and there have to be compatible in QoS also where the other program isn't of
    /// Sinew. By default they match as rmw_zenoh's own do, which looks at no QoS: a best-effort
    /// publisher here reaches a reliable subscription of ROS 2, and the log says once what isn't
    /// promised. Ends of two hosts of Sinew are always matched strictly.
    pub fn strict_qos(mut self, is_strict: bool) -> Self {
        self.strict_qos = is_strict;
        self
    }

    /// All options at once.
    pub fn options(mut self, options: SessionOptions) -> Self {
        self.options = options;
        self
    }

    /// Starts it for the context's domain: its nodes, and those of all other programs there. What
    /// publishers of this context publish goes to the network on their own threads, but for large
    /// messages, for which a slow link would have them wait.
    ///
    /// Starts a thread, which opens the session. A router that isn't there yet is no error: it is
    /// looked for again and again.
    ///
    /// # Errors
    /// [`GatewayError`]
    pub fn start(self, context: &Context) -> Result<Gateway, GatewayError> {
        self.start_with(context, &process_environment)
    }

    /// The same with another environment than the process's.
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
        // What is wrong with the session is found at once, if this gateway leads at once.
        let first = if claim.leads()? { Some(start.open()?) } else { None };
        let thread = std::thread::Builder::new()
            .name("sinew-gateway".to_owned())
            .spawn(move || start.run(&claim, first, &told))
            .map_err(GatewayError::Thread)?;
        Ok(Gateway { changes, leads, told: Mutex::default(), thread: Some(thread) })
    }
}

/// What it takes to lead.
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

    /// The gateway's thread.
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
        // The network was told first that all of this host's ends are gone. A put that waits for the link
        // comes to its end before: zenoh (1.10) can't close a session meanwhile, and has all
        // sessions of the process wait.
        crate::router::close(&shared.session, move || drop(sender.join()));
    }

    /// Waits until this gateway leads. `None`: it is to end.
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

/// What all of a gateway's threads use.
struct Shared {
    context: Context,
    session: Session,
    place: Domain,
    rules: Rules,
    /// Ends of programs that aren't of Sinew are matched by their QoS, too.
    strict_qos: bool,
    changes: Sender<Change>,
    congestion: Congestion,
    /// What was said once.
    said: Mutex<HashSet<&'static str>>,
    /// Make calls of the network here that waited for the gateway's thread, or run a server of the
    /// program's.
    callers: Callers,
    /// Make calls to the network: none of these waits for one of those.
    askers: Callers,
}

impl Shared {
    /// Wall time, in nanoseconds.
    fn wall(&self) -> i64 {
        self.context.now(ClockKind::System).nanoseconds()
    }

    /// Tells the gateway's thread, which is gone only with the gateway.
    fn tell(&self, change: Change) {
        let _ = self.changes.send(change);
    }

    /// Has the gateway's thread do something then, behind all that it was told before: a thread that was
    /// held up finds the time over, but has yet to hear what came meanwhile.
    fn later(self: &Arc<Self>, at: Time, work: impl FnOnce() + Send + 'static) {
        let shared = self.clone();
        let behind = move || shared.tell(Change::Later(at, Box::new(work)));
        self.tell(Change::Later(at, Box::new(behind)));
    }

    fn says(&self, text: &str) {
        sinew_shm::tell!(Level::Warn, "gateway of domain {}: {text}", self.context.domain());
    }

    /// Says it the first time: what is wrong with one message is wrong with many.
    fn says_once(&self, about: &'static str, text: impl FnOnce() -> String) {
        if self.said.lock().insert(about) {
            self.says(&format!("{} (counted, and not said again)", text()));
        }
    }
}
