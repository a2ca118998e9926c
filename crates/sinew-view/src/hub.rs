//! What all clients of a server share, and the thread that follows the graph for them.

use crate::catalogue::{Catalogue, Changes, Key, KnownType, Seen, Service};
use crate::playback::Playback;
use crate::session::{Change, Session};
use crate::settings::{Settings, TypeDefinition};
use crate::socket::{FrameKind, GOING_AWAY};
use crate::wire::{CDR, JSON, Level, Provided, Published, ServerText, Subscribed, Timestamp};
use sinew::__private::locks::{Condvar, Mutex};
use sinew::Node;
use sinew::graph::{EndpointInfo, EndpointKind, GraphSnapshot};
use sinew::msg::TypeHash;
use sinew::time::Time;
use sinew_msg::description::TypeDescription;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Time between two checks of calls and handshakes that take too long, and of types without a
/// description.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// Time between two looks at a player: it also stops at its end, and others may control it.
const PLAYBACK_PERIOD: Duration = Duration::from_millis(50);

/// Time for a client's handshake, however it trickles in.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Counters of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ViewStatistics {
    /// Clients that are connected now.
    pub clients: usize,
    /// Messages of topics that were sent to clients; one that goes to two of them counts twice.
    pub messages: u64,
    /// Messages that gave way to newer ones before they were sent, as the client or the way to it
    /// was too slow.
    pub dropped: u64,
}

#[derive(Default)]
struct State {
    is_ending: bool,
    /// The graph has changed since it was looked at.
    is_stale: bool,
    catalogue: Catalogue,
    sessions: BTreeMap<u64, Arc<Session>>,
    last_session: u64,
    /// Connections with a thread.
    connections: BTreeMap<u64, Connected>,
    last_connection: u64,
    /// Parameters have changed since clients were told.
    has_changed_parameters: bool,
}

/// A connection.
struct Connected {
    stream: Arc<TcpStream>,
    /// The time at which its handshake has failed; `None`: it has succeeded. Steady time.
    deadline: Option<Time>,
}

impl Connected {
    fn disconnect(&self) {
        let _ = self.stream.shutdown(Shutdown::Both); // fails if the client has gone
    }
}

pub(crate) struct Hub {
    pub(crate) node: Node,
    pub(crate) settings: Settings,
    /// Tells viewers whether a new connection is one to the same server.
    id: String,
    state: Mutex<State>,
    /// Wakes the thread that follows the graph.
    news: Condvar,
    /// Wakes threads that wait for the end of connections.
    ended: Condvar,
    totals: Mutex<ViewStatistics>,
    /// Clients with jobs for the thread for parameters; `None` only wakes it, to look whether parameters
    /// have changed or the server ends.
    jobs: Sender<Option<Arc<Session>>>,
}

impl Hub {
    pub(crate) fn new(
        node: Node,
        settings: Settings,
        id: String,
        jobs: Sender<Option<Arc<Session>>>,
    ) -> Self {
        let state = Mutex::new(State { is_stale: true, ..State::default() });
        let (news, ended) = (Condvar::new(), Condvar::new());
        Self { node, settings, id, state, news, ended, totals: Mutex::default(), jobs }
    }

    // ---- the thread that follows the graph ----

    /// Follows the graph until the server ends.
    pub(crate) fn follow(&self) {
        let mut known = BTreeSet::new();
        loop {
            let (sessions, is_stale) = {
                let mut state = self.state.lock();
                if !state.is_stale && !state.is_ending {
                    self.news.wait_for(&mut state, LOOK_PERIOD);
                }
                if state.is_ending {
                    return;
                }
                state.end_late_handshakes();
                let is_stale = std::mem::take(&mut state.is_stale) || !state.catalogue.undescribed.is_empty();
                (state.sessions.values().cloned().collect::<Vec<_>>(), is_stale)
            };
            if is_stale {
                self.update(&mut known);
            }
            sessions.iter().for_each(|session| session.expire_calls());
        }
    }

