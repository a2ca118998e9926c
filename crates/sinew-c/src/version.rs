//! The version of the library.

use std::ffi::{CStr, c_char};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("the version has no NUL"),
};

/// The text as it lies in this copy of the library: each copy in a process has its own.
static TEXT: &CStr = VERSION;

/// Returns the version of the library, for example "0.1.0". Copies of the library in one process
/// return pointers to texts of their own. The text lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_version() -> *const c_char {
    TEXT.as_ptr()
}
