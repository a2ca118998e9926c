//! The sentences that refuse values: the parameter, the value, and a right one. Names and values
//! come from other programs and may have any length: they are cut.

use super::value::{ParameterType, ParameterValue};
use std::fmt::{self, Write as _};

/// Characters of a value shown in a sentence.
const SHOWN: usize = 60;

/// Bytes of a name shown in a sentence.
const NAME: usize = 255;

/// Names a parameter, as the beginning of a sentence.
pub(super) fn subject(name: &str) -> String {
    format!("parameter '{}'", shortened(name))
}

/// Shortens a name for a sentence.
pub(super) fn shortened(name: &str) -> String {
    if name.len() <= NAME {
        return name.to_owned();
    }
    format!("{}..", &name[..name.floor_char_boundary(NAME)])
}

/// Writes a value for a sentence: only the beginning of a long one.
pub(super) fn shown(value: &ParameterValue) -> String {
    let mut beginning = Beginning { text: String::new(), left: SHOWN };
    match write!(beginning, "{value}") {
        Ok(()) => beginning.text,
        Err(_) => beginning.text + "..",
    }
}

/// A writer that stops after a number of characters: a value of megabytes isn't written out for a
/// sentence.
struct Beginning {
    text: String,
    left: usize,
}

impl fmt::Write for Beginning {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

/// Returns the reason why a value isn't of a parameter's type.
pub(super) fn other_type(subject: &str, kind: ParameterType, value: &ParameterValue) -> String {
    let right = right(kind, value);
    if *value == ParameterValue::NotSet {
        return format!("{subject} is of type {kind}, and must have a value; {right} would be right");
    }
    let is_inexact = matches!(
        (kind, value),
        (ParameterType::Double, ParameterValue::Integer(_))
            | (ParameterType::DoubleArray, ParameterValue::IntegerArray(_))
    );
    if is_inexact {
        return format!(
            "{subject} is of type {kind}, which {} can't become without loss; {right} would be right",
            shown(value)
        );
    }
    format!(
        "{subject} is of type {kind}, and {} is of type {}; {right} would be right",
        shown(value),
        value.kind()
    )
}

/// Describes a right value.
fn right(kind: ParameterType, value: &ParameterValue) -> String {
    use ParameterValue as V;
    #[expect(clippy::cast_precision_loss, reason = "the nearest is what is shown")]
    let nearest = |value: &i64| V::Double(*value as f64);
    let example = match (kind, value) {
        (ParameterType::NotSet, _) => "none",
        (ParameterType::Bool, _) => "true or false",
        (ParameterType::Integer, _) => "a whole number without a point, such as 3,",
        (ParameterType::Double, V::Integer(value)) => return shown(&nearest(value)),
        (ParameterType::Double, _) => "a number, such as 1.5,",
        (ParameterType::String, V::Bool(_) | V::Integer(_) | V::Double(_)) => {
            return format!("a text in quotes, such as \"{}\",", shown(value));
        }
        (ParameterType::String, _) => "a text, such as \"a\",",
        (ParameterType::ByteArray, _) => "a list of numbers from 0 to 255, such as [1, 255],",
        (ParameterType::BoolArray, _) => "a list of truths, such as [true, false],",
        (ParameterType::IntegerArray, _) => "a list of whole numbers without points, such as [1, 2],",
        (ParameterType::DoubleArray, V::IntegerArray(_)) => "a list of the nearest numbers, with points,",
        (ParameterType::DoubleArray, _) => "a list of numbers, such as [1.0, 2.5],",
        (ParameterType::StringArray, _) => "a list of texts, such as [\"a\", \"b\"],",
    };
    example.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_and_values_are_cut() {
        let long = ParameterValue::IntegerArray(vec![7; 1_000_000]);
        let said = other_type(&subject(&"é".repeat(1_000_000)), ParameterType::Bool, &long);
        assert!(said.len() < 500, "{}", said.len());
        assert!(said.ends_with(", 7, 7,.. is of type integer_array; true or false would be right"), "{said}");
    }
}
