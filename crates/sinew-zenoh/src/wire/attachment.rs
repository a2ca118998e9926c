//! What goes beside a message, a request and a response.

/// The length in bytes of an attachment.
pub const LENGTH: usize = 33;

/// What goes beside a message: 33 bytes, as rmw_zenoh writes them since April 2025.
///
/// | bytes | field |
/// |---|---|
/// | 0.. | sequence number, i64, little endian |
/// | 8.. | source time in nanoseconds since 1970, i64, little endian |
/// | 16 | 16: so many bytes follow |
/// | 17.. | gid |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attachment {
    /// Counts a publisher's messages, or a client's requests, from 1.
    pub sequence: i64,
    /// Wall time of the publication, in nanoseconds.
    pub time: i64,
    /// Of the publisher; of a request and its response, of the client.
    pub gid: [u8; 16],
}

/// Why bytes are no attachment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttachmentError {
    /// It has the names of its fields in it.
    #[error(
        "its attachment is of an rmw_zenoh from before April 2025, which nobody newer understands: update it there"
    )]
    Old,
    /// It has another length.
    #[error("its attachment has {length} bytes, where {LENGTH} are expected")]
    Length {
        /// In bytes.
        length: usize,
    },
    /// A field holds what makes no sense.
    #[error("its attachment makes no sense: {field} is {value}")]
    Field {
        /// Which.
        field: &'static str,
        /// Its value.
        value: i64,
    },
}

impl Attachment {
    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.time.to_le_bytes());
        bytes[16] = 16;
        bytes[17..].copy_from_slice(&self.gid);
        bytes
    }

    /// What bytes say. More than 33 are taken, for what later releases add.
    ///
    /// ```
    /// use sinew_zenoh::wire::attachment::{Attachment, AttachmentError};
    /// let attachment = Attachment { sequence: 1, time: 2, gid: [3; 16] };
    /// assert_eq!(Attachment::parse(&attachment.to_bytes()), Ok(attachment));
    /// assert_eq!(Attachment::parse(&[]), Err(AttachmentError::Length { length: 0 }));
    /// ```
    ///
    /// # Errors
    /// [`AttachmentError`]
    pub fn parse(bytes: &[u8]) -> Result<Self, AttachmentError> {
        // The old form begins with a name, and that with its length.
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
        let (gid, _) = rest.split_first_chunk().ok_or_else(short)?;
        let (sequence, time) = (i64::from_le_bytes(*sequence), i64::from_le_bytes(*time));
        for (field, value) in [("the sequence number", sequence), ("the source time", time)] {
            if value < 0 {
                return Err(AttachmentError::Field { field, value });
            }
        }
        Ok(Self { sequence, time, gid: *gid })
    }
}

const OLD: &[u8] = b"sequence_number";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn its_bytes() {
        let attachment = Attachment { sequence: 0x0102, time: 0x0304, gid: *b"0123456789abcdef" };
        let bytes = attachment.to_bytes();
        assert_eq!(&bytes[..], b"\x02\x01\0\0\0\0\0\0\x04\x03\0\0\0\0\0\0\x100123456789abcdef");
        assert_eq!(Attachment::parse(&bytes), Ok(attachment));
        let longer = [&bytes[..], b"more"].concat();
        assert_eq!(Attachment::parse(&longer), Ok(attachment));
    }

    #[test]
    fn what_is_none_is_refused() {
        let old = [&[15, 0, 0, 0][..], b"sequence_number", &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(Attachment::parse(&old), Err(AttachmentError::Old));
        for length in 0..LENGTH {
            let mut bytes = Attachment { sequence: 1, time: 1, gid: [1; 16] }.to_bytes().to_vec();
            bytes.truncate(length);
            assert_eq!(Attachment::parse(&bytes), Err(AttachmentError::Length { length }));
        }
        let mut bytes = Attachment { sequence: -1, time: 1, gid: [1; 16] }.to_bytes();
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
        fn there_and_back(sequence in 0i64.., time in 0i64.., gid: [u8; 16]) {
            let attachment = Attachment { sequence, time, gid };
            prop_assert_eq!(Attachment::parse(&attachment.to_bytes()), Ok(attachment));
        }
    }
}
