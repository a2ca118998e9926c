//! `<service>/_service_event` (REP 2012): events of the requests and responses of a client or a
//! server.
//!
//! An event's type is derived from the service's: `package/srv/Name_Event` has a
//! `ServiceEventInfo`, and the request and the response as sequences of at most one element. A
//! generic publisher sends it. The observer reads the encoded form of a request or response by its
//! description, and encodes it again within the event: alignment differs there. So services of any
//! language have events, also those that are known by their description only.

use crate::api::erased::client::Client;
use crate::api::erased::pulled::PulledServer;
use crate::api::erased::server::Server;
use crate::api::node::NodeCore;
use crate::api::publisher::{Publisher, PublisherBuilder};
use crate::executor::group::Group;
use crate::mailbox::deferred::Deferred;
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::message::generic::{GenericType, SerializedMessage};
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::service::observed::{ServiceEvent, ServiceObserver};
use crate::service::types::ServiceTypes;
use crate::sys::clock::ClockKind;
use crate::sys::logging::{About, log_line};
use crate::sys::sync::Arc;
use crate::topic::session::Session;
use crate::topic::warn_once::WarnOnce;
use sinew_interfaces::service_msgs::msg::ServiceEventInfo;
use sinew_msg::cdr::{self, Encoder, Field};
use sinew_msg::dynamic::{DynamicDecodeError, DynamicMessage, MessageType};
use std::fmt::Display;

/// Selects the events that a client or a server publishes about its requests and responses. ROS 2:
/// `rcl_service_introspection_state_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ServiceIntrospection {
    /// No events.
    #[default]
    Off,
    /// Events without content: the time, the client and the sequence number.
    Metadata,
    /// Events with the content of requests and responses.
    Contents,
}

impl<State: Send + 'static> Client<State> {
    /// Publishes events of its requests and responses, as
    /// [`Client::configure_introspection`](crate::Client::configure_introspection).
    ///
    /// # Errors
    /// As there. The types of request and response need a description each, or that of the service
    /// is [given](crate::msg::GenericType::described).
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        let calls = &self.inner.calls;
        let observer = observer(&self.inner.node, (self.name(), &calls.types), (state, qos))?;
        drop(calls.observed.set(observer));
        Ok(())
    }
}

impl Server {
    /// Publishes events of its requests and responses, as
    /// [`Server::configure_introspection`](crate::Server::configure_introspection).
    ///
    /// # Errors
    /// As there. The types of request and response need a description each, or that of the service
    /// is [given](crate::msg::GenericType::described).
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        let Self { inner } = self;
        let about = (self.name(), &inner.core.types);
        let observer = observer(&inner.node, about, (state, qos))?;
        drop(inner.core.observed.set(observer));
        Ok(())
    }
}

impl PulledServer {
    /// Publishes events of its requests and responses, as
    /// [`PulledServer::configure_introspection`](crate::service::PulledServer::configure_introspection).
    ///
    /// # Errors
    /// As [`Server::configure_introspection`].
    pub fn configure_introspection(&self, state: ServiceIntrospection, qos: QoS) -> Result<(), CreateError> {
        self.server.configure_introspection(state, qos)
    }
}

/// Returns the observer for an endpoint of a service with these types; `None` for
/// [`Off`](ServiceIntrospection::Off).
fn observer(
    node: &Arc<NodeCore>,
    (service, types): (&str, &ServiceTypes),
    (state, qos): (ServiceIntrospection, QoS),
) -> Result<Option<Arc<dyn ServiceObserver>>, CreateError> {
    if state == ServiceIntrospection::Off {
        return Ok(None);
    }
    let no_type = || CreateError::NoEventType { service: service.to_owned() };
    let described = types.description().ok_or_else(no_type)?;
    let part = |suffix: &str| {
        described.of_inside(&format!("{}_{suffix}", described.type_description.type_name)).ok_or_else(no_type)
    };
    let content = |suffix: &str| MessageType::new(&part(suffix)?).map(Arc::new).map_err(|_| no_type());
    let contents = match state {
        ServiceIntrospection::Contents => Some([content("Request")?, content("Response")?]),
        _ => None,
    };
    let known = GenericType::described(part("Event")?).map_err(|_| no_type())?;
    let group = Group::new(node.clone(), ());
    let topic = format!("{service}/_service_event");
    let publisher = PublisherBuilder::of_type(&group, &topic, known.message()).qos(qos).create()?;
    Ok(Some(Arc::new(EventPublisher {
        publisher,
        contents,
        session: node.context.session.clone(),
        node: node.full_name.clone(),
        complaints: Arc::default(),
    })))
}

