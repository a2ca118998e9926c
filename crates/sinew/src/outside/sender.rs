//! A publisher's way out of the process: its ring, and who is connected to it.
//!
//! There is one for a publisher that has, or had, a matching subscription in another process. Each message becomes one image, whoever and
//! however many they are; small ones are copied into the ring's slot, others encoded straight into the chunk that is published.
//!
//! # Late joiners
//!
//! A connection gets what is published from its beginning on. What a transient-local publisher retained before goes to a late
//! subscription by a connection of its own, for that subscription alone, which ends where the other one begins.

use crate::message::block::Erased;
use crate::message::foreign::Keep;
use crate::message::info::Publication;
use crate::message::work::Work;
use crate::qos::QoS;
use crate::sync::Arc;
use sinew_shm::{
    CapacityError, Connect, Counter, Counters, EntityKey, Head, Lender, Lent, Loan, OwnEntity, Peer, Waiting,
    Writer,
};
use std::fmt;

/// Bytes of image that go into a ring's slot, unless the type says how long its images are.
const INLINE: usize = 200;

/// The longest image of a plain type that goes into a slot.
const LONGEST_INLINE: usize = 456;

/// A publisher's way out.
pub(crate) struct Sender {
    writer: Writer,
    pub(crate) lender: Lender,
    /// Matching subscriptions elsewhere.
    matched: Vec<(Arc<Peer>, EntityKey, QoS)>,
    /// The image of a small message.
    scratch: Vec<u8>,
    counters: Counters,
    /// Some message didn't leave for want of room, and the log says so.
    has_warned: bool,
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("writer", &self.writer).finish_non_exhaustive()
    }
}

/// A matching subscription elsewhere that is to be connected.
pub(crate) struct Refused {
    pub(crate) peer: Arc<Peer>,
    pub(crate) key: EntityKey,
    pub(crate) requested: QoS,
    /// It got what was retained, in an attempt that failed afterwards: it isn't to get that twice.
    pub(crate) has_retained: bool,
}

/// What was done with retained messages that weren't in the ring.
#[derive(Default)]
pub(crate) struct BroughtBack {
    /// The number of the first that is wanted.
    first: u64,
    pub(crate) work: Work,
    /// So many had no room.
    pub(crate) left_out: Option<(usize, CapacityError)>,
}

/// A message's image, or where it will be.
pub(crate) enum Prepared {
    /// It lies in shared memory already.
    There(Lent),
    /// To be encoded into this.
    Loan(Loan),
    /// To be encoded into the scratch: so many bytes.
    Small(usize),
}

impl Prepared {
    /// What it takes to bring this message out.
    #[inline]
    pub(crate) fn work(&self, message: &Erased) -> Work {
        let length = match self {
            Prepared::There(_) => return Work::NONE,
            Prepared::Loan(loan) => loan.bytes().len(),
            Prepared::Small(length) => *length,
        };
        Work::encoding(message.is_image() || message.table().is_plain(), length)
    }
}

impl Sender {
    /// `next`: the number of the publisher's next message.
    pub(crate) fn new(
        entity: &Arc<OwnEntity>,
        qos: &QoS,
        plain: Option<usize>,
        next: u64,
    ) -> Result<Self, CapacityError> {
        let inline = plain.filter(|&length| length <= LONGEST_INLINE).unwrap_or(INLINE);
        let mut writer = Writer::new(entity.clone(), qos.ring_depth(), inline, next)?;
        if qos.is_transient_local() {
            writer.retain(qos.capacity());
        }
        let lender = writer.lender();
        let counters = entity.counters();
        Ok(Self {
            writer,
            lender,
            matched: Vec::with_capacity(1),
            scratch: Vec::new(),
            counters,
            has_warned: false,
        })
    }

    /// Whether anybody is connected.
    #[inline]
    pub(crate) fn is_connected(&self) -> bool {
        self.writer.is_connected()
    }

    /// Bytes of image that are copied into the ring.
    pub(crate) fn inline(&self) -> usize {
        self.writer.inline()
    }