    /// Says that the graph has changed, or that a client wants it.
    pub(crate) fn graph_changed(&self) {
        self.state.lock().is_stale = true;
        self.news.notify_all();
    }

    /// Takes up the graph as it is. `known` has the names of topics and services at the last look.
    pub(crate) fn update(&self, known: &mut BTreeSet<(bool, String)>) {
        let snapshot = self.node.graph().snapshot();
        let seen = Seen::of(&snapshot, &self.settings);
        let (topics, services) = self.state.lock().catalogue.unknown(&seen);
        // Definitions come from files and from the program's own function: under no lock.
        let topic =
            |key: Key| Some((key.clone(), Arc::new(self.message_type(seen.topics.get(&key)?.0, &key)?)));
        let topic_types = topics.into_iter().filter_map(topic).collect();
        let service = |key: Key| Some((key.clone(), self.service_types(seen.services.get(&key)?, &key)?));
        let service_types = services.into_iter().filter_map(service).collect();
        let graph = self.connection_graph(&snapshot, known);

        let mut state = self.state.lock();
        let changes = state.catalogue.apply(&seen, &topic_types, service_types);
        let State { catalogue, sessions, .. } = &*state;
        let texts = texts(catalogue, &changes);
        for session in sessions.values() {
            texts.iter().for_each(|text| session.send_text(text.clone()));
            if !changes.gone_channels.is_empty() {
                session.change(Change::Gone { channels: changes.gone_channels.clone() });
            }
            for (channel, qos) in &changes.weakened {
                session.change(Change::Request { channel: *channel, qos: *qos });
            }
            session.send_graph(&graph);
        }
    }

    fn message_type(&self, endpoint: &EndpointInfo, key: &Key) -> Option<KnownType> {
        if let Some(found) = self.defined(&key.type_name, Some(key.hash())) {
            let TypeDefinition { description, schema } = found;
            let known = KnownType::of(description);
            return Some(KnownType { schema: schema.unwrap_or(known.schema), ..known });
        }
        if key.source.is_some() {
            return KnownType::compressed_image();
        }
        self.node.graph().description_of(endpoint).map(KnownType::of)
    }

    fn service_types(&self, endpoint: &EndpointInfo, key: &Key) -> Option<(KnownType, KnownType)> {
        let found = self.defined(&key.type_name, Some(key.hash())).map(|found| found.description);
        let service = found.or_else(|| self.node.graph().description_of(endpoint))?;
        let part = |suffix: &str| {
            let known = KnownType::inside(&service, &format!("{}{suffix}", key.type_name))?;
            Some(known.with_texts(|name| self.defined(name, None)))
        };
        Some((part("_Request")?, part("_Response")?))
    }

    /// Asks the program's function for a type.
    fn defined(&self, name: &str, hash: Option<TypeHash>) -> Option<TypeDefinition> {
        let found = (self.settings.find_type)(name, hash);
        found.filter(|found| hash.is_none_or(|hash| found.description.hash() == hash))
    }

    /// Returns the description of a type with which to publish on a topic: preferably the one that
    /// an endpoint of the topic has.
    pub(crate) fn type_to_publish(&self, topic: &str, type_name: &str) -> Option<TypeDescription> {
        let graph = self.node.graph();
        let snapshot = graph.snapshot();
        let is_message = |endpoint: &EndpointInfo| {
            matches!(endpoint.kind, EndpointKind::Publisher | EndpointKind::Subscription)
        };
        let mut of_type: Vec<_> = snapshot.endpoints().iter().filter(|one| is_message(one)).collect();
        of_type.retain(|endpoint| endpoint.type_name == type_name);
        of_type.sort_by_key(|endpoint| endpoint.name != topic);
        let in_use = of_type.into_iter().find_map(|endpoint| {
            let defined = self.defined(type_name, endpoint.type_hash).map(|found| found.description);
            defined.or_else(|| graph.description_of(endpoint))
        });
        in_use.or_else(|| self.defined(type_name, None).map(|found| found.description))
    }

