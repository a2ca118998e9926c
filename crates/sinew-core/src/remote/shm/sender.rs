//! A publisher's way out of the process: its ring, and its connections. The publisher uses it as a
//! [`RemoteSink`].
//!
//! It exists for a publisher that has, or had, a matching subscription in another process. Each
//! message is encoded once for any number of them; a small one is copied into the ring's slot,
//! others are encoded directly into the chunk that is published.
//!
//! # Late joiners
//!
//! A connection gets the messages published from its beginning on. Messages that a transient-local
//! publisher retained before go to a late subscription by a separate connection, for that
//! subscription alone, which ends where the other one begins. If none were retained, that
//! connection is empty: so the subscription knows when it has all, and hands out the retained
//! messages of several publishers in order.

use super::notes;
use crate::message::backing::{Backing, LendsMemory};
use crate::message::block::RawMessage;
use crate::message::info::{Lineage, Publication, expiry};
use crate::message::type_support::TypeSupport;
use crate::ros::qos::{QoS, Reliability};
use crate::sys::clock::Stamp;
use crate::sys::panics::caught;
use crate::sys::sync::Arc;
use crate::topic::remote_sink::{
    JoiningSubscription, Prepared, PublisherEndpoint, RemoteSink, RemoteSubscription, RetainedSent,
};
use sinew_shm::transport::{Connect, Counters, Head, Lender, Lent, Loan, OwnEndpoint, Waiting, Writer};
use sinew_shm::{CapacityError, Counter, EndpointKey, Peer};
use std::collections::VecDeque;
use std::sync::OnceLock;

/// Encoded bytes that fit into a ring's slot, unless the type determines their length.
const INLINE: usize = 200;

/// Maximum encoded length of a plain type that goes into a slot.
const LONGEST_INLINE: usize = 456;

/// A publisher as other processes of the host know it.
pub(crate) struct ShmEndpoint {
    entity: Arc<OwnEndpoint>,
    qos: QoS,
    /// Encoded length of a plain type.
    plain: Option<usize>,
    /// Lends memory to messages; encoded forms up to this length need none. Set once the sender
    /// exists.
    lender: OnceLock<(Lender, usize)>,
}

impl ShmEndpoint {
    pub(crate) fn boxed(entity: OwnEndpoint, qos: QoS, table: &TypeSupport) -> Box<dyn PublisherEndpoint> {
        let plain = table.is_plain().then_some(table.layout.size() + 4);
        Box::new(Self { entity: Arc::new(entity), qos, plain, lender: OnceLock::new() })
    }
}

impl PublisherEndpoint for ShmEndpoint {
    fn counters(&self) -> Option<Counters> {
        Some(self.entity.counters())
    }

    fn reaches(&self, subscription: &RemoteSubscription) -> bool {
        subscription.address.is::<ShmAddress>() && !subscription.wanted.origin.is_listed()
    }

    fn open(&self, next: u64) -> Result<Box<dyn RemoteSink>, CapacityError> {
        let sender = ShmSink::new(&self.entity, self.qos, self.plain, next)?;
        self.lender.get_or_init(|| (sender.writer.lender(), sender.writer.inline()));
        Ok(Box::new(sender))
    }

    fn note(&self, difference: u64, identity: u64) {
        self.entity.set_note(notes::DIFFERENCE, difference);
        self.entity.set_note(notes::IDENTITY, identity);
    }

    fn sends_where_it_lies(&self, message: &RawMessage) -> bool {
        let Some((_, inline)) = self.lender.get() else { return true };
        match message.keep() {
            Some(Backing::Loan(loan)) => self.entity.participant().id() == loan.participant(),
            _ => message.encoded_length().is_some_and(|length| length <= *inline),
        }
    }

    fn try_again_later(&self) {
        self.entity.participant().request_look();
    }
}

impl LendsMemory for ShmEndpoint {
    fn lend(&self, length: usize) -> Option<Loan> {
        let (lender, inline) = self.lender.get()?;
        if length <= *inline {
            return None; // a small message is copied into the ring anyway
        }
        lender.loan(length).ok()
    }
}

/// The location of a subscription of another process: its [address](RemoteSubscription::address).
pub(crate) struct ShmAddress {
    pub(crate) peer: Arc<Peer>,
    pub(crate) key: EndpointKey,
}

/// A publisher's way out of the process through shared memory.
pub(crate) struct ShmSink {
    writer: Writer,
    offered: QoS,
    /// Matching subscriptions elsewhere.
    matched: Vec<(Arc<Peer>, EndpointKey, QoS)>,
    /// The encoded form of a small message.
    scratch: Vec<u8>,
    counters: Counters,
    /// Whether the log already says that a message didn't leave for lack of room.
    has_warned: bool,
}

