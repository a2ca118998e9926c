//! Splits bytes into lines, and makes lines harmless to a terminal.

use std::fmt::Write as _;

/// Longest line, in bytes; longer ones are split.
const LONGEST: usize = 16 << 10;

/// Splits a stream of bytes into lines.
#[derive(Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Passes each complete line to `line`, without its end. A long line comes in pieces; `true`
    /// marks the last one.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(&[u8], bool)) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (head, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.begun.is_empty() {
                let last = pieces(head, &mut line);
                line(last, true);
            } else {
                self.begun.extend_from_slice(head);
                let last = pieces(&self.begun, &mut line);
                line(last, true);
                self.begun.clear();
            }
        }
        self.begun.extend_from_slice(bytes);
        let rest = pieces(&self.begun, &mut line).len();
        self.begun.drain(..self.begun.len() - rest);
    }

    /// Passes an incomplete last line on: the stream has ended.
    pub(super) fn end(&mut self, mut line: impl FnMut(&[u8], bool)) {
        if !self.begun.is_empty() {
            line(&self.begun, true);
            self.begun.clear();
        }
    }
}

/// Passes all pieces of a line but the last on, and returns that. It is empty only if the line is.
fn pieces<'a>(mut bytes: &'a [u8], line: &mut impl FnMut(&[u8], bool)) -> &'a [u8] {
    while bytes.len() > LONGEST {
        // Between two characters, of which none has more than 4 bytes in UTF-8.
        let is_between = |at: &usize| bytes[*at] & 0xc0 != 0x80;
        let (head, rest) = bytes.split_at((LONGEST - 3..=LONGEST).rev().find(is_between).unwrap_or(LONGEST));
        line(head, false);
        bytes = rest;
    }
    bytes
}

/// Returns a line as text that is harmless to print: control characters, characters that change
/// direction or have no width, and invalid UTF-8 are shown by their numbers, as in `\x07`. Colours
/// are kept if `colours` is set, and end with the line.
#[must_use]
pub fn harmless(line: &[u8], colours: bool) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut text = String::with_capacity(line.len());
    let mut has_colour = false;
    for chunk in line.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(c) = rest.chars().next() {
            if let Some(length) = colour(rest) {
                if colours {
                    text.push_str(&rest[..length]);
                    has_colour = true;
                }
                rest = &rest[length..];
                continue;
            }
            match c {
                '\t' => text.push(c),
                c if c.is_ascii_control() => drop(write!(text, "\\x{:02x}", u32::from(c))),
                c if sinew_msg::is_unseen(c) => drop(write!(text, "\\u{{{:x}}}", u32::from(c))),
                c => text.push(c),
            }
            rest = &rest[c.len_utf8()..];
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}"); // writing to a string can't fail
        }
    }
    if has_colour {
        text.push_str("\x1b[0m");
    }
    text
}

/// Returns the length of the colour sequence at the start of the text, if there is one.
fn colour(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("\x1b[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':')?;
    (inside[end..].starts_with('m') && end < 32).then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_could_harm_a_terminal_is_shown_by_its_number() {
        for (line, text) in [
            (&b"plain \xc3\xa4\tx"[..], "plain ä\tx"),
            (b"end\r", "end"),
            (b"a\rb\x07\x7f", "a\\x0db\\x07\\x7f"),
            (b"\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            (b"\x1b[2J", "\\x1b[2J"),
            (b"\xff\xfe", "\\xff\\xfe"),
            (b"\x1b[31mred", "red"),
            ("\u{9b}31m\u{202e}".as_bytes(), "\\u{9b}31m\\u{202e}"),
        ] {
            assert_eq!(harmless(line, false), text);
        }
        assert_eq!(harmless(b"\x1b[1;31mred", true), "\x1b[1;31mred\x1b[0m");
        assert_eq!(harmless(b"\x1b[", true), "\\x1b[");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_however_the_bytes_come(
            lines in prop::collection::vec(prop::collection::vec(any::<u8>().prop_filter("inside a line", |&byte| byte != b'\n'), 0..40), 0..20),
            cuts in prop::collection::vec(1..50usize, 1..20),
            is_ended: bool,
        ) {
            let mut bytes = lines.join(&b'\n');
            let ends = is_ended || lines.last().is_none_or(Vec::is_empty);
            if ends && !lines.is_empty() {
                bytes.push(b'\n');
            }
            let (mut found, mut reading) = (Vec::new(), Lines::default());
            let (mut rest, mut cuts) = (bytes.as_slice(), cuts.into_iter().cycle());
            while !rest.is_empty() {
                let (now, later) = rest.split_at(cuts.next().unwrap().min(rest.len()));
                reading.push(now, |line, _| found.push(line.to_vec()));
                rest = later;
            }
            reading.end(|line, _| found.push(line.to_vec()));
            prop_assert_eq!(found, lines);
        }

        #[test]
        fn no_line_controls_a_terminal(line: Vec<u8>) {
            let text = harmless(&line, false);
            prop_assert!(text.chars().all(|c| c == '\t' || !c.is_control()));
        }
    }

    #[test]
    fn long_lines_are_broken_between_characters_and_kept() {
        let text = "x".to_owned() + &"€".repeat(LONGEST);
        for at_once in [text.len(), 1000] {
            let (mut found, mut reading) = (Vec::new(), Lines::default());
            let bytes = [text.as_bytes(), b"\n"].concat();
            for bytes in bytes.chunks(at_once + 1) {
                reading.push(bytes, |line, is_last| found.push((line.to_vec(), is_last)));
            }
            let lasts: Vec<bool> = found.iter().map(|(_, is_last)| *is_last).collect();
            assert_eq!(lasts, [false, false, false, true]);
            let pieces: Vec<_> =
                found.into_iter().map(|(piece, _)| String::from_utf8(piece).unwrap()).collect();
            assert!(pieces.iter().all(|piece| piece.len() <= LONGEST) && pieces.concat() == text);
        }
        let (mut found, mut reading) = (Vec::new(), Lines::default());
        reading.push(&vec![0x80; LONGEST + 5], |line, _| found.push(line.len()));
        reading.push(b"\n", |line, _| found.push(line.len()));
        assert_eq!(found, [LONGEST, 5], "no UTF-8 at all");
    }
}
