//! Values as YAML, in the form of `ros2 topic echo`.

use super::types::{DynamicElement, DynamicStructure, MessageType};
use super::value::{Scalar, Value, shown, shown_wide};
use super::words::is_text;
use crate::definition::{Primitive, Shape};
use crate::is_unseen;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::iter::repeat_n;

/// Print options, with the choices of `ros2 topic echo`. The default prints the whole message, in
/// block style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Maximum number of elements of an array or sequence, and of characters of a string, to print;
    /// `...` stands for the rest.
    pub truncate: Option<usize>,
    /// If set, arrays and sequences are printed as their type and length.
    pub no_arr: bool,
    /// If set, strings are printed as their length.
    pub no_str: bool,
    /// If set, a message is printed as `{x: 1, y: [2, 3]}` in one line, even if its texts contain
    /// line ends. (ROS 2 ends the line there.)
    pub flow: bool,
}

impl Style {
    /// Returns the replacement for an array or sequence, if they are not printed.
    pub(super) fn abbreviated(
        &self,
        message_type: &MessageType,
        (element, shape): (DynamicElement, Shape),
        value: &Value,
    ) -> Option<String> {
        let length = match value {
            Value::Scalars(scalars) => scalars.len(),
            Value::Values(values) => values.len(),
            _ => return None,
        };
        if !self.no_arr {
            return None;
        }
        let element = message_type.show(element, Shape::Single);
        Some(match shape {
            Shape::Array(size) => format!("<array type: {element}[{size}]>"),
            Shape::BoundedSequence(bound) => {
                format!("<sequence type: {element}[{bound}], length: {length}>")
            }
            Shape::Sequence | Shape::Single => format!("<sequence type: {element}, length: {length}>"),
        })
    }

    /// Returns the part of a string that is printed.
    pub(super) fn shortened<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.truncate {
            _ if self.no_str => format!("<string length: <{}>>", text.chars().count()).into(),
            Some(most) => match text.char_indices().nth(most) {
                Some((end, _)) => format!("{}...", &text[..end]).into(),
                None => text.into(),
            },
            None => text.into(),
        }
    }
}

/// Returns lines, each with its line end.
pub(super) fn write(message_type: &MessageType, fields: &[Value], style: &Style) -> String {
    let mut writing = YamlWriter { message_type, style, text: String::new(), indent: 2 };
    let root = message_type.structure(0);
    if style.flow || root.fields.is_empty() {
        writing.flow_structure(root, fields);
        writing.text.push('\n');
    } else {
        writing.block(root, fields, 0, false);
    }
    writing.text
}

/// The same for a part of a message.
pub(super) fn write_part(
    message_type: &MessageType,
    (element, shape): (DynamicElement, Shape),
    value: &Value,
    style: &Style,
) -> String {
    let mut writing = YamlWriter { message_type, style, text: String::new(), indent: 2 };
    if let Some(short) = style.abbreviated(message_type, (element, shape), value) {
        writing.string(&short);
        writing.text.push('\n');
        return writing.text;
    }
    match value {
        Value::Scalars(scalars) if !style.flow && !scalars.is_empty() => writing.list(element, value, 0),
        Value::Values(values) if !style.flow && !values.is_empty() => writing.list(element, value, 0),
        Value::Structure(_) if !style.flow => writing.block_value(element, value, 0, false),
        value => {
            writing.flow_value(element, value);
            writing.text.push('\n');
        }
    }
    writing.text
}

struct YamlWriter<'a> {
    message_type: &'a MessageType,
    style: &'a Style,
    text: String,
    /// Indentation of continued lines of a text.
    indent: usize,
}

impl<'a> YamlWriter<'a> {
    /// Writes a structure with fields. `continues`: the current line has begun already.
    fn block(&mut self, structure: &DynamicStructure, values: &[Value], indent: usize, continues: bool) {
        for (at, (field, value)) in structure.fields.iter().zip(values).enumerate() {
            if at > 0 || !continues {
                self.indent(indent);
            }
            self.key(&field.name);
            self.indent = indent + 2;
            if let Some(short) =
                self.style.abbreviated(self.message_type, (field.element, field.shape), value)
            {
                self.text.push(' ');
                self.string(&short);
                self.text.push('\n');
                continue;
            }
            match value {
                Value::Scalars(scalars) if !scalars.is_empty() => {
                    self.text.push('\n');
                    self.list(field.element, value, indent);
                }
                Value::Values(values) if !values.is_empty() => {
                    self.text.push('\n');
                    self.list(field.element, value, indent);
                }
                Value::Structure(_) if self.has_fields(field.element) => {
                    self.text.push('\n');
                    self.block_value(field.element, value, indent + 2, false);
                }
                value => {
                    self.text.push(' ');
                    self.block_value(field.element, value, indent, true);
                }
            }
        }
    }

