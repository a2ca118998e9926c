//! Unquoted words, read as ROS 2's tools read them: with `PyYAML`, which follows YAML 1.1.
//!
//! | words | read as |
//! |---|---|
//! | `true`, `yes`, `on`, `false`, `no`, `off` (also `True`, `TRUE` ..) | a boolean |
//! | `0b11`, `010`, `0x1f`, `1_000`, `1:30` | an integer, in base 2, 8, 16, 10 and 60 |
//! | `1.5`, `1.5e+3`, `1_0.`, `.5`, `1:30.5`, `.inf`, `.nan` | a number |
//! | `1e3`, `1.5e3`, `+.5` | a text |
//! | `2001-01-01`, `2001-1-1 12:30:00Z` | a time |
//! | `~`, `null` | null |
//! | `<<`, `=` | special keys of YAML |
//!
//! The regular expressions for these are in `PyYAML`'s `resolver.py`.

#[cfg(feature = "text")]
use std::borrow::Cow;

/// Returns whether a word is read as a text.
pub(super) fn is_text(word: &str) -> bool {
    let is_own = matches!(word, "~" | "null" | "Null" | "NULL" | "<<" | "=");
    !(is_own || truth(word).is_some() || is_integer(word) || is_float(word) || is_time(word))
}

/// Reads a boolean.
pub(super) fn truth(word: &str) -> Option<bool> {
    match word {
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// Reads an integer: with a sign; in base 10, or with `0x`, `0b`, and `0` or `0o` in base 16, 2 and
/// 8; with `_` between its digits.
///
/// Differs from `PyYAML`, which lacks `0o` (YAML 1.2 has it), and which reads `1:30` as 90.
#[cfg(feature = "text")]
pub(super) fn integer(word: &str) -> Option<i128> {
    let (base, digits) = base(without_sign(word));
    let digits = join(digits);
    if !digits.starts_with(|c: char| c.is_digit(base)) {
        return None; // a second sign
    }
    let magnitude = i128::from_str_radix(&digits, base).ok()?;
    Some(if word.starts_with('-') { -magnitude } else { magnitude })
}

/// The same, but only if it isn't in base 10.
#[cfg(feature = "text")]
pub(super) fn integer_of_other_base(word: &str) -> Option<i128> {
    let (base, _) = base(without_sign(word));
    integer(word).filter(|_| base != 10)
}

/// Returns the base of an integer, and its digits.
#[cfg(feature = "text")]
fn base(magnitude: &str) -> (u32, &str) {
    match magnitude.as_bytes() {
        [b'0', b'x', ..] => (16, &magnitude[2..]),
        [b'0', b'o', ..] => (8, &magnitude[2..]),
        [b'0', b'b', ..] => (2, &magnitude[2..]),
        [b'0', rest @ ..] if !rest.is_empty() && rest.iter().all(is_octal) => (8, magnitude),
        [b'_', ..] => (10, ""),
        _ => (10, magnitude),
    }
}

/// Removes the underscores between the digits of a number. A word that begins with one is not a
/// number.
#[cfg(feature = "text")]
pub(super) fn without_lines(word: &str) -> Cow<'_, str> {
    let magnitude = without_sign(word);
    let digits = magnitude.strip_prefix('.').unwrap_or(magnitude);
    if digits.starts_with('_') { Cow::Borrowed(word) } else { join(word) }
}

#[cfg(feature = "text")]
fn join(digits: &str) -> Cow<'_, str> {
    if digits.contains('_') { digits.replace('_', "").into() } else { digits.into() }
}

fn without_sign(word: &str) -> &str {
    word.strip_prefix(['-', '+']).unwrap_or(word)
}

fn is_octal(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'7' | b'_')
}

fn is_decimal(byte: &u8) -> bool {
    byte.is_ascii_digit() || *byte == b'_'
}

fn is_integer(word: &str) -> bool {
    let some = |digits: &[u8], is: fn(&u8) -> bool| !digits.is_empty() && digits.iter().all(is);
    match without_sign(word).as_bytes() {
        [b'0', b'b', digits @ ..] => some(digits, |byte| matches!(byte, b'0' | b'1' | b'_')),
        [b'0', b'x', digits @ ..] => some(digits, |byte| byte.is_ascii_hexdigit() || *byte == b'_'),
        [b'0', digits @ ..] => digits.iter().all(is_octal),
        [b'1'..=b'9', ..] => is_whole(without_sign(word)),
        _ => false,
    }
}

/// Returns whether these are digits, or digits and sixtieths.
fn is_whole(digits: &str) -> bool {
    let mut parts = digits.split(':');
    let begins_well = |first: &str| {
        first.starts_with(|c: char| c.is_ascii_digit()) && first.as_bytes().iter().all(is_decimal)
    };
    let is_sixtieth = |part: &str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    parts.next().is_some_and(begins_well) && parts.all(is_sixtieth)
}

fn is_float(word: &str) -> bool {
    let magnitude = without_sign(word);
    if matches!(magnitude, ".inf" | ".Inf" | ".INF") || matches!(word, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, rest)) = magnitude.split_once('.') else { return false };
    let (fraction, exponent) = match rest.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (rest, None),
    };
    let has_good_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or_default(); // `PyYAML` requires a sign
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let has_good_whole = match whole {
        "" => word.starts_with('.') && fraction.starts_with(|c: char| c.is_ascii_digit()),
        whole => is_whole(whole) && (exponent.is_none() || !whole.contains(':')),
    };
    has_good_whole && has_good_exponent && fraction.as_bytes().iter().all(is_decimal)
}

fn is_time(word: &str) -> bool {
    is_date(word).is_some() || is_date_with_time(word).is_some()
}

fn is_date(word: &str) -> Option<()> {
    let rest = digits(word, 4, 4)?.strip_prefix('-')?;
    let rest = digits(rest, 2, 2)?.strip_prefix('-')?;
    digits(rest, 2, 2)?.is_empty().then_some(())
}

fn is_date_with_time(word: &str) -> Option<()> {
    let rest = digits(word, 4, 4)?.strip_prefix('-')?;
    let rest = digits(rest, 1, 2)?.strip_prefix('-')?;
    let rest = digits(rest, 1, 2)?;
    let time = match rest.strip_prefix(['T', 't']) {
        Some(time) => time,
        None => rest.strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']),
    };
    let rest = digits(time, 1, 2)?.strip_prefix(':')?;
    let rest = digits(rest, 2, 2)?.strip_prefix(':')?;
    let rest = digits(rest, 2, 2)?;
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let zone = rest.trim_start_matches([' ', '\t']);
    if matches!(zone, "" | "Z") {
        return (rest.is_empty() || zone == "Z").then_some(());
    }
    let rest = digits(zone.strip_prefix(['-', '+'])?, 1, 2)?;
    if rest.is_empty() {
        return Some(());
    }
    digits(rest.strip_prefix(':')?, 2, 2)?.is_empty().then_some(())
}

/// Returns the text after the leading digits, at most `most`; `None` if there are fewer than
/// `least`.
fn digits(text: &str, least: usize, most: usize) -> Option<&str> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    (count >= least).then(|| &text[count..])
}
