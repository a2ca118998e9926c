//! Messages of other processes that are read in place.

use crate::hazards::holds::Mark;
use crate::own::own_state::OwnState;
use crate::platform::sync::Arc;
use crate::platform::sys::Mapping;
use std::fmt;

/// An encoded message in its writer's memory, which the writer leaves unchanged while this lives.
/// May be dropped on any thread.
pub struct Hold {
    own: Arc<OwnState>,
    mark: Mark,
    mapping: Arc<Mapping>,
    offset: usize,
    length: usize,
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold({} bytes)", self.length)
    }
}

impl Hold {
    /// The caller has set and checked the mark (H5); the place is within the memory that is mapped
    /// and reserved.
    pub(crate) fn new(
        own: &Arc<OwnState>,
        mark: Mark,
        (mapping, offset): (Arc<Mapping>, usize),
        length: usize,
    ) -> Self {
        assert!(offset.checked_add(length).is_some_and(|end| end <= mapping.length()), "a checked place");
        Self { own: own.clone(), mark, mapping, offset, length }
    }

    /// Returns the encoded message; byte 4 is 16-aligned, unless the writer is broken.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the offset is within the mapping, which `new` checked.
        let encoded = unsafe { self.mapping.base().add(self.offset) };
        // SAFETY: so is the range; the mapping lives with `self`, and the writer doesn't write
        // (module doc).
        unsafe { std::slice::from_raw_parts(encoded.as_ptr(), self.length) }
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        if !self.own.is_forked() {
            self.own.give_back(&self.mark); // H7
        }
    }
}
