//! The trait of field types.

use super::decoder::{Decoder, Fault};
use super::encoder::Encoder;
use crate::description::{ConstDescription, ConstFieldType};
use crate::hash::TypeHash;
use std::array;

/// A type that a field can have in a message that leaves the process.
///
/// These are `bool`, integers of up to 64 bits, `f32`, `f64`, `String`,
/// [`WString`](super::WString), `Vec` and arrays of such types, their bounded kinds, and structs
/// with [`derive(Message)`](macro@crate::Message). The derived code also calls the methods. Offsets
/// count from the end of the message's header.
///
/// Arrays and `Vec` use the methods with `slice`, `array` and `sequence` in their names. These go
/// element by element unless the type has a faster way; numbers are copied all at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no encoded form, so no message that leaves its process can contain it",
    label = "neither a ROS 2 type nor a struct with `#[derive(Message)]`",
    note = "fields can be `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `String`, `WString`, and `Vec` and arrays of such types",
    note = "a message that stays in its process may contain anything: `impl Message for ..` {{}} instead of the derive"
)]
pub trait Field: Sized {
    /// The type of such a field in the description of a struct, and thereby in the struct's hash.
    const TYPE: ConstFieldType;
    /// The alignment of the first encoded byte: 1, 2, 4 or 8.
    const ALIGNMENT: usize;
    /// Minimum encoded length in bytes, at least 1. Limits the lengths that a decoder accepts.
    const LEAST: usize;

    /// Returns the offset where this value ends if the bytes before it end at `at`.
    fn end(&self, at: usize) -> usize;

    /// Encodes the value. Panics if it doesn't fit.
    fn encode(&self, encoder: &mut Encoder<'_>);

    /// Decodes a value.
    ///
    /// # Errors
    /// [`Fault`] if the bytes end too early or don't hold a valid value.
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault>;

    /// Decodes into this value and reuses its allocations. After an error the value is valid but
    /// unspecified.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        *self = Self::decode(decoder)?;
        Ok(())
    }

    /// Returns the offset where these values, one after the other, end if the bytes before them end
    /// at `at`.
    fn end_slice(values: &[Self], at: usize) -> usize {
        values.iter().fold(at, |at, value| value.end(at))
    }

    /// Encodes these values.
    fn encode_slice(values: &[Self], encoder: &mut Encoder<'_>) {
        values.iter().for_each(|value| value.encode(encoder));
    }

    /// Decodes into these values.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    fn decode_slice(values: &mut [Self], decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        values.iter_mut().try_for_each(|value| value.decode_into(decoder))
    }

    /// Decodes an array. The array is built on the stack.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    fn decode_array<const N: usize>(decoder: &mut Decoder<'_>) -> Result<[Self; N], Fault> {
        let mut fault = None;
        let values = array::from_fn::<_, N, _>(|_| {
            // After a fault the decoder's position is undefined.
            if fault.is_some() {
                return None;
            }
            Self::decode(decoder).map_err(|first| fault = Some(first)).ok()
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(values.map(|value| value.expect("without a fault, each was decoded"))),
        }
    }

    /// Decodes a sequence of `count` elements into `values`. `count` comes from [`Decoder::count`].
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    fn decode_sequence(values: &mut Vec<Self>, count: usize, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        values.truncate(count);
        Self::decode_slice(values, decoder)?;
        // A value may be larger in memory than encoded. A false length must not cost more memory
        // than the message itself, so no more bytes are reserved at once than remain in the
        // message.
        let missing = count - values.len();
        values.reserve_exact(missing.min(decoder.left() / size_of::<Self>().max(1)));
        for _ in 0..missing {
            values.push(Self::decode(decoder)?);
        }
        Ok(())
    }
}

/// A struct with [`derive(Message)`](macro@crate::Message): a field that has a name of its own.
pub trait Structure: Field {
    /// The ROS 2 type name, e.g. `sensor_msgs/msg/Image`.
    const NAME: &'static str;
    /// The fields and their types, from which other programs learn to decode the messages.
    const DESCRIPTION: &'static ConstDescription;
    /// The hash of the description. (An implementation that knows the hash can spare the compiler
    /// the work.)
    const HASH: TypeHash = Self::DESCRIPTION.hash();
    /// Returns the value's time stamp in nanoseconds; `None` if the type has no stamp.
    const STAMP: Option<fn(&Self) -> i64> = None;
}
