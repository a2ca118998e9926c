//! Metadata of messages.

use crate::sys::clock::{Clock, Stamp, Time, wall_of};
use crate::sys::sync::RwLock;
use std::cell::Cell;
use std::fmt;
use std::time::Duration;

/// A publisher's identity: 16 bytes, unique among all participants, like ROS 2's `rmw_gid_t`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gid(
    /// The participant's 8 random bytes, then the entity's number in it, little endian.
    pub [u8; 16],
);

impl Gid {
    pub(crate) fn new(participant: u64, entity: u64) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&participant.to_le_bytes());
        bytes[8..].copy_from_slice(&entity.to_le_bytes());
        Self(bytes)
    }

    /// Returns the identity of a participant's endpoint with this number.
    pub(crate) fn of_endpoint(participant: u64, number: u64) -> Self {
        Self::new(participant, number & u64::from(u32::MAX))
    }

    /// Returns the identity of a [`Publication::publisher`], in this participant.
    pub(crate) fn of(publisher: u64, own: u64) -> Self {
        Self::new(participant_of(publisher).unwrap_or(own), publisher & u64::from(u32::MAX))
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The transport that brought a message to its subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// Inside the process, by ownership.
    Intra,
    /// Between processes of one host, through shared memory.
    Shm,
    /// From another host, through a gateway.
    Network,
}

/// The origin of a chain of messages.
///
/// Messages published inside a subscription's callback inherit the lineage of the message that the
/// callback was called with. So the end-to-end latency of any chain is one subtraction, on any of
/// its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lineage {
    /// Steady time of the first message's publication, in nanoseconds.
    stamp: i64,
    id: u64,
}

impl Lineage {
    pub(crate) fn new(stamp: i64, id: u64) -> Self {
        Self { stamp, id }
    }

    /// Returns the chain that this thread continues, if it is in a callback of one.
    pub(crate) fn current() -> Option<Self> {
        CHAIN.get()
    }

    /// Returns the steady time at which the chain's first message was published.
    pub fn stamp(&self) -> Time {
        Time::from_nanoseconds(self.stamp)
    }

    /// Returns the id of the chain's first message (unique among those of one participant).
    pub fn id(&self) -> u64 {
        self.id
    }
}

/// Metadata that the publisher writes once for all its subscriptions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Publication {
    /// Stamp of its publication: the source time and the order of arrival.
    pub(crate) stamp: Stamp,
    /// Sequence number among the publisher's messages, from 1.
    pub(crate) sequence: u64,
    /// The publisher's number in its participant, and in the upper half the participant: 0 for the
    /// one that receives the message, otherwise as [`introduce`] numbered it; with [`NETWORK`] if
    /// the publisher stands for one on the network.
    pub(crate) publisher: u64,
    pub(crate) lineage: Lineage,
    /// Steady nanoseconds after which the message has expired; `i64::MAX`: never.
    pub(crate) expires: i64,
}

/// Returns the time at which a message expires that was published at `time`; `i64::MAX`: never.
#[inline]
pub(crate) fn expiry(time: i64, lifespan: i64) -> i64 {
    if lifespan == i64::MAX { i64::MAX } else { time.saturating_add(lifespan) }
}

impl Publication {
    /// That of no message.
    pub(crate) const NONE: Self = Self {
        stamp: Stamp { time: 0, order: 0 },
        sequence: 0,
        publisher: 0,
        lineage: Lineage { stamp: 0, id: 0 },
        expires: i64::MAX,
    };

    /// Creates the publication of message `sequence`, which continues the chain of the callback it
    /// is published in, if any.
    #[inline]
    pub(crate) fn new(stamp: Stamp, sequence: u64, publisher: u64, lifespan: i64) -> Self {
        let lineage = CHAIN.get().unwrap_or(Lineage {
            stamp: stamp.time,
            // A participant has few publishers and many messages: 24 and 40 bits keep ids apart for
            // years at 1 MHz.
            id: (publisher << 40) ^ sequence,
        });
        Self { stamp, sequence, publisher, lineage, expires: expiry(stamp.time, lifespan) }
    }
}

/// Marks the [publisher](Publication::publisher) of messages that a gateway brings: then the upper
/// 39 bits of their stamp's order give how much earlier than the stamp they were published, see
/// [`SourceInfo`].
pub(crate) const NETWORK: u64 = 1 << 63;