    fn block_value(&mut self, element: DynamicElement, value: &Value, indent: usize, continues: bool) {
        if let (DynamicElement::Structure(index), Value::Structure(values)) = (element, value)
            && self.has_fields(element)
        {
            let message_type: &'a MessageType = self.message_type;
            return self.block(message_type.structure(index), values, indent, continues);
        }
        self.flow_value(element, value);
        self.text.push('\n');
    }

    /// Writes a non-empty array or sequence, one or more lines per element.
    fn list(&mut self, element: DynamicElement, value: &Value, indent: usize) {
        match value {
            Value::Scalars(scalars) => {
                let (primitive, items) = (scalars.primitive(), scalars.iter());
                self.items(items.len(), items, indent, |this, item| {
                    this.scalar(primitive, item);
                    this.text.push('\n');
                });
            }
            Value::Values(values) => self.items(values.len(), values.iter(), indent, |this, item| {
                this.block_value(element, item, indent + 2, true);
            }),
            _ => {}
        }
    }

    /// Writes lines with a dash, at the same indentation as their key.
    fn items<T>(
        &mut self,
        count: usize,
        items: impl Iterator<Item = T>,
        indent: usize,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let most = self.style.truncate.unwrap_or(usize::MAX);
        for item in items.take(most) {
            self.indent(indent);
            self.text.push_str("- ");
            self.indent = indent + 2;
            write(self, item);
        }
        if count > most {
            self.indent(indent);
            self.text.push_str("- '...'\n");
        }
    }

    fn flow_structure(&mut self, structure: &DynamicStructure, values: &[Value]) {
        self.text.push('{');
        for (at, (field, value)) in structure.fields.iter().zip(values).enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            self.key(&field.name);
            self.text.push(' ');
            match self.style.abbreviated(self.message_type, (field.element, field.shape), value) {
                Some(short) => self.string(&short),
                None => self.flow_value(field.element, value),
            }
        }
        self.text.push('}');
    }

    fn flow_value(&mut self, element: DynamicElement, value: &Value) {
        match value {
            Value::Scalar(scalar) => {
                if let DynamicElement::Scalar(primitive) = element {
                    self.scalar(primitive, *scalar);
                }
            }
            Value::String(bytes) => self.field_string(&shown(bytes)),
            Value::WString(units) => self.field_string(&shown_wide(units)),
            Value::Structure(values) => {
                if let DynamicElement::Structure(index) = element {
                    let message_type: &'a MessageType = self.message_type;
                    self.flow_structure(message_type.structure(index), values);
                }
            }
            Value::Scalars(scalars) => {
                let primitive = scalars.primitive();
                self.flow_list(scalars.iter(), |this, scalar| this.scalar(primitive, scalar));
            }
            Value::Values(values) => {
                self.flow_list(values.iter(), |this, value| this.flow_value(element, value));
            }
        }
    }

    fn flow_list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        let most = self.style.truncate.unwrap_or(usize::MAX);
        let count = items.len();
        self.text.push('[');
        for (at, item) in items.take(most).enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            write(self, item);
        }
        if count > most {
            self.text.push_str(if most > 0 { ", '...'" } else { "'...'" });
        }
        self.text.push(']');
    }

    fn has_fields(&self, element: DynamicElement) -> bool {
        matches!(element, DynamicElement::Structure(index) if !self.message_type.structure(index).fields.is_empty())
    }

    fn indent(&mut self, indent: usize) {
        self.text.extend(repeat_n(' ', indent));
    }

    fn key(&mut self, name: &str) {
        self.string(name);
        self.text.push(':');
    }

    fn field_string(&mut self, text: &str) {
        let style = self.style;
        self.string(&style.shortened(text));
    }

    fn string(&mut self, text: &str) {
        match Quotes::of(text, self.style.flow) {
            Quotes::None => self.text.push_str(text),
            Quotes::Single => self.single_quoted(text),
            Quotes::Double => {
                self.text.push('"');
                text.chars().for_each(|character| escape(character, &mut self.text));
                self.text.push('"');
            }
        }
    }

    /// Writes a text in single quotes. YAML reads one line end as a space, and further ones as they
    /// are, so one more is written.
    fn single_quoted(&mut self, text: &str) {
        self.text.push('\'');
        let text = text.replace('\'', "''");
        let mut rest = text.as_str();
        while let Some(at) = rest.find('\n') {
            let next = rest[at..].trim_start_matches('\n');
            self.text.push_str(&rest[..at]);
            self.text.extend(repeat_n('\n', rest.len() - at - next.len() + 1));
            self.indent(self.indent);
            rest = next;
        }
        self.text.push_str(rest);
        self.text.push('\'');
    }

    fn scalar(&mut self, primitive: Primitive, scalar: Scalar) {
        if let (Primitive::Byte, Scalar::Unsigned(value)) = (primitive, scalar) {
            let character = u8::try_from(value).map_or(char::REPLACEMENT_CHARACTER, char::from);
            return self.string(character.encode_utf8(&mut [0; 4]));
        }
        // Writing to a `String` cannot fail.
        let _ = match scalar {
            Scalar::Bool(value) => write!(self.text, "{value}"),
            Scalar::Signed(value) => write!(self.text, "{value}"),
            Scalar::Unsigned(value) => write!(self.text, "{value}"),
            Scalar::Float32(value) => return self.float(value.into()),
            Scalar::Float64(value) => return self.float(value),
        };
    }

    fn float(&mut self, value: f64) {
        match value {
            value if value.is_nan() => self.text.push_str(".nan"),
            f64::INFINITY => self.text.push_str(".inf"),
            f64::NEG_INFINITY => self.text.push_str("-.inf"),
            value => self.text.push_str(&decimal(value)),
        }
    }
}

