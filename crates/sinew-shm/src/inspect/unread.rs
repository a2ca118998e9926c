//! The number of unread messages in rings, seen from outside.
//!
//! A reader's position is stored in its own control segment, the published messages in the writer's
//! ring. So no participant has to cooperate, and a reader that is stuck in a callback can't hide
//! its backlog.

use crate::inspect::snapshot::Snapshot;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use crate::ring::Ring;
use crate::tables::control_segment::{
    DONE, IncomingRecord, OutgoingRecord, Table, names_generation, read_generation, slot_of,
};
use crate::tables::endpoint::EndpointKey;

/// Messages in the ring of one participant's entity that another participant hasn't read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Unread {
    /// The participant that has yet to read them.
    pub reader: u64,
    /// The participant that wrote them.
    pub writer: u64,
    /// The writer's entity.
    pub source: EndpointKey,
    /// The reader's entity, if the messages are for that one only.
    pub target: Option<EndpointKey>,
    /// Number of messages.
    pub messages: u64,
}

impl Snapshot {
    /// Counts the messages that living participants have not yet read from each other, at about
    /// this moment. Takes some loads per connection, and about twenty per connection with unread
    /// messages; writers' rings stay mapped. No participant notices. Connections that can't be
    /// examined are left out.
    pub fn unread(&self) -> Vec<Unread> {
        self.peers().iter().flat_map(|reader| self.unread_of(reader)).collect()
    }

    fn unread_of(&self, reader: &Arc<Peer>) -> Vec<Unread> {
        let Some(records) = reader.records::<IncomingRecord>(Table::Incoming) else { return Vec::new() };
        records.iter().filter_map(|record| self.unread_by(reader, record)).collect()
    }

    fn unread_by(&self, reader: &Arc<Peer>, record: &IncomingRecord) -> Option<Unread> {
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed); // T3 checks it
        let (_, (writer, reference, cursor, next)) = read_generation(&record.generation, || {
            (load(&record.peer), load(&record.outgoing), load(&record.cursor), load(&record.next))
        })?;
        let writer = self.peers().iter().find(|peer| peer.id() == writer && cursor != DONE)?;
        let outgoing = writer.record::<OutgoingRecord>(Table::Outgoing, slot_of(reference))?;
        let (generation, (source, target, end)) = read_generation(&outgoing.generation, || {
            (load(&outgoing.source), load(&outgoing.target), load(&outgoing.end))
        })?;
        if !names_generation(reference, generation) {
            return None;
        }
        let end = if end == 0 { u64::MAX } else { end.saturating_sub(1) };
        let messages = writer.published_from(slot_of(source), next, end)?;
        let target = (target != 0).then(|| EndpointKey::of(target));
        let (reader, writer) = (reader.id(), writer.id());
        (messages > 0).then_some(Unread { reader, writer, source: EndpointKey::of(source), target, messages })
    }
}

impl Peer {
    /// Number of messages from `next` to before `end` in the ring of one of the peer's entities.
    fn published_from(&self, slot: u32, next: u64, end: u64) -> Option<u64> {
        let endpoint = self.endpoint_record(slot)?;
        // The ring may just have been outgrown; the second time it is skipped.
        let mut looks = 0..2;
        looks.find_map(|_| {
            let location = endpoint.ring.load(Ordering::Acquire); // pairs with G2
            let (words, segment) = (location != 0).then(|| self.block(location).ok())??;
            Ring::open(words, &segment.name).ok()?.count_from(next, end)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::platform::shm_ref::ShmRef;
    use crate::platform::sync::{AtomicU64, Ordering};
    use crate::ring::{HEADER, Head, MOVED, Payload, Ring, Shape};

    #[test]
    fn what_is_there_is_counted_wherever_it_begins() {
        let shape = Shape::new(8, 8).unwrap();
        let words = ShmRef::of((0..shape.bytes() / 8).map(|_| AtomicU64::new(0)).collect());
        let ring = Ring::create(words.clone(), shape);
        assert_eq!(ring.count_from(0, u64::MAX), Some(0));
        for number in 0..20_u64 {
            ring.publish(number, &Head::default(), Payload::Inline(&[]));
            for next in 0..=number + 1 {
                let there = (number + 1 - next).min(8);
                assert_eq!(ring.count_from(next, u64::MAX), Some(there), "{next} of {number}");
                assert_eq!(ring.count_from(next, number + 1), Some(there));
                let last = (number + 1).saturating_sub(8).max(next);
                assert_eq!(
                    ring.count_from(next, number),
                    Some(number.saturating_sub(last)),
                    "{next} of {number}"
                );
            }
        }
        assert_eq!(ring.count_from(u64::MAX - 1, u64::MAX), Some(0), "of a reader that lies");
        words[HEADER].store(MOVED, Ordering::Relaxed);
        assert_eq!(ring.count_from(16, u64::MAX), None, "it was outgrown");
    }
}
