//! Rust types of parameters, and the cells that handles read.
//!
//! # Reading
//!
//! A cell is written by the thread with the turn to set (see `table`), and read by any thread at
//! any time, without a lock and without allocating: one atomic word for numbers, booleans and
//! enums, a counted reference (`arc-swap`) for all others. A cell's word orders no other memory, so
//! it is stored and loaded Relaxed.

use super::descriptor::{DoubleRange, IntegerRange, ParameterDescriptor};
use super::value::{ParameterType, ParameterValue};
use super::words;
use crate::sys::sync::{Arc, AtomicU64, Ordering};
use arc_swap::ArcSwap;
use std::any::Any;
use std::convert::identity;
use std::ops::RangeInclusive;

/// A Rust type that a parameter can have.
///
/// | Rust | ROS 2 | a handle reads |
/// |---|---|---|
/// | `bool`; `i64` and other integers; `f64`, `f32` | bool; integer; double | the value |
/// | an enum with `#[derive(Parameters)]` | string, one of its variants' names | the value |
/// | `String`; `Vec` of `u8`, `bool`, `i64`, `f64`, `String` | string; arrays | `Arc<T>` |
/// | `Option<T>` of these | that of `T`; `None` while it is not set | `Arc<Option<T>>` |
/// | [`ParameterValue`] | any | `Arc<ParameterValue>` |
///
/// Integers narrower than `i64` have the range of their type; a `u64` or `usize` above `i64::MAX`
/// is refused. An `f32` becomes the double with the same digits: 0.1 is 0.1.
#[diagnostic::on_unimplemented(
    message = "a parameter can't be of type `{Self}`",
    note = "it is a bool, a number, a `String`, a `Vec` of `u8`, `bool`, `i64`, `f64` or `String`, an `Option` of these, a `ParameterValue`, or an enum with `#[derive(Parameters)]`"
)]
pub trait ParameterField: Send + Sync + Sized + 'static {
    /// Its type.
    const TYPE: ParameterType;

    /// The cell that a handle reads.
    #[doc(hidden)]
    type Cell: ParameterCell<Self>;

    /// Converts a value to this type. The error is the reason why that fails.
    #[doc(hidden)]
    fn from_value(value: &ParameterValue) -> Result<Self, String>;

    /// Converts this to a value. The error is the reason why that fails.
    #[doc(hidden)]
    fn into_value(self) -> Result<ParameterValue, String>;

    /// Adds the type's own restrictions on values.
    #[doc(hidden)]
    fn constrain(_descriptor: &mut ParameterDescriptor) {}
}

/// The cell from which a handle reads a parameter's value.
#[doc(hidden)]
pub trait ParameterCell<T>: Send + Sync + 'static {
    /// The type that reading returns.
    type Read;

    fn new(value: T) -> Self;

    fn write(&self, value: T);

    fn read(&self) -> Self::Read;
}

/// A type with a range.
pub trait RangedField: ParameterField + Copy {
    /// Restricts values to the range.
    #[doc(hidden)]
    fn restrict(descriptor: &mut ParameterDescriptor, range: RangeInclusive<Self>, step: Option<Self>);
}

/// A value that fits into a word.
#[doc(hidden)]
pub trait OneWord: Copy + Send + Sync + 'static {
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Self;
}

/// The cell of a value that fits into a word.
#[doc(hidden)]
pub struct WordCell(AtomicU64);

impl<T: OneWord> ParameterCell<T> for WordCell {
    type Read = T;

    fn new(value: T) -> Self {
        Self(AtomicU64::new(value.to_word()))
    }

    fn write(&self, value: T) {
        self.0.store(value.to_word(), Ordering::Relaxed); // see the module
    }

    #[inline]
    fn read(&self) -> T {
        T::of_word(self.0.load(Ordering::Relaxed)) // see the module
    }
}

/// The cell of any other value.
#[doc(hidden)]
pub struct SharedCell<T>(ArcSwap<T>);

impl<T: Send + Sync + 'static> ParameterCell<T> for SharedCell<T> {
    type Read = Arc<T>;

    fn new(value: T) -> Self {
        Self(ArcSwap::from_pointee(value))
    }

    fn write(&self, value: T) {
        self.0.store(Arc::new(value));
    }

    #[inline]
    fn read(&self) -> Arc<T> {
        self.0.load_full()
    }
}

