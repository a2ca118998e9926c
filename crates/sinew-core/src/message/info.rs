//! What is known about a message besides its content.

use crate::sys::clock::{Clock, Stamp, Time, wall_of};
use crate::sys::sync::RwLock;
use std::cell::Cell;
use std::fmt;
use std::time::Duration;

/// A publisher's identity: 16 bytes, unique among all participants, as ROS 2's `rmw_gid_t`.
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

    /// That of a [`Publication::publisher`], in this participant.
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

/// How a message came to its subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// Inside the process, by ownership.
    Intra,
    /// Between processes of one host, through shared memory.
    Shm,
    /// From another host, by a gateway.
    Network,
}

/// Where a chain of messages began.
///
/// Whatever is published inside a subscription's callback inherits the lineage of the message that
/// the callback was called with. So the end-to-end latency of any chain is one subtraction, on any
/// node of it.
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

    /// The chain that this thread continues, if it is in a callback of one.
    pub(crate) fn current() -> Option<Self> {
        CHAIN.get()
    }

    /// Steady time at which the chain's first message was published.
    pub fn stamp(&self) -> Time {
        Time::from_nanoseconds(self.stamp)
    }

    /// Identifies the chain's first message (among those of one participant).
    pub fn id(&self) -> u64 {
        self.id
    }
}

/// What the publisher writes down once for all its subscriptions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Publication {
    /// When it was published: the source time and the order of arrival.
    pub(crate) stamp: Stamp,
    /// Counts the publisher's messages from 1.
    pub(crate) sequence: u64,
    /// The publisher's number in its participant, and in the upper half which participant: 0 for
    /// the one that receives the message, else as [`introduce`] numbered it; with [`NETWORK`], if
    /// it stands for one on the network.
    pub(crate) publisher: u64,
    pub(crate) lineage: Lineage,
    /// Steady nanoseconds after which no reader wants it any more; `i64::MAX` when it lives for
    /// ever.
    pub(crate) expires: i64,
}

impl Publication {
    /// The publication of message `sequence`, which continues the chain of the callback it is
    /// published in, if any.
    #[inline]
    pub(crate) fn new(stamp: Stamp, sequence: u64, publisher: u64, lifespan: i64) -> Self {
        let lineage = CHAIN.get().unwrap_or(Lineage {
            stamp: stamp.time,
            // Publishers of a participant are few and messages many: 24 and 40 bits keep ids apart
            // for years of 1 MHz.
            id: (publisher << 40) ^ sequence,
        });
        let expires = stamp.time.saturating_add(lifespan); // for ever stays for ever: stamps are not negative
        Self { stamp, sequence, publisher, lineage, expires }
    }
}

/// Marks the [publisher](Publication::publisher) of messages that a gateway brings: then the upper
/// 39 bits of their stamp's order say how much earlier than the stamp they were published, see
/// [`SourceInfo`].
pub(crate) const NETWORK: u64 = 1 << 63;

/// Lower bits of such a stamp's order: the lowest of it, which keep apart messages of the same time;
/// from [`DIFFERENCE`] on the lowest of what the message's number where it was published is more
/// than that which it has here; and [`KEPT`].
const ORDER_BITS: u32 = 25;

const DIFFERENCE: u32 = 11;

/// Differences are told modulo this.
pub(crate) const DIFFERENCES: u64 = 1 << 13;

/// Its publisher kept it for late joiners, before subscriptions here were there.
const KEPT: u64 = 1 << 24;

/// What is above that is in units of so many nanoseconds, as a power of two.
const EARLIER_UNIT: u32 = 9;

/// What is known of a message that was published before, on another host or in a recording.
///
/// Its place among what waits goes by its arrival here, as everything does: a host's clock that
/// goes wrong is to hold nothing up. So its source time is kept beside that, as the difference: to half
/// a microsecond, up to 39 hours, and the nearest of that beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceInfo {
    /// Wall time of its publication.
    pub time: Time,
    /// Its number among those of its publisher there; `None`: that goes on as it does here.
    pub sequence: Option<u64>,
    /// So many messages of its publisher before it were lost on their way.
    pub lost: u64,
    /// Where the chain that led to it began; `None`: with it.
    pub lineage: Option<Lineage>,
    /// Its publisher kept it for late joiners: it is for subscriptions that are transient local.
    pub is_kept: bool,
    /// Tells its publisher from all others there, whoever brings its messages here: what was lost while
    /// one gateway took the place of another is told by it. 0: nothing is told.
    pub identity: u64,
}

