//! Strings, sequences and arrays.

use super::decoder::{Decoder, Fault};
use super::encoder::Encoder;
use super::field::Field;
use super::header::aligned;
use crate::description::{ConstFieldType, type_id};
use std::mem;
use std::string::FromUtf8Error;

/// Returns the bytes of the next string without a copy and without the NUL.
#[inline]
pub(crate) fn text_bytes<'a>(decoder: &mut Decoder<'a>) -> Result<&'a [u8], Fault> {
    let length = decoder.count(1)?;
    let begin = decoder.position();
    match decoder.take(length)? {
        [] => Ok(&[]), // some writers leave out the NUL of an empty string
        [text @ .., 0] => Ok(text),
        _ => Err(decoder.invalid(begin + length - 1, "a string ends with a NUL")),
    }
}

/// Returns the fault of the string that was just read and that `error` describes.
#[cold]
fn no_text(decoder: &Decoder<'_>, error: &FromUtf8Error) -> Fault {
    let begin = decoder.position() - error.as_bytes().len() - 1;
    decoder.invalid(begin + error.utf8_error().valid_up_to(), "a string is encoded in UTF-8")
}

/// Checks that the bytes are UTF-8 text. They are a copy, since the writer may still be changing
/// the original. Most are ASCII: names of frames and joints. For short ones, `String::from_utf8`
/// takes three times as many instructions (decision 0013).
#[inline]
#[expect(unsafe_code, reason = "a check that is quicker than the one for all of UTF-8")]
fn checked(bytes: Vec<u8>) -> Result<String, FromUtf8Error> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8, and the check above saw only ASCII; `bytes` is owned, so nothing
        // can change it since.
        return Ok(unsafe { String::from_utf8_unchecked(bytes) });
    }
    String::from_utf8(bytes)
}

impl Field for String {
    const TYPE: ConstFieldType = ConstFieldType::basic(type_id::STRING);
    const ALIGNMENT: usize = 4;
    const LEAST: usize = 4;

    #[inline]
    fn end(&self, at: usize) -> usize {
        aligned(at, 4) + 4 + self.len() + 1
    }

    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.write_text(self);
    }

    #[inline]
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
        let copy = text_bytes(decoder)?.to_vec();
        checked(copy).map_err(|error| no_text(decoder, &error))
    }

    #[inline]
    fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        let bytes = text_bytes(decoder)?;
        let mut copy = mem::take(self).into_bytes();
        copy.clear();
        copy.extend_from_slice(bytes);
        match checked(copy) {
            Ok(text) => {
                *self = text;
                Ok(())
            }
            Err(error) => {
                let fault = no_text(decoder, &error);
                let mut bytes = error.into_bytes();
                bytes.clear();
                *self = String::from_utf8(bytes).unwrap_or_default(); // empty, with the old allocation
                Err(fault)
            }
        }
    }
}

impl<T: Field> Field for Vec<T> {
    const TYPE: ConstFieldType = ConstFieldType::sequence(&T::TYPE);
    const ALIGNMENT: usize = 4;
    const LEAST: usize = 4;

    #[inline]
    fn end(&self, at: usize) -> usize {
        T::end_slice(self, aligned(at, 4) + 4)
    }

    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.write_length(self.len());
        T::encode_slice(self, encoder);
    }

    #[inline]
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
        let mut values = Vec::new();
        values.decode_into(decoder)?;
        Ok(values)
    }

    #[inline]
    fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        let count = decoder.count(T::LEAST)?;
        T::decode_sequence(self, count, decoder)
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    const TYPE: ConstFieldType = {
        // ROS 2 has no empty arrays; and a sequence could claim any number of elements without
        // bytes.
        assert!(N > 0, "an array in a message has at least one element");
        ConstFieldType::array(&T::TYPE, N)
    };
    const ALIGNMENT: usize = T::ALIGNMENT;
    const LEAST: usize = N * T::LEAST;

    #[inline]
    fn end(&self, at: usize) -> usize {
        T::end_slice(self, at)
    }

    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) {
        T::encode_slice(self, encoder);
    }

    #[inline]
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
        T::decode_array(decoder)
    }

    #[inline]
    fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        T::decode_slice(self, decoder)
    }
}