/// A parameter's cell as its table sees it.
pub(crate) trait Store: Send + Sync {
    /// Checks that the type of the handle can hold a value.
    fn check(&self, value: &ParameterValue) -> Result<(), String>;
    /// Stores a value that was checked.
    fn store(&self, value: &ParameterValue);
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// The cell of a parameter with its type.
pub(crate) struct Typed<T: ParameterField>(pub(crate) T::Cell);

impl<T: ParameterField> Store for Typed<T> {
    fn check(&self, value: &ParameterValue) -> Result<(), String> {
        T::from_value(value).map(drop)
    }

    fn store(&self, value: &ParameterValue) {
        if let Ok(value) = T::from_value(value) {
            self.0.write(value);
        }
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Returns the reason why a value is not of a type.
fn other_type<T: ParameterField>(value: &ParameterValue) -> String {
    words::other_type("it", T::TYPE, value)
}

impl OneWord for bool {
    fn to_word(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn of_word(word: u64) -> Self {
        word != 0
    }
}

impl ParameterField for bool {
    const TYPE: ParameterType = ParameterType::Bool;
    type Cell = WordCell;

    fn from_value(value: &ParameterValue) -> Result<Self, String> {
        match value {
            ParameterValue::Bool(value) => Ok(*value),
            other => Err(other_type::<Self>(other)),
        }
    }

    fn into_value(self) -> Result<ParameterValue, String> {
        Ok(ParameterValue::Bool(self))
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl OneWord for $type {
            #[allow(clippy::cast_lossless, clippy::cast_sign_loss, reason = "the word comes back as it went")]
            fn to_word(self) -> u64 {
                self as u64
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "of `to_word`")]
            fn of_word(word: u64) -> Self {
                word as Self
            }
        }

        impl ParameterField for $type {
            const TYPE: ParameterType = ParameterType::Integer;
            type Cell = WordCell;

            fn from_value(value: &ParameterValue) -> Result<Self, String> {
                match value {
                    ParameterValue::Integer(value) => Self::try_from(*value)
                        .map_err(|_| format!("{value} is not between {} and {}", Self::MIN, Self::MAX)),
                    other => Err(other_type::<Self>(other)),
                }
            }

            fn into_value(self) -> Result<ParameterValue, String> {
                i64::try_from(self).map(ParameterValue::Integer).map_err(|_| {
                    format!("{self} is greater than {}, the greatest integer of a parameter", i64::MAX)
                })
            }

            fn constrain(descriptor: &mut ParameterDescriptor) {
                let [from, to] = [Self::MIN, Self::MAX].map(|end| i64::try_from(end).unwrap_or(i64::MAX));
                if (from, to) != (i64::MIN, i64::MAX) {
                    descriptor.integer_range = Some(IntegerRange { from, to, step: 0 });
                }
            }
        }

        impl RangedField for $type {
            fn restrict(descriptor: &mut ParameterDescriptor, range: RangeInclusive<Self>, step: Option<Self>) {
                let [from, to] = [*range.start(), *range.end()].map(|end| i64::try_from(end).unwrap_or(i64::MAX));
                // The sign of a step has no meaning.
                let step = step.and_then(|step| i128::try_from(step).ok()).unwrap_or(0).unsigned_abs();
                let step = u64::try_from(step).unwrap_or(u64::MAX);
                descriptor.integer_range = Some(IntegerRange { from, to, step });
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// Returns the double that is written like a number, digit by digit: 0.1 for the `f32` 0.1, not
/// 0.10000000149011612. Otherwise a range from 0.1 would refuse the 0.1 of a parameter file. Of all
/// numbers only 7.038531e-26 would come back as its neighbour; it keeps its exact double.
#[allow(clippy::cast_possible_truncation, reason = "the number is compared")]
fn double_as_written(number: f32) -> f64 {
    let written = number.to_string().parse().ok();
    written.filter(|double| *double as f32 == number).unwrap_or_else(|| number.into())
}

macro_rules! doubles {
    ($($type:ty: $into_double:expr),*) => {$(
        impl OneWord for $type {
            fn to_word(self) -> u64 {
                self.to_bits().into()
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "of `to_word`")]
            fn of_word(word: u64) -> Self {
                Self::from_bits(word as _)
            }
        }

        impl ParameterField for $type {
            const TYPE: ParameterType = ParameterType::Double;
            type Cell = WordCell;

            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "narrower by its type")]
            fn from_value(value: &ParameterValue) -> Result<Self, String> {
                match value {
                    ParameterValue::Double(value) => match *value as Self {
                        narrow if narrow.is_infinite() && value.is_finite() => {
                            Err(format!("{value} is not between {} and {}", Self::MIN, Self::MAX))
                        }
                        narrow => Ok(narrow),
                    },
                    other => Err(other_type::<Self>(other)),
                }
            }

            fn into_value(self) -> Result<ParameterValue, String> {
                Ok(ParameterValue::Double($into_double(self)))
            }
        }

        impl RangedField for $type {
            fn restrict(descriptor: &mut ParameterDescriptor, range: RangeInclusive<Self>, step: Option<Self>) {
                let [from, to] = [*range.start(), *range.end()].map($into_double);
                let step = step.map_or(0.0, |step| $into_double(step).abs());
                descriptor.double_range = Some(DoubleRange { from, to, step });
            }
        }
    )*};
}

doubles!(f32: double_as_written, f64: identity);

macro_rules! shared {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl ParameterField for $type {
            const TYPE: ParameterType = ParameterType::$variant;
            type Cell = SharedCell<Self>;

            fn from_value(value: &ParameterValue) -> Result<Self, String> {
                match value {
                    ParameterValue::$variant(value) => Ok(value.clone()),
                    other => Err(other_type::<Self>(other)),
                }
            }

            fn into_value(self) -> Result<ParameterValue, String> {
                Ok(ParameterValue::$variant(self))
            }
        }
    )*};
}

shared!(
    String => String, Vec<u8> => ByteArray, Vec<bool> => BoolArray, Vec<i64> => IntegerArray,
    Vec<f64> => DoubleArray, Vec<String> => StringArray,
);

impl<T: ParameterField> ParameterField for Option<T> {
    const TYPE: ParameterType = T::TYPE;
    type Cell = SharedCell<Self>;

