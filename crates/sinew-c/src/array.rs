//! Arrays from and for C.

use crate::status::{Failure, Result};
use crate::text::{c_text, text};
use sinew::error::ErrorCode;
use std::ffi::{CString, c_char};

/// Returns the caller's elements. Null is an array without any.
///
/// # Safety
/// `elements` is null, or has `count` valid elements that are not changed during `'a`.
pub(crate) unsafe fn array<'a, T>(elements: *const T, count: usize, argument: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if elements.is_null() {
        return Err(Failure::null(argument));
    }
    let most = isize::MAX.unsigned_abs() / size_of::<T>().max(1);
    if count > most {
        let sentence =
            format_args!("`{argument}` can't have {count} elements: at most {most} fit into memory");
        return Err(Failure::new(ErrorCode::InvalidStructure, sentence));
    }
    // SAFETY: as the caller says.
    Ok(unsafe { std::slice::from_raw_parts(elements, count) })
}

/// Returns the caller's texts, none of which may be null.
///
/// # Safety
/// As of [`array`]; each text ends with a NUL and is not changed during `'a`.
pub(crate) unsafe fn texts<'a>(
    texts: *const *const c_char,
    count: usize,
    argument: &str,
) -> Result<Vec<&'a str>> {
    // SAFETY: as the caller says.
    let texts = unsafe { array(texts, count, argument) }?;
    // SAFETY: as the caller says.
    texts.iter().map(|&one| unsafe { text(one, argument) }).collect()
}

/// Texts for C: each by itself, and all as an array of pointers.
#[derive(Default)]
pub(crate) struct Texts {
    _texts: Vec<Option<CString>>,
    /// To each of the texts, which keep their addresses.
    pointers: Vec<*const c_char>,
}

// SAFETY: the pointers are to the texts beside them, which nothing changes.
unsafe impl Send for Texts {}
// SAFETY: as above.
unsafe impl Sync for Texts {}

impl Texts {
    pub(crate) fn new(texts: impl IntoIterator<Item = String>) -> Self {
        Self::with_gaps(texts.into_iter().map(Some))
    }

    /// With null for each text that is missing.
    pub(crate) fn with_gaps(texts: impl IntoIterator<Item = Option<String>>) -> Self {
        let texts: Vec<Option<CString>> = texts.into_iter().map(|text| text.map(c_text)).collect();
        let pointer = |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
        let pointers = texts.iter().map(pointer).collect();
        Self { _texts: texts, pointers }
    }

    pub(crate) fn len(&self) -> usize {
        self.pointers.len()
    }

    /// Returns the array; it lives as long as this value.
    pub(crate) fn pointers(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }

    /// Returns one of the texts, which lives as long as this value.
    pub(crate) fn at(&self, index: usize) -> Result<*const c_char> {
        self.pointers.get(index).copied().ok_or_else(|| beyond(index, self.len()))
    }
}

/// The failure of an index that is too large.
pub(crate) fn beyond(index: usize, count: usize) -> Failure {
    let sentence = format_args!("`index` can't be {index}: there are {count}, counted from 0");
    Failure::new(ErrorCode::InvalidEnumerator, sentence)
}