impl ShmSink {
    /// Creates the sink. `next`: the number of the publisher's next message.
    fn new(
        entity: &Arc<OwnEndpoint>,
        offered: QoS,
        plain: Option<usize>,
        next: u64,
    ) -> Result<Self, CapacityError> {
        let inline = plain.filter(|&length| length <= LONGEST_INLINE).unwrap_or(INLINE);
        let mut writer = Writer::new(entity.clone(), offered.ring_depth(), inline, next)?;
        if offered.is_transient_local() {
            writer.retain(offered.capacity());
        }
        let counters = entity.counters();
        Ok(Self {
            writer,
            offered,
            matched: Vec::with_capacity(1),
            scratch: Vec::new(),
            counters,
            has_warned: false,
        })
    }

    /// Writes retained messages that are missing into the ring, the newest first, so that none
    /// makes room for an older one. When there is no more room, the rest is left out, or it is an
    /// error if the late subscription must get every message. Also returns the number of the first
    /// wanted message.
    fn bring_back<'a>(
        &mut self,
        newest_first: impl Iterator<Item = &'a (RawMessage, Publication)>,
        next: u64,
        must_get_all: bool,
    ) -> Result<(u64, RetainedSent), CapacityError> {
        let (mut first, mut done) = (next, RetainedSent::default());
        for (message, publication) in newest_first {
            let number = self.number(publication);
            first = first.min(number);
            if self.writer.has_number(number) {
                continue;
            }
            let head = head_of(publication);
            let mut message = message.another();
            // An adapter of the program may panic; this may be the thread that follows others.
            let length = caught(|| message.encoded_length().unwrap_or(0));
            let prepared = match (&done.left_out, &length) {
                (Some((_, error)), _) => Err(error.clone()),
                (None, Ok(length)) => self.prepare_before(number, *length, Some(&mut message)),
                (None, Err(_)) => Ok(Prepared::Written), // nothing
            };
            match prepared {
                Ok(prepared) => {
                    let work = prepared.work(&message);
                    let encoded = length.and_then(|_| caught(|| prepared.encode(self, &message)));
                    match encoded {
                        Ok(lent) => {
                            done.work = done.work + work;
                            let encoded = lent.ok_or(&self.scratch[..]);
                            self.writer.bring_back(number, &head, Some(encoded));
                        }
                        Err(panic) => {
                            self.writer.bring_back(number, &head, None);
                            self.counters.add(Counter::Missed, 1);
                            done.panicked.get_or_insert((0, panic)).0 += 1;
                        }
                    }
                }
                Err(error) if must_get_all => return Err(error),
                Err(error) => {
                    self.writer.bring_back(number, &head, None);
                    self.counters.add(Counter::Missed, 1);
                    done.left_out.get_or_insert((0, error)).0 += 1;
                }
            }
        }
        Ok((first, done))
    }

    /// Returns the number of a message in the ring.
    #[inline]
    fn number(&self, publication: &Publication) -> u64 {
        notes::number_at(self.writer.endpoint(), publication)
    }

    /// Binds a reader if one of its subscriptions must get every message: to the smallest history
    /// among those.
    fn bind(&mut self, peer: u64) {
        let of_peer = self.matched.iter().filter(|(other, ..)| other.id() == peer);
        let bound = of_peer.filter(|(.., qos)| self.offered.is_blocking() && qos.is_blocking());
        self.writer.bind(peer, bound.map(|(.., qos)| qos.capacity()).min());
    }

    /// As [`RemoteSink::prepare`], for the message with this number: only messages before it make
    /// room.
    #[inline]
    fn prepare_before(
        &mut self,
        number: u64,
        length: usize,
        message: Option<&mut RawMessage>,
    ) -> Result<Prepared, CapacityError> {
        if let Some(lent) = message.and_then(|message| self.is_there(message)) {
            return Ok(Prepared::There(lent));
        }
        if length <= self.writer.inline() {
            return Ok(Prepared::Small(length));
        }
        let loan = self.writer.loan_for(number, length).map_err(|error| match error {
            // Reports the message's own length, whatever was requested instead.
            CapacityError::FileSystem { path, free, size, .. } => {
                CapacityError::FileSystem { path, wanted: length, free, size }
            }
            other => other,
        })?;
        Ok(Prepared::Loan(loan))
    }

    /// Returns the encoded form of a message that lies in this participant's shared memory.
    fn is_there(&self, message: &mut RawMessage) -> Option<Lent> {
        let ours = |participant: u64| participant == self.writer.endpoint().participant().id();
        match message.keep()? {
            Backing::Loan(loan) if ours(loan.participant()) && message.is_sole() => {
                message.keep_mut()?.share()
            }
            Backing::Lent(lent) if ours(lent.participant()) => Some(lent.clone()),
            _ => None,
        }
    }
}