/// What the order of a message of the network says of its number.
#[inline]
pub(crate) fn difference_of(order: u64) -> u64 {
    (order >> DIFFERENCE) % DIFFERENCES
}

impl Publication {
    /// Of a message of the network: what its number there is more than the one that it has here,
    /// modulo [`DIFFERENCES`].
    #[inline]
    pub(crate) fn difference(&self) -> Option<u64> {
        (self.publisher & NETWORK != 0).then_some(difference_of(self.stamp.order))
    }

    /// Whether its publisher on the network had kept it: volatile subscriptions don't get it.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.publisher & NETWORK != 0 && self.stamp.order & KEPT != 0
    }
}

impl Stamp {
    /// The stamp of a message that arrives now and was published so many nanoseconds earlier, with
    /// that [difference](Publication::difference).
    pub(crate) fn published_earlier(self, nanoseconds: i64, difference: u64, is_kept: bool) -> Self {
        const FARTHEST: i64 = i64::MAX >> ORDER_BITS;
        let earlier = (nanoseconds >> EARLIER_UNIT).clamp(-FARTHEST, FARTHEST);
        let kept = if is_kept { KEPT } else { 0 };
        let order = (self.order % (1 << DIFFERENCE)) | ((difference % DIFFERENCES) << DIFFERENCE) | kept;
        Self { order: (earlier << ORDER_BITS).cast_unsigned() | order, ..self }
    }

    /// What [`published_earlier`](Self::published_earlier) was told.
    fn earlier(self) -> i64 {
        (self.order.cast_signed() >> ORDER_BITS) << EARLIER_UNIT
    }
}

/// Other participants that messages came from, in the order in which they were introduced; few, and
/// never forgotten, as a message may outlive the acquaintance.
static INTRODUCED: RwLock<Vec<u64>> = RwLock::new(Vec::new());

/// The number that stands for another participant in [`Publication::publisher`], in the upper half.
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
    /// The chain that what this thread publishes now belongs to.
    static CHAIN: Cell<Option<Lineage>> = const { Cell::new(None) };
}

/// While it lives, what this thread publishes continues the chain.
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

/// What a callback may ask about its message.
///
/// Times are computed when they are asked for; a callback that doesn't take `&MessageInfo` pays for
/// none of it.
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
    /// By a virtual clock, which is the wall clock, too.
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

    /// Wall time of the publication.
    pub fn source_time(&self) -> Time {
        let Publication { stamp, publisher, .. } = self.publication;
        let earlier = if publisher & NETWORK != 0 { stamp.earlier() } else { 0 };
        Time::from_nanoseconds(self.wall_of(stamp.time).saturating_sub(earlier))
    }

    /// Wall time at which the message was taken from the subscription's buffer.
    pub fn reception_time(&self) -> Time {
        Time::from_nanoseconds(self.wall_of(self.received))
    }

    /// From publication to reception. Of a message from another host, since it came to this one: two
    /// hosts' clocks are two.
    pub fn latency(&self) -> Duration {
        Time::from_nanoseconds(self.received) - Time::from_nanoseconds(self.publication.stamp.time)
    }

    /// The number of the message among those of its publisher, from 1. Gaps are messages that this
    /// subscription never got, or lost to newer ones. Of a message of the network it is the number that
    /// it has there.
    pub fn publication_sequence(&self) -> u64 {
        self.publication.sequence
    }

    /// The number of the message among those that reached this subscription's buffer, from 1.
    pub fn reception_sequence(&self) -> u64 {
        self.reception_sequence
    }

    /// Who published it.
    pub fn publisher(&self) -> Gid {
        Gid::of(self.publication.publisher, self.participant)
    }

    /// How it came here.
    pub fn transport(&self) -> Transport {
        match self.publication.publisher {
            publisher if publisher & NETWORK != 0 => Transport::Network,
            publisher if publisher >> 32 != 0 => Transport::Shm,
            _ => Transport::Intra,
        }
    }

    /// Where the chain that led to this message began.
    pub fn lineage(&self) -> Lineage {
        self.publication.lineage
    }

    /// From the publication of the chain's first message to the reception of this one.
    pub fn chain_latency(&self) -> Duration {
        Time::from_nanoseconds(self.received) - self.publication.lineage.stamp()
    }

    /// While the returned scope lives, what this thread publishes continues this message's chain,
    /// as it would in a callback: for messages that were taken by hand.
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
