//! The traits that a transport implements to carry a publisher's messages out of the process.
//!
//! A publisher that other processes know has a [`PublisherEndpoint`]. When the first subscription
//! elsewhere matches that the endpoint [reaches](PublisherEndpoint::reaches), the endpoint makes a
//! [`RemoteSink`], which takes each message once for all such subscriptions. A publisher has an
//! endpoint, and at most one sink, for each transport. It keeps the sinks under a lock of their
//! own, so one thread at a time calls them. The steps for each message are
//!
//! 1. [`has_room`](RemoteSink::has_room), otherwise [`wait_for_room`](RemoteSink::wait_for_room);
//! 2. [`prepare`](RemoteSink::prepare): memory for its encoded form, or none. Until then nothing
//!    has happened that other processes could see;
//! 3. subscriptions of this process get the message;
//! 4. [`Prepared::encode`]: the message is encoded, if it isn't yet;
//! 5. [`send`](RemoteSink::send); or [`leave_out`](RemoteSink::leave_out) if there was no memory
//!    for it.

use super::remote_endpoint::RemoteEndpoint;
use crate::message::backing::LendsMemory;
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::message::work::CopyWork;
use crate::sys::sync::Arc;
use sinew_shm::CapacityError;
use sinew_shm::transport::{Counters, Lent, Loan, Waiting};
use std::any::Any;
use std::collections::VecDeque;

/// A publisher as other processes know it.
pub(crate) trait PublisherEndpoint: LendsMemory {
    /// Returns the counters that other processes can read, if this transport shows them.
    fn counters(&self) -> Option<Counters>;

    /// Whether this transport reaches a subscription.
    fn reaches(&self, subscription: &RemoteSubscription) -> bool;

    /// Opens the way to subscriptions elsewhere, from message `next` on.
    fn open(&self, next: u64) -> Result<Box<dyn RemoteSink>, CapacityError>;

    /// Notes, for a publisher that stands for one on the network, the amount by which sequence
    /// numbers there exceed those here, and the publisher's identity.
    fn note(&self, difference: u64, identity: u64);

    /// Whether this transport sends a message with a single holder without copying its encoded
    /// form, as far as is known now.
    fn sends_where_it_lies(&self, message: &RawMessage) -> bool;

    /// Has the transport try again later what found no room.
    fn try_again_later(&self) {}
}

/// The subscriptions elsewhere that get a publisher's messages through one transport.
pub(crate) trait RemoteSink: Send {
    /// Connects a matching subscription. `next` is the number of the next message; `retained` are
    /// the messages before it that the publisher keeps for late joiners.
    fn connect(
        &mut self,
        joiner: &mut JoiningSubscription,
        next: u64,
        retained: &VecDeque<(RawMessage, Publication)>,
    ) -> Result<RetainedSent, CapacityError>;

    /// Disconnects a subscription.
    fn disconnect(&mut self, subscription: &RemoteSubscription);

    /// Whether any subscription is connected.
    fn is_connected(&self) -> bool;

    /// Returns the number of connected subscriptions of that participant.
    fn count_of(&self, participant: u64) -> usize;

    /// Whether a connected subscription must get every message.
    fn is_bound(&self) -> bool;

    /// Whether every subscription that must get every message has room for one.
    fn has_room(&mut self) -> bool;

    /// Returns `None` if there is room (after a wait: enough of it). Otherwise the caller releases
    /// the publisher's locks, sleeps, and asks again.
    fn wait_for_room(&mut self) -> Option<Waiting> {
        None
    }

    /// Returns the number of the next message.
    fn next(&self) -> u64;

    /// Returns `None` if every connected reliable subscription has read the messages before this
    /// number. Otherwise the caller sleeps without the publisher's locks, for a limited time, and
    /// asks again.
    fn wait_until_read(&mut self, number: u64) -> Option<Waiting>;

    /// Returns the maximum length of a value's encoded form that [`prepare`](Self::prepare) always
    /// gives the sink's own memory.
    fn inline(&self) -> usize {
        0
    }

    /// Reserves memory of `length` bytes for the next message's encoded form. `message` is given if
    /// its encoded form may already lie where other processes read it, so that it needs no memory.
    fn prepare(&mut self, length: usize, message: Option<&mut RawMessage>)
    -> Result<Prepared, CapacityError>;

    /// Returns the sink's own memory for a prepared encoded form of `length` bytes.
    fn buffer(&mut self, length: usize) -> &mut [u8];

