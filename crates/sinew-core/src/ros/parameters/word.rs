//! The value of a word without quotes, as `rcl_yaml_param_parser` takes it: it reads integers and
//! numbers with C's `strtol` and `strtod`.
//!
//! | word | is |
//! |---|---|
//! | `y`, `Y`, `yes`, `true`, `on` (also `True`, `TRUE` ..) and their opposites | a boolean |
//! | `12`, `-7`, `+3`, `0x1F`; `017` with a leading 0 in base 8 | an integer of 64 bits |
//! | `1.5`, `1.`, `.5`, `1e3`; `.inf`, `-.inf`, `.nan`; an integer too large, or `08`, which isn't one in base 8 | a double |
//! | anything else | a string |

use crate::parameters::value::ParameterValue;

/// Returns the value of a word.
pub(super) fn value(word: &str) -> ParameterValue {
    if let Some(truth) = truth(word) {
        return ParameterValue::Bool(truth);
    }
    if let Some(integer) = integer(word) {
        return ParameterValue::Integer(integer);
    }
    double(word).map_or_else(|| ParameterValue::String(word.to_owned()), ParameterValue::Double)
}

fn truth(word: &str) -> Option<bool> {
    match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn integer(word: &str) -> Option<i64> {
    let (is_negative, magnitude) = match word.as_bytes().first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    let (digits, base) = match magnitude.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (&magnitude[2..], 16),
        [b'0', _, ..] => (&magnitude[1..], 8),
        _ => (magnitude, 10),
    };
    if !digits.starts_with(|c: char| c.is_digit(base)) {
        return None; // nothing, or a second sign
    }
    let magnitude = i128::from_str_radix(digits, base).ok()?;
    i64::try_from(if is_negative { -magnitude } else { magnitude }).ok()
}

fn double(word: &str) -> Option<f64> {
    match word {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    // Rust also reads words that C's numbers exclude: `inf`, `infinity`, `nan`.
    let is_number = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let value: f64 = word.parse().ok().filter(|_| is_number)?;
    value.is_finite().then_some(value) // a number too large is an error of `strtod`
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_what_rcl_takes_them_for() {
        use ParameterValue::{Bool, Double, Integer};
        let text = |word: &str| ParameterValue::String(word.to_owned());
        for word in ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"] {
            assert_eq!(value(word), Bool(true), "{word}");
        }
        for word in ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"] {
            assert_eq!(value(word), Bool(false), "{word}");
        }
        for (word, expected) in [
            ("0", 0),
            ("12", 12),
            ("-7", -7),
            ("+3", 3),
            ("0x1F", 31),
            ("-0X10", -16),
            ("017", 15),
            ("-010", -8),
            ("00", 0),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(value(word), Integer(expected), "{word}");
        }
        for (word, expected) in [
            ("1.5", 1.5),
            ("1.", 1.0),
            (".5", 0.5),
            ("-.5", -0.5),
            ("+2.5", 2.5),
            ("1e3", 1e3),
            ("1.5E-3", 1.5e-3),
            ("08", 8.0),
            ("9223372036854775808", 9_223_372_036_854_775_808.0),
            (".inf", f64::INFINITY),
            (".Inf", f64::INFINITY),
            (".INF", f64::INFINITY),
            ("+.inf", f64::INFINITY),
            ("-.inf", f64::NEG_INFINITY),
        ] {
            assert_eq!(value(word), Double(expected), "{word}");
        }
        for word in [".nan", ".NaN", ".NAN"] {
            assert!(matches!(value(word), Double(number) if number.is_nan()), "{word}");
        }
        for word in [
            "tRUE",
            "yES",
            "t",
            "",
            ".",
            "-",
            "+",
            "e3",
            "1e",
            "inf",
            "nan",
            "infinity",
            "-.nan",
            ".iNF",
            "0x",
            "0xg",
            "--1",
            "1_000",
            "1.2.3",
            "1e999",
            "12a",
            "a",
            "0b11",
            "1:30",
            "2001-01-01",
        ] {
            assert_eq!(value(word), text(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn every_word_is_something(word: String) {
            let _ = value(&word);
        }

        #[test]
        fn integers_and_doubles_come_back(integer: i64, double: f64) {
            prop_assert_eq!(value(&integer.to_string()), ParameterValue::Integer(integer));
            prop_assume!(double.is_finite());
            prop_assert_eq!(value(&format!("{double:?}")), ParameterValue::Double(double));
        }
    }
}