/// Lower bits of such a stamp's order. The lowest ones keep messages of the same time apart. From
/// [`DIFFERENCE`] on they hold the lowest bits of the amount by which the message's original
/// sequence number exceeds the one it has here. The last one is [`KEPT`].
const ORDER_BITS: u32 = 25;

const DIFFERENCE: u32 = 11;

/// Differences are stored modulo this.
pub(crate) const DIFFERENCES: u64 = 1 << 13;

/// Marks a message that its publisher retained for late joiners before the subscriptions here
/// existed.
const KEPT: u64 = 1 << 24;

/// The bits above count in units of this power of two, in nanoseconds.
const EARLIER_UNIT: u32 = 9;

/// Metadata of a message that was published before, on another host or in a recording.
///
/// Its place among waiting messages follows its arrival here, like that of any message: a host's
/// wrong clock must not delay anything. So its source time is kept separately, as the difference:
/// to half a microsecond, up to 39 hours, and clamped beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceInfo {
    /// Wall time of its publication.
    pub time: Time,
    /// Its sequence number at its original publisher; `None`: it continues the numbering used here.
    pub sequence: Option<u64>,
    /// Number of its publisher's messages before it that were lost on their way.
    pub lost: u64,
    /// The origin of the chain that led to it; `None`: the message itself.
    pub lineage: Option<Lineage>,
    /// Whether its publisher retained it for late joiners: then only transient-local subscriptions
    /// get it.
    pub is_kept: bool,
    /// Identifies its publisher, independently of the gateway that brings its messages: shows which
    /// messages were lost while one gateway replaced another. 0: unknown.
    pub identity: u64,
}

/// Extracts the difference of sequence numbers from the order of a message of the network.
#[inline]
pub(crate) fn difference_of(order: u64) -> u64 {
    (order >> DIFFERENCE) % DIFFERENCES
}

impl Publication {
    /// For a message of the network, returns the amount by which its sequence number there exceeds
    /// the one it has here, modulo [`DIFFERENCES`].
    #[inline]
    pub(crate) fn difference(&self) -> Option<u64> {
        (self.publisher & NETWORK != 0).then_some(difference_of(self.stamp.order))
    }

    /// Whether its publisher on the network had retained it: volatile subscriptions don't get it.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.publisher & NETWORK != 0 && self.stamp.order & KEPT != 0
    }
}

impl Stamp {
    /// Returns the stamp of a message that arrives now and was published `nanoseconds` earlier,
    /// with that [difference](Publication::difference).
    pub(crate) fn published_earlier(self, nanoseconds: i64, difference: u64, is_kept: bool) -> Self {
        const FARTHEST: i64 = i64::MAX >> ORDER_BITS;
        let earlier = (nanoseconds >> EARLIER_UNIT).clamp(-FARTHEST, FARTHEST);
        let kept = if is_kept { KEPT } else { 0 };
        let order = (self.order % (1 << DIFFERENCE)) | ((difference % DIFFERENCES) << DIFFERENCE) | kept;
        Self { order: (earlier << ORDER_BITS).cast_unsigned() | order, ..self }
    }

    /// Returns the nanoseconds passed to [`published_earlier`](Self::published_earlier).
    fn earlier(self) -> i64 {
        (self.order.cast_signed() >> ORDER_BITS) << EARLIER_UNIT
    }
}

/// Other participants that messages came from, in the order in which they were introduced; few, and
/// never removed, as a message may outlive its participant.
static INTRODUCED: RwLock<Vec<u64>> = RwLock::new(Vec::new());

/// Returns the number that stands for another participant in the upper half of
/// [`Publication::publisher`].
pub(crate) fn introduce(participant: u64) -> u64 {
    let mut all = INTRODUCED.write();
    let place = all.iter().position(|&known| known == participant).unwrap_or_else(|| {
        all.push(participant);
        all.len() - 1
    });
    (place as u64 + 1) << 32
}

fn participant_of(publisher: u64) -> Option<u64> {
    let place = usize::try_from(((publisher & !NETWORK) >> 32).checked_sub(1)?).ok()?;
    INTRODUCED.read().get(place).copied()
}

thread_local! {
    /// The chain of the messages that this thread publishes now.
    static CHAIN: Cell<Option<Lineage>> = const { Cell::new(None) };
}

/// While it lives, messages published on this thread continue the chain.
pub(crate) struct ChainScope(Option<Lineage>);

