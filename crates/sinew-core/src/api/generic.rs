//! Endpoints of types that are known at run time only, for bags, tools and gateways; and nodes that
//! stand for endpoints of other hosts.

use super::client::{Client, ClientBuilder};
use super::context::Context;
use super::erased::Erased;
use super::erased::publisher::EncodedDraft;
use super::erased::service as erased;
use super::node::{Node, NodeOptions};
use super::publisher::{PublishError, Publisher, PublisherBuilder};
use super::server::ServerBuilder;
use super::subscription::SubscriptionBuilder;
use crate::message::generic::{GenericService, GenericType, SerializedMessage, check};
use crate::message::info::SourceInfo;
use crate::message::registered::MessageType;
use crate::message::{Check, Lineage};
use crate::ros::failure::CreateError;
use crate::ros::origin::Origin;
use crate::service::types::ServiceTypes;
use crate::sys::clock::{Time, wall_of};
use crate::topic::copy_plan::Ownership;
use std::time::Duration;

impl Context {
    /// Makes a node that stands for one of another host, or that belongs to a gateway itself: its
    /// endpoints are announced with [that origin](Origin). Names are used as given, without the
    /// command line's remapping. Otherwise as [`node_in`](Self::node_in).
    ///
    /// # Errors
    /// As [`node`](Self::node).
    pub fn node_of(&self, origin: Origin, namespace: &str, name: &str) -> Result<Node, CreateError> {
        Node::new(self, name, namespace, origin, NodeOptions::default())
    }

    /// Checks which endpoints other processes have now. Endpoints of this context match them before
    /// this returns; without this call, a thread of the context notices changes within
    /// milliseconds. Cheap if nothing has changed. For gateways.
    pub fn look_around(&self) {
        if let Some(transport) = self.shared().transport() {
            transport.refresh();
        }
    }
}

impl Node {
    /// Returns a builder for a publisher of a type that is known at run time only. It publishes
    /// [`SerializedMessage`]s by value, or [drafts](Publisher::encoded_draft) of them.
    ///
    /// ```
    /// use sinew::msg::{GenericType, SerializedMessage, TypeHash};
    /// use sinew::prelude::*;
    /// let number = GenericType::new("some_msgs/msg/Number", TypeHash([7; 32]))?;
    /// let context = Context::new()?;
    /// let node = context.node("player")?;
    /// let publisher = node.generic_publisher("number", number).create()?;
    /// let subscription = node.generic_subscription("number", number).create()?;
    /// publisher.publish(SerializedMessage::new(vec![0, 1, 0, 0, 42]))?;
    /// let (message, _info) = subscription.take_sample().unwrap();
    /// assert_eq!(message.bytes(), [0, 1, 0, 0, 42]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generic_publisher(&self, topic: &str, known: GenericType) -> PublisherBuilder<SerializedMessage> {
        PublisherBuilder::of_type(self.default_group(), topic, known.message())
    }

    /// Returns a builder for a subscription of a type that is known at run time only. It takes
    /// messages in their encoded form, in place ([`take_sample`](crate::Subscription::take_sample),
    /// [`recv_sample`](crate::Subscription::recv_sample)) or as copies.
    pub fn generic_subscription(
        &self,
        topic: &str,
        known: GenericType,
    ) -> SubscriptionBuilder<SerializedMessage> {
        SubscriptionBuilder::of_type(self.default_group(), topic, known.message()).checked(Check(check))
    }

    /// Returns a builder for a client of a service that is known at run time only. It reaches all
    /// servers of that name and hash.
    ///
    /// A server of its own context with Rust types gets the request decoded; if that fails, the
    /// call fails with
    /// [`CallFailure::Undecodable`](crate::service::failure::CallFailure::Undecodable) and returns
    /// the request.
    pub fn generic_client(&self, service: &str, known: GenericType) -> ClientBuilder<GenericService> {
        ClientBuilder::of_types(self.default_group(), service, ServiceTypes::told_by(known))
    }

    /// Returns a builder for a server of a service that is known at run time only. It answers all
    /// clients of that name and hash, including those of its own context with Rust types.
    pub fn generic_server(&self, service: &str, known: GenericType) -> ServerBuilder<GenericService> {
        ServerBuilder::of_types(self.default_group(), service, ServiceTypes::told_by(known))
    }
}

impl Node {
    /// Returns a builder for a publisher of messages of any type, without the type in the program's
    /// own: for bindings, bags and gateways. See [`erased`](mod@crate::erased).
    pub fn erased_publisher(&self, topic: &str, of: MessageType) -> PublisherBuilder<Erased> {
        self.default_group().erased_publisher(topic, of)
    }

    /// Returns a builder for a subscription to messages of any type, as
    /// [`erased_publisher`](Self::erased_publisher).
    pub fn erased_subscription(&self, topic: &str, of: MessageType) -> SubscriptionBuilder<Erased> {
        self.default_group().erased_subscription(topic, of)
    }

    /// Returns a builder for a client of a service of any types, as
    /// [`erased_publisher`](Self::erased_publisher).
    pub fn erased_client(&self, service: &str, types: erased::ServiceTypes) -> ClientBuilder<Erased> {
        self.default_group().erased_client(service, types)
    }

    /// Returns a builder for a server of a service of any types, as
    /// [`erased_publisher`](Self::erased_publisher).
    pub fn erased_server(&self, service: &str, types: erased::ServiceTypes) -> ServerBuilder<Erased> {
        self.default_group().erased_server(service, types)
    }
}

impl Publisher<SerializedMessage> {
    /// Returns `true` if at least `count` subscriptions of that participant are connected: they get
    /// messages published from now on, even if other subscriptions are not connected yet. For
    /// gateways.
    pub fn has_subscriptions_of(&self, participant: u64, count: usize) -> bool {
        self.core().has_subscriptions_of(participant, count)
    }

    /// Republishes a message from another host; for a publisher of a [node](Context::node_of) that
    /// stands for one on the network. Subscriptions get the metadata of the original message. Only
    /// one thread at a time may call this on a publisher.
    ///
    /// A wait for room lasts at most `max_blocking`, whatever its QoS says.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub fn publish_foreign(
        &self,
        draft: EncodedDraft,
        source: SourceInfo,
        max_blocking: Duration,
    ) -> Result<(), PublishError<SerializedMessage>> {
        let published = self.core().publish_foreign(draft.0, source, max_blocking);
        published.map_err(|(message, reason)| self.failed(message, Ownership::Shared, reason))
    }
}

impl Client<GenericService> {
    /// Returns `true` if a call now would run the program's server on this thread, where it may
    /// wait for others: a server of this context with an [immediate
    /// callback](ServerBuilder::immediate_callback). For gateways.
    pub fn runs_server_here(&self) -> bool {
        self.core().requests.runs_immediately()
    }
}

impl Lineage {
    /// Returns a chain that began on another host, at that wall time.
    pub fn from_wall(time: Time, id: u64) -> Self {
        let steady = Time::steady().nanoseconds();
        Self::new(time.nanoseconds().saturating_sub(wall_of(steady) - steady), id)
    }

    /// Returns the wall time at which the chain's first message was published.
    pub fn wall(&self) -> Time {
        Time::from_nanoseconds(wall_of(self.stamp().nanoseconds()))
    }
}