impl RemoteSink for ShmSink {
    fn connect(
        &mut self,
        joiner: &mut JoiningSubscription,
        next: u64,
        retained: &VecDeque<(RawMessage, Publication)>,
    ) -> Result<RetainedSent, CapacityError> {
        let mut brought_back = RetainedSent::default();
        let JoiningSubscription { subscription, has_retained } = joiner;
        let requested = &subscription.wanted.qos;
        let Some(ShmAddress { peer, key }) = subscription.address.downcast_ref() else {
            return Ok(brought_back); // belongs to another transport
        };
        if !self.writer.is_connected() {
            self.writer.skip_to(next);
        }
        let depth = requested.ring_depth();
        self.writer.grow_for_reader(depth)?;
        self.writer.grow(retained.len())?;
        if requested.is_transient_local() && !*has_retained {
            // Also if there are none: the subscription waits for this connection.
            let wanted = retained.iter().rev().take(requested.capacity());
            let must_get_all = self.offered.is_blocking() && requested.is_blocking() && !retained.is_empty();
            let first;
            (first, brought_back) = self.bring_back(wanted, next, must_get_all)?;
            self.writer.hand_over(peer, *key, first, must_get_all)?;
            *has_retained = true;
        }
        if !self.writer.has(peer.id()) {
            let connect = Connect { target: None, first: next, live: next, depth, capacity: None };
            self.writer.connect(peer, &connect)?;
        }
        self.matched.push((peer.clone(), *key, *requested));
        self.bind(peer.id());
        Ok(brought_back)
    }

    fn disconnect(&mut self, subscription: &RemoteSubscription) {
        let Some(ShmAddress { peer, key }) = subscription.address.downcast_ref() else { return };
        let peer = peer.id();
        self.matched.retain(|(other, other_key, _)| other.id() != peer || other_key != key);
        if self.matched.iter().any(|(other, ..)| other.id() == peer) {
            self.bind(peer);
        } else {
            self.writer.disconnect(peer);
        }
    }

    fn is_connected(&self) -> bool {
        self.writer.is_connected()
    }

    fn count_of(&self, participant: u64) -> usize {
        self.matched.iter().filter(|(peer, ..)| peer.id() == participant).count()
    }

    fn is_bound(&self) -> bool {
        self.writer.is_bound()
    }

    fn has_room(&mut self) -> bool {
        self.writer.has_room()
    }

    fn wait_for_room(&mut self) -> Option<Waiting> {
        self.writer.wait_for_room()
    }

    fn next(&self) -> u64 {
        self.writer.next()
    }

    fn wait_until_read(&mut self, number: u64) -> Option<Waiting> {
        let Self { writer, matched, .. } = self;
        writer.wait_until_read(number, |peer, entity| {
            matched.iter().any(|(reader, key, requested)| {
                reader.id() == peer
                    && entity.is_none_or(|entity| entity == *key)
                    && requested.reliability == Reliability::Reliable
            })
        })
    }

    fn inline(&self) -> usize {
        self.writer.inline()
    }

    fn prepare(
        &mut self,
        length: usize,
        message: Option<&mut RawMessage>,
    ) -> Result<Prepared, CapacityError> {
        self.prepare_before(self.writer.next(), length, message)
    }

    fn buffer(&mut self, length: usize) -> &mut [u8] {
        self.scratch.resize(length, 0);
        &mut self.scratch
    }

    fn send(&mut self, publication: &Publication, encoded: Option<Lent>) {
        let head = head_of(publication);
        let length = encoded.as_ref().map_or(self.scratch.len(), |lent| lent.bytes().len());
        self.counters.add(Counter::Bytes, length as u64);
        let number = self.number(publication);
        match encoded {
            Some(lent) => self.writer.publish_lent(number, &head, lent),
            None => self.writer.publish_inline(number, &head, &self.scratch),
        }
    }

    #[cold]
    fn leave_out(&mut self, publication: &Publication) -> bool {
        self.writer.leave_out(self.number(publication), &head_of(publication));
        self.counters.add(Counter::Missed, 1);
        !std::mem::replace(&mut self.has_warned, true)
    }

    fn tidy(&mut self) -> bool {
        self.writer.tidy()
    }

    fn footprint(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        if level == 0 {
            name(self.scratch.as_ptr().addr(), self.scratch.len());
            self.counters.footprint(name);
            // Names the code too: the publisher reaches it through a vtable, and can't name it.
            name(<Self as RemoteSink>::prepare as *const () as usize, 256);
            name(<Self as RemoteSink>::send as *const () as usize, 512);
        }
        self.writer.footprint(level, name)
    }
}

#[inline]
pub(super) fn head_of(publication: &Publication) -> Head {
    Head {
        stamp: publication.stamp.time,
        order: publication.stamp.order,
        lineage_stamp: publication.lineage.stamp().nanoseconds(),
        lineage_id: publication.lineage.id(),
    }
}

/// Restores the publication that [`head_of`] wrote in another process.
#[inline]
pub(super) fn publication_of(head: &Head, sequence: u64, publisher: u64, lifespan: i64) -> Publication {
    let stamp = Stamp { time: head.stamp, order: head.order };
    Publication {
        stamp,
        sequence,
        publisher,
        lineage: Lineage::new(head.lineage_stamp, head.lineage_id),
        expires: expiry(stamp.time, lifespan),
    }
}
