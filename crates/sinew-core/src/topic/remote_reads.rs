//! Results of reading a publisher elsewhere: plain data.

use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::message::work::CopyWork;
use crate::sys::logging::Level;
use sinew_msg::DecodeError;

/// Result of [`RemoteSource::take_for`](super::subscription_core::RemoteSource::take_for).
pub(crate) enum DirectTake {
    /// This path does not apply.
    NotSo,
    Nothing,
    /// A message, the losses before it, and the work of making it.
    Message(RawMessage, Publication, Gap, CopyWork),
    /// A message that can't be read.
    Bad(UnreadableMessage),
}

/// Numbers of messages lost before one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    /// Overwritten before they were read.
    pub(crate) overwritten: u64,
    /// Lost before they reached this host, or left out by their publisher.
    pub(crate) missed: u64,
}

impl Gap {
    pub(crate) fn is_none(self) -> bool {
        self.overwritten == 0 && self.missed == 0
    }
}

/// Progress through the messages of a publisher on the network, by its own sequence numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Identifies the publisher, independently of the gateway that brings its messages.
    pub(crate) identity: u64,
    pub(crate) first: u64,
    /// The first message that its publisher had not retained for late joiners.
    pub(crate) first_new: Option<u64>,
    pub(crate) last: u64,
}

impl Progress {
    /// Returns the progress with one more message.
    pub(crate) fn and(self, message: &Publication) -> Self {
        let is_new = !message.is_kept();
        let first_new = self.first_new.or(is_new.then_some(message.sequence));
        Self { first_new, last: message.sequence, ..self }
    }
}

/// A message that can't be read or decoded.
pub(crate) struct UnreadableMessage {
    /// Number of messages lost, including those before it.
    pub(crate) lost: u64,
    pub(crate) problem: Option<DecodeError>,
    /// For the log.
    pub(crate) level: Level,
    pub(crate) text: String,
}
