//! `sinew topic pub`: messages from a text, published at a fixed rate.
//!
//! It takes part as a node would, but needs no code of the type: it writes encoded messages.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sinew::QoS;
use sinew::event::Mismatch;
use sinew::gateway::Origin;
use sinew::graph::{self, EndpointInfo};
use sinew::qos::{Durability, Policy};
use sinew_msg::TypeHash;
use sinew_msg::definition::Kind;
use sinew_msg::dynamic::{Style, Template};
use sinew_shm::transport::{
    Connect, EventReceiver, Head, Incoming, Observer, OwnEndpoint, Participant, Sink, Writer,
};
use sinew_shm::{Counter, Domain, Endpoint, EndpointKey, EndpointKind, Peer};

use super::values::written;
use super::{qos, template};
use crate::cli::interfaces::PubOptions;
use crate::error::{Error, TypesError};
use crate::interfaces::{PackageSources, Types, name};
use crate::observed::Observed;
use crate::output::{print, says};
use crate::terminal;
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_bench::run::Collected;

/// Bytes of an encoded message that fit into the ring itself.
const INLINE: usize = 200;

/// Time after which waiting for subscriptions is reported.
const TELL_AFTER: Duration = Duration::from_secs(1);

/// Longest wait for readers that must get everything, between two checks for the end.
const WAIT_FOR_ROOM: Duration = Duration::from_millis(100);

/// Publishes until the end.
pub(super) fn run(options: &PubOptions) -> Result<(), Error> {
    let number = options.place.domain().map_err(Error::DomainNumber)?;
    let domain = Domain::open(options.place.dir.as_deref(), number)?;
    let types = Types::new(PackageSources::open(&options.definitions)?, Some(domain.clone()));
    let type_name = name(&options.type_name, types.sources())?;
    if type_name.kind() != Kind::Message && !type_name.base().contains('_') {
        let name = type_name.to_string();
        let wanted = "topics have messages: name the part, such as _Request";
        return Err(TypesError::Kind { name, is: type_name.kind().name(), wanted }.into());
    }
    let description = types.in_use(&type_name, &options.place)?;
    let message_type = types.message(&type_name, Some(description.hash()))?;
    let values = written(&options.values, &options.source)?;
    let message = template::message_of(&message_type, &values)?;
    let offered = options.qos.qos(QoS::default());

    let topic = options.name.clone();
    let hash = description.hash();
    if !options.force {
        refuse_other_type(options, &domain, (type_name.as_str(), &hash.0))?;
    }
    let found = Arc::new(PublishObserver {
        topic: topic.clone(),
        type_name: type_name.to_string(),
        hash: hash.0,
        port: OnceLock::new(),
        news: Collected::new(PublishNews::default()),
    });
    let participant = Participant::join(&domain, found.clone())?;
    // A missing description only affects tools: the messages are published without it.
    let _ = domain.keep_description(&hash.0, &description.to_json());
    let node = options.node_name.clone().unwrap_or_else(|| format!("/_sinew_pub_{}", std::process::id()));
    let publisher = Endpoint {
        kind: EndpointKind::Publisher,
        number: 2,
        node,
        name: topic,
        type_name: type_name.to_string(),
        hash: hash.0,
        qos: offered.to_bytes(true),
    };
    let outcome =
        Publish::new(&participant, &publisher, &found, (offered, message)).and_then(|mut publish| {
            let port = found.port.get_or_init(|| publish.port.clone());
            let (rung, news) = (Arc::clone(port), found.news.clone());
            let stop = move || {
                news.with(|news| news.is_enough = true);
                rung.ring();
            };
            terminal::stop_on_signal(stop, None)?;
            publish.run(options)
        });
    participant.leave();
    outcome
}

