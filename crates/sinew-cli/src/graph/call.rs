//! `sinew service call`: one request from a text, and its answer.
//!
//! What goes over the line is described in `sinew`'s `outside::service`: a header of 16 bytes (sequence number, place, kind), then the
//! image of the request or the response, or the text of a failure.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sinew_msg::TypeHash;
use sinew_msg::definition::TypeName;
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use sinew_shm::{
    Connect, Domain, Entity, EntityKey, EntityKind, Head, Incoming, Observer, Participant, Peer, Port, Sink,
    Writer,
};

use super::{Observed, message_of, print, says, similar};
use crate::bench::run::Collected;
use crate::cli::interfaces::CallOptions;
use crate::clock::now_ns;
use crate::error::{Error, suggestion};
use crate::interfaces::{Sources, Types, name};
use crate::terminal;

const HEADER: usize = 16;
const SEQUENCE: u64 = 1;
const DEPTH: usize = 8;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Nobody answers in time.
    #[error("{service} gave no answer within {} s", waited.as_secs_f64())]
    TimedOut {
        /// The service.
        service: String,
        /// How long we waited.
        waited: Duration,
    },
    /// It was interrupted.
    #[error("{service} gave no answer before this was stopped")]
    Stopped {
        /// The service.
        service: String,
    },
    /// The server says no.
    #[error("{service} failed: {reason}")]
    Failed {
        /// The service.
        service: String,
        /// In its words, or ours.
        reason: String,
    },
    /// The server has a type without a description that ROS 2 knows.
    #[error(
        "{service} has the type {type_name}, which is not the name of a ROS 2 type, so nobody can tell what to send \
         (`Service::TYPE` gives it one)"
    )]
    NoType {
        /// The service.
        service: String,
        /// Its type.
        type_name: String,
    },
    /// The user thinks of another type.
    #[error("{service} has the type {found}, not {wanted}")]
    OtherType {
        /// The service.
        service: String,
        /// Its server's type.
        found: String,
        /// The one that was given.
        wanted: String,
    },
    /// The server's process keeps the service for itself.
    #[error(
        "{service} stays in the process of {node}: its messages have no form outside (derive(Message) gives them one)"
    )]
    StaysInside {
        /// The service.
        service: String,
        /// The server's node.
        node: String,
    },
}

/// Calls, and prints the response.
pub(super) fn run(options: &CallOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let snapshot = observed.look()?;
    if !snapshot.of(EntityKind::Server).any(|end| end.entity.name == options.name) {
        let names = snapshot.of(EntityKind::Server).map(|end| end.entity.name.as_str());
        let similar = suggestion(&similar::to(&options.name, names));
        says(&format!(
            "nobody serves {} in domain {} yet: waiting{similar}",
            options.name,
            observed.domain()
        ));
    }
    drop(snapshot);
    let domain = Domain::open(options.place.dir.as_deref(), observed.domain())?;
    let types = Types::new(Sources::open(&options.definitions)?, Some(domain.clone()));
    let found = Arc::new(Found {
        service: options.name.clone(),
        port: OnceLock::new(),
        news: Collected::new(News::default()),
    });
    let participant = Participant::join(&domain, found.clone())?;
    let outcome = call(options, &types, &participant, &found);
    found.news.with(|news| news.answers = None);
    participant.leave();
    print(&outcome?)
}

