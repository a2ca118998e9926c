//! The gateway's thread: keeps track of endpoints on both sides, and connects them.
//!
//! Endpoints of this host become tokens on the network. Tokens of the network become endpoints in
//! the domain: a remote publisher becomes a publisher of a node of its name here, and publishes the
//! remote messages; remote subscriptions, clients and servers are announced. For each topic
//! ([`RouteEnds`]) and service ([`ServiceEnds`]), the thread decides what to connect whenever an
//! endpoint of it comes or goes.

use super::change::{Change, LocalKey, RouteKey};
use super::descriptions::Descriptions;
use super::error::GatewayError;
use super::local_publisher::LocalPublisher;
use super::observer::DomainObserver;
use super::reports::{Reports, Words};
use super::route_ends::RouteEnds;
use super::services::ServiceEnds;
use super::sessions::{Elsewhere, Sessions};
use super::shared::Shared;
use super::start::Start;
use super::statistics::GatewayStatistics;
use crate::config::RouterCheck;
use crate::wire::token::{ADMIN_SPACE, CPU_BACKEND, Token, TokenEnd, TokenKind};
use crate::wire::{buffer, gid, key, name, session_id};
use sinew::gateway::{GatewayWord, Origin, Report};
use sinew::msg::{GenericType, Gid, TypeHash};
use sinew::qos::Durability;
use sinew::time::Time;
use sinew::{Node, QoS};
use sinew_msg::description::TypeDescription;
use sinew_shm::{Counter, Endpoint, EndpointKind, OwnEndpoint, Participant, Peer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use zenoh::Wait;
use zenoh::liveliness::LivelinessToken;
use zenoh::sample::SampleKind;

/// Most nodes and endpoints of the network that are known: every one that a peer announces takes
/// memory here.
const MOST_REMOTE: usize = 20_000;

/// Most checks for whether the last messages of a publisher that is gone have been sent, and the
/// time between two checks. Checks count, not the time: the machine may hold the process up, and
/// then nothing has been sent meanwhile.
const LAST_MESSAGES: u32 = 200;
const LAST_MESSAGES_PERIOD: Duration = Duration::from_millis(5);

/// Most checks for whether the subscriptions of a client's program are connected, for which the
/// client's first call waits, and the time between two checks. Checks count, as above.
const INTRODUCTION: u32 = 1000;
const INTRODUCTION_PERIOD: Duration = Duration::from_millis(1);

/// Time for which a remote publisher stays after its token is gone: on a link, tokens overtake
/// messages, and a busy machine may hold up the thread that delivers these.
const OVERTAKING: Duration = Duration::from_millis(500);

/// Time between two looks for a router.
const ROUTER_PERIOD: Duration = Duration::from_secs(1);

/// Runs until it receives `Stop`.
pub(super) fn run(start: &Start, shared: &Arc<Shared>, told: &Receiver<Change>) -> Result<(), GatewayError> {
    let participant = Participant::join(&start.place, Arc::new(DomainObserver(start.changes.clone())))?;
    let outcome = lead(start, shared, told, &participant);
    participant.leave();
    outcome
}

fn lead(
    start: &Start,
    shared: &Arc<Shared>,
    told: &Receiver<Change>,
    participant: &Arc<Participant>,
) -> Result<(), GatewayError> {
    let reports = Reports::new(participant, shared);
    let about = Arc::new(about(start, shared, &reports));
    let failed = |error: zenoh::Error| GatewayError::Session { reason: crate::config::reason(&error) };
    let mut worker = Worker {
        shared: shared.clone(),
        participant: participant.clone(),
        session: shared.session.zid().to_string(),
        next_id: 0,
        node_ids: HashMap::new(),
        local: HashMap::new(),
        remote: HashMap::new(),
        remote_nodes: HashMap::new(),
        routes: HashMap::new(),
        services: HashMap::new(),
        descriptions: Descriptions::open(shared).map_err(failed)?,
        sessions: Sessions::open(shared, &reports).map_err(failed)?,
        elsewhere: Some(Elsewhere::open(shared, &about).map_err(failed)?),
        reports,
        about: about.clone(),
    };
    let (heard, own, counted) = (shared.clone(), worker.session.clone(), about);
    // With its history: existing tokens come first.
    let tokens = shared
        .session
        .liveliness()
        .declare_subscriber(format!("{ADMIN_SPACE}/{}/**", shared.context.domain()))
        .history(true)
        .callback(move |sample| {
            let key = sample.key_expr().as_str();
            match (sample.kind(), Token::parse(key)) {
                (_, Ok(token)) if token.session == own => {}
                (SampleKind::Put, Ok(token)) => heard.tell(Change::Remote(key.to_owned(), Box::new(token))),
                (SampleKind::Delete, _) => heard.tell(Change::RemoteGone(key.to_owned())),
                (SampleKind::Put, Err(error)) => {
                    counted.count(GatewayWord::Garbage as usize, 1);
                    heard.says_once("token", || format!("a token of the network is left out: {error}"));
                }
            }
        })
        .wait()
        .map_err(failed)?;
    let mut looking = RouterSearch::new(start.check);
    start.leads.set(true);
    worker.serve(told, &mut looking);
    drop(tokens);
    worker.close();
    Ok(())
}

/// Announces the gateway and its endpoints to tools.
fn about(start: &Start, shared: &Shared, reports: &Reports) -> Words {
    let of = |key| start.config.get_json(key).unwrap_or_default();
    let endpoints = of("connect/endpoints").replace(['[', ']', '"'], "");
    let words = reports.words(Report::Gateway.about(&shared.session.zid().to_string(), &endpoints));
    let has_other_ways = start.check == RouterCheck::Skip || of("scouting/multicast/enabled") == "true";
    words.set(GatewayWord::WantsRouter as usize, u64::from(!has_other_ways && !endpoints.is_empty()));
    words
}

/// The search for a router, through which most sessions find each other.
struct RouterSearch {
    check: RouterCheck,
    attempts: u32,
    next: Option<Time>,
}

impl RouterSearch {
    fn new(check: RouterCheck) -> Self {
        let is_skipped = check == RouterCheck::Skip;
        // The session has just begun to connect.
        let next = (!is_skipped).then(|| Time::steady() + ROUTER_PERIOD);
        Self { check, attempts: 0, next }
    }

    fn look(&mut self, shared: &Shared) {
        self.attempts += 1;
        let is_there = shared.session.info().routers_zid().wait().next().is_some();
        let goes_on = match self.check {
            _ if is_there => false,
            RouterCheck::Forever => true,
            RouterCheck::Times(times) => self.attempts < times,
            _ => false,
        };
        if !is_there && (self.attempts == 1 || !goes_on) {
            shared.says(
                "no router is found, so sessions of other programs and hosts can't be, either: start `sinew router` (or rmw_zenohd) \
                 on this host, or name an endpoint with --connect. It is looked for on",
            );
        }
        self.next = goes_on.then(|| Time::steady() + ROUTER_PERIOD);
    }
}

struct Worker {
    shared: Arc<Shared>,
    /// Watches the domain.
    participant: Arc<Participant>,
    session: String,
    next_id: u64,
    /// Numbers of this host's nodes, by participant and full name.
    node_ids: HashMap<(u64, String), u64>,
    local: HashMap<LocalKey, LocalEnd>,
    /// By their tokens.
    remote: HashMap<String, RemoteEnd>,
    /// By session and number: the local stand-in node, and the number of its endpoints.
    remote_nodes: HashMap<(String, u64), (Node, usize)>,
    routes: HashMap<RouteKey, RouteEnds>,
    services: HashMap<RouteKey, ServiceEnds>,
    descriptions: Descriptions,
    sessions: Sessions,
    /// `Some` while none of this domain's nodes is on the network.
    elsewhere: Option<Elsewhere>,
    /// Announces remote endpoints that are only shown, and the gateway's reports.
    reports: Reports,
    /// The gateway itself, for tools.
    about: Arc<Words>,
}

/// A node or an endpoint of this host.
struct LocalEnd {
    kind: TokenKind,
    /// For an endpoint.
    route: Option<RouteKey>,
    /// For a publisher that is gone: number of checks for its last messages.
    looks: u32,
    /// The participant that owns it.
    peer: Arc<Peer>,
    _token: LivelinessToken,
}

impl RouteEnds {
    /// Returns `true` if messages of local publishers reach all remote subscriptions that match.
    /// Publishers report only how many subscriptions they match, not which: a publisher that lacks
    /// a subscription of another program, for instance for want of room, counts as lacking this
    /// one.
    fn is_brought_there(&self, local: &HashMap<LocalKey, LocalEnd>) -> bool {
        self.local_publishers.iter().all(|(key, publisher)| {
            let wanted = self.local_subscriptions.values().chain(self.remote_subscriptions.values());
            let wanted = wanted.filter(|asked| publisher.qos.incompatibility(asked).is_none()).count();
            let counts = local.get(key).and_then(|end| end.peer.counts(key.1));
            counts.is_none_or(|counts| counts.get(Counter::Matched) >= wanted as u64)
        })
    }
}

/// A node or an endpoint of the network.
struct RemoteEnd {
    kind: TokenKind,
    node: (String, u64),
    route: Option<RouteKey>,
    /// Its token is gone.
    is_leaving: bool,
    /// Announces it here.
    _told: Option<OwnEndpoint>,
}

impl Worker {
    fn serve(&mut self, told: &Receiver<Change>, looking: &mut RouterSearch) {
        let mut later: Vec<(Time, Box<dyn FnOnce() + Send>)> = Vec::new();
        loop {
            let now = Time::steady();
            for (_, work) in later.extract_if(.., |(at, _)| *at <= now) {
                work();
            }
            if looking.next.is_some_and(|at| at <= now) {
                looking.look(&self.shared);
            }
            if self.sessions.next().is_some_and(|at| at <= now) {
                self.sessions.look(now);
            }
            let next = later.iter().map(|(at, _)| *at).chain(looking.next).chain(self.sessions.next()).min();
            let change = match next {
                Some(at) => told.recv_timeout(at - now),
                None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match change {
                Ok(Change::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Change::Statistics(to)) => drop(to.send(self.statistics())), // fails if the caller is gone
                Ok(Change::Later(at, work)) => later.push((at, work)),
                Ok(Change::Service(route)) => drop(self.with_service(&route, |_| ())),
                Ok(Change::Knock) => self.about.count(GatewayWord::Knocks as usize, 1),
                Ok(Change::FreshClient(route, client)) => self.fresh_client(route, client),
                Ok(Change::Introduce(route, client, looks)) => self.introduce(route, client, looks),
                Ok(Change::FreshRemoteClient(route, client)) => self.fresh_remote_client(route, client),
                Ok(Change::IntroduceRemote(route, client, heard, looks)) => {
                    self.introduce_remote(route, client, heard, looks);
                }
                Ok(Change::OnceKnown(work)) => {
                    // New endpoints are reported before this returns, and so before the work.
                    self.participant.refresh();
                    self.shared.tell(Change::Later(Time::steady(), work));
                }
                Ok(Change::Local(key, endpoint, peer)) => self.local_came(key, &endpoint, peer),
                Ok(Change::LocalGone(key)) => self.local_went(key),
                Ok(Change::Remote(key, token)) => self.remote_came(key, *token),
                Ok(Change::RemoteGone(key)) => self.remote_goes(key),
                Ok(Change::RemoteLeft(key)) => self.remote_left(&key),
                Ok(Change::Links) => self.sessions.links_changed(),
                Ok(Change::Answered(session, is_reached)) => self.sessions.answered(&session, is_reached),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    // ---- local endpoints ----

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Handles the first call of a client: endpoints that its program created before are put on the
    /// network before the server may publish messages for them, such as the feedback of a goal.
    fn fresh_client(&mut self, route: RouteKey, client: Gid) {
        // New endpoints are reported before this returns, and so before the change that is sent
        // here.
        self.participant.refresh();
        // Remote publishers don't count a subscription that has gone as one that has come.
        self.shared.context.look_around();
        self.shared.tell(Change::Introduce(route, client, INTRODUCTION));
    }

    /// Lets a client's calls go on once messages of the network reach the subscriptions of its
    /// program.
    fn introduce(&mut self, route: RouteKey, client: Gid, looks: u32) {
        let participant = participant_of(client);
        if looks > 0 && !self.routes.values().all(|ends| ends.is_connected(participant)) {
            let shared = self.shared.clone();
            let again = move || shared.tell(Change::Introduce(route, client, looks - 1));
            let at = Time::steady() + INTRODUCTION_PERIOD;
            return self.shared.tell(Change::Later(at, Box::new(again)));
        }
        // If the service is gone, so are its calls: they have failed.
        if let Some(ends) = self.services.get(&route) {
            let (shared, route) = (self.shared.clone(), ends.route.clone());
            self.shared.askers.make(move || route.introduce(&shared, client));
        }
    }

    /// As `fresh_client`, for a remote client. Its program's tokens came before its call, by the
    /// same link.
    fn fresh_remote_client(&mut self, route: RouteKey, client: [u8; 16]) {
        let ends = self.services.get(&route);
        let token = ends.and_then(|ends| ends.remote_clients.iter().find(|token| gid::of(token) == client));
        let node = token.and_then(|token| self.remote.get(token)).map(|end| &end.node);
        let is_its = |end: &&RemoteEnd| end.kind == TokenKind::Subscription && Some(&end.node) == node;
        let heard = self.remote.values().filter(is_its).filter_map(|end| end.route.clone()).collect();
        self.introduce_remote(route, client, heard, INTRODUCTION);
    }

    fn introduce_remote(&mut self, route: RouteKey, client: [u8; 16], heard: Vec<RouteKey>, looks: u32) {
        let mut topics = heard.iter().filter_map(|topic| self.routes.get(topic));
        if looks > 0 && !topics.all(|ends| ends.is_brought_there(&self.local)) {
            let shared = self.shared.clone();
            let again = move || shared.tell(Change::IntroduceRemote(route, client, heard, looks - 1));
            let at = Time::steady() + INTRODUCTION_PERIOD;
            return self.shared.tell(Change::Later(at, Box::new(again)));
        }
        if let Some(ends) = self.services.get(&route) {
            let (shared, route) = (self.shared.clone(), ends.route.clone());
            self.shared.callers.make(move || route.introduce_remote(&shared, client));
        }
    }

    fn local_came(&mut self, local: LocalKey, endpoint: &Endpoint, peer: Arc<Peer>) {
        let Some(kind) = kind_of(endpoint.kind) else { return };
        let Some((namespace, node)) = split(&endpoint.node) else { return };
        let node_id = match self.node_ids.get(&(local.0, endpoint.node.clone())) {
            Some(id) => *id,
            None => {
                let id = self.new_id();
                self.node_ids.insert((local.0, endpoint.node.clone()), id);
                id
            }
        };
        let id = if kind == TokenKind::Node { node_id } else { self.new_id() };
        let qos = match (kind, QoS::from_bytes(&endpoint.qos)) {
            // No endpoint matches one with an invalid QoS, so it isn't announced to the network
            // either.
            (TokenKind::Publisher | TokenKind::Subscription, None) => return,
            (_, qos) => qos.unwrap_or_default(),
        };
        let hash = TypeHash(endpoint.hash);
        let route = (kind != TokenKind::Node).then(|| RouteKey {
            name: endpoint.name.clone(),
            type_name: endpoint.type_name.clone(),
            hash,
        });
        let rules = &self.shared.rules;
        let Some(namespace) = rules.namespace().to_remote(&namespace).map(Cow::into_owned) else { return };
        let name = route.as_ref().map(|route| rules.outward(&route.name).map(Cow::into_owned));
        // It may not pass, or its type is the program's own, without a name on the network.
        let name = match name {
            Some(None) => return,
            Some(Some(name))
                if key::of(self.shared.context.domain(), &name, &endpoint.type_name, hash).is_none() =>
            {
                return;
            }
            name => name.flatten(),
        };
        // A publisher of Lyrical sends such types only to subscriptions that announce their
        // backends.
        let has_buffers = kind == TokenKind::Subscription
            && qos.durability == Durability::Volatile
            && route.as_ref().is_some_and(|route| self.has_buffers(route));
        let token = Token {
            domain: self.shared.context.domain(),
            session: self.session.clone(),
            node_id,
            id,
            kind,
            enclave: "/".to_owned(),
            namespace,
            node,
            end: route.as_ref().zip(name).map(|(route, name)| TokenEnd {
                name,
                type_name: route.type_name.clone(),
                hash: Some(route.hash),
                qos,
                backends: has_buffers.then(|| CPU_BACKEND.to_owned()),
            }),
        };
        let token_key = token.to_key();
        let wire_gid = gid::of(&token_key);
        // The local stand-ins of remote endpoints must know it before those are notified: messages
        // that they then send at once would not reach it. (A thread of the context notices it by
        // itself, but later.)
        if matches!(kind, TokenKind::Subscription | TokenKind::Server) {
            self.shared.context.look_around();
        }
        // The path exists before the token that announces it.
        if let Some(route) = route.clone() {
            let local_gid = gid_of(local.0, endpoint.number);
            if !self.local_end_came(local, kind, route, (qos, local_gid, wire_gid)) {
                return;
            }
        }
        let declared = self.shared.session.liveliness().declare_token(token_key.clone()).wait();
        match declared {
            Ok(token) => {
                drop(self.local.insert(local, LocalEnd { kind, route, looks: 0, peer, _token: token }))
            }
            Err(error) => {
                self.shared.says(&format!("{} can't be told to the network: {error}", endpoint.name));
                if let Some(route) = route {
                    self.local_end_went(local, kind, &route);
                }
            }
        }
    }

    /// Returns `false` if it could not be taken in.
    fn local_end_came(
        &mut self,
        local: LocalKey,
        kind: TokenKind,
        route: RouteKey,
        (qos, local_gid, wire_gid): (QoS, Gid, [u8; 16]),
    ) -> bool {
        match kind {
            TokenKind::Publisher => self.with_route(&route, |ends| {
                ends.local_publishers.insert(local, LocalPublisher::new(qos, local_gid, wire_gid));
            }),
            TokenKind::Subscription => self.with_route(&route, |ends| {
                ends.local_subscriptions.insert(local, qos);
            }),
            TokenKind::Server => self.with_service(&route, |ends| {
                ends.local_servers.insert(local);
            }),
            TokenKind::Client => self.with_service(&route, |ends| {
                ends.local_clients.insert(local, (local_gid, wire_gid));
            }),
            TokenKind::Node => true,
        }
    }

    fn local_went(&mut self, local: LocalKey) {
        if self.has_last_messages(local) {
            let shared = self.shared.clone();
            let again = move || shared.tell(Change::LocalGone(local));
            let at = Time::steady() + LAST_MESSAGES_PERIOD;
            return self.shared.tell(Change::Later(at, Box::new(again)));
        }
        let Some(LocalEnd { kind, route, _token, .. }) = self.local.remove(&local) else { return };
        drop(_token); // the network is notified first
        if !self.local.keys().any(|(participant, _)| *participant == local.0) {
            self.node_ids.retain(|(participant, _), _| *participant != local.0);
        }
        if let Some(route) = route {
            self.local_end_went(local, kind, &route);
        }
    }

    /// Returns `true` for a publisher that is gone if its last messages may still be with a thread
    /// that carries them.
    fn has_last_messages(&mut self, local: LocalKey) -> bool {
        let Some(LocalEnd { kind: TokenKind::Publisher, route: Some(route), looks, .. }) =
            self.local.get_mut(&local)
        else {
            return false;
        };
        *looks += 1;
        *looks <= LAST_MESSAGES && !self.routes.get(route).is_none_or(RouteEnds::is_idle)
    }

    fn local_end_went(&mut self, local: LocalKey, kind: TokenKind, route: &RouteKey) {
        match kind {
            TokenKind::Publisher => drop(self.with_route(route, |ends| {
                if let Some(publisher) = ends.local_publishers.remove(&local) {
                    publisher.close();
                }
            })),
            TokenKind::Subscription => drop(self.with_route(route, |ends| {
                ends.local_subscriptions.remove(&local);
            })),
            TokenKind::Server => drop(self.with_service(route, |ends| {
                ends.local_servers.remove(&local);
            })),
            TokenKind::Client => drop(self.with_service(route, |ends| {
                ends.local_clients.remove(&local);
            })),
            TokenKind::Node => {}
        }
    }

    // ---- remote endpoints ----

    fn remote_came(&mut self, token_key: String, mut token: Token) {
        if let Some(known) = self.remote.get_mut(&token_key) {
            known.is_leaving = false;
            return; // announced twice, or it is back
        }
        let rules = &self.shared.rules;
        let on_the_network = token.full_node();
        if let Some(end) = &mut token.end {
            let Some(name) = rules.inward(&end.name).map(Cow::into_owned) else { return };
            end.name = name;
        }
        // A node outside the namespace keeps its name.
        if let Some(namespace) = rules.namespace().to_local(&token.namespace).map(Cow::into_owned) {
            token.namespace = namespace;
        }
        if self.remote.len() >= MOST_REMOTE {
            return self.shared.says_once("many", || {
                format!("the network has more than {MOST_REMOTE} nodes and ends: what comes now is left out")
            });
        }
        let node = (token.session.clone(), token.node_id);
        let Some(end) = token.end.clone() else {
            if self.enter_node(&node, &token).is_some() {
                let remote =
                    RemoteEnd { kind: TokenKind::Node, node, route: None, is_leaving: false, _told: None };
                self.remote.insert(token_key, remote);
            }
            return;
        };
        // An endpoint without a hash is of Humble, and matches nothing.
        let hash = end.hash.unwrap_or(TypeHash([0; 32]));
        let route = RouteKey { name: end.name.clone(), type_name: end.type_name.clone(), hash };
        let Some(here) = self.enter_node(&node, &token) else { return };
        let asked = if self.matches_any_qos(&token) { QoS::new().best_effort() } else { end.qos };
        let came = |ends: &mut RouteEnds| {
            ends.remote_subscriptions.insert(token_key.clone(), asked);
        };
        match token.kind {
            TokenKind::Subscription => drop(self.with_route(&route, came)),
            TokenKind::Server => drop(self.with_service(&route, |ends| {
                let node = (token.namespace.clone(), token.node.clone());
                ends.remote_servers.insert(token_key.clone(), node);
            })),
            TokenKind::Client => drop(self.with_service(&route, |ends| {
                ends.remote_clients.insert(token_key.clone());
            })),
            TokenKind::Publisher => {
                if !self.remote_publisher_came((&node.0, &token_key), &here, &route, end.qos) {
                    return self.leave_node(&node);
                }
            }
            TokenKind::Node => {}
        }
        if let Some(hash) = end.hash {
            self.descriptions.want(&self.shared, &end.type_name, hash, on_the_network);
        }
        // The path exists before the endpoint is announced.
        let told = self.tell_of(&token, token.kind, &end, hash);
        let remote = RemoteEnd { kind: token.kind, node, route: Some(route), is_leaving: false, _told: told };
        self.remote.insert(token_key, remote);
    }

    /// Returns `true` if a token's program matches as rmw_zenoh does, which ignores QoS.
    fn matches_any_qos(&self, token: &Token) -> bool {
        !self.shared.strict_qos && !session_id::is_gateway(&token.session)
    }

    /// Returns the local stand-in for a token's node; creates it if there is none.
    fn enter_node(&mut self, node: &(String, u64), token: &Token) -> Option<Node> {
        if let Some((here, count)) = self.remote_nodes.get_mut(node) {
            *count += 1;
            return Some(here.clone());
        }
        let origin = if self.matches_any_qos(token) { Origin::AnyQosNetwork } else { Origin::Network };
        match self.shared.context.node_of(origin, &token.namespace, &token.node) {
            Ok(here) => {
                self.remote_nodes.insert(node.clone(), (here.clone(), 1));
                self.sessions.node_came(&node.0, &token.full_node());
                if let Some(elsewhere) = self.elsewhere.take() {
                    elsewhere.close(&self.about);
                }
                Some(here)
            }
            Err(error) => {
                let name = token.full_node();
                self.shared.says_once("node", || format!("node {name} of the network is left out: {error}"));
                None
            }
        }
    }

    fn leave_node(&mut self, node: &(String, u64)) {
        if let Some((_, count)) = self.remote_nodes.get_mut(node) {
            *count -= 1;
            if *count == 0 {
                self.remote_nodes.remove(node);
                self.sessions.node_went(&node.0);
                if self.remote_nodes.is_empty() {
                    // On an error, the session is closing.
                    self.elsewhere = Elsewhere::open(&self.shared, &self.about).ok();
                }
            }
        }
    }

    /// Returns `false` if it could not be created.
    fn remote_publisher_came(
        &mut self,
        (session, token_key): (&str, &str),
        here: &Node,
        route: &RouteKey,
        qos: QoS,
    ) -> bool {
        let made = GenericType::new(&route.type_name, route.hash)
            .map_err(|error| error.to_string())
            .and_then(|known| {
                let publisher = here.generic_publisher(&route.name, known).qos(qos).create();
                publisher.map_err(|error| error.to_string())
            });
        let publisher = match made {
            Ok(publisher) => publisher,
            Err(error) => {
                let name = &route.name;
                self.shared.says_once("publisher", || {
                    format!("a publisher on {name} of the network is left out: {error}")
                });
                return false;
            }
        };
        let mistaken = self.routes.get(route).and_then(|ends| ends.mistaken_for(&gid::of(token_key)));
        let published = mistaken.and_then(|(other, last)| {
            self.comes_anew(&other);
            last
        });
        let known = (qos, self.sessions.of(session), published);
        self.with_route(route, |ends| ends.remote_publisher_came(token_key, publisher, known))
    }

    /// Starts a remote publisher anew that has published messages of another one: its numbers start
    /// again, as for a new publisher.
    fn comes_anew(&mut self, token_key: &str) {
        let is_leaving = self.remote.get(token_key).is_none_or(|remote| remote.is_leaving);
        self.remote_went(token_key);
        if !is_leaving && let Ok(token) = Token::parse(token_key) {
            self.remote_came(token_key.to_owned(), token);
        }
    }

    /// Announces it in the domain.
    fn tell_of(&self, token: &Token, kind: TokenKind, end: &TokenEnd, hash: TypeHash) -> Option<OwnEndpoint> {
        let kind = match kind {
            TokenKind::Subscription => EndpointKind::Subscription,
            TokenKind::Server => EndpointKind::Server,
            TokenKind::Client => EndpointKind::Client,
            TokenKind::Node | TokenKind::Publisher => return None,
        };
        let mut qos = end.qos.to_bytes(true);
        let origin = if self.matches_any_qos(token) { Origin::AnyQosListed } else { Origin::Listed };
        origin.write_to(&mut qos);
        let endpoint = Endpoint {
            kind,
            number: 0,
            node: token.full_node(),
            name: end.name.clone(),
            type_name: end.type_name.clone(),
            hash: hash.0,
            qos,
        };
        self.reports.tell(endpoint)
    }

    fn remote_goes(&mut self, token_key: String) {
        let Some(RemoteEnd { kind, route, is_leaving, .. }) = self.remote.get_mut(&token_key) else { return };
        let is_heard = |route: &RouteKey| {
            self.routes.get(route).is_some_and(|ends| !ends.local_subscriptions.is_empty())
        };
        if *kind != TokenKind::Publisher || !route.as_ref().is_some_and(is_heard) {
            return self.remote_went(&token_key);
        }
        *is_leaving = true;
        let shared = self.shared.clone();
        let left = move || shared.tell(Change::RemoteLeft(token_key));
        self.shared.tell(Change::Later(Time::steady() + OVERTAKING, Box::new(left)));
    }

    fn remote_left(&mut self, token_key: &str) {
        // Unless it is back, for instance after a lost link.
        if self.remote.get(token_key).is_some_and(|remote| remote.is_leaving) {
            self.remote_went(token_key);
        }
    }

    fn remote_went(&mut self, token_key: &str) {
        let Some(RemoteEnd { kind, node, route, _told, .. }) = self.remote.remove(token_key) else { return };
        if let Some(route) = route {
            match kind {
                TokenKind::Publisher => {
                    let _ = self.with_route(&route, |ends| ends.remote_publisher_went(token_key)); // as below
                }
                TokenKind::Subscription => drop(self.with_route(&route, |ends| {
                    ends.remote_subscriptions.remove(token_key);
                })),
                TokenKind::Server => drop(self.with_service(&route, |ends| {
                    ends.remote_servers.remove(token_key);
                })),
                TokenKind::Client => drop(self.with_service(&route, |ends| {
                    ends.remote_clients.remove(token_key);
                })),
                TokenKind::Node => {}
            }
        }
        self.leave_node(&node);
    }

    // ---- topics and services ----

    /// Changes the endpoints of a topic, and then connects what they need. Returns `false` if the
    /// topic can't exist on the network, or not here.
    fn with_route(&mut self, route: &RouteKey, change: impl FnOnce(&mut RouteEnds)) -> bool {
        if !self.routes.contains_key(route) {
            let Some((known, wire_key)) = self.known(route) else { return false };
            let limit = self.shared.rules.rate(&route.name);
            let has_buffers = self.has_buffers(route);
            let words = self.reports.words(report(Report::Topic, route));
            let ends = RouteEnds::new(route.clone(), known, (wire_key, has_buffers), (limit, words));
            self.routes.insert(route.clone(), ends);
        }
        let Some(ends) = self.routes.get_mut(route) else { return false };
        change(ends);
        ends.update(&self.shared);
        if ends.is_empty()
            && let Some(mut gone) = self.routes.remove(route)
        {
            gone.close();
        }
        true
    }

    /// As [`with_route`](Self::with_route), for a service.
    fn with_service(&mut self, route: &RouteKey, change: impl FnOnce(&mut ServiceEnds)) -> bool {
        if !self.services.contains_key(route) {
            let Some((known, wire_key)) = self.known(route) else { return false };
            let own_gid = gid::of(&format!("{}/{wire_key}", self.session));
            let wire_key = match self.shared.session.declare_keyexpr(wire_key).wait() {
                Ok(declared) => declared,
                Err(error) => {
                    self.shared.says(&format!("service {} is left out: {error}", route.name));
                    return false;
                }
            };
            let words = self.reports.words(report(Report::Service, route));
            let ends = ServiceEnds::new(route.clone(), known, (wire_key, own_gid), words);
            self.services.insert(route.clone(), ends);
        }
        let Some(ends) = self.services.get_mut(route) else { return false };
        change(ends);
        ends.update(&self.shared);
        if ends.is_empty()
            && let Some(mut gone) = self.services.remove(route)
        {
            gone.close();
        }
        true
    }

    /// Returns `true` if messages of the type have buffers, as far as its description is known
    /// here.
    fn has_buffers(&self, route: &RouteKey) -> bool {
        let text = self.participant.domain().description(&route.hash.0).ok().flatten();
        let text = text.and_then(|text| String::from_utf8(text).ok());
        let description = text.and_then(|text| TypeDescription::from_json(&text));
        description.is_some_and(|description| buffer::has_buffer_field(&description))
    }

    fn known(&self, route: &RouteKey) -> Option<(GenericType, String)> {
        let RouteKey { name, type_name, hash } = route;
        let on_the_network = self.shared.rules.outward(name)?;
        let wire_key = key::of(self.shared.context.domain(), &on_the_network, type_name, *hash)?;
        match GenericType::new(type_name, *hash) {
            Ok(known) => Some((known, wire_key)),
            Err(error) => {
                self.shared.says_once("type", || format!("{name} is left out: {error}"));
                None
            }
        }
    }

    fn statistics(&self) -> GatewayStatistics {
        let names = |key: &RouteKey| (key.name.clone(), key.type_name.clone());
        let mut topics: Vec<_> = self
            .routes
            .iter()
            .map(|(key, ends)| {
                let (name, kind) = names(key);
                (name, kind, ends.statistics())
            })
            .collect();
        topics.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        let mut services: Vec<_> = self
            .services
            .iter()
            .map(|(key, ends)| {
                let (name, kind) = names(key);
                (name, kind, ends.calls())
            })
            .collect();
        services.sort();
        GatewayStatistics {
            leads: true,
            session: self.session.clone(),
            local: self.local.len(),
            remote: self.remote.len(),
            topics,
            services,
            garbage: self.about.get(GatewayWord::Garbage as usize),
        }
    }

    fn close(&mut self) {
        self.local.clear(); // the network is notified first
        self.routes.drain().for_each(|(_, mut ends)| ends.close());
        self.services.drain().for_each(|(_, mut ends)| ends.close());
        self.remote.clear();
        self.remote_nodes.clear();
    }
}

fn report(report: Report, route: &RouteKey) -> Endpoint {
    Endpoint { hash: route.hash.0, ..report.about(&route.name, &route.type_name) }
}

fn kind_of(kind: EndpointKind) -> Option<TokenKind> {
    match kind {
        EndpointKind::Node => Some(TokenKind::Node),
        EndpointKind::Publisher => Some(TokenKind::Publisher),
        EndpointKind::Subscription => Some(TokenKind::Subscription),
        EndpointKind::Server => Some(TokenKind::Server),
        EndpointKind::Client => Some(TokenKind::Client),
        _ => None,
    }
}

/// Splits a full name into a node's namespace and name.
fn split(full: &str) -> Option<(String, String)> {
    if !name::is_full_name(full) {
        return None;
    }
    let (namespace, node) = full.rsplit_once('/')?;
    Some((if namespace.is_empty() { "/" } else { namespace }.to_owned(), node.to_owned()))
}

/// Returns the gid that Sinew forms: the participant's id, and the endpoint's number in it.
fn gid_of(participant: u64, number: u64) -> Gid {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&participant.to_le_bytes());
    bytes[8..].copy_from_slice(&(number & u64::from(u32::MAX)).to_le_bytes());
    Gid(bytes)
}

/// Returns the participant in a gid of [`gid_of`].
fn participant_of(gid: Gid) -> u64 {
    let [participant, _] = gid.0.as_chunks::<8>().0 else { return 0 };
    u64::from_le_bytes(*participant)
}
