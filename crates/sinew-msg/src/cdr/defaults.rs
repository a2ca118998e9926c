//! Default values of bounded types, in generated code. The parser has checked them.

use super::bounded::BoundedVec;

/// A bounded string.
#[doc(hidden)]
pub fn bounded_text<T: for<'a> TryFrom<&'a str>>(text: &str) -> T {
    T::try_from(text).ok().expect("a default value is within its bound")
}

/// A bounded sequence.
#[doc(hidden)]
pub fn bounded_sequence<T, const N: usize, const BOUND: usize>(values: [T; N]) -> BoundedVec<T, BOUND> {
    Vec::from(values).try_into().expect("a default value is within its bound")
}
