//! Decoding of fields in generated code, with faults that name the field.

use super::decoder::{Decoder, Fault};
use super::field::Field;

/// Decodes a field of a type into a value.
// Always inline: only the caller knows the names, and whether to inline `decode_into`.
#[doc(hidden)]
#[inline(always)]
pub fn decode_field<T: Field>(
    value: &mut T,
    decoder: &mut Decoder<'_>,
    type_name: &'static str,
    field: &'static str,
) -> Result<(), Fault> {
    value.decode_into(decoder).map_err(|fault| fault.in_field(type_name, field))
}
