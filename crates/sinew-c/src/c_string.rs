//! Texts for C.

use std::ffi::CString;

/// Returns a text for C. What follows a NUL inside it is lost: C would not see it.
pub(crate) fn c_text(text: String) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        let mut bytes = error.into_vec();
        bytes.truncate(end);
        CString::new(bytes).unwrap_or_default()
    })
}
