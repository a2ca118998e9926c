//! Structures that begin with their size, so that a library reads those of older and newer
//! programs.

use crate::status::{Failure, Result};
use sinew::error::ErrorCode;

/// A structure of the header: its first field is `size: usize`, and zero is the default
/// of every field.
///
/// # Safety
/// It is `repr(C)`, begins with the size, and all bits zero are a valid value of it.
pub(crate) unsafe trait Structure: Copy {
    /// Its name in C.
    const NAME: &str;
}

/// Copies the caller's structure: what it lacks is zero. Null is a structure of zeros.
///
/// # Safety
/// It is null, or can be read for the number of bytes that it begins with.
pub(crate) unsafe fn structure<S: Structure>(from: *const S) -> Result<S> {
    let whole = size_of::<S>();
    // SAFETY: all bits zero are valid, as the trait says.
    let mut copy: S = unsafe { std::mem::zeroed() };
    if from.is_null() {
        return Ok(copy);
    }
    // SAFETY: as the caller says.
    let size = unsafe { size_of_callers(from) }?;
    let bytes = from.cast::<u8>();
    // What this library doesn't know must be unset: nothing is ignored silently.
    for place in whole..size {
        // SAFETY: within its size.
        let byte = unsafe { bytes.add(place) };
        // SAFETY: it can be read.
        if unsafe { byte.read() } != 0 {
            let sentence = format_args!(
                "{} has {size} bytes and sets a field beyond the {whole} that this library knows: it needs a newer library",
                S::NAME
            );
            return Err(Failure::new(ErrorCode::InvalidStructure, sentence));
        }
    }
    // SAFETY: both have that many bytes; the copy is the function's own.
    unsafe { std::ptr::copy_nonoverlapping(bytes, (&raw mut copy).cast::<u8>(), size.min(whole)) };
    Ok(copy)
}

/// Returns the size with which the caller's structure begins.
///
/// # Safety
/// It can be read for the number of bytes that it begins with.
unsafe fn size_of_callers<S: Structure>(from: *const S) -> Result<usize> {
    let whole = size_of::<S>();
    // SAFETY: it begins with its size, and can be read.
    let size = unsafe { from.cast::<usize>().read_unaligned() };
    if size < size_of::<usize>() || size > whole.saturating_mul(16) {
        let sentence = format_args!(
            "{} begins with its size, which can't be {size}: this library's has {whole} bytes; set `.size = sizeof(..)`",
            S::NAME
        );
        return Err(Failure::new(ErrorCode::InvalidStructure, sentence));
    }
    Ok(size)
}

/// The caller's structure for a result. Its size says how much of the result it has room for.
pub(crate) struct Place<S> {
    place: *mut S,
    size: usize,
}

impl<S: Structure> Place<S> {
    /// Checks the structure, so that nothing is taken for which there is no place.
    ///
    /// # Safety
    /// It is null, or begins with its size, and can be written for that number of bytes until it is
    /// filled.
    pub(crate) unsafe fn new(place: *mut S, argument: &str) -> Result<Self> {
        if place.is_null() {
            return Err(Failure::null(argument));
        }
        // SAFETY: as the caller says.
        let size = unsafe { size_of_callers(place) }?;
        Ok(Self { place, size })
    }

    /// Writes the result. The size stays; fields that this library doesn't know become zero.
    pub(crate) fn fill(self, value: S) {
        let first = size_of::<usize>();
        let known = self.size.min(size_of::<S>());
        let (from, to) = ((&raw const value).cast::<u8>(), self.place.cast::<u8>());
        // SAFETY: both have `known` bytes, at least those of the size.
        let from = unsafe { from.add(first) };
        // SAFETY: as above.
        let fields = unsafe { to.add(first) };
        // SAFETY: as above; the value is the function's own.
        unsafe { std::ptr::copy_nonoverlapping(from, fields, known - first) };
        // SAFETY: within the caller's structure.
        let unknown = unsafe { to.add(known) };
        // SAFETY: as above.
        unsafe { unknown.write_bytes(0, self.size - known) };
    }
}