/// Publishes the events of one endpoint.
struct EventPublisher {
    publisher: Publisher<SerializedMessage>,
    /// The types of request and response, if the events have them.
    contents: Option<[Arc<MessageType>; 2]>,
    session: Arc<Session>,
    node: Arc<str>,
    complaints: Arc<WarnOnce>,
}

impl ServiceObserver for EventPublisher {
    fn observe(&self, event: ServiceEvent, (client, sequence): (Gid, u64), message: &RawMessage) {
        let info = ServiceEventInfo {
            event_type: event as u8,
            stamp: self.session.now(ClockKind::Ros).to_msg(),
            client_gid: client.0,
            sequence_number: sequence.cast_signed(),
        };
        let is_request = matches!(event, ServiceEvent::RequestSent | ServiceEvent::RequestReceived);
        let contents = match self.contents(is_request, message) {
            Ok(contents) => contents,
            Err(error) => return complain(&self.publisher, &self.node, &self.complaints, error),
        };
        let end = contents.iter().fold(info.end(0), end_of);
        let Some(mut draft) = self.publisher.encoded_draft(cdr::HEADER_SIZE + end) else {
            return complain(&self.publisher, &self.node, &self.complaints, "there is no memory for it");
        };
        let mut encoder = Encoder::new(&mut draft);
        info.encode(&mut encoder);
        contents.iter().for_each(|content| encode(content, &mut encoder));
        // Listeners of the topic's subscriptions are the program's code, and the caller may hold a
        // lock.
        let (publisher, node, complaints) =
            (self.publisher.clone(), self.node.clone(), self.complaints.clone());
        Deferred::run(move || {
            if let Err(error) = publisher.publish(draft) {
                complain(&publisher, &node, &complaints, error);
            }
        });
    }
}

impl EventPublisher {
    /// Returns the event's request and response: the message in its place, if events have contents.
    fn contents(
        &self,
        is_request: bool,
        message: &RawMessage,
    ) -> Result<[Option<DynamicMessage>; 2], DynamicDecodeError> {
        let Some([request, response]) = &self.contents else { return Ok([None, None]) };
        let mut encoded = vec![0; message.encoded_length().unwrap_or_default()];
        message.write_encoded(&mut encoded);
        let content = DynamicMessage::decode(if is_request { request } else { response }, &encoded)?;
        Ok(if is_request { [Some(content), None] } else { [None, Some(content)] })
    }
}

#[cold]
fn complain(
    publisher: &Publisher<SerializedMessage>,
    node: &Arc<str>,
    complaints: &WarnOnce,
    error: impl Display,
) {
    let about = About { node, subject: publisher.topic() };
    log_line!(
        complaints.level(); about,
        "an event for {} is lost: {error}",
        publisher.topic()
    );
}

/// Returns the end of a sequence of at most one element that begins at `at`.
fn end_of(at: usize, element: &Option<DynamicMessage>) -> usize {
    let at = 0_u32.end(at);
    element.as_ref().map_or(at, |element| element.end(at))
}

fn encode(element: &Option<DynamicMessage>, encoder: &mut Encoder<'_>) {
    u32::from(element.is_some()).encode(encoder);
    if let Some(element) = element {
        element.encode_into(encoder);
    }
}
