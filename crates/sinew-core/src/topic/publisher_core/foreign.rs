//! Messages of a publisher on the network, for which a gateway's publisher stands.

use super::PublisherCore;
use crate::mailbox::deferred::Deferred;
use crate::message::block::RawMessage;
use crate::message::info::{Lineage, NETWORK, Publication, SourceInfo};
use crate::sys::clock::{Stamp, wall_of};
use crate::topic::recipients::Unpublished;
use crate::topic::strategy::Form;
use std::time::Duration;

/// Of more messages that were lost at once, so many are told of.
const LONGEST_GAP: u64 = 4096;

/// A message that is being published, and was before.
pub(super) struct ForeignMessage {
    source: SourceInfo,
    max_blocking: Duration,
}

impl PublisherCore {
    /// Publishes an image that was published elsewhere before. One thread at a time does so. Waits
    /// for room at most so long.
    pub(crate) fn publish_foreign(
        &self,
        image: RawMessage,
        source: SourceInfo,
        max_blocking: Duration,
    ) -> Result<(), (RawMessage, Unpublished)> {
        if source.lost > 0 {
            self.miss(source.lost.min(LONGEST_GAP));
        }
        *self.remote.source.lock() = Some(ForeignMessage { source, max_blocking });
        self.publish(image, Form::IMAGE)
    }

    /// Those that match miss so many messages before the next one.
    #[cold]
    fn miss(&self, count: u64) {
        let (missing, local, old) = {
            let mut state = self.state.lock();
            let first = state.sequence + 1;
            state.sequence += count;
            let (list, old) = self.fetch(&mut state);
            (first..first + count, list, old)
        };
        drop(old);
        let stamp = self.session.clock.stamp();
        for number in missing {
            self.miss_elsewhere(&Publication::new(stamp, number, self.marked_number, self.lifespan));
        }
        Deferred::with(|deferred| {
            let others = local.others.iter().flat_map(|group| group.subscribers.subscriptions());
            for subscription in local.subscriptions().iter().chain(others) {
                subscription.count_lost(count, deferred);
            }
        });
    }

    /// The publication of the next message, which was published before.
    #[cold]
    pub(super) fn foreign_publication(&self, sequence: u64, stamp: Stamp) -> Publication {
        let arrived = Publication::new(stamp, sequence, self.marked_number, self.lifespan);
        let Some(ForeignMessage { source, .. }) = self.remote.source.lock().take() else { return arrived };
        let earlier = wall_of(stamp.time).saturating_sub(source.time.nanoseconds());
        let began = || Lineage::new(stamp.time.saturating_sub(earlier.max(0)), arrived.lineage.id());
        let lineage = source.lineage.unwrap_or_else(began);
        Publication { stamp: stamp.published_earlier(earlier), lineage, ..arrived }
    }

    /// How long the message that is being published may wait for room.
    pub(super) fn max_blocking_time(&self) -> Duration {
        if self.marked_number & NETWORK == 0 {
            return self.qos.max_blocking_time;
        }
        let source = self.remote.source.lock();
        source.as_ref().map_or(self.qos.max_blocking_time, |foreign| foreign.max_blocking)
    }
}
