//! Services: servers of this host answer clients of the network, and the other way round.
//!
//! # Threads
//!
//! No call waits for a thread of the gateway's. A request of this host goes to the network from the
//! thread that calls, or from that which receives from other processes: the gateway's server has a
//! listener. Its answer comes by the session's thread, which wakes the caller. A request of the
//! network is brought to the server here by the session's thread; the answer is put into the
//! session by the thread that answers: the gateway's call has a listener.
//!
//! Some requests of the network are brought by a thread [aside](super::callers): the first ones of
//! a client, and all to a server of this process that has a listener, which would run on the
//! session's.

use super::Shared;
use super::observer::{Change, LocalKey};
use super::reports::Words;
use super::route::RouteKey;
use crate::wire::attachment::{Attachment, AttachmentError};
use sinew::__private::locks::{Mutex, RwLock};
use sinew::error::CreateError;
use sinew::gateway::{Origin, ServiceWord};
use sinew::msg::{GenericType, Gid, SerializedMessage};
use sinew::service::{GenericService, RequestInfo, Server};
use sinew::time::Time;
use sinew::{Client, Responder};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::key_expr::KeyExpr;
use zenoh::query::{ConsolidationMode, Query, QueryTarget, Queryable, Reply};

/// How long a server of the network may take to answer: as rmw_zenoh has it. A caller here gives up
/// when it wants to.
const LONGEST: Duration = Duration::from_secs(600);

/// A query that ends without an answer is asked again after these: the session may not know yet
/// where the server is whose token it has.
pub(super) const AGAIN: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(1000)];

/// After how long it is tried again to stand for a server of the network if the program has one.
const TAKEN: Duration = Duration::from_secs(1);

/// Calls of a client there that wait here at most; those beyond are refused, as by a full queue.
const MOST_FRESH: usize = 1000;

/// Clients there that are remembered as introduced, at most: what requests say is memory here.
const MOST_INTRODUCED: usize = 10_000;

/// What the calls of a service need.
pub(super) struct ServiceRoute {
    pub(super) key: RouteKey,
    pub(super) known: GenericType,
    /// Declared, so that a number goes over the wire in its place.
    wire_key: KeyExpr<'static>,
    /// What clients here are called on the network.
    clients: RwLock<HashMap<Gid, [u8; 16]>>,
    /// Clients here whose calls go to the network at once.
    introduced: RwLock<HashSet<Gid>>,
    /// Calls of the others, the oldest first: see [`introduce`](Self::introduce).
    fresh: Mutex<HashMap<Gid, Vec<Call>>>,
    /// Clients there whose calls go to the server here at once, by what their requests say.
    remote_introduced: RwLock<HashSet<[u8; 16]>>,
    /// Calls of the others, the oldest first: see [`introduce_remote`](Self::introduce_remote).
    remote_fresh: Mutex<HashMap<[u8; 16], Vec<Asked>>>,
    /// For clients that are gone already.
    own_gid: [u8; 16],
    sequence: AtomicI64,
    /// [`ServiceWord`]s.
    counters: Words,
}

impl ServiceRoute {
    /// What a client here is called on the network.
    fn wire_gid(&self, client: Gid) -> [u8; 16] {
        self.clients.read().get(&client).copied().unwrap_or(self.own_gid)
    }

    /// As [`keep_fresh`](Self::keep_fresh), of a client there. All calls are kept of a server that
    /// runs on the thread that makes them: it may call itself, and the session's thread brings the
    /// answer.
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
            refuse(&call.query, &format!("{MOST_FRESH} calls of this client of {name} wait already"));
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

    /// Keeps a call of a client that isn't introduced yet. Gives back that of another one.
    fn keep_fresh(&self, client: Gid, call: Call, shared: &Shared) -> Option<Call> {
        if self.introduced.read().contains(&client) {
            return Some(call);
        }
        let mut fresh = self.fresh.lock();
        // It may have been introduced meanwhile, which is done under this lock.
        if self.introduced.read().contains(&client) {
            return Some(call);
        }
        let is_first = !fresh.contains_key(&client); // else a thread is at it, or will be
        fresh.entry(client).or_default().push(call);
        drop(fresh);
        if is_first {
            shared.tell(Change::FreshClient(self.key.clone(), client));
        }
        None
    }

    /// A client's program has all brought over that it has made before its first call: that call,
    /// and those behind it, go to the network.
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
                fresh.insert(client, Vec::new()); // what comes meanwhile waits behind these
                calls
            };
            let gid = self.wire_gid(client);
            calls.into_iter().for_each(|call| ask(shared, self, Call { gid, ..call }));
        }
    }

    /// What the program of a client there subscribes to is brought to it: its first call, and those
    /// behind it, go to the server here.
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

