//! Values of parameters: parsed by ROS 2's rules, and written so that reading them back yields the
//! same value.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sinew::parameters::{ParameterType, ParameterValue};

/// A parameter's value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parameter {
    Bool(bool),
    Integer(i64),
    Double(f64),
    Text(String),
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Doubles(Vec<f64>),
    Texts(Vec<String>),
}

impl Parameter {
    /// Parses a plain word of YAML; a text if it is nothing else.
    pub(crate) fn of_word(word: &str) -> Self {
        match word {
            "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
                Self::Bool(true)
            }
            "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
                Self::Bool(false)
            }
            word => integer(word)
                .map(Self::Integer)
                .or_else(|| double(word).map(Self::Double))
                .unwrap_or_else(|| Self::Text(word.to_owned())),
        }
    }

    /// Parses a text: a value in brackets is a list, and quotes around a text are removed.
    pub(crate) fn of_text(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return Self::list(split(inside).into_iter().map(Self::of_scalar).collect());
        }
        Ok(Self::of_scalar(text))
    }

    fn of_scalar(text: &str) -> Self {
        for quote in ['\'', '"'] {
            let inside = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            if let Some(inside) = inside.filter(|inside| !inside.contains(quote)) {
                return Self::Text(inside.to_owned());
            }
        }
        Self::of_word(text)
    }

    /// Makes a list of values of one type. Integers among doubles become doubles, if that loses
    /// nothing.
    pub(crate) fn list(values: Vec<Self>) -> Result<Self, String> {
        fn all<T>(values: &[Parameter], of: impl Fn(&Parameter) -> Option<T>) -> Option<Vec<T>> {
            values.iter().map(of).collect()
        }
        let has_double = values.iter().any(|value| matches!(value, Self::Double(_)));
        let values: Vec<_> =
            if has_double { values.into_iter().map(Self::widened).collect() } else { values };
        let (first, all_of) = (values.first(), values.as_slice());
        let list = match first {
            None => return Err("an empty list has no type; leave the parameter out".to_owned()),
            Some(Self::Bool(_)) => {
                all(all_of, |value| if let Self::Bool(it) = value { Some(*it) } else { None })
                    .map(Self::Bools)
            }
            Some(Self::Integer(_)) => {
                all(all_of, |value| if let Self::Integer(it) = value { Some(*it) } else { None })
                    .map(Self::Integers)
            }
            Some(Self::Double(_)) => {
                all(all_of, |value| if let Self::Double(it) = value { Some(*it) } else { None })
                    .map(Self::Doubles)
            }
            Some(Self::Text(_)) => {
                all(all_of, |value| if let Self::Text(it) = value { Some(it.clone()) } else { None })
                    .map(Self::Texts)
            }
            Some(_) => return Err("lists can't be nested".to_owned()),
        };
        list.ok_or_else(|| {
            let types: Vec<&str> = values.iter().map(Self::type_name).collect();
            let hint = match has_double && values.iter().any(|value| matches!(value, Self::Integer(_))) {
                true => "; an integer that no double is can't be among them",
                false => "",
            };
            format!("all values of a list have one type, and these are {}{hint}", types.join(", "))
        })
    }

    /// Converts an integer to a double, if the double is exact.
    fn widened(self) -> Self {
        let Self::Integer(value) = self else { return self };
        match ParameterValue::from(value).widened(ParameterType::Double) {
            ParameterValue::Double(value) => Self::Double(value),
            _ => self,
        }
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a bool",
            Self::Integer(_) => "an integer",
            Self::Double(_) => "a double",
            Self::Text(_) => "a string",
            _ => "a list",
        }
    }

    /// Writes it as YAML in one line, which reads back as the same value for any content.
    pub(crate) fn to_yaml(&self) -> String {
        fn list<T>(values: &[T], one: impl Fn(&T) -> String) -> String {
            format!("[{}]", values.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Double(value) => number(*value),
            Self::Text(text) => quoted(text),
            Self::Bools(values) => list(values, bool::to_string),
            Self::Integers(values) => list(values, i64::to_string),
            Self::Doubles(values) => list(values, |value| number(*value)),
            Self::Texts(values) => list(values, |text| quoted(text)),
        }
    }
}

