//! C++ expressions for the values of constants and defaults.

use sinew_msg::definition::{ElementType, Literal, Primitive};
use std::fmt::Write as _;

/// Returns the expression of one value.
pub(super) fn value(element: &ElementType, value: &Literal) -> String {
    match (element, value) {
        (_, Literal::Bool(value)) => value.to_string(),
        (ElementType::Primitive(primitive), Literal::Integer(value)) => integer(*primitive, *value),
        (_, Literal::Integer(value)) => value.to_string(),
        (ElementType::Primitive(Primitive::Float32), Literal::Float(value)) => format!("{value:?}f"),
        (_, Literal::Float(value)) => format!("{value:?}"),
        (ElementType::WString { .. }, Literal::String(text)) => wide_text(text),
        (_, Literal::String(text)) => narrow_text(text),
        (_, Literal::Sequence(values)) => list(element, values),
    }
}

/// Returns the expressions of several values, separated by commas.
pub(super) fn list(element: &ElementType, values: &[Literal]) -> String {
    values.iter().map(|one| value(element, one)).collect::<Vec<_>>().join(", ")
}

/// Returns the zero of a number or `bool`.
pub(super) fn zero(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "false",
        Primitive::Float32 => "0.0f",
        Primitive::Float64 => "0.0",
        _ => "0",
    }
}

/// A literal is a positive number, so the least number of a type is a difference.
fn integer(primitive: Primitive, value: i128) -> String {
    let suffix = match primitive {
        Primitive::Int64 => "LL",
        Primitive::Uint64 => "ULL",
        Primitive::Uint8 | Primitive::Uint16 | Primitive::Uint32 => "u",
        _ => "",
    };
    if value == i64::MIN.into() || value == i32::MIN.into() {
        return format!("({}{suffix} - 1)", value + 1);
    }
    format!("{value}{suffix}")
}

fn narrow_text(text: &str) -> String {
    // In octal, which ends after three digits; a hexadecimal escape would take the digits of the
    // text, too.
    let bytes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'?' => format!("\\{}", char::from(byte)), // `??/` was a backslash once
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    });
    quoted("", &bytes.collect::<String>(), text.contains('\0').then_some(text.len()))
}

fn wide_text(text: &str) -> String {
    let characters = text.chars().fold(String::new(), |mut all, character| {
        // Writing to a string doesn't fail.
        let _ = match character {
            '"' | '\\' | '?' => write!(all, "\\{character}"),
            ' '..='~' => write!(all, "{character}"),
            // Universal character names are not allowed for these.
            '\0'..='\u{9f}' => write!(all, "\\{:03o}", u32::from(character)),
            '\u{a0}'..='\u{ffff}' => write!(all, "\\u{:04x}", u32::from(character)),
            _ => write!(all, "\\U{:08x}", u32::from(character)),
        };
        all
    });
    let length = text.encode_utf16().count();
    quoted("u", &characters, text.contains('\0').then_some(length))
}

/// A text with a NUL needs its length.
fn quoted(prefix: &str, escaped: &str, length: Option<usize>) -> String {
    match length {
        None => format!("{prefix}\"{escaped}\""),
        Some(length) => {
            let view = if prefix.is_empty() { "string_view" } else { "u16string_view" };
            format!("::std::{view}({prefix}\"{escaped}\", {length})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let [string, wide] = [ElementType::String { bound: None }, ElementType::WString { bound: Some(9) }];
        let text = Literal::String("a\"\\?\n1ä😀".to_owned());
        assert_eq!(value(&string, &text), r#""a\"\\\?\0121\303\244\360\237\230\200""#);
        assert_eq!(value(&wide, &text), r#"u"a\"\\\?\0121\u00e4\U0001f600""#);
        let text = Literal::String("a\0b".to_owned());
        assert_eq!(value(&string, &text), r#"::std::string_view("a\000b", 3)"#);
        assert_eq!(value(&wide, &text), r#"::std::u16string_view(u"a\000b", 3)"#);
    }

    #[test]
    fn numbers_have_their_type() {
        let of = |primitive, literal| value(&ElementType::Primitive(primitive), &literal);
        assert_eq!(of(Primitive::Int64, Literal::Integer(i64::MIN.into())), "(-9223372036854775807LL - 1)");
        assert_eq!(of(Primitive::Int32, Literal::Integer(i32::MIN.into())), "(-2147483647 - 1)");
        assert_eq!(of(Primitive::Uint64, Literal::Integer(u64::MAX.into())), "18446744073709551615ULL");
        assert_eq!(of(Primitive::Float32, Literal::Float(0.1)), "0.1f");
        assert_eq!(of(Primitive::Float64, Literal::Float(-1e300)), "-1e300");
    }
}
