//! For gateways: nodes that represent nodes of other hosts, and messages that come from there.

use super::client::Client;
use super::context::Context;
use super::erased::publisher::EncodedDraft;
use super::node::{Node, NodeOptions};
use super::publisher::{PublishError, Publisher};
use crate::message::Lineage;
use crate::message::generic::{GenericService, SerializedMessage};
use crate::message::info::SourceInfo;
use crate::ros::failure::CreateError;
use crate::ros::origin::Origin;
use crate::sys::clock::{Time, wall_of};
use crate::topic::copy_plan::Ownership;
use std::time::Duration;

impl Context {
    /// Creates a node that represents one of another host, or that belongs to a gateway itself: its
    /// endpoints are announced with the given [origin](Origin). Names are used as given, without
    /// the command line's remapping. Otherwise as [`node_in`](Self::node_in).
    ///
    /// # Errors
    /// As [`node`](Self::node).
    pub fn node_of(&self, origin: Origin, namespace: &str, name: &str) -> Result<Node, CreateError> {
        Node::new(self, name, namespace, origin, NodeOptions::default())
    }

    /// Looks for new and removed endpoints of other processes. Endpoints of this context match them
    /// before this method returns; without this call, a thread of the context notices changes
    /// within milliseconds. Cheap if nothing has changed. For gateways.
    pub fn look_around(&self) {
        if let Some(transport) = self.shared().transport() {
            transport.refresh();
        }
    }
}

impl Publisher<SerializedMessage> {
    /// Returns `true` if at least `count` subscriptions of the participant are connected: they
    /// receive messages published from now on, even if other subscriptions are not connected yet.
    /// For gateways.
    pub fn has_subscriptions_of(&self, participant: u64, count: usize) -> bool {
        self.core().has_subscriptions_of(participant, count)
    }

    /// Republishes a message from another host; for a publisher of a [node](Context::node_of) that
    /// represents one on the network. Subscriptions get the metadata of the original message. Only
    /// one thread at a time may call this on a publisher.
    ///
    /// A wait for room lasts at most `max_blocking`; the limit of the publisher's QoS doesn't
    /// apply.
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
    /// Returns `true` if a call would now run the server's callback on this thread, where the
    /// callback may block: the server belongs to this context and has an [immediate
    /// callback](crate::service::ServerBuilder::immediate_callback). For gateways.
    pub fn runs_server_here(&self) -> bool {
        self.core().requests.runs_immediately()
    }
}

impl Lineage {
    /// Returns a chain that began on another host, at the given wall time.
    pub fn from_wall(time: Time, id: u64) -> Self {
        let steady = Time::steady().nanoseconds();
        Self::new(time.nanoseconds().saturating_sub(wall_of(steady) - steady), id)
    }

    /// Returns the wall time at which the chain's first message was published.
    pub fn wall(&self) -> Time {
        Time::from_nanoseconds(wall_of(self.stamp().nanoseconds()))
    }
}
