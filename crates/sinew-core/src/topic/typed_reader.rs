//! Converts encoded bytes into messages: bytes of other processes, and of publishers here that use
//! another Rust type for the same ROS 2 type.

use super::subscription_core::SubscriptionCore;
use crate::message::Check;
use crate::message::backing::{Backing, OwnBytes, out_of_memory};
use crate::message::block::{OwnPool, Pool, RawMessage};
use crate::message::type_support::TypeSupport;
use crate::message::work::CopyWork;
use sinew_msg::DecodeError;
use sinew_shm::transport::Hold;
use std::ptr::NonNull;

/// Number of blocks for decoded messages.
const POOL_CAPACITY: usize = 64;

/// Maximum bytes of blocks for a subscription that keeps all messages: it gets a block for each
/// message, as far as they fit.
const POOL_BYTES: usize = 1 << 18;

/// Makes messages from encoded bytes, for subscriptions that take them in the same way.
pub(crate) struct TypedReader {
    table: &'static TypeSupport,
    pub(crate) values: OwnPool,
    in_place: InPlace,
}

/// Whether messages are read where they lie.
enum InPlace {
    /// They are decoded.
    No,
    /// A plain type: its encoded bytes are its value. Control blocks for such messages.
    Values(OwnPool),
    /// Views are taken. Control blocks for encoded messages.
    Encoded(Check, OwnPool),
}

impl TypedReader {
    pub(crate) fn for_subscription(subscription: &SubscriptionCore) -> Self {
        let table = subscription.wanted.table;
        let in_place = match subscription.wanted.check {
            Some(check) => InPlace::Encoded(check, Pool::for_encoded(table, POOL_CAPACITY)),
            None if table.is_plain() => InPlace::Values(Pool::for_foreign(table, POOL_CAPACITY)),
            None => InPlace::No,
        };
        let qos = &subscription.wanted.qos;
        let kept = if qos.is_keep_all() { qos.capacity() } else { 0 };
        let blocks = kept.min(POOL_BYTES / table.layout.size().max(1)).max(POOL_CAPACITY);
        Self { table, values: Pool::of_table(table, blocks), in_place }
    }

    /// Creates a reader that makes values, each for one receiver.
    pub(crate) fn for_values(table: &'static TypeSupport) -> Self {
        Self { table, values: Pool::of_table(table, POOL_CAPACITY), in_place: InPlace::No }
    }

    /// Whether this subscription takes this reader's messages.
    pub(crate) fn suits(&self, subscription: &SubscriptionCore) -> bool {
        self.table.is(subscription.wanted.table)
            && self.takes_encoded() == subscription.wanted.check.is_some()
    }

    fn takes_encoded(&self) -> bool {
        matches!(self.in_place, InPlace::Encoded(..))
    }

    pub(crate) fn reads_in_place(&self) -> bool {
        !matches!(self.in_place, InPlace::No)
    }

    /// Returns the message in encoded bytes that are held: read in place if possible, otherwise
    /// decoded. Also returns the work.
    pub(crate) fn read(&self, hold: Hold) -> Result<(RawMessage, CopyWork), DecodeError> {
        let encoded = hold.bytes();
        match &self.in_place {
            InPlace::Encoded(Check(check), pool) => {
                check(encoded)?;
                return Ok((RawMessage::encoded_kept_by(pool, Backing::Hold(hold)), CopyWork::NONE));
            }
            InPlace::Values(pool) => {
                let layout = self.table.layout;
                if encoded.len() == layout.size() + 4 && encoded.starts_with(&[0, 1]) {
                    let value = NonNull::from(&encoded[4..]).cast::<u8>();
                    if self.table.is_aligned(value) {
                        // SAFETY: a plain type: any bytes of its length, aligned, are a value
                        // (`is_plain`); the hold keeps them.
                        let message = unsafe { RawMessage::foreign(pool, Backing::Hold(hold), value) };
                        return Ok((message, CopyWork::NONE));
                    }
                }
            }
            InPlace::No => {}
        }
        self.decode(encoded)
    }

    /// Returns the message in encoded bytes that were copied, because they could not be held or lay
    /// in the ring itself.
    pub(crate) fn decode_copied(&self, encoded: &[u8]) -> Result<(RawMessage, CopyWork), DecodeError> {
        let (message, work) = self.decode(encoded)?;
        Ok((message, work + CopyWork::copying(encoded.len())))
    }

    /// Converts a message of this process for subscriptions of this type: into a reference to it or
    /// to its bytes, or by decoding its encoded form.
    pub(crate) fn convert(&self, message: &RawMessage) -> Result<(RawMessage, CopyWork), DecodeError> {
        let is_ours = message.table().is(self.table);
        match message.encoded() {
            None if is_ours => return Ok((message.another(), CopyWork::NONE)),
            // The encoded form is the same for all types of the program; only subscriptions with a
            // type named at run time take any published type, without a look at its fields.
            Some(_) if self.takes_encoded() && (is_ours || self.table.is_generic()) => {
                return Ok((message.another(), CopyWork::NONE));
            }
            Some(encoded) => {
                let InPlace::Encoded(Check(check), pool) = &self.in_place else {
                    return self.decode(encoded);
                };
                check(encoded)?;
                return Ok((RawMessage::encoded_same_as(pool, message), CopyWork::NONE));
            }
            None => {}
        }
        let mut encoded = OwnBytes::default();
        let length = message.encoded_length().unwrap_or(0);
        encoded.resize(length).unwrap_or_else(|| out_of_memory(length));
        message.write_encoded(encoded.bytes_mut());
        let (value, work) = self.decode(encoded.bytes())?;
        Ok((value, work + CopyWork::encoding(message.table().is_plain(), length)))
    }

    /// Returns the message in encoded bytes that belong to the caller: decoded, or copied.
    pub(crate) fn decode(&self, encoded: &[u8]) -> Result<(RawMessage, CopyWork), DecodeError> {
        let InPlace::Encoded(Check(check), pool) = &self.in_place else {
            let work = CopyWork::decoding(self.table.is_plain(), encoded.len());
            return Ok((RawMessage::decode(&self.values, encoded)?, work));
        };
        check(encoded)?;
        let message = RawMessage::own_encoded(pool, encoded.len());
        let mut message = message.unwrap_or_else(|| out_of_memory(encoded.len()));
        if let Some(to) = message.encoded_mut() {
            to.copy_from_slice(encoded);
        }
        Ok((message, CopyWork::copying(encoded.len())))
    }
}