/// Fails if there are other endpoints of the topic, and none has this type.
fn refuse_other_type(
    options: &PubOptions,
    domain: &Domain,
    (type_name, hash): (&str, &[u8; 32]),
) -> Result<(), Error> {
    let seen = Observed::open_quietly(&options.place)?.read()?;
    // A subscription gives the better message: it would receive nothing.
    let mut ends = seen.subscriptions(&options.name).chain(seen.publishers(&options.name));
    let Some(other) = ends.next() else { return Ok(()) };
    let is_ours = |end: &EndpointInfo| end.type_name == type_name && end.type_hash == Some(TypeHash(*hash));
    if is_ours(other) || ends.any(is_ours) {
        return Ok(());
    }
    let asked = Endpoint {
        kind: EndpointKind::Subscription,
        number: 0,
        node: other.node.clone(),
        name: other.name.clone(),
        type_name: other.type_name.clone(),
        hash: other.type_hash.map_or([0; 32], |hash| hash.0),
        qos: other.qos.to_bytes(other.leaves_process()),
    };
    let qos = QoS::default().to_bytes(true);
    let offered = Endpoint {
        kind: EndpointKind::Publisher,
        type_name: type_name.to_owned(),
        hash: *hash,
        qos,
        ..asked.clone()
    };
    let Some(mismatch) = Mismatch::of_announced(&offered, &asked, false, Some(domain)) else {
        return Ok(());
    };
    let EndpointInfo { node, type_name: theirs, .. } = other;
    let why = match other.kind {
        graph::EndpointKind::Publisher if theirs == type_name => {
            format!("it is published with another hash of that type by {node}")
        }
        graph::EndpointKind::Publisher => format!("it is published as {theirs} by {node}"),
        _ => format!("incompatible: {mismatch} with {node}"),
    };
    Err(Error::OtherType { topic: options.name.clone(), why, type_name: theirs.clone() })
}

/// State shared with the participant's helper thread.
struct PublishObserver {
    topic: String,
    type_name: String,
    hash: [u8; 32],
    port: OnceLock<Arc<EventReceiver>>,
    news: Collected<PublishNews>,
}

#[derive(Default)]
struct PublishNews {
    came: Vec<(Arc<Peer>, EndpointKey, Endpoint)>,
    went: Vec<(u64, EndpointKey)>,
    is_enough: bool,
}

impl PublishObserver {
    fn wake(&self) {
        if let Some(port) = self.port.get() {
            port.ring();
        }
    }
}

impl Observer for PublishObserver {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        if entity.kind == EndpointKind::Subscription && entity.name == self.topic {
            if entity.type_name != self.type_name || entity.hash != self.hash {
                return says(&format!(
                    "{} receives {} as {} with another hash or name of the type, so it gets nothing of this",
                    entity.node, self.topic, entity.type_name
                ));
            }
            self.news.with(|news| news.came.push((Arc::clone(peer), key, entity.clone())));
            self.wake();
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        self.news.with(|news| news.went.push((peer.id(), key)));
        self.wake();
    }

    fn connected(&self, _: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        None
    }

    fn left(&self, _: &Arc<Peer>) {}
}

struct Publish<'a> {
    found: &'a PublishObserver,
    port: Arc<EventReceiver>,
    _node: OwnEndpoint,
    writer: Writer,
    offered: QoS,
    /// Connected matching subscriptions, and the QoS they request.
    matched: Vec<(Arc<Peer>, EndpointKey, QoS)>,
    /// Those of a gateway, which carries messages for remote subscriptions.
    carriers: Vec<(u64, EndpointKey)>,
    /// Matching subscriptions of the network.
    listed: Vec<(u64, EndpointKey)>,
    message: Template,
    encoded: Vec<u8>,
    sent: u64,
}

