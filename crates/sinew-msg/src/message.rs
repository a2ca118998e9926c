//! The message trait, and the encoding of types that leave the process.

use crate::description::ConstDescription;
use crate::error::DecodeError;
use crate::hash::TypeHash;
use crate::plain::PlainProof;
use std::fmt;

/// A type of values that can be published.
///
/// Values cross threads (`Send`), may be read by several subscriptions at once (`Sync`) and own
/// what they contain (`'static`). `Clone` is not required here: only a subscription that takes its
/// own copy of each message requires it, where the subscription is created.
pub trait Message: Send + Sync + Sized + 'static {
    /// The conversion of values to bytes and back; `None` (the default) for a type that only
    /// travels inside a process.
    const ENCODING: Option<&'static Encoding<Self>> = None;
}

/// The ROS 2 side of a message type: its name, its hash, and the functions that encode and decode
/// it.
///
/// Stable Rust has no specialisation. Properties that only some message types have are therefore a
/// constant table of functions; the delivery core could not query a second trait.
///
/// [`derive(Message)`](macro@crate::Message) writes it. Written by hand, with custom functions:
///
/// ```
/// use sinew_msg::{DecodeError, Encoding, Message, TypeHash};
///
/// struct Number(u32);
///
/// impl Message for Number {
///     const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
///         name: "example_msgs/msg/Number",
///         hash: TypeHash([7; 32]),
///         description: None,
///         size: |_| 4,
///         encode: |number, encoded| encoded.copy_from_slice(&number.0.to_le_bytes()),
///         decode: |encoded| match encoded.first_chunk() {
///             Some(bytes) => Ok(Number(u32::from_le_bytes(*bytes))),
///             None => Err(DecodeError::Truncated {
///                 type_name: "example_msgs/msg/Number",
///                 field: "number",
///                 length: encoded.len(),
///                 needed: 4,
///             }),
///         },
///         decode_into: |encoded, number| {
///             *number = (Number::ENCODING.expect("this one").decode)(encoded)?;
///             Ok(())
///         },
///         plain: None,
///         stamp: None,
///     });
/// }
/// ```
pub struct Encoding<T> {
    /// The ROS 2 type name, e.g. `sensor_msgs/msg/Image`.
    pub name: &'static str,
    /// The hash of the type: equal for equal types.
    pub hash: TypeHash,
    /// The description that tools need to decode messages of the type; `None` if tools should show
    /// the raw bytes. Its hash is `hash`.
    pub description: Option<&'static ConstDescription>,
    /// Returns the length in bytes of the encoded form that `encode` writes for this value.
    pub size: fn(&T) -> usize,
    /// Encodes the value into a buffer of exactly `size` bytes.
    ///
    /// Panics if a string or sequence of the value has 2³² elements or more (a string's NUL
    /// counts): CDR has no such lengths. Every operation that encodes a value panics in the same
    /// way. Publishing is one of them, once an endpoint outside the process listens.
    pub encode: fn(&T, &mut [u8]),
    /// Decodes a value from untrusted bytes.
    pub decode: fn(&[u8]) -> Result<T, DecodeError>,
    /// Decodes into an existing value and reuses its allocations. After an error the value's
    /// content is unspecified, but valid.
    pub decode_into: fn(&[u8], &mut T) -> Result<(), DecodeError>,
    /// Present if a value can be written and read in place: its encoded form is the header and the
    /// value's own bytes.
    pub plain: Option<PlainProof<T>>,
    /// Returns the value's time stamp in nanoseconds, as [`Stamped`](crate::Stamped) defines it;
    /// `None` if the type has no stamp.
    pub stamp: Option<fn(&T) -> i64>,
}

impl<T> fmt::Debug for Encoding<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoding")
            .field("name", &self.name)
            .field("hash", &self.hash)
            .field("plain", &self.plain.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Number(u32);

    impl Message for Number {
        const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
            name: "test_msgs/msg/Number",
            hash: TypeHash([7; 32]),
            description: None,
            size: |_| 4,
            encode: |value, encoded| encoded.copy_from_slice(&value.0.to_le_bytes()),
            decode: |encoded| {
                let bytes = encoded.first_chunk().ok_or(DecodeError::Truncated {
                    type_name: "test_msgs/msg/Number",
                    field: "number",
                    length: encoded.len(),
                    needed: 4,
                })?;
                Ok(Number(u32::from_le_bytes(*bytes)))
            },
            decode_into: |encoded, value| {
                *value = (Number::ENCODING.unwrap().decode)(encoded)?;
                Ok(())
            },
            plain: None,
            stamp: None,
        });
    }

    struct InProcess;
    impl Message for InProcess {}

    #[test]
    fn an_encoding_is_found_where_there_is_one() {
        assert!(InProcess::ENCODING.is_none());
        let encoding = Number::ENCODING.unwrap();
        let mut encoded = vec![0; (encoding.size)(&Number(258))];
        (encoding.encode)(&Number(258), &mut encoded);
        assert_eq!(encoded, [2, 1, 0, 0]);
        assert_eq!((encoding.decode)(&encoded), Ok(Number(258)));
    }

    #[test]
    fn a_truncated_encoded_form_says_where() {
        let mut value = Number(1);
        let error = (Number::ENCODING.unwrap().decode_into)(&[1, 2], &mut value).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`number` of test_msgs/msg/Number needs bytes up to 4, but the message ends at byte 2"
        );
        assert_eq!(value, Number(1));
    }
}
