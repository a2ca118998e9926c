//! `sinew topic echo`: the messages of a topic, as `ros2 topic echo` prints them; those of a type that nobody describes, as the
//! bytes of their images.
//!
//! Unlike its neighbours it takes part: it joins the domain with a subscription of whatever type the publishers have. It never
//! makes a publisher wait.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use sinew::{History, QoS, Time};
use sinew_msg::TypeHash;
use sinew_msg::dynamic::{DynamicMessage, MessageType, Style};
use sinew_shm::{
    Domain, Entity, EntityKey, EntityKind, Head, Incoming, Observer, OwnEntity, Participant, Peer, Port, Sink,
};

use super::{Observed, gid, print, says, similar};
use crate::bench::run::Collected;
use crate::bench::table::time;
use crate::cli::tools::EchoOptions;
use crate::clock::now_ns;
use crate::error::{Error, suggestion};
use crate::interfaces::{Sources, Types};
use crate::terminal;

/// Bytes of a message that are shown.
const SHOWN: usize = 256;

/// Messages that wait for us if the publisher keeps all: when there are more, the oldest are lost to us.
const WAITING: usize = 64;

/// Prints messages until it is enough.
pub(super) fn run(options: &EchoOptions) -> Result<(), Error> {
    let info = &options.info;
    let mut observed = Observed::open(&info.place)?;
    let snapshot = observed.look()?;
    if !snapshot.of(EntityKind::Publisher).any(|end| end.entity.name == info.name) {
        let names = snapshot.of(EntityKind::Publisher).map(|end| end.entity.name.as_str());
        let similar = suggestion(&similar::to(&info.name, names));
        let (name, domain) = (&info.name, observed.domain());
        says(&format!("nobody publishes {name} in domain {domain} yet: waiting{similar}"));
    }
    let domain = Domain::open(info.place.dir.as_deref(), observed.domain())?;
    let types = Types::new(Sources::open(&options.definitions)?, Some(domain.clone()));
    let found = Arc::new(Found {
        topic: info.name.clone(),
        port: OnceLock::new(),
        heard: Collected::new(Heard::default()),
    });
    let participant = Participant::join(&domain, found.clone())?;
    let outcome = Port::new(&participant, None).map_err(Error::from).and_then(|port| {
        // It is the only one.
        let port = found.port.get_or_init(|| port);
        let rung = Arc::clone(port);
        let heard = found.heard.clone();
        let stop = move || {
            heard.with(|heard| heard.is_enough = true);
            rung.ring();
        };
        terminal::stop_on_signal(stop, None)?;
        Echo::new(options, &participant, types).run(&found, port)
    });
    found.heard.with(|heard| heard.sources.clear());
    participant.leave();
    outcome
}

/// What the participant's helper thread finds.
struct Found {
    topic: String,
    port: OnceLock<Arc<Port>>,
    heard: Collected<Heard>,
}

/// What is still to be looked at.
#[derive(Default)]
struct Heard {
    /// Publishers of the topic that are new.
    publishers: Vec<Entity>,
    /// All there were, by their gids.
    known: Vec<(u64, EntityKey, Entity)>,
    sources: Vec<Arc<Source>>,
    is_enough: bool,
}

/// A connection from a publisher.
struct Source {
    incoming: Collected<Incoming>,
    gid: [u8; 16],
    publisher: Entity,
}

impl Sink for Source {
    // The port's owner reads all sources whenever it is woken.
    fn drain(&self) {}
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
        if entity.kind == EntityKind::Publisher && entity.name == self.topic {
            self.heard.with(|heard| {
                heard.publishers.push(entity.clone());
                heard.known.push((peer.id(), key, entity.clone()));
            });
            self.wake();
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EntityKey) {
        self.heard.with(|heard| heard.known.retain(|(id, known, _)| (*id, *known) != (peer.id(), key)));
    }

    fn connected(&self, mut incoming: Incoming, _: Option<EntityKey>) -> Option<Arc<dyn Sink>> {
        let id = (incoming.peer().id(), incoming.source());
        let publisher = self.heard.with(|heard| {
            let known = heard.known.iter().find(|(peer, key, _)| (*peer, *key) == id);
            known.map(|(.., entity)| entity.clone())
        })?;
        incoming.unbind();
        incoming.set_port(self.port.get().map(|port| &**port));
        let gid = gid(id.0, publisher.number);
        let source = Arc::new(Source { incoming: Collected::new(incoming), gid, publisher });
        self.heard.with(|heard| heard.sources.push(Arc::clone(&source)));
        self.wake(); // what came before the port was known is not announced
        Some(source)
    }