impl<'a> Publish<'a> {
    fn new(
        participant: &Arc<Participant>,
        publisher: &Endpoint,
        found: &'a PublishObserver,
        (offered, mut message): (QoS, Template),
    ) -> Result<Self, Error> {
        let port = participant.port(None)?;
        let node = Endpoint {
            kind: EndpointKind::Node,
            number: 1,
            name: String::new(),
            type_name: String::new(),
            hash: [0; 32],
            ..publisher.clone()
        };
        let node = participant.advertise(&node, None)?;
        let publisher = Arc::new(participant.advertise(publisher, None)?);
        let writer = Writer::new(publisher, qos::capacity(&offered), INLINE, 1)?;
        let encoded = template::now(&mut message).encode();
        let (matched, carriers, listed) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            found,
            port,
            _node: node,
            writer,
            offered,
            matched,
            carriers,
            listed,
            message,
            encoded,
            sent: 0,
        })
    }

    fn run(&mut self, options: &PubOptions) -> Result<(), Error> {
        let most = if options.once { Some(1) } else { options.times };
        let mut start = Start::new(options, most.is_some());
        let mut next = now_ns();
        loop {
            let seen = self.port.bell(); // K1
            self.port.park();
            if self.look()? {
                return Ok(());
            }
            let now = now_ns();
            let pause = if most == Some(self.sent) {
                let stays = nanoseconds(options.keep_alive);
                let left = u64::try_from(next.saturating_add(stays) - now).unwrap_or(0);
                if left == 0 {
                    self.port.unpark();
                    return Ok(());
                }
                Duration::from_nanos(left)
            } else if let (0, Some(pause)) = (self.sent, start.wait(self.subscriptions())?) {
                next = now;
                pause
            } else if now < next {
                Duration::from_nanos(u64::try_from(next - now).unwrap_or(0))
            } else if let Some(waiting) =
                self.writer.is_bound().then(|| self.writer.wait_for_room()).flatten()
            {
                waiting.sleep(Some(WAIT_FOR_ROOM));
                continue;
            } else {
                self.publish(options)?;
                let is_last = most == Some(self.sent);
                next = if is_last { now } else { now.max(next.saturating_add(nanoseconds(options.rate))) };
                continue;
            };
            self.port.sleep(seen, Some(pause));
            self.port.unpark();
        }
    }

    /// Connects new subscriptions. Returns `true` if the end has come.
    fn look(&mut self) -> Result<bool, Error> {
        self.port.drain();
        let (came, went, is_enough) = self
            .found
            .news
            .with(|news| (std::mem::take(&mut news.came), std::mem::take(&mut news.went), news.is_enough));
        for (peer, key, entity) in came {
            let Some(requested) = QoS::from_bytes(&entity.qos) else {
                says(&format!("{} asks for a QoS that is not known here, so it gets nothing", entity.node));
                continue;
            };
            let origin = Origin::of(&entity);
            let any_qos = origin.is_some_and(Origin::matches_any_qos);
            match self.offered.incompatibility(&requested).filter(|_| !any_qos) {
                // Its remote subscriptions are announced separately.
                Some(_) if origin == Some(Origin::Carrier) => {}
                Some(why) => {
                    let remedies: String = why.policies().map(remedy).collect();
                    says(&format!("{} gets nothing, incompatible: {why}{remedies}", entity.node));
                }
                None => match origin {
                    Some(origin) if origin.is_listed() => self.listed.push((peer.id(), key)),
                    origin => {
                        if origin == Some(Origin::Carrier) {
                            self.carriers.push((peer.id(), key));
                        }
                        self.connect(&peer, key, requested)?;
                    }
                },
            }
        }
        for (peer, key) in went {
            self.listed.retain(|listed| *listed != (peer, key));
            self.carriers.retain(|carrier| *carrier != (peer, key));
            let before = self.matched.len();
            self.matched.retain(|(other, other_key, _)| (other.id(), *other_key) != (peer, key));
            if self.matched.len() < before {
                if self.matched.iter().any(|(other, ..)| other.id() == peer) {
                    self.bind(peer);
                } else {
                    self.writer.disconnect(peer);
                }
            }
        }
        self.writer.endpoint().counters().set(Counter::Matched, self.subscriptions() as u64);
        Ok(is_enough)
    }

    /// Returns the number of subscriptions that get the messages.
    fn subscriptions(&self) -> usize {
        // Remote subscriptions get them once a gateway's carrier is connected.
        let listed = if self.carriers.is_empty() { 0 } else { self.listed.len() };
        self.matched.len() - self.carriers.len() + listed
    }

    /// Connects a subscription. A late one gets the retained messages over a connection of its own.
    fn connect(&mut self, peer: &Arc<Peer>, key: EndpointKey, requested: QoS) -> Result<(), Error> {
        let next = self.writer.next();
        let depth = qos::capacity(&requested);
        self.writer.grow_for_reader(depth)?;
        if requested.durability == Durability::TransientLocal {
            let wanted = self.retained().min(depth as u64);
            if wanted > 0 {
                let must_get_all = qos::is_blocking(&self.offered) && qos::is_blocking(&requested);
                self.writer.hand_over(peer, key, next - wanted, must_get_all)?;
            }
        }
        if !self.writer.has(peer.id()) {
            let connect = Connect { target: None, first: next, live: next, depth, capacity: None };
            self.writer.connect(peer, &connect)?;
        }
        self.matched.push((Arc::clone(peer), key, requested));
        self.bind(peer.id());
        Ok(())
    }

    /// Returns the number of messages that are kept for late subscriptions.
    fn retained(&self) -> u64 {
        match self.offered.durability {
            Durability::TransientLocal => self.sent.min(qos::capacity(&self.offered) as u64),
            _ => 0,
        }
    }

    /// Binds a reader if one of its subscriptions must get everything: to the smallest history of
    /// those.
    fn bind(&mut self, peer: u64) {
        let of_peer = self.matched.iter().filter(|(other, ..)| other.id() == peer);
        let bound =
            of_peer.filter(|(.., requested)| qos::is_blocking(&self.offered) && qos::is_blocking(requested));
        self.writer.bind(peer, bound.map(|(.., requested)| qos::capacity(requested)).min());
    }

    fn publish(&mut self, options: &PubOptions) -> Result<(), Error> {
        self.sent += 1;
        let number = self.sent;
        let has_times = self.message.has_times();
        let message = template::now(&mut self.message);
        if has_times {
            self.encoded = message.encode();
        }
        if number.checked_rem(options.print) == Some(0) {
            let style = Style { flow: true, truncate: Some(128), ..Style::default() };
            print(&format!("publishing #{number}: {} {}", options.type_name, message.to_yaml(&style)))?;
        }
        let now = now_ns();
        let id = self.writer.endpoint().participant().id().wrapping_add(number);
        let head = Head { stamp: now, order: 0, lineage_stamp: now, lineage_id: id };
        if self.encoded.len() <= self.writer.inline() {
            self.writer.publish_inline(number, &head, &self.encoded);
        } else {
            let mut loan = self.writer.lender().loan(self.encoded.len())?;
            loan.bytes_mut().copy_from_slice(&self.encoded);
            self.writer.publish_lent(number, &head, loan.share());
        }
        let counters = self.writer.endpoint().counters();
        counters.add(Counter::Messages, 1);
        counters.add(Counter::Bytes, self.encoded.len() as u64);
        counters.set(Counter::Waiting, self.retained());
        counters.set(Counter::Last, now.unsigned_abs());
        Ok(())
    }
}

