//! Code that generated code repeats in many places.

/// Includes a module for each package that [`build::generate`](https://docs.rs/sinew-msg) has
/// generated.
#[macro_export]
macro_rules! include_interfaces {
    () => {
        include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
    };
}

/// Methods of [`Field`](crate::cdr::Field) that handle a slice of a plain type faster than element
/// by element.
#[doc(hidden)]
#[macro_export]
macro_rules! plain_slices {
    () => {
        fn end_slice(values: &[Self], at: usize) -> usize {
            $crate::cdr::bulk::end_slice(values, at)
        }

        fn encode_slice(values: &[Self], encoder: &mut $crate::cdr::Encoder<'_>) {
            $crate::cdr::bulk::encode_slice(values, encoder);
        }

        fn decode_slice(
            values: &mut [Self],
            decoder: &mut $crate::cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), $crate::cdr::Fault> {
            $crate::cdr::bulk::decode_slice(values, decoder)
        }

        fn decode_array<const N: usize>(
            decoder: &mut $crate::cdr::Decoder<'_>,
        ) -> ::core::result::Result<[Self; N], $crate::cdr::Fault> {
            $crate::cdr::bulk::decode_array(decoder)
        }

        fn decode_sequence(
            values: &mut ::std::vec::Vec<Self>,
            count: usize,
            decoder: &mut $crate::cdr::Decoder<'_>,
        ) -> ::core::result::Result<(), $crate::cdr::Fault> {
            $crate::cdr::bulk::decode_sequence(values, count, decoder)
        }
    };
}
