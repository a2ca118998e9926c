//! A message that is kept until a newer one comes.

use super::value::Origin;
use crate::chunk::hold::Hold;
use crate::chunk::loan::Lent;
use crate::ring::Head;

/// The encoded form of an outgoing message.
pub(super) enum Encoded<'a> {
    /// Bytes in this process, which go into the ring itself.
    Inline(&'a [u8]),
    /// In shared memory.
    Lent(Lent),
}

/// The memory of a kept message that is not in a buffer.
pub(super) enum EncodedStorage {
    /// In the memory of another process.
    Hold(Hold),
    /// In this process's shared memory.
    Lent(Lent),
}

impl EncodedStorage {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            EncodedStorage::Hold(hold) => hold.bytes(),
            EncodedStorage::Lent(lent) => lent.bytes(),
        }
    }
}

/// The newest message. Its buffer is reused.
#[derive(Default)]
pub(super) struct RetainedValue {
    pub(super) origin: Option<Origin>,
    /// Decides between messages of the same time.
    order: u64,
    place: Option<EncodedStorage>,
    buffer: Vec<u8>,
}

impl RetainedValue {
    /// Whether a message comes after this one.
    pub(super) fn is_before(&self, head: &Head) -> bool {
        self.origin.is_none_or(|origin| (origin.stamp, self.order) < (head.stamp, head.order))
    }

    /// Takes over a message of another process; its bytes are in `hold`, or otherwise in `buffer`.
    pub(super) fn take(&mut self, head: &Head, writer: u64, hold: Option<Hold>, buffer: &mut Vec<u8>) {
        self.date(head, writer);
        if hold.is_none() {
            std::mem::swap(&mut self.buffer, buffer);
        }
        self.place = hold.map(EncodedStorage::Hold);
    }

    /// Takes over a message of this process.
    pub(super) fn copy(&mut self, head: &Head, writer: u64, encoded: &Encoded<'_>) {
        self.date(head, writer);
        self.place = match encoded {
            Encoded::Inline(bytes) => {
                self.buffer.clear();
                self.buffer.extend_from_slice(bytes);
                None
            }
            Encoded::Lent(lent) => Some(EncodedStorage::Lent(lent.clone())),
        };
    }

    fn date(&mut self, head: &Head, writer: u64) {
        self.origin = Some(Origin { stamp: head.stamp, writer });
        self.order = head.order;
    }

    /// The message's bytes and origin; `None` if there is no message.
    pub(super) fn get(&self) -> Option<(Origin, &[u8])> {
        let bytes = self.place.as_ref().map_or(&self.buffer[..], EncodedStorage::bytes);
        Some((self.origin?, bytes))
    }

    /// Forgets the message.
    pub(super) fn clear(&mut self) {
        (self.origin, self.place) = (None, None);
    }
}
