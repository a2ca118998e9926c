//! What a transport does for a publisher: the traits behind which messages leave the process.
//!
//! A publisher that others know has a [`PublisherEndpoint`]. When the first subscription elsewhere
//! matches that it [reaches](PublisherEndpoint::reaches), that makes a [`RemoteSink`], which takes
//! each message once for all of them. A publisher has an endpoint, and at most one sink, for each
//! transport; it keeps the sinks under a lock of their own, so one thread at a time calls them. For
//! each message that is
//!
//! 1. [`has_room`](RemoteSink::has_room), else [`wait_for_room`](RemoteSink::wait_for_room);
//! 2. [`prepare`](RemoteSink::prepare): memory for its image, or none. Until then nothing has
//!    happened that others could see;
//! 3. subscriptions of this process get the message;
//! 4. [`Prepared::encode`]: the image is written, if it isn't there yet;
//! 5. [`send`](RemoteSink::send); or [`leave_out`](RemoteSink::leave_out) if there was no memory
//!    for it.

use super::remote_endpoint::RemoteEndpoint;
use crate::message::backing::ImageLender;
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::message::work::CopyWork;
use crate::sys::sync::Arc;
use sinew_shm::{CapacityError, Counters, Lent, Loan, Waiting};
use std::any::Any;
use std::collections::VecDeque;

/// A publisher as others know it.
pub(crate) trait PublisherEndpoint: ImageLender {
    /// Where others see what it counts, if this transport shows that.
    fn counters(&self) -> Option<Counters>;

    /// Whether a subscription is to be found by this transport.
    fn reaches(&self, subscription: &RemoteSubscription) -> bool;

    /// Its way to subscriptions elsewhere, which begins with message `next`.
    fn open(&self, next: u64) -> Result<Box<dyn RemoteSink>, CapacityError>;

    /// Of a publisher that stands for one on the network: what the number of the next message there
    /// is more than the one here, and what the publisher is known by.
    fn note(&self, difference: u64, identity: u64);

    /// Whether others get a message, whose holder alone has it, without a copy of its image, as
    /// far as that is known now.
    fn sends_where_it_lies(&self, message: &RawMessage) -> bool;
}

/// The subscriptions elsewhere that a publisher's messages go to, all of one transport.
pub(crate) trait RemoteSink: Send {
    /// A subscription matches. `next` is the number of the next message, `retained` are those
    /// before it that the publisher keeps for late joiners.
    fn connect(
        &mut self,
        joiner: &mut JoiningSubscription,
        next: u64,
        retained: &VecDeque<(RawMessage, Publication)>,
    ) -> Result<RetainedSent, CapacityError>;

    /// A subscription is gone.
    fn disconnect(&mut self, subscription: &RemoteSubscription);

    /// Whether any subscription is connected.
    fn is_connected(&self) -> bool;

    /// How many subscriptions of that participant are connected.
    fn count_of(&self, participant: u64) -> usize;

    /// Whether a subscription must get everything.
    fn is_bound(&self) -> bool;

    /// Whether every subscription that must get everything has room for a message.
    fn has_room(&mut self) -> bool;

    /// `None` if there is room, and enough of it after a wait. Else the caller sleeps without the
    /// publisher's locks, and asks again.
    fn wait_for_room(&mut self) -> Option<Waiting> {
        None
    }

    /// Makes sure that there is memory for the next message's image, which has so many bytes.
    /// `message`: where the image may lie already, so that it needs none.
    fn prepare(&mut self, length: usize, message: Option<&mut RawMessage>)
    -> Result<Prepared, CapacityError>;

    /// The sink's own memory for an image of so many bytes, as it was prepared.
    fn buffer(&mut self, length: usize) -> &mut [u8];

    /// Sends the image; `None`: what was written into the [buffer](Self::buffer) last.
    fn send(&mut self, publication: &Publication, image: Option<Lent>);

    /// There was no memory for the message's image: those elsewhere miss it. Whether that is the
    /// first one.
    fn leave_out(&mut self, publication: &Publication) -> bool;

    /// Lets go of what the subscriptions have read. A thread that publishes does so itself; this is
    /// for publishers that publish seldom.
    fn let_go(&mut self) {}

    /// Names memory that the next message will touch, and its length, for a thread that fetches it
    /// before. What is found through other memory has a higher `level`. False: there is no more.
    fn footprint(&self, _level: usize, _name: &mut dyn FnMut(usize, usize)) -> bool {
        false
    }
}