/// Formats a finite number as Python's YAML does: an exponent with a sign, two digits and a point
/// before it.
pub(super) fn decimal(value: f64) -> String {
    let digits = format!("{value:?}");
    let Some((mantissa, exponent)) = digits.split_once('e') else { return digits };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}{point}e{sign}{exponent:0>2}")
}

/// The quotes of a text in YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    /// Chooses the quotes that `PyYAML` would use, except in flow style, which is one line here,
    /// and for line ends that YAML 1.2 doesn't know.
    fn of(text: &str, is_flow: bool) -> Self {
        let has_lines = text.contains('\n');
        if text.chars().any(is_special)
            || text.contains("\n ")
            || text.contains(" \n")
            || (has_lines && is_flow)
        {
            Self::Double
        } else if !has_lines && is_plain(text, is_flow) && is_text(text) {
            Self::None
        } else {
            Self::Single
        }
    }
}

/// Returns whether a character must be escaped: control characters, line ends other than `
/// `, non-characters, and characters that control a terminal or are invisible.
fn is_special(character: char) -> bool {
    !matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..='\u{10fffe}')
        || (character != '\n' && is_unseen(character))
}

/// Writes a character between double quotes.
fn escape(character: char, text: &mut String) {
    let code = u32::from(character);
    let name = match character {
        '"' | '\\' => character,
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        character if !is_special(character) && code <= 0xffff => return text.push(character),
        _ => {
            // Writing to a `String` cannot fail.
            let _ = match code {
                0..=0xff => write!(text, "\\x{code:02X}"),
                0x100..=0xffff => write!(text, "\\u{code:04X}"),
                _ => write!(text, "\\U{code:08X}"),
            };
            return;
        }
    };
    text.extend(['\\', name]);
}

/// Returns whether a one-line text without special characters can be written without quotes,
/// whatever type it would be read as.
fn is_plain(text: &str, is_flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let rest = &text[first.len_utf8()..];
    let stands_alone = rest.is_empty() || rest.starts_with(' ');
    let begins_well = match first {
        '-' => !stands_alone,
        '?' | ':' => !(is_flow || stands_alone),
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
            false
        }
        _ => true,
    };
    begins_well
        && text.trim_matches(' ') == text
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.contains(" #")
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !(is_flow && rest.contains([',', '[', ']', '{', '}', '?', ':']))
}
