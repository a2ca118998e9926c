//! `sinew service call`: a request from a text, and its answer; once, or repeatedly.
//!
//! The format of the messages is described in `sinew`'s `outside::service`: a header of 16 bytes
//! (sequence number, place, kind), then the encoded request or response, or the text of a failure.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sinew::QoS;
use sinew::gateway::Origin;
use sinew::graph;
use sinew::records::leaves_process;
use sinew_msg::TypeHash;
use sinew_msg::definition::{Kind, TypeName};
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use sinew_shm::transport::{Connect, EventReceiver, Head, Incoming, Observer, Participant, Sink, Writer};
use sinew_shm::{Domain, Endpoint, EndpointKey, EndpointKind, Peer};

use super::template::{self, message_of};
use super::values::written;
use crate::cli::interfaces::CallOptions;
use crate::error::{CallError, Error, TypesError};
use crate::interfaces::{PackageSources, Types, name};
use crate::observed::Observed;
use crate::output::{print, says};
use crate::similar::{self, suggestion};
use crate::terminal;
use sinew_bench::clock::{nanoseconds, now_ns};
use sinew_bench::run::Collected;

const HEADER: usize = 16;
const DEPTH: usize = 8;

/// Calls, and prints the response.
pub(super) fn run(options: &CallOptions) -> Result<(), Error> {
    let mut observed = Observed::open(&options.place)?;
    let domain = Domain::open(options.place.dir.as_deref(), observed.domain())?;
    let types = Types::new(PackageSources::open(&options.definitions)?, Some(domain.clone()));
    let values = written(options.what().1, &options.source)?;
    check(options, &types, &values)?;
    let seen = observed.read()?;
    let mut similar = String::new();
    if seen.servers(&options.name).next().is_none() {
        let servers = seen.endpoints().iter().filter(|end| end.kind == graph::EndpointKind::Server);
        let names = servers.map(|end| end.name.as_str());
        similar = suggestion(&similar::to(&options.name, names));
        says(&format!(
            "{} has no server in domain {} yet: waiting{similar}",
            options.name,
            observed.domain()
        ));
    }
    drop(seen);
    let found = Arc::new(CallObserver {
        service: options.name.clone(),
        port: OnceLock::new(),
        news: Collected::new(CallNews::default()),
    });
    let participant = Participant::join(&domain, found.clone())?;
    let outcome = participant.port(None).map_err(Error::from).and_then(|port| {
        let port = found.port.get_or_init(|| port);
        let (rung, news) = (Arc::clone(port), found.news.clone());
        let stop = move || {
            news.with(|news| news.is_enough = true);
            rung.ring();
        };
        terminal::stop_on_signal(stop, None)?;
        let call = Call { options, values: &values, found: &found, port, domain: observed.domain(), similar };
        call.run(&types, &participant)
    });
    found.news.with(|news| news.answers = None);
    participant.leave();
    outcome
}

/// Reports errors in the command line itself before waiting for a server. (A type that only the
/// server knows is checked when it is there.)
fn check(options: &CallOptions, types: &Types, values: &str) -> Result<(), Error> {
    let Some(wanted) = options.what().0 else { return Ok(()) };
    let wanted = name(wanted, types.sources())?;
    if wanted.kind() != Kind::Service {
        let (name, is) = (wanted.to_string(), wanted.kind().name());
        return Err(TypesError::Kind { name, is, wanted: "services have types of the kind `srv`" }.into());
    }
    if let Ok([request, _]) = types.service(&wanted, None) {
        message_of(&request, values)?;
    }
    Ok(())
}

/// Returns the encoded response, or the reason why there is none. The kinds are those of `sinew`'s
/// `outside::service::answer`.
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

/// State shared with the participant's helper thread.
struct CallObserver {
    service: String,
    port: OnceLock<Arc<EventReceiver>>,
    news: Collected<CallNews>,
}

#[derive(Default)]
struct CallNews {
    servers: Vec<(Arc<Peer>, EndpointKey, Endpoint)>,
    /// The called server, and the client entity.
    called: Option<(u64, EndpointKey, EndpointKey)>,
    answers: Option<Incoming>,
    is_enough: bool,
}

