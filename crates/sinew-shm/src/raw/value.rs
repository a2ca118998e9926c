//! Values that can be written and read, and their origin.

use crate::platform::sys;
use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use std::ops::Deref;
use std::time::Duration;

/// A value of a topic, queue or variable: a plain type, or a slice of one.
///
/// A plain type implements `bytemuck`'s `NoUninit` and `AnyBitPattern` (both follow from its
/// `Pod`): all of it may be viewed as bytes, and any bytes of its size are a valid value.
///
/// ```
/// use sinew_shm::raw::Value;
/// assert_eq!(<[f32; 3]>::type_name(), "[f32; 3]");
/// assert_eq!(Value::bytes(&[1u8, 2][..]), [1, 2]);
/// ```
pub trait Value: 'static {
    /// The type that a reader gets: the type itself, or a `Vec`.
    type Owned;
    /// Size in bytes of a value, or of an element of the slice.
    const SIZE: usize;
    /// Whether values may have different lengths.
    const IS_SLICE: bool;
    /// Returns the type's name without modules.
    fn type_name() -> String;
    /// Returns the value's bytes.
    fn bytes(&self) -> &[u8];
    /// Returns a value to read into: zeros, or an empty `Vec`, which allocates nothing.
    fn empty() -> Self::Owned;
    /// Copies a value from its bytes. Returns `false` if their number is invalid for the type.
    /// Allocates only if a `Vec` is too small.
    fn copy_from(bytes: &[u8], to: &mut Self::Owned) -> bool;
}

impl<T: NoUninit + AnyBitPattern> Value for T {
    type Owned = T;
    const SIZE: usize = size_of::<T>();
    const IS_SLICE: bool = false;

    fn type_name() -> String {
        without_modules(std::any::type_name::<T>())
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::bytes_of(self)
    }

    fn empty() -> T {
        T::zeroed()
    }

    fn copy_from(bytes: &[u8], to: &mut T) -> bool {
        let fits = bytes.len() == size_of::<T>();
        if fits {
            bytemuck::bytes_of_mut(to).copy_from_slice(bytes);
        }
        fits
    }
}

impl<T: NoUninit + AnyBitPattern> Value for [T] {
    type Owned = Vec<T>;
    const SIZE: usize = size_of::<T>();
    const IS_SLICE: bool = true;

    fn type_name() -> String {
        without_modules(std::any::type_name::<[T]>())
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    fn empty() -> Vec<T> {
        Vec::new()
    }

    fn copy_from(bytes: &[u8], to: &mut Vec<T>) -> bool {
        if size_of::<T>() == 0 || !bytes.len().is_multiple_of(size_of::<T>()) {
            return bytes.is_empty();
        }
        to.resize(bytes.len() / size_of::<T>(), Zeroable::zeroed());
        bytemuck::cast_slice_mut(to).copy_from_slice(bytes);
        true
    }
}

/// Programs that agree on a type seldom have it in modules of the same name.
fn without_modules(name: &str) -> String {
    let mut short = String::new();
    for part in
        name.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':')
    {
        short.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    short
}

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// When the value was written: nanoseconds of the machine's monotonic clock, the same for all
    /// its processes.
    pub stamp: i64,
    /// The [id](super::Space::id) of the writing process's participant, which no other participant
    /// has or had.
    pub writer: u64,
}

impl Origin {
    /// Returns the time since the value was written.
    pub fn age(&self) -> Duration {
        Duration::from_nanos(sys::steady().saturating_sub(self.stamp).try_into().unwrap_or(0))
    }
}

/// A value that was read, and its origin. Dereferences to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<V> {
    /// The value.
    pub value: V,
    /// The origin of the value.
    pub origin: Origin,
}

impl<V> Deref for Sample<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_have_no_modules() {
        assert_eq!(without_modules("[f32; 3]"), "[f32; 3]");
        assert_eq!(without_modules("robot::arm::Pose"), "Pose");
        assert_eq!(without_modules("core::option::Option<robot::Pose>"), "Option<Pose>");
        assert_eq!(without_modules("(alloc::vec::Vec<u8>, a::B)"), "(Vec<u8>, B)");
    }

    #[test]
    fn bytes_of_another_number_are_no_value() {
        let (mut number, mut numbers) = (7u32, vec![7u32]);
        assert!(!u32::copy_from(&[1, 2, 3], &mut number));
        assert!(!<[u32]>::copy_from(&[1, 2, 3], &mut numbers));
        assert!(<[u32]>::copy_from(&[1, 0, 0, 0, 2, 0, 0, 0], &mut numbers));
        assert_eq!((number, numbers), (7, vec![1, 2]));
    }
}
