//! The thread that reads from a client.

use crate::assets;
use crate::catalogue::Service;
use crate::hub::Hub;
use crate::job::Job;
use crate::pump::PING_PERIOD;
use crate::session::{Change, GenericClient, Session};
use crate::socket::{FrameKind, GOING_AWAY, Incoming, Inlet, PROTOCOL_ERROR, ReadEnd, TOO_BIG};
use crate::wire::{self, CDR, ClientBinary, ClientChannel, ClientText, JSON, Level};
use sinew::msg::{GenericType, SerializedMessage};
use sinew::qos::Durability;
use sinew::{Publisher, QoS};
use sinew_msg::description::TypeDescription;
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pings without a sign of life after which a client is dead.
const MOST_QUIET: u32 = 12;

/// Channels on which a client may publish.
const MOST_CHANNELS: usize = 256;

/// Services that a client may call, as long as they are there.
const MOST_SERVICES: usize = 1024;

/// Memory that reading a message in JSON may take, in bytes: some words of it stand for many
/// values.
const MOST_JSON: usize = 64 << 20;

/// A topic on which the client publishes.
struct Published {
    publisher: Publisher<SerializedMessage>,
    format: Format,
}

/// How the client writes messages of a type.
struct Format {
    message_type: Arc<MessageType>,
    is_json: bool,
}

pub(crate) struct Requests {
    hub: Arc<Hub>,
    session: Arc<Session>,
    published: BTreeMap<u32, Published>,
    clients: BTreeMap<u32, GenericClient>,
}

impl Requests {
    pub(crate) fn new(hub: Arc<Hub>, session: Arc<Session>) -> Self {
        Self { hub, session, published: BTreeMap::new(), clients: BTreeMap::new() }
    }

    /// Reads until the connection ends. The inlet's stream has a timeout of
    /// [`PING_PERIOD`].
    pub(crate) fn run(mut self, mut inlet: Inlet) {
        let mut quiet = 0;
        loop {
            let read = inlet.read();
            quiet = if read == Err(ReadEnd::Quiet) { quiet + 1 } else { 0 };
            match read {
                Ok(Incoming::Text(text)) => self.text(&text),
                Ok(Incoming::Binary(frame)) => self.binary(&frame),
                Ok(Incoming::Ping(bytes)) => self.session.pong(bytes),
                Ok(Incoming::Pong) => {}
                Err(ReadEnd::Quiet) if quiet < MOST_QUIET => {}
                Ok(Incoming::Close) => return self.session.end(GOING_AWAY),
                Err(ReadEnd::TooLong) => return self.session.end(TOO_BIG),
                Err(ReadEnd::Wrong) => return self.session.end(PROTOCOL_ERROR),
                Err(ReadEnd::Quiet) | Err(ReadEnd::Gone) => {
                    self.session.end(GOING_AWAY);
                    return self.session.disconnect();
                }
            }
        }
    }

    fn fail(&self, problem: &str) {
        self.session.status(Level::Error, problem, None);
    }

