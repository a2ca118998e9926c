//! Pointers of C that are dropped by a function of C.

use std::ffi::c_void;

/// Frees the context of a callback, when the library calls it no more. It may run on any thread.
pub type sinew_drop = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// A pointer of C, which its function drops with this value.
#[derive(Debug)]
pub(crate) struct Owned {
    pointer: *mut c_void,
    drop: sinew_drop,
}

// SAFETY: the header asks for pointers that any thread may use and drop; the library only passes
// them on.
unsafe impl Send for Owned {}
// SAFETY: as above; where several threads get a pointer at once, the header says so.
unsafe impl Sync for Owned {}

impl Owned {
    pub(crate) fn new(pointer: *mut c_void, drop: sinew_drop) -> Self {
        Self { pointer, drop }
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: it is the function for this pointer, called once.
            unsafe { drop(self.pointer) };
        }
    }
}
