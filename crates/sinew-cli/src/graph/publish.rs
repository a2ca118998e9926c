//! `sinew topic pub`: messages from a text, published in a steady rhythm.
//!
//! It takes part as a node would, but needs no code of the type: it writes images.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sinew::{Durability, QoS};
use sinew_msg::definition::Kind;
use sinew_msg::dynamic::{DynamicMessage, Style};
use sinew_shm::{
    Connect, Counter, Domain, Entity, EntityKey, EntityKind, Head, Incoming, Observer, Participant, Peer,
    Port, Sink, Writer,
};

use super::{print, says};
use crate::bench::run::Collected;
use crate::cli::interfaces::PubOptions;
use crate::clock::{nanoseconds, now_ns};
use crate::error::Error;
use crate::interfaces::{Sources, Types, TypesError, name};
use crate::terminal;

/// Messages that the ring keeps, as ROS 2's default has it.
const DEPTH: usize = 10;

/// Bytes of an image that go into the ring itself.
const INLINE: usize = 200;

/// What a subscription may not ask of us is told once in so many.
const TELL_AFTER: Duration = Duration::from_secs(1);

/// Publishes until it is enough.
pub(super) fn run(options: &PubOptions) -> Result<(), Error> {
    let number = options.place.domain().map_err(Error::DomainNumber)?;
    let domain = Domain::open(options.place.dir.as_deref(), number)?;
    let types = Types::new(Sources::open(&options.definitions)?, Some(domain.clone()));
    let type_name = name(&options.type_name, types.sources())?;
    if type_name.kind() != Kind::Message && !type_name.base().contains('_') {
        let name = type_name.to_string();
        return Err(TypesError::Kind { name, is: type_name.kind().name(), wanted: "messages" }.into());
    }
    let description = types.in_use(&type_name, &options.place)?;
    let message_type = types.message(&type_name, Some(description.hash()))?;
    let message = super::message_of(&message_type, &options.values)?;

    let topic = options.name.clone();
    let hash = description.hash();
    let found = Arc::new(Found {
        topic: topic.clone(),
        type_name: type_name.to_string(),
        hash: hash.0,
        port: OnceLock::new(),
        news: Collected::new(News::default()),
    });
    let participant = Participant::join(&domain, found.clone())?;
    // What tools can read is worth more than an error here: the messages go their way without it.
    let _ = domain.keep_description(&hash.0, &description.to_json());
    let entity = Entity {
        kind: EntityKind::Publisher,
        number: 1,
        node: format!("/_sinew_pub_{}", std::process::id()),
        name: topic,
        type_name: type_name.to_string(),
        hash: hash.0,
        qos: super::qos(DEPTH, true),
    };
    let outcome = Publish::new(&participant, &entity, &found, message).and_then(|mut publish| {
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

/// What the participant's helper thread finds.
struct Found {
    topic: String,
    type_name: String,
    hash: [u8; 32],
    port: OnceLock<Arc<Port>>,
    news: Collected<News>,
}

#[derive(Default)]
struct News {
    came: Vec<(Arc<Peer>, EntityKey, Entity)>,
    went: Vec<(u64, EntityKey)>,
    is_enough: bool,
}

impl Found {
    fn wake(&self) {
        if let Some(port) = self.port.get() {
            port.ring();
        }
    }
}

impl Observer for Found {
    fn appeared(&self, peer: &Arc<Peer>, key: EntityKey, entity: &Entity) {
        if entity.kind == EntityKind::Subscription && entity.name == self.topic {
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

    fn vanished(&self, peer: &Arc<Peer>, key: EntityKey) {
        self.news.with(|news| news.went.push((peer.id(), key)));
        self.wake();
    }

    fn connected(&self, _: Incoming, _: Option<EntityKey>) -> Option<Arc<dyn Sink>> {
        None
    }

    fn left(&self, _: &Arc<Peer>) {}
}

struct Publish<'a> {
    found: &'a Found,
    port: Arc<Port>,
    writer: Writer,
    /// Matching subscriptions.
    matched: Vec<(Arc<Peer>, EntityKey)>,
    message: DynamicMessage,
    image: Vec<u8>,
    sent: u64,
}

impl<'a> Publish<'a> {
    fn new(
        participant: &Arc<Participant>,
        entity: &Entity,
        found: &'a Found,
        message: DynamicMessage,
    ) -> Result<Self, Error> {
        let port = Port::new(participant, None)?;
        let entity = Arc::new(participant.advertise(entity, None)?);
        let writer = Writer::new(entity, DEPTH, INLINE, 1)?;
        let image = message.encode();
        Ok(Self { found, port, writer, matched: Vec::new(), message, image, sent: 0 })
    }

    fn run(&mut self, options: &PubOptions) -> Result<(), Error> {
        let most = if options.once { Some(1) } else { options.times };
        let wanted = options.wait_matching_subscriptions.unwrap_or(usize::from(most.is_some()));
        let waiting_since = now_ns();
        let mut told = false;
        let mut next = now_ns();
        loop {
            let seen = self.port.bell(); // K1
            self.port.park();
            if self.look()? {
                return Ok(());
            }
            let now = now_ns();
            let is_awaited = self.sent == 0 && self.matched.len() < wanted;
            let pause = if is_awaited {
                next = now;
                if !told && now - waiting_since > nanoseconds(TELL_AFTER) {
                    told = true;
                    says(&format!("waiting for {wanted} matching subscriptions of {}", options.name));
                }
                Some(TELL_AFTER)
            } else if now >= next {
                self.publish(options)?;
                if most == Some(self.sent) {
                    self.port.unpark();
                    return Ok(());
                }
                next = now.max(next.saturating_add(nanoseconds(options.rate)));
                continue;
            } else {
                Some(Duration::from_nanos(u64::try_from(next - now).unwrap_or(0)))
            };
            self.port.sleep(seen, pause);
            self.port.unpark();
        }
    }

    /// Connects with those who have come. Returns whether it is enough.
    fn look(&mut self) -> Result<bool, Error> {
        self.port.drain();
        let (came, went, is_enough) = self
            .found
            .news
            .with(|news| (std::mem::take(&mut news.came), std::mem::take(&mut news.went), news.is_enough));
        for (peer, key, entity) in came {
            let Some(requested) = QoS::from_bytes(&entity.qos).filter(matches) else {
                says(&format!("{} asks for a QoS that this doesn't offer, so it gets nothing", entity.node));
                continue;
            };
            if !self.writer.has(peer.id()) {
                let next = self.writer.next();
                let depth = match requested.history {
                    sinew::History::KeepLast(depth) => depth.clamp(1, 1000),
                    _ => DEPTH,
                };
                let connect = Connect { target: None, first: next, live: next, depth, capacity: None };
                self.writer.connect(&peer, &connect)?;
            }
            self.matched.push((peer, key));
        }
        for gone in went {
            let before = self.matched.len();
            self.matched.retain(|(peer, key)| (peer.id(), *key) != gone);
            if self.matched.len() < before && !self.matched.iter().any(|(peer, _)| peer.id() == gone.0) {
                self.writer.disconnect(gone.0);
            }
        }
        self.writer.entity().counters().set(Counter::Matched, self.matched.len() as u64);
        Ok(is_enough)
    }

    fn publish(&mut self, options: &PubOptions) -> Result<(), Error> {
        self.sent += 1;
        let number = self.sent;
        let style = Style { flow: true, truncate: Some(128), ..Style::default() };
        print(&format!("publishing #{number}: {} {}", options.type_name, self.message.to_yaml(&style)))?;
        let now = now_ns();
        let id = self.writer.entity().participant().id().wrapping_add(number);
        let head = Head { stamp: now, order: 0, lineage_stamp: now, lineage_id: id };
        if self.image.len() <= self.writer.inline() {
            self.writer.publish_inline(number, &head, &self.image);
        } else {
            let mut loan = self.writer.lender().loan(self.image.len())?;
            loan.bytes_mut().copy_from_slice(&self.image);
            self.writer.publish_lent(number, &head, loan.share());
        }
        let counters = self.writer.entity().counters();
        counters.add(Counter::Messages, 1);
        counters.add(Counter::Bytes, self.image.len() as u64);
        counters.set(Counter::Last, now.unsigned_abs());
        Ok(())
    }
}

/// Whether what we offer is what a subscription requests: we are reliable and volatile, and promise no rhythm.
fn matches(requested: &QoS) -> bool {
    requested.durability == Durability::Volatile
        && requested.deadline.is_none()
        && requested.lease.is_none()
        && requested.liveliness == sinew::Liveliness::Automatic
}