    fn text(&mut self, text: &[u8]) {
        let request = match ClientText::parse(text) {
            Ok(request) => request,
            Err(problem) => return self.fail(&problem),
        };
        match request {
            ClientText::Subscribe { subscriptions } => {
                for wanted in subscriptions {
                    if !self.hub.subscribe(&self.session, wanted.id, wanted.channel_id) {
                        self.fail(&format!("there is no channel {}", wanted.channel_id));
                    }
                }
            }
            ClientText::Unsubscribe { subscription_ids } => {
                for id in subscription_ids {
                    self.session.change(Change::Unsubscribe { id });
                }
            }
            ClientText::Advertise { channels } => {
                for channel in channels {
                    if let Err(problem) = self.advertise(&channel) {
                        self.fail(&format!("can't publish on {}: {problem}", channel.topic));
                    }
                }
            }
            ClientText::Unadvertise { channel_ids } => {
                for id in channel_ids {
                    if self.published.remove(&id).is_none() {
                        self.fail(&format!("there is no channel {id} of this client"));
                    }
                }
            }
            ClientText::FetchAsset { request_id, uri } => {
                let read = assets::read(&uri, &self.hub.settings.assets);
                let frame = wire::asset(request_id, read.as_deref().map_err(String::as_str));
                self.session.send(FrameKind::Binary, frame);
            }
            ClientText::SubscribeConnectionGraph {} => {
                self.session.set_wants_graph(true);
                self.hub.graph_changed();
            }
            ClientText::UnsubscribeConnectionGraph {} => self.session.set_wants_graph(false),
            ClientText::UnsubscribeParameterUpdates { parameter_names } => {
                self.session.forget_parameters(&parameter_names);
            }
            ClientText::GetParameters { parameter_names: names, id } => {
                self.ask(Job::Get { names, id });
            }
            ClientText::SetParameters { parameters, id } => {
                self.ask(Job::Set { parameters, id });
            }
            ClientText::SubscribeParameterUpdates { parameter_names: names } => {
                self.ask(Job::Watch { names });
            }
        }
    }

    fn ask(&self, job: Job) {
        match self.session.add_job(job) {
            Ok(true) => self.hub.ask(Some(self.session.clone())),
            Ok(false) => {} // it is in the queue
            Err(problem) => self.fail(&problem),
        }
    }

    fn binary(&mut self, frame: &[u8]) {
        match ClientBinary::parse(frame) {
            Ok(ClientBinary::Publish { channel, bytes }) => {
                if let Err(problem) = self.publish(channel, bytes) {
                    self.fail(&format!("a message isn't published: {problem}"));
                }
            }
            Ok(ClientBinary::Call { service, call, encoding, bytes }) => {
                if let Err(problem) = self.call((service, call), encoding, bytes) {
                    self.session.fail_call(service, call, &problem);
                }
            }
            Ok(ClientBinary::Control(command)) => {
                let Some(playback) = &self.hub.settings.playback else {
                    return self.fail("there is no bag here that is played");
                };
                if !self.hub.settings.allowed.playback {
                    let problem =
                        "the bag can't be controlled through this server: it was not started with that";
                    return self.fail(problem);
                }
                if let Err(problem) = playback.control(&command, |frame| self.hub.broadcast(frame)) {
                    self.fail(&problem);
                }
            }
            Err(problem) => self.fail(&problem),
        }
    }

    // ---- publishing ----

    fn advertise(&mut self, channel: &ClientChannel) -> Result<(), String> {
        let ClientChannel { id, topic: name, encoding, schema_name } = channel;
        if !self.hub.settings.allowed.publish {
            return Err("this server was not started with that".to_owned());
        }
        let topic = &self.hub.node.resolve_topic_name(name).map_err(|error| error.to_string())?;
        if !self.hub.settings.shows_topic(topic) {
            return Err("this server doesn't show it".to_owned());
        }
        if self.published.contains_key(id) {
            return Err(format!("this client has a channel {id} already"));
        }
        if self.published.len() >= MOST_CHANNELS {
            return Err(format!("a client may have {MOST_CHANNELS} channels"));
        }
        let type_name = match schema_name.split_once('/') {
            Some((package, name)) if !name.contains('/') => format!("{package}/msg/{name}"),
            _ => schema_name.clone(),
        };
        let Some(description) = self.hub.type_to_publish(topic, &type_name) else {
            return Err(format!("its type {type_name} is not known here, and no node uses it"));
        };
        let format = Format::new(&description, encoding)?;
        let known = GenericType::described(description).map_err(|error| error.to_string())?;
        // Subscriptions that ask for retained messages get them, too.
        let asks_retained = self.hub.node.graph().subscriptions(topic);
        let asks_retained = asks_retained.iter().any(|one| one.qos.durability == Durability::TransientLocal);
        let qos = if asks_retained { QoS::new().transient_local() } else { QoS::new() };
        let publisher = self.hub.node.generic_publisher(name, known).qos(qos).create();
        let publisher = publisher.map_err(|error| error.to_string())?;
        self.published.insert(*id, Published { publisher, format });
        Ok(())
    }