    fn from_value(value: &ParameterValue) -> Result<Self, String> {
        match value {
            ParameterValue::NotSet => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }

    fn into_value(self) -> Result<ParameterValue, String> {
        self.map_or(Ok(ParameterValue::NotSet), T::into_value)
    }

    fn constrain(descriptor: &mut ParameterDescriptor) {
        T::constrain(descriptor);
    }
}

impl ParameterField for ParameterValue {
    const TYPE: ParameterType = ParameterType::NotSet;
    type Cell = SharedCell<Self>;

    fn from_value(value: &ParameterValue) -> Result<Self, String> {
        Ok(value.clone())
    }

    fn into_value(self) -> Result<ParameterValue, String> {
        Ok(self)
    }
}

/// An enum without fields: a string that is one of its variants' names. From
/// `#[derive(Parameters)]`.
#[doc(hidden)]
pub trait ChoiceField: Send + Sync + Sized + 'static {
    const NAMES: &'static [&'static str];

    fn of_index(index: usize) -> Option<Self>;

    fn index(&self) -> usize;
}

/// The cell of an enum: the variant's index.
#[doc(hidden)]
pub struct ChoiceCell(AtomicU64);

impl<T: ChoiceField> ParameterCell<T> for ChoiceCell {
    type Read = T;

    fn new(value: T) -> Self {
        Self(AtomicU64::new(value.index() as u64))
    }

    fn write(&self, value: T) {
        self.0.store(value.index() as u64, Ordering::Relaxed); // see the module
    }

    #[inline]
    fn read(&self) -> T {
        let index = usize::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(0); // see the module
        #[expect(clippy::expect_used, reason = "only `index` of a variant is ever stored")]
        let value = T::of_index(index).expect("the index is a variant's");
        value
    }
}

/// Returns the value of an enum that a string names. For `#[derive(Parameters)]`.
#[doc(hidden)]
pub fn choice<T: ChoiceField>(value: &ParameterValue) -> Result<T, String> {
    let ParameterValue::String(name) = value else {
        return Err(words::other_type("it", ParameterType::String, value));
    };
    let index = T::NAMES.iter().position(|known| known == name);
    index
        .and_then(T::of_index)
        .ok_or_else(|| format!("{} is not one of: {}", words::shown(value), T::NAMES.join(", ")))
}

/// Adds the restrictions on an enum's values. For `#[derive(Parameters)]`.
#[doc(hidden)]
pub fn constrain_choice<T: ChoiceField>(descriptor: &mut ParameterDescriptor) {
    descriptor.additional_constraints = format!("One of: {}", T::NAMES.join(", "));
}