fn call(
    options: &CallOptions,
    types: &Types,
    participant: &Arc<Participant>,
    found: &Arc<Found>,
) -> Result<String, Error> {
    let port = Port::new(participant, None)?;
    let port = found.port.get_or_init(|| port);
    let (rung, news) = (Arc::clone(port), found.news.clone());
    let stop = move || {
        news.with(|news| news.is_enough = true);
        rung.ring();
    };
    terminal::stop_on_signal(stop, None)?;
    let call = Call { options, found, port, begin: now_ns() };
    let (peer, key, server) = call.wait(|news| news.servers.first().cloned())?;
    let [request_type, response_type] = call.types(types, &server)?;
    let request = message_of(&request_type, options.what().1)?;
    let (_writer, ours) = call.send(participant, (&peer, key, &server), &request)?;
    found.news.with(|news| news.called = Some((peer.id(), key, ours)));
    let answer = call.wait(|news| news.answer())?;
    let service = options.name.clone();
    let failed = |reason: String| Error::Call(CallError::Failed { service: service.clone(), reason });
    let response = match answer? {
        Answer::Gone => return Err(failed("its server went without an answer".to_owned())),
        Answer::Came(bytes) => body(&bytes).map_err(failed).and_then(|image| {
            DynamicMessage::decode(&response_type, image).map_err(|error| failed(error.to_string()))
        })?,
    };
    Ok(match options.json {
        true => response.to_json() + "\n",
        false => response.to_yaml(&options.style.style()),
    })
}

/// The image of the response, or why there is none. The kinds are those of `sinew`'s `outside::service::answer`.
fn body(bytes: &[u8]) -> Result<&[u8], String> {
    let Some((header, body)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(format!("its answer has {} bytes, which are no answer", bytes.len()));
    };
    let text = String::from_utf8_lossy(body);
    match header[12] {
        0 => Ok(body),
        1 => Err(text.into_owned()),
        2 => Err(format!("its server panicked: {text}")),
        3 => Err("its server dropped the request without an answer".to_owned()),
        4 => Err(format!("its server has {text} requests waiting, and takes no more")),
        5 => Err("its server went without an answer".to_owned()),
        _ => Err(text.into_owned()),
    }
}

/// What the participant's helper thread finds.
struct Found {
    service: String,
    port: OnceLock<Arc<Port>>,
    news: Collected<News>,
}

#[derive(Default)]
struct News {
    servers: Vec<(Arc<Peer>, EntityKey, Entity)>,
    /// The server that was called, and the entity that did it.
    called: Option<(u64, EntityKey, EntityKey)>,
    answers: Option<Incoming>,
    is_enough: bool,
}

/// What came of a request.
enum Answer {
    Came(Vec<u8>),
    Gone,
}

impl News {
    fn answer(&mut self) -> Option<Result<Answer, Error>> {
        if let Some(incoming) = &mut self.answers {
            let mut buffer = Vec::new();
            match incoming.read(&mut buffer) {
                Ok(Some(message)) => {
                    let bytes = message.hold.as_ref().map_or(&buffer[..], |hold| hold.bytes()).to_vec();
                    return Some(Ok(Answer::Came(bytes)));
                }
                Ok(None) => {}
                Err(error) => return Some(Err(error.into())),
            }
        }
        let (peer, key, _) = self.called?;
        let is_there = self.servers.iter().any(|(server, other, _)| (server.id(), *other) == (peer, key));
        (!is_there).then_some(Ok(Answer::Gone))
    }
}

impl Found {
    fn wake(&self) {
        if let Some(port) = self.port.get() {
            port.ring();
        }
    }
}

struct Reader;

impl Sink for Reader {
    // Who waits for the answer reads it when woken.
    fn drain(&self) {}
}

impl Observer for Found {
    fn appeared(&self, peer: &Arc<Peer>, key: EntityKey, entity: &Entity) {
        if entity.kind == EntityKind::Server && entity.name == self.service {
            self.news.with(|news| news.servers.push((Arc::clone(peer), key, entity.clone())));
            self.wake();
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EntityKey) {
        let gone = (peer.id(), key);
        self.news.with(|news| news.servers.retain(|(server, other, _)| (server.id(), *other) != gone));
        self.wake();
    }

    fn connected(&self, mut incoming: Incoming, target: Option<EntityKey>) -> Option<Arc<dyn Sink>> {
        target?;
        incoming.set_port(self.port.get().map(|port| &**port));
        self.news.with(|news| news.answers = Some(incoming));
        self.wake(); // what came before the port was known is not announced
        Some(Arc::new(Reader))
    }

    fn left(&self, _: &Arc<Peer>) {}
}

struct Call<'a> {
    options: &'a CallOptions,
    found: &'a Found,
    port: &'a Port,
    /// Steady nanoseconds.
    begin: i64,
}