    fn left(&self, _: &Arc<Peer>) {}
}

/// What was read of a message.
struct Read {
    number: u64,
    head: Head,
    missed: u64,
    length: usize,
    content: Content,
}

/// As much of a message as is shown.
enum Content {
    Fields(DynamicMessage),
    Bytes(Vec<u8>),
}

/// A type by its name and hash.
type TypeId = (String, [u8; 32]);

struct Echo<'a> {
    options: &'a EchoOptions,
    participant: &'a Arc<Participant>,
    /// Those of types that we have a subscription of.
    types: HashSet<TypeId>,
    /// How to read their messages, of those whose description was looked for.
    readable: HashMap<TypeId, Option<Arc<MessageType>>>,
    known: Types,
    entities: Vec<OwnEntity>,
    left: u64,
    buffer: Vec<u8>,
}

impl<'a> Echo<'a> {
    fn new(options: &'a EchoOptions, participant: &'a Arc<Participant>, known: Types) -> Self {
        let left = if options.once { 1 } else { options.count.unwrap_or(u64::MAX) };
        let (types, readable, entities) = (HashSet::new(), HashMap::new(), Vec::new());
        Self { options, participant, types, readable, known, entities, left, buffer: Vec::new() }
    }

    fn run(&mut self, found: &Found, port: &Port) -> Result<(), Error> {
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
            let goes_on = |source: &Arc<Source>| {
                source.incoming.with(|incoming| {
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

    /// Subscribes to what these publish.
    fn subscribe(&mut self, publishers: &[Entity]) -> Result<(), Error> {
        for publisher in publishers.iter().filter(|publisher| publisher.qos[5] == 1) {
            if self.types.insert((publisher.type_name.clone(), publisher.hash)) {
                let subscription = subscription(publisher, self.entities.len() as u64 + 1);
                self.entities.push(self.participant.advertise(&subscription, None)?);
            }
        }
        match publishers.first() {
            Some(inside) if self.types.is_empty() => Err(Error::StaysInside {
                name: inside.name.clone(),
                node: inside.node.clone(),
                type_name: inside.type_name.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// How to read what this publisher sends; `None` if nobody knows, or only bytes are wanted.
    fn message_type(&mut self, publisher: &Entity) -> Option<Arc<MessageType>> {
        if self.options.raw {
            return None;
        }
        let id = (publisher.type_name.clone(), publisher.hash);
        let known = &self.known;
        let find = || {
            let found = match publisher.type_name.parse() {
                Ok(name) => known.message(&name, Some(TypeHash(publisher.hash))),
                Err(error) => Err(crate::interfaces::TypesError::from(error)),
            };
            found.inspect_err(|error| says(&format!("bytes are shown: {error}"))).ok()
        };
        self.readable.entry(id).or_insert_with(find).clone()
    }

    /// Prints what a publisher has sent.
    fn read(&mut self, source: &Source) -> Result<(), Error> {
        let most = if self.options.style.full { usize::MAX } else { SHOWN };
        let message_type = self.message_type(&source.publisher);
        while self.left > 0 {
            let buffer = &mut self.buffer;
            let read = source.incoming.with(|incoming| {
                let message = incoming.read(buffer)?;
                Ok(message.map(|message| {
                    let image = message.hold.as_ref().map_or(&buffer[..], |hold| hold.bytes());
                    let decoded = message_type.as_ref().map(|known| DynamicMessage::decode(known, image));
                    let content = match decoded {
                        Some(Ok(message)) => Content::Fields(message),
                        Some(Err(error)) => {
                            says(&format!("bytes are shown of one of {}: {error}", source.publisher.node));
                            Content::Bytes(image[..image.len().min(most)].to_vec())
                        }
                        None => Content::Bytes(image[..image.len().min(most)].to_vec()),
                    };
                    let (number, head, missed) = (message.number, message.head, message.missed);
                    Read { number, head, missed, length: image.len(), content }
                }))
            });
            match read {
                Ok(Some(read)) => {
                    if self.options.info.json {
                        print(&for_programs(source, &read))?;
                    } else {
                        print(&for_people(source, &read, &self.options.style.style()))?;
                    }
                    self.left -= 1;
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    let error: sinew_shm::SegmentError = error;
                    // The publisher's memory is wrong: that message is passed over.
                    says(&format!("a message of {} can't be read: {error}", source.publisher.node));
                }
            }
        }
        Ok(())
    }
}

/// A subscription that any publisher of this type matches, whatever it offers.
fn subscription(publisher: &Entity, number: u64) -> Entity {
    let depth = match QoS::from_bytes(&publisher.qos).map(|qos| qos.history) {
        Some(History::KeepLast(depth)) => depth,
        _ => WAITING,
    };
    let qos = super::qos(depth, false); // best effort
    let node = format!("/_sinew_echo_{}", std::process::id());
    Entity { kind: EntityKind::Subscription, number, node, qos, ..publisher.clone() }
}

impl Read {
    /// Wall nanoseconds of its publication, and nanoseconds since.
    fn times(&self) -> (i64, i64) {
        let latency = now_ns().saturating_sub(self.head.stamp);
        (Time::wall().nanoseconds().saturating_sub(latency), latency)
    }
}

fn for_people(source: &Source, read: &Read, style: &Style) -> String {
    match &read.content {
        Content::Fields(message) => {
            let missed =
                if read.missed > 0 { format!("# lost before it: {}\n", read.missed) } else { String::new() };
            format!("{missed}{}---\n", message.to_yaml(style))
        }
        Content::Bytes(bytes) => bytes_for_people(source, read, bytes),
    }
}

fn bytes_for_people(source: &Source, read: &Read, bytes: &[u8]) -> String {
    let (stamp, latency) = read.times();
    let gid = source.gid.map(|byte| format!("{byte:02x}")).join(".");
    let (seconds, nanoseconds) = (stamp.div_euclid(1_000_000_000), stamp.rem_euclid(1_000_000_000));
    let missed = if read.missed > 0 { format!("lost before it: {}\n", read.missed) } else { String::new() };
    let mut text = format!(
        "{missed}stamp: {seconds}.{nanoseconds:09}\npublisher: {gid} ({})\nsequence: {}\nlatency: {}\nlength: {}\n",
        source.publisher.node,
        read.number,
        time(latency as f64),
        read.length,
    );
    dump(bytes, &mut text);
    let more = read.length - bytes.len();
    if more > 0 {
        let _ = writeln!(text, "... and {more} bytes more: --full shows them"); // a string takes everything
    }
    text + "---\n"
}

/// One line. What was said is in `message`, in the order of its type; or in `image`.
fn for_programs(source: &Source, read: &Read) -> String {
    let (stamp, latency) = read.times();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let about = json!({
        "topic": source.publisher.name, "type": source.publisher.type_name, "stamp_ns": stamp,
        "publisher": hex(&source.gid), "node": source.publisher.node, "sequence": read.number,
        "lost_before": read.missed, "latency_ns": latency, "length": read.length,
    });
    let about = about.to_string();
    let about = about.strip_suffix('}').unwrap_or(&about);
    match &read.content {
        Content::Fields(message) => format!("{about},\"message\":{}}}\n", message.to_json()),
        Content::Bytes(bytes) => format!("{about},\"image\":\"{}\"}}\n", hex(bytes)),
    }
}

/// Lines of 16 bytes, in hexadecimal and, where they are printable, as letters of ASCII.
fn dump(bytes: &[u8], text: &mut String) {
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let half =
            |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let (first, second) = bytes.split_at(bytes.len().min(8));
        let letter = |&byte: &u8| if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '.' };
        let letters: String = bytes.iter().map(letter).collect();
        // A string takes everything.
        let _ = writeln!(text, "{:08x}  {:23}  {:23}  |{letters}|", line * 16, half(first), half(second));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_dumped_as_hexdump_does() {
        let mut text = String::new();
        dump(b"\0\x01\0\0\x06\0\0\0Hello\0 a~\x7f\xff", &mut text);
        let expected = "\
00000000  00 01 00 00 06 00 00 00  48 65 6c 6c 6f 00 20 61  |........Hello. a|
00000010  7e 7f ff                                          |~..|
";
        assert_eq!(text, expected);
        text.clear();
        dump(&[], &mut text);
        assert_eq!(text, "");
    }

    #[test]
    fn the_subscription_matches_whatever_is_offered() {
        let publisher = Entity {
            kind: EntityKind::Publisher,
            number: 9,
            node: "/talker".into(),
            name: "/chatter".into(),
            type_name: "std_msgs/msg/String".into(),
            hash: [7; 32],
            qos: [0; 64],
        };
        let ours = subscription(&publisher, 1);
        assert_eq!(
            (&ours.name, &ours.type_name, ours.hash),
            (&publisher.name, &publisher.type_name, [7; 32])
        );
        let wanted = QoS::new().best_effort().keep_last(WAITING);
        let mut told = QoS::from_bytes(&ours.qos).unwrap();
        told.max_blocking_time = wanted.max_blocking_time;
        assert_eq!(told, wanted);
        assert_eq!(ours.qos[5], 1, "its type can leave the process");
    }
}
