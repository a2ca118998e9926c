//! Messages of a publisher on the network that a gateway's publisher stands for.

use super::PublisherCore;
use super::sinks::{ForeignMessage, Numbering};
use crate::mailbox::deferred::Deferred;
use crate::message::block::RawMessage;
use crate::message::info::{Lineage, NETWORK, Publication, SourceInfo};
use crate::sys::clock::{Stamp, wall_of};
use crate::topic::recipients::Unpublished;
use crate::topic::strategy::Form;
use std::time::Duration;

impl PublisherCore {
    /// Publishes encoded bytes that were published elsewhere before, and waits for room for at most
    /// the given time. One thread at a time calls this.
    pub(crate) fn publish_foreign(
        &self,
        encoded: RawMessage,
        source: SourceInfo,
        max_blocking: Duration,
    ) -> Result<(), (RawMessage, Unpublished)> {
        let numbering = self.renumber(&source);
        if source.lost > 0 {
            self.miss(source.lost);
        }
        *self.remote.source.lock() = Some(ForeignMessage { source, numbering, max_blocking });
        self.publish(encoded, Form::ENCODED)
    }

    /// Updates the numbering for the messages from now on. Subscriptions elsewhere learn of it
    /// before the next message.
    fn renumber(&self, source: &SourceInfo) -> Numbering {
        let next = self.state.lock().sequence + 1;
        let mut numbering = self.remote.numbering.lock();
        let difference = source.sequence.map_or(numbering.difference, |sequence| sequence.wrapping_sub(next));
        if (difference, source.identity) != (numbering.difference, numbering.identity) {
            *numbering = Numbering { difference, identity: source.identity };
            self.endpoints().iter().for_each(|endpoint| endpoint.note(difference, source.identity));
        }
        *numbering
    }

    /// Makes the matching subscriptions of this process count `count` messages as missed before the
    /// next one. (Subscriptions elsewhere see it from the numbers.)
    #[cold]
    fn miss(&self, count: u64) {
        let (local, old) = self.fetch(&mut self.state.lock());
        drop(old);
        Deferred::with(|deferred| {
            let others = local.others.iter().flat_map(|group| group.subscribers.subscriptions());
            for subscription in local.subscriptions().iter().chain(others) {
                subscription.count_missed(count, deferred);
            }
        });
    }

    /// Returns the publication of the next message, which was published elsewhere before.
    #[cold]
    pub(super) fn foreign_publication(&self, sequence: u64, stamp: Stamp) -> Publication {
        let arrived = Publication::new(stamp, sequence, self.marked_number, self.lifespan);
        let Some(ForeignMessage { source, numbering, .. }) = self.remote.source.lock().take() else {
            return arrived;
        };
        let earlier = wall_of(stamp.time).saturating_sub(source.time.nanoseconds());
        let began = || Lineage::new(stamp.time.saturating_sub(earlier.max(0)), arrived.lineage.id());
        let lineage = source.lineage.unwrap_or_else(began);
        Publication { lineage, ..numbering.of(arrived, earlier, source.is_kept) }
    }

    /// Returns the maximum time that the message being published may wait for room.
    pub(super) fn max_blocking_time(&self) -> Duration {
        if self.marked_number & NETWORK == 0 {
            return self.qos.max_blocking_time;
        }
        let source = self.remote.source.lock();
        source.as_ref().map_or(self.qos.max_blocking_time, |foreign| foreign.max_blocking)
    }
}
