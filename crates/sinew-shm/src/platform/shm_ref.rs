//! References to memory that several processes share (in a model, several threads).
//!
//! Everything in shared memory consists of atomics, so a shared reference to it is sound whatever
//! process writes there. A [`ShmRef`] is such a reference together with an owner that keeps the
//! memory mapped.

use crate::platform::sync::Arc;
use crate::platform::sys::Mapping;
use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;

/// A type that may lie in memory which other processes write at any time.
///
/// # Safety
/// It consists of atomics only (or arrays and `repr(C)` structs of them), has no padding, and every
/// bit pattern is valid.
pub(crate) unsafe trait Record {}

// SAFETY: atomics, for which every bit pattern is valid.
unsafe impl Record for crate::platform::sync::AtomicU64 {}
// SAFETY: as above.
unsafe impl Record for crate::platform::sync::AtomicU32 {}

/// A reference to a `T` in shared memory, which it keeps mapped.
pub(crate) struct ShmRef<T: ?Sized> {
    at: NonNull<T>,
    keep: Arc<dyn Any + Send + Sync>,
}

// SAFETY: it gives `&T` to atomics only (`Record`), and the memory lives as long as `keep`, on any
// thread.
unsafe impl<T: ?Sized> Send for ShmRef<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for ShmRef<T> {}

impl<T: ?Sized> Deref for ShmRef<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `at` was checked to lie within the memory that `keep` keeps, is aligned, and all
        // of it is atomics.
        unsafe { self.at.as_ref() }
    }
}

impl<T: ?Sized> Clone for ShmRef<T> {
    fn clone(&self) -> Self {
        Self { at: self.at, keep: self.keep.clone() }
    }
}

impl<T: ?Sized> fmt::Debug for ShmRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({:p})", self.at)
    }
}

impl<T: Record> ShmRef<T> {
    /// The record at `offset` of a mapping; `None` if it would not lie within the mapping, or not
    /// be aligned.
    pub(crate) fn at(mapping: &Arc<Mapping>, offset: usize) -> Option<Self> {
        let slice = ShmRef::<[T]>::slice(mapping, offset, 1)?;
        Some(Self { at: slice.at.cast(), keep: slice.keep })
    }
}

impl<T: Record> ShmRef<[T]> {
    /// `count` records from `offset` of a mapping on; `None` if they would not lie within the
    /// mapping, or not be aligned.
    pub(crate) fn slice(mapping: &Arc<Mapping>, offset: usize, count: usize) -> Option<Self> {
        let length = count.checked_mul(size_of::<T>())?;
        let end = offset.checked_add(length)?;
        if end > mapping.length() || !offset.is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: `offset` is within the mapping, or one past its end if `count` is 0.
        let first = unsafe { mapping.base().add(offset) };
        Some(Self { at: NonNull::slice_from_raw_parts(first.cast(), count), keep: mapping.clone() })
    }
}

impl<T: Record + Send + Sync + 'static> ShmRef<[T]> {
    /// Ordinary memory, for models and tests of the protocols.
    #[cfg(test)]
    pub(crate) fn of(records: Vec<T>) -> Self {
        let keep: Arc<Vec<T>> = Arc::new(records);
        let at = NonNull::from(keep.as_slice());
        Self { at, keep }
    }
}

#[cfg(all(test, loom))]
impl<T: Record + Send + Sync + 'static> ShmRef<T> {
    /// Ordinary memory, for models of the protocols.
    pub(crate) fn alone(record: T) -> Self {
        let keep: Arc<T> = Arc::new(record);
        let at = NonNull::from(&*keep);
        Self { at, keep }
    }
}
