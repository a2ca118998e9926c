//! Services: servers of this host answer clients of the network, and the other way round.
//!
//! # Threads
//!
//! No call waits for a thread of the gateway. A request of this host goes to the network from the
//! calling thread, or from the thread that receives from other processes: the gateway's server has
//! a listener. Its answer arrives on the session's thread, which wakes the caller. The session's
//! thread hands a request from the network to the local server; the answering thread puts the
//! answer into the session: the gateway's call has a listener.
//!
//! A [separate thread](super::callers) makes some calls of the network: the first ones of a client,
//! and all calls to a server of this process with a listener, which would run on the session's
//! thread.

use super::change::{Change, LocalKey, RouteKey};
use super::reports::Words;
use super::shared::Shared;
use crate::wire::attachment::{Attachment, AttachmentError};
use sinew::__private::locks::{Mutex, RwLock};
use sinew::error::CreateError;
use sinew::gateway::{Origin, ServiceWord};
use sinew::msg::{GenericType, Gid, SerializedMessage};
use sinew::service::{GenericService, RequestInfo};
use sinew::time::Time;
use sinew::{Client, Responder, Server};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::key_expr::KeyExpr;
use zenoh::query::{ConsolidationMode, Query, QueryTarget, Queryable, Reply};

/// Longest wait for an answer of a remote server, as in rmw_zenoh. A local caller gives up when it
/// wants to.
const LONGEST: Duration = Duration::from_secs(600);

/// Longest wait for the result of an action, whose call stays open until the goal ends. rmw_zenoh
/// sets no limit. But zenoh keeps a timer for every query until its time is over, also of answered
/// ones: without a limit each goal would take memory for good.
const LONGEST_GOAL: Duration = Duration::from_secs(30 * 24 * 3600);

/// Delays after which a query without an answer is repeated: the session may not yet know the
/// server's location although it has its token.
pub(super) const AGAIN: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(1000)];

/// Delay between attempts to represent a remote server while the program has one of that name.
const TAKEN: Duration = Duration::from_secs(1);

/// Most calls of a remote client that wait here; further ones are refused, as by a full queue.
const MOST_FRESH: usize = 1000;

/// Most remote clients that are remembered as introduced: every client in a request takes memory
/// here.
const MOST_INTRODUCED: usize = 10_000;

/// The part of a service that its calls use.
pub(super) struct ServiceRoute {
    pub(super) key: RouteKey,
    pub(super) known: GenericType,
    /// Declared, so that a number is sent in its place.
    wire_key: KeyExpr<'static>,
    /// The gids of local clients on the network.
    clients: RwLock<HashMap<Gid, [u8; 16]>>,
    /// Local clients with calls that go to the network at once.
    introduced: RwLock<HashSet<Gid>>,
    /// Calls of the other clients, the oldest first: see [`introduce`](Self::introduce).
    fresh: Mutex<HashMap<Gid, Vec<Call>>>,
    /// Remote clients with calls that go to the local server at once, by the gids in their
    /// requests.
    remote_introduced: RwLock<HashSet<[u8; 16]>>,
    /// Calls of the other clients, the oldest first: see
    /// [`introduce_remote`](Self::introduce_remote).
    remote_fresh: Mutex<HashMap<[u8; 16], Vec<Asked>>>,
    /// For clients that are already gone.
    own_gid: [u8; 16],
    sequence: AtomicI64,
    /// Longest wait for an answer of a remote server.
    longest: Duration,
    /// Number of remote servers that have gone.
    gone: AtomicU64,
    /// [`ServiceWord`]s.
    counters: Words,
}

/// Returns the longest wait for an answer of a remote server with that name.
fn longest(name: &str) -> Duration {
    if name.ends_with("/_action/get_result") { LONGEST_GOAL } else { LONGEST }
}

impl ServiceRoute {
    /// Returns a local client's gid on the network.
    fn wire_gid(&self, client: Gid) -> [u8; 16] {
        self.clients.read().get(&client).copied().unwrap_or(self.own_gid)
    }

