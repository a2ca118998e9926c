//! Runs: the bytes of several fields, with one bounds check and one alignment.

use super::decoder::{Decoder, Fault, NO_BOOL};
use super::encoder::Encoder;
use super::field::Field;
use crate::plain::Plain;
use bytemuck::{bytes_of, bytes_of_mut, cast_slice};

impl<'a> Decoder<'a> {
    /// Reads the next `LENGTH` bytes from a multiple of `alignment` on, for fields at fixed offsets
    /// in them. `fields` are the names of the fields in order, each with the offset of its end.
    ///
    /// # Errors
    /// [`Fault`] if there are fewer bytes. It names the field that is cut off.
    #[inline]
    pub fn run<const LENGTH: usize>(
        &mut self,
        alignment: usize,
        type_name: &'static str,
        fields: &'static [(usize, &'static str)],
    ) -> Result<DecoderRun<'a, LENGTH>, Fault> {
        self.align(alignment);
        let (begin, big_endian) = (self.position(), self.is_big_endian());
        match self.take_chunk() {
            Some(bytes) => Ok(DecoderRun { bytes, begin, big_endian, type_name, fields }),
            None => Err(self.run_ends(type_name, fields)),
        }
    }

    #[cold]
    fn run_ends(&self, type_name: &'static str, fields: &[(usize, &'static str)]) -> Fault {
        let cut = fields.iter().find(|(end, _)| *end > self.left());
        let (end, name) = cut.copied().unwrap_or((self.left() + 1, "(fields)"));
        self.ends_before(self.position().saturating_add(end)).in_field(type_name, name)
    }
}

/// Bytes of several fields, with one bounds check and one alignment.
#[derive(Debug)]
pub struct DecoderRun<'a, const LENGTH: usize> {
    bytes: &'a [u8; LENGTH],
    /// Offset of the run, in bytes after the header.
    begin: usize,
    big_endian: bool,
    type_name: &'static str,
    fields: &'static [(usize, &'static str)],
}

impl<const LENGTH: usize> DecoderRun<'_, LENGTH> {
    /// Reads the value at this offset, a multiple of the value's alignment, into `value`. The run
    /// must have at least the same alignment. Panics if the value ends after the run.
    #[inline]
    pub fn copy<T: Plain + Field>(&self, offset: usize, value: &mut T) {
        let bytes = &self.bytes[offset..offset + size_of::<T>()];
        if self.big_endian == cfg!(target_endian = "big") {
            bytes_of_mut(value).copy_from_slice(bytes);
        } else {
            copy_turned(bytes, self.big_endian, value);
        }
    }

    /// As [`copy`](Self::copy), but returns a new value.
    #[inline]
    #[must_use]
    pub fn value<T: Plain + Field>(&self, offset: usize) -> T {
        let mut value = T::zeroed();
        self.copy(offset, &mut value);
        value
    }

    /// Reads the `bool` at this offset. Panics if it lies after the run.
    ///
    /// # Errors
    /// [`Fault`] if the byte is neither 0 nor 1.
    #[inline]
    pub fn bool(&self, offset: usize) -> Result<bool, Fault> {
        match self.bytes[offset] {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.no_bool(offset)),
        }
    }

    #[cold]
    fn no_bool(&self, offset: usize) -> Fault {
        let name = self.fields.iter().find(|(end, _)| *end > offset).map_or("(fields)", |(_, name)| name);
        Fault::invalid(self.begin + offset, NO_BOOL).in_field(self.type_name, name)
    }
}

/// The slow path for the other byte order: number by number.
#[cold]
fn copy_turned<T: Plain + Field>(bytes: &[u8], big_endian: bool, value: &mut T) {
    let decoded = T::decode(&mut Decoder::over(bytes, big_endian));
    *value = decoded.expect("the bytes are there, and every pattern of them is a value");
}

impl<'a> Encoder<'a> {
    /// Takes the next `LENGTH` bytes from a multiple of `alignment` on, for fields at fixed offsets
    /// in them. Panics if there is not enough room.
    #[inline]
    pub fn run<const LENGTH: usize>(&mut self, alignment: usize) -> EncoderRun<'a, LENGTH> {
        self.align(alignment);
        let bytes = self.take(LENGTH);
        EncoderRun { bytes: bytes.try_into().expect("as many bytes as were asked for") }
    }
}

/// Bytes for several fields, with one bounds check and one alignment.
#[derive(Debug)]
pub struct EncoderRun<'a, const LENGTH: usize> {
    bytes: &'a mut [u8; LENGTH],
}

impl<const LENGTH: usize> EncoderRun<'_, LENGTH> {
    /// Writes a value at this offset, a multiple of the value's alignment. The run must have at
    /// least the same alignment. Panics if the value would end after the run.
    #[inline]
    pub fn put<T: Plain + Field>(&mut self, offset: usize, value: &T) {
        let place = &mut self.bytes[offset..offset + size_of::<T>()];
        if cfg!(target_endian = "little") {
            place.copy_from_slice(bytes_of(value));
        } else {
            value.encode(&mut Encoder::into(place));
        }
    }

    /// Writes `bool`s at this offset. Panics if they would end after the run.
    #[inline]
    pub fn put_bools(&mut self, offset: usize, values: &[bool]) {
        self.bytes[offset..offset + values.len()].copy_from_slice(cast_slice(values));
    }
}