    fn publish(&self, channel: u32, bytes: &[u8]) -> Result<(), String> {
        let Some(Published { publisher, format }) = self.published.get(&channel) else {
            return Err(format!("there is no channel {channel} of this client"));
        };
        let message = format.read(bytes).map_err(|problem| format!("{}: {problem}", publisher.topic()))?;
        publisher.publish(message).map_err(|error| error.to_string())
    }

    // ---- services ----

    fn call(&mut self, (service, call): (u32, u32), encoding: &str, bytes: &[u8]) -> Result<(), String> {
        let Some(service) = self.hub.service(service) else {
            return Err(format!("there is no service {service}"));
        };
        let request = Format::new(&service.request.description, encoding)?.read(bytes)?;
        let response = Format::new(&service.response.description, encoding)?;
        let client = self.client(&service)?;
        let Some(key) = self.session.begin_call(service.id, call, &service.key.name) else {
            return Err("too many calls of this client wait for their responses".to_owned());
        };
        let (session, encoding) = (self.session.clone(), encoding.to_owned());
        let sent = client.call_then_immediately(request, move |outcome| match outcome {
            Ok(bytes) => match response.write(bytes.bytes()) {
                Ok(bytes) => session.end_call(key, Ok((&encoding, &bytes))),
                Err(problem) => session.end_call(key, Err(&problem)),
            },
            Err(error) => session.end_call(key, Err(&error.to_string())),
        });
        match sent {
            Ok(id) => self.session.note_request(key, &client, id),
            Err(error) => self.session.end_call(key, Err(&error.to_string())),
        }
        Ok(())
    }

    /// Returns the client of a service; makes it at the first call.
    fn client(&mut self, service: &Service) -> Result<GenericClient, String> {
        if let Some(client) = self.clients.get(&service.id) {
            return Ok(client.clone());
        }
        self.clients.retain(|id, _| self.hub.service(*id).is_some());
        if self.clients.len() >= MOST_SERVICES {
            return Err(format!("a client may call {MOST_SERVICES} services"));
        }
        let known = GenericType::new(&service.key.type_name, service.key.hash());
        let known = known.map_err(|error| error.to_string())?;
        let client = self.hub.node.generic_client(&service.key.name, known).create();
        let client = client.map_err(|error| error.to_string())?;
        self.clients.insert(service.id, client.clone());
        Ok(client)
    }
}

impl Format {
    fn new(description: &TypeDescription, encoding: &str) -> Result<Self, String> {
        let is_json = match encoding {
            CDR => false,
            JSON => true,
            _ => return Err(format!("the encoding `{encoding}` is not known here, but {CDR} and {JSON}")),
        };
        let message_type = MessageType::new(description).map_err(|error| error.to_string())?;
        Ok(Self { message_type: Arc::new(message_type), is_json })
    }

    /// Reads a message from a client. Its own subscriptions get nothing malformed.
    fn read(&self, bytes: &[u8]) -> Result<SerializedMessage, String> {
        if self.is_json {
            let text = std::str::from_utf8(bytes).map_err(|_| "the JSON text is no UTF-8")?;
            let message = DynamicMessage::from_json_within(&self.message_type, text, MOST_JSON);
            return Ok(SerializedMessage::new(message.map_err(|error| error.to_string())?.encode()));
        }
        DynamicMessage::decode(&self.message_type, bytes).map_err(|error| error.to_string())?;
        Ok(SerializedMessage::new(bytes.to_vec()))
    }

    /// Writes a message for a client.
    fn write(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        if !self.is_json {
            return Ok(bytes.to_vec());
        }
        let message = DynamicMessage::decode(&self.message_type, bytes).map_err(|error| error.to_string())?;
        Ok(message.to_json().into_bytes())
    }
}

/// The longest time for which reading blocks.
pub(crate) const READ_TIMEOUT: std::time::Duration = PING_PERIOD;