    /// Returns the text with the publishers, subscriptions and servers of each name.
    fn connection_graph(&self, snapshot: &GraphSnapshot, known: &mut BTreeSet<(bool, String)>) -> Arc<str> {
        let own = self.node.full_name();
        let mut ends: BTreeMap<(EndpointKindKey, &str), BTreeSet<&str>> = BTreeMap::new();
        for endpoint in snapshot.endpoints().iter().filter(|endpoint| endpoint.node != own) {
            let kind = match endpoint.kind {
                EndpointKind::Publisher => EndpointKindKey::Publisher,
                EndpointKind::Subscription => EndpointKindKey::Subscription,
                EndpointKind::Server => EndpointKindKey::Server,
                _ => continue,
            };
            let is_shown = match kind {
                EndpointKindKey::Server => self.settings.shows_service(&endpoint.name),
                _ => self.settings.shows_topic(&endpoint.name),
            };
            if is_shown {
                ends.entry((kind, &endpoint.name)).or_default().insert(&endpoint.node);
            }
        }
        let now: BTreeSet<(bool, String)> =
            ends.keys().map(|(kind, name)| (*kind == EndpointKindKey::Server, (*name).to_owned())).collect();
        let before = std::mem::replace(known, now);
        let known = &*known;
        let gone = |is_service: bool| {
            let gone = before.iter().filter(move |one| one.0 == is_service && !known.contains(*one));
            gone.map(|(_, name)| name.as_str()).collect()
        };
        let of = |wanted: EndpointKindKey| {
            let of_kind = ends.iter().filter(move |((kind, _), _)| *kind == wanted);
            of_kind.map(|((_, name), nodes)| (*name, nodes.iter().copied().collect::<Vec<_>>()))
        };
        let text = ServerText::ConnectionGraphUpdate {
            published_topics: of(EndpointKindKey::Publisher)
                .map(|(name, publisher_ids)| Published { name, publisher_ids })
                .collect(),
            subscribed_topics: of(EndpointKindKey::Subscription)
                .map(|(name, subscriber_ids)| Subscribed { name, subscriber_ids })
                .collect(),
            advertised_services: of(EndpointKindKey::Server)
                .map(|(name, provider_ids)| Provided { name, provider_ids })
                .collect(),
            removed_topics: gone(false),
            removed_services: gone(true),
        };
        text.to_json().into()
    }

    // ---- clients ----

    /// Adds a connection, which shakes hands at first. Returns its number; `None` if there are too
    /// many, or the server ends.
    pub(crate) fn begin_connection(&self, stream: &Arc<TcpStream>) -> Option<u64> {
        let mut state = self.state.lock();
        if state.is_ending || state.connections.len() >= self.settings.max_clients {
            return None;
        }
        state.last_connection += 1;
        let (number, deadline) = (state.last_connection, Some(Time::steady() + HANDSHAKE_TIMEOUT));
        state.connections.insert(number, Connected { stream: stream.clone(), deadline });
        Some(number)
    }

    /// Says that a connection's handshake has succeeded.
    pub(crate) fn end_handshake(&self, number: u64) {
        if let Some(connection) = self.state.lock().connections.get_mut(&number) {
            connection.deadline = None;
        }
    }

    pub(crate) fn end_connection(&self, number: u64) {
        let ended = self.state.lock().connections.remove(&number);
        drop(ended); // closes it
        self.ended.notify_all();
    }

