//! What can be wrong with an image.

/// Why an image could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The image ends before the value does.
    #[error("`{field}` of {type_name} needs bytes up to {needed}, but the image ends at byte {length}")]
    Truncated {
        /// The message type, or the nested type that has the field.
        type_name: &'static str,
        /// The field that could not be read.
        field: &'static str,
        /// The image's length in bytes.
        length: usize,
        /// Where the field would end.
        needed: usize,
    },
    /// A sequence claims more elements than the rest of the image can hold.
    #[error(
        "`{field}` of {type_name} claims {count} elements, but the rest of the image has room for {room} at most"
    )]
    TooLong {
        /// The message type, or the nested type that has the field.
        type_name: &'static str,
        /// The sequence.
        field: &'static str,
        /// How many elements it claims to have.
        count: usize,
        /// How many of the shortest elements would fill what is left of the image.
        room: usize,
    },
    /// A bounded string or sequence is longer than its bound.
    #[error("`{field}` of {type_name} has {count} elements, but its type allows {bound} at most")]
    Bound {
        /// The message type, or the nested type that has the field.
        type_name: &'static str,
        /// The bounded string or sequence.
        field: &'static str,
        /// How many elements it has; of a string, characters.
        count: usize,
        /// How many its type allows.
        bound: usize,
    },
    /// A field holds what its type doesn't allow.
    #[error("`{field}` of {type_name} at byte {offset} is not valid: {problem}")]
    Invalid {
        /// The message type, or the nested type that has the field.
        type_name: &'static str,
        /// The field.
        field: &'static str,
        /// Where in the image the problem is.
        offset: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The image's header names a representation that is not read here.
    #[error(
        "the image of {type_name} has representation {identifier:#06x}, but only plain CDR is read (0x0000 and 0x0001); \
         let its writer use XCDR version 1"
    )]
    Representation {
        /// The message type.
        type_name: &'static str,
        /// The identifier in the first two bytes of the image.
        identifier: u16,
    },
}
