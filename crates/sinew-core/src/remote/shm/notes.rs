//! The sequence numbers of a publisher that stands for one on the network: readers derive them from
//! the [notes](sinew_shm::transport::OwnEndpoint::set_note) of its endpoint.
//!
//! Messages are numbered consecutively by their place in the ring. Their publisher on the network
//! has other numbers for them: it published before a gateway received it, or while no subscription
//! here existed, and some messages were lost on the way. The difference only grows, and each
//! message has its lower bits ([`Publication::difference`]); the whole difference, as of the newest
//! message, is noted here. Its growth between two messages of a connection is the number of
//! messages lost on the network.
//!
//! | note | value |
//! |---|---|
//! | 0 | the newest message's number at its publisher minus its number in the ring |
//! | 1 | the publisher's identity, the same through another gateway; 0: none |

use crate::message::info::{DIFFERENCES, Publication, difference_of};
use sinew_shm::transport::{Incoming, Message, OwnEndpoint};

pub(super) const DIFFERENCE: usize = 0;
pub(super) const IDENTITY: usize = 1;

/// Returns the publication of a message with a number in the ring, with its publisher's number
/// instead.
#[inline]
pub(super) fn numbered(publication: Publication, from: &Incoming) -> Publication {
    let difference = difference(&publication, || from.note(DIFFERENCE));
    Publication { sequence: publication.sequence.wrapping_add(difference), ..publication }
}

/// Returns the number in the ring of a message from [`numbered`].
#[inline]
pub(super) fn number_in(from: &Incoming, publication: &Publication) -> u64 {
    publication.sequence.wrapping_sub(difference(publication, || from.note(DIFFERENCE)))
}

/// Returns the number that a message gets in the ring of its own publisher.
#[inline]
pub(super) fn number_at(own: &OwnEndpoint, publication: &Publication) -> u64 {
    publication.sequence.wrapping_sub(difference(publication, || own.note(DIFFERENCE)))
}

/// Returns the difference of a message that was read, if it is of the network.
#[inline]
pub(super) fn difference_in(from: &Incoming, publication: &Publication) -> Option<u64> {
    publication.difference().map(|_| difference(publication, || from.note(DIFFERENCE)))
}

/// Returns the difference of a message, derived from that of a newer one. (If [`DIFFERENCES`] or
/// more were lost between the two, a multiple of that is missing: then only the numbers are wrong.)
#[inline]
fn difference(publication: &Publication, newest: impl FnOnce() -> u64) -> u64 {
    publication.difference().map_or(0, |own| whole(own, newest()))
}

#[inline]
fn whole(own: u64, newest: u64) -> u64 {
    newest.wrapping_sub(newest.wrapping_sub(own) % DIFFERENCES)
}

/// Sequence numbers of messages from a publisher that stands for one [on the
/// network](crate::gateway::Origin::Network), as the original publisher gave them. For tools that
/// read such messages themselves, one for each connection.
#[doc(hidden)] // for the command: it changes with `sinew_shm`
#[derive(Debug, Default)]
pub struct NetworkNumbers {
    /// The difference of the message before.
    before: Option<u64>,
}

impl NetworkNumbers {
    /// Returns the number that its publisher gave the message just read from there, and how many
    /// messages were lost on the network since the one before.
    pub fn of(&mut self, message: &Message, from: &Incoming) -> (u64, u64) {
        let now = whole(difference_of(message.head.order), from.note(DIFFERENCE));
        let lost = self.before.replace(now).map_or(0, |before| now.saturating_sub(before));
        (message.number.wrapping_add(now), lost)
    }
}
