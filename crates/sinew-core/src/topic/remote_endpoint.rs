//! The description that an endpoint elsewhere publishes of itself: plain data, independent of the
//! transport that brought it.

use crate::ros::mismatch::{End, kept_description};
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use sinew_msg::description::TypeDescription;
use sinew_shm::Domain;

/// A publisher, subscription or server elsewhere, as it describes itself.
#[derive(Debug, Clone)]
pub(crate) struct RemoteEndpoint {
    /// The endpoint's topic or service.
    pub(crate) topic: String,
    /// Its node's full name.
    pub(crate) node: String,
    /// Its process, for log lines: "process 4711 (camera)".
    pub(crate) process: String,
    pub(crate) type_name: String,
    pub(crate) hash: [u8; 32],
    /// Whether values of the type can come from, or go to, its process.
    pub(crate) travels: bool,
    pub(crate) qos: QoS,
    pub(crate) origin: Origin,
    /// Its number in its participant.
    pub(crate) number: u64,
    /// The domain that keeps the descriptions of types.
    pub(crate) domain: Option<Domain>,
}

impl RemoteEndpoint {
    /// Returns the node and the process, or that it is elsewhere, for log lines.
    pub(crate) fn owner(&self) -> String {
        if self.origin.is_remote() {
            return format!("{} of the network", self.node);
        }
        format!("{} in {}", self.node, self.process)
    }

    /// Returns the endpoint as matching sees it.
    pub(crate) fn end(&self) -> End<'_> {
        End::published((&self.type_name, self.hash), self.travels, &self.qos, self.origin)
            .described_in(self.domain.as_ref())
    }

    /// Returns the description of its type or service, if one is kept. Reads a file.
    pub(crate) fn description(&self) -> Option<TypeDescription> {
        kept_description(self.domain.as_ref()?, &self.hash)
    }
}
