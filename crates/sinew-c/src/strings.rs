//! Lists of texts that functions return.

use crate::array::Texts;
use crate::handle::{self, handle};
use crate::status::answer;
use std::ffi::c_char;

/// A list of texts that a function returned.
pub struct sinew_strings {
    _opaque: (),
}
handle!(sinew_strings: Texts);

/// Frees a list; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_strings_free(strings: *mut sinew_strings) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(strings, "strings") };
}

/// Returns the number of texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_strings_length(strings: *const sinew_strings) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(strings, "strings") }?.len()))
}

/// Returns one of the texts, counted from 0. It lives as long as the list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_strings_at(strings: *const sinew_strings, index: usize) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || unsafe { handle::get(strings, "strings") }?.at(index))
}
