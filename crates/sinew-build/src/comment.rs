//! Converts comments of definitions to documentation that rustdoc treats as text.

/// Returns the lines of a comment, without the `///`. Lines indented like code are marked as text,
/// so that rustdoc does not compile them.
pub(super) fn lines(documentation: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_inside = false;
    for line in documentation.lines() {
        let line = line.replace('\t', "    ");
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
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        if matches!(character, '[' | ']' | '<' | '>' | '*' | '`' | '\\') {
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
}
