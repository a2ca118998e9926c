//! `bool` and numbers.

use super::bulk;
use super::decoder::{Decoder, Fault, NO_BOOL};
use super::encoder::Encoder;
use super::field::Field;
use super::header::aligned;
use crate::description::{ConstFieldType, type_id};

macro_rules! numbers {
    ($($number:ident $id:ident)*) => {$(
        impl Field for $number {
            const TYPE: ConstFieldType = ConstFieldType::basic(type_id::$id);
            const ALIGNMENT: usize = size_of::<Self>();
            const LEAST: usize = size_of::<Self>();

            #[inline]
            fn end(&self, at: usize) -> usize {
                aligned(at, size_of::<Self>()) + size_of::<Self>()
            }

            #[inline]
            fn encode(&self, encoder: &mut Encoder<'_>) {
                encoder.align(size_of::<Self>());
                encoder.write(&self.to_le_bytes());
            }

            #[inline]
            fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
                decoder.align(size_of::<Self>());
                let bytes = decoder.take_array()?;
                Ok(if decoder.is_big_endian() { Self::from_be_bytes(bytes) } else { Self::from_le_bytes(bytes) })
            }

            #[inline]
            fn end_slice(values: &[Self], at: usize) -> usize {
                bulk::end_slice(values, at)
            }

            #[inline]
            fn encode_slice(values: &[Self], encoder: &mut Encoder<'_>) {
                bulk::encode_slice(values, encoder);
            }

            #[inline]
            fn decode_slice(values: &mut [Self], decoder: &mut Decoder<'_>) -> Result<(), Fault> {
                bulk::decode_slice(values, decoder)
            }

            fn decode_array<const N: usize>(decoder: &mut Decoder<'_>) -> Result<[Self; N], Fault> {
                bulk::decode_array(decoder)
            }

            fn decode_sequence(
                values: &mut Vec<Self>,
                count: usize,
                decoder: &mut Decoder<'_>,
            ) -> Result<(), Fault> {
                bulk::decode_sequence(values, count, decoder)
            }
        }
    )*};
}

numbers! {
    u8 UINT8
    u16 UINT16
    u32 UINT32
    u64 UINT64
    i8 INT8
    i16 INT16
    i32 INT32
    i64 INT64
    f32 FLOAT
    f64 DOUBLE
}

impl Field for bool {
    const TYPE: ConstFieldType = ConstFieldType::basic(type_id::BOOLEAN);
    const ALIGNMENT: usize = 1;
    const LEAST: usize = 1;

    #[inline]
    fn end(&self, at: usize) -> usize {
        at + 1
    }

    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.write(&[u8::from(*self)]);
    }

    #[inline]
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
        match decoder.take_array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(decoder.invalid(decoder.position() - 1, NO_BOOL)),
        }
    }

    #[inline]
    fn end_slice(values: &[Self], at: usize) -> usize {
        at + values.len()
    }

    #[inline]
    fn encode_slice(values: &[Self], encoder: &mut Encoder<'_>) {
        encoder.write(bytemuck::cast_slice(values));
    }

    fn decode_sequence(values: &mut Vec<Self>, count: usize, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        values.clear();
        let begin = decoder.position();
        let bytes = decoder.take(count)?;
        if let Some(wrong) = bytes.iter().position(|byte| *byte > 1) {
            return Err(decoder.invalid(begin + wrong, NO_BOOL));
        }
        values.extend(bytes.iter().map(|byte| *byte == 1));
        Ok(())
    }
}