    /// Sends the encoded form; `None`: the bytes written last into the [buffer](Self::buffer).
    fn send(&mut self, publication: &Publication, encoded: Option<Lent>);

    /// Records that there was no memory for the encoded form, so subscriptions elsewhere miss the
    /// message. Returns whether it is the first one missed.
    fn leave_out(&mut self, publication: &Publication) -> bool;

    /// Releases the messages that the subscriptions have read. A publishing thread does so itself;
    /// this is for publishers that publish seldom. Returns `true` if it must be called again.
    fn tidy(&mut self) -> bool {
        false
    }

    /// Names memory that the next message will touch, with its length, for a thread that prefetches
    /// it. Memory that is found through other memory has a higher `level`. Returns `false` if there
    /// is no more.
    fn footprint(&self, _level: usize, _name: &mut dyn FnMut(usize, usize)) -> bool {
        false
    }
}

/// A subscription elsewhere.
pub(crate) struct RemoteSubscription {
    /// Its description of itself.
    pub(crate) wanted: RemoteEndpoint,
    /// Its address. Only sinks of the transport that brought it look into this.
    pub(crate) address: Box<dyn Any + Send + Sync>,
}

/// A matching subscription elsewhere that is being connected.
pub(crate) struct JoiningSubscription {
    pub(crate) subscription: Arc<RemoteSubscription>,
    /// Whether an earlier attempt, which failed afterwards, already sent it the retained messages.
    pub(crate) has_retained: bool,
}

/// The result of sending retained messages to a late joiner.
#[derive(Default)]
pub(crate) struct RetainedSent {
    pub(crate) work: CopyWork,
    /// Number of messages without room, and the reason.
    pub(crate) left_out: Option<(usize, CapacityError)>,
    /// Number of messages whose encoding panicked, and the first panic's text.
    pub(crate) panicked: Option<(usize, String)>,
}

/// A message's encoded form, or the memory reserved for it.
pub(crate) enum Prepared {
    /// The encoded form already lies where other processes can read it.
    There(Lent),
    /// To be encoded into this loan.
    Loan(Loan),
    /// To be encoded into the sink's buffer, with this number of bytes.
    Small(usize),
    /// Encoded, in the sink's buffer.
    Written,
}

impl Prepared {
    /// Returns the work of sending this.
    #[inline]
    pub(crate) fn work(&self, content: &impl Content) -> CopyWork {
        let length = match self {
            Prepared::There(_) | Prepared::Written => return CopyWork::NONE,
            Prepared::Loan(loan) => loan.bytes().len(),
            Prepared::Small(length) => *length,
        };
        CopyWork::encoding(content.is_bytes(), length)
    }

    /// Encodes the message, unless it is encoded already. Returns `None` if the bytes are in the
    /// sink's buffer.
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

/// A published message or value, for the way out of the process.
pub(crate) trait Content: Sized {
    /// Returns the message, if it lies in a block: its encoded form may lie where other processes
    /// can read it.
    fn message(&mut self) -> Option<&mut RawMessage>;

    /// Returns the length of its encoded form in bytes.
    fn length(&self) -> usize;

    /// Whether writing the encoded form only copies bytes, without encoding.
    fn is_bytes(&self) -> bool;

    /// Writes its encoded form, which fills `to`.
    fn write(&self, to: &mut [u8]);

    /// Splits into the message for subscriptions here, if any, and the content that leaves the
    /// process, if any.
    fn split(self, stays: bool, leaves: bool) -> (Option<RawMessage>, Option<Self>);

    /// Returns the message, if it lies in a block.
    fn into_message(self) -> Option<RawMessage>;
}

impl Content for RawMessage {
    #[inline]
    fn message(&mut self) -> Option<&mut RawMessage> {
        Some(self)
    }

    #[inline]
    fn length(&self) -> usize {
        self.encoded_length().unwrap_or(0)
    }

    #[inline]
    fn is_bytes(&self) -> bool {
        self.is_encoded() || self.table().is_plain()
    }

    #[inline]
    fn write(&self, to: &mut [u8]) {
        self.write_encoded(to);
    }

    #[inline]
    fn split(self, stays: bool, leaves: bool) -> (Option<RawMessage>, Option<Self>) {
        match (stays, leaves) {
            (true, true) => (Some(self.another()), Some(self)),
            (false, true) => (None, Some(self)),
            // This may be the only reference: the subscription that takes it may change the message
            // in place at any time.
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