    /// Whether somebody must get everything.
    #[inline]
    pub(crate) fn is_bound(&self) -> bool {
        self.writer.is_bound()
    }

    /// A subscription elsewhere matches. `next`: the number of the next message; `retained`: of those before, with their messages.
    /// Returns what was done with them.
    pub(crate) fn connect<'a>(
        &mut self,
        other: &mut Refused,
        offered: &QoS,
        next: u64,
        retained: impl DoubleEndedIterator<Item = &'a (Erased, Publication)> + ExactSizeIterator,
    ) -> Result<BroughtBack, CapacityError> {
        let mut brought_back = BroughtBack::default();
        let Refused { peer, key, requested, has_retained } = other;
        if !self.writer.is_connected() {
            self.writer.skip_to(next);
        }
        let depth = requested.ring_depth();
        self.writer.grow_for_reader(depth)?;
        self.writer.grow(retained.len())?;
        if requested.is_transient_local() && retained.len() > 0 && !*has_retained {
            let wanted = retained.rev().take(requested.capacity());
            let must_get_all = offered.is_blocking() && requested.is_blocking();
            brought_back = self.bring_back(wanted, next, must_get_all)?;
            self.writer.hand_over(peer, *key, brought_back.first, must_get_all)?;
            *has_retained = true;
        }
        if !self.writer.has(peer.id()) {
            let connect = Connect { target: None, first: next, live: next, depth, capacity: None };
            self.writer.connect(peer, &connect)?;
        }
        self.matched.push((peer.clone(), *key, *requested));
        self.bind(peer.id(), offered);
        Ok(brought_back)
    }

    /// Brings retained messages into the ring that are not there, the newest first: so none makes room for an older one. Where room ends,
    /// the rest is left out, or it is an error if the late subscription must get all.
    fn bring_back<'a>(
        &mut self,
        newest_first: impl Iterator<Item = &'a (Erased, Publication)>,
        next: u64,
        must_get_all: bool,
    ) -> Result<BroughtBack, CapacityError> {
        let mut done = BroughtBack { first: next, ..BroughtBack::default() };
        for (message, publication) in newest_first {
            let number = publication.sequence;
            done.first = done.first.min(number);
            if self.writer.has_number(number) {
                continue;
            }
            let head = head_of(publication);
            let mut message = message.another();
            let prepared = match &done.left_out {
                Some((_, error)) => Err(error.clone()),
                None => self.prepare_before(number, &mut message),
            };
            match prepared {
                Ok(prepared) => {
                    done.work = done.work + prepared.work(&message);
                    let lent = self.encode(&message, prepared);
                    let image = lent.ok_or(&self.scratch[..]);
                    self.writer.bring_back(number, &head, Some(image));
                }
                Err(error) if must_get_all => return Err(error),
                Err(error) => {
                    self.writer.bring_back(number, &head, None);
                    self.counters.add(Counter::Missed, 1);
                    done.left_out.get_or_insert((0, error)).0 += 1;
                }
            }
        }
        Ok(done)
    }

    /// A reader is bound if one of its subscriptions must get everything: to the smallest history of those.
    fn bind(&mut self, peer: u64, offered: &QoS) {
        let of_peer = self.matched.iter().filter(|(other, ..)| other.id() == peer);
        let bound = of_peer.filter(|(.., qos)| offered.is_blocking() && qos.is_blocking());
        self.writer.bind(peer, bound.map(|(.., qos)| qos.capacity()).min());
    }

    /// As [`Writer::let_go`].
    pub(crate) fn let_go(&mut self) {
        self.writer.let_go();
    }

    /// A subscription elsewhere is gone.
    pub(crate) fn disconnect(&mut self, peer: u64, key: EntityKey, offered: &QoS) {
        self.matched.retain(|(other, other_key, _)| other.id() != peer || *other_key != key);
        if self.matched.iter().any(|(other, ..)| other.id() == peer) {
            self.bind(peer, offered);
        } else {
            self.writer.disconnect(peer);
        }
    }

    /// Whether every reader that must get everything has room for a message.
    #[inline]
    pub(crate) fn has_room(&mut self) -> bool {
        self.writer.has_room()
    }

    /// `None` if there is room, and enough of it after a wait; see [`Writer::wait_for_room`].
    pub(crate) fn wait_for_room(&mut self) -> Option<Waiting> {
        self.writer.wait_for_room()
    }

    /// As [`Writer::footprint`].
    pub(crate) fn footprint(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        if level == 0 {
            name(self.scratch.as_ptr().addr(), self.scratch.len());
            self.counters.footprint(name);
        }
        self.writer.footprint(level, name)
    }

    /// Makes sure that there is memory for the message's image.
    #[inline]
    pub(crate) fn prepare(&mut self, message: &mut Erased) -> Result<Prepared, CapacityError> {
        self.prepare_before(self.writer.next(), message)
    }

    /// The same for the message with this number: only those before it make room.
    #[inline]
    fn prepare_before(&mut self, number: u64, message: &mut Erased) -> Result<Prepared, CapacityError> {
        if let Some(lent) = self.is_there(message) {
            return Ok(Prepared::There(lent));
        }
        self.prepare_length_before(number, message.image_length().unwrap_or(0))
    }

    /// The same for the next message, whose image has so many bytes.
    #[inline]
    pub(crate) fn prepare_length(&mut self, length: usize) -> Result<Prepared, CapacityError> {
        self.prepare_length_before(self.writer.next(), length)
    }

    #[inline]
    fn prepare_length_before(&mut self, number: u64, length: usize) -> Result<Prepared, CapacityError> {
        if length <= self.writer.inline() {
            return Ok(Prepared::Small(length));
        }
        let loan = self.writer.loan_for(number, length).map_err(|error| match error {
            // What the message takes, whatever was asked for in its stead.
            CapacityError::FileSystem { path, free, size, .. } => {
                CapacityError::FileSystem { path, wanted: length, free, size }
            }
            other => other,
        })?;
        Ok(Prepared::Loan(loan))
    }

    /// The image of a message that lies in this participant's shared memory.
    fn is_there(&self, message: &mut Erased) -> Option<Lent> {
        let ours = |participant: u64| participant == self.writer.entity().participant().id();
        match message.keep()? {
            Keep::Loan(loan) if ours(loan.participant()) && message.is_sole() => message.keep_mut()?.share(),
            Keep::Lent(lent) if ours(lent.participant()) => Some(lent.clone()),
            _ => None,
        }
    }

    /// Writes the message's image. `None`: it is in the scratch.
    #[inline]
    pub(crate) fn encode(&mut self, message: &Erased, prepared: Prepared) -> Option<Lent> {
        self.encode_with(prepared, |to| message.write_image(to))
    }

    /// Has the image written. `None`: it is in the scratch.
    #[inline]
    pub(crate) fn encode_with(&mut self, prepared: Prepared, encode: impl FnOnce(&mut [u8])) -> Option<Lent> {
        match prepared {
            Prepared::There(lent) => Some(lent),
            Prepared::Loan(mut loan) => {
                encode(loan.bytes_mut());
                Some(loan.share())
            }
            Prepared::Small(length) => {
                self.scratch.resize(length, 0);
                encode(&mut self.scratch);
                None
            }
        }
    }

    /// Publishes the image: what `encode` returned, or the scratch.
    #[inline]
    pub(crate) fn send(&mut self, publication: &Publication, image: Option<Lent>) {
        let head = head_of(publication);
        let length = image.as_ref().map_or(self.scratch.len(), |lent| lent.bytes().len());
        self.counters.add(Counter::Bytes, length as u64);
        match image {
            Some(lent) => self.writer.publish_lent(publication.sequence, &head, lent),
            None => self.writer.publish_inline(publication.sequence, &head, &self.scratch),
        }
    }

    /// There was no room for the image: those outside miss the message. Whether that is the first one.
    #[cold]
    pub(crate) fn leave_out(&mut self, publication: &Publication) -> bool {
        self.writer.leave_out(publication.sequence, &head_of(publication));
        self.counters.add(Counter::Missed, 1);
        !std::mem::replace(&mut self.has_warned, true)
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
