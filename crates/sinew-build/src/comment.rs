//! Converts comments of definitions to documentation that rustdoc treats as text.

use sinew_msg::is_unseen;

/// Returns the lines of a comment, without the `///`. Lines indented like code are marked as text,
/// so that rustdoc does not compile them. Characters that can't be seen are U+FFFD: the compiler
/// refuses those that change the direction of text.
pub(super) fn lines(documentation: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_inside = false;
    for line in documentation.lines() {
        let line = line.replace('\t', "    ").replace(is_unseen, "\u{fffd}");
        let is_indented = line.starts_with("    ") && !line.trim().is_empty();
        if is_indented != is_inside && !line.trim().is_empty() {
            if is_inside {
                lines.push("```".to_owned());
            } else {
                if lines.last().is_some_and(|last: &String| !last.is_empty()) {
                    lines.push(String::new());
                }
                lines.push("```text".to_owned());
            }
            is_inside = is_indented;
        }
        lines.push(if is_inside { line.replace("```", "'''") } else { escaped(&line) });
    }
    if is_inside {
        lines.push("```".to_owned());
    }
    lines
}

/// Escapes text that rustdoc would read as a link, a tag, emphasis or code.
fn escaped(line: &str) -> String {
    // More spaces after the sign of a list item, such as `-`, would begin code.
    const MOST_SPACES: usize = 4;
    let mut text = String::with_capacity(line.len());
    let mut spaces = 0;
    for character in line.chars() {
        spaces = if character == ' ' { spaces + 1 } else { 0 };
        if spaces > MOST_SPACES {
            continue;
        }
        if matches!(character, '[' | ']' | '<' | '>' | '*' | '`' | '~' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn what_looks_like_code_is_text() {
        assert_eq!(
            lines("in [m]\n\n    x = 1\n\n    y\nend"),
            ["in \\[m\\]", "", "```text", "    x = 1", "", "    y", "```", "end"]
        );
        assert_eq!(lines("a\n\tb```"), ["a", "", "```text", "    b'''", "```"]);
        assert!(lines("").is_empty());
    }

    #[test]
    fn what_would_be_code_in_markdown_is_none() {
        assert_eq!(lines("~~~\nx = 1\n~~~"), ["\\~\\~\\~", "x = 1", "\\~\\~\\~"]);
        assert_eq!(lines("```\nx = 1"), ["\\`\\`\\`", "x = 1"]);
        assert_eq!(lines("-      x = 1"), ["-    x = 1"]);
        assert_eq!(lines("1.\t\tx = 1"), ["1.    x = 1"]);
    }

    #[test]
    fn what_cannot_be_seen_is_replaced() {
        assert_eq!(lines("a\u{202e}b\n    c\rd"), ["a\u{fffd}b", "", "```text", "    c\u{fffd}d", "```"]);
        assert_eq!(lines("größe 😀"), ["größe 😀"]);
    }
}
