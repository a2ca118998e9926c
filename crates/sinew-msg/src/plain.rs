//! Values with the same bytes in memory as in their encoded form.
#![allow(
    unsafe_code,
    reason = "implementing `Plain` is a promise, and the one kind of unsafe code in this crate"
)]

use std::fmt;
use std::marker::PhantomData;

/// A type with the same bytes in memory as in its encoded form, so that values can be written and
/// read in place.
///
/// The encoded form of a plain message is 4 bytes of header and then the value's own bytes.
/// `#[message(plain)]` beside [`derive(Message)`](macro@crate::Message) proves this and implements
/// the trait; there is seldom a reason to do so by hand. Numbers and arrays of plain types are
/// plain. `bool`, `char` and enums are not: some of their bit patterns are invalid, and the bytes
/// are untrusted; use a `u8` instead. `String` and `Vec` are not, since they keep their contents
/// elsewhere.
///
/// # Safety
///
/// - `bytemuck::Pod` is implemented correctly: no padding anywhere (not even at the end), and every
///   bit pattern is valid.
/// - The alignment is at most 8 bytes: encoded messages guarantee no more.
/// - On a little-endian machine, the bytes of a value are its XCDR version 1 little-endian encoding
///   at every offset that is a multiple of its alignment.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain, so no plain message can contain it",
    label = "its bytes in memory are not its encoded form",
    note = "numbers, arrays of plain types and structs with `#[message(plain)]` are plain",
    note = "let a `u8` stand for a `bool` or an enum, or leave out `#[message(plain)]`"
)]
pub unsafe trait Plain: bytemuck::Pod + Send + Sync {}

/// Proof that `T` is [`Plain`], for code that does not have `T: Plain` as a bound.
///
/// It can be made only for a plain type, so unsafe code may rely on it.
///
/// ```
/// use sinew_msg::{Message, PlainProof};
///
/// #[derive(Message, Clone, Copy)]
/// #[message(plain)]
/// #[repr(C)]
/// struct Point {
///     x: f64,
///     y: f64,
/// }
/// let encoding = Point::ENCODING.unwrap();
/// assert_eq!(encoding.plain.is_some(), cfg!(target_endian = "little"));
///
/// let mut encoded = [0; 20];
/// (encoding.encode)(&Point { x: 1.0, y: -2.0 }, &mut encoded);
/// assert_eq!(encoded[4..12], 1f64.to_le_bytes());
/// ```
pub struct PlainProof<T> {
    // Neither owns a `T` nor borrows one.
    of: PhantomData<fn() -> T>,
}

impl<T: Plain> PlainProof<T> {
    /// Returns the proof for `T`; `None` on a big-endian machine, where the encoded form differs
    /// from memory.
    #[must_use]
    pub const fn new() -> Option<Self> {
        if cfg!(target_endian = "little") { Some(Self { of: PhantomData }) } else { None }
    }
}

impl<T> Clone for PlainProof<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PlainProof<T> {}

impl<T> fmt::Debug for PlainProof<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlainProof<{}>", std::any::type_name::<T>())
    }
}

// CDR aligns a number to its size. (32-bit x86 aligns 8-byte numbers to 4.)
const _: () = assert!(
    align_of::<u64>() == 8 && align_of::<i64>() == 8 && align_of::<f64>() == 8,
    "sinew-msg needs a target that aligns 8-byte numbers to 8 bytes"
);

macro_rules! plain {
    ($($number:ty)*) => {$(
        // SAFETY: a number has no padding and no invalid bit pattern; its little-endian bytes are
        // its encoding, which is aligned to its size, as it is in memory (asserted above for the
        // sizes where targets differ).
        unsafe impl Plain for $number {}
    )*};
}

plain!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

// SAFETY: an array has its element's alignment and nothing between elements, and CDR encodes it as
// its elements. They all lie at multiples of their alignment, since a type's size is one.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