/// Splits at commas outside quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut quote) = (Vec::new(), 0, None);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (',', None) => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    let last = text[begin..].trim();
    if !(last.is_empty() && parts.is_empty()) {
        parts.push(last);
    }
    parts
}

/// Parses an integer by C's rules: `0x` hexadecimal, a leading 0 octal.
fn integer(word: &str) -> Option<i64> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

fn double(word: &str) -> Option<f64> {
    match word {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    // Rust also parses `inf` and `nan`, which are texts here.
    let is_number = word.contains(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    is_number.then(|| word.parse().ok()).flatten()
}

/// Writes a double so that it reads back as one: `1` would be an integer.
fn number(value: f64) -> String {
    if value.is_nan() {
        ".nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

/// Writes a text in double quotes: without them `yes`, `1` or `a: b` would be something else.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c)); // writing to a string can't fail
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes a parameter file for a node by its full name, or for all nodes (`/**`): nested names,
/// joined by `.`, become one tree.
pub(crate) fn file(node: &str, values: &[(String, Parameter)]) -> String {
    let mut text = format!("{node}:\n  ros__parameters:\n");
    // The last value of a parameter counts.
    let last: BTreeMap<&str, &Parameter> =
        values.iter().map(|(name, value)| (name.as_str(), value)).collect();
    for (name, value) in last {
        let _ = writeln!(text, "    {}: {}", quoted(name), value.to_yaml()); // can't fail
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_what_ros_2_takes_them_for() {
        use Parameter::{Bool, Double, Integer, Text};
        for (word, value) in [
            ("yes", Bool(true)),
            ("OFF", Bool(false)),
            ("010", Integer(8)),
            ("0x1F", Integer(31)),
            ("-7", Integer(-7)),
            ("1e3", Double(1000.0)),
            ("1.", Double(1.0)),
            (".5", Double(0.5)),
            ("-.inf", Double(f64::NEG_INFINITY)),
            ("inf", Text("inf".to_owned())),
            ("yEs", Text("yEs".to_owned())),
            ("1.2.3", Text("1.2.3".to_owned())),
            ("--1", Text("--1".to_owned())),
            ("0x", Text("0x".to_owned())),
            ("'1'", Text("1".to_owned())),
            ("9223372036854775808", Double(9_223_372_036_854_775_808.0)),
        ] {
            assert_eq!(Parameter::of_text(word), Ok(value), "{word}");
        }
        let list = Parameter::of_text("[a, 'b, c', \"1\"]").unwrap();
        assert_eq!(list, Parameter::Texts(vec!["a".into(), "b, c".into(), "1".into()]));
        assert_eq!(Parameter::of_text("[1, 2.5]").unwrap(), Parameter::Doubles(vec![1.0, 2.5]));
        assert!(Parameter::of_text("[1, a]").unwrap_err().contains("an integer, a string"));
        assert!(Parameter::of_text("[2.0, 9007199254740993]").unwrap_err().contains("a double, an integer"));
        assert!(Parameter::of_text("[]").unwrap_err().contains("empty"));
    }

    /// Reads a word back with another implementation: by saphyr, and by how it was written.
    fn read_back(yaml: &str) -> Vec<Parameter> {
        use saphyr_parser::{Event, Parser, ScalarStyle};
        let mut parser = Parser::new_from_str(yaml);
        let mut found = Vec::new();
        while let Some(event) = parser.next_event() {
            if let Event::Scalar(text, style, ..) = event.unwrap().0 {
                found.push(match style {
                    ScalarStyle::Plain => Parameter::of_word(&text),
                    _ => Parameter::Text(text.into_owned()),
                });
            }
        }
        found
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(text in "\\PC*|[ -~\\n\\t\u{1}\u{7f}\u{85}\u{2028}]*", number: f64, whole: i64) {
            prop_assume!(!number.is_nan());
            let values = [Parameter::Text(text.clone()), Parameter::Double(number), Parameter::Integer(whole)];
            for value in values {
                prop_assert_eq!(read_back(&value.to_yaml()), [value.clone()]);
            }
            let list = Parameter::Texts(vec![text.clone(), text.clone()]);
            prop_assert_eq!(read_back(&list.to_yaml()), [Parameter::Text(text.clone()), Parameter::Text(text)]);
        }
    }
}
