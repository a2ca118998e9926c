//! Comments of definitions in generated headers.

use sinew_msg::is_unseen;

/// Returns lines of documentation, each indented: the ROS 2 name of an item, then its comments.
pub(super) fn documentation(indent: &str, item: &str, text: &str) -> String {
    let mut lines = format!("{indent}/// {item}\n");
    if !text.is_empty() {
        lines += &format!("{indent}///\n");
    }
    for line in text.lines() {
        // A backslash at the end would continue the comment in the next line.
        let line = line.trim_end_matches(|c: char| c == '\\' || c.is_whitespace()).replace('\t', "    ");
        // Compilers warn of characters that change the direction of text.
        let line = line.replace(is_unseen, "\u{fffd}");
        lines += format!("{indent}/// {line}").trim_end();
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::documentation;

    #[test]
    fn a_comment_ends_with_its_line() {
        assert_eq!(
            documentation("  ", "`x`", "a \\\n\n\tb"),
            "  /// `x`\n  ///\n  /// a\n  ///\n  ///     b\n"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_replaced() {
        assert_eq!(documentation("", "`x`", "a\u{202e}b"), "/// `x`\n///\n/// a\u{fffd}b\n");
    }
}