    /// As [`keep_fresh`](Self::keep_fresh), for a remote client. Calls are always kept if the
    /// server runs on the calling thread: it may itself make calls, and the session's thread
    /// delivers the answers.
    fn keep_remote_fresh(self: &Arc<Self>, call: Asked, shared: &Arc<Shared>) -> Option<Asked> {
        let client = call.attachment.gid;
        let is_aside = call.client.runs_server_here();
        let is_known = || self.remote_introduced.read().contains(&client);
        if !is_aside && is_known() {
            return Some(call);
        }
        let mut fresh = self.remote_fresh.lock();
        let is_known = is_known(); // as below
        if !is_aside && is_known {
            return Some(call);
        }
        let is_first = !fresh.contains_key(&client);
        let calls = fresh.entry(client).or_default();
        if calls.len() == MOST_FRESH {
            drop(fresh);
            self.count(ServiceWord::Failed);
            let name = &self.key.name;
            refuse(&call.query, &format!("{MOST_FRESH} calls of this client to {name} are waiting already"));
            return None;
        }
        calls.push(call);
        drop(fresh);
        if is_first && is_known {
            let (for_calls, route) = (shared.clone(), self.clone());
            shared.callers.make(move || route.introduce_remote(&for_calls, client));
        } else if is_first {
            shared.tell(Change::FreshRemoteClient(self.key.clone(), client));
        }
        None
    }

    /// Stores a call of a client that isn't introduced yet; gives the call back if the client is.
    fn keep_fresh(&self, client: Gid, call: Call, shared: &Shared) -> Option<Call> {
        if self.introduced.read().contains(&client) {
            return Some(call);
        }
        let mut fresh = self.fresh.lock();
        // The client may have been introduced meanwhile; that happens under this lock.
        if self.introduced.read().contains(&client) {
            return Some(call);
        }
        let is_first = !fresh.contains_key(&client); // otherwise a thread handles it
        fresh.entry(client).or_default().push(call);
        drop(fresh);
        if is_first {
            shared.tell(Change::FreshClient(self.key.clone(), client));
        }
        None
    }

    /// Called when all endpoints that a client's program created before its first call are on the
    /// network: that call, and those behind it, are sent.
    pub(super) fn introduce(self: &Arc<Self>, shared: &Arc<Shared>, client: Gid) {
        let _introducing = Introducing(&self.fresh, client);
        loop {
            let calls = {
                let mut fresh = self.fresh.lock();
                let calls = fresh.remove(&client).unwrap_or_default();
                if calls.is_empty() {
                    self.introduced.write().insert(client);
                    return;
                }
                fresh.insert(client, Vec::new()); // later calls wait behind these
                calls
            };
            let gid = self.wire_gid(client);
            calls.into_iter().for_each(|call| ask(shared, self, Call { gid, ..call }));
        }
    }

    /// Called when the topics to which a remote client's program subscribes are carried to it: its
    /// first call, and those behind it, go to the local server.
    pub(super) fn introduce_remote(self: &Arc<Self>, shared: &Arc<Shared>, client: [u8; 16]) {
        let _introducing = Introducing(&self.remote_fresh, client);
        loop {
            let calls = {
                let mut fresh = self.remote_fresh.lock();
                let calls = fresh.remove(&client).unwrap_or_default();
                if calls.is_empty() {
                    let mut introduced = self.remote_introduced.write();
                    if introduced.len() >= MOST_INTRODUCED {
                        introduced.clear(); // they are introduced again
                    }
                    introduced.insert(client);
                    return;
                }
                fresh.insert(client, Vec::new()); // as in `introduce`
                calls
            };
            calls.into_iter().for_each(|call| call.send(shared, self));
        }
    }

    fn count(&self, word: ServiceWord) {
        self.counters.count(word as usize, 1);
    }
}

/// A thread is making the waiting calls of a client. After a panic, for instance in a server that
/// it runs, no thread is: the waiting calls fail, and the next call starts another thread.
struct Introducing<'a, K: Eq + Hash, C>(&'a Mutex<HashMap<K, Vec<C>>>, K);

impl<K: Eq + Hash, C> Drop for Introducing<'_, K, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let waiting = self.0.lock().remove(&self.1);
            drop(waiting); // outside the lock: runs their callers' listeners
        }
    }
}