    /// Adds a client, and tells it all that there is. `None` if the server ends.
    pub(crate) fn add_session(&self, stream: Arc<TcpStream>) -> Option<Arc<Session>> {
        let mut state = self.state.lock();
        if state.is_ending {
            return None;
        }
        state.last_session += 1;
        let session = Arc::new(Session::new(state.last_session, stream));
        state.sessions.insert(session.number, session.clone());
        // Under the lock, so that no change is told before.
        session.send_text(self.server_info());
        if let Some(playback) = &self.settings.playback {
            playback.greeting().into_iter().for_each(|frame| session.send(FrameKind::Binary, frame));
        }
        let catalogue = &state.catalogue;
        if !catalogue.channels.is_empty() {
            session.send_text(catalogue.advertise(catalogue.channels.keys()));
        }
        if !catalogue.services.is_empty() {
            session.send_text(catalogue.advertise_services(catalogue.services.keys()));
        }
        for (name, problem) in &catalogue.undescribed {
            session.status(Level::Warning, problem, Some(&undescribed_id(name)));
        }
        Some(session)
    }

    pub(crate) fn remove_session(&self, session: &Session) {
        self.state.lock().sessions.remove(&session.number);
    }

    fn server_info(&self) -> String {
        let Settings { name, allowed, use_sim_time, playback, assets, .. } = &self.settings;
        let span = playback.as_ref().map(Playback::span);
        let capabilities = [
            (true, "connectionGraph"),
            (true, "parameters"),
            (true, "parametersSubscribe"),
            (allowed.publish, "clientPublish"),
            (allowed.services, "services"),
            (*use_sim_time || playback.is_some(), "time"),
            (allowed.playback && playback.is_some(), "playbackControl"),
            (!assets.is_empty(), "assets"),
        ];
        let distribution = std::env::var("ROS_DISTRO").ok().filter(|name| !name.is_empty());
        let text = ServerText::ServerInfo {
            name,
            capabilities: capabilities.into_iter().filter_map(|(has, name)| has.then_some(name)).collect(),
            supported_encodings: if allowed.publish || allowed.services {
                vec![CDR, JSON]
            } else {
                Vec::new()
            },
            // By this viewers know that topics and types are those of ROS 2.
            metadata: [("ROS_DISTRO", distribution.unwrap_or_else(|| "jazzy".to_owned()))].into(),
            session_id: &self.id,
            data_start_time: span.map(|(start, _)| Timestamp::of(start)),
            data_end_time: span.map(|(_, end)| Timestamp::of(end)),
        };
        text.to_json()
    }

    /// Subscribes a client to a channel; `false` if there is none.
    pub(crate) fn subscribe(&self, session: &Session, id: u32, channel: u32) -> bool {
        let state = self.state.lock();
        let Some((channel, qos)) = state.catalogue.channels.get(&channel).cloned() else { return false };
        // Under the lock, so that it comes before what changes the channel after this look.
        session.change(Change::Subscribe { id, channel, qos });
        true
    }