impl ChainScope {
    #[inline]
    pub(crate) fn enter(lineage: Option<Lineage>) -> Self {
        Self(CHAIN.replace(lineage))
    }
}

impl Drop for ChainScope {
    #[inline]
    fn drop(&mut self) {
        CHAIN.set(self.0);
    }
}

/// Metadata of a message, for a callback.
///
/// Times are computed on request; a callback that doesn't take `&MessageInfo` pays for none of it.
///
/// ```
/// use sinew::prelude::*;
/// # #[derive(Clone)] struct Pose; impl Message for Pose {}
/// let context = Context::new()?;
/// let node = context.node("listener")?;
/// let poses = node.publisher::<Pose>("pose").create()?;
/// let subscription = node.subscription::<Pose>("pose").create()?;
/// poses.publish(Pose)?;
/// let (_pose, info) = subscription.take().unwrap();
/// assert_eq!((info.publication_sequence(), info.reception_sequence()), (1, 1));
/// assert_eq!(info.publisher(), poses.gid());
/// assert!(info.latency() < Duration::from_secs(60));
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MessageInfo {
    publication: Publication,
    reception_sequence: u64,
    /// Steady nanoseconds.
    received: i64,
    participant: u64,
    /// Whether a virtual clock applies, which is also the wall clock.
    is_virtual: bool,
}

impl MessageInfo {
    pub(crate) fn new(
        publication: Publication,
        reception_sequence: u64,
        participant: u64,
        clock: &Clock,
    ) -> Self {
        let received = clock.steady();
        Self { publication, reception_sequence, received, participant, is_virtual: clock.is_virtual() }
    }

    fn wall_of(&self, steady: i64) -> i64 {
        if self.is_virtual { steady } else { wall_of(steady) }
    }

    /// Returns the wall time of the publication.
    pub fn source_time(&self) -> Time {
        let Publication { stamp, publisher, .. } = self.publication;
        let earlier = if publisher & NETWORK != 0 { stamp.earlier() } else { 0 };
        Time::from_nanoseconds(self.wall_of(stamp.time).saturating_sub(earlier))
    }

    /// Returns the wall time at which the message was taken from the subscription's buffer.
    pub fn reception_time(&self) -> Time {
        Time::from_nanoseconds(self.wall_of(self.received))
    }

    /// Returns the time from publication to reception. For a message from another host, it counts
    /// from the arrival at this host, because the hosts' clocks may differ.
    pub fn latency(&self) -> Duration {
        Time::from_nanoseconds(self.received) - Time::from_nanoseconds(self.publication.stamp.time)
    }

    /// Returns the message's number among those of its publisher, from 1. Gaps are messages that
    /// this subscription never got, or lost to newer ones. For a message of the network it is the
    /// number that it has there.
    pub fn publication_sequence(&self) -> u64 {
        self.publication.sequence
    }

    /// Returns the message's number among those that reached this subscription's buffer, from 1.
    pub fn reception_sequence(&self) -> u64 {
        self.reception_sequence
    }

    /// Returns the identity of its publisher.
    pub fn publisher(&self) -> Gid {
        Gid::of(self.publication.publisher, self.participant)
    }

    /// Returns the transport that brought the message.
    pub fn transport(&self) -> Transport {
        match self.publication.publisher {
            publisher if publisher & NETWORK != 0 => Transport::Network,
            publisher if publisher >> 32 != 0 => Transport::Shm,
            _ => Transport::Intra,
        }
    }

    /// Returns the origin of the chain that led to this message.
    pub fn lineage(&self) -> Lineage {
        self.publication.lineage
    }

    /// Returns the time from the publication of the chain's first message to the reception of this
    /// one.
    pub fn chain_latency(&self) -> Duration {
        Time::from_nanoseconds(self.received) - self.publication.lineage.stamp()
    }

    /// Continues this message's chain: while the returned scope lives, messages published on this
    /// thread belong to the chain, as they would in a callback. For messages that were taken by
    /// hand.
    pub fn continue_chain(&self) -> ChainGuard {
        ChainGuard {
            _scope: ChainScope::enter(Some(self.publication.lineage)),
            _this_thread: std::marker::PhantomData,
        }
    }
}

/// See [`MessageInfo::continue_chain`]. Drop nested ones in reverse order.
#[must_use = "the chain is continued while this lives"]
pub struct ChainGuard {
    _scope: ChainScope,
    _this_thread: std::marker::PhantomData<*const ()>,
}
