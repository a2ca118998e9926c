//! `sinew topic echo`: the messages of a topic, as `ros2 topic echo` prints them; if a type has no
//! description, the bytes of their encoded form. `sinew service echo` does the same for the hidden
//! topic on which a service's endpoints publish the events of its requests and responses.
//!
//! Unlike the neighbouring commands it takes part: it joins the domain with a subscription of each
//! type that the publishers have. It never makes a publisher wait.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use sinew::QoS;
use sinew::gateway;
use sinew::qos::{Durability, History};
use sinew::records::{NetworkNumbers, leaves_process};
use sinew_msg::TypeHash;
use sinew_msg::definition::TypeName;
use sinew_msg::dynamic::{DynamicMessage, FieldPath, MessageType};
use sinew_shm::transport::{EventReceiver, Incoming, Observer, OwnEndpoint, Participant, Sink};
use sinew_shm::{Domain, Endpoint, EndpointKey, EndpointKind, Peer};

use super::listening::say_if_unpublished;
use super::printing::{Content, Origin, Read, for_people, for_programs};
use super::qos;
use crate::cli::tools::EchoOptions;
use crate::error::{Error, TypesError};
use crate::interfaces::{PackageSources, Types, name};
use crate::observed::{Observed, gid};
use crate::output::{print, says};
use crate::similar::{self, suggestion};
use crate::terminal;
use sinew_bench::run::Collected;

/// Number of bytes of a message that are shown.
const SHOWN: usize = 256;

/// Messages that wait for this command if the publisher keeps all: beyond them, this command loses
/// the oldest.
const WAITING: usize = 64;

/// Prints the messages of a topic until the end.
pub(super) fn topic(options: &EchoOptions) -> Result<(), Error> {
    let name = &options.info.name;
    let mut observed = Observed::open(&options.info.place)?;
    let seen = observed.read()?;
    say_if_unpublished(&observed, &seen, name);
    run(options, &observed, name, "")
}

/// Prints the events of a service until the end.
pub(super) fn service(options: &EchoOptions) -> Result<(), Error> {
    let name = &options.info.name;
    let topic = format!("{name}/_service_event");
    let mut observed = Observed::open(&options.info.place)?;
    let seen = observed.read()?;
    if seen.publishers(&topic).next().is_none() {
        let services = seen.services();
        let names = || services.iter().map(|service| service.name.as_str());
        let domain = observed.domain();
        says(&if names().any(|known| known == name) {
            format!(
                "no end of {name} in domain {domain} publishes its requests and responses yet: waiting; a server or client does if its \
                 program calls `configure_introspection`"
            )
        } else {
            let similar = suggestion(&similar::to(name, names()));
            format!("{name} has no server or client in domain {domain} yet: waiting{similar}")
        });
    }
    run(options, &observed, &topic, "_Event")
}

/// `suffix`: the part of the type's name behind the requested one.
fn run(options: &EchoOptions, observed: &Observed, topic: &str, suffix: &str) -> Result<(), Error> {
    let info = &options.info;
    let domain = Domain::open(info.place.dir.as_deref(), observed.domain())?;
    let types = Types::new(PackageSources::open(&options.definitions)?, Some(domain.clone()));
    let wanted = options.type_name.as_ref().map(|wanted| {
        let wanted = name(wanted, types.sources())?;
        if suffix.is_empty() { Ok(wanted) } else { name(&format!("{wanted}{suffix}"), types.sources()) }
    });
    let wanted = wanted.transpose()?;
    let found = Arc::new(EchoObserver {
        topic: topic.to_owned(),
        port: OnceLock::new(),
        heard: Collected::new(PendingMessages::default()),
    });
    let participant = Participant::join(&domain, found.clone())?;
    let outcome = participant.port(None).map_err(Error::from).and_then(|port| {
        // It is the only one.
        let port = found.port.get_or_init(|| port);
        let rung = Arc::clone(port);
        let heard = found.heard.clone();
        let stop = move || {
            heard.with(|heard| heard.is_enough = true);
            rung.ring();
        };
        terminal::stop_on_signal(stop, None)?;
        Echo::new(options, &participant, (types, wanted)).run(&found, port)
    });
    found.heard.with(|heard| heard.sources.clear());
    participant.leave();
    outcome
}