impl Call<'_> {
    /// Waits for something to be there.
    fn wait<T>(&self, mut look: impl FnMut(&mut News) -> Option<T>) -> Result<T, Error> {
        let service = || self.options.name.clone();
        loop {
            let seen = self.port.bell(); // K1
            self.port.park();
            self.port.drain();
            let (looked, is_enough) = self.found.news.with(|news| (look(news), news.is_enough));
            let left = self.options.timeout.map(|timeout| {
                let passed = u64::try_from(now_ns() - self.begin).unwrap_or(0);
                timeout.saturating_sub(Duration::from_nanos(passed))
            });
            let over = match (looked, self.options.timeout) {
                (Some(looked), _) => Some(Ok(looked)),
                (None, _) if is_enough => Some(Err(CallError::Stopped { service: service() })),
                (None, Some(waited)) if left == Some(Duration::ZERO) => {
                    Some(Err(CallError::TimedOut { service: service(), waited }))
                }
                (None, _) => None,
            };
            if over.is_none() && !self.port.is_pending() {
                self.port.sleep(seen, left);
            }
            self.port.unpark();
            if let Some(over) = over {
                return Ok(over?);
            }
        }
    }

    /// The types of the server's messages.
    fn types(&self, types: &Types, server: &Entity) -> Result<[Arc<MessageType>; 2], Error> {
        let service = || self.options.name.clone();
        if server.qos[5] != 1 {
            return Err(CallError::StaysInside { service: service(), node: server.node.clone() }.into());
        }
        let Ok(found) = server.type_name.parse::<TypeName>() else {
            return Err(CallError::NoType { service: service(), type_name: server.type_name.clone() }.into());
        };
        if let Some(wanted) = self.options.what().0 {
            let wanted = name(wanted, types.sources())?;
            if wanted != found {
                let (found, wanted) = (found.to_string(), wanted.to_string());
                return Err(CallError::OtherType { service: service(), found, wanted }.into());
            }
        }
        Ok(types.service(&found, Some(TypeHash(server.hash)))?)
    }

    /// Sends the request. The writer is kept until the answer is there.
    fn send(
        &self,
        participant: &Arc<Participant>,
        (peer, key, server): (&Arc<Peer>, EntityKey, &Entity),
        request: &DynamicMessage,
    ) -> Result<(Writer, EntityKey), Error> {
        let entity = Entity {
            kind: EntityKind::Request,
            number: 1,
            node: format!("/_sinew_call_{}", std::process::id()),
            qos: super::qos(DEPTH, true),
            ..server.clone()
        };
        let entity = Arc::new(participant.advertise(&entity, None)?);
        let ours = entity.key();
        let mut writer = Writer::new(entity, DEPTH, HEADER, 1)?;
        let connect = Connect { target: Some(key), first: 1, live: 1, depth: DEPTH, capacity: Some(DEPTH) };
        writer.connect(peer, &connect)?;
        let image = request.encode();
        let mut loan = writer.lender().loan(HEADER + image.len())?;
        let bytes = loan.bytes_mut();
        bytes[..HEADER].fill(0);
        bytes[..8].copy_from_slice(&SEQUENCE.to_le_bytes());
        bytes[HEADER..].copy_from_slice(&image);
        let now = now_ns();
        let head =
            Head { stamp: now, order: 0, lineage_stamp: now, lineage_id: participant.id().wrapping_add(1) };
        writer.publish_lent(1, &head, loan.share());
        Ok((writer, ours))
    }
}
