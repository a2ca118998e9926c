//! `<service>/_service_event` (REP 2012): events of the requests and responses of a client or a
//! server.
//!
//! An event's type is derived from the service's: `package/srv/Name_Event` has a
//! `ServiceEventInfo`, and the request and the response as sequences of at most one element. A
//! generic publisher sends it. The observer encodes an event directly from the request or response
//! in place, without a clone.

use crate::api::erased::publisher::EncodedDraft;
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
use sinew_msg::Service;
use sinew_msg::cdr::{self, Encoder, Field, Structure};
use std::fmt::Display;
use std::marker::PhantomData;

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

/// Returns the observer for an endpoint of the service; `None` for
/// [`Off`](ServiceIntrospection::Off).
pub(in crate::api) fn observer<S: Service<Request: Structure, Response: Structure>>(
    node: &Arc<NodeCore>,
    service: &str,
    (state, qos): (ServiceIntrospection, QoS),
) -> Result<Option<Arc<dyn ServiceObserver>>, CreateError> {
    if state == ServiceIntrospection::Off {
        return Ok(None);
    }
    let no_type = || CreateError::NoEventType { service: service.to_owned() };
    let described = ServiceTypes::of::<S>().description().ok_or_else(no_type)?;
    let event = described.of_inside(&format!("{}_Event", described.type_description.type_name));
    let known = GenericType::described(event.ok_or_else(no_type)?).map_err(|_| no_type())?;
    let group = Group::new(node.clone(), ());
    let topic = format!("{service}/_service_event");
    let publisher = PublisherBuilder::of_type(&group, &topic, known.message()).qos(qos).create()?;
    Ok(Some(Arc::new(EventPublisher::<S> {
        publisher,
        has_contents: state == ServiceIntrospection::Contents,
        session: node.context.session.clone(),
        node: node.full_name.clone(),
        complaints: Arc::default(),
        of: PhantomData,
    })))
}

/// Publishes the events of one endpoint.
struct EventPublisher<S> {
    publisher: Publisher<SerializedMessage>,
    has_contents: bool,
    session: Arc<Session>,
    node: Arc<str>,
    complaints: Arc<WarnOnce>,
    of: PhantomData<fn(S)>,
}

impl<S: Service<Request: Structure, Response: Structure>> ServiceObserver for EventPublisher<S> {
    fn observe(&self, event: ServiceEvent, (client, sequence): (Gid, u64), message: &RawMessage) {
        let info = ServiceEventInfo {
            event_type: event as u8,
            stamp: self.session.now(ClockKind::Ros).to_msg(),
            client_gid: client.0,
            sequence_number: sequence.cast_signed(),
        };
        let is_request = matches!(event, ServiceEvent::RequestSent | ServiceEvent::RequestReceived);
        let request: Option<&S::Request> =
            if self.has_contents && is_request { message.value_of() } else { None };
        let response: Option<&S::Response> =
            if self.has_contents && !is_request { message.value_of() } else { None };
        let Some(mut draft) = self.publisher.encoded_draft(cdr::HEADER_SIZE + end(&info, request, response))
        else {
            return complain(&self.publisher, &self.node, &self.complaints, "there is no memory for it");
        };
        encode(&mut draft, &info, request, response);
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

/// Returns the end of an event's encoded form.
fn end(info: &ServiceEventInfo, request: Option<&impl Field>, response: Option<&impl Field>) -> usize {
    end_of(end_of(info.end(0), request), response)
}

/// Returns the end of a sequence of at most one element that begins at `at`.
fn end_of(at: usize, element: Option<&impl Field>) -> usize {
    let count = 0_u32;
    let at = count.end(at);
    element.map_or(at, |element| element.end(at))
}

fn encode(
    draft: &mut EncodedDraft,
    info: &ServiceEventInfo,
    request: Option<&impl Field>,
    response: Option<&impl Field>,
) {
    let mut encoder = Encoder::new(draft);
    info.encode(&mut encoder);
    encode_one(&mut encoder, request);
    encode_one(&mut encoder, response);
}

fn encode_one(encoder: &mut Encoder<'_>, element: Option<&impl Field>) {
    u32::from(element.is_some()).encode(encoder);
    if let Some(element) = element {
        element.encode(encoder);
    }
}
