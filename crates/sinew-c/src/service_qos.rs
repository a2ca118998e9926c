//! The QoS of services and clients.
//!
//! Requests and responses are delivered reliably and in their order, and there is no end that comes
//! too late for them: a client waits for its server. So a QoS leaves little to choose. What a
//! service can't do is refused, and nothing is ignored silently.

use crate::qos::{self, sinew_qos};
use crate::status::{Failure, Result};
use sinew::QoS;
use sinew::error::ErrorCode;
use sinew::qos::{Durability, History, Liveliness, Policy};

/// The requests that a server holds, and the calls without a taken response that a client has, if
/// nothing else is said.
const DEFAULT_LIMIT: usize = 1000;

/// The QoS of a server or client.
#[derive(Clone, Copy)]
pub(crate) struct ServiceQos(QoS);

impl ServiceQos {
    /// Reads the caller's; null is that of ROS 2's services.
    ///
    /// # Safety
    /// It is null, or can be read for the number of bytes that it begins with.
    pub(crate) unsafe fn new(from: *const sinew_qos) -> Result<Self> {
        if from.is_null() {
            return Ok(Self(QoS::services()));
        }
        // SAFETY: as the caller says.
        let asked = unsafe { qos::qos(from) }?;
        let is_chosen = |policy| !asked.is_best_available(policy);
        let durability = asked.durability == Durability::TransientLocal && is_chosen(Policy::Durability);
        let liveliness = asked.liveliness == Liveliness::ManualByTopic && is_chosen(Policy::Liveliness);
        let refused = [
            (durability, "`durability` is transient local"),
            (liveliness, "`liveliness` is manual by topic"),
            (asked.deadline.is_some() && is_chosen(Policy::Deadline), "`deadline` is set"),
            (asked.lifespan.is_some(), "`lifespan` is set"),
            (asked.lease.is_some() && is_chosen(Policy::Lease), "`lease` is set"),
        ];
        if let Some((_, what)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
            let sentence = format_args!(
                "the QoS can't be honoured: {what}, but services are volatile, and their requests have no time limit; leave it at its default"
            );
            return Err(Failure::new(ErrorCode::InvalidQos, sentence));
        }
        let services = QoS::services();
        Ok(Self(match asked.history {
            History::KeepLast(depth) => services.keep_last(depth),
            History::KeepAll => services.keep_all(),
        }))
    }

    /// Returns the limit of requests or responses for these options: a depth beyond the default
    /// raises it.
    pub(crate) fn limit(&self, option: usize) -> usize {
        match (option, self.0.history) {
            (0, History::KeepLast(depth)) => depth.max(DEFAULT_LIMIT),
            (0, History::KeepAll) => DEFAULT_LIMIT,
            (limit, _) => limit,
        }
    }

    /// Writes it where the caller wants it.
    ///
    /// # Safety
    /// The place is null, or can be written for the number of bytes that it begins with.
    pub(crate) unsafe fn write(&self, place: *mut sinew_qos) -> Result {
        // SAFETY: as the caller says.
        unsafe { qos::write(place, &self.0) }
    }
}
