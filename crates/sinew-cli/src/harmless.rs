//! Makes texts of other processes harmless to the terminal on which they are printed.
//!
//! Control characters, and characters that change the order of others, are shown by their numbers,
//! as in `\x1b`; colours are removed. `sinew launch` does the same with the output of its
//! processes. JSON contains all of them, in JSON's escaped form, as people also read it on
//! terminals.

use std::borrow::Cow;
use std::fmt::Write as _;

use sinew_msg::is_unseen;

/// Formats a text as one line that can't look like this command's own output. Line ends are shown
/// as `\n`.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(harmless).collect();
    lines.join("\\n")
}

/// Formats a text as lines; all but the first one start with `indent`, so that another process's
/// text never starts where this command's does. Empty lines at the end are removed.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    let lines: Vec<String> = text.trim_end_matches(['\r', '\n']).split('\n').map(harmless).collect();
    lines.join(&format!("\n{indent}"))
}

/// Keeps the lines of a text that is printed by itself.
pub(crate) fn lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(harmless).collect();
    lines.join("\n")
}

/// Makes printed text from any source harmless. JSON is escaped before.
pub(crate) fn printed(text: &str) -> Cow<'_, str> {
    let is_harmless = |c: char| matches!(c, '\n' | '\t') || !is_unseen(c);
    if text.chars().all(is_harmless) { text.into() } else { lines(text).into() }
}

/// Escapes invisible characters in JSON strings; everything else in JSON is ASCII.
pub(crate) fn json(text: String) -> String {
    let is_harmless = |c: char| c == '\n' || !is_unseen(c);
    if text.chars().all(is_harmless) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_harmless(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}"); // writing to a string can't fail
        }
    }
    escaped
}

fn harmless(line: &str) -> String {
    sinew_launch::harmless(line.as_bytes(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_shown_by_its_number() {
        for (text, shown) in [
            ("plain ä\tx", "plain ä\tx"),
            ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("a\rb\x7f", "a\\x0db\\x7f"),
            ("\u{9b}31m\u{202e}", "\\u{9b}31m\\u{202e}"),
        ] {
            assert_eq!([one_line(text), lines(text), indented(text, "  ")], [shown; 3]);
        }
    }

    #[test]
    fn json_says_the_same_and_steers_nothing() {
        let said = "a\x7f\u{9b}31m\u{202e}\u{200b}\u{e0041}\n\t\"ä";
        let text = json(serde_json::to_string(said).unwrap() + "\n");
        assert_eq!(text, "\"a\\u007f\\u009b31m\\u202e\\u200b\\udb40\\udc41\\n\\t\\\"ä\"\n");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), said);
        assert_eq!(printed(&text), text);
    }

    #[test]
    fn what_is_printed_is_harmless() {
        assert_eq!(printed("a\tä\nb\n"), "a\tä\nb\n");
        assert_eq!(printed("a\u{202e}\x1b[2J\nb\n"), "a\\u{202e}\\x1b[2J\nb\n");
    }

    #[test]
    fn lines_forge_no_others() {
        let text = "one\r\n[INFO] two\n\n";
        assert_eq!(one_line(text), "one\\n[INFO] two\\n\\n");
        assert_eq!(indented(text, "    "), "one\n    [INFO] two");
        assert_eq!(lines(text), "one\n[INFO] two\n\n");
    }
}
