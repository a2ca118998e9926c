//! Errors of decoding.

/// The reason why a message could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end before the value does.
    #[error("`{field}` of {type_name} needs bytes up to {needed}, but the message ends at byte {length}")]
    Truncated {
        /// The message type, or the nested type that contains the field.
        type_name: &'static str,
        /// The field that could not be read.
        field: &'static str,
        /// The length of the encoded form in bytes.
        length: usize,
        /// The offset where the field would end.
        needed: usize,
    },
    /// A sequence claims more elements than the remaining bytes can hold.
    #[error(
        "`{field}` of {type_name} claims {count} elements, but the rest of the message has room for {room} at most"
    )]
    TooLong {
        /// The message type, or the nested type that contains the field.
        type_name: &'static str,
        /// The sequence.
        field: &'static str,
        /// Number of elements that the sequence claims.
        count: usize,
        /// Number of elements that fit into the remaining bytes if each has the shortest possible
        /// encoding.
        room: usize,
    },
    /// A bounded string or sequence is longer than its bound.
    #[error("`{field}` of {type_name} has {count} elements, but its type allows {bound} at most")]
    Bound {
        /// The message type, or the nested type that contains the field.
        type_name: &'static str,
        /// The bounded string or sequence.
        field: &'static str,
        /// Number of elements; for a string, number of characters.
        count: usize,
        /// Number of elements that the type allows.
        bound: usize,
    },
    /// A field has a value that its type does not allow.
    #[error("`{field}` of {type_name} at byte {offset} is not valid: {problem}")]
    Invalid {
        /// The message type, or the nested type that contains the field.
        type_name: &'static str,
        /// The field.
        field: &'static str,
        /// Byte offset of the problem.
        offset: usize,
        /// A description of the problem.
        problem: &'static str,
    },
    /// The header names a representation that this library does not read.
    #[error(
        "the encoded {type_name} has representation {identifier:#06x}, but only plain CDR is read (0x0000 and 0x0001); \
         let its writer use XCDR version 1"
    )]
    Representation {
        /// The message type.
        type_name: &'static str,
        /// The identifier in the first two bytes.
        identifier: u16,
    },
}