/// State shared with the participant's helper thread.
struct EchoObserver {
    topic: String,
    port: OnceLock<Arc<EventReceiver>>,
    heard: Collected<PendingMessages>,
}

/// Events that are still to be handled.
#[derive(Default)]
struct PendingMessages {
    /// New publishers of the topic.
    publishers: Vec<Endpoint>,
    /// All publishers so far, by their gids.
    known: Vec<(u64, EndpointKey, Endpoint)>,
    sources: Vec<Arc<EchoSource>>,
    is_enough: bool,
}

/// A connection from a publisher.
struct EchoSource {
    /// With the numbers of its messages, if the publisher is remote.
    incoming: Collected<(Incoming, Option<NetworkNumbers>)>,
    origin: Origin,
}

impl Sink for EchoSource {
    // The port's owner reads all sources whenever it is woken.
    fn drain(&self) {}
}

impl EchoObserver {
    fn wake(&self) {
        if let Some(port) = self.port.get() {
            port.ring();
        }
    }
}

impl Observer for EchoObserver {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        if entity.kind == EndpointKind::Publisher && entity.name == self.topic {
            self.heard.with(|heard| {
                heard.publishers.push(entity.clone());
                heard.known.push((peer.id(), key, entity.clone()));
            });
            self.wake();
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        self.heard.with(|heard| heard.known.retain(|(id, known, _)| (*id, *known) != (peer.id(), key)));
    }

    fn connected(&self, mut incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        let id = (incoming.peer().id(), incoming.source());
        let publisher = self.heard.with(|heard| {
            let known = heard.known.iter().find(|(peer, key, _)| (*peer, *key) == id);
            known.map(|(.., entity)| entity.clone())
        })?;
        incoming.unbind();
        incoming.set_port(self.port.get().map(|port| &**port));
        let gid = gid(id.0, publisher.number);
        let is_remote = sinew::gateway::Origin::of(&publisher) == Some(sinew::gateway::Origin::Network);
        let incoming = Collected::new((incoming, is_remote.then(NetworkNumbers::default)));
        let source = Arc::new(EchoSource { incoming, origin: Origin { gid, publisher } });
        self.heard.with(|heard| heard.sources.push(Arc::clone(&source)));
        self.wake(); // messages from before the port was known are not announced
        Some(source)
    }

    fn left(&self, _: &Arc<Peer>) {}
}

/// A type by its name and hash.
type TypeId = (String, [u8; 32]);

/// A type's decoder, and the fields to print.
#[derive(Clone)]
struct Known {
    message_type: Arc<MessageType>,
    field: Option<FieldPath>,
}

struct Echo<'a> {
    options: &'a EchoOptions,
    participant: &'a Arc<Participant>,
    /// This command's subscriptions: one that requests retained messages doesn't match publishers
    /// that retain nothing.
    subscribed: HashSet<(TypeId, Durability)>,
    /// The decoders of messages, for the types that were looked up; `None` without a description.
    readable: HashMap<TypeId, Option<Known>>,
    types: Types,
    /// The only type to print, if there is one.
    wanted: Option<TypeName>,
    entities: Vec<OwnEndpoint>,
    left: u64,
    buffer: Vec<u8>,
}

impl<'a> Echo<'a> {
    fn new(
        options: &'a EchoOptions,
        participant: &'a Arc<Participant>,
        (types, wanted): (Types, Option<TypeName>),
    ) -> Self {
        Self {
            options,
            participant,
            subscribed: HashSet::new(),
            readable: HashMap::new(),
            types,
            wanted,
            entities: Vec::new(),
            left: if options.once { 1 } else { options.count.unwrap_or(u64::MAX) },
            buffer: Vec::new(),
        }
    }