/// A thread brings the calls of a client over that wait here. After a panic, as of a server that it
/// runs, no thread does: those that wait fail, and the next one has another thread begin.
struct Introducing<'a, K: Eq + Hash, C>(&'a Mutex<HashMap<K, Vec<C>>>, K);

impl<K: Eq + Hash, C> Drop for Introducing<'_, K, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let waiting = self.0.lock().remove(&self.1);
            drop(waiting); // outside the lock: their callers are told
        }
    }
}

/// What the gateway's thread knows of a service.
pub(super) struct ServiceEnds {
    pub(super) route: Arc<ServiceRoute>,
    pub(super) local_servers: HashSet<LocalKey>,
    pub(super) local_clients: HashMap<LocalKey, (Gid, [u8; 16])>,
    /// By their tokens: namespace and name of their nodes.
    pub(super) remote_servers: HashMap<String, (String, String)>,
    pub(super) remote_clients: HashSet<String>,
    answering: Option<Answering>,
    asking: Option<Asking>,
}

/// A server of this host, as the network asks it.
struct Answering {
    _queryable: Queryable<()>,
    _client: Client<GenericService>,
}

/// A server of the network, as clients of this host ask it.
struct Asking {
    /// The token of the one that it stands for.
    token: String,
    server: Server<GenericService>,
}

/// There as long as a server here stands for one of the network: its callers are told when it goes.
/// It also goes if that server gave way to one of the program: then the gateway's thread looks
/// again what the service needs.
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

    /// So many calls were brought over, and so many of them were answered and failed.
    pub(super) fn calls(&self) -> [u64; 3] {
        [ServiceWord::Asked, ServiceWord::Answered, ServiceWord::Failed]
            .map(|word| self.route.counters.get(word as usize))
    }

    /// Brings over what the ends that are there now need.
    pub(super) fn update(&mut self, shared: &Arc<Shared>) {
        let clients: HashMap<_, _> = self.local_clients.values().copied().collect();
        self.route.introduced.write().retain(|client| clients.contains_key(client));
        *self.route.clients.write() = clients;
        let name = &self.route.key.name;
        // A server here answers here: one of the network with its name is only told of.
        let is_gone =
            |asking: &Asking| asking.server.is_closed() || !self.remote_servers.contains_key(&asking.token);
        if self.asking.as_ref().is_some_and(is_gone) || !self.local_servers.is_empty() {
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
        let Some((token, (namespace, node))) = self.remote_servers.iter().next() else { return };
        match Asking::open(shared, &self.route, (namespace, node)) {
            Ok(server) => self.asking = Some(Asking { token: token.clone(), server }),
            // This program has one that isn't told of yet. It may go before it is.
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

/// A call of the network.
struct Asked {
    query: Query,
    attachment: Attachment,
    request: SerializedMessage,
    /// Of the server here.
    client: Client<GenericService>,
}

/// Asks the server of this host, and replies when it has answered.
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
        let sent = client.call_with_listener(request, move |outcome| match outcome {
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
    // The session is gone, or the caller: there is no end to be told.
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
        node.generic_server(&route.key.name, route.known).listener(
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
    /// Until it is answered.
    responder: Mutex<Option<Responder<GenericService>>>,
    attempt: usize,
    stands: Weak<Standing>,
}

/// Asks the servers of the network. The first answer counts.
fn ask(shared: &Arc<Shared>, route: &Arc<ServiceRoute>, call: Call) {
    // If a link was cut, the server may have the request: it isn't made again.
    if call.stands.strong_count() == 0 {
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
        .priority(super::outgoing::CALLS) // and its answer: not behind large messages
        .target(QueryTarget::AllComplete)
        .consolidation(ConsolidationMode::None)
        .timeout(LONGEST)
        .callback(move |reply| asking.heard(&reply))
        .wait();
    if let Err(error) = asked {
        let name = &route.key.name;
        shared.says_once("query", || format!("{name} of the network can't be asked: {error}"));
    }
}

fn fail(route: &ServiceRoute, responder: Responder<GenericService>, reason: String) {
    route.count(ServiceWord::Failed);
    // A caller that no longer waits misses nothing.
    let _ = responder.fail(reason);
}

/// A query on its way; dropped when no more replies come.
struct Querying {
    call: Option<Call>,
    route: Arc<ServiceRoute>,
    shared: Arc<Shared>,
    /// What a server said that didn't answer.
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
                // A caller that no longer waits wants no answer.
                let _ = responder.respond(response);
            }
            Err(error) => {
                let said = error.payload().try_to_string();
                *self.error.lock() = Some(said.map_or_else(|_| "no reason is told".to_owned(), String::from));
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
            let aside = shared.clone(); // as a first call: it may wait, or tell a caller
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
