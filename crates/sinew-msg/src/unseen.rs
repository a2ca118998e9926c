//! Characters that must not reach a terminal unescaped in texts from elsewhere.

/// Returns `true` if a character controls a terminal, changes the order in which other characters
/// are shown, or is invisible: control characters (including C1, such as U+009B), directional marks
/// (U+202E), and characters without width (U+200B).
///
/// Code that prints texts from elsewhere should show such a character by its number. Ordinary white
/// space is not among them; tabs, line ends and line separators (U+2028) are.
///
/// ```
/// use sinew_msg::is_unseen;
/// assert!(['\x1b', '\u{9b}', '\u{202e}', '\u{200b}', '\n'].into_iter().all(is_unseen));
/// assert!(!['a', ' ', 'ä', '中', '\u{301}', '😀'].into_iter().any(is_unseen));
/// ```
pub fn is_unseen(character: char) -> bool {
    // Unicode's category Cf except signs that are visible, such as U+06DD around numbers.
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}'
        )
}
