//! What the type of a field can do.

use super::decoder::{Decoder, Fault};
use super::encoder::Encoder;
use crate::description::{ConstDescription, ConstFieldType};
use crate::hash::TypeHash;
use std::array;

/// A type that a field of a message can have, if the message is to leave the process.
///
/// These are `bool`, integers of up to 64 bits, `f32`, `f64`, `String`,
/// [`WString`](super::WString), `Vec` and arrays of such types, their bounded kinds, and structs
/// with [`derive(Message)`](macro@crate::Message), which is also what calls the methods. Offsets
/// count from the end of the image's header.
///
/// The methods with `slice`, `array` and `sequence` in their name are what arrays and `Vec` use.
/// They go element by element unless the type has a faster way; numbers are copied all at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no image, so no message that leaves its process can contain it",
    label = "neither a ROS 2 type nor a struct with `#[derive(Message)]`",
    note = "fields can be `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `String`, `WString`, and `Vec` and arrays of such types",
    note = "a message that stays in its process may contain anything: `impl Message for ..` {{}} instead of the derive"
)]
pub trait Field: Sized {
    /// How a struct with such a field describes it, and what stands for it in the struct's hash.
    const TYPE: ConstFieldType;
    /// What the first byte of an image of this type is aligned to: 1, 2, 4 or 8.
    const ALIGNMENT: usize;
    /// How many bytes an image has at least, at least 1. Bounds the lengths that are believed.
    const LEAST: usize;

    /// Where this value ends if what is before it ends at `at`.
    fn end(&self, at: usize) -> usize;

    /// Writes the value. Panics if it doesn't fit.
    fn encode(&self, encoder: &mut Encoder<'_>);

    /// Reads a value.
    ///
    /// # Errors
    /// [`Fault`] if the image ends or doesn't hold a valid value.
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault>;

    /// Reads into this value, whose allocations are used again. After an error it is valid, but
    /// which it is, is unspecified.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        *self = Self::decode(decoder)?;
        Ok(())
    }

    /// Where these values end, one after the other, if what is before them ends at `at`.
    fn end_slice(values: &[Self], at: usize) -> usize {
        values.iter().fold(at, |at, value| value.end(at))
    }

    /// Writes these values.
    fn encode_slice(values: &[Self], encoder: &mut Encoder<'_>) {
        values.iter().for_each(|value| value.encode(encoder));
    }

    /// Reads into these values.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_slice(values: &mut [Self], decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        values.iter_mut().try_for_each(|value| value.decode_into(decoder))
    }

    /// Reads an array. It passes over the stack.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_array<const N: usize>(decoder: &mut Decoder<'_>) -> Result<[Self; N], Fault> {
        let mut fault = None;
        let values = array::from_fn::<_, N, _>(|_| {
            // After a fault the decoder stands anywhere.
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

    /// Reads a sequence of `count` elements into `values`. `count` comes from [`Decoder::count`].
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    fn decode_sequence(values: &mut Vec<Self>, count: usize, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        values.truncate(count);
        Self::decode_slice(values, decoder)?;
        // A value may be larger in memory than in the image. So that a length which lies can't cost
        // more memory than the image did, no more is reserved at once than the rest of the image is
        // long.
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
    /// Its fields and their types, from which others learn to read its images.
    const DESCRIPTION: &'static ConstDescription;
    /// The hash of the description. (Who knows it already, may spare the compiler the work.)
    const HASH: TypeHash = Self::DESCRIPTION.hash();
    /// When a value says that it was taken, in nanoseconds; `None` if the type says nothing of it.
    const STAMP: Option<fn(&Self) -> i64> = None;
}