    fn run(&mut self, found: &EchoObserver, port: &EventReceiver) -> Result<(), Error> {
        loop {
            let rung = port.bell(); // K1
            port.park();
            let (new, sources, is_enough) = found.heard.with(|heard| {
                (std::mem::take(&mut heard.publishers), heard.sources.clone(), heard.is_enough)
            });
            if is_enough {
                return Ok(());
            }
            self.subscribe(&new)?;
            port.drain();
            for source in &sources {
                self.read(source)?;
                if self.left == 0 {
                    return Ok(());
                }
            }
            let goes_on = |source: &Arc<EchoSource>| {
                source.incoming.with(|(incoming, _)| {
                    let is_over = incoming.is_over();
                    if is_over {
                        incoming.done();
                    }
                    !is_over
                })
            };
            found.heard.with(|heard| heard.sources.retain(goes_on));
            if !port.is_pending() {
                port.sleep(rung, None);
            }
            port.unpark();
        }
    }

    /// Subscribes to these publishers.
    fn subscribe(&mut self, publishers: &[Endpoint]) -> Result<(), Error> {
        for publisher in publishers.iter().filter(|publisher| leaves_process(publisher)) {
            let Endpoint { node, name, type_name, .. } = publisher;
            if self.wanted.as_ref().is_some_and(|wanted| wanted.as_str() != type_name) {
                says(&format!("{node} publishes {name} as {type_name}, which is left out"));
                continue;
            }
            let offered = QoS::from_bytes(&publisher.qos);
            let requested = self.options.qos.qos(fitting(offered.as_ref()));
            let any_qos = gateway::Origin::of(publisher).is_some_and(gateway::Origin::matches_any_qos);
            let why = offered.and_then(|offered| offered.incompatibility(&requested));
            if let Some(why) = why.filter(|_| !any_qos) {
                let options: Vec<_> = why.policies().map(qos::option).collect();
                says(&format!(
                    "nothing of {node} comes, incompatible: {why}; {} or --qos-profile can ask for less",
                    options.join(", ")
                ));
                continue;
            }
            let id = (type_name.clone(), publisher.hash);
            if self.subscribed.insert((id, requested.durability)) {
                let subscription = subscription(publisher, self.entities.len() as u64 + 1, &requested);
                self.entities.push(self.participant.advertise(&subscription, None)?);
            }
        }
        let inside = publishers.iter().find(|publisher| !leaves_process(publisher));
        match inside {
            Some(inside) if self.subscribed.is_empty() => Err(Error::StaysInside {
                name: inside.name.clone(),
                node: inside.node.clone(),
                type_name: inside.type_name.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns `true` if only fields can be printed, not bytes.
    fn needs_fields(&self) -> bool {
        self.options.csv || self.options.field.is_some()
    }

    /// Returns the decoder for a publisher's messages; `None` if their type has no description, or
    /// only bytes are printed.
    fn known(&mut self, publisher: &Endpoint) -> Result<Option<Known>, Error> {
        if self.options.raw {
            return Ok(None);
        }
        let id = (publisher.type_name.clone(), publisher.hash);
        if let Some(known) = self.readable.get(&id) {
            return Ok(known.clone());
        }
        let found = match publisher.type_name.parse() {
            Ok(name) => self.types.message(&name, Some(TypeHash(publisher.hash))),
            Err(error) => Err(TypesError::from(error)),
        };
        let known = match found {
            Ok(message_type) => {
                let field = self.options.field.as_ref().map(|path| message_type.path(path)).transpose()?;
                Some(Known { message_type, field })
            }
            Err(error) if self.needs_fields() => return Err(error.into()),
            Err(error) => {
                says(&format!("bytes are shown: {error}"));
                None
            }
        };
        self.readable.insert(id, known.clone());
        Ok(known)
    }

    /// Prints new messages of a publisher.
    fn read(&mut self, source: &EchoSource) -> Result<(), Error> {
        let most = if self.options.style.full { usize::MAX } else { SHOWN };
        let known = self.known(&source.origin.publisher)?;
        let needs_fields = self.needs_fields();
        while self.left > 0 {
            let buffer = &mut self.buffer;
            let read = source.incoming.with(|(incoming, numbers)| {
                let message = incoming.read(buffer)?;
                Ok(message.map(|message| {
                    let counted = numbers.as_mut().map(|numbers| numbers.of(&message, incoming));
                    let (number, lost) = counted.unwrap_or((message.number, 0));
                    let encoded = message.hold.as_ref().map_or(&buffer[..], |hold| hold.bytes());
                    let bytes = || Content::Bytes(encoded[..encoded.len().min(most)].to_vec());
                    let node = &source.origin.publisher.node;
                    let decoded =
                        known.as_ref().map(|known| DynamicMessage::decode(&known.message_type, encoded));
                    let content = match decoded {
                        None => Some(bytes()),
                        Some(Ok(message)) => Some(Content::Fields(message)),
                        Some(Err(error)) if needs_fields => {
                            says(&format!("a message of {node} can't be read: {error}"));
                            None
                        }
                        Some(Err(error)) => {
                            says(&format!(
                                "bytes are shown of a message of {node}, which can't be read: {error}"
                            ));
                            Some(bytes())
                        }
                    };
                    let (head, missed) = (message.head, message.missed + lost);
                    content.map(|content| Read { number, head, missed, length: encoded.len(), content })
                }))
            });
            match read {
                Ok(Some(Some(read))) => {
                    let field = known.as_ref().and_then(|known| known.field.as_ref());
                    let text = match self.options.info.json {
                        true => for_programs(&source.origin, &read, field),
                        false => for_people(&source.origin, &read, field, self.options),
                    };
                    let Some(text) = text else {
                        let (path, node) = (
                            self.options.field.as_deref().unwrap_or_default(),
                            &source.origin.publisher.node,
                        );
                        says(&format!("a message of {node} has no `{path}`: it has fewer elements"));
                        continue;
                    };
                    print(&text)?;
                    self.left -= 1;
                }
                Ok(Some(None)) => {}
                Ok(None) => return Ok(()),
                Err(error) => {
                    let error: sinew_shm::SegmentError = error;
                    // The publisher's memory is invalid: that message is skipped.
                    says(&format!("a message of {} can't be read: {error}", source.origin.publisher.node));
                }
            }
        }
        Ok(())
    }
}

/// Returns the QoS of a subscription that matches any offer, and gets retained messages.
pub(super) fn fitting(offered: Option<&QoS>) -> QoS {
    let waiting = QoS::new().best_effort().keep_last(WAITING);
    let Some(offered) = offered else { return waiting };
    let depth = match offered.history {
        History::KeepLast(depth) => depth,
        History::KeepAll => WAITING,
    };
    match offered.durability {
        Durability::TransientLocal => waiting.keep_last(depth).transient_local(),
        _ => waiting.keep_last(depth),
    }
}

/// Describes a subscription of this publisher's topic and type.
fn subscription(publisher: &Endpoint, number: u64, requested: &QoS) -> Endpoint {
    let node = format!("/_sinew_echo_{}", std::process::id());
    let qos = requested.to_bytes(true);
    Endpoint { kind: EndpointKind::Subscription, number, node, qos, ..publisher.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subscription_matches_whatever_is_offered() {
        let limit = std::time::Duration::from_secs(1);
        for offered in [
            QoS::sensor_data(),
            QoS::new().keep_all(),
            QoS::new().keep_last(3).transient_local().deadline(limit).lease(limit),
        ] {
            let publisher = Endpoint {
                kind: EndpointKind::Publisher,
                number: 9,
                node: "/talker".into(),
                name: "/chatter".into(),
                type_name: "std_msgs/msg/String".into(),
                hash: [7; 32],
                qos: offered.to_bytes(true),
            };
            let requested = fitting(Some(&offered));
            let ours = subscription(&publisher, 1, &requested);
            assert_eq!(
                (&ours.name, &ours.type_name, ours.hash),
                (&publisher.name, &publisher.type_name, [7; 32])
            );
            assert_eq!(QoS::from_bytes(&ours.qos), Some(requested));
            assert_eq!(offered.incompatibility(&requested), None);
            assert_eq!(requested.durability, offered.durability, "what is retained comes, too");
        }
        assert_eq!(fitting(None), QoS::new().best_effort().keep_last(WAITING));
    }
}