/// The part of a service that the gateway's thread uses.
pub(super) struct ServiceEnds {
    pub(super) route: Arc<ServiceRoute>,
    pub(super) local_servers: HashSet<LocalKey>,
    pub(super) local_clients: HashMap<LocalKey, (Gid, [u8; 16])>,
    /// Namespaces and names of their nodes, by their tokens.
    pub(super) remote_servers: HashMap<String, (String, String)>,
    pub(super) remote_clients: HashSet<String>,
    answering: Option<Answering>,
    asking: Option<Asking>,
}

/// Asks a server of this host for the network.
struct Answering {
    _queryable: Queryable<()>,
    _client: Client<GenericService>,
}

/// Asks the servers of the network for this host.
struct Asking {
    /// Stands for them, under the name of the first one's node.
    server: Server<GenericService>,
}

/// Exists as long as a local server stands for remote ones; dropping it makes its callers' calls
/// fail. It is also dropped if that server gave way to one of the program: then the gateway's
/// thread checks again what the service needs.
struct Standing(Arc<Shared>, RouteKey);

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.tell(Change::Service(self.1.clone()));
    }
}

impl ServiceEnds {
    pub(super) fn new(
        key: RouteKey,
        known: GenericType,
        (wire_key, own_gid): (KeyExpr<'static>, [u8; 16]),
        counters: Words,
    ) -> Self {
        let route = ServiceRoute {
            longest: longest(&key.name),
            key,
            known,
            wire_key,
            clients: RwLock::default(),
            introduced: RwLock::default(),
            fresh: Mutex::default(),
            remote_introduced: RwLock::default(),
            remote_fresh: Mutex::default(),
            own_gid,
            sequence: AtomicI64::new(0),
            gone: AtomicU64::new(0),
            counters,
        };
        Self {
            route: Arc::new(route),
            local_servers: HashSet::new(),
            local_clients: HashMap::new(),
            remote_servers: HashMap::new(),
            remote_clients: HashSet::new(),
            answering: None,
            asking: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.local_servers.is_empty()
            && self.local_clients.is_empty()
            && self.remote_servers.is_empty()
            && self.remote_clients.is_empty()
    }

    /// Numbers of calls that were forwarded, answered and failed.
    pub(super) fn calls(&self) -> [u64; 3] {
        [ServiceWord::Asked, ServiceWord::Answered, ServiceWord::Failed]
            .map(|word| self.route.counters.get(word as usize))
    }

    /// Records that a remote server is gone, or out of sight.
    pub(super) fn remote_server_went(&mut self, token: &str) {
        if self.remote_servers.remove(token).is_some() {
            self.route.gone.fetch_add(1, Ordering::AcqRel); // before callers hear that it has gone
        }
    }

    /// Connects exactly what the current endpoints need.
    pub(super) fn update(&mut self, shared: &Arc<Shared>) {
        let clients: HashMap<_, _> = self.local_clients.values().copied().collect();
        self.route.introduced.write().retain(|client| clients.contains_key(client));
        *self.route.clients.write() = clients;
        let name = &self.route.key.name;
        // A local server answers local clients: a remote server of the same name is only announced.
        // While there is any remote server, it may still answer the calls in progress.
        let is_needed = self.local_servers.is_empty() && !self.remote_servers.is_empty();
        if self.asking.as_ref().is_some_and(|asking| asking.server.is_closed()) || !is_needed {
            self.asking = None;
        }
        match (self.local_servers.is_empty(), &self.answering) {
            (true, Some(_)) => self.answering = None,
            (false, None) => match Answering::open(shared, &self.route) {
                Ok(answering) => self.answering = Some(answering),
                Err(error) => shared.says(&format!("{name} can't be called from the network: {error}")),
            },
            _ => {}
        }
        if self.asking.is_some() || !self.local_servers.is_empty() {
            return;
        }
        let Some((namespace, node)) = self.remote_servers.values().next() else { return };
        match Asking::open(shared, &self.route, (namespace, node)) {
            Ok(server) => self.asking = Some(Asking { server }),
            // This program has a server that isn't announced yet. It may be gone before it is.
            Err(CreateError::ServiceTaken { .. }) => {
                let (again, key) = (shared.clone(), self.route.key.clone());
                let again = move || again.tell(Change::Service(key));
                shared.tell(Change::Later(Time::steady() + TAKEN, Box::new(again)));
            }
            Err(error) => shared.says(&format!("{name} of the network can't be called: {error}")),
        }
    }

    pub(super) fn close(&mut self) {
        self.answering = None;
        self.asking = None;
    }
}

impl Answering {
    fn open(
        shared: &Arc<Shared>,
        route: &Arc<ServiceRoute>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let node = shared.context.node_of(Origin::Carrier, "/", "_sinew_gateway")?;
        let client = node.generic_client(&route.key.name, route.known).create()?;
        let (asking, called) = (client.clone(), route.clone());
        let for_calls = shared.clone();
        let queryable = shared
            .session
            .declare_queryable(route.wire_key.clone())
            .complete(true)
            .callback(move |query| answer(&for_calls, &called, &asking, query))
            .wait()?;
        Ok(Self { _queryable: queryable, _client: client })
    }
}

/// A call from the network.
struct Asked {
    query: Query,
    attachment: Attachment,
    request: SerializedMessage,
    /// A client of the local server.
    client: Client<GenericService>,
}

/// Calls the server of this host, and replies when it has answered.
fn answer(shared: &Arc<Shared>, route: &Arc<ServiceRoute>, client: &Client<GenericService>, query: Query) {
    let name = &route.key.name;
    let attachment = query.attachment().map(|attachment| Attachment::parse(&attachment.to_bytes()));
    let attachment = match attachment {
        Some(Ok(attachment)) => attachment,
        Some(Err(error)) => {
            if error == AttachmentError::Old {
                route.count(ServiceWord::Old);
            }
            return refuse(&query, &format!("the request to {name} can't be read: {error}"));
        }
        None => {
            return refuse(
                &query,
                &format!("the request to {name} has no attachment, as ROS 2 puts it there"),
            );
        }
    };
    let Some(payload) = query.payload() else {
        return refuse(&query, &format!("the request to {name} is empty"));
    };
    let request = SerializedMessage::new(payload.to_bytes().into_owned());
    route.count(ServiceWord::Asked);
    let asked = Asked { query, attachment, request, client: client.clone() };
    if let Some(asked) = route.keep_remote_fresh(asked, shared) {
        asked.send(shared, route);
    }
}

impl Asked {
    fn send(self, shared: &Arc<Shared>, route: &Arc<ServiceRoute>) {
        let Self { query, attachment, request, client } = self;
        let (called, for_reply, replying) = (route.clone(), shared.clone(), query.clone());
        let sent = client.call_then_immediately(request, move |outcome| match outcome {
            Ok(response) => {
                called.count(ServiceWord::Answered);
                let attachment = Attachment { time: for_reply.wall(), chain: None, ..attachment };
                let reply = replying.reply(called.wire_key.clone(), ZBytes::from(response.bytes()));
                if let Err(error) = reply.attachment(ZBytes::from(attachment.to_bytes())).wait() {
                    let name = &called.key.name;
                    for_reply.says_once("reply", || format!("an answer of {name} was not sent: {error}"));
                }
            }
            Err(error) => {
                called.count(ServiceWord::Failed);
                refuse(&replying, &error.to_string());
            }
        });
        if let Err(error) = sent {
            route.count(ServiceWord::Failed);
            refuse(&query, &error.to_string());
        }
    }
}

fn refuse(query: &Query, reason: &str) {
    // On failure the session or the caller is gone: nothing remains to be answered.
    let _ = query.reply_err(reason.to_owned()).wait();
}

impl Asking {
    fn open(
        shared: &Arc<Shared>,
        route: &Arc<ServiceRoute>,
        (namespace, node): (&str, &str),
    ) -> Result<Server<GenericService>, CreateError> {
        let node = shared.context.node_of(Origin::Network, namespace, node)?;
        let (shared, called) = (shared.clone(), route.clone());
        let standing = Arc::new(Standing(shared.clone(), route.key.clone()));
        node.generic_server(&route.key.name, route.known).immediate_callback(
            move |request: SerializedMessage, info: &RequestInfo, responder: Responder<GenericService>| {
                let client = info.client();
                let gid = called.wire_gid(client);
                let sequence = called.sequence.fetch_add(1, Ordering::Relaxed) + 1; // only a number
                called.count(ServiceWord::Asked);
                let call = Call {
                    request: request.into_bytes(),
                    sequence,
                    gid,
                    responder: Mutex::new(Some(responder)),
                    attempt: 0,
                    gone: 0,
                    stands: Arc::downgrade(&standing),
                };
                if let Some(call) = called.keep_fresh(client, call, &shared) {
                    ask(&shared, &called, call);
                }
            },
        )
    }
}

/// A call to the network.
struct Call {
    request: Vec<u8>,
    sequence: i64,
    gid: [u8; 16],
    /// `None` once it is answered.
    responder: Mutex<Option<Responder<GenericService>>>,
    attempt: usize,
    /// Number of remote servers that had gone before the first attempt.
    gone: u64,
    stands: Weak<Standing>,
}

/// Queries the servers of the network. The first answer counts.
fn ask(shared: &Arc<Shared>, route: &Arc<ServiceRoute>, mut call: Call) {
    let gone = route.gone.load(Ordering::Acquire);
    if call.attempt == 0 {
        call.gone = gone;
    }
    // If a link was cut, the server may have the request: it isn't repeated, also not for others.
    if call.stands.strong_count() == 0 || call.gone != gone {
        let Some(responder) = call.responder.lock().take() else { return };
        let reason = format!("the server of {} on the network has gone", route.key.name);
        return fail(route, responder, reason);
    }
    let attachment = Attachment { sequence: call.sequence, time: shared.wall(), gid: call.gid, chain: None };
    let payload = ZBytes::from(&call.request);
    let asking =
        Querying { call: Some(call), route: route.clone(), shared: shared.clone(), error: Mutex::default() };
    let asked = shared
        .session
        .get(route.wire_key.clone())
        .payload(payload)
        .attachment(ZBytes::from(attachment.to_bytes()))
        .priority(super::priority::CALLS) // and its answer: not behind large messages
        .target(QueryTarget::AllComplete)
        .consolidation(ConsolidationMode::None)
        .timeout(route.longest)
        .callback(move |reply| asking.heard(&reply))
        .wait();
    if let Err(error) = asked {
        let name = &route.key.name;
        shared.says_once("query", || format!("{name} of the network can't be called: {error}"));
    }
}

fn fail(route: &ServiceRoute, responder: Responder<GenericService>, reason: String) {
    route.count(ServiceWord::Failed);
    // On failure the caller no longer waits.
    let _ = responder.fail(reason);
}

/// A query in progress; zenoh drops it when no more replies come.
struct Querying {
    call: Option<Call>,
    route: Arc<ServiceRoute>,
    shared: Arc<Shared>,
    /// The error of a server that didn't answer.
    error: Mutex<Option<String>>,
}

impl Querying {
    fn heard(&self, reply: &Reply) {
        let Some(call) = &self.call else { return };
        match reply.result() {
            Ok(sample) => {
                let Some(responder) = call.responder.lock().take() else { return };
                self.route.count(ServiceWord::Answered);
                let response = SerializedMessage::new(sample.payload().to_bytes().into_owned());
                // On failure the caller no longer waits.
                let _ = responder.respond(response);
            }
            Err(error) => {
                let said = error.payload().try_to_string();
                *self.error.lock() =
                    Some(said.map_or_else(|_| "no reason was given".to_owned(), String::from));
            }
        }
    }
}

impl Drop for Querying {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else { return };
        let Some(responder) = call.responder.lock().take() else { return };
        let error = self.error.lock().take();
        if let (None, Some(pause)) = (&error, AGAIN.get(call.attempt))
            && responder.is_awaited()
        {
            let (shared, route) = (self.shared.clone(), self.route.clone());
            let responder = Mutex::new(Some(responder));
            let call = Call { responder, attempt: call.attempt + 1, ..call };
            let aside = shared.clone(); // as for a first call: it may wait, or run a listener
            let again = move || aside.askers.make(move || ask(&shared, &route, call));
            self.shared.tell(Change::Later(Time::steady() + *pause, Box::new(again)));
            return;
        }
        let name = &self.route.key.name;
        let reason = error.unwrap_or_else(|| {
            format!("no server of {name} on the network answered: it is announced, but can't be reached")
        });
        fail(&self.route, responder, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_an_action_may_take_long() {
        assert_eq!(longest("/add"), LONGEST);
        assert_eq!(longest("/dock/_action/send_goal"), LONGEST);
        assert_eq!(longest("/dock/_action/get_result"), LONGEST_GOAL);
        assert_eq!(longest("/dock/_action/get_result/other"), LONGEST);
    }
}
