//! Messages of a publisher on the network, for which a gateway's publisher stands.

use super::PublisherCore;
use crate::mailbox::deferred::Deferred;
use crate::message::block::RawMessage;
use crate::message::info::{Lineage, NETWORK, Publication, SourceInfo};
use crate::sys::clock::{Stamp, wall_of};
use crate::topic::recipients::Unpublished;
use crate::topic::strategy::Form;
use std::time::Duration;

/// A message that is being published, and was before.
pub(super) struct ForeignMessage {
    source: SourceInfo,
    numbering: Numbering,
    max_blocking: Duration,
}

/// What its publisher's numbers are more than those that messages have here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbering {
    difference: u64,
    identity: u64,
}

impl Numbering {
    /// A publication with the number that it has where it was published, so many nanoseconds before.
    fn of(self, here: Publication, earlier: i64, is_kept: bool) -> Publication {
        let stamp = here.stamp.published_earlier(earlier, self.difference, is_kept);
        Publication { stamp, sequence: here.sequence.wrapping_add(self.difference), ..here }
    }
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
        let numbering = self.renumber(&source);
        if source.lost > 0 {
            self.miss(source.lost);
        }
        *self.remote.source.lock() = Some(ForeignMessage { source, numbering, max_blocking });
        self.publish(image, Form::IMAGE)
    }

    /// How the messages from now on are numbered. Those elsewhere know before the next one comes.
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

    /// Those here that match miss so many messages before the next one. (Those elsewhere see it by
    /// the numbers.)
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

    /// The publication of the next message, which was published before.
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

    /// How long the message that is being published may wait for room.
    pub(super) fn max_blocking_time(&self) -> Duration {
        if self.marked_number & NETWORK == 0 {
            return self.qos.max_blocking_time;
        }
        let source = self.remote.source.lock();
        source.as_ref().map_or(self.qos.max_blocking_time, |foreign| foreign.max_blocking)
    }
}
