//! Texts from C, and for it.

pub(crate) use crate::c_string::c_text;
use crate::status::{Failure, Result};
use sinew::error::ErrorCode;
use std::borrow::Cow;
use std::ffi::{CStr, c_char};

/// Returns the caller's text, or `None` if it is null.
///
/// # Safety
/// It is null, or ends with a NUL and is not changed during `'a`.
pub(crate) unsafe fn optional_text<'a>(text: *const c_char, argument: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller says.
    let text = unsafe { CStr::from_ptr(text) };
    let failure = |error| {
        Failure::new(
            ErrorCode::InvalidUtf8,
            format_args!("`{argument}` is not UTF-8: {error}; it begins with {text:?}"),
        )
    };
    text.to_str().map(Some).map_err(failure)
}

/// Returns the caller's text, which must not be null.
///
/// # Safety
/// As of [`optional_text`].
pub(crate) unsafe fn text<'a>(text: *const c_char, argument: &str) -> Result<&'a str> {
    // SAFETY: as the caller says.
    unsafe { optional_text(text, argument) }?.ok_or_else(|| Failure::null(argument))
}

/// Returns a sentence of the caller's, for people, or `None` if it is null. What is not UTF-8 is
/// replaced: nothing fails for the text of an error, such as one that an exception carries.
///
/// # Safety
/// As of [`optional_text`].
pub(crate) unsafe fn optional_sentence<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: as the caller says.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// As [`optional_sentence`], of a text that must not be null.
///
/// # Safety
/// As of [`optional_text`].
pub(crate) unsafe fn sentence<'a>(text: *const c_char, argument: &str) -> Result<Cow<'a, str>> {
    // SAFETY: as the caller says.
    unsafe { optional_sentence(text) }.ok_or_else(|| Failure::null(argument))
}
