//! The values of constants and defaults.

use super::error::Problem;
use super::model::{ElementType, FieldType, Literal, Primitive, Shape};
use super::piece::{LineFault, Piece};

/// Parses the value of a constant, or the default value of a field, of this type.
pub(super) fn value(field_type: &FieldType, piece: Piece<'_>) -> Result<Literal, LineFault> {
    let (expected, is_right): (_, &dyn Fn(usize) -> bool) = match &field_type.shape {
        Shape::Single => return single(&field_type.element, piece),
        Shape::Array(size) => (size.to_string(), &|found| u32::try_from(found) == Ok(*size)),
        Shape::BoundedSequence(bound) => {
            (format!("{bound} at most"), &|found| u32::try_from(found).is_ok_and(|found| found <= *bound))
        }
        Shape::Sequence => (String::new(), &|_| true),
    };
    let values = sequence(&field_type.element, piece)?;
    if !is_right(values.len()) {
        let field_type = field_type.to_string();
        return Err(piece.fault(Problem::Count { found: values.len(), expected, field_type }));
    }
    Ok(Literal::Sequence(values))
}

fn sequence(element: &ElementType, piece: Piece<'_>) -> Result<Vec<Literal>, LineFault> {
    let Some(inside) = piece.strip_prefix("[").and_then(|piece| piece.strip_suffix("]")) else {
        return Err(wrong(piece, "values in brackets, such as `[1, 2]`"));
    };
    let mut values = Vec::new();
    let mut rest = inside.trim();
    while !rest.is_empty() {
        let is_quoted = is_text(element) && rest.text.starts_with(['"', '\'']);
        let end = if is_quoted { quoted_end(rest)? } else { 0 };
        let (_, behind) = rest.split_at(end);
        let comma = end + behind.text.find(',').unwrap_or(behind.text.len());
        let (one, behind) = rest.split_at(comma);
        values.push(single(element, one.trim())?);
        match behind.strip_prefix(",") {
            // ROS 2 accepts a comma after the last string, but not after the last number.
            Some(behind) if behind.trim().is_empty() && !is_text(element) => {
                return Err(wrong(behind, "a value after the comma"));
            }
            Some(behind) => rest = behind.trim(),
            None => break,
        }
    }
    Ok(values)
}

fn is_text(element: &ElementType) -> bool {
    matches!(element, ElementType::String { .. } | ElementType::WString { .. })
}

fn single(element: &ElementType, piece: Piece<'_>) -> Result<Literal, LineFault> {
    match element {
        ElementType::Primitive(Primitive::Bool) => boolean(piece),
        ElementType::Primitive(primitive) => match primitive.integers() {
            Some(range) => match integer(piece.text).filter(|integer| range.contains(integer)) {
                Some(integer) => Ok(Literal::Integer(integer)),
                None => {
                    let (least, most) = range.into_inner();
                    Err(wrong(
                        piece,
                        &format!("an integer from {least} to {most} for `{}`", primitive.name()),
                    ))
                }
            },
            None => float(*primitive, piece),
        },
        ElementType::String { bound } | ElementType::WString { bound } => text(element, *bound, piece),
        ElementType::Message(_) => Err(piece.fault(Problem::DefaultOfMessage { found: piece.found() })),
    }
}

fn boolean(piece: Piece<'_>) -> Result<Literal, LineFault> {
    match piece.text.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(Literal::Bool(true)),
        "false" | "0" => Ok(Literal::Bool(false)),
        _ => Err(wrong(piece, "`true`, `1`, `false` or `0` for `bool`")),
    }
}

/// Parses an integer as Python does, since ROS 2 uses Python: with a sign, underscores between
/// digits, in base 2, 8, 10 or 16.
fn integer(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (base, digits) = match digits.get(..2).unwrap_or_default().to_ascii_lowercase().as_str() {
        "0x" => (16, after_prefix(digits)),
        "0o" => (8, after_prefix(digits)),
        "0b" => (2, after_prefix(digits)),
        _ => (10, digits),
    };
    let digits = without_underscores(digits, base)?;
    if !digits.starts_with(|c: char| c.is_digit(base)) {
        return None; // a second sign
    }
    let magnitude = i128::from_str_radix(&digits, base).ok()?;
    Some(if is_negative { -magnitude } else { magnitude })
}

/// Returns the digits after `0x`, where one underscore may stand.
fn after_prefix(digits: &str) -> &str {
    let digits = &digits[2..];
    digits.strip_prefix('_').unwrap_or(digits)
}

fn without_underscores(text: &str, base: u32) -> Option<String> {
    let parts: Vec<&str> = text.split('_').collect();
    let all_between_digits = parts.windows(2).all(|pair| {
        pair[0].ends_with(|c: char| c.is_digit(base)) && pair[1].starts_with(|c: char| c.is_digit(base))
    });
    all_between_digits.then(|| parts.concat())
}

