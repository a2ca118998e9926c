//! Characters that texts of others must not bring to a terminal as they are.

/// Whether a character steers a terminal, changes the order in which others are shown, or isn't
/// seen: control characters (also those of C1, such as U+009B), marks of direction (U+202E), and
/// what has no width (U+200B). Whoever prints texts of others shows it by its number. White space is
/// not among them, but for tabs, ends of lines and separators of lines (U+2028).
///
/// ```
/// use sinew_msg::is_unseen;
/// assert!(['\x1b', '\u{9b}', '\u{202e}', '\u{200b}', '\n'].into_iter().all(is_unseen));
/// assert!(!['a', ' ', 'ä', '中', '\u{301}', '😀'].into_iter().any(is_unseen));
/// ```
pub fn is_unseen(character: char) -> bool {
    // Unicode's category Cf but for signs that are seen, such as U+06DD around numbers.
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}'
        )
}
