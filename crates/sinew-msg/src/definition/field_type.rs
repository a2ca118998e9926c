//! The types of fields and constants.

use super::error::Problem;
use super::model::{ElementType, FieldType, Primitive, Shape};
use super::names::{Kind, TypeName, is_defined, is_package};
use super::piece::{LineFault, Piece};

/// Parses the type of a field or constant, in a definition of this package.
pub(super) fn field_type(piece: Piece<'_>, package: &str) -> Result<FieldType, LineFault> {
    let Some(inside) = piece.strip_suffix("]") else {
        return Ok(FieldType { element: element(piece, package)?, shape: Shape::Single });
    };
    let Some(begin) = inside.text.rfind('[') else {
        return Err(unknown(piece, "`]` ends the size of an array, which `[` begins"));
    };
    let (before, size) = inside.split_at(begin);
    let size = size.split_at(1).1;
    let shape = if size.is_empty() {
        Shape::Sequence
    } else if let Some(size) = size.strip_prefix("<=") {
        Shape::BoundedSequence(bound(size, "the largest size of the sequence")?)
    } else {
        Shape::Array(bound(size, "nothing, or the size of the array (`<=` and the largest of a sequence)")?)
    };
    if before.text.contains(['[', ']']) {
        let hint = "an array has one size; let its elements be messages with an array";
        return Err(unknown(piece, hint));
    }
    Ok(FieldType { element: element(before, package)?, shape })
}

fn bound(piece: Piece<'_>, what: &'static str) -> Result<u32, LineFault> {
    let is_number = piece.text.bytes().all(|byte| byte.is_ascii_digit()); // no sign
    let number = piece.text.parse().ok().filter(|number| is_number && *number > 0);
    number.ok_or_else(|| piece.fault(Problem::Bound { found: piece.found(), what }))
}

fn element(piece: Piece<'_>, package: &str) -> Result<ElementType, LineFault> {
    if let Some(primitive) = Primitive::ALL.into_iter().find(|primitive| primitive.name() == piece.text) {
        return Ok(ElementType::Primitive(primitive));
    }
    match piece.text {
        "string" => return Ok(ElementType::String { bound: None }),
        "wstring" => return Ok(ElementType::WString { bound: None }),
        _ => {}
    }
    let what = "the largest length of the string";
    if let Some(length) = piece.strip_prefix("string<=") {
        return Ok(ElementType::String { bound: Some(bound(length, what)?) });
    }
    if let Some(length) = piece.strip_prefix("wstring<=") {
        return Ok(ElementType::WString { bound: Some(bound(length, what)?) });
    }
    let (package, base) = piece.text.split_once('/').unwrap_or((package, piece.text));
    if is_package(package)
        && is_defined(base)
        && let Ok(name) = TypeName::new(package, Kind::Message, base)
    {
        return Ok(ElementType::Message(name));
    }
    Err(unknown(piece, &hint(piece.text)))
}

/// Suggests a type for a word that is no type.
fn hint(text: &str) -> String {
    let meant = match text {
        "float" => "float32",
        "double" => "float64",
        "int" | "long" => "int32",
        "uint" | "unsigned" => "uint32",
        "short" => "int16",
        "boolean" => "bool",
        "octet" => "byte",
        "str" | "String" => "string",
        "time" => "builtin_interfaces/Time",
        "duration" => "builtin_interfaces/Duration",
        _ => {
            if let Some((package, base)) = text.split_once("/msg/") {
                return format!("`{package}/{base}`, without `msg`");
            }
            let names: Vec<&str> = Primitive::ALL.iter().map(|primitive| primitive.name()).collect();
            let names = names.join("`, `");
            return format!(
                "`{names}`, `string`, `wstring` or a message, such as `Name` of the same package or `package/Name`"
            );
        }
    };
    format!("perhaps `{meant}`")
}

fn unknown(piece: Piece<'_>, hint: &str) -> LineFault {
    piece.fault(Problem::Type { found: piece.found(), hint: hint.to_owned() })
}
