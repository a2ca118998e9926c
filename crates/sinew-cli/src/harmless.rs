//! Texts of other processes, so that nothing in them steers the terminal that they are printed on.
//!
//! Control characters, and those that show others in another order, are shown by their numbers, as in
//! `\x1b`; colours are left out. So it is with what `sinew launch` prints of its processes. JSON isn't
//! for terminals, and has everything.

/// As one line: it can't look like others of ours. Ends of lines are shown as `\n`.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(harmless).collect();
    lines.join("\\n")
}

/// As lines, of which all but the first one begin with `indent`: what another process says never
/// begins where we do. Empty ones at the end are left out.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    let lines: Vec<String> = text.trim_end_matches(['\r', '\n']).split('\n').map(harmless).collect();
    lines.join(&format!("\n{indent}"))
}

/// As it is in lines, for what is printed by itself.
pub(crate) fn lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(harmless).collect();
    lines.join("\n")
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
    fn lines_forge_no_others() {
        let text = "one\r\n[INFO] two\n\n";
        assert_eq!(one_line(text), "one\\n[INFO] two\\n\\n");
        assert_eq!(indented(text, "    "), "one\n    [INFO] two");
        assert_eq!(lines(text), "one\n[INFO] two\n\n");
    }
}
