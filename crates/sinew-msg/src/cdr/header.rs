//! The header of an encoded message, and the alignment that counts from its end.

/// Length of the header in bytes. Alignment counts from its end.
pub const HEADER_SIZE: usize = 4;

/// The header of every message written here: little-endian CDR, no options.
pub const HEADER: [u8; HEADER_SIZE] = [0, 1, 0, 0];

/// Returns the first multiple of `alignment`, a power of two, from `at` on.
#[must_use]
#[inline]
pub const fn aligned(at: usize, alignment: usize) -> usize {
    debug_assert!(alignment.is_power_of_two());
    (at + alignment - 1) & !(alignment - 1)
}
