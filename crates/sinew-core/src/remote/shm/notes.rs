//! What readers have to know of the messages of a publisher that stands for one on the network, in
//! the [notes](sinew_shm::OwnEndpoint::set_note) of its endpoint.
//!
//! Messages are numbered by their place in the ring, one after the other. Their publisher on the network
//! has other numbers for them: it published before a gateway heard it, or while nobody here listened,
//! and some were lost on the way. The difference only grows, and each message has its lower bits
//! ([`Publication::difference`]); the whole, as of the newest message, is noted here. By what it grows
//! between two messages of a connection was lost on the network.
//!
//! | note | |
//! |---|---|
//! | 0 | what the publisher's number of the newest message is more than that in the ring |
//! | 1 | its identity, by which it is known again when another gateway brings its messages; 0: none |

use crate::message::info::{DIFFERENCES, Publication, difference_of};
use sinew_shm::{Incoming, Message, OwnEndpoint};

pub(super) const DIFFERENCE: usize = 0;
pub(super) const IDENTITY: usize = 1;

/// The publication of a message with that number in the ring, by its publisher's number.
#[inline]
pub(super) fn numbered(publication: Publication, from: &Incoming) -> Publication {
    let difference = difference(&publication, || from.note(DIFFERENCE));
    Publication { sequence: publication.sequence.wrapping_add(difference), ..publication }
}

/// The number in the ring of a message that [`numbered`] told of.
#[inline]
pub(super) fn number_in(from: &Incoming, publication: &Publication) -> u64 {
    publication.sequence.wrapping_sub(difference(publication, || from.note(DIFFERENCE)))
}

/// The number that a message gets in the ring of its own publisher.
#[inline]
pub(super) fn number_at(own: &OwnEndpoint, publication: &Publication) -> u64 {
    publication.sequence.wrapping_sub(difference(publication, || own.note(DIFFERENCE)))
}

/// The difference of a message that was read, if it is of the network.
#[inline]
pub(super) fn difference_in(from: &Incoming, publication: &Publication) -> Option<u64> {
    publication.difference().map(|_| difference(publication, || from.note(DIFFERENCE)))
}

/// The difference of a message, by that of a newer one. (If [`DIFFERENCES`] or more were lost between
/// the two, a multiple of that is missing: numbers are wrong then, and nothing else.)
#[inline]
fn difference(publication: &Publication, newest: impl FnOnce() -> u64) -> u64 {
    publication.difference().map_or(0, |own| whole(own, newest()))
}

#[inline]
fn whole(own: u64, newest: u64) -> u64 {
    newest.wrapping_sub(newest.wrapping_sub(own) % DIFFERENCES)
}

/// Messages of a publisher that stands for one [on the network](crate::gateway::Origin::Network), as
/// that one numbers them. For tools that read them by themselves, one for each connection.
#[derive(Debug, Default)]
pub struct NetworkNumbers {
    /// The difference of the message before.
    before: Option<u64>,
}

impl NetworkNumbers {
    /// The number that its publisher gave the message that was just read from there, and how many were
    /// lost on the network since the one before.
    pub fn of(&mut self, message: &Message, from: &Incoming) -> (u64, u64) {
        let now = whole(difference_of(message.head.order), from.note(DIFFERENCE));
        let lost = self.before.replace(now).map_or(0, |before| now.saturating_sub(before));
        (message.number.wrapping_add(now), lost)
    }
}
