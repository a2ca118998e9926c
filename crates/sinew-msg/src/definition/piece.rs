//! Parts of a line with their position.

use super::error::{Problem, shortened};

/// A part of a line.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// Byte offset from the beginning of the line.
    offset: usize,
}

/// A problem in a line, and its byte offset.
pub(super) struct LineFault {
    pub(super) offset: usize,
    pub(super) problem: Problem,
}

const BLANK: [char; 2] = [' ', '\t'];

impl<'a> Piece<'a> {
    pub(super) fn line(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    pub(super) fn offset(self) -> usize {
        self.offset
    }

    pub(super) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn is_indented(self) -> bool {
        self.text.starts_with(BLANK)
    }

    /// Splits the piece at byte `at`, which lies between two characters.
    pub(super) fn split_at(self, at: usize) -> (Self, Self) {
        let (before, behind) = self.text.split_at(at);
        (Self { text: before, ..self }, Self { text: behind, offset: self.offset + at })
    }

    /// Splits before the first character for which `is_end` is true.
    pub(super) fn split_before(self, is_end: impl Fn(char) -> bool) -> (Self, Self) {
        self.split_at(self.text.find(is_end).unwrap_or(self.text.len()))
    }

    /// Returns the text before the first whitespace and the text after it.
    pub(super) fn split_word(self) -> (Self, Self) {
        let (word, rest) = self.split_before(|c| BLANK.contains(&c));
        (word, rest.trim())
    }

    pub(super) fn strip_prefix(self, prefix: &str) -> Option<Self> {
        self.text.starts_with(prefix).then(|| self.split_at(prefix.len()).1)
    }

    pub(super) fn strip_suffix(self, suffix: &str) -> Option<Self> {
        self.text.strip_suffix(suffix).map(|text| Self { text, ..self })
    }

    pub(super) fn trim_end(self) -> Self {
        Self { text: self.text.trim_end_matches(BLANK), ..self }
    }

    pub(super) fn trim(self) -> Self {
        let blank = self.text.len() - self.text.trim_start_matches(BLANK).len();
        self.split_at(blank).1.trim_end()
    }

    /// Returns the text for an error.
    pub(super) fn found(self) -> String {
        shortened(self.text)
    }

    pub(super) fn fault(self, problem: Problem) -> LineFault {
        LineFault { offset: self.offset, problem }
    }
}