/// A subscription elsewhere.
pub(crate) struct RemoteSubscription {
    /// What it says of itself.
    pub(crate) wanted: RemoteEndpoint,
    /// Where it is. Only sinks of the transport that brought it here look into this.
    pub(crate) address: Box<dyn Any + Send + Sync>,
}

/// A matching subscription elsewhere that is to be connected.
pub(crate) struct JoiningSubscription {
    pub(crate) subscription: Arc<RemoteSubscription>,
    /// It got what was retained, in an attempt that failed afterwards: it isn't to get that twice.
    pub(crate) has_retained: bool,
}

/// What was done with retained messages for one that joins late.
#[derive(Default)]
pub(crate) struct RetainedSent {
    pub(crate) work: CopyWork,
    /// So many had no room.
    pub(crate) left_out: Option<(usize, CapacityError)>,
}

/// A message's image, or where it will be.
pub(crate) enum Prepared {
    /// It lies where others can read it already.
    There(Lent),
    /// To be encoded into this.
    Loan(Loan),
    /// To be encoded into the sink's buffer: so many bytes.
    Small(usize),
    /// It is in the sink's buffer.
    Written,
}

impl Prepared {
    /// What it takes to bring this out.
    #[inline]
    pub(crate) fn work(&self, content: &impl Content) -> CopyWork {
        let length = match self {
            Prepared::There(_) | Prepared::Written => return CopyWork::NONE,
            Prepared::Loan(loan) => loan.bytes().len(),
            Prepared::Small(length) => *length,
        };
        CopyWork::encoding(content.is_bytes(), length)
    }

    /// Has the image written, if it isn't there yet. `None`: it is in the sink's buffer.
    #[inline]
    pub(crate) fn encode(self, sink: &mut dyn RemoteSink, content: &impl Content) -> Option<Lent> {
        match self {
            Prepared::There(lent) => Some(lent),
            Prepared::Written => None,
            Prepared::Loan(mut loan) => {
                content.write(loan.bytes_mut());
                Some(loan.share())
            }
            Prepared::Small(length) => {
                content.write(sink.buffer(length));
                None
            }
        }
    }
}

/// What is published, as far as it leaves the process.
pub(crate) trait Content: Sized {
    /// The message, if it lies in a block: its image may lie where others can read it.
    fn message(&mut self) -> Option<&mut RawMessage>;

    /// How long its image is.
    fn length(&self) -> usize;

    /// Whether writing its image copies bytes, and encodes nothing.
    fn is_bytes(&self) -> bool;

    /// Writes its image, which has so many bytes.
    fn write(&self, to: &mut [u8]);

    /// What subscriptions here get, if there are any, and what leaves the process, if it does.
    fn split(self, stays: bool, leaves: bool) -> (Option<RawMessage>, Option<Self>);

    /// The message, if it lies in a block.
    fn into_message(self) -> Option<RawMessage>;
}

impl Content for RawMessage {
    #[inline]
    fn message(&mut self) -> Option<&mut RawMessage> {
        Some(self)
    }

    #[inline]
    fn length(&self) -> usize {
        self.image_length().unwrap_or(0)
    }

    #[inline]
    fn is_bytes(&self) -> bool {
        self.is_image() || self.table().is_plain()
    }

    #[inline]
    fn write(&self, to: &mut [u8]) {
        self.write_image(to);
    }

    #[inline]
    fn split(self, stays: bool, leaves: bool) -> (Option<RawMessage>, Option<Self>) {
        match (stays, leaves) {
            (true, true) => (Some(self.another()), Some(self)),
            (false, true) => (None, Some(self)),
            // Its only reference, perhaps: the subscription that takes it may change it in place,
            // whatever this thread is at.
            (_, false) => (Some(self), None),
        }
    }

    #[inline]
    fn into_message(self) -> Option<RawMessage> {
        Some(self)
    }
}

/// A value that lies in no block, since all subscriptions that get it are elsewhere.
pub(crate) struct BareValue<'a> {
    pub(crate) length: usize,
    pub(crate) is_plain: bool,
    pub(crate) encode: &'a dyn Fn(&mut [u8]),
}

impl Content for BareValue<'_> {
    fn message(&mut self) -> Option<&mut RawMessage> {
        None
    }

    fn length(&self) -> usize {
        self.length
    }

    fn is_bytes(&self) -> bool {
        self.is_plain
    }

    fn write(&self, to: &mut [u8]) {
        (self.encode)(to);
    }

    fn split(self, _stays: bool, _leaves: bool) -> (Option<RawMessage>, Option<Self>) {
        (None, Some(self))
    }

    fn into_message(self) -> Option<RawMessage> {
        None
    }
}
