//! The attachment of a message, a request and a response.

/// The length in bytes of an attachment, without a chain.
pub const LENGTH: usize = 33;

/// The start of a chain. Future versions of ROS 2 may append other data here.
const CHAIN: &[u8; 4] = b"snwl";

/// The attachment of a message: 33 bytes, as rmw_zenoh has written them since April 2025,
/// optionally followed by the message's chain, which other programs ignore.
///
/// | bytes | field |
/// |---|---|
/// | 0.. | sequence number, i64, little endian |
/// | 8.. | source time in nanoseconds since 1970, i64, little endian |
/// | 16 | length of the gid: 16 |
/// | 17.. | gid |
/// | 33.. | `snwl`, if there is a chain |
/// | 37.. | wall time of the chain's first message in nanoseconds since 1970, i64, little endian |
/// | 45.. | the first message's id, u64, little endian |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attachment {
    /// Number of the message or request, which a publisher or client counts from 1.
    pub sequence: i64,
    /// Wall time of the publication, in nanoseconds.
    pub time: i64,
    /// Gid of the publisher; for a request and its response, of the client.
    pub gid: [u8; 16],
    /// The chain that it continues; `None` if it begins one, or doesn't say.
    pub chain: Option<Chain>,
}

/// The origin of the chain of messages that led to a message: see [`Lineage`](sinew::msg::Lineage).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Wall time of the first message's publication, in nanoseconds.
    pub began: i64,
    /// Id of the first message.
    pub id: u64,
}

/// Bytes are not a valid attachment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttachmentError {
    /// It contains the names of its fields.
    #[error(
        "its attachment is of an rmw_zenoh from before April 2025, which later releases can't read: update it there"
    )]
    Old,
    /// It has a wrong length.
    #[error("its attachment has {length} bytes, where {LENGTH} are expected")]
    Length {
        /// The length, in bytes.
        length: usize,
    },
    /// A field has an invalid value.
    #[error("its attachment makes no sense: {field} is {value}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// Its value.
        value: i64,
    },
}

impl Attachment {
    /// Returns the encoded form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LENGTH + 20);
        bytes.extend(self.sequence.to_le_bytes());
        bytes.extend(self.time.to_le_bytes());
        bytes.push(16);
        bytes.extend(self.gid);
        if let Some(Chain { began, id }) = self.chain {
            bytes.extend(CHAIN);
            bytes.extend(began.to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    /// Decodes an attachment. More than 33 bytes are accepted, as later releases may append fields.
    ///
    /// ```
    /// use sinew_zenoh::wire::attachment::{Attachment, AttachmentError};
    /// let attachment = Attachment { sequence: 1, time: 2, gid: [3; 16], chain: None };
    /// assert_eq!(Attachment::parse(&attachment.to_bytes()), Ok(attachment));
    /// assert_eq!(Attachment::parse(&[]), Err(AttachmentError::Length { length: 0 }));
    /// ```
    ///
    /// # Errors
    /// [`AttachmentError`]
    pub fn parse(bytes: &[u8]) -> Result<Self, AttachmentError> {
        // The old form starts with a name, and that with its length.
        if bytes.windows(OLD.len()).take(24).any(|window| window == OLD) {
            return Err(AttachmentError::Old);
        }
        let short = || AttachmentError::Length { length: bytes.len() };
        let (sequence, rest) = bytes.split_first_chunk().ok_or_else(short)?;
        let (time, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (length, rest) = rest.split_first().ok_or_else(short)?;
        if *length != 16 {
            return Err(AttachmentError::Field { field: "the gid's length", value: i64::from(*length) });
        }
        let (gid, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (sequence, time) = (i64::from_le_bytes(*sequence), i64::from_le_bytes(*time));
        for (field, value) in [("the sequence number", sequence), ("the source time", time)] {
            if value < 0 {
                return Err(AttachmentError::Field { field, value });
            }
        }
        Ok(Self { sequence, time, gid: *gid, chain: Chain::parse(rest) })
    }
}

impl Chain {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (began, rest) = bytes.strip_prefix(CHAIN)?.split_first_chunk()?;
        let (id, _) = rest.split_first_chunk()?;
        let (began, id) = (i64::from_le_bytes(*began), u64::from_le_bytes(*id));
        (began >= 0).then_some(Self { began, id })
    }
}

const OLD: &[u8] = b"sequence_number";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn its_bytes() {
        let gid = *b"0123456789abcdef";
        let attachment = Attachment { sequence: 0x0102, time: 0x0304, gid, chain: None };
        let bytes = attachment.to_bytes();
        assert_eq!(&bytes[..], b"\x02\x01\0\0\0\0\0\0\x04\x03\0\0\0\0\0\0\x100123456789abcdef");
        assert_eq!(Attachment::parse(&bytes), Ok(attachment));
        let longer = [&bytes[..], b"more"].concat();
        assert_eq!(Attachment::parse(&longer), Ok(attachment));

        let continued = Attachment { chain: Some(Chain { began: 0x0506, id: 7 }), ..attachment };
        let bytes = [&bytes[..], b"snwl\x06\x05\0\0\0\0\0\0\x07\0\0\0\0\0\0\0"].concat();
        assert_eq!(continued.to_bytes(), bytes);
        assert_eq!(Attachment::parse(&bytes), Ok(continued));
        assert_eq!(Attachment::parse(&bytes[..52]), Ok(attachment));
        let negative = Attachment { chain: Some(Chain { began: -1, id: 7 }), ..attachment };
        assert_eq!(Attachment::parse(&negative.to_bytes()), Ok(attachment));
    }

    #[test]
    fn what_is_none_is_refused() {
        let old = [&[15, 0, 0, 0][..], b"sequence_number", &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(Attachment::parse(&old), Err(AttachmentError::Old));
        for length in 0..LENGTH {
            let mut bytes = Attachment { sequence: 1, time: 1, gid: [1; 16], chain: None }.to_bytes();
            bytes.truncate(length);
            assert_eq!(Attachment::parse(&bytes), Err(AttachmentError::Length { length }));
        }
        let mut bytes = Attachment { sequence: -1, time: 1, gid: [1; 16], chain: None }.to_bytes();
        assert_eq!(
            Attachment::parse(&bytes),
            Err(AttachmentError::Field { field: "the sequence number", value: -1 })
        );
        bytes[16] = 15;
        assert_eq!(
            Attachment::parse(&bytes),
            Err(AttachmentError::Field { field: "the gid's length", value: 15 })
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_understood_or_refused(bytes: Vec<u8>) {
            let _ = Attachment::parse(&bytes);
        }

        #[test]
        fn there_and_back(sequence in 0i64.., time in 0i64.., gid: [u8; 16], chain: Option<(u32, u64)>) {
            let chain = chain.map(|(began, id)| Chain { began: began.into(), id });
            let attachment = Attachment { sequence, time, gid, chain };
            prop_assert_eq!(Attachment::parse(&attachment.to_bytes()), Ok(attachment));
        }
    }
}
