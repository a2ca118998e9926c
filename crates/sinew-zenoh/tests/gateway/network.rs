//! A network on loopback: a router, hosts with a gateway each, and a stand-in for a ROS 2 node.

use parking_lot::Mutex;
use sinew::msg::TypeHash;
use sinew::prelude::*;
use sinew_zenoh::config::SessionOptions;
use sinew_zenoh::wire::attachment::Attachment;
use sinew_zenoh::wire::token::{Token, TokenEnd, TokenKind};
use sinew_zenoh::wire::{gid, key};
use sinew_zenoh::{Gateway, Router};
use std::sync::Arc;
use std::time::Instant;
use zenoh::liveliness::LivelinessToken;
use zenoh::{Session, Wait};

/// Time limit of operations that would otherwise hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const STRING: (&str, &str) =
    ("std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
pub(crate) const ADD: (&str, &str) = (
    "example_interfaces/srv/AddTwoInts",
    "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a",
);

/// Waits until `look` finds something.
pub(crate) fn wait_for<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> R {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: it never is");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Options of a session for a machine that may hold it up for long: zenoh gives up a link on which
/// nothing comes for its lease, of ten seconds by default.
pub(crate) fn patient() -> SessionOptions {
    let mut options = SessionOptions::default();
    options.set.push(("transport/link/tx/lease".to_owned(), "60000".to_owned()));
    options
}

pub(crate) struct Network {
    pub(crate) router: Router,
}

impl Network {
    pub(crate) fn new() -> Self {
        let mut options = patient();
        options.listen.push("tcp/127.0.0.1:0".to_owned());
        Self { router: Router::start(&|_| None, &options).expect("a port is free") }
    }

    pub(crate) fn endpoint(&self) -> String {
        self.router.endpoints().remove(0)
    }

    pub(crate) fn options(&self) -> SessionOptions {
        let mut options = patient();
        options.connect.push(self.endpoint());
        options.listen.push("tcp/127.0.0.1:0".to_owned());
        options
    }

    /// The same for a session with messages that all go through the router.
    pub(crate) fn client_options(&self) -> SessionOptions {
        let mut options = self.options();
        options.client = true;
        options
    }

    /// Opens a session configured like ROS 2's.
    pub(crate) fn session(&self) -> Session {
        self.session_with(&self.options())
    }

    /// The same with other options.
    pub(crate) fn session_with(&self, options: &SessionOptions) -> Session {
        let config = sinew_zenoh::config::session(&|_| None, options).expect("it is right");
        zenoh::open(config).wait().expect("the router is there")
    }
}

/// A host: a directory of its own for its programs' domain.
pub(crate) struct Host {
    place: tempfile::TempDir,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self { place: tempfile::tempdir_in("/dev/shm").expect("shared memory") }
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.place.path()
    }

    /// Starts a program on it.
    pub(crate) fn context(&self) -> Context {
        Context::builder().domain(7).directory(self.place.path()).build().expect("a context")
    }

    /// Returns the domain of its programs.
    pub(crate) fn domain(&self) -> sinew_shm::Domain {
        sinew_shm::Domain::open(Some(self.place.path()), 7).expect("it is there")
    }

    /// Starts its gateway as in a process of its own.
    pub(crate) fn gateway(&self, network: &Network) -> Gateway {
        self.gateway_in(&self.context(), network)
    }

    pub(crate) fn gateway_in(&self, context: &Context, network: &Network) -> Gateway {
        let builder = Gateway::builder().options(network.options());
        builder.start_with(context, &|_| None).expect("a gateway")
    }

    /// Starts a gateway that sends everything through the router. Between two peers, zenoh may lose
    /// messages while they open a link of their own.
    pub(crate) fn client_gateway(&self, network: &Network) -> Gateway {
        let builder = Gateway::builder().options(network.client_options());
        builder.start_with(&self.context(), &|_| None).expect("a gateway")
    }
}

/// An endpoint that a program of a host announces without serving it.
pub(crate) struct Announced {
    _participant: Arc<sinew_shm::transport::Participant>,
    _end: sinew_shm::transport::OwnEndpoint,
}

impl Announced {
    pub(crate) fn subscription(host: &Host, name: &str, kind: (&str, &str)) -> Self {
        Self::subscription_that_says(host, name, kind, QoS::default().to_bytes(true))
    }

    /// An endpoint that no publisher matches, with an invalid QoS.
    pub(crate) fn nonsense(host: &Host, name: &str, kind: (&str, &str)) -> Self {
        let mut qos = QoS::default().to_bytes(true);
        qos[0] = u8::MAX;
        assert!(QoS::from_bytes(&qos).is_none());
        Self::subscription_that_says(host, name, kind, qos)
    }

    fn subscription_that_says(
        host: &Host,
        name: &str,
        (type_name, hash): (&str, &str),
        qos: [u8; 64],
    ) -> Self {
        let participant = sinew_shm::transport::Participant::join(&host.domain(), Arc::new(Indifferent))
            .expect("there is room");
        let end = sinew_shm::Endpoint {
            kind: sinew_shm::EndpointKind::Subscription,
            number: 1,
            node: "/stopped".to_owned(),
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            hash: hash.parse::<TypeHash>().expect("a hash").0,
            qos,
        };
        let end = participant.advertise(&end, None).expect("there is room");
        Self { _participant: participant, _end: end }
    }
}

/// An observer that ignores all other participants.
struct Indifferent;

impl sinew_shm::transport::Observer for Indifferent {
    fn appeared(&self, _: &Arc<sinew_shm::Peer>, _: sinew_shm::EndpointKey, _: &sinew_shm::Endpoint) {}
    fn vanished(&self, _: &Arc<sinew_shm::Peer>, _: sinew_shm::EndpointKey) {}
    fn connected(
        &self,
        _: sinew_shm::transport::Incoming,
        _: Option<sinew_shm::EndpointKey>,
    ) -> Option<Arc<dyn sinew_shm::transport::Sink>> {
        None
    }
    fn left(&self, _: &Arc<sinew_shm::Peer>) {}
}

/// A session that behaves as rmw_zenoh does for one node.
pub(crate) struct RosNode {
    pub(crate) session: Session,
    name: &'static str,
    next_id: Mutex<u64>,
    _node: LivelinessToken,
}

impl RosNode {
    pub(crate) fn new(network: &Network, name: &'static str) -> Self {
        Self::of(network.session(), name)
    }

    /// A node with messages that all go through the router, so that they keep their order from the
    /// first one on: two peers talk directly once they have found each other.
    pub(crate) fn client(network: &Network, name: &'static str) -> Self {
        Self::of(network.session_with(&network.client_options()), name)
    }

    pub(crate) fn of(session: Session, name: &'static str) -> Self {
        let node = Self::token(&session, (name, 0, TokenKind::Node), None).1;
        Self { session, name, next_id: Mutex::new(1), _node: node }
    }

    fn token(
        session: &Session,
        (name, id, kind): (&str, u64, TokenKind),
        end: Option<TokenEnd>,
    ) -> ([u8; 16], LivelinessToken) {
        let token = Token {
            domain: 7,
            session: session.zid().to_string(),
            node_id: 0,
            id,
            kind,
            enclave: "/".to_owned(),
            namespace: "/ros".to_owned(),
            node: name.to_owned(),
            end,
        };
        let key = token.to_key();
        (gid::of(&key), session.liveliness().declare_token(key).wait().expect("the session is open"))
    }

    /// Waits until a gateway subscribes to a topic, and this session knows it: later messages
    /// arrive, if everything goes through the router. (A gateway declares its subscription before
    /// the token.)
    pub(crate) fn wait_until_heard(&self, topic: &str) {
        let is_its = |token: &Token| {
            let of = |end: &TokenEnd| end.name == topic;
            token.kind == TokenKind::Subscription && token.end.as_ref().is_some_and(of)
        };
        let own = self.session.zid().to_string();
        wait_for(&format!("a subscription to {topic}"), || {
            let tokens = self.session.liveliness().get("@ros2_lv/7/**").wait().expect("the session is open");
            let mut tokens = tokens
                .into_iter()
                .filter_map(|reply| Token::parse(reply.into_result().ok()?.key_expr().as_str()).ok());
            tokens.any(|token| token.session != own && is_its(&token)).then_some(())
        });
    }

    /// Returns a token of a publisher of `/chatter` that isn't announced yet.
    pub(crate) fn late_token(&self) -> String {
        let end = TokenEnd {
            name: "/chatter".to_owned(),
            type_name: STRING.0.to_owned(),
            hash: STRING.1.parse().ok(),
            qos: QoS::new(),
            backends: None,
        };
        let token = Token {
            domain: 7,
            session: self.session.zid().to_string(),
            node_id: 1,
            id: 100,
            kind: TokenKind::Publisher,
            enclave: "/".to_owned(),
            namespace: "/ros".to_owned(),
            node: "late".to_owned(),
            end: Some(end),
        };
        token.to_key()
    }

    /// Publishes a number as the publisher of that token.
    pub(crate) fn put_of(&self, token: &str, sequence: i64) {
        let attachment = Attachment { sequence, time: 1, gid: gid::of(token), chain: None };
        let put = self.session.put(key_of("/chatter", STRING), encoded_text(&sequence.to_string()));
        put.attachment(attachment.to_bytes()).wait().expect("the session is open");
    }

    /// Announces an endpoint.
    pub(crate) fn tell(
        &self,
        kind: TokenKind,
        name: &str,
        (type_name, hash): (&str, &str),
        qos: QoS,
    ) -> ([u8; 16], LivelinessToken) {
        let mut id = self.next_id.lock();
        *id += 1;
        let end = TokenEnd {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            hash: hash.parse().ok(),
            qos,
            backends: None,
        };
        Self::token(&self.session, (self.name, *id, kind), Some(end))
    }

    pub(crate) fn publisher(&self, name: &str, kind: (&str, &str), qos: QoS) -> RosPublisher {
        let key = key_of(name, kind);
        let publisher = self.session.declare_publisher(key).wait().expect("the session is open");
        let (gid, token) = self.tell(TokenKind::Publisher, name, kind, qos);
        RosPublisher { publisher, gid, sequence: Mutex::new(0), _token: token }
    }

    pub(crate) fn subscription(&self, name: &str, kind: (&str, &str), qos: QoS) -> RosSubscription {
        let heard = Heard::default();
        let to = heard.clone();
        let subscriber = self
            .session
            .declare_subscriber(key_of(name, kind))
            .callback(move |sample| {
                let attachment = sample.attachment().expect("an attachment").to_bytes().into_owned();
                let attachment = Attachment::parse(&attachment).expect("an attachment");
                to.0.lock().push((sample.payload().to_bytes().into_owned(), attachment));
            })
            .wait()
            .expect("the session is open");
        let (_, token) = self.tell(TokenKind::Subscription, name, kind, qos);
        RosSubscription { heard, _subscriber: subscriber, _token: token }
    }
}

pub(crate) fn key_of(name: &str, (type_name, hash): (&str, &str)) -> String {
    key::of(7, name, type_name, hash.parse().expect("a hash")).expect("a name")
}

pub(crate) struct RosPublisher {
    publisher: zenoh::pubsub::Publisher<'static>,
    pub(crate) gid: [u8; 16],
    sequence: Mutex<i64>,
    _token: LivelinessToken,
}

impl RosPublisher {
    pub(crate) fn publish(&self, encoded: &[u8], time: i64) {
        let mut sequence = self.sequence.lock();
        *sequence += 1;
        let attachment = Attachment { sequence: *sequence, time, gid: self.gid, chain: None };
        let put = self.publisher.put(encoded).attachment(attachment.to_bytes());
        put.wait().expect("the session is open");
    }

    /// Acts as if `count` messages were lost.
    pub(crate) fn skip(&self, count: i64) {
        *self.sequence.lock() += count;
    }
}

/// The messages that a subscription of ROS 2 received: encoded forms with attachments.
#[derive(Clone, Default)]
pub(crate) struct Heard(pub(crate) Arc<Mutex<Vec<Came>>>);

/// An encoded message, and its attachment.
type Came = (Vec<u8>, Attachment);

pub(crate) struct RosSubscription {
    pub(crate) heard: Heard,
    _subscriber: zenoh::pubsub::Subscriber<()>,
    _token: LivelinessToken,
}

impl RosSubscription {
    /// Returns the next message.
    pub(crate) fn next(&self) -> (Vec<u8>, Attachment) {
        wait_for("a message for ROS 2", || {
            let mut heard = self.heard.0.lock();
            (!heard.is_empty()).then(|| heard.remove(0))
        })
    }
}

/// Encodes a text in CDR, with the padding that rmw_zenoh may append.
pub(crate) fn encoded_text(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len() + 1).expect("it is short").to_le_bytes();
    [&[0, 1, 0, 0][..], &length, text.as_bytes(), &[0; 5]].concat()
}
