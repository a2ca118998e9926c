//! What an end elsewhere says of itself: plain data, whichever transport brought it here.

use crate::ros::mismatch::{End, kept_description};
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use sinew_msg::description::TypeDescription;
use sinew_shm::Domain;

/// A publisher, subscription or server elsewhere, as it describes itself.
#[derive(Debug, Clone)]
pub(crate) struct RemoteEndpoint {
    /// Its topic, or its service.
    pub(crate) topic: String,
    /// Its node's full name.
    pub(crate) node: String,
    /// Where it is, for people: "process 4711 (camera)".
    pub(crate) process: String,
    pub(crate) type_name: String,
    pub(crate) hash: [u8; 32],
    /// Whether values of the type can come from, or go to, its process.
    pub(crate) travels: bool,
    pub(crate) qos: QoS,
    pub(crate) origin: Origin,
    /// Its number in its participant.
    pub(crate) number: u64,
    /// Where the descriptions of types are kept.
    pub(crate) domain: Option<Domain>,
}

impl RemoteEndpoint {
    /// For people: its node, and its process or that it is elsewhere.
    pub(crate) fn whose(&self) -> String {
        if self.origin.is_remote() {
            return format!("{} of the network", self.node);
        }
        format!("{} in {}", self.node, self.process)
    }

    /// What matching knows of it.
    pub(crate) fn end(&self) -> End<'_> {
        End::told((&self.type_name, self.hash), self.travels, &self.qos, self.origin)
            .described_in(self.domain.as_ref())
    }

    /// The description of its type, or of its service, if it is kept. Reads a file.
    pub(crate) fn description(&self) -> Option<TypeDescription> {
        kept_description(self.domain.as_ref()?, &self.hash)
    }
}
