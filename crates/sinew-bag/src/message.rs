//! A message of a bag.

use crate::error::BagDecodeError;
use crate::piece::MessageBytes;
use crate::records::MessageHeader;
use crate::topic::BagTopic;
use sinew_msg::Message;
use sinew_msg::dynamic::DynamicMessage;
use std::sync::Arc;

/// The times of a message, in nanoseconds since the epoch, and its number.
///
/// ```
/// use sinew_bag::Stamps;
///
/// let stamps = Stamps { sequence: 7, ..Stamps::at(1_000) };
/// assert_eq!((stamps.received, stamps.sent, stamps.sequence), (1_000, 1_000, 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Stamps {
    /// The time at which the recorder received it. It orders the bag.
    pub received: u64,
    /// The time at which its publisher sent it.
    pub sent: u64,
    /// Its number among the messages of its publisher; 0 if unknown.
    pub sequence: u32,
}

impl Stamps {
    /// Returns the stamps of a message without a number that was received when it was sent.
    #[must_use]
    pub const fn at(time: u64) -> Self {
        Self { received: time, sent: time, sequence: 0 }
    }

    pub(crate) fn of(header: &MessageHeader) -> Self {
        Self { received: header.log_time, sent: header.publish_time, sequence: header.sequence }
    }
}

/// A message of a bag. Cheap to clone; keeps its chunk in memory.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BagMessage {
    /// Its topic.
    pub topic: Arc<BagTopic>,
    /// Its times and its number.
    pub stamps: Stamps,
    /// Its encoded form.
    pub bytes: MessageBytes,
}

impl BagMessage {
    /// Decodes the message.
    ///
    /// # Errors
    /// [`BagDecodeError`] if the topic has another type or the type another hash, or if the bytes
    /// are no such message.
    pub fn decode<T: Message>(&self) -> Result<T, BagDecodeError> {
        let encoding = T::ENCODING.ok_or(BagDecodeError::NoEncoding)?;
        let BagTopic { name, type_name, type_hash, .. } = &*self.topic;
        if type_name != encoding.name {
            return Err(BagDecodeError::OtherType {
                topic: name.clone(),
                found: type_name.clone(),
                wanted: encoding.name,
            });
        }
        if let Some(hash) = type_hash.filter(|hash| *hash != encoding.hash) {
            return Err(BagDecodeError::OtherHash {
                topic: name.clone(),
                type_name: type_name.clone(),
                found: hash.to_string(),
                wanted: encoding.hash.to_string(),
            });
        }
        self.check_encoding()?;
        (encoding.decode)(&self.bytes)
            .map_err(|source| BagDecodeError::Decode { topic: name.clone(), source })
    }

    /// Decodes the message with the type that the bag describes.
    ///
    /// # Errors
    /// [`BagDecodeError`] if the bag doesn't describe the type, or if the bytes are no such
    /// message.
    pub fn decode_dynamic(&self) -> Result<DynamicMessage, BagDecodeError> {
        self.check_encoding()?;
        let BagTopic { name, type_name, .. } = &*self.topic;
        let message_type = self.topic.message_type().map_err(|problem| BagDecodeError::Schema {
            topic: name.clone(),
            type_name: type_name.clone(),
            problem: problem.to_owned(),
        })?;
        DynamicMessage::decode(message_type, &self.bytes)
            .map_err(|source| BagDecodeError::Dynamic { topic: name.clone(), source })
    }

    fn check_encoding(&self) -> Result<(), BagDecodeError> {
        let BagTopic { name: topic, encoding: found, .. } = &*self.topic;
        if found == "cdr" {
            return Ok(());
        }
        Err(BagDecodeError::OtherEncoding { topic: topic.clone(), found: found.clone() })
    }
}
