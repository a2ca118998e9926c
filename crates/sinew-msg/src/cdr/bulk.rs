//! Encoding and decoding of many plain values at once.
//!
//! Plain values are copied as bytes where their encoding equals their form in memory. It differs if
//! the message has the other byte order, or if a struct is off its alignment: CDR aligns the fields
//! of a struct, not the struct itself. Then each value is converted individually.
//!
//! These functions are the fast paths behind the methods of [`Field`] with the same names.

use super::decoder::{Decoder, Fault};
use super::encoder::Encoder;
use super::field::Field;
use super::header::aligned;
use crate::plain::Plain;
use bytemuck::{cast_slice, cast_slice_mut, pod_read_unaligned, try_cast_slice};

/// Returns whether the little-endian encoding of values that begin at `at` equals their form in
/// memory.
#[inline]
fn in_place<T: Plain>(at: usize) -> bool {
    cfg!(target_endian = "little") && at.is_multiple_of(align_of::<T>())
}

/// Returns the offset where these values end if the bytes before them end at `at`.
#[inline]
pub fn end_slice<T: Plain + Field>(values: &[T], at: usize) -> usize {
    let start = aligned(at, T::ALIGNMENT);
    if values.is_empty() {
        at
    } else if in_place::<T>(start) {
        start + size_of_val(values)
    } else {
        values.iter().fold(at, |at, value| value.end(at))
    }
}

/// Encodes these values.
#[inline]
pub fn encode_slice<T: Plain + Field>(values: &[T], encoder: &mut Encoder<'_>) {
    if values.is_empty() {
        return; // an empty sequence has no alignment padding
    }
    encoder.align(T::ALIGNMENT);
    if in_place::<T>(encoder.position()) {
        encoder.write(cast_slice(values));
    } else {
        values.iter().for_each(|value| value.encode(encoder));
    }
}

impl<'a> Encoder<'a> {
    /// Reserves space for a sequence of `count` elements after its length, for the caller to fill.
    /// The bytes there stay unchanged.
    ///
    /// Returns `None` if the encoding differs from the form in memory: the position is off the
    /// alignment of the values, or the machine is big-endian. Panics if there is not enough room,
    /// or if `count` is 2³² or more.
    pub fn leave<T: Plain + Field>(&mut self, count: usize) -> Option<&'a mut [T]> {
        self.write_length(count);
        if count == 0 {
            return Some(&mut []);
        }
        self.align(T::ALIGNMENT);
        if !in_place::<T>(self.position()) {
            return None;
        }
        let bytes = self.take(count.checked_mul(size_of::<T>())?);
        bytemuck::try_cast_slice_mut(bytes).ok()
    }
}

/// Returns the bytes of the next `count` values if their encoding equals their form in memory.
#[inline]
fn take_in_place<'a, T: Plain + Field>(
    count: usize,
    decoder: &mut Decoder<'a>,
) -> Result<Option<&'a [u8]>, Fault> {
    decoder.align(T::ALIGNMENT);
    if decoder.is_native() && in_place::<T>(decoder.position()) {
        decoder.take(count.saturating_mul(size_of::<T>())).map(Some)
    } else {
        Ok(None)
    }
}

/// Returns a borrow of the next `count` values if their encoding equals their form in memory.
/// Otherwise reads nothing.
pub(crate) fn take_slice<'a, T: Plain + Field>(count: usize, decoder: &mut Decoder<'a>) -> Option<&'a [T]> {
    let mut ahead = decoder.clone();
    let values = match count {
        0 => &[],
        _ => try_cast_slice(take_in_place::<T>(count, &mut ahead).ok()??).ok()?,
    };
    *decoder = ahead;
    Some(values)
}

/// Decodes into these values.
///
/// # Errors
/// [`Fault`] if the bytes end too early.
#[inline]
pub fn decode_slice<T: Plain + Field>(values: &mut [T], decoder: &mut Decoder<'_>) -> Result<(), Fault> {
    if values.is_empty() {
        return Ok(());
    }
    match take_in_place::<T>(values.len(), decoder)? {
        Some(bytes) => cast_slice_mut(values).copy_from_slice(bytes),
        None => values.iter_mut().try_for_each(|value| value.decode_into(decoder))?,
    }
    Ok(())
}

/// Decodes an array.
///
/// # Errors
/// [`Fault`] if the bytes end too early.
#[inline]
pub fn decode_array<T: Plain + Field, const N: usize>(decoder: &mut Decoder<'_>) -> Result<[T; N], Fault> {
    let mut values = [T::zeroed(); N];
    decode_slice(&mut values, decoder)?;
    Ok(values)
}

/// Decodes a sequence of `count` elements into `values`, and reuses its allocation if it is large
/// enough.
///
/// # Errors
/// [`Fault`] if the bytes end too early.
#[inline]
pub fn decode_sequence<T: Plain + Field>(
    values: &mut Vec<T>,
    count: usize,
    decoder: &mut Decoder<'_>,
) -> Result<(), Fault> {
    values.clear();
    if count == 0 {
        return Ok(());
    }
    let Some(bytes) = take_in_place::<T>(count, decoder)? else {
        // [`Decoder::count`] has checked that the bytes are there, and a plain value has the same
        // size in memory.
        values.reserve_exact(count);
        for _ in 0..count {
            values.push(T::decode(decoder)?);
        }
        return Ok(());
    };
    match try_cast_slice(bytes) {
        Ok(aligned) => values.extend_from_slice(aligned),
        // The message itself lies at an unaligned address.
        Err(_) => values.extend(bytes.chunks_exact(size_of::<T>()).map(pod_read_unaligned::<T>)),
    }
    Ok(())
}