    pub(crate) fn service(&self, id: u32) -> Option<Arc<Service>> {
        self.state.lock().catalogue.services.get(&id).cloned()
    }

    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        self.state.lock().sessions.values().cloned().collect()
    }

    /// Sends a binary frame to all clients.
    pub(crate) fn broadcast(&self, frame: &[u8]) {
        for session in self.sessions() {
            session.send(FrameKind::Binary, frame.to_vec());
        }
    }

    /// Sends viewers the time and changes of the state of a playback until the server ends.
    pub(crate) fn follow_playback(&self) {
        let Some(playback) = &self.settings.playback else { return };
        while !self.is_ending() {
            playback.send_news(|frame| self.broadcast(frame));
            self.wait_for_an_end(PLAYBACK_PERIOD);
        }
    }

    /// Puts a client with jobs into the queue of the thread for parameters; `None` wakes the thread.
    pub(crate) fn ask(&self, session: Option<Arc<Session>>) {
        let _ = self.jobs.send(session); // the thread has gone if the server ends
    }

    /// Says that parameters have changed. The thread for parameters looks for that after each job.
    pub(crate) fn parameters_changed(&self) {
        let is_noted = std::mem::replace(&mut self.state.lock().has_changed_parameters, true);
        if !is_noted {
            self.ask(None);
        }
    }

    /// Returns whether parameters have changed since the last call.
    pub(crate) fn take_parameters_changed(&self) -> bool {
        std::mem::take(&mut self.state.lock().has_changed_parameters)
    }

    // ---- counters ----

    pub(crate) fn count_sent(&self) {
        self.totals.lock().messages += 1;
    }

    pub(crate) fn count_dropped(&self, count: u64) {
        self.totals.lock().dropped += count;
    }

    pub(crate) fn statistics(&self) -> ViewStatistics {
        let clients = self.state.lock().sessions.len();
        ViewStatistics { clients, ..*self.totals.lock() }
    }

    // ---- the end ----

    pub(crate) fn is_ending(&self) -> bool {
        self.state.lock().is_ending
    }

    /// Ends the threads of the server, and says goodbye to the clients.
    pub(crate) fn end(&self) {
        let sessions = {
            let mut state = self.state.lock();
            state.is_ending = true;
            state.connections.values().filter(|one| one.deadline.is_some()).for_each(Connected::disconnect);
            std::mem::take(&mut state.sessions)
        };
        self.news.notify_all();
        self.ended.notify_all();
        self.ask(None);
        sessions.values().for_each(|session| session.end(GOING_AWAY));
        if !self.wait_for_connections(Duration::from_secs(1)) {
            self.state.lock().connections.values().for_each(Connected::disconnect);
        }
        // Their threads may still be in a function of the program, or of the core.
        self.wait_for_connections(Duration::from_secs(30));
    }

    /// Waits for a connection or the server to end, but at most for that time.
    pub(crate) fn wait_for_an_end(&self, timeout: Duration) {
        let mut state = self.state.lock();
        if !state.is_ending {
            self.ended.wait_for(&mut state, timeout);
        }
    }

    /// Waits for all connections to end; `false` if some are left after that time.
    fn wait_for_connections(&self, timeout: Duration) -> bool {
        let begin = Time::steady();
        let mut state = self.state.lock();
        while !state.connections.is_empty() {
            let rest = timeout.saturating_sub(Time::steady() - begin);
            if rest.is_zero() {
                return false;
            }
            self.ended.wait_for(&mut state, rest);
        }
        true
    }
}

impl State {
    /// Ends the connections of clients that take too long to shake hands.
    fn end_late_handshakes(&self) {
        let now = Time::steady();
        let is_late = |one: &&Connected| one.deadline.is_some_and(|deadline| deadline <= now);
        self.connections.values().filter(is_late).for_each(Connected::disconnect);
    }
}

/// Kinds of endpoints, in the order in which they are told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EndpointKindKey {
    Publisher,
    Subscription,
    Server,
}

fn undescribed_id(name: &str) -> String {
    format!("undescribed:{name}")
}

/// Returns the texts that tell clients of changes.
fn texts(catalogue: &Catalogue, changes: &Changes) -> Vec<String> {
    let mut texts = Vec::new();
    if !changes.gone_channels.is_empty() {
        texts.push(ServerText::Unadvertise { channel_ids: &changes.gone_channels }.to_json());
    }
    if !changes.gone_services.is_empty() {
        texts.push(ServerText::UnadvertiseServices { service_ids: &changes.gone_services }.to_json());
    }
    if !changes.new_channels.is_empty() {
        texts.push(catalogue.advertise(&changes.new_channels));
    }
    if !changes.new_services.is_empty() {
        texts.push(catalogue.advertise_services(&changes.new_services));
    }
    for name in &changes.new_undescribed {
        let Some(message) = catalogue.undescribed.get(name) else { continue };
        let id = undescribed_id(name);
        texts.push(ServerText::Status { level: Level::Warning, message, id: Some(&id) }.to_json());
    }
    if !changes.now_described.is_empty() {
        let status_ids = changes.now_described.iter().map(|name| undescribed_id(name)).collect();
        texts.push(ServerText::RemoveStatus { status_ids }.to_json());
    }
    texts
}