/// The wait for subscriptions before the first message.
struct Start {
    topic: String,
    wanted: usize,
    longest: Option<Duration>,
    /// Steady nanoseconds.
    begin: i64,
    has_told: bool,
}

impl Start {
    fn new(options: &PubOptions, ends: bool) -> Self {
        let wanted = options.wait_matching_subscriptions.unwrap_or(usize::from(ends));
        let (topic, longest) = (options.name.clone(), options.max_wait_time);
        Self { topic, wanted, longest, begin: now_ns(), has_told: false }
    }

    /// Returns the time until the next check; `None` if there are enough subscriptions.
    fn wait(&mut self, matched: usize) -> Result<Option<Duration>, Error> {
        if matched >= self.wanted {
            return Ok(None);
        }
        let waited = Duration::from_nanos(u64::try_from(now_ns() - self.begin).unwrap_or(0));
        if let Some(longest) = self.longest.filter(|longest| waited >= *longest) {
            let (topic, wanted) = (self.topic.clone(), self.wanted);
            return Err(Error::NoSubscriptions { topic, wanted, matched, waited: longest });
        }
        if waited >= TELL_AFTER && !std::mem::replace(&mut self.has_told, true) {
            let subscriptions = if self.wanted == 1 { "a subscription" } else { "subscriptions" };
            says(&format!("waiting for {subscriptions} of {} ({matched} of {})", self.topic, self.wanted));
        }
        Ok(Some(self.longest.map_or(TELL_AFTER, |longest| (longest - waited).min(TELL_AFTER))))
    }
}

/// Returns advice for a subscription that requests more, as the end of a sentence.
fn remedy(policy: Policy) -> &'static str {
    match policy {
        Policy::Reliability => "; --qos-reliability reliable offers more",
        Policy::Durability => "; --qos-durability transient_local offers more",
        _ => "",
    }
}
