//! The reasons why a value of Python doesn't fit a field.

use super::class::Class;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sinew_msg::definition::Primitive;
use std::fmt::Display;

/// Longest text of a value in an error, in characters.
const SHOWN: usize = 60;

/// A value that doesn't fit.
pub(super) enum Wrong {
    /// Of another type.
    Kind { element: Option<usize>, found: String, expected: String },
    /// Of the right type, but out of its range, or longer than allowed.
    Range { element: Option<usize>, found: String, expected: String },
    /// Python's own exception.
    Raised(PyErr),
}

impl Wrong {
    #[cold]
    pub(super) fn kind(value: &Bound<'_, PyAny>, primitive: Primitive) -> Self {
        let expected = match primitive {
            Primitive::Bool => "a bool".to_owned(),
            Primitive::Byte => "a byte: bytes of length 1, or an integer from 0 to 255".to_owned(),
            Primitive::Float32 | Primitive::Float64 => "a number".to_owned(),
            _ => format!("an integer{}", range(primitive)),
        };
        Self::Kind { element: None, found: shown(value), expected }
    }

    #[cold]
    pub(super) fn range(value: &Bound<'_, PyAny>, primitive: Primitive) -> Self {
        let expected = format!("a value of {}{}", primitive.name(), range(primitive));
        Self::Range { element: None, found: shown(value), expected }
    }

    #[cold]
    pub(super) fn sequence(value: &Bound<'_, PyAny>) -> Self {
        Self::other(value, "a sequence")
    }

    #[cold]
    pub(super) fn other(value: &Bound<'_, PyAny>, expected: impl Display) -> Self {
        Self::Kind { element: None, found: shown(value), expected: expected.to_string() }
    }

    #[cold]
    pub(super) fn count(count: usize, what: &str, expected: impl Display) -> Self {
        let (found, expected) = (format!("{count} {what}"), format!("{expected} {what}"));
        Self::Range { element: None, found, expected }
    }

    /// Adds the index of an element.
    #[cold]
    pub(super) fn at(mut self, index: usize) -> Self {
        if let Self::Kind { element, .. } | Self::Range { element, .. } = &mut self {
            *element = Some(index);
        }
        self
    }

    /// Adds the place, and makes an exception: `TypeError` or `ValueError`.
    #[cold]
    pub(super) fn of(self, class: &Class, field: &str) -> PyErr {
        let sentence = |element: Option<usize>, found: &str, expected: &str| {
            let element = element.map(|index| format!("[{index}]")).unwrap_or_default();
            format!("`{field}{element}` of {}: found {found}, expected {expected}", class.name())
        };
        match self {
            Self::Kind { element, found, expected } => {
                PyTypeError::new_err(sentence(element, &found, &expected))
            }
            Self::Range { element, found, expected } => {
                PyValueError::new_err(sentence(element, &found, &expected))
            }
            Self::Raised(error) => error,
        }
    }
}

fn range(primitive: Primitive) -> String {
    primitive.integers().map(|all| format!(" from {} to {}", all.start(), all.end())).unwrap_or_default()
}

/// Returns a value as text: its beginning, if it is long, and its type.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let text = value.repr().map(|text| text.to_string()).unwrap_or_default();
    if text.chars().count() > SHOWN {
        let beginning: String = text.chars().take(SHOWN).collect();
        return format!("{beginning}.. ({kind})");
    }
    format!("{text} ({kind})")
}