/// The outcome of a request.
enum Answer {
    Came(Vec<u8>),
    Gone,
}

impl CallNews {
    fn answer(&mut self) -> Option<Result<Answer, Error>> {
        if let Some(incoming) = &mut self.answers {
            let mut buffer = Vec::new();
            match incoming.read(&mut buffer) {
                Ok(Some(message)) => {
                    let bytes = message.hold.as_ref().map_or(&buffer[..], |hold| hold.bytes()).to_vec();
                    incoming.set_cursor(message.number + 1); // the server has room for the next answer
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

impl CallObserver {
    fn wake(&self) {
        if let Some(port) = self.port.get() {
            port.ring();
        }
    }
}

struct Reader;

impl Sink for Reader {
    // The waiting thread reads the answer when it is woken.
    fn drain(&self) {}
}

impl Observer for CallObserver {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        // A server that is only listed has a local stand-in.
        let is_there = !Origin::of(entity).is_some_and(Origin::is_listed);
        if entity.kind == EndpointKind::Server && entity.name == self.service && is_there {
            self.news.with(|news| news.servers.push((Arc::clone(peer), key, entity.clone())));
            self.wake();
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        let gone = (peer.id(), key);
        self.news.with(|news| news.servers.retain(|(server, other, _)| (server.id(), *other) != gone));
        self.wake();
    }

    fn connected(&self, mut incoming: Incoming, target: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        target?;
        incoming.set_port(self.port.get().map(|port| &**port));
        self.news.with(|news| news.answers = Some(incoming));
        self.wake(); // messages from before the port was known are not announced
        Some(Arc::new(Reader))
    }

    fn left(&self, _: &Arc<Peer>) {}
}

struct Call<'a> {
    options: &'a CallOptions,
    /// The request as the user wrote it.
    values: &'a str,
    found: &'a CallObserver,
    port: &'a EventReceiver,
    domain: u32,
    /// Similar service names, as the end of a sentence.
    similar: String,
}

/// The end of a wait.
enum Waited<T> {
    Came(T),
    TimedOut(Duration),
    Stopped,
}

/// A connection for requests, kept until their answers have come.
struct Way {
    writer: Writer,
    ours: EndpointKey,
    /// Number of requests so far.
    sent: u64,
}

impl Call<'_> {
    fn run(&self, types: &Types, participant: &Arc<Participant>) -> Result<(), Error> {
        let service = || self.options.name.clone();
        let (domain, similar) = (self.domain, self.similar.clone());
        let (peer, key, server) = match self.wait(self.options.timeout, |news| news.servers.first().cloned())
        {
            Waited::Came(server) => server,
            Waited::TimedOut(waited) => {
                return Err(CallError::NoServer { service: service(), domain, waited, similar }.into());
            }
            Waited::Stopped => {
                return Err(CallError::StoppedWaiting { service: service(), domain, similar }.into());
            }
        };
        let [request_type, response_type] = self.types(types, &server)?;
        let mut request = message_of(&request_type, self.values)?;
        let mut way = self.connect(participant, (&peer, &server), key)?;
        self.found.news.with(|news| news.called = Some((peer.id(), key, way.ours)));
        let mut due = now_ns();
        loop {
            way.send(&template::now(&mut request).encode())?;
            let encoded = match self.wait(self.options.timeout, CallNews::answer) {
                Waited::Came(answer) => answer?,
                Waited::TimedOut(waited) => {
                    return Err(CallError::TimedOut { service: service(), waited }.into());
                }
                Waited::Stopped if self.options.rate.is_some() => return Ok(()),
                Waited::Stopped => return Err(CallError::Stopped { service: service() }.into()),
            };
            print(&self.answered(&response_type, encoded)?)?;
            let Some(rate) = self.options.rate else { return Ok(()) };
            due = now_ns().max(due.saturating_add(nanoseconds(rate)));
            let pause = Duration::from_nanos(u64::try_from(due - now_ns()).unwrap_or(0));
            if let Waited::Stopped = self.wait::<()>(Some(pause), |_| None) {
                return Ok(());
            }
        }
    }

    /// Formats the response for printing.
    fn answered(&self, response_type: &Arc<MessageType>, answer: Answer) -> Result<String, Error> {
        let failed =
            |reason: String| Error::Call(CallError::Failed { service: self.options.name.clone(), reason });
        let response = match answer {
            Answer::Gone => return Err(failed("its server went without an answer".to_owned())),
            Answer::Came(bytes) => body(&bytes).map_err(failed).and_then(|encoded| {
                DynamicMessage::decode(response_type, encoded).map_err(|error| failed(error.to_string()))
            })?,
        };
        let end = if self.options.rate.is_some() { "---\n" } else { "" };
        Ok(match self.options.json {
            true => response.to_json() + "\n",
            false => response.to_yaml(&self.options.style.style()) + end,
        })
    }

    /// Waits until `look` finds something.
    fn wait<T>(
        &self,
        timeout: Option<Duration>,
        mut look: impl FnMut(&mut CallNews) -> Option<T>,
    ) -> Waited<T> {
        let begin = now_ns();
        loop {
            let seen = self.port.bell(); // K1
            self.port.park();
            self.port.drain();
            let (looked, is_enough) = self.found.news.with(|news| (look(news), news.is_enough));
            let left = timeout.map(|timeout| {
                let passed = u64::try_from(now_ns() - begin).unwrap_or(0);
                timeout.saturating_sub(Duration::from_nanos(passed))
            });
            let over = match (looked, timeout) {
                (Some(looked), _) => Some(Waited::Came(looked)),
                (None, _) if is_enough => Some(Waited::Stopped),
                (None, Some(waited)) if left == Some(Duration::ZERO) => Some(Waited::TimedOut(waited)),
                (None, _) => None,
            };
            if over.is_none() && !self.port.is_pending() {
                self.port.sleep(seen, left);
            }
            self.port.unpark();
            if let Some(over) = over {
                return over;
            }
        }
    }

    /// Returns the types of the server's messages.
    fn types(&self, types: &Types, server: &Endpoint) -> Result<[Arc<MessageType>; 2], Error> {
        let service = || self.options.name.clone();
        if !leaves_process(server) {
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

    /// Connects to the server.
    fn connect(
        &self,
        participant: &Arc<Participant>,
        (peer, server): (&Arc<Peer>, &Endpoint),
        key: EndpointKey,
    ) -> Result<Way, Error> {
        let entity = Endpoint {
            kind: EndpointKind::Request,
            number: 1,
            node: format!("/_sinew_call_{}", std::process::id()),
            qos: QoS::new().keep_last(DEPTH).to_bytes(true),
            ..server.clone()
        };
        let entity = Arc::new(participant.advertise(&entity, None)?);
        let ours = entity.key();
        let mut writer = Writer::new(entity, DEPTH, HEADER, 1)?;
        let connect = Connect { target: Some(key), first: 1, live: 1, depth: DEPTH, capacity: Some(DEPTH) };
        writer.connect(peer, &connect)?;
        Ok(Way { writer, ours, sent: 0 })
    }
}

impl Way {
    /// Sends a request. (The previous one has been answered, so there is room.)
    fn send(&mut self, encoded: &[u8]) -> Result<(), Error> {
        self.sent += 1;
        let mut loan = self.writer.lender().loan(HEADER + encoded.len())?;
        let bytes = loan.bytes_mut();
        bytes[..HEADER].fill(0);
        bytes[..8].copy_from_slice(&self.sent.to_le_bytes());
        bytes[HEADER..].copy_from_slice(encoded);
        let now = now_ns();
        let id = self.writer.endpoint().participant().id().wrapping_add(self.sent);
        let head = Head { stamp: now, order: 0, lineage_stamp: now, lineage_id: id };
        self.writer.publish_lent(self.sent, &head, loan.share());
        Ok(())
    }
}
