//! What a Sinew message is.
//!
//! [`Message`] is the one trait a type needs to be published. A type that only travels inside a process says nothing
//! more; a type that also leaves it carries an [`Encoding`]: its ROS 2 name, its RIHS01 hash and the functions between
//! the value and its *image* (its bytes in shared memory, on the wire and in a recording).
//!
//! ```
//! use sinew_msg::Message;
//!
//! struct Frame {
//!     pixels: Vec<u8>,
//! }
//! impl Message for Frame {} // travels in-process, by ownership, whatever it contains
//! ```
#![forbid(unsafe_code)]

use std::fmt;

/// A type whose values can be published.
///
/// Values cross threads (`Send`), may be read by several subscriptions at once (`Sync`) and own what they contain
/// (`'static`). `Clone` is not needed: only a subscription that wants a message of its own asks for it, where it is
/// created.
pub trait Message: Send + Sync + Sized + 'static {
    /// How values become images and back; `None` (the default) for a type that only travels inside a process.
    const ENCODING: Option<&'static Encoding<Self>> = None;
}

/// The ROS 2 side of a message type: its name, its hash and its image functions.
///
/// Stable Rust has no specialisation, so what only some message types have is a constant table of functions rather than
/// a second trait that the delivery core could not ask for.
pub struct Encoding<T> {
    /// The ROS 2 type name, e.g. `sensor_msgs/msg/Image`.
    pub name: &'static str,
    /// The RIHS01 hash of the type's description.
    pub hash: TypeHash,
    /// The length in bytes of the image that `encode` will write for this value.
    pub size: fn(&T) -> usize,
    /// Writes the image into a buffer of exactly `size` bytes.
    pub encode: fn(&T, &mut [u8]),
    /// Makes a value from an image that nobody vouches for.
    pub decode: fn(&[u8]) -> Result<T, DecodeError>,
    /// The same into an existing value, whose allocations are used again. After an error its content is unspecified,
    /// but valid.
    pub decode_into: fn(&[u8], &mut T) -> Result<(), DecodeError>,
    /// TEMP
    pub plain: Option<()>,
}

impl<T> fmt::Debug for Encoding<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoding").field("name", &self.name).field("hash", &self.hash).finish_non_exhaustive()
    }
}

/// A service type: what is asked, and what is answered.
///
/// ```
/// use sinew_msg::{Message, Service};
///
/// struct Operands { a: i64, b: i64 }
/// impl Message for Operands {}
/// struct Sum(i64);
/// impl Message for Sum {}
///
/// struct AddTwoInts; // never made: it only names the pair
/// impl Service for AddTwoInts {
///     type Request = Operands;
///     type Response = Sum;
/// }
/// ```
pub trait Service: Sized + 'static {
    /// What a client sends.
    type Request: Message;
    /// What the server answers.
    type Response: Message;
    /// The ROS 2 side of the service type; `None` (the default) for one that only serves inside a process.
    const TYPE: Option<&'static ServiceType> = None;
}

/// The ROS 2 side of a service type. (How its request and response become images is theirs, see [`Message::ENCODING`].)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceType {
    /// The ROS 2 type name, e.g. `example_interfaces/srv/AddTwoInts`.
    pub name: &'static str,
    /// The RIHS01 hash of the type's description.
    pub hash: TypeHash,
}

/// A RIHS01 type hash: the SHA-256 of a type's description, as ROS 2 defines it in REP 2016.
///
/// ```
/// let hash = sinew_msg::TypeHash([0xab; 32]);
/// assert!(hash.to_string().starts_with("RIHS01_abab"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeHash(
    /// The digest.
    pub [u8; 32],
);

impl fmt::Display for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RIHS01_")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why an image could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The image ends before the value does.
    #[error("the image of {type_name} ends at byte {length}, but `{field}` needs bytes up to {needed}")]
    Truncated {
        /// The message type.
        type_name: &'static str,
        /// The field that could not be read.
        field: &'static str,
        /// The image's length in bytes.
        length: usize,
        /// Where the field would end.
        needed: usize,
    },
    /// A field holds what its type doesn't allow.
    #[error("`{field}` of {type_name} at byte {offset} is not valid: {problem}")]
    Invalid {
        /// The message type.
        type_name: &'static str,
        /// The field.
        field: &'static str,
        /// Where it starts in the image.
        offset: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
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
            size: |_| 4,
            encode: |value, image| image.copy_from_slice(&value.0.to_le_bytes()),
            decode: |image| {
                let bytes = image.first_chunk().ok_or(DecodeError::Truncated {
                    type_name: "test_msgs/msg/Number",
                    field: "number",
                    length: image.len(),
                    needed: 4,
                })?;
                Ok(Number(u32::from_le_bytes(*bytes)))
            },
            decode_into: |image, value| {
                *value = (Number::ENCODING.unwrap().decode)(image)?;
                Ok(())
            },
            plain: None,
        });
    }

    struct InProcess;
    impl Message for InProcess {}

    #[test]
    fn an_encoding_is_found_where_there_is_one() {
        assert!(InProcess::ENCODING.is_none());
        let encoding = Number::ENCODING.unwrap();
        let mut image = vec![0; (encoding.size)(&Number(258))];
        (encoding.encode)(&Number(258), &mut image);
        assert_eq!(image, [2, 1, 0, 0]);
        assert_eq!((encoding.decode)(&image), Ok(Number(258)));
    }

    #[test]
    fn a_truncated_image_says_where() {
        let mut value = Number(1);
        let error = (Number::ENCODING.unwrap().decode_into)(&[1, 2], &mut value).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the image of test_msgs/msg/Number ends at byte 2, but `number` needs bytes up to 4"
        );
        assert_eq!(value, Number(1));
    }
}