fn float(primitive: Primitive, piece: Piece<'_>) -> Result<Literal, LineFault> {
    let digits = without_underscores(piece.text, 10);
    let number = digits.as_ref().and_then(|digits| digits.parse::<f64>().ok());
    let single = digits.as_ref().and_then(|digits| digits.parse::<f32>().ok());
    let is_double = primitive == Primitive::Float64;
    // Python would also read "inf" and "nan", but the later stages of ROS 2 would not.
    match number.filter(|number| number.is_finite() && (is_double || single.is_some_and(f32::is_finite))) {
        Some(number) => Ok(Literal::Float(number)),
        None => {
            let most = if is_double { f64::MAX } else { f32::MAX.into() };
            Err(wrong(piece, &format!("a number from -{most:e} to {most:e} for `{}`", primitive.name())))
        }
    }
}

fn text(element: &ElementType, bound: Option<u32>, piece: Piece<'_>) -> Result<Literal, LineFault> {
    let mut inside = piece;
    if piece.text.starts_with(['"', '\'']) {
        let end = quoted_end(piece)?;
        let (_, behind) = piece.split_at(end);
        if !behind.is_empty() {
            return Err(wrong(behind, "nothing after the closing quote"));
        }
        inside = piece.split_at(end - 1).0.split_at(1).1;
    }
    let value = unescaped(inside)?;
    let length = value.chars().count();
    if let Some(bound) = bound
        && u32::try_from(length).map_or(true, |length| length > bound)
    {
        let expected = format!("{bound} characters at most for `{element}`, not {length}");
        return Err(wrong(piece, &expected));
    }
    Ok(Literal::String(value))
}

/// Returns the end of the quoted string at the beginning of the piece: the offset after its closing
/// quote.
fn quoted_end(piece: Piece<'_>) -> Result<usize, LineFault> {
    let mut characters = piece.text.char_indices();
    let quote = characters.next().map_or('"', |(_, quote)| quote);
    while let Some((at, character)) = characters.next() {
        if character == quote {
            return Ok(at + quote.len_utf8());
        }
        if character == '\\' {
            characters.next();
        }
    }
    Err(piece.fault(Problem::Quote { found: piece.found(), quote }))
}

/// Returns the text with its escapes replaced. They are those of Python except `\N{..}`, since ROS
/// 2 reads strings with Python.
///
/// A backslash before any other character stands for itself, as in Python.
fn unescaped(piece: Piece<'_>) -> Result<String, LineFault> {
    let mut value = String::with_capacity(piece.text.len());
    let mut rest = piece;
    loop {
        let (plain, escape) = rest.split_before(|c| c == '\\');
        value.push_str(plain.text);
        let Some(kind) = escape.text.chars().nth(1) else {
            return match escape.is_empty() {
                true => Ok(value),
                false => Err(broken(escape, 1, "a character after the backslash")),
            };
        };
        let (character, length) = match kind {
            '\\' | '\'' | '"' => (kind, 2),
            'a' => ('\x07', 2),
            'b' => ('\x08', 2),
            'f' => ('\x0c', 2),
            'n' => ('\n', 2),
            'r' => ('\r', 2),
            't' => ('\t', 2),
            'v' => ('\x0b', 2),
            'x' => hexadecimal(escape, 2)?,
            'u' => hexadecimal(escape, 4)?,
            'U' => hexadecimal(escape, 8)?,
            '0'..='7' => octal(escape),
            'N' if escape.text[2..].starts_with('{') => {
                return Err(broken(escape, 3, "the character itself, or `\\u` and its 4 hexadecimal digits"));
            }
            _ => ('\\', 1),
        };
        value.push(character);
        rest = escape.split_at(length).1;
    }
}

fn hexadecimal(escape: Piece<'_>, digits: usize) -> Result<(char, usize), LineFault> {
    let end = 2 + digits;
    // `from_str_radix` would accept a sign.
    let number = escape.text.get(2..end).filter(|text| text.chars().all(|c| c.is_ascii_hexdigit()));
    let character = number.and_then(|text| u32::from_str_radix(text, 16).ok()).and_then(char::from_u32);
    let expected = match digits {
        2 => "2 hexadecimal digits after `\\x`",
        4 => "4 hexadecimal digits of a character after `\\u`",
        _ => "8 hexadecimal digits of a character after `\\U`",
    };
    character.map(|character| (character, end)).ok_or_else(|| broken(escape, end, expected))
}

/// Parses up to three digits, the first of which is present.
fn octal(escape: Piece<'_>) -> (char, usize) {
    let digits = escape.text[1..].bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte));
    let (number, length) =
        digits.fold((0, 1), |(number, length), digit| (number * 8 + u32::from(digit - b'0'), length + 1));
    (char::from_u32(number).unwrap_or_default(), length) // at most 0o777, which is a character
}

/// `length` is the length of the escape in characters.
fn broken(escape: Piece<'_>, length: usize, expected: &'static str) -> LineFault {
    escape.fault(Problem::Escape { found: escape.text.chars().take(length).collect(), expected })
}

fn wrong(piece: Piece<'_>, expected: &str) -> LineFault {
    piece.fault(Problem::Value { found: piece.found(), expected: expected.to_owned() })
}
